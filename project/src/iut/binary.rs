//! `encoding: binary`: how frames are told apart, and the fields of each action's frame.

use std::ops::Range;

use coreach_adapters::binary::fits;
use coreach_adapters::cut::{Cut, LONGEST, Length};
use coreach_adapters::description::{Binary, BitContent, Bits, Extent, Field, Ignored};
use coreach_adapters::encoding::unhex;
use coreach_adapters::integer::WireInteger;
use coreach_model::data::Datum;
use coreach_model::diagnostic::Diagnostic;
use coreach_model::iosts::{Action, ActionKind};
use coreach_model::number;
use coreach_model::reader::collect::inventory;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, Node, Scalar};

use super::captures;
use super::ignored::items;
use super::settle::{self, Speech};
use super::words::{IutReader, ParameterPlaces};

const FRAME: &str = "frame: { length: u16 }";
const STIMULI: &str = "stimuli: { Ask: [ { as: u8, is: 1 }, { as: u16, name: pId } ] }";
const OBSERVATIONS: &str = "observations: { Answer: [ { as: u8, is: 2 }, { as: u16, name: pId } ] }";
const IGNORE: &str = "ignore: [ { pattern: [ { as: u8, is: 9 } ], answer: [ { as: u8, is: 10 } ] } ]";
const FIELD: &str = "{ as: u16, name: pId }";
const BITS: &str = "{ bits: [ { width: 7, is: 0 }, { width: 1, name: pFlag } ] }";

/// The most bytes of one end or delimiter.
const LONGEST_END: usize = 8;

/// How it is carried.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// Bytes, of which the encoding says where a message ends.
    Stream,
    /// Datagrams, each a message.
    Datagrams,
}

/// The section's frames.
pub fn binary(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    node: &Node,
    of: &str,
    carrier: Carrier,
) -> Option<Binary> {
    let cut = match carrier {
        Carrier::Stream => frame(reader, entries, node, of),
        Carrier::Datagrams => Some(Cut::Datagrams),
    };
    let captures = captures::of_parts(reader, entries);
    let reset = settle::reset(reader, entries, Speech::Frames);
    let stimuli = actions(reader, entries, "stimuli", STIMULI, ActionKind::Input);
    reader.check_complete(entries, node, "stimuli", of, ActionKind::Input, STIMULI);
    let observations = actions(reader, entries, "observations", OBSERVATIONS, ActionKind::Output);
    reader.check_complete(entries, node, "observations", of, ActionKind::Output, OBSERVATIONS);
    reader.check_captured("field", "observations: { Welcome: [ { as: u16, name: NAME } ] }");
    let spelling = reader.spelling(entries);
    let unmatched = reader.unmatched(entries);
    let ignored = ignored(reader, entries);
    Some(Binary { cut: cut?, reset, stimuli, observations, ignored, captures, spelling, unmatched })
}

/// `frame`: how frames are told apart.
fn frame(reader: &mut IutReader<'_>, entries: &[Entry], node: &Node, of: &str) -> Option<Cut> {
    let frame = shape::required(reader.collector, node, entries, "frame", of, FRAME)?;
    shape::mapping(reader.collector, frame, "`frame`", FRAME)?;
    let known = ["length", "at", "counts", "fixed", "delimiter"];
    let entries = shape::section(reader.collector, entries, "frame", &known);
    let way = one_of(reader, frame, entries, &["length", "fixed", "delimiter"], "`frame`", FRAME)?;
    if way.key.text != "length" {
        only_with(reader, entries, &["at", "counts"], "belongs to `length`");
    }
    match way.key.text.as_str() {
        "fixed" => reader.size(&way.value, "fixed", 1).map(Cut::Fixed),
        "delimiter" => reader.end(&way.value, "delimiter").map(Cut::Delimiter),
        _ => {
            let integer = reader.integer(&way.value, "length", FRAME);
            let at = match shape::get(entries, "at") {
                Some(node) => reader.size(node, "at", 0),
                None => Some(0),
            };
            let counts = reader.choice(entries, "counts", &[("rest", false), ("frame", true)]);
            Some(Cut::Length(Length { integer: integer?, at: at?, is_of_all: counts.unwrap_or(false) }))
        }
    }
}

