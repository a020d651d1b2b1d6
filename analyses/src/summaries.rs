//! Arrays of many cells: one cell that stands for each of them.
//!
//! **Problem.** The cells of an array are too many for a domain if each is a number of its own. Mostly it is
//! enough to know what all cells have in common: each is at most the limit, each is less than the next
//! number. **Source.** Summarized dimensions (Gopan, DiMaio, Dor, Reps, Sagiv, TACAS 2004,
//! <https://doi.org/10.1007/978-3-540-24730-2_38>): a state of numbers x and an array a is seen as the set of
//! all `(x, a[k])`. An abstract value P stands for the states for which *all* `(x, a[k])` are in P.
//!
//! **Method.** Each number, flag or literal of two in the cells of an array is one dimension. Terms mention
//! it as the cell at the *index variable*, written `#`. There is one for each index type with more than a few
//! and at most so many values ([`Arrays`]). All arrays with these indices share it, so `a[k] <= b[k]` for all
//! k is a fact too. Within one transition `#` is an unknown number like a parameter. A transition that
//! assigns `a[i]` has two cases, by whether `#` is `i` ([`crate::effect`]), and their results are joined. If
//! it is, the cell has the assigned value, and if not, its old value. A read `a[i]` is the cell itself if `#`
//! is `i`. If not, it is an *instance*: a number of which the fact says the same as of `a[#]`. Conditions on
//! all cells, or on some cell, arrive here written out for each cell, and are put together again
//! ([`merge_conjuncts`], [`merge_disjuncts`]).
//!
//! **Where we differ**: terms have no quantifiers, so facts are written with the index variable replaced by
//! each of its values in turn ([`for_all`]), and are checked in this form. The index variable is no dimension
//! of its own (as in Monniaux and Gonnord, SAS 2016, <https://doi.org/10.1007/978-3-662-53413-7_18>). That
//! proves `a[k] <= k` for all k, but little else, and makes many unreadable facts.
//!
//! **Sound** only if an element contains *all* tuples of a state: values of different cases are joined before
//! they are read, and regions of a location differ in numbers of the state, never in cells. **Cost**: a
//! dimension for each number in a cell, and for each read another dimension and a projection.

use std::collections::{BTreeMap, BTreeSet};

use coreach_model::term::node::{Node, StringOperation};
use coreach_model::term::operation::{DerivedOperation, StandardOperation};
use coreach_model::term::{Substitution, Term, TermShape, replace, substitute, subterms};
use coreach_model::{Datum, Type, Value};
use coreach_polyhedra::{Constraint, LinearExpression, Rational};

use crate::domains::any::AnyElement;
use crate::frame::Frame;
use crate::places::{Arrays, element, index_variable};

/// A read of a cell or an element for which one stands for all.
pub struct SummarizedRead {
    /// The read with the index variable in place of its index.
    pub cell: Term,
    pub variable: Datum,
    /// The index of the read.
    pub index: Term,
}

