//! Projects symbolic states to the possible values of their data, without the path that led there.
//!
//! **Problem.** A path condition grows with the path, and so does each question about its last step: after n
//! passes of a loop there are n conjuncts over sums of n symbols. Only the possible values of the data
//! matter.
//!
//! **Method.** The symbols that only tell the history are quantified and eliminated, step by step
//! ([`super::eliminate`]), as for strongest postconditions. Among comparisons of one sum the tightest are
//! kept. Symbols are numbered in the order of their occurrence. The result stands for the *same* valuations
//! of the data. A symbol that cannot be eliminated stays. Equal projections are stored once, and each step
//! from a projection is computed once. So a tree of 100,000 nodes has only as many questions as different
//! projections.
//!
//! **Limits.** Beyond a number of symbols or conjuncts nothing is eliminated: then the condition is as long
//! as the path.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use coreach_model::obligation::{defined, in_type};
use coreach_model::term::{Substitution, substitute_all};
use coreach_model::{Datum, Iosts, Term, TransitionId, Type};
use dashu_ratio::RBig;

use super::eliminate::{cancel_sums, eliminate_in_cases, eliminate_number, solve_equation};
use super::inclusion::{Tidy, data_of, tidy};
use super::quiescence::rest_quiescent;
use super::sum::End;
use super::{SymbolicState, System};
use crate::solver::{Answer, Solver};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum By {
    Transition(TransitionId),
    Quiescence,
}

/// The projection to which a step leads, and whether its condition is certainly satisfiable. `None`: no data
/// allow the step.
type StepTarget = Option<(usize, bool)>;

pub(super) struct Projections {
    data: Vec<Datum>,
    projections: Vec<Tidy>,
    numbers: HashMap<Tidy, usize>,
    /// The computed steps, by the projection, the step, and whether the condition before it is certain.
    steps: HashMap<(usize, By, bool), StepTarget>,
}

impl Projections {
    pub(super) fn new(iosts: &Iosts) -> Self {
        let (projections, numbers, steps) = (Vec::new(), HashMap::new(), HashMap::new());
        Projections { data: data_of(iosts), projections, numbers, steps }
    }

    pub(super) fn data(&self) -> &[Datum] {
        &self.data
    }

    pub(super) fn get(&self, number: usize) -> &Tidy {
        &self.projections[number]
    }

    /// Projects a state, and returns the number of the projection. `is_certain`: the state's condition can
    /// certainly hold.
    pub(super) fn add(&mut self, state: &SymbolicState, is_certain: bool) -> usize {
        let tidy = tidy(&self.data, state, is_certain);
        let projected = project_state(&self.data, tidy, is_certain);
        if let Some(number) = self.numbers.get(&projected) {
            return *number;
        }
        let number = self.projections.len();
        self.projections.push(projected.clone());
        self.numbers.insert(projected, number);
        number
    }

    /// The projection as a state from which a step can be taken.
    pub(super) fn state(&self, number: usize) -> SymbolicState {
        self.projections[number].state(&self.data)
    }

    /// Takes a step from a projection. `quiet` is the condition of quiescence at the location. `None`: it is
    /// not known.
    pub(super) fn step(
        &mut self,
        system: &System<'_>,
        (from, is_certain): (usize, bool),
        by: By,
        quiet: Option<&Term>,
        solver: &mut dyn Solver,
    ) -> StepTarget {
        if let Some(known) = self.steps.get(&(from, by, is_certain)) {
            return *known;
        }
        let state = self.state(from);
        let next = match by {
            By::Transition(transition) => system.successor(&state, transition).map(|(_, next)| next),
            By::Quiescence => rest_quiescent(&state, quiet).0,
        };
        let target = next.and_then(|next| {
            // A step that adds no conjunct needs no question.
            let is_certain = match next.condition.len() == state.condition.len() {
                true => is_certain,
                false => match solver.check_along(&next.condition) {
                    Answer::Unsat => return None,
                    Answer::Sat => is_certain,
                    Answer::Unknown => false,
                },
            };
            Some((self.add(&next, is_certain), is_certain))
        });
        self.steps.insert((from, by, is_certain), target);
        target
    }
}

/// A state during its projection: the values of the data, the conjuncts, and the symbols.
struct ProjectionWork {
    values: Vec<Term>,
    parts: Vec<Term>,
    /// The symbols that stay, in the order of the data whose values they are.
    kept: Vec<Datum>,
    /// The symbols that only tell the history.
    bound: Vec<Datum>,
}

/// Computes a state with fewer symbols that stands for the same valuations of the data.
pub(super) fn project_state(data: &[Datum], state: Tidy, is_satisfiable: bool) -> Tidy {
    let mut work = ProjectionWork::new(data, &state);
    // If there are more conjuncts, or more symbols of the history, nothing is eliminated.
    if work.parts.len() <= 48 && work.bound.len() <= 24 {
        work.simplify();
        if !work.bound.is_empty() {
            work.eliminate_by_cases();
        }
    }
    let projected = Tidy { location: state.location, values: work.values, condition: work.parts };
    projected.reduced(is_satisfiable)
}

