//! Stage 4: after every trace the test case is in one location, and knows the data.
//!
//! **Problem.** Where transitions of one action overlap, a trace leads to several locations with several effects.
//! For finite automata the answer is the subset construction. Here the members of a subset also differ in what they
//! have assigned, and a location has one set of variables only.
//!
//! **Source.** Thesis, appendix A.2: Definitions A.8-A.12, Algorithm A.1, Procedure A.1; Theorem A.11.
//!
//! **Where we differ.** The thesis rewrites the machine in place: it splits a choice, "propagates" the postponed
//! assignments over the next transitions, repeats, and cancels propagation where it did harm; self-loops are excluded.
//! We build the result beside the machine, by a *symbolic subset construction*. A macro-location is a set of members
//! ⟨location, postponed effects⟩: where a run may be, and what it has assigned, event by event, without the variables
//! showing it yet. `pending` is the effects of a member as one.
//!
//! - From a macro-location, a transition t of a member asks for `G_t[pending]` and would leave `A_t[pending]` pending.
//! - Candidates with one target and equal effects are one, their guards joined by `||`.
//! - For every satisfiable subset P of the overlapping candidates: all guards of P, none of the others'.
//! - One member: its effects are assigned, and we are at an ordinary location again. Several with one and the same
//!   effect: it is assigned at once (Definition A.9). Otherwise the effects stay postponed, but for the oldest ones
//!   that all members share: those are assigned, so that nothing pending is older than the choice that the members
//!   come from. (Otherwise a member that chooses again and again would never get rid of what was decided long ago.)
//! - The parameters that postponed effects mention are kept in *memory variables* (Definition A.10). The thesis has one
//!   per parameter, which a second occurrence of the action overwrites while it is still needed. Ours are numbered:
//!   the least number that no postponed effect mentions.
//!
//! Nothing is rewritten, so nothing has to be cancelled, and self-loops are ordinary.
//!
//! **Ends.** A macro-location more than `max_lookahead` events behind its choice, or a cycle of macro-locations, stops
//! the stage: [`super::lookahead`] then finds the reason in the pair graph. A machine cut off at a limit is never
//! returned: it would lack traces. Since guards are known here, some machines pass that the pair graph alone would
//! refuse. Sets can be exponentially many: [`Quantity::Subsets`], [`Quantity::SetTransitions`].
//!
//! **Cost**: per macro-location and action, queries as many as candidates and overlapping pairs of them, and as satisfiable
//! subsets times the candidates that overlap.
//!
//! ```text
//! Pay -Coffee[v >= 3]-> WaitMilk       Pay -Coffee[v >= 3 && v > 3]-> WaitMilk,  [.. && v < 3]-> WaitSugar,
//! Pay -Coffee[v <= 3]-> WaitSugar      Pay -Coffee[v >= 3 && v <= 3]-> <WaitMilk,WaitSugar>
//! ```

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::budget;
use coreach_model::iosts::{Iosts, Location, Transition, TransitionOrigin};
use coreach_model::obligation::defined;
use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::{ActionId, Datum, LocationId, Number, Numbered, Term, TransitionId};

use petgraph::algo::toposort;
use petgraph::graph::DiGraph;

use crate::Stage;
use crate::artifact::{self, Closed, Visible};
use crate::limits::{Limits, Quantity};
use crate::names::{Names, joined_label, joined_name, of_scope};
use crate::simplify::without_repetition;
use crate::stages::lookahead::{Choice, Lookahead, choices, lookahead, overlaps};
use crate::stages::must_answer::must_answer;
use crate::stop::{Shown, Stop, all_writable, within, writable};

