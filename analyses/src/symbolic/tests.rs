//! Tests of the elimination of quantifiers, and of questions with quantifiers, against enumeration. They also
//! count the questions of trees.

use coreach_model::obligation::defined;
use coreach_model::reader::read_specification;
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::node::{Comparison, Operator};
use coreach_model::value::tuples;
use coreach_model::{Datum, SourceFile, Term, TransitionId, Type, Value};
use dashu_ratio::RBig;

use super::eliminate::eliminate_data;
use super::projection::{By, Projections};
use super::{Growth, PathTree, SymbolicState, System, TreeLimits};
use crate::solver::random::{RandomTerms, array, range};
use crate::solver::z3::Z3Solver;
use crate::solver::{Answer, Solver, Statistics, Witness};

fn bound() -> [Datum; 3] {
    // The type has too many values for a case for each, so ends and equations have to be found.
    ["p", "q", "r"].map(|name| Datum::new(name, range(-5, 5)))
}

fn free() -> [Datum; 2] {
    ["x", "y"].map(|name| Datum::new(name, range(-2, 2)))
}

fn comparison(random: &mut RandomTerms) -> Comparison {
    use Comparison::{AtLeast, AtMost, Equal, Greater, Less, NotEqual};
    [Equal, NotEqual, Less, AtMost, Greater, AtLeast][random.below(6) as usize]
}

/// A sum of a few data, mostly different ones, sometimes with an operation that is not unit-linear.
fn sum(random: &mut RandomTerms, odd: u64) -> Term {
    let data: Vec<Datum> = bound().into_iter().chain(free()).collect();
    let mut term = Term::int(random.below(5) as i64 - 2);
    let first = random.below(5);
    for number in 0..=random.below(2) {
        let datum = Term::datum(&data[((first + number) % 5) as usize]);
        term = match random.below(4 + odd) {
            0 => Term::add(&datum, &term),
            1 => Term::add(&term, &datum),
            2 => Term::subtract(&term, &datum),
            3 => Term::subtract(&datum, &term),
            4 => Term::add(&term, &Term::multiply(&datum, &Term::int(2))),
            _ => Term::add(&Term::arithmetic(Operator::Modulo, &datum, &Term::int(3)), &term),
        };
    }
    term
}

fn random_part(random: &mut RandomTerms, odd: u64) -> Term {
    let mut atom = || Term::compare(comparison(random), &sum(random, odd), &sum(random, odd));
    let (a, b) = (atom(), atom());
    match random.below(4) {
        0 => Term::or([a, b]),
        _ => a,
    }
}

/// Do some values of the bound data make all parts hold? All are tried.
fn exists(parts: &[Term], valuation: &Valuation) -> bool {
    let mentioned: Vec<Datum> =
        bound().into_iter().filter(|datum| parts.iter().any(|part| part.mentions(datum))).collect();
    let lists: Vec<Vec<Value>> =
        mentioned.iter().map(|datum| Value::enumerate(datum.ty(), 100).unwrap()).collect();
    tuples(&lists).into_iter().any(|tuple| {
        let mut all = valuation.clone();
        all.extend(mentioned.iter().cloned().zip(tuple));
        parts.iter().all(|part| holds(part, &all) == Ok(true))
    })
}

fn valuations() -> Vec<Valuation> {
    let lists = free().map(|datum| Value::enumerate(datum.ty(), 100).unwrap());
    tuples(&lists).into_iter().map(|tuple| free().into_iter().zip(tuple).collect()).collect()
}

/// The number of rounds: few in `scripts/test`, which must end soon, and many in `scripts/test --thorough`.
fn rounds(soon: u64, thorough: u64) -> u64 {
    if std::env::var_os("COREACH_THOROUGH").is_some() { thorough } else { soon }
}

#[test]
fn a_quantifier_taken_away_was_not_needed() {
    let mut random = RandomTerms::new(11);
    let (mut taken, mut both) = (0, [0, 0]);
    for round in 0..rounds(160, 800) {
        let parts: Vec<Term> = (0..=random.below(4)).map(|_| random_part(&mut random, round % 2)).collect();
        let Some(condition) = eliminate_data(&bound(), &parts) else { continue };
        taken += 1;
        assert!(bound().iter().all(|datum| !condition.mentions(datum)), "{condition} of {parts:?}");
        for valuation in valuations() {
            let expected = exists(&parts, &valuation);
            both[usize::from(expected)] += 1;
            let found = evaluate(&condition, &valuation);
            assert_eq!(found, Ok(Value::Bool(expected)), "{condition} of {parts:?} in {valuation:?}");
        }
    }
    assert!(taken > 30 && both[0] > 120 && both[1] > 200, "one-sided test: {taken} {both:?}");
}

