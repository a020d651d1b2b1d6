//! What is captured from answers and sent later, functions in templates, and answers that are told apart by
//! what was asked: over real sockets.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use coreach_adapters::{Adapter, Failure, Received, Session};
use coreach_execution::open;
use coreach_model::codec::from_text;
use coreach_model::iosts::Iosts;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::Event;
use coreach_project::iut;

const MODEL: &str = "
iosts: m
locations: [A]
initial: { location: A }
inputs: { Make: {}, Put: { n: int }, Drop: {} }
outputs: { Made: {}, Written: { v: int }, Dropped: {}, Refused: {} }
transitions: [{ from: A, to: A, on: Make }, { from: A, to: A, on: Put }, { from: A, to: A, on: Drop }]
";

fn model() -> Iosts {
    read_specification(from_bytes("m".to_owned(), MODEL.into()).unwrap()).unwrap().0.iosts
}

fn adapter(text: &str) -> Box<dyn Adapter> {
    let read = iut::read(from_bytes("iut".to_owned(), text.into()).unwrap(), Path::new("."), Some(&model()));
    let (iut, found) = read.unwrap_or_else(|found| panic!("{found:#?}"));
    assert!(found.is_empty(), "{found:#?}");
    open(&iut)
}

fn start(adapter: &mut dyn Adapter) -> Result<(), Failure> {
    let deadline = Instant::now() + Duration::from_secs(20);
    adapter.start(&Session { iosts: &model(), constants: &[], seed: 1, deadline })
}

/// What comes of a stimulus.
fn ask(adapter: &mut dyn Adapter, action: &str, values: &[&str]) -> String {
    let iosts = model();
    let action = iosts.action(iosts.find_action(action).unwrap());
    let read = |(text, datum): (&&str, &coreach_model::Datum)| from_text(text, datum.ty()).unwrap();
    let values: Vec<_> = values.iter().zip(&action.parameters).map(read).collect();
    if let Err(failure) = adapter.send(&Event::new(&*action.name, values)) {
        return failure.to_string();
    }
    match adapter.receive(Instant::now() + Duration::from_secs(5)) {
        Ok(Received::Output(event)) => event.to_string(),
        Ok(other) => format!("{other:?}"),
        Err(failure) => failure.to_string(),
    }
}

/// The heads of the requests that came, each with its body.
type Asked = Arc<Mutex<Vec<String>>>;

/// A server of documents that gives a number to each, and a new tag to each version. Who has no token has no
/// right.
fn documents() -> (SocketAddr, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Asked::default();
    let log = Arc::clone(&asked);
    thread::spawn(move || {
        let (mut made, mut version) = (40, 0);
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                    break;
                }
                if let Some(rest) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = rest.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let request = format!("{head}\n{}", String::from_utf8(body).unwrap());
            let has = |text: &str| request.contains(text);
            let answer = if has("POST /login") {
                "200 OK\r\nSet-Cookie: lang=en\r\nSet-Cookie: sid=S1; Path=/\r\nX-Token: <T7>\r\nContent-Length: 0\r\n\r\n".to_owned()
            } else if !has("Bearer T7") {
                "401 No\r\nContent-Length: 0\r\n\r\n".to_owned()
            } else if has("POST /documents") {
                made += 1;
                version += 1;
                let body = format!("{{\"id\":{made},\"say\":\"a\\\"b\\u00f6\"}}");
                format!("201 Made\r\nETag: \"v{version}\"\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            } else if !has(&format!("/documents/{made} ")) {
                "404 Gone\r\nContent-Length: 0\r\n\r\n".to_owned()
            } else if !has(&format!("if-match: \"v{version}\"")) {
                "412 Stale\r\nContent-Length: 0\r\n\r\n".to_owned()
            } else if has("PUT ") {
                version += 1;
                format!("204 Written\r\nETag: \"v{version}\"\r\nX-Version: {version}\r\n\r\n")
            } else {
                "204 Dropped\r\n\r\n".to_owned()
            };
            log.lock().unwrap().push(request);
            let _ = stream.write_all(format!("HTTP/1.1 {answer}").as_bytes());
        }
    });
    (address, asked)
}

