//! Checks the test graph against the visible machine.
//!
//! For a transition with guard G and effect A from l to l', the graph may have two: `G && coreach(l')[A]`,
//! which goes on, and for an output `G && !coreach(l')[A]`, which ends. Guards are compared where reach(l)
//! holds, since that is where they are read. A transition may be missing only if it cannot hold.
//!
//! The graph only claims the facts. They are tried as a proof; if they are no proof, runs are followed to
//! refute them, up to a limit: see [`super::facts`].

use std::collections::{BTreeSet, HashMap, HashSet};

use coreach_analyses::solver::{Answer, Solver};
use coreach_model::iosts::{LocationId, TransitionId};
use coreach_model::term::substitute;
use coreach_model::{Term, Verdict};

use super::facts;
use super::obligation::{Checking, Findings, by_action, check_definedness, check_overlaps, same_values};
use crate::artifact::{GraphOrigin, TestGraph, Visible};

const SAME: &str = "test graph 4";

/// Checks the result of `select` against the visible machine. The rules are listed in [`super`].
pub fn check_test_graph(graph: &TestGraph, visible: &Visible, solver: &mut dyn Solver) -> Findings {
    let mut checking = Checking::new(solver);
    let (iosts, visible_iosts) = (&graph.iosts, &visible.iosts);
    let lengths = [graph.origins.len(), graph.reach.len(), graph.coreach.len(), graph.must_answer.len()];
    let decided = &graph.decided;
    let is_whole = checking.well_formed(iosts, &lengths, SAME)
        && graph.made_of.len() == iosts.transitions.len()
        && graph.made_of.iter().all(|number| visible_iosts.transitions.has(*number))
        && decided.reach.len() == visible_iosts.locations.len()
        && decided.coreach.len() == visible_iosts.locations.len()
        && decided.chain.iter().all(|refinement| refinement.facts.len() == visible_iosts.locations.len());
    if !checking.holds(is_whole, SAME, || "what was made of what".to_owned()) {
        return checking.found;
    }
    checking.same_data(visible_iosts, iosts, SAME);
    for (location, origin) in graph.origins.numbered() {
        let must_answer = &graph.must_answer[location];
        let is_right = match origin {
            GraphOrigin::Given(from) if visible_iosts.locations.has(*from) => {
                *must_answer == visible.must_answer[*from]
            }
            GraphOrigin::Given(_) | GraphOrigin::Verdict(_) => must_answer.is_false(),
        };
        checking.holds(is_right, "test graph 9", || iosts.locations[location].label.clone());
    }
    let Some(place_of) = find_places(graph, visible, &mut checking) else { return checking.found };
    let (reach, coreach) = (&decided.reach, &decided.coreach);
    let start = visible_iosts.initial;
    let strengthened = Term::and([visible_iosts.initial_condition.clone(), coreach[start].clone()]);
    let Some(pass) = graph.pass else {
        let is_empty = iosts.transitions.is_empty() && iosts.initial_condition.is_false();
        checking.holds(is_empty, "test graph 7", || "the purpose is said to be out of reach".to_owned());
        check_unreachable(graph, visible, &strengthened, &mut checking);
        facts::refute_facts(graph, visible, &mut checking);
        return checking.found;
    };
    let wanted = if visible.accepting[start] { Some(&pass) } else { place_of.get(&start) };
    checking.holds(wanted == Some(&iosts.initial), SAME, || "the initial location".to_owned());
    checking.equivalent(&[], &strengthened, &iosts.initial_condition, SAME, || {
        "the initial condition".to_owned()
    });
    let fact = |location: LocationId| graph.reach[location].clone();
    check_overlaps(&mut checking, iosts, &fact, "test graph 3");
    check_definedness(&mut checking, iosts, &fact, "test graph: a guard without a value");
    let kept = check_parts(graph, visible, &pass, &place_of, &mut checking);
    // A part that is missing must be impossible.
    for (number, given) in visible_iosts.transitions.numbered() {
        if visible.accepting[given.source] || !place_of.contains_key(&given.source) {
            continue;
        }
        let inside = substitute(&coreach[given.target], &given.assignments);
        let is_output = visible_iosts.action(given.action).is_observed();
        for (ends, side) in [(false, inside.clone()), (true, inside.not())] {
            if (ends && !is_output) || kept.contains(&(number, ends)) {
                continue;
            }
            let formula = [reach[given.source].clone(), given.guard.clone(), side];
            if checking.ask(&formula) == Answer::Sat {
                checking.broken("test graph 5", visible_iosts.describe(given));
            }
        }
    }
    check_allowed(graph, visible, &place_of, &mut checking);
    facts::refute_facts(graph, visible, &mut checking);
    checking.found
}

