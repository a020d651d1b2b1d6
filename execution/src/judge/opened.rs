//! Opens a condition by one level: to the part of it that decides about its value.
//!
//! **Problem.** A condition that calls a function, or is about each element of a list, hides what decides.
//!
//! **Method.** A call becomes the body of its function. A quantifier becomes the first instance that decides,
//! and a conjunction that fails its parts that fail. An `if` becomes its branch and a `match` its case, also
//! on a side of a comparison and within functions of functions. A disjunction becomes the alternative that
//! the event could meet. An equation with a record or a list becomes that of its only wrong part
//! ([`crate::judge::narrowed`]).
//!
//! **Terminates**, since functions are not recursive. **Costs** some evaluations of the parts.

use std::sync::Arc;

use coreach_model::limits::LONGEST_VALUE;
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::operation::{
    DerivedOperation, MatchArm, MatchOperation, Quantifier, pair_arguments,
};
use coreach_model::term::{TermShape, substitute};
use coreach_model::types::{Alternative, RecordForm, RecordType};
use coreach_model::{Datum, Term, Type, Value};

use crate::judge::excerpts::contains_word;
use crate::judge::instances::{list_instances, name_element};
use crate::judge::narrowed::{
    evaluate_fields, field_name, narrow_to_element, narrow_to_field, split_equation, unwrap_options,
};
use crate::judge::scope::{DecisiveScope, Nearness, is_path, text_length, unfold_calls};

/// A part of a condition that decides about it.
pub(super) struct Opened {
    pub term: Term,
    /// Does it say more than the condition?
    pub says_more: bool,
    /// Is it written in the condition, and not in a function or made from a quantifier?
    pub is_written: bool,
    /// Is it one of several cases?
    pub is_case: bool,
    /// Is it a side of an equation between truth values?
    pub is_side: bool,
    /// The needs of the other cases, as text.
    pub others: String,
    /// The terms that were read to choose the case.
    pub chosen_by: Vec<Term>,
}

impl Opened {
    fn written(term: Term) -> Self {
        let (others, chosen_by) = (String::new(), Vec::new());
        Opened { term, says_more: true, is_written: true, is_case: false, is_side: false, others, chosen_by }
    }

    fn case(term: Term, chosen_by: Vec<Term>) -> Self {
        Opened { is_case: true, chosen_by, ..Opened::written(term) }
    }

    fn inner(term: Term, says_more: bool) -> Self {
        Opened { says_more, is_written: false, ..Opened::written(term) }
    }
}

