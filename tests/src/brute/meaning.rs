//! The meaning of an expression of a pair, by `docs/reference/model-format.md`: what its names stand for, and
//! what the expected types make of it.
//!
//! Of the project's reader it uses the syntax tree as the parser produces it. Which names and types there
//! are, the pair's text says, which is read before (`text.rs`).

use std::collections::BTreeMap;
use std::rc::Rc;

use coreach_model::reader::parser::parse;
use coreach_model::reader::syntax::{self, ExpressionKind, QuantifiedValues};
use coreach_model::term::node::{Comparison, Operator};
use coreach_model::term::operation::Quantifier;

use super::expression::{Expression, OF_STRINGS};
use super::machine::Datum;
use super::value::{Counting, Number, Type, Value};

/// What is read, or why it cannot be.
pub(super) type Read<T> = Result<T, String>;

/// The most values of an index's type.
pub(super) const MOST_INDICES: usize = 4096;

/// A function: its parameters' names, and what a call stands for.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) parameters: Vec<String>,
    pub(super) body: syntax::Expression,
}

/// What a specification declares that is no datum.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) literals: &'a [Rc<str>],
    pub(super) types: &'a BTreeMap<String, Type>,
    pub(super) functions: &'a BTreeMap<String, Function>,
}

/// What names mean in an expression.
pub(super) struct Names<'a> {
    pub(super) constants: &'a [Datum],
    pub(super) variables: &'a [Datum],
    pub(super) parameters: Vec<String>,
    pub(super) known: Known<'a>,
}

/// What stands for names inside of a quantifier or a function.
type Bound = Vec<(String, Expression)>;

