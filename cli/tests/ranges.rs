//! Ranges of a document over HTTP: values in headers, and strings in bodies. The server of the example does
//! what the standard says, or makes one of its mistakes; the real ones are for `examples/ranges/check`.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::Path;

use crate::common::Folder;

const FILES: [&str; 7] = [
    "specification.yaml",
    "resume.yaml",
    "far.yaml",
    "head.yaml",
    "coreach.yaml",
    "iut_document.yaml",
    "document.py",
];

fn example(mistake: &str) -> Folder {
    let folder = Folder::with(&[]);
    for name in FILES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/ranges").join(name);
        let text = fs::read_to_string(path).unwrap();
        let told = format!("\"{{port}}\"{mistake}]");
        fs::write(folder.0.join(name), text.replace("\"{port}\"]", &told)).unwrap();
    }
    folder
}

/// Soundness: a server that conforms is not blamed, whatever its ranges.
#[test]
fn ranges_are_answered_as_they_may_be() {
    let folder = example("");
    folder.ends(&["test", "coreach.yaml", "--iut", "iut_document.yaml", "--runs", "3"], 0);
}

/// Between two requests nothing can be heard: a walk that would listen there sends instead (precision).
#[test]
fn a_walk_sends_where_nothing_can_be_heard() {
    let folder = example("");
    let model = "iosts: getting\ninitial: { location: Ready }\ninputs: { Get: {} }\noutputs: { Whole: {} }\n\
                 transitions: [{ from: Ready, to: Getting, on: Get }, { from: Getting, to: Ready, on: Whole }]\n";
    let iut = "iut: getting\nhttp:\n  base: http://127.0.0.1:{port}\n  \
               launch: { command: [python3, document.py, \"{port}\"], ready_ms: 20000 }\n  \
               stimuli: { Get: { method: GET, path: /document } }\n  observations: { Whole: { status: 200 } }\n";
    fs::write(folder.0.join("getting.yaml"), model).unwrap();
    fs::write(folder.0.join("iut.yaml"), iut).unwrap();
    let walk = ["test", "getting.yaml", "--cover", "transitions", "--iut", "iut.yaml", "--events", "8"];
    let output = folder.coreach(&walk);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("covered 2 of 2 goals"), "{told}{}", String::from_utf8_lossy(&output.stderr));
}

/// Precision: mistakes in numbers of a header, and in a body.
#[test]
fn wrong_ranges_are_found() {
    for (mistake, purpose) in [("5", "head"), ("7", "far"), ("10", "resume"), ("13", "resume")] {
        let folder = example(&format!(", \"{mistake}\""));
        let test =
            ["test", "coreach.yaml", "--purpose", purpose, "--iut", "iut_document.yaml", "--runs", "10"];
        folder.ends(&test, 1);
    }
}
