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
};
use crate::number::count;
use crate::numbered::Numbered;
use crate::reader::collect::{Collector, listed};
use crate::reader::shape;
use crate::reader::yaml::{Entry, NodeKind, Yaml};
use crate::term::Substitution;

type Outgoing = Numbered<LocationId, Vec<TransitionId>>;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PathStep {
    Transition(TransitionId),
    Quiescence,
}

/// A node of the tree of paths.
struct PathNode {
    location: LocationId,
    /// The indices of the child nodes, by the step that leads there.
    next: BTreeMap<PathStep, usize>,
    accepts: bool,
}

const LIKE: &str = "paths: [[Coin, Deliver], [Coin, { Return: 2 }]]";

/// Reads the paths of a purpose into a tree, and makes the purpose of the tree.
pub(super) fn read_paths(
    collector: &mut Collector,
    root: &Yaml,
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
        add_path(collector, path, (model, &actions, &outgoing), &mut tree);
    }
    if !tree.iter().any(|node| node.accepts) && collector.errors() == 0 {
        let diagnostic = Diagnostic::error("no-accept", "the purpose has no path");
        collector.push(diagnostic.at(collector.origin(&root.head()), "accepts nothing").help(LIKE));
    }
    let PurposeGraph { iosts, with, accept, reject } = build_graph(name?, model, actions, &outgoing, &tree);
    let iosts = Iosts { origin: Some(collector.origin(&root.head())), ..iosts };
    let (reject, idle) = (Some(reject), Substitution::new());
    let (observes, functions) = (Vec::new(), BTreeSet::new());
    Some(TestPurpose { aim: Aim::Accept, iosts, of: of?, observes, functions, accept, reject, idle, with })
}

/// Adds a path to the tree, which accepts at the end of the path. Reports mistakes.
fn add_path(
    collector: &mut Collector,
    path: &Yaml,
    (model, actions, outgoing): (&Iosts, &Numbered<ActionId, Action>, &Outgoing),
    tree: &mut Vec<PathNode>,
) {
    let Some(steps) = shape::list(collector, path, "a path", LIKE) else { return };
    // The index of the node to which the steps so far lead.
    let mut reached = 0;
    let mut last = None;
    for step in steps {
        if tree[reached].accepts {
            report_below_accept(collector, step);
        }
        let source = tree[reached].location;
        last = read_step(collector, step, model, actions, &outgoing[source], source);
        let Some(taken) = last else { return };
        // Paths that begin alike share their first nodes.
        let new = tree.len();
        reached = *tree[reached].next.entry(taken).or_insert(new);
        if reached == new {
            let location = match taken {
                PathStep::Transition(number) => model.transitions[number].target,
                PathStep::Quiescence => source,
            };
            tree.push(PathNode { location, next: BTreeMap::new(), accepts: false });
        }
    }
    let Some(last) = last else {
        let message = "a path without a step";
        return collector.mistake("empty-path", message, &path.head(), "accepts nothing", LIKE);
    };
    if let PathStep::Transition(number) = last
        && let action = model.action_of(number)
        && !action.is_visible()
    {
        let message = format!("a path ends with the internal action `{}`", action.name);
        let help = "end with an input or an output: a tester must see when the purpose is met";
        collector.mistake("internal-into-accept", message, &path.head(), "its end is invisible", help);
    }
    if tree[reached].accepts || !tree[reached].next.is_empty() {
        report_below_accept(collector, path);
    }
    tree[reached].accepts = true;
}

/// Reports that a path is the same as another one, or goes on after its end.
fn report_below_accept(collector: &mut Collector, node: &Yaml) {
    let message = "a path is the same as another one, or goes on after its end";
    let help = "remove one of the two: a run ends where it is accepted";
    collector.mistake("below-accept", message, &node.head(), "already accepted", help);
}