/// Checks that each transition of the graph is one part of the transition that it was made of: the part that
/// goes on, or the one that ends in Inconclusive. Returns these parts, each with whether it ends.
fn check_parts(
    graph: &TestGraph,
    visible: &Visible,
    pass: &LocationId,
    place_of: &HashMap<LocationId, LocationId>,
    checking: &mut Checking<'_>,
) -> HashSet<(TransitionId, bool)> {
    let (iosts, visible_iosts) = (&graph.iosts, &visible.iosts);
    let (reach, coreach) = (&graph.decided.reach, &graph.decided.coreach);
    let mut kept = HashSet::new();
    for (transition, &number) in iosts.transitions.iter().zip(&graph.made_of) {
        let given = &visible_iosts.transitions[number];
        let label = || iosts.describe(transition);
        checking.holds(!graph.is_verdict(transition.source), "test graph 1", label);
        let ends = Some(transition.target) == graph.inconclusive;
        let is_output = iosts.action(transition.action).is_observed();
        checking.holds(!ends || is_output, "test graph 2", label);
        let target = if ends {
            graph.inconclusive.as_ref()
        } else if visible.accepting[given.target] {
            Some(pass)
        } else {
            place_of.get(&given.target)
        };
        let is_same = place_of.get(&given.source) == Some(&transition.source)
            && given.action == transition.action
            && target == Some(&transition.target)
            && (!ends || transition.assignments.is_empty())
            // Each part appears only once.
            && kept.insert((number, ends));
        checking.holds(is_same, SAME, label);
        let inside = substitute(&coreach[given.target], &given.assignments);
        let side = if ends { inside.not() } else { inside };
        let guard = Term::and([given.guard.clone(), side]);
        let context = [reach[given.source].clone()];
        checking.equivalent(&context, &guard, &transition.guard, SAME, label);
        if !ends {
            let same = same_values(&given.assignments, &transition.assignments);
            let premises = [context[0].clone(), transition.guard.clone()];
            checking.implies(&premises, &[same], SAME, label);
        }
    }
    kept
}

/// Finds where the locations of the visible machine are in the graph. `None` if something does not fit. The
/// facts there must be those that were used for the decisions.
fn find_places(
    graph: &TestGraph,
    visible: &Visible,
    checking: &mut Checking<'_>,
) -> Option<HashMap<LocationId, LocationId>> {
    let iosts = &graph.iosts;
    let mut place_of = HashMap::new();
    let mut is_fine = true;
    for (location, origin) in graph.origins.numbered() {
        let (reach, coreach) = (&graph.reach[location], &graph.coreach[location]);
        is_fine &= match *origin {
            GraphOrigin::Given(from) => {
                visible.iosts.locations.has(from)
                    && iosts.locations[location] == visible.iosts.locations[from]
                    && (graph.pass.is_none() || !visible.accepting[from])
                    && *reach == graph.decided.reach[from]
                    && *coreach == graph.decided.coreach[from]
                    && place_of.insert(from, location).is_none()
                    && !graph.is_verdict(location)
            }
            GraphOrigin::Verdict(Verdict::Pass) => {
                graph.pass == Some(location) && reach.is_true() && coreach.is_true()
            }
            GraphOrigin::Verdict(Verdict::Inconclusive) => {
                graph.inconclusive == Some(location) && reach.is_true() && coreach.is_false()
            }
            GraphOrigin::Verdict(Verdict::WeakPass | Verdict::Fail) => false,
        };
    }
    let has_verdict = |verdict| graph.origins.contains(&GraphOrigin::Verdict(verdict));
    is_fine &= has_verdict(Verdict::Pass) == graph.pass.is_some();
    is_fine &= has_verdict(Verdict::Inconclusive) == graph.inconclusive.is_some();
    checking.holds(is_fine, SAME, || "the locations and where they come from".to_owned());
    is_fine.then_some(place_of)
}