/// A disjunction may have a quotient by `y`, which may be 0. If one case of the result has no value because
/// of it, the other cases must still count.
#[test]
fn what_has_no_value_in_one_case_leaves_the_others() {
    let mut random = RandomTerms::new(29);
    let mut seen = [0, 0];
    for round in 0..rounds(160, 800) {
        let mut parts: Vec<Term> =
            (0..=random.below(2)).map(|_| random_part(&mut random, round % 2)).collect();
        let quotient = Term::arithmetic(Operator::Divide, &Term::int(4), &Term::datum(&free()[1]));
        let with_quotient = Term::compare(comparison(&mut random), &quotient, &sum(&mut random, 0));
        let guarded = Term::or([parts.pop().unwrap_or_else(Term::yes), with_quotient]);
        // As in a path condition, the definedness of a part comes before the part.
        parts.splice(0..0, [defined(&guarded), guarded]);
        let Some(condition) = eliminate_data(&bound(), &parts) else { continue };
        for valuation in valuations() {
            let expected = exists(&parts, &valuation);
            let is_undefined = valuation[&free()[1]] == Value::int(0);
            seen[usize::from(expected)] += usize::from(is_undefined);
            let given = evaluate(&condition, &valuation);
            assert_eq!(given, Ok(Value::Bool(expected)), "{condition} of {parts:?} in {valuation:?}");
        }
    }
    assert!(seen[0] > 20 && seen[1] > 50, "one-sided test: {seen:?}");
}

/// Integers between reals, like an output between two clocks. The reals are multiples of a quarter.
#[test]
fn an_integer_between_reals_is_found_where_one_is_there() {
    let mut random = RandomTerms::new(23);
    let integers = ["p", "q"].map(|name| Datum::new(name, range(-5, 5)));
    let reals = ["u", "v"].map(|name| Datum::new(name, Type::Real));
    let quarter = |count: i64| Term::literal(Value::Real(RBig::from(count) / RBig::from(4)));
    let quarters = [-9, -4, -1, 0, 2, 5].map(|count| Value::Real(RBig::from(count) / RBig::from(4))).to_vec();
    let all = tuples(&[quarters.clone(), quarters]).into_iter();
    let all: Vec<Valuation> = all.map(|tuple| reals.iter().cloned().zip(tuple).collect()).collect();
    let whole = integers.each_ref().map(|datum| Value::enumerate(datum.ty(), 100).unwrap());
    let exists = |parts: &[Term], valuation: &Valuation| {
        tuples(&whole).into_iter().any(|tuple| {
            let mut all = valuation.clone();
            all.extend(integers.iter().cloned().zip(tuple));
            parts.iter().all(|part| holds(part, &all) == Ok(true))
        })
    };
    let one = |random: &mut RandomTerms| {
        let whole = Term::datum(&integers[0]).to_real();
        let many = match random.below(4) {
            0 => Term::multiply(&whole, &Term::literal(Value::Real(RBig::from(2)))),
            _ => whole,
        };
        let number = quarter([0, 0, 4, -4, 8, 1, 3, -2][random.below(8) as usize]);
        let end = match random.below(3) {
            0 => number,
            1 => Term::add(&Term::datum(&integers[1]).to_real(), &number),
            _ => Term::add(&Term::datum(&reals[random.below(2) as usize]), &number),
        };
        Term::compare(comparison(random), &many, &end)
    };
    let (mut taken, mut among, mut both) = (0, 0, [0, 0]);
    for _ in 0..200 {
        let parts: Vec<Term> = (0..=random.below(3)).map(|_| one(&mut random)).collect();
        let Some(condition) = eliminate_data(&integers, &parts) else { continue };
        taken += 1;
        among += usize::from(reals.iter().any(|datum| condition.mentions(datum)));
        for valuation in &all {
            let expected = exists(&parts, valuation);
            both[usize::from(expected)] += 1;
            let found = evaluate(&condition, valuation);
            assert_eq!(found, Ok(Value::Bool(expected)), "{condition} of {parts:?} in {valuation:?}");
        }
    }
    println!("{taken} {among} {both:?}");
    assert!(taken > 60 && among > 20 && both.iter().all(|count| *count > 300), "{taken} {among} {both:?}");
    // No condition says whether there is an integer between a clock and the clock plus a half.
    let (p, u) = (Term::datum(&Datum::new("p", Type::Int)), Term::datum(&reals[0]));
    let between = |width: i64| {
        let least = Term::compare(Comparison::AtLeast, &p.to_real(), &u);
        let most = Term::compare(Comparison::AtMost, &p.to_real(), &Term::add(&u, &quarter(width)));
        eliminate_data(&[Datum::new("p", Type::Int)], &[least, most])
    };
    assert_eq!((between(2), between(4)), (None, Some(Term::yes())));
}

