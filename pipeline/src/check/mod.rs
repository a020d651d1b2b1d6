//! What must hold of each artifact. This list is the promise; each rule is checked after its stage in debug builds, in
//! tests and under `--check`, by questions to the solver that share no code with the stage. A violation is a bug of
//! ours. An answer `Unknown` is no violation.
//!
//! - **complete purpose** (Definition 4.22): (1) in every location, for every action, some guard holds; (2) Accept is
//!   absorbing; (3) no internal action leads into Accept.
//! - **product** (Definition 5.4): (1) a location for each pair that is reached, and no other; (2) every transition carries a guard of the specification;
//!   (3) no datum is owned twice.
//! - **every artifact from closed on**: a guard has a value in every state in which it may be read.
//! - **closed** (Definition A.7): (1) no internal action; (2) no guard that cannot hold; (3) no unreachable location.
//! - **visible** (Definition 4.20): no two transitions of a location and action can be taken together.
//! - **test graph** (Algorithm 7.2): (1) nothing leaves Pass and Inconclusive; (2) only what the implementation sends
//!   leads to Inconclusive; (3) deterministic; (4) every transition stands for one of the visible behaviours.
//! - **test case** (Definition 6.4, Algorithm 7.3): (1) nothing leaves a verdict; (2) deterministic where reachable;
//!   (3) in every other location, for every output of the implementation, some guard holds; (4) Fail and Inconclusive
//!   are entered by outputs of the implementation only.

use std::collections::{BTreeMap, HashSet};

use coreach_analyses::solver::{Answer, Solver};
use coreach_model::iosts::{ActionKind, Iosts, LocationId};
use coreach_model::obligation::defined;
use coreach_model::{ActionId, Term};

use crate::artifact::{Closed, CompletePurpose, Product, TestCase, TestGraph, Verdict, Visible};

/// A broken promise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The artifact and the rule.
    pub rule: &'static str,
    /// Where.
    pub place: String,
}

/// The rule *closed 2*: the one that a stage keeps only as far as its solver knows.
pub const GUARD_CANNOT_HOLD: &str = "closed 2";

fn violation(rule: &'static str, place: impl Into<String>) -> Violation {
    Violation { rule, place: place.into() }
}

/// Checks the result of `complete`.
pub fn complete_purpose(complete: &CompletePurpose, solver: &mut dyn Solver) -> Vec<Violation> {
    let iosts = &complete.purpose.iosts;
    let accept = complete.purpose.accept;
    let mut found = uncovered(
        iosts,
        |_| Term::yes(),
        |_| true,
        |_| true,
        complete.others_stay,
        "complete purpose 1",
        solver,
    );
    for transition in &iosts.transitions {
        let shown = || iosts.describe(transition);
        if transition.source == accept && transition.target != accept {
            found.push(violation("complete purpose 2", shown()));
        }
        let enters = transition.source != accept && transition.target == accept;
        if enters && !iosts.action(transition.action).is_visible() {
            found.push(violation("complete purpose 3", shown()));
        }
    }
    found
}

/// Checks the result of `product` against the specification.
pub fn product(product: &Product, specification: &Iosts) -> Vec<Violation> {
    let mut found = Vec::new();
    let count = product.iosts.locations.len();
    if product.pairs.len() != count || product.accepting.len() != count {
        found.push(violation("product 1", format!("{count} locations")));
        return found;
    }
    if !product.pairs.windows(2).all(|two| two[0] < two[1]) {
        found.push(violation("product 1", "a pair is there twice"));
    }
    if product.iosts.clone().without_unreachable_locations().1.len() != count {
        found.push(violation("product 1", "a pair that is not reached"));
    }
    let outgoing = specification.outgoing();
    for transition in &product.iosts.transitions {
        let (source, _) = product.pairs[transition.source.0 as usize];
        let (target, _) = product.pairs[transition.target.0 as usize];
        let known = outgoing[source.0 as usize].iter().any(|&number| {
            let t = &specification.transitions[number];
            t.target == target
                && t.action == transition.action
                && t.assignments
                    .iter()
                    .all(|(variable, value)| transition.assignments.get(variable) == Some(value))
        });
        if !known {
            found.push(violation("product 2", product.iosts.describe(transition)));
        }
    }
    let mut owned = HashSet::new();
    for datum in product.iosts.variables.iter().chain(&product.iosts.constants) {
        if !owned.insert(datum.name()) {
            found.push(violation("product 3", datum.name()));
        }
    }
    found
}

/// Checks the result of `close`.
pub fn closed(closed: &Closed, solver: &mut dyn Solver) -> Vec<Violation> {
    let iosts = &closed.iosts;
    let mut found = undefined(iosts, |_| Term::yes(), "closed: a guard without a value", solver);
    for action in iosts.actions.iter().filter(|action| !action.is_visible()) {
        found.push(violation("closed 1", &action.name));
    }
    for transition in &iosts.transitions {
        if solver.check(&transition.guard.conjuncts()) == Answer::Unsat {
            found.push(violation(GUARD_CANNOT_HOLD, iosts.describe(transition)));
        }
    }
    if iosts.clone().without_unreachable_locations().1.len() != iosts.locations.len() {
        found.push(violation("closed 3", &iosts.name));
    }
    found
}

/// Checks the result of `determinize`.
pub fn visible(visible: &Visible, solver: &mut dyn Solver) -> Vec<Violation> {
    let mut found = overlaps(&visible.iosts, |_| Term::yes(), "visible", solver);
    found.extend(undefined(&visible.iosts, |_| Term::yes(), "visible: a guard without a value", solver));
    found
}

