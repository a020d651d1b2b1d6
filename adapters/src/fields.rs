//! The fields of a frame: from values to bytes, and back.
//!
//! ```text
//! fields   = field*                        nothing before, between or after them
//! field    = fixed bytes | number | bytes | bits | checksum | list | group
//! bytes    = so many | number, so many    | all before an end, which follows | the rest
//!          | as many as a number before says
//! bits     = numbers of some bits each, the most significant bit first
//! list     = as many elements as a number right before them says, or an earlier one
//!          | as many as fill so many bytes
//! group    = fields in so many bytes
//! ```
//!
//! Some numbers count other fields of the same list. They and the checksums are computed when a frame is
//! sent, and must be right when one is read. A number comes before the field that it counts. So a frame is
//! written from its last field to its first one, and read from the first to the last. Checksums are computed
//! at the end, in their order, each with zeros in its own place.
//!
//! **Hostile frames.** A number that counts is believed only as far as there are bytes. Each element of a
//! list has at least one byte, so a false count reserves no memory. A list has at most [`MOST`] elements.
//! **Costs** a pass over the bytes, and one more for each checksum.

use coreach_model::excerpt::shortened;
use coreach_model::json::{self, Tree};

use crate::cut::MOST;
use crate::description::{ByteForm, Counting, Extent, Field, FieldNumber, Spelling};
use crate::encoding::{from_latin1, hex, to_latin1, unhex};

/// The name of the only part of an element that is no record. A record may have a field of this name too.
pub const ELEMENT: &str = "element";

/// The content of a frame for one value.
#[derive(Clone, PartialEq, Debug)]
pub enum Content {
    Text(String),
    /// A list of texts, or of objects of texts.
    List(Tree),
}

pub type FoundValues<'f> = Vec<(&'f str, Content)>;

/// Why bytes are not these fields.
#[derive(PartialEq, Eq, Debug)]
pub enum FrameMisfit {
    /// The field after so many fields does not fit.
    After(usize),
    /// A number that counts, or a checksum, is wrong. The text says which.
    Wrong(String),
}

/// A field does not fit. [`read_fields`] puts in the number of fields before it.
const NO_FIT: FrameMisfit = FrameMisfit::After(0);

/// Gives the text for a name in a frame that is sent, or says why there is none.
type Lookup<'v> = &'v dyn Fn(&str) -> Result<String, String>;

/// What a field is in bytes, and how many elements it has.
#[derive(Clone, Default)]
struct Encoded {
    bytes: Vec<u8>,
    elements: usize,
}

/// Writes these fields as bytes.
pub fn write_fields(fields: &[Field], spelling: &Spelling, value: Lookup<'_>) -> Result<Vec<u8>, String> {
    let mut pieces = vec![Encoded::default(); fields.len()];
    for (position, field) in fields.iter().enumerate().rev() {
        pieces[position] = field.write(&pieces, spelling, value)?;
    }
    let (mut frame, mut starts) = (Vec::new(), vec![0]);
    for piece in &pieces {
        frame.extend_from_slice(&piece.bytes);
        starts.push(frame.len());
    }
    for (position, field) in fields.iter().enumerate() {
        let Field::Checksum(kind, integer, over) = field else { continue };
        let sum = kind.of(&frame[starts[over.start]..starts[over.end]]);
        let sum = integer.written(sum.into()).unwrap_or_default();
        frame.splice(starts[position]..starts[position + 1], sum);
    }
    Ok(frame)
}

/// Reads these fields at the front of the bytes, adds their values to `found`, and returns the rest.
pub fn read_fields<'b, 'f>(
    fields: &'f [Field],
    bytes: &'b [u8],
    spelling: &Spelling,
    found: &mut FoundValues<'f>,
) -> Result<&'b [u8], FrameMisfit> {
    let (mut unread, mut starts, mut counted) = (bytes, vec![0], vec![None; fields.len()]);
    for (position, field) in fields.iter().enumerate() {
        unread = match field.read(unread, position, &mut counted, spelling, found) {
            // A misfit within the field is one after all fields before it.
            Err(FrameMisfit::After(_)) => return Err(FrameMisfit::After(position)),
            read => read?,
        };
        starts.push(bytes.len() - unread.len());
    }
    for (position, field) in fields.iter().enumerate() {
        let Field::Checksum(kind, integer, over) = field else { continue };
        let (begin, own_place) = (starts[over.start], starts[position]..starts[position + 1]);
        let mut covered = bytes[begin..starts[over.end]].to_vec();
        // A checksum is computed with zeros in its own place.
        if over.contains(&position) {
            covered[own_place.start - begin..own_place.end - begin].fill(0);
        }
        let own_bytes = &bytes[own_place];
        if !integer.read(own_bytes).is_some_and(|sum| kind.is_of(sum, &covered)) {
            let right = integer.written(kind.of(&covered).into()).unwrap_or_default();
            let (name, own, right) = (kind.name(), hex(own_bytes), hex(&right));
            return Err(FrameMisfit::Wrong(format!(
                "its checksum `{name}` is `{own}`, but `{right}` is right"
            )));
        }
    }
    Ok(unread)
}

