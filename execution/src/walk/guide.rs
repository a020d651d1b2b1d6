//! Guides a search towards one open item that lies far away.
//!
//! **Problem.** A transition may need a sum that takes forty steps to reach. A search that looks at near
//! positions first never gets there.
//!
//! **Method.** A guide has one target: an open transition, a sign of a comparison that was never met when its
//! transition is taken, or an end of a counter. It measures how far a state is from the target's guard. A
//! comparison of numbers is as far as its sides are apart. A conjunction adds up its parts, and a disjunction
//! takes the nearest. Parameters may have any value of their ranges. Of two equal distances, fewer
//! transitions to the source decide.
//!
//! **Source.** This is the branch distance of search-based testing (Tracey et al., ASE 1998).
//!
//! **Costs** one evaluation of the guard for each position.

use coreach_analyses::symbolic::search::{SearchGoal, find_distances};
use coreach_model::random::Random;
use coreach_model::semantics::State;
use coreach_model::term::evaluate::{evaluate_with, holds};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::{Datum, LocationId, Numbered, Term, TransitionId, Type, Value};

use super::compared::ComparedTerm;
use super::goals::{Class, WalkGoal, WalkModel};
use super::worth::Worth;
use crate::values::as_rational;

/// A value for each parameter.
type Corner = Vec<(Datum, Value)>;

/// Leads to one item.
pub struct Guide {
    /// The number of the item.
    pub target: usize,
    /// The conditions under which the transition is taken, each with whether it depends on parameters.
    conditions: Vec<(Term, bool)>,
    /// The wanted comparison and its sign.
    wanted: Option<(ComparedTerm, i8)>,
    /// Valuations of the parameters at the ends of their ranges.
    corners: Vec<Corner>,
    /// For each location, the number of transitions to the source of the transition, or the number of all.
    hops: Numbered<LocationId, usize>,
}

impl Guide {
    /// Chooses an open transition as the target, by lot. `None` if none is open.
    pub fn to_goal(model: &WalkModel, worth: &Worth, random: &mut Random) -> Option<Guide> {
        let is_open = |(number, goal): &(usize, &WalkGoal)| {
            matches!(goal, WalkGoal::Transition(_)) && worth.is_fresh(*number)
        };
        let open = model.goals.iter().enumerate().filter(is_open).map(|(number, _)| number);
        let open: Vec<usize> = open.collect();
        let goal = *open.get(random.below(open.len().max(1)))?;
        let WalkGoal::Transition(transition) = model.goals[goal] else { return None };
        Some(Guide::new(model, goal, transition, None))
    }

    /// Chooses an open sign or the open end of a counter as the target, by lot. `None` if none is open.
    pub fn to_class(model: &WalkModel, worth: &mut Worth, random: &mut Random) -> Option<Guide> {
        let mut targets = Vec::new();
        for transition in model.iosts.transitions.numbers() {
            for (place, compared) in model.numeric_comparisons(transition) {
                for sign in [-1, 0, 1] {
                    let item = worth.class_number(&Class::Sign(transition, place, sign));
                    if worth.is_fresh(item) {
                        targets.push((item, transition, compared.clone(), sign));
                    }
                }
            }
        }
        for (counter, term, class) in model.counter_ends() {
            for transition in model.iosts.transitions.numbers() {
                let item = worth.class_number(&Class::Counts(transition, counter, class.clone()));
                if worth.is_fresh(item) && model.with_classes {
                    let end = ComparedTerm { term: term.clone(), path: Vec::new(), is_inner: false };
                    targets.push((item, transition, end, 0));
                }
            }
        }
        let chosen = random.below(targets.len().max(1));
        let (item, transition, compared, sign) = targets.into_iter().nth(chosen)?;
        Some(Guide::new(model, item, transition, Some((compared, sign))))
    }

    /// Makes a guide to a transition, and to the wanted sign of a comparison when it is taken.
    fn new(
        model: &WalkModel,
        target: usize,
        number: TransitionId,
        wanted: Option<(ComparedTerm, i8)>,
    ) -> Guide {
        let transition = &model.iosts.transitions[number];
        let mut conditions = model.conjuncts[number].clone();
        conditions.extend(wanted.iter().flat_map(|(compared, _)| compared.path.iter().cloned()));
        let mut corners: Vec<Corner> = vec![Vec::new()];
        for parameter in &model.iosts.action(transition.action).parameters {
            let ends = find_ends(parameter.ty());
            if ends.is_empty() || corners.len() * ends.len() > MOST_CORNERS {
                continue;
            }
            for corner in std::mem::take(&mut corners) {
                corners.extend(
                    ends.iter().map(|end| [&corner[..], &[(parameter.clone(), end.clone())]].concat()),
                );
            }
        }
        let is_source = model.iosts.location_ids().map(|location| location == transition.source);
        let to_source = SearchGoal::reaching(is_source.collect(), &model.iosts);
        let farthest = model.outgoing.len();
        let hops = find_distances(&model.iosts, &to_source).map(|hops| hops.unwrap_or(farthest));
        let with_openness = |condition: Term| {
            let is_open = corners[0].iter().any(|(parameter, _)| condition.mentions(parameter));
            (condition, is_open)
        };
        let conditions = conditions.into_iter().map(with_openness).collect();
        Guide { target, conditions, wanted, corners, hops }
    }

