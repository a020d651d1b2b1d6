//! Variants, options and lists against plain Rust: each operation on thousands of values, where it has a
//! value and which; and the shapes that are seen to be canonical.
//!
//! All expectations defend *soundness*: what an expression means is what every verdict rests on.

use coreach_model::budget::{self, Budget, Limit};
use coreach_model::codec::{self, Misread};
use coreach_model::obligation::defined;
use coreach_model::random::Random;
use coreach_model::reader::{Specification, from_bytes, read_specification};
use coreach_model::term::evaluate::{Undefined, Valuation};
use coreach_model::types::RecordType;
use coreach_model::writer::write_yaml;
use coreach_model::{Datum, Term, TransitionId, Type, Value};
use serde_json::json;
use std::sync::Arc;

const BOUND: usize = 3;

fn read(text: &str) -> Specification {
    match read_specification(from_bytes("model.yaml".to_owned(), text.as_bytes().to_vec()).unwrap()) {
        Ok((specification, _)) => specification,
        Err(mistakes) => {
            let first: Vec<_> =
                mistakes.iter().take(3).map(|one| (&one.message, one.labels[0].0.text())).collect();
            panic!("{first:?}")
        }
    }
}

/// The terms of these expressions, of the types of the variables to which they are assigned.
fn terms(expressions: &[(&str, &str)]) -> Vec<Term> {
    let mut text = String::from(
        "iosts: m\ntypes:\n  Reply: [{ Ok: { value: int } }, Missing, { Error: { code: int, fatal: bool } }]\n\
         variables: { q: 'list[3] of int', r: 'list[3] of int', n: 'list[3] of nat', s: Reply, o: 'option[nat]',\
         i: int, j: int, e: int, oq: 'list[3] of int', on: 'list[3] of nat', oi: int, ob: bool, os: Reply, oo: 'option[nat]' }\n\
         initial: { location: A }\noutputs: { t: {} }\ntransitions:\n",
    );
    for (to, expression) in expressions {
        text += &format!("  - {{ from: A, to: A, on: t, assign: {{ {to}: '{expression}' }} }}\n");
    }
    let model = read(&text);
    // What is printed is read back to the same model.
    let printed = write_yaml(&model.iosts, &model.types);
    let again = read(&printed);
    for (one, other) in model.iosts.transitions.iter().zip(&again.iosts.transitions) {
        assert_eq!(one.assignments, other.assignments);
    }
    assert_eq!(again.types, model.types);
    model.iosts.transitions.iter().map(|one| one.assignments.values().next().unwrap().clone()).collect()
}

/// Soundness: an operation has the value of what it stands for, and has one exactly where that has one.
fn evaluate(term: &Term, valuation: &Valuation) -> Result<Value, Undefined> {
    let value = coreach_model::term::evaluate::evaluate(term, valuation);
    let lowered = coreach_model::term::evaluate::evaluate(term.lowered(), valuation);
    assert_eq!(value.as_ref().ok(), lowered.as_ref().ok(), "{term} of {valuation:?}");
    value
}

fn list_type(element: &Type) -> Arc<RecordType> {
    Arc::new(RecordType::list(BOUND, element))
}

fn list(values: &[i64], element: &Type) -> Value {
    list_type(element).value_of(Value::int(values.len()), values.iter().map(|value| Value::int(*value)))
}

/// Soundness: if coreach does not compute a value, no transition counts as disabled. The work ends instead.
#[test]
fn a_result_that_is_too_long_ends_the_work() {
    let model = read(
        "iosts: m\nvariables: { q: 'list[3] of int', s: 'list[3] of string', i: int, t: string }\ninitial: { location: A }\n\
         outputs: { o: {} }\ntransitions:\n  - { from: A, to: A, on: o, assign: { i: sum(q), t: 'join(s, \"\")' } }\n",
    );
    let digits = "9".repeat(budget::MAX_DIGITS + 1000);
    let values = [Value::Int(digits.parse().unwrap()), Value::String(digits.into())];
    let lists = model.iosts.variables[..2].iter().zip(values).map(|(datum, value)| {
        let Type::Record(ty) = datum.ty() else { panic!("{datum} is no list") };
        (datum.clone(), ty.value_of(Value::int(2), [value.clone(), value]))
    });
    let valuation: Valuation = lists.collect();
    for term in model.iosts.transitions[TransitionId(0)].assignments.values() {
        let budget = Budget::new("run", None, false);
        let passed = budget::within(&budget, || coreach_model::term::evaluate::evaluate(term, &valuation));
        assert!(matches!(passed, Err(passed) if passed.limit == Limit::Digits(budget::MAX_DIGITS)), "{term}");
    }
}

