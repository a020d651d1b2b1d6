//! Sums of numbers in a normal form: atoms with their factors, and a number.
//!
//! `x + 2 - (y - x)` is 2 times x, -1 times y, and 2. A term that is no sum, no product with a number and no
//! quotient by one is an atom. Lifting a sum of integers to reals is the same as lifting its atoms, so it is
//! passed through.
//!
//! If each event adds a number to an unknown datum, the datum is its first value plus as many numbers as
//! there were events. As one sum it does not grow ([`fold_sums`]).
//!
//! Operations are read as total: a term that cancels out is dropped, even if it had no value.

use std::collections::BTreeMap;

use coreach_model::term::node::{Comparison, Node, Operator};
use coreach_model::{Datum, Term, Type, Value};
use dashu_base::Gcd;
use dashu_int::IBig;
use dashu_ratio::RBig;

#[derive(Clone, Default)]
pub(super) struct Sum {
    /// The atoms, not lifted, each with its factor. No factor is 0.
    terms: BTreeMap<Term, RBig>,
    number: RBig,
    /// Has an atom cancelled out?
    has_cancelled: bool,
}

/// Adds up a sum: each atom is in it once, with one number.
pub fn fold_sums(term: &Term) -> Term {
    let is_sum = matches!(
        term.node(),
        Node::Arithmetic(Operator::Add | Operator::Subtract | Operator::Multiply, ..) | Node::Negate(_)
    );
    if !is_sum {
        return term.clone();
    }
    Sum::of(term).term(&RBig::ONE, term.sort())
}

/// Adds up the sums in a condition, if this makes it shorter.
pub(super) fn shorten_comparison(part: &Term) -> Term {
    match part.node() {
        Node::Compare(comparison, a, b) if a.sort().is_number() && part.is_total() => {
            let short = Sum::of_difference(a, b).compared(*comparison, a.sort());
            if short.written_size() < part.written_size() { short } else { part.clone() }
        }
        Node::Or(parts) => Term::or(parts.iter().map(shorten_comparison)),
        Node::And(parts) => Term::and(parts.iter().map(shorten_comparison)),
        _ => part.clone(),
    }
}

