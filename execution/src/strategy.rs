//! Which move comes next, if a test case leaves a choice.
//!
//! **Problem.** A test case may offer several stimuli in one location, beside waiting. Any choice is sound
//! (thesis, p. 226), and some get nowhere.
//!
//! **Method.** A strategy orders the moves of the present location. The tester tries them in this order. It
//! skips a stimulus for whose guard there are no values, and after a wait that meets silence it tries the
//! next move. So a strategy cannot make a run wrong, only long. `Random` draws. `Coverage` takes the move
//! that was taken least, and half of the time any. Otherwise a move that is seldom possible would come each
//! time and keep others from coming. `Plan` looks ahead, with the data, for moves that no answer keeps from
//! Pass, and draws if it finds none ([`crate::planner`]). `Ask` asks a person. `Walk` goes from goal to goal
//! of a specification ([`crate::walk`]).
//!
//! **Idle waits.** In a test of ioco silence may decide: it is a Fail, or leads to another state. A tester
//! that always sends first never hears it. So each strategy draws there whether to wait until the system is
//! silent or to send, one to three (or as `Random` says). If silence comes to nothing, no strategy waits for
//! it while it can send. So there is at most one such wait after each event.
//!
//! **Weights** of actions decide how often each is sent by lot. They change no plan. **Ends**: a list of
//! moves is finite, and the tester bounds the number of steps. **Costs** one pass over the location's
//! transitions, and a sort; a plan costs a search, once for as long as it comes true.

use std::collections::{BTreeMap, HashMap};

use coreach_adapters::behaviour::Samples;
use coreach_analyses::solver::Solver;
use coreach_model::TransitionId;
use coreach_model::iosts::ActionKind;
use coreach_model::random::Random;
use coreach_model::semantics::Event;

pub use crate::judge::Move;
use crate::judge::{AfterSilence, Judge, Offer};
use crate::planner::{Planner, SharedExperience};
use crate::run::{Cause, Occurrence};
use crate::walk::Walk;

/// The usual weight of sending; waiting has the weight 1.
const SEND: usize = 3;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    Moves(Vec<Move>),
    End,
}

/// Asks a person: the judge in its state, the moves that there are.
pub type Ask<'a> = dyn FnMut(&dyn Judge, &[Move]) -> Asked + 'a;

