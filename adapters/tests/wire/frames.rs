//! Frames of bytes: random descriptions, and hostile frames of one that has all forms of fields.
//!
//! 1. Whatever is sent is read as the same event, by thousands of random descriptions and values.
//! 2. What is read as an event is the frame that is sent for it, to the byte (but for the second spelling of
//!    an Internet checksum): no two frames are one event.
//! 3. A mutant is the event that [`by_hand`] makes of it, or none: written for this one description, it
//!    shares nothing with the adapter.
//!
//! More mutants than in every run of the tests are tried as [`super`] says, with the name `frames`.

use coreach_adapters::Received;
use coreach_adapters::binary::{read_frame, write_stimulus};
use coreach_adapters::cut::Cut;
use coreach_adapters::description::{
    Binary, BitField, ByteForm, Checksum, Counting, Extent, Field, FieldNumber, Spelling, Spelt, Unmatched,
};
use coreach_adapters::integer::WireInteger;
use coreach_adapters::lines::Recognized;
use coreach_adapters::signature::Signatures;
use coreach_model::json::Tree;
use coreach_model::random::Random;
use coreach_model::semantics::Event;
use coreach_model::{Value, codec};

use super::wires;

const MODEL: &str = "
iosts: frames
types:
  Kind: [A, MX]
  Record: { id: nat, kind: Kind, host: string, on: bool }
locations: [S]
initial: { location: S }
inputs:
  In: &all { n: int, t: string, x: string, b: string, l: 'list[6] of int', r: 'list[6] of Record' }
outputs: { Out: *all }
transitions: [{ from: S, to: S, on: Out }]
";

const PARAMETERS: [&str; 6] = ["n", "t", "x", "b", "l", "r"];

fn spelling() -> Spelling {
    let texts = |pairs: [(&str, &str); 2]| {
        Spelt::Texts(pairs.map(|(wire, usual)| (wire.to_owned(), usual.to_owned())).to_vec())
    };
    Spelling(vec![
        ("r.kind".to_owned(), texts([("1", "A"), ("15", "MX")])),
        ("r.on".to_owned(), texts([("0", "false"), ("1", "true")])),
    ])
}

fn binary(fields: &[Field]) -> Binary {
    Binary {
        cut: Cut::Datagrams,
        reset: Vec::new(),
        stimuli: vec![("In".to_owned(), fields.to_vec())],
        observations: vec![("Out".to_owned(), fields.to_vec())],
        ignored: Vec::new(),
        captures: Vec::new(),
        spelling: spelling(),
        unmatched: Unmatched::Fail,
    }
}

fn number(width: &str, content: FieldNumber) -> Field {
    Field::Integer(WireInteger::named(width).unwrap(), content)
}

fn named(name: &str) -> FieldNumber {
    FieldNumber::Named(name.to_owned())
}

fn bytes(form: ByteForm, name: &str, extent: Extent) -> Field {
    Field::Bytes { extent, form, name: Some(name.to_owned()) }
}

fn bits(parts: Vec<(u32, FieldNumber)>) -> Field {
    Field::Bits(parts.into_iter().map(|(width, content)| BitField { width, content }).collect())
}

fn length(width: &str) -> Extent {
    Extent::Length(WireInteger::named(width).unwrap())
}

/// The event of a frame, or why there is none.
fn read(binary: &Binary, frame: &[u8], signatures: &Signatures) -> Result<Event, String> {
    match read_frame(binary, frame, &mut signatures.clone()) {
        Ok(Recognized::Received(Received::Output(event))) => Ok(event),
        other => Err(format!("{other:?}")),
    }
}

// ---------------------------------------------------------------- random descriptions

