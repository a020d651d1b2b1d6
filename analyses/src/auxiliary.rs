//! Numbers of their own for what has no linear form: products, whole quotients with their remainders, and
//! reads of cells that are no places.
//!
//! **Problem.** A condition that mentions such a term said nothing, and what was assigned one was unknown.
//!
//! **Method.** The term gets a dimension behind those of the parameters, projected away with them, and what
//! is known of it is said in constraints. A read has its element's type. `a div b` is the whole `q` with
//! `0 <= a - b * q < |b|` where `b` is not 0, and `a mod b` is `a - b * q`. Of a product `p` of `a` in
//! `[l, u]` and `b` in `[k, v]` McCormick's inequalities hold (Mathematical Programming 10, 1976,
//! <https://doi.org/10.1007/BF01580665>), `p >= k a + l b - l k` and three like it, each where both its
//! bounds are known. The bounds are those of the fact that the transition is taken from, the guard included.
//! A factor that is whole and has few values is gone through instead: with its value known the product is
//! linear.
//!
//! **Sound**: whatever the other numbers are, the dimension has a value that satisfies what is said of it, so
//! it restricts nothing where its term does not count, or has no value.
//!
//! **Cost**: for each product a projection for the bounds of each factor, and a meet for each case.

use std::collections::HashMap;

use coreach_model::term::Term;
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};

use crate::domains::Domain;
use crate::linear::positive_constraint;
use crate::summaries::CellInstance;

/// The most cases into which the factors of one condition's products fall.
pub const MOST_CASES: usize = 12;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Multiplication {
    dimension: usize,
    factors: [LinearExpression; 2],
    is_whole: bool,
}

#[derive(Default)]
pub struct Auxiliaries {
    most: usize,
    pub integer: Vec<bool>,
    pub bounds: Vec<Constraint>,
    /// Those that are products, factors before what is made of them.
    pub products: Vec<Multiplication>,
    /// Those that are cells at an index of which a fact about all cells knows something.
    pub instances: Vec<CellInstance>,
    reads: HashMap<Term, LinearExpression>,
    names: usize,
    quotients: Vec<(LinearExpression, LinearExpression, LinearExpression)>,
}

impl Auxiliaries {
    /// None yet; by default there may be none at all. `elements` are the numbers of the elements that stand
    /// for all of a list: some transitions read two.
    pub fn new(elements: usize) -> Self {
        // The most such numbers of one effect: each is a dimension.
        Auxiliaries { most: 6 + (2 * elements).min(10), ..Auxiliaries::default() }
    }

    /// Another number, behind `dimensions` others.
    fn add(&mut self, dimensions: usize, is_whole: bool) -> Option<LinearExpression> {
        let has_room = self.integer.len() < self.most;
        has_room.then(|| {
            self.integer.push(is_whole);
            LinearExpression::variable(dimensions)
        })
    }

    /// The number of a read, of which the type's constraints are known; `None` where there is no room.
    pub fn read(
        &mut self,
        term: &Term,
        dimensions: usize,
        is_whole: bool,
        known: impl FnOnce(&LinearExpression) -> Vec<Constraint>,
    ) -> Option<LinearExpression> {
        if let Some(number) = self.reads.get(term) {
            return Some(number.clone());
        }
        let number = self.add(dimensions, is_whole)?;
        self.bounds.extend(known(&number));
        self.reads.insert(term.clone(), number.clone());
        Some(number)
    }

    /// Another number each time, to call something by.
    pub fn next_name(&mut self) -> usize {
        self.names += 1;
        self.names
    }

    pub fn known_read(&self, term: &Term) -> Option<LinearExpression> {
        self.reads.get(term).cloned()
    }

    /// That a number which was read is what stands in a dimension of a summary, at an index.
    pub fn instantiate(&mut self, summary: usize, index: &Term, leaf: usize, number: usize) {
        // What is read at one index is related.
        let is_same = |known: &&mut CellInstance| (known.summary, &known.index) == (summary, index);
        match self.instances.iter_mut().find(is_same) {
            Some(known) => known.numbers.push((leaf, number)),
            None => {
                let numbers = vec![(leaf, number)];
                self.instances.push(CellInstance { summary, index: index.clone(), numbers });
            }
        }
    }

    /// The number of a whole quotient, likewise.
    pub fn quotient(
        &mut self,
        of: &LinearExpression,
        by: &LinearExpression,
        dimensions: usize,
    ) -> Option<LinearExpression> {
        if let Some((.., number)) = self.quotients.iter().find(|(a, b, _)| (a, b) == (of, by)) {
            return Some(number.clone());
        }
        let number = self.add(dimensions, true)?;
        self.quotients.push((of.clone(), by.clone(), number.clone()));
        Some(number)
    }

    /// The number of a product, likewise.
    pub fn product(
        &mut self,
        a: &LinearExpression,
        b: &LinearExpression,
        dimensions: usize,
        is_whole: bool,
    ) -> Option<LinearExpression> {
        let [factors, turned] = [[a, b], [b, a]].map(|factors| factors.map(Clone::clone));
        let known = self.products.iter().find(|known| known.factors == factors || known.factors == turned);
        if let Some(known) = known {
            return Some(LinearExpression::variable(known.dimension));
        }
        let number = self.add(dimensions, is_whole)?;
        self.products.push(Multiplication { dimension: dimensions, factors, is_whole });
        Some(number)
    }

