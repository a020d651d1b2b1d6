//! A test case as the tester needs it, read from the document that `coreach run` writes (`docs/json.md`).
//!
//! The document states every expression in the model's own language. So it is not parsed a second time here: it is
//! turned into a model (JSON is YAML), and the model's reader reads that, with all its checks. What only a test case
//! has, the verdicts, is taken beside it by the locations' names.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::path::Path;

use coreach_model::file;
use coreach_model::iosts::{ActionKind, Iosts, LocationId, Transition, TransitionOrigin};
use coreach_model::reader::limits::MADE_MARK;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::State;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, Diagnostic, Numbered, Term, TransitionId, Value, Verdict, Violated};
use serde_json::{Map, Value as Json, json};

use crate::json;
use crate::judge::online::internal;
use crate::timed::TimedCase;

/// The version of the document that is understood.
pub const FORMAT_VERSION: u64 = 1;

/// The version in which `others_fail` stands for many transitions; it is understood, too.
pub const FORMAT_VERSION_WITH_OTHERS: u64 = 2;

/// The version in which quiescence is among the actions; it is understood, too.
pub const FORMAT_VERSION_WITH_QUIESCENCE: u64 = 4;

/// The version of what is made of timed models; it is understood, too.
pub const FORMAT_VERSION_TIMED: u64 = 5;

/// The version of a test that is judged on line.
pub const FORMAT_VERSION_ONLINE: u64 = 3;

/// A test case, ready to be driven. Directions are the implementation's: its inputs are our stimuli.
#[derive(Clone, Debug)]
pub struct TestCase {
    /// The graph.
    pub iosts: Iosts,
    /// For each location: its verdict, where it is one.
    pub verdicts: Numbered<LocationId, Option<Verdict>>,
    /// For each location: the numbers of the transitions that send a stimulus.
    pub stimuli: Numbered<LocationId, Vec<TransitionId>>,
    /// For each location: the numbers of the transitions that take an observation.
    pub observations: Numbered<LocationId, Vec<TransitionId>>,
    /// For each location: the numbers of the transitions that take silence. Of tests of ioco only: they say what it is worth.
    pub silences: Numbered<LocationId, Vec<TransitionId>>,
    /// For each location: with which data the specification is never silent there, wherever one of the
    /// location's outputs that do not lead to Fail is possible. Documents of older versions do not say so of
    /// any.
    pub must_answer: Numbered<LocationId, Term>,
    /// Of the test case of a property, for each location: how the property is violated there, where it is.
    pub violates: Numbered<LocationId, Option<Violated>>,
    /// For each location: the names of the specification's locations that it was made of. None of a verdict's, and
    /// none in documents of older versions.
    pub origins: Numbered<LocationId, BTreeSet<String>>,
    /// What of its guards is the specification's, and not the purpose's, conjunct by conjunct. Documents of
    /// older versions do not say it.
    pub conjuncts: BTreeSet<String>,
    /// Of a test that is judged on line ([`crate::judge::online`]), what that needs; its graph is a product, with internal actions and
    /// choices. None of a test case, which is deterministic.
    pub online: Option<Online>,
    /// Of a timed test case, what it says of time.
    pub timed: Option<TimedCase>,
}

/// What judging on line needs beside the product.
#[derive(Clone, Debug)]
pub struct Online {
    /// For each location: over-approximation of the states from which Accept can be reached.
    pub alive: Numbered<LocationId, Term>,
    /// For each transition: when it leads to such a state.
    pub leads_on: Numbered<TransitionId, Term>,
    /// For each location: the numbers of the internal transitions.
    pub internal: Numbered<LocationId, Vec<TransitionId>>,
}

impl Online {
    /// From the facts.
    fn new(iosts: &Iosts, alive: Numbered<LocationId, Term>) -> Self {
        let leads_on = iosts.transitions.map(|transition| {
            let after = substitute(&alive[transition.target], &transition.assignments);
            Term::and([transition.guard.clone(), after])
        });
        Online { leads_on, internal: internal(iosts), alive }
    }
}

/// The kind of quiescence among the actions of a document.
const QUIESCENCE: &str = "quiescence";

/// The key of a location that must answer.
const MUST_ANSWER: &str = "must_answer";

