//! Timed models from parts.
//!
//! **Method.** Clocks advance in all parts together, so the clocks of the parts are the clocks of the whole.
//! The graphs are composed by [`crate::compose`]. There a clock is a variable, and an assignment sets it
//! back. So equal names in two parts are found as for all data, and a common transition sets back the clocks
//! of both. Afterwards the clocks are clocks again.
//!
//! A transition keeps its name if it became one transition of the whole. If it became several, from several
//! locations, the location's name is put before the transition's name.

use std::collections::{BTreeMap, BTreeSet};

use crate::compose::{Incompatible, Unhidden, compose, hide};
use crate::data::Datum;
use crate::iosts::{ActionId, ActionKind, Iosts, Transition, TransitionId};
use crate::numbered::Numbered;
use crate::term::Term;
use crate::timed::{Clocks, Timed};

/// A timed model as a graph in which clocks are variables, with the facts that are not in the graph.
#[derive(Clone, Debug)]
pub struct ComposedPart {
    pub iosts: Iosts,
    pub clocks: Vec<Datum>,
    /// The inputs that the tester does not send.
    pub uncontrollable: BTreeSet<String>,
    /// The names of the transitions, by their places in the files: numbers would change in a composition.
    names_by_place: BTreeMap<TextPlace, String>,
}

/// The place of a transition: the name of the file, and the start and the end of its text.
type TextPlace = (String, usize, usize);

fn origin_place(transition: &Transition) -> Option<TextPlace> {
    let origin = transition.origin.whole.as_ref()?;
    Some((origin.file.name.clone(), origin.span.start, origin.span.end))
}

impl From<Timed> for ComposedPart {
    fn from(timed: Timed) -> Self {
        let Timed { graph: mut iosts, clocks: Clocks { clocks, resets, names }, uncontrollable } = timed;
        let uncontrollable = uncontrollable.iter().map(|id| iosts.action(*id).name.clone()).collect();
        let zero = Term::int(0).to_real();
        let mut names_by_place = BTreeMap::new();
        for (number, resets) in resets.numbered() {
            let transition = &mut iosts.transitions[number];
            transition.assignments.extend(resets.iter().map(|clock| (clock.clone(), zero.clone())));
            if let (Some(place), Some(Some(name))) = (origin_place(transition), names.find(number)) {
                names_by_place.insert(place, name.clone());
            }
        }
        iosts.variables.extend(clocks.iter().cloned());
        ComposedPart { iosts, clocks, uncontrollable, names_by_place }
    }
}

impl ComposedPart {
    /// Makes a part of a graph, with its clocks and uncontrollable inputs if it is timed.
    pub fn of(iosts: Iosts, time: Option<(Clocks, BTreeSet<ActionId>)>) -> Self {
        let (clocks, uncontrollable) = time.unwrap_or_else(|| {
            let resets = iosts.transitions.map(|_| Vec::new());
            (Clocks { resets, ..Clocks::default() }, BTreeSet::new())
        });
        ComposedPart::from(Timed::new(iosts, clocks, uncontrollable))
    }

    /// Composes this part with another one.
    pub fn with(&self, name: &str, other: &ComposedPart) -> Result<Self, Vec<Incompatible>> {
        let iosts = compose(name, &self.iosts, &other.iosts)?;
        let mut whole = ComposedPart { iosts, ..self.clone() };
        // `compose` has refused a clock that both have, as it refuses every common variable.
        whole.clocks.extend(other.clocks.iter().cloned());
        whole.uncontrollable.extend(other.uncontrollable.iter().cloned());
        whole.names_by_place.extend(other.names_by_place.clone());
        Ok(whole)
    }

    /// The part in which nobody sees these outputs.
    pub fn hiding(&self, names: &[String]) -> Result<Self, Vec<Unhidden>> {
        Ok(ComposedPart { iosts: hide(&self.iosts, names)?, ..self.clone() })
    }

    /// Splits it into the graph without clocks among its variables, the clocks, and the uncontrollable
    /// inputs.
    pub fn apart(self) -> (Iosts, Clocks, BTreeSet<ActionId>) {
        let ComposedPart { mut iosts, clocks, uncontrollable, names_by_place } = self;
        iosts.variables.retain(|datum| !clocks.contains(datum));
        let mut resets = Numbered::new();
        for transition in &mut iosts.transitions {
            let is_reset = |clock: &&Datum| transition.assignments.remove(*clock).is_some();
            resets.push(clocks.iter().filter(is_reset).cloned().collect());
        }
        let names = name_transitions(&iosts, &names_by_place);
        let is_uncontrollable = |id: &ActionId| {
            let action = iosts.action(*id);
            action.kind == ActionKind::Input && uncontrollable.contains(&action.name)
        };
        let uncontrollable = iosts.action_ids().filter(is_uncontrollable).collect();
        (iosts, Clocks { clocks, resets, names }, uncontrollable)
    }
}

/// Names the transitions of the composition. A name that several would have gets the location before it.
fn name_transitions(
    iosts: &Iosts,
    names_by_place: &BTreeMap<TextPlace, String>,
) -> Numbered<TransitionId, Option<String>> {
    let file_names: Numbered<TransitionId, Option<&String>> =
        iosts.transitions.map(|transition| names_by_place.get(&origin_place(transition)?));
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for name in file_names.iter().flatten() {
        *counts.entry(name).or_default() += 1;
    }
    let mut used: BTreeSet<String> = BTreeSet::new();
    let unique_names = iosts.transitions.numbered().map(|(number, transition)| {
        let name = file_names[number]?;
        let source = &iosts.location(transition.source).name;
        let full_name = if counts[name] == 1 { name.clone() } else { format!("{source}_{name}") };
        // If two still have the same name, the second one is called by its number.
        used.insert(full_name.clone()).then_some(full_name)
    });
    unique_names.collect()
}
