//! Every domain, point by point: what operations on numbers make of an element's points must stay inside the
//! element.

use coreach_analyses::DomainKind;
use coreach_analyses::domains::any::{AnyDomain, AnyElement};
use coreach_analyses::domains::both::Both;
use coreach_analyses::domains::interval::Intervals;
use coreach_analyses::domains::octagon::Octagons;
use coreach_analyses::grid::Congruence;
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};
use coreach_tests::generator::random::Random;

use super::{Point, assignments, constraints, expression, holds, number, seeds};

type Said = (bool, Vec<Constraint>, Vec<Congruence>);

fn point(random: &mut Random, integer: &[bool], extreme: bool) -> Point {
    let coordinate = |is_integer: &bool| {
        let numerator = number(random, extreme, 6);
        let denominator = if *is_integer { 1 } else { random.between((1, 3)) as i64 };
        Rational::new(numerator, Integer::from(denominator)).unwrap_or(Rational::ZERO)
    };
    integer.iter().map(coordinate).collect()
}

/// An element with some of its points.
struct Tracked {
    element: AnyElement,
    points: Vec<Point>,
}

/// What an element says.
fn said(element: &AnyElement) -> Said {
    let is_bottom = element.is_bottom();
    let constraints = if is_bottom { Vec::new() } else { element.constraints() };
    (is_bottom, constraints, element.congruences())
}

fn within((is_bottom, constraints, congruences): &Said, point: &Point) -> bool {
    !is_bottom && holds(constraints, point) && congruences.iter().all(|one| one.is_satisfied_by(point))
}

fn fresh(domain: AnyDomain, random: &mut Random, integer: &[bool], extreme: bool) -> Tracked {
    let candidates: Vec<Point> = (0..12).map(|_| point(random, integer, extreme)).collect();
    let mut list = constraints(random, integer.len(), extreme);
    if random.chance(60) {
        // Keep those that many points satisfy: an element without points tells nothing.
        list.retain(|c| candidates.iter().filter(|point| holds(std::slice::from_ref(c), point)).count() > 3);
    }
    let points = candidates.into_iter().filter(|point| holds(&list, point)).collect();
    Tracked { element: domain.top(integer.len()).meet_constraints(&list, integer), points }
}

fn points_case(domain: AnyDomain, seed: u64) {
    let mut random = Random::new(seed);
    let random = &mut random;
    let extreme = random.chance(30);
    let integer: Vec<bool> = (0..random.between((1, 4))).map(|_| random.chance(60)).collect();
    let size = integer.len();
    let whole =
        |point: &Point| point.iter().zip(&integer).all(|(value, integer)| !integer || value.is_integer());
    let mut current = fresh(domain, random, &integer, extreme);
    let mut done = Vec::new();
    for _ in 0..random.between((1, 8)) {
        let what = random.below(9);
        done.push(what);
        let Tracked { element, points } = current;
        current = match what {
            0 => {
                let list = constraints(random, size, extreme);
                let points = points.into_iter().filter(|point| holds(&list, point)).collect();
                Tracked { element: element.meet_constraints(&list, &integer), points }
            }
            1 => {
                let other = fresh(domain, random, &integer, extreme);
                let joined = element.join(&other.element);
                Tracked { element: joined, points: [points, other.points].concat() }
            }
            2 => {
                let other = fresh(domain, random, &integer, extreme);
                let list = said(&other.element);
                let both = points.into_iter().filter(|p| !other.element.is_bottom() && within(&list, p));
                Tracked { points: both.collect(), element: element.meet(&other.element, &integer) }
            }
            3 => {
                let other = fresh(domain, random, &integer, extreme);
                let joined = element.join(&other.element);
                let thresholds = constraints(random, size, extreme);
                Tracked {
                    element: element.widen(&joined, &thresholds),
                    points: [points, other.points].concat(),
                }
            }
            4 => {
                let list: Vec<(usize, Option<LinearExpression>)> = assignments(random, size, extreme)
                    .into_iter()
                    .map(|(at, value)| (at, (!random.chance(20)).then_some(value)))
                    .collect();
                let mut moved = Vec::new();
                for old in points {
                    let mut new = old.clone();
                    for (at, value) in &list {
                        let any = || Rational::from(3);
                        new[*at] = value.as_ref().map_or_else(any, |value| value.value(&old));
                    }
                    moved.push(new);
                }
                Tracked { element: element.assign(&list), points: moved.into_iter().filter(whole).collect() }
            }
            5 => {
                let list: Vec<(usize, Option<LinearExpression>)> = assignments(random, size, extreme)
                    .into_iter()
                    .map(|(at, value)| (at, Some(value)))
                    .collect();
                let known = said(&element);
                let before = element.substitute(&list);
                let mut kept = Vec::new();
                for _ in 0..20 {
                    let candidate = point(random, &integer, extreme);
                    let mut image = candidate.clone();
                    for (at, value) in &list {
                        image[*at] = value.as_ref().map_or(Rational::ZERO, |value| value.value(&candidate));
                    }
                    if !element.is_bottom() && within(&known, &image) {
                        kept.push(candidate);
                    }
                }
                Tracked { element: before, points: kept }
            }
            6 => {
                let forgotten = random.below(size);
                let mut moved = points.clone();
                for old in points {
                    let mut new = old.clone();
                    new[forgotten] = point(random, &integer, extreme)[forgotten].clone();
                    moved.push(new);
                }
                Tracked { element: element.forget(&[forgotten]), points: moved }
            }
            7 => {
                let longer = element.add_dimensions(2);
                let tied = LinearExpression::variable(size).minus(&expression(random, size, extreme));
                let tie = Constraint::from_expression(&tied, Relation::Equal);
                let longer_integer: Vec<bool> = integer.iter().copied().chain([false, false]).collect();
                let met = longer.meet_constraints(&[tie], &longer_integer);
                Tracked { element: met.remove_last_dimensions(2), points }
            }
            _ => {
                let other = fresh(domain, random, &integer, extreme);
                let wide = element.join(&other.element);
                let list = said(&element);
                let points =
                    points.into_iter().filter(|point| element.is_bottom() || within(&list, point)).collect();
                Tracked { element: wide.narrow(&element, &integer), points }
            }
        };
        let list = said(&current.element);
        assert!(
            current.points.is_empty() || !current.element.is_bottom(),
            "seed {seed}, operations {done:?}: bottom with {:?}",
            current.points
        );
        for point in &current.points {
            assert!(within(&list, point), "seed {seed}, operations {done:?}: {point:?} lost by {list:?}");
        }
    }
}

#[test]
fn no_domain_loses_a_point() {
    let domains = || {
        let composed = AnyDomain::new::<Both<Intervals, Octagons>>();
        DomainKind::ALL.iter().map(|kind| kind.implementation()).chain([composed])
    };
    for seed in seeds(1_000) {
        for domain in domains().filter(|domain| domain.sees_data) {
            points_case(domain, seed);
        }
    }
}
