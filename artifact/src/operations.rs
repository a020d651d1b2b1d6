//! Writes and reads operations in the table of terms: calls, quantifiers, `match`, and operations on
//! collections.
//!
//! Each operation names only terms before it, and so do its bodies. A datum of a body is a term of its own.
//!
//! ```json
//! ["call", "fits", 1, [3, 4], 7, [9, 4]]         name, named parameters, parameters, body, arguments
//! ["some", 3, null, [4], 7, [9, 4]]              bound name, values, data that are read, body, arguments
//! ["all", 3, ["0..2", 1, [0, 1, 2]], [], 7, []]  the same over known values of the type 1
//! ["collect", 3, null, [4], 7, [9, 4], 5, 8]     the same with the list's type and an element
//! ["match", [[1, [[3, 2]], 7], [null, [], 8]], [], [9]]   cases, data that are read, arguments
//! ["element", 3, 4]                              an operation of collections, with its arguments
//! ```

use std::sync::Arc;

use coreach_model::term::operation::{
    DeclaredFunction, DerivedOperation, MatchArm, MatchOperation, QuantifiedOperation, Quantifier,
    QuantifierDomain, StandardOperation,
};
use coreach_model::{Datum, Term, Type, codec};
use serde_json::{Value as Json, json};

use crate::reading::{Reading, TermNumber};
use crate::types::TypeTable;

const QUANTIFIERS: [(&str, Quantifier); 6] = [
    ("all", Quantifier::All),
    ("some", Quantifier::Some),
    ("count", Quantifier::Count),
    ("find", Quantifier::Find),
    ("index", Quantifier::Index),
    ("collect", Quantifier::Collect),
];

const STANDARD: [(&str, StandardOperation); 26] = [
    ("min", StandardOperation::Minimum),
    ("max", StandardOperation::Maximum),
    ("abs", StandardOperation::Absolute),
    ("element", StandardOperation::Element),
    ("element_changed", StandardOperation::ElementChanged),
    ("part", StandardOperation::Part),
    ("joined", StandardOperation::Joined),
    ("element_inserted", StandardOperation::ElementInserted),
    ("element_removed", StandardOperation::ElementRemoved),
    ("sum", StandardOperation::Sum),
    ("least_element", StandardOperation::LeastElement),
    ("greatest_element", StandardOperation::GreatestElement),
    ("joined_by", StandardOperation::JoinedBy),
    ("sorted", StandardOperation::Sorted),
    ("list_contains", StandardOperation::Contains),
    ("list_index_of", StandardOperation::IndexOf),
    ("has_key", StandardOperation::HasKey),
    ("value_at", StandardOperation::ValueAt),
    ("value_changed", StandardOperation::ValueChanged),
    ("union", StandardOperation::Union),
    ("intersection", StandardOperation::Intersection),
    ("difference", StandardOperation::Difference),
    ("subset", StandardOperation::Subset),
    ("proper_subset", StandardOperation::ProperSubset),
    ("size", StandardOperation::Size),
    ("keys", StandardOperation::Keys),
];

/// Gives the word of an operation on numbers or collections.
pub fn operation_word(operation: StandardOperation) -> &'static str {
    STANDARD.iter().find(|(_, one)| *one == operation).map_or("", |one| one.0)
}

/// Lists the words of all operations.
pub(crate) fn operation_words() -> impl Iterator<Item = &'static str> {
    let others = ["call", "match", "set", "map", "defined"];
    others.into_iter().chain(QUANTIFIERS.map(|one| one.0)).chain(STANDARD.map(|one| one.0))
}

/// Lists the terms that an operation names in addition to its arguments: bodies and their data.
pub(crate) fn inner_terms(operation: &DerivedOperation) -> Vec<Term> {
    let data = |data: &[Datum]| data.iter().map(Term::datum).collect::<Vec<Term>>();
    match operation {
        DerivedOperation::Call(of) => [data(&of.parameters), vec![of.body.clone()]].concat(),
        DerivedOperation::Quantified(of) => {
            let element = of.collected.iter().map(|(_, element)| element.clone()).collect();
            [vec![Term::datum(&of.bound)], data(&of.read), vec![of.body.clone()], element].concat()
        }
        DerivedOperation::Match(of) => {
            let case = |case: &MatchArm| {
                let names = case.names.iter().map(|(name, _)| Term::datum(name));
                names.chain([case.body.clone()]).collect::<Vec<Term>>()
            };
            of.cases.iter().flat_map(case).chain(data(&of.read)).collect()
        }
        _ => Vec::new(),
    }
}

