//! The double description of a non-empty polyhedron: constraints and generators, both minimal and canonical.
//!
//! It is made from either of them: by the conversion ([`crate::conversion`]) and the minimisation
//! ([`crate::minimise`]) of the closure, and then the faces left out ([`crate::faces`]). It can also start
//! from a double description that is known, and add to it.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::bits::BitSet;
use crate::budget::{Exceeded, RowBudget};
use crate::conversion::Cone;
use crate::faces::{self, Faces};
use crate::integer::Integer;
use crate::linear::{Constraint, Relation};
use crate::minimise::{self, Minimal};
use crate::row::{self, Row};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A direction, both ways.
    Line,
    /// A direction.
    Ray,
    /// A point of the polyhedron.
    Point,
    /// A point of the closure that is not known to belong to the polyhedron.
    ClosurePoint,
}

/// A generator; entry 0 of the row is 0 for directions and positive for points.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Generator {
    pub(crate) kind: Kind,
    pub(crate) row: Row,
}

/// Constraints, in place while there are as many as an interval has.
pub(crate) type Constraints = SmallVec<[Constraint; 2]>;

/// Generators, likewise.
pub(crate) type GeneratorRows = SmallVec<[Generator; 2]>;

/// Both minimal descriptions of a non-empty polyhedron.
#[derive(Clone, Debug)]
pub(crate) struct Dual {
    /// Equalities in echelon form, then facets sorted, then strict constraints that only cut off
    /// faces smaller than a facet, sorted.
    pub(crate) constraints: Constraints,
    pub(crate) equalities: usize,
    pub(crate) facets: usize,
    /// Whether the face at infinity is a facet of the homogenised cone, whose constraint is then
    /// needed to describe the cone, though not the polyhedron.
    pub(crate) has_infinite_facet: bool,
    /// Lines in echelon form, then rays and corners sorted, then points in the middle of faces.
    pub(crate) generators: GeneratorRows,
    pub(crate) lines: usize,
    pub(crate) extremes: usize,
}

impl Generator {
    pub(crate) fn row(&self) -> &[Integer] {
        &self.row
    }
}

impl Dual {
    /// The constraints that make the closure.
    pub(crate) fn closure_constraints(&self) -> &[Constraint] {
        &self.constraints[..self.equalities + self.facets]
    }

    /// The generators that make the closure.
    pub(crate) fn closure_generators(&self) -> &[Generator] {
        &self.generators[..self.lines + self.extremes]
    }
}

/// The polyhedron of `base` (or the universe) with more constraints; `None` when it is empty.
pub(crate) fn from_constraints(
    dimensions: usize,
    base: Option<&Arc<Dual>>,
    added: &[Constraint],
    budget: &RowBudget,
) -> Result<Option<Arc<Dual>>, Exceeded> {
    let mut cone = cone_to_cut(dimensions, base, budget)?;
    let mut is_cut = false;
    for constraint in sort_for_conversion(added) {
        is_cut |= cone.add(constraint.row(), constraint.relation() == Relation::Equal, budget)?;
    }
    // The base may be a product that was made without a limit.
    budget.hold(cone.size(), dimensions + 1)?;
    let is_strict = |constraint: &&Constraint| constraint.relation() == Relation::Greater;
    if let Some(base) = base
        && !is_cut
        && !added.iter().any(|constraint| is_strict(&constraint))
    {
        cone.recycle();
        return Ok(Some(Arc::clone(base)));
    }
    if !cone.has_point() {
        cone.recycle();
        return Ok(None);
    }
    let base_constraints = base.map_or(&[][..], |base| base.constraints.as_slice());
    let mut strict = base_constraints.iter().chain(added).filter(is_strict).peekable();
    let mut minimal = minimise::minimise(&cone, strict.peek().is_some());
    cone.recycle();
    let has_infinite_facet = remove_infinite_facet(&mut minimal);
    let dual = cut_off(minimal, has_infinite_facet, strict.map(Constraint::row), budget)?;
    Ok(dual.map(Arc::new))
}

