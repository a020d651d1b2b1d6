//! Random operations by the million, each performed by every library, all answers compared.
//!
//! A seed names a sequence of some twenty operations. Ours goes first and decides which operations are worth
//! it: results that become large are dropped, so that the others do not explode. Numbers are small mostly,
//! and near 2^31, 2^63 and 2^64 now and then; a third of the sequences has strict inequalities. Dimensions
//! are 1 to 8, mostly few.
//!
//! Every new polyhedron is compared as a set of points with what the others made, so that a difference is
//! seen where it arises, even if no question is asked. After a difference the others go on from ours.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use coreach_polyhedra::{Constraint, Integer, LinearExpression, Polyhedron, Relation};
use coreach_tests::sequence::{Sequence, SequenceStep};

use crate::agreement::{Agreement, Follow, follower};
use crate::library::{Library, LibraryAnswer, LibraryKind};
use crate::ours::Ours;
use crate::shapes::label;
use coreach_tests::generator::edges::EDGES;
use coreach_tests::generator::random::Random;

/// How often it is said how far it is.
const PROGRESS: Duration = Duration::from_secs(20);

/// Attempts of one sequence.
const STEPS: usize = 24;

/// A polyhedron with more constraints than this is dropped.
const LARGE: usize = 24;

/// Numbers with more digits than this are dropped: they grow with every operation.
const DIGITS: usize = 60;

/// Performs so many operations from a seed on, and prints all differences; their number. With a file, it
/// begins at the seed that the file names, and writes the next one there as it goes.
///
/// # Errors
/// What a library says, or a file that does not hold a seed.
pub fn run(operations: u64, seed: u64, resume: Option<&Path>) -> Result<usize, String> {
    let mut seed = seed;
    if let Some(text) = resume.and_then(|file| fs::read_to_string(file).ok()) {
        seed = text.trim().parse().map_err(|_| "the file of --resume does not hold a seed")?;
    }
    let (first, start) = (seed, Instant::now());
    let mut told = start;
    let mut total = DifferentialTotal::default();
    while total.operations < operations {
        one(seed, &mut total).map_err(|error| format!("seed {seed}: {error}"))?;
        seed += 1;
        if told.elapsed() >= PROGRESS {
            told = Instant::now();
            eprintln!("{} operations, next seed {seed}, {} differences", total.operations, total.differences);
            save(resume, seed)?;
        }
    }
    save(resume, seed)?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} operations of seeds {first} to {}, {} differences, {} widenings differ; {:.0} operations/s",
        total.operations,
        seed - 1,
        total.differences,
        total.widenings,
        total.operations as f64 / seconds
    );
    for (label, count) in &total.by_label {
        println!("  {label:<18} {count:>9}");
    }
    Ok(total.differences)
}

fn save(file: Option<&Path>, seed: u64) -> Result<(), String> {
    let Some(file) = file else { return Ok(()) };
    fs::write(file, format!("{seed}\n")).map_err(|error| format!("{}: {error}", file.display()))
}

#[derive(Default)]
struct DifferentialTotal {
    operations: u64,
    differences: usize,
    widenings: usize,
    by_label: BTreeMap<&'static str, u64>,
}

/// Performs the sequence of a seed.
fn one(seed: u64, total: &mut DifferentialTotal) -> Result<(), String> {
    let mut random = Random::new(seed);
    let dimensions = [1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 8][random.below(12)];
    let (strict, extreme) = (random.chance(33), random.chance(15));
    let others =
        LibraryKind::ALL.iter().filter(|kind| !matches!(kind, LibraryKind::Ours | LibraryKind::Limited));
    let mut others: Vec<(LibraryKind, Box<dyn Follow>)> =
        others.map(|kind| Ok((*kind, follower(*kind, strict)?))).collect::<Result<_, String>>()?;
    let mut draw = Draw { random, strict, extreme };
    let mut sequence = Sequence { dimensions, steps: Vec::new() };
    let mut mine: Vec<Polyhedron> = Vec::new();
    for _ in 0..STEPS {
        let Some((step, own)) = draw.step(dimensions, &mine) else { continue };
        let answer = Ours.perform(&mut (step.clone(), own), &mine)?;
        if let LibraryAnswer::Made(new) = &answer
            && is_large(new)
        {
            continue;
        }
        total.operations += 1;
        *total.by_label.entry(label(&step)).or_default() += 1;
        sequence.steps.push(step.clone());
        for (kind, other) in &mut others {
            match other.follow(&step, own, &answer, &mine)? {
                Agreement::Same => {}
                Agreement::Widened => total.widenings += 1,
                Agreement::Different(text) => {
                    total.differences += 1;
                    println!("seed {seed}, step {}, {}: {text}", sequence.steps.len() - 1, kind.name());
                    println!("{sequence}");
                }
            }
        }
        if let LibraryAnswer::Made(new) = answer {
            mine.push(new);
        }
    }
    Ok(())
}

fn is_large(polyhedron: &Polyhedron) -> bool {
    let all = polyhedron.constraints();
    let long = |value: &Integer| value.to_i64().is_none() && value.to_string().len() > DIGITS;
    all.len() > LARGE || all.iter().any(|c| long(c.constant()) || c.coefficients().iter().any(long))
}