fn back(value: &Value) -> Vec<i64> {
    let Value::Record(of, fields) = value else { panic!("{value}") };
    let number = |value: &Value| match value {
        Value::Int(value) => i64::try_from(value).unwrap(),
        other => panic!("{other}"),
    };
    of.counting(fields).map(number).collect()
}

fn some_list(random: &mut Random, low: i64) -> Vec<i64> {
    (0..random.below(BOUND + 1)).map(|_| low + random.below(4) as i64).collect()
}

struct Given {
    q: Vec<i64>,
    r: Vec<i64>,
    n: Vec<i64>,
    i: i64,
    j: i64,
    e: i64,
}

impl Given {
    fn draw(random: &mut Random) -> Self {
        Given {
            q: some_list(random, -1),
            r: some_list(random, -1),
            n: some_list(random, 0),
            i: random.below(6) as i64 - 1,
            j: random.below(6) as i64 - 1,
            e: random.below(5) as i64 - 1,
        }
    }

    fn valuation(&self) -> Valuation {
        let int = |name: &str, value: i64| (Datum::new(name, Type::Int), Value::int(value));
        let of = |name: &str, values: &[i64], element: &Type| {
            (Datum::new(name, Type::Record(list_type(element))), list(values, element))
        };
        [
            of("q", &self.q, &Type::Int),
            of("r", &self.r, &Type::Int),
            of("n", &self.n, &Type::Nat),
            int("i", self.i),
            int("j", self.j),
            int("e", self.e),
        ]
        .into()
    }
}

/// What an operation gives in plain Rust.
enum Expected {
    List(Vec<i64>),
    Int(i64),
    Bool(bool),
}

type Reference = fn(&Given) -> Option<Expected>;

fn bounded(list: Vec<i64>) -> Option<Expected> {
    (list.len() <= BOUND).then_some(Expected::List(list))
}

fn at(list: &[i64], index: i64) -> Option<i64> {
    list.get(usize::try_from(index).ok()?).copied()
}

fn part(list: &[i64], from: i64, to: i64) -> Option<Expected> {
    let (from, to) = (usize::try_from(from).ok()?, usize::try_from(to).ok()?);
    list.get(from..to).and_then(|part| bounded(part.to_vec()))
}

fn with(list: &[i64], index: i64, new: i64) -> Option<Expected> {
    let mut list = list.to_vec();
    *list.get_mut(usize::try_from(index).ok()?)? = new;
    bounded(list)
}

fn joined(parts: &[&[i64]]) -> Option<Expected> {
    bounded(parts.concat())
}

fn natural(list: Option<Expected>) -> Option<Expected> {
    list.filter(|list| matches!(list, Expected::List(list) if list.iter().all(|value| *value >= 0)))
}

fn divided(a: i64, b: i64) -> Option<i64> {
    (b != 0).then(|| a.div_euclid(b))
}

fn position(of: &[i64], is_it: impl Fn(i64) -> bool) -> i64 {
    of.iter().position(|x| is_it(*x)).map_or(-1, |at| at as i64)
}

fn inserted(list: &[i64], index: i64, new: i64) -> Option<Expected> {
    let mut list = list.to_vec();
    let at = usize::try_from(index).ok().filter(|at| *at <= list.len())?;
    list.insert(at, new);
    bounded(list)
}

fn removed(list: &[i64], index: i64) -> Option<Expected> {
    at(list, index)?;
    let mut list = list.to_vec();
    list.remove(index as usize);
    bounded(list)
}

fn sorted(list: &[i64]) -> Vec<i64> {
    let mut list = list.to_vec();
    list.sort_unstable();
    list
}

