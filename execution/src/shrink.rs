//! A shorter run with the same verdict, found by running again.
//!
//! **Problem.** A fault that was met after forty events is understood after four. Nothing can be computed from the trace
//! alone: only the implementation knows what it does after a shorter one.
//!
//! **Method**, each candidate being executed:
//!
//! 1. *Search.* Runs with other seeds, each limited to fewer events than the best: a long trace is rarely the only way to
//!    a fault, and its parts need not be runs of the test case at all.
//! 2. *Cut.* Delta debugging over the stimuli (Zeller and Hildebrandt, TSE 2002): leave out halves, quarters, ..., single
//!    ones. What is observed in between is observed anew. A candidate whose next stimulus the judge does not allow
//!    is no run of it, and is passed over.
//!
//! Both are repeated until neither helps. An implementation that is not deterministic may fail now and pass then: where
//! the given run does not fail again three times, a candidate of the second kind gets three chances. What is returned
//! has really happened.
//!
//! **Ends** when the budget of runs is used, or nothing is left to try: each success is strictly shorter.

use coreach_analyses::solver::Solver;

use crate::adapter::Adapter;
use crate::judge::Judge;
use crate::replay::{Cue, perform};
use crate::run::{Occurrence, Outcome, Run, Step, events};
use crate::strategy::Strategy;
use crate::tester::{self, Drive, Settings};
use crate::values::{MIX, Values};

/// How often the given run is repeated to see whether it always fails.
const CHANCES: usize = 3;

/// What shrinking did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shrunk {
    /// The shortest run with this verdict that was seen; the given one where none was shorter.
    pub run: Run,
    /// How many runs were made.
    pub runs: usize,
}

/// What runs are made with.
pub struct Shrink<'a> {
    /// Judges each of them.
    pub judge: &'a mut dyn Judge,
    /// The most runs.
    pub budget: usize,
    /// How they are driven.
    pub settings: &'a Settings,
    /// The way to the implementation.
    pub adapter: &'a mut dyn Adapter,
    /// For values that cannot be drawn.
    pub solver: &'a mut dyn Solver,
    /// Hears of each run that is shorter than the ones before.
    pub seen: &'a mut dyn FnMut(&Run),
}

/// Looks for a shorter run with the verdict of the given one.
pub fn shrink(given: &Run, with: Shrink<'_>) -> Shrunk {
    let shrunk = Shrunk { run: given.clone(), runs: 0 };
    let mut search = Search { with, given: &given.outcome, shrunk };
    let all = stimuli(given);
    let mut again = 0;
    for _ in 0..CHANCES.min(search.with.budget) {
        let run = search.perform(given.seed, &all);
        again += usize::from(is_same(&run.outcome, &given.outcome));
    }
    let chances = if again == CHANCES { 1 } else { CHANCES };
    loop {
        let before = events(&search.shrunk.run.trace);
        search.other_seeds();
        search.cut(chances);
        if events(&search.shrunk.run.trace) == before || search.is_over() {
            return search.shrunk;
        }
    }
}

/// The same verdict, by the same kind of cause.
fn is_same(one: &Outcome, other: &Outcome) -> bool {
    match (one, other) {
        (Outcome::Verdict(a, cause_a), Outcome::Verdict(b, cause_b)) => {
            a == b && std::mem::discriminant(cause_a) == std::mem::discriminant(cause_b)
        }
        (Outcome::RunError(a), Outcome::RunError(b)) => a.name() == b.name(),
        _ => false,
    }
}

fn stimuli(run: &Run) -> Vec<Cue> {
    let sent = |step: &Step| match &step.what {
        Occurrence::Stimulus(event) => Some(Cue::Send(event.clone())),
        _ => None,
    };
    run.trace.iter().filter_map(sent).collect()
}

struct Search<'a, 'b> {
    with: Shrink<'a>,
    given: &'b Outcome,
    shrunk: Shrunk,
}

impl Search<'_, '_> {
    fn is_over(&self) -> bool {
        self.shrunk.runs >= self.with.budget
    }

    fn perform(&mut self, seed: u64, script: &[Cue]) -> Run {
        self.shrunk.runs += 1;
        perform(self.with.judge, seed, script, self.with.settings, self.with.adapter)
    }

    /// Keeps a run that ends as the given one and is shorter than the best. Was it one?
    fn keeps(&mut self, run: Run) -> bool {
        let best = &self.shrunk.run;
        if !is_same(&run.outcome, self.given) || events(&run.trace) >= events(&best.trace) {
            return false;
        }
        (self.with.seen)(&run);
        self.shrunk.run = run;
        true
    }

    fn cut(&mut self, chances: usize) {
        let mut size = stimuli(&self.shrunk.run).len().div_ceil(2);
        while size > 0 {
            let (mut start, mut found) = (0, false);
            loop {
                let all = stimuli(&self.shrunk.run);
                if start >= all.len() {
                    break;
                }
                let left = all.iter().enumerate().filter(|(at, _)| !(start..start + size).contains(at));
                let script: Vec<Cue> = left.map(|(_, cue)| cue.clone()).collect();
                let mut better = false;
                for _ in 0..chances {
                    if self.is_over() {
                        return;
                    }
                    let run = self.perform(self.shrunk.run.seed, &script);
                    if self.keeps(run) {
                        better = true;
                        break;
                    }
                }
                found |= better;
                if !better {
                    start += size;
                }
            }
            // Smaller pieces; single ones again as long as one of them could go.
            size = if size == 1 && found { 1 } else { size / 2 };
        }
    }

    fn other_seeds(&mut self) {
        /// Other seeds in a row without success.
        const TRIES: u64 = 25;
        let mut values = Values::new(MIX);
        let mut tries = 0;
        while tries < TRIES && !self.is_over() && events(&self.shrunk.run.trace) > 1 {
            tries += 1;
            self.shrunk.runs += 1;
            let steps = events(&self.shrunk.run.trace) - 1;
            let run = tester::run(Drive {
                judge: self.with.judge,
                seed: self.shrunk.run.seed.wrapping_add(tries.wrapping_mul(0x9e37_79b9)),
                settings: &Settings { steps, ..self.with.settings.clone() },
                adapter: self.with.adapter,
                strategy: &mut Strategy::random(),
                values: &mut values,
                solver: self.with.solver,
            });
            if self.keeps(run) {
                tries = 0;
            }
        }
    }
}
