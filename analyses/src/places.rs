//! The places of a datum: where in it a single value stands.
//!
//! Records are split into their fields, and arrays of few cells into these. Of an array of many cells one
//! cell stands for all ([`crate::summaries`]), or it has no places. Of a large list one element stands for
//! all (`lists.rs`); its length is a place, and so is whether it is empty. What is done with places is
//! said in [`crate::frame`].

use std::collections::HashSet;

use coreach_model::term::node::Node;
use coreach_model::term::operation::{DerivedOperation, Quantifier, StandardOperation};
use coreach_model::term::{Substitution, Term, TermShape, substitute};
use coreach_model::types::{ArrayType, RecordForm, RecordType};
use coreach_model::{Datum, Iosts, Type, Value};

/// The slots of a list, a set or a map with a greater bound have no places. A dimension for each number in
/// each slot makes every domain slow. For the same reason the length of a string in a slot has none.
const MOST_SLOTS: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrays {
    /// Up to so many, each cell has places of its own.
    pub cells: usize,
    /// Up to so many, one cell stands for each; an array of more has no places.
    pub summarized: usize,
    /// Up to this bound, each slot of a list has places of its own. Of a longer list, one element stands for
    /// all.
    pub slots: usize,
    /// Has a list of numbers twice as many slots with places as another one? Not where elements are removed
    /// or inserted at any index: nothing is known then of the element in a slot.
    pub keeps_order: bool,
    /// Does one string stand for all of a list of strings? Only where a guard asks for it.
    pub keeps_strings: bool,
}

impl Default for Arrays {
    fn default() -> Self {
        Arrays { cells: 4, summarized: 32, slots: MOST_SLOTS, keeps_order: true, keeps_strings: false }
    }
}

impl Arrays {
    /// Those of few cells only.
    pub fn without_summaries(self) -> Self {
        Arrays { summarized: 0, ..self }
    }

    /// Up to which bound the slots of a list, set or map have places.
    fn most_slots(self, record: &RecordType) -> usize {
        let are_numbers = record.fields.iter().all(|(_, field)| field.is_number());
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

    /// The indices of an array whose cells are places.
    pub fn few_cells(self, array: &ArrayType) -> Option<Vec<Value>> {
        Value::enumerate(&array.index, self.cells)
    }

    /// The index variable of an array of which one cell stands for all: indices are whole numbers.
    pub fn index_variable(self, array: &ArrayType) -> Option<Datum> {
        let count = array.index.cardinality().filter(|_| array.index.is_integer())?;
        (self.cells < count && count <= self.summarized).then(|| Datum::new("#", array.index.clone()))
    }
}

/// A datum, or a field or a cell of one, that holds a single value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The place as a term: a datum, or fields and cells of one; of a string its length.
    pub term: Term,
    /// Its type; of a string that of its length.
    pub ty: Type,
}

impl Place {
    pub fn is_numeric(&self) -> bool {
        self.ty.is_number()
    }

    /// The lengths that the list, set or map may have, where the place is the length of a short one.
    pub fn lengths(&self, arrays: Arrays) -> Option<Vec<Value>> {
        let Some(Node::Field(record, 0)) = self.term.written() else { return None };
        let Type::Record(record) = record.sort() else { return None };
        let most = record.most().filter(|most| *most <= arrays.most_slots(record))?;
        Some((0..=most).map(|length| Value::Int(length.into())).collect())
    }

    /// The values of a finite place, its digit being the position; `None` for numbers but short lengths.
    pub fn digits(&self, arrays: Arrays) -> Option<Vec<Value>> {
        match &self.ty {
            Type::Bool | Type::Enum(_) => Value::enumerate(&self.ty, usize::MAX),
            _ => self.lengths(arrays),
        }
    }

    pub fn part_of(&self, datum: &Datum, value: &Term) -> Term {
        substitute(&self.term, &Substitution::from([(datum.clone(), value.clone())]))
    }
}

/// The places of a datum, fields and cells in order, but for those of cells that stand for others.
pub fn places(arrays: Arrays, datum: &Datum) -> Vec<Place> {
    let mut found = Vec::new();
    collect_places(arrays, Term::datum(datum), datum.ty(), &mut found);
    found
}

/// The condition that a list has no element.
pub fn is_empty(list: &Term) -> Term {
    Term::equal(&Term::field(list, 0), &Term::int(0))
}

/// The number of keys of a set or a map of many keys, whose flags are too many for a partition.
pub fn size(collection: &Term) -> Option<Place> {
    let Type::Record(record) = collection.sort() else { return None };
    let is_large = matches!(record.form, RecordForm::Keyed(_)) && record.fields.len() > MOST_SLOTS;
    let ty = Type::Range(0.into(), record.fields.len().into());
    is_large.then(|| Place { term: Term::standard(StandardOperation::Size, [collection.clone()]), ty })
}

