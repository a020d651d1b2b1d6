//! Reads a document as a graph: every number is checked, and every condition in its scope.
//!
//! A document may come from anywhere, so nothing in it is believed. A document that is accepted is as
//! well-formed as a model that its reader accepts. Names are distinct. Guards are conditions on constants,
//! variables and the action's own parameters. An assigned value has the sort of its variable. So the code
//! that runs a test case need not check again.

use std::collections::{BTreeSet, HashMap, HashSet};

use coreach_model::iosts::{Action, Location, Transition, TransitionOrigin};
use coreach_model::reader::lexer::is_name;
use coreach_model::term::Substitution;
use coreach_model::{
    ActionId, ActionKind, Datum, Iosts, LocationId, Number, Numbered, Term, Type, Verdict, Violated,
};
use serde::Deserialize;

use crate::document::{
    ActionEntry, Document, FORMAT, FORMAT_VERSION, LocationEntry, Origins, Sources, TEST_CASE,
    TransitionEntry,
};
use crate::error::DocumentError;
use crate::terms::{TermNumber, read_terms};
use crate::types::{DatumEntry, read_types};

/// The content of a document, in the model's own types.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The graph.
    pub iosts: Iosts,
    /// The verdict of each location that has one.
    pub verdicts: Numbered<LocationId, Option<Verdict>>,
    /// For each location, the data with which the specification is never silent there.
    pub must_answer: Numbered<LocationId, Term>,
    /// For each location, how a property is violated there, if it is.
    pub violates: Numbered<LocationId, Option<Violated>>,
    /// For each location, the locations of which it was made.
    pub origins: Numbered<LocationId, Origins>,
    /// For each location, an over-approximation of the states in which a run may be; `true` if the document
    /// says nothing.
    pub reach: Numbered<LocationId, Term>,
    /// For each location, an over-approximation of the states from which Accept can be reached; `true` if the
    /// document says nothing.
    pub coreach: Numbered<LocationId, Term>,
    /// The models that the graph was made of.
    pub made_of: Option<Sources>,
    /// The parts of the guards that come from the specification, conjunct by conjunct.
    pub conjuncts: BTreeSet<Term>,
    /// For a timed test case: the name of the delay, and the time after which there is silence.
    pub timed: Option<(String, Term)>,
    /// The inputs that the tester sees and does not send.
    pub uncontrollable: BTreeSet<ActionId>,
    /// The location Fail, if it also is the target of every output that has no transition at a location
    /// without a verdict.
    pub others_fail: Option<LocationId>,
}

/// The keys that are read before anything else: another version may have other keys.
#[derive(Deserialize)]
struct Header {
    format: Option<String>,
    format_version: Option<u64>,
    purpose_reachable: Option<bool>,
}

/// Parses a text as a document. Its terms and numbers are not checked yet, which [`read_graph`] does.
///
/// # Errors
/// [`DocumentError`], also for a document whose purpose cannot be reached, since there is nothing to run.
pub fn parse_document(bytes: &[u8]) -> Result<Document, DocumentError> {
    let wrong = |error: serde_json::Error| match error.classify() {
        serde_json::error::Category::Data => DocumentError::NoDocument(error.to_string()),
        _ => DocumentError::NoJson(error.to_string()),
    };
    let header: Header = serde_json::from_slice(bytes).map_err(wrong)?;
    if header.format.as_deref() != Some(FORMAT) {
        return Err(DocumentError::NoDocument(format!("`format` is not `{FORMAT}`")));
    }
    match header.format_version {
        Some(FORMAT_VERSION) => {}
        Some(version) => return Err(DocumentError::Version(version)),
        None => return Err(DocumentError::NoDocument("`format_version` is missing".to_owned())),
    }
    if header.purpose_reachable == Some(false) {
        return Err(DocumentError::Unreachable);
    }
    serde_json::from_slice(bytes).map_err(wrong)
}

