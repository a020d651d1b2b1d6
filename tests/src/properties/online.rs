//! Judging on line against the definition of its verdicts.
//!
//! Specification and purpose are walked side by side in all states that are possible after each trace (the
//! oracle's own), and beside them goes the judge, with the document that a user would keep. After every event
//! of the alphabet, possible or not: an output that no state allows is Fail; all states accepting are Pass,
//! some are WeakPass; Inconclusive is said only where none of them can come to Accept. How often it is not
//! said where it could be is counted: the facts are over-approximations. By ioco the same over suspension
//! traces: quiescence is an event of the oracle's, and silence for the judge.

use std::time::Duration;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::judge::online::OnlineJudge;
use coreach_execution::run::Occurrence;
use coreach_execution::{Judge, TestCase, initial};
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Iosts, TestPurpose, Verdict};
use coreach_pipeline::export::{ExportOptions, Format, View, export};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::online::prepare_online;
use coreach_pipeline::{Conformance, StageOptions};

use super::stages::told;
use super::{Known, ONLINE, Report, Settings};
use crate::brute::EventId;
use crate::brute::alphabet::Alphabet;
use crate::brute::artifact;
use crate::brute::pair::Instance;
use crate::brute::subsets::Subsets;
use crate::brute::walk::{Outcome, walk_with_traces};
use crate::source::Input;

/// The most traces of an instance; each is judged from its beginning.
const MOST_TRACES: usize = 60;

/// What is made of a specification and a purpose, to be judged on line.
pub(super) enum Made {
    /// As a user keeps it.
    Test(Box<TestCase>),
    /// Accept is out of reach.
    Unreachable,
    /// A stage or the reader of its document stops.
    Stopped(String),
    /// There is no document of it.
    NotWritten,
}

/// Makes it.
pub(super) fn made(
    conformance: Conformance,
    specification: &Iosts,
    purpose: &TestPurpose,
    options: &StageOptions,
) -> Made {
    let made =
        prepare_online(conformance, specification, purpose, options, &mut Z3Solver::default(), &mut |_| {});
    let made = match made {
        Ok(made) if made.reachable => made,
        Ok(_) => return Made::Unreachable,
        Err(stop) => return Made::Stopped(format!("{stop:?}")),
    };
    let Ok(document) = export(&View::of_online(&made), Format::Json, ExportOptions::default()) else {
        return Made::NotWritten;
    };
    match TestCase::from_json(document.as_bytes()) {
        Ok(test) => Made::Test(Box::new(test)),
        Err(why) => Made::Stopped(format!("its document is not read: {why}")),
    }
}

/// Checks the judge of a pair.
pub fn judge(input: &Input, known: &Known, settings: &Settings, report: &mut Report) {
    if settings.wants(ONLINE) {
        held(Conformance::Ioc, (&input.specification, &input.purpose), known, None, settings, report);
    }
}

/// The same by this conformance, where this event of the alphabet is quiescence.
pub(super) fn held(
    conformance: Conformance,
    (specification, purpose): (&Iosts, &TestPurpose),
    known: &Known,
    delta: Option<EventId>,
    settings: &Settings,
    report: &mut Report,
) {
    let options = StageOptions {
        max_lookahead: 0,
        analysis: settings.analysis.clone(),
        limits: Limits::default(),
        check: true,
    };
    let test = match made(conformance, specification, purpose, &options) {
        Made::Test(test) => test,
        Made::Unreachable => {
            let reached = |one: &Instance| one.both.graph.initial.iter().any(|at| one.alive[*at as usize]);
            let is_wrong = known.instances.iter().any(reached);
            let outcome =
                if is_wrong { Err("unreachable, and Accept can be reached".to_owned()) } else { Ok(()) };
            report.note(ONLINE, outcome);
            return;
        }
        Made::Stopped(why) => {
            report.note(ONLINE, Err(format!("it stops: {why}")));
            return;
        }
        Made::NotWritten => return,
    };
    if delta.is_some() {
        report.count("ioco: judged on line", 1);
    }
    // As it is, and where all states that are more than one are gathered to formulas.
    let each = known.instances.iter().flat_map(|one| [(one, None), (one, Some(1))]);
    for (instance, few) in each {
        let (mut late, mut formulas) = (0, 0);
        let outcome = judged(&test, instance, (&known.alphabet, delta), few, &mut late, &mut formulas);
        if let Some(outcome) = outcome {
            report.count("sets on line that are formulas", formulas);
            report.count("sets on line from which Accept is out of reach, and the run goes on", late);
            report.note(ONLINE, told(outcome, instance, &known.alphabet));
        }
    }
}

