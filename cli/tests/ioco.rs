//! `conformance: ioco`: what is silent where the specification must answer fails, and what is silent where it
//! may does not.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;

use crate::common::{Folder, stderr, stdout};

/// A bell: it rings when it is asked, after it has made up its mind. It may be switched off, and is silent
/// then.
const BELL: &str = "
iosts: bell
variables: { n: int }
initial: { location: Off, condition: n == 0 }
inputs: { On: {}, Ask: { p: 'int[1..9]' } }
outputs: { Ring: { times: int }, Click: {} }
internals: [think]
transitions:
  - { from: Off, to: Ready, on: On }
  - { from: Ready, to: Asked, on: Ask, assign: { n: p } }
  - { from: Asked, to: Decided, on: think }
  - { from: Decided, to: Ready, on: Ring, when: times > 0 && times <= n }
  - { from: Decided, to: Ready, on: Click, when: n == 9 }
";

const RUNG: &str = "
purpose: rung
of: bell
initial: { location: B }
transitions:
  - { from: B, to: Accept, on: Ring, when: times == 1 }
  - { from: B, to: B, on: Ring, when: times != 1 }
";

fn folder(conformance: &str) -> Folder {
    let folder = Folder::with(&[("bell.yaml", BELL), ("rung.yaml", RUNG)]);
    let output = "output: { formats: [dot, json, yaml] }";
    folder
        .write("c.yaml", &format!("specification: bell.yaml\npurpose: rung.yaml\n{conformance}\n{output}\n"));
    let systems = [
        ("right", BELL.to_owned()),
        // It never rings for more than five.
        ("silent", BELL.replace("times > 0 && times <= n", "times > 0 && times <= n && n <= 5")),
        ("loud", BELL.replace("to: Ready, on: On", "to: Decided, on: On")),
    ];
    for (name, text) in systems {
        folder.write(&format!("{name}.yaml"), &text);
        folder.write(
            &format!("{name}_iut.yaml"),
            &format!("iut: {name}\nsimulated: {{ model: {name}.yaml }}\n"),
        );
    }
    folder
}

/// The exit code, and what is printed.
fn answer(folder: &Folder, arguments: &[&str]) -> (i32, String) {
    let output = folder.coreach(arguments);
    (output.status.code().unwrap(), stdout(&output) + &stderr(&output))
}

/// The exit code, and what it is said to have come to.
fn tested(folder: &Folder, iut: &str) -> (i32, String) {
    let iut = format!("{iut}_iut.yaml");
    answer(folder, &["test", "c.yaml", "--iut", &iut, "--runs", "12", "--quiescence", "30", "--keep", "runs"])
}

/// By a test case, and by the states that are possible.
#[test]
fn silence_is_a_fail_where_the_specification_answers() {
    for judge in ["", "\njudge: online"] {
        blames_silence(&folder(&format!("conformance: ioco{judge}")));
    }
}

