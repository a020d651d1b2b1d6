//! The shapes that the format is made of: mappings with known keys, lists, names.

use std::collections::HashMap;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::reader::collect::{Collector, article, inventory};
use crate::reader::lexer;
use crate::reader::yaml::{Entry, NodeKind, Scalar, Yaml};

/// The longest name, in bytes. Names that the stages make are shorter.
pub const MAX_NAME: usize = 200;

/// The entries of a mapping. An empty node is an empty mapping. `what` names the node: "`initial`".
pub fn mapping<'a>(collector: &mut Collector, node: &'a Yaml, what: &str, like: &str) -> Option<&'a [Entry]> {
    match &node.kind {
        NodeKind::Mapping(entries) => Some(entries),
        _ if node.is_nothing() => Some(&[]),
        _ => {
            wrong_kind(collector, node, what, "a mapping", like);
            None
        }
    }
}

/// The items of a list. An empty node is an empty list.
pub fn list<'a>(
    collector: &mut Collector,
    node: &'a Yaml,
    what: &str,
    like: &str,
) -> Option<&'a [Arc<Yaml>]> {
    match &node.kind {
        NodeKind::Sequence(items) => Some(items),
        _ if node.is_nothing() => Some(&[]),
        _ => {
            wrong_kind(collector, node, what, "a list", like);
            None
        }
    }
}

/// The scalar. An empty node is a mistake.
pub fn scalar<'a>(collector: &mut Collector, node: &'a Yaml, what: &str, like: &str) -> Option<&'a Scalar> {
    match node.as_scalar() {
        Some(scalar) if scalar.broken => None,
        Some(scalar) if !node.is_nothing() => Some(scalar),
        _ => {
            wrong_kind(collector, node, what, "text", like);
            None
        }
    }
}

/// Reports that a node has another kind than `expected`. `like` is an example.
pub fn wrong_kind(collector: &mut Collector, node: &Yaml, what: &str, expected: &str, like: &str) {
    let message = format!("{what} must be {expected}, but this is {}", node.describe());
    let mut diagnostic = Diagnostic::error("wrong-kind", message)
        .at(collector.origin(&node.head()), format!("expected {expected}"));
    let is_mapping = |item: &Arc<Yaml>| matches!(item.kind, NodeKind::Mapping(_));
    diagnostic = match &node.kind {
        // `{port}`
        NodeKind::Mapping(entries)
            if expected == "text"
                && node.is_flow()
                && let [entry] = entries.as_slice()
                && entry.value.is_nothing() =>
        {
            let help = format!("YAML reads the braces: put them in quotes, `\"{{{}}}\"`", entry.key.text);
            diagnostic.help(help)
        }
        // A list of mappings in place of one mapping.
        NodeKind::Sequence(items) if expected == "a mapping" && items.iter().all(is_mapping) => {
            let cure = match node.is_flow() {
                true => "write braces in place of `[ ]`",
                false => "remove the `-` from its lines",
            };
            diagnostic.help(format!("{cure}, as in `{like}`"))
        }
        // `instantiate: cTries=3`
        _ if expected == "a mapping"
            && let Some((name, value)) = node.as_scalar().and_then(|scalar| scalar.text.split_once('='))
            && name.trim().bytes().all(|sign| sign.is_ascii_alphanumeric() || sign == b'_')
            && let Some((key, _)) = like.split_once(": {") =>
        {
            diagnostic.help(format!("write `{key}: {{ {}: {} }}`", name.trim(), value.trim()))
        }
        // `formats: svg`
        NodeKind::Scalar(scalar)
            if expected == "a list"
                && !scalar.text.is_empty()
                && !scalar.text.contains(['{', '}', ':', '\n'])
                && let Some((key, example)) = like.split_once(": [")
                && !example.contains(['{', '[']) =>
        {
            diagnostic.help(format!("write `{key}: [{}]`", scalar.text))
        }
        _ if !like.is_empty() => diagnostic.help(format!("for example `{like}`")),
        _ => diagnostic,
    };
    collector.push(diagnostic);
}

