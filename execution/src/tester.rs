//! The tester: drives a judge, today a test case, against an implementation until there is a verdict.
//!
//! **Problem.** A judge knows what may happen; an implementation is a black box that answers when it likes. Follow the
//! events that really happen, send only what the judge allows, and end with the verdict that it gives, never with one that
//! it does not (thesis, chapter 6: TC || I, both instantiated with the same constants).
//!
//! **Method.** In each state: first take what has already arrived, so that a stimulus does not overtake an observation.
//! Then try the moves in the order of the strategy. A stimulus gets values from the judge, is sent, and then shown to it;
//! an observation is shown as it comes. Where there is nothing to send and nothing comes within the limit, silence is shown
//! like an event: it is the judge who says what it means. What was followed is a step of the trace.
//!
//! A judge that looks at a link is shown how long nothing has come (`clock.rs`). An adapter that would keep a stimulus
//! back gets none.
//!
//! What an adapter reports as no event at all is a Fail with that cause (Definition 6.2: the output is in no Out). What
//! breaks in between is no verdict.
//!
//! **Ends**: at a verdict, at the limit of steps, at the limit of time, or before a number that is too long. **Costs** the
//! implementation, the values and the judge.

use std::collections::{BTreeMap, HashMap};
use std::thread;
use std::time::{Duration, Instant};

use coreach_adapters::behaviour::{TOLERANCE, Within};
use coreach_adapters::{Adapter, Failure, Received, Sent, Session};
use coreach_analyses::solver::Solver;
use coreach_model::budget::{self, Budget, Limit};
use coreach_model::random::Random;
use coreach_model::{TransitionId, Verdict};

use crate::clock::Clock;
use crate::interruption::finish;
use crate::judge::{AfterSilence, Choice, Judge, Judged};
use crate::pauses::{self, Pauses};
use crate::run::{Cause, Occurrence, Outcome, Run, Step, events};
use crate::strategy::{Move, Strategy, order};
use crate::timed;
use crate::values::Values;

/// How a run is driven.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How long silence must last to be quiescence.
    pub quiescence: Duration,
    /// The same for single locations, by name.
    pub quiescence_at: HashMap<String, Duration>,
    /// How long a reply may take, as the implementation's file says it: before [`Settings::quiescence`], behind
    /// [`Settings::quiescence_at`].
    pub within: Within,
    /// How long to wait for an observation where a stimulus could be sent as well.
    pub patience: Duration,
    /// The most events of a run.
    pub steps: usize,
    /// The longest time of a run.
    pub time: Duration,
    /// Of a timed run, how far an instant may have been from where it was measured: what a carrier, an operating system and an
    /// adapter take.
    pub tolerance: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            quiescence: Duration::from_secs(1),
            quiescence_at: HashMap::new(),
            within: Within::default(),
            patience: Duration::from_millis(20),
            steps: 1000,
            time: Duration::from_secs(60),
            tolerance: TOLERANCE,
        }
    }
}

impl Settings {
    /// How long silence must last where the judge is, after this trace.
    pub(crate) fn silence(&self, judge: &dyn Judge, trace: &[Step]) -> Duration {
        if let Some(time) = self.quiescence_at.get(judge.place()) {
            return *time;
        }
        if self.within.is_empty() {
            return self.quiescence;
        }
        let last = trace.iter().rev().find_map(|step| step.what.event()).map(|event| event.action.as_str());
        self.within.of(&judge.specification_locations(), last).unwrap_or(self.quiescence)
    }
}

/// What a run takes: who judges, how it is driven, against what, with which choices.
pub struct Drive<'a, 'b> {
    /// Says what may be done and what is allowed. It is begun anew.
    pub judge: &'a mut dyn Judge,
    /// The seed of all choices.
    pub seed: u64,
    /// Limits and waiting.
    pub settings: &'a Settings,
    /// The way to the implementation.
    pub adapter: &'a mut dyn Adapter,
    /// Orders the moves.
    pub strategy: &'a mut Strategy<'b>,
    /// The source of values for stimuli.
    pub values: &'a mut Values,
    /// For values that cannot be drawn.
    pub solver: &'a mut dyn Solver,
}

/// A run that is under way.
struct Driver<'a, 'b> {
    drive: Drive<'a, 'b>,
    random: Random,
    trace: Vec<Step>,
    clock: Clock,
    pauses: Pauses,
    begin: Instant,
    deadline: Instant,
}

