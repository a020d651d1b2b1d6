//! Writes sets of cells as terms: products of sets of digits, place by place.
//!
//! Example: the cells ⟨TEA, on⟩ and ⟨COFFEE, on⟩ of a machine with three beverages are
//! `vBeverage != MILK && on`.

use std::collections::BTreeMap;

use coreach_model::Value;
use coreach_model::budget;
use coreach_model::term::Term;
use coreach_model::term::node::Comparison;

use crate::frame::{FinitePlace, Frame};

/// For each finite place, the digits that it may have.
pub type Cube = Vec<Vec<u32>>;

/// Splits cells into products of sets. Their disjoint union is these cells; cells that have no state may be
/// added. Merging along one place after the other is not minimal, but finds every set that is one product.
pub fn split_into_cubes(frame: &Frame, cells: &[u32]) -> Vec<Cube> {
    let places = frame.finite.len();
    let (cells, open_pairs) = frame.without_idle_pairs(cells);
    // An open pair may be any.
    let digits = |cell: u32, place: usize| match open_pairs.contains(&place) {
        true => vec![0, 1],
        false => vec![frame.digit(cell, place)],
    };
    let cube_of = |cell: &u32| (0..places).map(|place| digits(*cell, place)).collect();
    let mut cubes: Vec<Cube> = cells.iter().map(cube_of).collect();
    loop {
        let count = cubes.len();
        for place in 0..places {
            // Merge the cubes that are the same in all other places. The map has the order of the cubes.
            let mut merged: BTreeMap<Cube, Vec<u32>> = BTreeMap::new();
            for mut cube in cubes {
                budget::ask();
                // Without the digits of this place, such cubes are the same key.
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
        if cubes.len() == count {
            cubes.sort();
            return cubes;
        }
    }
}

/// Writes the condition that the cell is in one of the products.
pub fn cubes_term(frame: &Frame, cubes: &[Cube]) -> Term {
    let of_cube =
        |cube: &Cube| Term::and(frame.finite.iter().zip(cube).map(|(place, digits)| set_term(place, digits)));
    Term::or(cubes.iter().map(of_cube))
}

/// Writes the condition that the place has one of these digits, as short as possible.
fn set_term(finite: &FinitePlace, digits: &[u32]) -> Term {
    let place = &finite.place.term;
    let value = |digit: u32| &finite.values[digit as usize];
    let compare = |comparison, digit| match value(digit) {
        Value::Bool(value) if *value == (comparison == Comparison::Equal) => place.clone(),
        Value::Bool(_) => place.not(),
        value => Term::compare(comparison, place, &Term::literal(value.clone())),
    };
    // Successive lengths are an interval. An end of it is left out if it is the least or greatest length.
    if let ([first, ..], [.., last], Value::Int(_)) = (digits, digits, value(0))
        && (last - first) as usize + 1 == digits.len()
    {
        if first == last {
            return compare(Comparison::Equal, *first);
        }
        let low = (*first > 0).then(|| compare(Comparison::AtLeast, *first));
        let high = (*last as usize + 1 < finite.values.len()).then(|| compare(Comparison::AtMost, *last));
        return Term::and(low.into_iter().chain(high));
    }
    let missing: Vec<u32> = (0..finite.values.len() as u32).filter(|digit| !digits.contains(digit)).collect();
    if missing.len() < digits.len() {
        return Term::and(missing.into_iter().map(|digit| compare(Comparison::NotEqual, digit)));
    }
    Term::or(digits.iter().map(|digit| compare(Comparison::Equal, *digit)))
}