/// The frames of the actions of a kind.
fn actions(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    key: &str,
    like: &str,
    kind: ActionKind,
) -> Vec<(String, Vec<Field>)> {
    let mut found = Vec::new();
    for (entry, action) in reader.actions(entries, key, like, kind) {
        let what = format!("the frame of `{}`", entry.key.text);
        let read = fields(reader, &entry.value, &what, like, kind == ActionKind::Input);
        let Some((fields, named)) = read else { continue };
        check(reader, action.as_ref(), entry, &named, kind);
        found.push((entry.key.text.clone(), fields));
    }
    found
}

/// The fields of a frame, and the names in them.
fn fields(
    reader: &mut IutReader<'_>,
    node: &Node,
    what: &str,
    like: &str,
    is_sent: bool,
) -> Option<(Vec<Field>, Vec<Named>)> {
    // One without fields is written so, and is not what was forgotten.
    if node.is_nothing() {
        shape::wrong_kind(reader.collector, node, what, "a list of fields", like);
        return None;
    }
    let items = shape::list(reader.collector, node, what, like)?;
    let before = reader.collector.errors();
    let mut fields = Fields { reader: &mut *reader, is_sent, named: Vec::new() };
    let read: Vec<Option<Field>> = items.iter().map(|item| fields.field(item)).collect();
    let named = fields.named;
    let is_rest = |field: &Option<Field>| matches!(field, Some(Field::Bytes { extent: Extent::Rest, .. }));
    if let Some(at) = read.iter().position(is_rest).filter(|at| at + 1 < read.len()) {
        let message = "behind the rest of a frame there is nothing";
        reader.collector.error("wrong-order", message, &items[at + 1].head(), "behind `rest`");
    }
    (reader.collector.errors() == before).then(|| (read.into_iter().flatten().collect(), named))
}

/// `ignore` of frames.
fn ignored(reader: &mut IutReader<'_>, entries: &[Entry]) -> Vec<Ignored<Vec<Field>, Vec<Field>>> {
    let mut ignored = Vec::new();
    for (pattern, answer) in items(reader, entries, IGNORE) {
        let Some((pattern, found)) = fields(reader, pattern, "`pattern`", IGNORE, false) else { continue };
        let answer = match answer {
            None => None,
            Some(node) => {
                let Some((answer, named)) = fields(reader, node, "`answer`", IGNORE, true) else { continue };
                let own: Vec<&str> = found.iter().map(|name| name.text.as_str()).collect();
                check_known(reader, None, &own, &named);
                Some(answer)
            }
        };
        ignored.push(Ignored { pattern, answer });
    }
    ignored
}

/// Reports names of what is sent that are none of these, no constant and no capture.
fn check_known(reader: &mut IutReader<'_>, action: Option<&Action>, own: &[&str], named: &[Named]) {
    let constants = reader.iosts.map_or(&[][..], |iosts| &iosts.constants);
    let captures: Vec<String> = reader.captured().map(str::to_owned).collect();
    let known = || {
        let own = own.iter().copied().chain(constants.iter().map(Datum::name));
        own.chain(captures.iter().map(String::as_str))
    };
    // Without a model, a constant may have any name.
    let is_known = |name: &str| reader.iosts.is_none() || known().any(|other| other == name);
    let unknown: Vec<&Named> = named.iter().filter(|name| !is_known(&name.text)).collect();
    for name in unknown {
        let (what, message) = match action {
            Some(action) => (
                format!("parameters of `{}`, and constants", action.name),
                format!("`{}` has no parameter `{}`", action.name, name.text),
            ),
            None => (
                "fields of `pattern`, and constants".to_owned(),
                format!("nothing here is called `{}`", name.text),
            ),
        };
        let help = match reader.collector.nearest(&name.text, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => inventory(&what, known()),
        };
        reader.collector.mistake("unknown-parameter", message, &name.span, "not known", help);
    }
}

