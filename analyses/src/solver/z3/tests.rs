//! Tests of the solver against enumeration, of its witnesses by evaluation, and of its limits by a hard
//! question.

use coreach_model::obligation::{defined, enabling_condition};
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::term::node::{Comparison, Operator};
use coreach_model::term::{literals, substitute};

use super::*;
use crate::solver::random::{RandomTerms, array, datum, is_satisfiable, known_formulas};
use crate::solver::{may_hold, must_hold};
use coreach_model::Type;

fn int(name: &str) -> Term {
    datum(name, Type::Int)
}

fn compare(comparison: Comparison, a: &Term, b: &Term) -> Term {
    Term::compare(comparison, a, b)
}

/// `a^3 + b^3 + c^3 == 33`: nobody solves it in a second.
fn cubes() -> Term {
    let cube = |name: &str| Term::multiply(&Term::multiply(&int(name), &int(name)), &int(name));
    Term::equal(&Term::add(&Term::add(&cube("a"), &cube("b")), &cube("c")), &Term::int(33))
}

#[test]
fn answers_are_those_of_enumeration() {
    let mut random = RandomTerms::new(3);
    let mut solver = Z3Solver::default();
    let mut counts = [0, 0];
    for _ in 0..250 {
        let terms = [random.boolean(3), random.boolean(3), random.boolean(2)];
        let expected = is_satisfiable(&terms);
        counts[usize::from(expected)] += 1;
        let answer = if expected { Answer::Sat } else { Answer::Unsat };
        assert_eq!(solver.check(&terms), answer, "{terms:?}");
        let witness = solver.witness(&terms);
        assert_eq!(matches!(witness, Witness::Found(_)), expected, "{terms:?}: {witness:?}");
    }
    assert!(counts[0] > 5 && counts[1] > 5, "one-sided test: {counts:?}");
}

#[test]
fn answers_along_paths_are_those_without_a_history() {
    let mut random = RandomTerms::new(5);
    let mut solver = Z3Solver::default();
    let mut path = Vec::new();
    let mut counts = [0, 0];
    for _ in 0..400 {
        // A walk through a tree: back some steps, and one on.
        path.truncate(random.below(path.len() as u64 + 2) as usize);
        path.push(random.boolean(3));
        let expected = is_satisfiable(&path);
        counts[usize::from(expected)] += 1;
        assert_eq!(solver.check_along(&path) == Answer::Sat, expected, "{path:?}");
    }
    assert!(counts[0] > 20 && counts[1] > 20, "one-sided test: {counts:?}");
}

#[test]
fn witnesses_have_every_datum_in_its_type() {
    let mut solver = Z3Solver::default();
    for (terms, expected) in known_formulas() {
        match solver.witness(&terms) {
            Witness::Found(valuation) => {
                assert_eq!(expected, Answer::Sat, "{terms:?}");
                for datum in Term::and(terms.iter().cloned()).data() {
                    assert!(valuation[&datum].is_in(datum.ty()), "{datum} in {valuation:?}");
                }
            }
            Witness::None => assert_eq!(expected, Answer::Unsat, "{terms:?}"),
            Witness::Unknown => panic!("{terms:?}"),
        }
    }
}

#[test]
fn witnesses_are_small_where_they_can_be() {
    let (x, y) = (int("x"), int("y"));
    let mut solver = Z3Solver::default();
    let positive = compare(Comparison::Greater, &x, &y);
    let Witness::Found(valuation) = solver.witness(&[positive]) else { panic!() };
    assert!(valuation.values().all(|value| value.is_in(&Type::Range((-10).into(), 10.into()))));
    let large = compare(Comparison::Greater, &x, &Term::int(1_000));
    assert!(matches!(solver.witness(&[large]), Witness::Found(_)));
}

#[test]
fn answers_are_remembered_by_set() {
    let (x, y) = (int("x"), int("y"));
    let (a, b) = (compare(Comparison::Less, &x, &y), compare(Comparison::Less, &y, &x));
    let mut solver = Z3Solver::default();
    assert_eq!(solver.check(&[a.clone(), b.clone()]), Answer::Unsat);
    assert_eq!(solver.check(&[b.clone(), Term::yes(), a.clone(), b.clone()]), Answer::Unsat);
    assert_eq!(solver.check(&[Term::and([b, a.clone()])]), Answer::Unsat);
    assert_eq!(solver.check(&[Term::no(), a]), Answer::Unsat);
    assert_eq!(solver.check(&[]), Answer::Sat);
    let expected = Statistics { queries: 5, remembered: 4, unknown: 0, timed_out: 0 };
    assert_eq!(solver.statistics(), expected);
}

