//! The suspended specification: quiescence as an output, for ioco.
//!
//! **Problem.** An implementation that stays silent although the specification must answer conforms by ioc.
//! ioco also asks that the implementation is quiescent only if the specification is. So quiescence is one
//! more output, δ.
//!
//! **Source.** Tretmans, *Test generation with inputs, outputs and repetitive quiescence* (1996); thesis, 3.3
//! and Definition 3.9 for automata, and 9.2 for IOSTS: δ by the guards of the outputs, syntactically, if
//! there is no livelock (the reader refuses those).
//!
//! **Method.** At each location q a self-loop by δ, which changes nothing, with the guard
//!
//! ```text
//! for every output q -a,G->    no parameters of a satisfy G        (an outputlock or a deadlock)
//! for every internal q -G->    not G                               (a step that may still come)
//! ```
//!
//! where G is the full condition of a transition. This is done first of all, on the specification itself. So
//! a quiescent state after internal steps is a state of its own for closing, and determinizing leaves members
//! that are not quiescent behind at δ. Every stage treats δ as an output. A purpose may name it (`on:
//! quiescence`). If it does not, completion lets it stay at δ. **Where we differ** from Gaston et al. (2006):
//! their δ leads to a sink, so nothing is asked after it.
//!
//! **No quantifier.** "No parameters satisfy G" needs one, and terms have none. The parameters are eliminated
//! ([`existence`]). If that fails the stage stops, since a guard of δ that is too narrow would blame
//! implementations that conform.
//!
//! [`existence`]: coreach_analyses::symbolic::existence
//!
//! **Ends** after one look at each transition. **Cost**: a few queries for each parameter of an output.

use coreach_analyses::solver::{Solver, may_hold};
use coreach_analyses::symbolic::existence::eliminate_bound;
use coreach_model::budget;
use coreach_model::iosts::{Action, ActionKind, Iosts, TestPurpose};
use coreach_model::obligation::enabling_condition;
use coreach_model::{ActionId, Number, Numbered, Term};

use crate::artifact::added_transition;
use crate::limits::{Limits, Quantity};
use crate::names::UsedNames;
use crate::simplify::simplify_guard;
use crate::stop::{ShownTransition, Stop};

/// The name of quiescence, unless an action has it.
const DELTA: &str = "delta";

#[derive(Clone, Debug)]
pub struct Suspended {
    /// The specification, with δ after the outputs.
    pub iosts: Iosts,
    /// δ.
    pub quiescence: ActionId,
    /// The first so many transitions are the user's.
    pub given: usize,
}

impl Suspended {
    /// Changes the specification's purpose into one of the suspended specification.
    pub fn purpose(&self, mut purpose: TestPurpose) -> TestPurpose {
        let TestPurpose { iosts, .. } = &mut purpose;
        for transition in &mut iosts.transitions {
            transition.action = match iosts.actions[transition.action].kind {
                ActionKind::Quiescence => self.quiescence,
                ActionKind::Input | ActionKind::Output | ActionKind::Internal => {
                    shift_action(transition.action, self.quiescence)
                }
            };
        }
        purpose.iosts.actions = self.iosts.actions.clone();
        purpose
    }
}

/// The number of an action after a new one was inserted.
fn shift_action(action: ActionId, new: ActionId) -> ActionId {
    if action < new { action } else { ActionId(action.0 + 1) }
}

/// Adds quiescence. Errors: [`Stop`], if it cannot be said without quantifiers, or not shortly enough, when
/// an output is possible.
pub fn suspend(specification: &Iosts, limits: &Limits, solver: &mut dyn Solver) -> Result<Suspended, Stop> {
    budget::doing("computing when the specification is quiescent");
    let mut iosts = specification.clone();
    // The reader would put it here: after inputs and outputs.
    let visible = iosts.actions.iter().filter(|action| action.is_visible()).count();
    let quiescence = ActionId::of(visible);
    let mut names = UsedNames::of(iosts.actions.iter().map(|action| action.name.as_str()));
    let delta = Action { name: names.unique(DELTA), kind: ActionKind::Quiescence, parameters: Vec::new() };
    let (visible_actions, internal_actions) = specification.actions.split_at(visible);
    iosts.actions =
        visible_actions.iter().cloned().chain([delta]).chain(internal_actions.iter().cloned()).collect();
    for transition in &mut iosts.transitions {
        transition.action = shift_action(transition.action, quiescence);
    }
    let given = iosts.transitions.len();
    let mut conditions: Numbered<_, Vec<Term>> = iosts.locations.map(|_| Vec::new());
    for transition in &iosts.transitions {
        budget::ask();
        let action = iosts.action(transition.action);
        match action.kind {
            ActionKind::Input | ActionKind::Quiescence => {}
            ActionKind::Internal => conditions[transition.source].push(enabling_condition(transition).not()),
            ActionKind::Output => {
                let condition = enabling_condition(transition);
                let possible = eliminate_bound(&action.parameters, &condition, solver);
                let possible = possible.ok_or_else(|| Stop::Quiescence {
                    shown: Box::new(ShownTransition::transition(&iosts, transition)),
                    why: "the condition on the state cannot be expressed without quantifiers".to_owned(),
                })?;
                conditions[transition.source].push(possible.not());
            }
        }
    }
    for (source, conditions_of_source) in conditions.numbered() {
        budget::ask();
        let guard = Term::and(conditions_of_source.clone());
        if guard.is_false() || !(guard.is_true() || may_hold(solver, &guard.conjuncts())) {
            continue;
        }
        let guard = simplify_guard(&guard, &[], solver);
        let (size, limit) = (guard.written_size(), limits.of(Quantity::Nodes));
        if size > limit {
            let label = iosts.location(source).label.clone();
            return Err(Stop::Quiescence {
                why: format!(
                    "the quiescence of {label} needs an expression of {size} parts, and `limits: nodes` allows {limit}"
                ),
                shown: Box::new(ShownTransition { text: label, origin: None }),
            });
        }
        iosts.transitions.push(added_transition(source, quiescence, guard, source));
    }
    Ok(Suspended { iosts, quiescence, given })
}
