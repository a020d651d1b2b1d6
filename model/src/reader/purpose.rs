//! A test purpose (thesis, Definition 6.8, p. 149): the file that begins with `purpose:`, read against its
//! specification. A safety property, which begins with `property:`, is read here, too. [`super::property`]
//! has its further restrictions.
//!
//! The checks here make the product well-defined: disjoint own data, no capture of parameters, no assignment
//! and no initial constraint on observed data, and an absorbing `Accept` that only visible actions enter.
//! Whether the purpose is initialized and complete is checked elsewhere, with a solver.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::data::Datum;
use crate::diagnostic::{Diagnostic, Origin, SourceFile};
use crate::iosts::{
    Action, ActionId, ActionKind, Aim, Iosts, LocationId, QUIESCENCE, TestPurpose, Transition,
};
use crate::numbered::Numbered;
use crate::reader::collect::{Collector, inventory};
use crate::reader::declarations::{
    Actions, ReadInitial, ReadLocations, read_clocks, read_data, read_initial, read_locations, read_name,
};
use crate::reader::functions::read_functions;
use crate::reader::lexer;
use crate::reader::paths::read_paths;
use crate::reader::scope::{HIDDEN, LOCATION, Meaning, NamedExpression, Names, names_of};
use crate::reader::specification::{Specification, TimedSpecification, entries_of_kind};
use crate::reader::surroundings::Surroundings;
use crate::reader::transition_body::TransitionPlaces;
use crate::reader::transitions::{ReadTransitions, read_transitions};
use crate::reader::types::{Types, report_timed};
use crate::reader::yaml::{Entry, NodeKind, Yaml};
use crate::reader::{Reading, graph, property, shape, yaml};
use crate::term::Substitution;
use crate::timed::{Clocks, TimedPurpose};
use crate::types::Type;

const KEYS: [&str; 9] = [
    "of",
    "observes",
    "constants",
    "variables",
    "functions",
    "clocks",
    "locations",
    "initial",
    "transitions",
];

/// Reads a test purpose of the specification and checks all that needs no solver.
///
/// # Errors
/// Every mistake that could be found, with the warnings, in the order of the file.
pub fn read_purpose(file: Arc<SourceFile>, specification: &Specification) -> Reading<TestPurpose> {
    read_aimed(file, specification, Aim::Accept)
}

pub fn read_aimed(file: Arc<SourceFile>, specification: &Specification, aim: Aim) -> Reading<TestPurpose> {
    let Specification { iosts: model, types, functions } = specification;
    let against = Against { model, types, functions, clocks: None };
    read_against(file, &against, aim).map(|((purpose, _), found)| (purpose, found))
}

/// Reads a test purpose or a safety property of a timed specification and checks all that needs no solver. It
/// may have `clocks` of its own and `reset` them. A purpose may observe the specification's clocks.
pub fn read_timed_aimed(
    file: Arc<SourceFile>,
    specification: &TimedSpecification,
    aim: Aim,
) -> Reading<TimedPurpose> {
    let TimedSpecification { timed, types, functions } = specification;
    let against = Against { model: timed.graph(), types, functions, clocks: Some(timed.clocks()) };
    read_against(file, &against, aim)
        .map(|((purpose, clocks), found)| (TimedPurpose::new(purpose, clocks), found))
}

/// What a purpose is read against: its specification.
struct Against<'a> {
    model: &'a Iosts,
    types: &'a [(String, Type)],
    functions: &'a [NamedExpression],
    /// The specification's clocks, if it is timed.
    clocks: Option<&'a [Datum]>,
}

fn read_against(file: Arc<SourceFile>, against: &Against<'_>, aim: Aim) -> Reading<(TestPurpose, Clocks)> {
    let mut collector = Collector::new(file);
    let purpose = read_parsed_purpose(&mut collector, against, aim);
    collector.ended(purpose)
}

