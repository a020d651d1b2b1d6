//! What a walk tries, and with which constants it begins.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::BTreeSet;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::{State, initial_states};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Iosts, Type, Value};

use super::candidates::candidates;
use super::compared::ComparedTerms;
use super::elements::ElementReads;
use super::goals::{Class, ValueMark};
use super::positions::{MetGoals, Positions};
use super::*;

fn model(text: &str) -> Iosts {
    let file = from_bytes("m".to_owned(), text.as_bytes().to_vec()).unwrap();
    read_specification(file).unwrap().0.iosts
}

fn until(events: usize) -> WalkLimits {
    WalkLimits { events, percent: None, deadline: None, ends_when_covered: false }
}

/// Precision: a Boolean field of a record is a class, as a Boolean variable is.
#[test]
fn a_boolean_field_is_compared() {
    let classes = |ty: &str, first: &str| {
        let iosts = model(&format!(
            "iosts: m\ntypes: {{ R: {{ flag: bool }} }}\nvariables: {{ v: {ty}, w: bool }}\n\
             initial: {{ location: l, condition: '!{first} && !w' }}\ninputs: {{ I: {{}} }}\noutputs: {{ O: {{}} }}\n\
             transitions:\n- {{ from: l, to: l, on: I, when: '{first} || w' }}\n",
        ));
        let compared = ComparedTerms::new(&iosts, &iosts.outgoing(), &iosts.transitions[TransitionId(0)]);
        compared.before.iter().map(|one| one.term.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(classes("bool", "v"), ["v", "w"]);
    assert_eq!(classes("R", "v.flag"), ["w", "v.flag"]);
}

/// Precision: a system that always answers with the newest element shows only where an older one is read.
#[test]
fn a_read_of_an_older_element_is_noticed() {
    for (ty, none, has) in [
        ("map[int[0..2]] of int", "vAll == []", "pKey in vAll"),
        ("map[3] of int to nat", "vAll == []", "pKey in vAll"),
        ("array[int[0..2]] of int", "(all k in 0..2: vAll[k] == 0)", "true"),
    ] {
        let iosts = model(&format!(
            "iosts: m\nvariables: {{ vAll: '{ty}', vKey: 'int[0..2]', vText: int }}\n\
             initial: {{ location: l, condition: '{none} && vKey == 0 && vText == 0' }}\n\
             inputs: {{ Put: {{ pKey: 'int[0..2]', pText: int }}, Get: {{ pKey: 'int[0..2]' }} }}\n\
             outputs: {{ Text: {{ pText: int }} }}\ntransitions:\n\
             - {{ from: l, to: l, on: Put, assign: {{ vAll: 'vAll[pKey := pText]' }} }}\n\
             - {{ from: l, to: g, on: Get, when: '{has}', assign: {{ vKey: pKey }} }}\n\
             - {{ from: g, to: l, on: Text, when: 'pText == vAll[vKey]' }}\n",
        ));
        let model = WalkModel::new(iosts, &[], true);
        let states = initial_states(&model.iosts, &Valuation::new(), 2).unwrap();
        let mut positions = Positions::at(&model, &states);
        let mut reads = ElementReads::new(&model);
        let mut follow = |action: &str, values: &[i32]| {
            let event = Event::new(action, values.iter().map(|value| Value::int(*value)));
            reads.follow(&model, &positions, &event);
            positions.follow(&model, &event);
            assert!(!positions.is_empty(), "{ty}: {event}");
            reads.are_open()
        };
        follow("Put", &[0, 5]);
        follow("Put", &[1, 6]);
        follow("Get", &[1]);
        assert!(follow("Text", &[6]), "{ty}: the newest element");
        follow("Get", &[0]);
        assert!(!follow("Text", &[5]), "{ty}: the older element");
    }
}

/// Precision: a value that was computed at a boundary, or set back, is a class where it is read.
#[test]
fn a_read_of_a_marked_value_is_a_class() {
    let iosts = model(
        "iosts: m\ntypes: { Rate: [LOW, HIGH] }\nvariables: { v: int, r: Rate }\n\
         initial: { location: l, condition: v == 0 && r == LOW }\n\
         inputs: { Use: { n: int }, Close: {} }\noutputs: { Told: { is: Rate } }\ntransitions:\n\
         - { from: l, to: l, on: Use, assign: { v: v + n, r: if v + n >= 400 then HIGH else LOW } }\n\
         - { from: l, to: l, on: Close, assign: { v: 0, r: LOW } }\n\
         - { from: l, to: l, on: Told, when: is == r }\n",
    );
    let model = WalkModel::new(iosts, &[], true);
    let states = initial_states(&model.iosts, &Valuation::new(), 2).unwrap();
    let rate = model.iosts.variables.iter().find(|one| one.name() == "r").unwrap().ty().clone();
    let Type::Enum(literals) = rate else { unreachable!() };
    let [low, high] = [0, 1].map(|at| Value::Enum(literals.clone(), at));
    let told = |value: &Value| Event::new("Told", vec![value.clone()]);
    let using = |number: usize| Event::new("Use", vec![Value::int(number)]);
    let close = || Event::new("Close", Vec::new());
    let marks = |events: &[Event]| {
        let mut positions = Positions::at(&model, &states);
        let met = events.iter().map(|event| positions.follow(&model, event)).last().unwrap();
        let marks = met.classes.into_iter().filter_map(|class| match class {
            Class::MarkedUse(TransitionId(2), _, mark) => Some(mark),
            _ => None,
        });
        marks.collect::<Vec<_>>()
    };
    let near = |sign| [ValueMark::NearBoundary(TransitionId(0), 0, sign)];
    assert_eq!(marks(&[using(400), told(&high)]), near(0));
    assert_eq!(marks(&[using(399), told(&low)]), near(-1));
    assert_eq!(marks(&[using(500), told(&high)]), []);
    assert_eq!(
        marks(&[using(500), close(), told(&low)]),
        [ValueMark::SetBack(TransitionId(1), high.clone())]
    );
    assert_eq!(marks(&[using(5), close(), told(&low)]), []);
}

/// Precision: a marked value in a branch that is not taken is not read.
#[test]
fn a_branch_that_is_not_taken_reads_nothing() {
    let iosts = model(
        "iosts: m\nvariables: { v: int, w: int }\ninitial: { location: l, condition: v == 0 && w == 0 }\n\
         functions: { f: { result: int, is: if w == 1 || w > 7 && v > 0 then v else 9 } }\n\
         inputs: { Use: { n: int }, Close: { n: int } }\noutputs: { Told: { is: int } }\ntransitions:\n\
         - { from: l, to: l, on: Use, assign: { v: n } }\n\
         - { from: l, to: l, on: Close, assign: { v: 0, w: n } }\n\
         - { from: l, to: l, on: Told, when: is == f() }\n",
    );
    let model = WalkModel::new(iosts, &[], true);
    let states = initial_states(&model.iosts, &Valuation::new(), 2).unwrap();
    let is_read = |with: i64, told: i64| {
        let mut positions = Positions::at(&model, &states);
        let event = |action: &str, value: i64| Event::new(action, vec![Value::int(value)]);
        let events = [event("Use", 5), event("Close", with), event("Told", told)];
        let met = events.iter().map(|event| positions.follow(&model, event)).last().unwrap();
        met.classes.iter().any(|class| matches!(class, Class::MarkedUse(TransitionId(2), ..)))
    };
    assert_eq!([(1, 0), (2, 9), (8, 9)].map(|(with, told)| is_read(with, told)), [true, false, true]);
}

/// Precision: what is refused is tried where what is taken ends, and beside data that no guard compares here.
#[test]
fn values_are_tried_at_the_boundaries_around() {
    let iosts = model(
        "iosts: m\nvariables: { v: int }\ninitial: { location: l, condition: v == 37 }\n\
         inputs: { I: { p: int } }\noutputs: { O: {} }\ntransitions:\n\
         - { from: l, to: l, on: I, when: p < 1 || p > 2000, assign: { v: v } }\n\
         - { from: l, to: k, on: I, when: p >= 1 && p <= 2000, assign: { v: p } }\n\
         - { from: k, to: l, on: O, when: v == 500 }\n- { from: k, to: l, on: I, when: p == v }\n\
         - { from: l, to: l, on: O, when: v == 37 }\n",
    );
    let model = WalkModel::new(iosts, &[], true);
    let state = initial_states(&model.iosts, &Valuation::new(), 2).unwrap().remove(0);
    let (mut values, mut random, mut solver) = (Values::new(MIX), Random::new(1), Z3Solver::default());
    let mut tried = |number| {
        let mut all: BTreeSet<Value> = BTreeSet::new();
        for _ in 0..40 {
            let sources = &mut Choice { values: &mut values, random: &mut random, solver: &mut solver };
            all.extend(
                candidates(&model, number, &state, 24, sources).into_iter().map(|one| one.values[0].clone()),
            );
        }
        all
    };
    let [refused, taken] = [0, 1].map(|number| tried(TransitionId(number)));
    for (all, wanted) in [(refused, &[0, 2001][..]), (taken, &[1, 2, 36, 37, 38, 499, 500, 501, 1999, 2000])]
    {
        for value in wanted {
            assert!(all.contains(&Value::int(*value)), "{value}: {all:?}");
        }
    }
}

/// Precision: keys of a map, and keys that are not in it, are found without a question to the solver.
#[test]
fn keys_of_a_map_need_no_solver() {
    let iosts = model(
        "iosts: m\nvariables: { v: \"map[3] of string to int\" }\n\
         initial: { location: l, condition: 'v == [\"red\": 3, \"blue\": 12345]' }\n\
         inputs: { I: { k: string, n: int } }\noutputs: { O: {} }\ntransitions:\n\
         - { from: l, to: l, on: I, when: 'k in v && n == v[k] + 1' }\n\
         - { from: l, to: l, on: I, when: '!(k in v) && len(v) < 3 && n > 7' }\n\
         - { from: l, to: l, on: O }\n",
    );
    let model = WalkModel::new(iosts, &[], true);
    let state = initial_states(&model.iosts, &Valuation::new(), 2).unwrap().remove(0);
    let (mut values, mut random, mut solver) = (Values::new(MIX), Random::new(1), Z3Solver::default());
    for number in [0, 1].map(TransitionId) {
        let mut keys = BTreeSet::new();
        for _ in 0..20 {
            let sources = &mut Choice { values: &mut values, random: &mut random, solver: &mut solver };
            let found = candidates(&model, number, &state, 4, sources);
            assert!(!found.is_empty());
            keys.extend(found.into_iter().map(|one| one.values[0].clone()));
        }
        let known = ["red", "blue"].map(Value::string);
        assert!(known.iter().all(|key| keys.contains(key) == (number == TransitionId(0))), "{keys:?}");
    }
    assert_eq!(solver.statistics().queries, 0);
}

/// Precision: of constants that are drawn those are taken with which a goal is near. Given ones stay.
#[test]
fn constants_are_chosen_by_what_can_be_met() {
    let iosts = model(
        "iosts: m\nconstants: { c: nat }\nvariables: { v: nat }\n\
         initial: { location: l, condition: v == 0 && c > 0 }\ninputs: { I: {} }\noutputs: { O: {} }\n\
         transitions:\n- { from: l, to: l, on: I, when: v < c, assign: { v: v + 1 } }\n\
         - { from: l, to: k, on: O, when: v == c }\n",
    );
    let constant = |state: &State| state.valuation[&iosts.constants[0]].clone();
    let begins = |c: i64| {
        let known: Valuation = [(iosts.constants[0].clone(), Value::int(c))].into();
        initial_states(&iosts, &known, 2).unwrap().remove(0)
    };
    let last = TransitionId(1);
    let goals = [WalkGoal::Transition(last)];
    let mut walk = Walk::new(iosts.clone(), &goals, false, until(9), true);
    let near = [2_000_000, 3, 5_000, 7].map(begins);
    let best = walk.find_best_start(near.to_vec(), &mut Random::new(1), &mut Z3Solver::default());
    assert_eq!(best.map(|state| constant(&state)), Some(Value::int(3)));
}

/// Precision: a way along a counter is found however long it is, and whatever else there is to count.
#[test]
fn a_long_counter_is_no_wall() {
    let iosts = model(
        "iosts: m\nvariables: { v: int, w: int }\ninitial: { location: l, condition: v == 0 && w == 0 }\n\
         inputs: { Up: {}, Other: {} }\noutputs: { O: {} }\ntransitions:\n\
         - { from: l, to: l, on: Up, when: v < 700, assign: { v: v + 1 } }\n\
         - { from: l, to: l, on: Other, when: w < 9, assign: { w: w + 1 } }\n\
         - { from: l, to: k, on: O, when: v == 700 }\n",
    );
    let goals = [0, 1, 2].map(|number| WalkGoal::Transition(TransitionId(number)));
    let model = WalkModel::new(iosts, &goals, false);
    let mut worth = Worth::new(&model);
    worth.note_met(&MetGoals { goals: [0, 1].into(), ..MetGoals::default() });
    let state = initial_states(&model.iosts, &Valuation::new(), 2).unwrap().remove(0);
    let (mut values, mut random, mut solver) = (Values::new(MIX), Random::new(1), Z3Solver::default());
    let sources = &mut Choice { values: &mut values, random: &mut random, solver: &mut solver };
    let from = Positions::at(&model, [&state]);
    let far = Far { most: MOST_CREDIT, guide: None, is_aimed: false, muted: &BTreeSet::new() };
    let found = search(&model, &mut worth, &mut TriedSteps::default(), from.iter(), false, far, sources);
    assert_eq!((found.target, found.route.len()), (Some(2), 701));
}

/// Precision: what was never met is worth more than what was, and that the less, the more often.
#[test]
fn what_was_met_is_worth_less() {
    let iosts = model(
        "iosts: m\ninitial: { location: l }\ninputs: { I: {} }\noutputs: { O: {} }\ntransitions:\n\
         - { from: l, to: l, on: I }\n- { from: l, to: l, on: O }\n",
    );
    let goals = [WalkGoal::Transition(TransitionId(0)), WalkGoal::Pair(TransitionId(0), TransitionId(1))];
    let mut worth = Worth::new(&WalkModel::new(iosts, &goals, false));
    let (transition, pair) = (0, 1);
    assert!(worth.worth_of(transition) > worth.worth_of(pair));
    let mut last = worth.worth_of(pair);
    for time in 0..4 {
        let new = worth.note_met(&MetGoals { goals: [transition].into(), ..MetGoals::default() });
        assert_eq!((new == Novelty::Goal, worth.is_fresh(transition)), (time == 0, false));
        assert!(worth.worth_of(transition) < last);
        last = worth.worth_of(transition);
    }
    for _ in 0..20 {
        assert!(worth.worth_of(pair) > 0);
        worth.count_plan(pair);
    }
    assert!(!worth.is_fresh(pair));
}

/// Precision: the range of `nat` limits a number that falls, and not a counter that only grows.
#[test]
fn a_counter_of_nat_has_no_limit() {
    for (assigned, more, is_limited) in [
        ("v + 1", "true", false),
        ("if b then v + w else v", "true", false),
        ("v - 1", "true", true),
        ("v - w", "true", true),
        ("v + 1", "v < 7", true),
    ] {
        let iosts = model(&format!(
            "iosts: m\nvariables: {{ v: nat, w: nat, b: bool }}\ninitial: {{ location: l }}\ninputs: {{ I: {{}} }}\n\
             transitions:\n- {{ from: l, to: l, on: I, when: '({assigned}) >= 0 && {more}', assign: {{ v: \
             '{assigned}' }} }}\n"
        ));
        let limited = compared::find_limited_data(&iosts);
        assert_eq!(limited.iter().any(|datum| datum.name() == "v"), is_limited, "{assigned} {more}");
    }
}

/// Precision: the numbers of a comparison are known wherever it stands.
#[test]
fn numbers_are_found_in_functions_and_quantifiers() {
    let iosts = model(
        "iosts: m\nvariables: { v: 'list[3] of int' }\nfunctions: { f: { parameters: { x: int }, result: int, is: if x \
         < 5 then 1 else 2 } }\ninitial: { location: l }\ninputs: { I: { p: int } }\ntransitions:\n\
         - { from: l, to: l, on: I, when: '(all e in v: e != 7) && p <= 9', assign: { v: '[f(p)]' } }\n",
    );
    let numbers = compared::find_compared_numbers(&iosts);
    assert!([5, 7, 9].iter().all(|number| numbers.contains(&Value::int(*number))), "{numbers:?}");
}

/// Precision: a text with a prefix that decides is tried, and not only the prefix itself.
#[test]
fn texts_are_put_in_front_of_others() {
    let iosts = model(
        "iosts: m\nvariables: { v: string }\ninitial: { location: l }\ninputs: { I: { p: string } }\noutputs: { O: { q: \
         int } }\ntransitions:\n\
         - { from: l, to: k, on: I, when: 'matches(p, \"[a-z]{3,8}\")', assign: { v: p } }\n\
         - { from: k, to: l, on: O, when: 'q == (if starts_with(v, \"adm\") then 8 else 4)' }\n",
    );
    let model = WalkModel::new(iosts, &[], true);
    let state = initial_states(&model.iosts, &Valuation::new(), 2).unwrap().remove(0);
    let (mut values, mut random, mut solver) = (Values::new(MIX), Random::new(1), Z3Solver::default());
    let sources = &mut Choice { values: &mut values, random: &mut random, solver: &mut solver };
    let tried: Vec<String> = (0..20)
        .flat_map(|_| candidates(&model, TransitionId(0), &state, 24, sources))
        .map(|step| step.values[0].to_string().trim_matches('"').to_owned())
        .collect();
    for is_wanted in [
        |text: &str| text.starts_with("adm") && text.len() > 3,
        |text: &str| text.ends_with("adm") && text.len() > 3,
    ] {
        assert!(tried.iter().any(|text| is_wanted(text)), "{tried:?}");
    }
}

/// Precision: each alternative of a variant is tried, with the values at which its own conditions turn.
#[test]
fn each_alternative_is_tried_at_its_boundaries() {
    let iosts = model(
        "iosts: m\ntypes: { Order: [Cancel, Buy: { item: string, count: nat }, Ask: { of: 'option[int]' }] }\n\
         variables: { v: int, w: Order }\ninitial: { location: l, condition: v == 37 && w == Cancel }\n\
         inputs: { I: { p: Order } }\noutputs: { O: {} }\ntransitions:\n\
         - { from: l, to: l, on: I, when: 'match p: Cancel -> true | Buy(i, c) -> i in {\"nut\", \"bolt\"} && c > 0 && c <= \
         v | Ask(o) -> (match o: none -> true | some(k) -> k > v)', assign: { w: p } }\n- { from: l, to: l, on: O }\n",
    );
    let model = WalkModel::new(iosts, &[], true);
    let state = initial_states(&model.iosts, &Valuation::new(), 2).unwrap().remove(0);
    let (mut values, mut random, mut solver) = (Values::new(MIX), Random::new(1), Z3Solver::default());
    let mut tried = BTreeSet::new();
    for _ in 0..20 {
        let sources = &mut Choice { values: &mut values, random: &mut random, solver: &mut solver };
        let found = candidates(&model, TransitionId(0), &state, 24, sources);
        tried.extend(found.into_iter().map(|one| one.values[0].to_string()));
    }
    for wanted in
        ["Cancel", "Buy(\"nut\", 1)", "Buy(\"bolt\", 37)", "Ask(none)", "Ask(some(38))", "Ask(some(39))"]
    {
        assert!(tried.iter().any(|value| value == wanted), "{wanted}: {tried:?}");
    }
}
