//! Guards that never hold. A transition that cannot be taken in any state of its types is most likely a slip.
//!
//! A guard that is merely false in every *reachable* state is not looked for here.
//!
//! Most guards hold under one of a few simple valuations. `holds_somewhere` finds these without the solver.

use coreach_model::iosts::{ActionKind, TransitionOrigin};
use coreach_model::obligation::defined;
use coreach_model::reader::collect::LIMIT;
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::term::{Substitution, have_values, literals, substitute};
use coreach_model::{Datum, Diagnostic, Iosts, Term, Transition, Type, Value};

use super::{likely, warn_of_more};
use crate::solver::{Answer, Solver, Witness};

/// Gives warnings `guard-never-true`. If the solver does not know, there is no warning: the transition stays.
pub fn check(iosts: &Iosts, solver: &mut dyn Solver) -> Vec<Diagnostic> {
    find_never_true(iosts, solver).into_iter().map(|(warning, _)| warning).collect()
}

/// Gives the warnings of [`check`], each with the datum whose type excludes the guard, if there is one.
pub fn find_never_true(iosts: &Iosts, solver: &mut dyn Solver) -> Vec<(Diagnostic, Option<Datum>)> {
    let mut warnings = Vec::new();
    for transition in &iosts.transitions {
        if holds_somewhere(&transition.guard) {
            continue;
        }
        let defined = defined(&transition.guard);
        // An honest guard has a handful of divisors. Hundreds cost the solver seconds, which a warning is not
        // worth.
        if !defined.has_at_most(super::MOST_PARTS) {
            continue;
        }
        let guard = Term::and([defined, transition.guard.clone()]);
        if solver.check(std::slice::from_ref(&guard)) == Answer::Unsat {
            let message = format!("the guard of `{}` is never true", iosts.describe(transition));
            let TransitionOrigin { guard: place, whole, declared, .. } = &transition.origin;
            let place = place.clone().or(whole.clone());
            let mut warning = Diagnostic::warning("guard-never-true", message).at(place, "cannot hold");
            let narrow = find_narrow_type(&guard, solver);
            let (note, help) = likely::explain_contradiction(iosts, transition, solver);
            warning.help = help;
            if let (Some((datum, value, wide)), None) = (&narrow, &warning.help) {
                let label = format!("its type `{}` has no value {value}", datum.ty());
                let help = format!("write the type `{wide}` for `{datum}`, or correct the guard");
                warning = warning.at(declared.get(datum.name()).cloned(), label).help(help);
            }
            warning.notes.extend(note);
            warnings.push((warning, narrow.map(|(datum, ..)| datum)));
            if warnings.len() == LIMIT {
                warnings.push((warn_of_more(), None));
                break;
            }
        }
    }
    warnings
}

/// Finds a datum whose type excludes the guard. Returns it with a value outside its type with which the guard
/// can hold, and a type that has this value. `None` if no single datum does.
pub fn find_narrow_type(guard: &Term, solver: &mut dyn Solver) -> Option<(Datum, Value, Type)> {
    guard.data().iter().find_map(|datum| {
        if !matches!(datum.ty(), Type::Nat | Type::Range(..)) {
            return None;
        }
        let integer = Datum::new(datum.name(), Type::Int);
        let widened = Substitution::from([(datum.clone(), Term::datum(&integer))]);
        let Witness::Found(state) = solver.witness(&[substitute(guard, &widened)]) else { return None };
        let Some(Value::Int(value)) = state.get(&integer) else { return None };
        let wide = match datum.ty() {
            Type::Range(least, most) => Type::Range(least.min(value).clone(), most.max(value).clone()),
            _ => Type::Int,
        };
        Some((datum.clone(), Value::Int(value.clone()), wide))
    })
}

/// Does the guard hold if all numbers have the same simple value? `true` is certain, `false` is not. It costs
/// a few evaluations of the guard.
fn holds_somewhere(guard: &Term) -> bool {
    if guard.is_true() {
        return true;
    }
    let data = guard.data();
    [0, 1, -1, 1_000_000, -1_000_000].into_iter().any(|number: i32| {
        let value = |datum: &Datum| match datum.ty() {
            Type::Bool => Value::Bool(number > 0),
            Type::Int | Type::Nat | Type::Range(..) if Value::int(number).is_in(datum.ty()) => {
                Value::int(number)
            }
            Type::Real => Value::Real(number.into()),
            other => Value::any(other),
        };
        let valuation = data.iter().map(|datum| (datum.clone(), value(datum))).collect();
        evaluate(guard, &valuation) == Ok(Value::Bool(true))
    })
}