/// Reads a purpose or a property against its specification, and its clocks. Mistakes go to the collector.
/// `None` if a part that it cannot do without is missing or wrong.
fn read_parsed_purpose(
    collector: &mut Collector,
    against: &Against<'_>,
    aim: Aim,
) -> Option<(TestPurpose, Clocks)> {
    let model = against.model;
    let root = yaml::parse(collector)?;
    let entries = entries_of_kind(collector, &root, aim.key())?;
    if aim == Aim::Accept && shape::get(entries, "paths").is_some() {
        return read_tree(collector, &root, entries, against);
    }
    refuse_declarations(collector, entries, aim, against.clocks.is_some());
    // Its data: those that it observes, and its own.
    let name = read_name(collector, entries, aim.key());
    let of = read_of(collector, &root, entries, &model.name);
    let mut names = Names::default();
    let observes = read_observes(collector, entries, against, &mut names);
    let mut types = add_types(against.types, &mut names);
    let constants = read_data(collector, entries, "constants", &mut types, &mut names);
    let variables = read_data(collector, entries, "variables", &mut types, &mut names);
    let clocks = match against.clocks {
        Some(_) => read_clocks(collector, entries, &mut names),
        None => Vec::new(),
    };
    let own = constants.iter().chain(&variables).chain(&clocks);
    refuse_capture(collector, &names, own, against, &observes);
    note_names_of_model(&mut names, model);
    against.functions.iter().for_each(|function| names.add_function(function.clone()));
    read_functions(collector, entries, &mut types, &mut names);
    // Its graph, over the actions of the specification.
    let mut locations = read_locations(collector, entries);
    let initial = read_initial(collector, &root, entries, &names, &mut locations);
    check_initial_condition(collector, entries, &initial, &clocks, &observes);
    let with_quiescence = add_quiescence(against, aim);
    let actions = Actions::of(&with_quiescence);
    let may_reset = against.clocks.map(|_| clocks.as_slice());
    let context = Surroundings { names: &names, actions: &actions, takes_sets: true, clocks: may_reset };
    let ReadTransitions { transitions, places, resets, names: transition_names } =
        read_transitions(collector, entries, &context, &mut locations);
    // Only a purpose that is on quiescence somewhere has the action.
    let is_quiet =
        |transition: &Transition| actions.actions[transition.action].kind == ActionKind::Quiescence;
    let actions = if transitions.iter().any(is_quiet) { with_quiescence } else { model.actions.clone() };
    // Its location `Accept` or `Violate`, and the checks that need the complete graph.
    let accept = locations.find(aim.location());
    let reject = match aim {
        Aim::Accept => locations.find("Reject"),
        Aim::Violate => None,
    };
    if aim == Aim::Violate {
        property::refuse_locations(collector, &locations);
        let hidden = model.variables.iter().chain(against.clocks.unwrap_or_default());
        property::refuse_observed(collector, entries, hidden);
        if accept.is_none() {
            property::report_no_violate(collector, &root);
        }
    } else if accept.is_none() && (shape::get(entries, "transitions").is_some() || collector.errors() == 0) {
        // Without `transitions:`, it would only follow from a mistake that is reported already.
        report_no_accept(collector, &root, &locations, &transitions);
    }
    let iosts = Iosts {
        name: name?.0,
        constants: constants.into_iter().chain(observes.iter().cloned()).collect(),
        variables,
        initial_condition: initial.condition?,
        initial: initial.location?,
        locations: locations.locations.clone(),
        actions,
        transitions,
        origin: initial.origin.or_else(|| Some(collector.origin(&root.head()))),
    };
    let accept = accept?;
    match aim {
        Aim::Accept => check_accept(collector, &iosts, (accept, reject), &places, &names),
        Aim::Violate => property::check_violate(collector, &iosts, accept, &places),
    }
    if collector.errors() == 0 {
        // The actions are the specification's, so unused ones are not reported.
        graph::check_unused(collector, &iosts, &locations, None);
    }
    let (idle, with) = (Substitution::new(), BTreeMap::new());
    // The functions that it declares itself.
    let mut functions: BTreeSet<String> = names.functions().map(|function| function.name.clone()).collect();
    functions.retain(|name| against.functions.iter().all(|known| known.name != *name));
    let purpose = TestPurpose { aim, iosts, of: of?, observes, functions, accept, reject, idle, with };
    Some((purpose, Clocks { clocks, resets, names: transition_names }))
}

/// Reads a purpose that is a tree of paths. `None` after a mistake.
fn read_tree(
    collector: &mut Collector,
    root: &Yaml,
    entries: &[Entry],
    against: &Against<'_>,
) -> Option<(TestPurpose, Clocks)> {
    if against.clocks.is_some() {
        let message = "a purpose with paths needs a specification without clocks";
        let help = "`coreach timed path` makes a test case from a timed path";
        collector.mistake("timed-model", message, &root.head(), "this one has clocks", help);
        return None;
    }
    let name = read_name(collector, entries, Aim::Accept.key()).map(|(name, _)| name);
    let of = read_of(collector, root, entries, &against.model.name);
    let model = (against.model, add_quiescence(against, Aim::Accept));
    let purpose = read_paths(collector, root, entries, (name, of), model)?;
    Some((purpose, Clocks::default()))
}

