//! Does the runs of a plan that a store does not have yet.
//!
//! Some runners take runs from one queue, and do each as [`crate::preparation`] describes. Finished runs go
//! to one thread that writes them, those of a moment (`GROUP`) together: a wait for the disk takes longer
//! than most simulated runs. A run counts when it is on the disk. So a kill of the process loses no run that
//! was counted, and of the others at most those of that moment.
//!
//! If nobody here starts a system, runs share it, and it is used by one run at a time: two runs would reset
//! it for each other. A runner that finds only such runs waits.
//!
//! Several processes may work on one store at the same time, by mistake or to help each other. Each checks
//! before a run whether the store has it already. Two that go through one queue in step would still do each
//! run twice. So a process that finds that another one was faster goes on half a queue away.
//!
//! **Ends** with the queue, after the first Fail if that is wanted, or with the first run that cannot be
//! written, since runs that cannot be kept need not be done.

use std::collections::{BTreeSet, VecDeque};
use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use coreach_adapters::Iut;
use coreach_model::Verdict;
use coreach_model::lock::lock;

use crate::campaign::plan::{CampaignPlan, PlannedRun};
use crate::campaign::store::{Finished, Store, StoreError};
use crate::open::Links;
use crate::outcome::OutcomeKind;
use crate::preparation::Preparation;
use crate::record::Record;

/// Runs that finish within this time are written together.
const GROUP: Duration = Duration::from_millis(20);

/// At most so many runs are written together, and at most so many more wait to be written.
const MOST_GROUPED: usize = 256;

#[derive(Debug)]
pub enum WorkError {
    Store(StoreError),
    Thread(std::io::Error),
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Worked {
    pub executed: usize,
    /// Runs that another process finished meanwhile.
    pub found: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunEffort {
    /// The most runs at once.
    pub threads: usize,
    /// A run that ends without a verdict is repeated at most so many times.
    pub retries: usize,
    /// Does no run begin after a Fail?
    pub fail_fast: bool,
}

/// Finds for a run its implementation, and the system that it shares.
#[derive(Clone, Copy)]
pub struct Ways<'a> {
    pub iut: &'a (dyn Fn(&PlannedRun) -> &'a Iut + Sync),
    /// The number of the system that a run shares with others, if it does.
    pub system: &'a (dyn Fn(&PlannedRun) -> Option<usize> + Sync),
}

struct Queue<'a> {
    runs: VecDeque<&'a PlannedRun>,
    busy: BTreeSet<usize>,
}

struct SharedQueue<'a, 'p> {
    queue: Mutex<Queue<'p>>,
    /// A system is free again, or the work has stopped.
    freed: Condvar,
    store: Mutex<&'a mut Store>,
    worked: Mutex<Worked>,
    stopped: Mutex<Option<WorkError>>,
    effort: RunEffort,
    links: Links,
}

/// Does these runs. `watch` is called for each run that was kept, from any thread.
///
/// # Errors
/// [`WorkError`]. Runs that were kept until then stay.
/// Panics if a run panics: a bug of ours is a crash.
pub fn do_runs<'p>(
    plan: &CampaignPlan,
    runs: impl IntoIterator<Item = &'p PlannedRun>,
    store: &mut Store,
    effort: RunEffort,
    ways: Ways<'_>,
    watch: &(dyn Fn(&PlannedRun, &Record) + Sync),
) -> Result<Worked, WorkError> {
    let shared = SharedQueue {
        queue: Mutex::new(Queue { runs: runs.into_iter().collect(), busy: BTreeSet::new() }),
        freed: Condvar::new(),
        store: Mutex::new(store),
        worked: Mutex::default(),
        stopped: Mutex::default(),
        links: Links::default(),
        effort,
    };
    let runners = effort.threads.clamp(1, lock(&shared.queue).runs.len().max(1));
    let do_all = |finished: SyncSender<Finished<'p>>| {
        while let Some((run, guard)) = take_next_run(&shared, ways) {
            if let Err(error) = do_run(plan, run, &shared, ways, &finished) {
                lock(&shared.stopped).get_or_insert(error);
            }
            drop(guard);
        }
    };
    thread::scope(|scope| {
        let (sender, finished) = mpsc::sync_channel(MOST_GROUPED);
        let all = &shared;
        let writer =
            thread::Builder::new().spawn_scoped(scope, move || write_finished(plan, &finished, all, watch));
        let writer = match writer {
            Ok(writer) => writer,
            Err(error) => {
                lock(&shared.stopped).get_or_insert(WorkError::Thread(error));
                return;
            }
        };
        // With fewer threads than wanted, it is only slower.
        let start_runner = |sender: SyncSender<Finished<'p>>| {
            let do_all = &do_all;
            thread::Builder::new().spawn_scoped(scope, move || do_all(sender))
        };
        let other_runners: Vec<_> = (1..runners).map(|_| start_runner(sender.clone())).collect();
        // This thread is a runner, too.
        do_all(sender);
        for handle in other_runners.into_iter().flatten().chain([writer]) {
            if let Err(panic) = handle.join() {
                resume_unwind(panic);
            }
        }
    });
    let stopped = shared.stopped.into_inner().unwrap_or_else(PoisonError::into_inner);
    let worked = shared.worked.into_inner().unwrap_or_else(PoisonError::into_inner);
    stopped.map_or(Ok(worked), Err)
}

