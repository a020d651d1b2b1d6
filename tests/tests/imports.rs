//! Foreign models as specifications: `imports/<format>/` has models in the shapes that public ones have, each
//! with the specification that is made of it (`<name>.yaml`) and what is told about it (`<name>.notes`);
//! `imports/wrong/<format>/` has models with mistakes, and what is told of these (`<name>.out`). A file
//! `<name>.options` has the words of the command line that belong to a model.
//!
//! Each specification is read and checked by the readers of `coreach check`, the solver's questions included.
//! With `COREACH_BLESS=1` in the environment the expected files are written anew; read them before you commit
//! them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on may panic"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser;
use coreach_cli::arguments::{Arguments, CoreachCommand};
use coreach_import::{ForeignFormat, LIMIT, Options, detect, import};
use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_project::checked;
use coreach_project::render::{Style, render, to_json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("imports")
}

fn is_blessing() -> bool {
    std::env::var("COREACH_BLESS").is_ok_and(|value| value == "1")
}

/// The foreign files of a folder: all that are not expected files.
fn cases(folder: &Path) -> Vec<PathBuf> {
    let items = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let is_case = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        !["yaml", "notes", "out", "options"].contains(&ending)
    };
    let mut cases: Vec<PathBuf> = items.map(|item| item.unwrap().path()).filter(is_case).collect();
    cases.sort();
    cases
}

/// What the command line says that belongs to the model.
fn words(path: &Path) -> (Option<ForeignFormat>, Options) {
    let text = fs::read_to_string(path.with_extension("options")).unwrap_or_default();
    let words = text.split_whitespace().map(str::to_owned);
    let line = ["coreach".to_owned(), "import".to_owned(), "file".to_owned()].into_iter().chain(words);
    match Arguments::try_parse_from(line).unwrap().command {
        CoreachCommand::Import(arguments) => (arguments.from, arguments.options()),
        _ => panic!("another command"),
    }
}

fn source(path: &Path) -> Arc<SourceFile> {
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    Arc::new(SourceFile { name, text: fs::read_to_string(path).unwrap() })
}

fn imported(path: &Path) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (format, options) = words(path);
    import(source(path), format, &options)
}

/// Compares with the expected file, or writes it; an empty text has no file.
fn compare(path: &Path, text: &str, wrong: &mut Vec<String>) {
    let expected = fs::read_to_string(path).unwrap_or_default();
    if text == expected {
        return;
    }
    if is_blessing() {
        if text.is_empty() { fs::remove_file(path).unwrap() } else { fs::write(path, text).unwrap() }
    } else {
        wrong.push(format!("{}:\n--- expected\n{expected}\n--- found\n{text}", path.display()));
    }
}

