//! `coreach timed drive`: sends a timed input sequence to a system, and records what comes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use coreach_execution::offline::sequence::SeqItem;
use coreach_execution::offline::write::{SequenceWriter, TraceForm, write_sequence};
use coreach_execution::outcome::cause_and_detail;
use coreach_execution::recording::Recording;
use coreach_execution::run::Cause;
use coreach_execution::timed::micros_up;
use coreach_execution::{Outcome, OutcomeKind, Verdict};
use coreach_model::limits::FEW_SHOWN;
use coreach_model::lock::lock;
use coreach_project::budget;
use coreach_project::timed::drive::{Driven, make_document};
use coreach_project::timed::{constants, load};
use serde_json::Value as Json;

use super::super::{CommandAnswer, CommandResult, plural};
use crate::answer::{TraceFormat, is_json};
use crate::certain_end;
use crate::console;
use crate::exit::Exit;
use crate::progress::ProgressLine;
use crate::timed_arguments::DriveArguments;

/// Sends the inputs to the system, and records what it does.
pub fn drive(arguments: &DriveArguments) -> CommandResult {
    let read = budget::reading(|| {
        let (model, mut warnings) = load(&arguments.model)?;
        let constants = constants(&model.timed, &arguments.constant)?;
        let (driven, input_warnings) =
            Driven::read(&model, constants, &arguments.inputs, &arguments.iut, arguments.wait)?;
        warnings.extend(input_warnings);
        Ok((model, driven, warnings))
    });
    let (model, driven, warnings) = read?;
    console::draw(&warnings);
    let graph = model.timed.graph();
    let driven = Arc::new(driven);
    let is_json = is_json();
    let trace: Arc<Mutex<Vec<SeqItem>>> = Arc::default();
    let trace_lines = {
        let (trace, graph) = (trace.clone(), graph.clone());
        move || -> Vec<Json> {
            let all = write_sequence(&graph, &lock(&trace), TraceForm::JsonLines);
            all.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
        }
    };
    if is_json {
        let (driven, trace_lines) = (driven.clone(), trace_lines.clone());
        certain_end::tell_at_end(move |exit_code, _| {
            console::document_text(&make_document(&driven, None, trace_lines(), exit_code))
        });
    }
    let form = if arguments.format == TraceFormat::JsonLines { TraceForm::JsonLines } else { TraceForm::Csv };
    let mut writer = SequenceWriter::new(graph, console::StandardOutput, form);
    let progress = ProgressLine::start(driven.inputs.len(), true);
    // Each item is written at once, so that an early end of the program loses none.
    let recording = driven.drive(arguments.seed, &mut |item| {
        if let SeqItem::Event(action, _) = &item {
            progress.says(graph.action(*action).name.clone());
        }
        if is_json {
            lock(&trace).push(item);
        } else {
            // A write error is reported at the end.
            let _ = writer.put(&item);
        }
    });
    drop(progress);
    let exit = exit_of_recording(&recording);
    if !is_json {
        writer.end()?;
    }
    let document = || make_document(&driven, Some(&recording), trace_lines(), exit.code());
    let mut answer = CommandAnswer::new(exit, document, String::new);
    add_remarks(&mut answer, &recording);
    Ok(answer)
}

fn exit_of_recording(recording: &Recording) -> Exit {
    match recording.run.outcome.kind() {
        kind @ (OutcomeKind::RunError | OutcomeKind::Verdict(Verdict::Fail)) => Exit::of(kind),
        _ if recording.is_whole && recording.unsent == 0 => Exit::Fine,
        _ => Exit::Incomplete,
    }
}

/// Remarks on the counts, on late and missing inputs, and on why the trace has ended.
fn add_remarks(answer: &mut CommandAnswer, recording: &Recording) {
    let seconds = |time| Duration::from_micros(micros_up(time)).as_secs_f64();
    let seen = recording.run.trace.len() - recording.sent;
    let sent = plural(recording.sent, "input");
    answer.remark(format!("{sent} sent, {} seen", plural(seen, "event")));
    for (number, time) in recording.late_stimuli.iter().take(FEW_SHOWN) {
        answer.remark(format!("warning: input {number} was sent {:.3} s late", seconds(time)));
    }
    if recording.late_stimuli.len() > FEW_SHOWN {
        answer.remark(format!("warning: {} more were late", recording.late_stimuli.len() - FEW_SHOWN));
    }
    if recording.unsent > 0 {
        answer.remark(format!("error: {} not sent", plural(recording.unsent, "input")));
    }
    if recording.was_deaf {
        answer.remark(
            "warning: coreach could not listen to the system at all times: there may be outputs that the trace does not show",
        );
    }
    match &recording.run.outcome {
        _ if recording.is_whole => {}
        Outcome::RunError(failure) => {
            answer.remark(format!("error: {failure}; the trace ends with its last event"));
        }
        Outcome::Verdict(_, Cause::Alien(text)) => {
            answer.remark(format!("error: no event of the model came: {text}; the trace ends before it"));
        }
        outcome => {
            let (name, detail) = cause_and_detail(outcome);
            answer.remark(format!("ended by {name}: {detail}; the trace ends with its last event"));
        }
    }
}
