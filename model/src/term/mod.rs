//! Terms: guards, assigned expressions, initial conditions.
//!
//! A term is immutable, hash-consed (`intern`) and well-sorted by construction: the constructors assert the
//! sorts of their arguments, and the reader reports the user's mistakes before it calls them. Constructors
//! simplify lightly and locally: constants are folded, negation moves inwards, conjunctions are flattened.
//! Everything else stays as the user wrote it, because guards are read by people.
//!
//! **The law of the constructors.** A term that a constructor makes has the value of the operation on its
//! arguments, *and has a value exactly if that operation has one*, evaluated as in [`evaluate`]. No part that
//! could have been undefined is left out (`total`). So the obligations of a transition beyond its guard
//! ([`crate::obligation`]) are the same before and after any simplification, any substitution, any mutation,
//! and when the text is written and read again.

mod bound;
mod build;
pub mod canonical;
mod compiled;
pub mod definedness;
mod entries;
pub mod evaluate;
mod intern;
mod keyed;
mod lists;
pub mod node;
mod operate;
pub mod operation;
pub mod print;
pub mod strings;
mod substitute;
pub(crate) mod total;

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::budget;
use crate::data::Datum;
use crate::types::Type;
use crate::value::Value;
use node::Node;
use operation::DerivedOperation;

pub use bound::{parts_bound, steps_bound};
pub use substitute::{Substitution, have_values, literals, replace, substitute, substitute_all};

/// A shared, immutable term. Cloning is cheap, equality is identity.
#[derive(Clone)]
pub struct Term(Arc<intern::Cell>);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TermShape {
    /// A node that every analysis knows.
    Node(Node),
    /// An operation on its arguments, which stands for a longer term.
    Operation(DerivedOperation, Vec<Term>),
}

impl Term {
    fn make(node: Node, sort: Type) -> Self {
        Term::make_shape(TermShape::Node(node), sort, 0)
    }

    pub(super) fn make_shape(shape: TermShape, sort: Type, premises: usize) -> Self {
        // A computation that grows without end makes terms, so this is a good place to ask.
        budget::ask();
        Term(intern::intern(intern::Cell::new(shape, sort, premises)))
    }

    /// The root of the lowered term: there is no operation in it or below it.
    pub fn node(&self) -> &Node {
        match &self.lowered().0.shape {
            TermShape::Node(node) => node,
            TermShape::Operation(..) => unreachable!("a lowered term has operations"),
        }
    }

    pub fn shape(&self) -> &TermShape {
        &self.0.shape
    }

    /// The term with each operation replaced by what it stands for.
    pub fn lowered(&self) -> &Term {
        if !self.0.has_operations {
            return self;
        }
        self.0.lowered.get_or_init(|| match &self.0.shape {
            TermShape::Node(_) => substitute::with_parts(self, &mut |part| part.lowered().clone()),
            TermShape::Operation(operation, arguments) => {
                let arguments: Vec<Term> = arguments.iter().map(|part| part.lowered().clone()).collect();
                operation.lower(&arguments)
            }
        })
    }

    fn program(&self) -> &compiled::TermProgram {
        self.0.program.get_or_init(|| compiled::compile_program(self))
    }

    /// Does the term, or a part of it, stand for a longer term?
    pub fn has_operations(&self) -> bool {
        self.0.has_operations
    }

    /// The root as it was written, if it is no operation.
    pub fn written(&self) -> Option<&Node> {
        match &self.0.shape {
            TermShape::Node(node) => Some(node),
            TermShape::Operation(..) => None,
        }
    }

    pub fn written_datum(&self) -> Option<&Datum> {
        if let Some(Node::Data(datum)) = self.written() { Some(datum) } else { None }
    }

    /// The literal, if the term was written as one.
    pub(crate) fn written_literal(&self) -> Option<&Value> {
        if let Some(Node::Literal(value)) = self.written() { Some(value) } else { None }
    }

    pub fn sort(&self) -> &Type {
        &self.0.sort
    }

    /// The declared type of the term's values if the term shows it, otherwise its sort.
    pub(crate) fn declared_type(&self) -> Type {
        match self.written() {
            Some(Node::Data(datum)) => datum.ty().clone(),
            Some(Node::Field(record, position)) => match record.sort() {
                Type::Record(ty) => ty.fields[*position].1.clone(),
                other => other.clone(),
            },
            _ => self.sort().clone(),
        }
    }

    /// How many nodes it has when it is written out, with each shared subterm counted as often as it occurs
    /// (saturating). Text has no sharing: a term of sixty levels may fill every disk.
    pub fn written_size(&self) -> u64 {
        self.0.written
    }

    /// The length of the longest path in the lowered term: how deep a recursive walk goes.
    pub fn height(&self) -> u32 {
        self.lowered().0.height.max(self.0.height)
    }

    /// The direct subterms of the lowered term, left to right.
    pub fn children(&self) -> Vec<&Term> {
        children_of_node(self.node())
    }

