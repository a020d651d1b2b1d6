//! Timed runs against scripted systems: what is a Fail because of time, and what is not.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod failing;
mod sending;

use std::collections::{BTreeMap, VecDeque};
use std::thread;
use std::time::{Duration, Instant};

use coreach_adapters::{Adapter, Failure, Received, Session};
use coreach_artifact::Document;
use coreach_artifact::document::{TEST_CASE, TimedEntry};
use coreach_artifact::write::{WriteTables, write_graph};
use coreach_execution::constants::initial_state;
use coreach_execution::lazy::Lazy;
use coreach_execution::record::{make_record, read_record, restore_run};
use coreach_execution::replay::script_of;
use coreach_execution::run::{Cause, Occurrence};
use coreach_execution::shrink::{Shrink, shrink};
use coreach_execution::test_case::DocumentError;
use coreach_execution::timed::{delay_of, micros_up};
use coreach_execution::{Outcome, Run, Settings, Strategy, TestCase, TestSession, judge};
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::Event;
use coreach_model::{ActionKind, Term, Value, Verdict, number};
use serde_json::{Value as Json, json};

/// A document: `silence_after`, actions as `name kind parameter:type ...`, transitions as
/// `source action target when guard do x := e`.
fn document(silence_after: &str, variables: &[&str], actions: &[&str], transitions: &[&str]) -> Document {
    let data = |list: &[&str]| -> Json {
        list.iter()
            .map(|one| one.split_once(':').map(|(name, ty)| (name.to_owned(), json!(ty))).unwrap())
            .collect()
    };
    let (mut sections, mut uncontrollable, mut silences) = (BTreeMap::new(), Vec::new(), Vec::new());
    for text in actions {
        let words: Vec<&str> = text.split_whitespace().collect();
        let parameters = data(&[&["delay:real"], &words[2..]].concat());
        uncontrollable.extend(words[1].starts_with('~').then_some(words[0]));
        silences.extend((words[1] == "quiescence").then_some(words[0]));
        let section = if words[1].ends_with("input") { "inputs" } else { "outputs" };
        sections.entry(section).or_insert_with(|| json!({}))[words[0]] = parameters;
    }
    let mut names: Vec<&str> = Vec::new();
    let transitions: Vec<Json> = transitions
        .iter()
        .map(|text| {
            let (head, assigned) = text.split_once(" do ").unwrap_or((text, ""));
            let (head, guard) = head.split_once(" when ").unwrap_or((head, "true"));
            let words: Vec<&str> = head.split_whitespace().collect();
            for name in [words[0], words[2]] {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let assign: Json = assigned
                .split(',')
                .filter_map(|one| one.split_once(":="))
                .map(|(name, value)| (name.trim().to_owned(), json!(value.trim())))
                .collect();
            json!({ "from": words[0], "on": words[1], "to": words[2], "when": guard, "assign": assign })
        })
        .collect();
    let variables = data(variables);
    let zero: Vec<String> =
        variables.as_object().unwrap().keys().map(|name| format!("{name} == 0")).collect();
    let condition = if zero.is_empty() { "true".to_owned() } else { zero.join(" && ") };
    let locations: Json = names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
    let mut model = json!({ "iosts": "by_hand", "variables": variables, "locations": locations,
        "initial": { "location": names[0], "condition": condition }, "transitions": transitions });
    for (section, of) in sections {
        model[section] = of;
    }
    let file = from_bytes("by_hand".to_owned(), model.to_string().into_bytes()).unwrap();
    let (specification, _) = read_specification(file).unwrap_or_else(|found| panic!("{found:#?}"));
    let mut tables = WriteTables::default();
    let mut document = write_graph(TEST_CASE, &specification.iosts, &mut tables);
    for action in &mut document.actions {
        if silences.contains(&action.name.as_str()) {
            action.kind = ActionKind::Quiescence;
        }
        action.controllable = uncontrollable.contains(&action.name.as_str()).then_some(false);
    }
    for location in &mut document.locations {
        location.verdict = match location.name.as_str() {
            "Pass" => Some(Verdict::Pass),
            name if name.starts_with("FAIL") => Some(Verdict::Fail),
            name if name.starts_with("INC") => Some(Verdict::Inconclusive),
            _ => None,
        };
    }
    let seconds = Term::literal(Value::Real(number::real(silence_after, 100).unwrap()));
    document.timed =
        Some(TimedEntry { delay: "delay".to_owned(), silence_after: tables.terms.number(&seconds) });
    tables.write(&mut document);
    document
}

fn case(document: &Document) -> TestCase {
    TestCase::from_json(json!(document).to_string().as_bytes()).unwrap()
}

/// The answer must come between `low` and `high` after the question.
fn question(low: &str, high: &str) -> TestCase {
    let inside = format!("Asked Answer Pass when {low} <= delay && delay <= {high} && n == 1");
    let outside = format!("Asked Answer FAILout when !({low} <= delay && delay <= {high} && n == 1)");
    let silent = format!("Asked silence FAILdur when delay > {high}");
    let waiting = format!("Asked silence Asked when delay <= {high}");
    case(&document(
        "0.3",
        &[],
        &["Ask input", "Answer output n:int", "silence quiescence"],
        &[
            "Begin Ask Asked when 0 <= delay && delay <= 0.2",
            "Begin Answer FAILout",
            "Begin silence INCdur",
            &inside,
            &outside,
            &silent,
            &waiting,
        ],
    ))
}

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// Answers so long after the last stimulus, on real time; each answer once.
#[derive(Clone)]
struct Scripted {
    answers: Vec<(Duration, Event)>,
    left: VecDeque<(Duration, Event)>,
    since: Instant,
    /// Does it answer after a stimulus only?
    asked: bool,
}

impl Scripted {
    fn new(answers: &[(u64, &str, &[i64])]) -> Self {
        let event = |(at, name, values): &(u64, &str, &[i64])| {
            (ms(*at), Event::new(*name, values.iter().map(|value| Value::int(*value))))
        };
        let answers = answers.iter().map(event).collect();
        Scripted { answers, left: VecDeque::new(), since: Instant::now(), asked: true }
    }

    fn unasked(self) -> Self {
        Scripted { asked: false, ..self }
    }
}

impl Adapter for Scripted {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        assert!(
            session.iosts.actions.iter().all(|action| action.parameters.iter().all(|p| p.name() != "delay"))
        );
        self.since = Instant::now();
        self.left = if self.asked { VecDeque::new() } else { self.answers.iter().cloned().collect() };
        Ok(())
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        assert!(stimulus.values.iter().all(|value| !matches!(value, Value::Real(_))), "{stimulus}");
        self.since = Instant::now();
        self.left = self.answers.iter().cloned().collect();
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let due = self.left.front().map(|(after, _)| self.since + *after);
        let (wake, comes) = match due {
            Some(due) if due <= until || due <= Instant::now() => (due, true),
            _ => (until, false),
        };
        thread::sleep(wake.saturating_duration_since(Instant::now()));
        let event = comes.then(|| self.left.pop_front()).flatten();
        Ok(event.map_or(Received::Silence, |(_, event)| Received::Output(event)))
    }

    fn stop(&mut self) {}
}

