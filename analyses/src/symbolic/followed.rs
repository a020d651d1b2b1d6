//! A symbolic state that follows a trace: soon nearly all its data are values, and the terms of the others
//! stay short.
//!
//! **Problem.** A trace does not show everything: which of several transitions was taken, the first values of
//! the data, and the constants may be open. The publication of 2012 keeps nodes of a symbolic tree, whose
//! conditions grow with every event. **Method.** Events have values, so the next state is mostly evaluated
//! ([`SymbolicState::after_transition`]). The other data are terms over *symbols* (the first values of data),
//! with a condition on these. The condition is kept short, so the size of a state depends on what is not
//! known yet, and not on the length of the trace:
//!
//! - If it leaves a symbol one value, by any equations, the symbol is replaced by the value.
//! - A symbol that no datum mentions any more is eliminated, if this needs no quantifier.
//! - A part that the others imply is dropped, and sums are added up.
//! - If there are many values that a datum does *not* have, or many disjunctions, further ones are checked
//!   once and forgotten ([`SymbolicState::is_full`]).
//!
//! The solver is asked only if the answer depends on a symbol. If it does not know, the state counts as
//! possible: a state too many never causes Fail. **Costs** an evaluation for each event and, if the event
//! says something new of a symbol, a question for each part of the condition.

use std::sync::Arc;

use coreach_model::iosts::Transition;
use coreach_model::term::evaluate::{Valuation, evaluate_with};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::{Datum, Term, TransitionId, Value};

use super::bounds::{CanBe, GivenValues, OpenBounds, find_value};
use super::eliminate::{eliminate_data, is_decided_by_in_type};
use super::inclusion::{data_of_terms, depending_parts};
use super::state::{Holds, ValueOrTerm};
use super::sum::{fold_sums, shorten_comparison};
use super::{SymbolicState, System, symbol};
use crate::solver::{Solver, Witness, may_hold, must_hold};

/// The most weak parts of a condition that are kept: values that data do not have, and disjunctions.
const MOST_WEAK: usize = 64;

impl Holds {
    /// Can it hold together with the condition, which can hold itself? Errs towards yes.
    pub fn may_be(self, condition: &[Term], solver: &mut dyn Solver) -> bool {
        match self {
            Holds::Always => true,
            Holds::Never => false,
            Holds::Where(term) => may_hold(solver, &[condition, &term.lowered().conjuncts()].concat()),
        }
    }
}

impl SymbolicState {
    /// The initial state with given constants. `None`: they contradict the initial condition.
    pub fn start(system: &System<'_>, given: &Valuation, solver: &mut dyn Solver) -> Option<Self> {
        let iosts = system.iosts;
        let data = iosts.variables.iter().chain(&iosts.constants);
        let open = data.filter(|datum| !given.contains_key(datum));
        let open = open.map(|datum| (datum.clone(), Term::datum(&symbol(datum, 0)))).collect();
        let initial = SymbolicState::initial(iosts);
        let state =
            SymbolicState { known: given.clone(), open: Arc::new(open), condition: Vec::new(), ..initial };
        match state.meaning(&Term::and(initial.condition), &state.known) {
            Holds::Always => Some(state.remembering()),
            Holds::Never => None,
            Holds::Where(term) => state.with_condition(&term, solver).map(SymbolicState::remembering),
        }
    }

    /// The state after a transition from its location, with these values of the action's parameters. `None`:
    /// the transition cannot be taken.
    pub fn after(
        &self,
        system: &System<'_>,
        number: TransitionId,
        values: &[Value],
        solver: &mut dyn Solver,
    ) -> Option<Self> {
        let parameters = &system.iosts.action_of(number).parameters;
        let values = parameters.iter().cloned().zip(values.iter().cloned());
        self.after_with(system, number, values, [], solver)
    }

