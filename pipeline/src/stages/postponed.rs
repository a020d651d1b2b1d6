//! The subset construction where a lookahead exists. Effects stay postponed until it is known which member's
//! effects are the right ones.
//!
//! A member's effects are the assignments that it has made, event by event, and that the variables do not
//! show yet. `pending` is the effects of a member as one.
//!
//! - If all members have the same effect, it is assigned at once (Definition A.9). A single member is then an
//!   ordinary location again. Otherwise the effects stay postponed, except the oldest ones that all members
//!   share. Those are assigned, so nothing pending is older than the choice that the members come from.
//! - The parameters that postponed effects mention are kept in *memory variables* (Definition A.10). The
//!   thesis has one per parameter, which a second occurrence of the action overwrites while it is still
//!   needed. Ours are numbered: the least number that no postponed effect mentions.
//!
//! **Ends**: no set is further behind its choice than the lookahead, counted in events.

use std::collections::BTreeSet;

use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::iosts::Iosts;
use coreach_model::obligation::defined;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, Datum, LocationId, Term};

use crate::artifact::{Closed, Member, Visible};
use crate::limits::Limits;
use crate::stages::construction::{Construction, EffectRules, Memory, Set, SetMove};
use crate::stages::sets::compose_effects;
use crate::stop::Stop;

/// Makes the visible behaviours, with effects postponed by at most `max_depth` events. The result is `None`
/// if that is not enough.
pub(super) fn postpone_effects(
    closed: &Closed,
    lookahead: usize,
    max_depth: usize,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Option<Visible>, Stop> {
    let effects = Postponed { iosts: &closed.iosts, max_depth, too_deep: false };
    let mut made = Construction::run(closed, effects, limits, solver)?;
    if made.effects.too_deep {
        return Ok(None);
    }
    made.simplify_and_renumber(solver);
    let memory = made.memory.all.clone();
    Ok(Some(made.finish(memory, Some(lookahead), solver)))
}

struct Postponed<'a> {
    iosts: &'a Iosts,
    max_depth: usize,
    too_deep: bool,
}

impl EffectRules for Postponed<'_> {
    fn priority(&self, _members: usize, number: LocationId) -> (usize, i64) {
        (0, -i64::from(number.0))
    }

    /// A postponed effect may have a value only where its own guard held. That guard held wherever this one
    /// is read, but the text of this one does not show that.
    fn complete_guard(&self, pending: &Substitution, guard: Term, effect: &Substitution) -> Term {
        if pending.is_empty() {
            return guard;
        }
        let values = Term::and(effect.values().map(defined));
        Term::and([defined(&guard), guard, values])
    }

    /// In an ordinary location every guard is known to be satisfiable: `close` has asked.
    fn may_hold(&self, set: &Set, _context: &[Term], guard: &Term, solver: &mut dyn Solver) -> bool {
        set.members.len() == 1 || may_hold(solver, &guard.conjuncts())
    }

    /// Decides what is assigned now and what stays pending.
    fn settle(
        &mut self,
        action: ActionId,
        candidates: &[&SetMove],
        _premises: &[Term],
        memory: &mut Memory,
        _solver: &mut dyn Solver,
    ) -> Result<(Set, Substitution), Stop> {
        // All members have one and the same effect, so it can be assigned at once.
        let mut members: Vec<Member> = candidates.iter().map(|candidate| candidate.next.clone()).collect();
        let effect = &candidates[0].effect;
        if candidates.iter().all(|candidate| candidate.effect == *effect) {
            for member in &mut members {
                member.steps.clear();
            }
            members.sort();
            return Ok((Set { members, ends: false }, effect.clone()));
        }
        // The oldest effects are assigned as long as all members share them.
        let mut stored = Substitution::new();
        while let Some(oldest) = members[0].steps.first().cloned()
            && members.iter().all(|member| member.steps.first() == Some(&oldest))
        {
            stored = compose_effects(&stored, &oldest);
            for member in &mut members {
                member.steps.remove(0);
            }
        }
        // What is pending may read the parameters of this event, so these are kept in memory variables that
        // nothing pending mentions.
        let steps = members.iter().flat_map(|member| &member.steps);
        let mentioned_data: BTreeSet<Datum> =
            steps.flat_map(|step| step.values()).flat_map(Term::data).collect();
        let parameters = &self.iosts.action(action).parameters;
        let mut renaming = Substitution::new();
        for parameter in parameters.iter().filter(|parameter| mentioned_data.contains(parameter)) {
            let mut number = 1;
            let mut variable = memory.variable(parameter, number);
            while mentioned_data.contains(&variable) {
                number += 1;
                variable = memory.variable(parameter, number);
            }
            renaming.insert(parameter.clone(), Term::datum(&variable));
            stored.insert(variable, Term::datum(parameter));
        }
        for member in &mut members {
            for value in member.steps.iter_mut().flat_map(|step| step.values_mut()) {
                *value = substitute(value, &renaming);
            }
        }
        members.sort();
        // All members have the same number of pending steps, one for each event since the choice.
        self.too_deep = members[0].steps.len() > self.max_depth;
        Ok((Set { members, ends: false }, stored))
    }

    fn gives_up(&self) -> bool {
        self.too_deep
    }
}
