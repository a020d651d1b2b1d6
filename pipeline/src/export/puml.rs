//! A stage's result as a state diagram for PlantUML.
//!
//! The conventions are those of [`super::dot`]: whose side the signs are seen from, green, amber and red for
//! verdicts. Nothing is joined and nothing left out but lines of very long conditions.
//!
//! PlantUML reads markup in every text, so signs that may begin one are written by their numbers. States are
//! called by numbers: names of locations may be words of its language.

use std::fmt::Write;

use coreach_model::LocationId;
use coreach_model::visible::visible;

use super::View;
use super::dot::colours;
use super::labels::{action, condition_lines, guard_lines};

/// The diagram as text.
pub fn puml(view: &View<'_>) -> String {
    let mut out = String::from("@startuml\nhide empty description\n");
    let what = view.what.replace('_', " ");
    let side = if view.is_testers_side() {
        "! the tester sends, ? the tester observes"
    } else {
        "? the system receives, ! the system sends"
    };
    let once = view.said_once().map_or(String::new(), |sentence| format!("; {}", text(&sentence)));
    let _ = writeln!(out, "title {}: {what}\\n{side}{once}", text(&view.iosts.name));
    for location in view.iosts.location_ids() {
        let mark = view.mark(location);
        let colour = mark.map_or(String::new(), |_| format!(" {}", colours(mark).0));
        let label = text(&view.iosts.location(location).label);
        let _ = writeln!(out, "state \"{label}\" as {}{colour}", id(location));
    }
    let initial = &view.iosts.initial_condition;
    let said =
        if initial.is_true() { String::new() } else { format!(" : {}", lines(&condition_lines(initial))) };
    let _ = writeln!(out, "[*] --> {}{said}", id(view.iosts.initial));
    for transition in &*view.iosts.transitions {
        let shown = view.iosts.action(transition.action);
        let mut label = vec![action(shown, view.sign(shown.kind))];
        label.extend(guard_lines(&transition.guard));
        label.extend(transition.assignments.iter().map(|(variable, value)| format!("{variable} := {value}")));
        let _ = writeln!(out, "{} --> {} : {}", id(transition.source), id(transition.target), lines(&label));
    }
    out.push_str("@enduml\n");
    out
}

fn id(location: LocationId) -> String {
    format!("s{}", location.0)
}

fn lines(all: &[String]) -> String {
    all.iter().map(|line| text(line)).collect::<Vec<_>>().join("\\n")
}

/// Text without anything that PlantUML takes for markup: what is neither a letter, a digit, a space nor a
/// harmless sign is written by its number.
fn text(plain: &str) -> String {
    const HARMLESS: &str = " ,.;:()[]{}=+?!|>";
    let mut written = String::new();
    let shown = visible(plain);
    let mut signs = shown.chars().peekable();
    while let Some(sign) = signs.next() {
        let next = signs.peek().copied().unwrap_or(' ');
        match sign {
            '\n' | '\r' | '\t' => written.push(' '),
            // One alone is a part of a name; two begin markup.
            '_' if !written.ends_with('_') => written.push('_'),
            // Between blanks a sign of the language of expressions is one; before a letter it begins a tag,
            // or an entity.
            '<' if matches!(next, ' ' | '=') => written.push('<'),
            '&' if matches!(next, ' ' | '&') => written.push('&'),
            sign if sign.is_alphanumeric() || HARMLESS.contains(sign) => written.push(sign),
            sign => {
                let _ = write!(written, "<U+{:04X}>", u32::from(sign));
            }
        }
    }
    written
}
