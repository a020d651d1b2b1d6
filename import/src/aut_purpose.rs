//! Reads a test purpose of TGV: a labelled transition system in Aldebaran's format.
//!
//! **Meaning in TGV** (the thesis, Definition 3.13; the manual of TGV in CADP). A state with a loop `ACCEPT`
//! accepts, and a state with a loop `REFUSE` gives up. `*` stands for every event that no other label of its
//! state takes. Without `*`, such events change nothing. Labels are as in the specification's file.
//!
//! **Meaning here.** A label is a gate, perhaps with a sign for its direction, and with values. It stands for
//! the actions of the specification that `coreach import` makes of that gate, with those values. A gate
//! without values stands for all values that no label of its state has. States that accept become `Accept`,
//! states that give up become `Reject`, and everything after them is left out. Transitions for other values
//! are written out, since completion would send them to `Reject` (Algorithm 7.1).
//!
//! **Not read**: regular expressions, internal steps, and two equal labels of one state.
//!
//! **Cost**: the number of labels times the number of the specification's actions.

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
use crate::aut::{AutSystem, DIGITS, Edge, direction_suffix, read_system};
use crate::finish::name_after_file;
use crate::names::Naming;

/// Reads a test purpose for the specification, and writes it in the model format.
///
/// # Errors
/// All mistakes, reached limits and warnings, in the order of the file.
pub fn import_purpose(
    file: Arc<SourceFile>,
    specification: &Specification,
    options: &Options,
) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut collector = Collector::new(file.clone());
    let purpose = read_system(&mut collector, options)
        .and_then(|system| make_purpose(&mut collector, &specification.iosts, &system));
    let text = purpose.filter(|_| collector.errors() == 0).map(|purpose| {
        let text = format!("{MADE_MARK}an imported purpose\n{}", write_purpose_yaml(&purpose));
        let written = SourceFile { name: file.name.clone(), text: text.clone() };
        // The reader reports mistakes of the purpose as a whole, for example that no event leads to Accept.
        match read_purpose(Arc::new(written), specification) {
            Ok(_) => {}
            // Their places are in the written text, which the user does not have.
            Err(findings) => findings
                .into_iter()
                .for_each(|finding| collector.push(Diagnostic { labels: Vec::new(), ..finding })),
        }
        text
    });
    collector.ended(text)
}

/// The names that `coreach import` may have given to an action of this gate.
fn possible_names(gate: &str, action: &Action) -> [String; 4] {
    let (direction, values) = (direction_suffix(action.kind), action.parameters.len());
    let own = |name: String| Naming::of([(name.as_str(), None)], &BTreeSet::new(), "a").get(&name).to_owned();
    [
        gate.to_owned(),
        format!("{gate}{direction}"),
        format!("{gate} {values}"),
        format!("{gate}{direction} {values}"),
    ]
    .map(own)
}

/// Reads a value as `coreach import` reads one of this type.
fn read_value(ty: &Type, text: &str) -> Option<Value> {
    match ty {
        Type::Bool => text.to_ascii_lowercase().parse().ok().map(Value::Bool),
        Type::Real => number::number(text, DIGITS).ok().map(Value::Real),
        Type::Enum(enumeration) => {
            let own = Naming::of([(text, None)], &BTreeSet::new(), "v").get(text).to_owned();
            let position = enumeration.literals.iter().position(|literal| *literal == own)?;
            Some(Value::Enum(enumeration.clone(), position))
        }
        _ => number::integer(text, DIGITS).ok().map(Value::Int).filter(|value| value.is_in(ty)),
    }
}

/// The labels of a state for one action: conditions with their targets, and the target of all other values.
#[derive(Default)]
struct LabelRules {
    given: Vec<(Term, LocationId)>,
    default: Option<LocationId>,
}

