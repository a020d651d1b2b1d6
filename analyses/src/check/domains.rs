//! Domains of operations belong to the guard. If a guard does not imply them, the user learns of the states
//! in which the transition is silently disabled.
//!
//! For an operation in the guard the question is: can the guard be true, read as if every operation had some
//! value, in a state in which this operation has none? For an assignment it is: can the guard hold in a state
//! in which an operation on the right side has no value, or the value lies outside the variable's type? A
//! guard that never holds implies everything and is reported elsewhere ([`super::guards`]). If the obligation
//! holds nowhere, the warning says this, without a state and without help. The states are those in which the
//! location can just have been entered, as far as the guards of the transitions into it say.
//!
//! **Costs** two queries per obligation and transition into its location, and three more if something is
//! reported. An obligation of hundreds of operations is not asked: no honest guard has one, and no solver
//! decides it soon.

use coreach_model::excerpt::shortened;
use coreach_model::limits::FEW_SHOWN;
use coreach_model::obligation::{defined, obligations};
use coreach_model::reader::collect::LIMIT;
use coreach_model::reader::collect::merge_equal;
use coreach_model::term::TermShape;
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::operation::{DerivedOperation, StandardOperation};
use coreach_model::{Datum, Diagnostic, Iosts, LocationId, Term, Transition, Type};

use super::{likely, show, warn_of_more};
use crate::solver::{Answer, Solver, Witness};

/// Gives warnings `domain-not-implied`, each with a state and parameters, and one `domain-undecided` that
/// counts the obligations that the solver could not decide. Assignments to variables whose types are known to
/// be too `narrow` are left out.
pub fn check(iosts: &Iosts, narrow: &[Datum], solver: &mut dyn Solver) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    let mut undecided: Vec<&Transition> = Vec::new();
    'transitions: for transition in &iosts.transitions {
        for (variable, condition) in obligations(transition) {
            if variable.as_deref().is_some_and(|name| narrow.iter().any(|datum| datum.name() == name)) {
                continue;
            }
            if !condition.has_at_most(super::MOST_PARTS) {
                undecided.push(transition);
                continue;
            }
            let in_guard = variable.is_none();
            let mut entries = vec![Vec::new()];
            let mut violation = find_violation(transition, in_guard, &condition, &entries, solver);
            // The facts of the entries cost a question each, so first a state is searched without them.
            if matches!(violation, Witness::Found(_)) {
                entries = list_entry_facts(iosts, transition.source);
                if entries.iter().any(|facts| !facts.is_empty()) {
                    violation = find_violation(transition, in_guard, &condition, &entries, solver);
                }
            }
            let state = match violation {
                Witness::None => continue,
                Witness::Unknown => {
                    undecided.push(transition);
                    continue;
                }
                Witness::Found(state) => state,
            };
            warnings.push(make_warning(
                iosts,
                transition,
                (variable.as_deref(), &condition),
                &state,
                &entries,
                solver,
            ));
            if warnings.len() == LIMIT {
                warnings.push(warn_of_more());
                break 'transitions;
            }
        }
    }
    warnings.extend(warn_of_undecided(undecided));
    merge_equal(warnings)
}

/// Makes one warning about the conditions that were not decided, with a transition for each.
fn warn_of_undecided(mut transitions: Vec<&Transition>) -> Option<Diagnostic> {
    let conditions = match transitions.len() {
        0 => return None,
        1 => "a condition".to_owned(),
        count => format!("{count} conditions"),
    };
    let message = format!("coreach could not decide whether the guards imply {conditions} on domains");
    transitions.dedup_by(|one, other| std::ptr::eq(*one, *other));
    let places = transitions.iter().filter_map(|transition| transition.origin.guard_or_whole());
    let warning =
        places.take(FEW_SHOWN).fold(Diagnostic::warning("domain-undecided", message), |warning, place| {
            warning.at(place.clone(), "not decided")
        });
    Some(warning.note("coreach adds each to the guard of its transition: where it does not hold, the transition cannot be taken"))
}

/// Lists, for each transition into a location, the conditions of its guard that still hold behind it. They
/// read no parameter and no variable that it assigns. Nothing is known at the start of a run, or if there are
/// many transitions.
fn list_entry_facts(iosts: &Iosts, location: LocationId) -> Vec<Vec<Term>> {
    let entries = || iosts.transitions.iter().filter(|entry| entry.target == location);
    if location == iosts.initial || !(1..=8).contains(&entries().count()) {
        return vec![Vec::new()];
    }
    let facts = entries().map(|entry| {
        let parameters = iosts.action(entry.action).parameters.iter();
        let changed: Vec<&Datum> = parameters.chain(entry.assignments.keys()).collect();
        let still_holds = |part: &Term| !changed.iter().any(|datum| part.mentions(datum));
        entry.guard.conjuncts().into_iter().filter(still_holds).collect()
    });
    facts.collect()
}

