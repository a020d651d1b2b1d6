//! Reads the section `http`: templates of requests, and responses by status and JSON pointers.

use std::collections::BTreeMap;
use std::ops::Range;

use coreach_adapters::description::{AnswerPlace, Http, Response};
use coreach_adapters::lines::written;
use coreach_adapters::template::Template;
use coreach_model::Diagnostic;
use coreach_model::diagnostic::Origin;
use coreach_model::iosts::{Action, ActionKind};
use coreach_model::reader::collect::listed;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, NodeKind, Yaml};

use super::blocks::{check_then, read_then};
use super::launch::{host_of, read_address, read_launch, require_reset};
use super::patterns::{Regex, read_regex};
use super::request::{self, REQUEST, check_pointer, read_header_name, read_request, read_status};
use super::settle::{self, Speech};
use super::words::{Holes, IutReader, ParameterPlaces, hole_text, one_or_several, read_optional};
use super::{captures, tls};

const KEYS: [&str; 11] = [
    "base",
    "launch",
    "tls",
    "reset",
    "settle",
    "headers",
    "stimuli",
    "observations",
    "captures",
    "values",
    "unmatched",
];
const BASE: &str = "base: http://127.0.0.1:8080";
const STIMULI: &str = "stimuli: { Add: { method: POST, path: \"/items/{id}\" } }";
const OBSERVATIONS: &str = "observations: { Added: { status: 201, values: { n: /count } } }";
const SEVERAL: &str =
    "status: 200`. For several, write a list of alternatives: `[{ status: 200 }, { status: 201 }]";
const VALUES: &str = "values: { n: { header: Content-Length } }";

/// Reads the section: the base and its server, then captures, steps, stimuli and observations.
pub fn read_http(reader: &mut IutReader<'_>, root: &[Entry], node: &Yaml) -> Option<Http> {
    let errors_before = reader.collector.errors();
    let entries = shape::section(reader.collector, root, "http", &KEYS);
    let launch = read_launch(reader, entries);
    let base = read_address(reader, entries, node, "base", "`http`", BASE);
    if let Some((template, span)) = &base {
        check_base(reader, entries, template, span);
    }
    let host = base.as_ref().map(|(template, span)| (host_of(template), span));
    let tls = tls::read_tls(reader, entries, host.as_ref().map(|(host, span)| (host.as_str(), *span)));
    let captures = captures::read_answer_captures(reader, entries);
    let common = request::read_request_headers(reader, entries, Some(&Holes::constants_and_captures()));
    let reset = settle::read_reset(reader, entries, Speech::Http);
    let settle = settle::read_settle(reader, entries, Speech::Http).unwrap_or_default();
    if let Some(Some(launch)) = &launch
        && launch.keep
    {
        let like = "reset: { method: POST, path: /reset, status: 200 }";
        require_reset(reader, entries, "launch", reset.is_empty(), like);
    }
    let with_parts = false;
    let spelling = reader.read_spelling(entries, with_parts);
    reader.spelling = spelling.clone();
    let (mut stimuli, mut places) = (Vec::new(), BTreeMap::new());
    for (entry, action) in reader.action_entries(entries, "stimuli", STIMULI, ActionKind::Input) {
        let what = format!("the request of `{}`", entry.key.text);
        let holes = action.as_ref().map(Holes::of);
        let Some(request) = read_request(reader, &entry.value, &what, STIMULI, &REQUEST, holes.as_ref())
        else {
            continue;
        };
        if let Some(action) = &action {
            let headers = request.headers.iter().map(|(_, template)| template);
            let templates = std::iter::once(&request.path).chain(&request.body).chain(headers);
            let sent: Vec<&str> = templates.flat_map(|template| template.holes()).collect();
            reader.warn_of_unsent(action, &sent, &entry.key.span, hole_text);
        }
        places.insert(entry.key.text.clone(), reader.line_of(&entry.key.span));
        stimuli.push((entry.key.text.clone(), request));
    }
    reader.check_complete(entries, node, "stimuli", "`http`", ActionKind::Input, (STIMULI, &request_like));
    let (mut observations, mut origins) = (Vec::new(), Vec::new());
    let found = reader.action_entries(entries, "observations", OBSERVATIONS, ActionKind::Output);
    check_then(reader, &found.iter().map(|(entry, _)| *entry).collect::<Vec<_>>());
    for (entry, action) in found {
        let what = format!("the response of `{}`", entry.key.text);
        let alternatives = one_or_several(&entry.value);
        for node in alternatives {
            let errors_before = reader.collector.errors();
            let Some((response, places)) = read_response(reader, node, &what) else { continue };
            if let Some(action) = action.as_ref().filter(|_| reader.collector.errors() == errors_before) {
                reader.check_parameters(action, &places, &entry.key, |name| {
                    format!("write where it is in the body: `values: {{ {name}: /{name} }}`")
                });
            }
            observations.push((entry.key.text.clone(), response));
            origins.push(reader.collector.origin(&entry.key.span));
        }
    }
    let like: (_, &dyn Fn(&_) -> _) = (OBSERVATIONS, &response_like);
    reader.check_complete(entries, node, "observations", "`http`", ActionKind::Output, like);
    report_hidden(reader, &observations, &origins);
    let unmatched = reader.read_unmatched(entries);
    let ((base, _), launch, tls) = (base?, launch?, tls?);
    let http = Http {
        base,
        launch,
        tls,
        reset,
        places,
        headers: common,
        stimuli,
        observations,
        captures,
        spelling,
        unmatched,
        settle,
    };
    (reader.collector.errors() == errors_before).then_some(http)
}