fn blames_silence(folder: &Folder) {
    let (code, said) = tested(folder, "right");
    assert_eq!(code, 0, "{said}");
    let (code, said) = tested(folder, "silent");
    assert_eq!(code, 1, "{said}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("the specification does not allow silence in"), "{said}");
    // A silence that failed fails again, from its record.
    let kept = fs::read_dir(folder.0.join("runs")).unwrap().map(|item| item.unwrap().path());
    let failed = kept.filter(|path| fs::read_to_string(path).unwrap().contains("\"verdict\": \"Fail\""));
    let failed: Vec<_> = failed.collect();
    assert!(!failed.is_empty());
    let record = failed[0].to_string_lossy().into_owned();
    let (code, said) = answer(folder, &["replay", &record, "--iut", "silent_iut.yaml", "--quiescence", "30"]);
    assert_eq!(code, 1, "{said}");
    let (code, said) = answer(folder, &["check", &record]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn by_ioc_the_same_system_is_never_blamed() {
    let folder = folder("");
    let (code, said) = tested(&folder, "silent");
    assert_eq!(code, 3, "{said}");
    assert!(!said.contains("Fail in"), "{said}");
}

/// What a stage makes is checked, and each document is read again as it was written.
#[test]
fn the_stages_take_quiescence_for_an_output() {
    let folder = folder("conformance: ioco");
    let (code, said) = answer(&folder, &["run", "c.yaml", "--check", "--quiet"]);
    assert_eq!(code, 0, "{said}");
    let document = fs::read_to_string(folder.0.join("out/rung/test_case.json")).unwrap();
    assert!(document.contains("\"kind\": \"quiescence\""));
    let plain = self::folder("conformance: ioc");
    let (code, said) = answer(&plain, &["run", "c.yaml", "--quiet"]);
    assert_eq!(code, 0, "{said}");
    let document = fs::read_to_string(plain.0.join("out/rung/test_case.json")).unwrap();
    assert!(!document.contains("quiescence") && !document.contains("delta"));
}

/// A path may end with quiescence as with any output: no other one is looked for behind it.
#[test]
fn paths_with_quiescence_are_all_there_is_to_cover() {
    let folder = folder("conformance: ioco");
    for criterion in ["all-paths-2", "1-inclusion"] {
        let (code, said) = answer(&folder, &["cover", "c.yaml", "--criterion", criterion]);
        assert_eq!(code, 0, "{criterion}: {said}");
        assert!(said.contains("quiescence") && !said.contains("delta"), "{criterion}: {said}");
    }
}

/// `delta` is a name like others.
#[test]
fn an_action_may_be_called_like_quiescence() {
    let folder = folder("conformance: ioco");
    for file in ["bell.yaml", "right.yaml"] {
        folder.write(file, &BELL.replace("Click", "delta"));
    }
    let (code, said) = tested(&folder, "right");
    assert_eq!(code, 0, "{said}");
}

/// Precision: of collections and strings, too, it is found when an output is possible. Soundness: a right
/// system is not blamed, and precision: one that says nothing is, exactly where it must answer.
#[test]
fn quiescence_of_collections_is_found() {
    for guard in [
        "len(l) == 2 && l[0] == n && l[1] > l[0]",
        "contains(l, n) && (all x in l: x <= n)",
        "s < v && (match r: Two(q, i) -> q == s && i > n | None -> n < 3)",
        "len(s) == 1 && s <= v && keys(m) == s",
        "len(m) == n && (match o: some(i) -> i > n | none -> false)",
        r#"matches(t, "[a-c]{2}\\d+") && len(t) == 5"#,
        r#"ends_with(t, "x") && t != to_string(n)"#,
    ] {
        let folder = folder("conformance: ioco");
        let text = BELL
            .replace("times > 0 && times <= n", &format!("'{guard}'"))
            .replace(
                "times: int",
                "r: R, s: 'set[K]', m: 'map[K] of int', l: 'list[3] of int', o: 'option[int]', t: string",
            )
            .replace(
                "variables: {",
                "types: { K: [A, B], R: [Two: { q: 'set[K]', i: int }, None] }\nvariables: { v: 'set[K]',",
            )
            .replace("condition: n == 0", "condition: 'n == 0 && v == {A, B}'");
        let silent = text.replace("on: think }", "on: think, when: n > 4 }");
        for (name, text) in [("bell", &text), ("right", &text), ("silent", &silent)] {
            folder.write(&format!("{name}.yaml"), text);
        }
        folder.write(
            "rung.yaml",
            "
purpose: rung
of: bell
variables: { k: int }
initial: { location: B, condition: k == 0 }
transitions:
  - { from: B, to: B, on: [Ring, quiescence], when: k < 9, assign: { k: k + 1 } }
  - { from: B, to: Accept, on: Ring, when: k >= 9 }
",
        );
        let (code, said) = tested(&folder, "right");
        assert!([0, 3].contains(&code), "{guard}: {said}");
        let (code, said) = tested(&folder, "silent");
        assert_eq!(code, 1, "{guard}: {said}");
    }
}

#[test]
fn what_cannot_be_said_without_quantifiers_stops() {
    let folder = folder("conformance: ioco");
    folder.write("bell.yaml", &BELL.replace("times > 0 && times <= n", "times * times * times == n * n + 5"));
    let (code, said) = answer(&folder, &["run", "c.yaml", "--quiet"]);
    assert_eq!(code, 6, "{said}");
    assert!(said.contains("ioco needs to know when the specification is silent"), "{said}");
    // A limit that stops it is named.
    let small = self::folder("conformance: ioco\nlimits: { nodes: 1 }");
    let (code, said) = answer(&small, &["run", "c.yaml", "--quiet"]);
    assert_eq!(code, 6, "{said}");
    assert!(said.contains("`limits: nodes` allows 1"), "{said}");
}

#[test]
fn a_relation_that_is_none_is_a_mistake() {
    let (code, said) = answer(&folder("conformance: iocoo"), &["run", "c.yaml"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("there are `ioc` and `ioco`"), "{said}");
}
