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
//! Cost: proportional to the terms, times the valuations of the finite parameters that are read. If their
//! cases have more than `MOST_CONSTRAINTS`, or join more than `MOST_JOINED_PARTS`, half of these parameters
//! become unknown, until the cases fit.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use coreach_model::obligation::defined;
use coreach_model::term::node::Node;
use coreach_model::term::{Substitution, Term, substitute, subterms};
use coreach_model::value::tuples;
use coreach_model::{Datum, Iosts, Type, Value};
use coreach_polyhedra::{Constraint, LinearExpression, OperationLimits, Polyhedron};

use crate::auxiliary::{Auxiliaries, MOST_CASES, Multiplication};
use crate::condition::{Formula, count_joined_parts};
use crate::domains::Domain;
use crate::domains::any::{AnyDomain, AnyElement};
use crate::domains::interval::Intervals;
use crate::frame::{Frame, FrameSlot, digit, type_constraints};
use crate::grid::Grid;
use crate::identities::{Digits, change_identities, extend_identities};
use crate::lists::{AssignedList, MOST_ORIGINS};
use crate::places::{Leaf, Place, leaves, places};
use crate::scope::{Beyond, CASE_LIMIT, Cache, CompileScope, Fields, ImprecisionReason};
use crate::sizes::decided_keys;
use crate::summaries::{CellInstance, instantiate_cells};

/// One way to take a transition from one valuation of the finite places.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Update {
    /// The condition under which this way can be taken, over the dimensions of the frame and the parameters.
    pub condition: Formula,
    /// The assigned dimensions; `None` is an unknown value.
    pub numeric: Vec<(usize, Option<LinearExpression>)>,
    /// The bounds of the unknown values.
    pub unknown_bounds: Vec<Constraint>,
    /// The new digits, by position; `None` is any.
    pub finite: Vec<(usize, Option<u32>)>,
    /// For each dimension after those of the frame (parameters and auxiliary numbers): is it an integer?
    pub extra: Vec<bool>,
    pub products: Vec<Multiplication>,
    /// The auxiliary numbers that are single cells, where a fact about all cells tells something of them.
    pub instances: Vec<CellInstance>,
}

impl Update {
    pub fn is_identity(&self) -> bool {
        self.condition == Formula::Yes && self.numeric.is_empty()
    }

    /// Adds the case's own dimensions to an element, with what the element tells of the cells that are read.
    pub fn with_own_dimensions(&self, frame: &Frame, element: &AnyElement, integer: &[bool]) -> AnyElement {
        let extended = element.add_dimensions(self.extra.len()).meet_congruences(&[], integer);
        if self.instances.is_empty() || extended.is_bottom() {
            return extended;
        }
        let of_cells = match &self.constraints_on_elements(frame)[..] {
            [] => instantiate_cells(frame, element, &self.instances),
            constraints => {
                let restricted = element.meet_constraints(constraints, &frame.integer);
                instantiate_cells(frame, &restricted, &self.instances)
            }
        };
        extended.meet_constraints(&of_cells, integer)
    }

    /// Lists the constraints of the condition about elements that stand for all of a list. They hold for all
    /// elements, also for those that are read. A constraint about a cell of an array is left out, because it
    /// may hold for the assigned cell only.
    fn constraints_on_elements(&self, frame: &Frame) -> Vec<Constraint> {
        let elements = frame.elements_of_lists();
        let is_of_state = |dimension: usize| {
            dimension < frame.dimensions() && !frame.cells_of_arrays().contains(&dimension)
        };
        let is_about_all = |constraint: &&Constraint| {
            let mut used = constraint.terms();
            used.clone().all(|(dimension, _)| is_of_state(dimension))
                && used.any(|(dimension, _)| elements.contains(&dimension))
        };
        self.condition.linear_part().iter().filter(is_about_all).cloned().collect()
    }

