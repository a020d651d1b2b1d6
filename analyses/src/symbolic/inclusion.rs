//! Inclusion: does one symbolic state stand only for valuations that another one stands for as well?
//!
//! **Problem.** A symbolic execution tree is infinite as soon as a system has a loop, and most of it is
//! nothing new: if a state stands for fewer valuations than an expanded state, it shows no new behaviour.
//! **Source.** Gaston, Le Gall, Rapin, Touil (2006), Definition 10: η ⊆ η' if both are at one location, and
//! η' also yields under its path condition each valuation of the data that η yields under its own. Let D be
//! the data (variables *and* constants, which do not change but belong to the state). Then for all F: π ⟹
//! there are F' with π' and, for each d in D, σ(d) = σ'(d). **Method.**
//!
//! 1. Conjuncts that share no symbol with the valuation, directly or through others, only tell the history
//!    ([`tidy`]). They are dropped. If the state is satisfiable, so are they, and the state stays the same.
//! 2. Symbols are numbered in the order of their occurrence. If two states have the same form then, they are
//!    the same ([`StateShape`]). This is a look into a table, and no question.
//! 3. The symbols of η' are renamed apart. If the value of a datum in η' is a single symbol, this symbol gets
//!    the datum's value in η. The other symbols are eliminated, if that can be done exactly
//!    ([`super::eliminate`]). Otherwise the solver is asked with quantifiers.
//!
//! **Direction.** `Yes` and `No` are certain. If the solver does not know, the answer is `Unknown`, and the
//! caller must not cut. **Cost**: a walk through the terms, and at most one question for a pair of states.

use std::collections::BTreeSet;
use std::sync::Arc;

use coreach_model::obligation::in_type;
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::{Substitution, substitute_all, subterms};
use coreach_model::{Datum, Iosts, LocationId, Term};

use super::SymbolicState;
use super::bounds::BoundsMemo;
use super::eliminate::{eliminate_data, is_decided_by_in_type};
use super::state::ValueOrTerm;
use crate::solver::{Answer, Solver, Witness};

/// Is one state included in another?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inclusion {
    Yes,
    No,
    Unknown,
}

/// A state without its history: the values of its data, in their order, and the condition on the symbols in
/// them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tidy {
    pub location: LocationId,
    pub(super) values: Vec<Term>,
    pub(super) condition: Vec<Term>,
}

/// A state up to the names of its symbols.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StateShape {
    location: LocationId,
    values: Vec<Term>,
    condition: BTreeSet<Term>,
}

/// All data of a state: constants and variables.
pub fn data_of(iosts: &Iosts) -> Vec<Datum> {
    iosts.constants.iter().chain(&iosts.variables).cloned().collect()
}

/// Drops the conjuncts about symbols on which the data do not depend, if the path condition is known to be
/// satisfiable.
pub fn tidy(data: &[Datum], state: &SymbolicState, is_satisfiable: bool) -> Tidy {
    let values: Vec<Term> = data.iter().map(|datum| state.value(datum)).collect();
    let condition = match is_satisfiable {
        false => state.condition.clone(),
        true => depending_parts(data_of_terms(&values), &state.condition, Term::data).0,
    };
    Tidy { location: state.location, values, condition }
}

pub fn data_of_terms<'t>(terms: impl IntoIterator<Item = &'t Term>) -> BTreeSet<Datum> {
    terms.into_iter().flat_map(Term::data).collect()
}

/// Splits a condition into the conjuncts on which these symbols depend, directly or through others, and the
/// other conjuncts. `linking_data` gives the data of a conjunct through which it is connected.
pub(crate) fn depending_parts(
    mut symbols: BTreeSet<Datum>,
    condition: &[Term],
    linking_data: impl Fn(&Term) -> BTreeSet<Datum>,
) -> (Vec<Term>, Vec<Term>) {
    let links: Vec<BTreeSet<Datum>> = condition.iter().map(linking_data).collect();
    let mut is_connected = vec![false; condition.len()];
    let mut is_changed = true;
    while std::mem::take(&mut is_changed) {
        for (data, is_connected) in links.iter().zip(&mut is_connected) {
            if !*is_connected && !symbols.is_disjoint(data) {
                (*is_connected, is_changed) = (true, true);
                symbols.extend(data.iter().cloned());
            }
        }
    }
    let (mut about, mut others) = (Vec::new(), Vec::new());
    for (part, is_connected) in condition.iter().zip(is_connected) {
        // A conjunct without symbols is kept, because others may be defined only if it holds.
        let side = if is_connected || part.data().is_empty() { &mut about } else { &mut others };
        side.push(part.clone());
    }
    (about, others)
}

