//! A run as a JSON document. A campaign keeps it, `coreach test --format json` prints it, `coreach replay`
//! and `coreach explain` read it.
//!
//! The document is self-sufficient: constants, seed, trace, verdict and the reason in words. Values are
//! written by [`coreach_model::codec`]; reading them back needs the test case, for the types. Everything but
//! `seconds`, `at_ms`, `wire` and `teardown` is a function of test case, constants, seed and the
//! implementation's behaviour.

use std::collections::BTreeMap;

use coreach_adapters::Teardown;
use coreach_adapters::description::Link;
use coreach_adapters::evidence::EvidenceItem;
use coreach_model::iosts::Iosts;
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Verdict, codec, json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::bucket::Bucket;
use crate::explain::{Reason, explain_end};
use crate::initial::{self, NoState};
use crate::judge::{self, Judge, Judged};
use crate::lazy::Lazy;
use crate::outcome::{self, OutcomeKind};
use crate::run::{Cause, Occurrence, Outcome, Run, RunStep};
use crate::shrink::told::ShrunkRecord;
use crate::test_case::TestCase;
use crate::timed::timing::Timing;
use crate::times::{milliseconds, seconds};
use crate::values::Pick;
use crate::wire;

/// The version of the format. It is raised when an older reader could misread a document.
pub const FORMAT_VERSION: u32 = 2;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    pub test_case: String,
    pub constants: Map<String, Json>,
    pub seed: u64,
    pub verdict: OutcomeKind,
    /// The cause, as a word of [`crate::outcome`].
    pub cause: String,
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub detail: Json,
    pub reason: Reason,
    /// The failure, or how the run went. Records of older versions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket: Option<Bucket>,
    pub trace: Vec<StepRecord>,
    /// The sources of the stimuli's values, and how often each was used.
    pub mix: BTreeMap<Pick, usize>,
    /// The delay in milliseconds of the link that the judge looked at, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_ms: Option<f64>,
    /// If there were several connections: for each action, the number of its connection.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub over: BTreeMap<String, usize>,
    /// How many observations have crossed stimuli.
    #[serde(default, skip_serializing_if = "wire::is_zero")]
    pub crossed: usize,
    /// The wait after the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teardown: Option<Teardown>,
    /// How it was found, if it is the result of shrinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<ShrunkRecord>,
    /// The number of attempts before this one that ended without a verdict.
    #[serde(default, skip_serializing_if = "wire::is_zero")]
    pub retried: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    #[serde(default, with = "wire", skip_serializing_if = "Vec::is_empty")]
    pub wire: Vec<EvidenceItem>,
    pub seconds: f64,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StepRecord {
    /// `stimulus` or `observation` for an event; `silence` or `delay` otherwise.
    pub direction: String,
    /// The action's name, for an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The parameters' values by name, for an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Map<String, Json>>,
    /// How many milliseconds silence or a delay lasted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// Milliseconds since the run began.
    pub at_ms: f64,
}

impl StepRecord {
    pub fn is_delay(&self) -> bool {
        self.action.is_none()
    }
}

/// Makes the record of a run. The judge explains the end of the run.
pub fn make_record(judge: &mut dyn Judge, run: &Run) -> Record {
    let (cause, detail) = outcome::cause_and_detail(&run.outcome);
    let (reason, bucket) = explain_end(judge, run);
    let iosts = judge.iosts();
    Record {
        format_version: FORMAT_VERSION,
        test_case: iosts.name.clone(),
        constants: run.constants.iter().map(|(d, v)| (d.name().to_owned(), codec::to_json(v))).collect(),
        seed: run.seed,
        verdict: run.outcome.kind(),
        cause: cause.to_owned(),
        detail,
        reason,
        bucket: Some(bucket),
        trace: run.trace.iter().map(|step| step_record(iosts, step)).collect(),
        mix: run.mix.clone(),
        link_ms: run.link.as_ref().and_then(Link::delay).map(milliseconds),
        over: run.link.as_ref().map(|link| link.actions().clone()).unwrap_or_default(),
        crossed: run.crossed,
        teardown: run.teardown.clone(),
        shrunk: None,
        retried: run.retried,
        timing: run.timing,
        wire: run.wire.clone(),
        seconds: run.time.as_secs_f64(),
    }
}

