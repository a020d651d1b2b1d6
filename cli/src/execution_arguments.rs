//! The arguments of the commands that run test cases.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use coreach_adapters::Iut;
use coreach_adapters::behaviour::Within;
use coreach_analyses::DomainKind;
use coreach_execution::Settings;
use coreach_project::budget;
use coreach_project::coverage::{CoverageKind, Requirement};
use coreach_project::whole::{milliseconds, positive, whole};

use crate::inconclusive::Inconclusive;
use crate::output_format::OutputFormat;
use crate::outputs::OutputPath;

/// What chooses the moves.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
#[expect(missing_docs, reason = "clap would print documented values at length")]
pub enum Chooser {
    #[default]
    Random,
    Coverage,
    Plan,
    Interactive,
}

/// What decides how a number of runs goes on, and what it is worth.
#[derive(Args, Clone, Copy, Debug)]
pub struct Tolerance {
    /// What Inconclusive counts as: ok: Pass (exit code 0), warn: itself (3), fail: Fail (1)
    #[arg(long, value_enum, default_value_t)]
    pub inconclusive: Inconclusive,
    /// Begin no further run after a Fail
    #[arg(long)]
    pub fail_fast: bool,
    /// How often a run is done again that ends without a verdict (RunError)
    #[arg(long, value_name = "N", default_value = "0", value_parser = whole::<usize>)]
    pub retries: usize,
}

/// How runs are driven, whatever command makes them.
#[derive(Args, Clone, Debug)]
pub struct Driving {
    /// How long silence must last where there is nothing to send, in ms [default: as the IUT file says, else
    /// 1000]
    #[arg(long, value_name = "MS", value_parser = milliseconds)]
    pub quiescence: Option<u64>,
    /// The same for one location: `Pay__Begin=200`; may be repeated
    #[arg(long, value_name = "LOCATION=MS", value_parser = location_time)]
    pub quiescence_at: Vec<(String, u64)>,
    /// How long to wait where something could be sent as well, in ms [default: 20]
    #[arg(long, value_name = "MS", value_parser = milliseconds)]
    pub patience: Option<u64>,
    /// The most events of a run [default: 1000]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub steps: Option<usize>,
}

impl Driving {
    /// The same, for the tester; what is not said is as before, and how long a reply may take is as the
    /// implementation's file says it, unless `--quiescence` says something else.
    pub fn over(&self, before: Settings, iut: &Iut) -> Settings {
        let before = before.against(iut);
        let within = if self.quiescence.is_none() { before.within } else { Within::default() };
        let at = |(name, time): &(String, u64)| (name.clone(), Duration::from_millis(*time));
        let mut quiescence_at = before.quiescence_at;
        quiescence_at.extend(self.quiescence_at.iter().map(at));
        Settings {
            quiescence: self.quiescence.map_or(before.quiescence, Duration::from_millis),
            quiescence_at,
            within,
            patience: self.patience.map_or(before.patience, Duration::from_millis),
            steps: self.steps.unwrap_or(before.steps),
            time: budget::said_time().unwrap_or(before.time),
            ..before
        }
    }
}

fn location_time(text: &str) -> Result<(String, u64), String> {
    let parts = text.split_once('=').and_then(|(name, time)| Some((name, milliseconds(time).ok()?)));
    let (name, time) = parts.ok_or("expected LOCATION=MS, for example Pay__Begin=200")?;
    Ok((name.to_owned(), time))
}

pub(crate) fn constant(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, for example cPrice=3")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// What a walk covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
#[expect(missing_docs, reason = "clap would print documented values at length")]
pub enum Covered {
    Transitions,
    Pairs,
    DefinitionUse,
    All,
}

/// Of `test --cover`.
#[derive(Args, Debug)]
pub struct WalkArguments {
    /// Cover this of the specification in one walk, without a purpose; `all`: one after the other, and
    /// classes of data
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        conflicts_with_all = ["purpose", "runs", "strategy", "steps", "fail_fast", "junit"]
    )]
    pub cover: Option<Covered>,
    /// With `--cover`: end when so much of it is covered: `95%`
    #[arg(long, value_name = "PERCENT", requires = "cover", value_parser = percent)]
    pub until: Option<usize>,
    /// With `--cover`: go on for so many events, also when all is covered [default: until then, at most 1000]
    #[arg(long, value_name = "N", requires = "cover", value_parser = positive)]
    pub events: Option<NonZeroUsize>,
}

