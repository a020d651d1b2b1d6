//! Makes a path concrete, and finds out what its trace shows for certain.
//!
//! **Problem.** A purpose sees events and data, not locations. A path that meets a goal is worthless as a
//! test if its trace has another explanation that does not meet the goal.
//!
//! **Method.** The solver solves the path's condition together with the goal's conditions at its steps. Its
//! values make the initial state and the events. The concrete semantics takes the events step by step. Then
//! all explanations of the trace are checked. For an item the code that counts coverage does it
//! ([`explain_trace`]). For pairs and paths the explanations are listed. If another transition of the same
//! action could take an event of the path, values are tried first that it cannot take. The purpose then asks
//! for such values ([`Route::guards`]).
//!
//! A purpose also accepts runs with other values than the run that was found, and these may show less. So all
//! paths are listed that may explain an accepted run ([`Explanations`]). If all meet the goal, it is shown.

use std::collections::{BTreeMap, BTreeSet};

use coreach_analyses::solver::{Answer, Solver, Witness};
use coreach_analyses::symbolic::existence::eliminate_bound;
use coreach_analyses::symbolic::{SymbolicState, SymbolicStep, System};
use coreach_execution::coverage::{Item, Walked, explain_trace};
use coreach_execution::run::Occurrence;
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::semantics::{Event, State, fire, is_initial};
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, Term, TransitionId, Value, budget};

use super::goals::{Goal, uses};

/// A path, with conditions at its steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// Its transitions, from the initial location.
    pub path: Vec<TransitionId>,
    /// Conditions on the data before a step and on its parameters, by the place of the step.
    pub asked: BTreeMap<usize, Term>,
    /// Does it ask for events that no other transition of their action can take?
    pub is_alone: bool,
    /// The number of steps at its end that are only watched: any other answer is accepted there.
    pub watched: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunEvidence {
    pub initial: State,
    pub trace: Vec<Event>,
    pub end: State,
}

impl Route {
    pub fn new(path: Vec<TransitionId>) -> Self {
        Route { path, asked: BTreeMap::new(), is_alone: true, watched: 0 }
    }

    /// The steps that the system must take.
    pub fn promised(&self) -> &[TransitionId] {
        &self.path[..self.path.len() - self.watched]
    }

    /// Cuts a run along the route to the steps that the system must take.
    pub fn promised_by(&self, iosts: &Iosts, evidence: &RunEvidence) -> RunEvidence {
        let events = self.promised().iter().filter(|number| iosts.action_of(**number).is_visible()).count();
        RunEvidence { trace: evidence.trace[..events].to_vec(), ..evidence.clone() }
    }

    /// Do constants, parameters and the path determine whether the conditions hold?
    pub fn is_determined(&self, iosts: &Iosts) -> bool {
        is_determined_along(iosts, &self.path, self.asked.iter().map(|(place, asked)| (*place, asked)))
    }

    /// Makes a route that also asks for the values of this run: for those of its events, and for those of the
    /// constants if `with_constants`.
    pub fn with_values_of(&self, iosts: &Iosts, run: &RunEvidence, with_constants: bool) -> Self {
        let mut fixed = self.clone();
        let trace = &run.trace;
        let is_seen = |place: &usize| iosts.action_of(self.path[*place]).is_visible();
        for (place, event) in (0..self.path.len()).filter(is_seen).zip(trace) {
            let parameters = &iosts.action_of(self.path[place]).parameters;
            let values = parameters.iter().zip(&event.values).map(|(datum, value)| has_value(datum, value));
            let asked = fixed.asked.remove(&place).unwrap_or_else(Term::yes);
            fixed.asked.insert(place, Term::and([asked].into_iter().chain(values)));
        }
        // Constants never change, so the first visible step asks for them.
        let first_seen = (0..self.path.len()).find(is_seen).filter(|_| with_constants);
        if let Some(place) = first_seen {
            let values = iosts.constants.iter();
            let values = values.filter_map(|datum| Some(has_value(datum, run.initial.valuation.get(datum)?)));
            let asked = fixed.asked.remove(&place).unwrap_or_else(Term::yes);
            fixed.asked.insert(place, Term::and([asked].into_iter().chain(values)));
        }
        fixed
    }

