//! The documents hold together: links resolve, models in them are models, the schemas accept what the reader
//! accepts.
//!
//! A block ```` ```yaml specification ````, `purpose`, `configuration`, `iut` or `campaign` is a whole file
//! (a name may follow), and so is `mistaken`, which is there for what is wrong with it. A block
//! ```` ```diff ```` with a kind and a name changes lines of such a file. Other blocks are pieces. What the
//! documents show of the *program* is checked beside the program, in `cli/tests/documents.rs`.
#![allow(clippy::unwrap_used, reason = "a test's helper fails its test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_analyses::check::check;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::Aim;
use coreach_model::diagnostic::SourceFile;
use coreach_model::reader::{
    Specification, TimedSpecification, from_bytes, read_aimed, read_specification, read_timed_aimed,
    read_timed_specification,
};
use coreach_model::timed::delayed::delayed;
use coreach_pipeline::limits::{Limits, MOST, Quantity, WRITTEN_OUT};
use coreach_project::campaign::read_campaign;
use coreach_project::configuration::read_configuration;
use coreach_project::iut;
use coreach_tests::schema;
use coreach_tests::yaml::value;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All files below a folder with this extension, in order.
fn below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|item| item.unwrap().path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() && path.file_name().is_some_and(|name| name != "out") {
            found.extend(below(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found
}

fn documents() -> Vec<PathBuf> {
    let here = fs::read_dir(root()).unwrap().map(|item| item.unwrap().path());
    let mut found: Vec<PathBuf> = here.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    found.sort();
    found.extend(below(&root().join("docs"), "md"));
    found.extend(below(&root().join("examples"), "md"));
    found
}

/// The lines outside of fenced blocks, code in backquotes blanked out.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            prose.extend(line.split('`').step_by(2).flat_map(|piece| [piece, " "]));
            prose.push('\n');
        }
    }
    prose
}

/// What links point to: `[text](target)`, and the `src` of pictures.
fn targets(prose: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (open, close) in [("](", ')'), ("src=\"", '"')] {
        for piece in prose.split(open).skip(1) {
            let target = piece.split(close).next().unwrap_or_default();
            found.push(target.split_whitespace().next().unwrap_or_default().to_owned());
        }
    }
    found
}

/// The anchors of a document's headings, as they are made of the text.
fn anchors(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        if !fenced && line.starts_with('#') {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            found.push(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    found
}

/// A page that lists its sections lists all of them.
#[test]
fn contents_are_complete() {
    let is_entry = |line: &&str| line.starts_with("- [") && line.contains("](#");
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        let Some((before, _)) = text.split_once("\n## ") else { continue };
        if !before.lines().any(|line| is_entry(&line)) {
            continue;
        }
        let sections: String = text
            .lines()
            .filter(|line| !line.starts_with("###"))
            .fold(String::new(), |all, line| all + line + "\n");
        let listed = targets(&prose(before));
        // The first is the page's title.
        for section in anchors(&sections).into_iter().skip(1) {
            assert!(
                listed.contains(&format!("#{section}")),
                "{}: its contents lack #{section}",
                path.display()
            );
        }
    }
}

#[test]
fn links_resolve() {
    let mut broken = Vec::new();
    let mut links = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for target in targets(&prose(&text)) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            links += 1;
            let (file, anchor) = target.split_once('#').map_or((&*target, None), |(f, a)| (f, Some(a)));
            let path = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            let there = match anchor {
                None => path.exists(),
                Some(anchor) => fs::read_to_string(&path)
                    .is_ok_and(|text| anchors(&text).iter().any(|known| known == anchor)),
            };
            if !there {
                broken.push(format!("{}: {target}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(links > 10, "only {links} links found: is Markdown still understood?");
}

/// The kind of a file that is shown for what is wrong with it; what is said of that is shown as well
/// (`cli/tests/documents.rs`).
const MISTAKEN: &str = "mistaken";

/// A whole file in a document.
struct Whole {
    kind: String,
    name: Option<String>,
    file: Arc<SourceFile>,
}

/// The text of the last whole file of this name.
fn last<'a>(wholes: &'a [Whole], name: &str) -> &'a str {
    let known = wholes.iter().rev().find(|whole| whole.name.as_deref() == Some(name));
    &known.unwrap_or_else(|| panic!("no {name} to change")).file.text
}

/// A text in which the lines of a difference are replaced: those with `-` or a space by those with `+` or a
/// space.
fn change(text: &str, difference: &str) -> String {
    let side = |other: char| -> String {
        let lines = difference.lines().filter(|line| !line.starts_with(other));
        lines.map(|line| line.get(1..).unwrap_or_default().to_owned() + "\n").collect()
    };
    let (old, new) = (side('+'), side('-'));
    assert_eq!(text.matches(&old).count(), 1, "what is changed stands there once:\n{old}");
    text.replacen(&old, &new, 1)
}

fn wholes(document: &Path) -> Vec<Whole> {
    let text = fs::read_to_string(document).unwrap();
    let mut found = Vec::new();
    let mut open: Option<(Vec<String>, usize, String)> = None;
    for (number, line) in text.lines().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            match open.take() {
                None => {
                    let words = info.split_whitespace().map(str::to_owned).collect();
                    open = Some((words, number + 2, String::new()));
                }
                Some((words, start, block))
                    if words.len() > 1 && ["yaml", "diff"].contains(&words[0].as_str()) =>
                {
                    let block = match &*words[0] {
                        "yaml" => block,
                        _ => change(last(&found, &words[2]), &block),
                    };
                    let place = format!("{}:{start}", document.display());
                    let file = from_bytes(place, block.into_bytes()).unwrap();
                    found.push(Whole { kind: words[1].clone(), name: words.get(2).cloned(), file });
                }
                Some(_) => {}
            }
        } else if let Some((_, _, block)) = &mut open {
            block.push_str(line);
            block.push('\n');
        }
    }
    found
}