/// Splits a read of a cell of an array, or of an element of a list, for which one stands for all. `None` for
/// another term.
pub fn at_index_variable(arrays: Arrays, term: &Term) -> Option<SummarizedRead> {
    let node = match term.shape() {
        TermShape::Node(node) => node,
        TermShape::Operation(operation, arguments) => {
            let (list, index) = (arguments.first()?, arguments.get(1)?);
            let is_element = *operation == DerivedOperation::Standard(StandardOperation::Element);
            let Type::Record(record) = list.sort() else { return None };
            let is_large = is_element && arrays.is_large_list(record);
            let (cell, variable) = (element(list), index_variable(list));
            return is_large.then(|| SummarizedRead { cell, variable, index: index.clone() });
        }
    };
    match node {
        Node::Select(array, index) => {
            let Type::Array(ty) = array.sort() else { return None };
            if let Some(variable) = arrays.index_variable(ty) {
                let cell = Term::select(array, &Term::datum(&variable));
                return Some(SummarizedRead { cell, variable, index: index.clone() });
            }
            let read = at_index_variable(arrays, array)?;
            Some(SummarizedRead { cell: Term::select(&read.cell, index), ..read })
        }
        Node::Field(record, field) => {
            let read = at_index_variable(arrays, record)?;
            Some(SummarizedRead { cell: Term::field(&read.cell, *field), ..read })
        }
        Node::OnStrings(StringOperation::Length, sides) => {
            let read = at_index_variable(arrays, sides.first()?)?;
            Some(SummarizedRead { cell: read.cell.length(), ..read })
        }
        _ => None,
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellInstance {
    pub summary: usize,
    pub index: Term,
    /// For each dimension that is read: the number of its value at this index.
    pub numbers: Vec<(usize, usize)>,
}

/// Instantiates a fact about all cells for the cells that are read: lists constraints over the dimensions of
/// the fact and of the case.
pub fn instantiate_cells(frame: &Frame, fact: &AnyElement, instances: &[CellInstance]) -> Vec<Constraint> {
    let mut instantiated = Vec::new();
    for CellInstance { summary, numbers, .. } in instances {
        // The number of the instance for a dimension of the cell, and any other dimension itself.
        let instance_of = |dimension: usize| {
            numbers.iter().find(|(leaf, _)| *leaf == dimension).map_or(dimension, |(_, number)| *number)
        };
        // Dimensions of the cell that are not read have no instance, so they are forgotten.
        let leaves = frame.summaries[*summary].leaves.iter().copied();
        let unread: Vec<usize> = leaves.filter(|leaf| instance_of(*leaf) == *leaf).collect();
        let known = if unread.is_empty() { fact.clone() } else { fact.forget(&unread) };
        if known.is_bottom() {
            continue;
        }
        for constraint in known.constraints() {
            // It says nothing of the cell.
            if constraint.terms().all(|(dimension, _)| instance_of(dimension) == dimension) {
                continue;
            }
            let mut expression = LinearExpression::constant(Rational::from(constraint.constant().clone()));
            for (dimension, factor) in constraint.terms() {
                let instance = LinearExpression::variable(instance_of(dimension));
                expression = expression.plus(&instance.times(&Rational::from(factor.clone())));
            }
            instantiated.push(Constraint::from_expression(&expression, constraint.relation()));
        }
    }
    instantiated
}

/// Writes a fact about all cells for each value of the index variables. One with too many instances is left
/// out.
pub fn for_all(frame: &Frame, fact: &Term) -> Term {
    if frame.summaries.is_empty() {
        return fact.clone();
    }
    let mut conjuncts = Vec::new();
    for part in fact.lowered().conjuncts() {
        let mentioned = part.data();
        let mut instances = vec![part.clone()];
        for summary in frame.summaries.iter().filter(|summary| mentioned.contains(&summary.index)) {
            // One conjunct about all cells may become at most 256 conjuncts.
            let most = 256 / instances.len().max(1);
            let values = Value::enumerate(summary.index.ty(), most).unwrap_or_default();
            let instance_at = |part: &Term, value: &Value| {
                let index = Term::literal(value.clone());
                substitute(part, &Substitution::from([(summary.index.clone(), index)]))
            };
            instances =
                instances.iter().flat_map(|part| values.iter().map(move |v| instance_at(part, v))).collect();
        }
        conjuncts.extend(instances);
    }
    Term::and(conjuncts)
}

/// Merges conjuncts that say the same of one cell each, and together of all cells, into one about the cell at
/// the index variable. So `all i in Slot: a[i] == 0`, which arrives here written out, is one conjunct again.
pub fn merge_conjuncts(arrays: Arrays, conjuncts: &[Term]) -> Vec<Term> {
    let is_whole =
        |variable: &Datum, values: &BTreeSet<Value>| variable.ty().cardinality() == Some(values.len());
    merge_parts(arrays, conjuncts, is_whole, |general, _| general.clone())
}

/// Merges disjuncts that say the same of one cell each into one about the cell at an unknown index. `number`
/// must be fresh for each disjunction. So `some i in Slot: a[i] == 0` reads one cell and not all.
pub fn merge_disjuncts(arrays: Arrays, disjuncts: &[Term], number: usize) -> Vec<Term> {
    let are_several = |_: &Datum, values: &BTreeSet<Value>| values.len() > 1;
    merge_parts(arrays, disjuncts, are_several, |general, variable| {
        let some = Datum::new(format!("#{number}"), variable.ty().clone());
        substitute(general, &Substitution::from([(variable.clone(), Term::datum(&some))]))
    })
}

/// Merges the parts that say the same of one cell each by `write_merged`, if their indices `suffice`.
fn merge_parts(
    arrays: Arrays,
    parts: &[Term],
    suffice: impl Fn(&Datum, &BTreeSet<Value>) -> bool,
    write_merged: impl Fn(&Term, &Datum) -> Term,
) -> Vec<Term> {
    let mut indices: BTreeMap<(Term, Datum), BTreeSet<Value>> = BTreeMap::new();
    let mut generals = Vec::new();
    for part in parts {
        let general = generalize(arrays, part);
        if let Some((key, value)) = &general {
            indices.entry(key.clone()).or_default().insert(value.clone());
        }
        generals.push(general.map(|(key, _)| key));
    }
    indices.retain(|(_, variable), values| suffice(variable, values));
    let is_merged = |key: &Option<(Term, Datum)>| key.as_ref().is_some_and(|key| indices.contains_key(key));
    let others = parts.iter().zip(&generals).filter(|(_, key)| !is_merged(key)).map(|(part, _)| part.clone());
    indices.keys().map(|(general, variable)| write_merged(general, variable)).chain(others).collect()
}

/// Writes what a term says of cells at one index for the cell at the index variable. Also returns this index.
/// `None`: it reads no such cell, or cells at several indices.
fn generalize(arrays: Arrays, term: &Term) -> Option<((Term, Datum), Value)> {
    let mut read = BTreeSet::new();
    collect_reads(arrays, term, &mut read);
    let (.., variable, value) = read.first().cloned()?;
    let has_one_index =
        read.iter().all(|(.., variable_of_read, index)| (variable_of_read, index) == (&variable, &value));
    let images = read.into_iter().map(|(cell, image, ..)| (cell, image)).collect();
    has_one_index.then(|| ((replace(term, images), variable), value))
}

/// Collects the cells at known indices in a term, each with the cell at the index variable.
fn collect_reads(arrays: Arrays, term: &Term, found: &mut BTreeSet<(Term, Term, Datum, Value)>) {
    for term in subterms([term]) {
        if let Node::Select(_, index) = term.node()
            && let Some(value) = index.as_literal()
            && let Some(SummarizedRead { cell, variable, .. }) = at_index_variable(arrays, term)
        {
            found.insert((term.clone(), cell, variable, value.clone()));
        }
    }
}
