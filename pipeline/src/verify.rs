//! Does the specification have a safety property?
//!
//! **Problem.** A property says what must never be seen ([`coreach_model::iosts::Aim::Violate`]). Whether the
//! specification has such a behaviour is undecidable. So the answer may be unknown, and each other answer
//! comes with a reason that others can check.
//!
//! **Source.** Rusu, Marchand, Jéron, *Verification and symbolic test generation for safety properties*
//! (2004); thesis, 9.2: the property is an observer, and is violated if the product reaches `Violate`.
//!
//! **Method.**
//!
//! - *Proved.* The analysis of the product ([`coreach_analyses::reachability`]) ends in a chain of refinement
//!   iterations. The solver checks each one against the conditions that make it a fact
//!   ([`coreach_analyses::inductive`]). The first proved one that leaves no state at `Violate`, or no initial
//!   state, is the proof.
//! - *Violated.* A bounded search ([`coreach_analyses::symbolic::search`]) looks for a shortest run to
//!   `Violate`, with values. The concrete semantics then executes the run on the specification and on the
//!   property. Only a run that both take is reported.
//! - *Proved by paths.* If the search ends, it has followed every path, up to states that are within others,
//!   and found no violation. Then there are no facts.
//! - *Unknown* otherwise, with the bound of the search.
//!
//! **Where we differ.** A property takes visible events and reads no variable of the specification. So the
//! product needs neither closing nor determinizing.
//!
//! **Ends** as the analysis and the search do. **Costs** as much, and one question for each condition.

use std::collections::BTreeSet;

use coreach_analyses::exact::refine_facts;
use coreach_analyses::inductive::{HornClauses, Obligation, Orientation, RefinementIteration};
use coreach_analyses::reachability::{Refinement, analyse};
use coreach_analyses::solver::{Answer, Solver, horn};
use coreach_analyses::symbolic::search::{
    GoalPath, SearchBound, SearchGoal, SearchLimits, SearchOutcome, Searcher,
};
use coreach_model::iosts::{Iosts, TestPurpose, Transition};
use coreach_model::semantics::{Event, State, fire, is_initial, step};
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::{Datum, LocationId, Number, Term, TransitionId, Value, budget};

use crate::artifact::Product;
use crate::stages::complete::complete;
use crate::stages::product::make_product;
use crate::stop::Stop;
use crate::{Stage, StageOptions};

#[derive(Clone, Debug)]
pub enum Verified {
    /// No run of the specification violates it.
    Proved(Proof),
    Violated(PropertyViolation),
    /// Neither was found, up to this bound of the search.
    Unknown(SearchBound),
}

/// Why no run violates a property.
#[derive(Clone, Debug)]
pub enum Proof {
    /// Inductive facts that exclude a violation, at the places from which a transition would lead to it. Each
    /// place is given by its label.
    Facts(Vec<(String, Term)>),
    /// All paths were followed, and none leads to `Violate`.
    Paths,
}

/// A run of the specification that violates a property.
#[derive(Clone, Debug)]
pub struct PropertyViolation {
    /// The data at the beginning: the specification's and the property's.
    pub initial: Valuation,
    pub steps: Vec<ViolationStep>,
}

#[derive(Clone, Debug)]
pub struct ViolationStep {
    pub transition: TransitionId,
    /// The event. An internal step has none.
    pub event: Option<Event>,
}

impl PropertyViolation {
    pub fn events(&self) -> Vec<Event> {
        self.steps.iter().filter_map(|step| step.event.clone()).collect()
    }
}

/// Verifies a property. `watch` is called before each stage that is used.
///
/// # Errors
/// [`Stop`]: a limit of the product. Panics if a run that was found does not exist: that is a bug.
pub fn verify(
    specification: &Iosts,
    property: &TestPurpose,
    options: &StageOptions,
    limits: &SearchLimits,
    solver: &mut dyn Solver,
    watch: &mut dyn FnMut(Stage),
) -> Result<Verified, Stop> {
    watch(Stage::Complete);
    let complete = complete(property.clone(), &options.limits, solver);
    watch(Stage::Product);
    let mut product = make_product(specification, complete, &options.limits, solver)?;
    // Transitions after a violation do not matter. The provenance is filtered in the same way.
    let is_kept = |transition: &Transition| !product.accepting[transition.source];
    let with_origins = product.iosts.transitions.iter().zip(&product.made_of);
    product.made_of = with_origins.filter(|(t, _)| is_kept(t)).map(|(_, made_of)| *made_of).collect();
    product.iosts.transitions.retain(is_kept);
    budget::doing("analysing the product");
    let mut facts = analyse(&product.iosts, &product.accepting, &options.analysis);
    budget::doing("proving the facts");
    if let Some(refinement) = find_proof(&product, &facts.chain, solver) {
        return Ok(Verified::Proved(Proof::Facts(excluding_facts(&product, refinement, solver))));
    }
    if options.analysis.refine == Refinement::Exact {
        budget::doing("computing the exact reference");
        facts = refine_facts(&product.iosts, &product.accepting, facts, horn::engine(), solver);
        if let Some(refinement) = find_proof(&product, &facts.chain, solver) {
            return Ok(Verified::Proved(Proof::Facts(excluding_facts(&product, refinement, solver))));
        }
    }
    budget::doing("looking for a violation");
    let goal = SearchGoal::reaching(product.accepting.clone(), &product.iosts);
    let outcome = Searcher::new(product.iosts.clone(), goal).from_start(&Term::yes(), limits, solver);
    Ok(match outcome {
        SearchOutcome::None => Verified::Proved(Proof::Paths),
        SearchOutcome::NotFound(bound) => Verified::Unknown(bound),
        SearchOutcome::Path(path) => {
            Verified::Violated(replay_violation(specification, property, &product, &path))
        }
    })
}

