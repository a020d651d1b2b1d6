//! How a test case is *made*.
//!
//! Six stages, each one function in one file, and one type for each result. [`generate`] has their order.
//! Names, files, reports and pictures of all stages follow from the list in [`mod@stage`] and from the trait
//! [`artifact::Artifact`] of their results.
//!
//! From a specification and a purpose to a test case, and to its document:
//!
//! ```
//! use coreach_analyses::Analysis;
//! use coreach_analyses::solver::z3::Z3Solver;
//! use coreach_model::Diagnostic;
//! use coreach_model::reader::{from_bytes, read_purpose, read_specification};
//! use coreach_pipeline::artifact::Verdict;
//! use coreach_pipeline::export::{self, Format, View, export};
//! use coreach_pipeline::limits::Limits;
//! use coreach_pipeline::{Stage, StageOptions, generate};
//!
//! # fn main() -> Result<(), Vec<Diagnostic>> {
//! let file = |name: &str, text: &str| {
//!     from_bytes(name.to_owned(), text.as_bytes().to_vec()).map_err(|found| vec![found])
//! };
//! let (specification, _) = read_specification(file("sum.yaml", "\
//! iosts: sum
//! variables: { vSum: int }
//! initial: { location: Idle, condition: vSum == 0 }
//! inputs: { Add: { n: int } }
//! outputs: { Total: { n: int } }
//! transitions:
//!   - { from: Idle, to: Idle, on: Add, assign: { vSum: vSum + n } }
//!   - { from: Idle, to: Idle, on: Total, when: n == vSum }
//! ")?)?;
//! let (purpose, _) = read_purpose(file("ten.yaml", "\
//! purpose: ten
//! of: sum
//! initial: { location: Wait }
//! transitions: [{ from: Wait, to: Accept, on: Total, when: n == 10 }]
//! ")?, &specification)?;
//!
//! let options =
//!     StageOptions { max_lookahead: 8, analysis: Analysis::default(), limits: Limits::default(), check: true };
//! let mut solver = Z3Solver::default();
//! let made = generate(&specification.iosts, purpose, &options, &mut solver, &mut |stage| {
//!     eprintln!("{}", stage.name());
//! });
//! let made = made.map_err(|stop| vec![stop.to_diagnostic()])?;
//!
//! let view = View::of(&made, Stage::InputComplete);
//! assert_eq!((view.count_into(Verdict::Pass), view.count_into(Verdict::Fail)), (1, 1));
//! let document = export(&view, Format::Json, export::ExportOptions { facts: true, ..Default::default() });
//! assert!(document.is_ok_and(|text| text.contains("\"stage\": \"test_case\"")));
//! # Ok(())
//! # }
//! ```

#![allow(missing_docs, reason = "a comment that repeats a name says nothing")]

pub mod artifact;
pub mod check;
pub mod domains;
pub mod exact;
pub mod export;
pub mod imprecisions;
pub mod late_states;
pub mod lateness;
pub mod limits;
pub mod named_types;
pub mod names;
pub mod online;
pub mod origins;
pub mod path_guided;
pub mod simplify;
pub mod sources;
pub mod stage;
pub mod stages;
pub mod stop;
pub mod suspend;
pub mod timed;
pub mod verify;
pub mod violations;

use coreach_analyses::reachability;
use coreach_analyses::solver::Solver;
use coreach_model::iosts::{Aim, Iosts, TestPurpose};
use coreach_model::{LocationId, Numbered};

use artifact::{Artifact, CaseGraph, Closed, CompletePurpose, Product, TestGraph, Visible};
use coreach_artifact::document::Origins;
use lateness::{LatenessTiming, spare_environment, with_silence};
use limits::Limits;
use origins::{Pairs, origins_of_test_case};
use sources::ModelSources;
pub use stage::Stage;
use stages::close::close;
use stages::complete::complete;
use stages::determinize::determinize;
use stages::input_complete::input_complete;
use stages::product::make_product;
use stages::select::select;
use stop::{Stop, check_writable};
use violations::{Before, give_verdicts, with_violations};

#[derive(Clone, Debug)]
pub struct Generation {
    pub complete_purpose: CompletePurpose,
    pub product: Product,
    pub closed: Closed,
    pub visible: Visible,
    pub test_graph: TestGraph,
    /// After `input_complete`.
    pub test_case: CaseGraph,
    pub sources: ModelSources,
    /// For each location of the test case, the locations that it was made of.
    pub origins: Numbered<LocationId, Origins>,
    /// The questions that the checks left open, if there are any. Empty if nothing was checked.
    pub unsettled: Vec<Unsettled>,
    pub timing: Option<LatenessTiming>,
}