    /// The direct subterms as they were written, left to right.
    pub fn parts(&self) -> Vec<&Term> {
        parts_of_shape(&self.0.shape)
    }

    /// Does the lowered term have at most so many different subterms?
    pub fn has_at_most(&self, most: usize) -> bool {
        subterms([self.lowered()]).nth(most).is_none()
    }

    pub fn as_literal(&self) -> Option<&Value> {
        if let Node::Literal(value) = self.node() { Some(value) } else { None }
    }

    pub fn as_datum(&self) -> Option<&Datum> {
        if let Node::Data(datum) = self.node() { Some(datum) } else { None }
    }

    /// Does it have a value under every valuation? `true` is certain, `false` is not: only the shape is
    /// looked at.
    pub fn is_total(&self) -> bool {
        self.0.total
    }

    /// Was it written as the literal `true`?
    pub fn is_true(&self) -> bool {
        matches!(self.written_literal(), Some(Value::Bool(true)))
    }

    /// Was it written as the literal `false`?
    pub fn is_false(&self) -> bool {
        matches!(self.written_literal(), Some(Value::Bool(false)))
    }

    /// The conjuncts as they were written, left to right. `true` has none, and a term that is no conjunction
    /// is its own only conjunct.
    pub fn conjuncts(&self) -> Vec<Term> {
        match self.written() {
            Some(Node::And(parts)) => parts.clone(),
            _ if self.is_true() => Vec::new(),
            _ => vec![self.clone()],
        }
    }

    /// Does the operation at the root accept its arguments, if there is one?
    pub fn is_well_made(&self) -> bool {
        match self.shape() {
            TermShape::Operation(operation, arguments) => operation.accepts(arguments),
            TermShape::Node(_) => true,
        }
    }

    /// The conjuncts, with those of a function's body where a conjunct is a call.
    pub fn unfolded_conjuncts(&self) -> Vec<Term> {
        let (mut conjuncts, mut unvisited) = (Vec::new(), vec![self.clone()]);
        while let Some(term) = unvisited.pop() {
            match (term.written(), term.unfolded()) {
                // The last one that is pushed comes first.
                (Some(Node::And(parts)), _) => unvisited.extend(parts.iter().rev().cloned()),
                (_, Some(body)) => unvisited.push(body),
                _ if term.is_true() => {}
                _ => conjuncts.push(term),
            }
        }
        conjuncts
    }

    /// Does it ask whether an operation has a value? A user writes such a condition only as `defined(e)`.
    pub fn asks_definedness(&self) -> bool {
        match self.shape() {
            TermShape::Operation(DerivedOperation::Defined, _) => true,
            TermShape::Operation(..) => false,
            TermShape::Node(_) => {
                self.has_operations() && self.parts().into_iter().any(Term::asks_definedness)
            }
        }
    }

    /// The body of the function with the arguments in it, if the term is a call.
    pub fn unfolded(&self) -> Option<Term> {
        let TermShape::Operation(DerivedOperation::Call(function), arguments) = self.shape() else {
            return None;
        };
        Some(substitute(&function.body, &operation::pair_arguments(&function.parameters, arguments)))
    }

    /// The conditional over the cases, if the term is a `match`. Of a known alternative it is the case alone.
    pub fn unfolded_match(&self) -> Option<Term> {
        let TermShape::Operation(DerivedOperation::Match(choice), arguments) = self.shape() else {
            return None;
        };
        Some(choice.unfold(arguments, |body| body))
    }

    /// The disjuncts as they were written, left to right. `false` has none, and a term that is no disjunction
    /// is its own only disjunct.
    pub fn disjuncts(&self) -> Vec<Term> {
        match self.written() {
            Some(Node::Or(parts)) => parts.clone(),
            _ if self.is_false() => Vec::new(),
            _ => vec![self.clone()],
        }
    }

    /// How many of the first parts of a disjunction are negated premises: it was written as `a => b`.
    pub fn premises(&self) -> usize {
        self.0.premises
    }

    /// The premise and the conclusion, if it was written as `a => b`.
    pub fn as_implication(&self) -> Option<(Term, Term)> {
        let Some(Node::Or(parts)) = self.written().filter(|_| self.premises() > 0) else { return None };
        let (premises, conclusion) = parts.split_at(self.premises());
        Some((Term::and(premises.iter().map(Term::not)), Term::or(conclusion.iter().cloned())))
    }

    /// Every datum that occurs, in order.
    pub fn data(&self) -> BTreeSet<Datum> {
        let mut data = BTreeSet::new();
        collect_data(self, &mut HashSet::new(), &mut data);
        data
    }

    /// May a datum of this mask occur? `false` is certain, `true` is not.
    fn may_mention(&self, mask: u64) -> bool {
        self.0.mentions & mask != 0
    }

    /// Does the datum occur?
    pub fn mentions(&self, datum: &Datum) -> bool {
        let mask = Term::datum(datum).0.mentions;
        self.may_mention(mask) && self.data().contains(datum)
    }
}

