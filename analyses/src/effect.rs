//! A transition compiled for the domains: its cases.
//!
//! Within one cell of the partition and for one choice of the finite parameters, a transition is a condition
//! over numbers, a parallel affine assignment to dimensions, and new digits for the cell. Many transitions of
//! a product share guard and assignments, so they are compiled once per distinct (parameters, guard,
//! assignments), which is an [`Effect`]; and once per valuation of the finite places that the effect reads,
//! when such a cell is first met.
//!
//! What the concrete semantics asks silently is part of the condition: operations are defined, assigned
//! values and parameters lie in their types. Numeric parameters are dimensions behind those of the frame,
//! added for the effect and projected away after it; those that no term mentions are left out, every type
//! having a value.
//!
//! Cost: proportional to the terms, times the valuations of the finite parameters that are read.

use std::collections::{BTreeSet, HashMap, HashSet};

use coreach_model::obligation::defined;
use coreach_model::term::node::Node;
use coreach_model::term::{Substitution, Term, substitute};
use coreach_model::value::tuples;
use coreach_model::{Datum, Iosts, Type, Value};
use coreach_polyhedra::{Constraint, Limits, LinearExpression, Polyhedron};

use crate::auxiliary::{Auxiliaries, MOST_CASES, Multiplication};
use crate::condition::Condition;
use crate::domains::Domain;
use crate::domains::interval::Interval;
use crate::frame::{Frame, Slot, digit, type_constraints};
use crate::grid::Grid;
use crate::identities::{Digits, changed, extended};
use crate::lists::{AssignedList, MOST_ORIGINS};
use crate::places::{Leaf, Place, leaves, places};
use crate::scope::{Beyond, CASE_LIMIT, Fields, ImprecisionReason, Memory, Scope};
use crate::sizes::decided_keys;
use crate::summaries::{CellInstance, instantiated};

/// One way to take a transition from one valuation of the finite places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// When, over the dimensions of the frame and of the parameters.
    pub condition: Condition,
    /// The assigned dimensions; `None` is an unknown value.
    pub numeric: Vec<(usize, Option<LinearExpression>)>,
    pub unknown_bounds: Vec<Constraint>,
    /// The new digits, by position; `None` is any.
    pub finite: Vec<(usize, Option<u32>)>,
    /// The dimensions of parameters and auxiliary numbers, behind those of the frame: which are integers.
    pub extra: Vec<bool>,
    pub products: Vec<Multiplication>,
    /// The auxiliary numbers that are cells of which a fact about all cells knows something.
    pub instances: Vec<CellInstance>,
}

impl Case {
    pub fn is_identity(&self) -> bool {
        self.condition == Condition::Yes && self.numeric.is_empty()
    }

    /// The element with the case's own dimensions behind it, and what it says of the cells that are read.
    pub fn around<D: Domain>(&self, frame: &Frame, element: &D, integer: &[bool]) -> D {
        let all = element.add_dimensions(self.extra.len()).meet_congruences(&[], integer);
        if self.instances.is_empty() || all.is_bottom() {
            return all;
        }
        let known = match &self.said_of_elements(frame)[..] {
            [] => instantiated(frame, element, &self.instances),
            said => instantiated(frame, &element.meet_constraints(said, &frame.integer), &self.instances),
        };
        all.meet_constraints(&known, integer)
    }

    /// Lists the constraints of the condition about elements that stand for all of a list. They hold for all
    /// elements, also for those that are read. A constraint about a cell of an array is left out, because it
    /// may hold for the assigned cell only.
    fn said_of_elements(&self, frame: &Frame) -> Vec<Constraint> {
        let elements = frame.elements_of_lists();
        let is_of_state = |at: usize| at < frame.dimensions() && !frame.cells_of_arrays().contains(&at);
        let is_about_all = |constraint: &&Constraint| {
            let mut used =
                constraint.coefficients().iter().enumerate().filter(|(_, factor)| !factor.is_zero());
            used.clone().all(|(at, _)| is_of_state(at)) && used.any(|(at, _)| elements.contains(&at))
        };
        let linear = match &self.condition {
            Condition::And(parts) => parts.first(),
            whole => Some(whole),
        };
        match linear {
            Some(Condition::Linear(constraints)) if !elements.is_empty() => {
                constraints.iter().filter(is_about_all).cloned().collect()
            }
            _ => Vec::new(),
        }
    }

