//! What made the analyses explode: facts of many cases, terms that share, guards over many parameters.
//! (sound, and ends)

use coreach_analyses::reachability::{Analysis, analyse, reach};
use coreach_analyses::scope::ImprecisionReason;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Answer, Solver};
use coreach_analyses::{DomainKind, hull};
use coreach_model::iosts::Iosts;
use coreach_model::term::Term;
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::{Datum, Type, Value};

use super::build::{Builder, cmp, t};

const DATA: [DomainKind; 3] = [DomainKind::Interval, DomainKind::Octagon, DomainKind::Polyhedra];

/// Deeper than any walk without memory comes back from.
const DEPTH: usize = 60;

fn options(domain: DomainKind) -> Analysis {
    Analysis { domain, ..Analysis::default() }
}

/// n flags, each of which lets a number of its own count.
fn switched(n: usize) -> (Iosts, Vec<Datum>, Vec<Datum>) {
    let flags: Vec<Datum> = (0..n).map(|at| Datum::new(format!("b{at}"), Type::Bool)).collect();
    let numbers: Vec<Datum> = (0..n).map(|at| Datum::new(format!("x{at}"), Type::Int)).collect();
    let start = flags.iter().map(|b| t(b).not()).chain(numbers.iter().map(|x| cmp(t(x), "==", Term::int(0))));
    let variables: Vec<&Datum> = flags.iter().chain(&numbers).collect();
    let mut model = Builder::new(&[], &variables, Term::and(start.collect::<Vec<_>>()), &["l0"]);
    let a = model.action("A", &[]);
    for (b, x) in flags.iter().zip(&numbers) {
        model.transition("l0", a, t(b).not(), &[(b, Term::yes())], "l0");
        model.transition("l0", a, t(b), &[(x, Term::add(&t(x), &Term::int(1)))], "l0");
    }
    (model.0, flags, numbers)
}

#[test]
fn independent_cases_are_said_in_clauses() {
    let (model, flags, numbers) = switched(4);
    for domain in DATA {
        let fact = &reach(&model, &options(domain)).0[0];
        assert!(fact.conjuncts().len() <= 8, "{domain}: {fact}");
        // Exactly `x >= 0 && (b || x == 0)` for each.
        for point in 0..6usize.pow(4) {
            let (mut valuation, mut expected, mut rest) = (Valuation::new(), true, point);
            for (b, x) in flags.iter().zip(&numbers) {
                let (flag, number) = (rest % 6 < 3, (rest % 3) as i64 - 1);
                rest /= 6;
                valuation.insert(b.clone(), Value::Bool(flag));
                valuation.insert(x.clone(), Value::Int(number.into()));
                expected &= number >= 0 && (flag || number == 0);
            }
            assert_eq!(evaluate(fact, &valuation), Ok(Value::Bool(expected)), "{domain}: {fact}");
        }
    }
}

#[test]
fn what_is_too_long_to_say_is_left_out_and_counted() {
    let (model, ..) = switched(4);
    let mut solver = Z3Solver::default();
    for domain in DATA {
        let whole = analyse(&model, &[true], &options(domain));
        assert_eq!(whole.iterations.shortened, 0);
        let facts = analyse(&model, &[true], &Analysis { fact_limit: 6, ..options(domain) });
        assert!(facts.iterations.shortened > 0, "{domain}");
        let outside = [whole.reach[0].clone(), facts.reach[0].not()];
        assert_eq!(
            solver.check(&outside),
            Answer::Unsat,
            "{domain}: {} is in {}",
            whole.reach[0],
            facts.reach[0]
        );
    }
}

#[test]
fn a_condition_that_is_too_long_is_read_as_true_and_told_with_its_knob() {
    let (model, ..) = switched(4);
    for domain in DATA {
        let long = analyse(&model, &[true], &Analysis { condition_limit: 1, ..options(domain) });
        let told: Vec<String> = long.imprecisions.iter().map(|one| one.reason.to_string()).collect();
        assert!(
            told.iter().any(|imprecision| imprecision.contains("`analysis: condition_limit`")),
            "{domain}: {told:?}"
        );
        let whole = analyse(&model, &[true], &options(domain));
        let outside = [whole.reach[0].clone(), long.reach[0].not()];
        assert_eq!(Z3Solver::default().check(&outside), Answer::Unsat, "{domain}");
    }
}

