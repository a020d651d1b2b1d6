//! Families of pairs that made the analyses explode: each a specification and a purpose of a size, as YAML.
//!
//! The sizes are meant to be doubled: what a pair of size n costs should grow as what can be reached in it
//! does, or end in a stop or an imprecision that says so.

use std::fmt::Write as _;

use crate::families::{Family, Pair, family};

/// The families of this file.
pub const FAMILIES: [Family; 17] = [
    family("booleans", "Booleans that switch numbers, an output that looks at one", booleans, (2, 16)),
    family("summed_booleans", "the same, an output that looks at the sum", summed_booleans, (2, 16)),
    family("choices", "choices that set a number each", choices, (2, 16)),
    family("switched_counters", "counters with a switch each", switched_counters, (2, 16)),
    family("chain_of_integers", "integers related in a chain", chain_of_integers, (5, 40)),
    family("raised_chain", "integers in order, each raised up to the next", raised_chain, (5, 40)),
    family("constant_sum", "integers that pass ones to the next", constant_sum, (5, 40)),
    family("counters", "counters by themselves", counters, (5, 40)),
    family("switched_numbers", "integers, and flags that let them be raised", switched_numbers, (5, 40)),
    family("retransmissions", "copies of a retransmission protocol", retransmissions, (1, 32)),
    family("dense_guard", "parameters in one dense guard", dense_guard, (4, 16)),
    family("random_graph", "locations of a random graph", random_graph, (250, 2_000)),
    family("nested_loops", "loops within loops", nested_loops, (100, 800)),
    family("shared_sums", "internal steps that share sums", shared_sums, (10, 80)),
    family("shared_conditions", "internal steps that share conditions", shared_conditions, (10, 80)),
    family("remainders", "overlapping guards with mod", remainders, (3, 24)),
    family("subset_sum", "terms of a subset sum", subset_sum, (8, 64)),
];

/// A purpose that accepts the output `Done`.
fn until_done(of: &str) -> String {
    format!(
        "purpose: until_done\nof: {of}\ninitial: {{ location: Begin }}\ntransitions:\n  \
         - {{ from: Begin, to: Accept, on: Done }}\n"
    )
}

fn list(count: usize, item: impl Fn(usize) -> String, between: &str) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(between)
}

fn switches(name: &str, n: usize, output: &str, last: &str) -> Pair {
    let mut text = format!("iosts: {name}\nvariables:\n");
    for i in 0..n {
        let _ = writeln!(text, "  b{i}: bool\n  x{i}: int");
    }
    let zero = list(n, |i| format!("!b{i} && x{i} == 0"), " && ");
    let _ = writeln!(text, "initial: {{ location: L, condition: \"{zero}\" }}\ninputs:");
    for i in 0..n {
        let _ = writeln!(text, "  Switch{i}: {{}}");
    }
    let _ = writeln!(text, "outputs:\n  Done: {output}\ntransitions:");
    for i in 0..n {
        let value = format!("if b{i} then 0 else {}", i + 1);
        let _ = writeln!(
            text,
            "  - {{ from: L, to: L, on: Switch{i}, assign: {{ b{i}: \"!b{i}\", x{i}: \"{value}\" }} }}"
        );
    }
    let _ = writeln!(text, "  - {{ from: L, to: End, on: Done, when: \"{last}\" }}");
    (text, until_done(name))
}

/// n Booleans, each with a number that it switches between two values; all are on at the end, and none was
/// broken.
fn booleans(n: usize) -> Pair {
    switches("booleans", n, "{}", &list(n, |i| format!("b{i}"), " && "))
}

/// The same, and the output says the sum of the numbers, which relates them all.
fn summed_booleans(n: usize) -> Pair {
    let sum = list(n, |i| format!("x{i}"), " + ");
    switches("summed_booleans", n, "{ p: int }", &format!("p == {sum} && p > {n}"))
}

