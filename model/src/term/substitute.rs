//! Simultaneous substitution of terms for data, memoised.
//!
//! The memo lives as long as one call: within it every shared subterm is rewritten once, and a subterm that
//! mentions none of the replaced data is returned as it is.

use std::collections::HashMap;

use crate::data::Datum;
use crate::term::node::Node;
use crate::term::{Term, TermShape};
use crate::value::Value;

pub type Substitution = std::collections::BTreeMap<Datum, Term>;

/// The substitution that puts these values in the place of their data.
pub fn literals<'a>(values: impl IntoIterator<Item = (&'a Datum, &'a Value)>) -> Substitution {
    values.into_iter().map(|(datum, value)| (datum.clone(), Term::literal(value.clone()))).collect()
}

/// The condition that the data have these values.
pub fn have_values<'a>(values: impl IntoIterator<Item = (&'a Datum, &'a Value)>) -> Term {
    let equation =
        |(datum, value): (&Datum, &Value)| Term::equal(&Term::datum(datum), &Term::literal(value.clone()));
    Term::and(values.into_iter().map(equation))
}

/// Replaces every datum of the substitution in the term, all at once.
pub fn substitute(term: &Term, substitution: &Substitution) -> Term {
    substitute_all([term], substitution).swap_remove(0)
}

/// Substitutes in several terms with one memo.
pub fn substitute_all<'a>(
    terms: impl IntoIterator<Item = &'a Term>,
    substitution: &Substitution,
) -> Vec<Term> {
    let mask = substitution.keys().fold(0, |mask, datum| mask | Term::datum(datum).0.mentions);
    let mut memo = HashMap::new();
    terms.into_iter().map(|term| rewrite(term, mask, substitution, &mut memo)).collect()
}

/// Replaces whole subterms. A subterm within a larger one that is replaced is gone with it.
pub fn replace(term: &Term, mut images: HashMap<Term, Term>) -> Term {
    // `rewrite` takes the images for results that it knows, and adds its own.
    rewrite(term, u64::MAX, &Substitution::new(), &mut images)
}

/// Replaces the data in a term. A term that mentions none of the `mask`'s data stays as it is. `memo` has the
/// results for the terms that were met before.
fn rewrite(term: &Term, mask: u64, substitution: &Substitution, memo: &mut HashMap<Term, Term>) -> Term {
    if !term.may_mention(mask) {
        return term.clone();
    }
    if let Some(known) = memo.get(term) {
        return known.clone();
    }
    let result = match term.written() {
        Some(Node::Data(datum)) => substitution.get(datum).cloned().unwrap_or_else(|| term.clone()),
        _ => with_parts(term, &mut |part| rewrite(part, mask, substitution, memo)),
    };
    memo.insert(term.clone(), result.clone());
    result
}

/// Makes the term anew at its root, as it was written, with its parts `changed`.
pub(super) fn with_parts(term: &Term, changed: &mut dyn FnMut(&Term) -> Term) -> Term {
    let node = match term.shape() {
        TermShape::Node(node) => node,
        TermShape::Operation(operation, arguments) => {
            return Term::apply(operation.clone(), arguments.iter().map(changed).collect());
        }
    };
    match node {
        Node::Literal(_) | Node::Data(_) => term.clone(),
        Node::Not(a) => changed(a).not(),
        Node::And(parts) => Term::and(parts.iter().map(changed).collect::<Vec<_>>()),
        Node::Or(parts) => term.with_disjuncts(parts.iter().map(changed).collect::<Vec<_>>()),
        Node::Compare(comparison, a, b) => Term::compare(*comparison, &changed(a), &changed(b)),
        Node::IfThenElse(c, a, b) => Term::if_then_else(&changed(c), &changed(a), &changed(b)),
        Node::Arithmetic(operator, a, b) => Term::arithmetic(*operator, &changed(a), &changed(b)),
        Node::Negate(a) => changed(a).negate(),
        Node::ToReal(a) => changed(a).to_real(),
        Node::Select(a, i) => Term::select(&changed(a), &changed(i)),
        Node::Store(a, i, e) => Term::store(&changed(a), &changed(i), &changed(e)),
        Node::OnStrings(operation, arguments) => {
            Term::on_strings(*operation, &arguments.iter().map(changed).collect::<Vec<_>>())
        }
        Node::Field(a, position) => Term::field(&changed(a), *position),
        Node::Record(ty, fields) => Term::record(ty, fields.iter().map(changed).collect::<Vec<_>>()),
    }
}