fn judged(
    test: &TestCase,
    instance: &Instance,
    (alphabet, delta): (&Alphabet, Option<EventId>),
    few: Option<usize>,
    late: &mut usize,
    formulas: &mut usize,
) -> Option<Outcome> {
    let online = test.online.as_ref()?;
    let (start, events) = started(test, instance, alphabet)?;
    let mut both = Subsets::new(&instance.both.graph);
    let begin = both.start()?;
    Some(walk_with_traces(begin, MOST_TRACES, |&set, trace| {
        let judge = OnlineJudge::new(test, online, start.clone(), false);
        let mut judge = few.map_or(judge.clone(), |few| judge.gathering_beyond(few));
        judge.begin();
        for event in trace() {
            let judged = judge.take(&occurrence(alphabet, event, &events, delta));
            assert!(judge.verdict().is_none(), "the walk goes on behind a verdict: {judged:?}");
        }
        let here = expected(instance, &both.states(set));
        agree(judge.verdict(), here, late)?;
        if judge.verdict().is_some() {
            return Ok(Vec::new());
        }
        let next = both.next(set);
        let mut successors = Vec::new();
        for event in alphabet.events() {
            let mut after = judge.clone();
            let judged = after.take(&occurrence(alphabet, event, &events, delta));
            let verdict = match judged {
                coreach_execution::judge::Judged::Ends(verdict, _) => Some(verdict),
                coreach_execution::judge::Judged::Followed(_) => after.verdict(),
            };
            *formulas += usize::from(after.has_formulas());
            let shown = || alphabet.show(&[event]);
            match next.get(&event) {
                None => {
                    let wanted =
                        if alphabet.is_output(event) { Verdict::Fail } else { Verdict::Inconclusive };
                    if verdict != Some(wanted) {
                        return Err(format!("{} is not possible, and is {verdict:?}", shown()));
                    }
                }
                Some(set) => {
                    agree(verdict, expected(instance, &both.states(*set)), late)
                        .map_err(|why| format!("{}: {why}", shown()))?;
                    if verdict.is_none() {
                        successors.push((event, *set));
                    }
                }
            }
        }
        Ok(successors)
    }))
}

/// Where the test begins with the constants of an instance, and the events of the alphabet as it has them.
pub(super) fn started(
    test: &TestCase,
    instance: &Instance,
    alphabet: &Alphabet,
) -> Option<(State, Vec<Event>)> {
    let mut constants = Valuation::new();
    for datum in &test.iosts.constants {
        constants
            .insert(datum.clone(), artifact::modelled(instance.constants.get(datum.name())?, datum.ty())?);
    }
    let start =
        initial::states(&test.iosts, &constants, 64, &mut Z3Solver::default()).ok()?.into_iter().next()?;
    let events = alphabet.events().map(|event| modelled(&test.iosts, alphabet, event));
    Some((start, events.collect::<Option<_>>()?))
}

/// The verdict on a set of states, by definition.
fn expected(instance: &Instance, states: &[u32]) -> Option<Verdict> {
    let accepting = states.iter().filter(|at| instance.accepting[**at as usize]).count();
    match accepting {
        0 if states.iter().any(|at| instance.alive[*at as usize]) => None,
        0 => Some(Verdict::Inconclusive),
        all if all == states.len() => Some(Verdict::Pass),
        _ => Some(Verdict::WeakPass),
    }
}

fn agree(given: Option<Verdict>, expected: Option<Verdict>, late: &mut usize) -> Result<(), String> {
    if given.is_none() && expected == Some(Verdict::Inconclusive) {
        *late += 1;
        return Ok(());
    }
    if given == expected { Ok(()) } else { Err(format!("{given:?}, where it is {expected:?}")) }
}

pub(super) fn occurrence(
    alphabet: &Alphabet,
    event: EventId,
    events: &[Event],
    delta: Option<EventId>,
) -> Occurrence {
    if Some(event) == delta {
        return Occurrence::Silence(Duration::ZERO);
    }
    let what = events[event as usize].clone();
    if alphabet.is_output(event) { Occurrence::Observation(what) } else { Occurrence::Stimulus(what) }
}

fn modelled(iosts: &Iosts, alphabet: &Alphabet, event: EventId) -> Option<Event> {
    let letter = &alphabet.letters[event as usize];
    let action = iosts.action(iosts.find_action(&letter.action)?);
    let values = letter
        .values
        .iter()
        .zip(&action.parameters)
        .map(|(value, datum)| artifact::modelled(value, datum.ty()));
    Some(Event::new(letter.action.clone(), values.collect::<Option<Vec<_>>>()?))
}
