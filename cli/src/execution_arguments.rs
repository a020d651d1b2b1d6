//! The arguments of the commands that run test cases.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use coreach_adapters::Iut;
use coreach_adapters::behaviour::Within;
use coreach_analyses::DomainKind;
use coreach_execution::Settings;
use coreach_model::Diagnostic;
use coreach_project::coverage::{CoverageKind, Requirement};
use coreach_project::stored::LoadedRun;
use coreach_project::whole::{positive, whole};
use coreach_project::{budget, stored};

use crate::answer::OutputFormat;
use crate::inconclusive::Inconclusive;
use crate::outputs::OutputPath;

/// What chooses the moves.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Chooser {
    #[default]
    Random,
    Coverage,
    Plan,
    Interactive,
}

/// How runs go on after a Fail or an error, and how Inconclusive counts.
#[derive(Args, Clone, Copy, Debug)]
pub struct Tolerance {
    /// Count Inconclusive as Pass (exit code 0), as itself (3) or as Fail (1)
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub inconclusive: Inconclusive,
    /// Begin no further run after a Fail
    #[arg(long)]
    pub fail_fast: bool,
    /// Repeat a run that ends without a verdict (RunError) at most this many times
    #[arg(long, value_name = "TIMES", default_value = "0", value_parser = whole::<usize>)]
    pub retries: usize,
}

/// How runs are driven, whatever command makes them.
#[derive(Args, Clone, Debug)]
pub struct Driving {
    /// Wait this long for an output if no input can be sent; may be repeated for locations: `Pay__Begin=2s`
    /// [default: `within` of the IUT file, else 1s]
    #[arg(long, value_name = "[LOCATION=]TIME", value_parser = parse_quiescence)]
    pub quiescence: Vec<QuiescenceTime>,
    /// Wait this long for an output if an input can be sent [default: 20ms]
    #[arg(long, value_name = "TIME", value_parser = budget::parse_duration)]
    pub patience: Option<Duration>,
    /// End a run after this many events [default: 1000], and continue a walk even if all goals are covered
    #[arg(long, alias = "steps", value_parser = positive)]
    pub events: Option<NonZeroUsize>,
}

/// How long silence must last, everywhere or in one location.
#[derive(Clone, Debug)]
pub struct QuiescenceTime {
    /// The location's name.
    pub location: Option<String>,
    /// How long.
    pub time: Duration,
}

impl Driving {
    /// Returns the settings for the tester. An option that is not given leaves a setting as it was. The
    /// implementation's file says how long a reply may take, unless `--quiescence` does.
    pub fn over(&self, before: Settings, iut: &Iut) -> Settings {
        let before = before.against(iut);
        let mut everywhere = None;
        let mut quiescence_at = before.quiescence_at;
        for QuiescenceTime { location, time } in &self.quiescence {
            match location {
                Some(name) => drop(quiescence_at.insert(name.clone(), *time)),
                None => everywhere = Some(*time),
            }
        }
        Settings {
            quiescence: everywhere.unwrap_or(before.quiescence),
            quiescence_at,
            within: if everywhere.is_none() { before.within } else { Within::default() },
            patience: self.patience.unwrap_or(before.patience),
            steps: self.events.map_or(before.steps, NonZeroUsize::get),
            time: budget::command_time().unwrap_or(before.time),
            ..before
        }
    }
}

fn parse_quiescence(text: &str) -> Result<QuiescenceTime, String> {
    let (location, time) = match text.split_once('=') {
        Some((name, time)) => (Some(name.to_owned()), time),
        None => (None, text),
    };
    let time = budget::parse_duration(time);
    let time = time.map_err(|why| format!("{why}, or LOCATION=TIME, for example `Pay__Begin=2s`"))?;
    Ok(QuiescenceTime { location, time })
}

pub(crate) fn parse_constant(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, for example cPrice=3")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// What a walk covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Covered {
    Transitions,
    Pairs,
    DefinitionUse,
    All,
}

/// The arguments of `test --cover`.
#[derive(Args, Debug)]
pub struct WalkArguments {
    /// Cover this of the specification in one walk, without a purpose and a test case
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        conflicts_with_all = ["purpose", "runs", "strategy", "fail_fast", "junit"]
    )]
    pub cover: Option<Covered>,
    /// End the walk when this share of the goals is covered: `95%`
    #[arg(long, value_name = "PERCENT", requires = "cover", value_parser = parse_percent)]
    pub until: Option<usize>,
}

fn parse_percent(text: &str) -> Result<usize, String> {
    let number = whole::<usize>(text.strip_suffix('%').unwrap_or(text)).ok();
    number.filter(|number| *number <= 100).ok_or_else(|| "expected a percentage, for example 80%".to_owned())
}

