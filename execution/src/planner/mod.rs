//! Plans the way to Pass: the next stimulus with its values, or a wait for an observation.
//!
//! **Problem.** A test case says which stimuli are *allowed*, not which lead on. The distances in its graph
//! do not know the data: a plan that follows them repeats a loop whose counter must first reach ten. And a
//! plan that hopes for the best answer may play the same losing game for ever.
//!
//! **Method.** From the present state the shortest way to Pass is searched
//! ([`coreach_analyses::symbolic::search`]), as if the implementation cooperated. Its values are the
//! solver's. At each stimulus they are near a random point, or at a point where a comparison on the way
//! begins or ceases to hold, so that two seeds differ. The way becomes a part of the game (`game.rs`), which
//! looks at the other answers on it, and at other ways if an answer may lose. If the game has a move after
//! which no answer can keep Pass away, that move is taken, with the fewest events. Otherwise the move with
//! the best chance is taken, by the answers that came so far ([`Experience`]). While the implementation
//! answers as hoped, or Pass is sure, nothing is searched.
//!
//! A test that is judged on line is in several states at once. Its game is one of sets of states
//! (`together.rs`), which is listed completely if that is possible. If nothing is known of Pass in it, the
//! way is followed, and planned anew when the run leaves it. A timed test does the same.
//!
//! **Without a plan** the moves are in random order. Planned values are counted with the others
//! ([`crate::values::Pick::Planned`]). **Ends** as the searches do. They count nodes and work, so a seed
//! means the same everywhere.

mod experience;
mod game;
mod goal;
mod listed;
mod moves;
pub mod prospect;
mod queues;
mod solved;
mod together;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use coreach_analyses::solver::{Solver, Witness};
use coreach_analyses::symbolic::search::{GoalPath, SearchBound, SearchLimits, SearchOutcome, Searcher};
use coreach_model::budget::{self, Budget};
use coreach_model::iosts::ActionKind;
use coreach_model::lock::lock;
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State, fire};
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::node::{Comparison, Node};
use coreach_model::{Datum, Term, TransitionId, Value};

use crate::initial;
use crate::judge::case::take_silence;
use crate::judge::{Choice, Judge};
pub use crate::planner::experience::Experience;
use crate::planner::experience::SignClass;
use crate::planner::game::Game;
pub use crate::planner::goal::search_goal;
pub use crate::planner::solved::WinningLevel;
use crate::planner::together::GameTogether;
use crate::run::Occurrence;
use crate::test_case::TestCase;
use crate::values::{MIX, Values, any, pivots};
pub use crate::walk::search::Planned;

/// The limits of a search from one state: some tens of milliseconds if there is nothing to find.
const LIMITS: SearchLimits = SearchLimits { nodes: 1500, spurious: 4, exact_nodes: 200, work: 1_000_000 };

/// The experience that runs of one test case share, one after the other.
pub type SharedExperience = Arc<Mutex<Experience>>;

/// Plans in one test case.
#[derive(Default)]
pub struct Planner {
    experience: SharedExperience,
    searcher: Option<Searcher>,
    /// The number of searches in a row that ended at their limits.
    in_vain: u32,
    /// The rest of the way to Pass that was found last, without internal steps.
    route: VecDeque<Planned>,
    /// The possible states when no way was found last (from the first few). Not searched again.
    without_way: Vec<State>,
    /// The game from one state, for tests that have a game.
    game: Option<Playing>,
    /// The game from all possible states at once.
    together: Option<GameTogether>,
}

/// A game that is being played.
struct Playing {
    game: Game,
    values: Values,
    at: Option<State>,
    last_stimulus: Option<Event>,
    chosen: Option<(Planned, Option<SignClass>)>,
    /// The state to which the chosen move leads if the answer is a good one.
    hoped: Option<usize>,
    /// May the tester wait for silence?
    may_idle: bool,
}

impl Planner {
    /// Returns a planner that shares its experience with others, in runs one after the other.
    pub fn sharing(experience: SharedExperience) -> Self {
        Planner { experience, ..Planner::default() }
    }

