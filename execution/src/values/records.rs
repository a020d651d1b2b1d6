//! Splits parameters of record types: each field becomes a parameter by itself.
//!
//! A value for a whole record can only come from a solver, which gives the same one again and again. A field
//! is drawn like any parameter, with the guard's conditions on it. A variant or an option is split once for
//! each alternative, since each has its own fields and its own condition.

use std::collections::VecDeque;
use std::sync::Arc;

use coreach_model::random::Random;
use coreach_model::term::node::Node;
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
    /// The alternatives of the variants and options that are split, in the order of the fields.
    chosen: Vec<usize>,
}

impl SplitParameters {
    /// Splits these parameters. Variants and options stay whole.
    pub fn new(written: &[Datum]) -> Self {
        Self::with_chosen(written, Vec::new()).0
    }

    /// Splits these parameters for alternatives that are drawn.
    pub fn draw(written: &[Datum], random: &mut Random) -> Self {
        let mut chosen = Vec::new();
        loop {
            let (split, count) = Self::with_chosen(written, chosen.clone());
            let Some(count) = count else { return split };
            chosen.push(random.below(count));
        }
    }

    /// Splits these parameters for each choice of alternatives. Some variants stay whole if these are many.
    pub fn list_alternatives(written: &[Datum]) -> Vec<Self> {
        /// The most choices of alternatives.
        const MOST: usize = 16;
        let (mut splits, mut unfinished) = (Vec::new(), VecDeque::from([Vec::new()]));
        while let Some(chosen) = unfinished.pop_front() {
            match Self::with_chosen(written, chosen.clone()) {
                (_, Some(count)) if splits.len() + unfinished.len() + count <= MOST => {
                    unfinished
                        .extend((0..count).map(|alternative| [chosen.as_slice(), &[alternative]].concat()));
                }
                (split, _) => splits.push(split),
            }
        }
        splits
    }

    /// Splits the parameters for these alternatives. Returns also the number of alternatives of the first
    /// variant that stays whole, if one does.
    fn with_chosen(written: &[Datum], chosen: Vec<usize>) -> (Self, Option<usize>) {
        let (mut parameters, mut joined) = (Vec::new(), Substitution::new());
        let mut alternatives = chosen.iter().copied();
        for parameter in written {
            let term = split_record(parameter.name(), parameter.ty(), &mut alternatives, &mut parameters);
            joined.insert(parameter.clone(), term);
        }
        let whole = parameters.iter().find_map(|datum| as_variant(datum.ty()));
        let count = whole.map(|record| record.alternatives().len());
        (SplitParameters { written: written.to_vec(), parameters, joined, chosen }, count)
    }

    /// Turns a term about the written parameters into one about their fields.
    pub fn split_term(&self, term: &Term) -> Term {
        substitute(term, &self.joined)
    }

    /// Does the same with a guard. A `match` on a known alternative becomes its case.
    pub fn split_guard(&self, guard: &Term) -> Term {
        Term::and(list_known_conjuncts(&self.split_term(guard)))
    }

    /// Splits the values of the written parameters. `None` if they are of other alternatives.
    pub fn split_values(&self, written: &[Value]) -> Option<Vec<Value>> {
        let (mut values, mut alternatives) = (Vec::new(), self.chosen.iter().copied());
        for (parameter, value) in self.written.iter().zip(written) {
            split_value(parameter.ty(), value, &mut alternatives, &mut values)?;
        }
        Some(values)
    }

    /// Puts the values of the written parameters together.
    pub fn join_values(&self, values: Vec<Value>) -> Vec<Value> {
        let (mut values, mut alternatives) = (values.into_iter(), self.chosen.iter().copied());
        let join = |parameter: &Datum| join_value(parameter.ty(), &mut alternatives, &mut values);
        self.written.iter().filter_map(join).collect()
    }
}

/// Returns a record type whose fields become parameters.
pub fn as_plain(ty: &Type) -> Option<&Arc<RecordType>> {
    match ty {
        Type::Record(record) if record.form == RecordForm::Plain => Some(record),
        _ => None,
    }
}

