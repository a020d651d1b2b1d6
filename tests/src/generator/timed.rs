//! A random timed specification, as text.
//!
//! **Problem.** What has to do with time is held against a brute force that knows only instants of a grid. So
//! models are wanted in which a grid tells everything: numbers are integers, and small.
//!
//! **Method.** Clocks are compared with integers, with data of integer types (guards that mix both), and now
//! and then with one another or with what a clock showed before, never added up. So where all events lie on a
//! grid of 1/2, every end of a span in which a transition can be taken lies on it as well, and a span that is
//! not empty has a point on a grid of 1/4. Internal actions mention no clock and lead forward: the delayed
//! form exists, and there is no livelock. Some data are open in the beginning, and some models have
//! constants.
//!
//! The text is what the reader gets; nothing here uses the model's own types.

use std::fmt::Write;

use super::random::Random;

/// How large, and how often what; chances in percent.
#[derive(Clone, Debug)]
pub struct TimedShape {
    /// Locations.
    pub locations: (usize, usize),
    /// Transitions beside one into each location.
    pub extra_transitions: (usize, usize),
    /// Clocks.
    pub clocks: (usize, usize),
    /// Integer variables.
    pub variables: (usize, usize),
    /// The largest number that a clock is compared with.
    pub bound: usize,
    /// The largest value of data.
    pub values: usize,
    /// There is a constant.
    pub constant: usize,
    /// A variable is open in the beginning.
    pub open: usize,
    /// An action has a parameter.
    pub parameter: usize,
    /// There is an internal action.
    pub internal: usize,
    /// An internal transition has clocks, so it takes time which nobody sees.
    pub unseen: usize,
    /// There is an input that the tester does not send.
    pub uncontrollable: usize,
    /// There is a real variable that keeps what a clock showed.
    pub seen: usize,
    /// A transition resets a clock.
    pub reset: usize,
    /// A comparison of a clock is with data.
    pub mixed: usize,
    /// A transition has a companion of the same action, so that there are choices.
    pub companion: usize,
}

impl Default for TimedShape {
    fn default() -> Self {
        TimedShape {
            locations: (2, 4),
            extra_transitions: (1, 5),
            clocks: (1, 2),
            variables: (1, 2),
            bound: 3,
            values: 2,
            constant: 25,
            open: 30,
            parameter: 50,
            internal: 35,
            unseen: 0,
            uncontrollable: 20,
            seen: 25,
            reset: 45,
            mixed: 25,
            companion: 30,
        }
    }
}

/// An action: its name, its parameter where it has one.
struct Action {
    name: String,
    parameter: Option<String>,
}

/// What a specification is made of.
struct Names {
    clocks: Vec<String>,
    variables: Vec<String>,
    constant: Option<&'static str>,
    seen: Option<&'static str>,
}

/// The specification of this seed, as YAML.
pub fn timed_specification(seed: u64, shape: &TimedShape) -> String {
    let mut random = Random::new(seed ^ 0x7469_6d65);
    let count = |random: &mut Random, range, prefix: &str| -> Vec<String> {
        (0..random.between(range)).map(|number| format!("{prefix}{number}")).collect()
    };
    let names = Names {
        clocks: count(&mut random, shape.clocks, "x"),
        variables: count(&mut random, shape.variables, "v"),
        constant: random.chance(shape.constant).then_some("k"),
        seen: random.chance(shape.seen).then_some("seen"),
    };
    let ty = format!("'int[0..{}]'", shape.values);
    let action = |random: &mut Random, name: String| {
        let parameter = random.chance(shape.parameter).then(|| format!("p{name}"));
        Action { name, parameter }
    };
    let inputs: Vec<Action> =
        (0..random.between((1, 2))).map(|number| action(&mut random, format!("I{number}"))).collect();
    let noticed = random.chance(shape.uncontrollable).then(|| action(&mut random, "U".to_owned()));
    let outputs: Vec<Action> =
        (0..random.between((1, 2))).map(|number| action(&mut random, format!("O{number}"))).collect();
    let is_internal = random.chance(shape.internal);

    let mut text = format!("iosts: machine\nclocks: [{}]\n", names.clocks.join(", "));
    if let Some(constant) = names.constant {
        let _ = writeln!(text, "constants: {{ {constant}: {ty} }}");
    }
    let typed = names.variables.iter().map(|name| format!("{name}: {ty}"));
    let typed = typed.chain(names.seen.map(|name| format!("{name}: real")));
    let _ = writeln!(text, "variables: {{ {} }}", typed.collect::<Vec<_>>().join(", "));
    let mut initial: Vec<String> = Vec::new();
    for name in &names.variables {
        if !random.chance(shape.open) {
            initial.push(format!("{name} == {}", random.below(shape.values + 1)));
        } else if random.chance(50) {
            initial.push(format!("{name} >= {}", random.below(shape.values + 1)));
        }
    }
    initial.extend(names.seen.map(|name| format!("{name} == {}", random.below(2))));
    let condition = if initial.is_empty() { "true".to_owned() } else { initial.join(" && ") };
    let _ = writeln!(text, "initial: {{ location: L0, condition: \"{condition}\" }}");
    let declared = |action: &Action, is_controllable: bool| {
        let parameters = action.parameter.as_ref().map_or(String::new(), |name| format!("{name}: {ty}"));
        if is_controllable {
            format!("  {}: {{ {parameters} }}\n", action.name)
        } else {
            format!("  {}: {{ parameters: {{ {parameters} }}, controllable: false }}\n", action.name)
        }
    };
    text += "inputs:\n";
    text.extend(inputs.iter().map(|action| declared(action, true)));
    text.extend(noticed.iter().map(|action| declared(action, false)));
    text += "outputs:\n";
    text.extend(outputs.iter().map(|action| declared(action, true)));
    if is_internal {
        text += "internals: [tau]\n";
    }
    text += "transitions:\n";
    let visible: Vec<&Action> = inputs.iter().chain(&noticed).chain(&outputs).chain(&outputs).collect();
    let locations = random.between(shape.locations);
    let mut pairs: Vec<(usize, usize)> =
        (1..locations).map(|target| (random.below(target), target)).collect();
    for _ in 0..random.between(shape.extra_transitions) {
        pairs.push((random.below(locations), random.below(locations)));
    }
    for (source, target) in pairs {
        if is_internal && source < target && random.chance(25) {
            text += &transition(&mut random, shape, &names, None, source, target);
            continue;
        }
        let Some(action) = random.pick(&visible).copied() else { continue };
        text += &transition(&mut random, shape, &names, Some(action), source, target);
        if random.chance(shape.companion) {
            let target = random.below(locations);
            text += &transition(&mut random, shape, &names, Some(action), source, target);
        }
    }
    text
}