    /// What of the element, which has the case's own dimensions behind those of the frame, satisfies the
    /// condition.
    pub fn meet<D: Domain>(&self, element: D, integer: &[bool]) -> D {
        let condition = |element: D| self.condition.meet(element, integer, integer.len());
        let met = condition(element);
        if self.products.is_empty() || met.is_bottom() {
            return met;
        }
        let mut parts = vec![met];
        for product in &self.products {
            let most = MOST_CASES / parts.len().max(1);
            parts = parts.iter().flat_map(|part| product.split(part, integer, most)).collect();
        }
        // Once more where a disjunction was met before the product was known; a constraint still holds.
        let again = |part: D| if self.condition.is_linear() { part } else { condition(part) };
        let parts = parts.into_iter().map(again).filter(|part| !part.is_bottom());
        parts.reduce(|sum, part| sum.join(&part)).unwrap_or_else(|| D::bottom(integer.len()))
    }

    fn take(&mut self, auxiliaries: &Auxiliaries, first: usize) {
        let values: Vec<&LinearExpression> =
            self.numeric.iter().filter_map(|(_, value)| value.as_ref()).collect();
        let needed = auxiliaries.needed(first, |at| {
            self.condition.mentions(&(at..at + 1))
                || values.iter().any(|value| !value.coefficient(at).is_zero())
        });
        self.extra.extend(needed.integer);
        (self.products, self.instances) = (needed.products, needed.instances);
        let known = Condition::and(needed.bounds.into_iter().map(Condition::constraint));
        self.condition = Condition::and([known, self.condition.clone()]);
    }
}

/// What transitions with the same parameters, guard and assignments do.
#[derive(Clone, Debug)]
pub struct Effect {
    guard: Term,
    obligations: Term,
    assigned: Vec<Assigned>,
    /// The positions of the finite places read: the cases depend on these digits only.
    pub reads: Vec<usize>,
    numeric_parameters: HashMap<Term, usize>,
    parameter_integer: Vec<bool>,
    parameter_bounds: Vec<Constraint>,
    finite_parameters: Vec<(Place, Vec<Value>)>,
    /// The ids that parameters are compared with, and those parameters.
    ids: Vec<Place>,
    id_parameters: Vec<Place>,
    new_ids: Vec<(usize, Term)>,
    /// Whether the cell that stands for all is one that is assigned: what cases are told apart by.
    written: Vec<Term>,
    partition_limit: usize,
    /// What was lost in compiling it, in order, each once.
    pub imprecisions: Vec<Beyond>,
    /// What its comparisons of records come to, in all cells.
    fields: Fields,
    /// Which keys the guard says to be in a set or a map, or not.
    keys: HashMap<Term, bool>,
    blind: bool,
}

/// One assignment: that its value is defined, of each place that it changes the new value, and the large
/// lists that it changes.
#[derive(Clone, Debug)]
struct Assigned {
    is_defined: Term,
    parts: Vec<(Place, Slot, Term)>,
    lists: Vec<AssignedList>,
}

impl Assigned {
    fn of(frame: &Frame, datum: &Datum, value: &Term) -> Self {
        let part = |place: Place| {
            let part = place.part_of(datum, value);
            let slot = frame.slot(&place.term)?;
            (part != place.term).then_some((place, slot, part))
        };
        let parts = frame.places(datum).into_iter().filter_map(part).collect();
        Assigned { is_defined: defined(value), parts, lists: AssignedList::all(frame, datum, value) }
    }
}

