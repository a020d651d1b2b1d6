//! A test purpose as TGV reads it: a labelled transition system in Aldebaran's format.
//!
//! **What it means** (the thesis, Definition 3.13; the manual of TGV in CADP). A state with a loop `ACCEPT`
//! accepts, one with a loop `REFUSE` gives up. `*` stands for every event that no other label of its state
//! takes; where a state has none, such events change nothing. Labels are those of the specification's file.
//!
//! **What it means here.** A label is a gate, perhaps with a sign for its direction, and values: the actions
//! of the specification that `coreach import` makes of that gate, with those values. A gate without values
//! stands for all values that no label of its state gives. States that accept become `Accept`, those that
//! give up `Reject`; what follows them is left out. What other values do is written out, since completion
//! would send them to `Reject` (Algorithm 7.1).
//!
//! **Not read**: regular expressions, internal steps, and two labels of one state that are the same.
//!
//! **Costs** time linear in the file, but for the actions of the specification, once for each label.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use coreach_model::diagnostic::{Diagnostic, SourceFile, nearest};
use coreach_model::iosts::{Action, Aim, Iosts, Location, TestPurpose, Transition, TransitionOrigin};
use coreach_model::number;
use coreach_model::numbered::Numbered;
use coreach_model::reader::collect::Collector;
use coreach_model::reader::limits::MADE_MARK;
use coreach_model::reader::{Specification, read_purpose};
use coreach_model::term::Substitution;
use coreach_model::writer::write_purpose_yaml;
use coreach_model::{ActionId, ActionKind, Datum, LocationId, Term, Type, Value};

use crate::Options;
use crate::aut::{DIGITS, Edge, direction, system};
use crate::finish::name_of;
use crate::names::Naming;

/// Reads a test purpose for the specification and writes it as one of ours.
/// Errors: every mistake that could be found, with the warnings, in the order of the file; or that a limit
/// was met.
pub fn import_purpose(
    file: Arc<SourceFile>,
    specification: &Specification,
    options: &Options,
) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut collector = Collector::new(file.clone());
    let made = system(&mut collector, options)
        .and_then(|(initial, _, edges)| purpose(&mut collector, &specification.iosts, initial, &edges));
    let text = made.filter(|_| collector.errors() == 0).map(|made| {
        let text = format!("{MADE_MARK}an imported purpose\n{}", write_purpose_yaml(&made));
        let written = SourceFile { name: file.name.clone(), text: text.clone() };
        // What it lacks beside its text, the reader says: that no event leads to Accept, for one.
        match read_purpose(Arc::new(written), specification) {
            Ok(_) => {}
            Err(found) => {
                found.into_iter().for_each(|found| collector.push(Diagnostic { labels: Vec::new(), ..found }))
            }
        }
        text
    });
    collector.ended(text)
}

fn names(gate: &str, action: &Action) -> [String; 4] {
    let (direction, values) = (direction(action.kind), action.parameters.len());
    let own = |name: String| Naming::of([(name.as_str(), None)], &BTreeSet::new(), "a").get(&name).to_owned();
    [
        gate.to_owned(),
        format!("{gate}{direction}"),
        format!("{gate} {values}"),
        format!("{gate}{direction} {values}"),
    ]
    .map(own)
}

fn value(ty: &Type, text: &str) -> Option<Value> {
    match ty {
        Type::Bool => text.to_ascii_lowercase().parse().ok().map(Value::Bool),
        Type::Real => number::number(text, DIGITS).ok().map(Value::Real),
        Type::Enum(enumeration) => {
            let own = Naming::of([(text, None)], &BTreeSet::new(), "v").get(text).to_owned();
            let at = enumeration.literals.iter().position(|literal| *literal == own)?;
            Some(Value::Enum(enumeration.clone(), at))
        }
        _ => number::integer(text, DIGITS).ok().map(Value::Int).filter(|value| value.is_in(ty)),
    }
}

/// What the labels of a state say of one action: conditions with targets, and where all else leads.
#[derive(Default)]
struct LabelRules {
    given: Vec<(Term, LocationId)>,
    rest: Option<LocationId>,
}