    /// Plans the next step when these states are possible. `None`: no way to Pass is known from any of them.
    pub fn next(
        &mut self,
        test: &TestCase,
        states: &[&State],
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> Option<&Planned> {
        if let (true, [state]) = (has_game(test), states) {
            self.play(test, state, random, solver);
            return self.present_step();
        }
        if test.timed.is_none() {
            let together = self.together.get_or_insert_with(|| GameTogether::new(test));
            if together.play(test, states, random, solver) {
                // The move of the game may leave the route.
                self.route.clear();
                return self.present_step();
            }
        }
        // Drop the steps up to the present state.
        while self.route.front().is_some_and(|planned| !states.contains(&&planned.state)) {
            self.route.pop_front();
        }
        let was_vain = self.without_way.iter().eq(states.iter().copied());
        if self.route.is_empty() && !was_vain {
            self.without_way.clear();
            // A search from each of many states would take too long.
            let route = states.iter().take(4).find_map(|state| {
                let SearchOutcome::Path(way) = self.search(test, state, solver) else { return None };
                fire_way(test, state, &vary_stimuli(test, way, random, solver), random)
            });
            match route {
                // Internal steps are in the states already.
                Some((route, _)) => {
                    self.route = route.into_iter().filter(|step| step.kind != ActionKind::Internal).collect()
                }
                None => self.without_way = states.iter().map(|state| (*state).clone()).collect(),
            }
        }
        self.present_step()
    }

    /// Chooses the move of a state in the game.
    fn play(&mut self, test: &TestCase, state: &State, random: &mut Random, solver: &mut dyn Solver) {
        let mut playing = self.game.take().unwrap_or_else(|| Playing {
            game: Game::new(test),
            values: Values::new(MIX).of_model(&test.iosts),
            at: None,
            last_stimulus: None,
            chosen: None,
            hoped: None,
            may_idle: true,
        });
        let Playing { game, values, last_stimulus, hoped, .. } = &mut playing;
        game.reset_if_too_large();
        let at = game.node(state, last_stimulus.as_ref(), None);
        game.note_stimulus_before(at, last_stimulus.as_ref());
        if !game.is_sure(at) {
            let is_hoped = *hoped == Some(at) && game.is_expanded(at);
            let mut sources = Choice { values, random, solver };
            if !is_hoped {
                match self.search(test, state, sources.solver) {
                    SearchOutcome::Path(way) => {
                        let way = vary_stimuli(test, way, sources.random, sources.solver);
                        if let Some((way, last)) = fire_way(test, state, &way, sources.random) {
                            game.add_way(test, &way, &last, &mut sources);
                        }
                    }
                    SearchOutcome::None => game.note_lost(at),
                    SearchOutcome::NotFound(_) => {}
                }
            }
            game.search(test, at, is_hoped, &self.lock(), &mut sources);
        }
        let chosen = game.choose(at, &self.lock(), random);
        playing.may_idle = game.may_idle(at);
        playing.at = Some(state.clone());
        playing.hoped = chosen.as_ref().map(|chosen| chosen.hoped);
        playing.chosen = chosen.map(|chosen| (chosen.planned, chosen.class));
        self.game = Some(playing);
    }

    fn lock(&self) -> MutexGuard<'_, Experience> {
        lock(&self.experience)
    }

    /// Returns the planned step for the present state.
    fn present_step(&self) -> Option<&Planned> {
        if let Some(playing) = &self.game {
            return playing.chosen.as_ref().map(|(planned, _)| planned);
        }
        self.together.as_ref().and_then(GameTogether::chosen).or_else(|| self.route.front())
    }

    /// Returns the stimulus of the planned step, if it is one of this transition.
    pub fn stimulus(&self, transition: TransitionId) -> Option<&Event> {
        let planned = self.present_step()?;
        (planned.kind == ActionKind::Input && planned.transition == transition).then_some(&planned.event)
    }

    /// Does the plan wait for an observation?
    pub fn waits(&self) -> bool {
        let waits = |kind| matches!(kind, ActionKind::Output | ActionKind::Quiescence);
        self.present_step().is_some_and(|planned| waits(planned.kind))
    }

