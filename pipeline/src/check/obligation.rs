//! The questions that the checks ask, and the results.
//!
//! An obligation is an implication between terms. It is broken if the solver has a valuation that refutes it;
//! an answer `Unknown` breaks nothing and is counted. Terms are compared first, which answers nearly all
//! questions: a stage that changes nothing hands on the same term.

use std::collections::{BTreeMap, HashSet};

use coreach_analyses::solver::{Answer, Solver};
use coreach_model::budget;
use coreach_model::iosts::{Iosts, LocationId, Transition};
use coreach_model::obligation::{defined, in_type};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, Datum, Term, TransitionId};

use super::RuleViolation;

/// The result of a check.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Findings {
    pub violations: Vec<RuleViolation>,
    /// Questions that the solver did not answer.
    pub unknown: usize,
    /// Places at which there was too much to compare, so that something may be missing there unseen.
    pub unchecked: usize,
}

/// A check that is running: its solver, and its results so far.
pub(super) struct Checking<'a> {
    pub(super) solver: &'a mut dyn Solver,
    pub(super) found: Findings,
}

impl<'a> Checking<'a> {
    pub(super) fn new(solver: &'a mut dyn Solver) -> Self {
        Checking { solver, found: Findings::default() }
    }

    /// Notes that the rule is broken at the place.
    pub(super) fn broken(&mut self, rule: &'static str, place: impl Into<String>) {
        self.found.violations.push(RuleViolation { rule, place: place.into() });
    }

    /// Checks a condition that needs no solver, and returns it. `place` describes where.
    pub(super) fn holds(
        &mut self,
        condition: bool,
        rule: &'static str,
        place: impl FnOnce() -> String,
    ) -> bool {
        if !condition {
            self.broken(rule, place());
        }
        condition
    }

    /// Asks whether the parts of the formula can hold together, and counts an answer `Unknown`.
    pub(super) fn ask(&mut self, formula: &[Term]) -> Answer {
        budget::ask();
        if formula.iter().any(Term::is_false) {
            return Answer::Unsat;
        }
        let answer = self.solver.check(formula);
        self.found.unknown += usize::from(answer == Answer::Unknown);
        answer
    }

    /// Checks that one of the conclusions holds where the premises hold. Without conclusions, the premises
    /// must not hold together.
    pub(super) fn implies(
        &mut self,
        premises: &[Term],
        conclusions: &[Term],
        rule: &'static str,
        place: impl FnOnce() -> String,
    ) {
        let is_evident = |conclusion: &Term| {
            conclusion.is_true() || conclusion.conjuncts().iter().all(|part| is_premise(premises, part))
        };
        if conclusions.iter().any(is_evident) {
            return;
        }
        let mut formula = premises.to_vec();
        formula.extend(conclusions.iter().map(Term::not));
        if self.ask(&formula) == Answer::Sat {
            self.broken(rule, place());
        }
    }

    /// Checks that the two terms are equivalent in the context.
    pub(super) fn equivalent(
        &mut self,
        context: &[Term],
        left: &Term,
        right: &Term,
        rule: &'static str,
        place: impl Fn() -> String,
    ) {
        if left == right {
            return;
        }
        let with_context = |term: &Term| context.iter().cloned().chain([term.clone()]).collect::<Vec<_>>();
        let violations_so_far = self.found.violations.len();
        self.implies(&with_context(left), std::slice::from_ref(right), rule, &place);
        // One violation is enough for the two directions.
        if violations_so_far == self.found.violations.len() {
            self.implies(&with_context(right), std::slice::from_ref(left), rule, &place);
        }
    }

    /// Checks that the initial conditions are equivalent.
    pub(super) fn same_initial_condition(&mut self, before: &Iosts, after: &Iosts, rule: &'static str) {
        let (before, after) = (&before.initial_condition, &after.initial_condition);
        self.equivalent(&[], before, after, rule, || "the initial condition".to_owned());
    }

    /// Checks that constants, variables and actions are the same.
    pub(super) fn same_data(&mut self, before: &Iosts, after: &Iosts, rule: &'static str) {
        self.holds(before.constants == after.constants, rule, || "the constants".to_owned());
        self.holds(before.variables == after.variables, rule, || "the variables".to_owned());
        self.holds(before.actions == after.actions, rule, || "the actions".to_owned());
    }

