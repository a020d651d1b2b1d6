//! Which parts of a state an abstract value talks about, and in which order.
//!
//! A *place* is a datum, or a chain of fields and cells that begins at one. It holds a single value, or it is
//! the length of a string there. Records are split into their leaves, and arrays of few cells into their
//! cells. In an array of many cells one cell stands for all, or the array has no places
//! ([`crate::summaries`]). In a large list one element stands for all (`lists.rs`).
//!
//! Numeric places become the dimensions of a numerical domain: first variables, then constants, each in the
//! order of declaration. Places of a finite type (Booleans and enumerations) become the digits of a *cell*'s
//! number: an abstract value keeps one numeric element for each cell (see [`crate::partition`]). The length
//! of a short list is a digit as well. Any other `int[lo..hi]` is numeric, however short. Ids have no slots:
//! whether two of them are the same is a digit (`identities.rs`).

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use coreach_model::iosts::Iosts;
use coreach_model::term::node::Node;
use coreach_model::term::operation::{DerivedOperation, StandardOperation};
use coreach_model::term::{Term, TermShape, replace, subterms};
use coreach_model::{Datum, Type, Value};
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};

use crate::linear::integer;
use crate::places::{Arrays, Leaf, Place, is_empty, leaves, moves_elements, places, size};
use crate::predicates::{collect_predicates, strings_read_alone};

/// The most constraints that one condition has, if the options do not say otherwise.
pub const CONDITION_LIMIT: usize = 4096;

/// Returns the digit of a value in a cell's number: 0 or 1, the position of a literal, or a length.
pub fn digit(value: &Value) -> Option<u32> {
    match value {
        Value::Bool(value) => Some(u32::from(*value)),
        Value::Enum(_, position) => u32::try_from(*position).ok(),
        Value::Int(length) => u32::try_from(length.clone()).ok(),
        _ => None,
    }
}

/// The least and the greatest value of a numeric type. `None`: there is no such bound.
pub fn extent(ty: &Type) -> (Option<Integer>, Option<Integer>) {
    match ty {
        Type::Nat => (Some(Integer::ZERO), None),
        Type::Range(low, high) => (Some(integer(low)), Some(integer(high))),
        _ => (None, None),
    }
}

/// The constraints of a type on the value of an expression: none for `int` and `real`, one or two for others.
pub fn type_constraints(ty: &Type, expression: &LinearExpression) -> Vec<Constraint> {
    let (low, high) = extent(ty);
    let constant = |value| LinearExpression::constant(Rational::from(value));
    let above = low.map(|low: Integer| {
        Constraint::from_expression(&expression.minus(&constant(low)), Relation::AtLeast)
    });
    let below =
        high.map(|high| Constraint::from_expression(&constant(high).minus(expression), Relation::AtLeast));
    above.into_iter().chain(below).collect()
}

/// The dimensions of all cells that have one index type, or of all elements of a large list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArraySummary {
    pub index: Datum,
    /// The list, if it is one.
    pub list: Option<Term>,
    /// The dimensions of the numbers in the cell or element that stands for all.
    pub leaves: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameSlot {
    Numeric(usize),
    Finite(usize),
}

/// A place that is a digit of the cell's number.
#[derive(Clone, Debug)]
pub struct FinitePlace {
    pub place: Place,
    /// Its values; the digit is the position.
    pub values: Vec<Value>,
    /// What one step of this digit adds to the cell's number.
    pub stride: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Identities {
    /// The ids that are distinguished.
    pub ids: Vec<Place>,
    /// For two ids of one type, by their positions in `ids`: the place of their pair among the finite places.
    pub pairs: BTreeMap<(usize, usize), usize>,
    /// The cells in which a state may lie, in order. `None`: no cell is contradictory, so all are possible.
    pub possible: Option<Vec<u32>>,
}

/// The variables' order of a numerical domain, and of the partition around it.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    pub numeric: Vec<Place>,
    /// For each dimension: is it an integer?
    pub integer: Vec<bool>,
    pub bounds: Vec<Constraint>,
    /// The digits of a cell's number.
    pub finite: Vec<FinitePlace>,
    pub cells: u32,
    /// Its ids, and which cells their pairs exclude.
    pub identities: Identities,
    /// Conditions on strings that variables keep. Those with room are finite places.
    pub predicates: Vec<Place>,
    /// Finite places, and ids, that the limit kept out of the partition.
    pub dropped: Vec<Place>,
    pub arrays: Arrays,
    /// The dimensions that stand for all cells of an index type, by this type, and those of each large list.
    pub summaries: Vec<ArraySummary>,
    /// The most constraints of one condition over it.
    pub condition_limit: usize,
    /// May conditions over it have congruences?
    pub congruences: bool,
    slots: HashMap<Term, FrameSlot>,
}