    /// The purpose's guard of each step: its condition and, if `is_alone`, that nothing else takes the event.
    pub fn guards(&self, system: &System<'_>, solver: &mut dyn Solver) -> Vec<Term> {
        let guard = |(place, number): (usize, &TransitionId)| {
            let mut parts: Vec<Term> = self.asked.get(&place).cloned().into_iter().collect();
            let transition = &system.iosts.transitions[*number];
            let is_promised = place < self.promised().len();
            if self.is_alone && is_promised && system.iosts.action(transition.action).is_visible() {
                for other in &system.outgoing[transition.source] {
                    let is_rival =
                        *other != *number && system.iosts.transitions[*other].action == transition.action;
                    let both = [system.enabled(*number).clone(), system.enabled(*other).clone()];
                    if is_rival && solver.check(&both) != Answer::Unsat {
                        parts.push(system.enabled(*other).not());
                    }
                }
            }
            Term::and(parts)
        };
        self.path.iter().enumerate().map(guard).collect()
    }

    /// For each watched step, the condition before it under which an accepted event can follow: an answer, or
    /// this step with the steps after it. A condition that needs a quantifier is taken as true.
    pub fn may_go_on(&self, system: &System<'_>, solver: &mut dyn Solver) -> Vec<Term> {
        let iosts = system.iosts;
        let kind = |number: TransitionId| iosts.action(iosts.transitions[number].action).kind;
        // From the last step backwards: the condition after the step.
        let mut after = Term::yes();
        let mut conditions = Vec::new();
        for &number in self.path[self.promised().len()..].iter().rev() {
            let transition = &iosts.transitions[number];
            let is_answer = matches!(kind(number), ActionKind::Output | ActionKind::Quiescence);
            let rest_possible = substitute(&after, &transition.assignments);
            let takes_step = Term::and([system.enabled(number).clone(), rest_possible]);
            let answers = system.outgoing[transition.source].iter().filter(|other| match kind(**other) {
                ActionKind::Output => true,
                // Before a stimulus, silence changes nothing.
                ActionKind::Quiescence => is_answer,
                ActionKind::Input | ActionKind::Internal => false,
            });
            let answers = answers.map(|other| (*other, system.enabled(*other).clone()));
            let ways = answers.chain((!is_answer).then_some((number, takes_step)));
            after = Term::or(ways.map(|(number, condition)| {
                let parameters = &iosts.action(iosts.transitions[number].action).parameters;
                eliminate_bound(parameters, &condition, solver).unwrap_or_else(Term::yes)
            }));
            conditions.push(after.clone());
        }
        conditions.reverse();
        conditions
    }
}

/// The most steps that are followed to list explanations. With more, nothing is shown for certain.
const MOST_STEPS_FOLLOWED: usize = 200;

/// The most states that are followed to explain a trace. With more, it shows nothing.
const MOST_STATES_FOLLOWED: usize = 500;

/// Makes the condition that a datum has a value. For an array it is about the first cells, and about those
/// that differ from the default, since a model cannot speak about all cells.
pub fn has_value(datum: &Datum, value: &Value) -> Term {
    term_has_value(&Term::datum(datum), value)
}

fn term_has_value(term: &Term, value: &Value) -> Term {
    match value {
        Value::Record(_, fields) => Term::and(
            fields.iter().enumerate().map(|(index, field)| term_has_value(&Term::field(term, index), field)),
        ),
        Value::Array(array) => {
            // The first four cells, and all that differ from the default.
            let numbers = (0..4).map(Value::int).filter(|index| index.is_in(&array.ty.index));
            let indices: BTreeSet<Value> = numbers.chain(array.cells.keys().cloned()).collect();
            let cell = |index: &Value| {
                term_has_value(&Term::select(term, &Term::literal(index.clone())), array.get(index))
            };
            Term::and(indices.iter().map(cell))
        }
        _ => Term::equal(term, &Term::literal(value.clone())),
    }
}

/// The symbolic values of the data before a step, and of the step's parameters.
pub fn values_before_step(system: &System<'_>, before: &SymbolicState, step: &SymbolicStep) -> Substitution {
    let action = system.iosts.action(system.iosts.transitions[step.transition].action);
    let mut values = before.data_terms();
    values.extend(action.parameters.iter().cloned().zip(step.parameters.iter().map(Term::datum)));
    values
}

