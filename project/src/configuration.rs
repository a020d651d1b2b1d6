//! The pipeline's configuration: the file that begins with `specification:`.
//!
//! Every setting but the two files has a default. Paths are relative to the configuration's own folder. The
//! tables below have the values that a setting may have. The messages are made from the same tables.

mod judging;
mod timing;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_analyses::domains::{DomainKind, NAMES};
use coreach_analyses::reachability::{Loops, Refinement};
use coreach_execution::limits::LARGEST_COUNT;
use coreach_model::Aim;
use coreach_model::data::Datum;
use coreach_model::diagnostic::{Diagnostic, Origin, SourceFile};
use coreach_model::file;
use coreach_model::reader::collect::{Collector, listed};
use coreach_model::reader::scope::{Names, Scope, names_of};
use coreach_model::reader::typing::read_expression;
use coreach_model::reader::yaml::{Entry, NodeKind, Yaml};
use coreach_model::reader::{Reading, shape, yaml};
use coreach_model::term::evaluate::Valuation;
use coreach_model::types::{RecordForm, Type};
use coreach_model::value::Value;
use coreach_pipeline::export::Format;
use coreach_pipeline::limits::Limits;
use coreach_pipeline::{Conformance, Stage};
use dashu_ratio::RBig;

pub use judging::Judging;
use judging::read_word;
pub use timing::GivenTiming;
use timing::read_timed;

use crate::budget::{self, GivenBudget};
use crate::file_kind::{FileKind, is_document, kind_of, list_yaml_files};
use crate::limits;
use crate::whole::read_whole_number;

