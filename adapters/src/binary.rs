//! An implementation's own frames of bytes: a list of fields for each action, in both directions.
//!
//! ```text
//! frame   = field*                        nothing before, between or behind them
//! field   = fixed bytes | integer | bytes | bits
//! bytes   = so many | integer, so many    | all before an end, which follows | the rest
//! bits    = numbers of some bits each, the most significant bit first
//! ```
//!
//! A frame is the first output whose fields are exactly it: every fixed byte, every length, every text in
//! UTF-8, and no byte more. What its fields say are texts, as on every wire ([`Signatures::output`]): numbers
//! in decimal digits, bytes in pairs of small hexadecimal ones, texts as they are. A frame that no fields fit
//! is ignored where the description has fields for that, and else unmatched. A value that does not fit its
//! field is not sent.
//!
//! **Costs** a pass over the frame for each output that is tried, of which most end at their first fixed
//! field.

use coreach_model::excerpt::shortened;
use coreach_model::semantics::Event;

use crate::adapter::{Failure, Received};
use crate::description::{Binary, BitContent, Extent, Field, Unmatched};
use crate::encoding::{hex, unhex};
use crate::lines::Recognized;
use crate::signature::{Signatures, Wire};

/// The bytes of a stimulus, as they are sent.
///
/// # Errors
/// [`Failure::Untranslatable`].
pub fn input(binary: &Binary, event: &Event, signatures: &Signatures) -> Result<Vec<u8>, Failure> {
    let action = &event.action;
    let fields = binary.stimuli.iter().find(|(name, _)| name == action);
    let (_, fields) =
        fields.ok_or_else(|| Failure::Untranslatable(format!("`stimuli` has no frame for `{action}`")))?;
    written(binary, fields, |name| signatures.hole(event, &binary.spelling, name), signatures, action)
}

/// The frame of these fields, as it is sent.
fn written(
    binary: &Binary,
    fields: &[Field],
    value: impl Fn(&str) -> Option<String>,
    signatures: &Signatures,
    of: &str,
) -> Result<Vec<u8>, Failure> {
    let failed = |why: String| Failure::Untranslatable(format!("the frame for `{of}`: {why}"));
    let value =
        |name: &str| value(name).ok_or_else(|| format!("it has `{name}`, {}", signatures.lacking(name)));
    let mut frame = Vec::new();
    for field in fields {
        field.write(&mut frame, value).map_err(failed)?;
    }
    binary.cut.framed(frame).map_err(failed)
}

/// What is sent back for a frame that is ignored; nothing, where nothing is. `None`: it is none of those.
///
/// # Errors
/// [`Failure::Untranslatable`].
pub fn answer(binary: &Binary, frame: &[u8], signatures: &Signatures) -> Result<Option<Vec<u8>>, Failure> {
    let found = binary.ignored.iter().find_map(|one| Some((values(&one.pattern, frame)?, &one.answer)));
    let Some((found, answer)) = found else { return Ok(None) };
    let Some(fields) = answer else { return Ok(Some(Vec::new())) };
    let value = |name: &str| {
        let own = found.iter().find(|(field, _)| *field == name).map(|(_, text)| text.clone());
        own.or_else(|| signatures.known(name))
    };
    written(binary, fields, value, signatures, "ignore").map(Some)
}

/// Do the fields of an output fit it?
pub fn fits_output(binary: &Binary, frame: &[u8]) -> bool {
    binary.observations.iter().any(|(_, fields)| values(fields, frame).is_some())
}

