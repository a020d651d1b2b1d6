//! Finds the adjacent rays of a cone on the two sides of a border: most of the work of a conversion.
//!
//! **Problem.** A new half-space cuts each edge between a ray inside and a ray outside, so exactly the
//! adjacent pairs must be found. Two extreme rays are adjacent exactly when no third ray saturates all
//! half-spaces that both saturate (K. Fukuda and A. Prodon, <https://doi.org/10.1007/3-540-61576-8_77>).
//!
//! **Algorithm.** For a ray on one side, all rays on the other side are candidates. Three tests refute them,
//! the cheapest first:
//!
//! 1. *Counting.* An edge of a cone of dimension d lies on at least d - 2 half-spaces. For each half-space
//!    there is a *column*, the set of rays on it as bits. The columns of the ray's half-spaces are processed
//!    one after the other, for 64 candidates at a time. There is a mask for each number of columns that a
//!    candidate may have missed so far. (A candidate has missed at most j + 1 columns after a column if it
//!    had missed at most j before, or at most j + 1 and is on this column.) If a ray lies on many more than d
//!    - 2 half-spaces, this test refutes little, and is left out.
//! 2. *Refuters of other candidates.* A third ray refutes a candidate if it saturates all half-spaces that
//!    the ray and the candidate both saturate. A refuter mostly refutes many candidates. So the half-spaces
//!    that the last few refuters share with the ray are kept, the most recently useful first. Candidates that
//!    were found adjacent are kept as refuters too.
//! 3. *Intersection* of the columns of all half-spaces that both saturate. If it has a third ray, this
//!    becomes a refuter.
//!
//! **Where we differ.** The count is usual (it is the "quick adjacency test" of other libraries), but for one
//! pair at a time, which costs more than everything else. With masks it is a fraction of an instruction for
//! each pair. These instructions are fast on every processor, also where counting bits is slow. And other
//! libraries search the third ray anew for each pair.
//!
//! **Cost.** For each ray on the smaller side: its half-spaces, times the words of a set of rays, times one
//! more than the number that may be missed. For each remaining candidate: a few words or, if no kept refuter
//! refutes it, the half-spaces that both saturate times the words of a set of rays. The budget is charged
//! after each ray. Up to 64 rays a column is one word, and all columns are on the stack.

use smallvec::SmallVec;

use crate::budget::{Exceeded, RowBudget};

pub(crate) struct Search<'a> {
    /// For each ray `words` words, whose bits are the half-spaces that it saturates.
    pub(crate) saturated: &'a [u64],
    pub(crate) words: usize,
    pub(crate) borders: usize,
    /// The rays on this side of the new border.
    pub(crate) inside: &'a [u32],
    /// The rays on the other side.
    pub(crate) outside: &'a [u32],
    /// The least number of half-spaces that adjacent rays saturate together.
    pub(crate) needed: usize,
}

/// The most refuters that are kept.
const MOST_REFUTERS: usize = 24;

/// If a candidate may miss more columns than this, misses are not counted.
const MOST_COUNTED: usize = 6;

/// Appends all adjacent pairs, the ray inside first, in an order that depends only on the search. `hold`
/// checks now and then whether so many pairs may be held.
/// Errors: the budget is used up, or `hold` fails.
pub(crate) fn find_adjacent(
    search: &Search<'_>,
    pairs: &mut Vec<(u32, u32)>,
    budget: &RowBudget,
    hold: impl Fn(usize) -> Result<(), Exceeded>,
) -> Result<(), Exceeded> {
    if search.words == 1 && search.saturated.len() <= 64 {
        return adjacent_few(search, pairs, budget);
    }
    match search.words {
        1 => adjacent_many::<1>(search, pairs, budget, hold),
        2 => adjacent_many::<2>(search, pairs, budget, hold),
        3 | 4 => adjacent_many::<4>(search, pairs, budget, hold),
        5..=8 => adjacent_many::<8>(search, pairs, budget, hold),
        9..=16 => adjacent_many::<16>(search, pairs, budget, hold),
        _ => adjacent_by_intersection(search, pairs, budget, hold),
    }
}

