//! The part of a condition that decides about its value, and the values in it.
//!
//! **Problem.** `!movable()` does not hold since `movable()` is true: this says nothing.
//!
//! **Method.** The condition is opened level by level ([`crate::judge::opened`]). This ends where the parts
//! say something by their values, or where the text becomes long.
//!
//! **Terminates**, since each step is one level deeper.

use std::collections::BTreeMap;

use coreach_model::Term;
use coreach_model::excerpt::shortened;
use coreach_model::limits::{FEW_SHOWN, LONGEST_VALUE};
use coreach_model::term::evaluate::{Undefined, Valuation, evaluate};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::types::RecordForm;
use coreach_model::{Datum, Type, Value};

use crate::judge::collected::{
    collect_deciders, collect_results, collect_scalars, collect_values, condition_values, name_branch,
};
use crate::judge::narrowed::split_equation;
use crate::judge::opened::{differ_in_alternative, find_false_case, open_condition};
use crate::judge::scope::{DecisiveScope, text_length};
use crate::limits::LARGEST_WRITTEN;

/// Why a condition holds or not: what decides in it, if it does not say that itself, and the values in that.
pub(super) struct Grounds {
    pub since: Option<String>,
    pub values: BTreeMap<String, String>,
}

/// Explains a condition by the part that decides about it. These data are those of the event.
pub(super) fn explain_condition(condition: &Term, values: &Valuation, of_event: &[Datum]) -> Grounds {
    let mut scope = DecisiveScope::new(condition, values, of_event);
    let OpenedFully { innermost, decisive, last_written, branch, chosen_by } =
        open_fully(condition, &mut scope);
    let is_shown = innermost == *condition && text_length(condition) <= LONGEST_VALUE;
    if let Some(mut grounds) = explain_last_part(&innermost, &scope, &branch, is_shown) {
        for decider in chosen_by.iter().filter(|decider| *decider.sort() == Type::Bool) {
            collect_results(decider, &scope.values, &mut grounds.values);
            collect_scalars(decider, &scope.values, &mut grounds.values);
        }
        return grounds;
    }
    let shown = decisive.as_ref().map_or(condition, |(part, _)| part);
    // A conjunction holds by all its parts.
    if let Some(Node::And(parts)) = shown.written().filter(|_| scope.is_true(shown))
        && parts.len() > 2
        && decisive.is_some()
    {
        let texts: Vec<String> = parts.iter().map(|part| scope.describe_sides(part)).collect();
        let mut values = BTreeMap::new();
        collect_scalars(shown, &scope.values, &mut values);
        return Grounds { since: Some(format!("all of these hold: {}", texts.join(", "))), values };
    }
    let alternative = match decisive {
        None if !branch.is_empty() => describe_alternative(condition, &innermost, &scope),
        _ => None,
    };
    // A condition that is written out shows the alternatives, and so does a text with their names.
    let is_literal = |part: &Term| part.parts().iter().any(|side| side.as_literal().is_some());
    let is_written_out = split_equation(shown).is_some() || is_literal(shown) || alternative.is_some();
    let is_told_by_branch =
        !branch.is_empty() && is_written_out && differ_in_alternative(shown, &scope.values);
    let mut shown_values = if is_told_by_branch { BTreeMap::new() } else { condition_values(shown, &scope) };
    collect_deciders(&chosen_by, &branch, &scope, &mut shown_values);
    // If no part decides, a failed implication is quoted as a whole.
    let is_failed_implication = condition.premises() > 0 && !scope.is_true(condition);
    let whole = is_failed_implication.then(|| (condition.clone(), String::new()));
    let since = decisive.or(whole).map(|(decisive, others)| {
        let parts = [last_written.filter(|written| *written != decisive), Some(decisive)];
        let describe = |part| {
            describe_missing_option(part, condition, &scope).unwrap_or_else(|| scope.describe_value(part))
        };
        let texts = parts.iter().flatten().map(describe);
        texts.collect::<Vec<_>>().join(", as ") + &others
    });
    let since = since.or(alternative.map(|alternative| alternative + &branch)).or_else(|| {
        let error = evaluate(condition, &scope.values).err();
        error
            .filter(|error| !matches!(error, Undefined::Unbound(_)))
            .map(|error| shortened(&error.to_string()))
    });
    // The content of an option is enough, and so are the fields that are read of a function's record.
    let names: Vec<String> = shown_values.keys().cloned().collect();
    let is_told_by_part = |whole: &str| {
        let mut rests = names.iter().filter_map(|name| name.strip_prefix(whole));
        rests.any(|rest| rest.starts_with(".value") || (whole.contains('(') && rest.starts_with('.')))
    };
    shown_values.retain(|name, _| !is_told_by_part(name));
    Grounds { since, values: shown_values }
}