/// Makes the homogenised closure of `base` (or of the universe), to be cut by constraints. Positivity, that
/// the first coordinate is not negative, is one of its half-spaces.
fn cone_to_cut(dimensions: usize, base: Option<&Arc<Dual>>, budget: &RowBudget) -> Result<Cone, Exceeded> {
    let width = dimensions + 1;
    let positivity = row::unit(width, 0);
    if let Some(base) = base {
        let (lines, rays) = base.closure_generators().split_at(base.lines);
        return Ok(Cone::from_descriptions(
            width,
            lines.iter().map(Generator::row),
            rays.iter().map(Generator::row),
            core::iter::once(positivity.as_slice())
                .chain(base.closure_constraints().iter().map(Constraint::row)),
        ));
    }
    let mut cone = Cone::whole_space(width);
    cone.add(&positivity, /* is_equality */ false, budget)?;
    Ok(cone)
}

/// Puts equalities first: each takes a line or a dimension away, which makes all later steps smaller.
pub(crate) fn sort_for_conversion(constraints: &[Constraint]) -> Vec<&Constraint> {
    let mut sorted: Vec<&Constraint> = constraints.iter().collect();
    sorted.sort_unstable_by(|a, b| {
        let is_inequality = |c: &Constraint| c.relation() != Relation::Equal;
        is_inequality(a).cmp(&is_inequality(b)).then_with(|| a.cmp(b))
    });
    sorted
}

/// Removes the borders of strict constraints from the closed polyhedron `minimal`. Returns `None` if
/// nothing is left. The rays of the facets must be known if there is a strict constraint.
pub(crate) fn cut_off<'a>(
    minimal: Minimal,
    has_infinite_facet: bool,
    strict: impl Iterator<Item = &'a [Integer]>,
    budget: &RowBudget,
) -> Result<Option<Dual>, Exceeded> {
    let mut strict = strict.peekable();
    if strict.peek().is_none() {
        return Ok(Some(assemble_closed(minimal, has_infinite_facet)));
    }
    let vertices = find_vertices(&minimal.rays);
    let mut excluded = Vec::new();
    for row in strict {
        budget.spend(minimal.rays.len())?;
        let border = saturating_rays(row, &minimal.rays);
        if border.count() == minimal.rays.len() {
            // The constraint is positive nowhere on the closure.
            return Ok(None);
        }
        if border.intersects(&vertices) {
            excluded.push(border);
        }
    }
    if excluded.is_empty() {
        return Ok(Some(assemble_closed(minimal, has_infinite_facet)));
    }
    let excluded = faces::keep_maximal(excluded);
    let facets: Vec<BitSet> = minimal.facets.iter().map(|facet| facet.rays.clone()).collect();
    let faces = Faces { facets: &facets, vertices: &vertices, generators: minimal.rays.len() };
    let kept = faces::smallest_kept(&faces, &excluded, budget)?;
    Ok(Some(assemble(minimal, has_infinite_facet, &excluded, &kept)))
}

/// The polyhedron of `base` (or nothing) with more generators. `base` and `added` together must hold a point.
pub(crate) fn from_generators(
    dimensions: usize,
    base: Option<&Arc<Dual>>,
    added: &[Generator],
    budget: &RowBudget,
) -> Result<Arc<Dual>, Exceeded> {
    let width = dimensions + 1;
    let mut cone = match base {
        Some(base) => {
            let positivity = row::unit(width, 0);
            let (equalities, facets) = base.closure_constraints().split_at(base.equalities);
            Cone::from_descriptions(
                width,
                equalities.iter().map(Constraint::row),
                facets
                    .iter()
                    .map(Constraint::row)
                    .chain(base.has_infinite_facet.then_some(positivity.as_slice())),
                base.closure_generators().iter().map(Generator::row),
            )
        }
        None => Cone::whole_space(width),
    };
    let mut sorted: Vec<&Generator> = added.iter().collect();
    // Lines first, for the reason given at `sort_for_conversion`.
    sorted.sort_unstable();
    let mut is_cut = false;
    for generator in sorted {
        is_cut |= cone.add(&generator.row, generator.kind == Kind::Line, budget)?;
    }
    let base_generators = base.map_or(&[][..], |base| base.generators.as_slice());
    let is_closed = base_generators.iter().chain(added).all(|generator| generator.kind != Kind::ClosurePoint);
    if let Some(base) = base
        && is_closed
        && !is_cut
    {
        cone.recycle();
        return Ok(Arc::clone(base));
    }
    // The conversion ran in the dual space, so its rays are the constraints here.
    let swapped = minimise::minimise(&cone, !is_closed);
    cone.recycle();
    let mut minimal = Minimal {
        lines: swapped.equalities,
        equalities: swapped.lines,
        facets: Vec::with_capacity(swapped.rays.len()),
        rays: Vec::with_capacity(swapped.facets.len()),
    };
    for (index, row) in swapped.rays.into_iter().enumerate() {
        let mut rays = BitSet::default();
        for (generator, _) in swapped.facets.iter().enumerate().filter(|(_, f)| f.rays.contains(index)) {
            rays.insert(generator);
        }
        minimal.facets.push(minimise::Facet { row, rays });
    }
    // `minimise` has reduced them modulo the lines, and the facets modulo the equalities.
    minimal.rays = swapped.facets.into_iter().map(|facet| facet.row).collect();
    // The conversion bounds only what it computes, the constraints; without this, generators would
    // accumulate from join to join.
    budget.hold(minimal.lines.len() + minimal.rays.len(), width)?;
    let has_infinite_facet = remove_infinite_facet(&mut minimal);
    let dual = if is_closed {
        assemble_closed(minimal, has_infinite_facet)
    } else {
        let points = base_generators.iter().chain(added).filter(|generator| generator.kind == Kind::Point);
        leave_out_open(minimal, has_infinite_facet, points, budget)?
    };
    Ok(Arc::new(dual))
}