/// Writes the node of an operation: a word, then its parts.
pub(crate) fn write_operation(
    operation: &DerivedOperation,
    arguments: &[Term],
    number: &dyn Fn(&Term) -> TermNumber,
    types: &mut TypeTable,
) -> (&'static str, Vec<Json>) {
    let list = |terms: &[Term]| terms.iter().map(|term| json!(number(term))).collect::<Json>();
    let data = |data: &[Datum]| data.iter().map(|one| json!(number(&Term::datum(one)))).collect::<Json>();
    match operation {
        DerivedOperation::Call(of) => {
            let (name, named) = (json!(of.name), json!(of.named));
            ("call", vec![name, named, data(&of.parameters), json!(number(&of.body)), list(arguments)])
        }
        DerivedOperation::Quantified(of) => {
            let domain = match &of.domain {
                QuantifierDomain::Elements => Json::Null,
                QuantifierDomain::Values(text, values) => {
                    let ty = types.number(of.bound.ty());
                    json!([text, ty, values.iter().map(codec::to_json).collect::<Json>()])
                }
            };
            let bound = json!(number(&Term::datum(&of.bound)));
            let word = QUANTIFIERS.iter().find(|(_, one)| *one == of.quantifier).map_or("", |one| one.0);
            let mut parts = vec![bound, domain, data(&of.read), json!(number(&of.body)), list(arguments)];
            if let Some((ty, element)) = &of.collected {
                parts.extend([json!(types.number(&Type::Record(ty.clone()))), json!(number(element))]);
            }
            (word, parts)
        }
        DerivedOperation::Match(of) => {
            let case = |case: &MatchArm| {
                let names = case.names.iter();
                let names: Json = names.map(|(name, at)| json!([number(&Term::datum(name)), at])).collect();
                json!([case.alternative, names, number(&case.body)])
            };
            let cases = of.cases.iter().map(case).collect();
            ("match", vec![cases, data(&of.read), list(arguments)])
        }
        DerivedOperation::SetOf(ty) => {
            ("set", vec![json!(types.number(&Type::Record(ty.clone()))), list(arguments)])
        }
        DerivedOperation::MapOf(ty) => {
            ("map", vec![json!(types.number(&Type::Record(ty.clone()))), list(arguments)])
        }
        DerivedOperation::Defined => ("defined", vec![json!(number(&arguments[0]))]),
        DerivedOperation::Standard(operation) => {
            (operation_word(*operation), arguments.iter().map(|term| json!(number(term))).collect())
        }
    }
}

/// Reads the operation of a node; `None` if its word belongs to no operation.
pub(crate) fn read_if_operation(reading: &Reading<'_>) -> Option<Result<Term, String>> {
    if !operation_words().any(|word| word == reading.word) {
        return None;
    }
    let term =
        read_operation(reading).and_then(|(operation, arguments)| match operation.accepts(&arguments) {
            true => Ok(Term::apply(operation, arguments)),
            false => reading.wrong("its parts do not fit, or a body mentions other data"),
        });
    Some(term)
}

