//! Sums of numbers, added up: what an expression is made of, and how often.
//!
//! `x + 2 - (y - x)` is twice x, less y, and 2. Whatever is no sum, no product with a number and no quotient
//! by one is an atom. Between a sum of integers that was lifted to reals and its atoms lifted there is no
//! difference, so lifting is passed through.
//!
//! A datum that nobody knows, and that each event adds to, stands for its first value plus as many numbers as
//! there were events: as one sum it stays as large as it is ([`folded`]).
//!
//! Operations are read as total: what cancels out is gone, also where it had no value.

use std::collections::BTreeMap;

use coreach_model::term::node::{Comparison, Node, Operator};
use coreach_model::{Datum, Term, Type, Value};
use dashu_base::Gcd;
use dashu_int::IBig;
use dashu_ratio::RBig;

#[derive(Clone, Default)]
pub(super) struct Sum {
    /// Each atom, not lifted, and how often it is there; none 0 times.
    terms: BTreeMap<Term, RBig>,
    number: RBig,
    /// Was something there that is not any more?
    cancelled: bool,
}

/// The same number: where the term is a sum, each part of it once, and one number.
pub fn folded(term: &Term) -> Term {
    let is_sum = matches!(
        term.node(),
        Node::Arithmetic(Operator::Add | Operator::Subtract | Operator::Multiply, ..) | Node::Negate(_)
    );
    if !is_sum {
        return term.clone();
    }
    Sum::of(term).term(&RBig::ONE, term.sort())
}

/// The same condition: comparisons of sums that are shorter when they are added up are.
pub(super) fn shortened(part: &Term) -> Term {
    match part.node() {
        Node::Compare(comparison, a, b) if a.sort().is_number() && part.is_total() => {
            let short = Sum::of_difference(a, b).compared(*comparison, a.sort());
            if short.written_size() < part.written_size() { short } else { part.clone() }
        }
        Node::Or(parts) => Term::or(parts.iter().map(shortened)),
        Node::And(parts) => Term::and(parts.iter().map(shortened)),
        _ => part.clone(),
    }
}

/// Do two comparisons leave a number no value that they both speak of: `n <= 3` and `5 <= n`?
pub fn contradict(one: &Term, other: &Term) -> bool {
    let above = |term: &Term| match term.node() {
        Node::Compare(Comparison::AtMost, a, b) => Some((Sum::of_difference(b, a), false)),
        Node::Compare(Comparison::Less, a, b) => Some((Sum::of_difference(b, a), true)),
        Node::Compare(Comparison::AtLeast, a, b) => Some((Sum::of_difference(a, b), false)),
        Node::Compare(Comparison::Greater, a, b) => Some((Sum::of_difference(a, b), true)),
        _ => None,
    };
    let (Some((mut sum, strict)), Some((more, also))) = (above(one), above(other)) else { return false };
    // Neither is below 0, and what is left of both is a number.
    for (atom, times) in &more.terms {
        sum.atom(atom, times);
    }
    sum.number += &more.number;
    let is_total = [one, other].iter().all(|term| term.is_total());
    is_total
        && sum.constant().is_some_and(|left| *left < RBig::ZERO || (*left == RBig::ZERO && (strict || also)))
}

impl Sum {
    /// `a - b`
    pub(super) fn of_difference(a: &Term, b: &Term) -> Self {
        let mut sum = Sum::default();
        sum.add(a, &RBig::ONE);
        sum.add(b, &RBig::NEG_ONE);
        sum
    }

    pub(super) fn of(term: &Term) -> Self {
        let mut sum = Sum::default();
        sum.add(term, &RBig::ONE);
        sum
    }

