//! Facts with congruences: how they read, that their chains are proofs, and what each half tells the other.

use coreach_analyses::inductive::chain;
use coreach_analyses::solver::must_hold;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::{Analysis, DomainKind, analyse};
use coreach_model::term::node::Operator;
use coreach_model::{Datum, Iosts, Term, Type};

use super::build::{Builder, cmp, t};

fn plus(datum: &Datum, more: i64) -> Term {
    Term::add(&t(datum), &Term::int(more))
}

fn modulo(term: &Term, modulus: i64) -> Term {
    Term::arithmetic(Operator::Modulo, term, &Term::int(modulus))
}

/// What is reached, and what can still get to the last location, with this domain; the chain is proved.
fn facts(model: &Iosts, domain: DomainKind) -> [Vec<String>; 2] {
    let mut accepting = vec![false; model.locations.len()];
    accepting[model.locations.len() - 1] = true;
    let facts = analyse(model, &accepting, &Analysis { domain, ..Analysis::default() });
    let mut solver = Z3Solver::default();
    for obligation in chain(model, &accepting, &facts.chain, &facts.coreach) {
        assert!(must_hold(&mut solver, &obligation.premises, &obligation.conclusion), "{obligation:?}");
    }
    [facts.reach, facts.coreach].map(|facts| facts.iter().map(Term::to_string).collect())
}

fn texts(facts: &[String]) -> Vec<&str> {
    facts.iter().map(String::as_str).collect()
}

/// Steps of two while below a bound, and a way out at a number.
fn strides(below: i64, exit: i64) -> Iosts {
    let v = Datum::new("v", Type::Int);
    let mut model = Builder::new(&[], &[&v], cmp(t(&v), "==", Term::int(0)), &["l0", "l1"]);
    let a = model.action("A", &[]);
    model.transition("l0", a, cmp(t(&v), "<", Term::int(below)), &[(&v, plus(&v, 2))], "l0");
    model.transition("l0", a, cmp(t(&v), "==", Term::int(exit)), &[], "l1");
    model.0
}

#[test]
fn a_parity_is_a_fact() {
    let [reach, _] = facts(&strides(100, 7), DomainKind::Congruence);
    assert_eq!(texts(&reach), ["v mod 2 == 0", "false"]);
    let [reach, coreach] = facts(&strides(100, 7), DomainKind::PolyhedraCongruence);
    assert_eq!(texts(&reach), ["v >= 0 && v <= 100 && v mod 2 == 0", "false"]);
    assert_eq!(texts(&coreach), ["false", "false"]);
    let [reach, _] = facts(&strides(100, 7), DomainKind::Polyhedra);
    assert_eq!(texts(&reach), ["v >= 0 && v <= 101", "v == 7"]);
}

#[test]
fn a_bound_moves_to_the_next_number_of_the_class() {
    for domain in
        [DomainKind::IntervalCongruence, DomainKind::OctagonCongruence, DomainKind::PolyhedraCongruence]
    {
        // 98 is the last from which a step is taken, not 99.
        let [reach, _] = facts(&strides(100, 101), domain);
        assert_eq!(texts(&reach), ["v >= 0 && v <= 100 && v mod 2 == 0", "false"], "{domain}");
    }
}

#[test]
fn equalities_and_classes_of_several_numbers_are_said_once() {
    let (x, y, z) = (Datum::new("x", Type::Int), Datum::new("y", Type::Int), Datum::new("z", Type::Int));
    let zero = [&x, &y, &z].map(|datum| cmp(t(datum), "==", Term::int(0)));
    let mut model = Builder::new(&[], &[&x, &y, &z], Term::and(zero), &["l0"]);
    let a = model.action("A", &[]);
    model.transition("l0", a, Term::yes(), &[(&x, plus(&x, 1)), (&y, plus(&y, 2))], "l0");
    model.transition("l0", a, Term::yes(), &[(&z, Term::subtract(&t(&z), &Term::int(3)))], "l0");
    let [reach, _] = facts(&model.0, DomainKind::Congruence);
    assert_eq!(texts(&reach), ["2 * x == y && z mod 3 == 0"]);
    let [reach, _] = facts(&model.0, DomainKind::PolyhedraCongruence);
    assert_eq!(texts(&reach), ["2 * x == y && y >= 0 && z <= 0 && z mod 3 == 0"]);
    // x + y is even, and neither is.
    let mut model = Builder::new(&[], &[&x, &y], cmp(t(&x), "==", t(&y)), &["l0"]);
    let a = model.action("A", &[]);
    model.transition("l0", a, Term::yes(), &[(&x, plus(&x, 2))], "l0");
    let [reach, _] = facts(&model.0, DomainKind::PolyhedraCongruence);
    assert_eq!(texts(&reach), ["x >= y && (x + y) mod 2 == 0"]);
}