/// Returns a variant or an option.
pub fn as_variant(ty: &Type) -> Option<&Arc<RecordType>> {
    match ty {
        Type::Record(record) if matches!(record.form, RecordForm::Variant(_) | RecordForm::Option) => {
            Some(record)
        }
        _ => None,
    }
}

/// Lists the conjuncts, with those of the case where the alternative of a `match` is known.
fn list_known_conjuncts(guard: &Term) -> Vec<Term> {
    let list = |conjunct: Term| match conjunct.parts().first() {
        Some(subject)
            if matches!(subject.written(), Some(Node::Record(..) | Node::Literal(_)))
                && let Some(case) = conjunct.unfolded_match() =>
        {
            list_known_conjuncts(&case)
        }
        _ => vec![conjunct],
    };
    guard.conjuncts().into_iter().flat_map(list).collect()
}

/// Finds how a type is split: its record type, the tag of the next alternative if it is a variant or an
/// option, and the places of the fields. `None` if it stays whole: without fields, or without an alternative.
fn find_fields(
    ty: &Type,
    alternatives: &mut impl Iterator<Item = usize>,
) -> Option<(Arc<RecordType>, Option<Value>, Vec<usize>)> {
    if let Some(record) = as_plain(ty) {
        return Some((record.clone(), None, (0..record.fields.len()).collect()));
    }
    let record = as_variant(ty)?;
    let tag = record.tag(alternatives.next()?);
    let places = (1..record.fields.len()).filter(|place| record.counts(&tag, *place)).collect();
    Some((record.clone(), Some(tag), places))
}

/// Adds a parameter for each field to `parameters`. `alternatives` has the alternative of each variant or
/// option on the way, in order; those after its end stay whole. Returns the term that joins the fields.
fn split_record(
    name: &str,
    ty: &Type,
    alternatives: &mut impl Iterator<Item = usize>,
    parameters: &mut Vec<Datum>,
) -> Term {
    let Some((record, tag, places)) = find_fields(ty, alternatives) else {
        let datum = Datum::new(name, ty.clone());
        let term = Term::datum(&datum);
        parameters.push(datum);
        return term;
    };
    let split = |place: usize| {
        let (field, ty) = &record.fields[place];
        split_record(&format!("{name}.{field}"), ty, alternatives, parameters)
    };
    let fields: Vec<Term> = places.into_iter().map(split).collect();
    if let Some(tag) = tag { record.made_of(tag, fields) } else { Term::record(&record, fields) }
}

/// Adds the values of the fields that the type is split into. `alternatives` has the choice for each variant
/// that is met. `None` if a variant has another alternative.
fn split_value(
    ty: &Type,
    value: &Value,
    alternatives: &mut impl Iterator<Item = usize>,
    values: &mut Vec<Value>,
) -> Option<()> {
    match (find_fields(ty, alternatives), value) {
        (Some((record, tag, places)), Value::Record(_, fields)) => {
            if tag.is_some_and(|tag| tag != fields[0]) {
                return None;
            }
            let mut places = places.into_iter();
            places.try_for_each(|at| split_value(&record.fields[at].1, &fields[at], alternatives, values))
        }
        _ => {
            values.push(value.clone());
            Some(())
        }
    }
}

/// Puts the values of a record's fields together again. `None` if there are too few.
fn join_value(
    ty: &Type,
    alternatives: &mut impl Iterator<Item = usize>,
    values: &mut impl Iterator<Item = Value>,
) -> Option<Value> {
    let Some((record, tag, places)) = find_fields(ty, alternatives) else { return values.next() };
    let fields = places.into_iter().map(|at| join_value(&record.fields[at].1, alternatives, values));
    let fields = fields.collect::<Option<Vec<Value>>>()?;
    Some(match tag {
        Some(tag) => record.value_of(tag, fields),
        None => Value::Record(record, fields.into()),
    })
}