/// Reads the graph of a document. `Err` if anything in it breaks the rules at the head of this file.
pub fn read_graph(document: &Document) -> Result<Graph, DocumentError> {
    let types = read_types(&document.types)?;
    let terms = read_terms(&document.terms, &types)?;
    let mut scopes = Scopes::default();
    // Actions come after the data, since their parameters must have other names.
    let constants = scopes.data(&document.constants, &types)?;
    let variables = scopes.data(&document.variables, &types)?;
    scopes.given = constants.iter().chain(&variables).cloned().collect();
    let actions = scopes.actions(&document.actions, &types)?;
    let mut reader = GraphReading { terms: &terms, scopes, mentioned: HashMap::new() };
    let locations = read_locations(&document.locations)?;
    let location_at = |number: usize, what: &str| match number < document.locations.len() {
        true => Ok(LocationId::of(number)),
        false => Err(format!("{what} names an unknown location")),
    };
    let mut transitions = Numbered::new();
    for (number, entry) in document.transitions.iter().enumerate() {
        let what = format!("the transition {number}");
        let ends = (location_at(entry.source, &what)?, location_at(entry.target, &what)?);
        let transition = reader.transition(entry, ends, &variables);
        transitions.push(transition.map_err(|why| format!("{what}: {why}"))?);
    }
    let iosts = Iosts {
        name: document.name.clone(),
        initial_condition: reader.condition(document.initial.condition, None, "the initial condition")?,
        initial: location_at(document.initial.location, "`initial`")?,
        constants,
        variables,
        locations,
        actions,
        transitions,
        origin: None,
    };
    // Reads a condition of each location, which is `default` where the document says nothing.
    let mut facts = |number: fn(&LocationEntry) -> Option<TermNumber>, default: Term, what: &str| {
        let fact = |entry| match number(entry) {
            Some(number) => reader.condition(number, None, what),
            None => Ok(default.clone()),
        };
        document.locations.iter().map(fact).collect::<Result<Vec<Term>, String>>().map(Numbered::from)
    };
    let must_answer = facts(|entry| entry.must_answer, Term::no(), "`must_answer`")?;
    let reach = facts(|entry| entry.reach, Term::yes(), "`reach`")?;
    let coreach = facts(|entry| entry.coreach, Term::yes(), "`coreach`")?;
    let term_at =
        |number: TermNumber| terms.get(number).cloned().ok_or_else(|| "it names an unknown term".to_owned());
    let conjuncts = document.conjuncts.iter().map(|number| term_at(*number));
    let timed = match &document.timed {
        Some(timed) => Some((timed.delay.clone(), term_at(timed.silence_after)?)),
        None => None,
    };
    let verdicts: Numbered<LocationId, _> = document.locations.iter().map(|entry| entry.verdict).collect();
    let others_fail = document.others_fail.map(|number| location_at(number, "`others_fail`")).transpose()?;
    if others_fail.is_some_and(|fail| verdicts[fail] != Some(Verdict::Fail)) {
        return Err("the location of `others_fail` is not Fail".to_owned().into());
    }
    let uncontrollable = read_uncontrollable(&document.actions)?;
    // With `others_fail`, the observations that are left out lead to Fail.
    if document.stage == TEST_CASE && others_fail.is_none() {
        check_observations(&iosts, &verdicts, &uncontrollable)?;
    }
    Ok(Graph {
        verdicts,
        must_answer,
        violates: document.locations.iter().map(|entry| entry.violates).collect(),
        origins: document.locations.iter().map(|entry| entry.origins.clone()).collect(),
        reach,
        coreach,
        made_of: document.made_of.clone(),
        conjuncts: conjuncts.collect::<Result<_, _>>()?,
        timed,
        uncontrollable,
        others_fail,
        iosts,
    })
}

/// Checks that each location without a verdict has a transition for everything that may be observed. A system
/// that conforms would be blamed for an observation that a test case leaves out.
fn check_observations(
    iosts: &Iosts,
    verdicts: &Numbered<LocationId, Option<Verdict>>,
    uncontrollable: &BTreeSet<ActionId>,
) -> Result<(), String> {
    let taken: HashSet<_> = iosts.transitions.iter().map(|t| (t.source, t.action)).collect();
    let is_observed = |id: &ActionId| iosts.action(*id).is_observed() || uncontrollable.contains(id);
    for location in iosts.location_ids().filter(|location| verdicts[*location].is_none()) {
        let mut observations = iosts.action_ids().filter(is_observed);
        if let Some(missing) = observations.find(|id| !taken.contains(&(location, *id))) {
            let (action, location) = (&iosts.action(missing).name, &iosts.location(location).name);
            let what = format!("the observation `{action}`");
            return Err(format!("the location `{location}` has no transition for {what}"));
        }
    }
    Ok(())
}

/// The data that may be mentioned, and where.
#[derive(Default)]
struct Scopes {
    /// The names of the constants and variables.
    names: HashSet<String>,
    /// The constants and variables.
    given: HashSet<Datum>,
    /// For each action, its parameters.
    parameters: Vec<HashSet<Datum>>,
}

impl Scopes {
    /// Reads constants or variables, and notes their names.
    fn data(&mut self, entries: &[DatumEntry], types: &[Type]) -> Result<Vec<Datum>, String> {
        let mut data = Vec::new();
        for entry in entries {
            data.push(read_datum(entry, types)?);
            if !self.names.insert(entry.name.clone()) {
                return Err(format!("`{}` is declared twice", entry.name));
            }
        }
        Ok(data)
    }

