//! The action of a transition, or in a purpose its set of actions.
//!
//! **Sets** are a way to write, and no stage knows them: a transition on a set becomes one for each of its
//! actions, in the order in which the specification declares them, or that of the list. So completion,
//! product and all later stages see the transitions that the user would have written by hand. `"*"` is every
//! visible action. An action stays in the set if another transition of the location has it, too.
//!
//! A guard and the assigned values are read once for each action, with the parameters of that action: a
//! parameter that they mention must belong to all actions. A list may rename the parameters of its actions:
//! `[Coin(n), Return(n)]`.
//!
//! Internal actions are in a set only if a list names them, since nobody sees them. Quiescence is in a set
//! only if a list names it, since it means that nothing happens.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::data::Datum;
use crate::diagnostic::Diagnostic;
use crate::iosts::{Action, ActionId, ActionKind};
use crate::reader::collect::{Collector, article, inventory, listed};
use crate::reader::declarations::Actions;
use crate::reader::lexer::{Token, TokenKind as Lexeme, tokens};
use crate::reader::parser::{Mistake, Parser};
use crate::reader::scope::Meaning;
use crate::reader::shape;
use crate::reader::surroundings::Surroundings;
use crate::reader::typing::report;
use crate::reader::yaml::{NodeKind, Scalar, Yaml};

/// The word for every visible action.
const EVERY: &str = "*";
/// The keys of a set that is described by its kind.
const KEYS: [&str; 2] = ["any", "not"];
const EXAMPLE_OF_KIND: &str = "on: { any: output, not: [Return] }";

#[derive(Debug)]
pub(super) struct TakenAction<'a> {
    pub action: ActionId,
    /// Its parameters under the names that the transition gives them.
    pub parameters: Cow<'a, [Parameter]>,
    /// The place of the action's name, or of the set.
    pub place: Range<usize>,
}

/// Reads `on:`. Returns at least one action, or `None` after mistakes, which have been reported. `example` is
/// shown in the message about a wrong form.
pub(super) fn read_on<'a>(
    collector: &mut Collector,
    node: &Yaml,
    context: &Surroundings<'a>,
    example: &str,
) -> Option<Vec<TakenAction<'a>>> {
    let is_set = match &node.kind {
        NodeKind::Scalar(scalar) => scalar.text.trim() == EVERY,
        NodeKind::Sequence(_) | NodeKind::Mapping(_) => true,
    };
    if !is_set {
        let scalar = shape::scalar(collector, node, "`on`", example)?;
        let (action, parameters) = read_action(collector, scalar, context)?;
        return Some(vec![TakenAction { action, parameters, place: scalar.span.clone() }]);
    }
    if !context.takes_sets {
        let message = "a transition of a specification has only one action";
        let help = "only a purpose takes a set of actions: write a transition for each action";
        collector.mistake("set-in-specification", message, &node.head(), "a set of actions", help);
        return None;
    }
    let taken = match &node.kind {
        // `"*"`
        NodeKind::Scalar(_) => list_visible_actions(node, context.actions, |_, _| true),
        NodeKind::Sequence(items) => read_list_of_actions(collector, items, context)?,
        // `{ any: output, not: [Return] }`
        NodeKind::Mapping(_) => read_any_except(collector, node, context.actions)?,
    };
    if taken.is_empty() {
        let visible = context.actions.actions.iter().filter(|action| is_of_sets(action));
        let help = inventory("inputs and outputs", visible.map(|action| action.name.as_str()));
        let message = "no action is in this set, so the transition is never taken";
        collector.mistake("empty-set", message, &node.span, "nothing", help);
        return None;
    }
    Some(taken)
}

/// Reads `[Coin, Return(n)]`. `None` after a mistake.
fn read_list_of_actions<'a>(
    collector: &mut Collector,
    items: &[Arc<Yaml>],
    context: &Surroundings<'a>,
) -> Option<Vec<TakenAction<'a>>> {
    let errors_before = collector.errors();
    let mut taken: Vec<TakenAction<'a>> = Vec::new();
    let mut seen = HashSet::new();
    for item in items {
        if collector.is_full() {
            break;
        }
        let Some(scalar) = shape::scalar(collector, item, "an action of a list", "on: [Coin, Cancel]") else {
            continue;
        };
        let Some((action, parameters)) = read_action(collector, scalar, context) else { continue };
        if seen.insert(action) {
            taken.push(TakenAction { action, parameters, place: scalar.span.clone() });
        } else {
            let message = format!("`{}` is named twice", context.actions.actions[action].name);
            let help = "a list means one of these; for twice, write two transitions, one after the other";
            collector.mistake("named-twice", message, &scalar.span, "the second time", help);
        }
    }
    (collector.errors() == errors_before).then_some(taken)
}

