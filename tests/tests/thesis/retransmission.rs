//! Section 8.2: the bounded retransmission protocol (golden 22).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use coreach_model::semantics::{Event, State, after};
use coreach_model::term::evaluate::Valuation;
use coreach_model::types::Type;
use coreach_model::value::ArrayValue;
use coreach_model::{Term, Value};
use coreach_pipeline::Generation;
use coreach_pipeline::artifact::CaseGraph;

use super::support::{equivalent, run};

fn generation() -> Generation {
    run(
        "examples/bounded_retransmission/specification.yaml",
        "examples/bounded_retransmission/transmit_once.yaml",
        "polyhedra",
    )
}

/// The chunks 10, 11, 12, ... as a file of the model's type.
fn file(case: &CaseGraph) -> Value {
    let iosts = &case.iosts;
    let request = iosts.action(iosts.find_action("REQ").unwrap());
    let Type::Array(ty) = request.parameters[0].ty().clone() else { panic!("a file is an array") };
    let cells: BTreeMap<Value, Value> = (0..8).map(|at| (Value::int(at), Value::int(10 + at))).collect();
    Value::Array(Arc::new(ArrayValue { ty, default: Value::int(0), cells }))
}

/// `REQ SEND(10,true) ACK`: REQ carries the file.
fn events(case: &CaseGraph, text: &str) -> Vec<Event> {
    let one = |word: &str| match word {
        "REQ" => vec![Event::new("REQ", [file(case)])],
        word => super::support::trace(&case.iosts, word),
    };
    text.split_whitespace().flat_map(one).collect()
}

/// Where the test case is after the trace, for these constants.
fn ends(case: &CaseGraph, chunks: i64, retries: i64, text: &str) -> Vec<String> {
    let iosts = &case.iosts;
    // The file is written before it is read: its initial value is open. The memory of the rest is given.
    let mut valuation = Valuation::new();
    for datum in iosts.variables.iter().chain(&iosts.constants) {
        let value = match datum.name() {
            "cChunkMax" => Value::int(chunks),
            "cRetMax" => Value::int(retries),
            "vAltBit" => Value::Bool(true),
            _ => Value::any(datum.ty()),
        };
        valuation.insert(datum.clone(), value);
    }
    let start = State { location: iosts.initial, valuation };
    assert!(coreach_model::semantics::is_initial(iosts, &start));
    let states = after(iosts, BTreeSet::from([start]), &events(case, text));
    states.iter().map(|state| iosts.location(state.location).label.clone()).collect()
}

/// *Soundness*: the verdicts that the thesis states in words, for several values of the constants: the test
/// case is symbolic in both.
#[test]
fn golden_22_verdicts_for_any_number_of_chunks_and_retries() {
    let case = generation().test_case;
    for retries in [2, 3, 7] {
        for chunks in 1..=4i64 {
            let mut run = "REQ ".to_owned();
            for chunk in 0..chunks {
                run.push_str(&format!("SEND({},{}) ", 10 + chunk, chunk % 2 == 0));
                // A second copy of the chunk just received: the sender has retransmitted.
                let resent = format!("{run} SEND({},{})", 10 + chunk, chunk % 2 == 0);
                assert_eq!(ends(&case, chunks, retries, &resent), ["Inconclusive"], "{resent}");
                // Another chunk or bit is no retransmission.
                for wrong in [
                    format!("SEND({},{})", 11 + chunk, chunk % 2 == 0),
                    format!("SEND({},{})", 10 + chunk, chunk % 2 != 0),
                ] {
                    assert_eq!(ends(&case, chunks, retries, &format!("{run} {wrong}")), ["Fail"], "{wrong}");
                }
                // Giving up takes cRetMax timeouts, and none has been seen.
                for early in ["NOT_OK", "DONT_KNOW", "OK"] {
                    assert_eq!(ends(&case, chunks, retries, &format!("{run} {early}")), ["Fail"], "{early}");
                }
                run.push_str("ACK ");
            }
            assert_eq!(ends(&case, chunks, retries, &format!("{run} OK")), ["Pass"], "{run}");
            assert_eq!(ends(&case, chunks, retries, &format!("{run} NOT_OK")), ["Fail"]);
        }
    }
    // A wrong first chunk, a wrong first bit, silence broken too early.
    for (text, verdict) in [("REQ SEND(99,true)", "Fail"), ("REQ SEND(10,false)", "Fail"), ("OK", "Fail")] {
        assert_eq!(ends(&case, 2, 2, text), [verdict], "{text}");
    }
}

#[test]
fn golden_22_the_initial_condition_is_the_one_printed_in_the_thesis() {
    use coreach_model::term::node::Comparison::Greater;
    let case = generation().test_case;
    let iosts = &case.iosts;
    let d = |name: &str| Term::datum(iosts.find_datum(name).unwrap());
    let zero = |name: &str| Term::equal(&d(name), &Term::int(0));
    let printed = Term::and([
        Term::compare(Greater, &d("cRetMax"), &Term::int(1)),
        Term::compare(Greater, &d("cChunkMax"), &Term::int(0)),
        zero("vRetNumber"),
        d("vAltBit"),
        zero("vChunkNumber"),
        zero("vChunkNumberTP"),
        Term::equal(&d("vChunkNumber"), &d("vChunkNumberTP")),
    ]);
    assert!(equivalent(&iosts.initial_condition, &printed, &Term::yes()), "{}", iosts.initial_condition);
}

#[test]
fn golden_22_the_array_is_listed_as_imprecise() {
    let imprecisions = generation().test_graph.imprecisions;
    assert!(imprecisions.iter().any(|imprecision| imprecision.contains("vFile")), "{imprecisions:?}");
}
