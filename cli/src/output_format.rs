//! The form in which a command answers.

use clap::ValueEnum;

/// The form of what goes to standard output: for people, or one JSON document, of which only `seconds` differ
/// between two runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
#[expect(
    missing_docs,
    reason = "clap would print documented values at length, and no --help would fit a screen"
)]
pub enum OutputFormat {
    #[default]
    Human,
    Json,
}
