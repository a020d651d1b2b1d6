//! Draws strings that find faults.
//!
//! A guard names the strings and the lengths at which a program decides. So half of the strings are known
//! ones, if the guard compares with them: those that it names, and those that this run has had. One of eight
//! is the neighbour of a known one: a character changed, one more, one less, the other case. The others match
//! an expression of the guard, have a length that it names or one next to it, are short and plain, or odd: of
//! letters of two to four bytes, marks that combine, quotes and signs that formats use. There are no control
//! characters, since most formats of lines cannot carry them. The caller evaluates the guard.

use coreach_model::random::Random;
use coreach_model::regular::RegularExpression;
use coreach_model::term::evaluate::{Valuation, holds};
use coreach_model::term::node::{Node, StringOperation};
use coreach_model::term::strings::expression;
use coreach_model::{Datum, Term, Value};

use crate::values::source::Pick;

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

/// No longer strings are made for a length that a guard names.
const LONGEST: i64 = 300;

/// Draws any string.
pub fn any(random: &mut Random) -> Value {
    Value::string(&if random.below(4) == 0 { draw_odd(random).to_owned() } else { draw_plain(random) })
}

/// Draws a string from the source, or from the next best one if the source has none. Returns the source, too.
/// `hints` are the condition's restrictions, `known` the strings of other guards.
pub fn draw_string(
    datum: &Datum,
    hints: &StringHints,
    source: Pick,
    seen: &[Value],
    known: &[Value],
    random: &mut Random,
) -> (Value, Pick) {
    let StringHints { words, lengths, expressions, own } = hints;
    let known: Vec<Value> =
        words.iter().map(|word| Value::string(word)).chain(known.iter().cloned()).collect();
    let fits = |value: &Value| {
        let valuation = Valuation::from([(datum.clone(), value.clone())]);
        matches!(value, Value::String(_)) && own.iter().all(|part| holds(part, &valuation) == Ok(true))
    };
    // A few known strings are tried for one that the guard allows.
    let allowed = (0..8).filter_map(|_| random.pick(&known)).find(|value| fits(value)).cloned();
    match (allowed, random.below(8)) {
        (Some(value), 0..=3) => return (value, Pick::Seen),
        (Some(Value::String(word)), 4) => {
            return (Value::string(&similar_word(&word, random)), Pick::Boundary);
        }
        _ => {}
    }
    if let Some(expression) = random.pick(expressions).cloned()
        && random.below(8) > 0
    {
        let value = Value::string(&draw_of_expression(&expression, lengths, random));
        if fits(&value) {
            return (value, source);
        }
        // If the guard refuses the words of the expression, a long one with a small change is at its edge.
        let words = (0..4).map(|_| expression.word(random)).collect::<Vec<_>>();
        let longest = words.into_iter().max_by_key(|word| word.chars().count()).unwrap_or_default();
        return (Value::string(&similar_word(&longest, random)), Pick::Boundary);
    }
    let drawn = match source {
        Pick::Boundary if !lengths.is_empty() => {
            let near = lengths[random.below(lengths.len())] + random.below(3) as i64 - 1;
            Some(draw_of_length(usize::try_from(near).unwrap_or(0), words, random))
        }
        Pick::Small => Some(draw_plain(random)),
        Pick::Large => Some(draw_odd(random).to_owned()),
        Pick::Seen => {
            let strings = seen.iter().filter(|value| matches!(value, Value::String(_))).cloned();
            if let Some(value) = random.pick(&strings.collect::<Vec<_>>()) {
                return (value.clone(), source);
            }
            None
        }
        _ => None,
    };
    match drawn {
        Some(text) => (Value::string(&text), source),
        None => (Value::string(&extend_word(words, random)), Pick::Uniform),
    }
}

/// Makes a string that a program may confuse with this one: it differs in a character, or in case.
fn similar_word(word: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = random.below(letters.len());
    match random.below(4) {
        0 if !letters.is_empty() => letters[at] = if letters[at] == 'a' { 'b' } else { 'a' },
        1 if !letters.is_empty() => drop(letters.remove(at)),
        2 if letters.iter().any(char::is_ascii_alphabetic) => {
            let other_case = |letter: &char| match letter.is_ascii_lowercase() {
                true => letter.to_ascii_uppercase(),
                false => letter.to_ascii_lowercase(),
            };
            return letters.iter().map(other_case).collect();
        }
        _ => letters.push(letters.last().copied().unwrap_or('a')),
    }
    letters.into_iter().collect()
}

/// Draws a word of the condition, perhaps with something around it; a plain string if there is no word.
fn extend_word(words: &[String], random: &mut Random) -> String {
    let Some(word) = random.pick(words) else { return draw_plain(random) };
    match random.below(4) {
        0 => format!("{word}{}", draw_plain(random)),
        1 => format!("{}{word}", draw_plain(random)),
        2 => format!("{word}{}", draw_odd(random)),
        _ => word.clone(),
    }
}

/// Draws a string of so many characters, which begins with a word of the condition half of the time.
fn draw_of_length(length: usize, words: &[String], random: &mut Random) -> String {
    let start = random.pick(words).filter(|_| random.below(2) == 0).cloned().unwrap_or_default();
    let filling = ['a', '0', ' ', '\u{e9}', '\u{1f600}'][random.below(5)];
    start.chars().chain(std::iter::repeat(filling)).take(length).collect()
}

fn draw_plain(random: &mut Random) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let length = random.below(9);
    (0..length).map(|_| char::from(LETTERS[random.below(LETTERS.len())])).collect()
}

fn draw_odd(random: &mut Random) -> &'static str {
    ODD[random.below(ODD.len())]
}

