//! Sets of dimensions that belong together, by union and find.

/// A partition of `0..n`.
pub(crate) struct DimensionSets {
    parent: Vec<usize>,
}

impl DimensionSets {
    pub(crate) fn singletons(count: usize) -> Self {
        Self { parent: (0..count).collect() }
    }

    /// The representative of a set, which is its least member.
    pub(crate) fn find(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    pub(crate) fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b);
    }

    pub(crate) fn unite_all(&mut self, members: &[usize]) {
        for pair in members.windows(2) {
            self.unite(pair[0], pair[1]);
        }
    }

    /// The sets, each ascending, in the order of their least members.
    pub(crate) fn sets(&mut self) -> Vec<Vec<usize>> {
        let count = self.parent.len();
        let mut sets: Vec<Vec<usize>> = vec![Vec::new(); count];
        for at in 0..count {
            let set = self.find(at);
            sets[set].push(at);
        }
        sets.retain(|set| !set.is_empty());
        sets
    }
}
