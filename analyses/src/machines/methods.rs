//! Suites of input sequences that show every fault up to a number of states.
//!
//! **Problem.** An implementation is a machine that nobody sees. Find sequences, each applied after a reset,
//! such that a machine of at most m states answers all of them as specified only if it conforms. **Method.**
//! A *state cover* V leads to each state. *Traversals* continue the sequences of V: they take each
//! transition, and are longer if the implementation may have more states than the specification. After them
//! come sequences that identify the reached state ([`super::identify`]).
//!
//! - `w`: a characterising set after V and all traversals (Vasilevskii 1973, Chow 1978).
//! - `wp`: like `w`, but complete traversals are followed only by the identifiers of the reached state
//!   (Fujiwara et al. 1991).
//! - `hsi`: the harmonised identifiers of the reached state, after V and all traversals (Petrenko et al.
//!   1993, Luo et al. 1994).
//! - `ds`: like `hsi`, with a distinguishing sequence (Gonenc 1970).
//! - `h`: for certain pairs of sequences that lead to two states, a word that tells these apart after both.
//!   The suite has this word already, or it is the cheapest one (Dorofeeva et al. 2005). The pairs are: two
//!   of V, one of V and a traversal, and two traversals of which one continues the other.
//! - `uio`: each transition, followed by a unique sequence of the reached state (Sabnani and Dahbura 1988).
//! - `tour`: each transition once, in one sequence (Naito and Tsunoyama 1981).
//!
//! **The length of a traversal** is found by counting states (Petrenko and Yevtushenko, *Testing from partial
//! deterministic FSM specifications*, 2005). Take a set of r states such that a word tells any two of them
//! apart. V leads to r states of the implementation. A traversal that meets states of the set for the
//! (m-r+1)-th time has met more states than an implementation of m states has. So two of them are the same in
//! the implementation. If they differ in the specification, the words after them show this. If not, a shorter
//! traversal shows the same. So the traversal ends there. If any two states are distinguished, r is the
//! number n of all states, and traversals have m - n + 1 inputs. Any choice of sets is right. Here there is
//! one set for each state, which takes as many other states as it can.
//!
//! **Guarantee** of the first five: if an implementation of at most m states answers all sequences as
//! specified, it conforms. Both machines must be deterministic, and the implementation must begin anew after
//! each reset. Conformance is about the sequences that a partial specification takes. `uio` has no guarantee,
//! because a wrong state may answer alike (Vuong et al. 1989). `tour` has none either.
//!
//! **Ends** at [`MOST_TESTS`] sequences. **Cost**: if any two states are distinguished, at most n times
//! (inputs to the power m - n + 1) traversals. For each traversal, `h` asks as many questions as there are
//! states, and each question walks through the common part of two branches of the suite.

use std::collections::BTreeSet;
use std::fmt;

use coreach_model::budget;

use super::identify::{
    choose_state_identifiers, find_characterising, find_distinguishing, find_harmonised, find_unique,
};
use super::mealy::{Mealy, Separation, Word};
use super::tour::find_tour;

/// The most sequences of a suite, before prefixes of others are left out.
pub const MOST_TESTS: usize = 20_000;

coreach_model::words! {
    pub enum Method {
        /// A characterising set after all sequences.
        W = "w",
        /// A characterising set after the states, and identifiers after the transitions.
        Wp = "wp",
        /// Harmonised identifiers.
        Hsi = "hsi",
        /// Words that tell two states apart, for each pair of sequences.
        H = "h",
        /// A distinguishing sequence.
        Ds = "ds",
        /// Unique input/output sequences.
        Uio = "uio",
        Tour = "tour",
    }
}

impl Method {
    /// Does its suite show every fault up to a number of states?
    pub fn is_complete(self) -> bool {
        !matches!(self, Method::Uio | Method::Tour)
    }
}

