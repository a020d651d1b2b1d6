//! Traces to judge: those of runs against the specification and its mutants, and what changes in one place
//! make of them; each with what our own judge says.

use std::time::Duration;

use coreach_adapters::in_process::InProcess;
use coreach_execution::constants::initial_state;
use coreach_execution::judge::{Judge, Judged};
use coreach_execution::lazy::Lazy;
use coreach_execution::mutation::mutants;
use coreach_execution::run::Occurrence;
use coreach_execution::simulated::Simulated;
use coreach_execution::values::any;
use coreach_execution::{CaseJudge, Settings, Strategy, TestCase, TestSession};
use coreach_model::codec::to_json;
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State};
use coreach_model::{ActionKind, Iosts, Value};
use serde_json::{Map, Value as Json, json};

/// A trace, and what is said of it, as a line for another judge.
pub struct Judgement {
    pub line: Json,
    pub verdict: Option<&'static str>,
}

/// Traces of runs with these seeds.
pub fn judged(test: &TestCase, specification: &Iosts, runs: u64, changes: usize) -> Vec<Judgement> {
    let mut systems = vec![specification.clone()];
    systems.extend(mutants(specification, 5, 1).into_iter().map(|mutant| mutant.iosts));
    let mut random = Random::new(7);
    let mut found = Vec::new();
    for (at, system) in systems.iter().enumerate() {
        for seed in 0..runs {
            let seed = seed * 16 + at as u64;
            let mut solver = Lazy::default();
            let Ok(state) = initial_state(test, &Default::default(), seed, &mut solver) else { continue };
            let trace = driven(test, system, &state, seed);
            found.push(judge(test, &state, &trace));
            for _ in 0..changes {
                let other = changed(test, trace.clone(), &mut random);
                found.push(judge(test, &state, &other));
            }
        }
    }
    found
}

fn driven(test: &TestCase, system: &Iosts, state: &State, seed: u64) -> Vec<Occurrence> {
    let moment = Duration::from_millis(1);
    let settings = Settings { steps: 25, quiescence: moment, patience: moment, ..Settings::default() };
    let run = TestSession {
        judge: &mut CaseJudge::new(test, state.clone()),
        settings: &settings,
        adapter: &mut InProcess(Simulated::new(system.clone(), Lazy::default())),
    }
    .run(seed, Strategy::random());
    run.trace.into_iter().map(|step| step.what).collect()
}

/// A trace that differs in one place.
fn changed(test: &TestCase, mut trace: Vec<Occurrence>, random: &mut Random) -> Vec<Occurrence> {
    let at = random.below(trace.len() + 1);
    match random.below(8) {
        0 => trace.truncate(at),
        1 if at < trace.len() => {
            trace.remove(at);
        }
        2 if at + 1 < trace.len() => trace.swap(at, at + 1),
        3 => trace.insert(at, Occurrence::Silence(Duration::from_millis(1))),
        4 => {
            let kind = if random.below(3) == 0 { ActionKind::Input } else { ActionKind::Output };
            trace.insert(at, anything(test, kind, random));
        }
        _ => {
            // Most of them: another value in an event.
            let Some(Occurrence::Stimulus(event) | Occurrence::Observation(event)) = trace.get_mut(at) else {
                return trace;
            };
            let place = random.below(event.values.len());
            if let Some(value) = event.values.get_mut(place) {
                *value = near(value, random);
            }
        }
    }
    trace
}

fn near(value: &Value, random: &mut Random) -> Value {
    match value {
        Value::Int(number) => Value::Int(number + dashu_int::IBig::from(random.below(5) as i64 - 2)),
        other => any(&other.sort(), random),
    }
}

fn anything(test: &TestCase, kind: ActionKind, random: &mut Random) -> Occurrence {
    let all: Vec<_> = test.iosts.actions.iter().filter(|action| action.kind == kind).collect();
    let Some(action) = random.pick(&all) else { return Occurrence::Silence(Duration::from_millis(1)) };
    let values: Vec<Value> = action.parameters.iter().map(|datum| any(datum.ty(), random)).collect();
    let event = Event::new(action.name.clone(), values);
    match kind {
        ActionKind::Input => Occurrence::Stimulus(event),
        _ => Occurrence::Observation(event),
    }
}

fn judge(test: &TestCase, state: &State, trace: &[Occurrence]) -> Judgement {
    let mut judge = CaseJudge::new(test, state.clone());
    judge.begin();
    let mut ended = None;
    let mut taken = 0;
    for what in trace {
        if judge.verdict().is_some() {
            break;
        }
        if let Judged::Ends(verdict, _) = judge.take(what) {
            ended = Some(verdict);
            break;
        }
        taken += 1;
    }
    let verdict = ended.or(judge.verdict()).map(coreach_model::Verdict::name);
    let data = |state: &State| -> Map<String, Json> {
        let all = test.iosts.constants.iter().chain(&test.iosts.variables);
        all.map(|datum| (datum.name().to_owned(), to_json(&state.valuation[datum]))).collect()
    };
    let constants: Map<String, Json> = test
        .constants_in(state)
        .iter()
        .map(|(datum, value)| (datum.name().to_owned(), to_json(value)))
        .collect();
    let line = json!({
        "constants": constants,
        "begin": data(state),
        "steps": trace.iter().map(|what| step(test, what)).collect::<Vec<Json>>(),
        "taken": taken,
        "verdict": verdict,
        "location": test.iosts.location(judge.state().location).name,
        "data": data(judge.state()),
    });
    Judgement { line, verdict }
}

fn step(test: &TestCase, what: &Occurrence) -> Json {
    let (kind, event) = match what {
        Occurrence::Stimulus(event) => ("stimulus", event),
        Occurrence::Observation(event) => ("observation", event),
        Occurrence::Silence(_) | Occurrence::Delay(_) => return json!(["silence"]),
    };
    let action = test.iosts.find_action(&event.action).unwrap();
    let names = test.iosts.action(action).parameters.iter().map(|datum| datum.name().to_owned());
    let values: Map<String, Json> = names.zip(event.values.iter().map(to_json)).collect();
    json!([kind, event.action, values])
}
