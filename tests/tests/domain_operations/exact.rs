//! Polyhedra, exactly: what each step gives must be equivalent to a formula about what it was given, and Z3
//! decides.

use std::fmt::Write;

use coreach_polyhedra::{
    Approx, Constraint, Integer, LinearExpression, OperationLimits, Polyhedron, Rational, Relation,
};
use coreach_tests::generator::random::Random;
use z3::SatResult;

use super::{assignments, constraints, holds, seeds};

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

/// The points on segments between two sets, limits of such points where only strictness of neither keeps them
/// out: the smallest polyhedron around both (E. Balas, <https://doi.org/10.1137/0606047>). `e` is the room
/// that strict constraints leave (R. Bagnara, E. Ricci, E. Zaffanella, P. M. Hill,
/// <https://doi.org/10.1007/3-540-45789-5_17>).
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
        let limited = |outcome: Approx| {
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

fn limits(rows: usize) -> OperationLimits {
    OperationLimits { rows, ..OperationLimits::default() }
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
        // The other description says the same, and the questions agree with it. Points in the middle of a
        // face without corners are a choice, which a bijection carries along.
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
