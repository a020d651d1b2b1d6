//! The operations of the numerical domains against models that share nothing with them.
//!
//! Two kinds of cases, both random sequences of operations on a few registers:
//!
//! - *Exact*: polyhedra. The whole sequence is done first, asking for nothing, so that the lazy representation meets
//!   every order of operations; then each step is judged by Z3, over the rationals: what the step must give is a formula
//!   about the constraints of what it was given (a projection is a quantifier, a hull is the lifting of Balas with one
//!   more dimension for strictness), and the result must be equivalent to it. Widening and limits must contain it.
//! - *Points*: every domain of the list. Points of the elements are carried through the operations by arithmetic on
//!   rationals, and must stay inside.
//!
//! Coefficients are small mostly, and near 2^31 and 2^63 now and then. A seed names a case: a failure prints it, and
//! `COREACH_SEED=n` tries that one alone. Some seeds are always the same, some are new each time; `COREACH_CASES=n` asks
//! for more cases.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

use std::fmt::Write;

use coreach_analyses::DomainKind;
use coreach_analyses::domains::{Domain, WithDomain};
use coreach_polyhedra::{
    Constraint, Integer, Limits, LinearExpression, Outcome, Polyhedron, Rational, Relation,
};
use coreach_tests::generator::random::Random;
use z3::SatResult;

/// Numbers that overflow a word in one operation or two.
const EDGES: [i128; 12] = [
    (1 << 31) - 1,
    1 << 31,
    (1 << 31) + 1,
    -(1 << 31),
    (1 << 62) + 1,
    (1 << 63) - 1,
    1 << 63,
    (1 << 63) + 1,
    -(1 << 63),
    -(1 << 63) - 1,
    (1 << 64) - 1,
    (1 << 53) + 1,
];

/// A small number, or in an extreme case one of the edges now and then.
fn number(random: &mut Random, extreme: bool, most: usize) -> Integer {
    if extreme && random.chance(20) {
        return Integer::from(EDGES[random.below(EDGES.len())]);
    }
    Integer::from(random.between((0, 2 * most)) as i64 - most as i64)
}

fn constraint(random: &mut Random, dimensions: usize, extreme: bool) -> Constraint {
    let relation =
        [Relation::AtLeast, Relation::AtLeast, Relation::AtLeast, Relation::Greater, Relation::Equal]
            [random.below(5)];
    // Sides of boxes make bounded polyhedra likely.
    let coefficients = if random.chance(40) {
        let side = random.below(dimensions);
        let sign = if random.chance(50) { 1 } else { -1 };
        (0..dimensions).map(|at| Integer::from(if at == side { sign } else { 0 })).collect()
    } else {
        (0..dimensions).map(|_| number(random, extreme, 3)).collect()
    };
    Constraint::new(coefficients, number(random, extreme, 5), relation)
}

fn constraints(random: &mut Random, dimensions: usize, extreme: bool) -> Vec<Constraint> {
    let count = random.between((1, dimensions + 2));
    (0..count).map(|_| constraint(random, dimensions, extreme)).collect()
}

fn expression(random: &mut Random, dimensions: usize, extreme: bool) -> LinearExpression {
    let coefficients: Vec<Integer> = (0..dimensions).map(|_| number(random, extreme, 2)).collect();
    let denominator = if random.chance(25) { Integer::from(2) } else { Integer::ONE };
    LinearExpression::new(coefficients, number(random, extreme, 3), denominator)
        .unwrap_or_else(|| LinearExpression::variable(0))
}

/// Different dimensions with expressions.
fn assignments(random: &mut Random, dimensions: usize, extreme: bool) -> Vec<(usize, LinearExpression)> {
    let mut chosen = Vec::new();
    for dimension in 0..dimensions {
        if random.chance(60) {
            chosen.push((dimension, expression(random, dimensions, extreme)));
        }
    }
    chosen
}

// ---- formulas ----

/// The sum of a constraint over the names, its constant times `one`.
fn sum(constraint: &Constraint, names: &[String], one: &str) -> String {
    let mut text = format!("(+ (* {} {one})", numeral(constraint.constant()));
    for (coefficient, name) in constraint.coefficients().iter().zip(names) {
        if !coefficient.is_zero() {
            let _ = write!(text, " (* {} {name})", numeral(coefficient));
        }
    }
    text + " 0.0)"
}

