//! The arguments of the commands that an installation runs once: completions for a shell, manual pages.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

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
    /// Write a page for each command into this folder [default: the page of coreach itself, to standard output]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}
