//! The end of the program while runs are under way. Such a run does not count.
//!
//! **Problem.** When a signal or a limit ends the program, the processes that runs have launched are killed.
//! To a run that looks as if the implementation did it: it hangs up, is lost, or cannot be started. A verdict
//! on that would stay in a store for ever.
//!
//! **Method.** A flag is set before anything is killed, by the signal's own handler if there is one
//! ([`keeper::ending_flag`]). A run looks at the flag after it has been judged: whatever the end has done to
//! the run, the flag was set before. If it is set, the code that drove the run does not return
//! ([`stop_if_ending`]), so nothing can be reported, counted, kept or done again.
//!
//! **A signal to many** (to a service with all its processes) may reach the implementation before us. So a
//! run whose outcome such a signal may have decided waits for [`WINDOW`], to see whether we are ended, too.
//! This is a run that broke, or one whose system has ended or closed its connection. Other runs do not wait.
//! After a Fail we look a little longer whether the system ends (`LAST_WORDS`): it may say that it is being
//! ended. An implementation that is killed earlier than that before us, or together with us by a signal that
//! nobody can handle, looks like one that ends by itself. Nothing is written of it within that window.

use std::thread;
use std::time::{Duration, Instant};

use coreach_adapters::evidence::{EvidenceItem, set_phase};
use coreach_adapters::times::SHORT_PAUSE;
use coreach_adapters::{Adapter, Failure, Teardown, keeper};
use coreach_model::{Verdict, budget};

use crate::run::Outcome;

/// How long a run waits for a signal to coreach itself, after its implementation has ended.
pub const WINDOW: Duration = Duration::from_millis(200);

/// How long a system may take to end after its last message, which may announce the end.
const LAST_WORDS: Duration = Duration::from_millis(10);

/// Returns at once unless the program is ending. Then it does not return: it unwinds to the work that is
/// given up ([`budget::ask_now`]), or waits for the end.
pub fn stop_if_ending() {
    while keeper::is_ending() {
        budget::ask_now();
        thread::sleep(SHORT_PAUSE);
    }
}

/// Ends the session of a run with this outcome. Returns what the tester waited for, and the messages on the
/// wire. Does not return if the program is ending.
pub(crate) fn end_session(
    adapter: &mut dyn Adapter,
    begin: Instant,
    ready: Option<Duration>,
    outcome: &Outcome,
) -> (Option<Teardown>, Vec<EvidenceItem>) {
    let over = Instant::now();
    let doubtful = doubtful_since(adapter, outcome, over);
    let wait = doubtful.map_or(Duration::ZERO, |since| WINDOW.saturating_sub(since.elapsed()));
    let teardown = adapter.tear_down();
    let wire = set_phase(adapter.evidence(begin), ready, over - begin);
    adapter.stop();
    // Looks are counted, not time: if the machine keeps us from running, we hear of a signal later, too.
    for _ in 0..wait.as_millis() / SHORT_PAUSE.as_millis() {
        if keeper::is_ending() {
            break;
        }
        thread::sleep(SHORT_PAUSE);
    }
    stop_if_ending();
    (teardown, wire)
}

/// Returns the instant at which the implementation ended or closed its connection, if that may have decided
/// the run. `over` is the end of the run. After a run that broke, it counts as the instant of the end.
fn doubtful_since(adapter: &dyn Adapter, outcome: &Outcome, over: Instant) -> Option<Instant> {
    match outcome {
        // The IUT file or the model is to blame, and no end.
        Outcome::RunError(Failure::Untranslatable(_)) => None,
        Outcome::RunError(_) => Some(over),
        Outcome::Verdict(Verdict::Fail, _) => adapter.ended(over + LAST_WORDS),
        Outcome::Verdict(..) => adapter.ended(over),
    }
}