/// Opens a condition by one level. The names of a case of a `match` come into the scope. `None`: no part
/// decides alone.
pub(super) fn open_condition(term: &Term, scope: &mut DecisiveScope) -> Option<Opened> {
    let is_true = scope.is_true(term);
    let deciding = |parts: &[Term]| {
        let deciding: Vec<Term> =
            parts.iter().filter(|part| scope.is_true(part) == is_true).cloned().collect();
        (deciding.len() < parts.len()).then_some(deciding)
    };
    match term.shape() {
        TermShape::Node(Node::Not(inner)) => Some(Opened::inner(inner.clone(), false)),
        TermShape::Node(Node::And(parts)) if !is_true => Some(Opened::written(Term::and(deciding(parts)?))),
        TermShape::Node(Node::Or(parts)) if is_true => Some(Opened::written(Term::or(deciding(parts)?))),
        TermShape::Node(Node::Or(_)) if term.premises() > 0 => open_implication(term, scope),
        TermShape::Node(Node::Or(parts)) => open_alternatives(parts, scope),
        TermShape::Operation(DerivedOperation::Call(_), _) => Some(Opened::inner(term.unfolded()?, true)),
        TermShape::Operation(DerivedOperation::Quantified(quantified), arguments) => {
            let instances = list_instances(quantified, arguments, &scope.values)?;
            match (quantified.quantifier, is_true) {
                (Quantifier::All, false) | (Quantifier::Some, true) => {}
                (Quantifier::Some, false) => {
                    let [only] = keep_possible(&instances, scope).try_into().ok()?;
                    return Some(Opened::inner(Term::and(only), true));
                }
                _ => return None,
            }
            let number = instances.iter().position(|instance| scope.is_true(instance) == is_true)?;
            let instance = name_element(quantified, arguments, number, scope);
            Some(Opened::inner(instance.unwrap_or_else(|| instances[number].clone()), true))
        }
        TermShape::Operation(DerivedOperation::Match(_), _) => {
            let (case, chosen_by) = open_branches(term, scope)?;
            case.as_literal().is_none().then(|| Opened::case(case, chosen_by))
        }
        TermShape::Node(Node::Compare(_, a, b)) => {
            if let Some(narrowed) = narrow_to_field(term, scope).or_else(|| narrow_to_element(term, scope)) {
                return Some(Opened::written(narrowed));
            }
            let is_written = [a, b].iter().all(|side| side.unfolded().is_none());
            match open_branches(term, scope) {
                Some((opened, chosen_by)) => {
                    Some(Opened { is_written, ..Opened::case(unwrap_options(opened), chosen_by) })
                }
                // The event has a truth value. The side that the state gives tells why it is wrong.
                None if *a.sort() == Type::Bool => {
                    let given = if scope.is_of_event(a) { b } else { a };
                    let opened = || Opened { is_side: true, ..Opened::inner(given.clone(), false) };
                    (!scope.is_of_event(given)).then(opened)
                }
                None => None,
            }
        }
        _ => open_branches(term, scope).map(|(branch, chosen_by)| Opened::case(branch, chosen_by)),
    }
}

/// Is it an equation of two variants or options with different alternatives?
pub(super) fn differ_in_alternative(part: &Term, values: &Valuation) -> bool {
    let tag = |side: &Term| match evaluate(side, values) {
        Ok(Value::Record(ty, fields)) if !ty.alternatives().is_empty() => Some(fields[0].clone()),
        _ => None,
    };
    let Some(Node::Compare(Comparison::Equal, a, b)) = part.written() else { return false };
    tag(a).zip(tag(b)).is_some_and(|(one, other)| one != other)
}

/// Does each case of a `match` or `if` ask for another alternative of a part of the event, or for nothing?
pub(super) fn asks_other_alternative(part: &Term, scope: &DecisiveScope) -> bool {
    match part.shape() {
        TermShape::Node(Node::Compare(..)) => {
            let Some((seen, built)) = split_equation(part) else { return false };
            let Some(Node::Record(ty, parts)) = built.written() else { return false };
            let asks_other =
                |fields: Arc<[Value]>| parts[0].as_literal().is_some_and(|tag| *tag != fields[0]);
            !ty.alternatives().is_empty()
                && scope.is_of_event(seen)
                && evaluate_fields(seen, scope).is_some_and(asks_other)
        }
        TermShape::Node(Node::And(parts)) => parts.iter().any(|part| asks_other_alternative(part, scope)),
        TermShape::Node(Node::Or(parts)) => parts.iter().all(|part| asks_other_alternative(part, scope)),
        TermShape::Node(Node::IfThenElse(_, then, other)) => {
            [then, other].iter().all(|case| case.is_false() || asks_other_alternative(case, scope))
        }
        TermShape::Operation(DerivedOperation::Match(choice), arguments) => {
            let known = pair_arguments(&choice.read, &arguments[1..]);
            choice.cases.iter().all(|case| {
                case.body.is_false() || asks_other_alternative(&substitute(&case.body, &known), scope)
            })
        }
        _ => false,
    }
}

/// Lists the conditions of an alternative that do not hold.
fn list_failing(alternative: &Term, scope: &DecisiveScope) -> Vec<Term> {
    let conditions = match alternative.written() {
        Some(Node::And(conditions)) => conditions.as_slice(),
        _ => std::slice::from_ref(alternative),
    };
    conditions.iter().filter(|condition| !scope.is_true(condition)).cloned().collect()
}

