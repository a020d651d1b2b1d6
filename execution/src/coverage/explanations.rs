//! Follows all explanations of a trace at once.
//!
//! **Problem.** A trace may be explained by very many paths, and for each item it must be known how often
//! each path meets it, at least and at most.
//!
//! **Method.** The trace is followed forward, event by event, with the set of possible states
//! ([`coreach_model::semantics`], Definition 4.16). Each state has two vectors: for each item the least and
//! the greatest number of times that a path to the state has met it. A step adds the items that it meets to
//! both. If paths meet in one state, the least of the least and the greatest of the greatest numbers are
//! kept, so no path is ever listed. A state that no step leads on from is dropped. The states at the end are
//! the ends of all explanations, and their least and greatest are the answer. Between two events internal
//! steps are followed in an order of the locations in which they lead forward, so each state is complete
//! before it is left.
//!
//! **A link that takes time**: a path also chooses when it takes each stimulus. `layers[n]` holds the states
//! that have not taken the last n stimuli. Before an observation each may take some of them, oldest first:
//! from `layers[n]` into `layers[n - 1]`, from the top down. A stimulus that has been the oldest under way
//! for as long as the delay has been taken. At the end, the stimuli still under way may have been taken or
//! not, if the state that has not taken them can send something. Otherwise it can only take them.
//!
//! **Ends**, since internal steps do. **Costs**, for each state and event, the steps of its location, and the
//! number of items where paths part or meet; along a single path only the items that are met. The number of
//! states is limited ([`TooManyStates`]).

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use coreach_model::semantics::{Event, State, fire};
use coreach_model::{ActionKind, TransitionId};

use crate::coverage::items::Walked;
use crate::judge::guards::may_be;
use crate::run::Occurrence;

/// How often each item was met.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ItemBounds {
    /// Every explanation meets it at least so often.
    pub least: Vec<u32>,
    /// Some explanation meets it so often, and none more often.
    pub most: Vec<u32>,
}

impl ItemBounds {
    fn nothing(items: usize) -> Self {
        ItemBounds { least: vec![0; items], most: vec![0; items] }
    }

    fn meet(&mut self, item: usize) {
        self.least[item] = self.least[item].saturating_add(1);
        self.most[item] = self.most[item].saturating_add(1);
    }

