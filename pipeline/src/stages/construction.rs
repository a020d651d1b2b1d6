//! The subset construction follows a set of members at once, with one transition for each satisfiable subset
//! of their transitions.
//!
//! **Problem.** After a trace a run may be in several locations, with different assignments behind it; one
//! location must stand for all of them.
//!
//! **Method.** A *set* has members ⟨location, effects that the data do not show⟩. From a set, a transition t
//! of a member asks for `G_t[pending]` and would leave `A_t[pending]`; candidates with one target and one
//! effect are joined, their guards by `||`. For every satisfiable subset P of the overlapping candidates
//! there is a transition: its guard asks for all guards of P and none of the others'. The constructions
//! differ in what they do with the effects of P ([`EffectRules`]): they are postponed ([`super::postponed`]),
//! or kept in variables of their own ([`super::kept`]). The result is numbered afterwards, breadth first, so
//! it is the same in whatever order it was made.
//!
//! **Ends** when there is no new set, or at the limits: sets can be exponentially many
//! ([`Quantity::Subsets`], [`Quantity::SetTransitions`]). **Cost**: per set and action, queries as many as
//! candidates and overlapping pairs of them, and as satisfiable subsets times the candidates that overlap.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use coreach_analyses::solver::Solver;
use coreach_model::budget;
use coreach_model::iosts::{Iosts, Transition, TransitionOrigin};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, Datum, LocationId, Numbered, Term, TransitionId};

use crate::artifact::{Basis, Closed, Member, Visible};
use crate::limits::{Limits, Quantity};
use crate::names::{UsedNames, names_in_scope};
use crate::simplify::without_repetition;
use crate::stage::Stage;
use crate::stages::must_answer::must_answer_conditions;
use crate::stages::sets::{compose_effects, is_ordinary, name_sets, pending_effect};
use crate::stages::subsets::satisfiable_subsets;
use crate::stop::{Stop, check_limit, check_terms_writable};

/// Where a run may be, in order; and whether what follows matters no more.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Set {
    pub members: Vec<Member>,
    pub ends: bool,
}

/// One way to continue from a set by an action.
pub(super) struct SetMove {
    pub guard: Term,
    /// Guards of others with one target and one effect, to be joined to it.
    to_join: Vec<Term>,
    /// The member that the way leads to, with everything that the data do not show.
    pub next: Member,
    pub effect: Substitution,
    origin: TransitionOrigin,
}

/// The two constructions differ in what they do with the effects of a set's members.
pub(super) trait EffectRules {
    /// Does nothing matter after a set that has only this location?
    fn ends_alone(&self, _location: LocationId) -> bool {
        false
    }

    /// The priority of a set with so many members: the set with the greatest is followed next.
    fn priority(&self, members: usize, number: LocationId) -> (usize, i64);

    /// Conditions on the visible data that hold wherever a run is in the set.
    fn context(&self, _set: &Set) -> Vec<Term> {
        Vec::new()
    }

    /// Adds to the guard of a transition what the construction needs besides. `effect` is the pending effect
    /// of the transition's member, followed by its own.
    fn complete_guard(&self, _pending: &Substitution, guard: Term, _effect: &Substitution) -> Term {
        guard
    }

    /// May the guard hold in the set, where the context holds?
    fn may_hold(&self, set: &Set, context: &[Term], guard: &Term, solver: &mut dyn Solver) -> bool;

    /// The part of an effect that something still reads at the location.
    fn read_behind(&self, _location: LocationId, effect: &Substitution) -> Substitution {
        effect.clone()
    }

    /// Makes the set behind an event, and the assignments on the way. The `premises` hold before the event.
    fn settle(
        &mut self,
        action: ActionId,
        chosen: &[&SetMove],
        premises: &[Term],
        memory: &mut Memory,
        solver: &mut dyn Solver,
    ) -> Result<(Set, Substitution), Stop>;

    /// Is it known that the construction will give no result?
    fn gives_up(&self) -> bool {
        false
    }

    /// The facts about the machine that the construction used.
    fn into_basis(self) -> Option<Basis>
    where
        Self: Sized,
    {
        None
    }
}

/// The variables that the construction adds to those of the machine.
pub(super) struct Memory {
    names: UsedNames,
    variables: HashMap<(Datum, usize), Datum>,
    /// In the order in which they were asked for.
    pub all: Vec<Datum>,
}

