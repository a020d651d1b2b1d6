//! Regular expressions, by the sets of places at which a match can end.
//!
//! Independent of the project: its own reading of the expression, and no engine.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::str::Chars;

enum Part {
    /// One character of these ranges, or of all others.
    One(bool, Vec<(char, char)>),
    Row(Vec<Part>),
    Choice(Vec<Part>),
    Times(Box<Part>, usize, usize),
}

/// Is the whole text a word of the expression?
pub fn matches(expression: &str, text: &[char]) -> bool {
    let mut rest = expression.chars().peekable();
    let part = choice(&mut rest);
    assert_eq!(rest.next(), None, "{expression}");
    ends(&part, text, &BTreeSet::from([0])).contains(&text.len())
}

fn ends(part: &Part, text: &[char], from: &BTreeSet<usize>) -> BTreeSet<usize> {
    match part {
        Part::One(is_negated, ranges) => {
            let fits = |c: &char| ranges.iter().any(|(low, high)| low <= c && c <= high) != *is_negated;
            from.iter().filter(|at| text.get(**at).is_some_and(fits)).map(|at| at + 1).collect()
        }
        Part::Row(parts) => parts.iter().fold(from.clone(), |from, part| ends(part, text, &from)),
        Part::Choice(parts) => parts.iter().flat_map(|part| ends(part, text, from)).collect(),
        Part::Times(part, least, most) => {
            let (mut now, mut found) = (from.clone(), BTreeSet::new());
            // More rounds than characters bring nothing but the empty string.
            for round in 0..=(*most).min(least + text.len()) {
                if round >= *least {
                    found.extend(now.iter().copied());
                }
                now = ends(part, text, &now);
            }
            found
        }
    }
}

type Rest<'a> = Peekable<Chars<'a>>;

fn choice(rest: &mut Rest<'_>) -> Part {
    let mut parts = vec![row(rest)];
    while rest.next_if_eq(&'|').is_some() {
        parts.push(row(rest));
    }
    Part::Choice(parts)
}

fn row(rest: &mut Rest<'_>) -> Part {
    let mut parts = Vec::new();
    while let Some(c) = rest.next_if(|c| !matches!(c, '|' | ')')) {
        let part = match c {
            '(' => {
                if rest.next_if_eq(&'?').is_some() {
                    assert_eq!(rest.next(), Some(':'));
                }
                let part = choice(rest);
                assert_eq!(rest.next(), Some(')'));
                part
            }
            '[' => class(rest),
            '.' => Part::One(true, vec![('\n', '\n')]),
            '\\' => Part::One(false, escape(rest)),
            c => Part::One(false, vec![(c, c)]),
        };
        parts.push(times(rest, part));
    }
    Part::Row(parts)
}

fn times(rest: &mut Rest<'_>, part: Part) -> Part {
    let (least, most) = match rest.peek() {
        Some('*') => (0, usize::MAX),
        Some('+') => (1, usize::MAX),
        Some('?') => (0, 1),
        Some('{') => {
            let inside: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
            let number = |text: &str| text.parse().unwrap_or(usize::MAX);
            let (least, most) = inside.split_once(',').unwrap_or((&inside, &inside));
            return Part::Times(Box::new(part), number(least), number(most));
        }
        _ => return part,
    };
    rest.next();
    Part::Times(Box::new(part), least, most)
}

fn class(rest: &mut Rest<'_>) -> Part {
    let is_negated = rest.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    while let Some(c) = rest.next().filter(|c| *c != ']') {
        let mut low = if c == '\\' { escape(rest) } else { vec![(c, c)] };
        let mut ahead = rest.clone();
        if ahead.next() == Some('-') && ahead.next() != Some(']') {
            rest.next();
            let c = rest.next().unwrap_or(']');
            low[0].1 = if c == '\\' { escape(rest)[0].1 } else { c };
        }
        ranges.extend(low);
    }
    Part::One(is_negated, ranges)
}

fn escape(rest: &mut Rest<'_>) -> Vec<(char, char)> {
    let one = match rest.peek().copied() {
        Some('x') => coded(rest, 2),
        Some('u') => coded(rest, 4),
        Some(c) => {
            rest.next();
            match c {
                'd' => return vec![('0', '9')],
                'w' => return vec![('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
                's' => return [' ', '\t', '\n', '\r'].map(|c| (c, c)).to_vec(),
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                c => c,
            }
        }
        None => panic!("a backslash is last"),
    };
    vec![(one, one)]
}

/// The character of so many digits behind the sign that announces them.
fn coded(rest: &mut Rest<'_>, digits: usize) -> char {
    let text: String = rest.by_ref().skip(1).take(digits).collect();
    let code = u32::from_str_radix(&text, 16).ok().and_then(char::from_u32);
    code.unwrap_or_else(|| panic!("{text} is the code of no character"))
}
