//! The documents in the shape of the authors' tool, beside what that tool made of its own examples: the same
//! states, ports, and transitions with the same verdicts.
//!
//! The tool's lists stand here as they were published, a state a line. Ours have a few transitions more, all
//! named: the tool leaves out what excludes itself by the condition under which the tester sent its stimulus;
//! ours are made by the rules of the publication, which do not.

use std::collections::BTreeSet;
use std::path::Path;

use coreach_pipeline::export::sptg::{Guards, to_sptg};
use serde_json::Value;

use super::support::{model, of, options};

fn document(file: &str, path: &str, guards: Guards) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(file);
    let timed = model(&std::fs::read_to_string(file).unwrap());
    serde_json::from_str(&to_sptg(&of(&timed, path, &options("")).unwrap(), guards)).unwrap()
}

/// The transitions of each state: port, and verdict or `next`.
fn shape(document: &Value) -> Vec<Vec<String>> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of_state = |state: &Value| {
        let transitions = state["transitions"].as_array().unwrap().iter();
        let mut all: Vec<String> = transitions
            .map(|transition| {
                let end = transition.get("verdict").map_or("next".to_owned(), text);
                assert_eq!(transition.get("next").is_some(), end == "next");
                format!("{} {end}", text(&transition["action"]["port"]))
            })
            .collect();
        all.sort();
        all
    };
    document["TESTCASE"]["states"].as_array().unwrap().iter().map(of_state).collect()
}

/// Ours, but for these transitions, is theirs.
fn is_theirs(file: &str, path: &str, theirs: &[&[&str]], more: &[(usize, &str)]) {
    for guards in [Guards::Text, Guards::SmtLib] {
        let mut ours = shape(&document(file, path, guards));
        for (state, transition) in more {
            let at = ours[*state].iter().position(|one| one == transition);
            let at = at.unwrap_or_else(|| panic!("{state} has no {transition}: {ours:#?}"));
            ours[*state].remove(at);
        }
        let theirs: Vec<Vec<String>> =
            theirs.iter().map(|state| state.iter().map(|one| (*one).to_owned()).collect()).collect();
        assert_eq!(ours, theirs);
    }
}

#[test]
fn the_atm_of_the_tool() {
    let theirs: &[&[&str]] = &[
        &[
            "DispenseCash FAIL_OUTPUT",
            "InsufficientFunds FAIL_OUTPUT",
            "PrintBalance FAIL_OUTPUT",
            "Quiescence INCONCLUSIVE_DURATION",
            "Withdrawl next",
        ],
        &[
            "DispenseCash FAIL_OUTPUT",
            "DispenseCash PASS",
            "InsufficientFunds FAIL_OUTPUT",
            "PrintBalance FAIL_OUTPUT",
            "Quiescence FAIL_DURATION",
            "Quiescence INCONCLUSIVE_DURATION",
        ],
    ];
    // The stimulus is no greater than the balance of 100.
    is_theirs("sptg_atm.yaml", "tr1,tr2", theirs, &[(1, "InsufficientFunds INCONCLUSIVE_OUTPUT")]);
}

#[test]
fn the_dummy_of_the_tool() {
    let idle: &[&str] =
        &["Done FAIL_OUTPUT", "In next", "Out FAIL_OUTPUT", "Quiescence INCONCLUSIVE_DURATION"];
    let busy = |end: &'static str| {
        let mut all = vec![
            "Done FAIL_OUTPUT",
            "Out FAIL_OUTPUT",
            end,
            "Quiescence FAIL_DURATION",
            "Quiescence INCONCLUSIVE_DURATION",
        ];
        all.sort_unstable();
        all
    };
    // The stimulus is such that the path's answer comes, and not the other one.
    is_theirs("sptg_dummy.yaml", "tr1,tr2", &[idle, &busy("Out PASS")], &[(1, "Out INCONCLUSIVE_OUTPUT")]);
    let last: &[&str] = &["Done PASS", "Out FAIL_OUTPUT", "Quiescence INCONCLUSIVE_DURATION"];
    let more = [
        (1, "Out INCONCLUSIVE_OUTPUT"),
        (3, "Out INCONCLUSIVE_OUTPUT"),
        // The sum of both stimuli is 15 by how they were chosen.
        (4, "Done FAIL_OUTPUT"),
    ];
    let path = "tr1,tr2,tr1,tr3,tr4";
    is_theirs("sptg_dummy.yaml", path, &[idle, &busy("Out next"), idle, &busy("Out next"), last], &more);
}

