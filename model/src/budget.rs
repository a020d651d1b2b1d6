//! Budgets: what a piece of work may use, checked while it works.
//!
//! **Problem.** Work on a small model may never end: a fixpoint over huge numbers, a set of sets, one query.
//! Limits on counts do not help if a single step explodes. A `Result` for every loop would be in the
//! signatures of all crates.
//!
//! **Method.** A piece of work is done [`within`] a budget, which its thread knows until the work ends. Every
//! loop that may last calls [`ask`], which costs one load, and sometimes a look at the clock. If the budget
//! was passed, [`ask`] *unwinds* to [`within`], which returns what was being done. This is how rust-analyzer
//! cancels its queries (`salsa::Cancelled`). Half-made results are dropped on the way, so nobody can take
//! them for results, in particular no answer of a solver that was interrupted. Constructors of terms ask, and
//! evaluation asks at each node, so most loops ask without a line of their own.
//!
//! **What is counted** is the processor time of the thread that does the work ([`Limit::Time`]). So a machine
//! that is busy with other things gives the same answers later, and parallel pieces of work do not pay for
//! each other. Work that waits and computes next to nothing is ended by the clock, after [`WAITS`] times as
//! long. A run of a test case happens in real time, so its limit is the clock's ([`Limit::Clock`]). A search
//! that must end alike on every machine counts its own steps ([`Limit::Work`]).
//!
//! [`check_budgets`], which the command line calls every few milliseconds, marks budgets of other threads as
//! passed, also for memory. A budget that is not passed changes nothing: no byte depends on it.
//!
//! **Work that never asks** (one operation on huge numbers, one query that Z3 does not interrupt) is ended by
//! the command line: it ends the process. **Cost** of asking: some nanoseconds.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use crate::lock::lock;

use rustix::thread::{Pid, gettid};
use rustix::time::{ClockId, clock_gettime};

/// The most digits of a number that is written or computed, and the most characters of a computed string.
pub const MAX_DIGITS: usize = 10_000;

/// Work that waits may last so many times as long as work that computes.
pub const WAITS: u32 = 10;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The processor time of one piece of work.
    Time(Duration),
    /// The time of a run, by the clock.
    Clock(Duration),
    /// A piece of work has waited so long, by the clock, and computed next to nothing.
    Waiting(Duration),
    /// The work of a search, in steps that are the same on every machine.
    Work(u64),
    /// The memory of the process, in bytes.
    Memory(u64),
    Digits(usize),
    /// The user ended the work: the signal's name.
    Signal(&'static str),
}

/// The report that a budget was passed: which limit, and what was being done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passed {
    pub limit: Limit,
    pub stage: &'static str,
    pub doing: &'static str,
}

/// The payload with which [`ask`] unwinds to the [`within`] of this budget.
struct Thrown {
    budget: Arc<Budget>,
    passed: Passed,
}

/// The budget of one piece of work.
#[derive(Debug)]
pub struct Budget {
    limit: Option<Limit>,
    is_certain: bool,
    is_passed: AtomicBool,
    /// The thread that works, and its processor time when the work began.
    worker: (Pid, Duration),
    begun: Instant,
    /// The budget cannot be passed sooner than so many nanoseconds after it has begun.
    earliest: AtomicU64,
    work: AtomicU64,
    state: Mutex<BudgetState>,
}

#[derive(Debug)]
struct BudgetState {
    stage: &'static str,
    doing: &'static str,
    passed: Option<(Passed, Used)>,
}

/// The time that was used up to an instant: by the clock, and of the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Used {
    pub clock: Duration,
    pub processor: Duration,
}

/// A budget that was passed some time ago, and whose work has not ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overdue {
    pub passed: Passed,
    pub since: Used,
}

thread_local! {
    /// The budgets within which the thread works, outermost first.
    static OPEN: RefCell<Vec<Arc<Budget>>> = const { RefCell::new(Vec::new()) };
    /// So many calls of [`ask`] come before the next look at the clock.
    static UNTIL_LOOK: Cell<u32> = const { Cell::new(0) };
}

/// Set once the user has ended all work: work that begins afterwards ends at once.
static ENDED: Mutex<Option<Limit>> = Mutex::new(None);

/// The budgets of work that is under way, in all threads.
static ALIVE: Mutex<Vec<Weak<Budget>>> = Mutex::new(Vec::new());