/// Finds the adjacent pairs of at most 64 rays with at most 64 half-spaces.
fn adjacent_few(
    search: &Search<'_>,
    pairs: &mut Vec<(u32, u32)>,
    budget: &RowBudget,
) -> Result<(), Exceeded> {
    let mut columns = [0_u64; 64];
    for (ray, &set) in search.saturated.iter().enumerate() {
        visit_members(0, set, &mut |border| columns[border] |= 1 << ray);
    }
    budget.compare(search.borders as u64)?;
    let rays = search.saturated.len();
    let all_rays = if rays < 64 { (1 << rays) - 1 } else { u64::MAX };
    let outside = search.outside.iter().fold(0_u64, |set, &ray| set | 1 << ray);
    // Rays, each with the half-spaces that it shares with the ray inside.
    let mut refuters = [(0, 0_u64); MOST_REFUTERS];
    for &inner in search.inside {
        let own_borders = search.saturated[inner as usize];
        let own_count = own_borders.count_ones() as usize;
        let Some(may_miss) = own_count.checked_sub(search.needed) else { continue };
        let mut work = own_count as u64;
        // Test 1, with one mask for each number of misses.
        let candidates = match may_miss {
            0 => intersect_columns(&columns, own_borders, outside),
            1 => {
                let (mut none, mut one) = (outside, outside);
                visit_members(0, own_borders, &mut |border| {
                    one = (one & columns[border]) | none;
                    none &= columns[border];
                });
                one
            }
            // With more misses, the test would refute little.
            _ => outside,
        };
        let mut refuter_count = 0;
        visit_members(0, candidates, &mut |outer| {
            let common = own_borders & search.saturated[outer];
            work += 1;
            // Test 2. A kept ray does not refute itself: it may be adjacent.
            let refutes = |&(ray, shared): &(usize, u64)| common & !shared == 0 && ray != outer;
            if refuters[..refuter_count].iter().any(refutes) {
                return;
            }
            work += own_count as u64;
            // Test 3. Both rays of the pair are in the intersection, so they are left out.
            let third = intersect_columns(&columns, common, all_rays & !(1 << inner) & !(1 << outer));
            let refuter = if third == 0 {
                pairs.push((inner, outer as u32));
                (outer, common)
            } else {
                let third = third.trailing_zeros() as usize;
                (third, own_borders & search.saturated[third])
            };
            if refuter_count < refuters.len() {
                refuters[refuter_count] = refuter;
                refuter_count += 1;
            }
        });
        budget.compare(work)?;
    }
    Ok(())
}

/// The rays of `start` that lie on all of the half-spaces.
#[inline]
fn intersect_columns(columns: &[u64; 64], borders: u64, start: u64) -> u64 {
    let mut on_all = start;
    visit_members(0, borders, &mut |border| on_all &= columns[border]);
    on_all
}

/// A set of half-spaces, in words. Its length is a constant, so that loops over it are unrolled.
type WordSet<const W: usize> = [u64; W];

#[inline]
fn common<const W: usize>(a: &WordSet<W>, b: &WordSet<W>) -> WordSet<W> {
    core::array::from_fn(|word| a[word] & b[word])
}

#[inline]
fn is_within<const W: usize>(smaller: &WordSet<W>, larger: &WordSet<W>) -> bool {
    let mut beyond = 0;
    for word in 0..W {
        beyond |= smaller[word] & !larger[word];
    }
    beyond == 0
}

/// Finds the adjacent pairs of any number of rays with at most `64 W` half-spaces.
fn adjacent_many<const W: usize>(
    search: &Search<'_>,
    pairs: &mut Vec<(u32, u32)>,
    budget: &RowBudget,
    hold: impl Fn(usize) -> Result<(), Exceeded>,
) -> Result<(), Exceeded> {
    let mut sets: Vec<WordSet<W>> = Vec::with_capacity(search.saturated.len() / search.words);
    for row in search.saturated.chunks_exact(search.words) {
        let mut set = [0; W];
        set[..row.len()].copy_from_slice(row);
        sets.push(set);
    }
    let columns = Columns::new(search);
    budget.compare(columns.bits.len() as u64)?;
    let is_swapped = search.outside.len() < search.inside.len();
    let (smaller_side, larger_side) =
        if is_swapped { (search.outside, search.inside) } else { (search.inside, search.outside) };
    let mut is_on_larger_side = vec![0_u64; columns.words];
    larger_side.iter().for_each(|&ray| is_on_larger_side[ray as usize / 64] |= 1 << (ray % 64));
    let (mut own_borders, mut common_borders) =
        (Vec::with_capacity(search.borders), Vec::with_capacity(search.borders));
    // The refuters, each with the half-spaces that it shares with the ray.
    let mut kept: Vec<(u32, WordSet<W>)> = Vec::with_capacity(MOST_REFUTERS);
    for &ray in smaller_side {
        let of_ray = sets[ray as usize];
        own_borders.clear();
        visit_set(&of_ray, &mut |border| own_borders.push(border));
        let Some(may_miss) = own_borders.len().checked_sub(search.needed) else { continue };
        kept.clear();
        let mut work = 0;
        let mut test = |other: u32| {
            let of_pair = common(&of_ray, &sets[other as usize]);
            // A kept ray does not refute itself: it may be adjacent.
            let refutes = |(of, set): &(u32, WordSet<W>)| is_within(&of_pair, set) && *of != other;
            if let Some(at) = kept.iter().position(refutes) {
                // A refuter that was useful now is probably useful for the next candidate, so it moves
                // forward.
                kept.swap(at, at / 2);
                work += W * (at + 1);
                return;
            }
            common_borders.clear();
            visit_set(&of_pair, &mut |border| common_borders.push(border));
            let (third, words_read) = columns.find_third(&common_borders, ray, other);
            work += W * kept.len() + words_read * common_borders.len();
            if third.is_none() {
                pairs.push(if is_swapped { (other, ray) } else { (ray, other) });
            }
            let refuter = third.unwrap_or(other);
            if kept.len() == MOST_REFUTERS {
                kept.pop();
            }
            kept.push((refuter, common(&of_ray, &sets[refuter as usize])));
        };
        if may_miss <= MOST_COUNTED {
            columns
                .visit_on_most(&own_borders, &is_on_larger_side, may_miss, &mut |other| test(other as u32));
            work += own_borders.len() * columns.words * (may_miss + 1);
        } else {
            larger_side.iter().for_each(|&other| test(other));
        }
        budget.compare(work as u64)?;
        hold(pairs.len())?;
    }
    Ok(())
}

