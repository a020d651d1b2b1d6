//! Collects the values that an explanation of a condition lists, by the texts of their terms.
//!
//! A path is listed with the values of its indices. A function is listed with the branch that it took, or
//! with the values that its short body reads. Large terms are not taken apart.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use coreach_model::limits::{FEW_SHOWN, LONGEST_TEXT, LONGEST_VALUE};
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::operation::{DerivedOperation, Quantifier, StandardOperation, pair_arguments};
use coreach_model::term::{TermShape, list_subterms, substitute};
use coreach_model::types::RecordForm;
use coreach_model::{Datum, Term, Type, Value};

use crate::judge::excerpts::drop_id_types;
use crate::judge::instances::{list_bound_values, list_instances};
use crate::judge::opened::{open_condition, open_side};
use crate::judge::scope::{DecisiveScope, is_path, text_length};
use crate::limits::LARGEST_WRITTEN;

/// Lists the values of a condition by their terms: those of [`collect_values`], and the two sides of a
/// comparison. A long side of an equation for a part of the event is left out: the differences are told.
pub(super) fn condition_values(condition: &Term, scope: &DecisiveScope) -> BTreeMap<String, String> {
    let mut shown = BTreeMap::new();
    collect_values(condition, &scope.values, &mut shown);
    show_places(condition, &scope.values, &mut shown);
    let Some(Node::Compare(sign, a, b)) = condition.written() else { return shown };
    if condition.as_question().is_some() {
        return shown;
    }
    let texts = [a, b].map(|side| result_text(side, &scope.values));
    let is_long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > LONGEST_VALUE);
    let is_observed = |side: &Term| is_path(side) && scope.is_of_event(side);
    // The differences tell the sides of such an equation.
    let is_told = *sign == Comparison::Equal && (is_observed(a) || is_observed(b));
    for ((word, side), text) in [("left", a), ("right", b)].into_iter().zip(texts) {
        if is_told && is_long(&text) {
            if is_observed(side) {
                shown.remove(&side.to_string());
            }
            continue;
        }
        let Some(text) = text.filter(|_| !is_seen(side)) else { continue };
        let name = side.to_conjunct();
        let is_short = name.chars().count() <= LONGEST_VALUE;
        shown.entry(if is_short { name } else { format!("the {word} side") }).or_insert(text);
    }
    shown
}

/// Shows the places at which a condition reads a long collection, also in functions. A collection that is
/// read nowhere else is left out.
fn show_places(condition: &Term, values: &Valuation, shown: &mut BTreeMap<String, String>) {
    // Find the places, the data that are read as a whole, and the bound names, which have no value here.
    let (mut places, mut wholes, mut bound) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
    let (mut unvisited, mut seen) = (vec![condition.clone()], HashSet::new());
    while let Some(term) = unvisited.pop() {
        if !seen.insert(term.clone()) {
            continue;
        }
        match term.shape() {
            _ if term.written_size() > LARGEST_WRITTEN => {
                wholes.extend(term.data().iter().map(Datum::to_string))
            }
            _ if let Some((subject, ..)) = term.as_question() => unvisited.push(subject.clone()),
            TermShape::Node(Node::Data(datum)) => {
                wholes.insert(datum.to_string());
            }
            _ if is_path(&term) => {
                unvisited.extend(list_indices(&term).into_iter().cloned());
                places.insert(term.to_string(), term);
            }
            TermShape::Node(Node::Field(whole, position)) if let Some(body) = whole.unfolded() => {
                unvisited.push(Term::field(&body, *position));
            }
            TermShape::Operation(DerivedOperation::Quantified(quantified), arguments) => {
                let (domain, read) = arguments.split_at(arguments.len() - quantified.read.len());
                let known = pair_arguments(&quantified.read, read);
                let element = quantified.collected.iter().map(|(_, element)| element);
                unvisited.extend(element.chain([&quantified.body]).map(|body| substitute(body, &known)));
                unvisited.extend(domain.iter().cloned());
                bound.push(quantified.bound.clone());
            }
            _ => match term.unfolded().or_else(|| term.unfolded_match()) {
                Some(body) => unvisited.push(body),
                None => unvisited.extend(term.parts().into_iter().cloned()),
            },
        }
    }
    // Collect the values of the places by their collections.
    let mut by_whole: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (name, place) in places {
        let mut whole = &place;
        while let Some(outer) = whole.parts().first() {
            whole = outer;
        }
        let is_short = name.chars().count() <= LONGEST_VALUE;
        let is_known = is_short && !bound.iter().any(|datum| place.mentions(datum));
        match evaluate(&place, values).ok().filter(|_| is_known) {
            Some(value) => {
                drop(by_whole.entry(whole.to_string()).or_default().insert(name, format!("{value:#}")))
            }
            None => drop(wholes.insert(whole.to_string())),
        }
    }
    by_whole.retain(|whole, places| {
        // A collection of two lines is not cut.
        let longest = if wholes.contains(whole) { 2 * LONGEST_TEXT } else { LONGEST_TEXT };
        places.len() <= FEW_SHOWN && shown.get(whole).is_some_and(|text| text.chars().count() > longest)
    });
    for (whole, places) in by_whole {
        if !wholes.contains(&whole) {
            shown.remove(&whole);
        }
        shown.extend(places);
    }
}

