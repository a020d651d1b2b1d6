//! Chernikova's algorithm: from the constraints of a cone to its generators, and back.
//!
//! **Problem.** A polyhedron has two descriptions, by constraints and by generators. The meet is easy with
//! the first, and join and projection with the second. So one must be computed from the other.
//!
//! **Cones.** A polyhedron `{ x | A x + k >= 0 }` is the slice at height 1 of the cone
//! `{ (d, x) | A x + k d >= 0, d >= 0 }`. In a cone, points and rays are the same thing. A cone and its dual
//! have the same form: the half-spaces of one are the generators of the other. So one function serves both
//! directions. In this file half-spaces are the input, and lines and rays are the output. A caller may use it
//! the other way round.
//!
//! **Algorithm** (N. V. Chernikova 1968, in the version of H. Le Verge, "A note on Chernikova's algorithm",
//! 1992; also K. Fukuda and A. Prodon, <https://doi.org/10.1007/3-540-61576-8_77>). Start with the whole
//! space, whose generators are the unit lines, and add the half-spaces one by one:
//!
//! 1. If some line is not parallel to the border of the half-space, turn it to point inside. Slide all other
//!    lines and rays along it into the border. The line itself becomes a ray, or disappears if the half-space
//!    is an equality. So nothing grows. The last such line is taken. Lines begin as units or in echelon form,
//!    and those before it get entries only after their pivots. So they stay in echelon form, and the
//!    minimisation need not restore it, which would cost much with hundreds of dimensions.
//! 2. Otherwise the border separates the rays into those inside, on it, and outside. The rays outside are
//!    dropped, and each pair of *adjacent* rays (one inside, one outside) gives a new ray where the face
//!    between them meets the border. Two rays are adjacent if no third ray saturates all half-spaces that
//!    both saturate. A count of these half-spaces first refutes most pairs.
//!
//! For each ray the set of saturated half-spaces is stored as bits, so adjacency is computed on bits, in
//! [`crate::adjacency`].
//!
//! **Where we differ.** A half-space that cuts nothing off is forgotten at once: the cone only shrinks, so it
//! stays redundant. This keeps the bit rows short and makes the final minimisation ([`crate::minimise`])
//! cheap.
//!
//! **Numbers.** The conversion runs on machine words ([`crate::number`]), with all rows in one piece of
//! memory. If a result does not fit, the whole cone moves to big integers, which do not overflow, and
//! continues from the same state. So an overflow costs time, but never an answer. Temporary memory is reused
//! from step to step ([`Scratch`]): most conversions have a dozen rows, for which allocation would cost more
//! than the computation.
//!
//! **Invariant.** The rays are exactly the extreme rays (modulo the lines) of the cone so far.
//!
//! **Cost.** Each half-space is processed once, so it ends. But the number of rays may grow exponentially
//! with the dimension (a cube has 2^n corners), and one step may compare all pairs with all rays. Hence the
//! limit.

use core::cell::Cell;

use crate::adjacency;
use crate::budget::{Exceeded, RowBudget};
use crate::integer::Integer;
use crate::number::CheckedNumber;

#[derive(Clone)]
pub(crate) enum Cone {
    /// All numbers fit words so far.
    Words(Box<ConeGenerators<i64>>),
    /// Some numbers did not fit.
    Big(Box<ConeGenerators<Integer>>),
}

/// The half-spaces of a cone that cut something off when they were added, its lines and rays, and
/// the half-spaces each ray saturates.
#[derive(Clone)]
pub(crate) struct ConeGenerators<N> {
    pub(crate) width: usize,
    /// Rows of `width` numbers, one after the other, like lines and rays.
    pub(crate) halfspaces: Vec<N>,
    pub(crate) lines: Vec<N>,
    /// The extreme rays, modulo the lines.
    pub(crate) rays: Vec<N>,
    /// For each ray `words` words, whose bits are the half-spaces that it saturates.
    pub(crate) saturated: Vec<u64>,
    pub(crate) words: usize,
    /// The magnitude of all rays, and perhaps of some that were dropped.
    magnitude: u64,
    scratch: Scratch<N>,
}

