//! Formulas of linear constraints and congruences: the guards as the domains see them.
//!
//! They are positive: nothing is negated, so an over-approximation of a part over-approximates the whole.
//! [`crate::scope`] makes them from terms.

use std::cell::Cell;
use std::sync::Arc;

use coreach_model::hash::FastSet;
use coreach_polyhedra::{Constraint, Integer};

use crate::domains::any::AnyElement;
use crate::grid::Congruence;
use crate::linear::constant_truth;

/// A positive formula over linear constraints. Its parts are shared, since cases are copied with their
/// conditions.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub enum Formula {
    #[default]
    Yes,
    No,
    Linear(Arc<[Constraint]>),
    Congruence(Congruence),
    /// The conjunction of these. At most the first is [`Formula::Linear`].
    And(Arc<[Formula]>),
    Or(Arc<[Formula]>),
}

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static JOINED: Cell<u64> = const { Cell::new(0) };
}

/// The steps that conditions have taken on this thread, each as many as there are pairs of dimensions.
pub fn count_steps() -> u64 {
    STEPS.get()
}

/// The parts and constraints that were joined to formulas on this thread.
pub fn count_joined_parts() -> u64 {
    JOINED.get()
}

fn count_joined(parts: usize) {
    JOINED.set(JOINED.get().wrapping_add(parts as u64));
}

fn count_step(dimensions: usize) {
    let pairs = (dimensions as u64).saturating_mul(dimensions as u64);
    STEPS.set(STEPS.get().wrapping_add(pairs));
}

impl Formula {
    /// Conjoins conditions. All linear constraints are collected in one part, each once.
    pub fn and(parts: impl IntoIterator<Item = Formula>) -> Formula {
        let (mut linear, mut others): (Vec<Constraint>, Vec<Formula>) = (Vec::new(), Vec::new());
        let mut open_parts: Vec<Formula> = parts.into_iter().collect();
        // `pop` takes the last, so the reversed parts are met in their order.
        open_parts.reverse();
        while let Some(part) = open_parts.pop() {
            count_joined(1);
            match part {
                Formula::Yes => {}
                Formula::No => return Formula::No,
                Formula::Linear(constraints) => {
                    count_joined(constraints.len());
                    linear.extend_from_slice(&constraints);
                }
                Formula::And(inner) => open_parts.extend(inner.iter().rev().cloned()),
                Formula::Or(_) | Formula::Congruence(_) if others.contains(&part) => {}
                Formula::Or(_) | Formula::Congruence(_) => others.push(part),
            }
        }
        if !linear.is_empty() {
            let mut seen = FastSet::default();
            linear.retain(|constraint| seen.insert(constraint.clone()));
            others.insert(0, Formula::Linear(linear.into()));
        }
        match others.len() {
            0 => Formula::Yes,
            1 => others.swap_remove(0),
            _ => Formula::And(others.into()),
        }
    }

    /// Splits the condition into at most `most` conditions of which it is the disjunction. A part that would
    /// make more stays whole.
    pub fn alternatives(&self, most: usize) -> Vec<Formula> {
        let whole = || vec![self.clone()];
        match self {
            Formula::Or(parts) => {
                let split: Vec<Formula> = parts.iter().flat_map(|part| part.alternatives(most)).collect();
                if split.len() <= most { split } else { whole() }
            }
            Formula::And(parts) => {
                let mut combined = vec![Formula::Yes];
                for part in parts.iter() {
                    let split = part.alternatives(most);
                    let fits = split.len() * combined.len() <= most;
                    let choices = if fits { split } else { vec![part.clone()] };
                    let pairs =
                        combined.iter().flat_map(|first| choices.iter().map(move |next| [first, next]));
                    combined = pairs.map(|pair| Formula::and(pair.map(Formula::clone))).collect();
                }
                combined
            }
            _ => whole(),
        }
    }

