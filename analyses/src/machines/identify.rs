//! By which sequences a state is known.
//!
//! - A *characterising set* W: for any two states one of its words tells them apart (Gill 1962, Chow 1978).
//! - *State identifiers* W_s: for each state words of W that tell it from all others (Fujiwara et al. 1991).
//! - *Harmonised identifiers* H_s: any two states have a word in common that tells them apart (Petrenko et
//!   al. 1993; Sabnani and Dahbura 1985).
//! - A *distinguishing sequence*, adaptive: what is applied depends on what was answered (Gill 1962, Lee and
//!   Yannakakis 1994). It is a harmonised identifier of one word for each state.
//! - A *unique input/output sequence*: a word that tells a state from all others at once; to it, another
//!   state may answer as it likes (Sabnani and Dahbura 1988).
//!
//! In a partial machine a word is of use in a state as far as the state takes it ([`Mealy::taken`]). Any two
//! states that some word tells apart still have a prefix in common that does, since that is one that both
//! take. Of two that none tells apart, W, W_s and H_s say nothing; the last two need not exist anyway.
//!
//! **Smallest** sets are not looked for: words are chosen one after the other, each pair taking what is there
//! if that will do, the pairs with the longest words first.
//!
//! **Ends**: searches for the last two are exponential in the worst case and end at [`MOST_LOOKED`] sets.

use std::collections::{BTreeSet, HashMap, VecDeque};

use coreach_model::budget;

use super::mealy::{Mealy, Separation, Word};

/// So many sets of states are looked at for a distinguishing or a unique sequence.
pub const MOST_LOOKED: usize = 1 << 14;

/// Any two states that a word tells apart, with that word, the longest first.
fn pairs(machine: &Mealy, separation: &Separation) -> Vec<(Word, usize, usize)> {
    let all = (0..machine.next.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let mut pairs: Vec<_> = all.filter_map(|(a, b)| Some((separation.word(machine, a, b)?, a, b))).collect();
    pairs.sort_by_key(|(word, a, b)| (usize::MAX - word.len(), *a, *b));
    pairs
}

/// A characterising set: no word is a prefix of another.
pub fn characterising(machine: &Mealy, separation: &Separation) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    for (word, a, b) in pairs(machine, separation) {
        if !found.iter().any(|known| machine.difference(a, b, known).is_some()) {
            found.push(word);
        }
    }
    found
}

/// For each state words of the characterising set that tell it from all others.
pub fn state_identifiers(machine: &Mealy, characterising: &[Word]) -> Vec<Vec<Word>> {
    let of = |state: usize| {
        let mut left: Vec<usize> = (0..machine.next.len()).filter(|other| *other != state).collect();
        let mut chosen = Vec::new();
        while !left.is_empty() {
            let tells =
                |word: &&Word| left.iter().filter(|t| machine.difference(state, **t, word).is_some()).count();
            // Of equals the first.
            let Some(best) = characterising.iter().rev().max_by_key(tells) else { break };
            let before = left.len();
            left.retain(|other| machine.difference(state, *other, best).is_none());
            if left.len() == before {
                break;
            }
            chosen.push(best.clone());
        }
        chosen
    };
    (0..machine.next.len()).map(of).collect()
}

pub fn harmonised(machine: &Mealy, separation: &Separation) -> Vec<Vec<Word>> {
    let mut found: Vec<Vec<Word>> = vec![Vec::new(); machine.next.len()];
    let has = |words: &[Word], prefix: &[usize]| words.iter().any(|known| known.starts_with(prefix));
    for (word, a, b) in pairs(machine, separation) {
        let both =
            |known: &Word| machine.difference(a, b, known).is_some_and(|prefix| has(&found[b], prefix));
        if found[a].iter().any(both) {
            continue;
        }
        for state in [a, b] {
            if !has(&found[state], &word) {
                found[state].push(word.clone());
            }
        }
    }
    found
}