impl Effect {
    /// Prepares an effect. At most `partition_limit` valuations of finite parameters are told apart;
    /// parameters beyond that stay unknown.
    pub fn new(
        frame: &Frame,
        parameters: &[Datum],
        guard: &Term,
        assignments: &[(Datum, Term)],
        partition_limit: usize,
        blind: bool,
    ) -> Self {
        let terms: Vec<&Term> =
            std::iter::once(guard).chain(assignments.iter().map(|(_, value)| value)).collect();
        let has_ids = |(datum, _): &(Datum, Term)| datum.ty().has_ids();
        let (reads, ids) = frame.finite_mentioned(&terms, assignments.iter().any(has_ids));
        let mut effect = Effect {
            guard: guard.clone(),
            obligations: Term::yes(),
            assigned: Vec::new(),
            reads,
            numeric_parameters: HashMap::new(),
            parameter_integer: Vec::new(),
            parameter_bounds: Vec::new(),
            finite_parameters: Vec::new(),
            ids,
            id_parameters: Vec::new(),
            new_ids: Vec::new(),
            written: Vec::new(),
            partition_limit: partition_limit.max(1),
            imprecisions: Vec::new(),
            fields: Fields::new(),
            keys: HashMap::new(),
            blind,
        };
        if blind {
            return effect;
        }
        effect.obligations = defined(guard);
        effect.keys = decided_keys(guard);
        effect.written = written(frame, assignments.iter().map(|(_, value)| value));
        effect.assigned =
            assignments.iter().map(|(datum, value)| Assigned::of(frame, datum, value)).collect();
        let mut ways = 1;
        for list in effect.assigned.iter_mut().flat_map(|assigned| &mut assigned.lists) {
            if ways * list.origins.len() > MOST_ORIGINS {
                list.forget();
            }
            ways *= list.origins.len();
        }
        let values: Substitution = assignments.iter().cloned().collect();
        let known = frame.identities.ids.iter().map(|id| (id, substitute(&id.term, &values))).enumerate();
        let new = known.filter(|(_, (id, new))| id.term != *new).map(|(number, (_, new))| (number, new));
        effect.new_ids = new.collect();
        let mentioned: BTreeSet<Datum> = terms.iter().flat_map(|term| term.data()).collect();
        let mut valuations = 1usize;
        for summary in frame.summaries.iter().filter(|summary| summary.list.is_none()) {
            let place = Place { term: Term::datum(&summary.index), ty: summary.index.ty().clone() };
            let dimension = effect.add_parameter(frame, &place);
            effect.numeric_parameters.insert(place.term, dimension);
        }
        let parameters = || parameters.iter().filter(|datum| mentioned.contains(datum));
        let is_known = |leaf: &Leaf| {
            leaf.list.is_none() && frame.summaries.iter().any(|summary| summary.index == leaf.index)
        };
        for leaf in parameters().flat_map(|datum| leaves(frame.arrays, datum)).filter(is_known) {
            let dimension = effect.add_parameter(frame, &leaf.place);
            effect.numeric_parameters.insert(leaf.read, dimension);
        }
        // Whether a list is empty follows from its length.
        let is_of_length = |place: &Place| matches!(place.term.written(), Some(Node::Compare(..)));
        let places = parameters().flat_map(|datum| places(frame.arrays, datum));
        for place in places.filter(|place| !is_of_length(place)) {
            if place.is_numeric() {
                let dimension = effect.add_parameter(frame, &place);
                effect.numeric_parameters.insert(place.term, dimension);
            } else if place.ty.is_id() {
                effect.id_parameters.push(place);
            } else if let Some(values) = place.digits(frame.arrays) {
                let product = valuations.saturating_mul(values.len());
                if product <= partition_limit.max(1) {
                    valuations = product;
                    effect.finite_parameters.push((place, values));
                }
            }
        }
        effect
    }

