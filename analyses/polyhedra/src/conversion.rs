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
//! **Numbers.** The conversion runs on machine words ([`crate::number`]), all rows in one piece of
//! memory; when a result does not fit, the whole cone moves to big integers, where nothing overflows,
//! and goes on from the same state. So an overflow costs time, never an answer.
//!
//! **Invariant.** The rays are exactly the extreme rays (modulo the lines) of the cone so far.
//!
//! **Cost.** Each half-space is handled once, so it ends; but the number of rays may grow
//! exponentially with the dimension (a cube has 2^n corners), and one step may compare all pairs
//! with all rays. Hence the limit.

use crate::bits::Bits;
use crate::budget::{Budget, Exceeded};
use crate::integer::Integer;
use crate::number::Number;
use crate::row::{self, Row};

/// A cone under construction.
#[derive(Clone, Debug)]
pub(crate) struct Cone {
    /// The half-spaces added so far that cut something off when they were added.
    halfspaces: Vec<Row>,
    numbers: Numbers,
}

#[derive(Clone, Debug)]
enum Numbers {
    Words(Generators<i64>),
    Big(Generators<Integer>),
}

/// The lines and rays of a cone, and the half-spaces each ray saturates.
#[derive(Clone, Debug)]
struct Generators<N> {
    width: usize,
    /// Rows of `width` numbers, one after the other.
    lines: Vec<N>,
    /// Likewise.
    rays: Vec<N>,
    /// For each ray `words` words, whose bits stand for half-spaces.
    saturated: Vec<u64>,
    words: usize,
}

/// What a conversion found.
pub(crate) struct Converted {
    pub(crate) lines: Vec<Row>,
    /// The extreme rays, modulo the lines.
    pub(crate) rays: Vec<Row>,
    /// The half-spaces that cut something off, each with the rays that saturate it.
    pub(crate) halfspaces: Vec<(Row, Bits)>,
}

impl Cone {
    /// The whole space of `width` coordinates.
    pub(crate) fn whole(width: usize) -> Self {
        let mut lines = vec![0; width * width];
        (0..width).for_each(|index| lines[index * (width + 1)] = 1);
        let numbers = Generators { width, lines, rays: Vec::new(), saturated: Vec::new(), words: 1 };
        Self { halfspaces: Vec::new(), numbers: Numbers::Words(numbers) }
    }

    /// A cone both of whose descriptions are known already; `rays` must be extreme.
    pub(crate) fn known<'a>(
        width: usize,
        lines: impl Iterator<Item = &'a [Integer]>,
        rays: impl Iterator<Item = &'a [Integer]>,
        halfspaces: impl Iterator<Item = &'a [Integer]>,
    ) -> Self {
        let halfspaces: Vec<Row> = halfspaces.map(<[Integer]>::to_vec).collect();
        let words = halfspaces.len() / 64 + 1;
        let lines: Vec<Integer> = lines.flatten().cloned().collect();
        let (mut all, mut saturated) = (Vec::new(), Vec::new());
        for ray in rays {
            all.extend_from_slice(ray);
            let start = saturated.len();
            saturated.resize(start + words, 0);
            for (index, halfspace) in halfspaces.iter().enumerate() {
                if row::dot(halfspace, ray).is_zero() {
                    saturated[start + index / 64] |= 1 << (index % 64);
                }
            }
        }
        let big = Generators { width, lines, rays: all, saturated, words };
        let numbers = match big.mapped(Number::of_integer) {
            Some(small) => Numbers::Words(small),
            None => Numbers::Big(big),
        };
        Self { halfspaces, numbers }
    }

    /// Intersects with the half-space `halfspace . v >= 0`, or the hyperplane `= 0`.
    ///
    /// # Errors
    /// When more lines and rays, or more work, would be needed than the budget has; the cone is then
    /// unchanged.
    pub(crate) fn add(
        &mut self,
        halfspace: &[Integer],
        is_equality: bool,
        budget: &Budget,
    ) -> Result<(), Exceeded> {
        let border = self.halfspaces.len();
        let cut = loop {
            match &mut self.numbers {
                Numbers::Words(words) => {
                    if let Some(cut) = words.add(halfspace, is_equality, border, budget)? {
                        break cut;
                    }
                    if let Some(big) = words.mapped(|entry| Some(entry.to_integer())) {
                        self.numbers = Numbers::Big(big);
                    }
                }
                // Never overflows; if it did, the half-space would have to be called redundant.
                Numbers::Big(big) => break big.add(halfspace, is_equality, border, budget)?.unwrap_or(true),
            }
        };
        if cut {
            self.halfspaces.push(halfspace.to_vec());
        }
        Ok(())
    }

    /// Whether some ray has a positive first coordinate.
    pub(crate) fn has_point(&self) -> bool {
        match &self.numbers {
            Numbers::Words(words) => words.rays.chunks_exact(words.width).any(|ray| ray[0] > 0),
            Numbers::Big(big) => big.rays.chunks_exact(big.width).any(|ray| ray[0].is_positive()),
        }
    }

    /// The rows and incidences found.
    pub(crate) fn into_converted(self) -> Converted {
        match self.numbers {
            Numbers::Words(words) => words.into_converted(self.halfspaces),
            Numbers::Big(big) => big.into_converted(self.halfspaces),
        }
    }
}

