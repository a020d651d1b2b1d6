//! Eliminates bound data from a condition, so that only the state is left in it.
//!
//! **Problem.** "No output is possible here" quantifies over the values that an output may carry. Terms have
//! no quantifiers. **Method.** Two eliminations are asked, and the shorter answer is kept. Both are
//! equivalent to the quantified condition.
//!
//! - *Exact* elimination rewrites the conjunction ([`super::eliminate`]). It asks no solver.
//! - *Test points* are the terms t with which a datum p is compared, their neighbours and the ends of its
//!   type. If the disjunction of all `G[p := t]` holds in a state, some value of p satisfies G there. The
//!   solver is asked for the converse, `G => ⋁ G[p := t]` for all p. Without a certain answer there is no
//!   result. A record for which the points do not suffice is eliminated field by field. For a number or a
//!   string, the solver is asked for missing points.
//!
//! **Source.** Loos and Weispfenning, *Applying linear quantifier elimination* (1993), take all points that
//! may be needed. **Where we differ**: we take some points, and prove that they suffice. **Ends**: points are
//! limited, and so are the steps of the exact elimination. **Cost**: one query for each point of each datum.

use std::collections::BTreeSet;
use std::sync::Arc;

use coreach_model::budget;
use coreach_model::obligation::{defined, in_type};
use coreach_model::term::canonical::canonical;
use coreach_model::term::node::{Comparison, Node, Operator, StringOperation};
use coreach_model::term::{Substitution, substitute};
use coreach_model::types::{RecordForm, RecordType};
use coreach_model::{Datum, Term, Type, Value};

use super::eliminate::{eliminate_data, solve_for};
use crate::solver::{Solver, Witness, must_hold};

/// Eliminates the bound data from a condition. The result holds exactly if the bound data have values in
/// their types for which the condition holds. `None`: neither elimination finds it.
pub fn eliminate_bound(bound: &[Datum], condition: &Term, solver: &mut dyn Solver) -> Option<Term> {
    let exact = eliminate_data(bound, &condition.lowered().conjuncts());
    if exact.as_ref().is_some_and(|exact| exact.written_size() <= 1) {
        return exact;
    }
    let by_points =
        bound.iter().try_fold(condition.clone(), |shorter, datum| eliminate_datum(&shorter, datum, solver));
    // If both answers have the same size, the exact one is kept.
    exact.into_iter().chain(by_points).min_by_key(Term::written_size)
}

/// Eliminates one datum by test points or, if they do not suffice, exactly.
fn eliminate_datum(condition: &Term, datum: &Datum, solver: &mut dyn Solver) -> Option<Term> {
    let by_points = eliminate_by_points(condition, datum, solver);
    by_points.or_else(|| eliminate_data(std::slice::from_ref(datum), &condition.lowered().conjuncts()))
}

/// Eliminates one datum by test points: the disjunction of the condition at these. `None`: the solver does
/// not say that they suffice.
fn eliminate_by_points(condition: &Term, datum: &Datum, solver: &mut dyn Solver) -> Option<Term> {
    if !condition.mentions(datum) {
        return Some(condition.clone());
    }
    // The condition at each point.
    let mut instances: Vec<Term> = Vec::new();
    for point in list_test_points(condition, datum) {
        budget::ask();
        let values = Substitution::from([(datum.clone(), point.clone())]);
        let instance =
            Term::and([defined(&point), in_type(&point, datum.ty()), substitute(condition, &values)]);
        // If one point suffices, it is the shortest answer.
        if must_hold(solver, std::slice::from_ref(condition), &instance) {
            return Some(instance);
        }
        if !instance.is_false() && !instances.contains(&instance) {
            instances.push(instance);
        }
    }
    let suffices = |parts: &[Term], solver: &mut dyn Solver| {
        must_hold(solver, std::slice::from_ref(condition), &Term::or(parts.to_vec()))
    };
    let mut is_enough = suffices(&instances, solver);
    if !is_enough && let Type::Record(record) = datum.ty() {
        return eliminate_fields(condition, datum, record, solver);
    }
    // If the points do not suffice, the solver is asked for up to four more values, such as words of a
    // regular expression.
    for _ in 0..4 {
        let uncovered = [condition.clone(), Term::or(instances.clone()).not()];
        if !is_enough
            && let Witness::Found(witness) = solver.witness(&uncovered)
            && let Some(value) = witness.get(datum)
        {
            instances.push(substitute(condition, &[(datum.clone(), Term::literal(value.clone()))].into()));
            is_enough = suffices(&instances, solver);
        }
    }
    if !is_enough {
        return None;
    }
    // Leave out the points that are not needed.
    let mut number = 0;
    while number < instances.len() {
        let mut fewer = instances.clone();
        fewer.remove(number);
        if suffices(&fewer, solver) {
            instances = fewer;
        } else {
            number += 1;
        }
    }
    Some(Term::or(instances))
}