/// Fields in the making, with what tells them apart while their places are not known.
enum Draft {
    Field(usize, Field),
    /// How much of another one there is.
    Teller(usize, bool, &'static str, i64),
    Sum(Checksum, &'static str, bool),
}

struct Drawing<'r> {
    random: &'r mut Random,
    next: usize,
}

const WIDTHS: [&str; 7] = ["u16", "u16le", "u24", "u32le", "u64", "varint", "i32"];

impl Drawing<'_> {
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.random.below(from.len())]
    }

    /// Fields that have these parameters, in some order.
    fn fields(&mut self, parameters: &[&str], has_end: bool) -> Vec<Field> {
        let mut drafts = Vec::new();
        for (at, name) in parameters.iter().enumerate() {
            if self.random.below(4) == 0 {
                let fixed = (0..self.random.below(3)).map(|_| self.random.below(256) as u8).collect();
                self.put(&mut drafts, Field::Fixed(fixed));
            }
            // A group of those that follow, the last of which may go up to its end.
            if self.random.below(5) == 0 && at + 1 < parameters.len() {
                let within = self.fields(&parameters[at..], true);
                self.sized(&mut drafts, true, has_end, |extent| Field::Group(extent, within));
                return self.resolved(drafts);
            }
            let is_last = has_end && at + 1 == parameters.len();
            self.parameter(&mut drafts, name, is_last);
        }
        self.resolved(drafts)
    }

    fn put(&mut self, drafts: &mut Vec<Draft>, field: Field) -> usize {
        self.next += 1;
        drafts.push(Draft::Field(self.next, field));
        self.next
    }

    /// A field of bytes, which says how many it has, is told so, or takes what is left.
    fn sized(
        &mut self,
        drafts: &mut Vec<Draft>,
        is_last: bool,
        has_end: bool,
        of: impl FnOnce(Extent) -> Field,
    ) {
        let extent = match self.random.below(4) {
            0 if is_last && has_end => Extent::Rest,
            1 => length(self.pick(&WIDTHS)),
            _ => Extent::Counted,
        };
        let is_told = extent == Extent::Counted;
        let field = of(extent);
        self.counted(drafts, field, is_told, false);
    }

    /// The field, and where it is told how much there is of it a number before.
    fn counted(&mut self, drafts: &mut Vec<Draft>, field: Field, is_told: bool, is_elements: bool) {
        let number = self.put(drafts, field);
        if is_told {
            let at = self.random.below(drafts.len());
            let (width, plus) = (self.pick(&WIDTHS), self.random.below(7) as i64);
            drafts.insert(at, Draft::Teller(number, is_elements, width, plus));
        }
    }

    fn parameter(&mut self, drafts: &mut Vec<Draft>, name: &str, is_last: bool) {
        match name {
            "n" if self.random.below(2) == 0 => {
                let spare =
                    if self.random.below(2) == 0 { FieldNumber::Fixed(5) } else { FieldNumber::Fixed(0) };
                self.put(drafts, bits(vec![(3, spare), (13, named(name))]));
            }
            "n" => {
                let width = self.pick(&["i16", "i24le", "i40", "i64", "u8", "varint"]);
                self.put(drafts, number(width, named(name)));
            }
            "l" | "r" => {
                let element = match name {
                    "l" => {
                        let width = self.pick(&["u8", "i16le", "i32", "varint"]);
                        vec![number(width, named("element"))]
                    }
                    _ => self.element(),
                };
                let of = |extent| Field::List { extent, of: element, name: Some(name.to_owned()) };
                match self.random.below(3) {
                    0 => {
                        let count = Extent::Count(WireInteger::named(self.pick(&WIDTHS)).unwrap());
                        self.put(drafts, of(count));
                    }
                    1 => self.counted(drafts, of(Extent::Counted), true, true),
                    _ => self.sized(drafts, true, is_last, of),
                }
            }
            _ => {
                let form = match name {
                    "t" => ByteForm::Text,
                    "x" => ByteForm::Bytes,
                    _ => ByteForm::Latin1,
                };
                match self.random.below(4) {
                    0 => {
                        let end = [&[0][..], &[1, 2], &[0xff]][self.random.below(3)].to_vec();
                        self.put(drafts, bytes(form, name, Extent::Until(end)));
                    }
                    _ => self.sized(drafts, true, is_last, |extent| bytes(form, name, extent)),
                }
            }
        }
    }

    /// The fields of a record: some in a group, with a checksum now and then.
    fn element(&mut self) -> Vec<Field> {
        let host = bytes(ByteForm::Text, "host", length("u8"));
        let kind = bits(vec![(7, named("kind")), (1, named("on"))]);
        let mut of = vec![number("varint", named("id")), kind];
        match self.random.below(3) {
            0 => of.push(Field::Group(length("u16le"), vec![bytes(ByteForm::Text, "host", Extent::Rest)])),
            1 => {
                let sum = Field::Checksum(Checksum::Internet, WireInteger::named("u16").unwrap(), 0..3);
                of.splice(0..0, [sum]);
                of.push(host);
            }
            _ => of.push(host),
        }
        of
    }

    /// The drafts with their places, and sometimes a checksum of them.
    fn resolved(&mut self, mut drafts: Vec<Draft>) -> Vec<Field> {
        if self.random.below(2) == 0 {
            let at = self.random.below(drafts.len());
            let sum = if self.random.below(2) == 0 {
                Draft::Sum(Checksum::Crc32, self.pick(&["u32", "u32le"]), self.random.below(2) == 0)
            } else {
                Draft::Sum(Checksum::Internet, self.pick(&["u16", "u16le"]), self.random.below(2) == 0)
            };
            drafts.insert(at, sum);
        }
        let place = |wanted: usize| {
            drafts.iter().position(|one| matches!(one, Draft::Field(number, _) if *number == wanted)).unwrap()
        };
        let one = |(at, draft): (usize, &Draft)| match draft {
            Draft::Field(_, field) => field.clone(),
            Draft::Teller(of, is_elements, width, plus) => {
                let counting = Counting { of: place(*of), is_elements: *is_elements, plus: *plus };
                number(width, FieldNumber::Counting(counting))
            }
            Draft::Sum(kind, width, is_all) => {
                let over = if *is_all { 0..drafts.len() } else { at..drafts.len() };
                Field::Checksum(*kind, WireInteger::named(width).unwrap(), over)
            }
        };
        drafts.iter().enumerate().map(one).collect()
    }
}

