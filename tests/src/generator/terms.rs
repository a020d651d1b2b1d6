//! Random expressions: guards that sometimes hold, and values that are usually, not always, within their
//! variable's type.

use std::sync::Arc;

use coreach_model::term::node::{Comparison, Operator};
use coreach_model::types::{ArrayType, RecordForm, RecordType};
use coreach_model::{Datum, Type, Value};

use super::data::literal;
use super::random::Random;
use super::{Shape, foldable};
use crate::source::{Form, Tree};

/// What an expression may mention; more likely things stand in it more than once.
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

impl Shape {
    /// Is this written shortly? Draws nothing where nothing is.
    fn is_short(&self, random: &mut Random) -> bool {
        self.short > 0 && random.chance(self.short)
    }

    /// The shape of an operand: linear, with a value always, written at length.
    pub(super) fn calm(&self) -> Shape {
        Shape { nonlinear: 0, partial: 0, foldable: 0, short: 0, ..self.clone() }
    }
}

/// Any comparison.
pub fn comparison(random: &mut Random) -> Comparison {
    COMPARISONS[random.below(COMPARISONS.len())]
}

/// A guard: `true`, an atom, two atoms; a disjunction, an implication or a conditional now and then.
pub fn guard(random: &mut Random, scope: &Scope, shape: &Shape) -> Tree {
    match random.below(11) {
        0..3 => Tree::yes(),
        3..7 => atom(random, scope, shape),
        7..9 => Tree::and([atom(random, scope, shape), atom(random, scope, shape)]),
        9 => Tree::or([atom(random, scope, shape), atom(random, scope, shape)]),
        _ if random.chance(50) => Tree::Implies(vec![atom(random, scope, shape), atom(random, scope, shape)]),
        _ => Tree::if_then_else(
            &atom(random, scope, shape),
            &atom(random, scope, shape),
            &atom(random, scope, shape),
        ),
    }
}

/// A comparison, a flag, a negated flag, or what folds; `true` where nothing can be mentioned.
pub fn atom(random: &mut Random, scope: &Scope, shape: &Shape) -> Tree {
    if random.chance(shape.foldable) {
        return foldable::condition(random, scope, shape);
    }
    let Some(datum) = random.pick(&scope.data).cloned() else { return Tree::yes() };
    about(random, scope, shape, &Tree::datum(&datum), datum.ty())
}

/// A condition on something of this type.
fn about(random: &mut Random, scope: &Scope, shape: &Shape, left: &Tree, ty: &Type) -> Tree {
    match ty {
        Type::Bool if random.chance(50) => left.clone(),
        Type::Bool => Tree::Not(Box::new(left.clone())),
        Type::Enum(_) => {
            let same = scope.of(|other| other == ty);
            let right = match random.pick(&same) {
                Some(other) if random.chance(30) => Tree::datum(other),
                _ => literal(random, ty),
            };
            let comparison = if random.chance(70) { Comparison::Equal } else { Comparison::NotEqual };
            Tree::compare(comparison, left, &right)
        }
        Type::Array(array) if shape.is_short(random) => {
            let word = ["all", "some"][random.below(2)];
            about_cells(random, scope, shape, left, array, (word, Type::Bool))
        }
        Type::Record(of) if of.form != RecordForm::Plain && random.chance(70) => {
            about_collection(random, scope, shape, left, ty)
        }
        Type::Record(_) if shape.is_short(random) => Tree::equal(left, &made(random, scope, shape, ty)),
        Type::Array(array) => {
            let index = integer(random, scope, shape, &array.index);
            let read = Tree::select(left, &index);
            compare(random, &read, &array.element, scope, shape)
        }
        Type::Record(record) => {
            let same = scope.of(|other| other == ty);
            match random.pick(&same) {
                Some(other) if random.chance(30) => Tree::equal(left, &Tree::datum(other)),
                _ => {
                    let at = random.below(record.fields.len());
                    let field = record.fields[at].1.clone();
                    about(random, scope, shape, &Tree::field(left, at), &field)
                }
            }
        }
        Type::String => about_text(random, scope, shape, left),
        // Parameters are not held.
        Type::Id(_)
            if random.chance(15)
                && scope.data.iter().any(|other| {
                    other.ty() == ty && !other.name().starts_with('p') && Tree::datum(other) != *left
                }) =>
        {
            Tree::call("fresh", std::slice::from_ref(left))
        }
        Type::Id(_) => {
            let comparison = if random.chance(50) { Comparison::Equal } else { Comparison::NotEqual };
            Tree::compare(comparison, left, &id(random, scope, ty))
        }
        ty => {
            let left = if random.chance(25) { integer(random, scope, shape, ty) } else { left.clone() };
            compare(random, &left, ty, scope, shape)
        }
    }
}

