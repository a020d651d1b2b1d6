//! The subset construction: from a set of members at once, a way on for each satisfiable subset of theirs.
//!
//! **Problem.** After a trace a run may be in several locations, and have assigned what they have assigned;
//! one location is wanted for all of them.
//!
//! **Method.** A *set* has members ⟨location, effects that the data do not show⟩. From a set, a transition t
//! of a member asks for `G_t[pending]` and would leave `A_t[pending]`; candidates with one target and one
//! effect are one, their guards joined by `||`. For every satisfiable subset P of the overlapping candidates
//! there is a transition: all guards of P, none of the others'. What becomes of the effects of P is what
//! tells one construction from another ([`Effects`]): they are postponed ([`super::postponed`]), or kept in
//! variables of their own ([`super::kept`]).
//!
//! Nothing is rewritten, so nothing has to be cancelled, and self-loops are ordinary. What is made is
//! numbered afterwards, breadth first, and so is the same in whatever order it was made.
//!
//! **Ends** where the sets do, and at the limits: sets can be exponentially many ([`Quantity::Subsets`],
//! [`Quantity::SetTransitions`]). **Cost**: per set and action, queries as many as candidates and overlapping
//! pairs of them, and as satisfiable subsets times the candidates that overlap.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use coreach_analyses::solver::Solver;
use coreach_model::budget;
use coreach_model::iosts::{Iosts, Transition, TransitionOrigin};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, Datum, LocationId, Numbered, Term, TransitionId};

use crate::artifact::{Closed, Known, Member, Visible};
use crate::limits::{Limits, Quantity};
use crate::names::{UsedNames, of_scope};
use crate::simplify::without_repetition;
use crate::stage::Stage;
use crate::stages::must_answer::must_answer;
use crate::stages::sets::{followed, is_ordinary, locations, pending};
use crate::stages::subsets::satisfiable_subsets;
use crate::stop::{Stop, all_writable, within};

/// Where a run may be, in order; and whether what follows matters no more.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Set {
    pub members: Vec<Member>,
    pub ends: bool,
}

/// One way to go on from a set by an action.
pub(super) struct Candidate {
    pub guard: Term,
    /// Guards of others with one target and one effect, to be joined to it.
    also: Vec<Term>,
    /// Where it leads, with all that the data do not show.
    pub next: Member,
    pub effect: Substitution,
    origin: TransitionOrigin,
}

/// What becomes of the effects of a set's members.
pub(super) trait Effects {
    /// Does what follows the location, alone, matter to nobody?
    fn ends_alone(&self, _location: LocationId) -> bool {
        false
    }

    /// Which set is followed next: the one of the greatest. They have so many members.
    fn turn(&self, members: usize, number: LocationId) -> (usize, i64);

    /// What holds of the data that are shown, wherever a run is in the set.
    fn context(&self, _set: &Set) -> Vec<Term> {
        Vec::new()
    }

    /// What a member with this pending effect asks for, beside its guard, that would leave this effect.
    fn asked(&self, _pending: &Substitution, guard: Term, _effect: &Substitution) -> Term {
        guard
    }

    fn may_hold(&self, set: &Set, context: &[Term], guard: &Term, solver: &mut dyn Solver) -> bool;

    /// The part of an effect that something still reads at the location.
    fn read_behind(&self, _location: LocationId, effect: &Substitution) -> Substitution {
        effect.clone()
    }

    /// The set behind an event, and what is assigned on the way; this holds before it.
    fn settle(
        &mut self,
        action: ActionId,
        chosen: &[&Candidate],
        here: &[Term],
        memory: &mut Memory,
        solver: &mut dyn Solver,
    ) -> Result<(Set, Substitution), Stop>;

    /// Is it known that nothing will come of it?
    fn gives_up(&self) -> bool {
        false
    }

    /// What was asked about the machine.
    fn known(self) -> Option<Known>
    where
        Self: Sized,
    {
        None
    }
}

/// Variables beside the machine's.
pub(super) struct Memory {
    names: UsedNames,
    of: HashMap<(Datum, usize), Datum>,
    /// In the order in which they were asked for.
    pub all: Vec<Datum>,
}