/// The value of a key. If the key is there twice, it is the first value.
pub fn get<'a>(entries: &'a [Entry], key: &str) -> Option<&'a Yaml> {
    entries.iter().find(|entry| entry.key.text == key).map(|entry| entry.value.as_ref())
}

/// Reports keys that are not known, and keys that are there twice. `owner` names the mapping.
pub fn check_keys(collector: &mut Collector, entries: &[Entry], known: &[&str], owner: &str) {
    check_keys_beside(collector, entries, known, &[], owner);
}

/// Like [`check_keys`], but ignores keys that the caller refuses itself. They are not listed in messages.
pub fn check_keys_beside(
    collector: &mut Collector,
    entries: &[Entry],
    known: &[&str],
    refused: &[&str],
    owner: &str,
) {
    check_distinct(collector, entries, "duplicate-key", "key");
    for entry in entries {
        if collector.is_full() {
            break;
        }
        let key = entry.key.text.as_str();
        // `from:Idle`
        let glued = key.split_once(':').filter(|(name, _)| known.contains(name));
        let is_allowed = known.contains(&key) || refused.contains(&key);
        // `is_cut` reports the mistake itself.
        if is_allowed || (glued.is_none() && is_cut(collector, entries, entry)) {
            continue;
        }
        let similar = find_meant_key(collector, key, known);
        let outer = find_outer_key(entries, key, known);
        let is_row =
            |(names, beside, _): &&(&[&str], &str, _)| names.contains(&key) && known.contains(beside);
        let row_hint = || INSTEAD.iter().find(is_row).map(|(.., help)| (*help).to_owned());
        let merge_hint = || (key == "<<").then(|| MERGE_KEY.to_owned());
        let hint = split_answer(collector, entries, key).or_else(row_hint).or_else(merge_hint);
        let meant = glued.map(|(name, _)| name).or(similar).filter(|_| outer.is_none() && hint.is_none());
        // A key that is only written wrong is not missing as well.
        if let Some(meant) = meant {
            collector.means(Some(&entry.key.span), meant);
        }
        // A merged key is not missing.
        for known in known.iter().filter(|_| key == "<<") {
            collector.means(Some(&entry.key.span), known);
        }
        if outer.is_some() {
            collector.means(None, key);
        } else if meant.is_none() && hint.is_none() {
            collector.note_strange(&entries[0].key.span, &entry.key.span);
        }
        // The finding about `initial` shows the condition.
        let initial = get(entries, "initial").and_then(Yaml::as_scalar);
        if outer == Some("initial") && initial.is_some_and(|scalar| lexer::is_name(&scalar.text)) {
            continue;
        }
        let help = match (outer, meant) {
            (Some(outer), _) => explain_misplaced(collector, entry, outer, get(entries, outer)),
            _ if let Some(help) = hint => help,
            _ if let Some((name, value)) = glued => {
                format!("write `{name}: {value}`, with a space after the colon")
            }
            (None, Some(meant)) if meant.strip_suffix("_ms") == Some(key) => {
                format!("did you mean `{meant}`, a number of milliseconds?")
            }
            (None, Some(meant)) => format!("did you mean `{meant}`?"),
            (None, None) => inventory(&format!("keys of {owner}"), known.iter().copied()),
        };
        let message = format!("unknown key `{key}` in {owner}");
        collector.mistake("unknown-key", message, &entry.key.span, "unknown key", help);
    }
}

/// Finds the known key that is meant by another one: as in other formats, misspelt, or shortened.
fn find_meant_key<'a>(collector: &Collector, key: &str, known: &[&'a str]) -> Option<&'a str> {
    let is_row = |(foreign, own): &&(&[&str], &str)| foreign.contains(&key) && known.contains(own);
    let in_other_format = ELSEWHERE.iter().find(is_row).map(|(_, own)| *own);
    let in_ms = || known.iter().find(|known| known.strip_suffix("_ms") == Some(key)).copied();
    // The first word of a key, if only one key begins with it.
    let longer = || {
        let is_longer = |known: &&&str| known.strip_prefix(key).is_some_and(|end| end.starts_with('_'));
        let mut longer = known.iter().filter(is_longer);
        longer.next().filter(|_| longer.next().is_none()).copied()
    };
    in_other_format.or_else(in_ms).or_else(|| collector.nearest(key, known.iter().copied())).or_else(longer)
}