/// A folder of a test's own, gone at its end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn whole_models_in_documents_are_accepted_without_a_word() {
    let folder = Folder(std::env::temp_dir().join(format!("coreach-wholes-{}", std::process::id())));
    fs::create_dir_all(&folder.0).unwrap();
    let mut counts = [0; 4];
    for document in documents() {
        // A configuration finds the files beside its document and in it; and those of an example, where there
        // are none.
        let beside = document.parent().unwrap();
        let example = root().join("examples/coffee_machine");
        let from = if beside.join("specification.yaml").is_file() { beside } else { &example };
        for path in below(from, "yaml") {
            fs::copy(&path, folder.0.join(path.file_name().unwrap())).unwrap();
        }
        let mut specifications: Vec<Specification> = Vec::new();
        let mut timed: Vec<TimedSpecification> = Vec::new();
        for Whole { kind, name, file } in wholes(&document) {
            if kind == MISTAKEN {
                continue;
            }
            let mut here = folder.0.clone();
            if let Some(name) = name {
                let path = folder.0.join(&name);
                if let Some((example, _)) = name.split_once('/') {
                    // What `coreach init` has written there is an example.
                    here = folder.0.join(example);
                    fs::create_dir_all(&here).unwrap();
                    for known in below(&root().join("examples").join(example), "yaml") {
                        fs::copy(&known, here.join(known.file_name().unwrap())).unwrap();
                    }
                }
                fs::write(path, &file.text).unwrap();
            }
            let place = file.name.clone();
            let found = match kind.as_str() {
                "specification" => {
                    counts[0] += 1;
                    read_specification(file).map(|(specification, mut found)| {
                        found.extend(check(&specification.iosts, &mut Z3Solver::default()));
                        specifications.push(specification);
                        found
                    })
                }
                "timed" => read_timed_specification(file).map(|(specification, found)| {
                    assert!(delayed(&specification.timed).is_ok(), "{place}");
                    timed.push(specification);
                    found
                }),
                "purpose" | "property" => {
                    counts[1] += 1;
                    let named =
                        value(&file.text).and_then(|value| value.get("of")?.as_str().map(str::to_owned));
                    let aim = if kind == "purpose" { Aim::Accept } else { Aim::Violate };
                    let is_timed = |s: &&TimedSpecification| Some(&s.timed.graph().name) == named.as_ref();
                    let of = |s: &&Specification| Some(&s.iosts.name) == named.as_ref();
                    let beside =
                        from_bytes(place.clone(), fs::read(here.join("specification.yaml")).unwrap());
                    let beside = read_specification(beside.unwrap()).map(|(read, _)| read);
                    let specification = specifications.iter().rev().chain(beside.as_ref()).find(of);
                    match (timed.iter().rev().find(is_timed), specification) {
                        (Some(timed), _) => read_timed_aimed(file, timed, aim).map(|(_, found)| found),
                        (None, Some(specification)) => {
                            read_aimed(file, specification, aim).map(|(purpose, mut found)| {
                                found.extend(check(&purpose.iosts, &mut Z3Solver::default()));
                                found
                            })
                        }
                        (None, None) => panic!("{place}: of nothing above it"),
                    }
                }
                "configuration" => {
                    counts[2] += 1;
                    read_configuration(file, &here).map(|(_, found)| found)
                }
                "iut" => {
                    counts[3] += 1;
                    iut::read(file, &here, None).map(|(_, found)| found)
                }
                // It names files beside it, or of the examples, as from the root.
                "campaign" => read_campaign(Arc::clone(&file), &here)
                    .or_else(|_| read_campaign(file, &root()))
                    .map(|(_, found)| found),
                other => panic!("{place}: a whole `{other}`?"),
            };
            let mut found = found.unwrap_or_else(|errors| errors);
            // A page has no file for the script that a command starts.
            found.retain(|one| one.code != "missing-file");
            assert!(found.is_empty(), "{place}: {found:#?}");
        }
    }
    assert!(counts[0] >= 3 && counts[1] >= 2 && counts[2] >= 2 && counts[3] >= 3, "only {counts:?} found");
}

