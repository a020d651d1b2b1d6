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