    /// The sum of different data, each so often, and a number.
    pub(super) fn of_data<'d>(counts: impl Iterator<Item = (&'d Datum, RBig)>, number: RBig) -> Self {
        let terms = counts.map(|(datum, count)| (Term::datum(datum), count)).collect();
        Sum { terms, number, cancelled: false }
    }

    pub(super) fn add(&mut self, term: &Term, times: &RBig) {
        match term.node() {
            Node::Literal(value) if number(value).is_some() => {
                if let Some(value) = number(value) {
                    self.number += value * times;
                }
            }
            Node::Negate(a) => self.add(a, &-times.clone()),
            Node::ToReal(a) => self.add(a, times),
            Node::Arithmetic(Operator::Add, a, b) => {
                self.add(a, times);
                self.add(b, times);
            }
            Node::Arithmetic(Operator::Subtract, a, b) => {
                self.add(a, times);
                self.add(b, &-times.clone());
            }
            Node::Arithmetic(Operator::Multiply, a, b) => match (literal(a), literal(b)) {
                (Some(factor), _) => self.add(b, &(factor * times)),
                (_, Some(factor)) => self.add(a, &(factor * times)),
                _ => self.atom(term, times),
            },
            Node::Arithmetic(Operator::Divide, a, b) => match literal(b).filter(|by| *by != RBig::ZERO) {
                Some(by) => self.add(a, &(times / by)),
                None => self.atom(term, times),
            },
            _ => self.atom(term, times),
        }
    }

    fn atom(&mut self, term: &Term, times: &RBig) {
        let count = self.terms.entry(term.clone()).or_default();
        *count += times;
        if *count == RBig::ZERO {
            self.terms.remove(term);
            self.cancelled = true;
        }
    }

    pub(super) fn subtract(&mut self, other: &Sum) {
        for (atom, times) in &other.terms {
            self.atom(atom, &-times.clone());
        }
        self.number -= &other.number;
    }

    pub(super) fn has_cancelled(&self) -> bool {
        self.cancelled
    }

    /// Takes the datum out, where it stands in the sum by itself: how often it was there. The sum is one of
    /// numbers of this sort.
    pub(super) fn take(&mut self, datum: &Datum, sort: &Type) -> Option<RBig> {
        // An integer among reals cannot be given any real value.
        (datum.ty().sort() == *sort).then(|| self.terms.remove(&Term::datum(datum)))?
    }

    /// Takes the datum out, lifted or not, where it stands in no atom besides: how often it was there.
    pub(super) fn take_lifted(&mut self, datum: &Datum) -> Option<RBig> {
        let own = self.terms.remove(&Term::datum(datum))?;
        (!self.mentions(datum)).then_some(own)
    }

    /// Is so many times the sum a whole number, whatever its integers are?
    pub(super) fn is_whole(&self, times: &RBig) -> bool {
        let whole = |count: &RBig| (count * times).is_int();
        let integers = |(term, count): (&Term, &RBig)| *term.sort() == Type::Int && whole(count);
        whole(&self.number) && self.terms.iter().all(integers)
    }

    pub(super) fn atoms(&self) -> impl Iterator<Item = &Term> {
        self.terms.keys()
    }

    pub(super) fn counts(&self) -> impl Iterator<Item = (&Term, &RBig)> {
        self.terms.iter()
    }

    pub(super) fn replaced(&self, atom: &Term, by: &Term) -> Self {
        let mut sum = self.clone();
        if let Some(times) = sum.terms.remove(atom) {
            sum.add(by, &times);
        }
        sum
    }

    pub(super) fn times(&self, times: &RBig) -> Self {
        self.mapped(|count| count * times)
    }

    /// The sum of integers with each count and its number less as many multiples of a number as are in it:
    /// its remainder is the same.
    pub(super) fn remaining(&self, of: &RBig) -> Self {
        self.mapped(|count| count - (count / of).trunc() * of)
    }

    fn mapped(&self, change: impl Fn(&RBig) -> RBig) -> Self {
        let terms = self.terms.iter().map(|(term, count)| (term.clone(), change(count)));
        let terms = terms.filter(|(_, count)| *count != RBig::ZERO).collect();
        Sum { terms, number: change(&self.number), cancelled: self.cancelled }
    }

    /// The greatest number that divides this one and each count.
    pub(super) fn common(&self, number: &RBig) -> RBig {
        let whole = |count: &RBig| count.numerator().clone();
        RBig::from(self.terms.values().fold(whole(number), |all, count| IBig::from(all.gcd(whole(count)))))
    }

    /// The sum without its number, and that.
    pub(super) fn apart(mut self) -> (Self, RBig) {
        let number = std::mem::take(&mut self.number);
        (self, number)
    }

    pub(super) fn constant(&self) -> Option<&RBig> {
        self.terms.is_empty().then_some(&self.number)
    }

    /// Is the datum, which stands in the sum and in no atom of it, added, and not subtracted? Lifted or not.
    pub(super) fn adds(mut self, datum: &Datum) -> Option<bool> {
        self.take_lifted(datum).map(|own| own > RBig::ZERO)
    }

    /// Does it stand within an atom?
    pub(super) fn mentions(&self, datum: &Datum) -> bool {
        self.terms.keys().any(|term| term.mentions(datum))
    }

    pub(super) fn term(&self, times: &RBig, sort: &Type) -> Term {
        let mut sum = written(&(self.number.clone() * times), sort);
        for (term, count) in &self.terms {
            let term = if *sort == Type::Real { term.to_real() } else { term.clone() };
            sum = match count * times {
                count if count == RBig::ONE => Term::add(&sum, &term),
                count if count == RBig::NEG_ONE => Term::subtract(&sum, &term),
                count => Term::add(&sum, &Term::multiply(&written(&count, sort), &term)),
            };
        }
        sum
    }

    /// `sum ⋈ 0`, as a comparison of what is added with what is subtracted.
    pub(super) fn compared(self, comparison: Comparison, sort: &Type) -> Term {
        let (mut left, mut right) = (Sum::default(), Sum::default());
        for (term, count) in self.terms {
            let side = if count > RBig::ZERO { &mut left } else { &mut right };
            side.terms.insert(term, count);
        }
        right.number = self.number;
        Term::compare(comparison, &left.term(&RBig::ONE, sort), &right.term(&RBig::NEG_ONE, sort))
    }
}

