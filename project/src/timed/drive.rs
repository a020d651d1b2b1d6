//! Drives a system along a timed input sequence, and makes a document of the recording.

use std::path::Path;
use std::time::Duration;

use coreach_adapters::Iut;
use coreach_adapters::times::milliseconds;
use coreach_execution::offline::sequence::{SeqItem, time_text, total_duration};
use coreach_execution::recording::{Recording, case_that_takes_all, send_and_record as record_run};
use coreach_execution::timed::micros_up;
use coreach_execution::{Settings, TestCase, open as open_system, outcome};
use coreach_model::Diagnostic;
use coreach_model::term::evaluate::Valuation;
use serde_json::{Value as Json, json};

use super::TimedModel;
use super::trace::{IoSide, open_sequence};
use crate::{budget, iut};

pub struct Driven {
    pub iut: Iut,
    pub inputs: Vec<SeqItem>,
    /// How long the recording goes on after the last input.
    pub wait: Duration,
    test: TestCase,
    constants: Valuation,
}

impl Driven {
    /// Reads the inputs and the system's file. All constants must have values.
    pub fn read(
        model: &TimedModel,
        constants: Valuation,
        inputs: &Path,
        iut: &Path,
        wait: Duration,
    ) -> Result<(Driven, Vec<Diagnostic>), Vec<Diagnostic>> {
        let mut all = model.timed.graph().constants.iter();
        if let Some(open) = all.find(|constant| !constants.contains_key(constant)) {
            let message = format!("the constant `{open}` has no value in this run");
            let help = format!("give the value that the system has: `--constant {open}=VALUE`");
            return Err(vec![Diagnostic::error("open-constant", message).help(help)]);
        }
        let refused = |why| vec![Diagnostic::error("no-recording", why)];
        let test = case_that_takes_all(&model.form).map_err(refused)?;
        let read = read_inputs(model, inputs).map_err(|found| vec![found])?;
        let (iut, warnings) = iut::load(iut, test.wire())?;
        Ok((Driven { iut, inputs: read, wait, test, constants }, warnings))
    }

    /// Drives the system once, and gives each event to `record` as soon as it happens.
    pub fn drive(&self, seed: u64, record: &mut dyn FnMut(SeqItem)) -> Recording {
        let planned = Duration::from_micros(micros_up(&total_duration(&self.inputs)));
        // A system may delay inputs by a minute in all.
        let time = planned.saturating_add(self.wait).saturating_add(Duration::from_secs(60));
        let before = Settings::default().against(&self.iut);
        let settings = Settings { steps: usize::MAX, time: budget::command_time().unwrap_or(time), ..before };
        let mut adapter = open_system(&self.iut);
        let case = (&self.test, self.constants.clone());
        record_run(case, (&self.inputs, self.wait), &settings, adapter.as_mut(), seed, record)
    }
}

fn read_inputs(model: &TimedModel, inputs: &Path) -> Result<Vec<SeqItem>, Diagnostic> {
    open_sequence(&model.timed, inputs, IoSide::Inputs)?
        .map(|placed| placed.map(|placed| placed.item))
        .collect()
}

/// Makes the document. `trace` are the lines of the recording.
pub fn make_document(
    driven: &Driven,
    recording: Option<&Recording>,
    trace: Vec<Json>,
    exit_code: u8,
) -> Json {
    let run = recording.map(|recording| {
        let (cause, detail) = outcome::cause_and_detail(&recording.run.outcome);
        let write_lateness =
            |(number, time): &(usize, _)| json!({ "input": number, "late": time_text(time) });
        json!({
            "whole": recording.is_whole && recording.unsent == 0,
            "end": if recording.is_whole { "wait" } else { cause },
            "detail": if recording.is_whole { Json::Null } else { detail },
            "sent": recording.sent,
            "unsent": recording.unsent,
            "late": recording.late_stimuli.iter().map(write_lateness).collect::<Vec<_>>(),
            "deaf": recording.was_deaf,
            "timing": recording.run.timing,
        })
    });
    json!({
        "format_version": 1,
        "exit_code": exit_code,
        "iut": driven.iut.name,
        "inputs": driven.inputs.iter().filter(|item| matches!(item, SeqItem::Event(..))).count(),
        "wait_ms": milliseconds(driven.wait),
        "run": run,
        "trace": trace,
    })
}