pub struct Reference {
    /// The configuration's folder joined with the path that is written.
    pub path: PathBuf,
    pub origin: Origin,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Instantiation {
    pub name: String,
    /// The value's text, an expression without data.
    pub text: String,
    pub name_origin: Origin,
    pub origin: Origin,
    node: Arc<Yaml>,
}

pub enum GivenThresholds {
    /// The constants of the model.
    Auto,
    Numbers(Vec<RBig>),
}

/// The configuration as it was read, with defaults for settings that it does not have.
pub struct Configuration {
    pub specification: Reference,
    pub purposes: Vec<Reference>,
    /// The properties' files. There is at least one purpose or property, unless none is needed.
    pub properties: Vec<Reference>,
    /// Symbolic constants that are fixed; see [`evaluate_instantiate`].
    pub instantiate: Vec<Instantiation>,
    /// `conformance`; ioc.
    pub conformance: Conformance,
    /// `judge`; test_case.
    pub judging: Judging,
    /// `timed`. A timed specification needs it, and no other one has it.
    pub timed: Option<GivenTiming>,
    /// `determinization: max_lookahead`; [`LOOKAHEAD`].
    pub max_lookahead: usize,
    /// `analysis: domain`. If it is `None`, the models decide.
    pub domain: Option<DomainKind>,
    /// `analysis: widening: delay`; 2.
    pub widening_delay: usize,
    /// `analysis: widening: thresholds`; auto.
    pub thresholds: GivenThresholds,
    /// `analysis: descending_steps`; 2.
    pub descending_steps: usize,
    /// `analysis: rounds`; 2, at least 1.
    pub rounds: usize,
    /// `analysis: partition_limit`; 256, at least 1.
    pub partition_limit: usize,
    /// `analysis: cells`; 4.
    pub cells: usize,
    /// `analysis: summarized_cells`; 32.
    pub summarized_cells: usize,
    /// `analysis: step_limit`; 1000000, at least 1.
    pub step_limit: usize,
    /// `analysis: loops`; accelerated.
    pub loops: Loops,
    /// `analysis: disjuncts`; 1.
    pub disjuncts: usize,
    /// `analysis: refine`; domains.
    pub refine: Refinement,
    /// `analysis: fact_limit`; 200.
    pub fact_limit: usize,
    /// `analysis: condition_limit`; 4096.
    pub condition_limit: usize,
    /// `output: directory`; `out`, beside the configuration.
    pub directory: PathBuf,
    /// `output: formats`; dot and json.
    pub formats: Vec<Format>,
    /// `output: stages`; all.
    pub stages: Vec<Stage>,
    /// `limits`; how much the stages may make.
    pub limits: Limits,
    /// `budget`. The command decides on limits that are not written.
    pub budget: GivenBudget,
}

/// The default of `determinization: max_lookahead`.
pub const LOOKAHEAD: usize = 8;

/// The default folder of the results.
pub const DIRECTORY: &str = "out";

const KEYS: [&str; 14] = [
    "specification",
    "purpose",
    "purposes",
    "property",
    "properties",
    "instantiate",
    "conformance",
    "judge",
    "timed",
    "determinization",
    "analysis",
    "limits",
    "output",
    "budget",
];

impl Configuration {
    /// The files of purposes and properties, in their order, each with its expected aim.
    pub fn aimed(&self) -> impl Iterator<Item = (&Reference, Aim)> {
        let purposes = self.purposes.iter().map(|reference| (reference, Aim::Accept));
        purposes.chain(self.properties.iter().map(|reference| (reference, Aim::Violate)))
    }
}

/// The words of `output: formats`: the pipeline's list of formats, under their own names.
pub fn formats() -> [(&'static str, &'static str, Format); Format::ALL.len()] {
    Format::ALL.map(|format| (format.name(), format.name(), format))
}

/// The words of `output: stages`: the name of each stage's result, and its own name for the same.
pub fn stages() -> [(&'static str, &'static str, Stage); Stage::ALL.len()] {
    Stage::ALL.map(|stage| (stage.artifact(), stage.name(), stage))
}

pub fn load_configuration(path: &Path) -> Reading<Configuration> {
    let file = yaml::load(path).map_err(|diagnostic| vec![diagnostic])?;
    read_configuration(file, path.parent().unwrap_or(Path::new("")))
}

/// Loads a configuration that may have neither purpose nor property.
pub fn load_without_purpose(path: &Path) -> Reading<Configuration> {
    let file = yaml::load(path).map_err(|diagnostic| vec![diagnostic])?;
    let mut collector = Collector::new(file);
    let folder = path.parent().unwrap_or(Path::new(""));
    let configuration = parse_configuration(&mut collector, folder, Purposes::Optional);
    collector.ended(configuration)
}

/// Reads a configuration that lies in `folder`.
///
/// # Errors
/// All mistakes that were found, in the order of the text. A missing file is one of them.
pub fn read_configuration(file: Arc<SourceFile>, folder: &Path) -> Reading<Configuration> {
    let mut collector = Collector::new(file);
    let configuration = parse_configuration(&mut collector, folder, Purposes::Needed);
    collector.ended(configuration)
}

/// Must a configuration name a purpose or a property?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purposes {
    Needed,
    Optional,
}

