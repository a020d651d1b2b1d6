//! Appendix A.2: determinization and lookahead (golden 9, 21, and the regressions for what is wrong there).

use std::collections::{BTreeMap, BTreeSet};

use coreach_model::iosts::Iosts;
use coreach_model::semantics::{Trace, initial_states, traces};
use coreach_model::term::evaluate::Valuation;
use coreach_pipeline::artifact::{Closed, Visible};
use coreach_pipeline::check;
use coreach_pipeline::stages::determinize::determinize;
use coreach_pipeline::stages::lookahead::{Lookahead, choices, lookahead};
use coreach_pipeline::stop::Stop;

use crate::support::{lines, solver, specification};

fn read(name: &str) -> Iosts {
    specification(name).iosts
}

fn as_closed(iosts: &Iosts) -> Closed {
    let accepting = iosts.locations.map(|_| false);
    let stable = iosts.locations.map(|_| true);
    Closed { iosts: iosts.clone(), given: iosts.location_ids().collect(), accepting, stable }
}

fn determinized(iosts: &Iosts, limit: usize) -> Result<Visible, Stop> {
    let closed = as_closed(iosts);
    let visible = determinize(closed.clone(), limit, &Default::default(), &mut solver())?;
    assert_eq!(check::visible(&visible, &closed, &mut solver()).violations, []);
    Ok(visible)
}

fn smallest_lookahead(iosts: &Iosts) -> Option<usize> {
    match lookahead(
        iosts,
        &choices(iosts, &coreach_pipeline::limits::Limits::default(), &mut solver()).unwrap(),
    ) {
        Lookahead::Exists(k, _) => Some(k),
        Lookahead::None { .. } => None,
    }
}

/// The traces up to a length, by the concrete semantics.
fn traces_of(iosts: &Iosts, length: usize) -> BTreeSet<Trace> {
    let initial = initial_states(iosts, &Valuation::new(), 1000).unwrap();
    traces(iosts, initial.into_iter().collect(), &BTreeMap::new(), length, 1000).into_keys().collect()
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
    assert_eq!(visible.lookahead, 1);
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
    let Err(Stop::NoLookahead { choice, prefix, cycle }) = determinized(&iosts, 8) else {
        panic!("no lookahead")
    };
    assert_eq!(choice.map(|shown| shown.text), ["l0 -a-> l1", "l0 -a-> l2"]);
    assert_eq!((prefix.join(" "), cycle.join(" ")), (String::new(), "b a".to_owned()));
}

#[test]
fn golden_21_figure_a_10_has_lookahead_3() {
    // The published Algorithm A.2 returns 4.
    let iosts = read("tests/models/determinize_figure_a10.yaml");
    assert_eq!(smallest_lookahead(&iosts), Some(3));
    assert_eq!(determinized(&iosts, 3).unwrap().lookahead, 3);
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
    assert!(matches!(determinized(&iosts, 8), Err(Stop::NoLookahead { .. })));
}

#[test]
fn a_postponed_effect_remembers_the_first_parameter() {
    // With one memory variable per parameter, b would carry the second.
    let iosts = read("tests/models/determinize_memory.yaml");
    assert_eq!(smallest_lookahead(&iosts), Some(2));
    same_traces(&iosts, 3);
}
