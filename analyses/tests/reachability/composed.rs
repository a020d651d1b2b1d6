//! The analysis over domains that are made of others: elements that are no conjunctions are stored, written
//! and followed.

use coreach_analyses::Options;
use coreach_analyses::domains::both::Both;
use coreach_analyses::domains::interval::Interval;
use coreach_analyses::domains::octagon::Octagon;
use coreach_analyses::domains::polyhedra::Polyhedra;
use coreach_analyses::domains::powerset::Powerset;
use coreach_analyses::inductive::chain;
use coreach_analyses::reachability::analyse_in;
use coreach_analyses::solver::must_hold;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::{Datum, Iosts, Term, Type};

use super::build::{Builder, cmp, coffee, t};

/// x is 0 or 10, and changes from the one to the other.
fn flip() -> Iosts {
    let x = Datum::new("x", Type::Int);
    let mut model = Builder::new(&[], &[&x], cmp(t(&x), "==", Term::int(0)), &["l0", "l1"]);
    let a = model.action("A", &[]);
    model.transition("l0", a, Term::yes(), &[(&x, Term::subtract(&Term::int(10), &t(&x)))], "l0");
    model.transition("l0", a, cmp(t(&x), "==", Term::int(5)), &[], "l1");
    model.0
}

#[test]
fn precise_sets_see_that_a_value_lies_between() {
    let model = flip();
    let options = Options::default();
    let texts = |facts: &[Term]| facts.iter().map(Term::to_string).collect::<Vec<_>>();
    let convex = analyse_in::<Polyhedra>(&model, &[false, true], &options);
    assert_eq!(texts(&convex.reach), ["x >= 0 && x <= 10", "x == 5"]);
    let facts = analyse_in::<Powerset<Polyhedra, 2>>(&model, &[false, true], &options);
    assert_eq!(texts(&facts.reach), ["x == 10 || x == 0", "false"]);
    assert_eq!(texts(&facts.coreach), ["false", "false"]);
}

#[test]
fn sound_chains_of_composed_domains_are_proofs() {
    let (coffee, accepting) = coffee();
    for (model, accepting) in [(coffee, accepting), (flip(), vec![true, false])] {
        let options = Options::default();
        for facts in [
            analyse_in::<Both<Interval, Octagon>>(&model, &accepting, &options),
            analyse_in::<Powerset<Interval, 2>>(&model, &accepting, &options),
            analyse_in::<Powerset<Polyhedra, 3>>(&model, &accepting, &options),
        ] {
            let mut solver = Z3Solver::default();
            for obligation in chain(&model, &accepting, &facts.chain, &facts.coreach) {
                let is_proved = must_hold(&mut solver, &obligation.premises, &obligation.conclusion);
                assert!(is_proved, "{obligation:?}");
            }
        }
    }
}

#[test]
fn precise_disjunctions_are_said_in_clauses() {
    // Sixteen cells, each with numbers of its own: what is said is exactly the initial condition.
    let flags: Vec<Datum> = (0..4).map(|at| Datum::new(format!("b{at}"), Type::Bool)).collect();
    let numbers: Vec<Datum> = (0..4).map(|at| Datum::new(format!("x{at}"), Type::Int)).collect();
    let is = |x: &Datum, value: i64| cmp(t(x), "==", Term::int(value));
    let parts = flags.iter().zip(&numbers).map(|(b, x)| {
        let set = Term::or([is(x, 0), is(x, 10)]);
        Term::and([Term::implies(&t(b), &set), Term::implies(&t(b).not(), &is(x, 5))])
    });
    let initial = Term::and(parts.collect::<Vec<_>>());
    let data: Vec<&Datum> = flags.iter().chain(&numbers).collect();
    let model = Builder::new(&[], &data, initial.clone(), &["l0"]).0;
    let options = Options { fact_limit: 10_000, ..Options::default() };
    let facts = analyse_in::<Powerset<Interval, 16>>(&model, &[true], &options);
    let mut solver = Z3Solver::default();
    let said = &facts.reach[0];
    assert!(must_hold(&mut solver, &said.conjuncts(), &initial), "{said}");
    assert!(must_hold(&mut solver, &initial.conjuncts(), said), "{said}");
    assert_eq!((facts.iterations.elements, facts.iterations.shortened), (17, 0));
}
