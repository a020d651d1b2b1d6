//! YAML as a tree that remembers all places.
//!
//! The reader needs more of YAML than a deserializer gives: the text of a scalar as it was written (`0` is an
//! expression, `on` a key), the byte at which it begins (the words inside an expression are underlined), and
//! both places of a key that is there twice. So the tree is built here, from the events of the parser
//! `granit-parser`.
//!
//! No content of a file can make this slow or deep: the file's size, the nesting, the number of nodes, and
//! the nodes that aliases repeat are limited, each with its own diagnostic. Building is iterative. Cost:
//! linear in the file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, Span, StructureStyle, Tag};

use crate::diagnostic::{Diagnostic, SourceFile};
use crate::file::{self, FileError};
use crate::limits::DEEPEST;
use crate::reader::collect::Collector;
use crate::reader::lexer;
use crate::reader::limits::ReaderLimits;

#[derive(Clone, PartialEq, Debug)]
pub struct Yaml {
    pub kind: NodeKind,
    /// Its place, in bytes of the file.
    pub span: Range<usize>,
    flow: bool,
    /// How many nodes it has with those below it. An alias repeats its node.
    size: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub enum NodeKind {
    Scalar(Scalar),
    Sequence(Vec<Arc<Yaml>>),
    /// Keys and values in the order of the file; a key may stand twice here.
    Mapping(Vec<Entry>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    pub key: Scalar,
    pub value: Arc<Yaml>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scalar {
    /// The text, after YAML's escapes and folding.
    pub text: String,
    /// Its place, with its quotes.
    pub span: Range<usize>,
    /// Was it written without quotes and not as a block?
    pub plain: bool,
    /// Is it a value that YAML made of a sign, and no text of the user's? This has been reported.
    pub broken: bool,
    map: Map,
}

/// How the bytes of a scalar's text lie in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Map {
    /// The text stands there verbatim, from this byte on.
    Verbatim(usize),
    /// It stands there on several lines: the place of each byte.
    Lines(Arc<[u32]>),
    /// YAML's escapes lie between.
    Escaped,
}

impl Scalar {
    /// Makes a scalar of a piece of another one.
    pub fn made(text: String, span: Range<usize>) -> Self {
        Scalar { text, map: Map::Verbatim(span.start), span, plain: true, broken: false }
    }

    /// The place of a piece of the text. If YAML's escapes lie between, it is the place of the whole scalar.
    pub fn place(&self, within: &Range<usize>) -> Range<usize> {
        match &self.map {
            Map::Verbatim(start) => start + within.start..start + within.end,
            Map::Lines(places) => {
                let place = |byte: usize| places.get(byte).map(|place| *place as usize);
                let start = place(within.start);
                // The place of the byte after the end may be in another line, so the last byte counts.
                let end = if within.is_empty() { start } else { place(within.end - 1).map(|last| last + 1) };
                start.zip(end).map_or(self.span.clone(), |(start, end)| start..end)
            }
            Map::Escaped => self.span.clone(),
        }
    }
}

impl Yaml {
    pub fn as_scalar(&self) -> Option<&Scalar> {
        if let NodeKind::Scalar(scalar) = &self.kind { Some(scalar) } else { None }
    }

    pub fn is_nothing(&self) -> bool {
        self.as_scalar().is_some_and(|s| s.plain && matches!(s.text.as_str(), "" | "~" | "null"))
    }

    /// Is it written in brackets of its own?
    pub fn is_flow(&self) -> bool {
        self.flow
    }

    pub fn describe(&self) -> &'static str {
        match &self.kind {
            NodeKind::Scalar(_) if self.is_nothing() => "nothing",
            NodeKind::Scalar(_) => "text",
            NodeKind::Sequence(_) => "a list",
            NodeKind::Mapping(_) => "a mapping",
        }
    }

    /// The place to underline when the node as a whole is meant: a block collection is shown by its first
    /// words.
    pub fn head(&self) -> Range<usize> {
        match &self.kind {
            NodeKind::Mapping(entries) if !self.flow => {
                entries.first().map_or(self.span.clone(), |entry| entry.key.span.clone())
            }
            NodeKind::Sequence(items) if !self.flow => {
                items.first().map_or(self.span.clone(), |item| item.head())
            }
            _ => self.span.clone(),
        }
    }
}

/// Reads a file from the disk.
///
/// # Errors
/// One diagnostic, without a place: the file is missing, unreadable, too large or not UTF-8.
pub fn load(path: &Path) -> Result<Arc<SourceFile>, Diagnostic> {
    let name = path.display().to_string();
    // The limit depends on the beginning of the file. So read up to the larger limit, and check it
    // afterwards.
    match file::read(path, ReaderLimits::GENERATED.bytes as u64) {
        Ok(bytes) => from_bytes(name, bytes),
        Err(FileError::TooLarge(size)) => Err(too_large(&name, size, ReaderLimits::GENERATED.bytes)),
        Err(FileError::Unreadable(why)) => {
            Err(Diagnostic::error("unreadable-file", format!("cannot read {name}: {why}")))
        }
    }
}

/// Makes text of a file's content.
///
/// # Errors
/// One diagnostic: the content is too large or not UTF-8 (then it names the line).
pub fn from_bytes(name: String, bytes: Vec<u8>) -> Result<Arc<SourceFile>, Diagnostic> {
    let longest = ReaderLimits::of(&bytes).bytes;
    if bytes.len() > longest {
        return Err(too_large(&name, bytes.len() as u64, longest));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Arc::new(SourceFile { name, text })),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let bytes = error.as_bytes();
            let line = 1 + bytes[..valid].iter().filter(|byte| **byte == b'\n').count();
            let message = format!("{name} is not UTF-8: byte {:#04x} in line {line}", bytes[valid]);
            Err(Diagnostic::error("invalid-utf8", message).help("save the file with the encoding UTF-8"))
        }
    }
}

