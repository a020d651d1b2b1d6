//! A pair as the oracle reads it: the YAML text, by `docs/model-format.md`.
//!
//! Of the project's reader it uses what only knows form: the tree of the YAML, and the syntax tree of an
//! expression as the parser produces it. What names and types mean is decided here.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use coreach_model::SourceFile;
use coreach_model::reader::collect::Collector;
use coreach_model::reader::lexer::tokens;
use coreach_model::reader::parser::parse;
use coreach_model::reader::syntax::{self, ExpressionKind, QuantifiedValues, Quantifier};
use coreach_model::reader::yaml::{self, Entry, Node};
use coreach_model::term::node::{Comparison, Operator};

use super::expression::{Expression, OF_STRINGS};
use super::machine::{Action, Datum, Direction, Machine, Step};
use super::value::{ArrayType, Counting, Number, Type, Value};

/// A specification.
#[derive(Clone, Debug)]
pub struct Specification {
    /// The model.
    pub machine: Machine,
    types: BTreeMap<String, Type>,
    literals: Vec<Rc<str>>,
    functions: BTreeMap<String, Function>,
}

/// A function: its parameters' names, and what a call stands for.
#[derive(Clone, Debug)]
struct Function {
    parameters: Vec<String>,
    body: syntax::Expression,
}

/// A purpose.
#[derive(Clone, Debug)]
pub struct Purpose {
    /// The model; its constants are its own, then what it observes.
    pub machine: Machine,
    /// How many constants are its own.
    pub own_constants: usize,
    /// `Accept`
    pub accept: u32,
    /// `Reject`, where there is one.
    pub reject: Option<u32>,
}

type Read<T> = Result<T, String>;

/// The most values of an index's type.
const MOST_INDICES: usize = 4096;

/// Reads a specification.
///
/// # Errors
/// It is none.
pub fn specification(text: &str) -> Read<Specification> {
    let root = tree(text)?;
    let top = mapping(Some(&root))?;
    let mut types = Types::default();
    for entry in mapping(get(top, "types"))? {
        types.sources.insert(entry.key.text.clone(), entry.value.clone());
    }
    for entry in mapping(get(top, "types"))? {
        types.named(&entry.key.text)?;
    }
    let mut actions = Vec::new();
    for (key, direction) in [("inputs", Direction::Input), ("outputs", Direction::Output)] {
        for entry in mapping(get(top, key))? {
            let parameters = data(Some(&*entry.value), &mut types)?;
            actions.push(Action { name: entry.key.text.clone(), direction, parameters });
        }
    }
    for node in sequence(get(top, "internals"))? {
        let action =
            Action { name: scalar(node)?.to_owned(), direction: Direction::Internal, parameters: Vec::new() };
        actions.push(action);
    }
    let constants = data(get(top, "constants"), &mut types)?;
    let variables = data(get(top, "variables"), &mut types)?;
    let literals = types.literals.clone();
    let functions = functions(top)?;
    let known = Known { literals: &literals, types: &types.known, functions: &functions };
    let machine = machine(top, constants, variables, actions, known)?;
    Ok(Specification { machine, types: types.known, literals, functions })
}

/// Reads a purpose of the specification.
///
/// # Errors
/// It is none.
pub fn purpose(text: &str, of: &Specification) -> Read<Purpose> {
    let root = tree(text)?;
    let top = mapping(Some(&root))?;
    let mut types = Types { known: of.types.clone(), ..Types::default() };
    let mut constants = data(get(top, "constants"), &mut types)?;
    let own_constants = constants.len();
    for node in sequence(get(top, "observes"))? {
        let name = scalar(node)?;
        let known = of.machine.variables.iter().chain(&of.machine.constants).find(|datum| datum.name == name);
        constants.push(known.ok_or(format!("{name} cannot be observed"))?.clone());
    }
    let variables = data(get(top, "variables"), &mut types)?;
    let mut all = of.functions.clone();
    all.extend(functions(top)?);
    let known = Known { literals: &of.literals, types: &of.types, functions: &all };
    let machine = machine(top, constants, variables, of.machine.actions.clone(), known)?;
    let accept = machine.location("Accept").ok_or("there is no Accept")?;
    let reject = machine.location("Reject");
    Ok(Purpose { machine, own_constants, accept, reject })
}

