//! Reads a campaign's file, which begins with `campaign:`.
//!
//! Like every reader, this one keeps places, and reports all mistakes at once on the user's own text. Paths
//! are relative to the file's own folder. [`prepare`] and [`iuts`] read the files that the campaign names.
//! What reads a part returns `None` after a mistake, which it has reported.

pub mod iuts;
pub mod names;
pub mod prepare;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use coreach_execution::Settings;
use coreach_execution::campaign::plan::LONGEST;
use coreach_execution::campaign::{RunSettings, StrategyKind};
use coreach_execution::limits::LARGEST_COUNT;
use coreach_model::codec::EXACT;
use coreach_model::diagnostic::{Origin, SourceFile};
use coreach_model::number::count;
use coreach_model::reader::collect::{Collector, inventory};
use coreach_model::reader::yaml::{Entry, NodeKind, Yaml};
use coreach_model::reader::{Reading, shape, yaml};

use crate::budget::{self, GivenBudget};
use crate::configuration::{Reference, read_reference, refuse_several, suggest_constants};
use crate::file_kind::{FileKind, report_other_kind};
use crate::whole::read_whole_number;

pub use iuts::reopen;

pub enum TestSource {
    Configuration(Reference),
    Document(Reference),
}

/// The constants of one instance as they are written.
pub struct InstanceConstants {
    pub pairs: Vec<WrittenConstant>,
    pub origin: Origin,
}

pub struct WrittenConstant {
    pub name: String,
    pub name_origin: Origin,
    pub value: String,
    pub value_origin: Origin,
}

pub enum Constants {
    /// These instances. Constants that an instance does not have are solved for.
    Given(Vec<InstanceConstants>),
    /// The number of instances whose constants are all solved for.
    Solved(usize),
}

/// A campaign as it was read, with defaults for keys that it does not have.
pub struct Campaign {
    pub name: String,
    /// `tests`, at least one.
    pub tests: Vec<TestSource>,
    pub iuts: Vec<Reference>,
    pub constants: Constants,
    /// `seeds`; 1 to 10.
    pub seeds: Vec<u64>,
    /// `strategy` and `limits`.
    pub settings: RunSettings,
    /// The origins of the locations in `limits: quiescence_at`.
    pub places: HashMap<String, Origin>,
    /// `store`; the campaign's name with `.sqlite`, beside the file.
    pub store: PathBuf,
    /// `threads`; 1.
    pub threads: usize,
    /// `budget`. It limits the making of test cases, as `limits: run_ms` limits a run.
    pub budget: GivenBudget,
}

impl Campaign {
    pub(crate) fn configurations(&self) -> impl Iterator<Item = &Path> {
        self.tests.iter().filter_map(|test| match test {
            TestSource::Configuration(reference) => Some(reference.path.as_path()),
            TestSource::Document(_) => None,
        })
    }
}

const KEYS: [&str; 10] =
    ["campaign", "tests", "iuts", "constants", "seeds", "strategy", "limits", "store", "threads", "budget"];

const LIMITS: [&str; 5] = ["quiescence_ms", "quiescence_at", "patience_ms", "steps", "run_ms"];

pub fn load_campaign(path: &Path) -> Reading<Campaign> {
    let file = yaml::load(path).map_err(|diagnostic| vec![diagnostic])?;
    read_campaign(file, path.parent().unwrap_or(Path::new("")))
}

/// Reads a campaign that lies in `folder`.
///
/// # Errors
/// All mistakes that were found, in the order of the text. A missing file is one of them.
pub fn read_campaign(file: Arc<SourceFile>, folder: &Path) -> Reading<Campaign> {
    let mut collector = Collector::new(file);
    let campaign = parse_campaign(&mut collector, folder);
    collector.ended(campaign)
}

