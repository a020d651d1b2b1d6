//! Writes facts as terms that a test engineer reads.
//!
//! An abstract value is a map from cells to elements, such as polyhedra or boxes. It is written as a formula
//! over variables and constants. Cells with the same element are one case. Their valuations are merged into
//! products of sets, place by place: `vBeverage == COFFEE` is written, and a place that may have any value is
//! not mentioned. Conjuncts that all cases share are written once. A conjunct that follows from a type
//! (`vPaid >= 0` of a `nat`) is left out: a fact is read in the context of the types.
//!
//! If several finite places matter, each to numbers of its own, cases repeat each other. So a fact of more
//! than `MOST_CASES` cases is written in clauses instead (`crate::clauses`), if that is shorter. Clauses have
//! a limit. [`FactWriter::shortened`] counts the facts that exceed it.
//!
//! Example: cells {TEA ↦ x ≥ 1, COFFEE ↦ x ≥ 1 ∧ y = 0} become
//! `x >= 1 && (vBeverage == TEA || vBeverage == COFFEE && y == 0)`.

use std::collections::HashMap;

use coreach_model::term::Term;

use crate::clauses::{count_atoms, write_clauses};
use crate::cubes::{cubes_term, split_into_cubes};
use crate::frame::Frame;
use crate::partition::{AbstractValue, ElementId, Elements};
use crate::readable::{congruence_to_term, write_constraints, write_disjunction, written_congruences};

const MOST_CASES: usize = 8;

/// Writes values as terms, and remembers them.
pub struct FactWriter {
    limit: usize,
    /// How many facts say less than their value, because of the limit.
    pub shortened: usize,
    values: HashMap<AbstractValue, Term>,
    elements: HashMap<ElementId, Vec<Term>>,
}

impl FactWriter {
    /// A fact with many cases gets at most `limit` comparisons and flags.
    pub fn new(limit: usize) -> Self {
        FactWriter { limit, shortened: 0, values: HashMap::new(), elements: HashMap::new() }
    }

    pub fn term(&mut self, frame: &Frame, store: &Elements, value: &AbstractValue) -> Term {
        if let Some(known) = self.values.get(value) {
            return known.clone();
        }
        let term = self.write(frame, store, value);
        self.values.insert(value.clone(), term.clone());
        term
    }

    /// Writes the disjunction of several values. Conjuncts that all of them share are written once.
    pub fn disjunction(&mut self, frame: &Frame, store: &Elements, values: &[AbstractValue]) -> Term {
        let cases: Vec<Vec<Term>> =
            values.iter().map(|value| self.term(frame, store, value).lowered().conjuncts()).collect();
        write_disjunction(&cases)
    }

    /// Writes a value by cases, or in clauses if there are many cases and the clauses are shorter.
    fn write(&mut self, frame: &Frame, store: &Elements, value: &AbstractValue) -> Term {
        // Groups in the order of their first cell.
        let mut groups: Vec<(ElementId, Vec<u32>)> = Vec::new();
        let mut group_of: HashMap<ElementId, usize> = HashMap::new();
        for &(cell, element) in value.cells() {
            let group = *group_of.entry(element).or_insert(groups.len());
            if group == groups.len() {
                groups.push((element, Vec::new()));
            }
            let (_, cells) = &mut groups[group];
            cells.push(cell);
        }
        if groups.len() <= MOST_CASES {
            return self.write_cases(frame, store, groups);
        }
        let clauses = write_clauses(frame, store, value, self.limit);
        // Cases are not cheap either, so they are written only if they can be shorter.
        let least_size: usize =
            groups.iter().map(|(element, _)| store.constraints(*element).len().max(1)).sum();
        if clauses.left_out > 0 || clauses.size <= least_size {
            self.shortened += usize::from(clauses.left_out > 0);
            return clauses.term;
        }
        let cases = self.write_cases(frame, store, groups);
        if count_atoms(&cases) <= clauses.size { cases } else { clauses.term }
    }

    /// Writes a value as a disjunction, with one case for each group of cells.
    fn write_cases(&mut self, frame: &Frame, store: &Elements, groups: Vec<(ElementId, Vec<u32>)>) -> Term {
        let mut cases: Vec<Vec<Term>> = Vec::new();
        for (element, cells) in groups {
            let numbers = self.elements.entry(element).or_insert_with(|| {
                let mut terms = write_constraints(frame, store.constraints(element));
                terms.extend(
                    written_congruences(frame, store, element)
                        .iter()
                        .map(|c| congruence_to_term(c, &frame.numeric)),
                );
                terms
            });
            let mut conjuncts = cubes_term(frame, &split_into_cubes(frame, &cells)).lowered().conjuncts();
            conjuncts.extend(numbers.iter().cloned());
            cases.push(conjuncts);
        }
        write_disjunction(&cases)
    }
}