/// Returns the least number of bytes that these fields have.
pub fn least_size(fields: &[Field]) -> usize {
    let least_of_extent = |extent: &Extent| match extent {
        Extent::Size(size) => *size,
        Extent::Length(integer) | Extent::Count(integer) => integer.least(),
        Extent::Until(end) => end.len(),
        Extent::Rest | Extent::Counted => 0,
    };
    let least_of_field = |field: &Field| match field {
        Field::Fixed(bytes) => bytes.len(),
        Field::Integer(integer, _) | Field::Checksum(_, integer, _) => integer.least(),
        Field::Bytes { extent, .. } | Field::List { extent, .. } | Field::Group(extent, _) => {
            least_of_extent(extent)
        }
        Field::Bits(parts) => parts.iter().map(|part| part.width as usize).sum::<usize>() / 8,
    };
    fields.iter().map(least_of_field).sum()
}

impl Field {
    /// Returns the name of the parameter whose value it is, if it has one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Field::Integer(_, FieldNumber::Named(name)) => Some(name),
            Field::Bytes { name, .. } | Field::List { name, .. } => name.as_deref(),
            _ => None,
        }
    }

    /// Writes the field. `pieces` has the bytes of the fields after it.
    fn write(&self, pieces: &[Encoded], spelling: &Spelling, value: Lookup<'_>) -> Result<Encoded, String> {
        let bytes = match self {
            Field::Fixed(bytes) => bytes.clone(),
            Field::Integer(integer, number) => {
                // A width of 0 stands for a number of any length, of which 7 bytes are taken.
                let bits = 8 * if integer.width == 0 { 7 } else { integer.width };
                number.write(pieces, value, bits, |number| integer.written(number))?
            }
            Field::Bytes { extent, form, name } => {
                let name = require_name(name.as_deref())?;
                let text = value(name)?;
                let misfit = |why: &str| format!("`{name}` is `{}`, {why}", shortened(&text));
                let bytes = match form {
                    ByteForm::Text => text.clone().into_bytes(),
                    ByteForm::Bytes => unhex(&text)
                        .ok_or_else(|| misfit("which is not made of pairs of hexadecimal digits"))?,
                    ByteForm::Latin1 => {
                        to_latin1(&text).ok_or_else(|| misfit("which has a character above U+00FF"))?
                    }
                };
                extent.written(bytes).map_err(|why| misfit(&why))?
            }
            Field::Bits(parts) => {
                let mut bits = Vec::new();
                for part in parts {
                    let fitting =
                        |number| u64::try_from(number).ok().filter(|number| fits(*number, part.width));
                    let number = part.content.write(pieces, value, part.width as usize, fitting)?;
                    bits.extend((0..part.width).rev().map(|bit| number >> bit & 1 == 1));
                }
                let byte = |bits: &[bool]| bits.iter().fold(0, |sum, bit| sum << 1 | u8::from(*bit));
                bits.chunks(8).map(byte).collect()
            }
            Field::Checksum(_, integer, _) => vec![0; integer.width],
            Field::List { extent, of: element, name } => {
                return write_list(extent, element, require_name(name.as_deref())?, spelling, value);
            }
            Field::Group(extent, fields) => {
                let bytes = write_fields(fields, spelling, value)?;
                extent.written(bytes).map_err(|why| format!("it has a group of bytes, {why}"))?
            }
        };
        Ok(Encoded { bytes, elements: 0 })
    }

    /// Reads the field at the front of the bytes, and returns the rest. `counted` is what earlier fields say
    /// of the size of later ones, by their positions. This one is at `position`.
    fn read<'b, 'f>(
        &'f self,
        bytes: &'b [u8],
        position: usize,
        counted: &mut [Option<CountedLength>],
        spelling: &Spelling,
        found: &mut FoundValues<'f>,
    ) -> Result<&'b [u8], FrameMisfit> {
        match self {
            Field::Fixed(fixed) => bytes.strip_prefix(fixed.as_slice()).ok_or(NO_FIT),
            Field::Integer(integer, number) => {
                let (number_read, rest) = integer.take(bytes).ok_or(NO_FIT)?;
                number.note_read(number_read, counted, found)?;
                Ok(rest)
            }
            Field::Bytes { extent, form, name } => {
                let (own_bytes, rest) = extent.split(bytes, counted[position])?;
                let text = match form {
                    ByteForm::Text => std::str::from_utf8(own_bytes).ok().ok_or(NO_FIT)?.to_owned(),
                    ByteForm::Bytes => hex(own_bytes),
                    ByteForm::Latin1 => from_latin1(own_bytes),
                };
                found.extend(name.as_deref().map(|name| (name, Content::Text(text))));
                Ok(rest)
            }
            Field::Bits(parts) => {
                let size = parts.iter().map(|part| part.width).sum::<u32>() / 8;
                let (own_bytes, rest) = bytes.split_at_checked(size as usize).ok_or(NO_FIT)?;
                let mut bits = own_bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
                for part in parts {
                    let number = bits.by_ref().take(part.width as usize);
                    let number = number.fold(0, |sum: i128, bit| sum << 1 | i128::from(bit));
                    part.content.note_read(number, counted, found)?;
                }
                Ok(rest)
            }
            Field::Checksum(_, integer, _) => Ok(integer.split(bytes).ok_or(NO_FIT)?.1),
            Field::List { extent, of, name } => {
                let (elements, rest) =
                    read_list(extent, of, name.as_deref(), bytes, counted[position], spelling)?;
                found.extend(name.as_deref().map(|name| (name, Content::List(Tree::List(elements)))));
                Ok(rest)
            }
            Field::Group(extent, fields) => {
                let (own_bytes, rest) = extent.split(bytes, counted[position])?;
                if read_fields(fields, own_bytes, spelling, found)?.is_empty() {
                    Ok(rest)
                } else {
                    Err(NO_FIT)
                }
            }
        }
    }
}

