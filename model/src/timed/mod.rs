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
//! **A type of its own.** The graph inside mentions clocks in its guards like data that nothing changes; an
//! untimed stage that took it for an IOSTS would be wrong about every guard. So it is not public. What
//! untimed stages may take is the [`delayed`] form, in which time is data: a thing that says what the model
//! says.
//!
//! [`semantics`] is the concrete meaning, with exact rational delays: the oracle.

pub mod composed;
pub mod delayed;
pub mod semantics;

use std::collections::BTreeSet;

use crate::data::Datum;
use crate::iosts::{Action, ActionId, ActionKind, Iosts, TestPurpose, TransitionId};
use crate::numbered::Numbered;
use crate::types::Type;

/// A clock: a datum of type `real` that time moves.
pub fn clock(name: impl Into<String>) -> Datum {
    Datum::new(name, Type::Real)
}

/// What a timed model says beside its graph.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Clocks {
    /// The clocks, in the order of the file.
    pub clocks: Vec<Datum>,
    /// For each transition, the clocks that it sets back to 0.
    pub resets: Numbered<TransitionId, Vec<Datum>>,
    /// For each transition, what it is called, where it is.
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
    /// A model from its graph, whose guards and assigned values mention the clocks; from what it says of
    /// clocks; and from the inputs that come from elsewhere than from the tester.
    pub fn new(graph: Iosts, clocks: Clocks, uncontrollable: BTreeSet<ActionId>) -> Self {
        debug_assert_eq!(
            graph.transitions.len(),
            clocks.resets.len(),
            "one list of clocks for each transition"
        );
        Timed { graph, clocks, uncontrollable }
    }

    /// The graph with clocks in its guards: for messages, pictures and whoever knows what a clock is. It is
    /// *not* what it says as an IOSTS.
    pub fn graph(&self) -> &Iosts {
        &self.graph
    }

    /// The clocks, in the order of the file.
    pub fn clocks(&self) -> &[Datum] {
        &self.clocks.clocks
    }

    /// The clocks that the transition sets back to 0.
    pub fn resets(&self, transition: TransitionId) -> &[Datum] {
        &self.clocks.resets[transition]
    }

    /// The transition's name, where it has one.
    pub fn name(&self, transition: TransitionId) -> Option<&str> {
        self.clocks.names.find(transition).and_then(Option::as_deref)
    }

    /// What the transition is called: its name; where it has none, its number in the file, from 1.
    pub fn called(&self, transition: TransitionId) -> String {
        self.name(transition).map_or_else(|| (transition.0 + 1).to_string(), str::to_owned)
    }

    /// The transition of this name; or of this number in the file, from 1.
    ///
    /// # Errors
    /// There is none: the names of all.
    pub fn transition(&self, called: &str) -> Result<TransitionId, Vec<String>> {
        let names = || self.graph.transitions.numbers().map(|number| self.called(number));
        let by_number = || {
            let number = called.parse::<usize>().ok()?.checked_sub(1)?;
            self.graph.transitions.numbers().nth(number)
        };
        let by_name = self.clocks.names.first_number(|name| name.as_deref() == Some(called));
        by_name.or_else(by_number).ok_or_else(|| names().collect())
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
    /// A purpose from its graph and what it says of clocks.
    pub fn new(graph: TestPurpose, clocks: Clocks) -> Self {
        debug_assert_eq!(
            graph.iosts.transitions.len(),
            clocks.resets.len(),
            "one list of clocks for each transition"
        );
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