#[test]
fn a_token_a_cookie_a_number_and_a_tag_are_sent_again() {
    let (address, asked) = documents();
    let mut adapter = adapter(&format!(
        "
iut: documents
http:
  base: http://{address}
  reset: [{{ method: POST, path: /login }}, {{ method: GET, path: '/{{session}}', headers: {{ A: '{{token}}' }}, status: 401 }}]
  captures:
    token: {{ header: x-token, match: '<(.*)>' }}
    session: {{ cookie: sid }}
    id: {{ pointer: /id, from: Made, default: no/ne }}
    said: {{ pointer: /say }}
    tag: {{ header: ETag, from: [Made, Written] }}
  stimuli:
    Make: {{ method: POST, path: /documents, headers: {{ Authorization: 'Bearer {{token}}', Cookie: 'sid={{session}}' }} }}
    Put:
      method: PUT
      path: '/documents/{{id}}'
      headers: {{ Authorization: 'Bearer {{token}}', If-Match: '{{tag}}', X-Length: '{{len(n)}}', X-Key: '{{base64(tag)}}' }}
      body: '{{\"n\": {{n}}, \"s\": {{json(said)}}, \"h\": \"{{hex(lower(token))}}\", \"l\": {{len(said)}}, \"o\": {{}}}}'
    Drop: {{ method: DELETE, path: '/documents/{{id}}', headers: {{ Authorization: 'Bearer {{token}}', If-Match: '{{tag}}' }} }}
  observations:
    Made: {{ status: 201 }}
    Written: [ {{ status: 200, values: {{ v: /v }} }}, {{ status: 204, to: Make, values: {{ v: /v }} }} ]
    Dropped: {{ status: 204, to: [Drop] }}
    Refused: [ {{ status: 404 }}, {{ status: 412, to: [Put, Drop] }}, {{ status: 204, to: Put }} ]
"
    ));
    for run in 0..2 {
        start(&mut *adapter).unwrap();
        // Nothing of the run before.
        let missing = "untranslatable: the request for `Put` has `{said}`, which has not been captured in this run, and has no \
                       `default`";
        assert_eq!(ask(&mut *adapter, "Put", &["5"]), missing, "{run}");
        assert_eq!(ask(&mut *adapter, "Make", &[]), "Made()");
        // The answers 204 are told apart by what was asked.
        assert_eq!(ask(&mut *adapter, "Put", &["-12"]), "Refused()");
        // The tag of an answer that is no `Made` and no `Written` is not taken: the document has changed.
        assert_eq!(ask(&mut *adapter, "Drop", &[]), "Refused()");
        adapter.stop();
    }
    let asked = asked.lock().unwrap().clone();
    let of = |what: &str| asked.iter().filter(|one| one.starts_with(what)).cloned().collect::<Vec<_>>();
    let (make, put, drop) = (of("POST /documents "), of("PUT "), of("DELETE "));
    assert!(of("GET /S1 ")[0].contains("a: T7\r\n"), "{asked:#?}");
    assert!(
        make[0].contains("cookie: sid=S1\r\n") && make[0].contains("authorization: Bearer T7\r\n"),
        "{make:#?}"
    );
    assert_eq!((make.len(), put.len(), drop.len()), (2, 2, 2), "{asked:#?}");
    for (run, (id, tag, key)) in [("41", "v1", "InYxIg=="), ("42", "v3", "InYzIg==")].into_iter().enumerate()
    {
        assert!(put[run].starts_with(&format!("PUT /documents/{id} ")), "{put:#?}");
        for header in [format!("if-match: \"{tag}\""), format!("x-key: {key}"), "x-length: 3".to_owned()] {
            assert!(put[run].contains(&format!("{header}\r\n")), "{header}: {put:#?}");
        }
        let body = r#"{"n": -12, "s": "a\"bö", "h": "7437", "l": 5, "o": {}}"#;
        assert!(put[run].ends_with(body), "{put:#?}");
        assert!(drop[run].contains(&format!("if-match: \"{tag}\"\r\n")), "{drop:#?}");
    }
}

#[test]
fn values_stand_in_headers_and_cookies() {
    let (address, _) = documents();
    let mut adapter = adapter(&format!(
        "
iut: documents
http:
  base: http://{address}
  captures: {{ id: {{ pointer: /id }}, tag: {{ header: ETag }} }}
  stimuli:
    Make: {{ method: POST, path: /documents, headers: {{ Authorization: Bearer T7 }} }}
    Put: {{ method: PUT, path: '/documents/{{id}}', headers: {{ Authorization: Bearer T7, If-Match: '{{tag}}' }}, body: '{{n}}' }}
    Drop: {{ method: POST, path: /login }}
  observations:
    Made: {{ status: 201, headers: {{ ETag: '\"v\\d+\"' }} }}
    Written:
      - {{ status: 204, values: {{ v: {{ header: x-version }} }} }}
      - {{ status: 200, headers: {{ X-Token: '<.*>' }}, values: {{ v: {{ cookie: sid, match: 'S(.*)' }} }} }}
    Dropped: {{ status: 599 }}
    Refused: {{ status: 401 }}
"
    ));
    start(&mut *adapter).unwrap();
    assert_eq!(ask(&mut *adapter, "Make", &[]), "Made()");
    assert_eq!(ask(&mut *adapter, "Put", &["5"]), "Written(2)");
    assert_eq!(ask(&mut *adapter, "Put", &["6"]), "Written(3)");
    assert_eq!(ask(&mut *adapter, "Drop", &[]), "Written(1)");
    adapter.stop();
}

