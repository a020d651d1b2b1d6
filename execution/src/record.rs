//! A run as a JSON document: what a campaign keeps, what `coreach test --format json` prints, what `coreach replay` and
//! `coreach explain` read.
//!
//! The document is self-sufficient: constants, seed, trace, verdict and the reason in words. Values are written by
//! [`crate::codec`]; reading back needs the test case, for the types. Everything but `seconds` and `at_ms` is a function
//! of test case, constants, seed and what the implementation did.

use std::time::Duration;

use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::adapter::Failure;
use crate::codec;
use crate::explain::{Reason, reason};
use crate::initial::NoState;
use crate::json;
use crate::lazy::Lazy;
use crate::run::{Cause, Direction, Outcome, Run, Step};
use crate::test_case::TestCase;
use crate::tester::{initial, take};
use crate::values::Source;

/// The version of the document's format: raised when a reader could stumble, not when a key is added.
pub const FORMAT_VERSION: u32 = 1;

/// A run as it is written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The test case's name.
    pub test_case: String,
    /// The constants' values by name.
    pub constants: Map<String, Json>,
    /// The seed of all choices.
    pub seed: u64,
    /// `Pass`, `Inconclusive`, `Fail` or `RunError`.
    pub verdict: String,
    /// Why, as a word: `event`, `alien`, `silence`, `nothing_to_do`, `steps`, `time`, `ended`, or a failure's name.
    pub cause: String,
    /// What belongs to the cause: milliseconds, a number of steps, a text.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub detail: Json,
    /// Why, in words.
    pub reason: ReasonRecord,
    /// The events.
    pub trace: Vec<StepRecord>,
    /// Where the stimuli's values came from, and how often.
    pub mix: Map<String, Json>,
    /// How long it took.
    pub seconds: f64,
}

/// [`Reason`] as it is written.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct ReasonRecord {
    /// One sentence.
    pub summary: String,
    /// The label of the location.
    pub location: String,
    /// The event that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Guards that decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<GuardRecord>,
    /// What would have led on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
}

/// [`crate::explain::Guard`] as it is written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GuardRecord {
    /// The transition.
    pub transition: String,
    /// The conjunct.
    pub part: String,
    /// Whether it held.
    pub holds: bool,
    /// The values in it.
    pub values: Map<String, Json>,
}

/// [`Step`] as it is written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StepRecord {
    /// `stimulus` or `observation`.
    pub direction: String,
    /// The action's name.
    pub action: String,
    /// The parameters' values by name.
    pub values: Map<String, Json>,
    /// Milliseconds since the run began.
    pub at_ms: f64,
}

/// The run as a record; `initial` is the state in which it began.
pub fn record(test: &TestCase, initial: State, run: &Run) -> Record {
    let (cause, detail) = cause(&run.outcome);
    Record {
        format_version: FORMAT_VERSION,
        test_case: test.iosts.name.clone(),
        constants: run.constants.iter().map(|(d, v)| (d.name().to_owned(), codec::to_json(v))).collect(),
        seed: run.seed,
        verdict: run.outcome.name().to_owned(),
        cause: cause.to_owned(),
        detail,
        reason: reason_record(reason(test, initial, run)),
        trace: run.trace.iter().map(|step| step_record(test, step)).collect(),
        mix: run.mix.iter().map(|(source, count)| (source.name().to_owned(), Json::from(*count))).collect(),
        seconds: run.time.as_secs_f64(),
    }
}

