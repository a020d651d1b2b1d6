//! Limits of the stages: each thing that a model can ask too much of, its limit, and the key that sets it.
//!
//! A stage that reaches one of them stops ([`crate::stop::Stop::TooMany`]). A limit that is not reached costs
//! nothing. So a limit marks the work that nobody wants to wait for, not the most that the program could do.
//! Each limit can be set with `limits:` in a configuration.

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Quantity {
    /// Of `product`.
    Pairs,
    /// Of `product`.
    PairTransitions,
    /// Of `close`: internal steps from one location, counted once for each effect that reaches them.
    Sequences,
    /// Of `determinize`: choices for each of which a lookahead has to be found.
    Choices,
    /// Of `determinize`: pairs of transitions of one location and action.
    Overlaps,
    /// Of `determinize`: the subsets of one location's transitions of one action that can be taken together,
    /// beyond one for each transition.
    Subsets,
    /// Of `determinize`: transitions that leave sets of locations. Transitions that leave a single location
    /// existed before, and do not count.
    SetTransitions,
    /// Of `determinize`: the ways that a run may have gone, each with its own data, if no number of events
    /// tells them apart.
    Ways,
    /// Of each stage: the nodes of an expression, written out. Terms share, but text does not: after forty
    /// steps `x := x + y, y := x` a guard has forty nodes, and a hundred million letters.
    Nodes,
}

/// A quantity's key below `limits:`, its default, its words in a message, and other advice.
const TABLE: [(Quantity, &str, u64, &str, &str); 9] = {
    const SMALLER: &str = "a smaller specification or purpose makes fewer of them";
    const EXCLUSIVE: &str = "a smaller model, or guards that exclude each other, make fewer of them";
    const SHORTER: &str = "fewer internal steps between two visible actions, or fewer events before a choice is resolved, make them shorter";
    [
        (Quantity::Pairs, "pairs", 1_000_000, "pairs of locations", SMALLER),
        (
            Quantity::PairTransitions,
            "pair_transitions",
            1_000_000,
            "transitions between pairs of locations",
            SMALLER,
        ),
        (Quantity::Sequences, "sequences", 10_000, "internal sequences", EXCLUSIVE),
        (Quantity::Choices, "choices", 100_000, "choices", EXCLUSIVE),
        (
            Quantity::Overlaps,
            "overlaps",
            100_000,
            "pairs of transitions that can be taken together",
            EXCLUSIVE,
        ),
        (Quantity::Subsets, "subsets", 512, "subsets of a choice", EXCLUSIVE),
        (Quantity::SetTransitions, "set_transitions", 10_000, "transitions of sets of locations", EXCLUSIVE),
        (Quantity::Ways, "ways", 6, "possible runs of one trace", EXCLUSIVE),
        (Quantity::Nodes, "nodes", 100_000, "parts of one expression", SHORTER),
    ]
};

/// The key of [`Limits::written_out`].
pub const WRITTEN_OUT: &str = "written_out";

/// The largest limit that can be set. Locations and transitions have numbers of 32 bits.
pub const MOST: u64 = 1_000_000_000;

impl Quantity {
    /// All of them, in the order of the stages.
    pub fn all() -> impl Iterator<Item = Quantity> {
        TABLE.iter().map(|(quantity, ..)| *quantity)
    }

    pub fn key(self) -> &'static str {
        let (_, key, ..) = TABLE[self as usize];
        key
    }

    pub fn words(self) -> &'static str {
        let (.., words, _) = TABLE[self as usize];
        words
    }

    pub fn advice(self) -> &'static str {
        let (.., advice) = TABLE[self as usize];
        advice
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    of: [u64; TABLE.len()],
    /// The most defaults (loops of a completed purpose, outputs that the specification does not allow at a
    /// location at all) that are written out. Beyond it, one sentence stands for them. This is no stop, since
    /// both mean the same.
    pub written_out: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { of: TABLE.map(|(_, _, default, ..)| default), written_out: 10_000 }
    }
}

impl Limits {
    pub fn of(&self, quantity: Quantity) -> u64 {
        self.of[quantity as usize]
    }

    pub fn with(mut self, quantity: Quantity, limit: u64) -> Self {
        self.of[quantity as usize] = limit;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_quantity_stands_in_its_own_row() {
        assert!(Quantity::all().enumerate().all(|(at, quantity)| quantity as usize == at));
        let limits = Limits::default();
        assert!(Quantity::all().all(|quantity| limits.of(quantity) <= MOST));
        let changed = limits.clone().with(Quantity::Subsets, 7);
        assert_eq!(changed.of(Quantity::Subsets), 7);
        let same = |quantity: &Quantity| changed.of(*quantity) == limits.of(*quantity);
        assert_eq!(Quantity::all().filter(|quantity| !same(quantity)).count(), 1);
    }
}
