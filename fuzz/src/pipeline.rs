//! The whole pipeline: a specification and a purpose, separated by a line of equal signs.
//!
//! Sizes and limits are small, so that an input is done in milliseconds: what is looked for is a panic or a
//! broken promise of a stage, not a large model. The checks of every artifact are on.

use coreach_analyses::check::check;
use coreach_analyses::solver::z3::{QueryLimits, Z3Solver};
use coreach_analyses::{Analysis, DomainKind};
use coreach_model::iosts::Iosts;
use coreach_model::reader::{from_bytes, read_purpose, read_specification};
use coreach_model::types::Type;
use coreach_pipeline::export::{Format, View, export};
use coreach_pipeline::{Stage, StageOptions, generate};

use crate::check_findings;

/// The line between the two.
const SEPARATOR: &str = "\n=====\n";

/// Two models in YAML, through all stages.
pub fn pipeline(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some((specification, purpose)) = text.split_once(SEPARATOR) else { return };
    let file = |name: &str, text: &str| from_bytes(name.to_owned(), text.as_bytes().to_vec()).ok();
    let (Some(first), Some(second)) =
        (file("specification.yaml", specification), file("purpose.yaml", purpose))
    else {
        return;
    };
    let Ok((specification, _)) = read_specification(first) else { return };
    let Ok((purpose, _)) = read_purpose(second, &specification) else { return };
    if !is_small(&specification.iosts) || !is_small(&purpose.iosts) {
        return;
    }
    let mut solver = Z3Solver::new(QueryLimits { rlimit: 20_000, milliseconds: 0 });
    let mut found = check(&specification.iosts, &mut solver);
    found.extend(check(&purpose.iosts, &mut solver));
    let failed = found.iter().any(coreach_model::Diagnostic::is_error);
    check_findings(&found, failed);
    if failed {
        return;
    }
    let options = StageOptions {
        max_lookahead: 3,
        analysis: Analysis {
            domain: DomainKind::Interval,
            step_limit: 2_000,
            partition_limit: 16,
            ..Analysis::default()
        },
        limits: Default::default(),
        check: true,
    };
    let Ok(generation) = generate(&specification.iosts, purpose, &options, &mut solver, &mut |_| {}) else {
        return;
    };
    for stage in Stage::ALL {
        for format in [Format::Dot, Format::Json, Format::Yaml] {
            let text = export(&View::of(&generation, stage), format, Default::default());
            assert!(text.is_ok_and(|text| !text.is_empty()), "{} of {}", format, stage.name());
        }
    }
}

/// Few transitions, and no nonlinear mountains.
fn is_small(iosts: &Iosts) -> bool {
    let data = iosts.variables.iter().chain(&iosts.constants);
    let plain = |ty: &Type| !matches!(ty, Type::Array(_) | Type::Record(_));
    iosts.transitions.len() <= 12 && data.clone().count() <= 8 && data.clone().all(|datum| plain(datum.ty()))
}
