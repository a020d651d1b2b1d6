//! Turns a timed specification of a configuration into the input of the pipeline.
//!
//! The stages take the delayed form, in which time is data. A setting that has no meaning in that form, or
//! another meaning with time, is a mistake that is reported on the configuration's text.

use std::sync::Arc;

use coreach_model::Term;
use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_model::iosts::{Aim, Iosts, TestPurpose, TransitionId};
use coreach_model::reader::{
    AnySpecification, Reading, Specification, TimedSpecification, read_aimed, read_timed_aimed,
};
use coreach_model::timed::delayed::{Delayed, delayed};
use coreach_pipeline::Conformance;
use coreach_pipeline::lateness::LatenessTiming;

use crate::configuration::{Configuration, Judging};

/// A specification as the stages take it.
pub(crate) struct StageInput {
    /// The specification. If it is timed, this is its delayed form.
    pub specification: Specification,
    /// The timed specification, and the stages' data about time.
    pub timed: Option<(TimedSpecification, LatenessTiming)>,
    form: Option<Delayed>,
}

/// Prepares a specification for the stages.
///
/// # Errors
/// Settings of the configuration do not fit a timed (or untimed) model, or it has no delayed form.
pub(crate) fn prepare_input(
    specification: AnySpecification,
    configuration: &Configuration,
) -> Result<StageInput, Vec<Diagnostic>> {
    let named = || configuration.specification.origin.clone();
    let timed = match (specification, &configuration.timed) {
        (AnySpecification::Untimed(specification), None) => {
            return Ok(StageInput { specification, timed: None, form: None });
        }
        (AnySpecification::Untimed(_), Some(timed)) => {
            let diagnostic = Diagnostic::error("timed-model", "`timed` needs a specification with clocks")
                .at(timed.origin.clone(), "written here")
                .at(named(), "this specification has no clocks")
                .help("leave `timed` out, or declare the `clocks` of the specification");
            return Err(vec![diagnostic]);
        }
        (AnySpecification::Timed(timed), _) => timed,
    };
    let mut found = Vec::new();
    if configuration.timed.is_none() {
        let diagnostic =
            Diagnostic::error("timed-missing", "the specification has clocks, but `timed` is missing")
                .at(named(), "a timed model")
                .help("add `timed: { silence_after: 5 }`: coreach then judges silence of 5 time units");
        found.push(diagnostic);
    }
    if configuration.judging == Judging::Online {
        found.push(
            Diagnostic::error("timed-online", "`judge: online` does not support clocks")
                .at(named(), "a timed model")
                .help("leave `judge: online` out; `coreach timed verdict` judges recorded traces"),
        );
    }
    if configuration.conformance == Conformance::Ioco {
        found.push(
            Diagnostic::error("timed-ioco", "`conformance: ioco` has no meaning for a timed model")
                .at(named(), "a timed model")
                .help("leave `conformance` out: a timed test case blames silence where the specification must answer"),
        );
    }
    let form = delayed(&timed.timed);
    if let Err(transitions) = &form {
        found.extend(transitions.iter().map(|number| report_internal_time(timed.timed.graph(), *number)));
    }
    match (form, &configuration.timed) {
        (Ok(form), Some(setting)) if found.is_empty() => {
            let uncontrollable = timed.timed.uncontrollable().map(|(_, action)| action.name.clone());
            let timing = LatenessTiming {
                delay: form.delay.clone(),
                clocks: form.clocks.clone(),
                uncontrollable: uncontrollable.collect(),
                silence_after: Term::literal(setting.silence_after.clone()),
            };
            let specification = Specification {
                iosts: form.iosts.clone(),
                types: timed.types.clone(),
                functions: timed.functions.clone(),
            };
            Ok(StageInput { specification, timed: Some((timed, timing)), form: Some(form) })
        }
        _ => Err(found),
    }
}

impl StageInput {
    /// Reads a purpose or a property of this specification. If it is timed, gives the delayed form.
    pub(crate) fn read_purpose(&self, file: Arc<SourceFile>, aim: Aim) -> Reading<TestPurpose> {
        match (&self.timed, &self.form) {
            (Some((timed, _)), Some(form)) => {
                let (purpose, found) = read_timed_aimed(file, timed, aim)?;
                Ok((form.purpose(&purpose), found))
            }
            _ => read_aimed(file, &self.specification, aim),
        }
    }
}

pub(crate) fn report_internal_time(graph: &Iosts, number: TransitionId) -> Diagnostic {
    let transition = &graph.transitions[number];
    let message = format!("{} takes time that a tester cannot see", graph.describe(transition));
    Diagnostic::error("internal-time", message)
        .at(transition.origin.whole.clone(), "an internal action with a clock")
        .help("let it mention and reset no clock, or make it an output. Only `coreach timed verdict` and `timed inputs` support it as it is")
}
