//! Sequences that identify a state.
//!
//! - A *characterising set* W: for any two states one of its words tells them apart (Gill 1962, Chow 1978).
//! - *State identifiers* W_s: for each state, words of W that tell it from all others (Fujiwara et al. 1991).
//! - *Harmonised identifiers* H_s: any two states have a word in common that tells them apart (Petrenko et
//!   al. 1993; Sabnani and Dahbura 1985).
//! - An adaptive *distinguishing sequence*: each input depends on the answers before it (Gill 1962, Lee and
//!   Yannakakis 1994). It is a harmonised identifier of one word for each state.
//! - A *unique input/output sequence*: a word that tells a state from all others at once. Other states may
//!   answer it alike among each other (Sabnani and Dahbura 1988).
//!
//! In a partial machine a word is applied to a state as far as the state takes it ([`Mealy::taken_prefix`]).
//! If some word tells two states apart, so does a prefix that both take. If no word tells two states apart,
//! W, W_s and H_s say nothing of them. Sequences of the last two kinds need not exist.
//!
//! The sets are not the **smallest**: words are chosen one after the other, the pairs with the longest words
//! first, and a pair adds a word only if no chosen word tells it apart.
//!
//! **Ends**: searches for the last two kinds are exponential in the worst case. They end at [`MOST_SETS`].

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, VecDeque};

use coreach_model::budget;

use super::mealy::{Mealy, Separation, Word};

/// The most sets of states that the search for a distinguishing or a unique sequence visits.
pub const MOST_SETS: usize = 1 << 14;

/// Lists the pairs of states that a word tells apart, each with a shortest such word, the longest words
/// first.
fn separable_pairs(machine: &Mealy, separation: &Separation) -> Vec<(Word, usize, usize)> {
    let pairs = (0..machine.next.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let mut separable: Vec<_> =
        pairs.filter_map(|(a, b)| Some((separation.word(machine, a, b)?, a, b))).collect();
    separable.sort_by_key(|(word, a, b)| (Reverse(word.len()), *a, *b));
    separable
}

/// Finds a characterising set. No word of it is a prefix of another.
pub fn find_characterising(machine: &Mealy, separation: &Separation) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for (word, a, b) in separable_pairs(machine, separation) {
        if !words.iter().any(|known| machine.difference(a, b, known).is_some()) {
            words.push(word);
        }
    }
    words
}

/// Chooses for each state words of the characterising set that tell it from all others.
pub fn choose_state_identifiers(machine: &Mealy, characterising: &[Word]) -> Vec<Vec<Word>> {
    let choose_words = |state: usize| {
        let tells = |word: &Word, other: usize| machine.difference(state, other, word).is_some();
        // The other states that no chosen word tells apart yet.
        let mut others: Vec<usize> = (0..machine.next.len()).filter(|other| *other != state).collect();
        let mut chosen = Vec::new();
        while !others.is_empty() {
            let count_told = |word: &&Word| others.iter().filter(|other| tells(word, **other)).count();
            // The first one of equally good words. (`max_by_key` returns the last.)
            let Some(best) = characterising.iter().rev().max_by_key(count_told) else { break };
            // In a partial machine, no word may tell the last ones apart.
            if count_told(&best) == 0 {
                break;
            }
            others.retain(|other| !tells(best, *other));
            chosen.push(best.clone());
        }
        chosen
    };
    (0..machine.next.len()).map(choose_words).collect()
}

/// Finds harmonised identifiers of each state: for two states, some word is a prefix of identifiers of both
/// and tells them apart.
pub fn find_harmonised(machine: &Mealy, separation: &Separation) -> Vec<Vec<Word>> {
    let mut identifiers: Vec<Vec<Word>> = vec![Vec::new(); machine.next.len()];
    let has_prefix = |words: &[Word], prefix: &[usize]| words.iter().any(|known| known.starts_with(prefix));
    for (word, a, b) in separable_pairs(machine, separation) {
        let is_in_both = |known: &Word| {
            machine.difference(a, b, known).is_some_and(|prefix| has_prefix(&identifiers[b], prefix))
        };
        if identifiers[a].iter().any(is_in_both) {
            continue;
        }
        for state in [a, b] {
            if !has_prefix(&identifiers[state], &word) {
                identifiers[state].push(word.clone());
            }
        }
    }
    identifiers
}

