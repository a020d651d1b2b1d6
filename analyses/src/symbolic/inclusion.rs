//! Is all that one symbolic state stands for among what another one stands for?
//!
//! **Problem.** A symbolic execution tree is infinite as soon as a system has a loop, and most of it says
//! nothing new: a state that stands for fewer valuations than one that is expanded elsewhere shows no
//! behaviour that is not there.
//!
//! **Source.** Gaston, Le Gall, Rapin, Touil (2006), Definition 10: η ⊆ η' where both are at one location and
//! each valuation of the data that some valuation of η's symbols yields under its path condition is yielded
//! by η' under its own. With D the data (variables *and* constants, which do not change and yet belong to the
//! state): for all F: π ⟹ there are F' with π' and, for each d in D, σ(d) = σ'(d).
//!
//! **Method.**
//!
//! 1. Conjuncts that share no symbol with the valuation, directly or through others, tell how one came there
//!    and not what is there ([`tidy`]). They go; where the state is satisfiable, so are they, and nothing
//!    changes.
//! 2. Symbols are numbered in the order of their occurrence. States that are equal then are equal
//!    ([`StateShape`]): a look into a table, no question.
//! 3. η' gets symbols of its own. Where it holds a datum at a bare symbol, the symbol *is* that datum's value
//!    in η. What is left of F' is taken away where that can be done exactly ([`super::eliminate`]), which
//!    leaves a question without quantifiers; else the solver is asked with them.
//!
//! **Direction.** `Yes` and `No` are certain; what the solver does not know is `Unknown`, and then nobody may
//! cut.
//!
//! **Cost**: walking the terms; at most one question for a pair of states.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use coreach_model::obligation::in_type;
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::{Datum, Iosts, LocationId, Term};

use super::SymbolicState;
use super::bounds::BoundsMemo;
use super::eliminate::{is_told, without};
use super::state::ValueOrTerm;
use crate::solver::{Answer, Solver, Witness};

/// Is one state included in another?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inclusion {
    Yes,
    No,
    Unknown,
}

/// A state without its history: what its data stand at, in their order, and what is asked of the symbols in
/// it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tidy {
    pub(super) location: LocationId,
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

/// The state without what is asked of symbols that its data do not depend on. That is left out only where the
/// path condition is known to be satisfiable.
pub fn tidy(data: &[Datum], state: &SymbolicState, is_satisfiable: bool) -> Tidy {
    let values: Vec<Term> = data.iter().map(|datum| state.value(datum)).collect();
    let condition = match is_satisfiable {
        false => state.condition.clone(),
        true => about(data_of_terms(&values), &state.condition, Term::data).0,
    };
    Tidy { location: state.location, values, condition }
}

pub fn data_of_terms<'t>(terms: impl IntoIterator<Item = &'t Term>) -> BTreeSet<Datum> {
    terms.into_iter().flat_map(Term::data).collect()
}

/// The conjuncts that these symbols depend on, directly or through others that count, in their order; and the
/// rest.
pub(crate) fn about(
    mut symbols: BTreeSet<Datum>,
    condition: &[Term],
    counts: impl Fn(&Term) -> BTreeSet<Datum>,
) -> (Vec<Term>, Vec<Term>) {
    let counted: Vec<BTreeSet<Datum>> = condition.iter().map(counts).collect();
    let mut kept = vec![false; condition.len()];
    let mut is_new = true;
    while std::mem::take(&mut is_new) {
        for (at, data) in counted.iter().enumerate() {
            if !kept[at] && !symbols.is_disjoint(data) {
                kept[at] = true;
                is_new = true;
                symbols.extend(data.iter().cloned());
            }
        }
    }
    let (mut about, mut rest) = (Vec::new(), Vec::new());
    for (part, is_kept) in condition.iter().zip(kept) {
        // What mentions no symbol is kept: it may be what makes the rest defined.
        let side = if is_kept || part.data().is_empty() { &mut about } else { &mut rest };
        side.push(part.clone());
    }
    (about, rest)
}

impl Tidy {
    /// Without what tells nothing of the data, and with the symbols numbered: equal ones stand for the same
    /// valuations.
    pub(super) fn reduced(self, is_satisfiable: bool) -> Self {
        let Tidy { location, values, condition } = self;
        let condition = match is_satisfiable {
            false => condition,
            true => about(data_of_terms(&values), &condition, Term::data).0,
        };
        let StateShape { location, values, condition } = Tidy { location, values, condition }.shape();
        Tidy { location, values, condition: condition.into_iter().collect() }
    }

    pub(super) fn state(&self, data: &[Datum]) -> SymbolicState {
        let (known, open) = (Valuation::new(), Arc::default());
        let condition = self.condition.clone();
        let (location, memo) = (self.location, BoundsMemo::default());
        let mut state = SymbolicState { location, known, open, condition, depth: 0, memo };
        state.assign(data.iter().cloned().zip(self.values.iter().cloned().map(ValueOrTerm::Term)));
        state
    }

