//! The body of a transition: the action, the guard and the assignments, without its ends.

use std::ops::Range;

use crate::budget;
use crate::data::Datum;
use crate::diagnostic::Diagnostic;
use crate::iosts::{ActionId, LocationId, Transition, TransitionOrigin};
use crate::reader::collect::{Collector, article, inventory};
use crate::reader::declarations::ReadLocations;
use crate::reader::on::{TakenAction, mentions_parameter, read_on, refuse_partial_parameters};
use crate::reader::scope::{Meaning, Scope};
use crate::reader::shape;
use crate::reader::surroundings::Surroundings;
use crate::reader::types::report_timed;
use crate::reader::typing::{read_expression, report};
use crate::reader::yaml::{Entry, NodeKind, Scalar, Yaml};
use crate::term::{Substitution, Term};
use crate::types::Type;

/// An example of a transition for messages.
pub const LIKE: &str = "{ from: Idle, to: Pay, on: Coin, when: pCoinValue > 0 }";

/// The places of the parts of a transition, for checks of the whole model.
#[derive(Clone, Debug)]
pub struct TransitionPlaces {
    pub from: Range<usize>,
    pub on: Range<usize>,
    pub to: Range<usize>,
    /// The place of its name, or of the action if it has none.
    pub name: Range<usize>,
}

#[derive(Clone, Default)]
pub struct TimedBody {
    pub resets: Vec<Datum>,
    pub name: Option<String>,
}

/// The ends of a transition, as they are written and as locations.
pub struct TransitionEnds<'a> {
    pub from: &'a Scalar,
    pub to: &'a Scalar,
    pub source: LocationId,
    pub target: LocationId,
}

/// The body of a transition, for one of its actions.
#[derive(Clone)]
pub struct TransitionBody {
    action: ActionId,
    guard: Term,
    assignments: Substitution,
    origin: TransitionOrigin,
    on_span: Range<usize>,
    /// Where a message about the transition points: its name, or the action if it has none.
    name_span: Range<usize>,
}

impl TransitionBody {
    pub fn action(&self) -> ActionId {
        self.action
    }

    /// Makes it a transition between two locations, with its places.
    pub fn between(
        &self,
        ends: &TransitionEnds<'_>,
        source: LocationId,
        target: LocationId,
    ) -> (Transition, TransitionPlaces) {
        let [from, to] = [ends.from.span.clone(), ends.to.span.clone()];
        let places = TransitionPlaces { from, on: self.on_span.clone(), to, name: self.name_span.clone() };
        let TransitionBody { action, guard, assignments, origin, .. } = self.clone();
        (Transition { source, action, guard, assignments, target, origin }, places)
    }
}

/// Reads `from:` and `to:` of a transition.
pub fn read_ends<'a>(
    collector: &mut Collector,
    node: &Yaml,
    entries: &'a [Entry],
    locations: &mut ReadLocations,
    like: &str,
) -> Option<TransitionEnds<'a>> {
    let place = |collector: &mut Collector, key: &str| {
        let value = shape::required(collector, node, entries, key, "the transition", like)?;
        if matches!(value.kind, NodeKind::Sequence(_)) {
            let message = format!("`{key}` takes one location, but this is a list");
            let help = "write a transition for each location";
            collector.mistake("wrong-kind", message, &value.head(), "expected one location", help);
            return None;
        }
        shape::scalar(collector, value, &format!("`{key}`"), like)
    };
    let (from, to) = (place(collector, "from"), place(collector, "to"));
    let source = from.and_then(|name| locations.find_or_add(collector, name));
    let target = to.and_then(|name| locations.find_or_add(collector, name));
    Some(TransitionEnds { from: from?, to: to?, source: source?, target: target? })
}

