//! Reads the fields of one frame, as `encoding: binary` lists them: their forms, their contents, and which of
//! them count or check others.
//!
//! A name or label belongs to the list that it is in: the list of the frame, of a group, or of a list's
//! elements. A number that counts a field comes before it, so that a frame can be read from its front.

use std::ops::Range;
use std::sync::Arc;

use coreach_adapters::description::{BitField, ByteForm, Checksum, Counting, Extent, Field, FieldNumber};
use coreach_adapters::fields::{fits, least_size};
use coreach_adapters::integer::WireInteger;
use coreach_model::number;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, NodeKind, Scalar, Yaml};

use super::bytes::{find_one_of, literal, refuse_keys};
use super::words::IutReader;

const FIELD: &str = "{ as: u16, name: pId }";
const BITS: &str = "{ bits: [ { width: 7, is: 0 }, { width: 1, name: pFlag } ] }";
const BYTES: &str = "{ as: text, name: pName, length: u8 }";
const LIST: &str = "{ as: list, name: pIds, count: u8, of: [ { as: u16, name: element } ] }";
const GROUP: &str = "{ as: group, length: u16, of: [ { as: u16, name: pId } ] }";

const CONTENT: [&str; 3] = ["is", "name", "any"];

/// The keys for the number of bytes of a field.
const EXTENT: [&str; 4] = ["size", "length", "until", "rest"];

/// A name with its place.
pub struct NamedField {
    pub name: Scalar,
    /// Is its content a text, and not a number or bytes in hexadecimal digits?
    pub is_text: bool,
    /// The names in the elements of a list.
    pub parts: Option<Vec<NamedField>>,
}

/// Reads the fields of a frame (`what`). Also returns the names in it. `like` is an example for messages.
pub fn read_fields(
    reader: &mut IutReader<'_>,
    node: &Yaml,
    what: &str,
    like: &str,
    is_sent: bool,
) -> Option<(Vec<Field>, Vec<NamedField>)> {
    let mut fields = FieldReader { reader, is_sent, named: Vec::new() };
    let read = fields.read_list_of(node, what, like)?;
    Some((read, fields.named))
}

struct FieldReader<'r, 'a> {
    reader: &'r mut IutReader<'a>,
    /// Is the frame sent, and not received?
    is_sent: bool,
    /// The names that were read so far, in the list that is being read.
    named: Vec<NamedField>,
}

/// The names of a list's fields, and the numbers that count other fields.
#[derive(Default)]
struct FieldScope {
    names: Vec<Option<Scalar>>,
    counters: Vec<Counter>,
}

/// A number that counts another field. Both fields are given by their positions in the list.
struct Counter {
    counter: usize,
    counted: usize,
    /// Are elements counted, and not bytes?
    is_elements: bool,
    /// The key in the text.
    place: Range<usize>,
}

impl FieldScope {
    /// Finds the names and counters of a list before its fields are read.
    fn of(items: &[Arc<Yaml>]) -> Self {
        fn mapping(node: &Yaml) -> &[Entry] {
            if let NodeKind::Mapping(entries) = &node.kind { entries } else { &[] }
        }
        let name = |item: &Arc<Yaml>| {
            let node = ["label", "name"].into_iter().find_map(|key| shape::get(mapping(item), key));
            node.and_then(Yaml::as_scalar).cloned()
        };
        let mut scope = FieldScope { names: items.iter().map(name).collect(), counters: Vec::new() };
        for (counter, item) in items.iter().enumerate() {
            let bits = shape::get(mapping(item), "bits");
            let parts = match bits.map(|bits| &bits.kind) {
                Some(NodeKind::Sequence(parts)) => parts.as_slice(),
                _ => &[],
            };
            // A counter is a field, or a part of a field of bits.
            for entry in std::iter::once(item).chain(parts).flat_map(|node| mapping(node)) {
                let counted = entry.value.as_scalar().and_then(|name| scope.place(&name.text));
                if let (Some(counted), "size_of" | "count_of") = (counted, entry.key.text.as_str()) {
                    let (is_elements, place) = (entry.key.text == "count_of", entry.key.span.clone());
                    scope.counters.push(Counter { counter, counted, is_elements, place });
                }
            }
        }
        scope
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known.as_ref().is_some_and(|known| known.text == name))
    }
}

