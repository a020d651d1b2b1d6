//! How large the term that an operation stands for may become, before anybody makes it.
//!
//! **Problem.** An operation that has a dozen letters may stand for millions of parts. Whoever finds that
//! while it makes them has lost minutes and memory. **Method.** An operation on a list costs its fields, or
//! their square where each slot may come from each. A quantifier costs its bodies for each value. A call
//! costs its body. What terms share counts once. **Cost.** One pass over the shared terms and bodies.

use std::collections::{HashMap, HashSet};

use crate::term::operation::{DerivedOperation, QuantifierDomain, StandardOperation};
use crate::term::{Term, TermShape};
use crate::types::Type;

/// About how many different parts the term has without operations.
pub fn parts_bound(term: &Term) -> u64 {
    bound(term, &mut HashMap::new())
}

/// The same; bodies are asked for again and again.
fn bound(term: &Term, bodies: &mut HashMap<Term, u64>) -> u64 {
    if let Some(known) = bodies.get(term) {
        return *known;
    }
    let (mut seen, mut work, mut all) = (HashSet::new(), vec![term.clone()], 0u64);
    while let Some(part) = work.pop() {
        if seen.insert(part.clone()) {
            all = all.saturating_add(own(&part, bodies));
            work.extend(part.parts().into_iter().cloned());
        }
    }
    bodies.insert(term.clone(), all);
    all
}

/// The size that the root adds to its parts.
fn own(term: &Term, known: &mut HashMap<Term, u64>) -> u64 {
    let TermShape::Operation(operation, arguments) = term.shape() else { return fields(term.sort()) };
    let widest = arguments.iter().map(Term::sort).chain([term.sort()]).map(fields).max().unwrap_or(1);
    let inner = operation.bodies().into_iter();
    let bodies = inner.fold(0u64, |all, (_, body)| all.saturating_add(bound(body, known)));
    let square = widest.saturating_mul(widest);
    match operation {
        DerivedOperation::Call(_) | DerivedOperation::Match(_) => bodies,
        DerivedOperation::Quantified(of) => {
            let collected = if of.collected.is_some() { square } else { 0 };
            values(operation, arguments).saturating_mul(bodies).saturating_add(collected)
        }
        DerivedOperation::Standard(
            StandardOperation::Part
            | StandardOperation::Joined
            | StandardOperation::Sorted
            | StandardOperation::Union
            | StandardOperation::Intersection
            | StandardOperation::Difference
            | StandardOperation::Subset
            | StandardOperation::ProperSubset,
        ) => square,
        DerivedOperation::SetOf(_) | DerivedOperation::MapOf(_) => square,
        DerivedOperation::Standard(_) | DerivedOperation::Defined => widest.saturating_mul(4),
    }
}

/// About how many nodes an evaluation meets, where what is shared counts each time.
pub fn steps_bound(term: &Term) -> u64 {
    steps(term, &mut HashMap::new())
}

fn steps(term: &Term, known: &mut HashMap<Term, u64>) -> u64 {
    if let Some(known) = known.get(term) {
        return *known;
    }
    let mut all = term.parts().into_iter().fold(1u64, |all, part| all.saturating_add(steps(part, known)));
    if let TermShape::Operation(operation, arguments) = term.shape() {
        let bodies = operation.bodies().into_iter();
        let bodies = bodies.fold(0u64, |all, (_, body)| all.saturating_add(steps(body, known)));
        all = all.saturating_add(bodies.saturating_mul(values(operation, arguments)));
    }
    known.insert(term.clone(), all);
    all
}

/// How many instances the bodies have. Those that are one are one.
fn values(operation: &DerivedOperation, arguments: &[Term]) -> u64 {
    let DerivedOperation::Quantified(of) = operation else { return 1 };
    match &of.domain {
        _ if operation.bodies().into_iter().all(|(_, body)| !body.mentions(&of.bound)) => 1,
        QuantifierDomain::Values(_, values) => values.len() as u64,
        QuantifierDomain::Elements => fields(arguments[0].sort()),
    }
}

/// How many values without fields a value of the type has.
fn fields(ty: &Type) -> u64 {
    match ty {
        Type::Record(of) => {
            of.fields.iter().fold(1, |all: u64, (_, field)| all.saturating_add(fields(field)))
        }
        _ => 1,
    }
}
