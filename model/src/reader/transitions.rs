//! The transitions of a specification or of a purpose.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::data::Datum;
use crate::diagnostic::Diagnostic;
use crate::iosts::{ActionId, ActionKind, Transition, TransitionId, TransitionOrigin};
use crate::numbered::Numbered;
use crate::reader::collect::{Collector, article, inventory};
use crate::reader::declarations::{Actions, Locations};
use crate::reader::lexer::{Kind as Lexeme, Token, tokens};
use crate::reader::parser::{Mistake, Parser};
use crate::reader::scope::{Meaning, Names, Scope};
use crate::reader::shape;
use crate::reader::types::timed;
use crate::reader::typing::{read_expression, report};
use crate::reader::yaml::{Entry, Kind, Node, Scalar};
use crate::term::{Substitution, Term};
use crate::types::Type;

const KEYS: [&str; 5] = ["from", "to", "on", "when", "assign"];
const LIKE: &str = "{ from: Idle, to: Pay, on: Coin, when: pCoinValue > 0 }";

/// Where the parts of a transition stand, for checks of the whole model.
#[derive(Clone, Debug)]
pub struct Places {
    /// The source's name.
    pub from: Range<usize>,
    /// The action.
    pub on: Range<usize>,
    /// The target's name.
    pub to: Range<usize>,
}

/// What a transition is read against.
#[derive(Debug)]
pub struct Context<'a> {
    /// Data and literals.
    pub names: &'a Names,
    /// Σ
    pub actions: &'a Actions,
}

/// Reads `transitions:`. Those with a mistake are left out; the mistakes have been reported.
pub fn read_transitions(
    collector: &mut Collector,
    entries: &[Entry],
    context: &Context<'_>,
    locations: &mut Locations,
) -> (Numbered<TransitionId, Transition>, Numbered<TransitionId, Places>) {
    let (mut transitions, mut places) = (Numbered::new(), Numbered::new());
    let Some(node) = shape::get(entries, "transitions") else { return (transitions, places) };
    let like = format!("transitions: [{LIKE}]");
    let Some(items) = shape::list(collector, node, "`transitions`", &like) else {
        return (transitions, places);
    };
    for item in items {
        if collector.is_full() {
            break;
        }
        if let Some((transition, at)) = read_transition(collector, item, context, locations) {
            transitions.push(transition);
            places.push(at);
        }
    }
    (transitions, places)
}

fn read_transition(
    collector: &mut Collector,
    node: &Node,
    context: &Context<'_>,
    locations: &mut Locations,
) -> Option<(Transition, Places)> {
    let Kind::Mapping(entries) = &node.kind else {
        shape::wrong_kind(collector, node, "a transition", "a mapping", LIKE);
        return None;
    };
    if let Some(entry) = entries.iter().find(|entry| entry.key.text == "reset") {
        timed(collector, &entry.key.span, "`reset`");
    }
    if shape::get(entries, "on").is_none()
        && let Some(entry) = entries.iter().find(|entry| entry.key.text == "true")
    {
        let diagnostic = Diagnostic::error(
            "unknown-key",
            "unknown key `true` in a transition: this was `on` once",
        )
        .at(collector.origin(&entry.key.span), "unknown key")
        .help(
            "a YAML 1.1 program takes `on` for `true` and wrote it so: write `\"on\"`, which all understand",
        );
        collector.push(diagnostic);
        return None;
    }
    shape::check_keys_beside(collector, entries, &KEYS, &["reset"], "a transition");
    let place = |collector: &mut Collector, key: &str| {
        let Some(value) = shape::get(entries, key) else {
            shape::missing_key(collector, node, key, "the transition", LIKE);
            return None;
        };
        shape::scalar(collector, value, &format!("`{key}`"), LIKE)
    };
    let from = place(collector, "from");
    let to = place(collector, "to");
    let on = place(collector, "on");
    let source = from.and_then(|name| locations.named(collector, name));
    let target = to.and_then(|name| locations.named(collector, name));
    let (action, parameters) = read_action(collector, on?, context)?;
    let scope = Scope {
        names: context.names,
        parameters: &parameters,
        action: Some(context.actions.actions[action].name.as_str()),
    };
    let mut origin = TransitionOrigin { whole: Some(collector.origin(&node.span)), ..Default::default() };
    let guard = match shape::get(entries, "when") {
        None => Some(Term::yes()),
        Some(node) => {
            origin.guard = Some(collector.origin(&node.span));
            read_expression(collector, node, scope, &Type::Bool, "the guard")
        }
    };
    let assignments = match shape::get(entries, "assign") {
        None => Some(Substitution::new()),
        Some(node) => read_assignments(collector, node, scope, &mut origin),
    };
    let places = Places { from: from?.span.clone(), on: on?.span.clone(), to: to?.span.clone() };
    let transition = Transition {
        source: source?,
        action,
        guard: guard?,
        assignments: assignments?,
        target: target?,
        origin,
    };
    Some((transition, places))
}

