//! Makes a model of a drawn graph.
//!
//! **Meaning.** A vertex is a location, an edge a transition, and its event an action. An edge without an
//! event is an internal step. The actions of an edge are done one after the other, as in JavaScript. They
//! become one parallel assignment, whose values are terms over the data before the step. Variables belong to
//! their model, but those that begin with `global.` are shared by all models. Their types (truth value,
//! integer or real) are inferred ([`crate::expression::infer`]).
//!
//! **Shared states** of GraphWalker: after a vertex, a path may go on at any vertex of another model with the
//! same shared name. So such vertices are one location.
//!
//! **Observed vertices** (`--vertices outputs`): the test code of a vertex checks that the system is there.
//! So the vertex `v` becomes two locations, and the system sends `v` from the first to the second.
//!
//! **Cost**: time linear in the graph, without the inference.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use coreach_model::diagnostic::{Diagnostic, Origin, nearest};
use coreach_model::iosts::{Action, Iosts, Transition, TransitionOrigin};
use coreach_model::numbered::Numbered;
use coreach_model::reader::collect::Collector;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, ActionKind, Datum, Term, Type, budget};

use super::places::Places;
use super::{Drawing, GraphEdge};
use crate::directions::Directions;
use crate::expression::infer::{UsesSeen, infer};
use crate::expression::parser::Statements;
use crate::expression::typing::{ForeignScope, ForeignTyping};
use crate::expression::{
    ForeignAssignment, ForeignExpression, ForeignKind, ForeignMistake, UNTRANSLATABLE, parser,
};
use crate::finish::Model;
use crate::names::Naming;
use crate::piece::Piece;
use crate::{Options, Untranslated};

/// The key of an internal step's action, which no event has.
const INTERNAL: &str = "";

/// The guard and the actions of an edge, parsed.
struct Texts<'a> {
    edge: &'a GraphEdge,
    guard: Option<(ForeignExpression, &'a Piece)>,
    actions: Vec<(ForeignAssignment, &'a Piece)>,
    /// Variables whose assignments could not be read.
    unread_targets: Vec<String>,
}

/// An assignment that is done before the graph begins, with the number of its model before it.
type FirstAssignment<'a> = (usize, ForeignAssignment, &'a Piece);

struct EventDraft {
    kind: ActionKind,
    /// The names of its parameters, with their types, if these are written.
    parameters: Vec<(String, Option<Type>)>,
    origin: Origin,
}

