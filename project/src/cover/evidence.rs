//! A path made concrete, and what its trace shows for certain.
//!
//! **Problem.** A purpose sees events and data, not locations. A path that meets a goal is worth nothing as a
//! test where its trace has another explanation that does not.
//!
//! **Method.** The path's condition, with what the goal asks for at a step, is solved; the values make
//! initial state and events; the events are taken step by step by the concrete semantics, so that nothing
//! rests on the solver. Then all explanations of the trace are asked: of an item by what counts coverage
//! ([`explain`]), of pairs and paths by listing them.
//!
//! Where another transition of the same action could take an event of the path, the values are first looked
//! for where none can; the purpose then asks for the same ([`Route::guards`]).
//!
//! A purpose takes other values than the run that was found, and what one run shows another may leave open.
//! So all paths are listed that may explain a run which the purpose accepts ([`Explanations`]). The purpose
//! shows the goal only if each of them meets it.

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
use coreach_model::term::substitute;
use coreach_model::{Datum, Term, TransitionId, Value, budget};

use super::goals::{Goal, uses};

/// A path, with what is asked at its steps beyond their being taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// Its transitions, from the initial location.
    pub path: Vec<TransitionId>,
    /// For a step, by its place, a condition on the data before it and on its parameters.
    pub asked: BTreeMap<usize, Term>,
    /// Does it ask for events that no other transition of their action can take?
    pub is_alone: bool,
    /// So many steps at its end are watched, and another answer will do.
    pub watched: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evidence {
    pub initial: State,
    pub trace: Vec<Event>,
    pub end: State,
}

impl Route {
    pub fn new(path: Vec<TransitionId>) -> Self {
        Route { path, asked: BTreeMap::new(), is_alone: true, watched: 0 }
    }

    /// What the system must go along.
    pub fn promised(&self) -> &[TransitionId] {
        &self.path[..self.path.len() - self.watched]
    }

    /// Cuts a run along the route to what the system must go along.
    pub fn promised_by(&self, iosts: &Iosts, evidence: &Evidence) -> Evidence {
        let is_seen = |number: &&TransitionId| iosts.action(iosts.transitions[**number].action).is_visible();
        let events = self.promised().iter().filter(is_seen).count();
        Evidence { trace: evidence.trace[..events].to_vec(), ..evidence.clone() }
    }

    /// Do constants, parameters and the path determine whether what is asked holds?
    pub fn is_determined(&self, iosts: &Iosts) -> bool {
        is_determined_along(iosts, &self.path, self.asked.iter().map(|(place, asked)| (*place, asked)))
    }

    /// The route with the values of this run, which is one along it, asked for; with those of constants too
    /// where `constants` says so.
    pub fn with_values_of(&self, iosts: &Iosts, run: &Evidence, constants: bool) -> Self {
        let mut fixed = self.clone();
        let trace = &run.trace;
        let is_seen = |place: &usize| iosts.action(iosts.transitions[self.path[*place]].action).is_visible();
        for (place, event) in (0..self.path.len()).filter(is_seen).zip(trace) {
            let parameters = &iosts.action(iosts.transitions[self.path[place]].action).parameters;
            let values = parameters.iter().zip(&event.values).map(|(datum, value)| says(datum, value));
            let values = Term::and(values);
            let asked = fixed.asked.remove(&place).unwrap_or_else(Term::yes);
            fixed.asked.insert(place, Term::and([asked, values]));
        }
        let first = (0..self.path.len()).find(is_seen).filter(|_| constants);
        if let Some(place) = first {
            let given = iosts.constants.iter();
            let given = given.filter_map(|datum| Some(says(datum, run.initial.valuation.get(datum)?)));
            let asked = fixed.asked.remove(&place).unwrap_or_else(Term::yes);
            fixed.asked.insert(place, Term::and([asked].into_iter().chain(given)));
        }
        fixed
    }

    /// For each step what is asked of it: the goal's condition, and that no other transition takes the event.
    pub fn guards(&self, system: &System<'_>, solver: &mut dyn Solver) -> Vec<Term> {
        let guard = |(place, number): (usize, &TransitionId)| {
            let mut parts: Vec<Term> = self.asked.get(&place).cloned().into_iter().collect();
            let transition = &system.iosts.transitions[*number];
            let is_promised = place < self.promised().len();
            if self.is_alone && is_promised && system.iosts.action(transition.action).is_visible() {
                for other in &system.outgoing[transition.source] {
                    let another =
                        *other != *number && system.iosts.transitions[*other].action == transition.action;
                    let both = [system.enabled(*number).clone(), system.enabled(*other).clone()];
                    if another && solver.check(&both) != Answer::Unsat {
                        parts.push(system.enabled(*other).not());
                    }
                }
            }
            Term::and(parts)
        };
        self.path.iter().enumerate().map(guard).collect()
    }