impl Tidy {
    /// Drops conjuncts that tell nothing of the data, and numbers the symbols. Then equal states stand for
    /// the same valuations.
    pub(super) fn reduced(mut self, is_satisfiable: bool) -> Self {
        if is_satisfiable {
            self.condition = depending_parts(data_of_terms(&self.values), &self.condition, Term::data).0;
        }
        let StateShape { location, values, condition } = self.shape();
        Tidy { location, values, condition: condition.into_iter().collect() }
    }

    /// The state as one from which a step can be taken.
    pub(super) fn state(&self, data: &[Datum]) -> SymbolicState {
        let (known, open) = (Valuation::new(), Arc::default());
        let condition = self.condition.clone();
        let (location, memo) = (self.location, BoundsMemo::default());
        let mut state = SymbolicState { location, known, open, condition, depth: 0, memo };
        state.assign(data.iter().cloned().zip(self.values.iter().cloned().map(ValueOrTerm::Term)));
        state
    }

    /// Numbers the symbols in the order of their occurrence. States of one shape stand for the same
    /// valuations.
    pub fn shape(&self) -> StateShape {
        let mut names = Substitution::new();
        for term in subterms(self.values.iter().chain(&self.condition)) {
            // `max(p, p)` is the symbol as well, and has it as a part.
            if let Some(datum) = term.as_datum()
                && !names.contains_key(datum)
            {
                let name = format!("#{}", names.len());
                names.insert(datum.clone(), Term::datum(&Datum::new(name, datum.ty().clone())));
            }
        }
        let mut renamed = substitute_all(self.values.iter().chain(&self.condition), &names);
        let condition = renamed.split_off(self.values.len()).into_iter().collect();
        StateShape { location: self.location, values: renamed, condition }
    }
}

/// Decides whether `right`, of the same location, stands for each valuation for which `left` stands. If not,
/// also returns values of the symbols of `left` for which `right` has none, if they are found.
pub fn compare_states(
    data: &[Datum],
    left: &Tidy,
    right: &Tidy,
    solver: &mut dyn Solver,
) -> (Inclusion, Option<Valuation>) {
    let (bound, parts) = inclusion_question(data, left, right);
    let Some(condition) = eliminate_data(&bound, &parts) else {
        return (to_inclusion(solver.check_none(&left.condition, &bound, &parts)), None);
    };
    let mut question = left.condition.clone();
    question.push(condition.not());
    match solver.check(&question) {
        Answer::Sat => match solver.witness(&question) {
            Witness::Found(values) => (Inclusion::No, Some(values)),
            Witness::None | Witness::Unknown => (Inclusion::No, None),
        },
        answer => (to_inclusion(answer), None),
    }
}

/// Translates the solver's answer to "`left` has a valuation that `right` does not have".
fn to_inclusion(answer: Answer) -> Inclusion {
    match answer {
        Answer::Unsat => Inclusion::Yes,
        Answer::Sat => Inclusion::No,
        Answer::Unknown => Inclusion::Unknown,
    }
}

/// States that `right` stands for a valuation of `left`: the existentially bound symbols of `right`, and the
/// conditions on them. Symbols that are the value of a datum are replaced by the value in `left`.
fn inclusion_question(data: &[Datum], left: &Tidy, right: &Tidy) -> (Vec<Datum>, Vec<Term>) {
    let symbols: BTreeSet<Datum> = right.values.iter().chain(&right.condition).flat_map(Term::data).collect();
    // The symbols of `right` are renamed, so that they differ from those of `left`.
    let rename = |symbol: &Datum| Datum::new(format!("{}~", symbol.name()), symbol.ty().clone());
    let names: Substitution =
        symbols.iter().map(|symbol| (symbol.clone(), Term::datum(&rename(symbol)))).collect();
    let mut bound: Vec<Datum> = symbols.iter().map(rename).collect();
    // Symbols that are the value of a datum, with the value of this datum in `left`.
    let (mut replaced, mut parts) = (Substitution::new(), Vec::new());
    for ((datum, value), right_value) in data.iter().zip(&left.values).zip(&right.values) {
        let Some(symbol) = right_value.as_datum().map(rename) else { continue };
        if replaced.contains_key(&symbol) {
            continue;
        }
        // A datum's value lies in its type in any case.
        if symbol.ty() == datum.ty() {
            replaced.insert(symbol, value.clone());
        } else if is_decided_by_in_type(symbol.ty()) {
            parts.push(in_type(value, symbol.ty()));
            replaced.insert(symbol, value.clone());
        }
    }
    bound.retain(|symbol| !replaced.contains_key(symbol));
    let renamed = substitute_all(right.values.iter().chain(&right.condition), &names);
    let mut right_terms = substitute_all(&renamed, &replaced);
    let right_condition = right_terms.split_off(right.values.len());
    parts.extend(
        left.values.iter().zip(&right_terms).map(|(value, right_value)| Term::equal(value, right_value)),
    );
    parts.extend(right_condition);
    (bound, parts)
}
