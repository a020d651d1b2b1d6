//! The arguments of `coreach timed`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use coreach_execution::offline::verdict::MOST_CONTEXTS;
use coreach_execution::offline::write::Form;
use coreach_model::number::{WIRE_DIGITS, real};
use coreach_pipeline::export::Format;
use coreach_pipeline::timed::SilenceAfter;
use coreach_project::cover::Criterion;
use coreach_project::guided::parse_time;
use coreach_project::timed::inputs::criterion_with_time;
use coreach_project::whole::{milliseconds, positive, whole};
use dashu::rational::RBig;

use crate::execution_arguments::constant;
use crate::inconclusive::Inconclusive;
use crate::output_format::OutputFormat;
use crate::outputs::OutputPath;

/// Of `timed`.
#[derive(Args, Debug)]
pub struct TimedArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: TimedCommand,
}

/// The commands of `timed`.
#[derive(Subcommand, Debug)]
pub enum TimedCommand {
    /// Makes a test case that is guided by a path through a timed model
    #[command(
        after_help = "Example:\n  coreach timed path specification.yaml --path '(open reply)*3' --tm 5 --out out"
    )]
    Path(PathArguments),
    /// Computes a timed input sequence for a path, or one for each transition or pair
    #[command(after_help = "Example:\n  coreach timed inputs specification.yaml --path 1,2,3,5 > inputs.csv")]
    Inputs(InputsArguments),
    /// Sends a timed input sequence to a system, and records what comes
    #[command(
        after_help = "Example:\n  coreach timed drive specification.yaml --inputs inputs.csv --iut iut.yaml > trace.csv"
    )]
    Drive(DriveArguments),
    /// Puts what was sent and what was seen on one time line
    #[command(
        after_help = "Example:\n  coreach timed merge specification.yaml --inputs inputs.csv --outputs outputs.csv"
    )]
    Merge(MergeArguments),
    /// Judges a recorded trace, relative to a path
    #[command(
        after_help = "Example:\n  coreach timed verdict specification.yaml --path 1,2,3,5 --trace trace.csv"
    )]
    Verdict(VerdictArguments),
}

/// A form in which a path-guided test case is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathForm {
    /// One that every result has.
    Export(Format),
    /// The two documents of the authors' tool.
    Sptg,
}

/// Of `timed path`.
#[derive(Args, Debug)]
pub struct PathArguments {
    /// The timed specification, or a configuration that names one
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// The path: transitions by name or by number, in order; `(a b)*3` repeats
    #[arg(long, value_name = "A,B")]
    pub path: String,
    /// After how long silence is a fact, in the model's unit; `symbolic` makes it a constant of the test case
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub tm: Option<SilenceAfter>,
    /// The rules on silence as they were published: they call some silences a failure that the model allows
    #[arg(long)]
    pub published: bool,
    /// A folder to write the test case to
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<OutputPath>,
    /// In which forms: dot, svg, json, yaml, aut, rust, and sptg for the documents of the authors' tool
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = form, default_value = "dot,json")]
    pub forms: Vec<PathForm>,
    /// Check the test case; a broken promise is a bug of coreach and ends the program
    #[arg(long)]
    pub check: bool,
    /// The form of the summary
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// In which form a timed sequence is written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
#[expect(missing_docs, reason = "clap would print documented values at length")]
pub enum SequenceForm {
    #[default]
    Csv,
    JsonLines,
}

impl From<SequenceForm> for Form {
    fn from(form: SequenceForm) -> Form {
        match form {
            SequenceForm::Csv => Form::Csv,
            SequenceForm::JsonLines => Form::JsonLines,
        }
    }
}

