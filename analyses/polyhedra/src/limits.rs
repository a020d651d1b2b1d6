//! Limits: a result in bounded space and work, exact or coarser, and saying which.
//!
//! The number of generators of a polyhedron may be exponential in the number of its constraints
//! and conversely, and joins do explode in practice. A caller that cannot wait gives a number of
//! rows and an amount of work, counted and not timed ([`crate::budget`]), so that a result never
//! depends on the machine. Where they do not suffice,
//!
//! * a block becomes what is known of it, step by step: the bounds of all dimensions, whatever is left to
//!   spend; the bounds of sums and differences of two; then the constraints that it was made from. What
//!   would need too much is left out. Where generators are known, evaluation finds the bounds; where
//!   constraints are, a linear program does ([`crate::simplex`]). In the worst case a box is left, whose
//!   dimensions are one block each and need next to nothing;
//! * a join first keeps what the blocks have in common, then joins related blocks pair by pair (a
//!   product around the hull of products). Where that is too much as well, the steps are those above, with
//!   the constraints of either side that the other satisfies; and octagonal bounds across blocks are
//!   added, while a small part of the limits lasts.
//!
//! **Bounds.** So no bound of a single dimension is ever lost, except by a widening. That may only leave out
//! constraints: if it added bounds that follow from several of them, it might never end.
//!
//! **Exactness.** The result may be exact all the same: if each constraint that was to be kept holds, or if
//! each corner belongs to one of the arguments.
//!
//! **Stopping early.** The hull of two products that differ in several blocks relates all of these blocks. It
//! is tried within a part of the limits. It is not tried if a product has too many corners, which are counted
//! before any is made: the hull is cheap if a fixpoint iteration changes a few variables, and otherwise it
//! explodes. An octagonal bound across two blocks is the sum of two bounds that the blocks have. It follows
//! from these unless one argument has the wider range of one variable, and the other argument has the wider
//! range of the other variable. So nothing is evaluated over pairs, and few pairs are tried.
//!
//! All contain the exact result, so an over-approximating analysis stays sound.
//!
//! **Why it ends.** There are finitely many candidates, each tried once, and each try stops when the
//! budget is used up. An operation has a fixed number of them: for each argument, for the exact result,
//! for the product around it, and what is added to that. The bounds of dimensions have none: that is an
//! evaluation, or a linear program, for each.

use std::collections::BTreeSet;

use crate::budget::{Exceeded, RowBudget};
use crate::dense::Dense;
use crate::dual::{Generator, Kind};
use crate::integer::Integer;
use crate::lattice::{self, Differing, Joined};
use crate::linear::{Constraint, LinearExpression, Relation};
use crate::partition::UnionFind;
use crate::polyhedron::{self, Block, Polyhedron};
use crate::query::{Bounds, RangeBound};
use crate::row;
use crate::simplex::LinearProgram;

/// The octagonal bounds of blocks whose own join exceeds the limits get one part in this many of the work.
const OCTAGONAL: u64 = 8;

/// Limits of one operation: rows, numbers and work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationLimits {
    /// Lines, rays and corners that one block of a result may have, and rows of the computed side
    /// that its conversion may hold at one time. The block's dimensions plus one are always allowed,
    /// as nothing can be represented by fewer.
    pub rows: usize,
    /// Row operations: dot products and combinations of rows, of which a few million take about a
    /// second. Each of a few parts of one operation may use so many.
    pub work: u64,
}

impl Default for OperationLimits {
    /// Enough for all but exploding cases, and little enough to end within about a second. It is the work
    /// that ends; the rows keep memory within some tens of megabytes (a sheared cube of 13 dimensions has
    /// 8192).
    fn default() -> Self {
        Self { rows: 20_000, work: 2_000_000 }
    }
}

impl OperationLimits {
    pub(crate) fn budget(&self) -> RowBudget {
        RowBudget::new(self.rows, self.work)
    }
}

/// A result together with whether it is exact.
#[derive(Clone, Debug)]
pub enum Approx {
    /// The result.
    Exact(Polyhedron),
    /// A polyhedron that contains the result, which exceeded the limits.
    Coarser(Polyhedron),
}