/// Reads the body of a transition for each of its actions, with its resets and its name.
pub fn read_steps(
    collector: &mut Collector,
    node: &Yaml,
    entries: &[Entry],
    context: &Surroundings<'_>,
) -> Option<(Vec<TransitionBody>, TimedBody)> {
    let timed_body = TimedBody {
        resets: read_resets(collector, entries, context),
        name: read_name(collector, entries, context),
    };
    let on = shape::required(collector, node, entries, "on", "the transition", LIKE)?;
    let taken = read_on(collector, on, context, LIKE)?;
    let (when, assign) = (shape::get(entries, "when"), shape::get(entries, "assign"));
    if taken.len() > 1 {
        let errors_before = collector.errors();
        for expression in written_expressions(when, assign) {
            refuse_partial_parameters(collector, expression, &taken, context);
        }
        if collector.errors() > errors_before {
            return None;
        }
    }
    let whole = Some(collector.origin(&node.span));
    let mut steps = Vec::new();
    for action in &taken {
        budget::ask();
        let findings_before = collector.count_found();
        let body = read_guard_and_assignments(collector, action, context, when, assign);
        let Some((guard, assignments, origin)) = body else {
            // The other actions would repeat the mistakes. The note goes to the findings of this action.
            let mut expressions = written_expressions(when, assign);
            if taken.len() > 1 && expressions.any(|node| mentions_parameter(node, action)) {
                let name = &context.actions.actions[action.action].name;
                let note = format!("this happens with the parameters of `{name}`");
                collector.note_since(findings_before, &note);
            }
            return None;
        };
        let on_span = action.place.clone();
        let name_span = shape::get(entries, "name").map_or(on_span.clone(), Yaml::head);
        let origin = TransitionOrigin { whole: whole.clone(), ..origin };
        steps.push(TransitionBody { action: action.action, guard, assignments, origin, on_span, name_span });
    }
    Some((steps, timed_body))
}

/// Reads `name:`, which only transitions of timed models have. `None` without it, or after a mistake.
fn read_name(collector: &mut Collector, entries: &[Entry], context: &Surroundings<'_>) -> Option<String> {
    let entry = entries.iter().find(|entry| entry.key.text == "name")?;
    if context.clocks.is_none() {
        report_timed(collector, &entry.key.span, "names of transitions");
        return None;
    }
    let name = shape::scalar(collector, &entry.value, "`name`", "name: tr1")?;
    shape::is_name(collector, name, "transition").then(|| name.text.clone())
}

/// Reads the clocks under `reset:`, each once. Mistakes have been reported.
fn read_resets(collector: &mut Collector, entries: &[Entry], context: &Surroundings<'_>) -> Vec<Datum> {
    let Some(entry) = entries.iter().find(|entry| entry.key.text == "reset") else { return Vec::new() };
    let Some(clocks) = context.clocks else {
        report_timed(collector, &entry.key.span, "`reset`");
        return Vec::new();
    };
    let mut resets: Vec<Datum> = Vec::new();
    let like = &format!("reset: [{}]", clocks.first().map_or("wclock", Datum::name));
    let Some(items) = shape::list(collector, &entry.value, "`reset`", like) else { return resets };
    for item in items {
        let Some(scalar) = shape::scalar(collector, item, "a clock", like) else { continue };
        let name = scalar.text.as_str();
        match clocks.iter().find(|clock| clock.name() == name) {
            Some(clock) if resets.contains(clock) => {
                let message = format!("the clock `{name}` is reset twice");
                collector.error("duplicate-declaration", message, &scalar.span, "the second time");
            }
            Some(clock) => resets.push(clock.clone()),
            None => {
                let known = || clocks.iter().map(Datum::name);
                let (label, help) = match (context.names.get(name), collector.nearest(name, known())) {
                    (Some((Meaning::Observed(_), _)), _) => {
                        ("observed".to_owned(), "a purpose can reset only its own clocks".to_owned())
                    }
                    (Some((meaning, _)), _) => {
                        (article(&meaning.describe()), "reset only clocks, and assign data".to_owned())
                    }
                    (None, Some(similar)) => {
                        ("not declared".to_owned(), format!("did you mean `{similar}`?"))
                    }
                    (None, None) => ("not declared".to_owned(), inventory("clocks", known())),
                };
                let message = format!("`{name}` is not a clock that can be reset");
                collector.mistake("unknown-clock", message, &scalar.span, label, help);
            }
        }
    }
    resets
}

