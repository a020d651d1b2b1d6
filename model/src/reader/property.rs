//! The restrictions of a safety property beyond those of a test purpose.
//!
//! A property is a set of traces of visible events that must not happen, whatever the implementation is made
//! of. So it reads no variable and no clock of the specification and takes no internal action. The
//! environment is the tester, so only an output violates a property.

use std::collections::HashSet;

use crate::diagnostic::Diagnostic;
use crate::iosts::{ActionKind, Aim, Iosts, LocationId};
use crate::numbered::Numbered;
use crate::reader::collect::Collector;
use crate::reader::declarations::ReadLocations;
use crate::reader::shape;
use crate::reader::transition_body::TransitionPlaces;
use crate::reader::yaml::{Entry, NodeKind, Yaml};
use crate::{Datum, TransitionId};

pub(super) fn report_no_violate(collector: &mut Collector, root: &Yaml) {
    let label = "nothing violates this property";
    let help = "name the location `Violate` where the property is violated";
    collector.mistake("no-violate", "the property has no location `Violate`", &root.head(), label, help);
}

/// Reports the locations that only purposes have.
pub(super) fn refuse_locations(collector: &mut Collector, locations: &ReadLocations) {
    for name in [Aim::Accept.location(), "Reject"] {
        let Some(at) = locations.find(name) else { continue };
        let diagnostic =
            Diagnostic::error("purpose-location", format!("a property has no location `{name}`"))
                .at(locations.origins[at].clone(), "only for test purposes")
                .help("lead forbidden behaviour to `Violate`; all other behaviour needs no transition");
        collector.push(diagnostic);
    }
}

/// Reports data under `observes:` that a property may not observe.
pub(super) fn refuse_observed<'a>(
    collector: &mut Collector,
    entries: &[Entry],
    hidden: impl Iterator<Item = &'a Datum>,
) {
    let hidden: HashSet<&str> = hidden.map(Datum::name).collect();
    let Some(NodeKind::Sequence(items)) = shape::get(entries, "observes").map(|node| &node.kind) else {
        return;
    };
    for scalar in items.iter().filter_map(|item| item.as_scalar()) {
        if hidden.contains(scalar.text.as_str()) {
            let message = format!("a property cannot observe variables or clocks: `{}`", scalar.text);
            let help = "a tester cannot see it: keep what the messages show in a variable or a clock of the property";
            let code = "property-observes-variable";
            collector.mistake(code, message, &scalar.span, "of the specification", help);
        }
    }
}

/// Reports transitions that enter or leave `Violate` and may not, and internal actions.
pub(super) fn check_violate(
    collector: &mut Collector,
    iosts: &Iosts,
    violate: LocationId,
    places: &Numbered<TransitionId, TransitionPlaces>,
) {
    if iosts.initial == violate {
        let diagnostic = Diagnostic::error("violated-at-once", "the property begins in `Violate`")
            .at(iosts.origin.clone(), "everything violates it")
            .help("begin at a location from which an output leads to `Violate`");
        collector.push(diagnostic);
    }
    let mut seen = HashSet::new();
    for (transition, at) in iosts.transitions.iter().zip(places) {
        if collector.is_full() {
            break;
        }
        // A set of actions is one mistake, however many actions it has.
        if !seen.insert((&at.from, &at.on, &at.to)) {
            continue;
        }
        let action = iosts.action(transition.action);
        let (leaves, enters) = (transition.source == violate, transition.target == violate);
        // Completion adds self-loops of internal actions: the property does not take them.
        let is_nothing = transition.source == transition.target && transition.assignments.is_empty();
        if action.kind == ActionKind::Internal && !is_nothing {
            let message = format!("a property takes the internal action `{}`", action.name);
            let help = "use only inputs and outputs in a property";
            collector.mistake("internal-in-property", message, &at.on, "a tester cannot see this", help);
        } else if leaves && !enters {
            let diagnostic = Diagnostic::error("leaves-violate", "a transition leaves `Violate`")
                .at(collector.origin(&at.to), "must stay in `Violate`")
                .at(collector.origin(&at.from), "from here")
                .help("a violation is final: remove this transition");
            collector.push(diagnostic);
        } else if enters && !leaves && action.kind == ActionKind::Input {
            let message = format!("the input `{}` leads to `Violate`", action.name);
            let label = "the environment does this, not the system";
            let help = "let an output lead to `Violate`: a property says what the system must not do";
            collector.mistake("input-into-violate", message, &at.on, label, help);
        }
    }
}
