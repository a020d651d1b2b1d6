use coreach_model::iosts::{Action, ActionId, ActionKind, Location, LocationId, Transition};
use coreach_model::term::node::Comparison;
use coreach_model::{Datum, Type};

use super::*;
use crate::domains::DomainKind;
use crate::inductive::Point;

/// A location with a loop that assigns 1 - x to x.
fn toggle() -> Iosts {
    let x = Datum::new("x", Type::Int);
    let value = Term::datum(&x);
    let toggle = Transition {
        source: LocationId(0),
        action: ActionId(0),
        guard: Term::yes(),
        assignments: [(x.clone(), Term::subtract(&Term::int(1), &value))].into_iter().collect(),
        target: LocationId(0),
        origin: Default::default(),
    };
    Iosts {
        name: "toggle".to_owned(),
        constants: Vec::new(),
        variables: vec![x],
        initial_condition: Term::compare(Comparison::Equal, &value, &Term::int(0)),
        locations: vec![Location::named("l")].into(),
        initial: LocationId(0),
        actions: vec![Action { name: "a".to_owned(), kind: ActionKind::Input, parameters: Vec::new() }]
            .into(),
        transitions: vec![toggle].into(),
        origin: None,
    }
}

/// The engine knows points, not locations: tokens tell apart the even and the odd passes of a loop.
#[test]
fn tokens_tell_apart_what_a_location_joins() {
    let iosts = toggle();
    let parities = |orientation, entry: fn(&Point<u8>) -> bool| {
        let points = [0, 1].map(|token| Point { location: LocationId(0), token }).to_vec();
        HornClauses::over(&iosts, orientation, points, entry, |one, _, other| one != other)
    };
    let forward = parities(Orientation::Forward, |point| point.token == 0);
    let backward = parities(Orientation::Backward, |_| true);
    let mut remembered = Remembered::new(DomainKind::Interval.implementation(), &Analysis::default(), None);
    let facts = remembered.solve(&iosts, forward, Some(backward)).unwrap();
    for refinement in &facts.chain {
        assert_eq!(refinement.facts[0].to_string(), "x == 0 || x == 1");
    }
    assert_eq!(facts.reach[0].to_string(), "x == 0 || x == 1");
    assert_eq!(facts.coreach, facts.reach);
    let joined = remembered.run(&iosts, Some(&[true])).unwrap();
    assert_eq!(joined.reach[0].to_string(), "x >= 0 && x <= 1");
}

/// Soundness: an analysis that takes too much work is repeated with less of the data, and the facts still
/// hold.
#[test]
fn an_analysis_that_takes_too_much_work_is_made_coarser() {
    let iosts = toggle();
    for (coarseness, reach) in [
        (Coarseness::AsGiven, "x >= 0 && x <= 1"),
        (Coarseness::FewCells, "x >= 0 && x <= 1"),
        (Coarseness::NoCells, "x >= 0 && x <= 1"),
        (Coarseness::LocationsOnly, "true"),
    ] {
        let mut analyst = Analyst::new(&Analysis::default());
        while analyst.coarseness != coarseness {
            analyst.remembered =
                Remembered::new(DomainKind::Polyhedra.implementation(), &analyst.options, Some(0));
            assert_eq!(analyst.remembered.run(&iosts, None), None);
            // No partition is known, as if it had many cells.
            analyst.remembered =
                Remembered::new(DomainKind::Polyhedra.implementation(), &analyst.options, Some(0));
            analyst.coarsen();
        }
        let facts = analyst.run(&iosts, None);
        assert_eq!(facts.iterations.coarseness, coarseness);
        assert_eq!(facts.reach[0].to_string(), reach);
    }
}
