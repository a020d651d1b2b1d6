//! The arguments of the command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use coreach_analyses::DomainKind;
use coreach_execution::campaign::Partition;
use coreach_pipeline::{Stage, export};
use coreach_project::budget;
use coreach_project::cover::{CRITERIA, Criterion, Observe};
use coreach_project::verifying::NODES;
use coreach_project::whole::{positive, whole};

use crate::beginning_arguments::{INIT_HELP, InitArguments, SchemaArguments};
use crate::console::ColorWhen;
use crate::execution_arguments::{
    CoverageArguments, ExplainArguments, MutateArguments, ReplayArguments, ReportArguments, TestArguments,
    Tolerance,
};
use crate::help::{
    CAMPAIGN_HELP, CHECK_HELP, COVER_HELP, COVERAGE_HELP, EXPLAIN_HELP, TESTING_HELP, TIMED_HELP,
    VERIFY_HELP, help,
};
use crate::horn_process::SUBCOMMAND;
use crate::import_arguments::{IMPORT_HELP, ImportArguments};
use crate::inconclusive::Inconclusive;
use crate::output_format::OutputFormat;
use crate::outputs::OutputPath;
use crate::shell_arguments::{CompletionsArguments, ManArguments};
use crate::timed_arguments::TimedArguments;

/// Generates symbolic test cases from a model of a reactive system and a test purpose.
#[derive(Parser, Debug)]
#[command(name = "coreach", version, after_help = help())]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: CoreachCommand,
    /// The most processor time of one piece of work (a purpose), the most time of a run: `60s`, `5m`; a
    /// number alone is ms [default: 60s]
    #[arg(long, global = true, value_name = "TIME", value_parser = budget::parse_time)]
    pub time: Option<Duration>,
    /// The most memory: `4GB`, `500MB` [default: 4GB]
    #[arg(long, global = true, value_name = "SIZE", value_parser = budget::parse_memory)]
    pub memory: Option<u64>,
    /// Colours: where standard error is a terminal and NO_COLOR is not set, always, or never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
    /// Say what is done: files, stages, the solver
    #[arg(long, short, global = true)]
    pub verbose: bool,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum CoreachCommand {
    /// Writes an example to begin with: a model, a program that it is tested against, and all else that is
    /// needed
    #[command(after_help = INIT_HELP)]
    Init(InitArguments),
    /// Makes the test cases of a configuration and writes what it asks for
    #[command(
        after_help = "Example:\n  coreach run coreach.yaml --out results --stages test_graph,test_case"
    )]
    Run(RunArguments),
    /// Looks for mistakes in any file that coreach reads
    #[command(after_help = CHECK_HELP)]
    Check(CheckArguments),
    /// Makes a specification of a foreign model
    #[command(after_help = IMPORT_HELP)]
    Import(ImportArguments),
    /// Writes one stage to standard output
    #[command(
        after_help = "Example:\n  coreach show coreach.yaml --stage test_case --format svg > test_case.svg"
    )]
    Show(ShowArguments),
    /// Compares what the abstract domains make of a configuration
    #[command(after_help = "Example:\n  coreach compare coreach.yaml --domains location,interval,polyhedra")]
    Compare(CompareArguments),
    /// Explores a specification symbolically: all paths, with what each asks of the data
    #[command(after_help = "Example:\n  coreach explore specification.yaml --restrict --draw tree.svg")]
    Explore(ExploreArguments),
    /// Proves the properties of a configuration of its specification, or shows runs that violate them
    #[command(after_help = VERIFY_HELP)]
    Verify(VerifyArguments),
    /// Writes purposes that meet all that a criterion of coverage asks for, and tells what no run can show
    #[command(after_help = COVER_HELP)]
    Cover(CoverArguments),
    /// Runs a test case against an implementation
    #[command(after_help = TESTING_HELP)]
    Test(TestArguments),
    /// Tells a run event by event, and why it ended as it did
    #[command(after_help = EXPLAIN_HELP)]
    Explain(ExplainArguments),
    /// Runs a stored run again, and looks for a shorter one
    #[command(after_help = TESTING_HELP)]
    Replay(ReplayArguments),
    /// Runs a suite of test cases against mutants of its specification
    #[command(after_help = "Example:\n  coreach mutate coreach.yaml --mutants 200 --threads 2")]
    Mutate(MutateArguments),
    /// Runs test cases against implementations, many times, and keeps every run
    #[command(after_help = CAMPAIGN_HELP, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Campaign(CampaignArguments),
    /// Tells what runs have covered of their specification and their purposes
    #[command(after_help = COVERAGE_HELP)]
    Coverage(CoverageArguments),
    /// Makes a page to look at: models, stages, test cases to step through, runs, coverage, in one HTML file
    #[command(after_help = "Example:\n  coreach report coreach.yaml nightly.sqlite --out nightly.html")]
    Report(ReportArguments),
    /// Answers Horn clauses on standard input: what `compare --exact` starts for each question
    #[command(hide = true, name = SUBCOMMAND)]
    HornClauses {
        /// The process that asks, with which it ends
        parent: i32,
    },
    /// Prints the JSON Schema of a kind of file, for editors; without a kind, tells which there are
    #[command(after_help = "Example:\n  coreach schema --out .coreach/schemas")]
    Schema(SchemaArguments),
    /// Tests with time: test cases and sequences for paths, recordings merged, verdicts on them
    #[command(after_help = TIMED_HELP)]
    Timed(TimedArguments),
    /// Prints what a shell needs to complete the words of a command line
    #[command(after_help = "Example:\n  coreach completions bash > coreach.bash && source coreach.bash")]
    Completions(CompletionsArguments),
    /// Writes the manual pages
    #[command(after_help = "Example:\n  coreach man ~/.local/share/man/man1")]
    Man(ManArguments),
}