    fn add_parameter(&mut self, frame: &Frame, place: &Place) -> usize {
        let dimension = frame.dimensions() + self.parameter_integer.len();
        let variable = LinearExpression::variable(dimension);
        self.parameter_bounds.extend(type_constraints(&place.ty, &variable));
        self.parameter_integer.push(place.ty.is_integer());
        dimension
    }

    /// The cases in a cell. The result depends on the digits in `reads` only.
    pub fn compile(&mut self, frame: &Frame, cell: u32) -> Vec<Case> {
        if self.blind {
            let case = Case {
                condition: Condition::Yes,
                numeric: Vec::new(),
                unknown_bounds: Vec::new(),
                finite: Vec::new(),
                extra: Vec::new(),
                products: Vec::new(),
                instances: Vec::new(),
            };
            return if self.guard.is_false() { Vec::new() } else { vec![case] };
        }
        let mut cases: Vec<Case> = Vec::new();
        let lists: Vec<Vec<Value>> =
            self.finite_parameters.iter().map(|(_, values)| values.clone()).collect();
        let read = self.reads.iter().map(|&position| {
            let place = &frame.finite[position];
            (place.place.term.clone(), place.values[frame.digit(cell, position) as usize].clone())
        });
        let read: HashMap<Term, Value> = read.collect();
        let identities = extended(&read, &self.ids, &self.id_parameters, self.partition_limit);
        let whether = tuples(&vec![vec![false, true]; self.written.len()]);
        let assigned = self.assigned.iter().flat_map(|assigned| &assigned.lists);
        let origins = tuples(&assigned.map(|list| (0..list.origins.len()).collect()).collect::<Vec<_>>());
        let cells: Vec<(&Vec<bool>, &Vec<usize>)> = whether
            .iter()
            .flat_map(|whether| origins.iter().map(move |origins| (whether, origins)))
            .collect();
        let tuples = tuples(&lists).into_iter();
        let ways = tuples.flat_map(|tuple| identities.iter().map(move |all| (tuple.clone(), all)));
        for ((tuple, identities), (whether, origins)) in
            ways.flat_map(|way| cells.iter().map(move |cell| (way.clone(), *cell)))
        {
            let mut finite = read.clone();
            finite.extend(identities.clone());
            let parameters = self.finite_parameters.iter().map(|(place, _)| place.term.clone());
            finite.extend(parameters.zip(tuple));
            let mut scope = Scope {
                frame,
                parameters: &self.numeric_parameters,
                finite,
                dimensions: frame.dimensions() + self.parameter_integer.len(),
                imprecisions: std::mem::take(&mut self.imprecisions),
                memory: Memory::default(),
                fields: std::mem::take(&mut self.fields),
                auxiliaries: Auxiliaries::new(frame.elements_of_lists().len()),
                keys: &self.keys,
            };
            let there = decide(&mut scope, &self.written, whether);
            let mut found =
                if there == Condition::No { Vec::new() } else { self.compile_one(&mut scope, origins) };
            for case in &mut found {
                case.condition = Condition::and([there.clone(), case.condition.clone()]);
            }
            found.retain(|case| case.condition != Condition::No);
            found.iter_mut().for_each(|case| case.take(&scope.auxiliaries, scope.dimensions));
            (self.imprecisions, self.fields) = (scope.imprecisions, scope.fields);
            for case in found {
                let (case, is_exact) = without_parameters(frame, case);
                let imprecision = (self.guard.clone(), ImprecisionReason::Parameters);
                if !is_exact && !self.imprecisions.contains(&imprecision) {
                    self.imprecisions.push(imprecision);
                }
                let Some(case) = case else { continue };
                if !cases.contains(&case) {
                    cases.push(case);
                }
            }
        }
        cases
    }

