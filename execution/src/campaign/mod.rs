//! Campaigns: many runs, each of them kept.
//!
//! **Problem.** A test case leaves choices open, and a fault may need the right ones. So a test case is run
//! with many seeds, several constants, against several implementations, for hours. Meanwhile the machine may
//! be switched off, a process killed, or the disk full. No run may be done twice or be lost.
//!
//! **Method.** [`plan`] lists the runs: tests x constants x seeds x implementations, in this order. Every run
//! has a [`Key`], a hash of everything that decides it. So a changed model, implementation or setting makes
//! other runs. [`store`] is one file, a data base, for finished runs. They are on the disk before they count.
//! [`work`] does the runs of the plan that are not in the store, so nothing else is needed to go on after a
//! kill. [`partition`] splits a plan by its keys over machines that know nothing of each other, and [`merge`]
//! joins their files. [`summary`] and [`junit`] report the results.
//!
//! **It is the same on every machine and with every number of threads**: each run has its own seed and a
//! fresh thread with a fresh solver, strategy and memory of values. Only the times differ, and the order in
//! which the runs came into the store (their `number`).
//!
//! **Ends** when each run of the plan has been tried once: a run has limits of its own. **Costs** per run, in
//! addition to the run, a thread and its part of a transaction.

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
pub use plan::{CampaignPlan, Instance, PlannedRun, RunSettings, StoredIut, StrategyKind, Test};
pub use runs::{FindError, StoredRun};
pub use store::{Store, StoreError};
pub use summary::Summary;
