//! What an IUT file says of silence, lateness and disconnect: how long a reply may take, what it is worth
//! that none comes, and what a closed connection and a new one are in the model; of runs at the same time;
//! and of values that are worth trying.
//!
//! A connection is nothing to a model unless the user says so: without a word, one that is closed ends the
//! run without a verdict ([`crate::adapter::Failure::Lost`]).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::samples::SampleProgram;
use crate::shared::Shared;

/// Silence, lateness and disconnect, as an IUT file describes them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Behaviour {
    /// The output, without parameters, that a closed connection is.
    pub on_close: Option<String>,
    /// The input, without parameters, by which the tester leaves a connection and makes a new one.
    pub reconnect: Option<String>,
    /// How long a reply may take.
    pub within: Within,
    /// Is silence a failure where the specification must answer?
    pub silence_fails: bool,
    pub shared: Shared,
    /// Of a timed run, how far an instant may be from where it is measured, where the usual time is not
    /// right.
    pub tolerance: Option<Duration>,
    /// Values of parameters that are to be tried with it.
    pub samples: Samples,
    /// Programs that print such values, by the parameter's name.
    pub sample_programs: BTreeMap<String, SampleProgram>,
    /// How often an action is sent by lot, against 1 of those that are not named.
    pub weights: BTreeMap<String, usize>,
}

/// For parameters of these names, values as plain text.
pub type Samples = BTreeMap<String, Vec<String>>;

/// The usual [`Behaviour::tolerance`].
pub const TOLERANCE: Duration = Duration::from_millis(10);

/// How long a reply may take, which is how long silence must last to be silence.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Within {
    /// Everywhere else.
    pub all: Option<Duration>,
    /// In the specification's locations of these names.
    pub locations: BTreeMap<String, Duration>,
    /// Where an event of this action was the last one.
    pub after: BTreeMap<String, Duration>,
}

impl Within {
    pub fn is_empty(&self) -> bool {
        self == &Within::default()
    }

    /// The time where these locations of the specification are possible, after an event of this action. Of
    /// several that apply the longest counts: only then nothing is awaited any more.
    pub fn of(&self, locations: &BTreeSet<&str>, last: Option<&str>) -> Option<Duration> {
        let here = locations.iter().filter_map(|name| self.locations.get(*name));
        here.chain(last.and_then(|action| self.after.get(action))).max().copied().or(self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_of_what_applies_counts_and_what_is_said_for_all_where_nothing_does() {
        let ms = Duration::from_millis;
        let within = Within {
            all: Some(ms(500)),
            locations: [("Pay".to_owned(), ms(300)), ("Idle".to_owned(), ms(7))].into(),
            after: [("Coin".to_owned(), ms(20))].into(),
        };
        for (locations, last, wanted) in [
            (&["Pay"][..], Some("Coin"), 300),
            (&["Idle"], Some("Coin"), 20),
            (&["Idle"], Some("Cancel"), 7),
            (&["Idle", "Pay"], None, 300),
            (&["Choose"], None, 500),
            (&["Choose"], Some("Coin"), 20),
            (&[], None, 500),
        ] {
            let locations = locations.iter().copied().collect();
            assert_eq!(within.of(&locations, last), Some(ms(wanted)), "{locations:?} {last:?}");
        }
        assert_eq!(Within::default().of(&["Pay"].into(), Some("Coin")), None);
    }
}
