//! Traces from JSON lines: what our own runs record, and lines of events.
//!
//! ```text
//! file   = { line }                              or one document of JSON over several lines, which is taken for one line
//! line   = record | "{" "runs": [ record ] "}"   each record is a trace
//!        | "[" event { "," event } "]"           a trace
//!        | event                                 all such lines together are one trace, as a timed sequence has them
//! record = "{" "trace": [ event ], ... "}"
//! event  = "{" "action": name, [ "values": { name: value } ], [ "direction": "stimulus" | "observation" | "input" | "output" ], ... "}"
//! value  = truth value | number | text            a text that is a number, or a fraction, is one: so our records write large ones
//! ```
//!
//! Silence and delays are no events of a model without time; they are left out and told. Where no direction
//! is recorded, the user says it ([`crate::directions`]). All events of an action have the same parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use coreach_model::diagnostic::Diagnostic;
use coreach_model::reader::collect::{Collector, listed};
use coreach_model::{ActionKind, budget};

use super::recorded::Raw;
use super::recorded::{RecordedAction, RecordedEvent, RecordedTraces};
use crate::directions::Directions;
use crate::json::{Comments, Json, JsonValue, parse};
use crate::options::{Options, too_many};

/// An event as it is read.
struct Seen {
    name: String,
    name_span: Range<usize>,
    direction: Option<ActionKind>,
    values: Vec<(String, Raw)>,
    span: Range<usize>,
}

/// The traces of a file; none where a limit was met or nothing can be made of it.
pub fn read(collector: &mut Collector, options: &Options) -> Option<RecordedTraces> {
    let file = collector.file.clone();
    let mut reader = Reader {
        collector,
        most: options.most,
        events: 0,
        silent: None,
        traces: Vec::new(),
        single: Vec::new(),
    };
    reader.file(&file.text)?;
    let Reader { silent, mut traces, single, .. } = reader;
    if !single.is_empty() {
        traces.push(single);
    }
    if let Some((count, span)) = silent {
        let message = "silence and delays are left out: a skeleton has no time";
        let found = Diagnostic::warning("not-taken", message).at(collector.origin(&span), "the first");
        collector.push(if count > 1 { found.note(format!("{count} times in the file")) } else { found });
    }
    if collector.errors() > 0 {
        return None;
    }
    if traces.is_empty() {
        collector.push(Diagnostic::error("no-traces", "there is no trace in the file"));
        return None;
    }
    table(collector, options, &traces)
}

struct Reader<'a> {
    collector: &'a mut Collector,
    most: usize,
    events: usize,
    /// How often there is silence or a delay, and where first.
    silent: Option<(usize, Range<usize>)>,
    traces: Vec<Vec<Seen>>,
    /// The trace of the lines that are an event each.
    single: Vec<Seen>,
}