fn too_large(name: &str, size: u64, longest: usize) -> Diagnostic {
    let message = format!("{name} has {size} bytes; at most {longest} are read");
    Diagnostic::error("file-too-large", message)
}

/// Parses the one document of the collector's file. `None` if it is not even YAML, which has been reported.
pub fn parse(collector: &mut Collector) -> Option<Arc<Yaml>> {
    let file = collector.file.clone();
    let limits = collector.limits;
    if file.text.len() > limits.bytes {
        collector.push(too_large(&file.name, file.text.len() as u64, limits.bytes));
        return None;
    }
    let mut options = Options::default();
    options.emit_unresolved_aliases = true;
    let mut builder = Builder {
        collector,
        text: &file.text,
        open: Vec::new(),
        root: None,
        anchors: BTreeMap::new(),
        nodes: 0,
        last_tag_end: None,
    };
    for result in Parser::new_from_str_with_options(&file.text, options) {
        match result {
            Ok((event, span)) => {
                builder.handle_event(event, &span)?;
                if builder.collector.is_full() {
                    return None;
                }
            }
            Err(error) => {
                let stop = error.marker().byte_offset().unwrap_or(file.text.len()).min(file.text.len());
                let is_on_line =
                    |tag_end: usize| file.text.get(tag_end..stop).is_some_and(|s| !s.contains('\n'));
                if *error.kind() == ErrorKind::RecursionLimitExceeded {
                    builder.report_too_deep(&(stop..stop));
                } else if !builder.last_tag_end.is_some_and(is_on_line) {
                    // After a tag (a negation without quotes), which is reported, nothing else is.
                    builder.report_stop(error.kind(), &error.info(), stop);
                }
                return None;
            }
        }
    }
    if builder.root.is_none() {
        let end = builder.text.len();
        let message =
            "the file is empty: expected a mapping that begins with `iosts:`, `purpose:` or `specification:`";
        builder.collector.error("empty-file", message, &(end..end), "nothing here");
    }
    builder.root
}

