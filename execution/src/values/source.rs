//! Where values come from, and how often each source is drawn.

use serde::{Deserialize, Serialize};

coreach_model::words! {
    /// Where a value came from.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Source {
        /// An end of the range that the guard leaves, or its neighbour.
        Boundary = "boundary",
        /// Near 0.
        Small = "small",
        /// Far from 0: near a power of two.
        Large = "large",
        /// A value of an earlier event of this run, or of a constant.
        Seen = "seen",
        /// One of those that the implementation's file says are to be tried.
        Sample = "sample",
        /// Anywhere in the range; of a finite type, any value.
        Uniform = "uniform",
        /// The solver's, in a window around a random number.
        Diverse = "diverse",
        /// The solver's, as it came: nothing else was found.
        Witness = "witness",
        /// Those of a plan that leads to Pass.
        Planned = "planned",
    }
}

/// How often each source is drawn, by weight. `Witness` has none: it is the last resort; neither have
/// `Planned`, and `Sample`, which is half of the values where there are samples.
pub type Mix = [(Source, usize); 6];

/// The usual mix: more than a third is drawn from the whole range alike.
pub const MIX: Mix = [
    (Source::Boundary, 4),
    (Source::Small, 4),
    (Source::Large, 1),
    (Source::Seen, 3),
    (Source::Uniform, 7),
    (Source::Diverse, 0),
];
