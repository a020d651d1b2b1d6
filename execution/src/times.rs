//! Times as documents state them.

use std::time::Duration;

/// In milliseconds, with three places.
pub fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// A time as a document states it: not before the beginning, and not without end.
pub fn seconds(number: f64) -> Option<Duration> {
    /// Three hundred years.
    const MOST: f64 = 1e10;
    let is_time = (0.0..=MOST).contains(&number);
    if is_time { Duration::try_from_secs_f64(number).ok() } else { None }
}