const OPERATIONS: [(&str, &str, Reference); 64] = [
    ("oq", "[]", |_| joined(&[])),
    ("oq", "[e, i]", |g| joined(&[&[g.e, g.i]])),
    ("oq", "q + [e]", |g| joined(&[&g.q, &[g.e]])),
    ("oq", "[e] + q", |g| joined(&[&[g.e], &g.q])),
    ("oq", "q + [e, 10 div i]", |g| (g.i != 0).then(|| joined(&[&g.q, &[g.e, 10i64.div_euclid(g.i)]]))?),
    ("oq", "q + r", |g| joined(&[&g.q, &g.r])),
    ("oq", "q + r + [e]", |g| joined(&[&g.q, &g.r, &[g.e]])),
    ("on", "n + [e]", |g| natural(joined(&[&g.n, &[g.e]]))),
    ("on", "n[i := e]", |g| natural(with(&g.n, g.i, g.e))),
    ("oq", "q[i := e]", |g| with(&g.q, g.i, g.e)),
    ("oq", "q[1 := e]", |g| with(&g.q, 1, g.e)),
    ("oq", "q[1..]", |g| part(&g.q, 1, g.q.len() as i64)),
    ("oq", "q[i..]", |g| part(&g.q, g.i, g.q.len() as i64)),
    ("oq", "q[i..j]", |g| part(&g.q, g.i, g.j)),
    ("oq", "q[1..j]", |g| part(&g.q, 1, g.j)),
    ("oq", "q[0..2]", |g| part(&g.q, 0, 2)),
    ("oq", "q[1..] + [e]", |g| joined(&[g.q.get(1..)?, &[g.e]])),
    ("oq", "q + [e] + [i] + [j]", |g| joined(&[&g.q, &[g.e, g.i, g.j]])),
    ("oq", "q[1..] + [e] + r", |g| joined(&[g.q.get(1..)?, &[g.e], &g.r])),
    ("oq", "(q + [10 div i])[0..1]", |g| {
        let whole = if g.i == 0 { None } else { joined(&[&g.q, &[10i64.div_euclid(g.i)]]) };
        whole.and_then(|_| part(&[&g.q[..], &[10i64.div_euclid(g.i)]].concat(), 0, 1))
    }),
    ("oi", "(n + [e])[0]", |g| {
        natural(joined(&[&g.n, &[g.e]])).and_then(|_| at(&[&g.n[..], &[g.e]].concat(), 0).map(Expected::Int))
    }),
    ("oq", "(if e > 0 then q else r) + [i]", |g| joined(&[if g.e > 0 { &g.q } else { &g.r }, &[g.i]])),
    ("oq", "(q + [e])[i := j]", |g| {
        joined(&[&g.q, &[g.e]]).and_then(|_| with(&[&g.q[..], &[g.e]].concat(), g.i, g.j))
    }),
    ("oq", "(q + [e])[1..]", |g| {
        joined(&[&g.q, &[g.e]]).and_then(|_| bounded([&g.q[..], &[g.e]].concat()[1..].to_vec()))
    }),
    ("oq", "if i > 0 then q[1..] else [e]", |g| {
        if g.i > 0 { joined(&[g.q.get(1..)?]) } else { joined(&[&[g.e]]) }
    }),
    ("oi", "q[i]", |g| at(&g.q, g.i).map(Expected::Int)),
    ("oi", "q[0] + q[len(q) - 1]", |g| Some(Expected::Int(g.q.first()? + g.q.last()?))),
    ("oi", "([4, 5]: list[3] of int)[i]", |g| at(&[4, 5], g.i).map(Expected::Int)),
    ("oi", "len(q)", |g| Some(Expected::Int(g.q.len() as i64))),
    ("oi", "index_of(q, e)", |g| {
        Some(Expected::Int(g.q.iter().position(|value| *value == g.e).map_or(-1, |at| at as i64)))
    }),
    ("ob", "contains(q, e)", |g| Some(Expected::Bool(g.q.contains(&g.e)))),
    ("ob", "q == r", |g| Some(Expected::Bool(g.q == g.r))),
    ("ob", "q != [1, e]", |g| Some(Expected::Bool(g.q != [1, g.e]))),
    ("ob", "all x in q: x < e", |g| Some(Expected::Bool(g.q.iter().all(|x| *x < g.e)))),
    ("ob", "some x in q[1..]: x == e", |g| Some(Expected::Bool(g.q.get(1..)?.contains(&g.e)))),
    ("oi", "count x in q: x > 0", |g| Some(Expected::Int(g.q.iter().filter(|x| **x > 0).count() as i64))),
    ("oq", "[x for x in q if x < e]", |g| {
        joined(&[&g.q.iter().copied().filter(|x| *x < g.e).collect::<Vec<_>>()])
    }),
    ("oq", "[x + e for x in q]", |g| joined(&[&g.q.iter().map(|x| x + g.e).collect::<Vec<_>>()])),
    ("on", "[x - e for x in q if x > 0]", |g| {
        natural(joined(&[&g.q.iter().filter(|x| **x > 0).map(|x| x - g.e).collect::<Vec<_>>()]))
    }),
    ("oq", "[10 div x for x in q if x != i]", |g| {
        let all: Option<Vec<i64>> = g.q.iter().filter(|x| **x != g.i).map(|x| divided(10, *x)).collect();
        joined(&[&all?])
    }),
    ("oq", "[x for x in q if 10 div x > 1]", |g| {
        let keep = |x: &i64| divided(10, *x).map(|of| (of > 1).then_some(*x));
        let all: Option<Vec<Option<i64>>> = g.q.iter().map(keep).collect();
        joined(&[&all?.into_iter().flatten().collect::<Vec<_>>()])
    }),
    ("oq", "[k * e for k in 1..4 if k != i]", |g| {
        joined(&[&(1..=4).filter(|k| *k != g.i).map(|k| k * g.e).collect::<Vec<_>>()])
    }),
    ("oq", "[x for x in [y + 1 for y in q] if x > 0] + [x for x in r if x < 1]", |g| {
        let first: Vec<i64> = g.q.iter().map(|x| x + 1).filter(|x| *x > 0).collect();
        joined(&[&first, &g.r.iter().copied().filter(|x| *x < 1).collect::<Vec<_>>()])
    }),
    ("oi", "len([x for x in q + r if x < e])", |g| {
        joined(&[&g.q, &g.r])?;
        Some(Expected::Int(g.q.iter().chain(&g.r).filter(|x| **x < g.e).count() as i64))
    }),
    ("ob", "[x for x in q if x > i] == [x for x in r if x > i]", |g| {
        Some(Expected::Bool(g.q.iter().filter(|x| **x > g.i).eq(g.r.iter().filter(|x| **x > g.i))))
    }),
    ("ob", "(find x in q: x > e) == some(i)", |g| {
        Some(Expected::Bool(g.q.iter().find(|x| **x > g.e) == Some(&g.i)))
    }),
    ("ob", "(find x in q: 10 div x > e) is none", |g| {
        for x in &g.q {
            if divided(10, *x)? > g.e {
                return Some(Expected::Bool(false));
            }
        }
        Some(Expected::Bool(true))
    }),
    ("oi", "index x in q: x == e", |g| Some(Expected::Int(position(&g.q, |x| x == g.e)))),
    ("oi", "index x in 0..4: x > e", |g| Some(Expected::Int(position(&[0, 1, 2, 3, 4], |x| x > g.e)))),
    ("oi", "sum(q)", |g| Some(Expected::Int(g.q.iter().sum()))),
    ("oi", "sum([x * x for x in q[1..]])", |g| {
        Some(Expected::Int(g.q.get(1..)?.iter().map(|x| x * x).sum()))
    }),
    ("oi", "min(q)", |g| g.q.iter().min().copied().map(Expected::Int)),
    ("oi", "max(n + [e])", |g| {
        natural(joined(&[&g.n, &[g.e]]))?;
        g.n.iter().chain([&g.e]).max().copied().map(Expected::Int)
    }),
    ("oi", "max(q[i..j]) - min(q)", |g| match part(&g.q, g.i, g.j)? {
        Expected::List(of) => Some(Expected::Int(of.iter().max()? - g.q.iter().min()?)),
        _ => None,
    }),
    ("oq", "insert(q, i, e)", |g| inserted(&g.q, g.i, g.e)),
    ("on", "insert(n, 0, e)", |g| natural(inserted(&g.n, 0, g.e))),
    ("oq", "insert(remove_at(q, i), j, e)", |g| match removed(&g.q, g.i)? {
        Expected::List(of) => inserted(&of, g.j, g.e),
        _ => None,
    }),
    ("oq", "remove_at(q, i)", |g| removed(&g.q, g.i)),
    ("oq", "remove_at(q + [e], 0)", |g| {
        joined(&[&g.q, &[g.e]])?;
        removed(&[&g.q[..], &[g.e]].concat(), 0)
    }),
    ("oq", "sorted(q)", |g| joined(&[&sorted(&g.q)])),
    ("oq", "sorted(q[1..] + [e])", |g| joined(&[&sorted(&[g.q.get(1..)?, &[g.e]].concat())])),
    ("ob", "join([to_string(x) for x in q], to_string(e)) == to_string(i)", |g| {
        let text = g.q.iter().map(i64::to_string).collect::<Vec<_>>().join(&g.e.to_string());
        Some(Expected::Bool(text == g.i.to_string()))
    }),
    ("oi", "to_int(join([to_string(x) for x in n], \"\"))", |g| {
        let text = g.n.iter().map(i64::to_string).collect::<String>();
        Some(Expected::Int(text.parse().unwrap_or(-1)))
    }),
    ("ob", "q[0] == e || len(q) == 2", |g| Some(Expected::Bool(*g.q.first()? == g.e || g.q.len() == 2))),
];

