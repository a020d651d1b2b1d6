//! *Precision*: what an analysis must not lose, and what it must say that it lost.

use std::sync::Arc;

use coreach_analyses::fixpoint::Exhausted;
use coreach_analyses::reachability::{ImprecisionPlace, Thresholds};
use coreach_analyses::scope::ImprecisionReason;
use coreach_analyses::{Analysis, DomainKind, analyse, reach};
use coreach_model::term::node::Operator;
use coreach_model::types::{ArrayType, RecordType};
use coreach_model::{Datum, LocationId, Number, Term, Type};

use super::build::{Builder, cmp, coffee, t};

const DATA: [DomainKind; 2] = [DomainKind::Interval, DomainKind::Polyhedra];

fn options(domain: DomainKind) -> Analysis {
    Analysis { domain, ..Analysis::default() }
}

fn texts(terms: &[Term]) -> Vec<String> {
    terms.iter().map(Term::to_string).collect()
}

#[test]
fn precise_loop_bound() {
    // i := i + 1 while i < 10: the bound comes back by the threshold, or by narrowing without it.
    let i = Datum::new("i", Type::Int);
    let mut model = Builder::new(&[], &[&i], cmp(t(&i), "==", Term::int(0)), &["loop", "done"]);
    let a = model.action("A", &[]);
    model.transition(
        "loop",
        a,
        cmp(t(&i), "<", Term::int(10)),
        &[(&i, Term::add(&t(&i), &Term::int(1)))],
        "loop",
    );
    model.transition("loop", a, cmp(t(&i), ">=", Term::int(10)), &[], "done");
    for domain in DATA {
        for thresholds in [Thresholds::Auto, Thresholds::List(vec![])] {
            let (facts, _) = reach(&model.0, &Analysis { thresholds, ..options(domain) });
            assert_eq!(texts(&facts), ["i >= 0 && i <= 10", "i == 10"], "{domain}");
        }
    }
}

/// n numbers in order from 0, each raised up to the next one, the last without an end.
fn raised_in_order(n: usize) -> Builder {
    let numbers: Vec<Datum> = (0..n).map(|at| Datum::new(format!("x{at}"), Type::Int)).collect();
    let zero = Term::and(numbers.iter().map(|x| cmp(t(x), "==", Term::int(0))).collect::<Vec<_>>());
    let mut model = Builder::new(&[], &numbers.iter().collect::<Vec<_>>(), zero, &["loop"]);
    let a = model.action("A", &[]);
    for (at, x) in numbers.iter().enumerate() {
        let guard = numbers.get(at + 1).map_or_else(Term::yes, |next| cmp(t(x), "<", t(next)));
        model.transition("loop", a, guard, &[(x, Term::add(&t(x), &Term::int(1)))], "loop");
    }
    model
}

#[test]
fn loops_that_wait_for_later_ones_need_no_more_evaluations_if_they_are_more() {
    let steps = |n: usize| {
        let facts = analyse(&raised_in_order(n).0, &[true], &options(DomainKind::Polyhedra));
        assert_eq!(facts.reach[0].conjuncts().len(), n, "{}", facts.reach[0]);
        facts.iterations.steps
    };
    assert_eq!(steps(3), steps(9));
}

#[test]
fn precise_relation_in_loop() {
    // x and y grow together.
    let (x, y) = (Datum::new("x", Type::Int), Datum::new("y", Type::Int));
    let zero = Term::and([cmp(t(&x), "==", Term::int(0)), cmp(t(&y), "==", Term::int(0))]);
    let mut model = Builder::new(&[], &[&x, &y], zero, &["loop"]);
    let a = model.action("A", &[]);
    let step = |d: &Datum| Term::add(&t(d), &Term::int(1));
    model.transition("loop", a, Term::yes(), &[(&x, step(&x)), (&y, step(&y))], "loop");
    assert_eq!(texts(&reach(&model.0, &options(DomainKind::Polyhedra)).0), ["x == y && y >= 0"]);
    assert_eq!(texts(&reach(&model.0, &options(DomainKind::Interval)).0), ["x >= 0 && y >= 0"]);
}