fn purpose(collector: &mut Collector, model: &Iosts, initial: u32, edges: &[Edge]) -> Option<TestPurpose> {
    let mut ends: BTreeMap<u32, &str> = BTreeMap::new();
    for edge in edges {
        let word = edge.event.gate.as_str();
        if !matches!(word, "ACCEPT" | "REFUSE") {
            continue;
        }
        if edge.from != edge.to || ends.insert(edge.from, word).is_some_and(|known| known != word) {
            let message = format!("`{word}` marks a state: it is a loop, and the only mark of its state");
            collector.error("syntax", message, &edge.label, "no such loop");
        }
    }
    if !ends.values().any(|word| *word == "ACCEPT") {
        let message = "no state accepts";
        collector
            .push(Diagnostic::error("no-accept", message).help("a state that accepts has a loop `ACCEPT`"));
    }
    let mut locations: Numbered<LocationId, Location> = Numbered::new();
    let mut place = |state: u32| {
        let name = match ends.get(&state) {
            Some(&"ACCEPT") => "Accept".to_owned(),
            Some(_) => "Reject".to_owned(),
            None => format!("s{state}"),
        };
        let known = locations.first_number(|known: &Location| known.name == name);
        known.unwrap_or_else(|| locations.push(Location::named(name)))
    };
    let initial = place(initial);
    let mut said: BTreeMap<(LocationId, ActionId), LabelRules> = BTreeMap::new();
    let mut otherwise: BTreeMap<LocationId, LocationId> = BTreeMap::new();
    let mut order: Vec<LocationId> = Vec::new();
    for edge in edges.iter().filter(|edge| !ends.contains_key(&edge.from)) {
        let (source, target) = (place(edge.from), place(edge.to));
        if !order.contains(&source) {
            order.push(source);
        }
        let is_new = match edge.event.gate.as_str() {
            "*" => otherwise.insert(source, target).is_none(),
            _ => {
                let actions = actions_of_label(collector, model, edge);
                actions.into_iter().all(|(action, condition)| {
                    let said = said.entry((source, action)).or_default();
                    match condition {
                        None => said.rest.replace(target).is_none(),
                        Some(condition) => {
                            let is_new = said.given.iter().all(|(known, _)| *known != condition);
                            said.given.push((condition, target));
                            is_new
                        }
                    }
                })
            }
        };
        if !is_new {
            let message = "another label of this state takes the same event: a test purpose is deterministic";
            collector.error("nondeterministic", message, &edge.label, "the second one");
        }
    }
    let accept = place(*ends.iter().find(|(_, word)| **word == "ACCEPT")?.0);
    let reject = locations.first_number(|known| known.name == "Reject");
    let mut transitions = Numbered::new();
    for source in order {
        for action in model.action_ids().filter(|action| model.action(*action).is_visible()) {
            let LabelRules { given, rest } = said.remove(&(source, action)).unwrap_or_default();
            let is_alone = given.is_empty();
            let other = Term::or(given.iter().map(|(condition, _)| condition.clone())).not();
            let stays = (!is_alone).then_some(source);
            let onward = rest.or(otherwise.get(&source).copied()).or(stays).map(|target| (other, target));
            for (guard, target) in given.into_iter().chain(onward).filter(|(guard, _)| !guard.is_false()) {
                let assignments = Substitution::new();
                let origin = TransitionOrigin::default();
                transitions.push(Transition { source, action, guard, assignments, target, origin });
            }
        }
    }
    let (name, actions) = (name_of(&collector.file.name), model.actions.clone());
    let iosts = Iosts { name, locations, initial, actions, transitions, ..Iosts::default() };
    let (of, observes, idle) = (model.name.clone(), Vec::new(), Substitution::new());
    let (functions, with) = (BTreeSet::new(), BTreeMap::new());
    Some(TestPurpose { aim: Aim::Accept, iosts, of, observes, functions, accept, reject, idle, with })
}

/// The actions that a label stands for, with what it says of their values; what is wrong has been reported.
fn actions_of_label(collector: &mut Collector, model: &Iosts, edge: &Edge) -> Vec<(ActionId, Option<Term>)> {
    let event = &edge.event;
    let is_it = |action: &Action| {
        action.is_visible()
            && event.sign.is_none_or(|sign| sign == action.kind)
            && (event.values.is_empty() || event.values.len() == action.parameters.len())
            && names(&event.gate, action).contains(&action.name)
    };
    let found: Vec<ActionId> = model.action_ids().filter(|action| is_it(model.action(*action))).collect();
    if found.is_empty() || event.sign == Some(ActionKind::Internal) {
        let near = nearest(&event.gate, model.actions.iter().map(|action| action.name.as_str()));
        let mut wrong =
            Diagnostic::error("unknown-action", "no visible action of the specification has this label")
                .at(collector.origin(&edge.label), "not an action with this direction and so many values");
        if let Some(near) = near {
            wrong = wrong.help(format!("did you mean `{near}`?"));
        }
        collector.push(wrong);
    }
    let mut all = Vec::new();
    for action in found {
        let parameters = &model.action(action).parameters;
        let given = |(parameter, text): (&Datum, &String)| {
            Some(Term::equal(&Term::datum(parameter), &Term::literal(value(parameter.ty(), text)?)))
        };
        let values: Option<Vec<Term>> = parameters.iter().zip(&event.values).map(given).collect();
        match values {
            Some(values) => all.push((action, (!values.is_empty()).then(|| Term::and(values)))),
            None => collector.error(
                "type",
                "a value that the action does not carry",
                &edge.label,
                "in this label",
            ),
        }
    }
    all
}