#[derive(Args, Debug)]
pub struct TestArguments {
    /// A test case, or a configuration (coreach makes its test cases first); with `--cover`, a specification
    #[arg(value_name = "TEST|CONFIG|MODEL")]
    pub test: PathBuf,
    /// The system under test: a file that begins with `iut:`
    #[arg(long, value_name = "FILE", help_heading = "What is tested")]
    pub iut: PathBuf,
    /// Run the test case of this purpose only
    #[arg(long, value_name = "NAME", help_heading = "What is tested")]
    pub purpose: Option<String>,
    /// Give a symbolic constant its value; may be repeated; coreach chooses the others
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_constant, help_heading = "What is tested")]
    pub constant: Vec<(String, String)>,
    /// A walk instead.
    #[command(flatten, next_help_heading = "What is tested")]
    pub walking: WalkArguments,
    /// Run each test case this many times
    #[arg(long, default_value = "1", value_parser = positive, help_heading = "How it is tested")]
    pub runs: NonZeroUsize,
    /// Use this seed for the first run, and the next seed for each further run
    #[arg(long, default_value = "1", value_parser = whole::<u64>, help_heading = "How it is tested")]
    pub seed: u64,
    /// Choose the next message with this strategy
    #[arg(long, value_enum, value_name = "HOW", default_value_t, help_heading = "How it is tested")]
    pub strategy: Chooser,
    /// How runs are driven.
    #[command(flatten, next_help_heading = "How it is tested")]
    pub driving: Driving,
    /// What runs are worth.
    #[command(flatten, next_help_heading = "What runs are worth")]
    pub tolerance: Tolerance,
    /// Store each run as a file in this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "What is written")]
    pub keep: Option<OutputPath>,
    /// Write a report as JUnit XML
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What is written")]
    pub junit: Option<OutputPath>,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t, help_heading = "What is written")]
    pub format: OutputFormat,
    /// Print only the counts and the failure groups
    #[arg(long, short, help_heading = "What is written")]
    pub quiet: bool,
}

/// A run that is kept.
#[derive(Args, Debug)]
pub struct KeptRunArguments {
    /// A run that `test --keep` wrote, or the store of a campaign
    #[arg(value_name = "RUN|STORE")]
    pub source: PathBuf,
    /// Which run of the store: its number, or the beginning of its key
    #[arg(value_name = "WHICH")]
    pub which: Option<String>,
    /// The test case, if it is not beside the run
    #[arg(long, value_name = "TEST")]
    pub test: Option<PathBuf>,
}

impl KeptRunArguments {
    /// Reads the run.
    ///
    /// # Errors
    /// The file has no run, or not this one.
    pub fn load(&self) -> Result<LoadedRun, Vec<Diagnostic>> {
        budget::reading(|| stored::load(&self.source, self.which.as_deref(), self.test.as_deref()))
    }
}