/// Runs once.
pub fn run(drive: Drive<'_, '_>) -> Run {
    if let Some(timed) = drive.judge.scene().and_then(|(test, _)| test.timed.clone()) {
        return timed::strategy::run(drive, timed);
    }
    let begin = Instant::now();
    drive.judge.begin();
    drive.strategy.begin(drive.judge);
    let seed = drive.seed;
    let constants = drive.judge.constants();
    drive.values.begin(&constants);
    let settings = drive.settings;
    let deadline = begin + settings.time;
    let random = Random::new(seed);
    let (clock, pauses) = (Clock::new(begin), Pauses::default());
    let mut driver = Driver { drive, random, trace: Vec::new(), clock, pauses, begin, deadline };
    let mut ready = None;
    let outcome = match driver.verdict_here() {
        // The initial location may be Pass: then nothing is to be done.
        Some(outcome) => outcome,
        None => {
            let Drive { judge, adapter, .. } = &mut driver.drive;
            let session = Session { iosts: judge.iosts(), constants: &constants, seed, deadline };
            match adapter.start(&session) {
                Ok(()) => {
                    ready = Some(begin.elapsed());
                    bounded(settings, || driver.drive())
                }
                Err(failure) => Outcome::RunError(failure),
            }
        }
    };
    let Driver { drive: Drive { judge, adapter, values, .. }, trace, .. } = driver;
    let (settled, wire) = finish(adapter, begin, ready, &outcome);
    let mix: BTreeMap<_, _> = values.end();
    let (end, link, crossed) = (judge.shown(), judge.link(), judge.crossed());
    Run {
        constants,
        seed,
        trace,
        outcome,
        end,
        mix,
        link,
        crossed,
        settled,
        wire,
        retried: 0,
        timing: None,
        time: begin.elapsed(),
    }
}

/// Runs, and runs again where that ended without a verdict, at most so many times. What broke may be gone after a moment, so
/// each time there is a longer pause before it.
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

/// Does what a run does, and ends it at its limits even in the middle of a step: evaluation asks for time, and computes no
/// number that is too long.
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

/// What a move came to.
enum Progress {
    /// There was an event.
    Moved,
    /// Nothing happened: try the next move.
    Nothing,
    /// It is over.
    Over(Outcome),
}

impl Driver<'_, '_> {
    fn drive(&mut self) -> Outcome {
        let Settings { steps, time, .. } = *self.drive.settings;
        loop {
            if let Some(outcome) = self.verdict_here() {
                return outcome;
            }
            if events(&self.trace) >= steps {
                return Outcome::inconclusive(Cause::Steps(steps));
            }
            if Instant::now() >= self.deadline {
                return Outcome::inconclusive(Cause::Time(time));
            }
            match self.observe(self.begin) {
                Ok(Progress::Moved) => continue,
                Ok(Progress::Over(outcome)) => return outcome,
                Ok(Progress::Nothing) => {}
                Err(failure) => return Outcome::RunError(failure),
            }
            match self.step() {
                Ok(Progress::Over(outcome)) => return outcome,
                Ok(_) => {}
                Err(failure) => return Outcome::RunError(failure),
            }
        }
    }

    fn verdict_here(&self) -> Option<Outcome> {
        self.drive.judge.verdict().map(|verdict| Outcome::Verdict(verdict, Cause::Event))
    }

    /// Tries the moves of this state until one makes something happen.
    fn step(&mut self) -> Result<Progress, Failure> {
        let Some(moves) = order(self.drive.strategy, self.drive.judge, &mut self.random, self.drive.solver)
        else {
            return Ok(Progress::Over(Outcome::inconclusive(self.drive.strategy.cause())));
        };
        let quiescence = self.drive.settings.silence(self.drive.judge, &self.trace);
        self.pauses = Pauses::default();
        let mut waited = Duration::ZERO;
        let silence = self.drive.judge.silence();
        // One more silence after another tells nothing, and none where nothing could have been heard.
        let was_silent = matches!(self.trace.last(), Some(Step { what: Occurrence::Silence(_), .. }));
        let is_new = !was_silent || silence == Some(AfterSilence::Decides);
        // What is under way must have been taken before silence means something.
        let is_over = self.drive.judge.link().is_none_or(|delay| quiescence >= delay);
        let tells = is_new && is_over && self.drive.adapter.hears();
        let silence = silence.filter(|_| tells);
        let takes_stimuli = self.drive.adapter.takes_stimuli();
        for (position, one) in moves.iter().enumerate() {
            let progress = match one {
                Move::Send(_) if !takes_stimuli => Progress::Nothing,
                Move::Send(number) => self.send(*number)?,
                Move::Wait => {
                    let decides = silence == Some(AfterSilence::Decides);
                    let whole = position + 1 == moves.len() || self.drive.strategy.waits() || decides;
                    waited = if whole { quiescence } else { self.drive.settings.patience.min(quiescence) };
                    match self.observe(Instant::now() + waited)? {
                        Progress::Nothing if whole && silence.is_some() => {
                            return self.silent(quiescence);
                        }
                        other => other,
                    }
                }
            };
            if !matches!(progress, Progress::Nothing) {
                return Ok(progress);
            }
        }
        // No stimulus had values. If the wait was short, it gets its full length now.
        if !takes_stimuli || moves.contains(&Move::Wait) || self.drive.judge.offers().may_observe {
            if waited < quiescence {
                let progress = self.observe(Instant::now() + (quiescence - waited))?;
                if !matches!(progress, Progress::Nothing) {
                    return Ok(progress);
                }
            }
            if Instant::now() >= self.deadline {
                let time = self.drive.settings.time;
                return Ok(Progress::Over(Outcome::inconclusive(Cause::Time(time))));
            }
            if !tells && self.drive.judge.silence().is_some() {
                return Ok(Progress::Over(Outcome::inconclusive(Cause::Silence(quiescence))));
            }
            return self.silent(quiescence);
        }
        Ok(Progress::Over(Outcome::inconclusive(Cause::NothingToDo)))
    }

