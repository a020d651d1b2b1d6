//! A transition compiled for the domains: its cases.
//!
//! Within one cell of the partition and for one choice of the finite parameters, a transition is a condition
//! over numbers, a parallel affine assignment to dimensions, and new digits for the cell. Many transitions of
//! a product share guard and assignments, so they are compiled once per distinct (parameters, guard,
//! assignments), which is an [`Effect`]. The cases of an effect are compiled once per valuation of the finite
//! places that it reads, when such a cell is first met.
//!
//! The condition contains what the semantics asks without saying it: operations are defined, and assigned
//! values and parameters lie in their types. Numeric parameters are dimensions after those of the frame. They
//! are added for the effect and projected away after it. A parameter that no term mentions is left out,
//! because every type has a value.
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
use crate::identities::{Digits, change_identities, extend_identities};
use crate::lists::{AssignedList, MOST_ORIGINS};
use crate::places::{Leaf, Place, leaves, places};
use crate::scope::{Beyond, CASE_LIMIT, Fields, ImprecisionReason, Memory, Scope};
use crate::sizes::decided_keys;
use crate::summaries::{CellInstance, instantiate_cells};

/// One way to take a transition from one valuation of the finite places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// When this way can be taken. It ranges over the dimensions of the frame and of the parameters.
    pub condition: Condition,
    /// The assigned dimensions; `None` is an unknown value.
    pub numeric: Vec<(usize, Option<LinearExpression>)>,
    pub unknown_bounds: Vec<Constraint>,
    /// The new digits, by position; `None` is any.
    pub finite: Vec<(usize, Option<u32>)>,
    /// For each dimension after those of the frame (parameters and auxiliary numbers): is it an integer?
    pub extra: Vec<bool>,
    pub products: Vec<Multiplication>,
    /// The auxiliary numbers that are single cells, where a fact about all cells tells something of them.
    pub instances: Vec<CellInstance>,
}

impl Case {
    pub fn is_identity(&self) -> bool {
        self.condition == Condition::Yes && self.numeric.is_empty()
    }

    /// Adds the case's own dimensions to an element, with what the element tells of the cells that are read.
    pub fn with_own_dimensions<D: Domain>(&self, frame: &Frame, element: &D, integer: &[bool]) -> D {
        let all = element.add_dimensions(self.extra.len()).meet_congruences(&[], integer);
        if self.instances.is_empty() || all.is_bottom() {
            return all;
        }
        let known = match &self.constraints_on_elements(frame)[..] {
            [] => instantiate_cells(frame, element, &self.instances),
            others => {
                instantiate_cells(frame, &element.meet_constraints(others, &frame.integer), &self.instances)
            }
        };
        all.meet_constraints(&known, integer)
    }

    /// Lists the constraints of the condition about elements that stand for all of a list. They hold for all
    /// elements, also for those that are read. A constraint about a cell of an array is left out, because it
    /// may hold for the assigned cell only.
    fn constraints_on_elements(&self, frame: &Frame) -> Vec<Constraint> {
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

    /// Restricts an element, which has the case's own dimensions after those of the frame, to the condition.
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
        // A disjunction was met before the product was known: meet it again. A constraint still holds.
        let again = |part: D| if self.condition.is_linear() { part } else { condition(part) };
        let parts = parts.into_iter().map(again).filter(|part| !part.is_bottom());
        parts.reduce(|sum, part| sum.join(&part)).unwrap_or_else(|| D::bottom(integer.len()))
    }

