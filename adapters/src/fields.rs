//! The fields of a frame: from values to bytes, and back.
//!
//! ```text
//! fields   = field*                        nothing before, between or behind them
//! field    = fixed bytes | number | bytes | bits | checksum | list | group
//! bytes    = so many | number, so many    | all before an end, which follows | the rest
//!          | as many as a number before says
//! bits     = numbers of some bits each, the most significant bit first
//! list     = as many elements as a number in front of them says, or one before
//!          | as many as so many bytes are
//! group    = fields in so many bytes
//! ```
//!
//! Numbers that count other fields, and checksums, are of fields in the same list, and nobody gives them:
//! they are computed when a frame is sent, and must be right when one is read. What they count comes behind
//! them, so a frame is written from its last field to its first one and read from the first to the last;
//! checksums come at the end, in their order, each with zeros in its own place.
//!
//! **Hostile frames.** A number that counts is believed as far as there are bytes: each element of a list has
//! at least one, so nothing is made room for by what a frame says of itself. A list has at most [`MOST`]
//! elements. **Costs** a pass over the bytes, and one more for each checksum.

use coreach_model::excerpt::shortened;
use coreach_model::json::{self, Tree};

use crate::description::{ByteForm, Counting, Extent, Field, FieldNumber, Spelling};
use crate::encoding::{hex, latin1, of_latin1, unhex};

pub const MOST: usize = 10_000;

/// The part of an element that is no record.
pub const ELEMENT: &str = "element";

/// What stands in a frame for one value.
#[derive(Clone, PartialEq, Debug)]
pub enum Content {
    Text(String),
    /// A list of texts, or of objects of texts.
    List(Tree),
}

pub type FoundValues<'f> = Vec<(&'f str, Content)>;

/// Why bytes are not these fields: what counts or checks is wrong, or how many of the fields fit.
pub type FrameMisfit = Result<usize, String>;

/// The text that stands for a name in what is sent, or why there is none.
type Values<'v> = &'v dyn Fn(&str) -> Result<String, String>;

/// What a field is in bytes, and how many elements it has.
#[derive(Clone, Default)]
struct Piece {
    bytes: Vec<u8>,
    elements: usize,
}

/// The bytes of these fields.
pub fn written(fields: &[Field], spelling: &Spelling, value: Values<'_>) -> Result<Vec<u8>, String> {
    let mut pieces = vec![Piece::default(); fields.len()];
    for (at, field) in fields.iter().enumerate().rev() {
        pieces[at] = field.write(&pieces, spelling, value)?;
    }
    let (mut frame, mut starts) = (Vec::new(), vec![0]);
    for piece in &pieces {
        frame.extend_from_slice(&piece.bytes);
        starts.push(frame.len());
    }
    for (at, field) in fields.iter().enumerate() {
        let Field::Checksum(kind, integer, over) = field else { continue };
        let sum = kind.of(&frame[starts[over.start]..starts[over.end]]);
        let sum = integer.written(sum.into()).unwrap_or_default();
        frame.splice(starts[at]..starts[at + 1], sum);
    }
    Ok(frame)
}

/// Takes these fields from the front; the rest is returned, where they stand there.
pub fn read<'b, 'f>(
    fields: &'f [Field],
    bytes: &'b [u8],
    spelling: &Spelling,
    found: &mut FoundValues<'f>,
) -> Result<&'b [u8], FrameMisfit> {
    let (mut rest, mut starts, mut told) = (bytes, vec![0], vec![None; fields.len()]);
    for (at, field) in fields.iter().enumerate() {
        rest = field.read(rest, at, &mut told, spelling, found).map_err(|why| why.map(|_| at))?;
        starts.push(bytes.len() - rest.len());
    }
    for (at, field) in fields.iter().enumerate() {
        let Field::Checksum(kind, integer, over) = field else { continue };
        let mine = starts[at]..starts[at + 1];
        let begin = starts[over.start];
        let mut covered = bytes[begin..starts[over.end]].to_vec();
        if over.contains(&at) {
            covered[mine.start - begin..mine.end - begin].fill(0);
        }
        let is_right = integer.read(&bytes[mine.clone()]).is_some_and(|sum| kind.is_of(sum, &covered));
        if !is_right {
            let (name, right) = (kind.name(), integer.written(kind.of(&covered).into()).unwrap_or_default());
            let (there, right) = (hex(&bytes[mine]), hex(&right));
            return Err(Err(format!("its checksum `{name}` is `{there}`, where `{right}` is right")));
        }
    }
    Ok(rest)
}

