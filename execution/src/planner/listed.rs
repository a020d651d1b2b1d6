//! The positions of a game, with all events that may happen in each, so that the game can be solved.
//!
//! **Problem.** To say that a purpose can be forced, the planner must know every answer that the
//! specification allows. To say that it cannot, the planner must know every stimulus.
//!
//! **Method.** A position is what the judge knows: the states that are possible after the trace, or the one
//! of a test case. Positions that differ only in data that nobody reads any more are one. The judge itself
//! says where an event leads. Values of an event are listed by *classes* that are alike for the
//! specification: all values of a small type; the value that an equation names; for a parameter that no
//! variable keeps, any value that the guard takes; and for a kept parameter, each value in a small range. For
//! other parameters some values are drawn, and not all are known. If several states are possible, values are
//! alike if the same guards take them.
//!
//! **Ends** after a number of positions. **Costs** a few evaluations for each event, and a question for some.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::time::Duration;

use coreach_analyses::hull::hull;
use coreach_analyses::solver::{Solver, Witness};
use coreach_model::budget;
use coreach_model::iosts::ActionKind;
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State, determined_value, fire};
use coreach_model::term::{literals, substitute};
use coreach_model::value::tuples;
use coreach_model::{Datum, LocationId, Term, TransitionId, Value, Verdict};
use dashu_int::IBig;

use crate::judge::case::CaseJudge;
use crate::judge::online::OnlineJudge;
use crate::judge::{Choice, Follower, Judge, Judged};
use crate::limits::{ATTEMPTS, MOST_LISTED};
use crate::run::Occurrence;
use crate::test_case::TestCase;
use crate::values::tried::are_few_tuples;
use crate::values::{MIX, Values, any, at_state};
use crate::walk::candidates::candidates;
use crate::walk::goals::WalkModel;

/// The most states of one position.
const MOST_TOGETHER: usize = 64;

/// The most guards for which each combination of taking and refusing an event is a class.
const MOST_GUARDS: usize = 3;

/// The states that are possible at once.
pub(super) type PossibleStates = BTreeSet<State>;

/// The key of a position: its states, without the data that nobody reads.
type PositionKey = BTreeSet<(LocationId, Vec<Value>)>;

/// The worth of a position, or of a location, by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PositionWorth {
    Open,
    Won,
    Lost,
}

#[derive(Clone, Debug)]
pub(super) struct GameEvent {
    /// The event; `None` is silence.
    pub(super) event: Option<Event>,
    /// A transition that takes it.
    pub(super) transition: TransitionId,
    /// The position after it.
    pub(super) to: usize,
}

/// All events that may happen in a position.
#[derive(Clone, Default, Debug)]
pub(super) struct GameOptions {
    /// Events that the tester may send.
    pub(super) stimuli: Vec<GameEvent>,
    /// Does `stimuli` have one of each class?
    pub(super) has_all_stimuli: bool,
    /// Answers that the specification allows, silence included.
    pub(super) answers: Vec<GameEvent>,
    /// Does `answers` have one of each class?
    pub(super) has_all_answers: bool,
    /// Does one of the answers certainly come?
    pub(super) is_owed: bool,
    /// Has the tester waited for the answers in vain?
    pub(super) is_silent: bool,
}

pub(super) struct GamePosition {
    pub(super) states: PossibleStates,
    pub(super) worth: PositionWorth,
    /// The events there; `None` if they were not listed.
    pub(super) options: Option<GameOptions>,
}

pub(super) struct ListedGame {
    model: WalkModel,
    all: Vec<GamePosition>,
    known: HashMap<PositionKey, usize>,
    values: Values,
    random: Random,
}

impl ListedGame {
    pub(super) fn new(test: &TestCase) -> Self {
        let with_classes = false;
        ListedGame {
            model: WalkModel::new(test.iosts.clone(), &[], with_classes),
            all: Vec::new(),
            known: HashMap::new(),
            values: Values::new(MIX).of_model(&test.iosts),
            // The seed is fixed, so that the same positions are found each time.
            random: Random::new(0),
        }
    }

    pub(super) fn all(&self) -> &[GamePosition] {
        &self.all
    }

    /// Notes that nothing came in a position. Returns whether an answer was expected until now.
    pub(super) fn expect_nothing(&mut self, position: usize) -> bool {
        let Some(options) = &mut self.all[position].options else { return false };
        !std::mem::replace(&mut options.is_silent, true) && !options.answers.is_empty()
    }

