//! What a piece of work may use, asked on the way.
//!
//! **Problem.** Work on a small model can be without end: a fixpoint over huge numbers, a set of sets, one
//! query. Limits on counts do not help where a single step explodes, and a result for the loops of all crates
//! would be in every signature.
//!
//! **Method.** A piece of work is done [`within`] a budget, which its thread knows until the work ends. Every
//! loop that may last asks ([`ask`]): one load, and now and then the clock. Where the budget was passed,
//! asking *unwinds* to [`within`], which returns what was being done. This is how rust-analyzer cancels its
//! queries (`salsa::Cancelled`): what is half made is dropped on the way, so nobody can take it for a result;
//! in particular no answer of a solver that was interrupted. Terms ask when they are made, evaluation asks at
//! each node; so most loops ask without a line of their own.
//!
//! **What is counted** is the processor time of the thread that does the work ([`Limit::Time`]): a machine
//! that is busy with other things gives the same answers later, and pieces of work that are done at once do
//! not pay for each other. Work that waits and computes next to nothing is ended by the clock, after
//! [`WAITS`] times as long. A run of a test case happens in real time, so its limit is the clock's
//! ([`Limit::Clock`]). A search that is to end alike everywhere counts its own steps ([`Limit::Work`]).
//!
//! Who has a look at the memory ([`look`], which the command line calls every few milliseconds) marks
//! budgets of other threads as passed. A budget that is not passed changes nothing: no byte depends on it.
//!
//! **What never asks** (one operation on huge numbers, one query that Z3 does not interrupt) is the command
//! line's affair: it ends the process. **Cost** of asking: some nanoseconds.

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

/// The most digits of a number, written or computed; and the most characters of a string that is computed.
pub const MAX_DIGITS: usize = 10_000;

/// Between two looks at the clock, so often may be asked.
const ASKED: u32 = 64;

/// A look counts as so much work, of which a second has about a million.
const LOOKED: u64 = 4;

/// Work that waits may last so many times as long as work that computes.
pub const WAITS: u32 = 10;

/// Work waits where it computes less than one part in so many of the time that passes.
const IDLE: u32 = 100;

/// The clock is not looked at again sooner: as fine as the system tells the time of another thread.
const FINEST: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The processor time of one piece of work.
    Time(Duration),
    /// The time of a run, by the clock.
    Clock(Duration),
    /// So long, by the clock, a piece of work has waited and computed next to nothing.
    Waiting(Duration),
    /// The work of a search, in steps that are the same on every machine.
    Work(u64),
    /// The memory of the process, in bytes.
    Memory(u64),
    Digits(usize),
    /// The user ended the work: the signal's name.
    Signal(&'static str),
}

/// A budget was passed: which limit, and what was being done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passed {
    pub limit: Limit,
    pub stage: &'static str,
    pub doing: &'static str,
}

struct Thrown {
    budget: Arc<Budget>,
    passed: Passed,
}

/// What one piece of work may use.
#[derive(Debug)]
pub struct Budget {
    limit: Option<Limit>,
    is_certain: bool,
    is_passed: AtomicBool,
    /// The thread that works, and what it had computed before.
    worker: (Pid, Duration),
    begun: Instant,
    /// So many nanoseconds after it has begun it may be passed, not before.
    earliest: AtomicU64,
    work: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    stage: &'static str,
    doing: &'static str,
    passed: Option<(Passed, Used)>,
}

/// What was used, at an instant: by the clock, and of the processor.
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
    static OPEN: RefCell<Vec<Arc<Budget>>> = const { RefCell::new(Vec::new()) };
    static LEFT: Cell<u32> = const { Cell::new(0) };
}

/// Set once the user has ended all work: what begins afterwards ends at once.
static ENDED: Mutex<Option<Limit>> = Mutex::new(None);

/// The budgets of work that is under way, in all threads.
static ALIVE: Mutex<Vec<Weak<Budget>>> = Mutex::new(Vec::new());

impl Budget {
    /// For the work of this thread, from now on. `is_certain`: the command line may end the process where
    /// the work does not end.
    pub fn new(stage: &'static str, limit: Option<Limit>, is_certain: bool) -> Arc<Self> {
        let budget = Budget {
            limit,
            is_certain,
            is_passed: AtomicBool::new(false),
            worker: (gettid(), computed()),
            begun: Instant::now(),
            earliest: AtomicU64::new(0),
            work: AtomicU64::new(0),
            state: Mutex::new(State { stage, doing: "", passed: None }),
        };
        if is_certain && let Some(limit) = *lock(&ENDED) {
            budget.pass(limit);
        }
        Arc::new(budget)
    }

    pub fn enter(&self, stage: &'static str) {
        let mut state = lock(&self.state);
        (state.stage, state.doing) = (stage, "");
    }

    pub fn used(&self) -> Used {
        let (thread, before) = self.worker;
        let now = if thread == gettid() { Some(computed()) } else { computed_by(thread) };
        let processor = now.map_or(Duration::ZERO, |now| now.saturating_sub(before));
        Used { clock: self.begun.elapsed(), processor }
    }

    /// Was it passed? Looks at the clock.
    pub fn is_passed(&self) -> bool {
        if !self.is_passed.load(Ordering::Relaxed)
            && let Some(limit) = self.limit.and_then(|limit| self.reached(limit))
        {
            self.pass(limit);
        }
        self.is_passed.load(Ordering::Relaxed)
    }

    /// The limit, where it is reached. The processor's time is asked for only where so much can have been
    /// used: no thread computes for longer than time passes.
    fn reached(&self, limit: Limit) -> Option<Limit> {
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
                let most = time.saturating_mul(WAITS);
                if used.clock >= most && used.processor < used.clock / IDLE {
                    return Some(Limit::Waiting(most));
                }
                let next = used.clock + (time - used.processor).max(FINEST);
                self.earliest.store(u64::try_from(next.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
                None
            }
            Limit::Waiting(_) | Limit::Memory(_) | Limit::Digits(_) | Limit::Signal(_) => None,
        }
    }

