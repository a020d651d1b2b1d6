//! The places of a datum: the parts of it that hold a single value.
//!
//! Records are split into their fields, and arrays of few cells into their cells. In an array of many cells
//! one cell stands for all ([`crate::summaries`]), or the array has no places. In a large list one element
//! stands for all (`lists.rs`). Its length is a place, and so is "the list is empty". [`crate::frame`] turns
//! places into dimensions and digits.

use std::collections::HashSet;

use coreach_model::term::node::Node;
use coreach_model::term::operation::{DerivedOperation, Quantifier, StandardOperation};
use coreach_model::term::{Substitution, Term, TermShape, substitute};
use coreach_model::types::{ArrayType, RecordForm, RecordType};
use coreach_model::{Datum, Iosts, Type, Value};

/// The slots of a list, a set or a map have places only up to this bound, because a dimension for each number
/// in each slot makes every domain slow. For the same reason the length of a string in a slot is no place.
const MOST_SLOTS: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrays {
    /// In an array with at most so many cells, each cell has places of its own.
    pub cells: usize,
    /// In an array with more cells, up to this number, one cell stands for all. A larger array has no places.
    pub summarized: usize,
    /// In a list with at most so many slots, each slot has places of its own. In a longer list, one element
    /// stands for all.
    pub slots: usize,
    /// May a list of numbers have twice as many slots with places? Not if elements are removed or inserted at
    /// arbitrary indices, because then nothing is known of the element in a slot.
    pub keeps_order: bool,
    /// Does one string stand for all in a list of strings? Only if a guard reads such a string.
    pub keeps_strings: bool,
}

impl Default for Arrays {
    fn default() -> Self {
        Arrays { cells: 4, summarized: 32, slots: MOST_SLOTS, keeps_order: true, keeps_strings: false }
    }
}

impl Arrays {
    /// The same, but without cells that stand for all.
    pub fn without_summaries(self) -> Self {
        Arrays { summarized: 0, ..self }
    }

    /// The most slots of a list, set or map that have places.
    fn most_slots(self, record: &RecordType) -> usize {
        let are_numbers = record.fields.iter().all(|(_, field)| field.is_number());
        // Field 0 of a list is its length, and field 1 the first slot.
        let are_strings = record.fields.get(1).is_some_and(|(_, field)| *field == Type::String);
        match record.form {
            RecordForm::List if are_strings && self.keeps_strings => 0,
            RecordForm::List if are_numbers && self.keeps_order => 2 * self.slots,
            RecordForm::List => self.slots,
            _ if are_numbers => 2 * MOST_SLOTS,
            _ => MOST_SLOTS,
        }
    }

    /// Does one element of the list stand for all?
    pub fn is_large_list(self, record: &RecordType) -> bool {
        record.form == RecordForm::List && record.most() > Some(self.most_slots(record))
    }

    /// The indices of an array whose cells are places. `None` for arrays with too many cells.
    pub fn few_cells(self, array: &ArrayType) -> Option<Vec<Value>> {
        Value::enumerate(&array.index, self.cells)
    }

    /// The index variable of an array in which one cell stands for all. Its indices are integers.
    pub fn index_variable(self, array: &ArrayType) -> Option<Datum> {
        let count = array.index.cardinality().filter(|_| array.index.is_integer())?;
        (self.cells < count && count <= self.summarized).then(|| Datum::new("#", array.index.clone()))
    }
}

/// A datum, or a field or a cell of one, that holds a single value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The place as a term: a datum, or fields and cells of one. For a string it is the length.
    pub term: Term,
    /// The type of the place. For a string it is that of the length.
    pub ty: Type,
}

impl Place {
    pub fn is_numeric(&self) -> bool {
        self.ty.is_number()
    }

    /// The possible lengths, if the place is the length of a short list, set or map.
    pub fn lengths(&self, arrays: Arrays) -> Option<Vec<Value>> {
        let Some(Node::Field(record, 0)) = self.term.written() else { return None };
        let Type::Record(record) = record.sort() else { return None };
        let most = record.most().filter(|most| *most <= arrays.most_slots(record))?;
        Some((0..=most).map(|length| Value::Int(length.into())).collect())
    }