/// n Booleans, each of which lets a number be chosen once; the purpose asks for a sum that not every choice
/// allows.
fn choices(n: usize) -> Pair {
    let mut text = "iosts: choices\nvariables:\n".to_owned();
    for i in 0..n {
        let _ = writeln!(text, "  b{i}: bool\n  x{i}: \"int[0..9]\"");
    }
    let zero = list(n, |i| format!("!b{i} && x{i} == 0"), " && ");
    let _ = writeln!(text, "initial: {{ location: L, condition: \"{zero}\" }}\ninputs:");
    for i in 0..n {
        let _ = writeln!(text, "  Set{i}: {{ p: \"int[0..9]\" }}");
    }
    let _ = writeln!(text, "outputs:\n  Done: {{ q: int }}\ntransitions:");
    for i in 0..n {
        let _ = writeln!(
            text,
            "  - {{ from: L, to: L, on: Set{i}, when: \"!b{i}\", assign: {{ b{i}: \"true\", x{i}: p }} }}"
        );
    }
    let sum = list(n, |i| format!("x{i}"), " + ");
    let _ = writeln!(text, "  - {{ from: L, to: End, on: Done, when: \"q == {sum} && q >= {}\" }}", 5 * n);
    (text, until_done("choices"))
}

/// n Booleans, each of which says whether its number counts; each number must reach a bound of its own, and
/// may pass it.
fn switched_counters(n: usize) -> Pair {
    let mut text = "iosts: switched\nvariables:\n".to_owned();
    for i in 0..n {
        let _ = writeln!(text, "  b{i}: bool\n  x{i}: int");
    }
    let zero = list(n, |i| format!("!b{i} && x{i} == 0"), " && ");
    let _ = writeln!(text, "initial: {{ location: L, condition: \"{zero}\" }}\ninputs:");
    for i in 0..n {
        let _ = writeln!(text, "  On{i}: {{}}\n  Count{i}: {{}}");
    }
    let _ = writeln!(text, "outputs:\n  Done: {{}}\ntransitions:");
    for i in 0..n {
        let _ = writeln!(
            text,
            "  - {{ from: L, to: L, on: On{i}, when: \"!b{i}\", assign: {{ b{i}: \"true\" }} }}"
        );
        let _ = writeln!(
            text,
            "  - {{ from: L, to: L, on: Count{i}, when: \"b{i}\", assign: {{ x{i}: x{i} + 1 }} }}"
        );
    }
    let all = list(n, |i| format!("x{i} <= {}", 3 + i), " && ");
    let _ = writeln!(text, "  - {{ from: L, to: End, on: Done, when: \"{all}\" }}");
    (text, until_done("switched"))
}

/// n integers in a row, none above the next; each can climb to its neighbour.
fn chain_of_integers(n: usize) -> Pair {
    let mut text = "iosts: chain\nvariables:\n".to_owned();
    for i in 0..n {
        let _ = writeln!(text, "  x{i}: int");
    }
    let order = list(n, |i| format!("x{i} == {i}"), " && ");
    let _ =
        writeln!(text, "initial: {{ location: L, condition: \"{order}\" }}\ninputs:\n  Climb: {{ p: int }}");
    let _ = writeln!(text, "outputs:\n  Done: {{ q: int }}\ntransitions:");
    for i in 0..n - 1 {
        let _ = writeln!(
            text,
            "  - {{ from: L, to: L, on: Climb, when: \"p == {i} && x{i} < x{}\", assign: {{ x{i}: \"x{i} + 1\" }} }}",
            i + 1
        );
    }
    let _ = writeln!(text, "  - {{ from: L, to: End, on: Done, when: \"q == x0 && x0 == x{}\" }}", n - 1);
    (text, until_done("chain"))
}

/// n integers, x0 <= x1 <= ...: each is raised by an input of its own while it is below the next, the last
/// one freely.
fn raised_chain(n: usize) -> Pair {
    let mut text = chain_of_zeros(n, 0);
    for i in 0..n {
        let _ = writeln!(text, "  Raise{i}: {{}}");
    }
    let _ = writeln!(text, "outputs:\n  Done: {{}}\ntransitions:");
    for i in 0..n {
        let guard = if i + 1 < n { format!(", when: \"x{i} < x{}\"", i + 1) } else { String::new() };
        let _ = writeln!(text, "  - {{ from: L, to: L, on: Raise{i}{guard}, assign: {{ x{i}: x{i} + 1 }} }}");
    }
    let _ = writeln!(text, "  - {{ from: L, to: End, on: Done, when: x0 == 5 }}");
    (text, until_done("chain"))
}

/// n integers whose sum stays 10: each passes a one to the next while it has one; all have arrived at the
/// end.
fn constant_sum(n: usize) -> Pair {
    let mut text = chain_of_zeros(n, 10);
    for i in 0..n - 1 {
        let _ = writeln!(text, "  Move{i}: {{}}");
    }
    let _ = writeln!(text, "outputs:\n  Done: {{}}\ntransitions:");
    for i in 0..n - 1 {
        let _ = writeln!(
            text,
            "  - {{ from: L, to: L, on: Move{i}, when: x{i} > 0, assign: {{ x{i}: x{i} - 1, x{}: x{} + 1 }} }}",
            i + 1,
            i + 1
        );
    }
    let _ = writeln!(text, "  - {{ from: L, to: End, on: Done, when: x{} == 10 }}", n - 1);
    (text, until_done("chain"))
}

