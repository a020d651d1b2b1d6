//! The sources of values, and how often each is drawn.

use serde::{Deserialize, Serialize};

coreach_model::words! {
    /// The source of a value.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Pick {
        /// An end of the range that the guard leaves, or its neighbour.
        Boundary = "boundary",
        /// Near 0.
        Small = "small",
        /// Far from 0: near a power of two.
        Large = "large",
        /// A value of an earlier event of this run, or of a constant.
        Seen = "seen",
        /// A value to try, from the implementation's file.
        Sample = "sample",
        /// Any value in the range or of the finite type.
        Uniform = "uniform",
        /// The solver's value, in a window around a random number.
        Diverse = "diverse",
        /// The solver's first value: nothing else was found.
        Witness = "witness",
        /// A value of a plan that leads to Pass.
        Planned = "planned",
    }
}

/// The weight of each source. `Witness` has none, since it is the last resort, nor has `Planned`. `Sample`
/// has none, since it gives half of the values if there are samples.
pub type Mix = [(Pick, usize); 6];

/// The usual mix: more than a third of the values is drawn uniformly from the whole range.
pub const MIX: Mix = [
    (Pick::Boundary, 4),
    (Pick::Small, 4),
    (Pick::Large, 1),
    (Pick::Seen, 3),
    (Pick::Uniform, 7),
    (Pick::Diverse, 0),
];
