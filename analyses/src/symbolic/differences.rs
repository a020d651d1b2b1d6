//! Answers conjunctions of comparisons of two data, or of a datum with a number, without a solver.
//!
//! **Problem.** If instants are known within a tolerance, each event asks some questions, and nearly all of
//! them compare two instants, or one with a number. If first values are not known, each event compares one
//! with a number. A solver takes a millisecond for each question.
//!
//! **Method.** `x - y <= c` is an edge from `y` to `x` of the length `c`. A comparison with a number is an
//! edge from or to a vertex for 0. The conjunction can hold exactly if there is no cycle of negative length,
//! and none of length 0 with a strict edge (Bellman and Ford). The lengths of the shortest paths are a
//! solution. After strict edges, the solution is a little smaller, by less than the slack of every other
//! edge. The parts of a disjunction are tried one by one.
//!
//! Integers have their own vertex for 0. Their edges are rounded down to integer lengths, also to express
//! strictness, so their solution has integers. A comparison of an integer with a real is left out.
//!
//! Other conjuncts are left out too. Then the only possible answer is that the conjunction cannot hold.
//!
//! **Ends**: paths are at most as long as there are vertices. **Costs** vertices times edges.

use std::collections::{BTreeMap, BTreeSet};

use coreach_model::term::node::{Comparison, Node};
use coreach_model::{Datum, Term, Type, Value};
use dashu_ratio::RBig;

use super::sum::Sum;
use crate::solver::{Answer, Witness};

/// The most parts of disjunctions that are tried.
const MOST_TRIED: usize = 16;

/// The vertices for the number 0, as a real and as an integer. Data have the vertices after these.
const REAL_ZERO: usize = 0;
const INTEGER_ZERO: usize = 1;
const FIRST_DATUM: usize = 2;

/// A length, and minus the number of strict edges on the way: each takes a little away.
type PathLength = (RBig, i32);

/// An edge from a vertex to another one.
type DistanceEdge = (usize, usize, PathLength);

#[derive(Clone, Default)]
struct DifferenceGraph {
    vertices: BTreeMap<Datum, usize>,
    edges: Vec<DistanceEdge>,
    integers: BTreeSet<usize>,
    /// Was a conjunct left out?
    is_partial: bool,
}

/// Decides whether the conjunction can hold. `None`: this method cannot tell.
pub fn decide_differences(formula: &[Term]) -> Option<Answer> {
    match solve_differences(formula)? {
        Witness::Found(_) => Some(Answer::Sat),
        Witness::None => Some(Answer::Unsat),
        Witness::Unknown => None,
    }
}

/// Finds values at which the conjunction holds, or that there are none. `None`: this method cannot tell.
pub fn solve_differences(formula: &[Term]) -> Option<Witness> {
    // The last conjunct is the question. If it is about other data than numbers, nothing is gained here.
    let is_about_others =
        |part: &Term| matches!(part.node(), Node::Compare(_, a, _) if !a.sort().is_number());
    if formula.last().is_none_or(is_about_others) {
        return None;
    }
    let mut attempts = MOST_TRIED;
    let open_parts: Vec<Term> = formula.iter().rev().cloned().collect();
    match search_choices(DifferenceGraph::default(), open_parts, &mut attempts)? {
        Witness::Unknown => None,
        Witness::None => Some(Witness::None),
        Witness::Found(mut values) => {
            // Data of parts that were not chosen, or that cancel out, get any values.
            for datum in formula.iter().flat_map(Term::data) {
                values.complete(&datum);
            }
            Some(Witness::Found(values))
        }
    }
}

/// Adds the open parts to the graph, and tries the parts of disjunctions one by one. `None`: that is too
/// much. `attempts` is how many parts may still be tried.
fn search_choices(
    mut graph: DifferenceGraph,
    mut open_parts: Vec<Term>,
    attempts: &mut usize,
) -> Option<Witness> {
    let mut choices: Vec<Vec<Term>> = Vec::new();
    while let Some(part) = open_parts.pop() {
        match part.node() {
            Node::Literal(Value::Bool(true)) => {}
            Node::Literal(Value::Bool(false)) => return Some(Witness::None),
            Node::And(parts) => open_parts.extend(parts.iter().rev().cloned()),
            Node::Or(parts) => choices.push(parts.clone()),
            Node::Compare(Comparison::NotEqual, a, b) if a.sort().is_number() => {
                let sides = [Comparison::Less, Comparison::Greater];
                choices.push(sides.map(|side| Term::compare(side, a, b)).into());
            }
            Node::Compare(comparison, a, b) => graph.compare(*comparison, a, b),
            _ => graph.is_partial = true,
        }
        // A larger graph takes too long. With many choices the attempts would not suffice.
        if graph.vertices.len() > 32 || graph.edges.len() > 200 || choices.len() > MOST_TRIED / 4 {
            return None;
        }
    }
    let witness = graph.solve();
    // Without the choices it is excluded already, or there are none.
    let Some(choice) = choices.pop().filter(|_| !matches!(witness, Witness::None)) else {
        return Some(witness);
    };
    let other_choices: Vec<Term> = choices.into_iter().map(Term::or).collect();
    let mut is_open = false;
    for part in choice {
        *attempts = attempts.checked_sub(1)?;
        let open_parts = other_choices.iter().cloned().chain([part]).collect();
        match search_choices(graph.clone(), open_parts, attempts)? {
            Witness::None => {}
            Witness::Unknown => is_open = true,
            witness @ Witness::Found(_) => return Some(witness),
        }
    }
    Some(if is_open { Witness::Unknown } else { Witness::None })
}