/// Do the values of the data in it show its value? Those in a number or a truth value do, unless it is about
/// all elements of a collection.
fn is_seen(side: &Term) -> bool {
    let is_simple = side.sort().is_number() || *side.sort() == Type::Bool;
    match side.shape() {
        TermShape::Operation(DerivedOperation::Quantified(_), _) => false,
        TermShape::Node(Node::Literal(_)) => true,
        TermShape::Node(Node::Record(..)) => side.parts().into_iter().all(is_seen),
        _ => is_path(side) || (is_simple && side.parts().into_iter().all(is_seen)),
    }
}

/// Collects the values of the terms that chose the branches, in their order: the data in them that are no
/// collections, and the results of operations. Of earlier terms, results with parentheses in their names are
/// left out. `branch` is the text of [`name_branch`], which may tell the last term already.
pub(super) fn collect_deciders(
    chosen_by: &[Term],
    branch: &str,
    scope: &DecisiveScope,
    shown: &mut BTreeMap<String, String>,
) {
    let Some((last, before)) = chosen_by.split_last() else { return };
    // The terms that chose unnamed branches say nothing.
    let is_named = |decider: &&Term| branch.is_empty() || branch.contains(&decider.to_string());
    let before: Vec<&Term> = before.iter().filter(is_named).collect();
    before.iter().for_each(|decider| collect_own_scalars(decider, &scope.values, shown));
    collect_scalars(last, &scope.values, shown);
    let mut of_earlier = BTreeMap::new();
    before.iter().for_each(|decider| collect_results(decider, &scope.values, &mut of_earlier));
    let is_single = |name: &String| !drop_id_types(name).contains('(') && !name.contains(" in ");
    shown.extend(of_earlier.into_iter().filter(|(name, _)| is_single(name)));
    // The branch leaves a long term out. The element that a long search has found is listed.
    let is_long = text_length(last) > LONGEST_TEXT;
    let is_found = || match evaluate(last, &scope.values) {
        Ok(Value::Record(_, fields)) => fields.first() == Some(&Value::Bool(true)),
        _ => false,
    };
    let is_told = (is_long && is_found()) || branch.contains(&format!("`{last}`"));
    match last.shape() {
        // The branch has its value, but not those that it reads.
        TermShape::Operation(DerivedOperation::Quantified(_), _) if is_told || is_long => {
            last.parts().into_iter().for_each(|part| collect_values(part, &scope.values, shown));
            if !is_told {
                collect_results(last, &scope.values, shown);
            }
        }
        _ if is_long || branch.is_empty() || *last.sort() == Type::Bool => {
            collect_results(last, &scope.values, shown);
        }
        // The branch tells the value of a term that is no condition.
        TermShape::Operation(DerivedOperation::Call(_), _) => {}
        _ => collect_values(last, &scope.values, shown),
    }
}

