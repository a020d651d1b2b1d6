//! `coreach import`: what goes where, what is never overwritten, and an imported model all the way to a run.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use crate::common::{Folder, exits, json, stderr, stdout};
use serde_json::Value;

const COIN: &str =
    "des (0, 4, 3)\n(0, \"?coin\", 1)\n(1, \"?coin\", 1)\n(1, \"?button\", 2)\n(2, \"!coffee\", 0)\n";

#[test]
fn the_specification_is_on_standard_output_and_the_rest_is_not() {
    let folder = Folder::with(&[("a.aut", COIN), ("b.aut", &COIN.replace("coin", "if"))]);
    let (out, err) = folder.ends(&["import", "a.aut"], 0);
    assert!(out.starts_with("# coreach: ") && out.contains("\niosts: a\n"), "{out}");
    assert_eq!(err, "");
    let (out, err) = folder.ends(&["import", "b.aut", "--from", "aut"], 0);
    assert!(out.contains("if_: {}") && err.contains("`if` becomes `if_`"), "{err}");
    // The document of what was told does not mix with the specification.
    let output = folder.coreach(&["import", "b.aut", "--format", "json"]);
    exits(&output, 0);
    assert!(stdout(&output).contains("iosts: b"));
    let told: Value = serde_json::from_str(&stderr(&output)).unwrap();
    assert_eq!(
        (&told["exit_code"], &told["diagnostics"][0]["code"]),
        (&Value::from(0), &Value::from("renamed"))
    );
    let output = folder.coreach(&["import", "b.aut", "--format", "json", "--out", "b.yaml"]);
    exits(&output, 0);
    assert_eq!(json(&output)["written"], "b.yaml");
    assert_eq!(stderr(&output), "");
    folder.ends(&["check", "b.yaml"], 0);
}

#[test]
fn nothing_is_overwritten_unasked() {
    let folder = Folder::with(&[("a.aut", COIN), ("mine.yaml", "mine\n")]);
    let (_, err) = folder.ends(&["import", "a.aut", "--out", "mine.yaml"], 2);
    assert!(err.contains("--overwrite"), "{err}");
    assert_eq!(folder.read("mine.yaml"), "mine\n");
    let (_, err) = folder.ends(&["import", "a.aut", "--out", "./a.aut", "--overwrite"], 2);
    assert!(err.contains("would write over"), "{err}");
    assert_eq!(folder.read("a.aut"), COIN);
    folder.ends(&["import", "a.aut", "--out", "mine.yaml", "--overwrite"], 0);
    assert!(folder.read("mine.yaml").contains("iosts: a"));
    folder.ends(&["import", "a.aut", "--out", "no/such/folder.yaml"], 8);
    // A mistake writes nothing.
    folder.write("b.aut", "des (0, 1, 1)\n(0, \"a\", 0)\n");
    let (out, err) = folder.ends(&["import", "b.aut", "--out", "b.yaml"], 2);
    assert!(out.is_empty() && err.contains("--inputs a") && !folder.0.join("b.yaml").exists(), "{err}");
}

#[test]
fn wrong_files_and_limits_are_told() {
    let folder = Folder::with(&[("a.aut", COIN), ("a.txt", "nothing known\n"), ("empty", "")]);
    for (arguments, code, told) in [
        (vec!["import", "a.txt"], 2, "--from"),
        (vec!["import", "empty"], 2, "--from"),
        (vec!["import", "none.aut"], 2, "cannot read"),
        (vec!["import", "."], 2, "cannot read"),
        (vec!["import", "a.aut", "--from", "graphlm"], 2, "graphml"),
        (vec!["import", "a.aut", "--most", "2"], 6, "--most"),
        (vec!["import", "a.aut", "--inputs", "coni"], 2, "did you mean `coin`?"),
        (vec!["import", "a.aut", "--overwrite"], 2, "--out"),
    ] {
        let (out, err) = folder.ends(&arguments, code);
        assert!(out.is_empty() && err.contains(told), "{arguments:?}: {err}");
    }
    std::fs::write(folder.0.join("bytes.aut"), b"des (0, 1, 1)\n(0, \"\xff\", 0)\n").unwrap();
    let (_, err) = folder.ends(&["import", "bytes.aut"], 2);
    assert!(err.contains("not UTF-8 in line 2"), "{err}");
    // What a terminal would obey is shown by its number.
    folder.write("escape.aut", "des (0, 1, 1)\n(0, \"?a\u{1b}[31mb\", 0)\n");
    let (out, err) = folder.ends(&["import", "escape.aut"], 0);
    assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}') && err.contains("\\u{1b}"), "{err}");
}

