//! How large the term that an operation stands for may become, before anybody makes it.
//!
//! **Problem.** An operation of a dozen letters may stand for millions of parts. Finding that out while
//! making them costs minutes and memory. **Method.** An operation on a list costs its fields, or their square
//! if each slot may come from each. A quantifier costs its bodies for each value. A call costs its body.
//! Shared terms count once. **Cost.** One pass over the shared terms and bodies.

use std::collections::{HashMap, HashSet};

use crate::term::operation::{DerivedOperation, QuantifierDomain, StandardOperation};
use crate::term::{Term, TermShape};
use crate::types::Type;

/// Estimates how many different parts the lowered term has.
pub fn parts_bound(term: &Term) -> u64 {
    count_parts(term, &mut HashMap::new())
}

/// Estimates the parts of a term. `bodies` remembers the bodies of operations, which occur again and again.
fn count_parts(term: &Term, bodies: &mut HashMap<Term, u64>) -> u64 {
    if let Some(known) = bodies.get(term) {
        return *known;
    }
    let (mut seen, mut unvisited, mut count) = (HashSet::new(), vec![term.clone()], 0u64);
    while let Some(part) = unvisited.pop() {
        if seen.insert(part.clone()) {
            count = count.saturating_add(count_own_parts(&part, bodies));
            unvisited.extend(part.parts().into_iter().cloned());
        }
    }
    bodies.insert(term.clone(), count);
    count
}

/// Estimates the parts that the root adds to those of its arguments.
fn count_own_parts(term: &Term, bodies: &mut HashMap<Term, u64>) -> u64 {
    use StandardOperation as On;
    let TermShape::Operation(operation, arguments) = term.shape() else { return count_fields(term.sort()) };
    let widest = arguments.iter().map(Term::sort).chain([term.sort()]).map(count_fields).max().unwrap_or(1);
    let own_bodies = operation.bodies().into_iter();
    let in_bodies = own_bodies.fold(0u64, |sum, (_, body)| sum.saturating_add(count_parts(body, bodies)));
    // Each slot of the result may come from each slot of an argument.
    let square = widest.saturating_mul(widest);
    match operation {
        DerivedOperation::Call(_) | DerivedOperation::Match(_) => in_bodies,
        DerivedOperation::Quantified(quantified) => {
            let in_list = if quantified.collected.is_some() { square } else { 0 };
            count_instances(operation, arguments).saturating_mul(in_bodies).saturating_add(in_list)
        }
        DerivedOperation::Standard(On::Part | On::Joined | On::Sorted) => square,
        DerivedOperation::Standard(On::Union | On::Intersection | On::Difference) => square,
        DerivedOperation::Standard(On::Subset | On::ProperSubset) => square,
        DerivedOperation::SetOf(_) | DerivedOperation::MapOf(_) => square,
        // A slot needs only a few parts.
        DerivedOperation::Standard(_) | DerivedOperation::Defined => widest.saturating_mul(4),
    }
}

/// Estimates how many nodes an evaluation meets. Shared terms count each time.
pub fn steps_bound(term: &Term) -> u64 {
    count_steps(term, &mut HashMap::new())
}

/// Counts the nodes of a term, with those of a body once for each of its instances.
fn count_steps(term: &Term, memo: &mut HashMap<Term, u64>) -> u64 {
    if let Some(known) = memo.get(term) {
        return *known;
    }
    let mut steps = 1u64;
    for part in term.parts() {
        steps = steps.saturating_add(count_steps(part, memo));
    }
    if let TermShape::Operation(operation, arguments) = term.shape() {
        let instances = count_instances(operation, arguments);
        for (_, body) in operation.bodies() {
            steps = steps.saturating_add(count_steps(body, memo).saturating_mul(instances));
        }
    }
    memo.insert(term.clone(), steps);
    steps
}

/// How many instances the bodies have. Bodies that do not read the bound value have one.
fn count_instances(operation: &DerivedOperation, arguments: &[Term]) -> u64 {
    let DerivedOperation::Quantified(quantified) = operation else { return 1 };
    match &quantified.domain {
        _ if !operation.bodies().into_iter().any(|(_, body)| body.mentions(&quantified.bound)) => 1,
        QuantifierDomain::Values(_, values) => values.len() as u64,
        QuantifierDomain::Elements => count_fields(arguments[0].sort()),
    }
}

/// How many fields a value of the type has, counted through all levels.
fn count_fields(ty: &Type) -> u64 {
    match ty {
        Type::Record(record) => {
            record.fields.iter().fold(1, |sum: u64, (_, field)| sum.saturating_add(count_fields(field)))
        }
        _ => 1,
    }
}