/// Lists, for each alternative that the event could meet, its conditions that do not hold.
pub(super) fn keep_possible(alternatives: &[Term], scope: &DecisiveScope) -> Vec<Vec<Term>> {
    let failing = alternatives.iter().map(|alternative| list_failing(alternative, scope));
    failing.filter(|conditions| conditions.iter().all(|condition| scope.is_of_event(condition))).collect()
}

/// Opens a false implication: its conclusion, if that can be opened.
fn open_implication(implication: &Term, scope: &DecisiveScope) -> Option<Opened> {
    let (premise, conclusion) = implication.as_implication().filter(|(premise, _)| scope.is_true(premise))?;
    open_condition(&conclusion, &mut scope.clone())?;
    Some(Opened { others: format!(", while `{premise}` holds"), ..Opened::case(conclusion, vec![premise]) })
}

/// Opens a false disjunction with alternatives of several conditions. If the event could meet only one of
/// them, that one counts. Else each alternative becomes the conditions of it that do not hold.
fn open_alternatives(parts: &[Term], scope: &DecisiveScope) -> Option<Opened> {
    if !parts.iter().any(|part| matches!(part.written(), Some(Node::And(_)))) {
        return None;
    }
    let failing: Vec<Vec<Term>> = parts.iter().map(|part| list_failing(part, scope)).collect();
    // If a condition of the state alone fails, no event could meet the alternative.
    let is_of_state = |condition: &Term| !scope.is_of_event(condition);
    let (excluded, possible): (Vec<_>, Vec<_>) =
        failing.iter().partition(|conditions| conditions.iter().any(is_of_state));
    let [only_possible] = possible.as_slice() else {
        let opened = Term::or(failing.into_iter().map(Term::and));
        let is_smaller = parts != opened.disjuncts();
        return is_smaller.then(|| Opened::written(opened));
    };
    // An alternative is meant only if the event meets it.
    let meant = excluded.into_iter().filter(|conditions| conditions.iter().all(is_of_state));
    let needed: Vec<Term> = meant.map(|conditions| Term::and(conditions.iter().cloned())).collect();
    let texts: Vec<String> = needed.iter().map(|condition| format!("`{condition}`")).collect();
    let others = match texts.as_slice() {
        [] => String::new(),
        [only] => format!(", and the other alternative needs {only}"),
        _ => format!(", and the other alternatives need {}", texts.join(" or ")),
    };
    Some(Opened { others, ..Opened::case(Term::and(only_possible.iter().cloned()), needed) })
}

/// Returns the arm of a `match` for a value with this tag: the first that fits, or the last one.
fn choose_arm<'m>(choice: &'m MatchOperation, ty: &RecordType, tag: &Value) -> Option<&'m MatchArm> {
    let fits = |case: &&MatchArm| case.alternative.is_none_or(|number| ty.tag(number) == *tag);
    choice.cases.iter().find(fits).or(choice.cases.last())
}

/// Chooses the case of a `match` of this subject. Its names stand for what the subject writes out, or come
/// into the scope. A name that nobody sees in the quoted condition becomes the place in the subject.
fn choose_case(
    choice: &MatchOperation,
    subject: &Term,
    read: &[Term],
    scope: &mut DecisiveScope,
) -> Option<Term> {
    let Value::Record(ty, fields) = evaluate(subject, &scope.values).ok()? else { return None };
    let case = choose_arm(choice, &ty, &fields[0])?;
    let is_of_event = scope.is_of_event(subject);
    let is_call = subject.unfolded().is_some();
    let is_short = is_path(subject) || (is_call && text_length(subject) <= LONGEST_VALUE / 2);
    let mut known = pair_arguments(&choice.read, read);
    for (name, position) in &case.names {
        if let Some(Node::Record(_, parts)) = subject.written() {
            known.insert(name.clone(), parts[*position].clone());
            continue;
        }
        let mut shown = name.name().to_owned();
        let is_clear = contains_word(&scope.quoted, &shown) && !scope.names.contains(&shown);
        if is_short && !is_clear {
            shown = field_name(subject, &ty, *position);
        } else {
            while !scope.names.insert(shown.clone()) {
                shown.push('_');
            }
        }
        let shown = Datum::new(shown, name.ty().clone());
        known.insert(name.clone(), Term::datum(&shown));
        scope.of_event.extend(is_of_event.then(|| shown.clone()));
        scope.values.insert(shown, fields[*position].clone());
    }
    Some(substitute(&case.body, &known))
}

