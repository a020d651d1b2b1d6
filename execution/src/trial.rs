//! A test case within `cargo test`: it is read, driven with a seed, and explained.
//!
//! [`TestSession`] takes everything that can be chosen. A test of an implementation in a crate of its own
//! chooses a seed, perhaps constants, and wants to know whether the run failed and why: that is a [`Trial`].
//! `coreach show CONFIG --stage test_case --format rust` writes such a test with its test case in it.
//!
//! ```
//! use coreach_adapters::in_process::{Implementation, InProcess};
//! use coreach_execution::trial::{Trial, TrialError};
//! use coreach_execution::{Datum, Event, Value, Verdict};
//!
//! /// Adds, and says how much there is when asked.
//! #[derive(Default)]
//! struct Counter {
//!     count: i64,
//!     answer: Option<Event>,
//! }
//!
//! impl Implementation for Counter {
//!     fn reset(&mut self, _constants: &[(Datum, Value)], _seed: u64) -> Result<(), String> {
//!         *self = Counter::default();
//!         Ok(())
//!     }
//!
//!     fn input(&mut self, input: &Event) {
//!         self.answer = Some(match input.values.first() {
//!             Some(Value::Int(by)) => {
//!                 self.count += i64::try_from(by).unwrap_or(0);
//!                 Event::new("Done", [])
//!             }
//!             _ => Event::new("Value", [Value::int(self.count)]),
//!         });
//!     }
//!
//!     fn output(&mut self, _waited: bool) -> Option<Event> {
//!         self.answer.take()
//!     }
//! }
//!
//! # fn main() -> Result<(), TrialError> {
//! let trial = Trial::of(include_str!("../tests/data/counter.json"))?;
//! let ended = trial.seed(7).against(&mut InProcess(Counter::default()))?;
//! assert!(!ended.is_failure(), "{ended}");
//! assert_eq!(ended.verdict(), Some(Verdict::Pass));
//! # Ok(())
//! # }
//! ```

use std::fmt;

use coreach_adapters::{Adapter, Failure};
use coreach_model::Verdict;
use coreach_model::visible::visible;

use crate::constants::{ConstantsError, initial_state, read_constants};
use crate::explain::{Reason, reason_of};
use crate::judge;
use crate::lazy::Lazy;
use crate::run::{Occurrence, Outcome, Run};
use crate::session::TestSession;
use crate::settings::Settings;
use crate::strategy::Strategy;
use crate::test_case::{DocumentError, TestCase};

/// A test case that is about to meet an implementation.
#[derive(Clone, Debug)]
pub struct Trial {
    test: TestCase,
    seed: u64,
    constants: Vec<(String, String)>,
    settings: Settings,
}

/// Why there is no run. The `Debug` text, which a test shows after `?`, is the same.
#[derive(Clone, PartialEq, Eq)]
pub enum TrialError {
    /// The document is no test case.
    Document(DocumentError),
    /// There is no initial state with these constants.
    Constants(ConstantsError),
    NoImplementation(Failure),
}

impl fmt::Display for TrialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrialError::Document(why) => why.fmt(f),
            TrialError::Constants(why) => why.fmt(f),
            TrialError::NoImplementation(why) => f.write_str(why.text()),
        }
    }
}

/// A test that returns an error shows this text.
impl fmt::Debug for TrialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for TrialError {}

impl From<Failure> for TrialError {
    fn from(why: Failure) -> Self {
        TrialError::NoImplementation(why)
    }
}

impl Trial {
    /// Reads a test case's document, for a trial, with seed 1, solved constants, and the usual [`Settings`].
    pub fn of(document: &str) -> Result<Self, TrialError> {
        let test = TestCase::from_json(document.as_bytes()).map_err(TrialError::Document)?;
        Ok(Trial { test, seed: 1, constants: Vec::new(), settings: Settings::default() })
    }