    /// Like [`SymbolicState::after`], with terms over symbols for some of the parameters. `None` if the step
    /// cannot be taken.
    pub fn after_with(
        &self,
        system: &System<'_>,
        number: TransitionId,
        values: impl IntoIterator<Item = (Datum, Value)>,
        terms: impl IntoIterator<Item = (Datum, Term)>,
        solver: &mut dyn Solver,
    ) -> Option<Self> {
        let transition = &system.iosts.transitions[number];
        let values: Vec<(Datum, Value)> = values.into_iter().collect();
        let terms: Vec<(Datum, Term)> = terms.into_iter().collect();
        let has_terms = !terms.is_empty();
        let guard = system.enabled(number);
        let take_step = |condition: &Term| {
            let mut next =
                self.after_transition(transition, condition, values.iter().cloned(), terms.iter().cloned())?;
            // Steps are not counted, so a state does not depend on the length of the trace.
            next.depth = self.depth;
            for variable in transition.assignments.keys() {
                if let Some(term) = next.open.get(variable).map(fold_sums) {
                    next.assign([(variable.clone(), ValueOrTerm::Term(term))]);
                }
            }
            Some(next)
        };
        let undecided = if has_terms {
            let mut with_terms = self.clone();
            Arc::make_mut(&mut with_terms.open).extend(terms.iter().cloned());
            with_terms.undecided_parts(guard, &values)?
        } else {
            self.undecided_parts(guard, &values)?
        };
        // With bounds alone, neither terms nor the solver are needed for the condition.
        let narrowed = if has_terms { None } else { self.narrowed_bounds(&undecided, &values) };
        if let Some(bounds) = narrowed {
            if let Some(next) = self.move_numbers(transition, &values, &bounds) {
                return Some(next);
            }
            let mut next = take_step(&Term::yes())?;
            if bounds.is_mentioned_in(&next.open) {
                next.condition = bounds.condition().to_vec();
                return Some(next.remembering());
            }
        }
        let mut next = take_step(&Term::and(undecided))?;
        // The parts of the guard come after the known condition.
        let new = next.condition.split_off(self.condition.len());
        let next = match (new.is_empty(), next.condition.is_empty()) {
            (false, _) => next.with_condition(&Term::and(new), solver)?,
            (true, true) => next,
            (true, false) => next.settled(),
        };
        Some(if has_terms { next } else { next.remembering() })
    }

    /// The state after a transition, with the bounds that hold with its guard. `None`: it does more with open
    /// data than to move them by numbers.
    fn move_numbers(
        &self,
        transition: &Transition,
        values: GivenValues<'_>,
        bounds: &Arc<OpenBounds>,
    ) -> Option<Self> {
        let mut known = self.known.clone();
        // A parameter may hide a datum of the same name. It ends with the step.
        for (parameter, _) in values {
            known.remove(parameter);
        }
        let mut assigned = Vec::new();
        for (variable, term) in &transition.assignments {
            if self.open.contains_key(variable) {
                assigned.push((variable, term));
            } else {
                let value = evaluate_with(term, |datum| find_value(datum, (&self.known, values))).ok()?;
                known.insert(variable.clone(), value);
            }
        }
        let moved = match assigned.is_empty() {
            true => bounds.clone(),
            false => Arc::new(bounds.after_assignment(&assigned, (&self.known, values))?),
        };
        let (open, condition) = (moved.open.clone(), moved.condition().to_vec());
        let (location, depth) = (transition.target, self.depth);
        Some(SymbolicState { location, known, open, condition, depth, memo: moved.into() })
    }

    /// The bounds of the open data: the remembered ones, or else new ones.
    fn bounds(&self) -> Arc<OpenBounds> {
        let known = self.memo.of(&self.open, &self.condition).cloned();
        known.unwrap_or_else(|| Arc::new(OpenBounds::new(&self.open, &self.condition)))
    }

    /// Remembers the bounds of the open data. The condition must already be as short as possible.
    pub fn remembering(mut self) -> Self {
        self.memo = self.bounds().into();
        self
    }

    /// Finds out without a solver whether a condition on the data can hold, and whether it can fail.
    pub fn decide(&self, condition: &Term, given: GivenValues<'_>) -> CanBe {
        self.bounds().decide(condition, (&self.known, given))
    }

    /// The parts of a guard that do not certainly hold. `None`: the guard can never hold.
    fn undecided_parts(&self, guard: &Term, given: GivenValues<'_>) -> Option<Vec<Term>> {
        let bounds = self.bounds();
        let mut undecided = Vec::new();
        for part in guard.conjuncts() {
            match bounds.decide(&part, (&self.known, given)) {
                CanBe::ALWAYS => {}
                CanBe::NEVER => return None,
                _ => undecided.push(part),
            }
        }
        Some(undecided)
    }

    /// The bounds with these parts of a guard. `None`: a part is no bound of a single symbol, or the state
    /// remembers no bounds.
    fn narrowed_bounds(&self, parts: &[Term], given: GivenValues<'_>) -> Option<Arc<OpenBounds>> {
        let known = self.memo.of(&self.open, &self.condition)?;
        match parts.is_empty() {
            true => Some(known.clone()),
            false => known.with_parts(parts, (&self.known, given)).map(Arc::new),
        }
    }