    /// The cases where the elements of the assigned lists have these origins.
    fn compile_one(&self, scope: &mut Scope, origins: &[usize]) -> Vec<Case> {
        let obligations = silently(scope, &self.obligations);
        let condition = scope.condition(&self.guard);
        let bounds = Condition::Linear(self.parameter_bounds[..].into());
        scope.assume_strings(&self.guard);
        let lists = self.assigned.iter().flat_map(|assigned| &assigned.lists).zip(origins);
        let come: Vec<Condition> = lists.map(|(list, at)| scope.condition(&list.origins[*at].on)).collect();
        let start = Condition::and([bounds, obligations, condition].into_iter().chain(come));
        if start == Condition::No {
            return Vec::new();
        }
        let mut origins = origins.iter();
        let nothing = Case {
            condition: start.clone(),
            numeric: Vec::new(),
            unknown_bounds: Vec::new(),
            finite: Vec::new(),
            extra: self.parameter_integer.clone(),
            products: Vec::new(),
            instances: Vec::new(),
        };
        let mut cases = vec![nothing];
        for Assigned { is_defined, parts, lists } in &self.assigned {
            let is_defined = silently(scope, is_defined);
            for case in &mut cases {
                case.condition = Condition::and([case.condition.clone(), is_defined.clone()]);
            }
            for (place, slot, part) in parts {
                match *slot {
                    Slot::Numeric(dimension) => assign_number(scope, &mut cases, place, dimension, part),
                    Slot::Finite(position) => assign_digit(scope, &mut cases, position, part),
                }
            }
            for (list, origin) in lists.iter().zip(&mut origins) {
                for (place, dimension, value) in list.changes(*origin) {
                    match value {
                        Some(value) => assign_number(scope, &mut cases, place, dimension, &value),
                        None => assign_any(&mut cases, place, dimension),
                    }
                }
            }
            cases.retain(|case| case.condition != Condition::No);
        }
        if self.new_ids.is_empty() || cases.is_empty() {
            return cases;
        }
        let changes = changed(scope, &start, &self.new_ids);
        let with = |case: &Case, (on, digits): &(Condition, Digits)| {
            let condition = Condition::and([case.condition.clone(), on.clone()]);
            Case { condition, finite: [&case.finite[..], digits].concat(), ..case.clone() }
        };
        cases.iter().flat_map(|case| changes.iter().map(|change| with(case, change))).collect()
    }
}

/// That the index variable is where a value assigns a cell, for each such place, once.
fn written<'a>(frame: &Frame, values: impl Iterator<Item = &'a Term>) -> Vec<Term> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut work: Vec<&Term> = values.filter(|_| !frame.summaries.is_empty()).collect();
    while let Some(term) = work.pop() {
        if !seen.insert(term.clone()) {
            continue;
        }
        if let Node::Store(array, index, _) = term.node()
            && let Type::Array(ty) = array.sort()
            && let Some(variable) = frame.arrays.index_variable(ty)
            && frame.summaries.iter().any(|summary| summary.index == variable)
        {
            let is_it = Term::equal(&Term::datum(&variable), index);
            if !found.contains(&is_it) {
                found.push(is_it);
            }
        }
        work.extend(term.children().into_iter().rev());
    }
    // The most assigned cells by which cases are told apart: as many ways as these are subsets.
    found.truncate(3);
    found
}

/// Decides for a scope whether the cell that stands for all is one of those assigned; what that asks for.
/// That it is another one asks for nothing: there are more cells than are assigned.
fn decide(scope: &mut Scope, written: &[Term], whether: &[bool]) -> Condition {
    let there = written.iter().zip(whether).filter(|(_, is_it)| **is_it).map(|(term, _)| term);
    let there = Condition::and(there.map(|term| scope.condition(term)).collect::<Vec<_>>());
    scope.memory = Memory::default();
    for (term, is_it) in written.iter().zip(whether) {
        scope.memory.decide(term, *is_it);
    }
    there
}

