//! Splits parameters of record types: each field becomes a parameter by itself.
//!
//! A value for a whole record can only come from a solver, which gives the same one again and again. A field
//! is drawn like any parameter, with the guard's conditions on it.

use std::sync::Arc;

use coreach_model::term::{Substitution, substitute};
use coreach_model::types::{RecordForm, RecordType};
use coreach_model::{Datum, Term, Type, Value};

/// Some parameters, also with the fields of records in place of the records.
#[derive(Clone, Debug)]
pub struct SplitParameters {
    /// The parameters as they are written.
    pub written: Vec<Datum>,
    /// The parameters, with fields in place of records.
    pub parameters: Vec<Datum>,
    /// Each written parameter, put together from `parameters`.
    joined: Substitution,
}

impl SplitParameters {
    /// Splits these parameters.
    pub fn new(written: &[Datum]) -> Self {
        let (mut parameters, mut joined) = (Vec::new(), Substitution::new());
        for parameter in written {
            let term = split_record(parameter.name(), parameter.ty(), &mut parameters);
            joined.insert(parameter.clone(), term);
        }
        SplitParameters { written: written.to_vec(), parameters, joined }
    }

    /// Turns a term about the written parameters into one about their fields.
    pub fn split_term(&self, term: &Term) -> Term {
        substitute(term, &self.joined)
    }

    /// Splits the values of the written parameters.
    pub fn split_values(&self, written: &[Value]) -> Vec<Value> {
        let mut found = Vec::new();
        for (parameter, value) in self.written.iter().zip(written) {
            split_value(parameter.ty(), value, &mut found);
        }
        found
    }

    /// Puts the values of the written parameters together.
    pub fn join_values(&self, values: Vec<Value>) -> Vec<Value> {
        let mut values = values.into_iter();
        self.written.iter().filter_map(|parameter| join_value(parameter.ty(), &mut values)).collect()
    }
}

/// A record type whose fields become parameters.
pub fn as_plain(ty: &Type) -> Option<&Arc<RecordType>> {
    match ty {
        Type::Record(record) if record.form == RecordForm::Plain => Some(record),
        _ => None,
    }
}

/// Adds a parameter for each field. Returns the term that puts the fields together.
fn split_record(name: &str, ty: &Type, found: &mut Vec<Datum>) -> Term {
    match as_plain(ty) {
        Some(record) => {
            let fields = record.fields.iter();
            let fields: Vec<Term> =
                fields.map(|(field, ty)| split_record(&format!("{name}.{field}"), ty, found)).collect();
            Term::record(record, fields)
        }
        None => {
            let datum = Datum::new(name, ty.clone());
            let term = Term::datum(&datum);
            found.push(datum);
            term
        }
    }
}

fn split_value(ty: &Type, value: &Value, found: &mut Vec<Value>) {
    match (as_plain(ty), value) {
        (Some(record), Value::Record(_, fields)) => {
            let fields = record.fields.iter().zip(fields.iter());
            fields.for_each(|((_, ty), field)| split_value(ty, field, found));
        }
        _ => found.push(value.clone()),
    }
}

/// Puts the values of a record's fields together again. `None` if there are too few.
fn join_value(ty: &Type, values: &mut impl Iterator<Item = Value>) -> Option<Value> {
    match as_plain(ty) {
        Some(record) => {
            let fields = record.fields.iter().map(|(_, ty)| join_value(ty, values));
            Some(Value::Record(record.clone(), fields.collect::<Option<Vec<Value>>>()?.into()))
        }
        None => values.next(),
    }
}