    /// The values of a finite place, in the order of its digits. `None`: it is a number, and no short length.
    pub fn digits(&self, arrays: Arrays) -> Option<Vec<Value>> {
        match &self.ty {
            Type::Bool | Type::Enum(_) => Value::enumerate(&self.ty, usize::MAX),
            _ => self.lengths(arrays),
        }
    }

    /// The place's part of a new value of its datum.
    pub fn part_of(&self, datum: &Datum, value: &Term) -> Term {
        substitute(&self.term, &Substitution::from([(datum.clone(), value.clone())]))
    }
}

/// Lists the places of a datum, with fields and cells in order. Cells that stand for all are left out.
pub fn places(arrays: Arrays, datum: &Datum) -> Vec<Place> {
    let mut found_places = Vec::new();
    collect_places(arrays, Term::datum(datum), datum.ty(), &mut found_places);
    found_places
}

/// The condition that a list has no element.
pub fn is_empty(list: &Term) -> Term {
    Term::equal(&Term::field(list, 0), &Term::int(0))
}

/// The place of the number of keys, for a set or a map with too many possible keys for a partition.
pub fn size(collection: &Term) -> Option<Place> {
    let Type::Record(record) = collection.sort() else { return None };
    let is_large = matches!(record.form, RecordForm::Keyed(_)) && record.fields.len() > MOST_SLOTS;
    let ty = Type::Range(0.into(), record.fields.len().into());
    is_large.then(|| Place { term: Term::standard(StandardOperation::Size, [collection.clone()]), ty })
}

/// Collects the places in a term of a type.
fn collect_places(arrays: Arrays, term: Term, ty: &Type, found_places: &mut Vec<Place>) {
    match ty {
        Type::Array(array) => {
            for index in arrays.few_cells(array).unwrap_or_default() {
                let cell = Term::select(&term, &Term::literal(index));
                collect_places(arrays, cell, &array.element, found_places);
            }
        }
        Type::Record(record) => {
            let count = match record.form {
                // So many flags have no room in any partition.
                RecordForm::Keyed(_) if record.fields.len() > 2 * MOST_SLOTS => 0,
                // Only the length.
                _ if record.most() > Some(arrays.most_slots(record)) => 1,
                _ => record.fields.len(),
            };
            if arrays.is_large_list(record) && arrays.summarized > 0 {
                found_places.push(Place { term: is_empty(&term), ty: Type::Bool });
            }
            // The size comes first, since an assignment to many flags has too many cases.
            found_places.extend(size(&term));
            let mut parts = Vec::new();
            for (position, (_, field)) in record.fields.iter().enumerate().take(count) {
                collect_places(arrays, Term::field(&term, position), field, &mut parts);
            }
            if record.most().is_some() {
                parts.retain(|place| !matches!(place.term.node(), Node::OnStrings(..)));
            }
            found_places.extend(parts);
        }
        Type::String => found_places.push(Place { term: term.length(), ty: Type::Nat }),
        _ => found_places.push(Place { term, ty: ty.clone() }),
    }
}

/// Are elements of a list removed, inserted or moved at indices that are no literals?
pub fn moves_elements(iosts: &Iosts) -> bool {
    use StandardOperation::{ElementInserted, ElementRemoved, Sorted};
    let values = iosts.transitions.iter().flat_map(|transition| transition.assignments.values());
    let (mut seen, mut open_terms) = (HashSet::new(), values.collect::<Vec<_>>());
    while let Some(term) = open_terms.pop() {
        if !term.has_operations() || !seen.insert(term) {
            continue;
        }
        match term.shape() {
            TermShape::Operation(DerivedOperation::Standard(Sorted), _) => return true,
            TermShape::Operation(DerivedOperation::Standard(ElementInserted | ElementRemoved), arguments)
                if !matches!(arguments[1].written(), Some(Node::Literal(_))) =>
            {
                return true;
            }
            TermShape::Operation(DerivedOperation::Quantified(operation), _)
                if operation.quantifier == Quantifier::Collect =>
            {
                return true;
            }
            TermShape::Operation(DerivedOperation::Call(function), _) => {
                open_terms.push(&function.body);
                open_terms.extend(term.parts());
            }
            _ => open_terms.extend(term.parts()),
        }
    }
    false
}

