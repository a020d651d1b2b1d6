//! Asks Spacer, Z3's fixed-point engine, about a script.
//!
//! **Settings.** Global guidance is on: without it, loops over two counters diverge. Slicing is off: it drops
//! arguments of predicates, and with them values of a run and parts of an invariant. Inlining and the check
//! for subsumed rules are off for the same reason: a predicate that they remove has no definition in the
//! answer, and its states are missing in a proof. Proof generation stays off, because the proof of a
//! derivation is available without it.

use z3::{Fixedpoint, FuncDecl, Params, SatResult, Sort};

use crate::solver::horn::{HornEngine, HornReply, REACHED};

#[derive(Clone, Copy, Debug)]
pub struct InThisProcess {
    /// Z3's resource units per question.
    pub rlimit: u32,
}

impl HornEngine for InThisProcess {
    fn solve(&mut self, script: &str) -> HornReply {
        solve_script(script, REACHED, self.rlimit)
    }
}

/// Asks whether the rules of the script derive the predicate, which has no arguments.
fn solve_script(script: &str, predicate: &str, rlimit: u32) -> HornReply {
    super::leave_signals_alone();
    let engine = Fixedpoint::new();
    let mut parameters = Params::new();
    parameters.set_symbol("engine", "spacer");
    parameters.set_bool("spacer.global", true);
    for transformation in ["slice", "inline_linear", "inline_eager", "subsumption_checker"] {
        parameters.set_bool(format!("xform.{transformation}"), false);
    }
    if rlimit > 0 {
        parameters.set_u32("rlimit", rlimit);
    }
    engine.set_params(&parameters);
    if let Err(why) = engine.from_string(script) {
        return HornReply::Unknown(why);
    }
    let predicate = FuncDecl::new(predicate, &[], &Sort::bool());
    let answer = || engine.get_answer().map(|answer| answer.to_string());
    match engine.query_relations(&[&predicate]) {
        SatResult::Sat => answer().map(HornReply::Derivable),
        SatResult::Unsat => answer().map(HornReply::Underivable),
        SatResult::Unknown => Some(HornReply::Unknown(engine.get_reason_unknown())),
    }
    .unwrap_or_else(|| HornReply::Unknown("it says nothing more".to_owned()))
}