impl DifferenceGraph {
    /// Adds a comparison, if it is about the difference of at most two data. Otherwise it is left out.
    fn compare(&mut self, comparison: Comparison, a: &Term, b: &Term) {
        let is_total = a.sort().is_number() && a.is_total() && b.is_total();
        let ends = is_total.then(|| self.find_ends(a, b)).flatten();
        let Some((from, to, length)) = ends else {
            self.is_partial = true;
            return;
        };
        // `to - from` compared with `length`.
        match comparison {
            Comparison::AtMost => self.at_most(from, to, length),
            Comparison::Less => self.less(from, to, length),
            Comparison::AtLeast => self.at_most(to, from, -length),
            Comparison::Greater => self.less(to, from, -length),
            Comparison::Equal => {
                self.at_most(from, to, length.clone());
                self.at_most(to, from, -length);
            }
            Comparison::NotEqual => self.is_partial = true,
        }
    }

    /// Adds `to - from <= length`.
    fn at_most(&mut self, from: usize, to: usize, length: RBig) {
        let length = if self.is_whole(from, to) { length.floor().into() } else { length };
        self.edges.push((from, to, (length, 0)));
    }

    /// Adds `to - from < length`.
    fn less(&mut self, from: usize, to: usize, length: RBig) {
        let distance = match self.is_whole(from, to) {
            true => (RBig::from(length.ceil()) - RBig::ONE, 0),
            false => (length, -1),
        };
        self.edges.push((from, to, distance));
    }

    fn is_whole(&self, from: usize, to: usize) -> bool {
        [from, to].into_iter().any(|end| self.integers.contains(&end))
    }

    /// Writes `a - b` as a positive multiple of `to - from - length`, for two vertices. Returns `from`, `to`
    /// and `length`. `None`: it has no such form.
    fn find_ends(&mut self, a: &Term, b: &Term) -> Option<(usize, usize, RBig)> {
        let (sum, number) = Sum::of_difference(a, b).split_number();
        let mut counts: Vec<(&Datum, &RBig)> = Vec::new();
        for (term, count) in sum.counts() {
            counts.push((term.as_datum()?, count));
        }
        // A negative count comes first: it is that of `from`.
        counts.sort_by_key(|(_, count)| *count);
        let is_integer = counts.first().is_some_and(|(datum, _)| datum.ty().is_integer());
        if counts.iter().any(|(datum, _)| datum.ty().is_integer() != is_integer) {
            return None;
        }
        let zero = if is_integer { INTEGER_ZERO } else { REAL_ZERO };
        let (from, to, times) = match counts.as_slice() {
            [] => return Some((REAL_ZERO, REAL_ZERO, -number)),
            [(datum, count)] if **count > RBig::ZERO => (None, Some(*datum), (*count).clone()),
            [(datum, count)] => (Some(*datum), None, -(*count).clone()),
            [(from, negative), (to, positive)] if **negative == -(*positive).clone() => {
                (Some(*from), Some(*to), (*positive).clone())
            }
            _ => return None,
        };
        let mut vertex = |datum: Option<&Datum>| datum.map_or(zero, |datum| self.vertex(datum));
        Some((vertex(from), vertex(to), -number / times))
    }

    /// The vertex of a datum. A new one gets the bounds of its type.
    fn vertex(&mut self, datum: &Datum) -> usize {
        if let Some(known) = self.vertices.get(datum) {
            return *known;
        }
        let new = FIRST_DATUM + self.vertices.len();
        self.vertices.insert(datum.clone(), new);
        if datum.ty().is_integer() {
            self.integers.insert(new);
        }
        match datum.ty() {
            // `0 - x <= -low`, and `x - 0 <= high`.
            Type::Nat => self.at_most(new, INTEGER_ZERO, RBig::ZERO),
            Type::Range(low, high) => {
                self.at_most(new, INTEGER_ZERO, -RBig::from(low.clone()));
                self.at_most(INTEGER_ZERO, new, RBig::from(high.clone()));
            }
            _ => {}
        }
        new
    }

