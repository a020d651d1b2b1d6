//! Facts as clauses: what is known about numbers, each thing once, with the finite data under which it is
//! known.
//!
//! **Problem.** A fact is a map from cells to elements. Said case by case, n independent Booleans that each
//! say something about a number of their own make 2ⁿ cases, and everything that reads the fact pays for them.
//!
//! **Method.** The same set is a conjunction: the cells that there are, and for every constraint `c` of any
//! element the clause "`c`, or the cell is one in which `c` is not known". A cell that there is not may
//! fall on either side, so few places suffice to tell the two sides apart: they are found by leaving out one
//! place after the other while the sides stay apart. Where unrelated data have n independent facts, there
//! are n clauses of one place each.
//!
//! Example: {b ↦ 0 ≤ x ≤ 3, !b ↦ x = 0} is `x >= 0 && x <= 3 && (b || x == 0)`.
//!
//! **Exact**: in a cell that there is, the clauses of the constraints of its element reduce to these, and the
//! others hold, since each is excused there or follows from the element ([`Sides`]).
//!
//! **Limit.** Facts that are all different are as many clauses as cells. What is beyond a size is left out,
//! longest clauses first: a conjunction with fewer parts over-approximates. The caller says so.
//!
//! **Cost**: cells times constraints questions to the domain, each about one constraint; and places times
//! cells for each constraint.

use std::collections::{BTreeSet, HashMap, HashSet};

use coreach_model::term::Term;
use coreach_polyhedra::Constraint;

use crate::cubes::{cubes, cubes_term};
use crate::domains::Domain;
use crate::frame::Frame;
use crate::grid::{Congruence, Grid};
use crate::partition::{AbstractValue, ElementId, Elements};
use crate::readable::{classes, congruent, independent, readable_order, says_more, to_term};

pub struct FactClauses {
    pub term: Term,
    /// How many comparisons and flags it has.
    pub size: usize,
    /// How many clauses were left out, for the sake of the limit.
    pub left_out: usize,
}

/// The value as clauses of at most `limit` comparisons and flags together.
pub fn clauses<D: Domain>(
    frame: &Frame,
    store: &Elements<D>,
    value: &AbstractValue,
    limit: usize,
) -> FactClauses {
    let cells: Vec<u32> = value.cells().iter().map(|(cell, _)| *cell).collect();
    let mut parts: Vec<(usize, Term)> = Vec::new();
    let mut seen = HashSet::new();
    let there = support(frame, &cells);
    parts.extend(there.lowered().conjuncts().into_iter().map(|part| (atoms(&part), part)));
    let mut constraints: Vec<&Constraint> = Vec::new();
    let mut congruences: Vec<Congruence> = Vec::new();
    let mut elements: BTreeSet<ElementId> = BTreeSet::new();
    for &(_, element) in value.cells() {
        if elements.insert(element) {
            congruences.extend(classes(frame, store, element));
            let own = independent(frame, store.constraints(element).collect()).into_iter();
            let own = own.filter(|constraint| says_more(frame, constraint));
            constraints.extend(own.filter(|constraint| seen.insert(*constraint)));
        }
    }
    readable_order(&mut constraints);
    let mut state = |said: Term, holds: &dyn Fn(ElementId) -> bool| {
        let sides = Sides::of(value, &elements, holds);
        let clause = if sides.open.is_empty() {
            said
        } else {
            Term::or(excused(frame, &sides).lowered().disjuncts().into_iter().chain([said]))
        };
        parts.push((atoms(&clause), clause));
    };
    for constraint in constraints {
        let alone = std::slice::from_ref(constraint);
        let half = D::top(store.dimensions()).meet_constraints(alone, store.integer());
        // The domain must say the constraint itself and nothing else, or it is no measure of it.
        let exact = !half.coarsened() && half.constraints() == alone;
        state(to_term(constraint, &frame.numeric), &|element| {
            let listed = store.constraints(element).any(|own| own == constraint);
            listed || exact && store.get(element).is_leq(&half)
        });
    }
    congruences.sort();
    congruences.dedup();
    for congruence in congruences {
        state(congruent(&congruence, &frame.numeric), &|element| {
            let equalities: Vec<Constraint> = store.constraints(element).cloned().collect();
            let known = Grid::all(store.dimensions()).with(&equalities, store.congruences(element));
            known.implies(&congruence)
        });
    }
    // What is shortest says most for its length; of equals what is read first.
    let mut by_size: Vec<usize> = (0..parts.len()).collect();
    by_size.sort_by_key(|at| parts[*at].0);
    let (mut size, mut kept) = (0usize, vec![false; parts.len()]);
    for at in by_size {
        if size.saturating_add(parts[at].0) <= limit {
            size += parts[at].0;
            kept[at] = true;
        }
    }
    let left_out = kept.iter().filter(|kept| !**kept).count();
    let said = parts.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|((_, part), _)| part);
    FactClauses { term: Term::and(said), size, left_out }
}

