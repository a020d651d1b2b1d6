//! A session: a judge meets an implementation, run after run.
//!
//! **Problem.** All makers of runs (`coreach test`, a campaign, mutants, shrinking, a replay, a test in Rust;
//! timed or not) need the same begin and the same end of a run, and the same seed has to make the same
//! choices for all of them.
//!
//! **Method.** The session holds what lasts: the judge, the settings, and the adapter. Everything that
//! chooses is made anew for each run: the strategy is passed by value, values and solver are made here. So a
//! run knows nothing of the runs before it.
//!
//! A session begins and ends each run, and `drive` is the loop of each run. It asks a `Driver` for one
//! turn after the other: `tester.rs` (by a strategy), [`mod@crate::replay`] (by a script) or
//! [`crate::timed::driver`] (at instants).
//!
//! **Ends**: at a verdict, at the limit of steps, at the limit of time, or before a number that is too long.

use std::thread;
use std::time::{Duration, Instant};

use coreach_adapters::{Adapter, Failure, Session};
use coreach_model::budget::{self, Budget, Limit};
use coreach_model::{Datum, Value, Verdict};

use crate::interruption::end_session;
use crate::judge::{Judge, Judged};
use crate::run::{Cause, Occurrence, Outcome, Run, RunStep, events};
use crate::settings::Settings;

pub struct TestSession<'a> {
    /// Says what may be done and what is allowed. Each run begins it anew.
    pub judge: &'a mut dyn Judge,
    pub settings: &'a Settings,
    pub adapter: &'a mut dyn Adapter,
}

pub(crate) struct Begun {
    seed: u64,
    pub(crate) constants: Vec<(Datum, Value)>,
    /// When it began, by this machine's clock.
    pub(crate) real: Instant,
    /// When it began, by the adapter's clock if that has one of its own.
    pub(crate) begin: Instant,
    /// When it must end, by the same clock as `begin`.
    pub(crate) deadline: Instant,
    /// How long the start of the system took.
    ready: Option<Duration>,
}

impl Begun {
    pub(crate) fn running<'s, 'a>(&self, session: &'s mut TestSession<'a>) -> Running<'s, 'a> {
        Running { session, begin: self.begin, deadline: self.deadline, trace: Vec::new() }
    }
}

impl TestSession<'_> {
    /// Brings the judge to its initial state.
    pub(crate) fn begin(&mut self, seed: u64) -> Begun {
        let real = Instant::now();
        self.judge.begin();
        let begin = self.adapter.now().unwrap_or(real);
        let deadline = begin + self.settings.time;
        Begun { seed, constants: self.judge.constants(), real, begin, deadline, ready: None }
    }

    /// Starts the system. A judge that does not look at a link needs an adapter with one connection.
    pub(crate) fn start_system(&mut self, begun: &mut Begun) -> Result<(), Failure> {
        let timed = self.judge.scene().and_then(|(test, _)| test.timed.as_ref());
        let iosts = timed.map_or(self.judge.iosts(), |timed| &timed.wire);
        let Begun { seed, ref constants, deadline, .. } = *begun;
        if !self.adapter.is_ordered() && self.judge.link().is_none() {
            let message = match timed {
                Some(_) => "a timed run has one connection: between several, the order is not known",
                None => "this judge needs one connection: it does not look at the order between several",
            };
            return Err(Failure::Untranslatable(message.to_owned()));
        }
        self.adapter.start(&Session { iosts, constants, seed, deadline })?;
        begun.ready = Some(begun.real.elapsed());
        Ok(())
    }

    /// Ends the session with the system, and puts the run together.
    pub(crate) fn end(&mut self, begun: Begun, trace: Vec<RunStep>, outcome: Outcome) -> Run {
        let (teardown, wire) = end_session(self.adapter, begun.real, begun.ready, &outcome);
        Run {
            constants: begun.constants,
            seed: begun.seed,
            trace,
            outcome,
            end: self.judge.shown(),
            mix: Default::default(),
            link: self.judge.link(),
            crossed: self.judge.crossed(),
            teardown,
            wire,
            retried: 0,
            timing: None,
            time: begun.real.elapsed(),
        }
    }
}