fn percent(text: &str) -> Result<usize, String> {
    let number = whole::<usize>(text.strip_suffix('%').unwrap_or(text)).ok();
    number.filter(|number| *number <= 100).ok_or_else(|| "expected a percentage, for example 80%".to_owned())
}

/// Of `test`.
#[derive(Args, Debug)]
pub struct TestArguments {
    /// A test case (test_case.json), or a configuration, whose test cases are made first; with `--cover`, a
    /// specification or a configuration
    #[arg(value_name = "TEST")]
    pub test: PathBuf,
    /// The implementation: a file that begins with `iut:`
    #[arg(long, value_name = "FILE")]
    pub iut: PathBuf,
    /// A walk instead.
    #[command(flatten)]
    pub walking: WalkArguments,
    /// Which purpose of the configuration [default: all]
    #[arg(long, value_name = "NAME")]
    pub purpose: Option<String>,
    /// A symbolic constant's value: NAME=VALUE; may be repeated; others are solved for
    #[arg(long, value_name = "NAME=VALUE", value_parser = constant)]
    pub constant: Vec<(String, String)>,
    /// The seed of the first run; the next one has the next
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<u64>)]
    pub seed: u64,
    /// How many runs of each test case
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    pub runs: NonZeroUsize,
    /// How to choose what to do next
    #[arg(long, value_enum, default_value_t)]
    pub strategy: Chooser,
    /// What runs are worth.
    #[command(flatten)]
    pub tolerance: Tolerance,
    /// How runs are driven.
    #[command(flatten)]
    pub driving: Driving,
    /// Keep each run here, as a document; what is there is not replaced
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub keep: Option<OutputPath>,
    /// Write a report as JUnit XML too
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub junit: Option<OutputPath>,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Nothing of single runs, no progress: the counts and the buckets, a line each
    #[arg(long, short)]
    pub quiet: bool,
}

/// Of `explain`.
#[derive(Args, Debug)]
pub struct ExplainArguments {
    /// A run that `test --keep` wrote, or the store of a campaign
    #[arg(value_name = "RUN|STORE")]
    pub source: PathBuf,
    /// Which run of the store: its number, or the beginning of its key
    #[arg(value_name = "WHICH")]
    pub which: Option<String>,
    /// The test case, for a run that stands alone
    #[arg(long, value_name = "TEST")]
    pub test: Option<PathBuf>,
    /// Draw the walked path through the test case here: .dot or .svg
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub draw: Option<OutputPath>,
    /// Write a page to look at here, too: one HTML file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<OutputPath>,
    /// Print what went over the wire as text to paste into a shell: `printf` and `nc`, or `curl`
    #[arg(long, conflicts_with = "format")]
    pub transcript: bool,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// Of `replay`.
#[derive(Args, Debug)]
pub struct ReplayArguments {
    /// A run that `test --keep` wrote, or the store of a campaign
    #[arg(value_name = "RUN|STORE")]
    pub source: PathBuf,
    /// Which run of the store: its number, or the beginning of its key
    #[arg(value_name = "WHICH")]
    pub which: Option<String>,
    /// The test case, for a run that stands alone
    #[arg(long, value_name = "TEST")]
    pub test: Option<PathBuf>,
    /// The implementation [default: that of the store]
    #[arg(long, value_name = "FILE")]
    pub iut: Option<PathBuf>,
    /// Look for a shorter run with the same failure, and simpler values
    #[arg(long)]
    pub shrink: bool,
    /// The most runs that `--shrink` may make
    #[arg(long, alias = "budget", value_name = "N", default_value = "1000", value_parser = whole::<usize>)]
    pub attempts: usize,
    /// The most time of `--shrink`, with the repetitions: `60s`, `5m`
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = budget::parse_time)]
    pub shrink_time: Duration,
    /// How often the shrunk run is repeated, to see how sure it is to fail
    #[arg(long, value_name = "N", default_value = "5", value_parser = whole::<usize>)]
    pub again: usize,
    /// How runs are driven.
    #[command(flatten)]
    pub driving: Driving,
    /// Keep the run here, as a document; what is there is not replaced
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub keep: Option<OutputPath>,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// No events, no progress: what came of it, and the bucket
    #[arg(long, short)]
    pub quiet: bool,
}