/// Memory that is reused in each step. Its content means nothing between steps.
#[derive(Clone)]
struct Scratch<N> {
    values: Vec<N>,
    lines: Vec<N>,
    rays: Vec<N>,
    saturated: Vec<u64>,
    inside: Vec<u32>,
    outside: Vec<u32>,
    pairs: Vec<(u32, u32)>,
}

impl<N> Default for Scratch<N> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            lines: Vec::new(),
            rays: Vec::new(),
            saturated: Vec::new(),
            inside: Vec::new(),
            outside: Vec::new(),
            pairs: Vec::new(),
        }
    }
}

/// The number of rows for which memory is allocated at first.
const INITIAL_ROWS: usize = 24;

thread_local! {
    /// The memory of the last conversion on words that was finished in this thread.
    static SPARE: Cell<Option<Box<ConeGenerators<i64>>>> = const { Cell::new(None) };
}

impl Cone {
    pub(crate) fn whole_space(width: usize) -> Self {
        let mut cone = ConeGenerators::take_spare(width);
        cone.lines.resize(width * width, 0);
        (0..width).for_each(|index| cone.lines[index * (width + 1)] = 1);
        Self::Words(cone)
    }

    /// A cone both of whose descriptions are known already; `rays` must be extreme.
    pub(crate) fn from_descriptions<'a, I: Iterator<Item = &'a [Integer]> + Clone>(
        width: usize,
        lines: impl Iterator<Item = &'a [Integer]> + Clone,
        rays: I,
        halfspaces: impl Iterator<Item = &'a [Integer]> + Clone,
    ) -> Self {
        let words = ConeGenerators::take_spare(width);
        if let Some(words) = words.with_descriptions(lines.clone(), rays.clone(), halfspaces.clone()) {
            return Self::Words(words);
        }
        // Big integers never overflow.
        Self::Big(
            Box::new(ConeGenerators::new(width))
                .with_descriptions(lines, rays, halfspaces)
                .unwrap_or_else(|| unreachable!("no number is too large for the integers of any size")),
        )
    }

    /// Keeps the memory for the next conversion in this thread.
    pub(crate) fn recycle(self) {
        // Memory for more numbers than this is not kept.
        if let Self::Words(words) = self
            && words.rays.capacity() + words.scratch.rays.capacity() <= 1 << 14
        {
            SPARE.set(Some(words));
        }
    }

    /// Intersects with the half-space `halfspace . v >= 0`, or the hyperplane `= 0`. Returns whether that
    /// cuts something off.
    /// Errors: the budget does not suffice for the lines and rays, or for the work. Then the cone is
    /// unchanged.
    pub(crate) fn add(
        &mut self,
        halfspace: &[Integer],
        is_equality: bool,
        budget: &RowBudget,
    ) -> Result<bool, Exceeded> {
        loop {
            match self {
                // Without an answer, a number did not fit. Then the loop goes on with big integers.
                Self::Words(words) => {
                    if let Some(cut) = words.add(halfspace, is_equality, budget)? {
                        return Ok(cut);
                    }
                    *self = Self::Big(Box::new(words.to_big()));
                }
                // Big integers never overflow, so there is an answer.
                Self::Big(big) => return Ok(big.add(halfspace, is_equality, budget)?.unwrap_or(true)),
            }
        }
    }

    /// The number of lines and rays.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Words(words) => (words.lines.len() + words.rays.len()) / words.width,
            Self::Big(big) => (big.lines.len() + big.rays.len()) / big.width,
        }
    }

    /// Has some ray a positive first coordinate?
    pub(crate) fn has_point(&self) -> bool {
        match self {
            Self::Words(words) => words.rays.chunks_exact(words.width).any(|ray| ray[0] > 0),
            Self::Big(big) => big.rays.chunks_exact(big.width).any(|ray| ray[0].is_positive()),
        }
    }
}

