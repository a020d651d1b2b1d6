//! What is written shortly stands for what is written at length: both are read to one term.

use std::sync::Arc;

use coreach_model::reader::{Specification, read_purpose, read_specification};
use coreach_model::term::evaluate::{Valuation, holds};
use coreach_model::{Datum, SourceFile, Term, Type, Value};

fn file(text: &str) -> Arc<SourceFile> {
    Arc::new(SourceFile { name: "model.yaml".to_owned(), text: text.to_owned() })
}

const HEAD: &str = "
iosts: shelves
types:
  Colour: [RED, GREEN, BLUE]
  Shelf: int[0..3]
  Item: { colour: Colour, weight: nat }
variables:
  stored: \"array[Shelf] of int\"
  item: Item
  items: \"list[2] of Item\"
  colour: Colour
  n: int
  most: real
functions:
  full: \"all s in Shelf: stored[s] > 0\"
  fits: { parameters: { weight: int, s: int }, result: bool, is: \"0 <= s <= 3 && stored[s] + weight <= limit()\" }
  limit: { is: 30 }
  twice: { parameters: { x: real }, is: x + x }
  four: { parameters: { x: real }, is: twice(twice(x)) }
  quotient: { parameters: { x: int, y: int }, is: \"if x == 0 then 0 else x div y\" }
initial: { location: Begin }
inputs: { Put: { s: int, w: int } }
transitions:
";

fn specification(guard: &str) -> Specification {
    let text = format!("{HEAD}  - {{ from: Begin, to: Begin, on: Put, when: \"{guard}\" }}\n");
    match read_specification(file(&text)) {
        Ok((specification, _)) => specification,
        Err(found) => panic!("{guard}: {found:?}"),
    }
}

fn guard(text: &str) -> Term {
    specification(text).iosts.transitions.iter().next().map_or(Term::no(), |one| one.guard.clone())
}

/// The first mistake, and the words under it.
fn mistake(guard: &str) -> String {
    let text = format!("{HEAD}  - {{ from: Begin, to: Begin, on: Put, when: \"{guard}\" }}\n");
    match read_specification(file(&text)) {
        Ok(_) => format!("{guard} is read"),
        Err(found) => format!("{} at {}", found[0].code, found[0].labels[0].0.text()),
    }
}

/// Soundness: what no later stage knows of must say what the format says that it stands for, also where it
/// has a value (a term has one exactly where its text has).
#[test]
fn what_is_short_stands_for_what_is_long() {
    let cases = [
        ("fits(w, s)", "0 <= s <= 3 && stored[s] + w <= 30"),
        ("fits(w + 1, stored[n])", "0 <= stored[n] <= 3 && stored[stored[n]] + (w + 1) <= 30"),
        ("four(n) > most", "n + n + (n + n) > most"),
        ("four(2) == most", "8.0 == most"),
        // An argument that the expression does not come to is not evaluated.
        ("quotient(n, w) == s", "(if n == 0 then 0 else n div w) == s"),
        ("quotient(0, n div w) == s", "0 == s"),
        ("full()", "stored[0] > 0 && stored[1] > 0 && stored[2] > 0 && stored[3] > 0"),
        ("some i in 1..limit() - 28: stored[i + n] > i", "stored[1 + n] > 1 || stored[2 + n] > 2"),
        ("all i in 3..2: stored[n] == i", "true"),
        ("some i in 3..2: stored[n] == i", "false"),
        (
            "all c in Colour: c == colour => n > 0",
            "(RED != colour || n > 0) && (GREEN != colour || n > 0) && (BLUE != colour || n > 0)",
        ),
        ("some b in bool: b == (n > 0)", "n <= 0 || n > 0"),
        (
            "all i in 0..1: some j in 0..1: stored[i] == j",
            "(stored[0] == 0 || stored[0] == 1) && (stored[1] == 0 || stored[1] == 1)",
        ),
        ("min(n, 2) < max(w, 1.5)", "(if n <= 2 then n else 2) < (if w >= 1.5 then w else 1.5)"),
        ("abs(n - w) == 1", "(if n - w < 0 then -(n - w) else n - w) == 1"),
        (
            "(count i in 0..1: stored[i] > 0) == n",
            "(if stored[0] > 0 then 1 else 0) + (if stored[1] > 0 then 1 else 0) == n",
        ),
    ];
    for (short, long) in cases {
        assert_eq!(guard(short).lowered(), guard(long).lowered(), "{short}");
        assert_eq!(guard(&guard(short).to_string()), guard(short), "{short}");
    }
}

/// Soundness, too: of records and arrays, whose long form is a field or a cell.
#[test]
fn records_and_arrays_are_written_as_they_print() {
    let cases = [
        ("item == { colour: RED, weight: 3 }", "item == Item {colour: RED, weight: 3}"),
        ("{ weight: n, colour: RED } == item", "Item {colour: RED, weight: n} == item"),
        ("Item { weight: 3, colour: RED }.weight == w", "3 == w"),
        ("(item with { weight: 4 }).weight == w", "4 == w"),
        ("(item with { weight: n }).colour == RED", "(item with {weight: n}).colour == RED"),
        ("(item with { weight: 4 }).colour == RED", "item.colour == RED"),
        ("item with { colour: RED } == item", "item with {colour: RED} == item"),
        ("items == [i with { weight: n } for i in items]", "items == [i with {weight: n} for i in items]"),
        ("sum([i.weight for i in items]) == w", "sum([i.weight for i in items]) == w"),
        ("all i in items: (i.weight > 3 && n > 2)", "all i in items: (i.weight > 3 && n > 2)"),
        ("if n > 2 then n < 5 else (n > 0 && n < 2)", "if n > 2 then n < 5 else (n > 0 && n < 2)"),
        ("some i in items: n > 2 || i.weight > 3", "some i in items: n > 2 || i.weight > 3"),
        ("stored == [0 for all]", "stored == [0 for all]"),
        ("stored == [1, 2, 2, 2]", "stored == [1, 2, 2, 2]"),
        ("stored == [2 for all][0 := 1]", "stored == [1, 2, 2, 2]"),
        ("stored[1 := 5] == [0, 0, 0, n]", "stored[1 := 5] == [0 for all][3 := n]"),
        ("[n for all] == stored", "[0 for all][0 := n][1 := n][2 := n][3 := n] == stored"),
        ("([1, 2, 3, 4]: array[Shelf] of int)[s] == 2", "([1, 2, 3, 4]: array[int[0..3]] of int)[s] == 2"),
        ("([1, 2, 3, 4]: array[Shelf] of int)[2] == w", "3 == w"),
        (
            "(if n > 0 then stored else [0 for all]) == stored[n := 1]",
            "(if n > 0 then stored else [0 for all]) == stored[n := 1]",
        ),
        (
            "(if n > 0 then item else { colour: RED, weight: 0 }).weight == w",
            "(if n > 0 then item.weight else 0) == w",
        ),
    ];
    for (text, printed) in cases {
        let term = guard(text);
        assert_eq!(term.to_string(), printed, "{text}");
        assert_eq!(guard(printed), term, "{text}");
    }
}

#[test]
fn a_record_asks_for_what_its_fields_are() {
    let condition = |text: &str| coreach_model::obligation::defined(&guard(text)).to_string();
    assert_eq!(condition("item == { colour: RED, weight: n - 1 }"), "n - 1 >= 0");
    assert_eq!(condition("item == item with { colour: colour }"), "true");
    assert_eq!(condition("(item with { weight: n }).colour == RED"), "n >= 0");
}

/// Types and functions of another file are as if they stood here.
#[test]
fn what_is_imported_is_declared() {
    let folder = std::env::temp_dir().join(format!("coreach-imports-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("colours.yaml", "types: { Colour: [RED, GREEN] }\n");
    write(
        "common.yaml",
        "import: colours.yaml\ntypes: { Item: { colour: Colour, weight: int } }\n\
         functions: { heavy: { parameters: { it: Item }, is: it.weight > 3 && it.colour == RED } }\n",
    );
    let model = "iosts: m\nimport: [common.yaml, colours.yaml]\nvariables: { item: Item }\n\
                 initial: { location: a, condition: \"item == { colour: GREEN, weight: 0 }\" }\ninternals: [t]\n\
                 transitions: [{ from: a, to: b, on: t, when: heavy(item) }]\n";
    write("model.yaml", model);
    let path = folder.join("model.yaml");
    let (read, _) = read_specification(coreach_model::reader::load(&path).unwrap()).unwrap();
    let guard = read.iosts.transitions.iter().next().unwrap().guard.to_string();
    assert_eq!(guard, "heavy(item)");
    assert_eq!(read.types.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["Colour", "Item"]);
    assert_eq!(read.functions.len(), 1);
    let named = coreach_model::reader::parts(&path);
    assert_eq!(named, [folder.join("common.yaml"), folder.join("colours.yaml")]);
    // What is written needs no other file.
    let text = coreach_model::writer::write_yaml(&read.iosts, &read.types);
    assert_eq!(read_specification(file(&text)).unwrap().0.types, read.types);
    write("colours.yaml", "import: common.yaml\ntypes: { Colour: [RED, GREEN] }\n");
    let found = read_specification(coreach_model::reader::load(&path).unwrap()).map(|_| ()).unwrap_err();
    let told: Vec<_> = found.iter().map(|one| one.code).collect();
    assert!(told.contains(&"cyclic-import"), "{found:?}");
    assert!(found.iter().any(|one| one.labels[0].0.file.name.ends_with("colours.yaml")), "{found:?}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Words of quantifiers are no keywords: a model that had them as names has them still.
#[test]
fn the_words_of_quantifiers_name_data() {
    let text = "iosts: m\nvariables: { all: int, some: int, in: bool, count: int, min: int, with: int, for: int }\n\
                initial: { location: a, condition: \"all == 0 && some == all && in && count == 0 && min == 0\" }\n\
                internals: [t]\ntransitions: [{ from: a, to: b, on: t, when: \"in && all < some + count + with - for\" }]\n";
    assert!(read_specification(file(text)).is_ok());
}

#[test]
fn mistakes_are_told_where_they_are() {
    let cases = [
        ("fits(w)", "wrong-arity at fits(w)"),
        ("min(w) == 1", "type-mismatch at w"),
        ("fits(w, colour)", "type-mismatch at colour"),
        ("fit(w, s)", "unknown-function at fit"),
        ("stored(s) == 1", "unknown-function at stored"),
        ("all i in 0..n: stored[i] > 0", "unknown-range at n"),
        ("all i in 0..1000: stored[i] > 0", "too-many-values at 0..1000"),
        ("all i in nat: i > 0", "unknown-type at nat"),
        ("all n in 0..3: n > 0", "duplicate-name at n"),
        ("all s in 0..3: s > 0", "duplicate-name at s"),
        ("all i in 0..3: all i in 0..3: i > 0", "duplicate-name at i"),
        ("all i in 0..3: stored[i]", "type-mismatch at stored[i]"),
        ("all i in 0..3 stored[i] > 0", "syntax at stored"),
        (
            "all i in 0..999: all j in 0..999: n > i * j",
            "expression-too-large at all i in 0..999: all j in 0..999: n > i * j",
        ),
    ];
    for (guard, expected) in cases {
        assert_eq!(mistake(guard), expected, "{guard}");
    }
}

/// Soundness of the budget: sixty levels of doubling are a small term, and an endless text.
#[test]
fn a_function_that_is_used_deeply_is_shared_and_limited() {
    let functions = |levels: usize| {
        let mut text =
            "iosts: m\nvariables: { v: int }\nfunctions:\n  f0: { parameters: { x: int }, is: x }\n"
                .to_owned();
        for level in 1..=levels {
            text += &format!(
                "  f{level}: {{ parameters: {{ x: int }}, is: \"f{0}(x) * f{0}(x + 1)\" }}\n",
                level - 1
            );
        }
        text + &format!(
            "initial: {{ location: a }}\ninternals: [t]\ntransitions: [{{ from: a, to: b, on: t, when: f{levels}(v) > 0 }}]\n"
        )
    };
    assert!(read_specification(file(&functions(8))).is_ok());
    let found = read_specification(file(&functions(60))).map(|_| ()).unwrap_err();
    assert_eq!(found[0].code, "expression-too-large", "{found:?}");
    let deep: String = (0..2_000).map(|at| format!("  f{at}: {{ is: f{}() }}\n", at + 1)).collect();
    let text = format!("iosts: m\nfunctions:\n{deep}  f2000: {{ is: 1 }}\ninitial: {{ location: a }}\n");
    let found = read_specification(file(&text)).map(|_| ()).unwrap_err();
    assert_eq!(found[0].code, "expression-too-deep", "{found:?}");
}

#[test]
fn purposes_call_the_functions_of_their_specification_and_have_their_own() {
    let specification = specification("true");
    let purpose = |observes: &str, guard: &str| {
        let text = format!(
            "purpose: p\nof: shelves\nobserves: [{observes}]\nfunctions: {{ heavy: {{ parameters: {{ w: int }}, is: w > 30 }} }}\n\
             initial: {{ location: Begin }}\ntransitions: [{{ from: Begin, to: Accept, on: Put, when: \"{guard}\" }}]\n"
        );
        read_purpose(file(&text), &specification)
    };
    let guard_of = |observes, guard| match purpose(observes, guard) {
        Ok((purpose, _)) => purpose.iosts.transitions.iter().next().map(|one| one.guard.to_string()),
        Err(found) => Some(format!("{}: {}", found[0].code, found[0].message)),
    };
    let is = |text: &str| Some(text.to_owned());
    assert_eq!(guard_of("stored", "heavy(w) && fits(s, 1)"), is("heavy(w) && fits(s, 1)"));
    assert_eq!(guard_of("", "limit() == w"), is("limit() == w"));
    assert_eq!(
        guard_of("", "full()"),
        is("unknown-name: `full` reads `stored` of the specification, which is not observed")
    );
}

/// Soundness: a name that a quantifier binds is not the purpose's variable of that name.
#[test]
fn a_bound_name_captures_no_argument() {
    let text = "iosts: m\nvariables: { q: 'list[2] of int' }\n\
                functions: { there: { parameters: { n: int }, is: 'some m in q: m == n' } }\n\
                initial: { location: A, condition: 'q == []' }\noutputs: { t: {} }\n\
                transitions: [{ from: A, to: A, on: t, when: there(1) }]\n";
    let (specification, _) = read_specification(file(text)).unwrap();
    let text = "purpose: p\nof: m\nobserves: [q]\nvariables: { m: int }\n\
                initial: { location: Begin, condition: m == 5 }\n\
                transitions: [{ from: Begin, to: Accept, on: t, when: there(m), assign: { m: m } }]\n";
    let (purpose, _) = read_purpose(file(text), &specification).unwrap();
    let guard = purpose.iosts.transitions.iter().next().unwrap().guard.clone();
    let list = Arc::new(coreach_model::types::RecordType::list(2, &Type::Int));
    let value = list.value_of(Value::int(1), [Value::int(4)]);
    let data = [(Datum::new("q", Type::Record(list)), value), (Datum::new("m", Type::Int), Value::int(5))];
    let valuation: Valuation = data.into_iter().collect();
    assert_eq!(holds(&guard, &valuation), Ok(false));
    assert_eq!(holds(guard.lowered(), &valuation), Ok(false));
    // Here the quantifier itself has the variable among its arguments.
    let unfolded = guard.unfolded().unwrap();
    assert_eq!(holds(&unfolded, &valuation), Ok(false));
    assert_eq!(holds(unfolded.lowered(), &valuation), Ok(false));
    assert_eq!(unfolded.to_string(), "some m_ in q: m_ == m");
}

/// Soundness: steps in any order are the locations and transitions that one would write.
#[test]
fn steps_in_any_order_stand_for_their_product() {
    let head = "
iosts: files
variables: { vCount: int }
initial: { location: Idle, condition: vCount == 0 }
inputs: { Save: {} }
outputs: { Saved: { count: int }, Told: {} }
transitions:
  - { from: Idle, to: Saving, on: Save }
";
    let short = "
  - from: Saving
    to: Idle
    in_any_order:
      - { on: Saved(n), when: n == vCount, assign: { vCount: vCount + 1 } }
      - { on: Told, when: vCount > 0 }
      - { on: Told }
";
    let saved = |from: &str, to: &str| {
        format!(
            "  - {{from: {from}, to: {to}, on: Saved(n), when: n == vCount, assign: {{vCount: vCount + 1}}}}\n"
        )
    };
    let told = |from: &str, to: &str, when: &str| format!("  - {{from: {from}, to: {to}, on: Told{when}}}\n");
    let [first, second] = [", when: vCount > 0", ""];
    let long = [
        saved("Saving", "Saving'Saved"),
        told("Saving", "Saving'Told", first),
        told("Saving", "Saving'Told'2", second),
        told("Saving'Saved", "Saving'Saved'Told", first),
        told("Saving'Saved", "Saving'Saved'Told'2", second),
        saved("Saving'Told", "Saving'Saved'Told"),
        told("Saving'Told", "Saving'Told'Told", second),
        told("Saving'Saved'Told", "Idle", second),
        saved("Saving'Told'2", "Saving'Saved'Told'2"),
        told("Saving'Told'2", "Saving'Told'Told", first),
        told("Saving'Saved'Told'2", "Idle", first),
        saved("Saving'Told'Told", "Idle"),
    ];
    let edges = |text: &str| {
        let read = read_specification(file(&format!("{head}{text}")));
        let iosts = read.unwrap_or_else(|found| panic!("{found:?}")).0.iosts;
        let name = |location| iosts.locations[location].name.clone();
        let edge = |one: &coreach_model::iosts::Transition| {
            let said = (one.action, one.guard.clone(), one.assignments.clone());
            (name(one.source), name(one.target), said)
        };
        iosts.transitions.iter().map(edge).collect::<Vec<_>>()
    };
    let (mut short, mut long) = (edges(short), edges(&long.concat()));
    short.sort_by_key(|(from, to, _)| (from.clone(), to.clone()));
    long.sort_by_key(|(from, to, _)| (from.clone(), to.clone()));
    assert_eq!(short, long);
}