/// What a number before a field says of it.
#[derive(Clone, Copy)]
struct CountedLength {
    amount: i128,
    is_elements: bool,
}

impl FieldNumber {
    /// Makes the number that is sent: a fixed one, a parameter, or the count of a field after it.
    fn write<T>(
        &self,
        pieces: &[Encoded],
        value: Lookup<'_>,
        bits: usize,
        fitting: impl Fn(i128) -> Option<T>,
    ) -> Result<T, String> {
        let misfit = |what: &str, text: &str| {
            format!("{what} is {}, which does not fit into {bits} bits", shortened(text))
        };
        match self {
            FieldNumber::Fixed(number) => fitting((*number).into()).ok_or_else(|| NO_NAME.to_owned()),
            FieldNumber::Any => Err(NO_NAME.to_owned()),
            FieldNumber::Named(name) => {
                let text = value(name)?;
                text.parse().ok().and_then(fitting).ok_or_else(|| misfit(&format!("`{name}`"), &text))
            }
            FieldNumber::Counting(Counting { of, is_elements, plus }) => {
                let Encoded { bytes, elements } = &pieces[*of];
                let count = if *is_elements { *elements } else { bytes.len() };
                let sum = count as i128 + i128::from(*plus);
                fitting(sum).ok_or_else(|| misfit("a number that counts a field", &sum.to_string()))
            }
        }
    }

    /// Takes a number that was read: compares it with a fixed one, or notes it as a value or a count.
    fn note_read<'f>(
        &'f self,
        number_read: i128,
        counted: &mut [Option<CountedLength>],
        found: &mut FoundValues<'f>,
    ) -> Result<(), FrameMisfit> {
        match self {
            FieldNumber::Fixed(fixed) if i128::from(*fixed) != number_read => return Err(NO_FIT),
            FieldNumber::Fixed(_) | FieldNumber::Any => {}
            FieldNumber::Named(name) => found.push((name, Content::Text(number_read.to_string()))),
            FieldNumber::Counting(Counting { of, is_elements, plus }) => {
                let amount = number_read - i128::from(*plus);
                counted[*of] = Some(CountedLength { amount, is_elements: *is_elements });
            }
        }
        Ok(())
    }
}