    /// Makes the disjunction of conditions, each once.
    pub fn or(parts: impl IntoIterator<Item = Formula>) -> Formula {
        let mut kept: Vec<Formula> = Vec::new();
        for part in parts {
            count_joined(1);
            match part {
                Formula::No => {}
                Formula::Yes => return Formula::Yes,
                Formula::Or(inner) => {
                    count_joined(inner.len());
                    kept.extend_from_slice(&inner);
                }
                part if kept.contains(&part) => {}
                part => kept.push(part),
            }
        }
        match kept.len() {
            0 => Formula::No,
            1 => kept.swap_remove(0),
            _ => Formula::Or(kept.into()),
        }
    }

    pub fn congruence(congruence: Congruence) -> Formula {
        match congruence.constant_truth() {
            Some(true) => Formula::Yes,
            Some(false) => Formula::No,
            None => Formula::Congruence(congruence),
        }
    }

    pub fn constraint(constraint: Constraint) -> Formula {
        match constant_truth(&constraint) {
            Some(true) => Formula::Yes,
            Some(false) => Formula::No,
            None => Formula::Linear([constraint].into()),
        }
    }

    /// Restricts an element to the condition: by its constraints, then by each disjunction, with a join.
    pub fn meet(&self, element: AnyElement, integer: &[bool], dimensions: usize) -> AnyElement {
        match self {
            Formula::Yes => element,
            Formula::No => element.bottom(dimensions),
            Formula::Linear(constraints) => {
                count_step(dimensions);
                element.meet_constraints(constraints, integer)
            }
            Formula::Congruence(only) => {
                count_step(dimensions);
                element.meet_congruences(std::slice::from_ref(only), integer)
            }
            Formula::And(parts) => parts.iter().fold(element, |element, part| {
                if element.is_bottom() { element } else { part.meet(element, integer, dimensions) }
            }),
            Formula::Or(parts) => {
                let mut sum: Option<AnyElement> = None;
                for part in parts.iter() {
                    let met = part.meet(element.clone(), integer, dimensions);
                    if met.is_bottom() {
                        continue;
                    }
                    sum = Some(match sum {
                        None => met,
                        Some(sum) => {
                            count_step(dimensions);
                            sum.join(&met)
                        }
                    });
                }
                sum.unwrap_or_else(|| element.bottom(dimensions))
            }
        }
    }

    /// Does it mention one of these dimensions?
    pub fn mentions(&self, dimensions: &std::ops::Range<usize>) -> bool {
        let within = |coefficients: &[Integer]| {
            dimensions.clone().any(|dimension| coefficients.get(dimension).is_some_and(|c| !c.is_zero()))
        };
        match self {
            Formula::Yes | Formula::No => false,
            Formula::Linear(constraints) => constraints.iter().any(|one| within(one.coefficients())),
            Formula::Congruence(only) => within(only.coefficients()),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().any(|part| part.mentions(dimensions)),
        }
    }

    /// The linear constraints of the condition, without those in disjunctions.
    pub fn linear_part(&self) -> &[Constraint] {
        match self {
            Formula::Linear(constraints) => constraints,
            Formula::And(parts) => match parts.first() {
                // Only the first part of a conjunction can be linear.
                Some(Formula::Linear(constraints)) => constraints,
                _ => &[],
            },
            Formula::Yes | Formula::No | Formula::Congruence(_) | Formula::Or(_) => &[],
        }
    }

    pub fn is_linear(&self) -> bool {
        matches!(self, Formula::Yes | Formula::Linear(_))
    }

    /// Counts the constraints and congruences.
    pub fn size(&self) -> usize {
        match self {
            Formula::Yes | Formula::No => 0,
            Formula::Linear(constraints) => constraints.len(),
            Formula::Congruence(_) => 1,
            Formula::And(parts) | Formula::Or(parts) => parts.iter().map(Formula::size).sum(),
        }
    }

    pub fn for_each(&self, visit: &mut impl FnMut(&Constraint)) {
        match self {
            Formula::Yes | Formula::No | Formula::Congruence(_) => {}
            Formula::Linear(constraints) => constraints.iter().for_each(visit),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| part.for_each(visit)),
        }
    }
}