#[test]
fn both_limits_stop_and_unknown_errs_to_the_safe_side() {
    let hard = [cubes()];
    let mut solver = Z3Solver::new(QueryLimits { rlimit: 100_000, milliseconds: 0 });
    assert_eq!(solver.check(&hard), Answer::Unknown);
    assert_eq!(solver.witness(&hard), Witness::Unknown);
    assert!(may_hold(&mut solver, &hard));
    assert!(!must_hold(&mut solver, &hard, &Term::equal(&int("a"), &int("b"))));
    assert_eq!(solver.statistics().timed_out, 0);
    assert!(solver.statistics().unknown >= 3);
    let mut solver = Z3Solver::new(QueryLimits { rlimit: 0, milliseconds: 100 });
    assert_eq!(solver.check(&hard), Answer::Unknown);
    assert_eq!(solver.statistics().timed_out, 1);
    // It still works afterwards.
    assert_eq!(solver.check(&[compare(Comparison::Less, &int("a"), &int("b"))]), Answer::Sat);
}

/// Soundness: after a budget has ended a question, nothing of it is left in the solver.
#[test]
fn a_question_that_a_budget_ends_leaves_nothing_behind() {
    let mut solver = Z3Solver::new(QueryLimits { rlimit: 100_000, milliseconds: 0 });
    let (a, b) = (int("a"), int("b"));
    let above = compare(Comparison::Greater, &a, &Term::int(5));
    let hard = [cubes(), above];
    let budget = Budget::new("test", Some(budget::Limit::Work(1)), false);
    assert!(budget::within(&budget, || solver.check(&hard)).is_err());
    let budget = Budget::new("test", Some(budget::Limit::Work(1)), false);
    assert!(budget::within(&budget, || solver.witness(&hard)).is_err());
    let product = Term::equal(&Term::multiply(&a, &b), &Term::int(6));
    assert_eq!(solver.check(&[product, Term::equal(&a, &Term::int(2))]), Answer::Sat);
}

#[test]
fn what_has_no_value_here_is_unknown_as_a_witness() {
    let real = datum("r", Type::Real);
    let square = Term::equal(&Term::multiply(&real, &real), &Term::int(2).to_real());
    let mut solver = Z3Solver::default();
    assert_eq!(solver.check(std::slice::from_ref(&square)), Answer::Sat);
    assert_eq!(solver.witness(&[square]), Witness::Unknown);
    let zero = Term::equal(&int("x"), &Term::int(0));
    let quotient = Term::arithmetic(Operator::IntegerDivide, &Term::int(10), &int("x"));
    let undefined = [zero, Term::equal(&quotient, &Term::int(3))];
    assert_eq!(solver.check(&undefined), Answer::Sat);
    assert_eq!(solver.witness(&undefined), Witness::Unknown);
}

#[test]
fn arrays_over_infinite_indices_come_back_whole() {
    let a = datum("a", array(Type::Nat, Type::Int));
    let at = |index: i32| Term::select(&a, &Term::int(index));
    let terms = [
        Term::equal(&at(3), &Term::int(30)),
        Term::equal(&at(5), &Term::int(50)),
        Term::equal(&Term::select(&a, &int("i")), &Term::int(70)),
        compare(Comparison::Greater, &int("i"), &Term::int(100)),
    ];
    let Witness::Found(valuation) = Z3Solver::default().witness(&terms) else { panic!() };
    assert_eq!(evaluate(&at(5), &valuation), Ok(Value::int(50)));
}

#[test]
fn data_of_one_name_and_different_types_are_different() {
    let terms = [Term::equal(&int("x"), &Term::int(-1)), Term::equal(&datum("x", Type::Nat), &Term::int(1))];
    assert_eq!(Z3Solver::default().check(&terms), Answer::Sat);
}

#[test]
fn records_of_one_name_and_two_solvers_share_a_thread() {
    for (terms, expected) in known_formulas() {
        assert_eq!(Z3Solver::default().check(&terms), expected);
    }
}

