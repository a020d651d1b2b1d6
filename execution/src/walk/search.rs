//! The best way on: over concrete states of the specification.
//!
//! **Problem.** Which events lead to a goal depends on the data, and a walk asks after every answer that was
//! not the planned one. What is near may be worth little, and what is worth much behind a long counter.
//!
//! **Method.** From the positions that are possible steps are taken: stimuli and outputs with candidate
//! values ([`super::candidates`]), internal steps, the implementation's answers as if it cooperated. Each
//! way is worth what its steps meet ([`super::worth`]), what was never met once; the best is worth most for
//! each step. Of two positions that differ only in data that nobody reads any more, one is enough. Positions
//! wait in two queues, nearest first: those in which a datum has a value, in this location, that it had in
//! none before, and the others. They have turns, so what is near is seen whatever the data, and what is far
//! along a counter whatever else there is. Where nothing of all that was never met, the first queue is
//! followed further. After silence nothing can be awaited, so the first step is a stimulus.
//!
//! **Source.** The first queue is width-based search (Lipovetzky and Geffner, ECAI 2012), of width one: its
//! positions are as many as values, not as combinations of values.
//!
//! **Where we differ** from [`crate::planner`], which asks a solver for the path condition of a way to Pass:
//! there one way is wanted whatever it costs, here the best of many, again and again, and concrete states
//! are a thousand times cheaper.
//!
//! **Ends** after [`NEAR`] positions and [`STEPS`] steps where these meet something that was never met. Else
//! it goes on for as many steps as its caller gives it, and to [`FAR`] positions. **Costs** for each position
//! the steps of its location times the candidates.

use std::cmp::Reverse;
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use coreach_model::hash::{FastMap, FastSet};
use coreach_model::iosts::ActionKind;
use coreach_model::semantics::{Event, State};
use coreach_model::{LocationId, TransitionId, Value};

use super::candidates::{CandidateStep, candidates, draw_candidate};
use super::goals::{SoughtGoal, Trail};
use super::positions::Position;
use super::worth::Worth;
use crate::judge::Choice;

/// So many positions are near, and those up to so many steps.
const NEAR: usize = 40;
const STEPS: usize = 800;

/// From so many positions on only those with a new value are looked at.
const NODES: usize = 300;

/// The most positions that are looked at.
const FAR: usize = 4000;

/// The most values that a parameter tries, at the nearest place and elsewhere.
const MANY: usize = 24;
const FEW: usize = 2;

/// Once in so many times, a way has values as random runs have them.
const DRAWN: usize = 3;

/// So many ways to take a transition are followed: those that are worth most, and with those behind which
/// other transitions may be taken.
const KEPT: usize = 4;
const MOST_KEPT: usize = 10;

/// A step of a plan: in this state, this event through this transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// Where the run is to be.
    pub state: State,
    /// The transition.
    pub transition: TransitionId,
    /// The event: sent by the tester, or hoped for; of an internal step without a meaning.
    pub event: Event,
    /// Whose it is: an input is sent.
    pub kind: ActionKind,
}

/// What a search has come to.
#[derive(Default)]
pub struct Prospect {
    /// The visible steps of the best way.
    pub route: VecDeque<Planned>,
    /// What it is for: the item of its last step that is worth most.
    pub target: Option<usize>,
    /// What was seen anywhere that was never met.
    pub fresh: HashSet<usize>,
    /// So many steps were tried that are not near.
    pub far: usize,
    /// What was seen of goals and signs, each the less, the further.
    pub outlook: u64,
}

/// A step that was tried, with the numbers of the classes that it meets.
struct KnownStep {
    values: Vec<Value>,
    to: State,
    items: Vec<usize>,
}

/// The worth of the way there, the items that the step meets first, and the step.
type RankedStep<'s> = (u64, Vec<usize>, &'s KnownStep);

/// How many other values of each parameter were tried, and the steps.
type ListedSteps = (usize, Rc<[KnownStep]>);

/// The steps that were tried, for the next searches: a walk stays where it has been.
#[derive(Default)]
pub struct TriedSteps {
    steps: FastMap<(State, TransitionId), ListedSteps>,
    /// How many searches used them.
    searches: usize,
}

impl TriedSteps {
    /// A search begins. Other values are tried from time to time.
    fn begin(&mut self) {
        /// So many searches use the same steps.
        const SEARCHES: usize = 32;
        /// The most entries that are kept for the next search.
        const ENTRIES: usize = 20_000;
        self.searches += 1;
        if self.searches.is_multiple_of(SEARCHES) || self.steps.len() > ENTRIES {
            self.steps.clear();
        }
    }

