//! An implementation's own frames of bytes: for each action a list of fields ([`crate::fields`]).
//!
//! A frame is the first output whose fields fit it exactly: every fixed byte, every length, every checksum,
//! every text in UTF-8, and no byte more. The values of its fields are texts, as on every wire
//! ([`Signatures::output`]): numbers in decimal digits, bytes in pairs of small hexadecimal ones, texts as
//! they are, and lists of these. If no output fits, the frame is ignored if the description has fields for
//! that, and else unmatched. A value that does not fit its field is not sent.
//!
//! **Costs** a pass over the frame for each output that is tried. Most passes end at their first fixed field.

use coreach_model::Type;
use coreach_model::excerpt::shortened;
use coreach_model::json::Tree;
use coreach_model::semantics::Event;
use coreach_model::types::RecordForm;

use crate::adapter::{Failure, Received};
use crate::description::{Binary, Field, Spelling, Unmatched};
use crate::encoding::hex;
use crate::fields::{self, Content, FoundValues, FrameMisfit};
use crate::lines::Recognized;
use crate::signature::{Signatures, Wire};

/// Writes the bytes of a stimulus, as they are sent.
pub fn write_stimulus(binary: &Binary, event: &Event, signatures: &Signatures) -> Result<Vec<u8>, Failure> {
    let action = &event.action;
    let fields = binary.stimuli.iter().find(|(name, _)| name == action);
    let (_, fields) =
        fields.ok_or_else(|| Failure::Untranslatable(format!("`stimuli` has no frame for `{action}`")))?;
    write_frame(binary, fields, |name| signatures.hole(event, &binary.spelling, name), signatures, action)
}

/// Writes the frame of `whose`, a stimulus or a step, with the value of each name. `value` looks it up.
fn write_frame(
    binary: &Binary,
    fields: &[Field],
    value: impl Fn(&str) -> Option<String>,
    signatures: &Signatures,
    whose: &str,
) -> Result<Vec<u8>, Failure> {
    let to_failure = |why: String| Failure::Untranslatable(format!("the frame for `{whose}`: {why}"));
    let value =
        |name: &str| value(name).ok_or_else(|| format!("it has `{{{name}}}`, {}", signatures.lacking(name)));
    let frame = fields::write_fields(fields, &binary.spelling, &value).map_err(to_failure)?;
    binary.cut.frame_message(frame).map_err(to_failure)
}

/// Writes what is sent back for a frame that is ignored, which may be empty. `None`: it is not ignored.
pub fn answer_ignored(
    binary: &Binary,
    frame: &[u8],
    signatures: &Signatures,
) -> Result<Option<Vec<u8>>, Failure> {
    let mut rules = binary.ignored.iter();
    let found = rules
        .find_map(|rule| Some((read_values(&rule.pattern, frame, &binary.spelling).ok()?, &rule.answer)));
    let Some((values, answer)) = found else { return Ok(None) };
    let Some(fields) = answer else { return Ok(Some(Vec::new())) };
    let value = |name: &str| match values.iter().find(|(field, _)| *field == name) {
        Some((_, Content::Text(text))) => Some(text.clone()),
        Some((_, Content::List(tree))) => Some(tree.to_string()),
        None => signatures.constant_or_capture(name),
    };
    write_frame(binary, fields, value, signatures, "ignore").map(Some)
}

pub fn fits_output(binary: &Binary, frame: &[u8]) -> bool {
    binary.observations.iter().any(|(_, fields)| read_values(fields, frame, &binary.spelling).is_ok())
}

/// Recognizes a frame: as an output, as one that is ignored, or as unmatched.
///
/// # Errors
/// [`Failure::Garbage`]: a number is too long, or the frame is unmatched and the description makes that an
/// error. [`Failure::Untranslatable`]: the answer to an ignored frame cannot be written.
pub fn read_frame(binary: &Binary, frame: &[u8], signatures: &mut Signatures) -> Result<Recognized, Failure> {
    // The output that fits furthest has so many fields that fit, and this reason why not more.
    let (mut most_fitting, mut closest) = (0, String::new());
    for (action, fields) in &binary.observations {
        let (fitting, why) = match read_values(fields, frame, &binary.spelling) {
            Ok(values) => return make_output(action, values, binary, signatures).map(Recognized::Received),
            // A wrong count or checksum says more than a field that does not fit.
            Err(FrameMisfit::Wrong(reason)) => (usize::MAX, format!(": as `{action}`, {reason}")),
            Err(FrameMisfit::After(fitting)) if fitting == fields.len() => {
                (fitting, format!("\nthe closest is `{action}`: there are bytes after its fields"))
            }
            Err(FrameMisfit::After(fitting)) => {
                let name = fields[fitting].name().map_or(String::new(), |name| format!(", `{name}`,"));
                let number = fitting + 1;
                (fitting, format!("\nthe closest is `{action}`: its field {number}{name} does not fit"))
            }
        };
        if fitting > most_fitting {
            (most_fitting, closest) = (fitting, why);
        }
    }
    if let Some(answer) = answer_ignored(binary, frame, signatures)? {
        return Ok(Recognized::Ignored(answer));
    }
    let text = format!("the frame `{}`, which no fields fit{closest}", shortened(&hex(frame)));
    match binary.unmatched {
        Unmatched::Fail => Ok(Recognized::Received(Received::Alien(text))),
        Unmatched::Error => Err(Failure::Garbage(text)),
        Unmatched::Ignore => Ok(Recognized::Ignored(Vec::new())),
    }
}

/// Reads the values of the fields, if they are the whole frame.
fn read_values<'f>(
    fields: &'f [Field],
    frame: &[u8],
    spelling: &Spelling,
) -> Result<FoundValues<'f>, FrameMisfit> {
    let mut found = FoundValues::new();
    let rest = fields::read_fields(fields, frame, spelling, &mut found)?;
    if rest.is_empty() { Ok(found) } else { Err(FrameMisfit::After(fields.len())) }
}

