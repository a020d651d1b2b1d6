//! Verdicts of traces, by the document that a tester reads.

use coreach_pipeline::timed::TimedOptions;

use super::support::{PURPOSE, atm, document, follow, model, of, options};

type Events<'a> = &'a [(&'a str, &'a str, &'a [&'a str])];

/// The last location of a run through the test case of the publication.
fn verdict(events: Events<'_>) -> String {
    let test = document(&of(&atm(), PURPOSE, &options("5")).unwrap());
    follow(&test, &[("ATM_ID", "9")], events).pop().unwrap()
}

const WANTED: (&str, &str, &[&str]) = ("0", "Transc", &["50", "4"]);

/// sound: the four traces of the publication.
#[test]
fn published_traces() {
    assert_eq!(verdict(&[WANTED, ("0", "Debit", &["1", "51", "9"])]), "ec2");
    assert_eq!(verdict(&[WANTED, ("0", "Debit", &["1", "0", "9"])]), "FAILout");
    assert_eq!(verdict(&[WANTED, ("2", "Debit", &["1", "51", "9"])]), "FAILout");
    assert_eq!(verdict(&[WANTED, ("5", "delta", &[])]), "FAILdur");
}

/// sound: traces for the other verdicts.
#[test]
fn derived_traces() {
    assert_eq!(verdict(&[WANTED, ("0", "Debit", &["1", "50", "9"])]), "INCout");
    assert_eq!(verdict(&[("0", "Auth", &["1", "ACCEPT", "9"])]), "INCucIn_spec");
    assert_eq!(verdict(&[WANTED, ("0", "Auth", &["1", "ACCEPT", "9"])]), "INCucIn_uspec");
    assert_eq!(verdict(&[("5", "delta", &[])]), "INCdur");
    let asked: (&str, &str, &[&str]) = ("0", "Transc", &["50", "10"]);
    let debit: (&str, &str, &[&str]) = ("0", "Debit", &["1", "51", "9"]);
    let auth: (&str, &str, &[&str]) = ("1", "Auth", &["1", "ACCEPT", "9"]);
    assert_eq!(verdict(&[asked, debit, auth, ("1", "Cash", &["50"])]), "PASS");
    assert_eq!(verdict(&[asked, debit, auth, ("1", "Cash", &["51"])]), "FAILout");
    assert_eq!(verdict(&[asked, debit, auth, ("1.5", "Cash", &["50"])]), "FAILout");
    // The request's number is not known before the first debit: the answer must bear that one.
    let other: (&str, &str, &[&str]) = ("1", "Auth", &["2", "ACCEPT", "9"]);
    assert_eq!(verdict(&[asked, debit, other, ("1", "Cash", &["50"])]), "FAILout");
    assert_eq!(verdict(&[asked, debit, other, ("1", "Log", &["2", "ACCEPT", "9"])]), "INCout");
    // Who measures an event when silence is a fact is not left alone: it is allowed then, or it is not.
    assert_eq!(verdict(&[asked, debit, ("5", "Auth", &["1", "ACCEPT", "9"])]), "INCdur");
    assert_eq!(verdict(&[asked, debit, ("10.5", "Abort", &[])]), "INCdur");
    assert_eq!(verdict(&[asked, debit, ("11.5", "Abort", &[])]), "FAILout");
    assert_eq!(verdict(&[asked, debit, ("10", "Auth", &["1", "ACCEPT", "9"])]), "INCucIn_uspec");
    assert_eq!(verdict(&[asked, ("6", "Debit", &["1", "51", "9"])]), "FAILout");
    // Silence, as long as the bank may still answer or the machine give up.
    assert_eq!(verdict(&[asked, debit, ("10.5", "delta", &[])]), "INCdur");
    assert_eq!(verdict(&[asked, debit, ("11", "delta", &[])]), "FAILdur");
}

/// sound: what the first period told is known in the second.
#[test]
fn what_was_observed_is_remembered() {
    let test = document(&of(&atm(), "(tr1 tr2 tr3 tr4)*2", &options("5")).unwrap());
    let period: [(&str, &str, &[&str]); 4] = [
        ("0", "Transc", &["50", "10"]),
        ("0", "Debit", &["7", "53", "9"]),
        ("1", "Auth", &["7", "ACCEPT", "9"]),
        ("1", "Cash", &["50"]),
    ];
    let then = |number: &'static str, sum: &'static str| {
        let mut events = period.to_vec();
        let debit: Vec<&str> = vec![number, sum, "9"];
        events.push(("0", "Transc", &["20", "10"]));
        let leaked: &[&str] = debit.leak();
        events.push(("0", "Debit", leaked));
        follow(&test, &[("ATM_ID", "9")], &events).pop().unwrap()
    };
    assert_eq!(then("8", "23"), "ec6");
    assert_eq!(then("8", "24"), "FAILout", "the fee is 3");
    assert_eq!(then("9", "23"), "FAILout", "the number is the next one");
    assert_eq!(then("8", "20"), "INCout", "without a fee");
}

const BETWEEN_TEN_AND_TWELVE: &str = "
iosts: slow
clocks: [w]
initial: { location: q0 }
inputs: { In: {} }
outputs: { Out: {} }
transitions:
  - { name: in, from: q0, to: q1, on: In, reset: [w] }
  - { name: out, from: q1, to: q0, on: Out, when: 10 <= w && w <= 12 }
";

/// sound: who may answer between 10 and 12 may be silent for 5. The published rule says otherwise, and blames
/// a system that conforms.
#[test]
fn a_silence_is_no_failure_while_an_answer_may_still_come() {
    let slow = model(BETWEEN_TEN_AND_TWELVE);
    let silence = |time: &'static str, options: &TimedOptions| {
        let test = document(&of(&slow, "in,out", options).unwrap());
        follow(&test, &[], &[("0", "In", &[]), (time, "delta", &[])]).pop().unwrap()
    };
    assert_eq!(silence("5", &options("5")), "INCdur");
    // And it is said that silence is a fact before the answer can be seen.
    assert_eq!(of(&slow, "in,out", &options("5")).unwrap().unseen, [1]);
    assert_eq!(of(&slow, "in,out", &options("11")).unwrap().unseen, [0usize; 0]);
    assert_eq!(silence("11.9", &options("5")), "INCdur");
    assert_eq!(silence("12", &options("5")), "FAILdur");
    let published = TimedOptions { published: true, ..options("5") };
    assert_eq!(silence("5", &published), "FAILdur", "unsound, as published");
}