/// Writes the elements of a list, with their count or length if the extent has one. `element` has the fields
/// of each element.
fn write_list(
    extent: &Extent,
    element: &[Field],
    name: &str,
    spelling: &Spelling,
    value: Lookup<'_>,
) -> Result<Encoded, String> {
    let text = value(name)?;
    let Ok(Tree::List(trees)) = json::parse(&text, json::DOCUMENT) else {
        return Err(format!("`{name}` is `{}`, which is not a list", shortened(&text)));
    };
    let mut bytes = Vec::new();
    for tree in &trees {
        let part_text = |part: &str| {
            let none = || format!("an element of `{name}` has no `{part}`");
            let part_tree = tree.get(part).or((part == ELEMENT).then_some(tree)).ok_or_else(none)?;
            let model_text = match part_tree {
                Tree::Text(text) | Tree::Number(text) => text.clone(),
                other => other.to_string(),
            };
            match spelling.of(&format!("{name}.{part}")) {
                None => Ok(model_text),
                Some(spelt) => spelt.wire_texts(&model_text).into_iter().next().ok_or_else(none),
            }
        };
        bytes.extend(write_fields(element, spelling, &part_text)?);
    }
    let misfit = |why: String| format!("`{name}` is `{}`, {why}", shortened(&text));
    let bytes = match extent {
        Extent::Count(integer) => {
            let count = integer.written(trees.len() as i128);
            let count = count.ok_or_else(|| misfit(format!("whose count, {}, does not fit", trees.len())))?;
            [count, bytes].concat()
        }
        extent => extent.written(bytes).map_err(misfit)?,
    };
    Ok(Encoded { bytes, elements: trees.len() })
}

/// Reads the elements of a list at the front of the bytes, and returns the rest, too. `counted` is what an
/// earlier field says of its size.
fn read_list<'b>(
    extent: &Extent,
    element: &[Field],
    name: Option<&str>,
    bytes: &'b [u8],
    counted: Option<CountedLength>,
    spelling: &Spelling,
) -> Result<(Vec<Tree>, &'b [u8]), FrameMisfit> {
    // Either the number of elements is known, or the bytes of the list and those after it are.
    let (mut missing, mut unread, after) = match (extent, counted) {
        (Extent::Count(integer), _) => {
            let (count, unread) = integer.take(bytes).ok_or(NO_FIT)?;
            (Some(count), unread, None)
        }
        (Extent::Counted, Some(CountedLength { amount, is_elements: true })) => (Some(amount), bytes, None),
        (extent, counted) => {
            let (own_bytes, after) = extent.split(bytes, counted)?;
            (None, own_bytes, Some(after))
        }
    };
    let most = unread.len().min(MOST) as i128;
    if let Some(count) = missing.filter(|count| !(0..=most).contains(count)) {
        let left = unread.len();
        return Err(FrameMisfit::Wrong(format!(
            "it says that a list has {count} elements, but only {left} bytes are left"
        )));
    }
    let mut elements = Vec::new();
    while missing.map_or(!unread.is_empty(), |missing| missing > 0) {
        let (mut parts, left_before) = (FoundValues::new(), unread.len());
        unread = read_fields(element, unread, spelling, &mut parts)?;
        if unread.len() == left_before || elements.len() == MOST {
            return Err(FrameMisfit::Wrong(format!("a list has more than {MOST} elements")));
        }
        elements.push(make_element(parts, name, spelling)?);
        missing = missing.map(|missing| missing - 1);
    }
    Ok((elements, after.unwrap_or(unread)))
}

/// Makes the JSON of an element of `list` from its parts. A part called `element` alone is the element, and
/// all else is an object. So a record with this one field is unwrapped, and `typed_tree` in `binary.rs` puts
/// it back. Texts on the wire become those of the model, by the key `values` of the IUT file.
fn make_element(
    parts: FoundValues<'_>,
    list: Option<&str>,
    spelling: &Spelling,
) -> Result<Tree, FrameMisfit> {
    let mut members = Vec::with_capacity(parts.len());
    for (part, content) in parts {
        let key = format!("{}.{part}", list.unwrap_or_default());
        let tree = match (content, spelling.of(&key)) {
            (Content::List(tree), _) => tree,
            (Content::Text(text), None) => Tree::Text(text),
            (Content::Text(text), Some(spelt)) => {
                let Some(model_text) = spelt.model_text(&text) else {
                    let text = shortened(&text);
                    return Err(FrameMisfit::Wrong(format!(
                        "`{key}` is `{text}`, which is no text of `values`"
                    )));
                };
                Tree::Text(model_text.into_owned())
            }
        };
        members.push((part, tree));
    }
    match members.as_mut_slice() {
        [(ELEMENT, tree)] => Ok(std::mem::replace(tree, Tree::Null)),
        _ => Ok(Tree::Object(members.into_iter().map(|(part, tree)| (part.to_owned(), tree)).collect())),
    }
}