#[test]
fn operations_of_lists_are_those_of_vectors() {
    let texts: Vec<(&str, &str)> = OPERATIONS.iter().map(|(to, text, _)| (*to, *text)).collect();
    let terms = terms(&texts);
    let mut random = Random::new(1);
    let mut known = [0u32; 2];
    for _ in 0..600 {
        let given = Given::draw(&mut random);
        let valuation = given.valuation();
        for ((to, text, reference), term) in OPERATIONS.iter().zip(&terms) {
            let value = evaluate(term, &valuation);
            let shown = || format!("{text} of {valuation:?}: {value:?}");
            match reference(&given) {
                None => assert!(value.is_err(), "{}", shown()),
                Some(Expected::Int(number)) => assert_eq!(value, Ok(Value::int(number)), "{text}"),
                Some(Expected::Bool(truth)) => assert_eq!(value, Ok(Value::Bool(truth)), "{text}"),
                Some(Expected::List(list)) => {
                    let value = value.clone().unwrap_or_else(|_| panic!("{}", shown()));
                    assert_eq!(back(&value), list, "{}", shown());
                    assert!(value.is_in(term.sort()), "{}", shown());
                }
            }
            // The condition that is asked for beside a guard is the one of evaluation.
            let holds = evaluate(&defined(term), &valuation) == Ok(Value::Bool(true));
            assert_eq!(holds, value.is_ok(), "{to}: {}", shown());
            known[usize::from(holds)] += 1;
        }
    }
    assert!(known.iter().all(|count| *count > 5_000), "{known:?}");
}

