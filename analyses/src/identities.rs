//! Ids as the domains see them: which of them are the same.
//!
//! **Problem.** An id is known only by what it equals and what it does not equal: "no job is reserved twice"
//! is all in the `!=`. A numerical domain would keep equalities and lose inequalities, and would draw
//! conclusions from an order that ids do not have.
//!
//! **Method.** For each two ids of one type in the model's data there is a *pair*: a Boolean of the partition
//! like any other ([`crate::partition`]), which says whether they are the same. So guards are evaluated
//! exactly, an assignment gives each pair of an assigned id its new value, and a fact says `vA == vB`. In
//! each cell, a parameter is one of the ids there or another one, and there is a case for each. Sameness is
//! transitive, so a cell that contradicts this has no state and is left out everywhere. `n` ids have as many
//! cells as there are partitions of `n` things (1, 2, 5, 15, 52, 203). This is the abstraction by which
//! reachability of register automata is decided (Kaminski and Francez, "Finite-memory automata", TCS 1994):
//! if all ids of a model have room and there are no other data, nothing is lost.
//!
//! **Cost.** The number of cells is multiplied by the number of partitions. Ids without room are left out of
//! the partition, and this is noted. Different literals are different. Nothing else is known of them.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use coreach_model::term::Term;
use coreach_model::term::node::{Comparison, Node};
use coreach_model::{Type, Value};
use coreach_polyhedra::{OperationLimits, Polyhedron};

use crate::condition::Formula;
use crate::frame::{FinitePlace, Frame};
use crate::places::Place;
use crate::scope::{
    Beyond, CASE_LIMIT, CompileScope, ImprecisionReason, Split, mentions_array, simplify_read,
};

/// The number of partitions of 0, 1, 2, ... ids of one type, up to the most.
const PARTITIONS: [u32; 8] = [1, 1, 2, 5, 15, 52, 203, 877];

/// The digits of pairs, by their positions among the finite places. `None` is any.
pub(crate) type Digits = Vec<(usize, Option<u32>)>;

impl Frame {
    /// Adds the pairs of these ids, the first ones first, while there is room. Returns the ids without room.
    pub(crate) fn add_ids(&mut self, ids: Vec<Place>, limit: u32) -> Vec<Place> {
        // There is always room for the 15 partitions of four ids.
        let room = (limit / self.cells).max(15);
        let mut without_room = Vec::new();
        for place in ids {
            let mut counts: HashMap<&Type, usize> = HashMap::new();
            self.identities.ids.iter().chain([&place]).for_each(|id| *counts.entry(&id.ty).or_default() += 1);
            let partitions = counts
                .values()
                .try_fold(1u32, |product, count| product.checked_mul(*PARTITIONS.get(*count)?));
            // Each new pair doubles the number of a cell, which has 32 bits.
            let new_pairs = counts.get(&place.ty).map_or(0, |count| *count as u32 - 1);
            let fits =
                partitions.is_some_and(|count| count <= room) && self.cells.leading_zeros() > new_pairs;
            if fits { self.add_id(place) } else { without_room.push(place) }
        }
        // Only with three ids of one type can sameness fail to be transitive.
        let count_of = |ty: &Type| self.identities.ids.iter().filter(|id| id.ty == *ty).count();
        if self.identities.ids.iter().any(|id| count_of(&id.ty) > 2) {
            self.identities.possible = Some(self.consistent_cells());
        }
        without_room
    }

    /// Adds an id. With each known id of its type it makes a finite place: are the two equal?
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
    fn consistent_cells(&self) -> Vec<u32> {
        let pairs_by_position: HashMap<usize, (usize, usize)> =
            self.identities.pairs.iter().map(|(pair, position)| (*position, *pair)).collect();
        // Digit by digit, so that contradictory cells are dropped before they multiply.
        let mut cells = vec![0];
        for (position, finite) in self.finite.iter().enumerate() {
            let digits = 0..finite.values.len() as u32;
            let add_digit = |digit: u32| cells.iter().map(move |cell| cell + digit * finite.stride);
            let mut next: Vec<u32> = digits.flat_map(add_digit).collect();
            if let Some(&(a, b)) = pairs_by_position.get(&position) {
                // Exactly two pairs among three ids cannot be the same. The pairs with a third id before `a`
                // have their digits already.
                next.retain(|cell| {
                    (0..a).all(|third| {
                        let pairs = [(third, a), (third, b), (a, b)];
                        pairs.iter().filter(|pair| self.is_same_in(*cell, **pair)).count() != 2
                    })
                });
            }
            cells = next;
        }
        cells.sort_unstable();
        cells
    }