/// Finds a run along the route whose trace is none of the avoided ones. `None` if none was found.
pub fn run_along(
    system: &System<'_>,
    route: &Route,
    avoided: &[Vec<Event>],
    solver: &mut dyn Solver,
) -> Option<RunEvidence> {
    let guards = route.guards(system, solver);
    let mut state = SymbolicState::initial(system.iosts);
    let mut condition = state.condition.clone();
    let mut steps = Vec::new();
    // The path's condition over symbols, with the guards.
    for (number, guard) in route.path.iter().zip(guards) {
        let (step, next) = system.successor(&state, *number)?;
        condition.extend(next.condition[state.condition.len()..].iter().cloned());
        condition.push(substitute(&guard, &values_before_step(system, &state, &step)));
        steps.push(step);
        state = next;
    }
    // At least one value differs from each avoided trace.
    let symbols: Vec<&Datum> = steps.iter().flat_map(|step: &SymbolicStep| &step.parameters).collect();
    for trace in avoided {
        let values = trace.iter().flat_map(|event| &event.values);
        let differs = |(symbol, value): (&&Datum, &Value)| {
            Term::equal(&Term::datum(symbol), &Term::literal(value.clone())).not()
        };
        condition.push(Term::or(symbols.iter().zip(values).map(differs)));
    }
    let Witness::Found(values) = solver.witness(&condition) else { return None };
    let value = |datum: &Datum| values.get(datum).cloned().unwrap_or_else(|| Value::any(datum.ty()));
    let iosts = system.iosts;
    let data = iosts.constants.iter().chain(&iosts.variables);
    let valuation: Valuation = data.map(|datum| (datum.clone(), value(datum))).collect();
    let initial = State { location: iosts.initial, valuation };
    if !is_initial(iosts, &initial) {
        return None;
    }
    // The concrete semantics takes the steps with the solver's values.
    let (mut reached, mut trace) = (initial.clone(), Vec::new());
    for step in steps {
        let transition = &iosts.transitions[step.transition];
        let sent: Vec<Value> = step.parameters.iter().map(value).collect();
        reached = fire(iosts, transition, &reached, &sent)?;
        let action = iosts.action(transition.action);
        if action.is_visible() {
            trace.push(Event::new(action.name.clone(), sent));
        }
    }
    Some(RunEvidence { initial, trace, end: reached })
}

/// The paths that may explain a run which a route's purpose accepts, up to the end of the promised steps.
pub struct Explanations {
    /// `None`, if there are too many.
    paths: Option<Vec<Vec<TransitionId>>>,
    /// Does the path determine whether the conditions that the route asks for hold?
    is_determined: bool,
}