fn numeral(value: &Integer) -> String {
    if value.is_negative() { format!("(- {}.0)", value.abs()) } else { format!("{value}.0") }
}

fn all(parts: &[String]) -> String {
    format!("(and true {})", parts.join(" "))
}

fn system(constraints: &[Constraint], names: &[String]) -> String {
    let one = |constraint: &Constraint| {
        let sign = match constraint.relation() {
            Relation::Equal => "=",
            Relation::AtLeast => ">=",
            Relation::Greater => ">",
        };
        format!("({sign} {} 0.0)", sum(constraint, names, "1.0"))
    };
    all(&constraints.iter().map(one).collect::<Vec<_>>())
}

/// The name is the expression's value.
fn is_value(name: &str, expression: &LinearExpression, names: &[String]) -> String {
    let mut text = String::from("(+");
    for (dimension, other) in names.iter().enumerate() {
        let _ = write!(text, " (* {} {other})", fraction(&expression.coefficient(dimension)));
    }
    format!("(= {name} {text} {}))", fraction(&expression.constant_term()))
}

fn fraction(value: &Rational) -> String {
    format!("(/ {} {})", numeral(value.numerator()), numeral(value.denominator()))
}

fn names(letter: &str, count: usize) -> Vec<String> {
    (0..count).map(|at| format!("{letter}{at}")).collect()
}

/// A formula that holds for the points of a set, over `x0`, `x1`, ...; with the names that it quantifies.
struct Formula {
    bound: Vec<String>,
    body: String,
}

fn plain(body: String) -> Formula {
    Formula { bound: Vec::new(), body }
}

/// The points on segments between two sets, limits of such points where only strictness of neither keeps them out: the
/// smallest polyhedron around both (E. Balas, <https://doi.org/10.1137/0606047>). `e` is the room that strict constraints
/// leave (R. Bagnara, E. Ricci, E. Zaffanella, P. M. Hill, <https://doi.org/10.1007/3-540-45789-5_17>).
fn hull(a: &[Constraint], b: &[Constraint], dimensions: usize) -> Formula {
    let x = names("x", dimensions);
    let y = names("y", dimensions);
    let z: Vec<String> = x.iter().zip(&y).map(|(x, y)| format!("(- {x} {y})")).collect();
    let mut parts: Vec<String> = [
        "(<= 0.0 l)",
        "(<= l 1.0)",
        "(> e 0.0)",
        "(<= 0.0 f)",
        "(<= f l)",
        "(<= f e)",
        "(<= (- e f) (- 1.0 l))",
    ]
    .map(str::to_owned)
    .into();
    for (side, names, one, room) in [(a, &y, "l", "f"), (b, &z, "(- 1.0 l)", "(- e f)")] {
        for constraint in side {
            let sum = sum(constraint, names, one);
            parts.push(match constraint.relation() {
                Relation::Equal => format!("(= {sum} 0.0)"),
                Relation::AtLeast => format!("(>= {sum} 0.0)"),
                Relation::Greater => format!("(>= {sum} {room})"),
            });
        }
    }
    let bound = y.into_iter().chain(["l", "e", "f"].map(str::to_owned)).collect();
    Formula { bound, body: all(&parts) }
}

/// A judge with a memory of how often it could not decide.
struct Judge {
    solver: z3::Solver,
    queries: usize,
    unknown: usize,
}

impl Judge {
    fn new() -> Self {
        let solver = z3::Solver::new_for_logic("LRA").expect("Z3 knows linear real arithmetic");
        let mut parameters = z3::Params::new();
        parameters.set_u32("rlimit", 20_000_000);
        solver.set_params(&parameters);
        Judge { solver, queries: 0, unknown: 0 }
    }