/// The nodes of the guard and of the assigned values.
fn written_expressions<'a>(
    when: Option<&'a Yaml>,
    assign: Option<&'a Yaml>,
) -> impl Iterator<Item = &'a Yaml> {
    let entries: &[Entry] = match assign.map(|node| &node.kind) {
        Some(NodeKind::Mapping(entries)) => entries,
        _ => &[],
    };
    when.into_iter().chain(entries.iter().map(|entry| entry.value.as_ref()))
}

/// Reads the guard and the assignments of a transition for one action, with their places.
fn read_guard_and_assignments(
    collector: &mut Collector,
    taken: &TakenAction<'_>,
    context: &Surroundings<'_>,
    when: Option<&Yaml>,
    assign: Option<&Yaml>,
) -> Option<(Term, Substitution, TransitionOrigin)> {
    let scope = Scope {
        names: context.names,
        parameters: &taken.parameters,
        action: Some(context.actions.actions[taken.action].name.as_str()),
        is_function: false,
    };
    let mut origin = TransitionOrigin { declared: context.names.declared.clone(), ..Default::default() };
    let guard = match when {
        None => Some(Term::yes()),
        Some(node) => {
            origin.guard = Some(collector.origin(&node.span));
            read_expression(collector, node, scope, &Type::Bool, "the guard")
        }
    };
    let assignments = match assign {
        None => Some(Substitution::new()),
        Some(node) => read_assignments(collector, node, scope, &mut origin),
    };
    Some((guard?, assignments?, origin))
}

/// Writes assignments such as `x = e; y = f` as a mapping, for a message. `None` for other texts.
fn rewrite_assignments(text: &str) -> Option<String> {
    let parts = text.split(';').filter(|part| !part.trim().is_empty());
    let write = |(name, value): (&str, String)| match value.contains([',', '{', '}', '[', ']', ':', '"', '#'])
    {
        true => format!("{}: '{}'", name.trim(), value.replace('\'', "''")),
        false => format!("{}: {}", name.trim(), value.trim()),
    };
    let entries: Option<Vec<String>> = parts.map(|part| split_assignment(part).map(write)).collect();
    entries.map(|entries| format!("assign: {{ {} }}", entries.join(", ")))
}

/// Reads `assign:`. Identities are left out.
fn read_assignments(
    collector: &mut Collector,
    node: &Yaml,
    scope: Scope<'_>,
    origin: &mut TransitionOrigin,
) -> Option<Substitution> {
    let own_example = node.as_scalar().and_then(|scalar| rewrite_assignments(&scalar.text));
    let like = own_example.as_deref().unwrap_or("assign: { vPaid: vPaid + pCoinValue }");
    let entries = shape::mapping(collector, node, "`assign`", like)?;
    let errors_before = collector.errors();
    shape::check_distinct(collector, entries, "assigned-twice", "variable");
    let mut assignments = Substitution::new();
    for entry in shape::first_entries(entries) {
        if collector.is_full() {
            break;
        }
        let name = entry.key.text.as_str();
        let target = match scope.names.get(name) {
            // The declaration has a mistake, which is reported there.
            Some((Meaning::Broken, _)) => continue,
            Some((Meaning::Variable(variable), _)) => {
                origin.assignments.insert(name.to_owned(), collector.origin(&entry.value.span));
                let whose = format!("the value of `{name}`");
                if let Some(value) = read_expression(collector, &entry.value, scope, variable.ty(), &whose)
                    && value != Term::datum(variable)
                {
                    assignments.insert(variable.clone(), value);
                }
                continue;
            }
            Some((meaning, first)) => Some((meaning.clone(), first.clone())),
            None => None,
        };
        if shape::is_cut(collector, entries, entry) {
            continue;
        }
        refuse_target(collector, entry, scope, target);
        // The value may have syntax mistakes of its own. Its type cannot be checked without a target.
        if let Some(scalar) = entry.value.as_scalar().filter(|_| !entry.value.is_nothing())
            && let Err(mistake) = crate::reader::parser::parse(&scalar.text, collector.limits.expression)
        {
            report(collector, scalar, *mistake);
        }
    }
    (collector.errors() == errors_before).then_some(assignments)
}

