//! Searches the best way on for a walk, over concrete states of the specification.
//!
//! **Problem.** The events that lead to a goal depend on the data, and a walk plans again after every
//! unexpected answer. Near items may be worth little, and a valuable one may lie behind a long counter.
//!
//! **Method.** The search starts at the possible positions. It takes stimuli and outputs with candidate
//! values ([`super::candidates`]) and internal steps, as if the implementation cooperated. A way is worth the
//! sum of the items that its steps meet ([`super::worth`]), and each new item counts once. The best way is
//! worth most for each step. Two positions that differ only in dead data count as one.
//!
//! Open positions wait in two queues, nearest first. The first queue holds positions that are *novel*: a
//! datum that guards limit, or that counts, has a value that it did not have in this location before. The
//! queues take turns. So near positions are seen whatever their data, and far ones along a counter as well.
//! If nothing new was found, only the first queue is followed further, in turns with the positions that are
//! nearest to the target of a guide (`guide.rs`). After silence the first step is a stimulus.
//!
//! **Source.** The first queue is width-based search of width one (Lipovetzky and Geffner, ECAI 2012). It has
//! as many positions as there are values, not combinations of values.
//!
//! **Differs** from [`crate::planner`], which asks a solver for one way to Pass at any cost. A walk wants the
//! best of many ways, again and again, and concrete states cost a thousandth.
//!
//! **Ends** after [`NEAR`] positions and [`STEPS`] steps if these meet something new. Otherwise it goes on
//! for the steps that its caller allows, up to [`FAR`] positions. **Costs** for each position the
//! transitions of its location times the candidates.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet, VecDeque};
use std::rc::Rc;

use coreach_model::hash::{FastMap, FastSet};
use coreach_model::iosts::{ActionId, ActionKind};
use coreach_model::semantics::{Event, State};
use coreach_model::{LocationId, TransitionId, Value};

use super::candidates::{CandidateStep, candidates, draw_candidate};
use super::goals::{Trail, ValueMark, WalkModel};
use super::guide::Guide;
use super::positions::Position;
use super::worth::Worth;
use crate::judge::Choice;
use crate::limits::MOST_REMEMBERED;

/// The first positions, which are always looked at.
const NEAR: usize = 40;

/// Further positions up to `NODES` are near, too, until this many steps were tried.
const STEPS: usize = 400;

/// The most positions that are near. After these, novel positions come before all others.
const NODES: usize = 300;

/// The most positions of one search.
const FAR: usize = 4000;

/// The most other values of a parameter at the nearest place of its transition.
const MANY: usize = 24;

/// The most other values of a parameter at other places.
const FEW: usize = 2;

/// The most candidates of a transition that are followed by their worth alone.
const KEPT: usize = 4;

/// The most candidates of a transition that are followed at all.
const MOST_KEPT: usize = 10;

/// A step of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// The state in which the step is taken.
    pub state: State,
    pub transition: TransitionId,
    /// The event that is sent or hoped for. It has no meaning for an internal step.
    pub event: Event,
    /// The kind of the action. The tester sends an input.
    pub kind: ActionKind,
}

/// The result of a search.
#[derive(Default)]
pub struct Prospect {
    /// The visible steps of the best way.
    pub route: VecDeque<Planned>,
    /// The new item of the best way's last step that is worth most.
    pub target: Option<usize>,
    /// All new items that were seen.
    pub fresh: HashSet<usize>,
    /// The number of steps that were tried beyond the near ones.
    pub far: usize,
    /// The worth of all goals and signs that were seen, each divided by its distance.
    pub outlook: u64,
    /// Were all positions seen, as far as values are tried?
    pub is_whole: bool,
    /// The transitions that can be taken from the positions that were seen.
    pub transitions: HashSet<TransitionId>,
}

/// A step that was tried, with the numbers of the classes that it meets.
struct KnownStep {
    values: Vec<Value>,
    to: State,
    items: Vec<usize>,
    /// The marks of the variables that it assigns.
    marks: Vec<(usize, ValueMark)>,
}