/// Draws a word of the expression; half of the time with a length near one that the guard names.
fn draw_of_expression(expression: &RegularExpression, lengths: &[i64], random: &mut Random) -> String {
    let near = random.pick(lengths).copied().filter(|_| random.below(2) == 0);
    let Some(length) = near else { return expression.word(random) };
    let words = (0..8).map(|_| expression.word(random));
    words.min_by_key(|word| (word.chars().count() as i64 - length).abs()).unwrap_or_default()
}

/// The strings, lengths and expressions that a condition names for a datum, in order, each once.
#[derive(Clone, Debug, Default)]
pub struct StringHints {
    words: Vec<String>,
    /// The small numbers in conjuncts that mention its length.
    lengths: Vec<i64>,
    expressions: Vec<RegularExpression>,
    /// The conjuncts that mention no other datum.
    own: Vec<Term>,
}

impl StringHints {
    /// Reads how a condition restricts the datum.
    pub fn read(condition: &Term, datum: &Datum) -> Self {
        let mut hints = StringHints::default();
        let mut seen = std::collections::HashSet::new();
        for conjunct in condition.conjuncts().iter().filter(|conjunct| conjunct.mentions(datum)) {
            let (mut numbers, mut asks_length) = (Vec::new(), false);
            let mut unvisited = vec![conjunct];
            while let Some(term) = unvisited.pop() {
                // The numbers of each conjunct count, also those that an earlier conjunct has.
                match term.node() {
                    Node::OnStrings(StringOperation::Length, _) => asks_length = true,
                    Node::Literal(Value::Int(number)) => numbers.extend(i64::try_from(number).ok()),
                    _ => {}
                }
                if !seen.insert(term.clone()) {
                    continue;
                }
                match term.node() {
                    Node::OnStrings(StringOperation::Matches, arguments) => {
                        hints.expressions.extend(expression(arguments));
                        unvisited.push(&arguments[0]);
                    }
                    Node::Literal(value) => collect_strings(value, &mut hints.words),
                    _ => unvisited.extend(term.children().into_iter().rev()),
                }
            }
            let is_length = |number: &i64| asks_length && (0..=LONGEST).contains(number);
            hints.lengths.extend(numbers.into_iter().filter(is_length));
        }
        hints.own = condition.conjuncts();
        hints.own.retain(|part| part.mentions(datum) && part.data().len() == 1);
        hints
    }
}

/// Collects the strings in a value, up to a limit.
fn collect_strings(value: &Value, found: &mut Vec<String>) {
    match value {
        _ if found.len() >= 64 => {}
        Value::String(text) => found.push(text.to_string()),
        Value::Record(_, fields) => fields.iter().for_each(|field| collect_strings(field, found)),
        Value::Array(array) => array.cells.iter().for_each(|(index, cell)| {
            collect_strings(index, found);
            collect_strings(cell, found);
        }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use coreach_model::Type;
    use coreach_model::term::node::Comparison;

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
            let sources = [Pick::Boundary, Pick::Small, Pick::Large, Pick::Seen, Pick::Uniform];
            let source = sources[round % sources.len()];
            let (value, source) =
                draw_string(&key, &StringHints::read(&guard, &key), source, &seen, &[], &mut random);
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

    /// Precision: a guard that refuses an expression gets words of it with a change, as one more character.
    #[test]
    fn strings_at_the_edge_of_an_expression_are_drawn() {
        let name = Datum::new("name", Type::String);
        let expression = Term::literal(Value::string("[a-z][a-z0-9]{0,3}"));
        let guard = Term::on_strings(StringOperation::Matches, &[Term::datum(&name), expression]).not();
        let (mut random, hints) = (Random::new(1), StringHints::read(&guard, &name));
        let mut draw = || draw_string(&name, &hints, Pick::Uniform, &[], &[], &mut random).0.to_string();
        let too_long = |text: &String| {
            let inner = text.trim_matches('"');
            inner.len() == 5 && inner.chars().all(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit())
        };
        assert!((0..200).map(|_| draw()).filter(too_long).count() > 10);
    }

    /// Precision: of an expression all lengths come, and known strings half of the time where they are
    /// compared, with neighbours.
    #[test]
    fn strings_of_an_expression_vary_and_known_ones_come_again() {
        let tag = Datum::new("tag", Type::String);
        let expression = Term::literal(Value::string("[a-z ]{0,8}"));
        let guard = Term::on_strings(StringOperation::Matches, &[Term::datum(&tag), expression]);
        let of_length =
            Term::compare(Comparison::AtLeast, &Term::datum(&Datum::new("n", Type::Int)), &Term::int(0));
        let guard = Term::and([guard, of_length]);
        let (mut random, mut lengths) = (Random::new(1), BTreeMap::new());
        for _ in 0..900 {
            let (value, _) =
                draw_string(&tag, &StringHints::read(&guard, &tag), Pick::Uniform, &[], &[], &mut random);
            let Value::String(text) = &value else { unreachable!("{value}") };
            *lengths.entry(text.chars().count()).or_insert(0) += 1;
        }
        assert!((0..=8).all(|length| lengths.get(&length).is_some_and(|count| *count > 40)), "{lengths:?}");
        assert!(lengths[&0] < 300, "{lengths:?}");
        let known = [Value::string("ab c")];
        let (mut same, mut near) = (0, 0);
        for _ in 0..400 {
            let (value, source) = draw_string(
                &tag,
                &StringHints::read(&guard, &tag),
                Pick::Uniform,
                &known,
                &known,
                &mut random,
            );
            same += usize::from(value == known[0]);
            near += usize::from(source == Pick::Boundary && value != known[0]);
        }
        assert!((180..260).contains(&same) && near > 20, "{same} {near}");
    }
}