impl Approx {
    /// The polyhedron, exact or coarser.
    pub fn into_polyhedron(self) -> Polyhedron {
        match self {
            Self::Exact(polyhedron) | Self::Coarser(polyhedron) => polyhedron,
        }
    }

    /// The polyhedron, exact or coarser.
    pub fn polyhedron(&self) -> &Polyhedron {
        match self {
            Self::Exact(polyhedron) | Self::Coarser(polyhedron) => polyhedron,
        }
    }

    /// Whether nothing was lost.
    pub fn is_exact(&self) -> bool {
        matches!(self, Self::Exact(_))
    }

    pub(crate) fn of(polyhedron: Polyhedron, is_exact: bool) -> Self {
        if is_exact { Self::Exact(polyhedron) } else { Self::Coarser(polyhedron) }
    }
}

impl Polyhedron {
    /// The polyhedron with both descriptions computed, so that questions about it are cheap, or a
    /// coarser one for which the limits suffice.
    pub fn convert_limited(&self, limits: &OperationLimits) -> Approx {
        self.convert_or_replace(limits, &coarsen_block)
    }

    /// [`Polyhedron::widen_with_thresholds`] with both descriptions computed, or some of its constraints: a
    /// chain of these ends too.
    pub fn widen_limited(&self, other: &Self, thresholds: &[Constraint], limits: &OperationLimits) -> Approx {
        let some_of = |block: &Dense, budget: &RowBudget| {
            let own = block.some_constraints().cloned().collect();
            Approx::Coarser(narrow_by_candidates(&Self::universe(block.dimensions()), own, budget))
        };
        self.widen_with_thresholds(other, thresholds).convert_or_replace(limits, &some_of)
    }

    /// Converts the blocks, and replaces each that does not fit the limits by what `around` makes of it.
    fn convert_or_replace(
        &self,
        limits: &OperationLimits,
        around: &dyn Fn(&Dense, &RowBudget) -> Approx,
    ) -> Approx {
        let dimensions = self.dimensions();
        let Some(blocks) = self.raw() else {
            return Approx::Exact(self.clone());
        };
        let budget = limits.budget();
        let (mut ready, mut exceeding) = (Vec::new(), Vec::new());
        for block in blocks {
            match block.body.dual_within(&budget) {
                Ok(None) => return Approx::Exact(Self::empty(dimensions)),
                Ok(Some(_)) => ready.push(block.clone()),
                Err(Exceeded) => exceeding.push(block),
            }
        }
        if exceeding.is_empty() {
            return Approx::Exact(self.clone());
        }
        // What replaces the blocks has a budget of its own, since theirs may be used up.
        let budget = limits.budget();
        let mut is_exact = true;
        for block in exceeding {
            let around = around(&block.body, &budget);
            is_exact &= around.is_exact();
            let Some(blocks) = around.polyhedron().raw() else {
                // These are fewer constraints than the block has, and they are already unsatisfiable.
                return Approx::Exact(Self::empty(dimensions));
            };
            ready.extend(blocks.iter().map(|part| Block {
                dimensions: part.dimensions.iter().map(|&at| block.dimensions[at]).collect(),
                body: part.body.clone(),
            }));
        }
        Approx::of(Self::of_blocks(dimensions, ready), is_exact)
    }

    /// The intersection with both descriptions computed within the limits, or a polyhedron around it.
    pub fn meet_limited(&self, other: &Self, limits: &OperationLimits) -> Approx {
        let (a, b) = (self.convert_limited(limits), other.convert_limited(limits));
        let is_exact = a.is_exact() && b.is_exact();
        let met = a.polyhedron().meet(b.polyhedron()).convert_limited(limits);
        Approx::of(met.polyhedron().clone(), is_exact && met.is_exact())
    }

