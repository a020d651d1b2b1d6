//! The subset construction where a lookahead exists: effects stay postponed until it is known whose they are.
//!
//! A macro-location is a set of members ⟨location, postponed effects⟩: where a run may be, and what it has
//! assigned, event by event, without the variables showing it yet. `pending` is the effects of a member as
//! one.
//!
//! - From a macro-location, a transition t of a member asks for `G_t[pending]` and would leave `A_t[pending]`
//!   pending.
//! - Candidates with one target and equal effects are one, their guards joined by `||`.
//! - For every satisfiable subset P of the overlapping candidates: all guards of P, none of the others'.
//! - One member: its effects are assigned, and we are at an ordinary location again. Several with one and the
//!   same effect: it is assigned at once (Definition A.9). Otherwise the effects stay postponed, but for the
//!   oldest ones that all members share: those are assigned, so that nothing pending is older than the choice
//!   that the members come from. (Otherwise a member that chooses again and again would never get rid of what
//!   was decided long ago.)
//! - The parameters that postponed effects mention are kept in *memory variables* (Definition A.10). The
//!   thesis has one per parameter, which a second occurrence of the action overwrites while it is still
//!   needed. Ours are numbered: the least number that no postponed effect mentions.
//!
//! Nothing is rewritten, so nothing has to be cancelled, and self-loops are ordinary.
//!
//! **Ends**: no macro-location is more events behind its choice than the lookahead says. Sets can be
//! exponentially many: [`Quantity::Subsets`], [`Quantity::SetTransitions`].
//!
//! **Cost**: per macro-location and action, queries as many as candidates and overlapping pairs of them, and
//! as satisfiable subsets times the candidates that overlap.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::budget;
use coreach_model::iosts::{Iosts, Transition, TransitionOrigin};
use coreach_model::obligation::defined;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, Datum, LocationId, Numbered, Term, TransitionId};

use crate::artifact::{Closed, Member, Visible};
use crate::limits::{Limits, Quantity};
use crate::names::{UsedNames, of_scope};
use crate::simplify::without_repetition;
use crate::stage::Stage;
use crate::stages::must_answer::must_answer;
use crate::stages::sets::{followed, is_ordinary, locations, pending};
use crate::stages::subsets::satisfiable_subsets;
use crate::stop::{Stop, all_writable, within};

/// The visible behaviours, with effects postponed by no more than so many events; `None` where that does not
/// do.
///
/// # Errors
/// [`Stop::TooMany`].
pub(super) fn postponed(
    closed: &Closed,
    lookahead: usize,
    max_depth: usize,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Option<Visible>, Stop> {
    let mut construction = Construction::start(closed, max_depth, limits);
    construction.run(solver)?;
    Ok((!construction.too_deep).then(|| construction.finish(lookahead, solver)))
}

/// A set of members, in order, all with as many postponed effects. One member without any is an ordinary
/// location.
type Members = Vec<Member>;

/// One way to go on from a macro-location by an action.
struct Candidate {
    guard: Term,
    /// Guards of others with one target and one effect, to be joined to it.
    also: Vec<Term>,
    next: Member,
    /// The effect of `next` as one: candidates with one target and one effect are one.
    effect: Substitution,
    origin: TransitionOrigin,
}

struct Construction<'a> {
    closed: &'a Closed,
    limits: &'a Limits,
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    max_depth: usize,
    macros: Numbered<LocationId, Members>,
    index: HashMap<Members, LocationId>,
    transitions: Numbered<TransitionId, Transition>,
    /// The transitions whose guards were made here and may say things twice. They are put in few words at the
    /// end: where the construction stops, that would be half of its queries.
    made: Vec<TransitionId>,
    memory: Vec<Datum>,
    memory_of: HashMap<(Datum, usize), Datum>,
    names: UsedNames,
    too_deep: bool,
}