    fn is_same_in(&self, cell: u32, pair: (usize, usize)) -> bool {
        self.identities.pairs.get(&pair).is_some_and(|position| self.digit(cell, *position) == 1)
    }

    pub fn possible_cells(&self) -> Vec<u32> {
        self.identities.possible.clone().unwrap_or_else(|| (0..self.cells).collect())
    }

    pub fn is_possible(&self, cell: u32) -> bool {
        self.identities.possible.as_ref().is_none_or(|possible| possible.binary_search(&cell).is_ok())
    }

    /// The positions of the pairs of two chosen ids.
    pub(crate) fn pairs_of(&self, is_chosen: impl Fn(&Place) -> bool) -> Vec<usize> {
        let ids = &self.identities.ids;
        let pairs = self.identities.pairs.iter();
        pairs.filter(|((a, b), _)| is_chosen(&ids[*a]) && is_chosen(&ids[*b])).map(|(_, at)| *at).collect()
    }

    /// Makes the description of some cells shorter: pairs of ids stay open if the cells can be told from all
    /// other possible cells without them. Returns the cells with these pairs set to 0, and the positions of
    /// these pairs. An open pair stands for any value. So the description may also cover cells, but only
    /// impossible ones.
    pub(crate) fn without_idle_pairs(&self, cells: &[u32]) -> (Vec<u32>, Vec<usize>) {
        let Some(possible) = &self.identities.possible else { return (cells.to_vec(), Vec::new()) };
        let mut inside: HashSet<u32> = cells.iter().copied().filter(|cell| self.is_possible(*cell)).collect();
        let mut outside: HashSet<u32> =
            possible.iter().copied().filter(|cell| !inside.contains(cell)).collect();
        let mut open_pairs: Vec<usize> = Vec::new();
        let mut pairs: Vec<usize> = self.identities.pairs.values().copied().collect();
        pairs.sort_unstable();
        for position in pairs.into_iter().rev() {
            let clear_pair = |cells: &HashSet<u32>| -> HashSet<u32> {
                cells.iter().map(|cell| self.with_digit(*cell, position, 0)).collect()
            };
            let (inside_without, outside_without) = (clear_pair(&inside), clear_pair(&outside));
            if inside_without.is_disjoint(&outside_without) {
                (inside, outside) = (inside_without, outside_without);
                open_pairs.push(position);
            }
        }
        let mut cells: Vec<u32> = inside.into_iter().collect();
        cells.sort_unstable();
        (cells, open_pairs)
    }
}

/// Lists the cases of parameters, in a cell with known pairs: each parameter is one of the ids, one of the
/// parameters before it, or another id. A parameter that would make more than `most` cases stays open. If a
/// pair is not known, all stay open.
pub(crate) fn extend_identities(
    known: &HashMap<Term, Value>,
    ids: &[Place],
    parameters: &[Place],
    most: usize,
) -> Vec<HashMap<Term, Value>> {
    let mut classes: Vec<Vec<&Place>> = Vec::new();
    // Group the ids into classes of the same id.
    for id in ids {
        let mut own_class = None;
        for (number, class) in classes.iter().enumerate().filter(|(_, class)| class[0].ty == id.ty) {
            match are_same(known, &class[0].term, &id.term) {
                Some(true) => own_class = Some(number),
                Some(false) => {}
                None => return vec![HashMap::new()],
            }
        }
        if let Some(number) = own_class { classes[number].push(id) } else { classes.push(vec![id]) }
    }
    // Each parameter joins a class of its type, or makes a new one.
    let mut cases = vec![(classes, HashMap::new())];
    for parameter in parameters {
        let mut longer_cases = Vec::new();
        for (classes, pairs) in &cases {
            let fitting = (0..classes.len()).filter(|number| classes[*number][0].ty == parameter.ty);
            for own_class in fitting.map(Some).chain([None]) {
                let (mut classes, mut pairs) = (classes.clone(), pairs.clone());
                for (number, class) in classes.iter().enumerate() {
                    for id in class.iter().filter(|id| id.ty == parameter.ty) {
                        let is_same = Value::Bool(own_class == Some(number));
                        pairs.insert(Term::equal(&id.term, &parameter.term), is_same);
                    }
                }
                match own_class {
                    Some(number) => classes[number].push(parameter),
                    None => classes.push(vec![parameter]),
                }
                longer_cases.push((classes, pairs));
            }
        }
        // This parameter and those after it stay open.
        if longer_cases.len() > most {
            break;
        }
        cases = longer_cases;
    }
    cases.into_iter().map(|(_, pairs)| pairs).collect()
}