    /// Finds or makes the position of these states.
    pub(super) fn position(&mut self, states: &PossibleStates, worth: PositionWorth) -> usize {
        let without_unread = |state: &State| {
            let values = self.model.live(state).map(|(_, _, value)| value.clone());
            (state.location, values.collect())
        };
        let key: PositionKey = states.iter().map(without_unread).collect();
        *self.known.entry(key).or_insert_with(|| {
            self.all.push(GamePosition { states: states.clone(), worth, options: None });
            self.all.len() - 1
        })
    }

    /// Lists the events of up to `limit` positions, the nearest first. Stops if they are enough, which is
    /// asked after 30 positions, and each time that there are three times as many.
    pub(super) fn explore(
        &mut self,
        test: &TestCase,
        root: usize,
        limit: usize,
        solver: &mut dyn Solver,
        is_enough: impl Fn(&[GamePosition]) -> bool,
    ) {
        let mut next_check = 30;
        let (mut queue, mut seen) = (VecDeque::from([root]), HashSet::from([root]));
        let mut count = 0;
        while let Some(position) = queue.pop_front() {
            if self.all[position].options.is_none() && self.all[position].worth == PositionWorth::Open {
                if count == limit {
                    return;
                }
                if count == next_check {
                    if is_enough(&self.all) {
                        return;
                    }
                    next_check *= 3;
                }
                self.list_events(test, position, solver);
                count += 1;
            }
            if let Some(options) = &self.all[position].options {
                let events = options.stimuli.iter().chain(&options.answers);
                queue.extend(events.map(|event| event.to).filter(|to| seen.insert(*to)));
            }
        }
    }

    /// Lists the events that may happen in a position, unless it has too many states.
    fn list_events(&mut self, test: &TestCase, position: usize, solver: &mut dyn Solver) {
        let states = self.all[position].states.clone();
        if states.len() > MOST_TOGETHER {
            return;
        }
        budget::ask();
        let mut options = GameOptions { is_owed: must_answer(test, &states), ..GameOptions::default() };
        (options.stimuli, options.has_all_stimuli) =
            self.list_of_kind(test, &states, ActionKind::Input, solver);
        (options.answers, options.has_all_answers) =
            self.list_of_kind(test, &states, ActionKind::Output, solver);
        let silence = states.iter().find_map(|state| test.silences[state.location].first());
        if let Some(&transition) = silence {
            options.is_owed = true;
            if let Some((after, worth)) = states_after(test, &states, &Occurrence::Silence(Duration::ZERO)) {
                let to = self.position(&after, worth);
                options.answers.push(GameEvent { event: None, transition, to });
            }
        }
        self.all[position].options = Some(options);
    }

    /// Lists the stimuli, or the answers, of these states. Returns whether each class has one.
    fn list_of_kind(
        &mut self,
        test: &TestCase,
        states: &PossibleStates,
        kind: ActionKind,
        solver: &mut dyn Solver,
    ) -> (Vec<GameEvent>, bool) {
        let lists = if kind == ActionKind::Input { &test.stimuli } else { &test.observations };
        let mut by_action: BTreeMap<_, Vec<(TransitionId, &State)>> = BTreeMap::new();
        for state in states {
            for number in lists[state.location].iter().copied() {
                let transition = &test.iosts.transitions[number];
                let is_fail = test.verdict(transition.target) == Some(Verdict::Fail);
                if transition.source == state.location && !is_fail {
                    by_action.entry(transition.action).or_default().push((number, state));
                }
            }
        }
        let mut events = Vec::new();
        let mut has_all_classes = true;
        for (action, through) in by_action {
            let (vectors, has_all_of_action) = self.list_values(test, &through, solver);
            has_all_classes &= has_all_of_action;
            for values in vectors {
                let takes = |(number, state): &&(TransitionId, &State)| {
                    fire(&test.iosts, &test.iosts.transitions[*number], state, &values).is_some()
                };
                let Some((transition, _)) = through.iter().find(takes).copied() else { continue };
                let event = Event::new(test.iosts.action(action).name.clone(), values);
                let occurrence = match kind {
                    ActionKind::Input => Occurrence::Stimulus(event.clone()),
                    _ => Occurrence::Observation(event.clone()),
                };
                if let Some((after, worth)) = states_after(test, states, &occurrence) {
                    let to = self.position(&after, worth);
                    events.push(GameEvent { event: Some(event), transition, to });
                }
            }
        }
        (events, has_all_classes)
    }

