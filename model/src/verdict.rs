//! The verdict of a test. The type lives here because two crates that do not know each other use it: the
//! pipeline makes test cases, the execution runs them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::words! {
    /// What a test case says in the end (thesis, Definitions 6.4 and 6.5, pp. 143-145).
    // The name is that of its location, and in records and reports; documents of test cases write it small.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Verdict {
        /// The purpose was met, and nothing wrong was seen.
        Pass = "Pass",
        /// The purpose may have been met: some of the states that are possible are there, and others are not.
        /// Only who judges on line says so (Gaston et al. 2006, rule 5); a test case is deterministic.
        WeakPass = "WeakPass",
        /// Nothing wrong was seen, and the purpose is out of reach.
        Inconclusive = "Inconclusive",
        /// The specification forbids what was seen.
        Fail = "Fail",
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

crate::words! {
    /// What a safety property is violated by, in its test case.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Violated {
        /// By an output that the specification allows: the specification violates it, too.
        Allowed = "allowed",
        /// By an output that the specification forbids.
        Forbidden = "forbidden",
    }
}