/// Reads all keys of a campaign before it gives up, so that all mistakes are reported at once.
fn parse_campaign(collector: &mut Collector, folder: &Path) -> Option<Campaign> {
    let root = yaml::parse(collector)?;
    let NodeKind::Mapping(entries) = &root.kind else {
        shape::wrong_kind(collector, &root, "a campaign", "a mapping", "campaign: nightly");
        return None;
    };
    if report_other_kind(collector, entries, FileKind::Campaign) {
        return None;
    }
    shape::check_keys(collector, entries, &KEYS, "a campaign");
    let name = read_name(collector, &root, entries);
    let tests = read_tests(collector, &root, entries, folder);
    let iuts = read_iuts(collector, &root, entries, folder);
    let constants = read_constants(collector, entries);
    let seeds = read_seeds(collector, entries);
    let strategy = read_strategy(collector, entries);
    let (limits, places) = read_limits(collector, entries);
    let store = match shape::get(entries, "store") {
        Some(node) => {
            shape::scalar(collector, node, "`store`", "store: nightly.sqlite").map(|s| s.text.clone())
        }
        None => name.as_ref().map(|name| format!("{name}.sqlite")),
    };
    let threads = read_number(collector, entries, "threads", (1, 1024), 1);
    let budget = budget::read_budget(collector, entries);
    Some(Campaign {
        name: name?,
        tests: tests?,
        iuts: iuts?,
        constants: constants?,
        seeds: seeds?,
        settings: RunSettings { strategy: strategy?, limits },
        places,
        store: folder.join(store?),
        threads: usize::try_from(threads).unwrap_or(1),
        budget,
    })
}

fn read_name(collector: &mut Collector, root: &Yaml, entries: &[Entry]) -> Option<String> {
    const LONGEST: usize = 100;
    let node = shape::required(collector, root, entries, "campaign", "the campaign", "campaign: nightly")?;
    let scalar = shape::scalar(collector, node, "the campaign's name", "campaign: nightly")?;
    let fits = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-' | '.');
    let is_of_length = (1..=LONGEST).contains(&scalar.text.len());
    if scalar.text.chars().all(fits) && !scalar.text.starts_with(['.', '-']) && is_of_length {
        return Some(scalar.text.clone());
    }
    let help = "use only letters, digits, `_`, `-` and `.`, because its store gets this name: for example `nightly-2`";
    collector.mistake("not-a-name", "this cannot name a campaign", &scalar.span, "not such a name", help);
    None
}

/// Reads `tests`: each item names a configuration or the document of a test case.
fn read_tests(
    collector: &mut Collector,
    root: &Yaml,
    entries: &[Entry],
    folder: &Path,
) -> Option<Vec<TestSource>> {
    const LIKE: &str = "tests: [{ configuration: coreach.yaml }]";
    let items = read_nonempty_list(collector, root, entries, "tests", LIKE)?;
    let mut tests = Vec::new();
    for item in items {
        if collector.is_full() {
            return None;
        }
        let what = "an item of `tests`";
        let NodeKind::Mapping(entries) = &item.kind else {
            shape::wrong_kind(collector, item, what, "a mapping", LIKE);
            tests.push(None);
            continue;
        };
        shape::check_keys(collector, entries, &["configuration", "test_case"], what);
        let configuration = shape::get(entries, "configuration");
        let document = shape::get(entries, "test_case");
        let source = match (configuration, document) {
            (Some(node), None) => {
                read_reference(collector, node, "configuration", folder).map(TestSource::Configuration)
            }
            (None, Some(node)) => {
                read_reference(collector, node, "test_case", folder).map(TestSource::Document)
            }
            (Some(_), Some(node)) => {
                let message = "an item must name either a configuration or a test case";
                let label = "the second one: make it an item of its own";
                collector.error("two-sources", message, &node.head(), label);
                None
            }
            (None, None) => {
                shape::missing_key(collector, item, "configuration", what, LIKE);
                None
            }
        };
        tests.push(source);
    }
    tests.into_iter().collect()
}

/// Reads `iuts`: a list of IUT files. `None` after a mistake.
fn read_iuts(
    collector: &mut Collector,
    root: &Yaml,
    entries: &[Entry],
    folder: &Path,
) -> Option<Vec<Reference>> {
    let items = read_nonempty_list(collector, root, entries, "iuts", "iuts: [server.yaml]")?;
    let iuts: Vec<Option<Reference>> =
        items.into_iter().map(|item| read_reference(collector, item, "IUT file", folder)).collect();
    iuts.into_iter().collect()
}

