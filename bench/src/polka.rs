//! APRON's polka: without strict inequalities where a sequence has none, which is the faster of its two
//! variants.

use coreach_apron::{
    Affine, ApronLibrary, Element, Error, Manager, PreparedAssignments, PreparedConstraints,
    PreparedExpression,
};
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};
use coreach_tests::sequence::SequenceStep;
use dashu_base::Sign;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use crate::library::{Library, LibraryAnswer, LibraryRange};

/// A manager of polka.
#[derive(Clone, Debug)]
pub struct PolkaLibrary(Manager);

/// A step in APRON's form.
#[derive(Debug)]
pub enum PolkaPrepared {
    /// Those that have nothing to convert.
    Plain(SequenceStep),
    /// With constraints: to make an element, and to meet one.
    Make(usize, PreparedConstraints),
    /// A meet with constraints.
    Meet(usize, PreparedConstraints),
    /// A widening within thresholds.
    Widen(usize, usize, PreparedConstraints),
    /// An image.
    Assign(usize, PreparedAssignments),
    /// A pre-image.
    Substitute(usize, PreparedAssignments),
    /// A range.
    Bounds(usize, PreparedExpression),
}

fn told(error: Error) -> String {
    error.to_string()
}

fn unsigned(value: &Integer) -> UBig {
    big(value).into_parts().1
}

fn big(value: &Integer) -> IBig {
    IBig::from(value)
}

fn integer(value: &IBig) -> Integer {
    Integer::from(value.clone())
}

fn outwards(value: &Rational) -> RBig {
    RBig::from_parts(big(value.numerator()), unsigned(value.denominator()))
}

fn inwards(value: &RBig) -> Rational {
    let denominator = integer(&IBig::from_parts(Sign::Positive, value.denominator().clone()));
    // A denominator is never 0.
    Rational::new(integer(value.numerator()), denominator).unwrap_or(Rational::ZERO)
}

fn expression(expression: &LinearExpression, dimensions: usize) -> Affine {
    Affine {
        coefficients: (0..dimensions).map(|at| outwards(&expression.coefficient(at))).collect(),
        constant: outwards(&expression.constant_term()),
    }
}

fn constraint(constraint: &Constraint) -> coreach_apron::ApronConstraint {
    let expression = Affine {
        coefficients: constraint.coefficients().iter().map(|c| RBig::from(big(c))).collect(),
        constant: RBig::from(big(constraint.constant())),
    };
    let relation = match constraint.relation() {
        Relation::Equal => coreach_apron::ApronRelation::Equal,
        Relation::AtLeast => coreach_apron::ApronRelation::AtLeast,
        Relation::Greater => coreach_apron::ApronRelation::Greater,
    };
    coreach_apron::ApronConstraint::new(expression, relation)
}

fn constraints(given: &[Constraint], dimensions: usize) -> Result<PreparedConstraints, String> {
    let given: Vec<_> = given.iter().map(constraint).collect();
    PreparedConstraints::of(&given, dimensions).map_err(told)
}

fn assignments(
    given: &[(usize, LinearExpression)],
    dimensions: usize,
) -> Result<PreparedAssignments, String> {
    let given: Vec<_> = given.iter().map(|(at, e)| (*at, expression(e, dimensions))).collect();
    PreparedAssignments::of(&given, dimensions).map_err(told)
}

fn back(given: &coreach_apron::ApronConstraint) -> Constraint {
    let relation = match given.relation {
        coreach_apron::ApronRelation::Equal => Relation::Equal,
        coreach_apron::ApronRelation::AtLeast => Relation::AtLeast,
        coreach_apron::ApronRelation::Greater => Relation::Greater,
    };
    let all = || given.expression.coefficients.iter().chain([&given.expression.constant]);
    if all().all(RBig::is_int) {
        let coefficients = given.expression.coefficients.iter().map(|c| integer(c.numerator())).collect();
        return Constraint::new(coefficients, integer(given.expression.constant.numerator()), relation);
    }
    let coefficients: Vec<Rational> = given.expression.coefficients.iter().map(inwards).collect();
    let expression = LinearExpression::from_rationals(&coefficients, &inwards(&given.expression.constant));
    Constraint::from_expression(&expression, relation)
}

