//! The arguments of `coreach timed`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{Args, Subcommand, ValueHint};
use coreach_execution::offline::verdict::MOST_CONTEXTS;
use coreach_execution::offline::write::TraceForm;
use coreach_model::number::{WIRE_DIGITS, real};
use coreach_pipeline::export::Format;
use coreach_pipeline::timed::SilenceAfter;
use coreach_project::budget::parse_duration;
use coreach_project::cover::Criterion;
use coreach_project::guided::parse_time;
use coreach_project::timed::inputs::criterion_with_time;
use coreach_project::whole::{positive, whole};
use dashu_ratio::RBig;

use crate::answer::{OutputFormat, TraceFormat, one_of};
use crate::execution_arguments::parse_constant;
use crate::inconclusive::Inconclusive;
use crate::outputs::OutputPath;

#[derive(Args, Debug)]
pub struct TimedArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: TimedCommand,
}

/// The commands of `timed`.
#[derive(Subcommand, Debug)]
pub enum TimedCommand {
    /// Make a test case that follows a path through a timed model
    #[command(
        after_help = "Example:\n  coreach timed path specification.yaml --path '(open reply)*3' --tm 5 --out out"
    )]
    Path(PathArguments),
    /// Compute timed inputs for a path, or for each goal of a criterion
    #[command(after_help = "Example:\n  coreach timed inputs specification.yaml --path 1,2,3,5 > inputs.csv")]
    Inputs(InputsArguments),
    /// Send timed inputs to a system, and record all events
    #[command(
        after_help = "Example:\n  coreach timed drive specification.yaml --inputs inputs.csv --iut iut.yaml > trace.csv"
    )]
    Drive(DriveArguments),
    /// Merge recorded inputs and recorded outputs into one trace
    #[command(
        after_help = "Example:\n  coreach timed merge specification.yaml --inputs inputs.csv --outputs outputs.csv"
    )]
    Merge(TimedMergeArguments),
    /// Judge a recorded trace along a path
    #[command(
        after_help = "Example:\n  coreach timed verdict specification.yaml --path 1,2,3,5 --trace trace.csv"
    )]
    Verdict(VerdictArguments),
}

/// A form in which a path-guided test case is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathForm {
    /// A format that every result can have.
    Export(Format),
    /// The two documents of the authors' tool.
    Sptg,
}

#[derive(Args, Debug)]
pub struct PathArguments {
    /// The timed specification, or a configuration that names one
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// The path: transitions by name or by number, in order; `(a b)*3` repeats
    #[arg(long, value_name = "TRANSITION,...")]
    pub path: String,
    /// After silence of this many time units, judge the silence; `symbolic`: a constant of the test case
    #[arg(long, value_name = "NUMBER", value_parser = parse_time)]
    pub tm: Option<SilenceAfter>,
    /// Use the published rules on silence, which wrongly give Fail for some silences
    #[arg(long)]
    pub published: bool,
    /// Write the test case to this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<OutputPath>,
    /// Write these formats: dot, svg, json, yaml, aut, rust, sptg (for the authors' tool)
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', value_parser = parse_form, default_value = "dot,json")]
    pub formats: Vec<PathForm>,
    /// Check the test case, to find bugs of coreach
    #[arg(long)]
    pub check: bool,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// Parses how a timed sequence is written.
fn sequence_form() -> impl TypedValueParser<Value = TraceForm> {
    one_of([("csv", TraceForm::Csv), ("json-lines", TraceForm::JsonLines)])
}

#[derive(Args, Debug)]
pub struct InputsArguments {
    /// The timed specification
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// The path: names or numbers of transitions, in their order
    #[arg(long, value_name = "TRANSITION,...", required_unless_present = "cover", conflicts_with = "cover")]
    pub path: Option<String>,
    /// Write a sequence for each goal of this criterion: locations, transitions, pairs, guards, boundaries,
    /// definition-use, all-paths-N, K-inclusion
    #[arg(long, value_name = "CRITERION", requires = "out", value_parser = parse_criterion)]
    pub cover: Option<Criterion>,
    /// Write the sequences of `--cover` to this folder
    #[arg(long, value_name = "DIR", requires = "cover", value_hint = ValueHint::DirPath)]
    pub out: Option<OutputPath>,
    /// Choose delays and values at random with this seed [default: simple delays, small values]
    #[arg(long, value_parser = whole::<u64>)]
    pub seed: Option<u64>,
    /// Also write the outputs that the model would send
    #[arg(long)]
    pub whole: bool,
    /// Give a symbolic constant its value; may be repeated; coreach chooses the others
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_constant)]
    pub constant: Vec<(String, String)>,
    /// Write the sequence in this format
    #[arg(long, default_value = "csv", value_parser = sequence_form())]
    pub format: TraceForm,
}

