//! Guards that meet in one value: `p >= 1` and `p <= 1` on two transitions of one action are most likely a
//! slip, since the model then chooses between two effects.
//!
//! A model may be nondeterministic, so only this is told: guards that both were written, of which neither
//! implies the other, and that hold together for one valuation of the message alone (of the variables where
//! they read no message). An output by guards that read no message is the system's choice. Where the solver
//! does not know, nothing is said.
//!
//! **Costs** at most four questions for each pair, and [`MOST_PAIRS`] pairs.

use coreach_model::iosts::ActionKind;
use coreach_model::obligation::defined;
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::{literals, substitute};
use coreach_model::{Datum, Diagnostic, Iosts, Term, Transition, Value};

use super::{is_large, show};
use crate::solver::{Answer, Solver, Witness};

const MOST_PAIRS: usize = 200;

/// Warnings `guards-meet`.
pub fn check(iosts: &Iosts, solver: &mut dyn Solver) -> Vec<Diagnostic> {
    let is_written = |transition: &&Transition| {
        let action = iosts.action(transition.action);
        action.is_visible() && transition.origin.guard.is_some() && !is_large(&transition.guard)
    };
    let written: Vec<&Transition> = iosts.transitions.iter().filter(is_written).collect();
    let pairs = written
        .iter()
        .enumerate()
        .flat_map(|(at, one)| written[at + 1..].iter().map(move |other| (*one, *other)));
    let differ = |(one, other): &(&Transition, &Transition)| {
        (one.source, one.action) == (other.source, other.action)
            && (one.target, &one.assignments) != (other.target, &other.assignments)
    };
    let found = pairs.filter(differ).take(MOST_PAIRS);
    found.filter_map(|(one, other)| warn(iosts, one, other, solver)).collect()
}

fn warn(iosts: &Iosts, one: &Transition, other: &Transition, solver: &mut dyn Solver) -> Option<Diagnostic> {
    let [a, b] =
        [one, other].map(|transition| Term::and([defined(&transition.guard), transition.guard.clone()]));
    let Witness::Found(meeting) = solver.witness(&[a.clone(), b.clone()]) else { return None };
    let action = iosts.action(one.action);
    let read: Vec<Datum> = a.data().into_iter().chain(b.data()).collect();
    let reads_message = read.iter().any(|datum| action.parameters.contains(datum));
    if action.kind == ActionKind::Output && !reads_message {
        return None;
    }
    let is_free = |datum: &Datum| !reads_message || action.parameters.contains(datum);
    let (free, fixed): (Valuation, Valuation) =
        meeting.into_iter().filter(|(datum, _)| read.contains(datum)).partition(|(datum, _)| is_free(datum));
    let [a, b] = [a, b].map(|guard| substitute(&guard, &literals(&fixed)));
    let is_same =
        |(datum, value): (&Datum, &Value)| Term::equal(&Term::datum(datum), &Term::literal(value.clone()));
    let here = Term::and(free.iter().map(is_same));
    let meets_once = solver.check(&[a.clone(), b.clone(), here.not()]) == Answer::Unsat;
    let exceeds =
        |a: &Term, b: &Term, solver: &mut dyn Solver| solver.check(&[a.clone(), b.not()]) == Answer::Sat;
    if !(meets_once && exceeds(&a, &b, solver) && exceeds(&b, &a, solver)) {
        return None;
    }
    let message = format!(
        "`{}` and `{}` are both possible where {}, with different effects",
        iosts.describe(one),
        iosts.describe(other),
        show(&free.into_iter().chain(fixed).collect())
    );
    let help = "the model then chooses: let one of the guards exclude it, if that is not meant";
    let [first, second] = [one, other].map(|transition| transition.origin.guard.clone());
    Some(
        Diagnostic::warning("guards-meet", message)
            .at(first, "holds there")
            .at(second, "holds there as well")
            .help(help),
    )
}