/// Reads a configuration. If purposes are needed, it is a mistake to name neither purpose nor property.
fn parse_configuration(collector: &mut Collector, folder: &Path, needed: Purposes) -> Option<Configuration> {
    let root = yaml::parse(collector)?;
    let like = "specification: coffee_machine.yaml";
    let NodeKind::Mapping(entries) = &root.kind else {
        shape::wrong_kind(collector, &root, "a configuration", "a mapping", like);
        return None;
    };
    let kinds = [
        ("iosts", "a specification"),
        ("purpose", "a test purpose"),
        ("property", "a property"),
        ("iut", "an IUT file"),
        ("campaign", "a campaign"),
    ];
    // A file of another kind has its first key, and no `specification:`. A configuration may have the keys
    // `purpose` and `property`, but no transitions.
    let has = |key: &str| shape::get(entries, key).is_some();
    for (key, what) in kinds {
        let is_iut_or_campaign = matches!(key, "iut" | "campaign") && !has("purpose");
        let is_other_kind = !has("specification") && (has("transitions") || is_iut_or_campaign);
        if let (true, Some(entry)) = (is_other_kind, entries.iter().find(|entry| entry.key.text == key)) {
            let message = format!("expected a configuration, but this is {what}");
            let label = format!("this begins {what}");
            let help = "a configuration begins with `specification:`";
            collector.mistake("wrong-kind-of-file", message, &entry.key.span, label, help);
            return None;
        }
    }
    shape::check_keys(collector, entries, &KEYS, "a configuration");
    let specification =
        shape::required(collector, &root, entries, "specification", "the configuration", like)
            .and_then(|node| read_reference(collector, node, "specification", folder));
    let purposes = read_references(collector, entries, folder, ["purpose", "purposes"]);
    let properties = read_references(collector, entries, folder, ["property", "properties"]);
    if needed == Purposes::Needed && matches!((&purposes, &properties), (Some(None), Some(None))) {
        let files = list_yaml_files(folder);
        let near = files.iter().find(|path| is_of_named_kind(path, "purpose") == Some(true));
        let name = near.and_then(|path| path.file_name()).unwrap_or("deliver_coffee.yaml".as_ref());
        let like = format!("purpose: {}", name.display());
        shape::missing_key(collector, &root, "purpose", "the configuration", &like);
        return None;
    }
    let instantiate = read_instantiate(collector, entries);
    let texts = ["conformance: ioco", "conformance", "no relation of this name"];
    let words = Conformance::ALL.map(|relation| (relation.name(), relation));
    let conformance = read_word(collector, entries, "conformance", texts, &words);
    let texts = ["judge: online", "judge", "no judge of this name"];
    let words = Judging::ALL.map(|judging| (judging.name(), judging));
    let judging = read_word(collector, entries, "judge", texts, &words);
    let timed = read_timed(collector, entries);
    let determinization = shape::section(collector, entries, "determinization", &["max_lookahead"]);
    let max_lookahead = read_number(collector, determinization, "max_lookahead", 0, LOOKAHEAD);
    const ANALYSIS: [&str; 13] = [
        "domain",
        "widening",
        "descending_steps",
        "rounds",
        "partition_limit",
        "cells",
        "summarized_cells",
        "step_limit",
        "loops",
        "disjuncts",
        "refine",
        "fact_limit",
        "condition_limit",
    ];
    let analysis = shape::section(collector, entries, "analysis", &ANALYSIS);
    let domain = read_domain(collector, analysis);
    let widening = shape::section(collector, analysis, "widening", &["delay", "thresholds"]);
    let widening_delay = read_number(collector, widening, "delay", 0, 2);
    let thresholds = read_thresholds(collector, widening);
    let descending_steps = read_number(collector, analysis, "descending_steps", 0, 2);
    let rounds = read_number(collector, analysis, "rounds", 1, 2);
    let partition_limit = read_number(collector, analysis, "partition_limit", 1, 256);
    // Each cell costs the analysis a number, and each summarized one a conjunct of every fact.
    let bounded = |collector: &mut Collector, key, most, default: usize| {
        read_whole_number(collector, analysis, key, (0, most), default as u64)
            .map_or(default, |value| value as usize)
    };
    let cells = bounded(collector, "cells", 64, 4);
    let summarized_cells = bounded(collector, "summarized_cells", 256, 32);
    let step_limit = read_number(collector, analysis, "step_limit", 1, 1_000_000);
    let texts = ["loops: widened", "loops", "not known"];
    let words = Loops::ALL.map(|loops| (loops.name(), loops));
    let loops = read_word(collector, analysis, "loops", texts, &words);
    let disjuncts = read_number(collector, analysis, "disjuncts", 1, 4);
    let texts = ["refine: exact", "refinement", "nothing that refines"];
    let words = Refinement::ALL.map(|refinement| (refinement.name(), refinement));
    let refine = read_word(collector, analysis, "refine", texts, &words);
    let fact_limit = read_number(collector, analysis, "fact_limit", 0, 200);
    let condition_limit = read_number(collector, analysis, "condition_limit", 1, 4096);
    let output = shape::section(collector, entries, "output", &["directory", "formats", "stages"]);
    let directory = shape::get(output, "directory")
        .and_then(|node| shape::scalar(collector, node, "`directory`", "directory: out"))
        .map_or(DIRECTORY, |scalar| scalar.text.as_str());
    let formats = read_choices(collector, output, "formats", &formats());
    let stages = read_choices(collector, output, "stages", &stages());
    let limits = limits::read_limits(collector, entries);
    let budget = budget::read_budget(collector, entries);
    Some(Configuration {
        specification: specification?,
        purposes: purposes?.unwrap_or_default(),
        properties: properties?.unwrap_or_default(),
        instantiate,
        conformance: conformance?,
        judging: judging?,
        timed: timed?,
        max_lookahead,
        domain,
        widening_delay,
        thresholds: thresholds?,
        descending_steps,
        rounds,
        partition_limit,
        cells,
        summarized_cells,
        step_limit,
        loops: loops?,
        disjuncts,
        refine: refine?,
        fact_limit,
        condition_limit,
        directory: folder.join(directory),
        formats: formats?.unwrap_or_else(|| vec![Format::Dot, Format::Json]),
        stages: stages?.unwrap_or_else(|| Stage::ALL.to_vec()),
        limits,
        budget,
    })
}