/// Opens a `match`: its subject, and then the case. A subject that is written out has only one case.
/// Otherwise it is one of the terms by which the branches were chosen.
fn open_match(
    choice: &MatchOperation,
    arguments: &[Term],
    scope: &mut DecisiveScope,
    chosen_by: &mut Vec<Term>,
) -> Option<Term> {
    let subject = open_side(&arguments[0], scope, chosen_by);
    let case = choose_case(choice, &subject, &arguments[1..], scope)?;
    if !matches!(subject.written(), Some(Node::Record(..))) {
        chosen_by.push(subject);
    }
    Some(case)
}

/// Opens a side of a comparison as long as it is an `if` or a `match`, or a function that is one. Adds the
/// terms by which the branches were chosen.
pub(super) fn open_side(side: &Term, scope: &mut DecisiveScope, chosen_by: &mut Vec<Term>) -> Term {
    let body = unfold_calls(side);
    let branch = match body.shape() {
        TermShape::Node(Node::Field(whole, position)) => {
            let count = chosen_by.len();
            let opened = open_side(whole, scope, chosen_by);
            match unfold_calls(&opened).written() {
                Some(Node::Record(_, parts)) => parts[*position].clone(),
                _ if chosen_by.len() > count => return Term::field(&opened, *position),
                _ => return side.clone(),
            }
        }
        TermShape::Node(Node::IfThenElse(condition, then, other)) => {
            let Ok(is_true) = holds(condition, &scope.values) else { return side.clone() };
            chosen_by.push(condition.clone());
            let (taken, missed) = if is_true { (then, other) } else { (other, then) };
            note_missed(taken, [missed].into_iter(), condition, scope);
            taken.clone()
        }
        TermShape::Operation(DerivedOperation::Match(choice), arguments) => {
            match open_match(choice, arguments, scope, chosen_by) {
                Some(case) => {
                    if let Some(subject) = chosen_by.last().cloned() {
                        note_missed(&case, choice.cases.iter().map(|case| &case.body), &subject, scope);
                    }
                    case
                }
                None => return side.clone(),
            }
        }
        _ => return side.clone(),
    };
    open_side(&branch, scope, chosen_by)
}

/// Notes the term by which branches were missed, if one of them is nearer to what was seen than `taken`, and
/// than the branches that were missed before.
fn note_missed<'t>(
    taken: &'t Term,
    missed: impl Iterator<Item = &'t Term>,
    decider: &Term,
    scope: &mut DecisiveScope,
) {
    let Some(seen) = &scope.seen else { return };
    let nearness = |branch| find_nearness(branch, seen, &scope.values);
    let nearest = missed.map(nearness).max().unwrap_or_default();
    let known = scope.missed_by.as_ref().map_or(Nearness::Other, |(known, _)| *known);
    if nearest > known.max(nearness(taken)) {
        scope.missed_by = Some((nearest, decider.clone()));
    }
}

