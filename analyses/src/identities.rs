//! Ids as the domains see them: which of them are the same.
//!
//! **Problem.** Of an id nothing is known but what it equals, and what it does not: that a job is not
//! reserved twice is all in the `!=`. A numerical domain keeps equalities and loses the others, and would
//! conclude from the order of numbers that no id has.
//!
//! **Method.** For two ids of one type that the model holds, whether they are the same is a Boolean of the
//! partition like any other ([`crate::partition`]), a *pair*: so guards are evaluated exactly, an assignment
//! gives every pair of what it changes its new value, and a fact says `vA == vB`. A parameter is, in each
//! cell, one of the ids there or another one; each is gone through. Sameness is transitive, so a cell that
//! says otherwise has no state and is left out everywhere: of `n` ids there are as many cells as there are
//! partitions of `n` things (1, 2, 5, 15, 52, 203). This is the abstraction by which reachability of
//! register automata is decided (Kaminski and Francez, "Finite-memory automata", TCS 1994): with room for
//! all ids of a model without other data, nothing is lost.
//!
//! **Cost.** That factor in cells. Ids for which there is no room are left out of the partition, and noted;
//! of a literal nothing is known but that it is itself.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use coreach_model::term::Term;
use coreach_model::term::node::{Comparison, Node};
use coreach_model::{Type, Value};
use coreach_polyhedra::{Limits, Polyhedron};

use crate::condition::Condition;
use crate::frame::{FinitePlace, Frame};
use crate::places::Place;
use crate::scope::{
    Beyond, CASE_LIMIT, Cases, ImprecisionReason, Scope, known_part, limited, mentions_array,
};

/// The most ids of one type: of so many there are 877 partitions.
const MOST_IDS: usize = 7;
/// How many partitions there are of so many things.
const PARTITIONS: [u32; MOST_IDS + 1] = [1, 1, 2, 5, 15, 52, 203, 877];

/// What pairs are, by their positions among the finite places; `None` is any.
pub(crate) type Digits = Vec<(usize, Option<u32>)>;

impl Frame {
    /// Adds the pairs of as many of these ids as there is room for, the first ones first; gives back the
    /// rest.
    pub(crate) fn add_ids(&mut self, all: Vec<Place>, limit: u32) -> Vec<Place> {
        // Room for so many partitions there is in any case: for four ids.
        let room = (limit / self.cells).max(15);
        let mut rest = Vec::new();
        for place in all {
            let mut counts: HashMap<&Type, usize> = HashMap::new();
            self.identities.ids.iter().chain([&place]).for_each(|id| *counts.entry(&id.ty).or_default() += 1);
            let partitions = counts
                .values()
                .try_fold(1u32, |product, count| product.checked_mul(*PARTITIONS.get(*count)?));
            let own = counts.get(&place.ty).map_or(0, |count| *count as u32 - 1);
            let fits = partitions.is_some_and(|count| count <= room) && self.cells.leading_zeros() > own;
            match fits {
                true => self.add_id(place),
                false => rest.push(place),
            }
        }
        let counts = |ty: &Type| self.identities.ids.iter().filter(|id| id.ty == *ty).count();
        if self.identities.ids.iter().any(|id| counts(&id.ty) > 2) {
            self.identities.possible = Some(self.consistent());
        }
        rest
    }

    fn add_id(&mut self, place: Place) {
        let number = self.identities.ids.len();
        for (other, known) in self.identities.ids.iter().enumerate().filter(|(_, id)| id.ty == place.ty) {
            let pair = Place { term: Term::equal(&known.term, &place.term), ty: Type::Bool };
            self.identities.pairs.insert((other, number), self.finite.len());
            let values = [false, true].map(Value::Bool).to_vec();
            self.finite.push(FinitePlace { place: pair, values, stride: self.cells });
            self.cells *= 2;
        }
        self.identities.ids.push(place);
    }

    /// The cells in which sameness is transitive.
    fn consistent(&self) -> Vec<u32> {
        let of_pair: HashMap<usize, (usize, usize)> =
            self.identities.pairs.iter().map(|(pair, position)| (*position, *pair)).collect();
        let mut cells = vec![0];
        for (position, finite) in self.finite.iter().enumerate() {
            let digits = 0..finite.values.len() as u32;
            let with = |digit: u32| cells.iter().map(move |cell| cell + digit * finite.stride);
            let mut next: Vec<u32> = digits.flat_map(with).collect();
            if let Some(&(a, b)) = of_pair.get(&position) {
                next.retain(|cell| {
                    (0..a).all(|other| {
                        let pairs = [(other, a), (other, b), (a, b)];
                        pairs.iter().filter(|pair| self.says_same(*cell, **pair)).count() != 2
                    })
                });
            }
            cells = next;
        }
        cells.sort_unstable();
        cells
    }