/// Lists the cases of an assignment of ids, each with the new digits of the pairs that it changes. `new` has
/// the positions of the assigned ids. A case is about all new ids together, because they may depend on the
/// same numbers. Cases that contradict the condition before the assignment are left out.
pub(crate) fn change_identities(
    scope: &mut CompileScope<'_>,
    before: &Formula,
    new: &[(usize, Term)],
) -> Split<Digits> {
    let old_ids = scope.frame.identities.ids.iter().map(|id| Some(id.term.clone()));
    // The cases so far, each with the ids after it. `None` is any id.
    let mut cases: Vec<(Formula, Vec<Option<Term>>)> = vec![(Formula::Yes, old_ids.collect())];
    for (number, value) in new {
        let id_cases = scope.id_cases(value);
        let split: Split<Option<Term>> = match scope.keep_split(value, cases.len(), id_cases) {
            Some(split) => split.into_iter().map(|(on, id)| (on, Some(id))).collect(),
            None => vec![(Formula::Yes, None)],
        };
        let mut next = Vec::new();
        for (on, ids) in &cases {
            for (on_id, id) in &split {
                let on = Formula::and([on.clone(), on_id.clone()]);
                if !is_contradictory(&Formula::and([before.clone(), on.clone()]), scope.next_dimension()) {
                    let mut ids = ids.clone();
                    ids[*number] = id.clone();
                    next.push((on, ids));
                }
            }
        }
        cases = next;
    }
    // The same digits under several conditions are one case.
    let mut merged: Vec<(Digits, Vec<Formula>)> = Vec::new();
    for (on, ids) in cases {
        let is_new = |number: usize| new.iter().any(|(changed, _)| *changed == number);
        let pairs = scope.frame.identities.pairs.iter().filter(|((a, b), _)| is_new(*a) || is_new(*b));
        let digit = |(a, b): (usize, usize)| are_same(&scope.finite, ids[a].as_ref()?, ids[b].as_ref()?);
        let digits: Digits = pairs.map(|(pair, position)| (*position, digit(*pair).map(u32::from))).collect();
        match merged.iter_mut().find(|(known, _)| *known == digits) {
            Some((_, conditions)) => conditions.push(on),
            None => merged.push((digits, vec![on])),
        }
    }
    merged.into_iter().map(|(digits, conditions)| (Formula::or(conditions), digits)).collect()
}

/// Do the constraints of the condition alone exclude each other?
fn is_contradictory(condition: &Formula, dimensions: usize) -> bool {
    let linear = condition.linear_part();
    if *condition == Formula::No || linear.is_empty() {
        return *condition == Formula::No;
    }
    let polyhedron = Polyhedron::from_constraints(dimensions, linear.to_vec());
    polyhedron.convert_limited(&OperationLimits::default()).polyhedron().is_empty()
}

/// Are these ids the same? `None`: that is not known.
fn are_same(known: &HashMap<Term, Value>, a: &Term, b: &Term) -> Option<bool> {
    let pair = || known.get(&Term::equal(a, b)).or_else(|| known.get(&Term::equal(b, a)));
    match (a.as_literal(), b.as_literal()) {
        _ if a == b => Some(true),
        (Some(_), Some(_)) => Some(false),
        _ => pair().map(|value| *value == Value::Bool(true)),
    }
}

