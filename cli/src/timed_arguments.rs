//! The arguments of `coreach timed`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use coreach_pipeline::export::Format;
use coreach_pipeline::timed::SilenceAfter;
use coreach_project::guided::parse_time;

use crate::output_format::OutputFormat;

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
}

impl TimedArguments {
    /// The form of its answer.
    pub fn format(&self) -> OutputFormat {
        match &self.command {
            TimedCommand::Path(arguments) => arguments.format,
        }
    }
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
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// In which forms: dot, svg, puml, json, yaml, and sptg for the documents of the authors' tool
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = form, default_value = "dot,json")]
    pub forms: Vec<PathForm>,
    /// Check the test case; a broken promise is a bug of coreach and ends the program
    #[arg(long)]
    pub check: bool,
    /// The form of the summary
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

fn form(text: &str) -> Result<PathForm, String> {
    match text {
        "sptg" => Ok(PathForm::Sptg),
        other => other.parse().map(PathForm::Export).map_err(|error| format!("{error}, sptg")),
    }
}
