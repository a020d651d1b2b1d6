//! Checks a model, and writes it as a specification's text.
//!
//! A cycle of internal actions, which `coreach check` would refuse, is reported on the foreign text. If such
//! a cycle means the same as a single location, it becomes that. A variable that may be read before it is
//! assigned gets its first value from a new constant, since the foreign model leaves it open. At the end the
//! text is read back. If it is not the same model, that is a bug of ours.

use std::collections::{BTreeSet, HashSet};

use coreach_model::diagnostic::Diagnostic;
use coreach_model::iosts::{ActionKind, Transition};
use coreach_model::numbered::Numbered;
use coreach_model::reader::collect::{Collector, listed};
use coreach_model::reader::limits::{MADE_MARK, ReaderLimits};
use coreach_model::reader::{
    AnySpecification, SEE_OR_MERGE, check_livelocks, from_bytes, read_any_specification,
};
use coreach_model::timed::{Clocks, Timed};
use coreach_model::writer::{write_timed_yaml, write_yaml};
use coreach_model::{ActionId, Datum, Iosts, LocationId, Term, TransitionId, Type};
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;

use crate::names::Naming;
use crate::options::{FirstValues, LIMIT, Options};

#[derive(Debug)]
pub struct Model {
    /// The graph. Its transitions know their place in the foreign text.
    pub iosts: Iosts,
    pub types: Vec<(String, Type)>,
    /// The clocks of a timed model, and its inputs that do not come from the tester.
    pub time: Option<(Clocks, BTreeSet<ActionId>)>,
    /// Variables to which the foreign model gives no first value.
    pub open: Vec<Datum>,
}

/// Writes the specification. `None` after a mistake, which has been reported.
pub fn finish(collector: &mut Collector, options: &Options, mut model: Model) -> Option<String> {
    let errors = collector.errors();
    if model.time.is_none() {
        merge_silent_cycles(collector, &mut model.iosts);
    }
    let origin = |number| model.iosts.transitions[number].origin.whole.clone();
    check_livelocks(collector, &model.iosts, &origin, SEE_OR_MERGE);
    if collector.errors() > errors {
        return None;
    }
    if model.time.is_none() || options.first_values == FirstValues::Constants {
        give_first_values(collector, &mut model);
    }
    if model.iosts.name.is_empty() {
        model.iosts.name = name_after_file(&collector.file.name);
    }
    let Model { iosts, types, time, .. } = model;
    if !is_writable(collector, &iosts) {
        return None;
    }
    let text = match time {
        Some((clocks, uncontrollable)) => {
            write_timed_yaml(&Timed::new(iosts, clocks, uncontrollable), &types)
        }
        None => write_yaml(&iosts, &types),
    };
    read_back(collector, format!("{MADE_MARK}an imported specification\n{text}"))
}

/// Merges the locations of a circle of internal steps that change nothing, and leaves out these steps.
///
/// A system that stays in the circle is silent for ever. After merging it may still be silent there only if
/// no output and no other internal step leaves the circle. So only such circles are merged. A model without
/// outputs is always silent, so all its circles are merged.
fn merge_silent_cycles(collector: &mut Collector, iosts: &mut Iosts) {
    let kind = |step: &Transition| iosts.actions[step.action].kind;
    let changes_nothing =
        |step: &Transition| kind(step) == ActionKind::Internal && step.assignments.is_empty();
    let plain = iosts.transitions.iter().filter(|step| changes_nothing(step) && step.guard.is_true());
    let mut graph: DiGraphMap<LocationId, ()> = plain.map(|step| (step.source, step.target)).collect();
    for location in iosts.location_ids() {
        graph.add_node(location);
    }
    // A circle is a strongly connected component, which may be a single location.
    let circles = kosaraju_scc(&graph);
    let mut circle_of = Numbered::filled(0, iosts.locations.len());
    for (number, circle) in circles.iter().enumerate() {
        circle.iter().for_each(|location| circle_of[*location] = number);
    }
    // The guard of such a step does not matter: its circle leads to the same location anyway.
    let leads_around =
        |step: &Transition| changes_nothing(step) && circle_of[step.source] == circle_of[step.target];
    let has_outputs = iosts.actions.iter().any(|action| action.kind == ActionKind::Output);
    let leaves_circle_unasked =
        |step: &&Transition| has_outputs && kind(step) != ActionKind::Input && !leads_around(step);
    let circles_that_stay: HashSet<usize> =
        iosts.transitions.iter().filter(leaves_circle_unasked).map(|step| circle_of[step.source]).collect();
    let is_left_out =
        |step: &Transition| leads_around(step) && !circles_that_stay.contains(&circle_of[step.source]);
    let Some(first) = iosts.transitions.iter().find(|step| is_left_out(step)) else { return };
    let message = "cycles of internal steps that change nothing are left out";
    let mut diagnostic =
        Diagnostic::warning("left-out-cycle", message).at(first.origin.whole.clone(), "one of them");
    let merged = circles
        .iter()
        .enumerate()
        .filter(|(number, circle)| circle.len() > 1 && !circles_that_stay.contains(number));
    let mut representative = iosts.locations.map(|_| None);
    for (group, (_, circle)) in merged.enumerate() {
        let first = circle.iter().min().copied();
        circle.iter().for_each(|location| representative[*location] = first);
        // The warning names at most 20 groups of locations.
        if group < 20 {
            let names = circle.iter().map(|location| iosts.locations[*location].name.as_str());
            diagnostic = diagnostic.note(format!("{} become one location", listed(names)));
        }
    }
    let kept: Numbered<TransitionId, Transition> =
        iosts.transitions.iter().filter(|step| !is_left_out(step)).cloned().collect();
    collector.push(diagnostic);
    iosts.transitions = kept;
    replace_locations(iosts, &representative);
}

