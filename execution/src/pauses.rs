//! What a busy machine takes from a system while the tester waits: silence counts for as long as the system
//! could have spoken.
//!
//! **Problem.** A system that says nothing for so long has failed, or is quiescent; one that was not let run
//! has had no time to say it. With a load of 30 a process may stand still for longer than its answer may
//! take.
//!
//! **Method.** A wait measures what timed runs measure ([`crate::timed::jitter`],
//! [`coreach_adapters::waited_time`]): how late threads of ours wake, and how long the kernel has kept the
//! system, or us, from running. So much the wait is longer, and again by what is lost meanwhile. Where
//! that has no end nobody is blamed: the run is Inconclusive ([`Cause::Jitter`]).
//!
//! Most answers come at once, and some systems take no time at all (a model in this process). So nothing is
//! measured before a wait has lasted for a moment; what is lost in that moment is seen by our own waking too
//! late.
//!
//! **What it cannot see**: a system elsewhere, or one that is held up alone and was not brought up by us.
//!
//! [`Cause::Jitter`]: crate::outcome::Cause::Jitter

use std::time::{Duration, Instant};

use coreach_adapters::Adapter;
use coreach_adapters::waited_time::{WaitedTime, read_own_waited_time};

use crate::timed::jitter::{JitterProbe, whole};

/// How long a wait is at least before anything is measured.
const MOMENT: Duration = Duration::from_millis(5);

/// A wait becomes longer by so many times itself at most, and by so much where it was short.
const LONGER: u32 = 5;
const LONGER_IN_ANY_CASE: Duration = Duration::from_secs(1);

/// What is lost of a wait, and is not more than this part of it or this much, is none of it.
const PART: u32 = 8;
const LITTLE: Duration = Duration::from_millis(10);

#[derive(Default)]
pub(crate) struct Pauses {
    measured: Option<Measured>,
    /// The adapter does not wait: time decides nothing.
    is_timeless: bool,
}

struct Measured {
    probe: JitterProbe,
    since: Instant,
    held: WaitedTime,
    own: Duration,
}

impl Pauses {
    /// Until when one may wait at once.
    pub(crate) fn limit(&self, until: Instant) -> Instant {
        match self.measured {
            None if !self.is_timeless => until.min(Instant::now() + MOMENT),
            _ => until,
        }
    }

    /// Notes that nothing has come until `limit`, for which was asked at `asked`.
    pub(crate) fn waited(&mut self, adapter: &dyn Adapter, asked: Instant, limit: Instant) {
        if limit <= asked {
            return;
        }
        if Instant::now() < limit {
            self.is_timeless = true;
            return;
        }
        let measured = self.measured.get_or_insert_with(|| Measured {
            probe: JitterProbe::start(),
            since: asked,
            held: adapter.waited_time().unwrap_or_default(),
            own: read_own_waited_time(),
        });
        measured.probe.note_wake(limit);
    }

    /// What was lost since one began to measure.
    pub(crate) fn lost(&self, adapter: &dyn Adapter) -> Duration {
        let Some(Measured { probe, since, held, own }) = &self.measured else { return Duration::ZERO };
        let theirs = adapter.waited_time().unwrap_or_default().since(held).time;
        whole(probe.since(*since).all.max(theirs).max(read_own_waited_time().saturating_sub(*own)))
    }

    pub(crate) fn again(&mut self, adapter: &dyn Adapter) {
        if let Some(measured) = &mut self.measured {
            measured.since = Instant::now();
            measured.held = adapter.waited_time().unwrap_or_default();
            measured.own = read_own_waited_time();
        }
    }
}

/// By how much a wait may become longer.
pub(crate) fn most(wait: Duration) -> Duration {
    (wait * LONGER).max(LONGER_IN_ANY_CASE)
}

/// What may be lost of a wait without a word.
pub(crate) fn little(wait: Duration) -> Duration {
    (wait / PART).min(LITTLE)
}