#[derive(Args, Debug)]
pub struct ExplainArguments {
    #[command(flatten)]
    pub kept: KeptRunArguments,
    /// Draw the path of the run through the test case: .dot or .svg
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub draw: Option<OutputPath>,
    /// Print a shell script that sends the messages again, with `nc` or `curl`
    #[arg(long, conflicts_with = "format")]
    pub transcript: bool,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

#[derive(Args, Debug)]
pub struct ReplayArguments {
    #[command(flatten)]
    pub kept: KeptRunArguments,
    /// The system under test [default: that of the store]
    #[arg(long, value_name = "FILE")]
    pub iut: Option<PathBuf>,
    /// Store the new run in this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub keep: Option<OutputPath>,
    /// Look for a shorter run with the same failure, and for simpler values
    #[arg(long, help_heading = "Shrinking")]
    pub shrink: bool,
    /// Make at most this many runs for `--shrink`
    #[arg(long, alias = "budget", value_name = "RUNS", default_value = "1000", value_parser = whole::<usize>, help_heading = "Shrinking")]
    pub attempts: usize,
    /// Spend at most this time on `--shrink` and `--again`
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = budget::parse_time, help_heading = "Shrinking")]
    pub shrink_time: Duration,
    /// Repeat the shortest run this many times, to see how often it fails
    #[arg(long, value_name = "TIMES", default_value = "5", value_parser = whole::<usize>, help_heading = "Shrinking")]
    pub again: usize,
    /// How runs are driven.
    #[command(flatten, next_help_heading = "How it is tested")]
    pub driving: Driving,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t, help_heading = "What is written")]
    pub format: OutputFormat,
    /// Print the verdict and the bucket only
    #[arg(long, short, help_heading = "What is written")]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct CoverageArguments {
    /// Stores, runs that `test --keep` wrote, folders of such runs, campaigns, and configurations.
    ///
    /// A campaign stands for its configurations and, if you name no runs, for its store. If you name no
    /// configuration, coreach tries those beside the runs.
    #[arg(value_name = "CAMPAIGN|CONFIG|STORE|RUNS", required = true)]
    pub files: Vec<PathBuf>,
    /// Write LCOV for genhtml, editors and build servers
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub lcov: Option<OutputPath>,
    /// Require at least this coverage of each specification: `80%`, or `transitions=90%`; may be repeated
    #[arg(long, value_name = "[WHAT=]PERCENT", value_parser = parse_requirement)]
    pub require: Vec<Required>,
    /// Use this domain to prove that items cannot be covered; `none`: no proofs
    #[arg(long, value_name = "DOMAIN", default_value = "interval", value_parser = parse_proofs)]
    pub proofs: Proofs,
    /// Leave out a run if more states than this are possible at once
    #[arg(long, default_value = "1000", value_parser = positive)]
    pub states: NonZeroUsize,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct ReportArguments {
    /// Configurations, models, campaigns, stores, runs, folders of runs, coverage documents
    #[arg(value_name = "WHAT", required = true)]
    pub files: Vec<PathBuf>,
    /// Write the page to this HTML file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: OutputPath,
    /// Show these abstract domains side by side
    #[arg(long, value_name = "DOMAIN,...", value_delimiter = ',')]
    pub domains: Vec<DomainKind>,
    /// Use this domain to prove that items cannot be covered; `none`: no proofs
    #[arg(long, value_name = "DOMAIN", default_value = "interval", value_parser = parse_proofs)]
    pub proofs: Proofs,
    /// Work on this many purposes at once [default: the number of cores]
    #[arg(long, value_parser = positive)]
    pub threads: Option<NonZeroUsize>,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}

/// A domain, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proofs(pub Option<DomainKind>);

fn parse_proofs(text: &str) -> Result<Proofs, String> {
    if text == "none" {
        return Ok(Proofs(None));
    }
    let domain = text.parse::<DomainKind>();
    domain.map(|domain| Proofs(Some(domain))).map_err(|error| format!("{error}; and none"))
}

/// The requirements of one `--require`: for one kind, or for each kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Required(pub Vec<Requirement>);

fn parse_requirement(text: &str) -> Result<Required, String> {
    let (kinds, text) = match text.split_once('=') {
        None => (CoverageKind::ALL.to_vec(), text),
        Some((name, text)) => {
            let found = CoverageKind::named(name.trim());
            let names = CoverageKind::ALL.map(CoverageKind::name).join(", ");
            (vec![found.ok_or_else(|| format!("expected one of {names} before `=`"))?], text)
        }
    };
    let percent = parse_percent(text.trim())?;
    Ok(Required(kinds.into_iter().map(|kind| Requirement { kind, percent }).collect()))
}

#[derive(Args, Debug)]
pub struct MutateArguments {
    /// The configuration with the specification to change and the purposes to test with
    #[arg(value_name = "CONFIG")]
    pub configuration: PathBuf,
    /// Which mutants, and how hard each is tried.
    #[command(flatten)]
    pub tries: TriesArguments,
    /// Print the mutant with this number as a specification, and run nothing
    #[arg(long, value_name = "NUMBER", value_parser = positive, conflicts_with = "format")]
    pub write: Option<NonZeroUsize>,
    /// Work on this many mutants at once [default: the number of cores]
    #[arg(long, value_parser = positive)]
    pub threads: Option<NonZeroUsize>,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Print only the counts and the failure groups
    #[arg(long, short)]
    pub quiet: bool,
}

/// Which mutants, and how hard each is tried.
#[derive(Args, Clone, Debug)]
pub struct TriesArguments {
    /// Make at most this many mutants
    #[arg(long, default_value = "100", value_parser = positive)]
    pub mutants: NonZeroUsize,
    /// Run each test case this many times against each mutant
    #[arg(long, default_value = "10", value_parser = whole::<u64>)]
    pub runs: u64,
    /// Compare a mutant that no run killed with the specification, in this many walks
    #[arg(long, default_value = "100", value_parser = whole::<u64>)]
    pub walks: u64,
    /// End each of these walks after this many events
    #[arg(long, value_name = "EVENTS", default_value = "60", value_parser = whole::<usize>)]
    pub depth: usize,
    /// Make all random choices with this seed
    #[arg(long, default_value = "1", value_parser = whole::<u64>)]
    pub seed: u64,
    /// End a run after this many events
    #[arg(long, default_value = "200", value_parser = whole::<usize>)]
    pub events: usize,
}