/// How many bytes these fields have at least.
pub fn least(fields: &[Field]) -> usize {
    let of_extent = |extent: &Extent| match extent {
        Extent::Size(size) => *size,
        Extent::Length(integer) | Extent::Count(integer) => integer.least(),
        Extent::Until(end) => end.len(),
        Extent::Rest | Extent::Counted => 0,
    };
    let of = |field: &Field| match field {
        Field::Fixed(bytes) => bytes.len(),
        Field::Integer(integer, _) | Field::Checksum(_, integer, _) => integer.least(),
        Field::Bytes { extent, .. } | Field::List { extent, .. } | Field::Group(extent, _) => {
            of_extent(extent)
        }
        Field::Bits(parts) => parts.iter().map(|part| part.width as usize).sum::<usize>() / 8,
    };
    fields.iter().map(of).sum()
}

impl Field {
    /// The parameter that it is, if it is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Field::Integer(_, FieldNumber::Named(name)) => Some(name),
            Field::Bytes { name, .. } | Field::List { name, .. } => name.as_deref(),
            _ => None,
        }
    }

    /// Its bytes. `pieces` has those of the fields behind it.
    fn write(&self, pieces: &[Piece], spelling: &Spelling, value: Values<'_>) -> Result<Piece, String> {
        let bytes = match self {
            Field::Fixed(bytes) => bytes.clone(),
            Field::Integer(integer, number) => {
                let bits = 8 * if integer.width == 0 { 7 } else { integer.width };
                number.write(pieces, value, bits, |number| integer.written(number))?
            }
            Field::Bytes { extent, form, name } => {
                let name = named(name.as_deref())?;
                let text = value(name)?;
                let told = |why: &str| format!("`{name}` is `{}`, {why}", shortened(&text));
                let bytes = match form {
                    ByteForm::Text => text.clone().into_bytes(),
                    ByteForm::Bytes => {
                        unhex(&text).ok_or_else(|| told("which are no pairs of hexadecimal digits"))?
                    }
                    ByteForm::Latin1 => {
                        latin1(&text).ok_or_else(|| told("which has a character beyond U+00FF"))?
                    }
                };
                extent.written(bytes).map_err(|why| told(&why))?
            }
            Field::Bits(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    let fitting =
                        |number| u64::try_from(number).ok().filter(|number| fits(*number, part.width));
                    let number = part.content.write(pieces, value, part.width as usize, fitting)?;
                    all.extend((0..part.width).rev().map(|bit| number >> bit & 1 == 1));
                }
                let byte = |bits: &[bool]| bits.iter().fold(0, |sum, bit| sum << 1 | u8::from(*bit));
                all.chunks(8).map(byte).collect()
            }
            Field::Checksum(_, integer, _) => vec![0; integer.width],
            Field::List { extent, of, name } => {
                return list(extent, of, named(name.as_deref())?, spelling, value);
            }
            Field::Group(extent, fields) => {
                let bytes = written(fields, spelling, value)?;
                extent.written(bytes).map_err(|why| format!("it has a group of bytes, {why}"))?
            }
        };
        Ok(Piece { bytes, elements: 0 })
    }

    /// Takes it from the front; the rest is returned, if it stands there. `told` is what the fields before
    /// have said of others.
    fn read<'b, 'f>(
        &'f self,
        bytes: &'b [u8],
        at: usize,
        told: &mut [Option<CountedLength>],
        spelling: &Spelling,
        found: &mut FoundValues<'f>,
    ) -> Result<&'b [u8], FrameMisfit> {
        match self {
            Field::Fixed(fixed) => bytes.strip_prefix(fixed.as_slice()).ok_or(Ok(0)),
            Field::Integer(integer, number) => {
                let (said, rest) = integer.take(bytes).ok_or(Ok(0))?;
                number.read(said, told, found)?;
                Ok(rest)
            }
            Field::Bytes { extent, form, name } => {
                let (mine, rest) = extent.split(bytes, told[at])?;
                let text = match form {
                    ByteForm::Text => std::str::from_utf8(mine).ok().ok_or(Ok(0))?.to_owned(),
                    ByteForm::Bytes => hex(mine),
                    ByteForm::Latin1 => of_latin1(mine),
                };
                found.extend(name.as_deref().map(|name| (name, Content::Text(text))));
                Ok(rest)
            }
            Field::Bits(parts) => {
                let size = parts.iter().map(|part| part.width).sum::<u32>() / 8;
                let (mine, rest) = bytes.split_at_checked(size as usize).ok_or(Ok(0))?;
                let mut bits = mine.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
                for part in parts {
                    let number = bits.by_ref().take(part.width as usize);
                    let number = number.fold(0, |sum: i128, bit| sum << 1 | i128::from(bit));
                    part.content.read(number, told, found)?;
                }
                Ok(rest)
            }
            Field::Checksum(_, integer, _) => Ok(integer.split(bytes).ok_or(Ok(0))?.1),
            Field::List { extent, of, name } => {
                let (mut left, mut rest, behind) = match (extent, told[at]) {
                    (Extent::Count(integer), _) => {
                        let (count, rest) = integer.take(bytes).ok_or(Ok(0))?;
                        (Some(count), rest, None)
                    }
                    (Extent::Counted, Some(CountedLength { amount, is_elements: true })) => {
                        (Some(amount), bytes, None)
                    }
                    (extent, told) => {
                        let (mine, behind) = extent.split(bytes, told)?;
                        (None, mine, Some(behind))
                    }
                };
                if let Some(count) = left.filter(|count| !(0..=rest.len().min(MOST) as i128).contains(count))
                {
                    let there = rest.len();
                    return Err(Err(format!(
                        "it says that a list has {count} elements, and has {there} bytes for it"
                    )));
                }
                let mut elements = Vec::new();
                while left.map_or(!rest.is_empty(), |left| left > 0) {
                    let (mut parts, before) = (FoundValues::new(), rest.len());
                    rest = read(of, rest, spelling, &mut parts)?;
                    if rest.len() == before || elements.len() == MOST {
                        return Err(Err(format!("a list has more than {MOST} elements")));
                    }
                    elements.push(make_element(parts, name.as_deref(), spelling)?);
                    left = left.map(|left| left - 1);
                }
                found.extend(name.as_deref().map(|name| (name, Content::List(Tree::List(elements)))));
                Ok(behind.unwrap_or(rest))
            }
            Field::Group(extent, fields) => {
                let (mine, rest) = extent.split(bytes, told[at])?;
                if read(fields, mine, spelling, found)?.is_empty() { Ok(rest) } else { Err(Ok(0)) }
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
    /// Makes the number that is sent: a fixed one, a parameter, or the count of a field behind it.
    fn write<T>(
        &self,
        pieces: &[Piece],
        value: Values<'_>,
        bits: usize,
        fitting: impl Fn(i128) -> Option<T>,
    ) -> Result<T, String> {
        let no = |what: String, text: &str| {
            format!("{what} is {}, which is no number of {bits} bits", shortened(text))
        };
        match self {
            FieldNumber::Fixed(number) => fitting((*number).into()).ok_or_else(|| NO_NAME.to_owned()),
            FieldNumber::Any => Err(NO_NAME.to_owned()),
            FieldNumber::Named(name) => {
                let text = value(name)?;
                text.parse().ok().and_then(fitting).ok_or_else(|| no(format!("`{name}`"), &text))
            }
            FieldNumber::Counting(Counting { of, is_elements, plus }) => {
                let Piece { bytes, elements } = &pieces[*of];
                let count = if *is_elements { *elements } else { bytes.len() };
                let said = count as i128 + i128::from(*plus);
                fitting(said).ok_or_else(|| no("a number that counts a field".to_owned(), &said.to_string()))
            }
        }
    }

    fn read<'f>(
        &'f self,
        said: i128,
        told: &mut [Option<CountedLength>],
        found: &mut FoundValues<'f>,
    ) -> Result<(), FrameMisfit> {
        match self {
            FieldNumber::Fixed(fixed) if i128::from(*fixed) != said => return Err(Ok(0)),
            FieldNumber::Fixed(_) | FieldNumber::Any => {}
            FieldNumber::Named(name) => found.push((name, Content::Text(said.to_string()))),
            FieldNumber::Counting(Counting { of, is_elements, plus }) => {
                let amount = said - i128::from(*plus);
                told[*of] = Some(CountedLength { amount, is_elements: *is_elements });
            }
        }
        Ok(())
    }
}