    /// Measures the distance of a state from the target, and then the number of transitions to its source.
    pub fn measure(&self, state: &State) -> (u64, usize) {
        // All corners agree on a condition without parameters.
        let corners = |is_open: bool| if is_open { &self.corners[..] } else { &self.corners[..1] };
        let gap_to = |(condition, is_open): &(Term, bool)| gap(condition, corners(*is_open), state);
        let mut distance: f64 = self.conditions.iter().map(gap_to).sum();
        if let Some((compared, sign)) = &self.wanted
            && let Some((left, right)) = compared.sides()
            && let Some((least, most)) = difference(left, right, &self.corners, state)
        {
            let sign = f64::from(*sign);
            // How far the wanted sign is from what the corners give.
            distance += (least - sign).max(sign - most).max(0.0);
        }
        // The distance of numbers that are one apart is 16.
        ((distance * 16.0) as u64, self.hops[state.location])
    }
}

/// Measures how far a state is from a condition: 0 if it holds. Comparisons of numbers count the difference
/// of their sides. Of other conditions, one that mentions a parameter of the corners counts as met.
fn gap(condition: &Term, corners: &[Corner], state: &State) -> f64 {
    if let Some(body) = condition.unfolded() {
        return gap(&body, corners, state);
    }
    let gaps = |parts: &[Term]| parts.iter().map(|part| gap(part, corners, state)).collect::<Vec<f64>>();
    match condition.written() {
        Some(Node::And(parts)) => gaps(parts).into_iter().sum(),
        Some(Node::Or(parts)) => gaps(parts).into_iter().fold(f64::INFINITY, f64::min),
        Some(Node::Compare(comparison, left, right)) if left.sort().is_number() => {
            let Some((least, most)) = difference(left, right, corners, state) else { return 1.0 };
            let gap = match comparison {
                Comparison::Equal => least.max(-most),
                Comparison::NotEqual => f64::from(u8::from((least, most) == (0.0, 0.0))),
                Comparison::Less => least + 1.0,
                Comparison::AtMost => least,
                Comparison::Greater => 1.0 - most,
                Comparison::AtLeast => -most,
            };
            gap.max(0.0)
        }
        _ => {
            let may_hold = |corner: &Corner| {
                let is_open = corner.iter().any(|(parameter, _)| condition.mentions(parameter));
                is_open || holds(condition, &state.valuation) == Ok(true)
            };
            f64::from(u8::from(!corners.iter().any(may_hold)))
        }
    }
}

/// Returns the least and the greatest difference of the sides at the corners. `None`: no corner has values.
fn difference(left: &Term, right: &Term, corners: &[Corner], state: &State) -> Option<(f64, f64)> {
    let mut range: Option<(f64, f64)> = None;
    for corner in corners {
        let lookup = |datum: &Datum| match corner.iter().find(|(parameter, _)| parameter == datum) {
            Some((_, value)) => Some(value),
            None => state.valuation.get(datum),
        };
        let sides = evaluate_with(left, lookup).ok().zip(evaluate_with(right, lookup).ok());
        let Some((left, right)) = sides else { continue };
        let apart = match (&left, &right) {
            (Value::Int(left), Value::Int(right)) => (left - right).to_f64().value(),
            _ => (as_rational(&left) - as_rational(&right)).to_f64().value(),
        };
        let (least, most) = range.unwrap_or((apart, apart));
        range = Some((least.min(apart), most.max(apart)));
    }
    range
}

/// The most valuations of the parameters that are tried.
const MOST_CORNERS: usize = 8;

/// Lists the ends of a type: those of a range, all values of a small type, and far away numbers otherwise.
fn find_ends(ty: &Type) -> Vec<Value> {
    match ty {
        Type::Range(low, high) => [low, high].map(|end| Value::Int(end.clone())).to_vec(),
        ty if ty.is_integer() => [0, 1_000_000].map(Value::int).to_vec(),
        ty => Value::enumerate(ty, MOST_CORNERS).unwrap_or_default(),
    }
}
