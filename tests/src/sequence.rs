//! Sequences of operations as text: recorded once, replayed anywhere.
//!
//! Speed is compared on what programs really do, so a sequence is written to a file and replayed on
//! our crate and on other libraries. The format is made to be read by a few lines in any language:
//! one step a line, words separated by blanks, `#` to the end of the line a comment.
//!
//! ```text
//! space 3                                  # first line: the number of dimensions
//! constraints 1 0 -1 | 3 >= ; 0 1 | -2 =   # number 0: x0 - x2 + 3 >= 0 and x1 - 2 = 0
//! meet 0 : 0 1 | 5 >                       # number 1: number 0 and x1 + 5 > 0
//! assign 1 : 2 := 1 1 | 3 / 2              # number 2: x2 := (x0 + x1 + 3) / 2
//! join 0 2                                 # number 3
//! leq 0 3                                  # a question: gets no number
//! ```
//!
//! Steps that make a polyhedron are numbered from 0, and later steps name their arguments so:
//! `constraints C`, `meet a b`, `meet a : C`, `join a b`, `widen a b : C` (thresholds; `b` contains
//! `a`), `assign a : M`, `substitute a : M`, `forget a : dimensions`, `add a : count`,
//! `remove a : dimensions`. Questions: `leq a b`, `empty a`, `bounds a : E`, `list a` (the minimal
//! constraints). `C` is constraints, each coefficients, a bar, the constant and the relation;
//! trailing coefficients may be absent. `M` is assignments, `E` coefficients, a bar, the constant, and
//! a slash with the denominator if it is not 1.

use core::fmt;

use coreach_polyhedra::{Constraint, Integer, LinearExpression, Relation};
use dashu_int::IBig;

/// One operation; numbers are those of earlier results.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the module explains the steps by the words that stand for them")]
pub enum SequenceStep {
    Constraints(Vec<Constraint>),
    Meet(usize, usize),
    MeetConstraints(usize, Vec<Constraint>),
    Join(usize, usize),
    Widen(usize, usize, Vec<Constraint>),
    Assign(usize, Vec<(usize, LinearExpression)>),
    Substitute(usize, Vec<(usize, LinearExpression)>),
    Forget(usize, Vec<usize>),
    Add(usize, usize),
    Remove(usize, Vec<usize>),
    IsLeq(usize, usize),
    IsEmpty(usize),
    Bounds(usize, LinearExpression),
    List(usize),
}

/// A sequence of operations in a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The number of dimensions of what [`SequenceStep::Constraints`] makes.
    pub dimensions: usize,
    /// The steps, in order.
    pub steps: Vec<SequenceStep>,
}

/// A text that is no sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseSequenceError {
    /// The line, counted from 1.
    pub line: usize,
    /// What was expected.
    pub expected: &'static str,
}

impl fmt::Display for ParseSequenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: expected {}", self.line, self.expected)
    }
}

impl core::error::Error for ParseSequenceError {}

impl core::str::FromStr for Sequence {
    type Err = ParseSequenceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let mut lines =
            lines.enumerate().map(|(index, line)| (index + 1, line)).filter(|(_, l)| !l.is_empty());
        let (line, first) = lines.next().unwrap_or((1, ""));
        let dimensions = first.strip_prefix("space ").and_then(|rest| rest.trim().parse().ok());
        let dimensions = dimensions.ok_or(ParseSequenceError { line, expected: "`space` and a number" })?;
        let steps = lines.map(|(line, text)| {
            read_step(text).ok_or(ParseSequenceError { line, expected: "a step, as its module describes" })
        });
        Ok(Self { dimensions, steps: steps.collect::<Result<_, _>>()? })
    }
}

fn read_step(text: &str) -> Option<SequenceStep> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    if word == "constraints" {
        return Some(SequenceStep::Constraints(read_list(rest, read_constraint)?));
    }
    // The first colon stands alone; that of `:=` comes later.
    let (numbers, detail) = match rest.split_once(" :") {
        Some((numbers, detail)) => (numbers, Some(detail)),
        None => (rest, None),
    };
    let numbers = read_numbers(numbers)?;
    Some(match (word, &numbers[..], detail) {
        ("meet", &[a, b], None) => SequenceStep::Meet(a, b),
        ("meet", &[a], Some(c)) => SequenceStep::MeetConstraints(a, read_list(c, read_constraint)?),
        ("join", &[a, b], None) => SequenceStep::Join(a, b),
        ("widen", &[a, b], c) => SequenceStep::Widen(a, b, read_list(c.unwrap_or(""), read_constraint)?),
        ("assign", &[a], Some(m)) => SequenceStep::Assign(a, read_list(m, read_assignment)?),
        ("substitute", &[a], Some(m)) => SequenceStep::Substitute(a, read_list(m, read_assignment)?),
        ("forget", &[a], Some(d)) => SequenceStep::Forget(a, read_numbers(d)?),
        ("add", &[a], Some(count)) => SequenceStep::Add(a, count.trim().parse().ok()?),
        ("remove", &[a], Some(d)) => SequenceStep::Remove(a, read_numbers(d)?),
        ("leq", &[a, b], None) => SequenceStep::IsLeq(a, b),
        ("empty", &[a], None) => SequenceStep::IsEmpty(a),
        ("bounds", &[a], Some(e)) => SequenceStep::Bounds(a, read_expression(e)?),
        ("list", &[a], None) => SequenceStep::List(a),
        _ => return None,
    })
}