impl Memory {
    /// The variable of this number, from 1 on, for what the datum is.
    pub fn variable(&mut self, datum: &Datum, number: usize) -> Datum {
        if let Some(known) = self.get(datum, number) {
            return known.clone();
        }
        let shown = if number == 1 { String::new() } else { number.to_string() };
        let name = self.names.unique(&format!("{}_memory{shown}", datum.name()));
        let memory = Datum::new(name, datum.ty().clone());
        self.all.push(memory.clone());
        self.of.insert((datum.clone(), number), memory.clone());
        memory
    }

    pub fn get(&self, datum: &Datum, number: usize) -> Option<&Datum> {
        self.of.get(&(datum.clone(), number))
    }
}

/// Sets, and what leads from one to another.
pub(super) struct Construction<'a, E> {
    closed: &'a Closed,
    limits: &'a Limits,
    pub effects: E,
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    pub sets: Numbered<LocationId, Set>,
    index: HashMap<Set, LocationId>,
    pub transitions: Numbered<TransitionId, Transition>,
    /// The transitions whose guards were made here and may say things twice. They are put in few words at the
    /// end: where the construction stops, that would be half of its queries.
    made: Vec<TransitionId>,
    pub memory: Memory,
}

impl<'a, E: Effects> Construction<'a, E> {
    /// All sets, from the initial location on.
    pub fn run(
        closed: &'a Closed,
        effects: E,
        limits: &'a Limits,
        solver: &mut dyn Solver,
    ) -> Result<Self, Stop> {
        let iosts = &closed.iosts;
        let memory = Memory { names: of_scope(iosts), of: HashMap::new(), all: Vec::new() };
        let mut construction = Construction {
            closed,
            limits,
            effects,
            outgoing: iosts.outgoing(),
            sets: Numbered::new(),
            index: HashMap::new(),
            transitions: Numbered::new(),
            made: Vec::new(),
            memory,
        };
        let ends = construction.effects.ends_alone(iosts.initial);
        let members = vec![Member { location: iosts.initial, steps: Vec::new() }];
        construction.number_of(Set { members, ends });
        construction.follow(solver)?;
        Ok(construction)
    }

