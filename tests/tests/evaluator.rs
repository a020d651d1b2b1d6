//! The oracle's evaluator against the project's, where both must agree: on expressions that have a value
//! throughout.
//!
//! Each was written without the other (`tests/src/brute/expression.rs`, `model/src/term/evaluate.rs`). Of an
//! expression all of whose parts have a value, nothing that folds may change the value, so the two must say
//! the same of it; of any other one the project may, while its terms fold before obligations are known, only
//! say too much.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

use std::collections::BTreeMap;

use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::{Datum, Type, Value};
use coreach_tests::brute::artifact;
use coreach_tests::brute::expression::Expression;
use coreach_tests::brute::pair::Behaviour;
use coreach_tests::generator::random::Random;
use coreach_tests::generator::{Shape, generate};
use coreach_tests::source::{Model, read};
use coreach_tests::walker::walk;
use coreach_tests::{brute, text};

/// Does every part of the expression have a value, those that are not evaluated included?
fn is_total(expression: &Expression, places: &[brute::value::Value]) -> bool {
    let parts: Vec<&Expression> = match expression {
        Expression::Constant(_) | Expression::Place(_) => Vec::new(),
        Expression::Not(a) | Expression::Negate(a) | Expression::Field(a, _) => vec![a],
        Expression::And(parts)
        | Expression::Or(parts)
        | Expression::Implies(parts)
        | Expression::Made(_, parts) => parts.iter().collect(),
        Expression::Chain(first, rest) => {
            std::iter::once(&**first).chain(rest.iter().map(|(_, part)| part)).collect()
        }
        Expression::Arithmetic(_, a, b)
        | Expression::Select(a, b)
        | Expression::Joined(_, a, b)
        | Expression::Member(a, b)
        | Expression::Keyed(_, _, a, b)
        | Expression::Rest(_, a, b) => vec![a, b],
        Expression::Entries(_, before, given) => {
            before.as_deref().into_iter().chain(given.iter().flat_map(|(key, value)| [key, value])).collect()
        }
        Expression::Call(_, parts) => parts.iter().collect(),
        Expression::If(a, b, c) | Expression::Store(a, b, c) | Expression::Slice(a, b, c) => vec![a, b, c],
    };
    parts.into_iter().all(|part| is_total(part, places)) && expression.value(places).is_ok()
}

struct Seen {
    total: usize,
    partial: usize,
    told_apart: usize,
}

/// Compares the guards and values of one model, for some valuations of its data.
fn compare(
    random: &mut Random,
    own: &brute::machine::Machine,
    theirs: &coreach_model::Iosts,
    seen: &mut Seen,
) {
    for (step, transition) in own.steps.iter().zip(&theirs.transitions) {
        let parameters = &theirs.action(transition.action).parameters;
        let data: Vec<&Datum> = theirs.constants.iter().chain(&theirs.variables).chain(parameters).collect();
        let mut pairs = vec![(&step.guard, transition.guard.clone())];
        for (variable, expression) in &step.assign {
            // Where the reader kept `v := v` it said nothing.
            let datum = &theirs.variables[*variable];
            pairs.push((expression, coreach_model::Iosts::effect(transition, datum)));
        }
        for _ in 0..6 {
            let mut valuation = Valuation::new();
            for datum in &data {
                let values = match datum.ty() {
                    Type::String => ["", "a", "b\u{e9}", "ab\u{e9}", "1"].map(Value::string).to_vec(),
                    Type::Id(name) => ["id0", "a", "17", "id1"].map(|text| Value::id(name, text)).to_vec(),
                    ty => Value::enumerate(ty, 4096).unwrap(),
                };
                valuation.insert((*datum).clone(), random.pick(&values).unwrap().clone());
            }
            let places: Vec<_> = data.iter().map(|datum| artifact::value(&valuation[*datum])).collect();
            for (expression, term) in &pairs {
                let mine = expression.value(&places);
                let native = evaluate(term, &valuation);
                // An operation has the value of what it stands for, and has one exactly where that has one.
                let walked = walk(term, &valuation);
                assert_eq!(native.as_ref().ok(), walked.as_ref().ok(), "{term} with {valuation:?}");
                let lowered = term.lowered();
                assert_eq!(
                    evaluate(lowered, &valuation),
                    walk(lowered, &valuation),
                    "{term} with {valuation:?}"
                );
                let project = native.map(|value| artifact::value(&value));
                if is_total(expression, &places) {
                    seen.total += 1;
                    assert_eq!(mine.ok(), project.ok(), "{term} read of {expression:?} with {valuation:?}");
                } else {
                    seen.partial += 1;
                    seen.told_apart += usize::from(mine.ok() != project.ok());
                }
            }
        }
    }
}

