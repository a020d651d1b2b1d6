//! A stored run, once more.
//!
//! **Problem.** A trace that failed yesterday is evidence only if it can be seen again, and an implementation may answer
//! differently today.
//!
//! **Method.** What is repeated is what the tester did: the same stimuli with the same values, in the same order. What
//! the implementation does is observed anew, and the test case judges it anew. Before each stimulus the tester waits for
//! as many observations as the stored run had there; if something else comes, it follows the test case along what came,
//! and sends the next stimulus as soon as its guard allows. Where it never does, the run ends as Inconclusive, and
//! [`Replayed::diverged`] says at which event the two runs parted.
//!
//! **Ends**: each step consumes a stimulus of the script or an observation, both bounded. **Costs** one run.

use std::time::Instant;

use coreach_model::semantics::{Event, State};

use crate::adapter::{Adapter, Failure, Received, Session};
use crate::run::{Cause, Direction, Outcome, Run, Step};
use crate::test_case::TestCase;
use crate::tester::{Settings, bounded, take};

/// A replayed run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// What happened this time.
    pub run: Run,
    /// The number, from 0, of the first event that differs from the stored run; `None` where none does.
    pub diverged: Option<usize>,
}

/// One item of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cue {
    /// Send this.
    Send(Event),
    /// Something was observed here.
    Observe,
}

/// What the tester did in a run.
pub fn script(trace: &[Step]) -> Vec<Cue> {
    let cue = |step: &Step| match step.direction {
        Direction::Stimulus => Cue::Send(step.event.clone()),
        Direction::Observation => Cue::Observe,
    };
    trace.iter().map(cue).collect()
}

/// Runs the stored run again: same initial state, same stimuli.
pub fn replay(
    test: &TestCase,
    initial: State,
    stored: &Run,
    settings: &Settings,
    adapter: &mut dyn Adapter,
) -> Replayed {
    let run = perform(test, initial, stored.seed, &script(&stored.trace), settings, adapter);
    let same = |(a, b): (&Step, &Step)| a.direction == b.direction && a.event == b.event;
    let common = run.trace.iter().zip(&stored.trace).take_while(|pair| same(*pair)).count();
    let all = common == run.trace.len() && common == stored.trace.len();
    let diverged = (!all || run.outcome.name() != stored.outcome.name()).then_some(common);
    Replayed { run, diverged }
}

/// Runs a script. Behind its end, observations are awaited until there is a verdict or silence.
pub fn perform(
    test: &TestCase,
    initial: State,
    seed: u64,
    script: &[Cue],
    settings: &Settings,
    adapter: &mut dyn Adapter,
) -> Run {
    let begin = Instant::now();
    let constants = test.constants_in(&initial);
    let session =
        Session { iosts: &test.iosts, constants: &constants, seed, deadline: begin + settings.time };
    let mut player = Player { test, settings, state: initial, trace: Vec::new(), begin };
    let outcome = match adapter.start(&session) {
        Err(failure) => Outcome::RunError(failure),
        Ok(()) => bounded(settings, || player.play(script, adapter).unwrap_or_else(Outcome::RunError)),
    };
    adapter.stop();
    let Player { state, trace, .. } = player;
    Run { constants, seed, trace, outcome, end: state, mix: Default::default(), time: begin.elapsed() }
}

struct Player<'a> {
    test: &'a TestCase,
    settings: &'a Settings,
    state: State,
    trace: Vec<Step>,
    begin: Instant,
}

impl Player<'_> {
    fn play(&mut self, script: &[Cue], adapter: &mut dyn Adapter) -> Result<Outcome, Failure> {
        let mut script = script.iter().peekable();
        loop {
            if let Some(verdict) = self.test.verdict(self.state.location) {
                return Ok(Outcome::Verdict(verdict, Cause::Event));
            }
            if self.trace.len() >= self.settings.steps {
                return Ok(Outcome::inconclusive(Cause::Steps(self.settings.steps)));
            }
            let next = match script.peek() {
                Some(Cue::Send(event)) => {
                    take(self.test, &self.state, Direction::Stimulus, event).map(|to| (event, to))
                }
                _ => None,
            };
            // A stimulus whose turn has come still lets what has arrived go first.
            let until = match next {
                Some(_) => self.begin,
                None => Instant::now() + self.settings.quiescence,
            };
            match self.observe(adapter, until)? {
                Observed::Over(outcome) => return Ok(outcome),
                Observed::Event => {
                    script.next_if(|cue| **cue == Cue::Observe);
                    continue;
                }
                Observed::Silence => {}
            }
            let Some((event, (transition, state))) = next else {
                return Ok(Outcome::inconclusive(Cause::Silence(self.settings.quiescence)));
            };
            adapter.send(event)?;
            self.took(Direction::Stimulus, event.clone(), transition, state);
            script.next();
        }
    }

    fn observe(&mut self, adapter: &mut dyn Adapter, until: Instant) -> Result<Observed, Failure> {
        let deadline = self.begin + self.settings.time;
        let event = match adapter.receive(until.min(deadline))? {
            Received::Output(event) => event,
            Received::Silence if Instant::now() >= deadline => {
                return Ok(Observed::Over(Outcome::inconclusive(Cause::Time(self.settings.time))));
            }
            Received::Silence => return Ok(Observed::Silence),
            Received::Alien(text) => return Ok(Observed::Over(Outcome::alien(text))),
        };
        match take(self.test, &self.state, Direction::Observation, &event) {
            Some((transition, state)) => {
                self.took(Direction::Observation, event, transition, state);
                Ok(Observed::Event)
            }
            None => Ok(Observed::Over(Outcome::alien(event.to_string()))),
        }
    }

    fn took(&mut self, direction: Direction, event: Event, transition: usize, state: State) {
        self.state = state;
        self.trace.push(Step { direction, event, transition, at: self.begin.elapsed() });
    }
}

enum Observed {
    Event,
    Silence,
    Over(Outcome),
}
