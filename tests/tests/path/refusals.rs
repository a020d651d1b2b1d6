//! Paths that have no test case, and what is said of them.

use coreach_pipeline::timed::PathStop;

use super::support::{PURPOSE, atm, model, of, options};

fn refused(text: &str, path: &str) -> PathStop {
    of(&model(text), path, &options("5")).unwrap_err()
}

/// The model of the publication's example 5: two debits, one with a fee.
fn mini(guard: &str) -> String {
    format!(
        "
iosts: mini
clocks: [w]
variables: {{ amt: int, fee: int }}
initial: {{ location: q0 }}
inputs: {{ Transc: {{ amount: int }} }}
outputs: {{ Debit: {{ sum: int }} }}
transitions:
  - {{ name: t1, from: q0, to: q1, on: Transc, assign: {{ amt: amount }} }}
  - {{ name: t2, from: q1, to: q2, on: Debit, when: sum == amt }}
  - {{ name: t3, from: q1, to: q3, on: Debit, when: \"{guard}sum == amt + fee\" }}
"
    )
}

/// An integer that a clock bounds: where one of two ends is whole, or they are 1 apart, the reals between
/// them hold one; else one of those that the clock's own ends leave it.
#[test]
fn integers_between_clocks_are_no_reason() {
    let guards = [
        "n <= w",
        "w < n && n < 5",
        "0 <= n && n <= w && w <= 9",
        "w <= n && n <= w + 1",
        "n <= w && n >= v && w <= 3",
        "n >= w - 1 && n <= 4 && w <= 9",
        "2 * n <= w && n >= 0",
        "(n <= w || n == 7) && w <= 9",
        "n == w",
        "w <= n && n <= w + 0.5 && w <= 9",
        "w < n && 2 * n <= 2 * w + 1 && n <= 9",
    ];
    for (guard, ty) in guards.iter().flat_map(|guard| ["int", "nat", "'int[0..9]'"].map(|ty| (guard, ty))) {
        let text = format!(
            "
iosts: whole
clocks: [w]
variables: {{ v: int }}
initial: {{ location: A }}
inputs: {{ In: {{ x: int }} }}
outputs: {{ Out: {{ n: {ty} }}, Other: {{}} }}
transitions:
  - {{ name: a, from: A, to: B, on: In, reset: [w], assign: {{ v: x }} }}
  - {{ name: b, from: B, to: C, on: Out, when: \"{guard}\" }}
  - {{ name: c, from: B, to: C, on: Other, when: w <= 3 }}
"
        );
        let made = of(&model(&text), "a,b", &options("5"));
        assert!(made.is_ok(), "{guard} of {ty}: {:?}", made.err());
    }
}

/// precise: with a positive fee, no debit is both.
#[test]
fn the_published_mini_model_is_trace_deterministic() {
    assert!(of(&model(&mini("fee > 0 && ")), "t1,t2", &options("5")).is_ok());
    assert!(of(&model(&mini("fee > 0 && ")), "t1,t3", &options("5")).is_ok());
}

/// sound: without it one trace is both; both transitions are named, and the trace.
#[test]
fn a_shared_trace_is_shown() {
    let stop = refused(&mini(""), "t1,t2");
    let PathStop::NotDeterministic { step, choice, trace, is_certain } = &stop else { panic!("{stop:?}") };
    assert_eq!((*step, choice[0].called.as_str(), choice[1].called.as_str()), (1, "t2", "t3"));
    assert!(is_certain);
    assert_eq!(trace.as_ref().unwrap(), &["Transc(0) after 0", "Debit(0) after 0"]);
    let found = stop.to_diagnostic();
    assert!(found.message.contains("`t2` and `t3`"), "{}", found.message);
    assert!(found.notes.iter().any(|note| note.contains("Debit(0) after 0")), "{:?}", found.notes);
}

#[test]
fn what_is_no_path() {
    let atm = atm();
    let stop = |path: &str| of(&atm, path, &options("5")).unwrap_err();
    assert!(
        matches!(stop("tr1,tr3"), PathStop::NoPath { step: 1, is_at, leaves, .. } if is_at == "q1" && leaves == "q2")
    );
    assert!(matches!(stop("tr2"), PathStop::NoPath { step: 0, .. }));
    assert!(matches!(stop(""), PathStop::Empty));
    assert!(matches!(stop("tr1,tr2,tr3"), PathStop::NoOutput(named) if named.called == "tr3"));
    let PathStop::NoTransition { called, known } = stop("tr1,tr22") else { panic!("found") };
    assert_eq!((called.as_str(), known.len()), ("tr22", 11));
    assert!(stop("tr1,tr22").to_diagnostic().help.unwrap().contains("`tr2`"));
    for wrong in ["(tr1", "tr1)", "*2", "(tr1)*0", "(tr1)*", "(tr1 tr2)*99999999999"] {
        assert!(matches!(stop(wrong), PathStop::Text { .. }), "{wrong}");
    }
    // By numbers, too.
    assert_eq!(of(&atm, "1 2 3 4", &options("5")).unwrap().counts.len(), 4);
}

/// sound: the bank answers before `tb`, so nobody gives up after an answer that came in time.
#[test]
fn a_path_that_no_run_takes() {
    let text = "
iosts: late
clocks: [w]
variables: { x: int }
initial: { location: q0, condition: x == 1 }
inputs: { In: {} }
outputs: { Out: {}, Late: {} }
transitions:
  - { name: in, from: q0, to: q1, on: In, reset: [w] }
  - { name: out, from: q1, to: q2, on: Out, when: 5 <= w, assign: { x: x + 1 } }
  - { name: late, from: q2, to: q0, on: Late, when: w < 5 }
  - { name: odd, from: q2, to: q0, on: Late, when: x == 3 }
";
    for path in ["in,out,late", "in,out,odd"] {
        let stop = refused(text, path);
        assert!(matches!(&stop, PathStop::Unsatisfiable { step: 2, .. }), "{stop:?}");
        assert!(stop.to_diagnostic().message.contains("after the first 2 steps"));
    }
}

#[test]
fn silence_needs_a_time() {
    for time in ["0", "-1"] {
        assert!(matches!(of(&atm(), PURPOSE, &options(time)), Err(PathStop::SilenceAfter(_))));
    }
}

#[test]
fn internal_actions_on_the_path_and_beside_it() {
    let text = "
iosts: hidden
clocks: [w]
initial: { location: q0 }
inputs: { In: {} }
outputs: { Out: {} }
internals: [Hidden]
transitions:
  - { name: in, from: q0, to: q1, on: In }
  - { name: out, from: q1, to: q2, on: Out }
  - { name: step, from: q1, to: q2, on: Hidden }
";
    assert!(matches!(refused(text, "in,out"), PathStop::Internal(all) if all[0].called == "step"));
    assert!(matches!(refused(text, "in,step"), PathStop::Internal(_)));
    // Behind the path it is of no concern.
    assert!(
        of(
            &model(&text.replace("from: q1, to: q2, on: Hidden", "from: q2, to: q1, on: Hidden")),
            "in,out",
            &options("5")
        )
        .is_ok()
    );
}

/// A product of what is not observed: no bound on it can be said.
#[test]
fn what_takes_a_quantifier_is_named() {
    let text = "
iosts: product
clocks: [w]
variables: { x: int, y: int }
initial: { location: q0 }
inputs: { In: {} }
outputs: { Out: { p: int } }
transitions:
  - { name: in, from: q0, to: q1, on: In }
  - { name: out, from: q1, to: q0, on: Out, when: p == x * y && x * x <= 7 }
";
    let stop = refused(text, "in,out");
    assert!(
        matches!(&stop, PathStop::Quantifier { step: 1, transition } if transition.called == "out"),
        "{stop:?}"
    );
}
