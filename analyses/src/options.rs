//! Options of an analysis, and how they become coarser if it takes too much work.
//!
//! **Problem.** Maps and lists of records have many flags, and a partition by them has many cells. A fixpoint
//! over these can take longer than a user waits. **Method.** An analysis counts its results of cases. Above a
//! limit it begins anew and leaves out more of the data. The count is the same on every machine. **Sound**,
//! because each analysis is one with other options. **Ends**, because the coarsest one knows locations only.
//! **Costs** at most the limits of the three before it.

use crate::domains::DomainKind;
use crate::frame::CONDITION_LIMIT;
use crate::places::Arrays;
pub use crate::thresholds::Thresholds;

coreach_model::words! {
    #[derive(Default)]
    pub enum Refinement {
        #[default]
        Domains = "domains",
        /// Also by the exact reference, if selection asks for it (`crate::exact`).
        Exact = "exact",
    }
}

coreach_model::words! {
    /// How ascending iterations go through loops.
    #[derive(Default)]
    pub enum Loops {
        Widened = "widened",
        /// Simple loops are taken any number of times at once ([`crate::acceleration`]). Others are widened.
        #[default]
        Accelerated = "accelerated",
        /// Like `accelerated`, but the ways of a loop are opened one by one, each narrowed before the next.
        Guided = "guided",
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Analysis {
    pub domain: DomainKind,
    /// How many joins the head of a loop makes before it widens.
    pub delay: usize,
    /// The constraints at which widening may stop. The types' bounds are always among them.
    pub thresholds: Thresholds,
    /// How many narrowing sweeps follow each fixpoint.
    pub descending_steps: usize,
    /// The most rounds of backward and forward fixpoints. At least one is done.
    pub rounds: usize,
    /// The most valuations of Booleans and enumerations that are distinguished.
    pub partition_limit: usize,
    pub arrays: Arrays,
    /// The most evaluations of locations in one fixpoint.
    pub step_limit: usize,
    /// How ascending iterations go through loops.
    pub loops: Loops,
    /// The most regions of one location that are told apart if their join would lose something. 1 means none.
    pub disjuncts: usize,
    /// How the facts are refined further.
    pub refine: Refinement,
    /// The most comparisons and flags in one fact, if it has more than a few cases.
    pub fact_limit: usize,
    /// The most constraints in one guard, initial condition or assigned value. A longer one is read as true.
    pub condition_limit: usize,
}

impl Default for Analysis {
    fn default() -> Self {
        Analysis {
            domain: DomainKind::Polyhedra,
            delay: 2,
            thresholds: Thresholds::Auto,
            descending_steps: 2,
            rounds: 2,
            partition_limit: 256,
            arrays: Arrays::default(),
            step_limit: 1_000_000,
            loops: Loops::default(),
            disjuncts: 4,
            refine: Refinement::Domains,
            fact_limit: 200,
            condition_limit: CONDITION_LIMIT,
        }
    }
}

/// The most cells of a coarser partition.
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
    pub(crate) fn apply(self, options: &Analysis) -> Analysis {
        let mut options = Analysis { disjuncts: 1, ..options.clone() };
        match self {
            Coarseness::AsGiven => {}
            // A smaller partition keeps the flags that most guards mention.
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