    fn join(&mut self, other: &ItemBounds) {
        self.least.iter_mut().zip(&other.least).for_each(|(least, other)| *least = (*least).min(*other));
        self.most.iter_mut().zip(&other.most).for_each(|(most, other)| *most = (*most).max(*other));
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explained {
    /// How often each item was met, up to the end or to the refused occurrence.
    pub bounds: ItemBounds,
    /// The number, from 0, of the first occurrence that no explanation goes on with.
    pub refused: Option<usize>,
}

/// A trace is possible in more states than are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyStates;

/// States, with the items that paths to them have met. Internal steps lead forward in the order.
type Layer = BTreeMap<(usize, State), ItemBounds>;

struct PathFollower<'a> {
    walked: &'a Walked,
    limit: usize,
}

/// Follows a trace through the model, in at most `limit` states at once. `link` is the longest time that a
/// stimulus is under way. Without a link it is taken at once, so there is only `layers[0]`.
pub fn explain_trace(
    walked: &Walked,
    initial: &State,
    trace: &[Occurrence],
    link: Option<Duration>,
    limit: usize,
) -> Result<Explained, TooManyStates> {
    let follower = PathFollower { walked, limit };
    let mut first = Layer::new();
    follower.reach(&mut first, initial.clone(), ItemBounds::nothing(walked.count()));
    let mut layers = VecDeque::from([follower.close(first)?]);
    let mut sent: VecDeque<&Event> = VecDeque::new();
    // How long the oldest stimulus has been under way.
    let mut age = Duration::ZERO;
    // Silence is an event only if the system has quiescence.
    let quiescence = walked.iosts.actions.iter().find(|action| action.kind == ActionKind::Quiescence);
    let quiescence = quiescence.map(|action| Event::new(action.name.clone(), Vec::new()));
    for (number, occurrence) in trace.iter().enumerate() {
        let taken_now = match occurrence {
            Occurrence::Observation(event) => Some(event),
            Occurrence::Stimulus(event) => Some(event).filter(|_| link.is_none()),
            Occurrence::Silence(_) => quiescence.as_ref(),
            Occurrence::Delay(_) => None,
        };
        if let Some(event) = taken_now {
            let before = follower.take_some_stimuli(layers, &sent)?;
            // `before` is kept for the case that nothing follows.
            let next = before.iter().map(|layer| follower.step(layer.clone(), event));
            layers = next.collect::<Result<_, _>>()?;
            if layers.iter().all(Layer::is_empty) {
                let bounds = follower.bounds_at_refusal(before, event);
                return Ok(Explained { bounds, refused: Some(number) });
            }
            continue;
        }
        match (occurrence, link) {
            (Occurrence::Stimulus(event), Some(_)) => {
                sent.push_back(event);
                layers.push_front(Layer::new());
            }
            (Occurrence::Delay(time), Some(delay)) => {
                let before = layers.clone();
                age = if sent.is_empty() { Duration::ZERO } else { age + *time };
                if age >= delay
                    && let (Some(event), Some(oldest)) = (sent.pop_front(), layers.pop_back())
                {
                    let taken = follower.step(oldest, event)?;
                    if let Some(last) = layers.back_mut() {
                        join_layers(last, taken);
                    }
                    age = Duration::ZERO;
                }
                // No state could take the stimulus, which must have been taken by now.
                if layers.iter().all(Layer::is_empty) {
                    return Ok(Explained { bounds: follower.bounds_of_all(before), refused: Some(number) });
                }
            }
            _ => {}
        }
    }
    let ends = follower.find_ends(layers, &sent)?;
    Ok(Explained { bounds: follower.bounds_of_all(ends), refused: None })
}

fn join_layers(layer: &mut Layer, more: Layer) {
    for (key, bounds) in more {
        add_state(layer, key, bounds);
    }
}

fn add_state(layer: &mut Layer, key: (usize, State), bounds: ItemBounds) {
    layer.entry(key).and_modify(|known| known.join(&bounds)).or_insert(bounds);
}

impl PathFollower<'_> {
    /// Adds a state that a path comes to, with what the path has met up to its last step.
    fn reach(&self, layer: &mut Layer, state: State, mut bounds: ItemBounds) {
        self.walked.meet_arrival(&state, &mut |item| bounds.meet(item));
        add_state(layer, (self.walked.ranks[state.location], state), bounds);
    }

    /// Adds the states that internal steps lead to.
    fn close(&self, mut open: Layer) -> Result<Layer, TooManyStates> {
        let mut closed = Layer::new();
        while let Some(((rank, state), bounds)) = open.pop_first() {
            for &number in &self.walked.outgoing[state.location] {
                let transition = &self.walked.iosts.transitions[number];
                if self.walked.iosts.action(transition.action).kind != ActionKind::Internal {
                    continue;
                }
                if let Some(next) = fire(&self.walked.iosts, transition, &state, &[]) {
                    assert!(self.walked.ranks[next.location] > rank, "internal steps lead forward");
                    let mut bounds = bounds.clone();
                    self.walked.meet_step(number, &state.valuation, &mut |item| bounds.meet(item));
                    self.reach(&mut open, next, bounds);
                }
            }
            closed.insert((rank, state), bounds);
            if closed.len() + open.len() > self.limit {
                return Err(TooManyStates);
            }
        }
        Ok(closed)
    }

