//! Are the facts of the test graph true?
//!
//! First they are tried as a proof. reach: it holds at the beginning, and each transition of the graph keeps it. coreach:
//! where a transition of the visible machine leads from a state within reach into coreach, or to Accept, the state is
//! within coreach. Where all that holds nothing more is asked. (For coreach this is no proof by itself, since reach has
//! been narrowed by it; it notices where one of the facts does not fit the others.)
//!
//! A fact that does not pass may be true all the same. So it is refuted by a run: symbolic runs of the graph that come to a
//! state outside reach, symbolic runs of the visible machine to Accept through a state outside coreach. They are
//! followed in the order of their length as far as [`MOST_QUESTIONS`] go. What is neither kept nor refuted is counted.

use std::collections::{HashSet, VecDeque};

use coreach_analyses::solver::Answer;
use coreach_model::iosts::{Iosts, LocationId};
use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::{Datum, Term};

use super::obligation::Checking;
use crate::artifact::{GraphOrigin, TestGraph, Visible};

/// The most questions about the runs of one machine.
const MOST_QUESTIONS: usize = 600;

/// The longest run.
const LONGEST: usize = 8;

/// Looks for a run that refutes a fact, where the facts do not prove themselves.
pub(super) fn refuted(graph: &TestGraph, visible: &Visible, checking: &mut Checking<'_>) {
    let iosts = &graph.iosts;
    let is_given = |location: LocationId| matches!(graph.origins[location.0 as usize], GraphOrigin::Given(_));
    if graph.pass.is_some() && !reach_is_kept(graph, checking) {
        let fact =
            |location: LocationId| is_given(location).then(|| graph.reach[location.0 as usize].clone());
        let outcome = Runs::of(iosts, &iosts.initial_condition).search(checking, |run, checking| {
            let outside = fact(run.location)?.not();
            let outside = substitute(&outside, &run.state);
            run.is_possible_with(outside, checking).then(|| iosts.location(run.location).label.clone())
        });
        tell(outcome, "test graph 8: reach", checking);
    }
    if !coreach_is_kept(graph, visible, checking) {
        let before = &visible.iosts;
        // The facts are those of the machine cut behind Accept: nothing is said of what a run does after it.
        let cut = visible.iosts.location_ids().filter(|at| visible.accepting[at.0 as usize]).collect();
        let runs = Runs { ends: cut, ..Runs::of(before, &before.initial_condition) };
        let outcome = runs.search(checking, |run, checking| {
            if !visible.accepting[run.location.0 as usize] {
                return None;
            }
            let outside = run.past.iter().map(|(location, state)| {
                substitute(&graph.decided.coreach[location.0 as usize], state).not()
            });
            let outside = Term::or(outside.collect::<Vec<_>>());
            run.is_possible_with(outside, checking).then(|| before.location(run.location).label.clone())
        });
        tell(outcome, "test graph 8: coreach", checking);
    }
}

fn tell(outcome: Option<String>, rule: &'static str, checking: &mut Checking<'_>) {
    match outcome {
        Some(place) => checking.broken(rule, place),
        None => checking.found.unchecked += 1,
    }
}

fn reach_is_kept(graph: &TestGraph, checking: &mut Checking<'_>) -> bool {
    let iosts = &graph.iosts;
    let start = &graph.reach[iosts.initial.0 as usize];
    if checking.ask(&[iosts.initial_condition.clone(), start.not()]) != Answer::Unsat {
        return false;
    }
    iosts.transitions.iter().all(|t| {
        let behind = substitute(&graph.reach[t.target.0 as usize], &t.assignments);
        let source = graph.reach[t.source.0 as usize].clone();
        behind.is_true() || checking.ask(&[source, t.guard.clone(), behind.not()]) == Answer::Unsat
    })
}

fn coreach_is_kept(graph: &TestGraph, visible: &Visible, checking: &mut Checking<'_>) -> bool {
    let (reach, coreach) = (&graph.decided.reach, &graph.decided.coreach);
    visible.iosts.transitions.iter().filter(|t| !visible.accepting[t.source.0 as usize]).all(|t| {
        let (source, target) = (t.source.0 as usize, t.target.0 as usize);
        let here = &coreach[source];
        let inside = match visible.accepting[target] {
            true => Term::yes(),
            false => substitute(&coreach[target], &t.assignments),
        };
        let end = substitute(&coreach[target], &t.assignments);
        let leaves = [reach[source].clone(), t.guard.clone(), inside, Term::or([here.not(), end.not()])];
        checking.ask(&leaves) == Answer::Unsat
    })
}

/// A symbolic run: where it is, what its data are, and under which conditions, over the initial data and the messages.
#[derive(Clone)]
struct Run {
    location: LocationId,
    state: Substitution,
    conditions: Vec<Term>,
    /// Where it was before, and is.
    past: Vec<(LocationId, Substitution)>,
}

impl Run {
    fn is_possible_with(&self, part: Term, checking: &mut Checking<'_>) -> bool {
        let formula: Vec<Term> = self.conditions.iter().cloned().chain([part]).collect();
        checking.ask(&formula) == Answer::Sat
    }
}

struct Runs<'a> {
    iosts: &'a Iosts,
    start: Run,
    /// Where runs are not followed any further.
    ends: HashSet<LocationId>,
}

impl<'a> Runs<'a> {
    fn of(iosts: &'a Iosts, condition: &Term) -> Self {
        let state = Substitution::new();
        let past = vec![(iosts.initial, state.clone())];
        Runs {
            iosts,
            start: Run { location: iosts.initial, state, conditions: vec![condition.clone()], past },
            ends: HashSet::new(),
        }
    }

    /// The first run of which something is said.
    fn search(
        self,
        checking: &mut Checking<'_>,
        mut visit: impl FnMut(&Run, &mut Checking<'_>) -> Option<String>,
    ) -> Option<String> {
        let outgoing = self.iosts.outgoing();
        let mut left = MOST_QUESTIONS;
        let mut work = VecDeque::from([self.start]);
        while let Some(run) = work.pop_front() {
            if let Some(said) = visit(&run, checking) {
                return Some(said);
            }
            if run.past.len() > LONGEST || self.ends.contains(&run.location) {
                continue;
            }
            for &number in &outgoing[run.location.0 as usize] {
                left = left.checked_sub(1)?;
                let t = &self.iosts.transitions[number];
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
                work.push_back(Run { location: t.target, state, conditions, past });
            }
        }
        None
    }
}
