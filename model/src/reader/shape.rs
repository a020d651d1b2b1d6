//! The shapes that the format is made of: mappings with known keys, lists, names.

use std::collections::HashMap;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::reader::collect::{Collector, article, inventory};
use crate::reader::lexer;
use crate::reader::yaml::{Entry, Node, NodeKind, Scalar};

/// The longest name, in bytes. What the stages name is shorter.
pub const MAX_NAME: usize = 200;

/// The entries of a mapping; nothing at all is an empty one. `what` is what it should hold: "`initial`".
pub fn mapping<'a>(collector: &mut Collector, node: &'a Node, what: &str, like: &str) -> Option<&'a [Entry]> {
    match &node.kind {
        NodeKind::Mapping(entries) => Some(entries),
        _ if node.is_nothing() => Some(&[]),
        _ => {
            wrong_kind(collector, node, what, "a mapping", like);
            None
        }
    }
}

/// The items of a list; nothing at all is an empty one.
pub fn list<'a>(
    collector: &mut Collector,
    node: &'a Node,
    what: &str,
    like: &str,
) -> Option<&'a [Arc<Node>]> {
    match &node.kind {
        NodeKind::Sequence(items) => Some(items),
        _ if node.is_nothing() => Some(&[]),
        _ => {
            wrong_kind(collector, node, what, "a list", like);
            None
        }
    }
}

/// The scalar; a place where nothing stands is a mistake.
pub fn scalar<'a>(collector: &mut Collector, node: &'a Node, what: &str, like: &str) -> Option<&'a Scalar> {
    match node.as_scalar() {
        Some(scalar) if scalar.broken => None,
        Some(scalar) if !node.is_nothing() => Some(scalar),
        _ => {
            wrong_kind(collector, node, what, "text", like);
            None
        }
    }
}

/// Reports that a node is not what was expected; `like` is an example.
pub fn wrong_kind(collector: &mut Collector, node: &Node, what: &str, expected: &str, like: &str) {
    let message = format!("{what} must be {expected}, but this is {}", node.describe());
    let mut diagnostic = Diagnostic::error("wrong-kind", message)
        .at(collector.origin(&node.head()), format!("expected {expected}"));
    if !like.is_empty() {
        diagnostic = diagnostic.help(format!("for example `{like}`"));
    }
    collector.push(diagnostic);
}

/// The value of a key: the first, where it stands twice.
pub fn get<'a>(entries: &'a [Entry], key: &str) -> Option<&'a Node> {
    entries.iter().find(|entry| entry.key.text == key).map(|entry| entry.value.as_ref())
}

/// Reports keys that are not among the known ones, and keys that stand twice.
pub fn check_keys(collector: &mut Collector, entries: &[Entry], known: &[&str], of: &str) {
    check_keys_beside(collector, entries, known, &[], of);
}

/// The same, where some keys more are known only to be refused by the caller: nobody is told of these.
pub fn check_keys_beside(
    collector: &mut Collector,
    entries: &[Entry],
    known: &[&str],
    refused: &[&str],
    of: &str,
) {
    check_distinct(collector, entries, "duplicate-key", "key");
    for entry in entries {
        if collector.is_full() {
            break;
        }
        let key = entry.key.text.as_str();
        if known.contains(&key) || refused.contains(&key) {
            continue;
        }
        let elsewhere = || {
            let (_, here) = ELSEWHERE.iter().find(|(names, _)| names.contains(&key))?;
            known.contains(here).then_some(*here)
        };
        // `patience` for `patience_ms`
        let longer = || {
            let mut longer = known
                .iter()
                .filter(|known| known.strip_prefix(key).is_some_and(|rest| rest.starts_with('_')));
            longer.next().filter(|_| longer.next().is_none()).copied()
        };
        let near = collector.nearest(key, known.iter().copied()).or_else(elsewhere).or_else(longer);
        let within = WITHIN.iter().find(|(inner, outer)| *inner == key && known.contains(outer));
        let help = match (within, near) {
            (Some((_, outer)), _) => {
                format!("`{key}` stands under `{outer}`: indent it further than `{outer}`")
            }
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => inventory(&format!("keys of {of}"), known.iter().copied()),
        };
        let message = format!("unknown key `{key}` in {of}");
        collector.mistake("unknown-key", message, &entry.key.span, "unknown key", help);
    }
}

/// Sections that most models have.
const NEEDED: [&str; 5] = ["variables", "initial", "inputs", "outputs", "transitions"];

