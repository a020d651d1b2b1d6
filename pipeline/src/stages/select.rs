//! Stage 5 selects the part of the visible behaviours that leads to `Accept`, and decides where it ends.
//!
//! **Problem.** The visible behaviours contain everything that the specification does. A test case shall
//! steer: send only what keeps `Accept` in reach, and notice at once when it is out of reach.
//!
//! **Source.** Thesis, Algorithm 7.2 (p. 185), with `reach` and `coreach` over-approximated (7.3, p.
//! 181-185).
//!
//! For a transition ⟨l, a, G, A, l'⟩ with l not accepting:
//!
//! - (5a) `G && reach(l) && coreach(l')[A]` goes on to l', or to Pass where l' is accepting;
//! - (5b) for an output of the implementation, `G && reach(l) && !coreach(l')[A]` leads to Inconclusive.
//!
//! **Where we differ.**
//!
//! - `reach(l)` holds whenever the guard is read. So it is not written into the guard, which is simplified in
//!   its context ([`crate::simplify`]).
//! - One pass leaves transitions that the strengthened graph cannot take any more (Example 7.4 drops them by
//!   a second analysis). So strengthening and the analysis of reach are repeated until nothing changes.
//! - The initial condition is strengthened with coreach(l0). If that cannot hold, or no transition remains,
//!   the purpose is unreachable: the result is a graph without Pass.
//! - "l is not Accept" means: no component of l is accepting.
//!
//! **Direction.** `reach` and `coreach` are over-approximations. A guard is dropped only if reach or coreach
//! excludes it for certain (an `Unknown` counts as possible). Inconclusive is given only where Accept is out
//! of reach for certain; in exchange a stimulus may be offered that cannot lead to Accept any more.
//!
//! **Ends**: the graph of a round has at most the transitions of the one before. [`MAX_ROUNDS`] is a second
//! bound. **Cost**: per transition a few queries, and per round one forward analysis.

use std::collections::HashMap;

use coreach_analyses::exact::refine_facts;
use coreach_analyses::inductive::RefinementIteration;
use coreach_analyses::reachability::{Analysis, Analyst, Facts, Refinement};
use coreach_analyses::solver::{Solver, horn, may_hold};
use coreach_model::budget;
use coreach_model::iosts::{Iosts, Location, Transition, TransitionOrigin};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{LocationId, Number, Numbered, Term, TransitionId};

use crate::artifact::{Allowed, Decided, GraphOrigin, SelectionCounts, TestGraph, Verdict, Visible};
use crate::imprecisions;
use crate::names::UsedNames;
use crate::simplify::{missing_part, simplify, simplify_guard};

/// The most rounds of strengthening and reach.
pub const MAX_ROUNDS: usize = 10;

