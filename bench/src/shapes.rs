//! The sequences that are replayed: random ones of several shapes, which a seed determines.
//!
//! Each is a mix of what an analysis does: two polyhedra are built, a few rounds of a fixpoint run from the
//! first (a guard, an assignment, a join with what was there, the question whether anything is new), and
//! around them stand single operations of every kind. Constraints are satisfied by one random point, so that
//! polyhedra are not empty by accident.
//!
//! Unrelated polyhedra are joined in the dense shapes, and in the others up to 4 dimensions. Beyond, the hull
//! of two unrelated products relates everything to everything, and no library can write it down: there, joins
//! are those of a fixpoint, whose arguments differ in a block or two.

use coreach_polyhedra::{Constraint, Integer, LinearExpression, Relation};
use coreach_tests::sequence::{Sequence, SequenceStep};

use coreach_tests::generator::random::Random;

/// What the constraints look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShapeForm {
    /// Two or three variables, any of them.
    Dense,
    /// Blocks of 2 to 4 variables, about as many constraints in each as make it bounded.
    Blocks,
    /// One variable: both bounds, or one.
    Boxes,
    /// `±x ± y` and bounds.
    Octagons,
}

/// A form in so many dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConstraintShape {
    /// The form.
    pub form: ShapeForm,
    /// The number of dimensions.
    pub dimensions: usize,
    /// The fewest and the most constraints of one polyhedron, where the form does not say it.
    pub constraints: (usize, usize),
    /// How many sequences there are, unless the user says otherwise.
    pub sequences: usize,
}

const fn shape(form: ShapeForm, dimensions: usize, sequences: usize) -> ConstraintShape {
    ConstraintShape { form, dimensions, constraints: (0, 0), sequences }
}

const fn dense(dimensions: usize, constraints: (usize, usize), sequences: usize) -> ConstraintShape {
    ConstraintShape { form: ShapeForm::Dense, dimensions, constraints, sequences }
}

/// All shapes. Dense polyhedra in 8 and 12 dimensions with many constraints explode in joins: they stand
/// apart, so that one sees where that begins.
pub const SHAPES: [ConstraintShape; 16] = [
    dense(4, (10, 20), 100),
    dense(8, (10, 13), 24),
    dense(8, (14, 20), 8),
    dense(12, (10, 13), 16),
    dense(12, (14, 20), 6),
    shape(ShapeForm::Blocks, 4, 60),
    shape(ShapeForm::Blocks, 8, 40),
    shape(ShapeForm::Blocks, 16, 12),
    shape(ShapeForm::Blocks, 32, 8),
    shape(ShapeForm::Boxes, 4, 60),
    shape(ShapeForm::Boxes, 8, 40),
    shape(ShapeForm::Boxes, 16, 12),
    shape(ShapeForm::Boxes, 32, 8),
    shape(ShapeForm::Octagons, 4, 60),
    shape(ShapeForm::Octagons, 6, 40),
    shape(ShapeForm::Octagons, 8, 20),
];

impl ConstraintShape {
    /// The name in tables and arguments.
    pub fn name(self) -> String {
        let form = match self.form {
            ShapeForm::Dense => "dense",
            ShapeForm::Blocks => "blocks",
            ShapeForm::Boxes => "boxes",
            ShapeForm::Octagons => "octagons",
        };
        let many = if self.constraints.0 > 10 { "-many" } else { "" };
        format!("{form}-{}{many}", self.dimensions)
    }

    /// One of its sequences: number `index` of `count`, over which the number of constraints is spread.
    pub fn case(self, seed: u64, index: usize, count: usize) -> ShapeCase {
        // Neighbouring seeds give unrelated streams; shapes must not share them.
        let numbers = [self.form as u64, self.dimensions as u64, self.constraints.0 as u64, index as u64];
        let own = numbers.iter().fold(0, |all, number| all << 16 | number);
        let mut mix = ShapeMix {
            random: Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ own),
            shape: self,
            share: index as f64 / count.saturating_sub(1).max(1) as f64,
            groups: Vec::new(),
            case: ShapeCase { name: format!("{}/{index}", self.name()), ..ShapeCase::default() },
            made: 0,
        };
        mix.group();
        mix.run();
        mix.case.sequence.dimensions = self.dimensions;
        mix.case
    }
}

/// A sequence, and what each of its steps is called in the table.
#[derive(Clone, Debug)]
pub struct ShapeCase {
    /// Where it comes from.
    pub name: String,
    /// The steps.
    pub sequence: Sequence,
    /// The name of each step's operation.
    pub labels: Vec<&'static str>,
}

impl Default for ShapeCase {
    fn default() -> Self {
        ShapeCase {
            name: String::new(),
            sequence: Sequence { dimensions: 0, steps: Vec::new() },
            labels: Vec::new(),
        }
    }
}