/// Returns the keys of the document in order, up to the first one for which `is_last` holds, and as far as
/// the text is YAML. The value is an empty text at its place if it is no scalar. Mistakes are not reported.
/// This is for a look at the kind of a file, which must cost less than reading it.
pub fn top_keys(text: &str, is_last: impl Fn(&str) -> bool) -> Vec<(String, Scalar)> {
    let mut entries = Vec::new();
    if text.len() > ReaderLimits::of(text.as_bytes()).bytes {
        return entries;
    }
    let mut depth = 0_usize;
    // The key whose value comes next.
    let mut open_key: Option<String> = None;
    // The beginning of the current collection at the second level.
    let mut start = 0;
    let mut options = Options::default();
    options.emit_unresolved_aliases = true;
    for (event, span) in Parser::new_from_str_with_options(text, options).map_while(Result::ok) {
        let bytes = span.byte_range().unwrap_or(0..0);
        let node = match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                let is_list = matches!(event, Event::SequenceStart(..));
                depth += 1;
                if depth > DEEPEST || (depth == 1 && is_list) {
                    return entries;
                }
                if depth == 2 {
                    start = bytes.start;
                }
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.saturating_sub(1);
                match depth {
                    0 => return entries,
                    1 => Scalar::made(String::new(), start..bytes.end.max(start)),
                    _ => continue,
                }
            }
            Event::Scalar(value, ..) if depth == 1 => Scalar::made(value.into_owned(), bytes),
            Event::Alias(..) | Event::UnresolvedAlias(..) if depth == 1 => Scalar::made(String::new(), bytes),
            _ => continue,
        };
        // Keys and values alternate.
        match open_key.take() {
            None => open_key = Some(node.text),
            Some(key) => {
                let ends_here = is_last(&key);
                entries.push((key, node));
                if ends_here {
                    return entries;
                }
            }
        }
    }
    entries
}

const QUOTE: &str =
    "put an expression in quotes if it contains one of [ ] { } , # : or begins with one of ! & * > | % @";

/// Finds the quote that ends before this byte and is followed by other text. Returns its beginning, and what
/// to do.
fn explain_trailing(text: &str, end: usize) -> (usize, &'static str) {
    let with_quote = text.get(..end).unwrap_or_default().trim_end();
    let sign = with_quote.chars().last().unwrap_or('"');
    let without_sign = with_quote.strip_suffix(sign).unwrap_or_default();
    let open = without_sign.rfind(sign).unwrap_or_default();
    match without_sign[open..].contains('\n') {
        true => (open, "a quote begins here and ends on another line: is its end missing on this line?"),
        false => (
            open,
            "more text follows the quotes: put the whole value in one pair of `'`, which may hold `\"`",
        ),
    }
}

/// Explains why a mapping or a list in brackets does not go on at a byte of a line. `head` is the line before
/// this byte, and `tail` is the line from there on. `None` if no explanation fits.
fn explain_flow(head: &str, tail: &str) -> Option<String> {
    let (_, value) = head.rsplit_once(": ")?;
    // `a: b ? 1 : 2`
    if let Some((condition, then)) = value.split_once('?').filter(|_| tail.starts_with(':')) {
        let condition = condition.rsplit('(').next().unwrap_or(condition).trim();
        let otherwise = tail[1..].split([')', ',', '}']).next().unwrap_or_default().trim();
        return Some(format!("write `if {condition} then {} else {otherwise}`", then.trim()));
    }
    // `a: 1 b: 2`
    if tail.starts_with(':') {
        let (_, key) = value.trim_end().rsplit_once(' ')?;
        return Some(format!("is a comma missing before `{key}`?"));
    }
    // `a: b[0]`
    if !tail.starts_with(['[', '{']) || value.starts_with(['"', '\'', '[', '{']) {
        return None;
    }
    let mut depth = 0;
    let end = tail.char_indices().find(|(_, c)| {
        depth += i32::from("([{".contains(*c)) - i32::from(")]}".contains(*c));
        depth < 0 || (depth == 0 && *c == ',')
    });
    let whole = format!("{value}{}", &tail[..end.map_or(tail.len(), |(offset, _)| offset)]);
    let sign = if whole.contains('"') { '\'' } else { '"' };
    Some(format!("put a value with `[` or `{{` in quotes: `{sign}{}{sign}`", whole.trim_end()))
}

