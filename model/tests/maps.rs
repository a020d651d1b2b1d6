//! Sets and maps against those of plain Rust: each operation on thousands of values, where it has a value and
//! which, and what is said of mistakes.
//!
//! All expectations but those of messages defend *soundness*.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use coreach_model::obligation::defined;
use coreach_model::random::Random;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::term::evaluate::{Undefined, Valuation};
use coreach_model::types::RecordType;
use coreach_model::writer::write_yaml;
use coreach_model::{Datum, Iosts, Term, Type, Value, codec};

type Set = BTreeSet<i64>;
type Map = BTreeMap<i64, i64>;

const LOW: i64 = -1;
const HIGH: i64 = 2;

/// Soundness: an operation has the value of what it stands for, and has one exactly where that has one.
fn evaluate(term: &Term, valuation: &Valuation) -> Result<Value, Undefined> {
    let value = coreach_model::term::evaluate::evaluate(term, valuation);
    let lowered = coreach_model::term::evaluate::evaluate(term.lowered(), valuation);
    assert_eq!(value.as_ref().ok(), lowered.as_ref().ok(), "{term} of {valuation:?}");
    value
}

fn keys() -> Type {
    Type::Range(LOW.into(), HIGH.into())
}

fn values() -> Type {
    Type::Range(0.into(), 9.into())
}

fn keyed(value: Option<&Type>) -> Arc<RecordType> {
    Arc::new(RecordType::keyed(&keys(), value).unwrap())
}

fn set(of: &Set) -> Value {
    keyed(None).make_keyed(of.iter().map(|key| (Value::int(*key), None)).collect()).unwrap()
}

fn map(of: &Map) -> Value {
    let entry = |(key, value): (&i64, &i64)| (Value::int(*key), Some(Value::int(*value)));
    keyed(Some(&values())).make_keyed(of.iter().map(entry).collect()).unwrap()
}

fn model(expressions: &[(&str, &str)]) -> String {
    let mut text = String::from(
        "iosts: m\ntypes:\n  Key: 'int[-1..2]'\n  S: 'set[Key]'\n  M: 'map[Key] of int[0..9]'\n\
         variables: { s: S, t: S, m: M, i: int, j: int, k: Key, os: S, om: M, oi: int, ob: bool }\n\
         initial: { location: A }\noutputs: { u: {} }\ntransitions:\n",
    );
    for (to, expression) in expressions {
        text += &format!("  - {{ from: A, to: A, on: u, assign: {{ {to}: '{expression}' }} }}\n");
    }
    text
}

fn read(text: &str) -> (Iosts, String) {
    match read_specification(from_bytes("m.yaml".to_owned(), text.as_bytes().to_vec()).unwrap()) {
        Ok((model, _)) => {
            let printed = write_yaml(&model.iosts, &model.types);
            (model.iosts, printed)
        }
        Err(mistakes) => panic!("{}: {:?}", mistakes[0].message, mistakes[0].labels[0].0.text()),
    }
}

/// The terms of these expressions; what is printed is read back to the same.
fn terms(expressions: &[(&str, &str)]) -> Vec<Term> {
    let (iosts, printed) = read(&model(expressions));
    let (again, _) = read(&printed);
    for (one, other) in iosts.transitions.iter().zip(&again.transitions) {
        assert_eq!(one.assignments, other.assignments);
    }
    iosts.transitions.iter().map(|one| one.assignments.values().next().unwrap().clone()).collect()
}

struct Given {
    s: Set,
    t: Set,
    m: Map,
    i: i64,
    j: i64,
    k: i64,
}

impl Given {
    fn draw(random: &mut Random) -> Self {
        let mut some = |of: i64| LOW + random.below(of as usize) as i64;
        let mut one = || (0..some(6)).map(|_| some(4)).collect::<Set>();
        let (s, t) = (one(), one());
        let m = (0..some(6)).map(|_| (some(4), some(5) + 1)).collect();
        Given { s, t, m, i: some(5), j: some(12), k: some(4) }
    }

