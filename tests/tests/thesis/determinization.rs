//! Appendix A.2: determinization and lookahead (golden 9, 21, and the regressions for what is wrong there).

use std::collections::BTreeSet;

use coreach_model::iosts::{ActionKind, Aim, Iosts, Transition};
use coreach_model::semantics::{Event, after, initial_states};
use coreach_model::term::Substitution;
use coreach_model::term::evaluate::Valuation;
use coreach_model::value::tuples;
use coreach_model::{ActionId, Datum, Term, Value};
use coreach_pipeline::artifact::{Closed, Rest, Visible};
use coreach_pipeline::check;
use coreach_pipeline::limits::Limits;
use coreach_pipeline::stages::determinize::determinize;
use coreach_pipeline::stages::lookahead::{Lookahead, find_choices, find_lookahead};
use coreach_pipeline::stop::Stop;

use super::support::{lines, solver, specification};

fn read(name: &str) -> Iosts {
    specification(name).iosts
}

/// The machine as the stage before would hand it on; `end` accepts.
fn as_closed(iosts: &Iosts, end: Option<&str>) -> Closed {
    let accepting = iosts.locations.map(|location| Some(location.name.as_str()) == end);
    let outputs = |at| {
        let of =
            |(_, t): &(_, &Transition)| t.source == at && iosts.action(t.action).kind == ActionKind::Output;
        iosts.transitions.numbered().filter(of).map(|(number, _)| number).collect()
    };
    let rest = |at| Rest {
        at,
        guard: Term::yes(),
        effect: Substitution::new(),
        stays: Term::yes(),
        outputs: outputs(at),
    };
    let rests = iosts.location_ids().map(|at| vec![rest(at)]).collect();
    Closed { iosts: iosts.clone(), given: iosts.location_ids().collect(), accepting, rests }
}

fn determinized(iosts: &Iosts, limit: usize) -> Result<Visible, Stop> {
    determinized_up_to(iosts, None, limit)
}

fn determinized_up_to(iosts: &Iosts, end: Option<&str>, limit: usize) -> Result<Visible, Stop> {
    let closed = as_closed(iosts, end);
    let visible = determinize(
        closed.clone(),
        limit,
        Aim::Accept,
        &Default::default(),
        &Default::default(),
        &mut solver(),
    )?;
    assert_eq!(check::check_visible(&visible, &closed, &mut solver()).violations, []);
    Ok(visible)
}

fn smallest_lookahead(iosts: &Iosts) -> Option<usize> {
    match find_lookahead(iosts, &find_choices(iosts, &Limits::default(), &mut solver()).unwrap()) {
        Lookahead::Exists(k, _) => Some(k),
        Lookahead::None { .. } => None,
    }
}

/// The traces up to a length, by the concrete semantics.
fn traces_of(iosts: &Iosts, length: usize) -> BTreeSet<Vec<Event>> {
    let initial = initial_states(iosts, &Valuation::new(), 1000).unwrap();
    let events = iosts.actions.iter().filter(|action| action.is_visible()).flat_map(|action| {
        // A parameter of a type with too many values has none, so its action has no event.
        let values = |p: &Datum| Value::enumerate(p.ty(), 1000).unwrap_or_default();
        let lists: Vec<Vec<Value>> = action.parameters.iter().map(values).collect();
        tuples(&lists).into_iter().map(|values| Event::new(action.name.clone(), values))
    });
    let events: Vec<Event> = events.collect();
    let mut found = BTreeSet::from([Vec::new()]);
    // The traces of the present length, each with the states that it leads to.
    let mut longest = vec![(Vec::new(), after(iosts, initial.into_iter().collect(), &[]))];
    for _ in 0..length {
        let mut longer = Vec::new();
        for (trace, states) in &longest {
            for event in &events {
                let next = after(iosts, states.clone(), std::slice::from_ref(event));
                if !next.is_empty() {
                    longer.push(([trace.as_slice(), std::slice::from_ref(event)].concat(), next));
                }
            }
        }
        found.extend(longer.iter().map(|(trace, _)| trace.clone()));
        longest = longer;
    }
    found
}

/// *Soundness*: nothing is lost and nothing added.
pub fn same_traces(iosts: &Iosts, length: usize) {
    let visible = determinized(iosts, 8).unwrap();
    assert_eq!(traces_of(&visible.iosts, length), traces_of(iosts, length));
}

