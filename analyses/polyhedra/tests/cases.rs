//! Small cases whose answers are known, as data.

#![expect(clippy::expect_used, reason = "the cases are written in this file")]

use coreach_polyhedra::{
    Approx, Constraint, Integer, LinearExpression, OperationLimits, Polyhedron, Rational, Relation,
};

/// Reads `"2 -1 | 3 >"` as `2 x0 - x1 + 3 > 0`; several are separated by `;`.
fn read(text: &str) -> Vec<Constraint> {
    let parts = text.split(';').filter(|part| !part.trim().is_empty());
    parts
        .map(|part| {
            let (coefficients, rest) = part.split_once('|').expect("a bar");
            let mut rest = rest.split_whitespace();
            let number = |text: &str| Integer::from(text.parse::<i64>().expect("a number"));
            let constant = number(rest.next().expect("a constant"));
            let relation = match rest.next().expect("a relation") {
                "=" => Relation::Equal,
                ">=" => Relation::AtLeast,
                ">" => Relation::Greater,
                other => panic!("{other}"),
            };
            Constraint::new(coefficients.split_whitespace().map(number).collect(), constant, relation)
        })
        .collect()
}

fn p(dimensions: usize, text: &str) -> Polyhedron {
    Polyhedron::from_constraints(dimensions, read(text))
}

fn shown(polyhedron: &Polyhedron) -> String {
    let all: Vec<String> = polyhedron.constraints().iter().map(ToString::to_string).collect();
    all.join(", ")
}

#[test]
fn canonical_constraints() {
    let cases = [
        (0, "", ""),
        (0, "| -1 >=", "-1 >= 0"),
        (2, "", ""),
        (1, "2 | -4 >=", "x0 - 2 >= 0"),
        (1, "1 | 0 >= ; -1 | 0 >=", "x0 = 0"),
        (1, "1 | 0 > ; -1 | 0 >=", "-1 >= 0"),
        (1, "1 | 0 > ; -1 | 0 >", "-1 >= 0"),
        (1, "1 | 0 >= ; 1 | 0 >", "x0 > 0"),
        (1, "1 | 0 > ; 1 | 1 >=", "x0 > 0"),
        // Equalities in echelon form, inequalities reduced modulo them.
        (2, "1 1 | -2 = ; 1 0 | 0 >=", "x0 + x1 - 2 = 0, -x1 + 2 >= 0"),
        (3, "1 1 1 | 0 = ; 1 -1 0 | 2 =", "2 x0 + x2 + 2 = 0, 2 x1 + x2 - 2 = 0"),
        // A strict constraint that only cuts a corner is the sum of the facets through it.
        (2, "1 0 | 0 >= ; 0 1 | 0 >= ; 5 3 | 0 >", "x0 >= 0, x1 >= 0, x0 + x1 > 0"),
        // One that cuts nothing is redundant.
        (2, "1 0 | 0 > ; 0 1 | 0 >= ; 5 3 | 0 >", "x1 >= 0, x0 > 0"),
        (2, "1 0 | 0 >= ; 0 1 | 0 >= ; 1 1 | 1 >", "x1 >= 0, x0 >= 0"),
    ];
    for (dimensions, input, expected) in cases {
        let mut actual: Vec<String> =
            p(dimensions, input).constraints().iter().map(ToString::to_string).collect();
        let mut expected: Vec<&str> = expected.split(", ").filter(|text| !text.is_empty()).collect();
        actual.sort();
        expected.sort_unstable();
        assert_eq!(actual, expected, "{input}");
    }
}

#[test]
fn emptiness_through_strictness() {
    let cases = [
        (2, "1 1 | 0 >= ; -1 -1 | 0 > ", true),
        (2, "1 0 | 0 > ; -1 0 | 1 > ; 0 1 | 0 > ; -1 -1 | 0 >=", true),
        (2, "1 0 | 0 > ; -1 0 | 1 > ; 0 1 | 0 > ; -1 -1 | 1 >=", false),
        // A half-open segment, and the same without its only corner's neighbourhood.
        (1, "1 | 0 > ; -1 | 1 >=", false),
        (3, "1 -1 0 | 0 > ; 0 1 -1 | 0 > ; -1 0 1 | 0 >", true),
    ];
    for (dimensions, input, expected) in cases {
        assert_eq!(p(dimensions, input).is_empty(), expected, "{input}");
        assert_eq!(shown(&p(dimensions, input)) == "-1 >= 0", expected, "{input}");
    }
}