/// Finds how near the values that a branch may give are to this one.
fn find_nearness(branch: &Term, seen: &Value, values: &Valuation) -> Nearness {
    let body = unfold_calls(branch);
    let of_value = || evaluate(&body, values).map_or(Nearness::Other, |value| compare(&value, seen));
    match (body.shape(), seen) {
        (TermShape::Node(Node::IfThenElse(_, then, other)), _) => {
            find_nearness(then, seen, values).max(find_nearness(other, seen, values))
        }
        (TermShape::Operation(DerivedOperation::Match(choice), _), _) => {
            let cases = choice.cases.iter().map(|case| find_nearness(&case.body, seen, values));
            cases.max().unwrap_or_default()
        }
        // The names of a `match` have no values here, but the alternative is written.
        (TermShape::Node(Node::Record(ty, parts)), Value::Record(_, fields)) => match ty.form {
            RecordForm::Variant(_) if parts[0].as_literal() == Some(&fields[0]) => {
                of_value().max(Nearness::Alternative)
            }
            RecordForm::Option if parts[0].as_literal() == Some(&fields[0]) => {
                find_nearness(&parts[1], &fields[1], values)
            }
            _ => of_value(),
        },
        _ => of_value(),
    }
}

/// Compares two values of one type.
fn compare(one: &Value, other: &Value) -> Nearness {
    match (one, other) {
        _ if one == other => Nearness::Equal,
        (Value::Record(ty, one), Value::Record(_, other)) if one.first() == other.first() => match ty.form {
            RecordForm::Variant(_) => Nearness::Alternative,
            RecordForm::Option => compare(&one[1], &other[1]),
            _ => Nearness::Other,
        },
        _ => Nearness::Other,
    }
}

/// Opens an `if` or a `match`, or the sides of a comparison that are one. Returns also the terms by which the
/// branches were chosen. `None`: there are none.
fn open_branches(condition: &Term, scope: &mut DecisiveScope) -> Option<(Term, Vec<Term>)> {
    match condition.shape() {
        TermShape::Node(Node::IfThenElse(decider, then, other)) => {
            let branch = if holds(decider, &scope.values).ok()? { then } else { other };
            Some((branch.clone(), vec![decider.clone()]))
        }
        TermShape::Operation(DerivedOperation::Match(choice), arguments) => {
            let mut chosen_by = Vec::new();
            Some((open_match(choice, arguments, scope, &mut chosen_by)?, chosen_by))
        }
        TermShape::Node(Node::Compare(sign, a, b)) => {
            let mut chosen_by = Vec::new();
            let opened = [(a, b), (b, a)].map(|(side, seen)| {
                let is_seen = scope.is_of_event(seen) && !scope.is_of_event(side);
                scope.seen = evaluate(seen, &scope.values).ok().filter(|_| is_seen);
                open_side(side, scope, &mut chosen_by)
            });
            scope.seen = None;
            // The term that kept the side from what was seen tells most, so it comes last.
            if let Some((_, missed_by)) = scope.missed_by.take() {
                let (mut last, others): (Vec<Term>, Vec<Term>) =
                    chosen_by.into_iter().partition(|decider| *decider == missed_by);
                chosen_by = others;
                chosen_by.append(&mut last);
            }
            let is_opened = opened.iter().ne([a, b]);
            is_opened.then(|| (Term::compare(*sign, &opened[0], &opened[1]), chosen_by))
        }
        _ => None,
    }
}

/// Opens a condition's branches. Returns also the terms of the event that chose them. `None`: no branches.
pub(super) fn choose_branches(condition: &Term, scope: &mut DecisiveScope) -> Option<(Term, Vec<Term>)> {
    let (opened, mut chosen_by) = open_branches(condition, scope)?;
    chosen_by.retain(|decider| scope.is_of_event(decider));
    Some((opened, chosen_by))
}

/// Finds the subject of a `match` and its alternative, if their case is `false` whatever else is true.
pub(super) fn find_false_case(part: &Term, scope: &DecisiveScope) -> Option<(Term, String)> {
    let TermShape::Operation(DerivedOperation::Match(choice), arguments) = part.shape() else { return None };
    let subject = arguments.first()?;
    let Value::Record(ty, fields) = evaluate(subject, &scope.values).ok()? else { return None };
    let is_chosen = |(number, _): &(usize, Alternative)| ty.tag(*number) == fields[0];
    let (_, chosen) = ty.alternatives().into_iter().enumerate().find(is_chosen)?;
    choose_arm(choice, &ty, &fields[0])?.body.is_false().then(|| (subject.clone(), chosen.name))
}
