//! Work in shards for an engine: what it needs as files that can be read.
//!
//! **Problem.** Work that does not fit one machine is split by a hash (`--partition`) and put together again
//! (`merge`). To bring the shards to machines, to know which of these live, and to begin again what died with
//! one is what engines are made for (HyperQueue, Snakemake, or `xargs`), each with commands of its own.
//!
//! **Method.** No engine is driven from here. A folder gets three scripts of a few lines: `shard` does one
//! shard, `merge` puts all together, and `submit` hands the shards to the engine, waits, and merges. All that
//! must hold, whatever engine and file system there are, is in `shard`: it works in a folder of its own on
//! the machine where it runs, and its result takes its place by a rename. So a shard that is done twice,
//! also at the same time since a machine was taken for dead, is there once; one that was killed was never
//! there; and no lock of a network's file system is trusted. A verdict is no failure of a shard: an engine
//! would do it again.
//!
//! **Names** of users' files may be anything that a file system takes. They stand in `shard` and `merge`
//! only, each in single quotes; the engines' files name nothing but these two.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use coreach_model::Diagnostic;

use crate::outputs::{OutputForm, ToWrite, outputs};
use crate::shard_arguments::{Engine, TasksArguments};
use crate::write::write;

/// The most shards: their names have four digits, and all of them must fit one command line.
const MOST: usize = 9999;

/// A shard is given up after it has taken so many machines with it.
const CRASHES: &str = "10";

/// What is to be done in shards.
pub struct Work<'a> {
    /// What it is called in the scripts: `the campaign nightly`. It is put into comments.
    pub title: String,
    /// A name for the engine: letters, digits, `_`, `-`, `.`.
    pub name: &'a str,
    /// How the name of a shard's result ends.
    pub ending: &'static str,
    /// The command of one shard, in the shell's words: `$shard` and `$work/shard` are there.
    pub command: Vec<u8>,
    /// The command that puts the shards together, likewise.
    pub merge: Vec<u8>,
    /// The exit codes of a shard that is there.
    pub done: &'static [u8],
    /// What has to be the same for the shards to be those of one whole.
    pub plan: String,
}

/// Why there are no scripts.
pub enum TasksError {
    /// The user's mistakes.
    Refused(Vec<Diagnostic>),
    /// A file cannot be written.
    Unwritten(PathBuf, io::Error),
}

/// Writes the scripts.
///
/// # Errors
/// [`TasksError`]
pub fn write_tasks(arguments: &TasksArguments, work: &Work<'_>) -> Result<(), TasksError> {
    let refused = |diagnostic| TasksError::Refused(vec![diagnostic]);
    let shards = arguments.shards.get();
    if shards > MOST {
        let message = format!("{shards} shards are too many: at most {MOST} are written");
        let help = "larger shards cost an engine less; how many runs a store takes is in docs/machines.md";
        return Err(refused(Diagnostic::error("too-many-shards", message).help(help)));
    }
    let program = std::env::current_exe().map_err(|error| {
        refused(Diagnostic::error("no-program", format!("it is not known where coreach is: {error}")))
    })?;
    let (shards, threads) = (shards.to_string(), arguments.threads.to_string());
    let done: Vec<String> = work.done.iter().map(u8::to_string).collect();
    let done = done.join(" | ");
    let known: [(&str, &[u8]); 11] = [
        ("TITLE", work.title.as_bytes()),
        ("NAME", work.name.as_bytes()),
        ("SHARDS", shards.as_bytes()),
        ("THREADS", threads.as_bytes()),
        ("CRASHES", CRASHES.as_bytes()),
        ("ENDING", work.ending.as_bytes()),
        ("DONE", done.as_bytes()),
        ("COREACH", &quoted(program.as_os_str())),
        ("COMMAND", &work.command),
        ("MERGE", &work.merge),
        ("PLAN", work.plan.as_bytes()),
    ];
    let engine: &[(&str, &str)] = match arguments.engine {
        Engine::Hyperqueue => &[
            ("submit", include_str!("tasks/hyperqueue.sh")),
            ("submit.py", include_str!("tasks/hyperqueue.py")),
        ],
        Engine::Snakemake => {
            &[("submit", include_str!("tasks/snakemake.sh")), ("Snakefile", include_str!("tasks/Snakefile"))]
        }
        Engine::Shell => &[("submit", include_str!("tasks/shell.sh"))],
    };
    let all = [
        ("shard", include_str!("tasks/shard.sh")),
        ("merge", include_str!("tasks/merge.sh")),
        ("plan", "@PLAN@\n"),
    ];
    let folder = arguments.out.to_path_buf();
    let files: Vec<(PathBuf, Vec<u8>)> =
        all.iter().chain(engine).map(|(name, text)| (folder.join(name), filled(text, &known))).collect();
    let wanted: Vec<ToWrite> =
        files.iter().map(|(path, _)| ToWrite::new("--out", path, OutputForm::Tasks)).collect();
    let outputs = outputs(&wanted).map_err(TasksError::Refused)?;
    for place in [folder.clone(), folder.join("shards"), folder.join("log")] {
        std::fs::create_dir_all(&place).map_err(|error| TasksError::Unwritten(place, error))?;
    }
    files.into_iter().zip(outputs).try_for_each(|((path, text), output)| {
        // An engine that goes by times of files must not do again what has not changed.
        if std::fs::read(&path).is_ok_and(|known| known == text) {
            return Ok(());
        }
        write(&output, text).map_err(|error| TasksError::Unwritten(path, error))
    })
}

/// The template with its names filled in; what is filled in is not looked at again.
fn filled(template: &str, known: &[(&str, &[u8])]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('@') {
        text.extend_from_slice(before.as_bytes());
        let named = |(name, value): &(&str, &[u8])| {
            Some((value.to_vec(), after.strip_prefix(name)?.strip_prefix('@')?))
        };
        let (value, behind) = known.iter().find_map(named).unwrap_or((b"@".to_vec(), after));
        text.extend(value);
        rest = behind;
    }
    text.extend_from_slice(rest.as_bytes());
    text
}

/// A word of the shell that stands for exactly these bytes.
pub fn quoted(word: &OsStr) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => quoted.extend_from_slice(br"'\''"),
            other => quoted.push(*other),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// The same for a path that will be read in another folder.
///
/// # Errors
/// The current folder is not known.
pub fn quoted_path(path: &Path) -> io::Result<Vec<u8>> {
    std::path::absolute(path).map(|path| quoted(path.as_os_str()))
}