/// Writes the line with braces around its keys, if it has several. The parser stops after the second key:
/// `head` is the line up to there.
fn explain_braces(line: &str, head: &str) -> Option<String> {
    let line = line.split(" #").next().unwrap_or(line).trim();
    // `- a: 1, b: 2` begins with `- `, and `Bid: amount: int, who: int` with `Bid`.
    let (begin, keys) = match line.strip_prefix("- ") {
        Some(keys) => ("- ", keys),
        None => line.split_once(": ").filter(|(_, keys)| keys.contains(": ")).unwrap_or(("", line)),
    };
    let key = head.rsplit([' ', ':']).next().filter(|key| lexer::is_name(key))?;
    let before_key = head[..head.len() - key.len()].trim_end();
    // The second key stands behind a comma, or is the `amount` behind `Bid:`.
    let is_second = before_key.ends_with(',') || before_key.trim_start() == format!("{begin}:");
    let colon = if begin.is_empty() || begin == "- " { "" } else { ": " };
    is_second.then(|| format!("{begin}{colon}{{ {} }}", keys.trim()))
}

/// Explains what may be wrong with the line at this byte, where the parser stops.
fn explain_stop(text: &str, stop: usize, message: &str) -> String {
    let begin = text.get(..stop).and_then(|start| start.rfind('\n')).map_or(0, |end| end + 1);
    let line = text[begin..].lines().next().unwrap_or_default();
    let (head, tail) = line.split_at_checked(stop - begin).unwrap_or((line, ""));
    if message.contains("flow mapping") || message.contains("flow sequence") {
        return explain_flow(head, tail).unwrap_or_else(|| QUOTE.to_owned());
    }
    // `- Bid(amount: int, who: int)`
    let called = line.trim().strip_prefix("- ").filter(|item| item.ends_with(')'));
    let called = called.filter(|item| item.split(':').next().is_some_and(|name| name.contains('(')));
    if let Some(signature) = called.and_then(lexer::read_signature) {
        return format!(
            "write `{}`, and no line of this section with `-`",
            lexer::write_signature(&signature)
        );
    }
    if ["<<<<<<<", "=======", ">>>>>>>"].iter().any(|marker| line.starts_with(marker)) {
        return "a merge of git has left this line: keep one of both versions, without the three marked lines".to_owned();
    }
    // The line above, and the next one above that begins in the same column.
    let indent = |line: &str| line.len() - line.trim_start().len();
    let has_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let mut lines_above = text[..begin].lines().rev().filter(has_content);
    let above = lines_above.clone().next().unwrap_or_default();
    let mut in_same_block = lines_above.by_ref().take_while(|other| indent(other) >= indent(line));
    let sibling = in_same_block.find(|other| indent(other) == indent(line));
    let is_item = |line: &str| line.trim_start().starts_with("- ");
    // A key below a mapping in braces, which belongs to it. But `from:` begins a transition of its own.
    let is_key = |line: &str| line.trim_start().split_once(':').is_some_and(|(key, _)| lexer::is_name(key));
    let is_braced = above.contains('{') && is_key(line) && !line.trim_start().starts_with("from:");
    if let Some(inside) = above.trim().strip_suffix('}').filter(|_| is_braced)
        && (is_item(above) && indent(line) >= indent(above)
            || indent(line) > indent(above) && !line.trim_end().ends_with('}'))
    {
        let whole = format!("{}, {} }}", inside.trim_end(), line.trim());
        return format!("this belongs into the braces of the line above: write `{whole}`");
    }
    // `- a: 1, b: 2`
    if message.contains("mapping values")
        && let Some(braced) = explain_braces(line, head)
    {
        return format!("write several keys on one line in braces: `{braced}`");
    }
    // `word(s: string): …` or `Put(key: Key):`
    if let Some((name, parameters)) = line.trim_start().split_once('(')
        && message.contains("mapping values")
        && lexer::is_name(name)
    {
        let parameters = parameters.split(')').next().unwrap_or_default();
        let section =
            text[..begin].lines().rev().find(|other| has_content(other) && indent(other) < indent(line));
        return match section.is_some_and(|section| section.trim_start().starts_with("functions:")) {
            true => format!(
                "write a function as `{name}: {{ parameters: {{ {parameters} }}, result: TYPE, is: EXPRESSION }}`"
            ),
            false => format!("write parameters in braces: `{name}: {{ {parameters} }}`"),
        };
    }
    // `key: - item`
    if message.contains("block sequence entries") && !head.trim().is_empty() {
        return "write the first item of a list on the line below the key".to_owned();
    }
    // `key:value` on the line above, which YAML reads as a text.
    if let Some((key, value)) = above.trim_start().split_once(':')
        && message.contains("mapping values")
        && !value.is_empty()
        && !value.contains(' ')
    {
        return format!("write the line above as `{key}: {value}`, with a space after the colon");
    }
    // Does the parser stop at the first word of the line?
    let is_first =
        head.trim().is_empty() || (message.contains("mapping values") && indent(line) > indent(above));
    let help = if message.contains("multiline quoted") {
        "a quote that begins above this line is never closed"
    } else if !is_item(line) && sibling.is_some_and(is_item) {
        "the lines before it begin with `- `: is it missing here?"
    } else if !line.contains(':') && !is_item(line) && message.contains("expected ':'") {
        "is the `:` after the key missing on this line?"
    } else if is_first && indent(line) != indent(above) {
        let (spaces, spaces_above) = (indent(line), indent(above));
        return format!(
            "this line begins with {spaces} spaces, and the one above with {spaces_above}: should both be the same?"
        );
    } else if is_first || (line.trim_end().ends_with(':') && message.contains("expected key")) {
        "is this line indented differently from the lines around it?"
    } else {
        QUOTE
    };
    help.to_owned()
}

