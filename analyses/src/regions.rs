//! Regions: several facts at one location, if one would contain too much.
//!
//! **Problem.** A fact of a convex domain is one element for each location. If values come together from two
//! sides (a band with two outsides, a set of levels with a hole), the fact also contains the states between
//! them. Then selection keeps stimuli that can no longer lead to Accept. Here a location is split where a
//! join loses something, by the constraint that is lost. **Source.** Dynamic partitioning as in NBac
//! (Jeannet, FMSD 2003, <https://doi.org/10.1023/A:1024480913162>): a control point is split by a condition
//! on which forward and backward facts disagree. Ours are found at the joins themselves.
//!
//! **Method.** The analysis has ended once, with a fact for each location. At a location, values come in
//! through its transitions, one for each disjunct of a guard. A constraint of one of them becomes a split
//! under two conditions. Some values lie on one side of it and some on the other. And on one of the sides,
//! the join has states that none of this side's values has. The two halves get values of their own, so their
//! neighbours are examined again. These values only serve to choose splits. The split graph is then analysed
//! anew, forward and backward, within the known facts: each point (a location and the half-spaces of its
//! region) has an element within its region.
//!
//! **Why it is right.** The regions of a location cover all states, so each step of a run leads into a region
//! of its target, and the fact of this point contains the state. So the disjunction of a location's elements
//! is inductive as one fact, for any regions, and is checked as one. It lies within the earlier fact.
//!
//! **Why it ends**: the regions of a location (`Options::disjuncts`) and of all together (`MOST_SPLITS`) are
//! limited, and only a split lets locations be examined again. **Cost**: the transfers into a location, which
//! are mostly known, joins of at most `MOST_VALUES` of them, and two more fixpoints if something was split.
//! Each may take as many steps as all of those without regions. Otherwise the facts stay as they were.

use std::collections::VecDeque;

use coreach_model::iosts::{Iosts, LocationId};
use coreach_model::{Number, Numbered, TransitionId};
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};

use crate::inductive::{Orientation, Point};
use crate::partition::{AbstractValue, ElementId};
use crate::transfer::Abstraction;

/// The most values in one cell whose join is examined.
const MOST_VALUES: usize = 12;

/// The most splits of all locations together.
const MOST_SPLITS: usize = 32;

/// The half-spaces between which a region lies.
type Region = Vec<Constraint>;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Regions(Numbered<LocationId, Vec<Region>>);

impl Regions {
    /// Makes one region for each location.
    pub fn one_each(iosts: &Iosts) -> Self {
        Regions(iosts.locations.map(|_| vec![Region::new()]))
    }

    pub fn points(&self) -> Vec<Point<usize>> {
        let points_at = |(location, regions): (LocationId, &Vec<Region>)| {
            (0..regions.len()).map(move |token| Point { location, token })
        };
        self.0.numbered().flat_map(points_at).collect()
    }

    /// The bound of each point: its region, within the known fact of its location.
    pub fn within(&self, abstraction: &mut Abstraction, known: &[Vec<AbstractValue>]) -> Vec<AbstractValue> {
        let mut bounds = Vec::new();
        for (location, regions) in self.0.numbered() {
            let fact = join_all(abstraction, &known[location.place()]);
            for region in regions {
                bounds.push(meet_region(abstraction, &fact, region));
            }
        }
        bounds
    }

    /// Groups the values of the points by location. Two halves are merged again if their join loses nothing.
    pub fn by_location(
        &self,
        abstraction: &mut Abstraction,
        values: &[AbstractValue],
    ) -> Vec<Vec<AbstractValue>> {
        let mut next_values = values.iter();
        let mut by_location = Vec::new();
        for regions in self.0.iter() {
            let parts = regions.iter().cloned().zip(next_values.by_ref().cloned()).collect();
            by_location.push(merge_halves(abstraction, parts).into_iter().map(|(_, value)| value).collect());
        }
        by_location
    }
}