/// Runs, and repeats the run if it ended without a verdict, at most `retries` times. The cause may be gone
/// after a moment, so each repetition comes after a longer pause, of at most a second.
pub fn run_with_retries(retries: usize, mut once: impl FnMut() -> Run) -> Run {
    let mut retried = 0;
    loop {
        let run = once();
        if retried >= retries || !matches!(run.outcome, Outcome::RunError(_)) {
            return Run { retried, ..run };
        }
        retried += 1;
        thread::sleep(Duration::from_millis(50 * retried.min(20) as u64));
    }
}

/// Does the work of a run within its limits, even in the middle of a step: evaluation checks the time, and
/// computes no number that is too long.
pub(crate) fn run_within_limits(settings: &Settings, work: impl FnOnce() -> Outcome) -> Outcome {
    let is_certain = false;
    let budget = Budget::new("run", Some(Limit::Clock(settings.time)), is_certain);
    budget::within(&budget, work).unwrap_or_else(|passed| match passed.limit {
        Limit::Digits(limit) => Outcome::inconclusive(Cause::Digits(limit)),
        // Nothing else passes the budget of a run.
        _ => Outcome::inconclusive(Cause::Time(settings.time)),
    })
}

pub(crate) enum Progress {
    Moved,
    Nothing,
    Over(Outcome),
}

impl Progress {
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Progress::Nothing)
    }

    /// Turns a Fail by silence into Inconclusive if nothing could have been heard.
    pub(crate) fn if_heard(self, hears: bool) -> Progress {
        match self {
            Progress::Over(Outcome::Verdict(Verdict::Fail, cause @ Cause::Silence(_))) if !hears => {
                Progress::Over(Outcome::inconclusive(cause))
            }
            other => other,
        }
    }
}

/// A run under way: its session, and the trace until now.
pub(crate) struct Running<'s, 'a> {
    pub(crate) session: &'s mut TestSession<'a>,
    pub(crate) begin: Instant,
    pub(crate) deadline: Instant,
    pub(crate) trace: Vec<RunStep>,
}

impl Running<'_, '_> {
    /// Shows an occurrence to the judge. If the judge follows it, it is a step of the trace.
    pub(crate) fn show(&mut self, what: Occurrence, at: Duration) -> Progress {
        match self.session.judge.take(&what) {
            Judged::Followed(transition) => {
                self.trace.push(RunStep { what, transition, at });
                Progress::Moved
            }
            Judged::Ends(verdict, cause) => Progress::Over(Outcome::Verdict(verdict, cause)),
        }
    }

    /// Shows the judge a text that is no event.
    pub(crate) fn show_alien(&self, text: String) -> Progress {
        match self.session.judge.alien(text) {
            Judged::Ends(verdict, cause) => Progress::Over(Outcome::Verdict(verdict, cause)),
            Judged::Followed(_) => Progress::Moved,
        }
    }

    pub(crate) fn silence(&self) -> Duration {
        self.session.settings.silence(self.session.judge, &self.trace)
    }

    /// Returns the outcome of a run whose time is over.
    pub(crate) fn out_of_time(&self) -> Outcome {
        Outcome::inconclusive(Cause::Time(self.session.settings.time))
    }

    /// Was silence the last thing that happened?
    pub(crate) fn was_silent(&self) -> bool {
        matches!(self.trace.last(), Some(RunStep { what: Occurrence::Silence(_), .. }))
    }
}

/// Decides what is done next in a run.
pub(crate) trait Driver<'a> {
    fn running(&self) -> &Running<'_, 'a>;

    /// Returns the present time, by the clock of the run's deadline.
    fn now(&self) -> Instant {
        Instant::now()
    }

    /// Sends something, or waits until something happens.
    fn take_turn(&mut self) -> Result<Progress, Failure>;
}

/// Takes turns until the run is over.
pub(crate) fn take_turns(driver: &mut dyn Driver<'_>) -> Outcome {
    loop {
        let running = driver.running();
        if let Some(verdict) = running.session.judge.verdict() {
            return Outcome::Verdict(verdict, Cause::Event);
        }
        let steps = running.session.settings.steps;
        if events(&running.trace) >= steps {
            return Outcome::inconclusive(Cause::Steps(steps));
        }
        if driver.now() >= running.deadline {
            return running.out_of_time();
        }
        match driver.take_turn() {
            Ok(Progress::Over(outcome)) => return outcome,
            Ok(Progress::Moved | Progress::Nothing) => {}
            Err(failure) => return Outcome::RunError(failure),
        }
    }
}