/// Reads a path that must name a file. Otherwise reports the file that was meant.
pub(crate) fn read_reference(
    collector: &mut Collector,
    node: &Yaml,
    what: &str,
    folder: &Path,
) -> Option<Reference> {
    if let (NodeKind::Sequence(_), "specification") = (&node.kind, what) {
        let help =
            "write one file; `compose` in a specification names the files of machines that run in parallel";
        let message = "a configuration has one specification, but this is a list";
        collector.mistake("wrong-kind", message, &node.head(), "expected one file", help);
        return None;
    }
    let scalar = shape::scalar(collector, node, &format!("the {what}"), &format!("{what}: file.yaml"))?;
    let path = folder.join(&scalar.text);
    let origin = collector.origin(&scalar.span);
    if path.is_file() {
        return Some(Reference { path, origin });
    }
    if let Some((begin, after_star)) = scalar.text.split_once('*') {
        let help = list_fitting_files(folder, begin, after_star, what);
        let message = format!("`{}` is not a file: coreach does not expand patterns of names", scalar.text);
        collector.push(Diagnostic::error("missing-file", message).at(origin, "a pattern").help(help));
        return None;
    }
    let is_folder = path.is_dir();
    // A file with a similar name, or one of the same name in this folder.
    let meant = file::find_meant_file(&path, |other| is_of_named_kind(other, what))
        .map(|meant| Path::new(&scalar.text).with_file_name(meant))
        .or_else(|| path.file_name().filter(|name| folder.join(name).is_file()).map(PathBuf::from));
    let mut label =
        format!("{} {what}", if is_folder { "this is a folder, not the" } else { "there is no such" });
    if let Some(meant) = meant {
        label += &format!("; did you mean `{}`?", meant.display());
    }
    let mut found =
        Diagnostic::error("missing-file", "a file that is named here cannot be read").at(origin, label);
    if scalar.text.contains(", ") {
        let key = what.trim_end_matches('s');
        found = found.help(format!("write several as a list: `{key}s: [{}]`", scalar.text));
    } else if !is_folder {
        found = found.help("paths are relative to the folder of the file that names them");
    }
    collector.push(found);
    None
}

/// Says which files fit a pattern of names, which is split at its first `*`.
fn list_fitting_files(folder: &Path, begin: &str, after_star: &str, what: &str) -> String {
    let end = after_star.rsplit('*').next().unwrap_or(after_star);
    let fits = |path: &PathBuf| {
        let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        (name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end))
            .then_some(name)
    };
    let pattern_folder = folder.join(begin.rsplit_once('/').map_or("", |(inner, _)| inner));
    let files: Vec<String> = list_yaml_files(&pattern_folder).iter().filter_map(fits).collect();
    let key = if what == "property" { "properties".to_owned() } else { format!("{what}s") };
    match files.is_empty() {
        true => "no file fits this pattern: write the names of the files".to_owned(),
        false => format!("write the files that fit this pattern: `{key}: [{}]`", files.join(", ")),
    }
}

