//! Checks whether the facts of the test graph are true.
//!
//! First the facts are tried as a proof. It is a matter of definition which conditions make facts inductive,
//! and the analysis reads the same list ([`coreach_analyses::inductive`]). Whether the conditions hold is
//! asked here, of the solver, about the terms that the graph carries; nothing else of the analysis is
//! believed. reach is inductive on the graph. coreach is the end of a chain of refinement iterations on the
//! visible machine up to Accept, each of them inductive within the one before. If the purpose is out of
//! reach, the reach that shows this has to be one more refinement iteration. If all that is proved, the facts
//! are true, and nothing more is asked.
//!
//! A fact that is not proved may be true all the same: it may have been shortened, or the solver does not
//! know. So the check tries to refute it by a run. These are symbolic runs of the graph that come to a state
//! outside reach, and symbolic runs of the visible machine to Accept through a state outside coreach. They
//! are followed in the order of their length, until [`MOST_QUESTIONS`] are used up. A fact that is neither
//! proved nor refuted is counted.

use std::collections::{HashSet, VecDeque};

use coreach_analyses::inductive::{self, HornClauses, Obligation};
use coreach_analyses::solver::Answer;
use coreach_model::iosts::{Iosts, LocationId};
use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::{Datum, Numbered, Term};

use super::obligation::Checking;
use crate::artifact::{Closed, Decided, GraphOrigin, Known, TestGraph, Visible};

/// The most questions about the runs of one machine. A question about a long term counts as several.
const MOST_QUESTIONS: usize = 600;

/// Looks for a run that refutes a fact, where the facts do not prove themselves.
pub(super) fn refute_facts(graph: &TestGraph, visible: &Visible, checking: &mut Checking<'_>) {
    let iosts = &graph.iosts;
    let is_given = |location: LocationId| matches!(graph.origins[location], GraphOrigin::Given(_));
    if graph.pass.is_some() && !reach_is_proved(graph, checking) {
        let fact = |location: LocationId| is_given(location).then(|| graph.reach[location].clone());
        let outcome = FactRuns::of(iosts, &iosts.initial_condition).search(checking, |run, checking| {
            let outside = fact(run.location)?.not();
            let outside = substitute(&outside, &run.state);
            run.is_possible_with(outside, checking).then(|| iosts.location(run.location).label.clone())
        });
        note_outcome(outcome, "test graph 8: reach", checking);
    }
    if !coreach_is_proved(graph, visible, checking) {
        let outcome = to_accept(&visible.iosts, &visible.accepting, checking, |run| {
            let outside = run
                .past
                .iter()
                .map(|(location, state)| substitute(&graph.decided.coreach[*location], state).not());
            Term::or(outside.collect::<Vec<_>>())
        });
        note_outcome(outcome, "test graph 8: coreach", checking);
    }
    if graph.pass.is_none() && !absence_is_proved(graph, visible, checking) {
        let outcome = to_accept(&visible.iosts, &visible.accepting, checking, |_| Term::yes());
        note_outcome(outcome, "test graph 7", checking);
    }
}

/// Does the same for the facts about the closed machine in front of Accept: if reach and coreach do not prove
/// themselves, it looks for a run that refutes them.
pub(super) fn refute_known_facts(known: &Known, closed: &Closed, checking: &mut Checking<'_>) {
    let cut = in_front_of(&closed.iosts, &closed.accepting);
    let forward = HornClauses::forward(&cut);
    let is_reached = forward.obligations(&cut, &known.reach, None).all(|one| is_proved(&one, checking));
    if !is_reached {
        let runs = FactRuns::of(&cut, &cut.initial_condition);
        let outcome = runs.search(checking, |run, checking| {
            let outside = substitute(&known.reach[run.location].not(), &run.state);
            run.is_possible_with(outside, checking).then(|| cut.location(run.location).label.clone())
        });
        note_outcome(outcome, "visible 10: reach", checking);
    }
    let is_led = inductive::chain(&cut, &closed.accepting, &known.chain, &known.coreach)
        .all(|obligation| is_proved(&obligation, checking));
    if !is_led {
        let outcome = to_accept(&closed.iosts, &closed.accepting, checking, |run| {
            let outside =
                run.past.iter().map(|(location, state)| substitute(&known.coreach[*location], state).not());
            Term::or(outside.collect::<Vec<_>>())
        });
        note_outcome(outcome, "visible 10: coreach", checking);
    }
}

