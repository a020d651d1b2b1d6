//! Regular expressions of `matches(s, "...")`: one dialect that everything that evaluates a term can do.
//!
//! Engines differ in the meaning of `.`, `\d`, `^`, lazy and possessive repetitions, and classes within
//! classes. So the dialect has only the parts on which all of them agree. A shorthand is written out when it
//! is read. So the text that [`RegularExpression`] prints means the same to Rust, Python, JavaScript (with
//! its flag `u`) and, by its structure, to a solver. The whole string is matched, always.
//!
//! Cost: matching is left to the crate `regex`, whose time is linear in the string, whatever the expression
//! is (`(a+)+` too). An expression is compiled once per thread. The size of an expression is limited, counted
//! with its repetitions written out.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

use crate::limits::DEEPEST;
use crate::random::Random;

/// The greatest number of times that a repetition may count.
const MOST_TIMES: u32 = 1_000;
/// The most characters of an expression, its repetitions written out.
const MOST_CHARACTERS: usize = 5_000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegularExpression {
    /// One character of these ranges, both ends included. The ranges are in order, with at least one
    /// character between them.
    Character(Vec<(char, char)>),
    /// These parts one after the other. Without parts it is the empty string.
    Sequence(Vec<RegularExpression>),
    /// One of these parts. There are at least two.
    Either(Vec<RegularExpression>),
    /// The part repeated at least so many times, and at most so many times if there is a second number.
    Repeated(Box<RegularExpression>, u32, Option<u32>),
}

impl RegularExpression {
    /// Reads an expression of the dialect. The error says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reading = PatternReading { unread: text.chars().peekable(), depth: 0 };
        let expression = reading.read_alternatives()?;
        match reading.unread.next() {
            // The reading of alternatives ends only before a `)`, or at the end.
            Some(_) => Err("a `)` closes nothing; write `\\)` for the sign itself".to_owned()),
            None if expression.size() > MOST_CHARACTERS => {
                Err(format!("with its repetitions written out it has more than {MOST_CHARACTERS} characters"))
            }
            None => Ok(expression),
        }
    }

    /// The fewest and the most characters of the strings that it matches. `None` if there is no most.
    pub fn lengths(&self) -> (usize, Option<usize>) {
        match self {
            Self::Character(_) => (1, Some(1)),
            Self::Sequence(parts) => {
                let (fewest, most): (Vec<usize>, Vec<_>) = parts.iter().map(Self::lengths).unzip();
                (fewest.into_iter().sum(), most.into_iter().sum())
            }
            Self::Either(parts) => {
                let (fewest, most): (Vec<usize>, Vec<_>) = parts.iter().map(Self::lengths).unzip();
                let most: Option<Vec<usize>> = most.into_iter().collect();
                (fewest.into_iter().min().unwrap_or(0), most.and_then(|most| most.into_iter().max()))
            }
            Self::Repeated(part, least_times, most_times) => {
                let (fewest, most) = part.lengths();
                let most = match (most, most_times) {
                    // The empty string stays empty, however often it is repeated.
                    (Some(0), _) => Some(0),
                    (most, times) => most.zip(*times).map(|(most, times)| most * times as usize),
                };
                (fewest * *least_times as usize, most)
            }
        }
    }

    /// Draws a random string that it matches. A repetition takes each of the first numbers of times alike,
    /// and its least and its greatest number more often.
    pub fn word(&self, random: &mut Random) -> String {
        let mut word = String::new();
        self.append_word(random, &mut word);
        word
    }

    /// Appends a random string that it matches to `word`.
    fn append_word(&self, random: &mut Random, word: &mut String) {
        match self {
            Self::Character(ranges) => {
                // Prefer plain characters: systems are seldom asked with others.
                let plain = ranges.iter().map(|(low, high)| ((*low).max(' '), (*high).min('~')));
                let plain: Vec<_> = plain.filter(|(low, high)| low <= high).collect();
                let (low, high) = match plain.is_empty() || random.below(16) == 0 {
                    true => ranges[random.below(ranges.len())],
                    // Draw a range by its size, but sometimes draw all ranges alike: a class of one character
                    // must come, and must not be half of a word.
                    false if random.below(4) == 0 => plain[random.below(plain.len())],
                    false => {
                        // The number of a character, counted from the first range on.
                        let mut number = random.below(plain.iter().map(|range| size_of_range(*range)).sum());
                        let mut drawn = 0;
                        while number >= size_of_range(plain[drawn]) {
                            number -= size_of_range(plain[drawn]);
                            drawn += 1;
                        }
                        plain[drawn]
                    }
                };
                let offset = random.below(size_of_range((low, high))) as u32;
                // Some codes are of no character.
                word.push(char::from_u32(u32::from(low) + offset).unwrap_or(low));
            }
            Self::Sequence(parts) => parts.iter().for_each(|part| part.append_word(random, word)),
            Self::Either(parts) => parts[random.below(parts.len())].append_word(random, word),
            Self::Repeated(part, least, most) => {
                let most = most.unwrap_or(least + 8);
                let times = match random.below(12) {
                    0 => *least,
                    1 => most,
                    _ => least + random.below((most - least).min(16) as usize + 1) as u32,
                };
                (0..times).for_each(|_| part.append_word(random, word));
            }
        }
    }

    /// Counts its characters, repetitions written out. The empty string is one, since it takes work too.
    fn size(&self) -> usize {
        match self {
            Self::Character(_) => 1,
            Self::Sequence(parts) | Self::Either(parts) => {
                parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.size())).max(1)
            }
            Self::Repeated(part, least, most) => {
                part.size().saturating_mul(most.unwrap_or(*least).max(1) as usize)
            }
        }
    }
}

