//! A job queue over lines: texts whose bytes are counted, and numbers that the system gives. The queue of the
//! example does what its document says, or makes one of its mistakes; the real one is for
//! `examples/jobs/check`.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::Path;

use crate::common::Folder;

const FILES: [&str; 10] = [
    "specification.yaml",
    "order.yaml",
    "buried.yaml",
    "deleted.yaml",
    "text.yaml",
    "work.yaml",
    "far.yaml",
    "coreach.yaml",
    "iut_queue.yaml",
    "queue.py",
];

fn example(mistake: &str) -> Folder {
    let folder = Folder::with(&[]);
    for name in FILES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/jobs").join(name);
        let text = fs::read_to_string(path).unwrap();
        let told = format!("\"{{port}}\"{mistake}]");
        fs::write(folder.0.join(name), text.replace("\"{port}\"]", &told)).unwrap();
    }
    folder
}

/// Soundness: a queue that conforms is not blamed, whatever its jobs are.
#[test]
fn jobs_are_given_as_they_were_put() {
    let folder = example("");
    folder.ends(&["test", "coreach.yaml", "--iut", "iut_queue.yaml", "--runs", "3"], 0);
}

/// Precision: mistakes in the order of jobs, in their numbers, and in bytes that are counted.
#[test]
fn wrong_jobs_are_found() {
    for (mistake, purpose) in
        [("4", "buried"), ("9", "deleted"), ("10", "text"), ("11", "text"), ("3", "order")]
    {
        let folder = example(&format!(", \"{mistake}\""));
        let test = ["test", "coreach.yaml", "--purpose", purpose, "--iut", "iut_queue.yaml", "--runs", "3"];
        folder.ends(&test, 1);
    }
}