impl FieldReader<'_, '_> {
    /// Reads the fields of a frame, of a group, or of a list's elements.
    fn read_list_of(&mut self, node: &Yaml, what: &str, like: &str) -> Option<Vec<Field>> {
        // A frame without fields is written as an empty list. Nothing at all is a mistake.
        if node.is_nothing() {
            shape::wrong_kind(self.reader.collector, node, what, "a list of fields", like);
            return None;
        }
        let items = shape::list(self.reader.collector, node, what, like)?;
        let errors_before = self.reader.collector.errors();
        let scope = FieldScope::of(items);
        let fields: Vec<Option<Field>> = items
            .iter()
            .enumerate()
            .map(|(position, item)| self.read_field(item, position, &scope))
            .collect();
        let last_field = fields.iter().position(reaches_end);
        if let Some(behind) = last_field.and_then(|last_field| items.get(last_field + 1)) {
            let message = "nothing can follow the rest of a frame";
            self.reader.collector.error("wrong-order", message, &behind.head(), "after `rest`");
        }
        self.check_scope(items, &scope, &fields);
        (self.reader.collector.errors() == errors_before).then(|| fields.into_iter().flatten().collect())
    }

    /// Checks that at most one number counts each field, that it comes before the field, and that it counts
    /// in the right units. Checks that no checksum covers a later checksum.
    fn check_scope(&mut self, items: &[Arc<Yaml>], scope: &FieldScope, read: &[Option<Field>]) {
        for (number, Counter { counter, counted, is_elements, place }) in scope.counters.iter().enumerate() {
            let (message, label) = if counted <= counter {
                (
                    "a number must come before the field that it counts, so that coreach can read frames from their front",
                    "after the field",
                )
            } else if scope.counters[..number].iter().any(|earlier| earlier.counted == *counted) {
                ("only one number can count a field", "the second one")
            } else {
                match &read[*counted] {
                    // It counts in the right units, or the field has an error of its own.
                    Some(Field::List { extent: Extent::Counted, .. }) | None => continue,
                    Some(Field::Bytes { extent: Extent::Counted, .. } | Field::Group(Extent::Counted, _))
                        if !is_elements =>
                    {
                        continue;
                    }
                    Some(_) if *is_elements => {
                        ("`count_of` needs a list without its own length", "not such a list")
                    }
                    Some(_) => (
                        "`size_of` needs bytes, a text, a list or a group without its own length",
                        "not such a field",
                    ),
                }
            };
            self.reader.collector.error("wrong-order", message.to_owned(), place, label);
        }
        for (position, field) in read.iter().enumerate() {
            let Some(Field::Checksum(_, _, over)) = field else { continue };
            let is_later_checksum =
                |covered: usize| covered > position && matches!(read[covered], Some(Field::Checksum(..)));
            if over.clone().any(is_later_checksum) {
                let message = "this checksum covers a later checksum, so coreach cannot know which one to compute first";
                let (head, label) = (items[position].head(), "write `over`, or change their order");
                self.reader.collector.error("wrong-order", message, &head, label);
            }
        }
    }