/// Returns the actions of a purpose: the model's, and quiescence after them if a purpose of this kind may
/// speak of it. A model's action of that name takes its place.
fn add_quiescence(against: &Against<'_>, aim: Aim) -> Numbered<ActionId, Action> {
    let mut actions = against.model.actions.clone();
    let is_quiescence = |action: &Action| action.kind == ActionKind::Quiescence || action.name == QUIESCENCE;
    if aim == Aim::Accept && against.clocks.is_none() && !actions.iter().any(is_quiescence) {
        let kind = ActionKind::Quiescence;
        actions.push(Action { name: QUIESCENCE.to_owned(), kind, parameters: Vec::new() });
    }
    actions
}

/// Reports clocks and observed data that the initial condition mentions.
fn check_initial_condition(
    collector: &mut Collector,
    entries: &[Entry],
    initial: &ReadInitial,
    clocks: &[Datum],
    observes: &[Datum],
) {
    let (Some(condition), Some(origin)) = (&initial.condition, &initial.origin) else { return };
    let place = |datum: &Datum| find_mention(entries, datum).unwrap_or_else(|| origin.span.clone());
    for clock in clocks.iter().filter(|clock| condition.mentions(clock)) {
        let message = format!("the initial condition mentions the clock `{clock}`");
        let (code, help) = ("clock-in-initial-condition", "remove it, or put the condition into a guard");
        collector.mistake(code, message, &place(clock), "clocks begin at 0", help);
    }
    for datum in observes.iter().filter(|datum| condition.mentions(datum)) {
        let message = format!("the initial condition mentions `{datum}`, which belongs to the specification");
        let code = "observed-in-initial-condition";
        let help = "a purpose must not restrict the initial state of its specification: put the condition into a guard";
        collector.mistake(code, message, &place(datum), "only observed", help);
    }
}

/// Finds the first place where the text of the initial condition mentions the datum. `None` if only a
/// function does.
fn find_mention(entries: &[Entry], datum: &Datum) -> Option<std::ops::Range<usize>> {
    let NodeKind::Mapping(initial) = &shape::get(entries, "initial")?.kind else { return None };
    let scalar = shape::get(initial, "condition")?.as_scalar()?;
    let is_datum =
        |token: &lexer::Token| matches!(&token.kind, lexer::TokenKind::Name(name) if name == datum.name());
    let token = lexer::tokens(&scalar.text).into_iter().find(is_datum)?;
    Some(scalar.place(&token.span))
}

/// Reports declarations that belong to the specification, such as actions and types, and unknown keys.
fn refuse_declarations(collector: &mut Collector, entries: &[Entry], aim: Aim, is_timed: bool) {
    let foreign = ["types", "inputs", "outputs", "internals"];
    let clocks = entries.iter().find(|entry| entry.key.text == "clocks");
    if let (false, Some(entry)) = (is_timed, clocks) {
        let message = format!("`clocks`, but the specification of this {} is not timed", aim.key());
        report_timed(collector, &entry.key.span, &message);
    }
    for entry in entries.iter().filter(|entry| foreign.contains(&entry.key.text.as_str())) {
        let key = &entry.key.text;
        let declared = if key == "types" { "types" } else { "actions" };
        let message = format!("a purpose cannot declare {declared}: `{key}`");
        let help = format!("it has the {declared} of its specification: remove `{key}`");
        collector.mistake("purpose-declares", message, &entry.key.span, "not in a purpose", help);
    }
    let others: Vec<Entry> =
        entries.iter().filter(|entry| !foreign.contains(&entry.key.text.as_str())).cloned().collect();
    let known: Vec<&str> = [aim.key()].into_iter().chain(KEYS).collect();
    let owner = if aim == Aim::Accept { "a purpose" } else { "a property" };
    shape::check_keys(collector, &others, &known, owner);
}

/// Reads `of:`, which must name the specification.
fn read_of(collector: &mut Collector, root: &Yaml, entries: &[Entry], model: &str) -> Option<String> {
    let Some(node) = shape::get(entries, "of") else {
        shape::missing_key(collector, root, "of", "the purpose", &format!("of: {model}"));
        return None;
    };
    if let Some(scalar) = node.as_scalar().filter(|scalar| scalar.text.contains('.')) {
        let message = format!("`{}` is no name of a specification", scalar.text);
        let help = format!("write the name after `iosts:` in its file: `of: {model}`");
        collector.mistake("not-a-name", message, &scalar.span, format!("expected `{model}`"), help);
        return None;
    }
    let (name, place) = read_name(collector, entries, "of")?;
    if name != model {
        let message = format!("this purpose is for `{name}`, but the specification is `{model}`");
        let help = match collector.nearest(&name, [model]) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => "use the purpose with the specification that it was written for, or change its `of:`"
                .to_owned(),
        };
        collector.mistake("wrong-specification", message, &place, format!("expected `{model}`"), help);
    }
    Some(name)
}