/// A value of each parameter.
fn event(action: &str, signatures: &Signatures, random: &mut Random) -> Event {
    let text = |random: &mut Random, most: usize| -> String {
        (0..random.below(most))
            .map(|_| ['a', '\0', '\n', 'é', '\u{1}', '\u{2}', '0', 'ÿ', '€'][random.below(9)])
            .collect()
    };
    let any = |random: &mut Random| {
        ["0", "1", "127", "128", "200", "8191", "-1", "-32768", "70000"][random.below(9)].to_owned()
    };
    let values = signatures.action(action).unwrap().parameters.iter().map(|datum| {
        let written = match datum.name() {
            "n" => any(random),
            "t" => text(random, 6),
            "b" => text(random, 6).replace('€', "~"),
            "x" => (0..random.below(4)).map(|_| format!("{:02x}", random.below(256))).collect::<String>(),
            "l" => {
                let all: Vec<String> = (0..random.below(7)).map(|_| any(random)).collect();
                format!("[{}]", all.join(","))
            }
            _ => {
                let one = |random: &mut Random| {
                    let (id, kind) = (random.below(300), ["A", "MX"][random.below(2)]);
                    let (host, on) = (Tree::Text(text(random, 4)), random.below(2) == 0);
                    format!("{{\"id\":{id},\"kind\":\"{kind}\",\"host\":{host},\"on\":{on}}}")
                };
                let all: Vec<String> = (0..random.below(7)).map(|_| one(random)).collect();
                format!("[{}]", all.join(","))
            }
        };
        codec::from_text(&written, datum.ty()).unwrap()
    });
    Event::new(action, values.collect::<Vec<_>>())
}

