//! `coreach check`: files of every kind, whole and with mistakes.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Folder, data, exits, json, run, stderr, stdout};

#[test]
fn a_model_that_was_shown_can_be_checked() {
    let folder = Folder::new();
    for stage in ["product", "visible", "test_graph", "test_case"] {
        let purpose = data("coffee/deliver_coffee.yaml");
        let yaml = run(arguments!["show", &purpose, "--stage", stage, "--format", "yaml"]);
        let path = folder.write(&format!("{stage}.yaml"), &stdout(&yaml));
        exits(&run(arguments!["check", &path]), 0);
    }
}

#[test]
fn check_tells_the_kinds_and_finds_a_purposes_specification() {
    let output = run(arguments!["check", data("coffee/deliver_coffee.yaml"), data("coffee/coreach.yaml")]);
    exits(&output, 0);
    let text = stdout(&output);
    assert!(text.contains("purpose `deliver_coffee` of `coffee_machine`"), "{text}");
    assert!(
        text.contains("configuration of `coffee_machine` with `deliver_coffee`, `several_drinks`"),
        "{text}"
    );
    let folder = Folder::new();
    let lonely = folder.write("p.yaml", &fs::read_to_string(data("coffee/deliver_coffee.yaml")).unwrap());
    let output = run(arguments!["check", &lonely]);
    exits(&output, 2);
    assert!(stderr(&output).contains("there is no specification `coffee_machine`"), "{}", stderr(&output));
    exits(&run(arguments!["check", &lonely, data("coffee/specification.yaml")]), 0);
    let purpose = fs::read_to_string(&lonely).unwrap();
    let of_file = folder.write("p.yaml", &purpose.replace("of: coffee_machine", "of: specification.yaml"));
    folder.write("specification.yaml", &fs::read_to_string(data("coffee/specification.yaml")).unwrap());
    let output = run(arguments!["check", &of_file]);
    exits(&output, 2);
    assert!(stderr(&output).contains("help: did you mean `of: coffee_machine`?"), "{}", stderr(&output));
    let other = folder.write("other.yaml", "a: 1\n");
    exits(&run(arguments!["check", &other]), 2);
    exits(&run(arguments!["check", folder.0.join("missing.yaml")]), 2);
    let output = run(arguments!["check", &other, data("left.yaml"), "--format", "json"]);
    exits(&output, 2);
    let answer = json(&output);
    assert_eq!((&answer["files"][0]["ok"], &answer["files"][1]["ok"]), (&false.into(), &true.into()));
}

/// Precision: two guards that meet in one value are told, and nondeterminism that is meant is not.
#[test]
fn check_tells_of_guards_that_meet_in_one_value() {
    let folder = Folder::new();
    for (action, one, other, is_told) in [
        ("Set", "p >= 1", "p <= 1", true),
        ("Set", "p >= x", "p <= x", true),
        ("Set", "x >= 3", "x <= 3", true),
        ("Said", "p >= 1", "p <= 1", true),
        // The system chooses.
        ("Said", "x >= 3", "x <= 3", false),
        ("Set", "p >= 1", "p < 1", false),
        ("Set", "p >= 1", "p <= 2", false),
        ("Set", "p == 1", "p <= 1", false),
    ] {
        let from_a =
            |guard: &str, to: &str| format!("  - {{ from: A, to: {to}, on: {action}, when: {guard} }}\n");
        let text = format!(
            "iosts: m\nvariables: {{ x: int }}\ninitial: {{ location: A, condition: x == 0 }}\ninputs: {{ Set: {{ p: int }}, \
             Count: {{ n: int }} }}\noutputs: {{ Said: {{ p: int }} }}\ntransitions:\n  - {{ from: A, to: A, on: Count, \
             assign: {{ x: n }} }}\n{}{}",
            from_a(one, "A"),
            from_a(other, "B")
        );
        let output = run(arguments!["check", folder.write("m.yaml", &text), "--format", "json"]);
        exits(&output, 0);
        let found = json(&output)["files"][0]["diagnostics"].as_array().unwrap().clone();
        let codes: Vec<&Value> = found.iter().map(|one| &one["code"]).collect();
        assert_eq!(
            codes.contains(&&Value::from("guards-meet")),
            is_told,
            "{action} {one} {other}: {codes:?}"
        );
    }
}

