//! A test case, made by coreach 0.1.0.
//!
//! It needs the crates `coreach-adapters` and `coreach-execution` among the `dev-dependencies`, and an
//! implementation: a command that speaks lines of JSON, `COREACH_IUT="python3 iut.py" cargo test -- --ignored`,
//! or an adapter of your own in place of `implementation`, for example
//! `coreach_adapters::in_process::InProcess` around a type of yours; then take `#[ignore]` away.
//!
//! Fail and what breaks on the way are a panic with the trace and with what was allowed instead. Pass and Inconclusive are told
//! (`--nocapture`), since `cargo test` cannot skip a test that has begun.

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
  "format_version": 1,
  "generator": {
    "name": "coreach",
    "version": "0.1.0"
  },
  "stage": "test_case",
  "name": "coffee_machine__deliver_coffee",
  "made_of": {
    "specification": {
      "name": "coffee_machine",
      "sha256": "ced3fb0bffdec8dcb08fc21081fd18ed23384b922efb1b5ca2463cc210eed151"
    },
    "purpose": {
      "name": "deliver_coffee",
      "sha256": "ad85bc69d1b0d077ba1cd0d3674310d8baa3bd9a6e3bd02a3afddac05579d8b2"
    },
    "conjuncts": [
      "pBeverage == vBeverage",
      "pRemainingValue == cPrice - vPaid",
      "pRemainingValue == vPaid",
      "pRemainingValue == vPaid - cPrice",
      "vPaid < cPrice",
      "vPaid >= cPrice"
    ]
  },
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
  "losses": [],
  "types": [
    {
      "name": "Beverage",
      "literals": [
        "TEA",
        "COFFEE"
      ]
    }
  ],
  "constants": [
    {
      "name": "cPrice",
      "type": "nat"
    }
  ],
  "variables": [
    {
      "name": "vPaid",
      "type": "nat"
    },
    {
      "name": "vBeverage",
      "type": "Beverage"
    }
  ],
  "declarations": [
    "(declare-datatypes ((Beverage 0)) (((TEA) (COFFEE))))",
    "(declare-const cPrice Int)",
    "(declare-const vPaid Int)",
    "(declare-const vBeverage Beverage)"
  ],
  "actions": [
    {
      "name": "Coin",
      "kind": "input",
      "role": "stimulus",
      "parameters": [
        {
          "name": "pCoinValue",
          "type": "nat"
        }
      ],
      "declarations": [
        "(declare-const pCoinValue Int)"
      ]
    },
    {
      "name": "ChooseBeverage",
      "kind": "input",
      "role": "stimulus",
      "parameters": [
        {
          "name": "pBeverage",
          "type": "Beverage"
        }
      ],
      "declarations": [
        "(declare-const pBeverage Beverage)"
      ]
    },
    {
      "name": "Cancel",
      "kind": "input",
      "role": "stimulus",
      "parameters": [],
      "declarations": []
    },
    {
      "name": "Return",
      "kind": "output",
      "role": "observation",
      "parameters": [
        {
          "name": "pRemainingValue",
          "type": "nat"
        }
      ],
      "declarations": [
        "(declare-const pRemainingValue Int)"
      ]
    },
    {
      "name": "Deliver",
      "kind": "output",
      "role": "observation",
      "parameters": [
        {
          "name": "pBeverage",
          "type": "Beverage"
        }
      ],
      "declarations": [
        "(declare-const pBeverage Beverage)"
      ]
    }
  ],
  "initial": {
    "location": "Begin__Begin",
    "condition": {
      "text": "cPrice > 0 && vPaid == 0 && vBeverage == TEA",
      "smtlib": "(and (> cPrice 0) (= vPaid 0) (= vBeverage TEA))",
      "constraints": [
        "(<= 0 cPrice)",
        "(<= 0 vPaid)"
      ]
    }
  },
  "locations": [
    {
      "name": "Begin__Begin",
      "label": "<Begin,Begin>",
      "reach": {
        "text": "vBeverage == TEA && vPaid == 0 && cPrice >= 1",
        "smtlib": "(and (= vBeverage TEA) (= vPaid 0) (>= cPrice 1))",
        "constraints": [
          "(<= 0 vPaid)",
          "(<= 0 cPrice)"
        ]
      },
      "coreach": {
        "text": "vBeverage == TEA && vPaid == 0 && cPrice >= 1",
        "smtlib": "(and (= vBeverage TEA) (= vPaid 0) (>= cPrice 1))",
        "constraints": [
          "(<= 0 vPaid)",
          "(<= 0 cPrice)"
        ]
      }
    },
    {
      "name": "Pay__Begin",
      "label": "<Pay,Begin>",
      "must_answer": true,
      "reach": {
        "text": "vBeverage == TEA && cPrice >= 1 && vPaid >= cPrice",
        "smtlib": "(and (= vBeverage TEA) (>= cPrice 1) (>= vPaid cPrice))",
        "constraints": [
          "(<= 0 cPrice)",
          "(<= 0 vPaid)"
        ]
      },
      "coreach": {
        "text": "vBeverage == TEA && cPrice >= 1 && vPaid >= cPrice",
        "smtlib": "(and (= vBeverage TEA) (>= cPrice 1) (>= vPaid cPrice))",
        "constraints": [
          "(<= 0 cPrice)",
          "(<= 0 vPaid)"
        ]
      }
    },
    {
      "name": "Choose__Begin",
      "label": "<Choose,Begin>",
      "reach": {
        "text": "vBeverage == TEA && vPaid == cPrice && cPrice >= 1",
        "smtlib": "(and (= vBeverage TEA) (= vPaid cPrice) (>= cPrice 1))",
        "constraints": [
          "(<= 0 vPaid)",
          "(<= 0 cPrice)"
        ]
      },
      "coreach": {
        "text": "vBeverage == TEA && vPaid == cPrice && cPrice >= 1",
        "smtlib": "(and (= vBeverage TEA) (= vPaid cPrice) (>= cPrice 1))",
        "constraints": [
          "(<= 0 vPaid)",
          "(<= 0 cPrice)"
        ]
      }
    },
    {
      "name": "Delivery__Begin",
      "label": "<Delivery,Begin>",
      "must_answer": true,
      "reach": {
        "text": "vBeverage == COFFEE && vPaid == cPrice && cPrice >= 1",
        "smtlib": "(and (= vBeverage COFFEE) (= vPaid cPrice) (>= cPrice 1))",
        "constraints": [
          "(<= 0 vPaid)",
          "(<= 0 cPrice)"
        ]
      },
      "coreach": {
        "text": "vBeverage == COFFEE && vPaid == cPrice && cPrice >= 1",
        "smtlib": "(and (= vBeverage COFFEE) (= vPaid cPrice) (>= cPrice 1))",
        "constraints": [
          "(<= 0 vPaid)",
          "(<= 0 cPrice)"
        ]
      }
    },
    {
      "name": "Pass",
      "label": "Pass",
      "verdict": "pass",
      "reach": {
        "text": "true",
        "smtlib": "true"
      },
      "coreach": {
        "text": "true",
        "smtlib": "true"
      }
    },
    {
      "name": "Fail",
      "label": "Fail",
      "verdict": "fail",
      "reach": {
        "text": "true",
        "smtlib": "true"
      },
      "coreach": {
        "text": "false",
        "smtlib": "false"
      }
    }
  ],
  "transitions": [
    {
      "source": "Begin__Begin",
      "target": "Pay__Begin",
      "action": "Coin",
      "guard": {
        "text": "pCoinValue > 0 && pCoinValue >= cPrice",
        "smtlib": "(and (> pCoinValue 0) (>= pCoinValue cPrice))",
        "constraints": [
          "(<= 0 pCoinValue)",
          "(<= 0 cPrice)"
        ]
      },
      "assignments": [
        {
          "variable": "vPaid",
          "text": "pCoinValue",
          "smtlib": "pCoinValue",
          "constraints": [
            "(<= 0 pCoinValue)"
          ]
        }
      ]
    },
    {
      "source": "Pay__Begin",
      "target": "Choose__Begin",
      "action": "Return",
      "guard": {
        "text": "vPaid >= cPrice && pRemainingValue == vPaid - cPrice",
        "smtlib": "(and (>= vPaid cPrice) (= pRemainingValue (- vPaid cPrice)))",
        "constraints": [
          "(<= 0 vPaid)",
          "(<= 0 cPrice)",
          "(<= 0 pRemainingValue)"
        ]
      },
      "assignments": [
        {
          "variable": "vPaid",
          "text": "cPrice",
          "smtlib": "cPrice",
          "constraints": [
            "(<= 0 cPrice)"
          ]
        }
      ]
    },
    {
      "source": "Choose__Begin",
      "target": "Delivery__Begin",
      "action": "ChooseBeverage",
      "guard": {
        "text": "pBeverage == COFFEE",
        "smtlib": "(= pBeverage COFFEE)"
      },
      "assignments": [
        {
          "variable": "vBeverage",
          "text": "pBeverage",
          "smtlib": "pBeverage"
        }
      ]
    },
    {
      "source": "Delivery__Begin",
      "target": "Pass",
      "action": "Deliver",
      "guard": {
        "text": "pBeverage == vBeverage && pBeverage == COFFEE",
        "smtlib": "(and (= pBeverage vBeverage) (= pBeverage COFFEE))"
      },
      "assignments": []
    },
    {
      "source": "Begin__Begin",
      "target": "Fail",
      "action": "Return",
      "guard": {
        "text": "true",
        "smtlib": "true"
      },
      "assignments": []
    },
    {
      "source": "Begin__Begin",
      "target": "Fail",
      "action": "Deliver",
      "guard": {
        "text": "true",
        "smtlib": "true"
      },
      "assignments": []
    },
    {
      "source": "Pay__Begin",
      "target": "Fail",
      "action": "Return",
      "guard": {
        "text": "vPaid < cPrice || pRemainingValue != vPaid - cPrice",
        "smtlib": "(or (< vPaid cPrice) (not (= pRemainingValue (- vPaid cPrice))))",
        "constraints": [
          "(<= 0 vPaid)",
          "(<= 0 cPrice)",
          "(<= 0 pRemainingValue)"
        ]
      },
      "assignments": []
    },
    {
      "source": "Pay__Begin",
      "target": "Fail",
      "action": "Deliver",
      "guard": {
        "text": "true",
        "smtlib": "true"
      },
      "assignments": []
    },
    {
      "source": "Choose__Begin",
      "target": "Fail",
      "action": "Return",
      "guard": {
        "text": "true",
        "smtlib": "true"
      },
      "assignments": []
    },
    {
      "source": "Choose__Begin",
      "target": "Fail",
      "action": "Deliver",
      "guard": {
        "text": "true",
        "smtlib": "true"
      },
      "assignments": []
    },
    {
      "source": "Delivery__Begin",
      "target": "Fail",
      "action": "Return",
      "guard": {
        "text": "true",
        "smtlib": "true"
      },
      "assignments": []
    },
    {
      "source": "Delivery__Begin",
      "target": "Fail",
      "action": "Deliver",
      "guard": {
        "text": "pBeverage != vBeverage || pBeverage != COFFEE",
        "smtlib": "(or (not (= pBeverage vBeverage)) (not (= pBeverage COFFEE)))"
      },
      "assignments": []
    }
  ]
}
"#;