/// Of `run`.
#[derive(Args, Debug)]
pub struct RunArguments {
    /// The configuration
    #[arg(value_name = "CONFIG")]
    pub configuration: PathBuf,
    /// Where to write, instead of the configuration's `output: directory`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<OutputPath>,
    /// The abstract domain, instead of the configuration's
    #[arg(long, value_name = "D")]
    pub domain: Option<DomainKind>,
    /// Write a page to look at here, too: one HTML file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<OutputPath>,
    /// The stages to write, instead of the configuration's
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = stage)]
    pub stages: Option<Vec<Stage>>,
    /// Leave this out of pictures
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_enum)]
    pub hide: Vec<Hide>,
    /// Check the result of each stage; a broken promise is a bug of coreach and ends the program
    #[arg(long)]
    pub check: bool,
    /// The form of the summary
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// How many purposes to work on at once; as many as there are cores, where it is not said
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<NonZeroUsize>,
    /// No summary, no notes, no progress: errors and warnings only
    #[arg(long, short)]
    pub quiet: bool,
}

/// Of `check`.
#[derive(Args, Debug)]
pub struct CheckArguments {
    /// Specifications, purposes, configurations, IUT files, campaigns, test cases, runs, stores
    #[arg(value_name = "FILE", required = true)]
    pub models: Vec<PathBuf>,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// Of `show`.
#[derive(Args, Debug)]
pub struct ShowArguments {
    /// A specification, a purpose or a configuration
    #[arg(value_name = "MODEL|CONFIG")]
    pub model: PathBuf,
    /// What to show; the help is made of the list of stages.
    #[arg(long, value_name = "S", value_parser = shown, help = what_to_show())]
    pub stage: Option<ShownStages>,
    /// Which purpose, where the configuration has several [default: the first]
    #[arg(long, value_name = "NAME")]
    pub purpose: Option<String>,
    /// In which form; the help is made of the list of formats.
    #[arg(long, value_name = "F", default_value = "dot", help = in_which_form())]
    pub format: export::Format,
    /// Show reach and coreach in the picture
    #[arg(long)]
    pub facts: bool,
    /// Leave this out of pictures
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_enum)]
    pub hide: Vec<Hide>,
}

/// What pictures can leave out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
#[expect(
    missing_docs,
    reason = "clap would print documented values at length, and no --help would fit a screen"
)]
pub enum Hide {
    Fail,
}

impl RunArguments {
    /// How its pictures are drawn.
    pub fn options(&self) -> export::Options {
        export::Options { facts: false, hide_fail: self.hide.contains(&Hide::Fail) }
    }
}

