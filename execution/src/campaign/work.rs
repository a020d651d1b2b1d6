//! Doing the runs of a plan that a store does not have yet.
//!
//! Some runners take runs from one queue, and do each as [`crate::preparation`] says it. Finished runs go to
//! one thread that writes them, those of a moment (`GROUP`) together: to wait for the disk takes longer than
//! most simulated runs. A run counts when it is on the disk, so whatever kills the process loses no run that
//! was counted, and of the others at most those of that moment.
//!
//! A system that runs share, since nobody here brings it up, is used by one of them at a time: two that meet
//! there would reset each other. A runner that finds only such runs waits.
//!
//! Several processes may do one store at the same time, by mistake or to help each other. Each looks before a
//! run whether it is there already. Two that go through one queue in step would still do each run twice; so
//! who finds that another one was faster goes on half a queue away.
//!
//! **Ends** with the queue, after the first Fail where that is wanted, or with the first run that cannot be
//! written: what cannot be kept need not be done.

use std::collections::{BTreeSet, VecDeque};
use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use coreach_adapters::Iut;
use coreach_model::Verdict;
use coreach_model::lock::lock;

use crate::campaign::plan::{Plan, Planned};
use crate::campaign::store::{Finished, Store, StoreError};
use crate::open::Links;
use crate::outcome::OutcomeKind;
use crate::preparation::Preparation;
use crate::record::Record;

/// Runs that finish within this time are written together.
const GROUP: Duration = Duration::from_millis(20);

/// At most so many of them; so many more may wait to be written.
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
pub struct Effort {
    /// At most so many runs at once.
    pub threads: usize,
    /// So often a run is done again that ends without a verdict.
    pub retries: usize,
    /// Nothing more is begun after a Fail.
    pub fail_fast: bool,
}

#[derive(Clone, Copy)]
pub struct Ways<'a> {
    /// The implementation of a run, as its file describes it.
    pub iut: &'a (dyn Fn(&Planned) -> &'a Iut + Sync),
    /// The number of the system that a run shares with others, where it does.
    pub system: &'a (dyn Fn(&Planned) -> Option<usize> + Sync),
}

struct Queue<'a> {
    runs: VecDeque<&'a Planned>,
    busy: BTreeSet<usize>,
}

struct SharedQueue<'a, 'p> {
    queue: Mutex<Queue<'p>>,
    /// A system is free again, or the work has stopped.
    freed: Condvar,
    store: Mutex<&'a mut Store>,
    worked: Mutex<Worked>,
    stopped: Mutex<Option<WorkError>>,
    effort: Effort,
    links: Links,
}

/// Does these runs. `watch` hears of each run that was kept, from any thread.
///
/// # Errors
/// [`WorkError`]: what was kept until then stays.
/// Panics where a run panics: a bug of ours is a crash.
pub fn work<'p>(
    plan: &Plan,
    runs: impl IntoIterator<Item = &'p Planned>,
    store: &mut Store,
    effort: Effort,
    ways: Ways<'_>,
    watch: &(dyn Fn(&Planned, &Record) + Sync),
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
    let runner = |done: SyncSender<Finished<'p>>| {
        while let Some((run, used)) = take_next_run(&shared, ways) {
            if let Err(error) = do_run(plan, run, &shared, ways, &done) {
                lock(&shared.stopped).get_or_insert(error);
            }
            drop(used);
        }
    };
    thread::scope(|scope| {
        let (sender, finished) = mpsc::sync_channel(MOST_GROUPED);
        let all = &shared;
        let writer = thread::Builder::new().spawn_scoped(scope, move || write(plan, &finished, all, watch));
        let writer = match writer {
            Ok(writer) => writer,
            Err(error) => {
                lock(&shared.stopped).get_or_insert(WorkError::Thread(error));
                return;
            }
        };
        // Fewer threads than were wanted are slower, and nothing else.
        let begin = |sender: SyncSender<Finished<'p>>| {
            let runner = &runner;
            thread::Builder::new().spawn_scoped(scope, move || runner(sender))
        };
        let more: Vec<_> = (1..runners).map(|_| begin(sender.clone())).collect();
        runner(sender);
        for handle in more.into_iter().flatten().chain([writer]) {
            if let Err(panic) = handle.join() {
                resume_unwind(panic);
            }
        }
    });
    let stopped = shared.stopped.into_inner().unwrap_or_else(PoisonError::into_inner);
    let worked = shared.worked.into_inner().unwrap_or_else(PoisonError::into_inner);
    stopped.map_or(Ok(worked), Err)
}

/// Dropped, also by a panic, it frees the system that a run has used.
struct Used<'a, 'p, 'b>(&'b SharedQueue<'a, 'p>, Option<usize>);

impl Drop for Used<'_, '_, '_> {
    fn drop(&mut self) {
        if let Some(system) = &self.1 {
            lock(&self.0.queue).busy.remove(system);
        }
        self.0.freed.notify_all();
    }
}

/// The next run whose system is free, unless the work has stopped.
fn take_next_run<'a, 'p, 'b>(
    shared: &'b SharedQueue<'a, 'p>,
    ways: Ways<'_>,
) -> Option<(&'p Planned, Used<'a, 'p, 'b>)> {
    let mut queue = lock(&shared.queue);
    loop {
        if lock(&shared.stopped).is_some() {
            return None;
        }
        let is_free = |run: &&Planned| (ways.system)(run).is_none_or(|system| !queue.busy.contains(&system));
        match queue.runs.iter().position(is_free) {
            Some(at) => {
                let run = queue.runs.remove(at)?;
                let system = (ways.system)(run);
                queue.busy.extend(system);
                return Some((run, Used(shared, system)));
            }
            None if queue.runs.is_empty() => return None,
            // Somebody uses it, and will say when it is free.
            None => queue = shared.freed.wait(queue).unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// Writes runs down as they are finished, those of a moment together, until there is nobody who does any.
fn write(
    plan: &Plan,
    finished: &Receiver<Finished<'_>>,
    shared: &SharedQueue<'_, '_>,
    watch: &(dyn Fn(&Planned, &Record) + Sync),
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
            // What comes now cannot be kept either, and whoever sends it must not wait.
            Err(error) => {
                lock(&shared.stopped).get_or_insert(WorkError::Store(error));
            }
        }
    }
}

fn count_finished(
    shared: &SharedQueue<'_, '_>,
    done: &Finished<'_>,
    is_new: bool,
    watch: &(dyn Fn(&Planned, &Record) + Sync),
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

fn do_run<'p>(
    plan: &Plan,
    run: &'p Planned,
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
    // Where the writer is gone, a panic of its own is on the way.
    let _ = finished.send(Finished { run, record: done, started });
    Ok(())
}