/// The name of a step's operation, as far as the step itself tells.
pub fn label(step: &SequenceStep) -> &'static str {
    match step {
        SequenceStep::Constraints(_) => "build",
        SequenceStep::Meet(..) => "meet",
        SequenceStep::MeetConstraints(..) => "meet constraints",
        SequenceStep::Join(..) => "join",
        SequenceStep::Widen(..) => "widen",
        SequenceStep::Assign(..) => "assign",
        SequenceStep::Substitute(..) => "substitute",
        SequenceStep::Forget(..) => "forget",
        SequenceStep::Add(..) => "add",
        SequenceStep::Remove(..) => "remove",
        SequenceStep::IsLeq(..) => "leq",
        SequenceStep::IsEmpty(_) => "empty",
        SequenceStep::Bounds(..) => "bounds",
        SequenceStep::List(_) => "list",
    }
}

struct ShapeMix {
    random: Random,
    shape: ConstraintShape,
    /// Where between the fewest and the most constraints this sequence stands.
    share: f64,
    /// The dimensions that constraints may relate.
    groups: Vec<Vec<usize>>,
    case: ShapeCase,
    made: usize,
}

impl ShapeMix {
    fn within(&mut self, most: i64) -> i64 {
        self.random.below((2 * most + 1) as usize) as i64 - most
    }

    /// Not 0.
    fn coefficient(&mut self) -> i64 {
        let size = 1 + self.random.below(3) as i64;
        if self.random.chance(50) { size } else { -size }
    }

    fn push(&mut self, label: &'static str, step: SequenceStep) -> usize {
        let is_question = matches!(
            step,
            SequenceStep::IsLeq(..)
                | SequenceStep::IsEmpty(_)
                | SequenceStep::Bounds(..)
                | SequenceStep::List(_)
        );
        self.case.sequence.steps.push(step);
        self.case.labels.push(label);
        self.made += usize::from(!is_question);
        self.made.saturating_sub(1)
    }

    fn group(&mut self) {
        let dimensions = self.shape.dimensions;
        if matches!(self.shape.form, ShapeForm::Dense | ShapeForm::Octagons) {
            self.groups = vec![(0..dimensions).collect()];
            return;
        }
        let mut start = 0;
        while start < dimensions {
            let size = match self.shape.form {
                ShapeForm::Boxes => 1,
                _ => self.random.between((2, 4)).min(dimensions - start),
            };
            self.groups.push((start..start + size).collect());
            start += size;
        }
    }

    /// Up to `count` different dimensions of one group.
    fn some_of(&mut self, group: usize, count: usize) -> Vec<usize> {
        let mut left = self.groups[group].clone();
        let count = count.min(left.len());
        (0..count).map(|_| left.remove(self.random.below(left.len()))).collect()
    }

    fn any(&mut self, count: usize) -> Vec<usize> {
        let group = self.random.below(self.groups.len());
        self.some_of(group, count)
    }

    fn row(&self, entries: &[(usize, i64)]) -> Vec<Integer> {
        let mut row = vec![Integer::ZERO; self.shape.dimensions];
        entries.iter().for_each(|&(at, value)| row[at] = Integer::from(value));
        row
    }

    /// A constraint that the point satisfies, with some room.
    fn around(&mut self, inside: &[i64], entries: &[(usize, i64)]) -> Constraint {
        let value: i64 = entries.iter().map(|&(at, c)| c * inside[at]).sum();
        let room = self.random.below(11) as i64;
        Constraint::new(self.row(entries), Integer::from(room - value), Relation::AtLeast)
    }

    /// One constraint on the dimensions in the manner of the form.
    fn one(&mut self, inside: &[i64], on: &[usize]) -> Constraint {
        let unit = self.shape.form == ShapeForm::Octagons;
        let entries: Vec<(usize, i64)> = on
            .iter()
            .map(|&at| (at, self.coefficient()))
            .map(|(at, c)| (at, if unit { c.signum() } else { c }))
            .collect();
        self.around(inside, &entries)
    }

    fn constraints(&mut self, inside: &[i64]) -> Vec<Constraint> {
        let mut all = Vec::new();
        match self.shape.form {
            ShapeForm::Dense => {
                let (fewest, most) = self.shape.constraints;
                for _ in 0..fewest + ((most - fewest) as f64 * self.share).round() as usize {
                    let count = self.random.between((2, 3));
                    let on = self.any(count);
                    all.push(self.one(inside, &on));
                }
            }
            ShapeForm::Blocks => {
                for group in 0..self.groups.len() {
                    let size = self.groups[group].len();
                    for _ in 0..size + self.random.below(3) {
                        let count = self.random.between((1, 3));
                        let on = self.some_of(group, count);
                        all.push(self.one(inside, &on));
                    }
                }
            }
            ShapeForm::Boxes => {
                for at in 0..self.shape.dimensions {
                    let sides: &[i64] = [&[1, -1][..], &[1, -1], &[1], &[-1]][self.random.below(4)];
                    for &side in sides {
                        all.push(self.around(inside, &[(at, side)]));
                    }
                }
            }
            ShapeForm::Octagons => {
                for at in 0..self.shape.dimensions {
                    if self.random.chance(50) {
                        let side = self.coefficient().signum();
                        all.push(self.around(inside, &[(at, side)]));
                    }
                }
                for _ in 0..self.shape.dimensions {
                    let on = self.any(2);
                    all.push(self.one(inside, &on));
                }
            }
        }
        all
    }