    /// Returns the states after an event, and the internal steps that may follow it.
    fn step(&self, layer: Layer, event: &Event) -> Result<Layer, TooManyStates> {
        let mut next = Layer::new();
        let Some(action) = self.walked.iosts.find_action(&event.action) else { return Ok(next) };
        for ((_, state), mut bounds) in layer {
            let Some(valuation) = self.walked.with_values(&state, action, &event.values) else { continue };
            let mut steps: Vec<(TransitionId, State)> = Vec::new();
            for &number in &self.walked.outgoing[state.location] {
                let transition = &self.walked.iosts.transitions[number];
                if transition.action == action
                    && let Some(target) = fire(&self.walked.iosts, transition, &state, &event.values)
                {
                    steps.push((number, target));
                }
            }
            // The last step takes the bounds themselves: along a single path nothing is copied.
            let Some(last) = steps.pop() else { continue };
            self.walked.meet_event(state.location, action, &valuation, &mut |item| bounds.meet(item));
            let mut take = |(number, target): (TransitionId, State), mut bounds: ItemBounds| {
                self.walked.meet_step(number, &valuation, &mut |item| bounds.meet(item));
                self.reach(&mut next, target, bounds);
            };
            steps.into_iter().for_each(|step| take(step, bounds.clone()));
            take(last, bounds);
        }
        self.close(next)
    }

    /// Keeps the states in which an output may come.
    fn states_that_send(&self, layer: &Layer) -> Layer {
        let iosts = &self.walked.iosts;
        let sends = |state: &State| {
            self.walked.outgoing[state.location].iter().any(|number| {
                let transition = &iosts.transitions[*number];
                iosts.action(transition.action).kind == ActionKind::Output && may_be(transition, state)
            })
        };
        let mut sending = layer.clone();
        sending.retain(|(_, state), _| sends(state));
        sending
    }

    /// Lets each state take some of the stimuli that it has not taken yet, before an observation.
    fn take_some_stimuli(
        &self,
        mut layers: VecDeque<Layer>,
        sent: &VecDeque<&Event>,
    ) -> Result<VecDeque<Layer>, TooManyStates> {
        for behind in (1..layers.len()).rev() {
            let event = sent[sent.len() - behind];
            let taken = self.step(layers[behind].clone(), event)?;
            join_layers(&mut layers[behind - 1], taken);
        }
        if layers.iter().map(Layer::len).sum::<usize>() > self.limit {
            return Err(TooManyStates);
        }
        Ok(layers)
    }

    /// Returns the states in which an explanation may end. With stimuli under way, a state that can send
    /// nothing can only take them, so it is no end unless there is no other.
    fn find_ends(
        &self,
        layers: VecDeque<Layer>,
        sent: &VecDeque<&Event>,
    ) -> Result<VecDeque<Layer>, TooManyStates> {
        let mut ends = self.take_some_stimuli(layers, sent)?;
        let sending: Vec<Layer> = ends.iter().skip(1).map(|layer| self.states_that_send(layer)).collect();
        if sending.iter().chain(ends.front()).any(|layer| !layer.is_empty()) {
            ends.truncate(1);
            ends.extend(sending);
        }
        Ok(ends)
    }

    /// Returns the bounds when no state takes the event: it shows conditions of the guards that refused it.
    fn bounds_at_refusal(&self, mut layers: VecDeque<Layer>, event: &Event) -> ItemBounds {
        let action = self.walked.iosts.find_action(&event.action);
        for ((_, state), bounds) in layers.iter_mut().flatten() {
            if let Some(action) = action
                && let Some(valuation) = self.walked.with_values(state, action, &event.values)
            {
                self.walked.meet_event(state.location, action, &valuation, &mut |item| bounds.meet(item));
            }
        }
        self.bounds_of_all(layers)
    }

    fn bounds_of_all(&self, ends: VecDeque<Layer>) -> ItemBounds {
        let mut ends = ends.into_iter().flat_map(Layer::into_values);
        // The trace was followed until here, so there is a state.
        let mut all = ends.next().unwrap_or_else(|| ItemBounds::nothing(self.walked.count()));
        ends.for_each(|bounds| all.join(&bounds));
        all
    }
}
