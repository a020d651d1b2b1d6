//! ioc (Definition 6.2) and ioc_TP (Definition 6.13) between explicit systems.
//!
//! ioc: for all σ in Traces(Spec), Out(I after σ) ⊆ Out(Spec after σ). ioc_TP: the same for σ in
//! SPref(ATraces(Spec × TP)), the strict prefixes of the traces that the purpose accepts (Definitions
//! 6.10-6.12). Accept is absorbing, so a trace is a strict prefix of an accepted one exactly where it is not
//! accepted and Accept can be reached from a state after it.

use super::EventId;
use super::alphabet::Alphabet;
use super::explore::Graph;
use super::pair::Instance;
use super::subsets::Subsets;
use super::walk::{Outcome, walk};

/// A trace of the specification after which the implementation sends what the specification does not; the
/// last event is that output. [`Outcome::Done`] means that the implementation conforms.
pub fn ioc(specification: &Graph, iut: &Graph, alphabet: &Alphabet, limit: usize) -> Outcome {
    let (mut specified, mut actual) = (Subsets::new(specification), Subsets::new(iut));
    let (Some(spec), Some(iut)) = (specified.start(), actual.start()) else { return Outcome::Done };
    walk((spec, iut), limit, |&(spec, iut)| {
        let (allowed, sent) = (specified.next(spec), actual.next(iut));
        forbidden(&sent, &allowed, alphabet)?;
        Ok(common(&allowed, &sent).map(|(event, spec, iut)| (event, (spec, iut))).collect())
    })
}

/// As [`ioc`], after the strict prefixes of accepted traces only.
pub fn ioc_tp(instance: &Instance, iut: &Graph, alphabet: &Alphabet, limit: usize) -> Outcome {
    let mut specified = Subsets::new(&instance.specification.graph);
    let (mut both, mut actual) = (Subsets::new(&instance.both.graph), Subsets::new(iut));
    let (Some(spec), Some(pair), Some(iut)) = (specified.start(), both.start(), actual.start()) else {
        return Outcome::Done;
    };
    walk((spec, pair, iut), limit, |&(spec, pair, iut)| {
        if !is_strict_prefix(instance, &both.states(pair)) {
            return Ok(Vec::new());
        }
        let (allowed, followed, sent) = (specified.next(spec), both.next(pair), actual.next(iut));
        forbidden(&sent, &allowed, alphabet)?;
        let next = common(&allowed, &sent)
            .filter_map(|(event, spec, iut)| Some((event, (spec, *followed.get(&event)?, iut))));
        Ok(next.collect())
    })
}

/// Is a trace that leads to these states in SPref(ATraces)?
pub fn is_strict_prefix(instance: &Instance, states: &[u32]) -> bool {
    !is_accepted(instance, states) && is_prefix(instance, states)
}

/// Is a trace that leads to these states in ATraces?
pub fn is_accepted(instance: &Instance, states: &[u32]) -> bool {
    states.iter().any(|state| instance.accepting[*state as usize])
}

/// Is a trace that leads to these states in Pref(ATraces)?
pub fn is_prefix(instance: &Instance, states: &[u32]) -> bool {
    states.iter().any(|state| instance.alive[*state as usize])
}

type Next = std::collections::BTreeMap<EventId, u32>;

fn forbidden(sent: &Next, allowed: &Next, alphabet: &Alphabet) -> Result<(), String> {
    match sent.keys().find(|event| alphabet.is_output(**event) && !allowed.contains_key(event)) {
        Some(event) => Err(format!("{} is not allowed", alphabet.show(&[*event]))),
        None => Ok(()),
    }
}

fn common(left: &Next, right: &Next) -> impl Iterator<Item = (EventId, u32, u32)> {
    left.iter().filter_map(|(event, l)| right.get(event).map(|r| (*event, *l, *r)))
}
