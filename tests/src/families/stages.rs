//! Families for the stages: what `complete`, `product`, `close`, `determinize` and `input_complete` make more
//! of.

use std::fmt::Write;

use crate::families::{Family, Pair, family};

/// The families.
pub const FAMILIES: [Family; 20] = [
    family("doubling_steps", "internal steps x := x + y, y := x", doubling_steps, (5, 80)),
    family("conditional_steps", "internal steps x := if ...", conditional_steps, (5, 40)),
    family("product_steps", "internal steps x := x * x + y", product_steps, (4, 32)),
    family("array_stores", "internal stores a[a[i]] := a[i + 1]", array_stores, (5, 40)),
    family("adding_steps", "internal steps that add 190 terms", adding_steps, (6, 50)),
    family("diamonds", "internal diamonds of one effect", diamonds, (5, 320)),
    family("guarded_diamonds", "internal diamonds, guarded", guarded_diamonds, (12, 400)),
    family("telling_diamonds", "internal diamonds of different effects", telling_diamonds, (3, 24)),
    family(
        "unreachable_pairs",
        "locations of both models that are not reached",
        unreachable_pairs,
        (375, 6_000),
    ),
    family("wide_purpose", "locations of the purpose and actions", wide_purpose, (62, 1_000)),
    family("modulo_purpose", "overlapping guards of a purpose with mod", modulo_purpose, (3, 24)),
    family("modulo_outputs", "overlapping guards of an output with mod", modulo_outputs, (3, 24)),
    family(
        "overlapping_intervals",
        "transitions of one action, each overlaps the next",
        overlapping_intervals,
        (5, 40),
    ),
    family("overlapping_all", "transitions of one action that all overlap", overlapping_all, (4, 16)),
    family("same_effect", "transitions of one action and one effect", same_effect, (25, 400)),
    family("exclusive", "transitions of one action that exclude each other", exclusive, (25, 400)),
    Family {
        configuration: "determinization: { max_lookahead: 1000 }\n",
        ..family("postponed_events", "events before a choice is resolved", postponed_events, (19, 300))
    },
    family("ways_for_ever", "ways that are never told apart", ways_for_ever, (2, 6)),
    family("outputs", "outputs, at twice as many locations", outputs, (62, 1_000)),
    family("visible_chain", "locations in a row", visible_chain, (125, 2_000)),
];

/// The text of lines made one by one.
fn lines(count: usize, mut line: impl FnMut(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line(at));
        text
    })
}

/// A purpose that asks for `done`.
fn done(of: &str) -> String {
    format!(
        "purpose: done\nof: {of}\ninitial: {{ location: Begin }}\ntransitions:\n  - {{ from: Begin, to: Accept, on: done }}\n"
    )
}

/// Data as a section, constants that give their first values, and the assignments that take them.
fn data_of(names: &[&str], ty: &str) -> (String, String) {
    let section = |prefix: &str| {
        let data: Vec<String> = names.iter().map(|name| format!("{prefix}{name}: \"{ty}\"")).collect();
        data.join(", ")
    };
    let first: Vec<String> = names.iter().map(|name| format!("{name}: c{name}")).collect();
    let sections = format!("constants: {{ {} }}\nvariables: {{ {} }}\n", section("c"), section(""));
    (sections, format!("assign: {{ {} }}", first.join(", ")))
}

/// `start`, then internal steps, then `done` with what they made.
fn steps(count: usize, data: (&[&str], &str), guard: &str, step: impl Fn(usize) -> String) -> Pair {
    let (data, first) = data_of(data.0, data.1);
    let chain = lines(count, |at| format!("  - {{ from: m{at}, to: m{}, on: tau, {} }}", at + 1, step(at)));
    let specification = format!(
        "iosts: chain\n{data}initial: {{ location: l }}\ninputs: {{ start: {{}} }}\n\
         outputs: {{ done: {{ p: int }} }}\ninternals: [tau]\ntransitions:\n  \
         - {{ from: l, to: m0, on: start, {first} }}\n\
         {chain}  - {{ from: m{count}, to: end, on: done, when: \"{guard}\" }}\n"
    );
    (specification, done("chain"))
}

fn doubling_steps(n: usize) -> Pair {
    steps(n, (&["x", "y"], "int"), "p == x", |_| "assign: { x: x + y, y: x }".to_owned())
}

fn conditional_steps(n: usize) -> Pair {
    steps(n, (&["x", "y"], "int"), "p == x", |at| {
        format!("assign: {{ x: \"if x > {at} then x - y else y - x\", y: x }}")
    })
}

fn product_steps(n: usize) -> Pair {
    steps(n, (&["x", "y"], "int"), "p == x", |_| "assign: { x: x * x + y }".to_owned())
}

fn array_stores(n: usize) -> Pair {
    steps(n, (&["a"], "array[int] of int"), "p == a[0]", |at| {
        format!("assign: {{ a: \"a[a[{at}] := a[{}] + a[a[0]]]\" }}", at + 1)
    })
}

