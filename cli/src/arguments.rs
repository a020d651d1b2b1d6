//! The arguments of the command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Command, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use coreach_analyses::DomainKind;
use coreach_analyses::symbolic::Quiescence;
use coreach_execution::campaign::Partition;
use coreach_pipeline::{Stage, export};
use coreach_project::beginning::SCHEMAS;
use coreach_project::budget;
use coreach_project::cover::{CRITERIA, Criterion, Observe};
use coreach_project::verifying::NODES;
use coreach_project::whole::{positive, whole};

use crate::answer::{OutputFormat, one_of};
use crate::console::ColorWhen;
use crate::execution_arguments::{
    CoverageArguments, ExplainArguments, MutateArguments, ReplayArguments, ReportArguments, TestArguments,
    Tolerance,
};
use crate::help::{
    CAMPAIGN_HELP, CHECK_HELP, COVER_HELP, COVERAGE_HELP, EXPLAIN_HELP, INIT_HELP, REPLAY_HELP, RUN_HELP,
    TEST_HELP, TIMED_HELP, VERIFY_HELP, help,
};
use crate::horn_process::SUBCOMMAND;
use crate::import_arguments::{IMPORT_HELP, ImportArguments};
use crate::inconclusive::Inconclusive;
use crate::outputs::OutputPath;
use crate::timed_arguments::TimedArguments;

/// Generate test cases from a model of a system and a test purpose, and run them
#[derive(Parser, Debug)]
#[command(name = "coreach", version, help_template = help_template(), after_help = help())]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: CoreachCommand,
    /// Limit the time of each piece of work, and of each run: `60s`, `5m` [default: 60s]
    #[arg(long, global = true, value_name = "TIME", value_parser = budget::parse_time)]
    pub time: Option<Duration>,
    /// Stop when coreach needs more memory: `4GB`, `500MB` [default: 4GB]
    #[arg(long, global = true, value_name = "SIZE", value_parser = budget::parse_memory)]
    pub memory: Option<u64>,
    /// Use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
    /// Print more: steps of the work, values, buckets, queries
    #[arg(long, short, global = true)]
    pub verbose: bool,
}

#[derive(Subcommand, Debug)]
pub enum CoreachCommand {
    /// Write an example: models, a program to test, and other files
    #[command(after_help = INIT_HELP)]
    Init(InitArguments),
    /// Look for mistakes in any file that coreach reads
    #[command(after_help = CHECK_HELP)]
    Check(CheckArguments),
    /// Translate a foreign model into a specification
    #[command(after_help = IMPORT_HELP)]
    Import(ImportArguments),
    /// Make test cases from models (`test` runs test cases)
    #[command(after_help = RUN_HELP)]
    Run(RunArguments),
    /// Make purposes that together cover a specification
    #[command(after_help = COVER_HELP)]
    Cover(CoverArguments),
    /// Print a model or the result of one stage
    #[command(
        after_help = "Example:\n  coreach show coreach.yaml --stage test_case --format svg > test_case.svg"
    )]
    Show(ShowArguments),
    /// Compare the results of abstract domains for a configuration
    #[command(after_help = "Example:\n  coreach compare coreach.yaml --domains location,interval,polyhedra")]
    Compare(CompareArguments),
    /// Explore paths of a specification symbolically, up to a depth
    #[command(after_help = "Example:\n  coreach explore specification.yaml --restrict --draw tree.svg")]
    Explore(ExploreArguments),
    /// Prove safety properties of a specification, or show violations
    #[command(after_help = VERIFY_HELP)]
    Verify(VerifyArguments),
    /// Run test cases against a system (`run` makes test cases)
    #[command(after_help = TEST_HELP)]
    Test(TestArguments),
    /// Run many test cases many times, and store every run
    #[command(after_help = CAMPAIGN_HELP, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Campaign(CampaignArguments),
    /// Repeat a stored run, and look for a shorter one
    #[command(after_help = REPLAY_HELP)]
    Replay(ReplayArguments),
    /// Explain why a stored run ended as it did, event by event
    #[command(after_help = EXPLAIN_HELP)]
    Explain(ExplainArguments),
    /// Measure the coverage of stored runs
    #[command(after_help = COVERAGE_HELP)]
    Coverage(CoverageArguments),
    /// Make faulty specifications, and count those that tests find
    #[command(after_help = "Example:\n  coreach mutate coreach.yaml --mutants 200 --threads 2")]
    Mutate(MutateArguments),
    /// Write an HTML page with models, test cases, runs and coverage
    #[command(after_help = "Example:\n  coreach report coreach.yaml nightly.sqlite --out nightly.html")]
    Report(ReportArguments),
    /// Make and judge tests of timed models along a path
    #[command(after_help = TIMED_HELP)]
    Timed(TimedArguments),
    /// Print the JSON Schema of a kind of file, for editors
    #[command(
        after_help = "Without a kind, the command lists the kinds.\n\nExample:\n  coreach schema --out .coreach/schemas"
    )]
    Schema(SchemaArguments),
    /// Print a script with which a shell completes command lines
    #[command(after_help = "Example:\n  coreach completions bash > coreach.bash && source coreach.bash")]
    Completions(CompletionsArguments),
    /// Write the manual pages
    #[command(after_help = "Example:\n  coreach man ~/.local/share/man/man1")]
    Man(ManArguments),
    /// Answers Horn clauses on standard input: what `compare --exact` starts for each question
    #[command(hide = true, name = SUBCOMMAND)]
    HornClauses {
        /// The process that asks, with which it ends
        parent: i32,
    },
}