    /// Notes that the planned observation did not come. Returns whether this changes the plan.
    pub fn waited_in_vain(&mut self) -> bool {
        if let Some(together) = self.together.as_mut().filter(|together| together.chosen().is_some()) {
            return together.waited_in_vain();
        }
        let Some(Playing { game, at: Some(state), chosen, .. }) = &mut self.game else { return false };
        let is_dropped = game.drop_wait(state);
        if is_dropped {
            *chosen = None;
        }
        is_dropped
    }

    /// Can the tester wait for silence here without losing a sure Pass?
    pub fn may_idle(&self) -> bool {
        self.game.as_ref().is_none_or(|playing| playing.may_idle)
            && self.together.as_ref().is_none_or(GameTogether::may_idle)
    }

    /// Notes an occurrence that the judge has followed, and the transition that took it, if one did.
    pub fn happened(&mut self, judge: &dyn Judge, what: &Occurrence, through: Option<TransitionId>) {
        let Some((test, states)) = judge.scene() else { return };
        if !has_game(test) {
            return;
        }
        let Some(mut playing) = self.game.take() else { return };
        match what {
            Occurrence::Stimulus(event) => {
                let chosen = playing.chosen.take().filter(|(planned, _)| planned.event == *event);
                self.lock().note_sent(event, chosen.and_then(|(_, class)| class).as_ref());
                playing.last_stimulus = Some(event.clone());
            }
            Occurrence::Observation(_) | Occurrence::Silence(_) => {
                if let (Some(state), Some(answer)) = (&playing.at, through) {
                    self.lock().note_answer(state, playing.last_stimulus.as_ref(), answer);
                }
            }
            Occurrence::Delay(_) => {}
        }
        playing.at = states.first().map(|state| (*state).clone());
        self.game = Some(playing);
    }

    /// Notes that silence has ended the run.
    pub fn fell_silent(&mut self, judge: &dyn Judge) {
        if let Some((test, states)) = judge.scene()
            && let (true, [state]) = (has_game(test), states.as_slice())
            && let Some((answer, _)) = take_silence(test, state, Duration::ZERO)
        {
            let last_stimulus = self.game.as_ref().and_then(|playing| playing.last_stimulus.as_ref());
            self.lock().note_answer(state, last_stimulus, answer);
        }
    }

    /// Searches a way to Pass from a state.
    fn search(&mut self, test: &TestCase, state: &State, solver: &mut dyn Solver) -> SearchOutcome {
        // After searches in vain, searches become rarer. No nodes: nothing was searched.
        self.in_vain = self.in_vain.saturating_add(1);
        if self.in_vain > 8 && !self.in_vain.is_power_of_two() {
            return SearchOutcome::NotFound(SearchBound::Nodes(0));
        }
        let known = self.searcher.take().filter(|searcher| *searcher.iosts() == test.iosts);
        let searcher = self.searcher.insert(match known {
            Some(known) => known,
            None => Searcher::new(test.iosts.clone(), search_goal(test)),
        });
        let outcome = searcher.from_state(state, &LIMITS, solver);
        if !matches!(outcome, SearchOutcome::NotFound(_)) {
            self.in_vain = 0;
        }
        outcome
    }
}

/// Is the test case in one state at a time, without time, so that it is a game?
fn has_game(test: &TestCase) -> bool {
    test.online.is_none() && test.timed.is_none()
}

/// Changes the values of the stimuli on a way, if that is possible.
fn vary_stimuli(test: &TestCase, way: GoalPath, random: &mut Random, solver: &mut dyn Solver) -> GoalPath {
    let kind = |transition: TransitionId| test.iosts.action_of(transition).kind;
    let inputs = way.steps.iter().filter(|step| kind(step.transition) == ActionKind::Input);
    let targets = inputs.map(|step| draw_target(&way.last.condition, &step.parameters, random));
    let targets: Vec<Vec<Term>> = targets.filter(|terms| !terms.is_empty()).collect();
    if targets.is_empty() {
        return way;
    }
    let (mut condition, mut values) = (way.last.condition.clone(), way.values);
    // Adds terms to the condition, if there are values with which it then holds.
    let mut add_terms = |terms: &[Term]| {
        let longer = [condition.as_slice(), terms].concat();
        let Witness::Found(witness) = solver.witness(&longer) else { return false };
        (condition, values) = (longer, witness);
        true
    };
    if !add_terms(&targets.concat()) {
        for terms in targets.iter().take(6) {
            add_terms(terms);
        }
    }
    GoalPath { values, ..way }
}