/// Is a file of the kind that this word names? `None`, if the kind of the file or of the word is not known.
fn is_of_named_kind(path: &Path, what: &str) -> Option<bool> {
    if what == "test_case" {
        return Some(is_document(path));
    }
    let wanted = match what {
        "specification" | "model" => FileKind::Specification,
        "purpose" => FileKind::Purpose,
        "property" => FileKind::Property,
        "configuration" => FileKind::Configuration,
        "IUT file" => FileKind::Iut,
        _ => return None,
    };
    kind_of(&yaml::load(path).ok()?).ok().map(|kind| kind == wanted)
}

/// Reads the files of a list, or of its single form. The outer `None` is a mistake, the inner one no key.
fn read_references(
    collector: &mut Collector,
    entries: &[Entry],
    folder: &Path,
    [single, list]: [&str; 2],
) -> Option<Option<Vec<Reference>>> {
    let find = |key: &str| entries.iter().find(|entry| entry.key.text == key);
    let nodes: Vec<&Yaml> = match (find(single), find(list)) {
        (Some(one), Some(several)) => {
            let diagnostic =
                Diagnostic::error("duplicate-key", format!("both `{single}` and `{list}` are given"))
                    .at(collector.origin(&several.key.span), "the list")
                    .at(collector.origin(&one.key.span), "the single one")
                    .help(format!("put all of them into `{list}: [...]`"));
            collector.push(diagnostic);
            return None;
        }
        (Some(one), None) if matches!(one.value.kind, NodeKind::Sequence(_)) => {
            let message = format!("`{single}` is one file, but this is {}", one.value.describe());
            let help = format!("write a list under `{list}`: `{list}: [a.yaml, b.yaml]`");
            collector.mistake("wrong-kind", message, &one.key.span, "expected one file", help);
            return None;
        }
        (Some(one), None) => vec![&one.value],
        (None, Some(several)) => match &several.value.kind {
            NodeKind::Sequence(items) if !items.is_empty() => items.iter().map(AsRef::as_ref).collect(),
            NodeKind::Sequence(_) => {
                let message = format!("`{list}` is empty: a test case needs a {single}");
                collector.error("no-purpose", message, &several.value.span, "expected at least one file");
                return None;
            }
            NodeKind::Scalar(_) if !several.value.is_nothing() => vec![&several.value],
            _ => {
                let like = format!("{list}: [a.yaml]");
                shape::wrong_kind(collector, &several.value, &format!("`{list}`"), "a list of files", &like);
                return None;
            }
        },
        (None, None) => return Some(None),
    };
    let references: Vec<Option<Reference>> =
        nodes.into_iter().map(|node| read_reference(collector, node, single, folder)).collect();
    references.into_iter().collect::<Option<_>>().map(Some)
}

/// Writes the constants of a campaign, if this constant has a list of plain values.
pub(crate) fn suggest_constants(entry: &Entry) -> Option<String> {
    let NodeKind::Sequence(items) = &entry.value.kind else { return None };
    let instance = |item: &Arc<Yaml>| Some(format!("{{ {}: {} }}", entry.key.text, item.as_scalar()?.text));
    let instances: Option<Vec<String>> = items.iter().map(instance).collect();
    instances.map(|instances| format!("constants: [{}]", instances.join(", ")))
}

/// Reports a constant with several values where one is needed.
pub(crate) fn refuse_several(collector: &mut Collector, entry: &Entry, help: String) {
    let message = format!("`{}` must be one value, but this is a list", entry.key.text);
    collector.mistake("wrong-kind", message, &entry.value.head(), "expected one value", help);
}