/// Removes the faces without any of the points from the closed polyhedron `minimal`.
fn leave_out_open<'a>(
    minimal: Minimal,
    has_infinite_facet: bool,
    points: impl Iterator<Item = &'a Generator>,
    budget: &RowBudget,
) -> Result<Dual, Exceeded> {
    let facet_rows: Vec<&Row> = minimal.facets.iter().map(|facet| &facet.row).collect();
    let on_facets = |row: &Row| {
        let mut on = BitSet::default();
        for (index, facet) in facet_rows.iter().enumerate() {
            if row::dot(facet, row).is_zero() {
                on.insert(index);
            }
        }
        on
    };
    let points: Vec<BitSet> = points.map(|point| on_facets(&point.row)).collect();
    let vertices = find_vertices(&minimal.rays);
    // The corners of the closure that are not points.
    let mut open = BitSet::default();
    for (index, row) in minimal.rays.iter().enumerate() {
        if vertices.contains(index) && !points.contains(&on_facets(row)) {
            open.insert(index);
        }
    }
    let facets: Vec<BitSet> = minimal.facets.iter().map(|facet| facet.rays.clone()).collect();
    let faces = Faces { facets: &facets, vertices: &vertices, generators: minimal.rays.len() };
    let excluded = faces::largest_excluded(&faces, &points, &open, budget)?;
    if excluded.is_empty() {
        return Ok(assemble_closed(minimal, has_infinite_facet));
    }
    let kept = faces::smallest_kept(&faces, &excluded, budget)?;
    Ok(assemble(minimal, has_infinite_facet, &excluded, &kept))
}

/// Removes the constraint "1 >= 0" from the facets. Returns whether it was there.
fn remove_infinite_facet(minimal: &mut Minimal) -> bool {
    let before = minimal.facets.len();
    minimal.facets.retain(|facet| !minimise::is_constant(&facet.row));
    minimal.facets.len() < before
}

/// Which of some rays are points, at which the first coordinate is not 0.
fn find_vertices(rays: &[Row]) -> BitSet {
    let mut vertices = BitSet::default();
    for (index, row) in rays.iter().enumerate() {
        if row[0].is_positive() {
            vertices.insert(index);
        }
    }
    vertices
}

/// The generators at which a constraint's linear part vanishes.
pub(crate) fn saturating_rays(constraint: &[Integer], rays: &[Row]) -> BitSet {
    let mut border = BitSet::default();
    for (index, row) in rays.iter().enumerate() {
        if row::dot(constraint, row).is_zero() {
            border.insert(index);
        }
    }
    border
}