/// May the action be in a set that does not name it?
fn is_of_sets(action: &Action) -> bool {
    matches!(action.kind, ActionKind::Input | ActionKind::Output)
}

/// Lists the visible actions for which `is_meant` holds, each with its declared parameters.
fn list_visible_actions<'a>(
    node: &Yaml,
    actions: &'a Actions,
    is_meant: impl Fn(ActionId, ActionKind) -> bool,
) -> Vec<TakenAction<'a>> {
    let mut taken = Vec::new();
    for (action, Action { kind, .. }) in actions.actions.numbered().filter(|(_, action)| is_of_sets(action)) {
        if is_meant(action, *kind) {
            let parameters = Cow::Borrowed(actions.parameters[action].as_slice());
            taken.push(TakenAction { action, parameters, place: node.span.clone() });
        }
    }
    taken
}

/// Reads a set that is described by its kind: `{ any: output, not: [Return] }`.
fn read_any_except<'a>(
    collector: &mut Collector,
    node: &Yaml,
    actions: &'a Actions,
) -> Option<Vec<TakenAction<'a>>> {
    let errors_before = collector.errors();
    let entries = shape::mapping(collector, node, "`on`", EXAMPLE_OF_KIND)?;
    shape::check_keys(collector, entries, &KEYS, "a set of actions");
    if entries.is_empty() {
        shape::missing_key(collector, node, "any", "the set of actions", EXAMPLE_OF_KIND);
    }
    let kind = shape::get(entries, "any").and_then(|node| {
        let scalar = shape::scalar(collector, node, "`any`", "any: output")?;
        match scalar.text.as_str() {
            "input" => Some(ActionKind::Input),
            "output" => Some(ActionKind::Output),
            other => {
                let help = collector.suggest(other, "kinds", || ["input", "output"]);
                let message = format!("`{other}` is not a kind of action");
                collector.mistake("unknown-kind", message, &scalar.span, "neither inputs nor outputs", help);
                None
            }
        }
    });
    let mut excluded = HashSet::new();
    if let Some(node) = shape::get(entries, "not") {
        // One name needs no list.
        let items: Vec<&Yaml> = match &node.kind {
            NodeKind::Sequence(items) => items.iter().map(AsRef::as_ref).collect(),
            _ => vec![node],
        };
        for item in items {
            if collector.is_full() {
                break;
            }
            let Some(scalar) = shape::scalar(collector, item, "an action of `not`", "not: [Coin, Cancel]")
            else {
                continue;
            };
            let Some(action) = actions.find(&scalar.text) else {
                report_unknown_action(collector, &scalar.text, &scalar.span, actions);
                continue;
            };
            if !excluded.insert(action) {
                let message = format!("`{}` is named twice", scalar.text);
                collector.error("named-twice", message, &scalar.span, "the second time");
                continue;
            }
            let own_kind = actions.actions[action].kind;
            let is_in_set = is_of_sets(&actions.actions[action]) && kind.is_none_or(|kind| kind == own_kind);
            if !is_in_set {
                let reason = match kind {
                    Some(ActionKind::Input) => "not an input",
                    Some(ActionKind::Output) => "not an output",
                    _ if own_kind == ActionKind::Internal => "internal",
                    _ => "neither input nor output",
                };
                let message = format!("`{}` is {reason}, so the set does not contain it", scalar.text);
                let warning = Diagnostic::warning("left-out-in-vain", message);
                collector.push(warning.at(collector.origin(&scalar.span), "changes nothing"));
            }
        }
    }
    if collector.errors() > errors_before {
        return None;
    }
    Some(list_visible_actions(node, actions, |id, own_kind| {
        kind.is_none_or(|kind| kind == own_kind) && !excluded.contains(&id)
    }))
}

