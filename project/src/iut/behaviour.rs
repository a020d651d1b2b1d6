//! Reads the keys about an implementation's behaviour: `within` says how long a reply may take, `silence` the
//! verdict if none comes. `on_close` and `reconnect` name the actions for a closed and a new connection.
//! `shared` says what runs share, `samples` which values to try, `weights` how often actions are sent.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use coreach_adapters::behaviour::{Behaviour, Samples, TOLERANCE, Within};
use coreach_adapters::description::Command;
use coreach_adapters::samples::SampleProgram;
use coreach_adapters::shared::SharedRuns;
use coreach_model::iosts::{Action, ActionKind, Transition};
use coreach_model::random::Random;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, NodeKind, Scalar, Yaml};
use coreach_model::regular::RegularExpression;
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::{Datum, Type, Value, codec, json};

use super::launch;
use super::words::{Holes, IutReader, describe_sample};
use crate::configuration::{names_in_types, read_value};

pub const KEYS: [&str; 8] =
    ["within", "silence", "on_close", "reconnect", "tolerance_ms", "shared", "samples", "weights"];

/// The ways with a connection that can be closed.
const CONNECTED: [&str; 2] = ["stdio", "tcp"];

const TIME: &str = "within: 500 ms";

const WITHIN: &str = "within: { all: 500 ms, locations: { Pay: 300 ms }, after: { Coin: 2 s } }";

/// Reads the behaviour. `way` is the key that says how the implementation is reached.
pub fn read_behaviour(reader: &mut IutReader<'_>, root: &[Entry], way: &str) -> Behaviour {
    let silence_fails = reader.read_choice(root, "silence", &[("inconclusive", false), ("fail", true)]);
    let within = shape::get(root, "within").map(|node| read_within(reader, node)).unwrap_or_default();
    let on_close = read_action(reader, root, "on_close", "on_close: Hangup", ActionKind::Output, way);
    let reconnect = read_action(reader, root, "reconnect", "reconnect: Connect", ActionKind::Input, way);
    let tolerance = shape::get(root, "tolerance_ms").map(|_| {
        let usual = u64::try_from(TOLERANCE.as_millis()).unwrap_or(u64::MAX);
        reader.read_ms(root, "tolerance_ms", usual)
    });
    let shared =
        shape::get(root, "shared").and_then(|node| read_shared(reader, node, way)).unwrap_or_default();
    let (samples, sample_programs) =
        shape::get(root, "samples").map(|node| read_samples(reader, node)).unwrap_or_default();
    Behaviour {
        on_close,
        reconnect,
        within,
        silence_fails: silence_fails.unwrap_or(false),
        shared,
        tolerance,
        samples,
        sample_programs,
        weights: shape::get(root, "weights").map(|node| read_weights(reader, node)).unwrap_or_default(),
    }
}

/// Reads how often actions are sent at random.
fn read_weights(reader: &mut IutReader<'_>, node: &Yaml) -> BTreeMap<String, usize> {
    const LIKE: &str = "weights: { Cancel: 1, Add: 5 }";
    /// The greatest weight.
    const MOST: usize = 1000;
    let entries = shape::mapping(reader.collector, node, "`weights`", LIKE).unwrap_or(&[]);
    shape::check_distinct(reader.collector, entries, "duplicate-key", "action");
    let mut weights = BTreeMap::new();
    for entry in shape::first_entries(entries) {
        let name = &entry.key.text;
        let quoted = format!("`{name}`");
        let Some(scalar) = shape::scalar(reader.collector, &entry.value, &quoted, LIKE) else {
            continue;
        };
        match scalar.text.parse() {
            Ok(weight) if (1..=MOST).contains(&weight) => drop(weights.insert(name.clone(), weight)),
            _ => {
                let message = format!("the weight of {quoted} must be a number from 1 to {MOST}");
                reader.refuse(&entry.value, &message, "not a weight", &format!("for example `{LIKE}`"));
            }
        }
        let Some(iosts) = reader.iosts else { continue };
        let known = || {
            let inputs = iosts.actions.iter().filter(|action| action.kind == ActionKind::Input);
            inputs.map(|action| action.name.as_str())
        };
        if !known().any(|known| known == name) {
            let help = reader.collector.suggest(name, "inputs", known);
            let message = format!("unknown input `{name}`");
            let label = "the model has no such input";
            reader.collector.mistake("unknown-action", message, &entry.key.span, label, help);
        }
    }
    weights
}

