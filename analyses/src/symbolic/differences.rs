//! Conjunctions in which two reals are compared, or a real with a number: answered without a solver.
//!
//! **Problem.** Where instants are known within a tolerance, each event asks some questions, and nearly all
//! of them compare two instants, or one with a number. A solver takes a millisecond for each.
//!
//! **Method.** `x - y <= c` is an edge from `y` to `x` of the length `c`; a number is compared with the
//! vertex that stands at 0. The conjunction can hold exactly if no cycle has a negative length, or the length
//! 0 with an edge that excludes its end (Bellman and Ford). The lengths of the shortest paths are a solution;
//! behind edges that exclude their ends it lies a little below, by less than what is free on every other
//! edge. A disjunction is tried part by part.
//!
//! What else stands in the conjunction is left out: then only that it cannot hold is an answer.
//!
//! **Ends**: paths are at most as long as there are vertices. **Costs** vertices times edges.

use std::collections::BTreeMap;

use coreach_model::term::evaluate::Valuation;
use coreach_model::term::node::{Comparison, Node};
use coreach_model::{Datum, Term, Type, Value};
use dashu::rational::RBig;

use super::sum::Sum;
use crate::solver::{Answer, Witness};

/// The most vertices and edges, and the most parts of disjunctions that are tried.
const MOST_VERTICES: usize = 32;
const MOST_EDGES: usize = 200;
const MOST_TRIED: usize = 16;

/// A length, and how many excluded ends are on the way: each takes a little away.
type Length = (RBig, i32);

/// From a vertex to another one; 0 is where the number 0 is.
type Edge = (usize, usize, Length);

/// A conjunction as edges.
#[derive(Clone, Default)]
struct Graph {
    vertices: BTreeMap<Datum, usize>,
    edges: Vec<Edge>,
    /// Was something left out?
    is_part: bool,
}

/// Can the conjunction hold? Nothing where this does not tell.
pub fn decided(formula: &[Term]) -> Option<Answer> {
    match solved(formula)? {
        Witness::Found(_) => Some(Answer::Sat),
        Witness::None => Some(Answer::Unsat),
        Witness::Unknown => None,
    }
}

/// Values at which the conjunction holds, or that there are none. Nothing where this does not tell.
pub fn solved(formula: &[Term]) -> Option<Witness> {
    // What is asked stands last.
    let is_about_others =
        |part: &Term| matches!(part.node(), Node::Compare(_, a, _) if *a.sort() != Type::Real);
    if formula.last().is_none_or(is_about_others) {
        return None;
    }
    let mut left = MOST_TRIED;
    let open: Vec<Term> = formula.iter().rev().cloned().collect();
    match search(Graph::default(), open, &mut left)? {
        Witness::Unknown => None,
        Witness::None => Some(Witness::None),
        Witness::Found(mut values) => {
            // What stands only in parts that were not chosen, or cancels out.
            for datum in formula.iter().flat_map(Term::data) {
                let any = Value::any(datum.ty());
                values.entry(datum).or_insert(any);
            }
            Some(Witness::Found(values))
        }
    }
}

/// Takes the next part; of a disjunction, each in turn. Nothing where that is too much.
fn search(mut graph: Graph, mut open: Vec<Term>, left: &mut usize) -> Option<Witness> {
    let mut choices: Vec<Vec<Term>> = Vec::new();
    while let Some(part) = open.pop() {
        match part.node() {
            Node::Literal(Value::Bool(true)) => {}
            Node::Literal(Value::Bool(false)) => return Some(Witness::None),
            Node::And(parts) => open.extend(parts.iter().rev().cloned()),
            Node::Or(parts) => choices.push(parts.clone()),
            Node::Compare(Comparison::NotEqual, a, b) if *a.sort() == Type::Real => {
                choices
                    .push([Comparison::Less, Comparison::Greater].map(|one| Term::compare(one, a, b)).into());
            }
            Node::Compare(comparison, a, b) => graph.compare(*comparison, a, b),
            _ => graph.is_part = true,
        }
        if graph.vertices.len() > MOST_VERTICES || graph.edges.len() > MOST_EDGES {
            return None;
        }
    }
    let found = graph.solve();
    let Some(choice) = choices.pop().filter(|_| !matches!(found, Witness::None)) else { return Some(found) };
    let rest: Vec<Term> = choices.into_iter().map(Term::or).collect();
    let mut is_open = false;
    for one in choice {
        *left = left.checked_sub(1)?;
        let open = rest.iter().cloned().chain([one]).collect();
        match search(graph.clone(), open, left)? {
            Witness::None => {}
            Witness::Unknown => is_open = true,
            found => return Some(found),
        }
    }
    Some(if is_open { Witness::Unknown } else { Witness::None })
}