    /// Restricts an element, which has the case's own dimensions after those of the frame, to the condition.
    pub fn meet(&self, element: AnyElement, integer: &[bool]) -> AnyElement {
        let meet_condition = |element: AnyElement| self.condition.meet(element, integer, integer.len());
        let met = meet_condition(element);
        if self.products.is_empty() || met.is_bottom() {
            return met;
        }
        let bottom = met.bottom(integer.len());
        let mut parts = vec![met];
        for product in &self.products {
            let most_cases = MOST_CASES / parts.len().max(1);
            parts = parts.iter().flat_map(|part| product.split(part, integer, most_cases)).collect();
        }
        // A disjunction was met before the product was known: meet it again. A constraint still holds.
        let meet_again =
            |part: AnyElement| if self.condition.is_linear() { part } else { meet_condition(part) };
        let parts = parts.into_iter().map(meet_again).filter(|part| !part.is_bottom());
        parts.reduce(|sum, part| sum.join(&part)).unwrap_or(bottom)
    }

    /// Gives the case those auxiliary numbers that it mentions, and what is known of them. Their dimensions
    /// begin with `first`.
    fn take_auxiliaries(&mut self, auxiliaries: &Auxiliaries, first: usize) {
        let values: Vec<&LinearExpression> =
            self.numeric.iter().filter_map(|(_, value)| value.as_ref()).collect();
        let needed = auxiliaries.keep_needed(first, |dimension| {
            self.condition.mentions(&(dimension..dimension + 1))
                || values.iter().any(|value| !value.coefficient(dimension).is_zero())
        });
        self.extra.extend(needed.integer);
        (self.products, self.instances) = (needed.products, needed.instances);
        let bounds = Formula::and(needed.bounds.into_iter().map(Formula::constraint));
        self.condition = Formula::and([bounds, self.condition.clone()]);
    }
}

/// The most constraints in the cases of an effect that distinguishes finite parameters.
const MOST_CONSTRAINTS: usize = 200_000;

/// The most parts of formulas that are joined for the cases of such an effect in one cell, in half a second.
const MOST_JOINED_PARTS: u64 = 2_000_000;

/// The cases of an effect, each once. They are many and large where a model has lists of records, so the
/// hashes of their conditions are compared first.
#[derive(Default)]
struct NewCases {
    distinct: Vec<Update>,
    by_hash: HashMap<u64, Vec<usize>>,
    /// The number of constraints in all cases that were added, also in those that were known.
    size: usize,
}

impl NewCases {
    /// Adds a case if it is new.
    fn add(&mut self, case: Update) {
        self.size += case.condition.size();
        let mut hasher = DefaultHasher::new();
        case.condition.hash(&mut hasher);
        let alike = self.by_hash.entry(hasher.finish()).or_default();
        if alike.iter().all(|number| self.distinct[*number] != case) {
            alike.push(self.distinct.len());
            self.distinct.push(case);
        }
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
    /// The positions of the ids that are assigned, with their new values.
    new_ids: Vec<(usize, Term)>,
    /// See [`list_cell_conditions`]. Cases are distinguished by these conditions.
    cell_conditions: Vec<Term>,
    partition_limit: usize,
    /// What was lost while the effect was compiled, in order, each once.
    pub imprecisions: Vec<Beyond>,
    /// The comparisons of records in the effect, by fields. They are the same in all cells.
    fields: Fields,
    /// The keys that the guard decides: are they in their set or map?
    keys: HashMap<Term, bool>,
    /// Does the effect ask only whether its guard is the literal `false`?
    blind: bool,
}

/// One assignment: the condition that its value is defined, the new value of each place that it changes, and
/// the large lists that it changes.
#[derive(Clone, Debug)]
struct Assigned {
    is_defined: Term,
    parts: Vec<(Place, FrameSlot, Term)>,
    lists: Vec<AssignedList>,
}

impl Assigned {
    /// Finds the places that an assignment changes, with their new values.
    fn of(frame: &Frame, datum: &Datum, value: &Term) -> Self {
        let changed_part = |place: Place| {
            let new_value = place.part_of(datum, value);
            let slot = frame.slot(&place.term)?;
            (new_value != place.term).then_some((place, slot, new_value))
        };
        let parts = frame.places(datum).into_iter().filter_map(changed_part).collect();
        Assigned { is_defined: defined(value), parts, lists: AssignedList::all(frame, datum, value) }
    }
}

impl Effect {
    /// Prepares an effect, which distinguishes at most `partition_limit` valuations of finite parameters. The
    /// parameters beyond stay unknown. `blind`: only a guard that is literally `false` counts.
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
            cell_conditions: Vec::new(),
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
        effect.cell_conditions =
            list_cell_conditions(frame, assignments.iter().rev().map(|(_, value)| value));
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
        for (number, id) in frame.identities.ids.iter().enumerate() {
            let new_id = substitute(&id.term, &values);
            if new_id != id.term {
                effect.new_ids.push((number, new_id));
            }
        }
        effect.add_parameters(frame, parameters, &terms);
        effect
    }

