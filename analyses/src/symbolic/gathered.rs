//! Represents many states by few, as sums of numbers that were added unseen.
//!
//! **Problem.** If a system makes unseen choices, there are more states with each choice. After adding 1 or
//! 2, n times, there are n + 1 states. After doubling and adding 0 or 1, n times, there are 2^n. **Method.**
//! States after different choices differ by numbers that were added. So a *lattice* stands for states of one
//! location. Its numbers are a base plus multiples of vectors, each vector from 0 to so many times. Lattices
//! are merged as follows:
//!
//! - Lattices that follow each other at one distance are one, with this distance as a further vector.
//! - Two vectors are one if the multiples of the first fill the gaps between those of the second.
//! - Two lattices that overlap, or touch, along one vector are one.
//!
//! All of this is *exact*: no state is lost or added. (A domain of an analysis would contain more states than
//! there are, and a judge could then pass a system that fails.) A lattice is a [`SymbolicState`] with a
//! symbol for the multiple of each vector. A concrete state is a lattice without vectors. A state after a
//! step is a lattice again if its condition bounds each symbol separately. States of other forms are
//! enumerated, if they are not too many, and gathered anew. Otherwise they stay as they are.
//!
//! **Ends**: each round leaves fewer lattices. **Costs** no question to a solver, but a sort for each round,
//! and at the end a comparison of each pair.

use std::collections::{BTreeMap, BTreeSet};

use coreach_model::iosts::LocationId;
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::node::Comparison;
use coreach_model::{Datum, Term, Type, Value};
use dashu_base::DivEuclid;
use dashu_int::IBig;

use super::SymbolicState;
use super::eliminate::solve_for_multiple;
use super::inclusion::data_of_terms;
use super::state::ValueOrTerm;
use super::sum::Sum;

/// A vector of numbers, in the order of the data.
type Vector = Vec<IBig>;

/// The least and the greatest value of each symbol.
type Ranges = BTreeMap<Datum, (IBig, IBig)>;

/// States of one location: a base, and vectors of which multiples are added to it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Lattice {
    location: LocationId,
    /// The values of the data that are no integers.
    others: Valuation,
    /// The vectors, each with its greatest multiple. They are sorted, and greater than 0 in the order of
    /// vectors.
    vectors: Vec<(Vector, IBig)>,
    base: Vector,
}

/// Gathers states of one system into as few as possible. `data` are the data of the system.
pub fn gather_states(data: &[Datum], states: impl IntoIterator<Item = SymbolicState>) -> Vec<SymbolicState> {
    let integers: Vec<&Datum> = data.iter().filter(|datum| datum.ty().is_integer()).collect();
    let (mut lattices, mut other_states) = (Vec::new(), BTreeSet::new());
    for state in states {
        match Lattice::all_of(&state, &integers) {
            Some(of_state) => lattices.extend(of_state),
            None => {
                other_states.insert(state);
            }
        }
    }
    loop {
        let count = lattices.len();
        lattices = merge_progressions(lattices);
        // At most 128 lattices are compared with each other.
        if lattices.len() <= 128 {
            lattices = merge_touching(lattices);
        }
        if lattices.len() == count {
            break;
        }
    }
    lattices.iter().map(|lattice| lattice.to_state(&integers)).chain(other_states).collect()
}

/// Finds the range of each symbol of a state, and the parts of its condition that are no such bounds. `None`:
/// a symbol is no integer, has no lower or no upper bound, or has one that is no number.
fn find_ranges(state: &SymbolicState) -> Option<(Ranges, Vec<&Term>)> {
    let mut ends: BTreeMap<Datum, (Option<IBig>, Option<IBig>)> = BTreeMap::new();
    let mut other_parts = Vec::new();
    for part in &state.condition {
        let data = part.data();
        let symbol = data.first().filter(|_| data.len() == 1);
        let solved = symbol.and_then(|symbol| Some((symbol, solve_for_multiple(part, symbol)?)));
        let Some((symbol, (comparison, times, end))) = solved else {
            other_parts.push(part);
            continue;
        };
        let (Some(Value::Int(end)), Some(times)) = (end.as_literal(), to_integer(&times)) else {
            return None;
        };
        // `times * symbol ⋈ end`, with `times` above 0
        let floor = end.clone().div_euclid(&times);
        let ceiling = -((-end).div_euclid(&times));
        let (new_low, new_high) = match comparison {
            Comparison::AtLeast => (Some(ceiling), None),
            Comparison::Greater => (Some(floor + 1), None),
            Comparison::AtMost => (None, Some(floor)),
            Comparison::Less => (None, Some(ceiling - 1)),
            Comparison::Equal => (Some(ceiling), Some(floor)),
            Comparison::NotEqual => {
                other_parts.push(part);
                continue;
            }
        };
        let (low, high) = ends.entry(symbol.clone()).or_default();
        *low = low.take().into_iter().chain(new_low).max();
        *high = high.take().into_iter().chain(new_high).min();
    }
    let symbols = data_of_terms(state.open.values().chain(&state.condition));
    let range = |symbol: Datum| {
        let (low, high) = ends.remove(&symbol).filter(|_| *symbol.ty() == Type::Int)?;
        Some((symbol, (low?, high?)))
    };
    Some((symbols.into_iter().map(range).collect::<Option<_>>()?, other_parts))
}

