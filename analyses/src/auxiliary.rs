//! Auxiliary numbers for terms without a linear form: products, integer quotients with their remainders, and
//! reads of cells that are no places.
//!
//! **Problem.** Without them, a condition that mentions such a term says nothing, and a number to which such
//! a term is assigned is unknown.
//!
//! **Method.** The term gets a dimension after those of the parameters, which is projected away with them.
//! Constraints say what is known of it. A read has its element's type. `a div b` is the whole `q` with `0 <=
//! a - b * q < |b|` where `b` is not 0, and `a mod b` is `a - b * q`. Of a product `p` of `a` in `[l, u]` and
//! `b` in `[k, v]` McCormick's inequalities hold (Mathematical Programming 10, 1976,
//! <https://doi.org/10.1007/BF01580665>), `p >= k a + l b - l k` and three like it, each if both its bounds
//! are known. The bounds are those of the fact before the transition, with its guard. If a factor is an
//! integer with few values, there is one case for each value instead: in each the product is linear.
//!
//! **Sound**: for all values of the other numbers, the dimension has a value that satisfies its constraints.
//! So it restricts nothing if its term has no value. **Cost**: for each product a projection for the bounds
//! of each factor, and a meet for each case.

use std::collections::HashMap;

use coreach_model::term::Term;
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};

use crate::domains::any::AnyElement;
use crate::summaries::CellInstance;

/// The most cases that the products of one condition are split into.
pub const MOST_CASES: usize = 12;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Multiplication {
    dimension: usize,
    factors: [LinearExpression; 2],
    is_whole: bool,
}

#[derive(Default)]
pub struct Auxiliaries {
    /// How many numbers there may be.
    most: usize,
    /// For each number: is it an integer?
    pub integer: Vec<bool>,
    pub bounds: Vec<Constraint>,
    /// The numbers that are products. A product comes after the products that are its factors.
    pub products: Vec<Multiplication>,
    /// The numbers that are cells, where a fact about all cells tells something of them.
    pub instances: Vec<CellInstance>,
    pub(crate) reads: HashMap<Term, LinearExpression>,
    names: usize,
    /// Each dividend and divisor, with the number of their quotient.
    quotients: Vec<(LinearExpression, LinearExpression, LinearExpression)>,
}

impl Auxiliaries {
    /// Starts without numbers. `elements` is how many numbers stand for all elements of a list, because some
    /// transitions read two elements. (By default no numbers may be added.)
    pub fn new(elements: usize) -> Self {
        // Each number is a dimension, so one effect has only a few.
        Auxiliaries { most: 6 + (2 * elements).min(10), ..Auxiliaries::default() }
    }

    /// Adds a number, which is the dimension after so many others. `None`: there is no room.
    fn add(&mut self, dimensions: usize, is_whole: bool) -> Option<LinearExpression> {
        let has_room = self.integer.len() < self.most;
        has_room.then(|| {
            self.integer.push(is_whole);
            LinearExpression::variable(dimensions)
        })
    }

    /// Returns the number of a read, or adds one with the constraints that `constraints_of` makes for it.
    /// `None` if there is no room.
    pub fn number_of_read(
        &mut self,
        term: &Term,
        dimensions: usize,
        is_whole: bool,
        constraints_of: impl FnOnce(&LinearExpression) -> Vec<Constraint>,
    ) -> Option<LinearExpression> {
        if let Some(number) = self.reads.get(term) {
            return Some(number.clone());
        }
        let number = self.add(dimensions, is_whole)?;
        self.bounds.extend(constraints_of(&number));
        self.reads.insert(term.clone(), number.clone());
        Some(number)
    }

    /// Returns a number for a fresh name.
    pub fn next_name(&mut self) -> usize {
        self.names += 1;
        self.names
    }

    /// Notes that the dimension `number` is the summary's dimension `leaf`, in the cell at this index.
    pub fn instantiate(&mut self, summary: usize, index: &Term, leaf: usize, number: usize) {
        // Numbers that are read at one index belong together.
        let is_same = |known: &&mut CellInstance| (known.summary, &known.index) == (summary, index);
        match self.instances.iter_mut().find(is_same) {
            Some(known) => known.numbers.push((leaf, number)),
            None => {
                let numbers = vec![(leaf, number)];
                self.instances.push(CellInstance { summary, index: index.clone(), numbers });
            }
        }
    }

