//! A test purpose that is a tree of paths: the file that begins with `purpose:` and has `paths:`.
//!
//! **Source.** Gaston, Le Gall, Rapin, Touil (2006), Definition 13: a purpose is a finite subtree of the
//! symbolic execution with accepting ends. A node of that tree is given by its path, and a path by its
//! transitions. The conditions on the data are the specification's. So the file lists paths, and here they
//! become a purpose like others, with a location for each inner node. Each transition of the specification
//! that leaves the node becomes one that goes with that one alone ([`TestPurpose::with`]). It leads to the
//! next node or, if the tree does not have that, to `Reject`.
//!
//! A step names its action. If several transitions of the action leave the location, it also says which of
//! them, counted from 1 in the order of the file. So changes elsewhere in the specification change no path.
//!
//! **Where we differ.** If the tree has no quiescence at a node, quiescence stays there: silence changes
//! nothing. An accepting end may be a stimulus.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Diagnostic;
use crate::iosts::{
    Action, ActionId, ActionKind, Aim, Iosts, Location, LocationId, TestPurpose, Transition, TransitionId,
    TransitionOrigin,
};
use crate::number::count;
use crate::numbered::Numbered;
use crate::reader::collect::{Collector, listed};
use crate::reader::shape;
use crate::reader::yaml::{Entry, Node, NodeKind};
use crate::term::{Substitution, Term};

/// A node of the tree of paths.
struct PathNode {
    location: LocationId,
    /// The child nodes, by the transition that leads there. `None` is quiescence.
    next: BTreeMap<Option<TransitionId>, usize>,
    accepts: bool,
}

const LIKE: &str = "paths: [[Coin, Deliver], [Coin, { Return: 2 }]]";

/// Reads the paths of a purpose into a tree, and makes the purpose of the tree.
pub(super) fn read_paths(
    collector: &mut Collector,
    root: &Node,
    entries: &[Entry],
    (name, of): (Option<String>, Option<String>),
    (model, actions): (&Iosts, Numbered<ActionId, Action>),
) -> Option<TestPurpose> {
    shape::check_keys(collector, entries, &["purpose", "of", "paths"], "a purpose of paths");
    let node = shape::get(entries, "paths")?;
    let paths = shape::list(collector, node, "`paths`", LIKE)?;
    let outgoing = model.outgoing();
    let mut tree = vec![PathNode { location: model.initial, next: BTreeMap::new(), accepts: false }];
    for path in paths {
        if collector.is_full() {
            return None;
        }
        let Some(steps) = shape::list(collector, path, "a path", LIKE) else { continue };
        let mut place = 0;
        // The last step of the path. `Some(None)` is quiescence.
        let mut last = None;
        for step in steps {
            if tree[place].accepts {
                report_below_accept(collector, step);
            }
            let source = tree[place].location;
            last = read_step(collector, step, model, &actions, &outgoing[source], source);
            let Some(taken) = last else { break };
            // Paths that begin alike share their first places.
            let new = tree.len();
            place = *tree[place].next.entry(taken).or_insert(new);
            if place == new {
                let location = taken.map_or(source, |number| model.transitions[number].target);
                tree.push(PathNode { location, next: BTreeMap::new(), accepts: false });
            }
        }
        let Some(taken) = last else {
            if steps.is_empty() {
                let message = "a path without a step";
                collector.mistake("empty-path", message, &path.head(), "accepts nothing", LIKE);
            }
            continue;
        };
        if let Some(number) = taken
            && let action = model.action(model.transitions[number].action)
            && !action.is_visible()
        {
            let message = format!("a path ends with the internal action `{}`", action.name);
            let help = "end with an input or an output: a tester must see when the purpose is met";
            collector.mistake("internal-into-accept", message, &path.head(), "its end is invisible", help);
        }
        if tree[place].accepts || !tree[place].next.is_empty() {
            report_below_accept(collector, path);
        }
        tree[place].accepts = true;
    }
    if !tree.iter().any(|place| place.accepts) && collector.errors() == 0 {
        let diagnostic = Diagnostic::error("no-accept", "the purpose has no path");
        collector.push(diagnostic.at(collector.origin(&root.head()), "accepts nothing").help(LIKE));
    }
    let origin = collector.origin(&root.head());
    let PurposeGraph { iosts, with, accept, reject } = build_graph(name?, model, actions, &outgoing, &tree);
    let iosts = Iosts { origin: Some(origin), ..iosts };
    let idle = Substitution::new();
    let reject = Some(reject);
    let (observes, functions) = (Vec::new(), BTreeSet::new());
    Some(TestPurpose { aim: Aim::Accept, iosts, of: of?, observes, functions, accept, reject, idle, with })
}

/// Reports that a path goes on after the end of another one.
fn report_below_accept(collector: &mut Collector, node: &Node) {
    let message = "a path is the same as another one, or goes on after its end";
    let help = "remove one of the two: a run ends where it is accepted";
    collector.mistake("below-accept", message, &node.head(), "already accepted", help);
}

