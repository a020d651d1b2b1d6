//! Timed models: what is read of them, and that the delayed form says what the concrete semantics says.

use std::collections::BTreeSet;

use crate::timed_semantics::{self as semantics, TimedState};
use coreach_model::iosts::Aim;
use coreach_model::reader::{TimedSpecification, from_bytes, read_timed_aimed, read_timed_specification};
use coreach_model::semantics::{Event, State, initial_states, internal_closure, step};
use coreach_model::term::evaluate::Valuation;
use coreach_model::timed::Timed;
use coreach_model::timed::composed::ComposedPart;
use coreach_model::timed::delayed::{Delayed, delayed};
use coreach_model::value::tuples;
use coreach_model::{Diagnostic, Value};
use dashu_ratio::RBig;

/// Two clocks, a bound that a message brings, an internal step, values assigned from clocks, a
/// nondeterministic choice.
const MODEL: &str = "\
iosts: session
clocks: [w, r]
variables: { n: 'int[0..2]', limit: real, seen: real }
initial: { location: Idle, condition: n == 0 && limit == 1 && seen == 0 }
inputs:
  Open: { bound: real }
  Note: { parameters: { m: 'int[0..2]' }, controllable: false }
outputs:
  Reply: { m: 'int[0..2]' }
  Late: {}
internals: [tau]
transitions:
  - { from: Idle, to: Busy, on: Open, when: 0 <= bound && bound <= 2, reset: [w], assign: { limit: bound } }
  - { from: Idle, to: Idle, on: Note, when: w >= 1, assign: { n: m, seen: w } }
  - { from: Busy, to: Done, on: tau, when: n >= 1 }
  - { from: Busy, to: Idle, on: Reply, when: w <= limit && m == n, reset: [r] }
  - { from: Busy, to: Busy, on: Reply, when: w < limit && m == 0, assign: { n: m } }
  - { from: Busy, to: Idle, on: Late, when: w > limit && w + r <= seen + 4, reset: [w, r] }
  - { from: Done, to: Idle, on: Late, when: r < 3 }
";

fn read(text: &str) -> Result<TimedSpecification, Vec<Diagnostic>> {
    let file =
        from_bytes("session.yaml".to_owned(), text.as_bytes().to_vec()).map_err(|found| vec![found])?;
    read_timed_specification(file).map(|(specification, _)| specification)
}

/// The delays that are tried: a grid of half units.
fn delays() -> Vec<RBig> {
    (0..7).map(|halves| RBig::from(halves) / RBig::from(2)).collect()
}

fn timed_start(
    specification: &TimedSpecification,
    form: &Delayed,
) -> (BTreeSet<TimedState>, BTreeSet<State>) {
    let concrete = initial_states(&form.iosts, &Valuation::new(), 10).unwrap_or_default();
    let data = |state: &State| {
        let mut data = state.valuation.clone();
        data.retain(|datum, _| !form.clocks.contains(datum));
        data
    };
    let timed: BTreeSet<TimedState> =
        concrete.iter().filter_map(|state| semantics::initial(&specification.timed, &data(state))).collect();
    assert_eq!(timed.len(), 1);
    (
        semantics::close_under_internal_actions(&specification.timed, timed),
        internal_closure(&form.iosts, concrete.into_iter().collect()),
    )
}

/// Soundness: after every sequence of delays and events on the grid, both have the same states.
#[test]
fn the_delayed_form_says_what_the_model_says() {
    let specification = read(MODEL).unwrap();
    let timed = &specification.timed;
    let form = delayed(timed).unwrap();
    assert_eq!(form.iosts.transitions.len(), timed.graph().transitions.len());
    let mut front = vec![timed_start(&specification, &form)];
    let (mut compared, mut alive) = (0, 0);
    for _ in 0..3 {
        let mut next = Vec::new();
        for (concrete, data) in &front {
            for action in timed.graph().actions.iter().filter(|action| action.is_visible()) {
                let lists: Vec<Vec<Value>> = action
                    .parameters
                    .iter()
                    .map(|p| {
                        Value::enumerate(p.ty(), 10)
                            .unwrap_or_else(|| vec![real(1, 2), real(2, 1), real(5, 1)])
                    })
                    .collect();
                for (delay, values) in
                    delays().into_iter().flat_map(|d| tuples(&lists).into_iter().map(move |v| (d.clone(), v)))
                {
                    let event = Event::new(action.name.clone(), values.clone());
                    let after: BTreeSet<TimedState> = concrete
                        .iter()
                        .map(|state| semantics::elapse(timed, state, &delay))
                        .flat_map(|state| semantics::step(timed, &state, &event))
                        .collect();
                    let after = semantics::close_under_internal_actions(timed, after);
                    let with_delay = [Value::Real(delay.clone())].into_iter().chain(values);
                    let event = Event::new(action.name.clone(), with_delay);
                    let same = data.iter().flat_map(|state| step(&form.iosts, state, &event)).collect();
                    let same: BTreeSet<State> = internal_closure(&form.iosts, same);
                    let as_data: BTreeSet<State> = after
                        .iter()
                        .map(|state| State { location: state.location, valuation: state.valuation.clone() })
                        .collect();
                    assert_eq!(as_data, same, "{event}");
                    compared += 1;
                    if !after.is_empty() {
                        alive += 1;
                        next.push((after, same));
                    }
                }
            }
        }
        next.sort();
        next.dedup();
        next.truncate(60);
        front = next;
    }
    assert!(compared > 3_000 && alive > 100, "{compared} {alive}");
}

