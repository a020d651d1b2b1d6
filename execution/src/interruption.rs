//! The end of the program while runs are under way: such a run is no run.
//!
//! **Problem.** An end that a signal or a limit brings kills what runs have launched. To a run that looks as
//! if the implementation did it: it hangs up, is lost, cannot be started; a verdict on that, once it is in a
//! store, is there for ever.
//!
//! **Method.** A flag is set before anything is killed, by the signal's own handler where there is one
//! ([`keeper::ending_flag`]). A run looks at it when it has been judged: what the end has done to the run,
//! it did behind the flag. Where it is set, whoever drove the run does not come back ([`stop_if_ending`]), so
//! nothing can be told, counted, kept or done again.
//!
//! **A signal to many** (a service that is ended with all that belongs to it) may meet the implementation
//! before us. So a run whose outcome an end may have decided waits ([`WINDOW`]) whether we are ended, too:
//! one that broke, and one whose system has ended or closed its connection. Other runs do not wait, but for a
//! Fail, behind which one looks for that end a little longer (`LAST_WORDS`): a system may say that it is
//! ended. What is ended earlier than that before us, or killed with us by a signal that nobody can handle,
//! cannot be told from an implementation that ends by itself; of the latter nothing is written within that
//! window.

use std::thread;
use std::time::{Duration, Instant};

use coreach_adapters::evidence::{EvidenceItem, set_phase};
use coreach_adapters::{Adapter, Failure, Teardown, keeper};
use coreach_model::{Verdict, budget};

use crate::run::Outcome;

/// So long after an end of the implementation that may have decided a run, the program's own end may come.
pub const WINDOW: Duration = Duration::from_millis(200);

/// So long after its last words a system that says something at its end may end.
const LAST_WORDS: Duration = Duration::from_millis(10);

const LOOK: Duration = Duration::from_millis(1);

/// Where the program is ending, this does not return: it unwinds to the work that is given up
/// ([`budget::ask_now`]), or waits for the end.
pub fn stop_if_ending() {
    while keeper::is_ending() {
        budget::ask_now();
        thread::sleep(LOOK);
    }
}

/// Ends the session of a run that has come to this. What was waited for then, and what went over the wire.
/// Does not return where the program is ending.
pub(crate) fn finish(
    adapter: &mut dyn Adapter,
    begin: Instant,
    ready: Option<Duration>,
    outcome: &Outcome,
) -> (Option<Teardown>, Vec<EvidenceItem>) {
    let over = Instant::now();
    let doubtful = doubtful_since(adapter, outcome, over);
    let rest = doubtful.map_or(Duration::ZERO, |since| WINDOW.saturating_sub(since.elapsed()));
    let teardown = adapter.tear_down();
    let wire = set_phase(adapter.evidence(begin), ready, over - begin);
    adapter.stop();
    // Counted and not measured: where the machine keeps us from running, we hear of a signal later, too.
    for _ in 0..rest.as_millis() / LOOK.as_millis() {
        if keeper::is_ending() {
            break;
        }
        thread::sleep(LOOK);
    }
    stop_if_ending();
    (teardown, wire)
}

/// When the implementation ended, where that may have decided the run.
fn doubtful_since(adapter: &dyn Adapter, outcome: &Outcome, over: Instant) -> Option<Instant> {
    match outcome {
        // A setting is missing, whatever ends.
        Outcome::RunError(Failure::Untranslatable(_)) => None,
        Outcome::RunError(_) => Some(over),
        Outcome::Verdict(Verdict::Fail, _) => adapter.ended(over + LAST_WORDS),
        Outcome::Verdict(..) => adapter.ended(over),
    }
}