/// By ioc an input that one possible state takes may be sent; a specification that is in another one ignores
/// it, and may fail its own test.
#[test]
fn check_tells_which_possible_state_refuses_an_input_that_another_one_takes() {
    let folder = Folder::new();
    let warnings = |text: &str| {
        let path = folder.write("m.yaml", &format!("iosts: m\noutputs: {{ Yes: {{}}, No: {{}} }}\n{text}"));
        let output = run(arguments!["check", &path, "--format", "json"]);
        exits(&output, 0);
        let found = json(&output)["files"][0]["diagnostics"].as_array().unwrap().clone();
        found.into_iter().filter(|one| one["code"] == "input-refused-by-some").collect::<Vec<_>>()
    };
    let told = |text: &str| {
        let told = warnings(text);
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0]["severity"], "warning");
        told[0].to_string()
    };
    // By structure: which one it is, the choice at Ask has made.
    const CHOICE: &str = "inputs: { Ask: {}, Again: {} }
initial: { location: Idle }
transitions:
  - { from: Idle, to: Open, on: Ask }
  - { from: Idle, to: Shut, on: Ask }
  - { from: Open, to: Idle, on: Again }
  - { from: Shut, to: Idle, on: No }
";
    let text = told(CHOICE);
    for part in
        ["`Shut` refuses the input Again(), which `Open` takes", "after Ask()", "Open, to: Idle, on: Again"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = told(
        &CHOICE
            .replace("{ from: Idle, to: Shut, on: Ask }", "{ from: Open, to: Shut, on: tau }\n")
            .replace("transitions:", "internals: [tau]\ntransitions:"),
    );
    assert!(text.contains("`Shut` refuses the input Again()"), "{text}");
    // Both take it, be it behind an internal step; or neither does; or an output has told them apart.
    for more in [
        "  - { from: Shut, to: Idle, on: Again }\n",
        "  - { from: Shut, to: Door, on: tau }\n  - { from: Door, to: Idle, on: Again }\n",
    ] {
        let text = CHOICE.replace("transitions:", "internals: [tau]\ntransitions:") + more;
        assert_eq!(warnings(&text), [] as [Value; 0], "{more}");
    }
    for (from, to) in [("on: Again", "on: Yes"), ("to: Shut, on: Ask", "to: Shut, on: Again")] {
        assert_eq!(warnings(&CHOICE.replace(from, to)), [] as [Value; 0], "{to}");
    }
    // By data: of one location, with the values that tell the states apart.
    const DATA: &str = "inputs: { Set: { p: int }, Ask: { n: int } }
variables: { x: int }
initial: { location: Idle, condition: x == 0 }
transitions:
  - { from: Idle, to: Full, on: Set, when: p >= 100, assign: { x: p } }
  - { from: Idle, to: Full, on: Set, when: p >= 100, assign: { x: p + 1 } }
  - { from: Full, to: Idle, on: Ask, when: n == x * 1000, assign: { x: 0 } }
";
    let text = told(DATA);
    assert!(text.contains("`Full with x = ") && text.contains("000), which `Full with x = "), "{text}");
    let both = DATA.replace("n == x * 1000", "x >= 100");
    assert_eq!(warnings(&both), [] as [Value; 0]);
    // Actions of one guard and different parameters.
    let text = told(
        &DATA.replace("Ask: ", "Two: { n: int, m: int }, Ask: ").replace("n == x * 1000", "n == x").replace(
            "transitions:",
            "transitions:\n  - { from: Idle, to: Idle, on: Two }\n  - { from: Idle, to: Idle, on: Set, when: p < 0 }\n  - { from: Full, to: Full, on: Set }",
        ),
    );
    assert!(text.contains("refuses the input Ask("), "{text}");
}