/// Why there is no suite. States are numbers of the given machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoSuite {
    /// There is no distinguishing sequence, or none was found within the limit.
    NoDistinguishing,
    /// This state has no unique input/output sequence, or none was found within the limit.
    NoUnique(usize),
    /// Some state cannot come back to the first one.
    NoTour,
    /// The suite has more sequences than [`MOST_TESTS`].
    TooMany,
}

impl fmt::Display for NoSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoSuite::NoDistinguishing => f.write_str("no distinguishing sequence was found"),
            NoSuite::NoUnique(_) => f.write_str("a state has no unique input/output sequence"),
            NoSuite::NoTour => f.write_str("a state cannot return to the first one without a reset"),
            NoSuite::TooMany => write!(f, "more than {MOST_TESTS} sequences"),
        }
    }
}

/// Computes the suite of a [`Mealy::minimal`] machine. The implementation may have `extra` more states. No
/// sequence is a prefix of another.
pub fn suite(machine: &Mealy, method: Method, extra: usize) -> Result<Vec<Word>, NoSuite> {
    budget::doing("computing a suite for a finite machine");
    if method == Method::Tour {
        return find_tour(machine).map(|word| vec![word]).ok_or(NoSuite::NoTour);
    }
    let separation = machine.separation();
    let states = 0..machine.next.len();
    let most_states = machine.next.len() + extra;
    // The identifiers of each state, after a traversal and (for `wp`) after a complete one.
    let (identifiers, last_identifiers): (Vec<Vec<Word>>, Option<Vec<Vec<Word>>>) = match method {
        Method::W | Method::Wp => {
            let characterising = find_characterising(machine, &separation);
            let own = (method == Method::Wp).then(|| choose_state_identifiers(machine, &characterising));
            (vec![characterising; machine.next.len()], own)
        }
        Method::Hsi => (find_harmonised(machine, &separation), None),
        Method::Ds => {
            let words = find_distinguishing(machine).ok_or(NoSuite::NoDistinguishing)?;
            (words.into_iter().map(|word| vec![word]).collect(), None)
        }
        Method::Uio => {
            let words = states.map(|state| find_unique(machine, state).ok_or(NoSuite::NoUnique(state)));
            (words.map(|word| Ok(vec![word?])).collect::<Result<_, _>>()?, None)
        }
        Method::H => {
            let covering = cover_transitions(machine, &separation, most_states)?;
            return append_cheapest(machine, &separation, covering);
        }
        Method::Tour => unreachable!("a tour was returned above"),
    };
    // `uio` has no guarantee, so its traversals take one transition only.
    let most_states = if method == Method::Uio { 0 } else { most_states };
    let covering = cover_transitions(machine, &separation, most_states)?;
    append_identifiers(machine, covering, |state, is_at_end| match &last_identifiers {
        Some(last) if is_at_end => &last[state],
        _ => &identifiers[state],
    })
}

/// A sequence of V, perhaps continued by a traversal.
struct Covering {
    /// If it is continued by a traversal: the sequence without the last input.
    prefix: Option<usize>,
    word: Word,
    state: usize,
    /// For each set of states that are told apart, how often the traversal has met one of them.
    met: Vec<usize>,
    is_at_end: bool,
}

/// Collects sets of states such that a word tells any two of them apart. Each state is in one.
fn separable_sets(machine: &Mealy, separation: &Separation) -> Vec<BTreeSet<usize>> {
    let states = 0..machine.next.len();
    let grow_set = |first: usize| {
        let mut set = BTreeSet::from([first]);
        for state in states.clone() {
            if set.iter().all(|member| separation.tells(*member, state)) {
                set.insert(state);
            }
        }
        set
    };
    let sets: BTreeSet<BTreeSet<usize>> = states.clone().map(grow_set).collect();
    sets.into_iter().collect()
}