/// Finds the known key under which another one belongs: one that is there, or the only possible one.
fn find_outer_key(entries: &[Entry], key: &str, known: &[&str]) -> Option<&'static str> {
    let rows = WITHIN.iter().filter(|(inner, _)| inner.contains(&key));
    let possible: Vec<&str> =
        rows.flat_map(|(_, outer)| *outer).copied().filter(|outer| known.contains(outer)).collect();
    let present = possible.iter().find(|outer| get(entries, outer).is_some());
    present.or(possible.first().filter(|_| possible.len() == 1)).copied()
}

/// Explains that a key belongs under another one, whose node is given if it is there.
fn explain_misplaced(collector: &Collector, entry: &Entry, outer: &str, node: Option<&Yaml>) -> String {
    let key = &entry.key.text;
    match node {
        None => {
            format!("`{key}` belongs under `{outer}`: write the line `{outer}:`, and indent `{key}` below it")
        }
        // After braces, a line that is indented is no YAML.
        Some(node) if node.is_flow() && node.as_scalar().is_none() => {
            let text = collector.file.text[node.span.clone()].trim_end().strip_suffix('}');
            let text = text.filter(|text| !text.contains('\n')).map(str::trim_end);
            match (text, write_in_braces(collector, &entry.value)) {
                (Some(text), Some(value)) => {
                    let comma = if text == "{" { "" } else { "," };
                    format!("write `{outer}: {text}{comma} {key}: {value} }}`, and remove this line")
                }
                _ => format!("`{key}` belongs into the braces of `{outer}`"),
            }
        }
        Some(node) if node.as_scalar().is_some_and(|scalar| !scalar.text.is_empty()) => {
            format!("`{key}` belongs under `{outer}`, which has keys and no text")
        }
        Some(_) => format!("`{key}` belongs under `{outer}`: indent it further than `{outer}`"),
    }
}

/// Writes the two transitions that are meant by one with an input and its answer under this key, as
/// `{ from: Idle, to: Paid, on: Coin, output: Ok }`.
fn split_answer(collector: &Collector, entries: &[Entry], key: &str) -> Option<String> {
    if !["output", "answer", "reply", "response", "emit", "send"].contains(&key) {
        return None;
    }
    let text = |key| Some(get(entries, key)?.as_scalar()?.text.as_str());
    let (from, on) = (text("from")?, text("on").or(text("input"))?);
    let (to, answer) = (text("to").unwrap_or(from), text(key)?);
    let between = format!("{from}{}", on.split('(').next().unwrap_or(on));
    let when = get(entries, "when").and_then(|node| write_in_braces(collector, node));
    let when = when.map_or_else(String::new, |when| format!(", when: {when}"));
    let assign = get(entries, "assign").map_or_else(String::new, |node| {
        let NodeKind::Mapping(entries) = &node.kind else { return ", assign: { ... }".to_owned() };
        let pair = |entry: &Entry| {
            Some(format!("{}: {}", entry.key.text, write_in_braces(collector, &entry.value)?))
        };
        let pairs: Option<Vec<String>> = entries.iter().map(pair).collect();
        format!(", assign: {{ {} }}", pairs.map_or("...".to_owned(), |pairs| pairs.join(", ")))
    });
    let moved = if when.is_empty() && assign.is_empty() { "" } else { ". Move what reads the answer there" };
    Some(format!(
        "an answer is a transition of its own: write `{{ from: {from}, to: {between}, on: {on}{when}{assign} }}` and \
         `{{ from: {between}, to: {to}, on: {answer} }}`{moved}"
    ))
}