impl CompileScope<'_> {
    /// Compiles a comparison of ids: the disjunction of the cases in which it holds or is not known.
    pub(crate) fn compared_ids(&mut self, comparison: Comparison, a: &Term, b: &Term) -> Formula {
        let whole = || Term::compare(comparison, a, b);
        let (a_cases, b_cases) = match (self.id_cases(a), self.id_cases(b)) {
            (Ok(a_cases), Ok(b_cases)) if a_cases.len() * b_cases.len() <= CASE_LIMIT => (a_cases, b_cases),
            (a, b) => {
                let reason = a.err().or(b.err()).map_or(ImprecisionReason::Cases, |(_, reason)| reason);
                self.note_imprecision((whole(), reason));
                return Formula::Yes;
            }
        };
        let mut cases = Vec::new();
        for (on_a, x) in &a_cases {
            for (on_b, y) in &b_cases {
                // Different ids have no known order.
                let may_hold = match (are_same(&self.finite, x, y), comparison) {
                    (Some(true), _) => Some(comparison.holds(Ordering::Equal)),
                    (Some(false), Comparison::Equal) => Some(false),
                    (Some(false), Comparison::NotEqual) => Some(true),
                    (Some(false) | None, _) => None,
                };
                // A slot of a list that is not in use holds the simplest id, and the guard also asks whether
                // the slot is in use. So not to know such a comparison loses nothing, and it is not noted.
                let is_idle = |id: &Term| id.as_literal().is_some_and(|id| *id == Value::any(&id.sort()));
                if may_hold.is_none() && !is_idle(x) && !is_idle(y) {
                    let is_cell = mentions_array(x) || mentions_array(y);
                    let reason =
                        if is_cell { ImprecisionReason::Array } else { ImprecisionReason::Unpartitioned };
                    self.note_imprecision((whole(), reason));
                }
                if may_hold.unwrap_or(true) {
                    cases.push(Formula::and([on_a.clone(), on_b.clone()]));
                }
            }
        }
        Formula::or(cases)
    }

    /// The ids that a term may be, each with its condition. Errors: the subterm with too many.
    fn id_cases(&mut self, term: &Term) -> Result<Split<Term>, Beyond> {
        if let Some(known) = self.memory.ids.get(term) {
            return known.clone();
        }
        let cases = self.uncached_id_cases(term);
        self.memory.ids.insert(term.clone(), cases.clone());
        cases
    }

    fn uncached_id_cases(&mut self, term: &Term) -> Result<Split<Term>, Beyond> {
        if let Some(part) = simplify_read(self.frame.arrays, term) {
            return self.id_cases(&part);
        }
        let Node::IfThenElse(c, a, b) = term.node() else { return Ok(vec![(Formula::Yes, term.clone())]) };
        self.branch_cases(term, [c, a, b], Self::id_cases)
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
        // Nothing reads the variables that the initial condition leaves open.
        Frame::new(&read_specification(file).unwrap().0.iosts, limit, Arrays::default())
    }

    /// Precision: no cell is kept that has no state. Soundness: none is lost.
    #[test]
    fn there_are_as_many_cells_as_partitions() {
        for (count, cells) in PARTITIONS.iter().enumerate().skip(1) {
            let variables: Vec<String> = (0..count).map(|number| format!("v{number}: Job")).collect();
            let frame = frame(&variables.join(", "), 1_000);
            assert_eq!(frame.possible_cells().len(), *cells as usize, "{count}");
            // A set of all cells needs no pair.
            let (_, open) = frame.without_idle_pairs(&frame.possible_cells());
            assert_eq!(open.len(), if count > 2 { count * (count - 1) / 2 } else { 0 });
        }
        // Ids of two types have no pairs with each other. There is always room for four ids.
        let others = frame("v0: Job, v1: Job, v2: id, v3: id, b: bool", 8);
        assert_eq!(others.possible_cells().len(), 2 * 2 * 2);
        assert_eq!(frame("v0: Job, v1: Job, v2: Job, v3: Job, v4: Job", 1).dropped.len(), 1);
    }

    /// Soundness: there is a case for everything that a parameter may be.
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
        assert_eq!(extend_identities(&pair(false), &ids, &parameters, 100).len(), 3 + 3 + 4);
        assert_eq!(extend_identities(&pair(true), &ids, &parameters, 100).len(), 2 + 3);
        // The second parameter stays open. If the pair is not known, both do.
        assert_eq!(extend_identities(&pair(false), &ids, &parameters, 9).len(), 3);
        assert_eq!(extend_identities(&HashMap::new(), &ids, &parameters, 100), vec![HashMap::new()]);
    }
}