    fn valuation(&self) -> Valuation {
        let of = |name: &str, value: Value, ty: Type| (Datum::new(name, ty), value);
        let (sets, maps) = (Type::Record(keyed(None)), Type::Record(keyed(Some(&values()))));
        [
            of("s", set(&self.s), sets.clone()),
            of("t", set(&self.t), sets),
            of("m", map(&self.m), maps),
            of("i", Value::int(self.i), Type::Int),
            of("j", Value::int(self.j), Type::Int),
            of("k", Value::int(self.k), keys()),
        ]
        .into()
    }
}

enum Expected {
    Int(i64),
    Bool(bool),
    Set(Set),
    Map(Map),
}

fn is_key(key: i64) -> bool {
    (LOW..=HIGH).contains(&key)
}

fn with(of: &Set, key: i64) -> Option<Set> {
    is_key(key).then(|| of.iter().copied().chain([key]).collect())
}

fn put(of: &Map, key: i64, value: i64) -> Option<Map> {
    let mut of = of.clone();
    of.insert(key, value);
    (is_key(key) && (0..=9).contains(&value)).then_some(of)
}

fn without(of: &Map, keys: &Set) -> Map {
    of.iter().filter(|(key, _)| !keys.contains(key)).map(|(key, value)| (*key, *value)).collect()
}

type Reference = fn(&Given) -> Option<Expected>;

