//! The arguments of the commands that an installation runs once: completions for a shell, manual pages.

use clap::{Args, ValueHint};
use clap_complete::Shell;

use crate::outputs::OutputPath;

/// Of `completions`.
#[derive(Args, Debug)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// Of `man`.
#[derive(Args, Debug)]
pub struct ManArguments {
    /// Write a page for each command to this folder [default: print the page of coreach]
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<OutputPath>,
}