/// An id that may be mentioned; a literal now and then.
fn id(random: &mut Random, scope: &Scope, ty: &Type) -> Tree {
    match random.pick(&scope.of(|other| other == ty)) {
        Some(datum) if random.chance(85) => Tree::datum(datum),
        _ => literal(random, ty),
    }
}

/// An element of a collection.
fn element(random: &mut Random, scope: &Scope, shape: &Shape, ty: &Type) -> Tree {
    if ty.is_id() { id(random, scope, ty) } else { integer(random, scope, shape, ty) }
}

/// A condition on a list, a set, a map, or on a value of alternatives.
fn about_collection(random: &mut Random, scope: &Scope, shape: &Shape, left: &Tree, ty: &Type) -> Tree {
    if let Some((_, _, element)) = ty.as_list() {
        let length = Tree::call("len", std::slice::from_ref(left));
        return match random.below(4) {
            0 => {
                Tree::call("contains", &[left.clone(), self::element(random, scope, &shape.calm(), element)])
            }
            1 => {
                let index = Tree::int(random.below(2) as i64);
                let read = Tree::Short(Form::Element, element.clone(), vec![left.clone(), index]);
                match element.is_id() {
                    true => about(random, scope, &shape.calm(), &read, element),
                    false => compare(random, &read, element, scope, &shape.calm()),
                }
            }
            _ => Tree::compare(comparison(random), &length, &Tree::int(random.below(3) as i64)),
        };
    }
    if let Some((of, key_type)) = ty.as_keyed() {
        let key = key(random, scope, key_type);
        return match (random.below(4), of.map_value_type()) {
            (0, Some(value)) => {
                let read = Tree::Short(Form::Element, value.clone(), vec![left.clone(), key]);
                about(random, scope, &shape.calm(), &read, value)
            }
            (0, None) => match random.pick(&scope.of(|other| other == ty)) {
                Some(other) => Tree::compare(comparison(random), left, &Tree::datum(other)),
                None => Tree::yes(),
            },
            (1, _) => Tree::Short(Form::Between("in"), Type::Bool, vec![key, left.clone()]),
            _ => {
                let size = Tree::call("len", std::slice::from_ref(left));
                Tree::compare(comparison(random), &size, &Tree::int(random.below(3) as i64))
            }
        };
    }
    let Type::Record(of) = ty else { return Tree::yes() };
    let number = random.below(of.alternatives().len());
    let one = &of.alternatives()[number];
    if one.count == 0 || random.chance(50) {
        return Tree::Short(Form::Is(number), Type::Bool, vec![left.clone()]);
    }
    let datum = Datum::new("q", of.fields[one.first].1.clone());
    let body = about(random, scope, &shape.calm(), &Tree::datum(&datum), datum.ty());
    let rest = if random.chance(50) { Tree::yes() } else { Tree::yes().not() };
    Tree::Short(Form::Match(number, datum), Type::Bool, vec![left.clone(), body, rest])
}

/// A key: known, and then of the type, or a number that need not be.
fn key(random: &mut Random, scope: &Scope, ty: &Type) -> Tree {
    match random.pick(&scope.of(Type::is_integer)) {
        Some(datum) if random.chance(60) => Tree::datum(datum),
        _ => literal(random, ty),
    }
}