    /// Waits on for as long as the machine has kept the system from answering.
    fn had_its_time(&mut self, quiescence: Duration) -> Result<Progress, Failure> {
        let most = Instant::now() + pauses::most(quiescence);
        loop {
            let lost = self.pauses.lost(self.drive.adapter);
            if lost <= pauses::little(quiescence) {
                return Ok(Progress::Nothing);
            }
            if Instant::now() >= most {
                return Ok(Progress::Over(Outcome::inconclusive(Cause::Jitter(lost))));
            }
            self.pauses.again(self.drive.adapter);
            let progress = self.observe(Instant::now() + lost)?;
            if !matches!(progress, Progress::Nothing) {
                return Ok(progress);
            }
        }
    }

    /// Shows the judge that nothing has come for so long.
    fn silent(&mut self, quiescence: Duration) -> Result<Progress, Failure> {
        let progress = self.had_its_time(quiescence)?;
        if !matches!(progress, Progress::Nothing) {
            return Ok(progress);
        }
        if Instant::now() >= self.deadline {
            let time = self.drive.settings.time;
            return Ok(Progress::Over(Outcome::inconclusive(Cause::Time(time))));
        }
        let hears = self.drive.adapter.hears();
        Ok(match self.happened(Occurrence::Silence(quiescence)) {
            Progress::Over(outcome) => Progress::Over(heard(outcome, hears)),
            other => other,
        })
    }

    /// Sends the stimulus of a move, if there are values for it.
    fn send(&mut self, number: TransitionId) -> Result<Progress, Failure> {
        match self.time_passes(true) {
            Progress::Nothing => {}
            other => return Ok(other),
        }
        let Drive { judge, adapter, values, solver, strategy, .. } = &mut self.drive;
        let event = match strategy.planned(number).filter(|event| judge.can_send(event)) {
            Some(planned) => {
                values.planned();
                Some(planned.clone())
            }
            None => {
                let mut choice = Choice { values, random: &mut self.random, solver: *solver };
                judge.stimulus(number, &mut choice)
            }
        };
        let Some(event) = event else { return Ok(Progress::Nothing) };
        adapter.send(&event)?;
        match adapter.sent() {
            Sent::Yes => {}
            // What kept it back is seen at once.
            Sent::No => {
                let quiescence = self.drive.settings.silence(self.drive.judge, &self.trace);
                return self.observe(Instant::now() + quiescence);
            }
            Sent::Crossed => {
                self.happened(Occurrence::Stimulus(event));
                return Ok(Progress::Over(Outcome::inconclusive(Cause::Crossed)));
            }
        }
        self.clock.sent();
        Ok(self.happened(Occurrence::Stimulus(event)))
    }

    /// Takes an observation that comes until then, or before the deadline.
    fn observe(&mut self, until: Instant) -> Result<Progress, Failure> {
        let until = until.min(self.deadline);
        loop {
            let limit = self.pauses.limit(self.clock.limit(self.drive.judge, until));
            let asked = Instant::now();
            match self.drive.adapter.receive(limit)? {
                Received::Silence => {}
                Received::Alien(text) => {
                    return Ok(match self.drive.judge.alien(text) {
                        Judged::Ends(verdict, cause) => Progress::Over(Outcome::Verdict(verdict, cause)),
                        Judged::Followed(_) => Progress::Moved,
                    });
                }
                Received::Output(event) => return Ok(self.happened(Occurrence::Observation(event))),
            }
            self.clock.nothing(asked, limit);
            self.pauses.waited(self.drive.adapter, asked, limit);
            // Something may have been decided by that.
            match self.time_passes(false) {
                Progress::Nothing if limit >= until => return Ok(Progress::Nothing),
                Progress::Nothing => {}
                over => return Ok(over),
            }
        }
    }

    /// Shows the judge how long nothing has come, where it wants to know.
    fn time_passes(&mut self, is_sending: bool) -> Progress {
        let Some(time) = self.clock.passed(self.drive.judge, is_sending) else { return Progress::Nothing };
        match self.happened(Occurrence::Delay(time)) {
            Progress::Moved if self.drive.judge.verdict().is_none() => Progress::Nothing,
            other => other,
        }
    }

    /// Shows the judge what happened.
    fn happened(&mut self, what: Occurrence) -> Progress {
        let transition = match self.drive.judge.take(&what) {
            Judged::Followed(transition) => transition,
            Judged::Ends(verdict, cause) => return Progress::Over(Outcome::Verdict(verdict, cause)),
        };
        if let Some(event) = what.event() {
            self.drive.values.saw(&event.values);
        }
        if let Some(number) = transition {
            self.drive.strategy.took(number);
        }
        self.drive.strategy.happened(self.drive.judge, &what);
        self.trace.push(Step { what, transition, at: self.begin.elapsed() });
        Progress::Moved
    }
}
