//! The test case of a safety property: what may violate it, and what the verdict is then.
//!
//! **Problem.** A property is violated by behaviours that the specification has, or by an implementation that
//! leaves the specification. A test case that looked for `Violate` among the specification's behaviours alone
//! would be empty for every property that is proved, which is the ordinary case; and that of any other would
//! walk away from where only an implementation can go wrong.
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
//! internal action, so at a member it is where the trace has brought it, and its guards there are the
//! member's. Selection then keeps what leads to a violation of either kind, and [`verdicts`] tells the two
//! apart afterwards: behind them stand locations of their own, both with the verdict Fail.
//!
//! | the specification | the property | the location |
//! |---|---|---|
//! | allows the output | is violated by it | `Violate`: the specification itself violates the property |
//! | forbids it | is violated by it | `ViolateFail` |
//! | forbids it | is not | `Fail` |
//!
//! There is no Pass: no finite run shows that nothing bad ever happens. Where no violation of either kind is
//! possible any more the run is Inconclusive.
//!
//! **Direction.** A guard of which the solver does not know whether it can hold is kept: it holds of no event
//! then, and changes nothing.
//!
//! **Ends** after one look at each location, output and member. **Cost**: a query for each location and
//! output that may violate.

use std::collections::HashMap;

use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::budget;
use coreach_model::iosts::{ActionKind, Iosts, Location, Transition, TransitionOrigin};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, LocationId, Number, Term, TransitionId};

use crate::artifact::{Closed, CompletePurpose, Product, TestCase, TestGraph, Verdict, Violated, Visible};
use crate::limits::Limits;
use crate::names::UsedNames;
use crate::stage::Stage;
use crate::stages::sets::pending as hidden;
use crate::stop::{Stop, writable};

/// The location of violations that the specification allows.
pub const VIOLATE: &str = "Violate";
/// The location of violations that it forbids.
pub const VIOLATE_FAIL: &str = "ViolateFail";

/// What the artifacts before say of where the property is.
pub struct Before<'a> {
    pub property: &'a CompletePurpose,
    pub product: &'a Product,
    pub closed: &'a Closed,
}

type OutputGuards = HashMap<(LocationId, ActionId), Vec<Term>>;

impl Before<'_> {
    /// At each location of the closed machine, the guards under which the property is violated by an output.
    fn violating(&self) -> OutputGuards {
        let pairs = &self.product.pairs;
        violating(self.property, self.closed.given.numbered().map(|(at, given)| (at, pairs[*given].1)))
    }
}

/// At each of these places, where the property is at the location beside it, the guards under which it is
/// violated by an output.
fn violating(
    property: &CompletePurpose,
    places: impl Iterator<Item = (LocationId, LocationId)>,
) -> OutputGuards {
    let property = &property.purpose;
    let mut into: HashMap<LocationId, Vec<&Transition>> = HashMap::new();
    for transition in &property.iosts.transitions {
        let is_output = property.iosts.action(transition.action).kind == ActionKind::Output;
        if is_output && transition.target == property.accept && transition.source != property.accept {
            into.entry(transition.source).or_default().push(transition);
        }
    }
    let mut found = OutputGuards::new();
    for (at, location) in places {
        for transition in into.get(&location).into_iter().flatten() {
            found.entry((at, transition.action)).or_default().push(transition.guard.clone());
        }
    }
    found
}

/// The visible behaviours, with the outputs that the specification forbids and the property is violated by;
/// and the location behind these, where there are any.
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
    let added = leaving(guards, target, Stage::Determinize, limits, solver)?;
    let is_any = !added.is_empty();
    if is_any {
        let mut names = UsedNames::of(iosts.locations.iter().map(|location| location.name.as_str()));
        iosts.locations.push(Location::named(names.unique(VIOLATE_FAIL)));
        members.push(Vec::new());
        accepting.push(true);
        must_answer.push(Term::no());
        ends.push(false);
        iosts.transitions.extend(added);
    }
    let visible = Visible { iosts, members, accepting, lookahead, must_answer, ends, known };
    Ok((visible, is_any.then_some(target)))
}