    /// Finds values by shortest paths, or a cycle that excludes all values.
    fn solve(&self) -> Witness {
        let count = FIRST_DATUM + self.vertices.len();
        let mut distances: Vec<PathLength> = vec![(RBig::ZERO, 0); count];
        // Only a cycle makes paths shorter for more rounds than there are vertices.
        let mut is_settled = false;
        for _ in 0..=count {
            is_settled = true;
            for (from, to, (length, strict)) in &self.edges {
                let (known_length, known_strict) = &distances[*from];
                let distance = (known_length + length, known_strict + strict);
                if distance < distances[*to] {
                    distances[*to] = distance;
                    is_settled = false;
                }
            }
            if is_settled {
                break;
            }
        }
        if !is_settled {
            return Witness::None;
        }
        if self.is_partial {
            return Witness::Unknown;
        }
        // Each strict edge on its path makes a value smaller by `little`. Choose it so small that each edge
        // with slack stays satisfied.
        let mut little = RBig::ONE;
        for (from, to, (length, _)) in &self.edges {
            let ((from_length, from_count), (to_length, to_count)) = (&distances[*from], &distances[*to]);
            let slack = from_length + length - to_length;
            let littles = to_count - from_count;
            if slack > RBig::ZERO && littles > 0 {
                little = little.min(slack / RBig::from(littles + 1));
            }
        }
        let potential = |vertex: usize| {
            let (length, littles) = &distances[vertex];
            length + &little * RBig::from(*littles)
        };
        let values = self.vertices.iter().map(|(datum, vertex)| {
            let value = match datum.ty().is_integer() {
                true => Value::Int((potential(*vertex) - potential(INTEGER_ZERO)).numerator().clone()),
                false => Value::Real(potential(*vertex) - potential(REAL_ZERO)),
            };
            (datum.clone(), value)
        });
        Witness::Found(values.collect())
    }
}

#[cfg(test)]
mod tests {
    use coreach_model::random::Random;
    use coreach_model::term::evaluate::holds;

    use super::*;
    use crate::solver::Solver;
    use crate::solver::z3::Z3Solver;

    /// A comparison of two of three instants, of two of three integers, or of one with a number, in one of
    /// many shapes.
    fn part(random: &mut Random) -> Term {
        let is_integer = random.below(2) == 0;
        let of = |number: usize| match (is_integer, number) {
            (false, _) => Term::datum(&Datum::new(format!("t{number}"), Type::Real)),
            (true, 0) => Term::datum(&Datum::new("n0", Type::Nat)),
            (true, 1) => Term::datum(&Datum::new("n1", Type::Range((-2).into(), 3.into()))),
            (true, _) => Term::datum(&Datum::new("n2", Type::Int)),
        };
        let number = Term::int(random.below(5) as i64 - 2);
        let half = Term::literal(Value::Real(RBig::from(random.below(9) as i64 - 4) / RBig::from(2)));
        let comparisons = [
            Comparison::Equal,
            Comparison::NotEqual,
            Comparison::Less,
            Comparison::AtMost,
            Comparison::Greater,
            Comparison::AtLeast,
        ];
        let comparison = comparisons[random.below(6)];
        let (one, other) = (of(random.below(3)), of(random.below(3)));
        match random.below(8) {
            0 => Term::compare(comparison, &one, &number),
            1 => Term::compare(comparison, &one.negate(), &half),
            2 => Term::compare(comparison, &Term::add(&one, &other), &number),
            3 => Term::or([part(random), part(random)]),
            4 => Term::compare(comparison, &Term::multiply(&Term::int(3), &one), &half),
            5 => {
                let twice = |term: &Term| Term::multiply(&Term::int(2), term);
                Term::compare(comparison, &Term::subtract(&twice(&one), &twice(&other)), &half)
            }
            _ => Term::compare(comparison, &Term::subtract(&one, &other), &number),
        }
    }

    /// Each answer is that of the solver, and the values satisfy the question.
    #[test]
    fn answers_are_those_of_the_solver() {
        let (mut solver, mut counts) = (Z3Solver::default(), [0; 3]);
        for seed in 0..400 {
            let mut random = Random::new(seed);
            let formula: Vec<Term> = (0..random.between((1, 7))).map(|_| part(&mut random)).collect();
            let (answer, expected) = (decide_differences(&formula), solver.check(&formula));
            let which = answer.map_or(2, |answer| usize::from(answer == Answer::Sat));
            counts[which] += 1;
            assert!(answer.is_none_or(|answer| answer == expected), "{formula:?}: {answer:?}, {expected:?}");
            if let Some(Witness::Found(values)) = solve_differences(&formula) {
                let is_right = formula.iter().all(|part| holds(part, &values) == Ok(true));
                assert!(is_right, "{formula:?}: {values:?}");
            }
        }
        assert!(counts.iter().all(|count| *count >= 40), "{counts:?}");
    }
}
