//! Purposes of TGV: which actions their labels stand for.

use std::sync::Arc;

use coreach_import::{ForeignFormat, Options, import, import_purpose};
use coreach_model::diagnostic::SourceFile;
use coreach_model::reader::read_specification;

fn source(name: &str, edges: &str) -> Arc<SourceFile> {
    let text = format!("des (0, {}, 9)\n{edges}", edges.lines().count());
    Arc::new(SourceFile { name: name.to_owned(), text })
}

/// The imported purpose that accepts after this label, or the messages.
fn import_label(specification: &str, label: &str) -> String {
    let specification = source("s.aut", specification);
    let (text, _) = import(specification, Some(ForeignFormat::Aut), &Options::default()).unwrap();
    let written = Arc::new(SourceFile { name: "s.yaml".to_owned(), text });
    let (specification, _) = read_specification(written).unwrap();
    let purpose = source("p.aut", &format!("(0, \"{label}\", 1)\n(1, \"ACCEPT\", 1)\n"));
    match import_purpose(purpose, &specification, &Options::default()) {
        Ok((text, _)) => text,
        Err(found) => found.into_iter().map(|found| found.message).collect(),
    }
}

#[test]
fn a_label_stands_for_no_action_of_another_gate() {
    let similar = "(0, \"!a_b\", 1)\n(1, \"!a-b\", 0)\n";
    assert!(import_label(similar, "a-b").contains("`a_b`, `a_b_2`"));
    let named = import_label(similar, "a_b_2");
    assert!(named.contains("\"on\": a_b_2\n") && !named.contains("\"on\": a_b\n"), "{named}");
    let longer = import_label("(0, \"?a\", 1)\n(1, \"!a_output\", 0)\n", "a");
    assert!(longer.contains("\"on\": a\n") && !longer.contains("a_output"), "{longer}");
    let both = import_label("(0, \"?a\", 1)\n(1, \"!a\", 0)\n", "a");
    assert!(both.contains("\"on\": a_input\n") && both.contains("\"on\": a_output\n"), "{both}");
    let values = "(0, \"!put !x-y\", 1)\n(1, \"!put !x_y\", 0)\n";
    assert!(import_label(values, "put !x-y").contains("does not carry"));
}
