//! Finds the data that are compared with others. For these, an equal value is worth more than a new one.
//!
//! A datum is compared if a guard mentions it together with another one. An output's own parameters do not
//! count: they only say what is sent. Data that are stored in a compared datum are compared as well. Ends,
//! since only finitely many data can be added; costs a pass over the model for each link of a chain.

use std::collections::BTreeSet;

use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::{Datum, Type};

/// Finds the data of the model that are compared; empty if no input has a string.
pub fn find_compared(iosts: &Iosts) -> BTreeSet<Datum> {
    let mut compared = BTreeSet::new();
    let inputs = iosts.actions.iter().filter(|action| action.kind == ActionKind::Input);
    if !inputs.flat_map(|action| &action.parameters).any(|datum| matches!(datum.ty(), Type::String)) {
        return compared;
    }
    for transition in &iosts.transitions {
        let action = iosts.action(transition.action);
        let is_sent = |datum: &Datum| action.kind == ActionKind::Output && action.parameters.contains(datum);
        for conjunct in transition.guard.conjuncts() {
            let data: Vec<Datum> = conjunct.data().into_iter().filter(|datum| !is_sent(datum)).collect();
            if data.len() > 1 {
                compared.extend(data);
            }
        }
    }
    loop {
        let before = compared.len();
        for (datum, term) in iosts.transitions.iter().flat_map(|transition| &transition.assignments) {
            if compared.contains(datum) {
                compared.extend(term.data());
            }
        }
        if compared.len() == before {
            return compared;
        }
    }
}
