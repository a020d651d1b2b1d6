//! The IOSTS (thesis, Definition 4.2, p. 81) and the test purpose (Definition 6.8, p. 149).
//!
//! ⟨D, Θ, L, l0, Σ, T⟩ as plain data. Three decisions make every later stage simpler:
//!
//! - A transition uses its action's own parameters. Where a user renames them (`on: Coin(p)`), the reader
//!   renames them back, so that two transitions of one action can be conjoined without a substitution.
//! - Assignments are parallel and total; the identities are not stored.
//! - The purpose's observed data are the specification's own [`Datum`]s: their product is a union.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::Datum;
use crate::diagnostic::Origin;
use crate::numbered::{Numbered, numbers};
use crate::term::{Substitution, Term};

numbers! {
    /// A location's number in its IOSTS.
    LocationId;
    /// An action's number in its IOSTS.
    ActionId;
    /// A transition's number in its IOSTS.
    TransitionId;
}

pub const QUIESCENCE: &str = "quiescence";

/// The direction of an action, seen from the implementation under test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActionKind {
    /// The system receives it: the tester sends it.
    Input,
    /// The system sends it: the tester observes it.
    Output,
    /// Nobody sees it.
    Internal,
    /// The system sends nothing, and will not until something is sent to it: what the tester sees as silence.
    /// Of suspended specifications only, and of what is made of them.
    Quiescence,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Action {
    pub name: String,
    pub kind: ActionKind,
    /// The parameters of its messages. An internal action has none.
    pub parameters: Vec<Datum>,
}

impl Action {
    /// Is it seen: an input, an output, or quiescence?
    pub fn is_visible(&self) -> bool {
        self.kind != ActionKind::Internal
    }

    /// Is it up to the system: an output, or quiescence?
    pub fn is_observed(&self) -> bool {
        matches!(self.kind, ActionKind::Output | ActionKind::Quiescence)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    pub name: String,
    /// The text that a picture shows for it: `<Pay,Begin>` for a location of a product. It is the name if no
    /// label was given.
    pub label: String,
    /// The user's text about it under `locations:`.
    pub description: Option<String>,
}

impl Location {
    /// A location whose label is its name.
    pub fn named(name: impl Into<String>) -> Self {
        let name = name.into();
        Location { label: name.clone(), name, description: None }
    }
}

/// The place of a transition in the user's text. It is empty if a stage made the transition from nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TransitionOrigin {
    pub whole: Option<Origin>,
    pub guard: Option<Origin>,
    /// If it was joined from several transitions: the guard of each, and its place.
    pub joined: Vec<(Term, Option<Origin>)>,
    /// Its assignments, by the variable's name.
    pub assignments: BTreeMap<String, Origin>,
    /// Where the variables and constants of its model are declared, by name.
    pub declared: Arc<BTreeMap<String, Origin>>,
}

impl TransitionOrigin {
    /// The place of the guard, or of the whole transition.
    pub fn guard_or_whole(&self) -> Option<&Origin> {
        self.guard.as_ref().or(self.whole.as_ref())
    }

    /// Adds the origin of a transition with the guard `other_guard`, which is joined to this one. The first
    /// time, this one is noted before it, too.
    pub fn join(&mut self, own_guard: &Term, other_guard: &Term, other: &TransitionOrigin) {
        if self.joined.is_empty() {
            self.joined.push((own_guard.clone(), self.guard_or_whole().cloned()));
        }
        match other.joined.is_empty() {
            true => self.joined.push((other_guard.clone(), other.guard_or_whole().cloned())),
            false => self.joined.extend(other.joined.iter().cloned()),
        }
    }
}

/// ⟨l, a, π, G, A, l'⟩; π is its action's [`Action::parameters`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// l
    pub source: LocationId,
    /// a
    pub action: ActionId,
    /// G, over variables, constants and the action's parameters.
    pub guard: Term,
    /// A, without the identities, in the order of the data.
    pub assignments: Substitution,
    /// l'
    pub target: LocationId,
    pub origin: TransitionOrigin,
}

impl Transition {
    /// Makes a transition that every event of the action takes, and that assigns nothing.
    pub fn unguarded(source: LocationId, action: ActionId, target: LocationId) -> Self {
        let (assignments, origin) = (Substitution::new(), TransitionOrigin::default());
        Transition { source, action, guard: Term::yes(), assignments, target, origin }
    }

    /// The guard and the assigned values.
    pub fn terms(&self) -> impl Iterator<Item = &Term> + Clone {
        std::iter::once(&self.guard).chain(self.assignments.values())
    }
}

/// An input/output symbolic transition system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Iosts {
    pub name: String,
    /// C: symbolic constants.
    pub constants: Vec<Datum>,
    /// V
    pub variables: Vec<Datum>,
    /// Θ, over variables and constants.
    pub initial_condition: Term,
    /// L
    pub locations: Numbered<LocationId, Location>,
    /// l0
    pub initial: LocationId,
    /// Σ
    pub actions: Numbered<ActionId, Action>,
    /// T
    pub transitions: Numbered<TransitionId, Transition>,
    /// Where the initial condition stands (or the model's name, where there is none).
    pub origin: Option<Origin>,
}

/// An IOSTS without data, locations and actions, to build one from. Its initial location does not exist yet.
impl Default for Iosts {
    fn default() -> Self {
        Iosts {
            name: String::new(),
            constants: Vec::new(),
            variables: Vec::new(),
            initial_condition: Term::yes(),
            locations: Numbered::new(),
            initial: LocationId(0),
            actions: Numbered::new(),
            transitions: Numbered::new(),
            origin: None,
        }
    }
}