#[test]
fn versions_are_compared_by_number() {
    assert_eq!(version_problem(), None);
    assert_eq!(problem_of_version("4.13.3.0"), None);
    assert_eq!(problem_of_version("Z3 5.4.0.0"), None);
    assert!(problem_of_version("4.8.12.0").is_some_and(|text| text.lines().count() == 2));
    assert!(problem_of_version("").is_some());
}

/// Prints the cost of a query. It fails at no speed. Run with `--release -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn cost_per_query() {
    let (x, y, z) = (int("x"), int("y"), datum("z", Type::Nat));
    let queries: Vec<Vec<Term>> = (0..1000)
        .map(|i| {
            vec![
                compare(Comparison::AtLeast, &x, &Term::add(&y, &Term::int(i % 7))),
                compare(Comparison::AtMost, &Term::add(&Term::add(&x, &y), &z), &Term::int(i)),
                compare(Comparison::Greater, &z, &x),
            ]
        })
        .collect();
    let mut solver = Z3Solver::default();
    for round in ["new", "remembered"] {
        let start = Instant::now();
        for query in &queries {
            assert_eq!(solver.check(query), Answer::Sat);
        }
        println!("check, {round}: {:?} per query", start.elapsed() / 1000);
    }
    let start = Instant::now();
    for query in &queries {
        assert!(matches!(solver.witness(query), Witness::Found(_)));
    }
    println!("witness: {:?} per query", start.elapsed() / 1000);
}

/// Precision: a guard asks that its call has a value. The form of this condition need not mention the data of
/// the call, but they have values too.
#[test]
fn a_witness_has_data_that_stand_in_operations_only() {
    let text = "
iosts: m
types: { Slot: 'int[0..2]' }
variables: { v: 'array[Slot] of nat', w: 'array[Slot] of string' }
functions:
  is: { parameters: { s: int, id: int, body: string }, is: 'id == v[s] && body == w[s]' }
initial: { location: A, condition: 'v == [1 for all] && w == [\"\" for all]' }
outputs: { Done: { p: nat, b: string } }
transitions:
  - { from: A, to: A, on: Done, when: 'is(1, p, b)' }
  - { from: A, to: A, on: Done, when: 'some s in 0..2: is(s, p, b)' }
";
    let file = from_bytes("m".to_owned(), text.as_bytes().to_vec()).unwrap();
    let iosts = read_specification(file).unwrap().0.iosts;
    let values = Z3Solver::default().witness(&iosts.initial_condition.conjuncts());
    let Witness::Found(valuation) = values else { panic!("{values:?}") };
    for transition in &iosts.transitions {
        let guard = substitute(&enabling_condition(transition), &literals(&valuation));
        let found = Z3Solver::default().witness(&guard.conjuncts());
        assert!(matches!(found, Witness::Found(_)), "{guard}: {found:?}");
        let is_defined = defined(&transition.guard);
        let found = Z3Solver::default().witness(std::slice::from_ref(&is_defined));
        assert!(matches!(found, Witness::Found(_)), "{is_defined}: {found:?}");
    }
}

/// Soundness and precision: numbers stand for strings that are only compared, in the same order. Between two
/// literals is a string if it is needed, unless a literal has the character 0.
#[test]
fn compared_strings_are_decided_as_by_enumeration() {
    const LITERALS: [&str; 6] = ["", "a", "a ", "ab", "b", "\u{e9}"];
    let mut values: Vec<Value> = Vec::new();
    for literal in LITERALS {
        values.extend(["", "\0", "\0\0"].map(|later| Value::string(&format!("{literal}{later}"))));
    }
    let (s, t) = (Datum::new("s", Type::String), Datum::new("t", Type::String));
    let (mut random, mut solver, mut counts) = (RandomTerms::new(7), Z3Solver::default(), [0, 0]);
    for _ in 0..300 {
        let mut term = || match random.below(10) {
            0..4 => Term::datum(&s),
            4..8 => Term::datum(&t),
            _ => Term::literal(Value::string(LITERALS[random.below(6) as usize])),
        };
        let terms: Vec<Term> = (0..4)
            .map(|_| [term(), term()])
            .zip([0, 1, 1, 0])
            .map(|([a, b], is_less)| {
                compare(if is_less == 1 { Comparison::Less } else { Comparison::AtMost }, &a, &b)
            })
            .collect();
        let holds = |a: &Value, b: &Value| {
            let valuation = Valuation::from([(s.clone(), a.clone()), (t.clone(), b.clone())]);
            terms.iter().all(|term| evaluate(term, &valuation) == Ok(Value::Bool(true)))
        };
        let expected = values.iter().any(|a| values.iter().any(|b| holds(a, b)));
        counts[usize::from(expected)] += 1;
        let answer = if expected { Answer::Sat } else { Answer::Unsat };
        assert_eq!(solver.check(&terms), answer, "{terms:?}");
    }
    assert!(counts[0] > 20 && counts[1] > 20, "one-sided test: {counts:?}");
    let between = |low: &str, high: &str| {
        let [low, high] = [low, high].map(|text| Term::literal(Value::string(text)));
        let s = Term::datum(&s);
        [compare(Comparison::Less, &low, &s), compare(Comparison::Less, &s, &high)]
    };
    assert_ne!(Z3Solver::default().check(&between("a", "a\0")), Answer::Sat);
    assert_ne!(Z3Solver::default().check(&between("a", "a\0a")), Answer::Unsat);
}

