//! A random timed purpose of a random timed specification ([`super::timed`]), as text.
//!
//! It has a clock of its own, observes data and clocks of the specification, and says little: what it leaves
//! open, completion says.

use std::fmt::Write;

use coreach_model::iosts::ActionKind;
use coreach_model::timed::Timed;

use super::random::Random;

/// The purpose of this seed, as YAML.
pub fn timed_purpose(seed: u64, timed: &Timed) -> String {
    let mut random = Random::new(seed ^ 0x7075_7270);
    let graph = timed.graph();
    let visible: Vec<_> = graph.actions.iter().filter(|action| action.is_visible()).collect();
    let outputs: Vec<_> =
        visible.iter().copied().filter(|action| action.kind == ActionKind::Output).collect();
    let clock = timed.clocks().first().map_or("", |clock| clock.name());
    let observes = if random.chance(50) && !clock.is_empty() { vec![clock] } else { Vec::new() };
    let mut text = format!("purpose: aim\nof: {}\nobserves: [{}]\n", graph.name, observes.join(", "));
    text += "clocks: [mine]\ninitial: { location: A }\ntransitions:\n";
    let operators = ["<", "<=", ">=", "=="];
    let guard = |random: &mut Random| {
        let mut parts = Vec::new();
        for name in observes.iter().copied().chain(["mine"]) {
            if random.chance(35) {
                parts.push(format!("{name} {} {}", operators[random.below(4)], random.below(4)));
            }
        }
        parts.join(" && ")
    };
    let middle = random.chance(60);
    let last = if middle { "B" } else { "A" };
    let line = |text: &mut String, from: &str, to: &str, on: &str, when: String, reset: bool| {
        let when = if when.is_empty() { String::new() } else { format!(", when: \"{when}\"") };
        let reset = if reset { ", reset: [mine]" } else { "" };
        let _ = writeln!(text, "  - {{ from: {from}, to: {to}, on: {on}{when}{reset} }}");
    };
    if middle && let Some(action) = random.pick(&visible) {
        let when = guard(&mut random);
        let reset = random.chance(50);
        line(&mut text, "A", "B", &action.name, when.clone(), reset);
        if !when.is_empty() && random.chance(70) {
            // Otherwise what does not lead on leads to Reject.
            line(&mut text, "A", "A", &action.name, format!("!({when})"), random.chance(30));
        }
    }
    if let Some(action) = random.pick(&outputs) {
        let when = guard(&mut random);
        line(&mut text, last, "Accept", &action.name, when.clone(), false);
        if !when.is_empty() && random.chance(70) {
            line(&mut text, last, last, &action.name, format!("!({when})"), random.chance(30));
        }
    }
    if random.chance(25)
        && let Some(action) = random.pick(&outputs)
    {
        line(&mut text, last, "Reject", &action.name, "mine > 3".to_owned(), false);
    }
    text
}