/// Merges each location into its representative, which is the first one of its circle, if it has one. Removes
/// internal actions that are not used any more.
fn replace_locations(iosts: &mut Iosts, representative: &Numbered<LocationId, Option<LocationId>>) {
    let mut locations = Numbered::new();
    let mut new_numbers = Numbered::filled(iosts.initial, iosts.locations.len());
    for (old, location) in iosts.locations.numbered() {
        // The first location of a circle has a new number already.
        new_numbers[old] = match representative[old] {
            Some(first) if first != old => new_numbers[first],
            _ => locations.push(location.clone()),
        };
    }
    let used: HashSet<ActionId> = iosts.transitions.iter().map(|step| step.action).collect();
    let mut actions = Numbered::new();
    let mut new_actions = Numbered::filled(ActionId(0), iosts.actions.len());
    for (old, action) in iosts.actions.numbered() {
        if used.contains(&old) || action.kind != ActionKind::Internal {
            new_actions[old] = actions.push(action.clone());
        }
    }
    for step in &mut iosts.transitions {
        (step.source, step.target) = (new_numbers[step.source], new_numbers[step.target]);
        step.action = new_actions[step.action];
    }
    iosts.initial = new_numbers[iosts.initial];
    (iosts.locations, iosts.actions) = (locations, actions);
}

/// Makes a model's name of that of its file.
pub(crate) fn name_after_file(file: &str) -> String {
    let last = file.rsplit('/').next().unwrap_or_default();
    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
    Naming::of([(stem, None)], &BTreeSet::new(), "model").get(stem).to_owned()
}

/// Gives each variable that may be read before it is assigned a constant as its first value.
fn give_first_values(collector: &mut Collector, model: &mut Model) {
    let read = find_read_first(&model.iosts, &model.open);
    let mut names: Vec<String> = Vec::new();
    for variable in model.open.iter().filter(|variable| read.contains(*variable)) {
        let is_taken = |name: &str| {
            let data = model.iosts.variables.iter().chain(&model.iosts.constants);
            let parameters = model.iosts.actions.iter().flat_map(|action| &action.parameters);
            let literals = model.types.iter().flat_map(|(_, ty)| match ty {
                Type::Enum(enumeration) => enumeration.literals.as_slice(),
                _ => &[],
            });
            data.chain(parameters).any(|datum| datum.name() == name)
                || literals.into_iter().any(|l| l == name)
        };
        let mut name = format!("{}_first", variable.name());
        while is_taken(&name) {
            name.push('_');
        }
        let constant = Datum::new(name, variable.ty().clone());
        let equal = Term::equal(&Term::datum(variable), &Term::datum(&constant));
        model.iosts.initial_condition = Term::and([model.iosts.initial_condition.clone(), equal]);
        names.push(variable.name().to_owned());
        model.iosts.constants.push(constant);
    }
    if !names.is_empty() {
        let whose = listed(names.iter().map(String::as_str));
        let message = format!("{whose}: read before the first assignment, and without a first value");
        let diagnostic = Diagnostic::warning("first-value", message);
        collector.push(diagnostic.help("a constant of the specification gives the first value: fix it under `instantiate:`, or leave it open"));
    }
}

