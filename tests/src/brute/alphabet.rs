//! The valued actions ⟨a, w⟩ of a finite signature (Definition 4.6), numbered, so that systems over one
//! signature can be compared event by event.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::machine::{Direction, Machine};
use super::value::{Value, tuples};
use super::{EventId, TooLarge};

/// A visible valued action.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Letter {
    /// Its action's name: systems may number their actions differently.
    pub action: String,
    /// A value for each parameter.
    pub values: Vec<Value>,
    /// Does the implementation send it?
    pub output: bool,
}

/// All visible valued actions.
#[derive(Clone, Debug)]
pub struct Alphabet {
    /// By number.
    pub letters: Vec<Letter>,
    /// The numbers of each action's.
    pub of_action: BTreeMap<String, Vec<EventId>>,
}

impl Alphabet {
    /// The alphabet of a system whose parameters have finite types.
    ///
    /// # Errors
    /// More than `limit` valued actions, or infinitely many.
    pub fn of(machine: &Machine, limit: usize) -> Result<Self, TooLarge> {
        let mut alphabet = Alphabet { letters: Vec::new(), of_action: BTreeMap::new() };
        for action in machine.actions.iter().filter(|action| action.direction != Direction::Internal) {
            let lists: Option<Vec<_>> =
                action.parameters.iter().map(|parameter| parameter.ty.values(limit)).collect();
            for values in tuples(lists.ok_or(TooLarge)?, limit).ok_or(TooLarge)? {
                let number = alphabet.letters.len() as EventId;
                let output = action.direction == Direction::Output;
                alphabet.letters.push(Letter { action: action.name.clone(), values, output });
                alphabet.of_action.entry(action.name.clone()).or_default().push(number);
            }
        }
        if alphabet.letters.len() > limit { Err(TooLarge) } else { Ok(alphabet) }
    }

    /// Is it an output of the implementation?
    pub fn is_output(&self, event: EventId) -> bool {
        self.letters[event as usize].output
    }

    /// All events.
    pub fn events(&self) -> impl Iterator<Item = EventId> + use<> {
        0..self.letters.len() as EventId
    }

    /// A trace as text.
    pub fn show(&self, trace: &[EventId]) -> String {
        let mut text = String::new();
        for event in trace {
            let letter = &self.letters[*event as usize];
            let values: Vec<String> = letter.values.iter().map(ToString::to_string).collect();
            let mark = if letter.output { '!' } else { '?' };
            // Writing to a string does not fail.
            let _ = write!(
                text,
                "{}{}{mark}({})",
                if text.is_empty() { "" } else { " " },
                letter.action,
                values.join(",")
            );
        }
        if text.is_empty() { "the empty trace".to_owned() } else { text }
    }
}
