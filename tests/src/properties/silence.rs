//! Silence as a failure: where a test case says that the specification must answer, is it so?
//!
//! Every trace of the test case is walked beside the specification. Where the location says it of the data,
//! and an output that does not lead to Fail is possible, a tester that was told `silence: fail` blames an
//! implementation that is silent. So no state of the specification may be quiescent after the trace, those
//! behind internal steps included: each has an output, or an internal step. An implementation that is
//! quiescent only where the specification is then never gets this Fail.
//!
//! What it costs is counted: traces after which no state is quiescent, with and without the flag.

use coreach_pipeline::artifact::{CaseGraph, Verdict};

use super::stages::told;
use super::test_case::{explored, tester};
use super::{Known, Report, SILENCE, Settings};
use crate::brute::EventId;
use crate::brute::alphabet::Alphabet;
use crate::brute::artifact;
use crate::brute::execution::Tester;
use crate::brute::explore::{Graph, State, System};
use crate::brute::machine::Constants;
use crate::brute::subsets::Subsets;
use crate::brute::walk::walk;

/// Checks the flags of a test case.
pub fn silence(case: &CaseGraph, known: &Known, settings: &Settings, report: &mut Report) {
    if !settings.wants(SILENCE) {
        return;
    }
    let machine = artifact::machine(&case.iosts);
    let alphabet = &known.alphabet;
    for instance in &known.instances {
        let Some(system) = explored(&machine, instance, known, settings, report) else { continue };
        let tester = tester(&system, &case.verdicts);
        let specification = &instance.specification.graph;
        let (mut tests, mut specified) = (Subsets::new(tester.graph), Subsets::new(specification));
        let (Some(test), Some(start)) = (tests.start(), specified.start()) else {
            report.note(SILENCE, Ok(()));
            continue;
        };
        let blames = blames_silence(case, &instance.constants, &system, &tester, alphabet);
        let (mut flagged, mut unflagged) = (0, 0);
        let outcome = walk((test, start), settings.limits.walk, |&(test, set)| {
            let states = tests.states(test);
            let quiescent = specified.states(set).iter().any(|at| is_quiescent(specification, *at, alphabet));
            let mut open = states.iter().filter(|at| tester.verdicts[**at as usize].is_none()).peekable();
            if open.peek().is_none() {
                return Ok(Vec::new());
            }
            let must = open.all(|at| blames[*at as usize]);
            if must && quiescent {
                return Err("it says that the specification must answer, which may be silent".to_owned());
            }
            flagged += usize::from(must);
            unflagged += usize::from(!must && !quiescent);
            let (next, there) = (tests.next(test), specified.next(set));
            let both = next.iter().filter_map(|(event, test)| Some((*event, (*test, *there.get(event)?))));
            Ok(both.collect())
        });
        report.count("open traces where silence is blamed", flagged);
        report.count("open traces where silence is wrong and not blamed", unflagged);
        report.note(SILENCE, told(outcome, instance, alphabet));
    }
}

/// Can it neither send nor do anything unseen?
pub fn is_quiescent(graph: &Graph, state: u32, alphabet: &Alphabet) -> bool {
    let sends = |(event, _): &(EventId, u32)| alphabet.is_output(*event);
    graph.internal[state as usize].is_empty() && !graph.visible[state as usize].iter().any(sends)
}

/// For each state that is no verdict: is silence a failure for a tester that is there? What the test case
/// says of the data, and an output that does not fail.
pub fn blames_silence(
    case: &CaseGraph,
    constants: &Constants,
    system: &System<State>,
    tester: &Tester<'_>,
    alphabet: &Alphabet,
) -> Vec<bool> {
    let machine = artifact::machine(&case.iosts);
    let said: Vec<_> = case.must_answer.iter().map(|said| artifact::expression(&case.iosts, said)).collect();
    let answers = |(event, to): &(EventId, u32)| {
        alphabet.is_output(*event) && tester.verdicts[*to as usize] != Some(Verdict::Fail)
    };
    let blames = |(number, state): (usize, &State)| {
        let must = || said[state.location as usize].truth(&machine.places(constants, &state.variables));
        tester.verdicts[number].is_none()
            && tester.graph.visible[number].iter().any(answers)
            && must() == Ok(true)
    };
    system.states.iter().enumerate().map(blames).collect()
}