    /// Before each step that is only watched, when something can follow that the purpose accepts: an answer,
    /// or this step and what comes behind it. Where that cannot be said without a quantifier it is believed.
    pub fn may_go_on(&self, system: &System<'_>, solver: &mut dyn Solver) -> Vec<Term> {
        let iosts = system.iosts;
        let kind = |number: TransitionId| iosts.action(iosts.transitions[number].action).kind;
        let mut behind = Term::yes();
        let mut found = Vec::new();
        for &number in self.path[self.promised().len()..].iter().rev() {
            let transition = &iosts.transitions[number];
            let is_answer = matches!(kind(number), ActionKind::Output | ActionKind::Quiescence);
            let on = substitute(&behind, &transition.assignments);
            let own = Term::and([system.enabled(number).clone(), on]);
            let answers = system.outgoing[transition.source].iter().filter(|other| match kind(**other) {
                ActionKind::Output => true,
                // In front of a stimulus, silence changes nothing.
                ActionKind::Quiescence => is_answer,
                ActionKind::Input | ActionKind::Internal => false,
            });
            let answers = answers.map(|other| (*other, system.enabled(*other).clone()));
            let ways = answers.chain((!is_answer).then_some((number, own)));
            behind = Term::or(ways.map(|(number, condition)| {
                let parameters = &iosts.action(iosts.transitions[number].action).parameters;
                eliminate_bound(parameters, &condition, solver).unwrap_or_else(Term::yes)
            }));
            found.push(behind.clone());
        }
        found.reverse();
        found
    }
}

/// The datum has the value, as far as a model can say it: of an array the cells that differ from the others,
/// and the first ones.
pub fn says(datum: &Datum, value: &Value) -> Term {
    describe_value(&Term::datum(datum), value)
}

fn describe_value(term: &Term, value: &Value) -> Term {
    match value {
        Value::Record(_, fields) => Term::and(
            fields.iter().enumerate().map(|(at, field)| describe_value(&Term::field(term, at), field)),
        ),
        Value::Array(array) => {
            let numbers = (0..4).map(Value::int).filter(|index| index.is_in(&array.ty.index));
            let indices: BTreeSet<Value> = numbers.chain(array.cells.keys().cloned()).collect();
            let cell = |index: &Value| {
                describe_value(&Term::select(term, &Term::literal(index.clone())), array.get(index))
            };
            Term::and(indices.iter().map(cell))
        }
        _ => Term::equal(term, &Term::literal(value.clone())),
    }
}