    /// Sets the seed. The same seed makes the same choices.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Trial { seed, ..self }
    }

    /// Sets the value of a symbolic constant, as text. If a constant is given twice, the last value counts.
    #[must_use]
    pub fn constant(mut self, name: &str, value: &str) -> Self {
        self.constants.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the limits and times.
    #[must_use]
    pub fn settings(self, settings: Settings) -> Self {
        Trial { settings, ..self }
    }

    /// Runs once.
    ///
    /// # Errors
    /// [`TrialError::Constants`]. If something breaks on the way, the run has no verdict.
    pub fn against(&self, adapter: &mut dyn Adapter) -> Result<EndedTrial, TrialError> {
        let pairs = self.constants.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let initial = read_constants(&self.test, pairs)
            .and_then(|given| initial_state(&self.test, &given, self.seed, &mut Lazy::default()))
            .map_err(TrialError::Constants)?;
        let mut judge = judge::make_judge(&self.test, initial, None);
        let mut session = TestSession { judge: judge.as_mut(), settings: &self.settings, adapter };
        let run = session.run(self.seed, Strategy::random());
        let reason = reason_of(judge.as_mut(), &run);
        Ok(EndedTrial { run, reason })
    }
}

/// A run, with the explanation of its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndedTrial {
    pub run: Run,
    /// Why it ended as it did.
    pub reason: Reason,
}

impl EndedTrial {
    /// Returns the verdict; `None` if something broke between the tester and the implementation.
    pub fn verdict(&self) -> Option<Verdict> {
        self.run.outcome.verdict()
    }

    /// Did the implementation do what it must not do, or did something break? Inconclusive is neither.
    pub fn is_failure(&self) -> bool {
        match &self.run.outcome {
            Outcome::Verdict(verdict, _) => *verdict == Verdict::Fail,
            Outcome::RunError(_) => true,
        }
    }
}

/// The verdict and why, the seed and the constants, the trace, and what would have been allowed.
impl fmt::Display for EndedTrial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EndedTrial { run, reason } = self;
        writeln!(f, "{}: {}", run.outcome.name(), visible(&reason.summary).replace('\n', "\n  "))?;
        write!(f, "seed {}", run.seed)?;
        for (datum, value) in &run.constants {
            write!(f, ", {datum} = {value}")?;
        }
        writeln!(f)?;
        for (number, step) in run.trace.iter().enumerate() {
            let who = match &step.what {
                Occurrence::Stimulus(_) => "sent ",
                Occurrence::Observation(_) => "observed ",
                Occurrence::Silence(_) | Occurrence::Delay(_) => "",
            };
            let line = format!("  {}. {who}{}", number + 1, step.what);
            writeln!(f, "{}", visible(&line))?;
        }
        reason.lines().iter().try_for_each(|line| writeln!(f, "{}", visible(line)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use std::time::Duration;

    use coreach_adapters::stdio::StdioAdapter;

    use super::*;
    use crate::run::RunStep;

    const COUNTER: &str = include_str!("../tests/data/counter.json");

    #[test]
    fn what_is_wrong_before_a_run_is_said_in_words() {
        let error = Trial::of("{}").unwrap_err();
        assert!(format!("{error:?}").starts_with("not a document that `coreach run` writes"), "{error:?}");
        let mut adapter = StdioAdapter::of_command(["true"]);
        let error = Trial::of(COUNTER).unwrap().constant("cNone", "1").against(&mut adapter).unwrap_err();
        assert!(matches!(error, TrialError::Constants(ConstantsError::Unknown(..))), "{error}");
        let error = StdioAdapter::of_environment("COREACH_NO_SUCH_VARIABLE").err().unwrap();
        assert!(error.to_string().contains("COREACH_NO_SUCH_VARIABLE"), "{error}");
    }

    #[test]
    fn what_breaks_on_the_way_is_a_failure_without_a_verdict() {
        let settings = Settings { quiescence: Duration::from_millis(50), ..Settings::default() };
        let trial = Trial::of(COUNTER).unwrap().settings(settings);
        let mut ended = trial.against(&mut StdioAdapter::of_command(["true"])).unwrap();
        assert!(ended.is_failure() && ended.verdict().is_none(), "{ended}");
        assert!(ended.to_string().starts_with("RunError: "), "{ended}");
        let what = Occurrence::Silence(Duration::from_millis(50));
        ended.run.trace.push(RunStep { what, transition: None, at: Duration::ZERO });
        assert!(ended.to_string().contains("  1. silence"), "{ended}");
    }
}
