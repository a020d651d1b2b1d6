//! Which dimensions are related: a union-find structure over small numbers.

/// A partition of `0..count`; members that were never related to anything, not even to themselves,
/// are in no group.
pub(crate) struct Partition {
    parent: Vec<usize>,
    is_touched: Vec<bool>,
}

impl Partition {
    pub(crate) fn new(count: usize) -> Self {
        Self { parent: (0..count).collect(), is_touched: vec![false; count] }
    }

    /// The representative of a member's group: its smallest member.
    pub(crate) fn find(&self, mut member: usize) -> usize {
        while self.parent[member] != member {
            member = self.parent[member];
        }
        member
    }

    /// Puts members into one group.
    pub(crate) fn relate(&mut self, members: impl IntoIterator<Item = usize>) {
        let mut first = None;
        for member in members {
            self.is_touched[member] = true;
            let root = self.find(member);
            let other = *first.get_or_insert(root);
            let (low, high) = (other.min(root), other.max(root));
            self.parent[high] = low;
            self.parent[member] = low;
            first = Some(low);
        }
    }

    /// The groups, each ascending, ordered by their smallest members.
    pub(crate) fn groups(&self) -> Vec<Vec<usize>> {
        let mut index_of = vec![usize::MAX; self.parent.len()];
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for member in (0..self.parent.len()).filter(|&member| self.is_touched[member]) {
            let root = self.find(member);
            if index_of[root] == usize::MAX {
                index_of[root] = groups.len();
                groups.push(Vec::new());
            }
            groups[index_of[root]].push(member);
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_ordered() {
        let mut partition = Partition::new(8);
        partition.relate([7, 3]);
        partition.relate([5]);
        partition.relate([6, 1]);
        partition.relate([6, 7]);
        partition.relate([]);
        assert_eq!(partition.groups(), [vec![1, 3, 6, 7], vec![5]]);
        assert_eq!(partition.find(7), 1);
    }
}
