//! Defines the goals and classes of a walk, and which of them a step meets.
//!
//! **Goals** are listed by a criterion: a transition, a pair of successive transitions, or a definition with
//! its use. A definition is an assignment to a variable. If it sets a number back, the number may count on
//! before its use. The goals of a step depend on the steps before it. A [`Trail`] keeps the last transition,
//! and for each variable where it got its value and where it was set back.
//!
//! **Classes** of data are found on the way. A step is in these classes, together with its transition:
//!
//! - The sign of each comparison that the step decides about: far below, one below, equal, one above, far
//!   above. These are the comparisons of its action at its source, and all comparisons at its target.
//! - The value of each variable that counts (is computed from itself) or has few values. So the walk comes
//!   to the end of long counters. A counter without a limit has a class each time its distance from its first
//!   value doubles, a few times.
//! - A near sign of a stimulus together with a value of such a variable.
//! - A parameter that is equal to another datum or next to it. A fault may compare them, even if the
//!   specification does not.
//! - A parameter that is equal to a number with which anything is compared, or next to it. This may be a
//!   comparison over the elements of a list.
//! - A parameter at an end of its range, and two parameters at ends.
//! - The alternatives of the variants among the parameters.
//! - The part of its range in which a parameter lies, or its size.
//! - A variable that is read, with the [`ValueMark`] of its value: the value was computed near a boundary, or
//!   set back from another one. A fault in the value shows only when it is read, and not where a branch that
//!   reads it is not taken.
//!
//! Dead data are in no class: nobody reads them before they are assigned again.

use std::collections::BTreeSet;

use coreach_analyses::live::live;
use coreach_model::hash::FastMap;
use coreach_model::iosts::{Action, ActionKind, Iosts, Transition};
use coreach_model::semantics::{Event, State, determined_value};
use coreach_model::term::evaluate::{Valuation, holds_with};
use coreach_model::term::node::Comparison;
use coreach_model::{Datum, LocationId, Numbered, Term, TransitionId, Type, Value};
use dashu_int::IBig;

use super::compared::{
    ComparedTerm, ComparedTerms, NOT_COMPARED, ReadingPaths, collect_readings, find_compared_numbers,
    find_limited_data, list_sides,
};
use super::value_classes::{DOUBLINGS, compare_near, find_count, find_length, find_magnitude, find_part};
use crate::values::tried::TriedGuard;

/// The weight of classes that are met by the way, and are never the aim of a plan.
pub const SIDE: u64 = 1;

/// A goal that a criterion lists.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WalkGoal {
    /// A transition is taken.
    Transition(TransitionId),
    /// One transition right after another.
    Pair(TransitionId, TransitionId),
    /// A variable is assigned, and used before it is assigned again.
    DefinitionUse(Datum, TransitionId, TransitionId),
}

/// A class of data with which a transition is taken.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// The sign of a comparison, by its place in the list of the transition.
    Sign(TransitionId, usize, i8),
    /// The value of a variable that counts or has few values. For a counter without a limit, the number of
    /// doublings of its distance from the first value.
    Counts(TransitionId, usize, Value),
    /// A comparison has a near sign, and a variable has a count.
    SignWithCount(TransitionId, (usize, i8), usize, Value),
    /// A parameter has the least value of its range, or the greatest.
    End(TransitionId, usize, bool),
    /// A parameter is one below another datum, equal, or one above. The numbers are the places of both.
    Beside(TransitionId, usize, usize, i8),
    /// A parameter is one below a number that the specification compares with, equal, or one above.
    BesideNumber(TransitionId, usize, usize, i8),
    /// Two parameters are at ends of their ranges.
    Corner(TransitionId, (usize, bool), (usize, bool)),
    /// The variants among the parameters have these alternatives, by the place in the list of all choices.
    Alternative(TransitionId, usize),
    /// A parameter is in this part of what its type allows.
    Part(TransitionId, usize, i8),
    /// A variable with this mark is read.
    MarkedUse(TransitionId, usize, ValueMark),
}

/// The origin of a variable's value, if a fault there is likely and shows only when the value is read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ValueMark {
    /// A comparison in the assigned value had a near sign. The numbers are its place and the sign.
    NearBoundary(TransitionId, usize, i8),
    /// It was set back to a constant from a value of this class.
    SetBack(TransitionId, Value),
}

impl WalkGoal {
    /// Returns the worth of meeting it first.
    pub fn weight(&self) -> u64 {
        match self {
            WalkGoal::Transition(_) => 32,
            WalkGoal::DefinitionUse(..) => 16,
            WalkGoal::Pair(..) => 8,
        }
    }
}