/// Reads the constants under `instantiate`. Without that key there are none.
pub(crate) fn read_instantiate(collector: &mut Collector, entries: &[Entry]) -> Vec<Instantiation> {
    let mut found = Vec::new();
    let Some(node) = shape::get(entries, "instantiate") else { return found };
    let like = "instantiate: { cPrice: 3 }";
    let Some(entries) = shape::mapping(collector, node, "`instantiate`", like) else { return found };
    shape::check_distinct(collector, entries, "duplicate-key", "constant");
    for entry in shape::first_entries(entries) {
        if let Some(constants) = suggest_constants(entry) {
            let help = format!(
                "a test case has one value: for several values, leave this out, and write `{constants}` in a campaign"
            );
            refuse_several(collector, entry, help);
            continue;
        }
        let what = format!("the value of `{}`", entry.key.text);
        let Some(value) = shape::scalar(collector, &entry.value, &what, like) else { continue };
        if shape::is_name(collector, &entry.key, "constant") {
            found.push(Instantiation {
                name: entry.key.text.clone(),
                text: value.text.clone(),
                name_origin: collector.origin(&entry.key.span),
                origin: collector.origin(&value.span),
                node: entry.value.clone(),
            });
        }
    }
    found
}

fn read_number(collector: &mut Collector, entries: &[Entry], key: &str, least: u64, default: usize) -> usize {
    let value = read_whole_number(collector, entries, key, (least, LARGEST_COUNT), default as u64);
    value.and_then(|value| usize::try_from(value).ok()).unwrap_or(default)
}

/// Reads the domain. `None`, if it is not written, or after a mistake.
fn read_domain(collector: &mut Collector, analysis: &[Entry]) -> Option<DomainKind> {
    let node = shape::get(analysis, "domain")?;
    let scalar = shape::scalar(collector, node, "`domain`", "domain: polyhedra")?;
    let available = || DomainKind::ALL.iter().map(|domain| domain.name());
    if let Ok(domain) = scalar.text.parse() {
        return Some(domain);
    }
    let diagnostic = match NAMES.iter().find(|name| **name == scalar.text) {
        Some(name) => {
            Diagnostic::error("domain-not-built", format!("the domain `{name}` is not in this build"))
                .at(collector.origin(&scalar.span), "not available")
                .help(format!("this build has {}", listed(available())))
        }
        None => {
            let near = match scalar.text.as_str() {
                // The usual name of intervals.
                "box" => Some("interval"),
                other => collector.nearest(other, available()),
            };
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("this build has {}", listed(available())),
            };
            Diagnostic::error("wrong-value", format!("unknown domain `{}`", scalar.text))
                .at(collector.origin(&scalar.span), "no such domain")
                .help(help)
        }
    };
    collector.push(diagnostic);
    None
}

/// Reads the thresholds of the widening: `auto`, or a list of numbers. `None` is a mistake.
fn read_thresholds(collector: &mut Collector, widening: &[Entry]) -> Option<GivenThresholds> {
    let Some(node) = shape::get(widening, "thresholds") else { return Some(GivenThresholds::Auto) };
    match &node.kind {
        NodeKind::Scalar(scalar) if scalar.text == "auto" => Some(GivenThresholds::Auto),
        NodeKind::Sequence(items) => {
            let names = Names::default();
            let read = |item: &Arc<Yaml>| {
                let scope = Scope::of(&names);
                let term = read_expression(collector, item, scope, &Type::Real, "a threshold")?;
                match term.as_literal() {
                    Some(Value::Real(value)) => Some(value.clone()),
                    _ => {
                        let message = "a threshold must be a number";
                        collector.error("wrong-value", message, &item.head(), "not a number");
                        None
                    }
                }
            };
            let numbers: Vec<Option<RBig>> = items.iter().map(read).collect();
            numbers.into_iter().collect::<Option<Vec<RBig>>>().map(GivenThresholds::Numbers)
        }
        _ => {
            let message = "`thresholds` must be `auto` or a list of numbers";
            let help = "for example `thresholds: [0, 10, 100]`";
            collector.mistake("wrong-value", message, &node.head(), "neither", help);
            None
        }
    }
}

