//! The test case of a safety property: the outputs that may violate it, and the verdicts then.
//!
//! **Problem.** A property is violated by behaviours of the specification, or by an implementation that
//! leaves the specification. A test case that looks for `Violate` among the specification's behaviours alone
//! is empty for every property that is proved. For others it avoids states in which only an implementation
//! can go wrong.
//!
//! **Source.** Rusu, Marchand, Jéron, *Verification and symbolic test generation for safety properties*
//! (2004); Constant, Jéron, Marchand, Rusu, *Integrating formal verification and conformance testing for
//! reactive systems*, IEEE TSE 33 (2007), <https://doi.org/10.1109/TSE.2007.70707>: the specification is
//! completed by the outputs that it forbids, and the observer follows these, too. Thesis, 9.2.
//!
//! **Method.** [`with_violations`] adds to the visible behaviours, for each location and output,
//!
//! ```text
//! l -a-> ViolateFail    when    no transition of a at l can be taken,  and  a member's property leads to Violate by a
//! ```
//!
//! and marks the target as accepting. A property reads no variables of the specification and takes no
//! internal action. So its location at a member is given by the trace, and its guards there are the member's.
//! Selection then keeps the transitions that lead to a violation of either kind. [`give_verdicts`] tells the
//! two kinds apart afterwards: each has a location of its own, with the verdict Fail.
//!
//! | the specification | the property | the location |
//! |---|---|---|
//! | allows the output | is violated by it | `Violate`: the specification itself violates the property |
//! | forbids it | is violated by it | `ViolateFail` |
//! | forbids it | is not | `Fail` |
//!
//! There is no Pass: no finite run shows that nothing bad ever happens. If no violation of either kind is
//! possible any more, the run is Inconclusive.
//!
//! **Direction.** If the solver does not know whether a guard can hold, the guard is kept. **Ends** after one
//! look at each location, output and member. **Cost**: a query for each location and output that may violate
//! the property.

use std::collections::{BTreeMap, HashMap};

use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::budget;
use coreach_model::iosts::{ActionKind, Iosts, Location, Transition};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, LocationId, Term};

use crate::artifact::{
    CaseGraph, Closed, CompletePurpose, Product, TestGraph, Verdict, Violated, Visible, added_transition,
};
use crate::limits::Limits;
use crate::names::UsedNames;
use crate::stage::Stage;
use crate::stages::sets::pending_effect;
use crate::stop::{Stop, check_writable};

/// The location of violations that the specification allows.
pub const VIOLATE: &str = "Violate";
/// The location of violations that it forbids.
pub const VIOLATE_FAIL: &str = "ViolateFail";

/// The artifacts before, which say in which location the property is.
pub struct Before<'a> {
    pub property: &'a CompletePurpose,
    pub product: &'a Product,
    pub closed: &'a Closed,
}

type OutputGuards = BTreeMap<(LocationId, ActionId), Vec<Term>>;

/// Gives the guards under which an output violates the property, at each of these places. Each place comes
/// with the property's location there.
fn violation_guards(
    property: &CompletePurpose,
    places: impl Iterator<Item = (LocationId, LocationId)>,
) -> OutputGuards {
    let property = &property.purpose;
    let mut entering: HashMap<LocationId, Vec<&Transition>> = HashMap::new();
    for transition in &property.iosts.transitions {
        let is_output = property.iosts.action(transition.action).kind == ActionKind::Output;
        if is_output && transition.target == property.accept && transition.source != property.accept {
            entering.entry(transition.source).or_default().push(transition);
        }
    }
    let mut guards = OutputGuards::new();
    for (place, property_location) in places {
        for transition in entering.get(&property_location).into_iter().flatten() {
            guards.entry((place, transition.action)).or_default().push(transition.guard.clone());
        }
    }
    guards
}

/// Adds to the visible behaviours the outputs that the specification forbids and that violate the property.
/// Also returns their target location, if there are any.
pub fn with_violations(
    visible: Visible,
    before: &Before<'_>,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<(Visible, Option<LocationId>), Stop> {
    let guards = forbidden_violations(&visible, before);
    let Visible { mut iosts, mut members, mut accepting, lookahead, mut must_answer, mut ends, known } =
        visible;
    let target = iosts.locations.next_number();
    let added = transitions_into(guards, target, Stage::Determinize, limits, solver)?;
    let can_violate = !added.is_empty();
    if can_violate {
        let mut names = UsedNames::of(iosts.locations.iter().map(|location| location.name.as_str()));
        iosts.locations.push(Location::named(names.unique(VIOLATE_FAIL)));
        members.push(Vec::new());
        accepting.push(true);
        must_answer.push(Term::no());
        ends.push(false);
        iosts.transitions.extend(added);
    }
    let visible = Visible { iosts, members, accepting, lookahead, must_answer, ends, known };
    Ok((visible, can_violate.then_some(target)))
}

