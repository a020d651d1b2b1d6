//! Reads the lines of an output: one pattern, a list with a pattern for each line or with bytes that a line
//! counts, or a block up to an end. Also reads the inputs that the output answers.

use std::ops::Range;
use std::sync::Arc;

use coreach_adapters::description::{BlockEnd, LineBlock, LinePart, Middle, Shape};
use coreach_model::diagnostic::Diagnostic;
use coreach_model::iosts::ActionKind;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, NodeKind, Scalar, Yaml};

use super::captures;
use super::patterns::{OBSERVATIONS, Regex, read_regex};
use super::words::{IutReader, ParameterPlaces, read_optional};

const COUNTED: &str = "['^FOUND (?P<bytes>\\d+)$', { name: pText, size: bytes }]";

const FIELDS: &str = "fields: ['^id: (?P<pId>\\d+)$', '^state: (?P<pState>\\w+)$']";

const BLOCK: &str = "{ begin: '^\\+OK .*$', end: '^\\.$' }";

pub struct LinesRead {
    pub shape: Shape,
    pub groups: ParameterPlaces,
    /// The groups that count, which need not be parameters.
    pub counts: Vec<String>,
    /// The inputs that it answers. `None`, if it answers all.
    pub to: Option<Vec<String>>,
}

/// Reads the lines of one observation.
pub fn read_lines(reader: &mut IutReader<'_>, entry: &Entry) -> Option<LinesRead> {
    let what = format!("the pattern of `{}`", entry.key.text);
    let errors_before = reader.collector.errors();
    let keys = if let NodeKind::Mapping(keys) = &entry.value.kind { keys.as_slice() } else { &[] };
    let to = shape::get(keys, "to").map(|_| captures::read_actions(reader, keys, "to", ActionKind::Input));
    let pattern = shape::get(keys, "pattern");
    if pattern.is_some() {
        shape::check_keys(reader.collector, keys, &["pattern", "to"], &what);
    }
    let node = pattern.unwrap_or(&entry.value);
    let mut groups = PatternGroups { reader: &mut *reader, found: Vec::new() };
    let (shape, counts) = match &node.kind {
        NodeKind::Sequence(items) if !items.is_empty() => {
            let (parts, counts) = groups.read_parts(items, &what);
            (Shape::Lines(parts), counts)
        }
        NodeKind::Scalar(_) => (Shape::fitting(groups.read_pattern(node, &what)), Vec::new()),
        NodeKind::Mapping(_) if pattern.is_none() => {
            let (block, counts) = groups.read_block(node, &what)?;
            (Shape::Block(Box::new(block)), counts)
        }
        NodeKind::Sequence(_) | NodeKind::Mapping(_) => {
            let expected = "a regular expression, a list with one for each line, or a block";
            shape::wrong_kind(reader.collector, node, &what, expected, OBSERVATIONS);
            return None;
        }
    };
    let groups = groups.found;
    (reader.collector.errors() == errors_before).then_some(LinesRead { shape, groups, counts, to })
}

/// Reads patterns, and collects their groups. Each name may be found only once.
struct PatternGroups<'r, 'a> {
    reader: &'r mut IutReader<'a>,
    found: ParameterPlaces,
}

impl PatternGroups<'_, '_> {
    /// Reads lines that follow each other. Also returns the groups that count bytes of them.
    fn read_parts(&mut self, items: &[Arc<Yaml>], what: &str) -> (Vec<LinePart>, Vec<String>) {
        let (mut parts, mut counts) = (Vec::new(), Vec::new());
        for item in items {
            if !matches!(item.kind, NodeKind::Mapping(_)) {
                parts.extend(self.read_pattern(item, what).map(LinePart::Fitting));
            } else if let Some((count, name)) = self.read_counted(item) {
                counts.push(count.clone());
                parts.push(LinePart::Counted { count, name });
            }
        }
        (parts, counts)
    }

    /// Reads a part that is counted in bytes: the group that counts, and the parameter that gets the bytes.
    fn read_counted(&mut self, node: &Yaml) -> Option<(String, String)> {
        let what = "a part that is counted in bytes";
        let entries = shape::mapping(self.reader.collector, node, what, COUNTED)?;
        shape::check_keys(self.reader.collector, entries, &["name", "size"], what);
        let mut scalar_of = |key: &str| {
            let value = shape::required(self.reader.collector, node, entries, key, what, COUNTED)?;
            shape::scalar(self.reader.collector, value, &format!("`{key}`"), COUNTED)
        };
        let (name, size) = (scalar_of("name")?, scalar_of("size")?);
        if self.found.iter().all(|(group, _)| *group != size.text) {
            let message = format!("no pattern before has a group `{}`", size.text);
            let help = format!("for example `{COUNTED}`");
            self.reader.refuse(node, &message, "nothing counts these bytes", &help);
        }
        self.add_name(name.text.clone(), name.span.clone());
        Some((size.text.clone(), name.text.clone()))
    }