/// Reports the parameters that an expression mentions and that some, but not all, of the actions carry.
pub(super) fn refuse_partial_parameters(
    collector: &mut Collector,
    node: &Yaml,
    taken: &[TakenAction<'_>],
    context: &Surroundings<'_>,
) {
    let Some(scalar) = node.as_scalar() else { return };
    let tokens = tokens(&scalar.text);
    let mut seen = HashSet::new();
    for (number, token) in tokens.iter().enumerate() {
        let Lexeme::Name(name) = &token.kind else { continue };
        // After a point, or before a colon, the name is a field of a record. Before a bracket it is a
        // function.
        let is_after_point = number > 0 && scalar.text[..token.span.start].trim_end().ends_with('.');
        let next = tokens.get(number + 1).map(|next| &next.kind);
        let is_datum = !is_after_point && !matches!(next, Some(Lexeme::Sign("(" | ":")));
        if !is_datum || context.names.get(name).is_some() || !seen.insert(name.as_str()) {
            continue;
        }
        let lacks = |taken: &&TakenAction<'_>| taken.parameters.iter().all(|(known, _)| known != name);
        let lacking: Vec<&TakenAction<'_>> = taken.iter().filter(lacks).collect();
        if lacking.is_empty() || lacking.len() == taken.len() {
            continue;
        }
        let names = lacking.iter().map(|taken| context.actions.actions[taken.action].name.as_str());
        let message = format!("`{name}` is not a parameter of {}", listed(names));
        let diagnostic = Diagnostic::error("parameter-not-of-all", message)
            .at(collector.origin(&scalar.place(&token.span)), "not every action of this set has it")
            .help("all actions of the set must have the parameter: take the others out, or give them a transition of their own");
        collector.push(diagnostic);
    }
}

/// Does the expression mention a parameter of the action?
pub(super) fn mentions_parameter(node: &Yaml, taken: &TakenAction<'_>) -> bool {
    let Some(scalar) = node.as_scalar() else { return false };
    let is_parameter = |token: &Token| match &token.kind {
        Lexeme::Name(name) => taken.parameters.iter().any(|(known, _)| known == name),
        _ => false,
    };
    tokens(&scalar.text).iter().any(is_parameter)
}

/// Reports an unknown action, with a similar name or all names.
fn report_unknown_action(collector: &mut Collector, name: &str, place: &Range<usize>, actions: &Actions) {
    let help = match collector.nearest(name, actions.actions.iter().map(|action| action.name.as_str())) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => {
            let declared = actions.actions.iter().filter(|action| action.kind != ActionKind::Quiescence);
            inventory("actions", declared.map(|action| action.name.as_str()))
        }
    };
    let label = "not declared as input, output or internal";
    collector.mistake("unknown-action", format!("unknown action `{name}`"), place, label, help);
}

/// A parameter under the name that the transition gives it, without a datum if its type is broken.
pub(super) type Parameter = (String, Option<Datum>);

/// Reads `Coin` or `Coin(p)`: the action's number, and its parameters under the names that the transition
/// gives them.
fn read_action<'a>(
    collector: &mut Collector,
    on: &Scalar,
    context: &Surroundings<'a>,
) -> Option<(ActionId, Cow<'a, [Parameter]>)> {
    let parts = split_on(on).map_err(|mistake| report(collector, on, *mistake)).ok()?;
    let OnText { name, name_span, renamed } = parts;
    let actions = context.actions;
    let Some(number) = actions.find(&name) else {
        report_unknown_action(collector, &name, &on.place(&name_span), actions);
        return None;
    };
    let declared = &actions.parameters[number];
    let Some(renamed) = renamed else { return Some((number, Cow::Borrowed(declared))) };
    if renamed.len() != declared.len() {
        let names: Vec<&str> = declared.iter().map(|(name, _)| name.as_str()).collect();
        let is_internal = actions.actions[number].kind == ActionKind::Internal;
        let (code, message) = if is_internal {
            ("internal-with-parameters", format!("the internal action `{name}` carries no parameters"))
        } else {
            let has = count_text(declared.len(), "parameter");
            ("wrong-arity", format!("`{name}` has {has}, but {} here", count_named_text(renamed.len())))
        };
        let mut diagnostic = Diagnostic::error(code, message)
            .at(collector.origin(&on.span), format!("expected {}", count_text(declared.len(), "name")))
            .at(actions.origins[number].clone(), "declared here");
        if !names.is_empty() {
            diagnostic = diagnostic.help(inventory(&format!("parameters of `{name}`"), names));
        }
        collector.push(diagnostic);
    }
    warn_of_permuted(collector, on, &name, declared, &renamed);
    let mut parameters = Vec::new();
    let mut seen = HashSet::new();
    for (position, (parameter, at)) in renamed.into_iter().enumerate() {
        if collector.is_full() {
            break;
        }
        let place = on.place(&at);
        let scalar = Scalar::made(parameter.clone(), place.clone());
        if !shape::is_name(collector, &scalar, "parameter") {
            continue;
        }
        if !seen.insert(parameter.clone()) {
            let message = format!("`{parameter}` names two parameters of one message");
            collector.error("duplicate-declaration", message, &place, "named before");
        }
        if let Some((meaning, first)) = context.names.get(&parameter) {
            let message =
                format!("the parameter `{parameter}` has the name of {}", article(&meaning.describe()));
            let sign = if matches!(meaning, Meaning::Alternative(..)) { "is" } else { "==" };
            let diagnostic = Diagnostic::error("parameter-clash", message)
                .at(collector.origin(&place), "the parameter")
                .at(first.clone(), "declared here")
                .help(format!(
                    "rename the parameter; if it must equal `{parameter}`, write `on: NAME(p)` and `when: p {sign} {parameter}`"
                ));
            collector.push(diagnostic);
        }
        parameters.push((parameter, declared.get(position).and_then(|(_, datum)| datum.clone())));
    }
    Some((number, Cow::Owned(parameters)))
}

