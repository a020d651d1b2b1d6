//! Chapter 4: the model and its semantics (examples 4.1-4.16, golden 1, 8, 10).

use coreach_analyses::check::initialized;
use coreach_analyses::solver::{Solver, Witness};
use coreach_model::obligation::enabling_condition;
use coreach_model::semantics::{State, initial_states, step};
use coreach_model::{Iosts, Term};

use super::support::{constants, data, locations_after, purpose, solver, specification, states_after, trace};

const COFFEE: &str = "examples/coffee_machine/specification.yaml";

#[test]
fn golden_1_the_coffee_machine_has_6_locations_and_9_transitions() {
    let iosts = specification(COFFEE).iosts;
    assert_eq!((iosts.locations.len(), iosts.transitions.len()), (6, 9));
}

#[test]
fn golden_1_example_4_9_a_run_for_price_1() {
    let iosts = specification(COFFEE).iosts;
    let events = trace(&iosts, "Coin(2) Return(1) ChooseBeverage(COFFEE) Deliver(COFFEE)");
    let states = states_after(&iosts, "cPrice=1", &events);
    // Example 4.11: the run ends in Begin with one coin paid; the internal step that follows resets the
    // purse.
    let at = |label: &str| {
        let found = states.iter().find(|state| iosts.location(state.location).label == label);
        data(found.unwrap_or_else(|| panic!("{label} is not reached")))
    };
    assert_eq!(at("Begin")["vPaid"], "1");
    assert_eq!(at("Begin")["vBeverage"], "COFFEE");
    assert_eq!(at("Idle")["vPaid"], "0");
}

#[test]
fn golden_1_example_4_8_a_single_step() {
    let iosts = specification(COFFEE).iosts;
    let location = iosts.find_location("Pay").unwrap();
    let valuation = constants(&iosts, "cPrice=3 vPaid=5 vBeverage=TEA");
    let next = step(&iosts, &State { location, valuation }, &trace(&iosts, "Return(2)")[0]);
    let next: Vec<State> = next.into_iter().collect();
    assert_eq!(next.len(), 1);
    assert_eq!(iosts.location(next[0].location).label, "Choose");
    assert_eq!(data(&next[0])["vPaid"], "3");
}

#[test]
fn golden_1_the_instance_of_price_3_has_one_initial_state() {
    let iosts = specification(COFFEE).iosts;
    let states = initial_states(&iosts, &constants(&iosts, "cPrice=3"), 100).unwrap();
    assert_eq!(states.len(), 1);
    assert_eq!(data(&states[0])["vBeverage"], "TEA");
    // No price, no machine: initialized means at most one, not exactly one.
    assert!(initial_states(&iosts, &constants(&iosts, "cPrice=0"), 100).unwrap().is_empty());
}

/// A state with parameters in which two transitions of one location and action are enabled (Definition A.8).
fn choice(iosts: &Iosts) -> Witness {
    let mut solver = solver();
    for leaving in iosts.outgoing() {
        let leaving: Vec<_> = leaving.iter().map(|number| &iosts.transitions[*number]).collect();
        for (at, one) in leaving.iter().enumerate() {
            for two in leaving[at + 1..].iter().filter(|two| two.action == one.action) {
                let both = solver.witness(&[enabling_condition(one), enabling_condition(two)]);
                if both != Witness::None {
                    return both;
                }
            }
        }
    }
    Witness::None
}

/// A state with parameters in which a location has no transition for an action (Definition 4.22(4)).
fn missing(iosts: &Iosts) -> Witness {
    let mut solver = solver();
    for (location, action) in
        iosts.location_ids().flat_map(|location| iosts.action_ids().map(move |action| (location, action)))
    {
        let of_it = iosts.transitions.iter().filter(|t| (t.source, t.action) == (location, action));
        let none = solver.witness(&[Term::or(of_it.map(enabling_condition)).not()]);
        if none != Witness::None {
            return none;
        }
    }
    Witness::None
}

#[test]
fn golden_1_it_is_initialized_and_not_deterministic() {
    let iosts = specification(COFFEE).iosts;
    assert!(initialized::check(&iosts, &mut solver()).is_empty());
    // Not deterministic for its internal action; no two of its transitions overlap.
    assert!(iosts.actions.iter().any(|action| !action.is_visible()));
    assert_eq!(choice(&iosts), Witness::None);
}

#[test]
fn golden_8_figure_4_2_the_witness_is_three() {
    let iosts = specification("tests/models/nondeterministic_figure_4_2.yaml").iosts;
    let Witness::Found(witness) = choice(&iosts) else { panic!("a choice") };
    let paid = iosts.find_datum("vPaid").unwrap();
    assert_eq!(witness[paid].to_string(), "3");
}

#[test]
fn golden_10_figure_4_3_the_purpose_is_complete_after_completion_only() {
    let specification = specification(COFFEE);
    let purpose = purpose("examples/coffee_machine/deliver_coffee.yaml", &specification);
    assert!(matches!(missing(&purpose.iosts), Witness::Found(_)));
    let complete = coreach_pipeline::stages::complete::complete(purpose, &Default::default(), &mut solver());
    assert_eq!(missing(&complete.purpose.iosts), Witness::None);
}

#[test]
fn example_6_6_an_accepting_trace_of_the_purpose_alone() {
    // Part of golden 2. The purpose reads vPaid as a constant: 0 all the time here.
    let specification = specification(COFFEE);
    let purpose = purpose("examples/coffee_machine/deliver_coffee.yaml", &specification);
    let complete = coreach_pipeline::stages::complete::complete(purpose, &Default::default(), &mut solver());
    let iosts = &complete.purpose.iosts;
    let accepting = "Coin(1) Deliver(COFFEE) Coin(3) Deliver(TEA)";
    assert_eq!(locations_after(iosts, "cPrice=2 vPaid=0", accepting), ["Accept"]);
}