struct Draw {
    random: Random,
    strict: bool,
    extreme: bool,
}

impl Draw {
    fn number(&mut self, most: i64) -> Integer {
        if self.extreme && self.random.chance(15) {
            return Integer::from(EDGES[self.random.below(EDGES.len())]);
        }
        Integer::from(self.random.below((2 * most + 1) as usize) as i64 - most)
    }

    fn row(&mut self, dimensions: usize, most: i64) -> Vec<Integer> {
        // Few variables in each, as there are few relations between all.
        let percent = if dimensions <= 3 { 70 } else { 250 / dimensions };
        let entry = |draw: &mut Self| match draw.random.chance(percent) {
            true => draw.number(most),
            false => Integer::ZERO,
        };
        (0..dimensions).map(|_| entry(self)).collect()
    }

    fn constraint(&mut self, dimensions: usize) -> Constraint {
        let relation = match self.random.below(8) {
            0 => Relation::Equal,
            1..=3 if self.strict => Relation::Greater,
            _ => Relation::AtLeast,
        };
        if dimensions > 0 && self.random.chance(40) {
            // Sides of boxes make bounded polyhedra likely.
            let side = self.random.below(dimensions);
            let sign = if self.random.chance(50) { 1 } else { -1 };
            let row = (0..dimensions).map(|at| Integer::from(if at == side { sign } else { 0 })).collect();
            return Constraint::new(row, self.number(6), relation);
        }
        let row = self.row(dimensions, 3);
        Constraint::new(row, self.number(6), relation)
    }

    fn constraints(&mut self, dimensions: usize, most: usize) -> Vec<Constraint> {
        let count = self.random.between((1, most));
        (0..count).map(|_| self.constraint(dimensions)).collect()
    }

    fn expression(&mut self, dimensions: usize) -> LinearExpression {
        let row = self.row(dimensions, 2);
        let constant = self.number(4);
        let denominator = Integer::from([1, 1, 1, 2, 3][self.random.below(5)]);
        // The denominator is not 0.
        LinearExpression::new(row, constant, denominator).unwrap_or_else(|| LinearExpression::variable(0))
    }

    /// Different dimensions, up to so many.
    fn some(&mut self, dimensions: usize, most: usize) -> Vec<usize> {
        let mut left: Vec<usize> = (0..dimensions).collect();
        let count = self.random.between((1, most)).min(dimensions);
        (0..count).map(|_| left.remove(self.random.below(left.len()))).collect()
    }

    fn assignments(&mut self, dimensions: usize) -> Vec<(usize, LinearExpression)> {
        let targets = self.some(dimensions, 2);
        targets.into_iter().map(|at| (at, self.expression(dimensions))).collect()
    }

    /// A step and the dimensions of its polyhedra; nothing where what was drawn does not fit.
    fn step(&mut self, dimensions: usize, made: &[Polyhedron]) -> Option<(SequenceStep, usize)> {
        if made.is_empty() || self.random.chance(12) {
            return Some((
                SequenceStep::Constraints(self.constraints(dimensions, dimensions + 3)),
                dimensions,
            ));
        }
        // Later ones are more likely: they are the more interesting.
        let late = |draw: &mut Self| {
            let back = draw.random.below(made.len()).min(draw.random.below(made.len()));
            made.len() - 1 - back
        };
        let (a, b) = (late(self), late(self));
        let own = made[a].dimensions();
        let pair = (made[b].dimensions() == own).then_some((a, b));
        let size = |at: usize| made[at].constraints().len();
        // Hulls of large polyhedra in many dimensions explode.
        let small =
            |(a, b): &(usize, usize)| own <= 4 || size(*a) + size(*b) <= if own == 5 { 18 } else { 12 };
        let step = match self.random.below(20) {
            0 | 1 => pair.map(|(a, b)| SequenceStep::Meet(a, b))?,
            2..=4 => SequenceStep::MeetConstraints(a, self.constraints(own, 2)),
            5..=7 => pair.filter(small).map(|(a, b)| SequenceStep::Join(a, b))?,
            8 => {
                let (a, b) = pair.filter(|(a, b)| a != b && made[*a].is_leq(&made[*b]))?;
                let thresholds = if self.random.chance(50) { self.constraints(own, 3) } else { Vec::new() };
                SequenceStep::Widen(a, b, thresholds)
            }
            9..=11 if own > 0 => SequenceStep::Assign(a, self.assignments(own)),
            12 | 13 if own > 0 => SequenceStep::Substitute(a, self.assignments(own)),
            14 if own > 0 => SequenceStep::Forget(a, self.some(own, 2)),
            15 if own < 8 && self.random.chance(30) => SequenceStep::Add(a, 1),
            15 if own > 1 => SequenceStep::Remove(a, self.some(own - 1, 1)),
            16 | 17 => pair.map(|(a, b)| SequenceStep::IsLeq(a, b))?,
            18 => SequenceStep::IsEmpty(a),
            _ => SequenceStep::Bounds(a, self.expression(own)),
        };
        Some((step, own))
    }
}