/// What an expression is in plain Rust; `None` where it has no value.
const OPERATIONS: &[(&str, &str, Reference)] = &[
    ("ob", "i in s", |g| Some(Expected::Bool(g.s.contains(&g.i)))),
    ("ob", "k in s && !(k in t)", |g| Some(Expected::Bool(g.s.contains(&g.k) && !g.t.contains(&g.k)))),
    ("ob", "10 div i in s", |g| (g.i != 0).then(|| Expected::Bool(g.s.contains(&10i64.div_euclid(g.i))))),
    ("ob", "i in m", |g| Some(Expected::Bool(g.m.contains_key(&g.i)))),
    ("ob", "i in {1, 3, k}", |g| Some(Expected::Bool([1, 3, g.k].contains(&g.i)))),
    ("ob", "k in s + {i}", |g| with(&g.s, g.i).map(|of| Expected::Bool(of.contains(&g.k)))),
    ("os", "{}", |_| Some(Expected::Set(Set::new()))),
    ("os", "{k, -1}", |g| Some(Expected::Set([g.k, -1].into()))),
    ("os", "{i, k}", |g| with(&[g.k].into(), g.i).map(Expected::Set)),
    ("os", "{10 div i, k}", |g| {
        (g.i != 0).then(|| with(&[g.k].into(), 10i64.div_euclid(g.i)))?.map(Expected::Set)
    }),
    ("os", "s + t", |g| Some(Expected::Set(&g.s | &g.t))),
    ("os", "s - t", |g| Some(Expected::Set(&g.s - &g.t))),
    ("os", "s * t", |g| Some(Expected::Set(&g.s & &g.t))),
    ("os", "s + {i}", |g| with(&g.s, g.i).map(Expected::Set)),
    ("os", "s - {i}", |g| with(&g.s, g.i).map(|_| Expected::Set(&g.s - &[g.i].into()))),
    ("os", "s + {i} - {j} * t", |g| {
        with(&g.t, g.j)?;
        with(&g.s, g.i).map(|of| Expected::Set(&of - &(&g.t & &[g.j].into())))
    }),
    ("os", "if i in s then s - {k} else {k}", |g| {
        Some(Expected::Set(if g.s.contains(&g.i) { &g.s - &[g.k].into() } else { [g.k].into() }))
    }),
    ("os", "{1, 2} - (if i in s then {k} else {})", |g| {
        let less: Set = if g.s.contains(&g.i) { [g.k].into() } else { Set::new() };
        Some(Expected::Set(&Set::from([1, 2]) - &less))
    }),
    ("ob", "s <= t", |g| Some(Expected::Bool(g.s.is_subset(&g.t)))),
    ("ob", "s < t + {i}", |g| with(&g.t, g.i).map(|of| Expected::Bool(g.s.is_subset(&of) && g.s != of))),
    ("ob", "s >= t", |g| Some(Expected::Bool(g.t.is_subset(&g.s)))),
    ("ob", "{i} <= s", |g| is_key(g.i).then(|| Expected::Bool(g.s.contains(&g.i)))),
    ("ob", "s == t", |g| Some(Expected::Bool(g.s == g.t))),
    ("ob", "s != {k}", |g| Some(Expected::Bool(g.s != [g.k].into()))),
    ("oi", "len(s)", |g| Some(Expected::Int(g.s.len() as i64))),
    ("oi", "len(s + {i})", |g| with(&g.s, g.i).map(|of| Expected::Int(of.len() as i64))),
    ("oi", "len(m)", |g| Some(Expected::Int(g.m.len() as i64))),
    ("oi", "m[i]", |g| g.m.get(&g.i).copied().map(Expected::Int)),
    ("oi", "if k in m then m[k] else i", |g| Some(Expected::Int(g.m.get(&g.k).copied().unwrap_or(g.i)))),
    ("oi", "m[2] + m[-1]", |g| Some(Expected::Int(g.m.get(&2)? + g.m.get(&-1)?))),
    ("oi", "m[k := j][i]", |g| put(&g.m, g.k, g.j)?.get(&g.i).copied().map(Expected::Int)),
    ("om", "m[i := j]", |g| put(&g.m, g.i, g.j).map(Expected::Map)),
    ("om", "m[k := 10 div i][i := 3]", |g| {
        let of = (g.i != 0).then(|| put(&g.m, g.k, 10i64.div_euclid(g.i)))??;
        put(&of, g.i, 3).map(Expected::Map)
    }),
    ("om", "m - {i}", |g| is_key(g.i).then(|| Expected::Map(without(&g.m, &[g.i].into())))),
    ("om", "m - s", |g| Some(Expected::Map(without(&g.m, &g.s)))),
    ("om", "[]", |_| Some(Expected::Map(Map::new()))),
    ("om", "[k: 1, i: j]", |g| put(&[(g.k, 1)].into(), g.i, g.j).map(Expected::Map)),
    ("ob", "m == [k: 1]", |g| Some(Expected::Bool(g.m == [(g.k, 1)].into()))),
    ("ob", "m[k := j] == m", |g| put(&g.m, g.k, g.j).map(|of| Expected::Bool(of == g.m))),
    ("os", "keys(m)", |g| Some(Expected::Set(g.m.keys().copied().collect()))),
    ("os", "keys(m[i := 0]) - t", |g| {
        put(&g.m, g.i, 0).map(|of| Expected::Set(&of.keys().copied().collect::<Set>() - &g.t))
    }),
    ("ob", "all x in s: x < i", |g| Some(Expected::Bool(g.s.iter().all(|x| *x < g.i)))),
    ("ob", "some x in m: m[x] == i", |g| Some(Expected::Bool(g.m.values().any(|value| *value == g.i)))),
    ("oi", "count x in keys(m) - s: x > 0", |g| {
        Some(Expected::Int(g.m.keys().filter(|x| **x > 0 && !g.s.contains(x)).count() as i64))
    }),
];

#[test]
fn operations_of_sets_and_maps_are_those_of_trees() {
    let texts: Vec<(&str, &str)> = OPERATIONS.iter().map(|(to, text, _)| (*to, *text)).collect();
    let terms = terms(&texts);
    let mut random = Random::new(1);
    let mut known = [0u32; 2];
    for _ in 0..500 {
        let given = Given::draw(&mut random);
        let valuation = given.valuation();
        for ((_, text, reference), term) in OPERATIONS.iter().zip(&terms) {
            let value = evaluate(term, &valuation);
            let expected = reference(&given).map(|expected| match expected {
                Expected::Int(number) => Value::int(number),
                Expected::Bool(truth) => Value::Bool(truth),
                Expected::Set(of) => set(&of),
                Expected::Map(of) => map(&of),
            });
            assert_eq!(value.as_ref().ok(), expected.as_ref(), "{text} of {valuation:?}");
            // The condition that is asked for beside a guard is the one of evaluation.
            let holds = evaluate(&defined(term), &valuation) == Ok(Value::Bool(true));
            assert_eq!(holds, expected.is_some(), "{text} of {valuation:?}");
            known[usize::from(holds)] += 1;
        }
    }
    assert!(known.iter().all(|count| *count > 2_000), "{known:?}");
}

