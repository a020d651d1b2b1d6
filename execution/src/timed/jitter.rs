//! Measures how late this machine is, to tell a slow system from a busy machine.
//!
//! **Method.** As many threads as there are processors sleep a millisecond, again and again, and note by how
//! much they woke too late. The driver's own waits are noted as well. If a thread of ours was held up, a
//! process of others may have been. A sleep that is not over yet counts as late by the time since its end was
//! due. The kernel counts how long each thread waited for a processor. The other part of a lateness is the
//! timer's, or time that a hypervisor took. If the waits of the system are counted, the probe counts for that
//! part only.
//!
//! **It cannot see** a system that alone is held up, by a debugger or a limit of its container. **Ends** with
//! the run. **Costs** threads that wake a thousand times a second for microseconds.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use coreach_adapters::times::milliseconds_of;
use coreach_model::lock::lock;
use serde::{Deserialize, Serialize};

const SLEEP: Duration = Duration::from_millis(1);

/// A smaller lateness is remembered as a number only.
const LATE: Duration = Duration::from_millis(1);

/// So many late moments are remembered with their instants. If there are more, the oldest is forgotten, and
/// the next one takes over its lateness, if that was greater.
const MOST: usize = 10_000;

/// The width of a bar of the histogram, in microseconds, and the number of bars. The last is open.
const BAR: u128 = 50;
const BARS: usize = 4_000;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Jitter {
    #[serde(rename = "jitter_ms", with = "milliseconds_of")]
    pub most: Duration,
    /// Ninety-nine of a hundred moments were at most so late.
    #[serde(rename = "jitter_p99_ms", with = "milliseconds_of")]
    pub p99: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Late {
    pub all: Duration,
    /// The greatest part of a lateness that was no wait for a processor.
    pub unexplained: Duration,
}

impl Late {
    fn max(self, other: Late) -> Late {
        Late { all: self.all.max(other.all), unexplained: self.unexplained.max(other.unexplained) }
    }
}

#[derive(Debug)]
pub struct JitterProbe(Arc<SharedJitter>);

#[derive(Debug)]
struct SharedJitter {
    stops: AtomicBool,
    noted: Mutex<Noted>,
}

#[derive(Debug)]
struct Noted {
    /// The instant at which each thread should be awake again.
    due: Vec<Option<Instant>>,
    late: VecDeque<(Instant, Late)>,
    bars: Vec<u32>,
    most: Duration,
}

impl Noted {
    /// Notes a lateness. `unexplained` is the part that was no wait for a processor.
    fn note(&mut self, at: Instant, late: Duration, unexplained: Duration) {
        let bar = usize::try_from(late.as_micros() / BAR).unwrap_or(BARS).min(BARS - 1);
        self.bars[bar] = self.bars[bar].saturating_add(1);
        self.most = self.most.max(late);
        if late < LATE {
            return;
        }
        if self.late.len() == MOST
            && let Some((_, dropped)) = self.late.pop_front()
            && let Some((_, oldest)) = self.late.front_mut()
        {
            *oldest = dropped.max(*oldest);
        }
        self.late.push_back((at, Late { all: late, unexplained }));
    }

    /// Returns the end of the bar that has, with the bars below it, ninety-nine of a hundred moments.
    fn p99(&self) -> Duration {
        let all: u64 = self.bars.iter().map(|count| u64::from(*count)).sum();
        let mut below = 0;
        for (at, count) in self.bars.iter().enumerate() {
            below += u64::from(*count);
            if below * 100 >= all * 99 && below > 0 {
                let end = Duration::from_micros(u64::try_from((at as u128 + 1) * BAR).unwrap_or(u64::MAX));
                return if at + 1 == BARS { self.most } else { end.min(self.most) };
            }
        }
        Duration::ZERO
    }
}

impl JitterProbe {
    /// Begins to measure. If the machine has no thread for it, only the driver's own waits are noted.
    pub fn start() -> JitterProbe {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(8);
        let due = vec![None; threads];
        let noted = Noted { due, late: VecDeque::new(), bars: vec![0; BARS], most: Duration::ZERO };
        let shared = Arc::new(SharedJitter { stops: AtomicBool::new(false), noted: Mutex::new(noted) });
        for number in 0..threads {
            let theirs = shared.clone();
            let work = move || {
                let waits = OwnWaits::open();
                while !theirs.stops.load(Ordering::Relaxed) {
                    let before = waits.read();
                    let due = Instant::now() + SLEEP;
                    theirs.with(|noted| noted.due[number] = Some(due));
                    thread::sleep(SLEEP);
                    let now = Instant::now();
                    let late = now.saturating_duration_since(due);
                    let waited =
                        if late < LATE { Duration::ZERO } else { waits.read().saturating_sub(before) };
                    theirs.with(|noted| noted.note(now, late, late.saturating_sub(waited)));
                }
                theirs.with(|noted| noted.due[number] = None);
            };
            drop(thread::Builder::new().name("jitter".to_owned()).spawn(work));
        }
        JitterProbe(shared)
    }

    /// Notes that a wait of ours, which should have ended at `due`, has ended now.
    pub fn note_wake(&self, due: Instant) {
        let now = Instant::now();
        // The caller counts how long this thread waited for a processor.
        self.0.with(|noted| noted.note(now, now.saturating_duration_since(due), Duration::ZERO));
    }

    /// Returns the greatest lateness since this instant, that of a sleep that is not over included.
    pub fn since(&self, instant: Instant) -> Late {
        let late = self.0.with(|noted| {
            let past = noted.late.iter().filter(|(at, _)| *at >= instant).map(|(_, late)| *late);
            let pending = noted.due.iter().flatten().map(|due| Late {
                all: Instant::now().saturating_duration_since(*due),
                unexplained: Duration::ZERO,
            });
            past.chain(pending).fold(Late::default(), Late::max)
        });
        Late { all: round_up_to_micros(late.all), unexplained: round_up_to_micros(late.unexplained) }
    }

    pub fn measured(&self) -> Jitter {
        self.0.with(|noted| Jitter {
            most: round_up_to_micros(noted.most),
            p99: round_up_to_micros(noted.p99()),
        })
    }
}

/// Rounds up to whole microseconds, as records have them.
pub fn round_up_to_micros(time: Duration) -> Duration {
    Duration::from_micros(u64::try_from(time.as_nanos().div_ceil(1000)).unwrap_or(u64::MAX))
}

/// Reads how long this thread has waited for a processor. The file stays open for that.
struct OwnWaits(Option<File>);

impl OwnWaits {
    fn open() -> Self {
        OwnWaits(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Reads how long the thread has waited for a processor so far; 0 if the kernel does not say.
    fn read(&self) -> Duration {
        let mut bytes = [0; 96];
        let read = self.0.as_ref().and_then(|file| file.read_at(&mut bytes, 0).ok()).unwrap_or(0);
        let text = std::str::from_utf8(&bytes[..read]).unwrap_or_default();
        let waited = text.split_whitespace().nth(1).and_then(|number| number.parse().ok());
        Duration::from_nanos(waited.unwrap_or(0))
    }
}

impl Drop for JitterProbe {
    fn drop(&mut self) {
        self.0.stops.store(true, Ordering::Relaxed);
    }
}

impl SharedJitter {
    fn with<R>(&self, work: impl FnOnce(&mut Noted) -> R) -> R {
        work(&mut lock(&self.noted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted() -> Noted {
        Noted { due: Vec::new(), late: VecDeque::new(), bars: vec![0; BARS], most: Duration::ZERO }
    }

    #[test]
    fn of_a_hundred_moments_ninety_nine_are_at_most_so_late() {
        let (mut noted, now) = (noted(), Instant::now());
        (0..99).for_each(|_| noted.note(now, Duration::from_micros(120), Duration::ZERO));
        noted.note(now, Duration::from_millis(70), Duration::from_millis(1));
        assert_eq!(noted.p99(), Duration::from_micros(150));
        noted.note(now, Duration::from_millis(80), Duration::from_millis(1));
        assert_eq!(noted.p99(), Duration::from_micros(70_050));
        assert_eq!(noted.most, Duration::from_millis(80));
    }

    #[test]
    fn what_is_forgotten_is_not_taken_for_less() {
        let (mut noted, now) = (noted(), Instant::now());
        noted.note(now, Duration::from_millis(300), Duration::from_millis(1));
        (0..2 * MOST).for_each(|_| noted.note(now, Duration::from_millis(2), Duration::from_millis(1)));
        let worst = noted.late.iter().map(|(_, late)| late.all).max();
        assert_eq!(worst, Some(Duration::from_millis(300)));
    }
}
