//! A test case against an implementation (Definitions 6.5-6.7, 6.15-6.17): every run that the two can have
//! together, the tester choosing every stimulus that its guards allow.

use std::collections::BTreeMap;

use coreach_pipeline::artifact::Verdict;

use super::EventId;
use super::alphabet::Alphabet;
use super::conformance::{is_accepted, is_prefix};
use super::explore::Graph;
use super::pair::Instance;
use super::subsets::Subsets;
use super::walk::{Outcome, walk_with_traces};

/// A test case as an explicit system.
pub struct Tester<'a> {
    /// Its states and steps.
    pub graph: &'a Graph,
    /// For each state, its verdict.
    pub verdicts: Vec<Option<Verdict>>,
}

/// What can come out of testing an implementation.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Runs {
    /// For each verdict that is possible, a shortest trace to it.
    pub verdicts: BTreeMap<Verdict, Vec<EventId>>,
    /// A verdict that its definition does not allow: after which trace, and why.
    pub wrong: Option<(Vec<EventId>, String)>,
    /// Not everything was visited.
    pub cut: bool,
}

/// All runs of the test case with the implementation, both with the instance's constants.
///
/// On the way each verdict is held against its definition: Pass only after an accepted trace (accuracy,
/// 6.16); Inconclusive only after a trace of the specification that ends in an output and that no accepted
/// trace extends (conclusiveness, 6.17).
pub fn execute(instance: &Instance, tester: &Tester, iut: &Graph, alphabet: &Alphabet, limit: usize) -> Runs {
    let (mut tests, mut actual) = (Subsets::new(tester.graph), Subsets::new(iut));
    let mut both = Subsets::new(&instance.both.graph);
    let mut runs = Runs::default();
    let (Some(test), Some(iut), Some(pair)) = (tests.start(), actual.start(), both.start()) else {
        return runs;
    };
    let start: Node = (test, iut, Some(pair), None);
    let mut given = BTreeMap::new();
    let outcome = walk_with_traces(start, limit, |&(test, iut, pair, last), trace| {
        if let Some(verdict) = verdict_of(tester, &tests.states(test)) {
            given.entry(verdict).or_insert_with(trace);
            return justified(
                instance,
                verdict,
                pair.map(|pair| both.states(pair)).as_deref(),
                last,
                alphabet,
            )
            .map(|()| Vec::new());
        }
        let (watched, done) = (tests.next(test), actual.next(iut));
        let followed = pair.map(|pair| both.next(pair));
        let next = watched.iter().filter_map(|(event, test)| {
            let pair = followed.as_ref().and_then(|next| next.get(event).copied());
            Some((*event, (*test, *done.get(event)?, pair, Some(*event))))
        });
        Ok(next.collect())
    });
    match outcome {
        Outcome::Found(trace, message) => runs.wrong = Some((trace, message)),
        Outcome::Cut => runs.cut = true,
        Outcome::Done => {}
    }
    runs.verdicts = given;
    runs
}

/// Test case, implementation, specification with purpose (none where it does not have the trace), last event.
type Node = (u32, u32, Option<u32>, Option<EventId>);

/// Definition 6.5: the verdict that all states share.
pub fn verdict_of(tester: &Tester, states: &[u32]) -> Option<Verdict> {
    let first = tester.verdicts[*states.first()? as usize]?;
    states.iter().all(|state| tester.verdicts[*state as usize] == Some(first)).then_some(first)
}

/// Is the verdict what its definition allows after a trace that leads specification and purpose to these
/// states?
///
/// # Errors
/// The definition that is broken.
pub fn justified(
    instance: &Instance,
    verdict: Verdict,
    states: Option<&[u32]>,
    last: Option<EventId>,
    alphabet: &Alphabet,
) -> Result<(), String> {
    let ends_in_output = last.is_some_and(|event| alphabet.is_output(event));
    let message = match (verdict, states) {
        (Verdict::Pass, Some(states)) if is_accepted(instance, states) => return Ok(()),
        (Verdict::Pass, _) => "Pass, and the purpose does not accept this trace (accuracy, 6.16)",
        (Verdict::WeakPass, _) => "WeakPass, which no test case says",
        (Verdict::Inconclusive, Some(states)) if ends_in_output && !is_prefix(instance, states) => {
            return Ok(());
        }
        (Verdict::Inconclusive, None) => "Inconclusive, and the specification forbids this trace (6.17)",
        (Verdict::Inconclusive, _) => "Inconclusive, and Accept is within reach (conclusiveness, 6.17)",
        (Verdict::Fail, None) if ends_in_output => return Ok(()),
        (Verdict::Fail, _) => "Fail, and the specification allows this trace (Lemma 7.7)",
    };
    Err(message.to_owned())
}

/// The system with every input that a state does not take, not even behind internal steps, ignored
/// (Definition 4.21).
#[must_use]
pub fn input_complete(graph: &Graph, alphabet: &Alphabet) -> Graph {
    let mut complete = graph.clone();
    for state in 0..graph.visible.len() {
        let behind = super::subsets::internal_closure(graph, vec![state as u32]);
        for event in alphabet.events().filter(|event| !alphabet.is_output(*event)) {
            let takes = |at: &u32| graph.visible[*at as usize].iter().any(|(label, _)| *label == event);
            if !behind.iter().any(takes) {
                complete.visible[state].push((event, state as u32));
            }
        }
        complete.visible[state].sort_unstable();
    }
    complete
}
