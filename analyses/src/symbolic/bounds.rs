//! Decides guards on numbers, if only bounds of the data are known.
//!
//! **Problem.** If first values are open, each event of a followed trace has two questions: can its guard
//! hold, and does it say something new? To build terms for these questions takes longer than to answer them.
//!
//! **Method.** The open data of a state are sums of symbols, and its condition bounds such sums. Both are
//! kept as numbers ([`OpenBounds`]). A guard is evaluated with the known data as numbers and the open ones as
//! sums. A comparison is decided by the ends of its own sum, or by those of its symbols. If each part of the
//! condition is an end of one symbol, the symbols are independent. Then a comparison with one symbol is
//! always decided, and a new end replaces the old one.
//!
//! **Sound**: each answer is that of a complete solver, or there is no answer. **Ends** after one pass over
//! the guard. **Costs** some operations on numbers for each part of it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use coreach_model::term::Substitution;
use coreach_model::term::evaluate::{Valuation, evaluate_with};
use coreach_model::term::node::{Comparison, Node, Operator};
use coreach_model::{Datum, Term, Type, Value};
use dashu_ratio::RBig;

use super::eliminate::mirror;
use super::sum::{Sum, number_of};

/// Can a condition hold, and can it fail? `None`: that was not found out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CanBe {
    pub can_hold: Option<bool>,
    pub can_fail: Option<bool>,
}

impl CanBe {
    const UNKNOWN: CanBe = CanBe { can_hold: None, can_fail: None };
    pub const ALWAYS: CanBe = CanBe { can_hold: Some(true), can_fail: Some(false) };
    pub const NEVER: CanBe = CanBe { can_hold: Some(false), can_fail: Some(true) };
    const SOMETIMES: CanBe = CanBe { can_hold: Some(true), can_fail: Some(true) };

    fn of(holds: bool) -> Self {
        if holds { CanBe::ALWAYS } else { CanBe::NEVER }
    }

    fn negated(self) -> Self {
        CanBe { can_hold: self.can_fail, can_fail: self.can_hold }
    }

    /// The answer for a conjunction, from its parts and whether they always have a value. If several parts
    /// leave it open, together they may still exclude each other.
    fn all(parts: impl IntoIterator<Item = (bool, CanBe)>) -> Self {
        let mut conjunction = CanBe::ALWAYS;
        for (is_total, part) in parts {
            match part {
                CanBe::ALWAYS => {}
                CanBe::NEVER => return CanBe::NEVER,
                // The parts after one without a value are not evaluated.
                _ if !is_total => return CanBe::UNKNOWN,
                part if conjunction == CanBe::ALWAYS => conjunction = part,
                part => {
                    // One part that can fail suffices. That no part can fail is not known here.
                    let can_fail = [conjunction, part].iter().any(|part| part.can_fail == Some(true));
                    conjunction = CanBe { can_hold: None, can_fail: can_fail.then_some(true) };
                }
            }
        }
        conjunction
    }
}

/// A sum of multiples of symbols (by their numbers), and a number.
#[derive(Clone, PartialEq, Debug)]
struct OpenSum {
    counts: Vec<(usize, RBig)>,
    number: RBig,
}

/// A bound of a sum: where it is, whether it is strict, and the part of the condition that states it.
#[derive(Clone, Debug)]
struct SumEnd {
    at: RBig,
    is_excluded: bool,
    part: Option<Term>,
}

/// The bounds of a sum of symbols. Its first symbol has the factor 1.
#[derive(Clone, Debug)]
struct SumEnds {
    counts: Vec<(usize, RBig)>,
    low: Option<SumEnd>,
    high: Option<SumEnd>,
}

/// The known bounds of a state's open data, as numbers.
#[derive(Clone, Default, Debug)]
pub struct OpenBounds {
    pub(super) open: Arc<Substitution>,
    condition: Arc<[Term]>,
    symbols: Arc<Vec<Datum>>,
    /// The values of the open numbers that are sums of symbols.
    sums: BTreeMap<Datum, Arc<OpenSum>>,
    ends: Arc<Vec<SumEnds>>,
    /// Is each part of the condition an end of one symbol?
    is_box: bool,
}

