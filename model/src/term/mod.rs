//! Terms: guards, assigned expressions, initial conditions.
//!
//! A term is immutable, hash-consed (`intern`) and well-sorted by construction: the constructors assert the
//! sorts of their arguments, and the reader reports the user's mistakes before it calls them. They simplify
//! lightly and locally: constants are folded, negation moves inwards, conjunctions are flattened. What a user
//! wrote otherwise stays as written, because guards are read by people.
//!
//! **The law of the constructors.** A term that a constructor makes has the value of the operation on its
//! arguments, *and has a value exactly where that has one*, evaluated as in [`evaluate`]: nothing is left out
//! that could have been undefined (`total`). What a transition asks for beyond its guard
//! ([`crate::obligation`]) is therefore the same before and after any simplification, any substitution, any
//! mutation, and when the text is written and read again.

mod build;
pub mod canonical;
pub mod evaluate;
mod intern;
pub mod node;
pub mod print;
pub mod strings;
mod substitute;
pub(crate) mod total;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::budget;
use crate::data::Datum;
use crate::types::Type;
use crate::value::Value;
use node::Node;

pub use substitute::{Substitution, replace, substitute, substitute_all};

/// A shared, immutable term. Cloning is cheap, equality is identity.
#[derive(Clone)]
pub struct Term(Arc<intern::Cell>);

impl Term {
    fn make(node: Node, sort: Type) -> Self {
        // Whatever grows without end grows by terms.
        budget::ask();
        let mut mentions = match &node {
            Node::Data(datum) => {
                let mut hasher = std::hash::DefaultHasher::new();
                datum.name().hash(&mut hasher);
                1 << (hasher.finish() % 64)
            }
            _ => 0,
        };
        let (mut written, mut height) = (1u64, 0);
        for child in children(&node) {
            height = height.max(child.0.height);
            mentions |= child.0.mentions;
            written = written.saturating_add(child.0.written);
        }
        let total = total::is_total(&node, &sort);
        let hash = intern::hash_of(&node);
        Term(intern::intern(intern::Cell { node, sort, hash, mentions, total, height: height + 1, written }))
    }

    /// The root.
    pub fn node(&self) -> &Node {
        &self.0.node
    }

    /// The sort of its value.
    pub fn sort(&self) -> &Type {
        &self.0.sort
    }

    /// How many nodes it has when it is written out, each shared subterm as often as it occurs (saturating).
    /// Text has no sharing: a term of sixty levels may fill every disk.
    pub fn written_size(&self) -> u64 {
        self.0.written
    }

    /// The length of the longest path below it: how deep goes who walks it.
    pub fn height(&self) -> u32 {
        self.0.height
    }

    /// The direct subterms, left to right.
    pub fn children(&self) -> Vec<&Term> {
        children(self.node())
    }

    /// The literal, where the term is one.
    pub fn as_literal(&self) -> Option<&Value> {
        match self.node() {
            Node::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// The datum, where the term is one.
    pub fn as_datum(&self) -> Option<&Datum> {
        match self.node() {
            Node::Data(datum) => Some(datum),
            _ => None,
        }
    }

    /// Has it a value under every valuation? `true` is certain, `false` is not: the shape is all that is
    /// looked at.
    pub fn is_total(&self) -> bool {
        self.0.total
    }

    /// Is it the literal `true`?
    pub fn is_true(&self) -> bool {
        matches!(self.node(), Node::Literal(Value::Bool(true)))
    }

    /// Is it the literal `false`?
    pub fn is_false(&self) -> bool {
        matches!(self.node(), Node::Literal(Value::Bool(false)))
    }

    /// The conjuncts, left to right: none of `true`, the term itself where it is no conjunction.
    pub fn conjuncts(&self) -> Vec<Term> {
        match self.node() {
            Node::And(parts) => parts.clone(),
            _ if self.is_true() => Vec::new(),
            _ => vec![self.clone()],
        }
    }

    /// The disjuncts, left to right: none of `false`, the term itself where it is no disjunction.
    pub fn disjuncts(&self) -> Vec<Term> {
        match self.node() {
            Node::Or(parts) => parts.clone(),
            _ if self.is_false() => Vec::new(),
            _ => vec![self.clone()],
        }
    }

    /// Every datum that occurs, in order.
    pub fn data(&self) -> BTreeSet<Datum> {
        let mut found = BTreeSet::new();
        let mut seen = HashSet::new();
        collect_data(self, &mut seen, &mut found);
        found
    }

    /// May the datum occur? `false` is certain, `true` is not.
    fn may_mention(&self, mask: u64) -> bool {
        self.0.mentions & mask != 0
    }

    /// Does the datum occur?
    pub fn mentions(&self, datum: &Datum) -> bool {
        let mask = Term::datum(datum).0.mentions;
        self.may_mention(mask) && self.data().contains(datum)
    }
}

fn collect_data(term: &Term, seen: &mut HashSet<Term>, found: &mut BTreeSet<Datum>) {
    if term.0.mentions == 0 || !seen.insert(term.clone()) {
        return;
    }
    if let Node::Data(datum) = term.node() {
        found.insert(datum.clone());
    }
    for child in term.children() {
        collect_data(child, seen, found);
    }
}

fn children(node: &Node) -> Vec<&Term> {
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

/// A structural order, the same in every run.
impl Ord for Term {
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        let key = |term: &Term| -> (u8, Option<Value>, Option<Datum>, usize) {
            match term.node() {
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
        let parts = || self.children().cmp(&other.children());
        key(self).cmp(&key(other)).then_with(parts).then_with(|| self.sort().cmp(other.sort()))
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

#[cfg(test)]
mod tests;
