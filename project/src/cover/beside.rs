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

/// A joined system of more pairs of locations is too large.
const MOST_PAIRS: usize = 600;

/// A specification and a mutant of it as one system.
pub struct JoinedSystem {
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
pub fn join_with_mutant(specification: &Iosts, mutant: &Iosts) -> Option<JoinedSystem> {
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
    let variables = specification.variables.iter().cloned().chain(mutant.variables.iter().map(rename));
    let begin = [specification.initial_condition.clone(), substitute(&mutant.initial_condition, &renaming)];
    let enabled = specification.transitions.map(enabling_condition);
    let (outgoing, mutant_outgoing) = (specification.outgoing(), mutant.outgoing());
    let both = BothModels { specification, mutant, enabled, renamed, outgoing, mutant_outgoing, renaming };
    let mut locations = Numbered::new();
    let differs = locations.push(Location::named("differs"));
    let mut joined = JoinedLocations {
        both: &both,
        differs,
        locations,
        transitions: Numbered::new(),
        own_transitions: Numbered::new(),
        known_pairs: HashMap::new(),
        to_visit: Vec::new(),
    };
    let is_changed = specification.initial_condition != mutant.initial_condition;
    let start = JoinedLocation { specification: specification.initial, mutant: mutant.initial, is_changed };
    let initial = joined.number_of(start);
    let mut pairs_seen = 0;
    while let Some(pair) = joined.to_visit.pop() {
        pairs_seen += 1;
        budget::ask();
        if pairs_seen > MOST_PAIRS {
            return None;
        }
        joined.add_own_steps(pair);
        joined.add_mutant_steps(pair);
    }
    let JoinedLocations { locations, transitions, own_transitions, .. } = joined;
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
    Some(JoinedSystem { iosts, own_transitions, differs })
}

/// A specification and its mutant.
struct BothModels<'a> {
    specification: &'a Iosts,
    mutant: &'a Iosts,
    /// The conditions under which the transitions of the specification are enabled.
    enabled: Numbered<TransitionId, Term>,
    renamed: Numbered<TransitionId, Renamed>,
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    mutant_outgoing: Numbered<LocationId, Vec<TransitionId>>,
    /// The names of the mutant's variables in the joined system.
    renaming: Substitution,
}

impl BothModels<'_> {
    fn mutant_steps(&self, location: LocationId) -> impl Iterator<Item = &Renamed> {
        self.mutant_outgoing[location].iter().map(|step| &self.renamed[*step])
    }

    /// Lists the transitions of the specification for an action.
    fn own_steps(&self, location: LocationId, action: ActionId) -> impl Iterator<Item = TransitionId> {
        let steps = self.outgoing[location].iter().copied();
        steps.filter(move |step| self.specification.transitions[*step].action == action)
    }

    /// Makes the condition under which the specification takes the stimulus `own`, and the mutant ignores it:
    /// no transition of the mutant takes it, not even after an internal step.
    fn ignoring_condition(&self, mutant_at: LocationId, own: TransitionId) -> Term {
        let stimulus = self.specification.transitions[own].action;
        let taking =
            |from: LocationId| self.mutant_steps(from).filter(|step| step.transition.action == stimulus);
        let not_now = taking(mutant_at).map(|step| step.enabled.not());
        let internal = self
            .mutant_steps(mutant_at)
            .filter(|step| self.mutant.action(step.transition.action).kind == ActionKind::Internal);
        let not_later = internal.flat_map(|step| {
            taking(step.transition.target).map(|next| {
                let enabled_later = substitute(&next.enabled, &step.transition.assignments);
                Term::and([step.enabled.clone(), enabled_later]).not()
            })
        });
        Term::and(std::iter::once(self.enabled[own].clone()).chain(not_now).chain(not_later))
    }
}

/// The joined system as far as it is made.
struct JoinedLocations<'a> {
    both: &'a BothModels<'a>,
    differs: LocationId,
    locations: Numbered<LocationId, Location>,
    transitions: Numbered<TransitionId, Transition>,
    /// See [`JoinedSystem::own_transitions`].
    own_transitions: Numbered<TransitionId, Option<TransitionId>>,
    known_pairs: HashMap<JoinedLocation, LocationId>,
    /// The known pairs whose steps are not added yet.
    to_visit: Vec<JoinedLocation>,
}

