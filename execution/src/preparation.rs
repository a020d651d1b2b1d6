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
use crate::record::{Record, record};
use crate::run::Run;
use crate::session::{TestSession, retrying};
use crate::settings::Settings;
use crate::strategy::Strategy;
use crate::test_case::TestCase;

/// The size of a thread's stack. It is large, since terms are walked recursively. Unused parts cost nothing.
const STACK: usize = 256 << 20;

/// Does this in a fresh thread, and waits for it. The solver keeps something of its own in each thread, and
/// neither a run nor a piece of an analysis may notice what ran before it.
///
/// # Panics
/// Where the work panics: a bug of ours is a crash.
pub fn run_alone<R: Send>(work: impl FnOnce() -> R + Send) -> io::Result<R> {
    thread::scope(|scope| {
        let handle = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        Ok(handle.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// What all runs of a test case against an implementation share.
pub struct Preparation<'a> {
    pub test: &'a TestCase,
    pub iut: &'a Iut,
    /// The ways to it that outlive runs, and its number there.
    pub links: (&'a Links, usize),
    /// Limits and waiting, with what the file says of these.
    pub settings: Settings,
    /// Makes a strategy that remembers nothing.
    pub strategy: &'a (dyn Fn() -> Strategy<'static> + Sync),
    /// So often a run is done again that ends without a verdict.
    pub retries: usize,
}

impl Preparation<'_> {
    /// Does one run from this state, which the constants are a part of.
    ///
    /// # Panics
    /// Where the run panics: a bug of ours is a crash.
    pub fn run(&self, initial: &State, seed: u64) -> io::Result<(Run, Record)> {
        let (links, number) = self.links;
        run_alone(|| {
            links.with(number, self.iut, |adapter| {
                let mut judge = judge::against(self.test, initial.clone(), self.iut, &self.settings);
                let mut session = TestSession { judge: judge.as_mut(), settings: &self.settings, adapter };
                let run = retrying(self.retries, || session.run(seed, (self.strategy)()));
                let written = record(judge.as_mut(), &run);
                (run, written)
            })
        })
    }
}
