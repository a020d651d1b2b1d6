//! How much the stages may make: everything that a model can ask too much of, its limit, and the key that
//! moves it.
//!
//! A stage that meets one of them stops ([`crate::stop::Stop::TooMany`]). What is not met costs nothing, so a
//! limit is where work that nobody wants to wait for begins, not where the program could do no more: with
//! `limits:` in a configuration each can be set.

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Quantity {
    /// Of `product`.
    Pairs,
    /// Of `product`.
    PairTransitions,
    /// Of `close`: internal steps from one location, counted for each effect that comes to them.
    Sequences,
    /// Of `determinize`: for each a lookahead has to be looked for.
    Choices,
    /// Of `determinize`: pairs of transitions of one location and action.
    Overlaps,
    /// Of `determinize`: the subsets of one location's transitions of one action that can be taken together,
    /// beside one for each transition.
    Subsets,
    /// Of `determinize`: transitions that leave sets of locations. Those that leave a location are as many as
    /// there were, and do not count.
    SetTransitions,
    /// Of `determinize`: where no number of events tells apart which way a run has gone, each way that it may
    /// have gone keeps its own data.
    Ways,
    /// Of each stage: the nodes of an expression, written out. Terms share, text does not: forty steps
    /// `x := x + y, y := x` are forty nodes, and a guard of a hundred million letters.
    Nodes,
}

/// A quantity's key below `limits:`, its default, the words for it in a message, and what else can be done
/// about it.
const TABLE: [(Quantity, &str, u64, &str, &str); 9] = {
    const SMALLER: &str = "a smaller specification or purpose makes fewer of them";
    const EXCLUSIVE: &str = "a smaller model, or guards that exclude each other, make fewer of them";
    const SHORTER: &str = "fewer internal steps between two visible actions, or fewer events before a choice is resolved, make shorter ones";
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
        (Quantity::Ways, "ways", 6, "ways that one trace may have been run", EXCLUSIVE),
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
        TABLE[self as usize].1
    }

    pub fn words(self) -> &'static str {
        TABLE[self as usize].3
    }

    pub fn advice(self) -> &'static str {
        TABLE[self as usize].4
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    of: [u64; TABLE.len()],
    /// Beyond so many defaults (loops of a completed purpose, outputs that the specification does not allow
    /// at a location at all) one sentence says them. No stop: both say the same.
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
