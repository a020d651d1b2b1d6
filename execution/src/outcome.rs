//! How a run ends, and the words for it: one table for everything that writes or reads them.
//!
//! A record, the store, a report for build servers and a summary all say how a run ended. They agree since
//! they use these types: a new verdict or cause is one more line in this file, and the compiler names each
//! place that has to decide what it means there.
//!
//! | in a record | type |
//! |---|---|
//! | `verdict` | [`OutcomeKind`]: the verdict's name, or `RunError` |
//! | `cause`, `detail` | [`Cause`] of a verdict, [`Failure`] of a run error: a word, and what belongs to it |

use std::fmt;
use std::time::Duration;

use coreach_adapters::Failure;
use coreach_model::Verdict;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;

use crate::times::{self, seconds};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum OutcomeKind {
    Verdict(Verdict),
    /// No verdict: something between tester and implementation broke.
    RunError,
}

impl OutcomeKind {
    /// All kinds, in the order of reports.
    pub const ALL: [OutcomeKind; 5] = [
        OutcomeKind::Verdict(Verdict::Pass),
        OutcomeKind::Verdict(Verdict::WeakPass),
        OutcomeKind::Verdict(Verdict::Inconclusive),
        OutcomeKind::Verdict(Verdict::Fail),
        OutcomeKind::RunError,
    ];

    /// The worst kind: the implementation does something that it must not do.
    pub const FAIL: OutcomeKind = OutcomeKind::Verdict(Verdict::Fail);

    pub fn name(self) -> &'static str {
        match self {
            OutcomeKind::Verdict(verdict) => verdict.name(),
            OutcomeKind::RunError => "RunError",
        }
    }

    pub fn named(name: &str) -> Option<OutcomeKind> {
        OutcomeKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Ranks the kind by how bad it is. If two runs of one key disagree, the worse one is reported.
    pub fn rank(self) -> usize {
        match self {
            OutcomeKind::Verdict(Verdict::Pass) => 0,
            OutcomeKind::Verdict(Verdict::WeakPass) => 1,
            OutcomeKind::Verdict(Verdict::Inconclusive) => 2,
            OutcomeKind::RunError => 3,
            OutcomeKind::Verdict(Verdict::Fail) => 4,
        }
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns the message for an unknown word: the file is of a later version, or somebody wrote it by hand.
fn unknown_verdict(name: &str) -> String {
    format!("`{name}` is no verdict")
}

impl Serialize for OutcomeKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for OutcomeKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        OutcomeKind::named(&name).ok_or_else(|| serde::de::Error::custom(unknown_verdict(&name)))
    }
}

impl ToSql for OutcomeKind {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.name().to_sql()
    }
}

impl FromSql for OutcomeKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?;
        OutcomeKind::named(name).ok_or_else(|| FromSqlError::Other(unknown_verdict(name).into()))
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    Verdict(Verdict, Cause),
    /// No verdict: something between tester and implementation broke.
    RunError(Failure),
}

impl Outcome {
    /// Nothing wrong was seen, and the run is over for this cause.
    pub fn inconclusive(cause: Cause) -> Self {
        Outcome::Verdict(Verdict::Inconclusive, cause)
    }

    /// Returns the kind of the outcome, without the cause.
    pub fn kind(&self) -> OutcomeKind {
        match self {
            Outcome::Verdict(verdict, _) => OutcomeKind::Verdict(*verdict),
            Outcome::RunError(_) => OutcomeKind::RunError,
        }
    }

    /// Returns the verdict's name, or `RunError`.
    pub fn name(&self) -> &'static str {
        self.kind().name()
    }

    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Outcome::Verdict(verdict, _) => Some(*verdict),
            Outcome::RunError(_) => None,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The last step of the trace led to the verdict.
    Event,
    /// Fail: the implementation sent something that is no event of the specification.
    Alien(String),
    /// Nothing was observed for so long, and there was nothing to send. It is a Fail if the specification
    /// must answer and the IUT file says that this counts (`silence: fail`), and Inconclusive otherwise.
    Silence(Duration),
    /// Inconclusive: no stimulus has values that satisfy its guard here, and nothing may be observed.
    NothingToDo,
    /// Inconclusive: the judge's model says nothing about what happened.
    Unspecified,
    /// Inconclusive: observations may have crossed stimuli in orders that the judge does not follow.
    Crossed,
    /// Inconclusive: the run has had its greatest number of events.
    Steps(usize),
    /// Inconclusive: more states than this were possible at once, and the judge does not follow so many.
    States(usize),
    /// Inconclusive: the run has lasted for its greatest time.
    Time(Duration),
    /// Inconclusive: a number would have had more digits than the program computes.
    Digits(usize),
    /// Inconclusive, in a timed run: the only stimulus left had to be sent so long before the tester could.
    Late(Duration),
    /// Inconclusive: time or silence would make it a Fail, but this machine itself was so late.
    Jitter(Duration),
    /// Inconclusive: a walk ended the run: its goals are met, its time is over, or another run can meet more.
    Walked,
    /// Inconclusive: the person at the keyboard ended the run.
    Ended,
}