/// A guard of a purpose leaves something out, and completion sends that to `Reject`: who wrote it may not
/// know.
#[test]
fn check_says_what_a_purpose_rejects_without_a_word() {
    let folder = Folder::new();
    folder.write("specification.yaml", &fs::read_to_string(data("coffee/specification.yaml")).unwrap());
    let purpose = |transitions: &str| {
        let text = format!(
            "purpose: p\nof: coffee_machine\ninitial: {{ location: Begin }}\ntransitions:\n{transitions}"
        );
        let path = folder.write("p.yaml", &text);
        let output = run(arguments!["check", &path]);
        exits(&output, 0);
        stdout(&output).lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    const GOAL: &str = "  - { from: Begin, to: Accept, on: Deliver }\n";
    // What leads elsewhere than to `Reject`, be it back to where it was, sends the rest there.
    let loops = "  - { from: Begin, to: Begin, on: Return, when: pRemainingValue > 1 }\n";
    assert_eq!(
        purpose(&format!("{GOAL}{loops}")),
        ["  in `Begin`, `Return` leads to Reject when pRemainingValue <= 1"]
    );
    // What leads to `Reject` only does not.
    let rejects = "  - { from: Begin, to: Reject, on: Return, when: pRemainingValue > 1 }\n";
    assert_eq!(purpose(&format!("{GOAL}{rejects}")), [""; 0]);
    assert_eq!(purpose(GOAL), [""; 0]);
    // What the guards leave out cannot happen.
    let all = "  - { from: Begin, to: Begin, on: Return, when: pRemainingValue > 1 }\n  - { from: Begin, to: Reject, on: Return, when: pRemainingValue <= 1 }\n";
    assert_eq!(purpose(&format!("{GOAL}{all}")), [""; 0]);
}

/// Precision: a delay is never negative, and nothing is said of one.
#[test]
fn check_says_of_a_timed_purpose_only_what_can_happen() {
    let folder = Folder::new();
    folder.write(
        "specification.yaml",
        "iosts: door
clocks: [c]
initial: { location: Shut }
inputs: { Push: {} }
outputs: { Open: {} }
transitions:
  - { from: Shut, to: Pushed, on: Push, reset: [c] }
  - { from: Pushed, to: Shut, on: Open, when: c <= 1 }
",
    );
    let purpose = |last: &str| {
        let path = folder.write(
            "p.yaml",
            &format!(
                "purpose: p
of: door
clocks: [g]
initial: {{ location: Begin }}
transitions:
  - {{ from: Begin, to: Waits, on: Push, reset: [g] }}
  - {{ from: Waits, to: Accept, on: Open, when: g <= 0.5 }}
{last}"
            ),
        );
        let output = run(arguments!["check", &path]);
        exits(&output, 0);
        stdout(&output).lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(purpose("  - { from: Waits, to: Reject, on: Open, when: g > 0.5 }\n"), [""; 0]);
    let told = purpose("");
    assert!(told.len() == 1 && told[0].starts_with("  in `Waits`, `Open` leads to Reject when"), "{told:?}");
    assert!(!told[0].contains("delay < 0"), "{told:?}");
}

#[test]
fn a_specification_that_two_files_have_is_asked_for() {
    let folder = Folder::new();
    let specification = fs::read_to_string(data("coffee/specification.yaml")).unwrap();
    let one = folder.write("one.yaml", &specification);
    folder.write("same.yaml", &specification);
    let purpose = folder.write("p.yaml", &fs::read_to_string(data("coffee/deliver_coffee.yaml")).unwrap());
    exits(&run(arguments!["check", &purpose]), 0);
    folder.write("two.yaml", &format!("{specification}# another one\n"));
    let output = run(arguments!["check", &purpose]);
    exits(&output, 2);
    assert!(stderr(&output).contains("several-specifications"), "{}", stderr(&output));
    exits(&run(arguments!["check", &purpose, &one]), 0);
}

/// Each kind of file that the program reads, whole and with a mistake in it.
#[test]
fn check_looks_at_files_of_every_kind() {
    let folder = Folder::new();
    let config = folder.coffee("deliver_coffee", "output: { formats: [json], stages: [test_case] }");
    let specification = data("coffee/specification.yaml");
    let iut = folder
        .write("iut.yaml", &format!("iut: machine\nsimulated: {{ model: {} }}\n", specification.display()));
    let campaign = folder.write(
        "night.yaml",
        "campaign: night\ntests: [{ configuration: coreach.yaml }]\niuts: [iut.yaml]\nseeds: [1]\nlimits: { quiescence_ms: 20 }\n",
    );
    let keep = folder.0.join("kept");
    let test = arguments![
        "test",
        &config,
        "--iut",
        &iut,
        "--keep",
        &keep,
        "--quiescence",
        "20",
        "--inconclusive",
        "ok"
    ];
    exits(&run(test), 0);
    exits(&run(arguments!["campaign", &campaign, "--inconclusive", "ok"]), 0);
    let [case, kept] = ["deliver_coffee.test_case.json", "deliver_coffee.1.json"].map(|name| keep.join(name));
    let store = folder.0.join("night.sqlite");
    for (path, says) in [
        (&config, "configuration of `coffee_machine` with `deliver_coffee`: ok"),
        (&iut, "iut `machine` (no model is given with it: its actions and parameters are not checked): ok"),
        (&campaign, "campaign `night` with tests of 1 file and 1 implementation: ok"),
        (&case, "test case `coffee_machine__deliver_coffee` ("),
        (&kept, "run of `coffee_machine__deliver_coffee`, seed 1, "),
        (&store, "store of 1 run: ok"),
    ] {
        let output = run(arguments!["check", path]);
        exits(&output, 0);
        assert!(stdout(&output).contains(says), "{says}: {}", stdout(&output));
    }
    let output = run(arguments!["check", &iut, &specification]);
    assert!(stdout(&output).contains("iut `machine` against `coffee_machine`: ok"), "{}", stdout(&output));
    // The same specification twice is one.
    let output = run(arguments!["check", &iut, &specification, &config]);
    assert!(stdout(&output).contains("iut `machine` against `coffee_machine`: ok"), "{}", stdout(&output));

    let change = |path: &Path, from: &str, to: &str| {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    };
    change(&iut, "simulated", "simulatd");
    change(&case, "\"format_version\":", "\"version\":");
    change(&kept, "\"seed\"", "\"sed\"");
    let mut bytes = fs::read(&store).unwrap();
    let at = bytes.windows(13).position(|some| some == b"\"direction\":\"").unwrap();
    bytes[at + 1] = b'x';
    fs::write(&store, bytes).unwrap();
    for (path, says) in [
        (&iut, "did you mean `simulated`?"),
        (&campaign, "did you mean `simulated`?"),
        (&case, "not-a-test-case"),
        (&kept, "missing field `seed`"),
        (&store, "is damaged"),
    ] {
        let output = run(arguments!["check", path]);
        exits(&output, 2);
        assert!(stderr(&output).contains(says), "{says}: {}", stderr(&output));
    }
    exits(&run(arguments!["show", &campaign]), 2);
}

#[test]
fn a_misspelt_target_is_the_only_thing_that_is_said() {
    let folder = Folder::new();
    let text = fs::read_to_string(data("coffee/specification.yaml")).unwrap();
    let (whole, wrong) = ("to: Pay,", "to: Paay,");
    assert!(text.contains(whole), "the coffee machine has changed");
    let specification = folder.write("specification.yaml", &text.replacen(whole, wrong, 1));
    let output = run(arguments!["check", specification]);
    exits(&output, 2);
    let said = stderr(&output);
    assert!(said.contains("`Paay` is entered") && said.contains("did you mean `Pay`?"), "{said}");
    assert!(!said.contains("no path leads to the location"), "{said}");
}

/// Each observation that is taken out of a test case is missed, each guard that is made true is found.
#[test]
fn an_edited_test_case_is_refused() {
    let folder = Folder::of_machines("models");
    folder.ends(&["run", "coreach.yaml", "--out", "out", "--quiet"], 0);
    let made = folder.json("out/deliver_coffee/test_case.json");
    let truth = made["types"].as_array().unwrap().iter().position(|ty| ty["kind"] == "bool").unwrap();
    let is_open = |number: &Value| made["locations"][number.as_u64().unwrap() as usize]["verdict"].is_null();
    let is_seen =
        |number: &Value| made["actions"][number.as_u64().unwrap() as usize]["role"] == "observation";
    let transitions = made["transitions"].as_array().unwrap();
    let same =
        |one: &Value, other: &Value| one["source"] == other["source"] && one["action"] == other["action"];
    let mut codes = BTreeSet::new();
    for (place, transition) in transitions.iter().enumerate() {
        assert!(is_open(&transition["source"]));
        if !is_seen(&transition["action"]) {
            continue;
        }
        let mut removed = made.clone();
        removed["transitions"].as_array_mut().unwrap().remove(place);
        let mut edits = vec![removed];
        if transitions.iter().filter(|other| same(transition, other)).count() > 1 {
            let mut weakened = made.clone();
            let count = weakened["terms"].as_array().unwrap().len();
            weakened["terms"].as_array_mut().unwrap().push(serde_json::json!(["literal", truth, true]));
            weakened["transitions"][place]["guard"] = serde_json::json!(count);
            edits.push(weakened);
        }
        for edited in edits {
            folder.write("edited.json", &edited.to_string());
            let (_, told) = folder.ends(&["check", "edited.json"], 2);
            let known = ["not-a-test-case", "observation-not-taken", "observation-taken-twice"];
            let code = known.into_iter().find(|code| told.contains(code));
            codes.insert(code.unwrap_or_else(|| panic!("transition {place}: {told}")));
        }
    }
    assert_eq!(codes.len(), 3, "{codes:?}");
}

/// A name of a file is shown in one line, whatever signs it has.
#[test]
fn a_line_break_in_a_name_breaks_no_line() {
    let folder = Folder::with(&[("a\nerror: b\u{1b}.yaml", "iosts: [\n")]);
    for name in ["a\nerror: b\u{1b}.yaml", "x\n\tnot there.yaml"] {
        let output = folder.coreach(&["check", name]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        let shown = name.replace('\n', "\\n").replace('\t', "\\t").replace('\u{1b}', "\\u{1b}");
        assert!(text.contains(&shown) && !text.contains(name), "{text}");
        assert!(!stdout(&output).contains(name), "{}", stdout(&output));
    }
}

const SPECIFICATION: &str = "iosts: door
constants: { cOpen: nat }
inputs: { Press: {} }
outputs: { Moved: { open: bool } }
initial: { location: Shut }
transitions:
  - { from: Shut, to: Moving, on: Press, when: cOpen > 0 }
  - { from: Moving, to: Shut, on: Moved, when: open }
";
const PURPOSE: &str = "purpose: moved
of: door
initial: { location: Begin }
transitions: [{ from: Begin, to: Accept, on: Moved }]
";
const IUT: &str = "iut: door
stdio:
  command: [cat]
  encoding: lines
  stimuli: { Press: press }
  observations: { Moved: '^(?P<open>.*)$' }
";

/// What is wrong with a specification is counted where it stands.
#[test]
fn a_mistake_is_counted_for_the_file_that_has_it() {
    let folder = Folder::new();
    let model = folder.write("door.yaml", &SPECIFICATION.replace("cOpen > 0", "cOpne > 0"));
    let purpose = folder.write("moved.yaml", PURPOSE);
    let configuration = folder.write("coreach.yaml", "specification: door.yaml\npurpose: moved.yaml\n");
    let iut = folder.write("iut.yaml", IUT);
    let output = run(arguments!["check", &model, &purpose, &configuration, &iut]);
    exits(&output, 2);
    let said = stdout(&output).replace(&format!("{}/", folder.0.display()), "");
    for line in [
        "door.yaml: specification `door`: 1 error\n",
        "moved.yaml: purpose: 1 error in door.yaml\n",
        "coreach.yaml: configuration: 1 error in door.yaml\n",
        "its model has mistakes: its actions and parameters are not checked",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    folder.write("moved.yaml", &PURPOSE.replace("on: Moved", "on: Mooved"));
    folder.write("door.yaml", SPECIFICATION);
    let said = stdout(&run(arguments!["check", &purpose]));
    assert!(said.ends_with("moved.yaml: purpose: 1 error\n"), "{said}");
}

#[test]
fn what_a_document_is_decides_its_content() {
    let folder = Folder::new();
    let model = folder.write("door.yaml", SPECIFICATION);
    folder.write("moved.yaml", PURPOSE);
    let text = "specification: door.yaml\npurpose: moved.yaml\noutput: { directory: out, formats: [json], stages: [test_case] }\n";
    exits(&run(arguments!["run", folder.write("coreach.yaml", text)]), 0);
    let test = fs::read_to_string(folder.0.join("out/moved/test_case.json")).unwrap();
    let test = folder.write("test_case.txt", &test);
    let quoted = "{\"iosts\": \"m\", \"inputs\": {\"A\": {}}, \"initial\": {\"location\": \"L\"}, \
                  \"locations\": {\"L\": null}, \"transitions\": [{\"from\": \"L\", \"to\": \"L\", \"on\": \"A\"}]}";
    let quoted = folder.write("model.json", quoted);
    let output = run(arguments!["check", &test, &quoted, &model]);
    exits(&output, 0);
    let said = stdout(&output);
    assert!(said.contains("test_case.txt: test case `door__moved`"), "{said}");
    assert!(said.contains("model.json: specification `m` (1 location, 1 transition): ok"), "{said}");
    folder.write("iut.yaml", "iut: door\nsimulated: { model: door.yaml }\n");
    let output = run(arguments!["test", &test, "--iut", folder.0.join("iut.yaml"), "--runs", "1"]);
    assert!(stdout(&output).contains("seed 1"), "{} {}", stdout(&output), stderr(&output));
}

/// Of files that are not there those are named that are of the right kind.
#[test]
fn the_nearest_file_of_the_right_kind_is_named() {
    let folder = Folder::new();
    folder.write("specification.yaml", SPECIFICATION);
    folder.write("moved.yaml", PURPOSE);
    folder.write("p2.yaml", PURPOSE);
    folder.write("iut.yaml", IUT);
    let says = |file: &str, text: &str, expected: &str| {
        let path = folder.write(file, text);
        let output = run(arguments!["check", &path]);
        exits(&output, 2);
        assert!(stderr(&output).contains(expected), "{text}: {}", stderr(&output));
    };
    let meant = |name: &str| format!("did you mean `{name}`?");
    // A name that is near but of another kind is not meant; the only one of the kind is.
    says("c.yaml", "specification: spec.yaml\npurpose: moved.yaml\n", &meant("specification.yaml"));
    says("c.yaml", "specification: p1.yaml\npurpose: moved.yaml\n", &meant("specification.yaml"));
    says("c.yaml", "specification: specification\npurpose: moved.yaml\n", &meant("specification.yaml"));
    says("c.yaml", "specification: specification.yaml\npurpose: p3.yaml\n", &meant("p2.yaml"));
    says("c.yaml", "specification: specification.yaml\npurpose: other.yaml\n", "paths are relative");
    let campaign = "campaign: c\ntests: [{ configuration: c.yaml }]\niuts: [it.yaml]\n";
    says("campaign.yaml", campaign, &meant("iut.yaml"));
}

#[test]
fn names_of_a_campaign_are_known_before_it_runs() {
    let folder = Folder::new();
    folder.write("door.yaml", SPECIFICATION);
    folder.write("moved.yaml", PURPOSE);
    folder.write("coreach.yaml", "specification: door.yaml\npurpose: moved.yaml\n");
    folder.write("iut.yaml", "iut: door\nsimulated: { model: door.yaml }\n");
    let check = |more: &str| {
        let text =
            format!("campaign: c\ntests: [{{ configuration: coreach.yaml }}]\niuts: [iut.yaml]\n{more}\n");
        let path = folder.write("campaign.yaml", &text);
        let output = run(arguments!["check", &path, "--format", "json"]);
        let found = json(&output)["files"][0]["diagnostics"].as_array().unwrap().clone();
        found
            .iter()
            .map(|one| format!("{} {} {}", one["severity"], one["code"], one["help"]))
            .collect::<String>()
    };
    assert_eq!(check("constants: { cOpen: 3 }\nlimits: { quiescence_at: { Moving__Begin: 100 } }"), "");
    let said = check("constants: [{ cOpne: 3 }]");
    assert!(said.starts_with("\"error\" \"unknown-constant\"") && said.contains("`cOpen`"), "{said}");
    assert!(check("constants: [{ cOpen: -3 }]").starts_with("\"error\" \"wrong-value\""));
    let said = check("limits: { quiescence_at: { Mving__Begin: 100 } }");
    assert!(said.starts_with("\"warning\" \"unknown-location\"") && said.contains("`Moving`"), "{said}");
    // A constant that the configuration fixes is none of its test cases.
    folder
        .write("coreach.yaml", "specification: door.yaml\npurpose: moved.yaml\ninstantiate: { cOpen: 3 }\n");
    let said = check("constants: { cOpen: 3 }");
    assert!(said.contains("\"unknown-constant\" \"remove `cOpen` under `instantiate`"), "{said}");
}

/// Values that no text stands for can neither be sent nor understood, however many there are.
#[test]
fn texts_for_some_values_of_a_large_type_are_a_warning() {
    let folder = Folder::new();
    let warned = |ty: &str, texts: &str| {
        let model = SPECIFICATION.replace("Moved: { open: bool }", &format!("Moved: {{ open: '{ty}' }}"));
        let model = folder.write("door.yaml", &model.replace("when: open", "when: true"));
        let iut = folder.write("iut.yaml", &format!("{IUT}  values: {{ open: {{ {texts} }} }}\n"));
        let output = run(arguments!["check", &model, &iut]);
        exits(&output, 0);
        stderr(&output).contains("missing-value")
    };
    assert!(warned("int", "one: 1, two: 2"));
    assert!(warned("string", "one: a"));
    assert!(warned("int[0..999]", "one: 1"));
    assert!(warned("int[0..1]", "one: 1"));
    assert!(!warned("int[0..1]", "one: 1, zero: 0"));
    let all: Vec<String> = (0..200).map(|number| format!("n{number}: {number}")).collect();
    assert!(!warned("int[0..199]", &all.join(", ")));
}

/// Of which type a set in braces is, its place says, be it in a case of `if` or of `match`.
#[test]
fn a_literal_has_the_type_of_its_place_in_each_case() {
    let folder = Folder::new();
    for value in [
        "match o: some(_) -> {A1} | none -> s",
        "match o: some(_) -> s | none -> {A1}",
        "match o: none -> {} | some(_) -> {A1, B1}",
        "if o is some then {A1} else s",
    ] {
        let model = folder.write(
            "m.yaml",
            &format!(
                "iosts: m
types: {{ K: [A1, B1] }}
variables: {{ s: 'set[K]', o: 'option[int]' }}
initial: {{ location: A, condition: 's == {{}} && o == none' }}
inputs: {{ I: {{}} }}
transitions:
  - {{ from: A, to: A, on: I, assign: {{ s: '{value}' }} }}
"
            ),
        );
        let output = run(arguments!["check", &model]);
        exits(&output, 0);
        assert!(stdout(&output).ends_with(": ok\n"), "{value}: {} {}", stdout(&output), stderr(&output));
    }
}

/// The remedy for a value that grows is one for its type, and a quotient is not said to be a product.
#[test]
fn what_is_too_large_or_not_linear_is_told_as_what_it_is() {
    let folder = Folder::with(&[
        (
            "grown.yaml",
            "iosts: m\nvariables: { s: string }\ninitial: { location: A, condition: 's == \"a\"' }\ninputs: { Go: {} }\noutputs: { \
             Ok: {} }\ntransitions:\n  - { from: A, to: B, on: Go, assign: { s: s + s + s + s + s } }\n  - { from: B, to: A, on: Ok \
             }\n",
        ),
        (
            "model.yaml",
            "iosts: m\nvariables: { y: real, u: real }\ninitial: { location: A, condition: y == 0 && u == 1 }\ninputs: { Set: { \
             r: real } }\noutputs: { Ok: {}, Big: {} }\ntransitions:\n  - { from: A, to: B, on: Set, when: 1 <= r && r <= 9, assign: { u: r } \
             }\n  - { from: B, to: C, on: Ok, assign: { y: 9.0 / u } }\n  - { from: C, to: A, on: Big, when: y > 5 }\n",
        ),
        (
            "purpose.yaml",
            "purpose: p\nof: m\ninitial: { location: X }\ntransitions: [{ from: X, to: Accept, on: Big }]\n",
        ),
        ("c.yaml", "specification: model.yaml\npurpose: purpose.yaml\n"),
    ]);
    let said = stderr(&folder.coreach(&["check", "grown.yaml"]));
    assert!(said.contains("and strings a guard"), "{said}");
    let output = folder.coreach(&["run", "c.yaml"]);
    let said = stdout(&output) + &stderr(&output);
    assert!(
        said.contains("`9.0 / u` is not analysed, since it is not linear (except for the bounds of the"),
        "{said}"
    );
}

/// Precision: time is no value on the wire, however the system is reached, and whatever gives the model.
#[test]
fn a_file_is_checked_against_a_timed_model_without_its_delays() {
    let folder = Folder::with(&[
        (
            "specification.yaml",
            "iosts: kettle\nclocks: [w]\ninitial: { location: Off }\ninputs: { On: { p: 'int[0..9]' }, Lid: { controllable: false } }\n\
             outputs: { Warm: { q: int } }\ntransitions:\n  - { from: Off, to: Warming, on: On, reset: [w] }\n  \
             - { from: Warming, to: Off, on: Warm, when: w <= 1 }\n  - { from: Off, to: Off, on: Lid }\n",
        ),
        (
            "purpose.yaml",
            "purpose: warm\nof: kettle\ninitial: { location: Cold }\ntransitions: [{ from: Cold, to: Accept, on: Warm }]\n",
        ),
        (
            "coreach.yaml",
            "specification: specification.yaml\npurpose: purpose.yaml\ntimed: { silence_after: 2 }\n",
        ),
        ("campaign.yaml", "campaign: c\ntests: [{ configuration: coreach.yaml }]\niuts: [iut.yaml]\n"),
    ]);
    folder.ends(&["run", "coreach.yaml", "--stages", "test_case", "--out", "."], 0);
    let lines =
        "encoding: lines, stimuli: { On: 'on {p}' }, observations: { Warm: 'warm (?P<q>\\d+)', Lid: lid }";
    let command = "command: [sh, '-c', 'cat']";
    let address = "address: 127.0.0.1:9";
    for way in [
        format!("stdio: {{ {command} }}"),
        format!("stdio: {{ {command}, {lines} }}"),
        format!("tcp: {{ {address}, {lines}, reset: [{{ send: r, expect: r }}] }}"),
        format!("udp: {{ {address}, {lines}, settle: {{ quiet_ms: 9 }} }}"),
        format!(
            "tcp: {{ {address}, encoding: binary, frame: {{ length: u8 }}, stimuli: {{ On: [{{ as: u8, is: 1 }}, {{ as: u8, name: p }}] }}, \
             observations: {{ Warm: [{{ as: u8, is: 2 }}, {{ as: u8, name: q }}], Lid: [{{ as: u8, is: 3 }}] }}, reset: [{{ send: '00', expect: '00' }}] }}"
        ),
        "http: { base: 'http://127.0.0.1:9', stimuli: { On: { method: PUT, path: '/on/{p}' } }, observations: { Warm: \
         { status: 200, values: { q: /q } }, Lid: { status: 204 } } }"
            .to_owned(),
        "simulated: { model: specification.yaml }".to_owned(),
    ] {
        folder.write("iut.yaml", &format!("iut: k\n{way}\n"));
        for model in ["specification.yaml", "coreach.yaml", "warm/test_case.json"] {
            let (out, err) = folder.ends(&["check", "iut.yaml", model], 0);
            assert!(out.contains("iut.yaml: iut `k` against `") && out.contains(": ok\n"), "{out}");
            assert!(!err.contains("delay") && !out.contains("delay"), "{way}, {model}: {out}{err}");
        }
        let (out, err) = folder.ends(&["check", "campaign.yaml"], 0);
        assert!(!out.contains("delay") && !err.contains("delay"), "{way}: {out}{err}");
    }
}

/// Precision: what is so at the beginning is told so, with its values, and nothing else is.
#[test]
fn a_key_that_a_map_lacks_at_the_beginning_is_told() {
    let folder = Folder::new();
    for (map, lacks) in [("[APPLE: 5, PLUM: 0]", false), ("[APPLE: 5]", true)] {
        let text = format!(
            "iosts: m\ntypes: {{ Fruit: [APPLE, PLUM] }}\nvariables: {{ vStock: 'map[Fruit] of int' }}\ninitial: {{ location: A, \
             condition: 'vStock == {map}' }}\ninputs: {{ Fill: {{ p: Fruit }} }}\ntransitions: [{{ from: A, to: A, on: Fill, when: \
             'vStock[p] < 20' }}]\n"
        );
        folder.write("m.yaml", &text);
        let (_, err) = folder.ends(&["check", "m.yaml"], 0);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(err.contains("has no value in some states"), "{err}");
        let early =
            "where p = PLUM, vStock = [APPLE: 5] note: so already at the beginning: does a value lack there?";
        assert_eq!((err.contains(early), err.contains("beginning")), (lacks, lacks), "{err}");
    }
}