#[test]
fn joins() {
    let cases = [
        ("1 | 0 =", "1 | -2 =", "-x0 + 2 >= 0, x0 >= 0"),
        ("1 | 0 > ; -1 | 1 >=", "1 | -2 =", "-x0 + 2 >= 0, x0 > 0"),
        ("1 | 0 > ; -1 | 1 >", "1 | -1 > ; -1 | 2 >", "-x0 + 2 > 0, x0 > 0"),
        ("1 | 0 >=", "-1 | 0 >", ""),
        ("1 | 0 >=", "-1 | 0 > ; 1 | 1 >", "x0 + 1 > 0"),
    ];
    for (a, b, expected) in cases {
        assert_eq!(shown(&p(1, a).join(&p(1, b))), expected, "{a} join {b}");
    }
    // The hull of a point and a ray beside it is not closed as a union; the closure is the answer.
    let joined = p(2, "1 0 | 0 = ; 0 1 | 0 =").join(&p(2, "0 1 | -1 = ; 1 0 | 0 >="));
    assert_eq!(joined.generators().points.len(), 2);
    // The middle of an edge brings the whole open edge with it.
    let open = p(2, "1 0 | 0 > ; -1 0 | 2 > ; 0 1 | 0 > ; 0 -1 | 2 >");
    let joined = open.join(&p(2, "1 0 | 0 = ; 0 1 | -1 ="));
    let expected = open.join(&p(2, "1 0 | 0 = ; 0 1 | 0 > ; 0 -1 | 2 >"));
    assert_eq!(joined.constraints(), expected.constraints());
    assert_eq!(joined.generators().closure_points.len(), 4);
}

#[test]
fn open_cube_in_many_dimensions() {
    // Strictness of all 2n facets must not cost 2^2^n.
    let mut constraints = Vec::new();
    for dimension in 0..7 {
        for (sign, constant) in [(1, 0), (-1, 1)] {
            let mut coefficients = vec![0; 7];
            coefficients[dimension] = sign;
            constraints.push(Constraint::of(&coefficients, constant, Relation::Greater));
        }
    }
    let cube = Polyhedron::from_constraints(7, constraints);
    let generators = cube.generators();
    assert_eq!((generators.points.len(), generators.closure_points.len()), (1, 128));
    let twice: Vec<_> =
        (0..7).map(|d| (d, LinearExpression::variable(d).times(&Rational::from(2)))).collect();
    assert!(cube.join(&cube.assign(&twice)).is_equal(&cube.assign(&twice)));
}

#[test]
fn widening() {
    let cases = [
        // (old, new, widened)
        ("1 | 0 = ", "1 | 0 >= ; -1 | 1 >=", "x0 >= 0"),
        ("1 | 0 >= ; -1 | 1 >=", "1 | 0 >= ; -1 | 2 >=", "x0 >= 0"),
        ("1 | 0 >= ; -1 | 1 >=", "1 | 1 >= ; -1 | 2 >=", ""),
        ("1 | 0 > ; -1 | 1 >", "1 | 0 >= ; -1 | 2 >", "x0 >= 0"),
        ("1 | 0 > ; -1 | 1 >", "1 | 0 > ; -1 | 2 >", "x0 > 0"),
    ];
    for (old, new, expected) in cases {
        assert_eq!(shown(&p(1, old).widen(&p(1, new))), expected, "{old} widen {new}");
    }
    // The classic: x, y from (0,0) by steps of (2,1) or (0,1): the slope is kept.
    let old = p(2, "1 0 | 0 = ; 0 1 | 0 =");
    let new = p(2, "1 0 | 0 >= ; -1 2 | 0 >= ; 0 -1 | 1 >=");
    assert_eq!(shown(&old.widen(&new)), "-x0 + 2 x1 >= 0, x0 >= 0");
    let threshold = read("0 -1 | 10 >= ; 0 -1 | 0 >=");
    let limited = old.widen_with_thresholds(&new, &threshold);
    assert_eq!(shown(&limited), "-x0 + 2 x1 >= 0, -x1 + 10 >= 0, x0 >= 0");
}

