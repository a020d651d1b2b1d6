//! Random terms: guards that sometimes hold, and values that are usually, not always, within their variable's type.

use coreach_model::term::Term;
use coreach_model::term::node::{Comparison, Operator};
use coreach_model::{Datum, Type};

use super::Shape;
use super::data::literal;
use super::random::Random;

/// What a term may mention; more likely things stand in it more than once.
pub struct Scope {
    /// Anything.
    pub data: Vec<Datum>,
}

impl Scope {
    fn of(&self, wanted: impl Fn(&Type) -> bool) -> Vec<&Datum> {
        self.data.iter().filter(|datum| wanted(datum.ty())).collect()
    }
}

const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::AtMost,
    Comparison::AtLeast,
    Comparison::Less,
    Comparison::Greater,
    Comparison::NotEqual,
];

/// A guard: `true`, an atom, two atoms; a disjunction now and then.
pub fn guard(random: &mut Random, scope: &Scope, shape: &Shape) -> Term {
    match random.below(10) {
        0..3 => Term::yes(),
        3..7 => atom(random, scope, shape),
        7..9 => Term::and([atom(random, scope, shape), atom(random, scope, shape)]),
        _ => Term::or([atom(random, scope, shape), atom(random, scope, shape)]),
    }
}

/// A comparison, a flag, or a negated flag; `true` where nothing can be mentioned.
pub fn atom(random: &mut Random, scope: &Scope, shape: &Shape) -> Term {
    let Some(datum) = random.pick(&scope.data).cloned() else { return Term::yes() };
    let left = Term::datum(&datum);
    match datum.ty() {
        Type::Bool if random.chance(50) => left,
        Type::Bool => left.not(),
        Type::Enum(_) => {
            let same = scope.of(|ty| ty == datum.ty());
            let right = match random.pick(&same) {
                Some(other) if random.chance(30) => Term::datum(other),
                _ => literal(random, datum.ty()),
            };
            let comparison = if random.chance(70) { Comparison::Equal } else { Comparison::NotEqual };
            Term::compare(comparison, &left, &right)
        }
        Type::Array(array) => {
            let index = integer(random, scope, shape, &array.index);
            let element = array.element.clone();
            let read = Term::select(&left, &index);
            compare(random, &read, &element, scope, shape)
        }
        ty => {
            let left = if random.chance(25) { integer(random, scope, shape, ty) } else { left };
            compare(random, &left, ty, scope, shape)
        }
    }
}

fn compare(random: &mut Random, left: &Term, ty: &Type, scope: &Scope, shape: &Shape) -> Term {
    let right = if random.chance(50) { literal(random, ty) } else { integer(random, scope, shape, ty) };
    let comparison = COMPARISONS[random.below(COMPARISONS.len())];
    Term::compare(comparison, left, &right)
}

/// An integer term, of values around those of the type.
pub fn integer(random: &mut Random, scope: &Scope, shape: &Shape, near: &Type) -> Term {
    let numbers = scope.of(Type::is_integer);
    let one = |random: &mut Random| match random.pick(&numbers) {
        Some(datum) => Term::datum(datum),
        None => literal(random, near),
    };
    if random.chance(shape.nonlinear) {
        return unusual(random, scope, shape, near);
    }
    let first = one(random);
    match random.below(10) {
        0..2 => literal(random, near),
        2..6 => first,
        6..8 => {
            let step = Term::int(random.between((1, 2)) as i64);
            let operator = if random.chance(60) { Operator::Add } else { Operator::Subtract };
            Term::arithmetic(operator, &first, &step)
        }
        8 => Term::add(&first, &one(random)),
        _ => Term::subtract(&first, &one(random)),
    }
}

/// What the numerical domains cannot express: products, quotients, conditionals, reads.
fn unusual(random: &mut Random, scope: &Scope, shape: &Shape, near: &Type) -> Term {
    let calm = Shape { nonlinear: 0, ..shape.clone() };
    let (a, b) = (integer(random, scope, &calm, near), integer(random, scope, &calm, near));
    match random.below(6) {
        0 => Term::multiply(&a, &b),
        1 => Term::arithmetic(Operator::IntegerDivide, &a, &b),
        2 => Term::arithmetic(Operator::Modulo, &a, &b),
        3 => Term::arithmetic(Operator::Modulo, &a, &Term::int(random.between((2, 3)) as i64)),
        _ => {
            let arrays = scope.of(|ty| matches!(ty, Type::Array(_)));
            match random.pick(&arrays) {
                Some(array) => Term::select(&Term::datum(array), &a),
                None => Term::if_then_else(&atom(random, scope, &calm), &a, &b),
            }
        }
    }
}

/// A value for a variable of the type.
pub fn value(random: &mut Random, scope: &Scope, shape: &Shape, variable: &Datum) -> Term {
    let own = Term::datum(variable);
    match variable.ty() {
        Type::Bool => match random.below(3) {
            0 => own.not(),
            1 => atom(random, scope, shape),
            _ => literal(random, variable.ty()),
        },
        Type::Array(array) => {
            let index = integer(random, scope, shape, &array.index);
            let element = integer(random, scope, shape, &array.element);
            Term::store(&own, &index, &element)
        }
        Type::Range(..) => match random.below(6) {
            0..2 => literal(random, variable.ty()),
            2 => Term::add(&own, &Term::int(1)),
            _ => integer(random, scope, shape, variable.ty()),
        },
        ty => {
            let same = scope.of(|other| other == ty);
            let a = random.pick(&same).map_or_else(|| own.clone(), |datum| Term::datum(datum));
            match random.below(5) {
                0 => Term::if_then_else(&atom(random, scope, shape), &a, &literal(random, ty)),
                1..3 => a,
                _ => literal(random, ty),
            }
        }
    }
}

/// What a message carries is usually said exactly: `p == v + 1`.
pub fn said(random: &mut Random, scope: &Scope, shape: &Shape, parameter: &Datum) -> Term {
    let left = Term::datum(parameter);
    let others = Scope { data: scope.data.iter().filter(|datum| *datum != parameter).cloned().collect() };
    let right = match parameter.ty() {
        Type::Range(..) => integer(random, &others, shape, parameter.ty()),
        ty => {
            let same = others.of(|other| other == ty);
            match random.pick(&same) {
                Some(datum) => Term::datum(datum),
                None => literal(random, ty),
            }
        }
    };
    Term::equal(&left, &right)
}