/// The known facts of one orientation, from which splits are chosen: values and their bounds, by location.
pub struct OrientedFacts<'a> {
    pub orientation: Orientation,
    pub values: &'a [Vec<AbstractValue>],
    pub within: &'a [Vec<AbstractValue>],
    pub entry: &'a dyn Fn(LocationId) -> Option<AbstractValue>,
}

/// Splits regions if joins lose something, into at most `most` regions for one location. Returns whether
/// anything was split.
pub fn split_regions(
    abstraction: &mut Abstraction,
    iosts: &Iosts,
    known: &OrientedFacts<'_>,
    most: usize,
    regions: &mut Regions,
) -> bool {
    let mut parts: Numbered<LocationId, Vec<RegionPart>> = Numbered::default();
    for (location, regions) in regions.0.numbered() {
        let value = join_all(abstraction, &known.values[location.place()]);
        let within = join_all(abstraction, &known.within[location.place()]);
        let part_of = |region: &Region| RegionPart {
            value: meet_region(abstraction, &value, region),
            within: meet_region(abstraction, &within, region),
            region: region.clone(),
        };
        parts.push(regions.iter().map(part_of).collect());
    }
    let mut incoming: Numbered<LocationId, Vec<(TransitionId, LocationId)>> =
        iosts.locations.map(|_| Vec::new());
    let mut outgoing: Numbered<LocationId, Vec<LocationId>> = iosts.locations.map(|_| Vec::new());
    for (number, transition) in iosts.transitions.numbered() {
        let (from, to) = match known.orientation {
            Orientation::Forward => (transition.source, transition.target),
            Orientation::Backward => (transition.target, transition.source),
        };
        incoming[to].push((number, from));
        if !outgoing[from].contains(&to) {
            outgoing[from].push(to);
        }
    }
    let mut queue: VecDeque<LocationId> = iosts.location_ids().collect();
    let known_splits: usize = regions.0.iter().map(|regions| regions.len() - 1).sum();
    let mut splits = known_splits;
    while let Some(location) = queue.pop_front() {
        if parts[location].len() >= most || splits >= MOST_SPLITS {
            continue;
        }
        let first_split = (0..parts[location].len()).find_map(|number| {
            let part = &parts[location][number];
            if part.value.is_bottom() {
                return None;
            }
            let values = incoming_values(abstraction, known, location, part, &incoming[location], &parts);
            Some((number, find_halves(abstraction, part, &values)?))
        });
        let Some((number, halves)) = first_split else { continue };
        splits += 1;
        parts[location].splice(number..=number, halves);
        // The values that come from these halves may now split the neighbours, or the location once more.
        for next in outgoing[location].iter().chain([&location]) {
            if !queue.contains(next) {
                queue.push_back(*next);
            }
        }
    }
    regions.0 = parts.map(|parts| parts.iter().map(|part| part.region.clone()).collect());
    splits > known_splits
}

struct RegionPart {
    region: Region,
    value: AbstractValue,
    within: AbstractValue,
}

/// Collects the values that come into a part of a location: by its entry, and through its transitions.
fn incoming_values(
    abstraction: &mut Abstraction,
    known: &OrientedFacts<'_>,
    location: LocationId,
    part: &RegionPart,
    incoming: &[(TransitionId, LocationId)],
    parts: &Numbered<LocationId, Vec<RegionPart>>,
) -> Vec<AbstractValue> {
    let entry = (known.entry)(location).map(|entry| abstraction.store.meet(&entry, &part.within));
    let mut values: Vec<AbstractValue> = entry.into_iter().collect();
    for (transition, from) in incoming {
        for source in parts[*from].iter().filter(|source| !source.value.is_bottom()) {
            let results = match known.orientation {
                Orientation::Forward => abstraction.post_apart(transition.place(), &source.value),
                Orientation::Backward => {
                    abstraction.pre_apart(transition.place(), &source.value, &part.within)
                }
            };
            for value in results {
                let value = abstraction.store.meet(&value, &part.within);
                if !value.is_bottom() && !values.contains(&value) {
                    values.push(value);
                }
            }
        }
    }
    values
}