impl Memory {
    /// Gives the variable with this number, from 1, that keeps values of the datum. Makes it if it is new.
    pub fn variable(&mut self, datum: &Datum, number: usize) -> Datum {
        if let Some(known) = self.get(datum, number) {
            return known.clone();
        }
        let suffix = if number == 1 { String::new() } else { number.to_string() };
        let name = self.names.unique(&format!("{}_memory{suffix}", datum.name()));
        let memory = Datum::new(name, datum.ty().clone());
        self.all.push(memory.clone());
        self.variables.insert((datum.clone(), number), memory.clone());
        memory
    }

    pub fn get(&self, datum: &Datum, number: usize) -> Option<&Datum> {
        self.variables.get(&(datum.clone(), number))
    }
}

/// The sets and the transitions between them, as far as they are built.
pub(super) struct Construction<'a, E> {
    closed: &'a Closed,
    limits: &'a Limits,
    pub effects: E,
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    pub sets: Numbered<LocationId, Set>,
    index: HashMap<Set, LocationId>,
    pub transitions: Numbered<TransitionId, Transition>,
    /// The transitions whose guards were made here and may repeat themselves. They are simplified at the end:
    /// a construction that stops would spend half of its queries on that.
    with_made_guards: Vec<TransitionId>,
    pub memory: Memory,
}

impl<'a, E: EffectRules> Construction<'a, E> {
    /// Builds all sets that can be reached from the initial location.
    pub fn run(
        closed: &'a Closed,
        effects: E,
        limits: &'a Limits,
        solver: &mut dyn Solver,
    ) -> Result<Self, Stop> {
        let iosts = &closed.iosts;
        let memory = Memory { names: names_in_scope(iosts), variables: HashMap::new(), all: Vec::new() };
        let mut construction = Construction {
            closed,
            limits,
            effects,
            outgoing: iosts.outgoing(),
            sets: Numbered::new(),
            index: HashMap::new(),
            transitions: Numbered::new(),
            with_made_guards: Vec::new(),
            memory,
        };
        let ends = construction.effects.ends_alone(iosts.initial);
        let members = vec![Member { location: iosts.initial, steps: Vec::new() }];
        construction.number_of(Set { members, ends });
        construction.follow(solver)?;
        Ok(construction)
    }

    /// Follows the sets, each once: makes their transitions and the sets to which these lead.
    fn follow(&mut self, solver: &mut dyn Solver) -> Result<(), Stop> {
        let mut waiting = BinaryHeap::from([(self.effects.priority(1, LocationId(0)), LocationId(0))]);
        let mut transitions_from_sets = 0;
        while let Some((_, source)) = waiting.pop() {
            // Nothing that follows an end matters.
            if self.sets[source].ends {
                continue;
            }
            let context = self.effects.context(&self.sets[source]);
            for (action, candidates) in self.find_moves(source, &context, solver)? {
                let guards: Vec<Term> = candidates.iter().map(|candidate| candidate.guard.clone()).collect();
                let subsets = satisfiable_subsets(&guards, &context, self.limits, solver)?;
                // Ordinary locations have no more transitions than before, so only others are limited.
                if !is_ordinary(&self.sets[source].members) {
                    transitions_from_sets += subsets.len();
                    check_limit(
                        Stage::Determinize,
                        Quantity::SetTransitions,
                        transitions_from_sets,
                        self.limits,
                    )?;
                }
                for (subset, guard) in subsets {
                    let chosen: Vec<&SetMove> = subset.iter().map(|&index| &candidates[index]).collect();
                    let premises: Vec<Term> = context.iter().cloned().chain(guard.conjuncts()).collect();
                    let (set, assignments) =
                        self.effects.settle(action, &chosen, &premises, &mut self.memory, solver)?;
                    if self.effects.gives_up() {
                        return Ok(());
                    }
                    // A transition of one candidate has its place in the user's text, and mostly its guard.
                    let single = if let [candidate] = chosen.as_slice() { Some(candidate) } else { None };
                    if single.is_none_or(|candidate| candidate.guard != guard) {
                        self.with_made_guards.push(self.transitions.next_number());
                    }
                    let origin = single.map(|candidate| candidate.origin.clone()).unwrap_or_default();
                    let number_if_new = self.sets.next_number();
                    let members = set.members.len();
                    let target = self.number_of(set);
                    if target == number_if_new {
                        waiting.push((self.effects.priority(members, target), target));
                    }
                    let made = Transition { source, action, guard, assignments, target, origin };
                    self.transitions.push(made);
                }
            }
        }
        Ok(())
    }

