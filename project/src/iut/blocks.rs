//! The lines that an output is: a pattern, one for each line or bytes that a line counts, or a block up to an
//! end.

use std::ops::Range;
use std::sync::Arc;

use coreach_adapters::description::{Block, BlockEnd, LinePart, Middle, Shape};
use coreach_model::diagnostic::Diagnostic;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, Node, NodeKind, Scalar};

use super::patterns::{OBSERVATIONS, Regex, regular};
use super::words::{IutReader, ParameterPlaces};

const COUNTED: &str = "['^FOUND (?P<bytes>\\d+)$', { name: pText, size: bytes }]";

const BLOCK: &str = "{ begin: '^\\+OK .*$', end: '^\\.$' }";

/// What is read of the lines of an output.
pub struct Read {
    /// The lines.
    pub shape: Shape,
    /// The groups of all patterns.
    pub groups: ParameterPlaces,
    /// The groups that count, which need not be parameters.
    pub counts: Vec<String>,
}

/// The lines of the output of this entry.
pub fn lines_of(reader: &mut IutReader<'_>, entry: &Entry) -> Option<Read> {
    let what = format!("the pattern of `{}`", entry.key.text);
    let before = reader.collector.errors();
    let mut groups = Groups { reader: &mut *reader, found: Vec::new() };
    let (shape, counts) = match &entry.value.kind {
        NodeKind::Sequence(items) if !items.is_empty() => groups.parts(items, &what),
        NodeKind::Scalar(_) => (Shape::fitting(groups.patterns(&entry.value, &what)), Vec::new()),
        NodeKind::Mapping(_) => {
            let (block, count) = groups.block(&entry.value, &what)?;
            (Shape::Block(Box::new(block)), Vec::from_iter(count))
        }
        NodeKind::Sequence(_) => {
            let expected = "a regular expression, a list with one for each line, or a block";
            shape::wrong_kind(reader.collector, &entry.value, &what, expected, OBSERVATIONS);
            return None;
        }
    };
    let groups = groups.found;
    (reader.collector.errors() == before).then_some(Read { shape, groups, counts })
}

/// The groups that were found until now; each name once.
struct Groups<'r, 'a> {
    reader: &'r mut IutReader<'a>,
    found: ParameterPlaces,
}

impl Groups<'_, '_> {
    /// Lines one after the other, and the groups that count bytes of them.
    fn parts(&mut self, items: &[Arc<Node>], what: &str) -> (Shape, Vec<String>) {
        let (mut parts, mut counts) = (Vec::new(), Vec::new());
        for item in items {
            if !matches!(item.kind, NodeKind::Mapping(_)) {
                parts.extend(self.pattern(item, what).map(LinePart::Fitting));
            } else if let Some((count, name)) = self.counted(item) {
                counts.push(count.clone());
                parts.push(LinePart::Counted { count, name });
            }
        }
        (Shape::Lines(parts), counts)
    }

    /// The group that counts the bytes of a parameter, and that parameter.
    fn counted(&mut self, node: &Node) -> Option<(String, String)> {
        let what = "a part that is counted in bytes";
        let entries = shape::mapping(self.reader.collector, node, what, COUNTED)?;
        shape::check_keys(self.reader.collector, entries, &["name", "size"], what);
        let mut get = |key: &str| {
            let value = shape::required(self.reader.collector, node, entries, key, what, COUNTED)?;
            shape::scalar(self.reader.collector, value, &format!("`{key}`"), COUNTED)
        };
        let (name, size) = (get("name")?, get("size")?);
        if self.found.iter().all(|(group, _)| *group != size.text) {
            let message = format!("no line before has a group `{}`", size.text);
            self.reader.wrong(
                node,
                &message,
                "nothing counts these bytes",
                &format!("for example `{COUNTED}`"),
            );
        }
        self.name(name.text.clone(), name.span.clone());
        Some((size.text.clone(), name.text.clone()))
    }

    /// A name is found here.
    fn name(&mut self, name: String, place: Range<usize>) {
        if self.found.iter().any(|(other, _)| *other == name) {
            let message = format!("`{name}` is found in two lines");
            self.reader.collector.error("duplicate-key", message, &place, "the second time");
        } else {
            self.found.push((name, place));
        }
    }

    /// A pattern, or a list of them.
    fn patterns(&mut self, node: &Node, what: &str) -> Vec<Regex> {
        let nodes: Vec<&Node> = match &node.kind {
            NodeKind::Sequence(items) => items.iter().map(|item| &**item).collect(),
            _ => vec![node],
        };
        nodes.into_iter().filter_map(|node| self.pattern(node, what)).collect()
    }

    fn pattern(&mut self, node: &Node, what: &str) -> Option<Regex> {
        let scalar: &Scalar = shape::scalar(self.reader.collector, node, what, OBSERVATIONS)?;
        let (regex, names) = regular(self.reader, scalar)?;
        for (name, place) in names {
            self.name(name, place);
        }
        Some(regex)
    }