fn adding_steps(n: usize) -> Pair {
    let sum = " + y + x1".repeat(95);
    steps(n, (&["x", "x1", "y"], "int"), "p == x", |_| format!("assign: {{ x: x{sum} }}"))
}

/// Internal diamonds behind `start`: two ways from each location to the next.
fn diamond(n: usize, upper: impl Fn(usize) -> String, lower: impl Fn(usize) -> String) -> Pair {
    let (data, first) = data_of(&["x"], "int");
    let chain = lines(n, |at| {
        let next = at + 1;
        format!(
            "  - {{ from: m{at}, to: u{at}, on: tau{} }}\n  - {{ from: m{at}, to: d{at}, on: tau{} }}\n  \
             - {{ from: u{at}, to: m{next}, on: tau }}\n  - {{ from: d{at}, to: m{next}, on: tau }}",
            upper(at),
            lower(at)
        )
    });
    let specification = format!(
        "iosts: diamonds\n{data}initial: {{ location: l }}\ninputs: {{ start: {{}} }}\n\
         outputs: {{ done: {{ p: int }} }}\ninternals: [tau]\ntransitions:\n  \
         - {{ from: l, to: m0, on: start, {first} }}\n\
         {chain}  - {{ from: m{n}, to: end, on: done, when: p == x }}\n"
    );
    (specification, done("diamonds"))
}

fn diamonds(n: usize) -> Pair {
    diamond(n, |_| String::new(), |_| String::new())
}

fn guarded_diamonds(n: usize) -> Pair {
    diamond(n, |at| format!(", when: x > {at}"), |at| format!(", when: x <= {at}"))
}

/// No two ways have one effect: there are 2^n transitions, and nothing can make them fewer.
fn telling_diamonds(n: usize) -> Pair {
    diamond(n, |at| format!(", assign: {{ x: \"x + {}\" }}", 1u64 << at.min(62)), |_| String::new())
}

fn unreachable_pairs(n: usize) -> Pair {
    let names = |prefix: &str| lines(n, |at| format!("  {prefix}{at}:"));
    let specification = format!(
        "iosts: wide\nvariables: {{ x: int }}\nlocations:\n  l:\n  end:\n{}initial: {{ location: l }}\n\
         outputs: {{ done: {{ p: int }} }}\ntransitions:\n  - {{ from: l, to: end, on: done }}\n",
        names("l")
    );
    let purpose = format!(
        "purpose: done\nof: wide\nlocations:\n  Begin:\n  Accept:\n{}initial: {{ location: Begin }}\n\
         transitions:\n  - {{ from: Begin, to: Accept, on: done }}\n",
        names("b")
    );
    (specification, purpose)
}

fn wide_purpose(n: usize) -> Pair {
    let actions = lines(n, |at| format!("  a{at}: {{}}"));
    let specification = format!(
        "iosts: wide\nvariables: {{ x: int }}\ninitial: {{ location: l }}\ninputs:\n{actions}outputs: {{ done: {{}} }}\n\
         transitions:\n  - {{ from: l, to: l, on: a0 }}\n  - {{ from: l, to: end, on: done }}\n"
    );
    let chain = lines(n, |at| format!("  - {{ from: b{at}, to: b{}, on: a{at} }}", at + 1));
    let purpose = format!(
        "purpose: done\nof: wide\ninitial: {{ location: b0 }}\ntransitions:\n{chain}  \
         - {{ from: b1, to: Accept, on: done }}\n"
    );
    (specification, purpose)
}

/// Numbers without common factors.
fn modulus(at: usize) -> usize {
    const PRIMES: [usize; 24] =
        [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89];
    PRIMES[at % PRIMES.len()]
}

fn modulo_purpose(n: usize) -> Pair {
    let specification = "iosts: modulo\nvariables: { x: int }\ninitial: { location: l }\ninputs: { set: { q: int } }\n\
         outputs: { done: { p: int } }\ntransitions:\n  - { from: l, to: m, on: set, assign: { x: q } }\n  \
         - { from: m, to: end, on: done }\n";
    let guards = lines(n, |at| {
        format!("  - {{ from: Begin, to: B{at}, on: done, when: \"p mod {} == 1\" }}", modulus(at))
    });
    let purpose = format!(
        "purpose: done\nof: modulo\ninitial: {{ location: Begin }}\ntransitions:\n{guards}  \
         - {{ from: Begin, to: Accept, on: done, when: \"p == 7\" }}\n"
    );
    (specification.to_owned(), purpose)
}

fn modulo_outputs(n: usize) -> Pair {
    let guards =
        lines(n, |at| format!("  - {{ from: m, to: end, on: done, when: \"p mod {} == 1\" }}", modulus(at)));
    let specification = format!(
        "iosts: modulo\nvariables: {{ x: int }}\ninitial: {{ location: l }}\ninputs: {{ set: {{ q: int }} }}\n\
         outputs: {{ done: {{ p: int }} }}\ntransitions:\n  - {{ from: l, to: m, on: set, assign: {{ x: q }} }}\n{guards}"
    );
    (specification, done("modulo"))
}

