//! A symbolic state and the one behind a step.
//!
//! Whoever follows a model along events that are not all known has the same in hand: where the path is, what
//! the data stand at, and what is asked of the symbols in it. Trees and searches name the parameters of each
//! step anew ([`System::successor`]); the contexts of timed paths name them for the step alone, and what
//! judges a run once more gives them terms over instants. The step is [`SymbolicState::behind`] for all of
//! them.

use std::borrow::Cow;
use std::sync::Arc;

use coreach_model::iosts::{Iosts, LocationId, Transition, TransitionId};
use coreach_model::obligation::{defined, enabling_condition};
use coreach_model::semantics::State;
use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::{Datum, Numbered, Term};

/// ⟨q, π, σ⟩ (Definition 8).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolicState {
    /// q
    pub location: LocationId,
    /// π, as conjuncts in the order of the path: what stands first makes sure that the rest is defined.
    pub condition: Vec<Term>,
    /// σ: a term over symbols for each variable; a datum that is not in it is its own symbol.
    pub valuation: Arc<Substitution>,
    /// The number of steps from the state where the path began.
    pub depth: usize,
}

/// A step of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolicStep {
    /// Through which transition.
    pub transition: TransitionId,
    /// The symbols of its parameters, in their order.
    pub parameters: Vec<Datum>,
}

/// An IOSTS with what each of its steps needs, computed once.
pub struct System<'a> {
    /// The system.
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
    /// Of this IOSTS.
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
        SymbolicState {
            location: iosts.initial,
            condition: Term::and([defined(condition), condition.clone()]).conjuncts(),
            valuation: Arc::default(),
            depth: 0,
        }
    }

    /// A state in which all is known: paths begin where a run is.
    pub fn of(state: &State) -> Self {
        let literal =
            |(datum, value): (&Datum, &coreach_model::Value)| (datum.clone(), Term::literal(value.clone()));
        SymbolicState {
            location: state.location,
            condition: Vec::new(),
            valuation: Arc::new(state.valuation.iter().map(literal).collect()),
            depth: 0,
        }
    }

    /// The state where this holds besides, as a term over the data here.
    #[must_use]
    pub fn asking(&self, condition: &Term) -> Self {
        let mut state = self.clone();
        state.ask(&substitute(condition, &self.valuation));
        state
    }

    /// Adds a condition over symbols.
    pub fn ask(&mut self, condition: &Term) {
        let known = self.condition.len();
        for part in condition.conjuncts() {
            if !self.condition[..known].contains(&part) {
                self.condition.push(part);
            }
        }
    }

    /// The state behind a transition that leaves its location and asks for this, with these terms for the
    /// parameters.
    #[must_use]
    pub fn behind(
        &self,
        transition: &Transition,
        asked: &Term,
        parameters: impl IntoIterator<Item = (Datum, Term)>,
    ) -> Self {
        debug_assert_eq!(transition.source, self.location, "a transition leaves its source");
        let mut standing = (*self.valuation).clone();
        standing.extend(parameters);
        let terms = std::iter::once(asked).chain(transition.assignments.values());
        let mut terms = substitute_all(terms, &standing).into_iter();
        let condition = terms.next().unwrap_or_else(Term::yes);
        let mut state = self.clone();
        state.ask(&condition);
        if !transition.assignments.is_empty() {
            Arc::make_mut(&mut state.valuation).extend(transition.assignments.keys().cloned().zip(terms));
        }
        (state.location, state.depth) = (transition.target, self.depth + 1);
        state
    }

    /// Is the path condition false by its shape alone?
    pub fn is_refuted(&self) -> bool {
        self.condition.iter().any(Term::is_false)
    }

    /// The term that the datum stands at.
    pub fn value(&self, datum: &Datum) -> Term {
        self.valuation.get(datum).cloned().unwrap_or_else(|| Term::datum(datum))
    }
}

impl<'a> System<'a> {
    /// Of this IOSTS.
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
        let state = from.behind(transition, &self.enabled[number], terms);
        (!state.is_refuted()).then_some((SymbolicStep { transition: number, parameters: symbols }, state))
    }

    /// All successors that are not refuted by their shape, in the order of the transitions.
    pub fn successors(&self, from: &SymbolicState) -> Vec<(SymbolicStep, SymbolicState)> {
        let leaving = &self.outgoing[from.location];
        leaving.iter().filter_map(|number| self.successor(from, *number)).collect()
    }
}
