//! `judge: online`: a specification that no lookahead makes deterministic, from the refusal to verdicts, kept
//! runs and campaigns.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use crate::common::{Folder, json};
use serde_json::Value;

/// A cash machine whose balance nobody sees (after Gaston et al. 2006, Figure 1): below 1000 a withdrawal
/// costs one.
const BANK: &str = "
iosts: bank
variables: { balance: int, amount: int }
initial: { location: start, condition: balance == 0 && amount == 0 }
inputs: { Deposit: { t: nat }, Amount: { x: nat }, Check: {} }
outputs: { Cash: { c: int }, NoMoney: {}, Sum: { s: int } }
internals: [poor, rich]
transitions:
  - { from: start, to: ready, on: poor, assign: { balance: 500 } }
  - { from: start, to: ready, on: rich, assign: { balance: 1500 } }
  - { from: ready, to: ready, on: Deposit, assign: { balance: balance + t } }
  - { from: ready, to: asked, on: Amount, assign: { amount: x } }
  - { from: ready, to: checked, on: Check }
  - { from: asked, to: ready, on: Cash, when: c == amount && amount <= balance && balance >= 1000, assign: { balance: balance - amount } }
  - { from: asked, to: ready, on: Cash, when: c == amount && amount <= balance && balance < 1000, assign: { balance: balance - amount - 1 } }
  - { from: asked, to: ready, on: NoMoney, when: amount > balance }
  - { from: checked, to: ready, on: Sum, when: s == balance }
";

/// Rich, and paid: what was seen does not tell whether the machine was.
const PAID: &str = "
purpose: paid
of: bank
observes: [balance]
initial: { location: wait }
transitions:
  - { from: wait, to: Accept, on: Cash, when: balance >= 1000 && c > 0 }
";

fn folder() -> Folder {
    Folder::with(&[
        ("bank.yaml", BANK),
        ("paid.yaml", PAID),
        (
            "coreach.yaml",
            // With more regions, every run passes.
            "specification: bank.yaml\npurpose: paid.yaml\njudge: online\nanalysis: { disjuncts: 1 }\noutput: { formats: [json, yaml, dot] }\n",
        ),
        ("right.yaml", "iut: right\nsimulated: { model: bank.yaml }\n"),
        ("wrong.yaml", "iut: wrong\nsimulated: { model: wrong_bank.yaml }\n"),
        (
            "wrong_bank.yaml",
            &BANK.replace("on: Cash, when: c == amount &&", "on: Cash, when: c == amount + 1 &&"),
        ),
        // It knows only the rich: what the test case cannot see is no fault.
        ("rich.yaml", "iut: rich\nsimulated: { model: rich_bank.yaml }\n"),
        ("rich_bank.yaml", &BANK.replace("balance: 500", "balance: 1500")),
    ])
}

const ASKING: &str = "
iosts: asking
types: { Reply: [Sum: { n: int }, Never] }
variables: { v: int }
initial: { location: Idle, condition: v == 0 }
inputs: { Ask: {} }
outputs: { Answer: { reply: Reply } }
transitions:
  - { from: Idle, to: Asked, on: Ask, assign: { v: v + 1 } }
  - { from: Asked, to: Idle, on: Answer, when: v <= 5 && reply == Sum(v) }
  - { from: Asked, to: Idle, on: Answer, when: v > 5 && reply == Never }
";

