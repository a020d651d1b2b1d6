//! Chosen values satisfy the guard, whatever the guard, and vary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::BTreeSet;
use std::sync::Arc;

use coreach_analyses::solver::Answer;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::random::Random;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::fire;
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::node::Comparison;
use coreach_model::{Iosts, SourceFile, TransitionId};

use super::tried::TriedGuard;
use super::*;

/// A model with one stimulus of two parameters and this guard.
fn model(types: &str, a: &str, b: &str, guard: &str) -> Iosts {
    let text = format!(
        "iosts: m\n{types}variables: {{ v: int }}\ninitial: {{ location: l, condition: v == 5 }}\n\
         inputs: {{ I: {{ a: \"{a}\", b: \"{b}\" }} }}\noutputs: {{ O: {{}} }}\ntransitions:\n\
         - {{ from: l, to: l, on: I, when: \"{guard}\" }}\n- {{ from: l, to: l, on: O }}\n"
    );
    let file: Arc<SourceFile> = from_bytes("m".to_owned(), text.into_bytes()).unwrap();
    read_specification(file).unwrap().0.iosts
}

fn choose_all(iosts: &Iosts, mix: Mix, runs: u64) -> (BTreeSet<Vec<String>>, BTreeMap<Pick, usize>, usize) {
    let mut solver = Z3Solver::default();
    let mut values = Values::new(mix);
    values.begin(&[]);
    let state = coreach_model::semantics::initial_states(iosts, &Valuation::new(), 10).unwrap().remove(0);
    let transition = &iosts.transitions[TransitionId(0)];
    let parameters = &iosts.action(transition.action).parameters;
    let (mut seen, mut none) = (BTreeSet::new(), 0);
    for seed in 0..runs {
        let mut random = Random::new(seed);
        let found = values.choose(&transition.guard, parameters, &state.valuation, &mut random, &mut solver);
        let Some(found) = found else {
            none += 1;
            continue;
        };
        assert!(fire(iosts, transition, &state, &found).is_some(), "{found:?}");
        values.remember_values(&found);
        seen.insert(found.iter().map(ToString::to_string).collect());
    }
    (seen, values.end(), none)
}

/// Soundness: what is remembered of a guard is not used for an action that has the same guard with other
/// parameters, or with the same in another order.
#[test]
fn one_guard_of_two_actions_has_outcomes_for_each() {
    let guard = "k in m && (n == v || n == m[k])";
    let text = format!(
        "iosts: m\nvariables: {{ m: 'map[3] of int to int', v: int }}\n\
         initial: {{ location: l, condition: 'm == [7: 12345] && v == 67890' }}\n\
         inputs: {{ A: {{ k: int, n: int, x: int, t: string }}, B: {{ n: int, k: int }} }}\noutputs: {{ O: {{}} }}\ntransitions:\n\
         - {{ from: l, to: l, on: A, when: '{guard}' }}\n- {{ from: l, to: l, on: B, when: '{guard}' }}\n- {{ from: l, to: l, on: O }}\n"
    );
    let iosts = read_specification(from_bytes("m".to_owned(), text.into_bytes()).unwrap()).unwrap().0.iosts;
    let state = coreach_model::semantics::initial_states(&iosts, &Valuation::new(), 10).unwrap().remove(0);
    let (mut values, mut solver) = (Values::new(MIX), Z3Solver::default());
    values.begin(&[]);
    for seed in 0..40 {
        let transition = &iosts.transitions[TransitionId(seed % 2)];
        let parameters = &iosts.action(transition.action).parameters;
        let mut random = Random::new(seed.into());
        for guard in TriedGuard::list(&transition.guard, parameters) {
            let found = values.choose_by_trial(&guard, &[], &state.valuation, &mut random, &mut solver);
            let found = found.map(|found| guard.split().join_values(found)).unwrap();
            assert!(fire(&iosts, transition, &state, &found).is_some(), "{found:?}");
        }
    }
}