/// A number in the cell of an array, or the element of a list, that stands for all.
pub struct Leaf {
    pub index: Datum,
    /// The list, if it is one.
    pub list: Option<Term>,
    pub read: Term,
    /// The place of the number. For a flag or a literal it is the digit.
    pub place: Place,
}

/// Lists the leaves of a datum, with fields and cells in order.
pub fn leaves(arrays: Arrays, datum: &Datum) -> Vec<Leaf> {
    let mut found_leaves = Vec::new();
    collect_leaves(arrays, Term::datum(datum), datum.ty(), None, &mut found_leaves);
    found_leaves
}

/// The array or list in which leaves are collected: its index variable, and the list, if it is one.
type SummaryIndex = (Datum, Option<Term>);

/// Collects the leaves in a term of a type. `index` is the index variable of the array or list in which the
/// term is, with the list if it is one.
fn collect_leaves(
    arrays: Arrays,
    term: Term,
    ty: &Type,
    index: Option<&SummaryIndex>,
    found_leaves: &mut Vec<Leaf>,
) {
    match (ty, index) {
        // Nothing is known of an array in an element of a list.
        (Type::Array(_), Some((_, Some(_)))) => {}
        (Type::Array(array), _) => match (arrays.few_cells(array), arrays.index_variable(array), index) {
            (Some(cells), ..) => {
                for cell in cells {
                    let cell = Term::select(&term, &Term::literal(cell));
                    collect_leaves(arrays, cell, &array.element, index, found_leaves);
                }
            }
            // Nothing is known of a large array in a cell of another one.
            (None, Some(own_index), None) => {
                let cell = Term::select(&term, &Term::datum(&own_index));
                collect_leaves(arrays, cell, &array.element, Some(&(own_index, None)), found_leaves);
            }
            _ => {}
        },
        (Type::Record(record), None) if arrays.is_large_list(record) => {
            if arrays.summarized > 0 {
                let own_index = (index_variable(&term), Some(term.clone()));
                collect_leaves(arrays, element(&term), &record.fields[1].1, Some(&own_index), found_leaves);
            }
        }
        // Nothing is known of a list, set or map in an element of a list.
        (Type::Record(record), Some((_, Some(_))))
            if record.most().is_some() || matches!(record.form, RecordForm::Keyed(_)) => {}
        (Type::Record(record), _) => {
            for (position, (_, field)) in record.fields.iter().enumerate() {
                collect_leaves(arrays, Term::field(&term, position), field, index, found_leaves);
            }
        }
        // It is a place of its own.
        (_, None) => {}
        (_, Some((index, list))) => {
            let (read, place) = match ty {
                Type::String => (term.length(), Place { term: term.length(), ty: Type::Nat }),
                // A number tells only two values without an order apart.
                Type::Bool | Type::Enum(_) if ty.cardinality() == Some(2) => {
                    (term.clone(), digit_of(&term, ty))
                }
                ty if ty.is_number() => (term.clone(), Place { term, ty: ty.clone() }),
                _ => return,
            };
            found_leaves.push(Leaf { index: index.clone(), list: list.clone(), read, place });
        }
    }
}

/// The index variable of a list: the index of the element that stands for all.
pub fn index_variable(list: &Term) -> Datum {
    // Names of users have no spaces.
    Datum::new(format!("# {list}"), Type::Nat)
}

/// The element of a list that stands for all.
pub fn element(list: &Term) -> Term {
    element_at(list, &index_variable(list))
}

/// The element of a list at an index variable.
pub fn element_at(list: &Term, index: &Datum) -> Term {
    Term::standard(StandardOperation::Element, [list.clone(), Term::datum(index)])
}

/// The digit of a flag or a literal, as a number.
fn digit_of(term: &Term, ty: &Type) -> Place {
    let values = Value::enumerate(ty, usize::MAX).unwrap_or_default();
    let last = values.len().saturating_sub(1);
    // `if term == first then 0 else if term == second then 1 else ...`
    let mut number = Term::int(last);
    for (digit, value) in values.iter().enumerate().take(last).rev() {
        let has_value = Term::equal(term, &Term::literal(value.clone()));
        number = Term::if_then_else(&has_value, &Term::int(digit), &number);
    }
    Place { term: number, ty: Type::Range(0.into(), last.into()) }
}