/// Precision: the keys of a map are strings in ascending order, and its values are records and lists.
#[test]
fn maps_with_strings_as_keys_are_decided() {
    let text = "
iosts: m
types:
  User: [ANN, BEN]
  Version: { text: string, by: User }
  File: { past: 'list[4] of Version', lock: 'option[User]', readers: 'set[User]' }
variables: { v: 'map[4] of string to File' }
initial: { location: A, condition: 'len(v) == 0' }
inputs: { Read: { user: User, name: string } }
transitions:
  - { from: A, to: A, on: Read, when: name in v }
  - { from: A, to: A, on: Read, when: 'name in v && user in v[name].readers && len(v) == 4' }
  - { from: A, to: A, on: Read, when: 'name in v && len(v[name].past) > 1 && v[name].past[0].by != user' }
  - { from: A, to: A, on: Read, when: 'name in v && len(v) == 0' }
  - { from: A, to: A, on: Read, when: 'name in v && v[name].lock == some(user) && v[name].lock == none' }
";
    let file = from_bytes("m".to_owned(), text.as_bytes().to_vec()).unwrap();
    let iosts = read_specification(file).unwrap().0.iosts;
    let guards = iosts.transitions.iter().map(|transition| transition.guard.conjuncts());
    let answers: Vec<Answer> = guards.map(|guard| Z3Solver::default().check(&guard)).collect();
    assert_eq!(answers, [Answer::Sat, Answer::Sat, Answer::Sat, Answer::Unsat, Answer::Unsat]);
}

/// Precision: the strings of a guard come from the guard if Z3 finds the other values for them. Z3 alone
/// finds other strings in each process. Soundness: the guard holds for the values.
#[test]
fn strings_are_chosen_without_z3() {
    let text = "
iosts: m
types:
  Line: { quantity: int }
  Order: { by: string, lines: 'list[2] of Line' }
variables: { orders: 'map[4] of int to Order' }
initial: { location: A, condition: 'orders == []' }
inputs: { Add: { by: string, lines: 'list[2] of Line', key: int } }
transitions:
  - from: A
    to: A
    on: Add
    when: 'matches(by, \"[a-c]{2,3}\") && len(lines) >= 1 && (all l in lines: 3 <= l.quantity) && key > 99'
    assign: { orders: 'orders[key := Order { by: by, lines: lines }]' }
";
    let file = from_bytes("m".to_owned(), text.as_bytes().to_vec()).unwrap();
    let iosts = read_specification(file).unwrap().0.iosts;
    let empty: Valuation =
        iosts.variables.iter().map(|datum| (datum.clone(), Value::any(datum.ty()))).collect();
    let transition = iosts.transitions.iter().next().unwrap();
    let guard = substitute(&enabling_condition(transition), &literals(&empty)).conjuncts();
    let mut solver = Z3Solver::default();
    let prepared = solver.prepare(&guard);
    assert_eq!(try_string_values(&guard, &prepared), None);
    let found = solver.find_with_mentioned_strings(&guard, &prepared).unwrap();
    assert!(guard.iter().all(|conjunct| evaluate(conjunct, &found) == Ok(Value::Bool(true))), "{found:?}");
}