/// Collects the values of the data, calls and elements in a term, by their texts; only data of a large term.
pub(super) fn collect_values(term: &Term, values: &Valuation, found: &mut BTreeMap<String, String>) {
    let value = || evaluate(term, values).ok().map(|value| (term.to_string(), format!("{value:#}")));
    if term.written_size() > LARGEST_WRITTEN {
        let text = |datum: &Datum| Some((datum.to_string(), format!("{:#}", values.get(datum)?)));
        found.extend(term.data().iter().filter_map(text));
        return;
    }
    let parts = match term.shape() {
        TermShape::Node(Node::Data(_)) => {
            found.extend(value());
            return;
        }
        // A field of a record that is written out is a part of the text.
        TermShape::Node(Node::Field(whole, position))
            if let Some(Node::Record(ty, parts)) = whole.written()
                && ty.form == RecordForm::Plain =>
        {
            vec![&parts[*position]]
        }
        // The parts that a short function reads are enough. The last arguments are all data in them.
        TermShape::Operation(DerivedOperation::Call(_), arguments) => {
            if collect_condition(term, values, found) || collect_opened(term, values, found, collect_values) {
                return;
            }
            if collect_formula(term, values, found) {
                return;
            }
            let body = term.unfolded().filter(|body| body.written_size() <= 40);
            let text = result_text(body.as_ref().unwrap_or(term), values);
            found.extend(text.map(|text| (term.to_string(), text)));
            if let Some(body) = body {
                let mut of_body = BTreeMap::new();
                collect_values(&body, values, &mut of_body);
                // The body's own value is that of the call. Data, elements, calls and counts in it are easy
                // to find.
                of_body.remove(&body.to_conjunct());
                let is_easy = |name: &String| {
                    let is_plain =
                        !name.contains(" in ") || name.starts_with('[') || name.starts_with("(count ");
                    name.chars().count() <= LONGEST_VALUE && is_plain
                };
                found.extend(of_body.into_iter().filter(|(name, _)| is_easy(name)));
                return;
            }
            arguments.iter().collect()
        }
        // The condition reads a field of the record that a function gives.
        TermShape::Node(Node::Field(whole, position))
            if term.as_question().is_none()
                && let Some(body) = whole.unfolded() =>
        {
            let place = is_path(&body).then(|| Term::field(&body, *position));
            let place = place.filter(|place| text_length(place) <= LONGEST_VALUE);
            let reason = place.map_or_else(String::new, |place| format!(" (as `{place}`)"));
            found.extend(value().map(|(name, text)| (name, text + &reason)));
            vec![whole]
        }
        // Numbers that are computed from a collection are not seen in it.
        TermShape::Operation(DerivedOperation::Quantified(_), _) if has_numbers(term) => {
            let name = term.to_conjunct();
            let is_short = |text: &String| text.chars().count() <= LONGEST_VALUE;
            if is_short(&name) && value().is_some_and(|(_, value)| is_short(&value)) {
                found.extend(result_text(term, values).map(|text| (name, text)));
            }
            term.parts()
        }
        // The elements of a cut collection cannot be seen.
        TermShape::Operation(DerivedOperation::Standard(StandardOperation::HasKey), arguments) => {
            if evaluate(&arguments[1], values).is_ok_and(|whole| format!("{whole:#}").len() > LONGEST_TEXT) {
                found.extend(value());
            }
            arguments.iter().collect()
        }
        // The field that tells the alternative has no name that a user knows.
        TermShape::Node(_) if term.as_question().is_some() => {
            term.as_question().into_iter().map(|(subject, ..)| subject).collect()
        }
        TermShape::Node(Node::Field(..) | Node::Select(..))
        | TermShape::Operation(DerivedOperation::Standard(_), _)
            if is_path(term) && value().is_some() =>
        {
            found.extend(value());
            list_indices(term)
        }
        _ => term.parts(),
    };
    parts.into_iter().for_each(|part| collect_values(part, values, found));
}

