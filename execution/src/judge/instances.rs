//! The elements that a quantifier or a comprehension is about, and its parts for each of them.

use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::node::Node;
use coreach_model::term::operation::{
    DerivedOperation, QuantifiedOperation, QuantifierDomain, StandardOperation, pair_arguments,
};
use coreach_model::term::{Substitution, TermShape, substitute};
use coreach_model::types::RecordForm;
use coreach_model::{Datum, Term, Value};

use crate::judge::scope::{DecisiveScope, is_path};

/// Lists the body of a quantifier for each value of its bound name. `None` if the values are not known.
pub(super) fn list_instances(
    quantified: &QuantifiedOperation,
    arguments: &[Term],
    values: &Valuation,
) -> Option<Vec<Term>> {
    let bound = list_bound_values(&quantified.domain, arguments, values)?.into_iter();
    Some(bound.map(|value| write_instance(quantified, arguments, value)).collect())
}

/// Writes the body of a quantifier with this term for its bound name.
pub(super) fn write_instance(quantified: &QuantifiedOperation, arguments: &[Term], bound: Term) -> Term {
    substitute(&quantified.body, &list_known(quantified, arguments, bound))
}

/// Lists what stands for the names in the body: this term for the bound name, and the arguments for the rest.
fn list_known(quantified: &QuantifiedOperation, arguments: &[Term], bound: Term) -> Substitution {
    // The last arguments are the values that the body reads.
    let values_read = &arguments[arguments.len() - quantified.read.len()..];
    let mut known = pair_arguments(&quantified.read, values_read);
    known.insert(quantified.bound.clone(), bound);
    known
}

/// Writes the element of a list at a position, as far as the list is made of others: by a function, by `+`,
/// by a comprehension, or element by element. `None` if the list is shorter, or its parts have no value.
pub(super) fn write_element(list: &Term, position: usize, values: &Valuation) -> Option<Term> {
    if let Some(body) = list.unfolded() {
        return write_element(&body, position, values);
    }
    match list.shape() {
        TermShape::Operation(DerivedOperation::Standard(StandardOperation::Joined), parts) => {
            let Value::Record(ty, fields) = evaluate(&parts[0], values).ok()? else { return None };
            match position.checked_sub(ty.counting(&fields).count()) {
                Some(behind) => write_element(&parts[1], behind, values),
                None => write_element(&parts[0], position, values),
            }
        }
        TermShape::Operation(DerivedOperation::Quantified(quantified), arguments)
            if let Some((_, element)) = &quantified.collected =>
        {
            let bound = list_bound_values(&quantified.domain, arguments, values)?.into_iter();
            let mut collected = bound
                .map(|value| list_known(quantified, arguments, value))
                .filter(|known| holds(&substitute(&quantified.body, known), values) == Ok(true));
            collected.nth(position).map(|known| substitute(element, &known))
        }
        TermShape::Node(Node::Record(ty, parts)) if ty.form == RecordForm::List => {
            // The first part is the length.
            parts.get(position + 1).cloned()
        }
        _ if is_path(list) => {
            Some(Term::standard(StandardOperation::Element, [list.clone(), Term::int(position)]))
        }
        _ => None,
    }
}

/// Writes the body of a quantifier for an element of a collection that is no path, under the bound name.
/// `None`: it is a path, so the element has a text of its own, or the name is taken.
pub(super) fn name_element(
    quantified: &QuantifiedOperation,
    arguments: &[Term],
    number: usize,
    scope: &mut DecisiveScope,
) -> Option<Term> {
    let collection = arguments.first().filter(|_| matches!(quantified.domain, QuantifierDomain::Elements))?;
    let name = quantified.bound.name().to_owned();
    if is_path(collection) || !scope.names.insert(name.clone()) {
        return None;
    }
    let Value::Record(ty, fields) = evaluate(collection, &scope.values).ok()? else { return None };
    let element = (ty.form == RecordForm::List).then(|| ty.counting(&fields).nth(number).cloned())??;
    let shown = Datum::new(name, quantified.bound.ty().clone());
    scope.values.insert(shown.clone(), element);
    Some(write_instance(quantified, arguments, Term::datum(&shown)))
}

/// Lists the terms that the bound name of a quantifier stands for. `None` if they are not known.
pub(super) fn list_bound_values(
    domain: &QuantifierDomain,
    arguments: &[Term],
    values: &Valuation,
) -> Option<Vec<Term>> {
    let list = match domain {
        QuantifierDomain::Values(_, values) => {
            return Some(values.iter().map(|value| Term::literal(value.clone())).collect());
        }
        QuantifierDomain::Elements => &arguments[0],
    };
    let Value::Record(ty, fields) = evaluate(list, values).ok()? else { return None };
    if let RecordForm::Keyed(_) | RecordForm::Entries(..) = ty.form {
        return Some(ty.entries(&fields).into_iter().map(|(key, _)| Term::literal(key)).collect());
    }
    list.sort().as_list()?;
    let element = |index| Term::standard(StandardOperation::Element, [list.clone(), Term::int(index)]);
    Some((0..ty.counting(&fields).count()).map(element).collect())
}
