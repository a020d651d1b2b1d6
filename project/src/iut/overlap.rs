//! Is there a line that two patterns fit, or one of them alone?
//!
//! Both are made deterministic automata of bytes, and their product is searched breadth first from the pair
//! of their starts: so the line that is found is a shortest one, and where all pairs have been seen there is
//! none. It ends, since the pairs are finite; at most [`MOST`] are looked at, each with every byte. What
//! needs more, or is no such automaton (a boundary of words), is not known to have a line in common.

use std::collections::HashSet;

use coreach_adapters::lines::{Regex, written};
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, MatchKind};

/// The most pairs of states.
const MOST: usize = 10_000;

/// The most bytes of an automaton, and of making it.
const LARGEST: usize = 4 << 20;

/// A shortest line that both fit, where one was found.
pub fn common(one: &Regex, other: &Regex) -> Option<String> {
    search(one, other, true).ok()?
}

/// Does the other one fit each line that the first fits, for certain? A plain line tells most that do not.
pub fn is_within(one: &Regex, other: &Regex) -> bool {
    let plain: String = written(one).chars().filter(|sign| !"^$\\".contains(*sign)).collect();
    let differs = one.is_match(&plain) && !other.is_match(&plain);
    !differs && search(one, other, false) == Ok(None)
}

/// A shortest line that the first fits, and the other one too or not. [`TooMany`] where that is not known.
fn search(one: &Regex, other: &Regex, both: bool) -> Result<Option<String>, TooMany> {
    let (one, other) = (automaton(one).ok_or(TooMany)?, automaton(other).ok_or(TooMany)?);
    let begin =
        |dfa: &dense::DFA<Vec<u32>>| dfa.start_state_forward(&Input::new("").anchored(Anchored::Yes)).ok();
    let is_end = |dfa: &dense::DFA<Vec<u32>>, state| dfa.is_match_state(dfa.next_eoi_state(state));
    // Of each pair that was reached: from which, and by which byte. Letters are tried first.
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

/// There are more states than are looked at.
#[derive(PartialEq, Eq)]
struct TooMany;

fn automaton(pattern: &Regex) -> Option<dense::DFA<Vec<u32>>> {
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

    /// Precision: a line in common is found and is the shortest; where there is none, none is said.
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
            let found = common(&pattern(one), &pattern(other));
            assert_eq!(found.as_deref(), line, "{one} {other}");
        }
    }

    /// Soundness: one is said to be within another one only where it is.
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