    /// Has the formula no model?
    fn refutes(&mut self, declared: &[&[String]], assertion: &str) -> bool {
        let declarations: String =
            declared.iter().copied().flatten().map(|name| format!("(declare-const {name} Real)")).collect();
        self.queries += 1;
        self.solver.reset();
        self.solver.from_string(format!("{declarations}(assert {assertion})"));
        match self.solver.check() {
            SatResult::Unsat => true,
            SatResult::Sat => false,
            SatResult::Unknown => {
                self.unknown += 1;
                true
            }
        }
    }

    /// Is every point of the formula one of the element?
    fn is_within(&mut self, formula: &Formula, element: &[Constraint], dimensions: usize) -> bool {
        let x = names("x", dimensions);
        let outside = format!("(and {} (not {}))", formula.body, system(element, &x));
        self.refutes(&[&x, &formula.bound], &outside)
    }

    /// Is every point of the element one of the formula?
    fn is_around(&mut self, formula: &Formula, element: &[Constraint], dimensions: usize) -> bool {
        let x = names("x", dimensions);
        let bound: String = formula.bound.iter().map(|name| format!("({name} Real)")).collect();
        let body = &formula.body;
        let inside = if bound.is_empty() { body.clone() } else { format!("(exists ({bound}) {body})") };
        self.refutes(&[&x], &format!("(and {} (not {inside}))", system(element, &x)))
    }
}

// ---- exact cases ----

/// What was done, by the numbers of the registers.
#[derive(Clone, Debug)]
enum Step {
    New(Vec<Constraint>),
    Restrict(usize, Vec<Constraint>),
    Meet(usize, usize),
    Join(usize, usize),
    Forget(usize, Vec<usize>),
    Remove(usize, Vec<usize>),
    Add(usize, usize),
    Assign(usize, Vec<(usize, LinearExpression)>),
    Substitute(usize, Vec<(usize, LinearExpression)>),
    /// Of a register and its join with another.
    Widen(usize, usize),
    LimitedJoin(usize, usize, usize),
    LimitedMeet(usize, usize, usize),
}

/// The sequence of a seed, with the result of each step.
fn sequence(random: &mut Random) -> Vec<(Step, Polyhedron, bool)> {
    let extreme = random.chance(30);
    let dimensions = random.between((1, 3));
    let mut made: Vec<(Step, Polyhedron, bool)> = Vec::new();
    for _ in 0..2 {
        let list = constraints(random, dimensions, extreme);
        let polyhedron = Polyhedron::from_constraints(dimensions, list.clone());
        made.push((Step::New(list), polyhedron, true));
    }
    for _ in 0..random.between((2, 6)) {
        let a = random.below(made.len());
        let size = made[a].1.dimensions();
        let partners: Vec<usize> = (0..made.len()).filter(|at| made[*at].1.dimensions() == size).collect();
        let b = random.pick(&partners).copied().unwrap_or(a);
        let step = match random.below(13) {
            0 => Step::New(constraints(random, size, extreme)),
            1 => Step::Restrict(a, constraints(random, size, extreme)),
            2 => Step::Meet(a, b),
            3 | 4 => Step::Join(a, b),
            5 => Step::Forget(a, (0..size).filter(|_| random.chance(40)).collect()),
            6 if size > 1 => Step::Remove(a, vec![random.below(size)]),
            7 if size < 3 => Step::Add(a, 1),
            8 | 9 => Step::Assign(a, assignments(random, size, extreme)),
            10 => Step::Widen(a, b),
            11 => Step::LimitedJoin(a, b, random.between((1, 8))),
            12 => Step::LimitedMeet(a, b, random.between((1, 8))),
            _ => Step::Substitute(a, assignments(random, size, extreme)),
        };
        let of = |at: usize| &made[at].1;
        let exactly = |polyhedron: Polyhedron| (polyhedron, true);
        let limited = |outcome: Outcome| {
            let exact = outcome.is_exact();
            (outcome.into_polyhedron(), exact)
        };
        let (result, exact) = match &step {
            Step::New(list) => exactly(Polyhedron::from_constraints(size, list.clone())),
            Step::Restrict(a, list) => exactly(of(*a).meet_constraints(list)),
            Step::Meet(a, b) => exactly(of(*a).meet(of(*b))),
            Step::Join(a, b) => exactly(of(*a).join(of(*b))),
            Step::Forget(a, list) => exactly(of(*a).forget(list)),
            Step::Remove(a, list) => exactly(of(*a).remove_dimensions(list)),
            Step::Add(a, count) => exactly(of(*a).add_dimensions(*count)),
            Step::Assign(a, list) => exactly(of(*a).assign(list)),
            Step::Substitute(a, list) => exactly(of(*a).substitute(list)),
            Step::Widen(a, b) => (of(*a).widen(&of(*a).join(of(*b))), false),
            Step::LimitedJoin(a, b, rows) => limited(of(*a).join_limited(of(*b), &limits(*rows))),
            Step::LimitedMeet(a, b, rows) => limited(of(*a).meet_limited(of(*b), &limits(*rows))),
        };
        // Asking converts, and what is converted takes other paths later.
        match random.below(4) {
            0 => drop(result.constraints()),
            1 => drop(result.generators()),
            _ => {}
        }
        made.push((step, result, exact));
    }
    made
}

