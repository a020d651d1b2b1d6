//! The test case against implementations behind queues, judged by the judge that knows of the link
//! (`execution/src/judge/crossing.rs`).
//!
//! An implementation is composed with a queue for what it is sent and one for what it sends, each of at most
//! so many messages and in order. The tester sees what it puts into the one and takes from the other; when
//! the implementation takes and sends, it does not see. All traces that it can see are walked, shortest
//! first, each with the set of all configurations that are possible after it. Nothing is known of time here,
//! so that every stimulus may be under way for ever: the judge must allow all orders.
//!
//! - A conforming implementation never gets Fail, however long the queues.
//! - It gets Pass only where every trace that it may really have had has been accepted.
//! - Where silence is a Fail, after the longest delay and with nothing on its way, the specification is not
//!   quiescent after what an implementation has really done that is silent: one that is quiescent only where
//!   the specification is never gets it.
//!
//! What it costs is counted: implementations that do not conform, and get Fail behind no queue and behind
//! queues.
//!
//! The inner judge is the test case as an explicit system: the judge of the link is the one that is tried.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use coreach_adapters::description::Link;
use coreach_execution::judge::crossing::{Crossing, MOST_UNDER_WAY};
use coreach_execution::judge::{Choice, Follower, Judge, Judged, Offers, Reasons, ShownState};
use coreach_execution::run::{Cause, Occurrence};
use coreach_model::iosts::Iosts;
use coreach_model::semantics::Event;
use coreach_model::{Datum, TransitionId, Value, Verdict};
use coreach_pipeline::artifact::Verdict as Made;

use super::silence::is_quiescent;
use crate::brute::EventId;
use crate::brute::alphabet::Alphabet;
use crate::brute::conformance::is_accepted;
use crate::brute::execution::Tester;
use crate::brute::explore::Graph;
use crate::brute::pair::Instance;
use crate::brute::subsets::Subsets;
use crate::brute::walk::{Outcome, walk_with_traces};

/// The longest queues.
pub const LONGEST: usize = 3;

/// Behind a trace with more of them, nothing is walked: the others cost less.
const MOST_CONFIGURATIONS: usize = 200;

/// What came of it.
#[derive(Default, Debug)]
pub struct Behind {
    /// A shortest trace to Fail.
    pub fail: Option<Vec<EventId>>,
    /// A trace to a Pass that was not deserved.
    pub undeserved: Option<Vec<EventId>>,
    /// A trace after which silence is a Fail, and the specification may be silent.
    pub silenced: Option<Vec<EventId>>,
    /// Was there silence that failed and deserved it?
    pub silence_fails: bool,
}