impl<N: Number> Generators<N> {
    /// The same with other numbers, if all can be.
    fn mapped<M>(&self, map: impl Fn(&N) -> Option<M>) -> Option<Generators<M>> {
        Some(Generators {
            width: self.width,
            lines: self.lines.iter().map(&map).collect::<Option<_>>()?,
            rays: self.rays.iter().map(&map).collect::<Option<_>>()?,
            saturated: self.saturated.clone(),
            words: self.words,
        })
    }

    fn into_converted(self, halfspaces: Vec<Row>) -> Converted {
        let rows = |flat: &[N]| -> Vec<Row> {
            flat.chunks_exact(self.width).map(|row| row.iter().map(Number::to_integer).collect()).collect()
        };
        let rays = rows(&self.rays);
        let on = |halfspace: usize| {
            let mut on = Bits::default();
            for (index, saturated) in self.saturated.chunks_exact(self.words).enumerate() {
                if saturated[halfspace / 64] >> (halfspace % 64) & 1 == 1 {
                    on.insert(index);
                }
            }
            on
        };
        let halfspaces = halfspaces.into_iter().enumerate().map(|(index, row)| (row, on(index))).collect();
        Converted { lines: rows(&self.lines), rays, halfspaces }
    }

    /// One half-space, which will have the number `border` if it cuts something off; whether it does.
    /// Nothing when a number does not fit; the state is then as before.
    fn add(
        &mut self,
        halfspace: &[Integer],
        is_equality: bool,
        border: usize,
        budget: &Budget,
    ) -> Result<Option<bool>, Exceeded> {
        let Some(halfspace) = halfspace.iter().map(N::of_integer).collect::<Option<Vec<N>>>() else {
            return Ok(None);
        };
        for index in 0..self.lines.len() / self.width {
            let Some(value) = N::dot(&halfspace, &self.lines[index * self.width..][..self.width]) else {
                return Ok(None);
            };
            if value.signum() != 0 {
                budget.spend(2 * (self.lines.len() + self.rays.len()) / self.width)?;
                return Ok(self.split_line(&halfspace, is_equality, border, index, value).map(|()| true));
            }
        }
        self.split_rays(&halfspace, is_equality, border, budget)
    }

    /// Room for the bit of a new half-space.
    fn widen_saturation(&mut self, border: usize) {
        let words = border / 64 + 1;
        if words <= self.words {
            return;
        }
        let mut wider = Vec::with_capacity(self.saturated.len() / self.words * words);
        for saturated in self.saturated.chunks_exact(self.words) {
            wider.extend_from_slice(saturated);
            wider.resize(wider.len() + words - self.words, 0);
        }
        self.saturated = wider;
        self.words = words;
    }

    /// Step 1: the line at `index` crosses the border; `value` is its product with the half-space.
    fn split_line(
        &mut self,
        halfspace: &[N],
        is_equality: bool,
        border: usize,
        index: usize,
        value: N,
    ) -> Option<()> {
        let width = self.width;
        let mut line = self.lines[index * width..][..width].to_vec();
        let mut value = value;
        if value.signum() < 0 {
            line = line.iter().map(Number::negated).collect::<Option<_>>()?;
            value = value.negated()?;
        }
        let slide = |row: &[N], out: &mut Vec<N>| -> Option<()> {
            let other = N::dot(halfspace, row)?;
            if other.signum() == 0 {
                out.extend_from_slice(row);
                return Some(());
            }
            let (keep, take) = N::coprime(&value, &other)?;
            N::combine(&keep, row, &take.negated()?, &line, out)
        };
        // Lines before `index` are parallel to the border already.
        let mut lines = self.lines[..index * width].to_vec();
        for row in self.lines[(index + 1) * width..].chunks_exact(width) {
            slide(row, &mut lines)?;
        }
        let mut rays = Vec::with_capacity(self.rays.len() + width);
        for row in self.rays.chunks_exact(width) {
            slide(row, &mut rays)?;
        }
        self.widen_saturation(border);
        for saturated in self.saturated.chunks_exact_mut(self.words) {
            saturated[border / 64] |= 1 << (border % 64);
        }
        if !is_equality {
            rays.append(&mut line);
            // All half-spaces before are parallel to the line.
            let all = (0..self.words).map(|word| match border.saturating_sub(64 * word) {
                0 => 0,
                bits @ 1..64 => (1 << bits) - 1,
                _ => u64::MAX,
            });
            self.saturated.extend(all);
        }
        self.lines = lines;
        self.rays = rays;
        Some(())
    }

