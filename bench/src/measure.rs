//! The times of all libraries on the same sequences, alternating.
//!
//! A machine is slower now and faster then, so nothing is measured on its own: for each sequence the
//! libraries follow one another, forwards and then backwards (A-B-C-C-B-A), several times, and only medians
//! over these are used. So a slow minute is everyone's.
//!
//! In its turn a library performs a short sequence several times, the first time uncounted: measured is a
//! library at work, as in an analysis, not how long it takes to get caches and branch predictors back from
//! the library before.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::library::LibraryKind;
use crate::replay::{Performer, performer};
use crate::shapes::ShapeCase;
use crate::statistics::median;

/// The seconds that all repetitions of one sequence may take together, roughly.
const BUDGET: f64 = 4.0;

/// The seconds that a turn lasts at least, and the most counted performances in it.
const TURN: (f64, usize) = (2e-3, 64);

/// Longer sequences are not measured step by step: a library may have to work long for a list that nobody
/// asked for.
const BY_STEP: f64 = 1.0;

/// The medians of one sequence.
#[derive(Clone, Default, Debug)]
pub struct MeasuredTimes {
    /// Of the whole sequence, in seconds, by library; those that did not finish are missing.
    pub whole: BTreeMap<LibraryKind, f64>,
    /// The same where each result is asked for its minimal constraints at once; empty where the sequence is
    /// too long for it.
    pub listed: BTreeMap<LibraryKind, f64>,
    /// Of each step, in seconds, by library; empty where the sequence is too long for it.
    pub by_step: BTreeMap<LibraryKind, Vec<f64>>,
}

/// Measures a case; `seconds` are what the probe saw of those libraries that finished it.
///
/// # Errors
/// What a library says.
pub fn measure(
    case: &ShapeCase,
    seconds: &[(LibraryKind, f64)],
    most: usize,
) -> Result<MeasuredTimes, String> {
    let mut ready: Vec<(LibraryKind, Box<dyn Performer>)> = Vec::new();
    for (kind, _) in seconds {
        ready.push((*kind, performer(*kind, &case.sequence)?));
    }
    let total: f64 = seconds.iter().map(|(_, seconds)| seconds).sum();
    // Two runs each in a repetition.
    let repetitions = ((BUDGET / (2.0 * total)) as usize).clamp(1, most);
    let mut times = MeasuredTimes::default();
    let wholes = |ready: &mut Vec<(LibraryKind, Box<dyn Performer>)>, all_listed| {
        let mut all: BTreeMap<LibraryKind, Vec<f64>> = BTreeMap::new();
        alternate(ready, repetitions, |kind, performer| {
            let performed = turn(|| Ok(vec![performer.whole(all_listed)?]))?;
            all.entry(kind).or_default().extend(performed);
            Ok(())
        })?;
        Ok::<_, String>(all.into_iter().map(|(kind, times)| (kind, median(&times))).collect())
    };
    times.whole = wholes(&mut ready, false)?;
    if seconds.iter().all(|(_, seconds)| *seconds < BY_STEP) {
        times.listed = wholes(&mut ready, true)?;
        let mut steps: BTreeMap<LibraryKind, Vec<Vec<f64>>> = BTreeMap::new();
        alternate(&mut ready, repetitions.min(3), |kind, performer| {
            let times = turn(|| performer.by_step())?;
            let all = steps.entry(kind).or_insert_with(|| vec![Vec::new(); times.len()]);
            all.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
            Ok(())
        })?;
        let medians = |all: Vec<Vec<f64>>| all.iter().map(|times| median(times)).collect();
        times.by_step = steps.into_iter().map(|(kind, all)| (kind, medians(all))).collect();
    }
    Ok(times)
}

/// Gives each library its turn, forwards and backwards.
fn alternate(
    ready: &mut [(LibraryKind, Box<dyn Performer>)],
    repetitions: usize,
    mut work: impl FnMut(LibraryKind, &mut dyn Performer) -> Result<(), String>,
) -> Result<(), String> {
    for _ in 0..repetitions {
        for (kind, performer) in ready.iter_mut() {
            work(*kind, performer.as_mut())?;
        }
        for (kind, performer) in ready.iter_mut().rev() {
            work(*kind, performer.as_mut())?;
        }
    }
    Ok(())
}

/// The medians of what is performed again and again in a turn, in seconds.
fn turn(mut perform: impl FnMut() -> Result<Vec<Duration>, String>) -> Result<Vec<f64>, String> {
    let mut seconds =
        || -> Result<Vec<f64>, String> { Ok(perform()?.iter().map(Duration::as_secs_f64).collect()) };
    let first = seconds()?;
    let mut spent: f64 = first.iter().sum();
    let mut all: Vec<Vec<f64>> = Vec::new();
    while spent < TURN.0 && all.len() < TURN.1 {
        let next = seconds()?;
        spent += next.iter().sum::<f64>();
        all.push(next);
    }
    if all.is_empty() {
        return Ok(first);
    }
    let of = |at: usize| median(&all.iter().map(|times| times[at]).collect::<Vec<_>>());
    Ok((0..first.len()).map(of).collect())
}