/// The same on a clock of its own: exact.
struct Exact(Scripted, Instant);

impl Adapter for Exact {
    fn now(&self) -> Option<Instant> {
        Some(self.1)
    }

    fn start(&mut self, _session: &Session<'_>) -> Result<(), Failure> {
        self.0.since = self.1;
        self.0.left = if self.0.asked { VecDeque::new() } else { self.0.answers.iter().cloned().collect() };
        Ok(())
    }

    fn send(&mut self, _stimulus: &Event) -> Result<(), Failure> {
        self.0.since = self.1;
        self.0.left = self.0.answers.iter().cloned().collect();
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let due = self.0.left.front().map(|(after, _)| self.0.since + *after);
        match due.filter(|due| *due <= until) {
            Some(due) => {
                self.1 = self.1.max(due);
                Ok(self.0.left.pop_front().map_or(Received::Silence, |(_, event)| Received::Output(event)))
            }
            None => {
                self.1 = self.1.max(until);
                Ok(Received::Silence)
            }
        }
    }

    fn stop(&mut self) {}
}

fn exact(answers: &[(u64, &str, &[i64])]) -> Exact {
    Exact(Scripted::new(answers), Instant::now())
}

fn settings(tolerance: u64) -> Settings {
    Settings { tolerance: ms(tolerance), time: ms(5000), steps: 50, ..Settings::default() }
}

fn runs(test: &TestCase, adapter: &mut dyn Adapter, settings: &Settings, seed: u64) -> Run {
    let mut solver = Lazy::default();
    let initial = initial_state(test, &Default::default(), 1, &mut solver).unwrap();
    let mut judge = judge::make_judge(test, initial, None);
    let run = TestSession { judge: judge.as_mut(), settings, adapter }.run(seed, Strategy::random());
    // Whatever it was, its document can be read and walked again.
    let bytes = serde_json::to_vec(&make_record(judge.as_mut(), &run)).unwrap();
    let (_, again) = restore_run(test, &read_record(&bytes).unwrap()).unwrap();
    assert_eq!(again.outcome, run.outcome);
    run
}

/// What it comes to on a machine that may be busy: a Fail that was expected may be `jitter`, which the caller
/// repeats.
fn surely(test: &TestCase, adapter: &mut dyn Adapter, settings: &Settings) -> Run {
    for seed in 0..60 {
        let run = runs(test, adapter, settings, seed);
        if !matches!(
            run.outcome,
            Outcome::Verdict(Verdict::Inconclusive, Cause::Jitter(_) | Cause::Silence(_))
        ) {
            return run;
        }
    }
    panic!("this machine is late each time");
}
