//! Symbolic states without the path that led there: what their data may be, and nothing of how they came to
//! be it.
//!
//! **Problem.** A path condition grows with the path, and so does each question about its last step: of a
//! loop of n passes, the n-th asks of n conjuncts over sums of n symbols. Nothing of it matters but what it
//! leaves possible.
//!
//! **Method.** The symbols that only tell the history are quantified and taken away, step by step
//! ([`super::eliminate`]), as strongest postconditions are; of comparisons of one sum the tightest stay;
//! symbols are numbered as they occur. The result stands for the *same* valuations of the data. What cannot
//! be taken away stays as a symbol. Equal ones are kept once, and where a step leads from one is computed
//! once: a tree of 100,000 nodes asks as often as it has different ones.
//!
//! **Limits.** Beyond some symbols or conjuncts nothing is taken away any more: then it is as long as the
//! path.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use coreach_model::obligation::{defined, in_type};
use coreach_model::term::{Substitution, substitute_all};
use coreach_model::{Datum, Iosts, Term, TransitionId, Type};
use dashu_ratio::RBig;

use super::eliminate::{cancelled, given_by, one_case, without_cases};
use super::inclusion::{Tidy, data_of, tidy};
use super::quiescence::rested;
use super::sum::End;
use super::{SymbolicState, System};
use crate::solver::{Answer, Solver};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum By {
    Transition(TransitionId),
    Quiescence,
}

/// Where a step leads: to which projection, and is its condition certain? None where no data allow it.
type Led = Option<(usize, bool)>;

pub(super) struct Projections {
    data: Vec<Datum>,
    all: Vec<Tidy>,
    numbers: HashMap<Tidy, usize>,
    /// By the projection, the step, and whether the condition before it is certain.
    steps: HashMap<(usize, By, bool), Led>,
}

impl Projections {
    pub(super) fn new(iosts: &Iosts) -> Self {
        Projections { data: data_of(iosts), all: Vec::new(), numbers: HashMap::new(), steps: HashMap::new() }
    }

    pub(super) fn data(&self) -> &[Datum] {
        &self.data
    }

    pub(super) fn get(&self, number: usize) -> &Tidy {
        &self.all[number]
    }

    pub(super) fn add(&mut self, state: &SymbolicState, is_certain: bool) -> usize {
        let tidy = tidy(&self.data, state, is_certain);
        let projected = project(&self.data, tidy, is_certain);
        if let Some(number) = self.numbers.get(&projected) {
            return *number;
        }
        self.all.push(projected.clone());
        self.numbers.insert(projected, self.all.len() - 1);
        self.all.len() - 1
    }

    /// The projection as a state that a step can be taken from.
    pub(super) fn state(&self, number: usize) -> SymbolicState {
        self.all[number].state(&self.data)
    }

