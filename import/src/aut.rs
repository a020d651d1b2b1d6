//! Reads Aldebaran's format: labelled transition systems as CADP and mCRL2 write them.
//!
//! ```text
//! file   = "des" "(" state "," count "," count ")"  { "(" state "," label "," state ")" }       a transition a line
//! label  = text | '"' text '"'                         up to the last comma of the line, as CADP reads it
//! text   = [ "?" | "!" ] gate [ "?" | "!" ] { offer } | gate "(" value { "," value } ")" | "i" | "tau"
//! offer  = ( "!" | "?" ) value                         with a space before the sign; without, it says the direction
//! ```
//!
//! **Meaning.** State 3 is the location `s3`, and every state is a location, even if no path reaches it. `i`
//! and `tau` are internal. A gate is an action, and its offers are the parameters `p1`, `p2`. The guard gives
//! their values. The same gate with another number of values is another action, and so is the same gate with
//! another direction. Each position has truth values or numbers. Any other value is a literal of one
//! enumeration, `Atom`.
//!
//! **Directions**: `?coin` and `coin?` are inputs, `!coffee` and `coffee!` outputs. `coffee !1` has no
//! direction, since it is an offer of LOTOS. See [`directions`](crate::directions).
//!
//! If the number of transitions differs from the header, the file may be cut off, and is refused.
//! **Cost**: linear time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use coreach_model::budget::MAX_DIGITS;
use coreach_model::iosts::{Action, Iosts, Location, Transition, TransitionOrigin};
use coreach_model::number::{self, count};
use coreach_model::numbered::Numbered;
use coreach_model::reader::collect::Collector;
use coreach_model::term::Substitution;
use coreach_model::types::EnumType;
use coreach_model::{ActionId, ActionKind, Datum, Diagnostic, LocationId, Origin, Term, Type, Value, budget};

use crate::directions::{Directions, direction_of_sign};
use crate::finish::Model;
use crate::names::Naming;
use crate::options::{Options, report_too_many};

/// The names of actions and values whose labels have no letter or digit.
pub(crate) const PLAIN_ACTION: &str = "a";
pub(crate) const PLAIN_VALUE: &str = "v";

pub(crate) struct Edge {
    pub from: u32,
    pub to: u32,
    pub event: AutEvent,
    pub label: Range<usize>,
    line: Range<usize>,
}

pub(crate) struct AutEvent {
    pub gate: String,
    pub sign: Option<ActionKind>,
    pub values: Vec<String>,
}

/// A labelled transition system. Its states are the numbers below `states`.
pub(crate) struct AutSystem {
    pub initial: u32,
    pub states: u32,
    pub edges: Vec<Edge>,
}

pub fn read(collector: &mut Collector, options: &Options) -> Option<Model> {
    let system = read_system(collector, options)?;
    let model = make_model(collector, options, &system);
    if collector.errors() > 0 { None } else { model }
}

/// Reads the transition system, and checks it against its header. `None`, if it certainly gives no model.
pub(crate) fn read_system(collector: &mut Collector, options: &Options) -> Option<AutSystem> {
    let file = collector.file.clone();
    let (header, edges) = read_lines(collector, &file.text, options.most)?;
    if collector.is_full() {
        return None;
    }
    let Some(AutHeader { initial, transitions, states, span }) = header else {
        if collector.errors() == 0 {
            let message = "expected `des (initial state, transitions, states)`";
            let end = file.text.trim_end().len().min(1);
            collector.error("syntax", message, &(0..end), "the file has no such line");
        }
        return None;
    };
    if transitions != edges.len() as u64 && collector.errors() == 0 {
        let message = format!("the header says {transitions} transitions, but the file has {}", edges.len());
        let diagnostic = Diagnostic::error("wrong-count", message).at(collector.origin(&span), "said here");
        collector.push(diagnostic.help("correct the header, or use the whole file if it was cut off"));
    }
    if states > options.most as u64 {
        report_too_many(collector, &span, "states", options.most);
        return None;
    }
    let states = u32::try_from(states).ok()?;
    let is_state = |number: u32| number < states;
    if !is_state(initial) {
        let message = format!("the initial state {initial} is not one of the {states} states");
        collector.error("unknown-state", message, &span, "states are numbered from 0");
    }
    for edge in &edges {
        for state in [edge.from, edge.to] {
            if !is_state(state) && !collector.is_full() {
                let message = format!("the state {state} is not one of the {states} states");
                collector.error("unknown-state", message, &edge.line, "states are numbered from 0");
            }
        }
    }
    Some(AutSystem { initial, states, edges })
}

