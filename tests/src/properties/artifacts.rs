//! The pipeline, stage by stage: whatever was made before a stage stopped or panicked can still be looked at.
//!
//! The stages may be given a solver that does not know some answers ([`super::doubtful`]); what they made is
//! judged by one that does. `Unknown` is read as `may`: an artifact made in doubt has more of what cannot
//! happen, and nothing less of what can. All properties must hold of it but one rule, see `promises`. No
//! livelock may be reported either: sequences of internal steps are followed for their locations, and ours
//! only lead forward, whatever the guards.

use std::panic::{AssertUnwindSafe, catch_unwind};

use coreach_analyses::solver::Solver;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_pipeline::Stage;
use coreach_pipeline::artifact::{CaseGraph, Closed, CompletePurpose, Product, TestGraph, Visible};
use coreach_pipeline::check::{self, Findings, RuleViolation};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::stages::{close, complete, determinize, input_complete, product, select};
use coreach_pipeline::stop::Stop;

use super::doubtful::Doubtful;
use super::{NO_LIVELOCK, NO_PANIC, PROMISES, REPEATABLE, Report, Settings};
use crate::source::Input;

/// What was made.
#[derive(Clone, Default)]
pub struct Artifacts {
    /// After `complete`.
    pub complete: Option<CompletePurpose>,
    /// After `product`.
    pub product: Option<Product>,
    /// After `close`.
    pub closed: Option<Closed>,
    /// After `determinize`.
    pub visible: Option<Visible>,
    /// After `select`.
    pub graph: Option<TestGraph>,
    /// After `input_complete`.
    pub case: Option<CaseGraph>,
    /// The cycle for which `determinize` stopped.
    pub unresolved: Option<Unresolved>,
}

/// Actions that keep a choice open, as [`Stop::NoLookahead`] names them.
#[derive(Clone)]
pub struct Unresolved {
    /// The way into the cycle.
    pub prefix: Vec<String>,
    /// The cycle.
    pub cycle: Vec<String>,
}

/// Runs the stages, and checks what concerns the run itself.
pub fn make(pair: &Input, settings: &Settings, report: &mut Report) -> Artifacts {
    let mut artifacts = Artifacts::default();
    let mut solver = Z3Solver::default();
    if let Some(doubt) = settings.doubt {
        let mut doubtful = Doubtful::new(doubt);
        run(pair, settings, report, &mut artifacts, &mut doubtful);
        report.count("pairs made in doubt", 1);
        report.count("pairs made in doubt: queries not answered", doubtful.unanswered);
    } else {
        run(pair, settings, report, &mut artifacts, &mut solver);
    }
    if settings.wants(PROMISES) {
        promises(pair, &artifacts, settings, report, &mut solver);
    }
    if settings.twice && settings.wants(REPEATABLE) {
        let mut again = Artifacts::default();
        let mut solver: Box<dyn Solver> = match settings.doubt {
            Some(doubt) => Box::new(Doubtful::new(doubt)),
            None => Box::new(Z3Solver::default()),
        };
        run(pair, settings, &mut Report::default(), &mut again, solver.as_mut());
        let same =
            [&artifacts, &again].map(|made| format!("{:?}{:?}{:?}", made.visible, made.graph, made.case));
        let outcome = if same[0] == same[1] { Ok(()) } else { Err("two runs differ".to_owned()) };
        report.note(REPEATABLE, outcome);
    }
    artifacts
}

fn run(
    pair: &Input,
    settings: &Settings,
    report: &mut Report,
    made: &mut Artifacts,
    solver: &mut dyn Solver,
) -> Option<()> {
    let limits = Limits::default();
    let one = guarded(report, "complete", || complete::complete(pair.purpose.clone(), &limits, solver))?;
    made.complete = Some(one.clone());
    let two =
        guarded(report, "product", || product::make_product(&pair.specification, one, &limits, solver))?;
    let two = stopped(report, made, two)?;
    made.product = Some(two.clone());
    let three = guarded(report, "close", || close::close(two, &limits, solver))?;
    let three = stopped(report, made, three)?;
    made.closed = Some(three.clone());
    let four = guarded(report, "determinize", || {
        determinize::determinize(
            three,
            settings.max_lookahead,
            pair.purpose.aim,
            &settings.analysis,
            &limits,
            solver,
        )
    })?;
    let four = stopped(report, made, four)?;
    made.visible = Some(four.clone());
    let five = guarded(report, "select", || select::select(four, &settings.analysis, solver))?;
    report.count(if five.is_purpose_reachable() { "test cases" } else { "empty test graphs" }, 1);
    if settings.doubt.is_some() && five.is_purpose_reachable() {
        report.count("pairs made in doubt: test cases", 1);
    }
    report.count("imprecisions of the analysis", five.imprecisions.len());
    made.graph = Some(five.clone());
    let six = guarded(report, "input_complete", || input_complete::input_complete(five, &limits, solver))?;
    made.case = Some(six);
    Some(())
}

