//! What many runs leave: reports of JUnit, kept runs, and what is said with `--quiet`.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;

use crate::common::Folder;
use roxmltree::{Document, Node};

/// The names of the files there.
fn names(folder: &Folder, inner: &str) -> Vec<String> {
    let entries = fs::read_dir(folder.0.join(inner)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The arguments are separated by blanks.
#[track_caller]
fn coreach(folder: &Folder, arguments: &str, code: i32) -> (String, String) {
    folder.ends(&arguments.split_whitespace().collect::<Vec<_>>(), code)
}

const TEST: &str = "test coreach.yaml --constant cPrice=3 --quiescence 20 --runs 20";

fn all<'a>(document: &'a Document<'_>, name: &'a str) -> Vec<Node<'a, 'a>> {
    document.descendants().filter(|node| node.has_tag_name(name)).collect()
}

fn count(node: &Node<'_, '_>, name: &str) -> usize {
    node.descendants().filter(|node| node.has_tag_name(name)).count()
}

/// The counts of each element are those of its cases.
#[track_caller]
fn counts_are_right(document: &Document<'_>) {
    for element in ["testsuites", "testsuite"] {
        for node in all(document, element) {
            for (key, name) in
                [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
            {
                let said: Option<usize> = node.attribute(key).map(|said| said.parse().unwrap());
                // The schema of Jenkins has no such count of all suites.
                let is_told = (element, key) != ("testsuites", "skipped");
                assert_eq!(said, is_told.then(|| count(&node, name)), "{element} {key}");
            }
        }
    }
}

#[test]
fn a_report_of_test_has_each_run_with_its_trace() {
    let folder = Folder::of_machines("");
    coreach(&folder, &format!("{TEST} --iut wrong.yaml --junit report.xml --keep kept"), 1);
    let text = folder.read("report.xml");
    let report = Document::parse(&text).unwrap();
    counts_are_right(&report);
    let cases = all(&report, "testcase");
    assert_eq!(cases.len(), 20);
    assert_eq!(all(&report, "testsuite")[0].attribute("name"), Some("deliver_coffee/wrong"));
    assert_eq!(all(&report, "property").len(), 1);
    for (number, case) in cases.iter().enumerate() {
        let run: serde_json::Value =
            serde_json::from_str(&folder.read(&format!("kept/deliver_coffee.{}.json", number + 1))).unwrap();
        assert_eq!(case.attribute("name"), Some(&*format!("seed {}, cPrice = 3", number + 1)));
        let out = case.children().find(|node| node.has_tag_name("system-out")).unwrap().text().unwrap();
        let trace = run["trace"].as_array().unwrap();
        // The line of the end stands behind the events.
        assert_eq!(out.lines().count(), trace.len() + 1, "{out}");
        for (line, step) in out.lines().zip(trace) {
            let at = format!("{:.3} ms", step["at_ms"].as_f64().unwrap());
            let what = format!("{}(", step["action"].as_str().unwrap());
            assert!(line.contains(&at) && line.contains(&what), "{line}: {step}");
        }
        assert!(out.lines().last().unwrap().starts_with(run["verdict"].as_str().unwrap()), "{out}");
        let failure = case.children().find(|node| node.has_tag_name("failure"));
        assert_eq!(failure.is_some(), run["verdict"] == "Fail");
        if let Some(failure) = failure {
            assert!(failure.text().unwrap().contains("against pRemainingValue == vPaid - cPrice"));
            assert!(failure.text().unwrap().contains("coreach explain kept/deliver_coffee."));
        }
    }
    assert!(all(&report, "failure").len() > 1);
}

#[test]
fn inconclusive_is_what_the_user_says_in_reports_too() {
    let folder = Folder::of_machines("");
    folder.write("campaign.yaml", "campaign: nightly\ntests: [{ configuration: coreach.yaml }]\niuts: [right.yaml]\nconstants: [{ cPrice: 3 }]\nseeds: { first: 1, count: 20 }\nlimits: { steps: 3 }\n");
    let mut seen = Vec::new();
    for (worth, code, element) in
        [("ok", 0, None), ("warn", 3, Some("skipped")), ("fail", 1, Some("failure"))]
    {
        for command in [
            format!("{TEST} --iut right.yaml --events 3 --junit report.xml"),
            "campaign campaign.yaml --junit report.xml".to_owned(),
        ] {
            coreach(&folder, &format!("{command} --inconclusive {worth}"), code);
            let text = folder.read("report.xml");
            let report = Document::parse(&text).unwrap();
            counts_are_right(&report);
            let count = |name: &str| all(&report, name).len();
            let marked = count("skipped") + count("failure") + count("error");
            let inconclusive = text.matches("\nInconclusive: ").count();
            let inconclusive = inconclusive + text.matches(">Inconclusive: ").count();
            assert!(inconclusive > 0, "{text}");
            assert_eq!(marked, element.map_or(0, count), "{worth} {command}\n{text}");
            assert_eq!(marked, if element.is_some() { inconclusive } else { 0 }, "{worth} {command}");
            seen.push(inconclusive);
        }
    }
    // The same runs each time.
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
}

#[test]
fn what_is_left_out_is_in_the_report() {
    let folder = Folder::of_machines("");
    folder.write(
        "coreach.yaml",
        "specification: specification.yaml\npurposes: [deliver_coffee.yaml, never.yaml]\n",
    );
    folder.write("campaign.yaml", "campaign: nightly\ntests: [{ configuration: coreach.yaml }]\niuts: [right.yaml]\nconstants: [{ cPrice: 3 }]\nseeds: [1]\n");
    for command in [
        "test coreach.yaml --constant cPrice=3 --quiescence 20 --iut right.yaml --junit report.xml --inconclusive ok",
        "campaign campaign.yaml --junit report.xml --inconclusive ok",
    ] {
        coreach(&folder, command, 7);
        let text = folder.read("report.xml");
        let report = Document::parse(&text).unwrap();
        counts_are_right(&report);
        let suites = all(&report, "testsuite");
        assert_eq!(suites.last().unwrap().attribute("name"), Some("left out"), "{text}");
        let [skipped] = all(&report, "skipped")[..] else { panic!("{text}") };
        assert_eq!(skipped.attribute("type"), Some("unreachable"));
        assert!(skipped.attribute("message").unwrap().starts_with("left out, unreachable: "), "{text}");
        assert_eq!(skipped.parent().unwrap().attribute("name"), Some("never"), "{text}");
    }
    // Constants that do not suit, of a test case that there is.
    folder.write("coreach.yaml", "specification: specification.yaml\npurpose: deliver_coffee.yaml\n");
    coreach(&folder, "test coreach.yaml --constant cPrice=0 --iut right.yaml --junit report.xml", 9);
    let text = folder.read("report.xml");
    let report = Document::parse(&text).unwrap();
    counts_are_right(&report);
    assert_eq!(all(&report, "skipped")[0].attribute("type"), Some("unsuited"), "{text}");
}

#[test]
fn a_report_is_whole_or_not_there() {
    let folder = Folder::of_machines("");
    // Before the first run: nothing was kept.
    let (_, err) =
        coreach(&folder, &format!("{TEST} --iut right.yaml --junit nowhere/report.xml --keep kept"), 8);
    assert!(err.contains("cannot write nowhere/report.xml"), "{err}");
    assert!(names(&folder, "kept").is_empty());
    let (_, err) = coreach(&folder, &format!("{TEST} --iut right.yaml --junit right.yaml"), 2);
    assert!(err.contains("--junit would write over"), "{err}");
    folder.write("other.yaml", "specification: specification.yaml\npurpose: never.yaml\n");
    // What ends the runs leaves the report that was there, and nothing else.
    // What is no report is not replaced by one, although nothing reads it.
    folder.write("report.xml", "mine");
    coreach(&folder, "test other.yaml --iut right.yaml --junit report.xml", 2);
    assert_eq!(folder.read("report.xml"), "mine");
    let older = "<testsuites/>";
    folder.write("report.xml", older);
    coreach(&folder, "test coreach.yaml --constant cPrice=nothing --iut right.yaml --junit report.xml", 2);
    assert_eq!(folder.read("report.xml"), older);
    // That there is nothing to run is a result.
    coreach(&folder, "test other.yaml --iut right.yaml --junit report.xml", 7);
    let text = folder.read("report.xml");
    assert_eq!(all(&Document::parse(&text).unwrap(), "skipped").len(), 1, "{text}");
    coreach(&folder, "test other.yaml --iut right.yaml --junit other.yaml", 2);
    assert!(names(&folder, ".").iter().all(|name| !name.ends_with(".tmp")), "{:?}", names(&folder, "."));
}

#[test]
fn a_kept_run_is_never_replaced() {
    let folder = Folder::of_machines("");
    let test = "test coreach.yaml --constant cPrice=3 --quiescence 20 --inconclusive ok --keep kept --runs 2";
    let (_, err) = coreach(&folder, &format!("{test} --iut right.yaml"), 0);
    assert_eq!(err, "");
    let first = folder.read("kept/deliver_coffee.1.json");
    let case = folder.read("kept/deliver_coffee.test_case.json");
    for time in 2..=3 {
        let (_, err) = coreach(&folder, &format!("{test} --iut right.yaml"), 0);
        let warning = format!(
            "warning: kept/deliver_coffee.1.json is there already: this run is kept as\n    \
             kept/deliver_coffee.1.{time}.json; other runs also get new names\n"
        );
        // Once, for both runs.
        assert_eq!(err, warning);
    }
    assert_eq!(
        names(&folder, "kept"),
        ["1.2.json", "1.3.json", "1.json", "2.2.json", "2.3.json", "2.json", "test_case.json"]
            .map(|name| format!("deliver_coffee.{name}"))
    );
    assert_eq!(folder.read("kept/deliver_coffee.1.json"), first);
    assert_eq!(folder.read("kept/deliver_coffee.test_case.json"), case);
    let (out, _) = coreach(&folder, &format!("{test} --iut wrong.yaml"), 1);
    assert!(out.contains("next: coreach replay kept/deliver_coffee.2.4.json"), "{out}");
    // Each of them finds its test case.
    for name in ["1", "1.2", "2.3"] {
        let (out, _) = coreach(&folder, &format!("explain kept/deliver_coffee.{name}.json"), 0);
        assert!(out.starts_with(&format!("coffee_machine__deliver_coffee seed {}\n", &name[..1])), "{out}");
        coreach(&folder, &format!("check kept/deliver_coffee.{name}.json"), 0);
    }
    // The version that wrote a test case makes no other one of it; anything else does.
    let older = case.replacen(&format!("\"{}\"", env!("CARGO_PKG_VERSION")), "\"0.0.9\"", 1);
    assert!(older != case && older.contains("\"generator\""), "{older}");
    folder.write("kept/deliver_coffee.test_case.json", &older);
    coreach(&folder, &format!("{test} --iut right.yaml"), 0);
    assert_eq!(folder.read("kept/deliver_coffee.test_case.json"), older);
    let before = names(&folder, "kept");
    folder.write("deliver_coffee.yaml", &folder.read("deliver_coffee.yaml").replace("COFFEE", "TEA"));
    let (_, err) = coreach(&folder, &format!("{test} --iut right.yaml"), 2);
    assert!(err.contains("kept/deliver_coffee.test_case.json: `--keep` replaces no file"), "{err}");
    assert_eq!(names(&folder, "kept"), before);
    assert_eq!(folder.read("kept/deliver_coffee.test_case.json"), older);
}

#[test]
fn replay_replaces_nothing() {
    let folder = Folder::of_machines("");
    let test = "test coreach.yaml --constant cPrice=3 --quiescence 20 --inconclusive ok --keep kept --iut right.yaml";
    coreach(&folder, test, 0);
    let run = folder.read("kept/deliver_coffee.1.json");
    folder.write("other.json", &run);
    let replay = "replay kept/deliver_coffee.1.json --iut right.yaml --quiescence 20";
    let code = if run.contains("\"verdict\": \"Pass\"") { 0 } else { 3 };
    for there in ["other.json", "kept"] {
        let (_, err) = coreach(&folder, &format!("{replay} --keep {there}"), 2);
        assert!(err.contains("`--keep` replaces no file"), "{err}");
    }
    assert_eq!(folder.read("other.json"), run);
    coreach(&folder, &format!("{replay} --keep new.json"), code);
    coreach(&folder, &format!("{replay} --keep new.json"), 2);
    coreach(&folder, "check kept/deliver_coffee.1.json", 0);
    coreach(&folder, &format!("{replay} --keep nowhere/new.json"), 8);
}

#[test]
fn quiet_is_a_line_for_the_counts_and_one_for_each_bucket() {
    let folder = Folder::of_machines("");
    let bucket = "Fail in Pay: Return against pRemainingValue == vPaid - cPrice";
    let is_bucket = |line: &str, end: &str| {
        let (id, rest) = line.trim_start().split_at(12);
        id.bytes().all(|byte| byte.is_ascii_hexdigit())
            && line.starts_with("  ")
            && rest.starts_with(&format!(": {bucket}{end}"))
    };
    let (out, err) = coreach(&folder, &format!("{TEST} --iut wrong.yaml --quiet"), 1);
    let [counts, one] = out.lines().collect::<Vec<_>>()[..] else { panic!("{out}") };
    assert!(counts.starts_with("deliver_coffee against wrong: Pass "), "{out}");
    assert!(is_bucket(one, ": ") && one.ends_with(" runs"), "{out}");
    assert_eq!(err, "");
    // However many of them do not pass.
    let (out, err) = coreach(&folder, &format!("{TEST} --iut right.yaml --events 3 --quiet"), 3);
    assert_eq!((out.lines().count(), err.as_str()), (1, ""), "{out}");

    folder.write("campaign.yaml", "campaign: nightly\ntests: [{ configuration: coreach.yaml }]\niuts: [right.yaml, wrong.yaml]\nconstants: [{ cPrice: 3 }]\nseeds: { first: 1, count: 20 }\n");
    // The second time, all runs are there.
    for more in ["", "", "--fail-fast"] {
        let (out, err) = coreach(&folder, &format!("campaign campaign.yaml --quiet {more}"), 1);
        let [counts, one] = out.lines().collect::<Vec<_>>()[..] else { panic!("{out}") };
        assert!(
            counts.starts_with("nightly: 40 runs: ") && counts.contains(" Pass") && counts.contains(" Fail"),
            "{out}"
        );
        assert!(is_bucket(one, ": "), "{out}");
        assert_eq!(err, "");
    }
    let (out, err) = coreach(&folder, "campaign campaign.yaml --store new.sqlite --fail-fast --quiet", 1);
    assert_eq!((out.lines().count(), err.as_str()), (2, ""), "{out}");

    let (out, _) = coreach(&folder, "campaign campaign.yaml", 1);
    let (_, rest) = out.split_once("coreach explain nightly.sqlite ").unwrap();
    let number = rest.lines().next().unwrap();
    let (out, err) = coreach(&folder, &format!("replay nightly.sqlite {number} --quiet"), 1);
    let [counts, one] = out.lines().collect::<Vec<_>>()[..] else { panic!("{out}") };
    assert!(counts.ends_with(" again, and Fail") && is_bucket(one, ""), "{out}");
    assert_eq!(err, "");
    let (out, err) =
        coreach(&folder, &format!("replay nightly.sqlite {number} --quiet --shrink --again 2"), 1);
    assert_eq!((out.lines().count(), err.as_str()), (4, ""), "{out}");

    let (out, err) = coreach(&folder, "mutate coreach.yaml --mutants 12 --runs 3 --walks 10 --quiet", 0);
    assert!(out.starts_with("12 mutants: killed "), "{out}");
    let killed: usize = out["12 mutants: killed ".len()..].split(',').next().unwrap().parse().unwrap();
    assert!(
        out.lines().skip(1).all(|line| line.contains(" mutant")) && out.lines().count() <= 1 + killed,
        "{out}"
    );
    assert_eq!(err, "");
}

#[test]
fn no_row_is_wider_than_a_page() {
    let folder = Folder::of_machines("");
    // A store of integers, and all of them change at once.
    let names: Vec<String> = (0..20).map(|number| format!("vRegister{number}")).collect();
    let variables: Vec<String> = names.iter().map(|name| format!("  {name}: int\n")).collect();
    let initial: Vec<String> = names.iter().map(|name| format!("{name} == 0")).collect();
    let assign: Vec<String> = names.iter().map(|name| format!("{name}: {name} + 1")).collect();
    folder.write(
        "wide.yaml",
        &format!(
            "iosts: wide\nvariables:\n{}initial: {{ location: Idle, condition: {} }}\ninputs: {{ Go: {{}} }}\noutputs: {{ Done: {{}} }}\ntransitions:\n  - {{ from: Idle, to: Busy, on: Go, assign: {{ {} }} }}\n  - {{ from: Busy, to: Idle, on: Done }}\n",
            variables.concat(),
            initial.join(" && "),
            assign.join(", ")
        ),
    );
    folder.write("done.yaml", "purpose: done\nof: wide\ninitial: { location: Begin }\ntransitions:\n  - { from: Begin, to: Accept, on: Done }\n");
    folder.write("coreach.yaml", "specification: wide.yaml\npurpose: done.yaml\n");
    folder.write("iut.yaml", "iut: wide\nsimulated: { model: wide.yaml }\n");
    let (out, _) = coreach(&folder, "test coreach.yaml --iut iut.yaml --quiescence 20", 0);
    let table: Vec<&str> = out.lines().filter(|line| line.contains("vRegister")).collect();
    assert!(table.len() > 2, "{out}");
    assert!(table.iter().all(|line| line.chars().count() <= 120), "{out}");
    // A row goes on in the next line.
    let words: String = out.split_whitespace().collect();
    for name in &names {
        assert!(
            words.contains(&format!("{name}=1")) && words.contains(&format!("{name}=0")),
            "{name}\n{out}"
        );
    }
}