/// Splits a region into two halves, if its values lie on both sides of a constraint and their join loses
/// something.
fn find_halves(
    abstraction: &mut Abstraction,
    part: &RegionPart,
    values: &[AbstractValue],
) -> Option<[RegionPart; 2]> {
    let mut cells: Vec<u32> = values.iter().flat_map(|value| value.cells()).map(|(cell, _)| *cell).collect();
    cells.sort_unstable();
    cells.dedup();
    let mut tried = Vec::new();
    for cell in cells {
        let mut elements: Vec<ElementId> = values.iter().filter_map(|value| value.get(cell)).collect();
        elements.sort_unstable();
        elements.dedup();
        elements.truncate(MOST_VALUES);
        if elements.len() < 2 {
            continue;
        }
        for constraint in split_candidates(abstraction, &elements) {
            if tried.contains(&constraint) {
                continue;
            }
            // After 48 constraints no more are tried for one region.
            if tried.len() >= 48 {
                return None;
            }
            tried.push(constraint.clone());
            let Some(opposite) = complement(&constraint, abstraction.store.integer()) else { continue };
            if !separates(abstraction, &elements, &constraint, &opposite) {
                continue;
            }
            let make_half = |abstraction: &mut Abstraction, side: &Constraint, opposite: &Constraint| {
                // A value on both sides mostly comes through a loop, from the join itself, so no half has it.
                let own = values.iter().filter(|value| {
                    meet_region(abstraction, value, std::slice::from_ref(opposite)).is_bottom()
                });
                let own: Vec<AbstractValue> = own.cloned().collect();
                let region = [&part.region[..], std::slice::from_ref(side)].concat();
                let within = meet_region(abstraction, &part.within, std::slice::from_ref(side));
                RegionPart { value: join_all(abstraction, &own), within, region }
            };
            return Some([
                make_half(abstraction, &constraint, &opposite),
                make_half(abstraction, &opposite, &constraint),
            ]);
        }
    }
    None
}

/// Lists the constraints of elements by which a region may be split.
fn split_candidates(abstraction: &Abstraction, elements: &[ElementId]) -> Vec<Constraint> {
    // Half-spaces over many numbers, or with constants beyond 32 bits, make conversions explode.
    let is_simple = |constraint: &&Constraint| {
        let is_small = constraint.constant().abs() < Integer::from(i64::from(i32::MAX));
        is_small && constraint.terms().count() <= 2
    };
    // A region must contain a state as a whole, so it cannot be split by a number that stands for many cells.
    let of_state = |constraint: &&Constraint| {
        let mut cells = abstraction.frame.summaries.iter().flat_map(|summary| &summary.leaves);
        cells.all(|leaf| constraint.coefficients().get(*leaf).is_none_or(Integer::is_zero))
    };
    let mut candidates = Vec::new();
    for element in elements {
        for constraint in abstraction.store.constraints(*element).filter(is_simple).filter(of_state) {
            if constraint.relation() == Relation::Equal {
                let expression = constraint.expression();
                let least = Constraint::from_expression(&expression, Relation::AtLeast);
                let most =
                    Constraint::from_expression(&expression.times(&Rational::from(-1)), Relation::AtLeast);
                candidates.extend([least, most]);
            } else {
                candidates.push(constraint.clone());
            }
        }
    }
    candidates
}