impl Class {
    /// Returns the worth of meeting it first.
    pub fn weight(&self) -> u64 {
        match self {
            Class::Sign(..) | Class::Alternative(..) | Class::Beside(_, _, _, 0) => 8,
            Class::Counts(..) | Class::End(..) => 6,
            Class::Part(..) | Class::Corner(..) | Class::MarkedUse(..) => 4,
            Class::Beside(..) => 2,
            Class::SignWithCount(..) | Class::BesideNumber(..) => SIDE,
        }
    }
}

/// The part of the past that decides which goals the next step meets.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Trail {
    pub last: Option<TransitionId>,
    /// For each variable, where it was assigned.
    pub defined: Vec<Option<TransitionId>>,
    /// For each variable, the transition that last set it back from another value to a constant. Counting on
    /// does not end this, since a missing reset shows only at the end of a counter.
    pub set_back: Vec<Option<TransitionId>>,
    /// For each variable, the mark of its value.
    pub marks: Vec<Option<ValueMark>>,
}

/// The effect of a transition on a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum VariableEffect {
    Keeps,
    CountsOn,
    SetsBack,
    /// Any other value.
    Assigns,
}

/// The place of a variable, and the conditions of its readings.
type VariableReads = (usize, BTreeSet<Vec<Term>>);

/// A specification with the goals of its walk, and what the search needs to know of each transition.
#[derive(Clone, Debug)]
pub struct WalkModel {
    pub iosts: Iosts,
    /// For each location, the transitions that leave it.
    pub outgoing: Numbered<LocationId, Vec<TransitionId>>,
    /// The goals that are listed, each once.
    pub goals: Vec<WalkGoal>,
    /// Does the walk look for classes as well?
    pub with_classes: bool,
    goal_numbers: FastMap<WalkGoal, usize>,
    /// For each transition, the places of the variables that it mentions, and the conditions of the readings.
    reads: Numbered<TransitionId, Vec<VariableReads>>,
    /// For each transition, its effects on the variables.
    effects: Numbered<TransitionId, Vec<VariableEffect>>,
    /// For each transition, the places of the variables without many parts that it sets to a constant.
    constant_assignments: Numbered<TransitionId, Vec<usize>>,
    /// For each transition, the comparisons that its event decides about, and those at its target.
    compared: Numbered<TransitionId, ComparedTerms>,
    /// For each transition, the sides of the comparisons of numbers that its parameters can turn, at its
    /// source or at its target. Once for each of `guards`.
    pub turned: Numbered<TransitionId, Vec<Vec<(Term, Term)>>>,
    /// For each transition, the conjuncts of its guard, those of functions among them.
    pub conjuncts: Numbered<TransitionId, Vec<Term>>,
    /// For each transition, its guard for trials, once for each choice of alternatives.
    pub guards: Numbered<TransitionId, Vec<TriedGuard>>,
    /// The texts that guards compare with.
    pub literals: Vec<Value>,
    /// The numbers that the specification compares with.
    pub numbers: Vec<Value>,
    /// For each location and each datum of a state, whether it is read before it is assigned again.
    live: Numbered<LocationId, Vec<bool>>,
    /// The same for each variable.
    live_variables: Numbered<LocationId, Vec<bool>>,
    /// The data of a state, in order.
    data: Vec<Datum>,
    /// For each datum of a state, whether it decides where a step leads: a guard limits it, or it counts.
    steers: Vec<bool>,
    /// The variables that count or have few values, and lists, sets and maps, of which the length counts. A
    /// counter without a limit stands with its first value.
    counters: Vec<(Datum, Option<Value>)>,
}

