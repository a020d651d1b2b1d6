//! Facts as terms that a test engineer reads.
//!
//! An abstract value is a map from cells to polyhedra or boxes; what is printed is a formula over variables and
//! constants. Cells with the same element are one case; their valuations are merged into products of sets, place by
//! place, so that `vBeverage == COFFEE` is printed and a place that may have any value is not mentioned. Conjuncts that
//! all cases share are written once. What every value of a datum's type satisfies (`vPaid >= 0` of a `nat`) is left
//! out: a fact is read in the context of the types.
//!
//! Cases say the same thing again and again where several finite places matter, each to numbers of its own. So a fact of
//! more than `MOST_CASES` cases is said in clauses instead (`crate::clauses`), where that is shorter; these have a limit,
//! and what is beyond it is counted in [`Writer::shortened`].
//!
//! Example: cells {TEA ↦ x ≥ 1, COFFEE ↦ x ≥ 1 ∧ y = 0} become `x >= 1 && (vBeverage == TEA || vBeverage == COFFEE && y == 0)`.

use std::collections::{BTreeMap, HashMap, HashSet};

use coreach_model::Value;
use coreach_model::budget;
use coreach_model::term::Term;
use coreach_model::term::node::Comparison;
use coreach_polyhedra::{Constraint, Integer, Relation};

use crate::clauses::{atoms, clauses};
use crate::domains::Domain;
use crate::frame::{FinitePlace, Frame, extent};
use crate::linear::to_term;
use crate::partition::{ElementId, Partition, Store};

/// So many cases people read.
const MOST_CASES: usize = 8;

/// Writes values as terms, remembering what it wrote.
pub struct Writer {
    /// Comparisons and flags in one fact.
    limit: usize,
    /// Facts that say less than the value, for the sake of the limit.
    pub shortened: usize,
    values: HashMap<Partition, Term>,
    elements: HashMap<ElementId, Vec<Term>>,
}

impl Writer {
    /// A writer of facts that have at most so many comparisons and flags, where they have more than a few cases.
    pub fn new(limit: usize) -> Self {
        Writer { limit, shortened: 0, values: HashMap::new(), elements: HashMap::new() }
    }

    /// The term of a value: `false` for bottom.
    pub fn term<D: Domain>(&mut self, frame: &Frame, store: &Store<D>, value: &Partition) -> Term {
        if let Some(known) = self.values.get(value) {
            return known.clone();
        }
        let term = self.write(frame, store, value);
        self.values.insert(value.clone(), term.clone());
        term
    }

    fn write<D: Domain>(&mut self, frame: &Frame, store: &Store<D>, value: &Partition) -> Term {
        // Groups in the order of their first cell.
        let mut groups: Vec<(ElementId, Vec<u32>)> = Vec::new();
        let mut group_of: HashMap<ElementId, usize> = HashMap::new();
        for &(cell, element) in value.cells() {
            let at = *group_of.entry(element).or_insert(groups.len());
            if at == groups.len() {
                groups.push((element, Vec::new()));
            }
            groups[at].1.push(cell);
        }
        if groups.len() > MOST_CASES {
            let said = clauses(frame, store, value, self.limit);
            // Listing the cases is not cheap either: it is done where it can be shorter.
            let least: usize =
                groups.iter().map(|(element, _)| store.constraints(*element).len().max(1)).sum();
            if said.left_out > 0 || said.size <= least {
                self.shortened += usize::from(said.left_out > 0);
                return said.term;
            }
            let cases = self.by_cases(frame, store, groups);
            return if atoms(&cases) <= said.size { cases } else { said.term };
        }
        self.by_cases(frame, store, groups)
    }

    fn by_cases<D: Domain>(
        &mut self,
        frame: &Frame,
        store: &Store<D>,
        groups: Vec<(ElementId, Vec<u32>)>,
    ) -> Term {
        let mut cases: Vec<Vec<Term>> = Vec::new();
        for (element, cells) in groups {
            let numbers =
                self.elements.entry(element).or_insert_with(|| readable(frame, store.constraints(element)));
            let mut conjuncts = cubes_term(frame, &cubes(frame, &cells)).conjuncts();
            conjuncts.extend(numbers.iter().cloned());
            cases.push(conjuncts);
        }
        let Some(first) = cases.first() else { return Term::no() };
        let shared: Vec<Term> =
            first.iter().filter(|term| cases.iter().all(|case| case.contains(term))).cloned().collect();
        let known: HashSet<Term> = shared.iter().cloned().collect();
        let rest =
            cases.iter().map(|case| Term::and(case.iter().filter(|term| !known.contains(*term)).cloned()));
        let rest = Term::or(rest.collect::<Vec<_>>());
        Term::and(shared.into_iter().chain([rest]))
    }
}

