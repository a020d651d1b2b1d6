//! Suites of finite machines by `coreach cover`: their sequences as test cases that blame no system that
//! conforms (soundness), and miss none that is wrong and has no more states than was said (their guarantee).
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use serde_json::Value;

use crate::common::Folder;

/// Figure 3.5 of the thesis; a transition for the input, one for the output.
const C: [[(&str, usize); 2]; 3] = [[("y", 2), ("y", 3)], [("x", 1), ("y", 3)], [("x", 2), ("y", 1)]];

fn model(rows: &[[(&str, usize); 2]]) -> String {
    let mut text = "iosts: machine\ninitial: { location: s1 }\ninputs: { a: {}, b: {} }\noutputs: { x: {}, y: {} }\ntransitions:\n".to_owned();
    for (at, row) in rows.iter().enumerate() {
        for (input, (output, to)) in ["a", "b"].iter().zip(row) {
            let at = at + 1;
            text += &format!("  - {{ from: s{at}, on: {input}, to: s{at}{input} }}\n");
            text += &format!("  - {{ from: s{at}{input}, on: {output}, to: s{to} }}\n");
        }
    }
    text
}

/// Does some test case of the suite fail?
fn fails(folder: &Folder, system: &[[(&str, usize); 2]]) -> bool {
    folder.write("system.yaml", &model(system));
    folder.write("iut.yaml", "iut: system\nsimulated: { model: system.yaml }\n");
    let run = ["test", "suite/coreach.yaml", "--iut", "iut.yaml", "--runs", "1", "--format", "json"];
    let output = folder.coreach(&run);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let runs = told["runs"].as_array().unwrap();
    assert!(runs.iter().all(|run| run["verdict"] == "Pass" || run["verdict"] == "Fail"), "{told:#}");
    runs.iter().any(|run| run["verdict"] == "Fail")
}

#[test]
fn every_fault_of_one_transition_fails_a_test_case() {
    let folder = Folder::with(&[("machine.yaml", &model(&C))]);
    let (out, _) = folder.ends(&["cover", "machine.yaml", "--criterion", "h", "--out", "suite"], 0);
    assert!(
        out.contains("h: a system that passes all tests conforms") && out.contains("at most 3 states"),
        "{out}"
    );
    assert!(!fails(&folder, &C));
    for at in 0..3 {
        for input in 0..2 {
            let (output, target) = C[at][input];
            let other = if output == "x" { "y" } else { "x" };
            let targets = (1..=3).filter(|to| *to != target).map(|to| (output, to));
            for wrong in targets.chain([(other, target)]) {
                let mut system = C;
                system[at][input] = wrong;
                assert!(fails(&folder, &system), "{system:?}");
            }
        }
    }
}