/// The commands in groups, as the help lists them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Write", &["init", "check", "import"]),
    ("Make", &["run", "cover", "show", "compare", "explore", "verify"]),
    ("Test", &["test", "campaign", "replay", "explain"]),
    ("Judge", &["coverage", "mutate", "report"]),
    ("Time", &["timed"]),
    ("Install", &["schema", "completions", "man"]),
];

/// Makes the template of the help, which lists the commands in groups. clap has no groups.
fn help_template() -> String {
    let commands = CoreachCommand::augment_subcommands(Command::new("coreach"));
    let command_line = |name: &&str| {
        let about = commands.find_subcommand(name).and_then(Command::get_about);
        format!("  {name:<11}  {}\n", about.map(ToString::to_string).unwrap_or_default())
    };
    let group_text = |(title, names): &(&str, &[&str])| {
        format!("{title}:\n{}\n", names.iter().map(command_line).collect::<String>())
    };
    let groups: String = GROUPS.iter().map(group_text).collect();
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    )
}

#[derive(Args, Debug)]
pub struct RunArguments {
    /// The configuration
    #[arg(value_name = "CONFIG")]
    pub configuration: PathBuf,
    /// Write to this folder instead of the configuration's `output: directory`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<OutputPath>,
    /// Use this abstract domain instead of the configuration's
    #[arg(long)]
    pub domain: Option<DomainKind>,
    /// Write the results of these stages instead of the configuration's
    #[arg(long, value_name = "STAGE,...", value_delimiter = ',', value_parser = parse_stage)]
    pub stages: Option<Vec<Stage>>,
    /// Leave out transitions to this verdict in pictures
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_enum)]
    pub hide: Vec<Hide>,
    /// Check the result of each stage, to find bugs of coreach
    #[arg(long)]
    pub check: bool,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Work on this many purposes at once [default: the number of cores]
    #[arg(long, value_parser = positive)]
    pub threads: Option<NonZeroUsize>,
    /// Print errors and warnings only
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct CheckArguments {
    /// Specifications, purposes, configurations, IUT files, campaigns, test cases, runs, stores
    #[arg(value_name = "FILE", required = true)]
    pub models: Vec<PathBuf>,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

#[derive(Args, Debug)]
pub struct ShowArguments {
    /// A specification, a purpose or a configuration
    #[arg(value_name = "MODEL|CONFIG")]
    pub model: PathBuf,
    /// What to show; the help is made of the list of stages.
    #[arg(long, value_name = "STAGE", value_parser = parse_shown_stages, help = stage_help())]
    pub stage: Option<ShownStages>,
    /// Show this purpose of the configuration [default: the first]
    #[arg(long, value_name = "NAME")]
    pub purpose: Option<String>,
    /// In which form; the help is made of the list of formats.
    #[arg(long, default_value = "dot", help = format!("Print it in this format: {}", export::Format::ALL.map(export::Format::name).join(", ")))]
    pub format: export::Format,
    /// Show reach and coreach in the picture
    #[arg(long)]
    pub facts: bool,
    /// Leave out transitions to this verdict in pictures
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_enum)]
    pub hide: Vec<Hide>,
}

/// What pictures can leave out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Hide {
    Fail,
}