/// Enumerates the concrete states of a symbolic one. `None`: there are too many.
fn enumerate_states(
    state: &SymbolicState,
    ranges: &Ranges,
    other_parts: &[&Term],
) -> Option<Vec<SymbolicState>> {
    let count = ranges.values().fold(IBig::ONE, |product, (low, high)| product * (high - low + IBig::ONE));
    // At most 4096 states are enumerated.
    if count > IBig::from(1 << 12) {
        return None;
    }
    let mut valuations = vec![Valuation::new()];
    for (symbol, (low, high)) in ranges {
        let mut longer = Vec::new();
        let mut number = low.clone();
        while number <= *high {
            for valuation in &valuations {
                let mut valuation = valuation.clone();
                valuation.insert(symbol.clone(), Value::Int(number.clone()));
                longer.push(valuation);
            }
            number += IBig::ONE;
        }
        valuations = longer;
    }
    valuations.retain(|valuation| other_parts.iter().all(|part| holds(part, valuation) == Ok(true)));
    let point_at = |valuation: &Valuation| {
        let mut point = SymbolicState { condition: Vec::new(), open: Default::default(), ..state.clone() };
        for (datum, term) in &*state.open {
            point.known.insert(datum.clone(), evaluate(term, valuation).ok()?);
        }
        Some(point)
    };
    valuations.iter().map(point_at).collect()
}

impl Lattice {
    /// The state as lattices. `None`: it was not found to be any.
    fn all_of(state: &SymbolicState, integers: &[&Datum]) -> Option<Vec<Self>> {
        let (ranges, other_parts) = find_ranges(state)?;
        if ranges.values().any(|(low, high)| low > high) {
            return Some(Vec::new());
        }
        if other_parts.is_empty()
            && let Some(lattice) = Lattice::of(state, &ranges, integers)
        {
            return Some(vec![lattice]);
        }
        let points = enumerate_states(state, &ranges, &other_parts)?;
        points.iter().map(|point| Lattice::of(point, &Ranges::new(), integers)).collect()
    }

    /// The state as one lattice, if its symbols are in these ranges. `None`: it is none.
    fn of(state: &SymbolicState, ranges: &Ranges, integers: &[&Datum]) -> Option<Self> {
        if state.open.keys().any(|datum| !datum.ty().is_integer()) {
            return None;
        }
        let mut others = state.known.clone();
        others.retain(|datum, _| !datum.ty().is_integer());
        let mut base = Vec::new();
        let mut columns: BTreeMap<&Datum, Vector> = BTreeMap::new();
        for (row, datum) in integers.iter().enumerate() {
            let (sum, number) = Sum::of(&state.value(datum)).split_number();
            base.push(to_integer(&number)?);
            for (atom, times) in sum.counts() {
                let (symbol, _) = ranges.get_key_value(atom.as_datum()?)?;
                columns.entry(symbol).or_insert_with(|| vec![IBig::ZERO; integers.len()])[row] =
                    to_integer(times)?;
            }
        }
        let mut vectors = Vec::new();
        for (symbol, mut vector) in columns {
            let (low, high) = &ranges[symbol];
            let most = high - low;
            // The multiples begin at 0. A vector below 0 is turned around, and begins at its other end.
            add_multiple(&mut base, &vector, low);
            if vector.iter().find(|number| **number != IBig::ZERO).is_some_and(|first| *first < IBig::ZERO) {
                add_multiple(&mut base, &vector, &most);
                vector.iter_mut().for_each(|number| *number = -number.clone());
            }
            vectors.push((vector, most));
        }
        Some(Lattice { location: state.location, others, vectors: merge_vectors(vectors), base })
    }