    fn add_name(&mut self, name: String, place: Range<usize>) {
        if self.found.iter().any(|(known, _)| *known == name) {
            let message = format!("`{name}` is found in two lines");
            self.reader.collector.error("duplicate-key", message, &place, "the second time");
        } else {
            self.found.push((name, place));
        }
    }

    fn read_pattern(&mut self, node: &Yaml, what: &str) -> Option<Regex> {
        let scalar: &Scalar = shape::scalar(self.reader.collector, node, what, OBSERVATIONS)?;
        let (regex, names) = read_regex(self.reader, scalar)?;
        for (name, place) in names {
            self.add_name(name, place);
        }
        Some(regex)
    }

    /// Reads a block. Also returns the names of the groups that count its items or their bytes. `None` after
    /// a mistake.
    fn read_block(&mut self, node: &Yaml, what: &str) -> Option<(LineBlock, Vec<String>)> {
        let entries = shape::mapping(self.reader.collector, node, what, BLOCK)?;
        let known = ["begin", "lines", "fields", "each", "end", "count", "then", "to"];
        shape::check_keys(self.reader.collector, entries, &known, "a block of lines");
        let mut counts = Vec::new();
        let begin = read_optional(shape::get(entries, "begin"), |node| self.read_pattern(node, "`begin`"))?;
        let middle = self.read_middle(entries, &mut counts)?;
        if begin.is_none() && matches!(middle, Middle::Any) {
            let diagnostic = Diagnostic::error("missing-key", "a block of any lines has no `begin`")
                .at(self.reader.collector.origin(&node.head()), "it would begin with every line")
                .help(format!("for example `{BLOCK}`, or `lines` with a pattern for each line"));
            self.reader.collector.push(diagnostic);
        }
        let end = self.read_end(node, entries, begin.as_ref(), &middle)?;
        if let BlockEnd::Count(name) = &end {
            counts.push(name.clone());
        }
        let then = read_then(self.reader, entries, matches!(middle, Middle::Each(_)))?;
        Some((LineBlock { begin, middle, end, then }, counts))
    }

    /// Reads what is between the first line and the end. Adds the groups that count bytes to `counts`.
    fn read_middle(&mut self, entries: &[Entry], counts: &mut Vec<String>) -> Option<Middle> {
        let middles: Vec<&Entry> = entries
            .iter()
            .filter(|entry| ["lines", "fields", "each"].contains(&entry.key.text.as_str()))
            .collect();
        if let [_, second, ..] = middles.as_slice() {
            let message = "a block can have only one of `lines`, `fields` and `each`";
            self.reader.collector.error("two-keys", message, &second.key.span, "the second one");
            return None;
        }
        Some(match middles.first().map(|entry| (entry.key.text.as_str(), &entry.value)) {
            None => Middle::Any,
            Some(("fields", fields)) => {
                let what = "`fields`";
                let items = shape::list(self.reader.collector, fields, what, FIELDS)?;
                if items.is_empty() {
                    let message = "`fields` must be a list of patterns";
                    self.reader.collector.error("wrong-value", message, &fields.head(), "empty");
                }
                Middle::Fields(items.iter().filter_map(|item| self.read_pattern(item, what)).collect())
            }
            Some(("lines", lines)) => {
                let groups_before = self.found.len();
                let pattern = self.read_pattern(lines, "`lines`")?;
                if let Some((name, place)) = self.found.get(groups_before) {
                    let message = format!("`{name}` would be found in every line");
                    let label = "a group of any number of lines";
                    let help = "use `each`: then each line is an output";
                    self.reader.collector.mistake("wrong-value", message, place, label, help);
                }
                Middle::Lines(pattern)
            }
            Some((_, each)) => Middle::Each(match &each.kind {
                NodeKind::Sequence(items) if items.is_empty() => {
                    let message = "`each` must be a pattern or a list of patterns";
                    self.reader.collector.error("wrong-value", message, &each.head(), "empty");
                    return None;
                }
                NodeKind::Sequence(items) => {
                    let (parts, sizes) = self.read_parts(items, "`each`");
                    counts.extend(sizes);
                    parts
                }
                _ => self.read_pattern(each, "`each`").into_iter().map(LinePart::Fitting).collect(),
            }),
        })
    }