/// Writes a scalar as a value within braces, in quotes if it needs them. `None` if it has several lines, or
/// is no scalar.
pub(super) fn write_in_braces(collector: &Collector, node: &Yaml) -> Option<String> {
    let scalar = node.as_scalar()?;
    let text = collector.file.text[scalar.span.clone()].trim_end();
    let needs_quotes = scalar.plain && text.contains([',', '[', ']', '{', '}']);
    let quoted = || if text.contains(['"', '\\']) { format!("'{text}'") } else { format!("\"{text}\"") };
    (!text.contains('\n')).then(|| if needs_quotes { quoted() } else { text.to_owned() })
}

/// Did a comma cut this entry off the value before it, which has no quotes? Reports the value if so.
pub(super) fn is_cut(collector: &mut Collector, entries: &[Entry], entry: &Entry) -> bool {
    let text = &collector.file.clone().text;
    let has_colon = |entry: &Entry| text[entry.key.span.end..].trim_start().starts_with(':');
    if has_colon(entry) || !entry.value.is_nothing() {
        return false;
    }
    let previous = entries.iter().take_while(|other| other.key.span.start < entry.key.span.start);
    let with_value = previous.filter(|other| has_colon(other)).last();
    let Some(value) = with_value.and_then(|other| other.value.as_scalar()) else { return false };
    report_cut(collector, value, Some(entry.key.span.end))
}

/// Reports a value without quotes that YAML ends too early at a comma: inside of a bracket, or before a rest
/// that is no entry of its own and ends at `rest_end`. Returns whether it is one.
pub(super) fn report_cut(collector: &mut Collector, value: &Scalar, rest_end: Option<usize>) -> bool {
    let text = &collector.file.clone().text;
    if !value.plain || !text[value.span.end..].trim_start().starts_with(',') {
        return false;
    }
    // The value as it is meant ends at the first comma outside of all brackets, or with its line.
    let (mut depth, mut meant_end) = (0, value.span.start);
    for (offset, c) in text[value.span.start..].char_indices() {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        if c == '\n' || depth < 0 || (depth == 0 && c == ',') {
            break;
        }
        meant_end = value.span.start + offset + c.len_utf8();
    }
    let is_inside = meant_end > value.span.end;
    let end = if is_inside { Some(meant_end) } else { rest_end };
    let Some(end) = end.filter(|end| *end > value.span.end) else { return false };
    let span = value.span.start..end;
    let whole = text[span.clone()].trim_end();
    let quoted = if whole.contains('"') { format!("'{whole}'") } else { format!("\"{whole}\"") };
    let help = match is_inside {
        true => format!("put all of it in quotes: `{quoted}`"),
        false => {
            format!("put all of it in quotes, and join conditions with `&&`: `{}`", whole.replace(",", " &&"))
        }
    };
    let message = format!("YAML ends `{}` at the comma because it has no quotes", value.text);
    collector.mistake("cut-at-comma", message, &span, "one expression?", help);
    true
}

/// Sections that most models have.
const NEEDED: [&str; 5] = ["variables", "initial", "inputs", "outputs", "transitions"];

/// Reports sections that stand among the names of another one. If there are any, the reader stops, since all
/// its other findings would follow from this.
pub fn has_misplaced(collector: &mut Collector, entries: &[Entry], known: &[&str]) -> bool {
    let errors_before = collector.errors();
    for outer in entries.iter().filter(|outer| known.contains(&outer.key.text.as_str())) {
        let NodeKind::Mapping(names) = &outer.value.kind else { continue };
        // An action may have the name of a section, so look at the values.
        let is_deep = |node: &Yaml| match &node.kind {
            NodeKind::Mapping(inner) => inner.iter().any(|entry| entry.value.as_scalar().is_none()),
            NodeKind::Sequence(items) => !items.is_empty(),
            NodeKind::Scalar(_) => false,
        };
        let is_missed = |name: &str| NEEDED.contains(&name) && get(entries, name).is_none();
        let is_section = |inner: &&Entry| {
            let name = inner.key.text.as_str();
            let is_scalar = inner.value.as_scalar().is_some();
            known.contains(&name) && (is_deep(&inner.value) || (is_missed(name) && !is_scalar))
        };
        for inner in names.iter().filter(is_section) {
            let (name, owner) = (&inner.key.text, &outer.key.text);
            let message = format!("the section `{name}` is under `{owner}`, as if it were one of its names");
            let help = format!("indent `{name}:` in the same way as `{owner}:`");
            collector.mistake("misplaced-section", message, &inner.key.span, "indented too far", help);
        }
    }
    collector.errors() > errors_before
}

