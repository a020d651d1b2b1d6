//! What a test says in the end. The word lives here because two crates that do not know each other use it:
//! the pipeline makes test cases, the execution runs them.

use std::fmt;

/// What a test case says in the end (thesis, Definitions 6.4 and 6.5, pp. 143-145).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Verdict {
    /// The purpose was met, and nothing wrong was seen.
    Pass,
    /// The purpose may have been met: some of the states that are possible are there, and others are not.
    /// Only who judges on line says so (Gaston et al. 2006, rule 5); a test case is deterministic.
    WeakPass,
    /// Nothing wrong was seen, and the purpose is out of reach.
    Inconclusive,
    /// The specification forbids what was seen.
    Fail,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Verdict; 4] = [Verdict::Pass, Verdict::WeakPass, Verdict::Inconclusive, Verdict::Fail];

    /// The name of its location, and of it in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "Pass",
            Verdict::WeakPass => "WeakPass",
            Verdict::Inconclusive => "Inconclusive",
            Verdict::Fail => "Fail",
        }
    }

    /// The word for it in a document of a test case (`docs/json.md`).
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::WeakPass => "weak_pass",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Fail => "fail",
        }
    }

    /// The one of this word.
    pub fn of_word(word: &str) -> Option<Verdict> {
        Verdict::ALL.into_iter().find(|verdict| verdict.word() == word)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a safety property is violated by, in its test case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Violated {
    /// By an output that the specification allows: the specification violates it, too.
    Allowed,
    /// By an output that the specification forbids.
    Forbidden,
}

impl Violated {
    /// Both.
    pub const ALL: [Violated; 2] = [Violated::Allowed, Violated::Forbidden];

    /// The word for it in a document of a test case (`docs/json.md`).
    pub fn word(self) -> &'static str {
        match self {
            Violated::Allowed => "allowed",
            Violated::Forbidden => "forbidden",
        }
    }

    /// The one of this word.
    pub fn of_word(word: &str) -> Option<Violated> {
        Violated::ALL.into_iter().find(|violated| violated.word() == word)
    }
}
