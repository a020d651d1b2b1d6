//! Facts as clauses: each constraint on numbers once, with the finite data under which it is known.
//!
//! **Problem.** A fact is a map from cells to elements. Written case by case, n independent Booleans that
//! each say something about a number of their own make 2ⁿ cases, and every reader of the fact pays for them.
//!
//! **Method.** The same set is a conjunction. Its first part says which cells the fact has. For every
//! constraint `c` of any element there is a clause: "`c`, or the cell is one in which `c` is not known". A
//! cell that the fact does not have may fall on either side, so few places suffice to tell the two sides
//! apart. They are found by leaving out one place after the other while the sides stay apart. If unrelated
//! data have n independent facts, there are n clauses of one place each. Example: {b ↦ 0 ≤ x ≤ 3, !b ↦ x = 0}
//! is `x >= 0 && x <= 3 && (b || x == 0)`.
//!
//! **Exact**: in a cell of the fact, the clauses of its element's constraints reduce to these constraints.
//! The other clauses hold there, since each has an exception for the cell or follows from the element
//! ([`Sides`]). **Limit.** Facts that are all different make as many clauses as cells. Beyond a size clauses
//! are left out, the longest first. A conjunction with fewer parts over-approximates, and the caller reports
//! it. **Cost**: for each cell and constraint one question to the domain, and for each constraint, place and
//! cell one step.

use std::collections::{BTreeSet, HashMap, HashSet};

use coreach_model::term::Term;
use coreach_polyhedra::Constraint;

use crate::cubes::{cubes_term, split_into_cubes};
use crate::frame::Frame;
use crate::grid::{Congruence, Grid};
use crate::partition::{AbstractValue, ElementId, Elements};
use crate::readable::{
    congruence_to_term, independent_constraints, is_implied_by_types, sort_for_reading, to_term,
    written_congruences,
};

pub struct FactClauses {
    pub term: Term,
    /// How many comparisons and flags it has.
    pub size: usize,
    /// How many clauses were left out because of the limit.
    pub left_out: usize,
}

/// Writes a value as clauses that have at most `limit` comparisons and flags together.
pub fn write_clauses(frame: &Frame, store: &Elements, value: &AbstractValue, limit: usize) -> FactClauses {
    let cells: Vec<u32> = value.cells().iter().map(|(cell, _)| *cell).collect();
    // The parts with their sizes. The first ones say which cells the fact has.
    let cell_conditions = cells_term(frame, &cells).lowered().conjuncts();
    let mut parts: Vec<(usize, Term)> =
        cell_conditions.into_iter().map(|part| (count_atoms(&part), part)).collect();
    // Then the constraints of all elements, each once.
    let mut seen = HashSet::new();
    let mut constraints: Vec<&Constraint> = Vec::new();
    let mut congruences: Vec<Congruence> = Vec::new();
    let mut elements: BTreeSet<ElementId> = BTreeSet::new();
    for &(_, element) in value.cells() {
        if elements.insert(element) {
            congruences.extend(written_congruences(frame, store, element));
            let own = independent_constraints(frame, store.constraints(element).collect()).into_iter();
            let own = own.filter(|constraint| !is_implied_by_types(frame, constraint));
            constraints.extend(own.filter(|constraint| seen.insert(*constraint)));
        }
    }
    sort_for_reading(&mut constraints);
    let mut push_clause = |literal: Term, holds: &dyn Fn(ElementId) -> bool| {
        let sides = Sides::of(value, &elements, holds);
        let clause = if sides.not_known.is_empty() {
            literal
        } else {
            Term::or(exception_cells(frame, &sides).lowered().disjuncts().into_iter().chain([literal]))
        };
        parts.push((count_atoms(&clause), clause));
    };
    for constraint in constraints {
        let alone = std::slice::from_ref(constraint);
        let half = store.domain.top(store.dimensions()).meet_constraints(alone, store.integer());
        // Only a domain that expresses exactly this constraint can answer by its order whether an element has
        // it.
        let is_expressed = !half.coarsened() && half.constraints() == alone;
        push_clause(to_term(constraint, &frame.numeric), &|element| {
            let is_listed = store.constraints(element).any(|own| own == constraint);
            is_listed || is_expressed && store.get(element).is_leq(&half)
        });
    }
    congruences.sort();
    congruences.dedup();
    for congruence in congruences {
        push_clause(congruence_to_term(&congruence, &frame.numeric), &|element| {
            let equalities: Vec<Constraint> = store.constraints(element).cloned().collect();
            let known = Grid::all(store.dimensions()).with(&equalities, store.congruences(element));
            known.implies(&congruence)
        });
    }
    keep_shortest(parts, limit)
}