#[test]
fn precise_loop_that_reads_a_cell_without_a_place() {
    // Which way is taken says nothing of x, and both ways move it: the bound is between no two thresholds.
    let index = Type::Nat;
    let cells = Type::Array(Arc::new(ArrayType { index, element: Type::Int }));
    let (x, y, cells) = (Datum::new("x", Type::Int), Datum::new("y", Type::Int), Datum::new("cells", cells));
    let both = [cmp(t(&x), "==", Term::int(0)), cmp(t(&y), "==", Term::int(0))];
    let mut model = Builder::new(&[&cells], &[&x, &y], Term::and(both), &["loop", "done"]);
    let a = model.action("A", &[]);
    let cell = Term::select(&t(&cells), &Term::int(0));
    let move_by = |datum: &Datum, by| Term::add(&t(datum), &Term::int(by));
    let guard = Term::and([cmp(cell, "!=", Term::int(0)), cmp(t(&x), "<", Term::int(100))]);
    model.transition("loop", a, guard, &[(&x, move_by(&x, 3)), (&y, move_by(&y, 1))], "loop");
    model.transition("loop", a, cmp(t(&x), "<", t(&y)), &[], "done");
    let no_help = Analysis {
        thresholds: Thresholds::List(vec![]),
        descending_steps: 0,
        ..options(DomainKind::Polyhedra)
    };
    assert_eq!(texts(&reach(&model.0, &no_help).0), ["x == 3 * y && y >= 0 && y <= 34", "false"]);
}

#[test]
fn precise_hull_of_large_numbers() {
    // Of (0, 0) and of 1 with any number up to 10^20 the hull is `v <= 10^20 * n`: `v` is 0 where `n` is.
    let (n, v, p) = (Datum::new("n", Type::Int), Datum::new("v", Type::Int), Datum::new("p", Type::Int));
    let zero = Term::and([cmp(t(&n), "==", Term::int(0)), cmp(t(&v), "==", Term::int(0))]);
    let mut model = Builder::new(&[], &[&n, &v], zero, &["l0", "l1"]);
    let (stay, take) = (model.action("A", &[]), model.action("B", &[&p]));
    let square = |of: &Term| Term::multiply(of, of);
    let most = square(&square(&Term::int(100_000)));
    let small = Term::and([cmp(t(&p), ">=", Term::int(0)), cmp(t(&p), "<=", most)]);
    model.transition("l0", stay, Term::yes(), &[], "l1");
    model.transition("l0", take, small, &[(&n, Term::int(1)), (&v, t(&p))], "l1");
    let facts = reach(&model.0, &options(DomainKind::Polyhedra)).0;
    assert_eq!(facts[1].to_string(), "n <= 1 && v >= 0 && 100000000000000000000 * n >= v");
}

#[test]
fn precise_cells_of_a_small_array() {
    // a[i] := 7 and then a[j] is read; cells are told apart by indices that are data.
    let index = Type::Range(0.into(), 2.into());
    let ty = Type::Array(Arc::new(ArrayType { index: index.clone(), element: Type::Int }));
    let (a, i, j) = (Datum::new("a", ty), Datum::new("i", index.clone()), Datum::new("j", index));
    let read = |at: Term| Term::select(&t(&a), &at);
    let zeros = (0..3).map(|at| cmp(read(Term::int(at)), "==", Term::int(0)));
    let mut model = Builder::new(&[&i, &j], &[&a], Term::and(zeros), &["l0", "l1", "same", "other", "never"]);
    let go = model.action("A", &[]);
    let stored = Term::store(&t(&a), &t(&i), &Term::int(7));
    model.transition("l0", go, Term::yes(), &[(&a, stored)], "l1");
    model.transition("l1", go, cmp(read(t(&j)), "==", Term::int(7)), &[], "same");
    model.transition("l1", go, cmp(read(t(&j)), "==", Term::int(0)), &[], "other");
    model.transition("l1", go, cmp(read(t(&j)), ">", Term::int(7)), &[], "never");
    for domain in DATA {
        let (facts, lost) = reach(&model.0, &options(domain));
        assert!(lost.is_empty(), "{lost:?}");
        assert_eq!(facts.iter().map(Term::is_false).collect::<Vec<_>>(), [false, false, false, false, true]);
    }
}

#[test]
fn precise_flags_and_negation() {
    // !(n == 3) with a flag that remembers n > 3; `!=` at the end of a range cuts it.
    let (n, big) = (Datum::new("n", Type::Range(0.into(), 3.into())), Datum::new("big", Type::Bool));
    let p = Datum::new("p", Type::Range(0.into(), 3.into()));
    let mut model = Builder::new(
        &[],
        &[&n, &big],
        Term::and([cmp(t(&n), "==", Term::int(0)), t(&big).not()]),
        &["l0", "l1", "l2"],
    );
    let a = model.action("A", &[&p]);
    model.transition("l0", a, Term::yes(), &[(&n, t(&p)), (&big, cmp(t(&p), ">", Term::int(1)))], "l1");
    model.transition("l1", a, cmp(t(&n), "!=", Term::int(3)), &[], "l2");
    for domain in DATA {
        let (facts, imprecisions) = reach(&model.0, &options(domain));
        assert_eq!(imprecisions, []);
        assert_eq!(
            texts(&facts),
            ["!big && n == 0", "!big && n <= 1 || big && n >= 2", "!big && n <= 1 || big && n == 2"],
            "{domain}"
        );
    }
}

