//! Shapes whose truth or value seems to be known without looking: what a simplifier folds.
//!
//! By the model format every operation that is *evaluated* must have a value. `10 div x == 10 div x` divides,
//! so it does not hold for `x` = 0; neither does `true || p` lose anything, for it stops early. Both
//! directions are made here, with operations inside that do not always have a value.

use coreach_model::term::node::{Comparison, Operator};
use coreach_model::{Datum, Type};

use super::Shape;
use super::random::Random;
use super::terms::{self, Scope};
use crate::source::Tree;

/// A number whose operation does not always have a value; around those of `near`.
pub fn partial(random: &mut Random, scope: &Scope, shape: &Shape, near: &Type) -> Tree {
    let calm = shape.calm();
    let (a, b) = (terms::integer(random, scope, &calm, near), terms::integer(random, scope, &calm, near));
    let ten = Tree::int(random.between((1, 10)) as i64);
    let operator = if random.chance(60) { Operator::IntegerDivide } else { Operator::Modulo };
    match random.below(8) {
        0 | 1 => Tree::arithmetic(operator, &ten, &b),
        2 => Tree::arithmetic(operator, &a, &b),
        3 => {
            // The condition guards the division, or it does not.
            let zero = Tree::compare(terms::comparison(random), &b, &Tree::int(0));
            Tree::if_then_else(&zero, &Tree::arithmetic(operator, &ten, &b), &a)
        }
        4 => {
            let inner = Tree::arithmetic(operator, &ten, &b);
            Tree::arithmetic(Operator::Multiply, &Tree::int(0), &inner)
        }
        _ => match terms::array(random, scope) {
            Some((array, ty)) => {
                let (array, stored) = store(random, scope, &calm, &array, &ty);
                let index = terms::integer(random, scope, &calm, &ty.index);
                // What was stored last is what a simplifier reads.
                Tree::select(&array, &stored.filter(|_| random.chance(60)).unwrap_or(index))
            }
            None => Tree::arithmetic(operator, &ten, &a),
        },
    }
}

/// The array, often with a cell or two changed, and the index of the last one.
fn store(
    random: &mut Random,
    scope: &Scope,
    shape: &Shape,
    array: &Tree,
    ty: &coreach_model::types::ArrayType,
) -> (Tree, Option<Tree>) {
    let (mut array, mut last) = (array.clone(), None);
    while random.chance(50) {
        let index = terms::integer(random, scope, shape, &ty.index);
        let element = match random.below(4) {
            0 => Tree::select(&array, &index),
            _ => terms::integer(random, scope, shape, &ty.element),
        };
        array = Tree::store(&array, &index, &element);
        last = Some(index);
    }
    (array, last)
}

/// A condition that folds. It holds wherever it has a value, but for a few.
pub fn condition(random: &mut Random, scope: &Scope, shape: &Shape) -> Tree {
    let near = terms::near(random, scope);
    let t = partial(random, scope, shape, &near);
    let p = uncertain(random, scope, shape, &near);
    let q = terms::atom(random, scope, &shape.calm());
    let both = |a: &Tree, b: &Tree| Tree::And(vec![a.clone(), b.clone()]);
    let either = |a: &Tree, b: &Tree| Tree::Or(vec![a.clone(), b.clone()]);
    let implied = |a: &Tree, b: &Tree| Tree::Implies(vec![a.clone(), b.clone()]);
    let not = |a: &Tree| Tree::Not(Box::new(a.clone()));
    let three = Tree::int(3);
    match random.below(26) {
        0 | 1 => Tree::equal(&t, &t),
        2 => either(&Tree::compare(Comparison::NotEqual, &t, &t), &q),
        3 => {
            let comparison = if random.chance(50) { Comparison::AtMost } else { Comparison::AtLeast };
            Tree::compare(comparison, &t, &t)
        }
        4 => Tree::equal(&Tree::arithmetic(Operator::Subtract, &t, &t), &Tree::int(0)),
        5 => either(&p, &not(&p)),
        6 => either(&both(&p, &not(&p)), &q),
        7 => either(&p, &Tree::yes()),
        8 => either(&Tree::yes(), &p),
        9 => either(&both(&p, &Tree::no()), &q),
        10 => either(&both(&Tree::no(), &p), &q),
        11 => Tree::equal(&Tree::if_then_else(&p, &three, &three), &three),
        12 => Tree::if_then_else(&p, &q, &q),
        13 => Tree::equal(&Tree::arithmetic(Operator::Multiply, &Tree::int(0), &t), &Tree::int(0)),
        14 => not(&not(&p)),
        15 => implied(&p, &p),
        16 => implied(&p, &Tree::yes()),
        17 => Tree::equal(&p, &p),
        18 => {
            Tree::Chain(Box::new(t.clone()), vec![(Comparison::AtMost, t.clone()), (Comparison::AtMost, t)])
        }
        19 => {
            let real = Tree::arithmetic(
                Operator::Divide,
                &Tree::int(1),
                &terms::integer(random, scope, &shape.calm(), &near),
            );
            match random.below(3) {
                0 => Tree::equal(&real, &real),
                1 => Tree::compare(Comparison::AtMost, &real, &Tree::int(1)),
                _ => Tree::equal(&Tree::arithmetic(Operator::Subtract, &real, &real), &Tree::int(0)),
            }
        }
        20 => Tree::if_then_else(&Tree::yes(), &q, &p),
        _ => whole(random, scope, shape).unwrap_or_else(|| Tree::equal(&t, &t)),
    }
}

