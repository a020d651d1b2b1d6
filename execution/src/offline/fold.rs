//! Sums with one number.
//!
//! A datum that nobody knows, and that each event adds to, stands for its first value plus as many numbers as there were events. As one sum it
//! stays as large as it is: `((n + 1) + 2) - n` is `3`.

use std::collections::BTreeMap;

use coreach_model::term::node::{Node, Operator};
use coreach_model::{Term, Type, Value};
use dashu::rational::RBig;

/// How often each part occurs, and what is added.
#[derive(Default)]
struct Sum {
    parts: BTreeMap<Term, RBig>,
    number: RBig,
}

impl Sum {
    fn add(&mut self, term: &Term, times: &RBig) {
        match term.node() {
            Node::Literal(Value::Int(value)) => self.number += RBig::from(value.clone()) * times,
            Node::Literal(Value::Real(value)) => self.number += value * times,
            Node::Negate(inner) => self.add(inner, &-times),
            Node::Arithmetic(Operator::Add, a, b) => {
                self.add(a, times);
                self.add(b, times);
            }
            Node::Arithmetic(Operator::Subtract, a, b) => {
                self.add(a, times);
                self.add(b, &-times);
            }
            Node::Arithmetic(Operator::Multiply, a, b) => match (number(a), number(b)) {
                (Some(number), _) => self.add(b, &(times * number)),
                (_, Some(number)) => self.add(a, &(times * number)),
                _ => *self.parts.entry(term.clone()).or_default() += times,
            },
            _ => *self.parts.entry(term.clone()).or_default() += times,
        }
    }
}

fn number(term: &Term) -> Option<RBig> {
    match term.as_literal()? {
        Value::Int(value) => Some(RBig::from(value.clone())),
        Value::Real(value) => Some(value.clone()),
        _ => None,
    }
}

/// The same number: where the term is a sum, each part of it once, and one number.
pub fn folded(term: &Term) -> Term {
    if !matches!(
        term.node(),
        Node::Arithmetic(Operator::Add | Operator::Subtract | Operator::Multiply, ..) | Node::Negate(_)
    ) {
        return term.clone();
    }
    let mut sum = Sum::default();
    sum.add(term, &RBig::ONE);
    let literal = |number: &RBig| match term.sort() {
        Type::Int => Term::int(number.numerator().clone()),
        _ => Term::literal(Value::Real(number.clone())),
    };
    let mut all: Option<Term> = None;
    for (part, times) in sum.parts.iter().filter(|(_, times)| **times != RBig::ZERO) {
        let part = if *times == RBig::ONE { part.clone() } else { Term::multiply(&literal(times), part) };
        all = Some(all.map_or(part.clone(), |all| Term::add(&all, &part)));
    }
    match all {
        None => literal(&sum.number),
        Some(all) if sum.number == RBig::ZERO => all,
        Some(all) => Term::add(&all, &literal(&sum.number)),
    }
}

#[cfg(test)]
mod tests {
    use coreach_model::Datum;

    use super::*;

    #[test]
    fn a_sum_has_one_number() {
        for ty in [Type::Int, Type::Real] {
            let [n, m] = ["n", "m"].map(|name| Term::datum(&Datum::new(name, ty.clone())));
            let number =
                |value: i32| if ty == Type::Int { Term::int(value) } else { Term::int(value).to_real() };
            let mut sum = n.clone();
            for value in 0..200 {
                sum = folded(&Term::subtract(&Term::add(&sum, &number(value)), &m));
            }
            assert_eq!(
                sum,
                folded(&Term::add(&Term::add(&Term::multiply(&number(-200), &m), &n), &number(19900)))
            );
            assert!(sum.written_size() < 12, "{sum}");
            assert_eq!(folded(&Term::subtract(&Term::add(&n, &number(3)), &n)), number(3));
            assert_eq!(folded(&n.negate().negate()), n);
        }
    }
}
