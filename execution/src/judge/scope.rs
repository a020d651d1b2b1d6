//! The values by which a condition is explained, and how its parts are described with them.

use std::collections::BTreeSet;

use coreach_model::excerpt::join_words;
use coreach_model::limits::LONGEST_VALUE;
use coreach_model::term::TermShape;
use coreach_model::term::evaluate::{Undefined, Valuation, evaluate, holds};
use coreach_model::term::node::Node;
use coreach_model::term::operation::{DerivedOperation, StandardOperation};
use coreach_model::{Datum, Term, Value};

use crate::judge::excerpts::is_quoted;

/// The values by which a part of a condition is read, and the data of the event in it.
#[derive(Clone)]
pub(super) struct DecisiveScope {
    pub values: Valuation,
    pub of_event: Vec<Datum>,
    /// The names that the condition reads, and those of the event and of cases.
    pub names: BTreeSet<String>,
    /// The condition, if it is short enough to be quoted.
    pub quoted: String,
    /// What the event has in place of the side that is opened.
    pub seen: Option<Value>,
    /// How near the nearest missed branch is to what was seen, and the term by which it was missed.
    pub missed_by: Option<(Nearness, Term)>,
}

/// How near a value is to another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Nearness {
    #[default]
    Other,
    /// It has the same alternative of a variant.
    Alternative,
    Equal,
}

impl DecisiveScope {
    pub(super) fn new(condition: &Term, values: &Valuation, of_event: &[Datum]) -> Self {
        let read = condition.data();
        let names = read.iter().chain(of_event).map(|datum| datum.name().to_owned()).collect();
        let quoted = Some(condition.to_string()).filter(|text| is_quoted(text)).unwrap_or_default();
        let (values, of_event) = (values.clone(), of_event.to_vec());
        DecisiveScope { values, of_event, names, quoted, seen: None, missed_by: None }
    }

    pub(super) fn is_of_event(&self, term: &Term) -> bool {
        self.of_event.iter().any(|datum| term.mentions(datum))
    }

    pub(super) fn is_true(&self, part: &Term) -> bool {
        holds(part, &self.values) == Ok(true)
    }

    /// Says whether a part holds, or that none of its alternatives does.
    pub(super) fn describe_value(&self, part: &Term) -> String {
        match (self.is_true(part), part.written()) {
            (true, _) => format!("`{part}` holds"),
            _ if matches!(evaluate(part, &self.values), Err(error) if !matches!(error, Undefined::Unbound(_))) =>
            {
                format!("`{part}` has no value")
            }
            (false, Some(Node::Or(parts))) => {
                // What the state excludes is a premise: `a => b` demands `b` where `a` holds.
                let (of_state, of_event): (Vec<_>, Vec<_>) = match parts.split_at(part.premises()) {
                    ([], _) => parts.iter().partition(|part| !self.is_of_event(part)),
                    (premises, conclusion) => (premises.iter().collect(), conclusion.iter().collect()),
                };
                let premises: Vec<String> = of_state.iter().map(|part| format!("`{}`", part.not())).collect();
                match (of_event.as_slice(), premises.as_slice()) {
                    ([], _) | (_, []) => describe_none(parts.iter()),
                    // A premise that has no value does not hold.
                    _ if !of_state.iter().all(|part| self.is_true(&part.not())) => {
                        describe_none(parts.iter())
                    }
                    (_, [premise]) => format!("{premise} holds, but {}", describe_none(of_event)),
                    (_, premises) => {
                        format!("{} hold, but {}", join_words(premises, "and"), describe_none(of_event))
                    }
                }
            }
            (false, Some(Node::And(parts))) if !parts.iter().any(|part| self.is_true(part)) => {
                describe_none(parts)
            }
            (false, _) => format!("`{part}` does not"),
        }
    }

    /// Writes a comparison with the values of its sides, as far as they are short and not written there.
    pub(super) fn describe_sides(&self, part: &Term) -> String {
        let Some(Node::Compare(sign, a, b)) = part.written() else { return format!("`{part}`") };
        let value = |side: &Term| {
            let text = format!("{:#}", evaluate(side, &self.values).ok()?);
            (text.chars().count() <= LONGEST_VALUE / 2).then_some(text)
        };
        match (value(a), value(b)) {
            (Some(left), Some(right)) => format!("`{part}` ({left} {sign} {right})"),
            _ => format!("`{part}`"),
        }
    }
}

/// Says that none of these conditions holds.
pub(super) fn describe_none<'t>(parts: impl IntoIterator<Item = &'t Term>) -> String {
    let texts: Vec<String> = parts.into_iter().map(|part| format!("`{part}`")).collect();
    match texts.as_slice() {
        [only] => format!("{only} does not"),
        [one, other] => format!("neither {one} nor {other} holds"),
        several => format!("none of {} holds", several.join(", ")),
    }
}

pub(super) fn text_length(term: &Term) -> usize {
    term.to_string().chars().count()
}

/// Is it a datum, or a field or an element of one?
pub(super) fn is_path(term: &Term) -> bool {
    match term.shape() {
        TermShape::Node(Node::Data(_)) => true,
        TermShape::Node(Node::Field(whole, _) | Node::Select(whole, _)) => is_path(whole),
        TermShape::Operation(
            DerivedOperation::Standard(StandardOperation::Element | StandardOperation::ValueAt),
            whole,
        ) => is_path(&whole[0]),
        _ => false,
    }
}

/// Returns the body of a function that is called, and of the function that this calls, and so on.
pub(super) fn unfold_calls(term: &Term) -> Term {
    term.unfolded().map_or_else(|| term.clone(), |body| unfold_calls(&body))
}
