//! A stored run, once more.
//!
//! **Problem.** A trace that failed yesterday is evidence only if it can be seen again, and an implementation
//! may answer differently today.
//!
//! **Method.** What is repeated is what the tester did: the same stimuli with the same values, in the same
//! order. What the implementation does is observed anew, and judged anew. Before each stimulus the tester
//! waits for as many observations as the stored run had there; if something else comes, the judge follows
//! what came, and sends the next stimulus as soon as its guard allows. Where it never does, the run ends as
//! Inconclusive, and [`Replayed::diverged`] says at which event the two runs parted. Ids that the system
//! hands out are other ones each time: a stimulus has those of this run (`renamed.rs`), and runs that
//! differ in nothing else have not parted.
//!
//! A run that is shrunk has parts of the script only. It is performed loosely (`Fidelity::Loose`): without
//! a stimulus that went before, another one may need other values, such as the next tag.
//!
//! **Ends**: each step consumes a stimulus of the script or an observation, both bounded. **Costs** one run.

use std::time::Instant;

use coreach_adapters::{Adapter, Failure, Received, Sent};
use coreach_model::random::Random;
use coreach_model::semantics::Event;

use crate::clock::Clock;
use crate::cue::{Cue, Fidelity};
use crate::judge::{AfterSilence, Choice, Judge, Judged, Move};
use crate::lazy::Lazy;
use crate::renamed::RenamedIds;
use crate::run::{Cause, Occurrence, Outcome, Run, RunStep, events};
use crate::session::{TestSession, bounded, heard};
use crate::settings::Settings;
use crate::timed;
use crate::values::{MIX, Values};

/// A replayed run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// What happened this time.
    pub run: Run,
    /// The number, from 0, of the first event that differs from the stored run; `None` where none does.
    pub diverged: Option<usize>,
}

/// What the tester did in a run.
pub fn script(trace: &[RunStep]) -> Vec<Cue> {
    let cue = |step: &RunStep| match &step.what {
        Occurrence::Stimulus(event) => Some(Cue::Send(event.clone())),
        Occurrence::Observation(event) => Some(Cue::Observe(Some(event.clone()))),
        Occurrence::Silence(_) => Some(Cue::Observe(None)),
        Occurrence::Delay(_) => None,
    };
    trace.iter().filter_map(cue).collect()
}

impl TestSession<'_> {
    /// Runs the stored run again: same beginning, same stimuli.
    pub fn replay(&mut self, stored: &Run) -> Replayed {
        let run = self.perform(stored.seed, &script(&stored.trace));
        let is_timed = run.timing.is_some();
        let mut ids = RenamedIds::default();
        let mut same = |(now, before): (&RunStep, &RunStep)| {
            let (agrees, before) = match (&before.what, &now.what) {
                (Occurrence::Observation(stored), Occurrence::Observation(event)) => {
                    (ids.learn(stored, event), Occurrence::Observation(ids.rename(stored)))
                }
                (Occurrence::Stimulus(stored), _) => (true, Occurrence::Stimulus(ids.rename(stored))),
                (other, _) => (true, other.clone()),
            };
            agrees && if is_timed { timed::is_alike(&now.what, &before) } else { now.what == before }
        };
        // How long nothing came is different each time.
        let told = |run: &'_ Run| -> Vec<RunStep> {
            run.trace.iter().filter(|step| !matches!(step.what, Occurrence::Delay(_))).cloned().collect()
        };
        let (now, before) = (told(&run), told(stored));
        let common = now.iter().zip(&before).take_while(|pair| same(*pair)).count();
        let all = common == now.len() && common == before.len();
        let diverged = (!all || run.outcome.name() != stored.outcome.name()).then_some(common);
        Replayed { run, diverged }
    }

    /// Runs a script. Behind its end, observations are awaited until there is a verdict or silence.
    pub fn perform(&mut self, seed: u64, script: &[Cue]) -> Run {
        self.perform_as(seed, script, Fidelity::Exact)
    }

    pub(crate) fn perform_as(&mut self, seed: u64, script: &[Cue], fidelity: Fidelity) -> Run {
        if self.judge.scene().is_some_and(|(test, _)| test.timed.is_some()) {
            return timed::script::perform(self, seed, script, fidelity);
        }
        let mut begun = self.begin(seed);
        let started = self.start(&mut begun);
        let (begin, settings) = (begun.begin, self.settings);
        let mut values = Values::new(MIX);
        values.begin(&begun.constants);
        let mut player = Player {
            judge: self.judge,
            settings,
            trace: Vec::new(),
            clock: Clock::new(begin),
            begin,
            fidelity,
            ids: RenamedIds::default(),
            values,
            random: Random::new(seed),
        };
        let adapter = &mut *self.adapter;
        let outcome = match started {
            Err(failure) => Outcome::RunError(failure),
            Ok(()) => bounded(settings, || player.play(script, adapter).unwrap_or_else(Outcome::RunError)),
        };
        let trace = player.trace;
        self.end(begun, trace, outcome)
    }
}

