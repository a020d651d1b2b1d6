//! A state that follows what is seen: nearly all of its data are values soon, and the rest stays short.
//!
//! **Problem.** A trace does not tell everything: which of several transitions was taken, what the data were
//! in the beginning, what the constants are. The publication of 2012 keeps nodes of a symbolic tree, whose
//! conditions grow with every event.
//!
//! **Method.** Events bring values, so what happens next is mostly evaluated ([`SymbolicState::behind`]). The
//! other data are terms over *symbols* (what a datum was in the beginning), with a condition on these. A
//! symbol that the condition leaves one value, by whatever equations, becomes it; one that no datum stands
//! for any more is taken out of the condition, where that can be done without a quantifier; a part of the
//! condition that the others imply goes; sums are added up. So a state is as large as what is not known yet,
//! and not as long as the trace.
//!
//! Values that a datum does *not* have add up for ever: beyond some of them, further ones are looked at once
//! and forgotten ([`SymbolicState::is_full`]), as are choices between conditions.
//!
//! The solver is asked only where the answer hangs on a symbol. What it does not know is taken for possible:
//! a state too many makes no Fail.
//!
//! **Costs** an evaluation for each event, and where it says something new of a symbol, a question for each
//! part of the condition.

use std::sync::Arc;

use coreach_model::iosts::Transition;
use coreach_model::term::evaluate::{Valuation, evaluate_with};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::{Datum, Term, TransitionId, Value};

use super::bounds::{CanBe, GivenValues, OpenBounds, found};
use super::eliminate::{is_told, without};
use super::inclusion::{about, data_of_terms};
use super::state::{Holds, ValueOrTerm};
use super::sum::{folded, shortened};
use super::{SymbolicState, System, symbol};
use crate::solver::{Solver, Witness, may_hold, must_hold};

/// Of values that data do not have, and of choices between conditions, so many are kept.
const MOST_WEAK: usize = 64;

impl Holds {
    /// Can it hold? Errs towards yes. The condition itself can.
    pub fn may_be(self, condition: &[Term], solver: &mut dyn Solver) -> bool {
        match self {
            Holds::Always => true,
            Holds::Never => false,
            Holds::Where(term) => {
                let mut all = condition.to_vec();
                all.extend(term.lowered().conjuncts());
                may_hold(solver, &all)
            }
        }
    }
}