#[test]
fn what_is_no_place_of_a_value_is_told() {
    for (place, code) in [
        ("{ header: a b }", "not-a-name"),
        ("{ header: A, cookie: b }", "two-keys"),
        ("{ match: '(.)' }", "missing-key"),
        ("{ body: true }", "missing-key"),
        ("{ header: A, match: '.*' }", "bad-pattern"),
        ("{ header: A, match: '(.' }", "bad-pattern"),
        ("{ header: A, form: Made }", "unknown-key"),
        ("{ pointer: v }", "wrong-value"),
        ("[header, A]", "wrong-kind"),
    ] {
        let text = format!(
            "iut: m\nhttp: {{ base: 'http://h', stimuli: {{ Make: {{ method: GET, path: / }}, Put: {{ method: GET, path: '/{{n}}' }}, \
             Drop: {{ method: GET, path: / }} }}, observations: {{ Made: {{ status: 200, to: Make }}, Written: {{ status: 200, values: {{ v: {place} }} }}, \
             Dropped: {{ status: 201 }}, Refused: {{ status: 202 }} }} }}"
        );
        let read =
            iut::read(from_bytes("iut".to_owned(), text.into()).unwrap(), Path::new("."), Some(&model()));
        let found: Vec<&str> = read.as_ref().unwrap_err().iter().map(|one| one.code).collect();
        assert_eq!(found, [code], "{place}");
    }
}

#[test]
fn a_default_stands_for_what_was_not_captured() {
    let (address, asked) = documents();
    let mut adapter = adapter(&format!(
        "
iut: documents
http:
  base: http://{address}
  captures: {{ id: {{ pointer: /id, default: 'no/ne' }}, tag: {{ header: ETag, default: '' }} }}
  stimuli:
    Make: {{ method: POST, path: /documents, headers: {{ Authorization: Bearer T7 }} }}
    Put: {{ method: PUT, path: '/documents/{{id}}', headers: {{ Authorization: Bearer T7, If-Match: '{{tag}}' }}, body: '{{n}}' }}
    Drop: {{ method: DELETE, path: '/documents/{{id}}', headers: {{ Authorization: Bearer T7, If-Match: '{{tag}}' }} }}
  observations:
    Made: {{ status: 201 }}
    Written: {{ status: 200, values: {{ v: /v }} }}
    Dropped: {{ status: 204 }}
    Refused: {{ status: 404 }}
"
    ));
    for _ in 0..2 {
        start(&mut *adapter).unwrap();
        assert_eq!(ask(&mut *adapter, "Drop", &[]), "Refused()");
        assert!(asked.lock().unwrap().last().unwrap().starts_with("DELETE /documents/no%2Fne "));
        assert_eq!(ask(&mut *adapter, "Make", &[]), "Made()");
        assert_eq!(ask(&mut *adapter, "Drop", &[]), "Dropped()");
        adapter.stop();
    }
}

#[test]
fn what_cannot_be_sent_where_it_is_to_stand_is_not_sent() {
    let (address, asked) = documents();
    let mut adapter = adapter(&format!(
        "
iut: documents
http:
  base: http://{address}
  captures: {{ all: {{ body: true, match: '(?s)(.*)' }} }}
  stimuli:
    Make: {{ method: POST, path: /documents, headers: {{ Authorization: Bearer T7 }} }}
    Put: {{ method: PUT, path: '/{{n}}', headers: {{ A: \"{{all}}\\r\" }} }}
    Drop: {{ method: DELETE, path: / }}
  observations: {{ Made: {{ status: 201 }}, Written: {{ status: 200, values: {{ v: /v }} }}, Dropped: {{ status: 204 }}, Refused: {{ status: 404 }} }}
"
    ));
    start(&mut *adapter).unwrap();
    assert_eq!(ask(&mut *adapter, "Make", &[]), "Made()");
    let found = ask(&mut *adapter, "Put", &["1"]);
    let why = "untranslatable: the header `A` of the request for `Put` has a control character";
    assert!(found.starts_with(why), "{found}");
    assert_eq!(asked.lock().unwrap().len(), 1);
    adapter.stop();
}

/// A server of lines that greets with a number of its own for each connection.
fn greeting() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let _ = writeln!(stream, "+hello <{number}.Key>");
            for (count, line) in BufReader::new(stream.try_clone().unwrap()).lines().enumerate() {
                let Ok(line) = line else { break };
                let answer = match line.split_once(' ') {
                    Some(("make", rest)) => format!("made as M{number} for {rest}"),
                    Some(("put", rest)) if rest.starts_with(&format!("M{number} ")) => {
                        format!("written {count}")
                    }
                    _ => format!("refused {line}"),
                };
                let _ = writeln!(stream, "{answer}");
            }
        }
    });
    address
}