/// How many comparisons and flags a term of our own has; nothing here shares.
pub fn atoms(term: &Term) -> usize {
    use coreach_model::term::node::Node;
    match term.node() {
        Node::And(parts) | Node::Or(parts) => parts.iter().map(atoms).sum(),
        _ => 1,
    }
}

/// That the cell is one of these: as what it is or as what it is not, whichever is shorter.
fn support(frame: &Frame, cells: &[u32]) -> Term {
    let inside: HashSet<u32> = cells.iter().copied().collect();
    let outside: Vec<u32> =
        frame.possible_cells().into_iter().filter(|cell| !inside.contains(cell)).collect();
    let positive = cubes_term(frame, &cubes(frame, cells));
    if outside.is_empty() {
        return Term::yes();
    }
    let negative = cubes_term(frame, &cubes(frame, &outside)).not();
    if atoms(&negative) < atoms(&positive) { negative } else { positive }
}

/// The cells in which something holds for certain, and those in which it may not.
struct Sides {
    /// It follows from the element, as far as the domain can tell.
    known: Vec<u32>,
    open: Vec<u32>,
}

impl Sides {
    fn of(value: &AbstractValue, elements: &BTreeSet<ElementId>, holds: &dyn Fn(ElementId) -> bool) -> Self {
        let holds: HashMap<ElementId, bool> =
            elements.iter().map(|element| (*element, holds(*element))).collect();
        let (known, open): (Vec<_>, Vec<_>) =
            value.cells().iter().partition(|(_, element)| holds.get(element) == Some(&true));
        let cells = |side: Vec<(u32, ElementId)>| side.into_iter().map(|(cell, _)| cell).collect();
        Sides { known: cells(known), open: cells(open) }
    }
}

/// A term over few finite places that holds in every open cell and in no known one.
fn excused(frame: &Frame, sides: &Sides) -> Term {
    let projected = |cells: &[u32], kept: &[bool]| -> BTreeSet<u32> {
        cells
            .iter()
            .map(|cell| {
                let chosen = (0..kept.len()).filter(|place| kept[*place]);
                chosen.map(|place| frame.digit(*cell, place) * frame.finite[place].stride).sum()
            })
            .collect()
    };
    let mut kept = vec![true; frame.finite.len()];
    for place in (0..kept.len()).rev() {
        kept[place] = false;
        if !projected(&sides.known, &kept).is_disjoint(&projected(&sides.open, &kept)) {
            kept[place] = true;
        }
    }
    // Any value of a place that does not matter.
    let mut cells: Vec<u32> = projected(&sides.open, &kept).into_iter().collect();
    for place in (0..kept.len()).filter(|place| !kept[*place]) {
        let digits = 0..frame.finite[place].values.len() as u32;
        cells = cells
            .iter()
            .flat_map(|cell| digits.clone().map(|digit| frame.with_digit(*cell, place, digit)))
            .collect();
    }
    cells.sort_unstable();
    cubes_term(frame, &cubes(frame, &cells))
}
