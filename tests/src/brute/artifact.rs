//! What a stage made, as the oracle holds it: each term part for part as the expression that it is.
//!
//! The terms' own constructors, evaluation and obligations are not asked: a term is read as it stands, and
//! what it means is said by [`super::expression`] alone.

use std::rc::Rc;

use coreach_model::ActionId;
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::term::Term;
use coreach_model::term::node::{Comparison, Node, Operator, StringOperation};
use coreach_model::types::{Alternative, RecordForm};

use super::expression::Expression;
use super::machine::{Action, Datum, Direction, Machine, Step};
use super::value::{Array, ArrayType, Counting, Number, Type, Value};

/// The most values of an index's type.
const MOST_INDICES: usize = 4096;

/// The artifact as a machine.
pub fn machine(iosts: &Iosts) -> Machine {
    let constants: Vec<Datum> = iosts.constants.iter().map(datum).collect();
    let variables: Vec<Datum> = iosts.variables.iter().map(datum).collect();
    let actions: Vec<Action> = iosts
        .actions
        .iter()
        .map(|action| Action {
            name: action.name.clone(),
            direction: match action.kind {
                ActionKind::Input => Direction::Input,
                ActionKind::Output | ActionKind::Quiescence => Direction::Output,
                ActionKind::Internal => Direction::Internal,
            },
            parameters: action.parameters.iter().map(datum).collect(),
        })
        .collect();
    let steps = iosts.transitions.iter().map(|transition| {
        let scope = Scope { iosts, action: Some(transition.action.0 as usize) };
        let place = |variable| iosts.variables.iter().position(|known| known == variable);
        let assign = transition.assignments.iter().map(|(variable, term)| {
            let Some(at) = place(variable) else { panic!("{variable:?} is assigned and not declared") };
            (at, scope.expression(term))
        });
        Step {
            source: transition.source.0,
            action: transition.action.0 as usize,
            guard: scope.expression(&transition.guard),
            assign: assign.collect(),
            target: transition.target.0,
        }
    });
    Machine {
        steps: steps.collect(),
        condition: Scope { iosts, action: None }.expression(&iosts.initial_condition),
        locations: iosts.locations.iter().map(|location| location.name.clone()).collect(),
        initial: iosts.initial.0,
        constants,
        variables,
        actions,
    }
}

/// A term over the artifact's data, without parameters.
pub fn expression(iosts: &Iosts, term: &Term) -> Expression {
    Scope { iosts, action: None }.expression(term)
}

fn datum(datum: &coreach_model::Datum) -> Datum {
    Datum { name: datum.name().to_owned(), ty: ty(datum.ty()) }
}

fn integer(value: impl TryInto<i128> + std::fmt::Display + Clone) -> i128 {
    let Ok(word) = value.clone().try_into() else { panic!("{value} is beyond the words of the oracle") };
    word
}

/// The type.
pub fn ty(of: &coreach_model::Type) -> Type {
    use coreach_model::Type as Theirs;
    match of {
        Theirs::Bool => Type::Bool,
        Theirs::Int => Type::Int,
        Theirs::Nat => Type::Nat,
        Theirs::Real => Type::Real,
        Theirs::String => Type::Text,
        Theirs::Id(_) => Type::Id,
        Theirs::Range(low, high) => Type::Range(integer(low.clone()), integer(high.clone())),
        Theirs::Enum(enumeration) => {
            Type::Enumeration(enumeration.literals.iter().map(|literal| Rc::from(literal.as_str())).collect())
        }
        Theirs::Array(array) => {
            let index = ty(&array.index);
            let Some(indices) = index.values(MOST_INDICES) else { panic!("{index:?} has too many values") };
            Type::Array(Rc::new(ArrayType { index, indices, element: ty(&array.element) }))
        }
        Theirs::Record(record) => {
            let fields = record.fields.iter().map(|(name, of)| (Rc::from(name.as_str()), ty(of))).collect();
            let counting = match &record.form {
                RecordForm::Plain => Counting::All,
                RecordForm::Keyed(_) => Counting::Keys,
                RecordForm::Entries(..) => panic!("no pair has a {}", record.name),
                RecordForm::List => Counting::Many,
                RecordForm::Option => Counting::One,
                RecordForm::Variant(known) => {
                    let one = |one: &Alternative| {
                        let tag = Rc::from(format!("{}'{}", record.name, one.name));
                        (tag, one.first..one.first + one.count)
                    };
                    Counting::Of(known.iter().map(one).collect())
                }
            };
            Type::Record(fields, counting)
        }
    }
}