fn real(above: i32, below: i32) -> Value {
    Value::Real(RBig::from(above) / RBig::from(below))
}

#[test]
fn an_internal_action_that_takes_time_has_no_delayed_form() {
    for said in ["when: w >= 1", "reset: [w]", "assign: { seen: r }"] {
        let text = MODEL.replace("on: tau, when: n >= 1", &format!("on: tau, {said}"));
        let found = delayed(&read(&text).unwrap().timed).unwrap_err();
        assert_eq!(found.len(), 1, "{said}");
    }
}

#[test]
fn the_delay_has_a_name_of_its_own() {
    let text = MODEL.replace("seen", "delay");
    let form = delayed(&read(&text).unwrap().timed).unwrap();
    assert_eq!(form.delay.name(), "delay_2");
    assert!(form.iosts.actions.iter().filter(|a| a.is_visible()).all(|a| a.parameters[0] == form.delay));
}

#[test]
fn who_sends_an_input_is_read() {
    let timed = read(MODEL).unwrap().timed;
    let names: Vec<&str> = timed.uncontrollable().map(|(_, action)| action.name.as_str()).collect();
    assert_eq!(names, ["Note"]);
    let find = |name| timed.graph().find_action(name).unwrap();
    assert!(timed.is_controllable(find("Open")) && !timed.is_controllable(find("Reply")));
}

#[test]
fn transitions_have_names_or_numbers() {
    let timed = read(&MODEL.replace("reset: [r] }", "reset: [r], name: answered }")).unwrap().timed;
    let number = timed.transition("answered").unwrap();
    assert_eq!((timed.called(number), timed.transition("4")), ("answered".to_owned(), Ok(number)));
    assert_eq!(timed.transition("8").unwrap_err()[2..4], ["3", "answered"]);
    assert!(timed.transition("0").is_err());
}

#[test]
fn a_purpose_has_clocks_of_its_own_and_observes_others() {
    let specification = read(MODEL).unwrap();
    let text = "\
purpose: slow
of: session
observes: [w, limit]
clocks: [mine]
initial: { location: Begin }
transitions:
  - { from: Begin, to: Begin, on: Open, reset: [mine] }
  - { from: Begin, to: Accept, on: Reply, when: w == limit && mine >= 1 }
";
    let read = |text: &str| {
        let file = from_bytes("slow.yaml".to_owned(), text.as_bytes().to_vec()).unwrap();
        read_timed_aimed(file, &specification, Aim::Accept).map(|(purpose, _)| purpose)
    };
    let purpose = read(text).unwrap();
    let form = delayed(&specification.timed).unwrap();
    let untimed = form.purpose(&purpose);
    let guard = untimed.iosts.transitions.iter().last().unwrap().guard.to_string();
    assert_eq!(guard, "delay >= 0.0 && w + delay == limit && mine + delay >= 1.0");
    let codes =
        |text: &str| -> Vec<&str> { read(text).unwrap_err().iter().map(|found| found.code).collect() };
    assert_eq!(codes(&text.replace("reset: [mine]", "reset: [w]")), ["unknown-clock"]);
    assert_eq!(codes(&text.replace("reset: [mine]", "assign: { mine: '1' }")), ["assignment-to-clock"]);
    assert_eq!(codes(&text.replace("clocks: [mine]", "clocks: [mine, r]")), ["capture"]);
}

#[test]
fn mistakes_about_time_are_told() {
    let codes =
        |text: &str| -> Vec<&str> { read(text).unwrap_err().iter().map(|found| found.code).collect() };
    let cases = [
        ("reset: [w], assign: { limit: bound }", "reset: [x], assign: { limit: bound }", "unknown-clock"),
        ("reset: [w], assign: { limit: bound }", "reset: [limit], assign: { limit: bound }", "unknown-clock"),
        (
            "reset: [w], assign: { limit: bound }",
            "reset: [w, w], assign: { limit: bound }",
            "duplicate-declaration",
        ),
        ("assign: { limit: bound }", "assign: { w: bound }", "assignment-to-clock"),
        ("clocks: [w, r]", "clocks: [w, n]", "duplicate-name"),
        ("clocks: [w, r]", "clocks: [w, real]", "reserved-name"),
        ("n == 0 && limit", "w == 0 && limit", "unknown-name"),
        ("controllable: false", "controllable: no", "not-a-truth-value"),
        ("  Late: {}", "  Late: { parameters: {}, controllable: false }", "controllable-output"),
        (
            "reset: [r] }",
            "reset: [r], name: a }\n  - { from: Done, to: Done, on: Reply, name: a }",
            "duplicate-declaration",
        ),
        ("seen: real }", "seen: real, c: clock }", "clock-as-type"),
    ];
    for (good, wrong, code) in cases {
        let text = MODEL.replacen(good, wrong, 1);
        assert!(codes(&text).contains(&code), "{wrong}: {:?}", codes(&text));
    }
}