#[derive(Args, Debug)]
pub struct DriveArguments {
    /// The timed specification; one unit of its time is a second
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// The inputs and their times, as CSV or JSON lines; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub inputs: PathBuf,
    /// The system: a file that begins with `iut:`
    #[arg(long, value_name = "FILE")]
    pub iut: PathBuf,
    /// Record until this time after the last input
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub wait: Duration,
    /// Give a symbolic constant the value that the system has; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_constant)]
    pub constant: Vec<(String, String)>,
    /// Use this seed for the choices of a simulated system
    #[arg(long, default_value = "1", value_parser = whole::<u64>)]
    pub seed: u64,
    /// Print the trace in this format, or a JSON document that contains the trace
    #[arg(long, value_enum, default_value_t)]
    pub format: TraceFormat,
}

#[derive(Args, Debug)]
pub struct TimedMergeArguments {
    /// The timed specification
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// The inputs that the tester sent, as CSV or JSON lines
    #[arg(long, value_name = "FILE")]
    pub inputs: PathBuf,
    /// The outputs that the tester saw, recorded until after the last input
    #[arg(long, value_name = "FILE")]
    pub outputs: PathBuf,
    /// Write the trace in this format
    #[arg(long, default_value = "csv", value_parser = sequence_form())]
    pub format: TraceForm,
}

#[derive(Args, Debug)]
pub struct VerdictArguments {
    /// The timed specification
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// The path: names or numbers of transitions, in their order
    #[arg(long, value_name = "TRANSITION,...")]
    pub path: String,
    /// The recorded trace, as CSV or JSON lines; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub trace: PathBuf,
    /// Give a symbolic constant its value; may be repeated; the others may have any value
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_constant)]
    pub constant: Vec<(String, String)>,
    /// Allow this error of recorded times, in time units of the model: `0.02`, `1/50`
    #[arg(long, value_name = "NUMBER", default_value = "0", value_parser = parse_tolerance)]
    pub tolerance: RBig,
    /// Use the published formulas for waiting, which may be wrong
    #[arg(long)]
    pub published: bool,
    /// Follow at most this many states at once
    #[arg(long, value_name = "STATES", default_value_t = NonZeroUsize::new(MOST_CONTEXTS).unwrap_or(NonZeroUsize::MIN), value_parser = positive)]
    pub contexts: NonZeroUsize,
    /// Count Inconclusive as Pass (exit code 0), as itself (3) or as Fail (1)
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub inconclusive: Inconclusive,
    /// Answer as text or as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

fn parse_criterion(text: &str) -> Result<Criterion, String> {
    text.parse().and_then(criterion_with_time)
}

fn parse_tolerance(text: &str) -> Result<RBig, String> {
    let time = real(text, WIRE_DIGITS).ok().filter(|time| *time >= RBig::ZERO);
    time.ok_or_else(|| "expected a number of at least 0, for example `0.02` or `1/50`".to_owned())
}

fn parse_form(text: &str) -> Result<PathForm, String> {
    match text {
        "sptg" => Ok(PathForm::Sptg),
        other => other.parse().map(PathForm::Export).map_err(|error| format!("{error}, sptg")),
    }
}