impl Names<'_> {
    pub(super) fn expression(&self, text: &str, ty: &Type) -> Read<Expression> {
        let tree = parse(text, usize::MAX).map_err(|mistake| format!("{text}: {}", mistake.message))?;
        self.resolved_as(&tree, ty, &Vec::new())
    }

    fn resolved(&self, tree: &syntax::Expression, bound: &Bound) -> Read<Expression> {
        let one = |tree: &syntax::Expression| self.resolved(tree, bound).map(Box::new);
        let all = |trees: &[syntax::Expression]| {
            trees.iter().map(|tree| self.resolved(tree, bound)).collect::<Read<Vec<_>>>()
        };
        Ok(match &tree.kind {
            ExpressionKind::Name(name) => match bound.iter().find(|(known, _)| known == name) {
                Some((_, stands)) => stands.clone(),
                None => self.name(name)?,
            },
            ExpressionKind::Truth(value) => Expression::Constant(Value::Bool(*value)),
            ExpressionKind::Integer(digits) => Expression::Constant(Value::integer(integer(digits)?)),
            ExpressionKind::Decimal(digits) => {
                let (whole, fraction) = digits.split_once('.').ok_or("no decimal")?;
                let places = u32::try_from(fraction.len()).map_err(|_| "a long decimal")?;
                let below = 10i128.checked_pow(places).ok_or("a long decimal")?;
                Expression::Constant(Value::Number(Number::quotient(
                    integer(&format!("{whole}{fraction}"))?,
                    below,
                )))
            }
            ExpressionKind::Text(text) => Expression::Constant(Value::Text(text.as_str().into())),
            // An id, as it is written by who knows it.
            ExpressionKind::Ascribed(inner, _) if matches!(inner.kind, ExpressionKind::Text(_)) => {
                *one(inner)?
            }
            ExpressionKind::Slice(s, i, Some(j)) => Expression::Slice(one(s)?, one(i)?, one(j)?),
            ExpressionKind::Slice(_, _, None) => return Err("a list without its type".to_owned()),
            ExpressionKind::Is(a, name, _) => self.asked(self.resolved(a, bound)?, name)?.0,
            ExpressionKind::Match(of) => self.cases(of, bound)?,
            ExpressionKind::Not(a) => Expression::Not(one(a)?),
            ExpressionKind::Negate(a) => Expression::Negate(one(a)?),
            ExpressionKind::And(parts) => Expression::And(all(parts)?),
            ExpressionKind::Or(parts) => Expression::Or(all(parts)?),
            ExpressionKind::Implies(parts) => Expression::Implies(all(parts)?),
            ExpressionKind::Compare(first, rest) => {
                let rest =
                    rest.iter().map(|(comparison, part)| Ok((*comparison, self.resolved(part, bound)?)));
                Expression::Chain(one(first)?, rest.collect::<Read<Vec<_>>>()?)
            }
            ExpressionKind::Arithmetic(operator, a, b) => Expression::Arithmetic(*operator, one(a)?, one(b)?),
            ExpressionKind::IfThenElse(c, a, b) => Expression::If(one(c)?, one(a)?, one(b)?),
            ExpressionKind::Select(a, i) => Expression::Select(one(a)?, one(i)?),
            ExpressionKind::Store(a, i, e) => Expression::Store(one(a)?, one(i)?, one(e)?),
            ExpressionKind::Field(a, field, _) => {
                Expression::Field(one(a)?, field.trim_end_matches('\'').to_owned())
            }
            ExpressionKind::Call(call) => self.called(&call.name.0, all(&call.arguments)?)?,
            ExpressionKind::Quantified(quantified) => self.instances(quantified, bound)?,
            ExpressionKind::Fields(of) => {
                let (name, _) = of.name.as_ref().ok_or("a record without its type")?;
                let ty = self.known.types.get(name).ok_or(format!("no type {name}"))?;
                self.resolved_as(tree, ty, bound)?
            }
            ExpressionKind::Member(key, of) => Expression::Member(one(key)?, one(of)?),
            ExpressionKind::Listed(_)
            | ExpressionKind::Filled(_)
            | ExpressionKind::Set(_)
            | ExpressionKind::Entries(_)
            | ExpressionKind::Ascribed(..) => {
                return Err("an array without its type".to_owned());
            }
        })
    }

    /// What an expression means where a value of this type is expected.
    fn resolved_as(&self, tree: &syntax::Expression, ty: &Type, bound: &Bound) -> Read<Expression> {
        let one = |tree| self.resolved(tree, bound);
        let boxed = |tree| self.resolved_as(tree, ty, bound).map(Box::new);
        let parts = match (&tree.kind, ty) {
            (ExpressionKind::Set(keys), Type::Record(_, Counting::Keys)) => {
                let yes = Expression::Constant(Value::Bool(true));
                let entries =
                    keys.iter().map(|key| Ok((one(key)?, yes.clone()))).collect::<Read<Vec<_>>>()?;
                return Ok(Expression::Entries(ty.clone(), None, entries));
            }
            (ExpressionKind::Store(map, key, value), Type::Record(_, Counting::Keys)) => {
                return Ok(Expression::Entries(
                    ty.clone(),
                    Some(boxed(map)?),
                    vec![(one(key)?, one(value)?)],
                ));
            }
            (ExpressionKind::Arithmetic(operator, a, b), Type::Record(fields, Counting::Keys)) => {
                let keys = fields.iter().map(|(name, _)| (name.clone(), Type::Bool)).collect();
                let right = match operator {
                    Operator::Subtract => Type::Record(keys, Counting::Keys),
                    _ => ty.clone(),
                };
                let right = Box::new(self.resolved_as(b, &right, bound)?);
                return Ok(Expression::Keyed(ty.clone(), *operator, boxed(a)?, right));
            }
            (ExpressionKind::Listed(elements), Type::Record(fields, Counting::Many)) => {
                let length = Expression::Constant(Value::integer(elements.len() as i128));
                let one = |element| self.resolved_as(element, &fields[1].1, bound);
                std::iter::once(Ok(length)).chain(elements.iter().map(one)).collect::<Read<Vec<_>>>()?
            }
            (ExpressionKind::Arithmetic(Operator::Add, a, b), Type::Record(..)) => {
                let one = |tree| self.resolved_as(tree, ty, bound).map(Box::new);
                return Ok(Expression::Joined(ty.clone(), one(a)?, one(b)?));
            }
            (ExpressionKind::Slice(a, from, None), Type::Record(..)) => {
                let (list, from) = (self.resolved_as(a, ty, bound)?, self.resolved(from, bound)?);
                return Ok(Expression::Rest(ty.clone(), Box::new(list), Box::new(from)));
            }
            (ExpressionKind::Name(name), Type::Record(_, Counting::One)) if name == "none" => Vec::new(),
            (ExpressionKind::Call(call), Type::Record(fields, Counting::One)) if call.name.0 == "some" => {
                let is_some = Expression::Constant(Value::Bool(true));
                vec![is_some, self.resolved_as(&call.arguments[0], &fields[1].1, bound)?]
            }
            (
                ExpressionKind::Name(_) | ExpressionKind::Call(_),
                Type::Record(fields, Counting::Of(known)),
            ) => {
                let (name, arguments) = match &tree.kind {
                    ExpressionKind::Call(call) => (&call.name.0, &call.arguments[..]),
                    ExpressionKind::Name(name) => (name, &[][..]),
                    _ => unreachable!("seen above"),
                };
                let ending = format!("'{name}");
                let Some((tag, of)) = known.iter().find(|(tag, _)| tag.ends_with(&ending)) else {
                    return self.resolved(tree, bound);
                };
                let mut parts: Vec<Expression> =
                    fields.iter().map(|(_, ty)| Expression::Constant(ty.simplest())).collect();
                parts[0] = Expression::Constant(Value::Literal(tag.clone()));
                for (at, argument) in of.clone().zip(arguments) {
                    parts[at] = self.resolved_as(argument, &fields[at].1, bound)?;
                }
                parts
            }
            (ExpressionKind::Fields(of), Type::Record(fields, _)) => {
                let base = of.base.as_ref().map(|base| self.resolved_as(base, ty, bound)).transpose()?;
                let field = |(name, of_field): &(Rc<str>, Type)| {
                    let given = of.fields.iter().find(|(known, ..)| known.trim_end_matches('\'') == &**name);
                    match (given, &base) {
                        (Some((.., value)), _) => self.resolved_as(value, of_field, bound),
                        (None, Some(base)) => Ok(Expression::Field(Box::new(base.clone()), name.to_string())),
                        (None, None) => Err(format!("{name} is missing")),
                    }
                };
                fields.iter().map(field).collect::<Read<Vec<_>>>()?
            }
            (ExpressionKind::Filled(element), Type::Array(of)) => {
                let element = self.resolved_as(element, &of.element, bound)?;
                vec![element; of.indices.len()]
            }
            (ExpressionKind::Listed(elements), Type::Array(of)) if elements.len() == of.indices.len() => {
                let one = |element| self.resolved_as(element, &of.element, bound);
                elements.iter().map(one).collect::<Read<Vec<_>>>()?
            }
            _ => return self.resolved(tree, bound),
        };
        Ok(Expression::Made(ty.clone(), parts))
    }

    /// Whether a value is of the alternative, and its fields.
    fn asked(&self, of: Expression, name: &str) -> Read<(Expression, Vec<Expression>)> {
        let field = |name: &str| Expression::Field(Box::new(of.clone()), name.to_owned());
        if matches!(name, "some" | "none") {
            let is_some = field("some");
            let asked = if name == "some" { is_some } else { Expression::Not(Box::new(is_some)) };
            return Ok((asked, vec![field("value")]));
        }
        let ending = format!("'{name}");
        let known = self.known.types.values().find_map(|ty| match ty {
            Type::Record(fields, Counting::Of(known)) => {
                let (tag, of) = known.iter().find(|(tag, _)| tag.ends_with(&ending))?;
                Some((tag, &fields[of.clone()]))
            }
            _ => None,
        });
        let (tag, fields) = known.ok_or(format!("no alternative {name}"))?;
        let tag = Expression::Constant(Value::Literal(tag.clone()));
        let asked = Expression::Chain(Box::new(field("is")), vec![(Comparison::Equal, tag)]);
        Ok((asked, fields.iter().map(|(name, _)| field(name)).collect()))
    }

    /// A `match`, whose last case is that of all others.
    fn cases(&self, of: &syntax::Match, bound: &Bound) -> Read<Expression> {
        let subject = self.resolved(&of.subject, bound)?;
        let Some((last, cases)) = of.cases.split_last() else { return Err("no cases".to_owned()) };
        let mut found = self.resolved(&last.body, bound)?;
        for case in cases.iter().rev() {
            let (asked, fields) = self.asked(subject.clone(), &case.alternative.0)?;
            let mut inner = bound.clone();
            inner.extend(case.names.iter().map(|(name, _)| name.clone()).zip(fields));
            let body = self.resolved(&case.body, &inner)?;
            found = Expression::If(Box::new(asked), Box::new(body), Box::new(found));
        }
        Ok(found)
    }

    /// What the function is said to be, with the arguments for its parameters.
    fn called(&self, name: &str, mut arguments: Vec<Expression>) -> Read<Expression> {
        let chain = |comparison, a: &Expression, b: &Expression| {
            Expression::Chain(Box::new(a.clone()), vec![(comparison, b.clone())])
        };
        let chosen = |on, a: &Expression, b: &Expression| {
            Expression::If(Box::new(on), Box::new(a.clone()), Box::new(b.clone()))
        };
        match (name, arguments.as_mut_slice()) {
            ("min", [a, b]) => return Ok(chosen(chain(Comparison::AtMost, a, b), a, b)),
            ("max", [a, b]) => return Ok(chosen(chain(Comparison::AtLeast, a, b), a, b)),
            ("abs", [a]) => {
                let zero = Expression::Constant(Value::integer(0));
                let negative = Expression::Negate(Box::new(a.clone()));
                return Ok(chosen(chain(Comparison::Less, a, &zero), &negative, a));
            }
            ("fresh", [id]) => {
                let mut found = Vec::new();
                for (place, datum) in self.constants.iter().chain(self.variables).enumerate() {
                    ids_of(Expression::Place(place), &datum.ty, &mut found);
                }
                let differs = |(counts, other): (Expression, Expression)| {
                    let differs =
                        Expression::Chain(Box::new(id.clone()), vec![(Comparison::NotEqual, other)]);
                    Expression::Implies(vec![counts, differs])
                };
                let others = found.into_iter().filter(|(_, other)| other != id);
                return Ok(Expression::And(others.map(differs).collect()));
            }
            _ if OF_STRINGS.contains(&name) => return Ok(Expression::Call(name.to_owned(), arguments)),
            _ => {}
        }
        let function = self.known.functions.get(name).ok_or(format!("no function {name}"))?;
        let bound = function.parameters.iter().cloned().zip(arguments).collect();
        // It reads no message.
        Names { parameters: Vec::new(), ..*self }.resolved(&function.body, &bound)
    }

    fn instances(&self, quantified: &syntax::Quantified, bound: &Bound) -> Read<Expression> {
        let values = match &quantified.of {
            QuantifiedValues::Between(low, high) => {
                let end = |tree| {
                    let value =
                        self.resolved(tree, bound)?.value(&[]).map_err(|_| "an end without a value")?;
                    match value {
                        Value::Number(number) => {
                            number.as_integer().ok_or("an end that is no integer".to_owned())
                        }
                        other => Err(format!("{other} is no end")),
                    }
                };
                (end(low)?..=end(high)?).map(Value::integer).collect()
            }
            QuantifiedValues::Elements(_) => return Err("a quantifier over a list".to_owned()),
            QuantifiedValues::Type(name, _) => {
                let ty = if name == "bool" { Some(&Type::Bool) } else { self.known.types.get(name) };
                ty.and_then(|ty| ty.values(MOST_INDICES)).ok_or(format!("no values of {name}"))?
            }
        };
        let instance = |value: Value| {
            let mut inner = bound.clone();
            inner.push((quantified.name.0.clone(), Expression::Constant(value)));
            self.resolved(&quantified.body, &inner)
        };
        let instances = values.into_iter().map(instance).collect::<Read<Vec<_>>>()?;
        Ok(match quantified.quantifier {
            Quantifier::All => Expression::And(instances),
            Quantifier::Some => Expression::Or(instances),
            Quantifier::Count => {
                let number = |value| Box::new(Expression::Constant(Value::integer(value)));
                let one = |instance| Expression::If(Box::new(instance), number(1), number(0));
                let add = |sum, next| Expression::Arithmetic(Operator::Add, Box::new(sum), Box::new(next));
                instances.into_iter().map(one).fold(*number(0), add)
            }
            Quantifier::Index => {
                let number = |value| Box::new(Expression::Constant(Value::integer(value)));
                let first = |rest, (at, instance)| {
                    Expression::If(Box::new(instance), number(at as i128), Box::new(rest))
                };
                instances.into_iter().enumerate().rfold(*number(-1), first)
            }
            Quantifier::Find | Quantifier::Collect => return Err("an operator that no pair has".to_owned()),
        })
    }

    fn name(&self, name: &str) -> Read<Expression> {
        let data =
            self.constants.iter().chain(self.variables).map(|datum| &datum.name).chain(&self.parameters);
        // A parameter may have a name that an observed datum has not: names are distinct, the last one is the
        // parameter.
        if let Some((place, _)) = data.enumerate().filter(|(_, known)| *known == name).last() {
            return Ok(Expression::Place(place));
        }
        let literal = self.known.literals.iter().find(|literal| ***literal == *name);
        Ok(Expression::Constant(Value::Literal(literal.ok_or(format!("unknown name {name}"))?.clone())))
    }
}