/// Soundness: nothing is chosen that the guard does not allow, and where there is something, it is found.
#[test]
fn what_is_chosen_satisfies_the_guard() {
    let enumeration = "types: { T: [x, y, z], R: { f: int, g: bool } }\n";
    for (types, a, b, guard, least) in [
        ("", "int", "int", "a > v && b == a + v", 20),
        ("", "int[0..9]", "nat", "a + b == 12 && b > a", 3),
        ("", "int", "int", "a * a == 49 && b != a", 2),
        ("", "int", "int", "a mod 7 == 3 && a > 1000 && b div 2 == a", 5),
        ("", "real", "real", "0 < a && a < b && b < 1", 10),
        ("", "bool", "int", "(if a then b > 10 else b < -10)", 20),
        (enumeration, "T", "int", "a != x && (a == y => b == v) && b >= 0", 8),
        (enumeration, "R", "int", "a.f == b && a.g && b > 3", 3),
        ("", "int", "int", "a == 9223372036854775808 && b == -a", 1),
        ("", "int", "int", "a == 17 || a == 1000000 && b == 3", 5),
        ("", "array[int] of int", "int", "a[b] == 4 && b > 0", 1),
        ("", "array[int] of int", "int[1..4]", "b != 2", 30),
        ("", "int[1..4]", "int[0..1000]", "a * b > 3000", 4),
        ("", "string", "int[0..9]", r#"a == \"abcdef\"[b..b + 2]"#, 3),
        ("", "string", "string", r#"b == a + \"!\""#, 20),
        ("", "array[int] of int", "array[int] of int", "a == b", 2),
        (
            "types: { Out: [Cured, Sent: { ward: string }] }\n",
            "Out",
            "int[0..1]",
            r#"match a: Cured -> true | Sent(w) -> w in {\"ENT\", \"Ward 3\"}"#,
            3,
        ),
        (
            "types: { Out: [Cured, Sent: { to: string, days: nat }] }\n",
            "Out",
            "option[int]",
            r#"(match a: Cured -> b is some | Sent(t, d) -> matches(t, \"[A-Z]{2}\") && d > v) && (match b: some(x) -> x < 900 | none -> true)"#,
            40,
        ),
        (
            "",
            "set[3] of string",
            "int[0..9]",
            r#"a <= {\"bb.org\", \"pig\"} && (all n in ({\"bb.org\", \"pig\"}: set[3] of string): (n in a) == ends_with(n, \"g\"))"#,
            10,
        ),
    ] {
        let iosts = model(types, a, b, guard);
        let (seen, _, none) = choose_all(&iosts, MIX, 60);
        assert_eq!(none, 0, "{guard}");
        assert!(seen.len() >= least, "{guard}: {seen:?}");
    }
}

#[test]
fn nothing_is_chosen_where_nothing_satisfies_the_guard() {
    for guard in ["a > b && b > a", "a == 1 && a == 2", "2 * a == 2 * b + 1", "v == 6"] {
        let (seen, _, none) = choose_all(&model("", "int", "int", guard), MIX, 5);
        assert_eq!((seen.len(), none), (0, 5), "{guard}");
    }
}

/// Precision: every source of the mix comes to its turn.
#[test]
fn the_mix_is_what_was_asked_for() {
    let iosts = model("", "int", "int", "a >= 3 && a <= 100000 && b > 0");
    let (_, mix, _) = choose_all(&iosts, MIX, 300);
    for source in [Pick::Boundary, Pick::Small, Pick::Large, Pick::Seen, Pick::Uniform] {
        assert!(mix.get(&source).copied().unwrap_or(0) > 10, "{source:?}: {mix:?}");
    }
    let only = [
        (Pick::Diverse, 1),
        (Pick::Small, 0),
        (Pick::Large, 0),
        (Pick::Seen, 0),
        (Pick::Uniform, 0),
        (Pick::Boundary, 0),
    ];
    let (seen, mix, _) = choose_all(&iosts, only, 30);
    assert!(mix[&Pick::Diverse] > 20 && seen.len() > 15, "{mix:?} {seen:?}");
}

/// Precision: of a small range too, a third is drawn from all of it alike, after few draws and after many.
#[test]
fn of_a_small_range_a_third_is_uniform() {
    let iosts = model("", "int", "bool", "1 <= a <= 15");
    for runs in [40, 4000] {
        let (seen, counts, _) = choose_all(&iosts, MIX, runs);
        // The other parameter has two values, which are always drawn alike.
        let uniform = counts[&Pick::Uniform] as u64 - runs;
        assert!(uniform * 3 >= runs, "{uniform} of {runs}: {counts:?}");
        assert!(runs < 4000 || seen.len() == 30, "{seen:?}");
    }
}

/// Precision: no lot meets a part of a document, and for each the solver was asked, some milliseconds long.
#[test]
fn what_the_guard_says_outright_is_neither_drawn_nor_asked_for() {
    let records = "types: { R: { f: string, g: \"set[2] of string\" }, Q: \"list[2] of R\" }\n";
    let guard = r#"a == ([{ f: \"x\", g: {\"p\"} }, { f: \"y\", g: {} }]: Q)[b mod 2]"#;
    for (types, a, guard) in
        [("", "string", r#"a == \"abcdefghijkl\"[b..b + 2] && b > 1"#), (records, "R", guard)]
    {
        let (seen, mix, _) = choose_all(&model(types, a, "int[0..9]", guard), MIX, 60);
        assert!(seen.len() >= 6, "{seen:?}");
        assert!(!mix.contains_key(&Pick::Witness) && !mix.contains_key(&Pick::Diverse), "{mix:?}");
    }
}

/// The size of a value must not be exponential in the depth of its type: it was 10^14 cells here.
#[test]
fn a_value_of_a_deep_type_is_drawn_with_few_cells() {
    let deep = format!("{}int", "array[bool] of ".repeat(30));
    let iosts = model("", &deep, "int", "b > 0");
    let deep = iosts.actions.iter().find(|action| action.name == "I").unwrap().parameters[0].clone();
    for seed in 0..20 {
        let value = any(deep.ty(), &mut Random::new(seed));
        assert!(value.is_in(deep.ty()));
        assert!(value.to_string().len() < 20_000, "{} bytes", value.to_string().len());
    }
}

/// Precision: data beside a list, a set or a map are drawn, as if these stood alone. The solver would choose
/// all of them, and always the same.
#[test]
fn data_beside_a_list_vary() {
    let types = "types: { C: [x, y, z], Out: [Gone, Kept: { of: \"list[2] of C\" }] }\n";
    for (list, guard) in [
        ("list[3] of C", "1 <= len(b) && (a == \\\"Zed\\\" || a in {\\\"Ann\\\", \\\"Al\\\"})"),
        ("map[2] of string to int", "len(b) > 0 && a in {\\\"Ann\\\", \\\"Al\\\", \\\"Zed\\\"}"),
        (
            "Out",
            "(match b: Gone -> false | Kept(l) -> l != []) && a in {\\\"Ann\\\", \\\"Al\\\", \\\"Zed\\\"}",
        ),
    ] {
        let iosts = model(types, "string", list, guard);
        let (seen, _, none) = choose_all(&iosts, MIX, 60);
        let texts: BTreeSet<&String> = seen.iter().map(|row| &row[0]).collect();
        assert!(none == 0 && texts.len() == 3 && seen.len() >= 12, "{guard}: {seen:?}");
    }
}

/// The values for a condition do not depend on earlier choices for other parameters.
#[test]
fn a_hull_is_that_of_its_numbers() {
    let [low, high] = ["low", "high"].map(|name| Datum::new(name.to_owned(), Type::Int));
    let within = |datum: &Datum, from: i64, to: i64| {
        let datum = Term::datum(datum);
        let at_least = |a: &Term, b: &Term| Term::compare(Comparison::AtLeast, a, b);
        Term::and([at_least(&datum, &Term::int(from)), at_least(&Term::int(to), &datum)])
    };
    let condition = Term::and([within(&low, 0, 3), within(&high, 100, 103)]);
    let choose = |values: &mut Values, of: &[Datum], seed| {
        values.choose(&condition, of, &Valuation::new(), &mut Random::new(seed), &mut Z3Solver::default())
    };
    for seed in 0..20 {
        let mut used = Values::new(MIX);
        choose(&mut used, &[high.clone(), low.clone()], seed);
        let parameters = [low.clone(), high.clone()];
        assert_eq!(choose(&mut used, &parameters, seed), choose(&mut Values::new(MIX), &parameters, seed));
    }
}

/// Precision: samples are drawn where the guard allows them, of strings and of numbers, and others besides.
#[test]
fn samples_are_drawn_where_the_guard_allows_them() {
    let (user, age) = (Datum::new("user", Type::String), Datum::new("age", Type::Int));
    let name = |text: &str| Term::equal(&Term::datum(&user), &Term::literal(Value::string(text)));
    let guard = Term::and([
        name("mallory").not(),
        Term::compare(Comparison::AtLeast, &Term::datum(&age), &Term::int(18)),
    ]);
    let samples = [("user", vec!["alice", "mallory"]), ("age", vec!["3", "1234567"])];
    let samples = samples.map(|(name, of)| (name.to_owned(), of.into_iter().map(str::to_owned).collect()));
    let mut values = Values::new(MIX);
    values.with_samples(samples.into());
    let (mut random, mut counts) = (Random::new(1), [0; 3]);
    for _ in 0..200 {
        let parameters = [user.clone(), age.clone()];
        let none = Valuation::new();
        let found = values.choose(&guard, &parameters, &none, &mut random, &mut Z3Solver::default()).unwrap();
        assert!(found[0] != Value::string("mallory") && found[1] != Value::int(3));
        counts[0] += usize::from(found[0] == Value::string("alice"));
        counts[1] += usize::from(found[1] == Value::int(1_234_567));
        counts[2] += usize::from(found[0] != Value::string("alice") && found[1] != Value::int(1_234_567));
    }
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
    assert!(values.end().contains_key(&Pick::Sample));
}

/// Precision: a sample with parts is drawn half of the time, if the guard allows it.
#[test]
fn samples_with_parts_are_drawn() {
    let types = "types: { Out: [Cured, Sent: { ward: string }] }\n";
    let iosts = model(
        types,
        "Out",
        "list[3] of int",
        r#"match a: Cured -> false | Sent(w) -> w != \"x\" && w != \"\""#,
    );
    let samples =
        [("a", vec![r#"{"Sent":{"ward":"ENT"}}"#, r#"{"Sent":{"ward":"x"}}"#]), ("b", vec!["[4, 5]"])];
    let samples = samples.map(|(name, of)| (name.to_owned(), of.into_iter().map(str::to_owned).collect()));
    let mut values = Values::new(MIX);
    values.with_samples(samples.into());
    let transition = &iosts.transitions[TransitionId(0)];
    let parameters = &iosts.action(transition.action).parameters;
    let (mut random, mut solver, mut counts) = (Random::new(1), Z3Solver::default(), [0; 3]);
    for _ in 0..200 {
        let found = values
            .choose(&transition.guard, parameters, &Valuation::new(), &mut random, &mut solver)
            .unwrap();
        let [a, b] = [0, 1].map(|at| found[at].to_string());
        assert!(a != "Sent(\"x\")" && a != "Cured", "{a}");
        counts[0] += usize::from(a == "Sent(\"ENT\")");
        counts[1] += usize::from(b == "[4, 5]");
        counts[2] += usize::from(a != "Sent(\"ENT\")" && b != "[4, 5]");
    }
    assert!(counts.iter().all(|count| (30..130).contains(count)), "{counts:?}");
    assert!(values.end().contains_key(&Pick::Sample));
}

/// Precision: with samples, no id is made up, also not the one that variables have which nobody has set.
#[test]
fn ids_are_known_ones_or_samples() {
    let text = "
iosts: store
types: { Rev: id }
variables: { vLive: 'map[3] of int to Rev', vRev: Rev }
initial: { location: Idle, condition: 'vLive == []' }
inputs: { Update: { pDoc: 'int[0..2]', pRev: Rev } }
outputs: { Conflict: {} }
transitions:
  - { from: Idle, to: Asked, on: Update, when: '(if pDoc in vLive then vLive[pDoc] else vRev) != pRev || pDoc == 0' }
  - { from: Asked, to: Idle, on: Conflict }
";
    let file: Arc<SourceFile> = from_bytes("m".to_owned(), text.as_bytes().to_vec()).unwrap();
    let iosts = read_specification(file).unwrap().0.iosts;
    let state = coreach_model::semantics::initial_states(&iosts, &Valuation::new(), 10).unwrap().remove(0);
    let transition = &iosts.transitions[TransitionId(0)];
    let parameters = &iosts.action(transition.action).parameters;
    let (mut random, mut solver) = (Random::new(1), Z3Solver::default());
    let mut values = Values::new(MIX).of_model(&iosts);
    values.with_samples([("pRev".to_owned(), vec!["1-a".to_owned(), "2-b".to_owned()])].into());
    values.begin(&[]);
    let samples = ["1-a", "2-b"].map(|text| Value::id(&"Rev".into(), text));
    let guards = TriedGuard::list(&transition.guard, parameters);
    for _ in 0..60 {
        let found =
            values.choose(&transition.guard, parameters, &state.valuation, &mut random, &mut solver).unwrap();
        assert!(samples.contains(&found[1]), "{found:?}");
        let pool = guards[0].pool(&state.valuation, state.valuation.values());
        let found =
            values.choose_by_trial(&guards[0], &pool, &state.valuation, &mut random, &mut solver).unwrap();
        assert!(samples.contains(&found[1]), "{found:?}");
    }
}

/// Precision: a text of the initial condition, as of a password, is drawn if the model compares with it.
#[test]
fn a_text_of_the_initial_condition_is_drawn() {
    let text = "
iosts: login
variables: { vSecret: string, vGiven: string }
initial: { location: Out, condition: 'vSecret == \"swordfish\" && vGiven == \"\"' }
inputs: { Login: { secret: string } }
outputs: { Welcome: {}, Wrong: {} }
transitions:
  - { from: Out, to: Asked, on: Login, assign: { vGiven: secret } }
  - { from: Asked, to: Out, on: Welcome, when: vGiven == vSecret }
  - { from: Asked, to: Out, on: Wrong, when: vGiven != vSecret }
";
    let file: Arc<SourceFile> = from_bytes("m".to_owned(), text.as_bytes().to_vec()).unwrap();
    let iosts = read_specification(file).unwrap().0.iosts;
    let mut values = Values::new(MIX).of_model(&iosts);
    let state = coreach_model::semantics::initial_states(&iosts, &Valuation::new(), 10).unwrap().remove(0);
    let transition = &iosts.transitions[TransitionId(0)];
    let parameters = &iosts.action(transition.action).parameters;
    let (mut random, mut solver) = (Random::new(1), Z3Solver::default());
    let mut draw = || {
        values.begin(&[]);
        values.choose(&transition.guard, parameters, &state.valuation, &mut random, &mut solver).unwrap()
    };
    let known = (0..100).filter(|_| draw() == [Value::string("swordfish")]).count();
    assert!((5..=95).contains(&known), "{known}");
}

/// Each row is the types of `a` and `b`, and a guard. With the expected values it is a precision. Soundness:
/// what is determined satisfies the guard, and the solver finds nothing else.
#[test]
fn equations_about_parts_determine_values() {
    let types = "types: { T: [x, y, z], R: { f: int, g: string }, V: [No, Yes: { n: int }] }\n";
    let mut solver = Z3Solver::default();
    for (a, b, guard, expected) in [
        (
            "array[T] of int",
            "set[T]",
            "(all t in T: a[t] == v) && (all t in T: (t in b) == (t != y))",
            "[..: 5] {x, z}",
        ),
        ("map[T] of int", "int", "(all t in T: (t in a) == (t == z)) && a[z] == b + 1 && b == 2", "[z: 3] 2"),
        ("list[3] of int", "int", "a[0] == 7 && a[1..] == [v] && b == sum([e for e in a])", "[7, 5] 12"),
        (
            "list[2] of R",
            "string",
            "len(a) == 1 && a[0].f == 1 && a[0].g == b && b == \\\"s\\\"",
            "[{f: 1, g: \\\"s\\\"}] \\\"s\\\"",
        ),
        ("option[int]", "V", "a is none && (match b: Yes(n) -> n == 3 | _ -> false)", "none Yes(3)"),
        ("bool", "int", "!a && b - 3 == v && (a || b == 8)", "false 8"),
        ("list[3] of int", "int", "(all i in 0..1: a[i] == i) && len(a) == 2 && 4 - b == 3", "[0, 1] 1"),
        ("int", "int", "a == 1 && b == a && b == 2", "never"),
        ("set[T]", "int", "x in a && b == 1 && !(all t in T: t == y || t in a && t != x) && b == 2", "never"),
        ("int", "int", "a == b && b > v", "open"),
        ("list[3] of int", "int", "a[0] == 7 && b == 1", "open"),
        ("map[T] of int", "int", "(all t in T: t in a) && a[x] == 1 && b == 1", "open"),
    ] {
        let iosts = model(types, a, b, guard);
        let transition = &iosts.transitions[TransitionId(0)];
        let parameters = &iosts.action(transition.action).parameters;
        let state =
            coreach_model::semantics::initial_states(&iosts, &Valuation::new(), 10).unwrap().remove(0);
        let condition = at_state(&transition.guard, parameters, &state.valuation);
        let found = match determine_values(&condition, parameters) {
            Determined::Never => {
                assert!(solver.check(&[condition]) == Answer::Unsat, "{guard}");
                "never".to_owned()
            }
            Determined::Open => "open".to_owned(),
            Determined::Only(values) => {
                assert!(satisfies(&condition, parameters, &values), "{guard}: {values:?}");
                let same = parameters.iter().zip(&values);
                let same = same
                    .map(|(datum, value)| Term::equal(&Term::datum(datum), &Term::literal(value.clone())));
                assert!(solver.check(&[condition, Term::and(same).not()]) == Answer::Unsat, "{guard}");
                values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
            }
        };
        assert_eq!(found, expected.replace('\\', ""), "{guard}");
    }
}