/// Keeps as many parts as fit the limit: short ones first, and among equally long ones those that come first.
fn keep_shortest(parts: Vec<(usize, Term)>, limit: usize) -> FactClauses {
    // Of equally long parts, the place decides.
    let mut by_size: Vec<(usize, usize)> =
        parts.iter().enumerate().map(|(place, (part_size, _))| (*part_size, place)).collect();
    by_size.sort_unstable();
    let (mut size, mut is_kept) = (0usize, vec![false; parts.len()]);
    for (part_size, place) in by_size {
        if size.saturating_add(part_size) <= limit {
            size += part_size;
            is_kept[place] = true;
        }
    }
    let left_out = is_kept.iter().filter(|is_kept| !**is_kept).count();
    let kept = parts.into_iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|((_, part), _)| part);
    FactClauses { term: Term::and(kept), size, left_out }
}

/// Counts the comparisons and flags of a term that was written here. It shares no parts, so a plain recursion
/// is enough.
pub fn count_atoms(term: &Term) -> usize {
    use coreach_model::term::node::Node;
    match term.node() {
        Node::And(parts) | Node::Or(parts) => parts.iter().map(count_atoms).sum(),
        _ => 1,
    }
}

/// Writes the condition that the cell is one of these: as a list of these cells or as the negation of the
/// others, whichever is shorter.
fn cells_term(frame: &Frame, cells: &[u32]) -> Term {
    let inside: HashSet<u32> = cells.iter().copied().collect();
    let outside: Vec<u32> =
        frame.possible_cells().into_iter().filter(|cell| !inside.contains(cell)).collect();
    if outside.is_empty() {
        return Term::yes();
    }
    let positive = cubes_term(frame, &split_into_cubes(frame, cells));
    let negative = cubes_term(frame, &split_into_cubes(frame, &outside)).not();
    if count_atoms(&negative) < count_atoms(&positive) { negative } else { positive }
}

/// The cells in which a constraint is known to hold, and the others.
struct Sides {
    /// The constraint follows from the elements of these cells, as far as the domain can tell.
    known: Vec<u32>,
    not_known: Vec<u32>,
}

impl Sides {
    /// Divides the cells by whether the clause is known to hold of their elements.
    fn of(value: &AbstractValue, elements: &BTreeSet<ElementId>, holds: &dyn Fn(ElementId) -> bool) -> Self {
        let holds: HashMap<ElementId, bool> =
            elements.iter().map(|element| (*element, holds(*element))).collect();
        let (known, not_known): (Vec<_>, Vec<_>) =
            value.cells().iter().partition(|(_, element)| holds.get(element) == Some(&true));
        let cells = |side: Vec<(u32, ElementId)>| side.into_iter().map(|(cell, _)| cell).collect();
        Sides { known: cells(known), not_known: cells(not_known) }
    }
}

/// Writes a term over few finite places that holds in every cell where the constraint is not known, and in no
/// cell where it is known.
fn exception_cells(frame: &Frame, sides: &Sides) -> Term {
    // The cells with the digits of other places set to 0.
    let project = |cells: &[u32], is_kept: &[bool]| -> BTreeSet<u32> {
        let project_cell = |cell: &u32| {
            let kept = (0..is_kept.len()).filter(|place| is_kept[*place]);
            kept.map(|place| frame.digit(*cell, place) * frame.finite[place].stride).sum()
        };
        cells.iter().map(project_cell).collect()
    };
    // A place is needed if the sides are not apart without it.
    let mut is_kept = vec![true; frame.finite.len()];
    for place in (0..is_kept.len()).rev() {
        is_kept[place] = false;
        let (known, not_known) = (project(&sides.known, &is_kept), project(&sides.not_known, &is_kept));
        is_kept[place] = !known.is_disjoint(&not_known);
    }
    // A place that does not matter may have any value.
    let mut cells: Vec<u32> = project(&sides.not_known, &is_kept).into_iter().collect();
    for place in (0..is_kept.len()).filter(|place| !is_kept[*place]) {
        let digits = 0..frame.finite[place].values.len() as u32;
        cells = cells
            .iter()
            .flat_map(|cell| digits.clone().map(|digit| frame.with_digit(*cell, place, digit)))
            .collect();
    }
    cells.sort_unstable();
    cubes_term(frame, &split_into_cubes(frame, &cells))
}