struct AutHeader {
    initial: u32,
    transitions: u64,
    states: u64,
    span: Range<usize>,
}

/// Reads the header, if there is one, and the transitions. `None` if it is malformed, or a limit was reached.
fn read_lines(collector: &mut Collector, text: &str, most: usize) -> Option<(Option<AutHeader>, Vec<Edge>)> {
    let mut header = None;
    let mut edges = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        budget::ask();
        let trimmed = line.trim();
        let text_start = line_start + (line.len() - line.trim_start().len());
        let span = text_start..text_start + trimmed.len();
        line_start += line.len();
        if trimmed.is_empty() {
            continue;
        }
        if collector.is_full() {
            break;
        }
        if let Some(numbers) = trimmed.strip_prefix("des") {
            if header.is_some() {
                let message = "a second header: one file is one transition system";
                collector.error("syntax", message, &span, "the second one");
                continue;
            }
            header = Some(read_header(collector, numbers, &span)?);
            continue;
        }
        if edges.len() == most {
            report_too_many(collector, &span, "transitions", most);
            return None;
        }
        edges.extend(read_edge(collector, trimmed, &span));
    }
    Some((header, edges))
}

/// Reads the three numbers of the header, in their brackets. Reports any other text.
fn read_header(collector: &mut Collector, text: &str, span: &Range<usize>) -> Option<AutHeader> {
    let inner = text.trim().strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let numbers: Vec<Option<u64>> =
        inner.into_iter().flat_map(|inner| inner.split(',')).map(|part| count(part.trim())).collect();
    if let [Some(initial), Some(transitions), Some(states)] = numbers[..] {
        // A number beyond `u32` is no state, and neither is the greatest one.
        let initial = u32::try_from(initial).unwrap_or(u32::MAX);
        return Some(AutHeader { initial, transitions, states, span: span.clone() });
    }
    let message = "expected `des (initial state, transitions, states)`, three numbers";
    let diagnostic = Diagnostic::error("syntax", message).at(collector.origin(span), "not such a header");
    collector.push(diagnostic.help("coreach reads one initial state, not a set or a distribution"));
    None
}

/// Reads one transition: two states and a label between them.
fn read_edge(collector: &mut Collector, line: &str, span: &Range<usize>) -> Option<Edge> {
    let parts = || {
        let inner = line.strip_prefix('(')?.strip_suffix(')')?;
        // The label may have commas itself.
        let (first, label_and_last) = inner.split_once(',')?;
        let (label, last) = label_and_last.rsplit_once(',')?;
        Some((first, label, last))
    };
    let Some((first, label, last)) = parts() else {
        let message = "expected a transition, `(from, \"label\", to)`";
        collector.error("syntax", message, span, "not a transition");
        return None;
    };
    let state = |text: &str| u32::try_from(count(text.trim())?).ok();
    let (Some(from), Some(to)) = (state(first), state(last)) else {
        let message = "a transition must begin and end with the number of a state";
        collector.error("syntax", message, span, "not numbers of states");
        return None;
    };
    // Before the label stand the bracket, the first state, a comma and spaces.
    let start = span.start + 1 + first.len() + 1 + (label.len() - label.trim_start().len());
    let mut label_span = start..start + label.trim().len();
    let mut label = label.trim();
    if let Some(inner) = label.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        label = inner;
        label_span = label_span.start + 1..label_span.end - 1;
    }
    let event = match read_event(label) {
        Ok(event) => event,
        Err((message, within)) => {
            let place = label_span.start + within.start..label_span.start + within.end;
            collector.error("label", message, &place, "in this label");
            return None;
        }
    };
    Some(Edge { from, to, event, label: label_span, line: span.clone() })
}