/// Of `coverage`.
#[derive(Args, Debug)]
pub struct CoverageArguments {
    /// Stores, runs that `test --keep` wrote, folders of them; and campaigns or configurations
    ///
    /// A campaign stands for its configurations, and for its store where no runs are named. Where no
    /// configuration is named, those beside the runs are tried.
    #[arg(value_name = "CAMPAIGN|CONFIG|STORE|RUNS", required = true)]
    pub files: Vec<PathBuf>,
    /// Write LCOV here, for genhtml, editors and build servers
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub lcov: Option<OutputPath>,
    /// Write a page to look at here, too: one HTML file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<OutputPath>,
    /// The least that must be covered of each specification: `80%`, or `transitions=90%`; may be repeated
    #[arg(long, value_name = "[WHAT=]PERCENT", value_parser = required)]
    pub require: Vec<Required>,
    /// The domain that proves what no run can show; `none`: nothing is proved
    #[arg(long, value_name = "D", default_value = "interval", value_parser = proofs)]
    pub proofs: Proofs,
    /// The most states in which a run may be at once; a run with more is left out, which is said
    #[arg(long, value_name = "N", default_value = "1000", value_parser = positive)]
    pub states: NonZeroUsize,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// No table, no notes, no progress: errors only
    #[arg(long, short)]
    pub quiet: bool,
}

/// Of `report`.
#[derive(Args, Debug)]
pub struct ReportArguments {
    /// Configurations, models, campaigns, stores, runs, folders of runs, coverage documents
    #[arg(value_name = "WHAT", required = true)]
    pub files: Vec<PathBuf>,
    /// The page: one HTML file that needs nothing else
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: OutputPath,
    /// Abstract domains, side by side, instead of the configuration's
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub domains: Vec<DomainKind>,
    /// The domain that proves what no run can show; `none`: nothing is proved
    #[arg(long, value_name = "D", default_value = "interval", value_parser = proofs)]
    pub proofs: Proofs,
    /// How many purposes to work on at once; as many as there are cores, where it is not said
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<NonZeroUsize>,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// No notes, no progress: errors only
    #[arg(long, short)]
    pub quiet: bool,
}

/// A domain, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proofs(pub Option<DomainKind>);

fn proofs(text: &str) -> Result<Proofs, String> {
    if text == "none" {
        return Ok(Proofs(None));
    }
    let domain = text.parse::<DomainKind>();
    domain.map(|domain| Proofs(Some(domain))).map_err(|error| format!("{error}; and none"))
}

/// What `--require` says: of one kind, or of all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Required(pub Vec<Requirement>);

fn required(text: &str) -> Result<Required, String> {
    let (kinds, text) = match text.split_once('=') {
        None => (CoverageKind::ALL.to_vec(), text),
        Some((name, text)) => {
            let found = CoverageKind::named(name.trim());
            let names = CoverageKind::ALL.map(CoverageKind::name).join(", ");
            (vec![found.ok_or_else(|| format!("expected one of {names} before `=`"))?], text)
        }
    };
    let percent = percent(text.trim())?;
    Ok(Required(kinds.into_iter().map(|kind| Requirement { kind, percent }).collect()))
}

/// Of `mutate`.
#[derive(Args, Debug)]
pub struct MutateArguments {
    /// The configuration: its specification is mutated, its purposes are the suite
    #[arg(value_name = "CONFIG")]
    pub configuration: PathBuf,
    /// Which mutants, and how hard each is tried.
    #[command(flatten)]
    pub tries: TriesArguments,
    /// How many mutants at once; as many as there are cores, where it is not said
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<NonZeroUsize>,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// No progress, and of the summary the counts and the buckets, a line each
    #[arg(long, short)]
    pub quiet: bool,
}

/// Which mutants, and how hard each is tried.
#[derive(Args, Clone, Debug)]
pub struct TriesArguments {
    /// The most mutants
    #[arg(long, value_name = "N", default_value = "100", value_parser = positive)]
    pub mutants: NonZeroUsize,
    /// Runs of each test case against each mutant
    #[arg(long, value_name = "N", default_value = "10", value_parser = whole::<u64>)]
    pub runs: u64,
    /// Walks beside the specification, for a mutant that no run killed
    #[arg(long, value_name = "N", default_value = "100", value_parser = whole::<u64>)]
    pub walks: u64,
    /// Events of such a walk
    #[arg(long, value_name = "N", default_value = "60", value_parser = whole::<usize>)]
    pub depth: usize,
    /// The seed of everything
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<u64>)]
    pub seed: u64,
    /// The most events of a run
    #[arg(long, value_name = "N", default_value = "200", value_parser = whole::<usize>)]
    pub steps: usize,
}