/// Selects the behaviours that lead to Accept: analyses what is reachable, and strengthens guards in rounds.
pub fn select(visible: Visible, options: &Analysis, solver: &mut dyn Solver) -> TestGraph {
    let locations_before = visible.iosts.locations.len();
    let GraphCut { visible: cut, locations, transitions } = cut_behind_accept(visible);
    let mut analyst = Analyst::new(options);
    let facts = analyst.analyse(&cut.iosts, &cut.accepting);
    let facts_without_regions = facts.without_regions().map(|facts| without_ends(facts, &cut));
    let mut facts = without_ends(facts, &cut);
    if options.refine == Refinement::Exact {
        budget::doing("computing the exact reference");
        facts = refine_facts(&cut.iosts, &cut.accepting, facts, horn::engine(), solver);
    }
    // The chain comes from the first analysis, whatever the rounds of selection do. It is put in at the end.
    let as_decided = |facts: &Facts| Decided {
        reach: facts.reach.clone().into(),
        coreach: facts.coreach.clone().into(),
        chain: Vec::new(),
    };
    let mut known = as_decided(&facts);
    let mut graph = strengthen(&cut, &known, solver);
    if let Some(plain) = facts_without_regions.filter(|_| options.refine != Refinement::Exact) {
        let plain_known = as_decided(&plain);
        let plain_graph = strengthen(&cut, &plain_known, solver);
        let has_more = graph.iosts.transitions.len() > plain_graph.iosts.transitions.len();
        // Regions that only split guards have brought nothing.
        if graph.is_purpose_reachable() && has_more {
            (facts, known, graph) = (plain, plain_known, plain_graph);
        }
    }
    let mut rounds = 1;
    while graph.is_purpose_reachable() && rounds < MAX_ROUNDS {
        // This analysis loses only what the first one lost: the graph has no terms of its own to lose.
        let reached = analyst.reach(&graph.iosts).into();
        let narrower = narrow_reach(&cut, &graph, &reached, &known, solver);
        let next = strengthen(&cut, &narrower, solver);
        rounds += 1;
        // An analysis of a smaller graph may find less, because its widening takes another way. Then the
        // graph stays as it is.
        if next.iosts.transitions.len() > graph.iosts.transitions.len() {
            break;
        }
        let settled = next.iosts.transitions == graph.iosts.transitions;
        graph = next;
        if settled {
            break;
        }
    }
    graph.selection.rounds = rounds;
    graph.imprecisions =
        imprecisions::describe_imprecisions(&facts.imprecisions, &facts.iterations, &cut.iosts);
    graph.decided.chain = facts.chain;
    in_numbers_of_visible(graph, locations_before, &locations, &transitions)
}

/// Adds to the facts that nothing leads from an end to Accept: an analysis that was given up at its limit
/// does not say so. Nothing leaves an end, so the last refinement iteration is as inductive as it was.
fn without_ends(mut facts: Facts, cut: &Visible) -> Facts {
    for location in cut.iosts.location_ids().filter(|at| cut.ends[*at] && !cut.accepting[*at]) {
        facts.coreach[location.place()] = Term::no();
        if let Some(last) = facts.chain.last_mut() {
            last.facts[location.place()] = Term::no();
        }
    }
    facts
}

/// Changes the provenance from the numbers of the cut behaviours to those of the visible behaviours.
fn in_numbers_of_visible(
    mut graph: TestGraph,
    location_count: usize,
    locations: &Numbered<LocationId, LocationId>,
    transitions: &Numbered<TransitionId, TransitionId>,
) -> TestGraph {
    for origin in &mut graph.origins {
        if let GraphOrigin::Given(location) = origin {
            *location = locations[*location];
        }
    }
    for number in &mut graph.made_of {
        *number = transitions[*number];
    }
    let at_all_locations = |facts: Numbered<LocationId, Term>, fact_elsewhere: Term| {
        let mut facts_of_all = Numbered::filled(fact_elsewhere, location_count);
        for (location, fact) in locations.iter().zip(facts) {
            facts_of_all[*location] = fact;
        }
        facts_of_all
    };
    let Decided { reach, coreach, chain } = graph.decided;
    let renumber = |refinement: RefinementIteration| RefinementIteration {
        facts: at_all_locations(refinement.facts.into(), Term::no()).into_vec(),
        ..refinement
    };
    graph.decided = Decided {
        // The locations that were cut off lie behind Accept. No test case reaches them, and nothing there is
        // out of reach of Accept.
        reach: at_all_locations(reach, Term::no()),
        coreach: at_all_locations(coreach, Term::yes()),
        chain: chain.into_iter().map(renumber).collect(),
    };
    graph
}

/// The visible behaviours without what follows an accepting location, since no test case goes there. The two
/// lists give the numbers that locations and transitions have in the visible behaviours.
struct GraphCut {
    visible: Visible,
    locations: Numbered<LocationId, LocationId>,
    transitions: Numbered<TransitionId, TransitionId>,
}

