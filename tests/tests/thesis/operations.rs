//! Chapter 5: parallel composition and product (golden 11, 12).

use coreach_model::compose::{Incompatible, compose};
use coreach_pipeline::stages::{complete::complete, product::make_product};

use super::support::{lines, purpose, solver, specification};

#[test]
fn golden_11_figure_5_1_parallel_composition() {
    let left = specification("tests/models/figure_5_1_left.yaml").iosts;
    let right = specification("tests/models/figure_5_1_right.yaml").iosts;
    let both = compose("both", &left, &right).unwrap();
    let names = |data: &[coreach_model::Datum]| data.iter().map(|d| d.name().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&both.variables), ["x", "y"]);
    assert_eq!(names(&both.constants), ["c1", "c2"]);
    assert_eq!(both.initial_condition.to_string(), "c1 >= 0 && c2 <= 0");
    // By the definition S? is empty: the thesis' Example 5.1 calls EnterNumber an input all the same.
    let kinds: Vec<String> = both.actions.iter().map(|a| format!("{} {:?}", a.name, a.kind)).collect();
    assert_eq!(kinds, ["EnterNumber Output", "Result Output", "tau1 Internal", "tau2 Internal"]);
    let (reachable, _) = both.without_unreachable_locations();
    assert_eq!(
        lines(&reachable),
        [
            "<l0,l0'> -EnterNumber-> <l1,l1'> [p1 >= 0 && p1 <= 0] {x := p1, y := p1}",
            "<l1,l1'> -tau1-> <l2,l1'> {x := x + 1}",
            "<l1,l1'> -tau2-> <l1,l2'> {y := y - 1}",
            "<l1,l2'> -tau1-> <l2,l2'> {x := x + 1}",
            "<l2,l1'> -tau2-> <l2,l2'> {y := y - 1}",
            "<l2,l2'> -Result-> <l0,l0'> [p1 <= x && p1 >= y]",
        ]
    );
}

#[test]
fn golden_11_a_machine_is_not_compatible_with_itself() {
    let left = specification("tests/models/figure_5_1_left.yaml").iosts;
    let found = compose("both", &left, &left).unwrap_err();
    assert!(found.contains(&Incompatible::SameName("c1".into())), "{found:?}");
}

#[test]
fn golden_12_figure_5_2_the_purpose_reads_a_variable_as_a_constant() {
    let specification = specification("tests/models/figure_5_2.yaml");
    let purpose = purpose("tests/models/figure_5_2_purpose.yaml", &specification);
    let mut solver = solver();
    let made = make_product(
        &specification.iosts,
        complete(purpose, &Default::default(), &mut solver),
        &Default::default(),
        &mut solver,
    )
    .unwrap()
    .iosts;
    let names = |data: &[coreach_model::Datum]| data.iter().map(|d| d.name().to_owned()).collect::<Vec<_>>();
    // y is the specification's variable: it is no constant of the product.
    assert_eq!(
        (names(&made.variables), names(&made.constants)),
        (vec!["x".to_owned(), "y".into(), "z".into()], vec!["c".to_owned()],)
    );
    let first = "<l0,m0> -EnterNumber-> <l1,m1> [0 <= p1 && p1 <= 10 && p1 == c] {x := p1}";
    assert!(lines(&made).iter().any(|line| line == first), "{:#?}", lines(&made));
}
