//! A stage's result as a JSON document, for programs: everything that the stage knows, every condition as text of the
//! model format and as SMT-LIB.
//!
//! The format is documented in `docs/json.md`, and as a JSON Schema in `docs/test-case.schema.json`. It has a version
//! of its own ([`FORMAT_VERSION`]): a change that a reader could stumble over raises it, a key that is added does not.
//!
//! **SMT-LIB.** The document's declarations, then those of the action (its parameters; for a condition at a transition),
//! then those of the condition itself (rarely any), then `(assert ...)` around its text: a solver accepts that as it
//! stands. Parameters are declared with their actions because two actions may use one name for different things.
//! `constraints` are what the types of the data add (`nat` is an `Int` there): who asks a question asserts them too.

use std::collections::BTreeMap;

use coreach_analyses::solver::smtlib;
use coreach_model::iosts::{Action, LocationId, Transition};
use coreach_model::visible::visible_json;
use coreach_model::{ActionKind, Datum, Numbered, Term, Type};
use serde::Serialize;

use super::{Mark, ONLINE, View};
use crate::artifact::Verdict;
use crate::named_types::named_types;
use crate::origins::Origins;
use crate::sources::Sources;

/// The version of the document's format.
pub const FORMAT_VERSION: u32 = 1;

/// The version where `others_fail` is there: a reader that passes over it would miss transitions.
pub const FORMAT_VERSION_WITH_OTHERS: u32 = 2;

/// The version where the graph is no test case, and its verdicts are those of sets of states.
pub const FORMAT_VERSION_ONLINE: u32 = 3;

/// The version of what is made of timed models: a reader that knows no time would take a delay for something that is sent.
pub const FORMAT_VERSION_TIMED: u32 = 5;

/// The version where quiescence is among the actions: a reader that takes it for an output would never see it.
pub const FORMAT_VERSION_WITH_QUIESCENCE: u32 = 4;

/// The document, with a newline behind it.
pub fn json(view: &View<'_>) -> String {
    let text = match serde_json::to_string_pretty(&document(view)) {
        Ok(text) => text,
        Err(error) => panic!("strings, numbers and lists cannot be serialized into memory: {error}"),
    };
    format!("{}\n", visible_json(&text))
}

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    format_version: u32,
    generator: Generator,
    stage: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    purpose: Option<Purpose>,
    #[serde(skip_serializing_if = "Option::is_none")]
    made_of: Option<Sources>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timed: Option<Timed>,
    counts: Counts,
    #[serde(skip_serializing_if = "Option::is_none")]
    purpose_reachable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lookahead: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<Selection>,
    losses: Vec<String>,
    types: Vec<NamedType>,
    constants: Vec<Data>,
    variables: Vec<Data>,
    declarations: Vec<String>,
    actions: Vec<ActionJson>,
    initial: Initial,
    locations: Vec<LocationJson<'a>>,
    transitions: Vec<TransitionJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    others_fail: Option<String>,
}

#[derive(Serialize)]
struct Generator {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Purpose {
    of: String,
    given_transitions: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    others_stay: bool,
}

#[derive(Serialize)]
struct Timed {
    delay: String,
    silence_after: String,
}

#[derive(Serialize)]
struct Counts {
    locations: usize,
    transitions: usize,
    pass: usize,
    inconclusive: usize,
    fail: usize,
}

#[derive(Serialize)]
struct Selection {
    pruned: usize,
    strengthened: usize,
    inconclusive: usize,
    rounds: usize,
}

#[derive(Serialize)]
struct Data {
    name: String,
    #[serde(rename = "type")]
    ty: String,
}

#[derive(Serialize)]
struct NamedType {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    literals: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<Data>>,
}

#[derive(Serialize)]
struct ActionJson {
    name: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    controllable: Option<bool>,
    parameters: Vec<Data>,
    declarations: Vec<String>,
}

#[derive(Serialize)]
struct Initial {
    location: String,
    condition: Expression,
}

#[derive(Serialize)]
struct Expression {
    text: String,
    smtlib: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    declarations: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    constraints: Vec<String>,
}

#[derive(Serialize)]
struct LocationJson<'a> {
    name: String,
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    must_answer: Option<MustAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violates: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origins: Option<&'a Origins>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reach: Option<Expression>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coreach: Option<Expression>,
}

