//! Prepares runs of a test case against an implementation. `coreach test` and campaigns do it here, so that a
//! seed means the same to both.
//!
//! Each run has a thread, a judge and a strategy of its own. It has its own way to the implementation, too,
//! unless something behind that outlives runs.

use std::panic::resume_unwind;
use std::{io, thread};

use coreach_adapters::Iut;
use coreach_model::semantics::State;

use crate::judge;
use crate::open::Links;
use crate::record::{Record, make_record};
use crate::run::Run;
use crate::session::{TestSession, run_with_retries};
use crate::settings::Settings;
use crate::strategy::Strategy;
use crate::test_case::TestCase;

/// Does the work in a fresh thread, and waits for it. The solver keeps state in each thread, and no run or
/// piece of an analysis may notice what ran before it.
///
/// # Panics
/// If the work panics: a bug of ours is a crash.
pub fn run_alone<R: Send>(work: impl FnOnce() -> R + Send) -> io::Result<R> {
    thread::scope(|scope| {
        // The stack is large, since terms are walked recursively. Unused parts cost nothing.
        let handle = thread::Builder::new().stack_size(256 << 20).spawn_scoped(scope, work)?;
        Ok(handle.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// The common part of all runs of a test case against an implementation.
pub struct Preparation<'a> {
    pub test: &'a TestCase,
    pub iut: &'a Iut,
    /// The adapters that outlive runs, and the number of this implementation there.
    pub links: (&'a Links, usize),
    /// Limits and waits, with those of the implementation's file.
    pub settings: Settings,
    /// Makes a strategy that remembers nothing.
    pub strategy: &'a (dyn Fn() -> Strategy<'static> + Sync),
    /// A run that ends without a verdict is repeated at most so many times.
    pub retries: usize,
}

impl Preparation<'_> {
    /// Does one run from this state, which contains the constants.
    ///
    /// # Panics
    /// If the run panics: a bug of ours is a crash.
    pub fn run(&self, initial: &State, seed: u64) -> io::Result<(Run, Record)> {
        let (links, number) = self.links;
        run_alone(|| {
            links.with(number, self.iut, |adapter| {
                let mut judge =
                    judge::make_judge_for_iut(self.test, initial.clone(), self.iut, &self.settings);
                let mut session = TestSession { judge: judge.as_mut(), settings: &self.settings, adapter };
                let run = run_with_retries(self.retries, || session.run(seed, (self.strategy)()));
                let written = make_record(judge.as_mut(), &run);
                (run, written)
            })
        })
    }
}