    /// Marks it as passed; the first reason counts.
    pub fn pass(&self, limit: Limit) {
        let used = self.used();
        let mut state = lock(&self.state);
        let State { stage, doing, .. } = *state;
        state.passed.get_or_insert((Passed { limit, stage, doing }, used));
        drop(state);
        self.is_passed.store(true, Ordering::Relaxed);
    }

    fn reason(&self) -> Option<(Passed, Used)> {
        lock(&self.state).passed
    }
}

/// What this thread has computed, since it began.
fn computed() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// The same of another thread of ours, as far as the system tells it; none where it has ended.
fn computed_by(thread: Pid) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/self/task/{}/stat", thread.as_raw_nonzero())).ok()?;
    // The name stands in parentheses, and may have blanks and parentheses.
    let (_, rest) = text.rsplit_once(')')?;
    let ticks: u64 =
        rest.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    let second = rustix::param::clock_ticks_per_second().max(1);
    Some(Duration::from_millis(ticks.saturating_mul(1000) / second))
}

/// Does the work within the budget.
///
/// # Errors
/// The budget was passed; what was made until then is dropped.
///
/// # Panics
/// Where the work does.
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
    LEFT.set(0);
    // What the work has changed and is kept afterwards is the caller's affair; the stages keep nothing.
    let result = catch_unwind(AssertUnwindSafe(work));
    OPEN.with_borrow_mut(|open| open.truncate(depth - 1));
    lock(&ALIVE).retain(|known| !std::ptr::eq(known.as_ptr(), Arc::as_ptr(budget)));
    result.map_err(|payload| match payload.downcast::<Thrown>() {
        Ok(thrown) if Arc::ptr_eq(&thrown.budget, budget) => thrown.passed,
        Ok(thrown) => resume_unwind(thrown),
        Err(payload) => resume_unwind(payload as Box<dyn Any + Send>),
    })
}

/// Goes on where no budget of this thread was passed, and unwinds to [`within`] where one was.
pub fn ask() {
    let left = LEFT.get();
    if left > 0 {
        LEFT.set(left - 1);
        return;
    }
    ask_now();
}

/// The same, with a look at the clock for certain: behind what may have taken long.
#[cold]
pub fn ask_now() {
    LEFT.set(ASKED);
    spend(LOOKED);
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

/// Does somebody in this thread count work? Then it is worth to find out how much a question was.
pub fn counts_work() -> bool {
    OPEN.with_borrow(|open| open.iter().any(|budget| matches!(budget.limit, Some(Limit::Work(_)))))
}

/// A number or a string became too long: unwinds to the innermost budget; returns where there is none.
pub fn too_long() {
    let innermost = OPEN.with_borrow(|open| open.last().cloned());
    if let Some(budget) = innermost {
        let State { stage, doing, .. } = *lock(&budget.state);
        throw(budget, Passed { limit: Limit::Digits(MAX_DIGITS), stage, doing });
    }
}

fn throw(budget: Arc<Budget>, passed: Passed) {
    // Where something unwinds already, a second one would end the process.
    if !std::thread::panicking() {
        resume_unwind(Box::new(Thrown { budget, passed }));
    }
}

/// What is being done now, for the message: `comparing pairs of transitions`.
pub fn doing(what: &'static str) {
    OPEN.with_borrow(|open| {
        if let Some(budget) = open.last() {
            lock(&budget.state).doing = what;
        }
    });
    LEFT.set(0);
    ask();
}

/// Ends all work that must end for certain, and all such work that begins from now on. Returns whether there
/// is any.
pub fn end_all(limit: Limit) -> bool {
    lock(&ENDED).get_or_insert(limit);
    look(Some(limit)).1
}

/// Looks at the budgets of work that must end for certain: passes those whose time is over, and with `limit`
/// all of them. Returns the one that was passed longest ago and is of work whose end must be certain; and
/// whether there is such work.
pub fn look(limit: Option<Limit>) -> (Option<Overdue>, bool) {
    let alive: Vec<Arc<Budget>> = lock(&ALIVE).iter().filter_map(Weak::upgrade).collect();
    let certain = || alive.iter().filter(|budget| budget.is_certain);
    for budget in certain() {
        if let Some(limit) = limit {
            budget.pass(limit);
        }
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

/// Where the work is: the stage and the doing of the oldest piece of work that must end for certain.
pub fn place() -> (&'static str, &'static str) {
    let alive: Vec<Arc<Budget>> = lock(&ALIVE).iter().filter_map(Weak::upgrade).collect();
    let first = alive.iter().find(|budget| budget.is_certain);
    first.map_or(("", ""), |budget| {
        let State { stage, doing, .. } = *lock(&budget.state);
        (stage, doing)
    })
}

/// What the piece of work has used that is nearest to its end, and the processor time that it may use.
pub fn nearest() -> Option<(Used, Duration)> {
    let alive: Vec<Arc<Budget>> = lock(&ALIVE).iter().filter_map(Weak::upgrade).collect();
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

    /// Somebody else looks, as the thread beside a question does.
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
            let begun = computed();
            while computed() - begun < Duration::from_millis(60) {}
        };
        std::thread::scope(|scope| scope.spawn(spin).join().unwrap());
        assert!(budget.used().processor < Duration::from_millis(40), "{:?}", budget.used());
        spin();
        assert!(budget.used().processor >= Duration::from_millis(60));
        // And the same from elsewhere, as fine as the system tells it.
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