    /// Adds the parameters that the terms mention: as dimensions, as ids, or as finite parameters.
    fn add_parameters(&mut self, frame: &Frame, parameters: &[Datum], terms: &[&Term]) {
        let mentioned: BTreeSet<Datum> = terms.iter().flat_map(|term| term.data()).collect();
        // The index of the cell that stands for all of an array is free, like a parameter.
        for summary in frame.summaries.iter().filter(|summary| summary.list.is_none()) {
            let place = Place { term: Term::datum(&summary.index), ty: summary.index.ty().clone() };
            let dimension = self.add_parameter(frame, &place);
            self.numeric_parameters.insert(place.term, dimension);
        }
        let mentioned_parameters = || parameters.iter().filter(|datum| mentioned.contains(datum));
        let is_of_known_array = |leaf: &Leaf| {
            leaf.list.is_none() && frame.summaries.iter().any(|summary| summary.index == leaf.index)
        };
        let leaves = mentioned_parameters().flat_map(|datum| leaves(frame.arrays, datum));
        for leaf in leaves.filter(is_of_known_array) {
            let dimension = self.add_parameter(frame, &leaf.place);
            self.numeric_parameters.insert(leaf.read, dimension);
        }
        // Whether a list is empty follows from its length, so this flag is left out.
        let is_emptiness = |place: &Place| matches!(place.term.written(), Some(Node::Compare(..)));
        let places = mentioned_parameters().flat_map(|datum| places(frame.arrays, datum));
        let mut valuations = 1usize;
        for place in places.filter(|place| !is_emptiness(place)) {
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

    /// Adds a dimension for a number that a parameter has, and returns it.
    fn add_parameter(&mut self, frame: &Frame, place: &Place) -> usize {
        let dimension = frame.dimensions() + self.parameter_integer.len();
        let variable = LinearExpression::variable(dimension);
        self.parameter_bounds.extend(type_constraints(&place.ty, &variable));
        self.parameter_integer.push(place.ty.is_integer());
        dimension
    }

    /// Compiles the cases in a cell of the partition. They depend on the digits in `reads` only. If they
    /// become large, fewer parameters are distinguished from here on.
    pub fn compile(&mut self, frame: &Frame, cell: u32) -> Vec<Update> {
        if self.blind {
            return if self.guard.is_false() { Vec::new() } else { vec![Update::default()] };
        }
        loop {
            if let Some(cases) = self.compile_choices(frame, cell) {
                return cases;
            }
            self.finite_parameters.truncate(self.finite_parameters.len() / 2);
        }
    }

    /// Compiles one case for each choice of finite parameters, equal ids, whether the one cell that stands
    /// for the whole array is the assigned one, and the origins of list elements. `None`: they become large,
    /// and finite parameters are distinguished.
    fn compile_choices(&mut self, frame: &Frame, cell: u32) -> Option<Vec<Update>> {
        let digits = self.reads.iter().map(|&position| {
            let place = &frame.finite[position];
            (place.place.term.clone(), place.values[frame.digit(cell, position) as usize].clone())
        });
        let digits: HashMap<Term, Value> = digits.collect();
        let identities = extend_identities(&digits, &self.ids, &self.id_parameters, self.partition_limit);
        let parameter_values: Vec<Vec<Value>> =
            self.finite_parameters.iter().map(|(_, values)| values.clone()).collect();
        let cell_choices = tuples(&vec![vec![false, true]; self.cell_conditions.len()]);
        let lists = self.assigned.iter().flat_map(|assigned| &assigned.lists);
        let origin_choices = tuples(&lists.map(|list| (0..list.origins.len()).collect()).collect::<Vec<_>>());
        let mut cases = NewCases::default();
        let joined_before = count_joined_parts();
        for values in tuples(&parameter_values) {
            for identity in &identities {
                let parameters = self.finite_parameters.iter().map(|(place, _)| place.term.clone());
                let mut finite = digits.clone();
                finite.extend(identity.clone());
                finite.extend(parameters.zip(values.clone()));
                for is_assigned in &cell_choices {
                    for origins in &origin_choices {
                        self.compile_choice(frame, finite.clone(), is_assigned, origins, &mut cases);
                    }
                }
            }
            let is_long = count_joined_parts() - joined_before > MOST_JOINED_PARTS;
            if (is_long || cases.size > MOST_CONSTRAINTS) && !self.finite_parameters.is_empty() {
                return None;
            }
        }
        Some(cases.distinct)
    }

    /// Compiles the cases of one choice, and adds those that are new. `is_assigned` says for each assigned
    /// cell whether it is the cell that stands for all.
    fn compile_choice(
        &mut self,
        frame: &Frame,
        finite: HashMap<Term, Value>,
        is_assigned: &[bool],
        origins: &[usize],
        cases: &mut NewCases,
    ) {
        let mut scope = CompileScope {
            finite,
            dimensions: frame.dimensions() + self.parameter_integer.len(),
            imprecisions: std::mem::take(&mut self.imprecisions),
            fields: std::mem::take(&mut self.fields),
            auxiliaries: Auxiliaries::new(frame.elements_of_lists().len()),
            ..CompileScope::new(frame, &self.numeric_parameters, &self.keys)
        };
        let on_cells = decide_cell_conditions(&mut scope, &self.cell_conditions, is_assigned);
        let mut new_cases = match on_cells {
            Formula::No => Vec::new(),
            _ => self.compile_with_origins(&mut scope, origins),
        };
        for case in &mut new_cases {
            case.condition = Formula::and([on_cells.clone(), case.condition.clone()]);
        }
        new_cases.retain(|case| case.condition != Formula::No);
        new_cases.iter_mut().for_each(|case| case.take_auxiliaries(&scope.auxiliaries, scope.dimensions));
        (self.imprecisions, self.fields) = (scope.imprecisions, scope.fields);
        for case in new_cases {
            let (case, is_exact) = remove_parameters(frame, case);
            let imprecision = (self.guard.clone(), ImprecisionReason::Parameters);
            if !is_exact && !self.imprecisions.contains(&imprecision) {
                self.imprecisions.push(imprecision);
            }
            case.into_iter().for_each(|case| cases.add(case));
        }
    }

    /// Compiles the cases for one choice of origins. `chosen` has a number for each assigned list, in order.
    /// It says which of the list's origins gives the element that stands for all.
    fn compile_with_origins(&self, scope: &mut CompileScope, chosen: &[usize]) -> Vec<Update> {
        let obligations = compile_unnoted(scope, &self.obligations);
        let condition = scope.condition(&self.guard);
        let bounds = Formula::Linear(self.parameter_bounds[..].into());
        scope.assume_strings(&self.guard);
        let lists = self.assigned.iter().flat_map(|assigned| &assigned.lists).zip(chosen);
        let origin_conditions: Vec<Formula> =
            lists.map(|(list, origin)| scope.condition(&list.origins[*origin].on)).collect();
        let start = Formula::and([bounds, obligations, condition].into_iter().chain(origin_conditions));
        if start == Formula::No {
            return Vec::new();
        }
        // Each assignment takes as many origins as it has lists.
        let mut next_origins = chosen.iter();
        let (condition, extra) = (start.clone(), self.parameter_integer.clone());
        let mut cases = vec![Update { condition, extra, ..Update::default() }];
        for Assigned { is_defined, parts, lists } in &self.assigned {
            let is_defined = compile_unnoted(scope, is_defined);
            for case in &mut cases {
                case.condition = Formula::and([case.condition.clone(), is_defined.clone()]);
            }
            for (place, slot, part) in parts {
                match *slot {
                    FrameSlot::Numeric(dimension) => assign_number(scope, &mut cases, place, dimension, part),
                    FrameSlot::Finite(position) => assign_digit(scope, &mut cases, position, part),
                }
            }
            for (list, origin) in lists.iter().zip(&mut next_origins) {
                for (place, dimension, value) in list.changes(*origin) {
                    match value {
                        Some(value) => assign_number(scope, &mut cases, place, dimension, &value),
                        None => assign_any(&mut cases, place, dimension),
                    }
                }
            }
            cases.retain(|case| case.condition != Formula::No);
        }
        if self.new_ids.is_empty() || cases.is_empty() {
            return cases;
        }
        // Each case is combined with each case of which ids are equal after the assignment.
        let id_changes = change_identities(scope, &start, &self.new_ids);
        let add_change = |case: &Update, (on, digits): &(Formula, Digits)| {
            let condition = Formula::and([case.condition.clone(), on.clone()]);
            Update { condition, finite: [&case.finite[..], digits].concat(), ..case.clone() }
        };
        cases.iter().flat_map(|case| id_changes.iter().map(|change| add_change(case, change))).collect()
    }
}

/// Lists a condition for each assigned cell of an array in which one cell stands for all. The condition says
/// that the index of that one cell is the assigned index.
fn list_cell_conditions<'a>(frame: &Frame, values: impl Iterator<Item = &'a Term>) -> Vec<Term> {
    let mut conditions = Vec::new();
    if frame.summaries.is_empty() {
        return conditions;
    }
    for term in subterms(values) {
        if let Node::Store(array, index, _) = term.node()
            && let Type::Array(ty) = array.sort()
            && let Some(variable) = frame.arrays.index_variable(ty)
            && frame.summaries.iter().any(|summary| summary.index == variable)
        {
            let is_this_cell = Term::equal(&Term::datum(&variable), index);
            if !conditions.contains(&is_this_cell) {
                conditions.push(is_this_cell);
            }
        }
    }
    // Each subset of these conditions makes a case, so there are at most three. Further ones stay undecided.
    conditions.truncate(3);
    conditions
}

/// Decides in a scope which assigned cells the cell that stands for all is. Returns the condition that it is
/// all of these. That it is no other needs no condition, because there are more cells than are assigned.
fn decide_cell_conditions(scope: &mut CompileScope, conditions: &[Term], is_assigned: &[bool]) -> Formula {
    let choices = conditions.iter().zip(is_assigned);
    let chosen = choices.clone().filter(|(_, is_chosen)| **is_chosen).map(|(term, _)| term);
    let condition = Formula::and(chosen.map(|term| scope.condition(term)).collect::<Vec<_>>());
    // What was compiled so far does not use these decisions.
    scope.memory = Cache::default();
    for (term, is_chosen) in choices {
        scope.memory.decide(term, *is_chosen);
    }
    condition
}

/// Compiles a condition that is derived from a term whose own imprecision is noted. So nothing more is noted.
fn compile_unnoted(scope: &mut CompileScope, term: &Term) -> Formula {
    let noted = scope.imprecisions.len();
    // A remembered result would not be noted where the term is met again, so this call has its own memory.
    let memory = std::mem::take(&mut scope.memory);
    let condition = scope.condition(term);
    scope.memory = memory;
    scope.imprecisions.truncate(noted);
    condition
}

/// Assigns a number in each case. Splits the cases by the value, or forgets a number that is not linear.
fn assign_number(
    scope: &mut CompileScope,
    cases: &mut Vec<Update>,
    place: &Place,
    dimension: usize,
    value: &Term,
) {
    let linear = scope.linear(value);
    let Some(split) = scope.keep_split(value, cases.len(), linear) else {
        return assign_any(cases, place, dimension);
    };
    let mut next = Vec::new();
    for case in cases.iter() {
        for (on, expression) in &split {
            let in_type = type_constraints(&place.ty, expression).into_iter().map(Formula::constraint);
            let parts = [case.condition.clone(), on.clone()].into_iter().chain(in_type);
            let mut case = Update { condition: Formula::and(parts), ..case.clone() };
            case.numeric.push((dimension, Some(expression.clone())));
            next.push(case);
        }
    }
    *cases = next;
}

/// Assigns any number of the place's type in each case.
fn assign_any(cases: &mut [Update], place: &Place, dimension: usize) {
    let bounds = type_constraints(&place.ty, &LinearExpression::variable(dimension));
    for case in cases {
        case.numeric.push((dimension, None));
        case.unknown_bounds.extend(bounds.iter().cloned());
    }
}

/// Assigns a digit in each case. Splits the cases by the value, or forgets the digit where it is unknown.
fn assign_digit(scope: &mut CompileScope, cases: &mut Vec<Update>, position: usize, value: &Term) {
    let value_cases = match value.sort().is_number() {
        true => scope.cases_among(value, &scope.frame.finite[position].values),
        false => scope.finite_cases(value),
    };
    let Some(split) = scope.keep_split(value, cases.len(), value_cases) else {
        return cases.iter_mut().for_each(|case| case.finite.push((position, None)));
    };
    // The same value under several conditions is one case.
    let mut merged: Vec<(Option<u32>, Vec<Formula>)> = Vec::new();
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
            let on = Formula::or(conditions.clone());
            let mut case = Update { condition: Formula::and([case.condition.clone(), on]), ..case.clone() };
            case.finite.push((position, *digit));
            next.push(case);
        }
    }
    *cases = next;
}