impl Frame {
    /// The frame without any place: the control structure alone.
    pub fn blind() -> Self {
        Frame { cells: 1, condition_limit: CONDITION_LIMIT, ..Frame::default() }
    }

    /// The frame of a model, its partition limited to this number of cells (at least one). If the limit does
    /// not suffice, the places that most distinct guards mention come first, as long as they fit.
    pub fn new(iosts: &Iosts, partition_limit: usize, arrays: Arrays) -> Self {
        let strings = strings_read_alone(iosts);
        let keeps_strings = strings.iter().any(|datum| *datum.ty() != Type::String);
        let arrays = Arrays { keeps_order: !moves_elements(iosts), keeps_strings, ..arrays };
        let data = || iosts.variables.iter().chain(&iosts.constants);
        // The kinds of places: lengths of short lists, numbers, ids, and what has few values.
        let (lengths, others): (Vec<Place>, Vec<Place>) =
            data().flat_map(|datum| places(arrays, datum)).partition(|place| place.lengths(arrays).is_some());
        let (numeric, others): (Vec<Place>, Vec<Place>) = others.into_iter().partition(Place::is_numeric);
        let (ids, finite): (Vec<Place>, Vec<Place>) = others.into_iter().partition(|place| place.ty.is_id());
        let counts = LazyCell::new(|| count_mentions(iosts, arrays));
        let ids = if ids.is_empty() { ids } else { sort_by_mentions(&counts, ids) };
        let predicates = collect_predicates(iosts, &strings);
        let finite: Vec<Place> = finite.into_iter().chain(predicates.iter().cloned()).collect();
        let mut frame = Frame { arrays, predicates, ..Frame::blind() };
        numeric.into_iter().for_each(|place| frame.add_number(place));
        for leaf in data().flat_map(|datum| leaves(arrays, datum)) {
            frame.add_leaf(leaf);
        }
        let limit = u32::try_from(partition_limit).unwrap_or(u32::MAX).max(1);
        for place in choose_digits(&counts, arrays, finite, limit, &mut frame.dropped) {
            frame.add_digit(place);
        }
        // Lengths have the room that flags and ids leave. A length without room is a number.
        let mut with_ids = frame.clone();
        with_ids.add_ids(ids.clone(), limit);
        let (room, mut without_room) = (limit / with_ids.cells.max(1), Vec::new());
        for place in choose_digits(&counts, arrays, lengths, room, &mut without_room) {
            frame.add_digit(place);
        }
        without_room.into_iter().for_each(|place| frame.add_number(place));
        let dropped_ids = frame.add_ids(ids, limit);
        frame.dropped.extend(dropped_ids);
        frame
    }

    /// Adds a place of few values as a digit of a cell's number.
    fn add_digit(&mut self, place: Place) {
        let Some(values) = place.digits(self.arrays) else { return };
        let stride = self.cells;
        // `choose_digits` keeps the product within the limit.
        self.cells *= values.len() as u32;
        self.slots.insert(place.term.clone(), FrameSlot::Finite(self.finite.len()));
        self.finite.push(FinitePlace { place, values, stride });
    }

    /// Adds a place as a dimension, with the bounds of its type.
    fn add_number(&mut self, place: Place) {
        let dimension = self.numeric.len();
        self.slots.insert(place.term.clone(), FrameSlot::Numeric(dimension));
        // The size of a set or map is read as it is written, or as the sum that it stands for.
        let size_of = DerivedOperation::Standard(StandardOperation::Size);
        if matches!(place.term.shape(), TermShape::Operation(operation, _) if *operation == size_of) {
            self.slots.insert(place.term.lowered().clone(), FrameSlot::Numeric(dimension));
        }
        self.bounds.extend(type_constraints(&place.ty, &LinearExpression::variable(dimension)));
        self.integer.push(place.ty.is_integer());
        self.numeric.push(place);
    }