impl WalkModel {
    /// Prepares a specification for these goals, each once. The walk looks for classes if `with_classes`.
    pub fn new(iosts: Iosts, listed: &[WalkGoal], with_classes: bool) -> Self {
        let (mut goals, mut goal_numbers) = (Vec::new(), FastMap::default());
        for goal in listed {
            if !goal_numbers.contains_key(goal) {
                goal_numbers.insert(goal.clone(), goals.len());
                goals.push(goal.clone());
            }
        }
        let outgoing = iosts.outgoing();
        let reads = iosts.transitions.map(|transition| list_reads(&iosts, transition));
        let effects = iosts.transitions.map(|transition| {
            let effect = |variable: &Datum| match transition.assignments.contains_key(variable) {
                false => VariableEffect::Keeps,
                true if counts_on(transition, variable) => VariableEffect::CountsOn,
                true if sets_back(&iosts, transition, variable) => VariableEffect::SetsBack,
                true => VariableEffect::Assigns,
            };
            iosts.variables.iter().map(effect).collect()
        });
        let constant_assignments = iosts.transitions.map(|transition| {
            let is_simple = |ty: &Type| ty.is_integer() || matches!(ty, Type::Bool | Type::Enum(_));
            let numbered = iosts.variables.iter().enumerate();
            let is_listed = |(_, variable): &(usize, &Datum)| {
                is_simple(variable.ty()) && assigns_constant(&iosts, transition, variable)
            };
            numbered.filter(is_listed).map(|(place, _)| place).collect()
        });
        let compared = iosts.transitions.map(|transition| ComparedTerms::new(&iosts, &outgoing, transition));
        let parameters = |transition: &Transition| &iosts.action(transition.action).parameters;
        let guards =
            iosts.transitions.map(|transition| TriedGuard::list(&transition.guard, parameters(transition)));
        let mut turned = iosts.transitions.map(|_| Vec::new());
        for (number, compared) in compared.numbered() {
            let sides = list_sides(&iosts, number, compared);
            let split_sides = |guard: &TriedGuard| {
                let split = |term: &Term| guard.split().split_term(term);
                sides.iter().map(|(left, right)| (split(left), split(right))).collect()
            };
            turned[number] = guards[number].iter().map(split_sides).collect();
        }
        let limited = find_limited_data(&iosts);
        let counters = list_counters(&iosts, &limited);
        let read = live(&iosts, &vec![false; iosts.locations.len()]);
        let mut data: Vec<Datum> = iosts.variables.iter().chain(&iosts.constants).cloned().collect();
        data.sort();
        let is_steering =
            |datum: &Datum| limited.contains(datum) || counters.iter().any(|(counter, _)| counter == datum);
        let steers = data.iter().map(is_steering).collect();
        let is_live =
            |read: &BTreeSet<Datum>, datum: &Datum| read.contains(datum) || !iosts.variables.contains(datum);
        let live = read.map(|read| data.iter().map(|datum| is_live(read, datum)).collect());
        let live_variables =
            read.map(|read| iosts.variables.iter().map(|datum| read.contains(datum)).collect());
        let conjuncts = iosts.transitions.map(|transition| transition.guard.unfolded_conjuncts());
        let mut literals: Vec<Value> = Vec::new();
        for text in guards.iter().flatten().flat_map(TriedGuard::texts) {
            if !literals.contains(text) {
                literals.push(text.clone());
            }
        }
        WalkModel {
            outgoing,
            goals,
            with_classes,
            goal_numbers,
            reads,
            effects,
            constant_assignments,
            compared,
            turned,
            conjuncts,
            guards,
            literals,
            numbers: find_compared_numbers(&iosts),
            live,
            live_variables,
            data,
            steers,
            counters,
            iosts,
        }
    }

    /// Tells whether the value of a datum matters in this location.
    pub fn is_live(&self, location: LocationId, datum: &Datum) -> bool {
        self.data.binary_search(datum).is_ok_and(|place| self.live[location][place])
    }