fn limits(rows: usize) -> Limits {
    Limits { rows, ..Limits::default() }
}

/// What the step must give; of widening, what it must contain.
fn expected(
    step: &Step,
    list_of: &dyn Fn(usize) -> Vec<Constraint>,
    dimensions: usize,
    before: usize,
) -> Formula {
    let x = names("x", dimensions);
    let old = names("o", before);
    let is_empty = |list: &[Constraint]| {
        list.iter().any(|c| {
            c.coefficients().iter().all(Integer::is_zero) && !c.relation().admits(c.constant().signum())
        })
    };
    match step {
        Step::New(list) => plain(system(list, &x)),
        Step::Restrict(a, list) => plain(all(&[system(&list_of(*a), &x), system(list, &x)])),
        Step::Meet(a, b) | Step::LimitedMeet(a, b, _) => {
            plain(all(&[system(&list_of(*a), &x), system(&list_of(*b), &x)]))
        }
        Step::Join(a, b) | Step::LimitedJoin(a, b, _) | Step::Widen(a, b) => {
            let (a, b) = (list_of(*a), list_of(*b));
            if is_empty(&a) {
                return plain(system(&b, &x));
            }
            if is_empty(&b) {
                return plain(system(&a, &x));
            }
            hull(&a, &b, dimensions)
        }
        Step::Forget(a, list) => {
            let kept = (0..before).filter(|at| !list.contains(at));
            let mut parts: Vec<String> = kept.map(|at| format!("(= {} {})", x[at], old[at])).collect();
            parts.push(system(&list_of(*a), &old));
            Formula { body: all(&parts), bound: old }
        }
        Step::Remove(a, list) => {
            let kept = (0..before).filter(|at| !list.contains(at));
            let mut parts: Vec<String> =
                kept.zip(&x).map(|(at, name)| format!("(= {name} {})", old[at])).collect();
            parts.push(system(&list_of(*a), &old));
            Formula { body: all(&parts), bound: old }
        }
        Step::Add(a, _) => plain(system(&list_of(*a), &x)),
        Step::Assign(a, list) => {
            let mut parts = vec![system(&list_of(*a), &old)];
            for (at, name) in x.iter().enumerate() {
                parts.push(match list.iter().find(|(other, _)| *other == at) {
                    Some((_, expression)) => is_value(name, expression, &old),
                    None => format!("(= {name} {})", old[at]),
                });
            }
            Formula { body: all(&parts), bound: old }
        }
        Step::Substitute(a, list) => {
            let mut parts = vec![system(&list_of(*a), &old)];
            for (at, name) in old.iter().enumerate() {
                parts.push(match list.iter().find(|(other, _)| *other == at) {
                    Some((_, expression)) => is_value(name, expression, &x),
                    None => format!("(= {name} {})", x[at]),
                });
            }
            Formula { body: all(&parts), bound: old }
        }
    }
}