impl SymbolicState {
    /// The initial state with constants that are given; `None` where they do not suit the initial condition.
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
            Holds::Where(term) => state.with(&term, solver).map(SymbolicState::remembering),
        }
    }

    /// The state after a transition that leaves its location, with these values for the parameters of its
    /// action; `None` where it cannot be taken.
    pub fn after(
        &self,
        system: &System<'_>,
        number: TransitionId,
        values: &[Value],
        solver: &mut dyn Solver,
    ) -> Option<Self> {
        let parameters = &system.iosts.action(system.iosts.transitions[number].action).parameters;
        let values = parameters.iter().cloned().zip(values.iter().cloned());
        self.after_with(system, number, values, [], solver)
    }

    /// The same, with terms over symbols for some of the parameters.
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
        let step = |asked: &Term| {
            let mut next = self.behind(transition, asked, values.iter().cloned(), terms.iter().cloned())?;
            next.depth = self.depth;
            for variable in transition.assignments.keys() {
                if let Some(term) = next.open.get(variable).map(folded) {
                    next.assign([(variable.clone(), ValueOrTerm::Term(term))]);
                }
            }
            Some(next)
        };
        let untold = if has_terms {
            let mut there = self.clone();
            Arc::make_mut(&mut there.open).extend(terms.iter().cloned());
            there.untold(guard, &values)?
        } else {
            self.untold(guard, &values)?
        };
        let narrowed = if has_terms { None } else { self.narrowed(&untold, &values) };
        if let Some(bounds) = narrowed {
            if let Some(next) = self.moved(transition, &values, &bounds) {
                return Some(next);
            }
            let mut next = step(&Term::yes())?;
            if bounds.stands_in(&next.open) {
                next.condition = bounds.condition().to_vec();
                return Some(next.remembering());
            }
        }
        let mut next = step(&Term::and(untold))?;
        let new = next.condition.split_off(self.condition.len());
        let next = match (new.is_empty(), next.condition.is_empty()) {
            (false, _) => next.with(&Term::and(new), solver)?,
            (true, true) => next,
            (true, false) => next.settled(),
        };
        Some(if has_terms { next } else { next.remembering() })
    }

    /// The state behind a transition, with the bounds that are known where its guard holds. None where it
    /// does more with open data than move them by numbers.
    fn moved(
        &self,
        transition: &Transition,
        values: GivenValues<'_>,
        bounds: &Arc<OpenBounds>,
    ) -> Option<Self> {
        let mut known = self.known.clone();
        for (parameter, _) in values {
            known.remove(parameter);
        }
        let mut assigned = Vec::new();
        for (variable, term) in &transition.assignments {
            if self.open.contains_key(variable) {
                assigned.push((variable, term));
            } else {
                let value = evaluate_with(term, |datum| found(datum, (&self.known, values))).ok()?;
                known.insert(variable.clone(), value);
            }
        }
        let moved = match assigned.is_empty() {
            true => bounds.clone(),
            false => Arc::new(bounds.moved(&assigned, (&self.known, values))?),
        };
        let (open, condition) = (moved.open.clone(), moved.condition().to_vec());
        let (location, depth) = (transition.target, self.depth);
        Some(SymbolicState { location, known, open, condition, depth, memo: moved.into() })
    }

    fn bounds(&self) -> Arc<OpenBounds> {
        let known = self.memo.of(&self.open, &self.condition).cloned();
        known.unwrap_or_else(|| Arc::new(OpenBounds::new(&self.open, &self.condition)))
    }

    /// Remembers what is known of its open data. Its condition cannot be said shorter.
    pub fn remembering(mut self) -> Self {
        self.memo = self.bounds().into();
        self
    }

    /// What is found out about a condition on the data without a question.
    pub fn decide(&self, condition: &Term, given: GivenValues<'_>) -> CanBe {
        self.bounds().decide(condition, (&self.known, given))
    }

    /// What of a guard is not told to hold always; none where it can never hold.
    fn untold(&self, guard: &Term, given: GivenValues<'_>) -> Option<Vec<Term>> {
        let bounds = self.bounds();
        let mut left = Vec::new();
        for part in guard.conjuncts() {
            match bounds.decide(&part, (&self.known, given)) {
                CanBe::ALWAYS => {}
                CanBe::NEVER => return None,
                _ => left.push(part),
            }
        }
        Some(left)
    }

    /// What is known where these parts of a guard hold, if they are bounds of single symbols, and the state
    /// remembers what is known without them.
    fn narrowed(&self, parts: &[Term], given: GivenValues<'_>) -> Option<Arc<OpenBounds>> {
        let known = self.memo.of(&self.open, &self.condition)?;
        match parts.is_empty() {
            true => Some(known.clone()),
            false => known.with(parts, (&self.known, given)).map(Arc::new),
        }
    }

    /// The state where this holds besides, as a condition over symbols; `None` where it cannot.
    fn with(mut self, term: &Term, solver: &mut dyn Solver) -> Option<Self> {
        let known = self.condition.len();
        for part in term.lowered().conjuncts() {
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
        if self.condition.len() == known {
            return Some(self.settled());
        }
        if !may_hold(solver, &self.condition) {
            return None;
        }
        let mut settled = self.settled().pinned(solver);
        // What is new may say more than what was there.
        settled.condition = shorter(settled.condition, solver);
        Some(settled)
    }

    /// Is so much known that weak parts are not kept any more?
    pub fn is_full(&self) -> bool {
        self.condition.len() >= MOST_WEAK
            && self.condition.iter().filter(|part| is_weak(part)).count() >= MOST_WEAK
    }

    /// The same with values for the symbols that the condition fixes, and without those that nothing stands
    /// for any more.
    fn settled(mut self) -> Self {
        while let Some((symbol, value)) = self.condition.iter().find_map(fixed) {
            if !value.is_in(symbol.ty()) {
                // The condition says so itself, to the solver.
                break;
            }
            self.put(&Substitution::from([(symbol, Term::literal(value))]));
        }
        self.condition.sort();
        self.condition.dedup();
        // What has nothing to do with any datum can hold, and that is all that it says.
        self.condition = about(data_of_terms(self.open.values()), &self.condition, Term::data).0;
        let mut idle = data_of_terms(&self.condition);
        idle.retain(|symbol| !self.stands(symbol));
        for symbol in idle {
            if let Some(rest) = without(&[symbol], &self.condition) {
                self.condition = rest.lowered().conjuncts().iter().map(shortened).collect();
            }
        }
        self
    }

    fn stands(&self, symbol: &Datum) -> bool {
        self.open.values().any(|term| term.mentions(symbol))
    }

    /// The same with values for the symbols that the condition leaves one value, however it says so:
    /// `2 * a == 8`, or `a + b == 5` beside `a - b == 1`.
    fn pinned(mut self, solver: &mut dyn Solver) -> Self {
        if self.condition.is_empty() {
            return self;
        }
        let Witness::Found(possible) = solver.witness(&self.condition) else { return self };
        let mut there = Substitution::new();
        for (symbol, value) in possible {
            let (datum, value) = (Term::datum(&symbol), Term::literal(value));
            // Arrays that differ where nobody reads them are not told apart by what is read.
            if self.stands(&symbol)
                && is_told(symbol.ty())
                && must_hold(solver, &self.condition, &Term::equal(&datum, &value))
            {
                there.insert(symbol, value);
            }
        }
        self.put(&there);
        self.settled()
    }

    fn put(&mut self, there: &Substitution) {
        let parts = substitute_all(&self.condition, there);
        self.condition = parts.iter().flat_map(Term::conjuncts).filter(|part| !part.is_true()).collect();
        let open = std::mem::take(&mut self.open);
        let term_there = |term| ValueOrTerm::Term(folded(&substitute(term, there)));
        self.assign(open.iter().map(|(datum, term)| (datum.clone(), term_there(term))));
    }

    /// What takes more to say than this many parts, if anything does: the datum, or none where it is the
    /// condition.
    pub fn too_large(&self, most: u64) -> Option<Option<String>> {
        let large = |term: &Term| term.written_size() > most;
        if let Some((datum, _)) = self.open.iter().find(|(_, term)| large(term)) {
            return Some(Some(datum.name().to_owned()));
        }
        self.condition.iter().any(large).then_some(None)
    }

    /// Does it stand for the same states as the other one, but for the symbols' values?
    pub fn is_like(&self, other: &SymbolicState) -> bool {
        self.location == other.location && self.open == other.open && self.known == other.known
    }

    /// One of two states that stand for the same data: the wider one, where one is within the other; else
    /// both in one.
    pub fn joined(self, other: &SymbolicState, solver: &mut dyn Solver) -> Self {
        let whole = |state: &SymbolicState| Term::and(state.condition.iter().cloned());
        if must_hold(solver, &other.condition, &whole(&self)) {
            return self;
        }
        if must_hold(solver, &self.condition, &whole(other)) {
            return other.clone();
        }
        let either = [&self, other].into_iter().flat_map(|state| {
            let (rest, cases) = split(&state.condition);
            cases.into_iter().map(move |case| Term::and(rest.iter().cloned().chain([case])))
        });
        let either = widest(&[], either.collect(), solver);
        SymbolicState { condition: either.lowered().conjuncts(), ..self }
    }
}