/// Searches for the first run to Accept that can be outside, and gives its last location.
fn to_accept(
    before: &Iosts,
    accepting: &Numbered<LocationId, bool>,
    checking: &mut Checking<'_>,
    outside: impl Fn(&FactRun) -> Term,
) -> Option<String> {
    // The facts are about the machine cut behind Accept, and say nothing about what a run does after it.
    let ends = before.location_ids().filter(|at| accepting[*at]).collect();
    let runs = FactRuns { ends, ..FactRuns::of(before, &before.initial_condition) };
    runs.search(checking, |run, checking| {
        let accepts = accepting[run.location];
        (accepts && run.is_possible_with(outside(run), checking))
            .then(|| before.location(run.location).label.clone())
    })
}

/// Notes a refuted fact as broken, and any other outcome as unchecked.
fn note_outcome(outcome: Option<String>, rule: &'static str, checking: &mut Checking<'_>) {
    match outcome {
        Some(place) => checking.broken(rule, place),
        None => checking.found.unchecked += 1,
    }
}

fn reach_is_proved(graph: &TestGraph, checking: &mut Checking<'_>) -> bool {
    let clauses = HornClauses::forward(&graph.iosts);
    clauses.obligations(&graph.iosts, &graph.reach, None).all(|obligation| is_proved(&obligation, checking))
}

fn coreach_is_proved(graph: &TestGraph, visible: &Visible, checking: &mut Checking<'_>) -> bool {
    let cut = up_to_accept(visible);
    let Decided { coreach, chain, .. } = &graph.decided;
    inductive::chain(&cut, &visible.accepting, chain, coreach)
        .all(|obligation| is_proved(&obligation, checking))
}

/// If a purpose is out of reach, its reach is that of the part of the machine that coreach left: one more
/// refinement iteration.
fn absence_is_proved(graph: &TestGraph, visible: &Visible, checking: &mut Checking<'_>) -> bool {
    let Decided { reach, coreach, .. } = &graph.decided;
    let cut = up_to_accept(visible);
    let start = coreach[cut.initial].clone();
    if checking.ask(&[cut.initial_condition.clone(), start]) == Answer::Unsat {
        return true;
    }
    let clauses = HornClauses::forward(&cut);
    clauses.obligations(&cut, reach, Some(coreach)).all(|obligation| is_proved(&obligation, checking))
}

/// Gives the machine that the facts are about: the analysis did not look at what follows Accept.
fn up_to_accept(visible: &Visible) -> Iosts {
    in_front_of(&visible.iosts, &visible.accepting)
}

fn in_front_of(iosts: &Iosts, accepting: &Numbered<LocationId, bool>) -> Iosts {
    let mut cut = iosts.clone();
    cut.transitions.retain(|t| !accepting[t.source]);
    cut
}

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
    past: Vec<(LocationId, Substitution)>,
}

impl FactRun {
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
    fn of(iosts: &'a Iosts, condition: &Term) -> Self {
        let state = Substitution::new();
        let past = vec![(iosts.initial, state.clone())];
        FactRuns {
            iosts,
            start: FactRun { location: iosts.initial, state, conditions: vec![condition.clone()], past },
            ends: HashSet::new(),
        }
    }

    /// Visits the runs in the order of their length, and gives the answer of the first visit that has one.
    fn search(
        self,
        checking: &mut Checking<'_>,
        mut visit: impl FnMut(&FactRun, &mut Checking<'_>) -> Option<String>,
    ) -> Option<String> {
        let outgoing = self.iosts.outgoing();
        let mut left = MOST_QUESTIONS;
        let mut work = VecDeque::from([self.start]);
        while let Some(run) = work.pop_front() {
            if let Some(said) = visit(&run, checking) {
                return Some(said);
            }
            if run.past.len() > 8 || self.ends.contains(&run.location) {
                continue;
            }
            for &number in &outgoing[run.location] {
                let t = &self.iosts.transitions[number];
                let terms = t.assignments.values().chain([&t.guard]);
                let parts = terms.map(|term| term.lowered().written_size()).fold(0, u64::saturating_add);
                left = left.checked_sub(1 + (parts / 100).min(100) as usize)?;
                let mut here = run.state.clone();
                for parameter in &self.iosts.action(t.action).parameters {
                    let name = format!("{}@{}", parameter.name(), run.past.len());
                    here.insert(parameter.clone(), Term::datum(&Datum::new(name, parameter.ty().clone())));
                }
                let mut conditions = run.conditions.clone();
                conditions.push(substitute(&t.guard, &here));
                if checking.ask(&conditions) != Answer::Sat {
                    continue;
                }
                let values = substitute_all(t.assignments.values(), &here);
                let mut state = run.state.clone();
                state.extend(t.assignments.keys().cloned().zip(values));
                let mut past = run.past.clone();
                past.push((t.target, state.clone()));
                work.push_back(FactRun { location: t.target, state, conditions, past });
            }
        }
        None
    }
}
