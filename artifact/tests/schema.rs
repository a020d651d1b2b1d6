//! `docs/test-case.schema.json` is the schema of the types. With `COREACH_BLESS=1` in the environment it is
//! written anew.

use std::path::PathBuf;

use coreach_artifact::Document;
use schemars::schema_for;

#[test]
fn the_schema_is_that_of_the_types() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/test-case.schema.json");
    let made = format!("{}\n", serde_json::to_string_pretty(&schema_for!(Document)).unwrap());
    if std::env::var_os("COREACH_BLESS").is_some() {
        std::fs::write(&file, &made).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(
        written, made,
        "docs/test-case.schema.json is not that of the types: scripts/bless -p coreach-artifact"
    );
}
