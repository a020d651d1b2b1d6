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

use crate::reading::{NodeReading, TermNumber, as_number, find_word};
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
    find_word(&STANDARD, operation)
}

/// Lists the words of all operations.
pub(crate) fn operation_words() -> impl Iterator<Item = &'static str> {
    let others = ["call", "match", "set", "map", "defined"];
    let quantifiers = QUANTIFIERS.map(|(word, _)| word);
    others.into_iter().chain(quantifiers).chain(STANDARD.map(|(word, _)| word))
}

/// Lists the terms that an operation names in addition to its arguments: bodies and their data.
pub(crate) fn inner_terms(operation: &DerivedOperation) -> Vec<Term> {
    let mut terms = Vec::new();
    match operation {
        DerivedOperation::Call(inner) => {
            terms.extend(inner.parameters.iter().map(Term::datum));
            terms.push(inner.body.clone());
        }
        DerivedOperation::Quantified(inner) => {
            terms.push(Term::datum(&inner.bound));
            terms.extend(inner.read.iter().map(Term::datum));
            terms.push(inner.body.clone());
            terms.extend(inner.collected.iter().map(|(_, element)| element.clone()));
        }
        DerivedOperation::Match(inner) => {
            for case in &inner.cases {
                terms.extend(case.names.iter().map(|(name, _)| Term::datum(name)));
                terms.push(case.body.clone());
            }
            terms.extend(inner.read.iter().map(Term::datum));
        }
        _ => {}
    }
    terms
}

/// Writes the node of an operation: a word, then its parts as the header shows. `number_of` numbers terms.
pub(crate) fn write_operation(
    operation: &DerivedOperation,
    arguments: &[Term],
    number_of: &dyn Fn(&Term) -> TermNumber,
    types: &mut TypeTable,
) -> (&'static str, Vec<Json>) {
    let list = |terms: &[Term]| terms.iter().map(|term| json!(number_of(term))).collect::<Json>();
    let datum_number = |datum: &Datum| json!(number_of(&Term::datum(datum)));
    let data = |listed: &[Datum]| listed.iter().map(datum_number).collect::<Json>();
    match operation {
        DerivedOperation::Call(inner) => {
            let (name, named) = (json!(inner.name), json!(inner.named));
            let body = json!(number_of(&inner.body));
            ("call", vec![name, named, data(&inner.parameters), body, list(arguments)])
        }
        DerivedOperation::Quantified(inner) => {
            let domain = match &inner.domain {
                QuantifierDomain::Elements => Json::Null,
                QuantifierDomain::Values(text, values) => {
                    let ty = types.number(inner.bound.ty());
                    json!([text, ty, values.iter().map(codec::to_json).collect::<Json>()])
                }
            };
            let (bound, body) = (number_of(&Term::datum(&inner.bound)), number_of(&inner.body));
            let mut parts = vec![json!(bound), domain, data(&inner.read), json!(body), list(arguments)];
            if let Some((ty, element)) = &inner.collected {
                parts.extend([json!(types.number(&Type::Record(ty.clone()))), json!(number_of(element))]);
            }
            (find_word(&QUANTIFIERS, inner.quantifier), parts)
        }
        DerivedOperation::Match(inner) => {
            let case = |case: &MatchArm| {
                let pair = |(name, field): &(Datum, usize)| json!([number_of(&Term::datum(name)), field]);
                let names: Json = case.names.iter().map(pair).collect();
                json!([case.alternative, names, number_of(&case.body)])
            };
            let cases = inner.cases.iter().map(case).collect();
            ("match", vec![cases, data(&inner.read), list(arguments)])
        }
        DerivedOperation::SetOf(ty) => {
            ("set", vec![json!(types.number(&Type::Record(ty.clone()))), list(arguments)])
        }
        DerivedOperation::MapOf(ty) => {
            ("map", vec![json!(types.number(&Type::Record(ty.clone()))), list(arguments)])
        }
        DerivedOperation::Defined => ("defined", vec![json!(number_of(&arguments[0]))]),
        DerivedOperation::Standard(operation) => {
            (operation_word(*operation), arguments.iter().map(|term| json!(number_of(term))).collect())
        }
    }
}

/// Reads the operation of a node; `None` if its word belongs to no operation.
pub(crate) fn read_if_operation(reading: &NodeReading<'_>) -> Option<Result<Term, String>> {
    if !operation_words().any(|word| word == reading.word) {
        return None;
    }
    Some(read_operation(reading).and_then(|(operation, arguments)| match operation.accepts(&arguments) {
        true => Ok(Term::apply(operation, arguments)),
        false => reading.wrong("its parts do not fit, or a body mentions other data"),
    }))
}