/// Soundness: what is sent is read as what was meant, and what is read was sent so.
#[test]
fn what_is_sent_is_read_by_any_description() {
    let signatures = wires::signatures(MODEL);
    let mut random = Random::new(11);
    let (mut sent, mut refused, mut mutants, mut others) = (0, 0, 0, 0);
    for round in 0..3000 {
        let mut parameters = PARAMETERS;
        for at in (1..parameters.len()).rev() {
            parameters.swap(at, random.below(at + 1));
        }
        let fields = Drawing { random: &mut random, next: 0 }.fields(&parameters, true);
        let binary = binary(&fields);
        for _ in 0..4 {
            let asked = event("In", &signatures, &mut random);
            let Ok(frame) = write_stimulus(&binary, &asked, &signatures) else {
                refused += 1;
                continue;
            };
            sent += 1;
            let found = read(&binary, &frame, &signatures);
            let meant = Event::new("Out", asked.values.clone());
            assert_eq!(found.as_ref(), Ok(&meant), "{round}: {fields:?}: {frame:02x?}");
            for _ in 0..4 {
                let mut mutant = frame.clone();
                mutate(&mut mutant, &mut random);
                mutants += 1;
                let Ok(found) = read(&binary, &mutant, &signatures) else { continue };
                others += usize::from(found != meant);
                let again =
                    write_stimulus(&binary, &Event::new("In", found.values.clone()), &signatures).unwrap();
                let is_second_spelling =
                    |(one, other): (&u8, &u8)| one == other || [*one, *other] == [0, 0xff];
                let is_same =
                    again.len() == mutant.len() && again.iter().zip(&mutant).all(is_second_spelling);
                assert!(is_same, "{fields:?}: {mutant:02x?} is {found}, and that is {again:02x?}");
            }
        }
    }
    assert!(sent > 4000 && refused > 500 && others > 300, "{sent} {refused} {mutants} {others}");
}

// ---------------------------------------------------------------- one description, by hand

/// All forms of fields.
///
/// ```text
/// 0101 ssss     s: the bytes of x
/// cc            the elements of r, and 2
/// ii ii         the Internet checksum of all but the CRC
/// x, r
/// vv            a varint: the bytes of the group, and 1
/// t, 00
/// the group     n (i16le), a byte of b, l (u8 for each element)
/// kk kk kk kk   CRC-32 of x to the group, the least significant byte first
/// ```
fn all_forms() -> Vec<Field> {
    let counting = |of, is_elements, plus| FieldNumber::Counting(Counting { of, is_elements, plus });
    let element = vec![
        number("u16", named("id")),
        bits(vec![(4, named("kind")), (4, named("on"))]),
        bytes(ByteForm::Text, "host", length("u8")),
    ];
    let group = vec![
        number("i16le", named("n")),
        bytes(ByteForm::Latin1, "b", Extent::Size(1)),
        Field::List {
            extent: Extent::Rest,
            of: vec![number("u8", named("element"))],
            name: Some("l".to_owned()),
        },
    ];
    vec![
        bits(vec![(4, FieldNumber::Fixed(5)), (4, counting(3, false, 0))]),
        number("u8", counting(4, true, 2)),
        Field::Checksum(Checksum::Internet, WireInteger::named("u16").unwrap(), 0..8),
        bytes(ByteForm::Bytes, "x", Extent::Counted),
        Field::List { extent: Extent::Counted, of: element, name: Some("r".to_owned()) },
        number("varint", counting(7, false, 1)),
        bytes(ByteForm::Text, "t", Extent::Until(vec![0])),
        Field::Group(Extent::Counted, group),
        Field::Checksum(Checksum::Crc32, WireInteger::named("u32le").unwrap(), 3..8),
    ]
}

/// CRC-32 by long division of the bits, as IEEE 802.3 says it.
fn crc32(bytes: &[u8]) -> u32 {
    let bits = bytes.iter().flat_map(|byte| (0..8).map(move |at| byte >> at & 1));
    let mut remainder = u32::MAX;
    for bit in bits {
        let carry = remainder >> 31 ^ u32::from(bit);
        remainder = remainder << 1 ^ if carry == 1 { 0x04c1_1db7 } else { 0 };
    }
    (!remainder).reverse_bits()
}

