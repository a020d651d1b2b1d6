//! Conditions on strings that a variable keeps from the guard under which it was assigned.
//!
//! **Problem.** Of a string the domains know the length. A guard `matches(p, "[a-z]+")` with `v := p` says more
//! of `v`, and it stays true as long as `v` is not assigned.
//!
//! **Method.** Predicate abstraction (Graf and Saidi, CAV 1997, <https://doi.org/10.1007/3-540-63166-6_10>)
//! with predicates that guards name. A conjunct about one string parameter that is assigned to a variable is a
//! predicate of that variable. Its truth is a digit of the partition, and the fact names it. The solver then
//! refutes a guard that contradicts it.
//!
//! **Sound**: the digit is any, unless the guard or a literal decides it.
//!
//! **Cost**: two cells for each predicate, of which there are few.

use coreach_model::term::node::Node;
use coreach_model::term::{Substitution, Term, substitute};
use coreach_model::{Iosts, Type, Value};

use crate::places::Place;
use crate::scope::Scope;

/// The most predicates of a model. Each doubles the cells of the partition.
const MOST_PREDICATES: usize = 4;

/// The predicates that variables keep, in the order of the transitions, each once.
pub fn predicates(iosts: &Iosts) -> Vec<Place> {
    let mut found: Vec<Place> = Vec::new();
    for transition in &iosts.transitions {
        let strings = transition.assignments.iter().filter(|(variable, _)| *variable.ty() == Type::String);
        for (variable, parameter) in strings.filter_map(|(v, value)| Some((v, value.written_datum()?))) {
            let values = Substitution::from([(parameter.clone(), Term::datum(variable))]);
            for conjunct in decided(&transition.guard).filter(|conjunct| conjunct.data().len() == 1) {
                if conjunct.mentions(parameter) {
                    let term = substitute(&conjunct, &values);
                    let place = Place { term: positive(&term).0, ty: Type::Bool };
                    if !found.contains(&place) && found.len() < MOST_PREDICATES {
                        found.push(place);
                    }
                }
            }
        }
    }
    found
}

/// The conjuncts of a guard that ask a question about strings.
fn decided(guard: &Term) -> impl Iterator<Item = Term> {
    let is_question = |term: &Term| matches!(positive(term).0.written(), Some(Node::OnStrings(..)));
    guard.unfolded_conjuncts().into_iter().filter(move |term| is_question(term))
}

/// The condition without a negation in front, and whether there was none.
fn positive(term: &Term) -> (Term, bool) {
    match term.written() {
        Some(Node::Not(inner)) => (inner.clone(), false),
        _ => (term.clone(), true),
    }
}

impl Scope<'_> {
    /// Takes the answers that a guard gives to questions about strings as known.
    pub(crate) fn assume_strings(&mut self, guard: &Term) {
        if !self.frame.predicates.is_empty() {
            self.finite.extend(decided(guard).map(|conjunct| {
                let (question, answer) = positive(&conjunct);
                (question, Value::Bool(answer))
            }));
        }
    }

    /// Does a known answer exclude that a string is this one?
    pub(crate) fn excludes(&self, string: &Term, literal: &Term) -> bool {
        let Some(datum) = string.written_datum().filter(|_| literal.as_literal().is_some()) else {
            return false;
        };
        let values = Substitution::from([(datum.clone(), literal.clone())]);
        self.frame.predicates.iter().filter(|place| place.term.mentions(datum)).any(|place| {
            let there = substitute(&place.term, &values);
            matches!((self.finite.get(&place.term), there.as_literal()), (Some(a), Some(b)) if a != b)
        })
    }
}