/// Cuts off what follows an accepting location, and what cannot be reached then.
fn cut_behind_accept(visible: Visible) -> GraphCut {
    let Visible { mut iosts, members, accepting, lookahead, must_answer, ends, known } = visible;
    let sources = iosts.transitions.map(|transition| transition.source);
    iosts.transitions.retain(|transition| !accepting[transition.source]);
    let reached = iosts.reachable_from(iosts.initial);
    let is_kept = |source: LocationId| !accepting[source] && reached[source];
    let transitions = sources.numbers().filter(|number| is_kept(sources[*number])).collect();
    let (iosts, given) = iosts.without_unreachable_locations();
    let accepting = given.map(|given_location| accepting[*given_location]);
    let members = given.map(|given_location| members[*given_location].clone());
    let must_answer = given.map(|given_location| must_answer[*given_location].clone());
    let ends = given.map(|given_location| ends[*given_location]);
    GraphCut {
        visible: Visible { iosts, members, accepting, lookahead, must_answer, ends, known },
        locations: given,
        transitions,
    }
}

/// Narrows what is known: carries `reached`, the reach of the graph, back to the locations from which the
/// graph was made. The other locations are not reached, except accepting ones, which the graph has as Pass.
fn narrow_reach(
    cut: &Visible,
    graph: &TestGraph,
    reached: &Numbered<LocationId, Term>,
    known: &Decided,
    solver: &mut dyn Solver,
) -> Decided {
    let mut number_in_graph = cut.iosts.locations.map(|_| None);
    for (number, origin) in graph.origins.numbered() {
        if let GraphOrigin::Given(location) = origin {
            number_in_graph[*location] = Some(number);
        }
    }
    budget::doing("simplifying facts");
    let mut reach = Numbered::new();
    for (location, number) in number_in_graph.numbered() {
        let fact = match *number {
            // Both facts are over-approximations, so their conjunction is one.
            Some(number) => {
                let context = reached[number].conjuncts();
                Term::and([reached[number].clone(), simplify(&known.reach[location], &context, solver)])
            }
            None if cut.accepting[location] => known.reach[location].clone(),
            None => Term::no(),
        };
        reach.push(fact);
    }
    Decided { reach, coreach: known.coreach.clone(), chain: Vec::new() }
}

/// Applies Algorithm 7.2 once.
fn strengthen(cut: &Visible, known: &Decided, solver: &mut dyn Solver) -> TestGraph {
    let Visible { iosts, accepting, must_answer, .. } = cut;
    let mut builder = GraphBuilder::new(iosts, must_answer);
    let given_initial = iosts.initial;
    let missing = missing_part(&known.coreach[given_initial], &iosts.initial_condition, &[], solver);
    // Accept must be in reach of the initial state, so the coreach there is part of its condition.
    let initial_condition = Term::and([iosts.initial_condition.clone(), missing]);
    if initial_condition.is_false() {
        return builder.unreachable(known);
    }
    let initial = if accepting[given_initial] { builder.pass } else { given_initial };
    budget::doing("strengthening guards by facts");
    let mut outcomes: HashMap<GuardAndFacts, SelectionOutcome> = HashMap::new();
    for (number, transition) in iosts.transitions.numbered() {
        let (source, target) = (transition.source, transition.target);
        let is_output = iosts.action(transition.action).is_observed();
        // Copies of a sub-machine share guards, effects and facts, so each of these is decided once.
        let guard_and_facts = GuardAndFacts {
            guard: transition.guard.clone(),
            assignments: transition.assignments.clone(),
            reach: known.reach[source].clone(),
            coreach: known.coreach[target].clone(),
        };
        let outcome =
            outcomes.entry(guard_and_facts).or_insert_with_key(|key| split_by_coreach(key, solver)).clone();
        let onward = if accepting[target] { builder.pass } else { target };
        builder.add(number, transition, is_output, outcome, onward);
    }
    builder.finish(initial, initial_condition, known)
}

/// The properties of a transition that decide what becomes of it.
#[derive(PartialEq, Eq, Hash)]
struct GuardAndFacts {
    guard: Term,
    assignments: Substitution,
    reach: Term,
    coreach: Term,
}

