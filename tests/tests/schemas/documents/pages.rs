//! Pages, with all that a page can have.

use serde_json::json;

use super::records::records;
use super::{a_bucket, a_map, follow};

/// A page with all that a page can have.
#[test]
fn pages_follow_their_schema() {
    use coreach_project::page::document as page;
    let data = || page::Data { name: "d".to_owned(), ty: 0 };
    let types = json!([
        { "kind": "range", "text": "int[0..3]", "low": "0", "high": "3" },
        { "kind": "enum", "text": "E", "name": "E", "literals": ["A"] },
        { "kind": "array", "text": "array[E] of E", "index": 1, "element": 1 },
        { "kind": "record", "text": "R", "name": "R", "fields": [{ "name": "f", "type": 0 }] },
        { "kind": "record", "text": "V", "name": "V", "fields": [{ "name": "is", "type": 1 }], "form":
            [{ "name": "A", "first": 1, "count": 0 }] },
        { "kind": "record", "text": "S", "name": "S", "fields": [{ "name": "at'A", "type": 0 }], "form":
            { "known": ["A", true, 3], "key": 0 } },
    ]);
    let graph = page::PageGraph {
        name: "g".to_owned(),
        purpose: Some("p".to_owned()),
        domain: Some("interval"),
        stage: "test_case",
        is_testers_side: true,
        constants: vec![data()],
        variables: vec![data()],
        actions: vec![page::PageAction {
            name: "a".to_owned(),
            kind: "output",
            sign: "?",
            parameters: vec![data()],
        }],
        initial: 0,
        condition: 0,
        start: a_map(),
        said_once: Some("s".to_owned()),
        others_fail: Some(1),
        reachable: Some(true),
        imprecisions: vec!["l".to_owned()],
        size: Some([10, 20]),
        locations: vec![page::PageLocation {
            name: "l".to_owned(),
            label: "<l>".to_owned(),
            description: Some("d".to_owned()),
            mark: Some("Pass"),
            must_answer: Some(0),
            reach: Some(0),
            coreach: Some(0),
            at: Some([1, 2]),
            size: Some([3, 4]),
        }],
        transitions: vec![page::PageTransition {
            source: 0,
            target: 0,
            action: 0,
            guard: Some(0),
            assignments: vec![page::PageAssignment { variable: "v".to_owned(), value: 0 }],
            origin: Some(page::PageOrigin { file: 0, line: 1, last: 2 }),
        }],
        arrows: vec![page::PageArrow {
            transitions: vec![0],
            lines: vec!["a?".to_owned()],
            points: vec![[1, 2], [3, 4]],
            label: 1,
        }],
        asides: vec![page::PageAside {
            location: 0,
            kind: "verdict",
            target: 0,
            transitions: vec![0],
            lines: vec!["Fail".to_owned()],
            at: [1, 2],
            size: [3, 4],
        }],
    };
    let record = records().swap_remove(0);
    let run = page::PageRun {
        name: "r".to_owned(),
        test: "t".to_owned(),
        iut: Some("i".to_owned()),
        verdict: "Fail".to_owned(),
        cause: "event".to_owned(),
        reason: record.reason,
        bucket: Some("b".to_owned()),
        failed: Some(a_bucket()),
        constants: a_map(),
        seed: Some("1".to_owned()),
        events: 1,
        started: Some("2026-01-01".to_owned()),
        seconds: Some(0.5),
        walk: Some(page::PageWalk {
            graph: 0,
            start: a_map(),
            steps: vec![page::PageStep {
                direction: "stimulus".to_owned(),
                action: Some("a".to_owned()),
                values: a_map(),
                transition: Some(0),
                at_ms: Some(1.5),
            }],
        }),
    };
    let whole = page::PageDocument {
        format: "coreach-page",
        format_version: page::FORMAT_VERSION,
        version: "0",
        title: "t".to_owned(),
        notes: vec!["n".to_owned()],
        files: vec![page::PageFile { name: "f".to_owned(), text: "x".to_owned() }],
        types: types.as_array().unwrap().clone(),
        terms: serde_json::from_value(json!([["data", "d", 0]])).unwrap(),
        sorts: vec![0],
        expressions: vec![page::PageExpression { text: "d".to_owned(), term: 0 }],
        graphs: vec![graph],
        domains: vec![page::PageDomain {
            purpose: "p".to_owned(),
            domain: "interval",
            result: "made",
            reason: Some("r".to_owned()),
            stages: vec![
                json!({ "stage": "product", "locations": 1, "transitions": 2, "inconclusive": 3, "fail": 4 }),
            ],
            pruned: Some(1),
            strengthened: Some(2),
            queries: Some(3),
        }],
        runs: vec![run],
        coverage: Some(json!({
            "format_version": 1, "exit_code": 0, "domain": null, "specifications": [], "unmet": [],
            "runs": { "read": 0, "repeated": 0, "too_many_states": 0, "cut": 0, "unordered": 0, "stopped": 0, "walks": 0 },
        })),
    };
    follow("page.schema.json", &[serde_json::to_value(whole).unwrap()]);
}
