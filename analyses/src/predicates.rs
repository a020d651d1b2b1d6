//! Conditions on strings that a variable keeps from the guard under which it was assigned.
//!
//! **Problem.** The domains know only the length of a string. A guard `matches(p, "[a-z]+")` with `v := p`
//! says more of `v`, and it stays true as long as `v` is not assigned. **Method.** Predicate abstraction
//! (Graf and Saidi, CAV 1997, <https://doi.org/10.1007/3-540-63166-6_10>) with predicates from guards. A
//! conjunct about one string parameter that is assigned to a variable is a predicate of that variable. Its
//! truth is a digit of the partition, and the fact names it. The solver then refutes guards against it.
//!
//! **Sound**: the digit may be any, unless the guard or a literal decides it. **Cost**: two cells for each
//! predicate, of which there are few.

use std::collections::BTreeSet;

use coreach_model::term::node::Node;
use coreach_model::term::{Substitution, Term, substitute};
use coreach_model::{Datum, Iosts, Type};

use crate::places::Place;

/// Finds the strings, and lists of strings, that a guard reads in a condition on no other datum. For other
/// strings, a fact beyond the length would decide no guard.
pub fn strings_read_alone(iosts: &Iosts) -> BTreeSet<Datum> {
    let has_strings = |datum: &Datum| *datum.ty() == Type::String || is_list_of_strings(datum.ty());
    let mut strings = BTreeSet::new();
    if !iosts.variables.iter().any(has_strings) {
        return strings;
    }
    for transition in &iosts.transitions {
        let parameters = &iosts.action(transition.action).parameters;
        let mut open_terms = transition.guard.unfolded_conjuncts();
        while let Some(term) = open_terms.pop() {
            match term.written() {
                Some(Node::And(parts) | Node::Or(parts)) => {
                    open_terms.extend(parts.iter().flat_map(Term::unfolded_conjuncts));
                }
                Some(Node::Not(inner)) => open_terms.extend(inner.unfolded_conjuncts()),
                _ => {
                    let data = term.data();
                    let Some(only) = data.first().filter(|_| data.len() == 1) else { continue };
                    // Of a list, a condition without an operation reads the length, which is known anyway.
                    let is_read = *only.ty() == Type::String || term.written().is_none();
                    if has_strings(only) && is_read && !parameters.contains(only) {
                        strings.insert(only.clone());
                    }
                }
            }
        }
    }
    strings
}

fn is_list_of_strings(ty: &Type) -> bool {
    ty.as_list().is_some_and(|(_, _, element)| *element == Type::String)
}

/// Collects the predicates that variables keep, in the order of the transitions, each once.
pub fn collect_predicates(iosts: &Iosts, read: &BTreeSet<Datum>) -> Vec<Place> {
    let mut predicates: Vec<Place> = Vec::new();
    for transition in &iosts.transitions {
        let strings = transition.assignments.iter().filter(|(variable, _)| read.contains(variable));
        for (variable, parameter) in strings.filter_map(|(v, value)| Some((v, value.written_datum()?))) {
            let values = Substitution::from([(parameter.clone(), Term::datum(variable))]);
            let is_about_parameter = |part: &Term| part.data().len() == 1 && part.mentions(parameter);
            for conjunct in string_conjuncts(&transition.guard).filter(is_about_parameter) {
                let (term, _) = split_negation(&substitute(&conjunct, &values));
                let place = Place { term, ty: Type::Bool };
                // Each doubles the cells of the partition.
                if !predicates.contains(&place) && predicates.len() < 4 {
                    predicates.push(place);
                }
            }
        }
    }
    predicates
}

/// The conjuncts of a guard that are conditions on strings.
pub fn string_conjuncts(guard: &Term) -> impl Iterator<Item = Term> {
    let is_on_strings = |term: &Term| matches!(split_negation(term).0.written(), Some(Node::OnStrings(..)));
    guard.unfolded_conjuncts().into_iter().filter(move |term| is_on_strings(term))
}

/// Splits a negation off: the condition without it, and whether there was none.
pub fn split_negation(term: &Term) -> (Term, bool) {
    match term.written() {
        Some(Node::Not(inner)) => (inner.clone(), false),
        _ => (term.clone(), true),
    }
}