/// The guard as the test graph says it, with its parts inside and outside coreach. A part that cannot hold is
/// `false`.
#[derive(Clone)]
struct SelectionOutcome {
    whole: Term,
    inside: Term,
    outside: Term,
}

/// Splits a guard by whether Accept can still be reached behind the transition.
fn split_by_coreach(given: &GuardAndFacts, solver: &mut dyn Solver) -> SelectionOutcome {
    let context = given.reach.conjuncts();
    let holds_somewhere = |parts: &[&Term], solver: &mut dyn Solver| {
        let formula: Vec<Term> = parts.iter().flat_map(|part| part.conjuncts()).collect();
        !parts.iter().any(|part| part.is_false()) && may_hold(solver, &formula)
    };
    if !holds_somewhere(&[&given.reach, &given.guard], solver) {
        return SelectionOutcome { whole: Term::no(), inside: Term::no(), outside: Term::no() };
    }
    let whole = simplify_guard(&given.guard, &context, solver);
    let coreach_before = substitute(&given.coreach, &given.assignments);
    // The part of coreach that the guard and reach do not imply. `false` means that they contradict coreach.
    let missing = missing_part(&coreach_before, &whole, &context, solver);
    if missing.is_true() {
        return SelectionOutcome { inside: whole.clone(), whole, outside: Term::no() };
    }
    if missing.is_false() {
        return SelectionOutcome { outside: whole.clone(), whole, inside: Term::no() };
    }
    let inside = Term::and([whole.clone(), missing.clone()]);
    let outside = Term::and([whole.clone(), missing.not()]);
    let outside = if holds_somewhere(&[&given.reach, &outside], solver) { outside } else { Term::no() };
    SelectionOutcome { whole, inside, outside }
}

/// The test graph while it is being made: the locations of the visible behaviours, then Pass and
/// Inconclusive.
struct GraphBuilder<'a> {
    from: &'a Iosts,
    must_answer: &'a Numbered<LocationId, Term>,
    pass: LocationId,
    inconclusive: LocationId,
    transitions: Numbered<TransitionId, Transition>,
    made_of: Numbered<TransitionId, TransitionId>,
    allowed: Vec<Allowed>,
    selection: SelectionCounts,
}

impl<'a> GraphBuilder<'a> {
    fn new(from: &'a Iosts, must_answer: &'a Numbered<LocationId, Term>) -> Self {
        let pass = from.locations.next_number();
        GraphBuilder {
            from,
            must_answer,
            pass,
            inconclusive: LocationId(pass.0 + 1),
            transitions: Numbered::new(),
            made_of: Numbered::new(),
            allowed: Vec::new(),
            selection: SelectionCounts::default(),
        }
    }

    /// Adds the transitions that one transition of the visible behaviours becomes: one that goes on, one to
    /// Inconclusive, both or none.
    fn add(
        &mut self,
        number: TransitionId,
        transition: &Transition,
        is_output: bool,
        outcome: SelectionOutcome,
        onward: LocationId,
    ) {
        let SelectionOutcome { whole, inside, outside } = outcome;
        let (goes_on, ends) = (!inside.is_false(), is_output && !outside.is_false());
        if !goes_on && !ends {
            self.selection.pruned += 1;
        }
        if is_output && (goes_on || ends) {
            let Transition { source: location, action, .. } = *transition;
            self.allowed.push(Allowed { location, action, guard: whole.clone() });
        }
        if goes_on {
            self.made_of.push(number);
            if !is_output && inside != whole {
                self.selection.strengthened += 1;
            }
            self.transitions.push(Transition { guard: inside, target: onward, ..transition.clone() });
        }
        if ends {
            self.made_of.push(number);
            self.transitions.push(Transition {
                guard: outside,
                target: self.inconclusive,
                assignments: Substitution::new(),
                origin: TransitionOrigin { assignments: Default::default(), ..transition.origin.clone() },
                ..transition.clone()
            });
        }
    }