/// Adds the data that the term mentions to `data`. Each shared subterm is looked at once.
fn collect_data(term: &Term, seen: &mut HashSet<Term>, data: &mut BTreeSet<Datum>) {
    if term.0.mentions == 0 || !seen.insert(term.clone()) {
        return;
    }
    if let Some(Node::Data(datum)) = term.written() {
        data.insert(datum.clone());
    }
    for child in term.parts() {
        collect_data(child, seen, data);
    }
}

/// The terms and their lowered subterms, each once: a term before its children, from the left.
pub fn subterms<'t>(terms: impl IntoIterator<Item = &'t Term>) -> impl Iterator<Item = &'t Term> {
    let (mut seen, mut open): (HashSet<&Term>, Vec<&Term>) = (HashSet::new(), terms.into_iter().collect());
    // `pop` takes the last, so reversed terms are met in their order.
    open.reverse();
    std::iter::from_fn(move || {
        let term = std::iter::from_fn(|| open.pop()).find(|term| seen.insert(term))?;
        open.extend(term.children().into_iter().rev());
        Some(term)
    })
}

/// Lists these terms and all their parts, each once, with the bodies of functions, quantifiers and cases.
pub fn list_subterms(mut open: Vec<Term>) -> Vec<Term> {
    let (mut seen, mut listed) = (HashSet::new(), Vec::new());
    while let Some(term) = open.pop() {
        if !seen.insert(term.clone()) {
            continue;
        }
        match term.shape() {
            TermShape::Operation(DerivedOperation::Quantified(quantified), _) => {
                open.push(quantified.body.clone());
                open.extend(quantified.collected.iter().map(|(_, element)| element.clone()));
            }
            TermShape::Operation(DerivedOperation::Match(choice), _) => {
                open.extend(choice.cases.iter().map(|case| case.body.clone()));
            }
            _ => {}
        }
        open.extend(term.unfolded());
        open.extend(term.parts().into_iter().cloned());
        listed.push(term);
    }
    listed
}

/// The direct subterms as they were written.
fn parts_of_shape(shape: &TermShape) -> Vec<&Term> {
    match shape {
        TermShape::Node(node) => children_of_node(node),
        TermShape::Operation(_, arguments) => arguments.iter().collect(),
    }
}

/// The direct subterms of a node, left to right.
fn children_of_node(node: &Node) -> Vec<&Term> {
    match node {
        Node::Literal(_) | Node::Data(_) => Vec::new(),
        Node::Not(a) | Node::Negate(a) | Node::ToReal(a) | Node::Field(a, _) => vec![a],
        Node::And(parts) | Node::Or(parts) | Node::Record(_, parts) | Node::OnStrings(_, parts) => {
            parts.iter().collect()
        }
        Node::Compare(_, a, b) | Node::Arithmetic(_, a, b) | Node::Select(a, b) => vec![a, b],
        Node::IfThenElse(a, b, c) | Node::Store(a, b, c) => vec![a, b, c],
    }
}

impl PartialEq for Term {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Term {}

impl Hash for Term {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl PartialOrd for Term {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A structural order, the same in every run: by the root, then by the parts, then by the sort.
impl Ord for Term {
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        // The rank of the root's kind, and what the root has besides its parts. Operations come last.
        let root = |term: &Term| -> (u8, Option<Value>, Option<Datum>, usize) {
            let Some(node) = term.written() else { return (15, None, None, 0) };
            match node {
                Node::Literal(value) => (0, Some(value.clone()), None, 0),
                Node::Data(datum) => (1, None, Some(datum.clone()), 0),
                Node::Not(_) => (2, None, None, 0),
                Node::And(_) => (3, None, None, 0),
                Node::Or(_) => (4, None, None, 0),
                Node::Compare(comparison, ..) => (5, None, None, *comparison as usize),
                Node::IfThenElse(..) => (6, None, None, 0),
                Node::Arithmetic(operator, ..) => (7, None, None, *operator as usize),
                Node::Negate(_) => (8, None, None, 0),
                Node::ToReal(_) => (9, None, None, 0),
                Node::Select(..) => (10, None, None, 0),
                Node::Store(..) => (11, None, None, 0),
                Node::Field(_, position) => (12, None, None, *position),
                Node::Record(..) => (13, None, None, 0),
                Node::OnStrings(operation, _) => (14, None, None, *operation as usize),
            }
        };
        let by_operation = match (self.shape(), other.shape()) {
            (TermShape::Operation(a, _), TermShape::Operation(b, _)) => a.cmp(b),
            _ => Ordering::Equal,
        };
        let by_root = root(self).cmp(&root(other)).then(by_operation);
        by_root
            .then_with(|| self.parts().cmp(&other.parts()))
            .then_with(|| self.sort().cmp(other.sort()).then(self.0.premises.cmp(&other.0.premises)))
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

#[cfg(test)]
mod tests;