fn size_of_range((low, high): (char, char)) -> usize {
    (u32::from(high) - u32::from(low)) as usize + 1
}

/// Does the printed expression match the whole string? `None` if the text is no expression.
pub(crate) fn matches(expression: &str, text: &str) -> Option<bool> {
    thread_local!(static COMPILED: RefCell<HashMap<String, regex::Regex>> = RefCell::default());
    COMPILED.with_borrow_mut(|compiled| {
        if let Some(known) = compiled.get(expression) {
            return Some(known.is_match(text));
        }
        let printed = RegularExpression::parse(expression).ok()?.to_string();
        let compiled_regex =
            regex::RegexBuilder::new(&format!(r"\A(?:{printed})\z")).size_limit(1 << 28).build().ok()?;
        // A compiled expression may be large.
        if compiled.len() >= 200 {
            compiled.clear();
        }
        Some(compiled.entry(expression.to_owned()).or_insert(compiled_regex).is_match(text))
    })
}

struct PatternReading<'a> {
    unread: Peekable<Chars<'a>>,
    depth: usize,
}

impl PatternReading<'_> {
    fn read_alternatives(&mut self) -> Result<RegularExpression, String> {
        let mut parts = vec![self.read_sequence()?];
        while self.unread.next_if_eq(&'|').is_some() {
            parts.push(self.read_sequence()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { RegularExpression::Either(parts) })
    }

    fn read_sequence(&mut self) -> Result<RegularExpression, String> {
        let mut parts = Vec::new();
        while let Some(c) = self.unread.next_if(|c| !matches!(c, '|' | ')')) {
            let part = self.read_part(c)?;
            parts.push(self.read_repetition(part)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { RegularExpression::Sequence(parts) })
    }

    /// Reads the character, the class or the group that begins with `first`.
    fn read_part(&mut self, first: char) -> Result<RegularExpression, String> {
        match first {
            '(' => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(format!("parentheses are nested more than {DEEPEST} deep"));
                }
                if self.unread.next_if_eq(&'?').is_some() && self.unread.next() != Some(':') {
                    return Err("only `(?:` is known: there are no names, flags, lookarounds or references"
                        .to_owned());
                }
                let group = self.read_alternatives()?;
                self.depth -= 1;
                // The reading of alternatives ends only before a `)`, or at the end.
                match self.unread.next() {
                    Some(_) => Ok(group),
                    None => Err("a `(` is not closed; write `\\(` for the sign itself".to_owned()),
                }
            }
            '[' => self.read_class(),
            '.' => Ok(RegularExpression::Character(complement(&[('\n', '\n')]))),
            '\\' => Ok(RegularExpression::Character(self.read_escape()?)),
            '^' | '$' => Err(format!(
                "the whole string is matched without `{first}`; write `\\{first}` for the sign itself"
            )),
            '*' | '+' | '?' | '{' | '}' | ']' => {
                Err(format!("nothing to repeat before `{first}`; write `\\{first}` for the sign itself"))
            }
            c => Ok(RegularExpression::Character(vec![(c, c)])),
        }
    }

    /// Reads `*`, `+`, `?` or `{3,5}` after a part. Without one of these, the part stays as it is.
    fn read_repetition(&mut self, part: RegularExpression) -> Result<RegularExpression, String> {
        let (least, most) = match self.unread.next_if(|c| matches!(c, '*' | '+' | '?' | '{')) {
            None => return Ok(part),
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some(_) => self.read_counts()?,
        };
        if let Some(c) = self.unread.next_if(|c| matches!(c, '*' | '+' | '?' | '{')) {
            return Err(format!(
                "`{c}` follows a repetition: write `(?:...)` around a part to repeat it again; there are no \
                lazy or possessive repetitions"
            ));
        }
        Ok(RegularExpression::Repeated(Box::new(part), least, most))
    }

    /// Reads the numbers after a `{`: the least and the most times. The second is `None` in `{3,}`.
    fn read_counts(&mut self) -> Result<(u32, Option<u32>), String> {
        let least = self.read_number()?;
        let most = match self.unread.next_if_eq(&',') {
            None => Some(least),
            Some(_) if self.unread.peek() == Some(&'}') => None,
            Some(_) => Some(self.read_number()?),
        };
        let is_in_order = most.is_none_or(|most| least <= most);
        match self.unread.next() {
            Some('}') if is_in_order => Ok((least, most)),
            Some('}') => Err("write the smaller number of a repetition first".to_owned()),
            _ => Err("write a repetition as `{3}`, `{3,}` or `{3,5}`".to_owned()),
        }
    }

    fn read_number(&mut self) -> Result<u32, String> {
        let mut digits = String::new();
        while let Some(c) = self.unread.next_if(char::is_ascii_digit) {
            digits.push(c);
        }
        match digits.parse() {
            Ok(number) if number <= MOST_TIMES => Ok(number),
            Err(_) if digits.is_empty() => Err("write a repetition as `{3}`, `{3,}` or `{3,5}`".to_owned()),
            _ => Err(format!("the number of a repetition is at most {MOST_TIMES}")),
        }
    }

    /// Reads the characters of a class whose `[` has been read.
    fn read_class(&mut self) -> Result<RegularExpression, String> {
        let is_negated = self.unread.next_if_eq(&'^').is_some();
        let mut ranges = Vec::new();
        loop {
            let member = match self.unread.next() {
                Some(']') if !ranges.is_empty() => break,
                Some(']') => return Err("a class is empty; write `\\]` for the sign itself".to_owned()),
                first => self.read_class_member(first)?,
            };
            // A `-` that is first or last is itself.
            let mut ahead = self.unread.clone();
            let is_range = ahead.next() == Some('-') && ahead.next() != Some(']');
            // An escape of several characters begins no range: the `-` after it is itself.
            let low = match member[..] {
                [(low, high)] if low == high && is_range => low,
                _ => {
                    ranges.extend(member);
                    continue;
                }
            };
            self.unread.next();
            let last = self.unread.next();
            match self.read_class_member(last)?[..] {
                [(high, end)] if high == end && low <= high => ranges.push((low, high)),
                _ => {
                    return Err(
                        "a range in a class goes from a character to a later one, as in `a-z`".to_owned()
                    );
                }
            }
        }
        let ranges = if is_negated { complement(&ranges) } else { merge_ranges(ranges) };
        match ranges.is_empty() {
            true => Err("a class matches no character".to_owned()),
            false => Ok(RegularExpression::Character(ranges)),
        }
    }

    fn read_class_member(&mut self, first: Option<char>) -> Result<Vec<(char, char)>, String> {
        match first {
            Some('\\') => self.read_escape(),
            Some('[') => Err("write `\\[` for a `[` in a class".to_owned()),
            Some(c) => Ok(vec![(c, c)]),
            None => Err("a `[` is not closed; write `\\[` for the sign itself".to_owned()),
        }
    }

    /// Reads an escape after its backslash, and returns the characters that it stands for.
    fn read_escape(&mut self) -> Result<Vec<(char, char)>, String> {
        let character = match self.unread.next() {
            Some('d') => return Ok(vec![('0', '9')]),
            Some('w') => return Ok(merge_ranges(vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')])),
            Some('s') => return Ok(merge_ranges([' ', '\t', '\n', '\r'].map(|c| (c, c)).to_vec())),
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('x') => self.read_code(2)?,
            Some('u') => self.read_code(4)?,
            Some(c) if c.is_ascii_punctuation() => c,
            _ => {
                return Err("write an escape as `\\` and a sign, or as `\\d` (`[0-9]`), `\\w` \
                    (`[A-Za-z0-9_]`), `\\s` (`[ \\t\\r\\n]`), `\\n`, `\\r`, `\\t`, `\\x41`, `\\u00e9`"
                    .to_owned());
            }
        };
        Ok(vec![(character, character)])
    }

    /// Reads the character of so many hexadecimal digits.
    fn read_code(&mut self, digits: usize) -> Result<char, String> {
        let mut code = 0;
        for _ in 0..digits {
            let digit = self.unread.next().and_then(|c| c.to_digit(16));
            code = code * 16 + digit.ok_or_else(|| format!("the code needs {digits} hexadecimal digits"))?;
        }
        char::from_u32(code).ok_or_else(|| "the code is not that of a character".to_owned())
    }
}

/// Brings ranges in order and joins those that touch, so that there is a character between any two.
fn merge_ranges(mut ranges: Vec<(char, char)>) -> Vec<(char, char)> {
    ranges.sort_unstable();
    let mut joined: Vec<(char, char)> = Vec::new();
    for (low, high) in ranges {
        match joined.last_mut() {
            Some((_, last)) if low <= *last || next_char(*last) == Some(low) => *last = high.max(*last),
            _ => joined.push((low, high)),
        }
    }
    joined
}

/// All characters that are in none of the ranges, as ranges in order.
fn complement(ranges: &[(char, char)]) -> Vec<(char, char)> {
    let mut gaps = Vec::new();
    let mut gap_start = Some('\0');
    for (low, high) in merge_ranges(ranges.to_vec()) {
        // A gap ends before the next range. It may be empty.
        if let Some((from, to)) = gap_start.zip(('\0'..low).next_back()).filter(|(from, to)| from <= to) {
            gaps.push((from, to));
        }
        gap_start = next_char(high);
    }
    gaps.extend(gap_start.map(|from| (from, char::MAX)));
    gaps
}

fn next_char(c: char) -> Option<char> {
    (c..=char::MAX).nth(1)
}

impl fmt::Display for RegularExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Character(ranges) => write_class(f, ranges),
            Self::Sequence(parts) if parts.is_empty() => f.write_str("(?:)"),
            Self::Sequence(parts) => parts.iter().try_for_each(|part| match part {
                Self::Either(_) | Self::Sequence(_) => write!(f, "(?:{part})"),
                _ => write!(f, "{part}"),
            }),
            Self::Either(parts) => {
                f.write_str(&parts.iter().map(Self::to_string).collect::<Vec<_>>().join("|"))
            }
            Self::Repeated(part, least, most) => {
                match **part {
                    Self::Character(_) => write!(f, "{part}")?,
                    _ => write!(f, "(?:{part})")?,
                }
                match (least, most) {
                    (0, None) => f.write_str("*"),
                    (1, None) => f.write_str("+"),
                    (0, Some(1)) => f.write_str("?"),
                    (least, None) => write!(f, "{{{least},}}"),
                    (least, Some(most)) if least == most => write!(f, "{{{least}}}"),
                    (least, Some(most)) => write!(f, "{{{least},{most}}}"),
                }
            }
        }
    }
}