/// *Precise*: an integer that a clock bounds on both sides is one of the few that the clock's own ends leave.
/// *Sound*: no value is left out.
#[test]
fn an_integer_that_a_clock_bounds_is_one_of_few() {
    let (u, v) = (Datum::new("u", Type::Real), Datum::new("v", Type::Real));
    let of = |datum: &Datum| Term::datum(datum);
    let quarter = |count: i64| Term::literal(Value::Real(RBig::from(count) / RBig::from(4)));
    let n = Datum::new("n", Type::Int);
    let whole = of(&n).to_real();
    let at_most = |a: &Term, b: &Term| Term::compare(Comparison::AtMost, a, b);
    let less = |a: &Term, b: &Term| Term::compare(Comparison::Less, a, b);
    let since = Term::subtract(&of(&u), &of(&v));
    let twice = Term::multiply(&whole, &Term::literal(Value::Real(RBig::from(2))));
    let low = Term::add(&since, &quarter(1));
    let parts = |last: i64| {
        vec![
            less(&quarter(-3), &since),
            at_most(&since, &quarter(last)),
            at_most(&low, &whole),
            less(&twice, &Term::add(&low, &Term::add(&whole, &quarter(2)))),
            Term::compare(Comparison::NotEqual, &of(&n), &Term::int(1)),
        ]
    };
    let condition = eliminate_data(std::slice::from_ref(&n), &parts(9)).unwrap();
    assert!(!condition.mentions(&n), "{condition}");
    for count in -8..20 {
        let value = |count: i64| Value::Real(RBig::from(count) / RBig::from(8));
        let known = Valuation::from([(u.clone(), value(count + 3)), (v.clone(), value(3))]);
        let exists = (-9..9).any(|whole: i64| {
            let mut all = known.clone();
            all.insert(n.clone(), Value::int(whole));
            parts(9).iter().all(|part| holds(part, &all) == Ok(true))
        });
        assert_eq!(holds(&condition, &known), Ok(exists), "{condition} at {count}");
    }
    // Too many values to try, and then unknown ends.
    assert_eq!(eliminate_data(std::slice::from_ref(&n), &parts(400)), None);
    assert_eq!(eliminate_data(std::slice::from_ref(&n), &parts(9)[2..4]), None);
}

/// An output may tell whether a condition holds: `(p == 3) == flag`.
#[test]
fn an_equality_of_conditions_is_taken_away() {
    let mut random = RandomTerms::new(37);
    let (mut taken, mut both) = (0, [0, 0]);
    for _ in 0..rounds(80, 400) {
        let (a, b) = (random_part(&mut random, 0), random_part(&mut random, 0));
        let sign = if random.below(2) == 0 { Comparison::Equal } else { Comparison::NotEqual };
        let parts = [Term::compare(sign, &a, &b), random_part(&mut random, 0)];
        let Some(condition) = eliminate_data(&bound(), &parts) else { continue };
        taken += 1;
        for valuation in valuations() {
            let expected = exists(&parts, &valuation);
            both[usize::from(expected)] += 1;
            let found = evaluate(&condition, &valuation);
            assert_eq!(found, Ok(Value::Bool(expected)), "{condition} of {parts:?} in {valuation:?}");
        }
    }
    assert!(taken > 24 && both.iter().all(|count| *count > 40), "one-sided test: {taken} {both:?}");
}