fn cause(outcome: &Outcome) -> (&'static str, Json) {
    let milliseconds = |time: &Duration| Json::from(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    match outcome {
        Outcome::RunError(failure) => (failure.name(), Json::from(failure.text())),
        Outcome::Verdict(_, cause) => match cause {
            Cause::Event => ("event", Json::Null),
            Cause::Alien(text) => ("alien", Json::from(text.clone())),
            Cause::Silence(time) => ("silence", milliseconds(time)),
            Cause::NothingToDo => ("nothing_to_do", Json::Null),
            Cause::Steps(limit) => ("steps", Json::from(*limit)),
            Cause::Time(time) => ("time", milliseconds(time)),
            Cause::Digits(limit) => ("digits", Json::from(*limit)),
            Cause::Ended => ("ended", Json::Null),
        },
    }
}

fn reason_record(reason: Reason) -> ReasonRecord {
    let guards = reason.guards.into_iter().map(|guard| GuardRecord {
        transition: guard.transition,
        part: guard.part,
        holds: guard.holds,
        values: guard.values.into_iter().map(|(name, value)| (name, Json::from(value))).collect(),
    });
    ReasonRecord {
        summary: reason.summary,
        location: reason.location,
        event: reason.event,
        guards: guards.collect(),
        expected: reason.expected,
    }
}

fn step_record(test: &TestCase, step: &Step) -> StepRecord {
    let direction = match step.direction {
        Direction::Stimulus => "stimulus",
        Direction::Observation => "observation",
    };
    let parameters = test.iosts.find_action(&step.event.action).map(|id| &test.iosts.action(id).parameters);
    let names = parameters.into_iter().flatten().map(|datum| datum.name().to_owned());
    StepRecord {
        direction: direction.to_owned(),
        action: step.event.action.clone(),
        values: names.zip(step.event.values.iter().map(codec::to_json)).collect(),
        at_ms: (step.at.as_secs_f64() * 1e6).round() / 1e3,
    }
}

/// Reads a run's document: strictly ([`crate::json`]), but keys that are none of ours are passed over, for a later version may
/// add some.
///
/// # Errors
/// It is none, or of another version.
pub fn read(bytes: &[u8]) -> Result<Record, String> {
    let record: Record = serde_json::from_value(json::document(bytes)?).map_err(|error| error.to_string())?;
    if record.format_version != FORMAT_VERSION {
        let version = record.format_version;
        return Err(format!("it has format version {version}, this program reads {FORMAT_VERSION}"));
    }
    Ok(record)
}

/// A record that does not fit its test case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit(pub String);

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the run does not fit the test case: {}", self.0)
    }
}

impl std::error::Error for Misfit {}

/// The run that a record tells of, and the state in which it began: its trace is walked through the test case again, and
/// must end as the record says.
///
/// # Errors
/// [`Misfit`]: the test case is another one than that of the run, or the record says what no run leaves.
pub fn restore(test: &TestCase, record: &Record) -> Result<(State, Run), Misfit> {
    let misfit = |text: String| Misfit(text);
    let mut constants = Valuation::new();
    for datum in &test.iosts.constants {
        let json = record.constants.get(datum.name());
        let json = json.ok_or_else(|| misfit(format!("the constant `{datum}` has no value")))?;
        let value = codec::from_json(json, datum.ty()).map_err(|why| misfit(why.to_string()))?;
        constants.insert(datum.clone(), value);
    }
    if record.constants.len() > constants.len() {
        return Err(misfit("it has a value for what is no constant".to_owned()));
    }
    let first = initial(test, &constants, &mut Lazy::default()).map_err(|why| {
        misfit(match why {
            NoState::None => "its constants do not satisfy the initial condition".to_owned(),
            NoState::NotKnown => why.text().to_owned(),
        })
    })?;
    let mut state = first.clone();
    let mut trace = Vec::new();
    for (number, step) in record.trace.iter().enumerate() {
        let event = event(test, step).map_err(|text| misfit(format!("event {}: {text}", number + 1)))?;
        let direction = match step.direction.as_str() {
            "stimulus" => Direction::Stimulus,
            "observation" => Direction::Observation,
            other => return Err(misfit(format!("`{other}` is no direction"))),
        };
        let (transition, next) = take(test, &state, direction, &event).ok_or_else(|| {
            let location = &test.iosts.location(state.location).label;
            misfit(format!("event {}: {event} cannot happen in {location}", number + 1))
        })?;
        state = next;
        let at = seconds(step.at_ms / 1e3)
            .ok_or_else(|| misfit(format!("event {}: `at_ms` is no time", number + 1)))?;
        trace.push(Step { direction, event, transition, at });
    }
    let outcome = outcome(record).map_err(misfit)?;
    if let Outcome::Verdict(verdict, Cause::Event) = outcome
        && test.verdict(state.location) != Some(verdict)
    {
        let location = &test.iosts.location(state.location).label;
        return Err(misfit(format!("its events lead to {location}, which is not {}", verdict.name())));
    }
    let run = Run {
        constants: test.constants_in(&first),
        seed: record.seed,
        outcome,
        end: state,
        trace,
        mix: mix(record).map_err(misfit)?,
        time: seconds(record.seconds).ok_or_else(|| misfit("`seconds` is no time".to_owned()))?,
    };
    Ok((first, run))
}

