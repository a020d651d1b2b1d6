//! The facts of an analysis are proved by their chain, and by nothing that was damaged.

use coreach_analyses::inductive::{
    HornClause, HornClauses, Obligation, Orientation, Point, RefinementIteration, chain,
};
use coreach_analyses::solver::must_hold;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::{Analysis, DomainKind, analyse};
use coreach_model::iosts::LocationId;
use coreach_model::{Datum, Iosts, Term, Type};

use super::build::{Builder, cmp, coffee, t};

/// The conditions that are not proved.
fn unproved(obligations: impl Iterator<Item = Obligation>) -> Vec<HornClause> {
    let mut solver = Z3Solver::default();
    let open = obligations.filter(|o| !must_hold(&mut solver, &o.premises, &o.conclusion));
    open.map(|obligation| obligation.clause).collect()
}

/// A counter that is set back: the first refinement iteration alone does not say what the last does.
fn counter() -> (Iosts, Vec<bool>) {
    let v = Datum::new("v", Type::Int);
    let mut model = Builder::new(&[], &[&v], cmp(t(&v), "==", Term::int(0)), &["Count", "Check", "Accept"]);
    let a = model.action("A", &[]);
    let plus = |number| Term::add(&t(&v), &Term::int(number));
    model.transition("Count", a, cmp(t(&v), "<", Term::int(10)), &[(&v, plus(2))], "Count");
    model.transition("Count", a, Term::yes(), &[(&v, plus(1))], "Check");
    model.transition("Check", a, cmp(t(&v), "<=", Term::int(5)), &[], "Accept");
    (model.0, vec![false, false, true])
}

#[test]
fn sound_chains_are_proofs() {
    for (model, accepting) in [coffee(), counter()] {
        for &domain in DomainKind::ALL {
            for rounds in 1..=3 {
                let facts = analyse(&model, &accepting, &Analysis { domain, rounds, ..Analysis::default() });
                let refinements = &facts.chain;
                assert_eq!(refinements.len(), 2 * facts.iterations.rounds, "{domain}");
                assert_eq!(
                    refinements.first().map(|refinement| (refinement.orientation, &refinement.facts)),
                    Some((Orientation::Forward, &facts.reach))
                );
                assert_eq!(
                    refinements.last().map(|refinement| (refinement.orientation, &refinement.facts)),
                    Some((Orientation::Backward, &facts.coreach))
                );
                let open = unproved(chain(&model, &accepting, refinements, &facts.coreach));
                assert_eq!(open, [], "{domain}, {rounds} rounds");
            }
        }
    }
}

#[test]
fn sound_a_damaged_chain_proves_nothing() {
    for (model, accepting) in [coffee(), counter()] {
        let facts = analyse(&model, &accepting, &Analysis::default());
        let mut damaged = 0;
        for refinement in 0..facts.chain.len() {
            for at in 0..model.locations.len() {
                let mut refinements = facts.chain.clone();
                if std::mem::replace(&mut refinements[refinement].facts[at], Term::no()).is_false() {
                    continue;
                }
                damaged += 1;
                // What is lost is noticed where it is lost, or where it is claimed.
                assert_ne!(
                    unproved(chain(&model, &accepting, &refinements, &facts.coreach)),
                    [],
                    "{refinement}, {at}"
                );
            }
        }
        assert!(damaged >= 6, "{damaged}");
        let none: &[RefinementIteration] = &[];
        assert_ne!(unproved(chain(&model, &accepting, none, &facts.coreach)), []);
    }
}

#[test]
fn what_is_claimed_must_follow() {
    let (model, accepting) = counter();
    let facts = analyse(&model, &accepting, &Analysis::default());
    let mut claimed = facts.coreach.clone();
    claimed[1] = Term::no();
    assert_eq!(unproved(chain(&model, &accepting, &facts.chain, &claimed)), [HornClause::Goal(1)]);
}

#[test]
fn a_partition_states_facts_apart() {
    // v = 0, 2, 4, ...; each pass of the loop changes the token.
    let v = Datum::new("v", Type::Int);
    let mut model = Builder::new(&[], &[&v], cmp(t(&v), "==", Term::int(0)), &["l"]);
    let a = model.action("A", &[]);
    model.transition("l", a, Term::yes(), &[(&v, Term::subtract(&Term::int(2), &t(&v)))], "l");
    let points: Vec<Point<bool>> =
        [false, true].map(|token| Point { location: LocationId(0), token }).to_vec();
    let clauses = HornClauses::over(
        &model.0,
        Orientation::Forward,
        points,
        |point| !point.token,
        |before, _, after| before != after,
    );
    assert_eq!((clauses.entries.len(), clauses.steps.len()), (1, 2));
    let is = |value| cmp(t(&v), "==", Term::int(value));
    assert_eq!(unproved(clauses.obligations(&model.0, &[is(0), is(2)], None)), []);
    let wrong = [is(0), is(1)];
    assert_eq!(
        unproved(clauses.obligations(&model.0, &wrong, None)),
        [HornClause::Step(0), HornClause::Step(1)]
    );
    let facts = [is(0), is(2)];
    assert_eq!(clauses.at_locations(&model.0, &facts), [facts.to_vec()]);
}
