//! Reads a test purpose of TGV: a labelled transition system in Aldebaran's format.
//!
//! **Meaning in TGV** (the thesis, Definition 3.13; the manual of TGV in CADP). A state with a loop `ACCEPT`
//! accepts, and a state with a loop `REFUSE` gives up. `*` stands for every event that no other label of its
//! state takes. Without `*`, such events change nothing. Labels are as in the specification's file.
//!
//! **Meaning here.** A label is a gate, perhaps with a sign for its direction, and with values. It stands for
//! the actions of the specification that `coreach import` makes of that gate, with those values. The gates of
//! the specification's file are not known. So a label is refused if its actions cannot be told from those of
//! another gate. The name of an action always stands for this action. A gate
//! without values stands for all values that no label of its state has. States that accept become `Accept`,
//! states that give up become `Reject`, and everything after them is left out. Transitions for other values
//! are written out, since completion would send them to `Reject` (Algorithm 7.1).
//!
//! **Not read**: regular expressions, internal steps, and two equal labels of one state.
//!
//! **Cost**: the number of labels times the number of the specification's actions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use coreach_model::budget::MAX_DIGITS;
use coreach_model::diagnostic::{Diagnostic, SourceFile, nearest};
use coreach_model::iosts::{Aim, Iosts, Location, TestPurpose, Transition, TransitionOrigin};
use coreach_model::number;
use coreach_model::numbered::Numbered;
use coreach_model::reader::collect::Collector;
use coreach_model::reader::limits::MADE_MARK;
use coreach_model::reader::{Specification, read_purpose};
use coreach_model::term::Substitution;
use coreach_model::writer::write_purpose_yaml;
use coreach_model::{ActionId, ActionKind, Datum, LocationId, Term, Type, Value};

use crate::Options;
use crate::aut::{AutEvent, AutSystem, Edge, PLAIN_ACTION, PLAIN_VALUE, Variant, read_system};
use crate::finish::name_after_file;
use crate::names::possible_names;

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
        for finding in read_purpose(Arc::new(written), specification).err().into_iter().flatten() {
            // Its places are in the written text, which the user does not have.
            collector.push(Diagnostic { labels: Vec::new(), ..finding });
        }
        text
    });
    collector.ended(text)
}

/// Finds the actions that `coreach import` may have made of this label's gate, with its direction and number
/// of values. An action that is called like the gate is the only one. The error lists the actions if they
/// cannot all be of one gate.
fn find_variants(model: &Iosts, event: &AutEvent) -> Result<Vec<ActionId>, Vec<String>> {
    let names: BTreeSet<&str> = model.actions.iter().map(|action| action.name.as_str()).collect();
    let has_label = |number: &ActionId| {
        let action = model.action(*number);
        action.is_visible()
            && event.sign.is_none_or(|sign| sign == action.kind)
            && (event.values.is_empty() || event.values.len() == action.parameters.len())
    };
    let labelled: Vec<ActionId> = model.action_ids().filter(has_label).collect();
    if names.contains(event.gate.as_str()) {
        return Ok(labelled.into_iter().filter(|number| model.action(*number).name == event.gate).collect());
    }
    // All actions of a gate have names of one form, and each is made from another foreign name.
    let forms =
        [(false, false), (true, false), (false, true), (true, true)].map(|(has_direction, has_values)| {
            let foreign_name = |number: &ActionId| {
                let action = model.action(*number);
                let variant =
                    Variant { gate: &event.gate, kind: action.kind, values: action.parameters.len() };
                let name = variant.name(has_direction, has_values);
                let is_possible = possible_names(&name, &names, PLAIN_ACTION).contains(&action.name);
                is_possible.then_some((name, *number))
            };
            labelled.iter().filter_map(foreign_name).collect::<Vec<(String, ActionId)>>()
        });
    let actions: BTreeSet<ActionId> = forms.iter().flatten().map(|(_, action)| *action).collect();
    // Each action must have a foreign name of this form, and no two the same one.
    let is_of_one_gate = |form: &Vec<(String, ActionId)>| {
        let foreign: BTreeSet<&str> = form.iter().map(|(name, _)| name.as_str()).collect();
        form.len() == actions.len() && foreign.len() == actions.len()
    };
    match forms.iter().any(is_of_one_gate) {
        true => Ok(actions.into_iter().collect()),
        false => Err(actions.into_iter().map(|action| model.action(action).name.clone()).collect()),
    }
}