/// The condition without noting what is lost: for conditions derived from a term whose own imprecision is
/// noted.
fn silently(scope: &mut Scope, term: &Term) -> Condition {
    let known = scope.imprecisions.len();
    // What is remembered from here would be silent wherever it is met again.
    let memory = std::mem::take(&mut scope.memory);
    let condition = scope.condition(term);
    scope.memory = memory;
    scope.imprecisions.truncate(known);
    condition
}

fn assign_number(scope: &mut Scope, cases: &mut Vec<Case>, place: &Place, dimension: usize, value: &Term) {
    let split = match scope.linear(value) {
        Ok(split) if split.len() * cases.len() <= CASE_LIMIT => split,
        other => {
            let beyond = other.err().unwrap_or_else(|| (value.clone(), ImprecisionReason::Cases));
            scope.note_imprecision((value.clone(), beyond.1));
            return assign_any(cases, place, dimension);
        }
    };
    let mut next = Vec::new();
    for case in cases.iter() {
        for (on, expression) in &split {
            let in_type = type_constraints(&place.ty, expression).into_iter().map(Condition::constraint);
            let parts = [case.condition.clone(), on.clone()].into_iter().chain(in_type);
            let mut case = Case { condition: Condition::and(parts), ..case.clone() };
            case.numeric.push((dimension, Some(expression.clone())));
            next.push(case);
        }
    }
    *cases = next;
}

fn assign_any(cases: &mut [Case], place: &Place, dimension: usize) {
    let bounds = type_constraints(&place.ty, &LinearExpression::variable(dimension));
    for case in cases {
        case.numeric.push((dimension, None));
        case.unknown_bounds.extend(bounds.iter().cloned());
    }
}

fn assign_digit(scope: &mut Scope, cases: &mut Vec<Case>, position: usize, value: &Term) {
    let found = match value.sort().is_number() {
        true => scope.cases_among(value, &scope.frame.finite[position].values),
        false => scope.finite_cases(value),
    };
    let split = match found {
        Ok(split) if split.len() * cases.len() <= CASE_LIMIT => split,
        other => {
            let beyond = other.err().unwrap_or_else(|| (value.clone(), ImprecisionReason::Cases));
            scope.note_imprecision((value.clone(), beyond.1));
            for case in cases {
                case.finite.push((position, None));
            }
            return;
        }
    };
    // The same value under several conditions is one case.
    let mut merged: Vec<(Option<u32>, Vec<Condition>)> = Vec::new();
    for (on, value) in split {
        let digit = digit(&value);
        match merged.iter_mut().find(|(known, _)| *known == digit) {
            Some((_, conditions)) => conditions.push(on),
            None => merged.push((digit, vec![on])),
        }
    }
    let mut next = Vec::new();
    for case in cases.iter() {
        for (digit, conditions) in &merged {
            let on = Condition::or(conditions.clone());
            let mut case = Case { condition: Condition::and([case.condition.clone(), on]), ..case.clone() };
            case.finite.push((position, *digit));
            next.push(case);
        }
    }
    *cases = next;
}