/// Collects the value of a function whose branch the values choose, with the branch: `fee(v) = 5 (as
/// `base div 2`, the branch where `v > 9` is true)`. `collect` adds the values in the branch. Returns whether
/// it did.
fn collect_opened(
    call: &Term,
    values: &Valuation,
    found: &mut BTreeMap<String, String>,
    collect: fn(&Term, &Valuation, &mut BTreeMap<String, String>),
) -> bool {
    let mut scope = DecisiveScope::new(call, values, &[]);
    let mut chosen_by = Vec::new();
    let opened = open_side(call, &mut scope, &mut chosen_by);
    let (Ok(value), false) = (evaluate(call, values), chosen_by.is_empty()) else { return false };
    if opened.written_size() > LARGEST_WRITTEN {
        return false;
    }
    let mut text = format!("{value:#}");
    // The value that a branch is chosen for is listed.
    let is_listed = |decider: &Term| match decider.written() {
        Some(Node::Compare(Comparison::Equal, a, b)) => a.as_literal().or(b.as_literal()).is_some(),
        _ => is_result(decider),
    };
    let is_literal = opened.as_literal().is_some();
    let is_short = !is_literal && text_length(&opened) <= LONGEST_VALUE;
    let body = is_short.then(|| format!("as `{opened}`"));
    let last = chosen_by.last().filter(|last| !is_listed(last));
    let branch = name_branch(last.map(std::slice::from_ref).unwrap_or_default(), &scope);
    let reasons = body.into_iter().chain(branch).collect::<Vec<_>>().join(", ");
    let is_told = !reasons.is_empty() && reasons.chars().count() <= LONGEST_TEXT;
    if is_told {
        text += &format!(" ({reasons})");
    } else if !is_literal {
        return false;
    }
    found.insert(call.to_string(), text);
    collect(&opened, &scope.values, found);
    found.remove(&opened.to_conjunct());
    for decider in &chosen_by {
        collect_results(decider, &scope.values, found);
    }
    true
}

/// Collects the value of a function that is a condition, with the part of it that decides: `fits(v) = true
/// (as `used() + v <= cLength` holds)`. Returns whether it did.
fn collect_condition(call: &Term, values: &Valuation, found: &mut BTreeMap<String, String>) -> bool {
    if *call.sort() != Type::Bool || call.unfolded().is_none() {
        return false;
    }
    let mut scope = DecisiveScope::new(call, values, &[]);
    let decisive = open_decisive(call, &mut scope);
    let Ok(value) = evaluate(call, values) else { return false };
    let text = format!("{value} (as {})", scope.describe_value(&decisive));
    if decisive == *call || text.chars().count() > LONGEST_TEXT + LONGEST_VALUE {
        return false;
    }
    found.insert(call.to_string(), text);
    let is_new = !found.contains_key(&decisive.to_conjunct());
    collect_results(&decisive, &scope.values, found);
    collect_scalars(&decisive, &scope.values, found);
    if is_new {
        found.remove(&decisive.to_conjunct());
    }
    // The text of a quantifier does not show the elements of its collection.
    if let TermShape::Operation(DerivedOperation::Quantified(_), arguments) = decisive.shape()
        && let Some(collection) = arguments.first().filter(|collection| is_path(collection))
    {
        collect_values(collection, &scope.values, found);
    }
    true
}

/// Collects the value of a function that is a formula with calls in it, of moderate length, with the formula
/// and the values of its operations. Returns whether it did.
fn collect_formula(call: &Term, values: &Valuation, found: &mut BTreeMap<String, String>) -> bool {
    let Some((body, value)) = call.unfolded().zip(evaluate(call, values).ok()) else { return false };
    let text = format!("{value:#} (as `{body}`)");
    let has_calls = || list_subterms(vec![body.clone()]).iter().any(|part| part.unfolded().is_some());
    let is_formula = body.sort().is_number()
        && !has_quantifier(&body)
        && text.chars().count() <= LONGEST_TEXT + LONGEST_VALUE
        && has_calls();
    if is_formula {
        found.insert(call.to_string(), text);
        // Of what the operations read, short values are enough.
        let mut of_parts = BTreeMap::new();
        body.parts().into_iter().for_each(|part| collect_values(part, values, &mut of_parts));
        found.extend(of_parts.into_iter().filter(|(_, value)| value.chars().count() <= LONGEST_VALUE));
        body.parts().into_iter().for_each(|part| collect_results(part, values, found));
        let paths = call.parts().into_iter().filter(|argument| is_path(argument));
        paths.flat_map(list_indices).for_each(|index| collect_results(index, values, found));
    }
    is_formula
}

