//! What is told of guards on numbers, held against a solver.

use std::sync::Arc;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Answer, Solver, must_hold};
use coreach_analyses::symbolic::bounds::{CanBe, OpenBounds};
use coreach_model::random::Random;
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::node::Comparison;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, Term, Type, Value};
use dashu_ratio::RBig;

fn datum(name: &str, ty: Type) -> Datum {
    Datum::new(name, ty)
}

fn number(random: &mut Random) -> Term {
    let number = random.below(13) as i64 - 6;
    match random.below(3) {
        0 => Term::literal(Value::Real(RBig::from(number) / RBig::from(2))),
        _ => Term::int(number),
    }
}

fn compared(random: &mut Random, a: &Term, b: &Term) -> Term {
    let comparisons = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::AtMost,
        Comparison::Greater,
        Comparison::AtLeast,
    ];
    Term::compare(comparisons[random.below(6)], a, b)
}

fn sum(random: &mut Random, data: &[Datum]) -> Term {
    let mut one = || Term::datum(&data[random.below(data.len())]);
    let (one, other) = (one(), one());
    match random.below(6) {
        0 => Term::subtract(&one, &other),
        1 => Term::add(&one, &other),
        2 => Term::add(&one, &number(random)),
        3 => Term::multiply(&number(random), &one),
        _ => one,
    }
}

fn guard(random: &mut Random, data: &[Datum], depth: usize) -> Term {
    match random.below(if depth == 0 { 1 } else { 4 }) {
        0 => {
            let (one, other) = (sum(random, data), number(random));
            compared(random, &one, &other)
        }
        1 => Term::and([guard(random, data, depth - 1), guard(random, data, depth - 1)]),
        2 => Term::or([guard(random, data, depth - 1), guard(random, data, depth - 1)]),
        _ => {
            let (one, other) = (sum(random, data), sum(random, data));
            compared(random, &one, &other)
        }
    }
}

/// Soundness: what is told is what a solver says, and what is kept says as much as what was asked for.
#[test]
fn what_is_told_is_what_a_solver_says() {
    let symbols = [
        datum("n#0", Type::Int),
        datum("m#0", Type::Nat),
        datum("o#0", Type::Range((-2).into(), 3.into())),
        datum("t#0", Type::Real),
    ];
    let data = ["n", "m", "o", "t"].map(|name| datum(name, if name == "t" { Type::Real } else { Type::Int }));
    let given = [(datum("k", Type::Int), Value::int(3)), (datum("h", Type::Real), Value::Real(RBig::ONE))];
    let named: Vec<Datum> = data.iter().chain(given.iter().map(|(datum, _)| datum)).cloned().collect();
    let (mut solver, mut told, mut kept) = (Z3Solver::default(), [0; 4], 0);
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let stands = data.iter().zip(&symbols).map(|(datum, symbol)| {
            let more = if datum.name() == "t" { Term::int(1).to_real() } else { Term::int(2) };
            (datum.clone(), Term::subtract(&Term::datum(symbol), &more))
        });
        let open: Arc<Substitution> = Arc::new(stands.collect());
        let is_box = random.below(2) == 0;
        let mut condition = Vec::new();
        for _ in 0..random.below(5) {
            let one =
                if is_box { Term::datum(&symbols[random.below(4)]) } else { sum(&mut random, &symbols) };
            let end = number(&mut random);
            condition.push(compared(&mut random, &one, &end));
        }
        condition.retain(|part| !part.is_true());
        if solver.check(&condition) != Answer::Sat {
            continue;
        }
        let guard = guard(&mut random, &named, 2);
        let mut standing = (*open).clone();
        standing.extend(given.iter().map(|(datum, value)| (datum.clone(), Term::literal(value.clone()))));
        let asked = substitute(&guard, &standing);
        let bounds = OpenBounds::new(&open, &condition);
        let found = bounds.decide(&guard, (&Valuation::new(), &given));
        let mut can = |part: &Term| {
            let all: Vec<Term> = condition.iter().chain([part]).cloned().collect();
            solver.check(&all) == Answer::Sat
        };
        let expected = (can(&asked), can(&asked.not()));
        let shown = || format!("{seed}: {condition:?} {guard}: {found:?}");
        assert!(found.can_hold.is_none_or(|can| can == expected.0), "{}", shown());
        assert!(found.can_fail.is_none_or(|can| can == expected.1), "{}", shown());
        let which = match found {
            CanBe::ALWAYS => 0,
            CanBe::NEVER => 1,
            CanBe { can_hold: Some(true), can_fail: Some(true) } => 2,
            _ => 3,
        };
        told[which] += 1;
        let Some(more) = bounds
            .with_parts(std::slice::from_ref(&guard), (&Valuation::new(), &given))
            .filter(|_| which > 1)
        else {
            continue;
        };
        kept += 1;
        let known: Vec<Term> = condition.iter().chain([&asked]).cloned().collect();
        let is_said = more.condition().iter().all(|part| must_hold(&mut solver, &known, part));
        assert!(is_said, "{}: {:?}", shown(), more.condition());
        assert!(
            must_hold(&mut solver, more.condition(), &Term::and(known)),
            "{}: {:?}",
            shown(),
            more.condition()
        );
    }
    assert!(told.iter().all(|count| *count > 50) && kept > 20, "{told:?} {kept}");
}
