//! The whole program: arguments in, standard output and exit code out.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::common::{Folder, coreach, data, exits, json, run, stderr, stdout};
use serde_json::Value;

/// Every file below a folder, with its content.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut work = vec![folder.to_owned()];
    while let Some(next) = work.pop() {
        for item in fs::read_dir(next).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                work.push(path);
            } else {
                found.push((path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_run_writes_what_was_asked_for_and_counts_it() {
    let folder = Folder::new();
    let config =
        folder.coffee("deliver_coffee", "output: { formats: [dot, json], stages: [test_graph, test_case] }");
    let output = run(arguments!["run", &config, "--format", "json", "--check"]);
    exits(&output, 0);
    let summary = json(&output);
    let purpose = &summary["purposes"][0];
    assert_eq!(purpose["result"], "made");
    let case = &purpose["details"]["stages"][5];
    assert_eq!(
        (&case["stage"], &case["transitions"], &case["fail"]),
        (&"test_case".into(), &12.into(), &8.into())
    );
    let names: Vec<PathBuf> = tree(&folder.0.join("out")).into_iter().map(|(path, _)| path).collect();
    let wanted = ["test_case.dot", "test_case.json", "test_graph.dot", "test_graph.json"];
    assert_eq!(names, wanted.map(|name| Path::new("deliver_coffee").join(name)));
    assert_eq!(purpose["details"]["files"].as_array().unwrap().len(), 4);
}

#[test]
fn the_summary_for_people_is_on_standard_output() {
    let folder = Folder::new();
    let config = folder.coffee("deliver_coffee", "output: { formats: [json] }");
    let output = run(arguments!["run", &config]);
    exits(&output, 0);
    let text = stdout(&output);
    assert!(text.contains("deliver_coffee (polyhedra)"), "{text}");
    assert!(text.contains("test_case.json"), "{text}");
    let quiet = run(arguments!["run", &config, "--quiet"]);
    assert_eq!((stdout(&quiet), stderr(&quiet)), (String::new(), String::new()));
}

#[test]
fn the_command_line_wins_over_the_configuration() {
    let folder = Folder::new();
    let config = folder.coffee("deliver_coffee", "output: { formats: [json] }");
    let out = folder.0.join("elsewhere");
    let stages = "test_case,select";
    let output = run(arguments!["run", &config, "--out", &out, "--stages", stages, "--domain", "location"]);
    exits(&output, 0);
    assert!(stdout(&output).contains("deliver_coffee (location)"));
    assert_eq!(tree(&out).len(), 2);
    assert!(!folder.0.join("out").exists());
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = Folder::new();
    let config = data("coffee/coreach.yaml");
    let results = ["1", "2", "8"].map(|threads| {
        let out = folder.0.join(threads);
        exits(&run(arguments!["run", &config, "--out", &out, "--threads", threads]), 0);
        tree(&out)
    });
    assert_eq!(results[0].len(), 24);
    assert!(results[0] == results[1] && results[0] == results[2]);
}

#[test]
fn what_is_written_has_no_times() {
    let folder = Folder::new();
    exits(&run(arguments!["run", data("coffee/coreach.yaml"), "--out", &folder.0]), 0);
    for (path, bytes) in tree(&folder.0) {
        assert!(!String::from_utf8_lossy(&bytes).contains("seconds"), "{}", path.display());
    }
}

#[test]
fn a_mistake_is_drawn_and_ends_with_2() {
    let folder = Folder::new();
    let config = folder.coffee("deliver_coffee", "analysis: { domian: polyhedra }");
    let output = run(arguments!["run", &config]);
    exits(&output, 2);
    assert!(stderr(&output).contains("did you mean `domain`?"), "{}", stderr(&output));
    assert!(stdout(&output).is_empty());
    let output = run(arguments!["run", &config, "--format", "json"]);
    exits(&output, 2);
    assert_eq!(json(&output)["exit_code"], 2);
    assert_eq!(json(&output)["diagnostics"].as_array().unwrap().len(), 1);
}

#[test]
fn wrong_usage_ends_with_2() {
    exits(&run(["run"]), 2);
    exits(&run(["walk"]), 2);
    let output = run(["compare", "x.yaml", "--domains", "polyhedron"]);
    exits(&output, 2);
    assert!(stderr(&output).contains("polyhedra"), "{}", stderr(&output));
    exits(&run(["run", "x.yaml", "--threads", "0"]), 2);
    exits(&run(["run", "x.yaml", "--stages", "last"]), 2);
}

#[test]
fn a_number_has_one_spelling_and_a_wrong_one_commands_no_terminal() {
    let folder = Folder::new();
    for number in ["+5", "08"] {
        let wrong =
            folder.coffee("deliver_coffee", &format!("determinization: {{ max_lookahead: {number} }}"));
        let output = run(arguments!["run", &wrong]);
        exits(&output, 2);
        assert!(stderr(&output).contains("wrong-value"), "{}", stderr(&output));
    }
    let config = folder.coffee("deliver_coffee", "");
    for number in ["+5", "007", "5_", "\u{202e}5", "\u{1b}[31m5"] {
        for words in
            [["run", "--threads"], ["mutate", "--mutants"], ["mutate", "--seed"], ["mutate", "--depth"]]
        {
            let output = run(arguments![words[0], &config, words[1], number]);
            exits(&output, 2);
            let said = stderr(&output);
            assert!(!said.contains(['\u{202e}', '\u{1b}']) && said.contains("whole number"), "{said}");
        }
    }
    exits(&run(arguments!["mutate", &config, "--mutants", "0"]), 2);
}

#[test]
fn a_limit_ends_with_6_and_names_its_knob() {
    let folder = Folder::new();
    let files = |specification: &str, purpose: &str, more: &str| {
        let (specification, purpose) = (data(specification), data(purpose));
        let text =
            format!("specification: {}\npurpose: {}\n{more}", specification.display(), purpose.display());
        folder.write("coreach.yaml", &text)
    };
    let both_ways = files("choice.yaml", "left_of_choice.yaml", "");
    exits(&run(arguments!["run", both_ways]), 0);
    let never = files("choice.yaml", "left_of_choice.yaml", "limits: { ways: 1 }");
    let output = run(arguments!["run", &never]);
    exits(&output, 6);
    assert!(stderr(&output).contains("is never resolved"), "{}", stderr(&output));
    let said = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("limits: { ways: 4 }"), "{said}");
    let output = run(arguments!["run", &never, "--format", "json"]);
    exits(&output, 6);
    assert_eq!(json(&output)["purposes"][0]["result"], "stopped");
    exits(&run(arguments!["show", &never]), 6);
    exits(&run(arguments!["compare", &never]), 6);
    let limited = files("delayed_choice.yaml", "left.yaml", "determinization: { max_lookahead: 0 }");
    let output = run(arguments!["run", &limited]);
    exits(&output, 6);
    assert!(stderr(&output).contains("max_lookahead: 1"), "{}", stderr(&output));
    exits(&run(arguments!["run", files("delayed_choice.yaml", "left.yaml", "")]), 0);
    let limited = files("delayed_choice.yaml", "left.yaml", "limits: { pairs: 1 }");
    for command in ["run", "show", "compare"] {
        let output = run(arguments![command, &limited]);
        exits(&output, 6);
        let said = stderr(&output);
        assert!(said.contains("stage product would make more than 1 pairs of locations"), "{said}");
        assert!(said.contains("limits: { pairs: 4 }"), "{said}");
    }
    exits(&run(arguments!["run", files("delayed_choice.yaml", "left.yaml", "limits: { pairs: 1000 }")]), 0);
}

/// A large test case says once that every other output fails; what is written so is read back so, and can be
/// run.
#[test]
fn what_is_said_once_is_read_back() {
    let folder = Folder::new();
    for most in [0, 10_000] {
        let more = format!("limits: {{ written_out: {most} }}\noutput: {{ formats: [json, yaml, dot] }}");
        let config = folder.coffee("deliver_coffee", &more);
        exits(&run(arguments!["run", &config]), 0);
        let written = config.parent().unwrap().join("out/deliver_coffee/test_case.json");
        let document: Value = serde_json::from_slice(&fs::read(&written).unwrap()).unwrap();
        assert_eq!(document.get("others_fail").is_some_and(|fail| !fail.is_null()), most == 0);
    }
}

#[test]
fn a_file_in_the_place_of_a_folder_ends_with_2() {
    let folder = Folder::new();
    let config = folder.coffee("deliver_coffee", "output: { formats: [json] }");
    let file = folder.write("file", "");
    let output = run(arguments!["run", &config, "--out", &file]);
    exits(&output, 2);
    assert!(stderr(&output).contains("is a file, not a folder"), "{}", stderr(&output));
}

#[test]
fn an_unreachable_purpose_ends_with_7_and_says_why() {
    let folder = Folder::new();
    for (purpose, why) in [
        ("never", "on every way from <Begin,Begin> to Accept is a guard that never holds"),
        ("free", "from <Begin,Begin>"),
    ] {
        let config = folder.coffee(purpose, "output: { formats: [json] }");
        let output = run(arguments!["run", &config]);
        exits(&output, 7);
        assert!(stderr(&output).replace("\n  │ ", " ").contains(why), "{}", stderr(&output));
        let output = run(arguments!["run", &config, "--format", "json"]);
        exits(&output, 7);
        assert_eq!(json(&output)["purposes"][0]["result"], "unreachable");
        let written: Value = serde_json::from_slice(
            &fs::read(folder.0.join("out").join(purpose).join("test_case.json")).unwrap(),
        )
        .unwrap();
        assert_eq!(written["purpose_reachable"], false);
    }
}

/// Who means "until" is told that completion rejects.
#[test]
fn what_completion_rejects_is_told_where_nothing_reaches_the_purpose() {
    let folder = Folder::new();
    let specification = "iosts: counter\nvariables: { n: int }\ninitial: { location: A, condition: n == 0 }\n\
        inputs: { Next: {} }\noutputs: { Count: { c: int } }\n\
        transitions: [{ from: A, to: B, on: Next, assign: { n: n + 1 } }, { from: B, to: A, on: Count, when: c == n }]\n";
    let purpose = "purpose: third\nof: counter\nobserves: [n]\ninitial: { location: Begin }\n\
        transitions: [{ from: Begin, to: Accept, on: Count, when: n == 3 }]\n";
    folder.write("counter.yaml", specification);
    folder.write("third.yaml", purpose);
    let config = folder.write("coreach.yaml", "specification: counter.yaml\npurpose: third.yaml\n");
    let output = run(arguments!["run", &config]);
    exits(&output, 7);
    let told = stderr(&output).replace("\n  │ ", " ");
    // The likely cause comes before what the domain finds.
    assert!(told.find("leads to Reject") < told.find("this is what the domain"), "{told}");
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let addition = "`{ from: Begin, to: Begin, on: Count, when: 'n != 3' }`";
    assert!(
        told.contains(&format!("help: to stay there instead, add {addition}; if not: change `n == 3`")),
        "{told}"
    );
}

/// A run to Pass that the search finds is not denied by the list of positions, which is too short.
#[test]
fn a_known_run_to_pass_makes_pass_possible() {
    let folder = Folder::new();
    folder.write(
        "sums.yaml",
        "iosts: sums\nvariables: { vN: int, vM: int }\n\
         initial: { location: Idle, condition: vN == 0 && vM == 0 }\n\
         inputs: { Ask: { pN: 'int[0..900]' } }\noutputs: { Yes: { pX: 'int[0..1000]' } }\ntransitions:\n\
         \x20 - { from: Idle, to: Answer, on: Ask, assign: { vN: vN + pN } }\n\
         \x20 - { from: Answer, to: Idle, on: Yes, assign: { vM: vM + pX } }\n",
    );
    folder.write(
        "far.yaml",
        "purpose: far\nof: sums\nobserves: [vM, vN]\ninitial: { location: Begin }\ntransitions:\n\
         \x20 - { from: Begin, to: Accept, on: Yes, when: vM == 777777 && vN == 33333 }\n\
         \x20 - { from: Begin, to: Begin, on: Yes, when: vM != 777777 || vN != 33333 }\n",
    );
    let config = folder.write("coreach.yaml", "specification: sums.yaml\npurpose: far.yaml\n");
    let output = run(arguments!["run", &config]);
    exits(&output, 0);
    let told = stdout(&output);
    assert!(
        told.contains("a shortest run to Pass: ") && told.contains("what can be won: possible"),
        "{told}"
    );
}

/// Only a Reject that can be entered is named.
#[test]
fn what_completion_rejects_is_not_told_where_guards_leave_no_room() {
    let folder = Folder::new();
    let specification = "iosts: counter\nvariables: { n: int }\ninitial: { location: A, condition: n == 0 }\n\
        outputs: { Count: { c: int }, Other: { d: int } }\n\
        transitions: [{ from: A, to: A, on: Count, when: c == n }, { from: A, to: A, on: Other, when: d >= 0 }]\n";
    let purpose = "purpose: third\nof: counter\ninitial: { location: Begin }\ntransitions:\n\
        \x20 - { from: Begin, to: Accept, on: Count, when: c == 3 }\n\
        \x20 - { from: Begin, to: Begin, on: Count, when: c < 3 }\n\
        \x20 - { from: Begin, to: Begin, on: Count, when: c > 3 }\n\
        \x20 - { from: Begin, to: Begin, on: Other, when: d >= 0 }\n";
    folder.write("counter.yaml", specification);
    folder.write("third.yaml", purpose);
    for judge in ["test_case", "online"] {
        let text = format!("specification: counter.yaml\npurpose: third.yaml\njudge: {judge}\n");
        let config = folder.write("coreach.yaml", &text);
        let output = run(arguments!["run", &config]);
        exits(&output, 7);
        let told = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("cannot be reached") && !told.contains("leads to Reject"), "{judge}: {told}");
    }
}

/// A guard that never holds because it reads the old value is named, and no other step.
#[test]
fn a_purpose_that_means_the_value_after_the_step_is_told() {
    let folder = Folder::new();
    let specification = "iosts: queue\nvariables: { vQueue: 'list[3] of int' }\n\
        initial: { location: A, condition: 'vQueue == []' }\noutputs: { Place: { pPlace: int }, Full: {} }\ntransitions:\n\
        \x20 - { from: A, to: A, on: Place, when: len(vQueue) < 3 && pPlace == len(vQueue), assign: { vQueue: 'vQueue + [pPlace]' } }\n\
        \x20 - { from: A, to: A, on: Full, when: len(vQueue) == 3 }\n";
    let purpose = "purpose: full\nof: queue\nobserves: [vQueue]\nvariables: { n: int }\n\
        initial: { location: Begin, condition: n == 0 }\ntransitions:\n\
        \x20 - { from: Begin, to: Begin, on: Place, when: n == 0 && len(vQueue) < 3 }\n\
        \x20 - { from: Begin, to: Begin, on: Place, when: n == 0 && len(vQueue) == 3, assign: { n: n + 1 } }\n\
        \x20 - { from: Begin, to: Accept, on: Full, when: n >= 1 }\n";
    folder.write("queue.yaml", specification);
    folder.write("full.yaml", purpose);
    let config = folder.write("coreach.yaml", "specification: queue.yaml\npurpose: full.yaml\n");
    let output = run(arguments!["run", &config]);
    exits(&output, 7);
    let told = stderr(&output);
    for words in [
        "full.yaml:8:",
        "reads `vQueue` before `Place` changes it",
        "`vQueue` has the value that it has before",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(!told.contains("this step"), "{told}");
}

/// Precision and cost: joins of this model have dozens of faces, and each is a hard question about integers.
#[test]
fn polyhedra_of_many_faces_are_as_sharp_as_octagons_and_decided() {
    let folder = Folder::new();
    folder.write(
        "spec.yaml",
        "iosts: machine\nconstants: { cK: int }\nvariables: { vA: int, vB: int, vC: int, vD: int }\n\
         initial: { location: L0, condition: cK >= 1 && vA == 0 && vB == cK && vC == 1 && vD == 0 }\n\
         inputs: { In1: { pX: int }, In2: { pX: int } }\noutputs: { Out0: {}, Out1: { pX: bool, pY: int } }\n\
         transitions:\n\
         \x20 - { from: L0, to: L1, on: In1, when: 0 <= pX && pX <= 1 && vD < cK, assign: { vD: vD + 1, vB: vB + 1, vC: vC + pX } }\n\
         \x20 - { from: L0, to: L1, on: In2, when: 0 <= pX && pX <= 2 && vC + vD < cK, assign: { vB: cK } }\n\
         \x20 - { from: L1, to: L0, on: Out0 }\n\
         \x20 - { from: L1, to: L0, on: Out1, when: pY == vB + vA }\n",
    );
    folder.write(
        "purpose.yaml",
        "purpose: goal\nof: machine\nobserves: [vA, vB]\nvariables: { wN: int }\n\
         initial: { location: Begin, condition: wN == 0 }\ntransitions:\n\
         \x20 - { from: Begin, to: Mid, on: Out1, when: vB + wN == 4, assign: { wN: '0' } }\n\
         \x20 - { from: Begin, to: Reject, on: Out0 }\n\
         \x20 - { from: Mid, to: Accept, on: Out1, when: pY != vA }\n\
         \x20 - { from: Mid, to: Mid, on: Out1, when: pY == vA, assign: { wN: wN + 1 } }\n\
         \x20 - { from: Mid, to: Mid, on: Out0, assign: { wN: wN + 1 } }\n",
    );
    let config = folder.write("c.yaml", "specification: spec.yaml\npurpose: purpose.yaml\n");
    let [octagon, polyhedra] = ["octagon", "polyhedra"].map(|domain| {
        let output = run(arguments!["run", &config, "--domain", domain, "--format", "json"]);
        exits(&output, 0);
        json(&output)["purposes"][0]["details"].clone()
    });
    let inconclusive = |details: &Value| details["selection"]["inconclusive"].as_u64().unwrap();
    assert!(inconclusive(&polyhedra) <= inconclusive(&octagon), "{polyhedra} {octagon}");
    assert_eq!(polyhedra["unknown"], 0);
    assert!(polyhedra["queries"].as_u64().unwrap() < 1000, "{}", polyhedra["queries"]);
}

/// A search that has looked at everything is a proof, whatever the domain knows; `-q` does not change that.
#[test]
fn a_purpose_that_no_path_meets_ends_with_7() {
    let folder = Folder::new();
    folder.write(
        "s.yaml",
        "iosts: u\nvariables: { v: int }\ninitial: { location: A, condition: v == 0 }\noutputs: { O: { n: int } }\n\
         transitions: [{ from: A, to: A, on: O, when: n == v }]\n",
    );
    folder.write(
        "p.yaml",
        "purpose: p\nof: u\ninitial: { location: P }\ntransitions:\n\
         \x20 - { from: P, to: Accept, on: O, when: n == 1 }\n\x20 - { from: P, to: P, on: O, when: n != 1 }\n",
    );
    let config =
        folder.write("c.yaml", "specification: s.yaml\npurpose: p.yaml\nanalysis: { domain: location }\n");
    for more in [&[][..], &["-q"]] {
        let mut words = arguments!["run", &config].to_vec();
        words.extend(more.iter().map(std::ffi::OsString::from));
        let output = run(words);
        exits(&output, 7);
        let told = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            told.contains("no path of its test case leads to Pass") && told.contains("a search"),
            "{told}"
        );
    }
    let output = run(arguments!["run", &config, "--format", "json"]);
    exits(&output, 7);
    assert_eq!(json(&output)["purposes"][0]["result"], "unreachable");
}

#[test]
fn constants_are_fixed() {
    let folder = Folder::new();
    let config = folder.coffee("deliver_coffee", "instantiate: { cPrice: 3 }");
    let output = run(arguments!["show", &config, "--stage", "test_case", "--format", "readable-json"]);
    exits(&output, 0);
    let case = json(&output);
    assert_eq!(case["constants"].as_array().unwrap().len(), 0);
    assert!(!stdout(&output).contains("cPrice"));
    let mut conditions = case["readable"]["conditions"].as_array().unwrap().iter();
    let guard = conditions.find(|one| one["term"] == case["transitions"][0]["guard"]).unwrap();
    assert_eq!(guard["text"], "pCoinValue > 0 && pCoinValue >= 3");
}

#[test]
fn a_purposes_own_constant_is_fixed() {
    let folder = Folder::new();
    let config = folder.coffee("several_drinks", "instantiate: { cPrice: 3, cWanted: 2 }");
    let output = run(arguments!["show", &config, "--stage", "test_case", "--format", "json"]);
    exits(&output, 0);
    assert_eq!(json(&output)["constants"].as_array().unwrap().len(), 0);
}

#[test]
fn a_wrong_value_of_a_constant_is_a_mistake() {
    let folder = Folder::new();
    for (value, why) in [
        ("{ cPrice: TEA }", "cPrice"),
        ("{ cPrice: -1 }", "nat"),
        ("{ cPrize: 1 }", "did you mean `cPrice`?"),
        ("{ cPrice: 0 }", "initial condition"),
    ] {
        let config = folder.coffee("deliver_coffee", &format!("instantiate: {value}"));
        let output = run(arguments!["run", &config]);
        exits(&output, 2);
        assert!(stderr(&output).contains(why), "{value}: {}", stderr(&output));
    }
}

#[test]
fn pictures_are_drawn_without_graphviz() {
    let folder = Folder::new();
    let config =
        folder.coffee("deliver_coffee", "output: { formats: [dot, svg], stages: [test_graph, test_case] }");
    // No program is to be found.
    let output = coreach(arguments!["run", &config]).env("PATH", &folder.0).output().unwrap();
    exits(&output, 0);
    assert_eq!(stderr(&output), "");
    assert_eq!(tree(&folder.0.join("out")).len(), 4);
    let show = |more: &[&str]| {
        let mut command = coreach(arguments!["show", &config, "--format", "svg"]);
        let output = command.args(more).env("PATH", &folder.0).output().unwrap();
        exits(&output, 0);
        stdout(&output)
    };
    let (whole, hidden) = (show(&[]), show(&["--hide", "fail"]));
    // One aside for each of the four locations without a verdict, and none.
    assert_eq!(whole.matches(">Fail</text>").count(), 4, "{whole}");
    assert_eq!(hidden.matches(">Fail</text>").count(), 0, "{hidden}");
    assert!(hidden.contains(">Pass</text>") && whole == show(&[]));
}

#[test]
fn show_shows_models_and_stages_in_every_form() {
    let purpose = data("coffee/deliver_coffee.yaml");
    for (path, stage, expected) in [
        (data("coffee/specification.yaml"), None, "Coin?(pCoinValue)"),
        (purpose.clone(), None, "Accept"),
        (purpose.clone(), Some("test_case"), "Coin!(pCoinValue)"),
        (data("coffee/coreach.yaml"), Some("visible"), "Coin?(pCoinValue)"),
        (data("coffee/coreach.yaml"), None, "Coin!(pCoinValue)"),
    ] {
        let mut command = coreach(arguments!["show", &path]);
        if let Some(stage) = stage {
            command.args(["--stage", stage]);
        }
        let output = command.output().unwrap();
        exits(&output, 0);
        assert!(stdout(&output).contains(expected), "{}", stdout(&output));
    }
    let yaml = run(arguments!["show", &purpose, "--stage", "test_graph", "--format", "yaml"]);
    assert!(stdout(&yaml).contains("iosts: coffee_machine__deliver_coffee"), "{}", stdout(&yaml));
    let facts = run(arguments!["show", &purpose, "--stage", "test_graph", "--facts"]);
    assert!(stdout(&facts).contains("coreach: "), "{}", stdout(&facts));
    let other = run(arguments!["show", data("coffee/coreach.yaml"), "--purpose", "several_drinks"]);
    assert!(stdout(&other).contains("coffee_machine__several_drinks"), "{}", stdout(&other));
    exits(&run(arguments!["show", data("coffee/coreach.yaml"), "--purpose", "several_drink"]), 2);
    exits(&run(arguments!["show", data("coffee/specification.yaml"), "--stage", "test_case"]), 2);
}

#[test]
fn compare_says_what_each_domain_makes() {
    let folder = Folder::new();
    let config = folder.coffee("deliver_coffee", "");
    let output = run(arguments![
        "compare",
        &config,
        "--domains",
        "location,polyhedra",
        "--format",
        "json",
        "--threads",
        "2",
    ]);
    exits(&output, 0);
    let rows = json(&output);
    let figures = |row: usize| {
        let graph = &rows[row]["test_graph"];
        (rows[row]["domain"].clone(), graph["transitions"].clone(), graph["inconclusive"].clone())
    };
    assert_eq!(figures(0), ("location".into(), 6.into(), 2.into()));
    assert_eq!(figures(1), ("polyhedra".into(), 4.into(), 0.into()));
    assert_eq!(rows[1]["test_case"]["fail"], 8);
    let output = run(arguments!["compare", &config]);
    exits(&output, 0);
    let domains = coreach_analyses::DomainKind::ALL.len();
    assert_eq!(stdout(&output).lines().count(), 1 + domains, "{}", stdout(&output));
}

#[test]
fn the_domains_of_apron_are_refused_where_they_are_not_in_the_build() {
    let folder = Folder::new();
    let out = folder.0.join("out");
    for domain in ["apron:box", "apron:octagon", "apron:polka"] {
        let config = folder.coffee("deliver_coffee", &format!("analysis: {{ domain: \"{domain}\" }}"));
        let output = run(arguments!["run", &config, "--out", &out]);
        let chosen = run(arguments!["run", &config, "--out", &out, "--domain", domain]);
        if cfg!(feature = "apron") {
            exits(&output, 0);
            exits(&chosen, 0);
        } else {
            exits(&output, 2);
            exits(&chosen, 2);
            for output in [output, chosen] {
                assert!(stderr(&output).contains("is not in this build"), "{}", stderr(&output));
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_panic() {
    let arguments = arguments!["show", data("coffee/coreach.yaml"), "--stage", "product", "--format", "json"];
    let mut child = coreach(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
}

/// Who reads no further, or cannot be written to, changes no answer: neither what is done nor the exit code.
#[test]
fn output_that_nobody_takes_changes_no_exit_code() {
    let folder = Folder::of_machines("");
    folder.write(
        "campaign.yaml",
        "campaign: c\ntests: [{ configuration: coreach.yaml }]\niuts: [wrong.yaml]\n",
    );
    folder.write("wrong_model.yaml", "iosts: m\nlocations: [A]\ninitial: { location: B }\n");
    let test = ["test", "coreach.yaml", "--iut", "wrong.yaml", "--quiescence", "1", "--runs", "20"];
    let json = [test.as_slice(), &["--format", "json"]].concat();
    let kept = [test.as_slice(), &["--keep", "kept"]].concat();
    let begin = |to: &str, words: &[&str]| {
        let script = format!("\"$0\" \"$@\" {to}");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_coreach")]).args(words).current_dir(&folder.0);
        shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for (words, code) in [
        (kept.as_slice(), 1),
        (test.as_slice(), 1),
        (&json, 1),
        (&["campaign", "campaign.yaml"], 1),
        (&["check", "wrong_model.yaml", "right.yaml"], 2),
        (&["check", "wrong_model.yaml", "--format", "json"], 2),
        (&["show", "coreach.yaml"], 0),
    ] {
        for to in ["", ">&-", ">/dev/full"] {
            let mut child = begin(to, words);
            // Where it is not led elsewhere, nobody reads.
            drop(child.stdout.take());
            let output = child.wait_with_output().unwrap();
            // Of a full disk it is told, where nothing is worse.
            let full = to.contains("full") && code == 0;
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(if full { 8 } else { code }), "{words:?} {to}: {said}");
            assert_eq!(
                said.contains("cannot write to standard output"),
                to.contains("full"),
                "{words:?} {to}: {said}"
            );
        }
    }
    // All runs were done, three times.
    assert_eq!(fs::read_dir(folder.0.join("kept")).unwrap().count(), 61);
}

/// Off a terminal, colours are taken out of what is repeated; a mark that turns the line around stays.
#[test]
fn what_is_wrong_with_arguments_is_shown_without_hidden_signs() {
    for arguments in [
        vec!["run", "c.yaml", "--domain", "a\u{202e}\u{1b}[31mb"],
        vec!["run", "c.yaml", "--\u{202e}x"],
        vec!["\u{202e}x"],
        vec!["show", "c.yaml", "--stage", "\u{202e}x"],
    ] {
        let output = coreach(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = stderr(&output);
        assert!(said.contains("\\u{202e}") && !said.contains('\u{202e}'), "{said}");
    }
}

#[test]
fn colours_are_for_terminals() {
    let folder = Folder::new();
    let config = folder.coffee("deliver_coffee", "analysis: { domian: polyhedra }");
    for value in ["", "1"] {
        let output = coreach(arguments!["run", &config]).env("NO_COLOR", value).output().unwrap();
        assert!(!stderr(&output).contains('\u{1b}'));
    }
}

#[test]
fn every_help_fits_a_screen_and_ends_with_an_example() {
    for command in ["run", "check", "show", "compare"] {
        for flag in ["-h", "--help"] {
            let output = run([command, flag]);
            exits(&output, 0);
            let text = stdout(&output);
            assert!(text.lines().count() <= 32, "{} lines:\n{text}", text.lines().count());
            assert!(text.trim_end().lines().last().unwrap().starts_with("  coreach "), "{text}");
        }
    }
    let output = run(["--help"]);
    assert!(stdout(&output).contains("7  a purpose cannot be reached"), "{}", stdout(&output));
}

#[test]
fn nothing_that_is_printed_commands_the_terminal() {
    let folder = Folder::new();
    let configuration = folder.coffee(
        "deliver_coffee",
        &format!(
            "output: {{ directory: \"{}/out\\e[2J\\u202E\\u009B31m\", formats: [dot, json, yaml], stages: [test_case] }}",
            folder.0.display()
        ),
    );
    let hidden = |text: &str| text.chars().any(|c| c != '\n' && coreach_cli::visible::is_hidden_sign(c));
    for format in ["human", "json"] {
        let output = run(arguments!["run", &configuration, "--format", format]);
        exits(&output, 0);
        let (out, err) = (stdout(&output), stderr(&output));
        assert!(!hidden(&out) && !hidden(&err), "{out:?}\n{err:?}");
        assert!(out.contains("[2J"), "{out}");
    }
    // The document says the path as it is.
    let document = json(&run(arguments!["run", &configuration, "--format", "json"]));
    let file = document["purposes"][0]["details"]["files"][0].as_str().unwrap();
    assert!(Path::new(file).is_file(), "{file:?}");
}

#[test]
fn a_limit_of_a_location_that_is_not_there_is_a_mistake() {
    let folder = Folder::new();
    let configuration = folder.coffee("deliver_coffee", "");
    let iut = folder.write("iut.yaml", "iut: itself\nsimulated: { model: specification.yaml }\n");
    let arguments = |at: &str| {
        let words =
            ["test".into(), configuration.clone().into_os_string(), "--iut".into(), iut.clone().into()];
        words.into_iter().chain(["--quiescence".into(), at.into()]).collect::<Vec<std::ffi::OsString>>()
    };
    let output = run(arguments("Pay__Begim=20"));
    exits(&output, 2);
    let said = stderr(&output);
    assert!(said.contains("no test case has a location `Pay__Begim`"), "{said}");
    assert!(said.contains("did you mean `Pay__Begin`?"), "{said}");
}
