//! Test cases as programs, asked for on the command line and in a configuration: what is written, and what is
//! refused.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Folder, exits, run, stderr, stdout};

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(path)
}

#[test]
fn a_configuration_asks_for_programs_and_gets_them_of_the_test_case() {
    let folder = Folder::new();
    let formats = "output: { formats: [python, rust, yaml], stages: [product, test_case] }";
    let config = folder.coffee("deliver_coffee", formats);
    let output = run(arguments!["run", &config]);
    exits(&output, 0);
    let entries = fs::read_dir(folder.0.join("out/deliver_coffee")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["product.yaml", "test_case.rs", "test_case.yaml", "test_deliver_coffee.py"]);
    for (format, name) in [("python", "test_deliver_coffee.py"), ("rust", "test_case.rs")] {
        let shown = run(arguments!["show", &config, "--stage", "test_case", "--format", format]);
        exits(&shown, 0);
        let written = fs::read_to_string(folder.0.join("out/deliver_coffee").join(name)).unwrap();
        assert!(stdout(&shown) == written, "{format}");
    }
}

/// pytest takes two files of one name in two folders for one, and refuses the second.
#[test]
fn tests_of_python_have_names_of_their_own() {
    let folder = Folder::of("coffee");
    let purposes =
        "specification: specification.yaml\npurposes: [deliver_coffee.yaml, several_drinks.yaml]\n";
    folder.write("both.yaml", &format!("{purposes}output: {{ formats: [python], stages: [test_case] }}\n"));
    folder.ends(&["run", "both.yaml"], 0);
    let entries = fs::read_dir(folder.0.join("out")).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|folder| fs::read_dir(folder).unwrap());
    let names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let different: std::collections::BTreeSet<&String> = names.iter().collect();
    assert_eq!((names.len(), different.len()), (2, 2), "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("test_") && name.ends_with(".py")), "{names:?}");
    let has = std::process::Command::new("python3").args(["-c", "import pytest"]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no pytest");
        return;
    }
    let collect = ["-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "out"];
    let output = std::process::Command::new("python3").args(collect).current_dir(&folder.0).output().unwrap();
    exits(&output, 0);
}

/// What a form cannot say is a finding that names what can; in a run the other forms are written.
#[test]
fn what_does_not_suit_is_refused_with_what_does() {
    let coffee = example("coffee_machine/coreach.yaml");
    let timed = example("light_switch/coreach.yaml");
    let online = example("parcels/asked_coreach.yaml");
    for (config, stage, format, why, instead) in [
        (&coffee, "product", "python", "this is the product", "--stage test_case"),
        (&coffee, "test_graph", "rust", "this is the test graph", "--stage test_case"),
        (&coffee, "specification", "rust", "this is the specification", "--stage test_case"),
        (&timed, "test_case", "python", "a timed test case", "use `rust`"),
    ] {
        let output = run(arguments!["show", config, "--stage", stage, "--format", format]);
        exits(&output, 2);
        let said = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(stdout(&output).is_empty() && said.contains("form-does-not-suit"), "{said}");
        assert!(said.contains(why) && said.contains(instead), "{said}");
    }
    let output = run(arguments!["show", &timed, "--stage", "test_case", "--format", "rust"]);
    exits(&output, 0);

    let formats = "\noutput: { formats: [json, python, rust], stages: [test_case] }\n";
    for (example, name) in [(&timed, "bright_timeout/test_case"), (&online, "asked/online_test")] {
        let folder = Folder::new();
        for entry in fs::read_dir(example.parent().unwrap()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::copy(&path, folder.0.join(path.file_name().unwrap())).unwrap();
            }
        }
        let own = fs::read_to_string(example).unwrap();
        let kept: String =
            own.lines().filter(|line| !line.starts_with("output:")).map(|line| format!("{line}\n")).collect();
        let config = folder.write("own.yaml", &(kept + formats));
        let output = run(arguments!["run", &config]);
        let said = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        exits(&output, 6);
        assert!(said.contains("is not written: the form `python` does not suit"), "{said}");
        let there = |ending: &str| folder.0.join("out").join(format!("{name}.{ending}")).exists();
        assert!(there("json") && there("rs") && !there("py"), "{said}");
    }
}

/// There is nothing to run where the purpose is out of reach.
#[test]
fn a_purpose_out_of_reach_is_no_program() {
    let folder = Folder::new();
    folder.write(
        "m.yaml",
        "iosts: m\nlocations: [A]\ninitial: { location: A }\ninputs: { Go: { p: int } }\noutputs: { Out: { q: int } }\ntransitions:\n  - { from: A, to: A, on: Go }\n  - { from: A, to: A, on: Out, when: q > 3 }\n",
    );
    folder.write(
        "p.yaml",
        "purpose: never\nof: m\nlocations: [W, Accept]\ninitial: { location: W }\ntransitions: [{ from: W, to: Accept, on: Out, when: q == 1 }]\n",
    );
    let config = folder.write(
        "c.yaml",
        "specification: m.yaml\npurpose: p.yaml\noutput: { formats: [python, json], stages: [test_case] }\n",
    );
    let output = run(arguments!["run", &config]);
    let said = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("there is nothing to run"), "{said}");
    // What is told of the purpose is not hidden by the format.
    exits(&output, 7);
    assert!(folder.0.join("out/never/test_case.json").exists());
}
