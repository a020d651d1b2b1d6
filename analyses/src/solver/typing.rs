//! The consequences of types for a term: facts that are added to a query. Every translation uses them.
//!
//! The sorts of solvers do not say that a `nat` is not negative, or that an array over `int[0..3]` has four
//! cells. This module collects, as terms, what has to be added:
//!
//! - **Places.** Each datum lies in its type. That elements of an array lie in their type is stated only for
//!   the cells that the term reads, and only for the array *before* any store. A stored value is the caller's
//!   obligation ([`coreach_model::obligation`]). To assume its type here would hide a violation.
//! - **Equality of arrays** is equality on the index type. Over a small finite restricted index it is written
//!   out cell by cell ([`spelled_out`]). Otherwise the solver's equality is kept. This is right, because
//!   arrays that are equal on the index type can be equal outside it too: cells outside are free in data, no
//!   store touches them, and literals agree on them ([`cells_of_literal`]). If arrays differ, a fresh datum
//!   names a cell within the index type at which they differ.
//!
//! Cost: one pass over the distinct subterms, times the stores below a read.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use coreach_model::term::canonical::canonical;
use coreach_model::term::node::{Comparison, Node};
use coreach_model::types::{ArrayType, RecordForm};
use coreach_model::value::ArrayValue;
use coreach_model::{Datum, Term, Type, Value};

/// A literal over a larger finite index type, with an unusual default, is not given to a solver.
const MOST_CELLS_OF_A_LITERAL: usize = 4096;

/// Solvers know only the characters up to U+2FFFF. If a condition mentions no character after this one, it is
/// satisfiable over the solvers' characters exactly if it is over all: other characters can be renamed into
/// the 65 536 characters after this one, in their order.
const LAST_CHARACTER: char = '\u{1ffff}';

/// Surrogates are characters of solvers, but not of ours. If a condition mentions no character of this range,
/// they can be renamed too, into others of the range.
const BESIDE_SURROGATES: std::ops::RangeInclusive<char> = '\u{d000}'..='\u{efff}';

/// The facts that a query must state in addition to its terms.
#[derive(Default, Debug)]
pub(super) struct TypeFacts {
    /// Every datum, in the order of its first occurrence, without the auxiliary ones.
    pub data: Vec<Datum>,
    /// The data that name cells at which unequal arrays differ.
    pub auxiliary: Vec<Datum>,
    /// Data, and cells that are read, whose type says more than their sort.
    pub places: Vec<(Term, Type)>,
    /// Side conditions, to be conjoined.
    pub side: Vec<Term>,
    /// Does the term multiply or divide by something that is not a literal?
    pub nonlinear: bool,
    pub strings: bool,
    /// Does the term compute strings, and not only compare them? So do arrays of strings.
    pub computed: bool,
    /// Does the term have a literal that cannot be translated faithfully? If so, nothing may be concluded.
    pub beyond: bool,
}

/// Collects the facts of a term.
pub(super) fn collect_facts(term: &Term) -> TypeFacts {
    let mut walk = TermWalk::default();
    walk.visit(term);
    walk.facts
}

/// Writes an equality of arrays or records as a conjunction of simpler ones, if the solver's own equality
/// would not be the equality of the values.
pub(super) fn spelled_out(a: &Term, b: &Term) -> Option<Term> {
    match a.sort() {
        Type::Array(array) => {
            let indices = few_indices(array)?;
            Some(Term::and(indices.into_iter().map(|index| {
                let index = Term::literal(index);
                Term::equal(&Term::select(a, &index), &Term::select(b, &index))
            })))
        }
        Type::Record(record) if record.fields.iter().any(|(_, field)| contains_array(field)) => {
            Some(Term::and(
                (0..record.fields.len()).map(|at| Term::equal(&Term::field(a, at), &Term::field(b, at))),
            ))
        }
        _ => None,
    }
}

