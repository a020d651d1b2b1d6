//! Timed test cases of the main pipeline against the concrete semantics of time.
//!
//! **Problem.** The pipeline sees time as data (`model/src/timed/delayed.rs`) and silence as an event
//! (`pipeline/src/lateness.rs`). Neither is what a clock does. Here clocks run.
//!
//! **Method.** A random timed model and a purpose go through the pipeline. Then random traces are followed by
//! the test case and by all states in which [`crate::timed_semantics`] lets the model be, on a grid
//! of half units: stimuli that the test case offers, events that the model can do, others, silences of some
//! length. After each observation that the test case judges:
//!
//! - Fail, if and only if no state is left (*sound*: a conforming system never fails; *exact*: what is
//!   forbidden fails at once);
//! - of an input that the tester does not send: never Fail, and Inconclusive where no state is left.
//!
//! Of a random safety property with a clock of its own ([`TimedProperty`]) the same, and Fail besides, if and
//! only if the property is violated: in the location that says whether the specification allows it. What
//! `verify` says of it is held against the same walks: no trace of the model violates what is proved, and
//! what violates is executed with clocks that run.
//!
//! Whether a silence is allowed is found by looking: some later instant of a grid of quarters at which an
//! output is possible, or an input that the tester does not send; or no instant at all for an output, and no
//! internal step.

use std::collections::{BTreeMap, BTreeSet};

use crate::timed_semantics::{TimedState, close_under_internal_actions, elapse, initial, step as timed_step};
use coreach_analyses::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::search::SearchLimits;
use coreach_model::iosts::{ActionKind, Aim};
use coreach_model::reader::{from_bytes, read_timed_aimed, read_timed_specification};
use coreach_model::semantics::{Event, State, initial_states, step};
use coreach_model::term::evaluate::Valuation;
use coreach_model::timed::Timed;
use coreach_model::timed::delayed::delayed;
use coreach_model::value::tuples;
use coreach_model::{Term, Value, Verdict, Violated};
use coreach_pipeline::artifact::CaseGraph;
use coreach_pipeline::lateness::LatenessTiming;
use coreach_pipeline::limits::Limits;
use coreach_pipeline::verify::{PropertyViolation, Verified, verify};
use coreach_pipeline::{StageOptions, generate_timed};
use dashu_ratio::RBig;

use crate::generator::random::Random;
use crate::generator::timed::{TimedShape, timed_specification};
use crate::generator::timed_purpose::timed_purpose;
use crate::timed_property::TimedProperty;

/// The nodes of the search for a violation.
const NODES: usize = 300;

/// What came up, by what it is.
pub type Counts = BTreeMap<&'static str, usize>;

/// So many traces of each test case, each of so many events.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Traces.
    pub traces: usize,
    /// Events of each.
    pub events: usize,
}