/// Reads a step: a transition, or `Some(None)` for quiescence. `None` after a mistake, which has been
/// reported.
fn read_step(
    collector: &mut Collector,
    step: &Node,
    model: &Iosts,
    actions: &Numbered<ActionId, Action>,
    outgoing: &[TransitionId],
    at: LocationId,
) -> Option<Option<TransitionId>> {
    let (name, which) = match &step.kind {
        NodeKind::Mapping(entries) if entries.len() == 1 => {
            let which = shape::scalar(collector, &entries[0].value, "which transition", "{ Return: 2 }")?;
            (&entries[0].key, Some(which))
        }
        _ => (shape::scalar(collector, step, "a step", LIKE)?, None),
    };
    let Some(action) = actions.first_number(|action| action.name == name.text) else {
        let names = || actions.iter().map(|action| action.name.as_str());
        let help = collector.meant(&name.text, "actions", names);
        let message = format!("unknown action `{}`", name.text);
        collector.mistake("unknown-action", message, &name.span, "no action of the specification", help);
        return None;
    };
    if actions[action].kind == ActionKind::Quiescence {
        return Some(None);
    }
    let is_it = |number: &&TransitionId| model.transitions[**number].action == action;
    let all: Vec<TransitionId> = outgoing.iter().filter(is_it).copied().collect();
    let place = match which {
        Some(which) => count(&which.text).and_then(|place| usize::try_from(place).ok()),
        None if all.len() == 1 => Some(1),
        None => None,
    };
    let found = place.and_then(|place| all.get(place.checked_sub(1)?));
    if found.is_none() {
        let (action, location) = (&name.text, &model.location(at).label);
        let each = all.iter().enumerate().map(|(place, number)| {
            format!("{{ {action}: {} }} when {}", place + 1, model.transitions[*number].guard)
        });
        let (message, label, help) = match all.is_empty() {
            true => {
                let on = |number: &TransitionId| model.transitions[*number].action;
                let names = outgoing.iter().map(|number| model.action(on(number)).name.as_str());
                (
                    format!("no transition on `{action}` leaves `{location}`"),
                    "the path is there at this step",
                    format!("the transitions from `{location}` are on {}", listed(names)),
                )
            }
            false => (
                format!("{} transitions on `{action}` leave `{location}`", all.len()),
                if which.is_some() { "this is none of them" } else { "which one?" },
                format!("say which: {}", each.collect::<Vec<_>>().join("; ")),
            ),
        };
        collector.mistake("no-such-step", message, &step.head(), label, help);
    }
    found.map(|number| Some(*number))
}

struct PurposeGraph {
    iosts: Iosts,
    /// See [`TestPurpose::with`].
    with: BTreeMap<TransitionId, TransitionId>,
    accept: LocationId,
    reject: LocationId,
}

/// Makes the purpose's graph: a location for each inner node. A transition that the tree does not have goes
/// to `Reject`.
fn build_graph(
    name: String,
    model: &Iosts,
    actions: Numbered<ActionId, Action>,
    outgoing: &Numbered<LocationId, Vec<TransitionId>>,
    tree: &[PathNode],
) -> PurposeGraph {
    let mut locations: Numbered<LocationId, Location> = Numbered::new();
    // The location of each node. The ends of paths are all `Accept`.
    let inner: Vec<Option<LocationId>> = tree
        .iter()
        .enumerate()
        .map(|(number, place)| {
            (!place.accepts).then(|| locations.push(Location::named(format!("n{number}"))))
        })
        .collect();
    let accept = locations.push(Location::named(Aim::Accept.location()));
    let reject = locations.push(Location::named("Reject"));
    let (mut transitions, mut with) = (Numbered::new(), BTreeMap::new());
    let quiescence = actions.first_number(|action| action.kind == ActionKind::Quiescence);
    for (place, source) in tree.iter().zip(&inner) {
        let Some(source) = *source else { continue };
        // `of_specification` is the transition that the new one goes with, `None` for quiescence.
        let mut add = |action, of_specification: Option<TransitionId>| {
            let next = place.next.get(&of_specification).map(|next| inner[*next].unwrap_or(accept));
            let number = transitions.push(Transition {
                source,
                action,
                guard: Term::yes(),
                assignments: Substitution::new(),
                target: next.unwrap_or(reject),
                origin: TransitionOrigin::default(),
            });
            with.extend(of_specification.map(|other| (number, other)));
        };
        for &number in &outgoing[place.location] {
            add(model.transitions[number].action, Some(number));
        }
        if let Some(quiescence) = quiescence.filter(|_| place.next.contains_key(&None)) {
            add(quiescence, None);
        }
    }
    // Only a purpose with a step of quiescence has the action.
    let is_quiet = tree.iter().any(|place| place.next.contains_key(&None));
    let actions = if is_quiet { actions } else { model.actions.clone() };
    let iosts = Iosts { name, locations, actions, transitions, ..Iosts::default() };
    PurposeGraph { iosts, with, accept, reject }
}
