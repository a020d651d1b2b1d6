//! The law of the constructors of terms, on random trees: a term is worth what the operations are that made
//! it, and has a value exactly where they have one.
//!
//! The trees are evaluated here, by a few lines that share nothing with terms. What is built from them is
//! evaluated as it is, with a number in the place of a datum, and by its definedness.

#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::sync::Arc;

use coreach_model::obligation::defined;
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::term::node::{Comparison, Operator};
use coreach_model::term::{Substitution, substitute};
use coreach_model::types::{ArrayType, RecordType};
use coreach_model::{Datum, Term, Type, Value};

/// An expression as somebody writes it. Arrays are of `int[0..3]`, over `int[0..2]`; records have a left
/// number, of `int[0..2]`, and a right one.
#[derive(Clone, Debug)]
enum Tree {
    /// `x`: int
    X,
    /// `s`: int[0..2]
    S,
    /// `p`: bool
    P,
    /// `a`: an array
    A,
    /// `r`: a record
    R,
    Int(i64),
    Bool(bool),
    Arithmetic(Operator, Box<Tree>, Box<Tree>),
    Compare(Comparison, Box<Tree>, Box<Tree>),
    Not(Box<Tree>),
    And(Vec<Tree>),
    Or(Vec<Tree>),
    If(Box<Tree>, Box<Tree>, Box<Tree>),
    Select(Box<Tree>, Box<Tree>),
    Store(Box<Tree>, Box<Tree>, Box<Tree>),
    Pair(Box<Tree>, Box<Tree>),
    Left(Box<Tree>),
    Right(Box<Tree>),
}

/// What a tree is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Worth {
    Int(i64),
    Bool(bool),
    Array([i64; 3]),
    Pair(i64, i64),
}

/// What the data are worth.
#[derive(Clone, Copy, Debug)]
struct Data {
    x: i64,
    s: i64,
    p: bool,
    a: [i64; 3],
    r: (i64, i64),
}

fn number(tree: &Tree, data: &Data) -> Option<i64> {
    match worth(tree, data)? {
        Worth::Int(value) => Some(value),
        other => panic!("{other:?}"),
    }
}

fn truth(tree: &Tree, data: &Data) -> Option<bool> {
    Some(worth(tree, data)? == Worth::Bool(true))
}

fn cells(tree: &Tree, data: &Data) -> Option<[i64; 3]> {
    match worth(tree, data)? {
        Worth::Array(cells) => Some(cells),
        other => panic!("{other:?}"),
    }
}

fn sides(tree: &Tree, data: &Data) -> Option<(i64, i64)> {
    match worth(tree, data)? {
        Worth::Pair(left, right) => Some((left, right)),
        other => panic!("{other:?}"),
    }
}

/// From the left, stopping early; `None` where an operation that is reached has no value.
fn worth(tree: &Tree, data: &Data) -> Option<Worth> {
    Some(match tree {
        Tree::X => Worth::Int(data.x),
        Tree::S => Worth::Int(data.s),
        Tree::P => Worth::Bool(data.p),
        Tree::A => Worth::Array(data.a),
        Tree::R => Worth::Pair(data.r.0, data.r.1),
        Tree::Pair(left, right) => {
            let (left, right) = (number(left, data)?, number(right, data)?);
            Worth::Pair(Some(left).filter(|left| (0..=2).contains(left))?, right)
        }
        Tree::Left(pair) => Worth::Int(sides(pair, data)?.0),
        Tree::Right(pair) => Worth::Int(sides(pair, data)?.1),
        Tree::Int(value) => Worth::Int(*value),
        Tree::Bool(value) => Worth::Bool(*value),
        Tree::Arithmetic(operator, a, b) => {
            let (a, b) = (number(a, data)?, number(b, data)?);
            Worth::Int(match operator {
                Operator::Add => a + b,
                Operator::Subtract => a - b,
                Operator::Multiply => a * b,
                Operator::IntegerDivide => a.checked_div_euclid(b)?,
                _ => a.checked_rem_euclid(b)?,
            })
        }
        Tree::Compare(comparison, a, b) => {
            let (a, b) = (worth(a, data)?, worth(b, data)?);
            let order = match (a, b) {
                (Worth::Int(a), Worth::Int(b)) => a.cmp(&b),
                (Worth::Bool(a), Worth::Bool(b)) => a.cmp(&b),
                (Worth::Array(a), Worth::Array(b)) => a.cmp(&b),
                (Worth::Pair(a, b), Worth::Pair(c, d)) => (a, b).cmp(&(c, d)),
                _ => panic!("{a:?} {b:?}"),
            };
            Worth::Bool(comparison.holds(order))
        }
        Tree::Not(a) => Worth::Bool(!truth(a, data)?),
        Tree::And(parts) => {
            for part in parts {
                if !truth(part, data)? {
                    return Some(Worth::Bool(false));
                }
            }
            Worth::Bool(true)
        }
        Tree::Or(parts) => {
            for part in parts {
                if truth(part, data)? {
                    return Some(Worth::Bool(true));
                }
            }
            Worth::Bool(false)
        }
        Tree::If(c, a, b) => worth(if truth(c, data)? { a } else { b }, data)?,
        Tree::Select(a, i) => {
            let (cells, index) = (cells(a, data)?, number(i, data)?);
            Worth::Int(*cells.get(usize::try_from(index).ok()?)?)
        }
        Tree::Store(a, i, e) => {
            let (mut cells, index, element) = (cells(a, data)?, number(i, data)?, number(e, data)?);
            *cells.get_mut(usize::try_from(index).ok()?)? = Some(element).filter(|e| (0..=3).contains(e))?;
            Worth::Array(cells)
        }
    })
}