/// Searches a state and parameters in which the guard would let the transition be taken, and the condition
/// does not hold. If the condition is about the guard (`in_guard`), the guard has no value there. The state
/// meets the facts of one of the `entries` of the location.
fn find_violation(
    transition: &Transition,
    in_guard: bool,
    condition: &Term,
    entries: &[Vec<Term>],
    solver: &mut dyn Solver,
) -> Witness {
    let guard = &transition.guard;
    let violated = condition.not();
    let mut answer = Witness::None;
    for facts in entries {
        let with_facts = |parts: &[Term]| [facts.as_slice(), parts].concat();
        let witness = match in_guard {
            // The guard has no value in such a state, so the witness is found without it.
            true => match solver.check(&with_facts(&[guard.clone(), violated.clone()])) {
                Answer::Unsat => Witness::None,
                Answer::Unknown => Witness::Unknown,
                Answer::Sat => solver.witness(&with_facts(std::slice::from_ref(&violated))),
            },
            false => solver.witness(&with_facts(&[defined(guard), guard.clone(), violated.clone()])),
        };
        match witness {
            Witness::None => {}
            Witness::Unknown => answer = Witness::Unknown,
            Witness::Found(_) => return witness,
        }
    }
    answer
}

/// Searches parameters with which the guard of a transition has no value at the beginning of a run.
fn find_start(
    iosts: &Iosts,
    transition: &Transition,
    variable: Option<&str>,
    condition: &Term,
    solver: &mut dyn Solver,
) -> Option<Valuation> {
    if transition.source != iosts.initial || variable.is_some() {
        return None;
    }
    let [initial, violated] = [iosts.initial_condition.clone(), condition.not()];
    if solver.check(&[initial.clone(), violated.clone(), transition.guard.clone()]) != Answer::Sat {
        return None;
    }
    // The guard has no value in such a state, so the witness is found without it.
    if let Witness::Found(state) = solver.witness(&[initial, violated]) { Some(state) } else { None }
}

/// Does a change of the transition cure the warning about its guard, or about the value of this variable? If
/// the condition held in no state (`is_never`), one state is enough. Otherwise the guard must imply it.
fn cures_warning(
    changed: &Transition,
    variable: Option<&str>,
    is_never: bool,
    entries: &[Vec<Term>],
    solver: &mut dyn Solver,
) -> bool {
    let remaining = obligations(changed).into_iter().find(|(assigned, _)| assigned.as_deref() == variable);
    remaining.is_none_or(|(_, condition)| match is_never {
        true => !holds_nowhere(changed, variable.is_none(), &condition, solver),
        false => {
            let violation = find_violation(changed, variable.is_none(), &condition, entries, solver);
            matches!(violation, Witness::None)
        }
    })
}

/// Does the condition exclude the transition in every state?
fn holds_nowhere(transition: &Transition, in_guard: bool, condition: &Term, solver: &mut dyn Solver) -> bool {
    let guard = &transition.guard;
    let formula = match in_guard {
        true => vec![condition.clone()],
        false => vec![defined(guard), guard.clone(), condition.clone()],
    };
    solver.check(&formula) == Answer::Unsat
}

/// Makes the warning that a condition, of a variable or of the guard, does not hold in a state, with a help
/// and, if there is one, a state at the beginning.
fn make_warning(
    iosts: &Iosts,
    transition: &Transition,
    (variable, condition): (Option<&str>, &Term),
    state: &Valuation,
    entries: &[Vec<Term>],
    solver: &mut dyn Solver,
) -> Diagnostic {
    let is_never = holds_nowhere(transition, variable.is_none(), condition, solver);
    let likely = likely::explain_missing_value(transition, variable, &mut |changed| {
        cures_warning(changed, variable, is_never, entries, solver)
    });
    let mut helps: Vec<String> = likely.into_iter().collect();
    let mut start = None;
    if !is_never {
        helps.push(describe_addition(transition, variable, condition, solver));
        start = find_start(iosts, transition, variable, condition, solver);
    }
    let help = Some(helps.join("; ")).filter(|help| !help.is_empty());
    let note = start.as_ref().map(|_| "so already at the beginning: does a value lack there?");
    let state = (!is_never).then_some(start.as_ref().unwrap_or(state));
    let mut warning = report_condition(iosts, transition, variable, condition, state);
    warning.notes.extend(note.map(str::to_owned));
    // A type that may be too small has a help of its own.
    Diagnostic { help: warning.help.clone().or(help), ..warning }
}

