//! Which data are compared with others: there, an equal value is worth more than a new one.
//!
//! A datum is compared where a guard mentions it together with another one, of which an output's own
//! parameters are none: these only say what is sent. What is kept in a datum that is compared is compared as
//! well. Ends, since only finitely many data can be added; costs a pass over the model for each link of the
//! longest chain of assignments.

use std::collections::BTreeSet;

use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::{Datum, Type};

/// The data of the model that are compared; none where no input has a string.
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
