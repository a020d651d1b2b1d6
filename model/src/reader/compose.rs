//! A specification from parts: a file with `compose:` in place of data, actions and transitions.
//!
//! The parts are files of their own. Their mistakes are reported on their text. If the parts do not go
//! together, it is reported here, on the line that names the part. A part may be a composition itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::compose::{Incompatible, MOST, Unhidden};
use crate::data::Datum;
use crate::diagnostic::{Diagnostic, Origin};
use crate::iosts::Iosts;
use crate::reader::collect::Collector;
use crate::reader::graph::check_livelocks;
use crate::reader::imports::{DEEPEST, imported_nodes, open_named_file};
use crate::reader::scope::NamedExpression;
use crate::reader::specification::{Specification, TimedPart, read_nested};
use crate::reader::yaml::{Entry, NodeKind, Yaml};
use crate::reader::{lexer, shape, yaml};
use crate::term::{Substitution, Term, substitute};
use crate::timed::composed::ComposedPart;
use crate::types::Type;

const LIKE: &str = "compose: [shop.yaml, warehouse.yaml]";

/// The keys of a file with `compose:`.
pub(super) const KEYS: [&str; 3] = ["iosts", "compose", "hide"];

struct Part {
    graph: ComposedPart,
    types: Vec<(String, Type)>,
    functions: Vec<NamedExpression>,
    origin: Origin,
}

/// Reads a composition, with its clocks and uncontrollable inputs. `depth` counts the compositions around it,
/// and its parts have clocks only if it `may_be_timed`. `None` after mistakes, which have been reported.
pub(super) fn read_composition(
    collector: &mut Collector,
    entries: &[Entry],
    name: &str,
    (depth, may_be_timed): (usize, bool),
) -> Option<(Specification, TimedPart)> {
    shape::check_keys(collector, entries, &KEYS, "a composition");
    let node = shape::get(entries, "compose")?;
    let items = shape::list(collector, node, "`compose`", LIKE)?;
    if items.is_empty() {
        collector.error("no-parts", "a composition needs parts", &node.head(), "expected at least one file");
        return None;
    }
    if depth >= DEEPEST {
        let message = format!("compositions are nested more than {DEEPEST} deep");
        collector.error("too-deep", message, &node.head(), "does it contain itself?");
        return None;
    }
    let errors_before = collector.errors();
    let parts: Vec<Part> =
        items.iter().filter_map(|item| read_part(collector, item, depth, may_be_timed)).collect();
    if collector.errors() > errors_before {
        return None;
    }
    let mut parts = parts.into_iter();
    let first = parts.next()?;
    let Part { graph: mut whole, mut types, mut functions, .. } = first;
    name.clone_into(&mut whole.iosts.name);
    for part in parts {
        add_types(collector, &mut types, &part);
        add_functions(collector, &mut functions, &part);
        match whole.with(name, &part.graph) {
            Ok(composed) => whole = composed,
            Err(reasons) => {
                reasons.iter().for_each(|reason| report_incompatible(collector, reason, &part));
                return None;
            }
        }
    }
    let hidden = read_hide(collector, entries, &whole.iosts);
    let with_hidden = whole.hiding(&hidden).map_err(|reasons| {
        reasons.iter().for_each(|reason| report_unhidden(collector, reason, &whole.iosts, entries));
    });
    let (whole, clocks, uncontrollable) = with_hidden.ok()?.apart();
    // The parts have no livelocks, but hidden messages between them may form one.
    let place = |number| whole.transitions[number].origin.whole.clone();
    check_livelocks(collector, &whole, &place, "hide fewer actions: one of these steps must stay visible");
    let origin = shape::get(entries, "iosts").map(|node| collector.origin(&node.span));
    let iosts = Iosts { origin, ..whole };
    let specification = Specification { iosts, types, functions };
    (collector.errors() == errors_before).then_some((specification, (clocks, uncontrollable)))
}