/// Finds the first refinement iteration that excludes every violation. `None` if there is none, or if one
/// before it is not proved.
fn find_proof<'a>(
    product: &Product,
    chain: &'a [RefinementIteration],
    solver: &mut dyn Solver,
) -> Option<&'a RefinementIteration> {
    let iosts = &product.iosts;
    let mut previous_facts: Option<&[Term]> = None;
    for refinement in chain {
        let clauses = match refinement.orientation {
            Orientation::Forward => HornClauses::forward(iosts),
            Orientation::Backward => HornClauses::backward(iosts, &product.accepting),
        };
        let mut obligations = clauses.obligations(iosts, &refinement.facts, previous_facts);
        if !obligations.all(|obligation| is_proved(&obligation, solver)) {
            return None;
        }
        let mut is_empty =
            |formula: &[Term]| formula.iter().any(Term::is_false) || solver.check(formula) == Answer::Unsat;
        // A violation is excluded if no state is left at `Violate`, or no initial state leads there.
        let excludes = match refinement.orientation {
            Orientation::Forward => product
                .accepting
                .iter()
                .zip(&refinement.facts)
                .all(|(accepts, fact)| !accepts || is_empty(&fact.conjuncts())),
            Orientation::Backward => {
                let fact = &refinement.facts[iosts.initial.place()];
                let both = [iosts.initial_condition.conjuncts(), fact.conjuncts()];
                is_empty(&both.concat())
            }
        };
        if excludes {
            return Some(refinement);
        }
        previous_facts = Some(&refinement.facts);
    }
    None
}

/// Does the conclusion follow from the premises, by the terms alone or by the solver?
fn is_proved(obligation: &Obligation, solver: &mut dyn Solver) -> bool {
    budget::ask();
    let Obligation { premises, conclusion, .. } = obligation;
    if conclusion.conjuncts().iter().all(|part| premises.contains(part))
        || premises.iter().any(Term::is_false)
    {
        return true;
    }
    let mut formula = premises.clone();
    formula.push(conclusion.not());
    solver.check(&formula) == Answer::Unsat
}

/// The facts of a refinement iteration at the places where the next event could violate the property: they
/// exclude it.
fn excluding_facts(
    product: &Product,
    refinement: &RefinementIteration,
    solver: &mut dyn Solver,
) -> Vec<(String, Term)> {
    let iosts = &product.iosts;
    let fact = |location: LocationId| refinement.facts[location.place()].clone();
    let violating = iosts.transitions.iter().filter(|transition| product.accepting[transition.target]);
    let places: BTreeSet<LocationId> = match refinement.orientation {
        Orientation::Forward => violating.map(|transition| transition.source).collect(),
        Orientation::Backward => BTreeSet::from([iosts.initial]),
    };
    let reached = places.into_iter().map(|location| (iosts.location(location).label.clone(), fact(location)));
    // A place that no run reaches has nothing to say.
    reached.filter(|(_, fact)| solver.check(&fact.conjuncts()) != Answer::Unsat).collect()
}

/// Replays the path as a run of the specification, and checks that the property calls it a violation.
fn replay_violation(
    specification: &Iosts,
    property: &TestPurpose,
    product: &Product,
    path: &GoalPath,
) -> PropertyViolation {
    let value = |datum: &Datum| path.values.get(datum).cloned().unwrap_or_else(|| Value::any(datum.ty()));
    let with_value = |datum: &Datum| (datum.clone(), value(datum));
    let initial_state_of = |iosts: &Iosts| State {
        location: iosts.initial,
        valuation: iosts.constants.iter().chain(&iosts.variables).map(with_value).collect(),
    };
    let (mut state, observer) = (initial_state_of(specification), initial_state_of(&property.iosts));
    let mut initial = state.valuation.clone();
    initial.extend(observer.valuation.clone());
    let is_initial_run = is_initial(specification, &state) && is_initial(&property.iosts, &observer);
    assert!(is_initial_run, "a run that was found begins in an initial state");
    let mut observers = BTreeSet::from([observer]);
    let mut steps = Vec::new();
    for taken in &path.steps {
        let (transition, _) = product.made_of[taken.transition];
        let values: Vec<Value> = taken.parameters.iter().map(value).collect();
        let specification_step = &specification.transitions[transition];
        let action = specification.action(specification_step.action);
        let Some(after) = fire(specification, specification_step, &state, &values) else {
            panic!(
                "a run that was found takes a step that the specification does not have: {}",
                specification.describe(specification_step)
            );
        };
        let event = action.is_visible().then(|| Event::new(action.name.clone(), values));
        if let Some(event) = &event {
            observers =
                observers.iter().flat_map(|observer| follow_event(property, observer, event)).collect();
        }
        state = after;
        steps.push(ViolationStep { transition, event });
    }
    let violates = observers.iter().any(|observer| observer.location == property.accept);
    assert!(violates, "a run that was found violates the property");
    PropertyViolation { initial, steps }
}

/// The states of a property after an event. An event that the property does not mention lets its clocks
/// advance and changes nothing else.
fn follow_event(property: &TestPurpose, from: &State, event: &Event) -> BTreeSet<State> {
    let next = step(&property.iosts, from, event);
    if !next.is_empty() {
        return next;
    }
    let mut idle = from.clone();
    let action = property.iosts.find_action(&event.action);
    let parameters = action.map_or(&[][..], |action| &property.iosts.action(action).parameters);
    let mut seen = from.valuation.clone();
    seen.extend(parameters.iter().cloned().zip(event.values.iter().cloned()));
    for (datum, term) in &property.idle {
        if let Ok(value) = evaluate(term, &seen) {
            idle.valuation.insert(datum.clone(), value);
        }
    }
    BTreeSet::from([idle])
}