/// Values of data that hide those of a state.
pub type GivenValues<'g> = &'g [(Datum, Value)];

/// Adds numbers. Integers need no common denominator.
fn add_numbers(a: RBig, b: RBig) -> RBig {
    if a.is_int() && b.is_int() { RBig::from(a.into_parts().0 + b.into_parts().0) } else { a + b }
}

impl OpenSum {
    fn constant(number: RBig) -> Self {
        OpenSum { counts: Vec::new(), number }
    }

    fn times(self, factor: &RBig) -> Self {
        if *factor == RBig::ZERO {
            return OpenSum::constant(RBig::ZERO);
        }
        // The usual factors need no multiplication of fractions.
        if *factor == RBig::ONE {
            return self;
        }
        let product = |number: RBig| if *factor == RBig::NEG_ONE { -number } else { number * factor };
        let counts = self.counts.into_iter().map(|(symbol, count)| (symbol, product(count))).collect();
        OpenSum { counts, number: product(self.number) }
    }

    fn plus(mut self, other: OpenSum) -> Self {
        self.number = add_numbers(self.number, other.number);
        if other.counts.is_empty() {
            return self;
        }
        if self.counts.is_empty() {
            self.counts = other.counts;
            return self;
        }
        for (symbol, count) in other.counts {
            match self.counts.binary_search_by_key(&symbol, |(symbol, _)| *symbol) {
                Ok(at) => self.counts[at].1 += count,
                Err(at) => self.counts.insert(at, (symbol, count)),
            }
        }
        self.counts.retain(|(_, count)| *count != RBig::ZERO);
        self
    }