impl JoinedLocations<'_> {
    fn number_of(&mut self, pair: JoinedLocation) -> LocationId {
        *self.known_pairs.entry(pair).or_insert_with(|| {
            self.to_visit.push(pair);
            let first = &self.both.specification.location(pair.specification).name;
            let second = &self.both.mutant.location(pair.mutant).name;
            self.locations.push(Location::named(format!("{first}~{second}")))
        })
    }

    /// Adds a step, unless its guard is false. In it the specification takes `own`, and the mutant `step`.
    fn add(
        &mut self,
        source: JoinedLocation,
        guard: Term,
        own: Option<TransitionId>,
        step: Option<&Renamed>,
        target: JoinedLocation,
    ) {
        if guard.is_false() {
            return;
        }
        let own_taken = own.map(|number| &self.both.specification.transitions[number]);
        let taken = || own_taken.into_iter().chain(step.map(|step| &step.transition));
        let Some(action) = taken().next().map(|transition| transition.action) else { return };
        let assignments = taken().flat_map(|transition| transition.assignments.clone()).collect();
        let (source, target) = (self.number_of(source), self.number_of(target));
        let joined = added_transition(source, action, guard, target);
        self.transitions.push(Transition { assignments, ..joined });
        self.own_transitions.push(own);
    }

    /// Adds the steps of the specification, alone or together with the mutant.
    fn add_own_steps(&mut self, pair: JoinedLocation) {
        let both = self.both;
        for &own in &both.outgoing[pair.specification] {
            let taken = &both.specification.transitions[own];
            let own_target = JoinedLocation { specification: taken.target, ..pair };
            let kind = both.specification.action(taken.action).kind;
            if kind == ActionKind::Internal {
                self.add(pair, both.enabled[own].clone(), Some(own), None, own_target);
                continue;
            }
            let matching = both.mutant_steps(pair.mutant);
            for step in matching.filter(|step| step.transition.action == taken.action) {
                let guard = Term::and([both.enabled[own].clone(), step.enabled.clone()]);
                let is_changed = pair.is_changed || step.is_changed;
                let target = JoinedLocation { mutant: step.transition.target, is_changed, ..own_target };
                self.add(pair, guard, Some(own), Some(step), target);
            }
            if kind == ActionKind::Input {
                let ignoring = both.ignoring_condition(pair.mutant, own);
                // The condition under which the specification would take it in the mutant's state. A mutant
                // has the locations of the specification.
                let own_there = both.own_steps(pair.mutant, taken.action);
                let takes = Term::or(own_there.map(|id| substitute(&both.enabled[id], &both.renaming)));
                // Only then has the mutation an effect.
                let effect = if pair.is_changed { Term::yes() } else { takes };
                for (condition, is_changed) in [(effect.clone(), true), (effect.not(), false)] {
                    let guard = Term::and([ignoring.clone(), condition]);
                    self.add(pair, guard, Some(own), None, JoinedLocation { is_changed, ..own_target });
                }
            }
        }
    }

    /// Adds the internal steps of the mutant alone, and its outputs that the specification refuses.
    fn add_mutant_steps(&mut self, pair: JoinedLocation) {
        let both = self.both;
        for step in both.mutant_steps(pair.mutant) {
            let action = step.transition.action;
            let is_changed = pair.is_changed || step.is_changed;
            match both.mutant.action(action).kind {
                ActionKind::Internal => {
                    let target = JoinedLocation { mutant: step.transition.target, is_changed, ..pair };
                    self.add(pair, step.enabled.clone(), None, Some(step), target);
                }
                // Without an effect of the mutation, the specification would do the same.
                ActionKind::Output | ActionKind::Quiescence if is_changed => {
                    let matching = both.own_steps(pair.specification, action);
                    let refused = matching.map(|own| both.enabled[own].not());
                    let guard = Term::and(std::iter::once(step.enabled.clone()).chain(refused));
                    if !guard.is_false() {
                        let source = self.number_of(pair);
                        self.transitions.push(added_transition(source, action, guard, self.differs));
                        self.own_transitions.push(None);
                    }
                }
                _ => {}
            }
        }
    }
}