    /// Checks that locations, actions and assigned variables exist, and that each list (`per_location` has
    /// the lengths) has an entry for each location. After false, later checks must not look anything up.
    pub(super) fn well_formed(&mut self, iosts: &Iosts, per_location: &[usize], rule: &'static str) -> bool {
        let count = iosts.locations.len();
        let variables: HashSet<&Datum> = iosts.variables.iter().collect();
        let mut is_fine =
            iosts.locations.has(iosts.initial) && per_location.iter().all(|length| *length == count);
        for transition in &iosts.transitions {
            is_fine &= iosts.locations.has(transition.source) && iosts.locations.has(transition.target);
            is_fine &= iosts.actions.has(transition.action);
            is_fine &= transition.assignments.keys().all(|variable| variables.contains(variable));
        }
        self.holds(is_fine, rule, || "something that is not declared, or facts of another length".to_owned())
    }
}

fn is_premise(premises: &[Term], part: &Term) -> bool {
    premises.iter().any(|premise| premise == part || premise.conjuncts().contains(part))
}

/// Says that the condition has a value, and holds.
pub(super) fn truth(condition: &Term) -> Term {
    Term::and([defined(condition), condition.clone()])
}

/// Gives the value of the variable after the effect.
pub(super) fn value_of(effect: &Substitution, variable: &Datum) -> Term {
    effect.get(variable).cloned().unwrap_or_else(|| Term::datum(variable))
}

/// Says that the two effects give every variable the same value. If the values are different terms, both must
/// be defined.
pub(super) fn same_values(left: &Substitution, right: &Substitution) -> Term {
    let only_right = right.keys().filter(|variable| !left.contains_key(*variable));
    let parts = left.keys().chain(only_right).filter_map(|variable| {
        let (a, b) = (value_of(left, variable), value_of(right, variable));
        (a != b).then(|| Term::and([defined(&a), defined(&b), Term::equal(&a, &b)]))
    });
    Term::and(parts)
}

/// Says that every value exists and lies in its variable's type. A step needs this and its guard to be taken.
pub(super) fn within_types(effect: &Substitution) -> Term {
    Term::and(effect.iter().flat_map(|(variable, value)| match value.as_datum() {
        // A datum of the same type always has such a value.
        Some(datum) if datum.ty() == variable.ty() => vec![],
        Some(_) | None => vec![defined(value), in_type(value, variable.ty())],
    }))
}

/// Composes two effects, the first of which comes before the second.
pub(super) fn compose_effects(first: &Substitution, second: &Substitution) -> Substitution {
    let mut composed = first.clone();
    for (variable, value) in second {
        composed.insert(variable.clone(), substitute(value, first));
    }
    composed
}

/// Checks that no two transitions of one location and action can be taken together, in its `context`.
pub(super) fn check_overlaps(
    checking: &mut Checking<'_>,
    iosts: &Iosts,
    context: &dyn Fn(LocationId) -> Term,
    rule: &'static str,
) {
    for numbers in iosts.outgoing() {
        for (index, &first) in numbers.iter().enumerate() {
            for &second in &numbers[index + 1..] {
                let (t1, t2) = (&iosts.transitions[first], &iosts.transitions[second]);
                if t1.action != t2.action {
                    continue;
                }
                let both = [context(t1.source), t1.guard.clone(), t2.guard.clone()];
                if checking.ask(&both) == Answer::Sat {
                    checking.broken(rule, format!("{} and {}", iosts.describe(t1), iosts.describe(t2)));
                }
            }
        }
    }
}

/// Checks that the initial condition and every guard have a value, in the `context` of their locations.
pub(super) fn check_definedness(
    checking: &mut Checking<'_>,
    iosts: &Iosts,
    context: &dyn Fn(LocationId) -> Term,
    rule: &'static str,
) {
    let initial = defined(&iosts.initial_condition);
    checking.implies(&[], &[initial], rule, || "the initial condition".to_owned());
    for transition in &iosts.transitions {
        let place = || iosts.describe(transition);
        checking.implies(&[context(transition.source)], &[defined(&transition.guard)], rule, place);
    }
}

/// The transitions of each location and action, in order.
pub(super) type ByAction = BTreeMap<(LocationId, ActionId), Vec<TransitionId>>;

/// Groups the transitions by their location and action.
pub(super) fn by_action(iosts: &Iosts) -> ByAction {
    let mut by_action = ByAction::new();
    for (number, transition) in iosts.transitions.numbered() {
        let Transition { source, action, .. } = *transition;
        by_action.entry((source, action)).or_default().push(number);
    }
    by_action
}