    fn point(&mut self) -> Vec<i64> {
        (0..self.shape.dimensions).map(|_| self.within(5)).collect()
    }

    fn build(&mut self, inside: &[i64]) -> usize {
        let constraints = self.constraints(inside);
        self.push("build", SequenceStep::Constraints(constraints))
    }

    fn guard(&mut self, inside: &[i64]) -> Constraint {
        let count = if self.shape.form == ShapeForm::Boxes { 1 } else { self.random.between((1, 2)) };
        let on = self.any(count);
        self.one(inside, &on)
    }

    /// `x := ±x + k`, or what the form allows of other variables.
    fn assignment(&mut self, invertible: bool) -> Vec<(usize, LinearExpression)> {
        let on = self.any(3);
        let constant = Integer::from(self.within(4));
        let mut entries = Vec::new();
        if invertible {
            entries.push((on[0], 1));
        }
        match self.shape.form {
            ShapeForm::Dense | ShapeForm::Blocks if self.random.chance(50) => {
                for &at in &on[1..] {
                    let coefficient = self.within(2);
                    entries.push((at, coefficient));
                }
            }
            ShapeForm::Octagons if !invertible => entries.extend(on.get(1).map(|&at| (at, 1))),
            _ => {}
        }
        let row = self.row(&entries);
        // The denominator is not 0.
        let value = LinearExpression::new(row, constant, Integer::ONE);
        value.map(|value| (on[0], value)).into_iter().collect()
    }

    fn run(&mut self) {
        let (here, there) = (self.point(), self.point());
        let p = self.build(&here);
        let q = self.build(&there);
        self.push("list", SequenceStep::List(p));
        if self.shape.form == ShapeForm::Dense || self.shape.dimensions <= 4 {
            let joined = self.push("join unrelated", SequenceStep::Join(p, q));
            self.push("list", SequenceStep::List(joined));
            self.push("leq", SequenceStep::IsLeq(q, joined));
        }
        let mut all = vec![p, q];
        let mut x = p;
        // A loop: the same body each time.
        let (guard, assignment) = (self.guard(&here), self.assignment(true));
        for _ in 0..if self.shape.dimensions <= 4 { 3 } else { 2 } {
            let guarded =
                self.push("meet constraints", SequenceStep::MeetConstraints(x, vec![guard.clone()]));
            let moved = self.push("assign", SequenceStep::Assign(guarded, assignment.clone()));
            let next = self.push("join related", SequenceStep::Join(x, moved));
            self.push("leq", SequenceStep::IsLeq(next, x));
            all.extend([guarded, moved]);
            x = next;
        }
        self.push("list", SequenceStep::List(x));
        let met = self.push("meet", SequenceStep::Meet(p, q));
        self.push("empty", SequenceStep::IsEmpty(met));
        all.extend([x, met]);
        for _ in 0..6 {
            let of = self.random.pick(&all).copied().unwrap_or(p);
            self.single(of, p);
        }
    }

    /// A single operation of any kind, and a question about its result.
    fn single(&mut self, of: usize, other: usize) {
        let new = match self.random.below(6) {
            0 => {
                let assignment = self.assignment(true);
                self.push("assign", SequenceStep::Assign(of, assignment))
            }
            1 => {
                let assignment = self.assignment(false);
                self.push("assign", SequenceStep::Assign(of, assignment))
            }
            2 => {
                let assignment = self.assignment(false);
                self.push("substitute", SequenceStep::Substitute(of, assignment))
            }
            3 => {
                let on = self.any(2);
                self.push("forget", SequenceStep::Forget(of, on))
            }
            4 => self.push("meet", SequenceStep::Meet(of, other)),
            _ => {
                let on = self.any(2);
                let entries: Vec<(usize, i64)> = on.iter().map(|&at| (at, self.coefficient())).collect();
                let constant = Integer::from(self.within(5));
                if let Some(expression) = LinearExpression::new(self.row(&entries), constant, Integer::ONE) {
                    self.push("bounds", SequenceStep::Bounds(of, expression));
                }
                return;
            }
        };
        match self.random.below(4) {
            0 => self.push("leq", SequenceStep::IsLeq(new, other)),
            1 => self.push("leq", SequenceStep::IsLeq(other, new)),
            2 => self.push("empty", SequenceStep::IsEmpty(new)),
            _ => self.push("list", SequenceStep::List(new)),
        };
    }
}