    /// Scales `sum ⋈ 0` so that the first symbol has the factor 1.
    fn normalize(self, comparison: Comparison) -> (Comparison, Self) {
        let factor = self.counts.first().map_or(RBig::ONE, |(_, count)| count.clone());
        let comparison = if factor < RBig::ZERO { mirror(comparison) } else { comparison };
        match factor == RBig::ONE {
            true => (comparison, self),
            false => (comparison, self.times(&(RBig::ONE / factor))),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BoundSide {
    Low,
    High,
}

impl SumEnds {
    /// The bound on a side, and whether it is excluded.
    fn end(&self, side: BoundSide) -> Option<(RBig, bool)> {
        let end = if side == BoundSide::High { &self.high } else { &self.low };
        end.as_ref().map(|end| (end.at.clone(), end.is_excluded))
    }

    /// Takes an end if it is tighter than the known one. The end of an integer is rounded inwards.
    fn add(&mut self, side: BoundSide, mut end: SumEnd, is_integer: bool) {
        if is_integer && (end.is_excluded || !end.at.is_int()) {
            let whole = match (side, end.is_excluded) {
                (BoundSide::High, true) => end.at.ceil() - 1,
                (BoundSide::High, false) => end.at.floor(),
                (BoundSide::Low, true) => end.at.floor() + 1,
                (BoundSide::Low, false) => end.at.ceil(),
            };
            (end.at, end.is_excluded) = (whole.into(), false);
        }
        let known = match side {
            BoundSide::Low => &mut self.low,
            BoundSide::High => &mut self.high,
        };
        let is_tighter = known.as_ref().is_none_or(|known| match end.at.cmp(&known.at) {
            // Of two equal ends, the excluded one is tighter.
            Ordering::Equal => end.is_excluded && !known.is_excluded,
            Ordering::Less => side == BoundSide::High,
            Ordering::Greater => side == BoundSide::Low,
        });
        if is_tighter {
            *known = Some(end);
        }
    }

    fn is_empty(&self) -> bool {
        let (Some(low), Some(high)) = (&self.low, &self.high) else { return false };
        low.at > high.at || (low.at == high.at && (low.is_excluded || high.is_excluded))
    }

    fn is_point(&self) -> bool {
        matches!((&self.low, &self.high), (Some(low), Some(high)) if low.at == high.at)
    }
}

impl OpenBounds {
    /// The bounds of a state with these open data and this condition.
    pub fn new(open: &Arc<Substitution>, condition: &[Term]) -> Self {
        let mut bounds = OpenBounds {
            open: open.clone(),
            condition: condition.into(),
            is_box: true,
            ..OpenBounds::default()
        };
        for (datum, term) in &**open {
            if term.sort().is_number()
                && let Some(open_sum) = bounds.read_sum(Sum::of(term))
            {
                bounds.sums.insert(datum.clone(), Arc::new(open_sum));
            }
        }
        for part in condition {
            bounds.is_box &= bounds.learn(part);
        }
        bounds
    }

    fn is_of(&self, open: &Arc<Substitution>, condition: &[Term]) -> bool {
        Arc::ptr_eq(&self.open, open) && *self.condition == *condition
    }

    /// The number of a symbol. A new one gets the bounds of its type.
    fn symbol(&mut self, symbol: &Datum) -> usize {
        if let Some(known) = self.symbols.iter().position(|known| known == symbol) {
            return known;
        }
        let number = self.symbols.len();
        Arc::make_mut(&mut self.symbols).push(symbol.clone());
        let (low, high) = match symbol.ty() {
            Type::Nat => (Some(RBig::ZERO), None),
            Type::Range(low, high) => (Some(low.clone().into()), Some(high.clone().into())),
            _ => (None, None),
        };
        let end = |at| SumEnd { at, is_excluded: false, part: None };
        // No type has an upper bound only.
        if low.is_some() {
            let counts = vec![(number, RBig::ONE)];
            let ends = SumEnds { counts, low: low.map(end), high: high.map(end) };
            Arc::make_mut(&mut self.ends).push(ends);
        }
        number
    }

    /// The sum with its symbols as numbers. `None`: it has an atom that is no symbol.
    fn read_sum(&mut self, sum: Sum) -> Option<OpenSum> {
        let (sum, number) = sum.split_number();
        let mut counts = Vec::new();
        for (atom, count) in sum.counts() {
            counts.push((self.symbol(atom.as_datum()?), count.clone()));
        }
        counts.sort_by_key(|(symbol, _)| *symbol);
        Some(OpenSum { counts, number })
    }

    /// Takes a part of the condition as a bound. Returns whether it bounds a single symbol.
    fn learn(&mut self, part: &Term) -> bool {
        let Node::Compare(comparison, a, b) = part.node() else { return false };
        if !a.sort().is_number() || !part.is_total() {
            return false;
        }
        let Some(open_sum) = self.read_sum(Sum::of_difference(a, b)) else { return false };
        self.narrow(*comparison, open_sum, Some(part.clone()))
    }

    /// Takes `open_sum ⋈ 0` as a bound. Returns whether it bounds one symbol. `part` states it as a term.
    fn narrow(&mut self, comparison: Comparison, open_sum: OpenSum, part: Option<Term>) -> bool {
        let (comparison, open_sum) = open_sum.normalize(comparison);
        let (is_single, is_integer) = match open_sum.counts.as_slice() {
            [(symbol, _)] => (true, self.symbols[*symbol].ty().is_integer()),
            _ => (false, false),
        };
        let known_ends = Arc::make_mut(&mut self.ends);
        let place = known_ends.iter().position(|ends| ends.counts == open_sum.counts).unwrap_or_else(|| {
            known_ends.push(SumEnds { counts: open_sum.counts, low: None, high: None });
            known_ends.len() - 1
        });
        let end = |is_excluded| SumEnd { at: -open_sum.number.clone(), is_excluded, part: part.clone() };
        let ends = &mut known_ends[place];
        match comparison {
            Comparison::AtMost | Comparison::Less => {
                ends.add(BoundSide::High, end(comparison == Comparison::Less), is_integer);
            }
            Comparison::AtLeast | Comparison::Greater => {
                ends.add(BoundSide::Low, end(comparison == Comparison::Greater), is_integer);
            }
            // Its ends are not rounded, so they may contradict the type. This is no bound of a box.
            Comparison::Equal => {
                ends.add(BoundSide::High, end(/* is_excluded */ false), /* is_integer */ false);
                ends.add(BoundSide::Low, end(/* is_excluded */ false), /* is_integer */ false);
                return false;
            }
            Comparison::NotEqual => return false,
        }
        is_single && !ends.is_empty()
    }

    /// The value of a number as a sum of symbols. `None`: it is no such sum, or has no value.
    fn value(&self, term: &Term, (known, given): (&Valuation, GivenValues<'_>)) -> Option<OpenSum> {
        let value_of = |term: &Term| self.value(term, (known, given));
        match term.node() {
            Node::Literal(value) => Some(OpenSum::constant(number_of(value)?)),
            Node::Data(datum) => match find_value(datum, (known, given)) {
                Some(value) => Some(OpenSum::constant(number_of(value)?)),
                None => self.sums.get(datum).map(|open_sum| OpenSum::clone(open_sum)),
            },
            Node::ToReal(a) => value_of(a),
            Node::Negate(a) => Some(value_of(a)?.times(&RBig::NEG_ONE)),
            Node::Arithmetic(Operator::Add, a, b) => Some(value_of(a)?.plus(value_of(b)?)),
            Node::Arithmetic(Operator::Subtract, a, b) => {
                Some(value_of(a)?.plus(value_of(b)?.times(&RBig::NEG_ONE)))
            }
            Node::Arithmetic(Operator::Multiply, a, b) => {
                let (a, b) = (value_of(a)?, value_of(b)?);
                let (sum, factor) = if a.counts.is_empty() { (b, a) } else { (a, b) };
                factor.counts.is_empty().then(|| sum.times(&factor.number))
            }
            Node::Arithmetic(Operator::Divide, a, b) => {
                let divisor = value_of(b)?;
                let is_number = divisor.counts.is_empty() && divisor.number != RBig::ZERO;
                if is_number { Some(value_of(a)?.times(&(RBig::ONE / divisor.number))) } else { None }
            }
            Node::IfThenElse(c, a, b) => match self.decide(c, (known, given)) {
                CanBe::ALWAYS => value_of(a),
                CanBe::NEVER if c.is_total() => value_of(b),
                _ => None,
            },
            _ => Some(OpenSum::constant(number_of(&evaluate_known(term, (known, given))?)?)),
        }
    }

    /// Finds out without a solver whether a condition can hold, and whether it can fail.
    pub fn decide(&self, condition: &Term, given: (&Valuation, GivenValues<'_>)) -> CanBe {
        let decide_part = |part: &Term| self.decide(part, given);
        let decide_comparison = |comparison: Comparison, a: &Term, b: &Term| {
            self.difference(a, b, given)
                .map_or(CanBe::UNKNOWN, |open_sum| self.decide_sum(comparison, open_sum))
        };
        // As it was written, a comparison needs no form of its operations.
        if let Some(Node::Compare(comparison, a, b)) = condition.written()
            && a.sort().is_number()
        {
            return decide_comparison(*comparison, a, b);
        }
        if let Some(value) = evaluate_known(condition, given) {
            return CanBe::of(value == Value::Bool(true));
        }
        match condition.node() {
            Node::And(parts) => CanBe::all(parts.iter().map(|part| (part.is_total(), decide_part(part)))),
            Node::Or(parts) => {
                CanBe::all(parts.iter().map(|part| (part.is_total(), decide_part(part).negated()))).negated()
            }
            Node::Not(part) => decide_part(part).negated(),
            Node::Compare(comparison, a, b) if a.sort().is_number() => decide_comparison(*comparison, a, b),
            _ => CanBe::UNKNOWN,
        }
    }

    fn difference(&self, a: &Term, b: &Term, given: (&Valuation, GivenValues<'_>)) -> Option<OpenSum> {
        Some(self.value(a, given)?.plus(self.value(b, given)?.times(&RBig::NEG_ONE)))
    }

    /// Decides `open_sum ⋈ 0`, by the ends of this sum or of its symbols.
    fn decide_sum(&self, comparison: Comparison, open_sum: OpenSum) -> CanBe {
        if open_sum.counts.is_empty() {
            return CanBe::of(comparison.holds(open_sum.number.cmp(&RBig::ZERO)));
        }
        let (comparison, open_sum) = open_sum.normalize(comparison);
        let number = -open_sum.number;
        let own = self.ends.iter().find(|ends| ends.counts == open_sum.counts);
        let single_symbol = if let [(symbol, _)] = open_sum.counts.as_slice() { Some(*symbol) } else { None };
        let limit = |side: BoundSide| -> Option<(RBig, bool)> {
            if let Some(end) = own.and_then(|own| own.end(side)) {
                return Some(end);
            }
            if single_symbol.is_some() {
                return None;
            }
            // Add up the ends of the symbols.
            let (mut sum, mut is_any_excluded) = (RBig::ZERO, false);
            for (symbol, count) in &open_sum.counts {
                let is_its_own = |ends: &&SumEnds| matches!(&ends.counts[..], [(own, _)] if own == symbol);
                let is_high = (side == BoundSide::High) == (*count > RBig::ZERO);
                let side = if is_high { BoundSide::High } else { BoundSide::Low };
                let (end, is_excluded) = self.ends.iter().find(is_its_own)?.end(side)?;
                sum += end * count;
                is_any_excluded |= is_excluded;
            }
            Some((sum, is_any_excluded))
        };
        // Compares a bound with the number. If they are equal, but the bound is excluded, it is `beyond`: all
        // values of the sum are less or greater.
        let order = |side: BoundSide, beyond: Ordering| {
            let (end, is_excluded) = limit(side)?;
            Some(end.cmp(&number).then(if is_excluded { beyond } else { Ordering::Equal }))
        };
        let (low, high) = (order(BoundSide::Low, Ordering::Greater), order(BoundSide::High, Ordering::Less));
        // Are all values below the number, above it, not above it, or not below it?
        let (below, above) = (high.is_some_and(Ordering::is_lt), low.is_some_and(Ordering::is_gt));
        let (not_above, not_below) = (high.is_some_and(Ordering::is_le), low.is_some_and(Ordering::is_ge));
        let (always, never) = match comparison {
            Comparison::Less => (below, not_below),
            Comparison::AtMost => (not_above, above),
            Comparison::Greater => (above, not_above),
            Comparison::AtLeast => (not_below, below),
            Comparison::Equal => (not_above && not_below, below || above),
            Comparison::NotEqual => (below || above, not_above && not_below),
        };
        // Both answers are possible for a symbol of a box, but not for an integer and a fraction.
        let is_decided = self.is_box
            && single_symbol.is_some_and(|symbol| number.is_int() || !self.symbols[symbol].ty().is_integer());
        match (always, never) {
            (true, _) => CanBe::ALWAYS,
            (_, true) => CanBe::NEVER,
            _ if is_decided => CanBe::SOMETIMES,
            _ => CanBe::UNKNOWN,
        }
    }

    /// Adds parts, each a bound of one symbol. `None`: one is not, the parts contradict each other, or a
    /// symbol is left with a single value.
    pub fn with_parts(&self, parts: &[Term], given: (&Valuation, GivenValues<'_>)) -> Option<Self> {
        if !self.is_box {
            return None;
        }
        let mut bounds = self.clone();
        for part in parts {
            let Node::Compare(comparison, a, b) = part.node() else { return None };
            if !a.sort().is_number() || !part.is_total() {
                return None;
            }
            let open_sum = bounds.difference(a, b, given)?;
            let [(symbol, _)] = open_sum.counts.as_slice() else { return None };
            let symbol = Term::datum(&bounds.symbols[*symbol]);
            let (comparison, open_sum) = open_sum.normalize(*comparison);
            // The part is stated for the symbol alone: `symbol ⋈ end`.
            let end = match a.sort() {
                Type::Real => Term::literal(Value::Real(-open_sum.number.clone())),
                _ if open_sum.number.is_int() => Term::int(-open_sum.number.numerator().clone()),
                _ => return None,
            };
            let part = Term::compare(comparison, &symbol, &end);
            if !bounds.narrow(comparison, open_sum, Some(part)) {
                return None;
            }
        }
        if bounds.ends.iter().any(SumEnds::is_point) {
            return None;
        }
        // The parts that state the ends are the whole condition now.
        let ends = bounds.ends.iter().flat_map(|ends| [&ends.low, &ends.high]);
        let mut condition: Vec<Term> = ends.flatten().filter_map(|end| end.part.clone()).collect();
        condition.sort();
        bounds.condition = condition.into();
        Some(bounds)
    }

    /// The bounds after data are assigned these terms. The condition stays. `None`: a term is no sum of just
    /// the symbols that its datum had before.
    pub(super) fn after_assignment(
        &self,
        assigned: &[(&Datum, &Term)],
        given: (&Valuation, GivenValues<'_>),
    ) -> Option<Self> {
        let mut moved = self.clone();
        for (datum, term) in assigned {
            let open_sum = self.value(term, given)?;
            let symbols =
                |open_sum: &OpenSum| open_sum.counts.iter().map(|(symbol, _)| *symbol).collect::<Vec<_>>();
            if symbols(&open_sum) != symbols(self.sums.get(datum)?) {
                return None;
            }
            let atoms = open_sum.counts.iter().map(|(symbol, count)| (&self.symbols[*symbol], count.clone()));
            let written = Sum::of_data(atoms, open_sum.number.clone()).term(&RBig::ONE, term.sort());
            Arc::make_mut(&mut moved.open).insert((*datum).clone(), written);
            moved.sums.insert((*datum).clone(), Arc::new(open_sum));
        }
        Some(moved)
    }

    /// Do these data mention each symbol of the condition?
    pub(super) fn is_mentioned_in(&self, open: &Arc<Substitution>) -> bool {
        if self.condition.is_empty() || Arc::ptr_eq(&self.open, open) {
            return true;
        }
        let mentioned: BTreeSet<Datum> = open.values().flat_map(Term::data).collect();
        self.condition.iter().flat_map(Term::data).all(|symbol| mentioned.contains(&symbol))
    }

    pub fn condition(&self) -> &[Term] {
        &self.condition
    }
}

/// Finds the value of a datum: first among the given ones, then among the known ones.
pub(super) fn find_value<'v>(
    datum: &Datum,
    (known, given): (&'v Valuation, GivenValues<'v>),
) -> Option<&'v Value> {
    let among_given = given.iter().find(|(other, _)| other == datum);
    among_given.map(|(_, value)| value).or_else(|| known.get(datum))
}

fn evaluate_known(term: &Term, (known, given): (&Valuation, GivenValues<'_>)) -> Option<Value> {
    evaluate_with(term, |datum| find_value(datum, (known, given))).ok()
}

/// The remembered bounds of a state's open data. States are compared without them.
#[derive(Clone, Default, Debug)]
pub struct BoundsMemo(Option<Arc<OpenBounds>>);

impl BoundsMemo {
    /// The remembered bounds, if they are those of these data and this condition.
    pub(super) fn of(&self, open: &Arc<Substitution>, condition: &[Term]) -> Option<&Arc<OpenBounds>> {
        self.0.as_ref().filter(|known| known.is_of(open, condition))
    }
}

impl From<Arc<OpenBounds>> for BoundsMemo {
    fn from(bounds: Arc<OpenBounds>) -> Self {
        BoundsMemo(Some(bounds))
    }
}

impl PartialEq for BoundsMemo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for BoundsMemo {}

impl PartialOrd for BoundsMemo {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for BoundsMemo {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl Hash for BoundsMemo {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