/// Multiples, remainders of sums and choices, as in a model that counts modulo a number.
#[test]
fn what_counts_round_is_taken_away() {
    let mut random = RandomTerms::new(31);
    let (mut taken, mut both) = (0, [0, 0]);
    let side = |random: &mut RandomTerms| {
        let times = Term::int(random.below(4) as i64 + 1);
        let p = Term::multiply(&times, &Term::datum(&bound()[random.below(2) as usize]));
        let x = Term::datum(&free()[random.below(2) as usize]);
        let sum = if random.below(2) == 0 { Term::add(&x, &p) } else { Term::subtract(&p, &x) };
        let (of, number) = (Term::int(random.below(4) as i64 + 2), Term::int(random.below(3) as i64));
        let left = Term::arithmetic(Operator::Modulo, &sum, &of);
        match random.below(6) {
            0 => left,
            1 => Term::add(&left, &x),
            2 => Term::if_then_else(&Term::compare(Comparison::Less, &p, &x), &sum, &number),
            _ => p,
        }
    };
    let one = |random: &mut RandomTerms| {
        let (sign, side) = (comparison(random), side(random));
        let number = Term::int(random.below(7) as i64 - 3);
        match random.below(3) {
            0 => Term::equal(&side, &Term::add(&Term::datum(&free()[0]), &number)),
            1 => Term::equal(&side, &number),
            _ => Term::compare(sign, &side, &number),
        }
    };
    for _ in 0..400 {
        let parts: Vec<Term> = (0..=random.below(3)).map(|_| one(&mut random)).collect();
        let Some(condition) = eliminate_data(&bound(), &parts) else { continue };
        taken += 1;
        assert!(bound().iter().all(|datum| !condition.mentions(datum)), "{condition} of {parts:?}");
        for valuation in valuations() {
            let expected = exists(&parts, &valuation);
            both[usize::from(expected)] += 1;
            let found = evaluate(&condition, &valuation);
            assert_eq!(found, Ok(Value::Bool(expected)), "{condition} of {parts:?} in {valuation:?}");
        }
    }
    println!("{taken} {both:?}");
    assert!(taken > 340 && both.iter().all(|count| *count > 1000), "one-sided test: {taken} {both:?}");
}

#[test]
fn questions_with_quantifiers_are_answered_as_by_enumeration() {
    let mut random = RandomTerms::new(17);
    let mut solver = Z3Solver::default();
    let mut answers = [0, 0, 0];
    for round in 0..120 {
        let parts: Vec<Term> = (0..=random.below(3)).map(|_| random_part(&mut random, round % 3)).collect();
        let x = Term::datum(&free()[0]);
        let formula = [Term::compare(comparison(&mut random), &x, &Term::int(random.below(3) as i64 - 1))];
        let is_lacking =
            |valuation: &Valuation| holds(&formula[0], valuation) == Ok(true) && !exists(&parts, valuation);
        let expected = if valuations().iter().any(is_lacking) { Answer::Sat } else { Answer::Unsat };
        let answer = solver.check_none(&formula, &bound(), &parts);
        answers[answer as usize] += 1;
        assert!(answer == expected || answer == Answer::Unknown, "{answer:?}: {formula:?} {parts:?}");
    }
    assert!(answers[0] > 20 && answers[1] > 20 && answers[2] < 20, "one-sided test: {answers:?}");
}

#[test]
fn arrays_under_a_quantifier_are_unknown() {
    let p = Datum::new("p", array(range(0, 1), Type::Int));
    let cell = Term::select(&Term::datum(&p), &Term::int(0));
    let part = Term::compare(Comparison::Less, &cell, &Term::multiply(&cell, &Term::int(2)));
    assert_eq!(eliminate_data(std::slice::from_ref(&p), std::slice::from_ref(&part)), None);
    assert_eq!(Z3Solver::default().check_none(&[], &[p], &[part]), Answer::Unknown);
}

#[derive(Default)]
struct QuestionCounter {
    solver: Z3Solver,
    questions: usize,
    conjuncts: usize,
}

impl QuestionCounter {
    fn count(&mut self, formula: &[Term]) {
        self.questions += 1;
        self.conjuncts += formula.len();
    }
}

impl Solver for QuestionCounter {
    fn check(&mut self, formula: &[Term]) -> Answer {
        self.count(formula);
        self.solver.check(formula)
    }

    fn check_along(&mut self, path: &[Term]) -> Answer {
        self.count(path);
        self.solver.check_along(path)
    }

    fn check_none(&mut self, formula: &[Term], bound: &[Datum], parts: &[Term]) -> Answer {
        self.count(formula);
        self.solver.check_none(formula, bound, parts)
    }

    fn witness(&mut self, formula: &[Term]) -> Witness {
        self.count(formula);
        self.solver.witness(formula)
    }

    fn statistics(&self) -> Statistics {
        self.solver.statistics()
    }
}

/// A system with two integers at one location.
fn model(transitions: &str) -> String {
    format!(
        "iosts: counters\nvariables: {{ x: int, y: int }}\ninitial: {{ location: L, condition: x == 0 && y == 0 }}\n\
         inputs: {{ A: {{ p: int }}, B: {{}}, C: {{}} }}\noutputs: {{ Show: {{ q: int }} }}\ntransitions:\n{transitions}"
    )
}

fn grown(transitions: &str, limits: TreeLimits) -> (PathTree, QuestionCounter) {
    let source = SourceFile { name: "counters.yaml".to_owned(), text: model(transitions) };
    let (specification, _) = read_specification(source.into()).unwrap();
    let system = System::new(&specification.iosts);
    let mut solver = QuestionCounter::default();
    let tree = Growth::new(&system, limits).finish(&mut solver);
    (tree, solver)
}