/// Records of any shape that look like lists: where a slot is seen to be blank, it is.
#[test]
fn what_is_seen_to_be_canonical_is() {
    let mut random = Random::new(2);
    let number = |random: &mut Random| random.below(5) as i64 - 1;
    let length = |random: &mut Random| {
        let of = ["len(q)", "len(r)", "len(q) + len(r)", "1", "j", "j - i"][random.below(6)];
        let sum = format!("{of} + {}", number(random));
        if random.below(3) == 0 { format!("if i < j then {sum} else -1") } else { sum }
    };
    let slot = |random: &mut Random, length: &str| {
        let simple = |random: &mut Random| match random.below(5) {
            0 => "0".to_owned(),
            1 => "e".to_owned(),
            _ => format!("{}.at{}''", ["q", "r"][random.below(2)], random.below(BOUND)),
        };
        let mut text = simple(random);
        for _ in 0..random.below(4) {
            let asked = ["len(q)", "len(r)", "j", length][random.below(4)];
            let asked = if asked.starts_with("if") { "len(q)" } else { asked };
            let sign = ["==", ">", "=="][random.below(3)];
            let first = simple(random);
            text = format!("if {asked} {sign} {} then {first} else {text}", number(random));
        }
        text
    };
    let texts: Vec<String> = (0..400)
        .map(|_| {
            let length = length(&mut random);
            let slots: Vec<String> =
                (0..BOUND).map(|at| format!(", at{at}'': {}", slot(&mut random, &length))).collect();
            format!("{{ len'': {length}{} }}", slots.concat())
        })
        .collect();
    let pairs: Vec<(&str, &str)> = texts.iter().map(|text| ("oq", text.as_str())).collect();
    let terms = terms(&pairs);
    let mut known = [0u32; 2];
    for _ in 0..100 {
        let valuation = Given::draw(&mut random).valuation();
        for (term, text) in terms.iter().zip(&texts) {
            let value = evaluate(term, &valuation);
            let holds = evaluate(&defined(term), &valuation) == Ok(Value::Bool(true));
            assert_eq!(holds, value.is_ok(), "{text}\nof {valuation:?}: {value:?}");
            known[usize::from(holds)] += 1;
        }
    }
    assert!(known.iter().all(|count| *count > 5_000), "{known:?}");
}