/// What the stage of a document is called that is judged on line.
const ONLINE: &str = "online_test";

/// The action whose transitions carry facts through the model's reader: what stands in the document as text
/// is read by the one who reads all expressions. Its name is made longer than every other.
const FACT: &str = "fact";

/// Takes the facts out of the model again.
fn take_facts(iosts: &mut Iosts, carrier: Option<&str>) -> Numbered<LocationId, Option<Term>> {
    let mut facts = iosts.locations.map(|_| None);
    let Some(carrier) = carrier.and_then(|name| iosts.find_action(name)) else { return facts };
    let transitions = std::mem::take(&mut iosts.transitions);
    for mut transition in transitions {
        if transition.action == carrier {
            facts[transition.source] = Some(transition.guard);
            continue;
        }
        // Those behind it move up.
        if transition.action > carrier {
            transition.action.0 -= 1;
        }
        iosts.transitions.push(transition);
    }
    let actions = iosts.actions.numbered().filter(|(number, _)| *number != carrier);
    iosts.actions = actions.map(|(_, action)| action.clone()).collect();
    facts
}

/// Why a document is no test case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DocumentError {
    /// The file cannot be read.
    Unreadable(String),
    /// It is no JSON document: the parser's message, with line and column.
    NoJson(String),
    /// It is JSON, and no document of ours: what is missing or wrong, and where.
    NoDocument(String),
    /// It is of another version.
    Version(u64),
    /// It is another stage's artifact.
    Stage(String),
    /// The purpose cannot be reached: there is nothing to run.
    Unreachable,
    /// What it says is no model.
    Model(Vec<Diagnostic>),
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DocumentError::Unreadable(why) => write!(f, "the test case cannot be read: {why}"),
            DocumentError::NoJson(why) => write!(f, "the test case is not JSON: {why}"),
            DocumentError::NoDocument(why) => write!(f, "not a document that `coreach run` writes: {why}"),
            DocumentError::Version(version) => {
                write!(f, "the document has format version {version}, this program reads {FORMAT_VERSION}")
            }
            DocumentError::Stage(stage) => {
                write!(f, "the document holds the stage `{stage}`; expected `test_case`")
            }
            DocumentError::Unreachable => {
                f.write_str("the purpose cannot be reached: there is nothing to run")
            }
            DocumentError::Model(found) => {
                let first = found.iter().find(|diagnostic| diagnostic.is_error());
                let message = first.map_or("unknown reason", |diagnostic| diagnostic.message.as_str());
                write!(f, "the document is no model: {message}")
            }
        }
    }
}

impl std::error::Error for DocumentError {}

impl TestCase {
    /// A test case from its graph and its verdicts, one per location. What the tester only sees is an output of the graph.
    pub fn new(iosts: Iosts, verdicts: Numbered<LocationId, Option<Verdict>>) -> Self {
        let mut stimuli = iosts.locations.map(|_| Vec::new());
        let mut observations = iosts.locations.map(|_| Vec::new());
        let mut silences = iosts.locations.map(|_| Vec::new());
        for (number, transition) in iosts.transitions.numbered() {
            let source = transition.source;
            match iosts.action(transition.action).kind {
                ActionKind::Input => stimuli[source].push(number),
                ActionKind::Output => observations[source].push(number),
                ActionKind::Quiescence => silences[source].push(number),
                ActionKind::Internal => {}
            }
        }
        let must_answer = iosts.locations.map(|_| Term::no());
        let violates = iosts.locations.map(|_| None);
        let origins = iosts.locations.map(|_| BTreeSet::new());
        TestCase {
            conjuncts: BTreeSet::new(),
            iosts,
            verdicts,
            stimuli,
            observations,
            silences,
            must_answer,
            violates,
            origins,
            online: None,
            timed: None,
        }
    }

    /// The constants' values in a state, in their order.
    pub fn constants_in(&self, state: &State) -> Vec<(Datum, Value)> {
        let value = |datum: &Datum| Some((datum.clone(), state.valuation.get(datum)?.clone()));
        self.iosts.constants.iter().filter_map(value).collect()
    }

    /// The actions as adapters see them: of a timed test case, without their delays.
    pub fn wire(&self) -> &Iosts {
        self.timed.as_ref().map_or(&self.iosts, |timed| &timed.wire)
    }