    /// Adds a condition over symbols. `None`: it cannot hold here.
    fn with_condition(mut self, term: &Term, solver: &mut dyn Solver) -> Option<Self> {
        let known_count = self.condition.len();
        for part in term.lowered().conjuncts() {
            // There is no room for it, so it is only checked.
            if self.is_full() && is_weak(&part) {
                self.condition.push(part);
                let is_possible = may_hold(solver, &self.condition);
                self.condition.pop();
                if !is_possible {
                    return None;
                }
            } else if !self.condition.contains(&part) && !must_hold(solver, &self.condition, &part) {
                self.condition.push(part);
            }
        }
        if self.condition.len() == known_count {
            return Some(self.settled());
        }
        if !may_hold(solver, &self.condition) {
            return None;
        }
        let mut settled = self.settled().pinned(solver);
        // A new part may imply an old one.
        settled.condition = shorten_condition(settled.condition, solver);
        Some(settled)
    }

    /// Has the condition so many weak parts that no more are kept?
    pub fn is_full(&self) -> bool {
        self.condition.len() >= MOST_WEAK
            && self.condition.iter().filter(|part| is_weak(part)).count() >= MOST_WEAK
    }

    /// Replaces each symbol that an equation fixes by its value, and eliminates those that no datum mentions.
    fn settled(mut self) -> Self {
        while let Some((symbol, value)) = self.condition.iter().find_map(fixed_value) {
            if !value.is_in(symbol.ty()) {
                // The condition then cannot hold, and the solver will find this.
                break;
            }
            self.replace_symbols(&Substitution::from([(symbol, Term::literal(value))]));
        }
        self.condition.sort();
        self.condition.dedup();
        // Parts that depend on no datum can hold, and say nothing else.
        self.condition = depending_parts(data_of_terms(self.open.values()), &self.condition, Term::data).0;
        let mut idle = data_of_terms(&self.condition);
        idle.retain(|symbol| !self.mentions_symbol(symbol));
        for symbol in idle {
            if let Some(shorter) = eliminate_data(&[symbol], &self.condition) {
                self.condition = shorter.lowered().conjuncts().iter().map(shorten_comparison).collect();
            }
        }
        self
    }

    fn mentions_symbol(&self, symbol: &Datum) -> bool {
        self.open.values().any(|term| term.mentions(symbol))
    }

    /// Replaces the symbols to which the condition leaves one value, in any form: `2 * a == 8`, or `a + b ==
    /// 5` and `a - b == 1`.
    fn pinned(mut self, solver: &mut dyn Solver) -> Self {
        if self.condition.is_empty() {
            return self;
        }
        // A symbol can only have the value that it has in some solution.
        let Witness::Found(possible) = solver.witness(&self.condition) else { return self };
        let mut values = Substitution::new();
        for (symbol, value) in possible {
            let (datum, value) = (Term::datum(&symbol), Term::literal(value));
            // Arrays are left out: equal reads do not mean that they are equal everywhere.
            if self.mentions_symbol(&symbol)
                && is_decided_by_in_type(symbol.ty())
                && must_hold(solver, &self.condition, &Term::equal(&datum, &value))
            {
                values.insert(symbol, value);
            }
        }
        self.replace_symbols(&values);
        self.settled()
    }

    fn replace_symbols(&mut self, values: &Substitution) {
        let parts = substitute_all(&self.condition, values);
        self.condition = parts.iter().flat_map(Term::conjuncts).filter(|part| !part.is_true()).collect();
        let open = std::mem::take(&mut self.open);
        let replace = |term| ValueOrTerm::Term(fold_sums(&substitute(term, values)));
        self.assign(open.iter().map(|(datum, term)| (datum.clone(), replace(term))));
    }

    /// Finds a term of more than `most` parts. Returns the name of its datum, or `Some(None)` for a part of
    /// the condition.
    pub fn find_large_term(&self, most: u64) -> Option<Option<String>> {
        let is_large = |term: &Term| term.written_size() > most;
        if let Some((datum, _)) = self.open.iter().find(|(_, term)| is_large(term)) {
            return Some(Some(datum.name().to_owned()));
        }
        self.condition.iter().any(is_large).then_some(None)
    }