/// Do two comparisons of the same sum exclude each other, as `n <= 3` and `5 <= n`?
pub fn contradict(first: &Term, second: &Term) -> bool {
    // The sum that is not negative, and whether it is not 0 either.
    let positive_sum = |term: &Term| match term.node() {
        Node::Compare(Comparison::AtMost, a, b) => Some((Sum::of_difference(b, a), false)),
        Node::Compare(Comparison::Less, a, b) => Some((Sum::of_difference(b, a), true)),
        Node::Compare(Comparison::AtLeast, a, b) => Some((Sum::of_difference(a, b), false)),
        Node::Compare(Comparison::Greater, a, b) => Some((Sum::of_difference(a, b), true)),
        _ => None,
    };
    let (Some((mut total, is_strict)), Some((added, is_also_strict))) =
        (positive_sum(first), positive_sum(second))
    else {
        return false;
    };
    // Neither sum is below 0, so neither is their total. It excludes all values if it is a negative number.
    for (atom, times) in &added.terms {
        total.add_atom(atom, times);
    }
    total.number += &added.number;
    let is_impossible =
        |number: &RBig| *number < RBig::ZERO || (*number == RBig::ZERO && (is_strict || is_also_strict));
    first.is_total() && second.is_total() && total.constant().is_some_and(is_impossible)
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

    /// The sum of different data with their factors, and a number.
    pub(super) fn of_data<'d>(counts: impl Iterator<Item = (&'d Datum, RBig)>, number: RBig) -> Self {
        let terms = counts.map(|(datum, count)| (Term::datum(datum), count)).collect();
        Sum { terms, number, has_cancelled: false }
    }

    /// Adds a multiple of a term.
    pub(super) fn add(&mut self, term: &Term, times: &RBig) {
        match term.node() {
            Node::Literal(value) => match number_of(value) {
                Some(number) => self.number += number * times,
                None => self.add_atom(term, times),
            },
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
            Node::Arithmetic(Operator::Multiply, a, b) => match (literal_number(a), literal_number(b)) {
                (Some(factor), _) => self.add(b, &(factor * times)),
                (_, Some(factor)) => self.add(a, &(factor * times)),
                _ => self.add_atom(term, times),
            },
            Node::Arithmetic(Operator::Divide, a, b) => {
                match literal_number(b).filter(|divisor| *divisor != RBig::ZERO) {
                    Some(divisor) => self.add(a, &(times / divisor)),
                    None => self.add_atom(term, times),
                }
            }
            _ => self.add_atom(term, times),
        }
    }

    fn add_atom(&mut self, term: &Term, times: &RBig) {
        let count = self.terms.entry(term.clone()).or_default();
        *count += times;
        if *count == RBig::ZERO {
            self.terms.remove(term);
            self.has_cancelled = true;
        }
    }

    pub(super) fn subtract(&mut self, other: &Sum) {
        for (atom, times) in &other.terms {
            self.add_atom(atom, &-times.clone());
        }
        self.number -= &other.number;
    }

    pub(super) fn has_cancelled(&self) -> bool {
        self.has_cancelled
    }

    /// Takes a datum out of the sum, and returns its factor. `None`: it is no atom. The sum has numbers of
    /// this sort.
    pub(super) fn take(&mut self, datum: &Datum, sort: &Type) -> Option<RBig> {
        // An integer among reals cannot be given any real value.
        if datum.ty().sort() == *sort { self.terms.remove(&Term::datum(datum)) } else { None }
    }

    /// Takes a datum out, lifted or not, and returns its factor. `None`: it is no atom, or another atom
    /// mentions it.
    pub(super) fn take_lifted(&mut self, datum: &Datum) -> Option<RBig> {
        let factor = self.terms.remove(&Term::datum(datum))?;
        (!self.mentions(datum)).then_some(factor)
    }

    /// Is this multiple of the sum an integer for all values of its integers?
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

    /// The sum with an atom replaced by a term.
    pub(super) fn replaced(&self, atom: &Term, value: &Term) -> Self {
        let mut sum = self.clone();
        if let Some(times) = sum.terms.remove(atom) {
            sum.add(value, &times);
        }
        sum
    }

    pub(super) fn times(&self, times: &RBig) -> Self {
        self.map_factors(|count| count * times)
    }

    /// Reduces the factors and the number modulo a number. The sum's remainder by this number stays the same.
    pub(super) fn reduced_modulo(&self, modulus: &RBig) -> Self {
        self.map_factors(|count| count - (count / modulus).trunc() * modulus)
    }

    fn map_factors(&self, change: impl Fn(&RBig) -> RBig) -> Self {
        let terms = self.terms.iter().map(|(term, count)| (term.clone(), change(count)));
        let terms = terms.filter(|(_, count)| *count != RBig::ZERO).collect();
        Sum { terms, number: change(&self.number), has_cancelled: self.has_cancelled }
    }

    /// The greatest common divisor of a number and all factors.
    pub(super) fn common_divisor(&self, number: &RBig) -> RBig {
        let whole = |count: &RBig| count.numerator().clone();
        RBig::from(
            self.terms.values().fold(whole(number), |divisor, count| IBig::from(divisor.gcd(whole(count)))),
        )
    }

    /// Splits the sum into its atoms and its number.
    pub(super) fn split_number(mut self) -> (Self, RBig) {
        let number = std::mem::take(&mut self.number);
        (self, number)
    }

    pub(super) fn constant(&self) -> Option<&RBig> {
        self.terms.is_empty().then_some(&self.number)
    }

    /// Has the datum, lifted or not, a positive factor? `None`: it is no atom, or another atom mentions it.
    pub(super) fn has_positive_factor(mut self, datum: &Datum) -> Option<bool> {
        self.take_lifted(datum).map(|own| own > RBig::ZERO)
    }

    /// Does an atom mention the datum?
    pub(super) fn mentions(&self, datum: &Datum) -> bool {
        self.terms.keys().any(|term| term.mentions(datum))
    }

    /// Writes a multiple of the sum as a term.
    pub(super) fn term(&self, times: &RBig, sort: &Type) -> Term {
        let mut sum = literal_of(&(self.number.clone() * times), sort);
        for (term, count) in &self.terms {
            let term = if *sort == Type::Real { term.to_real() } else { term.clone() };
            sum = match count * times {
                count if count == RBig::ONE => Term::add(&sum, &term),
                count if count == RBig::NEG_ONE => Term::subtract(&sum, &term),
                count => Term::add(&sum, &Term::multiply(&literal_of(&count, sort), &term)),
            };
        }
        sum
    }

    /// Writes `sum ⋈ 0` as a comparison of the added terms with the subtracted ones.
    pub(super) fn compared(self, comparison: Comparison, sort: &Type) -> Term {
        let (mut added, mut subtracted) = (Sum::default(), Sum::default());
        for (term, count) in self.terms {
            let side = if count > RBig::ZERO { &mut added } else { &mut subtracted };
            side.terms.insert(term, count);
        }
        // Only the subtracted terms change their sign, and the number with them.
        subtracted.number = self.number;
        Term::compare(comparison, &added.term(&RBig::ONE, sort), &subtracted.term(&RBig::NEG_ONE, sort))
    }
}

