//! Chernikova's algorithm: from the constraints of a cone to its generators, and back.
//!
//! **Problem.** A polyhedron has two descriptions, by constraints and by generators. Meeting is
//! easy on the first, joining and projecting on the second, so one must be computed from the other.
//!
//! **Cones.** A polyhedron `{ x | A x + k >= 0 }` is the slice at height 1 of the cone
//! `{ (d, x) | A x + k d >= 0, d >= 0 }`. Working with cones, points and rays are one thing, and a
//! cone and its dual have the same shape: the half-spaces of one are the generators of the other.
//! So one function serves both directions; this file speaks of half-spaces going in and of lines
//! and rays coming out, and the caller may mean the opposite.
//!
//! **Algorithm** (N. V. Chernikova 1968, in the version of H. Le Verge, "A note on Chernikova's
//! algorithm", 1992; also K. Fukuda and A. Prodon, <https://doi.org/10.1007/3-540-61576-8_77>).
//! Start with the whole space, whose generators are the unit lines, and add the half-spaces one by
//! one:
//!
//! 1. If some line is not parallel to the border of the half-space, turn it to point inside. All other lines and
//!    rays are slid along it into the border; the line itself becomes a ray (or disappears, if
//!    the half-space is an equality). Nothing grows.
//! 2. Otherwise the border separates the rays into those inside, on it, and outside. Those outside
//!    go, and each pair of *adjacent* rays (one inside, one outside) leaves a new ray where the
//!    face between them meets the border. Two rays are adjacent when no third ray saturates all
//!    half-spaces that both saturate; a count of these half-spaces refutes most pairs first.
//!
//! For each ray the set of saturated half-spaces is kept as bits, so adjacency is bit work.
//!
//! **Where we differ.** A half-space that cuts nothing off is forgotten at once: the cone only
//! shrinks, so it stays redundant. This keeps the bit rows short and makes the final minimisation
//! ([`crate::minimise`]) cheap.
//!
//! **Invariant.** The rays are exactly the extreme rays (modulo the lines) of the cone so far.
//!
//! **Cost.** Each half-space is handled once, so it ends; but the number of rays may grow
//! exponentially with the dimension (a cube has 2^n corners), and one step may compare all pairs
//! with all rays. Hence the limit.

use crate::bits::Bits;
use crate::integer::Integer;
use crate::row::{self, Row};

/// A conversion would have needed more rows than its limit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exceeded;

/// A ray with the half-spaces it saturates, as indices into [`Cone::halfspaces`].
#[derive(Clone, Debug)]
pub(crate) struct Ray {
    pub(crate) row: Row,
    pub(crate) saturated: Bits,
}

/// A cone under construction.
#[derive(Clone, Debug)]
pub(crate) struct Cone {
    pub(crate) width: usize,
    pub(crate) lines: Vec<Row>,
    pub(crate) rays: Vec<Ray>,
    /// The half-spaces added so far that cut something off when they were added.
    pub(crate) halfspaces: Vec<Row>,
}

impl Cone {
    /// The whole space of `width` coordinates.
    pub(crate) fn whole(width: usize) -> Self {
        let lines = (0..width).map(|index| row::unit(width, index)).collect();
        Self { width, lines, rays: Vec::new(), halfspaces: Vec::new() }
    }