/// The sum of RFC 1071 with the checksum in it, which is right if it is all ones.
fn internet(bytes: &[u8]) -> u32 {
    let mut sum = 0;
    for (at, byte) in bytes.iter().enumerate() {
        sum += u32::from(*byte) * if at % 2 == 0 { 256 } else { 1 };
        sum = sum % 0x1_0000 + sum / 0x1_0000;
    }
    sum
}

/// The event of a frame of all forms, as its text.
fn by_hand(frame: &[u8]) -> Option<String> {
    let mut at = 0;
    let mut take = |count: usize| {
        at += count;
        frame.get(at - count..at)
    };
    let head = take(4)?;
    if head[0] >> 4 != 5 {
        return None;
    }
    let x: String = take(usize::from(head[0] & 15))?.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut records = Vec::new();
    for _ in 0..head[1].checked_sub(2)? {
        let [high, low, kind, size] = *take(4)? else { return None };
        let host = String::from_utf8(take(size.into())?.to_vec()).ok()?;
        let kind_name = match kind >> 4 {
            1 => "A",
            15 => "MX",
            _ => return None,
        };
        let on = [false, true].get(usize::from(kind & 15))?;
        records.push(format!(
            "{{\"id\":{},\"kind\":\"{kind_name}\",\"host\":{},\"on\":{on}}}",
            u32::from(high) * 256 + u32::from(low),
            Tree::Text(host)
        ));
    }
    let (mut size, mut weight, mut count) = (0_u64, 1_u64, 0);
    loop {
        let byte = take(1)?[0];
        count += 1;
        if count > 8 || byte == 0 && count > 1 {
            return None;
        }
        size += u64::from(byte % 128) * weight;
        if byte < 128 {
            break;
        }
        weight *= 128;
    }
    let mut t = Vec::new();
    loop {
        match take(1)?[0] {
            0 => break,
            byte => t.push(byte),
        }
    }
    let t = String::from_utf8(t).ok()?;
    let group = take(usize::try_from(size.checked_sub(1)?).ok().filter(|size| *size <= frame.len())?)?;
    let sum = take(4)?;
    if at != frame.len() || group.len() < 3 || records.len() > 6 || group.len() > 9 {
        return None;
    }
    let covered = &frame[4..frame.len() - 4];
    let is_right = crc32(covered) == u32::from_le_bytes([sum[0], sum[1], sum[2], sum[3]]);
    if !is_right || internet(&frame[..frame.len() - 4]) != 0xffff {
        return None;
    }
    let n = i16::from_le_bytes([group[0], group[1]]);
    let b = Tree::Text(char::from(group[2]).to_string());
    let l: Vec<String> = group[3..].iter().map(u8::to_string).collect();
    Some(format!("{n} {} {} {b} [{}] [{}]", Tree::Text(t), Tree::Text(x), l.join(","), records.join(",")))
}

/// An event as [`by_hand`] tells it.
fn told(event: &Event) -> String {
    let one = |value: &Value| codec::to_json(value).to_string();
    event.values.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(5)).min(bytes.len());
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = [0, 1, 2, 0x7f, 0x80, 0xff][random.below(6)],
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            4 => bytes.insert(at, random.below(256) as u8),
            _ => {
                bytes.splice(at..end, [0xff; 4]);
            }
        }
    }
}

/// Makes the checksums right, so that what lies behind them is looked at.
fn correct(frame: &mut [u8]) {
    if frame.len() < 8 {
        return;
    }
    let end = frame.len() - 4;
    let sum = crc32(&frame[4..end]).to_le_bytes();
    frame[end..].copy_from_slice(&sum);
    frame[2..4].fill(0);
    let sum = 0xffff - internet(&frame[..end]);
    frame[2..4].copy_from_slice(&(sum as u16).to_be_bytes());
}

