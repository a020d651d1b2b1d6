//! Reads the parts of a path-guided test case, and makes it. The parts are a path, a time after which silence
//! is a fact, and a timed model, or a configuration that names a model and may have the time.

use std::path::{Path, PathBuf};

use coreach_model::diagnostic::Diagnostic;
use coreach_model::number;
use coreach_model::reader::{load, read_timed_specification};
use coreach_model::timed::Timed;
use coreach_model::{TransitionId, Value};
use coreach_pipeline::timed::rules::Rule;
use coreach_pipeline::timed::{
    PathGuided, PathStop, RuleCounts, SilenceAfter, TimedOptions, context_name, path_guided, resolve,
};
use serde_json::{Map, Value as Json, json};

use crate::configuration::load_configuration;
use crate::file_kind::{FileKind, load_text_of};

/// The word for a time that is a constant of the test case.
pub const SYMBOLIC: &str = "symbolic";

pub struct PathRequest {
    pub timed: Timed,
    pub path: Vec<TransitionId>,
    pub silence_after: SilenceAfter,
}

/// Reads the model or the configuration, the path, and the time. Also returns the warnings.
///
/// # Errors
/// A file or the path has mistakes, or there is no time.
pub fn read_request(
    path: &Path,
    steps: &str,
    time: Option<&SilenceAfter>,
) -> Result<(PathRequest, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (specification, time_in_file, mut warnings) =
        match load_text_of(path, &[FileKind::Specification, FileKind::Configuration])?.0 {
            FileKind::Configuration => {
                let (configuration, warnings) = load_configuration(path)?;
                let silence_after = configuration.timed.map(|timed| timed.silence_after);
                (configuration.specification.path, silence_after, warnings)
            }
            _ => (path.to_owned(), None, Vec::new()),
        };
    let model = load(&specification).map_err(|found| vec![found])?;
    let (read, more) = read_timed_specification(model)?;
    warnings.extend(more);
    let configured = time_in_file.and_then(|value| match value {
        Value::Real(time) => Some(SilenceAfter::Time(time)),
        _ => None,
    });
    let Some(silence_after) = time.cloned().or(configured) else {
        let found = Diagnostic::error("silence-after", "the time after which silence is a fact is missing");
        let help = "add `--tm 5`, a time in the model's unit; or `--tm symbolic`, which makes it a constant; or give a configuration with `timed: { silence_after: 5 }`";
        return Err(vec![found.help(help)]);
    };
    let path = resolve(&read.timed, steps).map_err(|stop| vec![stop.to_diagnostic()])?;
    Ok((PathRequest { timed: read.timed, path, silence_after }, warnings))
}

/// Reads a time, or the word for a constant.
pub fn parse_time(text: &str) -> Result<SilenceAfter, String> {
    if text == SYMBOLIC {
        return Ok(SilenceAfter::Constant);
    }
    let time = number::real(text, number::WIRE_DIGITS);
    time.map(SilenceAfter::Time)
        .map_err(|_| format!("expected a time, for example `5` or `2.5`, or `{SYMBOLIC}`"))
}

pub fn make(
    wanted: &PathRequest,
    published: bool,
    check: bool,
    solver: &mut dyn coreach_analyses::solver::Solver,
) -> Result<PathGuided, PathStop> {
    let options = TimedOptions { silence_after: wanted.silence_after.clone(), published, check };
    path_guided(&wanted.timed, &wanted.path, &options, solver)
}

/// Makes the document of a path-guided test case (`docs/path.schema.json`). Context n is where a run is
/// before step n of the path, from 0. Idle transitions can never be taken, so the test case lacks them.
pub fn make_document(wanted: &PathRequest, made: &PathGuided, files: &[PathBuf], exit_code: u8) -> Json {
    let counted = |counts: &std::collections::BTreeMap<Rule, usize>| -> Map<String, Json> {
        counts.iter().map(|(rule, count)| (rule.to_string(), json!(count))).collect()
    };
    let context = |(at, counts): (usize, &RuleCounts)| {
        let location = &wanted.timed.graph().transitions[wanted.path[at]].source;
        json!({
            "name": context_name(at),
            "location": wanted.timed.graph().location(*location).name,
            "step": wanted.timed.called(wanted.path[at]),
            "made": counted(&counts.made),
            "idle": counted(&counts.idle),
        })
    };
    let contexts: Vec<Json> = made.counts.iter().enumerate().map(context).collect();
    json!({
        "format_version": 2,
        "exit_code": exit_code,
        "specification": made.iosts.name,
        "silence_after": made.timing.silence_after.to_string(),
        "transitions": made.by_rules(),
        "late": made.counts.iter().map(|counts| counts.late).sum::<usize>(),
        "contexts": contexts,
        // The document counts the steps of the path from 1.
        "unseen": made.unseen.iter().map(|at| at + 1).collect::<Vec<_>>(),
        "imprecisions": made.imprecisions,
        "files": files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
    })
}
