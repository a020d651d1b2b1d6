//! Reads `evidence`: how much of the messages is kept, and which headers are not.

use coreach_adapters::evidence::LogLimits;
use coreach_model::number;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, NodeKind};

use super::words::IutReader;

const LIKE: &str = "evidence: { run_kb: 64, message_kb: 8, redact: [Authorization] }";

/// The most that may be asked for, in KiB.
const MOST: u64 = 16 << 10;

pub fn read_evidence(reader: &mut IutReader<'_>, root: &[Entry]) -> LogLimits {
    let usual = LogLimits::default();
    let Some(node) = shape::get(root, "evidence") else { return usual };
    let Some(entries) = shape::mapping(reader.collector, node, "`evidence`", LIKE) else { return usual };
    shape::check_keys(reader.collector, entries, &["run_kb", "message_kb", "redact"], "`evidence`");
    LogLimits {
        run: read_kibibytes(reader, entries, "run_kb", usual.run),
        message: read_kibibytes(reader, entries, "message_kb", usual.message),
        redact: read_redacted_names(reader, entries),
    }
}

/// Reads a number of KiB, and returns it in bytes. `usual` is the default, in bytes.
fn read_kibibytes(reader: &mut IutReader<'_>, entries: &[Entry], key: &str, usual: usize) -> usize {
    let Some(node) = shape::get(entries, key) else { return usual };
    let number = node.as_scalar().and_then(|scalar| number::count(&scalar.text));
    if let Some(number) = number.filter(|number| *number <= MOST) {
        return (number as usize) << 10;
    }
    let message = format!("`{key}` must be a whole number of KiB, at most {MOST}");
    let help = format!("the default is `{key}: {}`", usual >> 10);
    reader.collector.mistake("wrong-value", message, &node.head(), "not such a number", help);
    usual
}

fn read_redacted_names(reader: &mut IutReader<'_>, entries: &[Entry]) -> Vec<String> {
    let Some(node) = shape::get(entries, "redact") else { return Vec::new() };
    let NodeKind::Sequence(items) = &node.kind else {
        shape::wrong_kind(reader.collector, node, "`redact`", "a list", LIKE);
        return Vec::new();
    };
    let mut names = Vec::new();
    for item in items {
        let Some(scalar) = shape::scalar(reader.collector, item, "a header's name", LIKE) else { continue };
        let is_name = !scalar.text.is_empty()
            && scalar
                .text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
        if is_name {
            names.push(scalar.text.clone());
        } else {
            let message = "`redact` lists names of headers";
            let help = format!("for example `{LIKE}`");
            reader.collector.mistake("wrong-value", message, &item.head(), "not such a name", help);
        }
    }
    names
}