/// All runs of a test case with an implementation behind queues of so many messages.
pub fn behind(
    iosts: &Iosts,
    instance: &Instance,
    (tester, blames): (&Tester<'_>, &[bool]),
    iut: &Graph,
    alphabet: &Alphabet,
    (longest, limit): (usize, usize),
) -> Behind {
    let mut result = Behind::default();
    let [first] = tester.graph.initial[..] else { return result };
    let mut both = Subsets::new(&instance.both.graph);
    let start = both.start();
    let judge = Crossing::new(Link::delayed(DELAY), Explicit { iosts, tester, blames, first, state: first });
    let initial = iut.initial.iter().map(|state| Configuration {
        state: *state,
        taken: Vec::new(),
        sent: Vec::new(),
        trace: start,
        accepted: start.is_some_and(|set| is_accepted(instance, &both.states(set))),
    });
    let initial: Configurations = initial.collect();
    let mut world = World { iut, alphabet, instance, both, longest };
    let configurations = world.closed(initial);
    let node = Node { configurations, stimuli: Vec::new(), judge };
    let outcome = walk_with_traces(node, limit, |node, trace| {
        match node.judge.verdict() {
            Some(Verdict::Fail) => {
                result.fail.get_or_insert_with(trace);
                return Ok(Vec::new());
            }
            Some(Verdict::Pass | Verdict::WeakPass) => {
                if !node.configurations.iter().all(|configuration| configuration.accepted) {
                    result.undeserved.get_or_insert_with(trace);
                }
                return Ok(Vec::new());
            }
            Some(Verdict::Inconclusive) => return Ok(Vec::new()),
            None => {}
        }
        if is_silence_blamed(&node.judge) {
            let is_silent = |one: &&Configuration| {
                one.taken.is_empty() && one.sent.is_empty() && is_quiescent(iut, one.state, alphabet)
            };
            // Of what the specification does not have nothing is promised.
            for set in node.configurations.iter().filter(is_silent).filter_map(|one| one.trace) {
                result.silence_fails = true;
                let may_be = |at: &u32| is_quiescent(&instance.both.graph, *at, alphabet);
                if world.both.states(set).iter().any(may_be) {
                    result.silenced.get_or_insert_with(trace);
                }
            }
        }
        let mut next = Vec::new();
        if node.configurations.len() > MOST_CONFIGURATIONS {
            return Ok(next);
        }
        for event in alphabet.events() {
            let mut judge = node.judge.clone();
            let said = Event::new(event.to_string(), Vec::new());
            let is_output = alphabet.is_output(event);
            if !is_output && !judge.can_send(&said) {
                continue;
            }
            let after = if is_output {
                world.seen(&node.configurations, event)
            } else {
                world.put(&node.configurations, event)
            };
            if after.is_empty() {
                continue;
            }
            let what = if is_output { Occurrence::Observation(said) } else { Occurrence::Stimulus(said) };
            match judge.take(&what) {
                Judged::Followed(_) => {}
                Judged::Ends(Verdict::Fail, _) => {
                    result.fail.get_or_insert_with(|| {
                        let mut trace = trace();
                        trace.push(event);
                        trace
                    });
                    continue;
                }
                Judged::Ends(..) => continue,
            }
            let mut stimuli = node.stimuli.clone();
            if !is_output {
                stimuli.push(event);
            }
            next.push((event, Node { configurations: after, stimuli, judge }));
        }
        Ok(next)
    });
    // The visits find nothing by themselves.
    debug_assert!(!matches!(outcome, Outcome::Found(..)));
    result
}

/// The delay of the link.
const DELAY: Duration = Duration::from_secs(1);

/// Is silence a Fail here, when it has lasted as long as the delay and longer?
fn is_silence_blamed(judge: &Crossing<Explicit<'_>>) -> bool {
    let mut judge = judge.clone();
    judge.take(&Occurrence::Delay(DELAY));
    let blamed = |judge: &mut Crossing<Explicit<'_>>| judge.take(&Occurrence::Silence(DELAY * 2));
    judge.verdict().is_none() && matches!(blamed(&mut judge), Judged::Ends(Verdict::Fail, _))
}

/// Where an implementation and its queues may be.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Configuration {
    state: u32,
    /// Put in by the tester, and not taken yet.
    taken: Vec<EventId>,
    /// Sent, and not seen yet.
    sent: Vec<EventId>,
    /// What specification and purpose are after what the implementation has really done; `None` where they do
    /// not have it.
    trace: Option<u32>,
    /// Was that trace, or the beginning of it, accepted?
    accepted: bool,
}

struct World<'a> {
    iut: &'a Graph,
    alphabet: &'a Alphabet,
    instance: &'a Instance,
    both: Subsets<'a>,
    longest: usize,
}

type Configurations = BTreeSet<Configuration>;

impl World<'_> {
    /// The implementation does a step.
    fn done(&mut self, from: &Configuration, event: EventId, state: u32) -> Configuration {
        let trace = from.trace.and_then(|set| self.both.next(set).get(&event).copied());
        let accepted =
            from.accepted || trace.is_some_and(|set| is_accepted(self.instance, &self.both.states(set)));
        Configuration { state, trace, accepted, ..from.clone() }
    }

    fn steps(&self, state: u32, event: EventId) -> Vec<u32> {
        let steps = self.iut.visible[state as usize].iter();
        steps.filter(|(label, _)| *label == event).map(|(_, to)| *to).collect()
    }

    /// With all that can happen unseen.
    fn closed(&mut self, from: Configurations) -> Configurations {
        let mut work: Vec<Configuration> = from.into_iter().collect();
        let mut closed = Configurations::new();
        while let Some(one) = work.pop() {
            if !closed.insert(one.clone()) {
                continue;
            }
            let internal = self.iut.internal[one.state as usize].iter();
            work.extend(internal.map(|state| Configuration { state: *state, ..one.clone() }));
            if let Some(event) = one.taken.first() {
                for state in self.steps(one.state, *event) {
                    let mut next = self.done(&one, *event, state);
                    next.taken.remove(0);
                    work.push(next);
                }
            }
            if one.sent.len() < self.longest {
                for (event, state) in self.iut.visible[one.state as usize].clone() {
                    if self.alphabet.is_output(event) {
                        let mut next = self.done(&one, event, state);
                        next.sent.push(event);
                        work.push(next);
                    }
                }
            }
        }
        closed
    }

    /// The tester puts something in.
    fn put(&mut self, from: &Configurations, event: EventId) -> Configurations {
        let mut next = Configurations::new();
        for one in from {
            if self.longest == 0 {
                for state in self.steps(one.state, event) {
                    let done = self.done(one, event, state);
                    next.insert(done);
                }
            } else if one.taken.len() < self.longest {
                let mut one = one.clone();
                one.taken.push(event);
                next.insert(one);
            }
        }
        self.closed(next)
    }

    /// The tester sees something.
    fn seen(&mut self, from: &Configurations, event: EventId) -> Configurations {
        let mut next = Configurations::new();
        for one in from {
            if self.longest == 0 {
                for state in self.steps(one.state, event) {
                    let done = self.done(one, event, state);
                    next.insert(done);
                }
            } else if one.sent.first() == Some(&event) {
                let mut one = one.clone();
                one.sent.remove(0);
                next.insert(one);
            }
        }
        self.closed(next)
    }
}

