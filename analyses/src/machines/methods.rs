//! Suites of input sequences that show every fault up to a number of states.
//!
//! **Problem.** An implementation is a machine that nobody sees. Which sequences, each applied behind a
//! reset, are answered as specified by no machine of at most m states but those that conform?
//!
//! **Method.** A *state cover* V leads to each state. Behind it stand *traversals*, which take each
//! transition and, where an implementation may have more states than the specification, go on; behind these
//! stand sequences by which the state reached is known ([`super::identify`]).
//!
//! - `w`: a characterising set behind V and all traversals (Vasilevskii 1973, Chow 1978).
//! - `wp`: likewise, but behind traversals that are at their end the identifiers of the state reached
//!   (Fujiwara et al. 1991).
//! - `hsi`: behind all the harmonised identifiers of the state reached (Petrenko et al. 1993, Luo et al.
//!   1994).
//! - `ds`: as `hsi`, with a distinguishing sequence (Gonenc 1970).
//! - `h`: behind certain two sequences that lead to two states a word that tells these apart, one that is
//!   there already or the cheapest (Dorofeeva et al. 2005).
//! - `uio`: each transition, and behind it a unique sequence of the state reached (Sabnani and Dahbura 1988).
//! - `tour`: each transition once, in one sequence (Naito and Tsunoyama 1981).
//!
//! **How far a traversal goes** is found by counting states (Petrenko and Yevtushenko, *Testing from partial
//! deterministic FSM specifications*, 2005). Let any two of the r states of a set be told apart by a word.
//! Then V leads to r states of the implementation. A traversal that meets states of the set for the (m - r +
//! 1)-th time has met more states than an implementation of m states has: two of them are one, which the
//! words behind them show, or they stand for one state of the specification, and a shorter traversal shows
//! what this one does. So it ends there. Where any two states are told apart, r is n, the number of all, and
//! traversals have m - n + 1 inputs: what the other sources say. In partial specifications there may be
//! states that no word tells apart and that are not equal; then they are longer. Any choice of sets is
//! right; here each state begins one that takes what it can.
//!
//! **Guarantee** of the first five: an implementation of at most m states that answers all sequences as
//! specified conforms, where the specification and the implementation are deterministic and the
//! implementation begins anew behind each reset. A partial specification says nothing of inputs that a state
//! does not take, and conforming is about the sequences that it takes. `uio` has none: another state may
//! answer to the sequence of this one (Vuong et al. 1989); neither has `tour`.
//!
//! For `h` the two sequences are: two of V; one of V and a traversal; two traversals of which one goes on
//! from the other. These are the pairs that the argument above needs, so `h` counts states as the others do.
//!
//! **Ends** at [`MOST_TESTS`] sequences. **Cost**: n times (inputs to the power m - n + 1) traversals at
//! most where any two states are told apart; `h` asks as many questions for each traversal as there are
//! states, each a walk through what two branches of the suite have in common.

use std::collections::BTreeSet;
use std::fmt;

use coreach_model::budget;

use super::identify::{characterising, distinguishing, harmonised, state_identifiers, unique};
use super::mealy::{Mealy, Separation, Word};
use super::tour::tour;

/// A suite has no more sequences, before those that others begin with are left out.
pub const MOST_TESTS: usize = 20_000;

coreach_model::words! {
    pub enum Method {
        /// A characterising set behind all.
        W = "w",
        /// A characterising set behind the states, identifiers behind the transitions.
        Wp = "wp",
        /// Harmonised identifiers.
        Hsi = "hsi",
        /// What tells apart, sequence by sequence.
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

/// Why there is no suite. States are numbers of the machine that was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoSuite {
    /// There is no distinguishing sequence, or none was found within the limit.
    NoDistinguishing,
    /// This state has no unique input/output sequence, or none was found within the limit.
    NoUnique(usize),
    /// Some state cannot come back to the first one.
    NoTour,
    /// More sequences than [`MOST_TESTS`].
    TooMany,
}

impl fmt::Display for NoSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoSuite::NoDistinguishing => f.write_str("no distinguishing sequence was found"),
            NoSuite::NoUnique(_) => f.write_str("a state was found to have no unique input/output sequence"),
            NoSuite::NoTour => f.write_str("some state cannot come back to the first one without a reset"),
            NoSuite::TooMany => write!(f, "more than {MOST_TESTS} sequences"),
        }
    }
}