/// A line of the list; `None` is the internal action, which no clock stands in if the shape does not say so.
fn transition(
    random: &mut Random,
    shape: &TimedShape,
    names: &Names,
    action: Option<&Action>,
    source: usize,
    target: usize,
) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut data: Vec<&str> = names.variables.iter().map(String::as_str).collect();
    data.extend(names.constant);
    let takes_time = action.is_some() || shape.unseen > 0 && random.chance(shape.unseen);
    let clocks: &[String] = if takes_time { &names.clocks } else { &[] };
    let operators = ["<", "<=", ">", ">=", "=="];
    let operator = |random: &mut Random| operators[random.below(operators.len())];
    for clock in clocks {
        if !random.chance(60) {
            continue;
        }
        let end = match random.pick(&data) {
            Some(datum) if random.chance(shape.mixed) => format!("{datum} + {}", random.below(2)),
            _ => random.below(shape.bound + 1).to_string(),
        };
        match names.seen {
            Some(seen) if random.chance(25) => {
                parts.push(format!("{clock} {} {seen} + {end}", operator(random)));
            }
            _ => parts.push(format!("{clock} {} {end}", operator(random))),
        }
    }
    if let [first, second, ..] = clocks
        && random.chance(10)
    {
        parts.push(format!("{first} {} {second} + {}", operator(random), random.below(shape.bound)));
    }
    for datum in &data {
        if random.chance(25) {
            parts.push(format!("{datum} {} {}", operator(random), random.below(shape.values + 1)));
        }
    }
    let parameter = action.and_then(|action| action.parameter.as_deref());
    if let Some(parameter) = parameter
        && random.chance(60)
    {
        let other = match random.pick(&data) {
            Some(datum) if random.chance(60) => (*datum).to_owned(),
            _ => random.below(shape.values + 1).to_string(),
        };
        parts.push(format!("{parameter} {} {other}", operator(random)));
    }
    let mut assignments: Vec<String> = Vec::new();
    for variable in &names.variables {
        if random.chance(35) {
            let value = match (random.below(4), parameter) {
                (0 | 1, Some(parameter)) => parameter.to_owned(),
                // It may leave the type: then the transition cannot be taken.
                (2, _) => format!("{variable} + 1"),
                _ => random.below(shape.values + 1).to_string(),
            };
            assignments.push(format!("{variable}: {value}"));
        }
    }
    let mut resets: Vec<&str> = Vec::new();
    for clock in clocks {
        if let Some(seen) = names.seen
            && random.chance(25)
            && !assignments.iter().any(|text| text.starts_with(seen))
        {
            assignments.push(format!("{seen}: {clock}"));
        }
        if random.chance(shape.reset) {
            resets.push(clock);
        }
    }
    let name = action.map_or("tau", |action| action.name.as_str());
    let mut text = format!("  - {{ from: L{source}, to: L{target}, on: {name}");
    if !parts.is_empty() {
        let _ = write!(text, ", when: \"{}\"", parts.join(" && "));
    }
    if !resets.is_empty() {
        let _ = write!(text, ", reset: [{}]", resets.join(", "));
    }
    if !assignments.is_empty() {
        let _ = write!(text, ", assign: {{ {} }}", assignments.join(", "));
    }
    text + " }\n"
}

#[cfg(test)]
mod tests {
    use coreach_model::reader::{from_bytes, read_timed_specification};
    use coreach_model::timed::delayed::delayed;

    use super::*;

    /// Every seed is read, and has a delayed form; what the shape speaks of comes up.
    #[test]
    fn every_seed_is_a_timed_model() {
        let words = ["tau", "controllable: false", "constants:", "seen", "reset", "assign", "x1", "p"];
        let mut often = words.map(|_| 0);
        for seed in 0..300 {
            let text = timed_specification(seed, &TimedShape::default());
            let file = from_bytes("timed.yaml".to_owned(), text.clone().into_bytes()).unwrap();
            let read = read_timed_specification(file);
            let (specification, _) = read.unwrap_or_else(|found| panic!("{text}{found:?}"));
            assert!(delayed(&specification.timed).is_ok(), "{text}");
            for (word, count) in words.iter().zip(&mut often) {
                *count += usize::from(text.contains(word));
            }
        }
        assert!(often.iter().all(|count| *count >= 30), "{often:?}");
    }
}