fn tree(text: &str) -> Read<Arc<Node>> {
    let file = SourceFile { name: "pair".to_owned(), text: text.to_owned() };
    let mut collector = Collector::new(Arc::new(file));
    yaml::parse(&mut collector).ok_or_else(|| "no YAML".to_owned())
}

fn get<'a>(entries: &'a [Entry], key: &str) -> Option<&'a Node> {
    entries.iter().find(|entry| entry.key.text == key).map(|entry| &*entry.value)
}

/// Nothing is an empty mapping.
fn mapping(node: Option<&Node>) -> Read<&[Entry]> {
    match node {
        None => Ok(&[]),
        Some(node) if node.is_nothing() => Ok(&[]),
        Some(Node { kind: yaml::NodeKind::Mapping(entries), .. }) => Ok(entries),
        Some(other) => Err(format!("no mapping: {other:?}")),
    }
}

fn sequence(node: Option<&Node>) -> Read<&[Arc<Node>]> {
    match node {
        None => Ok(&[]),
        Some(Node { kind: yaml::NodeKind::Sequence(items), .. }) => Ok(items),
        Some(other) => Err(format!("no list: {other:?}")),
    }
}

fn scalar(node: &Node) -> Read<&str> {
    node.as_scalar().map(|scalar| scalar.text.as_str()).ok_or_else(|| format!("no text: {node:?}"))
}

fn text_of<'a>(entries: &'a [Entry], key: &str) -> Read<&'a str> {
    scalar(get(entries, key).ok_or(format!("`{key}` is missing"))?)
}

fn functions(top: &[Entry]) -> Read<BTreeMap<String, Function>> {
    let one = |entry: &Entry| {
        let parts = mapping(Some(&entry.value))?;
        let names = mapping(get(parts, "parameters"))?.iter().map(|entry| entry.key.text.clone());
        let body = text_of(parts, "is")?;
        let body = parse(body, usize::MAX).map_err(|mistake| format!("{body}: {}", mistake.message))?;
        Ok((entry.key.text.clone(), Function { parameters: names.collect(), body }))
    };
    mapping(get(top, "functions"))?.iter().map(one).collect()
}

fn data(node: Option<&Node>, types: &mut Types) -> Read<Vec<Datum>> {
    let one =
        |entry: &Entry| Ok(Datum { name: entry.key.text.clone(), ty: types.spelled(scalar(&entry.value)?)? });
    mapping(node)?.iter().map(one).collect()
}

/// The types under `types:`.
#[derive(Default)]
struct Types {
    sources: BTreeMap<String, Arc<Node>>,
    known: BTreeMap<String, Type>,
    literals: Vec<Rc<str>>,
}

impl Types {
    fn named(&mut self, name: &str) -> Read<Type> {
        if let Some(known) = self.known.get(name) {
            return Ok(known.clone());
        }
        let source = self.sources.get(name).cloned().ok_or(format!("no type is called {name}"))?;
        let ty = match &source.kind {
            yaml::NodeKind::Scalar(scalar) => self.spelled(&scalar.text)?,
            yaml::NodeKind::Sequence(items)
                if items.iter().any(|item| matches!(item.kind, yaml::NodeKind::Mapping(_))) =>
            {
                self.variant(name, items)?
            }
            yaml::NodeKind::Sequence(items) => {
                let literals: Read<Vec<Rc<str>>> =
                    items.iter().map(|item| Ok(scalar(item)?.into())).collect();
                let literals = literals?;
                self.literals.extend(literals.iter().cloned());
                Type::Enumeration(literals.into())
            }
            yaml::NodeKind::Mapping(entries) => {
                let field = |entry: &Entry| {
                    Ok((entry.key.text.as_str().into(), self.spelled(scalar(&entry.value)?)?))
                };
                Type::Record(entries.iter().map(field).collect::<Read<Vec<_>>>()?.into(), Counting::All)
            }
        };
        self.known.insert(name.to_owned(), ty.clone());
        Ok(ty)
    }