/// Reads values of parameters that are to be tried, and programs that print such values.
fn read_samples(reader: &mut IutReader<'_>, node: &Yaml) -> (Samples, BTreeMap<String, SampleProgram>) {
    const LIKE: &str = "samples: { pUser: [alice, bob], pMail: [ { regex: '[a-z]{1,8}@a.org' } ] }";
    let entries = shape::mapping(reader.collector, node, "`samples`", LIKE).unwrap_or(&[]);
    shape::check_distinct(reader.collector, entries, "duplicate-key", "parameter");
    let (mut samples, mut programs) = (Samples::new(), BTreeMap::new());
    for entry in shape::first_entries(entries) {
        let with_parts = false;
        let types = reader.find_types_in(&entry.key, with_parts);
        let quoted = format!("`{}`", entry.key.text);
        // A mapping for the whole parameter is a program, and one in the list a regular expression.
        if matches!(entry.value.kind, NodeKind::Mapping(_)) {
            let program = read_program(reader, &entry.value, &quoted, types);
            programs.extend(program.map(|program| (entry.key.text.clone(), program)));
            continue;
        }
        for item in shape::list(reader.collector, &entry.value, &quoted, LIKE).unwrap_or(&[]) {
            let type_with_parts = types.iter().find(|ty| matches!(ty, Type::Record(_)));
            let help = type_with_parts.map(|ty| describe_sample(&entry.key.text, ty));
            if matches!(item.kind, NodeKind::Mapping(_)) {
                if let Some(help) = &help {
                    let message = format!("a value of {quoted} is written as one text");
                    reader.refuse(item, &message, "keys and values", help);
                    continue;
                }
                let words = read_sample_words(reader, item, LIKE);
                let fits = |word: &String| types.iter().all(|ty| codec::from_text(word, ty).is_ok());
                if !words.is_empty() && !words.iter().any(fits) {
                    let message = format!("no text that fits this regular expression is a value of {quoted}");
                    reader.refuse(item, &message, "none of its words", &format!("for example `{LIKE}`"));
                }
                samples.entry(entry.key.text.clone()).or_default().extend(words.into_iter().filter(fits));
                continue;
            }
            let Some(scalar) = shape::scalar(reader.collector, item, "a value", LIKE) else { continue };
            let sample = read_sample(reader, (item, scalar), &types, &quoted, help.as_deref());
            if let Some(sample) = &sample {
                warn_of_excluded(reader, &entry.key.text, sample, scalar);
            }
            samples.entry(entry.key.text.clone()).or_default().extend(sample);
        }
    }
    (samples, programs)
}

/// Warns of a sample that a condition of each guard excludes, whatever else there is: it is never sent. Only
/// conditions that read nothing but the parameter are evaluated.
fn warn_of_excluded(reader: &mut IutReader<'_>, parameter: &str, sample: &str, place: &Scalar) {
    let Some(iosts) = reader.iosts else { return };
    let mut steps = iosts.transitions.iter().filter_map(|transition| {
        let action = iosts.action(transition.action);
        let datum = action.parameters.iter().find(|datum| datum.name() == parameter)?;
        (action.kind == ActionKind::Input).then_some((datum, action, transition))
    });
    let find_excluding = |(datum, action, transition): (&Datum, &Action, &Transition)| {
        let value = codec::from_text(sample, datum.ty()).ok()?;
        let valuation = Valuation::from([(datum.clone(), value)]);
        let mut parts = transition.guard.conjuncts().into_iter();
        let part = parts.find(|part| evaluate(part, &valuation) == Ok(Value::Bool(false)))?;
        Some((action.name.clone(), part))
    };
    let Some((action, part)) = steps.clone().next().and_then(find_excluding) else { return };
    if steps.all(|step| find_excluding(step).is_some()) {
        let message = format!("coreach never sends this sample: the guard of `{action}` needs `{part}`");
        let help = "write a value that a guard allows, or change the guard";
        reader.warn("sample-never-sent", message, &place.span, "no guard allows it", help);
    }
}