/// Opens a condition as far as its parts are conditions of moderate size.
fn open_decisive(condition: &Term, scope: &mut DecisiveScope) -> Term {
    let mut decisive = condition.clone();
    while let Some(opened) = open_condition(&decisive, scope)
        && opened.term.as_literal().is_none()
        && opened.term.written_size() <= LARGEST_WRITTEN
    {
        decisive = opened.term;
    }
    decisive
}

/// Names the branch that these terms have chosen, by the last two of them. `None` if the quoted condition
/// tells it, or the text is long.
pub(super) fn name_branch(deciders: &[Term], scope: &DecisiveScope) -> Option<String> {
    let describe = |decider: &Term, most: usize| {
        let (text, value) = (decider.to_string(), evaluate(decider, &scope.values));
        let value = value.map_or_else(|_| "undefined".to_owned(), |value| value.to_string());
        let is_new = (*decider.sort() == Type::Bool || !is_path(decider)) && !scope.quoted.contains(&text);
        let is_short = text.chars().count().max(value.chars().count()) <= most;
        (is_new && is_short).then(|| format!("`{text}` is {value}"))
    };
    let mut told = deciders.iter().rev().skip_while(|decider| text_length(decider) > LONGEST_TEXT);
    let last = describe(told.next()?, LONGEST_TEXT)?;
    let before = told.find_map(|decider| describe(decider, LONGEST_VALUE));
    Some(match before.filter(|before| *before != last) {
        Some(before) => format!("the branch where {before} and {last}"),
        None => format!("the branch where {last}"),
    })
}

/// Writes the value of a term. The counted values stand behind that of a count, and the reason behind that of
/// a search.
fn result_text(term: &Term, values: &Valuation) -> Option<String> {
    let text = format!("{:#}", evaluate(term, values).ok()?);
    let (quantified, arguments) = match term.shape() {
        TermShape::Operation(DerivedOperation::Quantified(quantified), arguments)
            if matches!(quantified.quantifier, Quantifier::Count | Quantifier::Find | Quantifier::Index) =>
        {
            (quantified, arguments)
        }
        _ => return Some(text),
    };
    let holding: Vec<(usize, Term)> = list_instances(quantified, arguments, values)
        .into_iter()
        .flatten()
        .enumerate()
        .filter(|(_, instance)| holds(instance, values) == Ok(true))
        .collect();
    let reason = match (quantified.quantifier, holding.as_slice()) {
        (_, []) => match find_searched(term, values) {
            Some(searched) => format!("no {} in {searched} fits", quantified.bound.name()),
            None => return Some(text),
        },
        (Quantifier::Count, counted) if counted.len() <= 2 * FEW_SHOWN => {
            let bound = list_bound_values(&quantified.domain, arguments, values)?;
            // An element of a list has a position, and a key or number a value.
            let is_element = bound.iter().any(|term| term.as_literal().is_none());
            let label = |(at, _): &(usize, Term)| match bound[*at].as_literal() {
                Some(value) => value.to_string(),
                None => format!("[{at}]"),
            };
            let labels: Vec<String> = counted.iter().map(label).collect();
            let sign = if is_element { "at" } else { "=" };
            format!("for {} {sign} {}", quantified.bound.name(), labels.join(", "))
        }
        (Quantifier::Find | Quantifier::Index, [(_, first), ..]) => {
            let decisive = open_decisive(first, &mut DecisiveScope::new(first, values, &[]));
            if text_length(&decisive) > LONGEST_VALUE {
                return Some(text);
            }
            format!("as `{decisive}` holds")
        }
        _ => return Some(text),
    };
    Some(format!("{text} ({reason})"))
}