/// The beginning of a specification with n integers, all 0 but the first, which has the value given.
fn chain_of_zeros(n: usize, first: usize) -> String {
    let mut text = "iosts: chain\nvariables:\n".to_owned();
    for i in 0..n {
        let _ = writeln!(text, "  x{i}: int");
    }
    let values = list(n, |i| format!("x{i} == {}", if i == 0 { first } else { 0 }), " && ");
    let _ = writeln!(text, "initial: {{ location: L, condition: \"{values}\" }}\ninputs:");
    text
}

/// n locations in a row, each with a counter of its own that starts at the value of the one before.
fn counters(n: usize) -> Pair {
    let mut text = "iosts: counters\nvariables:\n".to_owned();
    for i in 0..n {
        let _ = writeln!(text, "  x{i}: int");
    }
    let _ = writeln!(
        text,
        "initial: {{ location: L0, condition: \"x0 == 0\" }}\ninputs:\n  Count: {{}}\n  Next: {{}}"
    );
    let _ = writeln!(text, "outputs:\n  Done: {{}}\ntransitions:");
    for i in 0..n {
        let _ = writeln!(text, "  - {{ from: L{i}, to: L{i}, on: Count, assign: {{ x{i}: \"x{i} + 1\" }} }}");
        if i + 1 < n {
            let _ = writeln!(
                text,
                "  - {{ from: L{i}, to: L{}, on: Next, assign: {{ x{}: \"x{i}\" }} }}",
                i + 1,
                i + 1
            );
        }
    }
    let last = n - 1;
    let _ = writeln!(text, "  - {{ from: L{last}, to: End, on: Done, when: \"x{last} >= x0 + {n}\" }}");
    (text, until_done("counters"))
}

/// n integers and 2n/5 flags: each integer is raised up to 10 while its flag is on.
fn switched_numbers(n: usize) -> Pair {
    let flags = 2 * n / 5;
    let zero = [list(n, |i| format!("x{i} == 0"), " && "), list(flags, |i| format!("!b{i}"), " && ")];
    let mut text = format!(
        "iosts: numbers\nvariables:\n{}{}initial: {{ location: L, condition: \"{}\" }}\ninputs:\n{}{}outputs:\n  \
         Done: {{}}\ntransitions:\n",
        list(n, |i| format!("  x{i}: int\n"), ""),
        list(flags, |i| format!("  b{i}: bool\n"), ""),
        zero.join(" && "),
        list(n, |i| format!("  Raise{i}: {{}}\n"), ""),
        list(flags, |i| format!("  Switch{i}: {{}}\n"), ""),
    );
    for i in 0..n {
        let guard = format!("b{} && x{i} < 10", i % flags);
        let _ = writeln!(
            text,
            "  - {{ from: L, to: L, on: Raise{i}, when: \"{guard}\", assign: {{ x{i}: x{i} + 1 }} }}"
        );
    }
    for i in 0..flags {
        let _ = writeln!(text, "  - {{ from: L, to: L, on: Switch{i}, assign: {{ b{i}: \"!b{i}\" }} }}");
    }
    let _ = writeln!(text, "  - {{ from: L, to: End, on: Done, when: \"x0 >= 3\" }}");
    (text, until_done("numbers"))
}