/// The suite of a machine that is [`Mealy::minimal`]: no sequence begins another.
pub fn suite(machine: &Mealy, method: Method, extra: usize) -> Result<Vec<Word>, NoSuite> {
    budget::doing("a suite of a finite machine");
    if method == Method::Tour {
        return tour(machine).map(|word| vec![word]).ok_or(NoSuite::NoTour);
    }
    let separation = machine.separation();
    let most = machine.next.len() + extra;
    let states = 0..machine.next.len();
    let everywhere = |words: Vec<Word>| vec![words; machine.next.len()];
    match method {
        Method::W => {
            let all = everywhere(characterising(machine, &separation));
            identified(machine, covering(machine, &separation, most)?, |state, _| &all[state])
        }
        Method::Wp => {
            let all = everywhere(characterising(machine, &separation));
            let own = state_identifiers(machine, &all[0]);
            identified(machine, covering(machine, &separation, most)?, |state, is_last| {
                if is_last { &own[state] } else { &all[state] }
            })
        }
        Method::Hsi => {
            let own = harmonised(machine, &separation);
            identified(machine, covering(machine, &separation, most)?, |state, _| &own[state])
        }
        Method::Ds => {
            let own = distinguishing(machine).ok_or(NoSuite::NoDistinguishing)?;
            let own: Vec<Vec<Word>> = own.into_iter().map(|word| vec![word]).collect();
            identified(machine, covering(machine, &separation, most)?, |state, _| &own[state])
        }
        Method::Uio => {
            let own = states.map(|state| unique(machine, state).ok_or(NoSuite::NoUnique(state)));
            let own: Vec<Vec<Word>> = own.map(|word| Ok(vec![word?])).collect::<Result<_, _>>()?;
            identified(machine, covering(machine, &separation, 0)?, |state, _| &own[state])
        }
        Method::H => told_apart(machine, &separation, covering(machine, &separation, most)?),
        Method::Tour => Err(NoSuite::NoTour),
    }
}

/// A sequence of V, or one with a traversal behind it.
struct Covering {
    /// Behind V, the sequence that it goes on from.
    before: Option<usize>,
    word: Word,
    state: usize,
    /// For each set of states that are told apart, how often the traversal has met one of them.
    met: Vec<usize>,
    is_at_end: bool,
}

/// Sets of states any two of which are told apart: each state is in one.
fn told_apart_sets(machine: &Mealy, separation: &Separation) -> Vec<BTreeSet<usize>> {
    let states = 0..machine.next.len();
    let with = |first: usize| {
        let mut set = BTreeSet::from([first]);
        for state in states.clone() {
            if set.iter().all(|other| separation.tells(*other, state)) {
                set.insert(state);
            }
        }
        set
    };
    let sets: BTreeSet<BTreeSet<usize>> = states.clone().map(with).collect();
    sets.into_iter().collect()
}

/// V, and behind it all traversals for implementations of so many states; of one input for 0.
fn covering(machine: &Mealy, separation: &Separation, most: usize) -> Result<Vec<Covering>, NoSuite> {
    let sets = told_apart_sets(machine, separation);
    let access = machine.access().into_iter().enumerate();
    let mut found: Vec<Covering> = access
        .filter_map(|(state, word)| {
            let met = vec![0; sets.len()];
            word.map(|word| Covering { before: None, word, state, met, is_at_end: false })
        })
        .collect();
    let mut at = 0;
    while at < found.len() {
        budget::ask();
        let Covering { word, state, met, is_at_end, .. } = &found[at];
        let mut next = Vec::new();
        for (input, _, target) in machine.leaving(*state).filter(|_| !is_at_end) {
            let met: Vec<usize> =
                met.iter().zip(&sets).map(|(met, set)| met + usize::from(set.contains(&target))).collect();
            let is_at_end = met.iter().zip(&sets).any(|(met, set)| *met > most.saturating_sub(set.len()));
            let word = [word.as_slice(), &[input]].concat();
            next.push(Covering { before: Some(at), word, state: target, met, is_at_end });
        }
        found.extend(next);
        if found.len() > MOST_TESTS {
            return Err(NoSuite::TooMany);
        }
        at += 1;
    }
    Ok(found)
}

/// The sequences with the identifiers of the states reached, which may be others behind traversals that are
/// at their end.
fn identified<'a>(
    machine: &Mealy,
    covering: Vec<Covering>,
    identifiers: impl Fn(usize, bool) -> &'a [Word],
) -> Result<Vec<Word>, NoSuite> {
    let mut found = BTreeSet::new();
    for Covering { word, state, is_at_end, .. } in covering {
        for identifier in identifiers(state, is_at_end) {
            found.insert([word.as_slice(), machine.taken(state, identifier)].concat());
        }
        found.insert(word);
        if found.len() > MOST_TESTS {
            return Err(NoSuite::TooMany);
        }
    }
    Ok(longest(found))
}