/// From a foreign file to a run, for a model of each format: imported, a purpose, a test case, and runs
/// against its own simulation.
#[test]
fn an_imported_model_is_tested_against_itself() {
    let graphwalker = r#"{ "name": "shop", "models": [ { "name": "Shop", "startElementId": "v0", "actions": ["n = 0;"],
        "vertices": [ { "id": "v0", "name": "v_Cart" }, { "id": "v1", "name": "v_Paid" } ],
        "edges": [ { "id": "e0", "name": "e_Add", "sourceVertexId": "v0", "targetVertexId": "v0", "guard": "n < 5", "actions": ["n++;"] },
                   { "id": "e1", "name": "e_Pay", "sourceVertexId": "v0", "targetVertexId": "v1", "guard": "n >= 2" } ] } ] }"#;
    let graphml = r#"<graphml><key id="l" for="all" attr.name="label"/><graph edgedefault="directed">
        <node id="Start"/><node id="Paid"/>
        <edge source="Start" target="Paid"><data key="l">?Coin(n) [n &gt; 0] / paid = n</data></edge>
        <edge source="Paid" target="Start"><data key="l">!Change(n) [n == paid - 1]</data></edge></graph></graphml>"#;
    let xlia = "@xlia< system , 1.0 >:\nsystem echo { @composite: statemachine e {
        @public: port input Say( int ); port output Hear( int ); @private: var int x := 0;
        @region: state< start > S { transition a --> T { input Say( x ); guard ( x > 3 ); } }
        state T { transition b --> S { output Hear( x * 2 ); x := 0; } } } }";
    for (file, text, options, output) in [
        ("coin.aut", COIN, &[][..], "coffee"),
        ("shop.json", graphwalker, &["--vertices", "outputs"], "v_Paid"),
        ("change.graphml", graphml, &["--initial", "Start"], "Change"),
        ("echo.xlia", xlia, &[], "Hear"),
    ] {
        let folder = Folder::with(&[(file, text)]);
        folder.ends(&[&["import", file, "--out", "specification.yaml"], options].concat(), 0);
        folder.ends(&["check", "specification.yaml"], 0);
        let name = folder
            .read("specification.yaml")
            .lines()
            .find_map(|line| line.strip_prefix("iosts: ").map(str::to_owned))
            .unwrap();
        folder.write(
            "purpose.yaml",
            &format!("purpose: seen\nof: {name}\ninitial: {{ location: Begin }}\ntransitions:\n  - {{ from: Begin, to: Accept, on: {output} }}\n"),
        );
        folder.write("coreach.yaml", "specification: specification.yaml\npurpose: purpose.yaml\n");
        folder.write("iut.yaml", "iut: itself\nsimulated: { model: specification.yaml }\n");
        folder.ends(&["run", "coreach.yaml"], 0);
        let output = folder.coreach(&[
            "test",
            "coreach.yaml",
            "--iut",
            "iut.yaml",
            "--runs",
            "3",
            "--strategy",
            "plan",
            "--format",
            "json",
        ]);
        let told = json(&output);
        let runs = told["runs"].as_array().unwrap();
        assert!(runs.len() == 3 && runs.iter().all(|run| run["verdict"] == "Pass"), "{file}: {told:#}");
    }
}

/// A specification without data is written for other tools, and comes back as the same system.
#[test]
fn a_transition_system_comes_back() {
    let folder = Folder::with(&[("a.aut", COIN)]);
    folder.ends(&["import", "a.aut", "--out", "a.yaml"], 0);
    let (shown, _) = folder.ends(&["show", "a.yaml", "--format", "aut"], 0);
    assert_eq!(shown, COIN);
}