    fn variant(&mut self, name: &str, items: &[Arc<Node>]) -> Read<Type> {
        let (mut fields, mut known) = (Vec::new(), Vec::new());
        for item in items {
            let (alternative, entries) = match &item.kind {
                yaml::NodeKind::Mapping(one) => (one[0].key.text.as_str(), mapping(Some(&one[0].value))?),
                _ => (scalar(item)?, &[][..]),
            };
            let first = fields.len() + 1;
            for entry in entries {
                let ty = self.spelled(scalar(&entry.value)?)?;
                fields.push((Rc::from(format!("{alternative}'{}", entry.key.text)), ty));
            }
            known.push((Rc::from(format!("{name}'{alternative}")), first..fields.len() + 1));
        }
        let tags: Vec<Rc<str>> = known.iter().map(|(tag, _): &(Rc<str>, _)| tag.clone()).collect();
        self.literals.extend(tags.iter().cloned());
        fields.insert(0, (Rc::from("is"), Type::Enumeration(tags.into())));
        Ok(Type::Record(fields.into(), Counting::Of(known.into())))
    }

    /// A type as it is written.
    fn spelled(&mut self, text: &str) -> Read<Type> {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix("array[") {
            // The bracket that closes the index: a range has one of its own.
            let mut depth = 1;
            let closes = |(_, sign): &(usize, char)| {
                depth += i32::from(*sign == '[') - i32::from(*sign == ']');
                depth == 0
            };
            let (close, _) = rest.char_indices().find(closes).ok_or(format!("no type: {text}"))?;
            let element = rest[close + 1..].trim().strip_prefix("of ").ok_or(format!("no type: {text}"))?;
            let index = self.spelled(&rest[..close])?;
            let indices = index.values(MOST_INDICES).ok_or(format!("too many indices: {text}"))?;
            return Ok(Type::Array(Rc::new(ArrayType { index, indices, element: self.spelled(element)? })));
        }
        if let Some(rest) = text.strip_prefix("list[") {
            let (most, element) = rest.split_once("] of ").ok_or(format!("no type: {text}"))?;
            let (most, element) =
                (most.parse().map_err(|_| format!("no type: {text}"))?, self.spelled(element)?);
            let length = (Rc::from("len"), Type::Range(0, most));
            let slots = (0..most).map(|at| (Rc::from(format!("at{at}")), element.clone()));
            return Ok(Type::Record(std::iter::once(length).chain(slots).collect(), Counting::Many));
        }
        let keyed = text.strip_prefix("set[").and_then(|key| Some((key.strip_suffix(']')?, None)));
        let keyed = keyed.or_else(|| {
            let (key, value) = text.strip_prefix("map[")?.split_once("] of ")?;
            Some((key, Some(value)))
        });
        if let Some((key, value)) = keyed {
            let part = match value {
                Some(value) => self.spelled(&format!("option[{value}]"))?,
                None => Type::Bool,
            };
            let keys = self.spelled(key)?.values(MOST_INDICES).ok_or(format!("too many keys: {text}"))?;
            let field = |key: Value| {
                (Rc::from(format!("at'{}", key.to_string().replace('-', "minus"))), part.clone())
            };
            return Ok(Type::Record(keys.into_iter().map(field).collect(), Counting::Keys));
        }
        if let Some(some) = text.strip_prefix("option[").and_then(|rest| rest.strip_suffix(']')) {
            let fields = [(Rc::from("some"), Type::Bool), (Rc::from("value"), self.spelled(some)?)];
            return Ok(Type::Record(fields.into(), Counting::One));
        }
        if let Some(range) = text.strip_prefix("int[").and_then(|rest| rest.strip_suffix(']')) {
            let (low, high) = range.split_once("..").ok_or(format!("no range: {text}"))?;
            let end = |text: &str| text.trim().parse().map_err(|_| format!("no number: {text}"));
            return Ok(Type::Range(end(low)?, end(high)?));
        }
        match text {
            "bool" => Ok(Type::Bool),
            "int" => Ok(Type::Int),
            "nat" => Ok(Type::Nat),
            "real" => Ok(Type::Real),
            "string" => Ok(Type::Text),
            name => self.named(name),
        }
    }
}

