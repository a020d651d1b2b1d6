//! The result of shrinking, as a record has it next to the run that was found.

use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::run::{Run, events};
use crate::shrink::{Shrunk, Stopped};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShrunkRecord {
    pub from_events: usize,
    pub events: usize,
    /// The number of runs, without the last repetitions.
    pub runs: usize,
    /// The limit that ended the search before nothing was left to try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// How often the run was repeated in the end.
    pub repeated: usize,
    /// How often it came to the same bucket.
    pub same: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherRecord>,
}

/// Another end of the repeated run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OtherRecord {
    pub bucket: Bucket,
    pub count: usize,
}

impl ShrunkRecord {
    pub fn new(given: &Run, shrunk: &Shrunk) -> Self {
        let other =
            |(bucket, count): (&Bucket, &usize)| OtherRecord { bucket: bucket.clone(), count: *count };
        ShrunkRecord {
            from_events: events(&given.trace),
            events: events(&shrunk.run.trace),
            runs: shrunk.runs,
            stopped: shrunk.stopped,
            repeated: shrunk.again.times,
            same: shrunk.again.same,
            others: shrunk.again.others.iter().map(other).collect(),
        }
    }
}