    fn says_same(&self, cell: u32, pair: (usize, usize)) -> bool {
        self.identities.pairs.get(&pair).is_some_and(|position| self.digit(cell, *position) == 1)
    }

    pub fn possible_cells(&self) -> Vec<u32> {
        self.identities.possible.clone().unwrap_or_else(|| (0..self.cells).collect())
    }

    pub fn is_possible(&self, cell: u32) -> bool {
        self.identities.possible.as_ref().is_none_or(|possible| possible.binary_search(&cell).is_ok())
    }

    pub(crate) fn pairs_of(&self, are_meant: impl Fn(&Place) -> bool) -> Vec<usize> {
        let ids = &self.identities.ids;
        let pairs = self.identities.pairs.iter();
        pairs.filter(|((a, b), _)| are_meant(&ids[*a]) && are_meant(&ids[*b])).map(|(_, at)| *at).collect()
    }

    /// The cells as they are where the pairs that say nothing of them are left open: other cells than these
    /// are among what this gives only where they have no state. With the positions left open.
    pub(crate) fn without_idle_pairs(&self, cells: &[u32]) -> (Vec<u32>, Vec<usize>) {
        let Some(possible) = &self.identities.possible else { return (cells.to_vec(), Vec::new()) };
        let mut inside: HashSet<u32> = cells.iter().copied().filter(|cell| self.is_possible(*cell)).collect();
        let mut outside: HashSet<u32> =
            possible.iter().copied().filter(|cell| !inside.contains(cell)).collect();
        let mut open: Vec<usize> = Vec::new();
        let mut pairs: Vec<usize> = self.identities.pairs.values().copied().collect();
        pairs.sort_unstable();
        for position in pairs.into_iter().rev() {
            let without = |cells: &HashSet<u32>| -> HashSet<u32> {
                cells.iter().map(|cell| self.with_digit(*cell, position, 0)).collect()
            };
            let (one, other) = (without(&inside), without(&outside));
            if one.is_disjoint(&other) {
                (inside, outside) = (one, other);
                open.push(position);
            }
        }
        let mut cells: Vec<u32> = inside.into_iter().collect();
        cells.sort_unstable();
        (cells, open)
    }
}

/// What parameters may be, among the ids of a frame whose pairs are known here: each is one of them, or one
/// of the parameters before it, or another one. Parameters that would make too many cases stay open, and all
/// do where a pair is not known.
pub(crate) fn extended(
    known: &HashMap<Term, Value>,
    ids: &[Place],
    parameters: &[Place],
    most: usize,
) -> Vec<HashMap<Term, Value>> {
    let mut classes: Vec<Vec<&Place>> = Vec::new();
    for id in ids {
        let mut own = None;
        for (at, class) in classes.iter().enumerate().filter(|(_, class)| class[0].ty == id.ty) {
            match are_same(known, &class[0].term, &id.term) {
                Some(true) => own = Some(at),
                Some(false) => {}
                None => return vec![HashMap::new()],
            }
        }
        match own {
            Some(at) => classes[at].push(id),
            None => classes.push(vec![id]),
        }
    }
    let mut all = vec![(classes, HashMap::new())];
    for parameter in parameters {
        let mut next = Vec::new();
        for (classes, said) in &all {
            let fitting = (0..classes.len()).filter(|at| classes[*at][0].ty == parameter.ty);
            for own in fitting.map(Some).chain([None]) {
                let (mut classes, mut said) = (classes.clone(), said.clone());
                for (at, class) in classes.iter().enumerate() {
                    for other in class.iter().filter(|other| other.ty == parameter.ty) {
                        let is_it = Value::Bool(own == Some(at));
                        said.insert(Term::equal(&other.term, &parameter.term), is_it);
                    }
                }
                match own {
                    Some(at) => classes[at].push(parameter),
                    None => classes.push(vec![parameter]),
                }
                next.push((classes, said));
            }
        }
        if next.len() > most {
            break;
        }
        all = next;
    }
    all.into_iter().map(|(_, said)| said).collect()
}