/// Says that a side of the condition is `none`, in place of an equation with `none` that nobody has written.
fn describe_missing_option(part: &Term, condition: &Term, scope: &DecisiveScope) -> Option<String> {
    let Node::Compare(Comparison::Equal, a, b) = part.written()? else { return None };
    let Node::Compare(Comparison::Equal, x, y) = condition.written()? else { return None };
    let side = [x, y].into_iter().find(|side| !scope.is_of_event(side))?;
    let is_none = |value: &Value| matches!(value, Value::Record(ty, fields) if ty.form == RecordForm::Option && fields[0] == Value::Bool(false));
    let is_made = [a, b].into_iter().any(|side| side.as_literal().is_some_and(is_none));
    let is_written = side.as_literal().is_none() && text_length(side) <= LONGEST_VALUE;
    (is_made && is_written).then(|| format!("`{side}` is `none`"))
}

/// Says which alternative a side of the condition has: the part that was opened is too long to be shown, and
/// the event has another alternative.
fn describe_alternative(condition: &Term, opened: &Term, scope: &DecisiveScope) -> Option<String> {
    let Some(Node::Compare(Comparison::Equal, a, b)) = condition.written() else { return None };
    let side = [a, b].into_iter().find(|side| !scope.is_of_event(side))?;
    let is_meant = opened != condition && differ_in_alternative(opened, &scope.values);
    let Ok(Value::Record(ty, fields)) = evaluate(side, &scope.values) else { return None };
    let mut alternatives = ty.alternatives().into_iter().enumerate();
    let (_, chosen) = alternatives.find(|(number, _)| ty.tag(*number) == fields[0])?;
    is_meant.then(|| format!("`{side}` is `{}`", chosen.name))
}

/// A condition that was opened as far as possible.
struct OpenedFully {
    /// The part that was opened last.
    innermost: Term,
    /// The last part that is shown, with the text about the branch and the other cases.
    decisive: Option<(Term, String)>,
    /// The last part of a case that stands in the model.
    last_written: Option<Term>,
    /// The text of the branch of an `if` or `match` that is not quoted.
    branch: String,
    /// The terms by which branches were chosen.
    chosen_by: Vec<Term>,
}

/// Opens a condition level by level, up to a truth value or a part that is too large to show.
fn open_fully(condition: &Term, scope: &mut DecisiveScope) -> OpenedFully {
    let is_short = |term: &Term| text_length(term) <= 3 * LONGEST_VALUE;
    let (mut innermost, mut decisive, mut last_written) = (condition.clone(), None, None);
    let (mut is_case, mut branch, mut others, mut chosen_by) =
        (false, String::new(), String::new(), Vec::new());
    while let Some(opened) = open_condition(&innermost, scope) {
        // `false` alone says less than the condition, and its values say which branch was taken.
        if opened.term.written_size() > LARGEST_WRITTEN || opened.term.is_false() || opened.term.is_true() {
            break;
        }
        // The last part that stands in the model is kept, before a function's or a side takes its place.
        let is_below_side = opened.is_side && innermost != *condition;
        if (is_case && !opened.is_written || is_below_side) && last_written.is_none() {
            last_written = Some(innermost).filter(is_short);
        }
        is_case |= opened.is_case;
        others += &opened.others;
        let is_choice = opened.others.is_empty();
        if is_choice && !opened.chosen_by.is_empty() {
            branch =
                name_branch(&opened.chosen_by, scope).map_or_else(String::new, |name| format!(" ({name})"));
        }
        chosen_by.extend(opened.chosen_by);
        innermost = opened.term;
        // A long part may be opened further. Otherwise it is shown if it is shorter than the condition.
        if opened.says_more && (is_short(&innermost) || text_length(&innermost) < text_length(condition)) {
            decisive = Some((innermost.clone(), branch.clone() + &others));
        }
    }
    OpenedFully { innermost, decisive, last_written, branch, chosen_by }
}

/// Explains the innermost part that was opened, if it is a `match` case that is `false`, or a conjunction of
/// few parts of which none holds, and at least one is not explained by its values. `None`: the values of the
/// part explain it.
///
/// `is_shown` says that the message shows this part already. A `match` case is then not repeated.
fn explain_last_part(part: &Term, scope: &DecisiveScope, branch: &str, is_shown: bool) -> Option<Grounds> {
    if let Some((subject, alternative)) = find_false_case(part, scope) {
        let mut values = BTreeMap::new();
        collect_values(&subject, &scope.values, &mut values);
        let since = format!("the case of `match {subject}` for `{alternative}` is `false`{branch}");
        return Some(Grounds { since: Some(since).filter(|_| !is_shown), values });
    }
    let Some(Node::And(parts)) = part.written() else { return None };
    if parts.len() > FEW_SHOWN || parts.iter().any(|part| scope.is_true(part)) {
        return None;
    }
    let grounds_of_parts: Vec<Grounds> =
        parts.iter().map(|part| explain_condition(part, &scope.values, &scope.of_event)).collect();
    grounds_of_parts.iter().any(|grounds| grounds.since.is_some()).then(|| {
        let (mut texts, mut values) = (Vec::new(), BTreeMap::new());
        for (part, Grounds { since, values: of_part }) in parts.iter().zip(grounds_of_parts) {
            let is_long = part.to_string().chars().count() > LONGEST_VALUE;
            texts.push(match since {
                Some(since) if is_long => since,
                Some(since) => format!("{}, as {since}", scope.describe_value(part)),
                None => scope.describe_value(part),
            });
            values.extend(of_part);
        }
        Grounds { since: Some(texts.join(", and ") + branch), values }
    })
}