/// Reads an operation and its arguments, by the word of the node.
fn read_operation(reading: &Reading<'_>) -> Result<(DerivedOperation, Vec<Term>), String> {
    if let Some((_, operation)) = STANDARD.iter().find(|(word, _)| *word == reading.word) {
        let arguments = (0..reading.rest.len()).map(|at| reading.part(at)).collect::<Result<_, _>>()?;
        return Ok((DerivedOperation::Standard(*operation), arguments));
    }
    if let Some((_, quantifier)) = QUANTIFIERS.iter().find(|(word, _)| *word == reading.word) {
        let is_collection = *quantifier == Quantifier::Collect;
        reading.arity(if is_collection { 7 } else { 5 })?;
        let collected = match is_collection.then(|| reading.ty(5)).transpose()? {
            None => None,
            Some(Type::Record(ty)) => Some((ty.clone(), reading.part(6)?)),
            Some(_) => return reading.wrong("its type is no list"),
        };
        let bound = read_datum(reading, &reading.rest[0])?;
        let (domain, read) = (read_domain(reading)?, read_data(reading, &reading.rest[2])?);
        let (quantifier, body) = (*quantifier, reading.part(3)?);
        let of = QuantifiedOperation { quantifier, bound, domain, read, body, collected };
        return Ok((DerivedOperation::Quantified(Arc::new(of)), reading.list(4)?));
    }
    match reading.word {
        "call" => {
            reading.arity(5)?;
            let Some(name) = reading.rest[0].as_str() else { return reading.wrong("it has no name") };
            let parameters = read_data(reading, &reading.rest[2])?;
            let (named, body) = (reading.place(1)?, reading.part(3)?);
            let of = DeclaredFunction { name: name.to_owned(), named, parameters, body };
            Ok((DerivedOperation::Call(Arc::new(of)), reading.list(4)?))
        }
        "match" => {
            reading.arity(3)?;
            let Some(cases) = reading.rest[0].as_array() else { return reading.wrong("it has no cases") };
            let cases = cases.iter().map(|case| read_case(reading, case)).collect::<Result<Vec<_>, _>>()?;
            let of = MatchOperation { cases, read: read_data(reading, &reading.rest[1])? };
            Ok((DerivedOperation::Match(Arc::new(of)), reading.list(2)?))
        }
        "set" | "map" => {
            reading.arity(2)?;
            let Type::Record(ty) = reading.ty(0)?.clone() else {
                return reading.wrong("its type is no set and no map");
            };
            let operation =
                if reading.word == "set" { DerivedOperation::SetOf(ty) } else { DerivedOperation::MapOf(ty) };
            Ok((operation, reading.list(1)?))
        }
        _ => {
            reading.arity(1)?;
            Ok((DerivedOperation::Defined, vec![reading.part(0)?]))
        }
    }
}

fn read_domain(reading: &Reading<'_>) -> Result<QuantifierDomain, String> {
    let [text, ty, values] = match &reading.rest[1] {
        Json::Null => return Ok(QuantifierDomain::Elements),
        Json::Array(parts) => match parts.as_slice() {
            [text, ty, values] => [text, ty, values],
            _ => return reading.wrong("its values are not of three parts"),
        },
        _ => return reading.wrong("its values are no list"),
    };
    let ty = ty.as_u64().and_then(|number| usize::try_from(number).ok());
    let (Some(text), Some(ty), Some(values)) =
        (text.as_str(), ty.and_then(|number| reading.types.get(number)), values.as_array())
    else {
        return reading.wrong("its values have no text, no type, or no list");
    };
    let values = values.iter().map(|value| codec::from_json(value, ty).map_err(|why| why.to_string()));
    Ok(QuantifierDomain::Values(text.to_owned(), values.collect::<Result<_, _>>()?))
}

/// Reads a case of `match`: its alternative, the names that it binds, and its body.
fn read_case(reading: &Reading<'_>, case: &Json) -> Result<MatchArm, String> {
    let Some([alternative, names, body]) = case.as_array().map(Vec::as_slice) else {
        return reading.wrong("a case is not of three parts");
    };
    let number = |json: &Json| json.as_u64().and_then(|number| usize::try_from(number).ok());
    let alternative = match alternative {
        Json::Null => None,
        json => match number(json) {
            Some(number) => Some(number),
            None => return reading.wrong("a case has no alternative"),
        },
    };
    let Some(names) = names.as_array() else { return reading.wrong("a case has no names") };
    let name = |name: &Json| match name.as_array().map(Vec::as_slice) {
        Some([datum, at]) => match number(at) {
            Some(at) => Ok((read_datum(reading, datum)?, at)),
            None => reading.wrong("a name has no position"),
        },
        _ => reading.wrong("a name is not of two parts"),
    };
    let names = names.iter().map(name).collect::<Result<_, _>>()?;
    Ok(MatchArm { alternative, names, body: reading.part_of(number(body))? })
}

fn read_datum(reading: &Reading<'_>, json: &Json) -> Result<Datum, String> {
    let term = reading.part_of(json.as_u64().and_then(|number| usize::try_from(number).ok()))?;
    term.as_datum().cloned().map_or_else(|| reading.wrong("a part is no datum"), Ok)
}

fn read_data(reading: &Reading<'_>, json: &Json) -> Result<Vec<Datum>, String> {
    let Some(parts) = json.as_array() else { return reading.wrong("its data are no list") };
    parts.iter().map(|part| read_datum(reading, part)).collect()
}