impl Iosts {
    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id]
    }

    pub fn action(&self, id: ActionId) -> &Action {
        &self.actions[id]
    }

    pub fn action_of(&self, transition: TransitionId) -> &Action {
        self.action(self.transitions[transition].action)
    }

    pub fn location_ids(&self) -> impl Iterator<Item = LocationId> + use<> {
        self.locations.numbers()
    }

    pub fn action_ids(&self) -> impl Iterator<Item = ActionId> + use<> {
        self.actions.numbers()
    }

    pub fn find_location(&self, name: &str) -> Option<LocationId> {
        self.locations.first_number(|location| location.name == name)
    }

    pub fn find_action(&self, name: &str) -> Option<ActionId> {
        self.actions.first_number(|action| action.name == name)
    }

    pub fn find_datum(&self, name: &str) -> Option<&Datum> {
        self.variables.iter().chain(&self.constants).find(|datum| datum.name() == name)
    }

    /// For each location, the numbers of the transitions that leave it, in order.
    pub fn outgoing(&self) -> Numbered<LocationId, Vec<TransitionId>> {
        let mut outgoing = Numbered::filled(Vec::new(), self.locations.len());
        for (number, transition) in self.transitions.numbered() {
            outgoing[transition.source].push(number);
        }
        outgoing
    }

    /// The term that the transition assigns to the variable: A_v, or the variable itself if it assigns none.
    pub fn effect(transition: &Transition, variable: &Datum) -> Term {
        transition.assignments.get(variable).cloned().unwrap_or_else(|| Term::datum(variable))
    }

    /// A transition in one line, as messages name it: `Pay -Return-> Choose`.
    pub fn describe(&self, transition: &Transition) -> String {
        format!(
            "{} -{}-> {}",
            self.location(transition.source).label,
            self.action(transition.action).name,
            self.location(transition.target).label
        )
    }

    /// For each location, whether a path of transitions leads there from `start`, whatever their guards.
    pub fn reachable_from(&self, start: LocationId) -> Numbered<LocationId, bool> {
        let outgoing = self.outgoing();
        let mut reached = Numbered::filled(false, self.locations.len());
        let mut unvisited = vec![start];
        reached[start] = true;
        while let Some(location) = unvisited.pop() {
            for &number in &outgoing[location] {
                let target = self.transitions[number].target;
                if !std::mem::replace(&mut reached[target], true) {
                    unvisited.push(target);
                }
            }
        }
        reached
    }

    /// Drops the locations that no path of transitions reaches from the initial one. Also returns the old
    /// number of each kept location.
    #[must_use]
    pub fn without_unreachable_locations(mut self) -> (Self, Numbered<LocationId, LocationId>) {
        let reached = self.reachable_from(self.initial);
        let kept: Numbered<LocationId, LocationId> = self.location_ids().filter(|id| reached[*id]).collect();
        let mut renumbered = Numbered::filled(None, self.locations.len());
        for (number, old) in kept.numbered() {
            renumbered[*old] = Some(number);
        }
        self.locations = kept.map(|old| self.location(*old).clone());
        // A transition goes with its source or target: their new numbers are `None`.
        let renumber = |t: Transition| {
            Some(Transition { source: renumbered[t.source]?, target: renumbered[t.target]?, ..t })
        };
        self.transitions = self.transitions.into_iter().filter_map(renumber).collect();
        // The initial location is always reached.
        self.initial = renumbered[self.initial].unwrap_or(self.initial);
        (self, kept)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aim {
    /// Behaviours that a test must show: a test purpose, with `Accept`.
    Accept,
    /// Behaviours that must never happen: a safety property, with `Violate`.
    Violate,
}

impl Aim {
    /// The name of the location that such behaviours reach.
    pub fn location(self) -> &'static str {
        match self {
            Aim::Accept => "Accept",
            Aim::Violate => "Violate",
        }
    }

    pub fn key(self) -> &'static str {
        match self {
            Aim::Accept => "purpose",
            Aim::Violate => "property",
        }
    }
}

/// A test purpose: an IOSTS over its specification's actions, with the locations `Accept` and `Reject`. If it
/// speaks of quiescence, quiescence is its last action. A safety property is a purpose whose `Accept` is
/// called `Violate`. It speaks of visible events only, and outputs violate it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestPurpose {
    pub aim: Aim,
    /// The purpose as an IOSTS. Its constants are its own, followed by what it observes.
    pub iosts: Iosts,
    /// The name of its specification.
    pub of: String,
    /// The specification's data that it reads and may not assign.
    pub observes: Vec<Datum>,
    /// The names of the functions that it declares itself.
    pub functions: BTreeSet<String>,
    /// The location `Accept`, or `Violate` of a property.
    pub accept: LocationId,
    /// The location `Reject`, if there is one.
    pub reject: Option<LocationId>,
    /// The change of its data by a visible event that it has no transition for. It is empty, but in the
    /// delayed form of a timed purpose its clocks advance.
    pub idle: Substitution,
    /// For each of its transitions that goes with only one transition of the specification: which one. Its
    /// other transitions go with all transitions of their action.
    pub with: BTreeMap<TransitionId, TransitionId>,
}

impl TestPurpose {
    /// Does [`TestPurpose::with`] let the purpose's `own` transition be taken together with `specified`?
    pub fn goes_with(&self, own: TransitionId, specified: TransitionId) -> bool {
        self.with.get(&own).is_none_or(|only| *only == specified)
    }
}