/// Keys that belong under another key. They stand next to it if their line is not indented enough.
const WITHIN: [(&[&str], &[&str]); 6] = [
    (&["condition", "location"], &["initial"]),
    (&["stages", "formats", "directory"], &["output"]),
    (&["stimuli", "observations", "encoding", "headers", "frame", "values", "captures"], SYSTEM),
    (&["reset", "settle", "launch", "address", "command", "base", "tls", "connections"], SYSTEM),
    (&["line_ending", "ignore", "unmatched", "replies_from"], SYSTEM),
    (&["command", "ready_ms", "keep"], &["launch"]),
];

/// The keys that say how a system is reached.
const SYSTEM: &[&str] = &["stdio", "tcp", "udp", "http"];

/// Keys of other formats, and the key that is used here.
const ELSEWHERE: [(&[&str], &str); 18] = [
    (&["guard", "condition", "if"], "when"),
    (&["do", "then", "effect", "update", "set", "actions"], "assign"),
    (&["action", "event", "label", "input", "output"], "on"),
    (&["source", "src"], "from"),
    (&["target", "dst"], "to"),
    (&["cmd", "program", "exec", "run", "executable"], "command"),
    (&["cwd", "workdir", "working_directory", "folder"], "directory"),
    (&["url", "uri", "route", "endpoint"], "path"),
    (&["url", "base_url", "address", "host"], "base"),
    (&["url", "host", "endpoint", "server"], "address"),
    (&["code", "status_code"], "status"),
    (&["timeout", "timeout_ms", "wait"], "within"),
    (&["model", "iosts"], "specification"),
    (&["states", "nodes"], "locations"),
    (&["edges", "steps", "path", "paths", "rules"], "transitions"),
    (&["start", "begin"], "initial"),
    (&["body", "json", "fields"], "values"),
    (&["goal", "goals", "test"], "purpose"),
];

/// Advice on the merge key of YAML.
const MERGE_KEY: &str =
    "coreach does not read merge keys: write the keys out; an alias stands for a whole value only";

/// Keys that have no place here, a key that must be known for the hint to be true, and the hint.
const INSTEAD: [(&[&str], &str, &str); 14] = [
    (
        &["of", "observes"],
        "outputs",
        "this key is for purposes: a purpose begins with `purpose:` and its name, not with `iosts:`",
    ),
    (
        &["stdio", "tcp", "udp", "http", "simulated"],
        "transitions",
        "this key is for IUT files: an IUT file begins with `iut:` and its name",
    ),
    (
        &["transitions", "inputs", "outputs", "initial"],
        "stdio",
        "this key is for models: a specification begins with `iosts:` and its name, a purpose with `purpose:`",
    ),
    (
        &["iut", "system", "sut"],
        "specification",
        "give the IUT file on the command line: `coreach test coreach.yaml --iut iut.yaml`",
    ),
    (
        &["constants", "constant", "instantiate"],
        "stdio",
        "a constant is given on the command line, `--constant NAME=VALUE`, or in a campaign, `constants: { NAME: VALUE }`",
    ),
    (
        &["constants", "constant"],
        "instantiate",
        "`coreach test` takes `--constant NAME=VALUE`, and a campaign `constants: { NAME: VALUE }`; `instantiate: { NAME: \
         VALUE }` here puts the value into the test case, and the system is not told of it",
    ),
    (
        &["args", "arguments", "argv"],
        "command",
        "write the arguments in `command`: `command: [PROGRAM, ARGUMENT]`",
    ),
    (
        &["assign", "values", "value"],
        "condition",
        "write initial values as a condition: `condition: x == 0 && y == 1`",
    ),
    (
        &["link", "within", "silence", "on_close", "reconnect", "samples", "weights", "shared", "evidence"],
        "stimuli",
        "this key belongs to the file as a whole: begin its line where the line of `iut:` begins",
    ),
    (
        &["runs", "run", "count", "repeat", "times"],
        "iuts",
        "each seed makes a run: `seeds: { first: 1, count: 10 }` makes ten",
    ),
    (
        &["link", "within", "silence", "on_close", "reconnect", "samples", "weights", "shared", "evidence"],
        "purposes",
        "this key belongs into the IUT file",
    ),
    (
        &["seed", "seeds", "runs"],
        "purposes",
        "give it on the command line: `coreach test coreach.yaml --seed 7 --runs 10`",
    ),
    (
        &["body"],
        "each",
        "a body is not compared: leave `body` out, or read parts of it with `values: { PARAMETER: /POINTER }`",
    ),
    (&["port"], "address", "write the port in `address`: `address: HOST:PORT`"),
];