/// The ids in something of this type, each with the condition that it is there.
fn ids_of(of: Expression, ty: &Type, found: &mut Vec<(Expression, Expression)>) {
    let yes = || Expression::Constant(Value::Bool(true));
    match ty {
        Type::Id => found.push((yes(), of)),
        Type::Array(array) => {
            for index in &array.indices {
                let index = Expression::Constant(index.clone());
                ids_of(Expression::Select(Box::new(of.clone()), Box::new(index)), &array.element, found);
            }
        }
        Type::Record(fields, counting) => {
            let field = |at: usize| Expression::Field(Box::new(of.clone()), fields[at].0.to_string());
            for at in 0..fields.len() {
                let counts = match counting {
                    Counting::Many if at > 0 => {
                        let number = Expression::Constant(Value::integer(at as i128));
                        Expression::Chain(Box::new(field(0)), vec![(Comparison::AtLeast, number)])
                    }
                    Counting::One if at > 0 => field(0),
                    Counting::Of(known) if at > 0 => {
                        let Some((tag, _)) = known.iter().find(|(_, of)| of.contains(&at)) else { continue };
                        let tag = Expression::Constant(Value::Literal(tag.clone()));
                        Expression::Chain(Box::new(field(0)), vec![(Comparison::Equal, tag)])
                    }
                    _ => yes(),
                };
                let mut within = Vec::new();
                ids_of(field(at), &fields[at].1, &mut within);
                found.extend(
                    within.into_iter().map(|(inner, id)| (Expression::And(vec![counts.clone(), inner]), id)),
                );
            }
        }
        _ => {}
    }
}

fn integer(digits: &str) -> Read<i128> {
    digits.parse().map_err(|_| format!("{digits} is beyond the words of the oracle"))
}