/// A guard that frees the system of a run when it is dropped, also by a panic.
struct BusySystemGuard<'a, 'p, 'b>(&'b SharedQueue<'a, 'p>, Option<usize>);

impl Drop for BusySystemGuard<'_, '_, '_> {
    fn drop(&mut self) {
        if let Some(system) = &self.1 {
            lock(&self.0.queue).busy.remove(system);
        }
        self.0.freed.notify_all();
    }
}

/// Takes the next run whose system is free, with a guard that keeps the system busy. `None`: no run is left,
/// or the work has stopped.
fn take_next_run<'a, 'p, 'b>(
    shared: &'b SharedQueue<'a, 'p>,
    ways: Ways<'_>,
) -> Option<(&'p PlannedRun, BusySystemGuard<'a, 'p, 'b>)> {
    let mut queue = lock(&shared.queue);
    loop {
        if lock(&shared.stopped).is_some() {
            return None;
        }
        let is_free =
            |run: &&PlannedRun| (ways.system)(run).is_none_or(|system| !queue.busy.contains(&system));
        match queue.runs.iter().position(is_free) {
            Some(at) => {
                let run = queue.runs.remove(at)?;
                let system = (ways.system)(run);
                queue.busy.extend(system);
                return Some((run, BusySystemGuard(shared, system)));
            }
            None if queue.runs.is_empty() => return None,
            // Their systems are in use. Wait until one is free.
            None => queue = shared.freed.wait(queue).unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// Writes finished runs, those of a moment together, until no runner is left.
fn write_finished(
    plan: &CampaignPlan,
    finished: &Receiver<Finished<'_>>,
    shared: &SharedQueue<'_, '_>,
    watch: &(dyn Fn(&PlannedRun, &Record) + Sync),
) {
    while let Ok(first) = finished.recv() {
        let until = Instant::now() + GROUP;
        let mut group = vec![first];
        while group.len() < MOST_GROUPED
            && let Ok(next) = finished.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            group.push(next);
        }
        let added = lock(&shared.store).add_all(plan, &group);
        match added {
            Ok(added) => {
                group.iter().zip(added).for_each(|(done, is_new)| count_finished(shared, done, is_new, watch))
            }
            // Later runs cannot be kept either. They are still received, so that no runner waits.
            Err(error) => {
                lock(&shared.stopped).get_or_insert(WorkError::Store(error));
            }
        }
    }
}

/// Counts a run that was written. If another process had done it already, moves half a queue away.
fn count_finished(
    shared: &SharedQueue<'_, '_>,
    done: &Finished<'_>,
    is_new: bool,
    watch: &(dyn Fn(&PlannedRun, &Record) + Sync),
) {
    if is_new {
        lock(&shared.worked).executed += 1;
        watch(done.run, &done.record);
    } else {
        lock(&shared.worked).found += 1;
        let queue = &mut lock(&shared.queue).runs;
        let half = queue.len() / 2;
        queue.rotate_left(half);
    }
}

/// Does a run, unless the store has it, and sends it to the writer.
fn do_run<'p>(
    plan: &CampaignPlan,
    run: &'p PlannedRun,
    shared: &SharedQueue<'_, '_>,
    ways: Ways<'_>,
    finished: &SyncSender<Finished<'p>>,
) -> Result<(), WorkError> {
    if lock(&shared.store).has(&run.key).map_err(WorkError::Store)? {
        lock(&shared.worked).found += 1;
        return Ok(());
    }
    let started = SystemTime::now();
    let iut = (ways.iut)(run);
    let preparation = Preparation {
        test: &plan.tests[run.test].case,
        iut,
        links: (&shared.links, run.iut),
        settings: plan.settings.limits.clone().against(iut),
        strategy: &|| plan.settings.strategy.start(),
        retries: shared.effort.retries,
    };
    let initial = &plan.instances[run.test][run.instance].state;
    let (_, done) = preparation.run(initial, run.seed).map_err(WorkError::Thread)?;
    if shared.effort.fail_fast && done.verdict == OutcomeKind::Verdict(Verdict::Fail) {
        lock(&shared.queue).runs.clear();
    }
    // If the writer is gone, its panic is on the way.
    let _ = finished.send(Finished { run, record: done, started });
    Ok(())
}
