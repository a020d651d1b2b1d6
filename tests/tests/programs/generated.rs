//! A test case, made by coreach 0.1.0.
//!
//! It needs the crates `coreach-adapters` and `coreach-execution` among the `dev-dependencies`, and an
//! implementation: a command that speaks lines of JSON,
//! `COREACH_IUT="python3 iut.py" cargo test -- --ignored`,
//! or an adapter of your own in place of `implementation`, for example
//! `coreach_adapters::in_process::InProcess` around a type of yours; then take `#[ignore]` away.
//!
//! Fail and what breaks on the way are a panic with the trace and with what was allowed instead. Pass and
//! Inconclusive are told (`--nocapture`), since `cargo test` cannot skip a test that has begun.

use coreach_adapters::Failure;
use coreach_adapters::stdio::StdioAdapter;
use coreach_execution::{Trial, TrialError};

/// What is tested.
fn implementation() -> Result<StdioAdapter, Failure> {
    StdioAdapter::of_environment("COREACH_IUT")
}

#[test]
#[ignore = "it needs an implementation: COREACH_IUT, or an adapter of your own"]
fn test_coffee_machine_deliver_coffee() -> Result<(), TrialError> {
    let trial = Trial::of(TEST_CASE)?;
    for seed in 1..=10 {
        let ended = trial.clone().seed(seed).against(&mut implementation()?)?;
        assert!(!ended.is_failure(), "{ended}");
        println!("{ended}");
    }
    Ok(())
}

/// The test case, as `coreach run` writes it to `test_case.json`.
const TEST_CASE: &str = r#"{
  "format": "coreach",
  "format_version": 7,
  "generator": {
    "name": "coreach",
    "version": "0.1.0"
  },
  "stage": "test_case",
  "name": "coffee_machine__deliver_coffee",
  "made_of": {
    "specification": {"name": "coffee_machine", "sha256": "ced3fb0bffdec8dcb08fc21081fd18ed23384b922efb1b5ca2463cc210eed151"},
    "purpose": {"name": "deliver_coffee", "sha256": "ad85bc69d1b0d077ba1cd0d3674310d8baa3bd9a6e3bd02a3afddac05579d8b2"}
  },
  "conjuncts": [
    21,
    39,
    41,
    16,
    24,
    13
  ],
  "counts": {
    "locations": 6,
    "transitions": 12,
    "pass": 1,
    "inconclusive": 0,
    "fail": 8
  },
  "purpose_reachable": true,
  "lookahead": 0,
  "selection": {
    "pruned": 14,
    "strengthened": 2,
    "inconclusive": 0,
    "rounds": 3
  },
  "imprecisions": [],
  "types": [
    {"kind": "nat"},
    {"kind": "enum", "name": "Beverage", "literals": ["TEA", "COFFEE"]},
    {"kind": "int"},
    {"kind": "bool"}
  ],
  "terms": [
    ["data", "cPrice", 0],
    ["literal", 2, 0],
    [">", 0, 1],
    ["data", "vPaid", 0],
    ["==", 3, 1],
    ["data", "vBeverage", 1],
    ["literal", 1, "TEA"],
    ["==", 5, 6],
    ["and", [2, 4, 7]],
    ["data", "pCoinValue", 0],
    [">", 9, 1],
    [">=", 9, 0],
    ["and", [10, 11]],
    [">=", 3, 0],
    ["data", "pRemainingValue", 0],
    ["-", 3, 0],
    ["==", 14, 15],
    ["and", [13, 16]],
    ["data", "pBeverage", 1],
    ["literal", 1, "COFFEE"],
    ["==", 18, 19],
    ["==", 18, 5],
    ["and", [21, 20]],
    ["literal", 3, true],
    ["<", 3, 0],
    ["!=", 14, 15],
    ["or", [24, 25]],
    ["!=", 18, 5],
    ["!=", 18, 19],
    ["or", [27, 28]],
    ["literal", 2, 1],
    [">=", 0, 30],
    ["and", [7, 4, 31]],
    ["and", [7, 31, 13]],
    ["==", 3, 0],
    ["and", [7, 34, 31]],
    ["==", 5, 19],
    ["and", [36, 34, 31]],
    ["literal", 3, false],
    ["==", 14, 3],
    ["-", 0, 3],
    ["==", 14, 40]
  ],
  "constants": [
    {"name": "cPrice", "type": 0}
  ],
  "variables": [
    {"name": "vPaid", "type": 0},
    {"name": "vBeverage", "type": 1}
  ],
  "actions": [
    {"name": "Coin", "kind": "input", "role": "stimulus", "parameters": [{"name": "pCoinValue", "type": 0}]},
    {"name": "ChooseBeverage", "kind": "input", "role": "stimulus", "parameters": [{"name": "pBeverage", "type": 1}]},
    {"name": "Cancel", "kind": "input", "role": "stimulus", "parameters": []},
    {"name": "Return", "kind": "output", "role": "observation", "parameters": [{"name": "pRemainingValue", "type": 0}]},
    {"name": "Deliver", "kind": "output", "role": "observation", "parameters": [{"name": "pBeverage", "type": 1}]}
  ],
  "initial": {
    "location": 0,
    "condition": 8
  },
  "locations": [
    {"name": "Begin__Begin", "label": "<Begin,Begin>", "origins": {"specification": ["Begin", "Idle"], "purpose": ["Begin"]}, "reach": 32, "coreach": 32},
    {"name": "Pay__Begin", "label": "<Pay,Begin>", "must_answer": 23, "origins": {"specification": ["Pay"], "purpose": ["Begin"]}, "reach": 33, "coreach": 33},
    {"name": "Choose__Begin", "label": "<Choose,Begin>", "origins": {"specification": ["Choose"], "purpose": ["Begin"]}, "reach": 35, "coreach": 35},
    {"name": "Delivery__Begin", "label": "<Delivery,Begin>", "must_answer": 23, "origins": {"specification": ["Delivery"], "purpose": ["Begin"]}, "reach": 37, "coreach": 37},
    {"name": "Pass", "label": "Pass", "verdict": "pass", "reach": 23, "coreach": 23},
    {"name": "Fail", "label": "Fail", "verdict": "fail", "reach": 23, "coreach": 38}
  ],
  "transitions": [
    {"source": 0, "target": 1, "action": 0, "guard": 12, "assignments": [{"variable": 0, "value": 9}]},
    {"source": 1, "target": 2, "action": 3, "guard": 17, "assignments": [{"variable": 0, "value": 0}]},
    {"source": 2, "target": 3, "action": 1, "guard": 20, "assignments": [{"variable": 1, "value": 18}]},
    {"source": 3, "target": 4, "action": 4, "guard": 22},
    {"source": 0, "target": 5, "action": 3, "guard": 23},
    {"source": 0, "target": 5, "action": 4, "guard": 23},
    {"source": 1, "target": 5, "action": 3, "guard": 26},
    {"source": 1, "target": 5, "action": 4, "guard": 23},
    {"source": 2, "target": 5, "action": 3, "guard": 23},
    {"source": 2, "target": 5, "action": 4, "guard": 23},
    {"source": 3, "target": 5, "action": 3, "guard": 23},
    {"source": 3, "target": 5, "action": 4, "guard": 29}
  ]
}
"#;