/// Makes every choice deterministic.
///
/// Over-approximation: a subset of which the solver does not know whether its guard can hold is kept.
///
/// # Errors
/// [`Stop::NoLookahead`], [`Stop::LookaheadLimit`], [`Stop::TooMany`].
pub fn determinize(
    closed: Closed,
    max_lookahead: usize,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Visible, Stop> {
    budget::doing("comparing pairs of transitions");
    let found = choices(&closed.iosts, limits, solver)?;
    if found.is_empty() {
        // Nothing to do but to join transitions of one effect.
        let alone = |location| vec![artifact::Member { location, steps: Vec::new() }];
        let members = closed.iosts.location_ids().map(alone).collect();
        let must_answer = must_answer(&closed, &members, solver);
        let iosts = joined(closed.iosts);
        for transition in &iosts.transitions {
            writable(Stage::Determinize, transition, limits)?;
        }
        return Ok(Visible { iosts, members, accepting: closed.accepting, lookahead: 0, must_answer });
    }
    budget::doing("looking for the lookahead of each choice");
    let needed = lookahead(&closed.iosts, &found);
    if let Lookahead::Exists(needed, Some(choice)) = needed
        && needed > max_lookahead
    {
        let choice = Box::new(shown(&closed.iosts, choice));
        return Err(Stop::LookaheadLimit { limit: max_lookahead, needed, choice });
    }
    let mut construction = Construction::start(&closed, max_lookahead, limits);
    construction.depth_first = matches!(needed, Lookahead::None { .. });
    budget::doing("building sets of locations");
    construction.run(solver)?;
    if construction.too_deep
        && let Lookahead::Exists(needed, Some(choice)) = needed
    {
        // The pair graph says that this cannot be; a truncated result would be unsound.
        let choice = Box::new(shown(&closed.iosts, choice));
        return Err(Stop::LookaheadLimit { limit: max_lookahead, needed: needed + 1, choice });
    }
    match (construction.unresolved(), needed) {
        (true, Lookahead::None { choice, prefix, cycle }) => {
            let names = |actions: &[ActionId]| {
                actions.iter().map(|action| closed.iosts.action(*action).name.clone()).collect()
            };
            let (prefix, cycle) = (names(&prefix), names(&cycle));
            Err(Stop::NoLookahead { choice: Box::new(shown(&closed.iosts, choice)), prefix, cycle })
        }
        (_, Lookahead::Exists(lookahead, _)) => Ok(construction.finish(lookahead, solver)),
        // The guards exclude the cycle that the pair graph sees.
        (false, Lookahead::None { .. }) => {
            let lookahead = construction.longest_postponement() + 1;
            Ok(construction.finish(lookahead, solver))
        }
    }
}

fn shown(iosts: &Iosts, choice: Choice) -> [Shown; 2] {
    [choice.first, choice.second].map(|number| Shown::transition(iosts, &iosts.transitions[number]))
}

/// Joins transitions that differ in their guards only.
fn joined(mut iosts: Iosts) -> Iosts {
    let mut index: HashMap<(LocationId, ActionId, LocationId, Substitution), TransitionId> = HashMap::new();
    let mut kept: Numbered<TransitionId, Transition> = Numbered::new();
    let mut guards: Numbered<TransitionId, Vec<Term>> = Numbered::new();
    for transition in std::mem::take(&mut iosts.transitions) {
        let key = (transition.source, transition.action, transition.target, transition.assignments.clone());
        let new = kept.next_number();
        let at = *index.entry(key).or_insert(new);
        if at == new {
            guards.push(vec![transition.guard.clone()]);
            kept.push(transition);
        } else {
            guards[at].push(transition.guard);
        }
    }
    for (transition, guards) in kept.iter_mut().zip(guards).filter(|(_, guards)| guards.len() > 1) {
        transition.guard = Term::or(guards);
    }
    iosts.transitions = kept;
    iosts
}

/// Where a run may be, and what it has assigned without the variables showing it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Member {
    location: LocationId,
    /// The postponed effects, one for each event, oldest first; each is over the data before it.
    steps: Vec<Substitution>,
}

impl Member {
    /// The postponed effects as one.
    fn pending(&self) -> Substitution {
        self.steps.iter().fold(Substitution::new(), |before, step| followed(&before, step))
    }
}

/// The first effect, then the second.
pub(crate) fn followed(before: &Substitution, step: &Substitution) -> Substitution {
    let values = substitute_all(step.values(), before);
    let mut both = before.clone();
    both.extend(step.keys().cloned().zip(values));
    both.retain(|variable, value| value.as_datum() != Some(variable));
    both
}