impl Generation {
    pub fn result(&self, stage: Stage) -> &dyn Artifact {
        match stage {
            Stage::Complete => &self.complete_purpose,
            Stage::Product => &self.product,
            Stage::Close => &self.closed,
            Stage::Determinize => &self.visible,
            Stage::Select => &self.test_graph,
            Stage::InputComplete => &self.test_case,
        }
    }
}

#[derive(Clone, Debug)]
pub struct StageOptions {
    /// The longest postponement that `determinize` may need.
    pub max_lookahead: usize,
    pub analysis: reachability::Analysis,
    pub limits: Limits,
    /// Check each artifact after its stage.
    pub check: bool,
}

/// The questions that the check of one stage's result left open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Unsettled {
    pub stage: Stage,
    /// Questions that the solver did not answer.
    pub unknown: usize,
    /// The number of places at which there was too much to compare.
    pub unchecked: usize,
}

coreach_model::words! {
    #[derive(Default)]
    pub enum Conformance {
        /// ioc (Definition 6.2): what it sends is what the specification can send.
        #[default]
        Ioc = "ioc",
        /// ioco: and it is quiescent only where the specification can be.
        Ioco = "ioco",
    }
}

/// [`generate`] for this conformance. For ioco the specification is suspended first, and the six stages treat
/// quiescence as an output.
///
/// # Errors
/// As [`generate`], and if it cannot be said when the specification is quiescent.
pub fn generate_for(
    conformance: Conformance,
    specification: &Iosts,
    purpose: TestPurpose,
    options: &StageOptions,
    solver: &mut dyn Solver,
    watch: &mut dyn FnMut(Stage),
) -> Result<Generation, Stop> {
    if conformance == Conformance::Ioc {
        return generate(specification, purpose, options, solver, watch);
    }
    let suspended = suspend::suspend(specification, &options.limits, solver)?;
    let mut checks = Checks::new(options);
    checks.run(Stage::Complete, || check::check_suspended(&suspended, specification, solver));
    let sources = ModelSources::of(specification, &purpose);
    let made = generate(&suspended.iosts, suspended.purpose(purpose), options, solver, watch)?;
    let unsettled = [checks.unsettled, made.unsettled].concat();
    // The sources are the user's models, not the suspended or timed forms.
    Ok(Generation { sources, unsettled, ..made })
}

/// [`generate`] for the delayed form of a timed specification and of its purpose. Silence is added first, and
/// the six stages treat it as an output.
///
/// # Errors
/// As [`generate`], and if it cannot be said how long the specification may be silent.
pub fn generate_timed(
    form: &Iosts,
    timing: &LatenessTiming,
    purpose: TestPurpose,
    options: &StageOptions,
    solver: &mut dyn Solver,
    watch: &mut dyn FnMut(Stage),
) -> Result<Generation, Stop> {
    let timed = with_silence(form, timing, &options.limits, solver)?;
    let mut checks = Checks::new(options);
    checks.run(Stage::Complete, || check::check_silence(&timed, form, timing, solver));
    let sources = ModelSources::of(form, &purpose);
    let mut options = options.clone();
    if !timing.uncontrollable.is_empty() {
        // A default that is not written out would blame the system for its environment.
        options.limits.written_out = usize::MAX;
    }
    let made = generate(&timed.iosts, timed.purpose(purpose), &options, solver, watch)?;
    let unsettled = [checks.unsettled, made.unsettled].concat();
    let test_case = spare_environment(made.test_case, timing);
    check_graph_writable(Stage::InputComplete, &test_case.iosts, &options.limits)?;
    // The sources are the user's models, not the suspended or timed forms.
    Ok(Generation { sources, unsettled, test_case, timing: Some(timing.clone()), ..made })
}