/// Soundness: the specification does not demand what only the purpose asks for.
#[test]
fn no_condition_of_the_purpose_is_said_to_be_the_specifications() {
    let purpose = "purpose: never\nof: asking\ninitial: { location: Wait }\ntransitions:\n";
    let accept = "  - { from: Wait, to: Accept, on: Answer, when: reply is Never }\n";
    let others = "  - { from: Wait, to: Wait, on: Answer, when: '!(reply is Never)' }\n";
    let folder = Folder::with(&[
        ("model.yaml", ASKING),
        ("purpose.yaml", ""),
        ("right.yaml", "iut: right\nsimulated: { model: model.yaml }\n"),
        ("wrong.yaml", "iut: wrong\nsimulated: { model: wrong_model.yaml }\n"),
        ("wrong_model.yaml", &ASKING.replace("reply == Sum(v)", "reply == Never")),
        ("loose.yaml", &ASKING.replace("v <= 5 && reply == Sum(v)", "reply == Sum(v) || reply == Never")),
    ]);
    for judge in ["online", "test_case"] {
        folder
            .write("c.yaml", &format!("specification: model.yaml\npurpose: purpose.yaml\njudge: {judge}\n"));
        folder.write("purpose.yaml", &[purpose, others, accept].concat());
        let (said, _) = folder.ends(&["test", "c.yaml", "--iut", "wrong.yaml"], 1);
        assert!(said.starts_with("Fail: expected reply = Sum(1), got Never: "), "{judge}: {said}");
        assert!(!said.contains("reply is"), "{judge}: {said}");
        folder.change("c.yaml", "model.yaml", "loose.yaml");
        folder.write("purpose.yaml", &[purpose, accept].concat());
        let (said, _) = folder.ends(&["test", "c.yaml", "--iut", "right.yaml"], 3);
        assert!(said.contains("puts the purpose out of reach"), "{judge}: {said}");
        assert!(!said.contains(" when ") && !said.contains("yaml:10): "), "{judge}: {said}");
    }
}

/// A choice that is never resolved, and the way out.
#[test]
fn what_has_no_lookahead_is_offered_judging_on_line() {
    let folder = folder();
    folder.change("coreach.yaml", "judge: online", "judge: test_case");
    // With each deposit there is one more balance that it may have come to.
    let deposit = "  - { from: ready, to: ready, on: Deposit, assign: { balance: balance + t } }";
    let bonus = deposit.replace("balance + t", "balance + t + 1");
    folder.change("bank.yaml", deposit, &format!("{deposit}\n{bonus}"));
    let (_, said) = folder.ends(&["run", "coreach.yaml", "--out", "made"], 6);
    assert!(said.contains("no-lookahead") || said.contains("never resolved"), "{said}");
    assert!(said.contains("judge: online"), "{said}");
    folder.change("coreach.yaml", "judge: test_case", "judge: onlin");
    let (_, said) = folder.ends(&["run", "coreach.yaml"], 2);
    assert!(said.contains("there are `test_case` and `online`"), "{said}");
}

#[test]
fn the_four_verdicts() {
    let folder = folder();
    let (said, _) = folder.ends(&["run", "coreach.yaml", "--check"], 0);
    assert!(said.contains("judged on line"), "{said}");
    for format in ["json", "yaml", "dot"] {
        assert!(folder.0.join(format!("out/paid/online_test.{format}")).is_file(), "{format}");
    }
    // The configuration, and the document that was written, are one test.
    for test in ["coreach.yaml", "out/paid/online_test.json"] {
        let arguments = ["test", test, "--iut", "right.yaml", "--runs", "40", "--format", "json"];
        let output = folder.coreach(&arguments);
        let told = json(&output);
        let endings: Vec<&str> =
            told["runs"].as_array().unwrap().iter().map(|run| run["verdict"].as_str().unwrap()).collect();
        assert!(endings.contains(&"WeakPass"), "{endings:?}");
        assert!(!endings.contains(&"Fail"), "{endings:?}");
        let wrong = folder.coreach(&["test", test, "--iut", "wrong.yaml", "--runs", "20", "--quiet"]);
        assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    }
    // A look at the balance tells the rich from the poor.
    let checked = PAID
        .replace("location: wait }", "location: begin }")
        .replace("transitions:\n", "transitions:\n  - { from: begin, to: wait, on: Sum }\n");
    folder.write("paid.yaml", &checked);
    let output = folder.coreach(&[
        "test",
        "coreach.yaml",
        "--iut",
        "rich.yaml",
        "--runs",
        "20",
        "--strategy",
        "plan",
        "--format",
        "json",
    ]);
    let told = json(&output);
    let runs = told["runs"].as_array().unwrap();
    assert!(runs.iter().all(|run| run["verdict"] == "Pass"), "{told:#}");
}