#[test]
fn cases_of_variants_are_those_of_enumerations() {
    #[derive(Clone, Copy)]
    enum Reply {
        Ok(i64),
        Missing,
        Error(i64, bool),
    }
    let expressions = [
        ("oi", "match s: Ok(v) -> v + 1 | Missing -> 0 | Error(code, _) -> code - 1"),
        ("oi", "match s: Missing -> 7 | _ -> i"),
        ("ob", "s is Ok || s == Missing"),
        (
            "os",
            "match s: Ok(v) -> Error(v, v > 0) | Missing -> Ok(i) | Error(c, f) -> if f then Missing else Ok(c)",
        ),
        ("ob", "s == Error(i, true)"),
        ("oo", "match s: Ok(v) -> some(v) | _ -> none"),
        ("oi", "match o: some(x) -> x | none -> -1"),
        ("ob", "o == none || o == some(i)"),
    ];
    let terms = terms(&expressions);
    let reply = terms[3].sort().clone();
    let Type::Record(ty) = &reply else { panic!() };
    let option = Arc::new(RecordType::option(&Type::Nat));
    let value = |one: Reply| match one {
        Reply::Ok(v) => ty.value_of(ty.tag(0), [Value::int(v)]),
        Reply::Missing => ty.value_of(ty.tag(1), []),
        Reply::Error(c, f) => ty.value_of(ty.tag(2), [Value::int(c), Value::Bool(f)]),
    };
    let optional = |one: Option<i64>| match one {
        Some(n) => option.value_of(option.tag(1), [Value::int(n)]),
        None => option.value_of(option.tag(0), []),
    };
    let mut random = Random::new(3);
    for _ in 0..2_000 {
        let (v, i) = (random.below(5) as i64 - 2, random.below(5) as i64 - 2);
        let f = random.below(2) == 1;
        let s = [Reply::Ok(v), Reply::Missing, Reply::Error(v, f)][random.below(3)];
        let o = [None, Some(v.abs())][random.below(2)];
        let valuation: Valuation = [
            (Datum::new("s", reply.clone()), value(s)),
            (Datum::new("o", Type::Record(option.clone())), optional(o)),
            (Datum::new("i", Type::Int), Value::int(i)),
        ]
        .into();
        let expected = [
            Some(Value::int(match s {
                Reply::Ok(v) => v + 1,
                Reply::Missing => 0,
                Reply::Error(code, _) => code - 1,
            })),
            Some(Value::int(if matches!(s, Reply::Missing) { 7 } else { i })),
            Some(Value::Bool(matches!(s, Reply::Ok(_) | Reply::Missing))),
            Some(value(match s {
                Reply::Ok(v) => Reply::Error(v, v > 0),
                Reply::Missing => Reply::Ok(i),
                Reply::Error(c, f) => {
                    if f {
                        Reply::Missing
                    } else {
                        Reply::Ok(c)
                    }
                }
            })),
            Some(Value::Bool(matches!(s, Reply::Error(c, true) if c == i))),
            match s {
                Reply::Ok(v) => (v >= 0).then(|| optional(Some(v))),
                _ => Some(optional(None)),
            },
            Some(Value::int(o.unwrap_or(-1))),
            // `some(i)` is evaluated where `o` is no `none`, and is no value of a negative number.
            match o {
                None => Some(Value::Bool(true)),
                Some(n) => (i >= 0).then_some(Value::Bool(n == i)),
            },
        ];
        for (((_, text), term), expected) in expressions.iter().zip(&terms).zip(expected) {
            let found = evaluate(term, &valuation);
            assert_eq!(found.as_ref().ok(), expected.as_ref(), "{text} of {valuation:?}");
            let holds = evaluate(&defined(term), &valuation) == Ok(Value::Bool(true));
            assert_eq!(holds, expected.is_some(), "{text} of {valuation:?}");
        }
    }
}