    /// Reads one field: bits, a list, a group, bytes, or a number.
    fn read_field(&mut self, node: &Yaml, position: usize, scope: &FieldScope) -> Option<Field> {
        let entries = shape::mapping(self.reader.collector, node, "a field", FIELD)?;
        if let Some(label) = shape::get(entries, "label") {
            let label = shape::scalar(self.reader.collector, label, "`label`", "label: body")?;
            if scope.names.iter().flatten().filter(|name| name.text == label.text).count() > 1 {
                let message = format!("two fields are called `{}`", label.text);
                self.reader.collector.error("duplicate-key", message, &label.span, "one of them");
            }
        }
        if let Some(bits) = shape::get(entries, "bits") {
            shape::check_keys(self.reader.collector, entries, &["bits", "label"], "a field of bits");
            return self.read_bits(bits, scope);
        }
        let own_keys = ["as", "label", "of", "count", "size_of", "count_of", "plus", "checksum", "over"];
        let known: Vec<&str> = own_keys.into_iter().chain(CONTENT).chain(EXTENT).collect();
        shape::check_keys(self.reader.collector, entries, &known, "a field");
        let form = shape::required(self.reader.collector, node, entries, "as", "a field", FIELD)?;
        let form = shape::scalar(self.reader.collector, form, "`as`", FIELD)?;
        if form.text != "list" && form.text != "group" {
            refuse_keys(self.reader, entries, &["of"], "belongs to `list` and `group`");
        }
        if form.text != "list" {
            refuse_keys(self.reader, entries, &["count"], "belongs to `list`");
        }
        let of_numbers = ["size_of", "count_of", "plus", "checksum", "over"];
        match (form.text.as_str(), ByteForm::named(&form.text)) {
            ("list", _) => {
                refuse_keys(self.reader, entries, &of_numbers, "belongs to numbers");
                self.read_list(node, entries, position, scope)
            }
            ("group", _) => {
                refuse_keys(self.reader, entries, &of_numbers, "belongs to numbers");
                refuse_keys(self.reader, entries, &CONTENT, "belongs to one field, and not to several");
                let extent = self.read_extent(node, entries, position, scope, &EXTENT, ("a group", GROUP));
                let fields = shape::required(self.reader.collector, node, entries, "of", "a group", GROUP)?;
                let fields = self.read_list_of(fields, "`of`", GROUP)?;
                Some(Field::Group(extent?, fields))
            }
            (_, Some(form)) => {
                refuse_keys(self.reader, entries, &of_numbers, "belongs to numbers");
                self.read_bytes(node, entries, form, position, scope)
            }
            (_, None) => {
                refuse_keys(self.reader, entries, &EXTENT, "belongs to `bytes` and `text`");
                let integer = self.reader.parse_form(form);
                self.read_number(node, entries, integer?, scope)
            }
        }
    }

    /// Reads a number: fixed, named, any, counting another field, or a checksum.
    fn read_number(
        &mut self,
        node: &Yaml,
        entries: &[Entry],
        integer: WireInteger,
        scope: &FieldScope,
    ) -> Option<Field> {
        let known = ["is", "name", "any", "size_of", "count_of", "checksum"];
        let content_entry = find_one_of(self.reader, node, entries, &known, "a field", FIELD)?;
        if content_entry.key.text == "checksum" {
            return self.read_checksum(content_entry, entries, integer, scope);
        }
        refuse_keys(self.reader, entries, &["over"], "belongs to `checksum`");
        if content_entry.key.text != "is" {
            return Some(Field::Integer(integer, self.read_content(content_entry, entries, FIELD, scope)?));
        }
        let scalar = shape::scalar(self.reader.collector, &content_entry.value, "`is`", FIELD)?;
        let number_bytes = literal(&scalar.text).and_then(|number| integer.written(number));
        if number_bytes.is_none() {
            // A width of 0 stands for a number of any length, of which 7 bytes are taken.
            let bits = 8 * if integer.width == 0 { 7 } else { integer.width };
            let sign = if integer.is_signed { "with" } else { "without" };
            let message = format!("`is` must be a number of {bits} bits {sign} a sign");
            let help = "for example `is: 5` or `is: 0x1f`";
            self.reader.collector.mistake("wrong-value", message, &scalar.span, "not such a number", help);
        }
        number_bytes.map(Field::Fixed)
    }