/// Reads the items of a list that must be there and not be empty. An item without a list is a list of one.
fn read_nonempty_list<'a>(
    collector: &mut Collector,
    root: &Yaml,
    entries: &'a [Entry],
    key: &str,
    like: &str,
) -> Option<Vec<&'a Yaml>> {
    let node = shape::required(collector, root, entries, key, "the campaign", like)?;
    match &node.kind {
        NodeKind::Sequence(items) if !items.is_empty() => Some(items.iter().map(AsRef::as_ref).collect()),
        NodeKind::Scalar(_) | NodeKind::Mapping(_) if !node.is_nothing() => Some(vec![node]),
        _ => {
            let message = format!("`{key}` is empty");
            let help = format!("for example `{like}`");
            collector.mistake("nothing-to-run", message, &node.head(), "expected at least one item", help);
            None
        }
    }
}

/// Reads `constants`: one instance, a list of instances, or the number of instances to be solved for.
fn read_constants(collector: &mut Collector, entries: &[Entry]) -> Option<Constants> {
    const LIKE: &str = "constants: [{ cPrice: 3 }, { cPrice: 5 }]";
    let Some(node) = shape::get(entries, "constants") else { return Some(Constants::Solved(1)) };
    match &node.kind {
        NodeKind::Mapping(entries) if shape::get(entries, "solved").is_some() => {
            shape::check_keys(collector, entries, &["solved"], "`constants`");
            let count = read_number(collector, entries, "solved", (1, LARGEST_COUNT), 1);
            Some(Constants::Solved(usize::try_from(count).unwrap_or(1)))
        }
        NodeKind::Mapping(_) => Some(Constants::Given(vec![read_instance(collector, node)?])),
        NodeKind::Sequence(items) if !items.is_empty() => {
            let instances: Vec<Option<InstanceConstants>> =
                items.iter().map(|item| read_instance(collector, item)).collect();
            instances.into_iter().collect::<Option<_>>().map(Constants::Given)
        }
        _ => {
            let what = "a list of instances, or `solved` with their number";
            shape::wrong_kind(collector, node, "`constants`", what, LIKE);
            None
        }
    }
}

/// Reads one instance: a value for each constant that it names.
fn read_instance(collector: &mut Collector, node: &Yaml) -> Option<InstanceConstants> {
    let like = "{ cPrice: 3 }";
    let NodeKind::Mapping(entries) = &node.kind else {
        shape::wrong_kind(collector, node, "an instance of the constants", "a mapping", like);
        return None;
    };
    shape::check_distinct(collector, entries, "duplicate-key", "constant");
    let mut pairs = Vec::new();
    for entry in shape::first_entries(entries) {
        if let Some(constants) = suggest_constants(entry) {
            refuse_several(collector, entry, format!("write a mapping for each: `{constants}`"));
            continue;
        }
        let what = format!("the value of `{}`", entry.key.text);
        let Some(value) = shape::scalar(collector, &entry.value, &what, like) else { continue };
        pairs.push(WrittenConstant {
            name: entry.key.text.clone(),
            name_origin: collector.origin(&entry.key.span),
            value: value.text.clone(),
            value_origin: collector.origin(&value.span),
        });
    }
    Some(InstanceConstants { pairs, origin: collector.origin(&node.head()) })
}