/// Figure 3.9 of the thesis as a transition system, with a purpose as TGV has them: what they say, by the
/// complete test graph.
#[test]
fn a_purpose_of_tgv_selects_from_a_transition_system() {
    let lts = "des (0, 10, 8)\n(0, \"?coin\", 1)\n(0, \"?coin\", 3)\n(3, \"!tea\", 6)\n(1, \"i\", 4)\n(4, \"!coffee\", 0)\n(1, \"?milk\", 5)\n(5, \"i\", 4)\n(5, \"i\", 7)\n(7, \"!chocolate\", 2)\n(2, \"i\", 0)\n";
    let purpose = "des (0, 4, 3)\n(0, \"!chocolate\", 1)\n(0, \"tea\", 2)\n(1, ACCEPT, 1)\n(2, REFUSE, 2)\n";
    let files = [
        ("lts.aut", lts),
        ("purpose.aut", purpose),
        ("tgv.yaml", "specification: lts.yaml\npurpose: purpose.yaml\nconformance: ioco\n"),
    ];
    let folder = Folder::with(&files);
    folder.ends(&["import", "lts.aut", "--out", "lts.yaml"], 0);
    let import = ["import", "purpose.aut", "--purpose-of", "lts.yaml", "--out", "purpose.yaml"];
    folder.ends(&import, 0);
    folder.ends(&[import.as_slice(), &["--overwrite"]].concat(), 0);
    folder.ends(&["check", "purpose.yaml"], 0);
    let (out, _) = folder.ends(&["show", "tgv.yaml", "--stage", "test_graph", "--format", "aut"], 0);
    // In the first state the tester may send, and may wait.
    let expected = "des (0, 7, 5)\n(0, \"?coin\", 1)\n(0, \"!delta\", 0)\n(1, \"?milk\", 2)\n(1, \"!tea\", 4)\n(1, \"!coffee\", 0)\n(2, \"!coffee\", 0)\n(2, \"!chocolate\", 3)\n";
    assert_eq!(out, expected);
    let (_, err) = folder
        .ends(&["import", "purpose.aut", "--purpose-of", "lts.yaml", "--out", "lts.yaml", "--overwrite"], 2);
    assert!(err.contains("would write over"), "{err}");
}

/// What labels of a purpose mean: values, gates without values, `*`, and what nothing is said of.
#[test]
fn labels_of_a_purpose_say_all_that_the_rest_does() {
    let lts = "des (0, 4, 2)\n(0, \"?put !1\", 1)\n(0, \"?put !2\", 1)\n(1, \"!got !TRUE\", 0)\n(1, \"!done\", 0)\n";
    let head = "(0, \"put !1\", 1)\n(1, \"!got !true\", 2)\n(2, ACCEPT, 2)\n";
    let folder = Folder::with(&[("lts.aut", lts)]);
    folder.ends(&["import", "lts.aut", "--out", "lts.yaml"], 0);
    let lines = |edges: &str| {
        let count = edges.lines().count();
        folder.write("p.aut", &format!("des (0, {count}, 4)\n{edges}"));
        let (out, _) = folder.ends(&["import", "p.aut", "--purpose-of", "lts.yaml"], 0);
        let (_, transitions) = out.split_once("transitions:\n").unwrap();
        let joined = transitions.replace("\n    ", " ").replace("\"on\"", "on").replace("  - ", "");
        joined.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    // Other values change nothing.
    assert_eq!(
        lines(head),
        [
            "from: s0 to: s1 on: put when: p1 == 1",
            "from: s0 to: s0 on: put when: p1 != 1",
            "from: s1 to: Accept on: got when: p1",
            "from: s1 to: s1 on: got when: \"!p1\"",
        ]
    );
    let more = format!("{head}(0, \"?put\", 3)\n(0, *, 3)\n(3, REFUSE, 3)\n");
    let all = lines(&more);
    for line in [
        "from: s0 to: Reject on: put when: p1 != 1",
        "from: s0 to: Reject on: got",
        "from: s0 to: Reject on: done",
    ] {
        assert!(all.iter().any(|known| known == line), "{line}: {all:#?}");
    }
    for (edges, told) in [
        ("(0, \"put !1\", 1)\n", "no state accepts"),
        ("(0, \"put !1\", 1)\n(0, \"?put !1\", 0)\n(1, ACCEPT, 1)\n", "deterministic"),
        ("(0, ACCEPT, 1)\n", "the only mark of its state"),
        ("(0, \"!put !1\", 1)\n(1, ACCEPT, 1)\n", "did you mean `put`?"),
        ("(0, \"put !x\", 1)\n(1, ACCEPT, 1)\n", "does not carry"),
        ("(0, i, 1)\n(1, ACCEPT, 1)\n", "no visible action"),
    ] {
        folder.write("p.aut", &format!("des (0, {}, 2)\n{edges}", edges.lines().count()));
        let (out, err) = folder.ends(&["import", "p.aut", "--purpose-of", "lts.yaml"], 2);
        assert!(out.is_empty() && err.contains(told), "{told}: {err}");
    }
    let (_, err) = folder.ends(&["import", "lts.yaml", "--purpose-of", "lts.yaml"], 2);
    assert!(err.contains("not a file of Aldebaran"), "{err}");
}