/// A list, an option, a variant, a set or a map, made or made of the variable.
fn collected(
    random: &mut Random,
    scope: &Scope,
    shape: &Shape,
    own: Tree,
    ty: &Type,
    of: &RecordType,
) -> Tree {
    let calm = shape.calm();
    if let Some((_, key_type)) = ty.as_keyed() {
        let key = key(random, scope, key_type);
        let Some(value) = of.map_value_type() else {
            let set = Tree::Short(Form::Set, ty.clone(), vec![key]);
            let sign = ["+", "+", "-", "*"][random.below(4)];
            return match random.below(6) {
                0 => set,
                _ => Tree::Short(Form::Between(sign), ty.clone(), vec![own, set]),
            };
        };
        return match (random.below(3), RecordType::keyed(key_type, None)) {
            (0, Some(keys)) => {
                let set = Tree::Short(Form::Set, Type::Record(Arc::new(keys)), vec![key]);
                Tree::Short(Form::Between("-"), ty.clone(), vec![own, set])
            }
            _ => Tree::store(&own, &key, &literal(random, value)),
        };
    }
    let Some((_, most, element)) = ty.as_list() else {
        let number = random.below(of.alternatives().len());
        let one = &of.alternatives()[number];
        let parts =
            (0..one.count).map(|at| made(random, scope, shape, &of.fields[one.first + at].1)).collect();
        return Tree::Short(Form::Alternative(number), ty.clone(), parts);
    };
    match random.below(6) {
        0 => {
            let parts =
                (0..random.below(most + 1)).map(|_| self::element(random, scope, &calm, element)).collect();
            Tree::Short(Form::Listed, ty.clone(), parts)
        }
        1..3 => Tree::Short(Form::Rest, ty.clone(), vec![own]),
        _ => Tree::Short(Form::Longer, ty.clone(), vec![own, self::element(random, scope, &calm, element)]),
    }
}