/// Writes a class of these ranges, by its members or by the characters that it leaves out.
fn write_class(f: &mut fmt::Formatter<'_>, ranges: &[(char, char)]) -> fmt::Result {
    if let [(low, high)] = ranges
        && low == high
    {
        return write_sign(f, *low);
    }
    let (_, last) = ranges[ranges.len() - 1];
    let left_out = complement(ranges);
    // A class up to the last character is one that leaves some out.
    let (negation, ranges) = match last == char::MAX && !left_out.is_empty() {
        true => ("^", &left_out[..]),
        false => ("", ranges),
    };
    write!(f, "[{negation}")?;
    for (low, high) in ranges {
        write_sign(f, *low)?;
        if low != high {
            f.write_str("-")?;
            write_sign(f, *high)?;
        }
    }
    f.write_str("]")
}

/// Writes a character so that it means itself everywhere, within classes and outside of them.
fn write_sign(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    let is_plain_sign = matches!(c, ' ' | '_' | '@' | ':' | '/' | ',' | '"' | '\'');
    match c.is_ascii() && !c.is_ascii_alphanumeric() && !is_plain_sign {
        true => write!(f, "\\x{:02x}", u32::from(c)),
        false => write!(f, "{c}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

    fn printed(text: &str) -> String {
        RegularExpression::parse(text).unwrap_or_else(|wrong| panic!("{text}: {wrong}")).to_string()
    }

    #[test]
    fn what_is_printed_is_read_as_the_same() {
        for (text, expected) in [
            ("", "(?:)"),
            ("job-[0-9]+", r"job\x2d[0-9]+"),
            (r"\d{3}(?:-\d{2,4})?", r"[0-9]{3}(?:\x2d[0-9]{2,4})?"),
            (r"(a|bc)*\.txt", r"(?:a|bc)*\x2etxt"),
            (".", r"[^\x0a]"),
            (r"[^\]\-a-c]|", r"[^\x2d\x5da-c]|(?:)"),
            (r"[a-cb-f0]", "[0a-f]"),
            (r"[-a]\u00e9\x41", r"[\x2da]éA"),
            (r"(?:a+)+", "(?:a+)+"),
            (r"\w\s", r"[0-9A-Z_a-z][\x09-\x0a\x0d ]"),
            ("[\\x00-\u{10ffff}]", "[\\x00-\u{10ffff}]"),
        ] {
            assert_eq!(printed(text), expected);
            assert_eq!(printed(expected), expected);
        }
    }

    #[test]
    fn what_engines_read_differently_is_refused_with_a_reason() {
        for (text, reason) in [
            ("a++", "follows a repetition"),
            ("a{2}{3}", "follows a repetition"),
            ("a*?", "follows a repetition"),
            ("^a$", "whole string"),
            ("(?i)a", "no names, flags"),
            (r"\ba", "write an escape"),
            (r"(a)\1", "write an escape"),
            ("[]a]", "empty"),
            ("[[a]", "in a class"),
            ("[z-a]", "a range"),
            (r"[a-\d]", "a range"),
            ("[a", "not closed"),
            ("(a", "not closed"),
            ("a)", "closes nothing"),
            ("a{,3}", "write a repetition as"),
            ("a{3,2}", "smaller number"),
            ("a{1001}", "at most"),
            ("a{99999999999}", "at most"),
            ("(a{1000}){1000}", "more than"),
            (r"\ud800", "not that of a character"),
            ("*", "nothing to repeat"),
        ] {
            let wrong = RegularExpression::parse(text).unwrap_err();
            assert!(wrong.contains(reason), "{text}: {wrong}");
        }
        assert!(RegularExpression::parse(&"(".repeat(100_000)).is_err());
    }

    /// Soundness: what is matched has a length within the bounds, and each word by lot is matched.
    #[test]
    fn words_are_matched_and_of_the_lengths_that_are_said() {
        let mut random = Random::new(1);
        for (text, lengths) in [
            ("job-[0-9]{1,4}", (5, Some(8))),
            ("(?:a|bcd)*", (0, None)),
            ("(?:a|bcd){2}e?", (2, Some(7))),
            ("[^a-z]+", (1, None)),
            ("(?:)*", (0, Some(0))),
        ] {
            let expression = RegularExpression::parse(text).unwrap();
            assert_eq!(expression.lengths(), lengths, "{text}");
            for _ in 0..100 {
                let word = expression.word(&mut random);
                assert_eq!(matches(text, &word), Some(true), "{text}: {word:?}");
                let length = word.chars().count();
                assert!(
                    lengths.0 <= length && lengths.1.is_none_or(|most| length <= most),
                    "{text}: {word:?}"
                );
            }
        }
    }

    /// An expression whose engines try all ways to divide a string takes no longer than another.
    #[test]
    fn repetitions_within_repetitions_end() {
        let text = "a".repeat(10_000) + "b";
        assert_eq!(matches("(?:a+)+", &text), Some(false));
        assert_eq!(matches("(?:a|aa)+", &text), Some(false));
    }
}