impl Library for PolkaLibrary {
    type Element = Element;
    type Prepared = PolkaPrepared;

    fn new(strict: bool) -> Result<Self, String> {
        Manager::new(if strict { ApronLibrary::PolkaStrict } else { ApronLibrary::Polka })
            .map(PolkaLibrary)
            .map_err(told)
    }

    fn prepare(&self, step: &SequenceStep, dimensions: usize) -> Result<PolkaPrepared, String> {
        Ok(match step {
            SequenceStep::Constraints(c) => PolkaPrepared::Make(dimensions, constraints(c, dimensions)?),
            SequenceStep::MeetConstraints(a, c) => PolkaPrepared::Meet(*a, constraints(c, dimensions)?),
            SequenceStep::Widen(a, b, c) if !c.is_empty() => {
                PolkaPrepared::Widen(*a, *b, constraints(c, dimensions)?)
            }
            SequenceStep::Assign(a, m) => PolkaPrepared::Assign(*a, assignments(m, dimensions)?),
            SequenceStep::Substitute(a, m) => PolkaPrepared::Substitute(*a, assignments(m, dimensions)?),
            SequenceStep::Bounds(a, e) => {
                let own = expression(e, dimensions);
                PolkaPrepared::Bounds(*a, PreparedExpression::of(&own, dimensions).map_err(told)?)
            }
            other => PolkaPrepared::Plain(other.clone()),
        })
    }

    fn perform(&self, step: &mut PolkaPrepared, made: &[Element]) -> Result<LibraryAnswer<Element>, String> {
        let new = match step {
            PolkaPrepared::Make(dimensions, c) => {
                self.0.top(0, *dimensions).and_then(|top| top.meet_prepared(c))
            }
            PolkaPrepared::Meet(a, c) => made[*a].meet_prepared(c),
            PolkaPrepared::Widen(a, b, c) => made[*a].widen_prepared(&made[*b], c),
            PolkaPrepared::Assign(a, m) => made[*a].assign_prepared(m),
            PolkaPrepared::Substitute(a, m) => made[*a].substitute_prepared(m),
            PolkaPrepared::Bounds(a, e) => {
                let interval = made[*a].bound_prepared(e).map_err(told)?;
                return Ok(LibraryAnswer::Range(match (&interval.low, &interval.high) {
                    (Some(low), Some(high)) if low > high => LibraryRange::Empty,
                    (low, high) => {
                        LibraryRange::Between(low.as_ref().map(inwards), high.as_ref().map(inwards))
                    }
                }));
            }
            PolkaPrepared::Plain(step) => match step {
                SequenceStep::Meet(a, b) => made[*a].meet(&made[*b]),
                SequenceStep::Join(a, b) => made[*a].join(&made[*b]),
                SequenceStep::Widen(a, b, _) => made[*a].widen(&made[*b]),
                SequenceStep::Forget(a, d) => made[*a].forget(d),
                SequenceStep::Add(a, count) => made[*a].add_dimensions(0, *count),
                SequenceStep::Remove(a, d) => made[*a].remove_dimensions(d),
                SequenceStep::IsLeq(a, b) => {
                    return made[*a].is_leq(&made[*b]).map(LibraryAnswer::Truth).map_err(told);
                }
                SequenceStep::IsEmpty(a) => {
                    return made[*a].is_bottom().map(LibraryAnswer::Truth).map_err(told);
                }
                SequenceStep::List(a) => return self.list(&made[*a]).map(LibraryAnswer::Listed),
                other => return Err(format!("not prepared: {other}")),
            },
        };
        new.map(LibraryAnswer::Made).map_err(told)
    }

    fn list(&self, element: &Element) -> Result<usize, String> {
        element.list_prepared().map(|list| list.count()).map_err(told)
    }

    fn export(&self, element: &Element) -> Result<Vec<Constraint>, String> {
        Ok(element.constraints().map_err(told)?.iter().map(back).collect())
    }
}