/// Checks the result of `select` against the visible behaviours.
pub fn test_graph(graph: &TestGraph, visible: &Visible, solver: &mut dyn Solver) -> Vec<Violation> {
    let iosts = &graph.iosts;
    let reach = |location: LocationId| graph.reach[location.0 as usize].clone();
    let mut found = overlaps(iosts, reach, "test graph 3", solver);
    found.extend(undefined(iosts, reach, "test graph: a guard without a value", solver));
    for transition in &iosts.transitions {
        if graph.is_verdict(transition.source) {
            found.push(violation("test graph 1", iosts.describe(transition)));
        }
        let sent = iosts.action(transition.action).kind == ActionKind::Input;
        if Some(transition.target) == graph.inconclusive && sent {
            found.push(violation("test graph 2", iosts.describe(transition)));
        }
        // Some visible transition from the same location has a guard that is implied, and the same effect.
        let name = &iosts.location(transition.source).name;
        let candidates = visible
            .iosts
            .transitions
            .iter()
            .filter(|t| t.action == transition.action && visible.iosts.location(t.source).name == *name);
        let mut formula = transition.guard.conjuncts();
        formula.extend(reach(transition.source).conjuncts());
        formula.push(Term::or(candidates.map(|t| t.guard.clone())).not());
        if solver.check(&formula) == Answer::Sat {
            found.push(violation("test graph 4", iosts.describe(transition)));
        }
    }
    found
}

/// Checks the result of `input_complete`.
pub fn test_case(case: &TestCase, solver: &mut dyn Solver) -> Vec<Violation> {
    let iosts = &case.iosts;
    let verdict = |location: LocationId| case.verdicts[location.0 as usize];
    let reach = |location: LocationId| case.reach[location.0 as usize].clone();
    let mut found = overlaps(iosts, reach, "test case 2", solver);
    found.extend(undefined(iosts, reach, "test case: a guard without a value", solver));
    let is_output = |action: ActionId| iosts.action(action).kind == ActionKind::Output;
    if case.verdicts.contains(&Some(Verdict::Pass)) {
        let open = |location: LocationId| verdict(location).is_none();
        found.extend(uncovered(
            iosts,
            reach,
            open,
            is_output,
            case.others_fail.is_some(),
            "test case 3",
            solver,
        ));
    }
    for transition in &iosts.transitions {
        if verdict(transition.source).is_some() {
            found.push(violation("test case 1", iosts.describe(transition)));
        }
        let blames = matches!(verdict(transition.target), Some(Verdict::Fail | Verdict::Inconclusive));
        if blames && !is_output(transition.action) {
            found.push(violation("test case 4", iosts.describe(transition)));
        }
    }
    found
}

/// Pairs of transitions of one location and action that can be taken together.
fn overlaps(
    iosts: &Iosts,
    context: impl Fn(LocationId) -> Term,
    rule: &'static str,
    solver: &mut dyn Solver,
) -> Vec<Violation> {
    let mut found = Vec::new();
    for numbers in iosts.outgoing() {
        for (at, &first) in numbers.iter().enumerate() {
            for &second in &numbers[at + 1..] {
                let (t1, t2) = (&iosts.transitions[first], &iosts.transitions[second]);
                if t1.action != t2.action {
                    continue;
                }
                let mut both = context(t1.source).conjuncts();
                both.extend(t1.guard.conjuncts());
                both.extend(t2.guard.conjuncts());
                if solver.check(&both) == Answer::Sat {
                    found.push(violation(rule, format!("{} and {}", iosts.describe(t1), iosts.describe(t2))));
                }
            }
        }
    }
    found
}

/// Transitions whose guard reaches an operation without a value.
fn undefined(
    iosts: &Iosts,
    context: impl Fn(LocationId) -> Term,
    rule: &'static str,
    solver: &mut dyn Solver,
) -> Vec<Violation> {
    let mut found = Vec::new();
    for transition in &iosts.transitions {
        let mut formula = context(transition.source).conjuncts();
        formula.push(defined(&transition.guard).not());
        if solver.check(&formula) == Answer::Sat {
            found.push(violation(rule, iosts.describe(transition)));
        }
    }
    found
}

/// Pairs of location and action for which no guard need hold. `others_are_said`: what has no transition is covered.
fn uncovered(
    iosts: &Iosts,
    context: impl Fn(LocationId) -> Term,
    locations: impl Fn(LocationId) -> bool,
    actions: impl Fn(ActionId) -> bool,
    others_are_said: bool,
    rule: &'static str,
    solver: &mut dyn Solver,
) -> Vec<Violation> {
    let mut found = Vec::new();
    let outgoing = iosts.outgoing();
    for source in iosts.location_ids().filter(|location| locations(*location)) {
        let mut of: BTreeMap<ActionId, Vec<Term>> = BTreeMap::new();
        for &number in &outgoing[source.0 as usize] {
            let transition = &iosts.transitions[number];
            of.entry(transition.action).or_default().push(transition.guard.clone());
        }
        if !others_are_said {
            for action in iosts.action_ids() {
                of.entry(action).or_default();
            }
        }
        for (action, guards) in of.into_iter().filter(|(action, _)| actions(*action)) {
            let mut formula = context(source).conjuncts();
            let uncovered = Term::or(guards).not();
            if uncovered.is_false() {
                continue;
            }
            formula.push(uncovered);
            if solver.check(&formula) == Answer::Sat {
                let place =
                    format!("{} takes not every {}", iosts.location(source).label, iosts.action(action).name);
                found.push(violation(rule, place));
            }
        }
    }
    found
}
