//! Answers byte by byte: what one reader of HTTP takes for one body and another for another is garbage, never
//! an event.
//!
//! Each answer stands beside what comes of it. The good ones show that the bad ones are refused for what is
//! wrong with them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use coreach_adapters::description::{AnswerPlace, Http, Request, Response, Spelling, Unmatched};
use coreach_adapters::evidence::LogLimits;
use coreach_adapters::http::HttpAdapter;
use coreach_adapters::template::Template;
use coreach_adapters::{Adapter, Failure, Received, Session};
use coreach_model::Value;
use coreach_model::semantics::Event;

use crate::coffee_machine;

/// What comes of an answer; the server closes the connection behind it.
fn received(answer: &[u8]) -> Result<Received, Failure> {
    exchanged("GET", None, answer).1
}

/// The head of a request as it is sent, and what comes of the answer to it.
fn exchanged(method: &str, body: Option<&str>, answer: &[u8]) -> (String, Result<Received, Failure>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let template = |text: &str| Template::parse(text).unwrap();
    let request = |path: &str| Request {
        is_latin1: false,
        method: method.to_owned(),
        path: template(path),
        body: body.map(|body| Template::parse_body(body).unwrap()),
        headers: Vec::new(),
    };
    let values = vec![("pRemainingValue".to_owned(), AnswerPlace::pointer("/n"))];
    let response = Response { status: 200, values, ..Response::default() };
    let values = vec![("pRemainingValue".to_owned(), AnswerPlace::pointer("/data/n"))];
    let created = Response { status: 201, values, ..Response::default() };
    let http = Http {
        base: template(&format!("http://127.0.0.1:{port}")),
        launch: None,
        tls: None,
        reset: Vec::new(),
        headers: Vec::new(),
        stimuli: vec![("Coin".to_owned(), request("/{pCoinValue}"))],
        observations: vec![("Return".to_owned(), response), ("Return".to_owned(), created)],
        captures: Vec::new(),
        spelling: Spelling::default(),
        unmatched: Unmatched::Fail,
        settle: Default::default(),
        places: Default::default(),
    };
    let answer = answer.to_vec();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            request.extend(byte);
        }
        // One who refuses hangs up.
        let _ = stream.write_all(&answer);
        String::from_utf8(request).unwrap()
    });
    let iosts = coffee_machine();
    let mut adapter = HttpAdapter::new(http, LogLimits::default());
    let deadline = Instant::now() + Duration::from_secs(20);
    adapter.start(&Session { iosts: &iosts, constants: &[], seed: 1, deadline }).unwrap();
    adapter.send(&Event::new("Coin", vec![Value::int(1)])).unwrap();
    let received = adapter.receive(deadline);
    adapter.stop();
    (server.join().unwrap(), received)
}

/// A body has a length, be it 0: servers need not read chunks. A method that has none by itself says nothing.
#[test]
fn an_empty_body_is_sent_with_its_length() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"n\":1}";
    for (method, body, length) in [
        ("GET", None, None),
        ("DELETE", None, None),
        ("HEAD", None, None),
        ("OPTIONS", None, None),
        ("PROPFIND", None, None),
        ("POST", None, Some(0)),
        ("PUT", None, Some(0)),
        ("PATCH", None, Some(0)),
        ("GET", Some(""), Some(0)),
        ("DELETE", Some(""), Some(0)),
        ("PROPFIND", Some(""), Some(0)),
        ("POST", Some(""), Some(0)),
        ("PUT", Some(""), Some(0)),
        ("PATCH", Some(""), Some(0)),
        ("PUT", Some("a"), Some(1)),
        ("DELETE", Some("a"), Some(1)),
    ] {
        let (head, _) = exchanged(method, body, answer);
        let head = head.to_lowercase();
        assert!(!head.contains("transfer-encoding"), "{method} {body:?}: {head}");
        let lines: Vec<&str> = head.lines().filter(|line| line.starts_with("content-length")).collect();
        let expected: Vec<String> =
            length.map(|length| format!("content-length: {length}")).into_iter().collect();
        assert_eq!(lines, expected, "{method} {body:?}: {head}");
    }
}

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