/// Finds the adjacent pairs of any number of rays and half-spaces, by a count for each pair and test 3.
fn adjacent_by_intersection(
    search: &Search<'_>,
    pairs: &mut Vec<(u32, u32)>,
    budget: &RowBudget,
    hold: impl Fn(usize) -> Result<(), Exceeded>,
) -> Result<(), Exceeded> {
    let columns = Columns::new(search);
    budget.compare(columns.bits.len() as u64)?;
    let saturated_by = |ray: u32| &search.saturated[ray as usize * search.words..][..search.words];
    let mut common_borders = Vec::new();
    for &inner in search.inside {
        let mut work = 0;
        for &outer in search.outside {
            common_borders.clear();
            for (index, (a, b)) in saturated_by(inner).iter().zip(saturated_by(outer)).enumerate() {
                visit_members(index, a & b, &mut |border| common_borders.push(border));
            }
            work += search.words;
            if common_borders.len() < search.needed {
                continue;
            }
            let (third, words_read) = columns.find_third(&common_borders, inner, outer);
            work += words_read * common_borders.len();
            if third.is_none() {
                pairs.push((inner, outer));
            }
        }
        budget.compare(work as u64)?;
        hold(pairs.len())?;
    }
    Ok(())
}

/// For each half-space the set of rays that saturate it.
pub(crate) struct Columns {
    pub(crate) bits: SmallVec<[u64; 32]>,
    pub(crate) words: usize,
    rays: usize,
}

impl Columns {
    pub(crate) fn new(search: &Search<'_>) -> Self {
        Self::of_rows(search.saturated, search.words, search.borders)
    }

    /// Computes the columns of rays, which are given by the half-spaces that each saturates, in `row_words`
    /// words each.
    pub(crate) fn of_rows(saturated: &[u64], row_words: usize, borders: usize) -> Self {
        let rays = saturated.len() / row_words;
        let words = rays.div_ceil(64);
        let mut bits = SmallVec::from_elem(0, borders * words);
        for (ray, row) in saturated.chunks_exact(row_words).enumerate() {
            visit_set(row, &mut |border| bits[border * words + ray / 64] |= 1 << (ray % 64));
        }
        Self { bits, words, rays }
    }

    /// The rays on a half-space.
    pub(crate) fn of(&self, border: usize) -> &[u64] {
        &self.bits[border * self.words..][..self.words]
    }

    /// This word of the set of all rays.
    fn all(&self, word: usize) -> u64 {
        let rest = self.rays - 64 * word;
        if rest < 64 { (1 << rest) - 1 } else { u64::MAX }
    }

    /// Visits the rays of `of` that lie on all but at most `may_miss` of the half-spaces.
    #[inline]
    fn visit_on_most(&self, borders: &[usize], of: &[u64], may_miss: usize, visit: &mut impl FnMut(usize)) {
        match may_miss {
            0 => self.visit_below::<1>(borders, of, visit),
            1 => self.visit_below::<2>(borders, of, visit),
            2 => self.visit_below::<3>(borders, of, visit),
            3 => self.visit_below::<4>(borders, of, visit),
            4 => self.visit_below::<5>(borders, of, visit),
            5 => self.visit_below::<6>(borders, of, visit),
            _ => self.visit_below::<{ MOST_COUNTED + 1 }>(borders, of, visit),
        }
    }