impl Explanations {
    /// Lists the paths. The route is the only one if it asks for events that nothing else takes, and no
    /// internal step leaves its locations. Otherwise these are all paths with the same visible actions under
    /// the purpose's conditions on parameters and constants. Conditions on variables do not restrict other
    /// paths.
    pub fn of(system: &System<'_>, route: &Route, solver: &mut dyn Solver) -> Self {
        let iosts = system.iosts;
        let is_determined = route.is_determined(iosts);
        let guards = route.guards(system, solver);
        let promised = route.promised();
        let is_seen = |number: TransitionId| iosts.action_of(number).is_visible();
        let is_left_visibly = |location| system.outgoing[location].iter().all(|number| is_seen(*number));
        let visited = promised.iter().map(|number| iosts.transitions[*number].source);
        let is_alone = route.is_alone && is_determined_along(iosts, &route.path, guards.iter().enumerate());
        if is_alone && visited.into_iter().all(is_left_visibly) {
            return Explanations { paths: Some(vec![promised.to_vec()]), is_determined };
        }
        let is_shared = |number: TransitionId, part: &Term| {
            let parameters = &iosts.action(iosts.transitions[number].action).parameters;
            part.data().iter().all(|datum| parameters.contains(datum) || iosts.constants.contains(datum))
        };
        let steps = promised.iter().zip(guards).filter(|(number, _)| is_seen(**number));
        let asked_steps: Vec<(TransitionId, Term)> = steps
            .map(|(number, guard)| {
                let conjuncts = Term::and([iosts.transitions[*number].guard.clone(), guard]).conjuncts();
                (*number, Term::and(conjuncts.into_iter().filter(|part| is_shared(*number, part))))
            })
            .collect();
        // States to follow, each with the purpose's conditions, the next visible step, and the path.
        let mut to_follow = vec![(SymbolicState::initial(iosts), Vec::new(), 0, Vec::new())];
        let (mut paths, mut steps_tried) = (Vec::new(), 0);
        while let Some((state, conditions, position, path)) = to_follow.pop() {
            let Some((wanted, asked)) = asked_steps.get(position) else {
                paths.push(path);
                continue;
            };
            for &number in &system.outgoing[state.location] {
                let (is_event, action) = (is_seen(number), iosts.transitions[number].action);
                if is_event && action != iosts.transitions[*wanted].action {
                    continue;
                }
                budget::ask();
                steps_tried += 1;
                if steps_tried > MOST_STEPS_FOLLOWED {
                    return Explanations { paths: None, is_determined };
                }
                let Some((step, after)) = system.successor(&state, number) else { continue };
                let mut conditions: Vec<Term> = conditions.clone();
                if is_event {
                    let values = values_before_step(system, &state, &step);
                    conditions.extend(substitute(asked, &values).conjuncts());
                }
                let condition = [after.condition.as_slice(), &conditions].concat();
                if solver.check(&condition) != Answer::Unsat {
                    let path: Vec<TransitionId> = [path.as_slice(), &[number]].concat();
                    to_follow.push((after, conditions, position + usize::from(is_event), path));
                }
            }
        }
        Explanations { paths: Some(paths), is_determined }
    }

    /// Is the route's own path the only one?
    pub fn is_only_path(&self, route: &Route) -> bool {
        let is_own = |path: &Vec<TransitionId>| path == route.promised();
        self.paths.as_ref().is_some_and(|paths| paths.iter().all(is_own))
    }

    /// Does each of the paths meet the goal? An item that also depends on values is met only by the route's
    /// own path, since the purpose asks for the values there.
    pub fn all_meet(&self, walked: &Walked, route: &Route, goal: &Goal) -> bool {
        let iosts = &walked.iosts;
        let Some(paths) = &self.paths else { return false };
        let Goal::Item(item) = goal else { return paths.iter().all(|path| lies_on(iosts, goal, path)) };
        // The specification is the only part (`Walked::alone`).
        match &walked.parts[0].items.all()[*item] {
            Item::Location(location) => paths.iter().all(|path| {
                *location == iosts.initial
                    || path.iter().any(|number| iosts.transitions[*number].target == *location)
            }),
            Item::Transition(number) => paths.iter().all(|path| path.contains(number)),
            Item::Condition { .. } | Item::Class { .. } => self.is_determined && self.is_only_path(route),
        }
    }
}

/// Do constants, parameters and the path determine these conditions, each at its step?
fn is_determined_along<'a>(
    iosts: &Iosts,
    path: &[TransitionId],
    conditions: impl IntoIterator<Item = (usize, &'a Term)>,
) -> bool {
    // For each step, the variables whose values before it are not determined.
    let mut undetermined = vec![list_undetermined(iosts)];
    for (position, number) in path.iter().enumerate() {
        let undetermined_before = &undetermined[position];
        let assignments = &iosts.transitions[*number].assignments;
        let is_open = |variable: &&Datum| match assignments.get(*variable) {
            Some(value) => !undetermined_before.is_disjoint(&value.data().into_iter().collect()),
            None => undetermined_before.contains(*variable),
        };
        undetermined.push(iosts.variables.iter().filter(is_open).cloned().collect());
    }
    conditions
        .into_iter()
        .all(|(position, asked)| asked.data().iter().all(|datum| !undetermined[position].contains(datum)))
}

/// Lists the variables whose initial values do not follow from constants.
fn list_undetermined(iosts: &Iosts) -> BTreeSet<Datum> {
    let parts = iosts.initial_condition.conjuncts();
    let is_given = |term: &Term| term.data().iter().all(|datum| iosts.constants.contains(datum));
    let is_open = |variable: &&Datum| {
        let variable_term = Term::datum(variable);
        !parts.iter().any(|part| match part.node() {
            Node::Compare(Comparison::Equal, left, right) => {
                *left == variable_term && is_given(right) || *right == variable_term && is_given(left)
            }
            // A Boolean variable is given a value by itself, or negated.
            Node::Not(negated) => *negated == variable_term,
            _ => *part == variable_term,
        })
    };
    iosts.variables.iter().filter(is_open).cloned().collect()
}

