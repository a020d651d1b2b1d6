//! Joins a specification and a mutant of it in one system with a location *differs* for their differences.
//!
//! Both take each event together, and each takes internal steps alone. Only stimuli that the specification
//! takes are sent. A mutant ignores a stimulus that it does not take, even after an internal step. An output
//! of the mutant leads to *differs*, if no transition from the specification's location could send it. After
//! the same trace the specification may have other states that send it. So such a run is checked further.
//!
//! **Races.** A stimulus may cross an internal step after which it is not taken. Then the specification
//! itself, run as a system, would do something that it does not allow. Only effects of the mutation count. So
//! each pair remembers whether a changed transition was taken, or whether the mutant has ignored a stimulus
//! that the specification would take in its state. Before that, only a changed transition leads to *differs*.
//! If no run reaches *differs*, the mutant conforms: after any trace of the specification it does nothing
//! that the specification, run as a system, would not do.
//!
//! **Cost**: the reachable pairs of locations times pairs of transitions.

use std::collections::HashMap;

use coreach_model::iosts::{ActionKind, Iosts, Location, Transition};
use coreach_model::obligation::enabling_condition;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, Datum, LocationId, Numbered, Term, TransitionId, budget};
use coreach_pipeline::artifact::added_transition;

pub struct Beside {
    pub iosts: Iosts,
    /// For each transition, the transition of the specification that it takes, if it takes one.
    pub own_transitions: Numbered<TransitionId, Option<TransitionId>>,
    pub differs: LocationId,
}

/// A transition of the mutant, with its data renamed.
struct Renamed {
    transition: Transition,
    enabled: Term,
    is_changed: bool,
}

/// A location of the joined system.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct JoinedLocation {
    specification: LocationId,
    mutant: LocationId,
    /// Has the mutation had an effect?
    is_changed: bool,
}