#[test]
fn values_are_enumerated_once_and_go_over_a_wire() {
    let list = |most, element: &Type| Type::Record(Arc::new(RecordType::list(most, element)));
    let option = |some: &Type| Type::Record(Arc::new(RecordType::option(some)));
    let small = Type::Range(1.into(), 2.into());
    let variant = Type::Record(Arc::new(RecordType::variant(
        "V",
        &[
            ("A".to_owned(), vec![("x".to_owned(), small.clone()), ("y".to_owned(), Type::Bool)]),
            ("B".to_owned(), Vec::new()),
        ],
    )));
    for (json, why) in [
        (json!({ "A": 1 }), r#"expected {"A": {"x": ..., "y": ...}}, not {"A":1}"#),
        (json!("A"), r#"expected {"A": {"x": ..., "y": ...}}, not "A""#),
        (
            json!({ "A": { "x": 1, "z": 1 } }),
            r#"expected {"A": {"x": ..., "y": ...}}, not {"A":{"x":1,"z":1}}"#,
        ),
        (json!({ "B": {} }), r#"expected "B", not {"B":{}}"#),
        (json!({ "kind": "A", "x": 1 }), r#"expected {"A": {"x": ..., "y": ...}}, not {"kind":"A","x":1}"#),
        (json!({ "A": { "x": 3, "y": true } }), "in `A.x`, expected a value of type int[1..2], not 3"),
        (json!(1), r#"expected a value of type V ({"A": {"x": ..., "y": ...}} or "B"), not 1"#),
    ] {
        assert_eq!(codec::from_json(&json, &variant), Err(Misread::Wrong(why.to_owned())));
    }
    for (most, json, why) in [
        (1, json!([1, 2]), "list[1] of int[1..2] has at most 1 element, and this one has 2"),
        (2, json!([1, 2, 1]), "list[2] of int[1..2] has at most 2 elements, and this one has 3"),
    ] {
        assert_eq!(codec::from_json(&json, &list(most, &small)), Err(Misread::Wrong(why.to_owned())));
    }
    // In plain text, a string stands as it is, also in an option.
    for text in ["5", "true", "\"a\"", "[", ""] {
        let some = codec::from_text(text, &option(&Type::String)).unwrap();
        assert_eq!(some.to_string(), format!("some({})", Value::string(text)));
        assert_eq!(codec::to_text(&some), text);
    }
    for (ty, count) in [
        (list(3, &small), 15),
        (list(2, &list(1, &Type::Bool)), 13),
        (option(&list(1, &small)), 4),
        (option(&variant), 6),
        (variant, 5),
    ] {
        let mut values = Value::enumerate(&ty, 20).unwrap();
        assert_eq!(ty.cardinality(), Some(count), "{ty}");
        for value in &values {
            assert!(value.is_in(&ty), "{value}");
            let json = codec::to_json(value);
            assert_eq!(codec::from_json(&json, &ty), Ok(value.clone()), "{json}");
            assert_eq!(codec::from_text(&codec::to_text(value), &ty), Ok(value.clone()), "{json}");
        }
        assert_eq!(values.len(), count, "{ty}");
        values.sort();
        values.dedup();
        assert_eq!(values.len(), count, "{ty}");
        assert!(Value::any(&ty).is_in(&ty), "{ty}");
    }
}

/// Precision: what is wrong is said where it is, and how it would be right.
#[test]
fn mistakes_are_told_by_name() {
    let found = |types: &str, ty: &str, value: &str| {
        let text = format!(
            "iosts: m\ntypes: {{ Reply: [Ok: {{ value: int }}, Missing]{types} }}\nvariables: {{ x: '{ty}', r: Reply, q: 'list[2] of int' }}\n\
             initial: {{ location: A }}\noutputs: {{ t: {{}} }}\ntransitions:\n  - {{ from: A, to: A, on: t, assign: {{ x: '{value}' }} }}\n"
        );
        let mistakes =
            read_specification(from_bytes("m.yaml".to_owned(), text.into_bytes()).unwrap()).unwrap_err();
        let first = &mistakes[0];
        let help = first.help.clone().unwrap_or_default();
        format!("{} at {}: {help}", first.code, first.labels[0].0.text())
    };
    for (ty, value, expected) in [
        ("int", "match r: Ok(v) -> v", "missing-case at match r: Ok(v) -> v: write `_ -> e` for all others"),
        (
            "int",
            "match r: Ok(v) -> v | Mising -> 0",
            "unknown-alternative at Mising: did you mean `Missing`?",
        ),
        ("int", "match r: _ -> 0 | Ok(v) -> v", "unreachable-case at Ok: "),
        (
            "int",
            "match r: Ok -> 0 | _ -> 1",
            "wrong-arity at Ok: write `Ok(value)`, with `_` for unused fields",
        ),
        ("int", "match q: Ok -> 0 | _ -> 1", "type-mismatch at q: "),
        (
            "Reply",
            "Ok",
            "missing-field at Ok: `x is Ok` asks whether `x` is one; with data it is a value, for example `Ok(0)`",
        ),
        ("Reply", "Ok(true)", "type-mismatch at true: "),
        ("bool", "r is Missin", "unknown-alternative at Missin: did you mean `Missing`?"),
        ("list[2] of int", "q + [true]", "type-mismatch at true: "),
        ("list[2] of int", "q + 1", "type-mismatch at 1: write an element in brackets: `q + [1]`"),
        ("list[2] of int", "[1, 2, 3]", "wrong-arity at [1, 2, 3]: "),
        ("list[2] of bool", "q + q", "type-mismatch at q + q: "),
        (
            "bool",
            "starts_with(q, q)",
            "type-mismatch at starts_with: lists have `len`, `contains`, `index_of`, `insert`, `remove_at`, `sorted`, `sum`, `join`, `min` and `max`",
        ),
        ("list of int", "[]", "syntax at of: "),
        ("list[65] of int", "[]", "list-bound at 65: "),
        ("option[option[int]]", "none", "nested-option at option: "),
        (
            "int",
            "if none == none then 0 else 1",
            "unknown-type-of-literal at none: write the type: `Parcel { weight: 3 }` for a record, `([0 for all]: array[nat] of int)` for an array, `([1]: list[8] of int)` for a list, `({A}: set[Kind])` for a set, `([A: 1]: map[Kind] of int)` for a map, `(none: option[int])` for an option",
        ),
    ] {
        assert_eq!(found("", ty, value), expected, "{value}");
    }
    assert!(found(", Other: [Ok, No]", "int", "0").starts_with("duplicate-name at Ok"));
    assert!(found(", Other: [A: { x: int }, A]", "int", "0").starts_with("duplicate-declaration at A"));
}

/// Precision: operations on a list of sixteen records, or a map of sixteen entries, stand for few parts, and
/// so do several of them in one another.
#[test]
fn operations_on_large_collections_stand_for_few_parts() {
    let text = |expression: &str, to: &str| {
        format!(
            "iosts: m\ntypes: {{ T: {{ id: nat, title: string, owner: string, done: bool }} }}\n\
             variables: {{ q: 'list[16] of T', m: 'map[16] of string to T', s: 'set[16] of string', i: int, k: string, t: T,\
             w: 'list[16] of int', ow: 'list[16] of int' }}\n\
             initial: {{ location: A }}\noutputs: {{ u: {{}} }}\ntransitions:\n\
             \x20 - {{ from: A, to: A, on: u, assign: {{ {to}: '{expression}' }} }}\n"
        )
    };
    for (to, expression, most) in [
        ("q", "[x for x in q if x.done && x.id > i]", 3_000),
        ("q", "insert(q, i, t)", 1_000),
        ("q", "remove_at(q, i)", 1_000),
        ("q", "insert([x for x in remove_at(q, i) if !x.done], 0, t)", 6_000),
        ("m", "m[k := t]", 1_000),
        ("m", "m - {k}", 1_000),
        ("m", "(m - s)[k := t]", 6_000),
        ("s", "s + keys(m)", 6_000),
        ("ow", "sorted(w)", 2_000),
        ("i", "sum([x.id for x in q if x.owner in s])", 3_000),
    ] {
        let term = read(&text(expression, to))
            .iosts
            .transitions
            .iter()
            .next()
            .unwrap()
            .assignments
            .values()
            .next()
            .unwrap()
            .clone();
        assert!(term.lowered().has_at_most(most), "{expression}");
        assert!(defined(&term).lowered().has_at_most(2 * most), "{expression}");
    }
}

/// Precision: a filter that is written by hand, one element at a time, is as small as it looks.
#[test]
fn joined_parts_stand_for_few_parts() {
    let part = "(if i < len(q) then q[i..i + 1] else q[0..0])";
    let sum = [part; 4].join(" + ");
    let text = format!(
        "iosts: m\ntypes: {{ T: {{ id: nat, title: string, done: bool }} }}\nvariables: {{ q: 'list[4] of T', i: int }}\n\
         initial: {{ location: A }}\noutputs: {{ u: {{}} }}\ntransitions:\n\
         \x20 - {{ from: A, to: A, on: u, assign: {{ q: '{sum}' }} }}\n"
    );
    let term =
        read(&text).iosts.transitions.iter().next().unwrap().assignments.values().next().unwrap().clone();
    assert!(
        term.lowered().has_at_most(3_000) && term.lowered().written_size() < 1_000_000,
        "{}",
        term.lowered().written_size()
    );
}

/// Precision: a type may have as many parts as the message says, itself among them, and no more.
#[test]
fn a_type_has_at_most_a_thousand_parts() {
    for (fields, expected) in [(999, None), (1_000, Some("type-too-large"))] {
        let fields: Vec<String> = (0..fields).map(|number| format!("f{number}: int")).collect();
        let text = format!(
            "iosts: m\ntypes: {{ R: {{ {} }} }}\nvariables: {{ r: R }}\ninitial: {{ location: A }}\n\
             outputs: {{ t: {{}} }}\ntransitions:\n  - {{ from: A, to: A, on: t }}\n",
            fields.join(", ")
        );
        let found = read_specification(from_bytes("m.yaml".to_owned(), text.into_bytes()).unwrap());
        let found = found.map_or_else(|found| found, |(_, warnings)| warnings);
        let error = found.iter().find(|one| one.is_error()).map(|one| one.code);
        assert_eq!(error, expected, "{} fields: {found:?}", fields.len());
    }
}