/// What all explanations of a trace have in common.
pub struct CommonEvidence {
    /// How often each item is met at least.
    items: Vec<u32>,
    /// All paths that explain the trace. `None`, if there are too many.
    paths: Option<Vec<Vec<TransitionId>>>,
}

/// Explains the trace of a run in all ways.
pub fn collect_shown(walked: &Walked, evidence: &RunEvidence) -> CommonEvidence {
    let iosts = &walked.iosts;
    let occurrence = |event: &Event| {
        let is_input =
            iosts.find_action(&event.action).is_some_and(|id| iosts.action(id).kind == ActionKind::Input);
        if is_input { Occurrence::Stimulus(event.clone()) } else { Occurrence::Observation(event.clone()) }
    };
    let trace: Vec<Occurrence> = evidence.trace.iter().map(occurrence).collect();
    // Without a link, and in at most 10,000 states at once.
    let explained = explain_trace(walked, &evidence.initial, &trace, None, 10_000).ok();
    let items =
        explained.filter(|explained| explained.refused.is_none()).map(|explained| explained.bounds.least);
    CommonEvidence { items: items.unwrap_or_default(), paths: list_explaining_paths(walked, evidence) }
}

impl CommonEvidence {
    /// Do all explanations of the trace meet the goal?
    pub fn meets(&self, iosts: &Iosts, goal: &Goal) -> bool {
        match goal {
            Goal::Item(number) => self.items.get(*number).is_some_and(|least| *least > 0),
            // The run alone does not say it.
            Goal::Fault(_) | Goal::Sequence(_) => false,
            _ => self.paths.as_ref().is_some_and(|paths| {
                !paths.is_empty() && paths.iter().all(|path| lies_on(iosts, goal, path))
            }),
        }
    }
}

/// Does a path meet a goal of several transitions? False for all other goals.
pub fn lies_on(iosts: &Iosts, goal: &Goal, path: &[TransitionId]) -> bool {
    match goal {
        Goal::Item(_) | Goal::Fault(_) | Goal::Sequence(_) => false,
        Goal::Pair(first, second) => path.windows(2).any(|two| two == [*first, *second]),
        Goal::DefinitionUse { variable, definition, used } => {
            let mut last = None;
            path.iter().any(|number| {
                let transition = &iosts.transitions[*number];
                let is_used = number == used && last == Some(*definition) && uses(transition, variable);
                if transition.assignments.contains_key(variable) {
                    last = Some(*number);
                }
                is_used
            })
        }
        Goal::Path(wanted) => path.starts_with(wanted),
    }
}

/// Lists the paths that explain a trace up to its last event. `None`, if there are too many.
fn list_explaining_paths(walked: &Walked, evidence: &RunEvidence) -> Option<Vec<Vec<TransitionId>>> {
    let iosts = &walked.iosts;
    // Each state with the number of events before it, and the path to it.
    let mut to_follow = vec![(evidence.initial.clone(), 0, Vec::new())];
    let mut paths: Vec<Vec<TransitionId>> = Vec::new();
    let mut states_tried = 0;
    while let Some((state, position, path)) = to_follow.pop() {
        if position == evidence.trace.len() {
            if !paths.contains(&path) {
                paths.push(path);
            }
            continue;
        }
        let event = &evidence.trace[position];
        for &number in &walked.outgoing[state.location] {
            let transition = &iosts.transitions[number];
            let action = iosts.action(transition.action);
            let (values, position_after): (&[Value], usize) = match action.kind {
                ActionKind::Internal => (&[], position),
                _ if action.name == event.action => (&event.values, position + 1),
                _ => continue,
            };
            let Some(state_after) = fire(iosts, transition, &state, values) else { continue };
            let mut longer = path.clone();
            longer.push(number);
            to_follow.push((state_after, position_after, longer));
        }
        states_tried += 1;
        if states_tried > MOST_STATES_FOLLOWED {
            return None;
        }
    }
    Some(paths)
}