impl ProjectionWork {
    /// Finds the symbols that stay. A value that is a term over symbols of the history gets a new symbol.
    fn new(data: &[Datum], state: &Tidy) -> Self {
        let mut kept: Vec<Datum> = Vec::new();
        let is_plain = |datum: &Datum| !matches!(datum.ty(), Type::Array(_) | Type::Record(_));
        for (datum, value) in data.iter().zip(&state.values) {
            // Arrays and records stay as they are, with their symbols.
            if value.as_datum().is_some() || !is_plain(datum) {
                for symbol in value.data() {
                    if !kept.contains(&symbol) {
                        kept.push(symbol);
                    }
                }
            }
        }
        let mut parts = state.condition.clone();
        let mut values = state.values.clone();
        for (datum, value) in data.iter().zip(&mut values) {
            // The value of a sum of symbols becomes a symbol that stays, with an equation.
            if value.as_datum().is_none()
                && is_plain(datum)
                && value.data().iter().any(|symbol| !kept.contains(symbol))
            {
                // No datum of a model and no other symbol has such a name.
                let own = Datum::new(format!("{}@", datum.name()), datum.ty().clone());
                parts.push(Term::equal(&Term::datum(&own), value));
                *value = Term::datum(&own);
                kept.push(own);
            }
        }
        let mentioned: BTreeSet<Datum> = parts.iter().flat_map(Term::data).collect();
        let bound = mentioned.into_iter().filter(|symbol| !kept.contains(symbol)).collect();
        ProjectionWork { values, parts, kept, bound }
    }

    /// Eliminates the symbols that can be eliminated without cases.
    fn simplify(&mut self) {
        loop {
            self.parts = keep_tightest(&self.parts);
            if self.parts.iter().any(Term::is_false) {
                self.parts = vec![Term::no()];
                self.bound.clear();
                return;
            }
            self.bound.retain(|symbol| self.parts.iter().any(|part| part.mentions(symbol)));
            let is_changed = self.eliminate_by_equation();
            if !is_changed && !self.eliminate_by_ends() {
                return;
            }
        }
    }

    /// Eliminates a symbol by an equation: a symbol of the history by any value, or another one by a term
    /// over symbols that stay. Returns whether there was one.
    fn eliminate_by_equation(&mut self) -> bool {
        let solved = self.bound.iter().find_map(|symbol| {
            let value = self.parts.iter().find_map(|part| solve_equation(part, symbol))?;
            Some((symbol.clone(), value))
        });
        let solved = solved.or_else(|| {
            self.kept.iter().rev().find_map(|symbol| {
                let is_over_kept = |value: &Term| value.data().iter().all(|other| self.kept.contains(other));
                let mut values = self.parts.iter().filter_map(|part| solve_equation(part, symbol));
                Some((symbol.clone(), values.find(is_over_kept)?))
            })
        });
        let Some((symbol, value)) = solved else { return false };
        let values = Substitution::from([(symbol.clone(), value.clone())]);
        let mut parts = vec![defined(&value), in_type(&value, symbol.ty())];
        parts.extend(substitute_all(&self.parts, &values));
        self.parts = parts;
        self.values = substitute_all(&self.values, &values);
        self.bound.retain(|other| *other != symbol);
        self.kept.retain(|other| *other != symbol);
        true
    }

    /// Eliminates a symbol by its ends. Returns whether there was one.
    fn eliminate_by_ends(&mut self) -> bool {
        let Some((bound, parts)) = eliminate_number(&self.bound, &self.parts) else { return false };
        // A condition that grows here would grow with each step.
        if parts.len() > self.parts.len() + 2 {
            return false;
        }
        (self.bound, self.parts) = (bound, parts);
        true
    }

    /// Eliminates the remaining symbols, if that takes few cases.
    fn eliminate_by_cases(&mut self) {
        let (about, mut others): (Vec<Term>, Vec<Term>) =
            self.parts.drain(..).partition(|part| self.bound.iter().any(|symbol| part.mentions(symbol)));
        // A disjunction of more than four cases, or a condition of more than 300 nodes, is not worth a symbol
        // less.
        match eliminate_in_cases(&self.bound, &about, 4) {
            Some(condition) if condition.written_size() <= 300 => {
                others.extend(condition.lowered().conjuncts());
                self.bound.clear();
                self.parts = others;
                self.simplify();
            }
            _ => {
                others.extend(about);
                self.parts = others;
            }
        }
    }
}

/// Keeps each conjunct once, and only the tightest comparisons of each sum of numbers. Two that leave one
/// number become an equation.
fn keep_tightest(parts: &[Term]) -> Vec<Term> {
    let mut ends: BTreeMap<(Vec<(Term, RBig)>, bool), End> = BTreeMap::new();
    let mut others: Vec<Term> = Vec::new();
    for part in parts.iter().map(cancel_sums).flat_map(|part| part.lowered().conjuncts()) {
        let Some((sum, end)) = End::of(&part) else {
            if !others.contains(&part) {
                others.push(part);
            }
            continue;
        };
        let known = ends.entry((sum, end.is_high)).or_insert_with(|| end.clone());
        if end.is_tighter(known) {
            *known = end;
        }
    }
    for ((sum, is_high), end) in &ends {
        match ends.get(&(sum.clone(), !is_high)) {
            Some(opposite) if end.meets(opposite) => {
                if *is_high {
                    others.push(end.equation());
                }
            }
            _ => others.push(end.term()),
        }
    }
    others
}