/// Splits a literal for a solver into the default of all cells, and the exceptions. Over a range or an
/// enumeration, one map may be written with several defaults. Here the default is then always the element
/// type's simplest value, so all ways to write the map agree outside the index type.
pub(super) fn cells_of_literal(array: &ArrayValue) -> (Value, Vec<(Value, Value)>) {
    let indices = match array.ty.index {
        Type::Range(..) | Type::Enum(_) => Value::enumerate(&array.ty.index, MOST_CELLS_OF_A_LITERAL),
        _ => None,
    };
    let simplest = Value::any(&array.ty.element);
    match indices {
        Some(indices) if array.default != simplest => {
            let cells = indices.into_iter().map(|index| (index.clone(), array.get(&index).clone()));
            (simplest.clone(), cells.filter(|(_, cell)| *cell != simplest).collect())
        }
        _ => {
            let cells = array.cells.iter().map(|(index, cell)| (index.clone(), cell.clone()));
            (array.default.clone(), cells.collect())
        }
    }
}

/// Has the value an array that [`cells_of_literal`] cannot write, or a string with characters beyond a
/// solver?
fn is_beyond(value: &Value) -> bool {
    match value {
        Value::Array(array) => {
            let large = matches!(array.ty.index, Type::Range(..) | Type::Enum(_))
                && array.ty.index.cardinality().is_none_or(|count| count > MOST_CELLS_OF_A_LITERAL);
            large && array.default != Value::any(&array.ty.element)
                || is_beyond(&array.default)
                || array.cells.values().any(is_beyond)
        }
        Value::Record(_, fields) => fields.iter().any(is_beyond),
        Value::String(text) => text.chars().any(|c| c > LAST_CHARACTER || BESIDE_SURROGATES.contains(&c)),
        _ => false,
    }
}

/// The indices of an array. `None` unless its index type is finite, small, and not all of its sort.
fn few_indices(array: &ArrayType) -> Option<Vec<Value>> {
    match array.index {
        // Equality over more than 256 cells is not written out.
        Type::Range(..) | Type::Enum(_) => Value::enumerate(&array.index, 256),
        _ => None,
    }
}

fn contains_array(ty: &Type) -> bool {
    match ty {
        Type::Array(_) => true,
        Type::Record(record) => record.fields.iter().any(|(_, field)| contains_array(field)),
        _ => false,
    }
}

/// Has the type fewer values than its sort in a solver?
fn is_restricted(ty: &Type) -> bool {
    match ty {
        Type::Nat | Type::Range(..) | Type::Enum(_) | Type::Id(_) => true,
        Type::Record(record) => {
            record.form != RecordForm::Plain || record.fields.iter().any(|(_, field)| is_restricted(field))
        }
        Type::Array(array) => is_restricted(&array.index) || is_restricted(&array.element),
        Type::Bool | Type::Int | Type::Real | Type::String => false,
    }
}

#[derive(Default)]
struct TermWalk {
    seen: HashSet<Term>,
    placed: HashSet<(Term, Term)>,
    facts: TypeFacts,
}

impl TermWalk {
    /// Adds the facts of a term and of its parts.
    fn visit(&mut self, term: &Term) {
        self.facts.strings = self.facts.strings || term.sort().contains(&Type::String);
        if !self.seen.insert(term.clone()) {
            return;
        }
        self.facts.computed |= contains_array(term.sort()) && term.sort().contains(&Type::String);
        if let Node::Literal(value) = term.node() {
            self.facts.beyond |= is_beyond(value);
            // No string lies between `s` and `s` with a character 0 behind it, but a number would.
            self.facts.computed |= value.to_string().contains(r"\u{0}");
            return;
        }
        match term.node() {
            Node::Data(datum) => {
                if !self.facts.auxiliary.contains(datum) {
                    self.facts.data.push(datum.clone());
                }
                if is_restricted(datum.ty()) {
                    self.facts.places.push((term.clone(), datum.ty().clone()));
                }
                self.state_canonical(term, datum.ty());
            }
            Node::Compare(Comparison::Equal | Comparison::NotEqual, a, b) => self.visit_equality(a, b),
            Node::Select(array, index) => self.state_cell(array, index),
            Node::OnStrings(..) => self.facts.computed = true,
            Node::Arithmetic(operator, a, b) => {
                use coreach_model::term::node::Operator::{Add, Multiply, Subtract};
                self.facts.nonlinear |= match operator {
                    Add | Subtract => false,
                    Multiply => a.as_literal().is_none() && b.as_literal().is_none(),
                    _ => b.as_literal().is_none(),
                };
            }
            _ => {}
        }
        for child in term.children() {
            self.visit(child);
        }
    }

