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

pub fn find_common_line(one: &Regex, other: &Regex) -> Option<String> {
    search(one, other, Second::Fits).ok()?
}

/// Does the other pattern fit each line that the first one fits, for certain? Often a plain line decides.
pub fn is_within(one: &Regex, other: &Regex) -> bool {
    let plain: String = written(one).chars().filter(|sign| !"^$\\".contains(*sign)).collect();
    let differs = one.is_match(&plain) && !other.is_match(&plain);
    !differs && search(one, other, Second::DoesNotFit) == Ok(None)
}

/// Must the second pattern fit the line?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Second {
    Fits,
    DoesNotFit,
}

/// Searches a shortest line that the first pattern fits, and the second one fits or not.
fn search(one: &Regex, other: &Regex, second: Second) -> Result<Option<String>, TooMany> {
    let both = second == Second::Fits;
    let (one, other) = (build_automaton(one).ok_or(TooMany)?, build_automaton(other).ok_or(TooMany)?);
    let begin =
        |dfa: &dense::DFA<Vec<u32>>| dfa.start_state_forward(&Input::new("").anchored(Anchored::Yes)).ok();
    let is_end = |dfa: &dense::DFA<Vec<u32>>, state| dfa.is_match_state(dfa.next_eoi_state(state));
    // Each visited pair, with the place of the pair before it and the byte from there. Letters come first.
    let start = (begin(&one).ok_or(TooMany)?, begin(&other).ok_or(TooMany)?);
    let mut reached: Vec<((StateID, StateID), usize, u8)> = vec![(start, 0, 0)];
    let mut known = HashSet::from([reached[0].0]);
    let bytes: Vec<u8> =
        (b' '..=b'~').chain(0..b' ').chain(0x7f..=0xff).filter(|byte| *byte != b'\n').collect();
    let mut at = 0;
    while let Some(((first, second), ..)) = reached.get(at).copied() {
        if is_end(&one, first) && is_end(&other, second) == both {
            let mut line = Vec::new();
            while at > 0 {
                line.push(reached[at].2);
                at = reached[at].1;
            }
            line.reverse();
            return String::from_utf8(line).map(Some).map_err(|_| TooMany);
        }
        for byte in &bytes {
            let next = (one.next_state(first, *byte), other.next_state(second, *byte));
            let is_dead = one.is_dead_state(next.0) || both && other.is_dead_state(next.1);
            if !is_dead && known.insert(next) {
                if reached.len() == MOST {
                    return Err(TooMany);
                }
                reached.push((next, at, *byte));
            }
        }
        at += 1;
    }
    Ok(None)
}

/// There are too many states to decide.
#[derive(PartialEq, Eq)]
struct TooMany;

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
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

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