/// A condition with an operation in it that does not always have a value.
fn uncertain(random: &mut Random, scope: &Scope, shape: &Shape, near: &Type) -> Tree {
    let number = partial(random, scope, shape, near);
    let other = terms::integer(random, scope, &shape.calm(), near);
    let calm = terms::atom(random, scope, &shape.calm());
    let first = Tree::compare(terms::comparison(random), &number, &other);
    match random.below(5) {
        0 => Tree::And(vec![calm, first]),
        1 => Tree::Or(vec![calm, first]),
        2 => Tree::Implies(vec![calm, first]),
        _ => first,
    }
}

/// Of arrays and records as wholes.
fn whole(random: &mut Random, scope: &Scope, shape: &Shape) -> Option<Tree> {
    let calm = shape.calm();
    let (array, ty) = terms::array(random, scope)?;
    let index = terms::integer(random, scope, &calm, &ty.index);
    let element = terms::integer(random, scope, &calm, &ty.element);
    let other = terms::integer(random, scope, &calm, &ty.index);
    let stored = Tree::store(&array, &index, &element);
    Some(match random.below(8) {
        0 => Tree::equal(&Tree::select(&stored, &index), &element),
        6 | 7 => Tree::compare(terms::comparison(random), &Tree::select(&stored, &index), &element),
        1 => Tree::equal(&Tree::store(&array, &index, &Tree::select(&array, &index)), &array),
        2 => Tree::equal(&stored, &stored),
        3 => Tree::compare(terms::comparison(random), &Tree::select(&stored, &other), &element),
        4 => Tree::equal(&Tree::store(&stored, &index, &element), &stored),
        _ => {
            let comparison = if random.chance(50) { Comparison::Equal } else { Comparison::NotEqual };
            Tree::compare(comparison, &stored, &array)
        }
    })
}

/// The same value as the tree, where the parts that are added have one.
pub fn wrapped(random: &mut Random, scope: &Scope, shape: &Shape, tree: &Tree, near: &Type) -> Tree {
    let p = uncertain(random, scope, shape, near);
    let zero = Tree::arithmetic(Operator::Multiply, &Tree::int(0), &partial(random, scope, shape, near));
    match random.below(3) {
        0 => Tree::if_then_else(&p, tree, tree),
        1 => Tree::if_then_else(&condition(random, scope, shape), tree, tree),
        _ => Tree::arithmetic(Operator::Add, tree, &zero),
    }
}

/// What a constant and a determined initial state can be asked besides.
pub fn initial(random: &mut Random, shape: &Shape, constants: &[Datum], theta: &Tree) -> Tree {
    let scope = Scope { data: constants.to_vec() };
    let folded = condition(random, &scope, shape);
    match random.below(4) {
        0 => Tree::And(vec![folded, theta.clone()]),
        1 => Tree::And(vec![theta.clone(), folded]),
        2 => Tree::If(Box::new(folded), Box::new(theta.clone()), Box::new(theta.clone())),
        _ => Tree::Or(vec![theta.clone(), Tree::no()]),
    }
}