/// Checks that the base begins with a scheme that fits `tls`, and names a host.
fn check_base(reader: &mut IutReader<'_>, entries: &[Entry], template: &Template, span: &Range<usize>) {
    let filled = template.fill(|_| Some("1".to_owned())).unwrap_or_default();
    let host_and_path = filled.strip_prefix("http://").or_else(|| filled.strip_prefix("https://"));
    let is_secure = filled.starts_with("https://");
    let mistake = match host_and_path {
        None => Some("a base begins with `http://` or `https://`"),
        Some(text) if text.is_empty() || text.starts_with('/') => Some("a base must name a host"),
        Some(text) if text.ends_with('/') => Some("a base must not end with a slash"),
        Some(_) => None,
    };
    if mistake.is_none() && is_secure != shape::get(entries, "tls").is_some() {
        let (message, help) = if is_secure {
            (
                "`https` needs `tls`, which says which certificates coreach trusts",
                "write `http://` if the server uses no TLS, else for example `tls: { ca: ca.pem }`",
            )
        } else {
            ("with `tls`, the base begins with `https://`", "for example `base: https://127.0.0.1:8443`")
        };
        let label = "`tls` and this do not fit together";
        reader.collector.mistake("wrong-value", message, span, label, help);
    }
    if let Some(message) = mistake {
        let help = format!("for example `{BASE}`");
        reader.collector.mistake("wrong-value", message, span, "not such an address", help);
    }
}

/// An example of a request for an action.
fn request_like(action: &Action) -> String {
    let holes = action.parameters.iter().map(|datum| format!("/{{{datum}}}"));
    let path = action.name.to_lowercase() + &holes.collect::<String>();
    format!("{}: {{ method: POST, path: \"/{path}\" }}", action.name)
}

/// An example of a response for an action.
fn response_like(action: &Action) -> String {
    let values: Vec<String> = action.parameters.iter().map(|datum| format!("{datum}: /{datum}")).collect();
    let values = match values.is_empty() {
        true => String::new(),
        false => format!(", values: {{ {} }}", values.join(", ")),
    };
    format!("{}: {{ status: 200{values} }}", action.name)
}

/// Refuses an output of which others in front of it take each answer, so that they would be blamed. Warns if
/// they take only the answers to some of its stimuli.
fn report_hidden(reader: &mut IutReader<'_>, observations: &[(String, Response)], places: &[Origin]) {
    for (position, (name, response)) in observations.iter().enumerate() {
        // Whatever the other response asks of an answer must be asked by this one, too.
        let asks_no_more = |(other_name, other): &(String, Response)| {
            let has_header = |(header, pattern): &(String, Regex)| {
                let mut own_headers = response.headers.iter();
                own_headers
                    .any(|(own, own_pattern)| own == header && written(own_pattern) == written(pattern))
            };
            let has_value = |(_, place): &(String, AnswerPlace)| {
                let text =
                    |place: &AnswerPlace| place.pattern.as_ref().map(|pattern| written(pattern).to_owned());
                let is_same = |own: &AnswerPlace| {
                    own.source == place.source && (place.pattern.is_none() || text(own) == text(place))
                };
                response.each.is_none() && response.values.iter().any(|(_, own)| is_same(own))
            };
            other_name != name
                && other.status == response.status
                && other.each.is_none()
                && other.headers.iter().all(has_header)
                && other.values.iter().all(has_value)
        };
        let find_taker = |stimulus: Option<&String>| {
            observations[..position].iter().position(|earlier| {
                // An empty `to` stands for all stimuli.
                let to = &earlier.1.to;
                let is_asked = to.is_empty() || stimulus.is_some_and(|stimulus| to.contains(stimulus));
                is_asked && asks_no_more(earlier)
            })
        };
        let taken: Vec<(&String, usize)> =
            response.to.iter().filter_map(|to| Some((to, find_taker(Some(to))?))).collect();
        let is_all_taken = taken.len() == response.to.len();
        let first = match taken.first() {
            Some((_, first)) => Some(*first),
            None if response.to.is_empty() => find_taker(None),
            None => None,
        };
        let Some(first) = first else { continue };
        let other = &observations[first].0;
        if !is_all_taken {
            let stimuli =
                listed(taken.iter().filter(|(_, taker)| *taker == first).map(|(to, _)| to.as_str()));
            let message = format!(
                "`{name}` is never seen as the answer to {stimuli}: `{other}` comes before it, and takes these answers"
            );
            let help = format!("put `{name}` before `{other}`, or take {stimuli} out of one `to`");
            let warning = Diagnostic::warning("hidden-observation", message)
                .at(places[position].clone(), "never seen there")
                .at(places[first].clone(), "takes these answers first")
                .help(help);
            reader.collector.push(warning);
            continue;
        }
        let message =
            format!("`{name}` is never seen: `{other}` comes before it, and takes each of its answers");
        let help = format!(
            "give `{other}` its own `status`, `values` or `headers`, or say which stimuli it answers, \
             `to: [STIMULUS]`"
        );
        let diagnostic = Diagnostic::error("hidden-observation", message)
            .at(places[position].clone(), "never seen")
            .at(places[first].clone(), "takes them first")
            .help(help);
        reader.collector.push(diagnostic);
    }
}