/// Makes the model. `None` after a mistake, which has been reported.
pub fn build(collector: &mut Collector, options: &Options, drawing: &Drawing) -> Option<Model> {
    let places = Places::of(collector, options, drawing)?;
    let events = collect_events(collector, options, drawing);
    let texts: Vec<Texts<'_>> =
        drawing.edges.iter().map(|edge| parse_texts(collector, options, drawing, edge)).collect();
    let mut first: Vec<FirstAssignment<'_>> = Vec::new();
    let mut unread_targets: Vec<(usize, String)> = Vec::new();
    for (model, piece) in &drawing.initial_statements {
        let read = parse_piece(collector, options, drawing, piece);
        unread_targets.extend(read.broken.into_iter().map(|name| (*model, name)));
        first.extend(read.assignments.into_iter().map(|assignment| (*model, assignment, piece)));
    }
    for texts in &texts {
        unread_targets.extend(texts.unread_targets.iter().map(|name| (texts.edge.model, name.clone())));
    }
    let data = ForeignData::of(collector, drawing, &events, &texts, &first, unread_targets);
    let numbers: BTreeMap<&str, ActionId> =
        events.keys().zip(0u32..).map(|(name, number)| (name.as_str(), ActionId(number))).collect();
    let actions: Numbered<ActionId, Action> = events
        .iter()
        .map(|(name, event)| Action {
            name: if name == INTERNAL { data.internal.clone() } else { data.actions.get(name).to_owned() },
            kind: event.kind,
            parameters: data.parameters.get(name).cloned().unwrap_or_default(),
        })
        .collect();
    // Observed vertices have a transition between their two locations.
    let mut transitions = Numbered::new();
    for vertex in &places.observed {
        transitions.push(Transition {
            source: vertex.entry,
            action: *numbers.get(vertex.event.as_str())?,
            guard: Term::yes(),
            assignments: Substitution::new(),
            target: vertex.exit,
            origin: TransitionOrigin { whole: Some(vertex.origin.clone()), ..Default::default() },
        });
    }
    // A transition for each edge. The first edge gets another one from the initial location, if need be.
    for texts in &texts {
        budget::ask();
        let edge = texts.edge;
        let event = edge.label.event.as_ref().map_or(INTERNAL, |event| event.text.as_str());
        // An event without a direction was reported.
        let Some(action) = numbers.get(event) else { continue };
        let scope = data.scope(edge, event);
        let guard = match &texts.guard {
            Some((tree, piece)) => {
                let mut typing = make_typing(&scope, options, drawing);
                let guard = typing.of_type(tree, &Type::Bool, "a guard");
                report_mistakes(collector, options, typing.mistakes, piece);
                guard.unwrap_or_else(Term::yes)
            }
            None => Term::yes(),
        };
        let assignments = translate_actions(collector, options, drawing, &data, &scope, texts);
        let transition = |source, guard| Transition {
            source,
            action: *action,
            guard,
            assignments: assignments.clone(),
            target: places.entries[edge.target],
            origin: TransitionOrigin { whole: Some(collector.origin(&edge.span)), ..Default::default() },
        };
        let source = edge.source.map(|vertex| places.exits[vertex]);
        let is_first = drawing.first_edge().is_some_and(|first| std::ptr::eq(first, edge));
        let begins = is_first && source != Some(places.initial);
        let ignored_guard = edge.label.guard.as_ref().filter(|_| begins);
        transitions.extend(source.map(|source| transition(source, guard)));
        transitions.extend(begins.then(|| transition(places.initial, Term::yes())));
        if let Some(guard) = ignored_guard {
            let message = "GraphWalker ignores the guard of its first edge";
            let diagnostic = Diagnostic::warning("not-taken", message);
            collector.push(diagnostic.at(collector.origin(&guard.full_range()), "ignored in the first step"));
        }
    }
    let (initial_condition, known) = translate_first(collector, options, drawing, &data, &first);
    // A shared variable is in the lists of several models.
    let mut listed: BTreeSet<&str> = BTreeSet::new();
    let all_variables = data.variables.values().flatten().map(|(_, datum)| datum);
    let variables: Vec<Datum> = all_variables.filter(|datum| listed.insert(datum.name())).cloned().collect();
    let open = variables.iter().filter(|variable| !known.contains(*variable)).cloned().collect();
    let name = drawing.name.as_ref().map_or_else(String::new, |name| {
        Naming::of([(name.as_str(), None)], &BTreeSet::new(), "model").get(name).to_owned()
    });
    let iosts = Iosts {
        name,
        constants: Vec::new(),
        variables,
        initial_condition,
        initial: places.initial,
        locations: places.locations,
        actions,
        transitions,
        origin: None,
    };
    Some(Model { iosts, types: Vec::new(), time: None, open })
}

/// Reports the mistakes of a piece. With `--untranslated drop`, untranslatable parts are only warnings.
fn report_mistakes(
    collector: &mut Collector,
    options: &Options,
    mistakes: Vec<ForeignMistake>,
    piece: &Piece,
) {
    for mistake in mistakes {
        let is_untranslatable = mistake.code == UNTRANSLATABLE;
        let mut diagnostic = mistake.on(collector, piece);
        if is_untranslatable {
            if options.untranslated == Untranslated::Drop {
                diagnostic.severity = coreach_model::Severity::Warning;
                diagnostic.message += ": it is left out";
            } else if diagnostic.help.is_none() {
                diagnostic.help =
                    Some("`--untranslated drop` leaves it out: the specification then says less".to_owned());
            }
        }
        collector.push(diagnostic);
    }
}