/// The case with its parameters projected out of its condition once and for all, where no assignment and no
/// disjunction mentions one: `p == vPaid - cPrice` of a `nat` is `vPaid >= cPrice`. That is the common case,
/// since an output's parameters say what is sent. `None` where the condition holds nowhere; and whether
/// nothing was lost.
///
/// A projection may be exponential in its dimensions, so it is limited like every operation on polyhedra.
fn without_parameters(frame: &Frame, case: Case) -> (Option<Case>, bool) {
    let (first, all) = (frame.dimensions(), frame.dimensions() + case.extra.len());
    let in_value = |value: &LinearExpression| (first..all).any(|at| !value.coefficient(at).is_zero());
    let (linear, others) = match &case.condition {
        Condition::Linear(constraints) => (constraints.to_vec(), Vec::new()),
        Condition::And(parts) => match parts.split_first() {
            Some((Condition::Linear(constraints), others)) => (constraints.to_vec(), others.to_vec()),
            _ => (Vec::new(), parts.to_vec()),
        },
        other => (Vec::new(), vec![other.clone()]),
    };
    let mentioned = case.numeric.iter().filter_map(|(_, value)| value.as_ref()).any(in_value)
        || others.iter().any(|part| part.mentions(&(first..all)));
    if mentioned || case.extra.is_empty() || !case.products.is_empty() || !case.instances.is_empty() {
        return (Some(case), true);
    }
    let integer = [&frame.integer[..], &case.extra].concat();
    let classes = if frame.congruences { classes(&linear, &integer, first) } else { Vec::new() };
    let parameters: Vec<usize> = (first..all).collect();
    let limits = Limits::default();
    let around = Polyhedron::from_constraints(all, linear).convert_limited(&limits);
    let tightened = around.polyhedron().tighten_limited(&integer, &limits);
    let projected = tightened.remove_dimensions(&parameters).convert_limited(&limits);
    let is_exact = around.is_exact() && projected.is_exact();
    let projected = projected.into_polyhedron();
    if projected.is_empty() {
        return (None, true);
    }
    let constraints = projected.constraints();
    let linear = if constraints.is_empty() { Condition::Yes } else { Condition::Linear(constraints.into()) };
    let condition = Condition::and([linear].into_iter().chain(others).chain(classes));
    (Some(Case { condition, extra: Vec::new(), ..case }), is_exact)
}

/// One of the cases that a disjunction falls into: what its condition alone mentions is projected away, where
/// that loses nothing. `a[i] != 0` of an array without places is two cases that say nothing of `a[i]`.
pub fn alone(frame: &Frame, case: Case) -> Option<Case> {
    let (projected, is_exact) = without_parameters(frame, case.clone());
    if is_exact { projected } else { Some(case) }
}

/// What equalities say of the classes of the first dimensions: `x == 2 * p` of a whole `p` says that `x` is
/// even.
fn classes(constraints: &[Constraint], integer: &[bool], first: usize) -> Vec<Condition> {
    let around = Grid::all(integer.len()).with(constraints, &[]).with_integers(integer);
    let seen = around.project(&(0..first).collect::<Vec<_>>()).congruences();
    let beyond_types = seen.into_iter().filter(|congruence| !congruence.modulus().is_one());
    beyond_types.map(Condition::congruence).collect()
}

pub fn targets(frame: &Frame, case: &Case, cell: u32) -> Vec<u32> {
    let mut cells = vec![cell];
    for (position, digit) in &case.finite {
        let digits = match digit {
            Some(digit) => *digit..*digit + 1,
            None => 0..frame.finite[*position].values.len() as u32,
        };
        cells = cells
            .iter()
            .flat_map(|cell| digits.clone().map(|digit| frame.with_digit(*cell, *position, digit)))
            .collect();
    }
    cells.retain(|cell| frame.is_possible(*cell));
    cells
}

/// What makes effects the same: parameters, guard and assignments.
type EffectKey = (Vec<Datum>, Term, Vec<(Datum, Term)>);

/// The distinct effects over one frame.
#[derive(Default)]
pub struct Effects {
    numbers: HashMap<EffectKey, u32>,
    list: Vec<Effect>,
}

impl Effects {
    /// For each transition the number of its effect, those not known yet being added.
    pub fn of(&mut self, frame: &Frame, iosts: &Iosts, partition_limit: usize, blind: bool) -> Vec<u32> {
        let mut effect_of = Vec::with_capacity(iosts.transitions.len());
        for transition in &iosts.transitions {
            let parameters = &iosts.action(transition.action).parameters;
            let assignments: Vec<(Datum, Term)> =
                transition.assignments.iter().map(|(datum, value)| (datum.clone(), value.clone())).collect();
            let key = (parameters.clone(), transition.guard.clone(), assignments);
            let list = &mut self.list;
            let number = self.numbers.entry(key).or_insert_with_key(|(parameters, guard, assignments)| {
                list.push(Effect::new(frame, parameters, guard, assignments, partition_limit, blind));
                (list.len() - 1) as u32
            });
            effect_of.push(*number);
        }
        effect_of
    }

