//! Checks what a property adds to the visible machine, against the property as the user wrote it.

use std::collections::{BTreeMap, BTreeSet};

use coreach_analyses::solver::Solver;
use coreach_model::iosts::{ActionKind, LocationId, TestPurpose, Transition};
use coreach_model::obligation::enabling_condition;
use coreach_model::term::substitute;
use coreach_model::{ActionId, Term};

use super::obligation::{Checking, Findings, check_definedness};
use super::visible::RunPlace;
use crate::artifact::{Closed, Product, Visible};

/// Checks the forbidden outputs that violate a property. `extended` has them in addition to `visible`, and
/// they lead to the location `violated`. The rules are listed in [`super`].
pub fn check_violations(
    extended: &Visible,
    violated: Option<LocationId>,
    visible: &Visible,
    property: &TestPurpose,
    product: &Product,
    closed: &Closed,
    solver: &mut dyn Solver,
) -> Findings {
    const SAME: &str = "violations 1";
    let mut checking = Checking::new(solver);
    let (iosts, visible_iosts) = (&extended.iosts, &visible.iosts);
    if !checking.well_formed(
        iosts,
        &[extended.accepting.len(), extended.must_answer.len(), extended.members.len()],
        SAME,
    ) {
        return checking.found;
    }
    checking.same_data(visible_iosts, iosts, SAME);
    let added_locations = usize::from(violated.is_some());
    let is_same = iosts.locations.len() == visible_iosts.locations.len() + added_locations
        && violated.is_none_or(|violated| {
            violated == visible_iosts.locations.next_number() && extended.accepting[violated]
        })
        && iosts.locations.starts_with(&visible_iosts.locations)
        && iosts.transitions.starts_with(&visible_iosts.transitions)
        && extended.accepting.starts_with(&visible.accepting)
        && extended.members.starts_with(&visible.members)
        && iosts.initial == visible_iosts.initial
        && iosts.initial_condition == visible_iosts.initial_condition;
    if !checking.holds(is_same, SAME, || "what was there".to_owned()) {
        return checking.found;
    }
    let mut allowed: BTreeMap<(LocationId, ActionId), Vec<Term>> = BTreeMap::new();
    let mut added: BTreeMap<(LocationId, ActionId), Vec<Term>> = BTreeMap::new();
    for transition in &visible_iosts.transitions {
        allowed.entry((transition.source, transition.action)).or_default().push(transition.guard.clone());
    }
    for transition in iosts.transitions.iter().skip(visible_iosts.transitions.len()) {
        let is_plain = Some(transition.target) == violated
            && !visible.accepting[transition.source]
            && transition.assignments.is_empty()
            && iosts.action(transition.action).kind == ActionKind::Output;
        checking.holds(is_plain, "violations 2", || iosts.describe(transition));
        added.entry((transition.source, transition.action)).or_default().push(transition.guard.clone());
    }
    check_definedness(&mut checking, iosts, &|_| Term::yes(), "violations: a guard without a value");
    let enters = |transition: &&Transition| {
        transition.target == property.accept && transition.source != property.accept
    };
    let entering: Vec<&Transition> = property.iosts.transitions.iter().filter(enters).collect();
    let actions: BTreeSet<ActionId> = entering.iter().map(|transition| transition.action).collect();
    for (source, members) in visible.members.numbered().filter(|(location, _)| !visible.accepting[*location])
    {
        for &action in &actions {
            let mut violates = Vec::new();
            let mut types = Vec::new();
            for member in members {
                let (_, property_location) = product.pairs[closed.given[member.location]];
                let RunPlace { pending, has_types, .. } = RunPlace::of(member);
                types.push(has_types);
                let violating =
                    entering.iter().filter(|t| t.source == property_location && t.action == action);
                violates.extend(violating.map(|t| substitute(&enabling_condition(t), &pending)));
            }
            let key = (source, action);
            let forbidden = Term::or(allowed.remove(&key).unwrap_or_default()).not();
            let wanted = Term::and([forbidden, Term::or(violates)]);
            let guard = Term::or(added.remove(&key).unwrap_or_default());
            let place = || format!("{} at {}", iosts.action(action).name, iosts.location(source).label);
            checking.equivalent(&types, &wanted, &guard, "violations 3 and 4", place);
        }
    }
    for (source, action) in added.into_keys() {
        let place = format!("{} at {}", iosts.action(action).name, iosts.location(source).label);
        checking.broken("violations 3", place);
    }
    checking.found
}