    /// Lists vectors of values that one of these transitions takes. Returns whether each class (see the
    /// opening of the file) has one.
    fn list_values(
        &mut self,
        test: &TestCase,
        through: &[(TransitionId, &State)],
        solver: &mut dyn Solver,
    ) -> (BTreeSet<Vec<Value>>, bool) {
        let Some((first, _)) = through.first() else { return (BTreeSet::new(), true) };
        let parameters = &test.iosts.action_of(*first).parameters;
        let lists: Option<Vec<Vec<Value>>> =
            parameters.iter().map(|parameter| Value::enumerate(parameter.ty(), MOST_LISTED)).collect();
        if let Some(lists) = lists.filter(|lists| are_few_tuples(lists, MOST_LISTED)) {
            return (tuples(&lists).into_iter().collect(), true);
        }
        // A test case is deterministic: each event has one transition.
        let has_one_transition = test.online.is_none() || through.len() == 1;
        // A class is a combination of guards that hold while the others fail. If these are too many, only
        // those with a single guard that holds are tried.
        let are_combined = !has_one_transition && through.len() <= MOST_GUARDS;
        let class_count = if are_combined { (1 << through.len()) - 1 } else { through.len() };
        let (mut vectors, mut has_all_classes) = (BTreeSet::new(), has_one_transition || are_combined);
        for class in 0..class_count {
            let holds = |index: usize| match are_combined {
                // The bits of the class's number, from 1, are the guards that hold.
                true => (class + 1) >> index & 1 == 1,
                false => index == class,
            };
            let mut condition = Vec::new();
            let mut kept: BTreeSet<&Datum> = BTreeSet::new();
            for (index, (number, state)) in through.iter().enumerate() {
                let transition = &test.iosts.transitions[*number];
                let guard = at_state(&transition.guard, parameters, &state.valuation);
                if holds(index) {
                    condition.push(guard);
                    for (variable, term) in &transition.assignments {
                        if self.model.is_live(transition.target, variable) {
                            kept.extend(parameters.iter().filter(|parameter| term.mentions(parameter)));
                        }
                    }
                } else if !has_one_transition {
                    condition.push(Term::not(&guard));
                }
            }
            let condition = Term::and(condition);
            match list_members(&condition, parameters, &kept, &mut self.random, solver) {
                Some(members) => vectors.extend(members),
                None => {
                    has_all_classes = false;
                    // A combination of guards has no transition of its own: any will do.
                    let (number, state) = through[class.min(through.len() - 1)];
                    let ListedGame { model, values, random, .. } = self;
                    let mut sources = Choice { values, random, solver: &mut *solver };
                    let tried = candidates(model, number, state, ATTEMPTS, &mut sources);
                    vectors.extend(tried.into_iter().map(|candidate| candidate.values));
                }
            }
        }
        (vectors, has_all_classes)
    }
}

/// Finds a vector of values for each combination of the kept parameters. `None`: many, or not known.
fn list_members(
    condition: &Term,
    parameters: &[Datum],
    kept: &BTreeSet<&Datum>,
    random: &mut Random,
    solver: &mut dyn Solver,
) -> Option<Vec<Vec<Value>>> {
    if condition.is_false() {
        return Some(Vec::new());
    }
    let conjuncts = condition.unfolded_conjuncts();
    let number_parameters: Vec<Datum> =
        parameters.iter().filter(|parameter| parameter.ty().is_number()).cloned().collect();
    let is_numeric = condition.data().iter().all(|datum| number_parameters.contains(datum));
    let kept: Vec<&Datum> = parameters.iter().filter(|datum| kept.contains(datum)).collect();
    // A list of values for each kept parameter.
    let mut lists = Vec::new();
    for datum in kept.iter().copied() {
        let list = match determined_value(datum, &conjuncts, &Default::default()) {
            Some(value) => vec![value],
            None => match Value::enumerate(datum.ty(), MOST_LISTED) {
                Some(list) => list,
                None => integers_in_range(datum, condition, &number_parameters).filter(|_| is_numeric)?,
            },
        };
        lists.push(list);
    }
    if !are_few_tuples(&lists, MOST_LISTED) {
        return None;
    }
    let mut vectors = Vec::new();
    for values in tuples(&lists) {
        let remaining_condition = substitute(condition, &literals(kept.iter().copied().zip(&values)));
        let Some(mut vector) = complete(&remaining_condition, parameters, random, solver)? else { continue };
        for (datum, value) in kept.iter().zip(values) {
            if let Some(place) = parameters.iter().position(|parameter| parameter == *datum) {
                vector[place] = value;
            }
        }
        vectors.push(vector);
    }
    Some(vectors)
}