/// n copies of the sender of `examples/bounded_retransmission`, one behind the other: each sends a file of
/// its own, and in each every chunk goes out once.
fn retransmissions(n: usize) -> Pair {
    let mut text = "iosts: retransmissions
constants: { cChunkMax: nat, cRetMax: nat }
variables: { vFile: \"array[nat] of int\", vAltBit: bool, vChunkNumber: nat, vRetNumber: nat }
initial:
  location: Idle0
  condition: cRetMax > 1 && cChunkMax > 0 && vRetNumber == 0 && vAltBit == true && vChunkNumber == 0
inputs:
  REQ: { pFile: \"array[nat] of int\" }
  ACK: {}
outputs:
  SEND: { pChunk: int, pAltBit: bool }
  OK: {}
  Done: {}
  NOT_OK: {}
  DONT_KNOW: {}
internals: [Timeout1, Timeout2]
transitions:
"
    .to_owned();
    for i in 0..n {
        let (on, next) = if i + 1 < n { ("OK", i + 1) } else { ("Done", 0) };
        let _ = write!(
            text,
            "  - {{ from: Idle{i}, to: Send{i}, on: REQ, assign: {{ vFile: pFile, vChunkNumber: 0, vRetNumber: 0 }} }}
  - from: Send{i}
    to: WaitAck{i}
    on: SEND
    when: \"pChunk == vFile[vChunkNumber] && pAltBit == vAltBit\"
  - from: WaitAck{i}
    to: Send{i}
    on: ACK
    when: vChunkNumber + 1 < cChunkMax
    assign: {{ vChunkNumber: vChunkNumber + 1, vAltBit: \"!vAltBit\", vRetNumber: 0 }}
  - from: WaitAck{i}
    to: Success{i}
    on: ACK
    when: vChunkNumber + 1 == cChunkMax
    assign: {{ vChunkNumber: vChunkNumber + 1, vAltBit: \"!vAltBit\", vRetNumber: 0 }}
  - {{ from: Success{i}, to: Idle{next}, on: {on} }}
  - from: WaitAck{i}
    to: Send{i}
    on: Timeout1
    when: vRetNumber < cRetMax
    assign: {{ vRetNumber: vRetNumber + 1 }}
  - {{ from: WaitAck{i}, to: Abort{i}, on: Timeout2, when: vRetNumber == cRetMax, assign: {{ vRetNumber: 0 }} }}
  - {{ from: Abort{i}, to: Idle{i}, on: NOT_OK, when: vChunkNumber + 1 < cChunkMax }}
  - {{ from: Abort{i}, to: Idle{i}, on: DONT_KNOW, when: vChunkNumber + 1 == cChunkMax }}
"
        );
    }
    let purpose = "purpose: each_chunk_once
of: retransmissions
observes: [vFile, cChunkMax]
variables: { vSeen: nat }
initial: { location: Begin, condition: vSeen == 0 }
transitions:
  - { from: Begin, to: Begin, on: SEND, when: \"pChunk == vFile[vSeen]\", assign: { vSeen: vSeen + 1 } }
  - { from: Begin, to: Begin, on: OK, when: vSeen == cChunkMax, assign: { vSeen: 0 } }
  - { from: Begin, to: Accept, on: Done, when: vSeen == cChunkMax }
  - { from: Begin, to: Reject, on: Timeout1 }
  - { from: Begin, to: Reject, on: DONT_KNOW }
  - { from: Begin, to: Reject, on: NOT_OK }
";
    (text, purpose.to_owned())
}

/// A guard that relates every two of n parameters with each other and with a variable.
fn dense_guard(n: usize) -> Pair {
    let mut text =
        "iosts: dense\nvariables: { x: int }\ninitial: { location: L, condition: x == 0 }\n".to_owned();
    let parameters = list(n, |i| format!("p{i}: int"), ", ");
    let _ = writeln!(text, "inputs:\n  Give: {{ {parameters} }}\noutputs:\n  Done: {{}}\ntransitions:");
    // Signs from a small generator: rows without structure.
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut rows = Vec::new();
    for row in 0..2 * n {
        let mut sum = "x".to_owned();
        for i in 0..n {
            let _ = write!(
                sum,
                " {} {} * p{i}",
                if next().is_multiple_of(2) { "+" } else { "-" },
                1 + next() % 5
            );
        }
        rows.push(format!("{sum} <= {}", 10 + row));
    }
    let guard = rows.join(" && ");
    let _ = writeln!(text, "  - {{ from: L, to: M, on: Give, when: \"{guard}\", assign: {{ x: x + 1 }} }}");
    let _ = writeln!(text, "  - {{ from: M, to: End, on: Done }}");
    (text, until_done("dense"))
}

/// n locations, two transitions from each to others at random, which add to a number within bounds.
fn random_graph(n: usize) -> Pair {
    let mut text =
        "iosts: random\nvariables: { x: int }\ninitial: { location: L0, condition: x == 0 }\n".to_owned();
    let _ = writeln!(text, "inputs:\n  A: {{}}\n  B: {{}}\noutputs:\n  Done: {{}}\ntransitions:");
    let mut state = 42u64;
    let mut next = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    for i in 0..n {
        for action in ["A", "B"] {
            let (to, most, step) = (next(n), 5 + next(20), next(3));
            let _ = writeln!(
                text,
                "  - {{ from: L{i}, to: L{to}, on: {action}, when: x < {most}, assign: {{ x: x + {step} }} }}"
            );
        }
    }
    let _ = writeln!(text, "  - {{ from: L{}, to: End, on: Done, when: x > 3 }}", n / 2);
    (text, until_done("random"))
}

/// n locations in a row, with a way back from each to the one before: loops in loops in loops.
fn nested_loops(n: usize) -> Pair {
    let mut text =
        "iosts: nest\nvariables: { x: int }\ninitial: { location: L0, condition: x == 0 }\n".to_owned();
    let _ = writeln!(text, "inputs:\n  On: {{}}\n  Back: {{}}\noutputs:\n  Done: {{}}\ntransitions:");
    for i in 0..n {
        let next = if i + 1 < n { format!("L{}", i + 1) } else { "L0".to_owned() };
        let _ =
            writeln!(text, "  - {{ from: L{i}, to: {next}, on: On, when: x < 10, assign: {{ x: x + 1 }} }}");
        if i > 0 {
            let _ = writeln!(text, "  - {{ from: L{i}, to: L{}, on: Back }}", i - 1);
        }
    }
    let _ = writeln!(text, "  - {{ from: L{}, to: End, on: Done }}", n - 1);
    (text, until_done("nest"))
}

/// n internal steps `x := x + y, y := x`, which closing makes one effect of: its terms share exponentially.
fn shared_sums(n: usize) -> Pair {
    internal_steps("sums", "x: \"x + y\", y: x", n)
}

/// n internal steps that square a number by halves: what is beyond the domains shares exponentially too.
fn shared_conditions(n: usize) -> Pair {
    internal_steps("halves", "x: \"(x div 2) + y\", y: \"x + y\"", n)
}

fn internal_steps(name: &str, effect: &str, n: usize) -> Pair {
    let mut text = format!("iosts: {name}\nvariables: {{ x: int, y: int }}\n");
    let _ = writeln!(text, "initial: {{ location: L0, condition: x == 1 && y == 1 }}\ninputs:\n  Go: {{}}");
    let _ = writeln!(text, "outputs:\n  Done: {{ p: int }}\ninternals: [Step]\ntransitions:");
    let _ = writeln!(text, "  - {{ from: L0, to: S0, on: Go }}");
    for i in 0..n {
        let _ = writeln!(text, "  - {{ from: S{i}, to: S{}, on: Step, assign: {{ {effect} }} }}", i + 1);
    }
    let _ = writeln!(text, "  - {{ from: S{n}, to: End, on: Done, when: p == x }}");
    (text, until_done(name))
}

/// A purpose with n transitions of one action, told apart by remainders, so that they overlap.
fn remainders(n: usize) -> Pair {
    let mut text =
        "iosts: remainders\nvariables: { x: int }\ninitial: { location: L, condition: x == 0 }\n".to_owned();
    let _ = writeln!(text, "inputs:\n  Give: {{ p: int }}\noutputs:\n  Done: {{}}\ntransitions:");
    let _ = writeln!(text, "  - {{ from: L, to: M, on: Give, assign: {{ x: p }} }}");
    let _ = writeln!(text, "  - {{ from: M, to: End, on: Done }}");
    let mut purpose =
        "purpose: until_done\nof: remainders\ninitial: { location: Begin }\ntransitions:\n".to_owned();
    for i in 0..n {
        let _ = writeln!(
            purpose,
            "  - {{ from: Begin, to: P{i}, on: Give, when: p mod {} == {} }}",
            i + 2,
            i / 2
        );
        let _ = writeln!(purpose, "  - {{ from: P{i}, to: Accept, on: Done }}");
    }
    (text, purpose)
}

/// A guard that asks which of n numbers have a given sum.
fn subset_sum(n: usize) -> Pair {
    let mut text =
        "iosts: subset\nvariables: { x: int }\ninitial: { location: L, condition: x == 0 }\n".to_owned();
    let parameters = list(n, |i| format!("p{i}: bool"), ", ");
    let _ = writeln!(text, "inputs:\n  Choose: {{ {parameters} }}\noutputs:\n  Done: {{}}\ntransitions:");
    let sum =
        list(n, |i| format!("(if p{i} then {} else 0)", 1009 + (i * i * 7919 + i * 104_729) % 9973), " + ");
    let _ = writeln!(text, "  - {{ from: L, to: M, on: Choose, when: \"{sum} == {}\" }}", n * 1500 + 1);
    let _ = writeln!(text, "  - {{ from: M, to: End, on: Done }}");
    (text, until_done("subset"))
}
