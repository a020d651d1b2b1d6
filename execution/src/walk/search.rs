//! A near open goal: breadth-first over concrete states of the specification.
//!
//! **Problem.** Which events lead to a goal depends on the data, and a walk asks after every answer that was
//! not the planned one.
//!
//! **Method.** From the positions that are possible all steps are taken, nearest first: stimuli and outputs
//! with candidate values ([`super::candidates`]), internal steps, the implementation's answers as if it
//! cooperated. Of two positions that differ in nothing that the phase looks at, one is enough: of those as
//! near, that on whose way more is new. The search ends [`SLACK`] steps behind the first step that meets
//! something open; of the ways to such steps that on which most is new for each step is taken, what is new in
//! later phases counting less. After silence nothing can be awaited, so the first step is a stimulus.
//!
//! **Where we differ** from [`crate::planner`], which asks a solver for the path condition of a way to Pass:
//! there one way is wanted whatever it costs, here the nearest of many goals, again and again, and concrete
//! states are a thousand times cheaper.
//!
//! **Ends** after [`NODES`] positions. **Costs** for each the steps of its location times the candidates.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use coreach_model::TransitionId;
use coreach_model::iosts::ActionKind;
use coreach_model::semantics::{Event, State};

use super::candidates::{CandidateStep, candidates};
use super::goals::{Class, Looks, SoughtGoal};
use super::positions::Position;
use crate::judge::Choice;

/// The most positions that are looked at.
const NODES: usize = 300;

/// So many steps further than the nearest one it is looked for more that is new for each step.
const SLACK: usize = 4;

/// What a plan is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WalkTarget {
    /// A goal, by its number.
    WalkGoal(usize),
    /// A class.
    Class(Class),
}

/// A step of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// Where the walk is to be.
    pub state: State,
    /// The transition.
    pub transition: TransitionId,
    /// The event; without a meaning of an internal step.
    pub event: Event,
    /// Whose it is.
    pub kind: ActionKind,
}

/// What of a step, so many steps from here, with these goals and classes, is looked for; and how much is new
/// there.
pub type Open<'a> = dyn FnMut(usize, &[usize], &[Class]) -> (Option<WalkTarget>, usize) + 'a;

/// From where, and for what.
pub struct Question<'a> {
    /// What of the steps before matters.
    pub looks: Looks,
    /// Has nothing come, so that nothing will come?
    pub is_silent: bool,
    /// What ends it.
    pub open: &'a mut Open<'a>,
}

struct Node {
    position: Position,
    /// How many steps it is away.
    depth: usize,
    /// How much is new on the way to it.
    gain: usize,
    /// What its last step met.
    target: Option<WalkTarget>,
    /// The node before it, and the step from there.
    from: Option<(usize, Planned)>,
}

/// A short way to something open, within the limit.
pub fn search<'p>(
    sought: &SoughtGoal,
    from: impl Iterator<Item = &'p Position>,
    question: Question<'_>,
    sources: &mut Choice<'_>,
) -> Option<(WalkTarget, VecDeque<Planned>)> {
    let mut known: HashMap<Position, usize> = HashMap::new();
    let mut nodes: Vec<Node> = Vec::new();
    for position in from {
        let key = (position.0.clone(), question.looks.seen(&position.1));
        if let Entry::Vacant(place) = known.entry(key) {
            place.insert(nodes.len());
            nodes.push(Node { position: position.clone(), depth: 0, gain: 0, target: None, from: None });
        }
    }
    let roots = nodes.len();
    let mut next = 0;
    let mut best: Option<Best> = None;
    while next < nodes.len().min(NODES) {
        let Node { position: (state, trail), depth, gain, .. } = &nodes[next];
        let (state, trail, depth, gain) = (state.clone(), trail.clone(), depth + 1, *gain);
        if best.as_ref().is_some_and(|best| depth > best.first + SLACK) {
            break;
        }
        let mut outgoing = sought.outgoing[state.location].clone();
        sources.random.shuffle(&mut outgoing);
        for number in outgoing {
            let kind = sought.kind(number);
            if question.is_silent && next < roots && kind != ActionKind::Input {
                continue;
            }
            let transition = &sought.iosts.transitions[number];
            let action = &sought.iosts.action(transition.action).name;
            let met = sought.met(&trail, number);
            let behind = sought.after(&trail, number);
            for CandidateStep { values, to, classes } in candidates(sought, number, &state, sources) {
                let (mut found, more) = (question.open)(depth, &met, &classes);
                let event = Event::new(action.clone(), values);
                let step = Planned { state: state.clone(), transition: number, event, kind };
                let gain = gain + more;
                found = found.filter(|target| !is_met(&nodes, next, target));
                if let Some(target) = &found {
                    let first = best.as_ref().map_or(depth, |best| best.first);
                    if best.as_ref().is_none_or(|best| gain * best.depth > best.gain * depth) {
                        let (at, target, last) = (next, target.clone(), step.clone());
                        best = Some(Best { first, depth, gain, at, target, last });
                    }
                }
                let key = (to.clone(), question.looks.seen(&behind));
                let position = (to, behind.clone());
                let node = Node { position, depth, gain, target: found, from: Some((next, step)) };
                match known.get(&key) {
                    // Not looked at yet, since it is one step further.
                    Some(&at) if nodes[at].depth == depth && nodes[at].gain < gain => nodes[at] = node,
                    Some(_) => {}
                    None if nodes.len() < 2 * NODES => {
                        known.insert(key, nodes.len());
                        nodes.push(node);
                    }
                    None => {}
                }
            }
        }
        next += 1;
    }
    best.map(|best| (best.target, way(nodes, best.at, best.last)))
}

/// The best way so far.
struct Best {
    /// The depth at which something was found first.
    first: usize,
    depth: usize,
    gain: usize,
    at: usize,
    target: WalkTarget,
    last: Planned,
}

/// Is it met on the way to this node?
fn is_met(nodes: &[Node], at: usize, target: &WalkTarget) -> bool {
    let mut at = Some(at);
    while let Some(node) = at.map(|at| &nodes[at]) {
        if node.target.as_ref() == Some(target) {
            return true;
        }
        at = node.from.as_ref().map(|(before, _)| *before);
    }
    false
}

/// The visible steps to a node, and one more.
fn way(nodes: Vec<Node>, at: usize, last: Planned) -> VecDeque<Planned> {
    let mut way = VecDeque::from([last]);
    let mut at = at;
    while let Some((before, step)) = &nodes[at].from {
        way.push_front(step.clone());
        at = *before;
    }
    way.retain(|step| step.kind != ActionKind::Internal);
    way
}