/// Finds the variables that some path of transitions may read before it assigns them.
fn find_read_first(iosts: &Iosts, open: &[Datum]) -> BTreeSet<Datum> {
    let outgoing = iosts.outgoing();
    let is_read_from = |variable: &Datum, location: LocationId| {
        let mut terms = outgoing[location].iter().flat_map(|number| iosts.transitions[*number].terms());
        terms.any(|term| term.mentions(variable))
    };
    let is_read = |variable: &Datum| {
        let mut reached = Numbered::filled(false, iosts.locations.len());
        let mut unvisited = vec![iosts.initial];
        reached[iosts.initial] = true;
        while let Some(location) = unvisited.pop() {
            coreach_model::budget::ask();
            if is_read_from(variable, location) {
                return true;
            }
            for number in &outgoing[location] {
                let transition = &iosts.transitions[*number];
                // After an assignment the first value does not matter.
                let assigns = transition.assignments.contains_key(variable);
                if !assigns && !std::mem::replace(&mut reached[transition.target], true) {
                    unvisited.push(transition.target);
                }
            }
        }
        false
    };
    open.iter().filter(|variable| is_read(variable)).cloned().collect()
}

/// Can the model be written and read again? Values that are substituted into one another share their parts in
/// memory, but not as text: the text of a few dozen such assignments fills a disk.
fn is_writable(collector: &mut Collector, iosts: &Iosts) -> bool {
    let most = ReaderLimits::GENERATED.expression;
    let is_long = |term: &Term| term.written_size() > most as u64 || term.to_string().len() > most;
    let mut size: u64 = 0;
    for transition in &iosts.transitions {
        coreach_model::budget::ask();
        if transition.terms().any(is_long) {
            let message =
                format!("an expression of this transition has more than {most} signs when written out");
            let limit = Diagnostic::error(LIMIT, message)
                .at(transition.origin.whole.clone(), "assignments are substituted into each other here")
                .help("split the assignments over several edges: a later edge can then use the variables of an earlier one");
            collector.push(limit);
            return false;
        }
        size = transition.terms().fold(size, |sum, term| sum.saturating_add(term.written_size()));
    }
    // Every part of an expression has at least one sign.
    if size > ReaderLimits::GENERATED.bytes as u64 {
        let message = format!("the specification would be too large to read: {size} parts of expressions");
        collector.push(Diagnostic::error(LIMIT, message).help(FEWER));
        return false;
    }
    true
}

const FEWER: &str = "read less of the foreign model with --most";

/// Reads the text back, and returns it. A text that is too large for the reader is a limit, which is reported
/// (`None`). Any other difference is a bug.
fn read_back(collector: &mut Collector, text: String) -> Option<String> {
    let file = from_bytes("the specification".to_owned(), text.clone().into_bytes());
    let read = file.map_err(|diagnostic| vec![diagnostic]).and_then(read_any_specification);
    let written = match &read {
        Ok((AnySpecification::Untimed(read), _)) => write_yaml(&read.iosts, &read.types),
        Ok((AnySpecification::Timed(read), _)) => write_timed_yaml(&read.timed, &read.types),
        // The limit's message names the part that is too large.
        Err(findings) => match findings.iter().find(|finding| TOO_LARGE.contains(&finding.code)) {
            Some(finding) => {
                let message = format!("the specification would be too large to read: {}", finding.message);
                collector.push(Diagnostic::error(LIMIT, message).help(FEWER));
                return None;
            }
            None => panic!("an imported specification is not read: {findings:?}\n{text}"),
        },
    };
    // Before the written model, the text has a comment with `MADE_MARK`.
    assert!(text.ends_with(&written), "what is read is not what was written:\n{text}\n{written}");
    Some(text)
}

/// The codes of the reader's findings about size.
const TOO_LARGE: [&str; 6] = [
    "file-too-large",
    "too-many-values",
    "too-many-transitions",
    "expression-too-long",
    "expression-too-deep",
    "type-too-large",
];