const BOUND: usize = 3;

/// The key of a type that a number stands for, in the same order.
fn key_of(ty: &Type, number: i64) -> Value {
    let at = (number - LOW) as usize;
    match ty {
        Type::String => Value::string(["", "a", "a!", "b", "\u{e9}"][at]),
        Type::Id(name) => Value::id(name, ["id0", "id3", "id12", "a", "zz"][at]),
        Type::Real => Value::Real(number.into()),
        _ => Value::int(number),
    }
}

fn bounded(set: Set) -> Option<Expected> {
    (set.len() <= BOUND).then_some(Expected::Set(set))
}

fn put_within(of: &Map, key: i64, value: i64) -> Option<Map> {
    let mut of = of.clone();
    of.insert(key, value);
    (of.len() <= BOUND && (0..=9).contains(&value)).then_some(of)
}

/// Operations of sets and maps with a bound, of keys of any type.
const WITH_A_BOUND: &[(&str, &str, Reference)] = &[
    ("ob", "i in s", |g| Some(Expected::Bool(g.s.contains(&g.i)))),
    ("ob", "i in m && !(k in t)", |g| Some(Expected::Bool(g.m.contains_key(&g.i) && !g.t.contains(&g.k)))),
    ("ob", "k in s + {i}", |g| match bounded(&g.s | &[g.i].into())? {
        Expected::Set(of) => Some(Expected::Bool(of.contains(&g.k))),
        _ => None,
    }),
    ("os", "{}", |_| Some(Expected::Set(Set::new()))),
    ("os", "{i, k}", |g| bounded([g.i, g.k].into())),
    ("os", "{i, k} + s", |g| bounded(&g.s | &[g.i, g.k].into())),
    ("os", "s + t", |g| bounded(&g.s | &g.t)),
    ("os", "s - t", |g| bounded(&g.s - &g.t)),
    ("os", "s * t", |g| bounded(&g.s & &g.t)),
    ("os", "s + {i}", |g| bounded(&g.s | &[g.i].into())),
    ("os", "s - {i}", |g| bounded(&g.s - &[g.i].into())),
    ("os", "s - {i, k}", |g| bounded(&g.s - &[g.i, g.k].into())),
    ("os", "s * t - {([i]: list[2] of Key)[j]}", |g| {
        (g.j == 0).then(|| bounded(&(&g.s & &g.t) - &[g.i].into()))?
    }),
    ("ob", "s <= t + {([i]: list[2] of Key)[j]}", |g| {
        let of = (g.j == 0).then(|| &g.t | &[g.i].into())?;
        (of.len() <= BOUND).then(|| Expected::Bool(g.s.is_subset(&of)))
    }),
    ("os", "s + {i} - {k} * t", |g| {
        bounded(&g.s | &[g.i].into())?;
        bounded(&(&g.s | &[g.i].into()) - &(&g.t & &[g.k].into()))
    }),
    ("ob", "s <= t", |g| Some(Expected::Bool(g.s.is_subset(&g.t)))),
    ("ob", "s > t", |g| Some(Expected::Bool(g.t.is_subset(&g.s) && g.s != g.t))),
    ("ob", "s == t || s != {k}", |g| Some(Expected::Bool(g.s == g.t || g.s != [g.k].into()))),
    ("oi", "len(s) + len(m)", |g| Some(Expected::Int((g.s.len() + g.m.len()) as i64))),
    ("oi", "m[i]", |g| g.m.get(&g.i).copied().map(Expected::Int)),
    ("oi", "if k in m then m[k] else j", |g| Some(Expected::Int(g.m.get(&g.k).copied().unwrap_or(g.j)))),
    ("oi", "m[k := j][i]", |g| put_within(&g.m, g.k, g.j)?.get(&g.i).copied().map(Expected::Int)),
    ("om", "m[i := j]", |g| put_within(&g.m, g.i, g.j).map(Expected::Map)),
    ("om", "m[i := 3][k := j]", |g| put_within(&put_within(&g.m, g.i, 3)?, g.k, g.j).map(Expected::Map)),
    ("om", "m - {i}", |g| Some(Expected::Map(without(&g.m, &[g.i].into())))),
    ("om", "(m - s)[k := 1]", |g| put_within(&without(&g.m, &g.s), g.k, 1).map(Expected::Map)),
    ("om", "[]", |_| Some(Expected::Map(Map::new()))),
    ("om", "[k: j, i: 1]", |g| put_within(&put_within(&Map::new(), g.k, g.j)?, g.i, 1).map(Expected::Map)),
    ("ob", "m == [k: 1]", |g| Some(Expected::Bool(g.m == [(g.k, 1)].into()))),
    ("ob", "(m - {i})[i := j] == m", |g| {
        let of = put_within(&without(&g.m, &[g.i].into()), g.i, g.j)?;
        Some(Expected::Bool(of == g.m))
    }),
    ("os", "keys(m) - t", |g| bounded(&g.m.keys().copied().collect::<Set>() - &g.t)),
    ("ob", "all x in s: x in t", |g| Some(Expected::Bool(g.s.is_subset(&g.t)))),
    ("ob", "some x in m: m[x] == j", |g| Some(Expected::Bool(g.m.values().any(|value| *value == g.j)))),
    ("oi", "count x in keys(m): !(x in s)", |g| {
        Some(Expected::Int(g.m.keys().filter(|x| !g.s.contains(x)).count() as i64))
    }),
    ("oi", "sum([m[x] for x in m if x in s])", |g| {
        Some(Expected::Int(g.m.iter().filter(|(key, _)| g.s.contains(key)).map(|(_, value)| value).sum()))
    }),
    ("oi", "index x in m: m[x] > j", |g| {
        Some(Expected::Int(g.m.values().position(|value| *value > g.j).map_or(-1, |at| at as i64)))
    }),
    ("ob", "(find x in s: x in t) == some(i)", |g| {
        Some(Expected::Bool(g.s.iter().find(|x| g.t.contains(x)) == Some(&g.i)))
    }),
    ("ob", "contains([x for x in s if !(x in t)], i)", |g| {
        Some(Expected::Bool(g.s.contains(&g.i) && !g.t.contains(&g.i)))
    }),
];