/// Checks that the graph says at every location, as the visible machine does, what the specification allows.
fn check_allowed(
    graph: &TestGraph,
    visible: &Visible,
    place_of: &HashMap<LocationId, LocationId>,
    checking: &mut Checking<'_>,
) {
    let visible_iosts = &visible.iosts;
    let numbers_by_action = by_action(visible_iosts);
    let mut allowed_here: HashMap<_, Vec<Term>> = HashMap::new();
    for allowed in &graph.allowed {
        allowed_here.entry((allowed.location, allowed.action)).or_default().push(allowed.guard.clone());
    }
    let given = |location: LocationId| match *graph.origins.find(location)? {
        GraphOrigin::Given(from) => Some(from),
        GraphOrigin::Verdict(_) => None,
    };
    let keys_of_graph =
        allowed_here.keys().filter_map(|(location, action)| Some((given(*location)?, *action)));
    let keys: BTreeSet<_> = numbers_by_action.keys().copied().chain(keys_of_graph).collect();
    for (from, action) in keys {
        if let Some(&location) = place_of.get(&from) {
            let is_output = visible_iosts.action(action).is_observed();
            let ours = allowed_here.remove(&(location, action)).unwrap_or_default();
            let label =
                || format!("{} at {}", visible_iosts.action(action).name, visible_iosts.location(from).label);
            checking.holds(is_output || ours.is_empty(), "test graph 6", label);
            if !is_output {
                continue;
            }
            let numbers = numbers_by_action.get(&(from, action)).into_iter().flatten();
            let theirs = Term::or(numbers.map(|number| visible_iosts.transitions[*number].guard.clone()));
            let context = [graph.reach[location].clone()];
            checking.equivalent(&context, &theirs, &Term::or(ours), "test graph 6", label);
        }
    }
    checking.holds(allowed_here.is_empty(), "test graph 6", || "an output where the graph is not".to_owned());
}

/// Checks that a purpose is out of reach: the facts leave no way from the beginning to Accept.
fn check_unreachable(graph: &TestGraph, visible: &Visible, initial: &Term, checking: &mut Checking<'_>) {
    let visible_iosts = &visible.iosts;
    if checking.ask(std::slice::from_ref(initial)) != Answer::Sat {
        return;
    }
    let outgoing = visible_iosts.outgoing();
    let mut reached = HashSet::from([visible_iosts.initial]);
    let mut to_visit = vec![visible_iosts.initial];
    while let Some(location) = to_visit.pop() {
        if visible.accepting[location] {
            checking.broken("test graph 7", visible_iosts.location(location).label.clone());
            return;
        }
        for &number in &outgoing[location] {
            let t = &visible_iosts.transitions[number];
            let (reach, coreach) = (&graph.decided.reach, &graph.decided.coreach);
            let inside = substitute(&coreach[t.target], &t.assignments);
            let formula = [reach[location].clone(), t.guard.clone(), inside];
            if !reached.contains(&t.target) && checking.ask(&formula) == Answer::Sat {
                reached.insert(t.target);
                to_visit.push(t.target);
            }
        }
    }
}
