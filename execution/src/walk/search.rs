//! The nearest open goal: breadth-first over concrete states of the specification.
//!
//! **Problem.** Which events lead to a goal depends on the data, and a walk asks after every answer that was
//! not the planned one.
//!
//! **Method.** From the positions that are possible all steps are taken, nearest first: stimuli and outputs
//! with candidate values ([`super::candidates`]), internal steps, the implementation's answers as if it
//! cooperated. Of two positions that differ in nothing that the phase looks at, one is enough. The first step
//! that meets something open ends the search. After silence nothing can be awaited, so the first step is a
//! stimulus.
//!
//! **Where we differ** from [`crate::planner`], which asks a solver for the path condition of a way to Pass:
//! there one way is wanted whatever it costs, here the nearest of many goals, again and again, and concrete
//! states are a thousand times cheaper.
//!
//! **Ends** after [`NODES`] positions. **Costs** for each the steps of its location times the candidates.

use std::collections::{HashSet, VecDeque};

use coreach_model::TransitionId;
use coreach_model::iosts::ActionKind;
use coreach_model::semantics::{Event, State, fire};

use super::candidates::candidates;
use super::goals::{Class, SoughtGoal};
use super::positions::Position;
use crate::judge::Choice;

/// The most positions that are looked at.
const NODES: usize = 300;

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

/// What of a step's goals, or else its class, is still open.
pub type Open<'a> = dyn Fn(&[usize], &dyn Fn() -> Class) -> Option<WalkTarget> + 'a;

/// From where, and for what.
pub struct Question<'a> {
    /// The number of the phase.
    pub phase: usize,
    /// Has nothing come, so that nothing will come?
    pub is_silent: bool,
    /// What ends it.
    pub open: &'a Open<'a>,
}

struct Node {
    position: Position,
    /// The node before it, and the step from there.
    from: Option<(usize, Planned)>,
}

/// A shortest way to something open, within the limit.
pub fn search<'p>(
    sought: &SoughtGoal,
    from: impl Iterator<Item = &'p Position>,
    question: &Question<'_>,
    sources: &mut Choice<'_>,
) -> Option<(WalkTarget, VecDeque<Planned>)> {
    let mut known: HashSet<Position> = HashSet::new();
    let mut nodes: Vec<Node> = Vec::new();
    for position in from {
        if known.insert((position.0.clone(), sought.seen_by(question.phase, &position.1))) {
            nodes.push(Node { position: position.clone(), from: None });
        }
    }
    let roots = nodes.len();
    let mut next = 0;
    while next < nodes.len().min(NODES) {
        let (state, trail) = nodes[next].position.clone();
        for &number in &sought.outgoing[state.location] {
            let kind = sought.kind(number);
            if question.is_silent && next < roots && kind != ActionKind::Input {
                continue;
            }
            let transition = &sought.iosts.transitions[number];
            let met = sought.met(&trail, number);
            for values in candidates(sought, number, &state, sources) {
                let Some(to) = fire(&sought.iosts, transition, &state, &values) else { continue };
                let class = || sought.class(number, &state, &values, &to);
                let target = (question.open)(&met, &class);
                let action = &sought.iosts.action(transition.action).name;
                let step = Planned {
                    state: state.clone(),
                    transition: number,
                    event: Event::new(action.clone(), values.clone()),
                    kind,
                };
                if let Some(target) = target {
                    return Some((target, way(nodes, next, step)));
                }
                let behind = sought.after(&trail, number);
                if nodes.len() < 2 * NODES
                    && known.insert((to.clone(), sought.seen_by(question.phase, &behind)))
                {
                    nodes.push(Node { position: (to, behind), from: Some((next, step)) });
                }
            }
        }
        next += 1;
    }
    None
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
