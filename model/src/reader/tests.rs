//! The reader as tables: input beside what must come of it.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::data::Datum;
use crate::diagnostic::SourceFile;
use crate::iosts::TransitionId;
use crate::reader::collect::Collector;
use crate::reader::scope::{Meaning, Names, Scope};
use crate::reader::typing::read_expression;
use crate::term::Term;
use crate::term::node::{Comparison, Operator};
use crate::types::{ArrayType, EnumType, RecordType, Type};
use crate::value::Value;

fn file(text: &str) -> Arc<SourceFile> {
    Arc::new(SourceFile { name: "model.yaml".to_owned(), text: text.to_owned() })
}

const COFFEE: &str = include_str!("tests/coffee_machine.yaml");
const DELIVER: &str = include_str!("tests/deliver_coffee.yaml");

fn beverage() -> Arc<EnumType> {
    Arc::new(EnumType { name: "Beverage".to_owned(), literals: vec!["TEA".to_owned(), "COFFEE".to_owned()] })
}

fn data() -> Vec<Datum> {
    let pair = RecordType {
        name: "Pair".to_owned(),
        fields: vec![("left".to_owned(), Type::Int), ("right".to_owned(), Type::Real)],
        form: crate::types::RecordForm::Plain,
    };
    let array = ArrayType { index: Type::Range(0.into(), 9.into()), element: Type::Int };
    vec![
        Datum::new("x", Type::Int),
        Datum::new("y", Type::Nat),
        Datum::new("z", Type::Int),
        Datum::new("r", Type::Real),
        Datum::new("s", Type::Real),
        Datum::new("t", Type::String),
        Datum::new("b", Type::Bool),
        Datum::new("c", Type::Bool),
        Datum::new("v", Type::Enum(beverage())),
        Datum::new("a", Type::Array(Arc::new(array))),
        Datum::new("p", Type::Record(Arc::new(pair))),
    ]
}

fn names() -> Names {
    let mut names = Names::default();
    for datum in data() {
        names.add(datum.name(), Meaning::Variable(datum.clone()), None);
    }
    for (at, literal) in ["TEA", "COFFEE"].into_iter().enumerate() {
        names.add(literal, Meaning::Literal(beverage(), at), None);
    }
    names
}

/// The term of a text, or the first finding as `code at words`.
fn read(text: &str, expected: &Type) -> Result<Term, String> {
    // In single quotes a string needs no escape.
    let quoted = match text.contains('"') && !text.contains('\'') {
        true => format!("'{text}'"),
        false => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    };
    let mut collector = Collector::new(file(&quoted));
    let node = yaml::parse(&mut collector).ok_or("no YAML")?;
    let term = read_expression(&mut collector, &node, Scope::of(&names()), expected, "the test");
    let (found, _) = collector.finish();
    match (term, found.iter().find(|found| found.is_error())) {
        (Some(term), None) => Ok(term),
        (None, Some(finding)) => Err(format!("{} at {}", finding.code, finding.labels[0].0.text())),
        other => panic!("{other:?}"),
    }
}

/// Lifting is not printed, so `x + y` must mean the same where it was built from lifted parts.
#[test]
fn lifted_integers_are_read_back() {
    let cases = [
        ("0.0 + x + y == r", "x + y == r"),
        ("0.0 + x - (0.0 + y) * (0.0 + x) < r", "x - y * x < r"),
        ("-(0.0 + x) == r", "-x == r"),
        ("(if b then 0.0 + x else 0.0 + y) == r", "(if b then x else y) == r"),
        ("0.0 + x <= 0.0 + y", "x <= y"),
    ];
    for (text, printed) in cases {
        let term = read(text, &Type::Bool).unwrap_or_else(|finding| panic!("{text}: {finding}"));
        assert_eq!(term.to_string(), printed);
        assert_eq!(read(printed, &Type::Bool), Ok(term));
    }
}

