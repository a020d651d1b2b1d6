//! Checks whether the facts of the test graph are true.
//!
//! First the facts are tried as a proof. The conditions that make facts inductive are shared with the
//! analysis ([`coreach_analyses::inductive`]). The solver is asked whether the terms of the graph satisfy
//! them. reach is inductive on the graph. coreach is the end of a chain of refinement iterations on the
//! visible machine up to Accept, each of them inductive within the one before. If the purpose is out of
//! reach, the reach that shows this has to be one more refinement iteration.
//!
//! A fact that is not proved may still be true: it may have been shortened, or the solver does not know. So
//! the check tries to refute it by a symbolic run: a run of the graph to a state outside reach, or a run of
//! the visible machine to Accept through a state outside coreach. Runs are followed in the order of their
//! length, until [`MOST_QUESTIONS`] are used up. A fact that is neither proved nor refuted is counted.

use std::collections::{HashSet, VecDeque};

use coreach_analyses::inductive::{self, HornClauses, Obligation, RefinementIteration};
use coreach_analyses::solver::Answer;
use coreach_model::iosts::{Iosts, LocationId};
use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::{Datum, Numbered, Term};

use super::obligation::Checking;
use crate::artifact::{Basis, Closed, Decided, GraphOrigin, TestGraph, Visible};

/// The most questions about the runs of one machine. A question about a long term counts as several.
const MOST_QUESTIONS: usize = 600;

/// The most steps of a run that is followed.
const LONGEST_RUN: usize = 8;

/// Looks for a run that refutes a fact, where the facts do not prove themselves.
pub(super) fn refute_facts(graph: &TestGraph, visible: &Visible, checking: &mut Checking<'_>) {
    let iosts = &graph.iosts;
    let is_given = |location: LocationId| matches!(graph.origins[location], GraphOrigin::Given(_));
    if graph.pass.is_some() && !reach_is_proved(iosts, &graph.reach, None, checking) {
        let outcome = FactRuns::of(iosts).search(checking, |run, checking| {
            // reach says nothing about the verdicts.
            let is_outside = is_given(run.location) && run.can_be_outside(&graph.reach, checking);
            is_outside.then(|| iosts.location(run.location).label.clone())
        });
        note_outcome(outcome, "test graph 8: reach", checking);
    }
    let Decided { reach, coreach, chain } = &graph.decided;
    let cut = cut_behind_accept(&visible.iosts, &visible.accepting);
    if !coreach_is_proved(&cut, &visible.accepting, chain, coreach, checking) {
        let outcome = search_to_accept(&visible.iosts, &visible.accepting, checking, |run| {
            run.has_been_outside(coreach)
        });
        note_outcome(outcome, "test graph 8: coreach", checking);
    }
    if graph.pass.is_none() && !absence_is_proved(&cut, reach, coreach, checking) {
        let outcome = search_to_accept(&visible.iosts, &visible.accepting, checking, |_| Term::yes());
        note_outcome(outcome, "test graph 7", checking);
    }
}

/// Looks for runs that refute the facts about the closed machine up to Accept, where these are not proved.
pub(super) fn refute_known_facts(known: &Basis, closed: &Closed, checking: &mut Checking<'_>) {
    let cut = cut_behind_accept(&closed.iosts, &closed.accepting);
    if !reach_is_proved(&cut, &known.reach, None, checking) {
        let outcome = FactRuns::of(&cut).search(checking, |run, checking| {
            let is_outside = run.can_be_outside(&known.reach, checking);
            is_outside.then(|| cut.location(run.location).label.clone())
        });
        note_outcome(outcome, "visible 10: reach", checking);
    }
    if !coreach_is_proved(&cut, &closed.accepting, &known.chain, &known.coreach, checking) {
        let outcome = search_to_accept(&closed.iosts, &closed.accepting, checking, |run| {
            run.has_been_outside(&known.coreach)
        });
        note_outcome(outcome, "visible 10: coreach", checking);
    }
}

/// Searches for the first run to Accept on which the condition `outside` can hold. Gives the label of its
/// last location. `None` if no such run was found.
fn search_to_accept(
    iosts: &Iosts,
    accepting: &Numbered<LocationId, bool>,
    checking: &mut Checking<'_>,
    outside: impl Fn(&FactRun) -> Term,
) -> Option<String> {
    // The facts are about the machine cut behind Accept, and say nothing about what a run does after it.
    let ends = iosts.location_ids().filter(|location| accepting[*location]).collect();
    let runs = FactRuns { ends, ..FactRuns::of(iosts) };
    runs.search(checking, |run, checking| {
        let is_outside = accepting[run.location] && run.is_possible_with(outside(run), checking);
        is_outside.then(|| iosts.location(run.location).label.clone())
    })
}

/// Notes a refuted fact as broken, and any other outcome as unchecked.
fn note_outcome(outcome: Option<String>, rule: &'static str, checking: &mut Checking<'_>) {
    if let Some(place) = outcome { checking.broken(rule, place) } else { checking.found.unchecked += 1 }
}

/// Is reach inductive on the machine, perhaps within other facts?
fn reach_is_proved(
    iosts: &Iosts,
    reach: &[Term],
    within: Option<&[Term]>,
    checking: &mut Checking<'_>,
) -> bool {
    let clauses = HornClauses::forward(iosts);
    clauses.obligations(iosts, reach, within).all(|obligation| is_proved(&obligation, checking))
}

