//! One model on three wires, as the adapters read them: what event a message is. The fuzz target `wire` has
//! this file, too.

use std::time::{Duration, Instant};

use coreach_adapters::description::{AnswerPlace, Http, Lines, Response, Shape, Spelling, Spelt, Unmatched};
use coreach_adapters::encoding::TextEncoding;
use coreach_adapters::json_lines::{Message, read_message};
use coreach_adapters::lines::{PendingLines, Recognized, pattern};
use coreach_adapters::reply::{Reply, translate};
use coreach_adapters::signature::Signatures;
use coreach_adapters::template::Template;
use coreach_adapters::{Received, Session};
use coreach_model::reader::{from_bytes, read_specification};

pub const MODEL: &str = "
iosts: m
types: { Drink: [TEA, COFFEE], Pair: { a: int, d: Drink } }
locations: [A]
initial: { location: A }
inputs: { In: { n: int } }
outputs:
  Out: { n: int, b: bool, r: real }
  Deliver: { d: Drink }
  Both: { p: Pair, s: Drink }
  Cells: { c: \"array[int] of int[0..9]\" }
  None: {}
  Say: { t: string }
  Quote: { q: string }
transitions: [{ from: A, to: A, on: None }]
";

/// The signatures of this model.
pub fn signatures(model: &str) -> Signatures {
    let file = from_bytes("m".to_owned(), model.as_bytes().to_vec()).unwrap();
    let iosts = read_specification(file).unwrap().0.iosts;
    let deadline = Instant::now() + Duration::from_secs(1);
    Signatures::of(&Session { iosts: &iosts, constants: &[], seed: 1, deadline })
}

fn event(received: &Received) -> Option<String> {
    match received {
        Received::Output(event) => Some(event.to_string()),
        _ => None,
    }
}

/// `s` is spelt `tea` and `coffee`, and `q` as a JSON string.
fn spelling() -> Spelling {
    let pairs = [("tea", "TEA"), ("coffee", "COFFEE")];
    let texts = Spelt::Texts(pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec());
    Spelling(vec![("s".to_owned(), texts), ("q".to_owned(), Spelt::Encoded(TextEncoding::Json))])
}

/// The event that a JSON line is.
pub fn json_line(signatures: &Signatures, line: &str) -> Option<String> {
    match read_message(line, signatures) {
        Ok(Message::Output(received)) => event(&received),
        _ => None,
    }
}

/// Lines by patterns.
pub fn lines() -> Lines {
    let one = |text: &str| Shape::fitting([pattern(text).unwrap()]);
    Lines {
        line_ending: "\n".to_owned(),
        reset: Vec::new(),
        stimuli: Vec::new(),
        observations: vec![
            ("Out".to_owned(), one(r"out (?P<n>\S+) (?P<b>\w+) (?P<r>[^ ]+)")),
            ("Both".to_owned(), one(r"both (?P<p>\{.*\}) (?P<s>.*)")),
            ("Deliver".to_owned(), one(r"take (?P<d>.+)")),
            ("Say".to_owned(), one(r"say (?P<t>.*)")),
            ("Quote".to_owned(), one(r"quote (?P<q>.*)")),
        ],
        answers: Vec::new(),
        ignored: Vec::new(),
        captures: Vec::new(),
        spelling: spelling(),
        unmatched: Unmatched::Fail,
    }
}

/// The event that a line is by the patterns.
pub fn pattern_line(lines: &Lines, signatures: &Signatures, line: &str) -> Option<String> {
    let mut pending = PendingLines::default();
    pending.push(line).ok()?;
    match pending.next(lines, &mut signatures.clone()) {
        Ok(Recognized::Received(received)) => event(&received),
        _ => None,
    }
}

/// Answers whose bodies tell the events.
pub fn http() -> Http {
    let response = |values: &[(&str, &str)]| Response {
        status: 200,
        values: values.iter().map(|(name, at)| ((*name).to_owned(), AnswerPlace::pointer(at))).collect(),
        ..Response::default()
    };
    Http {
        base: Template::fixed("http://127.0.0.1:1"),
        launch: None,
        tls: None,
        reset: Vec::new(),
        headers: Vec::new(),
        stimuli: Vec::new(),
        observations: vec![
            ("Out".to_owned(), response(&[("n", "/n"), ("b", "/b/0"), ("r", "/b/1/r")])),
            ("Both".to_owned(), response(&[("p", "/p"), ("s", "/s")])),
            ("Say".to_owned(), response(&[("t", "/t")])),
        ],
        captures: Vec::new(),
        spelling: spelling(),
        unmatched: Unmatched::Fail,
        settle: Default::default(),
        places: Default::default(),
    }
}

/// The event that a body is.
pub fn body(http: &Http, signatures: &Signatures, text: &str) -> Option<String> {
    let reply = Reply { status: 200, body: text.as_bytes().to_vec(), ..Reply::default() };
    translate(&reply, http, signatures).ok()?.iter().find_map(event)
}