#[test]
fn foreign_models_become_the_specifications_beside_them() {
    let mut wrong = Vec::new();
    for format in ForeignFormat::ALL {
        let cases = cases(&folder().join(format.name()));
        assert!(cases.len() >= 20, "{format}: {} models", cases.len());
        for path in cases {
            let file = source(&path);
            assert_eq!(words(&path).0.or(detect(&file.name, &file.text)), Some(format), "{}", path.display());
            match imported(&path) {
                Ok((text, found)) => {
                    compare(&path.with_extension("yaml"), &text, &mut wrong);
                    compare(&path.with_extension("notes"), &render(&found, Style::PLAIN), &mut wrong);
                    assert!(!found.iter().any(Diagnostic::is_error));
                }
                Err(found) => wrong.push(format!("{}\n{}", path.display(), render(&found, Style::PLAIN))),
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n(COREACH_BLESS=1 writes the expected files)", wrong.join("\n\n"));
}

#[test]
fn what_was_made_is_checked_without_an_error() {
    for format in ForeignFormat::ALL {
        for path in cases(&folder().join(format.name())) {
            let path = path.with_extension("yaml");
            let checked = checked::check(&path, &[]);
            let errors: Vec<Diagnostic> = checked.found.into_iter().filter(Diagnostic::is_error).collect();
            assert!(errors.is_empty(), "{}\n{}", path.display(), render(&errors, Style::PLAIN));
            assert_eq!(checked.kind, "specification");
        }
    }
}

#[test]
fn wrong_models_are_explained_on_their_text() {
    let mut wrong = Vec::new();
    for format in ForeignFormat::ALL {
        let cases = cases(&folder().join("wrong").join(format.name()));
        assert!(cases.len() >= 5, "{format}: {} models", cases.len());
        for path in cases {
            match imported(&path) {
                Ok((text, _)) => wrong.push(format!("{} is taken:\n{text}", path.display())),
                Err(found) => {
                    assert!(found.iter().any(Diagnostic::is_error), "{}", path.display());
                    // The document has what the drawing has.
                    assert_eq!(to_json(&found).as_array().map(Vec::len), Some(found.len()));
                    compare(&path.with_extension("out"), &render(&found, Style::PLAIN), &mut wrong);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n(COREACH_BLESS=1 writes the expected files)", wrong.join("\n\n"));
}

/// Whatever is cut off: an answer, and no panic. What is still a model must be one that is read.
#[test]
fn every_beginning_of_every_model_is_answered() {
    for format in ForeignFormat::ALL {
        let good = cases(&folder().join(format.name()));
        for path in good.into_iter().chain(cases(&folder().join("wrong").join(format.name()))) {
            let (_, options) = words(&path);
            let file = source(&path);
            let ends: Vec<usize> = file.text.char_indices().map(|(at, _)| at).collect();
            // All of a small file; of a larger one, every so often.
            let step = ends.len() / 150 + 1;
            for (number, end) in ends.into_iter().enumerate() {
                if number % step != 0 {
                    continue;
                }
                let text = file.text[..end].to_owned();
                let part = Arc::new(SourceFile { name: file.name.clone(), text });
                if let Err(found) = import(part, Some(format), &options) {
                    assert!(found.iter().any(Diagnostic::is_error), "{} up to {end}", path.display());
                }
            }
        }
    }
}

/// Each sign left out, doubled, or replaced by one that means something somewhere: an answer, and no panic.
#[test]
fn every_small_damage_is_answered() {
    for format in ForeignFormat::ALL {
        let cases = cases(&folder().join(format.name()));
        for path in cases.iter().filter(|path| fs::metadata(path).unwrap().len() < 1_500) {
            let (_, options) = words(path);
            let file = source(path);
            let signs = ["", "\"", "(", "}", "<", ",", "0", "\u{e9}", "\\", "?"];
            // Every third sign: each of them takes its turn with another damage.
            for (number, (at, sign)) in file.text.char_indices().enumerate().step_by(3) {
                let new = signs[number % signs.len()];
                let text = format!("{}{new}{}", &file.text[..at], &file.text[at + sign.len_utf8()..]);
                let damaged = Arc::new(SourceFile { name: file.name.clone(), text });
                let _ = import(damaged, Some(format), &options);
            }
        }
    }
}

/// What is deep or long ends with an answer; a limit names its knob.
fn is_limited(name: &str, format: ForeignFormat, text: String, options: &Options) {
    let file = Arc::new(SourceFile { name: name.to_owned(), text });
    let found = import(file, Some(format), options).expect_err(name);
    let limit = found
        .iter()
        .find(|found| found.code == LIMIT)
        .unwrap_or_else(|| panic!("{name}: {}", render(&found[..found.len().min(3)], Style::PLAIN)));
    assert!(limit.help.as_ref().is_some_and(|help| help.contains("--most")), "{name}: {:?}", limit.help);
}

fn format(name: &str) -> ForeignFormat {
    name.parse().unwrap()
}

#[test]
fn a_million_lines_of_aut_end_at_the_limit() {
    let options = Options { inputs: vec!["*".to_owned()], ..Options::default() };
    let lines: String = (0..1_000_000).map(|number| format!("({number}, \"a\", {})\n", number + 1)).collect();
    is_limited("long.aut", format("aut"), format!("des (0, 1000000, 1000001)\n{lines}"), &options);
    is_limited("states.aut", format("aut"), "des (0, 0, 4000000000)\n".to_owned(), &options);
    // What is below the limit of one reader is not above that of the other.
    let lines: String =
        (0..50_000).map(|number| format!("({number}, \"a\", {})\n", (number + 1) % 50_000)).collect();
    let file = SourceFile { name: "whole.aut".to_owned(), text: format!("des (0, 50000, 50000)\n{lines}") };
    assert!(import(Arc::new(file), None, &options).is_ok());
    // A larger knob meets the limit of who reads specifications.
    let lines: String =
        (0..90_000).map(|number| format!("({number}, \"a\", {})\n", (number + 1) % 90_000)).collect();
    let text = format!("des (0, 90000, 90000)\n{lines}");
    is_limited("larger.aut", format("aut"), text, &Options { most: 100_000, ..options });
}

/// What is assigned again and again is one small expression with all that it shares, and no text holds it.
#[test]
fn an_expression_that_no_text_holds_is_told_on_its_edge() {
    let model = |actions: String| {
        format!(
            r#"{{"models":[{{"startElementId":"v","vertices":[{{"id":"v"}}],"actions":["x=1;","y=1;"],"edges":[
{{"id":"e","name":"a","sourceVertexId":"v","targetVertexId":"v","actions":["{actions}"]}}]}}]}}"#
        )
    };
    let import = |actions: String| {
        let file = Arc::new(SourceFile { name: "growing.json".to_owned(), text: model(actions) });
        import(file, Some(format("graphwalker")), &Options::default())
    };
    assert!(import("x = x + y; y = x + y;".repeat(8)).is_ok());
    for turns in [14, 16, 24, 200] {
        for once in ["x = x + y; y = x + y;", "x = x > y ? x + 1 : y; y = x * x;"] {
            let found = import(once.repeat(turns)).expect_err(once);
            let limit = found.iter().find(|found| found.code == LIMIT).unwrap();
            assert_eq!(limit.labels.len(), 1, "{limit:?}");
        }
    }
}

#[test]
fn deep_labels_are_answered() {
    let options = Options { inputs: vec!["*".to_owned()], ..Options::default() };
    let deep = format!("des (0, 1, 2)\n(0, \"a !{}1{}\", 1)\n", "(".repeat(100_000), ")".repeat(100_000));
    let file = Arc::new(SourceFile { name: "deep.aut".to_owned(), text: deep });
    assert!(import(file, None, &options).is_ok());
}

/// A chain of so many steps in each of the other formats.
fn chain(name: &str, length: usize) -> String {
    let range = 0..length;
    match name {
        "graphml" => {
            let nodes: String = (0..=length).map(|n| format!("<node id=\"n{n}\"/>\n")).collect();
            let edges: String =
                range.map(|n| format!("<edge source=\"n{n}\" target=\"n{}\"/>\n", n + 1)).collect();
            format!("<graphml><graph edgedefault=\"directed\">\n{nodes}{edges}</graph></graphml>\n")
        }
        "graphwalker" => {
            let vertices: Vec<String> = (0..=length).map(|n| format!("{{\"id\":\"v{n}\"}}\n")).collect();
            let edges: Vec<String> = range
                .map(|n| format!("{{\"id\":\"e{n}\",\"name\":\"a\",\"sourceVertexId\":\"v{n}\",\"targetVertexId\":\"v{}\"}}\n", n + 1))
                .collect();
            format!(
                "{{\"models\":[{{\"startElementId\":\"v0\",\"vertices\":[{}],\"edges\":[{}]}}]}}",
                vertices.join(","),
                edges.join(",")
            )
        }
        _ => {
            let states: String = range
                .map(|n| {
                    let start = if n == 0 { "< start >" } else { "" };
                    format!("state{start} s{n} {{ transition --> s{} {{ input A; }} }}\n", n + 1)
                })
                .collect();
            format!(
                "@xlia< system , 1.0 >: system S {{ statemachine M {{ port input A;\n{states} state s{length}; }} }}\n"
            )
        }
    }
}

#[test]
fn a_million_lines_of_the_others_end_at_the_limit() {
    for name in ["graphml", "graphwalker", "xlia"] {
        let options = Options { inputs: vec!["*".to_owned()], ..Options::default() };
        is_limited(name, format(name), chain(name, 300_000), &options);
        // Below the limit it is a model, or larger than what is read.
        let small = chain(name, 2_000);
        let file = Arc::new(SourceFile { name: name.to_owned(), text: small });
        let internal = name == "graphml";
        let made = import(file, Some(format(name)), &options);
        assert!(made.is_ok(), "{name}{internal}: {:?}", made.map_err(|found| render(&found, Style::PLAIN)));
    }
}

#[test]
fn deep_nesting_is_answered_in_every_format() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    let guard = |guard: &str| {
        format!(
            "{{\"models\":[{{\"startElementId\":\"v\",\"vertices\":[{{\"id\":\"v\"}}],\"edges\":[{{\"id\":\"e\",\"name\":\"a\",\"sourceVertexId\":\"v\",\"targetVertexId\":\"v\",\"guard\":\"{guard}\"}}]}}]}}"
        )
    };
    let machine = |guard: &str| {
        format!(
            "@xlia< system , 1.0 >: system S {{ statemachine M {{ port input A; state< start > s {{ transition --> s {{ input A; guard {guard}; }} }} }} }}"
        )
    };
    let label = |guard: &str| {
        format!(
            "<graphml><key id=\"l\" for=\"all\" attr.name=\"label\"/><graph edgedefault=\"directed\"><node id=\"Start\"/><edge source=\"Start\" target=\"Start\"><data key=\"l\">?a [{guard}]</data></edge></graph></graphml>"
        )
    };
    let chains = [
        "1 < 2 && ".repeat(5_000) + "true",
        "1+".repeat(20_000) + "1 > 0",
        "!".repeat(20_000) + "true",
        "true ? true : ".repeat(5_000) + "true",
    ];
    let mut cases: Vec<(&str, String)> = vec![
        ("graphwalker", deep("[", "]")),
        ("graphwalker", deep("{\"a\":", "}")),
        ("graphml", deep("<a>", "</a>")),
        (
            "graphml",
            format!(
                "<graphml><graph>{}</graph></graphml>",
                deep("<node id=\"a\"><graph>", "</graph></node>")
            ),
        ),
        ("xlia", deep("{", "}")),
    ];
    for text in chains.iter().cloned().chain([deep("(", ")"), deep("-", "")]) {
        cases.extend([
            ("graphwalker", guard(&text)),
            ("xlia", machine(&text)),
            ("graphml", label(&text.replace('<', "&lt;").replace('&', "&amp;").replace("&amp;lt;", "&lt;"))),
        ]);
    }
    for (name, text) in cases {
        let file = Arc::new(SourceFile { name: name.to_owned(), text });
        // Small stacks are what threads have.
        let answered =
            std::thread::spawn(move || import(file, Some(format(name)), &Options::default()).is_ok()).join();
        assert!(answered.is_ok(), "{name}");
    }
}