/// `choose` with n guards into n locations, which what follows tells apart.
fn choice(n: usize, parameters: &str, guard: impl Fn(usize) -> String) -> Pair {
    let outputs = lines(n, |at| format!("  o{at}: {{}}"));
    let ways = lines(n, |at| {
        format!(
            "  - {{ from: l, to: w{at}, on: choose, when: \"{}\" }}\n  - {{ from: w{at}, to: end, on: o{at} }}",
            guard(at)
        )
    });
    let specification = format!(
        "iosts: choice\nvariables: {{ x: int }}\ninitial: {{ location: l }}\ninputs: {{ choose: {{ {parameters} }} }}\n\
         outputs:\n  done: {{}}\n{outputs}transitions:\n{ways}  - {{ from: end, to: end, on: done }}\n"
    );
    (specification, done("choice"))
}

fn overlapping_intervals(n: usize) -> Pair {
    choice(n, "p: int", |at| format!("p >= {} && p <= {}", 10 * at, 10 * at + 10))
}

fn overlapping_all(n: usize) -> Pair {
    let parameters: Vec<String> = (0..n).map(|at| format!("p{at}: bool")).collect();
    choice(n, &parameters.join(", "), |at| format!("p{at}"))
}

fn exclusive(n: usize) -> Pair {
    choice(n, "p: int", |at| format!("p == {at}"))
}

fn same_effect(n: usize) -> Pair {
    let ways = lines(n, |at| {
        format!("  - {{ from: l, to: m, on: choose, when: \"p >= {at} && p <= {}\" }}", 2 * at)
    });
    let specification = format!(
        "iosts: choice\nvariables: {{ x: int }}\ninitial: {{ location: l }}\ninputs: {{ choose: {{ p: int }} }}\n\
         outputs: {{ done: {{}} }}\ntransitions:\n{ways}  - {{ from: m, to: end, on: done }}\n"
    );
    (specification, done("choice"))
}

/// Two ways that differ in what they did, and n events that both can follow before one tells.
fn postponed_events(n: usize) -> Pair {
    let ways = lines(n, |at| {
        let next = at + 1;
        format!(
            "  - {{ from: u{at}, to: u{next}, on: a, assign: {{ x: x + p }} }}\n  \
             - {{ from: d{at}, to: d{next}, on: a, assign: {{ x: p }} }}"
        )
    });
    let specification = format!(
        "iosts: postponed\nvariables: {{ x: int }}\ninitial: {{ location: l, condition: x == 0 }}\ninputs: {{ a: {{ p: int }} }}\n\
         outputs: {{ done: {{ q: int }}, other: {{}} }}\ntransitions:\n  - {{ from: l, to: u0, on: a }}\n  \
         - {{ from: l, to: d0, on: a }}\n{ways}  - {{ from: u{n}, to: end, on: done, when: q == x }}\n  \
         - {{ from: d{n}, to: end, on: other }}\n"
    );
    (specification, done("postponed"))
}

/// Ways that no number of common events tells apart: each counts for itself, and says at any time which one
/// it is.
fn ways_for_ever(n: usize) -> Pair {
    let outputs = lines(n, |at| format!("  o{at}: {{ p: int }}"));
    let ways = lines(n, |at| {
        format!(
            "  - {{ from: l, to: w{at}, on: choose, assign: {{ x: {at} }} }}\n  \
             - {{ from: w{at}, to: w{at}, on: step, assign: {{ x: x + {at} }} }}\n  \
             - {{ from: w{at}, to: end, on: o{at}, when: p == x }}"
        )
    });
    let specification = format!(
        "iosts: ways\nvariables: {{ x: int }}\ninitial: {{ location: l, condition: x == 0 }}\n\
         inputs: {{ choose: {{}}, step: {{}} }}\noutputs:\n  done: {{}}\n{outputs}transitions:\n{ways}  \
         - {{ from: end, to: end, on: done }}\n"
    );
    (specification, done("ways"))
}

fn outputs(n: usize) -> Pair {
    let outputs = lines(n, |at| format!("  o{at}: {{}}"));
    let chain = lines(2 * n, |at| format!("  - {{ from: l{at}, to: l{}, on: o{} }}", at + 1, at % n));
    let specification = format!(
        "iosts: outputs\nvariables: {{ x: int }}\ninitial: {{ location: l0 }}\ninputs: {{ reset: {{}} }}\n\
         outputs:\n  done: {{}}\n{outputs}transitions:\n{chain}  - {{ from: l{}, to: end, on: done }}\n",
        2 * n
    );
    (specification, done("outputs"))
}

fn visible_chain(n: usize) -> Pair {
    let chain = lines(n, |at| format!("  - {{ from: l{at}, to: l{}, on: step }}", at + 1));
    let specification = format!(
        "iosts: chain\nvariables: {{ x: int }}\ninitial: {{ location: l0 }}\ninputs: {{ step: {{}} }}\n\
         outputs: {{ done: {{}} }}\ntransitions:\n{chain}  - {{ from: l{n}, to: end, on: done }}\n"
    );
    (specification, done("chain"))
}
