//! Repeats a stored run.
//!
//! **Problem.** A trace that failed yesterday is evidence only if it can be seen again, and an implementation
//! may answer differently today.
//!
//! **Method.** The tester's part is repeated: the same stimuli with the same values, in the same order. The
//! implementation's part is observed anew, and judged anew. Before each stimulus the tester waits for as many
//! observations as the stored run had there. If something else comes, the judge follows it, and the tester
//! sends the next stimulus as soon as its guard allows. If it never does, the run ends as Inconclusive, and
//! [`Replayed::diverged`] says at which event the two runs parted. The system hands out other ids each time:
//! a stimulus has those of this run (`renamed.rs`), and runs that differ in nothing else have not parted.
//!
//! When a run is shrunk, only parts of its script are performed, and loosely (`Fidelity::Loose`): without a
//! stimulus that went before, another one may need other values, such as the next tag.
//!
//! **Ends** as each run does (`drive`). **Costs** one run.

use std::time::{Duration, Instant};

use coreach_adapters::{Failure, Received, Sent};
use coreach_model::random::Random;
use coreach_model::semantics::Event;

use crate::clock::{Clock, Showing};
use crate::judge::{AfterSilence, Choice, Move};
use crate::lazy::Lazy;
use crate::renamed::RenamedIds;
use crate::run::{Cause, Cue, Fidelity, Occurrence, Outcome, Run, RunStep};
use crate::session::{Driver, Progress, Running, TestSession, run_within_limits, take_turns};
use crate::timed;
use crate::values::{MIX, Values};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    pub run: Run,
    /// The number, from 0, of the first event that differs from the stored run, without delays. If only the
    /// outcome differs, the number of events. `None` if nothing differs.
    pub diverged: Option<usize>,
}

/// Makes the script that repeats a trace.
pub fn script_of(trace: &[RunStep]) -> Vec<Cue> {
    let cue = |step: &RunStep| match &step.what {
        Occurrence::Stimulus(event) => Some(Cue::Send(event.clone())),
        Occurrence::Observation(event) => Some(Cue::Observe(Some(event.clone()))),
        Occurrence::Silence(_) => Some(Cue::Observe(None)),
        Occurrence::Delay(_) => None,
    };
    trace.iter().filter_map(cue).collect()
}

impl TestSession<'_> {
    /// Repeats a stored run with the same seed and stimuli. Then compares step by step. Ids differ in each
    /// run: each observation teaches which new id stands for which old one.
    pub fn replay(&mut self, stored: &Run) -> Replayed {
        let run = self.perform(stored.seed, &script_of(&stored.trace));
        let is_timed = run.timing.is_some();
        let mut ids = RenamedIds::default();
        let mut agrees = |(before, now): (&RunStep, &RunStep)| {
            let (ids_agree, expected) = match (&before.what, &now.what) {
                (Occurrence::Observation(old), Occurrence::Observation(new)) => {
                    (ids.learn(old, new), Occurrence::Observation(ids.rename(old)))
                }
                (Occurrence::Stimulus(old), _) => (true, Occurrence::Stimulus(ids.rename(old))),
                (other, _) => (true, other.clone()),
            };
            ids_agree && if is_timed { timed::is_alike(&now.what, &expected) } else { now.what == expected }
        };
        // How long nothing came is different each time.
        let without_delays = |run: &'_ Run| -> Vec<RunStep> {
            run.trace.iter().filter(|step| !matches!(step.what, Occurrence::Delay(_))).cloned().collect()
        };
        let (before, now) = (without_delays(stored), without_delays(&run));
        let common = before.iter().zip(&now).take_while(|pair| agrees(*pair)).count();
        let all_agree = common == now.len() && common == before.len();
        let diverged = (!all_agree || run.outcome.name() != stored.outcome.name()).then_some(common);
        Replayed { run, diverged }
    }

    /// Performs a script. After it, the tester waits for observations until a verdict or silence.
    pub fn perform(&mut self, seed: u64, script: &[Cue]) -> Run {
        self.perform_as(seed, script, Fidelity::Exact)
    }

    /// Performs a script exactly or loosely.
    pub(crate) fn perform_as(&mut self, seed: u64, script: &[Cue], fidelity: Fidelity) -> Run {
        if self.judge.is_timed() {
            return timed::script::perform_script(self, seed, script, fidelity);
        }
        let mut begun = self.begin(seed);
        let started = self.start_system(&mut begun);
        let settings = self.settings;
        // Values are drawn only where those of a loose script do not fit.
        let mut values = Values::new(MIX);
        values.begin(&begun.constants);
        let mut player = Player {
            running: begun.running(self),
            script,
            clock: Clock::new(begun.begin),
            fidelity,
            ids: RenamedIds::default(),
            values,
            random: Random::new(seed),
        };
        let outcome = match started {
            Err(failure) => Outcome::RunError(failure),
            Ok(()) => run_within_limits(settings, || take_turns(&mut player)),
        };
        let Running { session, trace, .. } = player.running;
        session.end(begun, trace, outcome)
    }
}

struct Player<'s, 'a> {
    running: Running<'s, 'a>,
    script: &'s [Cue],
    clock: Clock,
    fidelity: Fidelity,
    ids: RenamedIds,
    values: Values,
    random: Random,
}

impl<'a> Driver<'a> for Player<'_, 'a> {
    fn running(&self) -> &Running<'_, 'a> {
        &self.running
    }

