//! A symbolic state and the one behind a step.
//!
//! Whoever follows a model along events that are not all known has the same in hand: where the path is, what
//! of the data is known as values and what is open as terms, and what is asked of the symbols in these. Trees
//! and searches name the parameters of each step anew ([`System::successor`]); the contexts of timed paths
//! name them for the step alone; what judges a run once more gives them terms over instants; who follows a
//! trace has values for them ([`super::followed`]). The step is [`SymbolicState::behind`] for all of them:
//! what can be evaluated is, and terms are made of the rest.

use std::borrow::Cow;
use std::sync::Arc;

use coreach_model::iosts::{Iosts, LocationId, Transition, TransitionId};
use coreach_model::obligation::{defined, enabling_condition};
use coreach_model::semantics::State;
use coreach_model::term::evaluate::{Undefined, Valuation, evaluate, evaluate_with};
use coreach_model::term::{Substitution, literals, substitute, substitute_all};
use coreach_model::{Datum, Numbered, Term, Value};

use super::bounds::{BoundsMemo, found};

/// ⟨q, π, σ⟩ (Definition 8), where σ is known in part.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolicState {
    /// q
    pub location: LocationId,
    /// Of σ, the data whose values are known.
    pub known: Valuation,
    /// Of σ, the others, over symbols; a datum that is in neither is its own symbol.
    pub open: Arc<Substitution>,
    /// π, as conjuncts in the order of the path: what stands first makes sure that the rest is defined.
    pub condition: Vec<Term>,
    /// The number of steps from the state where the path began, where that is counted.
    pub depth: usize,
    /// What is known of its open data, where somebody asked for that.
    pub memo: BoundsMemo,
}

/// What a datum is given: a value, or a term over symbols.
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

/// An IOSTS with what each of its steps needs, computed once.
pub struct System<'a> {
    pub iosts: &'a Iosts,
    /// For each location the transitions that leave it, in order.
    pub outgoing: Cow<'a, Numbered<LocationId, Vec<TransitionId>>>,
    /// For each transition, when it can be taken.
    enabled: Cow<'a, Numbered<TransitionId, Term>>,
}

/// What a [`System`] has computed of its IOSTS, for one who makes it again and again and keeps the IOSTS
/// besides.
pub(super) struct Prepared {
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    enabled: Numbered<TransitionId, Term>,
}

impl Prepared {
    pub(super) fn new(iosts: &Iosts) -> Self {
        Prepared { outgoing: iosts.outgoing(), enabled: iosts.transitions.map(enabling_condition) }
    }
}