#[test]
fn golden_9_figure_a_6_three_ways_to_have_coffee() {
    let iosts = read("examples/vending_nondeterministic/specification.yaml");
    let visible = determinized(&iosts, 8).unwrap();
    assert_eq!(visible.lookahead, Some(1));
    assert_eq!(
        lines(&visible.iosts),
        [
            "<WaitMilk,WaitSugar> -Milk-> End",
            "<WaitMilk,WaitSugar> -Sugar-> End",
            "Begin -Coin-> Pay [p > 0] {vPaid := p}",
            "Pay -Coffee-> <WaitMilk,WaitSugar> [vPaid >= 3 && vPaid <= 3]",
            "Pay -Coffee-> WaitMilk [vPaid > 3]",
            "Pay -Coffee-> WaitSugar [vPaid < 3]",
            "WaitMilk -Milk-> End",
            "WaitSugar -Sugar-> End",
        ]
    );
}

#[test]
fn golden_21_figure_a_8_no_trace_is_lost() {
    let iosts = read("tests/models/determinize_figure_a8.yaml");
    let words: Vec<String> = traces_of(&iosts, 4)
        .into_iter()
        .map(|trace| trace.into_iter().map(|event| event.action).collect())
        .collect();
    // The traces of the thesis' M. Propagation in place would lose acd.
    assert_eq!(words, ["", "a", "ac", "acd", "b", "ba", "bad", "bae"]);
    same_traces(&iosts, 4);
}

#[test]
fn golden_21_figure_a_9_has_no_lookahead() {
    let iosts = read("tests/models/determinize_figure_a9.yaml");
    assert_eq!(smallest_lookahead(&iosts), None);
    let limits = Limits::default();
    let choices = find_choices(&iosts, &limits, &mut solver()).unwrap();
    let Lookahead::None { choice, prefix, cycle } = find_lookahead(&iosts, &choices) else {
        panic!("no lookahead")
    };
    let told = [choice.first, choice.second].map(|number| iosts.describe(&iosts.transitions[number]));
    assert_eq!(told, ["l0 -a-> l1", "l0 -a-> l2"]);
    let names = |actions: &[ActionId]| -> Vec<_> {
        actions.iter().map(|action| iosts.action(*action).name.clone()).collect()
    };
    assert_eq!((names(&prefix).join(" "), names(&cycle).join(" ")), (String::new(), "b a".to_owned()));
    // Without data there is nothing to postpone: sets repeat, and nothing is lost.
    let visible = determinized_up_to(&iosts, Some("l5"), 8).unwrap();
    assert_eq!(visible.lookahead, None);
    assert_eq!(traces_of(&visible.iosts, 8), traces_of(&iosts, 8));
}

#[test]
fn golden_21_figure_a_10_has_lookahead_3() {
    // The published Algorithm A.2 returns 4.
    let iosts = read("tests/models/determinize_figure_a10.yaml");
    assert_eq!(smallest_lookahead(&iosts), Some(3));
    assert_eq!(determinized(&iosts, 3).unwrap().lookahead, Some(3));
    let Err(Stop::LookaheadLimit { limit: 2, needed: 3, .. }) = determinized(&iosts, 2) else {
        panic!("a limit")
    };
    same_traces(&iosts, 8);
}

#[test]
fn a_pair_met_twice_without_a_cycle_is_no_cycle() {
    // The published algorithm stops here with "no".
    let iosts = read("tests/models/determinize_dag.yaml");
    assert_eq!(smallest_lookahead(&iosts), Some(3));
    same_traces(&iosts, 6);
}

#[test]
fn one_target_with_two_effects_is_a_choice() {
    // The published algorithm looks at pairs of distinct targets only, and would not end.
    let iosts = read("tests/models/determinize_same_target.yaml");
    assert_eq!(smallest_lookahead(&iosts), None);
    // Which effect it was is never told, and each is kept in a variable of its own.
    let visible = determinized_up_to(&iosts, Some("n"), 8).unwrap();
    assert_eq!(visible.lookahead, None);
    assert_eq!(
        lines(&visible.iosts),
        [
            "<m,m> -b-> <m,m>",
            "<m,m> -c-> n [p == v || p == v_memory]",
            "l -a-> <m,m> {v := 1, v_memory := 2}",
        ]
    );
}

#[test]
fn a_postponed_effect_remembers_the_first_parameter() {
    // With one memory variable per parameter, b would carry the second.
    let iosts = read("tests/models/determinize_memory.yaml");
    assert_eq!(smallest_lookahead(&iosts), Some(2));
    same_traces(&iosts, 3);
}