    /// Finds every way to continue whose guard may hold, by action. Joins ways with one target and one
    /// effect.
    fn find_moves(
        &self,
        number: LocationId,
        context: &[Term],
        solver: &mut dyn Solver,
    ) -> Result<BTreeMap<ActionId, Vec<SetMove>>, Stop> {
        let (iosts, effects, set) = (&self.closed.iosts, &self.effects, &self.sets[number]);
        let mut found: BTreeMap<ActionId, Vec<SetMove>> = BTreeMap::new();
        let mut index: HashMap<(ActionId, LocationId, Substitution), usize> = HashMap::new();
        for member in &set.members {
            let pending_effect = pending_effect(member);
            for &outgoing_number in &self.outgoing[member.location] {
                budget::ask();
                let transition = &iosts.transitions[outgoing_number];
                let effect = compose_effects(&pending_effect, &transition.assignments);
                let guard = substitute(&transition.guard, &pending_effect);
                check_terms_writable(Stage::Determinize, effect.values().chain([&guard]), self.limits)?;
                let guard = effects.complete_guard(&pending_effect, guard, &effect);
                if !effects.may_hold(set, context, &guard, solver) {
                    continue;
                }
                let (target, of_action) = (transition.target, found.entry(transition.action).or_default());
                let key = (transition.action, target, effects.read_behind(target, &effect));
                let position = *index.entry(key).or_insert(of_action.len());
                match of_action.get_mut(position) {
                    Some(joined) => {
                        joined.origin.join(&joined.guard, &guard, &transition.origin);
                        joined.to_join.push(guard);
                        // The two effects differ in variables that nobody reads, and their values need not
                        // exist where the guard of the other way holds.
                        if joined.effect != effect {
                            joined.effect = effects.read_behind(target, &effect);
                        }
                    }
                    None => {
                        let mut steps = member.steps.clone();
                        steps.push(transition.assignments.clone());
                        let next = Member { location: target, steps };
                        let origin = transition.origin.clone();
                        of_action.push(SetMove { guard, to_join: Vec::new(), next, effect, origin });
                    }
                }
            }
        }
        for candidate in found.values_mut().flatten().filter(|candidate| !candidate.to_join.is_empty()) {
            let joined_guards = std::mem::take(&mut candidate.to_join);
            candidate.guard = Term::or(std::iter::once(candidate.guard.clone()).chain(joined_guards));
        }
        Ok(found)
    }

    /// Gives the number of the set, and a new number to a new set.
    fn number_of(&mut self, set: Set) -> LocationId {
        if let Some(&known) = self.index.get(&set) {
            return known;
        }
        let number = self.sets.push(set.clone());
        self.index.insert(set, number);
        number
    }

    /// Simplifies the guards, and numbers sets and transitions in the order of a breadth-first search.
    pub fn simplify_and_renumber(&mut self, solver: &mut dyn Solver) {
        budget::doing("simplifying guards");
        for &number in &self.with_made_guards {
            let transition = &mut self.transitions[number];
            transition.guard = without_repetition(&transition.guard, solver);
        }
        // Breadth first: `order` has the old number of each set at its new number, and `next` is the new
        // number of the set whose transitions come next.
        let mut outgoing: Numbered<LocationId, Vec<Transition>> = self.sets.map(|_| Vec::new());
        for transition in std::mem::take(&mut self.transitions) {
            outgoing[transition.source].push(transition);
        }
        let mut order = Numbered::<LocationId, LocationId>::from(vec![LocationId(0)]);
        let mut new_numbers = HashMap::from([(LocationId(0), LocationId(0))]);
        let mut next = LocationId(0);
        while let Some(&old) = order.find(next) {
            for mut transition in std::mem::take(&mut outgoing[old]) {
                transition.source = next;
                transition.target =
                    *new_numbers.entry(transition.target).or_insert_with_key(|target| order.push(*target));
                self.transitions.push(transition);
            }
            next.0 += 1;
        }
        self.sets = order.map(|old| self.sets[*old].clone());
    }

    /// Makes the visible behaviours, whose variables are those of the machine and the given ones.
    pub fn finish(self, memory: Vec<Datum>, lookahead: Option<usize>, solver: &mut dyn Solver) -> Visible {
        let iosts = &self.closed.iosts;
        let members = self.sets.map(|set| set.members.clone());
        let ends = self.sets.map(|set| set.ends);
        let accepting =
            members.map(|members| members.iter().any(|member| self.closed.accepting[member.location]));
        let locations = name_sets(self.closed, &members);
        let variables = iosts.variables.iter().cloned().chain(memory).collect();
        let transitions = self.transitions;
        let result = Iosts { variables, locations, initial: LocationId(0), transitions, ..iosts.clone() };
        let known = self.effects.into_basis();
        let must_answer = must_answer_conditions(self.closed, &members, known.as_ref(), self.limits, solver);
        Visible { iosts: result, members, accepting, lookahead, must_answer, ends, known }
    }
}