/// The word or sign at a byte, within its line.
fn word_at(text: &str, byte: usize) -> Range<usize> {
    // Neither end may fall into a character.
    let start = (0..=byte.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    let tail = &text[start..];
    let word = tail.find(|c: char| c.is_whitespace() || ",[]{}".contains(c)).unwrap_or(tail.len());
    // A sign has no word, and is one character.
    let first = tail.chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
    let length = word.max(first).min(80);
    let length = (0..=length).rev().find(|i| tail.is_char_boundary(*i)).unwrap_or(0);
    start..start + length
}

/// Finds the places of the bytes of a scalar on several lines. Line folding changes only white space, so the
/// other characters come in the same order. `None` if they do not, because something is escaped.
fn find_places_of_lines(
    source: &str,
    text: &str,
    start: usize,
    quote: usize,
    is_block: bool,
) -> Option<Arc<[u32]>> {
    // A text that is longer than an expression may be is underlined as a whole.
    if text.len() > ReaderLimits::GIVEN.expression {
        return None;
    }
    // The text begins after the line with the sign of a block, or after the quote.
    let header = if is_block && source.starts_with(['|', '>']) { source.find('\n')? + 1 } else { quote };
    let mut characters = source.get(header..)?.char_indices().filter(|(_, c)| !c.is_whitespace());
    let mut places = Vec::with_capacity(text.len() + 1);
    let mut next_place = u32::try_from(start + header).ok()?;
    for c in text.chars() {
        if c.is_whitespace() {
            places.extend(std::iter::repeat_n(next_place, c.len_utf8()));
            continue;
        }
        let (offset, written) = characters.next()?;
        if written != c {
            return None;
        }
        let place = u32::try_from(start + header + offset).ok()?;
        next_place = place + c.len_utf8() as u32;
        places.extend(place..next_place);
    }
    // The end of the text has a place, too.
    places.push(next_place);
    Some(places.into())
}

/// A list or a mapping that is not complete.
struct OpenNode {
    kind: NodeKind,
    flow: bool,
    start: usize,
    anchor: usize,
    size: usize,
    /// The key of a mapping whose value comes next.
    key: Option<Scalar>,
    expects_key: bool,
}

struct Builder<'a, 'c> {
    collector: &'c mut Collector,
    text: &'a str,
    open: Vec<OpenNode>,
    root: Option<Arc<Yaml>>,
    anchors: BTreeMap<usize, Arc<Yaml>>,
    /// How many nodes there are, without those that aliases repeat.
    nodes: usize,
    /// Each tag is a mistake.
    last_tag_end: Option<usize>,
}

impl Builder<'_, '_> {
    /// Handles one event. `None` stops the building after a mistake, which has been reported.
    fn handle_event(&mut self, event: Event<'_>, span: &Span) -> Option<()> {
        let bytes = span.byte_range().unwrap_or(0..0);
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                let message = "a second document: one file holds one model";
                self.collector.error("second-document", message, &bytes, "it begins here");
                None
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.report_tag(tag.as_deref(), span);
                let mut scalar = self.make_scalar(&text, style, bytes);
                scalar.broken = tag.is_some();
                let node =
                    Yaml { span: scalar.span.clone(), kind: NodeKind::Scalar(scalar), flow: true, size: 1 };
                self.complete(node, anchor)
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.report_tag(tag.as_deref(), span);
                self.open_collection(NodeKind::Sequence(Vec::new()), style, anchor, bytes)
            }
            Event::MappingStart(style, anchor, tag) => {
                self.report_tag(tag.as_deref(), span);
                self.open_collection(NodeKind::Mapping(Vec::new()), style, anchor, bytes)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let open = self.open.pop()?;
                // The event has the place of the brackets. Without brackets, the contents have a place.
                let first_key = match &open.kind {
                    NodeKind::Mapping(entries) => entries.first().map(|entry| entry.key.span.start),
                    _ => None,
                };
                let last = match &open.kind {
                    NodeKind::Sequence(items) => items.last().map(|item| item.span.end),
                    NodeKind::Mapping(entries) => {
                        entries.last().map(|entry| entry.value.span.end.max(entry.key.span.end))
                    }
                    NodeKind::Scalar(_) => None,
                };
                let (start, end) = match open.flow {
                    true => (open.start, bytes.end),
                    false => (first_key.unwrap_or(open.start), last.unwrap_or(bytes.start)),
                };
                let span = start..end.max(start);
                self.complete(Yaml { kind: open.kind, span, flow: open.flow, size: open.size }, open.anchor)
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    let message = "an alias is inside its own anchor";
                    self.collector.error("recursive-alias", message, &bytes, "this never ends");
                    return None;
                };
                self.add(node, bytes)
            }
            Event::UnresolvedAlias(name) => {
                let message = format!("`*{name}` is a YAML alias, but there is no anchor `&{name}`");
                self.collector.mistake("unknown-alias", message, &bytes, "unknown alias", QUOTE);
                let scalar = Scalar { broken: true, ..Scalar::made(String::new(), bytes.clone()) };
                self.complete(Yaml { kind: NodeKind::Scalar(scalar), span: bytes, flow: true, size: 1 }, 0)
            }
            _ => Some(()),
        }
    }

    /// Reports that the parser stops at this byte, with what the user can do.
    fn report_stop(&mut self, kind: &ErrorKind, info: &str, stop: usize) {
        let file = self.collector.file.clone();
        let message = format!("this is not YAML: {info}");
        let mut place = word_at(&file.text, stop);
        let (label, help) = match kind {
            ErrorKind::UnclosedQuotedScalar => ("never closed", "end the quoted text with the same sign"),
            _ if message.contains("tab") => {
                // The parser stops at the scalar in front of the line with the tab.
                let tab = stop + file.text[stop..].find('\t').unwrap_or(0);
                place = tab..tab + 1;
                ("a tab", "YAML indents with spaces")
            }
            _ if message.contains("escape") => (
                "an escape that YAML does not know",
                "in double quotes `\\` begins an escape: use single quotes, as in '\\d+'",
            ),
            _ if message.contains("trailing content after") => {
                let (quote, help) = explain_trailing(&file.text, stop);
                place = word_at(&file.text, quote);
                ("this quote", help)
            }
            _ if message.contains("unclosed bracket") => ("never closed", "close each bracket: `[ ]`, `{ }`"),
            _ => ("the YAML parser stops here", ""),
        };
        let is_program =
            [".py", ".sh", ".js", ".rs", ".java", ".c"].iter().any(|end| file.name.ends_with(end));
        let help = match help {
            // A tab or a quote is explained in programs, too.
            _ if is_program && !["a tab", "this quote"].contains(&label) => {
                "coreach reads YAML files: is this the right file?".to_owned()
            }
            "" => explain_stop(&file.text, stop, &message),
            help => help.to_owned(),
        };
        self.collector.mistake("yaml-syntax", message, &place, label, help);
    }

    /// Makes a scalar, with the places of its bytes.
    fn make_scalar(&self, text: &str, style: ScalarStyle, bytes: Range<usize>) -> Scalar {
        let source = self.text.get(bytes.clone()).unwrap_or("");
        // The length of the quote before the text.
        let quote = usize::from(matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted));
        let is_verbatim = source.get(quote..).is_some_and(|s| s.starts_with(text)) && !text.contains('\n');
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let map = if is_verbatim && !is_block {
            Map::Verbatim(bytes.start + quote)
        } else {
            find_places_of_lines(source, text, bytes.start, quote, is_block).map_or(Map::Escaped, Map::Lines)
        };
        Scalar { text: text.to_owned(), map, span: bytes, plain: style == ScalarStyle::Plain, broken: false }
    }

    /// Reports a tag. Tags mean nothing in the format, and most are a negation without quotes.
    fn report_tag(&mut self, tag: Option<&Tag>, span: &Span) {
        let Some(tag) = tag else { return };
        let bytes =
            span.tag_span().and_then(|s| s.byte_range()).or_else(|| span.byte_range()).unwrap_or(0..0);
        self.last_tag_end = Some(bytes.end);
        let written = tag.original();
        let label = "a tag, which means nothing here";
        let is_action =
            self.open.last().and_then(|open| open.key.as_ref()).is_some_and(|key| key.text == "on");
        let help = match is_action {
            true => "write the name alone: `inputs` and `outputs` give its direction",
            false => "if `!` is a negation, put the expression in quotes: \"!done && x > 0\"",
        };
        self.collector.mistake("yaml-tag", format!("YAML reads `{written}` as a tag"), &bytes, label, help);
    }

    /// Opens a mapping or a sequence, whose nodes come next. `None` if it is nested too deep.
    fn open_collection(
        &mut self,
        kind: NodeKind,
        style: StructureStyle,
        anchor: usize,
        bytes: Range<usize>,
    ) -> Option<()> {
        if self.open.len() >= DEEPEST {
            self.report_too_deep(&bytes);
            return None;
        }
        let expects_key = matches!(kind, NodeKind::Mapping(_));
        let flow = style == StructureStyle::Flow;
        self.open.push(OpenNode { kind, flow, start: bytes.start, anchor, size: 1, key: None, expects_key });
        Some(())
    }

    fn report_too_deep(&mut self, bytes: &Range<usize>) {
        let message = format!("lists and mappings are nested more than {DEEPEST} deep");
        self.collector.error("nested-too-deep", message, bytes, "one level too many");
    }

    /// Counts a new node, remembers it under its anchor (0 is none), and adds it. `None` as in [`Self::add`].
    fn complete(&mut self, node: Yaml, anchor: usize) -> Option<()> {
        let bytes = node.span.clone();
        let node = Arc::new(node);
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        self.nodes += 1;
        self.add(node, bytes)
    }

    /// Adds a complete node to the innermost open collection. `None` if there are too many nodes, which is
    /// reported at `bytes`.
    fn add(&mut self, node: Arc<Yaml>, bytes: Range<usize>) -> Option<()> {
        // Repeated nodes count each time.
        let total = self.open.iter().map(|open| open.size).fold(node.size, usize::saturating_add);
        let most = self.collector.limits.nodes;
        if total > most || self.nodes > most {
            let message = format!("the file unfolds to more than {most} values");
            self.collector.error("too-many-values", message, &bytes, "the limit is passed here");
            return None;
        }
        let Some(parent) = self.open.last_mut() else {
            self.root = Some(node);
            return Some(());
        };
        parent.size = parent.size.saturating_add(node.size);
        match &mut parent.kind {
            NodeKind::Sequence(items) => items.push(node),
            NodeKind::Mapping(entries) => {
                // Keys and values alternate. The value of a key that is no scalar is left out.
                parent.expects_key = !parent.expects_key;
                if parent.expects_key {
                    entries.extend(parent.key.take().map(|key| Entry { key, value: node }));
                } else if let Some(key) = node.as_scalar() {
                    parent.key = Some(key.clone());
                } else {
                    let message = format!("a key must be a name, not {}", node.describe());
                    self.collector.error("key-not-a-name", message, &node.head(), "expected a name");
                }
            }
            NodeKind::Scalar(_) => {}
        }
        Some(())
    }
}