    /// Adds what an equality of arrays needs: its spelling cell by cell, or a cell at which unequal arrays
    /// differ.
    fn visit_equality(&mut self, a: &Term, b: &Term) {
        if let Some(conjunction) = spelled_out(a, b) {
            return self.visit(&conjunction);
        }
        let Type::Array(array) = a.sort() else { return };
        if !is_restricted(&array.index) && !is_restricted(&array.element) {
            return;
        }
        // The name is a function of the two arrays, so that the same comparison in two conjuncts has one such
        // cell. The types are part of it, since two data may have one name.
        let mut name = format!("!{a}!{b}");
        for datum in a.data().union(&b.data()) {
            name += &format!("!{:?}", datum.ty());
        }
        let mut hasher = std::hash::DefaultHasher::new();
        name.hash(&mut hasher);
        let cell = Datum::new(format!("cell!{:016x}", hasher.finish()), array.index.clone());
        if !self.facts.auxiliary.contains(&cell) {
            self.facts.auxiliary.push(cell.clone());
        }
        let cell = Term::datum(&cell);
        let differ = Term::equal(&Term::select(a, &cell), &Term::select(b, &cell)).not();
        let side = Term::or([Term::equal(a, b), differ]);
        self.facts.side.push(side.clone());
        // The comparison in `side` needs no further cell, so it counts as visited.
        self.seen.insert(Term::equal(a, b));
        self.visit(&side);
    }

    /// States that unused fields of records have their simplest values.
    fn state_canonical(&mut self, term: &Term, ty: &Type) {
        let condition = canonical(term, ty);
        if !condition.is_true() {
            self.facts.side.push(condition.clone());
            self.visit(&condition);
        }
    }

    /// States the type of a cell that is read, in every array from which its value may come.
    fn state_cell(&mut self, array: &Term, index: &Term) {
        let Type::Array(ty) = array.sort() else { return };
        if !is_restricted(&ty.element) || !self.placed.insert((array.clone(), index.clone())) {
            return;
        }
        match array.node() {
            Node::Literal(_) => {}
            Node::Store(inner, ..) => self.state_cell(inner, index),
            Node::IfThenElse(_, a, b) => {
                self.state_cell(a, index);
                self.state_cell(b, index);
            }
            _ => match sources_of_part(array) {
                Some(arrays) => arrays.iter().for_each(|array| self.state_cell(array, index)),
                None => {
                    let cell = Term::select(array, index);
                    self.facts.places.push((cell.clone(), ty.element.clone()));
                    self.state_canonical(&cell, &ty.element);
                }
            },
        }
    }
}

/// Lists the terms from which a part of a constructed value may come, each one step nearer to a datum: `R {f:
/// a}.f` comes from `a`, and `m[i := e][j]` comes from `m[j]` or `e`. `None` for a datum and its parts, whose
/// values lie in their types. (The term constructors leave such reads as they are if the whole may have no
/// value.)
fn sources_of_part(part: &Term) -> Option<Vec<Term>> {
    let whole = match part.node() {
        Node::Data(_) => return None,
        Node::Field(whole, _) | Node::Select(whole, _) => whole,
        _ => return Some(Vec::new()),
    };
    let part_of = |other: &Term| match part.node() {
        Node::Select(_, index) => Term::select(other, index),
        Node::Field(_, at) => Term::field(other, *at),
        _ => other.clone(),
    };
    match (whole.node(), part.node()) {
        (Node::Record(_, fields), Node::Field(_, at)) => Some(vec![fields[*at].clone()]),
        (Node::Store(inner, _, stored), _) => Some(vec![part_of(inner), stored.clone()]),
        (Node::IfThenElse(_, a, b), _) => Some(vec![part_of(a), part_of(b)]),
        _ => sources_of_part(whole).map(|wholes| wholes.iter().map(part_of).collect()),
    }
}