/// Projects the parameters out of the condition of a case, if no assignment and no disjunction mentions one:
/// `p == vPaid - cPrice` of a `nat` becomes `vPaid >= cPrice`. Most outputs are such cases. Returns the case,
/// or `None` if its condition holds nowhere, and whether nothing was lost. A projection may be exponential in
/// its dimensions, so it is limited like every operation on polyhedra.
fn remove_parameters(frame: &Frame, case: Update) -> (Option<Update>, bool) {
    // The dimensions of the parameters follow those of the frame.
    let first = frame.dimensions();
    let parameters = first..first + case.extra.len();
    let reads_parameter =
        |value: &LinearExpression| parameters.clone().any(|extra| !value.coefficient(extra).is_zero());
    let (constraints, others) = match &case.condition {
        Formula::Linear(constraints) => (constraints.to_vec(), Vec::new()),
        Formula::And(parts) => match parts.split_first() {
            Some((Formula::Linear(constraints), others)) => (constraints.to_vec(), others.to_vec()),
            _ => (Vec::new(), parts.to_vec()),
        },
        other => (Vec::new(), vec![other.clone()]),
    };
    let is_still_used = case.numeric.iter().filter_map(|(_, value)| value.as_ref()).any(reads_parameter)
        || others.iter().any(|part| part.mentions(&parameters));
    if is_still_used || case.extra.is_empty() || !case.products.is_empty() || !case.instances.is_empty() {
        // Nothing is projected away, so nothing is lost.
        return (Some(case), true);
    }
    let integer = [&frame.integer[..], &case.extra].concat();
    // The projection of a polyhedron does not see congruences.
    let congruences =
        if frame.congruences { implied_congruences(&constraints, &integer, first) } else { Vec::new() };
    let limits = OperationLimits::default();
    let whole = Polyhedron::from_constraints(parameters.end, constraints).convert_limited(&limits);
    let tightened = whole.polyhedron().tighten_limited(&integer, &limits);
    let projected = tightened.remove_dimensions(&parameters.collect::<Vec<_>>()).convert_limited(&limits);
    let is_exact = whole.is_exact() && projected.is_exact();
    let projected = projected.into_polyhedron();
    if projected.is_empty() {
        return (None, true);
    }
    let remaining = projected.constraints();
    let linear = if remaining.is_empty() { Formula::Yes } else { Formula::Linear(remaining.into()) };
    let condition = Formula::and([linear].into_iter().chain(others).chain(congruences));
    (Some(Update { condition, extra: Vec::new(), ..case }), is_exact)
}