/// Appends a row. `None`: a number does not fit.
fn push_row<N: CheckedNumber>(row: &[Integer], out: &mut Vec<N>) -> Option<()> {
    for entry in row {
        out.push(N::of_integer(entry)?);
    }
    Some(())
}

impl ConeGenerators<i64> {
    /// Takes generators without rows, in memory that was used before if there is some.
    fn take_spare(width: usize) -> Box<Self> {
        let Some(mut spare) = SPARE.take() else {
            return Box::new(Self::new(width));
        };
        spare.width = width;
        spare.halfspaces.clear();
        spare.lines.clear();
        spare.rays.clear();
        spare.saturated.clear();
        (spare.words, spare.magnitude) = (1, 0);
        spare
    }
}

impl<N: CheckedNumber> ConeGenerators<N> {
    /// Generators without rows.
    fn new(width: usize) -> Self {
        Self {
            width,
            halfspaces: Vec::with_capacity(INITIAL_ROWS * width),
            lines: Vec::with_capacity(width * width),
            rays: Vec::with_capacity(INITIAL_ROWS * width),
            saturated: Vec::with_capacity(INITIAL_ROWS),
            words: 1,
            magnitude: 0,
            scratch: Scratch::default(),
        }
    }

    /// Adds rows to empty generators, and computes which half-spaces each ray saturates. `None`: a number
    /// does not fit.
    fn with_descriptions<'a>(
        mut self: Box<Self>,
        lines: impl Iterator<Item = &'a [Integer]>,
        rays: impl Iterator<Item = &'a [Integer]>,
        halfspaces: impl Iterator<Item = &'a [Integer]>,
    ) -> Option<Box<Self>> {
        let width = self.width;
        let cone = &mut self;
        for row in lines {
            push_row(row, &mut cone.lines)?;
        }
        for row in halfspaces {
            push_row(row, &mut cone.halfspaces)?;
        }
        for row in rays {
            push_row(row, &mut cone.rays)?;
        }
        cone.words = cone.halfspaces.len() / width / 64 + 1;
        cone.magnitude = N::magnitude(&cone.rays);
        cone.saturated.resize(cone.rays.len() / width * cone.words, 0);
        for (index, halfspace) in cone.halfspaces.chunks_exact(width).enumerate() {
            let is_safe = N::is_safe(halfspace, cone.magnitude);
            let saturated = cone.saturated.chunks_exact_mut(cone.words);
            for (ray, saturated) in cone.rays.chunks_exact(width).zip(saturated) {
                let value = if is_safe { N::dot_safe(halfspace, ray) } else { N::dot(halfspace, ray)? };
                if value.signum() == 0 {
                    saturated[index / 64] |= 1 << (index % 64);
                }
            }
        }
        Some(self)
    }

    fn to_big(&self) -> ConeGenerators<Integer> {
        let convert = |numbers: &[N]| numbers.iter().map(N::to_integer).collect();
        ConeGenerators {
            width: self.width,
            halfspaces: convert(&self.halfspaces),
            lines: convert(&self.lines),
            rays: convert(&self.rays),
            saturated: self.saturated.clone(),
            words: self.words,
            // Too large a magnitude is always right, and big integers do not use it.
            magnitude: u64::MAX,
            scratch: Scratch::default(),
        }
    }

    /// Adds one half-space, and returns whether it cuts something off. `None`: a number does not fit, and the
    /// state is as before.
    fn add(
        &mut self,
        halfspace: &[Integer],
        is_equality: bool,
        budget: &RowBudget,
    ) -> Result<Option<bool>, Exceeded> {
        let start = self.halfspaces.len();
        // These are taken out, so that they can be read while the rest changes.
        let mut halfspaces = core::mem::take(&mut self.halfspaces);
        let mut scratch = core::mem::take(&mut self.scratch);
        let result = match push_row(halfspace, &mut halfspaces) {
            Some(()) => {
                let border = start / self.width;
                self.add_row(&halfspaces[start..], is_equality, border, budget, &mut scratch)
            }
            None => Ok(None),
        };
        if result != Ok(Some(true)) {
            halfspaces.truncate(start);
        }
        self.halfspaces = halfspaces;
        self.scratch = scratch;
        result
    }

    /// [`Self::add`] for a row of these numbers. The half-space gets the number `border` if it is kept.
    fn add_row(
        &mut self,
        halfspace: &[N],
        is_equality: bool,
        border: usize,
        budget: &RowBudget,
        scratch: &mut Scratch<N>,
    ) -> Result<Option<bool>, Exceeded> {
        // From the last line on, so that the lines stay in echelon form.
        for index in (0..self.lines.len() / self.width).rev() {
            let Some(value) = N::dot(halfspace, &self.lines[index * self.width..][..self.width]) else {
                return Ok(None);
            };
            if value.signum() != 0 {
                budget.spend(2 * (self.lines.len() + self.rays.len()) / self.width)?;
                let split = self.split_line(halfspace, is_equality, border, (index, value), scratch);
                return Ok(split.map(|()| true));
            }
        }
        self.split_rays(halfspace, is_equality, border, budget, scratch)
    }

    /// Makes room for the bit of a new half-space.
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

    /// Step 1: the line at `index` crosses the border. `value` is its product with the half-space. `None`: a
    /// number does not fit, and nothing has changed.
    fn split_line(
        &mut self,
        halfspace: &[N],
        is_equality: bool,
        border: usize,
        (index, mut value): (usize, N),
        scratch: &mut Scratch<N>,
    ) -> Option<()> {
        let width = self.width;
        let line = &mut scratch.values;
        line.clear();
        let crossing = &self.lines[index * width..][..width];
        if value.signum() < 0 {
            for entry in crossing {
                line.push(entry.negated()?);
            }
            value = value.negated()?;
        } else {
            line.extend_from_slice(crossing);
        }
        // Slides a row along the line into the border: `row - (row_value / value) * line`, as integers.
        let slide = |row: &[N], out: &mut Vec<N>| -> Option<()> {
            let row_value = N::dot(halfspace, row)?;
            if row_value.signum() == 0 {
                out.extend_from_slice(row);
                return Some(());
            }
            let (factor, line_factor) = N::coprime(&value, &row_value)?;
            N::combine(&factor, row, &line_factor.negated()?, line, out)
        };
        let lines = &mut scratch.lines;
        lines.clear();
        for row in self.lines[..index * width].chunks_exact(width) {
            slide(row, lines)?;
        }
        // Lines after `index` are parallel to the border already.
        lines.extend_from_slice(&self.lines[(index + 1) * width..]);
        let rays = &mut scratch.rays;
        rays.clear();
        for row in self.rays.chunks_exact(width) {
            slide(row, rays)?;
        }
        self.widen_saturation(border);
        for saturated in self.saturated.chunks_exact_mut(self.words) {
            saturated[border / 64] |= 1 << (border % 64);
        }
        if !is_equality {
            rays.extend_from_slice(line);
            // All half-spaces before are parallel to the line.
            let saturates_all_before = (0..self.words).map(|word| match border.saturating_sub(64 * word) {
                0 => 0,
                bits @ 1..64 => (1 << bits) - 1,
                _ => u64::MAX,
            });
            self.saturated.extend(saturates_all_before);
        }
        core::mem::swap(&mut self.lines, lines);
        core::mem::swap(&mut self.rays, rays);
        self.magnitude = N::magnitude(&self.rays);
        Some(())
    }

    /// Step 2 of [`Self::add`]: all lines are parallel to the border, which separates the rays.
    fn split_rays(
        &mut self,
        halfspace: &[N],
        is_equality: bool,
        border: usize,
        budget: &RowBudget,
        scratch: &mut Scratch<N>,
    ) -> Result<Option<bool>, Exceeded> {
        let width = self.width;
        let (line_count, ray_count) = (self.lines.len() / width, self.rays.len() / width);
        budget.spend(line_count + ray_count)?;
        scratch.values.clear();
        scratch.inside.clear();
        scratch.outside.clear();
        let is_safe = N::is_safe(halfspace, self.magnitude);
        for (index, ray) in self.rays.chunks_exact(width).enumerate() {
            let value = if is_safe { Some(N::dot_safe(halfspace, ray)) } else { N::dot(halfspace, ray) };
            let Some(value) = value else {
                return Ok(None);
            };
            match value.signum() {
                1 => scratch.inside.push(row_number(index)),
                -1 => scratch.outside.push(row_number(index)),
                _ => {}
            }
            scratch.values.push(value);
        }
        // Nothing is cut off, so the half-space is forgotten.
        if scratch.outside.is_empty() && (!is_equality || scratch.inside.is_empty()) {
            return Ok(Some(false));
        }
        let dropped = scratch.outside.len() + if is_equality { scratch.inside.len() } else { 0 };
        let kept = line_count + ray_count - dropped;
        self.widen_saturation(border);
        let search = adjacency::Search {
            saturated: &self.saturated,
            words: self.words,
            borders: border,
            inside: &scratch.inside,
            outside: &scratch.outside,
            // Adjacent rays span a face of dimension 2 (above the lines), which lies on as many half-spaces.
            needed: width.saturating_sub(line_count + 2),
        };
        scratch.pairs.clear();
        adjacency::find_adjacent(&search, &mut scratch.pairs, budget, |pairs| {
            budget.hold(kept + pairs, width)
        })?;
        budget.hold(kept + scratch.pairs.len(), width)?;
        budget.spend(scratch.pairs.len())?;
        scratch.rays.clear();
        scratch.saturated.clear();
        for &(inner, outer) in &scratch.pairs {
            let (inner, outer) = (inner as usize, outer as usize);
            let [inner_ray, outer_ray] = [inner, outer].map(|ray| &self.rays[ray * width..][..width]);
            // Both factors are positive: the value of the outer ray is negative.
            let new_ray = N::coprime(&scratch.values[inner], &scratch.values[outer])
                .and_then(|(a, b)| N::combine(&a, outer_ray, &b.negated()?, inner_ray, &mut scratch.rays));
            if new_ray.is_none() {
                return Ok(None);
            }
            // The new ray saturates what both saturate, and the border.
            let start = scratch.saturated.len();
            let [a, b] = [inner, outer].map(|ray| &self.saturated[ray * self.words..][..self.words]);
            scratch.saturated.extend(a.iter().zip(b).map(|(a, b)| a & b));
            scratch.saturated[start + border / 64] |= 1 << (border % 64);
        }
        self.magnitude |= N::magnitude(&scratch.rays);
        self.keep_rays(&scratch.values, is_equality, border);
        self.rays.append(&mut scratch.rays);
        self.saturated.extend_from_slice(&scratch.saturated);
        Ok(Some(true))
    }

    /// Drops the rays outside (for an equality, also those inside) and marks those on the border.
    fn keep_rays(&mut self, values: &[N], is_equality: bool, border: usize) {
        let (width, words) = (self.width, self.words);
        // Rays that are kept move up to the place `end`.
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

/// The number of a row in fewer bits. A cone of so many rows does not fit any memory.
fn row_number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or_else(|_| unreachable!("a cone of four thousand million rows"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Account;
    use crate::row::{self, Row};

    fn row(entries: &[i64]) -> Vec<Integer> {
        entries.iter().map(|&entry| Integer::from(entry)).collect()
    }

    /// The whole state as text, without the temporary memory.
    fn state_text<N: CheckedNumber>(cone: &ConeGenerators<N>) -> String {
        let written = |numbers: &[N]| numbers.iter().map(|n| n.to_integer().to_string()).collect::<Vec<_>>();
        let rows = [&cone.halfspaces, &cone.lines, &cone.rays].map(|rows| written(rows));
        format!("{rows:?} {:?}", cone.saturated)
    }

    /// The homogenised square [0,1]^2 has four corners and needs no positivity of the height.
    #[test]
    fn square() {
        let mut cone = Cone::whole_space(3);
        for halfspace in [[1, 0, 0], [0, 1, 0], [1, -1, 0], [0, 0, 1], [1, 0, -1]] {
            assert_eq!(cone.add(&row(&halfspace), false, &RowBudget::unlimited()), Ok(true));
        }
        let Cone::Words(found) = cone else { panic!("the numbers are small") };
        let mut rays: Vec<&[i64]> = found.rays.chunks_exact(3).collect();
        rays.sort_unstable();
        assert_eq!(rays, [[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]]);
        assert!(found.lines.is_empty());
    }

    /// An exceeded limit leaves the cone as it was.
    #[test]
    fn limit() {
        let mut cone = Cone::whole_space(3);
        for halfspace in [[1, 0, 0], [0, 1, 0], [1, -1, 0], [0, 0, 1]] {
            assert_eq!(cone.add(&row(&halfspace), false, &RowBudget::new(3, 100)), Ok(true));
        }
        let state = |cone: &Cone| match cone {
            Cone::Words(words) => state_text(words),
            Cone::Big(big) => state_text(big),
        };
        let before = state(&cone);
        assert_eq!(cone.add(&row(&[1, 0, -1]), false, &RowBudget::new(3, 100)), Err(Exceeded));
        assert_eq!(state(&cone), before);
    }

    /// Sums of all dimensions, each of which some line crosses. The other lines stay in echelon form.
    #[test]
    fn lines_stay_in_echelon_form() {
        let width: usize = 40;
        let mut cone = Cone::whole_space(width);
        // No pivot is searched in entry 0, the height.
        for least in [0, 1, 3, 7] {
            let most = if least == 0 { 1 } else { width };
            let entry = |at: usize| if (least..most).contains(&at) { at as i64 % 5 + 1 } else { 0 };
            let sum: Vec<i64> = (0..width).map(entry).collect();
            assert_eq!(cone.add(&row(&sum), false, &RowBudget::unlimited()), Ok(true));
        }
        let Cone::Words(found) = cone else { panic!("the numbers are small") };
        let lines: Vec<Row> = found.lines.chunks_exact(width).map(row).map(Row::from_vec).collect();
        let mut account = Account::default();
        let before = account.left;
        let again = account.within(|| row::echelon(lines.clone()));
        assert_eq!(before - account.left, 0);
        assert_eq!(again.len(), width - 4);
    }

    /// Where words do not suffice, big integers give what words would have given.
    #[test]
    fn overflow() {
        let large = (1 << 62) + 1;
        let halfspaces =
            [[1, 0, 0], [large, 7 - large, 3], [-large, 5, large - 2], [3, -large, -large], [1, 1, -1]];
        let mut small = Cone::whole_space(3);
        let Cone::Words(words) = &small else { panic!("it starts with words") };
        let mut big = words.to_big();
        for halfspace in halfspaces {
            assert_eq!(small.add(&row(&halfspace), false, &RowBudget::unlimited()), Ok(true));
            assert_eq!(big.add(&row(&halfspace), false, &RowBudget::unlimited()), Ok(Some(true)));
        }
        let Cone::Big(small) = &small else { panic!("the case is meant to overflow") };
        assert_eq!(state_text(small), state_text(&big));
    }
}