/// Soundness: no frame is an event but by being one, and no event is lost.
#[test]
fn frames() {
    let signatures = wires::signatures(MODEL);
    let binary = binary(&all_forms());
    let mut random = Random::new(13);
    let mut seeds = Vec::new();
    while seeds.len() < 200 {
        let mut asked = event("In", &signatures, &mut random);
        let byte = codec::from_text("\u{ff}", &coreach_model::Type::String).unwrap();
        asked.values[3] = byte;
        let Ok(frame) = write_stimulus(&binary, &asked, &signatures) else { continue };
        assert_eq!(by_hand(&frame).as_deref(), Some(&*told(&asked)), "{frame:02x?}");
        seeds.push(frame);
    }
    let count = super::mutants();
    let mut events = 0;
    for round in 0..count {
        let mut mutant = seeds[random.below(seeds.len())].clone();
        mutate(&mut mutant, &mut random);
        if round % 4 > 0 {
            correct(&mut mutant);
        }
        let found = read(&binary, &mutant, &signatures).ok().map(|event| told(&event));
        let expected = by_hand(&mutant);
        events += usize::from(expected.is_some());
        assert_eq!(found, expected, "{mutant:02x?}");
    }
    println!("frames: {count} mutants, {events} of them events, 0 wrong");
    assert!(events > count / 50, "{events}");
}

/// Soundness: a record of nothing but an `element` is a record.
#[test]
fn a_record_may_have_an_element() {
    let signatures = wires::signatures(
        "iosts: m\ntypes: { One: { element: bool } }\ninitial: { location: S }\ninputs: { In: { l: 'list[2] of One' } }\n\
         outputs: { Out: { l: 'list[2] of One' } }\ntransitions: [{ from: S, to: S, on: Out }]\n",
    );
    let of = vec![number("u8", named("element"))];
    let list = Field::List { extent: Extent::Rest, of, name: Some("l".to_owned()) };
    let texts = [("0", "false"), ("7", "true")].map(|(wire, usual)| (wire.to_owned(), usual.to_owned()));
    let spelling = Spelling(vec![("l.element".to_owned(), Spelt::Texts(texts.to_vec()))]);
    let binary = Binary { spelling, ..binary(&[list]) };
    let ty = signatures.action("In").unwrap().parameters[0].ty().clone();
    let value = codec::from_text(r#"[{"element":true},{"element":false}]"#, &ty).unwrap();
    assert_eq!(write_stimulus(&binary, &Event::new("In", [value.clone()]), &signatures), Ok(vec![7, 0]));
    assert_eq!(read(&binary, &[7, 0], &signatures), Ok(Event::new("Out", [value])));
}

/// Soundness: what a frame says of itself makes no room: a count of 2^32 elements is a number, and the frame
/// no event.
#[test]
fn a_hostile_count_is_not_believed() {
    let signatures = wires::signatures(MODEL);
    let list =
        |extent| Field::List { extent, of: vec![number("u8", named("element"))], name: Some("l".to_owned()) };
    let counting = |is_elements| FieldNumber::Counting(Counting { of: 1, is_elements, plus: 0 });
    let count = |width: &str| Extent::Count(WireInteger::named(width).unwrap());
    let cases = [
        (vec![list(count("u32"))], vec![0xff; 4]),
        (vec![list(count("u64"))], vec![0xff; 20]),
        (vec![list(count("i32"))], vec![0xff; 20]),
        (vec![list(count("varint"))], [&[0xff; 7][..], &[0x7f; 9]].concat()),
        (vec![list(length("u64"))], vec![0xff; 20]),
        (vec![number("u64", counting(true)), list(Extent::Counted)], vec![0xff; 20]),
        (vec![number("u64", counting(false)), list(Extent::Counted)], vec![0xff; 20]),
        // As many as are there, and more than are taken.
        (vec![list(Extent::Rest)], vec![7; 1 << 20]),
        (vec![list(count("u24"))], [&[0x0f, 0xff, 0xf0][..], &vec![7; 0x0f_fff0]].concat()),
    ];
    for (fields, frame) in cases {
        let found = read(&binary(&fields), &frame, &signatures);
        assert!(found.as_ref().is_err_and(|why| why.contains("no fields fit")), "{found:?}");
    }
}