    /// Lists the live data of a state, with their places.
    pub fn live<'s>(&self, state: &'s State) -> impl Iterator<Item = (usize, &'s Datum, &'s Value)> {
        let live = &self.live[state.location];
        let data = state.valuation.iter().enumerate().zip(live);
        data.filter(|(_, is_live)| **is_live).map(|((place, (datum, value)), _)| (place, datum, value))
    }

    /// Lists the live data of a state that decide where a step leads, with their places.
    pub fn steering<'s>(&self, state: &'s State) -> impl Iterator<Item = (usize, &'s Value)> {
        self.live(state).filter(|(place, ..)| self.steers[*place]).map(|(place, _, value)| (place, value))
    }

    /// Lists the ends of the counters: those of their ranges, and the last class of those without a limit.
    /// Each has the number of its counter, a condition that the end is reached, and its class.
    pub fn counter_ends(&self) -> Vec<(usize, Term, Value)> {
        let mut ends = Vec::new();
        for (counter, (datum, first)) in self.counters.iter().enumerate() {
            let mut add = |value: IBig, class: Value| {
                let end = Term::literal(Value::Int(value));
                ends.push((counter, Term::compare(Comparison::Equal, &Term::datum(datum), &end), class));
            };
            match (first, datum.ty()) {
                (Some(Value::Int(first)), _) => {
                    add(first + (IBig::ONE << (DOUBLINGS - 1)), Value::int(DOUBLINGS))
                }
                (_, Type::Range(low, high)) => {
                    [low, high].into_iter().for_each(|end| add(end.clone(), Value::Int(end.clone())));
                }
                _ => {}
            }
        }
        ends
    }

    /// Quiescence as an event, if the specification is suspended.
    pub fn quiescence(&self) -> Option<Event> {
        let is_quiet = |action: &&Action| action.kind == ActionKind::Quiescence;
        let action = self.iosts.actions.iter().find(is_quiet)?;
        Some(Event::new(action.name.clone(), Vec::new()))
    }

    pub fn kind(&self, number: TransitionId) -> ActionKind {
        self.iosts.action_of(number).kind
    }

    /// Tells whether the specification may go on by itself in this state. In doubt it says yes.
    pub fn may_answer(&self, state: &State) -> bool {
        let mut leaving = self.outgoing[state.location].iter();
        leaving.any(|number| self.kind(*number) != ActionKind::Input && self.may_take(*number, state))
    }

    /// Tells whether the transition may be taken in this state. In doubt it says yes.
    pub fn may_take(&self, number: TransitionId, state: &State) -> bool {
        self.guards[number].iter().any(|guard| guard.may_hold(&state.valuation))
    }

    /// Lists the numbers of the goals that a step through this transition meets after a trail.
    pub fn goals_met(&self, trail: &Trail, number: TransitionId) -> Vec<usize> {
        let mut met: Vec<usize> = Vec::new();
        let mut meet = |goal: &WalkGoal| met.extend(self.goal_numbers.get(goal));
        meet(&WalkGoal::Transition(number));
        if let Some(last) = trail.last {
            meet(&WalkGoal::Pair(last, number));
        }
        for &(place, _) in &self.reads[number] {
            let at_place = |all: &[Option<TransitionId>]| all.get(place).copied().flatten();
            for definition in [&trail.defined, &trail.set_back].into_iter().filter_map(|all| at_place(all)) {
                meet(&WalkGoal::DefinitionUse(self.iosts.variables[place].clone(), definition, number));
            }
        }
        met
    }

    /// Returns the trail after a step from one state to another, with these marks.
    pub fn extend_trail(
        &self,
        trail: &Trail,
        number: TransitionId,
        from: &State,
        to: &State,
        new_marks: &[(usize, ValueMark)],
    ) -> Trail {
        let transition = &self.iosts.transitions[number];
        let variables = || self.iosts.variables.iter().enumerate();
        let live = |place: usize| self.live_variables[transition.target][place];
        let assigned = variables().map(|(place, _)| {
            let defined = match self.effects[number][place] {
                VariableEffect::Keeps => trail.defined.get(place).copied().flatten(),
                _ => Some(number),
            };
            defined.filter(|_| live(place))
        });
        let set_back = variables().map(|(place, variable)| {
            let before = trail.set_back.get(place).copied().flatten();
            let here = match self.effects[number][place] {
                VariableEffect::Keeps | VariableEffect::CountsOn => before,
                VariableEffect::SetsBack => {
                    (from.valuation.get(variable) != to.valuation.get(variable)).then_some(number)
                }
                VariableEffect::Assigns => None,
            };
            here.filter(|_| live(place))
        });
        let marks = variables().map(|(place, _)| {
            let before = trail.marks.get(place).cloned().flatten();
            let new = new_marks.iter().find(|(marked, _)| *marked == place).map(|(_, mark)| mark.clone());
            let mark = match self.effects[number][place] {
                VariableEffect::Keeps => before,
                VariableEffect::CountsOn => {
                    new.or(before.filter(|mark| matches!(mark, ValueMark::SetBack(..))))
                }
                VariableEffect::SetsBack | VariableEffect::Assigns => new,
            };
            mark.filter(|_| live(place))
        });
        let marks = if self.with_classes { marks.collect() } else { Vec::new() };
        Trail { last: Some(number), defined: assigned.collect(), set_back: set_back.collect(), marks }
    }

    /// Lists the marks of the variables that a step with these signs assigns, by their places.
    pub fn marks(
        &self,
        number: TransitionId,
        from: &State,
        to: &State,
        signs: &[i8],
    ) -> Vec<(usize, ValueMark)> {
        let near = self.compared[number].assigned.iter().filter_map(|(variable, at)| {
            let sign = signs.get(*at).filter(|sign| sign.abs() <= 1)?;
            Some((*variable, ValueMark::NearBoundary(number, *at, *sign)))
        });
        let set_back = self.constant_assignments[number].iter().filter_map(|place| {
            let variable = &self.iosts.variables[*place];
            let (was, is) = (from.valuation.get(variable)?, to.valuation.get(variable)?);
            let class = match variable.ty().is_integer() {
                true => Value::int(find_magnitude(was, is)),
                false => was.clone(),
            };
            (was != is && self.with_classes).then(|| (*place, ValueMark::SetBack(number, class)))
        });
        near.chain(set_back).collect()
    }

    /// Lists the classes of a step by the marks of the variables that it reads, in the branches taken here.
    pub fn marked_uses(&self, state: &State, trail: &Trail, number: TransitionId) -> Vec<Class> {
        let value_of = |datum: &Datum| state.valuation.get(datum);
        let may_hold = |path: &Vec<Term>| path.iter().all(|term| holds_with(term, value_of) != Ok(false));
        let find_use = |(place, paths): &VariableReads| {
            let mark = trail.marks.get(*place)?.clone()?;
            paths.iter().any(may_hold).then_some(Class::MarkedUse(number, *place, mark))
        };
        self.reads[number].iter().filter_map(find_use).collect()
    }

    /// Computes the signs of the comparisons that a step with these values decides. Empty if none are wanted.
    pub fn signs(&self, number: TransitionId, from: &State, values: &[Value], to: &State) -> Vec<i8> {
        if !self.with_classes {
            return Vec::new();
        }
        let ComparedTerms { before, after, .. } = &self.compared[number];
        let action = self.iosts.action_of(number);
        let value_of = |datum: &Datum| match action.parameters.iter().position(|parameter| parameter == datum)
        {
            Some(place) => values.get(place),
            None => from.valuation.get(datum),
        };
        let before = before.iter().map(|compared| compared.sign(value_of));
        before.chain(after.iter().map(|compared| compared.sign(|datum| to.valuation.get(datum)))).collect()
    }

    /// Lists the comparisons of numbers of a transition, over the state before the step and its parameters,
    /// with their places among the signs. Empty if the walk looks for no classes.
    pub fn numeric_comparisons(&self, number: TransitionId) -> Vec<(usize, ComparedTerm)> {
        if !self.with_classes {
            return Vec::new();
        }
        let ComparedTerms { before, after, .. } = &self.compared[number];
        let assignments = &self.iosts.transitions[number].assignments;
        let shifted = after.iter().map(|compared| compared.shift_before(assignments));
        let compared = before.iter().cloned().chain(shifted).enumerate();
        compared.filter(|(_, compared)| compared.sides().is_some()).collect()
    }

    /// Lists the classes of a step with these values and signs.
    pub fn classes(&self, number: TransitionId, from: &State, values: &[Value], signs: &[i8]) -> Vec<Class> {
        if !self.with_classes {
            return Vec::new();
        }
        let compared = signs.iter().enumerate().filter(|(_, sign)| **sign != NOT_COMPARED);
        let mut classes: Vec<Class> = compared.map(|(at, sign)| Class::Sign(number, at, *sign)).collect();
        let is_input = self.kind(number) == ActionKind::Input;
        for (counter, (datum, first)) in self.counters.iter().enumerate() {
            let value = from.valuation.get(datum).filter(|_| self.is_live(from.location, datum));
            let Some(value) = value else { continue };
            let count = match first {
                None => find_length(datum.ty(), value).unwrap_or_else(|| find_count(datum.ty(), value)),
                Some(first) => Value::int(find_magnitude(value, first)),
            };
            // A fault at a boundary may show only with some counts.
            for (at, sign) in signs.iter().enumerate().filter(|(_, sign)| is_input && sign.abs() <= 1) {
                classes.push(Class::SignWithCount(number, (at, *sign), counter, count.clone()));
            }
            classes.push(Class::Counts(number, counter, count));
        }
        if is_input {
            classes.extend(self.stimulus_classes(number, from, values));
        }
        classes
    }

    /// Lists the classes of a stimulus by its values alone.
    fn stimulus_classes(&self, number: TransitionId, from: &State, values: &[Value]) -> Vec<Class> {
        let mut classes = Vec::new();
        let splits = || self.guards[number].iter().map(TriedGuard::split);
        let numbered = splits().enumerate();
        let fitting =
            numbered.filter_map(|(at, split)| Some((at, split, split.split_values(values)?))).next();
        let Some((alternative, split, fields)) = fitting else { return classes };
        if splits().len() > 1 {
            classes.push(Class::Alternative(number, alternative));
        }
        let live: Vec<&Value> = self.live(from).map(|(_, _, value)| value).collect();
        // The fields of other alternatives have other places.
        let fields_before: usize = splits().take(alternative).map(|split| split.parameters.len()).sum();
        let mut ends: Vec<(usize, bool)> = Vec::new();
        for (field, (parameter, value)) in split.parameters.iter().zip(&fields).enumerate() {
            let place = fields_before + field;
            if let (Type::Range(low, high), Value::Int(value)) = (parameter.ty(), value)
                && (value == low || value == high)
            {
                let end = (place, value == high);
                classes.push(Class::End(number, end.0, end.1));
                classes.extend(ends.iter().map(|other| Class::Corner(number, *other, end)));
                ends.push(end);
            }
            let part = find_part(parameter.ty(), value);
            classes.extend(part.map(|part| Class::Part(number, place, part)));
            for (at, compared) in self.numbers.iter().enumerate() {
                let sign = compare_near(value, compared);
                classes.extend(sign.map(|sign| Class::BesideNumber(number, place, at, sign)));
            }
            // Each pair of fields once.
            for (at, other) in live.iter().copied().chain(&fields[..field]).enumerate() {
                let sign = compare_near(value, other);
                classes.extend(sign.map(|sign| Class::Beside(number, place, at, sign)));
            }
        }
        classes
    }
}

