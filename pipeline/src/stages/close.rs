//! Stage 3: no internal action is left; what they did is done by the visible action behind them.
//!
//! **Problem.** A tester sees inputs and outputs only. Every sequence of internal steps that ends in a visible one
//! becomes one visible transition.
//!
//! **Source.** Thesis, appendix A.1: Definition A.2 (collapse), A.4 (syntactic livelock), A.7 (closure); Theorems A.3 and
//! A.4: traces and accepting traces are kept.
//!
//! **Where we differ.** The definition keeps visible transitions whose origin is no location of the closure; we walk
//! from the initial location, so they do not arise. A collapsed or visible transition whose guard cannot hold is
//! dropped, and a sequence is not continued once its guard cannot hold: there can be exponentially many of them.
//!
//! **Ends.** A sequence that meets a location again is a livelock and stops the stage with the cycle; without one,
//! sequences are simple paths. They are limited in number all the same ([`MAX_SEQUENCES`]).
//!
//! **Cost**: one query per internal sequence and per visible transition; the memo of the solver answers copies.
//!
//! ```text
//! l -tau{x := 0}-> m -a(p)[p > x]{y := x + p}-> n     becomes     l -a(p)[p > 0]{x := 0, y := 0 + p}-> n
//! ```

use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::iosts::{ActionKind, Iosts, Transition};
use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::{LocationId, Term};

use crate::artifact::{Closed, Product};
use crate::stop::{Shown, Stop};

/// The most sequences of internal actions that one location may begin.
pub const MAX_SEQUENCES: usize = 100_000;

/// Replaces internal sequences by visible transitions.
///
/// Over-approximation: a guard of which the solver does not know whether it can hold is kept.
///
/// # Errors
/// [`Stop::Livelock`] for a reachable cycle of internal actions; [`Stop::TooMany`] beyond [`MAX_SEQUENCES`].
pub fn close(product: Product, solver: &mut dyn Solver) -> Result<Closed, Stop> {
    let Product { iosts, accepting } = product;
    let outgoing = iosts.outgoing();
    let mut reached = vec![false; iosts.locations.len()];
    reached[iosts.initial.0 as usize] = true;
    let mut work = vec![iosts.initial];
    let mut leaving: Vec<Vec<Transition>> = vec![Vec::new(); iosts.locations.len()];
    while let Some(location) = work.pop() {
        let found = visible_from(&iosts, &outgoing, location, solver)?;
        for transition in &found {
            if !std::mem::replace(&mut reached[transition.target.0 as usize], true) {
                work.push(transition.target);
            }
        }
        leaving[location.0 as usize] = found;
    }
    let closed = Iosts { transitions: leaving.into_iter().flatten().collect(), ..iosts };
    let closed = without_internal_actions(closed);
    let (closed, kept) = closed.without_unreachable_locations();
    let accepting = kept.iter().map(|old| accepting[old.0 as usize]).collect();
    Ok(Closed { iosts: closed, accepting })
}

/// What a path of internal steps has done so far.
struct Prefix {
    location: LocationId,
    guard: Term,
    effect: Substitution,
    path: Vec<usize>,
}

/// The visible transitions of a location, then the collapsed sequences that it begins.
fn visible_from(
    iosts: &Iosts,
    outgoing: &[Vec<usize>],
    location: LocationId,
    solver: &mut dyn Solver,
) -> Result<Vec<Transition>, Stop> {
    let mut found = Vec::new();
    let mut stack =
        vec![Prefix { location, guard: Term::yes(), effect: Substitution::new(), path: Vec::new() }];
    let mut sequences = 0;
    while let Some(prefix) = stack.pop() {
        let mut longer = Vec::new();
        for &number in &outgoing[prefix.location.0 as usize] {
            let step = &iosts.transitions[number];
            let collapsed = follow(&prefix, location, step);
            if !may_hold(solver, &collapsed.guard.conjuncts()) {
                continue;
            }
            if iosts.action(step.action).is_visible() {
                found.push(collapsed);
                continue;
            }
            sequences += 1;
            if sequences > MAX_SEQUENCES {
                return Err(Stop::TooMany {
                    stage: "close",
                    what: "internal sequences",
                    limit: MAX_SEQUENCES,
                });
            }
            let mut path = prefix.path.clone();
            path.push(number);
            if let Some(cycle) = cycle_at_end(iosts, &path) {
                return Err(Stop::Livelock { cycle });
            }
            longer.push(Prefix {
                location: step.target,
                guard: collapsed.guard,
                effect: collapsed.assignments,
                path,
            });
        }
        // The first sequence is continued first.
        stack.extend(longer.into_iter().rev());
    }
    Ok(found)
}

/// Definition A.2, one step at a time: the guard and the effect of a prefix followed by a step.
fn follow(prefix: &Prefix, source: LocationId, step: &Transition) -> Transition {
    if prefix.path.is_empty() {
        return Transition { source, ..step.clone() };
    }
    let guard = Term::and([prefix.guard.clone(), substitute(&step.guard, &prefix.effect)]);
    let values = substitute_all(step.assignments.values(), &prefix.effect);
    let mut assignments = prefix.effect.clone();
    assignments.extend(step.assignments.keys().cloned().zip(values));
    assignments.retain(|variable, value| value.as_datum() != Some(variable));
    Transition { source, guard, assignments, ..step.clone() }
}

/// The steps from the first visit of the path's last location to the last, where it was visited before.
fn cycle_at_end(iosts: &Iosts, path: &[usize]) -> Option<Vec<Shown>> {
    let end = iosts.transitions[*path.last()?].target;
    let start = path.iter().position(|&number| iosts.transitions[number].source == end)?;
    Some(path[start..].iter().map(|&number| Shown::transition(iosts, &iosts.transitions[number])).collect())
}

/// Renumbers the actions without the internal ones; no transition uses them any more.
fn without_internal_actions(mut iosts: Iosts) -> Iosts {
    let mut renumbered = Vec::new();
    let mut next = 0;
    for action in &iosts.actions {
        renumbered.push(coreach_model::ActionId(next));
        if action.kind != ActionKind::Internal {
            next += 1;
        }
    }
    iosts.actions.retain(|action| action.is_visible());
    for transition in &mut iosts.transitions {
        transition.action = renumbered[transition.action.0 as usize];
    }
    iosts
}