    /// A block, and the name of the group that counts its items.
    fn block(&mut self, node: &Node, what: &str) -> Option<(Block, Option<String>)> {
        let entries = shape::mapping(self.reader.collector, node, what, BLOCK)?;
        let known = ["begin", "lines", "each", "end", "count", "then"];
        shape::check_keys(self.reader.collector, entries, &known, "a block of lines");
        let get = |key: &str| shape::get(entries, key);
        let begin = match get("begin") {
            Some(node) => Some(self.pattern(node, "`begin`")?),
            None => None,
        };
        let middle = match (get("lines"), get("each")) {
            (None, None) => Middle::Any,
            (Some(lines), None) => {
                let before = self.found.len();
                let pattern = self.pattern(lines, "`lines`")?;
                if let Some((name, place)) = self.found.get(before) {
                    let message = format!("`{name}` would be found in every line");
                    let diagnostic = Diagnostic::error("wrong-value", message)
                        .at(self.reader.collector.origin(place), "a group of any number of lines")
                        .help("with `each`, each line is an output");
                    self.reader.collector.push(diagnostic);
                }
                Middle::Lines(pattern)
            }
            (None, Some(each)) => {
                if let NodeKind::Sequence(items) = &each.kind
                    && items.is_empty()
                {
                    let message = "`each` is a pattern, or a list of them";
                    self.reader.collector.error("wrong-value", message, &each.head(), "empty");
                    return None;
                }
                Middle::Each(self.patterns(each, "`each`"))
            }
            (Some(_), Some(each)) => {
                let message = "a block has `lines` or `each`";
                self.reader.collector.error("two-keys", message, &each.head(), "the second one");
                return None;
            }
        };
        if begin.is_none() && matches!(middle, Middle::Any) {
            let diagnostic = Diagnostic::error("missing-key", "a block of any lines has no `begin`")
                .at(self.reader.collector.origin(&node.head()), "it would begin with every line")
                .help(format!("for example `{BLOCK}`, or `lines` with a pattern for each line"));
            self.reader.collector.push(diagnostic);
        }
        let (end, count) = match (get("end"), get("count")) {
            (Some(node), None) => (BlockEnd::Mark(self.pattern(node, "`end`")?), None),
            (None, Some(node)) => {
                let name = shape::scalar(self.reader.collector, node, "`count`", "count: n")?;
                self.counts(name, begin.as_ref(), &middle);
                (BlockEnd::Count(name.text.clone()), Some(name.text.clone()))
            }
            (None, None) => {
                shape::missing_key(self.reader.collector, node, "end", "a block of lines", BLOCK);
                return None;
            }
            (Some(_), Some(count)) => {
                let message = "a block has `end` or `count`";
                self.reader.collector.error("two-keys", message, &count.head(), "the second one");
                return None;
            }
        };
        let then = match get("then") {
            None => None,
            Some(node) => {
                if !matches!(middle, Middle::Each(_)) {
                    let message = "`then` follows the outputs of a list, and there is no `each`";
                    self.reader.collector.error("wrong-value", message, &node.head(), "follows nothing");
                }
                Some(shape::scalar(self.reader.collector, node, "`then`", "then: Listed")?.text.clone())
            }
        };
        Some((Block { begin, middle, end, then }, count))
    }

    fn counts(&mut self, name: &Scalar, begin: Option<&Regex>, middle: &Middle) {
        let mut groups = begin.into_iter().flat_map(|begin| begin.capture_names().flatten());
        let message = if !matches!(middle, Middle::Each(_)) {
            "`count` counts the outputs of a list, and there is no `each`".to_owned()
        } else if !groups.any(|group| group == name.text) {
            format!("`begin` has no group `{}`", name.text)
        } else {
            return;
        };
        let diagnostic = Diagnostic::error("wrong-value", message)
            .at(self.reader.collector.origin(&name.span), "counts nothing")
            .help("for example `begin: '^\\*(?P<n>\\d+)$'`, `each: '^:(?P<pValue>\\d+)$'`, `count: n`");
        self.reader.collector.push(diagnostic);
    }
}

/// Reports outputs that follow a list (`then`) and are not there, or cannot come to their turn.
pub fn check_then(reader: &mut IutReader<'_>, observations: &[&Entry]) {
    let all: Vec<&str> = observations.iter().map(|entry| entry.key.text.as_str()).collect();
    let then = |node: &Node| match &node.kind {
        NodeKind::Mapping(inner) => shape::get(inner, "then").and_then(|node| node.as_scalar()).cloned(),
        _ => None,
    };
    let all_then = |entry: &&Entry| -> Vec<(String, Scalar)> {
        let found: Vec<Scalar> = match &entry.value.kind {
            // An output with several responses.
            NodeKind::Sequence(items) => items.iter().filter_map(|item| then(item)).collect(),
            _ => then(&entry.value).into_iter().collect(),
        };
        found.into_iter().map(|follower| (entry.key.text.clone(), follower)).collect()
    };
    let then: Vec<(String, Scalar)> = observations.iter().flat_map(all_then).collect();
    for (action, follower) in &then {
        let at = |name: &str| all.iter().position(|other| *other == name);
        let (message, help) = match (at(action.as_str()), at(&follower.text)) {
            (_, None) => {
                let help = reader
                    .collector
                    .meant(&follower.text, "outputs with an observation", || all.iter().copied());
                (format!("`observations` has nothing for `{}`", follower.text), help)
            }
            _ if follower.text == *action => {
                (format!("`{action}` follows itself"), "name another output".to_owned())
            }
            (Some(list), Some(place)) if place < list => (
                format!("`{}` stands before `{action}`, and the first that fits counts", follower.text),
                format!("write `{}` below `{action}`", follower.text),
            ),
            _ if then.iter().any(|(other, _)| *other == follower.text) => (
                format!("`{}` is followed by something itself", follower.text),
                "what follows a list is one output".to_owned(),
            ),
            _ => continue,
        };
        reader.collector.mistake("wrong-value", message, &follower.span, "not after the list", help);
    }
}
