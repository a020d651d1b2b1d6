//! Which expanded states may include a new one: an index, and points that refute.
//!
//! **Problem.** Who compares each state with all that were expanded at its location asks n²/2 questions in a
//! tree of n nodes.
//!
//! **Method.** A *point* of a state is one valuation that it stands for; who includes the state stands for
//! its points. So
//!
//! - expanded states are kept by location and memory, then by the data that they hold at a literal, then by
//!   these literals: of each such set of data, those are looked at that have the literals of the point;
//! - of these, one whose conditions are false at the point, by evaluation, is out without a question;
//! - where the solver refutes an inclusion, the values with which it does are another point, and so the next
//!   ones are refuted without it.
//!
//! The first point is a question for each new state, which a solver remembers. Newest first: a loop that
//! counts is within its last passes, if at all.
//!
//! **Exact**: what a point refutes is no inclusion. **Bounded**: after so many questions, and after some that
//! are not answered, a state is expanded.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::{Datum, LocationId, Term, Type, Value, budget, journal};

use super::inclusion::{Inclusion, Tidy, compared};
use crate::solver::{Solver, Witness};

struct Candidate<N> {
    node: N,
    state: Tidy,
    /// For each datum the symbol that is its value.
    bare: Vec<Option<Datum>>,
    /// The conditions that the values of bare symbols decide.
    decided: Vec<Term>,
}

/// The expanded states of one place, by what they hold at literals.
type ByLiterals<N> = BTreeMap<Vec<usize>, HashMap<Vec<Value>, Vec<Candidate<N>>>>;

/// The states that were expanded, each with the node that it belongs to.
pub(super) struct Candidates<M, N> {
    by_place: HashMap<(LocationId, M), ByLiterals<N>>,
    /// How often a state was held against another one, by evaluation or by a question.
    compared: u64,
    /// How often it stayed open whether one includes another.
    unknown: u64,
}

impl<M, N> Default for Candidates<M, N> {
    fn default() -> Self {
        Candidates { by_place: HashMap::new(), compared: 0, unknown: 0 }
    }
}

impl<M, N> Drop for Candidates<M, N> {
    fn drop(&mut self) {
        let Candidates { compared, unknown, .. } = self;
        if *compared > 0 {
            journal::note(|| {
                format!("inclusion: {compared} states compared, {unknown} comparisons left open")
            });
        }
    }
}

impl<M: Eq + Hash, N: Copy + Ord> Candidates<M, N> {
    pub(super) fn add(&mut self, data: &[Datum], node: N, state: &Tidy, memory: M) {
        let literals = data.iter().zip(&state.values).enumerate().filter_map(|(place, (datum, value))| {
            // An array may be written in two ways.
            let is_one = !matches!(datum.ty(), Type::Array(_) | Type::Record(_));
            Some((place, value.as_literal().filter(|_| is_one)?.clone()))
        });
        let (places, values) = literals.unzip();
        let here = self.by_place.entry((state.location, memory)).or_default();
        here.entry(places).or_default().entry(values).or_default().push(Candidate::new(node, state));
    }

    /// The newest one that includes a state.
    pub(super) fn including(
        &mut self,
        data: &[Datum],
        state: &Tidy,
        memory: M,
        solver: &mut dyn Solver,
    ) -> Option<N> {
        let here = self.by_place.get(&(state.location, memory))?;
        let mut points: Vec<Vec<Value>> = match solver.witness(&state.condition) {
            Witness::Found(values) => point(data, state, &values).into_iter().collect(),
            Witness::None | Witness::Unknown => Vec::new(),
        };
        let mut fitting: Vec<&Candidate<N>> = Vec::new();
        for (places, by_values) in here {
            match points.first() {
                Some(point) => {
                    let values: Vec<Value> = places.iter().map(|place| point[*place].clone()).collect();
                    fitting.extend(by_values.get(&values).into_iter().flatten());
                }
                None => fitting.extend(by_values.values().flatten()),
            }
        }
        fitting.sort_by_key(|candidate| std::cmp::Reverse(candidate.node));
        let (mut questions, mut unknown) = (0, 0u64);
        for candidate in fitting {
            budget::ask();
            self.compared += 1;
            if !points.iter().all(|point| candidate.may_hold(point)) {
                continue;
            }
            // So many questions are asked for one state.
            // So many of them may stay without an answer.
            if questions == 48 || unknown == 3 {
                self.unknown += 1 + unknown;
                return None;
            }
            questions += 1;
            match compared(data, state, &candidate.state, solver) {
                (Inclusion::Yes, _) => return Some(candidate.node),
                (Inclusion::No, values) => {
                    points.extend(values.and_then(|values| point(data, state, &values)));
                }
                (Inclusion::Unknown, _) => unknown += 1,
            }
        }
        self.unknown += unknown;
        None
    }
}

/// The valuation of the data that these values of the symbols yield.
fn point(data: &[Datum], state: &Tidy, values: &Valuation) -> Option<Vec<Value>> {
    let mut values = values.clone();
    for symbol in state.values.iter().flat_map(Term::data) {
        values.complete(&symbol);
    }
    let at =
        |(datum, value): (&Datum, &Term)| evaluate(value, &values).ok().filter(|one| one.is_in(datum.ty()));
    data.iter().zip(&state.values).map(at).collect()
}

impl<N> Candidate<N> {
    fn new(node: N, state: &Tidy) -> Self {
        let bare: Vec<Option<Datum>> = state.values.iter().map(|value| value.as_datum().cloned()).collect();
        let is_decided =
            |part: &Term| part.data().iter().all(|symbol| bare.iter().flatten().any(|known| known == symbol));
        let decided = state.condition.iter().filter(|part| is_decided(part)).cloned().collect();
        Candidate { node, state: state.clone(), bare, decided }
    }

    /// May it stand for the point? `false` is certain.
    fn may_hold(&self, point: &[Value]) -> bool {
        let mut values = Valuation::new();
        for (symbol, value) in self.bare.iter().zip(point) {
            let Some(symbol) = symbol else { continue };
            if !value.is_in(symbol.ty()) || values.get(symbol).is_some_and(|known| !is_one(known, value)) {
                return false;
            }
            values.insert(symbol.clone(), value.clone());
        }
        // What has no value under these is left to the solver.
        let is_false = |part: &Term| holds(part, &values) == Ok(false);
        let differs = |(term, value): (&Term, &Value)| {
            let has_value = term.as_datum().is_none();
            has_value && evaluate(term, &values).is_ok_and(|found| !is_one(&found, value))
        };
        !self.decided.iter().any(is_false) && !self.state.values.iter().zip(point).any(differs)
    }
}

/// Are these one value, or arrays or records, of which it is left to the solver?
fn is_one(one: &Value, other: &Value) -> bool {
    one == other || matches!(one, Value::Array(_) | Value::Record(..))
}