/// The same of a product that is judged on line: the transitions that a state is left by with an output that
/// it forbids and the property is violated by, to a location behind the others.
pub fn violations_on_line(
    property: &CompletePurpose,
    product: &Product,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Vec<Transition>, Stop> {
    let places = product.pairs.numbered().filter(|(at, _)| !product.accepting[*at]);
    let violating = violating(property, places.map(|(at, (_, location))| (at, *location)));
    let allowed = allowed(&product.iosts);
    let guards = product.iosts.location_ids().flat_map(|source| {
        let (violating, allowed) = (&violating, &allowed);
        product.iosts.action_ids().filter_map(move |action| {
            let violates = violating.get(&(source, action))?;
            Some((source, action, forbidden(allowed, (source, action), violates.clone())))
        })
    });
    leaving(guards, product.iosts.locations.next_number(), Stage::Product, limits, solver)
}

/// The transitions by these guards to one location, where they may hold.
fn leaving(
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
        let transition = Transition {
            source,
            action,
            guard,
            assignments: Substitution::new(),
            target,
            origin: TransitionOrigin::default(),
        };
        writable(stage, &transition, limits)?;
        added.push(transition);
    }
    Ok(added)
}

/// The guards by which each action is taken at each location.
fn allowed(iosts: &Iosts) -> OutputGuards {
    let mut allowed = OutputGuards::new();
    for transition in &iosts.transitions {
        allowed.entry((transition.source, transition.action)).or_default().push(transition.guard.clone());
    }
    allowed
}

fn forbidden(allowed: &OutputGuards, of: (LocationId, ActionId), violates: Vec<Term>) -> Term {
    let forbidden = Term::or(allowed.get(&of).cloned().unwrap_or_default()).not();
    Term::and([forbidden, Term::or(violates)])
}

/// For each location that is not accepting and each output that may violate the property there: when it does
/// and is forbidden.
fn forbidden_violations(visible: &Visible, before: &Before<'_>) -> Vec<(LocationId, ActionId, Term)> {
    let violating = before.violating();
    let allowed = allowed(&visible.iosts);
    let mut found = Vec::new();
    for (source, members) in visible.members.numbered().filter(|(at, _)| !visible.accepting[*at]) {
        let pending: Vec<(LocationId, Substitution)> =
            members.iter().map(|member| (member.location, hidden(member))).collect();
        for action in visible.iosts.action_ids() {
            let mut violates = Vec::new();
            for (at, pending) in &pending {
                let guards = violating.get(&(*at, action)).into_iter().flatten();
                violates.extend(guards.map(|guard| substitute(guard, pending)));
            }
            if violates.is_empty() {
                continue;
            }
            found.push((source, action, forbidden(&allowed, (source, action), violates)));
        }
    }
    found
}

/// The test case with its verdicts: what led to Pass leads to `Violate`, or to `ViolateFail` where the
/// visible behaviours were left for it.
pub fn verdicts(case: TestCase, graph: &TestGraph, visible: &Visible, left: Option<LocationId>) -> TestCase {
    let Some(pass) = graph.pass else { return case };
    let TestCase { mut iosts, mut verdicts, mut reach, mut coreach, mut must_answer, others_fail, .. } = case;
    let made_of = graph.made_of.iter().map(|number| visible.iosts.transitions[*number].target);
    let (leaving, staying): (Vec<_>, Vec<_>) = made_of
        .enumerate()
        .map(|(number, target)| (TransitionId::of(number), Some(target) == left))
        .filter(|(number, _)| iosts.transitions[*number].target == pass)
        .partition(|(_, leaves)| *leaves);
    let others = iosts.locations.numbered().filter(|(at, _)| *at != pass);
    let mut names = UsedNames::of(others.map(|(_, location)| location.name.as_str()));
    let mut location = |how: Violated| {
        let (name, says) = match how {
            Violated::Allowed => (VIOLATE, "the property is violated, and the specification allows it"),
            Violated::Forbidden => {
                (VIOLATE_FAIL, "the property is violated, and the specification forbids it")
            }
        };
        Location { description: Some(says.to_owned()), ..Location::named(names.unique(name)) }
    };
    let first = if staying.is_empty() { Violated::Forbidden } else { Violated::Allowed };
    iosts.locations[pass] = location(first);
    verdicts[pass] = Some(Verdict::Fail);
    coreach[pass] = Term::no();
    let mut violated = vec![(pass, first)];
    if !leaving.is_empty() && !staying.is_empty() {
        let fail = iosts.locations.push(location(Violated::Forbidden));
        verdicts.push(Some(Verdict::Fail));
        reach.push(Term::yes());
        coreach.push(Term::no());
        must_answer.push(Term::no());
        violated.push((fail, Violated::Forbidden));
        for (number, _) in leaving {
            iosts.transitions[number].target = fail;
        }
    }
    TestCase { iosts, verdicts, reach, coreach, must_answer, others_fail, violated }
}