#[test]
fn guards_and_values_with_mod_and_div_are_cases() {
    let (v, h) = (Datum::new("v", Type::Int), Datum::new("h", Type::Int));
    let start = [&v, &h].map(|datum| cmp(t(datum), "==", Term::int(0)));
    let mut model = Builder::new(&[], &[&v, &h], Term::and(start), &["l0", "l1", "l2"]);
    let a = model.action("A", &[]);
    let (next, half) =
        (modulo(&plus(&v, 5), 12), Term::arithmetic(Operator::IntegerDivide, &t(&v), &Term::int(-2)));
    model.transition("l0", a, cmp(modulo(&t(&v), 4), "!=", Term::int(3)), &[(&v, next)], "l0");
    model.transition("l0", a, cmp(modulo(&t(&v), 4), "<", Term::int(1)), &[(&h, half)], "l1");
    model.transition("l1", a, cmp(modulo(&t(&h), 2), "==", Term::int(1)), &[], "l2");
    let [reach, _] = facts(&model.0, DomainKind::PolyhedraCongruence);
    assert_eq!(reach[2], "false");
}

#[test]
fn a_parameter_that_is_doubled_leaves_a_class() {
    let (v, p) = (Datum::new("v", Type::Int), Datum::new("p", Type::Int));
    let mut model = Builder::new(&[], &[&v], cmp(t(&v), "==", Term::int(1)), &["l0", "l1"]);
    let (a, b) = (model.action("A", &[&p]), model.action("B", &[&p]));
    let twice = Term::multiply(&Term::int(2), &t(&p));
    model.transition("l0", a, Term::yes(), &[(&v, Term::add(&t(&v), &twice))], "l0");
    // What is sent is half of what there is: of an odd number there is none.
    model.transition("l0", b, cmp(t(&v), "==", twice), &[], "l1");
    let [reach, _] = facts(&model.0, DomainKind::PolyhedraCongruence);
    assert_eq!(texts(&reach), ["v mod 2 == 1", "false"]);
}

#[test]
fn a_class_stays_where_a_parameter_goes_away() {
    let (v, p) = (Datum::new("v", Type::Int), Datum::new("p", Type::Nat));
    let mut model = Builder::new(&[], &[&v], Term::yes(), &["l0", "l1"]);
    let a = model.action("A", &[&p]);
    let guard = Term::and([cmp(modulo(&plus(&v, 1), 3), "==", Term::int(0)), cmp(t(&p), "==", t(&v))]);
    model.transition("l0", a, guard, &[], "l1");
    let [reach, coreach] = facts(&model.0, DomainKind::PolyhedraCongruence);
    assert_eq!(texts(&reach), ["true", "v >= 2 && v mod 3 == 2"]);
    assert_eq!(coreach, ["v >= 2 && v mod 3 == 2", "v >= 2 && v mod 3 == 2"]);
}

#[test]
fn reals_have_no_classes_and_lose_none() {
    let (v, r) = (Datum::new("v", Type::Int), Datum::new("r", Type::Real));
    let start = [cmp(t(&v), "==", Term::int(0)), cmp(t(&r), "==", Term::int(0).to_real())];
    let mut model = Builder::new(&[], &[&v, &r], Term::and(start), &["l0", "l1"]);
    let a = model.action("A", &[]);
    let more = Term::add(&t(&r), &Term::int(2).to_real());
    model.transition("l0", a, Term::yes(), &[(&r, more)], "l0");
    model.transition("l0", a, cmp(t(&v).to_real(), "==", t(&r)), &[], "l1");
    model.transition("l1", a, Term::yes(), &[(&v, plus(&v, 2))], "l1");
    for domain in [DomainKind::Congruence, DomainKind::PolyhedraCongruence] {
        let [reach, _] = facts(&model.0, domain);
        assert!(reach.iter().all(|fact| !fact.contains("to_real(r) mod")), "{reach:?}");
    }
}

/// *Soundness*: a remainder of a real is no term.
#[test]
fn sound_no_remainder_of_a_real_that_is_whole() {
    let (x, n, r) = (Datum::new("x", Type::Int), Datum::new("n", Type::Int), Datum::new("r", Type::Real));
    let even = cmp(modulo(&Term::add(&t(&x), &t(&n)), 2), "==", Term::int(0));
    let start = Term::and([cmp(t(&n).to_real(), "==", t(&r)), even]);
    let model = Builder::new(&[], &[&x, &n, &r], start, &["l0"]);
    for domain in [DomainKind::Congruence, DomainKind::PolyhedraCongruence] {
        let [reach, _] = facts(&model.0, domain);
        assert!(!reach[0].contains("2.0"), "{reach:?}");
    }
}

#[test]
fn many_cases_say_their_classes_in_clauses() {
    // In each of sixteen cells v has a class of its own.
    let flags: Vec<Datum> = (0..4).map(|at| Datum::new(format!("b{at}"), Type::Bool)).collect();
    let v = Datum::new("v", Type::Int);
    let said = (0..16i64).map(|cell| {
        let of = |at: usize| if cell >> at & 1 == 1 { t(&flags[at]) } else { t(&flags[at]).not() };
        Term::and((0..4).map(of).chain([cmp(modulo(&t(&v), 16), "==", Term::int(cell))]))
    });
    let variables: Vec<&Datum> = flags.iter().chain([&v]).collect();
    let mut model = Builder::new(&[], &variables, Term::or(said.collect::<Vec<_>>()), &["l0"]);
    let a = model.action("A", &[]);
    model.transition("l0", a, Term::yes(), &[(&v, plus(&v, 32))], "l0");
    let [reach, _] = facts(&model.0, DomainKind::PolyhedraCongruence);
    assert_eq!(reach[0].matches("v mod 16 ==").count(), 16, "{}", reach[0]);
}
