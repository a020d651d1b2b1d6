//! Makes text for pictures: conditions in short lines, and escapes of Graphviz' HTML-like labels.

use coreach_model::term::node::Node;
use coreach_model::visible::visible;
use coreach_model::{Action, Datum, LocationId, Term};

use super::View;

/// Lines are broken so that they are hardly longer than this many characters.
pub(super) const WIDTH: usize = 40;

/// The most lines of one condition: a picture is for people, documents have the rest.
const MOST_LINES: usize = 12;

/// Writes a guard as an arrow shows it, in brackets. A guard that is always true has no lines.
pub(super) fn guard_lines(guard: &Term) -> Vec<String> {
    if guard.is_true() {
        return Vec::new();
    }
    let mut lines = condition_lines(guard);
    if let Some(first) = lines.first_mut() {
        first.insert(0, '[');
    }
    if let Some(last) = lines.last_mut() {
        last.push(']');
    }
    lines
}

/// Writes a condition in lines: `x > 0 &&`, `y == 1`.
pub(super) fn condition_lines(condition: &Term) -> Vec<String> {
    let (parts, joint) = match condition.written() {
        Some(Node::And(parts)) => (parts.iter().map(Term::to_conjunct).collect(), " &&"),
        // `a => b` is a disjunction too, but is not broken.
        Some(Node::Or(parts)) if condition.premises() == 0 => {
            (parts.iter().map(Term::to_disjunct).collect(), " ||")
        }
        _ => (vec![condition.to_string()], ""),
    };
    let mut lines = fill_lines(parts, joint);
    if lines.len() > MOST_LINES {
        let hidden = lines.len() - (MOST_LINES - 1);
        lines.truncate(MOST_LINES - 1);
        lines.push(format!("... ({hidden} more lines)"));
    }
    lines
}

/// Puts as many parts on a line as fit. A part that does not fit is broken, and the next ones go on behind
/// it.
pub(super) fn fill_lines(parts: Vec<String>, joint: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let last = parts.len().saturating_sub(1);
    for (index, part) in parts.into_iter().enumerate() {
        let part = if index == last { part } else { part + joint };
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + part.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(&part);
            }
            _ => lines.extend(break_text(&part)),
        }
    }
    lines
}

/// Breaks a long text into several lines, only behind `&&` and `||`.
fn break_text(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if matches!(word, "&&" | "||") && line.chars().count() > WIDTH / 2 {
            lines.push(std::mem::take(&mut line));
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Writes the facts of a location: `reach: x > 0`, with further lines below it.
pub(super) fn fact_lines(view: &View<'_>, location: LocationId) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, facts) in [("reach", view.particulars.reach), ("coreach", view.particulars.coreach)] {
        for (number, line) in facts.iter().flat_map(|facts| condition_lines(&facts[location])).enumerate() {
            lines.push(if number == 0 { format!("{name}: {line}") } else { line });
        }
    }
    lines
}

/// Names an action as a picture does: `Coin!(pCoinValue)`.
pub(super) fn action_text(action: &Action, sign: &str, parameters: &[Datum]) -> String {
    let parameters: Vec<&str> = parameters.iter().map(Datum::name).collect();
    match parameters.is_empty() {
        true => format!("{}{sign}", action.name),
        false => format!("{}{sign}({})", action.name, parameters.join(", ")),
    }
}

/// Lists the numbers of the events at which a run took a transition: `(2, 5)`.
pub(super) fn steps_text(steps: &[usize]) -> String {
    const MOST: usize = 8;
    let mut numbers: Vec<String> = steps.iter().take(MOST).map(ToString::to_string).collect();
    if steps.len() > MOST {
        numbers.push(format!("... {} times", steps.len()));
    }
    format!("({})", numbers.join(", "))
}

/// Escapes text within an HTML-like label. Hidden signs are shown by their numbers. Graphviz obeys its own
/// escapes here too (`\N` is the node's name, `\l` ends a line), so they are undone: the shown text must be
/// the given one.
pub(super) fn escape_html(text: &str) -> String {
    escape_signs(text, r"\\")
}

/// Escapes text for a quoted tooltip of DOT; the caller adds the quotes. Graphviz reads the escapes of a
/// tooltip twice: first those that name the node or the graph, then those that end a line. Each reading
/// halves the backslashes.
pub(super) fn escape_tooltip(text: &str) -> String {
    escape_signs(text, r"\\\\")
}

/// Escapes text for HTML, and writes a backslash as the given text.
fn escape_signs(text: &str, backslash: &str) -> String {
    let text = visible(text);
    let mut escaped = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '\\' => escaped.push_str(backslash),
            '\n' | '\t' | '\r' => escaped.push(' '),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(sign),
        }
    }
    escaped
}

/// Escapes text for a quoted identifier of DOT; the caller adds the quotes.
pub(super) fn escape_quoted(text: &str) -> String {
    visible(text).replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r', '\t'], " ")
}
