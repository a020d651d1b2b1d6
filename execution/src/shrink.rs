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
//!    ones. What is observed in between is observed anew. A candidate whose next stimulus the test case does not allow
//!    is no run of it, and is passed over.
//!
//! Both are repeated until neither helps. An implementation that is not deterministic may fail now and pass then: where
//! the given run does not fail again three times, a candidate of the second kind gets three chances. What is returned
//! has really happened.
//!
//! **Ends** when the budget of runs is used, or nothing is left to try: each success is strictly shorter.

use coreach_analyses::solver::Solver;
use coreach_model::semantics::State;

use crate::adapter::Adapter;
use crate::replay::{Cue, perform};
use crate::run::{Direction, Outcome, Run};
use crate::strategy::Strategy;
use crate::test_case::TestCase;
use crate::tester::{self, Settings};
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

/// Looks for a shorter run with the verdict of the given one; at most `budget` runs are made.
#[expect(clippy::too_many_arguments, reason = "what a run takes, and what it is to become")]
pub fn shrink(
    test: &TestCase,
    initial: &State,
    given: &Run,
    budget: usize,
    settings: &Settings,
    adapter: &mut dyn Adapter,
    solver: &mut dyn Solver,
    seen: &mut dyn FnMut(&Run),
) -> Shrunk {
    let mut shrunk = Shrunk { run: given.clone(), runs: 0 };
    let same =
        |run: &Run, best: &Run| is_same(&run.outcome, &given.outcome) && run.trace.len() < best.trace.len();
    let all = stimuli(given);
    let again = (0..CHANCES.min(budget)).filter(|_| {
        shrunk.runs += 1;
        let run = perform(test, initial.clone(), given.seed, &all, settings, adapter);
        is_same(&run.outcome, &given.outcome)
    });
    let chances = if again.count() == CHANCES { 1 } else { CHANCES };
    loop {
        let before = shrunk.run.trace.len();
        search(test, initial, budget, settings, adapter, solver, &mut shrunk, &same, seen);
        cut(test, initial, budget, chances, settings, adapter, &mut shrunk, &same, seen);
        if shrunk.run.trace.len() == before || shrunk.runs >= budget {
            return shrunk;
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

#[expect(clippy::too_many_arguments, reason = "as of `shrink`")]
fn cut(
    test: &TestCase,
    initial: &State,
    budget: usize,
    chances: usize,
    settings: &Settings,
    adapter: &mut dyn Adapter,
    shrunk: &mut Shrunk,
    same: &dyn Fn(&Run, &Run) -> bool,
    seen: &mut dyn FnMut(&Run),
) {
    let mut size = stimuli(&shrunk.run).len().div_ceil(2);
    while size > 0 {
        let (mut start, mut found) = (0, false);
        loop {
            let all = stimuli(&shrunk.run);
            if start >= all.len() {
                break;
            }
            let left = all.iter().enumerate().filter(|(at, _)| !(start..start + size).contains(at));
            let script: Vec<Cue> = left.map(|(_, cue)| cue.clone()).collect();
            let mut better = false;
            for _ in 0..chances {
                if shrunk.runs >= budget {
                    return;
                }
                shrunk.runs += 1;
                let run = perform(test, initial.clone(), shrunk.run.seed, &script, settings, adapter);
                if same(&run, &shrunk.run) {
                    seen(&run);
                    shrunk.run = run;
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

fn stimuli(run: &Run) -> Vec<Cue> {
    let sent = run.trace.iter().filter(|step| step.direction == Direction::Stimulus);
    sent.map(|step| Cue::Send(step.event.clone())).collect()
}

#[expect(clippy::too_many_arguments, reason = "as of `shrink`")]
fn search(
    test: &TestCase,
    initial: &State,
    budget: usize,
    settings: &Settings,
    adapter: &mut dyn Adapter,
    solver: &mut dyn Solver,
    shrunk: &mut Shrunk,
    same: &dyn Fn(&Run, &Run) -> bool,
    seen: &mut dyn FnMut(&Run),
) {
    /// Other seeds in a row without success.
    const TRIES: u64 = 25;
    let mut values = Values::new(MIX);
    let mut tries = 0;
    while tries < TRIES && shrunk.runs < budget && shrunk.run.trace.len() > 1 {
        tries += 1;
        shrunk.runs += 1;
        let limited = Settings { steps: shrunk.run.trace.len() - 1, ..settings.clone() };
        let seed = shrunk.run.seed.wrapping_add(tries.wrapping_mul(0x9e37_79b9));
        let mut strategy = Strategy::random();
        let run =
            tester::run(test, initial.clone(), seed, &limited, adapter, &mut strategy, &mut values, solver);
        if same(&run, &shrunk.run) {
            seen(&run);
            shrunk.run = run;
            tries = 0;
        }
    }
}
