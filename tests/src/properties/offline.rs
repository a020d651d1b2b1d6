//! Judging off line, held against brute force over states with clocks that run.
//!
//! **Problem.** A verdict hangs on what is known of data, on what time excludes, and on when a state may stay
//! silent. Each of these is a formula in `execution/src/offline`, made without quantifiers and simplified.
//!
//! **Method.** A random timed model ([`crate::generator::timed`]), a random path through it, random traces
//! whose events lie on a grid of 1/2: most members are such that the model allows them, so that traces become
//! long. The oracle keeps all states that are possible, one for each initial valuation and each choice, with
//! how far along the path each came. Whether a state may wait is found by trying all delays of a grid of 1/4,
//! up to where no constant is left to be passed; the generator says why that is exact. After every member
//! both have a verdict: as if the trace ended there.
//!
//! **Steps that nobody sees.** Other models have internal steps with clocks. There all instants of a grid of
//! 1/8 are tried for these, and delays of a grid of 1/16: such a model has one clock and at most two such
//! steps from event to event, so that between two points of the grid of 1/2 no more than three instants have
//! to be told apart.
//!
//! The oracle shares with the judge only the evaluation of terms: its states are those of
//! `model/src/timed/semantics.rs`.

use std::collections::{BTreeMap, BTreeSet};

use crate::timed_semantics::{TimedState, elapse, fire, initial};
use coreach_execution::offline::judge::OfflineJudge;
use coreach_execution::offline::prepared::Offline;
use coreach_execution::offline::recent::RecentSolver;
use coreach_execution::offline::sequence::{Placed, SeqItem, is_observed, normalize, total_duration};
use coreach_execution::offline::verdict::{MOST_CONTEXTS, OfflineVerdict};
use coreach_execution::offline::waiting::Rules;
use coreach_execution::offline::write::{TraceForm, write_sequence as written};
use coreach_model::iosts::{ActionId, ActionKind, TransitionId};
use coreach_model::reader::{from_bytes, read_timed_specification};
use coreach_model::term::evaluate::Valuation;
use coreach_model::timed::Timed;
use coreach_model::timed::delayed::{delayed_with_unseen, unseen_delays};
use coreach_model::value::tuples;
use coreach_model::{Datum, Value};
use dashu_ratio::RBig;

use crate::generator::random::Random;
use crate::generator::timed::{TimedShape, timed_specification};
use crate::properties::{OFFLINE, Report};

/// Traces of one model, and members of one trace.
const TRACES: (usize, usize) = (6, 9);

/// The same of a model with steps that nobody sees.
const UNSEEN_TRACES: (usize, usize) = (3, 6);

/// Beyond what is shown by clocks, no comparison of a random model has an end that is further away.
const FURTHEST: u32 = 8;

/// How far along the path, where it is on it; where the model came by its last step; and how long ago.
type Possible = (Option<usize>, TimedState, RBig);

/// The oracle, in the middle of a trace.
struct Oracle<'a> {
    timed: &'a Timed,
    path: &'a [TransitionId],
    states: BTreeSet<Possible>,
    /// Internal steps that happen at any instant.
    unseen: BTreeSet<TransitionId>,
    time: RBig,
}

/// The model of a seed, and traces of it; what does not agree.
pub fn offline(seed: u64, report: &mut Report) {
    let text = timed_specification(seed, &TimedShape::default());
    let outcome = model(seed, &text, TRACES, report);
    report.note(OFFLINE, outcome.map_err(|why| format!("{why}\n{text}")));
}

/// The same of a model with steps that nobody sees.
pub fn unseen_steps(seed: u64, report: &mut Report) {
    let shape = TimedShape {
        locations: (2, 3),
        clocks: (1, 1),
        bound: 2,
        values: 1,
        constant: 0,
        internal: 100,
        unseen: 90,
        seen: 0,
        ..TimedShape::default()
    };
    let text = timed_specification(seed, &shape);
    let outcome = model(seed, &text, UNSEEN_TRACES, report);
    report.note(OFFLINE, outcome.map_err(|why| format!("{why}\n{text}")));
}