/// Makes, for a product that is judged on line, the transitions by outputs that a state forbids and that
/// violate the property. Their target is a new location after the others.
pub fn violations_on_line(
    property: &CompletePurpose,
    product: &Product,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Vec<Transition>, Stop> {
    let places = product.pairs.numbered().filter(|(place, _)| !product.accepting[*place]);
    let violating =
        violation_guards(property, places.map(|(place, (_, property_location))| (place, *property_location)));
    let allowed = guards_by_action(&product.iosts);
    let guards = violating.into_iter().map(|((source, action), violates)| {
        (source, action, forbidden_violation(&allowed, (source, action), violates))
    });
    transitions_into(guards, product.iosts.locations.next_number(), Stage::Product, limits, solver)
}

/// Makes transitions with these guards into one location, if the guards may hold.
fn transitions_into(
    guards: impl IntoIterator<Item = (LocationId, ActionId, Term)>,
    target: LocationId,
    stage: Stage,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Vec<Transition>, Stop> {
    let mut added = Vec::new();
    for (source, action, guard) in guards {
        budget::ask();
        if guard.is_false() || !may_hold(solver, &guard.conjuncts()) {
            continue;
        }
        let transition = added_transition(source, action, guard, target);
        check_writable(stage, &transition, limits)?;
        added.push(transition);
    }
    Ok(added)
}

fn guards_by_action(iosts: &Iosts) -> OutputGuards {
    let mut allowed = OutputGuards::new();
    for transition in &iosts.transitions {
        allowed.entry((transition.source, transition.action)).or_default().push(transition.guard.clone());
    }
    allowed
}

/// Makes the condition under which an output is forbidden and violates the property.
fn forbidden_violation(allowed: &OutputGuards, key: (LocationId, ActionId), violates: Vec<Term>) -> Term {
    let forbidden = Term::or(allowed.get(&key).cloned().unwrap_or_default()).not();
    Term::and([forbidden, Term::or(violates)])
}

/// Lists each output that may violate the property at a location that does not accept, with the condition
/// under which it does and is forbidden.
fn forbidden_violations(visible: &Visible, before: &Before<'_>) -> Vec<(LocationId, ActionId, Term)> {
    let Before { property, product, closed } = before;
    let places = closed.given.numbered().map(|(location, given)| (location, product.pairs[*given].1));
    let violating = violation_guards(property, places);
    let allowed = guards_by_action(&visible.iosts);
    let mut violations = Vec::new();
    for (source, members) in visible.members.numbered().filter(|(at, _)| !visible.accepting[*at]) {
        let pending: Vec<(LocationId, Substitution)> =
            members.iter().map(|member| (member.location, pending_effect(member))).collect();
        for action in visible.iosts.action_ids() {
            let mut violates = Vec::new();
            for (location, effect) in &pending {
                let guards = violating.get(&(*location, action)).into_iter().flatten();
                violates.extend(guards.map(|guard| substitute(guard, effect)));
            }
            if violates.is_empty() {
                continue;
            }
            violations.push((source, action, forbidden_violation(&allowed, (source, action), violates)));
        }
    }
    violations
}

/// Gives the test case its verdicts: transitions into Pass lead to `Violate` instead, or to `ViolateFail` if
/// the specification forbids the output.
pub fn give_verdicts(
    mut case: CaseGraph,
    graph: &TestGraph,
    visible: &Visible,
    forbidden_location: Option<LocationId>,
) -> CaseGraph {
    let Some(pass) = graph.pass else { return case };
    let with_origins = graph.made_of.numbered();
    let into_pass = with_origins.filter(|(number, _)| case.iosts.transitions[*number].target == pass);
    let (forbidden, allowed): (Vec<_>, Vec<_>) = into_pass
        .partition(|(_, made_of)| Some(visible.iosts.transitions[**made_of].target) == forbidden_location);
    let others = case.iosts.locations.numbered().filter(|(number, _)| *number != pass);
    let mut names = UsedNames::of(others.map(|(_, location)| location.name.as_str()));
    let mut make_location = |how: Violated| {
        let (name, description) = match how {
            Violated::Allowed => (VIOLATE, "the property is violated, and the specification allows it"),
            Violated::Forbidden => {
                (VIOLATE_FAIL, "the property is violated, and the specification forbids it")
            }
        };
        Location { description: Some(description.to_owned()), ..Location::named(names.unique(name)) }
    };
    let kind_at_pass = if allowed.is_empty() { Violated::Forbidden } else { Violated::Allowed };
    case.iosts.locations[pass] = make_location(kind_at_pass);
    case.verdicts[pass] = Some(Verdict::Fail);
    case.coreach[pass] = Term::no();
    // Pass itself becomes the location of the first kind. A second kind gets a new location.
    case.violated = vec![(pass, kind_at_pass)];
    if !forbidden.is_empty() && !allowed.is_empty() {
        let fail = case.add_verdict(make_location(Violated::Forbidden), Verdict::Fail);
        case.violated.push((fail, Violated::Forbidden));
        for (number, _) in forbidden {
            case.iosts.transitions[number].target = fail;
        }
    }
    case
}
