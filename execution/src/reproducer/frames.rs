//! What the script has to know of frames of bytes: how they are told apart, and the fields of each output.

use coreach_adapters::cut::{Cut, Length};
use coreach_adapters::description::{BitContent, Bits, Extent, Field};
use coreach_adapters::integer::WireInteger;

use super::python::{bytes, dictionary, text};
use super::words::Filling;

/// How frames are told apart.
pub fn cut(cut: &Cut) -> String {
    match cut {
        // A line is what ends with its sign, and nothing else is taken away here.
        Cut::Lines => format!("(\"delimiter\", {})", bytes(b"\n")),
        Cut::Delimiter(delimiter) => format!("(\"delimiter\", {})", bytes(delimiter)),
        Cut::Fixed(size) => format!("(\"fixed\", {size})"),
        Cut::Datagrams => "(\"datagrams\", None)".to_owned(),
        Cut::Length(Length { integer: width, at, is_of_all }) => {
            format!("(\"length\", ({}, {at}, {}))", integer(*width), truth(*is_of_all))
        }
    }
}

/// The fields of a frame: of each its kind, what is to be known of it, and its name.
pub fn fields(fields: &[Field]) -> String {
    let one = |field: &Field| match field {
        Field::Fixed(fixed) => format!("(\"fixed\", {}, None)", bytes(fixed)),
        Field::Integer(width, name) => {
            format!("(\"number\", {}, {})", integer(*width), named(name.as_deref()))
        }
        Field::Bytes { extent: size, is_text, name } => {
            let kind = if *is_text { "text" } else { "bytes" };
            format!("(\"{kind}\", {}, {})", extent(size), named(name.as_deref()))
        }
        Field::Bits(parts) => {
            let parts: Vec<String> = parts.iter().map(part).collect();
            format!("(\"bits\", [{}], None)", parts.join(", "))
        }
    };
    format!("[{}]", fields.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// What is sent for these fields, with these expressions of their values.
pub fn written(of: &[Field], values: &[(&str, Filling)]) -> String {
    let values = values.iter().map(|(name, value)| match value {
        Filling::Known(known) => (*name, text(known)),
        Filling::Run(run) => (*name, run.clone()),
    });
    format!("framed(written({}, {}))", fields(of), dictionary(values))
}

/// What fills these fields.
///
/// # Errors
/// The name of one for which there is nothing.
pub fn values<'f>(
    fields: &'f [Field],
    value: impl Fn(&str) -> Option<Filling>,
) -> Result<Vec<(&'f str, Filling)>, String> {
    let one = |name: &'f str| Ok((name, value(name).ok_or_else(|| name.to_owned())?));
    names(fields).into_iter().map(one).collect()
}

/// The names in the fields.
pub fn names(fields: &[Field]) -> Vec<&str> {
    let mut names = Vec::new();
    for field in fields {
        match field {
            Field::Fixed(_) => {}
            Field::Integer(_, name) | Field::Bytes { name, .. } => names.extend(name.as_deref()),
            Field::Bits(parts) => names.extend(parts.iter().filter_map(|part| match &part.content {
                BitContent::Named(name) => Some(name.as_str()),
                BitContent::Fixed(_) | BitContent::Any => None,
            })),
        }
    }
    names
}

fn part(Bits { width, content }: &Bits) -> String {
    match content {
        BitContent::Fixed(number) => format!("({width}, {number}, None)"),
        BitContent::Named(name) => format!("({width}, None, {})", text(name)),
        BitContent::Any => format!("({width}, None, None)"),
    }
}

fn extent(extent: &Extent) -> String {
    match extent {
        Extent::Size(size) => format!("(\"size\", {size})"),
        Extent::Length(width) => format!("(\"length\", {})", integer(*width)),
        Extent::Until(end) => format!("(\"until\", {})", bytes(end)),
        Extent::Rest => "(\"rest\", None)".to_owned(),
    }
}

fn integer(WireInteger { width, is_signed, is_little }: WireInteger) -> String {
    let order = if is_little { "little" } else { "big" };
    format!("({width}, \"{order}\", {})", truth(is_signed))
}

fn named(name: Option<&str>) -> String {
    name.map_or("None".to_owned(), text)
}

fn truth(truth: bool) -> &'static str {
    if truth { "True" } else { "False" }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use coreach_adapters::Received;
    use coreach_adapters::binary::output;
    use coreach_adapters::cut::Inbox;
    use coreach_adapters::description::{Binary, Encoding, Ignored, Spelling, Stdio, Transport, Unmatched};
    use coreach_adapters::lines::Recognized;
    use coreach_model::random::Random;

    use super::*;
    use crate::reproducer::observations::constants;
    use crate::reproducer::observations::tests::{SHOW, iut, python, sent, shown, signatures};
    use crate::reproducer::{COMMON, FRAMES, IMPORTS, WIRE};

    fn number(width: &str, name: Option<&str>) -> Field {
        Field::Integer(WireInteger::named(width).unwrap(), name.map(str::to_owned))
    }

    fn part(extent: Extent, is_text: bool, name: Option<&str>) -> Field {
        Field::Bytes { extent, is_text, name: name.map(str::to_owned) }
    }

    fn binary(cut: Cut, unmatched: Unmatched) -> Binary {
        let bit = |width, content| Bits { width, content };
        let length = |width: &str| Extent::Length(WireInteger::named(width).unwrap());
        let name = |name: &str| BitContent::Named(name.to_owned());
        let observations = [
            ("Counted", vec![Field::Fixed(vec![1]), number("i16le", Some("a"))]),
            ("Item", vec![Field::Fixed(vec![2]), number("u24", Some("a")), number("i8", Some("b"))]),
            (
                "Pair",
                vec![Field::Bits(vec![
                    bit(3, name("a")),
                    bit(4, BitContent::Any),
                    bit(8, name("b")),
                    bit(1, BitContent::Fixed(1)),
                ])],
            ),
            ("Told", vec![part(length("i8"), false, None), part(Extent::Until(vec![3, 3]), true, None)]),
            ("Told", vec![number("u16le", None), part(Extent::Size(2), false, None), Field::Fixed(vec![0])]),
            (
                "Told",
                vec![part(length("u16"), true, None), Field::Fixed(vec![4]), part(Extent::Rest, true, None)],
            ),
        ];
        let observations = observations.map(|(name, fields)| (name.to_owned(), fields)).to_vec();
        let (reset, stimuli, captures, spelling) = (Vec::new(), Vec::new(), Vec::new(), Spelling::default());
        let ignored = vec![
            Ignored { pattern: vec![Field::Fixed(vec![4, 4])], answer: None },
            Ignored {
                pattern: vec![Field::Fixed(vec![0]), number("u8", Some("a"))],
                answer: Some(vec![Field::Fixed(vec![9]), number("u16", Some("a"))]),
            },
        ];
        Binary { cut, reset, stimuli, observations, ignored, captures, spelling, unmatched }
    }

    #[test]
    fn a_script_reads_frames_as_the_adapter_does() {
        let length = |width: &str, at, is_of_all| {
            Cut::Length(Length { integer: WireInteger::named(width).unwrap(), at, is_of_all })
        };
        let cuts = [
            Cut::Lines,
            Cut::Delimiter(vec![3, 3, 4]),
            Cut::Fixed(4),
            length("u8", 0, false),
            length("u16le", 1, true),
            length("i16", 2, false),
        ];
        let mut random = Random::new(5);
        let (mut outputs, mut aliens, mut wrong, mut answers) = (0, 0, 0, 0);
        for (round, cut) in cuts.iter().cycle().take(18).enumerate() {
            let unmatched = if round % 4 == 0 { Unmatched::Ignore } else { Unmatched::Fail };
            let binary = binary(cut.clone(), unmatched);
            let mut wire = Vec::new();
            for _ in 0..200 {
                let frame: Vec<u8> = (0..2 + random.below(4))
                    .map(|_| [0, 1, 2, 3, 4, 10, 0xc3, 0xa9, 0xff, 3][random.below(10)])
                    .collect();
                wire.extend(cut.framed(frame).unwrap_or_default());
                if *cut == Cut::Lines {
                    wire.push(10);
                }
            }
            // A length that counts itself, and is less than that.
            wire.extend([1, 0, 0, 7]);
            let mut inbox = Inbox::new(cut.clone());
            inbox.space().unwrap().extend_from_slice(&wire);
            inbox.came(wire.len());
            let (mut signatures, mut expected) = (signatures(), Vec::new());
            loop {
                match inbox.frame() {
                    Ok(None) => break,
                    Err(_) => {
                        expected.push("garbage ".to_owned() + &coreach_adapters::encoding::hex(inbox.rest()));
                        wrong += 1;
                        break;
                    }
                    Ok(Some(frame)) => {
                        let frame = inbox.bytes(frame).to_vec();
                        let received = match output(&binary, &frame, &mut signatures).unwrap() {
                            Recognized::Received(received) => received,
                            Recognized::Ignored(answer) if answer.is_empty() => continue,
                            Recognized::Ignored(mut answer) => {
                                answers += 1;
                                answer.extend((*cut == Cut::Lines).then_some(b'\n'));
                                expected.push(sent(&answer));
                                continue;
                            }
                            Recognized::More => panic!("a frame is whole"),
                        };
                        *(if matches!(received, Received::Alien(_)) { &mut aliens } else { &mut outputs }) +=
                            1;
                        expected.push(shown(&received, &frame));
                    }
                }
            }
            let encoding = Encoding::Binary(binary);
            let way = Transport::Stdio(Stdio { encoding, ..crate::reproducer::observations::tests::stdio() });
            let main = format!(
                "it = It()\nit.send = lambda data: print('-> ' + data.hex())\nit.more = lambda until: False\nit.buffer = {}\ncame = it.next(0)\nwhile came.kind != 'silence':\n    print(show(came))\n    if came.kind == 'garbage':\n        break\n    came = it.next(0)\n",
                bytes(&wire)
            );
            let printed = python(&[
                IMPORTS,
                "TLS = None\n",
                &constants(&iut(way), &signatures).unwrap(),
                COMMON,
                WIRE,
                FRAMES,
                SHOW,
                &main,
            ]);
            assert_eq!(printed.lines().collect::<Vec<_>>(), expected, "{cut:?}");
        }
        let counts = [outputs, aliens, wrong, answers];
        assert!(outputs > 100 && aliens > 100 && wrong > 0 && answers > 20, "{counts:?}");
    }
}
