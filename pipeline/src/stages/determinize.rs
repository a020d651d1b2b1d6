//! Stage 4 makes every choice deterministic: after every trace the test case is in one location, and knows
//! the data.
//!
//! **Problem.** Where transitions of one action overlap, a trace leads to several locations with several
//! effects. For finite automata the answer is the subset construction. Here the members of a subset also
//! differ in what they have assigned, and a location has one set of variables only.
//!
//! **Source.** Thesis, appendix A.2: Definitions A.8-A.12, Algorithm A.1, Procedure A.1; Theorem A.11.
//!
//! **Where we differ.** The thesis rewrites the machine in place: it splits a choice, "propagates" the
//! postponed assignments over the next transitions, repeats, and cancels propagation where it did harm;
//! self-loops are excluded. It does not end if there is no lookahead. We build the result beside the machine,
//! by a *symbolic subset construction*. There are two, and the pair graph ([`super::lookahead`]) decides:
//!
//! - If a bounded number of events resolves every choice, effects are *postponed* until then: `postponed.rs`.
//!   That is the result of the thesis, with no variable more than it needs.
//! - Otherwise the analyses find which states are reached (`reach`), from which of them Accept can be reached
//!   (`coreach`), and which variables are still read. Then each way that a run may have gone *keeps* its
//!   values in variables of its own: `kept.rs`. Only ways that grow without bound are an obstacle there.
//!
//! **Ends**: see the two constructions. A machine cut off at a limit is never returned: it would lack traces.
//!
//! ```text
//! Pay -Coffee[v >= 3]-> WaitMilk       Pay -Coffee[v >= 3 && v > 3]-> WaitMilk,  [.. && v < 3]-> WaitSugar,
//! Pay -Coffee[v <= 3]-> WaitSugar      Pay -Coffee[v >= 3 && v <= 3]-> <WaitMilk,WaitSugar>
//! ```

use std::collections::HashMap;

use coreach_analyses::live::live;
use coreach_analyses::reachability::{self, Facts, analyse};
use coreach_analyses::solver::{Solver, Witness, may_hold};
use coreach_model::budget;
use coreach_model::iosts::{Aim, Iosts, Transition};
use coreach_model::term::Substitution;
use coreach_model::{ActionId, LocationId, Numbered, Term, TransitionId};

use crate::artifact::{self, Basis, Closed, Visible};
use crate::limits::{Limits, Quantity};
use crate::stage::Stage;
use crate::stages::kept::keep_values;
use crate::stages::lookahead::{Lookahead, LookaheadChoice, find_choices, find_lookahead};
use crate::stages::must_answer::must_answer_conditions;
use crate::stages::postponed::postpone_effects;
use crate::stop::{ShownTransition, Stop, check_writable};