    /// Reads a checksum, and the range of the fields that it covers.
    fn read_checksum(
        &mut self,
        content_entry: &Entry,
        entries: &[Entry],
        integer: WireInteger,
        scope: &FieldScope,
    ) -> Option<Field> {
        const OVER: &str = "{ as: u32, checksum: crc32, over: [pKind, pBody] }";
        refuse_keys(self.reader, entries, &["plus"], "belongs to `size_of` and `count_of`");
        let table = Checksum::ALL.map(|kind| (kind.name(), kind));
        let kind = self.reader.read_choice(entries, "checksum", &table)?;
        if integer.width != kind.width() || integer.is_signed {
            let bits = 8 * kind.width();
            let message = format!("`{}` is a number of {bits} bits without a sign", kind.name());
            let label = format!("`as` is `u{bits}` or `u{bits}le`");
            self.reader.collector.error("wrong-value", message, &content_entry.value.head(), label);
            return None;
        }
        let mut position_of = |node: &Yaml| {
            let name = shape::scalar(self.reader.collector, node, "`over`", OVER)?;
            self.find_place(name, scope)
        };
        let over = match shape::get(entries, "over") {
            None => 0..scope.names.len(),
            Some(Yaml { kind: NodeKind::Sequence(ends), .. }) if ends.len() == 2 => {
                let (first, last) = (position_of(&ends[0]), position_of(&ends[1]));
                let (first, last) = (first?, last?);
                if first > last {
                    let message = "the first field of `over` comes after the last one";
                    self.reader.collector.error("wrong-order", message, &ends[1].head(), "before the other");
                    return None;
                }
                first..last + 1
            }
            Some(node) => position_of(node).map(|position| position..position + 1)?,
        };
        Some(Field::Checksum(kind, integer, over))
    }

    /// Finds the field of this name, or reports that there is none.
    fn find_place(&mut self, name: &Scalar, scope: &FieldScope) -> Option<usize> {
        let position = scope.place(&name.text);
        if position.is_none() {
            let known = || scope.names.iter().flatten().map(|name| name.text.as_str());
            let help = self.reader.collector.suggest(&name.text, "fields here", known);
            let message = format!("no field of this list is called `{}`", name.text);
            self.reader.collector.mistake("unknown-field", message, &name.span, "not known", help);
        }
        position
    }

    /// Reads a field of bytes or text: fixed, named, or any.
    fn read_bytes(
        &mut self,
        node: &Yaml,
        entries: &[Entry],
        form: ByteForm,
        position: usize,
        scope: &FieldScope,
    ) -> Option<Field> {
        let content_entry = find_one_of(self.reader, node, entries, &CONTENT, "a field", FIELD)?;
        let scalar = match content_entry.key.text.as_str() {
            "is" => Some(shape::scalar(self.reader.collector, &content_entry.value, "`is`", FIELD)?),
            _ => None,
        };
        let has_extent = entries.iter().any(|entry| EXTENT.contains(&entry.key.text.as_str()));
        let name = if scalar.is_some() { None } else { self.read_name(content_entry, FIELD)? };
        if let (Some(_), Some(named)) = (&name, self.named.last_mut()) {
            named.is_text = form != ByteForm::Bytes;
        }
        let extent = if has_extent || scalar.is_none() {
            self.read_extent(node, entries, position, scope, &EXTENT, ("a field of bytes", BYTES))?
        } else {
            // Fixed bytes without an extent fill the whole field.
            Extent::Rest
        };
        let Some(scalar) = scalar else { return Some(Field::Bytes { extent, form, name }) };
        let bytes = match form {
            ByteForm::Text => scalar.text.clone().into_bytes(),
            ByteForm::Bytes => self.reader.parse_hex(scalar, "is")?,
            ByteForm::Latin1 => {
                let bytes = coreach_adapters::encoding::to_latin1(&scalar.text);
                if bytes.is_none() {
                    let message = "`is` has a character above U+00FF";
                    self.reader.collector.error("wrong-value", message, &scalar.span, "not a byte");
                }
                bytes?
            }
        };
        match extent.written(bytes) {
            Ok(bytes) => Some(Field::Fixed(bytes)),
            Err(why) => {
                let message = format!("`is` is `{}`, {why}", scalar.text);
                self.reader.collector.error("wrong-value", message, &scalar.span, "does not fit");
                None
            }
        }
    }