    /// Reads `end` or `count`, one of which must be there.
    fn read_end(
        &mut self,
        node: &Yaml,
        entries: &[Entry],
        begin: Option<&Regex>,
        middle: &Middle,
    ) -> Option<BlockEnd> {
        match (shape::get(entries, "end"), shape::get(entries, "count")) {
            (Some(node), None) => self.read_pattern(node, "`end`").map(BlockEnd::Mark),
            (None, Some(node)) => {
                let name = shape::scalar(self.reader.collector, node, "`count`", "count: n")?;
                self.check_count(name, begin, middle);
                Some(BlockEnd::Count(name.text.clone()))
            }
            (None, None) => {
                shape::missing_key(self.reader.collector, node, "end", "a block of lines", BLOCK);
                None
            }
            (Some(_), Some(count)) => {
                let message = "a block cannot have both `end` and `count`";
                self.reader.collector.error("two-keys", message, &count.head(), "the second one");
                None
            }
        }
    }

    /// Checks that `count` counts the outputs of a list, and is a group of `begin`.
    fn check_count(&mut self, name: &Scalar, begin: Option<&Regex>, middle: &Middle) {
        let mut groups = begin.into_iter().flat_map(|begin| begin.capture_names().flatten());
        let message = if !matches!(middle, Middle::Each(_)) {
            "`count` counts the outputs of a list, but there is no `each`".to_owned()
        } else if !groups.any(|group| group == name.text) {
            format!("`begin` has no group `{}`", name.text)
        } else {
            return;
        };
        let help = "for example `begin: '^\\*(?P<n>\\d+)$'`, `each: '^:(?P<pValue>\\d+)$'`, `count: n`";
        self.reader.collector.mistake("wrong-value", message, &name.span, "counts nothing", help);
    }
}

/// Reads `then`, the output after a list. The outer `None` is a mistake, the inner one no key.
pub fn read_then(reader: &mut IutReader<'_>, keys: &[Entry], has_each: bool) -> Option<Option<String>> {
    let Some(node) = shape::get(keys, "then") else { return Some(None) };
    if !has_each {
        let message = "`then` follows the outputs of a list, but there is no `each`";
        reader.collector.error("wrong-value", message, &node.head(), "follows nothing");
    }
    shape::scalar(reader.collector, node, "`then`", "then: Listed").map(|scalar| Some(scalar.text.clone()))
}

/// Reports outputs after a list (`then`) that do not exist, or that can never be seen there.
pub fn check_then(reader: &mut IutReader<'_>, observations: &[&Entry]) {
    let names: Vec<&str> = observations.iter().map(|entry| entry.key.text.as_str()).collect();
    let follower_of = |node: &Yaml| match &node.kind {
        NodeKind::Mapping(keys) => shape::get(keys, "then").and_then(|node| node.as_scalar()).cloned(),
        NodeKind::Sequence(_) | NodeKind::Scalar(_) => None,
    };
    // Each list with the output after it.
    let mut followers: Vec<(&str, Scalar)> = Vec::new();
    for entry in observations {
        let found: Vec<Scalar> = match &entry.value.kind {
            // An output may have several responses.
            NodeKind::Sequence(items) => items.iter().filter_map(|item| follower_of(item)).collect(),
            NodeKind::Mapping(_) | NodeKind::Scalar(_) => follower_of(&entry.value).into_iter().collect(),
        };
        followers.extend(found.into_iter().map(|follower| (entry.key.text.as_str(), follower)));
    }
    for (action, follower) in &followers {
        let position = |name: &str| names.iter().position(|known| *known == name);
        let (message, help) = match (position(action), position(&follower.text)) {
            (_, None) => {
                let help = reader
                    .collector
                    .suggest(&follower.text, "outputs with an observation", || names.iter().copied());
                (format!("`observations` has nothing for `{}`", follower.text), help)
            }
            _ if follower.text == *action => {
                (format!("`{action}` follows itself"), "name another output".to_owned())
            }
            (Some(list), Some(place)) if place < list => (
                format!("`{}` comes before `{action}`, and the first that fits counts", follower.text),
                format!("write `{}` below `{action}`", follower.text),
            ),
            _ if followers.iter().any(|(list, _)| *list == follower.text) => (
                format!("`{}` has its own `then`", follower.text),
                "only one output can follow a list".to_owned(),
            ),
            _ => continue,
        };
        reader.collector.mistake("wrong-value", message, &follower.span, "not after the list", help);
    }
}