fn longest(words: BTreeSet<Word>) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    for word in words {
        // In this order what begins another stands right before the others that begin with it.
        if found.last().is_some_and(|last| word.starts_with(last)) {
            found.pop();
        }
        found.push(word);
    }
    found
}

struct Trie {
    /// For each node its state, its depth, and for each input the node behind it.
    nodes: Vec<(usize, usize, Vec<Option<usize>>)>,
}

impl Trie {
    fn add(&mut self, machine: &Mealy, from: usize, word: &[usize]) -> usize {
        word.iter().fold(from, |at, input| {
            let (state, depth, next) = &self.nodes[at];
            if let Some(next) = next[*input] {
                return next;
            }
            let Some((_, target)) = machine.next[*state][*input] else { return at };
            let new = self.nodes.len();
            let node = (target, depth + 1, vec![None; machine.inputs]);
            self.nodes[at].2[*input] = Some(new);
            self.nodes.push(node);
            new
        })
    }

    /// How many inputs more the suite has with this word behind the node: a new branch is a new sequence, and
    /// begins with a reset.
    fn price(&self, mut at: usize, word: &[usize]) -> usize {
        for (place, input) in word.iter().enumerate() {
            let (_, depth, next) = &self.nodes[at];
            match next[*input] {
                Some(next) => at = next,
                None if next.iter().all(Option::is_none) => return word.len() - place,
                None => return depth + 1 + word.len() - place,
            }
        }
        0
    }

    /// A word that tells the states of two nodes apart, at the least price; the shortest among equals.
    fn cheapest(&self, machine: &Mealy, separation: &Separation, a: usize, b: usize) -> Option<Word> {
        let mut best: Option<(usize, Word)> = None;
        let mut open = vec![(a, b, Word::new())];
        while let Some((at, other, prefix)) = open.pop() {
            let (first, second) = (&self.nodes[at], &self.nodes[other]);
            if first.0 == second.0 {
                continue;
            }
            let Some(on) = separation.word(machine, first.0, second.0) else { continue };
            let price = self.price(at, &on) + self.price(other, &on);
            let word = [prefix.as_slice(), &on].concat();
            if best.as_ref().is_none_or(|(known, shortest)| (price, word.len()) < (*known, shortest.len())) {
                best = Some((price, word));
            }
            if price == 0 {
                break;
            }
            for input in 0..machine.inputs {
                if let (Some(next), Some(behind)) = (first.2[input], second.2[input]) {
                    let longer = [prefix.as_slice(), &[input]].concat();
                    if machine.difference(first.0, second.0, &[input]).is_some() {
                        return Some(longer);
                    }
                    open.push((next, behind, longer));
                }
            }
        }
        best.map(|(_, word)| word)
    }
}

/// The suite of `h`.
fn told_apart(
    machine: &Mealy,
    separation: &Separation,
    covering: Vec<Covering>,
) -> Result<Vec<Word>, NoSuite> {
    let mut trie = Trie { nodes: vec![(0, 0, vec![None; machine.inputs])] };
    let nodes: Vec<usize> = covering.iter().map(|one| trie.add(machine, 0, &one.word)).collect();
    let access = machine.next.len();
    let mut two: Vec<(usize, usize)> = Vec::new();
    for (at, one) in covering.iter().enumerate() {
        two.extend((0..access.min(at)).map(|other| (other, at)));
        // What it goes on from, beyond V.
        let mut before = one.before;
        while let Some(shorter) = before.filter(|shorter| covering[*shorter].before.is_some()) {
            two.push((shorter, at));
            before = covering[shorter].before;
        }
    }
    for (a, b) in two {
        budget::ask();
        if separation.tells(covering[a].state, covering[b].state) {
            let word = trie.cheapest(machine, separation, nodes[a], nodes[b]);
            for node in word.iter().flat_map(|_| [nodes[a], nodes[b]]) {
                trie.add(machine, node, word.as_deref().unwrap_or_default());
            }
        }
        if trie.nodes.len() > MOST_TESTS {
            return Err(NoSuite::TooMany);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![(0, Word::new())];
    while let Some((at, word)) = open.pop() {
        let next = &trie.nodes[at].2;
        if next.iter().all(Option::is_none) {
            found.push(word.clone());
        }
        for (input, next) in next.iter().enumerate().rev() {
            open.extend(next.map(|next| (next, [word.as_slice(), &[input]].concat())));
        }
    }
    Ok(found)
}
