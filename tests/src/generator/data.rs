//! What a random model declares: a few types, used again and again so that data can be compared, and data of
//! them.

use std::sync::Arc;

use coreach_model::iosts::{Action, ActionKind};
use coreach_model::types::{ArrayType, EnumType, RecordForm, RecordType};
use coreach_model::{Datum, Type, Value};

use super::Shape;
use super::random::Random;
use crate::brute::value::{IDS, STRINGS};
use crate::source::Tree;

/// The types of one model, the likely ones more than once.
pub fn types(random: &mut Random, shape: &Shape) -> Vec<Type> {
    let low = random.below(3) as i64 - 1;
    let size = random.between(shape.range) as i64;
    let main = Type::Range(low.into(), (low + size - 1).into());
    let mut types = vec![main.clone(), main];
    // Nothing is drawn where there are none, so that a seed means the same pair.
    if shape.strings > 0 && random.chance(shape.strings) {
        types.extend([Type::String, Type::String]);
    }
    if shape.ids > 0 && random.chance(shape.ids) {
        types.extend([id_type(), id_type(), id_type()]);
    }
    if random.chance(40) {
        let high = random.between((1, 2)) as i64;
        types.push(Type::Range(0.into(), high.into()));
    }
    if random.chance(50) {
        types.push(Type::Bool);
    }
    if random.chance(50) {
        let literals = ["RED", "GREEN", "BLUE"][..random.between((2, 3))].iter();
        types.push(Type::Enum(Arc::new(EnumType {
            name: "Colour".to_owned(),
            literals: literals.map(|literal| (*literal).to_owned()).collect(),
        })));
    }
    types
}

/// The ids of a model.
pub fn id_type() -> Type {
    Type::Id("Job".into())
}

/// An array over two cells of small numbers.
pub fn array_type() -> Type {
    let index = Type::Range(0.into(), 1.into());
    let element = Type::Range(0.into(), 2.into());
    Type::Array(Arc::new(ArrayType { index, element }))
}

/// A record of a number, and a flag or an array.
pub fn record_type(random: &mut Random) -> Type {
    let small = Type::Range(0.into(), 1.into());
    let other = if random.chance(50) {
        Type::Bool
    } else {
        Type::Array(Arc::new(ArrayType { index: small.clone(), element: small.clone() }))
    };
    let level = Type::Range(0.into(), random.between((1, 2)).into());
    let fields = vec![("level".to_owned(), level), ("other".to_owned(), other)];
    Type::Record(Arc::new(RecordType { name: "Item".to_owned(), fields, form: RecordForm::Plain }))
}

/// A list, an option, a variant, a set or a map of small numbers.
pub fn collection_type(random: &mut Random, shape: &Shape) -> Type {
    if shape.ids > 0 {
        let one =
            if random.chance(50) { RecordType::list(2, &id_type()) } else { RecordType::option(&id_type()) };
        return Type::Record(Arc::new(one));
    }
    let small = Type::Range(0.into(), random.between((1, 2)).into());
    let number = random.below(5);
    let value = (number == 4).then_some(&Type::Bool);
    if let Some(keyed) = RecordType::keyed(&small, value).filter(|_| number >= 3) {
        return Type::Record(Arc::new(keyed));
    }
    Type::Record(Arc::new(match number {
        0 => RecordType::list(2, &small),
        1 => RecordType::option(&small),
        _ => {
            let field = |name: &str, ty: Type| vec![(name.to_owned(), ty)];
            let alternatives =
                [("GOOD", field("level", small)), ("NONE", Vec::new()), ("BAD", field("flag", Type::Bool))];
            let alternatives = alternatives.map(|(name, fields)| (name.to_owned(), fields));
            RecordType::variant("Reply", &alternatives)
        }
    }))
}

/// So many data, named by the prefix and a number.
pub fn data(random: &mut Random, prefix: &str, count: usize, types: &[Type]) -> Vec<Datum> {
    let one = |number: usize| {
        let ty = random.pick(types).cloned().unwrap_or(Type::Bool);
        Datum::new(format!("{prefix}{number}"), ty)
    };
    (0..count).map(one).collect()
}

/// Inputs, outputs and internal actions.
pub fn actions(random: &mut Random, shape: &Shape, types: &[Type]) -> Vec<Action> {
    let same = random.chance(shape.same_parameter_names);
    let mut actions = Vec::new();
    let kinds = [
        (ActionKind::Input, "Ask", shape.inputs),
        (ActionKind::Output, "Tell", shape.outputs),
        (ActionKind::Internal, "step", shape.internals),
    ];
    for (kind, prefix, count) in kinds {
        for number in 0..random.between(count) {
            let parameters = match kind {
                ActionKind::Internal => Vec::new(),
                _ => {
                    let count = random.between(shape.parameters);
                    let own = format!("p{prefix}{number}_");
                    data(random, if same { "p" } else { &own }, count, types)
                }
            };
            actions.push(Action { name: format!("{prefix}{number}"), kind, parameters });
        }
    }
    actions
}

/// A conjunct that determines the datum, from literals and the constants.
pub fn determined(random: &mut Random, datum: &Datum, constants: &[Datum]) -> Tree {
    let same: Vec<&Datum> = constants.iter().filter(|c| c.ty() == datum.ty()).collect();
    match random.pick(&same) {
        Some(constant) if random.chance(40) => Tree::equal(&Tree::datum(datum), &Tree::datum(constant)),
        _ => is_some(random, &Tree::datum(datum), datum.ty()),
    }
}

/// That the tree has some value of the type, part for part: arrays and records have no literals.
fn is_some(random: &mut Random, tree: &Tree, ty: &Type) -> Tree {
    match ty {
        Type::Array(array) => {
            let indices = Value::enumerate(&array.index, 16).unwrap_or_default();
            let cells: Vec<Tree> = indices
                .into_iter()
                .map(|index| is_some(random, &Tree::select(tree, &Tree::literal(index)), &array.element))
                .collect();
            Tree::and(cells)
        }
        Type::Record(record) if record.form != RecordForm::Plain && ty.as_keyed().is_none() => {
            let values = Value::enumerate(ty, 64).unwrap_or_else(|| vec![Value::any(ty)]);
            let Some(Value::Record(_, fields)) = random.pick(&values) else { return Tree::yes() };
            let field = |(at, value): (usize, &Value)| {
                Tree::equal(&Tree::field(tree, at), &Tree::literal(value.clone()))
            };
            Tree::and(fields.iter().enumerate().map(field).collect::<Vec<Tree>>())
        }
        Type::Record(record) => {
            let fields: Vec<Tree> = record
                .fields
                .iter()
                .enumerate()
                .map(|(at, (_, field))| is_some(random, &Tree::field(tree, at), field))
                .collect();
            Tree::and(fields)
        }
        _ => Tree::equal(tree, &literal(random, ty)),
    }
}

/// Some literal of the finite type.
pub fn literal(random: &mut Random, ty: &Type) -> Tree {
    let values = match ty {
        Type::String => STRINGS.map(Value::string).to_vec(),
        Type::Id(name) => IDS.map(|text| Value::id(name, text)).to_vec(),
        _ => Value::enumerate(ty, 64).unwrap_or_default(),
    };
    Tree::literal(random.pick(&values).cloned().unwrap_or_else(|| Value::any(ty)))
}