    /// The lattice as one symbolic state, with a symbol for the multiple of each vector.
    fn to_state(&self, integers: &[&Datum]) -> SymbolicState {
        let symbols: Vec<Term> = (0..self.vectors.len())
            .map(|number| Term::datum(&Datum::new(format!("unseen#{number}"), Type::Int)))
            .collect();
        let mut state = SymbolicState::knowing(self.location, self.others.clone());
        let sum_in_row = |row: usize| {
            let begin = Term::int(self.base[row].clone());
            self.vectors.iter().zip(&symbols).fold(begin, |sum, ((vector, _), symbol)| {
                match vector[row] == IBig::ZERO {
                    true => sum,
                    false => Term::add(&sum, &Term::multiply(&Term::int(vector[row].clone()), symbol)),
                }
            })
        };
        let sums = integers.iter().enumerate().map(|(row, datum)| ((*datum).clone(), sum_in_row(row)));
        state.assign(sums.map(|(datum, sum)| (datum, ValueOrTerm::Term(sum))));
        for ((_, most), symbol) in self.vectors.iter().zip(&symbols) {
            state.condition.push(Term::compare(Comparison::AtLeast, symbol, &Term::int(0)));
            state.condition.push(Term::compare(Comparison::AtMost, symbol, &Term::int(most.clone())));
        }
        state
    }

    /// Adds a vector with its greatest multiple.
    fn with_vector(&self, vector: Vector, most: IBig) -> Self {
        let mut vectors = self.vectors.clone();
        vectors.push((vector, most));
        Lattice { vectors: merge_vectors(vectors), ..self.clone() }
    }

    /// Merges two lattices that differ along one vector only, if they leave no gap.
    fn merge_along(&self, other: &Lattice) -> Option<Self> {
        let has_same_vectors = || {
            let [own, others] = [self, other].map(|lattice| lattice.vectors.iter().map(|(vector, _)| vector));
            own.eq(others)
        };
        if (self.location, &self.others) != (other.location, &other.others) || !has_same_vectors() {
            return None;
        }
        let differs = |place: &usize| self.vectors[*place].1 != other.vectors[*place].1;
        let mut differing = (0..self.vectors.len()).filter(differs);
        let (Some(place), None) = (differing.next(), differing.next()) else { return None };
        let ((vector, own_most), (_, other_most)) = (&self.vectors[place], &other.vectors[place]);
        let shift = quotient(&subtract(&other.base, &self.base), vector)?;
        // Do the multiples 0..=own_most and shift..=shift + other_most overlap or touch?
        let other_end = &shift + other_most;
        if shift > own_most + IBig::ONE || other_end < IBig::NEG_ONE {
            return None;
        }
        let (begin, end) = (shift.min(IBig::ZERO), other_end.max(own_most.clone()));
        let mut merged = self.clone();
        add_multiple(&mut merged.base, vector, &begin);
        merged.vectors[place].1 = end - begin;
        Some(Lattice { vectors: merge_vectors(merged.vectors), ..merged })
    }
}