    /// Adds a number of the cell or element that stands for all.
    fn add_leaf(&mut self, Leaf { index, list, read, place }: Leaf) {
        let known = self.summaries.iter().position(|summary| summary.index == index);
        let summary = known.unwrap_or_else(|| {
            self.summaries.push(ArraySummary { index, list, leaves: Vec::new() });
            self.summaries.len() - 1
        });
        let dimension = self.numeric.len();
        self.add_number(place);
        self.slots.insert(read, FrameSlot::Numeric(dimension));
        self.summaries[summary].leaves.push(dimension);
    }

    /// The dimensions of elements that stand for all of a list.
    pub fn elements_of_lists(&self) -> Vec<usize> {
        let lists = self.summaries.iter().filter(|summary| summary.list.is_some());
        lists.flat_map(|summary| summary.leaves.iter().copied()).collect()
    }

    /// The dimensions of cells that stand for all of an array.
    pub fn cells_of_arrays(&self) -> Vec<usize> {
        let arrays = self.summaries.iter().filter(|summary| summary.list.is_none());
        arrays.flat_map(|summary| summary.leaves.iter().copied()).collect()
    }

    /// Does one element stand for all of this list?
    pub fn has_large_list(&self, list: &Term) -> bool {
        self.summaries.iter().any(|summary| summary.list.as_ref() == Some(list))
    }

    /// The constraints that the digits of a cell set to the lengths of large lists.
    pub fn lengths_of_lists(&self, cell: u32) -> Vec<Constraint> {
        let mut constraints = Vec::new();
        for list in self.summaries.iter().filter_map(|summary| summary.list.as_ref()) {
            let slots = (self.slot(&is_empty(list)), self.slot(&Term::field(list, 0)));
            if let (Some(FrameSlot::Finite(position)), Some(FrameSlot::Numeric(dimension))) = slots {
                let length = LinearExpression::variable(dimension);
                let one = LinearExpression::constant(Rational::ONE);
                // The digit says whether the list is empty.
                constraints.push(match self.digit(cell, position) {
                    0 => Constraint::from_expression(&length.minus(&one), Relation::AtLeast),
                    _ => Constraint::from_expression(&length, Relation::Equal),
                });
            }
        }
        constraints
    }

    /// The places of a datum: first its fields and cells in order, then the places that stand for all cells,
    /// and last the conditions on strings that it keeps.
    pub fn places(&self, datum: &Datum) -> Vec<Place> {
        let leaves = leaves(self.arrays, datum).into_iter().filter(|leaf| leaf.list.is_none());
        let of_cells = leaves.map(|leaf| Place { term: leaf.read, ty: leaf.place.ty });
        let predicates = self.predicates.iter().filter(|place| place.term.mentions(datum)).cloned();
        places(self.arrays, datum).into_iter().chain(of_cells).chain(predicates).collect()
    }

    /// Have both frames the same places in the same slots? If so, a result over one holds over the other.
    pub fn is_same(&self, other: &Frame) -> bool {
        let finite =
            |frame: &Frame| frame.finite.iter().map(|finite| finite.place.clone()).collect::<Vec<_>>();
        self.numeric == other.numeric && self.dropped == other.dropped && finite(self) == finite(other)
    }

    pub fn dimensions(&self) -> usize {
        self.numeric.len()
    }

    pub fn slot(&self, place: &Term) -> Option<FrameSlot> {
        self.slots.get(place).copied()
    }

    pub fn digit(&self, cell: u32, position: usize) -> u32 {
        let finite = &self.finite[position];
        cell / finite.stride % finite.values.len() as u32
    }

    pub fn with_digit(&self, cell: u32, position: usize, digit: u32) -> u32 {
        cell - self.digit(cell, position) * self.finite[position].stride
            + digit * self.finite[position].stride
    }

