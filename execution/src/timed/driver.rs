//! Drives a timed run, turn by turn.
//!
//! **Problem.** `tester.rs` sends when it likes. In a timed test case it matters *when* something is sent,
//! and when nothing has come.
//!
//! **Method.** Each turn takes what has arrived. Then the [`Director`] plans a stimulus with an instant, or a
//! wait, and the tester listens until that instant. If something comes before it, that is an observation with
//! its measured delay. At the instant the delay is measured once more, and the guard is evaluated with *that*
//! delay. If the window was missed, the director plans anew. If nothing else remains, the run is
//! Inconclusive, since the tester was late ([`Cause::Late`]). If nothing comes for as long as silence is, the
//! judge is shown silence of that length. If the run goes on and nothing has changed, it is shown silence of
//! twice that length, and so on. Silence that would end the run as Inconclusive does not end it while a
//! stimulus is planned.
//!
//! **Judged times.** A delay counts from the *judged* instant of the step before, so that the judged instants
//! stay with the real ones ([`super::tolerance`]). Before a Fail is given, all of them are moved
//! ([`super::history`]), within the tolerance and by the lateness of the machine since the step before. The
//! lateness is the time for which the kernel kept the system and the tester from running
//! ([`coreach_adapters::waited_time`]), and the time by which our threads woke too late ([`super::jitter`]).
//! If the kernel has counted the system's waits, the second counts once, and its part that was no wait for a
//! processor counts four times. Otherwise, and for silence, it counts four times, since a silent system may
//! be waiting still.
//!
//! **A late machine** does not end a run if some instants explain the observations: the run goes on with
//! them. But a Pass that only this explains is Inconclusive ([`Cause::Jitter`]). The run ends if only another
//! order explains the observations, or another event that was due ([`Otherwise::Unclear`]). The tester waits
//! on during silence that the machine explains, `PATIENT` times. If the tester has not started a system,
//! nobody says how long it was kept from running. Then a Fail that another delay would avoid is not given if
//! this machine was later than the tolerance.
//!
//! **The time for thinking** (plans, queries) is measured, and limited by the time of the run. An observation
//! that arrives meanwhile has a wide interval. **Ends** as each run does (`drive`).

use std::time::{Duration, Instant};

use coreach_adapters::times::SHORT_PAUSE;
use coreach_adapters::waited_time::{WaitedTime, read_own_waited_time};
use coreach_adapters::{Adapter, Failure, Received, Sent};
use coreach_analyses::solver::Solver;
use coreach_model::Verdict;
use coreach_model::semantics::{Event, State};
use dashu_ratio::RBig;

use crate::judge::{Judge, Judged};
use crate::run::{Cause, Occurrence, Outcome, Run, RunStep};
use crate::session::{Driver, Progress, Running, TestSession, run_within_limits, take_turns};
use crate::timed::history::{Allowance, Otherwise, Past, PossibleRun, StepInterval, find_other_instants};
use crate::timed::jitter::{Jitter, JitterProbe, round_up_to_micros};
use crate::timed::timing::Timing;
use crate::timed::tolerance::{DelayInterval, event_fails, nearest_delay, only_time_forbids};
use crate::timed::{delayed_by, exact_seconds, micros_up, with_delay, without_delay};

/// A process of others may be so many times as late as a thread of ours.
const HELD_UP: u32 = 4;

/// The tester waits for so many times `silence_after` during silence that the machine may have caused.
const PATIENT: u32 = 4;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TimedPlan {
    /// Send this event, at the delay in it.
    Send(Event),
    /// Wait, and plan anew at this delay. `None`: wait for an event or for the end of the time of silence.
    Wait(Option<RBig>),
    Over(Cause),
}

/// The facts by which a director plans.
pub struct Scene<'a> {
    pub judge: &'a mut dyn Judge,
    /// The time since the last step, in seconds.
    pub now: RBig,
    /// The tolerance; 0 on simulated time.
    pub tolerance: RBig,
    /// Would a stimulus be sent, and not kept back?
    pub takes_stimuli: bool,
    /// Would it be heard if something came now?
    pub hears: bool,
}