/// A bound of a sum: `sum <= at` or `sum >= at`, and for reals also `<` and `>`.
#[derive(Clone)]
pub(super) struct End {
    /// The sum with its number, as it is compared with 0.
    own: Sum,
    sort: Type,
    comparison: Comparison,
    at: RBig,
    pub(super) is_high: bool,
}

impl End {
    /// Reads a comparison as a bound of a sum whose first atom has the factor 1. Returns this sum as well.
    /// `None`: it is no bound of a sum.
    pub(super) fn of(part: &Term) -> Option<(Vec<(Term, RBig)>, Self)> {
        let Node::Compare(comparison, a, b) = part.node() else { return None };
        let (mut comparison, sort) = (*comparison, a.sort().clone());
        if !sort.is_number() || matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            return None;
        }
        let mut own = Sum::of_difference(a, b);
        let first = own.terms.values().next()?.clone();
        // For integers, `<` means at most one less.
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

    /// Is it tighter than another bound on the same side of the same sum?
    pub(super) fn is_tighter(&self, other: &End) -> bool {
        match self.at == other.at {
            true => self.is_excluded() && !other.is_excluded(),
            false => (self.at < other.at) == self.is_high,
        }
    }

    /// Do a lower and an upper bound of one sum leave a single number?
    pub(super) fn meets(&self, other: &End) -> bool {
        self.at == other.at && !self.is_excluded() && !other.is_excluded()
    }

    /// Writes the bound as a comparison.
    pub(super) fn term(&self) -> Term {
        self.own.clone().compared(self.comparison, &self.sort)
    }

    pub(super) fn equation(&self) -> Term {
        self.own.clone().compared(Comparison::Equal, &self.sort)
    }
}

pub(super) fn number_of(value: &Value) -> Option<RBig> {
    match value {
        Value::Int(value) => Some(RBig::from(value.clone())),
        Value::Real(value) => Some(value.clone()),
        _ => None,
    }
}

fn literal_number(term: &Term) -> Option<RBig> {
    term.as_literal().and_then(number_of)
}

/// Writes a number of this sort. Sums of integers have only integers.
fn literal_of(value: &RBig, sort: &Type) -> Term {
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
                sum = fold_sums(&Term::subtract(&Term::add(&sum, &number(value)), &m));
            }
            assert_eq!(
                sum,
                fold_sums(&Term::add(&Term::add(&Term::multiply(&number(-200), &m), &n), &number(19900)))
            );
            assert!(sum.written_size() < 12, "{sum}");
            assert_eq!(fold_sums(&Term::subtract(&Term::add(&n, &number(3)), &n)), number(3));
            assert_eq!(fold_sums(&n.negate().negate()), n);
        }
    }

    /// Soundness: only comparisons that leave no value contradict each other.
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
