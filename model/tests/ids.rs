//! Ids: what `fresh` stands for, and what is written can be read back.
//!
//! All expectations but that of the text defend *soundness*.

use coreach_model::reader::{Specification, from_bytes, read_specification};
use coreach_model::term::evaluate::{Valuation, holds};
use coreach_model::writer::write_yaml;
use coreach_model::{Datum, Type, Value, codec};

const MODEL: &str = "iosts: m
types:
  Job: id
  Other: Job
  Slip: [{ For: { job: Job } }, Blank]
constants: { cNone: Job, cForeign: id }
variables: { vOne: Other, vMany: 'list[2] of Job', vPair: 'array[bool] of Job', vSlip: Slip, vMap: 'map[bool] of Job' }
initial: { location: A, condition: 'vOne == cNone && vMany == [] && vPair == [cNone for all] && vSlip == Blank && vMap == []' }
inputs: { Put: { job: Job, more: 'list[2] of Job' } }
transitions:
  - { from: A, to: A, on: Put, when: fresh(job), assign: { vMany: 'vMany + [job]', vSlip: For(job) } }
  - { from: A, to: A, on: Put, when: 'fresh(vOne) && contains(more, job)', assign: { vOne: 'if job in {vOne, cNone} then job else vOne' } }
  - { from: A, to: A, on: Put, when: 'vOne == (\"id0\": Job) && cForeign != (\"a\\\"b\": id)' }
";

fn read(text: &str) -> Specification {
    read_specification(from_bytes("m.yaml".to_owned(), text.as_bytes().to_vec()).unwrap()).unwrap().0
}

#[test]
fn what_is_written_is_read_to_the_same() {
    let one = read(MODEL);
    let text = write_yaml(&one.iosts, &one.types);
    assert!(text.contains("Job: id\n") && text.contains("Other: Job\n"), "{text}");
    let other = read(&text);
    assert_eq!(one.iosts.initial_condition, other.iosts.initial_condition);
    for (one, other) in one.iosts.transitions.iter().zip(&other.iosts.transitions) {
        assert_eq!((&one.guard, &one.assignments), (&other.guard, &other.assignments));
    }
}

#[test]
fn fresh_is_of_what_is_there() {
    let iosts = read(MODEL).iosts;
    let ty = |name: &str| -> Type {
        let all = iosts.variables.iter().chain(&iosts.constants);
        all.chain(&iosts.actions[coreach_model::ActionId(0)].parameters)
            .find(|datum| datum.name() == name)
            .unwrap()
            .ty()
            .clone()
    };
    let guard = &iosts.transitions[coreach_model::TransitionId(0)].guard;
    let is_fresh = |given: &[(&str, &str)]| {
        let plain = [
            ("cNone", "n"),
            ("vOne", "o"),
            ("vMany", r#"["x"]"#),
            ("vPair", r#"{"default": "p", "cells": []}"#),
            ("vSlip", "Blank"),
            ("vMap", r#"{"true": "m"}"#),
            ("job", "new"),
        ];
        let of = |(name, text): &(&str, &str)| {
            (Datum::new(*name, ty(name)), codec::from_text(text, &ty(name)).unwrap())
        };
        let state: Valuation = plain.iter().chain(given).map(of).collect();
        holds(guard, &state) == Ok(true)
    };
    assert!(is_fresh(&[]));
    for taken in ["n", "o", "x", "p", "m"] {
        assert!(!is_fresh(&[("job", taken)]), "{taken}");
    }
    // Behind the end of a list, and where there is no slip and no entry, is none.
    assert!(is_fresh(&[("job", "id0")]));
    assert!(!is_fresh(&[("job", "s"), ("vSlip", r#"{"For": {"job": "s"}}"#)]));
    // What is asked about is not compared with itself.
    let own = iosts.transitions[coreach_model::TransitionId(1)].guard.to_string();
    assert!(own.contains("vOne != cNone") && !own.contains("vOne != vOne"), "{own}");
}

#[test]
fn an_id_is_the_exact_text() {
    let ty = Type::Id("Job".into());
    let of = |json: &str| {
        codec::from_tree(&coreach_model::json::parse(json, coreach_model::json::WIRE).unwrap(), &ty, 10)
    };
    let id = |text: &str| Ok(Value::id(&"Job".into(), text));
    assert_eq!((of("7"), of("7.0"), of("\"07\"")), (id("7"), id("7.0"), id("07")));
    assert_eq!(codec::from_text(" 7", &ty), id(" 7"));
    assert!(of("true").is_err() && of("[7]").is_err() && of("\"01234567890\"").is_err());
    assert!(!id("7").unwrap().is_in(&Type::Id("Lock".into())));
}

/// Models were written before there were ids.
#[test]
fn a_type_that_a_model_calls_id_stays_its_own() {
    let text = "iosts: m\ntypes: { id: 'int[0..3]' }\nvariables: { v: id }\ninitial: { location: A, condition: v == 2 }\n";
    assert_eq!(*read(text).iosts.variables[0].ty(), Type::Range(0.into(), 3.into()));
}

#[test]
fn a_case_of_match_names_what_stands_there_which_is_not_compared_with_itself() {
    let text = "iosts: m
types: { Job: id, Slip: [{ For: { job: 'option[Job]' } }, Blank] }
functions: { new: { parameters: { j: Job }, is: fresh(j) } }
variables: { vOne: Job, vMaybe: 'option[Job]', vSlip: Slip }
initial: { location: A, condition: 'vOne == (\"a\": Job) && vMaybe == none && vSlip == Blank' }
inputs: { Put: {} }
transitions:
  - { from: A, to: A, on: Put, when: 'match vMaybe: some(q) -> fresh(q) | _ -> false' }
  - { from: A, to: A, on: Put, when: 'match vSlip: For(r) -> (match r: some(q) -> fresh(q) | _ -> false) | _ -> false' }
  - { from: A, to: A, on: Put, when: 'new(vOne) || (some k in ([vOne]: list[1] of Job): fresh(k))' }
";
    let iosts = read(text).iosts;
    let fresh = |number: u32, values: [&str; 3]| {
        let decode =
            |(datum, text): (&Datum, &str)| (datum.clone(), codec::from_text(text, datum.ty()).unwrap());
        let valuation: Valuation = iosts.variables.iter().zip(values).map(decode).collect();
        holds(&iosts.transitions[coreach_model::TransitionId(number)].guard, &valuation) == Ok(true)
    };
    assert!(fresh(0, ["a", "b", "Blank"]));
    assert!(!fresh(0, ["a", "a", "Blank"]));
    assert!(!fresh(0, ["a", "null", "Blank"]));
    assert!(fresh(1, ["a", "c", r#"{"For": {"job": "b"}}"#]));
    assert!(!fresh(1, ["a", "b", r#"{"For": {"job": "b"}}"#]));
    // What a call or a quantifier gives is a value, and compared with all.
    assert!(!fresh(2, ["a", "null", "Blank"]));
}