/// What the schema for this file's kind says against it.
fn objections(value: &Value) -> Vec<String> {
    schema::objections(&schema::read(schema::of_written(value)), value)
}

#[test]
fn the_schemas_accept_what_the_reader_accepts() {
    let folders =
        ["examples", "tests/models", "tests/diagnostics/good", "cli/tests/data", "model/src/reader/tests"];
    let files = folders.iter().flat_map(|folder| below(&root().join(folder), "yaml"));
    let mut texts: Vec<(String, String)> =
        files.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap())).collect();
    for document in documents() {
        let mut wholes = wholes(&document);
        wholes.retain(|whole| whole.kind != MISTAKEN);
        texts.extend(wholes.into_iter().map(|whole| (whole.file.name.clone(), whole.file.text.clone())));
    }
    assert!(texts.len() > 20, "only {} files found", texts.len());
    for (name, text) in texts {
        let value = value(&text).unwrap_or_else(|| panic!("{name} is not YAML"));
        let objections = objections(&value);
        assert!(objections.is_empty(), "{name}: {objections:#?}");
    }
}

/// Editors help where the first line names the schema, and it is there, and is that of the file's kind.
#[test]
fn every_file_of_the_examples_names_its_schema() {
    let mut files = 0;
    for path in below(&root().join("examples"), "yaml") {
        let text = fs::read_to_string(&path).unwrap();
        let line = text.lines().next().unwrap_or_default();
        let named = line.strip_prefix("# yaml-language-server: $schema=");
        let named = named.unwrap_or_else(|| panic!("{} names no schema", path.display()));
        let schema = path.parent().unwrap().join(named);
        assert!(schema.is_file(), "{}: {named} is not there", path.display());
        let kind = schema::of_written(&value(&text).unwrap());
        assert_eq!(schema.file_name().unwrap(), kind, "{}", path.display());
        files += 1;
    }
    assert!(files > 60, "only {files} files found");
}

#[test]
fn the_schema_and_the_table_know_every_limit() {
    let schema = schema::read("configuration.schema.json").root;
    let known = schema["properties"]["limits"]["properties"].as_object().unwrap().clone();
    let path = root().join("docs/reference/configuration-and-campaign.md");
    let document = fs::read_to_string(path).unwrap();
    let limits = Limits::default();
    let mut wanted: Vec<(&str, u64)> =
        Quantity::all().map(|quantity| (quantity.key(), limits.of(quantity))).collect();
    wanted.push((WRITTEN_OUT, limits.written_out as u64));
    assert_eq!(known.len(), wanted.len());
    for (key, default) in wanted {
        assert_eq!(known[key]["default"], default, "{key}");
        assert_eq!(known[key]["maximum"], MOST, "{key}");
        let row = document.lines().find(|line| line.starts_with(&format!("| `limits: {key}` | ")));
        assert!(row.is_some_and(|row| row.ends_with(&format!(" | `{default}` |"))), "{key}");
    }
}

/// Mistakes of shape are the schemas' business too: what the reader says of them begins with these codes.
const OF_SHAPE: [&str; 6] =
    ["unknown-key", "missing-key", "empty-enumeration", "purpose-declares", "no-purpose", "domain-not-built"];

#[test]
fn the_schemas_refuse_mistakes_of_shape() {
    let mut refused = 0;
    for path in below(&root().join("tests/diagnostics"), "yaml") {
        let Ok(told) = fs::read_to_string(path.with_extension("out")) else { continue };
        if !told.lines().next().is_some_and(|code| OF_SHAPE.contains(&code)) {
            continue;
        }
        if let Some(value) = value(&fs::read_to_string(&path).unwrap()) {
            refused += 1;
            assert!(!objections(&value).is_empty(), "{} is accepted", path.display());
        }
    }
    assert!(refused >= 6, "only {refused} looked at");
}
