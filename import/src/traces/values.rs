//! Values of traces, and the types that have them.
//!
//! A parameter is `bool`, `int` or `real` where all its values are; texts are literals of an enumeration. A
//! literal belongs to one enumeration, so parameters that have one text in common have one enumeration, with
//! all texts of both.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use coreach_model::diagnostic::Diagnostic;
use coreach_model::number;
use coreach_model::reader::collect::Collector;
use coreach_model::types::EnumType;
use coreach_model::{Datum, Term, Type, Value};
use dashu::integer::IBig;

use super::recorded::{Raw, RecordedTraces};
use crate::json::{Json, JsonValue};
use crate::names::Naming;

/// Longer numbers are not read.
const DIGITS: usize = 1_000;

/// More texts are no enumeration.
const LITERALS: usize = 1_000;

impl Raw {
    /// The value of a document.
    ///
    /// # Errors
    /// What has no counterpart.
    pub fn of(json: &Json) -> Result<Raw, String> {
        let number = |text: &str| number::real(text, DIGITS).ok();
        match &json.value {
            JsonValue::Truth(value) => Ok(Raw::Truth(*value)),
            JsonValue::Number(digits) => number(digits)
                .map(Raw::Number)
                .ok_or_else(|| format!("a number has at most {DIGITS} digits, and no large exponent")),
            JsonValue::Text(piece) => {
                Ok(number(&piece.text).map_or_else(|| Raw::Text(piece.text.clone()), Raw::Number))
            }
            JsonValue::Null | JsonValue::List(_) | JsonValue::Object(_) => {
                Err(format!("a value is a truth value, a number or a text, and this is {}", json.describe()))
            }
        }
    }
}

/// The names that actions, parameters and literals have here.
#[derive(Debug)]
pub struct NamedTraces {
    /// The types that are declared.
    pub types: Vec<(String, Type)>,
    /// Of each action its name and its parameters.
    pub actions: Vec<(String, Vec<Datum>)>,
    /// The names of literals and parameters: variables have others.
    pub taken: BTreeSet<String>,
    literals: Naming,
}

impl NamedTraces {
    /// A value as a term of this type.
    pub fn term(&self, raw: &Raw, ty: &Type) -> Term {
        Term::literal(match (raw, ty) {
            (Raw::Truth(value), _) => Value::Bool(*value),
            (Raw::Number(value), Type::Real) => Value::Real(value.clone()),
            (Raw::Number(value), _) => Value::Int(value.numerator().clone()),
            (Raw::Text(text), Type::Enum(enumeration)) => {
                let name = self.literals.get(text);
                let at = enumeration.literals.iter().position(|literal| literal == name);
                Value::Enum(enumeration.clone(), at.unwrap_or_default())
            }
            (Raw::Text(text), _) => panic!("the text `{text}` as {ty}"),
        })
    }
}

/// Names and types for all that was recorded; none where a parameter has no type, which has been reported.
pub fn named(collector: &mut Collector, recorded: &RecordedTraces) -> Option<NamedTraces> {
    let mut values: Vec<Vec<BTreeSet<&Raw>>> =
        recorded.actions.iter().map(|action| vec![BTreeSet::new(); action.parameters.len()]).collect();
    for event in recorded.traces.iter().flatten() {
        for (seen, value) in values[event.action].iter_mut().zip(&event.values) {
            seen.insert(value);
        }
    }
    let mut groups: Vec<BTreeSet<&str>> = Vec::new();
    for (action, parameters) in recorded.actions.iter().zip(&values) {
        for (name, seen) in action.parameters.iter().zip(parameters) {
            let texts: BTreeSet<&str> = seen
                .iter()
                .filter_map(|raw| match raw {
                    Raw::Text(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            let kinds: BTreeSet<u8> = seen
                .iter()
                .map(|raw| match raw {
                    Raw::Truth(_) => 0,
                    Raw::Number(_) => 1,
                    Raw::Text(_) => 2,
                })
                .collect();
            let problem = if kinds.len() > 1 {
                Some("values of several kinds")
            } else if texts.len() > LITERALS {
                Some("too many texts for an enumeration")
            } else {
                None
            };
            if let Some(problem) = problem {
                let message = format!("the parameter `{name}` of `{}` has {problem}", action.name);
                let found = Diagnostic::error("value", message);
                collector.push(found.at(collector.origin(&action.span), "first recorded here"));
            }
            if !texts.is_empty() {
                // All that have a text in common become one.
                let (mut joined, apart): (Vec<_>, Vec<_>) =
                    groups.into_iter().partition(|group| !group.is_disjoint(&texts));
                let mut group = texts;
                joined.iter_mut().for_each(|other| group.append(other));
                groups = apart;
                groups.push(group);
            }
        }
    }
    if collector.errors() > 0 {
        return None;
    }
    let literals = Naming::of(groups.iter().flatten().map(|text| (*text, None)), &BTreeSet::new(), "v");
    literals.tell(collector, "values");
    let several = groups.len() > 1;
    let enumerations: Vec<Arc<EnumType>> = groups
        .iter()
        .enumerate()
        .map(|(number, group)| {
            let name = if several { format!("Atom{}", number + 1) } else { "Atom".to_owned() };
            let literals = group.iter().map(|text| literals.get(text).to_owned()).collect();
            Arc::new(EnumType { name, literals })
        })
        .collect();
    let types = enumerations.iter().map(|it| (it.name.clone(), Type::Enum(it.clone()))).collect::<Vec<_>>();
    let of_text: BTreeMap<&str, &Arc<EnumType>> = groups
        .iter()
        .zip(&enumerations)
        .flat_map(|(group, it)| group.iter().map(move |text| (*text, it)))
        .collect();
    let places = recorded.actions.iter().map(|action| Some(collector.origin(&action.span)));
    let names = recorded.actions.iter().map(|action| action.name.as_str());
    let actions = Naming::of(names.zip(places.collect::<Vec<_>>()), &BTreeSet::new(), "a");
    actions.tell(collector, "actions");
    let taken = literals.all();
    let parameters = Naming::of(
        recorded.actions.iter().flat_map(|action| {
            action
                .parameters
                .iter()
                .map(|name| (name.as_str(), Some(collector.origin(&action.span))))
                .collect::<Vec<_>>()
        }),
        &taken,
        "p",
    );
    parameters.tell(collector, "parameters");
    let data = recorded.actions.iter().zip(&values).map(|(action, values)| {
        let data = action
            .parameters
            .iter()
            .zip(values)
            .map(|(name, seen)| Datum::new(parameters.get(name), type_of(seen, &of_text)));
        (actions.get(&action.name).to_owned(), data.collect())
    });
    Some(NamedTraces {
        types,
        actions: data.collect(),
        taken: taken.union(&parameters.all()).cloned().collect(),
        literals,
    })
}

fn type_of(seen: &BTreeSet<&Raw>, of_text: &BTreeMap<&str, &Arc<EnumType>>) -> Type {
    let is_whole = |raw: &&Raw| matches!(raw, Raw::Number(value) if IBig::from(value.denominator().clone()) == IBig::ONE);
    match seen.first() {
        Some(Raw::Truth(_)) => Type::Bool,
        Some(Raw::Text(text)) => of_text.get(text.as_str()).map_or(Type::Int, |it| Type::Enum((*it).clone())),
        Some(Raw::Number(_)) if !seen.iter().all(is_whole) => Type::Real,
        Some(Raw::Number(_)) | None => Type::Int,
    }
}