    /// Where a step leads from a projection; `quiet` is when the location is quiescent, where that can be
    /// said.
    pub(super) fn step(
        &mut self,
        system: &System<'_>,
        (from, is_certain): (usize, bool),
        by: By,
        quiet: Option<&Term>,
        solver: &mut dyn Solver,
    ) -> Led {
        if let Some(known) = self.steps.get(&(from, by, is_certain)) {
            return *known;
        }
        let state = self.state(from);
        let next = match by {
            By::Transition(transition) => system.successor(&state, transition).map(|(_, next)| next),
            By::Quiescence => rested(&state, quiet).0,
        };
        let led = next.and_then(|next| {
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
        self.steps.insert((from, by, is_certain), led);
        led
    }
}

/// A conjunction under work: what the data stand at, what is asked, and the symbols that stay.
struct ProjectionWork {
    values: Vec<Term>,
    parts: Vec<Term>,
    /// In the order of the data whose values they are.
    kept: Vec<Datum>,
    /// They tell the history.
    bound: Vec<Datum>,
}

/// A state that stands for the same valuations of the data, with fewer symbols.
pub(super) fn project(data: &[Datum], state: Tidy, is_satisfiable: bool) -> Tidy {
    let mut work = ProjectionWork::new(data, &state);
    // With more conjuncts than this nothing is taken away.
    // Nor with more symbols that tell the history.
    if work.parts.len() <= 48 && work.bound.len() <= 24 {
        work.simplify();
        if !work.bound.is_empty() {
            work.by_cases();
        }
    }
    let conditioned = Tidy { location: state.location, values: work.values, condition: work.parts };
    conditioned.reduced(is_satisfiable)
}

impl ProjectionWork {
    fn new(data: &[Datum], state: &Tidy) -> Self {
        let mut kept: Vec<Datum> = Vec::new();
        let keep = |kept: &mut Vec<Datum>, symbol: &Datum| {
            if !kept.contains(symbol) {
                kept.push(symbol.clone());
            }
        };
        let is_compared = |datum: &Datum| !matches!(datum.ty(), Type::Array(_) | Type::Record(_));
        for (datum, value) in data.iter().zip(&state.values) {
            match value.as_datum() {
                Some(symbol) => keep(&mut kept, symbol),
                None if is_compared(datum) => {}
                // Arrays and records stay as they are written.
                None => value.data().iter().for_each(|symbol| keep(&mut kept, symbol)),
            }
        }
        let mut parts = state.condition.clone();
        let mut values = state.values.clone();
        for (datum, value) in data.iter().zip(&mut values) {
            if value.as_datum().is_none()
                && is_compared(datum)
                && value.data().iter().any(|symbol| !kept.contains(symbol))
            {
                // No datum of a model and no other symbol is called like that.
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

    /// Takes away what goes without cases.
    fn simplify(&mut self) {
        loop {
            self.parts = tightest(&self.parts);
            if self.parts.iter().any(Term::is_false) {
                self.parts = vec![Term::no()];
                self.bound.clear();
                return;
            }
            self.bound.retain(|symbol| self.parts.iter().any(|part| part.mentions(symbol)));
            let is_changed = self.by_equation();
            if !is_changed && !self.by_elimination() {
                return;
            }
        }
    }

    /// A symbol that an equation gives a value: of those that tell the history, any; of the others, by a term
    /// over those that stay.
    fn by_equation(&mut self) -> bool {
        let found = self.bound.iter().find_map(|symbol| {
            let value = self.parts.iter().find_map(|part| given_by(part, symbol))?;
            Some((symbol.clone(), value))
        });
        let found = found.or_else(|| {
            self.kept.iter().rev().find_map(|symbol| {
                let is_over_kept = |value: &Term| value.data().iter().all(|other| self.kept.contains(other));
                let mut values = self.parts.iter().filter_map(|part| given_by(part, symbol));
                Some((symbol.clone(), values.find(is_over_kept)?))
            })
        });
        let Some((symbol, value)) = found else { return false };
        let there = Substitution::from([(symbol.clone(), value.clone())]);
        let mut parts = vec![defined(&value), in_type(&value, symbol.ty())];
        parts.extend(substitute_all(&self.parts, &there));
        self.parts = parts;
        self.values = substitute_all(&self.values, &there);
        self.bound.retain(|other| *other != symbol);
        self.kept.retain(|other| *other != symbol);
        true
    }

    /// A symbol that some number far enough away, or between its ends, suits.
    fn by_elimination(&mut self) -> bool {
        let Some((bound, parts)) = one_case(&self.bound, &self.parts) else { return false };
        // What grows would grow with each step.
        if parts.len() > self.parts.len() + 2 {
            return false;
        }
        (self.bound, self.parts) = (bound, parts);
        true
    }

    /// All that is left, where few cases say it.
    fn by_cases(&mut self) {
        let (about, mut others): (Vec<Term>, Vec<Term>) =
            self.parts.drain(..).partition(|part| self.bound.iter().any(|symbol| part.mentions(symbol)));
        // A disjunction of more cases is not worth a symbol less.
        match without_cases(&self.bound, &about, 4) {
            // Nor is one that would be longer.
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

/// The conjuncts, each once, and of comparisons of one sum of numbers the tightest; two that leave one number
/// are an equation.
fn tightest(parts: &[Term]) -> Vec<Term> {
    let mut ends: BTreeMap<(Vec<(Term, RBig)>, bool), End> = BTreeMap::new();
    let mut others: Vec<Term> = Vec::new();
    for part in parts.iter().map(cancelled).flat_map(|part| part.lowered().conjuncts()) {
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
