//! The Parma Polyhedra Library: closed polyhedra, or not necessarily closed ones where a sequence has strict
//! inequalities.

use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};
use coreach_ppl::{
    Assignment, PplConstraints, PplError, PplExpression, PplLibrary, PplPolyhedron, PplRelation, Topology,
};
use coreach_tests::sequence::SequenceStep;
use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::library::{Library, LibraryAnswer, LibraryRange};

/// The library, and the kind of polyhedra.
#[derive(Clone, Debug)]
pub struct Ppl(PplLibrary, Topology);

/// A step in PPL's form.
#[derive(Debug)]
pub enum PplPrepared {
    /// Those that have nothing to convert.
    Plain(SequenceStep),
    /// With constraints: to make a polyhedron.
    Make(usize, PplConstraints),
    /// A meet with constraints.
    Meet(usize, PplConstraints),
    /// A widening within thresholds.
    Widen(usize, usize, PplConstraints),
    /// An image.
    Assign(usize, Assignment),
    /// A pre-image.
    Substitute(usize, Assignment),
    /// A range.
    Bounds(usize, PplExpression),
}

fn told(error: PplError) -> String {
    error.to_string()
}

fn big(value: &Integer) -> IBig {
    IBig::from(value)
}

fn integer(value: &IBig) -> Integer {
    Integer::from(value.clone())
}

fn rational(value: &RBig) -> Rational {
    // A denominator is never 0.
    Rational::new(integer(value.numerator()), integer(&IBig::from(value.denominator().clone())))
        .unwrap_or(Rational::ZERO)
}

/// Coefficients, constant and denominator, all integers.
fn parts(expression: &LinearExpression, dimensions: usize) -> (Vec<IBig>, IBig, IBig) {
    let denominator = expression.denominator();
    // The denominator is common to all.
    let whole = |value: Rational| big(&(value.numerator() * &denominator.div_exact(value.denominator())));
    let coefficients = (0..dimensions).map(|at| whole(expression.coefficient(at))).collect();
    (coefficients, whole(expression.constant_term()), big(denominator))
}

fn outwards(constraint: &Constraint) -> coreach_ppl::PplConstraint {
    let relation = match constraint.relation() {
        Relation::Equal => PplRelation::Equal,
        Relation::AtLeast => PplRelation::AtLeast,
        Relation::Greater => PplRelation::Greater,
    };
    let coefficients = constraint.coefficients().iter().map(big).collect();
    coreach_ppl::PplConstraint { coefficients, constant: big(constraint.constant()), relation }
}

fn inwards(constraint: &coreach_ppl::PplConstraint) -> Constraint {
    let relation = match constraint.relation {
        PplRelation::Equal => Relation::Equal,
        PplRelation::AtLeast => Relation::AtLeast,
        PplRelation::Greater => Relation::Greater,
    };
    let coefficients = constraint.coefficients.iter().map(integer).collect();
    Constraint::new(coefficients, integer(&constraint.constant), relation)
}

impl Ppl {
    fn constraints(&self, given: &[Constraint]) -> Result<PplConstraints, String> {
        let given: Vec<_> = given.iter().map(outwards).collect();
        PplConstraints::of(&self.0, &given).map_err(told)
    }

    fn assignment(
        &self,
        given: &[(usize, LinearExpression)],
        dimensions: usize,
    ) -> Result<Assignment, String> {
        let given: Vec<_> = given.iter().map(|(at, e)| (*at, parts(e, dimensions))).collect();
        Assignment::of(&self.0, &given, dimensions).map_err(told)
    }
}

impl Library for Ppl {
    type Element = PplPolyhedron;
    type Prepared = PplPrepared;

    fn new(strict: bool) -> Result<Self, String> {
        let topology = if strict { Topology::NotNecessarilyClosed } else { Topology::Closed };
        Ok(Ppl(PplLibrary::claim().map_err(told)?, topology))
    }

    fn prepare(&self, step: &SequenceStep, dimensions: usize) -> Result<PplPrepared, String> {
        Ok(match step {
            SequenceStep::Constraints(c) => PplPrepared::Make(dimensions, self.constraints(c)?),
            SequenceStep::MeetConstraints(a, c) => PplPrepared::Meet(*a, self.constraints(c)?),
            SequenceStep::Widen(a, b, c) if !c.is_empty() => PplPrepared::Widen(*a, *b, self.constraints(c)?),
            SequenceStep::Assign(a, m) => PplPrepared::Assign(*a, self.assignment(m, dimensions)?),
            SequenceStep::Substitute(a, m) => PplPrepared::Substitute(*a, self.assignment(m, dimensions)?),
            SequenceStep::Bounds(a, e) => {
                let (coefficients, constant, denominator) = parts(e, dimensions);
                let own = PplExpression::of(&self.0, &coefficients, &constant, &denominator);
                PplPrepared::Bounds(*a, own.map_err(told)?)
            }
            other => PplPrepared::Plain(other.clone()),
        })
    }

    fn perform(
        &self,
        step: &mut PplPrepared,
        made: &[PplPolyhedron],
    ) -> Result<LibraryAnswer<PplPolyhedron>, String> {
        let new = match step {
            PplPrepared::Make(dimensions, c) => {
                PplPolyhedron::universe(&self.0, self.1, *dimensions).and_then(|all| all.into_meet(c))
            }
            PplPrepared::Meet(a, c) => made[*a].meet_constraints(c),
            PplPrepared::Widen(a, b, c) => made[*a].widen_within(&made[*b], c),
            PplPrepared::Assign(a, m) => made[*a].assign(m),
            PplPrepared::Substitute(a, m) => made[*a].substitute(m),
            PplPrepared::Bounds(a, e) => {
                let bounds = made[*a].bounds(e).map_err(told)?;
                return Ok(LibraryAnswer::Range(match bounds.is_empty {
                    true => LibraryRange::Empty,
                    false => LibraryRange::Between(
                        bounds.lower.map(|bound| rational(&bound.value)),
                        bounds.upper.map(|bound| rational(&bound.value)),
                    ),
                }));
            }
            PplPrepared::Plain(step) => match step {
                SequenceStep::Meet(a, b) => made[*a].meet(&made[*b]),
                SequenceStep::Join(a, b) => made[*a].join(&made[*b]),
                SequenceStep::Widen(a, b, _) => made[*a].widen(&made[*b]),
                SequenceStep::Forget(a, d) => made[*a].forget(d),
                SequenceStep::Add(a, count) => made[*a].add_dimensions(*count),
                SequenceStep::Remove(a, d) => made[*a].remove_dimensions(d),
                SequenceStep::IsLeq(a, b) => {
                    return made[*a].is_leq(&made[*b]).map(LibraryAnswer::Truth).map_err(told);
                }
                SequenceStep::IsEmpty(a) => {
                    return made[*a].is_empty().map(LibraryAnswer::Truth).map_err(told);
                }
                SequenceStep::List(a) => return self.list(&made[*a]).map(LibraryAnswer::Listed),
                other => return Err(format!("not prepared: {other}")),
            },
        };
        new.map(LibraryAnswer::Made).map_err(told)
    }

    fn list(&self, element: &PplPolyhedron) -> Result<usize, String> {
        element.count_constraints().map_err(told)
    }

    fn export(&self, element: &PplPolyhedron) -> Result<Vec<Constraint>, String> {
        Ok(element.constraints().map_err(told)?.iter().map(inwards).collect())
    }
}
