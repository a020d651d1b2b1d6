//! Two connections as two clients of one cache. The cache of the example does what its document says, or
//! makes one of its mistakes; the real one is for `examples/store/check`.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::Path;

use crate::common::Folder;

const FILES: [&str; 6] =
    ["specification.yaml", "conflict.yaml", "work.yaml", "coreach.yaml", "iut_store.yaml", "store.py"];

fn example(mistake: &str) -> Folder {
    let folder = Folder::with(&[]);
    for name in FILES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/store").join(name);
        let text = fs::read_to_string(path).unwrap();
        let told = format!("\"{{port}}\"{mistake}]");
        fs::write(folder.0.join(name), text.replace("\"{port}\"]", &told)).unwrap();
    }
    folder
}

/// Soundness: a cache that conforms is not blamed for the order in which two clients read its answers. And
/// the evidence says over which connection something went.
#[test]
fn two_clients_are_answered_in_any_order() {
    let folder = example("");
    let test = ["test", "coreach.yaml", "--purpose", "work", "--iut", "iut_store.yaml", "--runs", "3"];
    folder.ends(&[&test[..], &["--keep", "kept"]].concat(), 0);
    for seed in 1..=3 {
        let path = format!("kept/work.{seed}.json");
        let run = folder.json(&path);
        let wire = run["wire"].as_array().unwrap();
        assert!(["a", "b"].iter().all(|name| wire.iter().any(|item| item["over"] == *name)), "{run}");
        assert_eq!((run["over"]["SetA"].as_u64(), run["over"]["SetB"].as_u64()), (Some(0), Some(1)));
        // The record alone is judged alike.
        folder.ends(&["explain", &path, "--test", "kept/work.test_case.json"], 0);
    }
}

/// Precision: what one client is told of what the other one did.
#[test]
fn what_the_other_client_did_is_seen() {
    for (mistake, purpose) in [("1", "conflict"), ("3", "conflict"), ("10", "work")] {
        let folder = example(&format!(", \"{mistake}\""));
        let test = ["test", "coreach.yaml", "--purpose", purpose, "--iut", "iut_store.yaml", "--runs", "4"];
        folder.ends(&test, 1);
    }
}

/// What has no meaning with several connections is refused, on the text.
#[test]
fn connections_are_checked() {
    let folder = example("");
    let path = folder.0.join("iut_store.yaml");
    let text = fs::read_to_string(&path).unwrap();
    for (from, to, message) in [
        ("    a: [SetA, ", "    a: [", "has no connection for `SetA`"),
        ("    a: [SetA, ", "    a: [SetA, SetB, ", "`SetB` can go over one connection only"),
        ("    a: [SetA, ", "    a: [SetA, Sett, ", "unknown action `Sett`"),
        ("    a: [SetA, ", "    a: [Sett, ", "unknown action `Sett`"),
        ("  encoding:", "  reset: [ { send: x, over: c } ]\n  encoding:", "no connection is called `c`"),
    ] {
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let (said, told) = folder.ends(&["check", "coreach.yaml", "iut_store.yaml"], 2);
        // That, and nothing that only follows from it.
        assert!(told.contains(message) && (said.clone() + &told).contains(": 1 error"), "{said}{told}");
    }
}
