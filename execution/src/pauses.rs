//! The time that a busy machine takes from a system while the tester waits. Silence counts only for as long
//! as the system could have spoken.
//!
//! **Problem.** A system that says nothing for so long has failed, or is quiescent. But under load a process
//! may stand still for longer than its answer may take.
//!
//! **Method.** A wait measures the same as timed runs ([`crate::timed::jitter`],
//! [`coreach_adapters::waited_time`]): how late our threads wake, and how long the kernel has kept the
//! system, or us, from running. The wait becomes longer by that time, and again by the time that is lost
//! meanwhile. If that does not end, the run is Inconclusive ([`Cause::Jitter`]). Most answers come at once,
//! so nothing is measured before a wait has lasted for a moment. Time lost in that moment shows when our
//! thread wakes late.
//!
//! **It cannot see** a system elsewhere, or a system that is held up alone and was not started by us.
//!
//! [`Cause::Jitter`]: crate::outcome::Cause::Jitter

use std::time::{Duration, Instant};

use coreach_adapters::Adapter;
use coreach_adapters::waited_time::{WaitedTime, read_own_waited_time};

use crate::timed::jitter::{JitterProbe, round_up_to_micros};

#[derive(Default)]
pub(crate) struct Pauses {
    measured: Option<MeasuredJitter>,
    /// The adapter does not wait: time decides nothing.
    is_timeless: bool,
}

struct MeasuredJitter {
    probe: JitterProbe,
    since: Instant,
    held: WaitedTime,
    own: Duration,
}

impl Pauses {
    /// Returns the latest instant until which the tester may wait without measuring.
    pub(crate) fn limit(&self, until: Instant) -> Instant {
        match self.measured {
            // A short wait is not worth it.
            None if !self.is_timeless => until.min(Instant::now() + Duration::from_millis(5)),
            _ => until,
        }
    }

    /// Notes that nothing has come from `asked` until `limit`. The first such wait begins the measurement.
    pub(crate) fn note_wait(&mut self, adapter: &dyn Adapter, asked: Instant, limit: Instant) {
        if limit <= asked {
            return;
        }
        if adapter.is_simulated() || Instant::now() < limit {
            self.is_timeless = true;
            return;
        }
        let measured = self.measured.get_or_insert_with(|| MeasuredJitter {
            probe: JitterProbe::start(),
            since: asked,
            held: adapter.waited_time().unwrap_or_default(),
            own: read_own_waited_time(),
        });
        measured.probe.note_wake(limit);
    }

    /// Returns the time that was lost since the measurement began. Its sources may show the same time, so the
    /// longest counts.
    pub(crate) fn measure_loss(&self, adapter: &dyn Adapter) -> Duration {
        let Some(MeasuredJitter { probe, since, held, own }) = &self.measured else { return Duration::ZERO };
        let theirs = adapter.waited_time().unwrap_or_default().since(held).time;
        round_up_to_micros(
            probe.since(*since).all.max(theirs).max(read_own_waited_time().saturating_sub(*own)),
        )
    }

    /// Begins the measurement anew.
    pub(crate) fn restart(&mut self, adapter: &dyn Adapter) {
        if let Some(measured) = &mut self.measured {
            measured.since = Instant::now();
            measured.held = adapter.waited_time().unwrap_or_default();
            measured.own = read_own_waited_time();
        }
    }
}

/// Returns the most time by which a wait may become longer: five times itself, or a second if that is more.
pub(crate) fn longest_extension(wait: Duration) -> Duration {
    (wait * 5).max(Duration::from_secs(1))
}

/// Returns the most lost time of a wait that is ignored: an eighth of it, but at most ten milliseconds.
pub(crate) fn ignored_loss(wait: Duration) -> Duration {
    (wait / 8).min(Duration::from_millis(10))
}
