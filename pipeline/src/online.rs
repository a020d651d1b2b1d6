//! A test that is judged on line: the product, and from which of its states Accept may be reached.
//!
//! **Problem.** A test case needs a deterministic specification. Some specifications cannot become
//! deterministic (no lookahead resolves a choice), and for others the closure or the subsets are too large. A
//! judge that keeps *all* states that are possible after the trace needs no deterministic form.
//!
//! **Source.** Gaston, Le Gall, Rapin, Touil (2006), section 4.3: rules R0 to R6 over sets of contexts, with
//! four verdicts. Their purposes are subtrees of a symbolic execution. Here a purpose is the same as in the
//! other pipeline, and it may be a subtree ([`TestPurpose::with`]). "Below a node that is marked *skip*"
//! becomes `coreach`: the states from which Accept may be reached. Visible events have values, and internal
//! actions carry none, so a context is a state of the product and not a path condition.
//!
//! **Method.** `complete` and `product` are used, for ioco on the suspended specification. Nothing after
//! Accept is kept. The facts are those of the one analysis. Each guard states all conditions of its
//! transition ([`enabling_condition`]). For a property, Accept is `Violate`. An output that a state forbids
//! and that violates the property leads to a location of its own ([`crate::violations`]). If no other state
//! remains, the judge knows that the output was forbidden.
//!
//! **Ends** as its stages and the analysis do. **Costs** no closure and no determinization, but a run handles
//! sets of states.

use coreach_analyses::reachability::analyse;
use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::iosts::{Aim, Iosts, Location, TestPurpose};
use coreach_model::obligation::enabling_condition;
use coreach_model::{LocationId, Numbered, Term};

use crate::artifact::{Verdict, Violated};
use crate::names::UsedNames;
use crate::origins::Pairs;
use crate::sources::ModelSources;
use crate::stages::complete::complete;
use crate::stages::product::make_product;
use crate::stop::Stop;
use crate::suspend::suspend;
use crate::violations::{VIOLATE_FAIL, violations_on_line};
use crate::{Checks, Conformance, Stage, StageOptions, check_graph_writable};
use crate::{check, imprecisions};
use coreach_artifact::document::Origins;

#[derive(Clone, Debug)]
pub struct OnlineTest {
    /// The product without the part after Accept. It may have internal actions and choices. A location at
    /// which the purpose is met has the verdict Pass.
    pub iosts: Iosts,
    /// For each location, Pass or no verdict. For a property, Fail or no verdict.
    pub verdicts: Numbered<LocationId, Option<Verdict>>,
    /// For a property, the locations at which it is violated.
    pub violated: Vec<(LocationId, Violated)>,
    /// Over-approximation of the states in which the product can be, per location.
    pub reach: Numbered<LocationId, Term>,
    /// Over-approximation of the states from which Accept can be reached, per location.
    pub coreach: Numbered<LocationId, Term>,
    pub imprecisions: Vec<String>,
    pub sources: ModelSources,
    /// For each location, the locations that it was made of.
    pub origins: Numbered<LocationId, Origins>,
    /// Can Accept be reached at all, as far as the analysis can tell?
    pub reachable: bool,
}

/// Prepares an on-line test. `watch` is called before each stage.
///
/// # Errors
/// [`Stop`]: a limit, or for ioco that it cannot be said when the specification is quiescent. Panics if a
/// check finds that a stage broke its promise.
pub fn prepare_online(
    conformance: Conformance,
    specification: &Iosts,
    purpose: &TestPurpose,
    options: &StageOptions,
    solver: &mut dyn Solver,
    watch: &mut dyn FnMut(Stage),
) -> Result<OnlineTest, Stop> {
    let mut checks = Checks::new(options);
    let sources = ModelSources::of(specification, purpose);
    let suspended = match conformance {
        Conformance::Ioc => None,
        Conformance::Ioco => Some(suspend(specification, &options.limits, solver)?),
    };
    let (mut specification, mut purpose) = (specification, purpose.clone());
    if let Some(suspended) = &suspended {
        checks.run(Stage::Complete, || check::check_suspended(suspended, specification, solver));
        (specification, purpose) = (&suspended.iosts, suspended.purpose(purpose));
    }
    watch(Stage::Complete);
    let complete_purpose = complete(purpose.clone(), &options.limits, solver);
    checks.run(Stage::Complete, || check::check_complete_purpose(&purpose, &complete_purpose, solver));
    watch(Stage::Product);
    let product = make_product(specification, complete_purpose.clone(), &options.limits, solver)?;
    checks.run(Stage::Product, || check::check_product(&product, specification, &complete_purpose, solver));
    let (mut iosts, mut accepting) = (product.iosts.clone(), product.accepting.clone());
    let mut forbidden = None;
    if purpose.aim == Aim::Violate {
        // The new location comes last, and is no pair of the product.
        iosts.transitions.extend(violations_on_line(&complete_purpose, &product, &options.limits, solver)?);
        let mut names = UsedNames::of(iosts.locations.iter().map(|location| location.name.as_str()));
        forbidden = Some(iosts.locations.push(Location::named(names.unique(VIOLATE_FAIL))));
        accepting.push(true);
    }
    // Nothing after Accept is kept.
    iosts.transitions.retain(|transition| !accepting[transition.source]);
    for transition in &mut iosts.transitions {
        transition.guard = enabling_condition(transition);
    }
    iosts.transitions.retain(|transition| !transition.guard.is_false());
    let (iosts, kept) = iosts.without_unreachable_locations();
    check_graph_writable(Stage::Product, &iosts, &options.limits)?;
    let accepting = kept.map(|old| accepting[*old]);
    let pairs = Pairs { specification, purpose: &complete_purpose, product: &product };
    let origins = kept.map(|old| pairs.origins(Some(*old).filter(|old| Some(*old) != forbidden)));
    let mut violated: Vec<(LocationId, Violated)> = Vec::new();
    for (at, old) in kept.numbered().filter(|(at, _)| purpose.aim == Aim::Violate && accepting[*at]) {
        let how = if Some(*old) == forbidden { Violated::Forbidden } else { Violated::Allowed };
        violated.push((at, how));
    }
    let verdict_when_met = match purpose.aim {
        Aim::Accept => Verdict::Pass,
        Aim::Violate => Verdict::Fail,
    };
    // The analysis takes most of the time, as in this stage of the other pipeline.
    watch(Stage::Select);
    let facts = analyse(&iosts, &accepting, &options.analysis);
    let coreach: Numbered<LocationId, Term> = facts.coreach.into();
    let start = [iosts.initial_condition.clone(), coreach[iosts.initial].clone()];
    let reachable = accepting.contains(&true) && may_hold(solver, &start);
    Ok(OnlineTest {
        verdicts: accepting.map(|accepts| accepts.then_some(verdict_when_met)),
        violated,
        reach: facts.reach.into(),
        coreach,
        imprecisions: imprecisions::describe_imprecisions(&facts.imprecisions, &facts.iterations, &iosts),
        sources,
        origins,
        reachable,
        iosts,
    })
}