/// Reads an operation and its arguments, by the word of the node. The header shows the order of its parts.
fn read_operation(reading: &NodeReading<'_>) -> Result<(DerivedOperation, Vec<Term>), String> {
    if let Some((_, operation)) = STANDARD.iter().find(|(word, _)| *word == reading.word) {
        let arguments =
            (0..reading.parts.len()).map(|place| reading.part(place)).collect::<Result<_, _>>()?;
        return Ok((DerivedOperation::Standard(*operation), arguments));
    }
    if let Some((_, quantifier)) = QUANTIFIERS.iter().find(|(word, _)| *word == reading.word) {
        let collected = if *quantifier == Quantifier::Collect {
            reading.arity(7)?;
            let Type::Record(ty) = reading.ty(5)? else { return reading.wrong("its type is not a list") };
            Some((ty.clone(), reading.part(6)?))
        } else {
            reading.arity(5)?;
            None
        };
        let bound = read_datum(reading, &reading.parts[0])?;
        let (domain, read) = (read_domain(reading)?, read_data(reading, &reading.parts[2])?);
        let (quantifier, body) = (*quantifier, reading.part(3)?);
        let operation = QuantifiedOperation { quantifier, bound, domain, read, body, collected };
        return Ok((DerivedOperation::Quantified(Arc::new(operation)), reading.list(4)?));
    }
    match reading.word {
        "call" => {
            reading.arity(5)?;
            let Some(name) = reading.parts[0].as_str() else { return reading.wrong("it has no name") };
            let parameters = read_data(reading, &reading.parts[2])?;
            let (named, body) = (reading.place(1)?, reading.part(3)?);
            let operation = DeclaredFunction { name: name.to_owned(), named, parameters, body };
            Ok((DerivedOperation::Call(Arc::new(operation)), reading.list(4)?))
        }
        "match" => {
            reading.arity(3)?;
            let Some(cases) = reading.parts[0].as_array() else { return reading.wrong("it has no cases") };
            let cases = cases.iter().map(|case| read_case(reading, case)).collect::<Result<Vec<_>, _>>()?;
            let operation = MatchOperation { cases, read: read_data(reading, &reading.parts[1])? };
            Ok((DerivedOperation::Match(Arc::new(operation)), reading.list(2)?))
        }
        "set" | "map" => {
            reading.arity(2)?;
            let Type::Record(ty) = reading.ty(0)?.clone() else {
                return reading.wrong("its type is neither a set nor a map");
            };
            let operation =
                if reading.word == "set" { DerivedOperation::SetOf(ty) } else { DerivedOperation::MapOf(ty) };
            Ok((operation, reading.list(1)?))
        }
        // `defined`: `read_if_operation` has refused all other words.
        _ => {
            reading.arity(1)?;
            Ok((DerivedOperation::Defined, vec![reading.part(0)?]))
        }
    }
}

/// Reads the values of a quantifier: the elements of its first argument, or listed ones.
fn read_domain(reading: &NodeReading<'_>) -> Result<QuantifierDomain, String> {
    let parts = match &reading.parts[1] {
        Json::Null => return Ok(QuantifierDomain::Elements),
        Json::Array(parts) => parts.as_slice(),
        _ => return reading.wrong("its values are not a list"),
    };
    let [text, ty, values] = parts else { return reading.wrong("its values do not have three parts") };
    let ty = as_number(ty).and_then(|number| reading.types.get(number));
    let (Some(text), Some(ty), Some(values)) = (text.as_str(), ty, values.as_array()) else {
        return reading.wrong("its values lack a text, a type or a list");
    };
    let values = values.iter().map(|value| codec::from_json(value, ty).map_err(|why| why.to_string()));
    Ok(QuantifierDomain::Values(text.to_owned(), values.collect::<Result<_, _>>()?))
}

/// Reads a case of `match`: its alternative, the names that it binds, and its body.
fn read_case(reading: &NodeReading<'_>, case: &Json) -> Result<MatchArm, String> {
    let Some([alternative, names, body]) = case.as_array().map(Vec::as_slice) else {
        return reading.wrong("a case does not have three parts");
    };
    let alternative = match (alternative, as_number(alternative)) {
        // The case `_`.
        (Json::Null, _) => None,
        (_, Some(number)) => Some(number),
        (_, None) => return reading.wrong("a case has no alternative"),
    };
    let Some(names) = names.as_array() else { return reading.wrong("a case has no names") };
    let name = |name: &Json| match name.as_array().map(Vec::as_slice) {
        Some([datum, field]) => match as_number(field) {
            Some(field) => Ok((read_datum(reading, datum)?, field)),
            None => reading.wrong("a name has no position"),
        },
        _ => reading.wrong("a name does not have two parts"),
    };
    let names = names.iter().map(name).collect::<Result<_, _>>()?;
    Ok(MatchArm { alternative, names, body: reading.part_of(as_number(body))? })
}

fn read_datum(reading: &NodeReading<'_>, json: &Json) -> Result<Datum, String> {
    let term = reading.part_of(as_number(json))?;
    term.as_datum().cloned().map_or_else(|| reading.wrong("a part is not a datum"), Ok)
}

fn read_data(reading: &NodeReading<'_>, json: &Json) -> Result<Vec<Datum>, String> {
    let Some(parts) = json.as_array() else { return reading.wrong("its data are not a list") };
    parts.iter().map(|part| read_datum(reading, part)).collect()
}