fn guarded<T>(report: &mut Report, stage: &str, work: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => {
            report.note(NO_PANIC, Ok(()));
            Some(result)
        }
        Err(payload) => {
            let text = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("a panic without text");
            report.note(NO_PANIC, Err(format!("{stage}: {text}")));
            None
        }
    }
}

fn stopped<T>(report: &mut Report, made: &mut Artifacts, result: Result<T, Stop>) -> Option<T> {
    let stop = match result {
        Ok(artifact) => {
            report.note(NO_LIVELOCK, Ok(()));
            return Some(artifact);
        }
        Err(stop) => stop,
    };
    let (name, outcome) = match &stop {
        Stop::Livelock { .. } => ("stopped: livelock", Err(format!("{stop:?}"))),
        Stop::NoLookahead { .. } => ("stopped: no lookahead", Ok(())),
        Stop::LookaheadLimit { .. } => ("stopped: lookahead limit", Ok(())),
        Stop::TooMany { .. } => ("stopped: too many", Ok(())),
        Stop::Quiescence { .. } => ("stopped: quiescence", Err(format!("{stop:?}"))),
        Stop::Budget(_) => ("stopped: budget", Ok(())),
    };
    report.note(NO_LIVELOCK, outcome);
    report.count(name, 1);
    report.stopped = Some(format!("{stop:?}"));
    if let Stop::NoLookahead { prefix, cycle, .. } = stop {
        made.unresolved = Some(Unresolved { prefix, cycle });
    }
    None
}

fn promises(
    pair: &Input,
    made: &Artifacts,
    settings: &Settings,
    report: &mut Report,
    solver: &mut dyn Solver,
) {
    let found = findings(pair, made, solver);
    report.count("checks: questions not answered", found.unknown);
    report.count("checks: places not compared in full", found.unchecked);
    let mut violations: Vec<RuleViolation> = found.violations;
    if settings.doubt.is_some() {
        // "No guard that cannot hold": where the stage was not told so, it had to keep the guard.
        let all = violations.len();
        violations.retain(|violation| violation.rule != check::GUARD_CANNOT_HOLD);
        report.count("pairs made in doubt: guards kept that cannot hold", all - violations.len());
    }
    let outcome = if violations.is_empty() { Ok(()) } else { Err(format!("{violations:?}")) };
    report.note(PROMISES, outcome);
}

/// What the checks say of each artifact that was made.
pub fn findings(pair: &Input, made: &Artifacts, solver: &mut dyn Solver) -> Findings {
    let mut all = Findings::default();
    for found in Stage::ALL.into_iter().filter_map(|stage| findings_of(stage, pair, made, solver)) {
        all.violations.extend(found.violations);
        all.unknown += found.unknown;
        all.unchecked += found.unchecked;
    }
    all
}

/// What the check of one stage's artifact says, where it and the one before were made.
pub fn findings_of(
    stage: Stage,
    pair: &Input,
    made: &Artifacts,
    solver: &mut dyn Solver,
) -> Option<Findings> {
    let Artifacts { complete, product, closed, visible, graph, case, .. } = made;
    Some(match stage {
        Stage::Complete => check::check_complete_purpose(&pair.purpose, complete.as_ref()?, solver),
        Stage::Product => {
            check::check_product(product.as_ref()?, &pair.specification, complete.as_ref()?, solver)
        }
        Stage::Close => check::check_closed(closed.as_ref()?, product.as_ref()?, solver),
        Stage::Determinize => check::check_visible(visible.as_ref()?, closed.as_ref()?, solver),
        Stage::Select => check::check_test_graph(graph.as_ref()?, visible.as_ref()?, solver),
        Stage::InputComplete => check::check_test_case(case.as_ref()?, graph.as_ref()?, solver),
    })
}
