//! Guards that never hold: a transition that cannot be taken in any state of its types is most likely a slip.
//!
//! A guard that is merely false in every *reachable* state is not looked for here.

use coreach_model::obligation::defined;
use coreach_model::{Diagnostic, Iosts, Term};

use crate::solver::{Answer, Solver};

/// Warnings `guard-never-true`. Where the solver does not know, nothing is said: the transition stays.
pub fn check(iosts: &Iosts, solver: &mut dyn Solver) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for transition in &iosts.transitions {
        let guard = Term::and([defined(&transition.guard), transition.guard.clone()]);
        if solver.check(&[guard]) == Answer::Unsat {
            let message = format!("the guard of `{}` is never true", iosts.describe(transition));
            let origin = transition.origin.guard.clone().or(transition.origin.whole.clone());
            found.push(Diagnostic::warning("guard-never-true", message).at(origin, "cannot hold"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::builder::{Build, int};
    use super::*;
    use crate::solver::z3::Z3Solver;
    use coreach_model::term::node::Comparison::{Greater, Less};
    use coreach_model::{Datum, Type};

    #[test]
    fn a_contradiction_is_found_with_the_help_of_types() {
        let nat = Term::datum(&Datum::new("n", Type::Nat));
        let negative = Term::compare(Less, &nat, &Term::int(0));
        let both = Term::and([
            Term::compare(Greater, &int("x"), &Term::int(0)),
            Term::compare(Less, &int("x"), &Term::int(1)),
        ]);
        let fine = Term::compare(Greater, &int("x"), &nat);
        let iosts = Build::new(&["l0"])
            .variable("n", Type::Nat)
            .variable("x", Type::Int)
            .step("l0", "l0", negative, [])
            .step("l0", "l0", both, [])
            .step("l0", "l0", fine, [])
            .done();
        let found = check(&iosts, &mut Z3Solver::default());
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|one| one.code == "guard-never-true" && !one.is_error()));
    }
}