/// Finds any values of the parameters that satisfy a condition: drawn ones, or the solver's. The outer `None`
/// says that it is not known, the inner one that there are none.
fn complete(
    condition: &Term,
    parameters: &[Datum],
    random: &mut Random,
    solver: &mut dyn Solver,
) -> Option<Option<Vec<Value>>> {
    // To draw values takes less time than to ask the solver.
    for _ in 0..3 {
        let drawn: Vec<Value> = parameters.iter().map(|parameter| any(parameter.ty(), random)).collect();
        if substitute(condition, &literals(parameters.iter().zip(&drawn))).is_true() {
            return Some(Some(drawn));
        }
        if condition.is_false() {
            return Some(None);
        }
    }
    let solution = match solver.witness(&condition.conjuncts()) {
        Witness::Found(solution) => solution,
        Witness::None => return Some(None),
        Witness::Unknown => return None,
    };
    let value =
        |parameter: &Datum| solution.get(parameter).cloned().unwrap_or_else(|| any(parameter.ty(), random));
    Some(Some(parameters.iter().map(value).collect()))
}

/// Lists all integers in the range that a condition leaves a datum: none if it cannot hold. `None`: they are
/// many, or the range has no end.
fn integers_in_range(datum: &Datum, condition: &Term, numbers: &[Datum]) -> Option<Vec<Value>> {
    if !datum.ty().is_integer() {
        return None;
    }
    let dimension = numbers.iter().position(|number| number == datum)?;
    let Some(range) = hull(condition, numbers).range(dimension) else { return Some(Vec::new()) };
    let (low, high) = (range.low?.ceil(), range.high?.floor());
    if &high - &low > IBig::from(MOST_LISTED) {
        return None;
    }
    let mut integers = Vec::new();
    let mut value = low;
    while value <= high {
        integers.push(Value::Int(value.clone()));
        value += IBig::ONE;
    }
    Some(integers)
}

/// Returns the states after an event, and their worth. `None`: the event is forbidden.
fn states_after(
    test: &TestCase,
    states: &PossibleStates,
    occurrence: &Occurrence,
) -> Option<(PossibleStates, PositionWorth)> {
    match &test.online {
        Some(online) => {
            let judge = OnlineJudge::in_states(test, online, states.clone());
            follow_with(judge, occurrence, |judge| judge.states().cloned().collect())
        }
        None => {
            let judge = CaseJudge::new(test, states.first()?.clone());
            follow_with(judge, occurrence, |judge| [judge.state().clone()].into())
        }
    }
}

/// Shows an event to a judge. Returns its states and their worth; `None` for a Fail.
fn follow_with<J: Follower>(
    mut judge: J,
    occurrence: &Occurrence,
    states: impl Fn(&J) -> PossibleStates,
) -> Option<(PossibleStates, PositionWorth)> {
    match judge.take(occurrence) {
        Judged::Followed(_) => {}
        Judged::Ends(Verdict::Fail, _) => return None,
        Judged::Ends(..) => return Some((PossibleStates::new(), PositionWorth::Lost)),
    }
    let verdict = judge.verdict();
    (verdict != Some(Verdict::Fail)).then(|| (states(&judge), worth_of(verdict)))
}

/// Must the system send something in these states?
fn must_answer(test: &TestCase, states: &PossibleStates) -> bool {
    match (&test.online, states.first()) {
        (Some(online), _) => OnlineJudge::in_states(test, online, states.clone()).must_go_on(),
        (None, Some(state)) => CaseJudge::new(test, state.clone()).must_go_on(),
        (None, None) => false,
    }
}

/// Returns the states where a run begins, and their worth.
pub(super) fn begin_states(test: &TestCase, initial: State) -> (PossibleStates, PositionWorth) {
    match &test.online {
        Some(online) => {
            let judge = OnlineJudge::in_states(test, online, [initial].into());
            let worth = worth_of(judge.verdict());
            (judge.states().cloned().collect(), worth)
        }
        None => {
            let worth = worth_of(test.verdict(initial.location));
            ([initial].into(), worth)
        }
    }
}

fn worth_of(verdict: Option<Verdict>) -> PositionWorth {
    match verdict {
        None => PositionWorth::Open,
        Some(Verdict::Pass) => PositionWorth::Won,
        Some(Verdict::Fail | Verdict::Inconclusive | Verdict::WeakPass) => PositionWorth::Lost,
    }
}