    /// The verdict of a location.
    pub fn verdict(&self, location: LocationId) -> Option<Verdict> {
        self.verdicts[location]
    }

    /// Reads a test case's document from the disk.
    ///
    /// # Errors
    /// [`DocumentError`].
    pub fn load(path: &Path) -> Result<Self, DocumentError> {
        let bytes = file::read(path, file::MOST_DOCUMENT);
        let bytes = bytes.map_err(|error| DocumentError::Unreadable(error.to_string()))?;
        TestCase::from_json(&bytes)
    }

    /// Reads a test case's document.
    ///
    /// # Errors
    /// [`DocumentError`].
    pub fn from_json(bytes: &[u8]) -> Result<Self, DocumentError> {
        let document = json::document(bytes).map_err(DocumentError::NoJson)?;
        if document.get("format").and_then(Json::as_str) != Some("coreach") {
            return Err(DocumentError::NoDocument("`format` is not `coreach`".to_owned()));
        }
        match document.get("format_version").and_then(Json::as_u64) {
            Some(
                FORMAT_VERSION
                | FORMAT_VERSION_WITH_OTHERS
                | FORMAT_VERSION_ONLINE
                | FORMAT_VERSION_WITH_QUIESCENCE
                | FORMAT_VERSION_TIMED,
            ) => {}
            Some(version) => return Err(DocumentError::Version(version)),
            None => return Err(DocumentError::NoDocument("`format_version` is missing".to_owned())),
        }
        let stage = text(&document, "stage", "the document")?;
        let is_online = stage == ONLINE;
        if stage != "test_case" && !is_online {
            return Err(DocumentError::Stage(stage.to_owned()));
        }
        if document.get("purpose_reachable") == Some(&Json::Bool(false)) {
            return Err(DocumentError::Unreachable);
        }
        // A document of ours is read up to the limits of what we write.
        let (model, carrier) = model(&document)?;
        let model = format!("{MADE_MARK}test case\n{}", as_yaml(&model));
        let file = from_bytes("test case".to_owned(), model.into_bytes())
            .map_err(|diagnostic| DocumentError::Model(vec![diagnostic]))?;
        let (specification, _) = read_specification(file).map_err(DocumentError::Model)?;
        let mut iosts = specification.iosts;
        take_quiescence(&mut iosts, &document)?;
        let mut facts = take_facts(&mut iosts, carrier.as_deref());
        let places: HashMap<String, LocationId> =
            iosts.locations.numbered().map(|(at, location)| (location.name.clone(), at)).collect();
        let mut verdicts = iosts.locations.map(|_| None);
        let mut must_answer = iosts.locations.map(|_| Term::no());
        let mut violates = iosts.locations.map(|_| None);
        let mut origins = iosts.locations.map(|_| BTreeSet::new());
        for location in list(&document, "locations")? {
            let name = text(location, "name", "a location")?;
            let known = |word: &str| {
                let verdict = Verdict::of_word(word);
                verdict.ok_or_else(|| DocumentError::NoDocument(format!("`{word}` is no verdict")))
            };
            let verdict = location.get("verdict").and_then(Json::as_str).map(known).transpose()?;
            let always = match location.get(MUST_ANSWER) {
                None | Some(Json::Bool(false)) => Term::no(),
                Some(Json::Bool(true)) => Term::yes(),
                Some(_) if is_online => Term::no(),
                Some(_) => places.get(name).and_then(|at| facts[*at].take()).unwrap_or_else(Term::no),
            };
            let how = |word: &Json| {
                word.as_str().and_then(Violated::of_word).ok_or_else(|| {
                    DocumentError::NoDocument("`violates` is neither `allowed` nor `forbidden`".to_owned())
                })
            };
            let violated = location.get("violates").map(how).transpose()?;
            if let Some(at) = places.get(name) {
                verdicts[*at] = verdict;
                must_answer[*at] = always;
                violates[*at] = violated;
                origins[*at] = names_of_specification(location);
            }
        }
        if let Some(name) = document.get("others_fail") {
            let wrong = || DocumentError::NoDocument("`others_fail` names no location Fail".to_owned());
            let fail = name.as_str().and_then(|name| iosts.find_location(name)).ok_or_else(wrong)?;
            if verdicts[fail] != Some(Verdict::Fail) {
                return Err(wrong());
            }
            write_out_others(&mut iosts, &verdicts, fail);
        }
        let online = is_online.then(|| {
            let alive = facts.map(|fact| fact.clone().unwrap_or_else(Term::yes));
            Online::new(&iosts, alive)
        });
        let timed = TimedCase::read(&document, &mut iosts).map_err(DocumentError::NoDocument)?;
        if online.is_some() && timed.is_some() {
            return Err(DocumentError::NoDocument("a test that is judged on line is not `timed`".to_owned()));
        }
        let said = document.get("made_of").and_then(|made| made.get("conjuncts")).and_then(Json::as_array);
        let said = said.into_iter().flatten().filter_map(Json::as_str);
        let conjuncts = said.map(str::to_owned).collect();
        let plain = TestCase::new(iosts, verdicts);
        Ok(TestCase { must_answer, violates, origins, conjuncts, online, timed, ..plain })
    }
}