    /// Step 2: all lines are parallel to the border.
    fn split_rays(
        &mut self,
        halfspace: &[N],
        is_equality: bool,
        border: usize,
        budget: &Budget,
    ) -> Result<Option<bool>, Exceeded> {
        let width = self.width;
        let (line_count, ray_count) = (self.lines.len() / width, self.rays.len() / width);
        budget.spend(line_count + ray_count)?;
        let values = self.rays.chunks_exact(width).map(|ray| N::dot(halfspace, ray));
        let Some(values) = values.collect::<Option<Vec<N>>>() else {
            return Ok(None);
        };
        let of_sign = |sign: i32| -> Vec<usize> {
            (0..values.len()).filter(|&index| values[index].signum() == sign).collect()
        };
        let (inside, outside) = (of_sign(1), of_sign(-1));
        if outside.is_empty() && (!is_equality || inside.is_empty()) {
            return Ok(Some(false));
        }
        let kept = ray_count - outside.len() - if is_equality { inside.len() } else { 0 };
        let mut rows = line_count + kept;
        // Adjacent rays span a face of dimension 2 (above the lines), which needs this many borders.
        let needed = width.saturating_sub(line_count + 2);
        self.widen_saturation(border);
        let pairs =
            Pairs { saturated: &self.saturated, inside: &inside, outside: &outside, needed, borders: border };
        // In three dimensions there are about as many adjacent pairs; in more there are often more.
        let expected = inside.len() + outside.len();
        let mut fresh = Vec::with_capacity(expected * width);
        let mut fresh_saturated = Vec::with_capacity(expected * self.words);
        let mut overflow = false;
        pairs
            .each_adjacent(self.words, budget, &mut |i, o, common| {
                rows += 1;
                budget.hold(rows, width)?;
                budget.spend(1)?;
                let (inner, outer) = (&self.rays[i * width..][..width], &self.rays[o * width..][..width]);
                let made = N::coprime(&values[i], &values[o])
                    .and_then(|(a, b)| N::combine(&a, outer, &b.negated()?, inner, &mut fresh));
                overflow |= made.is_none();
                let start = fresh_saturated.len();
                fresh_saturated.extend_from_slice(common);
                fresh_saturated[start + border / 64] |= 1 << (border % 64);
                // The outer result would be thrown away.
                if overflow { Err(Exceeded) } else { Ok(()) }
            })
            .or_else(|exceeded| if overflow { Ok(()) } else { Err(exceeded) })?;
        if overflow {
            return Ok(None);
        }
        self.keep(&values, is_equality, border);
        self.rays.append(&mut fresh);
        self.saturated.append(&mut fresh_saturated);
        Ok(Some(true))
    }

    /// Drops the rays outside (for an equality, also those inside) and marks those on the border.
    fn keep(&mut self, values: &[N], is_equality: bool, border: usize) {
        let (width, words) = (self.width, self.words);
        let mut end = 0;
        for (index, value) in values.iter().enumerate() {
            let sign = value.signum();
            if sign < 0 || (sign > 0 && is_equality) {
                continue;
            }
            if sign == 0 {
                self.saturated[index * words + border / 64] |= 1 << (border % 64);
            }
            if end < index {
                for column in 0..width {
                    self.rays.swap(end * width + column, index * width + column);
                }
                self.saturated.copy_within(index * words..(index + 1) * words, end * words);
            }
            end += 1;
        }
        self.rays.truncate(end * width);
        self.saturated.truncate(end * words);
    }
}

/// The search for adjacent rays, which is most of the work of large conversions.
struct Pairs<'a> {
    saturated: &'a [u64],
    inside: &'a [usize],
    outside: &'a [usize],
    /// Half-spaces that adjacent rays saturate together, at least.
    needed: usize,
    /// The number of half-spaces.
    borders: usize,
}

/// What to do with an adjacent pair: its numbers, and the half-spaces both saturate.
type Visit<'a> = &'a mut dyn FnMut(usize, usize, &[u64]) -> Result<(), Exceeded>;

