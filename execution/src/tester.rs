//! The tester: drives a test case against an implementation until there is a verdict.
//!
//! **Problem.** A test case is a graph with data; an implementation is a black box that answers when it likes. Walk the
//! graph along the events that really happen, send only what its guards allow, and end with the verdict that the graph
//! gives, never with one that it does not (thesis, chapter 6: TC || I, both instantiated with the same constants).
//!
//! **Method.** In each state: first take what has already arrived, so that a stimulus does not overtake an observation.
//! Then try the moves in the order of the strategy. A stimulus gets values that satisfy its guard (`values`), is sent,
//! and its transition is fired; an observation fires the one transition whose guard holds.
//!
//! **Where the sources are silent.** Without an event for quiescence (ioc is over traces, not suspension traces), silence
//! is never a Fail: where there is nothing to send and nothing comes within the limit, the verdict is Inconclusive, and
//! says so. What is no event of the alphabet is a Fail with that cause (Definition 6.2: the output is in no Out).
//! What breaks in between is no verdict.
//!
//! **Ends**: at a verdict's location, at the limit of steps, at the limit of time, or before a number that is too long. **Costs**, beside the
//! implementation and the values, one evaluation of each guard of the location.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use coreach_analyses::solver::Solver;
use coreach_model::budget::{self, Budget, Limit};
use coreach_model::semantics::{Event, State, fire};
use coreach_model::term::evaluate::Valuation;

use crate::adapter::{Adapter, Failure, Received, Session};
use crate::initial::{self, NoState};
use crate::random::Random;
use crate::run::{Cause, Direction, Outcome, Run, Step};
use crate::strategy::{Move, Strategy, order};
use crate::test_case::TestCase;
use crate::values::Values;

/// How a run is driven.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How long silence must last to be quiescence.
    pub quiescence: Duration,
    /// The same for single locations, by name.
    pub quiescence_at: HashMap<String, Duration>,
    /// How long to wait for an observation where a stimulus could be sent as well.
    pub patience: Duration,
    /// The most events of a run.
    pub steps: usize,
    /// The longest time of a run.
    pub time: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            quiescence: Duration::from_secs(1),
            quiescence_at: HashMap::new(),
            patience: Duration::from_millis(20),
            steps: 1000,
            time: Duration::from_secs(60),
        }
    }
}

impl Settings {
    fn quiescence(&self, location: &str) -> Duration {
        self.quiescence_at.get(location).copied().unwrap_or(self.quiescence)
    }
}

/// What a run has and the loop below needs.
struct Driver<'a, 'b> {
    test: &'a TestCase,
    settings: &'a Settings,
    adapter: &'a mut dyn Adapter,
    strategy: &'a mut Strategy<'b>,
    values: &'a mut Values,
    solver: &'a mut dyn Solver,
    random: Random,
    state: State,
    trace: Vec<Step>,
    begin: Instant,
    deadline: Instant,
}

/// Runs a test case once. `initial` is its initial state, with the constants in it (see [`crate::constants`]).
#[expect(
    clippy::too_many_arguments,
    reason = "what a run takes: the test, how, against what, with which choices"
)]
pub fn run(
    test: &TestCase,
    initial: State,
    seed: u64,
    settings: &Settings,
    adapter: &mut dyn Adapter,
    strategy: &mut Strategy<'_>,
    values: &mut Values,
    solver: &mut dyn Solver,
) -> Run {
    let begin = Instant::now();
    let constants = test.constants_in(&initial);
    values.begin(&constants);
    let deadline = begin + settings.time;
    let session = Session { iosts: &test.iosts, constants: &constants, seed, deadline };
    let mut driver = Driver {
        test,
        settings,
        adapter,
        strategy,
        values,
        solver,
        random: Random::new(seed),
        state: initial,
        trace: Vec::new(),
        begin,
        deadline,
    };
    let outcome = match driver.verdict_here() {
        // The initial location may be Pass: then nothing is to be done.
        Some(outcome) => outcome,
        None => match driver.adapter.start(&session) {
            Ok(()) => bounded(settings, || driver.drive()),
            Err(failure) => Outcome::RunError(failure),
        },
    };
    driver.adapter.stop();
    let Driver { state, trace, values, .. } = driver;
    let mix: BTreeMap<_, _> = values.end();
    Run { constants, seed, trace, outcome, end: state, mix, time: begin.elapsed() }
}