    fn follow(&mut self, solver: &mut dyn Solver) -> Result<(), Stop> {
        let mut work = BinaryHeap::from([(self.effects.turn(1, LocationId(0)), LocationId(0))]);
        let mut from_sets = 0;
        while let Some((_, number)) = work.pop() {
            if self.sets[number].ends {
                continue;
            }
            let context = self.effects.context(&self.sets[number]);
            for (action, candidates) in self.candidates(number, &context, solver)? {
                let guards: Vec<Term> = candidates.iter().map(|candidate| candidate.guard.clone()).collect();
                let subsets = satisfiable_subsets(&guards, &context, self.limits, solver)?;
                if !is_ordinary(&self.sets[number].members) {
                    from_sets += subsets.len();
                    within(Stage::Determinize, Quantity::SetTransitions, from_sets, self.limits)?;
                }
                for (subset, guard) in subsets {
                    let chosen: Vec<&Candidate> = subset.iter().map(|&at| &candidates[at]).collect();
                    let here: Vec<Term> = context.iter().cloned().chain(guard.conjuncts()).collect();
                    let (set, assignments) =
                        self.effects.settle(action, &chosen, &here, &mut self.memory, solver)?;
                    if self.effects.gives_up() {
                        return Ok(());
                    }
                    if !matches!(chosen.as_slice(), [one] if one.guard == guard) {
                        self.made.push(self.transitions.next_number());
                    }
                    let origin = match chosen.as_slice() {
                        [one] => one.origin.clone(),
                        _ => TransitionOrigin::default(),
                    };
                    let new = self.sets.next_number();
                    let members = set.members.len();
                    let target = self.number_of(set);
                    if target == new {
                        work.push((self.effects.turn(members, target), target));
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
        context: &[Term],
        solver: &mut dyn Solver,
    ) -> Result<BTreeMap<ActionId, Vec<Candidate>>, Stop> {
        let (iosts, effects, set) = (&self.closed.iosts, &self.effects, &self.sets[number]);
        let mut found: BTreeMap<ActionId, Vec<Candidate>> = BTreeMap::new();
        let mut index: HashMap<(ActionId, LocationId, Substitution), usize> = HashMap::new();
        for member in &set.members {
            let pending = pending(member);
            for &at in &self.outgoing[member.location] {
                budget::ask();
                let transition = &iosts.transitions[at];
                let effect = followed(&pending, &transition.assignments);
                let guard = substitute(&transition.guard, &pending);
                all_writable(Stage::Determinize, effect.values().chain([&guard]), self.limits)?;
                let guard = effects.asked(&pending, guard, &effect);
                if !effects.may_hold(set, context, &guard, solver) {
                    continue;
                }
                let (target, of_action) = (transition.target, found.entry(transition.action).or_default());
                let key = (transition.action, target, effects.read_behind(target, &effect));
                let known = *index.entry(key).or_insert(of_action.len());
                match of_action.get_mut(known) {
                    Some(same) => {
                        same.also.push(guard);
                        // What nobody reads may have no value where the other's guard holds.
                        if same.effect != effect {
                            same.effect = effects.read_behind(target, &effect);
                        }
                    }
                    None => {
                        let mut steps = member.steps.clone();
                        steps.push(transition.assignments.clone());
                        let next = Member { location: target, steps };
                        let origin = transition.origin.clone();
                        of_action.push(Candidate { guard, also: Vec::new(), next, effect, origin });
                    }
                }
            }
        }
        for candidate in found.values_mut().flatten().filter(|candidate| !candidate.also.is_empty()) {
            let others = std::mem::take(&mut candidate.also);
            candidate.guard = Term::or(std::iter::once(candidate.guard.clone()).chain(others));
        }
        Ok(found)
    }

    fn number_of(&mut self, set: Set) -> LocationId {
        if let Some(&known) = self.index.get(&set) {
            return known;
        }
        let number = self.sets.push(set.clone());
        self.index.insert(set, number);
        number
    }

    /// Puts guards in few words, and gives sets and transitions the numbers that they have where each set is
    /// followed in its turn.
    pub fn simplify(&mut self, solver: &mut dyn Solver) {
        budget::doing("simplifying guards");
        for &at in &self.made {
            let transition = &mut self.transitions[at];
            transition.guard = without_repetition(&transition.guard, solver);
        }
        let mut outgoing: Numbered<LocationId, Vec<Transition>> = self.sets.map(|_| Vec::new());
        for transition in std::mem::take(&mut self.transitions) {
            outgoing[transition.source].push(transition);
        }
        let mut order = Numbered::<LocationId, LocationId>::from(vec![LocationId(0)]);
        let mut new = HashMap::from([(LocationId(0), LocationId(0))]);
        let mut next = LocationId(0);
        while let Some(&old) = order.find(next) {
            for mut transition in std::mem::take(&mut outgoing[old]) {
                transition.source = next;
                transition.target =
                    *new.entry(transition.target).or_insert_with_key(|target| order.push(*target));
                self.transitions.push(transition);
            }
            next.0 += 1;
        }
        self.sets = order.map(|old| self.sets[*old].clone());
    }

    /// The machine, with these variables beside its own.
    pub fn finish(self, memory: Vec<Datum>, lookahead: Option<usize>, solver: &mut dyn Solver) -> Visible {
        let iosts = &self.closed.iosts;
        let members = self.sets.map(|set| set.members.clone());
        let ends = self.sets.map(|set| set.ends);
        let accepting =
            members.map(|members| members.iter().any(|member| self.closed.accepting[member.location]));
        let locations = locations(self.closed, &members);
        let variables = iosts.variables.iter().cloned().chain(memory).collect();
        let transitions = self.transitions;
        let result = Iosts { variables, locations, initial: LocationId(0), transitions, ..iosts.clone() };
        let known = self.effects.known();
        let must_answer = must_answer(self.closed, &members, known.as_ref(), self.limits, solver);
        Visible { iosts: result, members, accepting, lookahead, must_answer, ends, known }
    }
}