/// Notes the other names of the specification, which are only known for messages about their use.
fn note_names_of_model(names: &mut Names, model: &Iosts) {
    add_hidden(names, model);
    for datum in model.variables.iter().chain(&model.constants) {
        names.add_elsewhere(datum.name(), "a datum of the specification that is not observed");
    }
    for action in &model.actions {
        for parameter in &action.parameters {
            names.add_elsewhere(parameter.name(), format!("a parameter of `{}`", action.name));
        }
        names.add_elsewhere(&action.name, "an action, not a datum");
    }
    for location in &model.locations {
        names.add_elsewhere(&location.name, LOCATION);
    }
}

fn report_no_accept(
    collector: &mut Collector,
    root: &Yaml,
    locations: &ReadLocations,
    transitions: &[Transition],
) {
    let diagnostic = Diagnostic::error("no-accept", "the purpose has no location `Accept`")
        .at(collector.origin(&root.head()), "this purpose accepts nothing");
    let names = locations.locations.iter().map(|location| location.name.as_str());
    let nearest = collector.nearest(Aim::Accept.location(), names).and_then(|name| locations.find(name));
    // The only location that is entered and never left may be meant.
    let is_end = |location: &LocationId| {
        transitions.iter().any(|step| step.target == *location)
            && !transitions.iter().any(|step| step.source == *location)
            && Some(*location) != locations.find("Reject")
    };
    let mut ends = locations.locations.numbers().filter(is_end);
    let meant = nearest.or_else(|| ends.next().filter(|_| ends.next().is_none()));
    collector.push(match meant.and_then(|meant| locations.origins[meant].clone()) {
        Some(origin) => diagnostic.at(origin, "is this it?").help("did you mean `Accept`?"),
        None => diagnostic.help("name the location `Accept` where the purpose is met"),
    });
}

/// Reads `observes:` into the names, and returns the data in the order of the file.
fn read_observes(
    collector: &mut Collector,
    entries: &[Entry],
    against: &Against<'_>,
    names: &mut Names,
) -> Vec<Datum> {
    let model = against.model;
    let mut observes: Vec<Datum> = Vec::new();
    let Some(node) = shape::get(entries, "observes") else { return observes };
    let like = "observes: [vPaid, cPrice]";
    let Some(items) = shape::list(collector, node, "`observes`", like) else { return observes };
    let clocks = against.clocks.unwrap_or_default();
    let data = model.constants.iter().chain(&model.variables).chain(clocks);
    let data: HashMap<&str, &Datum> = data.map(|datum| (datum.name(), datum)).collect();
    let mut seen = HashSet::new();
    for item in items {
        if collector.is_full() {
            break;
        }
        let Some(scalar) = shape::scalar(collector, item, "what is observed", like) else { continue };
        let name = &scalar.text;
        let Some(datum) = data.get(name.as_str()).copied() else {
            let known = || model.variables.iter().chain(&model.constants).chain(clocks).map(Datum::name);
            let carrier = model.actions.iter().find(|a| a.parameters.iter().any(|p| p.name() == name));
            let help = match (carrier, collector.nearest(name, known())) {
                (Some(Action { name: action, .. }), _) => {
                    format!("`{name}` is a parameter of `{action}`: a guard on that action can read it")
                }
                (None, Some(similar)) => format!("did you mean `{similar}`?"),
                (None, None) => inventory(&format!("data of `{}`", model.name), known()),
            };
            let message = format!("`{}` has no variable or constant `{name}`", model.name);
            collector.mistake("unknown-observed", message, &scalar.span, "nothing to observe", help);
            names.add(name, Meaning::Broken, None);
            continue;
        };
        if !seen.insert(datum.name()) {
            let message = format!("`{name}` is observed twice");
            collector.error("duplicate-declaration", message, &scalar.span, "the second time");
            continue;
        }
        observes.push(datum.clone());
        names.add(name, Meaning::Observed(datum.clone()), Some(collector.origin(&scalar.span)));
    }
    observes
}