/// The half-space of all states that do not satisfy the constraint. `None`: they are no half-space.
fn complement(constraint: &Constraint, integer: &[bool]) -> Option<Constraint> {
    let factors = constraint.coefficients().iter();
    let is_whole = factors.zip(integer).all(|(factor, is_integer)| *is_integer || factor.is_zero());
    if !is_whole || constraint.relation() != Relation::AtLeast {
        return constraint.negated();
    }
    // The coefficients are integers, so on integer data `e` is an integer, and `e < 0` is `-(e + 1) >= 0`.
    let one = LinearExpression::constant(Rational::ONE);
    let below = constraint.expression().plus(&one).times(&Rational::from(-1));
    Some(Constraint::from_expression(&below, Relation::AtLeast))
}

/// Do elements lie on both sides, and has their join states on one side that no element there has?
fn separates(
    abstraction: &mut Abstraction,
    elements: &[ElementId],
    constraint: &Constraint,
    opposite: &Constraint,
) -> bool {
    let (mut inside, mut outside) = (None, None);
    for element in elements {
        let is_in = element_on_side(abstraction, *element, opposite).is_none();
        let is_out = element_on_side(abstraction, *element, constraint).is_none();
        let side = match (is_in, is_out) {
            (true, false) => &mut inside,
            (false, true) => &mut outside,
            // It crosses the border, so it is on no side.
            (true, true) | (false, false) => continue,
        };
        *side = Some(side.map_or(*element, |known| abstraction.store.join_ids(known, *element)));
    }
    let (Some(inside), Some(outside)) = (inside, outside) else { return false };
    let join = abstraction.store.join_ids(inside, outside);
    let mut has_new_states = |side: &Constraint, of_side: ElementId| {
        element_on_side(abstraction, join, side)
            .is_some_and(|half| !abstraction.store.is_within(half, of_side))
    };
    has_new_states(constraint, inside) || has_new_states(opposite, outside)
}

/// The part of an element in a half-space. `None`: it is empty.
fn element_on_side(
    abstraction: &mut Abstraction,
    element: ElementId,
    side: &Constraint,
) -> Option<ElementId> {
    let side = std::slice::from_ref(side);
    let half = abstraction.store.get(element).meet_constraints(side, &abstraction.frame.integer);
    abstraction.store.add(half)
}

/// Restricts a value to a region, cell by cell.
fn meet_region(abstraction: &mut Abstraction, value: &AbstractValue, region: &[Constraint]) -> AbstractValue {
    if region.is_empty() {
        return value.clone();
    }
    let mut cells = Vec::new();
    for &(cell, element) in value.cells() {
        let within = abstraction.store.get(element).meet_constraints(region, &abstraction.frame.integer);
        cells.extend(abstraction.store.add(within).map(|within| (cell, within)));
    }
    AbstractValue::new(cells)
}

fn join_all(abstraction: &mut Abstraction, values: &[AbstractValue]) -> AbstractValue {
    values.iter().fold(AbstractValue::bottom(), |sum, value| abstraction.store.join(&sum, value))
}

/// Merges halves of a region again if their join has no further states.
fn merge_halves(
    abstraction: &mut Abstraction,
    mut parts: Vec<(Region, AbstractValue)>,
) -> Vec<(Region, AbstractValue)> {
    loop {
        let exact_pair = parts.windows(2).enumerate().find_map(|(first, pair)| {
            let [(region, value), (next_region, next_value)] = pair else { return None };
            // Halves of one region differ in their last constraint only, and stand side by side.
            let ((side, whole), (opposite, next_whole)) = (region.split_last()?, next_region.split_last()?);
            if whole != next_whole {
                return None;
            }
            let sum = abstraction.store.join(value, next_value);
            let is_exact = [(side, value), (opposite, next_value)].into_iter().all(|(side, value)| {
                let half = meet_region(abstraction, &sum, std::slice::from_ref(side));
                abstraction.store.is_leq(&half, value)
            });
            is_exact.then(|| (first, whole.to_vec(), sum))
        });
        let Some((first, whole, sum)) = exact_pair else { return parts };
        parts.splice(first..=first + 1, [(whole, sum)]);
    }
}