fn model(
    seed: u64,
    text: &str,
    (traces, longest): (usize, usize),
    report: &mut Report,
) -> Result<(), String> {
    let file =
        from_bytes("timed.yaml".to_owned(), text.as_bytes().to_vec()).map_err(|found| found.message)?;
    let (specification, _) = read_timed_specification(file).map_err(|found| format!("{found:?}"))?;
    let timed = &specification.timed;
    let form = delayed_with_unseen(timed);
    if !unseen_delays(timed).is_empty() {
        report.count("offline: models with unseen steps", 1);
    }
    let mut random = Random::new(seed ^ 0x6f66_666c);
    let starts = starts(timed);
    for number in 0..traces {
        let path = path(&mut random, timed);
        let names: Vec<String> = path.iter().map(|number| timed.called(*number)).collect();
        let offline = Offline::new(timed, &form, path.clone(), Rules::Corrected, MOST_CONTEXTS);
        // Every other trace by formulas, where there is more than one context.
        let offline = if number % 2 == 1 { offline.gathering_beyond(1) } else { offline };
        let mut solver = RecentSolver::default();
        let judge = OfflineJudge::new(&offline, &Valuation::new(), &mut solver);
        let mut judge = match (judge, starts.is_empty()) {
            (Ok(judge), false) => judge,
            (Err(_), true) => {
                report.count("offline: no initial state", 1);
                return Ok(());
            }
            (judge, _) => return Err(format!("initial states: {}, judge: {:?}", starts.len(), judge.err())),
        };
        let mut oracle = Oracle::new(timed, &path, starts.clone());
        let mut trace = Vec::new();
        for place in 0..longest {
            let item = oracle.draw(&mut random);
            trace.push(item.clone());
            let expected = oracle.take(&item);
            let taken = judge.take(&Placed { line: place + 1, item }, &mut solver);
            let shown = || {
                format!(
                    "trace {number}, path {}:\n{}",
                    names.join(","),
                    written(timed.graph(), &trace, TraceForm::Csv)
                )
            };
            taken.map_err(|why| format!("{why:?}: {}", shown()))?;
            if judge.verdict() != expected {
                return Err(format!("{:?}, where it is {expected:?}: {}", judge.verdict(), shown()));
            }
            if number == 0 && place + 1 == longest && expected != OfflineVerdict::Fail {
                let recorded = moved(&mut random, timed, &trace);
                let offline = Offline::new(timed, &form, path.clone(), Rules::Corrected, MOST_CONTEXTS)
                    .within(RBig::ONE / RBig::from(4));
                let mut judge = OfflineJudge::new(&offline, &Valuation::new(), &mut solver)
                    .map_err(|why| format!("{why:?}: {}", shown()))?;
                for (place, item) in recorded.iter().enumerate() {
                    let taken = judge.take(&Placed { line: place + 1, item: item.clone() }, &mut solver);
                    taken.map_err(|why| format!("{why:?}: {}", shown()))?;
                }
                if judge.verdict() == OfflineVerdict::Fail {
                    let recorded = written(timed.graph(), &recorded, TraceForm::Csv);
                    return Err(format!("Fail, recorded as\n{recorded}of {}", shown()));
                }
                report.count("offline: recorded within a tolerance", 1);
            }
            report.count(
                match expected {
                    OfflineVerdict::Pass => "offline: Pass",
                    OfflineVerdict::WeakPass => "offline: WeakPass",
                    OfflineVerdict::InconclusiveR => "offline: Inconclusive, another way",
                    OfflineVerdict::InconclusiveI => "offline: Inconclusive, an input",
                    OfflineVerdict::Fail if matches!(trace.last(), Some(SeqItem::Delay(_))) => {
                        "offline: Fail by a delay"
                    }
                    OfflineVerdict::Fail => "offline: Fail by an output",
                },
                1,
            );
            if judge.has_ended() {
                break;
            }
        }
    }
    Ok(())
}

/// All initial states: one for each valuation of what is open.
fn starts(timed: &Timed) -> Vec<TimedState> {
    let graph = timed.graph();
    let data: Vec<Datum> = graph.variables.iter().chain(&graph.constants).cloned().collect();
    // What is real is fixed by the initial condition, at 0 or 1.
    let values: Vec<Vec<Value>> = data
        .iter()
        .map(|datum| {
            Value::enumerate(datum.ty(), 16)
                .unwrap_or_else(|| [0u8, 1].map(|value| Value::Real(RBig::from(value))).to_vec())
        })
        .collect();
    let valuations = tuples(&values).into_iter().map(|tuple| data.iter().cloned().zip(tuple).collect());
    valuations.filter_map(|valuation: Valuation| initial(timed, &valuation)).collect()
}