#[test]
fn what_a_path_asks_grows_with_its_length_and_no_faster() {
    let asked = |depth| {
        let step = "  - { from: L, to: L, on: A, when: p > x, assign: { x: x + p } }\n";
        let (tree, solver) = grown(step, TreeLimits { depth, ..TreeLimits::default() });
        assert_eq!(tree.nodes.len(), depth + 1);
        (solver.questions, solver.conjuncts)
    };
    let (short, long) = (asked(60), asked(120));
    assert!(2 * long.0 <= 5 * short.0 && 2 * long.1 <= 5 * short.1, "{short:?}, then {long:?}");
}

#[test]
fn a_restriction_asks_little_for_each_node() {
    let limits = TreeLimits { depth: 60, is_restricted: true, ..TreeLimits::default() };
    let counting = |most: usize| {
        grown(
            &format!(
                "  - {{ from: L, to: L, on: B, when: x < {most}, assign: {{ x: x + 1 }} }}\n  \
                 - {{ from: L, to: L, on: C, when: y < {most}, assign: {{ y: y + 1 }} }}\n  \
                 - {{ from: L, to: L, on: Show, when: x + y == {most} && q == x, assign: {{ x: 0, y: 0 }} }}\n"
            ),
            limits,
        )
    };
    // Each state stands for more than the one before, and for other values.
    let widening = |depth: usize| {
        let step = "  - { from: L, to: L, on: A, when: p > 0 && p < 10, assign: { x: x + p } }\n";
        grown(step, TreeLimits { depth, ..limits })
    };
    for ((small, few), (large, more)) in [(counting(5), counting(10)), (widening(25), widening(50))] {
        assert!(2 * small.nodes.len() <= large.nodes.len() + 5);
        let of = |asked: usize, tree: &PathTree| asked as f64 / tree.nodes.len() as f64;
        assert!(
            of(more.questions, &large) <= 1.25 * of(few.questions, &small),
            "{} of {} nodes, then {} of {}",
            few.questions,
            small.nodes.len(),
            more.questions,
            large.nodes.len()
        );
    }
    assert!(counting(10).0.is_complete());
}

/// Precise: the multiples or remainders that a path has added are one symbol, however long it is.
#[test]
fn a_state_has_as_many_symbols_as_data() {
    let steps = ["x: x + 2 * p", "x: x + 3 * p, y: y - 1", "x: (x + p) mod 7", "x: if p > 3 then p else x"];
    for step in steps {
        let transition =
            format!("  - {{ from: L, to: L, on: A, when: p >= 0 && p <= 10, assign: {{ {step} }} }}\n");
        let text = model(&transition);
        let source = SourceFile { name: "counters.yaml".to_owned(), text };
        let (specification, _) = read_specification(source.into()).unwrap();
        let system = System::new(&specification.iosts);
        let mut projections = Projections::new(&specification.iosts);
        let mut at = projections.add(&SymbolicState::initial(&specification.iosts), true);
        let by = By::Transition(TransitionId(0));
        for _ in 0..8 {
            at = projections.step(&system, (at, true), by, None, &mut Z3Solver::default()).unwrap().0;
        }
        let symbols: std::collections::BTreeSet<Datum> =
            projections.get(at).condition.iter().flat_map(Term::data).collect();
        assert!(symbols.len() <= 2, "{step}: {:?}", projections.get(at));
    }
}

/// Soundness: a value that is a symbol in another writing gets one name, so that no other symbol is mixed up
/// with it.
#[test]
fn an_operation_that_is_a_symbol_has_one_name() {
    for value in ["max(p, p)", "same(p)", "min(p, p)"] {
        let text = format!(
            "iosts: m\nvariables: {{ v: 'int[0..1]' }}\n\
             functions: {{ same: {{ parameters: {{ x: int }}, result: int, is: x }} }}\n\
             initial: {{ location: l, condition: v == 1 }}\noutputs: {{ O: {{ p: 'int[0..1]' }} }}\ntransitions:\n\
             - {{ from: l, to: l, on: O, when: p != v && v != 5, assign: {{ v: '{value}' }} }}\n"
        );
        let file = SourceFile { name: "m".to_owned(), text };
        let iosts = read_specification(file.into()).unwrap().0.iosts;
        let limits = TreeLimits { depth: 5, ..TreeLimits::default() };
        let tree = Growth::new(&System::new(&iosts), limits).finish(&mut Z3Solver::default());
        assert!(tree.nodes.iter().all(|node| node.refuted.is_empty()), "{value}: a possible step is refuted");
    }
}