/// One seed: the sequence, and then the judgement of each step.
fn exact_case(seed: u64, judge: &mut Judge) {
    let made = sequence(&mut Random::new(seed));
    let list_of = |at: usize| made[at].1.constraints();
    for (number, (step, result, exact)) in made.iter().enumerate() {
        let operand = match step {
            Step::New(_) => number,
            Step::Restrict(a, _)
            | Step::Meet(a, _)
            | Step::Join(a, _)
            | Step::Forget(a, _)
            | Step::Remove(a, _)
            | Step::Add(a, _)
            | Step::Assign(a, _)
            | Step::Substitute(a, _)
            | Step::Widen(a, _)
            | Step::LimitedJoin(a, _, _)
            | Step::LimitedMeet(a, _, _) => *a,
        };
        let (dimensions, before) = (result.dimensions(), made[operand].1.dimensions());
        let formula = expected(step, &list_of, dimensions, before);
        let found = result.constraints();
        let told = || {
            format!(
                "seed {seed}, step {number}: {step:?} gives {found:?}\nof {:?}",
                made.iter().take(number).map(|(_, p, _)| p.constraints()).collect::<Vec<_>>()
            )
        };
        assert!(judge.is_within(&formula, &found, dimensions), "a point is lost: {}", told());
        if *exact {
            assert!(judge.is_around(&formula, &found, dimensions), "a point too many: {}", told());
        }
        // The other description says the same, and the questions agree with it. Points in the middle of a face without
        // corners are a choice, which a bijection carries along.
        let again = Polyhedron::from_constraints(dimensions, found.clone());
        assert_eq!(again.constraints(), found, "not canonical: {}", told());
        let (fresh, carried) = (again.generators(), result.generators());
        assert_eq!(
            (&fresh.lines, &fresh.rays, &fresh.closure_points, fresh.points.len()),
            (&carried.lines, &carried.rays, &carried.closure_points, carried.points.len()),
            "the descriptions differ: {}",
            told()
        );
        assert!(carried.points.iter().all(|point| holds(&found, point)), "a point outside: {}", told());
        assert!(again.is_leq(result) && result.is_leq(&again) && again.is_equal(result), "{}", told());
        let none = judge.refutes(&[&names("x", dimensions)], &system(&found, &names("x", dimensions)));
        assert_eq!(none, result.is_empty(), "emptiness: {}", told());
    }
}

// ---- points ----

type Point = Vec<Rational>;

fn holds(constraints: &[Constraint], point: &Point) -> bool {
    constraints.iter().all(|constraint| constraint.is_satisfied_by(point))
}

/// A seed of the second kind, for one domain.
struct Points(u64);

impl WithDomain for Points {
    type Output = ();

    fn run<D: Domain>(self) {
        if D::SEES_DATA {
            points_case::<D>(self.0);
        }
    }
}

fn point(random: &mut Random, integer: &[bool], extreme: bool) -> Point {
    let coordinate = |is_integer: &bool| {
        let numerator = number(random, extreme, 6);
        let denominator = if *is_integer { 1 } else { random.between((1, 3)) as i64 };
        Rational::new(numerator, Integer::from(denominator)).unwrap_or(Rational::ZERO)
    };
    integer.iter().map(coordinate).collect()
}

/// An element with some of its points.
struct Tracked<D> {
    element: D,
    points: Vec<Point>,
}

fn fresh<D: Domain>(random: &mut Random, integer: &[bool], extreme: bool) -> Tracked<D> {
    let candidates: Vec<Point> = (0..12).map(|_| point(random, integer, extreme)).collect();
    let mut list = constraints(random, integer.len(), extreme);
    if random.chance(60) {
        // Keep those that many points satisfy: an element without points tells nothing.
        list.retain(|c| candidates.iter().filter(|point| holds(std::slice::from_ref(c), point)).count() > 3);
    }
    let points = candidates.into_iter().filter(|point| holds(&list, point)).collect();
    Tracked { element: D::top(integer.len()).meet_constraints(&list, integer), points }
}