/// Gives warnings `guards-meet`: two transitions of one action whose guards meet in one value, as `p >= 1`
/// and `p <= 1`, are most likely a slip, since the model then chooses between two effects. A model may be
/// nondeterministic, so only such pairs are reported: both guards were written, neither implies the other,
/// and they hold together for only one valuation of the message (or of the variables, if they read no
/// message). An output whose guards read no message is the system's choice. If the solver does not know,
/// there is no warning. **Costs** four questions for each of at most `LIMIT` pairs.
pub fn check_meeting(iosts: &Iosts, solver: &mut dyn Solver) -> Vec<Diagnostic> {
    let is_written = |transition: &&Transition| {
        let action = iosts.action(transition.action);
        action.is_visible()
            && transition.origin.guard.is_some()
            && transition.guard.has_at_most(super::MOST_PARTS)
    };
    let written: Vec<&Transition> = iosts.transitions.iter().filter(is_written).collect();
    let pairs = written
        .iter()
        .enumerate()
        .flat_map(|(place, first)| written[place + 1..].iter().map(move |second| (*first, *second)));
    let compete = |(first, second): &(&Transition, &Transition)| {
        (first.source, first.action) == (second.source, second.action)
            && (first.target, &first.assignments) != (second.target, &second.assignments)
    };
    let competing = pairs.filter(compete).take(LIMIT);
    competing.filter_map(|(first, second)| warn_of_meeting(iosts, first, second, solver)).collect()
}

/// Warns of two transitions if their guards meet in one valuation. At most four questions to the solver.
fn warn_of_meeting(
    iosts: &Iosts,
    first: &Transition,
    second: &Transition,
    solver: &mut dyn Solver,
) -> Option<Diagnostic> {
    let [a, b] =
        [first, second].map(|transition| Term::and([defined(&transition.guard), transition.guard.clone()]));
    let Witness::Found(meeting) = solver.witness(&[a.clone(), b.clone()]) else { return None };
    let action = iosts.action(first.action);
    let read: Vec<Datum> = a.data().into_iter().chain(b.data()).collect();
    let reads_message = read.iter().any(|datum| action.parameters.contains(datum));
    if action.kind == ActionKind::Output && !reads_message {
        return None;
    }
    // The meeting must be unique for the message, with the other data as they are.
    let is_free = |datum: &Datum| !reads_message || action.parameters.contains(datum);
    let (free, fixed): (Valuation, Valuation) =
        meeting.into_iter().filter(|(datum, _)| read.contains(datum)).partition(|(datum, _)| is_free(datum));
    let [a, b] = [a, b].map(|guard| substitute(&guard, &literals(&fixed)));
    let meets_once = solver.check(&[a.clone(), b.clone(), have_values(&free).not()]) == Answer::Unsat;
    let exceeds =
        |a: &Term, b: &Term, solver: &mut dyn Solver| solver.check(&[a.clone(), b.not()]) == Answer::Sat;
    if !(meets_once && exceeds(&a, &b, solver) && exceeds(&b, &a, solver)) {
        return None;
    }
    let message = format!(
        "`{}` and `{}` are both possible where {}, with different effects",
        iosts.describe(first),
        iosts.describe(second),
        super::show(&free.into_iter().chain(fixed).collect())
    );
    let help = "both are then allowed: if this is not intended, let one of the guards exclude it";
    Some(
        Diagnostic::warning("guards-meet", message)
            .at(first.origin.guard.clone(), "holds in this case")
            .at(second.origin.guard.clone(), "holds in this case as well")
            .help(help),
    )
}

#[cfg(test)]
mod tests {
    use super::super::builder::{Build, int};
    use super::*;
    use crate::solver::z3::Z3Solver;
    use coreach_model::term::node::Comparison::{Greater, Less};
    use coreach_model::term::node::Operator;

    #[test]
    fn a_guard_that_has_no_value_is_not_taken_for_one_that_holds() {
        let quotient = Term::arithmetic(Operator::IntegerDivide, &int("x"), &Term::int(0));
        let guard = Term::compare(Greater, &quotient, &Term::int(0));
        assert!(!holds_somewhere(&guard));
        let range = Term::datum(&Datum::new("r", Type::Range(3.into(), 4.into())));
        assert!(holds_somewhere(&Term::compare(Less, &range, &int("x"))));
        assert!(!holds_somewhere(&Term::compare(Less, &range, &Term::int(3))));
    }

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
        // A wider type would help the first guard only.
        let helps: Vec<Option<&str>> = found.iter().map(|one| one.help.as_deref()).collect();
        assert_eq!(helps, [Some("write the type `int` for `n`, or correct the guard"), None]);
    }
}