    fn list(
        &mut self,
        sought: &SoughtGoal,
        worth: &mut Worth,
        (number, state): (TransitionId, &State),
        most: usize,
        sources: &mut Choice<'_>,
    ) -> Rc<[KnownStep]> {
        let key = (state.clone(), number);
        if let Some((values, steps)) = self.steps.get(&key)
            && *values >= most
        {
            return steps.clone();
        }
        let steps = list_steps(sought, worth, (number, state), most, sources);
        self.steps.insert(key, (most, steps.clone()));
        steps
    }
}

/// Ways to take the transition in the state; at most so many other values of each parameter.
fn list_steps(
    sought: &SoughtGoal,
    worth: &mut Worth,
    (number, state): (TransitionId, &State),
    most: usize,
    sources: &mut Choice<'_>,
) -> Rc<[KnownStep]> {
    let known = |CandidateStep { values, to, signs }: CandidateStep| {
        let classes = sought.classes(number, state, &values, &signs);
        let items = classes.iter().map(|class| worth.number(class)).collect();
        KnownStep { values, to, items }
    };
    let mut all = candidates(sought, number, state, most, sources);
    let action = sought.iosts.action(sought.iosts.transitions[number].action);
    let is_drawn = most == MANY && action.kind == ActionKind::Input && !action.parameters.is_empty();
    if is_drawn && sources.random.below(DRAWN) == 0 {
        all.extend(draw_candidate(sought, number, state, sources));
        sources.random.shuffle(&mut all);
    }
    all.into_iter().map(known).collect()
}

/// Locations, and values of data in them.
type Features = FastSet<(LocationId, Option<(usize, Value)>)>;

/// A location, the values of the data that somebody still reads there, and the trail.
type Essence = (LocationId, Vec<Value>, Trail);

struct Node {
    position: Position,
    /// How many steps it is away.
    depth: u64,
    /// What is met on the way to it is worth.
    gain: u64,
    /// Is anything met on the way that was never met?
    is_fresh: bool,
    /// What its last step meets of that.
    fresh: Vec<usize>,
    /// The node before it, and the step from there.
    from: Option<(usize, Planned)>,
}

/// The node at which the best way ends.
struct Best {
    is_fresh: bool,
    gain: u64,
    depth: u64,
    at: usize,
}

impl Best {
    /// What is new goes before what is old, however far; else what is worth more for each step.
    fn is_better(&self, than: &Self) -> bool {
        let by_step = self.gain * than.depth > than.gain * self.depth;
        if self.is_fresh == than.is_fresh { by_step } else { self.is_fresh }
    }
}