    /// Reads the extent of a field or list. If another field counts this one, it needs no extent.
    fn read_extent(
        &mut self,
        node: &Yaml,
        entries: &[Entry],
        position: usize,
        scope: &FieldScope,
        known: &[&str],
        (section, like): (&str, &str),
    ) -> Option<Extent> {
        let is_given = entries.iter().any(|entry| known.contains(&entry.key.text.as_str()));
        if !is_given && scope.counters.iter().any(|counter| counter.counted == position) {
            return Some(Extent::Counted);
        }
        let extent_entry = find_one_of(self.reader, node, entries, known, section, like)?;
        Some(match extent_entry.key.text.as_str() {
            "size" => Extent::Size(self.reader.read_size(&extent_entry.value, "size", 0)?),
            "length" => Extent::Length(self.reader.read_integer(&extent_entry.value, "length", like)?),
            "count" => Extent::Count(self.reader.read_integer(&extent_entry.value, "count", like)?),
            "until" => Extent::Until(self.reader.read_delimiter(&extent_entry.value, "until")?),
            _ => {
                self.reader.require_true(&extent_entry.value, "rest")?;
                Extent::Rest
            }
        })
    }

    /// Reads a list, and the fields of its elements. Each element must have at least one byte.
    fn read_list(
        &mut self,
        node: &Yaml,
        entries: &[Entry],
        position: usize,
        scope: &FieldScope,
    ) -> Option<Field> {
        refuse_keys(self.reader, entries, &["is"], "a list is `name` or `any`");
        let content_entry = find_one_of(self.reader, node, entries, &["name", "any"], "a list", LIST)?;
        let name = self.read_name(content_entry, LIST)?;
        let known = ["count", "size", "length", "until", "rest"];
        let extent = self.read_extent(node, entries, position, scope, &known, ("a list", LIST));
        let element_fields = shape::required(self.reader.collector, node, entries, "of", "a list", LIST)?;
        // The names in its elements are not those of the frame.
        let outer = std::mem::take(&mut self.named);
        let fields = self.read_list_of(element_fields, "`of`", LIST);
        let parts = std::mem::replace(&mut self.named, outer);
        let fields = fields?;
        if least_size(&fields) == 0 || fields.last().is_some_and(|last| reaches_end(&Some(last.clone()))) {
            let message = "an element of a list must have at least one byte and a clear end";
            let label = "may be empty, or without an end";
            self.reader.collector.error("wrong-value", message, &element_fields.head(), label);
        }
        match (&name, self.named.last_mut()) {
            (Some(_), Some(named)) => named.parts = Some(parts),
            _ => {
                if let Some(NamedField { name, .. }) = parts.first() {
                    let message =
                        format!("`{}` belongs to a list with `any`, so coreach does not read it", name.text);
                    self.reader.collector.error("wrong-value", message, &name.span, "write `any: true`");
                }
            }
        }
        Some(Field::List { extent: extent?, of: fields, name })
    }

    fn read_bits(&mut self, node: &Yaml, scope: &FieldScope) -> Option<Field> {
        let items = shape::list(self.reader.collector, node, "`bits`", BITS)?;
        let errors_before = self.reader.collector.errors();
        let parts: Vec<Option<BitField>> = items.iter().map(|item| self.read_part(item, scope)).collect();
        if self.reader.collector.errors() > errors_before {
            return None;
        }
        let parts: Vec<BitField> = parts.into_iter().flatten().collect();
        let bits: u32 = parts.iter().map(|part| part.width).sum();
        if bits == 0 || !bits.is_multiple_of(8) {
            let message = format!("fields of bits must fill whole bytes, and these have {bits} bits");
            self.reader.collector.error("wrong-value", message, &node.head(), "not whole bytes");
            return None;
        }
        Some(Field::Bits(parts))
    }

