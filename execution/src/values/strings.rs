//! Strings that find faults.
//!
//! A guard names the strings and the lengths at which a program decides: so strings are drawn from its
//! literals, whole and with something before or behind them, and with the lengths that it names and those
//! beside them. The others are short and plain, or odd: of letters of two to four bytes, marks that combine,
//! quotes and signs that formats use. No control characters: most formats of lines cannot carry them.
//! Whether the guard holds is for the caller to look at.

use coreach_model::random::Random;
use coreach_model::regular::RegularExpression;
use coreach_model::term::node::{Node, StringOperation};
use coreach_model::term::strings::expression;
use coreach_model::{Term, Value};

use crate::values::source::Source;

/// Strings that programs stumble over.
const ODD: [&str; 16] = [
    "",
    " ",
    " a ",
    "\"",
    "'",
    "\\",
    "a,b;c",
    "<a&b>",
    "%00%s",
    "../x",
    "0",
    "-1",
    "null",
    "\u{e9}\u{df}",
    "e\u{301}\u{202e}",
    "\u{20ac}\u{1f600}",
];

/// Longer strings are not made for a length that a guard names.
const LONGEST: i64 = 300;

/// Any string.
pub fn any(random: &mut Random) -> Value {
    Value::string(&if random.below(4) == 0 { odd(random).to_owned() } else { plain(random) })
}

/// A string for this condition, from the source, or from the next best where that has none: the source says
/// which.
pub fn string(condition: &Term, source: Source, seen: &[Value], random: &mut Random) -> (Value, Source) {
    let Named { words, lengths, expressions } = named(condition);
    if let Some(expression) = random.pick(&expressions).cloned()
        && random.below(4) > 0
    {
        return (Value::string(&of_expression(&expression, &lengths, random)), source);
    }
    let found = match source {
        Source::Boundary if !lengths.is_empty() => {
            let near = lengths[random.below(lengths.len())] + random.below(3) as i64 - 1;
            Some(of_length(usize::try_from(near).unwrap_or(0), &words, random))
        }
        Source::Small => Some(plain(random)),
        Source::Large => Some(odd(random).to_owned()),
        Source::Seen => {
            let strings = seen.iter().filter(|value| matches!(value, Value::String(_))).cloned();
            if let Some(value) = random.pick(&strings.collect::<Vec<_>>()) {
                return (value.clone(), source);
            }
            None
        }
        _ => None,
    };
    match found {
        Some(text) => (Value::string(&text), source),
        None => (Value::string(&beside_a_word(&words, random)), Source::Uniform),
    }
}

/// A word of the condition, whole or with something before or behind it; a plain string where there is none.
fn beside_a_word(words: &[String], random: &mut Random) -> String {
    let Some(word) = random.pick(words) else { return plain(random) };
    match random.below(4) {
        0 => format!("{word}{}", plain(random)),
        1 => format!("{}{word}", plain(random)),
        2 => format!("{word}{}", odd(random)),
        _ => word.clone(),
    }
}

/// A string of so many characters, which begins with a word of the condition or does not.
fn of_length(length: usize, words: &[String], random: &mut Random) -> String {
    let start = random.pick(words).filter(|_| random.below(2) == 0).cloned().unwrap_or_default();
    let filling = ['a', '0', ' ', '\u{e9}', '\u{1f600}'][random.below(5)];
    start.chars().chain(std::iter::repeat(filling)).take(length).collect()
}

fn plain(random: &mut Random) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let length = random.below(9);
    (0..length).map(|_| char::from(LETTERS[random.below(LETTERS.len())])).collect()
}

fn odd(random: &mut Random) -> &'static str {
    ODD[random.below(ODD.len())]
}

/// A word of the expression; of several the one whose length is nearest to one that the guard names.
fn of_expression(expression: &RegularExpression, lengths: &[i64], random: &mut Random) -> String {
    let Some(length) = random.pick(lengths).copied() else { return expression.word(random) };
    let words = (0..8).map(|_| expression.word(random));
    words.min_by_key(|word| (word.chars().count() as i64 - length).abs()).unwrap_or_default()
}

/// What a condition names, in order, each once.
#[derive(Default)]
struct Named {
    words: Vec<String>,
    /// The small numbers.
    lengths: Vec<i64>,
    expressions: Vec<RegularExpression>,
}

fn named(condition: &Term) -> Named {
    let mut named = Named::default();
    let (mut seen, mut work) = (std::collections::HashSet::new(), vec![condition]);
    while let Some(term) = work.pop() {
        if !seen.insert(term) {
            continue;
        }
        match term.node() {
            Node::OnStrings(StringOperation::Matches, arguments) => {
                named.expressions.extend(expression(arguments));
                work.push(&arguments[0]);
            }
            Node::Literal(Value::String(text)) => named.words.push(text.to_string()),
            Node::Literal(Value::Int(number)) => {
                named
                    .lengths
                    .extend(i64::try_from(number).ok().filter(|length| (0..=LONGEST).contains(length)));
            }
            _ => work.extend(term.children().into_iter().rev()),
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use coreach_model::term::evaluate::{Valuation, holds};
    use coreach_model::term::node::{Comparison, StringOperation};
    use coreach_model::{Datum, Type};

    use super::*;

    /// Precision: a guard that begins with a word and ends at a length is met by draws, at its edge too.
    #[test]
    fn strings_are_drawn_from_what_the_guard_names() {
        let key = Datum::new("key", Type::String);
        let word = Term::literal(Value::string("job-"));
        let starts = Term::on_strings(StringOperation::StartsWith, &[Term::datum(&key), word]);
        let short = Term::compare(Comparison::AtMost, &Term::datum(&key).length(), &Term::int(6));
        let guard = Term::and([starts, short]);
        let (mut random, seen) = (Random::new(1), [Value::string("job-1"), Value::int(3)]);
        let (mut right, mut lengths, mut used) = (0, BTreeSet::new(), BTreeSet::new());
        for round in 0..500 {
            let sources = [Source::Boundary, Source::Small, Source::Large, Source::Seen, Source::Uniform];
            let (value, source) = string(&guard, sources[round % sources.len()], &seen, &mut random);
            let Value::String(text) = &value else { unreachable!("{value}") };
            assert!(!text.contains(char::is_control), "{value}");
            used.insert(source);
            if holds(&guard, &Valuation::from([(key.clone(), value.clone())])) == Ok(true) {
                right += 1;
                lengths.insert(text.chars().count());
            }
        }
        assert!(right > 100, "{right}");
        assert_eq!(lengths, BTreeSet::from([4, 5, 6]));
        assert_eq!(used.len(), 5, "{used:?}");
    }
}