impl Budget {
    /// Makes a budget for the work of this thread, from now on. With `is_certain`, the command line may end
    /// the process if the work does not end.
    pub fn new(stage: &'static str, limit: Option<Limit>, is_certain: bool) -> Arc<Self> {
        let budget = Budget {
            limit,
            is_certain,
            is_passed: AtomicBool::new(false),
            worker: (gettid(), thread_time()),
            begun: Instant::now(),
            earliest: AtomicU64::new(0),
            work: AtomicU64::new(0),
            state: Mutex::new(BudgetState { stage, doing: "", passed: None }),
        };
        if is_certain && let Some(limit) = *lock(&ENDED) {
            budget.pass(limit);
        }
        Arc::new(budget)
    }

    /// Notes the stage that begins now, for the message.
    pub fn enter(&self, stage: &'static str) {
        let mut state = lock(&self.state);
        (state.stage, state.doing) = (stage, "");
    }

    /// Returns the time that was used since the budget was made. A thread that has ended uses no more.
    pub fn used(&self) -> Used {
        let (thread, time_at_start) = self.worker;
        let now = if thread == gettid() { Some(thread_time()) } else { time_of_thread(thread) };
        let processor = now.map_or(Duration::ZERO, |now| now.saturating_sub(time_at_start));
        Used { clock: self.begun.elapsed(), processor }
    }

    /// Was it passed? Looks at the clock, and marks it as passed if it is.
    pub fn is_passed(&self) -> bool {
        if !self.is_passed.load(Ordering::Relaxed)
            && let Some(limit) = self.limit.and_then(|limit| self.reached_limit(limit))
        {
            self.pass(limit);
        }
        self.is_passed.load(Ordering::Relaxed)
    }

    /// Returns the limit that is reached, if any. The processor's time is read only if so much can have been
    /// used: no thread computes for longer than time passes.
    fn reached_limit(&self, limit: Limit) -> Option<Limit> {
        match limit {
            Limit::Work(most) => (self.work.load(Ordering::Relaxed) >= most).then_some(limit),
            Limit::Clock(time) => (self.begun.elapsed() >= time).then_some(limit),
            Limit::Time(time) => {
                let earliest = Duration::from_nanos(self.earliest.load(Ordering::Relaxed));
                if self.begun.elapsed() < earliest {
                    return None;
                }
                let used = self.used();
                if used.processor >= time {
                    return Some(limit);
                }
                let longest = time.saturating_mul(WAITS);
                // It waits if it computes less than one percent of the time.
                if used.clock >= longest && used.processor < used.clock / 100 {
                    return Some(Limit::Waiting(longest));
                }
                // Until then the time that is missing cannot have been used. The system tells the time of
                // another thread in milliseconds.
                let next_look = used.clock + (time - used.processor).max(Duration::from_millis(1));
                let nanoseconds = u64::try_from(next_look.as_nanos()).unwrap_or(u64::MAX);
                self.earliest.store(nanoseconds, Ordering::Relaxed);
                None
            }
            Limit::Waiting(_) | Limit::Memory(_) | Limit::Digits(_) | Limit::Signal(_) => None,
        }
    }

    /// Marks it as passed; the first reason counts.
    pub fn pass(&self, limit: Limit) {
        let used = self.used();
        let mut state = lock(&self.state);
        let BudgetState { stage, doing, .. } = *state;
        state.passed.get_or_insert((Passed { limit, stage, doing }, used));
        drop(state);
        self.is_passed.store(true, Ordering::Relaxed);
    }

    /// Says why the budget was passed, and what was used then. `None` if it was not.
    fn reason(&self) -> Option<(Passed, Used)> {
        lock(&self.state).passed
    }
}

/// The processor time of this thread since it began.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// The processor time of another thread of this process, as far as the system tells it. `None` if the thread
/// has ended.
fn time_of_thread(thread: Pid) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/self/task/{}/stat", thread.as_raw_nonzero())).ok()?;
    // The thread's name is in parentheses, and may have blanks and parentheses itself.
    let (_, fields) = text.rsplit_once(')')?;
    // Fields 14 and 15 of the line are the ticks in user mode and in the kernel. Field 3 follows the name.
    let times = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = times.filter_map(|field| field.parse::<u64>().ok()).sum();
    let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
    Some(Duration::from_millis(ticks.saturating_mul(1000) / ticks_per_second))
}

