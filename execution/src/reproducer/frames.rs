//! What the script has to know of frames of bytes: how they are told apart, and the fields of each output.

use coreach_adapters::cut::{Cut, Length};
use coreach_adapters::description::{
    Bits, Counting, Encoding, Extent, Field, FieldNumber, Spelling, Transport,
};
use coreach_adapters::fields::ELEMENT;
use coreach_adapters::integer::WireInteger;
use serde_json::Value as Json;

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
        Field::Integer(width, content) => {
            format!("(\"number\", ({}, {}), None)", integer(*width), number(content))
        }
        Field::Bytes { extent: size, form, name } => {
            format!("(\"{}\", {}, {})", form.name(), extent(size), named(name.as_deref()))
        }
        Field::Bits(parts) => {
            let part = |Bits { width, content }: &Bits| format!("({width}, {})", number(content));
            let parts: Vec<String> = parts.iter().map(part).collect();
            format!("(\"bits\", [{}], None)", parts.join(", "))
        }
        Field::Checksum(kind, width, over) => {
            let (start, end) = (over.start, over.end);
            format!("(\"checksum\", (\"{}\", {}, {start}, {end}), None)", kind.name(), integer(*width))
        }
        Field::List { extent: count, of, name } => {
            format!("(\"list\", ({}, {}), {})", extent(count), self::fields(of), named(name.as_deref()))
        }
        Field::Group(size, of) => format!("(\"group\", ({}, {}), None)", extent(size), self::fields(of)),
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
    fn of(number: &FieldNumber) -> Option<&str> {
        match number {
            FieldNumber::Named(name) => Some(name),
            FieldNumber::Fixed(_) | FieldNumber::Any | FieldNumber::Counting(_) => None,
        }
    }
    let mut names: Vec<&str> = Vec::new();
    for field in fields {
        match field {
            Field::Fixed(_) | Field::Checksum(..) => {}
            Field::Integer(_, number) => names.extend(of(number)),
            Field::Bytes { name, .. } | Field::List { name, .. } => names.extend(name.as_deref()),
            Field::Bits(parts) => names.extend(parts.iter().filter_map(|part| of(&part.content))),
            Field::Group(_, fields) => names.extend(self::names(fields)),
        }
    }
    names
}

/// Is this a list of a frame of the output?
pub fn is_list(way: &Transport, action: &str, name: &str) -> bool {
    fn has(fields: &[Field], wanted: &str) -> bool {
        fields.iter().any(|field| match field {
            Field::List { name, .. } => name.as_deref() == Some(wanted),
            Field::Group(_, fields) => has(fields, wanted),
            _ => false,
        })
    }
    let Some(Encoding::Binary(binary)) = way.encoding() else { return false };
    binary.observations.iter().any(|(of, fields)| of == action && has(fields, name))
}

/// A list as it stands in frames: the texts of its elements, or of their parts.
pub fn elements(list: &Json, name: &str, spelling: &Spelling) -> Json {
    let part = |part: &str, value: &Json| {
        let usual = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match (value, spelling.of(&format!("{name}.{part}"))) {
            (Json::Array(_), _) => elements(value, part, spelling),
            (_, Some(spelt)) => spelt.texts(&usual).into_iter().next().map_or(Json::Null, Json::String),
            _ => Json::String(usual),
        }
    };
    let element = |value: &Json| match value {
        Json::Object(members) => match members.get(ELEMENT).filter(|_| members.len() == 1) {
            Some(one) => part(ELEMENT, one),
            None => members.iter().map(|(name, value)| (name.clone(), part(name, value))).collect(),
        },
        scalar => part(ELEMENT, scalar),
    };
    list.as_array().into_iter().flatten().map(element).collect()
}

/// What a number is: fixed, of a name, or of how much of a field at a place there is.
fn number(number: &FieldNumber) -> String {
    match number {
        FieldNumber::Fixed(number) => format!("({number}, None, None)"),
        FieldNumber::Named(name) => format!("(None, {}, None)", text(name)),
        FieldNumber::Any => "(None, None, None)".to_owned(),
        FieldNumber::Counting(Counting { of, is_elements, plus }) => {
            format!("(None, None, ({of}, {}, {plus}))", truth(*is_elements))
        }
    }
}

fn extent(extent: &Extent) -> String {
    match extent {
        Extent::Size(size) => format!("(\"size\", {size})"),
        Extent::Length(width) => format!("(\"length\", {})", integer(*width)),
        Extent::Count(width) => format!("(\"count\", {})", integer(*width)),
        Extent::Until(end) => format!("(\"until\", {})", bytes(end)),
        Extent::Rest => "(\"rest\", None)".to_owned(),
        Extent::Told => "(\"told\", None)".to_owned(),
    }
}

