//! Does independent pieces of work in several threads, with results in the order of the work.
//!
//! Each job has a fresh thread ([`run_alone`]), so the results do not depend on the number of threads.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use coreach_execution::preparation::run_alone;
use coreach_model::lock::lock;

/// Returns the number of pieces that are done at the same time: the given number, or the number of cores.
pub fn threads(given: Option<NonZeroUsize>) -> usize {
    given.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

/// Does all the work, at most `threads` pieces at the same time.
///
/// # Panics
/// A piece of work panics. That is a bug of ours.
pub fn in_order<J: Sync, R: Send>(
    jobs: &[J],
    threads: usize,
    work: impl Fn(&J) -> R + Sync,
) -> std::io::Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<std::io::Result<R>>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let work = &work;
    let runner = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { return };
            let result = run_alone(|| work(job));
            let mut results = lock(&results);
            results[at] = Some(result);
        }
    };
    thread::scope(|scope| {
        let more: Vec<_> = (1..threads.min(jobs.len()))
            .map(|_| thread::Builder::new().spawn_scoped(scope, runner))
            .collect();
        runner();
        for handle in more.into_iter().flatten() {
            if let Err(panic) = handle.join() {
                resume_unwind(panic);
            }
        }
    });
    // For each job, a runner has left a result or panicked.
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_work() {
        let jobs: Vec<u64> = (0..20).collect();
        for threads in [1, 2, 7, 50] {
            let work = |job: &u64| {
                thread::sleep(std::time::Duration::from_millis((20 - job) % 5));
                job * job
            };
            let results = in_order(&jobs, threads, work).unwrap();
            assert_eq!(results, jobs.iter().map(|job| job * job).collect::<Vec<_>>());
        }
    }

    #[test]
    fn no_work_has_no_results() {
        assert!(in_order(&[] as &[u8], 4, |_| ()).unwrap().is_empty());
    }

    #[test]
    #[should_panic(expected = "a bug")]
    fn a_bug_is_a_crash() {
        let _ = in_order(&[1], 1, |_| panic!("a bug"));
    }
}