#[test]
fn tightening() {
    let cases = [
        ("2 | -1 >=", "x0 - 1 >= 0"),
        ("1 | 0 > ; -1 | 1 >", "-1 >= 0"),
        ("2 | -1 =", "-1 >= 0"),
        ("2 | -4 =", "x0 - 2 = 0"),
        ("3 | -1 > ; -3 | 7 >", "-x0 + 2 >= 0, x0 - 1 >= 0"),
        ("1 | 0 >", "x0 - 1 >= 0"),
        ("1 | 9223372036854775807 >", "x0 + 9223372036854775806 >= 0"),
    ];
    for (input, expected) in cases {
        assert_eq!(shown(&p(1, input).tighten(&[true])), expected, "{input}");
        assert_eq!(p(1, input).tighten(&[false]).constraints(), p(1, input).constraints());
    }
    // Only where all variables are integers.
    assert_eq!(shown(&p(2, "2 2 | -1 > ; 2 0 | -1 >").tighten(&[true])), "x0 - 1 >= 0, 2 x0 + 2 x1 - 1 > 0");
    // 2x = 2y + 1, found only after the two inequalities are seen to be an equality.
    assert!(p(2, "2 -2 | -1 >= ; -2 2 | 1 >=").tighten(&[true, true]).is_empty());
}

#[test]
fn bounds_say_whether_they_are_attained() {
    let rational = |n: i64, d: i64| Rational::new(Integer::from(n), Integer::from(d)).unwrap();
    let strip = p(2, "2 0 | -1 >= ; -1 0 | 3 > ; 0 1 | 0 >");
    let of = |coefficients: &[i64]| {
        let bounds = strip.bounds(&LinearExpression::of(coefficients, 1));
        (bounds.lower, bounds.upper)
    };
    assert_eq!(of(&[1]), (Some((rational(3, 2), true)), Some((rational(4, 1), false))));
    assert_eq!(of(&[0, 1]), (Some((rational(1, 1), false)), None));
    assert_eq!(of(&[-1, -1]), (None, Some((rational(1, 2), false))));
    assert_eq!(of(&[]), (Some((rational(1, 1), true)), Some((rational(1, 1), true))));
    assert!(Polyhedron::empty(2).bounds(&LinearExpression::of(&[1], 0)).is_empty());
}

/// A cube with one corner cut off, so that it is no product: 68 corners.
fn cut_cube() -> Polyhedron {
    let sides = (0..6).flat_map(|dimension| {
        [(2, 0), (-2, 2)].map(|(sign, constant)| {
            let mut coefficients = vec![0; 6];
            coefficients[dimension] = sign;
            Constraint::of(&coefficients, constant, Relation::AtLeast)
        })
    });
    Polyhedron::from_constraints(6, sides.chain(read("2 2 2 2 2 2 | -1 >=")))
}

#[test]
fn limits_are_told() {
    let rows = |rows: usize| OperationLimits { rows, ..OperationLimits::default() };
    assert!(cut_cube().convert_limited(&rows(69)).is_exact());
    let Approx::Coarser(coarse) = cut_cube().convert_limited(&rows(40)) else {
        panic!("40 rows are too few");
    };
    assert!(cut_cube().is_leq(&coarse) && !coarse.is_leq(&cut_cube()) && !coarse.is_universe());
    let line = Polyhedron::from_constraints(6, read("1 | -5 ="));
    assert!(!cut_cube().join_limited(&line, &rows(20)).is_exact());
    assert!(cut_cube().join_limited(&line, &OperationLimits::default()).is_exact());
    // Work is limited as well, and the answer is the same each time.
    let little = OperationLimits { work: 300, ..OperationLimits::default() };
    let outcomes = [0, 1].map(|_| cut_cube().join_limited(&line, &little));
    assert!(!outcomes[0].is_exact());
    assert_eq!(outcomes[0].polyhedron().constraints(), outcomes[1].polyhedron().constraints());
}