    /// Are both states the same, except for their conditions on symbols?
    pub fn has_same_data(&self, other: &SymbolicState) -> bool {
        self.location == other.location && self.open == other.open && self.known == other.known
    }

    /// Joins two states that differ only in their conditions. If one is within the other, this is the wider
    /// one.
    pub fn joined(self, other: &SymbolicState, solver: &mut dyn Solver) -> Self {
        let condition_of = |state: &SymbolicState| Term::and(state.condition.iter().cloned());
        if must_hold(solver, &other.condition, &condition_of(&self)) {
            return self;
        }
        if must_hold(solver, &self.condition, &condition_of(other)) {
            return other.clone();
        }
        // The cases of both, each with the other parts of its own state.
        let cases = [&self, other].into_iter().flat_map(|state| {
            let (parts, cases) = split_disjunction(&state.condition);
            cases.into_iter().map(move |case| Term::and(parts.iter().cloned().chain([case])))
        });
        let either = simplify_cases(&[], cases.collect(), solver);
        SymbolicState { condition: either.lowered().conjuncts(), ..self }
    }
}

/// Splits a condition: first the other parts, and then the cases of its only disjunction. If it has none or
/// several, there is one case, which is "yes".
fn split_disjunction(condition: &[Term]) -> (Vec<Term>, Vec<Term>) {
    let (choices, mut others): (Vec<Term>, Vec<Term>) =
        condition.iter().cloned().partition(|part| matches!(part.node(), Node::Or(..)));
    if let [only] = choices.as_slice()
        && let Node::Or(cases) = only.node()
    {
        return (others, cases.clone());
    }
    others.extend(choices);
    (others, vec![Term::yes()])
}

/// Simplifies the disjunction of cases under other parts: drops cases that lie in others, and parts of a case
/// that are implied.
fn simplify_cases(parts: &[Term], cases: Vec<Term>, solver: &mut dyn Solver) -> Term {
    // More than 32 cases are not compared with each other.
    if cases.len() > 32 {
        return Term::or(cases);
    }
    let parts_with = |case: &Term| [parts, &case.lowered().conjuncts()].concat();
    let mut kept: Vec<Term> = Vec::new();
    for case in cases {
        if kept.iter().any(|wider| must_hold(solver, &parts_with(&case), wider)) {
            continue;
        }
        kept.retain(|narrower| !must_hold(solver, &parts_with(narrower), &case));
        let mut short = drop_implied_after(parts.len(), parts_with(&case), solver);
        kept.push(Term::and(short.split_off(parts.len())));
    }
    Term::or(kept)
}

/// Is it a part that excludes little, and of which there may be many?
fn is_weak(part: &Term) -> bool {
    matches!(part.node(), Node::Compare(Comparison::NotEqual, ..) | Node::Or(..))
}

/// The symbol that a part fixes, with its value. `None` for other parts.
fn fixed_value(part: &Term) -> Option<(Datum, Value)> {
    match part.node() {
        Node::Data(flag) => Some((flag.clone(), Value::Bool(true))),
        Node::Not(inner) => Some((inner.as_datum()?.clone(), Value::Bool(false))),
        Node::Compare(Comparison::Equal, a, b) => {
            let fix =
                |side: &Term, other: &Term| Some((side.as_datum()?.clone(), other.as_literal()?.clone()));
            fix(a, b).or_else(|| fix(b, a))
        }
        _ => None,
    }
}

/// Shortens a condition: drops parts that others imply, and cases of its only disjunction that lie in others.
pub fn shorten_condition(parts: Vec<Term>, solver: &mut dyn Solver) -> Vec<Term> {
    let (mut short, cases) = split_disjunction(&drop_implied(parts, solver));
    let disjunction = simplify_cases(&short, cases, solver);
    short.extend(disjunction.lowered().conjuncts());
    short
}

/// Drops parts that the others imply. Of parts that imply each other the first is kept.
pub fn drop_implied(parts: Vec<Term>, solver: &mut dyn Solver) -> Vec<Term> {
    drop_implied_after(0, parts, solver)
}

/// Drops implied parts, but not the first `first` parts.
fn drop_implied_after(first: usize, mut parts: Vec<Term>, solver: &mut dyn Solver) -> Vec<Term> {
    // From the end, so that of two parts that imply each other the first is kept.
    for place in (first..parts.len()).rev() {
        let part = parts.remove(place);
        if !must_hold(solver, &parts, &part) {
            parts.insert(place, part);
        }
    }
    parts
}