/// Eliminates a record field by field. For each length of a list or alternative of a variant, these are the
/// fields that it uses.
fn eliminate_fields(
    condition: &Term,
    datum: &Datum,
    record: &Arc<RecordType>,
    solver: &mut dyn Solver,
) -> Option<Term> {
    let field = |(name, ty): &(String, Type)| Datum::new(format!("{}#{name}", datum.name()), ty.clone());
    let fields: Vec<Datum> = record.fields.iter().map(field).collect();
    // The record with this length or tag, and with the fields that it uses.
    let record_with = |first: Value| {
        let used = (1..fields.len()).filter(|field| record.counts(&first, *field));
        record.made_of(first.clone(), used.map(|field| Term::datum(&fields[field])))
    };
    let wholes: Vec<Term> = match record.form {
        RecordForm::Plain | RecordForm::Keyed(_) => {
            vec![Term::record(record, fields.iter().map(Term::datum))]
        }
        RecordForm::List | RecordForm::Entries(..) => {
            (0..=record.most().unwrap_or(0)).map(|length| record_with(Value::int(length))).collect()
        }
        RecordForm::Option | RecordForm::Variant(_) => {
            (0..record.alternatives().len()).map(|number| record_with(record.tag(number))).collect()
        }
    };
    let mut parts = Vec::new();
    for whole in wholes {
        let values = Substitution::from([(datum.clone(), whole.clone())]);
        let mut case = vec![in_type(&whole, datum.ty()), substitute(condition, &values)];
        if let RecordForm::Entries(..) = record.form {
            // Operations keep the entries in order, so conditions do not state the order.
            case.insert(1, canonical(&whole, datum.ty()));
        }
        let case = Term::and(case);
        parts.push(fields.iter().try_fold(case, |shorter, field| eliminate_datum(&shorter, field, solver))?);
    }
    Some(Term::or(parts))
}

/// Lists values worth trying: all values of a small type, or else the terms with which the datum is compared,
/// their neighbours, the ends of its type and a few numbers.
fn list_test_points(condition: &Term, datum: &Datum) -> Vec<Term> {
    let literal_terms = |values: Vec<Value>| values.into_iter().map(Term::literal).collect();
    match datum.ty() {
        Type::Bool => return literal_terms(vec![Value::Bool(false), Value::Bool(true)]),
        Type::Enum(enumeration) => {
            let positions = 0..enumeration.literals.len();
            return literal_terms(positions.map(|at| Value::Enum(enumeration.clone(), at)).collect());
        }
        _ => {}
    }
    let compared = collect_compared(condition, datum);
    let mut points = compared.clone();
    match datum.ty() {
        Type::Int | Type::Nat | Type::Range(..) => {
            for point in &compared {
                points.extend([Term::add(point, &Term::int(1)), Term::subtract(point, &Term::int(1))]);
            }
            if let Type::Range(low, high) = datum.ty() {
                // All values of a type are tried if there are at most 32.
                let is_small = i64::try_from(&(high.clone() - low)).is_ok_and(|width| width < 32);
                let mut value = low.clone();
                while is_small && value <= *high {
                    points.push(Term::int(value.clone()));
                    value += 1;
                }
                points.extend([Term::int(low.clone()), Term::int(high.clone())]);
            }
            points.extend([0, 1, -1].map(Term::int));
        }
        Type::Real => {
            let one = Term::int(1).to_real();
            for (number, point) in compared.iter().enumerate() {
                points.extend([Term::add(point, &one), Term::subtract(point, &one)]);
                let half = |other: &Term| {
                    let two = Term::int(2).to_real();
                    Term::arithmetic(Operator::Divide, &Term::add(point, other), &two)
                };
                points.extend(compared.iter().skip(number + 1).map(half));
            }
            points.push(Term::int(0).to_real());
        }
        Type::String => {
            let longer = |point: &Term| {
                let letter = Term::literal(Value::string("a"));
                Term::on_strings(StringOperation::Concatenate, &[point.clone(), letter])
            };
            points.extend(compared.iter().map(longer));
            points.push(Term::literal(Value::string("")));
        }
        // At least one of these ids differs from all with which it is compared.
        Type::Id(name) => {
            let ids = (0..=compared.len()).map(|number| Value::id(name, &format!("id{number}")));
            points.extend(ids.map(Term::literal));
        }
        other => points.push(Term::literal(Value::any(other))),
    }
    let mut seen = BTreeSet::new();
    points.retain(|point| seen.insert(point.to_string()));
    points
}

/// Collects the terms with which the datum is compared, solved for it.
fn collect_compared(condition: &Term, datum: &Datum) -> Vec<Term> {
    let (mut points, mut seen) = (Vec::new(), BTreeSet::new());
    // Shared parts are visited once.
    let mut visited = std::collections::HashSet::new();
    let mut work = vec![condition.clone()];
    while let Some(term) = work.pop() {
        if !visited.insert(term.clone()) || !term.mentions(datum) {
            continue;
        }
        if let Node::Compare(..) = term.node() {
            let point = solve_for(&term, datum).map(|(_, point)| point);
            let point = point.filter(|point| *point.sort() == datum.ty().sort());
            if let Some(point) = point.filter(|point| seen.insert(point.to_string())) {
                points.push(point);
            }
        }
        // If a record is compared, its fields are compared as well.
        if let Node::Compare(_, one, other) = term.node() {
            for (record, other) in [(one, other), (other, one)] {
                if let Node::Record(_, fields) = record.node() {
                    work.extend(
                        fields.iter().enumerate().map(|(at, field)| {
                            Term::compare(Comparison::Equal, field, &Term::field(other, at))
                        }),
                    );
                }
            }
        }
        // A string that the datum begins with, ends with or contains is a point itself.
        if let Node::OnStrings(operation, arguments) = term.node()
            && *operation != StringOperation::Matches
            && let [one, other] = arguments.as_slice()
            && one.as_datum() == Some(datum)
            && *other.sort() == Type::String
            && !other.mentions(datum)
            && seen.insert(other.to_string())
        {
            points.push(other.clone());
        }
        work.extend(term.children().into_iter().cloned());
    }
    points
}