impl Graph {
    /// Adds what a comparison says, where it says it of at most two reals, each as often as the other.
    fn compare(&mut self, comparison: Comparison, a: &Term, b: &Term) {
        let is_known = *a.sort() == Type::Real && a.is_total() && b.is_total();
        let known = is_known.then(|| self.ends(a, b)).flatten();
        let Some((from, to, length)) = known else {
            self.is_part = true;
            return;
        };
        // `to - from` compared with `length`.
        let mut at_most =
            |from, to, length, is_strict| self.edges.push((from, to, (length, -i32::from(is_strict))));
        match comparison {
            Comparison::AtMost | Comparison::Less => {
                at_most(from, to, length, comparison == Comparison::Less);
            }
            Comparison::AtLeast | Comparison::Greater => {
                at_most(to, from, -length, comparison == Comparison::Greater);
            }
            Comparison::Equal => {
                at_most(from, to, length.clone(), false);
                at_most(to, from, -length, false);
            }
            Comparison::NotEqual => self.is_part = true,
        }
    }

    /// `a - b` as the difference of two vertices and a number: `to - from - length`.
    fn ends(&mut self, a: &Term, b: &Term) -> Option<(usize, usize, RBig)> {
        let (sum, number) = Sum::of_difference(a, b).apart();
        let counts: Vec<(&Term, &RBig)> = sum.counts().collect();
        let is_real = |term: &Term| term.as_datum().is_some_and(|datum| *datum.ty() == Type::Real);
        if !counts.iter().all(|(term, _)| is_real(term)) {
            return None;
        }
        let mut vertex = |term: &Term| {
            let new = self.vertices.len() + 1;
            term.as_datum().map(|datum| *self.vertices.entry(datum.clone()).or_insert(new))
        };
        match counts.as_slice() {
            [] => Some((0, 0, -number)),
            [(term, count)] if **count == RBig::ONE => Some((0, vertex(term)?, -number)),
            [(term, count)] if **count == RBig::NEG_ONE => Some((vertex(term)?, 0, -number)),
            [(low, count), (high, other)] | [(high, other), (low, count)]
                if **other == RBig::ONE && **count == RBig::NEG_ONE =>
            {
                Some((vertex(low)?, vertex(high)?, -number))
            }
            _ => None,
        }
    }

    /// Values of all vertices, or none.
    fn solve(&self) -> Witness {
        let count = self.vertices.len() + 1;
        let mut at: Vec<Length> = vec![(RBig::ZERO, 0); count];
        let mut is_settled = false;
        for _ in 0..=count {
            is_settled = true;
            for (from, to, (length, strict)) in &self.edges {
                let there = (&at[*from].0 + length, at[*from].1 + strict);
                if there < at[*to] {
                    at[*to] = there;
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
        if self.is_part {
            return Witness::Unknown;
        }
        // What is free on an edge bears as many littles as its ends differ by.
        let mut little = RBig::ONE;
        for (from, to, (length, _)) in &self.edges {
            let free = &at[*from].0 + length - &at[*to].0;
            let littles = at[*to].1 - at[*from].1;
            if free > RBig::ZERO && littles > 0 {
                little = little.min(free / RBig::from(littles + 1));
            }
        }
        let value = |(length, littles): &Length| length + &little * RBig::from(*littles);
        let zero = value(&at[0]);
        let values: Valuation = self
            .vertices
            .iter()
            .map(|(datum, vertex)| (datum.clone(), Value::Real(value(&at[*vertex]) - &zero)))
            .collect();
        Witness::Found(values)
    }
}

#[cfg(test)]
mod tests {
    use coreach_model::random::Random;
    use coreach_model::term::evaluate::holds;

    use super::*;
    use crate::solver::Solver;
    use crate::solver::z3::Z3Solver;

    /// A comparison of two of three instants, or of one with a number, in one of many shapes.
    fn part(random: &mut Random) -> Term {
        let of = |number: usize| Term::datum(&Datum::new(format!("t{number}"), Type::Real));
        let number = Term::int(random.below(5) as i64 - 2).to_real();
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
        match random.below(6) {
            0 => Term::compare(comparison, &one, &number),
            1 => Term::compare(comparison, &one.negate(), &number),
            2 => Term::compare(comparison, &Term::add(&one, &other), &number),
            3 => Term::or([part(random), part(random)]),
            _ => Term::compare(comparison, &Term::subtract(&one, &other), &number),
        }
    }

    /// What is answered is what the solver answers, and values satisfy what was asked.
    #[test]
    fn answers_are_those_of_the_solver() {
        let (mut solver, mut counts) = (Z3Solver::default(), [0; 3]);
        for seed in 0..400 {
            let mut random = Random::new(seed);
            let formula: Vec<Term> = (0..random.between((1, 7))).map(|_| part(&mut random)).collect();
            let (answer, expected) = (decided(&formula), solver.check(&formula));
            let which = answer.map_or(2, |answer| usize::from(answer == Answer::Sat));
            counts[which] += 1;
            assert!(answer.is_none_or(|answer| answer == expected), "{formula:?}: {answer:?}, {expected:?}");
            if let Some(Witness::Found(values)) = solved(&formula) {
                let is_right = formula.iter().all(|part| holds(part, &values) == Ok(true));
                assert!(is_right, "{formula:?}: {values:?}");
            }
        }
        assert!(counts.iter().all(|count| *count >= 40), "{counts:?}");
    }
}
