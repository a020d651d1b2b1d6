//! Mealy machines, deterministic and perhaps partial.
//!
//! **Problem.** Which states are equal, and which input sequences tell two states apart? **Partial** machines
//! do not take every input in every state. Other inputs are not tested: a sequence is applied to a state as
//! far as the state takes it. So two states are *told apart* by a sequence only where both take it up to a
//! difference of their outputs, and *equal* only where they also take the same inputs. In a complete machine
//! each is the negation of the other. In a partial one two states may be neither.
//!
//! **Method.** Equal states are found by refinement of a partition (Moore 1956). Sequences that tell states
//! apart are found in rounds over the pairs, so they are shortest. **Ends** after at most as many rounds as
//! there are states, or pairs. **Cost**: a round visits each state, or pair, with each input.

use std::collections::{BTreeMap, VecDeque};

pub type Word = Vec<usize>;

/// A deterministic machine that begins in state 0 and answers each input that it takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mealy {
    pub inputs: usize,
    /// For each state and input: the output and the next state. `None`: the state does not take the input.
    pub next: Vec<Vec<Option<(usize, usize)>>>,
}

impl Mealy {
    /// The inputs that a state takes, each with output and next state.
    pub fn leaving(&self, state: usize) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let row = self.next[state].iter().enumerate();
        row.filter_map(|(input, next)| next.map(|(output, target)| (input, output, target)))
    }

    pub fn is_complete(&self) -> bool {
        self.next.iter().flatten().all(Option::is_some)
    }

    /// The prefix of the word that the state takes.
    pub fn taken_prefix<'a>(&self, mut state: usize, word: &'a [usize]) -> &'a [usize] {
        for (at, input) in word.iter().enumerate() {
            match self.next[state][*input] {
                Some((_, target)) => state = target,
                None => return &word[..at],
            }
        }
        word
    }

    /// The state to which the word leads. `None`: the state does not take all of it.
    pub fn after(&self, state: usize, word: &[usize]) -> Option<usize> {
        word.iter().try_fold(state, |state, input| self.next[state][*input].map(|(_, target)| target))
    }

    /// The shortest prefix of the word on which the outputs of two states differ. `None`: both answer alike,
    /// as far as both take the word.
    pub fn difference<'a>(&self, mut a: usize, mut b: usize, word: &'a [usize]) -> Option<&'a [usize]> {
        for (at, input) in word.iter().enumerate() {
            let ((first, next_a), (second, next_b)) = (self.next[a][*input]?, self.next[b][*input]?);
            if first != second {
                return Some(&word[..=at]);
            }
            (a, b) = (next_a, next_b);
        }
        None
    }

    /// For each state a shortest word that leads there, the smallest of several. `None`: no word does.
    pub fn access_words(&self) -> Vec<Option<Word>> {
        let mut words: Vec<Option<Word>> = vec![None; self.next.len()];
        words[0] = Some(Word::new());
        let mut open = VecDeque::from([(0, Word::new())]);
        while let Some((state, word)) = open.pop_front() {
            for (input, _, target) in self.leaving(state) {
                if words[target].is_none() {
                    let longer = [word.as_slice(), &[input]].concat();
                    words[target] = Some(longer.clone());
                    open.push_back((target, longer));
                }
            }
        }
        words
    }

    /// The minimal machine: it has a state for each class of equal states that can be reached.
    pub fn minimal(&self) -> Mealy {
        let words = self.access_words();
        let reached: Vec<usize> = (0..self.next.len()).filter(|state| words[*state].is_some()).collect();
        // The outputs of a state, and the classes to which it leads.
        let row = |state: usize, class_of: &[usize]| -> Vec<Option<(usize, usize)>> {
            let next = self.next[state].iter();
            next.map(|next| next.map(|(output, target)| (output, class_of[target]))).collect()
        };
        // At first all states are in one class. Each round splits those whose states have different rows.
        let mut class_of = vec![0; self.next.len()];
        let mut classes = 1;
        loop {
            let mut numbers: BTreeMap<_, usize> = BTreeMap::new();
            let mut finer = class_of.clone();
            for &state in &reached {
                let number = numbers.len();
                let key = (class_of[state], row(state, &class_of));
                finer[state] = *numbers.entry(key).or_insert(number);
            }
            class_of = finer;
            if numbers.len() == classes {
                break;
            }
            classes = numbers.len();
        }
        // The states are numbered in order, and the initial one is first, so its class is 0.
        let mut next: Vec<Vec<Option<(usize, usize)>>> = vec![Vec::new(); classes];
        for &state in &reached {
            next[class_of[state]] = row(state, &class_of);
        }
        Mealy { inputs: self.inputs, next }
    }

    /// Finds shortest sequences that tell states apart.
    pub fn separation(&self) -> Separation {
        let states = self.next.len();
        let mut first: Vec<Vec<Option<usize>>> = vec![vec![None; states]; states];
        // The words of a round have one input more than those of the round before, so the new entries are
        // stored after the round.
        loop {
            let mut new = Vec::new();
            for a in 0..states {
                for b in (0..a).filter(|b| first[a][*b].is_none()) {
                    let input =
                        (0..self.inputs).find(|input| match (self.next[a][*input], self.next[b][*input]) {
                            (Some((out_a, to_a)), Some((out_b, to_b))) => {
                                out_a != out_b || first[to_a][to_b].is_some()
                            }
                            _ => false,
                        });
                    new.extend(input.map(|input| (a, b, input)));
                }
            }
            if new.is_empty() {
                return Separation { first };
            }
            for (a, b, input) in new {
                first[a][b] = Some(input);
                first[b][a] = Some(input);
            }
        }
    }
}

/// For each two states: the first input of a shortest word that tells them apart.
#[derive(Clone, Debug)]
pub struct Separation {
    first: Vec<Vec<Option<usize>>>,
}

impl Separation {
    /// A shortest word that tells the states apart, if there is one.
    pub fn word(&self, machine: &Mealy, mut a: usize, mut b: usize) -> Option<Word> {
        let mut word = Word::new();
        loop {
            let input = self.first[a][b]?;
            word.push(input);
            let ((out_a, to_a), (out_b, to_b)) = (machine.next[a][input]?, machine.next[b][input]?);
            if out_a != out_b {
                return Some(word);
            }
            (a, b) = (to_a, to_b);
        }
    }

    /// Does a word tell the states apart?
    pub fn tells(&self, a: usize, b: usize) -> bool {
        self.first[a][b].is_some()
    }
}