    /// The positions of the finite places that terms read, in order, and the ids that they read (or all ids).
    pub fn finite_mentioned(&self, terms: &[&Term], all_ids: bool) -> (Vec<usize>, Vec<Place>) {
        let mut places: HashSet<Term> =
            mentioned_places(self.arrays, terms.iter().copied()).into_iter().collect();
        // A condition on a string is read with the string's length.
        let predicates = self.predicates.iter().map(|place| &place.term);
        let has_read_length =
            |term: &&Term| term.data().iter().any(|datum| places.contains(&Term::datum(datum).length()));
        let predicates: Vec<Term> = predicates.filter(has_read_length).cloned().collect();
        places.extend(predicates);
        let is_read = |id: &Place| all_ids || places.contains(&id.term);
        let ids = self.identities.ids.iter().filter(|id| is_read(id)).cloned().collect();
        let mut positions: Vec<usize> = places
            .iter()
            .filter_map(|place| match self.slot(place) {
                Some(FrameSlot::Finite(position)) => Some(position),
                Some(FrameSlot::Numeric(_)) | None => None,
            })
            .chain(self.pairs_of(is_read))
            .collect();
        positions.sort_unstable();
        positions.dedup();
        (positions, ids)
    }
}

/// The places of all data in terms. If one leaf of a record is read, all its leaves are listed.
fn mentioned_places<'t>(arrays: Arrays, terms: impl IntoIterator<Item = &'t Term>) -> Vec<Term> {
    let data = subterms(terms).filter_map(Term::as_datum);
    data.flat_map(|datum| places(arrays, datum)).map(|place| place.term).collect()
}

/// Chooses the places that become digits: all if they fit the limit, or else those that most guards mention.
/// The others are added to `dropped`.
fn choose_digits(
    counts: &LazyCell<HashMap<Term, usize>, impl FnOnce() -> HashMap<Term, usize>>,
    arrays: Arrays,
    finite: Vec<Place>,
    limit: u32,
    dropped: &mut Vec<Place>,
) -> Vec<Place> {
    let digits = |place: &Place| u32::try_from(place.digits(arrays)?.len()).ok();
    // The cells with this place too, if they are within the limit.
    let cells_with = |cells: u32, place: &Place| {
        digits(place).and_then(|count| cells.checked_mul(count)).filter(|product| *product <= limit)
    };
    if finite.iter().try_fold(1, &cells_with).is_some() {
        return finite;
    }
    let mut kept = HashSet::new();
    let mut cells = 1;
    for place in sort_by_mentions(counts, finite.clone()) {
        if let Some(more_cells) = cells_with(cells, &place).filter(|_| !is_one_of_many(counts, &place)) {
            cells = more_cells;
            kept.insert(place.term);
        }
    }
    let (chosen, others): (Vec<Place>, Vec<Place>) =
        finite.into_iter().partition(|place| kept.contains(&place.term));
    dropped.extend(others);
    chosen
}

/// Counts the distinct guards that mention each place.
fn count_mentions(iosts: &Iosts, arrays: Arrays) -> HashMap<Term, usize> {
    let guards: HashSet<&Term> = iosts.transitions.iter().map(|transition| &transition.guard).collect();
    let mut counts = HashMap::new();
    for guard in guards {
        for place in mentioned_places(arrays, [guard]) {
            *counts.entry(place).or_default() += 1;
        }
    }
    counts
}

/// Sorts the places by how many distinct guards mention them, the most first.
fn sort_by_mentions(counts: &HashMap<Term, usize>, mut places: Vec<Place>) -> Vec<Place> {
    // The sort is stable: among places mentioned equally often, the one declared first comes first.
    places.sort_by_key(|place| std::cmp::Reverse(counts.get(&place.term).copied().unwrap_or(0)));
    places
}

/// Is the place a flag of a set or map, and do guards mention no key less often than this one? If so, a
/// partition by some of the keys costs much and tells little.
fn is_one_of_many(counts: &HashMap<Term, usize>, place: &Place) -> bool {
    let count = |place: &Term| counts.get(place).copied().unwrap_or(0);
    let mut term = &place.term;
    while let Some(Node::Field(record, position)) = term.written() {
        if size(record).is_some() {
            let Type::Record(keys) = record.sort() else { return false };
            let own = Term::field(record, *position);
            let count_key = |key: usize| {
                let other_key = Term::field(record, key);
                count(&replace(&place.term, std::iter::once((own.clone(), other_key)).collect()))
            };
            let least = (0..keys.fields.len()).map(count_key).min();
            return least == Some(count(&place.term));
        }
        term = record;
    }
    false
}