/// Joins a mutant with its specification. `None`, if the joined system is too large.
pub fn join_with_mutant(specification: &Iosts, mutant: &Iosts) -> Option<Beside> {
    let rename = |datum: &Datum| Datum::new(format!("{}~", datum.name()), datum.ty().clone());
    let renaming: Substitution =
        mutant.variables.iter().map(|datum| (datum.clone(), Term::datum(&rename(datum)))).collect();
    let renamed = mutant.transitions.map(|transition| {
        let value = |(datum, value): (&Datum, &Term)| (rename(datum), substitute(value, &renaming));
        let is_same = |given: &Transition| {
            (given.source, given.action, given.target)
                == (transition.source, transition.action, transition.target)
                && (&given.guard, &given.assignments) == (&transition.guard, &transition.assignments)
        };
        Renamed {
            is_changed: !specification.transitions.iter().any(is_same),
            enabled: substitute(&enabling_condition(transition), &renaming),
            transition: Transition {
                assignments: transition.assignments.iter().map(value).collect(),
                ..transition.clone()
            },
        }
    });
    let enabled = specification.transitions.map(enabling_condition);
    let (outgoing, mutant_outgoing) = (specification.outgoing(), mutant.outgoing());
    let mutant_steps = |location: LocationId| mutant_outgoing[location].iter().map(|step| &renamed[*step]);
    let mut locations: Numbered<LocationId, Location> = Numbered::new();
    let differs = locations.push(Location::named("differs"));
    let mut known_pairs = HashMap::new();
    let mut open = Vec::new();
    let mut number_of = |pair: JoinedLocation, open: &mut Vec<JoinedLocation>| {
        *known_pairs.entry(pair).or_insert_with(|| {
            open.push(pair);
            let first = &specification.location(pair.specification).name;
            let second = &mutant.location(pair.mutant).name;
            locations.push(Location::named(format!("{first}~{second}")))
        })
    };
    let is_changed = specification.initial_condition != mutant.initial_condition;
    let start = JoinedLocation { specification: specification.initial, mutant: mutant.initial, is_changed };
    let initial = number_of(start, &mut open);
    let (mut transitions, mut own_transitions) = (Numbered::new(), Numbered::new());
    let mut pairs_seen = 0;
    while let Some(pair) = open.pop() {
        pairs_seen += 1;
        budget::ask();
        // A joined system of more than 600 pairs is too large.
        if pairs_seen > 600 {
            return None;
        }
        let source = number_of(pair, &mut open);
        // `taken` are the transitions of both, and `own` is the number of the specification's.
        let mut add = |action: ActionId, guard: Term, taken: [Option<&Transition>; 2], own, target| {
            if guard.is_false() {
                return;
            }
            let assignments = taken.into_iter().flatten().flat_map(|taken| taken.assignments.clone());
            let joined = added_transition(source, action, guard, target);
            transitions.push(Transition { assignments: assignments.collect(), ..joined });
            own_transitions.push(own);
        };
        let own_steps = &outgoing[pair.specification];
        // Steps of the specification, alone or together with the mutant.
        for &id in own_steps {
            let taken = &specification.transitions[id];
            let kind = specification.action(taken.action).kind;
            if kind == ActionKind::Internal {
                let target = number_of(JoinedLocation { specification: taken.target, ..pair }, &mut open);
                add(taken.action, enabled[id].clone(), [Some(taken), None], Some(id), target);
                continue;
            }
            let matching: Vec<&Renamed> =
                mutant_steps(pair.mutant).filter(|step| step.transition.action == taken.action).collect();
            for step in &matching {
                let guard = Term::and([enabled[id].clone(), step.enabled.clone()]);
                if !guard.is_false() {
                    let is_changed = pair.is_changed || step.is_changed;
                    let (specification, mutant) = (taken.target, step.transition.target);
                    let target = number_of(JoinedLocation { specification, mutant, is_changed }, &mut open);
                    add(taken.action, guard, [Some(taken), Some(&step.transition)], Some(id), target);
                }
            }
            if kind == ActionKind::Input {
                // The mutant ignores the stimulus if no transition takes it, not even after an internal step.
                let not_now = matching.iter().map(|step| step.enabled.not());
                let internal = mutant_steps(pair.mutant)
                    .filter(|step| mutant.action(step.transition.action).kind == ActionKind::Internal);
                let not_later = internal.flat_map(|step| {
                    let next_steps = mutant_steps(step.transition.target);
                    let taking = next_steps.filter(|next| next.transition.action == taken.action);
                    taking.map(|next| {
                        let enabled_later = substitute(&next.enabled, &step.transition.assignments);
                        Term::and([step.enabled.clone(), enabled_later]).not()
                    })
                });
                let guard = Term::and(std::iter::once(enabled[id].clone()).chain(not_now).chain(not_later));
                // The condition under which the specification would take it in the mutant's state. A mutant
                // has the locations of the specification.
                let of_action = outgoing[pair.mutant]
                    .iter()
                    .filter(|id| specification.transitions[**id].action == taken.action);
                let takes = Term::or(of_action.map(|id| substitute(&enabled[*id], &renaming)));
                // Each case has its guard, and says whether the mutation has had an effect after it.
                let cases = match pair.is_changed {
                    true => vec![(guard, true)],
                    false => vec![
                        (Term::and([guard.clone(), takes.clone()]), true),
                        (Term::and([guard, takes.not()]), false),
                    ],
                };
                for (guard, is_changed) in cases {
                    if !guard.is_false() {
                        let after = JoinedLocation { specification: taken.target, is_changed, ..pair };
                        let target = number_of(after, &mut open);
                        add(taken.action, guard, [Some(taken), None], Some(id), target);
                    }
                }
            }
        }
        // Internal steps of the mutant alone, and outputs that the specification refuses.
        for step in mutant_steps(pair.mutant) {
            let action = step.transition.action;
            match mutant.action(action).kind {
                ActionKind::Input => {}
                ActionKind::Internal => {
                    let is_changed = pair.is_changed || step.is_changed;
                    let after = JoinedLocation { mutant: step.transition.target, is_changed, ..pair };
                    let target = number_of(after, &mut open);
                    add(action, step.enabled.clone(), [None, Some(&step.transition)], None, target);
                }
                // Without an effect of the mutation, the specification would do the same.
                _ if !pair.is_changed && !step.is_changed => {}
                ActionKind::Output | ActionKind::Quiescence => {
                    let matching =
                        own_steps.iter().filter(|id| specification.transitions[**id].action == action);
                    let refused = matching.map(|id| enabled[*id].not());
                    let guard = Term::and(std::iter::once(step.enabled.clone()).chain(refused));
                    add(action, guard, [None, None], None, differs);
                }
            }
        }
    }
    let variables = specification.variables.iter().cloned().chain(mutant.variables.iter().map(rename));
    let begin = [specification.initial_condition.clone(), substitute(&mutant.initial_condition, &renaming)];
    let iosts = Iosts {
        name: specification.name.clone(),
        constants: specification.constants.clone(),
        variables: variables.collect(),
        initial_condition: Term::and(begin),
        locations,
        initial,
        // A mutant may have an internal action of its own, after all others.
        actions: mutant.actions.clone(),
        transitions,
        origin: None,
    };
    Some(Beside { iosts, own_transitions, differs })
}