/// Reads one response of an output. Also returns the parameters whose places it names.
fn read_response(reader: &mut IutReader<'_>, node: &Yaml, what: &str) -> Option<(Response, ParameterPlaces)> {
    // The example shows how to write a status that stands there alone.
    let bare_status = node.as_scalar().filter(|scalar| scalar.text.parse::<u16>().is_ok());
    let like = bare_status.map(|status| format!("{{ status: {} }}", status.text));
    let entries = shape::mapping(reader.collector, node, what, like.as_deref().unwrap_or(OBSERVATIONS))?;
    let known = ["status", "to", "headers", "values", "each", "then"];
    shape::check_keys(reader.collector, entries, &known, what);
    let to = captures::read_actions(reader, entries, "to", ActionKind::Input);
    let node = shape::required(reader.collector, node, entries, "status", what, OBSERVATIONS)?;
    let status = read_status(reader, node, SEVERAL)?;
    let mut values = Vec::new();
    let mut places = Vec::new();
    if let Some(node) = shape::get(entries, "values") {
        let entries = shape::mapping(reader.collector, node, "`values`", OBSERVATIONS)?;
        shape::check_distinct(reader.collector, entries, "duplicate-key", "parameter");
        for entry in shape::first_entries(entries) {
            // A parameter with a mistake is not reported as missing, too.
            places.push((entry.key.text.clone(), entry.key.span.clone()));
            values.extend(read_value_place(reader, entry).map(|place| (entry.key.text.clone(), place)));
        }
    }
    let headers = read_expected_headers(reader, entries);
    let each = read_optional(shape::get(entries, "each"), |node| {
        let pointer = shape::scalar(reader.collector, node, "`each`", "each: /items")?;
        check_pointer(reader, pointer).then(|| pointer.text.clone())
    })?;
    let then = read_then(reader, entries, each.is_some())?;
    Some((Response { status, to, headers, values, each, then }, places))
}

/// Reads where a value is in an answer: a JSON pointer, or keys for another place.
fn read_value_place(reader: &mut IutReader<'_>, entry: &Entry) -> Option<AnswerPlace> {
    if let NodeKind::Mapping(keys) = &entry.value.kind {
        let what = format!("the value `{}`", entry.key.text);
        shape::check_keys(reader.collector, keys, &captures::PLACE, "a value");
        return captures::read_answer_place(reader, entry, keys, &what, VALUES);
    }
    // The empty pointer is the whole body. It has to be quoted.
    let pointer = shape::scalar(reader.collector, &entry.value, "a JSON pointer", OBSERVATIONS)?;
    check_pointer(reader, pointer).then(|| AnswerPlace::pointer(&pointer.text))
}

fn read_expected_headers(reader: &mut IutReader<'_>, entries: &[Entry]) -> Vec<(String, Regex)> {
    let like = "headers: { Content-Type: 'text/.*' }";
    let mut headers = Vec::new();
    for entry in reader.read_entries(entries, "headers", "header", like) {
        let name = read_header_name(reader, &entry.key);
        let scalar = shape::scalar(reader.collector, &entry.value, "a header", like);
        let pattern = scalar.and_then(|scalar| read_regex(reader, scalar));
        headers.extend(name.zip(pattern).map(|(name, (pattern, _))| (name, pattern)));
    }
    headers
}