/// Reads a sample as it is sent, or as a model writes it if the type has parts. Returns it as it is sent.
fn read_sample(
    reader: &mut IutReader<'_>,
    (item, scalar): (&Yaml, &Scalar),
    types: &[Type],
    quoted: &str,
    help: Option<&str>,
) -> Option<String> {
    let text = &scalar.text;
    let Some(why) = types.iter().find_map(|ty| codec::from_text(text, ty).err()) else {
        return Some(text.clone());
    };
    let has_parts = |ty: &Type| matches!(ty, Type::Record(_) | Type::Array(_));
    // A model writes parts with these signs. JSON has some of them, too.
    let is_of_model = text.contains(['(', '{', '[', '"']) && json::parse(text, json::WIRE).is_err();
    if types.iter().all(has_parts) && is_of_model {
        let whose = format!("a sample of {quoted}");
        let names = names_in_types(types.iter());
        let value = types.first().and_then(|ty| read_value(reader.collector, item, &names, ty, &whose));
        return value.as_ref().map(codec::to_text);
    }
    let label = format!("not a value of {quoted}");
    match help {
        Some(help) => reader.collector.mistake("wrong-value", why.to_string(), &scalar.span, label, help),
        None => reader.collector.error("wrong-value", why.to_string(), &scalar.span, label),
    }
    None
}

/// Reads the program that prints values of a parameter. `what` is the parameter in messages.
fn read_program(
    reader: &mut IutReader<'_>,
    node: &Yaml,
    what: &str,
    types: Vec<Type>,
) -> Option<SampleProgram> {
    const LIKE: &str = "samples: { pMail: { command: [python3, mails.py] } }";
    let entries = shape::mapping(reader.collector, node, what, LIKE)?;
    shape::check_keys(reader.collector, entries, &["command", "directory", "environment", "within_ms"], what);
    let within = reader.read_ms(entries, "within_ms", 10_000);
    let Command { words, directory, environment, .. } =
        launch::read_command(reader, entries, node, what, LIKE, Holes::none())?;
    let words = words.iter().map(|word| word.fill(|_| None).ok()).collect::<Option<Vec<String>>>()?;
    Some(SampleProgram { words, directory, environment, within, types })
}

/// Draws some words of a regular expression, always the same ones.
fn read_sample_words(reader: &mut IutReader<'_>, item: &Yaml, like: &str) -> Vec<String> {
    let Some(keys) = shape::mapping(reader.collector, item, "values", like) else { return Vec::new() };
    shape::check_keys(reader.collector, keys, &["regex"], "values");
    let node = shape::required(reader.collector, item, keys, "regex", "values", like);
    let scalar = node.and_then(|node| shape::scalar(reader.collector, node, "`regex`", like));
    let Some(scalar) = scalar else { return Vec::new() };
    match RegularExpression::parse(&scalar.text) {
        Ok(expression) => {
            let mut random = Random::new(1);
            let words: BTreeSet<String> = (0..32).map(|_| expression.word(&mut random)).collect();
            words.into_iter().collect()
        }
        Err(why) => {
            let message = "this is not a regular expression".to_owned();
            reader.collector.error("regular-expression", message, &scalar.span, why);
            Vec::new()
        }
    }
}

/// Reads `shared`: runs do not disturb each other, or the name of the thing that they share.
fn read_shared(reader: &mut IutReader<'_>, node: &Yaml, way: &str) -> Option<SharedRuns> {
    let like = "`shared: safe`, or a name, such as `shared: broker`";
    let scalar = shape::scalar(reader.collector, node, "`shared`", like)?;
    let message = match (way, scalar.text.as_str()) {
        ("simulated", _) => "`shared` has no meaning with `simulated`: each run has its own system",
        (_, "") => "an empty text is not a name",
        (_, "safe") => return Some(SharedRuns::Safe),
        (_, name) => return Some(SharedRuns::Named(name.to_owned())),
    };
    reader.refuse(node, message, "not here", &format!("leave it out, or write {like}"));
    None
}

