//! Which dimensions are related: a union-find structure over small numbers.
//!
//! Every operation makes one and drops it, so while there are few members nothing here allocates memory.

use smallvec::SmallVec;

/// A partition of `0..count`. Members that were never passed to [`UnionFind::relate`] are in no group.
pub(crate) struct UnionFind {
    /// [`UNTOUCHED`], or a member of the same group that is not larger.
    parent: SmallVec<[u32; 32]>,
}

const UNTOUCHED: u32 = u32::MAX;

/// The members of each group in ascending order. Groups are ordered by their smallest members.
pub(crate) struct Groups {
    members: SmallVec<[usize; 16]>,
    /// For each group the number of members up to its end.
    ends: SmallVec<[usize; 8]>,
    /// For each member of the partition the number of its group.
    group_of: SmallVec<[u32; 32]>,
}

impl UnionFind {
    pub(crate) fn new(count: usize) -> Self {
        Self { parent: SmallVec::from_elem(UNTOUCHED, count) }
    }

    /// The representative of a member's group: its smallest member.
    fn find(&self, mut member: u32) -> u32 {
        loop {
            match self.parent[member as usize] {
                UNTOUCHED => return member,
                parent if parent == member => return member,
                parent => member = parent,
            }
        }
    }

    /// Makes one group of these members and the groups in which they are.
    pub(crate) fn relate(&mut self, members: impl IntoIterator<Item = usize>) {
        let mut common_root = None;
        for member in members {
            let member = to_number(member);
            let root = self.find(member);
            let root_so_far = *common_root.get_or_insert(root);
            let (low, high) = (root_so_far.min(root), root_so_far.max(root));
            // A root is its own parent, and is the smallest member of its group.
            self.parent[low as usize] = low;
            self.parent[high as usize] = low;
            self.parent[member as usize] = low;
            common_root = Some(low);
        }
    }

    /// The groups of related members, in the order of their least ones. Members of no relation are in none.
    pub(crate) fn groups(&self) -> Groups {
        let mut group_of: SmallVec<[u32; 32]> = SmallVec::from_elem(UNTOUCHED, self.parent.len());
        let mut ends: SmallVec<[usize; 8]> = SmallVec::new();
        // A root comes before the other members of its group.
        for (member, &parent) in self.parent.iter().enumerate().filter(|(_, parent)| **parent != UNTOUCHED) {
            if parent as usize == member {
                group_of[member] = to_number(ends.len());
                ends.push(0);
            } else {
                group_of[member] = group_of[self.find(parent) as usize];
            }
            ends[group_of[member] as usize] += 1;
        }
        // Sizes become the beginnings of groups, which become the ends as members are put there.
        let mut total = 0;
        for end in &mut ends {
            total += core::mem::replace(end, total);
        }
        let mut members = SmallVec::from_elem(0, total);
        for (member, &group) in group_of.iter().enumerate().filter(|(_, group)| **group != UNTOUCHED) {
            members[ends[group as usize]] = member;
            ends[group as usize] += 1;
        }
        Groups { members, ends, group_of }
    }
}

impl Groups {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn members(&self, group: usize) -> &[usize] {
        let start = group.checked_sub(1).map_or(0, |previous| self.ends[previous]);
        &self.members[start..self.ends[group]]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[usize]> {
        (0..self.len()).map(|group| self.members(group))
    }

    /// The number of a member's group, if it has one.
    pub(crate) fn of(&self, member: usize) -> Option<usize> {
        Some(self.group_of[member]).filter(|&group| group != UNTOUCHED).map(|group| group as usize)
    }
}

/// Converts a member to fewer bits. No memory holds a space of more dimensions.
fn to_number(member: usize) -> u32 {
    u32::try_from(member).unwrap_or_else(|_| unreachable!("a space of four thousand million dimensions"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_ordered() {
        let mut partition = UnionFind::new(8);
        partition.relate([7, 3]);
        partition.relate([5]);
        partition.relate([6, 1]);
        partition.relate([6, 7]);
        partition.relate([]);
        let groups = partition.groups();
        assert_eq!(groups.iter().collect::<Vec<_>>(), [&[1, 3, 6, 7][..], &[5]]);
        assert_eq!([7, 5, 0].map(|member| groups.of(member)), [Some(0), Some(1), None]);
    }
}
