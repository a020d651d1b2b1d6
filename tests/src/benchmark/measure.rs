//! The times of all libraries on the same sequences, alternating.
//!
//! A machine is slower now and faster then, so nothing is measured on its own: for each sequence the libraries follow one
//! another, forwards and then backwards (A-B-C-C-B-A), several times, and only medians over these are used. So a slow
//! minute is everyone's.

use std::collections::BTreeMap;

use crate::benchmark::library::Kind;
use crate::benchmark::replay::{Performer, performer};
use crate::benchmark::shapes::Case;
use crate::benchmark::statistics::median;

/// The seconds that all repetitions of one sequence may take together, roughly.
const BUDGET: f64 = 4.0;

/// Longer sequences are not measured step by step: a library may have to work long for a list that nobody asked for.
const BY_STEP: f64 = 1.0;

/// The medians of one sequence.
#[derive(Clone, Default, Debug)]
pub struct Times {
    /// Of the whole sequence, in seconds, by library; those that did not finish are missing.
    pub whole: BTreeMap<Kind, f64>,
    /// Of each step, in seconds, by library; empty where the sequence is too long for it.
    pub by_step: BTreeMap<Kind, Vec<f64>>,
}

/// Measures a case; `seconds` are what the probe saw of those libraries that finished it.
///
/// # Errors
/// What a library says.
pub fn measure(case: &Case, seconds: &[(Kind, f64)], most: usize) -> Result<Times, String> {
    let mut ready: Vec<(Kind, Box<dyn Performer>)> = Vec::new();
    for (kind, _) in seconds {
        ready.push((*kind, performer(*kind, &case.sequence)?));
    }
    let total: f64 = seconds.iter().map(|(_, seconds)| seconds).sum();
    // Two runs each in a repetition.
    let repetitions = ((BUDGET / (2.0 * total)) as usize).clamp(1, most);
    let mut times = Times::default();
    let mut whole: BTreeMap<Kind, Vec<f64>> = BTreeMap::new();
    if total < BUDGET / 4.0 {
        for (_, performer) in &mut ready {
            performer.whole()?;
        }
    }
    for _ in 0..repetitions {
        let mut run = |(kind, performer): &mut (Kind, Box<dyn Performer>)| {
            let time = performer.whole()?.as_secs_f64();
            whole.entry(*kind).or_default().push(time);
            Ok::<_, String>(())
        };
        ready.iter_mut().try_for_each(&mut run)?;
        ready.iter_mut().rev().try_for_each(&mut run)?;
    }
    times.whole = whole.into_iter().map(|(kind, times)| (kind, median(&times))).collect();
    if seconds.iter().all(|(_, seconds)| *seconds < BY_STEP) {
        let mut steps: BTreeMap<Kind, Vec<Vec<f64>>> = BTreeMap::new();
        for _ in 0..repetitions.min(3) {
            let mut run = |(kind, performer): &mut (Kind, Box<dyn Performer>)| {
                let times = performer.by_step()?;
                let all = steps.entry(*kind).or_insert_with(|| vec![Vec::new(); times.len()]);
                all.iter_mut().zip(times).for_each(|(all, time)| all.push(time.as_secs_f64()));
                Ok::<_, String>(())
            };
            ready.iter_mut().try_for_each(&mut run)?;
            ready.iter_mut().rev().try_for_each(&mut run)?;
        }
        let medians = |all: Vec<Vec<f64>>| all.iter().map(|times| median(times)).collect();
        times.by_step = steps.into_iter().map(|(kind, all)| (kind, medians(all))).collect();
    }
    Ok(times)
}