/// Reads `seeds`: a list, or a first seed and a count. Without the key they are 1 to 10.
fn read_seeds(collector: &mut Collector, entries: &[Entry]) -> Option<Vec<u64>> {
    const LIKE: &str = "seeds: { first: 1, count: 50 }";
    let Some(node) = shape::get(entries, "seeds") else { return Some((1..=10).collect()) };
    match &node.kind {
        NodeKind::Mapping(entries) => {
            shape::check_keys(collector, entries, &["first", "count"], "`seeds`");
            let errors_before = collector.errors();
            let first = read_number(collector, entries, "first", (0, EXACT - LARGEST_COUNT), 1);
            let count = read_number(collector, entries, "count", (1, LARGEST_COUNT), 10);
            (collector.errors() == errors_before).then(|| (first..first + count).collect())
        }
        NodeKind::Sequence(items) if !items.is_empty() => {
            let seed = |item: &Arc<Yaml>| {
                let value = item.as_scalar().and_then(|node| count(&node.text)).filter(|seed| *seed <= EXACT);
                if value.is_none() {
                    let message = format!("a seed must be a whole number from 0 to {EXACT}");
                    let help = "write single seeds, as in `[1, 7]`, or a range as `{ first: 1, count: 3 }`";
                    collector.mistake("wrong-value", message, &item.head(), "not such a number", help);
                }
                value
            };
            let seeds: Vec<Option<u64>> = items.iter().map(seed).collect();
            seeds.into_iter().collect()
        }
        _ => {
            let what = "a list of numbers, or `first` and `count`";
            let count = node.as_scalar().and_then(|scalar| scalar.text.parse::<u64>().ok());
            let like =
                count.map_or(LIKE.to_owned(), |count| format!("seeds: {{ first: 1, count: {count} }}"));
            shape::wrong_kind(collector, node, "`seeds`", what, &like);
            None
        }
    }
}

fn read_strategy(collector: &mut Collector, entries: &[Entry]) -> Option<StrategyKind> {
    let Some(node) = shape::get(entries, "strategy") else { return Some(StrategyKind::default()) };
    let scalar = shape::scalar(collector, node, "`strategy`", "strategy: random")?;
    let names = || StrategyKind::ALL.iter().map(|kind| kind.name());
    if let Some(kind) = StrategyKind::named(&scalar.text) {
        return Some(kind);
    }
    let help = match collector.nearest(&scalar.text, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if scalar.text == "interactive" => "a campaign can ask nobody: use `plan`".to_owned(),
        None => inventory("strategies", names()),
    };
    let message = format!("unknown strategy `{}`", scalar.text);
    collector.mistake("wrong-value", message, &scalar.span, "a campaign does not have this strategy", help);
    None
}

/// Reads `limits`. Also returns the origins of the locations that have a time for quiescence of their own.
fn read_limits(collector: &mut Collector, entries: &[Entry]) -> (Settings, HashMap<String, Origin>) {
    let limits = shape::section(collector, entries, "limits", &LIMITS);
    let default = Settings::default();
    let in_ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(LONGEST);
    let mut time = |key: &str, least: u64, default: Duration| {
        Duration::from_millis(read_number(collector, limits, key, (least, LONGEST), in_ms(default)))
    };
    let quiescence = time("quiescence_ms", 1, default.quiescence);
    let patience = time("patience_ms", 0, default.patience);
    let run = time("run_ms", 1, default.time);
    let steps = read_number(collector, limits, "steps", (1, LARGEST_COUNT), default.steps as u64);
    let mut quiescence_at = HashMap::new();
    let mut places = HashMap::new();
    if let Some(node) = shape::get(limits, "quiescence_at") {
        let like = "quiescence_at: { Pay: 2000 }";
        let locations = shape::mapping(collector, node, "`quiescence_at`", like).unwrap_or(&[]);
        shape::check_distinct(collector, locations, "duplicate-key", "location");
        for entry in shape::first_entries(locations) {
            let time = read_number(collector, locations, &entry.key.text, (1, LONGEST), in_ms(quiescence));
            quiescence_at.insert(entry.key.text.clone(), Duration::from_millis(time));
            places.insert(entry.key.text.clone(), collector.origin(&entry.key.span));
        }
    }
    let steps = usize::try_from(steps).unwrap_or(default.steps);
    // The time that a reply may take stays the default: each implementation's file has its own.
    (Settings { quiescence, quiescence_at, patience, steps, time: run, ..default }, places)
}

/// Reads a whole number of a section. Both bounds are included.
fn read_number(
    collector: &mut Collector,
    entries: &[Entry],
    key: &str,
    bounds: (u64, u64),
    default: u64,
) -> u64 {
    read_whole_number(collector, entries, key, bounds, default).unwrap_or(default)
}