/// Holds the test case of this seed against the semantics: of a purpose, or of a property.
///
/// # Errors
/// What does not hold, with model, purpose and trace.
pub fn check(seed: u64, aim: Aim, effort: Effort, counts: &mut Counts) -> Result<(), String> {
    let shape = TimedShape { open: 0, constant: 0, ..TimedShape::default() };
    let text = timed_specification(seed, &shape);
    let read = |name: &str, text: &str| from_bytes(name.to_owned(), text.as_bytes().to_vec());
    let file = read("timed.yaml", &text).map_err(|found| found.message)?;
    let (specification, _) = read_timed_specification(file).map_err(|found| format!("{text}{found:?}"))?;
    let timed = &specification.timed;
    let property = match aim {
        Aim::Accept => None,
        Aim::Violate => match TimedProperty::of(seed, timed) {
            Some(property) => Some(property),
            None => return Ok(()),
        },
    };
    let written = property.as_ref().map_or_else(|| timed_purpose(seed, timed), |one| one.text.clone());
    let file = read("aim.yaml", &written).map_err(|found| found.message)?;
    let (purpose, _) =
        read_timed_aimed(file, &specification, aim).map_err(|found| format!("{written}{found:?}"))?;
    let form = delayed(timed).map_err(|_| format!("{text}has no delayed form"))?;
    let timing = LatenessTiming {
        delay: form.delay.clone(),
        clocks: form.clocks.clone(),
        uncontrollable: timed.uncontrollable().map(|(_, action)| action.name.clone()).collect(),
        silence_after: Term::literal(Value::Real(RBig::from(2))),
    };
    let options = StageOptions {
        max_lookahead: 4,
        analysis: Analysis::default(),
        limits: Limits::default(),
        check: true,
    };
    let mut solver = Z3Solver::default();
    let purpose = form.purpose(&purpose);
    let mut proved = false;
    if let Some(property) = &property {
        let limits = SearchLimits { nodes: NODES, exact_nodes: NODES / 20, ..SearchLimits::default() };
        match verify(&form.iosts, &purpose, &options, &limits, &mut solver, &mut |_| {}) {
            Ok(Verified::Proved(_)) => {
                proved = true;
                count(counts, "proved");
            }
            Ok(Verified::Violated(violation)) => {
                executed(timed, property, &violation)
                    .map_err(|told| format!("seed {seed}\n{text}{written}{told}: {violation:?}"))?;
                count(counts, "violated by the model");
            }
            Ok(Verified::Unknown(_)) | Err(_) => count(counts, "neither"),
        }
    }
    let made = generate_timed(&form.iosts, &timing, purpose, &options, &mut solver, &mut |_| {});
    let made = match made {
        Ok(made) => made,
        Err(_) => {
            count(counts, "stopped");
            return Ok(());
        }
    };
    let case = &made.test_case;
    if !case.verdicts.contains(&Some(Verdict::Pass)) && case.violated.is_empty() {
        count(counts, "unreachable");
        return Ok(());
    }
    count(counts, "test cases");
    let mut walker = Walker {
        timed,
        case,
        property: property.as_ref().map(|property| (property, proved)),
        timing: &timing,
        random: Random::new(seed),
        counts,
    };
    for _ in 0..effort.traces {
        walker.walk(effort.events).map_err(|told| format!("seed {seed}\n{text}{written}{told}"))?;
    }
    Ok(())
}

fn count(counts: &mut Counts, what: &'static str) {
    *counts.entry(what).or_default() += 1;
}

/// That a violation is one, by clocks that run.
fn executed(timed: &Timed, property: &TimedProperty, violation: &PropertyViolation) -> Result<(), String> {
    let data = timed.graph().variables.iter();
    let data: Valuation =
        data.filter_map(|datum| Some((datum.clone(), violation.initial.get(datum)?.clone()))).collect();
    let start = initial(timed, &data).ok_or("it begins nowhere")?;
    let (mut states, mut places) = (close_under_internal_actions(timed, [start].into()), property.start());
    for event in violation.events() {
        let Some((Value::Real(delay), values)) = event.values.split_first() else {
            return Err("an event without a delay".to_owned());
        };
        let plain = Event::new(event.action.clone(), values.to_vec());
        let later = states.iter().map(|state| elapse(timed, state, delay));
        states = close_under_internal_actions(
            timed,
            later.flat_map(|state| timed_step(timed, &state, &plain)).collect(),
        );
        places = property.after(&property.later(&places, delay), &event.action);
    }
    match (states.is_empty(), property.is_violated(&places)) {
        (true, _) => Err("the model does not do it".to_owned()),
        (_, false) => Err("it violates nothing".to_owned()),
        _ => Ok(()),
    }
}

struct Walker<'a> {
    timed: &'a Timed,
    case: &'a CaseGraph,
    /// Of which it is a test case, where it is of one, and whether it is proved.
    property: Option<(&'a TimedProperty, bool)>,
    timing: &'a LatenessTiming,
    random: Random,
    counts: &'a mut Counts,
}

/// A number of half units.
fn halves(count: usize) -> RBig {
    RBig::from(count) / RBig::from(2)
}

