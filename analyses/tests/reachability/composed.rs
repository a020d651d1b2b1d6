//! The analysis over a domain that is made of others.

use coreach_analyses::Analysis;
use coreach_analyses::domains::both::Both;
use coreach_analyses::domains::interval::Intervals;
use coreach_analyses::domains::octagon::Octagons;
use coreach_analyses::inductive::chain;
use coreach_analyses::reachability::analyse_in;
use coreach_analyses::solver::must_hold;
use coreach_analyses::solver::z3::Z3Solver;

use super::build::coffee;

#[test]
fn sound_chains_of_composed_domains_are_proofs() {
    let (model, accepting) = coffee();
    let facts = analyse_in::<Both<Intervals, Octagons>>(&model, &accepting, &Analysis::default());
    let mut solver = Z3Solver::default();
    for obligation in chain(&model, &accepting, &facts.chain, &facts.coreach) {
        let is_proved = must_hold(&mut solver, &obligation.premises, &obligation.conclusion);
        assert!(is_proved, "{obligation:?}");
    }
}