/// `true`, or with which data.
#[derive(Serialize)]
#[serde(untagged)]
enum MustAnswer {
    Always(bool),
    Where(Expression),
}

#[derive(Serialize)]
struct TransitionJson {
    source: String,
    target: String,
    action: String,
    guard: Expression,
    assignments: Vec<Assignment>,
}

#[derive(Serialize)]
struct Assignment {
    variable: String,
    #[serde(flatten)]
    value: Expression,
}

fn document<'a>(view: &View<'a>) -> Document<'a> {
    let iosts = view.iosts;
    let declarations = declarations(view);
    let initial = Initial {
        location: name(view, iosts.initial),
        condition: expression(&iosts.initial_condition, &[&declarations]),
    };
    let actions = iosts.actions.map(|one| action(view, one));
    let has_quiescence = iosts.actions.iter().any(|action| action.kind == ActionKind::Quiescence);
    let locations = iosts.location_ids().map(|id| location(view, id, &declarations)).collect();
    let transitions = iosts
        .transitions
        .iter()
        .map(|t| transition(view, t, &[&declarations, &actions[t.action].declarations]))
        .collect();
    Document {
        format: "coreach",
        format_version: match view.particulars.others_fail {
            _ if view.timing.is_some() => FORMAT_VERSION_TIMED,
            _ if view.what == ONLINE => FORMAT_VERSION_ONLINE,
            _ if has_quiescence => FORMAT_VERSION_WITH_QUIESCENCE,
            None => FORMAT_VERSION,
            Some(_) => FORMAT_VERSION_WITH_OTHERS,
        },
        generator: Generator { name: "coreach", version: env!("CARGO_PKG_VERSION") },
        stage: view.what,
        name: iosts.name.clone(),
        purpose: view.particulars.purpose.map(|(purpose, given)| Purpose {
            of: purpose.of.clone(),
            given_transitions: given,
            others_stay: view.particulars.others_stay,
        }),
        made_of: view.sources.cloned(),
        timed: view.timing.map(|timing| Timed {
            delay: timing.delay.name().to_owned(),
            silence_after: timing.silence_after.to_string(),
        }),
        counts: Counts {
            locations: iosts.locations.len(),
            transitions: iosts.transitions.len(),
            pass: view.count_into(Verdict::Pass),
            inconclusive: view.count_into(Verdict::Inconclusive),
            fail: view.count_into(Verdict::Fail),
        },
        purpose_reachable: view.found.reachable,
        lookahead: view.found.lookahead,
        selection: view.found.selection.map(|done| Selection {
            pruned: done.pruned,
            strengthened: done.strengthened,
            inconclusive: done.inconclusive,
            rounds: done.rounds,
        }),
        losses: view.found.losses.to_vec(),
        types: types(view),
        constants: data(&iosts.constants),
        variables: data(&iosts.variables),
        declarations,
        actions: actions.into_vec(),
        initial,
        locations,
        transitions,
        others_fail: view.particulars.others_fail.map(|fail| name(view, fail)),
    }
}

fn name(view: &View<'_>, location: LocationId) -> String {
    view.iosts.location(location).name.clone()
}

fn data(data: &[Datum]) -> Vec<Data> {
    data.iter().map(|datum| Data { name: datum.name().to_owned(), ty: datum.ty().to_string() }).collect()
}

fn all_data<'a>(view: &View<'a>) -> impl Iterator<Item = &'a Datum> + use<'a> {
    let iosts = view.iosts;
    let parameters = iosts.actions.iter().flat_map(|action| &action.parameters);
    iosts.constants.iter().chain(&iosts.variables).chain(parameters)
}