/// Does what a run does, and ends it at its limits even in the middle of a step: evaluation asks for time, and computes no
/// number that is too long.
pub(crate) fn bounded(settings: &Settings, work: impl FnOnce() -> Outcome) -> Outcome {
    let budget = Budget::new("run", Some(settings.time), false);
    budget::within(&budget, work).unwrap_or_else(|passed| match passed.limit {
        Limit::Digits(limit) => Outcome::inconclusive(Cause::Digits(limit)),
        // Nothing else passes the budget of a run.
        Limit::Time(_) | Limit::Memory(_) | Limit::Signal(_) => {
            Outcome::inconclusive(Cause::Time(settings.time))
        }
    })
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
        loop {
            if let Some(outcome) = self.verdict_here() {
                return outcome;
            }
            if self.trace.len() >= self.settings.steps {
                return Outcome::inconclusive(Cause::Steps(self.settings.steps));
            }
            if Instant::now() >= self.deadline {
                return Outcome::inconclusive(Cause::Time(self.settings.time));
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
        self.test.verdict(self.state.location).map(|verdict| Outcome::Verdict(verdict, Cause::Event))
    }

    /// Tries the moves of this state until one makes an event happen.
    fn step(&mut self) -> Result<Progress, Failure> {
        let Some(moves) = order(self.strategy, self.test, &self.state, &mut self.random) else {
            return Ok(Progress::Over(Outcome::inconclusive(Cause::Ended)));
        };
        let quiescence = self.settings.quiescence(&self.test.iosts.location(self.state.location).name);
        let mut waited = Duration::ZERO;
        for (position, one) in moves.iter().enumerate() {
            let progress = match one {
                Move::Send(number) => self.send(*number)?,
                Move::Wait => {
                    let last = position + 1 == moves.len();
                    waited = if last { quiescence } else { self.settings.patience.min(quiescence) };
                    self.observe(Instant::now() + waited)?
                }
            };
            if !matches!(progress, Progress::Nothing) {
                return Ok(progress);
            }
        }
        // No stimulus had values. If the wait was short, it gets its full length now.
        if moves.contains(&Move::Wait) || !self.test.observations[self.state.location.0 as usize].is_empty() {
            if waited < quiescence {
                let progress = self.observe(Instant::now() + (quiescence - waited))?;
                if !matches!(progress, Progress::Nothing) {
                    return Ok(progress);
                }
            }
            if Instant::now() >= self.deadline {
                return Ok(Progress::Over(Outcome::inconclusive(Cause::Time(self.settings.time))));
            }
            return Ok(Progress::Over(Outcome::inconclusive(Cause::Silence(quiescence))));
        }
        Ok(Progress::Over(Outcome::inconclusive(Cause::NothingToDo)))
    }

    /// Sends the stimulus of a transition, if there are values for it.
    fn send(&mut self, number: usize) -> Result<Progress, Failure> {
        let transition = &self.test.iosts.transitions[number];
        let action = self.test.iosts.action(transition.action);
        let Some(values) = self.values.choose(
            number,
            &transition.guard,
            &action.parameters,
            &self.state.valuation,
            &mut self.random,
            self.solver,
        ) else {
            return Ok(Progress::Nothing);
        };
        let Some(next) = fire(&self.test.iosts, transition, &self.state, &values) else {
            return Ok(Progress::Nothing);
        };
        let event = Event::new(action.name.clone(), values);
        self.adapter.send(&event)?;
        self.took(number, Direction::Stimulus, event, next);
        Ok(Progress::Moved)
    }

    /// Takes an observation that comes until then, or before the deadline.
    fn observe(&mut self, until: Instant) -> Result<Progress, Failure> {
        let event = match self.adapter.receive(until.min(self.deadline))? {
            Received::Silence => return Ok(Progress::Nothing),
            Received::Alien(text) => {
                return Ok(Progress::Over(Outcome::alien(text)));
            }
            Received::Output(event) => event,
        };
        match take(self.test, &self.state, Direction::Observation, &event) {
            Some((number, next)) => {
                self.took(number, Direction::Observation, event, next);
                Ok(Progress::Moved)
            }
            // A test case takes every output of its alphabet with values in their types, so this one is not of it.
            None => Ok(Progress::Over(Outcome::alien(event.to_string()))),
        }
    }

    fn took(&mut self, transition: usize, direction: Direction, event: Event, next: State) {
        self.values.saw(&event.values);
        self.strategy.took(transition);
        self.state = next;
        self.trace.push(Step { direction, event, transition, at: self.begin.elapsed() });
    }
}

/// The transition that takes an event in a state, and the state after it.
pub fn take(test: &TestCase, state: &State, direction: Direction, event: &Event) -> Option<(usize, State)> {
    let at = state.location.0 as usize;
    let candidates = match direction {
        Direction::Stimulus => &test.stimuli[at],
        Direction::Observation => &test.observations[at],
    };
    candidates.iter().find_map(|number| {
        let transition = &test.iosts.transitions[*number];
        let named = test.iosts.action(transition.action).name == event.action;
        let next = named.then(|| fire(&test.iosts, transition, state, &event.values))?;
        Some((*number, next?))
    })
}

/// The states of a run, the initial one first: one more than its events.
pub fn states(test: &TestCase, initial: State, trace: &[Step]) -> Vec<State> {
    let mut states = vec![initial];
    for step in trace {
        let Some(transition) = test.iosts.transitions.get(step.transition) else { break };
        let next = states.last().and_then(|state| fire(&test.iosts, transition, state, &step.event.values));
        let Some(next) = next else { break };
        states.push(next);
    }
    states
}

/// The initial state with these constants, where the initial condition allows them.
///
/// # Errors
/// [`NoState`].
pub fn initial(test: &TestCase, constants: &Valuation, solver: &mut dyn Solver) -> Result<State, NoState> {
    const MOST: usize = 1 << 10;
    // An initialized model has one; variables that may start anyhow are written before they are read (Definition 4.19).
    initial::states(&test.iosts, constants, MOST, solver)?.into_iter().next().ok_or(NoState::None)
}
