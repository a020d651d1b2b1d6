//! How long a large model takes. Not a test of truth: run by hand, in release, with
//! `cargo test --release -p coreach-analyses --test reachability -- --ignored --nocapture scale`.

use std::time::Instant;

use coreach_analyses::{Analysis, DomainKind, analyse};
use coreach_model::{Datum, Iosts, Location, LocationId, Number, Term, Transition, Type};

use super::build::{Builder, beverage, beverages, cmp, t};

/// A product-like model: a long chain with detours and loops, its guards and assignments drawn from a pool.
fn large(locations: usize, extra: usize, dimensions: usize, pool: usize) -> Iosts {
    let variables: Vec<Datum> = (0..dimensions)
        .map(|at| Datum::new(format!("v{at}"), if at % 2 == 0 { Type::Nat } else { Type::Int }))
        .collect();
    let (flag, drink) = (Datum::new("flag", Type::Bool), Datum::new("drink", Type::Enum(beverages())));
    let (p, q) = (Datum::new("p", Type::Nat), Datum::new("q", Type::Enum(beverages())));
    let mut all: Vec<&Datum> = variables.iter().collect();
    all.extend([&flag, &drink]);
    let zero = Term::and(variables.iter().map(|v| cmp(t(v), "==", Term::int(0))));
    let mut model = Builder::new(&[], &all, zero, &[]);
    let action = model.action("A", &[&p, &q]);
    model.0.locations = (0..locations).map(|at| Location::named(format!("l{at}"))).collect();
    let mut state = 7u64;
    let mut next = |bound: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % bound
    };
    let mut effects = Vec::new();
    for number in 0..pool {
        let (v, w) = (&variables[next(dimensions)], &variables[next(dimensions)]);
        let k = Term::int(next(5) as i64 + 1);
        effects.push(match next(6) {
            0 => (cmp(t(v), ">=", k.clone()), vec![(v.clone(), Term::subtract(&t(v), &k))]),
            1 => (
                Term::and([cmp(t(&p), ">", Term::int(0)), cmp(t(&p), "<=", k)]),
                vec![(v.clone(), Term::add(&t(v), &t(&p)))],
            ),
            2 => (cmp(t(v), "<=", Term::add(&t(w), &k)), vec![(v.clone(), Term::add(&t(v), &Term::int(1)))]),
            3 => (cmp(t(&q), "==", beverage(number % 2)), vec![(drink.clone(), t(&q))]),
            4 => (cmp(t(v), "!=", k), vec![(flag.clone(), cmp(t(w), ">", Term::int(2)))]),
            _ => (cmp(t(&p), "==", Term::subtract(&t(v), &t(w))), vec![(w.clone(), Term::int(0))]),
        });
    }
    let mut add = |source: usize, target: usize, effect: Option<usize>| {
        let (guard, assignments) = match effect {
            Some(effect) => effects[effect].clone(),
            None => (Term::yes(), Vec::new()),
        };
        model.0.transitions.push(Transition {
            source: LocationId::of(source),
            action,
            guard,
            assignments: assignments.into_iter().collect(),
            target: LocationId::of(target),
            origin: Default::default(),
        });
    };
    for at in 0..locations - 1 {
        let effect = (next(4) != 0).then(|| next(pool));
        // A way on that is always open keeps the model from ending early.
        let jump = (at + 1 + next(20)).min(locations - 1);
        add(at, at + 1, effect);
        if extra * at / locations != extra * (at + 1) / locations {
            if next(3) == 0 {
                add(at, at.saturating_sub(next(15)), Some(next(pool)));
            } else {
                add(at, jump, None);
            }
        }
    }
    model.0
}

#[test]
#[ignore = "a measurement"]
fn scale() {
    for dimensions in [2, 4, 6] {
        for pool in [20, 400] {
            let model = large(4000, 2500, dimensions, pool);
            let mut accepting = vec![false; 4000];
            accepting[3999] = true;
            for &domain in DomainKind::ALL {
                let start = Instant::now();
                let facts = analyse(&model, &accepting, &Analysis { domain, ..Analysis::default() });
                let reached = facts.reach.iter().filter(|fact| !fact.is_false()).count();
                println!(
                    "{dimensions} dimensions, pool {pool}, {} transitions, {domain}: {:?}, {reached} reached, {:?}",
                    model.transitions.len(),
                    start.elapsed(),
                    facts.iterations
                );
            }
        }
    }
}