/// Adds the specification's types and their literals and alternatives to the names.
fn add_types(declared: &[(String, Type)], names: &mut Names) -> Types {
    names.types = declared.to_vec();
    for (name, meaning) in declared.iter().flat_map(|(name, ty)| names_of(name, ty)) {
        names.add(&name, meaning, None);
    }
    Types::of(declared)
}

/// Reports own data of the purpose with a name of the specification's: the product is a union.
fn refuse_capture<'a>(
    collector: &mut Collector,
    names: &Names,
    own: impl Iterator<Item = &'a Datum>,
    against: &Against<'_>,
    observes: &[Datum],
) {
    let model = against.model;
    let clocks = against.clocks.unwrap_or_default();
    let data: HashSet<&str> =
        model.variables.iter().chain(&model.constants).chain(clocks).map(Datum::name).collect();
    let observed: HashSet<&str> = observes.iter().map(Datum::name).collect();
    let mut carriers: HashMap<&str, &Action> = HashMap::new();
    for action in &model.actions {
        for parameter in &action.parameters {
            carriers.entry(parameter.name()).or_insert(action);
        }
    }
    for datum in own {
        if collector.is_full() {
            break;
        }
        let name = datum.name();
        let (owner, help) = match (data.get(name), carriers.get(name)) {
            // The declaration itself has reported this.
            (Some(_), _) if observed.contains(name) => continue,
            (Some(_), _) => (
                format!("a datum of `{}`", model.name),
                "rename it, or list it under `observes:` if you mean the specification's",
            ),
            (None, Some(action)) => (
                format!("a parameter of `{}`", action.name),
                "rename it: in the product a guard could not tell them apart",
            ),
            (None, None) => continue,
        };
        let origin = names.get(name).and_then(|(_, origin)| origin.clone());
        let diagnostic = Diagnostic::error("capture", format!("`{name}` is already {owner}"))
            .at(origin, "the purpose declares it as its own");
        collector.push(diagnostic.help(help));
    }
}

/// Adds the actions that a composition hides, with their lines. `None` if the file names none.
fn add_hidden(names: &mut Names, model: &Iosts) -> Option<()> {
    let file = &model.origin.as_ref().filter(|origin| origin.file.text.contains("hide"))?.file;
    let root = yaml::parse(&mut Collector::new(file.clone()))?;
    let NodeKind::Mapping(entries) = &root.kind else { return None };
    let NodeKind::Sequence(items) = &shape::get(entries, "hide")?.kind else { return None };
    for scalar in items.iter().filter_map(|item| item.as_scalar()) {
        let place = Origin { file: file.clone(), span: scalar.span.clone() };
        names.add_elsewhere(&scalar.text, format!("{HIDDEN} ({})", place.file_and_line()));
    }
    Some(())
}

/// Checks that `Accept` is absorbing and entered by visible actions. Warns of transitions that leave
/// `Reject`.
fn check_accept(
    collector: &mut Collector,
    iosts: &Iosts,
    (accept, reject): (LocationId, Option<LocationId>),
    places: &[TransitionPlaces],
    names: &Names,
) {
    let mut seen = HashSet::new();
    for (transition, place) in iosts.transitions.iter().zip(places) {
        if collector.is_full() {
            break;
        }
        // A set of actions is one mistake, however many actions it has.
        if !seen.insert((&place.from, &place.on, &place.to)) {
            continue;
        }
        let Transition { source, target, action, .. } = *transition;
        if source == accept && target != accept {
            let diagnostic = Diagnostic::error("leaves-accept", "a transition leaves `Accept`")
                .at(collector.origin(&place.to), "must stay in `Accept`")
                .at(collector.origin(&place.from), "from here")
                .help("once the purpose is met, it stays met: remove this transition");
            collector.push(diagnostic);
        }
        if target == accept && source != accept && !iosts.action(action).is_visible() {
            let name = &iosts.action(action).name;
            let message = format!("the internal action `{name}` leads to `Accept`");
            let visible = "accept on an input or an output: a tester must see when the purpose is met";
            let help = match names.elsewhere(name).filter(|what| what.starts_with(HIDDEN)) {
                Some(what) => format!("it is {what}: take it out of that list, or {visible}"),
                None => visible.to_owned(),
            };
            collector.mistake("internal-into-accept", message, &place.on, "a tester cannot see this", help);
        }
        if Some(source) == reject && Some(target) != reject {
            let diagnostic = Diagnostic::warning("leaves-reject", "a transition leaves `Reject`")
                .at(collector.origin(&place.to), "a run ends in `Reject`: later steps do not count")
                .at(collector.origin(&place.from), "from here");
            collector.push(diagnostic);
        }
    }
}
