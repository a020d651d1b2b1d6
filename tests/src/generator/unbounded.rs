//! Random pairs over unbounded integers: what `determinize` makes of choices that no enumeration decides.
//!
//! **Problem.** The pairs of [`super::generate`] are finite, so that brute force knows them, and those with a
//! choice that it sees to stay open are mostly drawn again. How many specifications the pipeline refuses is a
//! question about others: nobody looked whether their choices are resolved, their numbers have no bounds,
//! their internal steps and partly overlapping guards are as frequent as in hurried hands.
//!
//! **Method.** Text, with the words of a small model: three to six locations on a path, some transitions
//! across, guards that compare a variable or a parameter with a number, a constant or a variable, assignments
//! of numbers, parameters and sums. A third of the transitions gets a companion of the same location and
//! action whose guard overlaps with its own in part. Internal steps lead forward, so that they cannot follow
//! each other for ever. The purpose follows a walk of visible actions.
//!
//! **Ends** by construction. A seed determines the pair.

use std::fmt::Write;

use super::random::Random;

/// A specification and a purpose, as text.
pub struct Texts {
    /// The specification.
    pub specification: String,
    /// The purpose.
    pub purpose: String,
}

/// An action: its name, and whether it has a parameter, called `p`.
struct Action {
    name: String,
    is_internal: bool,
    has_parameter: bool,
}

struct Step {
    from: usize,
    to: usize,
    on: usize,
    when: Vec<String>,
    assign: Vec<(String, String)>,
}

struct Made {
    variables: usize,
    has_constant: bool,
    locations: usize,
    actions: Vec<Action>,
    steps: Vec<Step>,
}

/// The pair of this seed.
pub fn generate(seed: u64) -> Texts {
    let mut random = Random::new(seed ^ 0x756e_626f);
    let made = specification(&mut random);
    Texts { specification: written(&made, &mut random), purpose: purpose(&made, &mut random) }
}

fn specification(random: &mut Random) -> Made {
    let mut actions = Vec::new();
    for (kind, (least, most)) in [("i", (1, 2)), ("o", (1, 3)), ("t", (1, 2))] {
        for number in 0..random.between((least, most)) {
            let is_internal = kind == "t";
            let has_parameter = !is_internal && random.chance(60);
            actions.push(Action { name: format!("{kind}{number}"), is_internal, has_parameter });
        }
    }
    let (variables, has_constant) = (random.between((1, 3)), random.chance(40));
    let locations = random.between((3, 6));
    let mut made = Made { variables, has_constant, locations, actions, steps: Vec::new() };
    for to in 1..locations {
        let from = random.below(to);
        grow(&mut made, random, from, to);
    }
    for _ in 0..random.between((2, 6)) {
        let (from, to) = (random.below(locations), random.below(locations));
        grow(&mut made, random, from, to);
    }
    made
}

/// A transition, and perhaps one beside it that can be taken together with it now and then.
fn grow(made: &mut Made, random: &mut Random, from: usize, to: usize) {
    let forward = from < to;
    let of = |internal: bool| {
        made.actions.iter().enumerate().filter(move |(_, a)| a.is_internal == internal).map(|(at, _)| at)
    };
    let on = if forward && random.chance(25) { of(true).collect::<Vec<_>>() } else { of(false).collect() };
    let on = on[random.below(on.len())];
    let (when, assign) = (guard(made, random, on), effect(made, random, on));
    made.steps.push(Step { from, to, on, when: when.clone(), assign });
    if random.chance(33) {
        let to = if made.actions[on].is_internal { from + 1 } else { random.below(made.locations) };
        let when = match (random.below(3), when.as_slice()) {
            (0, _) => when,
            (1, [first, ..]) => vec![format!("!({first}) || {}", comparison(made, random, on))],
            _ => guard(made, random, on),
        };
        let assign = effect(made, random, on);
        made.steps.push(Step { from, to: to.min(made.locations - 1), on, when, assign });
    }
}

fn variable(made: &Made, random: &mut Random) -> String {
    format!("v{}", random.below(made.variables))
}

/// A parameter, a constant, a variable or a number.
fn value(made: &Made, random: &mut Random, on: usize) -> String {
    match random.below(6) {
        0 | 1 if made.actions[on].has_parameter => "p".to_owned(),
        2 if made.has_constant => "c".to_owned(),
        2..=4 => variable(made, random),
        _ => random.below(5).to_string(),
    }
}

fn comparison(made: &Made, random: &mut Random, on: usize) -> String {
    const SIGNS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];
    let left = if made.actions[on].has_parameter && random.chance(50) {
        "p".to_owned()
    } else {
        variable(made, random)
    };
    let right = if random.chance(50) { random.below(5).to_string() } else { value(made, random, on) };
    let among = if random.chance(70) { 4 } else { 6 };
    format!("{left} {} {right}", SIGNS[random.below(among)])
}