    /// Does the next item of the script. If loosely, observations before a stimulus may be missing.
    fn take_turn(&mut self) -> Result<Progress, Failure> {
        let ahead = match self.fidelity {
            Fidelity::Exact => 0,
            Fidelity::Loose => self.script.iter().take_while(|cue| matches!(cue, Cue::Observe(_))).count(),
        };
        let session = &mut *self.running.session;
        let due = match self.script.get(ahead) {
            Some(Cue::Send(event)) if session.adapter.takes_stimuli() => Some(self.ids.rename(event)),
            _ => None,
        };
        let next = due.clone().filter(|event| session.judge.can_send(event));
        let silence = self.running.silence();
        // Before the stimulus is sent, observations that have already arrived are taken.
        let until = if next.is_some() { self.running.begin } else { Instant::now() + silence };
        let arrived = self.observe(until)?;
        if !arrived.is_nothing() {
            return Ok(arrived);
        }
        if let Some(event) = next.or_else(|| self.with_other_values(due?)) {
            return self.send(event, ahead, silence);
        }
        // A second silence in a row says nothing new, nor does silence while nothing can be heard.
        let session = &*self.running.session;
        let (hears, after_silence) = (session.adapter.hears(), session.judge.silence());
        let is_done = ahead == self.script.len() && after_silence == Some(AfterSilence::Nothing);
        if after_silence.is_some() && (!hears || is_done && self.running.was_silent()) {
            return Ok(Progress::Over(Outcome::inconclusive(Cause::Silence(silence))));
        }
        if let Some(Received::Output(event)) = self.running.session.adapter.receive_from_state() {
            return Ok(self.show_observation(event));
        }
        self.go_on_after(None);
        Ok(self.show(Occurrence::Silence(silence)).if_heard(hears))
    }
}

impl Player<'_, '_> {
    /// Sends the stimulus of the script that is `ahead` items from here.
    fn send(&mut self, event: Event, ahead: usize, silence: Duration) -> Result<Progress, Failure> {
        let passed = self.show_passed_time(Showing::BeforeStimulus);
        if matches!(passed, Progress::Over(_)) || self.running.session.judge.verdict().is_some() {
            return Ok(passed);
        }
        self.running.session.adapter.send(&event)?;
        let sent = self.running.session.adapter.sent();
        // It is tried again after the observation that kept it back.
        if sent == Sent::No {
            return self.observe(Instant::now() + silence);
        }
        self.clock.begin_at_stimulus();
        self.script = &self.script[ahead + 1..];
        let shown = self.show(Occurrence::Stimulus(event));
        Ok(if sent == Sent::Crossed { Progress::Over(Outcome::inconclusive(Cause::Crossed)) } else { shown })
    }

    /// Goes on in the script after its item for an observation, or for silence (`None`). In a loose replay,
    /// the item stays if something else came.
    fn go_on_after(&mut self, event: Option<&Event>) {
        let Some((Cue::Observe(stored), rest)) = self.script.split_first() else { return };
        let is_alike = stored.as_ref().map(|stored| &stored.action) == event.map(|event| &event.action);
        if let (Some(stored), Some(event)) = (stored, event) {
            self.ids.learn(stored, event);
        }
        if is_alike || self.fidelity == Fidelity::Exact {
            self.script = rest;
        }
    }

    /// Chooses a stimulus of the same action that is allowed here, if any. `None` in an exact replay.
    fn with_other_values(&mut self, stimulus: Event) -> Option<Event> {
        if self.fidelity == Fidelity::Exact {
            return None;
        }
        let mut solver = Lazy::default();
        let judge = &mut *self.running.session.judge;
        judge.offers().moves.into_iter().find_map(|offer| {
            let Move::Send(number) = offer.step else { return None };
            let (values, random) = (&mut self.values, &mut self.random);
            let event = judge.stimulus(number, &mut Choice { values, random, solver: &mut solver })?;
            (event.action == stimulus.action).then_some(event)
        })
    }

    fn show(&mut self, what: Occurrence) -> Progress {
        self.running.show(what, self.running.begin.elapsed())
    }

    fn show_observation(&mut self, event: Event) -> Progress {
        self.go_on_after(Some(&event));
        self.show(Occurrence::Observation(event))
    }

    /// Shows the judge how long nothing has come, if it wants to know.
    fn show_passed_time(&mut self, showing: Showing) -> Progress {
        match self.clock.take_passed_time(self.running.session.judge, showing) {
            Some(time) => self.show(Occurrence::Delay(time)),
            None => Progress::Nothing,
        }
    }

    /// Takes an observation that comes before `until` and before the deadline.
    fn observe(&mut self, until: Instant) -> Result<Progress, Failure> {
        let deadline = self.running.deadline;
        let (asked, until) = (Instant::now(), until.min(deadline));
        let session = &mut *self.running.session;
        let limit = self.clock.limit(session.judge, until);
        match session.adapter.receive(limit)? {
            Received::Output(event) => Ok(self.show_observation(event)),
            Received::Alien(text) => Ok(self.running.show_alien(text)),
            Received::Silence => {
                self.clock.note_silence(asked, limit);
                // The judge may know more now, or something else can be sent.
                let passed = self.show_passed_time(Showing::WhileWaiting);
                if passed.is_nothing() && Instant::now() >= deadline {
                    return Ok(Progress::Over(self.running.out_of_time()));
                }
                Ok(passed)
            }
        }
    }
}