/// A run along the route, where one is found that has none of these traces.
pub fn run_along(
    system: &System<'_>,
    route: &Route,
    avoided: &[Vec<Event>],
    solver: &mut dyn Solver,
) -> Option<Evidence> {
    let guards = route.guards(system, solver);
    let mut state = SymbolicState::initial(system.iosts);
    let mut condition = state.condition.clone();
    let mut steps = Vec::new();
    for (number, guard) in route.path.iter().zip(guards) {
        let (step, next) = system.successor(&state, *number)?;
        condition.extend(next.condition[state.condition.len()..].iter().cloned());
        let action = system.iosts.action(system.iosts.transitions[*number].action);
        let mut standing = state.standing(&state.known);
        let symbols = step.parameters.iter().map(Term::datum);
        standing.extend(action.parameters.iter().cloned().zip(symbols));
        condition.push(substitute(&guard, &standing));
        steps.push(step);
        state = next;
    }
    let seen: Vec<&Datum> = steps.iter().flat_map(|step: &SymbolicStep| &step.parameters).collect();
    for trace in avoided {
        let values = trace.iter().flat_map(|event| &event.values);
        let differs = |(symbol, value): (&&Datum, &Value)| {
            Term::equal(&Term::datum(symbol), &Term::literal(value.clone())).not()
        };
        condition.push(Term::or(seen.iter().zip(values).map(differs)));
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
    let (mut at, mut trace) = (initial.clone(), Vec::new());
    for step in steps {
        let transition = &iosts.transitions[step.transition];
        let sent: Vec<Value> = step.parameters.iter().map(value).collect();
        at = fire(iosts, transition, &at, &sent)?;
        let action = iosts.action(transition.action);
        if action.is_visible() {
            trace.push(Event::new(action.name.clone(), sent));
        }
    }
    Some(Evidence { initial, trace, end: at })
}

/// The paths that may explain a run which a route's purpose accepts, up to the end of what is promised.
pub struct Explanations {
    /// None where there are too many.
    paths: Option<Vec<Vec<TransitionId>>>,
    /// Does the path determine whether the conditions that the route asks for hold?
    is_determined: bool,
}

impl Explanations {
    /// Lists them: the route alone where it asks for events that nothing else takes; else all paths with the
    /// same visible actions, under what the purpose asks of parameters and constants. What it asks of
    /// variables is true of one explanation and says nothing of the others.
    pub fn of(system: &System<'_>, route: &Route, solver: &mut dyn Solver) -> Self {
        let iosts = system.iosts;
        let is_determined = route.is_determined(iosts);
        let guards = route.guards(system, solver);
        let promised = route.promised();
        let is_seen = |number: TransitionId| iosts.action(iosts.transitions[number].action).is_visible();
        let left = |at| system.outgoing[at].iter().all(|number| is_seen(*number));
        let visited = promised.iter().map(|number| iosts.transitions[*number].source);
        let is_alone = route.is_alone && is_determined_along(iosts, &route.path, guards.iter().enumerate());
        if is_alone && visited.into_iter().all(left) {
            return Explanations { paths: Some(vec![promised.to_vec()]), is_determined };
        }
        let is_shared = |number: TransitionId, part: &Term| {
            let parameters = &iosts.action(iosts.transitions[number].action).parameters;
            part.data().iter().all(|datum| parameters.contains(datum) || iosts.constants.contains(datum))
        };
        let steps = promised.iter().zip(guards).filter(|(number, _)| is_seen(**number));
        let asked: Vec<(TransitionId, Term)> = steps
            .map(|(number, guard)| {
                let all = Term::and([iosts.transitions[*number].guard.clone(), guard]).conjuncts();
                (*number, Term::and(all.into_iter().filter(|part| is_shared(*number, part))))
            })
            .collect();
        let mut open = vec![(SymbolicState::initial(iosts), Vec::new(), 0, Vec::new())];
        let (mut paths, mut tried) = (Vec::new(), 0);
        while let Some((state, besides, next, path)) = open.pop() {
            let Some((wanted, asked)) = asked.get(next) else {
                paths.push(path);
                continue;
            };
            for &number in &system.outgoing[state.location] {
                let (is_seen, action) = (is_seen(number), iosts.transitions[number].action);
                if is_seen && action != iosts.transitions[*wanted].action {
                    continue;
                }
                budget::ask();
                tried += 1;
                // So many steps are looked at for the paths that may explain what a purpose accepts.
                if tried > 200 {
                    return Explanations { paths: None, is_determined };
                }
                let Some((step, to)) = system.successor(&state, number) else { continue };
                let mut besides: Vec<Term> = besides.clone();
                if is_seen {
                    let mut standing = state.standing(&state.known);
                    let symbols = step.parameters.iter().map(Term::datum);
                    standing.extend(iosts.action(action).parameters.iter().cloned().zip(symbols));
                    besides.extend(substitute(asked, &standing).conjuncts());
                }
                let condition = [to.condition.as_slice(), &besides].concat();
                if solver.check(&condition) != Answer::Unsat {
                    let path: Vec<TransitionId> = [path.as_slice(), &[number]].concat();
                    open.push((to, besides, next + usize::from(is_seen), path));
                }
            }
        }
        Explanations { paths: Some(paths), is_determined }
    }

    /// Is the route's own path the only one?
    pub fn is_one(&self, route: &Route) -> bool {
        let is_own = |path: &Vec<TransitionId>| path == route.promised();
        self.paths.as_ref().is_some_and(|paths| paths.iter().all(is_own))
    }

    /// Does each of them meet the goal? What depends on values as well is met by the route's own path alone,
    /// whose purpose asks for them.
    pub fn all_meet(&self, walked: &Walked, route: &Route, goal: &Goal) -> bool {
        let iosts = &walked.iosts;
        let Some(paths) = &self.paths else { return false };
        let Goal::Item(item) = goal else { return paths.iter().all(|path| lies_on(iosts, goal, path)) };
        match &walked.parts[0].items.all()[*item] {
            Item::Location(location) => paths.iter().all(|path| {
                *location == iosts.initial
                    || path.iter().any(|number| iosts.transitions[*number].target == *location)
            }),
            Item::Transition(number) => paths.iter().all(|path| path.contains(number)),
            Item::Condition { .. } | Item::Class { .. } => self.is_determined && self.is_one(route),
        }
    }
}

/// Do constants, parameters and the path determine these conditions, each at its step?
fn is_determined_along<'a>(
    iosts: &Iosts,
    path: &[TransitionId],
    conditions: impl IntoIterator<Item = (usize, &'a Term)>,
) -> bool {
    let mut undetermined = vec![list_undetermined(iosts)];
    for (place, number) in path.iter().enumerate() {
        let before = &undetermined[place];
        let assignments = &iosts.transitions[*number].assignments;
        let is_open = |variable: &&Datum| match assignments.get(*variable) {
            Some(value) => !before.is_disjoint(&value.data().into_iter().collect()),
            None => before.contains(*variable),
        };
        undetermined.push(iosts.variables.iter().filter(is_open).cloned().collect());
    }
    conditions
        .into_iter()
        .all(|(place, asked)| asked.data().iter().all(|datum| !undetermined[place].contains(datum)))
}

/// The variables of which the initial condition gives no value in terms of constants.
fn list_undetermined(iosts: &Iosts) -> BTreeSet<Datum> {
    let parts = iosts.initial_condition.conjuncts();
    let is_given = |term: &Term| term.data().iter().all(|datum| iosts.constants.contains(datum));
    let is_open = |variable: &&Datum| {
        let own = Term::datum(variable);
        !parts.iter().any(|part| match part.node() {
            Node::Compare(Comparison::Equal, left, right) => {
                *left == own && is_given(right) || *right == own && is_given(left)
            }
            Node::Not(part) => *part == own,
            _ => *part == own,
        })
    };
    iosts.variables.iter().filter(is_open).cloned().collect()
}

/// What a trace shows, however it is explained.
pub struct Shown {
    items: Vec<u32>,
    /// All paths that explain it; none where there are too many.
    paths: Option<Vec<Vec<TransitionId>>>,
}

pub fn collect_shown(walked: &Walked, evidence: &Evidence) -> Shown {
    let iosts = &walked.iosts;
    let occurrence = |event: &Event| {
        let input =
            iosts.find_action(&event.action).is_some_and(|at| iosts.action(at).kind == ActionKind::Input);
        if input { Occurrence::Stimulus(event.clone()) } else { Occurrence::Observation(event.clone()) }
    };
    let trace: Vec<Occurrence> = evidence.trace.iter().map(occurrence).collect();
    let explained = explain_trace(walked, &evidence.initial, &trace, None, 10_000).ok();
    let items =
        explained.filter(|explained| explained.refused.is_none()).map(|explained| explained.bounds.least);
    Shown { items: items.unwrap_or_default(), paths: paths(walked, evidence) }
}

impl Shown {
    /// Is the goal met, whichever explanation is the right one?
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

/// Does a path meet a goal of several transitions?
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

/// The explanations of a trace up to its last event, path by path.
fn paths(walked: &Walked, evidence: &Evidence) -> Option<Vec<Vec<TransitionId>>> {
    let iosts = &walked.iosts;
    let mut open = vec![(evidence.initial.clone(), 0, Vec::new())];
    let mut found: Vec<Vec<TransitionId>> = Vec::new();
    let mut tried = 0;
    while let Some((state, next, path)) = open.pop() {
        if next == evidence.trace.len() {
            if !found.contains(&path) {
                found.push(path);
            }
            continue;
        }
        let event = &evidence.trace[next];
        for &number in &walked.outgoing[state.location] {
            let transition = &iosts.transitions[number];
            let action = iosts.action(transition.action);
            let (values, after): (&[Value], usize) = match action.kind {
                ActionKind::Internal => (&[], next),
                _ if action.name == event.action => (&event.values, next + 1),
                _ => continue,
            };
            let Some(to) = fire(iosts, transition, &state, values) else { continue };
            let mut longer = path.clone();
            longer.push(number);
            open.push((to, after, longer));
        }
        tried += 1;
        // A trace with more explanations than this shows nothing.
        if tried > 500 {
            return None;
        }
    }
    Some(found)
}