/// A parameter under the name that the transition gives it; without a datum where its type is broken.
type Parameter = (String, Option<Datum>);

/// `Coin` or `Coin(p)`: the action's number, and its parameters under the names that the transition gives them.
fn read_action<'a>(
    collector: &mut Collector,
    on: &Scalar,
    context: &Context<'a>,
) -> Option<(ActionId, Cow<'a, [Parameter]>)> {
    let (name, name_at, renamed) = match split(on) {
        Ok(parts) => parts,
        Err(mistake) => {
            report(collector, on, *mistake);
            return None;
        }
    };
    let actions = context.actions;
    let Some(number) = actions.find(&name) else {
        let known = || actions.actions.iter().map(|action| action.name.as_str());
        let help = match collector.nearest(&name, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => inventory("actions", known()),
        };
        let diagnostic = Diagnostic::error("unknown-action", format!("unknown action `{name}`"))
            .at(collector.origin(&on.place(&name_at)), "not declared as input, output or internal")
            .help(help);
        collector.push(diagnostic);
        return None;
    };
    let declared = &actions.parameters[number];
    let Some(renamed) = renamed else { return Some((number, Cow::Borrowed(declared))) };
    if renamed.len() != declared.len() {
        let names: Vec<&str> = declared.iter().map(|(name, _)| name.as_str()).collect();
        let internal = actions.actions[number].kind == ActionKind::Internal;
        let (code, message) = if internal {
            ("internal-with-parameters", format!("the internal action `{name}` carries no parameters"))
        } else {
            let message = format!(
                "`{name}` has {}, but {} here",
                counted(declared.len(), "parameter"),
                named(renamed.len())
            );
            ("wrong-arity", message)
        };
        let mut diagnostic = Diagnostic::error(code, message)
            .at(collector.origin(&on.span), format!("expected {}", counted(declared.len(), "name")))
            .at(actions.origins[number].clone(), "declared here");
        if !names.is_empty() {
            diagnostic = diagnostic.help(inventory(&format!("parameters of `{name}`"), names));
        }
        collector.push(diagnostic);
    }
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
            let diagnostic = Diagnostic::error("parameter-clash", message)
                .at(collector.origin(&place), "the parameter")
                .at(first.clone(), "declared here")
                .help("rename the parameter: a guard could not tell them apart");
            collector.push(diagnostic);
        }
        parameters.push((parameter, declared.get(position).and_then(|(_, datum)| datum.clone())));
    }
    Some((number, Cow::Owned(parameters)))
}

fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

fn named(count: usize) -> String {
    match count {
        0 => "none is named".to_owned(),
        1 => "1 is named".to_owned(),
        _ => format!("{count} are named"),
    }
}

type Split = (String, Range<usize>, Option<Vec<(String, Range<usize>)>>);

fn split(on: &Scalar) -> Result<Split, Box<Mistake>> {
    let tokens = tokens(&on.text);
    let mut cursor = Parser::new(&tokens, &on.text);
    let (name, at) = take_name(&mut cursor, "an action's name")?;
    let mut renamed = None;
    if cursor.eat("(").is_some() {
        let mut names = Vec::new();
        if cursor.eat(")").is_none() {
            loop {
                names.push(take_name(&mut cursor, "a name for the parameter")?);
                if cursor.eat(",").is_none() {
                    cursor.need(")", "after the parameters' names")?;
                    break;
                }
            }
        }
        renamed = Some(names);
    }
    match cursor.peek() {
        None => Ok((name, at, renamed)),
        Some(_) => {
            let mut mistake = cursor.expected("the end of the action");
            if mistake.help.is_none() {
                mistake.help = Some(
                    "`on:` holds an action, `Coin` or `Coin(p)`; a condition stands under `when:`".to_owned(),
                );
            }
            Err(mistake)
        }
    }
}