#[test]
fn both_evaluators_agree_on_expressions_that_have_a_value() {
    let mut random = Random::new(7);
    let mut seen = Seen { total: 0, partial: 0, told_apart: 0 };
    for seed in 0..400 {
        // Drawn once: what happens in the pair does not matter here.
        let strings = if (300..360).contains(&seed) { 100 } else { 0 };
        let ids = if seed < 360 { 0 } else { 100 };
        let pair = generate(seed, &Shape { strings, ids, lively: 0, lookahead: 0, ..Shape::default() });
        let own = Behaviour::read(&text::specification(&pair), &text::purpose(&pair)).unwrap();
        let theirs = read(&pair).unwrap();
        compare(&mut random, &own.specification, &theirs.specification, &mut seen);
        compare(&mut random, &own.purpose.machine, &theirs.purpose.iosts, &mut seen);
    }
    println!("{} total, {} partial, told apart {}", seen.total, seen.partial, seen.told_apart);
    assert!(seen.total > 5_000 && seen.partial > 500, "{} total, {} partial", seen.total, seen.partial);
}

/// Soundness of what is written shortly: the oracle reads it by itself, from the same text. Every form of it
/// is written somewhere.
#[test]
fn both_evaluators_agree_on_what_is_written_shortly() {
    let mut random = Random::new(7);
    let mut seen = Seen { total: 0, partial: 0, told_apart: 0 };
    let mut written: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in (1_004..1_804).step_by(2) {
        let pair = generate(seed, &Shape { lively: 0, lookahead: 0, ..Shape::of(seed) });
        let (specification, purpose) = (text::specification(&pair), text::purpose(&pair));
        let own = Behaviour::read(&specification, &purpose).unwrap();
        let theirs = read(&pair).unwrap_or_else(|found| panic!("{found}\n{specification}\n{purpose}"));
        compare(&mut random, &own.specification, &theirs.specification, &mut seen);
        compare(&mut random, &own.purpose.machine, &theirs.purpose.iosts, &mut seen);
        for form in FORMS {
            *written.entry(form).or_default() +=
                usize::from((specification.clone() + &purpose).contains(form));
        }
    }
    println!("{} total, {} partial, told apart {}, {written:?}", seen.total, seen.partial, seen.told_apart);
    assert!(seen.total > 3_000 && seen.partial > 300, "{} total, {} partial", seen.total, seen.partial);
    assert!(written.values().all(|count| *count >= 5), "{written:?}");
}

const FORMS: [&str; 17] = [
    "len(",
    "contains(",
    "[1..]",
    " + [",
    "match ",
    " is ",
    "GOOD(",
    "all q in",
    "some q in",
    "count q in",
    "for all]",
    "Item {",
    " with {",
    "min(",
    "max(",
    "abs(",
    "functions:",
];