fn array_type() -> Arc<ArrayType> {
    let range = |high: i32| Type::Range(0.into(), high.into());
    Arc::new(ArrayType { index: range(2), element: range(3) })
}

fn record_type() -> Arc<RecordType> {
    let fields = vec![("left".to_owned(), Type::Range(0.into(), 2.into())), ("right".to_owned(), Type::Int)];
    Arc::new(RecordType { name: "Pair".to_owned(), fields, form: coreach_model::types::RecordForm::Plain })
}

fn data() -> [Datum; 5] {
    [
        Datum::new("x", Type::Int),
        Datum::new("s", Type::Range(0.into(), 2.into())),
        Datum::new("p", Type::Bool),
        Datum::new("a", Type::Array(array_type())),
        Datum::new("r", Type::Record(record_type())),
    ]
}

fn valuation(of: &Data) -> Valuation {
    let [x, s, p, a, r] = data();
    let pair = Value::Record(record_type(), [Value::int(of.r.0), Value::int(of.r.1)].into());
    let Value::Array(empty) = Value::any(a.ty()) else { panic!("an array") };
    let cells = (0..3)
        .zip(of.a)
        .fold((*empty).clone(), |array, (at, value)| array.set(Value::int(at), Value::int(value)));
    let cells = Value::Array(Arc::new(cells));
    [(x, Value::int(of.x)), (s, Value::int(of.s)), (p, Value::Bool(of.p)), (a, cells), (r, pair)].into()
}

/// The term, by the constructors.
fn term(tree: &Tree) -> Term {
    let [x, s, p, a, r] = data();
    match tree {
        Tree::X => Term::datum(&x),
        Tree::S => Term::datum(&s),
        Tree::P => Term::datum(&p),
        Tree::A => Term::datum(&a),
        Tree::R => Term::datum(&r),
        Tree::Pair(left, right) => Term::record(&record_type(), [term(left), term(right)]),
        Tree::Left(pair) => Term::field(&term(pair), 0),
        Tree::Right(pair) => Term::field(&term(pair), 1),
        Tree::Int(value) => Term::int(*value),
        Tree::Bool(value) => Term::literal(Value::Bool(*value)),
        Tree::Arithmetic(operator, a, b) => Term::arithmetic(*operator, &term(a), &term(b)),
        Tree::Compare(comparison, a, b) => Term::compare(*comparison, &term(a), &term(b)),
        Tree::Not(a) => term(a).not(),
        Tree::And(parts) => Term::and(parts.iter().map(term)),
        Tree::Or(parts) => Term::or(parts.iter().map(term)),
        Tree::If(c, a, b) => Term::if_then_else(&term(c), &term(a), &term(b)),
        Tree::Select(a, i) => Term::select(&term(a), &term(i)),
        Tree::Store(a, i, e) => Term::store(&term(a), &term(i), &term(e)),
    }
}