/// What an assignment of ids, by their positions, makes of the pairs: in which case each is what, or open.
/// The cases are of the new ids together, since these depend on the same numbers (at the end of a list of so
/// many), and those that contradict what holds before are left out.
pub(crate) fn changed(scope: &mut Scope<'_>, before: &Condition, new: &[(usize, Term)]) -> Cases<Digits> {
    let own = scope.frame.identities.ids.iter().map(|id| Some(id.term.clone()));
    let mut ways: Vec<(Condition, Vec<Option<Term>>)> = vec![(Condition::Yes, own.collect())];
    for (number, value) in new {
        let split: Cases<Option<Term>> = match scope.id_cases(value) {
            Ok(split) if split.len() * ways.len() <= CASE_LIMIT => {
                split.into_iter().map(|(on, id)| (on, Some(id))).collect()
            }
            other => {
                let why = other.err().map_or(ImprecisionReason::Cases, |(_, why)| why);
                scope.note_imprecision((value.clone(), why));
                vec![(Condition::Yes, None)]
            }
        };
        let mut next = Vec::new();
        for (on, ids) in &ways {
            for (more, id) in &split {
                let on = Condition::and([on.clone(), more.clone()]);
                if !is_contradictory(&Condition::and([before.clone(), on.clone()]), scope.next_dimension()) {
                    let mut ids = ids.clone();
                    ids[*number] = id.clone();
                    next.push((on, ids));
                }
            }
        }
        ways = next;
    }
    let mut found: Vec<(Digits, Vec<Condition>)> = Vec::new();
    for (on, ids) in ways {
        let is_new = |number: usize| new.iter().any(|(changed, _)| *changed == number);
        let pairs = scope.frame.identities.pairs.iter().filter(|((a, b), _)| is_new(*a) || is_new(*b));
        let digit = |(a, b): (usize, usize)| are_same(&scope.finite, ids[a].as_ref()?, ids[b].as_ref()?);
        let digits: Digits = pairs.map(|(pair, position)| (*position, digit(*pair).map(u32::from))).collect();
        match found.iter_mut().find(|(known, _)| *known == digits) {
            Some((_, conditions)) => conditions.push(on),
            None => found.push((digits, vec![on])),
        }
    }
    found.into_iter().map(|(digits, conditions)| (Condition::or(conditions), digits)).collect()
}

/// Do its constraints alone exclude each other?
fn is_contradictory(condition: &Condition, dimensions: usize) -> bool {
    let linear = match condition {
        Condition::No => return true,
        Condition::Linear(constraints) => constraints,
        Condition::And(parts) => match parts.first() {
            Some(Condition::Linear(constraints)) => constraints,
            _ => return false,
        },
        _ => return false,
    };
    let around = Polyhedron::from_constraints(dimensions, linear.to_vec());
    around.convert_limited(&Limits::default()).polyhedron().is_empty()
}

fn are_same(known: &HashMap<Term, Value>, a: &Term, b: &Term) -> Option<bool> {
    let said = || known.get(&Term::equal(a, b)).or_else(|| known.get(&Term::equal(b, a)));
    match (a.as_literal(), b.as_literal()) {
        _ if a == b => Some(true),
        (Some(_), Some(_)) => Some(false),
        _ => said().map(|value| *value == Value::Bool(true)),
    }
}

