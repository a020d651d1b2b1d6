//! The subset construction where no number of events resolves a choice: each way that a run may have gone
//! keeps its own data.
//!
//! **Problem.** Postponed effects need a choice that ends. Where two ways go on side by side for ever, or for
//! longer than anybody wants to postpone, what they have assigned must be somewhere, and a location has one
//! set of variables only.
//!
//! **Method.** A *set* has members ⟨location, values⟩: where a run may be, and for each variable in which
//! *slot* its value is: in the variable itself, or in a memory variable beside it. An event is followed from
//! all members at once, under a guard for each satisfiable subset of their transitions, as in
//! [`super::postponed`]; then what the members behind it have is assigned to the slots. So nothing is pending
//! for longer than an event, there are finitely many sets of so many members, and cycles of sets are
//! ordinary. What does not end is a set that gets more and more members.
//!
//! Members that need not be told apart are one:
//! - Of one location, with values that are equal wherever the event is possible, in every variable that is
//!   still read behind it ([`coreach_analyses::live`]). What nobody reads has no slot.
//!
//! And a set has no future where none is needed: it *ends*
//! - where a member accepts: the test is over;
//! - where no member can come to Accept any more, by `coreach`. A test that is there is over too: it came by
//!   an output, for a test never sends what puts Accept out of reach. What the specification allows *there*
//!   nobody asks.
//!
//! `reach` says which subsets are possible: each member's data lie in the reach of its location. Guards
//! exclude each other everywhere all the same.
//!
//! **Why it keeps what matters.** By induction over traces that have not gone through an end: the states that
//! the members stand for are those of the closed machine after the trace, up to data that nothing reads. So
//! traces are the same up to ends, and one event beyond what can come to Accept; accepted traces are the
//! same.
//!
//! **Ends** by [`Quantity::Ways`], the members of one set, and [`Quantity::SetTransitions`]. The largest sets
//! are followed first: where sets grow for ever, the number of sets of one size grows with the size as the
//! number of ways to choose it, and one that is too large is behind a few of them. What is made is numbered
//! afterwards, breadth first, and so is the same in whatever order it was made. **Cost**: per set and action
//! as for postponed effects; per transition one query more, and one for each pair of members at one location.
//!
//! ```text
//! l -a-> m {x := 0}, l -a-> n          becomes     l -a-> <m,n> {x_memory := x, x := 0}
//! m -b-> m {x := x + 1}, n -b-> n                  <m,n> -b-> <m,n> {x := x + 1}
//! ```

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};

use coreach_analyses::solver::{Solver, may_hold, must_hold};
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
use crate::stages::sets::{followed, is_ordinary, locations, longest_stay, pending};
use crate::stages::subsets::satisfiable_subsets;
use crate::stop::{Stop, all_writable, within};

/// The visible behaviours, as far as they matter, with values kept for each way that a run may have gone.
///
/// # Errors
/// [`Stop::TooMany`], of [`Quantity::Ways`] among others.
pub(super) fn kept(
    closed: &Closed,
    known: Known,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Visible, Stop> {
    let mut construction = Construction::start(closed, known, limits);
    construction.run(solver)?;
    Ok(construction.finish(solver))
}

/// Where a run may be, in order; and whether what follows matters no more.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Set {
    members: Vec<Member>,
    ends: bool,
}

/// One way to go on from a set by an action.
struct Candidate {
    guard: Term,
    /// Guards of others with one target and one effect, to be joined to it.
    also: Vec<Term>,
    target: LocationId,
    /// What it does to the data that are shown.
    effect: Substitution,
    origin: TransitionOrigin,
}

/// A member in the making: the values that variables have, over the data and the message before the event.
struct Way {
    location: LocationId,
    effect: Substitution,
}

struct Construction<'a> {
    closed: &'a Closed,
    known: Known,
    limits: &'a Limits,
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    sets: Numbered<LocationId, Set>,
    index: HashMap<Set, LocationId>,
    transitions: Numbered<TransitionId, Transition>,
    /// The transitions whose guards were made here and may say things twice.
    made: Vec<TransitionId>,
    memory_of: HashMap<(Datum, usize), Datum>,
    names: UsedNames,
}

impl<'a> Construction<'a> {
    fn start(closed: &'a Closed, known: Known, limits: &'a Limits) -> Self {
        let iosts = &closed.iosts;
        let mut construction = Construction {
            outgoing: iosts.outgoing(),
            sets: Numbered::new(),
            index: HashMap::new(),
            transitions: Numbered::new(),
            made: Vec::new(),
            memory_of: HashMap::new(),
            names: of_scope(iosts),
            closed,
            known,
            limits,
        };
        let ends = construction.ends_alone(iosts.initial);
        let members = vec![Member { location: iosts.initial, steps: Vec::new() }];
        construction.number_of(Set { members, ends });
        construction
    }

    /// Does the future of a location matter to nobody, whatever the data are?
    fn ends_alone(&self, location: LocationId) -> bool {
        self.closed.accepting[location] || self.known.coreach[location].is_false()
    }

