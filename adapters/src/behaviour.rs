//! What an IUT file says of silence, lateness and disconnect. It says how long a reply may take, whether
//! silence fails, and what a closed connection and a new one are in the model. It also says which systems are
//! shared, and which values are worth trying.
//!
//! A model knows no connections unless the user says so. By default, a closed connection ends the run without
//! a verdict ([`crate::adapter::Failure::Lost`]).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::samples::SampleProgram;
use crate::shared::SharedRuns;

/// Silence, lateness and disconnect, as an IUT file describes them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Behaviour {
    /// The output, without parameters, that a closed connection is.
    pub on_close: Option<String>,
    /// The input, without parameters, by which the tester leaves a connection and makes a new one.
    pub reconnect: Option<String>,
    pub within: Within,
    /// Silence is a failure if the specification must answer.
    pub silence_fails: bool,
    pub shared: SharedRuns,
    /// How far an instant of a timed run may be from where it is measured, if not by [`TOLERANCE`].
    pub tolerance: Option<Duration>,
    /// Values of parameters that are worth trying.
    pub samples: Samples,
    /// Programs that print such values, by the parameter's name.
    pub sample_programs: BTreeMap<String, SampleProgram>,
    /// How often an action is chosen at random. The weight of an action that is not named is 1.
    pub weights: BTreeMap<String, usize>,
}

/// Values as plain text, by the name of the parameter.
pub type Samples = BTreeMap<String, Vec<String>>;

/// The usual [`Behaviour::tolerance`].
pub const TOLERANCE: Duration = Duration::from_millis(10);

/// How long a reply may take. Silence must last as long.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Within {
    /// The time if none of the others applies.
    pub all: Option<Duration>,
    /// In the specification's locations of these names.
    pub locations: BTreeMap<String, Duration>,
    /// The time after an event of this action.
    pub after: BTreeMap<String, Duration>,
}

impl Within {
    pub fn is_empty(&self) -> bool {
        self == &Within::default()
    }

    /// Returns the time if these locations of the specification are possible, and `last` was the last action.
    /// If several times apply, the longest counts: only then is no reply awaited any more.
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