/// The elements of a list that is sent, with what tells how many they are.
fn list(
    extent: &Extent,
    of: &[Field],
    name: &str,
    spelling: &Spelling,
    value: Values<'_>,
) -> Result<Piece, String> {
    let text = value(name)?;
    let Ok(Tree::List(trees)) = json::parse(&text, json::DOCUMENT) else {
        return Err(format!("`{name}` is `{}`, which is no list", shortened(&text)));
    };
    let mut bytes = Vec::new();
    for tree in &trees {
        let part = |part: &str| {
            let of = tree.get(part).or((part == ELEMENT).then_some(tree));
            let none = || format!("an element of `{name}` has no `{part}`");
            let usual = match of.ok_or_else(none)? {
                Tree::Text(text) | Tree::Number(text) => text.clone(),
                other => other.to_string(),
            };
            match spelling.of(&format!("{name}.{part}")) {
                None => Ok(usual),
                Some(spelt) => spelt.texts(&usual).into_iter().next().ok_or_else(none),
            }
        };
        bytes.extend(written(of, spelling, &part)?);
    }
    let told = |why: String| format!("`{name}` is `{}`, {why}", shortened(&text));
    let bytes = match extent {
        Extent::Count(integer) => {
            let no = || told(format!("of which the count, {}, does not fit", trees.len()));
            [integer.written(trees.len() as i128).ok_or_else(no)?, bytes].concat()
        }
        extent => extent.written(bytes).map_err(told)?,
    };
    Ok(Piece { bytes, elements: trees.len() })
}