    fn run(&mut self, solver: &mut dyn Solver) -> Result<(), Stop> {
        let mut work = BinaryHeap::from([(1, LocationId(0))]);
        let mut from_sets = 0;
        while let Some((_, number)) = work.pop() {
            if self.sets[number].ends {
                continue;
            }
            let context = self.context(number);
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
                    let (set, assignments) = self.settle(&chosen, &here, solver);
                    all_writable(Stage::Determinize, assignments.values(), self.limits)?;
                    if !set.ends {
                        within(Stage::Determinize, Quantity::Ways, set.members.len(), self.limits)?;
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
                        work.push((members, target));
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

    /// What holds of the data that are shown, wherever a run is in the set: every member's data lie in its
    /// location's reach.
    fn context(&self, number: LocationId) -> Vec<Term> {
        let members = self.sets[number].members.iter().enumerate();
        let reach = |(at, member): (usize, &Member)| {
            let shown = self.shown(member.location, &format!("before{at}"), pending(member));
            substitute(&self.known.reach[member.location], &shown).conjuncts()
        };
        let mut context: Vec<Term> = members.flat_map(reach).collect();
        let mut seen = BTreeSet::new();
        context.retain(|part| seen.insert(part.clone()));
        context
    }

    /// The values of a location's variables, in which a fact is read. What nobody reads there has any value:
    /// a datum of its own, by whose it is.
    fn shown(&self, location: LocationId, whose: &str, mut values: Substitution) -> Substitution {
        let live = &self.known.live[location];
        for variable in self.closed.iosts.variables.iter().filter(|variable| !live.contains(*variable)) {
            // No name of a model has this sign.
            let any = Datum::new(format!("{}@{whose}", variable.name()), variable.ty().clone());
            values.insert(variable.clone(), Term::datum(&any));
        }
        values
    }

    /// Every way on whose guard may hold, by action, equal ones joined.
    fn candidates(
        &self,
        number: LocationId,
        context: &[Term],
        solver: &mut dyn Solver,
    ) -> Result<BTreeMap<ActionId, Vec<Candidate>>, Stop> {
        let iosts = &self.closed.iosts;
        let mut found: BTreeMap<ActionId, Vec<Candidate>> = BTreeMap::new();
        let mut index: HashMap<(ActionId, LocationId, Substitution), usize> = HashMap::new();
        for member in &self.sets[number].members {
            let pending = pending(member);
            for &at in &self.outgoing[member.location] {
                budget::ask();
                let transition = &iosts.transitions[at];
                let effect = followed(&pending, &transition.assignments);
                let guard = substitute(&transition.guard, &pending);
                all_writable(Stage::Determinize, effect.values().chain([&guard]), self.limits)?;
                let formula: Vec<Term> = context.iter().cloned().chain(guard.conjuncts()).collect();
                if !may_hold(solver, &formula) {
                    continue;
                }
                let (target, of_action) = (transition.target, found.entry(transition.action).or_default());
                let key = (transition.action, target, self.read_behind(target, &effect));
                let known = *index.entry(key).or_insert(of_action.len());
                match of_action.get_mut(known) {
                    Some(same) => {
                        same.also.push(guard);
                        // What nobody reads may have no value where the other's guard holds.
                        if same.effect != effect {
                            same.effect = self.read_behind(target, &effect);
                        }
                    }
                    None => {
                        let origin = transition.origin.clone();
                        of_action.push(Candidate { guard, also: Vec::new(), target, effect, origin });
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

    /// The part of an effect that something still reads at the location.
    fn read_behind(&self, location: LocationId, effect: &Substitution) -> Substitution {
        let live = &self.known.live[location];
        effect.iter().filter(|(v, _)| live.contains(*v)).map(|(v, t)| (v.clone(), t.clone())).collect()
    }

    /// The set behind an event, and what is assigned on the way. `here` holds before the event.
    fn settle(
        &mut self,
        chosen: &[&Candidate],
        here: &[Term],
        solver: &mut dyn Solver,
    ) -> (Set, Substitution) {
        let mut ways: Vec<Way> = Vec::new();
        for candidate in chosen {
            let (location, effect) = (candidate.target, &candidate.effect);
            let is_same = |way: &Way| {
                way.location == location
                    && must_hold(solver, here, &equal_on(&self.known.live[location], &way.effect, effect))
            };
            if !ways.iter().any(is_same) {
                ways.push(Way { location, effect: effect.clone() });
            }
        }
        if let [way] = ways.as_slice() {
            let members = vec![Member { location: way.location, steps: Vec::new() }];
            return (Set { members, ends: self.ends_alone(way.location) }, way.effect.clone());
        }
        let coreach = |(at, way): (usize, &Way)| {
            let shown = self.shown(way.location, &format!("behind{at}"), way.effect.clone());
            substitute(&self.known.coreach[way.location], &shown)
        };
        let leads_on = Term::or(ways.iter().enumerate().map(coreach));
        let alive: Vec<Term> = here.iter().cloned().chain([leads_on]).collect();
        if ways.iter().any(|way| self.closed.accepting[way.location]) || !may_hold(solver, &alive) {
            let locations: BTreeSet<LocationId> = ways.iter().map(|way| way.location).collect();
            let member = |location| Member { location, steps: Vec::new() };
            return (
                Set { members: locations.into_iter().map(member).collect(), ends: true },
                Substitution::new(),
            );
        }
        for way in &mut ways {
            way.effect = self.read_behind(way.location, &way.effect);
        }
        ways.sort_by(|a, b| (a.location, &a.effect).cmp(&(b.location, &b.effect)));
        self.in_slots(&ways)
    }

    /// Gives each value a slot: the first of a variable's values the variable itself, the others memory
    /// variables.
    fn in_slots(&mut self, ways: &[Way]) -> (Set, Substitution) {
        let mut members: Vec<Member> =
            ways.iter().map(|way| Member { location: way.location, steps: Vec::new() }).collect();
        let mut stored = Substitution::new();
        let mut hidden = vec![Substitution::new(); ways.len()];
        for variable in &self.closed.iosts.variables {
            let mut values: Vec<Term> = Vec::new();
            for (way, hidden) in ways.iter().zip(&mut hidden) {
                if !self.known.live[way.location].contains(variable) {
                    continue;
                }
                let value = way.effect.get(variable).cloned().unwrap_or_else(|| Term::datum(variable));
                let slot = values.iter().position(|known| *known == value).unwrap_or_else(|| {
                    values.push(value);
                    values.len() - 1
                });
                if slot > 0 {
                    hidden.insert(variable.clone(), Term::datum(&self.memory_variable(variable, slot)));
                }
            }
            for (slot, value) in values.into_iter().enumerate() {
                let datum = if slot == 0 { variable.clone() } else { self.memory_variable(variable, slot) };
                if value.as_datum() != Some(&datum) {
                    stored.insert(datum, value);
                }
            }
        }
        for (member, hidden) in members.iter_mut().zip(hidden) {
            if !hidden.is_empty() {
                member.steps.push(hidden);
            }
        }
        members.sort();
        (Set { members, ends: false }, stored)
    }

    fn memory_variable(&mut self, variable: &Datum, slot: usize) -> Datum {
        if let Some(known) = self.memory_of.get(&(variable.clone(), slot)) {
            return known.clone();
        }
        let number = if slot == 1 { String::new() } else { slot.to_string() };
        let name = self.names.unique(&format!("{}_memory{number}", variable.name()));
        let memory = Datum::new(name, variable.ty().clone());
        self.memory_of.insert((variable.clone(), slot), memory.clone());
        memory
    }

    fn number_of(&mut self, set: Set) -> LocationId {
        if let Some(&known) = self.index.get(&set) {
            return known;
        }
        let number = self.sets.push(set.clone());
        self.index.insert(set, number);
        number
    }

    /// Gives sets and transitions the numbers that they have where each set is followed in its turn.
    fn number_breadth_first(&mut self) {
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

    /// The memory variables, in the order in which the sets need them.
    fn memory(&self) -> Vec<Datum> {
        let mut needed = Vec::new();
        let mut seen = HashSet::new();
        for set in &self.sets {
            for variable in &self.closed.iosts.variables {
                let steps = set.members.iter().flat_map(|member| &member.steps);
                let values: BTreeSet<&Term> = steps.filter_map(|step| step.get(variable)).collect();
                // The slots of a variable have no gaps.
                let slots =
                    (1..=values.len()).filter_map(|slot| self.memory_of.get(&(variable.clone(), slot)));
                needed.extend(slots.filter(|memory| seen.insert(*memory)).cloned());
            }
        }
        needed
    }

    fn finish(mut self, solver: &mut dyn Solver) -> Visible {
        budget::doing("simplifying guards");
        for &at in &self.made {
            let transition = &mut self.transitions[at];
            transition.guard = without_repetition(&transition.guard, solver);
        }
        self.number_breadth_first();
        let iosts = &self.closed.iosts;
        let members = self.sets.map(|set| set.members.clone());
        let ends = self.sets.map(|set| set.ends);
        let accepting =
            members.map(|members| members.iter().any(|member| self.closed.accepting[member.location]));
        let locations = locations(self.closed, &members);
        let lookahead = match members.iter().all(|members| is_ordinary(members)) {
            true => Some(0),
            false => longest_stay(&members, &self.transitions).map(|longest| longest + 1),
        };
        let variables = iosts.variables.iter().cloned().chain(self.memory()).collect();
        let transitions = self.transitions;
        let result = Iosts { variables, locations, initial: LocationId(0), transitions, ..iosts.clone() };
        let must_answer = must_answer(self.closed, &members, Some(&self.known), self.limits, solver);
        let known = Some(self.known);
        Visible { iosts: result, members, accepting, lookahead, must_answer, ends, known }
    }
}

/// Do the two effects give each of the variables one value?
fn equal_on(variables: &BTreeSet<Datum>, one: &Substitution, other: &Substitution) -> Term {
    let value = |effect: &Substitution, variable: &Datum| {
        effect.get(variable).cloned().unwrap_or_else(|| Term::datum(variable))
    };
    Term::and(variables.iter().map(|variable| Term::equal(&value(one, variable), &value(other, variable))))
}