/// Lists the variables that a transition mentions, each with the conditions of its readings.
fn list_reads(iosts: &Iosts, transition: &Transition) -> Vec<VariableReads> {
    let values = || transition.assignments.values();
    let mut paths = ReadingPaths::new();
    let conjuncts = transition.guard.unfolded_conjuncts();
    conjuncts.iter().chain(values()).for_each(|term| collect_readings(term, &[], &mut paths));
    let mut reads = Vec::new();
    for (place, variable) in iosts.variables.iter().enumerate() {
        if transition.guard.mentions(variable) || values().any(|value| value.mentions(variable)) {
            reads.push((place, paths.remove(variable).unwrap_or_default()));
        }
    }
    reads
}

/// Lists the counters of a specification (see [`WalkModel`]), given the data that guards limit.
fn list_counters(iosts: &Iosts, limited: &BTreeSet<Datum>) -> Vec<(Datum, Option<Value>)> {
    let counts = |variable: &&Datum| match variable.ty() {
        Type::Bool | Type::Enum(_) => true,
        Type::Record(ty) => ty.width().is_some(),
        ty if ty.is_integer() => iosts.transitions.iter().any(|transition| counts_on(transition, variable)),
        _ => false,
    };
    // The values of a sum are too many, even if a guard limits it.
    let adds_data = |variable: &Datum| {
        let has_others = |value: &Term| value.data().iter().any(|datum| datum != variable);
        let mut values =
            iosts.transitions.iter().filter_map(|transition| transition.assignments.get(variable));
        values.any(|value| value.mentions(variable) && has_others(value))
    };
    let first_if_unlimited = |variable: &Datum| {
        let is_unlimited = variable.ty().is_integer() && (!limited.contains(variable) || adds_data(variable));
        is_unlimited.then(|| first_value(iosts, variable))
    };
    let counters = iosts.variables.iter().filter(counts);
    counters.map(|variable| (variable.clone(), first_if_unlimited(variable))).collect()
}

/// Tells whether the transition computes a number from its own last value.
pub fn counts_on(transition: &Transition, variable: &Datum) -> bool {
    let value = transition.assignments.get(variable);
    variable.ty().is_number() && value.is_some_and(|value| value.mentions(variable))
}

/// Tells whether the transition sets a number to a value that never changes.
pub fn sets_back(iosts: &Iosts, transition: &Transition, variable: &Datum) -> bool {
    variable.ty().is_number() && assigns_constant(iosts, transition, variable)
}

fn assigns_constant(iosts: &Iosts, transition: &Transition, variable: &Datum) -> bool {
    let value = transition.assignments.get(variable);
    value.is_some_and(|value| value.data().iter().all(|datum| iosts.constants.contains(datum)))
}

/// Returns the value with which a variable begins. If it is open, this is the simplest of its type.
fn first_value(iosts: &Iosts, variable: &Datum) -> Value {
    let conjuncts = iosts.initial_condition.unfolded_conjuncts();
    let first = determined_value(variable, &conjuncts, &Valuation::new());
    first.unwrap_or_else(|| Value::any(variable.ty()))
}
