//! Times as documents state them, waits that end at an instant, and pauses between two looks.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, Timespec, poll};
use rustix::io::Errno;

/// Waits until a descriptor is ready, or until an instant. Returns how many are ready.
pub fn poll_until(fds: &mut [PollFd<'_>], until: Instant) -> Result<usize, Errno> {
    let time = until.saturating_duration_since(Instant::now());
    // No instant is so far away that its time is too long for the kernel.
    poll(fds, Timespec::try_from(time).ok().as_ref())
}

/// The time between two looks at what takes no time at all, mostly.
pub const SHORT_PAUSE: Duration = Duration::from_millis(1);

/// The time between two looks at what another program does in a moment, if nothing tells when it has.
pub const PAUSE: Duration = Duration::from_millis(5);

/// The time between two looks at what may take longer.
pub const LONG_PAUSE: Duration = Duration::from_millis(20);

/// The most messages and records of no interest in a row that are read without a look at the clock.
pub const MOST_IGNORED: usize = 100;

/// Returns the time in milliseconds, with three decimal places.
pub fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// Reads a time of a document: not before the beginning, and not without end.
pub fn seconds(number: f64) -> Option<Duration> {
    // The end is in three hundred years.
    let is_time = (0.0..=1e10).contains(&number);
    if is_time { Duration::try_from_secs_f64(number).ok() } else { None }
}

/// A time as a number of milliseconds in a document: `#[serde(with = "milliseconds_of")]`.
pub mod milliseconds_of {
    use std::time::Duration;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(super::milliseconds(*time))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let ms = f64::deserialize(deserializer)?;
        super::seconds(ms / 1e3).ok_or_else(|| D::Error::custom(format!("{ms} ms is not a time")))
    }
}