fn read_numbers(text: &str) -> Option<Vec<usize>> {
    text.split_whitespace().map(|word| word.parse().ok()).collect()
}

fn read_list<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    text.split(';').filter(|part| !part.trim().is_empty()).map(read).collect()
}

fn read_integers(text: &str) -> Option<Vec<Integer>> {
    text.split_whitespace().map(read_integer).collect()
}

fn read_integer(text: &str) -> Option<Integer> {
    text.trim().parse::<IBig>().ok().map(Integer::from)
}

fn read_constraint(text: &str) -> Option<Constraint> {
    let (coefficients, rest) = text.split_once('|')?;
    let (constant, relation) = rest.trim().split_once(' ')?;
    let relation = match relation.trim() {
        "=" => Relation::Equal,
        ">=" => Relation::AtLeast,
        ">" => Relation::Greater,
        _ => return None,
    };
    Some(Constraint::new(read_integers(coefficients)?, read_integer(constant)?, relation))
}

fn read_assignment(text: &str) -> Option<(usize, LinearExpression)> {
    let (dimension, expression) = text.split_once(":=")?;
    Some((dimension.trim().parse().ok()?, read_expression(expression)?))
}

fn read_expression(text: &str) -> Option<LinearExpression> {
    let (coefficients, rest) = text.split_once('|')?;
    let (constant, denominator) = rest.split_once('/').unwrap_or((rest, "1"));
    LinearExpression::new(read_integers(coefficients)?, read_integer(constant)?, read_integer(denominator)?)
}

/// Writes items with blanks around separators.
struct List<'a, T>(&'a [T], &'static str);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.0.iter().enumerate() {
            write!(f, "{}{item}", if index == 0 { "" } else { self.1 })?;
        }
        Ok(())
    }
}

fn of_constraints(constraints: &[Constraint]) -> String {
    let one = |c: &Constraint| {
        let relation = match c.relation() {
            Relation::Equal => "=",
            Relation::AtLeast => ">=",
            Relation::Greater => ">",
        };
        format!("{} | {} {relation}", List(c.coefficients(), " "), c.constant())
    };
    List(&constraints.iter().map(one).collect::<Vec<_>>(), " ; ").to_string()
}

fn of_expression(expression: &LinearExpression) -> String {
    let row = expression.row();
    let own = format!("{} | {}", List(&row[1..], " "), row[0]);
    match expression.denominator() {
        one if one.is_one() => own,
        other => format!("{own} / {other}"),
    }
}

fn of_assignments(assignments: &[(usize, LinearExpression)]) -> String {
    let one = |(at, e): &(usize, LinearExpression)| format!("{at} := {}", of_expression(e));
    List(&assignments.iter().map(one).collect::<Vec<_>>(), " ; ").to_string()
}

impl fmt::Display for SequenceStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constraints(c) => write!(f, "constraints {}", of_constraints(c)),
            Self::Meet(a, b) => write!(f, "meet {a} {b}"),
            Self::MeetConstraints(a, c) => write!(f, "meet {a} : {}", of_constraints(c)),
            Self::Join(a, b) => write!(f, "join {a} {b}"),
            Self::Widen(a, b, c) => write!(f, "widen {a} {b} : {}", of_constraints(c)),
            Self::Assign(a, m) => write!(f, "assign {a} : {}", of_assignments(m)),
            Self::Substitute(a, m) => write!(f, "substitute {a} : {}", of_assignments(m)),
            Self::Forget(a, d) => write!(f, "forget {a} : {}", List(d, " ")),
            Self::Add(a, count) => write!(f, "add {a} : {count}"),
            Self::Remove(a, d) => write!(f, "remove {a} : {}", List(d, " ")),
            Self::IsLeq(a, b) => write!(f, "leq {a} {b}"),
            Self::IsEmpty(a) => write!(f, "empty {a}"),
            Self::Bounds(a, e) => write!(f, "bounds {a} : {}", of_expression(e)),
            Self::List(a) => write!(f, "list {a}"),
        }
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "space {}", self.dimensions)?;
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "space 3
constraints 1 0 -1 | 3 >= ; 0 1 0 | -2 =
meet 0 : 0 1 0 | 5 >
assign 1 : 2 := 1 1 | 3 / 2 ; 0 :=  | 7
substitute 2 : 1 := 1 | -9223372036854775809
meet 0 1
join 0 2
widen 0 5 :\x20
forget 1 : 0 2
add 1 : 2
remove 8 : 0 4
leq 0 1
empty 4
bounds 2 : 1 0 1 | -1
list 5
";

    /// What is written is read as the same.
    #[test]
    fn text_and_back() {
        assert_eq!(TEXT.parse::<Sequence>().map(|sequence| sequence.to_string()), Ok(TEXT.to_owned()));
    }

    #[test]
    fn mistakes_are_told() {
        let cases = [("", 1), ("space x", 1), ("space 2\n\nmeet 0", 3), ("space 1\nconstraints 1 | 2 <", 2)];
        for (text, line) in cases {
            assert_eq!(text.parse::<Sequence>().unwrap_err().line, line, "{text}");
        }
    }
}