/// The names of a frame are those of the action.
fn check(
    reader: &mut IutReader<'_>,
    action: Option<&Action>,
    entry: &Entry,
    named: &[Named],
    kind: ActionKind,
) {
    if kind == ActionKind::Input {
        let Some(action) = action else { return };
        let own: Vec<&str> = action.parameters.iter().map(Datum::name).collect();
        check_known(reader, Some(action), &own, named);
        let sent: Vec<&str> = named.iter().map(|name| name.text.as_str()).collect();
        let how = |name: &str| format!("a field with `name: {name}` is its value");
        reader.check_sent(action, &sent, &entry.key.span, how);
        return;
    }
    let mut places: ParameterPlaces = Vec::new();
    for name in named {
        if places.iter().any(|(other, _): &(String, Range<usize>)| *other == name.text) {
            let message = format!("`{}` is found in two fields", name.text);
            reader.collector.error("duplicate-key", message, &name.span, "the second time");
        } else {
            places.push((name.text.clone(), name.span.clone()));
        }
    }
    let places = reader.without_captures(places);
    if let Some(action) = action {
        reader.check_parameters(action, &places, &entry.key);
    }
}

/// A name with its place.
type Named = Scalar;

/// What a field is.
enum Content<'n> {
    Fixed(&'n Scalar),
    Named(&'n Scalar),
    Any,
}

/// Reads the fields of one frame.
struct Fields<'r, 'a> {
    reader: &'r mut IutReader<'a>,
    is_sent: bool,
    named: Vec<Named>,
}

impl Fields<'_, '_> {
    fn field(&mut self, node: &Node) -> Option<Field> {
        let entries = shape::mapping(self.reader.collector, node, "a field", FIELD)?;
        if let Some(bits) = shape::get(entries, "bits") {
            shape::check_keys(self.reader.collector, entries, &["bits"], "a field of bits");
            return self.bits(bits);
        }
        let known = ["as", "is", "name", "any", "size", "length", "until", "rest"];
        shape::check_keys(self.reader.collector, entries, &known, "a field");
        let form = shape::required(self.reader.collector, node, entries, "as", "a field", FIELD)?;
        let form = shape::scalar(self.reader.collector, form, "`as`", FIELD)?;
        let content = self.content(node, entries, "a field", FIELD);
        let is_text = match form.text.as_str() {
            "text" => true,
            "bytes" => false,
            _ => {
                only_with(
                    self.reader,
                    entries,
                    &["size", "length", "until", "rest"],
                    "belongs to `bytes` and `text`",
                );
                let integer = self.reader.integer_named(form);
                return self.number(integer?, content?);
            }
        };
        self.bytes(node, entries, is_text, content?)
    }

    fn number(&mut self, integer: WireInteger, content: Content<'_>) -> Option<Field> {
        let name = match content {
            Content::Named(name) => Some(name.text.clone()),
            Content::Any => None,
            Content::Fixed(scalar) => {
                let written = literal(&scalar.text).and_then(|number| integer.written(number));
                if written.is_none() {
                    let bits = 8 * integer.width;
                    let sign = if integer.is_signed { "with" } else { "without" };
                    let message = format!("`is` must be a number of {bits} bits {sign} a sign");
                    let diagnostic = Diagnostic::error("wrong-value", message)
                        .at(self.reader.collector.origin(&scalar.span), "no such number")
                        .help("for example `is: 5` or `is: 0x1f`");
                    self.reader.collector.push(diagnostic);
                }
                return written.map(Field::Fixed);
            }
        };
        Some(Field::Integer(integer, name))
    }

    fn bytes(
        &mut self,
        node: &Node,
        entries: &[Entry],
        is_text: bool,
        content: Content<'_>,
    ) -> Option<Field> {
        const LIKE: &str = "{ as: text, name: pName, length: u8 }";
        let extents = ["size", "length", "until", "rest"];
        let is_given = entries.iter().any(|entry| extents.contains(&entry.key.text.as_str()));
        let extent = if is_given || !matches!(content, Content::Fixed(_)) {
            let way = one_of(self.reader, node, entries, &extents, "a field of bytes", LIKE)?;
            match way.key.text.as_str() {
                "size" => Extent::Size(self.reader.size(&way.value, "size", 0)?),
                "length" => Extent::Length(self.reader.integer(&way.value, "length", LIKE)?),
                "until" => Extent::Until(self.reader.end(&way.value, "until")?),
                _ => {
                    self.reader.yes(&way.value, "rest")?;
                    Extent::Rest
                }
            }
        } else {
            // Those that it is, and no other.
            Extent::Rest
        };
        let name = match content {
            Content::Named(name) => Some(name.text.clone()),
            Content::Any => None,
            Content::Fixed(scalar) => {
                let bytes =
                    if is_text { scalar.text.clone().into_bytes() } else { self.reader.hex(scalar, "is")? };
                return match extent.written(bytes) {
                    Ok(bytes) => Some(Field::Fixed(bytes)),
                    Err(why) => {
                        let message = format!("`is` is `{}`, {why}", scalar.text);
                        self.reader.collector.error("wrong-value", message, &scalar.span, "does not fit");
                        None
                    }
                };
            }
        };
        Some(Field::Bytes { extent, is_text, name })
    }

    fn bits(&mut self, node: &Node) -> Option<Field> {
        let items = shape::list(self.reader.collector, node, "`bits`", BITS)?;
        let before = self.reader.collector.errors();
        let parts: Vec<Option<Bits>> = items.iter().map(|item| self.part(item)).collect();
        if self.reader.collector.errors() > before {
            return None;
        }
        let parts: Vec<Bits> = parts.into_iter().flatten().collect();
        let all: u32 = parts.iter().map(|part| part.width).sum();
        if all == 0 || !all.is_multiple_of(8) {
            let message = format!("fields of bits are whole bytes, and these have {all} bits");
            self.reader.collector.error("wrong-value", message, &node.head(), "no whole bytes");
            return None;
        }
        Some(Field::Bits(parts))
    }

    fn part(&mut self, node: &Node) -> Option<Bits> {
        const PART: &str = "{ width: 4, name: pCode }";
        let entries = shape::mapping(self.reader.collector, node, "an item of `bits`", PART)?;
        shape::check_keys(
            self.reader.collector,
            entries,
            &["width", "is", "name", "any"],
            "an item of `bits`",
        );
        let width =
            shape::required(self.reader.collector, node, entries, "width", "an item of `bits`", PART)?;
        let bits = width.as_scalar().and_then(|scalar| number::count(&scalar.text));
        let bits = bits.and_then(|bits| u32::try_from(bits).ok()).filter(|bits| (1..=64).contains(bits));
        if bits.is_none() {
            let message = "`width` must be a number of bits from 1 to 64";
            self.reader.collector.error("wrong-value", message, &width.head(), "no such number");
        }
        let content = self.content(node, entries, "an item of `bits`", PART)?;
        let width = bits?;
        let content = match content {
            Content::Named(name) => BitContent::Named(name.text.clone()),
            Content::Any => BitContent::Any,
            Content::Fixed(scalar) => {
                let number = literal(&scalar.text).and_then(|number| u64::try_from(number).ok());
                let number = number.filter(|number| fits(*number, width));
                if number.is_none() {
                    let message = format!("`is` must be a number of {width} bits");
                    self.reader.collector.error("wrong-value", message, &scalar.span, "no such number");
                }
                BitContent::Fixed(number?)
            }
        };
        Some(Bits { width, content })
    }

    /// What stands there: `is`, `name` or `any`.
    fn content<'n>(
        &mut self,
        node: &Node,
        entries: &'n [Entry],
        of: &str,
        like: &str,
    ) -> Option<Content<'n>> {
        let way = one_of(self.reader, node, entries, &["is", "name", "any"], of, like)?;
        match way.key.text.as_str() {
            "is" => shape::scalar(self.reader.collector, &way.value, "`is`", like).map(Content::Fixed),
            "any" => {
                self.reader.yes(&way.value, "any")?;
                if self.is_sent {
                    let message = "what is sent is known: `any` stands in observations";
                    self.reader.collector.error("wrong-value", message, &way.key.span, "not in a stimulus");
                    return None;
                }
                Some(Content::Any)
            }
            _ => {
                let name = shape::scalar(self.reader.collector, &way.value, "`name`", like)?;
                if !shape::is_name(self.reader.collector, name, "parameter") {
                    return None;
                }
                self.named.push(name.clone());
                Some(Content::Named(name))
            }
        }
    }
}