/// The tool's words, with its spelling: who reads its documents compares with them.
#[test]
fn inputs_that_nobody_sends_have_the_words_of_the_tool() {
    let timed = model(
        "
iosts: bell
clocks: [w]
inputs:
  Press: {}
  Fire: { controllable: false }
  Flood: { controllable: false }
outputs: { Ring: {} }
initial: { location: q0 }
transitions:
  - { name: press, from: q0, to: q1, on: Press, reset: [w] }
  - { name: ring, from: q1, to: q0, on: Ring, when: w <= 3 }
  - { name: fire, from: q1, to: q2, on: Fire, when: w <= 3 }
",
    );
    let made = of(&timed, "press,ring", &options("5")).unwrap();
    let document: Value = serde_json::from_str(&to_sptg(&made, Guards::Text)).unwrap();
    let all = document["TESTCASE"]["states"].as_array().unwrap().iter();
    let all = all.flat_map(|state| state["transitions"].as_array().unwrap());
    let mut words: BTreeSet<(&str, &str)> = BTreeSet::new();
    for transition in all {
        if let (Some(name), Some(verdict)) = (transition["name"].as_str(), transition["verdict"].as_str()) {
            words.insert((name, verdict));
        }
    }
    let expected = [
        ("tr_FAILdur_Quiescence", "FAIL_DURATION"),
        ("tr_FAILout_Ring", "FAIL_OUTPUT"),
        ("tr_INCdur_Quiescence", "INCONCLUSIVE_DURATION"),
        ("tr_INCucInSpec_Fire", "INCONCLUSIVE_UNCROLLABLE_INPUT_SPECIFIED"),
        ("tr_INCucInUspec_Fire", "INCONCLUSIVE_UNCROLLABLE_INPUT_UNSPECIFIED"),
        ("tr_INCucInUspec_Flood", "INCONCLUSIVE_UNCROLLABLE_INPUT_UNSPECIFIED"),
        ("tr_PASS_Ring", "PASS"),
    ];
    assert_eq!(words, expected.into());
}

/// Each state has the tool's keys, and a guard speaks of variables that are declared, each once.
#[test]
fn names_are_declared_once() {
    let found = document("sptg_dummy.yaml", "tr1,tr2,tr1,tr3,tr4", Guards::SmtLib);
    let keys = |value: &Value| {
        let mut all: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        all.sort();
        all
    };
    assert_eq!(keys(&found), ["SUT", "TESTCASE", "manifest"]);
    assert_eq!(keys(&found["SUT"]), ["input_ports", "output_ports", "uncontrollable_input_ports"]);
    let variables = found["TESTCASE"]["variables"].as_array().unwrap();
    let names: BTreeSet<&str> = variables.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), variables.len());
    for state in found["TESTCASE"]["states"].as_array().unwrap() {
        assert_eq!(keys(state), ["name", "sut_state", "time_var", "transitions"]);
        for transition in state["transitions"].as_array().unwrap() {
            for guard in ["timed_guard", "guard"] {
                let text = transition[guard].as_str().unwrap();
                let declared: Vec<&str> = text
                    .split("(declare-const ")
                    .skip(1)
                    .map(|rest| rest.split(' ').next().unwrap())
                    .collect();
                let once: BTreeSet<&str> = declared.iter().copied().collect();
                assert_eq!(once.len(), declared.len(), "{text}");
                assert!(once.is_subset(&names), "{text}");
            }
        }
    }
}
