//! The configuration of a run.

use std::cell::OnceCell;
use std::path::Path;

use coreach_model::Datum;
use coreach_model::reader::from_bytes;
use coreach_project::configuration::{evaluate_instantiate, read_configuration};

use crate::{check_findings, coffee_machine};

thread_local! {
    static CONSTANTS: OnceCell<Vec<Datum>> = const { OnceCell::new() };
}

/// Bytes as a configuration that lies beside the coffee machine; its values are read against that machine's
/// constants.
pub fn configuration(bytes: &[u8]) {
    let file = match from_bytes("coreach.yaml".to_owned(), bytes.to_vec()) {
        Ok(file) => file,
        Err(finding) => return check_findings(&[finding], true),
    };
    // Paths that leave the folder would make the result depend on the machine.
    if file.text.contains("..") || file.text.contains('/') || file.text.contains("\\x2") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/diagnostics/good");
    match read_configuration(file, &folder) {
        Err(found) => check_findings(&found, true),
        Ok((configuration, warnings)) => {
            check_findings(&warnings, false);
            CONSTANTS.with(|constants| {
                let constants = constants.get_or_init(|| coffee_machine().iosts.constants);
                match evaluate_instantiate(&configuration.instantiate, constants) {
                    Ok(values) => assert!(values.iter().all(|(datum, value)| value.is_in(datum.ty()))),
                    Err(found) => check_findings(&found, true),
                }
            });
        }
    }
}