/// A time as a document states it: not before the beginning, and not without end.
fn seconds(number: f64) -> Option<Duration> {
    /// Three hundred years.
    const MOST: f64 = 1e10;
    let is_time = (0.0..=MOST).contains(&number);
    if is_time { Duration::try_from_secs_f64(number).ok() } else { None }
}

fn event(test: &TestCase, step: &StepRecord) -> Result<Event, String> {
    let action = test.iosts.find_action(&step.action);
    let action = action.ok_or_else(|| format!("no action is called `{}`", step.action))?;
    let parameters = &test.iosts.action(action).parameters;
    let value = |datum: &Datum| {
        let json = step.values.get(datum.name()).ok_or_else(|| format!("`{datum}` has no value"))?;
        codec::from_json(json, datum.ty()).map_err(|why| format!("`{datum}`: {why}"))
    };
    let values: Result<Vec<_>, String> = parameters.iter().map(value).collect();
    if step.values.len() > parameters.len() {
        return Err(format!("a value for what is no parameter of `{}`", step.action));
    }
    Ok(Event::new(step.action.clone(), values?))
}

fn outcome(record: &Record) -> Result<Outcome, String> {
    let wrong = |what: &str| format!("`detail` of the cause `{}` must be {what}", record.cause);
    let text = || record.detail.as_str().map(str::to_owned).ok_or_else(|| wrong("a text"));
    let number = || record.detail.as_u64().ok_or_else(|| wrong("a whole number"));
    let time = || number().map(Duration::from_millis);
    if record.verdict == "RunError" {
        let failure = match record.cause.as_str() {
            "start" => Failure::Start(text()?),
            "lost" => Failure::Lost(text()?),
            "garbage" => Failure::Garbage(text()?),
            "stuck" => Failure::Stuck(text()?),
            "flood" => Failure::Flood(text()?),
            "untranslatable" => Failure::Untranslatable(text()?),
            other => return Err(format!("`{other}` is no cause of a run error")),
        };
        return Ok(Outcome::RunError(failure));
    }
    let verdict = Verdict::ALL.into_iter().find(|verdict| verdict.name() == record.verdict);
    let verdict = verdict.ok_or_else(|| format!("`{}` is no verdict", record.verdict))?;
    let cause = match record.cause.as_str() {
        "event" => Cause::Event,
        "alien" => Cause::Alien(text()?),
        "silence" => Cause::Silence(time()?),
        "nothing_to_do" => Cause::NothingToDo,
        "steps" => Cause::Steps(usize::try_from(number()?).map_err(|_| wrong("a number of events"))?),
        "time" => Cause::Time(time()?),
        "digits" => Cause::Digits(usize::try_from(number()?).map_err(|_| wrong("a number of digits"))?),
        "ended" => Cause::Ended,
        other => return Err(format!("`{other}` is no cause of a verdict")),
    };
    let fits = match cause {
        Cause::Event => true,
        Cause::Alien(_) => verdict == Verdict::Fail,
        _ => verdict == Verdict::Inconclusive,
    };
    if !fits {
        return Err(format!("the cause `{}` never ends in {}", record.cause, record.verdict));
    }
    Ok(Outcome::Verdict(verdict, cause))
}

fn mix(record: &Record) -> Result<std::collections::BTreeMap<Source, usize>, String> {
    let one = |(name, value): (&String, &Json)| {
        let source = Source::ALL.into_iter().find(|source| source.name() == name);
        let source = source.ok_or_else(|| format!("`{name}` is no source of values"))?;
        let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
        Ok((source, count.ok_or_else(|| format!("`mix` has no count for `{name}`"))?))
    };
    record.mix.iter().map(one).collect()
}