/// Warns of a parameter that gets the declared name of another one.
fn warn_of_permuted(
    collector: &mut Collector,
    on: &Scalar,
    action: &str,
    declared: &[Parameter],
    renamed: &[(String, Range<usize>)],
) {
    let mut moved = Vec::new();
    for ((new, _), (old, _)) in renamed.iter().zip(declared) {
        if new != old && declared.iter().any(|(name, _)| name == new) {
            moved.push(format!("`{new}` is the parameter `{old}`"));
        }
    }
    if moved.is_empty() {
        return;
    }
    let names: Vec<&str> = declared.iter().map(|(name, _)| name.as_str()).collect();
    let message = format!("here {}: names in `on` rename by position", moved.join(" and "));
    let help = format!("write `on: {action}`, or keep the order: `on: {action}({})`", names.join(", "));
    let warning = Diagnostic::warning("permuted-parameters", message);
    collector.push(warning.at(collector.origin(&on.span), "another order than declared").help(help));
}

/// `no parameters`, `1 parameter`, `2 parameters`
fn count_text(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

fn count_named_text(count: usize) -> String {
    match count {
        0 => "none is named".to_owned(),
        1 => "1 is named".to_owned(),
        _ => format!("{count} are named"),
    }
}

/// The text of `on:`: the action with its place, and the new names of its parameters with theirs.
struct OnText {
    name: String,
    name_span: Range<usize>,
    /// `None` without brackets: then the parameters keep their names.
    renamed: Option<Vec<(String, Range<usize>)>>,
}

/// Parses `Coin` or `Coin(p)`.
fn split_on(on: &Scalar) -> Result<OnText, Box<Mistake>> {
    let tokens = tokens(&on.text);
    let mut cursor = Parser::new(&tokens, &on.text);
    let (name, name_span) = cursor.take_name("an action's name").map_err(|mut mistake| {
        if on.text.starts_with(['?', '!']) {
            mistake.help = Some("write the name alone: `inputs` and `outputs` give its direction".to_owned());
        }
        mistake
    })?;
    let explain = |mut mistake: Box<Mistake>| {
        let parts = &on.text[name_span.end..];
        let help = match parts.matches('(').count() {
            _ if parts.contains(':') => format!("the types are declared with the action: write `on: {name}`"),
            0 | 1 => format!("write a condition in the guard: `on: {name}` and `when: p == ...`"),
            _ => format!(
                "`on` only names parameters: write `on: {name}` and `when: (match p: A(x) -> x > 0 | _ -> false)`, where `p` is the parameter"
            ),
        };
        mistake.help.get_or_insert(help);
        mistake
    };
    let mut renamed = None;
    if cursor.eat("(").is_some() {
        let mut names = Vec::new();
        if cursor.eat(")").is_none() {
            loop {
                names.push(cursor.take_name("a name for the parameter").map_err(explain)?);
                if cursor.eat(",").is_none() {
                    cursor.need(")", "after the parameters' names").map_err(explain)?;
                    break;
                }
            }
        }
        renamed = Some(names);
    }
    let Some(token) = cursor.peek() else { return Ok(OnText { name, name_span, renamed }) };
    let mut mistake = cursor.expected("the end of the action");
    let help = match token.kind {
        Lexeme::Sign("/") => {
            "an input and its answer are two transitions with a location between them: \
             `{ from: A, to: B, on: INPUT }` and `{ from: B, to: A, on: ANSWER }`"
        }
        Lexeme::Sign("|" | "||" | ",") => {
            "one transition has one action: write a transition for each; a purpose also takes a list, \
             `on: [A, B]`"
        }
        _ => "write an action under `on:`, as `Coin` or `Coin(p)`, and a condition under `when:`",
    };
    // `Coin?` is no conditional.
    mistake.help = mistake.help.filter(|_| !mistake.message.starts_with("`?`"));
    mistake.help.get_or_insert_with(|| help.to_owned());
    Err(mistake)
}