/// What a frame is.
///
/// # Errors
/// [`Failure::Garbage`]: a number is too long, or the description says so of what is unmatched;
/// [`Failure::Untranslatable`]: what is to be sent back cannot be.
pub fn output(binary: &Binary, frame: &[u8], signatures: &mut Signatures) -> Result<Recognized, Failure> {
    for (action, fields) in &binary.observations {
        if let Some(values) = values(fields, frame) {
            let values: Vec<(&str, Wire<'_>)> =
                values.iter().map(|(name, text)| (*name, Wire::Text(text))).collect();
            let received = signatures.capturing_output(action, &values, &binary.spelling);
            return received.map(Recognized::Received);
        }
    }
    if let Some(answer) = answer(binary, frame, signatures)? {
        return Ok(Recognized::Ignored(answer));
    }
    let text = format!("the frame `{}`, which no fields fit", shortened(&hex(frame)));
    match binary.unmatched {
        Unmatched::Fail => Ok(Recognized::Received(Received::Alien(text))),
        Unmatched::Error => Err(Failure::Garbage(text)),
        Unmatched::Ignore => Ok(Recognized::Ignored(Vec::new())),
    }
}

/// What the fields say, where they are the whole frame.
fn values<'f>(fields: &'f [Field], frame: &[u8]) -> Option<Vec<(&'f str, String)>> {
    let (mut rest, mut found) = (frame, Vec::new());
    for field in fields {
        rest = field.read(rest, &mut found)?;
    }
    rest.is_empty().then_some(found)
}

impl Field {
    /// Writes it behind the frame.
    fn write(
        &self,
        frame: &mut Vec<u8>,
        value: impl Fn(&str) -> Result<String, String>,
    ) -> Result<(), String> {
        match self {
            Field::Fixed(bytes) => frame.extend_from_slice(bytes),
            Field::Integer(integer, name) => {
                let name = named(name.as_deref())?;
                let text = value(name)?;
                let bytes = text.parse().ok().and_then(|number| integer.written(number));
                let bits = 8 * integer.width;
                let no = || format!("`{name}` is {}, which is no number of {bits} bits", shortened(&text));
                frame.extend(bytes.ok_or_else(no)?);
            }
            Field::Bytes { extent, is_text, name } => {
                let name = named(name.as_deref())?;
                let text = value(name)?;
                let bytes = if *is_text { Some(text.clone().into_bytes()) } else { unhex(&text) };
                let bytes = bytes.ok_or_else(|| {
                    format!("`{name}` is `{}`, which are no pairs of hexadecimal digits", shortened(&text))
                })?;
                let sized = extent.written(bytes);
                frame.extend(sized.map_err(|why| format!("`{name}` is `{}`, {why}", shortened(&text)))?);
            }
            Field::Bits(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    let number = match &part.content {
                        BitContent::Fixed(number) => *number,
                        BitContent::Any => return Err(NO_NAME.to_owned()),
                        BitContent::Named(name) => {
                            let text = value(name)?;
                            let number = text.parse().ok().filter(|number| fits(*number, part.width));
                            number.ok_or_else(|| {
                                format!(
                                    "`{name}` is {}, which is no number of {} bits",
                                    shortened(&text),
                                    part.width
                                )
                            })?
                        }
                    };
                    all.extend((0..part.width).rev().map(|bit| number >> bit & 1 == 1));
                }
                let byte = |bits: &[bool]| bits.iter().fold(0, |sum, bit| sum << 1 | u8::from(*bit));
                frame.extend(all.chunks(8).map(byte));
            }
        }
        Ok(())
    }

    /// Takes it from the front; the rest is returned, if it stands there.
    fn read<'b, 'f>(&'f self, bytes: &'b [u8], found: &mut Vec<(&'f str, String)>) -> Option<&'b [u8]> {
        let mut say = |name: &'f Option<String>, text: String| {
            found.extend(name.as_deref().map(|name| (name, text)));
        };
        match self {
            Field::Fixed(fixed) => bytes.strip_prefix(fixed.as_slice()),
            Field::Integer(integer, name) => {
                let (mine, rest) = bytes.split_at_checked(integer.width)?;
                say(name, integer.read(mine).to_string());
                Some(rest)
            }
            Field::Bytes { extent, is_text, name } => {
                let (mine, rest) = extent.split(bytes)?;
                let text = if *is_text { std::str::from_utf8(mine).ok()?.to_owned() } else { hex(mine) };
                say(name, text);
                Some(rest)
            }
            Field::Bits(parts) => {
                let size = parts.iter().map(|part| part.width).sum::<u32>() / 8;
                let (mine, rest) = bytes.split_at_checked(size as usize)?;
                let mut bits = mine.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
                for part in parts {
                    let number = bits.by_ref().take(part.width as usize);
                    let number = number.fold(0, |sum: u64, bit| sum << 1 | u64::from(bit));
                    match &part.content {
                        BitContent::Fixed(fixed) if *fixed != number => return None,
                        BitContent::Fixed(_) | BitContent::Any => {}
                        BitContent::Named(name) => found.push((name, number.to_string())),
                    }
                }
                Some(rest)
            }
        }
    }
}

