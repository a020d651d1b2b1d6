//! A symbolic state, and the state after a step.
//!
//! Several parts follow a model along events that are not all known. All of them need a location, the known
//! values of data, the terms of open data, and the condition on the symbols in these. They differ in the
//! parameters of a step:
//!
//! - Trees and searches give them new names at each step ([`System::successor`]).
//! - The contexts of timed paths name them for one step.
//! - The repeated judgement of a run has terms over instants for them.
//! - A followed trace has values for them ([`super::followed`]).
//!
//! All use the step [`SymbolicState::after_transition`]: it evaluates what it can, and makes terms of the
//! rest.

use std::borrow::Cow;
use std::sync::Arc;

use coreach_model::iosts::{Iosts, LocationId, Transition, TransitionId};
use coreach_model::obligation::{defined, enabling_condition};
use coreach_model::semantics::State;
use coreach_model::term::evaluate::{Undefined, Valuation, evaluate, evaluate_with};
use coreach_model::term::{Substitution, literals, substitute, substitute_all};
use coreach_model::{Datum, Numbered, Term, Value};

use super::bounds::{BoundsMemo, find_value};

/// ⟨q, π, σ⟩ (Definition 8), where part of σ is known.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolicState {
    /// q
    pub location: LocationId,
    /// The part of σ with known values.
    pub known: Valuation,
    /// The part of σ with terms over symbols. A datum that is in neither part is its own symbol.
    pub open: Arc<Substitution>,
    /// π, as conjuncts in the order of the path. If the first ones hold, the next are defined.
    pub condition: Vec<Term>,
    /// The number of steps from the beginning of the path, if they are counted.
    pub depth: usize,
    /// The bounds of its open data, if they were computed.
    pub memo: BoundsMemo,
}

/// An assigned value, or a term over symbols.
pub(super) enum ValueOrTerm {
    Value(Value),
    Term(Term),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Holds {
    Always,
    Never,
    Where(Term),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolicStep {
    pub transition: TransitionId,
    pub parameters: Vec<Datum>,
}

/// An IOSTS, with what each of its steps needs.
pub struct System<'a> {
    pub iosts: &'a Iosts,
    /// For each location the transitions that leave it, in order.
    pub outgoing: Cow<'a, Numbered<LocationId, Vec<TransitionId>>>,
    /// For each transition, the condition under which it can be taken.
    enabled: Cow<'a, Numbered<TransitionId, Term>>,
}

/// The computed parts of a [`System`], for a caller that owns the IOSTS and makes the system again and again.
pub(super) struct PreparedSystem {
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    enabled: Numbered<TransitionId, Term>,
}

impl PreparedSystem {
    pub(super) fn new(iosts: &Iosts) -> Self {
        PreparedSystem { outgoing: iosts.outgoing(), enabled: iosts.transitions.map(enabling_condition) }
    }
}

/// The symbol of a parameter at a step of this depth. No datum of a model has such a name.
pub fn symbol(parameter: &Datum, depth: usize) -> Datum {
    Datum::new(format!("{}#{depth}", parameter.name()), parameter.ty().clone())
}

impl SymbolicState {
    /// The initial state (Definition 9, with the initial condition, which has a value): each constant and
    /// variable is its own symbol.
    pub fn initial(iosts: &Iosts) -> Self {
        let condition = &iosts.initial_condition;
        let condition = Term::and([defined(condition), condition.clone()]).lowered().conjuncts();
        SymbolicState { condition, ..SymbolicState::knowing(iosts.initial, Valuation::new()) }
    }

    /// A state in which these data have values, and others are open.
    pub(super) fn knowing(location: LocationId, known: Valuation) -> Self {
        let (open, memo) = (Arc::default(), BoundsMemo::default());
        SymbolicState { location, known, open, condition: Vec::new(), depth: 0, memo }
    }

    /// The symbolic state of a concrete state, in which all values are known.
    pub fn of(state: &State) -> Self {
        SymbolicState::knowing(state.location, state.valuation.clone())
    }

    /// Returns the state with an additional condition over its data.
    pub fn restricted_by(&self, condition: &Term) -> Self {
        let mut state = self.clone();
        state.add_condition(&substitute(condition, &self.data_terms()));
        state
    }

    /// Adds a condition over symbols.
    pub fn add_condition(&mut self, condition: &Term) {
        let known_count = self.condition.len();
        for part in condition.lowered().conjuncts() {
            if !self.condition[..known_count].contains(&part) {
                self.condition.push(part);
            }
        }
    }

