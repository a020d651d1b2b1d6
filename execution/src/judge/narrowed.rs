//! Narrows an equation with a record or a list to its only wrong part.

use std::sync::Arc;

use coreach_model::limits::FEW_SHOWN;
use coreach_model::term::evaluate::evaluate;
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::operation::StandardOperation;
use coreach_model::types::{RecordForm, RecordType};
use coreach_model::{Datum, Term, Value};

use crate::judge::instances::write_element;
use crate::judge::scope::{DecisiveScope, is_path, unfold_calls};
use crate::limits::LARGEST_WRITTEN;

/// Narrows an equation with a record that is written out, also in a function, to its few wrong fields:
/// `outcome == Bid(x, y)` to `outcome.price == y`. `None` if hardly a field is right.
pub(super) fn narrow_to_field(condition: &Term, scope: &mut DecisiveScope) -> Option<Term> {
    let Some(Node::Compare(Comparison::Equal, a, b)) = condition.written() else { return None };
    let (seen, built) = [(a, b), (b, a)].into_iter().find(|(seen, _)| is_path(seen))?;
    let built = unfold_calls(built);
    let Some(Node::Record(ty, parts)) = built.written() else { return None };
    let (seen_fields, built_fields) = (evaluate_fields(seen, scope)?, evaluate_fields(&built, scope)?);
    let wrong: Vec<usize> =
        (0..parts.len()).filter(|position| seen_fields[*position] != built_fields[*position]).collect();
    let are_few = (2..=FEW_SHOWN).contains(&wrong.len()) && wrong.len() + 1 < parts.len();
    if wrong.len() != 1 && !are_few {
        return None;
    }
    let narrow = |position: usize| {
        let field_type = &ty.fields[position].1;
        let field = match &ty.form {
            RecordForm::Plain => Term::field(seen, position),
            RecordForm::Variant(_) | RecordForm::Option if position > 0 => {
                let shown = Datum::new(field_name(seen, ty, position), field_type.clone());
                scope.of_event.extend(scope.is_of_event(seen).then(|| shown.clone()));
                scope.values.insert(shown.clone(), seen_fields[position].clone());
                Term::datum(&shown)
            }
            _ => return None,
        };
        Some(Term::compare(Comparison::Equal, &field, &parts[position]))
    };
    wrong.into_iter().map(narrow).collect::<Option<Vec<Term>>>().map(Term::and)
}

/// Narrows an equation with a list that the model computes to its only wrong element: `names == [p.name for p
/// in q]` to `names[1] == q[1].name`.
pub(super) fn narrow_to_element(condition: &Term, scope: &DecisiveScope) -> Option<Term> {
    let Some(Node::Compare(Comparison::Equal, a, b)) = condition.written() else { return None };
    let (seen, built) =
        [(a, b), (b, a)].into_iter().find(|(seen, built)| is_path(seen) && !is_path(built))?;
    seen.sort().as_list()?;
    let list_elements = |list: &Term| match evaluate(list, &scope.values) {
        Ok(Value::Record(ty, fields)) => Some(ty.counting(&fields).cloned().collect::<Vec<Value>>()),
        _ => None,
    };
    let (came, expected) = (list_elements(seen)?, list_elements(built)?);
    let mut wrong = (0..came.len()).filter(|position| came.get(*position) != expected.get(*position));
    let (Some(position), None) = (wrong.next(), wrong.next()) else { return None };
    let element = write_element(built, position, &scope.values).filter(|_| came.len() == expected.len())?;
    let is_told = element.written_size() > LARGEST_WRITTEN || element.as_literal().is_some();
    let seen_element = Term::standard(StandardOperation::Element, [seen.clone(), Term::int(position)]);
    (!is_told).then(|| Term::compare(Comparison::Equal, &seen_element, &element))
}

/// Splits an equation with a record that is written out: the other side, and the record. `None` for other
/// conditions.
pub(super) fn split_equation(condition: &Term) -> Option<(&Term, &Term)> {
    let Some(Node::Compare(Comparison::Equal, a, b)) = condition.written() else { return None };
    let is_record = |(_, built): &(&Term, &Term)| matches!(built.written(), Some(Node::Record(..)));
    [(a, b), (b, a)].into_iter().find(is_record)
}

pub(super) fn evaluate_fields(record: &Term, scope: &DecisiveScope) -> Option<Arc<[Value]>> {
    match evaluate(record, &scope.values) {
        Ok(Value::Record(_, fields)) => Some(fields),
        _ => None,
    }
}

/// Names a field of a variant or option: `outcome.price`, `vTop.value`.
pub(super) fn field_name(whole: &Term, ty: &RecordType, position: usize) -> String {
    // The name of the alternative stands before that of the field.
    let name = &ty.fields[position].0;
    format!("{whole}.{}", name.rsplit('\'').next().unwrap_or(name))
}

/// Turns `some(x) == some(y)` into `x == y`.
pub(super) fn unwrap_options(condition: Term) -> Term {
    let content = |side: &Term| match side.written() {
        Some(Node::Record(ty, fields)) if ty.form == RecordForm::Option && fields[0].is_true() => {
            Some(fields[1].clone())
        }
        _ => None,
    };
    match condition.written() {
        Some(Node::Compare(sign, a, b)) if let (Some(a), Some(b)) = (content(a), content(b)) => {
            Term::compare(*sign, &a, &b)
        }
        _ => condition,
    }
}