/// A step, the worth of the way with it, and the new items that it meets.
struct RankedStep<'s> {
    step: &'s KnownStep,
    gain: u64,
    fresh: Vec<usize>,
}

/// The number of other values that each parameter tried, and the steps.
type ListedSteps = (usize, Rc<[KnownStep]>);

/// Keeps the steps that were tried for the next searches, since a walk often stays in known states.
#[derive(Default)]
pub struct TriedSteps {
    steps: FastMap<(State, TransitionId), ListedSteps>,
    searches: usize,
}

impl TriedSteps {
    /// Begins a search. Every 32nd search forgets all steps, so that other values are tried.
    fn begin(&mut self) {
        self.searches += 1;
        if self.searches.is_multiple_of(32) || self.steps.len() > MOST_REMEMBERED {
            self.steps.clear();
        }
    }

    /// Lists the steps through a transition in a state. Of each parameter, `most` other values are tried.
    fn list(
        &mut self,
        model: &WalkModel,
        worth: &mut Worth,
        (number, state): (TransitionId, &State),
        most: usize,
        sources: &mut Choice<'_>,
    ) -> Rc<[KnownStep]> {
        let key = (state.clone(), number);
        if let Some((tried, steps)) = self.steps.get(&key)
            && *tried >= most
        {
            return steps.clone();
        }
        let steps = list_steps(model, worth, (number, state), most, sources);
        self.steps.insert(key, (most, steps.clone()));
        steps
    }
}

/// Tries steps through a transition in a state, with at most `most` other values of each parameter.
fn list_steps(
    model: &WalkModel,
    worth: &mut Worth,
    (number, state): (TransitionId, &State),
    most: usize,
    sources: &mut Choice<'_>,
) -> Rc<[KnownStep]> {
    let with_items = |CandidateStep { values, to, signs }: CandidateStep| {
        let classes = model.classes(number, state, &values, &signs);
        let items = classes.iter().map(|class| worth.class_number(class)).collect();
        let marks = model.marks(number, state, &to, &signs);
        KnownStep { values, to, items, marks }
    };
    let mut steps = candidates(model, number, state, most, sources);
    let action = model.iosts.action_of(number);
    let may_draw = most == MANY && action.kind == ActionKind::Input && !action.parameters.is_empty();
    // Every third list, on average, also gets a vector that is drawn as in random runs.
    if may_draw && sources.random.below(3) == 0 {
        steps.extend(draw_candidate(model, number, state, sources));
        sources.random.shuffle(&mut steps);
    }
    steps.into_iter().map(with_items).collect()
}

/// The locations that were seen, and the values of each datum in them.
type Features = FastSet<(LocationId, Option<(usize, Value)>)>;

/// A position without its dead data: the location, the values of its live data, and the trail.
type LivePosition = (LocationId, Vec<Value>, Trail);

/// A position of the search, and the way to it.
struct WalkNode {
    position: Position,
    /// The number of steps of the way.
    depth: u64,
    /// The worth of the items that the way meets.
    gain: u64,
    /// Does the way meet a new item?
    is_fresh: bool,
    /// The new items that its last step meets.
    fresh: Vec<usize>,
    /// The last node before this one, and the transition from there with its values. A root has none.
    from: Option<(usize, TransitionId, Vec<Value>)>,
}

impl WalkNode {
    /// Tells whether this way is better: it alone has a new item, or it is worth more for each step.
    fn is_better_than(&self, other: &WalkNode) -> bool {
        let has_more_by_step = self.gain * other.depth > other.gain * self.depth;
        if self.is_fresh == other.is_fresh { has_more_by_step } else { self.is_fresh }
    }
}