fn subtract(a: &Vector, b: &Vector) -> Vector {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Merges lattices of equal vectors that follow each other at one distance.
fn merge_progressions(mut lattices: Vec<Lattice>) -> Vec<Lattice> {
    // After the sort, lattices with equal vectors are neighbours, in the order of their bases.
    lattices.sort();
    lattices.dedup();
    let mut merged: Vec<Lattice> = Vec::new();
    let mut open = lattices.as_slice();
    while let Some((first, others)) = open.split_first() {
        let is_alike = |other: &&Lattice| {
            (other.location, &other.others, &other.vectors) == (first.location, &first.others, &first.vectors)
        };
        let Some(second) = others.first().filter(is_alike) else {
            merged.push(first.clone());
            open = others;
            continue;
        };
        let distance = subtract(&second.base, &first.base);
        let follows =
            |pair: &&[Lattice]| is_alike(&&pair[1]) && subtract(&pair[1].base, &pair[0].base) == distance;
        let count = open.windows(2).take_while(follows).count();
        merged.push(first.with_vector(distance.clone(), IBig::from(count)));
        open = &open[count + 1..];
    }
    merged
}

/// Merges lattices that overlap or touch along one vector.
fn merge_touching(lattices: Vec<Lattice>) -> Vec<Lattice> {
    let mut merged: Vec<Lattice> = Vec::new();
    for lattice in lattices {
        let touching = merged.iter_mut().find_map(|known| {
            let both = known.merge_along(&lattice)?;
            Some((known, both))
        });
        if let Some((known, both)) = touching { *known = both } else { merged.push(lattice) }
    }
    merged
}

/// Merges two vectors if the multiples of one fill the gaps between those of the other. The result is sorted.
fn merge_vectors(mut vectors: Vec<(Vector, IBig)>) -> Vec<(Vector, IBig)> {
    vectors.retain(|(_, most)| *most != IBig::ZERO);
    loop {
        let fill_gaps = |(small, large): (usize, usize)| {
            let ((small_vector, small_most), (large_vector, large_most)) = (&vectors[small], &vectors[large]);
            let ratio = quotient(large_vector, small_vector).filter(|_| small != large)?;
            let has_no_gap = ratio > IBig::ZERO && *small_most >= &ratio - IBig::ONE;
            has_no_gap.then(|| (small, large, small_most + ratio * large_most))
        };
        let count = vectors.len();
        let pairs = (0..count).flat_map(|small| (0..count).map(move |large| (small, large)));
        let Some((small, large, most)) = pairs.into_iter().find_map(fill_gaps) else { break };
        vectors[small].1 = most;
        vectors.remove(large);
    }
    vectors.sort();
    vectors
}

/// The integer by which the divisor must be multiplied to give the vector. `None`: there is no such integer,
/// or the divisor is 0.
fn quotient(vector: &[IBig], divisor: &[IBig]) -> Option<IBig> {
    let row = divisor.iter().position(|number| *number != IBig::ZERO)?;
    let factor = &vector[row] / &divisor[row];
    vector.iter().zip(divisor).all(|(number, part)| *number == part * &factor).then_some(factor)
}

fn add_multiple(base: &mut Vector, vector: &[IBig], times: &IBig) {
    for (number, part) in base.iter_mut().zip(vector) {
        *number += part * times;
    }
}

fn to_integer(number: &dashu_ratio::RBig) -> Option<IBig> {
    number.denominator().is_one().then(|| number.numerator().clone())
}

#[cfg(test)]
mod tests {
    use coreach_model::LocationId;
    use coreach_model::semantics::State;

    use super::*;

    fn points(points: &[[i32; 2]]) -> (Vec<Datum>, Vec<SymbolicState>) {
        let data = ["x", "y"].map(|name| Datum::new(name, Type::Int));
        let state = |point: &[i32; 2]| {
            let values = point.iter().map(|number| Value::Int(IBig::from(*number)));
            let valuation = data.iter().cloned().zip(values).collect();
            SymbolicState::of(&State { location: LocationId(0), valuation })
        };
        (data.to_vec(), points.iter().map(state).collect())
    }

    fn enumerate(data: &[Datum], states: &[SymbolicState]) -> BTreeSet<Vec<IBig>> {
        let integers: Vec<&Datum> = data.iter().collect();
        let mut found = BTreeSet::new();
        for state in states {
            let lattices = Lattice::all_of(state, &integers).into_iter().flatten();
            let Some(lattice) = lattices.last() else { panic!("{state:?}") };
            let mut all = vec![lattice.base.clone()];
            for (vector, most) in &lattice.vectors {
                let mut more = Vec::new();
                for point in &all {
                    let mut point = point.clone();
                    let mut count = IBig::ZERO;
                    while count <= *most {
                        more.push(point.clone());
                        add_multiple(&mut point, vector, &IBig::ONE);
                        count += IBig::ONE;
                    }
                }
                all = more;
            }
            found.extend(all);
        }
        found
    }

    /// Soundness: no state of a random set is lost, and none is added. Precision: sets of sums become few
    /// states.
    #[test]
    fn the_same_states_and_fewer() {
        let square: Vec<[i32; 2]> = (0..40).flat_map(|x| (0..40).map(move |y| [2 * x, y - x])).collect();
        let mut random = coreach_model::random::Random::new(7);
        for round in 0..300 {
            let drawn: Vec<[i32; 2]> = match round {
                0 => square.clone(),
                _ => (0..round % 40 + 1)
                    .map(|_| [0, 0].map(|_: i32| i32::try_from(random.below(7)).unwrap_or(0) - 3))
                    .collect(),
            };
            let (data, states) = points(&drawn);
            let expected: BTreeSet<Vec<IBig>> =
                drawn.iter().map(|point| point.iter().map(|number| IBig::from(*number)).collect()).collect();
            let few = gather_states(&data, states);
            assert_eq!(enumerate(&data, &few), expected, "{drawn:?}");
            assert!(few.len() <= expected.len());
            if round == 0 {
                assert_eq!(few.len(), 1);
            }
            // States that were gathered in two parts are gathered once more.
            let (left, right) = drawn.split_at(drawn.len() / 2);
            let parts = [left, right].map(|part| gather_states(&data, points(part).1));
            let again = gather_states(&data, parts.into_iter().flatten());
            assert_eq!(enumerate(&data, &again), expected, "{drawn:?}");
        }
    }
}
