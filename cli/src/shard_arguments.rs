//! Arguments of work that is split into shards, for several machines or an engine that has them.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use coreach_execution::campaign::Partition;
use coreach_project::whole::positive;

use crate::inconclusive::Inconclusive;
use crate::output_format::OutputFormat;
use crate::outputs::OutputPath;

/// What brings tasks to machines.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
#[expect(
    missing_docs,
    reason = "clap would print documented values at length, and no --help would fit a screen"
)]
pub enum Engine {
    #[default]
    Hyperqueue,
    Snakemake,
    Shell,
}

/// Of `campaign tasks` and its like.
#[derive(Args, Debug)]
pub struct TasksArguments {
    /// What is to be split: the file that the command without `tasks` takes
    #[arg(value_name = "CONFIG")]
    pub configuration: PathBuf,
    /// So many shards, at most 9999: some for each machine, so that none waits long for the last
    #[arg(long, value_name = "N", value_parser = positive)]
    pub shards: NonZeroUsize,
    /// The folder for the scripts and for what the shards make
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: OutputPath,
    /// What brings the shards to machines
    #[arg(long, value_enum, default_value_t)]
    pub engine: Engine,
    /// So many threads, and processors of the engine, for each shard
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    pub threads: NonZeroUsize,
    /// No note of what was written
    #[arg(long, short)]
    pub quiet: bool,
}

/// Of a command that can be done in shards.
#[derive(Args, Debug)]
pub struct ShardArguments {
    /// Only the M-th of N shards: hash:M/N, M from 1 to N
    #[arg(long, value_name = "hash:M/N", requires = "store")]
    pub partition: Option<Partition>,
    /// Keep the results in this file too, for `merge`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub store: Option<OutputPath>,
    /// Refuse, where the plan has another hash than that for which tasks were written
    #[arg(long, value_name = "HASH")]
    pub plan: Option<String>,
}

/// Of `mutate merge` and `compare merge`.
#[derive(Args, Debug)]
pub struct JoinArguments {
    /// What the shards have kept with `--store`
    #[arg(value_name = "PART", required = true)]
    pub shards: Vec<PathBuf>,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Of the summary the counts, a line each
    #[arg(long, short)]
    pub quiet: bool,
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
    /// Refuse, where the campaign's plan has another hash
    #[arg(long, value_name = "HASH", requires = "campaign")]
    pub plan: Option<String>,
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