/// Reads a step from the location, which the outgoing transitions leave. `None` after a mistake, which has
/// been reported.
fn read_step(
    collector: &mut Collector,
    step: &Yaml,
    model: &Iosts,
    actions: &Numbered<ActionId, Action>,
    outgoing: &[TransitionId],
    location: LocationId,
) -> Option<PathStep> {
    // The name of the action, and the written number of the transition if there is one.
    let (name, which) = match &step.kind {
        NodeKind::Mapping(entries) if entries.len() == 1 => {
            let which = shape::scalar(collector, &entries[0].value, "which transition", "{ Return: 2 }")?;
            (&entries[0].key, Some(which))
        }
        _ => (shape::scalar(collector, step, "a step", LIKE)?, None),
    };
    let Some(action) = actions.first_number(|action| action.name == name.text) else {
        let names = || actions.iter().map(|action| action.name.as_str());
        let help = collector.suggest(&name.text, "actions", names);
        let message = format!("unknown action `{}`", name.text);
        collector.mistake("unknown-action", message, &name.span, "no action of the specification", help);
        return None;
    };
    if actions[action].kind == ActionKind::Quiescence {
        return Some(PathStep::Quiescence);
    }
    let mut possible = outgoing.to_vec();
    possible.retain(|number| model.transitions[*number].action == action);
    // The number of the transition among these, counted from 1.
    let chosen = match which {
        Some(which) => count(&which.text).and_then(|chosen| usize::try_from(chosen).ok()),
        None => (possible.len() == 1).then_some(1),
    };
    if let Some(transition) = chosen.and_then(|chosen| possible.get(chosen.checked_sub(1)?)) {
        return Some(PathStep::Transition(*transition));
    }
    let (action, location) = (&name.text, &model.location(location).label);
    let each = possible.iter().enumerate().map(|(index, number)| {
        format!("{{ {action}: {} }} when {}", index + 1, model.transitions[*number].guard)
    });
    let help_to_choose = || format!("say which: {}", each.collect::<Vec<_>>().join("; "));
    let (message, label, help) = match which {
        _ if possible.is_empty() => {
            let names = outgoing.iter().map(|number| model.action_of(*number).name.as_str());
            (
                format!("no transition on `{action}` leaves `{location}`"),
                "the path is there at this step",
                format!("the transitions from `{location}` are on {}", listed(names)),
            )
        }
        Some(which) => (
            format!("no transition on `{action}` with the number `{}` leaves `{location}`", which.text),
            "no such number",
            help_to_choose(),
        ),
        None => (
            format!("{} transitions on `{action}` leave `{location}`", possible.len()),
            "which one?",
            help_to_choose(),
        ),
    };
    collector.mistake("no-such-step", message, &step.head(), label, help);
    None
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
    outgoing: &Outgoing,
    tree: &[PathNode],
) -> PurposeGraph {
    let mut locations: Numbered<LocationId, Location> = Numbered::new();
    // The location of each node. The ends of paths are all `Accept`.
    let mut inner: Vec<Option<LocationId>> = Vec::new();
    for (index, node) in tree.iter().enumerate() {
        let location = || Location::named(format!("n{index}"));
        inner.push((!node.accepts).then(|| locations.push(location())));
    }
    let accept = locations.push(Location::named(Aim::Accept.location()));
    let reject = locations.push(Location::named("Reject"));
    let (mut transitions, mut with) = (Numbered::new(), BTreeMap::new());
    let quiescence = actions.first_number(|action| action.kind == ActionKind::Quiescence);
    for (node, source) in tree.iter().zip(&inner) {
        let Some(source) = *source else { continue };
        // Adds a transition that goes with this step of the specification.
        let mut add_transition = |action, step: PathStep| {
            let next = node.next.get(&step).map(|next| inner[*next].unwrap_or(accept));
            let number = transitions.push(Transition::unguarded(source, action, next.unwrap_or(reject)));
            if let PathStep::Transition(other) = step {
                with.insert(number, other);
            }
        };
        for &number in &outgoing[node.location] {
            add_transition(model.transitions[number].action, PathStep::Transition(number));
        }
        if let Some(quiescence) = quiescence.filter(|_| node.next.contains_key(&PathStep::Quiescence)) {
            add_transition(quiescence, PathStep::Quiescence);
        }
    }
    // Only a purpose with a step of quiescence has the action.
    let has_quiescence = tree.iter().any(|node| node.next.contains_key(&PathStep::Quiescence));
    let actions = if has_quiescence { actions } else { model.actions.clone() };
    let iosts = Iosts { name, locations, actions, transitions, ..Iosts::default() };
    PurposeGraph { iosts, with, accept, reject }
}
