//! The operations of the library as we call them, on small cases whose answers are known.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use coreach_ppl::{
    Assignment, PplConstraint, PplConstraints, PplError, PplErrorKind, PplExpression, PplLibrary,
    PplPolyhedron, PplRelation, Topology,
};
use dashu_int::IBig;

fn made(
    topology: Topology,
    dimensions: usize,
    all: &[(&[i64], i64, PplRelation)],
) -> Result<PplPolyhedron, PplError> {
    let library = PplLibrary::claim()?;
    let all: Vec<PplConstraint> = all.iter().map(|(c, k, r)| PplConstraint::of(c, *k, *r)).collect();
    PplPolyhedron::universe(&library, topology, dimensions)?
        .meet_constraints(&PplConstraints::of(&library, &all)?)
}

fn value(coefficients: &[i64], constant: i64, denominator: i64) -> (Vec<IBig>, IBig, IBig) {
    (coefficients.iter().map(|c| (*c).into()).collect(), constant.into(), denominator.into())
}

const SQUARE: [(&[i64], i64, PplRelation); 4] = [
    (&[1], 0, PplRelation::AtLeast),
    (&[-1], 2, PplRelation::AtLeast),
    (&[0, 1], 0, PplRelation::AtLeast),
    (&[0, -1], 2, PplRelation::AtLeast),
];

fn is_same(a: &PplPolyhedron, b: &PplPolyhedron) -> Result<bool, PplError> {
    Ok(a.is_leq(b)? && b.is_leq(a)?)
}

#[test]
fn lattice() -> Result<(), PplError> {
    let square = made(Topology::Closed, 2, &SQUARE)?;
    let point =
        made(Topology::Closed, 2, &[(&[1], -4, PplRelation::Equal), (&[0, 1], -1, PplRelation::Equal)])?;
    let hull = square.join(&point)?;
    assert!(square.is_leq(&hull)? && point.is_leq(&hull)? && !hull.is_leq(&square)?);
    assert_eq!(hull.count_constraints()?, 5);
    assert!(square.meet(&point)?.is_empty()?);
    assert!(!hull.is_universe()? && !hull.is_empty()?);
    // What the larger one breaks is given up, unless a threshold keeps it.
    let wider =
        made(Topology::Closed, 2, &[SQUARE[0], (&[-1], 3, PplRelation::AtLeast), SQUARE[2], SQUARE[3]])?;
    assert_eq!(square.widen(&wider)?.count_constraints()?, 3);
    let within = [PplConstraint::of(&[-1], 10, PplRelation::AtLeast)];
    let within = PplConstraints::of(&PplLibrary::claim()?, &within)?;
    assert_eq!(square.widen_within(&wider, &within)?.count_constraints()?, 4);
    Ok(())
}

#[test]
fn strict_inequalities() -> Result<(), PplError> {
    let all = [(&[1][..], 0, PplRelation::Greater), (&[-1], 1, PplRelation::AtLeast)];
    let open = made(Topology::NotNecessarilyClosed, 1, &all)?;
    let bounds =
        open.bounds(&PplExpression::of(&PplLibrary::claim()?, &[2.into()], &1.into(), &(-2).into())?)?;
    let (lower, upper) = (bounds.lower.unwrap(), bounds.upper.unwrap());
    assert!(lower.is_attained && !upper.is_attained);
    assert_eq!((lower.value.to_string(), upper.value.to_string()), ("-3/2".to_owned(), "-1/2".to_owned()));
    assert!(open.constraints()?.iter().any(|c| c.relation == PplRelation::Greater));
    assert_eq!(made(Topology::Closed, 1, &all).unwrap_err().kind, PplErrorKind::InvalidArgument);
    Ok(())
}

/// Two dimensions exchanged need both old values.
#[test]
fn assignments_are_parallel() -> Result<(), PplError> {
    let library = PplLibrary::claim()?;
    let line = made(Topology::Closed, 2, &[(&[1, -2], -1, PplRelation::Equal), SQUARE[2], SQUARE[3]])?;
    let exchange = [(0, value(&[0, 1], 0, 1)), (1, value(&[1], 0, 1))];
    let mut exchange = Assignment::of(&library, &exchange, 2)?;
    let turned = made(
        Topology::Closed,
        2,
        &[
            (&[-2, 1], -1, PplRelation::Equal),
            (&[1], 0, PplRelation::AtLeast),
            (&[-1], 2, PplRelation::AtLeast),
        ],
    )?;
    assert!(is_same(&line.assign(&mut exchange)?, &turned)?);
    assert!(is_same(&turned.substitute(&mut exchange)?, &line)?);
    let mut half = Assignment::of(&library, &[(0, value(&[1, 1], 1, 2))], 2)?;
    let square = made(Topology::Closed, 2, &SQUARE)?;
    let bounds =
        square.assign(&mut half)?.bounds(&PplExpression::of(&library, &[1.into()], &0.into(), &1.into())?)?;
    assert_eq!(bounds.upper.map(|bound| bound.value.to_string()), Some("5/2".to_owned()));
    assert!(square.leads_back(&mut half)?);
    Ok(())
}

/// A trait, so that the test reads from left to right.
trait LeadsBack {
    /// Is the image of the pre-image within?
    fn leads_back(&self, assignment: &mut Assignment) -> Result<bool, PplError>;
}

impl LeadsBack for PplPolyhedron {
    fn leads_back(&self, assignment: &mut Assignment) -> Result<bool, PplError> {
        self.substitute(assignment)?.assign(assignment)?.is_leq(self)
    }
}

#[test]
fn dimensions() -> Result<(), PplError> {
    let square = made(Topology::Closed, 2, &SQUARE)?;
    assert_eq!(square.forget(&[0])?.count_constraints()?, 2);
    assert_eq!(square.add_dimensions(2)?.dimensions(), 4);
    assert_eq!(square.add_dimensions(2)?.remove_dimensions(&[0, 3])?.dimensions(), 2);
    for error in [square.forget(&[2]), square.forget(&[0, 0]), square.remove_dimensions(&[5])] {
        assert_eq!(error.unwrap_err().kind, PplErrorKind::InvalidArgument);
    }
    assert!(square.is_leq(&square.add_dimensions(1)?).is_err());
    assert!(Assignment::of(&PplLibrary::claim()?, &[(0, value(&[0, 0, 1], 0, 1))], 2).is_err());
    assert!(Assignment::of(&PplLibrary::claim()?, &[(0, value(&[1], 0, 0))], 2).is_err());
    Ok(())
}

/// One thread waits for the other; neither sees an error.
#[test]
fn threads_take_turns() {
    let work = || {
        for _ in 0..20 {
            let square = made(Topology::Closed, 2, &SQUARE).unwrap();
            assert!(square.is_leq(&square.forget(&[1]).unwrap()).unwrap());
        }
    };
    let others: Vec<_> = (0..3).map(|_| std::thread::spawn(work)).collect();
    others.into_iter().for_each(|other| other.join().unwrap());
}