/// Does the work within the budget.
///
/// # Errors
/// If the budget was passed. The result so far is dropped.
///
/// # Panics
/// If the work panics.
pub fn within<R>(budget: &Arc<Budget>, work: impl FnOnce() -> R) -> Result<R, Passed> {
    {
        let mut alive = lock(&ALIVE);
        alive.retain(|known| known.strong_count() > 0);
        alive.push(Arc::downgrade(budget));
    }
    let depth = OPEN.with_borrow_mut(|open| {
        open.push(budget.clone());
        open.len()
    });
    UNTIL_LOOK.set(0);
    // The caller answers for state that the work has changed and that outlives it. The stages keep none.
    let result = catch_unwind(AssertUnwindSafe(work));
    OPEN.with_borrow_mut(|open| open.truncate(depth - 1));
    lock(&ALIVE).retain(|known| !std::ptr::eq(known.as_ptr(), Arc::as_ptr(budget)));
    result.map_err(|payload| match payload.downcast::<Thrown>() {
        Ok(thrown) if Arc::ptr_eq(&thrown.budget, budget) => thrown.passed,
        // An outer budget was passed, or the work panicked.
        Ok(thrown) => resume_unwind(thrown),
        Err(payload) => resume_unwind(payload as Box<dyn Any + Send>),
    })
}

/// Returns if no budget of this thread was passed. Unwinds to [`within`] if one was.
pub fn ask() {
    let until_look = UNTIL_LOOK.get();
    if until_look > 0 {
        UNTIL_LOOK.set(until_look - 1);
        return;
    }
    ask_now();
}

/// Like [`ask`], but always with a look at the clock: for use after a step that may have taken long.
#[cold]
pub fn ask_now() {
    UNTIL_LOOK.set(64);
    // A second has about a million units of work, and a look at the clock takes some microseconds.
    spend(4);
    let passed = OPEN.with_borrow(|open| open.iter().find(|budget| budget.is_passed()).cloned());
    if let Some(budget) = passed
        && let Some((passed, _)) = budget.reason()
    {
        throw(budget, passed);
    }
}

/// Counts work that was done without asking.
pub fn spend(work: u64) {
    OPEN.with_borrow(|open| {
        for budget in open {
            budget.work.fetch_add(work, Ordering::Relaxed);
        }
    });
}

/// Does a budget of this thread count work? Then it is worth finding out how much work a question was.
pub fn counts_work() -> bool {
    OPEN.with_borrow(|open| open.iter().any(|budget| matches!(budget.limit, Some(Limit::Work(_)))))
}

/// Unwinds to the innermost budget, because a number or a string became too long. Returns if there is no
/// budget.
pub fn too_long() {
    let innermost = OPEN.with_borrow(|open| open.last().cloned());
    if let Some(budget) = innermost {
        let BudgetState { stage, doing, .. } = *lock(&budget.state);
        throw(budget, Passed { limit: Limit::Digits(MAX_DIGITS), stage, doing });
    }
}

/// Unwinds to the [`within`] of the budget. Returns if a panic unwinds already.
fn throw(budget: Arc<Budget>, passed: Passed) {
    // A second panic would end the process.
    if !std::thread::panicking() {
        resume_unwind(Box::new(Thrown { budget, passed }));
    }
}

/// Notes what is being done now, for the message: `comparing pairs of transitions`.
pub fn doing(step: &'static str) {
    OPEN.with_borrow(|open| {
        if let Some(budget) = open.last() {
            lock(&budget.state).doing = step;
        }
    });
    ask_now();
}

/// Returns the budgets of all threads, the oldest first.
fn alive_budgets() -> Vec<Arc<Budget>> {
    lock(&ALIVE).iter().filter_map(Weak::upgrade).collect()
}

/// Ends all work with a certain end (`is_certain`), and all such work that begins from now on. Returns
/// whether there is any.
pub fn end_all(limit: Limit) -> bool {
    lock(&ENDED).get_or_insert(limit);
    let (_, is_any) = check_budgets(Some(limit));
    is_any
}

/// Checks the budgets of work with a certain end: passes those whose time is over, and with `limit` all of
/// them. Returns the budget that was passed longest ago, and whether there is such work.
pub fn check_budgets(limit: Option<Limit>) -> (Option<Overdue>, bool) {
    let alive = alive_budgets();
    let certain = || alive.iter().filter(|budget| budget.is_certain);
    for budget in certain() {
        if let Some(limit) = limit {
            budget.pass(limit);
        }
        // This looks at the clock.
        budget.is_passed();
    }
    let overdue = certain().filter_map(|budget| {
        let ((passed, then), now) = (budget.reason()?, budget.used());
        let since =
            Used { clock: now.clock - then.clock, processor: now.processor.saturating_sub(then.processor) };
        Some(Overdue { passed, since })
    });
    (overdue.max_by_key(|overdue| overdue.since.clock), certain().next().is_some())
}