pub enum Strategy<'a> {
    /// By lot. Sending has this weight, and waiting has the weight 1.
    Random { send: usize },
    /// The move that this run has taken least often, and half of the time any.
    Coverage(HashMap<TransitionId, usize>),
    /// By a way to Pass; by lot if none is known.
    Plan(Box<Planner>),
    /// A person's choice among the moves.
    Ask(Box<Ask<'a>>),
    /// From goal to goal of a specification, over several runs.
    Walk(&'a mut Walk),
}

impl Strategy<'_> {
    /// Chooses by lot, sending three times as often as waiting.
    pub fn random() -> Self {
        Strategy::Random { send: SEND }
    }

    pub fn plan() -> Self {
        Strategy::Plan(Box::default())
    }

    /// Returns the stimulus that the plan has for this transition.
    pub fn planned(&self, transition: TransitionId) -> Option<&Event> {
        match self {
            Strategy::Plan(planner) => planner.stimulus(transition),
            Strategy::Walk(walk) => walk.planned(transition),
            _ => None,
        }
    }

    /// Does the plan expect an observation now? Then it is worth waiting for.
    pub fn waits(&self) -> bool {
        matches!(self, Strategy::Plan(planner) if planner.waits())
    }

    /// Plans a way to Pass, with the experience of earlier runs.
    pub fn planning(experience: SharedExperience) -> Self {
        Strategy::Plan(Box::new(Planner::sharing(experience)))
    }

    /// Begins a run in the judge's state.
    pub fn begin(&mut self, judge: &dyn Judge) {
        if let Strategy::Walk(walk) = self {
            walk.begin(judge);
        }
    }

    /// Takes the samples of the IUT file. `plan` does not use them.
    pub fn take_samples(&mut self, samples: &Samples) {
        if let Strategy::Walk(walk) = self {
            walk.take_samples(samples.clone());
        }
    }

    pub fn took(&mut self, transition: TransitionId) {
        if let Strategy::Coverage(counts) = self {
            *counts.entry(transition).or_default() += 1;
        }
    }

    /// Notes an occurrence that the judge has followed, and the transition that took it, if one did.
    pub fn happened(&mut self, judge: &dyn Judge, what: &Occurrence, through: Option<TransitionId>) {
        match self {
            Strategy::Walk(walk) => walk.happened(judge, what),
            Strategy::Plan(planner) => planner.happened(judge, what, through),
            _ => {}
        }
    }

    /// Is a brief wait enough here, since silence would say nothing?
    pub fn listens_for_a_moment(&self) -> bool {
        matches!(self, Strategy::Walk(walk) if walk.listens_for_a_moment())
    }

    /// Notes that nothing has come in a brief wait.
    pub fn has_listened(&mut self) {
        if let Strategy::Walk(walk) = self {
            walk.has_listened();
        }
    }

    /// Notes that nothing could be heard now.
    pub fn cannot_hear(&mut self) {
        if let Strategy::Walk(walk) = self {
            walk.cannot_hear();
        }
    }

    /// Notes that a planned observation did not come. Returns whether this changes the plan.
    pub fn waited_in_vain(&mut self) -> bool {
        if let Strategy::Plan(planner) = self { planner.waited_in_vain() } else { false }
    }

    /// Notes that silence has ended the run.
    pub fn fell_silent(&mut self, judge: &dyn Judge) {
        if let Strategy::Plan(planner) = self {
            planner.fell_silent(judge);
        }
    }

    /// Returns the cause of the end when there are no moves any more.
    pub fn cause(&self) -> Cause {
        if let Strategy::Walk(walk) = self { walk.cause() } else { Cause::Ended }
    }
}

/// Orders the moves that the judge offers, for the tester. `None`: a person, or a walk, ended the run.
pub fn order_moves(
    strategy: &mut Strategy<'_>,
    mut moves: Vec<Offer>,
    judge: &dyn Judge,
    weights: &BTreeMap<String, usize>,
    random: &mut Random,
    solver: &mut dyn Solver,
) -> Option<Vec<Move>> {
    let draw_order = |moves: &mut Vec<Offer>, send: usize, random: &mut Random| {
        random.shuffle(moves);
        draw_by_weights(moves, judge, weights, random);
        draw_wait(moves, send, random);
    };
    let silence_decides = judge.silence() == Some(AfterSilence::Decides);
    match strategy {
        Strategy::Random { send } => draw_order(&mut moves, *send, random),
        Strategy::Coverage(counts) => {
            let count = |number: &TransitionId| counts.get(number).copied().unwrap_or(0);
            random.shuffle(&mut moves);
            draw_by_weights(&mut moves, judge, weights, random);
            if random.chance(50) {
                moves
                    .sort_by_key(|offer: &Offer| offer.through.iter().map(count).min().unwrap_or(usize::MAX));
            }
            if silence_decides {
                draw_wait(&mut moves, SEND, random);
            }
        }
        Strategy::Plan(planner) => {
            draw_order(&mut moves, SEND, random);
            let planned =
                judge.scene().and_then(|(test, states)| planner.next(test, &states, random, solver));
            let planned_move = planned.map(|planned| match planned.kind {
                ActionKind::Input => Move::Send(planned.transition),
                ActionKind::Output | ActionKind::Quiescence | ActionKind::Internal => Move::Wait,
            });
            // Plans seldom wait for silence: where it does no harm, a drawn wait comes before the plan.
            let idles = silence_decides
                && moves.first().is_some_and(|offer| offer.step == Move::Wait)
                && planner.may_idle();
            if !idles {
                moves.sort_by_key(|offer| Some(offer.step) != planned_move);
            }
        }
        Strategy::Ask(ask) => {
            let moves: Vec<Move> = moves.iter().map(|offer| offer.step).collect();
            return match ask(judge, &moves) {
                Asked::Moves(moves) => Some(moves),
                Asked::End => None,
            };
        }
        Strategy::Walk(walk) => return walk.moves(random, solver),
    }
    Some(moves.iter().map(|offer| offer.step).collect())
}