/// Makes every choice deterministic.
///
/// Over-approximation: a subset of which the solver does not know whether its guard can hold is kept.
pub fn determinize(
    closed: Closed,
    max_lookahead: usize,
    aim: Aim,
    analysis: &reachability::Analysis,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Visible, Stop> {
    budget::doing("comparing pairs of transitions");
    let choices = find_choices(&closed.iosts, limits, solver)?;
    if choices.is_empty() {
        return without_choice(closed, limits, solver);
    }
    budget::doing("computing the lookahead of each choice");
    if let Lookahead::Exists(lookahead, _) = find_lookahead(&closed.iosts, &choices)
        && lookahead <= max_lookahead
    {
        budget::doing("building sets of locations");
        if let Some(visible) = postpone_effects(&closed, lookahead, max_lookahead, limits, solver)? {
            return Ok(visible);
        }
    }
    budget::doing("checking the facts about the choices");
    let cut = cut_behind_accept(&closed);
    let known = analyse_reach(&cut, &closed, aim, analysis);
    let cut = without_never_taken(cut, &known, solver);
    // The facts may exclude some of the choices.
    let choices = find_choices(&within_reach(&cut, &known), limits, solver)?;
    let lookahead = find_lookahead(&cut, &choices);
    if let Lookahead::Exists(lookahead, Some(choice)) = lookahead
        && lookahead > max_lookahead
    {
        let choice = Box::new(describe_choice(&cut, choice));
        return Err(Stop::LookaheadLimit { limit: max_lookahead, needed: lookahead, choice });
    }
    budget::doing("building sets of locations");
    let reach = known.reach.clone();
    let stop = match keep_values(&closed, known, limits, solver) {
        Err(stop) => stop,
        made => return made,
    };
    // Without a lookahead there is no end of ways, subsets or transitions. So their limit says that it is
    // the choice that is never resolved. All other stops stay as they are.
    use Quantity::{SetTransitions, Subsets, Ways};
    let (
        Lookahead::None { choice, prefix, cycle },
        &Stop::TooMany { quantity: quantity @ (Ways | Subsets | SetTransitions), limit, .. },
    ) = (lookahead, &stop)
    else {
        return Err(stop);
    };
    let names_of =
        |actions: &[ActionId]| actions.iter().map(|action| cut.action(*action).name.clone()).collect();
    let (prefix, cycle) = (names_of(&prefix), names_of(&cycle));
    let witness = find_witness(&cut, &reach, choice, solver);
    let choice = Box::new(describe_choice(&cut, choice));
    Err(Stop::NoLookahead { choice, witness, prefix, cycle, quantity, limit })
}

/// Joins transitions of one effect. A machine without a choice needs nothing else.
fn without_choice(closed: Closed, limits: &Limits, solver: &mut dyn Solver) -> Result<Visible, Stop> {
    let alone = |location| vec![artifact::Member { location, steps: Vec::new() }];
    let members = closed.iosts.location_ids().map(alone).collect();
    let must_answer = must_answer_conditions(&closed, &members, None, limits, solver);
    let iosts = join_transitions(closed.iosts);
    for transition in &iosts.transitions {
        check_writable(Stage::Determinize, transition, limits)?;
    }
    let ends = members.map(|_| false);
    let accepting = closed.accepting;
    Ok(Visible { iosts, members, accepting, lookahead: Some(0), must_answer, ends, known: None })
}

/// Removes what follows Accept: no test goes there.
fn cut_behind_accept(closed: &Closed) -> Iosts {
    let mut cut = closed.iosts.clone();
    cut.transitions.retain(|transition| !closed.accepting[transition.source]);
    cut
}

/// Analyses the machine. A forbidden output may violate a property wherever a run is. So for a property no
/// location is out of reach of a violation, and every variable counts as read.
fn analyse_reach(cut: &Iosts, closed: &Closed, aim: Aim, analysis: &reachability::Analysis) -> Basis {
    let Facts { reach, coreach, chain, .. } = analyse(cut, &closed.accepting, analysis);
    let reach = reach.into();
    match aim {
        Aim::Accept => Basis { reach, coreach: coreach.into(), chain, live: live(cut, &closed.accepting) },
        Aim::Violate => {
            let coreach = cut.locations.map(|_| Term::yes());
            let live = cut.locations.map(|_| cut.variables.iter().cloned().collect());
            Basis { reach, coreach, chain: Vec::new(), live }
        }
    }
}

/// Removes the transitions that no state in reach can take.
fn without_never_taken(mut cut: Iosts, known: &Basis, solver: &mut dyn Solver) -> Iosts {
    cut.transitions.retain(|transition| {
        let mut formula = known.reach[transition.source].conjuncts();
        formula.extend(transition.guard.conjuncts());
        may_hold(solver, &formula)
    });
    cut
}

/// Adds to each guard the facts that are known where it is read.
fn within_reach(cut: &Iosts, known: &Basis) -> Iosts {
    let mut strengthened = cut.clone();
    for transition in &mut strengthened.transitions {
        transition.guard = Term::and([known.reach[transition.source].clone(), transition.guard.clone()]);
    }
    strengthened
}

/// Finds values of the data, as (name, value) for the message, with which both transitions of a choice can be
/// taken. Empty if the solver found none. Both leave the same location, so its `reach` counts for both.
fn find_witness(
    iosts: &Iosts,
    reach: &Numbered<LocationId, Term>,
    choice: LookaheadChoice,
    solver: &mut dyn Solver,
) -> Vec<(String, String)> {
    let [first, second] = [choice.first, choice.second].map(|number| &iosts.transitions[number]);
    let mut formula = reach[first.source].conjuncts();
    formula.extend(first.guard.conjuncts());
    formula.extend(second.guard.conjuncts());
    match solver.witness(&formula) {
        Witness::Found(values) => {
            values.iter().map(|(datum, value)| (datum.name().to_owned(), value.to_string())).collect()
        }
        Witness::None | Witness::Unknown => Vec::new(),
    }
}

fn describe_choice(iosts: &Iosts, choice: LookaheadChoice) -> [ShownTransition; 2] {
    [choice.first, choice.second].map(|number| ShownTransition::transition(iosts, &iosts.transitions[number]))
}

/// Joins transitions that differ in their guards only.
fn join_transitions(mut iosts: Iosts) -> Iosts {
    let mut index: HashMap<(LocationId, ActionId, LocationId, Substitution), TransitionId> = HashMap::new();
    let mut kept: Numbered<TransitionId, Transition> = Numbered::new();
    let mut guards: Numbered<TransitionId, Vec<Term>> = Numbered::new();
    for transition in std::mem::take(&mut iosts.transitions) {
        let key = (transition.source, transition.action, transition.target, transition.assignments.clone());
        let number_if_new = kept.next_number();
        let number = *index.entry(key).or_insert(number_if_new);
        if number == number_if_new {
            guards.push(vec![transition.guard.clone()]);
            kept.push(transition);
        } else {
            // The first guard belongs to the kept origin. `join` needs it at the first join only.
            kept[number].origin.join(&guards[number][0], &transition.guard, &transition.origin);
            guards[number].push(transition.guard);
        }
    }
    for (transition, guards) in kept.iter_mut().zip(guards).filter(|(_, guards)| guards.len() > 1) {
        transition.guard = Term::or(guards);
    }
    iosts.transitions = kept;
    iosts
}