#[test]
fn sets_and_maps_with_a_bound_are_those_of_trees() {
    for (spelled, ty) in [
        ("int", Type::Int),
        ("int[-9..900]", Type::Range((-9).into(), 900.into())),
        ("real", Type::Real),
        ("string", Type::String),
        ("id", Type::Id("Key".into())),
    ] {
        let text = model(&WITH_A_BOUND.iter().map(|(to, text, _)| (*to, *text)).collect::<Vec<_>>());
        let text = text.replace("'int[-1..2]'", &format!("'{spelled}'"));
        let text = text.replace("'set[Key]'", "'set[3] of Key'").replace("i: int, j", "i: Key, j");
        let (iosts, printed) = read(&text.replace("'map[Key] of int[0..9]'", "'map[3] of Key to int[0..9]'"));
        let (again, _) = read(&printed);
        let terms = iosts.transitions.iter().map(|one| one.assignments.values().next().unwrap());
        let (sets, maps) =
            (RecordType::entries_of(3, &ty, None), RecordType::entries_of(3, &ty, Some(&values())));
        let (sets, maps) = (Arc::new(sets), Arc::new(maps));
        let set = |of: &Set| sets.make_keyed(of.iter().map(|one| (key_of(&ty, *one), None)).collect());
        let map = |of: &Map| {
            maps.make_keyed(of.iter().map(|(one, to)| (key_of(&ty, *one), Some(Value::int(*to)))).collect())
        };
        let mut random = Random::new(1);
        let mut known = [0u32; 2];
        for number in 0..80 {
            let given = Given::draw(&mut random);
            if [given.s.len(), given.t.len(), given.m.len()].iter().any(|count| *count > BOUND) {
                continue;
            }
            let mut valuation: Valuation = [
                (Datum::new("s", Type::Record(sets.clone())), set(&given.s).unwrap()),
                (Datum::new("t", Type::Record(sets.clone())), set(&given.t).unwrap()),
                (Datum::new("m", Type::Record(maps.clone())), map(&given.m).unwrap()),
                (Datum::new("j", Type::Int), Value::int(given.j)),
            ]
            .into();
            let keys = [("i", given.i), ("k", given.k)];
            valuation.extend(keys.map(|(name, key)| (Datum::new(name, ty.clone()), key_of(&ty, key))));
            for ((_, text, reference), (term, other)) in
                WITH_A_BOUND.iter().zip(terms.clone().zip(&again.transitions))
            {
                assert_eq!(Some(term), other.assignments.values().next(), "{text}");
                let value = evaluate(term, &valuation);
                let expected = reference(&given).and_then(|expected| match expected {
                    Expected::Int(number) => Some(Value::int(number)),
                    Expected::Bool(truth) => Some(Value::Bool(truth)),
                    Expected::Set(of) => set(&of),
                    Expected::Map(of) => map(&of),
                });
                assert_eq!(value.as_ref().ok(), expected.as_ref(), "{text} of {valuation:?}");
                let holds = evaluate(&defined(term), &valuation) == Ok(Value::Bool(true));
                assert_eq!(holds, expected.is_some(), "{number} {text} of {valuation:?}");
                known[usize::from(holds)] += 1;
                if let Some(value) = expected {
                    assert!(value.is_in(term.sort()), "{value}");
                    let read = codec::from_json(&codec::to_json(&value), term.sort());
                    assert_eq!(read.as_ref(), Ok(&value), "{text}");
                }
            }
        }
        assert!(known.iter().all(|count| *count > 60), "{spelled}: {known:?}");
    }
}

