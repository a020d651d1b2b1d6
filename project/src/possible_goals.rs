//! Finds the goals of a walk that no data can meet.
//!
//! **Problem.** Pairs of transitions, and definitions with their uses, are listed by the graph alone. If one
//! variable says what was asked, as in `vOp: Getting(key)`, most of them are impossible. A walk would try
//! each in vain, and its report would list them as open.
//!
//! **Method.** The guard of the second transition is looked at right after the first one. What the first one
//! assigns is substituted. A definition keeps its value until its use, and all other variables may have any
//! value there. If a guard is then false, or the solver proves that both guards cannot hold, the goal is
//! impossible.
//!
//! **Ends** with one bounded query for each goal whose second guard reads what the first transition assigns,
//! the smallest guards first. If all queries together take too long, the remaining goals count as possible.

use coreach_analyses::solver::may_hold;
use coreach_analyses::solver::z3::{QueryLimits, Z3Solver};
use coreach_execution::walk::goals::{WalkGoal, sets_back};
use coreach_model::budget::{self, Budget, Limit};
use coreach_model::iosts::Iosts;
use coreach_model::obligation::enabling_condition;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, Term, TransitionId};

/// The most resource units of the solver for each goal.
const RESOURCES: u32 = 100_000;

/// The most resource units of the solver for all goals together, which take about a second.
const ALL_RESOURCES: u64 = 1_000_000;

#[derive(Clone, Default, Debug)]
pub struct SplitGoals {
    /// Some data may meet them.
    pub possible: Vec<WalkGoal>,
    /// No data can meet them.
    pub impossible: Vec<WalkGoal>,
}

/// Sets the goals apart that no data can meet.
pub fn split_goals(iosts: &Iosts, goals: Vec<WalkGoal>) -> SplitGoals {
    let conditions: Vec<Vec<Term>> = goals.iter().map(|goal| list_conditions(iosts, goal)).collect();
    let mut are_possible: Vec<bool> =
        conditions.iter().map(|conditions| !conditions.iter().any(Term::is_false)).collect();
    let mut asked: Vec<usize> =
        (0..goals.len()).filter(|number| are_possible[*number] && !conditions[*number].is_empty()).collect();
    asked.sort_by_key(|number| conditions[*number].iter().map(Term::written_size).sum::<u64>());
    let budget = Budget::new("goals", Some(Limit::Work(ALL_RESOURCES)), false);
    // If the budget is passed, the answers so far are kept.
    let _ = budget::within(&budget, || {
        let mut solver = Z3Solver::new(QueryLimits { rlimit: RESOURCES, milliseconds: 0 });
        for number in asked {
            are_possible[number] = may_hold(&mut solver, &conditions[number]);
        }
    });
    let mut split = SplitGoals::default();
    for (goal, is_possible) in goals.into_iter().zip(are_possible) {
        if is_possible { &mut split.possible } else { &mut split.impossible }.push(goal);
    }
    split
}

/// Lists conditions that all hold if data meet the goal. There are none if nothing excludes it.
fn list_conditions(iosts: &Iosts, goal: &WalkGoal) -> Vec<Term> {
    match goal {
        WalkGoal::Transition(_) => Vec::new(),
        WalkGoal::Pair(first, second) => list_guards_in_a_row(iosts, *first, *second, None),
        // A counter that is set back may have counted on before its use.
        WalkGoal::DefinitionUse(variable, definition, _)
            if sets_back(iosts, &iosts.transitions[*definition], variable) =>
        {
            Vec::new()
        }
        WalkGoal::DefinitionUse(variable, definition, used) => {
            list_guards_in_a_row(iosts, *definition, *used, Some(variable))
        }
    }
}

/// Lists the guards of two transitions, the second as it is after the first one: right after it, or if only
/// the variable `kept` has kept its value. There are none if the second guard reads nothing that is assigned.
fn list_guards_in_a_row(
    iosts: &Iosts,
    first: TransitionId,
    second: TransitionId,
    kept: Option<&Datum>,
) -> Vec<Term> {
    let (before, after) = (&iosts.transitions[first], &iosts.transitions[second]);
    let guard = enabling_condition(after);
    let is_read = |datum: &Datum| guard.mentions(datum) && kept.is_none_or(|variable| variable == datum);
    if !before.assignments.keys().any(is_read) {
        return Vec::new();
    }
    let renamed = |datum: &Datum| Term::datum(&Datum::new(format!("{}'", datum.name()), datum.ty().clone()));
    let mut values: Substitution =
        iosts.action(after.action).parameters.iter().map(|datum| (datum.clone(), renamed(datum))).collect();
    for variable in &iosts.variables {
        let value = match (before.assignments.get(variable), kept) {
            (Some(value), None) => value.clone(),
            (Some(value), Some(kept)) if kept == variable => value.clone(),
            (_, Some(_)) => renamed(variable),
            (None, None) => continue,
        };
        values.insert(variable.clone(), value);
    }
    vec![enabling_condition(before), substitute(&guard, &values)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::{ALL, list_all_goals};

    /// Soundness: only what the data exclude is set apart.
    #[test]
    fn goals_that_the_data_exclude_are_set_apart() {
        let text = "
iosts: store
types: { Op: [Getting: { key: int }, Putting, Idle] }
variables: { vOp: Op, vCount: int }
initial: { location: Ready, condition: vOp == Idle && vCount == 0 }
inputs: { Get: { key: int }, Put: {} }
outputs: { Value: { key: int }, Done: {} }
transitions:
  - { from: Ready, to: Asked, on: Get(k), assign: { vOp: Getting(k) } }
  - { from: Ready, to: Asked, on: Put, assign: { vOp: Putting, vCount: vCount + 1 } }
  - { from: Asked, to: Ready, on: Value, when: 'match vOp: Getting(k) -> key == k | _ -> false' }
  - { from: Asked, to: Ready, on: Done, when: 'vOp is Putting && vCount > 0' }
";
        let file =
            coreach_model::diagnostic::SourceFile { name: "store.yaml".to_owned(), text: text.to_owned() };
        let (specification, _) = crate::project::read_runnable_specification(file.into()).unwrap();
        let iosts = specification.iosts;
        let SplitGoals { possible, impossible } = split_goals(&iosts, list_all_goals(&iosts, &ALL));
        let number = |number: u32| TransitionId(number);
        let variable = iosts.variables.iter().find(|datum| datum.name() == "vOp").unwrap().clone();
        let expected = [
            WalkGoal::DefinitionUse(variable.clone(), number(0), number(3)),
            WalkGoal::DefinitionUse(variable, number(1), number(2)),
            WalkGoal::Pair(number(0), number(3)),
            WalkGoal::Pair(number(1), number(2)),
        ];
        assert_eq!(impossible, expected);
        assert_eq!(possible.len() + impossible.len(), list_all_goals(&iosts, &ALL).len());
    }
}
