//! A model that stands for the implementation, and constants that the configuration fixed: the test case does
//! not have them any more.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use crate::common::{Folder, json};

const MODEL: &str = "
iosts: gate
constants: { cLimit: int, cFree: int }
variables: { x: int }
initial: { location: wait, condition: x == 0 && cFree >= 0 }
inputs: { Ask: { p: int } }
outputs: { Yes: {}, No: {} }
transitions:
  - { from: wait, to: asked, on: Ask, assign: { x: p } }
  - { from: asked, to: wait, on: Yes, when: x <= cLimit }
  - { from: asked, to: wait, on: No, when: x > cLimit }
";

const PURPOSE: &str = "
purpose: yes
of: gate
initial: { location: wait }
transitions:
  - { from: wait, to: Accept, on: Yes }
";

fn folder(iut: &str) -> Folder {
    Folder::with(&[
        ("gate.yaml", MODEL),
        ("yes.yaml", PURPOSE),
        (
            "coreach.yaml",
            "specification: gate.yaml\npurpose: yes.yaml\ninstantiate: { cLimit: 7 }\noutput: { formats: [json] }\n",
        ),
        ("iut.yaml", iut),
        (
            "campaign.yaml",
            "campaign: all\ntests: { configuration: coreach.yaml }\niuts: iut.yaml\nseeds: { first: 1, count: 10 }\nstore: store\n",
        ),
    ])
}

#[test]
fn a_constant_without_a_value_is_said_before_the_first_run() {
    let folder = folder("iut: gate\nsimulated: { model: gate.yaml }\n");
    let arguments = ["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", "3"];
    let (_, said) = folder.ends(&arguments, 2);
    assert!(said.contains("no value for `cLimit`") && !said.contains("`cFree`"), "{said}");
    assert!(said.contains("instantiate: { cLimit: ... }") && said.contains("iut.yaml:2"), "{said}");
}

#[test]
fn the_file_gives_it_one() {
    let folder = folder("iut: gate\nsimulated: { model: gate.yaml, instantiate: { cLimit: 7 } }\n");
    folder.ends(&["run", "coreach.yaml"], 0);
    for test in ["coreach.yaml", "out/yes/test_case.json"] {
        let arguments =
            ["test", test, "--iut", "iut.yaml", "--runs", "20", "--strategy", "plan", "--format", "json"];
        let told = json(&folder.coreach(&arguments));
        let runs = told["runs"].as_array().unwrap();
        assert!(runs.iter().all(|run| run["verdict"] == "Pass"), "{told:#}");
    }
    // A store has the model's text, and its own file's.
    let told = json(&folder.coreach(&["campaign", "campaign.yaml", "--format", "json"]));
    assert_eq!(
        (&told["groups"][0]["fail"], &told["groups"][0]["run_error"]),
        (&0.into(), &0.into()),
        "{told:#}"
    );
    assert!(told["groups"][0]["pass"].as_u64() > Some(0), "{told:#}");
    // Another value is another system.
    folder.change("iut.yaml", "cLimit: 7", "cLimit: 9");
    let output = folder.coreach(&["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", "60", "--quiet"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    for (wrong, said) in [("cLimti: 7", "did you mean `cLimit`?"), ("cLimit: true", "the value of `cLimit`")]
    {
        folder.write(
            "iut.yaml",
            &format!("iut: gate\nsimulated: {{ model: gate.yaml, instantiate: {{ {wrong} }} }}\n"),
        );
        let (_, text) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 2);
        assert!(text.contains(said), "{text}");
    }
}

/// Two states are possible after Ask, and only one takes Again: what the model does in the other is a choice
/// of the IUT's file.
#[test]
fn what_becomes_of_an_input_that_the_state_does_not_take_can_be_chosen() {
    const CHOOSING: &str = "
iosts: choosing
initial: { location: Idle }
inputs: { Ask: {}, Again: {} }
outputs: { Yes: { n: int }, No: {} }
transitions:
  - { from: Idle, to: Open, on: Ask }
  - { from: Idle, to: Shut, on: Ask }
  - { from: Open, to: Chosen, on: Again }
  - { from: Chosen, to: Done, on: Yes, when: n == 1 }
";
    let folder = folder("");
    folder.write("gate.yaml", CHOOSING);
    folder.write("yes.yaml", &PURPOSE.replace("gate", "choosing"));
    folder.change("coreach.yaml", "instantiate: { cLimit: 7 }\n", "");
    folder.change("campaign.yaml", "count: 10", "count: 80");
    // How often a verdict was given, in a campaign, whose store has the file in itself, and in runs of
    // `test`.
    let verdicts = |completion: &str| {
        folder.write("iut.yaml", &format!("iut: free\nsimulated: {{ model: gate.yaml{completion} }}\n"));
        let arguments = ["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", "80", "--format", "json"];
        let told = json(&folder.coreach(&arguments));
        let runs = told["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 80);
        ["Pass", "Fail", "RunError"]
            .map(|verdict| runs.iter().filter(|run| run["verdict"] == verdict).count())
    };
    for angelic in ["", ", completion: angelic"] {
        let [passed, failed, wrong] = verdicts(angelic);
        assert!(passed > 0 && failed == 0 && wrong == 0, "{passed} {failed} {wrong}");
    }
    let [passed, failed, wrong] = verdicts(", completion: demonic");
    assert!(passed > 0 && failed > 0 && wrong == 0, "{passed} {failed} {wrong}");
    folder.ends(&["campaign", "campaign.yaml"], 1);
    folder.write("iut.yaml", "iut: free\nsimulated: { model: gate.yaml, completion: demonical }\n");
    let (_, said) = folder.ends(&["check", "iut.yaml", "gate.yaml"], 2);
    assert!(said.contains("did you mean `demonic`?"), "{said}");
    let timed = CHOOSING.replace("initial:", "clocks: [t]\ninitial:");
    folder.write("timed.yaml", &timed.replace("n == 1 }", "n == 1 && t <= 5 }"));
    folder.write("iut.yaml", "iut: free\nsimulated: { model: timed.yaml, completion: demonic }\n");
    let (_, said) = folder.ends(&["check", "iut.yaml"], 2);
    assert!(said.contains("timed-completion") && said.contains("iut.yaml:2"), "{said}");
}