/// The states in which a machine may be.
type States = BTreeSet<usize>;

/// Returns the states after an input, by its outputs. `None`: the input is not *usable*, since a state does
/// not take it, or two states answer alike and go to one state.
fn split_by_output(machine: &Mealy, states: &States, input: usize) -> Option<Vec<(usize, States)>> {
    let mut parts: Vec<(usize, States)> = Vec::new();
    for state in states {
        let (output, target) = machine.next[*state][input]?;
        match parts.iter_mut().find(|(known, _)| *known == output) {
            Some((_, part)) => part.insert(target).then_some(())?,
            None => parts.push((output, States::from([target]))),
        }
    }
    Some(parts)
}

/// Finds an adaptive distinguishing sequence: for each state the word that is applied if the machine began in
/// it. `None`: there is no such sequence, or none was found within the limit. First the sets are collected to
/// which usable inputs lead from the set of all states. Then, in rounds, a set becomes done if it has one
/// state, or an input after which all sets are done. So the sequence that is found has the least height.
pub fn find_distinguishing(machine: &Mealy) -> Option<Vec<Word>> {
    let all_states: States = (0..machine.next.len()).collect();
    let mut sets: Vec<States> = vec![all_states.clone()];
    let mut seen: BTreeSet<States> = BTreeSet::from([all_states.clone()]);
    let mut position = 0;
    while position < sets.len() {
        budget::ask();
        for input in 0..machine.inputs {
            for (_, part) in split_by_output(machine, &sets[position], input).into_iter().flatten() {
                if part.len() > 1 && seen.insert(part.clone()) {
                    sets.push(part);
                }
            }
        }
        if sets.len() > MOST_SETS {
            return None;
        }
        position += 1;
    }
    // For each set that is done: the input after which all sets are done.
    let mut done: HashMap<States, usize> = HashMap::new();
    while !done.contains_key(&all_states) && machine.next.len() > 1 {
        let mut new = Vec::new();
        for set in sets.iter().filter(|set| !done.contains_key(*set)) {
            let is_done = |part: &States| part.len() == 1 || done.contains_key(part);
            let input = (0..machine.inputs).find(|input| {
                let parts = split_by_output(machine, set, *input);
                parts.is_some_and(|parts| parts.iter().all(|(_, part)| is_done(part)))
            });
            new.extend(input.map(|input| (set.clone(), input)));
        }
        if new.is_empty() {
            return None;
        }
        done.extend(new);
    }
    let word_of = |begin: usize| {
        let (mut set, mut state, mut word) = (all_states.clone(), begin, Word::new());
        while let Some(&input) = done.get(&set) {
            word.push(input);
            let (output, target) = machine.next[state][input]?;
            let parts = split_by_output(machine, &set, input)?;
            set = parts.into_iter().find(|(known, _)| *known == output)?.1;
            state = target;
        }
        Some(word)
    };
    (0..machine.next.len()).map(word_of).collect()
}

/// Finds a shortest unique input/output sequence of a state. `None`: there is none, or none was found within
/// the limit.
pub fn find_unique(machine: &Mealy, state: usize) -> Option<Word> {
    let others: BTreeSet<usize> = (0..machine.next.len()).filter(|other| *other != state).collect();
    let mut seen = BTreeSet::from([(state, others.clone())]);
    let mut open = VecDeque::from([(state, others, Word::new())]);
    while let Some((reached, others, word)) = open.pop_front() {
        if others.is_empty() {
            return Some(word);
        }
        budget::ask();
        for (input, output, target) in machine.leaving(reached) {
            let answers: Option<Vec<(usize, usize)>> =
                others.iter().map(|other| machine.next[*other][input]).collect();
            // If another state does not take the input, it must not be applied.
            let Some(answers) = answers else { continue };
            // The states that the other ones may have reached with the same outputs.
            let alike: BTreeSet<usize> =
                answers.into_iter().filter(|(answer, _)| *answer == output).map(|(_, next)| next).collect();
            // A state that has reached `target` too will never answer differently from here on.
            if alike.contains(&target) || !seen.insert((target, alike.clone())) {
                continue;
            }
            if seen.len() > MOST_SETS {
                return None;
            }
            open.push_back((target, alike, [word.as_slice(), &[input]].concat()));
        }
    }
    None
}
