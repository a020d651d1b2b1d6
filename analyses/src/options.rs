//! Options of an analysis, and how they become coarser where it takes too much work.
//!
//! **Problem.** Maps and lists of records have many flags, and a partition by them has many cells. A fixpoint
//! over these can take longer than a user waits. **Method.** An analysis counts its results of cases. Above a
//! limit it begins anew and leaves out more of the data. The count is the same on every machine.
//!
//! **Sound**, because each analysis is one with other options. **Ends**, because the coarsest one knows
//! locations only. **Costs** at most the limits of the three before it.

use crate::domains::DomainKind;
use crate::frame::CONDITION_LIMIT;
use crate::places::Arrays;
pub use crate::thresholds::Thresholds;

coreach_model::words! {
    #[derive(Default)]
    pub enum Refinement {
        #[default]
        Domains = "domains",
        /// By the exact reference too, where selection asks (`crate::exact`).
        Exact = "exact",
    }
}

coreach_model::words! {
    /// How ascending iterations go through loops.
    #[derive(Default)]
    pub enum Loops {
        Widened = "widened",
        /// Simple ones as often as one likes, at once ([`crate::acceleration`]); then by widening.
        #[default]
        Accelerated = "accelerated",
        /// The same, a loop's ways one after the other, each narrowed before the next.
        Guided = "guided",
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    pub domain: DomainKind,
    /// Joins at the head of a loop before widening.
    pub delay: usize,
    /// Where widening may stop; the types' bounds are always among them.
    pub thresholds: Thresholds,
    /// Narrowing sweeps after each fixpoint.
    pub descending_steps: usize,
    /// Rounds of backward and forward; at least one is done.
    pub rounds: usize,
    /// Valuations of Booleans and enumerations told apart.
    pub partition_limit: usize,
    pub arrays: Arrays,
    /// Evaluations of locations in one fixpoint.
    pub step_limit: usize,
    /// How ascending iterations go through loops.
    pub loops: Loops,
    /// Regions of one location that are told apart where their join would lose something; 1 is none.
    pub disjuncts: usize,
    /// By what the facts may be made sharper still.
    pub refine: Refinement,
    /// Comparisons and flags in one fact, where it has more than a few cases.
    pub fact_limit: usize,
    /// Constraints in one guard, initial condition or assigned value; what is longer is read as true.
    pub condition_limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            domain: DomainKind::Polyhedra,
            delay: 2,
            thresholds: Thresholds::Auto,
            descending_steps: 2,
            rounds: 2,
            partition_limit: 256,
            arrays: Arrays::default(),
            step_limit: 1_000_000,
            loops: Loops::default(),
            disjuncts: 1,
            refine: Refinement::Domains,
            fact_limit: 200,
            condition_limit: CONDITION_LIMIT,
        }
    }
}

/// So many cells a coarser partition has.
pub(crate) const FEW_CELLS: usize = 16;

/// How much of the data an analysis leaves out, from nothing to all.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Coarseness {
    #[default]
    AsGiven,
    /// Keeps the flags that most guards mention.
    FewCells,
    /// Keeps numbers, but no flags, cells of arrays or slots of lists.
    NoCells,
    LocationsOnly,
}

impl Coarseness {
    /// Returns the next coarser one.
    pub(crate) fn next(self) -> Self {
        match self {
            Coarseness::AsGiven => Coarseness::FewCells,
            Coarseness::FewCells => Coarseness::NoCells,
            Coarseness::NoCells | Coarseness::LocationsOnly => Coarseness::LocationsOnly,
        }
    }

    /// Bounds the work, in results of cases, of which 10,000 take about a second. Locations have no bound.
    pub(crate) fn work_limit(self) -> Option<u64> {
        match self {
            Coarseness::AsGiven => Some(30_000),
            Coarseness::FewCells | Coarseness::NoCells => Some(10_000),
            Coarseness::LocationsOnly => None,
        }
    }

    /// Makes the options coarser.
    pub(crate) fn apply(self, options: &Options) -> Options {
        let mut options = Options { disjuncts: 1, ..options.clone() };
        match self {
            Coarseness::AsGiven => {}
            // So many cells hold the flags that most guards mention.
            Coarseness::FewCells => options.partition_limit = options.partition_limit.min(FEW_CELLS),
            Coarseness::NoCells => {
                options.partition_limit = 1;
                options.arrays = Arrays { cells: 0, slots: 0, ..options.arrays };
            }
            Coarseness::LocationsOnly => options.domain = DomainKind::Location,
        }
        options
    }
}