/// Every shape that folds is written somewhere, for text and trees must not have lost it.
#[test]
fn shapes_that_fold_are_written_everywhere() {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..600 {
        let pair = generate(seed, &Shape { lively: 0, lookahead: 0, ..Shape::default() });
        let halves: [(&str, &Model); 2] =
            [("specification", &pair.specification), ("purpose", &pair.purpose.model)];
        for (_, model) in halves {
            for (mark, what) in [(" div ", "div"), (" mod ", "mod"), ("[", "read"), (" := ", "store")] {
                let guards = model.transitions.iter().any(|step| step.guard.to_string().contains(mark));
                let values = model
                    .transitions
                    .iter()
                    .any(|step| step.assignments.values().any(|value| value.to_string().contains(mark)));
                *found.entry(what).or_default() += usize::from(guards) + usize::from(values);
            }
        }
        let initial = [&pair.specification.condition, &pair.purpose.model.condition];
        let folds = initial.iter().any(|tree| tree.to_string().contains(" div "));
        *found.entry("div in an initial condition").or_default() += usize::from(folds);
    }
    for what in ["div", "mod", "read", "store", "div in an initial condition"] {
        assert!(found.get(what).copied().unwrap_or(0) >= 20, "{what}: {found:?}");
    }
}

/// The examples of the model format, by hand.
#[test]
fn the_oracle_evaluates_what_the_model_format_says() {
    let specification = "iosts: m\nvariables: { x: \"int[-9..9]\", a: \"array[int[0..1]] of int[0..2]\" }\n\
        initial: { location: A, condition: \"x == 0 && a[0] == 0 && a[1] == 0\" }\noutputs: { o: {} }\n\
        transitions:\n  - { from: A, to: A, on: o, when: GUARD }\n";
    let fires = |guard: &str, x: i128| {
        // Strings stand in single quotes below, which the language does not have.
        let text = specification.replace("GUARD", &format!("\"{}\"", guard.replace('\'', "\\\"")));
        let machine = brute::text::specification(&text).unwrap().machine;
        let zero = brute::value::Value::integer(0);
        let mut state = brute::explore::solutions(&machine, &BTreeMap::new())[0].clone();
        assert_eq!(state[0], zero);
        state[0] = brute::value::Value::integer(x);
        let places = machine.places(&BTreeMap::new(), &state);
        machine.steps[0].fire(&machine, &places).is_some()
    };
    for (guard, at_zero, at_one) in [
        ("10 div x == 10 div x", false, true),
        ("10 div x - 10 div x == 0", false, true),
        ("10 mod x != 10 mod x || true", false, true),
        ("true || 10 div x == 1", true, true),
        ("10 div x == 1 || true", false, true),
        ("10 div x == 1 || !(10 div x == 1)", false, true),
        ("x == 0 || 10 div x > 1", true, true),
        ("false && 10 div x == 1 => false", true, true),
        ("(if 10 div x > 1 then 3 else 3) == 3", false, true),
        ("if x == 0 then true else 10 div x > 1", true, true),
        ("0 * (10 div x) == 0", false, true),
        ("!!(10 div x > 1)", false, true),
        ("1 < 0 < 10 div x => true", true, true),
        ("0 < 1 < 10 div x", false, true),
        ("a[x + 1 := 1][x + 1] == 1", true, false),
        ("a[0 := x + 2][1] == 0", true, false),
        ("a[x := a[x]] == a", true, true),
        ("a[x := 0] == a[x + 1 := 0]", true, false),
        ("1 / x == 1 / x", false, true),
        ("-7 div 2 == -4 && -7 mod 2 == 1 && -7 div -2 == 4 && -7 mod -2 == 1 && 7 div -2 == -3", true, true),
        ("1 / 2 + 0.5 == 1", true, true),
        ("'ab'[x] == 'b'", false, true),
        ("'ab'[x..2] == 'ab'", true, false),
        ("'ab'[2 * x..1] == 'a'", true, false),
        ("'a'[x + 1] == 'a' || true", false, false),
        ("len('a\u{e9}' + to_string(x)) == 3 && index_of('10', to_string(x)) == 1 - x", true, true),
        ("starts_with(to_string(x), '1') || ends_with(to_string(x), '0')", true, true),
        ("contains('01', to_string(-x)) && to_int('0' + to_string(x)) == x", true, false),
        ("matches('job-' + to_string(x), '[a-z]+-(?:0|2)') && !matches('a', 'b?')", true, false),
        ("to_int('') == -1 && to_int('-1') == -1 && 'a' < 'ab' < 'b'", true, true),
    ] {
        assert_eq!((fires(guard, 0), fires(guard, 1)), (at_zero, at_one), "{guard}");
    }
}