/// How far a search looks if nothing new is near.
#[derive(Clone, Copy)]
pub struct Far<'g> {
    /// The most steps that are tried beyond the near ones.
    pub most: usize,
    /// Takes turns with the queue of novel positions.
    pub guide: Option<&'g Guide>,
    /// Is the target of the guide the aim, even if something else is new nearby?
    pub is_aimed: bool,
    /// The stimuli that the search leaves out.
    pub muted: &'g BTreeSet<ActionId>,
}

/// Searches the best way from the given positions. After silence the first step is a stimulus.
pub fn search<'p>(
    model: &WalkModel,
    worth: &mut Worth,
    tried_steps: &mut TriedSteps,
    from: impl Iterator<Item = &'p Position>,
    is_silent: bool,
    far: Far<'_>,
    sources: &mut Choice<'_>,
) -> Prospect {
    tried_steps.begin();
    let mut search = WalkSearch::new(model, far.guide);
    for position in from {
        let position = position.clone();
        let root = WalkNode { position, depth: 0, gain: 0, is_fresh: false, fresh: Vec::new(), from: None };
        search.add_node(root);
    }
    let roots = search.nodes.len();
    let mut tried_transitions: HashSet<TransitionId> = HashSet::new();
    let mut steps_near = 0;
    for turn in 0..FAR {
        let is_near = turn < NEAR || turn < NODES && steps_near < STEPS;
        let is_unmet = match far.guide.filter(|_| far.is_aimed) {
            Some(guide) => !search.prospect.fresh.contains(&guide.target),
            None => search.prospect.fresh.is_empty(),
        };
        let may_go_far = is_unmet && search.prospect.far < far.most;
        // Beyond the first positions, the search ends when neither novel nor guided ones are left.
        let is_exhausted = turn >= NODES && search.novel.is_empty() && search.guided.is_empty();
        if !is_near && (!may_go_far || is_exhausted) {
            break;
        }
        let is_guided = !is_near && far.guide.is_some() && turn % 2 == 0;
        let Some(node) = search.take_next(turn, is_guided) else {
            search.prospect.is_whole = true;
            break;
        };
        let state = search.nodes[node].position.0.clone();
        let is_root = node < roots;
        let mut outgoing = model.outgoing[state.location].clone();
        sources.random.shuffle(&mut outgoing);
        for number in outgoing {
            if far.muted.contains(&model.iosts.transitions[number].action) {
                continue;
            }
            if is_silent && is_root && model.kind(number) != ActionKind::Input {
                continue;
            }
            // The nearest place of a transition is tried with more values, and so are guided ones.
            let most = if tried_transitions.insert(number) || is_guided { MANY } else { FEW };
            // At the position of the walk itself, other values are tried each time.
            let steps = match is_root {
                true => list_steps(model, worth, (number, &state), most, sources),
                false => tried_steps.list(model, worth, (number, &state), most, sources),
            };
            let count = if is_near { &mut steps_near } else { &mut search.prospect.far };
            *count += steps.len() + 1;
            let ranked = search.rank_steps(worth, node, number, &steps);
            let guide = far.guide.filter(|_| is_guided);
            search.add_steps(node, number, keep_different(model, guide, ranked));
        }
    }
    search.finish(worth)
}

struct WalkSearch<'m> {
    model: &'m WalkModel,
    guide: Option<&'m Guide>,
    nodes: Vec<WalkNode>,
    /// The open nodes that are novel, and the others.
    novel: VecDeque<usize>,
    others: VecDeque<usize>,
    /// All open nodes, nearest to the target of the guide first.
    guided: BinaryHeap<Reverse<((u64, usize), usize)>>,
    taken: FastSet<usize>,
    known: FastSet<LivePosition>,
    features: Features,
    /// The node at which the best way ends.
    best: Option<usize>,
    /// The first node that meets the target of the guide.
    aim: Option<usize>,
    /// The items that counted for the outlook.
    seen: FastSet<usize>,
    prospect: Prospect,
}