fn take_name(cursor: &mut Parser<'_>, what: &str) -> Result<(String, Range<usize>), Box<Mistake>> {
    match cursor.peek() {
        Some(Token { kind: Lexeme::Name(name), span }) => {
            cursor.take();
            Ok((name.clone(), span.clone()))
        }
        _ => Err(cursor.expected(what)),
    }
}

fn read_assignments(
    collector: &mut Collector,
    node: &Node,
    scope: Scope<'_>,
    origin: &mut TransitionOrigin,
) -> Option<Substitution> {
    let entries = shape::mapping(collector, node, "`assign`", "assign: { vPaid: vPaid + pCoinValue }")?;
    let before = collector.errors();
    shape::check_distinct(collector, entries, "assigned-twice", "variable");
    let mut assignments = Substitution::new();
    for entry in shape::first_entries(entries) {
        if collector.is_full() {
            break;
        }
        let name = entry.key.text.as_str();
        let what = match scope.names.get(name) {
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
        refuse_target(collector, entry, scope, what);
        // The value may hold mistakes of its own; without a target, any type will do.
        if let Some(scalar) = entry.value.as_scalar()
            && let Err(mistake) = crate::reader::parser::parse(&scalar.text, collector.limits.expression)
        {
            report(collector, scalar, *mistake);
        }
    }
    (collector.errors() == before).then_some(assignments)
}

fn refuse_target(
    collector: &mut Collector,
    entry: &Entry,
    scope: Scope<'_>,
    what: Option<(Meaning, Option<crate::diagnostic::Origin>)>,
) {
    let name = entry.key.text.as_str();
    let at = collector.origin(&entry.key.span);
    let is_parameter = scope.parameters.iter().any(|(known, _)| known == name);
    let diagnostic = match what {
        Some((Meaning::Constant(_), first)) => Diagnostic::error(
            "assignment-to-constant",
            format!("`{name}` is a constant and is never assigned"),
        )
        .at(at, "assigned here")
        .at(first, "declared here")
        .help("declare it under `variables:` if it changes during a run"),
        Some((Meaning::Observed(_), first)) => {
            let message =
                format!("`{name}` belongs to the specification: a purpose observes it and may not assign it");
            Diagnostic::error("assignment-to-observed", message)
                .at(at, "assigned here")
                .at(first, "observed here")
                .help("keep what the purpose remembers in a variable of its own")
        }
        Some((meaning, first)) => {
            let message = format!("`{name}` is {} and cannot be assigned", article(&meaning.describe()));
            Diagnostic::error("assignment-to-literal", message)
                .at(at, "assigned here")
                .at(first, "declared here")
        }
        None if is_parameter => {
            let message = format!("`{name}` is a parameter of the message and cannot be assigned");
            let diagnostic = Diagnostic::error("assignment-to-parameter", message).at(at, "assigned here");
            diagnostic.help("a guard such as `p == e` says which value a message carries")
        }
        None => {
            let variables: Vec<&str> = scope
                .names
                .iter()
                .filter(|(_, meaning)| matches!(meaning, Meaning::Variable(_)))
                .map(|(name, _)| name)
                .collect();
            let help = match (collector.nearest(name, variables.iter().copied()), scope.names.elsewhere(name))
            {
                (_, Some(what)) if what.contains("of the specification") => {
                    "a purpose assigns only variables of its own".to_owned()
                }
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, _) => inventory("variables", variables),
            };
            let label = scope.names.elsewhere(name).unwrap_or("not declared").to_owned();
            Diagnostic::error("unknown-variable", format!("unknown variable `{name}`"))
                .at(at, label)
                .help(help)
        }
    };
    collector.push(diagnostic);
}
