//! Judging a safety property on line, against the definition of its verdicts.
//!
//! The specification is walked in all states that are possible, and the property in all places where it may
//! be. After every event of the alphabet, possible or not: what violates the property is Fail, in the
//! location that says whether a state allows it; an output that no state allows is Fail elsewhere; an input
//! that no state takes is Inconclusive, and so is only what nothing violates any more.

use coreach_execution::judge::Judged;
use coreach_execution::judge::online::OnlineJudge;
use coreach_execution::{Judge, TestCase};
use coreach_model::{Iosts, TestPurpose, Verdict, Violated};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::{Conformance, StageOptions};

use super::online::{Made, made, occurrence, started};
use super::safety::{Observer, violation_behind, violations};
use super::stages::told;
use super::{Known, ONLINE, Report, Settings};
use crate::brute::alphabet::Alphabet;
use crate::brute::pair::Instance;
use crate::brute::subsets::Subsets;
use crate::brute::walk::{Outcome, walk_with_traces};

/// The most places of an instance; each is judged from the beginning.
const MOST_PLACES: usize = 30;

/// Checks the judge of a property.
pub(super) fn judge(
    specification: &Iosts,
    property: &TestPurpose,
    observer: &Observer,
    known: &Known,
    settings: &Settings,
    report: &mut Report,
) {
    let options = StageOptions {
        max_lookahead: 0,
        analysis: settings.analysis.clone(),
        limits: Limits::default(),
        check: true,
    };
    let said = |outcome: Result<(), String>| outcome.map_err(|why| format!("{why}\n{}", observer.text));
    let test = match made(Conformance::Ioc, specification, property, &options) {
        Made::Test(test) => test,
        Made::Unreachable => {
            let outcome = match violations(observer, known, settings.limits.walk, true) {
                Some(trace) => Err(format!("nothing to judge, and {trace} violates the property")),
                None => Ok(()),
            };
            report.note(ONLINE, said(outcome));
            return;
        }
        Made::Stopped(why) => {
            report.note(ONLINE, said(Err(format!("it stops: {why}"))));
            return;
        }
        Made::NotWritten => return,
    };
    let each = known.instances.iter().flat_map(|one| [(one, None), (one, Some(1))]);
    for (instance, few) in each {
        let mut counts = [0, 0];
        if let Some(outcome) = judged(&test, instance, &known.alphabet, observer, few, &mut counts) {
            report.count("properties on line: allowed violations", counts[0]);
            report.count("properties on line: forbidden violations", counts[1]);
            report.note(ONLINE, said(told(outcome, instance, &known.alphabet)));
        }
    }
}

fn judged(
    test: &TestCase,
    instance: &Instance,
    alphabet: &Alphabet,
    observer: &Observer,
    few: Option<usize>,
    counts: &mut [usize; 2],
) -> Option<Outcome> {
    let (start, events) = started(test, instance, alphabet)?;
    let online = test.online.as_ref()?;
    let mut sets = Subsets::new(&instance.specification.graph);
    let begin = (sets.start()?, observer.start());
    Some(walk_with_traces(begin, MOST_PLACES, |(set, at), trace| {
        let judge = OnlineJudge::new(test, online, start.clone(), false);
        let mut judge = few.map_or(judge.clone(), |few| judge.gathering_beyond(few));
        judge.begin();
        for event in trace() {
            judge.take(&occurrence(alphabet, event, &events, None));
        }
        if judge.verdict().is_some() {
            return Ok(Vec::new());
        }
        let next = sets.next(*set);
        let mut successors = Vec::new();
        for event in alphabet.events() {
            let mut after = judge.clone();
            let (verdict, how) = match after.take(&occurrence(alphabet, event, &events, None)) {
                Judged::Ends(verdict, _) => (Some(verdict), None),
                Judged::Followed(by) => {
                    (after.verdict(), by.and_then(|by| test.violates[test.iosts.transitions[by].target]))
                }
            };
            let behind = observer.after(at, event);
            let wanted = match (next.get(&event), observer.is_violated(&behind)) {
                (Some(_), true) => (Some(Verdict::Fail), Some(Violated::Allowed)),
                (None, true) => (Some(Verdict::Fail), Some(Violated::Forbidden)),
                (None, false) if alphabet.is_output(event) => (Some(Verdict::Fail), None),
                (None, false) => (Some(Verdict::Inconclusive), None),
                (Some(set), false) => {
                    if verdict == Some(Verdict::Inconclusive) {
                        let start = (*set, behind);
                        match violation_behind(&mut sets, start, observer, alphabet, usize::MAX, true) {
                            None => continue,
                            Some(trace) => {
                                return Err(format!("Inconclusive, and then {trace} violates the property"));
                            }
                        }
                    }
                    successors.push((event, (*set, behind)));
                    (None, None)
                }
            };
            if let Some(how) = wanted.1 {
                counts[usize::from(how == Violated::Forbidden)] += 1;
            }
            if (verdict, how) != wanted {
                let shown = alphabet.show(&[event]);
                return Err(format!("{shown} is {verdict:?} {how:?}, where it is {wanted:?}"));
            }
        }
        Ok(successors)
    }))
}