/// Makes the JSON of a list's element of its parts: its only part, or an object, in the usual texts.
fn make_element(parts: FoundValues<'_>, of: Option<&str>, spelling: &Spelling) -> Result<Tree, FrameMisfit> {
    let mut members = Vec::with_capacity(parts.len());
    for (part, content) in parts {
        let text = match content {
            Content::List(tree) => {
                members.push((part, tree));
                continue;
            }
            Content::Text(text) => text,
        };
        let key = format!("{}.{part}", of.unwrap_or_default());
        let usual = match spelling.of(&key) {
            None => text,
            Some(spelt) => {
                let no = || Err(format!("`{key}` is `{}`, which `values` does not have", shortened(&text)));
                spelt.usual(&text).ok_or_else(no)?.into_owned()
            }
        };
        members.push((part, Tree::Text(usual)));
    }
    match members.as_mut_slice() {
        [(ELEMENT, tree)] => Ok(std::mem::replace(tree, Tree::Null)),
        _ => Ok(Tree::Object(members.into_iter().map(|(part, tree)| (part.to_owned(), tree)).collect())),
    }
}

impl Extent {
    /// The bytes with what tells how many they are.
    pub fn written(&self, mut bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        match self {
            Extent::Size(size) if bytes.len() != *size => Err(format!("which are not {size} bytes")),
            Extent::Size(_) | Extent::Rest | Extent::Counted | Extent::Count(_) => Ok(bytes),
            Extent::Length(integer) => {
                let length = integer.written(bytes.len() as i128);
                let length =
                    length.ok_or_else(|| format!("of which the length, {}, does not fit", bytes.len()))?;
                Ok([length, bytes].concat())
            }
            Extent::Until(end) => {
                let length = bytes.len();
                bytes.extend_from_slice(end);
                if bytes.windows(end.len()).position(|window| window == end) != Some(length) {
                    return Err("which has its own end in it".to_owned());
                }
                Ok(bytes)
            }
        }
    }

    /// The field's own bytes, and the rest.
    fn split<'b>(
        &self,
        bytes: &'b [u8],
        told: Option<CountedLength>,
    ) -> Result<(&'b [u8], &'b [u8]), FrameMisfit> {
        let at = |bytes: &'b [u8], length: i128| bytes.split_at_checked(usize::try_from(length).ok()?);
        match self {
            Extent::Size(size) => bytes.split_at_checked(*size).ok_or(Ok(0)),
            Extent::Rest => Ok((bytes, &[])),
            Extent::Length(integer) => {
                let (length, rest) = integer.take(bytes).ok_or(Ok(0))?;
                at(rest, length).ok_or(Ok(0))
            }
            Extent::Until(end) => {
                let at = bytes.windows(end.len()).position(|window| window == end).ok_or(Ok(0))?;
                Ok((&bytes[..at], &bytes[at + end.len()..]))
            }
            Extent::Counted => {
                let amount = told.ok_or(Ok(0))?.amount;
                let no =
                    || format!("it says that a field has {amount} bytes, of {} that are left", bytes.len());
                at(bytes, amount).ok_or_else(|| Err(no()))
            }
            Extent::Count(_) => Err(Ok(0)),
        }
    }
}

/// What is sent is known: the reader of descriptions lets nothing else through.
const NO_NAME: &str = "a field without a value";

fn named(name: Option<&str>) -> Result<&str, String> {
    name.ok_or_else(|| NO_NAME.to_owned())
}

/// Has the number no more bits than this?
pub fn fits(number: u64, bits: u32) -> bool {
    number.checked_shr(bits).is_none_or(|more| more == 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

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
        assert_eq!(Extent::Length(WireInteger::named("u8").unwrap()).split(&[3, 1, 2], None), Err(Ok(0)));
        assert_eq!(Extent::Length(WireInteger::named("i8").unwrap()).split(&[0xff, 1, 2], None), Err(Ok(0)));
    }

    #[test]
    fn numbers_of_bits() {
        assert!(fits(u64::MAX, 64) && fits(1, 1) && !fits(2, 1));
    }
}