/// A number that doubles in each level, and one that an `if` doubles.
fn shared_numbers(x: &Datum) -> [Term; 2] {
    let (mut sum, mut choice) = (t(x), t(x));
    for _ in 0..DEPTH {
        sum = Term::add(&sum, &sum);
        let other = Term::add(&choice, &t(x));
        choice = Term::if_then_else(&cmp(choice.clone(), ">", Term::int(0)), &other, &choice);
    }
    [sum, choice]
}

/// A condition that stands twice in each level, under other flags.
fn shared_condition(x: &Datum, flags: &[Datum]) -> Term {
    let mut shared = cmp(t(x), ">", Term::int(0));
    for level in 0..DEPTH {
        let (a, b) = (&flags[level % flags.len()], cmp(t(x), "!=", Term::int(level as i64)));
        shared = Term::or([Term::and([t(a), shared.clone()]), Term::and([b, shared])]);
    }
    shared
}

#[test]
fn terms_that_share_are_walked_once() {
    let (x, y) = (Datum::new("x", Type::Int), Datum::new("y", Type::Int));
    let flags: Vec<Datum> = (0..3).map(|at| Datum::new(format!("f{at}"), Type::Bool)).collect();
    let [sum, choice] = shared_numbers(&x);
    let shared = shared_condition(&x, &flags);
    let variables: Vec<&Datum> = [&x, &y].into_iter().chain(&flags).collect();
    let guards =
        [cmp(sum.clone(), ">", Term::int(0)), cmp(choice.clone(), ">", t(&y)), shared.clone(), shared.not()];
    for domain in DATA {
        for guard in &guards {
            let mut model = Builder::new(&[], &variables, cmp(t(&x), "==", Term::int(1)), &["l0", "l1"]);
            let a = model.action("A", &[]);
            model.transition("l0", a, guard.clone(), &[(&y, sum.clone()), (&x, choice.clone())], "l1");
            let _ = analyse(&model.0, &[false, true], &options(domain));
        }
    }
    let _ = hull::hull(&guards[0], std::slice::from_ref(&x));
    let mut solver = Z3Solver::default();
    for guard in guards {
        let _ = solver.check(&[guard]);
    }
}

#[test]
fn many_parameters_in_one_dense_guard_are_projected_within_limits() {
    let x = Datum::new("x", Type::Int);
    let parameters: Vec<Datum> = (0..14).map(|at| Datum::new(format!("p{at}"), Type::Int)).collect();
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64
    };
    let rows = (0..28).map(|row| {
        let scaled = |p: &Datum, factor: i64| Term::multiply(&Term::int(factor), &t(p));
        let sum = parameters.iter().fold(t(&x), |sum, p| Term::add(&sum, &scaled(p, next() % 11 - 5)));
        cmp(sum, "<=", Term::int(10 + row))
    });
    let guard = Term::and(rows.collect::<Vec<_>>());
    let mut model = Builder::new(&[], &[&x], cmp(t(&x), "==", Term::int(0)), &["l0", "l1"]);
    let a = model.action("A", &parameters.iter().collect::<Vec<_>>());
    model.transition("l0", a, guard, &[(&x, Term::add(&t(&x), &Term::int(1)))], "l1");
    let (facts, imprecisions) = reach(&model.0, &options(DomainKind::Polyhedra));
    let after = evaluate(&facts[1], &Valuation::from([(x, Value::Int(1.into()))]));
    assert_eq!(after, Ok(Value::Bool(true)), "all parameters 0 take it");
    assert!(
        imprecisions.iter().all(|imprecision| imprecision.reason == ImprecisionReason::Parameters),
        "{imprecisions:?}"
    );
}
