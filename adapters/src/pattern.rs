//! Patterns that fit a whole text: a line, a header, the body of an answer.

use std::cell::RefCell;
use std::collections::HashMap;

pub use regex::Regex;
use regex_automata::hybrid::dfa::DFA;
use regex_automata::{Anchored, Input};

/// Makes a pattern that must fit a whole line.
pub fn pattern(text: &str) -> Result<Regex, regex::Error> {
    // The text alone comes first, so that an error is about what the user wrote.
    Regex::new(text)?;
    Regex::new(&format!("\\A(?:{text})\\z"))
}

/// Returns the pattern as the user wrote it.
pub fn written(pattern: &Regex) -> &str {
    let whole = pattern.as_str();
    whole.strip_prefix("\\A(?:").and_then(|own| own.strip_suffix(")\\z")).unwrap_or(whole)
}

/// Proposes the pattern with what may stand around it, for a text that has a part which fits.
pub fn widen(narrow: &Regex, text: &str) -> Option<String> {
    let own = written(narrow);
    let found = Regex::new(own).ok()?.find(text)?;
    let before = if found.start() > 0 { ".*?" } else { "" };
    let after = if found.end() < text.len() { ".*" } else { "" };
    let middle = if own.contains('|') { format!("(?:{own})") } else { own.to_owned() };
    let wide = format!("{before}{middle}{after}");
    pattern(&wide).is_ok_and(|wide| wide.is_match(text)).then_some(wide)
}

/// Returns how many bytes of the text can begin a text that fits the expression, and whether all of it fits.
///
/// The automaton is dead if no text can go on. It is made once a thread, since a file has few patterns.
pub fn matching_prefix(expression: &str, text: &str) -> (usize, bool) {
    thread_local!(static MADE: RefCell<HashMap<String, Option<DFA>>> = RefCell::default());
    let walk = |dfa: &DFA| {
        let mut cache = dfa.create_cache();
        let mut state =
            dfa.start_state_forward(&mut cache, &Input::new(text).anchored(Anchored::Yes)).ok()?;
        for (at, byte) in text.bytes().enumerate() {
            state = dfa.next_state(&mut cache, state, byte).ok()?;
            if state.is_dead() || state.is_quit() {
                return Some((text.floor_char_boundary(at), false));
            }
        }
        Some((text.len(), dfa.next_eoi_state(&mut cache, state).ok()?.is_match()))
    };
    MADE.with_borrow_mut(|made| {
        let dfa = made.entry(expression.to_owned()).or_insert_with(|| DFA::new(expression).ok());
        dfa.as_ref().and_then(walk).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_followed_as_far_as_a_pattern_can_go_on() {
        for (of, text, expected) in [
            ("^(?P<n>\\d+) (?P<d>\\w+)$", "12 te a", (5, false)),
            ("^(?P<n>\\d+) (?P<d>\\w+)$", "12", (2, false)),
            ("^(?P<n>\\d+) (?P<d>\\w+)$", "12 a", (4, true)),
            ("^OK$", "ok", (0, false)),
            ("^\u{e9}x$", "\u{e9}y", (2, false)),
            ("^\u{e9}$", "\u{e8}", (0, false)),
        ] {
            assert_eq!(matching_prefix(pattern(of).unwrap().as_str(), text), expected, "{of} {text}");
        }
    }
}