/// A walk through the graph, from where it begins.
fn path(random: &mut Random, timed: &Timed) -> Vec<TransitionId> {
    let graph = timed.graph();
    let mut at = graph.initial;
    let mut path = Vec::new();
    for _ in 0..random.between((1, 4)) {
        let leaving = graph.transitions.numbered().filter(|(_, transition)| transition.source == at);
        let leaving: Vec<TransitionId> = leaving.map(|(number, _)| number).collect();
        let Some(number) = random.pick(&leaving).copied() else { break };
        path.push(number);
        at = graph.transitions[number].target;
    }
    path
}

impl<'a> Oracle<'a> {
    fn new(timed: &'a Timed, path: &'a [TransitionId], starts: Vec<TimedState>) -> Self {
        let mut oracle =
            Oracle { timed, path, states: BTreeSet::new(), unseen: BTreeSet::new(), time: RBig::ZERO };
        oracle.unseen = unseen_delays(timed).into_iter().collect();
        let starts = starts.into_iter().map(|state| (Some(0), state, RBig::ZERO));
        oracle.states = oracle.closed(starts.collect());
        oracle
    }

    fn kind(&self, number: TransitionId) -> ActionKind {
        let graph = self.timed.graph();
        graph.action(graph.transitions[number].action).kind
    }

    fn through(&self, place: Option<usize>, number: TransitionId) -> Option<usize> {
        place.filter(|steps| self.path.get(*steps) == Some(&number)).map(|steps| steps + 1)
    }

    /// These and what internal steps reach from them, now: those that take no time where they have just come.
    fn closed(&self, states: BTreeSet<Possible>) -> BTreeSet<Possible> {
        let mut all = states.clone();
        let mut work: Vec<Possible> = states.into_iter().collect();
        while let Some((place, state, since)) = work.pop() {
            let now = elapse(self.timed, &state, &since);
            for number in self.timed.graph().transitions.numbers() {
                if self.kind(number) == ActionKind::Internal
                    && (since == RBig::ZERO || self.unseen.contains(&number))
                    && let Some(next) = fire(self.timed, number, &now, &[])
                {
                    let next = (self.through(place, number), next, RBig::ZERO);
                    if all.insert(next.clone()) {
                        work.push(next);
                    }
                }
            }
        }
        all
    }

    /// The values that an action may carry.
    fn values(&self, action: ActionId) -> Vec<Vec<Value>> {
        let parameters = &self.timed.graph().action(action).parameters;
        let lists: Vec<Vec<Value>> =
            parameters.iter().map(|datum| Value::enumerate(datum.ty(), 16).unwrap_or_default()).collect();
        tuples(&lists)
    }

    /// All delays of the grid of 1/4 up to where nothing changes any more; beside steps that nobody sees, of
    /// 1/16, where the one clock is soon beyond all that it is compared with.
    fn grid(&self) -> impl Iterator<Item = RBig> + use<> {
        let (furthest, parts) = match self.unseen.is_empty() {
            true => (&self.time + RBig::from(FURTHEST), 4),
            false => (RBig::from(FURTHEST / 2), 16),
        };
        let end = u32::try_from((furthest * RBig::from(parts)).ceil()).unwrap_or(0);
        (0..=end).map(move |number| RBig::from(number) / RBig::from(parts))
    }

    /// When something can be taken in a state that was entered like this: the latest delay of the grid, and
    /// whether no answer ever can.
    fn ahead(&self, state: &TimedState) -> (Option<RBig>, bool) {
        let graph = self.timed.graph();
        let leaving =
            graph.transitions.numbered().filter(|(_, transition)| transition.source == state.location);
        let (mut latest, mut is_quiescent) = (None, true);
        for (number, transition) in leaving {
            let values = self.values(transition.action);
            let can = |state: &TimedState| {
                values.iter().any(|values| fire(self.timed, number, state, values).is_some())
            };
            let kind = self.kind(number);
            if kind == ActionKind::Internal && !self.unseen.contains(&number) {
                is_quiescent &= !can(state);
                continue;
            }
            let possible = self.grid().filter(|delay| can(&elapse(self.timed, state, delay)));
            let last = possible.last();
            is_quiescent &= kind == ActionKind::Input || last.is_none();
            latest = latest.max(last);
        }
        (latest, is_quiescent)
    }

    /// Lets so much time pass, without any step.
    fn silent(&mut self, time: &RBig) {
        let end = self.grid().last();
        let mut known: BTreeMap<TimedState, (Option<RBig>, bool)> = BTreeMap::new();
        let states = std::mem::take(&mut self.states);
        let later = states.into_iter().filter_map(|(place, state, since)| {
            let since = since + time;
            let (latest, is_quiescent) =
                known.entry(state.clone()).or_insert_with(|| self.ahead(&state)).clone();
            // What is possible at the end of the grid is so for ever.
            let is_later = latest.is_some_and(|latest| latest >= since || Some(latest) == end);
            (is_later || is_quiescent).then_some((place, state, since))
        });
        let later = later.collect();
        self.states = later;
        self.time += time;
    }