    /// The join, or a polyhedron around it.
    pub fn join_limited(&self, other: &Self, limits: &OperationLimits) -> Approx {
        self.assert_same_space(other);
        if self.is_same_object(other) {
            return self.convert_limited(limits);
        }
        let (a, b) = (self.convert_limited(limits), other.convert_limited(limits));
        let is_exact = a.is_exact() && b.is_exact();
        let (a, b) = (a.into_polyhedron(), b.into_polyhedron());
        let budget = limits.budget();
        // Few rows and little work, because every later operation pays for the blocks that are merged here.
        let coupled = RowBudget::new(limits.rows / 80, limits.work / 64);
        if let Ok(joined) = a.join_within(&b, &budget, &coupled)
            && joined.duals_unless_empty_within(&budget).is_ok()
        {
            return Approx::of(joined, is_exact);
        }
        let around = around_join(&a, &b, limits);
        let is_join = is_exact
            && are_all_generators(&around, &coupled, |one| has_generator(&a, one) || has_generator(&b, one));
        Approx::of(around, is_join)
    }
}

/// A polyhedron around a block whose conversion exceeds the limits. It is known to be exact if all its
/// generators are generators of the block, or if it satisfies all constraints of the block.
fn coarsen_block(block: &Dense, budget: &RowBudget) -> Approx {
    let dimensions = block.dimensions();
    let all: Vec<usize> = (0..dimensions).collect();
    // Only work is spent from this budget, so it has no rows.
    let octagonal = RowBudget::new(0, budget.left() / OCTAGONAL);
    let universe = Polyhedron::universe(dimensions);
    if block.known_constraints().is_none() {
        // Generators are known, and bounds are evaluated at them.
        let evaluated = |expression: &LinearExpression, _: &RowBudget| Ok(block.bounds(expression));
        let candidates = octagonal_bounds(&all, dimensions, &octagonal, evaluated);
        let around = narrow_by_candidates(&universe, candidates, budget);
        let known: BTreeSet<&Generator> = block.some_generators().into_iter().flatten().collect();
        let is_exact = are_all_generators(&around, budget, |generator| known.contains(generator));
        return Approx::of(around, is_exact);
    }
    // Constraints are known, and a linear program finds the bounds.
    let own = || block.some_constraints();
    let program = LinearProgram::of(dimensions, own(), &RowBudget::unlimited());
    let Ok(Some(mut program)) = program else { return Approx::Exact(Polyhedron::empty(dimensions)) };
    let mut candidates = octagonal_bounds(&all, dimensions, &octagonal, |expression, budget| {
        program.bounds(&expression.fitted(dimensions), expression.denominator(), budget)
    });
    candidates.extend(own().cloned());
    let around = narrow_by_candidates(&universe, candidates, budget);
    let is_exact = own().all(|constraint| around.implies(constraint));
    Approx::of(around, is_exact)
}

/// Do all generators satisfy `is_such`? The answer is no if there are too many to look at.
fn are_all_generators(whole: &Polyhedron, budget: &RowBudget, is_such: impl Fn(&Generator) -> bool) -> bool {
    let blocks = whole.fine().unwrap_or_default();
    budget.hold(lattice::size(&blocks), whole.dimensions() + 1).is_ok()
        && whole.to_dense().dual().is_none_or(|dual| dual.generators.iter().all(is_such))
}

/// Does the polyhedron contain this point, or is it unbounded in this direction?
fn has_generator(polyhedron: &Polyhedron, generator: &Generator) -> bool {
    let admits = |constraint: &Constraint| {
        let sign = row::dot(constraint.row(), &generator.row).signum();
        match (generator.kind, constraint.relation()) {
            (Kind::Line, _) => sign == 0,
            (Kind::Ray | Kind::ClosurePoint, Relation::Greater) => sign >= 0,
            (_, relation) => relation.admits(sign),
        }
    };
    polyhedron.constraints().iter().all(admits)
}

