//! Independent pieces of work. A command answers with the finished ones even if the process ends inside
//! another.
//!
//! **Problem.** A piece that does not ask its budget is ended with the process ([`certain_end`]). What the
//! other pieces have found must not be lost.
//!
//! **Method.** The result of a piece is kept as soon as there is one. At an early end the command makes its
//! answer of what is kept.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use coreach_model::Diagnostic;
use coreach_model::lock::lock;
use coreach_project::{jobs, render};
use serde_json::Value;

use crate::answer::EarlyExit;
use crate::certain_end;

/// Does each piece and returns the results in the order of the pieces. If the end comes early, `partial`
/// makes the answer. It gets what is finished, the exit code, and the reason of the end.
pub fn do_pieces<J: Sync, R: Clone + Send + 'static>(
    pieces: &[J],
    threads: Option<NonZeroUsize>,
    work: impl Fn(&J) -> R + Sync,
    partial: impl Fn(&[Option<R>], u8, &Diagnostic) -> String + Send + 'static,
) -> Result<Vec<R>, EarlyExit> {
    let kept = Arc::new(Mutex::new(vec![None; pieces.len()]));
    let so_far = kept.clone();
    certain_end::tell_at_end(move |code, why| partial(&lock(&so_far), code, why));
    let places: Vec<usize> = (0..pieces.len()).collect();
    let work = |place: &usize| {
        let result = work(&pieces[*place]);
        lock(&kept)[*place] = Some(result.clone());
        result
    };
    jobs::in_order(&places, jobs::threads(threads), work).map_err(EarlyExit::no_thread)
}

/// Returns a finding as the reason that a document names.
pub fn to_reason(why: &Diagnostic) -> Option<Value> {
    render::to_json(std::slice::from_ref(why)).as_array()?.first().cloned()
}