/// Splits a label into its parts. The error is a message with its place in the label.
fn read_event(label: &str) -> Result<AutEvent, (String, Range<usize>)> {
    if matches!(label, "i" | "tau") {
        return Ok(AutEvent { gate: label.to_owned(), sign: Some(ActionKind::Internal), values: Vec::new() });
    }
    let mut sign = label.chars().next().and_then(direction_of_sign);
    let gate_start = usize::from(sign.is_some());
    let unsigned = &label[gate_start..];
    let gate = unsigned[..unsigned.find([' ', '\t', '!', '?', '(']).unwrap_or(unsigned.len())].to_owned();
    // The byte up to which the label was read.
    let mut next = gate_start + gate.len();
    if gate.is_empty() {
        return Err(("a label without a name".to_owned(), 0..label.len()));
    }
    let sign_at = |byte: usize| label[byte..].chars().next().and_then(direction_of_sign);
    let mut values = Vec::new();
    // A sign directly behind the gate is its direction. Behind a space it begins an offer.
    if let Some(sign_behind) = sign_at(next) {
        if sign.is_some_and(|sign| sign != sign_behind) {
            return Err(("a label with two directions".to_owned(), 0..label.len()));
        }
        sign = Some(sign_behind);
        next += 1;
        // `coin?5`, but not `coin?(5)`
        if label[next..].starts_with(|c: char| !c.is_whitespace() && !matches!(c, '!' | '?' | '(')) {
            next = read_value(label, next, &mut values);
        }
    }
    // `coin(5)`
    if let Some(inner) = label[next..].trim_end().strip_prefix('(') {
        let Some(inner) = inner.strip_suffix(')') else {
            return Err(("the brackets do not end with the label".to_owned(), next..label.len()));
        };
        values.extend(split_arguments(inner).into_iter().map(str::to_owned));
        next = label.len();
    }
    while !label[next..].trim().is_empty() {
        next += label[next..].len() - label[next..].trim_start().len();
        if sign_at(next).is_none() {
            return Err(("expected an offer, `!value`".to_owned(), next..label.len()));
        }
        next = read_value(label, next + 1, &mut values);
    }
    if values.iter().any(String::is_empty) {
        return Err(("an offer without a value".to_owned(), 0..label.len()));
    }
    // `?x:Nat`, but not `"a:b"` or `f(a:b)`
    if let Some(offer) = values.iter().find(|value| value.contains(':') && !value.contains(['"', '('])) {
        let message = format!("the offer `{offer}` has no value: each offer in a label needs a value");
        return Err((message, 0..label.len()));
    }
    Ok(AutEvent { gate, sign, values })
}

/// Adds the value that begins at this byte, and returns its end.
fn read_value(label: &str, start: usize, values: &mut Vec<String>) -> usize {
    let end = start + find_value_end(&label[start..]);
    values.push(label[start..end].trim().to_owned());
    end
}

/// Finds the end of a value, which is before the space and the sign of the next offer.
fn find_value_end(text: &str) -> usize {
    let begins_offer = |&(offset, c): &(usize, char)| {
        offset > 0 && matches!(c, '!' | '?') && text[..offset].ends_with(char::is_whitespace)
    };
    list_separators(text).find(begins_offer).map_or(text.len(), |(offset, _)| offset)
}

/// Splits the text between the brackets of `coin(5, x)` at its commas.
fn split_arguments(text: &str) -> Vec<&str> {
    let mut start = 0;
    let mut arguments = Vec::new();
    for (offset, _) in list_separators(text).filter(|(_, c)| *c == ',') {
        arguments.push(text[start..offset].trim());
        start = offset + 1;
    }
    arguments.push(text[start..].trim());
    arguments
}

/// Lists the characters outside of brackets and quotes, with their offsets: they can separate values.
fn list_separators(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut depth, mut quoted) = (0usize, false);
    text.char_indices().filter(move |(_, c)| {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && !quoted
    })
}

