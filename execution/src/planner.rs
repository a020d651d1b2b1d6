//! Plans a way to Pass: the next stimulus with its values, or that an observation is to be waited for.
//!
//! **Problem.** A test case says which stimuli are *allowed*, not which lead on, and its graph's distances
//! know nothing of the data: going down them repeats a loop whose counter must first reach ten.
//!
//! **Method.** From the present state the shortest way to Pass is searched
//! ([`coreach_analyses::symbolic::search`]), the implementation's answers chosen as if it cooperated; of ways
//! of one length the one on which fewer other answers lose the purpose. The values are the solver's, near a
//! random point where that is possible too, so that two seeds differ. The way is kept: while the run is where
//! it leads, nothing is searched. Once the implementation answers otherwise, it is planned again.
//!
//! **Where there is no plan**, because none was found within the limits or the judge has no test case to plan
//! in, the moves are in random order. Which values were planned is counted with the others
//! ([`crate::values::Source::Planned`]).
//!
//! **Ends** as the search, whose limits count nodes, so that a seed means the same on every machine.

use std::collections::VecDeque;

use coreach_analyses::solver::{Solver, Witness};
use coreach_analyses::symbolic::search::{
    GoalPath, SearchBound, SearchGoal, SearchLimits, SearchOutcome, Searcher,
};
use coreach_model::budget::{self, Budget};
use coreach_model::iosts::ActionKind;
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State, fire};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Term, TransitionId, Value, Verdict, Violated};

use crate::initial;
use crate::test_case::TestCase;
use crate::values::{any, pivots};

/// How far to look from one state: some tens of milliseconds where there is nothing to find.
const LIMITS: SearchLimits = SearchLimits { nodes: 1500, spurious: 4, exact_nodes: 200, work: 1_000_000 };

/// From so many of the states that are possible a way is looked for.
const MOST_STATES: usize = 4;

/// A step of a plan: in this state, this event through this transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// Where the run is to be.
    pub state: State,
    /// The transition of the test case.
    pub transition: TransitionId,
    /// The event: sent by the tester, or hoped for.
    pub event: Event,
    /// Whose it is: an input is sent.
    pub kind: ActionKind,
}

/// Plans in one test case, run after run.
#[derive(Default)]
pub struct Planner {
    searcher: Option<Searcher>,
    route: VecDeque<Planned>,
    /// From these no way was found: it is not searched for twice.
    lost: Vec<State>,
}

/// What leads to Pass in a test case; in that of a property, to a violation that the specification allows.
/// One that it forbids may come anywhere: who goes where it could would stay at the first such place.
pub fn goal(test: &TestCase) -> SearchGoal {
    let lost = |verdict: &Option<Verdict>| matches!(verdict, Some(Verdict::Fail | Verdict::Inconclusive));
    let mut closed = test.verdicts.map(lost);
    let mut locations = test.verdicts.map(|verdict| *verdict == Some(Verdict::Pass));
    for (at, _) in test.violates.numbered().filter(|(_, how)| **how == Some(Violated::Allowed)) {
        (closed[at], locations[at]) = (false, true);
    }
    let is_inconclusive =
        |at: &TransitionId| test.verdict(test.iosts.transitions[*at].target) == Some(Verdict::Inconclusive);
    let risks = test.iosts.transitions.map(|transition| match test.iosts.action(transition.action).kind {
        ActionKind::Output => {
            test.observations[transition.source].iter().filter(|at| is_inconclusive(at)).count()
        }
        _ => 0,
    });
    SearchGoal { locations, closed, risks }
}