impl Cause {
    /// May a run end with this verdict for this cause?
    pub fn may_end_in(&self, verdict: Verdict) -> bool {
        match self {
            Cause::Event => true,
            Cause::Alien(_) => verdict == Verdict::Fail,
            Cause::Silence(_) => matches!(verdict, Verdict::Fail | Verdict::Inconclusive),
            Cause::NothingToDo
            | Cause::Unspecified
            | Cause::Crossed
            | Cause::Steps(_)
            | Cause::States(_)
            | Cause::Time(_)
            | Cause::Digits(_)
            | Cause::Late(_)
            | Cause::Jitter(_)
            | Cause::Walked
            | Cause::Ended => verdict == Verdict::Inconclusive,
        }
    }
}

/// Returns the cause as a word, and its detail: milliseconds, a number of steps, or a text.
pub fn cause_and_detail(outcome: &Outcome) -> (&'static str, Json) {
    let milliseconds = |time: &Duration| Json::from(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    match outcome {
        Outcome::RunError(failure) => (failure.name(), Json::from(failure.text())),
        Outcome::Verdict(_, cause) => match cause {
            Cause::Event => ("event", Json::Null),
            Cause::Alien(text) => ("alien", Json::from(text.clone())),
            Cause::Silence(time) => ("silence", milliseconds(time)),
            Cause::NothingToDo => ("nothing_to_do", Json::Null),
            Cause::Unspecified => ("unspecified", Json::Null),
            Cause::Crossed => ("crossed", Json::Null),
            Cause::Steps(limit) => ("steps", Json::from(*limit)),
            Cause::States(limit) => ("states", Json::from(*limit)),
            Cause::Time(time) => ("time", milliseconds(time)),
            Cause::Digits(limit) => ("digits", Json::from(*limit)),
            Cause::Late(time) => ("late", Json::from(times::milliseconds(*time))),
            Cause::Jitter(time) => ("jitter", Json::from(times::milliseconds(*time))),
            Cause::Walked => ("walked", Json::Null),
            Cause::Ended => ("ended", Json::Null),
        },
    }
}

/// Reads an outcome from its kind, and from the word and the detail of [`cause_and_detail`].
pub fn read_outcome(kind: OutcomeKind, cause: &str, detail: &Json) -> Result<Outcome, String> {
    let wrong = |what: &str| format!("`detail` of the cause `{cause}` must be {what}");
    let text = || detail.as_str().map(str::to_owned).ok_or_else(|| wrong("a text"));
    let number = || detail.as_u64().ok_or_else(|| wrong("a whole number"));
    let time = || number().map(Duration::from_millis);
    let moment = || {
        let time = detail.as_f64().and_then(|ms| seconds(ms / 1e3));
        time.ok_or_else(|| wrong("a time in milliseconds"))
    };
    let verdict = match kind {
        OutcomeKind::RunError => {
            let failure = match cause {
                "start" => Failure::Start(text()?),
                "lost" => Failure::Lost(text()?),
                "garbage" => Failure::Garbage(text()?),
                "stuck" => Failure::Stuck(text()?),
                "flood" => Failure::Flood(text()?),
                "untranslatable" => Failure::Untranslatable(text()?),
                "unclean" => Failure::Unclean(text()?),
                other => return Err(format!("`{other}` is no cause of a run error")),
            };
            return Ok(Outcome::RunError(failure));
        }
        OutcomeKind::Verdict(verdict) => verdict,
    };
    let typed = match cause {
        "event" => Cause::Event,
        "alien" => Cause::Alien(text()?),
        "silence" => Cause::Silence(time()?),
        "nothing_to_do" => Cause::NothingToDo,
        "unspecified" => Cause::Unspecified,
        "crossed" => Cause::Crossed,
        "states" => Cause::States(usize::try_from(number()?).map_err(|_| wrong("a number of states"))?),
        "steps" => Cause::Steps(usize::try_from(number()?).map_err(|_| wrong("a number of events"))?),
        "time" => Cause::Time(time()?),
        "digits" => Cause::Digits(usize::try_from(number()?).map_err(|_| wrong("a number of digits"))?),
        "late" => Cause::Late(moment()?),
        "jitter" => Cause::Jitter(moment()?),
        "walked" => Cause::Walked,
        "ended" => Cause::Ended,
        other => return Err(format!("`{other}` is no cause of a verdict")),
    };
    if !typed.may_end_in(verdict) {
        return Err(format!("the cause `{cause}` never ends in {kind}"));
    }
    Ok(Outcome::Verdict(verdict, typed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each. The match makes this list complain when a cause is added to the type and not here.
    fn causes() -> Vec<Cause> {
        let some = Duration::from_millis(7);
        let list = vec![
            Cause::Event,
            Cause::Alien("x".to_owned()),
            Cause::Silence(some),
            Cause::NothingToDo,
            Cause::Unspecified,
            Cause::Crossed,
            Cause::Steps(3),
            Cause::States(3),
            Cause::Time(some),
            Cause::Digits(4),
            Cause::Late(Duration::from_micros(137)),
            Cause::Jitter(Duration::from_micros(20_500)),
            Cause::Walked,
            Cause::Ended,
        ];
        for cause in &list {
            match cause {
                Cause::Event
                | Cause::Alien(_)
                | Cause::Silence(_)
                | Cause::NothingToDo
                | Cause::Unspecified
                | Cause::Crossed
                | Cause::Steps(_)
                | Cause::States(_)
                | Cause::Time(_)
                | Cause::Digits(_)
                | Cause::Late(_)
                | Cause::Jitter(_)
                | Cause::Walked
                | Cause::Ended => {}
            }
        }
        list
    }

    fn failures() -> Vec<Failure> {
        let text = || "y".to_owned();
        vec![
            Failure::Start(text()),
            Failure::Lost(text()),
            Failure::Garbage(text()),
            Failure::Stuck(text()),
            Failure::Flood(text()),
            Failure::Untranslatable(text()),
            Failure::Unclean(text()),
        ]
    }

    #[test]
    fn whatever_is_written_is_read_back_and_no_two_words_are_alike() {
        let mut words = std::collections::BTreeSet::new();
        for failure in failures() {
            let outcome_of = Outcome::RunError(failure);
            let (word, detail) = cause_and_detail(&outcome_of);
            assert!(words.insert(word), "{word} twice");
            assert_eq!(read_outcome(OutcomeKind::RunError, word, &detail), Ok(outcome_of));
        }
        for one in causes() {
            let word = cause_and_detail(&Outcome::Verdict(Verdict::Pass, one.clone())).0;
            assert!(words.insert(word), "{word} twice");
            for verdict in Verdict::ALL {
                let given = Outcome::Verdict(verdict, one.clone());
                let (word, detail) = cause_and_detail(&given);
                let read = read_outcome(given.kind(), word, &detail);
                assert_eq!(read.ok(), one.may_end_in(verdict).then_some(given));
            }
        }
    }

    #[test]
    fn an_ending_is_one_word_everywhere() {
        let names = ["Pass", "WeakPass", "Inconclusive", "Fail", "RunError"];
        assert_eq!(OutcomeKind::ALL.map(OutcomeKind::name), names);
        for kind in OutcomeKind::ALL {
            let written = serde_json::to_string(&kind).unwrap_or_default();
            assert_eq!(written, format!("\"{}\"", kind.name()));
            assert_eq!(serde_json::from_str::<OutcomeKind>(&written).ok(), Some(kind));
            assert_eq!(OutcomeKind::column_result(ValueRef::from(kind.name())).ok(), Some(kind));
        }
        assert!(serde_json::from_str::<OutcomeKind>("\"pass\"").is_err());
        assert!(OutcomeKind::column_result(ValueRef::from("NoPass")).is_err());
        // Every verdict of the type is a kind of outcome.
        assert!(
            Verdict::ALL.into_iter().all(|verdict| OutcomeKind::ALL.contains(&OutcomeKind::Verdict(verdict)))
        );
        let mut ranks = OutcomeKind::ALL.map(OutcomeKind::rank);
        ranks.sort_unstable();
        assert_eq!(ranks, [0, 1, 2, 3, 4]);
    }
}