const DESK: &str = "\
iosts: desk
clocks: [d]
variables: { n: 'int[0..2]' }
initial: { location: Idle, condition: n == 0 }
inputs: { Order: { p: 'int[0..2]' }, Says: { yes: bool } }
outputs: { Ask: { p: 'int[0..2]' }, Bill: {} }
transitions:
  - { name: order, from: Idle, to: Asking, on: Order, reset: [d], assign: { n: p } }
  - { name: ask, from: Asking, to: Waiting, on: Ask, when: d <= 1 && p == n, reset: [d] }
  - { name: got, from: Waiting, to: Billing, on: Says, when: yes && d <= 1.5 }
  - { name: none, from: Waiting, to: Idle, on: Says, when: '!yes' }
  - { name: bill, from: Billing, to: Idle, on: Bill, when: d >= 1, reset: [d] }
";

const STORE: &str = "\
iosts: store
clocks: [s]
variables: { stock: 'int[0..2]' }
initial: { location: Open, condition: stock == 1 }
inputs: { Ask: { q: 'int[0..2]' }, Refill: { parameters: {}, controllable: false } }
outputs: { Says: { is: bool } }
transitions:
  - { name: asked, from: Open, to: Looking, on: Ask, when: s >= 0.5, reset: [s], assign: { stock: 'if q <= stock then stock - q else stock' } }
  - { name: look, from: Looking, to: Open, on: Says, when: s >= 0.5 && s < 2 && is == (stock >= 1) }
  - { name: refill, from: Open, to: Open, on: Refill, when: s > 1, reset: [s], assign: { stock: 2 } }
";

/// *Sound* and *precise*: on all short runs of a grid of delays the parts together do what each of them does,
/// and each has its clocks.
#[test]
fn parts_with_clocks_do_together_what_each_does() {
    let (desk, store) = (read(DESK).unwrap().timed, read(STORE).unwrap().timed);
    let parts = ComposedPart::from(desk.clone()).with("both", &ComposedPart::from(store.clone())).unwrap();
    let (iosts, clocks, uncontrollable) = parts.apart();
    let whole = Timed::new(iosts, clocks, uncontrollable);
    let uncontrollable: Vec<&str> = whole.uncontrollable().map(|(_, action)| action.name.as_str()).collect();
    assert_eq!(uncontrollable, ["Refill"]);
    assert_eq!(whole.clocks().iter().map(|clock| clock.name()).collect::<Vec<_>>(), ["d", "s"]);
    assert!(whole.transition("ask").is_ok() && whole.transition("Idle__Open_refill").is_ok());
    let start = |timed: &Timed| {
        let data = initial_states(&delayed(timed).unwrap().iosts, &Valuation::new(), 10).unwrap();
        let state = data.into_iter().next().unwrap();
        TimedState { location: timed.graph().initial, valuation: state.valuation }
    };
    let named = |timed: &Timed, state: &TimedState| {
        (timed.graph().location(state.location).name.clone(), state.valuation.clone())
    };
    let mut work = vec![(start(&desk), start(&store), start(&whole), 0)];
    let (mut taken, mut refused) = (0, 0);
    while let Some((one, other, both, depth)) = work.pop() {
        for delay in delays().iter().step_by(1 + depth) {
            let later = |timed, state| semantics::elapse(timed, state, delay);
            let (one, other, both) = (later(&desk, &one), later(&store, &other), later(&whole, &both));
            for action in &whole.graph().actions {
                let lists: Vec<Vec<Value>> =
                    action.parameters.iter().map(|p| Value::enumerate(p.ty(), 10).unwrap()).collect();
                for values in tuples(&lists) {
                    let event = Event::new(action.name.clone(), values);
                    let next =
                        |timed: &Timed, state: &TimedState| match timed.graph().find_action(&action.name) {
                            Some(_) => semantics::step(timed, state, &event),
                            None => BTreeSet::from([state.clone()]),
                        };
                    let (ones, others) = (next(&desk, &one), next(&store, &other));
                    let pairs = ones.iter().flat_map(|one| others.iter().map(move |other| (one, other)));
                    let expected: BTreeSet<_> = pairs
                        .clone()
                        .map(|(one, other)| {
                            let ((a, mut data), (b, more)) = (named(&desk, one), named(&store, other));
                            data.extend(more);
                            (format!("{a}__{b}"), data)
                        })
                        .collect();
                    let found = semantics::step(&whole, &both, &event);
                    let shown: BTreeSet<_> = found.iter().map(|state| named(&whole, state)).collect();
                    assert_eq!(shown, expected, "{event} after {delay}");
                    taken += expected.len();
                    refused += usize::from(expected.is_empty());
                    for ((one, other), both) in pairs.zip(&found).filter(|_| depth < 4) {
                        work.push((one.clone(), other.clone(), both.clone(), depth + 1));
                    }
                }
            }
        }
    }
    assert!(taken > 200 && refused > 200, "{taken} {refused}");
}
