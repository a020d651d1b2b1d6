//! Finds expanded states that may include a new one: an index, and points that refute an inclusion.
//!
//! **Problem.** To compare each state with all that were expanded at its location takes n²/2 questions in a
//! tree of n nodes. **Method.** A *point* of a state is one valuation that it stands for. A state that
//! includes it stands for its points as well. So
//!
//! - expanded states are stored by location and memory, then by the set of data that have a literal as their
//!   value, then by these literals. For each such set of data, only the states with the literals of the point
//!   are compared.
//! - If the conditions of such a state are false at the point, by evaluation, it is excluded without a
//!   question.
//! - If the solver refutes an inclusion, the values of its refutation are another point, so further states
//!   are refuted without the solver.
//!
//! The first point is a question for each new state, which a solver remembers. The newest states come first:
//! if a state of a counting loop is included at all, then in one of the last passes.
//!
//! **Exact**: what a point refutes is no inclusion. **Bounded**: after a number of questions, or of
//! unanswered questions, a state is expanded.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::{Datum, LocationId, Term, Type, Value, budget, journal};

use super::inclusion::{Inclusion, Tidy, compare_states};
use crate::solver::{Solver, Witness};

struct TreeCandidate<N> {
    node: N,
    state: Tidy,
    /// The symbol that is the value of each datum, if it is one.
    symbols: Vec<Option<Datum>>,
    /// The conditions that mention only these symbols.
    symbol_conditions: Vec<Term>,
}

/// The expanded states of one location and memory: by the data with literal values, and by these literals.
type ByLiterals<N> = BTreeMap<Vec<usize>, HashMap<Vec<Value>, Vec<TreeCandidate<N>>>>;

/// The states that were expanded, each with its node.
pub(super) struct Candidates<M, N> {
    by_place: HashMap<(LocationId, M), ByLiterals<N>>,
    /// How many comparisons of two states were made, by evaluation or by a question.
    compared: u64,
    /// How many of them stayed open.
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
    /// Adds an expanded node with its state.
    pub(super) fn add(&mut self, data: &[Datum], node: N, state: &Tidy, memory: M) {
        let literals = data.iter().zip(&state.values).enumerate().filter_map(|(place, (datum, value))| {
            // Arrays and records are left out, because an array may be written in two ways.
            let has_one_form = !matches!(datum.ty(), Type::Array(_) | Type::Record(_));
            Some((place, value.as_literal().filter(|_| has_one_form)?.clone()))
        });
        let (places, values) = literals.unzip();
        let by_literals = self.by_place.entry((state.location, memory)).or_default();
        let alike = by_literals.entry(places).or_default().entry(values).or_default();
        alike.push(TreeCandidate::new(node, state));
    }

    /// Finds the newest expanded state that includes this one, as far as the questions tell, or else `None`.
    pub(super) fn find_including(
        &mut self,
        data: &[Datum],
        state: &Tidy,
        memory: M,
        solver: &mut dyn Solver,
    ) -> Option<N> {
        let by_literals = self.by_place.get(&(state.location, memory))?;
        let mut points: Vec<Vec<Value>> = match solver.witness(&state.condition) {
            Witness::Found(values) => find_point(data, state, &values).into_iter().collect(),
            Witness::None | Witness::Unknown => Vec::new(),
        };
        let mut fitting: Vec<&TreeCandidate<N>> = Vec::new();
        for (places, by_values) in by_literals {
            // A state that includes this one has the literals of the point, or no literals there.
            match points.first() {
                Some(point) => {
                    let values: Vec<Value> = places.iter().map(|place| point[*place].clone()).collect();
                    fitting.extend(by_values.get(&values).into_iter().flatten());
                }
                None => fitting.extend(by_values.values().flatten()),
            }
        }
        fitting.sort_by_key(|candidate| std::cmp::Reverse(candidate.node));
        let (mut questions, mut unanswered) = (0, 0u64);
        for candidate in fitting {
            budget::ask();
            self.compared += 1;
            if !points.iter().all(|point| candidate.may_contain(point)) {
                continue;
            }
            // For one state at most 48 questions are asked, and at most 3 may stay without an answer. This
            // comparison then stays open too.
            if questions == 48 || unanswered == 3 {
                self.unknown += 1 + unanswered;
                return None;
            }
            questions += 1;
            match compare_states(data, state, &candidate.state, solver) {
                (Inclusion::Yes, _) => return Some(candidate.node),
                (Inclusion::No, values) => {
                    points.extend(values.and_then(|values| find_point(data, state, &values)));
                }
                (Inclusion::Unknown, _) => unanswered += 1,
            }
        }
        self.unknown += unanswered;
        None
    }
}

/// The point of a state for these values of the symbols. `None`: a value is not defined, or not in its type.
fn find_point(data: &[Datum], state: &Tidy, values: &Valuation) -> Option<Vec<Value>> {
    let mut values = values.clone();
    for symbol in state.values.iter().flat_map(Term::data) {
        values.complete(&symbol);
    }
    let value_of =
        |(datum, term): (&Datum, &Term)| evaluate(term, &values).ok().filter(|value| value.is_in(datum.ty()));
    data.iter().zip(&state.values).map(value_of).collect()
}

impl<N> TreeCandidate<N> {
    fn new(node: N, state: &Tidy) -> Self {
        let symbols: Vec<Option<Datum>> =
            state.values.iter().map(|value| value.as_datum().cloned()).collect();
        let is_decided = |part: &Term| {
            part.data().iter().all(|symbol| symbols.iter().flatten().any(|known| known == symbol))
        };
        let symbol_conditions = state.condition.iter().filter(|part| is_decided(part)).cloned().collect();
        TreeCandidate { node, state: state.clone(), symbols, symbol_conditions }
    }

    /// May the state stand for the point? `false` is certain.
    fn may_contain(&self, point: &[Value]) -> bool {
        let mut values = Valuation::new();
        for (symbol, value) in self.symbols.iter().zip(point) {
            let Some(symbol) = symbol else { continue };
            if !value.is_in(symbol.ty()) || values.get(symbol).is_some_and(|known| !may_be_same(known, value))
            {
                return false;
            }
            values.insert(symbol.clone(), value.clone());
        }
        // A term without a value under these is left to the solver.
        let is_false = |part: &Term| holds(part, &values) == Ok(false);
        let differs = |(term, value): (&Term, &Value)| {
            let is_symbol = term.as_datum().is_some();
            !is_symbol && evaluate(term, &values).is_ok_and(|own_value| !may_be_same(&own_value, value))
        };
        !self.symbol_conditions.iter().any(is_false) && !self.state.values.iter().zip(point).any(differs)
    }
}

/// May these be the same value? Arrays and records are left to the solver.
fn may_be_same(a: &Value, b: &Value) -> bool {
    a == b || matches!(a, Value::Array(_) | Value::Record(..))
}