    /// A cone both of whose descriptions are known already; `rays` must be extreme.
    pub(crate) fn known<'a>(
        width: usize,
        lines: impl Iterator<Item = &'a [Integer]>,
        rays: impl Iterator<Item = &'a [Integer]>,
        halfspaces: impl Iterator<Item = &'a [Integer]>,
    ) -> Self {
        let halfspaces: Vec<Row> = halfspaces.map(<[Integer]>::to_vec).collect();
        let rays = rays
            .map(|ray| {
                let mut saturated = Bits::default();
                for (index, halfspace) in halfspaces.iter().enumerate() {
                    if row::dot(halfspace, ray).is_zero() {
                        saturated.insert(index);
                    }
                }
                Ray { row: ray.to_vec(), saturated }
            })
            .collect();
        Self { width, lines: lines.map(<[Integer]>::to_vec).collect(), rays, halfspaces }
    }

    /// Intersects with the half-space `halfspace . v >= 0`, or the hyperplane `= 0`.
    ///
    /// # Errors
    /// When more than `limit` lines and rays would be needed; the cone is then unchanged.
    pub(crate) fn add(
        &mut self,
        halfspace: &[Integer],
        is_equality: bool,
        limit: usize,
    ) -> Result<(), Exceeded> {
        for index in 0..self.lines.len() {
            let value = row::dot(halfspace, &self.lines[index]);
            if !value.is_zero() {
                self.split_line(halfspace, is_equality, index, value);
                return Ok(());
            }
        }
        self.split_rays(halfspace, is_equality, limit)
    }

    /// Step 1: the line at `index` crosses the border; `value` is its product with the half-space.
    fn split_line(&mut self, halfspace: &[Integer], is_equality: bool, index: usize, value: Integer) {
        let mut line = self.lines.remove(index);
        let mut value = value;
        if value.is_negative() {
            row::negate(&mut line);
            value = -value;
        }
        let slide = |row: &mut Row| {
            let other = row::dot(halfspace, row);
            if !other.is_zero() {
                let gcd = other.gcd(&value);
                *row = row::combine(&value.div_exact(&gcd), row, &-other.div_exact(&gcd), &line);
            }
        };
        // Lines before `index` are parallel to the border already.
        self.lines.iter_mut().skip(index).for_each(slide);
        let border = self.halfspaces.len();
        for ray in &mut self.rays {
            slide(&mut ray.row);
            ray.saturated.insert(border);
        }
        if !is_equality {
            self.rays.push(Ray { row: line, saturated: Bits::all(border) });
        }
        self.halfspaces.push(halfspace.to_vec());
    }

    /// Step 2: all lines are parallel to the border.
    fn split_rays(&mut self, halfspace: &[Integer], is_equality: bool, limit: usize) -> Result<(), Exceeded> {
        let values: Vec<Integer> = self.rays.iter().map(|ray| row::dot(halfspace, &ray.row)).collect();
        let of_sign = |sign: i32| -> Vec<usize> {
            (0..values.len()).filter(|&index| values[index].signum() == sign).collect()
        };
        let (inside, outside) = (of_sign(1), of_sign(-1));
        if outside.is_empty() && (!is_equality || inside.is_empty()) {
            return Ok(());
        }
        let border = self.halfspaces.len();
        let kept = self.rays.len() - outside.len() - if is_equality { inside.len() } else { 0 };
        let mut rows = self.lines.len() + kept;
        // Adjacent rays span a face of dimension 2 (above the lines), which needs this many borders.
        let needed = self.width.saturating_sub(self.lines.len() + 2);
        let mut fresh = Vec::new();
        for &i in &inside {
            for &o in &outside {
                let mut common = self.rays[i].saturated.and(&self.rays[o].saturated);
                if common.count() < needed || !self.are_adjacent(i, o, &common) {
                    continue;
                }
                rows += 1;
                if rows > limit {
                    return Err(Exceeded);
                }
                let gcd = values[i].gcd(&values[o]);
                let row = row::combine(
                    &values[i].div_exact(&gcd),
                    &self.rays[o].row,
                    &-values[o].div_exact(&gcd),
                    &self.rays[i].row,
                );
                common.insert(border);
                fresh.push(Ray { row, saturated: common });
            }
        }
        let mut signs = values.iter().map(Integer::signum);
        self.rays.retain_mut(|ray| match signs.next() {
            Some(0) => {
                ray.saturated.insert(border);
                true
            }
            Some(1) => !is_equality,
            _ => false,
        });
        self.rays.append(&mut fresh);
        self.halfspaces.push(halfspace.to_vec());
        Ok(())
    }

    fn are_adjacent(&self, first: usize, second: usize, common: &Bits) -> bool {
        self.rays
            .iter()
            .enumerate()
            .all(|(index, ray)| index == first || index == second || !common.is_subset(&ray.saturated))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(entries: &[i64]) -> Row {
        entries.iter().map(|&entry| Integer::from(entry)).collect()
    }

    /// The homogenised square [0,1]^2 has four corners and needs no positivity of the height.
    #[test]
    fn square() {
        let mut cone = Cone::whole(3);
        for halfspace in [[1, 0, 0], [0, 1, 0], [1, -1, 0], [0, 0, 1], [1, 0, -1]] {
            assert_eq!(cone.add(&row(&halfspace), false, usize::MAX), Ok(()));
        }
        let mut corners: Vec<Row> = cone.rays.iter().map(|ray| ray.row.clone()).collect();
        corners.sort();
        let expected = [[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]];
        assert_eq!(corners, expected.iter().map(|entries| row(entries)).collect::<Vec<_>>());
        assert!(cone.lines.is_empty());
    }

    /// An exceeded limit leaves the cone as it was.
    #[test]
    fn limit() {
        let mut cone = Cone::whole(3);
        for halfspace in [[1, 0, 0], [0, 1, 0], [1, -1, 0], [0, 0, 1]] {
            assert_eq!(cone.add(&row(&halfspace), false, 3), Ok(()));
        }
        let before = format!("{cone:?}");
        assert_eq!(cone.add(&row(&[1, 0, -1]), false, 3), Err(Exceeded));
        assert_eq!(format!("{cone:?}"), before);
    }
}
