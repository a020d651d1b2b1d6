//! A context: a place where the system may be, on the path or off it, with its data.
//!
//! The data of a context are [`coreach_analyses::symbolic::followed`]'s.

use std::collections::{BTreeMap, BTreeSet};

use coreach_analyses::solver::Solver;
use coreach_analyses::symbolic::gathered::gather_states;
use coreach_analyses::symbolic::inclusion::data_of;
use coreach_analyses::symbolic::{Holds, SymbolicState};
use coreach_model::Value;
use coreach_model::iosts::TransitionId;

use crate::offline::prepared::Offline;
use crate::offline::verdict::CannotJudge;

/// The most parts of a term for an unknown datum, or of a condition on such data.
pub const MOST_PARTS: u64 = 10_000;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PathPosition {
    /// The first so many transitions of the path have been taken, and no others.
    On(usize),
    Off,
}

impl PathPosition {
    /// Counts the transitions of the path that were taken. `None` off the path.
    pub(super) fn steps_on_path(self) -> Option<usize> {
        if let PathPosition::On(steps) = self { Some(steps) } else { None }
    }

    pub(super) fn after(self, number: TransitionId, path: &[TransitionId]) -> PathPosition {
        match self {
            PathPosition::On(steps) if path.get(steps) == Some(&number) => PathPosition::On(steps + 1),
            _ => PathPosition::Off,
        }
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Context {
    pub place: PathPosition,
    pub state: SymbolicState,
    /// Is it possible at all instants of the events within the tolerance of the recorded ones?
    pub is_certain: bool,
}

impl Context {
    /// Returns the context after a transition that leaves its location, with these values for the parameters
    /// of its action. `None`: the transition cannot be taken.
    pub fn after(
        &self,
        offline: &Offline<'_>,
        number: TransitionId,
        values: &[Value],
        solver: &mut dyn Solver,
    ) -> Option<Context> {
        let system = &offline.system;
        let state = self.state.after(system, number, values, solver)?;
        let always = || self.state.meaning(system.enabled(number), &self.state.known) == Holds::Always;
        let is_certain = self.is_certain && (offline.is_exact() || always());
        Some(Context { place: self.place.after(number, offline.path()), state, is_certain })
    }
}

/// Adds the contexts after internal steps. Each context is in the result once, in a fixed order.
pub(super) fn close_under_internal(
    offline: &Offline<'_>,
    contexts: Vec<Context>,
    line: usize,
    solver: &mut dyn Solver,
) -> Result<Vec<Context>, CannotJudge> {
    if let [single] = contexts.as_slice()
        && offline.internal[single.state.location].is_empty()
    {
        return Ok(contexts);
    }
    let mut reached: BTreeSet<Context> = BTreeSet::new();
    let mut unvisited = contexts;
    while let Some(context) = unvisited.pop() {
        if reached.contains(&context) {
            continue;
        }
        for number in &offline.internal[context.state.location] {
            unvisited.extend(context.after(offline, *number, &[], solver));
        }
        reached.insert(context);
        if reached.len() > offline.most {
            return Err(CannotJudge::Contexts { line, most: offline.most });
        }
    }
    Ok(merge_contexts(offline, reached, solver))
}

/// Joins contexts with the same data. If more than a few are left, gathers those of each place as well.
fn merge_contexts(
    offline: &Offline<'_>,
    contexts: BTreeSet<Context>,
    solver: &mut dyn Solver,
) -> Vec<Context> {
    let mut kept: Vec<Context> = Vec::new();
    for context in contexts {
        // The order puts contexts of one place and one valuation side by side.
        match kept.last_mut() {
            Some(previous)
                if previous.place == context.place && previous.state.has_same_data(&context.state) =>
            {
                previous.state = previous.state.clone().joined(&context.state, solver);
                previous.is_certain |= context.is_certain;
            }
            _ => kept.push(context),
        }
    }
    if kept.len() <= offline.few {
        return kept;
    }
    let data = data_of(&offline.form.iosts);
    let mut states_by_place: BTreeMap<(PathPosition, bool), Vec<SymbolicState>> = BTreeMap::new();
    for Context { place, state, is_certain } in kept {
        states_by_place.entry((place, is_certain)).or_default().push(state);
    }
    let gather_place = |((place, is_certain), states)| {
        let states = gather_states(&data, states).into_iter();
        states.map(move |state| Context { place, state, is_certain })
    };
    states_by_place.into_iter().flat_map(gather_place).collect()
}
