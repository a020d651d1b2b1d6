//! Finds the only values that a condition allows, by equations about parts of the parameters.
//!
//! **Problem.** Many outputs are described part by part: `rows[0] == ...`, or `all k in Room: (k in free) ==
//! ...`. No equation defines such a parameter as a whole, so values came from the solver, which takes
//! milliseconds for each state.
//!
//! **Method.** In the lowered condition each element, key and field is a place: a parameter, or a part of a
//! place. A conjunct that says that a place is equal to a literal is a fact. Facts replace their places in
//! the other conjuncts, which gives new facts. If all parts of the parameters that count are known, the
//! values are put together. Facts follow from the condition, so no other values are possible.
//!
//! **Ends**, since each round replaces a place. **Costs** a rewriting of the condition for each round.

use std::collections::HashMap;

use coreach_model::term::node::{Comparison, Node, Operator};
use coreach_model::term::replace;
use coreach_model::{Datum, Term, Type, Value};

/// The known places, with their literals.
type PlaceFacts = HashMap<Term, Term>;

/// The most cells of an array that are put together.
const MOST_CELLS: usize = 64;

/// The values that equations leave.
#[derive(Debug, PartialEq, Eq)]
pub enum Determined {
    /// No values satisfy the condition.
    Never,
    /// Only these may satisfy it. They were not tried yet.
    Only(Vec<Value>),
    /// Equations do not determine all values.
    Open,
}

/// Finds the only values of the parameters that may satisfy the condition.
pub fn determine_values(condition: &Term, parameters: &[Datum]) -> Determined {
    let (mut open, mut facts) = (condition.lowered().conjuncts(), PlaceFacts::new());
    loop {
        let (mut found, mut rest) = (PlaceFacts::new(), Vec::new());
        while let Some(part) = open.pop() {
            if part.is_false() {
                return Determined::Never;
            }
            if !collect_facts(&part, &mut found, &mut open) {
                rest.push(part);
            }
        }
        if found.is_empty() {
            break;
        }
        let replaced = rest.iter().map(|part| replace(part, found.clone()));
        open = replaced.flat_map(|part| part.lowered().conjuncts()).collect();
        facts.extend(found);
    }
    let values = parameters.iter().map(|datum| assemble(&Term::datum(datum), datum.ty(), &facts));
    values.collect::<Option<Vec<Value>>>().map_or(Determined::Open, Determined::Only)
}

/// Adds the facts of a conjunct, or simpler conjuncts. Returns whether these say all that it says.
fn collect_facts(part: &Term, facts: &mut PlaceFacts, simpler: &mut Vec<Term>) -> bool {
    let mut note = |place: &Term, value: Term| {
        let is_fact = is_place(place);
        // A place with two values makes the condition false.
        if is_fact && facts.insert(place.clone(), value.clone()).is_some_and(|other| other != value) {
            simpler.push(Term::no());
        }
        is_fact
    };
    let part = &take_part(part);
    match part.node() {
        Node::Compare(Comparison::Equal, a, b) => {
            let (a, b) = (&take_part(a), &take_part(b));
            for (side, other) in [(a, b), (b, a)] {
                if other.as_literal().is_some() && note(side, other.clone()) {
                    return true;
                }
                match (side.node(), other.as_literal()) {
                    (Node::Record(_, parts), _) if is_place(other) || other.as_literal().is_some() => {
                        let equate = |(at, part)| Term::equal(part, &Term::field(other, at));
                        simpler.extend(parts.iter().enumerate().map(equate));
                        return true;
                    }
                    (Node::Arithmetic(operator, x, y), Some(_)) => {
                        let moved = match (operator, x.as_literal(), y.as_literal()) {
                            (Operator::Add, _, Some(_)) => (x, Term::subtract(other, y)),
                            (Operator::Add, Some(_), _) => (y, Term::subtract(other, x)),
                            (Operator::Subtract, _, Some(_)) => (x, Term::add(other, y)),
                            (Operator::Subtract, Some(_), _) => (y, Term::subtract(x, other)),
                            _ => continue,
                        };
                        simpler.push(Term::equal(moved.0, &moved.1));
                        return true;
                    }
                    _ => {}
                }
            }
            false
        }
        Node::Not(inner) => note(&take_part(inner), Term::no()),
        Node::And(parts) => {
            simpler.extend(parts.iter().cloned());
            true
        }
        _ => note(part, Term::yes()),
    }
}

/// Returns the part of a record that is written out in place of its field, and other terms as they are. The
/// other parts must have values, too, which is asked when the found values are tried.
fn take_part(term: &Term) -> Term {
    let Node::Field(whole, at) = term.node() else { return term.clone() };
    match take_part(whole).node() {
        Node::Record(_, parts) => take_part(&parts[*at]),
        _ => term.clone(),
    }
}

/// Is it a datum, or a field or a cell of a place?
fn is_place(term: &Term) -> bool {
    match term.node() {
        Node::Data(_) => true,
        Node::Field(whole, _) => is_place(whole),
        Node::Select(array, index) => index.as_literal().is_some() && is_place(array),
        _ => false,
    }
}

/// Puts the value of a place together. `None`: a part that counts is not known.
fn assemble(place: &Term, ty: &Type, facts: &PlaceFacts) -> Option<Value> {
    if let Some(known) = facts.get(place) {
        return known.as_literal().cloned();
    }
    match ty {
        Type::Record(record) => {
            let part = |at: usize| assemble(&Term::field(place, at), &record.fields[at].1, facts);
            let first = part(0)?;
            let others = (1..record.fields.len()).map(|at| match record.counts(&first, at) {
                true => part(at),
                false => Some(Value::any(&record.fields[at].1)),
            });
            let fields =
                std::iter::once(Some(first.clone())).chain(others).collect::<Option<Vec<Value>>>()?;
            Some(Value::Record(record.clone(), record.canonical(fields).into()))
        }
        Type::Array(array) => {
            let indices = Value::enumerate(&array.index, MOST_CELLS)?;
            let mut whole = Term::literal(Value::any(ty));
            for index in indices.into_iter().map(Term::literal) {
                let cell = assemble(&Term::select(place, &index), &array.element, facts)?;
                whole = Term::store(&whole, &index, &Term::literal(cell));
            }
            whole.as_literal().cloned()
        }
        _ => None,
    }
}