/// Reads a list of words out of a table, whose values have two names each. The outer `None` is a mistake, the
/// inner one no key.
fn read_choices<T: Copy + PartialEq>(
    collector: &mut Collector,
    entries: &[Entry],
    key: &str,
    table: &[(&str, &str, T)],
) -> Option<Option<Vec<T>>> {
    let Some(node) = shape::get(entries, key) else { return Some(None) };
    let like = format!("{key}: [{}]", table.last().map_or("", |(name, ..)| name));
    let items = shape::list(collector, node, &format!("`{key}`"), &like)?;
    let mut chosen = Vec::new();
    let errors_before = collector.errors();
    for item in items {
        let Some(scalar) = shape::scalar(collector, item, &format!("an item of `{key}`"), &like) else {
            continue;
        };
        let found = table.iter().find(|(name, alias, _)| *name == scalar.text || *alias == scalar.text);
        if let Some((_, _, value)) = found {
            if !chosen.contains(value) {
                chosen.push(*value);
            }
            continue;
        }
        let known = || table.iter().map(|(name, ..)| *name);
        let help = collector.suggest(&scalar.text, key, known);
        let message = format!("`{}` is not one of the {key}", scalar.text);
        collector.mistake("wrong-value", message, &scalar.span, "not known", help);
    }
    (collector.errors() == errors_before).then_some(Some(chosen))
}

/// Lists the names that values of these types may have: literals, alternatives and records.
pub(crate) fn names_in_types<'t>(types: impl Iterator<Item = &'t Type>) -> Names {
    let (mut names, mut open): (Names, Vec<&Type>) = (Names::default(), types.collect());
    while let Some(ty) = open.pop() {
        let name = match ty {
            Type::Enum(enumeration) => &enumeration.name,
            Type::Record(record) => {
                open.extend(record.fields.iter().map(|(_, ty)| ty));
                &record.name
            }
            Type::Array(array) => {
                open.extend([&array.index, &array.element]);
                continue;
            }
            _ => continue,
        };
        // `none` and `some` have the option type that is expected.
        if !matches!(ty, Type::Record(record) if record.form == RecordForm::Option) {
            names_of(name, ty).into_iter().for_each(|(name, meaning)| names.add(&name, meaning, None));
        }
        names.types.push((name.clone(), ty.clone()));
    }
    names
}

/// Reads a value of this type as a model writes it. `whose` names the value in messages.
pub(crate) fn read_value(
    collector: &mut Collector,
    node: &Yaml,
    names: &Names,
    ty: &Type,
    whose: &str,
) -> Option<Value> {
    let term = read_expression(collector, node, Scope::of(names), ty, whose)?;
    let value = term.as_literal().cloned();
    if let Some(value) = value.as_ref().filter(|value| value.is_in(ty)) {
        return Some(value.clone());
    }
    let (message, label) = match value {
        Some(value) => (format!("{value} is not a value of type {ty}"), format!("expected {ty}")),
        None => (format!("{whose} is not a value"), "expected a value".to_owned()),
    };
    collector.error("wrong-value", message, &node.head(), label);
    None
}

/// Evaluates the constants that a file fixes. `known` are the constants of all models.
///
/// # Errors
/// A constant is not known, or its text is not a value of its type.
pub fn evaluate_instantiate(items: &[Instantiation], known: &[Datum]) -> Result<Valuation, Vec<Diagnostic>> {
    let Some(first) = items.first() else { return Ok(Valuation::new()) };
    let names = names_in_types(known.iter().map(Datum::ty));
    let mut collector = Collector::new(first.origin.file.clone());
    let mut values = Valuation::new();
    for item in items {
        let Some(datum) = known.iter().find(|datum| datum.name() == item.name) else {
            let known_names = || known.iter().map(Datum::name);
            let help = collector.suggest(&item.name, "constants", known_names);
            let diagnostic =
                Diagnostic::error("unknown-constant", format!("unknown constant `{}`", item.name))
                    .at(item.name_origin.clone(), "no constant of this name")
                    .help(help);
            collector.push(diagnostic);
            continue;
        };
        let whose = format!("the value of `{}`", item.name);
        let value = read_value(&mut collector, &item.node, &names, datum.ty(), &whose);
        values.extend(value.map(|value| (datum.clone(), value)));
    }
    let (found, failed) = collector.finish();
    if failed { Err(found) } else { Ok(values) }
}
