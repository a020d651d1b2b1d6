//! What a piece of work may use, asked on the way.
//!
//! **Problem.** Work on a small model can be without end: a fixpoint over huge numbers, a set of sets, one query. Limits on
//! counts do not help where a single step explodes, and a result for the loops of all crates would be in every signature.
//!
//! **Method.** A piece of work is done [`within`] a budget, which its thread knows until the work ends. Every loop that may
//! last asks ([`ask`]): one load, and now and then the clock. Where the budget was passed, asking *unwinds* to [`within`],
//! which returns what was being done. This is how rust-analyzer cancels its queries (`salsa::Cancelled`): what is half made is
//! dropped on the way, so nobody can take it for a result; in particular no answer of a solver that was interrupted.
//! Terms ask when they are made, evaluation asks at each node; so most loops ask without a line of their own.
//!
//! Who has a clock and a look at the memory ([`look`], which the command line calls every few milliseconds) marks budgets of
//! other threads as passed. A budget that is not passed changes nothing: no byte depends on it.
//!
//! **What never asks** (one operation on huge numbers, one query that Z3 does not interrupt) is the command line's affair: it
//! ends the process. **Cost** of asking: some nanoseconds.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The most digits of a number, written or computed.
pub const MAX_DIGITS: usize = 10_000;

/// Between two looks at the clock, so often may be asked.
const ASKED: u32 = 64;

/// What was passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The time of one piece of work.
    Time(Duration),
    /// The memory of the process, in bytes.
    Memory(u64),
    /// The digits of a number.
    Digits(usize),
    /// The user ended the work: the signal's name.
    Signal(&'static str),
}

/// A budget was passed: which limit, and what was being done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passed {
    /// What was passed.
    pub limit: Limit,
    /// The stage.
    pub stage: &'static str,
    /// What it was doing.
    pub doing: &'static str,
}

/// What unwinds.
struct Thrown {
    budget: Arc<Budget>,
    passed: Passed,
}

/// What one piece of work may use.
#[derive(Debug)]
pub struct Budget {
    time: Option<(Duration, Instant)>,
    is_certain: bool,
    is_passed: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    stage: &'static str,
    doing: &'static str,
    passed: Option<(Passed, Instant)>,
}

/// A budget that was passed some time ago, and whose work has not ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overdue {
    /// What was passed.
    pub passed: Passed,
    /// How long ago.
    pub since: Duration,
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
    /// From now on, so much time. `is_certain`: the command line may end the process where the work does not end.
    pub fn new(stage: &'static str, time: Option<Duration>, is_certain: bool) -> Arc<Self> {
        let now = Instant::now();
        let time = time.and_then(|time| Some((time, now.checked_add(time)?)));
        let state = State { stage, doing: "", passed: None };
        let budget = Budget { time, is_certain, is_passed: AtomicBool::new(false), state: Mutex::new(state) };
        if is_certain && let Some(limit) = *lock(&ENDED) {
            budget.pass(limit);
        }
        Arc::new(budget)
    }

    /// The work is in this stage now.
    pub fn enter(&self, stage: &'static str) {
        let mut state = lock(&self.state);
        (state.stage, state.doing) = (stage, "");
    }

    /// Was it passed? Looks at the clock.
    pub fn is_passed(&self) -> bool {
        if !self.is_passed.load(Ordering::Relaxed)
            && let Some((time, end)) = self.time
            && Instant::now() >= end
        {
            self.pass(Limit::Time(time));
        }
        self.is_passed.load(Ordering::Relaxed)
    }

    /// Marks it as passed; the first reason counts.
    pub fn pass(&self, limit: Limit) {
        let mut state = lock(&self.state);
        let State { stage, doing, .. } = *state;
        state.passed.get_or_insert((Passed { limit, stage, doing }, Instant::now()));
        drop(state);
        self.is_passed.store(true, Ordering::Relaxed);
    }

    fn reason(&self) -> Option<(Passed, Instant)> {
        lock(&self.state).passed
    }
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
    let passed = OPEN.with_borrow(|open| open.iter().find(|budget| budget.is_passed()).cloned());
    if let Some(budget) = passed
        && let Some((passed, _)) = budget.reason()
    {
        throw(budget, passed);
    }
}

/// A number became too long: unwinds to the innermost budget; returns where there is none.
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

/// The budgets of this thread, for another one that works for it: see [`adopt`].
pub fn current() -> Vec<Arc<Budget>> {
    OPEN.with_borrow(Clone::clone)
}

/// Does work in this thread for the one that has these budgets. Where one is passed, this unwinds, and `join` gives it to
/// the other thread, which must resume it.
pub fn adopt<R>(budgets: Vec<Arc<Budget>>, work: impl FnOnce() -> R) -> R {
    struct Back(Vec<Arc<Budget>>);
    impl Drop for Back {
        fn drop(&mut self) {
            OPEN.set(std::mem::take(&mut self.0));
        }
    }
    let _back = Back(OPEN.replace(budgets));
    work()
}

/// Ends all work that must end for certain, and all such work that begins from now on. Returns whether there is any.
pub fn end_all(limit: Limit) -> bool {
    lock(&ENDED).get_or_insert(limit);
    look(Some(limit)).1
}

/// Looks at the budgets of work that must end for certain: passes those whose time is over, and with `limit` all of them. Returns the one that was passed
/// longest ago and is of work whose end must be certain; and whether there is such work.
pub fn look(limit: Option<Limit>) -> (Option<Overdue>, bool) {
    let alive: Vec<Arc<Budget>> = lock(&ALIVE).iter().filter_map(Weak::upgrade).collect();
    let certain = || alive.iter().filter(|budget| budget.is_certain);
    for budget in certain() {
        if let Some(limit) = limit {
            budget.pass(limit);
        }
        budget.is_passed();
    }
    let overdue = certain().filter_map(|budget| budget.reason());
    let overdue = overdue.map(|(passed, at)| Overdue { passed, since: at.elapsed() });
    (overdue.max_by_key(|overdue| overdue.since), certain().next().is_some())
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_without_end_ends() {
        let budget = Budget::new("close", Some(Duration::from_millis(20)), true);
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
        let outer = Budget::new("outer", Some(Duration::from_millis(10)), true);
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

    #[test]
    fn who_works_for_another_is_ended_with_it() {
        let budget = Budget::new("select", Some(Duration::from_millis(10)), true);
        let work = || {
            let mine = current();
            std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    adopt(mine, || {
                        loop {
                            ask();
                        }
                    })
                });
                other.join().unwrap_or_else(|payload| resume_unwind(payload))
            })
        };
        assert_eq!(within(&budget, work).map_err(|passed| passed.stage), Err::<(), _>("select"));
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