/// Lists the files of the parts of a composition, of their parts, and imported files. A file that cannot be
/// read has none.
///
/// A part that does not exist is among them, since it may be created later.
pub fn parts(path: &Path) -> Vec<PathBuf> {
    let mut parts = Vec::new();
    let mut unvisited = vec![(path.to_owned(), 0)];
    while let Some((path, depth)) = unvisited.pop() {
        let Ok(file) = yaml::load(&path) else { continue };
        // Most specifications have neither word, and some are long.
        if !file.text.contains("compose") && !file.text.contains("import") {
            continue;
        }
        let mut collector = Collector::new(file);
        let Some(root) = yaml::parse(&mut collector) else { continue };
        let NodeKind::Mapping(entries) = &root.kind else { continue };
        let items = ["compose", "import"].into_iter().filter_map(|key| shape::get(entries, key));
        let folder = path.parent().unwrap_or(Path::new(""));
        for item in items.flat_map(imported_nodes) {
            let node = match &item.kind {
                NodeKind::Mapping(entries) => shape::get(entries, "model"),
                _ => Some(item),
            };
            let Some(scalar) = node.and_then(Yaml::as_scalar) else { continue };
            let part = folder.join(&scalar.text);
            if parts.contains(&part) {
                continue;
            }
            parts.push(part.clone());
            if depth + 1 < DEEPEST {
                unvisited.push((part, depth + 1));
            }
        }
    }
    parts
}

/// Reads one part with its file, and renames its names if the part says so.
fn read_part(collector: &mut Collector, item: &Yaml, depth: usize, may_be_timed: bool) -> Option<Part> {
    let (file, rename) = match &item.kind {
        NodeKind::Mapping(entries) => {
            shape::check_keys(collector, entries, &["model", "rename"], "a part");
            let like = "{ model: shop.yaml, rename: { Pay: PayBank } }";
            let model = shape::required(collector, item, entries, "model", "the part", like)?;
            (model, shape::get(entries, "rename"))
        }
        _ => (item, None),
    };
    let scalar = shape::scalar(collector, file, "a part", LIKE)?;
    let origin = collector.origin(&scalar.span);
    let file = open_named_file(collector, scalar, "the part")?;
    let result = read_nested(file, depth + 1, may_be_timed);
    let (specification, timed_part) = match result {
        Ok((read, warnings)) => {
            // An action that one part leaves unused belongs to another part.
            let shown = warnings.into_iter().filter(|warning| warning.code != "unused-action");
            shown.for_each(|warning| collector.push(warning));
            read
        }
        Err(findings) => {
            findings.into_iter().for_each(|finding| collector.push(finding));
            return None;
        }
    };
    let Specification { iosts, types, mut functions } = specification;
    let mut graph = ComposedPart::of(iosts, timed_part);
    if let Some(node) = rename {
        let names = read_renames(collector, node, &graph.iosts)?;
        let new_name = |name: &str| names.get(name).cloned().unwrap_or_else(|| name.to_owned());
        let new_clock = |clock: &Datum| Datum::new(new_name(clock.name()), clock.ty().clone());
        (graph.iosts, functions) = rename_all(&graph.iosts, &functions, &names);
        graph.clocks = graph.clocks.iter().map(new_clock).collect();
        graph.uncontrollable = graph.uncontrollable.iter().map(|name| new_name(name)).collect();
    }
    Some(Part { graph, types, functions, origin })
}

/// Reads the new names of actions, data and parameters of the part.
fn read_renames(collector: &mut Collector, node: &Yaml, iosts: &Iosts) -> Option<BTreeMap<String, String>> {
    let entries = shape::mapping(collector, node, "`rename`", "rename: { Pay: PayBank }")?;
    shape::check_distinct(collector, entries, "duplicate-key", "name");
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let parameters = iosts.actions.iter().flat_map(|action| &action.parameters);
    let data = iosts.variables.iter().chain(&iosts.constants).chain(parameters);
    let actions = iosts.actions.iter().map(|action| action.name.as_str());
    let known: Vec<&str> = actions.chain(data.map(Datum::name)).collect();
    let errors_before = collector.errors();
    for entry in shape::first_entries(entries) {
        let old = entry.key.text.as_str();
        if !known.contains(&old) {
            let known = || known.iter().copied();
            let help = collector.suggest(old, &format!("names of `{}`", iosts.name), known);
            let message = format!("`{}` has nothing called `{old}`", iosts.name);
            collector.mistake("unknown-name", message, &entry.key.span, "nothing to rename", help);
            continue;
        }
        let Some(new) = shape::scalar(collector, &entry.value, "the new name", "rename: { Pay: PayBank }")
        else {
            continue;
        };
        if !lexer::is_name(&new.text) || lexer::KEYWORDS.contains(&new.text.as_str()) {
            let message = format!("`{}` is not a name", new.text);
            collector.error("not-a-name", message, &new.span, "not a name");
        } else if known.contains(&new.text.as_str())
            && !entries.iter().any(|other| other.key.text == new.text)
        {
            // A known name is free if it is renamed, too.
            let message = format!("`{}` already has something called `{}`", iosts.name, new.text);
            collector.error("duplicate-name", message, &new.span, "two things would have this name");
        } else if names.values().any(|other| *other == new.text) {
            let message = format!("two things would be called `{}`", new.text);
            collector.error("duplicate-name", message, &new.span, "the second one");
        } else {
            names.insert(old.to_owned(), new.text.clone());
        }
    }
    (collector.errors() == errors_before).then_some(names)
}