/// The value.
pub fn value(of: &coreach_model::Value) -> Value {
    use coreach_model::Value as Theirs;
    match of {
        Theirs::Bool(truth) => Value::Bool(*truth),
        Theirs::Int(number) => Value::integer(integer(number.clone())),
        Theirs::Real(number) => {
            let below: i128 = integer(dashu_int::IBig::from(number.denominator().clone()));
            Value::Number(Number::quotient(integer(number.numerator().clone()), below))
        }
        Theirs::String(text) | Theirs::Id(_, text) => Value::Text(text.to_string().into()),
        Theirs::Enum(enumeration, position) => {
            Value::Literal(Rc::from(enumeration.literals[*position].as_str()))
        }
        Theirs::Array(array) => {
            let Type::Array(own) = ty(&coreach_model::Type::Array(array.ty.clone())) else {
                panic!("an array's type is no array")
            };
            let explicit: Vec<(Value, Value)> =
                array.cells.iter().map(|(index, element)| (value(index), value(element))).collect();
            let default = value(&array.default);
            let cell = |index: &Value| {
                explicit.iter().find(|(known, _)| known == index).map_or(&default, |(_, found)| found).clone()
            };
            let cells = own.indices.iter().map(cell).collect();
            Value::Array(Array { ty: own, cells })
        }
        Theirs::Record(record, fields) => {
            let names = record.fields.iter().map(|(name, _)| Rc::from(name.as_str()));
            Value::Record(names.zip(fields.iter().map(value)).collect())
        }
    }
}

/// The way back, for a value of this type; of arrays and fractions there is none.
pub fn modelled(of: &Value, ty: &coreach_model::Type) -> Option<coreach_model::Value> {
    use coreach_model::{Type as Theirs, Value as Made};
    match (of, ty) {
        (Value::Bool(truth), _) => Some(Made::Bool(*truth)),
        (Value::Text(text), Theirs::Id(name)) => Some(Made::id(name, text)),
        (Value::Text(text), _) => Some(Made::string(text)),
        (Value::Number(number), Theirs::Real) => {
            Some(Made::Real(dashu_int::IBig::from(number.as_integer()?).into()))
        }
        (Value::Number(number), _) => Some(Made::int(number.as_integer()?)),
        (Value::Literal(name), Theirs::Enum(enumeration)) => {
            let position = enumeration.literals.iter().position(|literal| **literal == **name)?;
            Some(Made::Enum(enumeration.clone(), position))
        }
        (Value::Record(fields), Theirs::Record(record)) => {
            let made = record.fields.iter().map(|(name, ty)| {
                let (_, value) = fields.iter().find(|(known, _)| **known == **name)?;
                modelled(value, ty)
            });
            Some(Made::Record(record.clone(), made.collect::<Option<_>>()?))
        }
        _ => None,
    }
}

struct Scope<'a> {
    iosts: &'a Iosts,
    action: Option<usize>,
}

impl Scope<'_> {
    fn place(&self, datum: &coreach_model::Datum) -> usize {
        let parameters = self.action.map(|action| &self.iosts.actions[ActionId(action as u32)].parameters);
        let data =
            self.iosts.constants.iter().chain(&self.iosts.variables).chain(parameters.into_iter().flatten());
        let found = data.enumerate().find(|(_, known)| *known == datum);
        let Some((place, _)) = found else { panic!("{datum:?} is mentioned and not declared") };
        place
    }

    fn expression(&self, term: &Term) -> Expression {
        let one = |term: &Term| Box::new(self.expression(term));
        let all = |terms: &[Term]| terms.iter().map(|term| self.expression(term)).collect();
        match term.node() {
            Node::Literal(literal) => Expression::Constant(value(literal)),
            Node::Data(datum) => Expression::Place(self.place(datum)),
            Node::Not(a) => Expression::Not(one(a)),
            Node::And(parts) => Expression::And(all(parts)),
            Node::Or(parts) => Expression::Or(all(parts)),
            Node::Compare(comparison, a, b) => chain(*comparison, one(a), self.expression(b)),
            Node::IfThenElse(c, a, b) => Expression::If(one(c), one(a), one(b)),
            Node::Arithmetic(operator, a, b) => Expression::Arithmetic(*operator, one(a), one(b)),
            Node::Negate(a) => Expression::Negate(one(a)),
            // Numbers are rationals here.
            Node::ToReal(a) => self.expression(a),
            Node::OnStrings(StringOperation::Concatenate, parts) => {
                Expression::Arithmetic(Operator::Add, one(&parts[0]), one(&parts[1]))
            }
            Node::OnStrings(StringOperation::At, parts) => Expression::Select(one(&parts[0]), one(&parts[1])),
            Node::OnStrings(StringOperation::Slice, parts) => {
                Expression::Slice(one(&parts[0]), one(&parts[1]), one(&parts[2]))
            }
            Node::OnStrings(operation, parts) => {
                let Some(name) = operation.function() else { panic!("{operation:?} has no name") };
                Expression::Call(name.to_owned(), all(parts))
            }
            Node::Select(a, i) => Expression::Select(one(a), one(i)),
            Node::Store(a, i, e) => Expression::Store(one(a), one(i), one(e)),
            Node::Record(of, fields) => {
                Expression::Made(ty(&coreach_model::Type::Record(of.clone())), all(fields))
            }
            Node::Field(a, position) => {
                let coreach_model::Type::Record(record) = a.sort() else { panic!("{a} is no record") };
                Expression::Field(one(a), record.fields[*position].0.clone())
            }
        }
    }
}

fn chain(comparison: Comparison, a: Box<Expression>, b: Expression) -> Expression {
    Expression::Chain(a, vec![(comparison, b)])
}