/// Data that do not flow into the state stay a class, others are values; silence is a part of the answer.
#[test]
fn classes_of_inputs_stay_symbolic() {
    let text = "
iosts: gate
types: { Side: [LEFT, RIGHT] }
constants: { limit: int }
variables: { side: Side }
initial: { location: Closed, condition: limit > 0 && side == LEFT }
inputs: { Weigh: { kg: int }, Turn: { to: Side } }
outputs: { Open: { at: Side }, Alarm: {} }
transitions:
  - { from: Closed, on: Weigh, when: kg < limit, to: Opening }
  - { from: Closed, on: Weigh, when: kg >= limit, to: Loud }
  - { from: Closed, on: Turn, to: Closed, assign: { side: to } }
  - { from: Opening, on: Open, when: at == side, to: Closed }
  - { from: Loud, on: Alarm, to: Closed }
";
    let configuration =
        "specification: gate.yaml\npurpose: p.yaml\nconformance: ioco\ninstantiate: { limit: 7 }\n";
    let purpose =
        "purpose: p\nof: gate\ninitial: { location: B }\ntransitions: [{ from: B, on: Alarm, to: Accept }]\n";
    let folder = Folder::with(&[("gate.yaml", text), ("c.yaml", configuration), ("p.yaml", purpose)]);
    let told = folder
        .ends(&["cover", "c.yaml", "--criterion", "hsi+1,tour", "--out", "suite", "--format", "json"], 0)
        .0;
    let told: Value = serde_json::from_str(&told).unwrap();
    let machine = &told["machine"];
    let inputs: Vec<&str> =
        machine["inputs"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(inputs, ["Weigh [kg < 7]", "Weigh [kg >= 7]", "Turn [to == LEFT]", "Turn [to != LEFT]"]);
    assert_eq!((&machine["states"], &machine["is_complete"]), (&Value::from(2), &Value::from(true)));
    let suites = machine["suites"].as_array().unwrap();
    let names: Vec<&str> = suites.iter().map(|one| one["criterion"].as_str().unwrap()).collect();
    assert_eq!(names, ["w", "wp", "hsi", "h", "ds", "uio", "tour", "w+1", "wp+1", "hsi+1", "h+1", "ds+1"]);
    let said = suites[9]["guarantee"].as_str().unwrap();
    assert!(
        said.contains("at most 3 states")
            && said.contains("events of a class alike")
            && !said.contains("ioco"),
        "{said}"
    );
    // The purposes ask for the class, and the specification passes its own tests.
    let weighed = folder.read("suite/cover_001.yaml") + &folder.read("suite/cover_002.yaml");
    assert!(weighed.contains("kg < 7") && !weighed.contains("kg =="), "{weighed}");
    folder.write("iut.yaml", "iut: gate\nsimulated: { model: gate.yaml, instantiate: { limit: 7 } }\n");
    let run = ["test", "suite/coreach.yaml", "--iut", "iut.yaml", "--runs", "1", "--quiescence", "20"];
    folder.ends(&run, 0);
}

#[test]
fn what_is_no_finite_machine_says_why() {
    let begin = "iosts: m\nvariables: { n: int }\nconstants: { c: int }\ninitial: { location: A, condition: n == 0 }\ninputs: { i: { p: int }, j: {} }\noutputs: { x: {}, y: {} }\ntransitions:\n";
    let constant = "constants: { c: int }\n";
    for (transitions, why) in [
        ("  - { from: A, on: j, to: A }\n", "the constant `c` has no value"),
        ("  - { from: A, on: j, to: A, assign: { n: n + 1 } }\n", "more than 1000 states"),
        ("  - { from: A, on: i, to: A, assign: { n: p } }\n", "flow into data"),
        (
            "  - { from: A, on: j, to: B }\n  - { from: B, on: x, to: A }\n  - { from: B, on: y, to: A }\n",
            "several answers",
        ),
        (
            "  - { from: A, on: j, to: A }\n  - { from: A, on: j, to: B }\n  - { from: B, on: x, to: A }\n",
            "is answered in several ways",
        ),
        ("  - { from: A, on: j, to: B }\n  - { from: B, on: x, to: B }\n", "does not come to rest"),
    ] {
        let text = format!("{begin}{transitions}");
        let text = if why.contains("constant") { text } else { text.replace(constant, "") };
        let folder = Folder::with(&[("m.yaml", &text)]);
        let (out, _) = folder.ends(&["cover", "m.yaml", "--criterion", "w"], 5);
        assert!(out.contains(why), "{why}: {out}");
    }
    let folder = Folder::with(&[("machine.yaml", &model(&C))]);
    let (out, _) = folder.ends(&["cover", "machine.yaml", "--criterion", "w+3", "--nodes", "20"], 5);
    assert!(out.contains("sequences, and `--nodes` is 20"), "{out}");
    let (_, err) = folder.ends(&["cover", "machine.yaml", "--criterion", "uio+1"], 2);
    assert!(err.contains("no criterion is called `uio+1`"), "{err}");
}