#[test]
fn lines_are_captured_by_groups_of_patterns() {
    let address = greeting();
    let mut adapter = adapter(&format!(
        "
iut: greeting
tcp:
  address: {address}
  encoding: lines
  captures: {{ key:, name: {{ default: nobody }}, word: }}
  reset: [ {{ expect: '^\\+hello <(?P<key>.*)>$' }} ]
  stimuli:
    Make: 'make {{base64(key)}} {{hex(key)}} {{lower(key)}} {{len(key)}} {{len(base64(key))}}'
    Put: 'put {{name}} {{n}}'
    Drop: 'drop {{word}}'
  observations:
    Made: '^made as (?P<name>\\S+) for (?P<word>.*)$'
    Written: '^written (?P<v>\\d+)$'
    Dropped: '^refused drop MC5LZXk= 302e4b6579 0\\.key 5 8$'
    Refused: '^refused (?:drop .*|put nobody 3)$'
"
    ));
    for run in 0..2 {
        start(&mut *adapter).unwrap();
        let missing = "untranslatable: the line for `Drop` has `{word}`, which has not been captured in this run, and has no \
                       `default`";
        assert_eq!(ask(&mut *adapter, "Drop", &[]), missing, "{run}");
        assert_eq!(ask(&mut *adapter, "Put", &["3"]), "Refused()");
        assert_eq!(ask(&mut *adapter, "Make", &[]), "Made()");
        assert_eq!(ask(&mut *adapter, "Put", &["3"]), "Written(2)");
        let expected = if run == 0 { "Dropped()" } else { "Refused()" };
        assert_eq!(ask(&mut *adapter, "Drop", &[]), expected);
        adapter.stop();
    }
}

#[test]
fn frames_are_captured_by_fields() {
    let system = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = system.local_addr().unwrap();
    thread::spawn(move || {
        let mut frame = [0; 100];
        let mut secret: u16 = 0;
        while let Ok((length, from)) = system.recv_from(&mut frame) {
            let answer = match &frame[..length] {
                [0] => {
                    secret += 1000;
                    [&[1][..], &secret.to_be_bytes(), b"key"].concat()
                }
                [1, high, low, n, b'k', b'e', b'y'] if u16::from_be_bytes([*high, *low]) == secret => {
                    vec![2, *n]
                }
                _ => vec![3],
            };
            let _ = system.send_to(&answer, from);
        }
    });
    let mut adapter = adapter(&format!(
        "
iut: frames
udp:
  address: {address}
  settle: {{ quiet_ms: 50 }}
  encoding: binary
  captures: {{ secret: {{ default: 7 }}, word: }}
  stimuli:
    Make: [ {{ as: u8, is: 0 }} ]
    Put: [ {{ as: u8, is: 1 }}, {{ as: u16, name: secret }}, {{ as: u8, name: n }}, {{ as: text, name: word, rest: true }} ]
    Drop: [ {{ as: u8, is: 9 }}, {{ as: u16, name: secret }} ]
  observations:
    Made: [ {{ as: u8, is: 1 }}, {{ as: u16, name: secret }}, {{ as: text, name: word, rest: true }} ]
    Written: [ {{ as: u8, is: 2 }}, {{ as: u8, name: v }} ]
    Dropped: [ {{ as: u8, is: 4 }} ]
    Refused: [ {{ as: u8, is: 3 }} ]
"
    ));
    for _ in 0..2 {
        start(&mut *adapter).unwrap();
        let missing = "untranslatable: the frame for `Put`: it has `{word}`, which has not been captured in this run, and has no `default`";
        assert_eq!(ask(&mut *adapter, "Put", &["3"]), missing);
        assert_eq!(ask(&mut *adapter, "Drop", &[]), "Refused()");
        assert_eq!(ask(&mut *adapter, "Make", &[]), "Made()");
        assert_eq!(ask(&mut *adapter, "Put", &["3"]), "Written(3)");
        adapter.stop();
    }
}