/// The best way from here. At most so many more steps are tried where nothing near was never met.
pub fn search<'p>(
    sought: &SoughtGoal,
    worth: &mut Worth,
    tried_steps: &mut TriedSteps,
    from: impl Iterator<Item = &'p Position>,
    is_silent: bool,
    most_far: usize,
    sources: &mut Choice<'_>,
) -> Prospect {
    tried_steps.begin();
    let mut found = Prospect::default();
    let mut known: FastSet<Essence> = FastSet::default();
    let mut features = Features::default();
    let mut nodes: Vec<Node> = Vec::new();
    // Nodes to look at: first those with a value that was not there before, then the others.
    let mut queues: [VecDeque<usize>; 2] = [VecDeque::new(), VecDeque::new()];
    for position in from {
        known.insert(live_part(sought, position));
        is_novel(sought, &mut features, &position.0);
        queues[0].push_back(nodes.len());
        let (position, fresh) = (position.clone(), Vec::new());
        nodes.push(Node { position, depth: 0, gain: 0, is_fresh: false, fresh, from: None });
    }
    let roots = nodes.len();
    let mut best: Option<Best> = None;
    let mut seen: FastSet<usize> = FastSet::default();
    let mut tried: HashSet<TransitionId> = HashSet::new();
    let mut steps_near = 0;
    for turn in 0..FAR {
        let is_near = turn < NEAR || turn < NODES && steps_near < STEPS;
        let is_barren = found.fresh.is_empty() && found.far < most_far;
        if !is_near && (!is_barren || turn >= NODES && queues[0].is_empty()) {
            break;
        }
        let first = if turn < NODES { turn % 2 } else { 0 };
        let Some(at) = queues[first].pop_front().or_else(|| queues[1 - first].pop_front()) else { break };
        let (state, trail) = nodes[at].position.clone();
        let (depth, before) = (nodes[at].depth + 1, nodes[at].gain);
        let mut outgoing = sought.outgoing[state.location].clone();
        sources.random.shuffle(&mut outgoing);
        for number in outgoing {
            let kind = sought.kind(number);
            if is_silent && at < roots && kind != ActionKind::Input {
                continue;
            }
            let transition = &sought.iosts.transitions[number];
            let action = &sought.iosts.action(transition.action).name;
            let met = sought.goals_met(&trail, number);
            // The nearest place where it may be tried is tried with more values.
            let most = if tried.insert(number) { MANY } else { FEW };
            let mut steps: Vec<RankedStep> = Vec::new();
            // At the position of the walk itself, other values are tried each time.
            let all = match at < roots {
                true => list_steps(sought, worth, (number, &state), most, sources),
                false => tried_steps.list(sought, worth, (number, &state), most, sources),
            };
            *if is_near { &mut steps_near } else { &mut found.far } += all.len() + 1;
            for step in &*all {
                let items = met.iter().chain(&step.items).copied();
                let (mut gain, mut fresh) = (before, Vec::new());
                for item in items {
                    if worth.is_fresh(item) {
                        if fresh.contains(&item) || is_on_way(&nodes, at, item) {
                            continue;
                        }
                        fresh.push(item);
                    }
                    gain += worth.of(item);
                    if seen.insert(item) {
                        found.outlook += worth.of_constants(item) / depth;
                    }
                }
                found.fresh.extend(&fresh);
                steps.push((gain, fresh, step));
            }
            steps.sort_by_key(|(gain, ..)| Reverse(*gain));
            for (gain, fresh, step) in keep_different(sought, steps) {
                let is_fresh = nodes[at].is_fresh || !fresh.is_empty();
                let one = Best { is_fresh, gain, depth, at: nodes.len() };
                let is_better = best.as_ref().is_none_or(|best| one.is_better(best));
                let behind = sought.after(&trail, number, &state, &step.to);
                let position = (step.to.clone(), behind);
                let is_new = known.insert(live_part(sought, &position));
                if is_new {
                    let is_novel = is_novel(sought, &mut features, &position.0);
                    queues[usize::from(!is_novel)].push_back(nodes.len());
                } else if !is_better {
                    continue;
                }
                if is_better {
                    best = Some(one);
                }
                let event = Event::new(action.clone(), step.values.iter().cloned());
                let step = Planned { state: state.clone(), transition: number, event, kind };
                nodes.push(Node { position, depth, gain, is_fresh, fresh, from: Some((at, step)) });
            }
        }
    }
    if let Some(Best { at, .. }) = best {
        found.target = nodes[at].fresh.iter().copied().max_by_key(|item| worth.of(*item));
        found.route = visible_way_to(&nodes, at);
    }
    found
}

/// The steps that are worth most, and those behind which other transitions may be taken than behind them:
/// what is sent now may decide what is answered.
fn keep_different<'s>(sought: &SoughtGoal, steps: Vec<RankedStep<'s>>) -> Vec<RankedStep<'s>> {
    if steps.len() <= KEPT {
        return steps;
    }
    let mut known: FastSet<(LocationId, Vec<TransitionId>)> = FastSet::default();
    let mut kept = Vec::new();
    for ranked in steps {
        let to = &ranked.2.to;
        let may_follow = |number: &TransitionId| sought.guards[*number].may_hold(&to.valuation);
        let follow = sought.outgoing[to.location].iter().copied().filter(may_follow).collect();
        let is_new = known.insert((to.location, follow));
        if kept.len() < KEPT || is_new {
            kept.push(ranked);
        }
        if kept.len() == MOST_KEPT {
            break;
        }
    }
    kept
}

/// Is the location new, or has a datum a value that it did not have there before?
fn is_novel(sought: &SoughtGoal, features: &mut Features, state: &State) -> bool {
    let mut is_novel = features.insert((state.location, None));
    for (place, _, value) in sought.live(state) {
        is_novel |= features.insert((state.location, Some((place, value.clone()))));
    }
    is_novel
}

/// A position without the data that nobody reads any more.
fn live_part(sought: &SoughtGoal, (state, trail): &Position) -> Essence {
    (state.location, sought.live(state).map(|(_, _, value)| value.clone()).collect(), trail.clone())
}

/// Is it met on the way to this node?
fn is_on_way(nodes: &[Node], at: usize, item: usize) -> bool {
    let mut at = Some(at);
    while let Some(node) = at.map(|at| &nodes[at]) {
        if node.fresh.contains(&item) {
            return true;
        }
        at = node.from.as_ref().map(|(before, _)| *before);
    }
    false
}

/// The visible steps to a node.
fn visible_way_to(nodes: &[Node], at: usize) -> VecDeque<Planned> {
    let mut way = VecDeque::new();
    let mut at = at;
    while let Some((before, step)) = &nodes[at].from {
        way.push_front(step.clone());
        at = *before;
    }
    way.retain(|step: &Planned| step.kind != ActionKind::Internal);
    way
}
