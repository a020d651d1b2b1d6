//! What an IUT file says of silence, lateness and hang-up: how long a reply may take, what it is worth that none comes, and what a
//! closed connection and a new one are in the model; and of runs at the same time.
//!
//! A connection is nothing to a model unless the user says so: without a word, one that is closed ends the run
//! without a verdict ([`crate::adapter::Failure::Lost`]).

use std::collections::BTreeMap;
use std::time::Duration;

use crate::adapter::shared::Shared;
use crate::bucket::places;

/// Silence, lateness and hang-up, as an IUT file describes them.
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
    /// What its runs may share.
    pub shared: Shared,
    /// Of a timed run, how far an instant may be from where it is measured, where the usual time is not right.
    pub tolerance: Option<Duration>,
}

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
    /// Is nothing said?
    pub fn is_empty(&self) -> bool {
        self == &Within::default()
    }

    /// The time in a location, by its label, after an event of this action. Of several that apply the longest counts: only then
    /// nothing is awaited any more.
    pub fn of(&self, label: &str, last: Option<&str>) -> Option<Duration> {
        let here = if self.locations.is_empty() { Vec::new() } else { places(label) };
        let here = here.iter().filter_map(|place| self.locations.get(*place));
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
        for (label, last, wanted) in [
            ("<Pay,Begin>", Some("Coin"), 300),
            ("<Idle,Begin>", Some("Coin"), 20),
            ("<Idle,Begin>", Some("Cancel"), 7),
            ("<<Idle,x>,<Pay,x>>", None, 300),
            ("<Choose,Begin>", None, 500),
            ("<Choose,Pay>", Some("Coin"), 20),
            ("Pay", None, 300),
        ] {
            assert_eq!(within.of(label, last), Some(ms(wanted)), "{label} {last:?}");
        }
        assert_eq!(Within::default().of("<Pay,Begin>", Some("Coin")), None);
    }
}