    /// Returns the number of an integer quotient, or adds it. `None`: there is no room.
    pub fn number_of_quotient(
        &mut self,
        dividend: &LinearExpression,
        divisor: &LinearExpression,
        dimensions: usize,
    ) -> Option<LinearExpression> {
        if let Some((.., number)) = self.quotients.iter().find(|(a, b, _)| (a, b) == (dividend, divisor)) {
            return Some(number.clone());
        }
        let number = self.add(dimensions, /* is_whole */ true)?;
        self.quotients.push((dividend.clone(), divisor.clone(), number.clone()));
        Some(number)
    }

    /// Returns the number of a product, or adds it. `None`: there is no room.
    pub fn number_of_product(
        &mut self,
        a: &LinearExpression,
        b: &LinearExpression,
        dimensions: usize,
        is_whole: bool,
    ) -> Option<LinearExpression> {
        let is_same = |known: &&Multiplication| {
            let [first, second] = &known.factors;
            (first, second) == (a, b) || (first, second) == (b, a)
        };
        if let Some(known) = self.products.iter().find(is_same) {
            return Some(LinearExpression::variable(known.dimension));
        }
        let number = self.add(dimensions, is_whole)?;
        let factors = [a.clone(), b.clone()];
        self.products.push(Multiplication { dimension: dimensions, factors, is_whole });
        Some(number)
    }

    /// Keeps the mentioned numbers, their factors, and all numbers before the last of these. Also keeps what
    /// is known of the kept numbers. The numbers begin at dimension `first`.
    pub fn keep_needed(&self, first: usize, is_mentioned: impl Fn(usize) -> bool) -> Auxiliaries {
        let mut needed: Vec<bool> =
            (0..self.integer.len()).map(|number| is_mentioned(first + number)).collect();
        // From the last product on, because its factors come before it.
        for product in self.products.iter().rev() {
            if needed[product.dimension - first] {
                for (number, is_needed) in needed.iter_mut().enumerate() {
                    *is_needed |= product.mentions(first + number);
                }
            }
        }
        // Only the numbers behind the last needed one are cut off, so that no other dimension moves.
        let Some(last) = needed.iter().rposition(|is_needed| *is_needed) else {
            return Auxiliaries::default();
        };
        let has_kept_numbers = |constraint: &&Constraint| {
            constraint.coefficients().iter().skip(first + last + 1).all(Integer::is_zero)
        };
        let products = self.products.iter().filter(|product| needed[product.dimension - first]);
        let keep_needed_cells = |instance: &CellInstance| {
            let mut instance = instance.clone();
            instance.numbers.retain(|(_, number)| needed[*number - first]);
            (!instance.numbers.is_empty()).then_some(instance)
        };
        Auxiliaries {
            integer: self.integer[..=last].to_vec(),
            bounds: self.bounds.iter().filter(has_kept_numbers).cloned().collect(),
            products: products.cloned().collect(),
            instances: self.instances.iter().filter_map(keep_needed_cells).collect(),
            ..Auxiliaries::default()
        }
    }
}

impl Multiplication {
    fn mentions(&self, dimension: usize) -> bool {
        self.factors.iter().any(|factor| !factor.coefficient(dimension).is_zero())
    }

    /// Lists the constraints of the product if factor `which` has this value.
    fn fix_factor(&self, which: usize, value: &Rational) -> [Constraint; 2] {
        let (fixed, free) = (&self.factors[which], &self.factors[1 - which]);
        let product = LinearExpression::variable(self.dimension);
        [(fixed, LinearExpression::constant(value.clone())), (&product, free.times(value))]
            .map(|(a, b)| Constraint::from_expression(&a.minus(&b), Relation::Equal))
    }

