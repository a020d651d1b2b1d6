//! The meanings of names: one namespace for data and literals of enumerations, with an action's parameters on
//! top.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::data::Datum;
use crate::diagnostic::Origin;
use crate::term::Term;
use crate::types::{EnumType, RecordForm, RecordType, Type};
use crate::value::Value;

/// Describes the name of a location of the specification, for a message about a purpose.
pub const LOCATION: &str = "a location of the specification";
/// Words of a message about an action that its composition hides.
pub const HIDDEN: &str = "hidden by `hide`";

#[derive(Clone, PartialEq, Debug)]
pub enum Meaning {
    Variable(Datum),
    Constant(Datum),
    /// A datum of the specification that a purpose observes.
    Observed(Datum),
    /// A clock of the timed model that is read.
    Clock(Datum),
    /// A literal of an enumeration, by its position.
    Literal(Arc<EnumType>, usize),
    /// An alternative of a variant, by its number.
    Alternative(Arc<RecordType>, usize),
    /// A name that was declared with a type that could not be read. A use of it is no second mistake.
    Broken,
}

impl Meaning {
    /// Its kind in a user's words, without an article.
    pub fn describe(&self) -> String {
        match self {
            Meaning::Variable(_) => "variable".to_owned(),
            Meaning::Constant(_) => "constant".to_owned(),
            Meaning::Observed(_) => "observed datum".to_owned(),
            Meaning::Clock(_) => "clock".to_owned(),
            Meaning::Literal(enumeration, _) => format!("literal of {}", enumeration.name),
            Meaning::Alternative(variant, _) => format!("alternative of {}", variant.name),
            Meaning::Broken => "datum".to_owned(),
        }
    }

    /// The datum or the value that it is. `None` for an alternative with data, and for a broken name.
    pub fn term(&self) -> Option<Term> {
        match self {
            Meaning::Variable(datum)
            | Meaning::Constant(datum)
            | Meaning::Observed(datum)
            | Meaning::Clock(datum) => Some(Term::datum(datum)),
            Meaning::Literal(enumeration, position) => {
                Some(Term::literal(Value::Enum(enumeration.clone(), *position)))
            }
            Meaning::Alternative(variant, number) => {
                let is_whole = variant.alternatives()[*number].count == 0;
                is_whole.then(|| variant.made_of(variant.tag(*number), []))
            }
            Meaning::Broken => None,
        }
    }
}

/// The names that a declared type adds: literals and alternatives.
pub fn names_of(name: &str, ty: &Type) -> Vec<(String, Meaning)> {
    let mut names = Vec::new();
    let enumeration = match ty {
        Type::Enum(own) if own.name == *name => Some(own),
        Type::Record(variant) if variant.name == *name && variant.form != RecordForm::Plain => {
            for (number, alternative) in variant.alternatives().into_iter().enumerate() {
                names.push((alternative.name, Meaning::Alternative(variant.clone(), number)));
            }
            // The tags of a variant are literals, too.
            if let Type::Enum(tags) = &variant.fields[0].1 { Some(tags) } else { None }
        }
        _ => None,
    };
    if let Some(ty) = enumeration {
        for (position, literal) in ty.literals.iter().enumerate() {
            names.push((literal.clone(), Meaning::Literal(ty.clone(), position)));
        }
    }
    names
}

/// A function: an expression with a name. A call replaces its parameters by arguments.
#[derive(Clone, Debug)]
pub struct NamedExpression {
    pub name: String,
    /// Its parameters, with the sorts of their types.
    pub parameters: Vec<Datum>,
    /// Its expression. `None` if the declaration has a mistake: a call is no second one.
    pub body: Option<Term>,
    pub origin: Origin,
}

/// The place of the declaration does not count.
impl PartialEq for NamedExpression {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.parameters, &self.body) == (&other.name, &other.parameters, &other.body)
    }
}

impl Eq for NamedExpression {}

#[derive(Clone, Default, Debug)]
pub struct Names {
    /// The types under `types:` without a mistake.
    pub types: Vec<(String, Type)>,
    functions: BTreeMap<String, NamedExpression>,
    known: BTreeMap<String, (Meaning, Option<Origin>)>,
    /// The declarations of variables and constants.
    pub declared: Arc<BTreeMap<String, Origin>>,
    /// For names that are no data here: their kind, for messages.
    elsewhere: HashMap<String, Cow<'static, str>>,
}

impl Names {
    /// The meaning of the name, and the place of its declaration.
    pub fn get(&self, name: &str) -> Option<&(Meaning, Option<Origin>)> {
        self.known.get(name)
    }

    /// Adds a name; the first declaration stays.
    pub fn add(&mut self, name: &str, meaning: Meaning, origin: Option<Origin>) {
        if let (Meaning::Variable(_) | Meaning::Constant(_), Some(origin)) = (&meaning, &origin) {
            Arc::make_mut(&mut self.declared).entry(name.to_owned()).or_insert(origin.clone());
        }
        self.known.entry(name.to_owned()).or_insert((meaning, origin));
    }

    pub fn function(&self, name: &str) -> Option<&NamedExpression> {
        self.functions.get(name)
    }

    /// Adds a function; the first declaration stays.
    pub fn add_function(&mut self, function: NamedExpression) {
        self.functions.entry(function.name.clone()).or_insert(function);
    }

    /// All functions, in alphabetical order.
    pub fn functions(&self) -> impl Iterator<Item = &NamedExpression> {
        self.functions.values()
    }

    /// Notes the kind of a name that is no datum: `a parameter of Coin`.
    pub fn add_elsewhere(&mut self, name: &str, what: impl Into<Cow<'static, str>>) {
        self.elsewhere.entry(name.to_owned()).or_insert(what.into());
    }

    /// The kind of a name that is no datum.
    pub fn elsewhere(&self, name: &str) -> Option<&str> {
        self.elsewhere.get(name).map(AsRef::as_ref)
    }

    /// All names with their meaning, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Meaning)> {
        self.known.iter().map(|(name, (meaning, _))| (name.as_str(), meaning))
    }
}

/// The names that one expression sees.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    pub names: &'a Names,
    /// The parameters in scope, by the name that the transition gives them. `None` if the type is broken.
    pub parameters: &'a [(String, Option<Datum>)],
    pub action: Option<&'a str>,
    /// Are the parameters those of a function?
    pub is_function: bool,
}

impl<'a> Scope<'a> {
    /// A scope without parameters.
    pub fn of(names: &'a Names) -> Self {
        Scope { names, parameters: &[], action: None, is_function: false }
    }

    /// All names that can be used, parameters first.
    pub fn usable(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let parameters = self.parameters.iter().map(|(name, _)| name.as_str());
        parameters.chain(self.names.iter().map(|(name, _)| name))
    }
}