    /// Reads the actions, and notes the parameters of each.
    fn actions(
        &mut self,
        entries: &[ActionEntry],
        types: &[Type],
    ) -> Result<Numbered<ActionId, Action>, String> {
        let mut seen = HashSet::new();
        let mut actions = Numbered::new();
        for entry in entries {
            if !is_name(&entry.name) || !seen.insert(&entry.name) {
                return Err(format!("the action `{}` is not a name, or appears twice", entry.name));
            }
            let parameters: Vec<Datum> =
                entry.parameters.iter().map(|entry| read_datum(entry, types)).collect::<Result<_, _>>()?;
            let mut own_names = HashSet::new();
            let mut is_taken = |name| self.names.contains(name) || !own_names.insert(name);
            if let Some(repeated) = entry.parameters.iter().find(|parameter| is_taken(&parameter.name)) {
                let (parameter, action) = (&repeated.name, &entry.name);
                return Err(format!("the parameter `{parameter}` of `{action}` is declared twice"));
            }
            if entry.kind == ActionKind::Internal && !parameters.is_empty() {
                return Err(format!("the internal action `{}` has parameters", entry.name));
            }
            self.parameters.push(parameters.iter().cloned().collect());
            actions.push(Action { name: entry.name.clone(), kind: entry.kind, parameters });
        }
        Ok(actions)
    }
}

fn read_datum(entry: &DatumEntry, types: &[Type]) -> Result<Datum, String> {
    let ty = types.get(entry.ty).ok_or_else(|| format!("the type of `{}` does not exist", entry.name))?;
    match is_name(&entry.name) {
        true => Ok(Datum::new(&entry.name, ty.clone())),
        false => Err(format!("`{}` is not a name", entry.name)),
    }
}

fn read_locations(entries: &[LocationEntry]) -> Result<Numbered<LocationId, Location>, String> {
    let mut seen = HashSet::new();
    let mut locations = Numbered::new();
    for LocationEntry { name, label, description, .. } in entries {
        if !is_name(name) || !seen.insert(name) {
            return Err(format!("the location `{name}` is not a name, or appears twice"));
        }
        let (name, label) = (name.clone(), label.clone());
        locations.push(Location { name, label, description: description.clone() });
    }
    Ok(locations)
}

/// Lists the inputs that the tester sees and does not send.
fn read_uncontrollable(entries: &[ActionEntry]) -> Result<BTreeSet<ActionId>, String> {
    let mut uncontrollable = BTreeSet::new();
    for (number, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.controllable == Some(false)) {
        if entry.kind != ActionKind::Input {
            return Err(format!("`{}` is not an input, but only inputs have `controllable`", entry.name));
        }
        uncontrollable.insert(ActionId::of(number));
    }
    Ok(uncontrollable)
}

struct GraphReading<'a> {
    terms: &'a [Term],
    scopes: Scopes,
    /// The data of each term that was asked for, because many transitions share their guards.
    mentioned: HashMap<TermNumber, BTreeSet<Datum>>,
}

impl GraphReading<'_> {
    /// Gives a term, if it mentions only constants, variables and parameters of the action. Otherwise the
    /// message names it by `what`.
    fn term(&mut self, number: TermNumber, action: Option<usize>, what: &str) -> Result<Term, String> {
        let term = self.terms.get(number).ok_or_else(|| format!("{what} names an unknown term"))?;
        let mentioned = self.mentioned.entry(number).or_insert_with(|| term.data());
        let own = action.and_then(|action| self.scopes.parameters.get(action));
        let is_known = |datum: &&Datum| {
            self.scopes.given.contains(*datum) || own.is_some_and(|own| own.contains(*datum))
        };
        match mentioned.iter().find(|datum| !is_known(datum)) {
            None => Ok(term.clone()),
            Some(datum) => Err(format!("{what} mentions `{datum}`, which is not declared there")),
        }
    }

    fn condition(&mut self, number: TermNumber, action: Option<usize>, what: &str) -> Result<Term, String> {
        let term = self.term(number, action, what)?;
        if *term.sort() == Type::Bool { Ok(term) } else { Err(format!("{what} has no truth value")) }
    }

    /// Reads a transition: its guard and its assignments, in the scope of its action.
    fn transition(
        &mut self,
        entry: &TransitionEntry,
        (source, target): (LocationId, LocationId),
        variables: &[Datum],
    ) -> Result<Transition, String> {
        if entry.action >= self.scopes.parameters.len() {
            return Err("its action does not exist".to_owned());
        }
        let action = Some(entry.action);
        let guard = self.condition(entry.guard, action, "its guard")?;
        let mut assignments = Substitution::new();
        for assignment in &entry.assignments {
            let variable = variables.get(assignment.variable).ok_or("it assigns to an unknown variable")?;
            let value = self.term(assignment.value, action, "its assigned value")?;
            if *value.sort() != variable.ty().sort() {
                return Err(format!("its value for `{variable}` has another type"));
            }
            if assignments.insert(variable.clone(), value).is_some() {
                return Err(format!("it assigns to `{variable}` twice"));
            }
        }
        let action = ActionId::of(entry.action);
        Ok(Transition { source, action, guard, assignments, target, origin: TransitionOrigin::default() })
    }
}