    /// Lists McCormick's inequalities for these bounds of the factors.
    fn list_envelope(&self, bounds: &[FactorBounds; 2]) -> Vec<Constraint> {
        let [a, b] = &self.factors;
        let [(a_low, a_high), (b_low, b_high)] = bounds;
        let product = LinearExpression::variable(self.dimension);
        let mut inequalities = Vec::new();
        // (a - x) * (b - y) >= 0 if x and y are both lower or both upper bounds, and <= 0 otherwise.
        for (x, y, is_above) in
            [(a_low, b_low, true), (a_high, b_high, true), (a_low, b_high, false), (a_high, b_low, false)]
        {
            let (Some(x), Some(y)) = (x, y) else { continue };
            let others = b.times(x).plus(&a.times(y)).minus(&LinearExpression::constant(x * y));
            let [greater, smaller] = if is_above { [&product, &others] } else { [&others, &product] };
            inequalities.push(Constraint::from_expression(&greater.minus(smaller), Relation::AtLeast));
        }
        // A square is not negative.
        if a == b {
            inequalities.push(Constraint::from_expression(&product, Relation::AtLeast));
        }
        inequalities
    }

    /// Splits an element into at most `most` cases in which the product is related to its factors. Together
    /// they contain all vectors of the element that satisfy the product.
    pub fn split(&self, element: &AnyElement, integer: &[bool], most: usize) -> Vec<AnyElement> {
        let bounds =
            self.factors.each_ref().map(|factor| find_bounds(element, factor, integer, self.is_whole));
        let values = bounds.each_ref().map(|bounds| list_few_values(bounds, self.is_whole, most));
        let with_few_values = (0..2).filter_map(|which| Some((which, values[which].as_ref()?)));
        match with_few_values.min_by_key(|(_, values)| values.len()) {
            Some((which, values)) => {
                let case = |value| element.meet_constraints(&self.fix_factor(which, value), integer);
                values.iter().map(case).filter(|case| !case.is_bottom()).collect()
            }
            None => vec![element.meet_constraints(&self.list_envelope(&bounds), integer)],
        }
    }
}

/// The least and the greatest value of a factor. `None`: no bound is known.
type FactorBounds = (Option<Rational>, Option<Rational>);

/// Finds the bounds of an expression in an element. `is_whole`: the expression is an integer, and its bounds
/// are rounded inwards. A strict bound is given as if it were not strict. An empty element gives no bounds.
fn find_bounds(
    element: &AnyElement,
    expression: &LinearExpression,
    integer: &[bool],
    is_whole: bool,
) -> FactorBounds {
    // A new last dimension gets the value, and all others are projected away.
    let last = integer.len();
    let alone = element.add_dimensions(1).assign(&[(last, Some(expression.clone()))]);
    let alone = alone.forget(&(0..last).collect::<Vec<_>>());
    let (mut low, mut high) = (None, None);
    if alone.is_bottom() {
        return (low, high);
    }
    for constraint in alone.constraints() {
        let factor = Rational::from(constraint.coefficients().get(last).cloned().unwrap_or(Integer::ZERO));
        let Some(reciprocal) = factor.reciprocal() else { continue };
        let value = &Rational::from(-constraint.constant().clone()) * &reciprocal;
        let is_equal = constraint.relation() == Relation::Equal;
        // A product of domains may give more than one bound: the closest counts.
        if is_equal || factor.signum() > 0 {
            let least = if is_whole { Rational::from(value.ceil()) } else { value.clone() };
            // `None` is less than any bound.
            low = low.max(Some(least));
        }
        if is_equal || factor.signum() < 0 {
            let most = if is_whole { Rational::from(value.floor()) } else { value };
            high = Some(high.map_or(most.clone(), |high: Rational| high.min(most)));
        }
    }
    (low, high)
}

/// Lists the values within the bounds of a factor. `None`: there may be more than `most`.
fn list_few_values((low, high): &FactorBounds, is_whole: bool, most: usize) -> Option<Vec<Rational>> {
    let (low, high) = (low.as_ref()?, high.as_ref()?);
    if low == high {
        return Some(vec![low.clone()]);
    }
    let count = (high - low).floor().to_i64().filter(|_| is_whole)?;
    let fits = count < i64::try_from(most).ok()?;
    fits.then(|| (0..=count).map(|step| low + &Rational::from(step)).collect())
}