/// Of `timed inputs`.
#[derive(Args, Debug)]
pub struct InputsArguments {
    /// The timed specification
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// The path: names or numbers of transitions, in their order
    #[arg(long, value_name = "A,B", required_unless_present = "cover", conflicts_with = "cover")]
    pub path: Option<String>,
    /// A sequence for each goal, as `coreach cover` names criteria, into the folder of `--out`: locations,
    /// transitions, pairs, guards, boundaries, definition-use, all-paths-N, K-inclusion
    #[arg(long, value_name = "CRITERION", requires = "out", value_parser = criterion)]
    pub cover: Option<Criterion>,
    /// Where the sequences of `--cover` go: a file for each, called like its transitions or numbered
    #[arg(long, value_name = "DIR", requires = "cover", value_hint = ValueHint::DirPath)]
    pub out: Option<OutputPath>,
    /// Draw delays and values by lot [default: handy delays, small values]
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub seed: Option<u64>,
    /// The outputs as well, as the model would have them
    #[arg(long)]
    pub whole: bool,
    /// A symbolic constant's value: NAME=VALUE; may be repeated; others are solved for
    #[arg(long, value_name = "NAME=VALUE", value_parser = constant)]
    pub constant: Vec<(String, String)>,
    /// The form of the sequence
    #[arg(long, value_enum, default_value_t)]
    pub form: SequenceForm,
}

/// Of `timed drive`.
#[derive(Args, Debug)]
pub struct DriveArguments {
    /// The timed specification; one unit of its time is a second
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// What is sent, and when: CSV or JSON lines; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub inputs: PathBuf,
    /// The system: a file that begins with `iut:`
    #[arg(long, value_name = "FILE")]
    pub iut: PathBuf,
    /// How long to record behind the last input, in ms
    #[arg(long, value_name = "MS", default_value = "1000", value_parser = milliseconds)]
    pub wait: u64,
    /// A symbolic constant's value, as the system has it: NAME=VALUE; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = constant)]
    pub constant: Vec<(String, String)>,
    /// The seed of a system that makes choices of its own
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<u64>)]
    pub seed: u64,
    /// The form of the trace
    #[arg(long, value_enum, default_value_t)]
    pub form: SequenceForm,
    /// The form of the answer: human: the trace; json: a document with the trace in it
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// Of `timed merge`.
#[derive(Args, Debug)]
pub struct MergeArguments {
    /// The timed specification
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// What the tester sent: CSV or JSON lines
    #[arg(long, value_name = "FILE")]
    pub inputs: PathBuf,
    /// What it saw, recorded longer than the inputs take
    #[arg(long, value_name = "FILE")]
    pub outputs: PathBuf,
    /// The form of the result
    #[arg(long, value_enum, default_value_t)]
    pub form: SequenceForm,
}

/// Of `timed verdict`.
#[derive(Args, Debug)]
pub struct VerdictArguments {
    /// The timed specification
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// The path: names or numbers of transitions, in their order
    #[arg(long, value_name = "A,B")]
    pub path: String,
    /// What was recorded, CSV or JSON lines; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub trace: PathBuf,
    /// A symbolic constant's value: NAME=VALUE; may be repeated; others may have any value
    #[arg(long, value_name = "NAME=VALUE", value_parser = constant)]
    pub constant: Vec<(String, String)>,
    /// How far an instant may be from the recorded one, in the model's unit: `0.02`, `1/50`
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = tolerance)]
    pub tolerance: RBig,
    /// Waiting by the published formulas, which may be wrong: for comparison
    #[arg(long)]
    pub published: bool,
    /// The most states that may be possible at once
    #[arg(long, value_name = "N", default_value_t = MOST, value_parser = positive)]
    pub contexts: NonZeroUsize,
    /// What Inconclusive counts as: ok: Pass (exit code 0), warn: itself (3), fail: Fail (1)
    #[arg(long, value_enum, default_value_t)]
    pub inconclusive: Inconclusive,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

fn criterion(text: &str) -> Result<Criterion, String> {
    text.parse().and_then(criterion_with_time)
}

fn tolerance(text: &str) -> Result<RBig, String> {
    let time = real(text, WIRE_DIGITS).ok().filter(|time| *time >= RBig::ZERO);
    time.ok_or_else(|| "expected a number of at least 0, as `0.02` or `1/50`".to_owned())
}

fn form(text: &str) -> Result<PathForm, String> {
    match text {
        "sptg" => Ok(PathForm::Sptg),
        other => other.parse().map(PathForm::Export).map_err(|error| format!("{error}, sptg")),
    }
}
const MOST: NonZeroUsize = match NonZeroUsize::new(MOST_CONTEXTS) {
    Some(most) => most,
    None => NonZeroUsize::MIN,
};