struct Player<'a> {
    judge: &'a mut dyn Judge,
    settings: &'a Settings,
    trace: Vec<RunStep>,
    clock: Clock,
    begin: Instant,
    fidelity: Fidelity,
    ids: RenamedIds,
    /// For stimuli that need other values.
    values: Values,
    random: Random,
}

impl Player<'_> {
    fn play(&mut self, script: &[Cue], adapter: &mut dyn Adapter) -> Result<Outcome, Failure> {
        let mut script = script;
        loop {
            if let Some(verdict) = self.judge.verdict() {
                return Ok(Outcome::Verdict(verdict, Cause::Event));
            }
            if events(&self.trace) >= self.settings.steps {
                return Ok(Outcome::inconclusive(Cause::Steps(self.settings.steps)));
            }
            let ahead = match self.fidelity {
                Fidelity::Exact => 0,
                Fidelity::Loose => script.iter().take_while(|cue| matches!(cue, Cue::Observe(_))).count(),
            };
            let due = match script.get(ahead) {
                Some(Cue::Send(event)) if adapter.takes_stimuli() => Some(self.ids.rename(event)),
                _ => None,
            };
            let next = due.clone().filter(|event| self.judge.can_send(event));
            let silence = self.settings.silence(self.judge, &self.trace);
            // A stimulus whose turn has come still lets what has arrived go first.
            let until = match next {
                Some(_) => self.begin,
                None => Instant::now() + silence,
            };
            let what = match self.observe(adapter, until)? {
                Observed::Over(outcome) => return Ok(outcome),
                Observed::Time => continue,
                Observed::Event(event) => {
                    self.saw(&mut script, Some(&event));
                    Occurrence::Observation(event)
                }
                Observed::Silence => match next.or_else(|| self.with_other_values(due?)) {
                    Some(event) => {
                        if let Some(outcome) = self.time_passes(true) {
                            return Ok(outcome);
                        }
                        if self.judge.verdict().is_some() {
                            continue;
                        }
                        adapter.send(&event)?;
                        match adapter.sent() {
                            Sent::Yes => {}
                            // It is its turn again when what kept it back has been seen.
                            Sent::No => match self.observe(adapter, Instant::now() + silence)? {
                                Observed::Over(outcome) => return Ok(outcome),
                                Observed::Event(event) => {
                                    self.saw(&mut script, Some(&event));
                                    if let Some(outcome) = self.happened(Occurrence::Observation(event)) {
                                        return Ok(outcome);
                                    }
                                    continue;
                                }
                                Observed::Time | Observed::Silence => continue,
                            },
                            Sent::Crossed => {
                                self.happened(Occurrence::Stimulus(event));
                                return Ok(Outcome::inconclusive(Cause::Crossed));
                            }
                        }
                        self.clock.sent();
                        script = &script[ahead + 1..];
                        Occurrence::Stimulus(event)
                    }
                    // One more silence after another tells nothing, and none where nothing could have been
                    // heard.
                    None if self.judge.silence().is_some()
                        && (!adapter.hears()
                            || ahead == script.len()
                                && self.judge.silence() == Some(AfterSilence::Nothing)
                                && matches!(
                                    self.trace.last(),
                                    Some(RunStep { what: Occurrence::Silence(_), .. })
                                )) =>
                    {
                        return Ok(Outcome::inconclusive(Cause::Silence(silence)));
                    }
                    None => match adapter.receive_from_state() {
                        Some(Received::Output(event)) => {
                            self.saw(&mut script, Some(&event));
                            Occurrence::Observation(event)
                        }
                        _ => {
                            self.saw(&mut script, None);
                            Occurrence::Silence(silence)
                        }
                    },
                },
            };
            if let Some(outcome) = self.happened(what) {
                return Ok(heard(outcome, adapter.hears()));
            }
        }
    }

    /// Goes on in the script behind what it has for an observation, or for silence.
    fn saw(&mut self, script: &mut &[Cue], event: Option<&Event>) {
        let Some((Cue::Observe(stored), rest)) = script.split_first() else { return };
        let is_alike = stored.as_ref().map(|stored| &stored.action) == event.map(|event| &event.action);
        if let (Some(stored), Some(event)) = (stored, event) {
            self.ids.learn(stored, event);
        }
        if is_alike || self.fidelity == Fidelity::Exact {
            *script = rest;
        }
    }

    /// A stimulus of the same action that is allowed here.
    fn with_other_values(&mut self, stimulus: Event) -> Option<Event> {
        if self.fidelity == Fidelity::Exact {
            return None;
        }
        let mut solver = Lazy::default();
        self.judge.offers().moves.into_iter().find_map(|offer| {
            let Move::Send(number) = offer.step else { return None };
            let (values, random) = (&mut self.values, &mut self.random);
            let event = self.judge.stimulus(number, &mut Choice { values, random, solver: &mut solver })?;
            (event.action == stimulus.action).then_some(event)
        })
    }

    fn happened(&mut self, what: Occurrence) -> Option<Outcome> {
        match self.judge.take(&what) {
            Judged::Followed(transition) => {
                self.trace.push(RunStep { what, transition, at: self.begin.elapsed() });
                None
            }
            Judged::Ends(verdict, cause) => Some(Outcome::Verdict(verdict, cause)),
        }
    }

    /// Shows the judge how long nothing has come, where it wants to know.
    fn time_passes(&mut self, is_sending: bool) -> Option<Outcome> {
        let time = self.clock.passed(self.judge, is_sending)?;
        self.happened(Occurrence::Delay(time))
    }

    fn observe(&mut self, adapter: &mut dyn Adapter, until: Instant) -> Result<Observed, Failure> {
        let deadline = self.begin + self.settings.time;
        let (asked, until) = (Instant::now(), until.min(deadline));
        let limit = self.clock.limit(self.judge, until);
        let received = adapter.receive(limit)?;
        if received == Received::Silence {
            self.clock.nothing(asked, limit);
            let before = self.trace.len();
            if let Some(outcome) = self.time_passes(false) {
                return Ok(Observed::Over(outcome));
            }
            // The judge may know more now, or something else can be sent.
            if self.trace.len() > before {
                return Ok(Observed::Time);
            }
        }
        Ok(match received {
            Received::Output(event) => Observed::Event(event),
            Received::Silence if Instant::now() >= deadline => {
                Observed::Over(Outcome::inconclusive(Cause::Time(self.settings.time)))
            }
            Received::Silence => Observed::Silence,
            Received::Alien(text) => match self.judge.alien(text) {
                Judged::Ends(verdict, cause) => Observed::Over(Outcome::Verdict(verdict, cause)),
                Judged::Followed(_) => Observed::Time,
            },
        })
    }
}

enum Observed {
    Event(Event),
    /// Time has passed, and the judge was shown it.
    Time,
    Silence,
    Over(Outcome),
}