/// Is coreach the end of a chain of refinement iterations that are inductive?
fn coreach_is_proved(
    cut: &Iosts,
    accepting: &[bool],
    chain: &[RefinementIteration],
    coreach: &[Term],
    checking: &mut Checking<'_>,
) -> bool {
    inductive::chain(cut, accepting, chain, coreach).all(|obligation| is_proved(&obligation, checking))
}

/// Is it proved that the purpose is out of reach? Either the initial condition contradicts coreach, or reach
/// is inductive within coreach, as one more refinement iteration.
fn absence_is_proved(
    cut: &Iosts,
    reach: &Numbered<LocationId, Term>,
    coreach: &Numbered<LocationId, Term>,
    checking: &mut Checking<'_>,
) -> bool {
    checking.ask(&[cut.initial_condition.clone(), coreach[cut.initial].clone()]) == Answer::Unsat
        || reach_is_proved(cut, reach, Some(coreach), checking)
}

/// Gives the machine that the facts are about: the analysis did not look at what follows Accept.
fn cut_behind_accept(iosts: &Iosts, accepting: &Numbered<LocationId, bool>) -> Iosts {
    let mut cut = iosts.clone();
    cut.transitions.retain(|t| !accepting[t.source]);
    cut
}

/// Does the conclusion follow, by the terms alone or by the solver?
fn is_proved(obligation: &Obligation, checking: &mut Checking<'_>) -> bool {
    let Obligation { premises, conclusion, .. } = obligation;
    if conclusion.conjuncts().iter().all(|part| premises.contains(part)) {
        return true;
    }
    let mut formula = premises.clone();
    formula.push(conclusion.not());
    checking.ask(&formula) == Answer::Unsat
}

/// A symbolic run: its location, its data and its conditions, over the initial data and the messages.
#[derive(Clone)]
struct FactRun {
    location: LocationId,
    state: Substitution,
    conditions: Vec<Term>,
    /// The locations and data that it has passed. The last ones are its own.
    past: Vec<(LocationId, Substitution)>,
}

impl FactRun {
    /// Can the run end in a state that violates the fact about its location?
    fn can_be_outside(&self, facts: &Numbered<LocationId, Term>, checking: &mut Checking<'_>) -> bool {
        self.is_possible_with(substitute(&facts[self.location].not(), &self.state), checking)
    }

    /// The condition that some state of the run violates the fact about its location.
    fn has_been_outside(&self, facts: &Numbered<LocationId, Term>) -> Term {
        Term::or(self.past.iter().map(|(location, state)| substitute(&facts[*location], state).not()))
    }

    fn is_possible_with(&self, part: Term, checking: &mut Checking<'_>) -> bool {
        let formula: Vec<Term> = self.conditions.iter().cloned().chain([part]).collect();
        checking.ask(&formula) == Answer::Sat
    }
}

struct FactRuns<'a> {
    iosts: &'a Iosts,
    start: FactRun,
    /// The locations from which runs are not followed any further.
    ends: HashSet<LocationId>,
}

impl<'a> FactRuns<'a> {
    fn of(iosts: &'a Iosts) -> Self {
        let state = Substitution::new();
        let past = vec![(iosts.initial, state.clone())];
        let conditions = vec![iosts.initial_condition.clone()];
        let start = FactRun { location: iosts.initial, state, conditions, past };
        FactRuns { iosts, start, ends: HashSet::new() }
    }

    /// Visits the runs in the order of their length, and gives the answer of the first visit that has one.
    /// `None` if no visit has one, or if the questions are used up.
    fn search(
        self,
        checking: &mut Checking<'_>,
        mut visit: impl FnMut(&FactRun, &mut Checking<'_>) -> Option<String>,
    ) -> Option<String> {
        let outgoing = self.iosts.outgoing();
        let mut remaining_questions = MOST_QUESTIONS;
        let mut waiting = VecDeque::from([self.start]);
        while let Some(run) = waiting.pop_front() {
            if let Some(label) = visit(&run, checking) {
                return Some(label);
            }
            if run.past.len() > LONGEST_RUN || self.ends.contains(&run.location) {
                continue;
            }
            for &number in &outgoing[run.location] {
                let t = &self.iosts.transitions[number];
                let terms = t.assignments.values().chain([&t.guard]);
                let size = terms.map(|term| term.lowered().written_size()).fold(0, u64::saturating_add);
                // One question, and one more for every 100 nodes.
                remaining_questions = remaining_questions.checked_sub(1 + (size / 100).min(100) as usize)?;
                let mut values_and_message = run.state.clone();
                // Each event has parameters of its own. No name of a model has the sign @.
                for parameter in &self.iosts.action(t.action).parameters {
                    let name = format!("{}@{}", parameter.name(), run.past.len());
                    values_and_message
                        .insert(parameter.clone(), Term::datum(&Datum::new(name, parameter.ty().clone())));
                }
                let mut conditions = run.conditions.clone();
                conditions.push(substitute(&t.guard, &values_and_message));
                if checking.ask(&conditions) != Answer::Sat {
                    continue;
                }
                let assigned = substitute_all(t.assignments.values(), &values_and_message);
                let mut state = run.state.clone();
                state.extend(t.assignments.keys().cloned().zip(assigned));
                let mut past = run.past.clone();
                past.push((t.target, state.clone()));
                waiting.push_back(FactRun { location: t.target, state, conditions, past });
            }
        }
        None
    }
}