impl<'a> Construction<'a> {
    fn start(closed: &'a Closed, max_depth: usize, limits: &'a Limits) -> Self {
        let iosts = &closed.iosts;
        let names = of_scope(iosts);
        let initial = vec![Member { location: iosts.initial, steps: Vec::new() }];
        Construction {
            closed,
            limits,
            outgoing: iosts.outgoing(),
            max_depth,
            macros: vec![initial.clone()].into(),
            index: HashMap::from([(initial, LocationId(0))]),
            transitions: Numbered::new(),
            made: Vec::new(),
            memory: Vec::new(),
            memory_of: HashMap::new(),
            names,
            too_deep: false,
        }
    }

    fn run(&mut self, solver: &mut dyn Solver) -> Result<(), Stop> {
        let mut work = VecDeque::from([LocationId(0)]);
        let mut from_macros = 0;
        while let Some(number) = work.pop_front() {
            for (action, candidates) in self.candidates(number, solver)? {
                let guards: Vec<Term> = candidates.iter().map(|candidate| candidate.guard.clone()).collect();
                let subsets = satisfiable_subsets(&guards, &[], self.limits, solver)?;
                if !is_ordinary(&self.macros[number]) {
                    from_macros += subsets.len();
                    within(Stage::Determinize, Quantity::SetTransitions, from_macros, self.limits)?;
                }
                for (subset, guard) in subsets {
                    let members: Vec<&Candidate> = subset.iter().map(|&at| &candidates[at]).collect();
                    let (members, assignments) = self.settle(action, &members);
                    if members[0].steps.len() > self.max_depth {
                        self.too_deep = true;
                        return Ok(());
                    }
                    let origin = match subset.as_slice() {
                        [one] => candidates[*one].origin.clone(),
                        _ => TransitionOrigin::default(),
                    };
                    if !matches!(subset.as_slice(), [one] if candidates[*one].guard == guard) {
                        self.made.push(self.transitions.next_number());
                    }
                    let new = self.macros.next_number();
                    let target = self.number_of(members);
                    if target == new {
                        work.push_back(target);
                    }
                    self.transitions.push(Transition {
                        source: number,
                        action,
                        guard,
                        assignments,
                        target,
                        origin,
                    });
                }
            }
        }
        Ok(())
    }

    /// Every way on whose guard may hold, by action, equal ones joined.
    fn candidates(
        &self,
        number: LocationId,
        solver: &mut dyn Solver,
    ) -> Result<BTreeMap<ActionId, Vec<Candidate>>, Stop> {
        let iosts = &self.closed.iosts;
        let mut found: BTreeMap<ActionId, Vec<Candidate>> = BTreeMap::new();
        let mut index: HashMap<(ActionId, LocationId, Substitution), usize> = HashMap::new();
        for member in &self.macros[number] {
            let pending = pending(member);
            for &at in &self.outgoing[member.location] {
                budget::ask();
                let transition = &iosts.transitions[at];
                let effect = followed(&pending, &transition.assignments);
                let guard = substitute(&transition.guard, &pending);
                all_writable(Stage::Determinize, effect.values().chain([&guard]), self.limits)?;
                // A postponed effect may have a value only where its own guard held. That guard has held
                // wherever this one is read, but nobody who reads it alone could know.
                let guard = match pending.is_empty() {
                    true => guard,
                    false => {
                        let values = Term::and(effect.values().map(defined));
                        Term::and([defined(&guard), guard, values])
                    }
                };
                let of_action = found.entry(transition.action).or_default();
                match index.entry((transition.action, transition.target, effect.clone())) {
                    Entry::Occupied(known) => {
                        let same = &mut of_action[*known.get()];
                        same.also.push(guard);
                    }
                    Entry::Vacant(new) => {
                        new.insert(of_action.len());
                        let mut steps = member.steps.clone();
                        steps.push(transition.assignments.clone());
                        let next = Member { location: transition.target, steps };
                        let origin = transition.origin.clone();
                        of_action.push(Candidate { guard, also: Vec::new(), next, effect, origin });
                    }
                }
            }
        }
        for of_action in found.values_mut() {
            for candidate in of_action.iter_mut().filter(|candidate| !candidate.also.is_empty()) {
                let others = std::mem::take(&mut candidate.also);
                candidate.guard = Term::or(std::iter::once(candidate.guard.clone()).chain(others));
            }
            // In an ordinary location every guard is known to be satisfiable: `close` has asked.
            if self.macros[number].len() > 1 {
                of_action.retain(|candidate| may_hold(solver, &candidate.guard.conjuncts()));
            }
        }
        Ok(found)
    }