/// Draws conditions on the parameters of one stimulus: around a random point, or at or beside a point where a
/// comparison on the way begins or ceases to hold.
fn draw_target(condition: &[Term], parameters: &[Datum], random: &mut Random) -> Vec<Term> {
    if random.below(2) == 0 {
        return pivots(parameters, random);
    }
    let compares_integers = |term: &&Term| {
        matches!(term.written(), Some(Node::Compare(_, left, right)) if left.sort().is_integer() && right.sort().is_integer())
            && parameters.iter().any(|parameter| term.mentions(parameter))
    };
    let comparisons: Vec<&Term> = condition.iter().filter(compares_integers).collect();
    match random.pick(&comparisons).and_then(|term| term.written()) {
        Some(Node::Compare(_, left, right)) => {
            let beside = Term::int(random.below(3) as i64 - 1);
            vec![Term::compare(Comparison::Equal, left, &Term::add(right, &beside))]
        }
        _ => pivots(parameters, random),
    }
}

/// Fires the steps of a way: its events, each with the state before it, and the state at its end. `None` if
/// the way cannot be taken with values that are drawn.
pub fn fire_way(
    test: &TestCase,
    from: &State,
    way: &GoalPath,
    random: &mut Random,
) -> Option<(Vec<Planned>, State)> {
    let mut state = from.clone();
    let mut route = Vec::new();
    for step in &way.steps {
        let transition = &test.iosts.transitions[step.transition];
        let action = test.iosts.action(transition.action);
        let values: Vec<Value> =
            step.parameters.iter().map(|symbol| value_or_any(&way.values, symbol, random)).collect();
        // The semantics decides whether the step can be taken.
        let next = fire(&test.iosts, transition, &state, &values)?;
        route.push(Planned {
            state: std::mem::replace(&mut state, next),
            transition: step.transition,
            event: Event::new(action.name.clone(), values),
            kind: action.kind,
        });
    }
    Some((route, state))
}

/// A shortest run to Pass, as an example.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Example {
    /// These events are a run with these constants.
    Run(Vec<(Datum, Value)>, Vec<Event>),
    /// There is certainly no such run.
    None,
    /// No run was found up to this bound of a search.
    NotFound(SearchBound),
}

/// Looks for a shortest run to Pass, with constants of its own choice.
pub fn find_example(test: &TestCase, solver: &mut dyn Solver) -> Example {
    // Numbers that become too long on the way must not end the caller's work.
    let is_certain = false;
    let budget = Budget::new("example", None, is_certain);
    let example = budget::within(&budget, || find_example_within_budget(test, solver));
    example.unwrap_or(Example::NotFound(SearchBound::Digits))
}

/// Finds the example: a way from the start by search, fired with its values.
fn find_example_within_budget(test: &TestCase, solver: &mut dyn Solver) -> Example {
    let limits = SearchLimits::default();
    let mut searcher = Searcher::new(test.iosts.clone(), search_goal(test));
    let way = match searcher.from_start(&Term::yes(), &limits, solver) {
        SearchOutcome::Path(way) => way,
        SearchOutcome::None => return Example::None,
        SearchOutcome::NotFound(bound) => return Example::NotFound(bound),
    };
    // The way may leave values open. They are drawn with a fixed seed.
    let mut random = Random::new(0);
    let mut constants = Valuation::new();
    for datum in &test.iosts.constants {
        constants.insert(datum.clone(), value_or_any(&way.values, datum, &mut random));
    }
    let run = initial::first(&test.iosts, &constants, solver).ok().and_then(|state| {
        let (route, _) = fire_way(test, &state, &way, &mut random)?;
        let events = route.into_iter().filter(|step| step.kind != ActionKind::Internal);
        Some(Example::Run(test.constants_in(&state), events.map(|step| step.event).collect()))
    });
    run.unwrap_or(Example::NotFound(SearchBound::Values(limits.nodes)))
}

fn value_or_any(values: &Valuation, symbol: &Datum, random: &mut Random) -> Value {
    values.get(symbol).cloned().unwrap_or_else(|| any(symbol.ty(), random))
}