/// Reads the name of the action for an event of the connection. Notes it in `reader.apart`.
fn read_action(
    reader: &mut IutReader<'_>,
    root: &[Entry],
    key: &str,
    like: &str,
    kind: ActionKind,
    way: &str,
) -> Option<String> {
    let node = shape::get(root, key)?;
    let scalar = shape::scalar(reader.collector, node, &format!("`{key}`"), like)?;
    if !CONNECTED.contains(&way) {
        let message = match way {
            "http" => format!("`{key}` has no meaning over `http`: each request has a connection of its own"),
            "simulated" => format!("`{key}` has no meaning with `simulated`: there is no connection"),
            other_way => format!("`{key}` has no meaning over `{other_way}`: there is no connection"),
        };
        reader.refuse(node, &message, "not here", &format!("leave out `{key}`"));
        return None;
    }
    let name = scalar.text.clone();
    let Some(iosts) = reader.iosts else {
        reader.apart.push(name.clone());
        return Some(name);
    };
    let (expected, opposite) = match kind {
        ActionKind::Output => ("an output", "an input"),
        _ => ("an input", "an output"),
    };
    match iosts.actions.iter().find(|action| action.name == name) {
        Some(action) if action.kind != kind => {
            let actual = if action.kind == ActionKind::Internal { "an internal action" } else { opposite };
            let message = format!("`{name}` is {actual} of the model");
            let help = format!("`{key}` names {expected}");
            reader.collector.mistake("wrong-direction", message, &scalar.span, "not here", help);
            None
        }
        Some(action) if !action.parameters.is_empty() => {
            let message = format!("`{name}` has parameters, but the connection gives no values for them");
            let help = format!("`{key}` names {expected} without parameters");
            reader.refuse(node, &message, "not here", &help);
            None
        }
        Some(_) => {
            reader.apart.push(name.clone());
            Some(name)
        }
        None => {
            let kinds = if kind == ActionKind::Output { "outputs" } else { "inputs" };
            let is_possible = |action: &Action| action.kind == kind && action.parameters.is_empty();
            let kinds = format!("{kinds} without parameters");
            reader.report_unknown_action(&name, &scalar.span, &kinds, is_possible);
            None
        }
    }
}

/// Reads `within`: one time for all replies, or times for locations and for replies after an action.
fn read_within(reader: &mut IutReader<'_>, node: &Yaml) -> Within {
    if !matches!(node.kind, NodeKind::Mapping(_)) {
        return Within { all: reader.read_time(node, "within", TIME, WITHIN), ..Within::default() };
    }
    let entries = shape::mapping(reader.collector, node, "`within`", WITHIN).unwrap_or(&[]);
    shape::check_keys(reader.collector, entries, &["all", "locations", "after"], "`within`");
    let all = shape::get(entries, "all").and_then(|node| reader.read_time(node, "all", TIME, WITHIN));
    let (locations, after) = (read_times(reader, entries, "locations"), read_times(reader, entries, "after"));
    if let Some(nameable) = reader.locations {
        locations.iter().for_each(|(name, span, _)| nameable.report_unknown(reader.collector, name, span));
    }
    // Without a model, the names of actions are not checked.
    let Some(iosts) = reader.iosts else {
        return Within { all, locations: times_by_name(locations), after: times_by_name(after) };
    };
    let is_visible = |name: &str| iosts.find_action(name).is_some_and(|id| iosts.action(id).is_visible());
    for (name, span, _) in after.iter().filter(|(name, ..)| !is_visible(name)) {
        reader.report_unknown_action(name, span, "actions", Action::is_visible);
    }
    Within { all, locations: times_by_name(locations), after: times_by_name(after) }
}

type NamedTimes = Vec<(String, std::ops::Range<usize>, Duration)>;

fn times_by_name(times: NamedTimes) -> BTreeMap<String, Duration> {
    times.into_iter().map(|(name, _, time)| (name, time)).collect()
}

fn read_times(reader: &mut IutReader<'_>, entries: &[Entry], key: &str) -> NamedTimes {
    let mut times = Vec::new();
    for entry in reader.read_entries(entries, key, "name", WITHIN) {
        let time = reader.read_time(&entry.value, &entry.key.text, TIME, WITHIN);
        times.extend(time.map(|time| (entry.key.text.clone(), entry.key.span.clone(), time)));
    }
    times
}
