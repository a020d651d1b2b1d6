//! The end of the program while runs are under way: such a run is no run.
//!
//! **Problem.** An end that a signal or a limit brings kills what runs have launched. To a run that looks as
//! if the implementation did it: it hangs up, is lost, cannot be started; a verdict on that, once it is in a
//! store, is there for ever.
//!
//! **Method.** A flag is set before anything is killed, by the signal's own handler where there is one
//! ([`marker::flag`]). A run looks at it when it has been judged: whatever the end has done to the run, it
//! did behind the flag. Where it is set, whoever drove the run does not come back ([`stop_if_ending`]), so
//! nothing can be told, counted, kept or done again.
//!
//! **A signal to many** (a service that is ended with all that belongs to it) may meet the implementation
//! before us. So a run that looks as if the implementation had ended waits for a moment (`MOMENT`) whether we
//! are ended, too. What is ended earlier than that before us, or killed with us by a signal that nobody can
//! handle, cannot be told from an implementation that ends by itself; of the latter nothing is written within
//! that moment.

use std::thread;
use std::time::{Duration, Instant};

use coreach_adapters::evidence::{EvidenceItem, phased};
use coreach_adapters::{Adapter, Teardown, marker};
use coreach_model::{Verdict, budget};

use crate::run::Outcome;

/// So long after a run that an end may have decided its own end may come.
const MOMENT: Duration = Duration::from_millis(50);

/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(1);

/// Where the program is ending, this does not return: it unwinds to the work that is given up
/// ([`budget::ask_now`]), or waits for the end.
pub fn stop_if_ending() {
    while marker::is_ending() {
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
    let is_doubtful = match outcome {
        Outcome::RunError(_) | Outcome::Verdict(Verdict::Fail, _) => true,
        Outcome::Verdict(..) => !adapter.hears(),
    };
    let may_be_ours = is_doubtful && marker::has_lost();
    let teardown = adapter.tear_down();
    let wire = phased(adapter.evidence(begin), ready, over - begin);
    adapter.stop();
    while may_be_ours && over.elapsed() < MOMENT && !marker::is_ending() {
        thread::sleep(LOOK);
    }
    stop_if_ending();
    (teardown, wire)
}