/// A polyhedron around the join of two polyhedra that are converted already.
fn around_join(a: &Polyhedron, b: &Polyhedron, limits: &OperationLimits) -> Polyhedron {
    let dimensions = a.dimensions();
    let budget = limits.budget();
    let parts = match lattice::set_apart(a, b, &budget) {
        Ok(Joined::Parts(parts)) => parts,
        Ok(Joined::Whole(whole)) => return whole,
        // If this is too much, all blocks count as different. `join_by_group` leaves a group that is too much
        // to its bounds.
        Err(Exceeded) => Differing {
            same: Vec::new(),
            mine: a.fine().unwrap_or_default().into_owned(),
            theirs: b.fine().unwrap_or_default().into_owned(),
        },
    };
    let Differing { mut same, mine, theirs } = parts;
    let mut candidates = Vec::new();
    let octagonal = RowBudget::new(limits.rows, limits.work / OCTAGONAL);
    same.extend(join_by_group(dimensions, &mine, &theirs, &budget, &octagonal, &mut candidates));
    let start = Polyhedron::of_blocks(dimensions, same);
    // Each constraint across blocks joins small blocks, and every later operation pays for larger ones. So
    // little is spent on such constraints.
    let across = RowBudget::new(limits.rows / 640, limits.work / 64);
    candidates.extend(bound_across(dimensions, &mine, &theirs, &across));
    narrow_by_candidates(&start, candidates, &across)
}

/// Bounds of sums and differences of two dimensions that do not follow from the bounds of the dimensions
/// and relate different blocks: some of them, in a fixed order.
fn bound_across(dimensions: usize, mine: &[Block], theirs: &[Block], budget: &RowBudget) -> Vec<Constraint> {
    // For each dimension its greatest value and the greatest of its opposite, in both arguments.
    let mut ranges: Vec<(usize, [RangeBound; 2], [RangeBound; 2])> = Vec::new();
    let (of_mine, of_theirs) =
        (lattice::block_owners(dimensions, mine), lattice::block_owners(dimensions, theirs));
    for dimension in 0..dimensions {
        let (Some(a), Some(b)) = (of_mine[dimension], of_theirs[dimension]) else { continue };
        if budget.spend(2 * dimensions).is_err() {
            break;
        }
        ranges.push((
            dimension,
            greatest_values(&mine[a], dimension),
            greatest_values(&theirs[b], dimension),
        ));
    }
    // 1 if the first argument reaches further, -1 if the other does.
    let compare_reach = |a: &RangeBound, b: &RangeBound| match (a, b) {
        (Some((a, _)), Some((b, _))) => (a - b).signum(),
        _ => 0,
    };
    let signs: Vec<[i32; 2]> =
        ranges.iter().map(|(_, a, b)| [compare_reach(&a[0], &b[0]), compare_reach(&a[1], &b[1])]).collect();
    let mut constraints = Vec::new();
    for (y, (y_dimension, my_y, their_y)) in ranges.iter().enumerate() {
        for (x, (x_dimension, my_x, their_x)) in ranges[..y].iter().enumerate() {
            if of_mine[*x_dimension] == of_mine[*y_dimension]
                || of_theirs[*x_dimension] == of_theirs[*y_dimension]
            {
                continue;
            }
            // The sums of x or its opposite and y or its opposite. 0 is the value, and 1 its opposite.
            for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                // The sum follows from the bounds, unless each argument reaches further in one of them.
                if signs[x][i] * signs[y][j] >= 0 {
                    continue;
                }
                // At most 64 bounds across blocks are tried.
                if constraints.len() >= 64 || budget.spend(dimensions).is_err() {
                    return constraints;
                }
                let sum = |x: &RangeBound, y: &RangeBound| {
                    let ((x, on_x), (y, on_y)) = (x.as_ref()?, y.as_ref()?);
                    Some((x + y, *on_x && *on_y))
                };
                let bound = wider_bound(sum(&my_x[i], &my_y[j]), sum(&their_x[i], &their_y[j]), 1);
                let Some((value, attained)) = bound else { continue };
                let mut row = row::unit(dimensions + 1, 0);
                row[0] = value.numerator().clone();
                for (at, is_opposite) in [(*x_dimension, i == 1), (*y_dimension, j == 1)] {
                    let height = value.denominator();
                    row[at + 1] = if is_opposite { height.clone() } else { -height };
                }
                let relation = if attained { Relation::AtLeast } else { Relation::Greater };
                constraints.push(Constraint::of_row(row, relation));
            }
        }
    }
    constraints
}