/// Writes a step, with the parameters' values by name.
fn step_record(iosts: &Iosts, step: &RunStep) -> StepRecord {
    let (direction, lasted) = match &step.what {
        Occurrence::Stimulus(_) => ("stimulus", None),
        Occurrence::Observation(_) => ("observation", None),
        Occurrence::Silence(time) => ("silence", Some(*time)),
        Occurrence::Delay(time) => ("delay", Some(*time)),
    };
    let event = step.what.event();
    let values = |event: &Event| {
        let parameters = iosts.find_action(&event.action).map(|id| &iosts.action(id).parameters);
        let names = parameters.into_iter().flatten().map(|datum| datum.name().to_owned());
        names.zip(event.values.iter().map(codec::to_json)).collect()
    };
    StepRecord {
        direction: direction.to_owned(),
        action: event.map(|event| event.action.clone()),
        values: event.map(values),
        ms: lasted.map(milliseconds),
        at_ms: milliseconds(step.at),
    }
}

/// Reads a run's document: strictly ([`coreach_model::json`]), but unknown keys are ignored.
///
/// # Errors
/// The document is no record, or has another version.
pub fn read_record(bytes: &[u8]) -> Result<Record, String> {
    let record: Record = serde_json::from_value(json::document(bytes)?).map_err(|error| error.to_string())?;
    if record.format_version != FORMAT_VERSION {
        let version = record.format_version;
        return Err(format!("it has format version {version}, this program reads {FORMAT_VERSION}"));
    }
    Ok(record)
}

/// Restores the run of a record, and the state in which it began. The trace is followed through the test case
/// again, and must end as the record says.
///
/// # Errors
/// The test case is another one than that of the run, or the record says something that no run leaves.
pub fn restore_run(test: &TestCase, record: &Record) -> Result<(State, Run), String> {
    let first = restore_first_state(test, record)?;
    let link = restore_link(record)?;
    let outcome =
        outcome::read_outcome(record.verdict, &record.cause, &record.detail).map_err(|why| misfit(&why))?;
    // A walk may go on after a silence that another run fails for.
    let silence_fails = matches!(outcome, Outcome::Verdict(Verdict::Fail, Cause::Silence(_)));
    let mut judge = judge::make_judge_with(test, first.clone(), link.clone(), silence_fails);
    let mut trace = Vec::new();
    for (number, step) in record.trace.iter().enumerate() {
        let wrong = |text: &str| misfit(&format!("event {}: {text}", number + 1));
        let what = read_occurrence(&test.iosts, step).map_err(|why| wrong(&why))?;
        let place = judge.shown().place;
        let Judged::Followed(transition) = judge.take(&what) else {
            return Err(wrong(&format!("{what} cannot happen in {place}")));
        };
        let at = seconds(step.at_ms / 1e3).ok_or_else(|| wrong("`at_ms` is no time"))?;
        trace.push(RunStep { what, transition, at });
    }
    if let Outcome::Verdict(Verdict::Fail, Cause::Silence(time)) = outcome
        && !matches!(judge.take(&Occurrence::Silence(time)), Judged::Ends(Verdict::Fail, _))
    {
        let location = judge.shown().place;
        return Err(misfit(&format!("it failed for silence in {location}, where the test case allows that")));
    }
    if let Outcome::Verdict(verdict, Cause::Event) = outcome
        && judge.verdict() != Some(verdict)
    {
        let location = judge.shown().place;
        return Err(misfit(&format!("its events lead to {location}, which is not {}", verdict.name())));
    }
    if judge.crossed() != record.crossed {
        return Err(misfit(&format!(
            "{} of its observations have crossed, not {}",
            judge.crossed(),
            record.crossed
        )));
    }
    let run = Run {
        constants: judge.constants(),
        seed: record.seed,
        outcome,
        end: judge.shown(),
        trace,
        mix: record.mix.clone(),
        link,
        crossed: record.crossed,
        teardown: record.teardown.clone(),
        retried: record.retried,
        timing: record.timing,
        wire: record.wire.clone(),
        time: seconds(record.seconds).ok_or_else(|| misfit("`seconds` is no time"))?,
    };
    Ok((first, run))
}