fn make_typing<'a>(scope: &'a ForeignScope, options: &Options, drawing: &Drawing) -> ForeignTyping<'a> {
    let reports_broken = options.untranslated == Untranslated::Drop;
    ForeignTyping { reports_broken, ..ForeignTyping::new(scope, drawing.dialect) }
}

fn parse_piece(collector: &mut Collector, options: &Options, drawing: &Drawing, piece: &Piece) -> Statements {
    let mut read = parser::parse_statements(&piece.text, drawing.dialect);
    report_mistakes(collector, options, std::mem::take(&mut read.mistakes), piece);
    read
}

/// Parses the guard and the actions of an edge, and renames its parameters. Mistakes are reported.
fn parse_texts<'a>(
    collector: &mut Collector,
    options: &Options,
    drawing: &Drawing,
    edge: &'a GraphEdge,
) -> Texts<'a> {
    let mut guard = None;
    if let Some(piece) = &edge.label.guard {
        match parser::parse_expression(&piece.text, drawing.dialect) {
            Ok(tree) => guard = Some((tree, piece)),
            Err(mistake) => report_mistakes(collector, options, vec![*mistake], piece),
        }
    }
    let (mut actions, mut unread_targets) = (Vec::new(), Vec::new());
    for piece in &edge.label.actions {
        let read = parse_piece(collector, options, drawing, piece);
        if !read.local.is_empty() {
            // A name may mean the local variable or the model's, so no action is translated.
            let mistake = |(_, span): &(String, Range<usize>)| {
                ForeignMistake::untranslatable(span, "a variable that is local to these actions")
                    .help("remove `let` or `const` to assign the model's variable")
            };
            report_mistakes(collector, options, read.local.iter().map(mistake).collect(), piece);
            let local: BTreeSet<&String> = read.local.iter().map(|(name, _)| name).collect();
            let targets = read.assignments.iter().map(|assignment| &assignment.target);
            unread_targets.extend(targets.chain(&read.broken).filter(|name| !local.contains(name)).cloned());
            continue;
        }
        actions.extend(read.assignments.into_iter().map(|assignment| (assignment, piece)));
        unread_targets.extend(read.broken);
    }
    let mut texts = Texts { edge, guard, actions, unread_targets };
    rename_parameters(collector, options, &mut texts);
    texts
}

/// Renames each parameter by its event and its place, so that it is the same for all edges of the event. An
/// assigned parameter is reported.
fn rename_parameters(collector: &mut Collector, options: &Options, texts: &mut Texts<'_>) {
    let event = texts.edge.label.event.as_ref().map_or(INTERNAL, |event| event.text.as_str());
    let parameters = texts.edge.label.parameters.iter().enumerate();
    let new_names: BTreeMap<String, String> =
        parameters.map(|(place, (name, _))| (name.text.clone(), parameter_key(event, place))).collect();
    if let Some((tree, _)) = &mut texts.guard {
        rename_all(tree, &new_names);
    }
    for (assignment, piece) in &mut texts.actions {
        rename_all(&mut assignment.value, &new_names);
        if new_names.contains_key(&assignment.target) {
            let message = format!("`{}` is a parameter and cannot be assigned", assignment.target);
            let (code, span) = ("assigned-parameter", &assignment.target_span);
            let mistake = ForeignMistake::new(code, span, message, "assigned here");
            report_mistakes(collector, options, vec![mistake], piece);
        }
    }
}

/// Is it a variable that all models of a GraphWalker file share?
fn is_global(name: &str) -> bool {
    name.starts_with("global.")
}

