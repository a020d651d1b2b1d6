//! A timed model: a TIOSTS, which is an IOSTS with clocks.
//!
//! **Source.** Bannour, Escobedo, Gaston, Le Gall, *Off-line test case generation for timed symbolic
//! model-based conformance testing* (2012), Definition 6; Bannour, Lapitre, Le Gall, Nguyen, *Path-guided
//! timed test cases* (2024), Definition 1. Clocks are real, begin at 0 and advance together; a guard may mix
//! data and clocks; a transition sets some clocks back to 0 *after* it has been taken, and what it assigns
//! may read them as they were.
//!
//! **Both conventions of guards** can be written: a guard that names an input's parameter speaks of the value
//! that is received (2024), one that names a variable speaks of the value that it had before (2012), also
//! where the transition assigns the parameter to it.
//!
//! **A type of its own.** The graph inside mentions clocks in its guards like data that nothing changes. An
//! untimed stage that took it for an IOSTS would be wrong about every guard, so it is not public. Untimed
//! stages may take the [`delayed`] form, in which time is data: it says the same as the model.
//!
//! The tests have the concrete meaning with exact rational delays, as an oracle.

pub mod composed;
pub mod delayed;

use std::collections::BTreeSet;

use crate::data::Datum;
use crate::iosts::{Action, ActionId, ActionKind, Iosts, TestPurpose, TransitionId};
use crate::numbered::Numbered;
use crate::types::Type;

/// A clock: a datum of type `real` that time moves.
pub fn clock(name: impl Into<String>) -> Datum {
    Datum::new(name, Type::Real)
}

/// The facts of a timed model that are not in its graph.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Clocks {
    /// The clocks, in the order of the file.
    pub clocks: Vec<Datum>,
    /// For each transition, the clocks that it sets back to 0.
    pub resets: Numbered<TransitionId, Vec<Datum>>,
    /// For each transition, its name if it has one.
    pub names: Numbered<TransitionId, Option<String>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timed {
    graph: Iosts,
    clocks: Clocks,
    uncontrollable: BTreeSet<ActionId>,
}

/// A timed test purpose: it has clocks of its own, and may observe the specification's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimedPurpose {
    graph: TestPurpose,
    clocks: Clocks,
}

impl Timed {
    /// Makes a model from its graph, whose guards and assigned values mention the clocks, from its clocks,
    /// and from the inputs that the tester does not send.
    pub fn new(graph: Iosts, clocks: Clocks, uncontrollable: BTreeSet<ActionId>) -> Self {
        debug_assert_eq!(graph.transitions.len(), clocks.resets.len(), "one list for each transition");
        Timed { graph, clocks, uncontrollable }
    }

    /// The graph with clocks in its guards, for messages, pictures and code that knows clocks. Read as an
    /// IOSTS, it does *not* mean the same.
    pub fn graph(&self) -> &Iosts {
        &self.graph
    }

    pub fn clocks(&self) -> &[Datum] {
        &self.clocks.clocks
    }

    pub fn resets(&self, transition: TransitionId) -> &[Datum] {
        &self.clocks.resets[transition]
    }

    pub fn name(&self, transition: TransitionId) -> Option<&str> {
        self.clocks.names.find(transition).and_then(Option::as_deref)
    }

    /// The name of the transition. If it has none, its number in the file, from 1.
    pub fn called(&self, transition: TransitionId) -> String {
        self.name(transition).map_or_else(|| (transition.0 + 1).to_string(), str::to_owned)
    }

    /// Finds the transition of this name, or of this number in the file, from 1.
    ///
    /// # Errors
    /// If there is none, the names of all transitions.
    pub fn transition(&self, called: &str) -> Result<TransitionId, Vec<String>> {
        let numbers = || self.graph.transitions.numbers();
        let by_name = self.clocks.names.first_number(|name| name.as_deref() == Some(called));
        let by_number = || numbers().nth(called.parse::<usize>().ok()?.checked_sub(1)?);
        by_name.or_else(by_number).ok_or_else(|| numbers().map(|number| self.called(number)).collect())
    }

    /// Is it an input that the tester sends?
    pub fn is_controllable(&self, action: ActionId) -> bool {
        self.graph.action(action).kind == ActionKind::Input && !self.uncontrollable.contains(&action)
    }

    /// The inputs that the tester sees and does not send (UC_in of the publication of 2024).
    pub fn uncontrollable(&self) -> impl Iterator<Item = (ActionId, &Action)> {
        self.uncontrollable.iter().map(|id| (*id, self.graph.action(*id)))
    }
}

impl TimedPurpose {
    pub fn new(graph: TestPurpose, clocks: Clocks) -> Self {
        debug_assert_eq!(graph.iosts.transitions.len(), clocks.resets.len(), "one list for each transition");
        TimedPurpose { graph, clocks }
    }

    /// The graph with clocks in its guards: for messages and pictures.
    pub fn graph(&self) -> &TestPurpose {
        &self.graph
    }

    pub fn clocks(&self) -> &[Datum] {
        &self.clocks.clocks
    }
}