/// Draws trees.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// Two trees, half the time the same one twice: most rules look for that.
    fn pair(&mut self, mut one: impl FnMut(&mut Self) -> Tree) -> (Box<Tree>, Box<Tree>) {
        let first = one(self);
        let second = if self.below(2) == 0 { first.clone() } else { one(self) };
        (Box::new(first), Box::new(second))
    }

    fn number(&mut self, depth: usize) -> Tree {
        match self.below(if depth == 0 { 4 } else { 11 }) {
            0 => Tree::X,
            9 => Tree::Left(Box::new(self.record(depth - 1))),
            10 => Tree::Right(Box::new(self.record(depth - 1))),
            1 => Tree::S,
            2 | 3 => Tree::Int(self.below(5) as i64 - 1),
            4 | 5 => {
                use Operator::{Add, IntegerDivide, Modulo, Multiply, Subtract};
                let operator = [Add, Subtract, Multiply, IntegerDivide, IntegerDivide, Modulo][self.below(6)];
                let (a, b) = self.pair(|random| random.number(depth - 1));
                Tree::Arithmetic(operator, a, b)
            }
            6 => {
                let condition = Box::new(self.truth(depth - 1));
                let (a, b) = self.pair(|random| random.number(depth - 1));
                Tree::If(condition, a, b)
            }
            _ => Tree::Select(Box::new(self.array(depth - 1)), Box::new(self.number(depth - 1))),
        }
    }

    fn truth(&mut self, depth: usize) -> Tree {
        match self.below(if depth == 0 { 2 } else { 11 }) {
            0 => Tree::P,
            10 => {
                let (a, b) = self.pair(|random| random.record(depth - 1));
                Tree::Compare(Comparison::Equal, a, b)
            }
            1 => Tree::Bool(self.below(2) == 0),
            2..=4 => {
                use Comparison::{AtLeast, AtMost, Equal, Greater, Less, NotEqual};
                let comparison = [Equal, NotEqual, Less, AtMost, Greater, AtLeast][self.below(6)];
                let (a, b) = self.pair(|random| random.number(depth - 1));
                Tree::Compare(comparison, a, b)
            }
            5 => {
                let (a, b) = self.pair(|random| random.truth(depth - 1));
                Tree::Compare(Comparison::Equal, a, b)
            }
            6 => Tree::Not(Box::new(self.truth(depth - 1))),
            7 | 8 => {
                let mut parts: Vec<Tree> = (0..2 + self.below(3)).map(|_| self.truth(depth - 1)).collect();
                if self.below(2) == 0 {
                    let again = parts[self.below(parts.len())].clone();
                    parts.push(if self.below(2) == 0 { again } else { Tree::Not(Box::new(again)) });
                }
                if self.below(2) == 0 { Tree::And(parts) } else { Tree::Or(parts) }
            }
            _ => {
                let condition = Box::new(self.truth(depth - 1));
                let (a, b) = self.pair(|random| random.truth(depth - 1));
                Tree::If(condition, a, b)
            }
        }
    }

    fn record(&mut self, depth: usize) -> Tree {
        match self.below(if depth == 0 { 1 } else { 4 }) {
            0 => Tree::R,
            1 => {
                let (a, b) = self.pair(|random| random.record(depth - 1));
                Tree::If(Box::new(self.truth(depth - 1)), a, b)
            }
            _ => {
                let (left, right) = self.pair(|random| random.number(depth - 1));
                Tree::Pair(left, right)
            }
        }
    }

    fn array(&mut self, depth: usize) -> Tree {
        if depth == 0 || self.below(4) == 0 {
            return Tree::A;
        }
        let array = Box::new(self.array(depth - 1));
        Tree::Store(array, Box::new(self.number(depth - 1)), Box::new(self.number(depth - 1)))
    }
}

#[test]
fn a_term_has_the_value_of_its_operations_where_they_have_one() {
    let mut random = Random(1);
    let mut undefined = 0;
    let [x, ..] = data();
    for _ in 0..1_500 {
        let tree = random.truth(4);
        let built = term(&tree);
        let condition = defined(&built);
        for of in [(-1, 0, false), (0, 1, true), (1, 2, false), (3, 0, true)] {
            let of = Data { x: of.0, s: of.1, p: of.2, a: [of.1, 3 - of.1, 1], r: (of.1, of.0) };
            let expected = truth(&tree, &of).map(Value::Bool);
            undefined += usize::from(expected.is_none());
            let valuation = valuation(&of);
            let shown = || format!("{tree:?}\n{built}\n{of:?}");
            assert_eq!(evaluate(&built, &valuation).ok(), expected, "{}", shown());
            let put_in = substitute(&built, &Substitution::from([(x.clone(), Term::int(of.x))]));
            assert_eq!(evaluate(&put_in, &valuation).ok(), expected, "{}\n{put_in}", shown());
            let is_defined = Ok(Value::Bool(expected.is_some()));
            assert_eq!(evaluate(&condition, &valuation), is_defined, "{}\n{condition}", shown());
        }
    }
    // The trees are worth the trouble.
    assert!(undefined > 400, "{undefined}");
}