/// Simplifies one of the cases that a disjunction falls into: dimensions that only its condition mentions are
/// projected away, if that loses nothing. `a[i] != 0` of an array without places becomes two cases that say
/// nothing of `a[i]`.
pub fn simplify_alternative(frame: &Frame, case: Update) -> Option<Update> {
    let (projected, is_exact) = remove_parameters(frame, case.clone());
    if is_exact { projected } else { Some(case) }
}

/// Lists the congruences that equalities imply for the first dimensions: `x == 2 * p` of a whole `p` says
/// that `x` is even.
fn implied_congruences(constraints: &[Constraint], integer: &[bool], first: usize) -> Vec<Formula> {
    let whole = Grid::all(integer.len()).with(constraints, &[]).with_integers(integer);
    let congruences = whole.project(&(0..first).collect::<Vec<_>>()).congruences();
    // A congruence modulo 1 says only that a number is an integer, and types say so already.
    let beyond_types = congruences.into_iter().filter(|congruence| !congruence.modulus().is_one());
    beyond_types.map(Formula::congruence).collect()
}

/// Lists the possible cells into which a case leads from a cell.
pub fn targets(frame: &Frame, case: &Update, cell: u32) -> Vec<u32> {
    let mut cells = vec![cell];
    for (position, digit) in &case.finite {
        let digits = match digit {
            Some(digit) => *digit..*digit + 1,
            // Any digit.
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
/// after `x := x + p`. The projection is that of the domain's `post`, but without the finite places: it is
/// the same for all cells.
pub fn project_guards(domain: AnyDomain, frame: &Frame, iosts: &Iosts) -> Vec<Constraint> {
    let mut frame = frame.clone();
    // Without the finite places a condition is as long as those of all cells together. A condition of more
    // than 128 constraints says little of the numbers alone.
    frame.condition_limit = frame.condition_limit.min(128);
    let frame = &frame;
    let mut effects = Effects::default();
    effects.number_all(frame, iosts, CASE_LIMIT, /* blind */ false);
    let mut guard_constraints = Vec::new();
    let assigns_list = |effect: &Effect| effect.assigned.iter().any(|assigned| !assigned.lists.is_empty());
    let is_projected = |effect: &&mut Effect| !effect.numeric_parameters.is_empty() || assigns_list(effect);
    for effect in effects.list.iter_mut().filter(is_projected) {
        // Nothing is read from the cell, so any cell gives the same cases.
        effect.reads.clear();
        for case in effect.compile(frame, 0) {
            let integer = [&frame.integer[..], &case.extra].concat();
            let whole = domain.top(frame.dimensions()).meet_constraints(&frame.bounds, &frame.integer);
            let before = case.meet(case.with_own_dimensions(frame, &whole, &integer), &integer);
            if before.is_bottom() {
                continue;
            }
            let after = before.assign(&case.numeric);
            let elements = [before, after].map(|element| element.remove_last_dimensions(case.extra.len()));
            for element in elements.iter().filter(|element| !element.is_bottom()) {
                let own_constraints = element.constraints();
                // Canonical constraints bound only one of two equal numbers. Intervals bound both.
                let bounds =
                    Intervals::top(frame.dimensions()).meet_constraints(&own_constraints, &frame.integer);
                guard_constraints.extend(own_constraints);
                if !bounds.is_bottom() {
                    guard_constraints.extend(bounds.constraints());
                }
            }
        }
    }
    guard_constraints
}

/// Lists the linear constraints over the frame's dimensions in the comparisons of these terms, each once.
pub fn list_comparisons(frame: &Frame, terms: impl IntoIterator<Item = Term>) -> Vec<Constraint> {
    let (mut comparisons, mut seen, mut visited) = (Vec::new(), HashSet::new(), HashSet::new());
    let (no_parameters, no_keys) = (HashMap::new(), HashMap::new());
    let mut scope = CompileScope::new(frame, &no_parameters, &no_keys);
    for term in terms {
        let mut open_terms = vec![term];
        while let Some(term) = open_terms.pop() {
            // A comparison stands below Boolean terms only.
            if !visited.insert(term.clone()) || *term.sort() != Type::Bool {
                continue;
            }
            if matches!(term.node(), Node::Compare(_, a, _) if a.sort().is_number()) {
                scope.condition(&term).for_each(&mut |constraint| {
                    if seen.insert(constraint.clone()) {
                        comparisons.push(constraint.clone());
                    }
                });
            } else {
                open_terms.extend(term.children().into_iter().rev().cloned());
            }
        }
    }
    comparisons
}
