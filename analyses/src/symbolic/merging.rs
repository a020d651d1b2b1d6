//! Merges several symbolic states of one location into one.
//!
//! **Problem.** At each depth, a tree of paths has as many nodes as there are paths of this length. If two of
//! them are at one location, their continuations are examined twice.
//!
//! **Source.** Merging of states in tools for symbolic execution (veritesting and AGATHA among them): a value
//! that differs is chosen by the path. **Where we differ**: the merged state does not contain the paths,
//! which would make it as large as all of them, but only what they leave possible ([`super::projection`]). A
//! datum keeps its value if all states agree on it. Any other datum gets a new symbol. The condition on these
//! symbols is what all states have in common, and a disjunction with one case for each state.
//!
//! **Exact**: the merged state stands for the valuations of the merged states and for no others. Only the
//! paths are lost in it, and each path is still known by its node. **Cost**: a walk through the terms, and no
//! question.

use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::{Datum, Term};

use super::inclusion::Tidy;

/// Merges states of one location, at least one. The names of the new symbols get this ending.
pub(super) fn merge_states(data: &[Datum], states: &[&Tidy], ending: &str) -> Tidy {
    let first = states[0];
    // A datum keeps a value without symbols on which all states agree. Any other datum gets a new symbol.
    let merged_value = |(place, datum): (usize, &Datum)| {
        let value = &first.values[place];
        match value.data().is_empty() && states.iter().all(|state| state.values[place] == *value) {
            true => value.clone(),
            false => Term::datum(&Datum::new(format!("{}{ending}", datum.name()), datum.ty().clone())),
        }
    };
    let values: Vec<Term> = data.iter().enumerate().map(merged_value).collect();
    let case_of = |(number, state): (usize, &&Tidy)| merged_case(state, &values, number, ending);
    let cases: Vec<Vec<Term>> = states.iter().enumerate().map(case_of).collect();
    let is_common = |part: &Term| cases.iter().all(|case| case.contains(part));
    let mut condition: Vec<Term> = cases[0].iter().filter(|part| is_common(part)).cloned().collect();
    let own_parts = |case: &Vec<Term>| Term::and(case.iter().filter(|part| !is_common(part)).cloned());
    condition.extend(Term::or(cases.iter().map(own_parts)).lowered().conjuncts());
    Tidy { location: first.location, values, condition }
}

/// The condition of one state, over the values of the merged state.
fn merged_case(state: &Tidy, values: &[Term], number: usize, ending: &str) -> Vec<Term> {
    // A symbol that is the value of a datum becomes this datum's new symbol. Others get names for this case.
    let mut names = Substitution::new();
    for (value, merged) in state.values.iter().zip(values) {
        if let Some(symbol) = value.as_datum() {
            names.entry(symbol.clone()).or_insert_with(|| merged.clone());
        }
    }
    for symbol in state.values.iter().chain(&state.condition).flat_map(Term::data) {
        let name = format!("{}{ending}.{number}", symbol.name());
        let own = Datum::new(name, symbol.ty().clone());
        names.entry(symbol).or_insert_with(|| Term::datum(&own));
    }
    let mut parts = substitute_all(&state.condition, &names);
    for (value, merged) in state.values.iter().zip(values) {
        let value = substitute(value, &names);
        if value != *merged {
            parts.push(Term::equal(merged, &value));
        }
    }
    parts.iter().flat_map(Term::conjuncts).filter(|part| !part.is_true()).collect()
}