    /// Visits the rays of `of` that miss fewer than `M` of the half-spaces.
    fn visit_below<const M: usize>(&self, borders: &[usize], of: &[u64], visit: &mut impl FnMut(usize)) {
        for (word, &some) in of.iter().enumerate().filter(|(_, some)| **some != 0) {
            // Bit r of mask j says that ray r has missed at most j.
            let mut masks = [some; M];
            for &border in borders {
                count_misses(&mut masks, self.bits[border * self.words + word]);
                if masks[M - 1] == 0 {
                    break;
                }
            }
            visit_members(word, masks[M - 1], visit);
        }
    }

    /// Finds a ray other than two given ones that lies on all of the half-spaces. Also returns how many words
    /// were read.
    #[inline]
    fn find_third(&self, borders: &[usize], a: u32, b: u32) -> (Option<u32>, usize) {
        for word in 0..self.words {
            let mut on_all = self.all(word);
            for given in [a as usize, b as usize] {
                if given / 64 == word {
                    on_all &= !(1 << (given % 64));
                }
            }
            for &border in borders {
                on_all &= self.bits[border * self.words + word];
                if on_all == 0 {
                    break;
                }
            }
            if on_all != 0 {
                return (Some(64 * word as u32 + on_all.trailing_zeros()), word + 1);
            }
        }
        (None, self.words)
    }
}

/// Processes one more column: the candidates that are not on it have missed one more.
#[inline]
fn count_misses(masks: &mut [u64], on: u64) {
    let mut fewer = 0;
    for mask in masks {
        let before = *mask;
        *mask = (before & on) | fewer;
        fewer = before;
    }
}

/// Visits the members of a set, in ascending order.
#[inline]
fn visit_set(set: &[u64], each: &mut impl FnMut(usize)) {
    for (index, &word) in set.iter().enumerate() {
        visit_members(index, word, each);
    }
}

/// Visits the members of a set that are in its word at `index`, in ascending order.
#[inline]
fn visit_members(index: usize, word: u64, each: &mut impl FnMut(usize)) {
    let mut rest = word;
    while rest != 0 {
        each(64 * index + rest.trailing_zeros() as usize);
        rest &= rest - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds the adjacent pairs by the definition, and the least number of half-spaces that such a pair
    /// shares.
    fn pairs_by_definition(search: &Search<'_>) -> (Vec<(u32, u32)>, usize) {
        let of = |ray: u32| &search.saturated[ray as usize * search.words..][..search.words];
        let rays = u32::try_from(search.saturated.len() / search.words).unwrap_or(0);
        let (mut pairs, mut fewest) = (Vec::new(), search.borders);
        for &i in search.inside {
            for &o in search.outside {
                let common: Vec<u64> = of(i).iter().zip(of(o)).map(|(a, b)| a & b).collect();
                let count: u32 = common.iter().map(|word| word.count_ones()).sum();
                let is_on_all = |ray: &u32| of(*ray).iter().zip(&common).all(|(a, b)| a & b == *b);
                if (0..rays).filter(is_on_all).count() == 2 {
                    pairs.push((i, o));
                    fewest = fewest.min(count as usize);
                }
            }
        }
        (pairs, fewest)
    }

    /// Random incidences, with few and with many rays and half-spaces, and every number that may be missed.
    #[test]
    fn masks_find_what_the_definition_says() {
        let mut state = 1_u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        let mut found = 0;
        for case in 0..400_u64 {
            let rays = [3, 9, 40, 64, 65, 130, 200][(case % 7) as usize];
            let borders = [5, 12, 64, 65, 140, 300, 1050][(case / 7 % 7) as usize];
            let words = borders / 64 + 1;
            let density = 2 + below(5);
            let mut saturated = vec![0_u64; rays * words];
            for ray in 0..rays {
                for border in (0..borders).filter(|_| below(8) < density) {
                    saturated[ray * words + border / 64] |= 1 << (border % 64);
                }
            }
            let mut sides: [Vec<u32>; 3] = Default::default();
            (0..rays as u32).for_each(|ray| sides[below(3) as usize].push(ray));
            let (inside, outside) = (&sides[0], &sides[1]);
            let mut search = Search { saturated: &saturated, words, borders, inside, outside, needed: 0 };
            let (expected, fewest) = pairs_by_definition(&search);
            search.needed = fewest - below(fewest.min(9) as u64 + 1) as usize;
            found += expected.len();
            let mut pairs = Vec::new();
            assert_eq!(find_adjacent(&search, &mut pairs, &RowBudget::unlimited(), |_| Ok(())), Ok(()));
            pairs.sort_unstable();
            assert_eq!(pairs, expected, "{rays} rays, {borders} half-spaces, {} needed", search.needed);
        }
        assert!(found > 1000, "only {found} pairs");
    }
}