/// Infers the types of each model's variables. The type of a shared variable in one model holds in all
/// models. So the inference is repeated until nothing changes. A type grows at most twice.
fn infer_all(
    models: &[Vec<UsesSeen<'_>>],
    declared: &BTreeMap<String, Type>,
    shared: &BTreeSet<&str>,
) -> Vec<BTreeMap<String, Type>> {
    let mut known: BTreeMap<String, Type> = BTreeMap::new();
    loop {
        let inferred: Vec<BTreeMap<String, Type>> =
            models.iter().map(|seen| infer(seen, declared, &known)).collect();
        let mut joined = known.clone();
        for (name, ty) in inferred.iter().flatten().filter(|(name, _)| shared.contains(name.as_str())) {
            let has_changed = joined.get(name).is_none_or(|old| *old == Type::Int && *ty == Type::Real);
            if has_changed {
                joined.insert(name.clone(), ty.clone());
            }
        }
        if joined == known {
            return inferred;
        }
        known = joined;
    }
}

/// Returns the name of a parameter among variables. No variable has these signs.
fn parameter_key(event: &str, place: usize) -> String {
    format!("{event}#{place}")
}

/// Renames variables in an expression.
fn rename_all(tree: &mut ForeignExpression, names: &BTreeMap<String, String>) {
    match &mut tree.kind {
        ForeignKind::Name(name) => {
            if let Some(new) = names.get(name) {
                name.clone_from(new);
            }
        }
        ForeignKind::Truth(_) | ForeignKind::Number(_) => {}
        ForeignKind::Not(inner) | ForeignKind::Negate(inner) => rename_all(inner, names),
        ForeignKind::And(parts) | ForeignKind::Or(parts) => {
            parts.iter_mut().for_each(|part| rename_all(part, names))
        }
        ForeignKind::Implies(a, b) | ForeignKind::Arithmetic(_, a, b) => {
            rename_all(a, names);
            rename_all(b, names);
        }
        ForeignKind::Compare(first, others) => {
            rename_all(first, names);
            others.iter_mut().for_each(|(_, part)| rename_all(part, names));
        }
        ForeignKind::Choice(c, a, b) => [c, a, b].into_iter().for_each(|part| rename_all(part, names)),
    }
}

/// Collects the events of all edges and observed vertices. Edges with the same event must agree.
fn collect_events(
    collector: &mut Collector,
    options: &Options,
    drawing: &Drawing,
) -> BTreeMap<String, EventDraft> {
    let mut events: BTreeMap<String, EventDraft> = BTreeMap::new();
    let edge_events = || drawing.edges.iter().filter_map(|edge| edge.label.event.as_ref());
    let is_seen = |number: &usize| drawing.is_seen(options, *number);
    let seen = || (0..drawing.vertices.len()).filter(is_seen).map(|number| &drawing.vertices[number]);
    let names = edge_events().chain(seen().map(|vertex| &vertex.name));
    let names: BTreeSet<&str> = names.map(|piece| piece.text.as_str()).collect();
    let mut directions = Directions::new(collector, options, &names);
    // Missing directions are reported if some are known. Otherwise all edges are assumed to be inputs.
    let has_sign = drawing.edges.iter().any(|edge| edge.label.sign.is_some());
    let has_no_directions = !has_sign && !directions.are_given();
    if has_no_directions
        && !drawing.edges_are_inputs
        && let Some(first) = edge_events().next()
    {
        let message = "the file does not say which edges are inputs or outputs: all count as inputs, which the tester sends";
        let diagnostic = Diagnostic::warning("assumed-inputs", message)
            .at(collector.origin(&first.full_range()), "the first of them")
            .help("`--outputs` names what the system sends; `event!` at an edge is an output, `event?` an input");
        collector.push(diagnostic);
    }
    for vertex in seen() {
        let origin = collector.origin(&vertex.name.full_range());
        let event = EventDraft { kind: ActionKind::Output, parameters: Vec::new(), origin };
        events.entry(vertex.name.text.clone()).or_insert(event);
    }
    for edge in &drawing.edges {
        let label = &edge.label;
        let Some(name) = &label.event else {
            let origin = collector.origin(&edge.span);
            let internal = EventDraft { kind: ActionKind::Internal, parameters: Vec::new(), origin };
            events.entry(INTERNAL.to_owned()).or_insert(internal);
            continue;
        };
        let origin = collector.origin(&name.full_range());
        // An edge without a direction is an input where this is usual, or where nothing has a direction.
        let assumed = || {
            let is_listed = directions.find_listed(&name.text).is_some();
            let lists = [&options.inputs, &options.outputs, &options.internals];
            let has_default = lists.into_iter().any(|list| list.iter().any(|name| name == "*"));
            let are_inputs = drawing.edges_are_inputs || has_no_directions;
            (are_inputs && !is_listed && !has_default).then_some(ActionKind::Input)
        };
        let sign = label.sign.or_else(assumed);
        let Some(kind) = directions.find(collector, &name.text, sign, &origin) else { continue };
        let mut parameters: Vec<(String, Option<Type>)> = Vec::new();
        for (name, ty) in &label.parameters {
            parameters.push((name.text.clone(), ty.as_ref().and_then(|ty| read_type(collector, ty))));
        }
        if kind == ActionKind::Internal && !parameters.is_empty() {
            let message = "internal actions carry no parameters";
            collector.error("internal-with-parameters", message, &name.full_range(), "internal");
        }
        match events.get_mut(&name.text) {
            None => {
                events.insert(name.text.clone(), EventDraft { kind, parameters, origin });
            }
            Some(known) => {
                let (old, new) = (known.parameters.len(), parameters.len());
                let mut pairs = known.parameters.iter().zip(&parameters);
                let problem = if known.kind != kind {
                    Some(format!("`{}` has two directions", name.text))
                } else if old != new {
                    Some(format!("`{}` has {new} parameters here, but {old} elsewhere", name.text))
                } else {
                    let clash =
                        pairs.find(|((_, old), (_, new))| old.is_some() && new.is_some() && old != new);
                    clash.map(|((name, _), _)| format!("the parameter `{name}` has two types"))
                };
                if let Some(message) = problem {
                    let diagnostic = Diagnostic::error("contradiction", message)
                        .at(origin, "here")
                        .at(known.origin.clone(), "and here");
                    collector.push(diagnostic);
                }
                for ((_, old), (_, new)) in known.parameters.iter_mut().zip(parameters) {
                    *old = old.take().or(new);
                }
            }
        }
    }
    events
}

fn read_type(collector: &mut Collector, piece: &Piece) -> Option<Type> {
    const KNOWN: [(&str, Type); 4] =
        [("bool", Type::Bool), ("int", Type::Int), ("nat", Type::Nat), ("real", Type::Real)];
    if let Some((_, ty)) = KNOWN.iter().find(|(name, _)| *name == piece.text) {
        return Some(ty.clone());
    }
    let message = format!("no type is called `{}`", piece.text);
    let help = match nearest(&piece.text, KNOWN.iter().map(|(name, _)| *name)) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => "the types are `bool`, `int`, `nat` and `real`".to_owned(),
    };
    collector.mistake("unknown-type", message, &piece.full_range(), "no such type", help);
    None
}

