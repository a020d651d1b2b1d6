//! How many random pairs does the pipeline refuse, in which stage, and why?
//! `refusals --cases N [--seed S] [--unbounded] [--list]`
//!
//! The pairs are those of `soak`, or with `--unbounded` those of [`coreach_tests::generator::unbounded`]. The
//! stages up to `determinize` are run, and random traces say of a closed machine what a longer lookahead
//! would have done. `--list` names the pairs that are refused.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use coreach_analyses::live::live;
use coreach_analyses::reachability::analyse;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::iosts::Aim;
use coreach_model::semantics::{Event, State, initial_states, step};
use coreach_model::term::evaluate::holds;
use coreach_model::{Datum, Type, Value};
use coreach_pipeline::artifact::Closed;
use coreach_pipeline::limits::{Limits, Quantity};
use coreach_pipeline::stages::close::close;
use coreach_pipeline::stages::complete::complete;
use coreach_pipeline::stages::determinize::determinize;
use coreach_pipeline::stages::product::make_product;
use coreach_pipeline::stop::Stop;
use coreach_tests::generator::random::Random;
use coreach_tests::generator::{Shape, generate, unbounded};
use coreach_tests::source::{Input, read, read_text};

fn main() -> ExitCode {
    let (mut cases, mut seed, mut wide, mut list) = (1000, 1, false, false);
    let mut limits = Limits::default();
    let mut given = env::args().skip(1);
    while let Some(name) = given.next() {
        let mut number = || given.next().and_then(|value| value.parse::<u64>().ok());
        match name.as_str() {
            "--cases" => cases = number().unwrap_or(cases),
            "--seed" => seed = number().unwrap_or(seed),
            "--ways" => limits = limits.with(Quantity::Ways, number().unwrap_or(8)),
            "--unbounded" => wide = true,
            "--list" => list = true,
            _ => {
                eprintln!("usage: refusals [--cases N] [--seed S] [--unbounded] [--list]");
                return ExitCode::from(2);
            }
        }
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let (mut total, mut slowest) = (Duration::ZERO, (Duration::ZERO, 0));
    for seed in seed..seed + cases {
        let input = if wide {
            let texts = unbounded::generate(seed);
            match read_text(texts.specification.clone(), texts.purpose.clone()) {
                Ok(input) => input,
                Err(why) => {
                    println!("{seed}: {why}\n{}\n{}", texts.specification, texts.purpose);
                    return ExitCode::from(1);
                }
            }
        } else {
            match read(&generate(seed, &Shape::default())) {
                Ok(input) => input,
                Err(why) => {
                    println!("{seed}: {why}");
                    return ExitCode::from(1);
                }
            }
        };
        let start = Instant::now();
        let mut closed = None;
        let said = match run(input, &limits, &mut closed) {
            Ok(()) => "made".to_owned(),
            Err(stop) => {
                let text = stop.to_diagnostic();
                let widest = closed.as_ref().map(|closed| widest(closed, &mut Random::new(seed)));
                if list {
                    if let Some(closed) = &closed {
                        for t in &closed.iosts.transitions {
                            let e: Vec<String> =
                                t.assignments.iter().map(|(v, t)| format!("{v} := {t}")).collect();
                            println!("    {} [{}] {{{}}}", closed.iosts.describe(t), t.guard, e.join(", "));
                        }
                    }
                    println!("{seed}: {widest:?} states by one trace\n  {}", text.notes.join("\n  "));
                }
                let known = if widest > Some(MANY) { ", and random traces lead to many states" } else { "" };
                format!("refused: {}{known}", text.code)
            }
        };
        let took = start.elapsed();
        total += took;
        if took > slowest.0 {
            slowest = (took, seed);
        }
        *counts.entry(said).or_default() += 1;
    }
    println!(
        "{cases} pairs, {:.1} s, the slowest (seed {}) {:.2} s",
        total.as_secs_f64(),
        slowest.1,
        slowest.0.as_secs_f64()
    );
    for (said, count) in counts {
        println!("{said:40} {count:6}");
    }
    ExitCode::SUCCESS
}

fn run(input: Input, limits: &Limits, kept: &mut Option<Closed>) -> Result<(), Stop> {
    let mut solver = Z3Solver::default();
    let complete = complete(input.purpose, limits, &mut solver);
    let product = make_product(&input.specification, complete, limits, &mut solver)?;
    let closed = close(product, limits, &mut solver)?;
    *kept = Some(closed.clone());
    determinize(closed, 8, Aim::Accept, &Default::default(), limits, &mut solver)?;
    Ok(())
}

/// So many states by one trace, and hardly any number of ways would do.
const MANY: usize = 4;

/// The most states, told apart by what is still read in them, that a random trace leads to while Accept is in
/// reach of one of them and none accepts. Integers are drawn from a window, and from what the variables have.
fn widest(closed: &Closed, random: &mut Random) -> usize {
    let iosts = &closed.iosts;
    let mut cut = iosts.clone();
    cut.transitions.retain(|transition| !closed.accepting[transition.source]);
    let live = live(&cut, &closed.accepting);
    let coreach = analyse(&cut, &closed.accepting, &Default::default()).coreach;
    let constants = iosts.constants.iter().map(|datum| (datum.clone(), Value::Int(2.into()))).collect();
    let Ok(initial) = initial_states(iosts, &constants, 100) else { return 0 };
    let is_alive = |state: &State| {
        let fact = &coreach[state.location.0 as usize];
        holds(fact, &state.valuation).unwrap_or(true)
    };
    let mut widest = 0;
    for _ in 0..200 {
        let mut states: BTreeSet<State> = initial.iter().cloned().collect();
        for _ in 0..14 {
            let told: BTreeSet<_> = states
                .iter()
                .map(|state| {
                    let read = |(datum, _): &(&Datum, &Value)| live[state.location].contains(*datum);
                    (state.location, state.valuation.iter().filter(read).collect::<Vec<_>>())
                })
                .collect();
            let accepts = states.iter().any(|state| closed.accepting[state.location]);
            if accepts || !states.iter().any(is_alive) {
                break;
            }
            widest = widest.max(told.len());
            let mut pool: Vec<Value> = (-1..6).map(|value: i32| Value::Int(value.into())).collect();
            pool.extend(states.iter().flat_map(|state| state.valuation.values().cloned()));
            let mut next = BTreeSet::new();
            for _ in 0..30 {
                let action = &iosts.actions[random.number_in(&iosts.actions)];
                let values = action.parameters.iter().filter_map(|parameter| match parameter.ty() {
                    Type::Int => random.pick(&pool).cloned(),
                    ty => Value::enumerate(ty, 64).and_then(|all| random.pick(&all).cloned()),
                });
                let event = Event::new(action.name.clone(), values.collect::<Vec<_>>());
                next = states.iter().flat_map(|state| step(iosts, state, &event)).collect();
                if !next.is_empty() {
                    break;
                }
            }
            states = next;
        }
    }
    widest
}
