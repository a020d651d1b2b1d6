//! Timed sequences from files: opened, read as they come, merged.

use std::io::{BufRead, BufReader, stdin};
use std::path::Path;

use coreach_execution::offline::merge::{Merged, merge as merge_sequences};
use coreach_execution::offline::read::Reader;
use coreach_execution::offline::sequence::{Item, is_observed};
use coreach_model::Diagnostic;
use coreach_model::file;
use coreach_model::iosts::ActionId;
use coreach_model::timed::Timed;

/// Which events a file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// What the tester sent.
    Inputs,
    /// What it saw: outputs, and inputs that come from elsewhere.
    Outputs,
    /// Both, merged or recorded together.
    Both,
}

/// Opens a sequence of events of this model; `-` is standard input.
///
/// # Errors
/// It cannot be opened.
pub fn open<'a>(
    timed: &'a Timed,
    path: &Path,
    side: Side,
) -> Result<Reader<'a, Box<dyn BufRead>>, Diagnostic> {
    let is_standard = path == Path::new("-");
    let name = if is_standard { "standard input".to_owned() } else { path.display().to_string() };
    let source: Box<dyn BufRead> = if is_standard {
        Box::new(stdin().lock())
    } else {
        let opened = file::open(path).map_err(|error| {
            Diagnostic::error("unreadable-file", format!("cannot read {}: {error}", path.display()))
        })?;
        Box::new(BufReader::with_capacity(1 << 16, opened))
    };
    let reader = Reader::new(timed.graph(), name, source);
    let name = |action: ActionId| &timed.graph().action(action).name;
    Ok(match side {
        Side::Both => reader,
        Side::Inputs => reader.of(move |action| match is_observed(timed, action) {
            true => Err(format!("`{}` is nothing that the tester sends", name(action))),
            false => Ok(()),
        }),
        Side::Outputs => reader.of(move |action| match is_observed(timed, action) {
            true => Ok(()),
            false => Err(format!("`{}` is an input that the tester sends", name(action))),
        }),
    })
}

/// Merges two files, each of which is read twice: nothing is given out before both have been seen to be right.
///
/// # Errors
/// Mistakes in either, outputs that were not recorded longer than the inputs take; what `take` says.
pub fn merge<E: From<Diagnostic>>(
    timed: &Timed,
    inputs: &Path,
    outputs: &Path,
    mut take: impl FnMut(Item) -> Result<(), E>,
) -> Result<Merged, E> {
    let both = || -> Result<_, Diagnostic> {
        Ok((open(timed, inputs, Side::Inputs)?, open(timed, outputs, Side::Outputs)?))
    };
    let (first, second) = both()?;
    merge_sequences(first, second, |_| Ok::<(), Diagnostic>(()))?.check()?;
    let (first, second) = both()?;
    let first = first.map(|read| read.map_err(E::from));
    merge_sequences(first, second.map(|read| read.map_err(E::from)), &mut take)
}
