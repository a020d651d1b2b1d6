//! Opens timed sequences from files, and merges two of them.

use std::io::{BufRead, BufReader, Read, stdin};
use std::path::Path;

use coreach_execution::offline::merge::{MergedTraces, merge_sequences};
use coreach_execution::offline::read::TraceReader;
use coreach_execution::offline::recorded::{constants_of_record, sequence_of_record};
use coreach_execution::offline::sequence::{Placed, SeqItem, is_observed};
use coreach_execution::record;
use coreach_model::Diagnostic;
use coreach_model::file;
use coreach_model::iosts::ActionId;
use coreach_model::term::evaluate::Valuation;
use coreach_model::timed::Timed;

use super::TimedModel;

pub enum IoSide {
    Inputs,
    /// Observed events: outputs, and inputs that come from elsewhere.
    Outputs,
    /// Inputs and outputs, merged or recorded together.
    Both,
}

/// Opens a sequence of events of this model. `-` is standard input.
pub fn open_sequence<'a>(
    timed: &'a Timed,
    path: &Path,
    side: IoSide,
) -> Result<TraceReader<'a, Box<dyn BufRead>>, Diagnostic> {
    let (name, source) = open_source(path)?;
    Ok(read_side(timed, name, source, side))
}

fn open_source(path: &Path) -> Result<(String, Box<dyn BufRead>), Diagnostic> {
    if path == Path::new("-") {
        return Ok(("standard input".to_owned(), Box::new(stdin().lock())));
    }
    let opened = file::open(path).map_err(|error| unreadable(path, &error))?;
    Ok((path.display().to_string(), Box::new(BufReader::with_capacity(1 << 16, opened))))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("unreadable-file", format!("cannot read {}: {error}", path.display()))
}

pub struct RecordedTrace<'a> {
    pub members: Box<dyn Iterator<Item = Result<Placed, Diagnostic>> + 'a>,
    /// The values of constants that a kept run has.
    pub constants: Valuation,
}

/// Opens a recording of this model: a timed sequence, or a run of `test --keep`. `-` is standard input.
///
/// # Errors
/// The file cannot be opened, or is a run of another model.
pub fn open_recording<'a>(model: &'a TimedModel, path: &Path) -> Result<RecordedTrace<'a>, Diagnostic> {
    let (name, mut source) = open_source(path)?;
    let beginning = source.fill_buf().map_err(|error| unreadable(path, &error))?;
    if !is_run(beginning) {
        let members = Box::new(read_side(&model.timed, name, source, IoSide::Both));
        return Ok(RecordedTrace { members, constants: Valuation::new() });
    }
    let mut bytes = Vec::new();
    source.take(file::MOST_DOCUMENT).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    let wrong =
        |why: String| Diagnostic::error("no-timed-run", format!("{name} is not a run of this model: {why}"));
    let record = record::read_record(&bytes).map_err(wrong)?;
    let members = sequence_of_record(&model.form, &record).map_err(wrong)?;
    let constants = constants_of_record(&model.form, &record).map_err(wrong)?;
    Ok(RecordedTrace { members: Box::new(members.into_iter().map(Ok)), constants })
}

/// Is it the beginning of a run's document? The lines of a sequence do not have this key.
fn is_run(beginning: &[u8]) -> bool {
    let inner = beginning.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    inner.is_some_and(|inner| inner.starts_with(b"\"format_version\""))
}

/// Makes a reader that refuses events of the other side.
fn read_side<'a>(
    timed: &'a Timed,
    name: String,
    source: Box<dyn BufRead>,
    side: IoSide,
) -> TraceReader<'a, Box<dyn BufRead>> {
    let reader = TraceReader::new(timed.graph(), name, source);
    let name = |action: ActionId| &timed.graph().action(action).name;
    match side {
        IoSide::Both => reader,
        IoSide::Inputs => reader.of(move |action| match is_observed(timed, action) {
            true => Err(format!("`{}` is not an input that the tester sends", name(action))),
            false => Ok(()),
        }),
        IoSide::Outputs => reader.of(move |action| match is_observed(timed, action) {
            true => Ok(()),
            false => Err(format!("`{}` is an input that the tester sends, not an output", name(action))),
        }),
    }
}

/// Merges two files. Each is read twice, so that nothing is given to `take` before both were checked.
///
/// # Errors
/// A file has mistakes, the outputs end before the inputs, or `take` fails.
pub fn merge<E: From<Diagnostic>>(
    timed: &Timed,
    inputs: &Path,
    outputs: &Path,
    mut take: impl FnMut(SeqItem) -> Result<(), E>,
) -> Result<MergedTraces, E> {
    let both = || -> Result<_, Diagnostic> {
        Ok((open_sequence(timed, inputs, IoSide::Inputs)?, open_sequence(timed, outputs, IoSide::Outputs)?))
    };
    let (first, second) = both()?;
    merge_sequences(first, second, |_| Ok::<(), Diagnostic>(()))?.check()?;
    let (first, second) = both()?;
    let first = first.map(|read| read.map_err(E::from));
    merge_sequences(first, second.map(|read| read.map_err(E::from)), &mut take)
}