/// What has thousands of corners and is quickly made is exact: sheared cubes, and those of Klee and Minty.
#[test]
fn precise_many_corners_are_no_limit() {
    let sheared = |n: usize| {
        let sum =
            move |i: usize, sign: i64| (0..n).map(|at| if at <= i { sign } else { 0 }).collect::<Vec<_>>();
        let sides = (0..n).flat_map(move |i| {
            [(1, 0), (-1, 1)]
                .map(|(sign, constant)| Constraint::of(&sum(i, sign), constant, Relation::AtLeast))
        });
        Polyhedron::from_constraints(n, sides)
    };
    let klee_minty = |n: usize| {
        let sides = (0..n).flat_map(move |i| {
            let above: Vec<i64> = (0..n).map(|at| i64::from(at == i)).collect();
            let below =
                (0..n).map(|at| if at < i { -(2 << (i - at)) } else { -above[at] }).collect::<Vec<_>>();
            [
                Constraint::of(&above, 0, Relation::AtLeast),
                Constraint::of(&below, 5_i64.pow(i as u32 + 1), Relation::AtLeast),
            ]
        });
        Polyhedron::from_constraints(n, sides)
    };
    for (name, whole) in [("sheared", sheared(11)), ("Klee-Minty", klee_minty(11))] {
        assert!(whole.convert_limited(&OperationLimits::default()).is_exact(), "{name}");
    }
}

/// A box of any number of dimensions needs but two rows for each.
#[test]
fn boxes_meet_no_limit() {
    let sides = |shift: i64| {
        (0..40).flat_map(move |dimension| {
            [(1, 0), (-1, 1)].map(|(sign, constant)| {
                let mut coefficients = vec![0; 40];
                coefficients[dimension] = sign;
                Constraint::of(&coefficients, constant + shift, Relation::AtLeast)
            })
        })
    };
    let cube = Polyhedron::from_constraints(40, sides(0));
    assert!(cube.convert_limited(&OperationLimits { rows: 2, ..OperationLimits::default() }).is_exact());
    assert_eq!(cube.constraints().len(), 80);
    let wider = Polyhedron::from_constraints(40, sides(1));
    assert!(cube.join(&wider).is_equal(&wider));
}

/// Where the hull of products explodes, the product of hulls and the octagonal bounds remain.
#[test]
fn exploding_joins_end() {
    // Triangles in pairs of dimensions; all of them differ.
    let triangles = |at: i64, size: i64| {
        (0..10).flat_map(move |pair| {
            let row = |x: i64, y: i64| {
                let mut coefficients = vec![0; 20];
                (coefficients[2 * pair], coefficients[2 * pair + 1]) = (x, y);
                coefficients
            };
            [(row(1, 0), -at), (row(0, 1), -at), (row(-1, -1), 2 * at + size)]
                .map(|(coefficients, constant)| Constraint::of(&coefficients, constant, Relation::AtLeast))
        })
    };
    let (p, q) = (
        Polyhedron::from_constraints(20, triangles(0, 2)),
        Polyhedron::from_constraints(20, triangles(5, 1)),
    );
    let outcome = p.join_limited(&q, &OperationLimits { rows: 200, work: 100_000 });
    let joined = outcome.polyhedron();
    assert!(!outcome.is_exact() && p.is_leq(joined) && q.is_leq(joined));
    // The hull of the two triangles, in each pair of dimensions.
    for constraint in read("1 0 | 0 >= ; 1 -1 | 2 >= ; -1 -1 | 11 >=") {
        assert!(joined.implies(&constraint), "{constraint}");
    }
}

#[test]
fn a_polyhedron_can_be_sent_and_shared() {
    fn check<T: Send + Sync + Clone + core::fmt::Debug>() {}
    check::<Polyhedron>();
}

#[test]
fn bijections_keep_the_form_canonical() {
    // The corner's constraint must become the sum of the new facets, not the image of the old sum.
    let corner = p(2, "1 0 | 0 >= ; 0 1 | 0 >= ; 1 1 | 0 >");
    let before = shown(&corner);
    let twice = [(0, LinearExpression::of(&[2], 0))];
    assert_eq!(shown(&corner.assign(&twice)), before);
    assert_eq!(shown(&corner.substitute(&twice)), before);
}