impl Extent {
    /// Returns the bytes with a length before them or an end after them, if the extent has one.
    pub fn written(&self, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        let count = bytes.len();
        match self {
            Extent::Size(size) if count != *size => Err(format!("which does not have {size} bytes")),
            Extent::Size(_) | Extent::Rest | Extent::Counted | Extent::Count(_) => Ok(bytes),
            Extent::Length(integer) => match integer.written(count as i128) {
                Some(length) => Ok([length, bytes].concat()),
                None => Err(format!("whose length, {count}, does not fit")),
            },
            Extent::Until(end) => {
                let ended = [&bytes[..], end].concat();
                // This also finds an end that begins in the bytes and ends in the one after them.
                let is_first = ended.windows(end.len()).position(|window| window == end) == Some(count);
                is_first.then_some(ended).ok_or_else(|| "which contains the bytes of `until`".to_owned())
            }
        }
    }

    /// Splits the field's own bytes from the rest.
    fn split<'b>(
        &self,
        bytes: &'b [u8],
        counted: Option<CountedLength>,
    ) -> Result<(&'b [u8], &'b [u8]), FrameMisfit> {
        let split_at = |bytes: &'b [u8], length: i128| bytes.split_at_checked(usize::try_from(length).ok()?);
        match self {
            Extent::Size(size) => bytes.split_at_checked(*size).ok_or(NO_FIT),
            Extent::Rest => Ok((bytes, &[])),
            Extent::Length(integer) => {
                let (length, rest) = integer.take(bytes).ok_or(NO_FIT)?;
                split_at(rest, length).ok_or(NO_FIT)
            }
            Extent::Until(end) => {
                let length = bytes.windows(end.len()).position(|window| window == end).ok_or(NO_FIT)?;
                Ok((&bytes[..length], &bytes[length + end.len()..]))
            }
            Extent::Counted => {
                let (amount, left) = (counted.ok_or(NO_FIT)?.amount, bytes.len());
                split_at(bytes, amount).ok_or_else(|| {
                    FrameMisfit::Wrong(format!(
                        "it says that a field has {amount} bytes, but only {left} are left"
                    ))
                })
            }
            Extent::Count(_) => Err(NO_FIT),
        }
    }
}

/// An error that cannot happen: the reader of descriptions allows no such field in a frame that is sent.
const NO_NAME: &str = "a field without a value";

fn require_name(name: Option<&str>) -> Result<&str, String> {
    name.ok_or_else(|| NO_NAME.to_owned())
}

/// Says whether the number has no more bits than this.
pub fn fits(number: u64, bits: u32) -> bool {
    number.checked_shr(bits).is_none_or(|higher_bits| higher_bits == 0)
}

#[cfg(test)]
mod tests {
    use coreach_model::random::Random;

    use super::*;
    use crate::integer::WireInteger;

    #[test]
    fn extents_take_what_they_have_written() {
        let mut random = Random::new(3);
        let extents = [
            Extent::Size(3),
            Extent::Length(WireInteger::named("u8").unwrap()),
            Extent::Length(WireInteger::named("u16le").unwrap()),
            Extent::Until(vec![0]),
            Extent::Until(b"aab".to_vec()),
            Extent::Rest,
        ];
        for extent in extents {
            let mut written = 0;
            for _ in 0..2000 {
                let bytes: Vec<u8> = (0..random.below(6)).map(|_| b"ab\0c"[random.below(4)]).collect();
                let Ok(mut sent) = extent.written(bytes.clone()) else { continue };
                written += 1;
                let tail: &[u8] = if extent == Extent::Rest { b"" } else { b"tail" };
                sent.extend_from_slice(tail);
                assert_eq!(extent.split(&sent, None), Ok((&*bytes, tail)), "{extent:?}");
            }
            assert!(written > 200, "{extent:?}: {written}");
        }
        assert_eq!(Extent::Length(WireInteger::named("u8").unwrap()).split(&[3, 1, 2], None), Err(NO_FIT));
        assert_eq!(Extent::Length(WireInteger::named("i8").unwrap()).split(&[0xff, 1, 2], None), Err(NO_FIT));
    }

    #[test]
    fn numbers_of_bits() {
        assert!(fits(u64::MAX, 64) && fits(1, 1) && !fits(2, 1));
    }
}