/// Lists V, and its continuations by all traversals for implementations of at most `most` states. For 0 a
/// traversal has one input.
fn cover_transitions(
    machine: &Mealy,
    separation: &Separation,
    most: usize,
) -> Result<Vec<Covering>, NoSuite> {
    let sets = separable_sets(machine, separation);
    let access = machine.access_words().into_iter().enumerate();
    let mut sequences: Vec<Covering> = access
        .filter_map(|(state, word)| {
            let met = vec![0; sets.len()];
            word.map(|word| Covering { prefix: None, word, state, met, is_at_end: false })
        })
        .collect();
    let mut position = 0;
    while position < sequences.len() {
        budget::ask();
        let Covering { word, state, met, is_at_end, .. } = &sequences[position];
        let mut longer = Vec::new();
        for (input, _, target) in machine.leaving(*state).filter(|_| !is_at_end) {
            let met: Vec<usize> =
                met.iter().zip(&sets).map(|(met, set)| met + usize::from(set.contains(&target))).collect();
            // It has met a set of r states for the (most - r + 1)-th time.
            let is_at_end = met.iter().zip(&sets).any(|(met, set)| *met > most.saturating_sub(set.len()));
            let word = [word.as_slice(), &[input]].concat();
            longer.push(Covering { prefix: Some(position), word, state: target, met, is_at_end });
        }
        sequences.extend(longer);
        if sequences.len() > MOST_TESTS {
            return Err(NoSuite::TooMany);
        }
        position += 1;
    }
    Ok(sequences)
}

/// Appends to each sequence the `identifiers` of the state that it reaches. They may depend on whether the
/// traversal is at its end.
fn append_identifiers<'a>(
    machine: &Mealy,
    covering: Vec<Covering>,
    identifiers: impl Fn(usize, bool) -> &'a [Word],
) -> Result<Vec<Word>, NoSuite> {
    let mut words = BTreeSet::new();
    for Covering { word, state, is_at_end, .. } in covering {
        for identifier in identifiers(state, is_at_end) {
            words.insert([word.as_slice(), machine.taken_prefix(state, identifier)].concat());
        }
        words.insert(word);
        if words.len() > MOST_TESTS {
            return Err(NoSuite::TooMany);
        }
    }
    Ok(without_prefixes(words))
}

/// Leaves out the words that are prefixes of others.
fn without_prefixes(words: BTreeSet<Word>) -> Vec<Word> {
    let mut kept: Vec<Word> = Vec::new();
    for word in words {
        // In this order a prefix comes right before the words that begin with it.
        if kept.last().is_some_and(|last| word.starts_with(last)) {
            kept.pop();
        }
        kept.push(word);
    }
    kept
}

/// The sequences of a suite as a tree.
struct Trie {
    nodes: Vec<TrieNode>,
}

struct TrieNode {
    state: usize,
    depth: usize,
    /// The child for each input.
    next: Vec<Option<usize>>,
}

impl Trie {
    /// Adds a word after a node, and returns its last node. An input that a state does not take is left out.
    fn add(&mut self, machine: &Mealy, from: usize, word: &[usize]) -> usize {
        word.iter().fold(from, |number, input| {
            let TrieNode { state, depth, next } = &self.nodes[number];
            if let Some(next) = next[*input] {
                return next;
            }
            let Some((_, target)) = machine.next[*state][*input] else { return number };
            let new = self.nodes.len();
            let node = TrieNode { state: target, depth: depth + 1, next: vec![None; machine.inputs] };
            self.nodes[number].next[*input] = Some(new);
            self.nodes.push(node);
            new
        })
    }

    /// The number of inputs that this word adds to the suite if it is appended at the node. A new branch is a
    /// new sequence, so its inputs from the reset on count as well.
    fn price(&self, mut node: usize, word: &[usize]) -> usize {
        for (place, input) in word.iter().enumerate() {
            let TrieNode { depth, next, .. } = &self.nodes[node];
            match next[*input] {
                Some(next) => node = next,
                // A leaf: its sequence becomes longer.
                None if next.iter().all(Option::is_none) => return word.len() - place,
                // A new branch, with the reset.
                None => return depth + 1 + word.len() - place,
            }
        }
        0
    }