/// Reads a value as `coreach import` reads one of this type. `None` if none or several are possible.
fn read_value(ty: &Type, text: &str) -> Option<Value> {
    match ty {
        Type::Bool => text.to_ascii_lowercase().parse().ok().map(Value::Bool),
        Type::Real => number::number(text, MAX_DIGITS).ok().map(Value::Real),
        Type::Enum(enumeration) => {
            let literals = enumeration.literals.iter().map(String::as_str).collect();
            let [only] = possible_names(text, &literals, PLAIN_VALUE).try_into().ok()?;
            let position = enumeration.literals.iter().position(|literal| *literal == only)?;
            Some(Value::Enum(enumeration.clone(), position))
        }
        _ => number::integer(text, MAX_DIGITS).ok().map(Value::Int).filter(|value| value.is_in(ty)),
    }
}

/// The labels of a state for one action: conditions with their targets, and the target of all other values.
#[derive(Default)]
struct LabelRules {
    given: Vec<(Term, LocationId)>,
    default: Option<LocationId>,
}

impl LabelRules {
    /// Adds a label with this condition on its values (`None` for all others). Returns whether it is new.
    fn add(&mut self, condition: Option<Term>, target: LocationId) -> bool {
        let Some(condition) = condition else { return self.default.replace(target).is_none() };
        let is_new = self.given.iter().all(|(known, _)| *known != condition);
        self.given.push((condition, target));
        is_new
    }
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
        let diagnostic = Diagnostic::error("no-accept", "no state accepts");
        collector.push(diagnostic.help("give a state that accepts a loop `ACCEPT`"));
    }
    let mut locations: Numbered<LocationId, Location> = Numbered::new();
    // All states that accept are one location, and so are all that give up.
    let mut location_of = |state: u32| {
        let name = match ends.get(&state) {
            Some(&"ACCEPT") => "Accept".to_owned(),
            Some(_) => "Reject".to_owned(),
            None => format!("s{state}"),
        };
        let known = locations.first_number(|known: &Location| known.name == name);
        known.unwrap_or_else(|| locations.push(Location::named(name)))
    };
    let initial = location_of(*initial);
    let mut rules: BTreeMap<(LocationId, ActionId), LabelRules> = BTreeMap::new();
    // For each location, the target of its label `*`.
    let mut otherwise: BTreeMap<LocationId, LocationId> = BTreeMap::new();
    // The locations with labels, in the order of the file.
    let mut order: Vec<LocationId> = Vec::new();
    for edge in edges.iter().filter(|edge| !ends.contains_key(&edge.from)) {
        let (source, target) = (location_of(edge.from), location_of(edge.to));
        if !order.contains(&source) {
            order.push(source);
        }
        let is_new = match edge.event.gate.as_str() {
            "*" => otherwise.insert(source, target).is_none(),
            _ => find_actions(collector, model, edge)
                .into_iter()
                .all(|(action, condition)| rules.entry((source, action)).or_default().add(condition, target)),
        };
        if !is_new {
            let message = "another label of this state takes the same event: a purpose must be deterministic";
            collector.error("nondeterministic", message, &edge.label, "the second one");
        }
    }
    let accept = location_of(*ends.iter().find(|(_, word)| **word == "ACCEPT")?.0);
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

/// Finds the actions of a label, with the conditions on their values (`None`: all). Reports mistakes.
fn find_actions(collector: &mut Collector, model: &Iosts, edge: &Edge) -> Vec<(ActionId, Option<Term>)> {
    let event = &edge.event;
    let actions = match find_variants(model, event) {
        Ok(actions) => actions,
        Err(names) => {
            let message = format!("this label may stand for any of the actions `{}`", names.join("`, `"));
            collector.error("ambiguous-label", message, &edge.label, "write the name of the action");
            return Vec::new();
        }
    };
    if actions.is_empty() || event.sign == Some(ActionKind::Internal) {
        let similar = nearest(&event.gate, model.actions.iter().map(|action| action.name.as_str()));
        let diagnostic =
            Diagnostic::error("unknown-action", "no visible action of the specification has this label")
                .at(collector.origin(&edge.label), "no action has this direction and this number of values");
        let help = similar.map(|similar| format!("did you mean `{similar}`?"));
        collector.push(Diagnostic { help, ..diagnostic });
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