/// The specification's locations that a location was made of.
fn names_of_specification(location: &Json) -> BTreeSet<String> {
    let names = location.get("origins").and_then(|origins| origins.get("specification"));
    let names = names.and_then(Json::as_array).into_iter().flatten();
    names.filter_map(Json::as_str).map(str::to_owned).collect()
}

/// Which of the outputs that were read is quiescence.
fn take_quiescence(iosts: &mut Iosts, document: &Json) -> Result<(), DocumentError> {
    for action in list(document, "actions")? {
        if text(action, "kind", "an action")? == QUIESCENCE
            && let Some(id) = iosts.find_action(text(action, "name", "an action")?)
        {
            iosts.actions[id].kind = ActionKind::Quiescence;
        }
    }
    Ok(())
}

/// JSON that every YAML reader takes: JSON may hold signs as they are that YAML wants to see escaped, and YAML has an
/// escape for each. Such signs stand in texts only.
fn as_yaml(json: &Json) -> String {
    let mut text = String::new();
    for sign in json.to_string().chars() {
        if sign == '\u{7f}' || !sign.is_ascii() {
            text.push_str(&format!("\\U{:08X}", u32::from(sign)));
        } else {
            text.push(sign);
        }
    }
    text
}

/// What `others_fail` says: at each location without a verdict, each output without a transition leads to Fail.
fn write_out_others(iosts: &mut Iosts, verdicts: &Numbered<LocationId, Option<Verdict>>, fail: LocationId) {
    let known: HashSet<_> = iosts.transitions.iter().map(|t| (t.source, t.action)).collect();
    let outputs: Vec<_> = iosts.action_ids().filter(|action| iosts.action(*action).is_observed()).collect();
    let open = iosts.location_ids().filter(|location| verdicts[*location].is_none());
    let mut added = Vec::new();
    for source in open {
        for &action in outputs.iter().filter(|action| !known.contains(&(source, **action))) {
            added.push(Transition {
                source,
                action,
                guard: Term::yes(),
                assignments: Substitution::new(),
                target: fail,
                origin: TransitionOrigin::default(),
            });
        }
    }
    iosts.transitions.extend(added);
}

fn text<'a>(of: &'a Json, key: &str, what: &str) -> Result<&'a str, DocumentError> {
    let missing = || DocumentError::NoDocument(format!("{what} has no text `{key}`"));
    of.get(key).and_then(Json::as_str).ok_or_else(missing)
}

fn list<'a>(of: &'a Json, key: &str) -> Result<&'a Vec<Json>, DocumentError> {
    let missing = || DocumentError::NoDocument(format!("there is no list `{key}`"));
    of.get(key).and_then(Json::as_array).ok_or_else(missing)
}