/// What a quantifier says of the cells of an array.
fn about_cells(
    random: &mut Random,
    scope: &Scope,
    shape: &Shape,
    array: &Tree,
    ty: &ArrayType,
    (word, sort): (&'static str, Type),
) -> Tree {
    let index = Datum::new("q", ty.index.clone());
    let inner = Scope { data: scope.data.iter().chain([&index]).cloned().collect() };
    let calm = Shape { partial: shape.partial, ..shape.calm() };
    let read = Tree::select(array, &Tree::datum(&index));
    let body = compare(random, &read, &ty.element, &inner, &calm);
    Tree::Short(Form::Quantified(word, index), sort, vec![body])
}

/// A value of the type by its fields, or its cells.
fn made(random: &mut Random, scope: &Scope, shape: &Shape, ty: &Type) -> Tree {
    let calm = shape.calm();
    match ty {
        Type::Record(of) => {
            let fields = of.fields.iter().map(|(_, field)| made(random, scope, shape, field)).collect();
            Tree::Short(Form::Record, ty.clone(), fields)
        }
        Type::Array(of) => {
            let element = made(random, scope, shape, &of.element);
            Tree::Short(Form::Filled, ty.clone(), vec![element])
        }
        Type::Bool => atom(random, scope, &calm),
        Type::Enum(_) => literal(random, ty),
        ty => element(random, scope, &calm, ty),
    }
}

/// A string that may be mentioned, or one that is made of some.
fn text(random: &mut Random, scope: &Scope) -> Tree {
    let strings = scope.of(|ty| *ty == Type::String);
    let one = |random: &mut Random| match random.pick(&strings) {
        Some(datum) if random.chance(60) => Tree::datum(datum),
        _ => literal(random, &Type::String),
    };
    let first = one(random);
    match random.below(8) {
        0 => Tree::arithmetic(Operator::Add, &first, &one(random)),
        1 => Tree::select(&first, &Tree::int(random.below(2) as i64)),
        2 => Tree::slice(
            &first,
            &Tree::int(random.below(2) as i64),
            &Tree::call("len", std::slice::from_ref(&first)),
        ),
        _ => first,
    }
}

/// A condition on a string.
fn about_text(random: &mut Random, scope: &Scope, shape: &Shape, left: &Tree) -> Tree {
    let right = text(random, scope);
    let number = Tree::int(random.below(3) as i64);
    let sign = comparison(random);
    let asked = ["starts_with", "ends_with", "contains"][random.below(3)];
    match random.below(14) {
        0..4 => {
            Tree::compare(if sign == Comparison::Equal { sign } else { Comparison::NotEqual }, left, &right)
        }
        4 => Tree::compare(sign, left, &right),
        5 => Tree::compare(
            sign,
            &Tree::call(["len", "to_int"][random.below(2)], std::slice::from_ref(left)),
            &number,
        ),
        6 => Tree::compare(sign, &Tree::call("index_of", &[left.clone(), right]), &number),
        7 => Tree::call(asked, &[left.clone(), right]).not(),
        8..12 => {
            let other = integer(random, scope, &shape.calm(), &Type::Range(0.into(), 2.into()));
            Tree::compare(sign, &Tree::call("to_string", &[other]), &right)
        }
        12 => {
            let expression = Value::string(&regular_expression(random, 2));
            Tree::call("matches", &[left.clone(), Tree::literal(expression)])
        }
        _ => Tree::call(asked, &[left.clone(), right]),
    }
}

/// A regular expression as a user would write it, over few characters.
pub fn regular_expression(random: &mut Random, depth: usize) -> String {
    let part = |random: &mut Random| {
        let parts = ["a", "b", "1", "é", "[ab]", "[^a]", r"\d", ".", r"\x62", "[0-9x-]", r"\w", "😀"];
        parts[random.below(parts.len())].to_owned()
    };
    if depth == 0 {
        return part(random);
    }
    let mut inner = || format!("(?:{})", regular_expression(random, depth - 1));
    let (first, second) = (inner(), inner());
    match random.below(7) {
        0 => format!("{first}|{second}"),
        1 | 2 => format!("{first}{second}"),
        3 => format!("{first}{}", ["*", "+", "?"][random.below(3)]),
        4 => format!("{first}{}{second}", ["{2}", "{1,2}", "{2,}", "{0,3}"][random.below(4)]),
        5 => format!("{}{second}", part(random)),
        _ => part(random),
    }
}

fn compare(random: &mut Random, left: &Tree, ty: &Type, scope: &Scope, shape: &Shape) -> Tree {
    let right = if random.chance(50) { literal(random, ty) } else { integer(random, scope, shape, ty) };
    let first = comparison(random);
    if random.chance(8) {
        // A chain: its third part is looked at only where the first comparison holds.
        let third = integer(random, scope, shape, ty);
        return Tree::Chain(Box::new(left.clone()), vec![(first, right), (comparison(random), third)]);
    }
    Tree::compare(first, left, &right)
}

/// The type of some number that may be mentioned.
pub fn near(random: &mut Random, scope: &Scope) -> Type {
    let numbers = scope.of(Type::is_integer);
    random.pick(&numbers).map_or_else(|| Type::Range(0.into(), 2.into()), |datum| datum.ty().clone())
}

/// Some array of numbers that may be mentioned, one in a record included.
pub fn array(random: &mut Random, scope: &Scope) -> Option<(Tree, Arc<ArrayType>)> {
    let mut found = Vec::new();
    for datum in &scope.data {
        match datum.ty() {
            Type::Array(array) => found.push((Tree::datum(datum), array.clone())),
            Type::Record(record) => {
                for (at, (_, field)) in record.fields.iter().enumerate() {
                    if let Type::Array(array) = field {
                        found.push((Tree::field(&Tree::datum(datum), at), array.clone()));
                    }
                }
            }
            _ => {}
        }
    }
    random.pick(&found).cloned()
}

/// An integer, of values around those of the type.
pub fn integer(random: &mut Random, scope: &Scope, shape: &Shape, near: &Type) -> Tree {
    let numbers = scope.of(Type::is_integer);
    let one = |random: &mut Random| match random.pick(&numbers) {
        Some(datum) => Tree::datum(datum),
        None => literal(random, near),
    };
    if random.chance(shape.partial) {
        return foldable::partial(random, scope, shape, near);
    }
    if random.chance(shape.nonlinear) {
        return unusual(random, scope, shape, near);
    }
    if shape.is_short(random) {
        let (a, b) = (one(random), one(random));
        return match array(random, scope) {
            Some((array, ty)) if random.chance(60) => {
                about_cells(random, scope, shape, &array, &ty, ("count", Type::Int))
            }
            _ => match random.below(3) {
                0 => Tree::Short(Form::Standard("min"), Type::Int, vec![a, b]),
                1 => Tree::Short(Form::Standard("max"), Type::Int, vec![a, b]),
                _ => Tree::Short(Form::Standard("abs"), Type::Int, vec![a]),
            },
        };
    }
    let first = one(random);
    match random.below(10) {
        0..2 => literal(random, near),
        2..6 => first,
        6..8 => {
            let step = Tree::int(random.between((1, 2)) as i64);
            let operator = if random.chance(60) { Operator::Add } else { Operator::Subtract };
            Tree::arithmetic(operator, &first, &step)
        }
        8 => Tree::arithmetic(Operator::Add, &first, &one(random)),
        _ if random.chance(20) => Tree::Negate(Box::new(first)),
        _ => Tree::arithmetic(Operator::Subtract, &first, &one(random)),
    }
}

/// What the numerical domains cannot express: products, quotients, conditionals, reads.
fn unusual(random: &mut Random, scope: &Scope, shape: &Shape, near: &Type) -> Tree {
    let calm = shape.calm();
    let (a, b) = (integer(random, scope, &calm, near), integer(random, scope, &calm, near));
    match random.below(6) {
        0 => Tree::arithmetic(Operator::Multiply, &a, &b),
        1 => Tree::arithmetic(Operator::IntegerDivide, &a, &b),
        2 => Tree::arithmetic(Operator::Modulo, &a, &b),
        3 => Tree::arithmetic(Operator::Modulo, &a, &Tree::int(random.between((2, 3)) as i64)),
        _ => match array(random, scope) {
            Some((array, _)) => Tree::select(&array, &a),
            None => Tree::if_then_else(&atom(random, scope, &calm), &a, &b),
        },
    }
}

/// A value for a variable of the type.
pub fn value(random: &mut Random, scope: &Scope, shape: &Shape, variable: &Datum) -> Tree {
    let own = Tree::datum(variable);
    match variable.ty() {
        Type::Bool => match random.below(3) {
            0 => own.not(),
            1 => atom(random, scope, shape),
            _ => literal(random, variable.ty()),
        },
        ty @ Type::Record(of) if of.form != RecordForm::Plain => collected(random, scope, shape, own, ty, of),
        ty @ (Type::Array(_) | Type::Record(_)) if shape.is_short(random) => match ty {
            Type::Record(of) if random.chance(60) => {
                let at = random.below(of.fields.len());
                let field = made(random, scope, shape, &of.fields[at].1);
                Tree::Short(Form::With(at), ty.clone(), vec![own, field])
            }
            ty => made(random, scope, shape, ty),
        },
        Type::Array(array) => {
            let same = scope.of(|other| other == variable.ty());
            let base = match random.pick(&same) {
                Some(other) if random.chance(40) => Tree::datum(other),
                _ => own,
            };
            if random.chance(15) {
                return base;
            }
            let index = integer(random, scope, shape, &array.index);
            let element = match random.below(6) {
                0 => Tree::select(&base, &index),
                _ => integer(random, scope, shape, &array.element),
            };
            Tree::store(&base, &index, &element)
        }
        Type::Range(..) => {
            let plain = match random.below(6) {
                0..2 => literal(random, variable.ty()),
                2 => Tree::arithmetic(Operator::Add, &own, &Tree::int(1)),
                _ => integer(random, scope, shape, variable.ty()),
            };
            if random.chance(shape.foldable / 2) {
                return foldable::wrapped(random, scope, &shape.calm(), &plain, variable.ty());
            }
            plain
        }
        Type::Record(_) => {
            let same = scope.of(|other| other == variable.ty());
            let a = random.pick(&same).map_or_else(|| own.clone(), |datum| Tree::datum(datum));
            if random.chance(40) { Tree::if_then_else(&atom(random, scope, shape), &a, &own) } else { a }
        }
        ty => {
            if *ty == Type::String && random.chance(30) {
                return text(random, scope);
            }
            if ty.is_id() && random.chance(70) {
                return id(random, scope, ty);
            }
            let same = scope.of(|other| other == ty);
            let a = random.pick(&same).map_or_else(|| own.clone(), |datum| Tree::datum(datum));
            match random.below(5) {
                0 => Tree::if_then_else(&atom(random, scope, shape), &a, &literal(random, ty)),
                1..3 => a,
                _ => literal(random, ty),
            }
        }
    }
}

/// What a message carries is usually said exactly: `p == v + 1`.
pub fn said(random: &mut Random, scope: &Scope, shape: &Shape, parameter: &Datum) -> Tree {
    let left = Tree::datum(parameter);
    let others = Scope { data: scope.data.iter().filter(|datum| *datum != parameter).cloned().collect() };
    let right = match parameter.ty() {
        Type::Range(..) => integer(random, &others, shape, parameter.ty()),
        ty => {
            let same = others.of(|other| other == ty);
            match (random.pick(&same), ty) {
                (Some(datum), _) => Tree::datum(datum),
                (None, Type::Array(_) | Type::Record(_)) => return about(random, &others, shape, &left, ty),
                (None, _) => literal(random, ty),
            }
        }
    };
    Tree::equal(&left, &right)
}

/// The initial condition, often with something that folds in it: the conjuncts become one.
pub fn disturb_initial(random: &mut Random, shape: &Shape, constants: &[Datum], theta: &mut Vec<Tree>) {
    if random.chance(shape.foldable) {
        let whole = Tree::and(std::mem::take(theta));
        theta.push(foldable::initial(random, shape, constants, &whole));
    }
}