/// For each state what an adaptive distinguishing sequence applies where the machine was in that state; none
/// where there is no such sequence, or none was found within the limit.
///
/// A set of states is what the machine may be in. An input is of use if each of them takes it, and no two
/// answer alike and go to one state. The sets that such inputs lead to from the set of all states are
/// gathered; then, in rounds, a set is done when it has one state, or an input behind which all sets are
/// done. So what is found is lowest.
pub fn distinguishing(machine: &Mealy) -> Option<Vec<Word>> {
    type States = BTreeSet<usize>;
    let split = |states: &States, input: usize| -> Option<Vec<(usize, States)>> {
        let mut parts: Vec<(usize, States)> = Vec::new();
        for state in states {
            let (output, target) = machine.next[*state][input]?;
            match parts.iter_mut().find(|(known, _)| *known == output) {
                Some((_, part)) => {
                    if !part.insert(target) {
                        return None;
                    }
                }
                None => parts.push((output, States::from([target]))),
            }
        }
        Some(parts)
    };
    let all: States = (0..machine.next.len()).collect();
    let mut sets: Vec<States> = vec![all.clone()];
    let mut seen: BTreeSet<States> = BTreeSet::from([all.clone()]);
    let mut at = 0;
    while at < sets.len() {
        budget::ask();
        for input in 0..machine.inputs {
            for (_, part) in split(&sets[at], input).into_iter().flatten() {
                if part.len() > 1 && seen.insert(part.clone()) {
                    sets.push(part);
                }
            }
        }
        if sets.len() > MOST_LOOKED {
            return None;
        }
        at += 1;
    }
    let mut done: HashMap<States, usize> = HashMap::new();
    while !done.contains_key(&all) && machine.next.len() > 1 {
        let mut new = Vec::new();
        for set in sets.iter().filter(|set| !done.contains_key(*set)) {
            let is_done = |part: &States| part.len() == 1 || done.contains_key(part);
            let input = (0..machine.inputs).find(|input| {
                split(set, *input).is_some_and(|parts| parts.iter().all(|(_, part)| is_done(part)))
            });
            new.extend(input.map(|input| (set.clone(), input)));
        }
        if new.is_empty() {
            return None;
        }
        done.extend(new);
    }
    let of = |begin: usize| {
        let (mut set, mut state, mut word) = (all.clone(), begin, Word::new());
        while let Some(&input) = done.get(&set) {
            word.push(input);
            let (output, target) = machine.next[state][input]?;
            let parts = split(&set, input)?;
            set = parts.into_iter().find(|(known, _)| *known == output)?.1;
            state = target;
        }
        Some(word)
    };
    (0..machine.next.len()).map(of).collect()
}

/// A shortest unique input/output sequence of a state; none where there is none, or none was found within the
/// limit.
pub fn unique(machine: &Mealy, state: usize) -> Option<Word> {
    let others: BTreeSet<usize> = (0..machine.next.len()).filter(|other| *other != state).collect();
    let mut seen = BTreeSet::from([(state, others.clone())]);
    let mut open = VecDeque::from([(state, others, Word::new())]);
    while let Some((at, others, word)) = open.pop_front() {
        if others.is_empty() {
            return Some(word);
        }
        budget::ask();
        for (input, output, target) in machine.leaving(at) {
            let answers: Option<Vec<(usize, usize)>> =
                others.iter().map(|other| machine.next[*other][input]).collect();
            // Where another one does not take it, nothing may be asked of it.
            let Some(answers) = answers else { continue };
            let left: BTreeSet<usize> =
                answers.into_iter().filter(|(other, _)| *other == output).map(|(_, to)| to).collect();
            // One that has come to the same state will never differ.
            if left.contains(&target) || !seen.insert((target, left.clone())) {
                continue;
            }
            if seen.len() > MOST_LOOKED {
                return None;
            }
            open.push_back((target, left, [word.as_slice(), &[input]].concat()));
        }
    }
    None
}