/// Finds the ends, collects the rules of each state and action, and writes them as transitions.
fn make_purpose(collector: &mut Collector, model: &Iosts, system: &AutSystem) -> Option<TestPurpose> {
    let AutSystem { initial, edges, .. } = system;
    let mut ends: BTreeMap<u32, &str> = BTreeMap::new();
    for edge in edges {
        let word = edge.event.gate.as_str();
        if !matches!(word, "ACCEPT" | "REFUSE") {
            continue;
        }
        if edge.from != edge.to || ends.insert(edge.from, word).is_some_and(|known| known != word) {
            let message = format!("`{word}` must be a loop, and the only mark of its state");
            collector.error("syntax", message, &edge.label, "not such a loop");
        }
    }
    if !ends.values().any(|word| *word == "ACCEPT") {
        let message = "no state accepts";
        collector
            .push(Diagnostic::error("no-accept", message).help("give a state that accepts a loop `ACCEPT`"));
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
    let initial = place(*initial);
    let mut rules: BTreeMap<(LocationId, ActionId), LabelRules> = BTreeMap::new();
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
                let actions = find_actions(collector, model, edge);
                actions.into_iter().all(|(action, condition)| {
                    let rules = rules.entry((source, action)).or_default();
                    match condition {
                        None => rules.default.replace(target).is_none(),
                        Some(condition) => {
                            let is_new = rules.given.iter().all(|(known, _)| *known != condition);
                            rules.given.push((condition, target));
                            is_new
                        }
                    }
                })
            }
        };
        if !is_new {
            let message = "another label of this state takes the same event: a purpose must be deterministic";
            collector.error("nondeterministic", message, &edge.label, "the second one");
        }
    }
    let accept = place(*ends.iter().find(|(_, word)| **word == "ACCEPT")?.0);
    let reject = locations.first_number(|known| known.name == "Reject");
    let mut transitions = Numbered::new();
    for source in order {
        for action in model.action_ids().filter(|action| model.action(*action).is_visible()) {
            let LabelRules { given, default } = rules.remove(&(source, action)).unwrap_or_default();
            let other_values = Term::or(given.iter().map(|(condition, _)| condition.clone())).not();
            // Without a label for other values they change nothing. This is written only beside other labels.
            let stay = (!given.is_empty()).then_some(source);
            let target = default.or(otherwise.get(&source).copied()).or(stay);
            let others = target.map(|target| (other_values, target));
            for (guard, target) in given.into_iter().chain(others).filter(|(guard, _)| !guard.is_false()) {
                let assignments = Substitution::new();
                let origin = TransitionOrigin::default();
                transitions.push(Transition { source, action, guard, assignments, target, origin });
            }
        }
    }
    let (name, actions) = (name_after_file(&collector.file.name), model.actions.clone());
    let iosts = Iosts { name, locations, initial, actions, transitions, ..Iosts::default() };
    let (of, observes, idle) = (model.name.clone(), Vec::new(), Substitution::new());
    let (functions, with) = (BTreeSet::new(), BTreeMap::new());
    Some(TestPurpose { aim: Aim::Accept, iosts, of, observes, functions, accept, reject, idle, with })
}

/// Finds the actions that a label stands for, with the conditions on their values. Reports mistakes.
fn find_actions(collector: &mut Collector, model: &Iosts, edge: &Edge) -> Vec<(ActionId, Option<Term>)> {
    let event = &edge.event;
    let has_label = |action: &Action| {
        action.is_visible()
            && event.sign.is_none_or(|sign| sign == action.kind)
            && (event.values.is_empty() || event.values.len() == action.parameters.len())
            && possible_names(&event.gate, action).contains(&action.name)
    };
    let actions: Vec<ActionId> =
        model.action_ids().filter(|action| has_label(model.action(*action))).collect();
    if actions.is_empty() || event.sign == Some(ActionKind::Internal) {
        let similar = nearest(&event.gate, model.actions.iter().map(|action| action.name.as_str()));
        let mut diagnostic =
            Diagnostic::error("unknown-action", "no visible action of the specification has this label")
                .at(collector.origin(&edge.label), "no action has this direction and this number of values");
        if let Some(similar) = similar {
            diagnostic = diagnostic.help(format!("did you mean `{similar}`?"));
        }
        collector.push(diagnostic);
    }
    let mut with_conditions = Vec::new();
    for action in actions {
        let parameters = &model.action(action).parameters;
        let given = |(parameter, text): (&Datum, &String)| {
            Some(Term::equal(&Term::datum(parameter), &Term::literal(read_value(parameter.ty(), text)?)))
        };
        let values: Option<Vec<Term>> = parameters.iter().zip(&event.values).map(given).collect();
        match values {
            Some(values) => with_conditions.push((action, (!values.is_empty()).then(|| Term::and(values)))),
            None => {
                let message = "a value that the action does not carry";
                collector.error("type", message, &edge.label, "in this label");
            }
        }
    }
    with_conditions
}