impl Walker<'_> {
    fn walk(&mut self, events: usize) -> Result<(), String> {
        let starts = initial_states(&self.case.iosts, &Valuation::new(), 1000).unwrap_or_default();
        let Some(mut at) = starts.into_iter().next() else { return Ok(()) };
        let data: Valuation = at
            .valuation
            .iter()
            .filter(|(datum, _)| self.timed.graph().variables.contains(datum))
            .map(|(datum, value)| (datum.clone(), value.clone()))
            .collect();
        let Some(start) = initial(self.timed, &data) else { return Err("no initial state".to_owned()) };
        let mut states = close_under_internal_actions(self.timed, [start].into());
        let mut places = self.property.map(|(property, _)| property.start()).unwrap_or_default();
        let mut trace: Vec<String> = Vec::new();
        for _ in 0..events {
            if self.case.verdicts[at.location].is_some() {
                break;
            }
            let (delay, action, values) = self.choose(&states);
            trace.push(format!("({delay}) {action}({values:?})"));
            let event = Event::new(
                action.clone(),
                [Value::Real(delay.clone())].into_iter().chain(values.iter().cloned()),
            );
            let kind = self.case.iosts.find_action(&action).map(|id| self.case.iosts.action(id).kind);
            let is_silence = kind == Some(ActionKind::Quiescence);
            let next: BTreeSet<TimedState> = if is_silence {
                let waiting = states.iter().filter(|state| self.may_wait(state, &delay));
                waiting.map(|state| elapse(self.timed, state, &delay)).collect()
            } else {
                let plain = Event::new(action.clone(), values);
                let later = states.iter().map(|state| elapse(self.timed, state, &delay));
                later.flat_map(|state| timed_step(self.timed, &state, &plain)).collect()
            };
            let next = close_under_internal_actions(self.timed, next);
            let mut violated = None;
            if let Some((property, proved)) = self.property {
                places = property.later(&places, &delay);
                if !is_silence {
                    places = property.after(&places, &action);
                }
                let how = if next.is_empty() { Violated::Forbidden } else { Violated::Allowed };
                violated = property.is_violated(&places).then_some(how);
                if proved && violated == Some(Violated::Allowed) {
                    return Err(format!("what is proved is violated after {}", trace.join(" ")));
                }
            }
            let told = |what: &str| format!("{what} after {}", trace.join(" "));
            let after: Vec<State> = step(&self.case.iosts, &at, &event).into_iter().collect();
            let [after] = after.as_slice() else {
                match (after.is_empty(), kind) {
                    // Only what leads on is offered; what the model cannot take is no stimulus at all.
                    (true, Some(ActionKind::Input)) => return Ok(()),
                    (true, _) => return Err(told("no verdict")),
                    (false, _) => return Err(told("a choice")),
                }
            };
            let verdict = self.case.verdicts[after.location];
            let is_environment = self.timing.uncontrollable.contains(&action);
            let says = self.case.violated.iter().find(|(at, _)| *at == after.location);
            if says.map(|(_, how)| *how) != violated {
                return Err(told(&format!("the property is {violated:?}, and the verdict says {says:?},")));
            }
            let failed = verdict == Some(Verdict::Fail);
            match (kind, failed) {
                (Some(ActionKind::Input), true) => return Err(told("a stimulus fails")),
                (Some(ActionKind::Input), false) if next.is_empty() => {
                    return Err(told("a stimulus that the model does not take"));
                }
                (_, true) if is_environment => return Err(told("the environment is blamed for")),
                (_, true) if violated.is_some() => {}
                (_, true) if !next.is_empty() => return Err(told("a wrong Fail")),
                (_, false) if next.is_empty() && !is_environment => return Err(told("a Fail is missed")),
                (_, false) if next.is_empty() && verdict != Some(Verdict::Inconclusive) => {
                    return Err(told("nobody specified this, and it goes on"));
                }
                _ => {}
            }
            count(
                self.counts,
                match (verdict, is_silence) {
                    (Some(Verdict::Fail), _) if violated == Some(Violated::Allowed) => "Violate",
                    (Some(Verdict::Fail), _) if violated.is_some() => "ViolateFail",
                    (Some(Verdict::Fail), true) => "Fail by silence",
                    (Some(Verdict::Fail), false) => "Fail",
                    (Some(Verdict::Pass), _) => "Pass",
                    (Some(_), _) => "Inconclusive",
                    (None, true) => "silences that go on",
                    (None, false) => "events that go on",
                },
            );
            (at, states) = (after.clone(), next);
        }
        Ok(())
    }

    /// An event, with a bias towards what the model can do.
    fn choose(&mut self, states: &BTreeSet<TimedState>) -> (RBig, String, Vec<Value>) {
        let graph = self.timed.graph();
        let visible: Vec<_> = graph.actions.iter().filter(|action| action.is_visible()).collect();
        let lists = |action: &coreach_model::Action| -> Vec<Vec<Value>> {
            action.parameters.iter().map(|p| Value::enumerate(p.ty(), 10).unwrap_or_default()).collect()
        };
        if self.random.chance(60) {
            let mut possible: Vec<(RBig, String, Vec<Value>)> = Vec::new();
            for delay in (0..9).map(halves) {
                let later: Vec<TimedState> =
                    states.iter().map(|state| elapse(self.timed, state, &delay)).collect();
                for action in &visible {
                    for values in tuples(&lists(action)) {
                        let event = Event::new(action.name.clone(), values.clone());
                        if later.iter().any(|state| !timed_step(self.timed, state, &event).is_empty()) {
                            possible.push((delay.clone(), action.name.clone(), values));
                        }
                    }
                }
            }
            if let Some(one) = self.random.pick(&possible) {
                return one.clone();
            }
        }
        let delay = halves(self.random.below(10));
        let silence = self.case.iosts.actions.iter().find(|action| action.kind == ActionKind::Quiescence);
        if let Some(silence) = silence
            && self.random.chance(50)
        {
            return (delay, silence.name.clone(), Vec::new());
        }
        let action = self.random.below(visible.len());
        let all = tuples(&lists(visible[action]));
        let values = self.random.pick(&all).cloned().unwrap_or_default();
        (delay, visible[action].name.clone(), values)
    }

    /// May the model be silent for so long in this state: may something come later, or is there nothing that
    /// could ever come?
    fn may_wait(&self, state: &TimedState, silent: &RBig) -> bool {
        let shown = state.valuation.values().filter_map(|value| match value {
            Value::Real(time) => Some(time.clone()),
            _ => None,
        });
        // Beyond all that a clock is compared with, nothing changes any more.
        let horizon = shown.max().unwrap_or(RBig::ZERO) + silent + RBig::from(10);
        let mut quarter = RBig::ZERO;
        let mut ever = false;
        while quarter <= horizon {
            let now = elapse(self.timed, state, &quarter);
            ever |= self.may_come(&now, false);
            if quarter > *silent && self.may_come(&now, true) {
                return true;
            }
            quarter += RBig::ONE / RBig::from(4);
        }
        let graph = self.timed.graph();
        let inside = graph.transitions.numbered().any(|(number, transition)| {
            graph.action(transition.action).kind == ActionKind::Internal
                && crate::timed_semantics::fire(self.timed, number, state, &[]).is_some()
        });
        !ever && !inside
    }

    /// Can an output come now, or, where that is asked for, an input that the tester does not send?
    fn may_come(&self, state: &TimedState, from_elsewhere: bool) -> bool {
        let graph = self.timed.graph();
        graph.actions.numbered().any(|(id, action)| {
            let is_seen = action.kind == ActionKind::Output
                || from_elsewhere && action.kind == ActionKind::Input && !self.timed.is_controllable(id);
            let lists: Vec<Vec<Value>> = match is_seen {
                true => action
                    .parameters
                    .iter()
                    .map(|p| Value::enumerate(p.ty(), 10).unwrap_or_default())
                    .collect(),
                false => return false,
            };
            tuples(&lists).into_iter().any(|values| {
                !timed_step(self.timed, state, &Event::new(action.name.clone(), values)).is_empty()
            })
        })
    }
}