/// The sorts, then the constants and variables.
fn declarations(view: &View<'_>) -> Vec<String> {
    let terms: Vec<Term> = all_data(view).map(Term::datum).collect();
    let mut lines = smtlib::declarations(&terms);
    lines.retain(|line| !line.starts_with("(declare-const"));
    lines.extend(view.iosts.constants.iter().chain(&view.iosts.variables).map(smtlib::declaration));
    lines
}

fn expression(term: &Term, declared: &[&[String]]) -> Expression {
    let terms = [term.clone()];
    let mut declarations = smtlib::declarations(&terms);
    declarations.retain(|line| !declared.iter().any(|known| known.contains(line)));
    Expression {
        text: term.to_string(),
        smtlib: smtlib::term_to_smtlib(term),
        declarations,
        constraints: smtlib::type_constraints(&terms),
    }
}

fn action(view: &View<'_>, action: &Action) -> ActionJson {
    let is_environment = view.timing.is_some_and(|timing| timing.uncontrollable.contains(&action.name));
    let (kind, role) = match action.kind {
        // Seen, as what the system sends is; but it receives it.
        _ if is_environment => ("input", Some("observation")),
        ActionKind::Input => ("input", Some("stimulus")),
        ActionKind::Output => ("output", Some("observation")),
        ActionKind::Quiescence => ("quiescence", Some("observation")),
        ActionKind::Internal => ("internal", None),
    };
    ActionJson {
        name: action.name.clone(),
        kind,
        role,
        controllable: is_environment.then_some(false),
        parameters: data(&action.parameters),
        declarations: action.parameters.iter().map(smtlib::declaration).collect(),
    }
}

fn location<'a>(view: &View<'a>, id: LocationId, declarations: &[String]) -> LocationJson<'a> {
    let shown = view.iosts.location(id);
    let (mark, verdict) = match view.mark(id) {
        None => (None, None),
        Some(Mark::Accept) => (Some("accept"), None),
        Some(Mark::Reject) => (Some("reject"), None),
        Some(Mark::Verdict(verdict)) => (None, Some(verdict.word())),
    };
    let fact = |facts: Option<&Numbered<LocationId, Term>>| {
        facts.map(|facts| expression(&facts[id], &[declarations]))
    };
    LocationJson {
        name: shown.name.clone(),
        label: shown.label.clone(),
        description: shown.description.clone(),
        mark,
        verdict,
        must_answer: view
            .particulars
            .must_answer
            .map(|facts| &facts[id])
            .filter(|fact| !fact.is_false())
            .map(|fact| match fact.is_true() {
                true => MustAnswer::Always(true),
                false => MustAnswer::Where(expression(fact, &[declarations])),
            }),
        violates: view.particulars.violated.iter().find(|(at, _)| *at == id).map(|(_, how)| how.word()),
        origins: view.origins.and_then(|all| all.find(id)).filter(|of| !of.is_empty()),
        reach: fact(view.particulars.reach),
        coreach: fact(view.particulars.coreach),
    }
}

fn transition(view: &View<'_>, transition: &Transition, declared: &[&[String]]) -> TransitionJson {
    let assignments = transition
        .assignments
        .iter()
        .map(|(variable, value)| Assignment {
            variable: variable.name().to_owned(),
            value: expression(value, declared),
        })
        .collect();
    TransitionJson {
        source: name(view, transition.source),
        target: name(view, transition.target),
        action: view.iosts.action(transition.action).name.clone(),
        guard: expression(&transition.guard, declared),
        assignments,
    }
}

/// The enumerations and records in use, by name.
fn types(view: &View<'_>) -> Vec<NamedType> {
    let named = named_types(view.iosts).into_iter().collect::<BTreeMap<_, _>>();
    let described = named.into_iter().map(|(name, ty)| match ty {
        Type::Enum(enumeration) => {
            NamedType { name, literals: Some(enumeration.literals.clone()), fields: None }
        }
        Type::Record(record) => {
            let fields = record.fields.iter();
            let fields = fields.map(|(name, ty)| Data { name: name.clone(), ty: ty.to_string() }).collect();
            NamedType { name, literals: None, fields: Some(fields) }
        }
        _ => NamedType { name, literals: None, fields: None },
    });
    described.collect()
}
