//! Which name means what: one namespace for data and literals of enumerations, with an action's parameters on
//! top.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::data::Datum;
use crate::diagnostic::Origin;
use crate::term::Term;
use crate::types::EnumType;
use crate::value::Value;

/// What a name stands for.
#[derive(Clone, PartialEq, Debug)]
pub enum Meaning {
    /// A variable of the model that is read.
    Variable(Datum),
    /// A constant of the model that is read.
    Constant(Datum),
    /// A datum of the specification that a purpose observes.
    Observed(Datum),
    /// A clock of the timed model that is read.
    Clock(Datum),
    /// A literal of an enumeration, by its position.
    Literal(Arc<EnumType>, usize),
    /// Declared, but with a type that could not be read: a use of it is no second mistake.
    Broken,
}

impl Meaning {
    /// What it is, in a user's words, without an article.
    pub fn describe(&self) -> String {
        match self {
            Meaning::Variable(_) => "variable".to_owned(),
            Meaning::Constant(_) => "constant".to_owned(),
            Meaning::Observed(_) => "observed datum".to_owned(),
            Meaning::Clock(_) => "clock".to_owned(),
            Meaning::Literal(enumeration, _) => format!("literal of {}", enumeration.name),
            Meaning::Broken => "datum".to_owned(),
        }
    }

    /// The term of a use.
    pub fn term(&self) -> Option<Term> {
        match self {
            Meaning::Variable(datum)
            | Meaning::Constant(datum)
            | Meaning::Observed(datum)
            | Meaning::Clock(datum) => Some(Term::datum(datum)),
            Meaning::Literal(enumeration, at) => Some(Term::literal(Value::Enum(enumeration.clone(), *at))),
            Meaning::Broken => None,
        }
    }
}

/// All names of a model.
#[derive(Clone, Default, Debug)]
pub struct Names {
    known: BTreeMap<String, (Meaning, Option<Origin>)>,
    /// For names that are no data here: what they are instead, for messages.
    elsewhere: HashMap<String, Cow<'static, str>>,
}

impl Names {
    /// What the name means, and where it is declared.
    pub fn get(&self, name: &str) -> Option<&(Meaning, Option<Origin>)> {
        self.known.get(name)
    }

    /// Adds a name; the first declaration stays.
    pub fn add(&mut self, name: &str, meaning: Meaning, origin: Option<Origin>) {
        self.known.entry(name.to_owned()).or_insert((meaning, origin));
    }

    /// Notes what a name is that is no datum: `a parameter of Coin`.
    pub fn add_elsewhere(&mut self, name: &str, what: impl Into<Cow<'static, str>>) {
        self.elsewhere.entry(name.to_owned()).or_insert(what.into());
    }

    /// What the name is, where it is no datum.
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
    /// The model's names.
    pub names: &'a Names,
    /// The parameters in scope, by the name that the transition gives them; `None` where the type is broken.
    pub parameters: &'a [(String, Option<Datum>)],
    /// The action whose parameters these are.
    pub action: Option<&'a str>,
}

impl<'a> Scope<'a> {
    /// A scope without parameters.
    pub fn of(names: &'a Names) -> Self {
        Scope { names, parameters: &[], action: None }
    }

    /// All names that can be used, parameters first.
    pub fn usable(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let parameters = self.parameters.iter().map(|(name, _)| name.as_str());
        parameters.chain(self.names.iter().map(|(name, _)| name))
    }
}