#[test]
fn runs_are_kept_explained_replayed_and_counted() {
    let folder = folder();
    folder.ends(&["run", "coreach.yaml"], 0);
    let kept = [
        "test",
        "out/paid/online_test.json",
        "--iut",
        "wrong.yaml",
        "--runs",
        "3",
        "--keep",
        "runs",
        "--quiet",
    ];
    folder.ends(&kept, 1);
    let (said, _) =
        folder.ends(&["explain", "runs/bank__paid.1.json", "--test", "out/paid/online_test.json"], 0);
    assert!(said.contains("does not allow Cash("), "{said}");
    let (said, _) = folder.ends(
        &[
            "replay",
            "runs/bank__paid.1.json",
            "--test",
            "out/paid/online_test.json",
            "--iut",
            "wrong.yaml",
            "--shrink",
        ],
        1,
    );
    assert!(said.contains("Fail"), "{said}");
    folder.write(
        "campaign.yaml",
        "campaign: nightly\ntests: [{ configuration: coreach.yaml }]\niuts: [right.yaml, wrong.yaml]\nseeds: { first: 1, count: 60 }\nstore: store.sqlite\n",
    );
    let output = folder.coreach(&["campaign", "campaign.yaml", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let summary = json(&output);
    assert_eq!(summary["planned"], Value::from(120));
    assert_eq!(summary["groups"][0]["fail"], Value::from(0), "{summary:#}");
    assert!(summary["groups"][0]["weak_pass"].as_u64() > Some(0), "{summary:#}");
    assert!(summary["groups"][1]["fail"].as_u64() > Some(0), "{summary:#}");
    let (said, _) = folder.ends(&["coverage", "store.sqlite"], 0);
    assert!(said.contains("bank"), "{said}");
    folder.ends(&["check", "coreach.yaml", "out/paid/online_test.json", "campaign.yaml"], 0);
}

/// Nodes of the tree of all paths are a purpose (Gaston et al. 2006, Definition 13), for both judges.
#[test]
fn chosen_nodes_of_the_tree_are_a_purpose() {
    let folder = folder();
    let written = ["explore", "bank.yaml", "--all-paths", "4", "--out", "chosen.yaml"];
    folder.ends(&written, 0);
    let text = std::fs::read_to_string(folder.0.join("chosen.yaml")).unwrap();
    assert!(text.contains("\n  - [rich, Deposit, Amount, { Cash: 1 }]\n"), "{text}");
    assert!(text.contains("\n  - [poor, Check, Sum, Check, Sum]\n"), "{text}");
    // It may be written again, and nothing else may.
    folder.ends(&written, 0);
    folder.ends(&["explore", "bank.yaml", "--all-paths", "4", "--out", "bank.yaml"], 2);
    folder.write("c.yaml", "specification: bank.yaml\npurpose: chosen.yaml\njudge: online\n");
    folder.ends(&["check", "c.yaml", "chosen.yaml", "bank.yaml"], 0);
    let arguments = ["test", "c.yaml", "--iut", "right.yaml", "--runs", "30", "--format", "json"];
    let told = json(&folder.coreach(&arguments));
    let endings: Vec<&str> =
        told["runs"].as_array().unwrap().iter().map(|run| run["verdict"].as_str().unwrap()).collect();
    assert!(endings.contains(&"Pass") && !endings.contains(&"Fail"), "{endings:?}");
    folder.ends(&["test", "c.yaml", "--iut", "wrong.yaml", "--runs", "20", "--quiet"], 1);

    // One node alone: the rich and the poor can come to it by the same trace.
    let document = json(&folder.coreach(&["explore", "bank.yaml", "--depth", "4", "--format", "json"]));
    let nodes = document["nodes"].as_array().unwrap();
    let from = |parent: usize, transition: u64| {
        let is_it = |node: &Value| node["parent"] == parent && node["step"]["transition"] == transition;
        nodes.iter().position(is_it).unwrap()
    };
    let asked = from(from(0, 1), 3);
    let paid = from(asked, 5).to_string();
    let one = ["explore", "bank.yaml", "--depth", "4", "--out", "one.yaml", "--accept"];
    folder.ends(&[&one[..], &[&paid]].concat(), 0);
    folder.write("one_c.yaml", "specification: bank.yaml\npurpose: one.yaml\njudge: online\n");
    let arguments = ["test", "one_c.yaml", "--iut", "rich.yaml", "--runs", "30", "--format", "json"];
    let told = json(&folder.coreach(&arguments));
    let runs = told["runs"].as_array().unwrap();
    assert!(runs.iter().any(|run| run["verdict"] == "WeakPass"), "{told:#}");
    assert!(runs.iter().all(|run| run["verdict"] != "Fail"), "{told:#}");
    // An internal step, nothing, the way to another one; and no node at all.
    for refused in ["1".to_owned(), "100000".to_owned(), format!("{asked},{paid}")] {
        let (_, said) = folder.ends(&[&one[..], &[&refused]].concat(), 2);
        assert!(said.contains("no-such-node"), "{said}");
    }
    folder.ends(&one[..one.len() - 1], 2);

    // A test case of paths, where there can be one.
    let machine = format!("{}/../examples/coffee_machine/specification.yaml", env!("CARGO_MANIFEST_DIR"));
    folder.ends(&["explore", &machine, "--all-paths", "5", "--out", "five.yaml"], 0);
    folder.write("five_c.yaml", &format!("specification: {machine}\npurpose: five.yaml\n"));
    let (said, _) = folder.ends(&["run", "five_c.yaml", "--check"], 0);
    assert!(!said.contains("UNREACHABLE"), "{said}");
}

/// The step that can never be taken is named with its place in the specification, as without `judge: online`.
#[test]
fn what_keeps_a_purpose_from_accept_is_named() {
    let folder = Folder::with(&[
        (
            "s.yaml",
            "iosts: m
variables: { v: int }
initial: { location: A, condition: v == 0 }
inputs: { Add: { p: 'int[0..3]' }, Ask: {} }
outputs: { Told: { n: int } }
transitions:
  - { from: A, to: A, on: Add, assign: { v: p } }
  - { from: A, to: B, on: Ask, when: v > 5 }
  - { from: B, to: A, on: Told, when: n == v }
",
        ),
        (
            "p.yaml",
            "purpose: p\nof: m\ninitial: { location: L }\ntransitions: [{ from: L, to: M, on: Ask }, { from: M, to: Accept, on: Told }]\n",
        ),
        ("c.yaml", "specification: s.yaml\npurpose: p.yaml\njudge: online\n"),
    ]);
    let (_, said) = folder.ends(&["run", "c.yaml"], 7);
    assert!(said.contains("s.yaml:8") && said.contains("needs `v > 5`"), "{said}");
}

/// A guard of a purpose has the value of a datum before the step.
#[test]
fn an_old_value_that_keeps_a_purpose_from_accept_is_named() {
    let folder = Folder::with(&[
        (
            "s.yaml",
            "iosts: m
variables: { ok: bool }
initial: { location: A, condition: '!ok' }
inputs: { Ask: {} }
outputs: { Told: {}, Late: {} }
transitions:
  - { from: A, to: B, on: Ask }
  - { from: B, to: C, on: Told, assign: { ok: true } }
  - { from: B, to: C, on: Late }
  - { from: C, to: C, on: Late }
",
        ),
        (
            "p.yaml",
            "purpose: p\nof: m\nobserves: [ok]\ninitial: { location: L }
transitions: [{ from: L, to: M, on: Told, when: ok }, { from: M, to: Accept, on: Late }]\n",
        ),
        ("c.yaml", "specification: s.yaml\npurpose: p.yaml\njudge: online\n"),
    ]);
    let (_, said) = folder.ends(&["run", "c.yaml"], 7);
    assert!(said.contains("reads `ok` before `Told` changes it"), "{said}");
    assert!(said.contains("has the value that it has before the step"), "{said}");
}