/// Reports a condition: it does not hold in this state, or (without a state) it holds in none.
fn report_condition(
    iosts: &Iosts,
    transition: &Transition,
    variable: Option<&str>,
    condition: &Term,
    state: Option<&Valuation>,
) -> Diagnostic {
    let may_be_small = |datum: &&Datum| {
        variable == Some(datum.name())
            && match transition.assignments.get(*datum).map(Term::shape) {
                // If the joined lists have values, only their common length may be too large.
                Some(TermShape::Operation(DerivedOperation::Standard(StandardOperation::Joined), parts)) => {
                    parts.iter().all(|part| defined(part).is_true())
                }
                _ => matches!(datum.ty(), Type::Nat | Type::Range(..)),
            }
    };
    if let (Some(datum), Some(state)) = (iosts.variables.iter().find(may_be_small), state) {
        return report_small_type(datum, transition, condition, state);
    }
    let name = iosts.describe(transition);
    let origin = &transition.origin;
    let (message, place, label) = match (variable, state) {
        (None, None) => {
            (format!("the guard of `{name}` has no value in any state"), &origin.guard, "never defined")
        }
        (None, Some(_)) => (
            format!("the guard of `{name}` has no value in some states"),
            &origin.guard,
            "not always defined",
        ),
        (Some(variable), None) => (
            format!(
                "where the guard of `{name}` holds, the value assigned to `{variable}` is never in its type"
            ),
            &origin.assignments.get(variable).cloned(),
            "never defined, or never in the type",
        ),
        (Some(variable), Some(_)) => (
            format!(
                "the guard of `{name}` does not imply that the value assigned to `{variable}` is in its type"
            ),
            &origin.assignments.get(variable).cloned(),
            "not always defined, or not always in the type",
        ),
    };
    let place = place.clone().or(origin.whole.clone());
    let warning = Diagnostic::warning("domain-not-implied", message).at(place, label);
    warning.note(match state {
        None => "the transition is never enabled".to_owned(),
        Some(state) => format!("the transition is not enabled, for example, where {}", show(state)),
    })
}

/// Reports a variable whose type may be too small. Findings that differ in their places only become one.
fn report_small_type(
    variable: &Datum,
    transition: &Transition,
    condition: &Term,
    state: &Valuation,
) -> Diagnostic {
    let (origin, name, ty) = (&transition.origin, variable.name(), variable.ty());
    let message = format!(
        "a value assigned to `{name}` may be outside of its type `{ty}`; then the transition is not enabled"
    );
    let declared =
        origin.declared.get(name).map_or(String::new(), |place| format!(" ({})", place.file_and_line()));
    let warning = Diagnostic::warning("domain-not-implied", message).help(format!(
        "widen the type of `{name}`{declared}, or exclude such values at the start of the guard"
    ));
    let condition = shortened(&condition.to_string());
    let example = format!("not `{condition}`, for example, where {}", show(state));
    match origin.assignments.get(name).or(origin.whole.as_ref()) {
        Some(place) => warning.at(place.clone(), example),
        None => warning.note(example),
    }
}