/// The sort of a value. The greater of two number sorts includes the other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LabelSort {
    Truth,
    Integer,
    Real,
    Atom,
}

fn sort_of(value: &str) -> LabelSort {
    match value {
        "true" | "false" | "TRUE" | "FALSE" => LabelSort::Truth,
        _ if number::integer(value, MAX_DIGITS).is_ok() => LabelSort::Integer,
        _ if number::number(value, MAX_DIGITS).is_ok() => LabelSort::Real,
        _ => LabelSort::Atom,
    }
}

fn common_sort(a: LabelSort, b: LabelSort) -> LabelSort {
    // A truth value and a number have no common sort but `Atom`.
    if (a == LabelSort::Truth) != (b == LabelSort::Truth) { LabelSort::Atom } else { a.max(b) }
}

/// A future action: a gate with a direction and a number of values.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Variant<'a> {
    pub gate: &'a str,
    pub kind: ActionKind,
    pub values: usize,
}

/// Makes the model. Passes over the edges find actions and types, then the literals, then make transitions.
fn make_model(collector: &mut Collector, options: &Options, system: &AutSystem) -> Option<Model> {
    let AutSystem { initial, states, edges } = system;
    let gates: BTreeSet<&str> = edges.iter().map(|edge| edge.event.gate.as_str()).collect();
    let mut directions = Directions::new(collector, options, &gates);
    let mut variants: Vec<(Variant<'_>, Origin)> = Vec::new();
    let mut action_of: HashMap<Variant<'_>, ActionId> = HashMap::new();
    let mut sorts: Numbered<ActionId, Vec<Option<LabelSort>>> = Numbered::new();
    let mut action_of_edge = Vec::new();
    // The actions, and the sort of each of their positions.
    for edge in edges {
        let origin = collector.origin(&edge.label);
        let kind = directions.find(collector, &edge.event.gate, edge.event.sign, &origin);
        let values = if kind == Some(ActionKind::Internal) { 0 } else { edge.event.values.len() };
        // A missing direction was reported, so no model is made.
        let Some(kind) = kind else { continue };
        let variant = Variant { gate: edge.event.gate.as_str(), kind, values };
        let number = *action_of.entry(variant).or_insert_with(|| {
            variants.push((variant, origin));
            sorts.push(vec![None; values])
        });
        if kind == ActionKind::Internal && !edge.event.values.is_empty() {
            let message = "internal actions carry no values: they are left out";
            let warning = Diagnostic::warning("values-lost", message);
            collector.push(warning.at(collector.origin(&edge.label), "with values"));
        }
        for (sort, value) in sorts[number].iter_mut().zip(&edge.event.values) {
            let new = sort_of(value);
            *sort = Some(sort.map_or(new, |old| common_sort(old, new)));
        }
        action_of_edge.push(number);
    }
    if collector.errors() > 0 {
        return None;
    }
    // The literals are all values at positions of the sort `Atom`.
    let mut atoms: BTreeMap<&str, Origin> = BTreeMap::new();
    for (edge, number) in edges.iter().zip(&action_of_edge) {
        for (value, sort) in edge.event.values.iter().zip(&sorts[*number]) {
            if *sort == Some(LabelSort::Atom) {
                atoms.entry(value).or_insert_with(|| collector.origin(&edge.label));
            }
        }
    }
    let atom_names = atoms.iter().map(|(name, origin)| (*name, Some(origin.clone())));
    let literals = Naming::of(atom_names, &BTreeSet::new(), PLAIN_VALUE);
    literals.warn_of_changes(collector, "values");
    let enumeration = Arc::new(EnumType {
        name: "Atom".to_owned(),
        literals: atoms.keys().map(|atom| literals.get(atom).to_owned()).collect(),
    });
    let actions = make_actions(collector, &variants, &sorts, &literals.all(), &enumeration);
    let locations = (0..*states).map(|state| Location::named(format!("s{state}"))).collect();
    let mut transitions = Numbered::new();
    for (edge, number) in edges.iter().zip(&action_of_edge) {
        let action: &Action = &actions[*number];
        let guard = action.parameters.iter().zip(&edge.event.values).map(|(parameter, value)| {
            // The type was found from this value among others, so no default is ever taken.
            let value = match parameter.ty() {
                Type::Bool => Value::Bool(value.eq_ignore_ascii_case("true")),
                Type::Enum(_) => {
                    let name = literals.get(value);
                    let position = enumeration.literals.iter().position(|literal| literal == name);
                    Value::Enum(enumeration.clone(), position.unwrap_or_default())
                }
                Type::Int => Value::Int(number::integer(value, MAX_DIGITS).unwrap_or_default()),
                _ => Value::Real(number::number(value, MAX_DIGITS).unwrap_or_default()),
            };
            Term::equal(&Term::datum(parameter), &Term::literal(value))
        });
        transitions.push(Transition {
            source: LocationId(edge.from),
            action: *number,
            guard: Term::and(guard),
            assignments: Substitution::new(),
            target: LocationId(edge.to),
            origin: TransitionOrigin { whole: Some(collector.origin(&edge.line)), ..Default::default() },
        });
    }
    let initial = LocationId(*initial);
    let iosts = Iosts { initial, locations, actions, transitions, ..Iosts::default() };
    let is_used = !enumeration.literals.is_empty();
    let types = if is_used { vec![("Atom".to_owned(), Type::Enum(enumeration))] } else { Vec::new() };
    Some(Model { iosts, types, time: None, open: Vec::new() })
}

impl Variant<'_> {
    /// Writes the name, which [`Naming`] then makes usable. The caller asks for the direction, or for the
    /// number of values, if the gate's variants differ in it. So all of them have it in the name, or none.
    pub fn name(&self, has_direction: bool, has_values: bool) -> String {
        let direction = match self.kind {
            _ if !has_direction => "",
            ActionKind::Input => " input",
            ActionKind::Internal => " internal",
            ActionKind::Output | ActionKind::Quiescence => " output",
        };
        let values = if has_values { format!(" {}", self.values) } else { String::new() };
        format!("{}{direction}{values}", self.gate)
    }
}