/// Plans the next move: a strategy, or a script.
pub trait Director {
    fn plan(&mut self, scene: Scene<'_>) -> TimedPlan;
    fn note_step(&mut self, step: &RunStep);
    /// Returns a solver for questions about instants.
    fn solver(&mut self) -> &mut dyn Solver;
}

struct TimedTester<'s, 'a, 'd> {
    /// The run. It began with the start of the system.
    running: Running<'s, 'a>,
    director: &'d mut dyn Director,
    silence_after: Duration,
    /// The beginning of the run for the judge: the system was ready.
    zero: Instant,
    initial: State,
    marks: Vec<StepInterval>,
    /// The judged instant of the last step.
    last: RBig,
    /// Until here, everything that has come was taken.
    taken_until: RBig,
    tolerance: RBig,
    /// How long the start of the system took: its time may have begun at any instant of that.
    origin: RBig,
    probe: Option<JitterProbe>,
    /// How long system and tester had been kept from running when the run began.
    at_start: Standstill,
    /// How long they had been kept from running at the last step.
    at_step: Standstill,
    /// How long they had been kept from running when the last mark was made.
    at_mark: Standstill,
    /// By how much the last observation is judged before it was seen. The next one may be as late.
    lateness: RBig,
    /// How late the machine was, if only that explains the observations.
    excused: Option<Duration>,
    since_step: SinceStep,
    timing: Timing,
}

#[derive(Default)]
struct SinceStep {
    steps: usize,
    plan: Option<TimedPlan>,
    /// By how much a planned stimulus came too late.
    missed: Option<Duration>,
    /// The number of times `silence_after` for which nothing has come.
    silences: u32,
}

/// How long the system and the tester had been kept from running, and at which instant.
#[derive(Clone)]
struct Standstill {
    system: Option<WaitedTime>,
    own: Duration,
    at: Instant,
}

impl Standstill {
    fn now(adapter: &dyn Adapter) -> Self {
        Standstill { at: Instant::now(), system: adapter.waited_time(), own: read_own_waited_time() }
    }
}

/// Runs the director on a system. A Pass that was excused for lateness becomes Inconclusive.
pub(crate) fn run_timed(session: &mut TestSession<'_>, seed: u64, director: &mut dyn Director) -> Run {
    let mut begun = session.begin(seed);
    let settings = session.settings;
    let is_simulated = session.adapter.now().is_some();
    let scene = session.judge.scene().and_then(|(test, states)| {
        let initial: &State = states.first()?;
        Some((test.timed.as_ref()?.silence_after, initial.clone()))
    });
    let started = session.start_system(&mut begun);
    let zero = session.adapter.now().unwrap_or_else(Instant::now);
    let tolerance = if is_simulated { Duration::ZERO } else { settings.tolerance };
    let timing = Timing { is_simulated, tolerance, ..Timing::default() };
    let (silence_after, initial) = match (scene, started) {
        (Some(scene), Ok(())) => scene,
        (_, started) => {
            let outcome =
                started.map_or_else(Outcome::RunError, |()| Outcome::inconclusive(Cause::NothingToDo));
            return Run { timing: Some(timing), ..session.end(begun, Vec::new(), outcome) };
        }
    };
    let at_start = Standstill::now(session.adapter);
    let mut tester = TimedTester {
        running: Running { begin: begun.real, ..begun.running(session) },
        director,
        silence_after,
        zero,
        initial,
        marks: Vec::new(),
        last: RBig::ZERO,
        taken_until: RBig::ZERO,
        tolerance: exact_seconds(tolerance),
        origin: if is_simulated { RBig::ZERO } else { exact_seconds(zero - begun.begin) },
        probe: (!is_simulated).then(JitterProbe::start),
        // Lateness that the probe measured during the start counts for the first step.
        at_step: Standstill { at: begun.real, ..at_start.clone() },
        at_mark: at_start.clone(),
        at_start,
        lateness: RBig::ZERO,
        excused: None,
        since_step: SinceStep::default(),
        timing,
    };
    let mut outcome = run_within_limits(settings, || take_turns(&mut tester));
    tester.timing.held_up = tester.held_up();
    let TimedTester { running, probe, mut timing, excused, .. } = tester;
    if let (Outcome::Verdict(Verdict::Pass | Verdict::WeakPass, _), Some(late)) = (&outcome, excused) {
        outcome = Outcome::inconclusive(Cause::Jitter(late));
    }
    timing.jitter = probe.as_ref().map_or_else(Jitter::default, JitterProbe::measured);
    drop(probe);
    Run { timing: Some(timing), ..running.session.end(begun, running.trace, outcome) }
}