impl Planner {
    /// What to do where these states are possible; `None` where no way to Pass is known from any of them.
    pub fn next(
        &mut self,
        test: &TestCase,
        states: &[&State],
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> Option<&Planned> {
        // What was planned up to here has happened, or something else has. Internal steps are in the states
        // already.
        let is_past =
            |planned: &Planned| planned.kind == ActionKind::Internal || !states.contains(&&planned.state);
        while self.route.front().is_some_and(is_past) {
            self.route.pop_front();
        }
        if self.route.is_empty() && !self.lost.iter().eq(states.iter().copied()) {
            self.lost.clear();
            let found =
                states.iter().take(MOST_STATES).find_map(|state| self.search(test, state, random, solver));
            match found {
                Some(route) => {
                    self.route = route.into_iter().filter(|step| step.kind != ActionKind::Internal).collect()
                }
                None => self.lost = states.iter().map(|state| (*state).clone()).collect(),
            }
        }
        self.route.front()
    }

    /// The stimulus of the present step, where it is one through this transition.
    pub fn stimulus(&self, transition: TransitionId) -> Option<&Event> {
        let planned = self.route.front()?;
        (planned.kind == ActionKind::Input && planned.transition == transition).then_some(&planned.event)
    }

    /// Is an observation to be waited for?
    pub fn waits(&self) -> bool {
        let waits = |kind| matches!(kind, ActionKind::Output | ActionKind::Quiescence);
        self.route.front().is_some_and(|planned| waits(planned.kind))
    }

    fn search(
        &mut self,
        test: &TestCase,
        state: &State,
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> Option<VecDeque<Planned>> {
        let known = self.searcher.take().filter(|searcher| *searcher.iosts() == test.iosts);
        let searcher = self.searcher.insert(match known {
            Some(known) => known,
            None => Searcher::new(test.iosts.clone(), goal(test)),
        });
        let SearchOutcome::Path(way) = searcher.from_state(state, &LIMITS, solver) else {
            return None;
        };
        let way = varied(test, way, random, solver);
        route(test, state, &way, random)
    }
}

/// The same way with the first stimulus somewhere else, where that is possible.
fn varied(test: &TestCase, way: GoalPath, random: &mut Random, solver: &mut dyn Solver) -> GoalPath {
    let kind = |transition: TransitionId| test.iosts.action(test.iosts.transitions[transition].action).kind;
    let first = way.steps.iter().find(|step| kind(step.transition) == ActionKind::Input);
    let around = first.map_or_else(Vec::new, |step| pivots(&step.parameters, random));
    if around.is_empty() {
        return way;
    }
    let mut condition: Vec<Term> = way.last.condition.clone();
    condition.extend(around);
    match solver.witness(&condition) {
        Witness::Found(values) => GoalPath { values, ..way },
        Witness::None | Witness::Unknown => way,
    }
}

/// The events of a way, each with the state before it.
pub fn route(
    test: &TestCase,
    from: &State,
    way: &GoalPath,
    random: &mut Random,
) -> Option<VecDeque<Planned>> {
    let mut state = from.clone();
    let mut route = VecDeque::new();
    for step in &way.steps {
        let transition = &test.iosts.transitions[step.transition];
        let action = test.iosts.action(transition.action);
        let values: Vec<Value> =
            step.parameters.iter().map(|symbol| value(&way.values, symbol, random)).collect();
        // It is a way only where the semantics takes it.
        let next = fire(&test.iosts, transition, &state, &values)?;
        route.push_back(Planned {
            state: std::mem::replace(&mut state, next),
            transition: step.transition,
            event: Event::new(action.name.clone(), values),
            kind: action.kind,
        });
    }
    Some(route)
}

/// A shortest run to Pass, as an example.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Example {
    /// With these constants these events, which the semantics takes.
    Run(Vec<(Datum, Value)>, Vec<Event>),
    /// There is surely none.
    None,
    /// None was found up to this bound of a search.
    NotFound(SearchBound),
}

/// Looks for a shortest run to Pass, with constants of its own choice.
pub fn example(test: &TestCase, solver: &mut dyn Solver) -> Example {
    // Numbers that grow too long on the way are no reason to end who asks.
    let budget = Budget::new("example", None, false);
    let found = budget::within(&budget, || example_within(test, solver));
    found.unwrap_or(Example::NotFound(SearchBound::Digits))
}

fn example_within(test: &TestCase, solver: &mut dyn Solver) -> Example {
    let limits = SearchLimits::default();
    let way = match Searcher::new(test.iosts.clone(), goal(test)).from_start(&Term::yes(), &limits, solver) {
        SearchOutcome::Path(way) => way,
        SearchOutcome::None => return Example::None,
        SearchOutcome::NotFound(bound) => return Example::NotFound(bound),
    };
    // What the way leaves open may be anything, and is the same each time.
    let mut random = Random::new(0);
    let constants: Valuation = test
        .iosts
        .constants
        .iter()
        .map(|datum| (datum.clone(), value(&way.values, datum, &mut random)))
        .collect();
    let run = initial::first(&test.iosts, &constants, solver).ok().and_then(|state| {
        let route = route(test, &state, &way, &mut random)?;
        let events = route.into_iter().filter(|step| step.kind != ActionKind::Internal);
        Some(Example::Run(test.constants_in(&state), events.map(|step| step.event).collect()))
    });
    run.unwrap_or(Example::NotFound(SearchBound::Values(limits.nodes)))
}

fn value(values: &Valuation, symbol: &Datum, random: &mut Random) -> Value {
    values.get(symbol).cloned().unwrap_or_else(|| any(symbol.ty(), random))
}