impl Scope<'_> {
    pub(crate) fn compared_ids(&mut self, comparison: Comparison, a: &Term, b: &Term) -> Condition {
        let whole = || Term::compare(comparison, a, b);
        let (a_cases, b_cases) = match (self.id_cases(a), self.id_cases(b)) {
            (Ok(a_cases), Ok(b_cases)) if a_cases.len() * b_cases.len() <= CASE_LIMIT => (a_cases, b_cases),
            (a, b) => {
                let why = a.err().or(b.err()).map_or(ImprecisionReason::Cases, |(_, why)| why);
                self.note_imprecision((whole(), why));
                return Condition::Yes;
            }
        };
        let mut cases = Vec::new();
        for (on_a, x) in &a_cases {
            for (on_b, y) in &b_cases {
                let same = are_same(&self.finite, x, y);
                // Slots that do not count are compared with the simplest id, which nobody means.
                let is_order = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
                let is_open = same.is_none() || is_order && same == Some(false);
                let is_idle = |id: &Term| id.as_literal().is_some_and(|id| *id == Value::any(&id.sort()));
                if is_open && !is_idle(x) && !is_idle(y) {
                    let is_cell = mentions_array(x) || mentions_array(y);
                    let why =
                        if is_cell { ImprecisionReason::Array } else { ImprecisionReason::Unpartitioned };
                    self.note_imprecision((whole(), why));
                }
                let holds =
                    |same: bool| comparison.holds(if same { Ordering::Equal } else { Ordering::Less });
                if is_open || same.is_some_and(holds) {
                    cases.push(Condition::and([on_a.clone(), on_b.clone()]));
                }
            }
        }
        Condition::or(cases)
    }

    fn id_cases(&mut self, term: &Term) -> Result<Cases<Term>, Beyond> {
        if let Some(known) = self.memory.ids.get(term) {
            return known.clone();
        }
        let found = self.uncached_id_cases(term);
        self.memory.ids.insert(term.clone(), found.clone());
        found
    }

    fn uncached_id_cases(&mut self, term: &Term) -> Result<Cases<Term>, Beyond> {
        if let Some(part) = known_part(self.frame.arrays, term) {
            return self.id_cases(&part);
        }
        let Node::IfThenElse(c, a, b) = term.node() else { return Ok(vec![(Condition::Yes, term.clone())]) };
        let mut cases = self.guarded(c, |scope| scope.id_cases(a))?;
        cases.extend(self.guarded(&c.not(), |scope| scope.id_cases(b))?);
        limited(term, cases)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use coreach_model::reader::{from_bytes, read_specification};

    use super::*;
    use crate::places::Arrays;

    fn frame(variables: &str, limit: usize) -> Frame {
        let text = format!(
            "iosts: m\ntypes: {{ Job: id }}\nvariables: {{ {variables} }}\ninputs: {{ a: {{ j: Job, k: id }} }}\n\
             initial: {{ location: A }}\ntransitions:\n  - {{ from: A, to: A, on: a, assign: {{ v0: j }} }}\n"
        );
        let file = from_bytes("m.yaml".to_owned(), text.into_bytes()).unwrap();
        // Nothing reads what the initial condition leaves open.
        Frame::new(&read_specification(file).unwrap().0.iosts, limit, Arrays::default())
    }

    /// Precision: no cell is kept that has no state. Soundness: none is lost.
    #[test]
    fn there_are_as_many_cells_as_partitions() {
        for (count, cells) in PARTITIONS.iter().enumerate().skip(1) {
            let variables: Vec<String> = (0..count).map(|number| format!("v{number}: Job")).collect();
            let frame = frame(&variables.join(", "), 1_000);
            assert_eq!(frame.possible_cells().len(), *cells as usize, "{count}");
            // What says nothing is said in no words.
            let (_, open) = frame.without_idle_pairs(&frame.possible_cells());
            assert_eq!(open.len(), if count > 2 { count * (count - 1) / 2 } else { 0 });
        }
        // Two names are two worlds; and there is room for four in any case.
        let others = frame("v0: Job, v1: Job, v2: id, v3: id, b: bool", 8);
        assert_eq!(others.possible_cells().len(), 2 * 2 * 2);
        assert_eq!(frame("v0: Job, v1: Job, v2: Job, v3: Job, v4: Job", 1).dropped.len(), 1);
    }

    /// Soundness: all that parameters may be is gone through.
    #[test]
    fn a_parameter_is_one_of_the_ids_or_another_one() {
        let places = |names: &[&str]| -> Vec<Place> {
            let of = |name: &&str| {
                crate::places::places(
                    Arrays::default(),
                    &coreach_model::Datum::new(*name, Type::Id("Job".into())),
                )
                .remove(0)
            };
            names.iter().map(of).collect()
        };
        let (ids, parameters) = (places(&["a", "b"]), places(&["p", "q"]));
        let pair = |same| HashMap::from([(Term::equal(&ids[0].term, &ids[1].term), Value::Bool(same))]);
        assert_eq!(extended(&pair(false), &ids, &parameters, 100).len(), 3 + 3 + 4);
        assert_eq!(extended(&pair(true), &ids, &parameters, 100).len(), 2 + 3);
        // The second one stays open; and both do where the pair is not known.
        assert_eq!(extended(&pair(false), &ids, &parameters, 9).len(), 3);
        assert_eq!(extended(&HashMap::new(), &ids, &parameters, 100), vec![HashMap::new()]);
    }
}