#[test]
fn imprecisions_are_listed() {
    let (x, y) = (Datum::new("x", Type::Int), Datum::new("y", Type::Nat));
    let flags: Vec<Datum> = (0..4).map(|at| Datum::new(format!("f{at}"), Type::Bool)).collect();
    let mut variables = vec![&x, &y];
    variables.extend(&flags);
    let mut model = Builder::new(&[], &variables, cmp(t(&x), "==", Term::int(0)), &["l0"]);
    let a = model.action("A", &[]);
    let product = Term::multiply(&t(&x), &t(&y));
    let quotient = Term::arithmetic(Operator::IntegerDivide, &t(&y), &Term::int(2));
    let guard = Term::and([cmp(product, ">", Term::int(3)), t(&flags[2])]);
    model.transition("l0", a, guard.clone(), &[(&y, quotient.clone())], "l0");
    for domain in DATA {
        let (facts, imprecisions) = reach(&model.0, &Analysis { partition_limit: 2, ..options(domain) });
        assert_eq!(texts(&facts), ["x == 0"], "{domain}: the type says y >= 0, and nothing else is known");
        let listed: Vec<(ImprecisionPlace, String, ImprecisionReason)> = imprecisions
            .iter()
            .map(|imprecision| (imprecision.place, imprecision.term.to_string(), imprecision.reason))
            .collect();
        let expected = [
            (ImprecisionPlace::Data, "f0".to_owned(), ImprecisionReason::Unpartitioned),
            (ImprecisionPlace::Data, "f1".to_owned(), ImprecisionReason::Unpartitioned),
            (ImprecisionPlace::Data, "f3".to_owned(), ImprecisionReason::Unpartitioned),
            (ImprecisionPlace::Transition(0), "x * y".to_owned(), ImprecisionReason::NonLinear),
            (ImprecisionPlace::Transition(0), quotient.to_string(), ImprecisionReason::IntegerDivision),
        ];
        assert_eq!(listed, expected, "{domain}");
    }
    assert_eq!(reach(&model.0, &options(DomainKind::Location)).1, []);
}

#[test]
fn stopping_is_a_value() {
    let (model, accepting) = coffee();
    for &domain in DomainKind::ALL {
        let facts = analyse(&model, &accepting, &Analysis { step_limit: 3, ..options(domain) });
        assert_eq!(facts.iterations.stopped, Some(Exhausted::Steps(3)));
        assert!(
            facts.reach[..9].iter().all(Term::is_true),
            "{domain}: all that can be said is that there are edges"
        );
    }
}