/// Makes the actions, with names that are different for all variants of a gate. A purpose finds them by these
/// names (`aut_purpose::find_variants`).
fn make_actions(
    collector: &mut Collector,
    variants: &[(Variant<'_>, Origin)],
    sorts: &Numbered<ActionId, Vec<Option<LabelSort>>>,
    literals: &BTreeSet<String>,
    enumeration: &Arc<EnumType>,
) -> Numbered<ActionId, Action> {
    let mut names: Vec<String> = Vec::new();
    for (variant, _) in variants {
        let same_gate = || variants.iter().map(|(other, _)| other).filter(|other| other.gate == variant.gate);
        let has_direction = same_gate().any(|other| other.kind != variant.kind);
        names.push(variant.name(has_direction, same_gate().any(|other| other.values != variant.values)));
    }
    let places = variants.iter().map(|(_, origin)| Some(origin.clone()));
    let naming = Naming::of(names.iter().map(String::as_str).zip(places), &BTreeSet::new(), PLAIN_ACTION);
    naming.warn_of_changes(collector, "actions");
    let mut actions = Numbered::new();
    for (((variant, _), name), sorts) in variants.iter().zip(&names).zip(sorts) {
        let numbers: Vec<String> = (1..=sorts.len()).map(|number| format!("p{number}")).collect();
        let parameter_names = Naming::of(numbers.iter().map(|name| (name.as_str(), None)), literals, "p");
        let parameters = numbers.iter().zip(sorts).map(|(number, sort)| {
            let ty = match sort {
                Some(LabelSort::Truth) => Type::Bool,
                Some(LabelSort::Real) => Type::Real,
                Some(LabelSort::Atom) => Type::Enum(enumeration.clone()),
                Some(LabelSort::Integer) | None => Type::Int,
            };
            Datum::new(parameter_names.get(number), ty)
        });
        let (name, kind) = (naming.get(name).to_owned(), variant.kind);
        actions.push(Action { name, kind, parameters: parameters.collect() });
    }
    actions
}