/// Returns the short name of a collection in which a search finds nothing.
fn find_searched<'t>(search: &'t Term, values: &Valuation) -> Option<&'t Term> {
    let TermShape::Operation(DerivedOperation::Quantified(quantified), arguments) = search.shape() else {
        return None;
    };
    let is_search = matches!(quantified.quantifier, Quantifier::Find | Quantifier::Index);
    let collection = arguments.first().filter(|_| is_search && arguments.len() > quantified.read.len())?;
    let instances = list_instances(quantified, arguments, values)?;
    let is_in_vain = !instances.iter().any(|instance| holds(instance, values) == Ok(true));
    (is_in_vain && is_path(collection) && text_length(collection) <= LONGEST_VALUE / 2).then_some(collection)
}

/// Is it a number, or a list of numbers?
fn has_numbers(term: &Term) -> bool {
    term.sort().is_number() || term.sort().as_list().is_some_and(|(_, _, element)| element.is_number())
}

/// Collects the values of the data in a condition that are no collections, also of what functions read.
pub(super) fn collect_scalars(term: &Term, values: &Valuation, found: &mut BTreeMap<String, String>) {
    let value = |datum: &Datum| Some((datum.to_string(), format!("{:#}", values.get(datum)?)));
    let scalars = term.data();
    let scalars = scalars.iter().filter(|datum| !matches!(datum.ty(), Type::Record(_) | Type::Array(_)));
    found.extend(scalars.filter_map(value));
}

/// Collects the values of the data in a condition that are no collections, but not of what functions read.
fn collect_own_scalars(term: &Term, values: &Valuation, found: &mut BTreeMap<String, String>) {
    match term.shape() {
        TermShape::Operation(DerivedOperation::Call(function), arguments) => {
            arguments[..function.named].iter().for_each(|part| collect_own_scalars(part, values, found));
        }
        TermShape::Node(Node::Data(_)) => collect_scalars(term, values, found),
        _ => term.parts().into_iter().for_each(|part| collect_own_scalars(part, values, found)),
    }
}

/// Collects the values of the operations, elements and data in a condition, but not of what these read.
pub(super) fn collect_results(term: &Term, values: &Valuation, found: &mut BTreeMap<String, String>) {
    // The field that tells the alternative has no name that a user knows.
    if let Some((subject, ..)) = term.as_question() {
        return collect_results(subject, values, found);
    }
    match evaluate(term, values).ok().filter(|_| is_result(term)) {
        Some(_) if collect_condition(term, values, found) => {}
        Some(_) if term.unfolded().is_some() && collect_opened(term, values, found, collect_results) => {}
        Some(_) if let Some(body) = term.unfolded().filter(|body| body.written_size() <= 40) => {
            found.extend(result_text(&body, values).map(|text| (term.to_conjunct(), text)));
            if let Some(searched) = find_searched(&body, values) {
                collect_values(searched, values, found);
            }
            let counts = body.parts().into_iter().filter(|part| is_count(part));
            found.extend(counts.filter_map(|part| Some((part.to_conjunct(), result_text(part, values)?))));
        }
        Some(_) => found.extend(result_text(term, values).map(|text| (term.to_conjunct(), text))),
        None if term.written_size() > LARGEST_WRITTEN => {}
        None => term.parts().into_iter().for_each(|part| collect_results(part, values, found)),
    }
}

fn has_quantifier(term: &Term) -> bool {
    matches!(term.shape(), TermShape::Operation(DerivedOperation::Quantified(_), _))
        || term.parts().into_iter().any(has_quantifier)
}

fn is_count(term: &Term) -> bool {
    matches!(term.shape(), TermShape::Operation(DerivedOperation::Quantified(quantified), _)
        if quantified.quantifier == Quantifier::Count)
}

/// Is it an operation or a path, or a field of one, so that its value is listed under its text?
fn is_result(term: &Term) -> bool {
    match term.shape() {
        TermShape::Node(Node::Field(whole, _)) => {
            !matches!(whole.written(), Some(Node::Record(..))) && is_result(whole)
        }
        TermShape::Operation(..) => true,
        TermShape::Node(_) => is_path(term),
    }
}

/// Lists the indices in a path. The values of its wholes are not needed.
fn list_indices(path: &Term) -> Vec<&Term> {
    let (mut whole, mut indices) = (path, Vec::new());
    while let [inner_whole, its_indices @ ..] = whole.parts().as_slice() {
        indices.extend(its_indices);
        whole = *inner_whole;
    }
    indices
}