fn points_case<D: Domain>(seed: u64) {
    let mut random = Random::new(seed);
    let random = &mut random;
    let extreme = random.chance(30);
    let integer: Vec<bool> = (0..random.between((1, 4))).map(|_| random.chance(60)).collect();
    let size = integer.len();
    let whole =
        |point: &Point| point.iter().zip(&integer).all(|(value, integer)| !integer || value.is_integer());
    let mut current = fresh::<D>(random, &integer, extreme);
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
                let other = fresh::<D>(random, &integer, extreme);
                let joined = element.join(&other.element);
                Tracked { element: joined, points: [points, other.points].concat() }
            }
            2 => {
                let other = fresh::<D>(random, &integer, extreme);
                let list = other.element.constraints();
                let both = points.into_iter().filter(|p| !other.element.is_bottom() && holds(&list, p));
                Tracked { points: both.collect(), element: element.meet(&other.element, &integer) }
            }
            3 => {
                let other = fresh::<D>(random, &integer, extreme);
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
                let known = element.constraints();
                let before = element.substitute(&list);
                let mut kept = Vec::new();
                for _ in 0..20 {
                    let candidate = point(random, &integer, extreme);
                    let mut image = candidate.clone();
                    for (at, value) in &list {
                        image[*at] = value.as_ref().map_or(Rational::ZERO, |value| value.value(&candidate));
                    }
                    if !element.is_bottom() && holds(&known, &image) {
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
                let other = fresh::<D>(random, &integer, extreme);
                let wide = element.join(&other.element);
                let list = element.constraints();
                let points =
                    points.into_iter().filter(|point| element.is_bottom() || holds(&list, point)).collect();
                Tracked { element: wide.narrow(&element, &integer), points }
            }
        };
        let list = current.element.constraints();
        assert!(
            current.points.is_empty() || !current.element.is_bottom(),
            "seed {seed}, operations {done:?}: bottom with {:?}",
            current.points
        );
        for point in &current.points {
            assert!(holds(&list, point), "seed {seed}, operations {done:?}: {point:?} lost by {list:?}");
        }
    }
}

// ---- seeds ----

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// So many fixed seeds, and a tenth of new ones; or the one asked for.
fn seeds(count: u64) -> Vec<u64> {
    if let Some(seed) = from_environment("COREACH_SEED") {
        return vec![seed];
    }
    let count = from_environment("COREACH_CASES").unwrap_or(count);
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let new = clock.as_nanos() as u64;
    (0..count).chain((0..count / 10).map(|at| new.wrapping_add(at))).collect()
}

#[test]
fn polyhedra_are_exact() {
    let mut judge = Judge::new();
    let seeds = seeds(300);
    for seed in &seeds {
        exact_case(*seed, &mut judge);
    }
    println!("{} sequences, {} questions, {} undecided", seeds.len(), judge.queries, judge.unknown);
    assert!(judge.unknown * 100 <= judge.queries, "the judge gave up {} times", judge.unknown);
}

#[test]
fn no_domain_loses_a_point() {
    for seed in seeds(1_000) {
        for kind in DomainKind::ALL {
            kind.with(Points(seed));
        }
    }
}

/// The judge can say no: with one constraint left out, and with one too many.
#[test]
fn the_judge_sees_differences() {
    let mut judge = Judge::new();
    let a = [Constraint::of(&[1, 0], 0, Relation::Greater), Constraint::of(&[0, 1], 0, Relation::Equal)];
    let b = [Constraint::of(&[1, 0], -1, Relation::Equal), Constraint::of(&[0, 1], -1, Relation::AtLeast)];
    let joined = Polyhedron::from_constraints(2, a.clone()).join(&Polyhedron::from_constraints(2, b.clone()));
    let (formula, exact) = (hull(&a, &b, 2), joined.constraints());
    assert!(judge.is_within(&formula, &exact, 2) && judge.is_around(&formula, &exact, 2), "{exact:?}");
    for left_out in 0..exact.len() {
        let mut fewer = exact.clone();
        fewer.remove(left_out);
        assert!(!judge.is_around(&formula, &fewer, 2), "{fewer:?}");
    }
    let mut strict: Vec<Constraint> = exact.iter().map(|c| c.with_relation(Relation::Greater)).collect();
    assert!(!judge.is_within(&formula, &strict, 2));
    strict.push(Constraint::of(&[1, 1], -1, Relation::AtLeast));
    assert!(!judge.is_within(&formula, &strict, 2));
}