    fn take(&mut self, item: &SeqItem) -> OfflineVerdict {
        match item {
            SeqItem::Delay(time) if self.unseen.is_empty() => self.silent(time),
            SeqItem::Delay(time) => {
                let eighth = RBig::ONE / RBig::from(8);
                let mut passed = RBig::ZERO;
                while passed < *time {
                    self.silent(&eighth);
                    let states = std::mem::take(&mut self.states);
                    self.states = self.closed(states);
                    passed += &eighth;
                }
            }
            SeqItem::Event(action, values) => {
                let graph = self.timed.graph();
                let mut next = BTreeSet::new();
                for (place, state, since) in &self.states {
                    let now = elapse(self.timed, state, since);
                    for (number, transition) in graph.transitions.numbered() {
                        if transition.action == *action
                            && let Some(after) = fire(self.timed, number, &now, values)
                        {
                            next.insert((self.through(*place, number), after, RBig::ZERO));
                        }
                    }
                }
                self.states = self.closed(next);
                if self.states.is_empty() && graph.action(*action).kind == ActionKind::Input {
                    return OfflineVerdict::InconclusiveI;
                }
            }
        }
        let end = Some(self.path.len());
        match self.states.iter().filter(|(place, ..)| *place == end).count() {
            _ if self.states.is_empty() => OfflineVerdict::Fail,
            0 => OfflineVerdict::InconclusiveR,
            all if all == self.states.len() => OfflineVerdict::Pass,
            _ => OfflineVerdict::WeakPass,
        }
    }

    /// What comes next: mostly what the model allows.
    fn draw(&self, random: &mut Random) -> SeqItem {
        if random.chance(35) {
            return SeqItem::Delay(RBig::from(random.between((1, 4))) / RBig::from(2));
        }
        let graph = self.timed.graph();
        let mut allowed: Vec<(ActionId, Vec<Value>)> = Vec::new();
        for (number, transition) in graph.transitions.numbered() {
            if self.kind(number) == ActionKind::Internal {
                continue;
            }
            let values = self.values(transition.action).into_iter().filter(|values| {
                self.states.iter().any(|(_, state, since)| {
                    fire(self.timed, number, &elapse(self.timed, state, since), values).is_some()
                })
            });
            allowed.extend(values.map(|values| (transition.action, values)));
        }
        let visible = graph.action_ids().filter(|id| graph.action(*id).is_visible());
        let all: Vec<(ActionId, Vec<Value>)> =
            visible.flat_map(|id| self.values(id).into_iter().map(move |values| (id, values))).collect();
        let chosen = if random.chance(90) { random.pick(&allowed) } else { None };
        match chosen.or_else(|| random.pick(&all)) {
            Some((action, values)) if chosen.is_some() || random.chance(60) => {
                SeqItem::Event(*action, values.clone())
            }
            _ => SeqItem::Delay(RBig::from(random.between((1, 4))) / RBig::from(2)),
        }
    }
}

/// As somebody records it who is up to 1/4 early or late, and keeps the order of what he sent and of what he
/// saw.
fn moved(random: &mut Random, timed: &Timed, trace: &[SeqItem]) -> Vec<SeqItem> {
    let mut at = RBig::ZERO;
    let mut last = [RBig::ZERO, RBig::ZERO];
    let mut all: Vec<(RBig, Option<SeqItem>)> = Vec::new();
    for item in trace {
        let SeqItem::Event(action, _) = item else {
            at += total_duration(std::slice::from_ref(item));
            continue;
        };
        let side = &mut last[usize::from(is_observed(timed, *action))];
        let early = RBig::from(i64::try_from(random.below(5)).unwrap_or(0) - 2) / RBig::from(8);
        *side = side.clone().max(&at + early);
        all.push((side.clone(), Some(item.clone())));
    }
    all.push((at.max(last[0].clone()).max(last[1].clone()), None));
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut now = RBig::ZERO;
    let steps = all.into_iter().flat_map(|(time, item)| {
        let passed = SeqItem::Delay(&time - &now);
        now = time;
        std::iter::once(passed).chain(item)
    });
    normalize(steps)
}