    /// Finds a cheap word that tells the states of two nodes apart. It is a word that the suite has after
    /// both nodes, and then a shortest word that tells the reached states apart. Of these words it is the
    /// cheapest, and the shortest of several. But the search ends at the first word that costs nothing.
    fn find_cheapest_word(
        &self,
        machine: &Mealy,
        separation: &Separation,
        a: usize,
        b: usize,
    ) -> Option<Word> {
        let mut best: Option<(usize, Word)> = None;
        // Pairs of nodes to which a common word of the suite leads from the two nodes.
        let mut open_pairs = vec![(a, b, Word::new())];
        while let Some((a, b, prefix)) = open_pairs.pop() {
            let (first, second) = (&self.nodes[a], &self.nodes[b]);
            if first.state == second.state {
                continue;
            }
            let Some(suffix) = separation.word(machine, first.state, second.state) else { continue };
            let price = self.price(a, &suffix) + self.price(b, &suffix);
            let word = [prefix.as_slice(), &suffix].concat();
            if best.as_ref().is_none_or(|(known, shortest)| (price, word.len()) < (*known, shortest.len())) {
                best = Some((price, word));
            }
            if price == 0 {
                break;
            }
            for input in 0..machine.inputs {
                if let (Some(next_first), Some(next_second)) = (first.next[input], second.next[input]) {
                    let longer = [prefix.as_slice(), &[input]].concat();
                    // The suite has this word already after both, so it costs nothing.
                    if machine.difference(first.state, second.state, &[input]).is_some() {
                        return Some(longer);
                    }
                    open_pairs.push((next_first, next_second, longer));
                }
            }
        }
        best.map(|(_, word)| word)
    }
}

/// Computes the suite of `h`: for each pair of sequences the cheapest word that tells their states apart.
fn append_cheapest(
    machine: &Mealy,
    separation: &Separation,
    covering: Vec<Covering>,
) -> Result<Vec<Word>, NoSuite> {
    let mut trie = Trie { nodes: vec![TrieNode { state: 0, depth: 0, next: vec![None; machine.inputs] }] };
    let nodes: Vec<usize> = covering.iter().map(|sequence| trie.add(machine, 0, &sequence.word)).collect();
    // V comes first, with a sequence for each state.
    let cover_size = machine.next.len();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (number, sequence) in covering.iter().enumerate() {
        pairs.extend((0..cover_size.min(number)).map(|of_cover| (of_cover, number)));
        // The traversals that this one continues.
        let mut prefix = sequence.prefix;
        while let Some(shorter) = prefix.filter(|shorter| covering[*shorter].prefix.is_some()) {
            pairs.push((shorter, number));
            prefix = covering[shorter].prefix;
        }
    }
    for (a, b) in pairs {
        budget::ask();
        if separation.tells(covering[a].state, covering[b].state)
            && let Some(word) = trie.find_cheapest_word(machine, separation, nodes[a], nodes[b])
        {
            trie.add(machine, nodes[a], &word);
            trie.add(machine, nodes[b], &word);
        }
        if trie.nodes.len() > MOST_TESTS {
            return Err(NoSuite::TooMany);
        }
    }
    // The words that lead to leaves, in order: `pop` takes the last.
    let mut suite = Vec::new();
    let mut open_nodes = vec![(0, Word::new())];
    while let Some((node, word)) = open_nodes.pop() {
        let next = &trie.nodes[node].next;
        if next.iter().all(Option::is_none) {
            suite.push(word.clone());
        }
        for (input, next) in next.iter().enumerate().rev() {
            open_nodes.extend(next.map(|next| (next, [word.as_slice(), &[input]].concat())));
        }
    }
    Ok(suite)
}