/// The data and actions of the model, by their names in the drawing.
struct ForeignData {
    actions: Naming,
    internal: String,
    /// The parameters of each event.
    parameters: BTreeMap<String, Vec<Datum>>,
    /// The variables of each model, in the order of their names there.
    variables: BTreeMap<usize, Vec<(String, Datum)>>,
    /// Variables whose assignments could not be read, with their models.
    unread_targets: Vec<(usize, String)>,
}

impl ForeignData {
    /// Names actions, variables and parameters, and infers their types.
    fn of(
        collector: &mut Collector,
        drawing: &Drawing,
        events: &BTreeMap<String, EventDraft>,
        texts: &[Texts<'_>],
        first: &[FirstAssignment<'_>],
        unread_targets: Vec<(usize, String)>,
    ) -> Self {
        let actions = name_actions(collector, events);
        let mut data = ForeignData {
            internal: Naming::of([("tau", None)], &actions.all(), "tau").get("tau").to_owned(),
            actions,
            parameters: BTreeMap::new(),
            variables: BTreeMap::new(),
            unread_targets,
        };
        let mut declared: BTreeMap<String, Type> = BTreeMap::new();
        for (name, event) in events {
            for (place, (_, ty)) in event.parameters.iter().enumerate() {
                declared.extend(ty.clone().map(|ty| (parameter_key(name, place), ty)));
            }
        }
        // The assigned variables of each model, and all texts that say something about types.
        let mut assigned: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
        let mut seen_in: Vec<Vec<UsesSeen<'_>>> = Vec::new();
        for model in 0..drawing.models.len() {
            let own_texts = || texts.iter().filter(|texts| texts.edge.model == model);
            let at_start =
                first.iter().filter(|(owner, ..)| *owner == model).map(|(_, assignment, _)| assignment);
            let at_edges = own_texts().flat_map(|texts| &texts.actions).map(|(assignment, _)| assignment);
            let assignments: Vec<&ForeignAssignment> = at_start.chain(at_edges).collect();
            let targets = assignments.iter().map(|assignment| assignment.target.as_str()).collect();
            assigned.insert(model, targets);
            let guards = own_texts().filter_map(|texts| texts.guard.as_ref());
            let guards = guards.map(|(tree, _)| UsesSeen::Guard(tree));
            seen_in.push(assignments.into_iter().map(UsesSeen::Assigned).chain(guards).collect());
        }
        let shared: BTreeSet<&str> =
            assigned.values().flatten().copied().filter(|name| is_global(name)).collect();
        // Every model has the shared variables, whichever of them assigns to them.
        assigned.values_mut().for_each(|names| names.extend(&shared));
        let inferred = infer_all(&seen_in, &declared, &shared);
        // A name that two models have gets the model's name after it.
        let count = |name: &str| assigned.values().filter(|names| names.contains(name)).count();
        let key = |model: usize, name: &str| match is_global(name) || count(name) == 1 {
            true => name.to_owned(),
            false => format!("{name} of {}", drawing.models[model]),
        };
        let mut keys: Vec<String> = Vec::new();
        for (model, names) in &assigned {
            keys.extend(names.iter().map(|name| key(*model, name)));
        }
        let naming = Naming::of(keys.iter().map(|key| (key.as_str(), None)), &BTreeSet::new(), "v");
        naming.warn_of_changes(collector, "variables");
        let taken = naming.all();
        for (model, names) in &assigned {
            let datum = |name: &&str| {
                let ty = inferred[*model].get(*name).cloned().unwrap_or(Type::Int);
                ((*name).to_owned(), Datum::new(naming.get(&key(*model, name)), ty))
            };
            data.variables.insert(*model, names.iter().map(datum).collect());
        }
        for (name, event) in events {
            let names = event.parameters.iter().map(|(name, _)| (name.as_str(), Some(event.origin.clone())));
            let naming = Naming::of(names, &taken, "p");
            naming.warn_of_changes(collector, "parameters");
            let parameters = event.parameters.iter().enumerate().map(|(place, (parameter, ty))| {
                let key = parameter_key(name, place);
                let known = || inferred.iter().find_map(|types| types.get(&key).cloned());
                Datum::new(naming.get(parameter), ty.clone().or_else(known).unwrap_or(Type::Int))
            });
            data.parameters.insert(name.clone(), parameters.collect());
        }
        data
    }

    /// The data that the guard and the actions of an edge with this event may mention.
    fn scope(&self, edge: &GraphEdge, event: &str) -> ForeignScope {
        let variables = self.variables.get(&edge.model).into_iter().flatten();
        let mut scope: ForeignScope =
            variables.map(|(name, datum)| (name.clone(), Some(Term::datum(datum)))).collect();
        for (place, datum) in self.parameters.get(event).into_iter().flatten().enumerate() {
            scope.insert(parameter_key(event, place), Some(Term::datum(datum)));
        }
        self.add_unread(edge.model, &mut scope);
        scope
    }

    /// Adds the variables whose assignments could not be read. Without terms, their use is no new mistake.
    fn add_unread(&self, model: usize, scope: &mut ForeignScope) {
        for (_, name) in self.unread_targets.iter().filter(|(owner, _)| *owner == model) {
            scope.entry(name.clone()).or_insert(None);
        }
    }

    fn variable(&self, model: usize, name: &str) -> Option<&Datum> {
        self.variables.get(&model)?.iter().find(|(known, _)| known == name).map(|(_, datum)| datum)
    }
}

/// Gives the events names as actions.
fn name_actions(collector: &mut Collector, events: &BTreeMap<String, EventDraft>) -> Naming {
    // Names are given in the order of the file, since the numbers in them depend on the order.
    let mut named: Vec<(&str, Option<Origin>)> =
        events.iter().map(|(name, event)| (name.as_str(), Some(event.origin.clone()))).collect();
    named.sort_by_key(|(_, origin)| origin.as_ref().map(|origin| origin.span.start));
    named.retain(|(name, _)| *name != INTERNAL);
    let naming = Naming::of(named, &BTreeSet::new(), "a");
    naming.warn_of_changes(collector, "actions");
    naming
}

/// Turns the actions of an edge into one parallel assignment over the data before the step.
fn translate_actions(
    collector: &mut Collector,
    options: &Options,
    drawing: &Drawing,
    data: &ForeignData,
    scope: &ForeignScope,
    texts: &Texts<'_>,
) -> Substitution {
    // The value of each variable so far, over the data before the step.
    let mut state = Substitution::new();
    for (assignment, piece) in &texts.actions {
        let Some(variable) = data.variable(texts.edge.model, &assignment.target) else { continue };
        let mut typing = make_typing(scope, options, drawing);
        let value = typing.of_type(&assignment.value, variable.ty(), &format!("`{}`", assignment.target));
        report_mistakes(collector, options, typing.mistakes, piece);
        if let Some(value) = value {
            let value = substitute(&value, &state);
            state.insert(variable.clone(), value);
        }
    }
    state.retain(|variable, value| *value != Term::datum(variable));
    state
}

/// Turns the first assignments into the initial condition. Also returns their variables.
fn translate_first(
    collector: &mut Collector,
    options: &Options,
    drawing: &Drawing,
    data: &ForeignData,
    first: &[FirstAssignment<'_>],
) -> (Term, BTreeSet<Datum>) {
    let mut state = Substitution::new();
    for (model, assignment, piece) in first {
        let Some(variable) = data.variable(*model, &assignment.target) else { continue };
        // Only variables that were assigned before have a value.
        let variables = data.variables.get(model).into_iter().flatten();
        let mut scope: ForeignScope = variables
            .filter(|(_, datum)| state.contains_key(datum))
            .map(|(name, datum)| (name.clone(), Some(Term::datum(datum))))
            .collect();
        data.add_unread(*model, &mut scope);
        let mut typing = make_typing(&scope, options, drawing);
        let value = typing.of_type(&assignment.value, variable.ty(), &format!("`{}`", assignment.target));
        report_mistakes(collector, options, typing.mistakes, piece);
        if let Some(value) = value {
            let value = substitute(&value, &state);
            state.insert(variable.clone(), value);
        }
    }
    let condition =
        Term::and(state.iter().map(|(variable, value)| Term::equal(&Term::datum(variable), value)));
    (condition, state.into_keys().collect())
}