    /// With the symbols numbered in the order of their occurrence. States of one shape stand for the same
    /// valuations.
    pub fn shape(&self) -> StateShape {
        let mut names = Substitution::new();
        let mut seen = HashSet::new();
        for term in self.values.iter().chain(&self.condition) {
            number(term, &mut seen, &mut names);
        }
        let mut renamed = substitute_all(self.values.iter().chain(&self.condition), &names);
        let condition = renamed.split_off(self.values.len()).into_iter().collect();
        StateShape { location: self.location, values: renamed, condition }
    }
}

/// Gives each symbol of the term that has none yet a name, from the left.
fn number(term: &Term, seen: &mut HashSet<Term>, names: &mut Substitution) {
    if !seen.insert(term.clone()) {
        return;
    }
    if let Some(datum) = term.as_datum() {
        let name = format!("#{}", names.len());
        names.insert(datum.clone(), Term::datum(&Datum::new(name, datum.ty().clone())));
    }
    for child in term.children() {
        number(child, seen, names);
    }
}

/// Is each valuation that `left` stands for one that `right` stands for? Both are of one system, whose data
/// these are.
pub fn inclusion(data: &[Datum], left: &Tidy, right: &Tidy, solver: &mut dyn Solver) -> Inclusion {
    if left.location != right.location {
        return Inclusion::No;
    }
    if left == right {
        return Inclusion::Yes;
    }
    let (bound, parts) = lacking(data, left, right);
    let answer = match without(&bound, &parts) {
        Some(condition) => solver.check_none(&left.condition, &[], &[condition]),
        None => solver.check_none(&left.condition, &bound, &parts),
    };
    read(answer)
}

/// The same of two states of one location, with values of the symbols of `left` for which `right` has none,
/// where they are found.
pub(super) fn compared(
    data: &[Datum],
    left: &Tidy,
    right: &Tidy,
    solver: &mut dyn Solver,
) -> (Inclusion, Option<Valuation>) {
    let (bound, parts) = lacking(data, left, right);
    let Some(condition) = without(&bound, &parts) else {
        return (read(solver.check_none(&left.condition, &bound, &parts)), None);
    };
    let mut question = left.condition.clone();
    question.push(condition.not());
    match solver.check(&question) {
        Answer::Sat => match solver.witness(&question) {
            Witness::Found(values) => (Inclusion::No, Some(values)),
            Witness::None | Witness::Unknown => (Inclusion::No, None),
        },
        answer => (read(answer), None),
    }
}

/// That `left` lacks nothing of what `right` stands for is unsatisfiable.
fn read(answer: Answer) -> Inclusion {
    match answer {
        Answer::Unsat => Inclusion::Yes,
        Answer::Sat => Inclusion::No,
        Answer::Unknown => Inclusion::Unknown,
    }
}

/// What there must be for `right` to stand for a valuation of `left`: the symbols of `right` that no datum's
/// value tells, and what is asked of them.
fn lacking(data: &[Datum], left: &Tidy, right: &Tidy) -> (Vec<Datum>, Vec<Term>) {
    let symbols: BTreeSet<Datum> = right.values.iter().chain(&right.condition).flat_map(Term::data).collect();
    let own: BTreeMap<Datum, Datum> = symbols
        .into_iter()
        .map(|symbol| {
            let renamed = Datum::new(format!("{}~", symbol.name()), symbol.ty().clone());
            (symbol, renamed)
        })
        .collect();
    let names: Substitution =
        own.iter().map(|(symbol, renamed)| (symbol.clone(), Term::datum(renamed))).collect();
    let mut bound: Vec<Datum> = own.into_values().collect();
    // The values of bare symbols.
    let (mut known, mut parts) = (Substitution::new(), Vec::new());
    for ((datum, value), theirs) in data.iter().zip(&left.values).zip(&right.values) {
        let Some(symbol) = theirs.as_datum().map(|symbol| substitute(&Term::datum(symbol), &names)) else {
            continue;
        };
        let Some(symbol) = symbol.as_datum() else { continue };
        if known.contains_key(symbol) {
            continue;
        }
        // A datum's value lies in its type, whoever assigned it.
        if symbol.ty() == datum.ty() {
            known.insert(symbol.clone(), value.clone());
        } else if is_told(symbol.ty()) {
            known.insert(symbol.clone(), value.clone());
            parts.push(in_type(value, symbol.ty()));
        }
    }
    bound.retain(|symbol| !known.contains_key(symbol));
    let theirs = substitute_all(right.values.iter().chain(&right.condition), &names);
    let mut theirs = substitute_all(&theirs, &known).into_iter();
    for value in &left.values {
        let equal = theirs.next().map_or_else(Term::yes, |other| Term::equal(value, &other));
        parts.push(equal);
    }
    parts.extend(theirs);
    (bound, parts)
}
