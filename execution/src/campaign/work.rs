//! Doing the runs of a plan that a store does not have yet.
//!
//! Some runners take runs from one queue. Each run has a fresh thread, for the reason that `in_order` has too: the solver
//! keeps something of its own in each thread, and a run must not notice what ran before it. Z3 is started only where it
//! is asked, which for most runs is never. A finished run is written by its runner, one after the other.
//!
//! Several processes may do one store at the same time, by mistake or to help each other. Each looks before a run whether
//! it is there already. Two that go through one queue in step would still do each run twice; so who finds that another
//! one was faster goes on half a queue away.
//!
//! **Ends** with the queue, or with the first run that cannot be written: what cannot be kept need not be done.

use std::collections::{HashMap, VecDeque};
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::SystemTime;

use crate::adapter::Adapter;
use crate::campaign::plan::{Plan, Planned};
use crate::campaign::store::{Store, StoreError};
use crate::judge::case::CaseJudge;
use crate::lazy::Lazy;
use crate::record::{Record, record};
use crate::tester::{self, Drive};
use crate::values::{MIX, Values};

/// The stack of a run, in bytes: terms are walked recursively. What is not used costs nothing.
const STACK: usize = 256 << 20;

/// A way to an implementation.
pub enum Link {
    /// For one run.
    Fresh(Box<dyn Adapter>),
    /// For many, one after the other: something behind it is brought up once and kept.
    Kept(Box<dyn Adapter + Send>),
}

/// What can stop the work.
#[derive(Debug)]
pub enum WorkError {
    /// A run cannot be kept.
    Store(StoreError),
    /// The system has no thread for us.
    Thread(std::io::Error),
}

/// What was done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Worked {
    /// Runs that were done and kept.
    pub executed: usize,
    /// Runs that another process finished meanwhile.
    pub found: usize,
}

/// What the runners share.
struct Shared<'a> {
    queue: Mutex<VecDeque<&'a Planned>>,
    store: Mutex<&'a mut Store>,
    worked: Mutex<Worked>,
    stopped: Mutex<Option<WorkError>>,
    /// Kept ways that no run uses now, by implementation.
    kept: Mutex<HashMap<usize, Vec<Box<dyn Adapter + Send>>>>,
}

/// Does these runs, at most `threads` at once. `link` makes the way to a run's implementation, in the thread of the run;
/// `watch` hears of each run that was kept, from any thread.
///
/// # Errors
/// [`WorkError`]: what was kept until then stays.
///
/// # Panics
/// Where a run panics: a bug of ours is a crash.
pub fn work<'p>(
    plan: &Plan,
    runs: impl IntoIterator<Item = &'p Planned>,
    store: &mut Store,
    threads: usize,
    link: &(dyn Fn(&Planned) -> Link + Sync),
    watch: &(dyn Fn(&Planned, &Record) + Sync),
) -> Result<Worked, WorkError> {
    let shared = Shared {
        queue: Mutex::new(runs.into_iter().collect()),
        store: Mutex::new(store),
        worked: Mutex::default(),
        stopped: Mutex::default(),
        kept: Mutex::default(),
    };
    let runners = threads.clamp(1, lock(&shared.queue).len().max(1));
    let runner = || {
        while let Some(run) = next(&shared) {
            if let Err(error) = one(plan, run, &shared, link, watch) {
                lock(&shared.stopped).get_or_insert(error);
            }
        }
    };
    thread::scope(|scope| {
        // Fewer threads than were wanted are slower, and nothing else.
        let more: Vec<_> = (1..runners).map(|_| thread::Builder::new().spawn_scoped(scope, runner)).collect();
        runner();
        for handle in more.into_iter().flatten() {
            if let Err(panic) = handle.join() {
                resume_unwind(panic);
            }
        }
    });
    let stopped = shared.stopped.into_inner().unwrap_or_else(PoisonError::into_inner);
    let worked = shared.worked.into_inner().unwrap_or_else(PoisonError::into_inner);
    stopped.map_or(Ok(worked), Err)
}

/// The next run, unless the work has stopped.
fn next<'a>(shared: &Shared<'a>) -> Option<&'a Planned> {
    if lock(&shared.stopped).is_some() {
        return None;
    }
    lock(&shared.queue).pop_front()
}

fn one(
    plan: &Plan,
    run: &Planned,
    shared: &Shared<'_>,
    link: &(dyn Fn(&Planned) -> Link + Sync),
    watch: &(dyn Fn(&Planned, &Record) + Sync),
) -> Result<(), WorkError> {
    if lock(&shared.store).has(&run.key).map_err(WorkError::Store)? {
        lock(&shared.worked).found += 1;
        return Ok(());
    }
    let started = SystemTime::now();
    let done = thread::scope(|scope| {
        let execute = || with_link(shared, run, link, |adapter| execute(plan, run, adapter));
        let handle = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, execute)?;
        Ok(handle.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let done: Record = done.map_err(WorkError::Thread)?;
    if lock(&shared.store).add(plan, run, &done, started).map_err(WorkError::Store)? {
        lock(&shared.worked).executed += 1;
        watch(run, &done);
    } else {
        lock(&shared.worked).found += 1;
        let mut queue = lock(&shared.queue);
        let half = queue.len() / 2;
        queue.rotate_left(half);
    }
    Ok(())
}

/// Uses a way to the run's implementation: one that was kept, or a new one.
fn with_link<R>(
    shared: &Shared<'_>,
    run: &Planned,
    link: &(dyn Fn(&Planned) -> Link + Sync),
    work: impl FnOnce(&mut dyn Adapter) -> R,
) -> R {
    let kept = lock(&shared.kept).get_mut(&run.iut).and_then(Vec::pop);
    match kept.map_or_else(|| link(run), Link::Kept) {
        Link::Fresh(mut adapter) => work(adapter.as_mut()),
        Link::Kept(mut adapter) => {
            let result = work(adapter.as_mut());
            lock(&shared.kept).entry(run.iut).or_default().push(adapter);
            result
        }
    }
}

/// Does one run of a plan, in this thread.
pub fn execute(plan: &Plan, run: &Planned, adapter: &mut dyn Adapter) -> Record {
    let test = &plan.tests[run.test].case;
    let initial = &plan.instances[run.test][run.instance].state;
    let mut judge = CaseJudge::new(test, initial.clone());
    let done = tester::run(Drive {
        judge: &mut judge,
        seed: run.seed,
        settings: &plan.settings.limits,
        adapter,
        strategy: &mut plan.settings.strategy.start(),
        values: &mut Values::new(MIX),
        solver: &mut Lazy::default(),
    });
    record(&mut judge, &done)
}

/// A panic elsewhere is told there.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
