//! Transactions of two connections. The table of the example does what PostgreSQL's documentation says, or
//! makes one of its mistakes; the real servers are for `examples/bank/check`.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::Path;

use crate::common::Folder;

fn example(mistake: &str) -> Folder {
    let folder = Folder::with(&[]);
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/bank")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yaml" || extension == "py") {
            let told = format!("\"{{port}}\"{mistake}]");
            let text = fs::read_to_string(&path).unwrap().replace("\"{port}\"]", &told);
            fs::write(folder.0.join(path.file_name().unwrap()), text).unwrap();
        }
    }
    folder
}

/// Soundness: who waits is not blamed. Precision: who does not fail where it must is seen.
#[test]
fn transactions_wait_and_fail_as_they_should() {
    for (mistake, purpose, code) in [("", "savepoint", 0), (", \"1\"", "lost_update", 1)] {
        let folder = example(mistake);
        folder.ends(&["test", "coreach.yaml", "--purpose", purpose, "--iut", "iut_bank.yaml"], code);
    }
}