/// Gives actions, data and parameters of a part, and the data in its functions, their new names.
fn rename_all(
    iosts: &Iosts,
    functions: &[NamedExpression],
    names: &BTreeMap<String, String>,
) -> (Iosts, Vec<NamedExpression>) {
    let new_name = |name: &str| names.get(name).cloned().unwrap_or_else(|| name.to_owned());
    let new_datum = |old: &Datum| Datum::new(new_name(old.name()), old.ty().clone());
    let parameters = iosts.actions.iter().flat_map(|action| &action.parameters);
    let data = iosts.variables.iter().chain(&iosts.constants).chain(parameters);
    let new_terms: Substitution = data.map(|old| (old.clone(), Term::datum(&new_datum(old)))).collect();
    let rename_places = |places: &BTreeMap<String, Origin>| -> BTreeMap<String, Origin> {
        places.iter().map(|(name, place)| (new_name(name), place.clone())).collect()
    };
    let mut renamed = iosts.clone();
    for datum in renamed.constants.iter_mut().chain(&mut renamed.variables) {
        *datum = new_datum(datum);
    }
    renamed.initial_condition = substitute(&iosts.initial_condition, &new_terms);
    for action in &mut renamed.actions {
        action.name = new_name(&action.name);
        action.parameters.iter_mut().for_each(|parameter| *parameter = new_datum(parameter));
    }
    // All transitions of a file share the places of its declarations.
    let declared = iosts.transitions.first().map(|first| Arc::new(rename_places(&first.origin.declared)));
    for transition in &mut renamed.transitions {
        transition.guard = substitute(&transition.guard, &new_terms);
        let assignments = transition.assignments.iter();
        transition.assignments =
            assignments.map(|(v, value)| (new_datum(v), substitute(value, &new_terms))).collect();
        transition.origin.assignments = rename_places(&transition.origin.assignments);
        transition.origin.declared = declared.clone().unwrap_or_default();
    }
    let mut functions = functions.to_vec();
    for function in &mut functions {
        // A function's own parameters keep their names: a call replaces them anyway.
        let mut new_terms = new_terms.clone();
        new_terms.retain(|old, _| !function.parameters.contains(old));
        function.body = function.body.as_ref().map(|body| substitute(body, &new_terms));
    }
    (renamed, functions)
}

/// Adds the functions of a part. Functions of one name must be one function.
fn add_functions(collector: &mut Collector, functions: &mut Vec<NamedExpression>, part: &Part) {
    for function in &part.functions {
        match functions.iter().find(|known| known.name == function.name) {
            Some(known) if known != function => {
                let message = format!("two parts declare the function `{}` differently", known.name);
                let diagnostic = Diagnostic::error("incompatible-parts", message)
                    .at(part.origin.clone(), "the second part")
                    .at(function.origin.clone(), "declared here")
                    .at(known.origin.clone(), "and here")
                    .help("give one of them another name in its file");
                collector.push(diagnostic);
            }
            Some(_) => {}
            None => functions.push(function.clone()),
        }
    }
}

/// Adds the types of a part. Types of one name must be one type.
fn add_types(collector: &mut Collector, types: &mut Vec<(String, Type)>, part: &Part) {
    for (name, ty) in &part.types {
        match types.iter().find(|(known, _)| known == name) {
            Some((_, known)) if known != ty => {
                let message = format!("two parts declare the type `{name}` differently");
                let diagnostic = Diagnostic::error("incompatible-parts", message)
                    .at(part.origin.clone(), "the second part")
                    .help("give one of the types another name in its file");
                collector.push(diagnostic);
            }
            Some(_) => {}
            None => types.push((name.clone(), ty.clone())),
        }
    }
}