/// The document in the shape of the model format, and the name of the action that carries facts, where there
/// are any.
fn model(document: &Json) -> Result<(Json, Option<String>), DocumentError> {
    let mut types = Map::new();
    for ty in list(document, "types")? {
        let definition = match (ty.get("literals"), ty.get("fields")) {
            (Some(literals), None) => literals.clone(),
            (None, Some(_)) => Json::Object(data(list(ty, "fields")?)?),
            _ => return Err(DocumentError::NoDocument("a type has neither literals nor fields".to_owned())),
        };
        types.insert(text(ty, "name", "a type")?.to_owned(), definition);
    }
    let (mut inputs, mut outputs, mut internals) = (Map::new(), Map::new(), Vec::new());
    for action in list(document, "actions")? {
        let name = text(action, "name", "an action")?.to_owned();
        let parameters = Json::Object(data(list(action, "parameters")?)?);
        match text(action, "kind", "an action")? {
            "input" => inputs.insert(name, parameters),
            "output" | QUIESCENCE => outputs.insert(name, parameters),
            // No transition of a test case carries one.
            "internal" => {
                internals.push(json!(name));
                None
            }
            other => return Err(DocumentError::NoDocument(format!("`{other}` is no kind of action"))),
        };
    }
    let mut locations = Map::new();
    for location in list(document, "locations")? {
        let name = text(location, "name", "a location")?;
        let mut facts = Map::new();
        facts.insert("label".to_owned(), json!(text(location, "label", "a location")?));
        if let Some(description) = location.get("description") {
            facts.insert("description".to_owned(), description.clone());
        }
        locations.insert(name.to_owned(), Json::Object(facts));
    }
    let mut transitions = Vec::new();
    for transition in list(document, "transitions")? {
        let guard = transition.get("guard").unwrap_or(&Json::Null);
        let mut assign = Map::new();
        for assignment in list(transition, "assignments")? {
            let value = text(assignment, "text", "an assignment")?;
            assign.insert(text(assignment, "variable", "an assignment")?.to_owned(), json!(value));
        }
        transitions.push(json!({
            "from": text(transition, "source", "a transition")?,
            "to": text(transition, "target", "a transition")?,
            "on": text(transition, "action", "a transition")?,
            "when": text(guard, "text", "a guard")?,
            "assign": assign,
        }));
    }
    let is_online = document.get("stage").and_then(Json::as_str) == Some(ONLINE);
    let key = if is_online { "coreach" } else { MUST_ANSWER };
    // No longer than a name may be, whatever the model's own are called.
    let is_free = |name: &String| {
        !inputs.contains_key(name) && !outputs.contains_key(name) && !internals.contains(&json!(name))
    };
    let name_of_carrier =
        (0..).map(|number: u64| format!("{FACT}_{number}")).find(is_free).unwrap_or_default();
    let mut carrier = None;
    for location in list(document, "locations")? {
        let name = text(location, "name", "a location")?;
        let fact = match location.get(key) {
            None | Some(Json::Bool(_)) if !is_online => continue,
            fact => text(fact.unwrap_or(&Json::Null), "text", &format!("`{key}`"))?,
        };
        carrier = Some(name_of_carrier.clone());
        transitions.push(json!({ "from": name, "to": name, "on": name_of_carrier, "when": fact }));
    }
    if let Some(carrier) = &carrier {
        outputs.insert(carrier.clone(), json!({}));
    }
    if !is_online {
        internals.clear();
    }
    let initial = document.get("initial").unwrap_or(&Json::Null);
    let condition = initial.get("condition").unwrap_or(&Json::Null);
    let mut model = Map::new();
    model.insert("iosts".to_owned(), json!(text(document, "name", "the document")?));
    for (key, part) in [
        ("types", types),
        ("constants", data(list(document, "constants")?)?),
        ("variables", data(list(document, "variables")?)?),
        ("locations", locations),
        ("inputs", inputs),
        ("outputs", outputs),
    ] {
        if !part.is_empty() {
            model.insert(key.to_owned(), Json::Object(part));
        }
    }
    if !internals.is_empty() {
        model.insert("internals".to_owned(), Json::Array(internals));
    }
    model.insert(
        "initial".to_owned(),
        json!({
            "location": text(initial, "location", "`initial`")?,
            "condition": text(condition, "text", "the initial condition")?,
        }),
    );
    model.insert("transitions".to_owned(), Json::Array(transitions));
    Ok((Json::Object(model), carrier))
}

fn data(of: &[Json]) -> Result<Map<String, Json>, DocumentError> {
    of.iter()
        .map(|datum| {
            let name = text(datum, "name", "a datum")?;
            Ok((name.to_owned(), json!(text(datum, "type", "a datum")?)))
        })
        .collect()
}
