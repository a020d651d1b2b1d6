//! A pair as the oracle reads it: the YAML text, by `docs/reference/model-format.md`.
//!
//! Of the project's reader it uses what only knows form: the tree of the YAML, and the syntax tree of an
//! expression as the parser produces it. What the spelling of a type means is decided here, what an
//! expression does in `meaning.rs`.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use coreach_model::SourceFile;
use coreach_model::reader::collect::Collector;
use coreach_model::reader::lexer::tokens;
use coreach_model::reader::parser::parse;
use coreach_model::reader::yaml::{self, Entry, Yaml};

use super::expression::Expression;
use super::machine::{Action, Datum, Direction, Machine, Step};
use super::meaning::{Function, Known, MOST_INDICES, Names, Read};
use super::value::{ArrayType, Counting, Type, Value};

/// A specification.
#[derive(Clone, Debug)]
pub struct Specification {
    /// The model.
    pub machine: Machine,
    types: BTreeMap<String, Type>,
    literals: Vec<Rc<str>>,
    functions: BTreeMap<String, Function>,
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

fn tree(text: &str) -> Read<Arc<Yaml>> {
    let file = SourceFile { name: "pair".to_owned(), text: text.to_owned() };
    let mut collector = Collector::new(Arc::new(file));
    yaml::parse(&mut collector).ok_or_else(|| "no YAML".to_owned())
}

fn get<'a>(entries: &'a [Entry], key: &str) -> Option<&'a Yaml> {
    entries.iter().find(|entry| entry.key.text == key).map(|entry| &*entry.value)
}

/// Nothing is an empty mapping.
fn mapping(node: Option<&Yaml>) -> Read<&[Entry]> {
    match node {
        None => Ok(&[]),
        Some(node) if node.is_nothing() => Ok(&[]),
        Some(Yaml { kind: yaml::NodeKind::Mapping(entries), .. }) => Ok(entries),
        Some(other) => Err(format!("no mapping: {other:?}")),
    }
}

fn sequence(node: Option<&Yaml>) -> Read<&[Arc<Yaml>]> {
    match node {
        None => Ok(&[]),
        Some(Yaml { kind: yaml::NodeKind::Sequence(items), .. }) => Ok(items),
        Some(other) => Err(format!("no list: {other:?}")),
    }
}

fn scalar(node: &Yaml) -> Read<&str> {
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

fn data(node: Option<&Yaml>, types: &mut Types) -> Read<Vec<Datum>> {
    let one =
        |entry: &Entry| Ok(Datum { name: entry.key.text.clone(), ty: types.spelled(scalar(&entry.value)?)? });
    mapping(node)?.iter().map(one).collect()
}

/// The types under `types:`.
#[derive(Default)]
struct Types {
    sources: BTreeMap<String, Arc<Yaml>>,
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

    fn variant(&mut self, name: &str, items: &[Arc<Yaml>]) -> Read<Type> {
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
            "id" => Ok(Type::Id),
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
        Some(Yaml { kind: yaml::NodeKind::Sequence(items), .. }) => {
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