/// Reports why a part does not go together with those before it.
fn report_incompatible(collector: &mut Collector, why: &Incompatible, part: &Part) {
    let (message, help) = match why {
        Incompatible::BothSend(action) => (
            format!("two parts send `{action}`"),
            format!(
                "only one part may send an action: rename it, `{{ model: ..., rename: {{ {action}: Other{action} }} }}`"
            ),
        ),
        Incompatible::InternalAndVisible(action) => (
            format!("`{action}` is an internal action of one part and a visible action of another"),
            "no other part can take part in an internal action: rename one of the two".to_owned(),
        ),
        Incompatible::Signatures(action, types, other_types) => (
            format!("`{action}` carries ({types}) in one part and ({other_types}) in another"),
            "all parts must declare the same parameters for an action".to_owned(),
        ),
        Incompatible::SameName(name) => (
            format!("two parts have something called `{name}`"),
            format!(
                "parts cannot share data: rename one of them, `{{ model: ..., rename: {{ {name}: other_{name} }} }}`"
            ),
        ),
        Incompatible::TooMany => (
            format!("the parts together have more than {MOST} locations or transitions"),
            "compose fewer parts, or smaller ones".to_owned(),
        ),
    };
    let diagnostic = Diagnostic::error("incompatible-parts", message)
        .at(part.origin.clone(), "this part and those before it")
        .help(help);
    collector.push(diagnostic);
}

/// Reads the actions to hide. An action must belong to a part, and may be hidden once.
fn read_hide(collector: &mut Collector, entries: &[Entry], whole: &Iosts) -> Vec<String> {
    let Some(node) = shape::get(entries, "hide") else { return Vec::new() };
    let like = "hide: [Reserve]";
    let mut hidden: Vec<String> = Vec::new();
    for item in shape::list(collector, node, "`hide`", like).unwrap_or(&[]) {
        let Some(scalar) = shape::scalar(collector, item, "an action", like) else { continue };
        if whole.find_action(&scalar.text).is_none() {
            let known = || whole.actions.iter().map(|action| action.name.as_str());
            let help = collector.suggest(&scalar.text, "actions of the parts", known);
            let message = format!("no part has an action `{}`", scalar.text);
            collector.mistake("unknown-action", message, &scalar.span, "not declared", help);
        } else if hidden.contains(&scalar.text) {
            let message = format!("`{}` is hidden twice", scalar.text);
            collector.error("duplicate-declaration", message, &scalar.span, "the second time");
        } else {
            hidden.push(scalar.text.clone());
        }
    }
    hidden
}

/// Reports why an action cannot be hidden.
fn report_unhidden(collector: &mut Collector, why: &Unhidden, whole: &Iosts, entries: &[Entry]) {
    let place = |name: &str| {
        let items = shape::get(entries, "hide").map(|node| &node.kind);
        let Some(NodeKind::Sequence(items)) = items else { return None };
        let scalars = items.iter().filter_map(|item| item.as_scalar());
        scalars.filter(|scalar| scalar.text == name).map(|scalar| scalar.span.clone()).next()
    };
    let (action, diagnostic) = match why {
        Unhidden::NoOutput(action) => {
            let message = format!("`{action}` cannot be hidden: no part sends it");
            let help = "hide only messages between the parts; an input comes from outside";
            (action, Diagnostic::error("hidden-input", message).help(help))
        }
        Unhidden::Open(number, parameter) => {
            let transition = &whole.transitions[*number];
            let action = &whole.action(transition.action).name;
            let message = format!(
                "`{action}` cannot be hidden: in {} nothing fixes the value of `{parameter}`",
                whole.describe(transition)
            );
            let diagnostic = Diagnostic::error("hidden-value", message)
                .at(transition.origin.whole.clone(), "any value could be sent here");
            let help = format!(
                "an internal action carries no values: write `{parameter} == ...` in the guard of the part that sends it"
            );
            (action, diagnostic.help(help))
        }
    };
    let origin = place(action).map(|span| collector.origin(&span));
    collector.push(diagnostic.at(origin, "hidden here"));
}
