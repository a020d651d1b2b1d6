//! Octagonal constraints as bounds of entries, and back.

use coreach_polyhedra::{Constraint, Integer, Rational, Relation};

/// A bound: `V_column - V_row` is at most, or less than, a value. The nodes are those of [`crate::matrix`],
/// over all dimensions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DbmEdge {
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) value: Rational,
    pub(crate) strict: bool,
}

impl DbmEdge {
    pub(crate) fn variables(&self) -> [usize; 2] {
        [self.row / 2, self.column / 2]
    }

    /// `V_node <= value`.
    pub(crate) fn single(node: usize, value: &Rational, strict: bool) -> Self {
        Self { row: node ^ 1, column: node, value: value + value, strict }
    }

    /// `V_a + V_b <= value`, of different variables.
    pub(crate) fn sum(a: usize, b: usize, value: Rational, strict: bool) -> Self {
        Self { row: b ^ 1, column: a, value, strict }
    }

    /// The bound as a constraint in a space of so many dimensions.
    pub(crate) fn constraint(&self, dimensions: usize, relation: Relation) -> Constraint {
        let denominator = self.value.denominator();
        let mut coefficients = vec![Integer::ZERO; dimensions];
        // value - V_column + V_row >= 0
        for (node, sign) in [(self.column, -1), (self.row, 1)] {
            let sign = if node % 2 == 0 { sign } else { -sign };
            let entry = &mut coefficients[node / 2];
            *entry = &*entry + &(denominator * &Integer::from(sign));
        }
        Constraint::new(coefficients, self.value.numerator().clone(), relation)
    }
}

/// `sum weight * V_node <= value`, or `<`, of different variables with positive weights.
#[derive(Clone, Debug)]
pub(crate) struct WeightedSum {
    pub(crate) terms: Vec<(usize, Integer)>,
    pub(crate) value: Integer,
    pub(crate) strict: bool,
}

/// Splits a constraint into upper bounds: one, or two if it is an equality.
pub(crate) fn sides(constraint: &Constraint) -> Vec<WeightedSum> {
    let side = |sign: i64| {
        let sign = Integer::from(sign);
        // c x + k >= 0 is -c x <= k.
        let term = |(at, c): (usize, &Integer)| {
            let node = if (c * &sign).is_negative() { 2 * at } else { 2 * at + 1 };
            (node, c.abs())
        };
        WeightedSum {
            terms: constraint.terms().map(term).collect(),
            value: constraint.constant() * &sign,
            strict: constraint.relation() == Relation::Greater,
        }
    };
    match constraint.relation() {
        Relation::Equal => vec![side(1), side(-1)],
        _ => vec![side(1)],
    }
}

impl WeightedSum {
    /// The bound of one entry that says the same, up to a factor. `None`: it is not octagonal.
    pub(crate) fn edge(&self) -> Option<DbmEdge> {
        match &self.terms[..] {
            [(node, weight)] => {
                Some(DbmEdge::single(*node, &Rational::new(self.value.clone(), weight.clone())?, self.strict))
            }
            [(a, weight), (b, other)] if weight == other => {
                let value = Rational::new(self.value.clone(), weight.clone())?;
                Some(DbmEdge::sum(*a, *b, value, self.strict))
            }
            _ => None,
        }
    }
}