/// Makes the `Dual` of a closed polyhedron: puts its parts in canonical order.
fn assemble_closed(minimal: Minimal, has_infinite_facet: bool) -> Dual {
    let Minimal { lines, rays, equalities, facets } = minimal;
    let (equality_count, facet_count) = (equalities.len(), facets.len());
    let mut constraints = Constraints::with_capacity(equality_count + facet_count);
    constraints.extend(equalities.into_iter().map(|row| Constraint::of_canonical(row, Relation::Equal)));
    constraints
        .extend(facets.into_iter().map(|facet| Constraint::of_canonical(facet.row, Relation::AtLeast)));
    constraints[equality_count..].sort_unstable();
    let (line_count, extreme_count) = (lines.len(), rays.len());
    let mut generators = GeneratorRows::with_capacity(line_count + extreme_count);
    generators.extend(lines.into_iter().map(|row| Generator { kind: Kind::Line, row }));
    generators.extend(rays.into_iter().map(|row| {
        let kind = if row[0].is_positive() { Kind::Point } else { Kind::Ray };
        Generator { kind, row }
    }));
    generators[line_count..].sort_unstable();
    Dual {
        constraints,
        equalities: equality_count,
        facets: facet_count,
        has_infinite_facet,
        generators,
        lines: line_count,
        extremes: extreme_count,
    }
}

/// Makes the `Dual` of a polyhedron that is not closed: puts its parts in canonical order. `excluded` are the
/// largest faces left out, of which there are some, `kept` the smallest faces not left out.
fn assemble(minimal: Minimal, has_infinite_facet: bool, excluded: &[BitSet], kept: &[BitSet]) -> Dual {
    let Minimal { lines, rays, equalities, facets } = minimal;
    let width = rays.first().map_or(0, Row::len);
    let sum = |rows: &mut dyn Iterator<Item = &Row>| {
        let mut sum = row::zero(width);
        for row in rows {
            sum = sum.iter().zip(row).map(|(a, b)| a + b).collect();
        }
        row::normalise(&mut sum);
        sum
    };
    // An excluded face that is no facet needs a constraint of its own.
    let mut extra: Constraints = excluded
        .iter()
        .filter(|face| !facets.iter().any(|facet| facet.rays == **face))
        .map(|face| {
            let mut through =
                facets.iter().filter(|facet| face.is_subset(&facet.rays)).map(|facet| &facet.row);
            Constraint::of_row(sum(&mut through), Relation::Greater)
        })
        .collect();
    extra.sort();
    // Each kept face has a point: its only corner, or one in its middle.
    let mut middles = GeneratorRows::new();
    let mut is_point = BitSet::default();
    for face in kept {
        let members: Vec<usize> = (0..rays.len()).filter(|&index| face.contains(index)).collect();
        match members[..] {
            [corner] => is_point.insert(corner),
            _ => {
                let row = sum(&mut members.iter().map(|&index| &rays[index]));
                middles.push(Generator { kind: Kind::Point, row });
            }
        }
    }
    middles.sort();

    let equality_count = equalities.len();
    let facet_count = facets.len();
    let mut sorted: Constraints = facets
        .into_iter()
        .map(|facet| {
            let is_strict = excluded.contains(&facet.rays);
            let relation = if is_strict { Relation::Greater } else { Relation::AtLeast };
            Constraint::of_canonical(facet.row, relation)
        })
        .collect();
    sorted.sort();
    let mut constraints: Constraints =
        equalities.into_iter().map(|row| Constraint::of_canonical(row, Relation::Equal)).collect();
    constraints.append(&mut sorted);
    constraints.append(&mut extra);

    let line_count = lines.len();
    let extreme_count = rays.len();
    let mut extremes: GeneratorRows = rays
        .into_iter()
        .enumerate()
        .map(|(index, row)| {
            let kind = if !row[0].is_positive() {
                Kind::Ray
            } else if is_point.contains(index) {
                Kind::Point
            } else {
                Kind::ClosurePoint
            };
            Generator { kind, row }
        })
        .collect();
    extremes.sort();
    let mut generators: GeneratorRows =
        lines.into_iter().map(|row| Generator { kind: Kind::Line, row }).collect();
    generators.append(&mut extremes);
    generators.append(&mut middles);
    Dual {
        constraints,
        equalities: equality_count,
        facets: facet_count,
        has_infinite_facet,
        generators,
        lines: line_count,
        extremes: extreme_count,
    }
}
