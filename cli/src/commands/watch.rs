//! `coreach watch`: `check` or `run` again whenever a file changes.
//!
//! Each time is a process of its own: its budget is its own, work without end or a crash of ours ends it and
//! not the watch, and nothing is kept from one time to the next. It has our standard streams. An interrupt
//! ends the watch as it ends every command ([`crate::certain_end`]).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use coreach_adapters::marker;
use coreach_execution::interruption::stop_if_ending;
use coreach_project::checked::plural;
use coreach_project::watched::{Changes, MOST, stamps, watched};

use super::{EarlyExit, hindered};
use crate::beginning_arguments::WatchArguments;
use crate::console;
use crate::exit::Exit;

/// Between two looks at the files.
const LOOK: Duration = Duration::from_millis(100);

/// Watches until it is ended. `given` are the arguments that every command takes, as they were given.
pub fn watch(arguments: &WatchArguments, given: &[OsString]) -> Result<Exit, EarlyExit> {
    let mut files: BTreeSet<PathBuf> = arguments.files.iter().cloned().collect();
    let mut changes = Changes::default();
    let mut is_first = true;
    loop {
        if let Some(changed) = changes.look(stamps(&files)) {
            if !is_first {
                let names: Vec<String> = changed.iter().map(|path| path.display().to_string()).collect();
                console::say(&format!("changed: {}", names.join(", ")));
            }
            is_first = false;
            files = watched(&arguments.files, &files);
            // Before the work: what changes meanwhile is seen afterwards.
            changes.know(stamps(&files));
            let mut codes = Vec::new();
            for call in calls(arguments) {
                let started = std::env::current_exe()
                    .and_then(|own| {
                        let mut command = Command::new(own);
                        command.args(given).args(call).stdin(Stdio::null());
                        marker::start(|| command.spawn())
                    })
                    .and_then(|mut child| child.wait());
                match started {
                    Ok(status) => {
                        codes.push(status.code().map_or("none".to_owned(), |code| code.to_string()))
                    }
                    Err(error) => {
                        // Nothing is started when the end has begun: it comes.
                        stop_if_ending();
                        return Err(hindered(format_args!("cannot start coreach: {error}")));
                    }
                }
            }
            let most = if files.len() < MOST { "" } else { ", and no more of them" };
            let code = if codes.len() == 1 { "exit code" } else { "exit codes" };
            let watching = plural(files.len(), "file");
            console::say(&format!("{code} {}; watching {watching}{most}; Ctrl-C ends", codes.join(", ")));
        }
        thread::sleep(LOOK);
    }
}

/// What is done each time: all files are checked together, for they may be about each other; each
/// configuration is run for itself.
fn calls(arguments: &WatchArguments) -> Vec<Vec<OsString>> {
    let files = || arguments.files.iter().map(|file| file.clone().into_os_string());
    match arguments.run {
        true => files().map(|file| vec!["run".into(), "--".into(), file]).collect(),
        false => vec![["check".into(), "--".into()].into_iter().chain(files()).collect()],
    }
}