impl IutReader<'_> {
    /// A number of bytes.
    fn size(&mut self, node: &Node, key: &str, least: u64) -> Option<usize> {
        let most = LONGEST as u64;
        let number = node.as_scalar().and_then(|scalar| number::count(&scalar.text));
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            let message = format!("`{key}` must be a number of bytes from {least} to {most}");
            self.collector.error("wrong-value", message, &node.head(), "no such number");
        }
        usize::try_from(number?).ok()
    }

    /// How a number is written.
    fn integer(&mut self, node: &Node, key: &str, like: &str) -> Option<WireInteger> {
        let scalar = shape::scalar(self.collector, node, &format!("`{key}`"), like)?;
        self.integer_named(scalar)
    }

    fn integer_named(&mut self, scalar: &Scalar) -> Option<WireInteger> {
        let integer = WireInteger::named(&scalar.text);
        if integer.is_none() {
            let diagnostic = Diagnostic::error("wrong-value", format!("`{}` is no way to write bytes", scalar.text))
                .at(self.collector.origin(&scalar.span), "not known")
                .help(
                    "numbers are `u8`, `u16` up to `u64`, with a sign `i8` up to `i64`, and `u16le` with the least \
                     significant byte first; a field may be `bytes` or `text`, too",
                );
            self.collector.push(diagnostic);
        }
        integer
    }

    /// Bytes in hexadecimal digits.
    pub fn hex(&mut self, scalar: &Scalar, key: &str) -> Option<Vec<u8>> {
        let bytes = unhex(&scalar.text);
        if bytes.is_none() {
            let diagnostic =
                Diagnostic::error("wrong-value", format!("`{key}` must be pairs of hexadecimal digits"))
                    .at(self.collector.origin(&scalar.span), "no such digits")
                    .help("in quotes, for example `\"c0 0c\"`");
            self.collector.push(diagnostic);
        }
        bytes
    }

    /// What ends something.
    fn end(&mut self, node: &Node, key: &str) -> Option<Vec<u8>> {
        let scalar = shape::scalar(self.collector, node, &format!("`{key}`"), &format!("{key}: \"00\""))?;
        let bytes = self.hex(scalar, key)?;
        if !(1..=LONGEST_END).contains(&bytes.len()) {
            let message = format!("`{key}` must be one to {LONGEST_END} bytes");
            self.collector.error("wrong-value", message, &scalar.span, "not so many");
            return None;
        }
        Some(bytes)
    }

    /// A key that can only say yes.
    fn yes(&mut self, node: &Node, key: &str) -> Option<()> {
        if node.as_scalar().is_some_and(|scalar| scalar.text == "true") {
            return Some(());
        }
        let message = format!("`{key}` is `true`, or not there");
        self.collector.error("wrong-value", message, &node.head(), "not `true`");
        None
    }
}