#[test]
fn an_answer_that_says_one_thing_is_an_event() {
    let event = Ok(Received::Output(Event::new("Return", vec![Value::int(17)])));
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"n\":17}".to_owned(),
        "HTTP/1.0 200 OK\r\n\r\n{\"n\":17}".to_owned(),
        format!("{CHUNKED}8\r\n{{\"n\":17}}\r\n0\r\n\r\n"),
        format!("{CHUNKED}2\r\n{{\"\r\n06;x=y\r\nn\":17}}\r\n00\r\nX: y\r\n\r\n"),
    ] {
        assert_eq!(received(answer.as_bytes()), event, "{answer:?}");
    }
}

#[test]
fn an_answer_that_says_two_things_is_garbage() {
    let with = |head: &str, body: &str| format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}");
    let chunk = "8\r\n{\"n\":17}\r\n0\r\n\r\n";
    for answer in [
        // Seventeen bytes, eleven, or none.
        format!("{CHUNKED}+11\r\n{{\"n\":17}}         \r\n0\r\n\r\n"),
        format!("{CHUNKED} 8\r\n{{\"n\":17}}\r\n0\r\n\r\n"),
        format!("{CHUNKED}8 \r\n{{\"n\":17}}\r\n0\r\n\r\n"),
        with("Content-Length: 8\r\nTransfer-Encoding: chunked", chunk),
        with("Transfer-Encoding: chunked\r\nContent-Length: 8", chunk),
        with("Transfer-Encoding: gzip, chunked", chunk),
        with("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", chunk),
        with("Transfer-Encoding: chunked, identity", chunk),
        with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", chunk),
        with("Transfer-Encoding: xchunked", "{\"n\":17}"),
        with("Transfer-Encoding : chunked", chunk),
        with("X: y\r\n Transfer-Encoding: chunked", chunk),
        with("Content-Length: +8", "{\"n\":17}"),
        with("Content-Length: 8\r\nContent-Length: 9", "{\"n\":17} "),
        with("Content-Length: 8, 9", "{\"n\":17} "),
        format!("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}"),
        format!("{CHUNKED}7\r\n{{\"n\":17}}\r\n0\r\n\r\n"),
    ] {
        let received = received(answer.as_bytes());
        assert!(matches!(received, Err(Failure::Garbage(_))), "{answer:?}: {received:?}");
    }
}

#[test]
fn an_answer_without_its_end_is_no_event() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"n\":17}".to_owned(),
        format!("{CHUNKED}8\r\n{{\"n\":17}}\r\n"),
        format!("{CHUNKED}9\r\n{{\"n\":17}}"),
        "HTTP/1.1 200 OK\r\nContent-Le".to_owned(),
    ] {
        let received = received(answer.as_bytes());
        assert!(received.is_err(), "{answer:?}: {received:?}");
    }
}

/// Each row is the first line of an answer, its body, and the help.
#[test]
fn an_answer_that_fits_nothing_is_told_with_what_helps() {
    let number = r"let the system send JSON in UTF-8, or read a number in the text: `{ body: true, match: '";
    for (status, body, help) in [
        (
            "200 OK",
            "\u{feff}{\"n\": 17}",
            "it begins with a byte order mark: let the system write UTF-8 without it",
        ),
        ("200 OK", "n is 17", number),
        (
            "200 OK",
            "{\"data\": {\"n\": 17}}",
            "did you mean `/data/n`? Perhaps each pointer must begin with `/data`",
        ),
        (
            "403 Forbidden",
            "{\"detail\": \"missing API key\"}",
            "write `headers: { X-Api-Key: ... }` under `http`",
        ),
        ("403 Forbidden", "{\"detail\": \"who?\"}", "write `headers: { Authorization: ... }` under `http`"),
    ] {
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let Ok(Received::Alien(text)) = received(answer.as_bytes()) else { panic!("{body}: no alien") };
        assert!(text.contains(help) && text.matches("help: ").count() == 1, "{text}");
    }
}
