//! The time that a judge is shown: how long nothing has come for certain.
//!
//! **Problem.** For a judge behind a link ([`crate::judge::crossing`]) it matters how old a stimulus is when
//! an observation *comes*. The tester knows when it has *read* one, which may be much later: it was choosing
//! values meanwhile. An age that is too high excludes an order that was possible, and a correct system fails.
//!
//! **Method.** Only certain knowledge counts: when the adapter says that nothing has come until an instant,
//! nothing has. The judge is shown the time from the last stimulus to the last such instant, rounded down to
//! what a record can write. While a judge waits for time to pass, no wait of the tester is longer than that,
//! so that an age is too small by a moment at most.

use std::time::{Duration, Instant};

use crate::judge::Judge;

/// When the judge is shown the passed time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Showing {
    BeforeStimulus,
    WhileWaiting,
}

#[derive(Debug)]
pub(crate) struct Clock {
    /// The judge has been shown the time until here, or a stimulus was sent here.
    shown_until: Instant,
    /// Until here nothing has come.
    silent_until: Instant,
}

impl Clock {
    pub(crate) fn new(now: Instant) -> Self {
        Clock { shown_until: now, silent_until: now }
    }

    /// Shortens a wait until `until` so that it ends when the judge wants to be shown the passed time.
    pub(crate) fn limit(&self, judge: &dyn Judge, until: Instant) -> Instant {
        judge.due().map_or(until, |due| until.min(self.shown_until + due))
    }

    /// Notes that nothing has come until `until`, or until the tester asked for events if that was later.
    pub(crate) fn note_silence(&mut self, asked: Instant, until: Instant) {
        self.silent_until = self.silent_until.max(asked.max(until));
    }

    /// Subtracts time in which the system could not run from the passed time.
    pub(crate) fn add_lost_time(&mut self, time: Duration) {
        self.shown_until += time;
    }

    /// Starts to count at a stimulus that is sent now.
    pub(crate) fn begin_at_stimulus(&mut self) {
        self.shown_until = Instant::now();
    }

    /// Returns the time that has passed, and counts anew. `None` if the judge does not want it yet: it wants
    /// enough for a stimulus to have arrived, or any time if another stimulus is about to be sent.
    pub(crate) fn take_passed_time(&mut self, judge: &dyn Judge, showing: Showing) -> Option<Duration> {
        let due = judge.due()?;
        let micros = self.silent_until.saturating_duration_since(self.shown_until).as_micros();
        let time = Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX));
        if time.is_zero() && !due.is_zero() || time < due && showing == Showing::WhileWaiting {
            return None;
        }
        self.shown_until += time;
        Some(time)
    }
}