impl Pairs<'_> {
    /// Visits all adjacent pairs, in order.
    fn each_adjacent(&self, words: usize, budget: &Budget, visit: Visit<'_>) -> Result<(), Exceeded> {
        match words {
            1 => self.each::<1>(words, budget, visit),
            2 => self.each::<2>(words, budget, visit),
            _ => self.each::<0>(words, budget, visit),
        }
    }

    /// The same for sets of `W` words, which the compiler then knows, or of any number if `W` is 0.
    fn each<const W: usize>(&self, words: usize, budget: &Budget, visit: Visit<'_>) -> Result<(), Exceeded> {
        let words = if W == 0 { words } else { W };
        let of = |index: usize| &self.saturated[index * words..][..words];
        let columns = Columns::new(self.saturated, words, self.borders);
        budget.compare(columns.bits.len() as u64)?;
        let mut common = vec![0; words];
        let mut borders = Vec::with_capacity(self.borders);
        for &i in self.inside {
            let mut comparisons = self.outside.len() as u64;
            for &o in self.outside {
                let mut count = 0;
                for (slot, (a, b)) in common.iter_mut().zip(of(i).iter().zip(of(o))) {
                    *slot = a & b;
                    count += slot.count_ones() as usize;
                }
                if count < self.needed {
                    continue;
                }
                borders.clear();
                members(&common, &mut |border| borders.push(border));
                comparisons += borders.len() as u64;
                // Both of the pair saturate them, so a third makes three.
                if columns.are_at_most_two(&borders) {
                    visit(i, o, &common)?;
                }
            }
            budget.compare(comparisons)?;
        }
        Ok(())
    }
}

/// For each half-space the set of rays that saturate it. A set of half-spaces is small, so the rays
/// that saturate all of them are found with few words, where a look at each ray would take many.
struct Columns {
    bits: Vec<u64>,
    words: usize,
    rays: usize,
}

impl Columns {
    fn new(saturated: &[u64], words: usize, borders: usize) -> Self {
        let rays = saturated.len() / words;
        let own_words = rays.div_ceil(64);
        let mut bits = vec![0; borders * own_words];
        for (ray, row) in saturated.chunks_exact(words).enumerate() {
            members(row, &mut |border| bits[border * own_words + ray / 64] |= 1 << (ray % 64));
        }
        Self { bits, words: own_words, rays }
    }

    /// Whether at most two rays saturate all of the half-spaces.
    #[inline]
    fn are_at_most_two(&self, borders: &[usize]) -> bool {
        let mut found = 0;
        for word in 0..self.words {
            let rest = self.rays - 64 * word;
            let all = if rest < 64 { (1 << rest) - 1 } else { u64::MAX };
            let on_all = borders.iter().fold(all, |on, border| on & self.bits[border * self.words + word]);
            found += on_all.count_ones();
            if found > 2 {
                return false;
            }
        }
        true
    }
}

/// The members of a set given as words, ascending.
#[inline]
fn members(set: &[u64], each: &mut impl FnMut(usize)) {
    for (index, word) in set.iter().enumerate() {
        let mut rest = *word;
        while rest != 0 {
            each(64 * index + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
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
            assert_eq!(cone.add(&row(&halfspace), false, &Budget::unlimited()), Ok(()));
        }
        let mut found = cone.into_converted();
        found.rays.sort();
        let expected = [[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]];
        assert_eq!(found.rays, expected.iter().map(|entries| row(entries)).collect::<Vec<_>>());
        assert!(found.lines.is_empty());
    }

    /// An exceeded limit leaves the cone as it was.
    #[test]
    fn limit() {
        let mut cone = Cone::whole(3);
        for halfspace in [[1, 0, 0], [0, 1, 0], [1, -1, 0], [0, 0, 1]] {
            assert_eq!(cone.add(&row(&halfspace), false, &Budget::new(3, 100)), Ok(()));
        }
        let before = format!("{cone:?}");
        assert_eq!(cone.add(&row(&[1, 0, -1]), false, &Budget::new(3, 100)), Err(Exceeded));
        assert_eq!(format!("{cone:?}"), before);
    }

    /// Where words do not suffice, big integers give what words would have given.
    #[test]
    fn overflow() {
        let large = (1 << 62) + 1;
        let halfspaces =
            [[1, 0, 0], [large, 7 - large, 3], [-large, 5, large - 2], [3, -large, -large], [1, 1, -1]];
        let (mut small, mut big) = (Cone::whole(3), Cone::whole(3));
        if let Numbers::Words(words) = &big.numbers {
            big.numbers = Numbers::Big(words.mapped(|entry| Some(entry.to_integer())).unwrap());
        }
        for halfspace in halfspaces {
            for cone in [&mut small, &mut big] {
                assert_eq!(cone.add(&row(&halfspace), false, &Budget::unlimited()), Ok(()));
            }
        }
        assert!(matches!(small.numbers, Numbers::Big(_)), "the case is meant to overflow");
        assert_eq!(format!("{small:?}"), format!("{big:?}"));
    }
}