/// A condition as the cases of its only disjunction, and the parts beside it.
fn split(condition: &[Term]) -> (Vec<Term>, Vec<Term>) {
    let (mut choices, mut rest): (Vec<Term>, Vec<Term>) =
        condition.iter().cloned().partition(|part| matches!(part.node(), Node::Or(..)));
    match choices.as_slice() {
        [one] => {
            let Node::Or(cases) = one.node() else { return (rest, choices) };
            (rest, cases.clone())
        }
        _ => {
            rest.append(&mut choices);
            (rest, vec![Term::yes()])
        }
    }
}

/// That one of the cases holds where all of these parts do: without cases that lie in others, and without
/// what other parts imply.
fn widest(behind: &[Term], cases: Vec<Term>, solver: &mut dyn Solver) -> Term {
    // Where a condition has more cases, none is held against the others.
    if cases.len() > 32 {
        return Term::or(cases);
    }
    let with = |case: &Term| [behind, &case.lowered().conjuncts()].concat();
    let mut kept: Vec<Term> = Vec::new();
    for case in cases {
        if kept.iter().any(|wider| must_hold(solver, &with(&case), wider)) {
            continue;
        }
        kept.retain(|narrower| !must_hold(solver, &with(narrower), &case));
        kept.push(Term::and(unrepeated_behind(behind.len(), with(&case), solver).split_off(behind.len())));
    }
    Term::or(kept)
}

/// Does it exclude little, and will many like it be more than any of them says?
fn is_weak(part: &Term) -> bool {
    matches!(part.node(), Node::Compare(Comparison::NotEqual, ..) | Node::Or(..))
}

fn fixed(part: &Term) -> Option<(Datum, Value)> {
    match part.node() {
        Node::Data(flag) => Some((flag.clone(), Value::Bool(true))),
        Node::Not(inner) => Some((inner.as_datum()?.clone(), Value::Bool(false))),
        Node::Compare(Comparison::Equal, a, b) => {
            let one =
                |side: &Term, other: &Term| Some((side.as_datum()?.clone(), other.as_literal()?.clone()));
            one(a, b).or_else(|| one(b, a))
        }
        _ => None,
    }
}

/// The same condition, shorter: without parts that the others imply, and of its only disjunction without
/// cases that lie in others.
pub fn shorter(parts: Vec<Term>, solver: &mut dyn Solver) -> Vec<Term> {
    let (mut rest, cases) = split(&unrepeated(parts, solver));
    let one = widest(&rest, cases, solver);
    rest.extend(one.lowered().conjuncts());
    rest
}

/// Without parts that the others imply; what stands in front is kept.
pub fn unrepeated(parts: Vec<Term>, solver: &mut dyn Solver) -> Vec<Term> {
    unrepeated_behind(0, parts, solver)
}

fn unrepeated_behind(first: usize, mut parts: Vec<Term>, solver: &mut dyn Solver) -> Vec<Term> {
    let mut at = parts.len();
    while at > first {
        at -= 1;
        let part = parts.remove(at);
        if !must_hold(solver, &parts, &part) {
            parts.insert(at, part);
        }
    }
    parts
}