/// The constraints that say more than the types, in an order for reading.
fn readable<'a>(frame: &Frame, constraints: impl Iterator<Item = &'a Constraint>) -> Vec<Term> {
    let mut kept: Vec<&Constraint> = constraints.filter(|constraint| says_more(frame, constraint)).collect();
    readable_order(&mut kept);
    kept.into_iter().map(|constraint| to_term(constraint, &frame.numeric)).collect()
}

/// Does the constraint say more than the types?
pub(crate) fn says_more(frame: &Frame, constraint: &Constraint) -> bool {
    !implied_by_types(frame, constraint)
}

/// Sorts constraints as they are read.
pub(crate) fn readable_order(constraints: &mut [&Constraint]) {
    constraints.sort_by_key(|constraint| reading_order(constraint));
}

/// Does every vector within the types satisfy the constraint? Exact: a linear form has its extremes at the ends.
fn implied_by_types(frame: &Frame, constraint: &Constraint) -> bool {
    let extreme = |sign: i32| -> Option<Integer> {
        let mut sum = constraint.constant().clone();
        for (place, coefficient) in frame.numeric.iter().zip(constraint.coefficients()) {
            if coefficient.is_zero() {
                continue;
            }
            let (low, high) = extent(&place.ty);
            let end = if coefficient.signum() == sign { high? } else { low? };
            sum = sum + coefficient * &end;
        }
        Some(sum)
    };
    let least = extreme(-1);
    match constraint.relation() {
        Relation::AtLeast => least.is_some_and(|least| !least.is_negative()),
        Relation::Greater => least.is_some_and(|least| least.is_positive()),
        Relation::Equal => {
            least.is_some_and(|least| least.is_zero() && extreme(1).is_some_and(|most| most.is_zero()))
        }
    }
}

/// Equalities first, then bounds of one place, then relations; by place; a lower bound before an upper one.
fn reading_order(constraint: &Constraint) -> (bool, Vec<usize>, bool) {
    let coefficients = constraint.coefficients();
    let used: Vec<usize> = (0..coefficients.len()).filter(|at| !coefficients[*at].is_zero()).collect();
    let falls = used.first().is_some_and(|at| coefficients[*at].is_negative());
    let length_first = std::iter::once(used.len().min(2)).chain(used).collect();
    (constraint.relation() != Relation::Equal, length_first, falls)
}

/// For each finite place, the digits it may have.
pub(crate) type Cube = Vec<Vec<u32>>;

/// Products of sets whose disjoint union is the cells. Merging along one place after the other is not minimal, but
/// finds every value that is a product.
pub(crate) fn cubes(frame: &Frame, cells: &[u32]) -> Vec<Cube> {
    let places = frame.finite.len();
    let single = |cell: &u32| (0..places).map(|place| vec![frame.digit(*cell, place)]).collect();
    let mut cubes: Vec<Cube> = cells.iter().map(single).collect();
    loop {
        let before = cubes.len();
        for place in 0..places {
            // By what the cubes say about the other places; the map's order is the order of the cubes.
            let mut merged: BTreeMap<Cube, Vec<u32>> = BTreeMap::new();
            for mut cube in cubes {
                budget::ask();
                let digits = std::mem::take(&mut cube[place]);
                merged.entry(cube).or_default().extend(digits);
            }
            let restored = merged.into_iter().map(|(mut cube, mut digits)| {
                digits.sort_unstable();
                cube[place] = digits;
                cube
            });
            cubes = restored.collect();
        }
        if cubes.len() == before {
            cubes.sort();
            return cubes;
        }
    }
}

/// That the cell is in one of the products.
pub(crate) fn cubes_term(frame: &Frame, cubes: &[Cube]) -> Term {
    Term::or(cubes.iter().map(|cube| Term::and(cube_terms(frame, cube))))
}

fn cube_terms(frame: &Frame, cube: &Cube) -> Vec<Term> {
    frame.finite.iter().zip(cube).map(|(place, digits)| set_term(place, digits)).collect()
}

/// That the place has one of these digits, in the fewest words.
fn set_term(finite: &FinitePlace, digits: &[u32]) -> Term {
    let place = &finite.place.term;
    let value = |digit: u32| &finite.values[digit as usize];
    let compare = |comparison, digit| match value(digit) {
        Value::Bool(value) if *value == (comparison == Comparison::Equal) => place.clone(),
        Value::Bool(_) => place.not(),
        value => Term::compare(comparison, place, &Term::literal(value.clone())),
    };
    let missing: Vec<u32> = (0..finite.values.len() as u32).filter(|digit| !digits.contains(digit)).collect();
    if missing.len() < digits.len() {
        return Term::and(missing.into_iter().map(|digit| compare(Comparison::NotEqual, digit)));
    }
    Term::or(digits.iter().map(|digit| compare(Comparison::Equal, *digit)))
}