impl<'a> Driver<'a> for TimedTester<'_, 'a, '_> {
    fn running(&self) -> &Running<'_, 'a> {
        &self.running
    }

    fn now(&self) -> Instant {
        self.running.session.adapter.now().unwrap_or_else(Instant::now)
    }

    /// Waits for the next thing to do, and does it: first takes what has arrived, then sends a stimulus whose
    /// instant has come, then shows the end of a silence.
    fn take_turn(&mut self) -> Result<Progress, Failure> {
        let steps = self.running.trace.len();
        if self.since_step.steps != steps {
            self.since_step = SinceStep { steps, ..SinceStep::default() };
        }
        let next = match self.since_step.plan.take() {
            Some(next) => next,
            None => {
                let arrived = self.listen(self.zero)?;
                if !arrived.is_nothing() {
                    return Ok(arrived);
                }
                self.make_plan()
            }
        };
        // The instants of a planned stimulus, and of the next plan.
        let (send_at, replan_at) = match &next {
            TimedPlan::Over(cause) => {
                let late = self.since_step.missed.map(Cause::Late).unwrap_or_else(|| cause.clone());
                return Ok(Progress::Over(Outcome::inconclusive(late)));
            }
            TimedPlan::Send(event) => (super::delay_of(event).map(|delay| &self.last + delay), None),
            TimedPlan::Wait(until) => (None, until.as_ref().map(|delay| &self.last + delay)),
        };
        let silence = self.silence_after.saturating_mul(self.since_step.silences.saturating_add(1));
        // The step before may have been later than its judged instant, and its answer may have taken time.
        let silence_at =
            &self.last + &self.lateness + exact_seconds(silence) + &self.tolerance * RBig::from(2);
        let wake_at = send_at.iter().chain(&replan_at).fold(&silence_at, Ord::min);
        let heard = self.listen(self.zero + Duration::from_micros(micros_up(wake_at)))?;
        if !heard.is_nothing() {
            return Ok(heard);
        }
        let now = self.elapsed();
        if let (TimedPlan::Send(event), Some(send_at)) = (&next, &send_at)
            && now >= *send_at
        {
            let sent = self.send(event)?;
            if sent.is_nothing() {
                let late = Duration::from_micros(micros_up(&(now - send_at)));
                self.since_step.missed = Some(late.max(Duration::from_micros(1)));
            }
            return Ok(sent);
        }
        if replan_at.is_some_and(|replan_at| now >= replan_at) {
            return Ok(Progress::Nothing);
        }
        if now < silence_at {
            self.since_step.plan = Some(next);
            return Ok(Progress::Nothing);
        }
        let progress = self.judge_silence(silence, matches!(next, TimedPlan::Send(_)))?;
        if progress.is_nothing() {
            self.since_step.silences = self.since_step.silences.saturating_add(1);
            self.since_step.plan = Some(next);
        }
        Ok(progress)
    }
}

