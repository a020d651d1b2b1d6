//! Time as a judge is shown it: how long it is known that nothing has come.
//!
//! **Problem.** For a judge behind a link ([`crate::judge::crossing`]) it matters how old a stimulus is when
//! an observation *comes*. The tester knows when it has *read* one, which may be much later: it was choosing
//! values meanwhile. An age that is too high excludes an order that was possible, and a correct system fails.
//!
//! **Method.** Only what is certain counts: when the adapter says that nothing has come until an instant,
//! nothing has. From the last stimulus to the last such instant is the time that is shown, rounded down to
//! what a record can write. While a judge waits for time to pass, no wait of the tester's is longer, so that
//! nothing is taken for younger than it is by more than a moment.

use std::time::{Duration, Instant};

use crate::judge::Judge;

#[derive(Debug)]
pub(crate) struct Clock {
    /// Until here the judge has been shown it, or a stimulus was sent.
    shown: Instant,
    /// Until here nothing has come.
    silent: Instant,
}

impl Clock {
    pub(crate) fn new(now: Instant) -> Self {
        Clock { shown: now, silent: now }
    }

    /// Until when one may wait at once.
    pub(crate) fn limit(&self, judge: &dyn Judge, until: Instant) -> Instant {
        judge.due().map_or(until, |due| until.min(self.shown + due))
    }

    /// Notes that nothing has come until then, for which was asked at `asked`.
    pub(crate) fn note_silence(&mut self, asked: Instant, until: Instant) {
        self.silent = self.silent.max(asked.max(until));
    }

    /// Takes the time in which the system could not run out of what has passed.
    pub(crate) fn add_lost_time(&mut self, time: Duration) {
        self.shown += time;
    }

    /// Counts anew from now, when a stimulus was sent.
    pub(crate) fn begin_at_stimulus(&mut self) {
        self.shown = Instant::now();
    }

    /// What has passed, if the judge wants to know it now: enough of it for a stimulus to have come, or any
    /// where another is to be sent.
    pub(crate) fn take_passed_time(&mut self, judge: &dyn Judge, is_sending: bool) -> Option<Duration> {
        let due = judge.due()?;
        let micros = self.silent.saturating_duration_since(self.shown).as_micros();
        let time = Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX));
        if time.is_zero() && !due.is_zero() || time < due && !is_sending {
            return None;
        }
        self.shown += time;
        Some(time)
    }
}