/// Returns the stage and the current step of the oldest piece of work with a certain end.
pub fn current_work() -> (&'static str, &'static str) {
    let alive = alive_budgets();
    let oldest = alive.iter().find(|budget| budget.is_certain);
    oldest.map_or(("", ""), |budget| {
        let BudgetState { stage, doing, .. } = *lock(&budget.state);
        (stage, doing)
    })
}

/// Returns the use and the limit of the piece of work that has used the most processor time. Only work with
/// such a limit counts. `None` if there is none.
pub fn nearest_to_limit() -> Option<(Used, Duration)> {
    let alive = alive_budgets();
    let used = alive.iter().filter_map(|budget| match budget.limit {
        Some(Limit::Time(time)) => Some((budget.used(), time)),
        _ => None,
    });
    used.max_by_key(|(used, _)| used.processor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_without_end_ends() {
        let budget = Budget::new("close", Some(Limit::Time(Duration::from_millis(20))), true);
        let endless = || -> u32 {
            doing("going round");
            loop {
                ask();
            }
        };
        let passed = within(&budget, endless).map(|_| ());
        let limit = Limit::Time(Duration::from_millis(20));
        assert_eq!(passed, Err(Passed { limit, stage: "close", doing: "going round" }));
        ask_now();
    }

    #[test]
    fn the_outer_budget_ends_the_inner_work() {
        let outer = Budget::new("outer", Some(Limit::Time(Duration::from_millis(10))), true);
        let inner = Budget::new("inner", None, true);
        let mut is_reached = false;
        let work = || {
            let inside = within(&inner, || {
                loop {
                    ask();
                }
            });
            is_reached = true;
            inside
        };
        assert!(within(&outer, work).is_err());
        assert!(!is_reached, "the inner work is not over, it is given up");
    }

    /// Another thread looks at the budget, as it does while a solver answers.
    #[test]
    fn what_waits_uses_nothing_of_the_processor_and_ends_by_the_clock() {
        let time = Duration::from_millis(30);
        let budget = Budget::new("read", Some(Limit::Time(time)), true);
        let begun = Instant::now();
        let waited = std::thread::scope(|scope| {
            let look = || {
                while !budget.is_passed() {
                    std::thread::sleep(time / 10);
                }
                begun.elapsed()
            };
            scope.spawn(look).join().unwrap()
        });
        assert!(waited >= time * (WAITS - 1), "{waited:?}");
        let limit = Limit::Waiting(time * WAITS);
        let passed = within(&budget, ask_now);
        assert_eq!(passed.map_err(|passed| passed.limit), Err(limit));
    }

    #[test]
    fn what_other_threads_compute_is_not_counted() {
        let budget = Budget::new("select", Some(Limit::Time(Duration::from_secs(1000))), true);
        let spin = || {
            let begun = thread_time();
            while thread_time() - begun < Duration::from_millis(60) {}
        };
        std::thread::scope(|scope| scope.spawn(spin).join().unwrap());
        assert!(budget.used().processor < Duration::from_millis(40), "{:?}", budget.used());
        spin();
        assert!(budget.used().processor >= Duration::from_millis(60));
        // Another thread sees the same, as fine as the system tells it.
        let seen = std::thread::scope(|scope| scope.spawn(|| budget.used()).join().unwrap());
        assert!(seen.processor >= Duration::from_millis(40), "{seen:?}");
    }

    #[test]
    fn counted_work_ends_at_the_same_place_each_time() {
        let asked = || {
            let budget = Budget::new("search", Some(Limit::Work(1000)), false);
            let mut asked = 0;
            let endless = || -> u32 {
                loop {
                    asked += 1;
                    ask();
                }
            };
            let passed = within(&budget, endless);
            (asked, passed.map_err(|passed| passed.limit))
        };
        let first = asked();
        assert_eq!(first.1, Err(Limit::Work(1000)));
        assert_eq!(first, asked());
    }

    #[test]
    fn a_bug_stays_a_crash() {
        let budget = Budget::new("close", None, true);
        let crash = catch_unwind(AssertUnwindSafe(|| within(&budget, || panic!("a bug"))));
        assert!(crash.is_err());
    }

    #[test]
    fn somebody_else_may_pass_it() {
        let budget = Budget::new("read", None, true);
        let work = || {
            std::thread::scope(|scope| {
                scope.spawn(|| budget.pass(Limit::Memory(7)));
            });
            ask_now();
        };
        assert_eq!(within(&budget, work).map_err(|passed| passed.limit), Err(Limit::Memory(7)));
    }
}