    /// What is assigned now, and what stays pending: of the postponed effects, the first ones that all
    /// members share are postponed no longer. So none is older than the choice that the members come from.
    fn settle(&mut self, action: ActionId, candidates: &[&Candidate]) -> (Members, Substitution) {
        let mut members: Members = candidates.iter().map(|candidate| candidate.next.clone()).collect();
        let effect = &candidates[0].effect;
        if candidates.iter().all(|candidate| candidate.effect == *effect) {
            for member in &mut members {
                member.steps.clear();
            }
            members.sort();
            return (members, effect.clone());
        }
        let mut stored = Substitution::new();
        while let Some(first) = members[0].steps.first().cloned()
            && members.iter().all(|member| member.steps.first() == Some(&first))
        {
            stored = followed(&stored, &first);
            for member in &mut members {
                member.steps.remove(0);
            }
        }
        let steps = members.iter().flat_map(|member| &member.steps);
        let mentioned: BTreeSet<Datum> = steps.flat_map(|step| step.values()).flat_map(Term::data).collect();
        let parameters = self.closed.iosts.action(action).parameters.clone();
        let mut renaming = Substitution::new();
        for parameter in parameters.iter().filter(|parameter| mentioned.contains(parameter)) {
            let mut number = 0;
            let memory = loop {
                let memory = self.memory_variable(parameter, number);
                if !mentioned.contains(&memory) {
                    break memory;
                }
                number += 1;
            };
            stored.insert(memory.clone(), Term::datum(parameter));
            renaming.insert(parameter.clone(), Term::datum(&memory));
        }
        for member in &mut members {
            for value in member.steps.iter_mut().flat_map(|step| step.values_mut()) {
                *value = substitute(value, &renaming);
            }
        }
        members.sort();
        (members, stored)
    }

    fn memory_variable(&mut self, parameter: &Datum, number: usize) -> Datum {
        if let Some(known) = self.memory_of.get(&(parameter.clone(), number)) {
            return known.clone();
        }
        let wanted = if number == 0 { String::new() } else { format!("{}", number + 1) };
        let name = self.names.unique(&format!("{}_memory{wanted}", parameter.name()));
        let memory = Datum::new(name, parameter.ty().clone());
        self.memory.push(memory.clone());
        self.memory_of.insert((parameter.clone(), number), memory.clone());
        memory
    }

    fn number_of(&mut self, members: Members) -> LocationId {
        if let Some(&known) = self.index.get(&members) {
            return known;
        }
        let number = self.macros.push(members.clone());
        self.index.insert(members, number);
        number
    }

    fn finish(mut self, lookahead: usize, solver: &mut dyn Solver) -> Visible {
        budget::doing("simplifying guards");
        for &at in &self.made {
            let transition = &mut self.transitions[at];
            transition.guard = without_repetition(&transition.guard, solver);
        }
        let iosts = &self.closed.iosts;
        let locations = locations(self.closed, &self.macros);
        let accepting =
            self.macros.map(|members| members.iter().any(|member| self.closed.accepting[member.location]));
        let ends = locations.map(|_| false);
        let variables = iosts.variables.iter().chain(&self.memory).cloned().collect();
        let transitions = self.transitions;
        let result = Iosts { variables, locations, initial: LocationId(0), transitions, ..iosts.clone() };
        let members = self.macros;
        let must_answer = must_answer(self.closed, &members, None, self.limits, solver);
        let lookahead = Some(lookahead);
        Visible { iosts: result, members, accepting, lookahead, must_answer, ends, known: None }
    }
}