/// A set of members, in order, all with as many postponed effects. One member without any is an ordinary location.
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
    /// The transitions whose guards were made here and may say things twice. They are put in few words at the end:
    /// where the construction stops, that would be half of its queries.
    made: Vec<TransitionId>,
    memory: Vec<Datum>,
    memory_of: HashMap<(Datum, usize), Datum>,
    names: Names,
    /// Where a cycle is suspected, the limit of the depth is to be met soon.
    depth_first: bool,
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
            depth_first: false,
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
        while let Some(number) = if self.depth_first { work.pop_back() } else { work.pop_front() } {
            for (action, candidates) in self.candidates(number, solver)? {
                let subsets = satisfiable_subsets(&candidates, self.limits, solver)?;
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
            let pending = member.pending();
            for &at in &self.outgoing[member.location] {
                budget::ask();
                let transition = &iosts.transitions[at];
                let effect = followed(&pending, &transition.assignments);
                let guard = substitute(&transition.guard, &pending);
                all_writable(Stage::Determinize, effect.values().chain([&guard]), self.limits)?;
                // A postponed effect may have a value only where its own guard held. That guard has held wherever
                // this one is read, but nobody who reads it alone could know.
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

    /// What is assigned now, and what stays pending: of the postponed effects, the first ones that all members share are
    /// postponed no longer. So none is older than the choice that the members come from.
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

    /// Was the depth's limit met, or do macro-locations follow each other for ever?
    fn unresolved(&self) -> bool {
        self.too_deep || self.macro_order().is_none()
    }

    /// The macro-locations proper, each before those that follow it; `None` where they have a cycle.
    fn macro_order(&self) -> Option<Vec<LocationId>> {
        let is_macro = |number: LocationId| !is_ordinary(&self.macros[number]);
        let among = self.transitions.iter().filter(|t| is_macro(t.source) && is_macro(t.target));
        let mut graph: DiGraph<(), ()> = DiGraph::from_edges(among.map(|t| (t.source.0, t.target.0)));
        while graph.node_count() < self.macros.len() {
            graph.add_node(());
        }
        let order = toposort(&graph, None).ok()?;
        Some(
            order
                .into_iter()
                .map(|node| LocationId::of(node.index()))
                .filter(|&number| is_macro(number))
                .collect(),
        )
    }

    /// The most events in a row that stay among macro-locations.
    fn longest_postponement(&self) -> usize {
        let mut longest = self.macros.map(|_| 0);
        let order = self.macro_order().unwrap_or_default();
        let mut targets = self.macros.map(|_| Vec::new());
        for transition in &self.transitions {
            targets[transition.source].push(transition.target);
        }
        for &number in &order {
            for &target in &targets[number] {
                longest[target] = longest[target].max(longest[number] + 1);
            }
        }
        order.into_iter().map(|number| longest[number]).max().unwrap_or(0)
    }

    fn finish(mut self, lookahead: usize, solver: &mut dyn Solver) -> Visible {
        budget::doing("simplifying guards");
        for &at in &self.made {
            let transition = &mut self.transitions[at];
            transition.guard = without_repetition(&transition.guard, solver);
        }
        let iosts = &self.closed.iosts;
        // Ordinary locations keep their names: later stages know them by these.
        let ordinary = self.macros.iter().filter(|members| is_ordinary(members));
        let kept = ordinary.map(|members| iosts.location(members[0].location).name.as_str());
        let mut names = Names::of(kept);
        let mut locations = Numbered::new();
        let mut accepting = Numbered::new();
        for members in &self.macros {
            accepting.push(members.iter().any(|member| self.closed.accepting[member.location]));
            let parts: Vec<&Location> =
                members.iter().map(|member| iosts.location(member.location)).collect();
            if let [one] = parts.as_slice() {
                locations.push((*one).clone());
            } else {
                let name = names.unique(&joined_name(parts.iter().map(|part| part.name.as_str())));
                let label = joined_label(parts.iter().map(|part| part.label.as_str()));
                locations.push(Location { label, name, description: None });
            }
        }
        let variables = iosts.variables.iter().chain(&self.memory).cloned().collect();
        let transitions = self.transitions;
        let result = Iosts { variables, locations, initial: LocationId(0), transitions, ..iosts.clone() };
        let said = |member: Member| artifact::Member { location: member.location, steps: member.steps };
        let members =
            self.macros.into_iter().map(|members| members.into_iter().map(said).collect()).collect();
        let must_answer = must_answer(self.closed, &members, solver);
        Visible { iosts: result, members, accepting, lookahead, must_answer }
    }
}

fn is_ordinary(members: &[Member]) -> bool {
    members.len() == 1 && members[0].steps.is_empty()
}

/// The non-empty subsets that can be enabled without the rest, each with its guard, in order.
///
/// Two candidates that exclude each other need no negation, so that a deterministic location keeps its guards. Candidates
/// are decided one after the other, each as taken and as not taken, and only as far as what was decided can hold: every
/// branch that is followed ends in a subset, so the questions are as many as the subsets times the candidates that
/// overlap, and not as many as there are subsets of any kind.
fn satisfiable_subsets(
    candidates: &[Candidate],
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Vec<(Vec<usize>, Term)>, Stop> {
    let guards: Vec<Term> = candidates.iter().map(|candidate| candidate.guard.clone()).collect();
    let mut overlapping = vec![BTreeSet::new(); guards.len()];
    overlaps(&guards, limits, solver, &mut |a, b, _| {
        overlapping[a].insert(b);
        overlapping[b].insert(a);
    })?;
    let mut found = Vec::new();
    // All of the same length are decided before longer ones: each can hold and ends in a subset of its own, so too many
    // are noticed while what is asked is short.
    let mut work: VecDeque<Branch> = VecDeque::new();
    for first in 0..guards.len() {
        let before = overlapping[first].range(..first).map(|&at| guards[at].not());
        let decided: Vec<Term> = std::iter::once(guards[first].clone()).chain(before).collect();
        let open = overlapping[first].range(first + 1..).copied().collect();
        if decided.len() == 1 || may_hold(solver, &flat(&decided)) {
            work.push_back(Branch { members: vec![first], decided, open });
        }
    }
    while let Some(branch) = work.pop_front() {
        budget::ask();
        // This one, and those that are known already.
        let more = (found.len() + work.len() + 1).saturating_sub(guards.len());
        within(Stage::Determinize, Quantity::Subsets, more, limits)?;
        let Some((&next, rest)) = branch.open.split_first() else {
            found.push((branch.guard(&guards, &overlapping), branch.members));
            continue;
        };
        let with = |part: Term| branch.decided.iter().cloned().chain([part]).collect::<Vec<_>>();
        let (taken, left) = (with(guards[next].clone()), with(guards[next].not()));
        let can_be_taken = may_hold(solver, &flat(&taken));
        if can_be_taken {
            let members = branch.members.iter().copied().chain([next]).collect();
            let open = rest.iter().copied().filter(|at| overlapping[next].contains(at)).collect();
            work.push_back(Branch { members, decided: taken, open });
        }
        // What can hold can hold in one of the two ways.
        if !can_be_taken || may_hold(solver, &flat(&left)) {
            work.push_back(Branch { members: branch.members, decided: left, open: rest.to_vec() });
        }
    }
    let mut found: Vec<_> = found.into_iter().map(|(guard, members)| (members, guard)).collect();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(found)
}

/// A subset in the making; what is decided may hold.
struct Branch {
    /// Who is taken.
    members: Vec<usize>,
    /// The guards of those, and the negations of those decided not to be taken.
    decided: Vec<Term>,
    /// Who may still be taken with all of the members, the next one first.
    open: Vec<usize>,
}

impl Branch {
    /// All guards of the members, and none of those that overlap with each of them.
    fn guard(&self, guards: &[Term], overlapping: &[BTreeSet<usize>]) -> Term {
        let members = self.members.iter().map(|&at| guards[at].clone());
        let with_all = |at: &usize| self.members.iter().all(|member| overlapping[*member].contains(at));
        let excluded = overlapping[self.members[0]].iter().filter(|at| with_all(at));
        Term::and(members.chain(excluded.map(|&at| guards[at].not())))
    }
}

fn flat(parts: &[Term]) -> Vec<Term> {
    parts.iter().flat_map(Term::conjuncts).collect()
}