/// An end of what a sum may be: `sum <= at` or `sum >= at`, of reals without the end as well.
#[derive(Clone)]
pub(super) struct End {
    /// The sum and the number, as they are compared with 0.
    own: Sum,
    sort: Type,
    comparison: Comparison,
    at: RBig,
    pub(super) is_high: bool,
}

impl End {
    /// The comparison as an end of a sum whose first atom counts once.
    pub(super) fn of(part: &Term) -> Option<(Vec<(Term, RBig)>, Self)> {
        let Node::Compare(comparison, a, b) = part.node() else { return None };
        let (mut comparison, sort) = (*comparison, a.sort().clone());
        if !sort.is_number() || matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            return None;
        }
        let mut own = Sum::of_difference(a, b);
        let first = own.terms.values().next()?.clone();
        // Of integers, what is less is at most one less.
        if sort == Type::Int && comparison == Comparison::Less {
            (comparison, own.number) = (Comparison::AtMost, own.number + RBig::ONE);
        } else if sort == Type::Int && comparison == Comparison::Greater {
            (comparison, own.number) = (Comparison::AtLeast, own.number - RBig::ONE);
        }
        let sum = own.terms.iter().map(|(term, count)| (term.clone(), count / &first)).collect();
        let is_high = matches!(comparison, Comparison::Less | Comparison::AtMost) == (first > RBig::ZERO);
        let at = -&own.number / &first;
        Some((sum, End { own, sort, comparison, at, is_high }))
    }

    fn is_excluded(&self) -> bool {
        matches!(self.comparison, Comparison::Less | Comparison::Greater)
    }

    /// Does it leave less than the other one, which is on the same side of the same sum?
    pub(super) fn is_tighter(&self, other: &End) -> bool {
        match self.at == other.at {
            true => self.is_excluded() && !other.is_excluded(),
            false => (self.at < other.at) == self.is_high,
        }
    }

    /// Do both, on the two sides of one sum, leave one number?
    pub(super) fn meets(&self, other: &End) -> bool {
        self.at == other.at && !self.is_excluded() && !other.is_excluded()
    }

    /// As a comparison of what is added with what is subtracted.
    pub(super) fn term(&self) -> Term {
        self.own.clone().compared(self.comparison, &self.sort)
    }

    pub(super) fn equation(&self) -> Term {
        self.own.clone().compared(Comparison::Equal, &self.sort)
    }
}

fn number(value: &Value) -> Option<RBig> {
    match value {
        Value::Int(value) => Some(RBig::from(value.clone())),
        Value::Real(value) => Some(value.clone()),
        _ => None,
    }
}

fn literal(term: &Term) -> Option<RBig> {
    term.as_literal().and_then(number)
}

/// A number of this sort. Sums of integers have whole numbers only.
fn written(value: &RBig, sort: &Type) -> Term {
    match sort {
        Type::Real => Term::literal(Value::Real(value.clone())),
        _ => Term::int(value.numerator().clone()),
    }
}

#[cfg(test)]
mod tests {
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

    /// Soundness: only what leaves no value is refused.
    #[test]
    fn comparisons_of_one_sum_that_leave_no_value() {
        let [n, m] = ["n", "m"].map(|name| Term::datum(&Datum::new(name, Type::Int)));
        let sum = Term::add(&n, &m);
        let compare = |comparison, number: i32| Term::compare(comparison, &sum, &Term::int(number));
        use Comparison::{AtLeast, AtMost, Greater, Less};
        for (one, other, expected) in [
            (compare(AtMost, 3), compare(AtLeast, 5), true),
            (compare(AtMost, 5), compare(AtLeast, 5), false),
            (compare(Less, 5), compare(AtLeast, 5), true),
            (compare(AtMost, 3), compare(AtMost, 5), false),
            (compare(Greater, 3), Term::compare(AtMost, &Term::add(&m, &n), &Term::int(2)), true),
            (compare(AtMost, 3), Term::compare(AtLeast, &n, &Term::int(5)), false),
        ] {
            assert_eq!((contradict(&one, &other), contradict(&other, &one)), (expected, expected));
        }
    }
}