/// The symbol of a parameter at a step of this depth. No datum of a model is called like that.
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

    /// A state in which these data have values, and nothing is known of others.
    pub(super) fn knowing(location: LocationId, known: Valuation) -> Self {
        let (open, memo) = (Arc::default(), BoundsMemo::default());
        SymbolicState { location, known, open, condition: Vec::new(), depth: 0, memo }
    }

    /// A state in which all is known: paths begin where a run is.
    pub fn of(state: &State) -> Self {
        SymbolicState::knowing(state.location, state.valuation.clone())
    }

    /// The state where this holds besides, as a term over the data here.
    pub fn asking(&self, condition: &Term) -> Self {
        let mut state = self.clone();
        state.ask(&substitute(condition, &self.standing(&self.known)));
        state
    }

    pub fn ask(&mut self, condition: &Term) {
        let known = self.condition.len();
        for part in condition.lowered().conjuncts() {
            if !self.condition[..known].contains(&part) {
                self.condition.push(part);
            }
        }
    }

    /// The state behind a transition that leaves its location and asks for this, with these values and terms
    /// for the parameters; none where it is refuted by its shape.
    pub fn behind(
        &self,
        transition: &Transition,
        asked: &Term,
        values: impl IntoIterator<Item = (Datum, Value)>,
        terms: impl IntoIterator<Item = (Datum, Term)>,
    ) -> Option<Self> {
        debug_assert_eq!(transition.source, self.location, "a transition leaves its source");
        let values: Vec<(Datum, Value)> = values.into_iter().collect();
        let find = |datum: &Datum| found(datum, (&self.known, &values));
        let (mut assigned, mut variables, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        let is_asked = match evaluate_with(asked, find) {
            Ok(Value::Bool(true)) => false,
            Err(Undefined::Unbound(_)) => true,
            _ => return None,
        };
        unknown.extend(is_asked.then_some(asked));
        for (variable, term) in &transition.assignments {
            match evaluate_with(term, find) {
                Ok(value) => assigned.push((variable.clone(), value)),
                Err(_) => {
                    variables.push(variable.clone());
                    unknown.push(term);
                }
            }
        }
        let mut terms = match unknown.is_empty() {
            true => Vec::new(),
            false => {
                let mut standing = self.standing_of(&unknown, find);
                standing.extend(terms);
                substitute_all(unknown, &standing)
            }
        }
        .into_iter();
        let mut known = self.known.clone();
        for (parameter, _) in &values {
            known.remove(parameter);
        }
        let (open, condition) = (self.open.clone(), self.condition.clone());
        let (location, depth) = (transition.target, self.depth + 1);
        let memo = self.memo.clone();
        let mut state = SymbolicState { location, known, open, condition, depth, memo };
        if is_asked && let Some(condition) = terms.next() {
            state.ask(&condition);
        }
        state.assign(assigned.into_iter().map(|(variable, value)| (variable, ValueOrTerm::Value(value))));
        state.assign(variables.into_iter().zip(terms.map(ValueOrTerm::Term)));
        (!state.is_refuted()).then_some(state)
    }

    /// Gives data values, or else terms over symbols.
    pub(super) fn assign(&mut self, all: impl IntoIterator<Item = (Datum, ValueOrTerm)>) {
        for (datum, assigned) in all {
            let value = match &assigned {
                ValueOrTerm::Value(value) => Some(value),
                ValueOrTerm::Term(term) => term.as_literal(),
            };
            if let Some(value) = value.cloned() {
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

    /// What a condition is where these data have values; the rest stands at its terms, or for itself.
    pub fn meaning(&self, condition: &Term, known: &Valuation) -> Holds {
        match evaluate(condition, known) {
            Ok(Value::Bool(true)) => Holds::Always,
            Err(Undefined::Unbound(_)) => {
                let term = substitute(condition, &self.standing_of(&[condition], |datum| known.get(datum)));
                match term.as_literal() {
                    Some(value) if *value == Value::Bool(true) => Holds::Always,
                    Some(_) => Holds::Never,
                    None => Holds::Where(term),
                }
            }
            _ => Holds::Never,
        }
    }

    pub fn standing(&self, known: &Valuation) -> Substitution {
        let mut standing = (*self.open).clone();
        standing.extend(literals(known));
        standing
    }

    /// What the data of these terms stand at, if `find` gives known ones their values.
    fn standing_of<'v>(&self, terms: &[&Term], find: impl Fn(&Datum) -> Option<&'v Value>) -> Substitution {
        let stands = |datum: Datum| {
            let known = find(&datum).cloned().map(Term::literal);
            known.or_else(|| self.open.get(&datum).cloned()).map(|term| (datum, term))
        };
        terms.iter().flat_map(|term| term.data()).filter_map(stands).collect()
    }

    /// Is the path condition false by its shape alone?
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
        let Prepared { outgoing, enabled } = Prepared::new(iosts);
        System { iosts, outgoing: Cow::Owned(outgoing), enabled: Cow::Owned(enabled) }
    }

    /// Of this IOSTS, of which this was computed before.
    pub(super) fn prepared(iosts: &'a Iosts, known: &'a Prepared) -> Self {
        System { iosts, outgoing: Cow::Borrowed(&known.outgoing), enabled: Cow::Borrowed(&known.enabled) }
    }

    /// When the transition can be taken: its guard, all operations defined, each assigned value in its type.
    pub fn enabled(&self, number: TransitionId) -> &Term {
        &self.enabled[number]
    }

    /// The successor through this transition, which leaves the state's location; its condition need not be
    /// satisfiable. `None` where the condition is false by its shape.
    pub fn successor(
        &self,
        from: &SymbolicState,
        number: TransitionId,
    ) -> Option<(SymbolicStep, SymbolicState)> {
        let transition: &Transition = &self.iosts.transitions[number];
        let parameters = &self.iosts.action(transition.action).parameters;
        let symbols: Vec<Datum> = parameters.iter().map(|datum| symbol(datum, from.depth)).collect();
        let terms = parameters.iter().cloned().zip(symbols.iter().map(Term::datum));
        let state = from.behind(transition, &self.enabled[number], [], terms)?;
        Some((SymbolicStep { transition: number, parameters: symbols }, state))
    }

    /// All successors that are not refuted by their shape, in the order of the transitions.
    pub fn successors(&self, from: &SymbolicState) -> Vec<(SymbolicStep, SymbolicState)> {
        let leaving = &self.outgoing[from.location];
        leaving.iter().filter_map(|number| self.successor(from, *number)).collect()
    }
}