/// Splits an assignment of other languages into the variable and its value: `x = e`, `x += 1`, `x++`. `None`
/// for other texts.
fn split_assignment(text: &str) -> Option<(&str, String)> {
    for (sign, short) in [('+', "++"), ('-', "--")] {
        if let Some(name) = text.trim_end().strip_suffix(short).map(str::trim) {
            return Some((name, format!("{name} {sign} 1")));
        }
    }
    let (left, value) = text.split_once('=')?;
    let (left, value) = (left.trim_end_matches(['=', ':', ' ']), value.trim_start_matches(['=', ' ']));
    let Some(name) = left.strip_suffix(['+', '-', '*', '/']) else { return Some((left, value.to_owned())) };
    let sign = &left[name.len()..];
    Some((name.trim_end(), format!("{} {sign} {value}", name.trim_end())))
}

/// Reports why a name cannot be assigned. `target` is its meaning, and the place of its declaration.
fn refuse_target(
    collector: &mut Collector,
    entry: &Entry,
    scope: Scope<'_>,
    target: Option<(Meaning, Option<crate::diagnostic::Origin>)>,
) {
    let name = entry.key.text.as_str();
    let place = collector.origin(&entry.key.span);
    let is_parameter = scope.parameters.iter().any(|(known, _)| known == name);
    let refuse = |code, message: String| Diagnostic::error(code, message).at(place.clone(), "assigned here");
    let diagnostic = match target {
        Some((Meaning::Constant(_), first)) => {
            let message = format!("`{name}` is a constant and cannot be assigned");
            refuse("assignment-to-constant", message)
                .at(first, "declared here")
                .help("declare it under `variables:` if it changes during a run")
        }
        Some((Meaning::Observed(_), first)) => {
            let message =
                format!("`{name}` belongs to the specification: a purpose can observe it but not assign it");
            refuse("assignment-to-observed", message)
                .at(first, "observed here")
                .help("declare a variable of the purpose and assign that")
        }
        Some((Meaning::Clock(_), first)) => {
            refuse("assignment-to-clock", format!("`{name}` is a clock and cannot be assigned"))
                .at(first, "declared here")
                .help(format!("`reset: [{name}]` sets it back to 0"))
        }
        Some((meaning, first)) => {
            let message = format!("`{name}` is {} and cannot be assigned", article(&meaning.describe()));
            refuse("assignment-to-literal", message).at(first, "declared here")
        }
        None if is_parameter => {
            let message = format!("`{name}` is a parameter of the message and cannot be assigned");
            refuse("assignment-to-parameter", message)
                .help("say in a guard such as `p == e` which value a message carries")
        }
        None => {
            let is_variable = |(_, meaning): &(&str, &Meaning)| matches!(meaning, Meaning::Variable(_));
            let variables: Vec<&str> = scope.names.iter().filter(is_variable).map(|(name, _)| name).collect();
            let elsewhere = scope.names.elsewhere(name);
            let help = match (collector.nearest(name, variables.iter().copied()), elsewhere) {
                _ if name.contains(['.', '[']) && !name.contains('=') => {
                    "assign the whole variable: `r: \"r with { field: e }\"`, `q: \"q[i := e]\"`, or `q: \"q + [e]\"` to add an element".to_owned()
                }
                _ if let Some((target, value)) = split_assignment(name) => {
                    format!("write the new value of a variable after `:`, as in `{target}: {value}`")
                }
                (_, Some(meaning)) if meaning.contains("of the specification") => {
                    "a purpose can assign only its own variables".to_owned()
                }
                (_, Some(meaning)) if meaning.contains("an action") => {
                    format!("say under `when:` which values `{name}` carries: `p == e`")
                }
                (Some(similar), _) => format!("did you mean `{similar}`?"),
                (None, _) if variables.is_empty() => {
                    format!("there are no variables: declare `{name}` under `variables:`")
                }
                (None, _) => inventory("variables", variables),
            };
            let label = elsewhere.unwrap_or("not declared");
            Diagnostic::error("unknown-variable", format!("unknown variable `{name}`"))
                .at(place, label)
                .help(help)
        }
    };
    collector.push(diagnostic);
}