/// The one of these keys that is there.
fn one_of<'e>(
    reader: &mut IutReader<'_>,
    node: &Node,
    entries: &'e [Entry],
    keys: &[&str],
    of: &str,
    like: &str,
) -> Option<&'e Entry> {
    let found: Vec<&Entry> = shape::first_entries(entries)
        .into_iter()
        .filter(|entry| keys.contains(&entry.key.text.as_str()))
        .collect();
    match found.as_slice() {
        [one] => Some(one),
        [] => {
            let names: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            let diagnostic =
                Diagnostic::error("missing-key", format!("{of} has one of {}", names.join(", ")))
                    .at(reader.collector.origin(&node.head()), "none of them")
                    .help(format!("for example `{like}`"));
            reader.collector.push(diagnostic);
            None
        }
        [first, second, ..] => {
            let message = format!("{of} has `{}` or `{}`", first.key.text, second.key.text);
            let diagnostic = Diagnostic::error("two-keys", message)
                .at(reader.collector.origin(&second.key.span), "the second one")
                .at(reader.collector.origin(&first.key.span), "the first one");
            reader.collector.push(diagnostic);
            None
        }
    }
}

/// Reports keys that have no meaning here.
fn only_with(reader: &mut IutReader<'_>, entries: &[Entry], keys: &[&str], label: &str) {
    if let Some(entry) = entries.iter().find(|entry| keys.contains(&entry.key.text.as_str())) {
        let message = format!("`{}` means nothing here", entry.key.text);
        reader.collector.error("two-keys", message, &entry.key.span, label);
    }
}

/// A whole number, in decimal digits or, after `0x`, in hexadecimal ones.
fn literal(text: &str) -> Option<i128> {
    let (text, is_negative) = text.strip_prefix('-').map_or((text, false), |text| (text, true));
    let number = match text.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            i128::from_str_radix(digits, 16).ok()?
        }
        Some(_) => return None,
        None => i128::from(number::count(text)?),
    };
    Some(if is_negative { -number } else { number })
}
