//! Finds a line that two patterns fit, or that only one of them fits.
//!
//! Both become deterministic automata of bytes. Their product is searched breadth first from the pair of
//! their starts. So the first line that is found is a shortest one, and if all pairs were visited there is
//! none. At most [`MOST`] pairs are visited, each with every byte. For patterns that need more, or that are
//! no such automata (a boundary of words), the answer is "not known".

use std::collections::HashSet;

use coreach_adapters::lines::{Regex, written};
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, MatchKind};

/// The most pairs of states.
const MOST: usize = 10_000;

/// The most bytes of an automaton, and of making it.
const LARGEST: usize = 4 << 20;

/// Finds a shortest line that both patterns fit. `None` if there is none, or if that is not known.
pub fn find_common_line(first: &Regex, second: &Regex) -> Option<String> {
    search(first, second, Second::Fits).ok()?
}

/// Does the other pattern fit each line that the first one fits, for certain? Often a plain line decides.
pub fn is_within(inner: &Regex, outer: &Regex) -> bool {
    let plain_line: String = written(inner).chars().filter(|sign| !"^$\\".contains(*sign)).collect();
    let differs = inner.is_match(&plain_line) && !outer.is_match(&plain_line);
    !differs && search(inner, outer, Second::DoesNotFit) == Ok(None)
}

/// Must the second pattern fit the line?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Second {
    Fits,
    DoesNotFit,
}

/// Searches a shortest line, if there is one, that the first pattern fits, and the second one fits or not.
fn search(first: &Regex, second: &Regex, wanted: Second) -> Result<Option<String>, TooMany> {
    let both_fit = wanted == Second::Fits;
    let (first, second) = (build_automaton(first).ok_or(TooMany)?, build_automaton(second).ok_or(TooMany)?);
    let begin =
        |dfa: &dense::DFA<Vec<u32>>| dfa.start_state_forward(&Input::new("").anchored(Anchored::Yes)).ok();
    let is_end = |dfa: &dense::DFA<Vec<u32>>, state| dfa.is_match_state(dfa.next_eoi_state(state));
    // Each visited pair, with the index of the pair before it and the byte from there.
    let start = (begin(&first).ok_or(TooMany)?, begin(&second).ok_or(TooMany)?);
    let mut reached: Vec<((StateID, StateID), usize, u8)> = vec![(start, 0, 0)];
    let mut known = HashSet::from([start]);
    // Printable signs come first, so that a person can read the line.
    let bytes: Vec<u8> =
        (b' '..=b'~').chain(0..b' ').chain(0x7f..=0xff).filter(|byte| *byte != b'\n').collect();
    let mut index = 0;
    while let Some(((state, second_state), ..)) = reached.get(index).copied() {
        if is_end(&first, state) && is_end(&second, second_state) == both_fit {
            // The line is read backwards, from this pair to the start.
            let mut line = Vec::new();
            while index > 0 {
                let (_, previous, byte) = reached[index];
                line.push(byte);
                index = previous;
            }
            line.reverse();
            return String::from_utf8(line).map(Some).map_err(|_| TooMany);
        }
        for byte in &bytes {
            let (next, second_next) =
                (first.next_state(state, *byte), second.next_state(second_state, *byte));
            let is_dead = first.is_dead_state(next) || (both_fit && second.is_dead_state(second_next));
            if !is_dead && known.insert((next, second_next)) {
                if reached.len() == MOST {
                    return Err(TooMany);
                }
                reached.push(((next, second_next), index, *byte));
            }
        }
        index += 1;
    }
    Ok(None)
}

/// There are too many states to decide.
#[derive(PartialEq, Eq)]
struct TooMany;

/// Builds the automaton of a pattern. `None` if it is too large.
fn build_automaton(pattern: &Regex) -> Option<dense::DFA<Vec<u32>>> {
    let config = dense::Config::new()
        .start_kind(StartKind::Anchored)
        .match_kind(MatchKind::All)
        .dfa_size_limit(Some(LARGEST))
        .determinize_size_limit(Some(LARGEST));
    dense::Builder::new().configure(config).build(pattern.as_str()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Precision: a common line is found, and it is the shortest. If there is none, none is found.
    #[test]
    fn two_patterns_have_a_shortest_line_in_common_or_none() {
        for (one, other, line) in [
            ("PING .*", "PING (\\d+) ?x*", Some("PING 0")),
            ("PING .*", "PONG .*", None),
            ("a*", "(aa)*b?", Some("")),
            ("(a|b)*abb", "(ab|ba|bb)+", Some("babb")),
            (".*\u{e9}.*", "\\w{3}", Some("00\u{e9}")),
            ("", "x?", Some("")),
            ("[^x]*", "x+", None),
            ("\\bx\\b", "x", None),
        ] {
            let pattern = |text: &str| coreach_adapters::lines::pattern(text).unwrap();
            let found = find_common_line(&pattern(one), &pattern(other));
            assert_eq!(found.as_deref(), line, "{one} {other}");
        }
    }

    /// Soundness: a pattern counts as within another one only if it is.
    #[test]
    fn a_pattern_is_within_another_one_or_not() {
        for (one, other, is_it) in [
            ("answer (\\d+)", ".*", true),
            ("answer (\\d+)", "(?P<x>.+)", true),
            ("answer", "^answer$", true),
            ("answer 1|answer 2", "answer \\d", true),
            ("answer (\\d+)", "answer (\\d)", false),
            ("OK.*", "OK", false),
            ("OK", "ok", false),
            (".*", ".+", false),
        ] {
            let pattern = |text: &str| coreach_adapters::lines::pattern(text).unwrap();
            assert_eq!(is_within(&pattern(one), &pattern(other)), is_it, "{one} {other}");
        }
    }
}