impl RunArguments {
    /// Returns how the pictures are drawn.
    pub fn options(&self) -> export::ExportOptions {
        export::ExportOptions { facts: false, hide_fail: self.hide.contains(&Hide::Fail) }
    }
}

#[derive(Args, Debug)]
pub struct CompareArguments {
    /// The configuration
    #[arg(value_name = "CONFIG")]
    pub configuration: PathBuf,
    /// Compare these domains [default: all]
    #[arg(long, value_name = "DOMAIN,...", value_delimiter = ',')]
    pub domains: Option<Vec<DomainKind>>,
    /// Also find out exactly which transitions lie on a run to Accept
    #[arg(long)]
    pub exact: bool,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Work on this many pairs at once; use 1 to compare times [default: the number of cores]
    #[arg(long, value_parser = positive)]
    pub threads: Option<NonZeroUsize>,
}

#[derive(Args, Debug)]
pub struct ExploreArguments {
    /// The specification
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// End each path after this many events
    #[arg(long, value_name = "EVENTS", default_value = "20", value_parser = whole::<usize>)]
    pub depth: usize,
    /// End after this many nodes
    #[arg(long, default_value = "10000", value_parser = positive)]
    pub nodes: NonZeroUsize,
    /// Stop at states that an explored state includes
    #[arg(long)]
    pub restrict: bool,
    /// Merge states with the same depth and location; you then cannot accept paths
    #[arg(long, conflicts_with_all = ["all_paths", "inclusion", "accept", "out"])]
    pub merge: bool,
    /// Do not show quiescence, show it as a loop, or end the path after it
    #[arg(long, value_name = "HOW", default_value = "unseen", value_parser = one_of([("unseen", Quiescence::Unseen), ("loop", Quiescence::Loop), ("sink", Quiescence::Sink)]))]
    pub quiescence: Quiescence,
    /// Accept all paths of this many events (replaces `--depth`)
    #[arg(long, value_name = "EVENTS", value_parser = whole::<usize>, conflicts_with_all = ["restrict", "inclusion"])]
    pub all_paths: Option<usize>,
    /// Accept all paths up to this multiple of the longest path with `--restrict`
    #[arg(long, value_name = "FACTOR", value_parser = positive, conflicts_with = "restrict")]
    pub inclusion: Option<NonZeroUsize>,
    /// Accept these nodes of the tree, by their numbers
    #[arg(long, value_name = "NODE,...", value_delimiter = ',', value_parser = whole::<usize>, conflicts_with_all = ["all_paths", "inclusion"])]
    pub accept: Vec<usize>,
    /// Write a purpose with the accepted paths
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<OutputPath>,
    /// Draw the tree: .dot or .svg
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub draw: Option<OutputPath>,
    /// Answer as text, or as JSON with the whole tree
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

#[derive(Args, Debug)]
pub struct VerifyArguments {
    /// The configuration
    #[arg(value_name = "CONFIG")]
    pub configuration: PathBuf,
    /// Search at most this many nodes for a violation
    #[arg(long, default_value_t = NonZeroUsize::new(NODES).unwrap_or(NonZeroUsize::MIN), value_parser = positive)]
    pub nodes: NonZeroUsize,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Work on this many properties at once [default: the number of cores]
    #[arg(long, value_parser = positive)]
    pub threads: Option<NonZeroUsize>,
    /// Print a line for each property
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct CoverArguments {
    /// A specification, or a configuration that gives specification, constants and domain
    #[arg(value_name = "CONFIG|MODEL")]
    pub model: PathBuf,
    /// What to cover; the help is made of the list of criteria.
    #[arg(long, value_name = "CRITERION,...", value_delimiter = ',', default_value = "transitions", help = format!("Cover this: {}", CRITERIA.join(", ")))]
    pub criterion: Vec<Criterion>,
    /// Write the suite to this folder: purposes, specification, configuration
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<OutputPath>,
    /// Continue each path up to this many events, for fewer and longer tests
    #[arg(long, default_value = "0", value_parser = whole::<usize>)]
    pub events: usize,
    /// What purposes watch behind their goals; the help is made of the list.
    #[arg(long, value_name = "WHAT", default_value_t, help = format!("After each goal, watch for this evidence: {}", Observe::ALL.map(Observe::name).join(", ")))]
    pub observe: Observe,
    /// End each path after this many events
    #[arg(long, value_name = "EVENTS", default_value = "60", value_parser = whole::<usize>)]
    pub depth: usize,
    /// End each search after this many nodes
    #[arg(long, default_value = "2000", value_parser = positive)]
    pub nodes: NonZeroUsize,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Print the figures only
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct CampaignArguments {
    /// The campaign
    #[arg(value_name = "CONFIG", required = true)]
    pub configuration: Option<PathBuf>,
    /// Store the runs in this file instead of the campaign's `store`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub store: Option<OutputPath>,
    /// Make this many runs at once, instead of the campaign's `threads`
    #[arg(long, value_parser = positive)]
    pub threads: Option<NonZeroUsize>,
    /// What runs are worth.
    #[command(flatten)]
    pub tolerance: Tolerance,
    /// Run only shard M of N
    #[arg(long, value_name = "hash:M/N")]
    pub partition: Option<Partition>,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Write a report as JUnit XML
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub junit: Option<OutputPath>,
    /// Write a page for a browser, as `report` does
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<OutputPath>,
    /// Print only the counts and the failure groups
    #[arg(long, short)]
    pub quiet: bool,
    /// What else can be done
    #[command(subcommand)]
    pub command: Option<CampaignCommand>,
}

/// What can be done besides: with shards of campaigns.
#[derive(Subcommand, Debug)]
pub enum CampaignCommand {
    /// Copy the runs of several stores into one store
    #[command(after_help = "Example:\n  coreach campaign merge all.sqlite part1.sqlite part2.sqlite")]
    Merge(MergeArguments),
}

#[derive(Args, Debug)]
pub struct MergeArguments {
    /// The store to copy the runs to; coreach makes it if it does not exist
    #[arg(value_name = "INTO", value_hint = ValueHint::FilePath)]
    pub into: OutputPath,
    /// The stores to copy the runs from; they do not change
    #[arg(value_name = "FROM", required = true)]
    pub from: Vec<PathBuf>,
    /// Copy only runs of this campaign, and end with its summary and exit code
    #[arg(long, value_name = "CONFIG")]
    pub campaign: Option<PathBuf>,
    /// Count Inconclusive as Pass (exit code 0), as itself (3) or as Fail (1)
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub inconclusive: Inconclusive,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Print only the counts and the failure groups
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct InitArguments {
    /// Write into this folder
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub folder: OutputPath,
}

#[derive(Args, Debug)]
pub struct SchemaArguments {
    /// The kind of file
    #[arg(value_name = "KIND", value_parser = SCHEMAS.map(|schema| schema.kind), hide_possible_values = true)]
    pub kind: Option<String>,
    /// Write the schema, or all of them, to this folder; existing files are replaced
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<OutputPath>,
}

#[derive(Args, Debug)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

#[derive(Args, Debug)]
pub struct ManArguments {
    /// Write a page for each command to this folder [default: print the page of coreach]
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<OutputPath>,
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

/// Finds a stage by the name of its result, or by its verb.
fn parse_stage(name: &str) -> Result<Stage, String> {
    let found = Stage::ALL.into_iter().find(|stage| stage.artifact() == name || stage.name() == name);
    found.ok_or_else(|| {
        let names = Stage::ALL.map(Stage::artifact);
        format!("no stage is called `{name}`; there are {}", names.join(", "))
    })
}

fn stage_help() -> String {
    format!(
        "Show this: specification, test_purpose, or a stage's result: {} [default: the model itself; of a configuration the {}]",
        Stage::ALL.map(Stage::artifact).join(", "),
        Stage::InputComplete.artifact()
    )
}

fn parse_shown_stages(name: &str) -> Result<ShownStages, String> {
    match name {
        "specification" => Ok(ShownStages::Specification),
        "test_purpose" | "purpose" => Ok(ShownStages::Purpose),
        _ => parse_stage(name)
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
            let help = subcommand.render_help().to_string();
            assert!(help.lines().count() <= 60, "{help}");
            assert!(help.contains("Example:\n  coreach "), "{help}");
        }
        let help = command.term_width(80).render_help().to_string();
        let listed = help.lines().skip_while(|line| *line != "Write:").take_while(|line| *line != "Options:");
        assert!(
            listed.clone().count() > 25 && listed.clone().all(|line| line.chars().count() <= 80),
            "{help}"
        );
    }

    #[test]
    fn every_command_is_in_one_group() {
        let command = Arguments::command();
        let shown = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
        let mut names: Vec<&str> = shown.map(Command::get_name).collect();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        names.sort_unstable();
        listed.sort_unstable();
        assert_eq!(names, listed);
    }
}