/// A trace that the tester has seen: all that matters of it.
#[derive(Clone)]
struct Node<'a> {
    configurations: Configurations,
    stimuli: Vec<EventId>,
    judge: Crossing<Explicit<'a>>,
}

type Key<'a> = (&'a Configurations, Vec<(u32, usize)>, &'a [EventId], Option<Verdict>);

impl Node<'_> {
    /// The states of the judge with what they have not taken. Of the stimuli, those that one has not.
    fn key(&self) -> Key<'_> {
        let interleavings: Vec<(u32, usize)> =
            self.judge.interleavings().map(|(judge, behind)| (judge.state, behind)).collect();
        // How many are under way at most is counted by the judge, from the first on.
        let last = self.stimuli.len().min(MOST_UNDER_WAY);
        let behind = interleavings.iter().map(|(_, behind)| *behind).max().unwrap_or(0).max(last);
        (
            &self.configurations,
            interleavings,
            &self.stimuli[self.stimuli.len() - behind..],
            self.judge.verdict(),
        )
    }
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Node<'_> {}

impl Hash for Node<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let (configurations, interleavings, stimuli, _) = self.key();
        (configurations, interleavings, stimuli).hash(hasher);
    }
}

/// A test case as an explicit system, as a judge. Its events are called by their numbers.
#[derive(Clone)]
struct Explicit<'a> {
    iosts: &'a Iosts,
    tester: &'a Tester<'a>,
    /// For each state, is silence a failure there?
    blames: &'a [bool],
    first: u32,
    state: u32,
}

impl Explicit<'_> {
    fn next(&self, event: &Event) -> Option<u32> {
        let number: EventId = event.action.parse().ok()?;
        let steps = &self.tester.graph.visible[self.state as usize];
        steps.iter().find(|(label, _)| *label == number).map(|(_, state)| *state)
    }
}

impl Follower for Explicit<'_> {
    fn has_state_of(&self, other: &Self) -> bool {
        self.state == other.state
    }

    fn may_come(&self, _: &dyn Fn(&str) -> bool) -> bool {
        true
    }
}

impl Judge for Explicit<'_> {
    fn iosts(&self) -> &Iosts {
        self.iosts
    }

    fn constants(&self) -> Vec<(Datum, Value)> {
        Vec::new()
    }

    fn begin(&mut self) {
        self.state = self.first;
    }

    fn offers(&self) -> Offers {
        Offers::default()
    }

    fn stimulus(&mut self, _: TransitionId, _: &mut Choice<'_>) -> Option<Event> {
        None
    }

    fn can_send(&mut self, stimulus: &Event) -> bool {
        self.next(stimulus).is_some()
    }

    fn take(&mut self, what: &Occurrence) -> Judged {
        let (event, judged) = match what {
            Occurrence::Stimulus(event) => (event, Judged::Ends(Verdict::Inconclusive, Cause::Unspecified)),
            Occurrence::Observation(event) => (event, Judged::alien(self.iosts(), event)),
            Occurrence::Silence(time) if self.blames[self.state as usize] => {
                return Judged::silence_fails(*time);
            }
            Occurrence::Silence(time) => return Judged::silence(*time),
            Occurrence::Delay(_) => return Judged::Followed(None),
        };
        let Some(state) = self.next(event) else { return judged };
        self.state = state;
        Judged::Followed(None)
    }

    fn verdict(&self) -> Option<Verdict> {
        Some(match self.tester.verdicts[self.state as usize]? {
            Made::Pass => Verdict::Pass,
            Made::WeakPass => Verdict::WeakPass,
            Made::Inconclusive => Verdict::Inconclusive,
            Made::Fail => Verdict::Fail,
        })
    }

    fn shown(&self) -> ShownState {
        ShownState { place: self.state.to_string(), data: Vec::new() }
    }

    fn place(&self) -> &str {
        ""
    }

    fn describe(&self, _: TransitionId) -> String {
        String::new()
    }

    fn why(&self, _: Option<&Event>, _: Option<Verdict>) -> Reasons {
        Reasons::default()
    }
}