fn misfit(why: &str) -> String {
    format!("the run does not fit the test case: {why}")
}

/// Restores the state in which a run began, from the constants of its record.
fn restore_first_state(test: &TestCase, record: &Record) -> Result<State, String> {
    let mut constants = Valuation::new();
    for datum in &test.iosts.constants {
        let json = record.constants.get(datum.name());
        let json = json.ok_or_else(|| misfit(&format!("the constant `{datum}` has no value")))?;
        let value = codec::from_json(json, datum.ty()).map_err(|why| misfit(&why.to_string()))?;
        constants.insert(datum.clone(), value);
    }
    if record.constants.len() > constants.len() {
        return Err(misfit("it has a value for something that is not a constant"));
    }
    initial::first(&test.iosts, &constants, &mut Lazy::default()).map_err(|why| match why {
        NoState::None => misfit("its constants do not satisfy the initial condition"),
        NoState::SolverUndecided => misfit(why.text()),
    })
}

/// Restores the link that the judge of a run looked at, if it did.
fn restore_link(record: &Record) -> Result<Option<Link>, String> {
    let time = |ms: f64| seconds(ms / 1e3).ok_or_else(|| misfit("`link_ms` is no time"));
    let delay = record.link_ms.map(time).transpose()?;
    if record.over.values().any(|number| *number >= record.over.len()) {
        return Err(misfit("`over` is no numbering of connections"));
    }
    let is_link = delay.is_some() || !record.over.is_empty();
    Ok(is_link.then(|| Link::over(record.over.clone()).with_delay(delay)))
}

/// Reads the step of a record, for a system with these actions.
pub fn read_occurrence(iosts: &Iosts, step: &StepRecord) -> Result<Occurrence, String> {
    let lasted = || step.ms.and_then(|ms| seconds(ms / 1e3)).ok_or_else(|| "`ms` is no time".to_owned());
    match step.direction.as_str() {
        "stimulus" => Ok(Occurrence::Stimulus(read_event(iosts, step)?)),
        "observation" => Ok(Occurrence::Observation(read_event(iosts, step)?)),
        "silence" => Ok(Occurrence::Silence(lasted()?)),
        "delay" => Ok(Occurrence::Delay(lasted()?)),
        other => Err(format!("`{other}` is no direction")),
    }
}

/// Reads the event of a step, with the values in the order of the parameters.
fn read_event(iosts: &Iosts, step: &StepRecord) -> Result<Event, String> {
    let name = step.action.as_deref().ok_or("it has no `action`")?;
    let given = step.values.as_ref().ok_or("it has no `values`")?;
    let action = iosts.find_action(name).ok_or_else(|| format!("no action is called `{name}`"))?;
    let parameters = &iosts.action(action).parameters;
    let value = |datum: &Datum| {
        let json = given.get(datum.name()).ok_or_else(|| format!("`{datum}` has no value"))?;
        codec::from_json(json, datum.ty()).map_err(|why| format!("`{datum}`: {why}"))
    };
    let values: Result<Vec<_>, String> = parameters.iter().map(value).collect();
    if given.len() > parameters.len() {
        return Err(format!("a value for something that is not a parameter of `{name}`"));
    }
    Ok(Event::new(name.to_owned(), values?))
}