/// Says what to add to the guard, so that it implies the condition.
fn describe_addition(
    transition: &Transition,
    variable: Option<&str>,
    condition: &Term,
    solver: &mut dyn Solver,
) -> String {
    let guard = &transition.guard;
    let premises = if variable.is_some() { vec![defined(guard), guard.clone()] } else { vec![guard.clone()] };
    let condition = likely::shorten_condition(condition, &premises, solver).to_string();
    // A longer condition helps nobody.
    if condition.len() <= 300 {
        return format!("if this is intended, add `{condition}` at the start of the guard");
    }
    "if this is intended, say at the start of the guard that every divisor differs from 0 and every index \
    and value is in its type"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::builder::{Build, INPUT, int};
    use super::*;
    use crate::solver::z3::Z3Solver;
    use coreach_model::term::node::Comparison::{AtLeast, Greater};
    use coreach_model::term::node::Operator::IntegerDivide;
    use coreach_model::types::RecordType;
    use std::sync::Arc;

    fn found(guard: Term, value: Term) -> Vec<Diagnostic> {
        let build = Build::new(&["l0"]).variable("n", Type::Nat);
        check(&build.on(INPUT, "l0", "l0", guard, [("n", value)]).done(), &[], &mut Z3Solver::default())
    }

    #[test]
    fn an_assignment_outside_its_type_is_shown() {
        let n = Term::datum(&Datum::new("n", Type::Nat));
        let rest = Term::subtract(&n, &int("p"));
        let warned = found(Term::yes(), rest.clone());
        assert_eq!((warned.len(), warned[0].code), (1, "domain-not-implied"));
        assert!(warned[0].notes[0].contains("p = "), "{:?}", warned[0].notes);
        assert!(found(Term::compare(AtLeast, &n, &int("p")), rest).is_empty());
        assert!(found(Term::yes(), Term::add(&n, &Term::int(1))).is_empty());
    }

    /// Soundness: a condition that does not hold at each entry counts for nothing.
    #[test]
    fn a_condition_of_the_step_before_counts() {
        let n = Term::datum(&Datum::new("n", Type::Nat));
        let positive = || Term::compare(Greater, &n, &Term::int(0));
        let less = || Term::subtract(&n, &Term::int(1));
        let build = Build::new(&["l0", "l1"]).variable("n", Type::Nat);
        let warned = |build: Build| {
            let model = build.on(INPUT, "l1", "l0", Term::yes(), [("n", less())]).done();
            check(&model, &[], &mut Z3Solver::default()).len()
        };
        let one_entry = build.clone().on(INPUT, "l0", "l1", positive(), []);
        assert_eq!(warned(one_entry.clone()), 0);
        assert_eq!(warned(one_entry.on(INPUT, "l0", "l1", Term::yes(), [])), 1);
        assert_eq!(warned(build.on(INPUT, "l0", "l1", positive(), [("n", less())])), 1);
    }

    #[test]
    fn a_list_that_may_be_full_is_told_with_its_type() {
        let ty = Type::Record(Arc::new(RecordType::list(1, &Type::Int)));
        let list = Term::datum(&Datum::new("q", ty.clone()));
        let build = Build::new(&["l0"]).variable("q", ty);
        let warned = |value| {
            let model = build.clone().on(INPUT, "l0", "l0", Term::yes(), [("q", value)]).done();
            check(&model, &[], &mut Z3Solver::default()).remove(0)
        };
        let joined = warned(Term::standard(StandardOperation::Joined, [list.clone(), list.clone()]));
        assert!(joined.help.is_some_and(|help| help.starts_with("widen the type of `q`")));
        // A slice may have no value, but its type is large enough.
        let rest = warned(Term::standard(StandardOperation::Part, [list, Term::int(1)]));
        assert!(rest.help.is_none_or(|help| !help.contains("widen")));
    }

    #[test]
    fn what_never_has_a_value_is_told_without_a_state_and_without_help() {
        let quotient = |b: &Term| Term::arithmetic(IntegerDivide, &Term::int(10), b);
        let zero = Term::subtract(&int("p"), &int("p"));
        for divisor in [Term::int(0), zero] {
            let quotient = quotient(&divisor);
            for (guard, value) in [
                (Term::compare(Greater, &quotient, &Term::int(3)), Term::int(0)),
                (Term::yes(), quotient.clone()),
                (Term::yes(), Term::int(-1)),
            ] {
                let warned = found(guard, value);
                assert_eq!((warned.len(), warned[0].code), (1, "domain-not-implied"));
                assert!(warned[0].message.contains("in any state") || warned[0].message.contains("never"));
                assert_eq!((warned[0].notes.len(), &warned[0].help), (1, &None), "{warned:?}");
            }
        }
    }

    #[test]
    fn a_division_by_zero_is_shown_in_guards_and_assignments() {
        let quotient = Term::arithmetic(IntegerDivide, &Term::int(10), &int("p"));
        let large = Term::compare(Greater, &quotient, &Term::int(3));
        let nonzero = Term::equal(&int("p"), &Term::int(0)).not();
        let warned = found(large.clone(), Term::int(0));
        assert_eq!(warned.len(), 1);
        assert!(warned[0].notes[0].contains("p = 0"));
        assert!(found(Term::and([nonzero, large]), Term::int(0)).is_empty());
        // In an assignment: by zero, and below zero.
        assert_eq!(found(Term::yes(), quotient.clone()).len(), 1);
        assert!(found(Term::compare(Greater, &int("p"), &Term::int(0)), quotient).is_empty());
    }
}
