//! What the stages made is written, read again, and is the same.
//!
//! All formats that somebody reads: each stage's result as YAML, and the test case's document. The comparing
//! is that of `coreach run`, which does it before it calls a file written: a difference is a panic there.

use std::panic::{AssertUnwindSafe, catch_unwind};

use coreach_analyses::solver::Solver;
use coreach_model::iosts::Iosts;
use coreach_model::reader::Specification;
use coreach_pipeline::export::{ExportOptions, Format, View, export};
use coreach_pipeline::named_types::named_types;
use coreach_pipeline::origins::{Pairs, origins_of_test_case};
use coreach_pipeline::sources::ModelSources;
use coreach_pipeline::{Generation, Stage};
use coreach_project::written::read_back;

use super::artifacts::Artifacts;
use super::{Report, Settings, WRITTEN};

/// Writes and reads.
pub fn written(
    specification: &Iosts,
    made: &Artifacts,
    settings: &Settings,
    report: &mut Report,
    solver: &mut dyn Solver,
) {
    // Reading six models costs as much as making them: of pairs that are held against all properties, every
    // fourth.
    if !settings.wants(WRITTEN) || (settings.only.is_none() && !settings.seed.is_multiple_of(4)) {
        return;
    }
    let Some(generation) = generation(specification, made) else { return };
    let (types, functions) = (named_types(specification), Vec::new());
    let specification = Specification { iosts: specification.clone(), types, functions };
    let outcome = catch_unwind(AssertUnwindSafe(|| round(&generation, &specification, solver)));
    let outcome = outcome.unwrap_or_else(|payload| {
        Err(payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic without text".to_owned()))
    });
    report.note(WRITTEN, outcome);
}

fn round(
    generation: &Generation,
    specification: &Specification,
    solver: &mut dyn Solver,
) -> Result<(), String> {
    for stage in Stage::ALL {
        let view = View::of(generation, stage);
        for format in [Format::Yaml, Format::Json] {
            let text = export(&view, format, ExportOptions::default()).map_err(|error| error.to_string())?;
            read_back(&view, format, &text, specification, solver)
                .map_err(|limit| format!("{stage:?} as {format}: {limit}"))?;
        }
    }
    Ok(())
}

/// All results as one, where all were made.
pub fn generation(specification: &Iosts, made: &Artifacts) -> Option<Generation> {
    let complete_purpose = made.complete.clone()?;
    let (product, closed) = (made.product.clone()?, made.closed.clone()?);
    let (visible, test_graph, test_case) = (made.visible.clone()?, made.graph.clone()?, made.case.clone()?);
    let pairs = Pairs { specification, purpose: &complete_purpose, product: &product };
    Some(Generation {
        sources: ModelSources::of(specification, &complete_purpose.purpose),
        origins: origins_of_test_case(&pairs, &closed, &visible, &test_graph, &test_case),
        complete_purpose,
        product,
        closed,
        visible,
        test_graph,
        test_case,
        unsettled: Vec::new(),
        timing: None,
    })
}
