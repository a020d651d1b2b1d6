//! Exports, stages and domains are declared once each: in `pipeline/src/export/mod.rs`, `pipeline/src/lib.rs`
//! and `analyses/src/domains/mod.rs`. All that names them for users is checked against these lists here: the
//! configuration, the schemas, the help of the command line, the documents. So whoever adds one is told what
//! lacks it.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::Path;
use std::process::Command;

use coreach_cli::exit::{self, Exit, ExitRow};

use coreach_analyses::domains::NAMES as DOMAINS;
use coreach_pipeline::Stage;
use coreach_pipeline::export::Format;
use coreach_project::configuration;
use serde_json::Value;

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn formats() -> Vec<&'static str> {
    Format::ALL.map(Format::name).to_vec()
}

fn artifacts() -> Vec<&'static str> {
    Stage::ALL.map(Stage::artifact).to_vec()
}

fn verbs() -> Vec<&'static str> {
    Stage::ALL.map(Stage::name).to_vec()
}

/// What each property of this name may be, or its items.
fn enumerations(schema: &str, name: &str) -> Vec<Vec<String>> {
    fn walk(schema: &Value, name: &str, found: &mut Vec<Vec<String>>) {
        let property = &schema["properties"][name];
        if let Some(words) = property["enum"].as_array().or(property["items"]["enum"].as_array()) {
            found.push(words.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        }
        let inner = schema.as_object().into_iter().flatten().map(|(_, value)| value);
        inner.filter(|value| value.is_object()).for_each(|value| walk(value, name, found));
    }
    let mut found = Vec::new();
    walk(&serde_json::from_str(&file(schema)).unwrap(), name, &mut found);
    found
}

fn help(command: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_coreach")).args([command, "--help"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The line of a document that begins like this.
fn row(document: &str, beginning: &str) -> String {
    let text = file(document);
    let found = text.lines().find(|line| line.starts_with(beginning));
    found.unwrap_or_else(|| panic!("{document} has no line `{beginning}`")).to_owned()
}

fn quoted(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("`{name}`")).collect()
}

/// A cell of a row, counted from 0.
fn cell(row: &str, number: usize) -> String {
    row.split('|').nth(number + 1).unwrap_or_default().to_owned()
}

/// What stands between backquotes.
fn words(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(|word| format!("`{word}`")).collect()
}

#[test]
fn schemas_have_every_format_stage_and_domain_and_no_other() {
    const CONFIGURATION: &str = "docs/configuration.schema.json";
    assert_eq!(enumerations(CONFIGURATION, "formats"), [formats()]);
    let verbs: Vec<&str> = verbs().into_iter().filter(|verb| !artifacts().contains(verb)).collect();
    assert_eq!(enumerations(CONFIGURATION, "stages"), [[artifacts(), verbs].concat()]);
    let own: Vec<&str> = DOMAINS.into_iter().filter(|name| !name.starts_with("apron:")).collect();
    assert_eq!(enumerations(CONFIGURATION, "domain"), [own]);
}

#[test]
fn a_configuration_takes_every_format_and_every_stage() {
    assert_eq!(configuration::formats().map(|(name, ..)| name).to_vec(), formats());
    assert_eq!(configuration::stages().map(|(name, ..)| name).to_vec(), artifacts());
    assert_eq!(configuration::stages().map(|(_, verb, _)| verb).to_vec(), verbs());
}

#[test]
fn the_help_names_every_format_and_every_stage() {
    let help = help("show");
    assert!(
        help.contains(&format!("Print it in this format: {} [default: dot]", formats().join(", "))),
        "{help}"
    );
    let stages = format!("or a stage's result: {} [default: the model itself;", artifacts().join(", "));
    assert!(help.contains(&stages), "{help}");
}

#[test]
fn the_documents_name_every_format_stage_and_domain() {
    let configuration = "docs/reference/configuration-and-campaign.md";
    let meaning = |beginning: &str| cell(&row(configuration, beginning), 1);
    assert_eq!(words(&meaning("| `output: formats`")), quoted(&formats()));
    assert_eq!(words(&meaning("| `output: stages`")), quoted(&artifacts()));
    let text = file(configuration);
    let (_, domains) = text.split_once("### Domains").unwrap();
    let named = words(domains.split("\n## ").next().unwrap());
    for name in DOMAINS {
        assert!(named.contains(&format!("`{name}`")), "{configuration} has no domain `{name}`");
    }
    let stages = words(&cell(&row("docs/reference/json.md", "| `stage` |"), 1));
    assert_eq!(stages[..Stage::ALL.len()], quoted(&artifacts()));
    let explained = file("docs/explanation/how-it-works.md");
    let rows: Vec<&str> = explained
        .lines()
        .skip_while(|line| *line != "| stage | result | what it does |")
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert_eq!(rows.len(), Stage::ALL.len(), "{rows:?}");
    for (row, stage) in rows.iter().zip(Stage::ALL) {
        let names = format!("| `{}` | `{}` | ", stage.name(), stage.artifact());
        assert!(row.starts_with(&names), "{row}");
    }
    let picture = verbs().join(" > ");
    assert!(file("docs/dev/architecture.md").contains(&picture), "{picture}");
}

/// Codes, and the order in which they count: one table, of which the help and the document are made.
#[test]
fn the_document_of_exit_codes_is_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/verdicts-and-exit-codes.md");
    let mut document = file("docs/reference/verdicts-and-exit-codes.md");
    let shown = document.split("\n\n").find(|part| part.starts_with("| code |")).unwrap().to_owned();
    let row = |row: ExitRow| format!("| {} | {} | {} |", row.exit.code(), row.meaning, row.cure);
    let (codes, meaning, cure) = exit::SIGNALS;
    let head = ["| code | meaning | what to do |".to_owned(), "|---|---|---|".to_owned()];
    let signals = format!("| {codes} | {meaning} | {cure} |");
    let table: Vec<String> = head.into_iter().chain(Exit::ALL.map(row)).chain([signals]).collect();
    let table = table.join("\n");
    if std::env::var_os("COREACH_BLESS").is_some() {
        document = document.replace(&shown, &table);
        fs::write(path, &document).unwrap();
    }
    assert!(document.contains(&format!("\n\n{table}\n\n")), "bless: the table is\n{table}");
    assert!(document.contains(&exit::order_sentence()), "{}", exit::order_sentence());
    let codes = Exit::ALL.map(|row| row.exit.code());
    assert_eq!(codes.to_vec(), (0..codes.len()).map(|code| u8::try_from(code).unwrap()).collect::<Vec<_>>());
    assert!(Exit::ALL.iter().all(|row| Exit::FIRST.contains(&row.exit)));
    assert!(
        Exit::ALL.iter().all(|row| !row.says.is_empty() && !row.meaning.is_empty() && !row.cure.is_empty())
    );
    let help = Command::new(env!("CARGO_BIN_EXE_coreach")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for row in Exit::ALL {
        assert!(help.contains(&format!("\n  {}  {}\n", row.exit.code(), row.says)), "{help}");
    }
}

/// A word without a meaning is no entry.
#[test]
fn every_word_of_the_glossary_has_a_meaning() {
    let glossary = file("docs/reference/glossary.md");
    let rows: Vec<Vec<&str>> = glossary
        .lines()
        .filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() > 60, "only {} rows: is the table still understood?", rows.len());
    let blank: Vec<_> =
        rows.iter().filter(|row| row.len() != 2 || row[0].is_empty() || row[1].is_empty()).collect();
    assert!(blank.is_empty(), "{blank:#?}");
}

/// One file for each stage, one for the check of its result, a rule or more for that, a row of the map to the
/// thesis, and a word of the glossary.
#[test]
fn every_stage_has_its_files_and_its_places_in_the_documents() {
    let rules = file("pipeline/src/check/mod.rs");
    let (map, glossary) = (file("docs/dev/architecture.md"), file("docs/reference/glossary.md"));
    for stage in Stage::ALL {
        let (verb, words) = (stage.name(), stage.artifact().replace('_', " "));
        let path = format!("pipeline/src/stages/{verb}.rs");
        let text = file(&path);
        let has_function = |name: &str| text.contains(&format!("\npub fn {name}("));
        assert!(has_function(verb) || has_function(&format!("make_{verb}")), "{path}");
        assert!(rules.contains(&format!("\n//! - **{words}** (")), "no rules for `{words}`");
        assert!(rules.contains(&format!("::check_{};", stage.artifact())), "no check of `{words}`");
        assert!(map.contains(&format!("`{path}`")), "the table of definitions has no `{path}`");
        let entry = format!("| {words} | result of the stage `{verb}`: ");
        assert!(glossary.contains(&entry), "the glossary has no `{entry}`");
    }
}