    /// Returns the state after a transition from its location that is taken under this condition, with values
    /// and terms for its parameters. `None`: the condition is or becomes false by its form, or has no value.
    pub fn after_transition(
        &self,
        transition: &Transition,
        condition: &Term,
        values: impl IntoIterator<Item = (Datum, Value)>,
        terms: impl IntoIterator<Item = (Datum, Term)>,
    ) -> Option<Self> {
        debug_assert_eq!(transition.source, self.location, "a transition leaves its source");
        let values: Vec<(Datum, Value)> = values.into_iter().collect();
        let find = |datum: &Datum| find_value(datum, (&self.known, &values));
        let (mut assigned_values, mut open_variables, mut open_terms) = (Vec::new(), Vec::new(), Vec::new());
        let is_open = match evaluate_with(condition, find) {
            Ok(Value::Bool(true)) => false,
            Err(Undefined::Unbound(_)) => true,
            _ => return None,
        };
        // If the condition is open, it is the first open term.
        open_terms.extend(is_open.then_some(condition));
        for (variable, term) in &transition.assignments {
            match evaluate_with(term, find) {
                Ok(value) => assigned_values.push((variable.clone(), value)),
                Err(_) => {
                    open_variables.push(variable.clone());
                    open_terms.push(term);
                }
            }
        }
        // All together, because their shared parts are substituted once.
        let mut substituted = Vec::new().into_iter();
        if !open_terms.is_empty() {
            let mut known_terms = self.substitution_for(&open_terms, find);
            known_terms.extend(terms);
            substituted = substitute_all(open_terms, &known_terms).into_iter();
        }
        // A parameter ends with the step.
        let mut known = self.known.clone();
        for (parameter, _) in &values {
            known.remove(parameter);
        }
        let (open, condition) = (self.open.clone(), self.condition.clone());
        let (location, depth) = (transition.target, self.depth + 1);
        let memo = self.memo.clone();
        let mut state = SymbolicState { location, known, open, condition, depth, memo };
        if is_open && let Some(condition) = substituted.next() {
            state.add_condition(&condition);
        }
        let assigned = assigned_values.into_iter();
        state.assign(assigned.map(|(variable, value)| (variable, ValueOrTerm::Value(value))));
        state.assign(open_variables.into_iter().zip(substituted.map(ValueOrTerm::Term)));
        (!state.is_refuted()).then_some(state)
    }

    /// Assigns values or terms over symbols.
    pub(super) fn assign(&mut self, assignments: impl IntoIterator<Item = (Datum, ValueOrTerm)>) {
        for (datum, assigned) in assignments {
            let value = match &assigned {
                ValueOrTerm::Value(value) => Some(value),
                ValueOrTerm::Term(term) => term.as_literal(),
            };
            if let Some(value) = value.cloned() {
                // The shared map is copied only if it changes.
                if self.open.contains_key(&datum) {
                    Arc::make_mut(&mut self.open).remove(&datum);
                }
                self.known.insert(datum, value);
            } else if let ValueOrTerm::Term(term) = assigned {
                self.known.remove(&datum);
                Arc::make_mut(&mut self.open).insert(datum, term);
            }
        }
    }

    /// Evaluates a condition with these known values. Other data are replaced by their terms.
    pub fn meaning(&self, condition: &Term, known: &Valuation) -> Holds {
        match evaluate(condition, known) {
            Ok(Value::Bool(true)) => Holds::Always,
            Err(Undefined::Unbound(_)) => {
                let term =
                    substitute(condition, &self.substitution_for(&[condition], |datum| known.get(datum)));
                match term.as_literal() {
                    Some(value) if *value == Value::Bool(true) => Holds::Always,
                    Some(_) => Holds::Never,
                    None => Holds::Where(term),
                }
            }
            _ => Holds::Never,
        }
    }

    /// Returns the terms and the known values of the data, as a substitution.
    pub fn data_terms(&self) -> Substitution {
        let mut terms = (*self.open).clone();
        terms.extend(literals(&self.known));
        terms
    }

    /// The substitution for the data of these terms. `find` gives the known values.
    fn substitution_for<'v>(
        &self,
        terms: &[&Term],
        find: impl Fn(&Datum) -> Option<&'v Value>,
    ) -> Substitution {
        let value = |datum: Datum| {
            let known = find(&datum).cloned().map(Term::literal);
            known.or_else(|| self.open.get(&datum).cloned()).map(|term| (datum, term))
        };
        terms.iter().flat_map(|term| term.data()).filter_map(value).collect()
    }

    /// Is a conjunct of the path condition literally false?
    pub fn is_refuted(&self) -> bool {
        self.condition.iter().any(Term::is_false)
    }

    pub fn value(&self, datum: &Datum) -> Term {
        let known = || self.known.get(datum).cloned().map(Term::literal);
        self.open.get(datum).cloned().or_else(known).unwrap_or_else(|| Term::datum(datum))
    }
}

impl<'a> System<'a> {
    pub fn new(iosts: &'a Iosts) -> Self {
        let PreparedSystem { outgoing, enabled } = PreparedSystem::new(iosts);
        System { iosts, outgoing: Cow::Owned(outgoing), enabled: Cow::Owned(enabled) }
    }

    /// The system of an IOSTS whose parts were computed before.
    pub(super) fn from_prepared(iosts: &'a Iosts, known: &'a PreparedSystem) -> Self {
        System { iosts, outgoing: Cow::Borrowed(&known.outgoing), enabled: Cow::Borrowed(&known.enabled) }
    }

    /// The condition under which the transition can be taken: its guard holds, all operations are defined,
    /// and each assigned value lies in its type.
    pub fn enabled(&self, number: TransitionId) -> &Term {
        &self.enabled[number]
    }

    /// The successor through a transition from the state's location. Its condition need not be satisfiable.
    /// `None`: the condition is literally false.
    pub fn successor(
        &self,
        from: &SymbolicState,
        number: TransitionId,
    ) -> Option<(SymbolicStep, SymbolicState)> {
        let transition: &Transition = &self.iosts.transitions[number];
        let parameters = &self.iosts.action(transition.action).parameters;
        let symbols: Vec<Datum> = parameters.iter().map(|datum| symbol(datum, from.depth)).collect();
        let terms = parameters.iter().cloned().zip(symbols.iter().map(Term::datum));
        let state = from.after_transition(transition, &self.enabled[number], [], terms)?;
        Some((SymbolicStep { transition: number, parameters: symbols }, state))
    }

    /// All successors whose condition is not literally false, in the order of the transitions.
    pub fn successors(&self, from: &SymbolicState) -> Vec<(SymbolicStep, SymbolicState)> {
        let leaving = &self.outgoing[from.location];
        leaving.iter().filter_map(|number| self.successor(from, *number)).collect()
    }
}
