//! Records of runs: every outcome, with all its fields.

use std::collections::BTreeMap;
use std::time::Duration;

use coreach_adapters::evidence::{self, EvidenceItem, Phase};
use coreach_adapters::{Failure, Left, Teardown};
use coreach_execution::explain::{Guard, Reason};
use coreach_execution::outcome::{Cause, Outcome, OutcomeKind, cause_and_detail};
use coreach_execution::record::{Record, StepRecord};
use coreach_execution::shrink::Stopped;
use coreach_execution::shrink::told::{OtherRecord, ShrunkRecord};
use coreach_execution::timed::jitter::Jitter;
use coreach_execution::timed::timing::Timing;
use coreach_execution::values::Pick;
use coreach_model::Verdict;
use coreach_tests::schema;
use serde_json::{Value, json};

use super::{a_bucket, a_map, follow};
use crate::schemas::words;

/// Every word for how a run may end. The matches make this complain when one is added.
fn outcomes() -> Vec<Outcome> {
    let some = Duration::from_millis(7);
    let text = || "x".to_owned();
    let causes = [
        Cause::Event,
        Cause::Alien(text()),
        Cause::Silence(some),
        Cause::NothingToDo,
        Cause::Unspecified,
        Cause::Crossed,
        Cause::Steps(3),
        Cause::States(5),
        Cause::Time(some),
        Cause::Digits(4),
        Cause::Late(Duration::from_micros(137)),
        Cause::Jitter(some),
        Cause::Walked,
        Cause::Ended,
    ];
    let failures = [
        Failure::Start(text()),
        Failure::Lost(text()),
        Failure::Garbage(text()),
        Failure::Stuck(text()),
        Failure::Flood(text()),
        Failure::Untranslatable(text()),
        Failure::Unclean(text()),
    ];
    for cause in &causes {
        match cause {
            Cause::Event | Cause::Alien(_) | Cause::Silence(_) | Cause::NothingToDo | Cause::Unspecified => {}
            Cause::Crossed
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
    for failure in &failures {
        match failure {
            Failure::Start(_) | Failure::Lost(_) | Failure::Garbage(_) => {}
            Failure::Stuck(_) | Failure::Flood(_) | Failure::Untranslatable(_) => {}
            Failure::Unclean(_) => {}
        }
    }
    let verdicts = causes
        .into_iter()
        .flat_map(|cause| Verdict::ALL.map(|verdict| Outcome::Verdict(verdict, cause.clone())));
    verdicts.chain(failures.into_iter().map(Outcome::RunError)).collect()
}

fn item(kind: evidence::EvidenceKind, at: usize) -> EvidenceItem {
    let bytes: [&[u8]; 2] = [b"text\r\n", b"\x00"];
    EvidenceItem {
        kind,
        over: (at % 2 == 1).then(|| "a".to_owned()),
        at: Duration::from_millis(3),
        phase: Phase::ALL[at % 3],
        bytes: bytes[at / 3].to_vec(),
        cut: 12,
        rest: b"rest".to_vec(),
        note: Some("n".to_owned()),
    }
}

pub(super) fn records() -> Vec<Record> {
    let step = |direction: &str, event: bool| StepRecord {
        direction: direction.to_owned(),
        action: event.then(|| "Coin".to_owned()),
        values: event.then(a_map),
        ms: (!event).then_some(2.5),
        at_ms: 1.25,
    };
    let guard = Guard {
        transition: "t".to_owned(),
        place: Some("f:1".to_owned()),
        part: "p".to_owned(),
        holds: true,
        since: Some("`q` holds".to_owned()),
        values: BTreeMap::from_iter([("p".to_owned(), "3".to_owned())]),
    };
    let one = |(number, outcome): (usize, Outcome)| {
        let (cause, detail) = cause_and_detail(&outcome);
        Record {
            format_version: coreach_execution::record::FORMAT_VERSION,
            test_case: "t".to_owned(),
            constants: a_map(),
            seed: u64::MAX,
            verdict: outcome.kind(),
            cause: cause.to_owned(),
            detail,
            reason: Reason {
                summary: "s".to_owned(),
                location: "l".to_owned(),
                event: Some("e".to_owned()),
                guards: vec![guard.clone()],
                entered: Some(guard.clone()),
                expected: vec!["x".to_owned()],
            },
            bucket: Some(a_bucket()),
            trace: vec![
                step("stimulus", true),
                step("observation", true),
                step("silence", false),
                step("delay", false),
            ],
            mix: Pick::ALL.iter().map(|source| (*source, 2)).collect(),
            link_ms: Some(50.0),
            over: BTreeMap::from([("A".to_owned(), 0), ("B".to_owned(), 1)]),
            crossed: 2,
            teardown: Some(Teardown {
                awaited: "the answer to `Add`".to_owned(),
                waited: Duration::from_micros(1500),
                left: Left::ALL[number % 3],
            }),
            shrunk: Some(ShrunkRecord {
                from_events: 9,
                events: 4,
                runs: 7,
                stopped: Some(Stopped::Time),
                repeated: 5,
                same: 4,
                others: vec![OtherRecord { bucket: a_bucket(), count: 1 }],
            }),
            retried: 2,
            timing: Some(Timing {
                is_simulated: false,
                tolerance: Duration::from_millis(10),
                moved: 1,
                jitter: Jitter { most: Duration::from_micros(3250), p99: Duration::from_micros(500) },
                held_up: Duration::from_micros(1200),
                thought: Duration::from_millis(12),
                longest_thought: Duration::from_millis(8),
            }),
            wire: evidence::EvidenceKind::ALL.iter().enumerate().map(|(at, kind)| item(*kind, at)).collect(),
            seconds: 0.5,
        }
    };
    outcomes().into_iter().enumerate().map(one).collect()
}

#[test]
fn a_record_has_the_fields_and_words_of_its_schema() {
    let records = records();
    let documents: Vec<Value> = records.iter().map(|record| serde_json::to_value(record).unwrap()).collect();
    follow("run-record.schema.json", &documents);
    let schema = schema::read("run-record.schema.json");
    assert_eq!(words(&schema, "/properties/verdict/enum"), OutcomeKind::ALL.map(OutcomeKind::name));
    let mut causes: Vec<String> = Vec::new();
    records.into_iter().map(|record| record.cause).for_each(|cause| {
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    });
    assert_eq!(words(&schema, "/properties/cause/enum"), causes);
    assert_eq!(
        words(&schema, "/properties/teardown/properties/left/enum"),
        Left::ALL.map(|left| json!(left).as_str().unwrap().to_owned())
    );
    let wire = |key: &str| words(&schema, &format!("/properties/wire/items/properties/{key}/enum"));
    assert_eq!(wire("direction"), evidence::EvidenceKind::ALL.map(evidence::EvidenceKind::name));
    assert_eq!(wire("phase"), [Phase::Start, Phase::Settle].map(Phase::name));
    let stopped = [Stopped::Runs, Stopped::Time].map(Stopped::name);
    assert_eq!(words(&schema, "/properties/shrunk/properties/stopped/enum"), stopped);
    assert_eq!(
        words(&schema, "/$defs/bucket/properties/verdict/enum"),
        OutcomeKind::ALL.map(OutcomeKind::name)
    );
    let sources: Vec<&str> = Pick::ALL.iter().map(|source| source.name()).collect();
    assert_eq!(words(&schema, "/properties/mix/propertyNames/enum"), sources);
}