#[test]
fn values_are_enumerated_once_and_go_over_a_wire() {
    let few = Type::Range((-1).into(), 0.into());
    let of =
        |key: &Type, value: Option<&Type>| Type::Record(Arc::new(RecordType::keyed(key, value).unwrap()));
    let list = Type::Record(Arc::new(RecordType::list(2, &Type::Bool)));
    for (ty, count) in [
        (of(&keys(), None), 16),
        (of(&Type::Bool, Some(&few)), 9),
        (of(&few, Some(&list)), 64),
        (of(&few, Some(&of(&Type::Bool, None))), 25),
    ] {
        let mut found = Value::enumerate(&ty, 64).unwrap();
        assert_eq!(ty.cardinality(), Some(count), "{ty}");
        for value in &found {
            assert!(value.is_in(&ty), "{value}");
            let json = codec::to_json(value);
            assert_eq!(codec::from_json(&json, &ty), Ok(value.clone()), "{json}");
            assert_eq!(codec::from_text(&codec::to_text(value), &ty), Ok(value.clone()), "{json}");
        }
        assert_eq!(found.len(), count, "{ty}");
        found.sort();
        found.dedup();
        assert_eq!(found.len(), count, "{ty}");
    }
    let (sets, maps) = (of(&keys(), None), of(&keys(), Some(&Type::Bool)));
    let text = |text: &str, ty: &Type| codec::from_text(text, ty).map(|value| value.to_string());
    assert_eq!(text("[-1, 2]", &sets), Ok("{-1, 2}".to_owned()));
    assert_eq!(text(r#"{"2": true, "-1": false}"#, &maps), Ok("[-1: false, 2: true]".to_owned()));
    assert_eq!(text("[2, -1]", &sets), text("[-1, 2]", &sets));
    for wrong in ["[1, 1]", "[3]", "{}", "1", r#"["a"]"#] {
        assert!(text(wrong, &sets).is_err(), "{wrong}");
    }
    for wrong in [r#"{"02": true}"#, r#"{"3": true}"#, r#"{"2": 1}"#, "[]", r#"{"2": true, "2": true}"#] {
        assert!(text(wrong, &maps).is_err(), "{wrong}");
    }
}

/// Precision: what is wrong is said where it is, and how it would be right.
#[test]
fn mistakes_are_told_by_name() {
    let found = |to: &str, value: &str| {
        let text = model(&[(to, value)]);
        let mistakes =
            read_specification(from_bytes("m.yaml".to_owned(), text.into_bytes()).unwrap()).unwrap_err();
        let first = &mistakes[0];
        let help = first.help.clone().unwrap_or_default();
        format!("{} at {}: {help}", first.code, first.labels[0].0.text())
    };
    for (to, value, expected) in [
        ("os", "{3}", "no-such-key at 3: "),
        ("ob", "3 in s", "no-such-key at 3: "),
        ("oi", "m[-2]", "no-such-key at -2: "),
        ("os", "{true}", "type-mismatch at true: "),
        ("os", "{kk}", "unknown-name at kk: did you mean the variable `k`?"),
        ("os", "[1]", "type-mismatch at [1]: write a set in braces: `{A, B}`, `{}`"),
        ("os", "[1: 2]", "type-mismatch at [1: 2]: write a set in braces: `{A, B}`, `{}`"),
        ("om", "{}", "type-mismatch at {}: write a map in brackets: `[A: 1, B: 2]`, `[]`"),
        ("om", "{1: 2}", "type-mismatch at {1: 2}: write a map in brackets: `[1: 2]`"),
        ("om", "{a: 2}", "type-mismatch at {a: 2}: write a map in brackets: `[a: 2]`"),
        ("om", "[1: 2, 1: 3]", "duplicate-declaration at 1: "),
        ("om", "[1: true]", "type-mismatch at true: "),
        ("oi", "s[1]", "type-mismatch at 1: write `k in s` to ask whether a set has a key"),
        ("os", "s[1 := true]", "type-mismatch at 1: `s + {k}` adds a key to a set, `s - {k}` removes it"),
        ("ob", "i in i", "type-mismatch at i: "),
        ("ob", "k not in s", "syntax at not: write brackets after `!`, as in `!(k in s)`"),
        (
            "ob",
            "contains(s, 1)",
            "type-mismatch at contains: write `k in s` to ask for a key, and `len(s)` for the number of keys",
        ),
        ("os", "keys(s)", "type-mismatch at s: "),
        ("oi", "len({1})", "unknown-type-of-literal at {1}: "),
        ("os", "s + 1", "type-mismatch at s: "),
        ("om", "m + m", "type-mismatch at m: "),
        ("ob", "m < m", "type-mismatch at m < m: "),
        ("ob", "{} == {}", "unknown-type-of-literal at {}: "),
    ] {
        assert!(found(to, value).starts_with(expected), "{value}: {}", found(to, value));
    }
    for (ty, expected) in [
        ("set[int]", "key-type at int: "),
        ("set[int[0..64]]", "key-type at int[0..64]: "),
        ("map[option[bool]] of int", "key-type at option[bool]: "),
        ("map[Key] of option[int]", "nested-option at option: "),
        ("map[Key]", "syntax at ]: "),
        ("sett[Key]", "unknown-type at sett: did you mean `set`?"),
    ] {
        let text = model(&[("os", "s")]).replace("'set[Key]'", &format!("'{ty}'"));
        let mistakes =
            read_specification(from_bytes("m.yaml".to_owned(), text.into_bytes()).unwrap()).unwrap_err();
        let help = mistakes[0].help.clone().unwrap_or_default();
        let found = format!("{} at {}: {help}", mistakes[0].code, mistakes[0].labels[0].0.text());
        assert!(found.starts_with(expected), "{ty}: {found}");
    }
}
