//! Which kinds of files each command takes. Where a command refuses its files, one of another kind is told in
//! place of what the command's readers have made of it, with the commands that take it.
//!
//! The look at the kind comes after the refusal, and nothing else comes of it: what a command runs, it has
//! read once. A file whose kind is not plain (it cannot be read, it is no YAML) is for the command itself to
//! say.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use coreach_model::Diagnostic;
use coreach_project::kinds::{ListedKind, kind};

use crate::arguments::{CampaignArguments, CampaignCommand, CoreachCommand};
use crate::timed_arguments::TimedCommand;

/// What is taken: a command, what of it, and the kinds.
type Taken = (&'static str, &'static [ListedKind]);

const MODELS: &[ListedKind] = &[ListedKind::Specification, ListedKind::Configuration];
const TESTS: &[ListedKind] = &[ListedKind::Configuration, ListedKind::TestCase];
const RUNS: &[ListedKind] = &[ListedKind::Run, ListedKind::Store];

const RUN: Taken = ("run", &[ListedKind::Configuration]);
const SHOW: Taken = (
    "show",
    &[ListedKind::Specification, ListedKind::Purpose, ListedKind::Property, ListedKind::Configuration],
);
const COMPARE: Taken = ("compare", &[ListedKind::Configuration]);
const EXPLORE: Taken = ("explore", &[ListedKind::Specification]);
const VERIFY: Taken = ("verify", &[ListedKind::Configuration]);
const COVER: Taken = ("cover", MODELS);
const TEST: Taken = ("test", TESTS);
/// Of the same command: not said again of a kind.
const WALK: Taken = ("test --cover", MODELS);
const IUT: Taken = ("test --iut", &[ListedKind::Iut]);
const EXPLAIN: Taken = ("explain", RUNS);
const REPLAY: Taken = ("replay", RUNS);
const OF_RUN: Taken = ("explain --test", TESTS);
const MUTATE: Taken = ("mutate", &[ListedKind::Configuration]);
const CAMPAIGN: Taken = ("campaign", &[ListedKind::Campaign]);
const STORES: Taken = ("campaign merge", &[ListedKind::Store]);
const COVERAGE: Taken =
    ("coverage", &[ListedKind::Campaign, ListedKind::Configuration, ListedKind::Store, ListedKind::Run]);
const REPORT: Taken = (
    "report",
    &[
        ListedKind::Configuration,
        ListedKind::Specification,
        ListedKind::Purpose,
        ListedKind::Property,
        ListedKind::Campaign,
        ListedKind::Store,
        ListedKind::Run,
    ],
);
const TIMED: Taken = ("timed", MODELS);

/// All of it, for what is said of a kind.
const ALL: [Taken; 17] = [
    RUN, SHOW, COMPARE, EXPLORE, VERIFY, COVER, TEST, IUT, EXPLAIN, REPLAY, OF_RUN, MUTATE, CAMPAIGN, STORES,
    COVERAGE, REPORT, TIMED,
];