/// Of `compare`.
#[derive(Args, Debug)]
pub struct CompareArguments {
    /// The configuration
    #[arg(value_name = "CONFIG")]
    pub configuration: PathBuf,
    /// The domains [default: all]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub domains: Option<Vec<DomainKind>>,
    /// Write a page to look at here, too: one HTML file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<OutputPath>,
    /// Compare with the exact reference: what truly lies on a run to Accept, proved or shown
    #[arg(long)]
    pub exact: bool,
    /// Write the rows here, too: a line of comma-separated values each
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub csv: Option<OutputPath>,
    /// The form of the comparison
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// How many pairs of purpose and domain to work on at once; as many as there are cores, where it is not
    /// said; to compare times, 1
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<NonZeroUsize>,
}

/// What becomes of quiescence in a tree.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
#[expect(
    missing_docs,
    reason = "clap would print documented values at length, and no --help would fit a screen"
)]
pub enum Silence {
    #[default]
    Unseen,
    Loop,
    Sink,
}

/// Of `explore`.
#[derive(Args, Debug)]
pub struct ExploreArguments {
    /// The specification
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// No path is longer
    #[arg(long, value_name = "N", default_value = "20", value_parser = whole::<usize>)]
    pub depth: usize,
    /// No more nodes
    #[arg(long, value_name = "N", default_value = "10000", value_parser = positive)]
    pub nodes: NonZeroUsize,
    /// Cut states that an expanded one includes
    #[arg(long)]
    pub restrict: bool,
    /// Merge states of one depth and location: no paths to accept, and fewer nodes
    #[arg(long, conflicts_with_all = ["all_paths", "inclusion", "accept", "purpose"])]
    pub merge: bool,
    /// Quiescence as an output: not at all, changing nothing, or with nothing specified behind it
    #[arg(long, value_enum, default_value_t)]
    pub quiescence: Silence,
    /// Mark what a purpose accepts that is to see all paths of N steps; they set the depth
    #[arg(long, value_name = "N", value_parser = whole::<usize>, conflicts_with_all = ["restrict", "inclusion"])]
    pub all_paths: Option<usize>,
    /// The same, of K times the longest path of the restriction
    #[arg(long, value_name = "K", value_parser = positive, conflicts_with = "restrict")]
    pub inclusion: Option<NonZeroUsize>,
    /// Accept these nodes of the tree, by their numbers
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = whole::<usize>, conflicts_with_all = ["all_paths", "inclusion"])]
    pub accept: Vec<usize>,
    /// Write the purpose whose paths end at what is accepted
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub purpose: Option<OutputPath>,
    /// Draw the tree here: .dot or .svg
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub draw: Option<OutputPath>,
    /// The form of the answer; json has the whole tree
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// Of `verify`.
#[derive(Args, Debug)]
pub struct VerifyArguments {
    /// The configuration
    #[arg(value_name = "CONFIG")]
    pub configuration: PathBuf,
    /// How many nodes the search for a violation looks at
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::new(NODES).unwrap_or(NonZeroUsize::MIN), value_parser = positive)]
    pub nodes: NonZeroUsize,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// How many properties to work on at once; as many as there are cores, where it is not said
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<NonZeroUsize>,
    /// Neither facts nor runs, no progress: a line for each property
    #[arg(long, short)]
    pub quiet: bool,
}

