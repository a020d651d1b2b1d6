//! Campaigns: many runs, each of them kept.
//!
//! **Problem.** One run says little: a test case leaves choices open, and a fault may need the right ones. So
//! a test case is run with many seeds, several constants, against several implementations, for hours. Such a
//! machine is switched off, a process is killed, a disk is full; and in the morning it must be clear what was
//! done, and nothing may have been done twice or be lost.
//!
//! **Method.** [`plan`] lists the runs: tests x constants x seeds x implementations, in this order, a
//! function of what the user wrote. Every run has a [`Key`], a hash of all that decides it: so a changed
//! model, implementation or setting makes other runs, and an unchanged one is recognized wherever it was
//! done. [`store`] is one file, a data base, into which finished runs go, those of a moment in one
//! transaction, on the disk before they count. [`work`] does the runs of the plan that are not in the store.
//! To go on after a kill at whatever instant is therefore the same as to begin: there is no other state.
//! [`partition`] splits a plan by its keys over machines that know nothing of each other; [`merge`] joins
//! their files. [`summary`] and [`junit`] tell what came of it.
//!
//! **The same on every machine and with every number of threads**: each run has a fresh thread with a fresh
//! solver, strategy and memory of values, and its own seed; none sees another. What differs are times, and
//! the order in which the runs came into the store (their `number`).
//!
//! **Ends** when each run of the plan has been tried once: a run has limits of its own. **Costs** per run,
//! beside the run, a thread and its part of a transaction.

pub mod junit;
pub mod key;
pub mod left_out;
pub mod merge;
pub mod partition;
pub mod plan;
mod runs;
mod schema;
mod seal;
pub mod store;
mod store_error;
pub mod summary;
pub mod work;

pub use key::Key;
pub use left_out::{LeftOut, WhyLeftOut};
pub use partition::Partition;
pub use plan::{Instance, Iut, Plan, Planned, RunSettings, StrategyKind, Test};
pub use runs::{FindError, StoredRun};
pub use store::{Store, StoreError};
pub use summary::Summary;
