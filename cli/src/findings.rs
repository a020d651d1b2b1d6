//! What is drawn for people, as data for the program that has started us.
//!
//! Not every command has an answer as JSON, and a warning may be drawn beside one. Where `coreach json` has
//! started this process, the variable names a file, and each finding that is drawn is a line of it. Nobody
//! else sets the variable.

use std::fs::OpenOptions;
use std::io::Write;

use coreach_model::Diagnostic;
use coreach_project::render::to_json;

/// Names the file.
pub const VARIABLE: &str = "COREACH_FINDINGS";

/// Notes these, where somebody wants them. What cannot be noted was drawn.
pub fn note(found: &[Diagnostic]) {
    let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) else { return };
    if found.is_empty() {
        return;
    }
    let lines: String = match to_json(found) {
        serde_json::Value::Array(all) => all.iter().map(|one| format!("{one}\n")).collect(),
        _ => String::new(),
    };
    if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
        let _ = file.write_all(lines.as_bytes());
    }
}
