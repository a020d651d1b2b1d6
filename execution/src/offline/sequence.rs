//! Timed sequences: delays and events, one after the other (2012, Definition 1).

use coreach_model::iosts::{ActionId, ActionKind, Iosts};
use coreach_model::timed::Timed;
use coreach_model::{Value, codec};
use dashu::integer::UBig;
use dashu::rational::RBig;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Item {
    /// So much time passes; more than none.
    Delay(RBig),
    /// Something happens, at one instant.
    Event(ActionId, Vec<Value>),
}

/// A member, and the line of the file that it stands in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// From 1; 0 where there is no file.
    pub line: usize,
    pub item: Item,
}

/// Adjacent delays added, those of nothing left out.
pub fn normalized(sequence: impl IntoIterator<Item = Item>) -> Vec<Item> {
    let mut all: Vec<Item> = Vec::new();
    for item in sequence {
        match (all.last_mut(), item) {
            (_, Item::Delay(time)) if time == RBig::ZERO => {}
            (Some(Item::Delay(sum)), Item::Delay(time)) => *sum += time,
            (_, item) => all.push(item),
        }
    }
    all
}

pub fn duration(sequence: &[Item]) -> RBig {
    let delay = |item: &Item| if let Item::Delay(time) = item { Some(time.clone()) } else { None };
    sequence.iter().filter_map(delay).fold(RBig::ZERO, |sum, time| sum + time)
}

/// The delays, and of the events those that are wanted: an input or output projection, normalized.
pub fn projection(sequence: &[Item], is_wanted: impl Fn(ActionId) -> bool) -> Vec<Item> {
    let stays = |item: &&Item| match item {
        Item::Delay(_) => true,
        Item::Event(action, _) => is_wanted(*action),
    };
    normalized(sequence.iter().filter(stays).cloned())
}

/// Does the tester see this action and not send it? Outputs, and inputs that come from elsewhere.
pub fn is_observed(timed: &Timed, action: ActionId) -> bool {
    timed.graph().action(action).is_visible() && !timed.is_controllable(action)
}

/// `plan(8)`; with what it is: an output ends with `!`, an input with `?`.
pub fn event_text(iosts: &Iosts, action: ActionId, values: &[Value]) -> String {
    let action = iosts.action(action);
    let sign = if action.kind == ActionKind::Output { '!' } else { '?' };
    let values: Vec<String> = values.iter().map(codec::to_text).collect();
    format!("{}{sign}({})", action.name, values.join(", "))
}

/// A time, exactly: `0.25` where it is a decimal fraction, else `1/3`.
pub fn time_text(time: &RBig) -> String {
    let number = |value: u8| UBig::from(value);
    let mut rest = time.denominator().clone();
    let mut digits = 0usize;
    for factor in [number(2), number(5)] {
        let mut count = 0;
        while (&rest % &factor) == UBig::ZERO {
            rest /= &factor;
            count += 1;
        }
        digits = digits.max(count);
    }
    if !rest.is_one() {
        return format!("{}/{}", time.numerator(), time.denominator());
    }
    let scaled = (time * RBig::from(number(10).pow(digits))).numerator().to_string();
    let (sign, scaled) = scaled.strip_prefix('-').map_or(("", scaled.as_str()), |rest| ("-", rest));
    let scaled = format!("{scaled:0>width$}", width = digits + 1);
    let (whole, fraction) = scaled.split_at(scaled.len() - digits);
    if digits == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use coreach_model::number::real;

    use super::*;

    #[test]
    fn times_are_written_exactly() {
        for text in ["0", "7", "0.1", "-0.25", "12.000001", "1/3", "-2/7", "100", "0.03125"] {
            assert_eq!(time_text(&real(text, 20).unwrap()), text);
        }
        assert_eq!(time_text(&real("2.50", 20).unwrap()), "2.5");
    }

    #[test]
    fn normalizing_adds_what_stands_together() {
        let delay = |text: &str| Item::Delay(real(text, 20).unwrap());
        let event = Item::Event(ActionId(0), Vec::new());
        let sequence = [delay("0.1"), delay("0.2"), event.clone(), event.clone(), delay("0"), delay("1")];
        let expected = [delay("0.3"), event.clone(), event, delay("1")];
        assert_eq!(normalized(sequence.clone()), expected);
        assert_eq!(duration(&sequence), real("1.3", 20).unwrap());
        assert_eq!(projection(&sequence, |_| false), [delay("1.3")]);
    }
}