/// Draws the order of the actions again if there are weights. The chance of an action to be next is its
/// weight, however many transitions send it.
fn draw_by_weights(
    moves: &mut [Offer],
    judge: &dyn Judge,
    weights: &BTreeMap<String, usize>,
    random: &mut Random,
) {
    if weights.is_empty() {
        return;
    }
    let iosts = judge.iosts();
    let action = |offer: &Offer| match offer.step {
        Move::Send(number) => Some(iosts.action_of(number).name.as_str()),
        Move::Wait => None,
    };
    let mut undrawn: Vec<&str> = moves.iter().filter_map(action).collect();
    undrawn.sort_unstable();
    undrawn.dedup();
    let mut order: HashMap<&str, usize> = HashMap::new();
    while !undrawn.is_empty() {
        let weight = |action: &&str| weights.get(*action).copied().unwrap_or(1);
        // Each action has as many lots as its weight says, one action after the other.
        let mut lot = random.below(undrawn.iter().map(weight).sum());
        let mut at = 0;
        while let Some(rest) = lot.checked_sub(weight(&undrawn[at])) {
            (lot, at) = (rest, at + 1);
        }
        order.insert(undrawn.swap_remove(at), order.len());
    }
    moves.sort_by_key(|offer| action(offer).and_then(|action| order.get(action).copied()));
}

/// Puts waiting first or last, by lot. One draw decides, however many stimuli there are.
fn draw_wait(moves: &mut Vec<Offer>, send: usize, random: &mut Random) {
    if let Some(wait) = moves.iter().position(|offer| offer.step == Move::Wait) {
        let wait = moves.remove(wait);
        let first = moves.is_empty() || random.below(send + 1) == 0;
        moves.insert(if first { 0 } else { moves.len() }, wait);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use coreach_model::Number;
    use coreach_model::reader::{from_bytes, read_specification};

    use super::*;
    use crate::initial::first;
    use crate::lazy::Lazy;
    use crate::monitor::Monitor;

    /// Precision: what has the weight 5 comes first five times as often as what has 1, through however many
    /// transitions it is sent.
    #[test]
    fn actions_are_sent_as_often_as_their_weights_say() {
        let text = "
iosts: m
initial: { location: A }
inputs: { Cancel: {}, Add: {} }
transitions:
  - { from: A, to: A, on: Cancel }
  - { from: A, to: B, on: Cancel }
  - { from: A, to: A, on: Add }
";
        let file = from_bytes("m".to_owned(), text.as_bytes().to_vec()).unwrap();
        let iosts = read_specification(file).unwrap().0.iosts;
        let state = first(&iosts, &Default::default(), &mut Lazy::default()).unwrap();
        let judge = Monitor::new(&iosts, [state].into());
        for (weights, least, most) in [
            (BTreeMap::new(), 600, 1400),
            (BTreeMap::from([("Cancel".to_owned(), 1), ("Add".to_owned(), 5)]), 2350, 2650),
            (BTreeMap::from([("Cancel".to_owned(), 1000)]), 0, 20),
        ] {
            let mut random = Random::new(1);
            let mut strategy = Strategy::random();
            let mut adds = 0;
            for _ in 0..3000 {
                let moves = order_moves(
                    &mut strategy,
                    judge.offers().moves,
                    &judge,
                    &weights,
                    &mut random,
                    &mut Lazy::default(),
                )
                .unwrap();
                let sent = moves.iter().find(|step| **step != Move::Wait);
                adds += usize::from(sent == Some(&Move::Send(TransitionId::of(2))));
            }
            assert!((least..=most).contains(&adds), "{weights:?}: {adds}");
        }
    }
}
