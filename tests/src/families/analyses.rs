//! Families of pairs that made the analyses explode: each a specification and a purpose of a size, as YAML.
//!
//! The sizes are meant to be doubled: what a pair of size n costs should grow as what can be reached in it does, or end
//! in a stop or a loss that says so.

use std::fmt::Write as _;

/// Specification and purpose of a size.
pub type Family = fn(usize) -> (String, String);

/// The families by name, each with the sizes that are worth trying.
pub const FAMILIES: [(&str, Family, [usize; 4]); 13] = [
    ("booleans", booleans, [2, 4, 8, 16]),
    ("summed_booleans", summed_booleans, [2, 4, 8, 16]),
    ("choices", choices, [2, 4, 8, 16]),
    ("switched_counters", switched_counters, [2, 4, 8, 16]),
    ("chain_of_integers", chain_of_integers, [5, 10, 20, 40]),
    ("counters", counters, [5, 10, 20, 40]),
    ("dense_guard", dense_guard, [4, 8, 12, 16]),
    ("random_graph", random_graph, [250, 500, 1000, 2000]),
    ("nested_loops", nested_loops, [100, 200, 400, 800]),
    ("shared_sums", shared_sums, [10, 20, 40, 80]),
    ("shared_conditions", shared_conditions, [10, 20, 40, 80]),
    ("remainders", remainders, [3, 6, 12, 24]),
    ("subset_sum", subset_sum, [8, 15, 30, 60]),
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

fn switches(name: &str, n: usize, output: &str, last: &str) -> (String, String) {
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

/// n Booleans, each with a number that it switches between two values; all are on at the end, and none was broken.
pub fn booleans(n: usize) -> (String, String) {
    switches("booleans", n, "{}", &list(n, |i| format!("b{i}"), " && "))
}

/// The same, and the output says the sum of the numbers, which relates them all.
pub fn summed_booleans(n: usize) -> (String, String) {
    let sum = list(n, |i| format!("x{i}"), " + ");
    switches("summed_booleans", n, "{ p: int }", &format!("p == {sum} && p > {n}"))
}

/// n Booleans, each of which lets a number be chosen once; the purpose asks for a sum that not every choice allows.
pub fn choices(n: usize) -> (String, String) {
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

/// n Booleans, each of which says whether its number counts; each number must reach a bound of its own, and may pass it.
pub fn switched_counters(n: usize) -> (String, String) {
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
pub fn chain_of_integers(n: usize) -> (String, String) {
    let mut text = "iosts: chain\nvariables:\n".to_owned();
    for i in 0..n {
        let _ = writeln!(text, "  x{i}: int");
    }
    let order = list(n, |i| format!("x{i} == {i}"), " && ");
    let _ = writeln!(text, "initial: {{ location: L, condition: \"{order}\" }}\ninputs:\n  Climb: {{ p: int }}");
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

/// n locations in a row, each with a counter of its own that starts at the value of the one before.
pub fn counters(n: usize) -> (String, String) {
    let mut text = "iosts: counters\nvariables:\n".to_owned();
    for i in 0..n {
        let _ = writeln!(text, "  x{i}: int");
    }
    let _ = writeln!(text, "initial: {{ location: L0, condition: \"x0 == 0\" }}\ninputs:\n  Count: {{}}\n  Next: {{}}");
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

/// A guard that relates every two of n parameters with each other and with a variable.
pub fn dense_guard(n: usize) -> (String, String) {
    let mut text = "iosts: dense\nvariables: { x: int }\ninitial: { location: L, condition: x == 0 }\n".to_owned();
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
            let _ = write!(sum, " {} {} * p{i}", if next().is_multiple_of(2) { "+" } else { "-" }, 1 + next() % 5);
        }
        rows.push(format!("{sum} <= {}", 10 + row));
    }
    let guard = rows.join(" && ");
    let _ = writeln!(text, "  - {{ from: L, to: M, on: Give, when: \"{guard}\", assign: {{ x: x + 1 }} }}");
    let _ = writeln!(text, "  - {{ from: M, to: End, on: Done }}");
    (text, until_done("dense"))
}

/// n locations, two transitions from each to others at random, which add to a number within bounds.
pub fn random_graph(n: usize) -> (String, String) {
    let mut text = "iosts: random\nvariables: { x: int }\ninitial: { location: L0, condition: x == 0 }\n".to_owned();
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
pub fn nested_loops(n: usize) -> (String, String) {
    let mut text = "iosts: nest\nvariables: { x: int }\ninitial: { location: L0, condition: x == 0 }\n".to_owned();
    let _ = writeln!(text, "inputs:\n  On: {{}}\n  Back: {{}}\noutputs:\n  Done: {{}}\ntransitions:");
    for i in 0..n {
        let next = if i + 1 < n { format!("L{}", i + 1) } else { "L0".to_owned() };
        let _ = writeln!(text, "  - {{ from: L{i}, to: {next}, on: On, when: x < 10, assign: {{ x: x + 1 }} }}");
        if i > 0 {
            let _ = writeln!(text, "  - {{ from: L{i}, to: L{}, on: Back }}", i - 1);
        }
    }
    let _ = writeln!(text, "  - {{ from: L{}, to: End, on: Done }}", n - 1);
    (text, until_done("nest"))
}

/// n internal steps `x := x + y, y := x`, which closing makes one effect of: its terms share exponentially.
pub fn shared_sums(n: usize) -> (String, String) {
    internal_steps("sums", "x: \"x + y\", y: x", n)
}

/// n internal steps that square a number by halves: what is beyond the domains shares exponentially too.
pub fn shared_conditions(n: usize) -> (String, String) {
    internal_steps("halves", "x: \"(x div 2) + y\", y: \"x + y\"", n)
}

fn internal_steps(name: &str, effect: &str, n: usize) -> (String, String) {
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
pub fn remainders(n: usize) -> (String, String) {
    let mut text = "iosts: remainders\nvariables: { x: int }\ninitial: { location: L, condition: x == 0 }\n".to_owned();
    let _ = writeln!(text, "inputs:\n  Give: {{ p: int }}\noutputs:\n  Done: {{}}\ntransitions:");
    let _ = writeln!(text, "  - {{ from: L, to: M, on: Give, assign: {{ x: p }} }}");
    let _ = writeln!(text, "  - {{ from: M, to: End, on: Done }}");
    let mut purpose = "purpose: until_done\nof: remainders\ninitial: { location: Begin }\ntransitions:\n".to_owned();
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
pub fn subset_sum(n: usize) -> (String, String) {
    let mut text = "iosts: subset\nvariables: { x: int }\ninitial: { location: L, condition: x == 0 }\n".to_owned();
    let parameters = list(n, |i| format!("p{i}: bool"), ", ");
    let _ = writeln!(text, "inputs:\n  Choose: {{ {parameters} }}\noutputs:\n  Done: {{}}\ntransitions:");
    let sum = list(n, |i| format!("(if p{i} then {} else 0)", 1009 + (i * i * 7919 + i * 104_729) % 9973), " + ");
    let _ = writeln!(text, "  - {{ from: L, to: M, on: Choose, when: \"{sum} == {}\" }}", n * 1500 + 1);
    let _ = writeln!(text, "  - {{ from: M, to: End, on: Done }}");
    (text, until_done("subset"))
}