fn guard(made: &Made, random: &mut Random, on: usize) -> Vec<String> {
    (0..[0, 1, 1, 2][random.below(4)]).map(|_| comparison(made, random, on)).collect()
}

fn effect(made: &Made, random: &mut Random, on: usize) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for number in 0..made.variables {
        if random.chance(35) {
            let (one, other) = (value(made, random, on), value(made, random, on));
            let sign = if random.chance(60) { "+" } else { "-" };
            let value = if random.chance(50) { one } else { format!("{one} {sign} {other}") };
            found.push((format!("v{number}"), value));
        }
    }
    found
}

fn written(made: &Made, random: &mut Random) -> String {
    let mut text = "iosts: machine\n".to_owned();
    if made.has_constant {
        text += "constants: { c: int }\n";
    }
    let variables: Vec<String> = (0..made.variables).map(|at| format!("v{at}: int")).collect();
    let known: Vec<String> = (0..made.variables)
        .map(|at| match made.has_constant && random.chance(20) {
            true => format!("v{at} == c"),
            false => format!("v{at} == {}", random.below(4)),
        })
        .collect();
    let _ = writeln!(text, "variables: {{ {} }}", variables.join(", "));
    let _ = writeln!(text, "initial: {{ location: L0, condition: {} }}", known.join(" && "));
    for (kind, first) in [("inputs", 'i'), ("outputs", 'o')] {
        let _ = writeln!(text, "{kind}:");
        for action in made.actions.iter().filter(|action| action.name.starts_with(first)) {
            let parameters = if action.has_parameter { " p: int " } else { "" };
            let _ = writeln!(text, "  {}: {{{parameters}}}", action.name);
        }
    }
    let internals: Vec<&str> =
        made.actions.iter().filter(|a| a.is_internal).map(|action| action.name.as_str()).collect();
    let _ = writeln!(text, "internals: [{}]\ntransitions:", internals.join(", "));
    for step in &made.steps {
        let assign: Vec<String> =
            step.assign.iter().map(|(to, value)| format!("{to}: \"{value}\"")).collect();
        let _ =
            write!(text, "  - {{ from: L{}, to: L{}, on: {}", step.from, step.to, made.actions[step.on].name);
        if !step.when.is_empty() {
            let parts: Vec<String> = step.when.iter().map(|part| format!("({part})")).collect();
            let _ = write!(text, ", when: \"{}\"", parts.join(" && "));
        }
        if !assign.is_empty() {
            let _ = write!(text, ", assign: {{ {} }}", assign.join(", "));
        }
        text += " }\n";
    }
    text
}

fn purpose(made: &Made, random: &mut Random) -> String {
    let length = random.between((1, 3));
    let mut text = "purpose: walk\nof: machine\n".to_owned();
    let mut lines = String::new();
    let mut observed = Vec::new();
    // Along the specification where it goes on with something visible, else by any visible action.
    let mut at = 0;
    for step in 0..length {
        let mut here: Vec<&Step> = Vec::new();
        for _ in 0..made.locations {
            here = made.steps.iter().filter(|s| s.from == at && !made.actions[s.on].is_internal).collect();
            let inner = made.steps.iter().find(|s| s.from == at && made.actions[s.on].is_internal);
            match inner {
                Some(inner) if here.is_empty() || random.chance(30) => at = inner.to,
                _ => break,
            }
        }
        let visible: Vec<usize> =
            (0..made.actions.len()).filter(|action| !made.actions[*action].is_internal).collect();
        let on = if here.is_empty() {
            visible[random.below(visible.len())]
        } else {
            let chosen = here[random.below(here.len())];
            at = chosen.to;
            chosen.on
        };
        let when = if random.chance(35) { comparison(made, random, on) } else { String::new() };
        for number in 0..made.variables {
            let name = format!("v{number}");
            if when.contains(&name) && !observed.contains(&name) {
                observed.push(name);
            }
        }
        if when.contains('c') && !observed.contains(&"c".to_owned()) {
            observed.push("c".to_owned());
        }
        let when = if when.is_empty() { when } else { format!(", when: \"{when}\"") };
        let to = if step + 1 == length { "Accept".to_owned() } else { format!("P{}", step + 1) };
        let _ = writeln!(lines, "  - {{ from: P{step}, to: {to}, on: {}{when} }}", made.actions[on].name);
        for action in visible.iter().filter(|action| **action != on) {
            if random.chance(70) {
                let name = &made.actions[*action].name;
                let to = if random.chance(15) { "Reject".to_owned() } else { format!("P{step}") };
                let _ = writeln!(lines, "  - {{ from: P{step}, to: {to}, on: {name} }}");
            }
        }
    }
    if !observed.is_empty() {
        let _ = writeln!(text, "observes: [{}]", observed.join(", "));
    }
    text + "initial: { location: P0 }\ntransitions:\n" + &lines
}