fn collect_places(arrays: Arrays, term: Term, ty: &Type, found: &mut Vec<Place>) {
    match ty {
        Type::Array(array) => {
            for index in arrays.few_cells(array).unwrap_or_default() {
                collect_places(arrays, Term::select(&term, &Term::literal(index)), &array.element, found);
            }
        }
        Type::Record(record) => {
            let all = match record.form {
                // No partition has room for so many flags.
                RecordForm::Keyed(_) if record.fields.len() > 2 * MOST_SLOTS => 0,
                _ if record.most() > Some(arrays.most_slots(record)) => 1,
                _ => record.fields.len(),
            };
            if arrays.is_large_list(record) && arrays.summarized > 0 {
                found.push(Place { term: is_empty(&term), ty: Type::Bool });
            }
            // First, since an assignment to many flags has too many cases.
            found.extend(size(&term));
            let mut parts = Vec::new();
            for (position, (_, field)) in record.fields.iter().enumerate().take(all) {
                collect_places(arrays, Term::field(&term, position), field, &mut parts);
            }
            if record.most().is_some() {
                parts.retain(|place| !matches!(place.term.node(), Node::OnStrings(..)));
            }
            found.extend(parts);
        }
        Type::String => found.push(Place { term: term.length(), ty: Type::Nat }),
        _ => found.push(Place { term, ty: ty.clone() }),
    }
}

/// Whether elements of a list are removed or inserted at any index.
pub fn moves_elements(iosts: &Iosts) -> bool {
    use StandardOperation::{ElementInserted, ElementRemoved, Sorted};
    let values = iosts.transitions.iter().flat_map(|transition| transition.assignments.values());
    let (mut seen, mut work) = (HashSet::new(), values.collect::<Vec<_>>());
    while let Some(term) = work.pop() {
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
            TermShape::Operation(DerivedOperation::Quantified(of), _)
                if of.quantifier == Quantifier::Collect =>
            {
                return true;
            }
            TermShape::Operation(DerivedOperation::Call(function), _) => {
                work.push(&function.body);
                work.extend(term.parts());
            }
            _ => work.extend(term.parts()),
        }
    }
    false
}

/// A number in the cell of an array, or in the element of a list, that stands for all.
pub struct Leaf {
    pub index: Datum,
    /// The list, if it is one.
    pub list: Option<Term>,
    pub read: Term,
    /// The number: of a flag or a literal its digit.
    pub place: Place,
}

/// The leaves of a datum, fields and cells in order.
pub fn leaves(arrays: Arrays, datum: &Datum) -> Vec<Leaf> {
    let mut found = Vec::new();
    collect_leaves(arrays, Term::datum(datum), datum.ty(), None, &mut found);
    found
}

/// Where a leaf is looked for: the index variable, and the list, if it is one.
type SummaryIndex = (Datum, Option<Term>);

fn collect_leaves(
    arrays: Arrays,
    term: Term,
    ty: &Type,
    index: Option<&SummaryIndex>,
    found: &mut Vec<Leaf>,
) {
    match (ty, index) {
        // Of a collection in an element nothing is known.
        (Type::Array(_), Some((_, Some(_)))) => {}
        (Type::Array(array), _) => match (arrays.few_cells(array), arrays.index_variable(array), index) {
            (Some(cells), ..) => {
                for cell in cells {
                    collect_leaves(
                        arrays,
                        Term::select(&term, &Term::literal(cell)),
                        &array.element,
                        index,
                        found,
                    );
                }
            }
            // Of an array in a cell nothing is known.
            (None, Some(own), None) => {
                let cell = Term::select(&term, &Term::datum(&own));
                collect_leaves(arrays, cell, &array.element, Some(&(own, None)), found);
            }
            _ => {}
        },
        (Type::Record(record), None) if arrays.is_large_list(record) => {
            if arrays.summarized > 0 {
                let own = (index_variable(&term), Some(term.clone()));
                collect_leaves(arrays, element(&term), &record.fields[1].1, Some(&own), found);
            }
        }
        (Type::Record(record), Some((_, Some(_))))
            if record.most().is_some() || matches!(record.form, RecordForm::Keyed(_)) => {}
        (Type::Record(record), _) => {
            for (position, (_, field)) in record.fields.iter().enumerate() {
                collect_leaves(arrays, Term::field(&term, position), field, index, found);
            }
        }
        (_, None) => {}
        (_, Some((index, list))) => {
            let (read, place) = match ty {
                Type::String => (term.length(), Place { term: term.length(), ty: Type::Nat }),
                // A number says little of what has no order: two it tells apart.
                Type::Bool | Type::Enum(_) if ty.cardinality() == Some(2) => {
                    (term.clone(), digit_of(&term, ty))
                }
                ty if ty.is_number() => (term.clone(), Place { term, ty: ty.clone() }),
                _ => return,
            };
            found.push(Leaf { index: index.clone(), list: list.clone(), read, place });
        }
    }
}

/// The index variable of a list: the index of the element that stands for all.
pub fn index_variable(list: &Term) -> Datum {
    // No name of a user's has a space.
    Datum::new(format!("# {list}"), Type::Nat)
}

/// The element of a list that stands for all.
pub fn element(list: &Term) -> Term {
    element_at(list, &index_variable(list))
}

pub fn element_at(list: &Term, index: &Datum) -> Term {
    Term::standard(StandardOperation::Element, [list.clone(), Term::datum(index)])
}

/// The digit of a flag or a literal, as a number.
fn digit_of(term: &Term, ty: &Type) -> Place {
    let values = Value::enumerate(ty, usize::MAX).unwrap_or_default();
    let last = values.len().saturating_sub(1);
    let digit = |(digit, value): (usize, &Value)| (Term::equal(term, &Term::literal(value.clone())), digit);
    let others = values.iter().enumerate().take(last).map(digit);
    let number = others
        .rev()
        .fold(Term::int(last), |rest, (is_it, digit)| Term::if_then_else(&is_it, &Term::int(digit), &rest));
    Place { term: number, ty: Type::Range(0.into(), last.into()) }
}