/// Reports keys that are there twice.
pub fn check_distinct(collector: &mut Collector, entries: &[Entry], code: &'static str, what: &str) {
    let mut first: HashMap<&str, &Entry> = HashMap::new();
    for entry in entries {
        let Some(before) = first.get(entry.key.text.as_str()) else {
            first.insert(&entry.key.text, entry);
            continue;
        };
        if collector.is_full() {
            break;
        }
        if is_cut(collector, entries, entry) {
            continue;
        }
        let message = match code {
            "assigned-twice" => format!("`{}` is assigned twice", entry.key.text),
            _ => format!("the {what} `{}` appears twice", entry.key.text),
        };
        let mut diagnostic = Diagnostic::error(code, message)
            .at(collector.origin(&entry.key.span), "the second time")
            .at(collector.origin(&before.key.span), "the first time");
        if code == "assigned-twice" {
            diagnostic = diagnostic.help("assignments are parallel: a transition gives a variable one value");
        }
        if let Some(joined) = write_joined(collector, before, entry).filter(|_| what == "key") {
            diagnostic = diagnostic.help(format!("write one: `{}: {joined}`", entry.key.text));
        }
        collector.push(diagnostic);
    }
}

/// Writes two conditions, or two mappings within braces, as one value of their key, for a message. `None` for
/// other values, and for mappings on several lines.
fn write_joined(collector: &Collector, first: &Entry, second: &Entry) -> Option<String> {
    let is_mapping = |entry: &Entry| entry.value.is_flow() && entry.value.as_scalar().is_none();
    if is_mapping(first) && is_mapping(second) {
        let text = |entry: &Entry| collector.file.text.get(entry.value.span.clone()).map(str::trim_end);
        let inside = text(first)?.strip_suffix('}')?.trim_end();
        let joined = format!("{inside}, {}", text(second)?.strip_prefix('{')?.trim_start());
        return (!joined.contains('\n')).then_some(joined);
    }
    if !["when", "condition"].contains(&first.key.text.as_str()) {
        return None;
    }
    let (first_text, second_text) = (&first.value.as_scalar()?.text, &second.value.as_scalar()?.text);
    let has_weak_sign = |text: &str| ["||", "=>", "if ", " or "].iter().any(|sign| text.contains(sign));
    let in_brackets = |text: &str| if has_weak_sign(text) { format!("({text})") } else { text.to_owned() };
    let joined = format!("{} && {}", in_brackets(first_text), in_brackets(second_text));
    let needs_quotes = joined.contains([',', '[', ']', '{', '}', '#', '"', '\''])
        || joined.contains(": ")
        || joined.starts_with(['!', '&', '*', '%', '@']);
    Some(match needs_quotes {
        true if joined.contains('"') => format!("'{}'", joined.replace('\'', "''")),
        true => format!("\"{joined}\""),
        false => joined,
    })
}