impl<'m> WalkSearch<'m> {
    fn new(model: &'m WalkModel, guide: Option<&'m Guide>) -> Self {
        WalkSearch {
            model,
            guide,
            guided: BinaryHeap::new(),
            nodes: Vec::new(),
            novel: VecDeque::new(),
            others: VecDeque::new(),
            taken: FastSet::default(),
            known: FastSet::default(),
            features: Features::default(),
            best: None,
            aim: None,
            seen: FastSet::default(),
            prospect: Prospect::default(),
        }
    }

    /// Adds a node to the open ones if its position is new. A node with a known position is dropped if it is
    /// neither a root, nor the best, nor the aim.
    fn add_node(&mut self, node: WalkNode) {
        let is_root = node.from.is_none();
        let best = self.best.map(|best| &self.nodes[best]);
        let is_best = !is_root && best.is_none_or(|best| node.is_better_than(best));
        let is_new = self.known.insert(live_position(self.model, &node.position));
        let number = self.nodes.len();
        if is_new || is_root {
            let is_novel = is_novel(self.model, &mut self.features, &node.position.0) || is_root;
            if is_novel { &mut self.novel } else { &mut self.others }.push_back(number);
            let distance = self.guide.map(|guide| guide.measure(&node.position.0));
            self.guided.extend(distance.map(|distance| Reverse((distance, number))));
        }
        let is_aim = self.guide.is_some_and(|guide| node.fresh.contains(&guide.target));
        if is_best {
            self.best = Some(number);
        }
        if is_aim && self.aim.is_none() {
            self.aim = Some(number);
        }
        if is_new || is_root || is_best || is_aim {
            self.nodes.push(node);
        }
    }

    /// Takes the next open node, if there is one. The two queues take turns as long as positions are few.
    fn take_next(&mut self, turn: usize, is_guided: bool) -> Option<usize> {
        loop {
            let (first, second) = match turn < NODES && turn % 2 == 1 {
                true => (&mut self.others, &mut self.novel),
                false => (&mut self.novel, &mut self.others),
            };
            let guided = if is_guided { self.guided.pop().map(|Reverse((_, node))| node) } else { None };
            let node = guided.or_else(|| first.pop_front()).or_else(|| second.pop_front())?;
            // A node may wait in two queues.
            if self.taken.insert(node) {
                return Some(node);
            }
        }
    }

    /// Ranks these steps from a node by the worth of the way with each of them, the best first.
    fn rank_steps<'s>(
        &mut self,
        worth: &mut Worth,
        node: usize,
        number: TransitionId,
        steps: &'s [KnownStep],
    ) -> Vec<RankedStep<'s>> {
        let WalkNode { position: (state, trail), depth, gain: gain_before, .. } = &self.nodes[node];
        let mut goals = self.model.goals_met(trail, number);
        goals.extend(
            self.model.marked_uses(state, trail, number).iter().map(|class| worth.class_number(class)),
        );
        let mut ranked: Vec<RankedStep<'_>> = Vec::new();
        for step in steps {
            self.prospect.transitions.insert(number);
            let (mut gain, mut fresh) = (*gain_before, Vec::new());
            for item in goals.iter().chain(&step.items).copied() {
                if worth.is_fresh(item) {
                    // A new item counts once for each way.
                    if fresh.contains(&item) || is_on_way(&self.nodes, node, item) {
                        continue;
                    }
                    fresh.push(item);
                }
                gain += worth.worth_of(item);
                if self.seen.insert(item) {
                    self.prospect.outlook += worth.worth_for_constants(item) / (depth + 1);
                }
            }
            self.prospect.fresh.extend(&fresh);
            ranked.push(RankedStep { step, gain, fresh });
        }
        ranked.sort_by_key(|ranked| Reverse(ranked.gain));
        ranked
    }

    /// Adds the nodes to which these steps lead.
    fn add_steps(&mut self, node: usize, number: TransitionId, ranked: Vec<RankedStep<'_>>) {
        let model = self.model;
        let WalkNode { position: (state, trail), depth, is_fresh: was_fresh, .. } = &self.nodes[node];
        let (state, trail, depth, was_fresh) = (state.clone(), trail.clone(), depth + 1, *was_fresh);
        for RankedStep { step, gain, fresh } in ranked {
            let position =
                (step.to.clone(), model.extend_trail(&trail, number, &state, &step.to, &step.marks));
            let is_fresh = was_fresh || !fresh.is_empty();
            let from = Some((node, number, step.values.clone()));
            self.add_node(WalkNode { position, depth, gain, is_fresh, fresh, from });
        }
    }

    /// Returns the result, with the visible steps of the best way.
    fn finish(self, worth: &Worth) -> Prospect {
        let WalkSearch { model, nodes, best, aim, mut prospect, .. } = self;
        if let Some(best) = aim.or(best) {
            prospect.target = nodes[best].fresh.iter().copied().max_by_key(|item| worth.worth_of(*item));
            prospect.route = visible_way_to(model, &nodes, best);
        }
        prospect
    }
}

