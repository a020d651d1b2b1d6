//! Guides a search towards one open item that lies far away.
//!
//! **Problem.** A transition may need a sum that takes forty steps to reach. A search that looks at near
//! positions first never gets there.
//!
//! **Method.** A guide has one target: an open transition, or a comparison with a sign that was never met when
//! the transition is taken. It measures how far a state is from the target's guard. A comparison of numbers
//! is as far as its sides are apart. A conjunction adds up its parts, and a disjunction takes the nearest.
//! Conditions on parameters are left out. Of two equal distances, fewer transitions to the source decide.
//!
//! **Source.** This is the branch distance of search-based testing (Tracey et al., ASE 1998).
//!
//! **Costs** one evaluation of the guard for each position.

use coreach_model::random::Random;
use coreach_model::semantics::State;
use coreach_model::term::evaluate::{evaluate, holds};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::{Number, Term, TransitionId, Value};

use super::compared::ComparedTerm;
use super::goals::{Class, WalkGoal, WalkModel};
use super::worth::Worth;
use crate::values::as_rational;

/// Leads to one item.
pub struct Guide {
    /// The conditions of the target that the state decides.
    conditions: Vec<Term>,
    /// The wanted comparison and its sign.
    wanted: Option<(ComparedTerm, i8)>,
    /// For each location, the number of transitions to the target's source, or the number of all.
    hops: Vec<usize>,
}

impl Guide {
    /// Chooses a target by lot among the open items, and counts a plan for it. Half of the guides lead to open
    /// transitions if there are any.
    pub fn choose(model: &WalkModel, worth: &mut Worth, random: &mut Random) -> Option<Guide> {
        let is_open = |(number, goal): &(usize, &WalkGoal)| {
            matches!(goal, WalkGoal::Transition(_)) && worth.is_fresh(*number)
        };
        let open: Vec<usize> =
            model.goals.iter().enumerate().filter(is_open).map(|(number, _)| number).collect();
        if !open.is_empty() && random.below(2) == 0 {
            let goal = open[random.below(open.len())];
            worth.count_plan(goal);
            let WalkGoal::Transition(transition) = model.goals[goal] else { return None };
            return Some(Guide::new(model, transition, None));
        }
        let mut wanted = Vec::new();
        for transition in model.iosts.transitions.numbers() {
            for place in 0..model.sign_count(transition) {
                for sign in [-1, 0, 1] {
                    let item = worth.class_number(&Class::Sign(transition, place, sign));
                    if worth.is_fresh(item) {
                        wanted.push((item, transition, place, sign));
                    }
                }
            }
        }
        let &(item, transition, place, sign) = wanted.get(random.below(wanted.len().max(1)))?;
        worth.count_plan(item);
        let compared = model.closed_comparison(transition, place)?;
        Some(Guide::new(model, transition, Some((compared, sign))))
    }

    fn new(model: &WalkModel, target: TransitionId, wanted: Option<(ComparedTerm, i8)>) -> Guide {
        let transition = &model.iosts.transitions[target];
        let parameters = &model.iosts.action(transition.action).parameters;
        let mut conditions = model.conjuncts[target].clone();
        conditions.retain(|condition| !parameters.iter().any(|parameter| condition.mentions(parameter)));
        conditions.extend(wanted.iter().flat_map(|(compared, _)| compared.path.iter().cloned()));
        // The distances of all locations to the source, by rounds.
        let farthest = model.outgoing.len();
        let mut hops = vec![farthest; farthest];
        hops[transition.source.place()] = 0;
        let mut changes = true;
        while std::mem::take(&mut changes) {
            for transition in &model.iosts.transitions {
                let through = hops[transition.target.place()].saturating_add(1);
                let known = &mut hops[transition.source.place()];
                if through < *known {
                    (*known, changes) = (through, true);
                }
            }
        }
        Guide { conditions, wanted, hops }
    }

    /// The distance of a state from the target, and then the number of transitions to its source.
    pub fn measure(&self, state: &State) -> (u64, usize) {
        /// The distance of numbers that are one apart.
        const SCALE: f64 = 16.0;
        let mut distance: f64 = self.conditions.iter().map(|condition| gap(condition, state)).sum();
        if let Some((compared, sign)) = &self.wanted
            && let Some((left, right)) = compared.sides()
        {
            distance += difference(left, right, state).map_or(1.0, |apart| (apart - f64::from(*sign)).abs());
        }
        ((distance * SCALE) as u64, self.hops[state.location.place()])
    }
}

/// How far a state is from meeting a condition.
fn gap(condition: &Term, state: &State) -> f64 {
    if let Some(body) = condition.unfolded() {
        return gap(&body, state);
    }
    let parts_of = |parts: &[Term]| parts.iter().map(|part| gap(part, state)).collect::<Vec<f64>>();
    match condition.written() {
        Some(Node::And(parts)) => parts_of(parts).into_iter().sum(),
        Some(Node::Or(parts)) => parts_of(parts).into_iter().fold(f64::INFINITY, f64::min),
        Some(Node::Compare(comparison, left, right)) if left.sort().is_number() => {
            match (comparison, difference(left, right, state)) {
                (_, None) => 1.0,
                (Comparison::Equal, Some(apart)) => apart.abs(),
                (Comparison::NotEqual, Some(apart)) => f64::from(u8::from(apart == 0.0)),
                (Comparison::Less, Some(apart)) => (apart + 1.0).max(0.0),
                (Comparison::AtMost, Some(apart)) => apart.max(0.0),
                (Comparison::Greater, Some(apart)) => (1.0 - apart).max(0.0),
                (Comparison::AtLeast, Some(apart)) => (-apart).max(0.0),
            }
        }
        _ => f64::from(u8::from(holds(condition, &state.valuation) != Ok(true))),
    }
}

/// The left side minus the right one.
fn difference(left: &Term, right: &Term, state: &State) -> Option<f64> {
    let value = |term| evaluate(term, &state.valuation).ok();
    let (left, right): (Value, Value) = (value(left)?, value(right)?);
    Some((as_rational(&left) - as_rational(&right)).to_f64().value())
}