    pub fn get(&self, number: u32) -> &Effect {
        &self.list[number as usize]
    }

    pub fn get_mut(&mut self, number: u32) -> &mut Effect {
        &mut self.list[number as usize]
    }
}

/// What the guards of transitions with numeric parameters say of the numbers alone, before the transition
/// and behind it, in order: `x + p <= 10` of a `p` that is never negative says `x <= 10`, and so it does
/// behind `x := x + p`.
///
/// Projected as `post` of the domain does it, but whatever the finite places are: it is the same for all
/// cells.
pub fn projections<D: Domain>(frame: &Frame, iosts: &Iosts) -> Vec<Constraint> {
    let mut frame = frame.clone();
    // The most constraints of a condition that is projected. Whatever the finite places are, it is as long as
    // those of all cells together, and a long one says little of the numbers alone.
    frame.condition_limit = frame.condition_limit.min(128);
    let frame = &frame;
    let mut effects = Effects::default();
    effects.of(frame, iosts, CASE_LIMIT, false);
    let mut found = Vec::new();
    let assigns_list = |effect: &Effect| effect.assigned.iter().any(|assigned| !assigned.lists.is_empty());
    let is_projected = |effect: &&mut Effect| !effect.numeric_parameters.is_empty() || assigns_list(effect);
    for effect in effects.list.iter_mut().filter(is_projected) {
        effect.reads.clear();
        for case in effect.compile(frame, 0) {
            let integer = [&frame.integer[..], &case.extra].concat();
            let whole = D::top(frame.dimensions()).meet_constraints(&frame.bounds, &frame.integer);
            let before = case.meet(case.around(frame, &whole, &integer), &integer);
            if before.is_bottom() {
                continue;
            }
            let behind = before.assign(&case.numeric);
            let sides = [before, behind].map(|side| side.remove_last_dimensions(case.extra.len()));
            for side in sides.iter().filter(|side| !side.is_bottom()) {
                let said = side.constraints();
                // Of two equal numbers one has the bounds, where constraints are canonical.
                let bounds = Interval::top(frame.dimensions()).meet_constraints(&said, &frame.integer);
                found.extend(said);
                if !bounds.is_bottom() {
                    found.extend(bounds.constraints());
                }
            }
        }
    }
    found
}

/// The linear constraints over the frame's dimensions that the guards of the model compare with, in order,
/// each once.
pub fn atoms(frame: &Frame, terms: impl IntoIterator<Item = Term>) -> Vec<Constraint> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut visited = HashSet::new();
    let (none, no_keys) = (HashMap::new(), HashMap::new());
    let mut scope = Scope {
        frame,
        parameters: &none,
        finite: HashMap::new(),
        dimensions: frame.dimensions(),
        imprecisions: Vec::new(),
        memory: Memory::default(),
        fields: Fields::new(),
        auxiliaries: Auxiliaries::default(),
        keys: &no_keys,
    };
    for term in terms {
        let mut work = vec![term];
        while let Some(term) = work.pop() {
            if !visited.insert(term.clone()) || *term.sort() != Type::Bool {
                continue;
            }
            if matches!(term.node(), Node::Compare(_, a, _) if a.sort().is_number()) {
                scope.condition(&term).for_each(&mut |constraint| {
                    if seen.insert(constraint.clone()) {
                        found.push(constraint.clone());
                    }
                });
            } else {
                work.extend(term.children().into_iter().rev().cloned());
            }
        }
    }
    found
}