/// The greatest value of a block's dimension, and of its opposite.
fn greatest_values(block: &Block, dimension: usize) -> [RangeBound; 2] {
    let at = polyhedron::positions(&[dimension], &block.dimensions)[0];
    let row = row::unit(block.dimensions.len() + 1, at + 1);
    let Bounds { lower, upper, .. } = block.body.bounds_of_row(&row, &Integer::ONE);
    [upper, lower.map(|(value, attained)| (-value, attained))]
}

/// Joins the blocks of each group of related dimensions, if the budget suffices. For the other groups, adds
/// to `candidates` the bounds of sums and differences (within `octagonal`), and the constraints of one side
/// that the other satisfies.
fn join_by_group(
    dimensions: usize,
    mine: &[Block],
    theirs: &[Block],
    budget: &RowBudget,
    octagonal: &RowBudget,
    candidates: &mut Vec<Constraint>,
) -> Vec<Block> {
    let mut partition = UnionFind::new(dimensions);
    for block in mine.iter().chain(theirs) {
        partition.relate(block.dimensions.iter().copied());
    }
    let groups = partition.groups();
    let blocks_by_group = |blocks| polyhedron::by_group(blocks, &groups);
    let (my_blocks, their_blocks) = (blocks_by_group(mine), blocks_by_group(theirs));
    let mut result = Vec::new();
    for (group, (a, b)) in groups.iter().zip(my_blocks.iter().zip(&their_blocks)) {
        let join_group = || -> Result<Dense, Exceeded> {
            let a = polyhedron::merge_generators(a, group, budget)?;
            let b = polyhedron::merge_generators(b, group, budget)?;
            let joined = a.join(&b);
            joined.dual_within(budget)?;
            Ok(joined)
        };
        if let Ok(joined) = join_group() {
            result.push(Block::of(group, joined));
            continue;
        }
        let product =
            |blocks: &[&Block]| Polyhedron::of_blocks(dimensions, blocks.iter().map(|&block| block.clone()));
        let (a, b) = (product(a), product(b));
        candidates.extend(octagonal_bounds(group, dimensions, octagonal, |expression, _| {
            Ok(hull_of_ranges(a.bounds(expression), b.bounds(expression)))
        }));
        for (from, to) in [(&a, &b), (&b, &a)] {
            for block in from.raw().unwrap_or_default() {
                for constraint in block.body.some_constraints() {
                    let halves = split_constraint(&block.outward(constraint, dimensions));
                    candidates.extend(halves.into_iter().filter(|half| to.implies(half)));
                }
            }
        }
    }
    result
}

/// Lists bounds of some dimensions, whatever they cost, and of sums and differences of two of them while the
/// work suffices. `bounds` computes each. A single value is one equality.
fn octagonal_bounds(
    chosen: &[usize],
    dimensions: usize,
    budget: &RowBudget,
    mut bounds: impl FnMut(&LinearExpression, &RowBudget) -> Result<Bounds, Exceeded>,
) -> Vec<Constraint> {
    let variable = LinearExpression::variable;
    let pairs = (0..chosen.len()).flat_map(|a| (0..a).map(move |b| (chosen[a], chosen[b])));
    let pairs = pairs.flat_map(|(a, b)| {
        let (a, b) = (variable(a), variable(b));
        [a.plus(&b), a.minus(&b)]
    });
    let mut constraints = Vec::new();
    let mut add = |expression: &LinearExpression, budget: &RowBudget| -> Result<(), Exceeded> {
        // The least that an evaluation costs. The limit of rows bounds what it costs beyond.
        budget.spend(chosen.len())?;
        let range = bounds(expression, budget)?;
        let mut sides = range.constraints(expression).map(|side| side.fitted(dimensions));
        if range.lower.is_some() && range.lower == range.upper {
            constraints.extend(sides.next().map(|side| side.with_relation(Relation::Equal)));
        } else {
            constraints.extend(sides);
        }
        Ok(())
    };
    let unlimited = RowBudget::unlimited();
    let singles = chosen.iter().copied().map(variable).try_for_each(|single| add(&single, &unlimited));
    // Bounds for which no work is left are left out.
    let _ = singles.and_then(|()| pairs.into_iter().try_for_each(|pair| add(&pair, budget)));
    constraints
}