    /// As many of the numbers, from dimension `first` on, as have those that are mentioned, and the factors
    /// of these; with what is known of them.
    pub fn needed(&self, first: usize, mentioned: impl Fn(usize) -> bool) -> Auxiliaries {
        let mut is_needed: Vec<bool> = (0..self.integer.len()).map(|at| mentioned(first + at)).collect();
        for product in self.products.iter().rev() {
            if is_needed[product.dimension - first] {
                for (at, is_needed) in is_needed.iter_mut().enumerate() {
                    *is_needed |= product.mentions(first + at);
                }
            }
        }
        let count = is_needed.iter().rposition(|is_needed| *is_needed).map_or(0, |last| last + 1);
        let within = |constraint: &&Constraint| {
            constraint.coefficients().iter().skip(first + count).all(Integer::is_zero)
        };
        let products = self.products.iter().filter(|product| is_needed[product.dimension - first]);
        let read = |instance: &CellInstance| {
            let mut instance = instance.clone();
            instance.numbers.retain(|(_, number)| is_needed[*number - first]);
            (!instance.numbers.is_empty()).then_some(instance)
        };
        Auxiliaries {
            integer: self.integer[..count].to_vec(),
            bounds: self.bounds.iter().filter(within).take_while(|_| count > 0).cloned().collect(),
            products: products.cloned().collect(),
            instances: self.instances.iter().filter_map(read).collect(),
            ..Auxiliaries::default()
        }
    }
}

impl Multiplication {
    fn mentions(&self, dimension: usize) -> bool {
        self.factors.iter().any(|factor| !factor.coefficient(dimension).is_zero())
    }

    /// That it is the second factor so many times, if the first one is that.
    fn times(&self, which: usize, value: &Rational) -> [Constraint; 2] {
        let [one, other] = [&self.factors[which], &self.factors[1 - which]];
        let product = LinearExpression::variable(self.dimension);
        [(one, LinearExpression::constant(value.clone())), (&product, other.times(value))]
            .map(|(a, b)| positive_constraint(&a.minus(&b), Relation::Equal))
    }

    /// McCormick's inequalities within these bounds of the factors.
    fn envelope(&self, bounds: &[FactorBounds; 2]) -> Vec<Constraint> {
        let [a, b] = &self.factors;
        let [(a_low, a_high), (b_low, b_high)] = bounds;
        let product = LinearExpression::variable(self.dimension);
        let mut found = Vec::new();
        // (a - x) * (b - y) has the sign of both sides.
        for (x, y, is_above) in
            [(a_low, b_low, true), (a_high, b_high, true), (a_low, b_high, false), (a_high, b_low, false)]
        {
            let (Some(x), Some(y)) = (x, y) else { continue };
            let others = b.times(x).plus(&a.times(y)).minus(&LinearExpression::constant(x * y));
            let [more, less] = if is_above { [&product, &others] } else { [&others, &product] };
            found.push(positive_constraint(&more.minus(less), Relation::AtLeast));
        }
        if a == b {
            found.push(positive_constraint(&product, Relation::AtLeast));
        }
        found
    }

    /// What of the element the product leaves, in cases that together have all of it. At most so many.
    pub fn split<D: Domain>(&self, element: &D, integer: &[bool], most: usize) -> Vec<D> {
        let bounds = self.factors.each_ref().map(|factor| bounds(element, factor, integer, self.is_whole));
        let values = bounds.each_ref().map(|bounds| few(bounds, self.is_whole, most));
        let fewest = (0..2).filter_map(|which| Some((which, values[which].as_ref()?)));
        match fewest.min_by_key(|(_, values)| values.len()) {
            Some((which, values)) => {
                let case = |value| element.meet_constraints(&self.times(which, value), integer);
                values.iter().map(case).filter(|case| !case.is_bottom()).collect()
            }
            None => vec![element.meet_constraints(&self.envelope(&bounds), integer)],
        }
    }
}

/// The least and the greatest value, as far as they are known.
type FactorBounds = (Option<Rational>, Option<Rational>);

/// The bounds of an expression in an element; rounded inwards where it is whole. Whether a bound itself is
/// out does not matter.
fn bounds<D: Domain>(element: &D, of: &LinearExpression, integer: &[bool], is_whole: bool) -> FactorBounds {
    let last = integer.len();
    let alone = element.add_dimensions(1).assign(&[(last, Some(of.clone()))]);
    let alone = alone.forget(&(0..last).collect::<Vec<_>>());
    let (mut low, mut high) = (None, None);
    if alone.is_bottom() {
        return (low, high);
    }
    for constraint in alone.constraints() {
        let factor = Rational::from(constraint.coefficients().get(last).cloned().unwrap_or(Integer::ZERO));
        let Some(share) = factor.reciprocal() else { continue };
        let value = &Rational::from(-constraint.constant().clone()) * &share;
        let is_equal = constraint.relation() == Relation::Equal;
        // A product of domains may say the same more than once, and not as well.
        if is_equal || factor.signum() > 0 {
            let least = if is_whole { Rational::from(value.ceil()) } else { value.clone() };
            low = low.max(Some(least));
        }
        if is_equal || factor.signum() < 0 {
            let most = if is_whole { Rational::from(value.floor()) } else { value };
            high = Some(high.map_or(most.clone(), |high: Rational| high.min(most)));
        }
    }
    (low, high)
}

/// The values within the bounds, where they are at most so many.
fn few((low, high): &FactorBounds, is_whole: bool, most: usize) -> Option<Vec<Rational>> {
    let (low, high) = (low.as_ref()?, high.as_ref()?);
    if low == high {
        return Some(vec![low.clone()]);
    }
    let count = (high - low).floor().to_i64().filter(|_| is_whole)?;
    let fits = count < i64::try_from(most).ok()?;
    fits.then(|| (0..=count).map(|more| low + &Rational::from(more)).collect())
}