/// Keeps the steps that are worth most, and those after which other transitions are possible than after the
/// kept ones. A stimulus often decides which answer comes.
fn keep_different<'s>(
    model: &WalkModel,
    guide: Option<&Guide>,
    mut ranked: Vec<RankedStep<'s>>,
) -> Vec<RankedStep<'s>> {
    if ranked.len() <= KEPT {
        return ranked;
    }
    // The step that leads nearest to the target is kept in any case.
    let nearest =
        guide.and_then(|guide| (0..ranked.len()).min_by_key(|place| guide.measure(&ranked[*place].step.to)));
    if let Some(nearest) = nearest {
        ranked[..=nearest].rotate_right(1);
    }
    let mut known: FastSet<(LocationId, Vec<TransitionId>)> = FastSet::default();
    let mut kept = Vec::new();
    for ranked_step in ranked {
        let to = &ranked_step.step.to;
        let may_follow = |number: &TransitionId| model.may_take(*number, to);
        let followers = model.outgoing[to.location].iter().copied().filter(may_follow).collect();
        let is_different = known.insert((to.location, followers));
        if kept.len() < KEPT || is_different {
            kept.push(ranked_step);
        }
        if kept.len() == MOST_KEPT {
            break;
        }
    }
    kept
}

/// Tells whether the location is new, or a steering datum has a value that it did not have there before.
fn is_novel(model: &WalkModel, features: &mut Features, state: &State) -> bool {
    let mut is_novel = features.insert((state.location, None));
    for (place, value) in model.steering(state) {
        is_novel |= features.insert((state.location, Some((place, value.clone()))));
    }
    is_novel
}

/// Leaves the dead data of a position out.
fn live_position(model: &WalkModel, (state, trail): &Position) -> LivePosition {
    (state.location, model.live(state).map(|(_, _, value)| value.clone()).collect(), trail.clone())
}

/// Tells whether the way to a node meets this new item.
fn is_on_way(nodes: &[WalkNode], node: usize, item: usize) -> bool {
    let mut next = Some(node);
    while let Some(number) = next {
        if nodes[number].fresh.contains(&item) {
            return true;
        }
        next = nodes[number].from.as_ref().map(|(last, ..)| *last);
    }
    false
}

/// Lists the visible steps of the way to a node.
fn visible_way_to(model: &WalkModel, nodes: &[WalkNode], mut node: usize) -> VecDeque<Planned> {
    let mut way = VecDeque::new();
    while let Some((last, transition, values)) = &nodes[node].from {
        let (transition, kind) = (*transition, model.kind(*transition));
        if kind != ActionKind::Internal {
            let action = &model.iosts.action_of(transition).name;
            let event = Event::new(action, values.iter().cloned());
            let state = nodes[*last].position.0.clone();
            way.push_front(Planned { state, transition, event, kind });
        }
        node = *last;
    }
    way
}