/// The range over the union of two non-empty sets.
fn hull_of_ranges(a: Bounds, b: Bounds) -> Bounds {
    Bounds {
        lower: wider_bound(a.lower, b.lower, -1),
        upper: wider_bound(a.upper, b.upper, 1),
        empty: a.empty && b.empty,
    }
}

/// The greater of two bounds (`direction` 1) or the smaller one (-1), attained if either is.
fn wider_bound(a: RangeBound, b: RangeBound, direction: i32) -> RangeBound {
    let ((a, in_a), (b, in_b)) = (a?, b?);
    match (&a - &b).signum() * direction {
        0 => Some((a, in_a || in_b)),
        sign if sign > 0 => Some((a, in_a)),
        _ => Some((b, in_b)),
    }
}

/// Meets `start`, which is converted, with candidates, those with fewer variables first. Bounds of single
/// dimensions are always added, other candidates only while the budget suffices.
fn narrow_by_candidates(
    start: &Polyhedron,
    mut candidates: Vec<Constraint>,
    budget: &RowBudget,
) -> Polyhedron {
    let variables = |c: &Constraint| c.terms().count();
    candidates.sort_by_cached_key(|c| (variables(c), c.relation() != Relation::Equal, c.clone()));
    candidates.dedup();
    let mut current = start.clone();
    let unlimited = RowBudget::unlimited();
    for candidate in candidates {
        // A bound of one dimension needs no conversion. An equality of two makes later candidates cheaper, so
        // it has a budget of its own.
        let equal = RowBudget::new(256, 20_000);
        let budget = match (variables(&candidate), candidate.relation()) {
            (..=1, _) => &unlimited,
            (2, Relation::Equal) => &equal,
            _ => budget,
        };
        if budget.is_spent() {
            break;
        }
        if current.implies(&candidate) {
            continue;
        }
        let Ok(next) = meet_one_within(&current, &candidate, budget) else { continue };
        match next.duals_unless_empty_within(budget) {
            Ok(Some(blocks)) => current = Polyhedron::of_blocks(start.dimensions(), blocks.iter().cloned()),
            Ok(None) => return Polyhedron::empty(start.dimensions()),
            Err(Exceeded) => {}
        }
    }
    current
}

/// Adds one constraint. The blocks that it relates are merged by their generators.
fn meet_one_within(
    current: &Polyhedron,
    constraint: &Constraint,
    budget: &RowBudget,
) -> Result<Polyhedron, Exceeded> {
    let dimensions = current.dimensions();
    let blocks = current.fine().unwrap_or_default().into_owned();
    let is_concerned = |at: usize| !constraint.coefficients()[at].is_zero();
    let (related, mut others): (Vec<Block>, Vec<Block>) =
        blocks.into_iter().partition(|block| block.dimensions.iter().any(|&at| is_concerned(at)));
    let mut space: Vec<usize> = related.iter().flat_map(|block| block.dimensions.iter().copied()).collect();
    space.extend((0..dimensions).filter(|&at| is_concerned(at)));
    space.sort_unstable();
    space.dedup();
    let related: Vec<&Block> = related.iter().collect();
    let merged = polyhedron::merge_generators(&related, &space, budget)?;
    let met = merged.meet_constraints(&[polyhedron::inward(constraint, &space)]);
    met.dual_within(budget)?;
    others.push(Block::of(&space, met));
    Ok(Polyhedron::of_blocks(dimensions, others))
}

/// Splits an equality into its two inequalities. A strict inequality is given together with its closed form,
/// which the other side may satisfy although it does not satisfy the strict one.
fn split_constraint(constraint: &Constraint) -> Vec<Constraint> {
    match constraint.relation() {
        Relation::AtLeast => vec![constraint.clone()],
        Relation::Greater => vec![constraint.clone(), constraint.with_relation(Relation::AtLeast)],
        Relation::Equal => {
            let mut both = vec![constraint.with_relation(Relation::AtLeast)];
            both.extend(constraint.with_relation(Relation::Greater).negated());
            both
        }
    }
}