/// Runs the whole pipeline, for ioc. `watch` is called before each stage.
///
/// # Errors
/// [`Stop`]: a livelock, a choice that is never resolved, a limit. Panics if a check finds that a stage broke
/// its promise: that is a bug, and an unsound test case is worse than none.
pub fn generate(
    specification: &Iosts,
    purpose: TestPurpose,
    options: &StageOptions,
    solver: &mut dyn Solver,
    watch: &mut dyn FnMut(Stage),
) -> Result<Generation, Stop> {
    let mut checks = Checks::new(options);
    // A purpose must follow every behaviour of the specification, or the product would lose some.
    watch(Stage::Complete);
    let complete_purpose = complete(purpose.clone(), &options.limits, solver);
    checks.run(Stage::Complete, || check::check_complete_purpose(&purpose, &complete_purpose, solver));

    // Mark the behaviours that the purpose accepts.
    watch(Stage::Product);
    let product = make_product(specification, complete_purpose.clone(), &options.limits, solver)?;
    checks.run(Stage::Product, || check::check_product(&product, specification, &complete_purpose, solver));

    // A tester sees inputs and outputs only.
    watch(Stage::Close);
    let closed = close(product.clone(), &options.limits, solver)?;
    checks.run(Stage::Close, || check::check_closed(&closed, &product, solver));

    // After a trace, there must be one location to be in.
    watch(Stage::Determinize);
    let visible = determinize(
        closed.clone(),
        options.max_lookahead,
        purpose.aim,
        &options.analysis,
        &options.limits,
        solver,
    )?;
    checks.run(Stage::Determinize, || check::check_visible(&visible, &closed, solver));
    // A property may also be violated by outputs that the specification forbids.
    let (visible, forbidden) = match purpose.aim {
        Aim::Accept => (visible, None),
        Aim::Violate => {
            let artifacts = Before { property: &complete_purpose, product: &product, closed: &closed };
            let (with_forbidden, forbidden) =
                with_violations(visible.clone(), &artifacts, &options.limits, solver)?;
            checks.run(Stage::Determinize, || {
                check::check_violations(
                    &with_forbidden,
                    forbidden,
                    &visible,
                    &purpose,
                    &product,
                    &closed,
                    solver,
                )
            });
            (with_forbidden, forbidden)
        }
    };

    // Keep the part that leads to Accept. The analyses decide here.
    watch(Stage::Select);
    let test_graph = select(visible.clone(), &options.analysis, solver);
    check_graph_writable(Stage::Select, &test_graph.iosts, &options.limits)?;
    checks.run(Stage::Select, || check::check_test_graph(&test_graph, &visible, solver));

    // Whatever the implementation sends, there must be an answer.
    watch(Stage::InputComplete);
    let test_case = input_complete(test_graph.clone(), &options.limits, solver);
    check_graph_writable(Stage::InputComplete, &test_case.iosts, &options.limits)?;
    checks.run(Stage::InputComplete, || check::check_test_case(&test_case, &test_graph, solver));
    // A purpose that is met passes. A property that is met is violated.
    let test_case = match purpose.aim {
        Aim::Accept => test_case,
        Aim::Violate => give_verdicts(test_case, &test_graph, &visible, forbidden),
    };

    let pairs = Pairs { specification, purpose: &complete_purpose, product: &product };
    let origins = origins_of_test_case(&pairs, &closed, &visible, &test_graph, &test_case);
    let sources = ModelSources::of(specification, &purpose);
    Ok(Generation {
        complete_purpose,
        product,
        closed,
        visible,
        test_graph,
        test_case,
        sources,
        origins,
        unsettled: checks.unsettled,
        timing: None,
    })
}

/// Checks that all guards and assigned values can be written. Facts in guards make them longer.
fn check_graph_writable(stage: Stage, iosts: &Iosts, limits: &Limits) -> Result<(), Stop> {
    iosts.transitions.iter().try_for_each(|transition| check_writable(stage, transition, limits))
}

/// Runs the checks of the stages' results if they are wanted, and keeps what they left open.
struct Checks {
    are_wanted: bool,
    unsettled: Vec<Unsettled>,
}

impl Checks {
    fn new(options: &StageOptions) -> Self {
        Checks { are_wanted: options.check || cfg!(debug_assertions), unsettled: Vec::new() }
    }

    /// Runs a check, and panics at a violation.
    fn run(&mut self, stage: Stage, check: impl FnOnce() -> check::Findings) {
        if self.are_wanted {
            let check::Findings { violations, unknown, unchecked } = check();
            assert!(violations.is_empty(), "a stage broke its promise: {violations:#?}");
            if unknown + unchecked > 0 {
                self.unsettled.push(Unsettled { stage, unknown, unchecked });
            }
        }
    }
}