    /// Makes the graph of a purpose that cannot be reached: the initial location and nothing else.
    fn unreachable(self, known: &Decided) -> TestGraph {
        let given_initial = self.from.initial;
        let iosts = Iosts {
            locations: vec![self.from.location(given_initial).clone()].into(),
            initial: LocationId(0),
            transitions: Numbered::new(),
            initial_condition: Term::no(),
            ..self.from.clone()
        };
        TestGraph {
            iosts,
            origins: vec![GraphOrigin::Given(given_initial)].into(),
            made_of: Numbered::new(),
            decided: known.clone(),
            pass: None,
            inconclusive: None,
            reach: vec![known.reach[given_initial].clone()].into(),
            coreach: vec![known.coreach[given_initial].clone()].into(),
            allowed: Vec::new(),
            must_answer: vec![self.must_answer[given_initial].clone()].into(),
            selection: SelectionCounts { pruned: self.from.transitions.len(), ..self.selection },
            imprecisions: Vec::new(),
        }
    }

    /// Makes the test graph: removes the locations that are out of reach, and says where the others come
    /// from. If Pass is out of reach, makes the graph of an unreachable purpose.
    fn finish(self, initial: LocationId, initial_condition: Term, known: &Decided) -> TestGraph {
        let mut names = UsedNames::of(self.from.locations.iter().map(|location| location.name.as_str()));
        let mut locations = self.from.locations.clone();
        let [pass, inconclusive] = ["Pass", "Inconclusive"].map(|name| Location::named(names.unique(name)));
        locations.extend([pass, inconclusive]);
        let iosts = Iosts {
            locations,
            initial,
            initial_condition,
            transitions: self.transitions.clone(),
            ..self.from.clone()
        };
        // Coreach has cut the transitions that lead away from Pass. What they led to is unreachable now.
        let reached = iosts.reachable_from(initial);
        let with_origins = self.made_of.iter().zip(&self.transitions);
        let made_of = with_origins.filter(|(_, t)| reached[t.source]).map(|(origin, _)| *origin).collect();
        let (iosts, given) = iosts.without_unreachable_locations();
        // An unreachable location has no new number.
        let new_numbers: HashMap<LocationId, LocationId> =
            given.numbered().map(|(number, given_number)| (*given_number, number)).collect();
        let Some(&pass) = new_numbers.get(&self.pass) else { return self.unreachable(known) };
        let origins = given.map(|given_number| match *given_number {
            given_number if given_number == self.pass => GraphOrigin::Verdict(Verdict::Pass),
            given_number if given_number == self.inconclusive => GraphOrigin::Verdict(Verdict::Inconclusive),
            given_number => GraphOrigin::Given(given_number),
        });
        let facts_with = |facts: &Numbered<LocationId, Term>, holds_at: fn(Verdict) -> bool| {
            origins.map(|origin| match origin {
                GraphOrigin::Given(given_number) => facts[*given_number].clone(),
                GraphOrigin::Verdict(verdict) if holds_at(*verdict) => Term::yes(),
                GraphOrigin::Verdict(_) => Term::no(),
            })
        };
        let reach = facts_with(&known.reach, |_| true);
        let coreach = facts_with(&known.coreach, |verdict| verdict == Verdict::Pass);
        let must_answer = facts_with(self.must_answer, |_| false);
        let renumber = |old: Allowed| Some(Allowed { location: *new_numbers.get(&old.location)?, ..old });
        let allowed = self.allowed.into_iter().filter_map(renumber).collect();
        let inconclusive = new_numbers.get(&self.inconclusive).copied();
        let count_into = |target| iosts.transitions.iter().filter(|t| Some(t.target) == target).count();
        let selection = SelectionCounts { inconclusive: count_into(inconclusive), ..self.selection };
        TestGraph {
            origins,
            made_of,
            decided: known.clone(),
            pass: Some(pass),
            inconclusive,
            reach,
            coreach,
            allowed,
            must_answer,
            selection,
            imprecisions: Vec::new(),
            iosts,
        }
    }
}