/// The entries without the repetitions of a key.
pub fn first_entries(entries: &[Entry]) -> Vec<&Entry> {
    let mut seen = std::collections::HashSet::new();
    entries.iter().filter(|entry| seen.insert(entry.key.text.as_str())).collect()
}

/// Is the scalar a name? Reports it if not. `what` is the kind of thing that it names: "variable".
pub fn is_name(collector: &mut Collector, scalar: &Scalar, what: &str) -> bool {
    let text = scalar.text.as_str();
    let (message, help) = if text.len() > MAX_NAME {
        (format!("the name has {} bytes; at most {MAX_NAME} are read", text.len()), None)
    } else if lexer::KEYWORDS.contains(&text) {
        let message =
            format!("`{text}` is a word of the expression language and cannot name {}", article(what));
        (message, Some("choose another name".to_owned()))
    } else if lexer::is_name(text) {
        return true;
    } else if text.is_empty() {
        (format!("expected the name of {}, found nothing", article(what)), None)
    } else if text == "*" && what == "location" {
        let help = "a transition has one location at each end: write one transition for each location";
        ("`*` cannot name a location".to_owned(), Some(help.to_owned()))
    } else if text.is_ascii() {
        (format!("`{text}` cannot name {}", article(what)), Some(lexer::NAMES.to_owned()))
    } else {
        let (message, help) = lexer::explain_no_name(text);
        (message, Some(help))
    };
    let code = if text.is_ascii() { "not-a-name" } else { "non-ascii-name" };
    let diagnostic = Diagnostic::error(code, message).at(collector.origin(&scalar.span), "not a name");
    collector.push(Diagnostic { help, ..diagnostic });
    false
}

/// The value of a key that must be there in a mapping, whose node is `node`.
pub fn required<'a>(
    collector: &mut Collector,
    node: &Yaml,
    entries: &'a [Entry],
    key: &str,
    of: &str,
    like: &str,
) -> Option<&'a Yaml> {
    let value = get(entries, key);
    if value.is_none() {
        missing_key(collector, node, key, of, like);
    }
    value
}

/// Reports a key that must be there; the place is the beginning of the mapping.
pub fn missing_key(collector: &mut Collector, node: &Yaml, key: &str, of: &str, like: &str) {
    // It has been reported already that this is no mapping.
    if !matches!(node.kind, NodeKind::Mapping(_)) && !node.is_nothing() && collector.errors() > 0 {
        return;
    }
    let label = format!("`{key}` is missing here");
    let help = format!("for example `{like}`");
    let message = format!("{of} has no `{key}`");
    let diagnostic = Diagnostic::error("missing-key", message).at(collector.origin(&node.head()), label);
    collector.lacks_key(diagnostic.help(help), &node.span, key);
}

/// Returns the entries of a section, and reports keys that are not `known`. There are none if the section is
/// missing, or is no mapping, which is reported.
pub fn section<'a>(
    collector: &mut Collector,
    entries: &'a [Entry],
    key: &str,
    known: &[&str],
) -> &'a [Entry] {
    let Some(node) = get(entries, key) else { return &[] };
    let first = known.first().copied().unwrap_or_default();
    let word = |word: &str| if word.contains('{') { format!("\"{word}\"") } else { word.to_owned() };
    let is_command = known.contains(&"command");
    // The example for a message shows what is written in place of the mapping, if anything is.
    let like = match &node.kind {
        NodeKind::Scalar(given) if is_command => {
            let words: Vec<String> = given.text.split_whitespace().map(word).collect();
            format!("{key}: {{ command: [{}] }}", words.join(", "))
        }
        NodeKind::Sequence(_) if is_command => {
            format!("{key}: {{ command: {} }}", &collector.file.text[node.span.clone()])
        }
        NodeKind::Scalar(given) if !given.text.is_empty() => format!("{key}: {{ {first}: {} }}", given.text),
        _ => format!("{key}: {{ {first}: ... }}"),
    };
    let entries = mapping(collector, node, &format!("`{key}`"), &like).unwrap_or(&[]);
    check_keys(collector, entries, known, &format!("`{key}`"));
    entries
}