    /// Reads one part of a field of bits.
    fn read_part(&mut self, node: &Yaml, scope: &FieldScope) -> Option<BitField> {
        const PART: &str = "{ width: 4, name: pCode }";
        const OF: &str = "an item of `bits`";
        let entries = shape::mapping(self.reader.collector, node, OF, PART)?;
        let known = ["width", "is", "name", "any", "size_of", "count_of", "plus"];
        shape::check_keys(self.reader.collector, entries, &known, OF);
        let width = shape::required(self.reader.collector, node, entries, "width", OF, PART)?;
        let bits = width.as_scalar().and_then(|scalar| number::count(&scalar.text));
        let bits = bits.and_then(|bits| u32::try_from(bits).ok()).filter(|bits| (1..=64).contains(bits));
        if bits.is_none() {
            let message = "`width` must be a number of bits from 1 to 64";
            self.reader.collector.error("wrong-value", message, &width.head(), "not such a number");
        }
        let kinds = ["is", "name", "any", "size_of", "count_of"];
        let content_entry = find_one_of(self.reader, node, entries, &kinds, OF, PART)?;
        if content_entry.key.text != "is" {
            let content = self.read_content(content_entry, entries, PART, scope)?;
            return Some(BitField { content, width: bits? });
        }
        let scalar = shape::scalar(self.reader.collector, &content_entry.value, "`is`", PART)?;
        let width = bits?;
        let number = literal(&scalar.text).and_then(|number| u64::try_from(number).ok());
        let number = number.filter(|number| fits(*number, width));
        if number.is_none() {
            let message = format!("`is` must be a number of {width} bits");
            self.reader.collector.error("wrong-value", message, &scalar.span, "not such a number");
        }
        Some(BitField { width, content: FieldNumber::Fixed(number?) })
    }

    /// Reads the content of a number that is not fixed: `name`, `any`, `size_of` or `count_of`.
    fn read_content(
        &mut self,
        content_entry: &Entry,
        entries: &[Entry],
        like: &str,
        scope: &FieldScope,
    ) -> Option<FieldNumber> {
        if let key @ ("size_of" | "count_of") = content_entry.key.text.as_str() {
            let name = shape::scalar(self.reader.collector, &content_entry.value, &format!("`{key}`"), like)?;
            let of = self.find_place(name, scope)?;
            let plus = match shape::get(entries, "plus") {
                None => Some(0),
                Some(node) => {
                    let number = node.as_scalar().and_then(|plus| literal(&plus.text));
                    let number = number.and_then(|plus| i64::try_from(plus).ok());
                    if number.is_none() {
                        let message = "`plus` must be a whole number, which coreach adds to the count";
                        self.reader.collector.error("wrong-value", message, &node.head(), "not a number");
                    }
                    number
                }
            };
            return Some(FieldNumber::Counting(Counting { of, is_elements: key == "count_of", plus: plus? }));
        }
        refuse_keys(self.reader, entries, &["plus"], "belongs to `size_of` and `count_of`");
        Some(self.read_name(content_entry, like)?.map_or(FieldNumber::Any, FieldNumber::Named))
    }

    /// Reads `name` or `any`. The outer `None` is a mistake. The inner `None` is `any`.
    fn read_name(&mut self, entry: &Entry, like: &str) -> Option<Option<String>> {
        if entry.key.text == "any" {
            self.reader.require_true(&entry.value, "any")?;
            if self.is_sent {
                let message = "only observations can have `any`: coreach must know what it sends";
                self.reader.collector.error("wrong-value", message, &entry.key.span, "not in a stimulus");
                return None;
            }
            return Some(None);
        }
        let name = shape::scalar(self.reader.collector, &entry.value, "`name`", like)?;
        if !shape::is_name(self.reader.collector, name, "parameter") {
            return None;
        }
        self.named.push(NamedField { name: name.clone(), is_text: false, parts: None });
        Some(Some(name.text.clone()))
    }
}

/// Does the field take all bytes up to the end of the frame?
fn reaches_end(field: &Option<Field>) -> bool {
    let extent = match field {
        Some(Field::Bytes { extent, .. } | Field::List { extent, .. } | Field::Group(extent, _)) => extent,
        _ => return false,
    };
    *extent == Extent::Rest
}