impl Extent {
    /// The bytes with what tells how many they are.
    ///
    /// # Errors
    /// They cannot have that.
    pub fn written(&self, mut bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        match self {
            Extent::Size(size) if bytes.len() != *size => Err(format!("which are not {size} bytes")),
            Extent::Size(_) | Extent::Rest => Ok(bytes),
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
    fn split<'b>(&self, bytes: &'b [u8]) -> Option<(&'b [u8], &'b [u8])> {
        match self {
            Extent::Size(size) => bytes.split_at_checked(*size),
            Extent::Rest => Some((bytes, &[])),
            Extent::Length(integer) => {
                let (length, rest) = bytes.split_at_checked(integer.width)?;
                rest.split_at_checked(usize::try_from(integer.read(length)).ok()?)
            }
            Extent::Until(end) => {
                let at = bytes.windows(end.len()).position(|window| window == end)?;
                Some((&bytes[..at], &bytes[at + end.len()..]))
            }
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

    use std::time::Instant;

    use coreach_model::Value;
    use coreach_model::random::Random;
    use coreach_model::reader::{from_bytes, read_specification};

    use super::*;
    use crate::adapter::Session;
    use crate::cut::Cut;
    use crate::description::{Bits, Spelling, Spelt};
    use crate::integer::WireInteger;

    const MODEL: &str = "
iosts: m
types: { Name: [WWW, MAIL] }
locations: [A]
initial: { location: A }
inputs: { Ask: { id: int, op: int, name: Name, low: int } }
outputs: { Answer: { id: int, op: int, name: Name, low: int }, Short: { id: nat } }
transitions: [{ from: A, to: A, on: Short }]
";

    fn signatures() -> Signatures {
        let file = from_bytes("m".to_owned(), MODEL.as_bytes().to_vec()).unwrap();
        let iosts = read_specification(file).unwrap().0.iosts;
        Signatures::of(&Session { iosts: &iosts, constants: &[], seed: 1, deadline: Instant::now() })
    }

    fn integer(name: &str, of: &str) -> Field {
        Field::Integer(WireInteger::named(name).unwrap(), Some(of.to_owned()))
    }

    fn bits(op: &str) -> Field {
        let part = |width, content| Bits { width, content };
        Field::Bits(vec![
            part(1, BitContent::Fixed(1)),
            part(4, BitContent::Named(op.to_owned())),
            part(11, BitContent::Fixed(0x103)),
        ])
    }

    fn binary() -> Binary {
        let name = |extent, is_text| Field::Bytes { extent, is_text, name: Some("name".to_owned()) };
        let fields = vec![
            integer("u16", "id"),
            bits("op"),
            Field::Fixed(vec![0xc0, 0x0c]),
            name(Extent::Until(vec![0]), false),
            integer("i24le", "low"),
        ];
        let texts = [("03777777", "WWW"), ("046d61696c", "MAIL")];
        Binary {
            cut: Cut::Datagrams,
            reset: Vec::new(),
            stimuli: vec![("Ask".to_owned(), fields.clone())],
            observations: vec![
                ("Short".to_owned(), vec![Field::Fixed(vec![7]), integer("i8", "id")]),
                ("Answer".to_owned(), fields),
            ],
            ignored: Vec::new(),
            captures: Vec::new(),
            spelling: Spelling(vec![(
                "name".to_owned(),
                Spelt::Texts(texts.map(|(wire, literal)| (wire.to_owned(), literal.to_owned())).to_vec()),
            )]),
            unmatched: Unmatched::Fail,
        }
    }

    fn ask(id: i64, op: i64, low: i64) -> Event {
        let name = www();
        Event::new("Ask", vec![Value::int(id), Value::int(op), name, Value::int(low)])
    }

    fn www() -> Value {
        let signatures = signatures();
        let ty = signatures.action("Ask").unwrap().parameters[2].ty().clone();
        coreach_model::codec::from_text("WWW", &ty).unwrap()
    }

    fn read(frame: &[u8]) -> String {
        match output(&binary(), frame, &mut signatures()) {
            Ok(Recognized::Received(Received::Output(event))) => event.to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn fields_are_written_where_they_stand() {
        let sent = input(&binary(), &ask(0x1234, 2, -2), &signatures()).unwrap();
        assert_eq!(hex(&sent), "12349103c00c0377777700feffff");
        assert_eq!(read(&sent), "Answer(4660, 2, WWW, -2)");
    }

    #[test]
    fn what_does_not_fit_is_not_sent() {
        for (id, op, low) in [(65_536, 0, 0), (-1, 0, 0), (0, 16, 0), (0, -1, 0), (0, 0, 1 << 23)] {
            let sent = input(&binary(), &ask(id, op, low), &signatures());
            assert!(matches!(sent, Err(Failure::Untranslatable(_))), "{sent:?}");
        }
        assert!(input(&binary(), &ask(65_535, 15, -(1 << 23)), &signatures()).is_ok());
    }

    #[test]
    fn a_frame_is_an_output_by_every_byte_of_it_or_none() {
        assert_eq!(read(&[7, 5]), "Short(5)");
        let alien = |frame: &[u8]| {
            let text = format!("the frame `{}`, which no fields fit", hex(frame));
            format!("Ok(Received(Alien({text:?})))")
        };
        for frame in [&[][..], &[7], &[7, 5, 0], &[8, 5]] {
            assert_eq!(read(frame), alien(frame));
        }
        // A number that is none of the model's, and a name that `values` does not have.
        assert!(read(&[7, 0xff]).contains("`Short` with a wrong `id`"));
        let sent = input(&binary(), &ask(1, 2, 3), &signatures()).unwrap();
        let other: Vec<u8> = sent.iter().map(|byte| if *byte == b'w' { b'x' } else { *byte }).collect();
        assert!(
            read(&other).contains("expected a text of `values`, not \\\"03787878\\\""),
            "{}",
            read(&other)
        );
        // Each bit counts, and no byte can be left out or added.
        let mut events = std::collections::BTreeSet::new();
        for bit in 0..8 * sent.len() {
            let mut changed = sent.clone();
            changed[bit / 8] ^= 0x80 >> (bit % 8);
            assert!(events.insert(read(&changed)), "{bit}: {}", read(&changed));
        }
        for at in 0..sent.len() {
            let mut less = sent.clone();
            less.remove(at);
            assert!(!read(&less).starts_with("Answer"), "{at}: {}", read(&less));
            assert!(!read(&sent[..at]).starts_with("Answer"), "{at}");
        }
        assert!(!read(&[sent, vec![0]].concat()).starts_with("Answer"));
    }

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
                assert_eq!(extent.split(&sent), Some((&*bytes, tail)), "{extent:?}");
            }
            assert!(written > 200, "{extent:?}: {written}");
        }
        assert_eq!(Extent::Length(WireInteger::named("u8").unwrap()).split(&[3, 1, 2]), None);
        assert_eq!(Extent::Length(WireInteger::named("i8").unwrap()).split(&[0xff, 1, 2]), None);
    }

    #[test]
    fn hexadecimal_digits() {
        assert_eq!(unhex("00 fF"), Some(vec![0, 255]));
        assert_eq!(unhex(""), Some(Vec::new()));
        for text in ["0", "0g", "0x00", "٣٣", "-1", "+1"] {
            assert_eq!(unhex(text), None, "{text}");
        }
        assert!(fits(u64::MAX, 64) && fits(1, 1) && !fits(2, 1));
    }
}