/// Of `cover`.
#[derive(Args, Debug)]
pub struct CoverArguments {
    /// A specification, or a configuration, whose specification, constants and domain are taken
    #[arg(value_name = "CONFIG|MODEL")]
    pub model: PathBuf,
    /// What to cover; the help is made of the list of criteria.
    #[arg(long, value_name = "A,B", value_delimiter = ',', default_value = "transitions", help = what_to_cover())]
    pub criterion: Vec<Criterion>,
    /// Write the suite here: its purposes, the specification, and a configuration
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<OutputPath>,
    /// Continue paths up to N events for goals that are left: a smaller suite of longer tests
    #[arg(long, value_name = "N", default_value = "0", value_parser = whole::<usize>)]
    pub steps: usize,
    /// What purposes watch behind their goals; the help is made of the list.
    #[arg(long, value_name = "WHAT", default_value_t, help = what_to_observe())]
    pub observe: Observe,
    /// No path is longer
    #[arg(long, value_name = "N", default_value = "60", value_parser = whole::<usize>)]
    pub depth: usize,
    /// No tree has more nodes
    #[arg(long, value_name = "N", default_value = "2000", value_parser = positive)]
    pub nodes: NonZeroUsize,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// The figures only, no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// Of `campaign`.
#[derive(Args, Debug)]
pub struct CampaignArguments {
    /// The campaign
    #[arg(value_name = "CONFIG", required = true)]
    pub configuration: Option<PathBuf>,
    /// Where the runs are kept, instead of the campaign's `store`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub store: Option<OutputPath>,
    /// How many runs at once, instead of the campaign's `threads`
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<NonZeroUsize>,
    /// What runs are worth.
    #[command(flatten)]
    pub tolerance: Tolerance,
    /// Only the M-th of N shards: hash:M/N, M from 1 to N
    #[arg(long, value_name = "hash:M/N")]
    pub partition: Option<Partition>,
    /// The form of the summary
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Write a report as JUnit XML too
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub junit: Option<OutputPath>,
    /// Write a page to look at here, too: one HTML file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<OutputPath>,
    /// No notes, no progress, and of the summary the counts and the buckets, a line each
    #[arg(long, short)]
    pub quiet: bool,
    /// What else can be done
    #[command(subcommand)]
    pub command: Option<CampaignCommand>,
}

/// What can be done besides: with shards of campaigns.
#[derive(Subcommand, Debug)]
pub enum CampaignCommand {
    /// Puts the runs of some stores into one
    #[command(after_help = "Example:\n  coreach campaign merge all.sqlite part1.sqlite part2.sqlite")]
    Merge(MergeArguments),
}

/// Of `campaign merge`.
#[derive(Args, Debug)]
pub struct MergeArguments {
    /// The store that takes the runs; made where there is none
    #[arg(value_name = "INTO", value_hint = ValueHint::FilePath)]
    pub into: OutputPath,
    /// The stores whose runs are taken; they are not changed
    #[arg(value_name = "FROM", required = true)]
    pub from: Vec<PathBuf>,
    /// Take only runs of this campaign, refuse a store that has none, and end with the campaign's summary and
    /// exit code
    #[arg(long, value_name = "CONFIG")]
    pub campaign: Option<PathBuf>,
    /// Of the summary: what Inconclusive counts as
    #[arg(long, value_enum, default_value_t)]
    pub inconclusive: Inconclusive,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Of the summary the counts and the buckets, a line each
    #[arg(long, short)]
    pub quiet: bool,
}

/// What `show` shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShownStages {
    /// The specification as it was written.
    Specification,
    /// The purpose as it was written.
    Purpose,
    /// The result of a stage.
    Stage(Stage),
}

/// A stage by the name of its result, or by its verb.
fn stage(name: &str) -> Result<Stage, String> {
    let found = Stage::ALL.into_iter().find(|stage| stage.artifact() == name || stage.name() == name);
    found.ok_or_else(|| {
        let names = Stage::ALL.map(Stage::artifact);
        format!("no stage is called `{name}`; there are {}", names.join(", "))
    })
}

fn what_to_cover() -> String {
    format!("What to cover: {}", CRITERIA.join(", "))
}

fn what_to_observe() -> String {
    format!("What purposes watch behind their goals: {}", Observe::ALL.map(Observe::name).join(", "))
}

fn what_to_show() -> String {
    format!(
        "What to show: specification, test_purpose, or a stage's result: {} [default: the model itself; of a configuration the {}]",
        Stage::ALL.map(Stage::artifact).join(", "),
        Stage::InputComplete.artifact()
    )
}

fn in_which_form() -> String {
    format!("In which form: {}", export::Format::ALL.map(export::Format::name).join(", "))
}

fn shown(name: &str) -> Result<ShownStages, String> {
    match name {
        "specification" => Ok(ShownStages::Specification),
        "test_purpose" | "purpose" => Ok(ShownStages::Purpose),
        _ => stage(name)
            .map(ShownStages::Stage)
            .map_err(|message| format!("{message}; and specification, test_purpose")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_help_fits_a_screen_and_ends_with_an_example() {
        let mut command = Arguments::command();
        let shown = command.get_subcommands_mut().filter(|subcommand| !subcommand.is_hide_set());
        for subcommand in shown {
            // As clap decides for `--help`: at length where some argument has more to say.
            let at_length = subcommand.get_arguments().any(|argument| argument.get_long_help().is_some());
            let help = match at_length {
                true => subcommand.render_long_help(),
                false => subcommand.render_help(),
            };
            let help = help.to_string();
            assert!(help.lines().count() <= 50, "{help}");
            assert!(help.contains("Example:\n  coreach "), "{help}");
        }
    }
}
