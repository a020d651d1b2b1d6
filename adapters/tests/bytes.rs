//! Bytes as data over HTTP: each of the 256 goes in a body and comes back, from a server that repeats them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use coreach_adapters::description::{AnswerPlace, Extract, Http, Request, Response, Spelling, Unmatched};
use coreach_adapters::encoding::from_latin1;
use coreach_adapters::evidence::LogLimits;
use coreach_adapters::http::HttpAdapter;
use coreach_adapters::template::Template;
use coreach_adapters::{Adapter, Failure, Received, Session};
use coreach_model::Value;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::Event;

const MODEL: &str = "iosts: m\ninitial: { location: A }\ninputs: { Put: { t: string } }\n\
                     outputs: { Got: { t: string } }\ntransitions: [{ from: A, to: A, on: Put }]\n";

/// Soundness: every byte in a body is the character of its number, in both directions; nothing else is sent.
#[test]
fn every_byte_goes_over_a_body_and_comes_back() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.extend(byte);
        }
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        let (_, length) = head.split_once("content-length: ").unwrap();
        let mut body = vec![0; length.lines().next().unwrap().parse().unwrap()];
        stream.read_exact(&mut body).unwrap();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(&[head.as_bytes(), &body].concat()).unwrap();
        body
    });
    let request = Request {
        method: "POST".to_owned(),
        path: Template::fixed("/"),
        body: Some(Template::parse_body("{t}").unwrap()),
        is_latin1: true,
        headers: Vec::new(),
    };
    let values = vec![("t".to_owned(), AnswerPlace { source: Extract::BodyInLatin1, pattern: None })];
    let http = Http {
        base: Template::fixed(&format!("http://127.0.0.1:{port}")),
        launch: None,
        tls: None,
        reset: Vec::new(),
        headers: Vec::new(),
        stimuli: vec![("Put".to_owned(), request)],
        observations: vec![("Got".to_owned(), Response { status: 200, values, ..Response::default() })],
        captures: Vec::new(),
        spelling: Spelling::default(),
        unmatched: Unmatched::Fail,
        settle: Default::default(),
        places: Default::default(),
    };
    let iosts = read_specification(from_bytes("m".to_owned(), MODEL.into()).unwrap()).unwrap().0.iosts;
    let mut adapter = HttpAdapter::new(http, LogLimits::default());
    let deadline = Instant::now() + Duration::from_secs(20);
    adapter.start(&Session { iosts: &iosts, constants: &[], seed: 1, deadline }).unwrap();
    let failed = adapter.send(&Event::new("Put", [Value::string("\u{100}")]));
    assert!(matches!(failed, Err(Failure::Untranslatable(_))), "{failed:?}");
    let bytes: Vec<u8> = (0..=255).rev().collect();
    adapter.send(&Event::new("Put", [Value::string(&from_latin1(&bytes))])).unwrap();
    let got = Event::new("Got", [Value::string(&from_latin1(&bytes))]);
    assert_eq!(adapter.receive(deadline), Ok(Received::Output(got)));
    adapter.stop();
    assert_eq!(server.join().unwrap(), bytes);
}