    /// Gives the case those auxiliary numbers that it mentions, and what is known of them.
    fn take_auxiliaries(&mut self, auxiliaries: &Auxiliaries, first: usize) {
        let values: Vec<&LinearExpression> =
            self.numeric.iter().filter_map(|(_, value)| value.as_ref()).collect();
        let needed = auxiliaries.keep_needed(first, |at| {
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
    /// For each assigned cell: "the cell that stands for all is this one". Cases are distinguished by these.
    assigned_cells: Vec<Term>,
    partition_limit: usize,
    /// What was lost while it was compiled, in order, each once.
    pub imprecisions: Vec<Beyond>,
    /// Its comparisons of records, by fields. They are the same in all cells.
    fields: Fields,
    /// The keys that the guard decides: are they in their set or map?
    keys: HashMap<Term, bool>,
    blind: bool,
}

/// One assignment: the condition that its value is defined, the new value of each place that it changes, and
/// the large lists that it changes.
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
    /// Prepares an effect. At most `partition_limit` valuations of finite parameters are distinguished. The
    /// parameters beyond this limit stay unknown.
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
            assigned_cells: Vec::new(),
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
        effect.assigned_cells = list_assigned_cells(frame, assignments.iter().map(|(_, value)| value));
        effect.assigned =
            assignments.iter().map(|(datum, value)| Assigned::of(frame, datum, value)).collect();
        // A list whose origins would make too many ways becomes unknown.
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
        effect.add_parameters(frame, parameters, &terms);
        effect
    }

    /// Adds the parameters that the terms mention: as dimensions, as ids, or as finite parameters.
    fn add_parameters(&mut self, frame: &Frame, parameters: &[Datum], terms: &[&Term]) {
        let mentioned: BTreeSet<Datum> = terms.iter().flat_map(|term| term.data()).collect();
        let mut valuations = 1usize;
        for summary in frame.summaries.iter().filter(|summary| summary.list.is_none()) {
            let place = Place { term: Term::datum(&summary.index), ty: summary.index.ty().clone() };
            let dimension = self.add_parameter(frame, &place);
            self.numeric_parameters.insert(place.term, dimension);
        }
        let parameters = || parameters.iter().filter(|datum| mentioned.contains(datum));
        let is_known = |leaf: &Leaf| {
            leaf.list.is_none() && frame.summaries.iter().any(|summary| summary.index == leaf.index)
        };
        for leaf in parameters().flat_map(|datum| leaves(frame.arrays, datum)).filter(is_known) {
            let dimension = self.add_parameter(frame, &leaf.place);
            self.numeric_parameters.insert(leaf.read, dimension);
        }
        // Whether a list is empty follows from its length.
        let is_of_length = |place: &Place| matches!(place.term.written(), Some(Node::Compare(..)));
        let places = parameters().flat_map(|datum| places(frame.arrays, datum));
        for place in places.filter(|place| !is_of_length(place)) {
            if place.is_numeric() {
                let dimension = self.add_parameter(frame, &place);
                self.numeric_parameters.insert(place.term, dimension);
            } else if place.ty.is_id() {
                self.id_parameters.push(place);
            } else if let Some(values) = place.digits(frame.arrays) {
                let product = valuations.saturating_mul(values.len());
                if product <= self.partition_limit {
                    valuations = product;
                    self.finite_parameters.push((place, values));
                }
            }
        }
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
        let identities = extend_identities(&read, &self.ids, &self.id_parameters, self.partition_limit);
        // One case for each choice of: finite parameters, equal ids, the assigned cell that the cell which
        // stands for all is, and the origins of list elements.
        let whether = tuples(&vec![vec![false, true]; self.assigned_cells.len()]);
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
            let on_cells = decide_assigned_cells(&mut scope, &self.assigned_cells, whether);
            let mut found = if on_cells == Condition::No {
                Vec::new()
            } else {
                self.compile_with_origins(&mut scope, origins)
            };
            for case in &mut found {
                case.condition = Condition::and([on_cells.clone(), case.condition.clone()]);
            }
            found.retain(|case| case.condition != Condition::No);
            found.iter_mut().for_each(|case| case.take_auxiliaries(&scope.auxiliaries, scope.dimensions));
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

    /// Compiles the cases where the elements of the assigned lists have these origins.
    fn compile_with_origins(&self, scope: &mut Scope, origins: &[usize]) -> Vec<Case> {
        let obligations = condition_unnoted(scope, &self.obligations);
        let condition = scope.condition(&self.guard);
        let bounds = Condition::Linear(self.parameter_bounds[..].into());
        scope.assume_strings(&self.guard);
        let lists = self.assigned.iter().flat_map(|assigned| &assigned.lists).zip(origins);
        let origin_conditions: Vec<Condition> =
            lists.map(|(list, at)| scope.condition(&list.origins[*at].on)).collect();
        let start = Condition::and([bounds, obligations, condition].into_iter().chain(origin_conditions));
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
            let is_defined = condition_unnoted(scope, is_defined);
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
        let id_changes = change_identities(scope, &start, &self.new_ids);
        let with = |case: &Case, (on, digits): &(Condition, Digits)| {
            let condition = Condition::and([case.condition.clone(), on.clone()]);
            Case { condition, finite: [&case.finite[..], digits].concat(), ..case.clone() }
        };
        cases.iter().flat_map(|case| id_changes.iter().map(|change| with(case, change))).collect()
    }
}

/// Lists the assigned cells of arrays where one cell stands for all: "the index variable is this index".
fn list_assigned_cells<'a>(frame: &Frame, values: impl Iterator<Item = &'a Term>) -> Vec<Term> {
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
    // Cases are told apart by at most three assigned cells, because there is a way for each subset of them.
    found.truncate(3);
    found
}

/// Decides in a scope whether the cell that stands for all is one of the assigned cells. Returns the
/// condition of this. That it is no assigned cell needs no condition: there are more cells than are assigned.
fn decide_assigned_cells(scope: &mut Scope, cells: &[Term], whether: &[bool]) -> Condition {
    let chosen = cells.iter().zip(whether).filter(|(_, is_it)| **is_it).map(|(term, _)| term);
    let condition = Condition::and(chosen.map(|term| scope.condition(term)).collect::<Vec<_>>());
    scope.memory = Memory::default();
    for (term, is_it) in cells.iter().zip(whether) {
        scope.memory.decide(term, *is_it);
    }
    condition
}

/// Compiles a condition and does not note what is lost. It is for conditions that are derived from a term
/// whose own imprecision is noted.
fn condition_unnoted(scope: &mut Scope, term: &Term) -> Condition {
    let known = scope.imprecisions.len();
    // A remembered result would not be noted where the term is met again, so this call has its own memory.
    let memory = std::mem::take(&mut scope.memory);
    let condition = scope.condition(term);
    scope.memory = memory;
    scope.imprecisions.truncate(known);
    condition
}

/// Assigns a number in each case. Splits the cases by the value, or forgets the number where it is not
/// linear.
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

/// Assigns a digit in each case. Splits the cases by the value, or forgets the digit where it is unknown.
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

/// Projects the parameters out of the condition of a case, where no assignment and no disjunction mentions
/// one: `p == vPaid - cPrice` of a `nat` becomes `vPaid >= cPrice`. Most outputs are such cases. Returns
/// `None` if the condition holds nowhere, and whether nothing was lost.
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
    let classes = if frame.congruences { implied_congruences(&linear, &integer, first) } else { Vec::new() };
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

/// Simplifies one of the cases that a disjunction falls into: dimensions that only its condition mentions are
/// projected away, if that loses nothing. `a[i] != 0` of an array without places becomes two cases that say
/// nothing of `a[i]`.
pub fn simplify_alternative(frame: &Frame, case: Case) -> Option<Case> {
    let (projected, is_exact) = without_parameters(frame, case.clone());
    if is_exact { projected } else { Some(case) }
}

/// Lists the congruences that equalities imply for the first dimensions: `x == 2 * p` of a whole `p` says
/// that `x` is even.
fn implied_congruences(constraints: &[Constraint], integer: &[bool], first: usize) -> Vec<Condition> {
    let around = Grid::all(integer.len()).with(constraints, &[]).with_integers(integer);
    let seen = around.project(&(0..first).collect::<Vec<_>>()).congruences();
    let beyond_types = seen.into_iter().filter(|congruence| !congruence.modulus().is_one());
    beyond_types.map(Condition::congruence).collect()
}

/// Lists the possible cells into which a case leads from a cell.
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

/// Parameters, guard and assignments. Effects with the same key are the same.
type EffectKey = (Vec<Datum>, Term, Vec<(Datum, Term)>);

/// The distinct effects over one frame.
#[derive(Default)]
pub struct Effects {
    numbers: HashMap<EffectKey, u32>,
    list: Vec<Effect>,
}

impl Effects {
    /// Returns the number of each transition's effect. Effects that are not known yet are added.
    pub fn number_all(
        &mut self,
        frame: &Frame,
        iosts: &Iosts,
        partition_limit: usize,
        blind: bool,
    ) -> Vec<u32> {
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

/// Lists what the guards of transitions with numeric parameters say of the numbers alone, before and after
/// the transition, in order. `x + p <= 10` of a `p` that is never negative says `x <= 10`, and says it also
/// after `x := x + p`.
///
/// The projection is that of the domain's `post`, but without the finite places: it is the same for all
/// cells.
pub fn project_guards<D: Domain>(frame: &Frame, iosts: &Iosts) -> Vec<Constraint> {
    let mut frame = frame.clone();
    // Without the finite places a condition is as long as those of all cells together. A condition of more
    // than 128 constraints says little of the numbers alone.
    frame.condition_limit = frame.condition_limit.min(128);
    let frame = &frame;
    let mut effects = Effects::default();
    effects.number_all(frame, iosts, CASE_LIMIT, false);
    let mut found = Vec::new();
    let assigns_list = |effect: &Effect| effect.assigned.iter().any(|assigned| !assigned.lists.is_empty());
    let is_projected = |effect: &&mut Effect| !effect.numeric_parameters.is_empty() || assigns_list(effect);
    for effect in effects.list.iter_mut().filter(is_projected) {
        effect.reads.clear();
        for case in effect.compile(frame, 0) {
            let integer = [&frame.integer[..], &case.extra].concat();
            let whole = D::top(frame.dimensions()).meet_constraints(&frame.bounds, &frame.integer);
            let before = case.meet(case.with_own_dimensions(frame, &whole, &integer), &integer);
            if before.is_bottom() {
                continue;
            }
            let after = before.assign(&case.numeric);
            let sides = [before, after].map(|side| side.remove_last_dimensions(case.extra.len()));
            for side in sides.iter().filter(|side| !side.is_bottom()) {
                let constraints = side.constraints();
                // Canonical constraints bound only one of two equal numbers. Intervals bound both.
                let bounds = Interval::top(frame.dimensions()).meet_constraints(&constraints, &frame.integer);
                found.extend(constraints);
                if !bounds.is_bottom() {
                    found.extend(bounds.constraints());
                }
            }
        }
    }
    found
}

/// Lists the linear constraints over the frame's dimensions in the comparisons of these terms, in order, each
/// once.
pub fn list_comparisons(frame: &Frame, terms: impl IntoIterator<Item = Term>) -> Vec<Constraint> {
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
