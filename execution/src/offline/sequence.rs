//! Timed sequences: delays and events, one after the other (2012, Definition 1).

use coreach_model::iosts::{ActionId, ActionKind, Iosts};
pub use coreach_model::number::time_text;
use coreach_model::timed::Timed;
use coreach_model::{Value, codec};
use dashu_ratio::RBig;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SeqItem {
    /// So much time passes, more than 0.
    Delay(RBig),
    Event(ActionId, Vec<Value>),
}

/// A member, with its line in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// From 1; 0 if there is no file.
    pub line: usize,
    pub item: SeqItem,
}

/// Adds adjacent delays, and leaves out delays of 0.
pub fn normalize(sequence: impl IntoIterator<Item = SeqItem>) -> Vec<SeqItem> {
    let mut normalized: Vec<SeqItem> = Vec::new();
    for item in sequence {
        match (normalized.last_mut(), item) {
            (_, SeqItem::Delay(time)) if time == RBig::ZERO => {}
            (Some(SeqItem::Delay(sum)), SeqItem::Delay(time)) => *sum += time,
            (_, item) => normalized.push(item),
        }
    }
    normalized
}

pub fn total_duration(sequence: &[SeqItem]) -> RBig {
    let mut total = RBig::ZERO;
    for item in sequence {
        if let SeqItem::Delay(time) = item {
            total += time;
        }
    }
    total
}

/// Keeps the delays and the wanted events: an input or output projection, normalized.
pub fn projection(sequence: &[SeqItem], is_wanted: impl Fn(ActionId) -> bool) -> Vec<SeqItem> {
    let is_kept = |item: &&SeqItem| match item {
        SeqItem::Delay(_) => true,
        SeqItem::Event(action, _) => is_wanted(*action),
    };
    normalize(sequence.iter().filter(is_kept).cloned())
}

/// Does the tester see this action and not send it? Outputs, and inputs that come from elsewhere.
pub fn is_observed(timed: &Timed, action: ActionId) -> bool {
    timed.graph().action(action).is_visible() && !timed.is_controllable(action)
}

/// Returns the text of an event, with its kind: `plan?(8)` for an input, `plan!(8)` for an output.
pub fn event_text(iosts: &Iosts, action: ActionId, values: &[Value]) -> String {
    let action = iosts.action(action);
    let sign = if action.kind == ActionKind::Output { '!' } else { '?' };
    let values: Vec<String> = values.iter().map(codec::to_text).collect();
    format!("{}{sign}({})", action.name, values.join(", "))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use coreach_model::number::real;

    use super::*;

    #[test]
    fn normalizing_adds_what_stands_together() {
        let delay = |text: &str| SeqItem::Delay(real(text, 20).unwrap());
        let event = SeqItem::Event(ActionId(0), Vec::new());
        let sequence = [delay("0.1"), delay("0.2"), event.clone(), event.clone(), delay("0"), delay("1")];
        let expected = [delay("0.3"), event.clone(), event, delay("1")];
        assert_eq!(normalize(sequence.clone()), expected);
        assert_eq!(total_duration(&sequence), real("1.3", 20).unwrap());
        assert_eq!(projection(&sequence, |_| false), [delay("1.3")]);
    }
}