/// The files that a command is given, each with what is taken there.
fn given(command: &CoreachCommand) -> Vec<(&Path, Taken)> {
    fn one(path: &Path, taken: Taken) -> Vec<(&Path, Taken)> {
        vec![(path, taken)]
    }
    fn all(paths: &[PathBuf], taken: Taken) -> Vec<(&Path, Taken)> {
        paths.iter().map(|path| (path.as_path(), taken)).collect()
    }
    fn maybe(path: Option<&PathBuf>, taken: Taken) -> Vec<(&Path, Taken)> {
        all(path.map_or(&[], std::slice::from_ref), taken)
    }
    match command {
        // Every kind, or none.
        CoreachCommand::Check(_)
        | CoreachCommand::Init(_)
        | CoreachCommand::Schema(_)
        // A foreign model, of no kind of ours.
        | CoreachCommand::Import(_)
        | CoreachCommand::HornClauses { .. }
        | CoreachCommand::Completions(_)
        | CoreachCommand::Man(_) => Vec::new(),
        CoreachCommand::Run(arguments) => one(&arguments.configuration, RUN),
        CoreachCommand::Show(arguments) => one(&arguments.model, SHOW),
        CoreachCommand::Compare(arguments) => one(&arguments.configuration, COMPARE),
        CoreachCommand::Explore(arguments) => one(&arguments.model, EXPLORE),
        CoreachCommand::Verify(arguments) => one(&arguments.configuration, VERIFY),
        CoreachCommand::Cover(arguments) => one(&arguments.model, COVER),
        CoreachCommand::Test(arguments) => {
            let taken = if arguments.walking.cover.is_some() { WALK } else { TEST };
            [one(&arguments.test, taken), one(&arguments.iut, IUT)].concat()
        }
        CoreachCommand::Explain(arguments) => {
            [one(&arguments.source, EXPLAIN), maybe(arguments.test.as_ref(), OF_RUN)].concat()
        }
        CoreachCommand::Replay(arguments) => [
            one(&arguments.source, REPLAY),
            maybe(arguments.test.as_ref(), OF_RUN),
            maybe(arguments.iut.as_ref(), IUT),
        ]
        .concat(),
        CoreachCommand::Mutate(arguments) => one(&arguments.configuration, MUTATE),
        CoreachCommand::Coverage(arguments) => all(&arguments.files, COVERAGE),
        CoreachCommand::Report(arguments) => all(&arguments.files, REPORT),
        CoreachCommand::Timed(arguments) => match &arguments.command {
            TimedCommand::Path(arguments) => one(&arguments.model, TIMED),
            TimedCommand::Inputs(arguments) => one(&arguments.model, TIMED),
            TimedCommand::Merge(arguments) => one(&arguments.model, TIMED),
            TimedCommand::Verdict(arguments) => one(&arguments.model, TIMED),
            TimedCommand::Drive(arguments) => {
                [one(&arguments.model, TIMED), one(&arguments.iut, IUT)].concat()
            }
        },
        CoreachCommand::Campaign(CampaignArguments { command, configuration, .. }) => match command {
            // What it takes the runs into may not be there yet.
            Some(CampaignCommand::Merge(merge)) => {
                let campaign = maybe(merge.campaign.as_ref(), CAMPAIGN);
                [one(&merge.into, STORES), all(&merge.from, STORES), campaign].concat()
            }
            None => maybe(configuration.as_ref(), CAMPAIGN),
        },
    }
}

/// The files of the command that is under way.
static GIVEN: OnceLock<Vec<(PathBuf, Taken)>> = OnceLock::new();

/// This command is under way.
pub fn remember(command: &CoreachCommand) {
    let given = given(command).into_iter().map(|(path, taken)| (path.to_owned(), taken));
    let _ = GIVEN.set(given.collect());
}

/// A finding for each file of a kind that the command does not take.
pub fn of_other_kinds() -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (path, (place, takes)) in GIVEN.get().into_iter().flatten() {
        let Some(is) = kind(path) else { continue };
        if takes.contains(&is) {
            continue;
        }
        let message = format!(
            "expected {}, but this is {}: {}",
            listed(takes.iter().map(|kind| kind.name().to_owned()), "or"),
            is.name(),
            path.display()
        );
        let others = ALL.iter().filter(|(other, kinds)| other != place && kinds.contains(&is));
        let taking: Vec<String> = others
            .map(|(other, _)| format!("`coreach {other}`"))
            .chain(["`coreach check`".to_owned()])
            .collect();
        let verb = if taking.len() == 1 { "takes" } else { "take" };
        let mut help = format!("{} {verb} {}", listed(taking.into_iter(), "and"), is.name());
        if takes.contains(&ListedKind::Configuration)
            && matches!(is, ListedKind::Specification | ListedKind::Purpose | ListedKind::Property)
        {
            help += "; a configuration names both models: `specification: a.yaml` and `purpose: b.yaml`";
        }
        found.push(Diagnostic::error("wrong-kind-of-file", message).help(help));
    }
    found
}

/// `a, b or c`
fn listed(words: impl Iterator<Item = String>, last: &str) -> String {
    let words: Vec<String> = words.collect();
    match words.split_last() {
        Some((end, begin)) if !begin.is_empty() => format!("{} {last} {end}", begin.join(", ")),
        _ => words.concat(),
    }
}
