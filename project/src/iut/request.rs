//! Reads requests with templates, and other parts that the section `http` shares with `reset`.

use coreach_adapters::description::Request;
use coreach_adapters::template::Template;
use coreach_model::number;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, NodeKind, Scalar, Yaml};

use super::words::{Holes, IutReader};

pub const REQUEST: [&str; 5] = ["method", "path", "body", "latin1", "headers"];

/// Reads a request from the keys of [`REQUEST`].
pub fn read_request(
    reader: &mut IutReader<'_>,
    node: &Yaml,
    what: &str,
    example: &str,
    known: &[&str],
    holes: Option<&Holes>,
) -> Option<Request> {
    // For `GET /items`, the message has the mapping that is meant.
    let words = node.as_scalar().and_then(|scalar| scalar.text.split_once(' '));
    let meant = words.map(|(method, path)| format!("{{ method: {method}, path: {} }}", path.trim()));
    let entries = shape::mapping(reader.collector, node, what, meant.as_deref().unwrap_or(example))?;
    shape::check_keys(reader.collector, entries, known, what);
    let mut text = |key: &str| {
        let node = shape::required(reader.collector, node, entries, key, what, example)?;
        shape::scalar(reader.collector, node, &format!("`{key}`"), example)
    };
    let (method, path) = (text("method"), text("path"));
    if let Some(method) = method
        && (method.text.is_empty()
            || !method.text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-'))
    {
        let example =
            if method.text.is_empty() { "GET".to_owned() } else { method.text.to_ascii_uppercase() };
        let help = format!("for example `{example}`");
        let message = "a method is a word of capital letters";
        reader.collector.mistake("wrong-value", message, &method.span, "not a method", help);
    }
    if let Some(path) = path
        && !path.text.starts_with('/')
    {
        let help = format!("for example `path: /{}`", path.text);
        reader.collector.mistake("wrong-value", "a path begins with a slash", &path.span, "not a path", help);
    }
    let path = path.and_then(|path| reader.template_of(path, holes));
    let (body, latin1) = (shape::get(entries, "body"), shape::get(entries, "latin1"));
    if let (Some(_), Some(latin1)) = (body, latin1) {
        let message = "a request cannot have both `body` and `latin1`";
        reader.collector.error("two-keys", message, &latin1.head(), "the second one");
    }
    let body = match body.or(latin1) {
        None => None,
        Some(node) => {
            // For a mapping, the message has the text that is meant.
            let meant_fields = match &node.kind {
                NodeKind::Mapping(entries) => {
                    let field = |entry: &Entry| {
                        let value = entry.value.as_scalar()?;
                        let name = value.text.trim_matches(['{', '}']);
                        let is_hole =
                            holes.is_some_and(|holes| holes.names.iter().any(|known| known == name));
                        let is_json = serde_json::from_str::<serde_json::Value>(&value.text).is_ok();
                        let written = match is_json {
                            _ if is_hole || name != value.text => format!("{{json({name})}}"),
                            true => value.text.clone(),
                            false => format!("\"{}\"", value.text),
                        };
                        Some(format!("\"{}\": {written}", entry.key.text))
                    };
                    entries.iter().map(field).collect::<Option<Vec<String>>>()
                }
                _ => None,
            };
            let example = meant_fields.map_or("\"n\": {json(n)}".to_owned(), |fields| fields.join(", "));
            let like =
                format!("body: '{{{example}}}'`, with `{{n}}` in place of `{{json(n)}}` for a number `n");
            let scalar = shape::scalar(reader.collector, node, "`body`", &like)?;
            Some(reader.read_body(scalar, holes)?)
        }
    };
    let is_latin1 = latin1.is_some();
    let headers = read_request_headers(reader, entries, holes);
    Some(Request { method: method?.text.clone(), path: path?, body, is_latin1, headers })
}

pub fn read_request_headers(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    holes: Option<&Holes>,
) -> Vec<(String, Template)> {
    let like = "headers: { Content-Type: application/json }";
    let mut headers = Vec::new();
    for entry in reader.read_entries(entries, "headers", "header", like) {
        let Some(name) = read_header_name(reader, &entry.key) else { continue };
        let value = shape::scalar(reader.collector, &entry.value, "a header", like);
        let template = value.and_then(|value| reader.template_of(value, holes));
        headers.extend(template.map(|template| (name, template)));
    }
    headers
}

pub fn read_header_name(reader: &mut IutReader<'_>, key: &Scalar) -> Option<String> {
    if is_header(&key.text) {
        return Some(key.text.clone());
    }
    let message = format!("`{}` cannot name a header", key.text.escape_debug());
    reader.collector.error("not-a-name", message, &key.span, "not a name");
    None
}

/// Can a header or a cookie have this name (RFC 9110, 5.6.2)?
pub fn is_header(name: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_sign)
}

/// Is it a JSON pointer (RFC 6901)? If not, it is reported.
pub fn check_pointer(reader: &mut IutReader<'_>, pointer: &Scalar) -> bool {
    if !pointer.text.is_empty() && !pointer.text.starts_with('/') {
        let message = "a JSON pointer begins with a slash";
        let names = pointer.text.trim_start_matches(['$', '.']);
        let help = format!("for example `/{}`", names.replace('.', "/"));
        reader.collector.mistake("wrong-value", message, &pointer.span, "not a pointer", help);
        return false;
    }
    // RFC 6901, 3: `~` begins `~0` or `~1`.
    if pointer.text.split('~').skip(1).any(|after_tilde| !after_tilde.starts_with(['0', '1'])) {
        let message = "in a JSON pointer, `~0` is `~` and `~1` is `/`";
        let help = format!("for example `{}`", pointer.text.replace('~', "~0"));
        reader.collector.mistake("wrong-value", message, &pointer.span, "not a pointer", help);
        return false;
    }
    true
}

pub fn read_status(reader: &mut IutReader<'_>, node: &Yaml, like: &str) -> Option<u16> {
    if node.as_scalar().is_none() || node.is_nothing() {
        shape::wrong_kind(reader.collector, node, "`status`", "a number", like);
        return None;
    }
    let scalar = shape::scalar(reader.collector, node, "`status`", like)?;
    let status = number::count(&scalar.text).and_then(|status| u16::try_from(status).ok());
    let status = status.filter(|status| (100..=599).contains(status));
    if status.is_none() {
        let message = "a status is a number from 100 to 599";
        let help = format!("for example `{like}`");
        reader.collector.mistake("wrong-value", message, &scalar.span, "not a status", help);
    }
    status
}
