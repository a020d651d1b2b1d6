//! Several symbolic states of one location as one.
//!
//! **Problem.** A tree of paths has as many nodes at a depth as there are paths so long; what follows from
//! two of them that are at one location is looked at twice.
//!
//! **Source.** Merging of states, as tools for symbolic execution have it (veritesting and AGATHA among
//! them): a value that differs is chosen by the path. **Where we differ**: not the paths are kept in the
//! state, which would be as large as all of them, but what they leave possible ([`super::projection`]). A
//! datum that all states hold at the same value keeps it; any other one gets a symbol of its own, and what
//! may be of these symbols is said by a disjunction, of one case for each state, behind what all of them say.
//!
//! **Exact**: the merged state stands for the valuations of the merged ones and for no others. Only what a
//! path was is lost in it, and a path is known by the node that was merged.
//!
//! **Cost**: walking the terms; no question.

use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::{Datum, Term};

use super::inclusion::Tidy;

/// One state for these, which are at one location, with symbols that end so; none where there is no state.
pub(super) fn merged(data: &[Datum], states: &[&Tidy], ending: &str) -> Option<Tidy> {
    let first = states.first()?;
    let own = |datum: &Datum| Datum::new(format!("{}{ending}", datum.name()), datum.ty().clone());
    let is_same = |place: usize| {
        let value = &first.values[place];
        value.data().is_empty() && states.iter().all(|state| state.values[place] == *value)
    };
    let values: Vec<Term> = data
        .iter()
        .enumerate()
        .map(
            |(place, datum)| {
                if is_same(place) { first.values[place].clone() } else { Term::datum(&own(datum)) }
            },
        )
        .collect();
    let cases: Vec<Vec<Term>> =
        states.iter().enumerate().map(|(number, state)| case(state, &values, number, ending)).collect();
    let is_common = |part: &Term| cases.iter().all(|case| case.contains(part));
    let mut condition: Vec<Term> = cases[0].iter().filter(|part| is_common(part)).cloned().collect();
    let rest = |case: &Vec<Term>| Term::and(case.iter().filter(|part| !is_common(part)).cloned());
    condition.extend(Term::or(cases.iter().map(rest)).lowered().conjuncts());
    Some(Tidy { location: first.location, values, condition })
}

fn case(state: &Tidy, values: &[Term], number: usize, ending: &str) -> Vec<Term> {
    // A symbol that is a datum's value is that datum's in the merged state; the others are this case's.
    let mut there = Substitution::new();
    for (value, merged) in state.values.iter().zip(values) {
        if let (Some(symbol), Some(_)) = (value.as_datum(), merged.as_datum()) {
            there.entry(symbol.clone()).or_insert_with(|| merged.clone());
        }
    }
    for symbol in state.values.iter().chain(&state.condition).flat_map(Term::data) {
        let name = format!("{}{ending}.{number}", symbol.name());
        let own = Datum::new(name, symbol.ty().clone());
        there.entry(symbol).or_insert_with(|| Term::datum(&own));
    }
    let mut parts = substitute_all(&state.condition, &there);
    for (value, merged) in state.values.iter().zip(values) {
        let value = substitute(value, &there);
        if value != *merged {
            parts.push(Term::equal(merged, &value));
        }
    }
    parts.iter().flat_map(Term::conjuncts).filter(|part| !part.is_true()).collect()
}
