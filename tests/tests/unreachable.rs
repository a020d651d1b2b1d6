//! Unreachable purposes about lists, sets, maps and strings: which of them the default settings prove.
//!
//! Each condition of `never` is false in every reachable state of its specification in `tests/unreachable`,
//! and each of `some` holds in one. The purpose asks for the event `Check` where the condition holds.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::path::Path;
use std::sync::Arc;

use coreach_analyses::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::SourceFile;
use coreach_model::reader::{read_purpose, read_specification};
use coreach_pipeline::{StageOptions, generate};

/// A specification, the conditions that never hold there, and those that hold in some reachable state.
type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

const CASES: &[Case] = &[
    ("count6", &["n != len(q)", "n > 6 || n < 0"], &["n == 6"]),
    ("count20", &["n != len(q)", "n > 20 || n < 0"], &["n == 20"]),
    ("count40", &["n != len(q)", "n > 40 || n < 0"], &["n == 40"]),
    (
        "last",
        &["len(q) > 0 && q[len(q) - 1] != last", "len(q) == 3 && q[2] != last"],
        &["len(q) > 1 && q[0] != last"],
    ),
    (
        "queue4",
        &[
            "some x in q: x <= 2",
            "contains(q, 1)",
            "len(q) > 0 && q[0] < 3",
            "len(q) > 2 && q[2] < 3",
            "n != len(q)",
            "n > 4",
        ],
        &["some x in q: x <= 3", "len(q) > 1 && q[0] == q[1]"],
    ),
    (
        "queue16",
        &[
            "some x in q: x <= 2",
            "contains(q, 1)",
            "len(q) > 0 && q[0] < 3",
            "len(q) > 2 && q[2] < 3",
            "n != len(q)",
        ],
        &["some x in q: x <= 3", "len(q) > 1 && q[0] == q[1]"],
    ),
    (
        "orders",
        &[
            "some o in open: o.amount < 2",
            "some o in done: o.amount > 7",
            "some o in done: !o.paid",
            "some o in open: len(o.note) > 3",
            "len(open) > 1 && open[len(open) - 1].amount > 7",
        ],
        &["some o in open: o.paid && o.amount == 7", "some o in done: o.amount == 2", "done != []"],
    ),
    (
        "window",
        &["some x in sent: x <= base", "some x in sent: x >= next", "len(sent) > 0 && next <= base + 1"],
        &["some x in sent: x > 2", "sent == [2, 3]"],
    ),
    (
        "copies",
        &[
            "some x in fast: x > 9",
            "contains(fast, 12)",
            "some x in q: x < 1",
            "fast != [] && max(fast) > 9",
            "q != [] && min(q) < 1",
        ],
        &["some x in fast: x == 9", "q != [] && min(q) == 99"],
    ),
    ("set10", &["len(s) > 3"], &["len(s) == 3"]),
    ("set40", &["len(s) > 3 || len(m) > 3"], &[]),
    (
        "tickets",
        &[
            "len(q) >= 2 && q[0] > q[1]",
            "len(q) >= 2 && q[0] == q[1]",
            "len(q) >= 3 && q[0] > q[2]",
            "some x in q: x >= next",
            "some x in q: x < 1",
        ],
        &["len(q) >= 2 && q[0] + 1 < q[1]"],
    ),
    (
        "tickets12",
        &["some x in q: x >= next", "len(q) > 4 && q[4] < 1", "len(q) >= 2 && q[0] > q[1]"],
        &["len(q) >= 2 && q[0] < q[1]"],
    ),
    (
        "words",
        &[
            r#"name == """#,
            "len(name) > 8",
            r#"name == "Bob""#,
            r#"starts_with(name, "7")"#,
            "len(code) == 3",
            r#"some x in names: x == """#,
            "some x in names: len(x) > 8",
        ],
        &["len(name) == 8"],
    ),
];

fn source(name: &str, text: String) -> Arc<SourceFile> {
    Arc::new(SourceFile { name: name.to_owned(), text })
}

/// Is a state where the condition holds seen as reachable?
fn seems_reachable(name: &str, condition: &str) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("unreachable");
    let text = std::fs::read_to_string(folder.join(format!("{name}.yaml"))).unwrap();
    let (specification, _) = read_specification(source(name, text)).unwrap();
    let names: Vec<&str> = specification.iosts.variables.iter().map(|datum| datum.name()).collect();
    let text = format!(
        "purpose: reach\nof: {name}\nobserves: [{}]\ninitial: {{ location: Begin }}\ntransitions:\n  - \
         {{ from: Begin, to: Accept, on: Check, when: '{condition}' }}\n",
        names.join(", ")
    );
    let (purpose, _) = read_purpose(source("purpose", text), &specification).unwrap();
    let options = StageOptions {
        max_lookahead: 8,
        analysis: Analysis::default(),
        limits: Default::default(),
        check: false,
    };
    let made = generate(&specification.iosts, purpose, &options, &mut Z3Solver::default(), &mut |_| {});
    made.unwrap().test_graph.is_purpose_reachable()
}

#[test]
fn sound_what_can_happen_to_collections_is_reachable() {
    for (name, _, some) in CASES {
        for condition in *some {
            assert!(seems_reachable(name, condition), "{name}: {condition}");
        }
    }
}

#[test]
fn precise_what_never_happens_to_collections_is_proved() {
    for (name, never, _) in CASES {
        // One question for all of them, because each is a run of the pipeline.
        if !seems_reachable(name, &format!("({})", never.join(") || ("))) {
            continue;
        }
        let is_open = |condition: &&str| seems_reachable(name, condition);
        let found: Vec<&str> = never.iter().copied().filter(is_open).collect();
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}