impl TimedTester<'_, '_, '_> {
    /// Returns the time since the beginning, in whole microseconds.
    fn elapsed(&self) -> RBig {
        exact_seconds(self.now().saturating_duration_since(self.zero))
    }

    /// Asks the director for a plan, and measures how long that takes. If the plan sends nothing, notes the
    /// smallest time by which the window of a stimulus was missed: it explains `Cause::Late`.
    fn make_plan(&mut self) -> TimedPlan {
        let begin = Instant::now();
        let now = (self.elapsed() - &self.last).max(RBig::ZERO);
        let scene = Scene {
            now: now.clone(),
            tolerance: self.tolerance.clone(),
            takes_stimuli: self.running.session.adapter.takes_stimuli(),
            hears: self.running.session.adapter.hears(),
            judge: self.running.session.judge,
        };
        let plan = self.director.plan(scene);
        if !matches!(plan, TimedPlan::Send(_))
            && self.since_step.missed.is_none()
            && let Some((test, states)) = self.running.session.judge.scene()
        {
            let passed = states.iter().flat_map(|state| {
                let numbers = test.stimuli[state.location].iter();
                numbers.filter_map(|number| super::windows::closed_since(test, state, *number, &now))
            });
            self.since_step.missed = passed.min().map(|late| Duration::from_micros(micros_up(&late)));
        }
        self.count_thinking(begin);
        plan
    }

    fn count_thinking(&mut self, begin: Instant) {
        let time = begin.elapsed();
        self.timing.thought += time;
        self.timing.longest_thought = self.timing.longest_thought.max(time);
    }

    /// Takes an observation that comes before `until`.
    ///
    /// First the adapter is asked for what is there: that may have come at any instant since nothing was
    /// there. If there is nothing, the tester waits, and an observation wakes it: that has come when it is
    /// read, but for the time that waking takes.
    fn listen(&mut self, until: Instant) -> Result<Progress, Failure> {
        let until = until.min(self.running.deadline);
        // The tester asks and waits in turn. On simulated time it waits at once.
        let mut waits = self.timing.is_simulated;
        loop {
            let asked = self.now();
            let limit = if waits { until } else { asked.min(until) };
            let received = self.running.session.adapter.receive(limit)?;
            let read = self.elapsed();
            if waits && matches!(received, Received::Output(_)) {
                self.taken_until = read.clone();
            }
            match received {
                Received::Output(event) => return Ok(self.judge_observation(&event, read)),
                Received::Alien(text) => return Ok(self.running.show_alien(text)),
                Received::Silence => {}
            }
            let now = self.now();
            if now < until {
                self.taken_until =
                    exact_seconds(asked.saturating_duration_since(self.zero)).max(self.taken_until.clone());
                if waits {
                    // The system is in this process: no time passes while it is asked.
                    std::thread::sleep(SHORT_PAUSE.min(until - now));
                }
                waits = !waits;
                continue;
            }
            let known = asked.max(until).saturating_duration_since(self.zero);
            self.taken_until = exact_seconds(known).max(self.taken_until.clone());
            if let Some(probe) = self.probe.as_ref().filter(|_| waits && until > asked) {
                probe.note_wake(until);
            }
            return Ok(Progress::Nothing);
        }
    }

    /// Judges an observation at the instant at which it was read. If it fails there, it may be moved within
    /// the measurement's interval, or excused by the lateness of the machine.
    fn judge_observation(&mut self, received: &Event, read: RBig) -> Progress {
        let begin = Instant::now();
        let earliest = (&self.taken_until - &self.tolerance).min(read.clone());
        let low = if self.timing.is_simulated { read.clone() } else { earliest };
        let is_silence = false;
        let mark = self.make_mark(low, &read + &self.tolerance, is_silence);
        self.taken_until = read.clone();
        let measured = (&read - &self.last).max(RBig::ZERO);
        let event = with_delay(received, measured.clone());
        let Some((test, states)) = self.running.session.judge.scene() else { return Progress::Nothing };
        let Some(state) = states.first() else { return Progress::Nothing };
        if !event_fails(test, state, &event) {
            return self.show(Occurrence::Observation(event), mark, read);
        }
        // The system's time may have begun before the tester knew that it was ready.
        let slack = if self.running.trace.is_empty() { self.origin.clone() } else { RBig::ZERO };
        let interval = DelayInterval {
            low: (&mark.low - &self.lateness - &self.last).max(RBig::ZERO),
            high: Some((&mark.high - &self.last).max(RBig::ZERO) + slack),
        };
        let solver = self.director.solver();
        let nearest = nearest_delay(test, state, &event, &measured, &interval, solver);
        if let Some(delay) = nearest {
            self.timing.moved += 1;
            self.count_thinking(begin);
            let at = (&self.last + &delay).min(mark.high.clone());
            return self.show(Occurrence::Observation(delayed_by(&event, delay)), mark, at);
        }
        // Would it be right at any other time?
        let always = DelayInterval { low: RBig::ZERO, high: None };
        let by_time = nearest_delay(test, state, &event, &measured, &always, solver).is_some()
            || only_time_forbids(test, state, &event);
        let excuse = self.look_for_excuse(Occurrence::Observation(event.clone()), mark.clone(), by_time);
        self.count_thinking(begin);
        match excuse {
            Excuse::None => self.show(Occurrence::Observation(event), mark, read),
            Excuse::Settled(progress) => progress,
            Excuse::Late(late, Some(possible)) => {
                self.timing.moved += 1;
                self.excused = self.excused.max(Some(late));
                self.go_on_as(possible)
            }
            Excuse::Late(late, None) => Progress::Over(Outcome::inconclusive(Cause::Jitter(late))),
        }
    }

    /// Looks for other instants, or a late machine, by which an occurrence would not fail. `by_time`: at
    /// another time it would be allowed.
    fn look_for_excuse(&mut self, what: Occurrence, mark: StepInterval, by_time: bool) -> Excuse {
        match self.find_other_run(what.clone(), mark.clone(), by_time, Allowance::Tolerance) {
            Otherwise::Yes(possible) => {
                self.timing.moved += 1;
                return Excuse::Settled(self.go_on_as(possible));
            }
            Otherwise::Unclear => {
                return Excuse::Settled(Progress::Over(Outcome::inconclusive(Cause::Crossed)));
            }
            Otherwise::No => {}
        }
        let Some(probe) = &self.probe else { return Excuse::None };
        let late = probe.since(self.at_start.at).all.max(self.held_up());
        match self.find_other_run(what, mark, by_time, Allowance::Lateness) {
            Otherwise::Yes(possible) => Excuse::Late(late, Some(possible)),
            Otherwise::Unclear => Excuse::Late(late, None),
            Otherwise::No
                if by_time && self.at_step.system.is_none() && exact_seconds(late) > self.tolerance =>
            {
                Excuse::Late(late, None)
            }
            Otherwise::No => Excuse::None,
        }
    }

    /// Makes the mark of a step: its interval, and how late the machine was since the step before.
    fn make_mark(&mut self, low: RBig, high: RBig, is_silence: bool) -> StepInterval {
        let Some(probe) = &self.probe else { return StepInterval { low, high, late: RBig::ZERO } };
        let now = Standstill::now(self.running.session.adapter);
        let system_wait =
            self.at_step.system.as_ref().zip(now.system.as_ref()).map(|(before, now)| now.since(before));
        // The time that the kernel counted, and the time that our late threads suggest (see the file's text).
        let counted = system_wait.unwrap_or_default().time + now.own.saturating_sub(self.at_step.own);
        let measured = probe.since(self.at_step.at);
        let supposed = match system_wait {
            Some(wait) if wait.is_all && !is_silence => measured.all.max(measured.unexplained * HELD_UP),
            _ => measured.all * HELD_UP,
        };
        self.at_mark = now;
        StepInterval { low, high, late: exact_seconds(round_up_to_micros(counted)) + exact_seconds(supposed) }
    }

    /// Returns how long the system, or this thread, was kept from running in this run, if that is known.
    fn held_up(&self) -> Duration {
        let now = Standstill::now(self.running.session.adapter);
        let system = self.at_start.system.as_ref().zip(now.system.as_ref());
        let system = system.map(|(before, now)| now.since(before).time).unwrap_or_default();
        round_up_to_micros(system.max(now.own.saturating_sub(self.at_start.own)))
    }

    /// Looks for a run with the same steps at other instants, which goes on with this occurrence.
    fn find_other_run(
        &mut self,
        what: Occurrence,
        mark: StepInterval,
        by_time: bool,
        within: Allowance,
    ) -> Otherwise {
        let Some((test, _)) = self.running.session.judge.scene() else { return Otherwise::No };
        let steps = self.running.trace.iter().map(|step| step.what.clone()).chain([what]).collect();
        let marks = self.marks.iter().cloned().chain([mark]).collect();
        let past = Past { test, initial: &self.initial, steps, marks, by_time, origin: self.origin.clone() };
        find_other_instants(&past, within, self.director.solver())
    }

    /// Replaces the run until now by one with the same steps at other instants, and goes on from its end.
    fn go_on_as(&mut self, possible: PossibleRun) -> Progress {
        let PossibleRun { steps, marks, end, lateness } = possible;
        self.running.session.judge.begin();
        let times: Vec<Duration> =
            self.running.trace.iter().map(|step| step.at).chain([self.running.begin.elapsed()]).collect();
        let mut trace = Vec::new();
        for (what, at) in steps.into_iter().zip(times) {
            match self.running.session.judge.take(&what) {
                Judged::Followed(transition) => trace.push(RunStep { what, transition, at }),
                // The run went on at these instants. If the judge knows more and fails it, nobody is blamed.
                Judged::Ends(Verdict::Fail, _) => {
                    let cause = self.excused.map_or(Cause::Crossed, Cause::Jitter);
                    return Progress::Over(Outcome::inconclusive(cause));
                }
                // Silence may end the run.
                Judged::Ends(verdict, cause) => {
                    self.running.trace = trace;
                    return Progress::Over(Outcome::Verdict(verdict, cause));
                }
            }
        }
        (self.running.trace, self.marks, self.last, self.lateness) = (trace, marks, end, lateness);
        self.at_step = self.at_mark.clone();
        if let Some(step) = self.running.trace.last() {
            self.director.note_step(step);
        }
        Progress::Moved
    }

    /// Shows an occurrence to the judge. If the judge follows it, notes the mark and the judged instant.
    fn show(&mut self, what: Occurrence, mark: StepInterval, judged: RBig) -> Progress {
        let at = match self.timing.is_simulated {
            true => Duration::from_micros(micros_up(&judged)),
            false => self.running.begin.elapsed(),
        };
        let progress = self.running.show(what, at);
        if let (Progress::Moved, Some(step)) = (&progress, self.running.trace.last()) {
            self.director.note_step(step);
            if matches!(step.what, Occurrence::Observation(_)) {
                self.lateness = (&mark.low - &judged).max(RBig::ZERO);
            }
            self.marks.push(mark);
            self.last = judged;
            self.at_step = self.at_mark.clone();
        }
        progress
    }

    /// Sends the planned stimulus with the delay that it has now. `Nothing`: its window has closed.
    fn send(&mut self, planned: &Event) -> Result<Progress, Failure> {
        let now = self.elapsed();
        let event = delayed_by(planned, (&now - &self.last).max(RBig::ZERO));
        let session = &mut *self.running.session;
        // Something must be received first, and then the director plans anew.
        if !session.adapter.takes_stimuli() {
            return Ok(Progress::Moved);
        }
        if !session.judge.can_send(&event) {
            return Ok(Progress::Nothing);
        }
        session.adapter.send(&without_delay(&event))?;
        let sent = session.adapter.sent();
        // The system may have taken it at any instant until the sending has ended.
        let is_silence = false;
        let mark = self.make_mark(now.clone(), self.elapsed() + &self.tolerance, is_silence);
        // Something came before it, and is received first.
        if sent == Sent::No {
            return Ok(Progress::Moved);
        }
        Ok(match self.show(Occurrence::Stimulus(event), mark, now) {
            Progress::Moved if sent == Sent::Crossed => Progress::Over(Outcome::inconclusive(Cause::Crossed)),
            other => other,
        })
    }

    /// Judges silence of this length. `Nothing`: it changes nothing, or may not be judged yet.
    fn judge_silence(&mut self, length: Duration, is_planned: bool) -> Result<Progress, Failure> {
        let hears = self.running.session.adapter.hears();
        let Some((test, states)) = self.running.session.judge.scene() else { return Ok(Progress::Nothing) };
        let (state, what) = (states.first().map(|state| (*state).clone()), Occurrence::Silence(length));
        let taken = state.as_ref().and_then(|state| crate::judge::case::take_silence(test, state, length));
        let next = taken.map(|(_, next)| next);
        // Silence that no transition takes is no fault, and nothing comes after it.
        let verdict = next.as_ref().map_or(Some(Verdict::Inconclusive), |next| test.verdict(next.location));
        let (end, is_silence) = (&self.last + exact_seconds(length), true);
        match verdict {
            Some(Verdict::Inconclusive) if is_planned => Ok(Progress::Nothing),
            Some(Verdict::Inconclusive) => {
                let cause = self.since_step.missed.map_or(Cause::Silence(length), Cause::Late);
                Ok(Progress::Over(Outcome::inconclusive(cause)))
            }
            None if next == state => Ok(Progress::Nothing),
            Some(Verdict::Fail)
                if !self.timing.is_simulated
                    && let Some(Received::Output(event)) =
                        self.running.session.adapter.receive_from_state() =>
            {
                Ok(self.judge_observation(&event, self.elapsed()))
            }
            Some(Verdict::Fail) => {
                let begin = Instant::now();
                let mark = self.make_mark(end.clone(), end.clone(), is_silence);
                // A shorter silence would be allowed.
                let by_time = true;
                let excuse = self.look_for_excuse(what.clone(), mark.clone(), by_time);
                self.count_thinking(begin);
                let progress = match excuse {
                    Excuse::None => self.show(what, mark, end),
                    Excuse::Settled(progress) => progress,
                    // An answer may still come: the machine does not explain silence for ever.
                    Excuse::Late(..) if self.since_step.silences < PATIENT - 1 => Progress::Nothing,
                    Excuse::Late(late, _) => Progress::Over(Outcome::inconclusive(Cause::Jitter(late))),
                };
                Ok(progress.if_heard(hears))
            }
            None | Some(Verdict::Pass | Verdict::WeakPass) => {
                let mark = self.make_mark(end.clone(), end.clone(), is_silence);
                Ok(self.show(what, mark, end))
            }
        }
    }
}

/// The result of looking for an excuse.
enum Excuse {
    None,
    /// The run has gone on at other instants, or has ended.
    Settled(Progress),
    /// This machine was so late that it may be the cause. The run is one at other instants, if it is known.
    Late(Duration, Option<PossibleRun>),
}