/// Reports sections that stand among the names of another one. What else is found then says nothing.
pub fn has_misplaced(collector: &mut Collector, entries: &[Entry], known: &[&str]) -> bool {
    let before = collector.errors();
    for outer in entries.iter().filter(|outer| known.contains(&outer.key.text.as_str())) {
        let NodeKind::Mapping(names) = &outer.value.kind else { continue };
        // An action may be called so, too.
        let is_deep = |node: &Node| match &node.kind {
            NodeKind::Mapping(inner) => inner.iter().any(|one| one.value.as_scalar().is_none()),
            NodeKind::Sequence(items) => !items.is_empty(),
            NodeKind::Scalar(_) => false,
        };
        let is_missed = |name: &str| NEEDED.contains(&name) && get(entries, name).is_none();
        let is_section = |inner: &&Entry| {
            let name = inner.key.text.as_str();
            let is_scalar = inner.value.as_scalar().is_some();
            known.contains(&name) && (is_deep(&inner.value) || is_missed(name) && !is_scalar)
        };
        for inner in names.iter().filter(is_section) {
            let (name, of) = (&inner.key.text, &outer.key.text);
            let message = format!("the section `{name}` stands under `{of}`, as if it were one of its names");
            let help = format!("begin the line of `{name}:` where the line of `{of}:` begins");
            collector.mistake("misplaced-section", message, &inner.key.span, "indented too far", help);
        }
    }
    collector.errors() > before
}

/// Keys that belong under another one, and stand beside it where their line is not indented enough.
const WITHIN: [(&str, &str); 3] = [("condition", "initial"), ("location", "initial"), ("stages", "output")];

/// Keys that other formats have for what has another one here.
const ELSEWHERE: [(&[&str], &str); 5] = [
    (&["guard", "condition", "if"], "when"),
    (&["do", "then", "effect", "update", "set", "actions"], "assign"),
    (&["action", "event", "label", "input", "output"], "on"),
    (&["source", "src"], "from"),
    (&["target", "dst"], "to"),
];

/// Reports keys that stand twice.
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
        let message = match code {
            "assigned-twice" => format!("`{}` is assigned twice", entry.key.text),
            _ => format!("the {what} `{}` stands here twice", entry.key.text),
        };
        let mut diagnostic = Diagnostic::error(code, message)
            .at(collector.origin(&entry.key.span), "the second time")
            .at(collector.origin(&before.key.span), "the first time");
        if code == "assigned-twice" {
            diagnostic = diagnostic.help("assignments are parallel: a transition gives a variable one value");
        }
        collector.push(diagnostic);
    }
}

/// The entries without the repetitions of a key.
pub fn first_entries(entries: &[Entry]) -> Vec<&Entry> {
    let mut seen = std::collections::HashSet::new();
    entries.iter().filter(|entry| seen.insert(entry.key.text.as_str())).collect()
}

/// Is the scalar a name? Reports it where not. `what` is what the name is of: "variable".
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
    } else if text.is_ascii() {
        (format!("`{text}` cannot name {}", article(what)), Some(lexer::NAMES.to_owned()))
    } else {
        match lexer::not_a_name(text) {
            lexer::TokenKind::Wrong(message, help) => (message, help),
            _ => (format!("`{text}` cannot name {}", article(what)), None),
        }
    };
    let code = if text.is_ascii() { "not-a-name" } else { "non-ascii-name" };
    let diagnostic = Diagnostic::error(code, message).at(collector.origin(&scalar.span), "not a name");
    collector.push(Diagnostic { help, ..diagnostic });
    false
}

/// The value of a key that must be there in a mapping, whose node is `node`.
pub fn required<'a>(
    collector: &mut Collector,
    node: &Node,
    entries: &'a [Entry],
    key: &str,
    of: &str,
    like: &str,
) -> Option<&'a Node> {
    let value = get(entries, key);
    if value.is_none() {
        missing_key(collector, node, key, of, like);
    }
    value
}

/// Reports a key that must be there; the place is the beginning of the mapping.
pub fn missing_key(collector: &mut Collector, node: &Node, key: &str, of: &str, like: &str) {
    let label = format!("`{key}` is missing here");
    let help = format!("for example `{like}`");
    collector.mistake("missing-key", format!("{of} has no `{key}`"), &node.head(), label, help);
}

/// The entries of a section, none where it is not given.
pub fn section<'a>(
    collector: &mut Collector,
    entries: &'a [Entry],
    key: &str,
    known: &[&str],
) -> &'a [Entry] {
    let Some(node) = get(entries, key) else { return &[] };
    let like = format!("{key}: {{ {}: ... }}", known.first().copied().unwrap_or_default());
    let entries = mapping(collector, node, &format!("`{key}`"), &like).unwrap_or(&[]);
    check_keys(collector, entries, known, &format!("`{key}`"));
    entries
}
