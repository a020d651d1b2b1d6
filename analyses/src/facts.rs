//! Facts as terms that a test engineer reads.
//!
//! An abstract value is a map from cells to polyhedra or boxes; what is printed is a formula over variables
//! and constants. Cells with the same element are one case; their valuations are merged into products of
//! sets, place by place, so that `vBeverage == COFFEE` is printed and a place that may have any value is not
//! mentioned. Conjuncts that all cases share are written once. What every value of a datum's type satisfies
//! (`vPaid >= 0` of a `nat`) is left out: a fact is read in the context of the types.
//!
//! Cases say the same thing again and again where several finite places matter, each to numbers of its own.
//! So a fact of more than `MOST_CASES` cases is said in clauses instead (`crate::clauses`), where that is
//! shorter; these have a limit, and what is beyond it is counted in [`FactWriter::shortened`].
//!
//! Example: cells {TEA ↦ x ≥ 1, COFFEE ↦ x ≥ 1 ∧ y = 0} become
//! `x >= 1 && (vBeverage == TEA || vBeverage == COFFEE && y == 0)`.

use std::collections::HashMap;

use coreach_model::term::Term;

use crate::clauses::{atoms, clauses};
use crate::cubes::{cubes, cubes_term};
use crate::domains::Domain;
use crate::frame::Frame;
use crate::partition::{AbstractValue, ElementId, Elements};
use crate::readable::{classes, congruent, disjunction, readable};

const MOST_CASES: usize = 8;

/// Writes values as terms, remembering what it wrote.
pub struct FactWriter {
    limit: usize,
    /// Facts that say less than the value, for the sake of the limit.
    pub shortened: usize,
    values: HashMap<AbstractValue, Term>,
    elements: HashMap<ElementId, Vec<Term>>,
}

impl FactWriter {
    /// A writer of facts that have at most so many comparisons and flags, where they have more than a few
    /// cases.
    pub fn new(limit: usize) -> Self {
        FactWriter { limit, shortened: 0, values: HashMap::new(), elements: HashMap::new() }
    }

    pub fn term<D: Domain>(&mut self, frame: &Frame, store: &Elements<D>, value: &AbstractValue) -> Term {
        if let Some(known) = self.values.get(value) {
            return known.clone();
        }
        let term = self.write(frame, store, value);
        self.values.insert(value.clone(), term.clone());
        term
    }

    /// The term of one of several values; what all of them say is said once.
    pub fn one_of<D: Domain>(
        &mut self,
        frame: &Frame,
        store: &Elements<D>,
        values: &[AbstractValue],
    ) -> Term {
        let parts: Vec<Vec<Term>> =
            values.iter().map(|value| self.term(frame, store, value).lowered().conjuncts()).collect();
        let [first, rest @ ..] = &parts[..] else { return Term::no() };
        if rest.is_empty() {
            return Term::and(first.iter().cloned());
        }
        let is_common = |part: &Term| rest.iter().all(|other| other.contains(part));
        let common: Vec<Term> = first.iter().filter(|part| is_common(part)).cloned().collect();
        let own = |parts: &Vec<Term>| Term::and(parts.iter().filter(|part| !common.contains(part)).cloned());
        let one = Term::or(parts.iter().map(own).collect::<Vec<_>>());
        Term::and(common.iter().cloned().chain([one]))
    }

    fn write<D: Domain>(&mut self, frame: &Frame, store: &Elements<D>, value: &AbstractValue) -> Term {
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
        store: &Elements<D>,
        groups: Vec<(ElementId, Vec<u32>)>,
    ) -> Term {
        let mut cases: Vec<Vec<Term>> = Vec::new();
        for (element, cells) in groups {
            let numbers = self.elements.entry(element).or_insert_with(|| {
                let mut said = readable(frame, store.constraints(element));
                said.extend(classes(frame, store, element).iter().map(|c| congruent(c, &frame.numeric)));
                said
            });
            let mut conjuncts = cubes_term(frame, &cubes(frame, &cells)).lowered().conjuncts();
            conjuncts.extend(numbers.iter().cloned());
            cases.push(conjuncts);
        }
        disjunction(&cases)
    }
}
