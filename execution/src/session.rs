//! A session: a judge meets an implementation, run after run.
//!
//! **Problem.** Whoever makes runs (`coreach test`, a campaign, mutants, shrinking, a replay, a test in Rust;
//! timed or not) needs the same begin and the same end of a run, and the same seed has to make the same
//! choices for all of them.
//!
//! **Method.** The session has what lasts: the judge, how it is driven, and the way to the implementation.
//! What chooses is made anew for each run: the strategy is given away, values and solver are made here. So a
//! run knows nothing of those before it. The loops are `tester.rs` (by a strategy),
//! [`mod@crate::replay`] (by a script) and [`crate::timed::driver`]; a session begins and ends runs for each
//! of them.

use std::thread;
use std::time::{Duration, Instant};

use coreach_adapters::{Adapter, Failure, Session};
use coreach_model::budget::{self, Budget, Limit};
use coreach_model::{Datum, Value, Verdict};

use crate::interruption::finish;
use crate::judge::Judge;
use crate::run::{Cause, Outcome, Run, RunStep};
use crate::settings::Settings;

/// A judge that meets an implementation.
pub struct TestSession<'a> {
    /// Says what may be done and what is allowed. Each run begins it anew.
    pub judge: &'a mut dyn Judge,
    /// Limits and waiting.
    pub settings: &'a Settings,
    /// The way to the implementation.
    pub adapter: &'a mut dyn Adapter,
}

/// A run that has begun.
pub(crate) struct Begun {
    seed: u64,
    pub(crate) constants: Vec<(Datum, Value)>,
    /// When that was.
    pub(crate) real: Instant,
    /// The same by the adapter's clock, where it has one of its own.
    pub(crate) begin: Instant,
    /// Until when it may last, by that clock.
    pub(crate) deadline: Instant,
    /// How long it took to bring the system up.
    ready: Option<Duration>,
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

    /// Brings the system up.
    pub(crate) fn start(&mut self, begun: &mut Begun) -> Result<(), Failure> {
        let timed = self.judge.scene().and_then(|(test, _)| test.timed.as_ref());
        let iosts = timed.map_or(self.judge.iosts(), |timed| &timed.wire);
        let Begun { seed, ref constants, deadline, .. } = *begun;
        if !self.adapter.is_ordered() && self.judge.link().is_none() {
            let message = match timed {
                Some(_) => "a timed run has one connection: between several, nobody knows what came first",
                None => "what is judged here has one connection: the order between several is not looked at",
            };
            return Err(Failure::Untranslatable(message.to_owned()));
        }
        self.adapter.start(&Session { iosts, constants, seed, deadline })?;
        begun.ready = Some(begun.real.elapsed());
        Ok(())
    }

    /// Leaves the system, and says what happened.
    pub(crate) fn end(&mut self, begun: Begun, trace: Vec<RunStep>, outcome: Outcome) -> Run {
        let (teardown, wire) = finish(self.adapter, begun.real, begun.ready, &outcome);
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

/// Runs, and runs again where that ended without a verdict, at most so many times. What broke may be gone
/// after a moment, so each time there is a longer pause before it.
pub fn retrying(retries: usize, mut once: impl FnMut() -> Run) -> Run {
    const PAUSE: Duration = Duration::from_millis(50);
    const LONGEST: u32 = 20;
    let mut retried = 0;
    loop {
        let run = once();
        if retried >= retries || !matches!(run.outcome, Outcome::RunError(_)) {
            return Run { retried, ..run };
        }
        retried += 1;
        thread::sleep(PAUSE * u32::try_from(retried).unwrap_or(LONGEST).min(LONGEST));
    }
}

/// Does what a run does, and ends it at its limits even in the middle of a step: evaluation asks for time,
/// and computes no number that is too long.
pub(crate) fn bounded(settings: &Settings, work: impl FnOnce() -> Outcome) -> Outcome {
    let budget = Budget::new("run", Some(Limit::Clock(settings.time)), false);
    budget::within(&budget, work).unwrap_or_else(|passed| match passed.limit {
        Limit::Digits(limit) => Outcome::inconclusive(Cause::Digits(limit)),
        // Nothing else passes the budget of a run.
        _ => Outcome::inconclusive(Cause::Time(settings.time)),
    })
}

/// What a run comes to that silence has ended: where nothing could have been heard, it is no failure.
pub(crate) fn heard(outcome: Outcome, hears: bool) -> Outcome {
    match outcome {
        Outcome::Verdict(Verdict::Fail, cause @ Cause::Silence(_)) if !hears => Outcome::inconclusive(cause),
        other => other,
    }
}