fn machine(
    top: &[Entry],
    constants: Vec<Datum>,
    variables: Vec<Datum>,
    actions: Vec<Action>,
    known: Known<'_>,
) -> Read<Machine> {
    let initial = mapping(get(top, "initial"))?;
    let mut locations: Vec<String> = Vec::new();
    match get(top, "locations") {
        Some(Node { kind: yaml::NodeKind::Sequence(items), .. }) => {
            for item in items {
                locations.push(scalar(item)?.to_owned());
            }
        }
        node => locations.extend(mapping(node)?.iter().map(|entry| entry.key.text.clone())),
    }
    let mut number = |name: &str| {
        let at = locations.iter().position(|known| known == name).unwrap_or_else(|| {
            locations.push(name.to_owned());
            locations.len() - 1
        });
        at as u32
    };
    let first = number(text_of(initial, "location")?);
    let mut names = Names { constants: &constants, variables: &variables, parameters: Vec::new(), known };
    let condition = match get(initial, "condition") {
        Some(node) => names.expression(scalar(node)?, &Type::Bool)?,
        None => Expression::Constant(Value::Bool(true)),
    };
    let mut steps = Vec::new();
    for node in sequence(get(top, "transitions"))? {
        let entries = mapping(Some(node))?;
        let (source, target) = (number(text_of(entries, "from")?), number(text_of(entries, "to")?));
        let on = text_of(entries, "on")?;
        let mut words = tokens(on).into_iter().filter_map(|token| match token.kind {
            coreach_model::reader::lexer::TokenKind::Name(name) => Some(name),
            _ => None,
        });
        let name = words.next().ok_or("a transition on nothing")?;
        let action =
            actions.iter().position(|action| action.name == name).ok_or(format!("no action {name}"))?;
        let own: Vec<String> = words.collect();
        names.parameters = match on.contains('(') {
            true => own,
            false => actions[action].parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        };
        let guard = match get(entries, "when") {
            Some(node) => names.expression(scalar(node)?, &Type::Bool)?,
            None => Expression::Constant(Value::Bool(true)),
        };
        let mut assign = Vec::new();
        for entry in mapping(get(entries, "assign"))? {
            let name = &entry.key.text;
            let variable = variables.iter().position(|known| known.name == *name);
            let variable = variable.ok_or(format!("no variable {name}"))?;
            assign.push((variable, names.expression(scalar(&entry.value)?, &variables[variable].ty)?));
        }
        steps.push(Step { source, action, guard, assign, target });
    }
    Ok(Machine { locations, initial: first, condition, steps, constants, variables, actions })
}

/// What a specification declares that is no datum.
#[derive(Clone, Copy)]
struct Known<'a> {
    literals: &'a [Rc<str>],
    types: &'a BTreeMap<String, Type>,
    functions: &'a BTreeMap<String, Function>,
}

/// What names mean in an expression.
struct Names<'a> {
    constants: &'a [Datum],
    variables: &'a [Datum],
    parameters: Vec<String>,
    known: Known<'a>,
}

/// What stands for names inside of a quantifier or a function.
type Bound = Vec<(String, Expression)>;

impl Names<'_> {
    fn expression(&self, text: &str, ty: &Type) -> Read<Expression> {
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
            ExpressionKind::Field(a, field, _) => Expression::Field(one(a)?, field.clone()),
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
                    let given = of.fields.iter().find(|(known, ..)| **known == **name);
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

fn integer(digits: &str) -> Read<i128> {
    digits.parse().map_err(|_| format!("{digits} is beyond the words of the oracle"))
}