/// Makes the output of these values. Lists become JSON of the parameters' types.
fn make_output(
    action: &str,
    mut values: FoundValues<'_>,
    binary: &Binary,
    signatures: &mut Signatures,
) -> Result<Received, Failure> {
    let parameters = signatures.parameters(action);
    let mut wires = Vec::new();
    for (name, content) in &mut values {
        let datum = parameters.iter().find(|datum| datum.name() == *name);
        if let (Content::List(tree), Some(datum)) = (&mut *content, datum) {
            *tree = typed_tree(std::mem::replace(tree, Tree::Null), datum.ty());
        }
        wires.push(match content {
            Content::Text(text) => (*name, Wire::Text(text)),
            Content::List(tree) => (*name, Wire::Json(tree)),
        });
    }
    signatures.capturing_output(action, &wires, &binary.spelling)
}

/// Turns texts into the JSON of a type: those of numbers and truth values are no texts there.
fn typed_tree(tree: Tree, ty: &Type) -> Tree {
    match (tree, ty) {
        (Tree::Text(text), Type::Bool) if text == "true" || text == "false" => Tree::Bool(text == "true"),
        (Tree::Text(text), Type::Int | Type::Nat | Type::Range(..) | Type::Real) => Tree::Number(text),
        (Tree::List(elements), Type::Record(list)) if list.form == RecordForm::List => {
            // The first field of a list is the number of its elements.
            let element = list.fields.get(1).map(|(_, ty)| ty);
            let typed = |tree| element.map_or(Tree::Null, |ty| typed_tree(tree, ty));
            Tree::List(elements.into_iter().map(typed).collect())
        }
        (Tree::Object(members), Type::Record(record)) => {
            let type_of =
                |name: &str| record.fields.iter().find(|(field, _)| field == name).map(|(_, ty)| ty);
            let typed = |(name, tree): (String, Tree)| match type_of(&name) {
                Some(ty) => (name, typed_tree(tree, ty)),
                None => (name, tree),
            };
            Tree::Object(members.into_iter().map(typed).collect())
        }
        // A record whose only field is called `element` was read as the value of this field.
        (part, Type::Record(record)) if record.form == RecordForm::Plain => {
            let field = record.fields.iter().map(|(name, ty)| (name.clone(), typed_tree(part.clone(), ty)));
            Tree::Object(field.take(1).collect())
        }
        (tree, _) => tree,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use coreach_model::Value;
    use coreach_model::reader::{from_bytes, read_specification};

    use super::*;
    use crate::adapter::Session;
    use crate::cut::Cut;
    use crate::description::{BitField, ByteForm, Extent, FieldNumber, Spelling, Spelt};
    use crate::encoding::unhex;
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
        Field::Integer(WireInteger::named(name).unwrap(), FieldNumber::Named(of.to_owned()))
    }

    fn bits(op: &str) -> Field {
        let part = |width, content| BitField { width, content };
        Field::Bits(vec![
            part(1, FieldNumber::Fixed(1)),
            part(4, FieldNumber::Named(op.to_owned())),
            part(11, FieldNumber::Fixed(0x103)),
        ])
    }

    fn binary() -> Binary {
        let name = |extent, form| Field::Bytes { extent, form, name: Some("name".to_owned()) };
        let fields = vec![
            integer("u16", "id"),
            bits("op"),
            Field::Fixed(vec![0xc0, 0x0c]),
            name(Extent::Until(vec![0]), ByteForm::Bytes),
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
        match read_frame(&binary(), frame, &mut signatures()) {
            Ok(Recognized::Received(Received::Output(event))) => event.to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn fields_are_written_where_they_stand() {
        let sent = write_stimulus(&binary(), &ask(0x1234, 2, -2), &signatures()).unwrap();
        assert_eq!(hex(&sent), "12349103c00c0377777700feffff");
        assert_eq!(read(&sent), "Answer(4660, 2, WWW, -2)");
    }

    #[test]
    fn what_does_not_fit_is_not_sent() {
        for (id, op, low) in [(65_536, 0, 0), (-1, 0, 0), (0, 16, 0), (0, -1, 0), (0, 0, 1 << 23)] {
            let sent = write_stimulus(&binary(), &ask(id, op, low), &signatures());
            assert!(matches!(sent, Err(Failure::Untranslatable(_))), "{sent:?}");
        }
        assert!(write_stimulus(&binary(), &ask(65_535, 15, -(1 << 23)), &signatures()).is_ok());
    }

    #[test]
    fn a_frame_is_an_output_by_every_byte_of_it_or_none() {
        assert_eq!(read(&[7, 5]), "Short(5)");
        let alien =
            |frame: &[u8]| format!("Ok(Received(Alien(\"the frame `{}`, which no fields fit", hex(frame));
        for frame in [&[][..], &[7], &[7, 5, 0], &[8, 5]] {
            assert!(read(frame).starts_with(&alien(frame)), "{}", read(frame));
        }
        // A number that the model does not have, and a name that `values` does not have.
        assert!(read(&[7, 0xff]).contains("`Short` with a wrong `id`"));
        let sent = write_stimulus(&binary(), &ask(1, 2, 3), &signatures()).unwrap();
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
    fn hexadecimal_digits() {
        assert_eq!(unhex("00 fF"), Some(vec![0, 255]));
        assert_eq!(unhex(""), Some(Vec::new()));
        for text in ["0", "0g", "0x00", "٣٣", "-1", "+1"] {
            assert_eq!(unhex(text), None, "{text}");
        }
    }
}