/// How many bytes, their order, and whether the number may be below 0; none where it is as long as it needs.
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
    use coreach_adapters::description::{Binary, ByteForm, Checksum, Ignored, Stdio, Unmatched};
    use coreach_adapters::fields::Content;
    use coreach_adapters::lines::Recognized;
    use coreach_model::random::Random;

    use super::*;
    use crate::reproducer::observations::constants;
    use crate::reproducer::observations::tests::{SHOW, iut, python, sent, shown, signatures};
    use crate::reproducer::{COMMON, FRAMES, IMPORTS, WIRE};

    fn number(width: &str, name: Option<&str>) -> Field {
        {
            let name = name.map_or(FieldNumber::Any, |name| FieldNumber::Named(name.to_owned()));
            Field::Integer(WireInteger::named(width).unwrap(), name)
        }
    }

    fn part(extent: Extent, is_text: bool, name: Option<&str>) -> Field {
        let form = if is_text { ByteForm::Text } else { ByteForm::Bytes };
        Field::Bytes { extent, form, name: name.map(str::to_owned) }
    }

    fn binary(cut: Cut, unmatched: Unmatched) -> Binary {
        let bit = |width, content| Bits { width, content };
        let length = |width: &str| Extent::Length(WireInteger::named(width).unwrap());
        let name = |name: &str| FieldNumber::Named(name.to_owned());
        let observations = [
            ("Counted", vec![Field::Fixed(vec![1]), number("i16le", Some("a"))]),
            ("Item", vec![Field::Fixed(vec![2]), number("u24", Some("a")), number("i8", Some("b"))]),
            (
                "Pair",
                vec![Field::Bits(vec![
                    bit(3, name("a")),
                    bit(4, FieldNumber::Any),
                    bit(8, name("b")),
                    bit(1, FieldNumber::Fixed(1)),
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

    /// Soundness: numbers that count, groups, lists and checksums are the same there as here, right or not.
    #[test]
    fn a_script_knows_what_counts_and_what_checks() {
        let counting = |of, is_elements, plus| FieldNumber::Counting(Counting { of, is_elements, plus });
        let of = |width: &str, content| Field::Integer(WireInteger::named(width).unwrap(), content);
        let sum = |kind, width: &str, over| Field::Checksum(kind, WireInteger::named(width).unwrap(), over);
        let latin1 = |extent| Field::Bytes { extent, form: ByteForm::Latin1, name: Some("t".to_owned()) };
        let bit = |width, content| Bits { width, content };
        let plain = vec![
            Field::Bits(vec![bit(4, FieldNumber::Fixed(5)), bit(4, counting(3, false, 1))]),
            of("varint", counting(4, false, -1)),
            sum(Checksum::Internet, "u16le", 0..5),
            latin1(Extent::Told),
            Field::Group(Extent::Told, vec![number("varint", Some("a")), number("i16", Some("b"))]),
            sum(Checksum::Crc32, "u32", 1..5),
        ];
        let record = vec![
            number("u8", Some("x")),
            part(Extent::Length(WireInteger::named("u8").unwrap()), true, Some("y")),
        ];
        let list = |extent, of| Field::List { extent, of, name: Some("l".to_owned()) };
        let numbers = vec![of("varint", FieldNumber::Named("element".to_owned()))];
        let lists = [
            vec![of("u8", counting(1, true, 2)), list(Extent::Told, record.clone())],
            vec![of("u8", counting(1, false, 0)), list(Extent::Told, numbers.clone())],
            vec![list(Extent::Count(WireInteger::named("varint").unwrap()), numbers)],
            vec![list(Extent::Rest, [record, vec![sum(Checksum::Internet, "u16", 0..2)]].concat())],
        ];
        let spelling = Spelling::default();
        let all: Vec<String> = std::iter::once(&plain).chain(&lists).map(|one| fields(one)).collect();
        let mut program = format!("F = [{}]\n", all.join(", "));
        let (mut random, mut expected, mut fitting) = (Random::new(9), Vec::new(), 0);
        for round in 0..700 {
            let small = |random: &mut Random| [0, 1, 2, 5, 127, 128, 300][random.below(7)].to_string();
            let text: String =
                (0..random.below(4)).map(|_| ['a', '\u{0}', '\u{ff}'][random.below(3)]).collect();
            let values = [("t", text.clone()), ("a", small(&mut random)), ("b", small(&mut random))];
            let all: Vec<String> = (0..random.below(4))
                .map(|_| {
                    if round % 5 == 2 || round % 5 == 3 {
                        small(&mut random)
                    } else {
                        format!("{{\"x\":{},\"y\":\"é\"}}", random.below(256))
                    }
                })
                .collect();
            let value = |name: &str| match values.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => Ok(value.clone()),
                None => Ok(format!("[{}]", all.join(","))),
            };
            let described = if round % 5 == 0 { &plain } else { &lists[round % 5 - 1] };
            let mut frame = coreach_adapters::fields::written(described, &spelling, &value).unwrap();
            if round % 5 == 0 {
                let named = values.iter().map(|(name, value)| (*name, super::text(value)));
                program.push_str(&format!("print('x' + written(F[0], {}).hex())\n", dictionary(named)));
                expected.push(Json::from(format!("x{}", coreach_adapters::encoding::hex(&frame))));
            }
            if random.below(2) == 0 && !frame.is_empty() {
                let at = random.below(frame.len());
                match random.below(3) {
                    0 => frame[at] ^= 1 << random.below(8),
                    1 => drop(frame.remove(at)),
                    _ => frame.insert(at, [0, 1, 0xff][random.below(3)]),
                }
            }
            program.push_str(&format!("print(json.dumps(found(F[{}], {})))\n", round % 5, bytes(&frame)));
            let mut found = Vec::new();
            let rest = coreach_adapters::fields::read(described, &frame, &spelling, &mut found);
            let json = |content: Content| match content {
                Content::Text(text) => Json::String(text),
                Content::List(tree) => serde_json::from_str(&tree.to_string()).unwrap(),
            };
            expected.push(match rest {
                Ok([]) => found.into_iter().map(|(name, content)| (name.to_owned(), json(content))).collect(),
                _ => Json::Null,
            });
            fitting += usize::from(*expected.last().unwrap() != Json::Null);
        }
        let constants = "PATIENCE = 1\nCAPTURES = {}\nON_CLOSE = None\nTLS = None\n";
        let printed = python(&[IMPORTS, constants, COMMON, WIRE, FRAMES, &program]);
        let printed: Vec<Json> = printed
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| Json::from(line)))
            .collect();
        assert_eq!(printed, expected);
        assert!(fitting > 350 && fitting < 650, "{fitting}");
    }
}
