#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::sync::Arc;

use coreach_model::reader::read_specification;
use coreach_model::semantics::{fire, is_initial};
use coreach_model::{Iosts, Number, SourceFile};

use super::*;
use crate::reachability::{Analysis, analyse};
use crate::solver::z3::Z3Solver;
use crate::solver::z3::horn::InThisProcess;

fn model(text: &str) -> (Iosts, Vec<bool>) {
    let source = Arc::new(SourceFile { name: "model.yaml".to_owned(), text: text.to_owned() });
    let iosts = read_specification(source).unwrap().0.iosts;
    let accepting = iosts.locations.iter().map(|location| location.name == "Done").collect();
    (iosts, accepting)
}

/// The answer for each transition: `y`, `n` or `?`. Every run is replayed here once more.
fn answers(text: &str, engine: &mut dyn HornEngine) -> (String, ExactReference) {
    let (iosts, accepting) = model(text);
    let mut solver = Z3Solver::default();
    let facts = analyse(&iosts, &accepting, &Analysis::default());
    let found = exact(&iosts, &accepting, &facts.chain, engine, &mut solver);
    for run in &found.runs {
        assert!(is_initial(&iosts, &run.initial));
        let mut state = run.initial.clone();
        for ((taken, next), values) in run.steps.iter().zip(&run.values) {
            state = fire(&iosts, &iosts.transitions[*taken], &state, values).unwrap();
            assert_eq!(state, *next);
        }
        assert!(accepting[state.location.place()]);
    }
    let letter = |answer: &ExactAnswer| match answer {
        ExactAnswer::Yes(_) => 'y',
        ExactAnswer::No(_) => 'n',
        ExactAnswer::Unknown(_) => '?',
    };
    (found.transitions.iter().map(letter).collect(), found)
}

const SPACER: InThisProcess = InThisProcess { rlimit: 20_000_000 };

/// One stimulus, then steps of two: 21 is reached only from an odd number.
const STRIDE: &str = "
iosts: stride
variables: { v: int, flag: bool }
initial: { location: Begin, condition: v == 0 && !flag }
inputs: { Odd: {}, Even: { p: 'int[0..10]' }, Add: {} }
outputs: { Show: { p: bool } }
transitions:
  - { from: Begin, to: Loop, on: Odd, assign: { v: v + 7 } }
  - { from: Begin, to: Loop, on: Even, when: p mod 2 == 0, assign: { v: p, flag: true } }
  - { from: Loop, to: Loop, on: Add, assign: { v: v + 2 } }
  - { from: Loop, to: Done, on: Show, when: v == 21 && p == flag }
";

#[test]
fn sound_and_precise_a_transition_is_on_a_run_or_proved_not_to_be() {
    let (answers, found) = answers(STRIDE, &mut { SPACER });
    assert_eq!(answers, "ynyy", "{found:?}");
    assert_eq!((found.refused, found.facts_left_out), (0, false));
    // One run for all that is met.
    assert_eq!(found.runs.len(), 1);
    assert_eq!(found.runs[0].steps.len(), 9);
}

#[test]
fn sound_and_precise_a_purpose_without_a_run_has_no_transition_on_one() {
    let (answers, found) = answers(&STRIDE.replace("v == 21", "v == 21 && flag"), &mut { SPACER });
    assert_eq!(answers, "nnnn");
    assert!(matches!(found.purpose, ExactAnswer::No(_)));
}

#[test]
fn sound_and_precise_data_of_all_types_are_read_back() {
    let text = "
iosts: types
types: { Colour: [red, green], Pair: { a: int, b: Colour } }
constants: { cMost: nat }
variables: { c: Colour, r: real, a: 'array[int[0..2]] of int', p: Pair, n: nat }
initial: { location: Begin, condition: c == red && r == 0.5 && n == 0 && p.a == 0 && p.b == green }
inputs: { Put: { pAt: 'int[0..2]', pWhat: int }, Count: {} }
outputs: { Out: {} }
transitions:
  - { from: Begin, to: Mid, on: Put, when: pWhat > 3, assign: { a: 'a[pAt := pWhat]', c: green } }
  - { from: Mid, to: Mid, on: Count, when: n < cMost, assign: { n: n + 1, r: r + 0.5 } }
  - { from: Mid, to: Done, on: Out, when: 'n == 3 && c == green && a[1] > 3 && p.b == green' }
  - { from: Mid, to: Done, on: Out, when: r == 0.25 }
  - { from: Mid, to: Done, on: Out, when: n > cMost }
";
    let (answers, found) = answers(text, &mut { SPACER });
    assert_eq!(answers, "yyynn", "{found:?}");
}

struct Liar(HornReply);

impl HornEngine for Liar {
    fn solve(&mut self, _: &str) -> HornReply {
        self.0.clone()
    }
}

#[test]
fn sound_a_claim_that_does_not_check_is_unknown_and_counted() {
    let everywhere = "(and (forall ((A Int) (B Bool)) (! (= (Q!1 A B) false) :weight 0)))";
    let run = "(mp ((_ hyper-res 0 0) (asserted true) (Q!0 21 true)) (asserted true) false)";
    for reply in [
        HornReply::Underivable(everywhere.to_owned()),
        HornReply::Underivable("(and".to_owned()),
        HornReply::Derivable(run.to_owned()),
        HornReply::Derivable(String::new()),
    ] {
        let (answers, found) = answers(STRIDE, &mut Liar(reply.clone()));
        assert_eq!(answers, "????", "{reply:?}");
        assert_eq!(found.refused, found.questions);
    }
}

#[test]
fn sound_facts_whose_conditions_are_not_proved_are_left_out() {
    let (iosts, accepting) = model(STRIDE);
    let mut facts = analyse(&iosts, &accepting, &Analysis::default());
    for refinement in &mut facts.chain {
        refinement.facts.fill(Term::no());
    }
    let found = exact(&iosts, &accepting, &facts.chain, &mut { SPACER }, &mut Z3Solver::default());
    assert!(found.facts_left_out);
    assert!(matches!(found.purpose, ExactAnswer::Yes(_)));
}