impl Reader<'_> {
    fn file(&mut self, text: &str) -> Option<()> {
        let mut start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let body = &text[start..];
        let first = body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        // A document that is laid out over lines has a first line that ends in the middle.
        if parse(first, 0, Comments::Refused).is_err()
            && let Ok(json) = parse(body, start, Comments::Refused)
        {
            return self.line(&json);
        }
        for line in body.split_inclusive('\n') {
            budget::ask();
            let json = if line.trim().is_empty() {
                None
            } else {
                Some(parse(line.trim_end(), start, Comments::Refused))
            };
            start += line.len();
            match json {
                None => {}
                Some(Ok(json)) => self.line(&json)?,
                Some(Err((message, span))) => self.collector.error("syntax", message, &span, "here"),
            }
            if self.collector.is_full() {
                return None;
            }
        }
        Some(())
    }

    fn line(&mut self, json: &Json) -> Option<()> {
        match &json.value {
            JsonValue::List(items) => self.trace(items),
            JsonValue::Object(_) if json.get("trace").is_some() => self.record(json),
            JsonValue::Object(_) if json.get("runs").is_some() => {
                for run in self.list(json, "runs") {
                    self.record(run)?;
                }
                Some(())
            }
            JsonValue::Object(_) => {
                let event = self.event(json)?;
                self.single.extend(event);
                Some(())
            }
            _ => {
                let message = format!("expected a trace or an event, found {}", json.describe());
                self.collector.error("wrong-kind", message, &json.span, "no object");
                Some(())
            }
        }
    }

    fn record(&mut self, json: &Json) -> Option<()> {
        if json.get("trace").is_none() {
            let message = "a record without `trace`";
            self.collector.error(
                "missing-key",
                message,
                &(json.span.start..json.span.start + 1),
                "it is missing here",
            );
            return Some(());
        }
        let items = self.list(json, "trace");
        self.trace(items)
    }

    fn list<'j>(&mut self, json: &'j Json, key: &str) -> &'j [Json] {
        match json.get(key).map(|value| (&value.value, &value.span)) {
            Some((JsonValue::List(items), _)) => items,
            Some((_, span)) => {
                self.collector.error("wrong-kind", format!("`{key}` is a list"), span, "no list");
                &[]
            }
            None => &[],
        }
    }

    fn trace(&mut self, items: &[Json]) -> Option<()> {
        let mut trace = Vec::new();
        for item in items {
            if self.collector.is_full() {
                return None;
            }
            trace.extend(self.event(item)?);
        }
        self.traces.push(trace);
        Some(())
    }

    /// An event, if it is one; the outer none where a limit was met.
    #[expect(clippy::option_option, reason = "a limit ends all, a mistake one event")]
    fn event(&mut self, json: &Json) -> Option<Option<Seen>> {
        let head = json.span.start..json.span.start + 1;
        if !matches!(json.value, JsonValue::Object(_)) {
            let message = format!("expected an event, found {}", json.describe());
            self.collector.error("wrong-kind", message, &json.span, "no object");
            return Some(None);
        }
        let direction = match json.get("direction") {
            None => None,
            Some(value) => match value.text().map(|piece| piece.text.as_str()) {
                Some("stimulus" | "input") => Some(ActionKind::Input),
                Some("observation" | "output") => Some(ActionKind::Output),
                Some("silence" | "delay") => {
                    self.silence(&value.span);
                    return Some(None);
                }
                _ => {
                    let message = "a direction is `stimulus` or `observation`, `input` or `output`";
                    self.collector.error("unknown-direction", message, &value.span, "none of them");
                    return Some(None);
                }
            },
        };
        let Some(action) = json.get("action") else {
            // A delay at the end of a sequence.
            if let Some(delay) = json.get("delay") {
                self.silence(&delay.span);
            } else {
                let message = "an event without `action`";
                self.collector.error("missing-key", message, &head, "it is missing here");
            }
            return Some(None);
        };
        if let Some(delay) = json.get("delay") {
            self.silence(&delay.span);
        }
        let Some(name) = action.text().filter(|name| !name.is_empty()) else {
            let message = format!("`action` is a name, but this is {}", action.describe());
            self.collector.error("wrong-kind", message, &action.span, "no name");
            return Some(None);
        };
        if self.events == self.most {
            too_many(self.collector, &head, "events", self.most);
            return None;
        }
        self.events += 1;
        let mut values = Vec::new();
        match json.get("values").map(|values| (&values.value, &values.span)) {
            None => {}
            Some((JsonValue::Object(members), _)) => {
                for (key, value) in members {
                    match Raw::of(value) {
                        Ok(raw) => values.push((key.text.clone(), raw)),
                        Err(message) => self.collector.error("value", message, &value.span, "this value"),
                    }
                }
            }
            Some((_, span)) => {
                self.collector.error(
                    "wrong-kind",
                    "`values` is an object, `{ name: value }`",
                    span,
                    "no object",
                );
            }
        }
        let (name_span, name) = (name.whole(), name.text.clone());
        Some(Some(Seen { name, name_span, direction, values, span: json.span.clone() }))
    }

    fn silence(&mut self, span: &Range<usize>) {
        let entry = self.silent.get_or_insert((0, span.clone()));
        entry.0 += 1;
    }
}

/// The traces by numbers of actions.
fn table(collector: &mut Collector, options: &Options, traces: &[Vec<Seen>]) -> Option<RecordedTraces> {
    let names: BTreeSet<&str> = traces.iter().flatten().map(|seen| seen.name.as_str()).collect();
    let mut directions = Directions::new(collector, options, &names);
    let mut recorded = RecordedTraces::default();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for trace in traces {
        let mut events = Vec::new();
        for seen in trace {
            budget::ask();
            if collector.is_full() {
                return None;
            }
            let origin = collector.origin(&seen.name_span);
            let Some(kind) = directions.of(collector, &seen.name, seen.direction, &origin) else { continue };
            if kind == ActionKind::Internal {
                let message = "what was recorded is not internal";
                collector.push(Diagnostic::error("contradiction", message).at(origin, "recorded here"));
                continue;
            }
            let number = *numbers.entry(&seen.name).or_insert_with(|| {
                recorded.actions.push(RecordedAction {
                    name: seen.name.clone(),
                    kind,
                    parameters: seen.values.iter().map(|(name, _)| name.clone()).collect(),
                    span: seen.name_span.clone(),
                });
                recorded.actions.len() - 1
            });
            let known = &recorded.actions[number];
            let first = collector.origin(&known.span);
            if known.kind != kind {
                let message = format!("`{}` is stimulus and observation", seen.name);
                let found =
                    Diagnostic::error("contradiction", message).at(origin, "here").at(first, "and here");
                collector.push(found);
                continue;
            }
            let mut values: BTreeMap<&str, &Raw> =
                seen.values.iter().map(|(name, raw)| (name.as_str(), raw)).collect();
            let ordered: Option<Vec<Raw>> =
                known.parameters.iter().map(|name| values.remove(name.as_str()).cloned()).collect();
            match ordered {
                Some(values_of) if values.is_empty() => {
                    events.push(RecordedEvent { action: number, values: values_of, span: seen.span.clone() });
                }
                _ => {
                    let list = |names: Vec<&str>| listed(names);
                    let message = format!(
                        "`{}` has the values {} here, and {} elsewhere",
                        seen.name,
                        list(seen.values.iter().map(|(name, _)| name.as_str()).collect()),
                        list(known.parameters.iter().map(String::as_str).collect())
                    );
                    let found =
                        Diagnostic::error("contradiction", message).at(origin, "here").at(first, "and here");
                    collector.push(found);
                }
            }
        }
        recorded.traces.push(events);
    }
    Some(recorded)
}