#[test]
fn a_long_chain_needs_no_stack() {
    let x = Datum::new("x", Type::Int);
    let names: Vec<String> = (0..10_000).map(|at| format!("l{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut model = Builder::new(&[], &[&x], cmp(t(&x), "==", Term::int(0)), &[]);
    model.0.locations = names.iter().map(|name| coreach_model::Location::named(*name)).collect();
    let a = model.action("A", &[]);
    for at in 0..names.len() {
        let next = (at + 1) % names.len();
        model.0.transitions.push(coreach_model::Transition {
            source: LocationId::of(at),
            action: a,
            guard: Term::yes(),
            assignments: Default::default(),
            target: LocationId::of(next),
            origin: Default::default(),
        });
    }
    for &domain in DomainKind::ALL {
        let facts = analyse(&model.0, &vec![true; names.len()], &options(domain));
        let expected = if domain == DomainKind::Location { "true" } else { "x == 0" };
        assert!(facts.reach.iter().chain(&facts.coreach).all(|fact| fact.to_string() == expected));
    }
}

#[test]
fn nested_loops_end() {
    // A doubly linked chain: loops nested as deeply as there are locations. x counts the steps to the right.
    let x = Datum::new("x", Type::Nat);
    let count = 300;
    let mut model = Builder::new(&[], &[&x], cmp(t(&x), "==", Term::int(0)), &[]);
    model.0.locations = (0..count).map(|at| coreach_model::Location::named(format!("l{at}"))).collect();
    let a = model.action("A", &[]);
    let names: Vec<String> = model.0.locations.iter().map(|location| location.name.clone()).collect();
    for pair in names.windows(2) {
        model.transition(&pair[0], a, Term::yes(), &[(&x, Term::add(&t(&x), &Term::int(1)))], &pair[1]);
        model.transition(&pair[1], a, Term::yes(), &[(&x, Term::subtract(&t(&x), &Term::int(1)))], &pair[0]);
    }
    for domain in DATA {
        let facts = analyse(&model.0, &vec![true; count], &options(domain));
        assert!(
            facts.iterations.stopped.is_none() && facts.iterations.steps < 100 * count,
            "{:?}",
            facts.iterations
        );
    }
}

#[test]
fn sound_copy_of_a_flag_beyond_the_partition() {
    // Soundness: `g` has no room in the partition, so that after `f := g` the flag `f` may have any value.
    let (f, g) = (Datum::new("f", Type::Bool), Datum::new("g", Type::Bool));
    let mut model = Builder::new(&[], &[&f, &g], Term::and([t(&f).not(), t(&g)]), &["l0", "l1"]);
    let a = model.action("A", &[]);
    model.transition("l0", a, t(&f).not(), &[(&f, t(&g))], "l1");
    for domain in DATA {
        let (facts, imprecisions) = reach(&model.0, &Analysis { partition_limit: 2, ..options(domain) });
        assert_eq!(
            (texts(&facts), imprecisions.len()),
            (vec!["!f".to_owned(), "true".to_owned()], 3),
            "{imprecisions:?}"
        );
        assert_eq!(texts(&reach(&model.0, &options(domain)).0), ["!f && g", "f && g"]);
    }
}

#[test]
fn precise_bounds_by_guards_with_parameters() {
    // Two counters in one location, each raised by a parameter while it stays within 10: narrowing cannot
    // bring back a bound that widening gave up, since the other's loop keeps it away.
    let [x, y] = ["x", "y"].map(|name| Datum::new(name, Type::Int));
    // An interval of `x + p` is the sum of two, so it asks for a bound of `p`.
    let few = Type::Range(0.into(), 3.into());
    let cases = [
        (DomainKind::Polyhedra, Type::Nat, 10),
        (DomainKind::Octagon, Type::Nat, 10),
        (DomainKind::Interval, few, 13),
    ];
    for (domain, ty, most) in cases {
        let p = Datum::new("p", ty);
        let zero = Term::and([cmp(t(&x), "==", Term::int(0)), cmp(t(&y), "==", Term::int(0))]);
        let mut model = Builder::new(&[], &[&x, &y], zero, &["loop"]);
        for (name, counter) in [("A", &x), ("B", &y)] {
            let raise = model.action(name, &[&p]);
            let raised = Term::add(&t(counter), &t(&p));
            let guard = cmp(raised.clone(), "<=", Term::int(10));
            model.transition("loop", raise, guard, &[(counter, raised)], "loop");
        }
        let facts = texts(&reach(&model.0, &options(domain)).0);
        assert_eq!(facts, [format!("x >= 0 && x <= {most} && y >= 0 && y <= {most}")], "{domain}");
    }
}

#[test]
fn precise_records_within_records() {
    // Sixteen cells, and as many values of the parameter in each.
    let fields = |ty: &Type| ["a", "b"].map(|name| (name.to_owned(), ty.clone())).to_vec();
    let mut ty = Type::Bool;
    for depth in 0..2 {
        ty = Type::Record(Arc::new(RecordType {
            name: format!("R{depth}"),
            fields: fields(&ty),
            form: coreach_model::types::RecordForm::Plain,
        }));
    }
    let [v, p] = ["v", "p"].map(|name| Datum::new(name, ty.clone()));
    let mut model = Builder::new(&[], &[&v], Term::yes(), &["one", "same", "other"]);
    let put = model.action("Put", &[&p]);
    model.transition("one", put, cmp(t(&v), "==", t(&p)), &[(&v, t(&p))], "same");
    model.transition("same", put, cmp(t(&v), "!=", t(&p)), &[], "other");
    let (facts, imprecisions) = reach(&model.0, &options(DomainKind::Interval));
    assert!(facts.iter().all(Term::is_true) && imprecisions.is_empty(), "{facts:?} {imprecisions:?}");
}

#[test]
fn precise_products_within_the_bounds_of_their_factors() {
    let range = |high: i64| Type::Range(0.into(), high.into());
    let (x, y, z) = (Datum::new("x", range(3)), Datum::new("y", Type::Nat), Datum::new("z", Type::Int));
    let wide = Datum::new("w", range(1000));
    let mut model =
        Builder::new(&[&x, &y, &wide], &[&z], cmp(t(&z), "==", Term::int(0)), &["l0", "l1", "no"]);
    let a = model.action("A", &[]);
    let times = |a: &Datum, b: &Datum| Term::multiply(&t(a), &t(b));
    let few = cmp(t(&y), "<=", Term::int(30));
    model.transition("l0", a, few.clone(), &[(&z, times(&x, &y))], "l1");
    model.transition("l1", a, cmp(t(&z), ">", Term::int(90)), &[], "no");
    // A factor of few values; one of many, by McCormick; a square; a product of a product.
    model.transition("l0", a, Term::and([few.clone(), cmp(times(&x, &y), ">", Term::int(90))]), &[], "no");
    model.transition(
        "l0",
        a,
        Term::and([few.clone(), cmp(times(&wide, &y), ">", Term::int(30000))]),
        &[],
        "no",
    );
    model.transition("l0", a, cmp(times(&z, &z), "<", Term::int(0)), &[], "no");
    let cube = Term::multiply(&times(&x, &y), &t(&x));
    model.transition("l0", a, Term::and([few, cmp(cube, ">", Term::int(270))]), &[], "no");
    // Where a disjunction decides.
    let either = Term::or([cmp(times(&x, &y), "==", Term::int(7)), cmp(t(&y), ">", Term::int(4))]);
    model.transition("l0", a, Term::and([either, cmp(t(&y), "<=", Term::int(2))]), &[], "no");
    for domain in [DATA[0], DATA[1], DomainKind::Octagon, DomainKind::PolyhedraCongruence] {
        let (facts, lost) = reach(&model.0, &options(domain));
        assert!(facts[2].is_false(), "{domain}: {}", facts[2]);
        assert!(!facts[1].is_false(), "{domain}");
        assert!(lost.iter().all(|lost| lost.reason == ImprecisionReason::NonLinear), "{lost:?}");
    }
}

#[test]
fn precise_remainders_and_cells_as_numbers_of_their_own() {
    let n = Datum::new("n", Type::Range(0.into(), 999.into()));
    let element = Type::Range(2.into(), 9.into());
    let cells = Type::Array(Arc::new(ArrayType { index: Type::Nat, element }));
    let (cells, at) = (Datum::new("cells", cells), Datum::new("at", Type::Nat));
    let mut model = Builder::new(&[&n, &at], &[&cells], Term::yes(), &["l0", "yes", "no"]);
    let a = model.action("A", &[]);
    let by = |operator, by| Term::arithmetic(operator, &t(&n), &Term::int(by));
    let by_data = |operator| Term::arithmetic(operator, &t(&n), &t(&at));
    let cell = |more| Term::select(&t(&cells), &Term::add(&t(&at), &Term::int(more)));
    let guards = [
        cmp(by(Operator::Modulo, 100), ">", Term::int(99)),
        cmp(by(Operator::IntegerDivide, -100), "<", Term::int(-9)),
        Term::and([cmp(by(Operator::Modulo, 100), "==", t(&n)), cmp(t(&n), ">", Term::int(100))]),
        Term::and([cmp(cell(0), ">", t(&n)), cmp(t(&n), ">", Term::int(8))]),
        Term::and([cmp(cell(1), "<", Term::int(5)), cmp(cell(1), ">", Term::int(4))]),
        // A divisor that is data, and its rest.
        Term::and([cmp(t(&at), "==", Term::int(3)), cmp(by_data(Operator::Modulo), ">", Term::int(2))]),
        Term::and([
            cmp(t(&at), "==", Term::int(3)),
            cmp(by_data(Operator::IntegerDivide), ">", Term::int(333)),
        ]),
    ];
    for guard in guards {
        model.transition("l0", a, guard, &[], "no");
    }
    let different = Term::and([cmp(cell(0), "==", Term::int(3)), cmp(cell(1), "==", Term::int(4))]);
    model.transition("l0", a, different, &[], "yes");
    for domain in [DATA[0], DATA[1], DomainKind::PolyhedraCongruence] {
        let facts = reach(&model.0, &options(domain)).0;
        // A box does not relate a remainder with its number.
        assert!(facts[2].is_false() || domain == DomainKind::Interval, "{domain}: {}", facts[2]);
        assert!(!facts[1].is_false(), "{domain}");
    }
}