#[test]
fn truth_values_are_read() {
    let cases = [
        ("x > 0 && y == 0", "x > 0 && y == 0"),
        ("x > 0 and y = 0 or not b", "x > 0 && y == 0 || !b"),
        ("0 <= x < 10", "0 <= x && x < 10"),
        ("x == 1 => y == 2 => b", "x == 1 && y == 2 => b"),
        ("x == 1 || y == 2 => b || c", "x == 1 || y == 2 => b || c"),
        ("x != 1 || b", "x != 1 || b"),
        ("b && (c => x == 1)", "b && (c => x == 1)"),
        ("some i in 0..3: (i == x => b)", "some i in 0..3: (i == x => b)"),
        ("all i in 0..3: i == x => a[i] == 3", "all i in 0..3: i == x => a[i] == 3"),
        ("b implies c", "b => c"),
        ("(b => c) => b", "!b || c => b"),
        ("!(x == 1)", "x != 1"),
        ("b == c", "b == c"),
        ("v == TEA", "v == TEA"),
        ("v != COFFEE || b", "v != COFFEE || b"),
        ("r > 1", "r > 1.0"),
        ("x / 2 == 1.5", "x / 2.0 == 1.5"),
        ("r == 0.25", "r == 0.25"),
        ("x mod 2 == 1", "x mod 2 == 1"),
        ("x - y - 1 == 0", "x - y - 1 == 0"),
        ("x - (y - 1) == 0", "x - (y - 1) == 0"),
        ("-x * y < x", "-x * y < x"),
        ("x * -2 < -x", "x * -2 < -x"),
        ("2 + 3 * 4 == x", "14 == x"),
        ("(if b then x else y) > 0", "(if b then x else y) > 0"),
        ("if b then x > 0 else y > 0", "if b then x > 0 else y > 0"),
        ("a[x] == 3", "a[x] == 3"),
        ("a[0 := x][1] == a[1]", "true"),
        ("a[x := 3] == a", "a[x := 3] == a"),
        ("p.left == x && p.right > 0.5", "p.left == x && p.right > 0.5"),
        ("10 div 0 == x", "10 div 0 == x"),
        ("true", "true"),
        ("b == true", "b"),
        ("not b or c", "!b || c"),
        ("x <= r", "x <= r"),
        ("x' == 1", "!unknown-name at x'"),
    ];
    for (text, expected) in cases {
        let found = read(text, &Type::Bool).map_or_else(|error| format!("!{error}"), |term| term.to_string());
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn strings_are_read_and_read_back() {
    let cases = [
        (r#"t == "a\"b\\\n\u{e9}""#, r#"t == "a\"b\\\né""#),
        (r#""x" + t + "y" + "z" == t"#, r#""x" + t + "yz" == t"#),
        (r#"t + (t + "b") != "" + t"#, r#"t + (t + "b") != t"#),
        (r#"len(t + "ab") <= x + len("ab")"#, r#"len(t + "ab") <= x + 2"#),
        (r#"!starts_with(t, "job-") && contains(t, "")"#, r#"!starts_with(t, "job-") && contains(t, "")"#),
        (r#"t[0] < t[x..len(t)] || (t + t)[1] == """#, r#"t[0] < t[x..len(t)] || (t + t)[1] == """#),
        (r#"to_int(t) == index_of("abc", "c")"#, "to_int(t) == 2"),
        (r#"ends_with(to_string(x), t)"#, "ends_with(to_string(x), t)"),
        (r#""ab" < "b" && "\u{ffff}" < "\u{10000}""#, "true"),
        (r#""abc"[1..3] == t"#, r#""bc" == t"#),
        (r#"matches(t, "\\d+|.")"#, r#"matches(t, "[0-9]+|[^\\x0a]")"#),
        (r#"matches("ab", "[a-c]{2}") || matches("ab", "a")"#, "true"),
        // What has no value is not computed.
        (r#""abc"[3] == t"#, r#""abc"[3] == t"#),
    ];
    for (text, expected) in cases {
        let term = read(text, &Type::Bool).unwrap_or_else(|finding| panic!("{text}: {finding}"));
        assert_eq!(term.to_string(), expected, "{text}");
        assert_eq!(read(expected, &Type::Bool), Ok(term), "{text}");
    }
}

#[test]
fn mistakes_are_placed() {
    let cases = [
        ("x >", "syntax at >"),
        ("", "expected-expression at \"\""),
        ("x > 0 &&", "syntax at &"),
        ("x > 0 & b", "syntax at &"),
        ("x > 0 b", "syntax at b"),
        ("(x > 0", "syntax at ("),
        ("x > 0)", "syntax at )"),
        ("x ≥ 0", "syntax at ≥"),
        ("x =< 0", "syntax at =<"),
        ("x % 2 == 0", "syntax at %"),
        ("2x > 0", "syntax at 2x"),
        ("f(x) > 0", "unknown-function at f"),
        ("len(t, t) > 0", "wrong-arity at len(t, t)"),
        ("len(x) > 0", "type-mismatch at x"),
        ("len(t > 0", "syntax at ("),
        ("t + x == t", "type-mismatch at x"),
        ("t[..1] == t", "syntax at .."),
        ("a[0..1] == a", "type-mismatch at a"),
        ("t[b] == t", "type-mismatch at b"),
        ("t == \"\\q\"", "syntax at \"\\q\""),
        ("t == \"q", "syntax at \"q"),
        ("if b then x", "syntax at x"),
        ("a[x", "syntax at ["),
        ("a[x := ] == a", "syntax at ]"),
        ("b ? x : y", "syntax at ?"),
        ("х > 0", "non-ascii-name at х"),
        ("größe > 0", "non-ascii-name at größe"),
        ("x", "type-mismatch at x"),
        ("x + b > 0", "type-mismatch at b"),
        ("v < TEA", "type-mismatch at v < TEA"),
        ("v == 3", "type-mismatch at v"),
        ("!x == 3", "type-mismatch at x"),
        ("x && b", "type-mismatch at x"),
        ("r mod 2 == 1", "type-mismatch at r"),
        ("x[0] == 1", "type-mismatch at x"),
        ("a[b] == 1", "type-mismatch at b"),
        ("p.middle == 1", "unknown-field at middle"),
        ("x.left == 1", "type-mismatch at x"),
        ("if x then b else c", "type-mismatch at x"),
        ("(if b then x else c) == 1", "type-mismatch at x"),
        ("X > 0", "unknown-name at X"),
        ("a[0 := b] == a", "type-mismatch at b"),
        ("\"TEA\" == v", "type-mismatch at \"TEA\""),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text, &Type::Bool).unwrap_err(), expected, "{text}");
    }
    assert_eq!(read("x / 2", &Type::Int).unwrap_err(), "type-mismatch at x / 2");
}

#[test]
fn hostile_expressions_are_answered() {
    let cases = [
        format!("{}b{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("{}b{}", "(".repeat(30_000), ")".repeat(30_000)),
        format!("{}b", "!".repeat(50_000)),
        format!("{}x == 1", "-".repeat(50_000)),
        format!("x{} == 1", " + x".repeat(10_000)),
        format!("a{}", "[0 := 1]".repeat(5_000)),
        format!("{}1", "a[".repeat(20_000)),
        format!("{}x", "if b then ".repeat(6_000)),
        format!("x == {}", "9".repeat(20_000)),
        format!("x == 0.{}", "9".repeat(20_000)),
        format!("b{}", ".left".repeat(10_000)),
        "=".repeat(60_000),
        "\u{0}\u{7}\u{200b}".to_owned(),
    ];
    for text in cases {
        let mistake = parser::parse(&text, ReaderLimits::GIVEN.expression).unwrap_err();
        assert!(mistake.span.end <= text.len(), "{mistake:?}");
    }
    // At the limits everything works, in the small stack of a test's thread.
    let nested = format!("{}b{}", "(".repeat(199), ")".repeat(199));
    assert_eq!(read(&nested, &Type::Bool).unwrap().to_string(), "b");
    let negated = format!("{}b", "!".repeat(200));
    assert_eq!(read(&negated, &Type::Bool).unwrap().to_string(), "b");
    let long = format!("x{} == 1", " * x".repeat(490));
    assert_eq!(read(&long, &Type::Bool).unwrap().to_string(), long);
    let wide = format!("b{}", " && (c || x == 1)".repeat(3_000));
    assert_eq!(read(&wide, &Type::Bool).unwrap().to_string(), "b && (c || x == 1)");
    let digits = format!("x == {}", "9".repeat(10_000));
    assert_eq!(read(&digits, &Type::Bool).unwrap().to_string(), digits);
    let conditional = format!("{}b", "if x == 1 then c else ".repeat(195));
    assert!(read(&conditional, &Type::Bool).is_ok());
    // What is written out is more than is written down.
    let names = |joint: &str| (0..9).map(|at| format!("i{at}")).collect::<Vec<_>>().join(joint);
    let all: String = (0..9).map(|at| format!("all i{at} in 0..9: ")).collect();
    let all = format!("{all}{} == x", names(" + "));
    assert!(read(&all, &Type::Bool).unwrap_err().starts_with("expression-too-large"));
    let quantified: String = (0..99).map(|at| format!("all i{at} in 0..1: ")).collect();
    // Instances that are one are one.
    let quantified = read(&format!("{quantified}i0 == x"), &Type::Bool).unwrap();
    assert_eq!(quantified.lowered().to_string(), "0 == x && 1 == x");
    let called = format!("{}x{}", "f(".repeat(50_000), ")".repeat(50_000));
    assert_eq!(parser::parse(&called, 1 << 20).unwrap_err().code, "expression-too-deep");
}

#[test]
fn hostile_files_are_answered() {
    let bomb = {
        let mut text = "a: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..30 {
            let items = vec![format!("*a{}", level - 1); 9].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{items}]\n"));
        }
        text
    };
    let cases = [
        ("too-many-values", bomb),
        ("nested-too-deep", "[".repeat(100_000)),
        ("nested-too-deep", "- ".repeat(100_000)),
        ("recursive-alias", "a: &a [*a]".to_owned()),
        ("unknown-alias", "iosts: *nobody".to_owned()),
        ("yaml-syntax", "iosts: 'open".to_owned()),
        ("yaml-syntax", "iosts: {a: ]}".to_owned()),
        ("second-document", "iosts: a\n---\niosts: b\n".to_owned()),
        ("empty-file", String::new()),
        ("key-not-a-name", "{[a]: b}: c".to_owned()),
    ];
    for (code, text) in cases {
        let found = read_specification(file(&text)).unwrap_err();
        assert!(found.iter().any(|finding| finding.code == code), "{code}: {found:?}");
    }
    assert_eq!(from_bytes("m".into(), vec![b'a', 0xff]).unwrap_err().code, "invalid-utf8");
    assert_eq!(
        from_bytes("m".into(), vec![b'a'; ReaderLimits::GIVEN.bytes + 1]).unwrap_err().code,
        "file-too-large"
    );
}

#[test]
fn warnings_are_cut_off_as_warnings_and_errors_stop_the_reader() {
    let unused: Vec<String> = (0..150).map(|at| format!("L{at}")).collect();
    let text = |transitions: &str| {
        format!(
            "iosts: m\nlocations: [a, {}]\ninitial: {{ location: a }}\ninputs: {{ Go: {{ }} }}\ntransitions:\n{transitions}",
            unused.join(", ")
        )
    };
    let good = "  - { from: a, to: a, on: Go }\n";
    let (_, warnings) = read_specification(file(&text(good))).unwrap();
    assert_eq!(warnings.len(), 101);
    assert!(warnings.iter().all(|warning| !warning.is_error()));
    assert_eq!(warnings[100].message, "50 more warnings are not shown");
    let wrong: String = (0..150).map(|at| format!("  - {{ from: a, to: a, on: Going{at} }}\n")).collect();
    let found = read_specification(file(&text(&wrong))).unwrap_err();
    assert_eq!((found.len(), found[100].code), (101, "too-many-errors"));
}

#[test]
fn a_product_of_long_numbers_is_refused() {
    let long = "9".repeat(9_000);
    assert!(read(&format!("x == {long}"), &Type::Bool).is_ok());
    let found = read(&format!("x == {long} * {long}"), &Type::Bool).unwrap_err();
    assert!(found.starts_with("number-too-long"), "{found}");
}

#[test]
fn the_coffee_machine_is_read() {
    let (specification, warnings) = read_specification(file(COFFEE)).unwrap();
    assert_eq!(warnings, []);
    let iosts = &specification.iosts;
    let names: Vec<&str> = iosts.locations.iter().map(|location| location.name.as_str()).collect();
    assert_eq!(names, ["Begin", "Idle", "Pay", "Choose", "Delivery", "Return"]);
    assert_eq!(iosts.initial_condition.to_string(), "cPrice > 0 && vPaid == 0 && vBeverage == TEA");
    assert_eq!(iosts.describe(&iosts.transitions[TransitionId(1)]), "Idle -Coin-> Pay");
    assert_eq!(iosts.transitions[TransitionId(1)].guard.to_string(), "pCoinValue > 0");
    let guard = iosts.transitions[TransitionId(1)].origin.guard.as_ref().unwrap();
    assert_eq!(guard.text(), "\"coin > 0\"");
    let (purpose, warnings) = read_purpose(file(DELIVER), &specification).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(purpose.iosts.actions, iosts.actions);
    assert_eq!(purpose.observes, purpose.iosts.constants);
    assert_eq!(purpose.observes[0], *iosts.find_datum("vPaid").unwrap());
}

const TRICKY: &str = include_str!("tests/tricky.yaml");

/// The model without its places in the text.
fn without_origins(iosts: &crate::iosts::Iosts) -> crate::iosts::Iosts {
    let mut iosts = iosts.clone();
    iosts.origin = None;
    for transition in &mut iosts.transitions {
        transition.origin = Default::default();
    }
    iosts
}

#[test]
fn what_is_written_is_read_back() {
    for text in [COFFEE, TRICKY] {
        let (specification, _) = read_specification(file(text)).unwrap();
        let written = crate::writer::write_yaml(&specification.iosts, &specification.types);
        let (again, _) = read_specification(file(&written)).unwrap_or_else(|e| panic!("{e:?}\n{written}"));
        assert_eq!(without_origins(&again.iosts), without_origins(&specification.iosts), "{written}");
        assert_eq!(again.types, specification.types);
        assert_eq!(crate::writer::write_yaml(&again.iosts, &again.types), written);
    }
    let (specification, _) = read_specification(file(COFFEE)).unwrap();
    let (purpose, _) = read_purpose(file(DELIVER), &specification).unwrap();
    let written = crate::writer::write_purpose_yaml(&purpose);
    let (again, _) = read_purpose(file(&written), &specification).unwrap();
    assert_eq!(without_origins(&again.iosts), without_origins(&purpose.iosts));
    assert!(written.contains("\"on\": Deliver"));
}

const FREE: &str = r#"
iosts: free
types: { Hour: "int[0..23]" }
variables: { vBusy: "set[Hour]", vNext: "option[Hour]", vAny: "option[int]", vLow: "set[int[0..9]]" }
initial: { location: Idle, condition: "vBusy == {} && vNext is none && vAny is none && vLow == {}" }
outputs: { Free: { hour: "option[Hour]" } }
transitions:
  - { from: Idle, to: Idle, on: Free, when: "GUARD", assign: { vNext: "find h in Hour: !(h in vBusy)" } }
"#;

/// A `find` is of the type that stands beside it, or is said, where all its values are of it.
#[test]
fn a_find_has_the_type_that_is_expected() {
    for guard in [
        "hour == (find h in Hour: !(h in vBusy))",
        "(find h in 3..7: !(h in vBusy)) != hour",
        "hour == ((find h in Hour: !(h in vBusy)): option[Hour])",
        "hour == (find h in vBusy: h > 3)",
        "hour == (if hour is some then hour else find h in Hour: h in vBusy)",
        "(find h in Hour: h in vBusy) == (find h in vBusy: h > 3) && (find h in vBusy: h > 4) is some",
        "vAny == (find h in Hour: h in vBusy) && none == (find h in vBusy: h > 5)",
        "((find h in Hour: h in vBusy): option[Hour]) is some",
    ] {
        let (read, _) = read_specification(file(&FREE.replace("GUARD", guard)))
            .unwrap_or_else(|found| panic!("{guard}: {found:#?}"));
        let written = crate::writer::write_yaml(&read.iosts, &read.types);
        let (again, _) =
            read_specification(file(&written)).unwrap_or_else(|found| panic!("{found:#?}\n{written}"));
        assert_eq!(without_origins(&again.iosts), without_origins(&read.iosts), "{written}");
    }
    for (guard, help) in [
        ("hour == vAny", "options of one range"),
        ("hour == (find h in 20..30: h in vBusy)", "options of one range"),
        ("vBusy == vLow", "`(all k in s: k in t) && (all k in t: k in s)`"),
    ] {
        let found = read_specification(file(&FREE.replace("GUARD", guard))).unwrap_err();
        assert!(found.iter().any(|one| one.help.as_ref().is_some_and(|is| is.contains(help))), "{found:#?}");
    }
    // What the help says can be written.
    for guard in [
        "match hour: some(x) -> (match vAny: some(y) -> x == y | none -> false) | none -> vAny is none",
        "(all k in vBusy: k in vLow) && (all k in vLow: k in vBusy)",
    ] {
        read_specification(file(&FREE.replace("GUARD", guard))).unwrap();
    }
}

fn numbers(real: bool) -> BoxedStrategy<Term> {
    let known = data();
    let of = |name: &str| Term::datum(known.iter().find(|datum| datum.name() == name).unwrap());
    let leaf = if real {
        prop_oneof![
            Just(of("r")),
            Just(of("s")),
            (-40i64..40, 1i64..9).prop_map(|(n, d)| {
                let value = dashu_ratio::RBig::from(n) / dashu_ratio::RBig::from(d);
                Term::literal(Value::Real(value))
            }),
        ]
        .boxed()
    } else {
        prop_oneof![Just(of("x")), Just(of("y")), Just(of("z")), (-40i64..40).prop_map(Term::int)].boxed()
    };
    let array = of("a");
    leaf.prop_recursive(5, 24, 2, move |inner| {
        let array = array.clone();
        let operators = if real {
            vec![Operator::Add, Operator::Subtract, Operator::Multiply, Operator::Divide]
        } else {
            vec![
                Operator::Add,
                Operator::Subtract,
                Operator::Multiply,
                Operator::IntegerDivide,
                Operator::Modulo,
            ]
        };
        let branches = (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(a, b, equal)| {
            let comparison = if equal { Comparison::Equal } else { Comparison::AtMost };
            Term::if_then_else(&Term::compare(comparison, &a, &b), &b, &a)
        });
        let binary = (proptest::sample::select(operators), inner.clone(), inner.clone())
            .prop_map(|(operator, a, b)| Term::arithmetic(operator, &a, &b));
        let cell = (inner.clone(), inner.clone(), inner.clone())
            .prop_map(move |(i, j, e)| if real { i } else { Term::select(&Term::store(&array, &i, &e), &j) });
        prop_oneof![4 => binary, 1 => inner.prop_map(|a| a.negate()), 1 => branches, 1 => cell]
    })
    .boxed()
}

fn truths() -> BoxedStrategy<Term> {
    let known = data();
    let of = |name: &str| Term::datum(known.iter().find(|datum| datum.name() == name).unwrap());
    let (v, b, c) = (of("v"), of("b"), of("c"));
    let comparisons = proptest::sample::select(vec![
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::AtMost,
        Comparison::Greater,
        Comparison::AtLeast,
    ]);
    let leaf = prop_oneof![
        Just(b),
        Just(c),
        any::<bool>().prop_map(move |tea| {
            Term::equal(&v, &Term::literal(Value::Enum(beverage(), usize::from(tea))))
        }),
        (comparisons.clone(), numbers(false), numbers(false)).prop_map(|(o, a, b)| Term::compare(o, &a, &b)),
        (comparisons, numbers(true), numbers(true)).prop_map(|(o, a, b)| Term::compare(o, &a, &b)),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| a.not()),
            proptest::collection::vec(inner.clone(), 2..4).prop_map(Term::and),
            proptest::collection::vec(inner.clone(), 2..4).prop_map(Term::or),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Term::equal(&a, &b)),
            (inner.clone(), inner.clone(), inner).prop_map(|(c, a, b)| Term::if_then_else(&c, &a, &b)),
        ]
    })
    .boxed()
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(term in truths()) {
        prop_assert_eq!(read(&term.to_string(), &Type::Bool), Ok(term));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[-+*/!=<>&|()\\[\\].,: a-cxrvp0-9'\"ifthenelse]{0,60}") {
        let _ = read(&text, &Type::Bool);
        let _ = read_specification(file(&text));
        let _ = read_specification(file(&COFFEE.replace("coin > 0", &text)));
    }

    #[test]
    fn no_damaged_model_makes_the_reader_panic(at in 0usize..1000, with in "[-{}\\[\\]:,\"'#&*!|> \n a-z0-9]{0,3}", cut in 0usize..8) {
        let at = at % COFFEE.len();
        let end = (at + cut).min(COFFEE.len());
        let text = format!("{}{with}{}", &COFFEE[..at], &COFFEE[end..]);
        if let Ok((specification, _)) = read_specification(file(&text)) {
            let _ = read_purpose(file(DELIVER), &specification);
        }
    }
}

#[test]
fn what_coreach_made_is_read_up_to_limits_of_its_own() {
    let model = |mark: &str, parts: usize| {
        let guard: Vec<String> = (0..parts).map(|at| format!("v != {at}")).collect();
        let guard = guard.join(" && ");
        format!(
            "{mark}iosts: m\nvariables: {{ v: int }}\ninitial: {{ location: a }}\ninternals: [t]\n\
             transitions: [{{ from: a, to: b, on: t, when: \"{guard}\" }}]\n"
        )
    };
    let code = |text: String| match read_specification(file(&text)) {
        Ok(_) => "ok",
        Err(found) => found[0].code,
    };
    let made = format!("{}product\n", limits::MADE_MARK);
    assert_eq!(code(model("", 6_000)), "expression-too-long");
    assert_eq!(code(model(&made, 6_000)), "ok");
    assert_eq!(code(model(&made, 90_000)), "expression-too-long");
    // The mark stands at the beginning or nowhere.
    assert_eq!(code(model(&format!("\n{made}"), 6_000)), "expression-too-long");
    let large = vec![b'#'; ReaderLimits::GIVEN.bytes + 1];
    assert_eq!(from_bytes("m".into(), large.clone()).unwrap_err().code, "file-too-large");
    assert!(from_bytes("m".into(), [made.as_bytes(), &large].concat()).is_ok());
}

const DATA: &str = r#"
iosts: data
types: { Answer: [Seated: { at: nat, near: nat }, Waiting: { place: nat }, Refused], Guest: { name: string, size: nat } }
variables: { q: "list[3] of string", m: "map[int[0..3]] of nat", g: Guest, v: nat, o: "option[int[0..9]]", b: bool }
initial: { location: L, condition: "q == [] && m == [] && v == 0 && o == none && !b && g == { name: \"\", size: 0 }" }
inputs: { In: { table: nat, price: nat } }
outputs: { Out: { text: string, next: "option[string]", answer: Answer } }
transitions:
  - { from: L, to: L, on: In, assign: { v: table } }
  - from: L
    to: L
    on: Out
    when: |
      GUARD
"#;

/// All that is found in a text, with its helps, as one line.
fn all_found(text: &str) -> String {
    let found = read_specification(file(text)).map_or_else(|found| found, |(_, warnings)| warnings);
    let text =
        |one: Diagnostic| format!("{} {}; help: {}", one.code, one.message, one.help.unwrap_or_default());
    found.into_iter().map(text).collect::<Vec<String>>().join("\n")
}

#[test]
fn what_data_mean_elsewhere_is_explained() {
    for (guard, told) in [
        ("next.value == \"\"", "`match next: some(x) -> ... | _ -> false`"),
        ("next.some", "`next is some`"),
        ("q.at0 == \"\"", "`q[0]`"),
        ("q.len == 0", "`len(s)`"),
        ("m.at'1 is some", "`m[k]` for the value at the key `k`"),
        ("answer.place == 1", "`match answer: Waiting(place) -> ... | _ -> false`"),
        ("answer.is == Answer'Refused", "`answer is Seated`"),
        ("(o with { value: 3 }) == o", "no field `value`"),
        ("(q with { at0: \"\" }) == q", "no field `at0`"),
        (
            "all x in q: x != \"a\" && v > 0 && text == x && v > 2",
            "`(all x in q: x != \"a\" && v > 0 && text == x) && v > 2`",
        ),
        ("all x in q: x != \"a\" && v > 0 && b", "`(all x in q: x != \"a\") && v > 0 && b`"),
        ("some k in m: m[k] == 0 || b", "`(some k in m: m[k] == 0) || b`"),
        ("all x in q: x != \"a\" && (b || v > 0)", "`(all x in q: x != \"a\") && (b || v > 0)`"),
        ("!(all x in q: x != \"a\" && b)", "write `(all x in q: x != \"a\") && b`; otherwise"),
        (
            "(match next: some(x) -> b | _ -> false && b)",
            "brackets: `(match next: some(x) -> b | _ -> false) && b`",
        ),
        (
            "match next: some(x) -> x == text | _ -> false && b",
            "`false && ...` is always false; help: put the `match` into brackets: `(match next: some(x) -> x == text | _ -> false) && b`",
        ),
        ("match next: some(x) -> x == text | none -> true || b", "is always true"),
        ("defined(next)", "always has a value, so this is always true; help: write `next is some`"),
        ("defined(v + 1)", "always has a value, so this is always true; help: leave it out"),
        ("match answer: Seated(_, v) -> b | _ -> false", "write `Seated(_, x) -> x == v && ...`"),
        (
            "answer == Waiting",
            "`x is Waiting` asks whether `x` is one; with data it is a value, for example `Waiting(0)`",
        ),
        ("matches(text, \"sum\")", "write `contains(text, \"sum\")`"),
        ("starts_with(\"sum\", text)", "write `starts_with(text, \"sum\")`"),
        ("q == q + text", "`q + [text]`"),
        ("q == text + q", "`[text] + q`"),
        ("{ ...g, size: 2 } == g", "write `g with { FIELD: VALUE }`"),
        ("!next", "write `next is none`"),
        ("next && b", "write `next is some`"),
        ("q ++ q == q", "`+` joins lists"),
        ("b # a comment", "an expression has no comments"),
        ("text.startsWith(\"a\")", "help: `starts_with(s, t)` asks whether `s` begins with `t`"),
        (
            "text.index_of(\"a\") == 0",
            "write the function in front, with all its arguments: `index_of(x, ...)`",
        ),
        ("text.upper() == \"A\"", "help: declare such a function under `functions:`, and write `upper(x)`"),
        ("text == \"{v} of {text}\"", "help: join texts with `+`: `to_string(v) + \" of {text}\"`"),
        ("text == \"have {text}\"", "help: join texts with `+`: `\"have \" + text`"),
        (
            "match next { some(x) => b, none => false }",
            "after the value: `match r: Ok(v) -> v | Missing -> 0`, found `{`",
        ),
        ("b && o in m", "there may be none: write `(match o: some(x) -> x in m | none -> false)`"),
        ("m[o] > 0", "there may be none: write `(match o: some(x) -> x | none -> VALUE)`"),
    ] {
        let found = all_found(&DATA.replace("GUARD", guard));
        assert!(found.contains(told), "{guard}: {found}");
    }
    for (old, new, told) in [
        (
            "on: In,",
            "on: \"In(price, table)\",",
            "`price` is the parameter `table` and `table` is the parameter `price`",
        ),
        (
            "on: In,",
            "on: \"In(x, table)\",",
            "here `table` is the parameter `price`: names in `on` rename by position",
        ),
        ("on: Out\n", "on: Out(t, n, Seated(s))\n", "`when: (match p: A(x) -> x > 0 | _ -> false)`"),
        ("v: nat,", "v: nat, w: string?,", "`\"option[string]\"`"),
        (
            "{ v: table }",
            "{ m: \"m[2] + table\" }",
            "to give one index or key this value, write `m[2 := m[2] + table]`",
        ),
        ("{ v: table }", "{ m: table }", "to give one index or key this value, write `m[k := table]`"),
        ("{ v: table }", "{ o: 3 }", "write `some(3)`"),
        (
            "{ v: table }",
            "{ q: \"append(q, set([b]))\" }",
            "unknown function `set`; help: write a set as `{a, b}`",
        ),
        (
            "{ v: table }",
            "\"v := table; m := m[1 := 2]; b = true;\"",
            "for example `assign: { v: table, m: 'm[1 := 2]', b: true }`",
        ),
    ] {
        let found = all_found(&DATA.replace("GUARD", "b").replacen(old, new, 1));
        assert!(found.contains(told), "{new}: {found}");
    }
}

#[test]
fn what_is_meant_as_it_is_written_is_not_warned_of() {
    for guard in [
        "all x in q: (x != \"a\" && v > 0)",
        "all x in q: v > 0 && x != \"a\"",
        "all i in 0..2: m[i] > 0 && b",
        "(all x in q: x != \"a\") && v > 0",
        "all x in q: x != \"a\" || v > 0",
        "(match next: some(x) -> x == text | _ -> false) && b",
        "match next: some(x) -> x == text | _ -> b && v > 0",
        "match next: some(x) -> x == text | _ -> false",
        "defined(q[0]) && defined(m[1])",
        "text == \"{b} {x} {2} {\" && text != \"}{\"",
        "matches(text, \"su.*\") && contains(\"+-\", text) && starts_with(text, \"sum\")",
    ] {
        assert_eq!(all_found(&DATA.replace("GUARD", guard)), "", "{guard}");
    }
    assert_eq!(
        all_found(
            &DATA.replace("GUARD", "b").replace("on: In,", "on: \"In(t, p)\",").replace("v: table", "v: t")
        ),
        ""
    );
}

/// The fields that only coreach writes are read back, though a user cannot read them by chance.
#[test]
fn own_fields_are_read_back() {
    let text = DATA.replace("GUARD", "q.at0' == text && q.len' > 0 && o.value' == 3 && m.at'1'.some'");
    let (read, _) = read_specification(file(&text)).unwrap();
    let written = crate::writer::write_yaml(&read.iosts, &read.types);
    assert!(written.contains("q.at0'") && written.contains("o.value'"), "{written}");
    let (again, _) =
        read_specification(file(&written)).unwrap_or_else(|found| panic!("{found:#?}\n{written}"));
    assert_eq!(without_origins(&again.iosts), without_origins(&read.iosts));
}
