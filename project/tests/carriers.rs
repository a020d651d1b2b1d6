//! What an IUT file says, over real sockets and processes: lines up to an end, lists, frames of bytes,
//! datagrams.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use coreach_adapters::evidence::NO_ANSWER;
use coreach_adapters::{Adapter, Failure, Left, Received, Session};
use coreach_execution::open;
use coreach_model::codec::from_text;
use coreach_model::iosts::Iosts;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::Event;
use coreach_project::iut;

const MODEL: &str = "
iosts: m
types: { Name: [WWW, MAIL, ECHO], Address: [FIRST, SECOND] }
locations: [A]
initial: { location: A }
inputs: { List: { n: int }, Ask: { id: int, kind: int, name: Name } }
outputs: { Item: { n: int }, Listed: { count: int }, Answer: { id: int, name: Name, address: Address } }
transitions: [{ from: A, to: A, on: Listed }]
";

fn model() -> Iosts {
    read_specification(from_bytes("m".to_owned(), MODEL.into()).unwrap()).unwrap().0.iosts
}

/// The adapter of an IUT file that is good.
pub fn adapter(text: &str) -> Box<dyn Adapter> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../execution/tests/servers");
    let read = iut::read(from_bytes("iut".to_owned(), text.into()).unwrap(), &folder, Some(&model()));
    let (iut, found) = read.unwrap_or_else(|found| panic!("{found:#?}"));
    assert!(found.iter().all(|one| one.code == "short-then"), "{found:#?}");
    open(&iut)
}

pub fn start(adapter: &mut dyn Adapter) -> Result<(), Failure> {
    let deadline = Instant::now() + Duration::from_secs(20);
    adapter.start(&Session { iosts: &model(), constants: &[], seed: 1, deadline })
}

pub fn event(action: &str, values: &[&str]) -> Event {
    let iosts = model();
    let action = iosts.action(iosts.find_action(action).unwrap());
    let read = |(text, datum): (&&str, &coreach_model::Datum)| from_text(text, datum.ty()).unwrap();
    Event::new(&*action.name, values.iter().zip(&action.parameters).map(read).collect::<Vec<_>>())
}

/// What comes next, within this time.
pub fn next(adapter: &mut dyn Adapter, milliseconds: u64) -> String {
    match adapter.receive(Instant::now() + Duration::from_millis(milliseconds)) {
        Ok(Received::Output(event)) => event.to_string(),
        Ok(other) => format!("{other:?}"),
        Err(failure) => failure.to_string(),
    }
}

/// All that comes until there is silence.
fn all(adapter: &mut dyn Adapter) -> Vec<String> {
    let mut found = Vec::new();
    loop {
        match next(adapter, 300) {
            silence if silence == "Silence" => return found,
            other => found.push(other),
        }
    }
}

/// A server of lines that answers each with the text of a function, byte by byte.
fn lines(answer: fn(&str) -> String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            for line in BufReader::new(stream.try_clone().unwrap()).lines() {
                let Ok(line) = line else { break };
                for byte in answer(&line).as_bytes() {
                    let _ = stream.write_all(&[*byte]);
                }
            }
        }
    });
    address
}

/// Answers of several lines to `list N`, in three ways.
fn listed(line: &str) -> String {
    let number: i64 = line.rsplit(' ').next().unwrap().parse().unwrap();
    let items = |line: fn(i64) -> String| (1..=number.abs() % 100).map(line).collect::<String>();
    match number {
        0.. => format!("+list of {number}\n{}.\n", items(|n| format!("item {n}\n"))),
        -99..0 => format!("*{}\n{}", -number, items(|n| format!("$\n{n}\n"))),
        // Many lines that are nobody's business, one answer.
        _ => format!("250-{number}\n{}250 8\n", items(|n| format!("250-x{n}\n"))),
    }
}

#[test]
fn answers_of_several_lines_and_lists() {
    let address = lines(listed);
    let mut adapter = adapter(&format!(
        "
iut: lines
tcp:
  address: {address}
  encoding: lines
  stimuli: {{ List: 'list {{n}}', Ask: 'ask {{id}} {{kind}} {{name}}' }}
  observations:
    Item: {{ begin: '^\\+list of \\d+$', each: '^item (?P<n>\\d+)$', end: '^\\.$', then: Listed }}
    Listed: {{ begin: '^\\+list of (?P<count>\\d+)$', end: '^\\.$' }}
    Answer: {{ lines: '^250-.*$', end: '^250 (?P<id>\\d+)(?P<name>)(?P<address>)$' }}
  values: {{ name: {{ '': WWW, b: MAIL, c: ECHO }}, address: {{ '': FIRST, b: SECOND }} }}
"
    ));
    start(&mut *adapter).unwrap();
    for (number, expected) in [
        (2, &["Item(1)", "Item(2)", "Listed(2)"][..]),
        (0, &["Listed(0)"]),
        (-103, &["Answer(8, WWW, FIRST)"]),
        (-100, &["Answer(8, WWW, FIRST)"]),
        (
            -1,
            &[
                "Alien(\"the line `*1`, which no pattern fits",
                "Alien(\"the line `$`, which no pattern fits",
                "Alien(\"the line `1`, which no pattern fits",
            ],
        ),
    ] {
        adapter.send(&event("List", &[&number.to_string()])).unwrap();
        let found = all(&mut *adapter);
        let is_as_expected = found.iter().zip(expected).all(|(found, expected)| found.starts_with(expected));
        assert!(found.len() == expected.len() && is_as_expected, "{number}: {found:?}");
    }
    adapter.stop();
}

/// The observation that all but fits is named, and where it stops.
#[test]
fn a_list_whose_lines_are_no_other_output_is_told() {
    let address = lines(listed);
    let mut adapter = adapter(&format!(
        "
iut: lines
tcp:
  address: {address}
  encoding: lines
  stimuli: {{ List: 'list {{n}}', Ask: 'ask {{id}} {{kind}} {{name}}' }}
  observations:
    Item: {{ begin: '^\\+list of \\d+$', each: '^item (?P<n>\\d+)$', end: '^\\.$', then: Listed }}
    Listed: '^\\.(?P<count>)$'
    Answer: '^(?P<id>)(?P<name>)(?P<address>)y$'
"
    ));
    start(&mut *adapter).unwrap();
    adapter.send(&event("List", &["1"])).unwrap();
    let why =
        "`Item` fits, but its `then` says that the same 3 lines are also `Listed`, which does not fit them";
    assert_eq!(all(&mut *adapter)[0], format!("Alien({:?})", format!("the line `+list of 1`: {why}")));
    adapter.stop();
}

#[test]
fn a_list_that_says_its_length() {
    let address = lines(listed);
    let mut adapter = adapter(&format!(
        "
iut: lines
tcp:
  address: {address}
  encoding: lines
  stimuli: {{ List: 'list {{n}}', Ask: 'ask {{id}} {{kind}} {{name}}' }}
  observations:
    Item: {{ begin: '^\\*(?P<items>\\d+)$', each: ['^\\$$', '^(?P<n>\\d+)$'], count: items }}
    Listed: '^x(?P<count>)$'
    Answer: '^(?P<id>)(?P<name>)(?P<address>)y$'
  unmatched: error
"
    ));
    start(&mut *adapter).unwrap();
    adapter.send(&event("List", &["-3"])).unwrap();
    assert_eq!(all(&mut *adapter), ["Item(1)", "Item(2)", "Item(3)"]);
    adapter.send(&event("List", &["1"])).unwrap();
    let found = next(&mut *adapter, 5000);
    assert!(found.starts_with("garbage: the line `+list of 1`, which no pattern fits"), "{found}");
    adapter.stop();
}

/// What never ends is no endless wait, and takes no endless memory.
#[test]
fn an_answer_without_an_end_is_a_flood() {
    let address = lines(|_| "+list of 1\n".to_owned() + &"item 1\n".repeat(11_000));
    let mut adapter = adapter(&format!(
        "
iut: lines
tcp:
  address: {address}
  encoding: lines
  stimuli: {{ List: 'list {{n}}', Ask: 'ask {{id}} {{kind}} {{name}}' }}
  observations:
    Item: {{ begin: '^\\+list of 1$', each: '^item (?P<n>\\d+)$', end: '^\\.$' }}
    Listed: '^x(?P<count>)$'
    Answer: '^(?P<id>)(?P<name>)(?P<address>)y$'
"
    ));
    start(&mut *adapter).unwrap();
    adapter.send(&event("List", &["1"])).unwrap();
    let found = next(&mut *adapter, 10_000);
    assert!(found.starts_with("flood: an output has more than 10000 lines"), "{found}");
    adapter.stop();
}

/// A server that answers each request with the body that its path says.
fn http(body: fn(&str) -> &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream: TcpStream = stream.unwrap();
            let mut head = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or(0) > 0 {}
            let body = body(head.split(' ').nth(1).unwrap_or_default());
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        }
    });
    address
}

#[test]
fn a_list_in_an_answer_is_several_outputs() {
    let address = http(|path| match path {
        "/list/2" => r#"{"items": [{"n": 5}, {"n": 7}], "count": 2}"#,
        "/list/0" => r#"{"items": [], "count": 0}"#,
        // One item is none: the list is no list of items.
        "/list/3" => r#"{"items": [{"n": 5}, {"m": 7}], "count": 2}"#,
        "/list/4" => r#"{"items": [{"n": 5}]}"#,
        "/list/5" => r#"{"items": {"0": {"n": 5}}, "count": 1}"#,
        _ => r#"{"all": [1, 2]}"#,
    });
    let mut adapter = adapter(&format!(
        "
iut: lists
http:
  base: http://{address}
  stimuli: {{ List: {{ method: GET, path: '/list/{{n}}' }}, Ask: {{ method: GET, path: '/{{id}}{{kind}}{{name}}' }} }}
  observations:
    Item: {{ status: 200, each: /items, values: {{ n: /n }}, then: Listed }}
    Listed: {{ status: 200, values: {{ count: /count }} }}
    Answer: {{ status: 200, each: /all, values: {{ id: '', name: '', address: '' }} }}
  values: {{ name: {{ '1': WWW, '2': MAIL, x: ECHO }}, address: {{ '1': FIRST, '2': SECOND }} }}
"
    ));
    start(&mut *adapter).unwrap();
    for (number, expected) in [
        ("2", &["Item(5)", "Item(7)", "Listed(2)"][..]),
        ("0", &["Listed(0)"]),
        ("3", &["Listed(2)"]),
        ("5", &["Listed(1)"]),
        ("9", &["Answer(1, WWW, FIRST)", "Answer(2, MAIL, SECOND)"]),
    ] {
        adapter.send(&event("List", &[number])).unwrap();
        let first = next(&mut *adapter, 5000);
        // Until the last of them is taken, nothing is sent, and more can be heard.
        assert_eq!(adapter.takes_stimuli(), expected.len() == 1, "{number}");
        assert_eq!(adapter.hears(), expected.len() > 1, "{number}");
        let found: Vec<String> = [first].into_iter().chain(all(&mut *adapter)).collect();
        assert_eq!(found, expected, "{number}");
        assert!(adapter.takes_stimuli());
    }
    // Without its count, the answer is nothing: `then` is not there.
    adapter.send(&event("List", &["4"])).unwrap();
    let found = next(&mut *adapter, 5000);
    assert!(found.starts_with("Alien(\"the answer `200 OK`"), "{found}");
    adapter.stop();
}

/// The fields of the questions and answers of `names.py`.
const NAMES: &str = "
  encoding: binary
  stimuli:
    List: [ { as: u8, name: n } ]
    Ask:
      - { as: u16, name: id }
      - { bits: [ { width: 4, name: kind }, { width: 4, is: 0 } ] }
      - { as: text, name: name, length: u8 }
  observations:
    Item: [ { as: u64, name: n } ]
    Listed: [ { as: u40le, name: count } ]
    Answer:
      - { as: u16, name: id }
      - { as: bytes, is: \"80\" }
      - { as: text, name: name, length: u8 }
      - { as: bytes, name: address, size: 4 }
  values: { name: { www: WWW, mail: MAIL, echo: ECHO }, address: { 0a000001: FIRST, 0a000002: SECOND } }
";

/// Runs over each carrier: what is asked is answered, a byte too many is no answer, and what does not fit is
/// not sent.
#[test]
fn frames_of_bytes_over_each_carrier() {
    for carrier in [
        "udp:
  address: '127.0.0.1:{port}'
  launch: { command: [python3, -I, -S, names.py, udp, '{port}'] }",
        "udp:
  address: '127.0.0.1:{port}'
  launch: { command: [python3, -I, -S, names.py, udp, '{port}'], keep: true }
  settle: { quiet_ms: 20 }
  reset: [ { send: '00 07 10 03 77 77 77', expect: '^00078003777777.*$' } ]",
        "tcp:
  address: '127.0.0.1:{port}'
  launch: { command: [python3, -I, -S, names.py, tcp, '{port}'] }
  frame: { length: u16 }",
        "stdio:
  command: [python3, -I, -S, names.py, stdio]
  frame: { length: u16 }",
    ] {
        let mut adapter = adapter(&format!("iut: names\n{carrier}{NAMES}"));
        for run in 0..3 {
            start(&mut *adapter).unwrap_or_else(|failure| panic!("{carrier}: {failure}"));
            let id = (run * 300).to_string();
            adapter.send(&event("Ask", &[&id, "2", "WWW"])).unwrap();
            assert_eq!(next(&mut *adapter, 5000), format!("Answer({id}, WWW, SECOND)"), "{carrier}");
            adapter.send(&event("Ask", &[&id, "3", "WWW"])).unwrap();
            let found = next(&mut *adapter, 5000);
            assert!(
                found.contains("`Answer` with a wrong `address`") && found.contains("0a000003"),
                "{found}"
            );
            adapter.send(&event("Ask", &[&id, "1", "MAIL"])).unwrap();
            let found = next(&mut *adapter, 5000);
            assert!(found.contains("046d61696c0a00000121`, which no fields fit"), "{found}");
            adapter.send(&event("Ask", &[&id, "1", "ECHO"])).unwrap();
            assert_eq!(next(&mut *adapter, 50), "Silence");
            for (values, what) in [(["65536", "1", "WWW"], "`id`"), (["1", "16", "WWW"], "`kind`")] {
                let failed = adapter.send(&event("Ask", &values));
                let Err(Failure::Untranslatable(text)) = failed else { panic!("{failed:?}") };
                assert!(text.contains(what), "{text}");
            }
            let teardown = adapter.tear_down();
            assert!(teardown.is_none_or(|teardown| teardown.left == Left::Clean));
            adapter.stop();
        }
    }
}

/// A system in datagrams that repeats each, as a text, in this way.
fn datagrams(answer: impl Fn(&UdpSocket, SocketAddr, &str) + Send + 'static) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut buffer = [0; 65_536];
        while let Ok((count, peer)) = socket.recv_from(&mut buffer) {
            answer(&socket, peer, std::str::from_utf8(&buffer[..count]).unwrap());
        }
    });
    address
}

fn texts(address: SocketAddr, settle: &str) -> Box<dyn Adapter> {
    adapter(&format!(
        "
iut: texts
udp:
  address: {address}
  encoding: lines
  settle: {settle}
  stimuli: {{ List: 'list {{n}}', Ask: 'ask {{id}} {{kind}} {{name}}' }}
  observations:
    Item: '^item (?P<n>\\d+)$'
    Listed: '^listed (?P<count>\\d+)$'
    Answer: '^(?P<id>)(?P<name>)(?P<address>)y$'
"
    ))
}

/// What a run has asked for comes to nobody when the run is over: neither the answer nor its duplicates.
#[test]
fn no_datagram_of_an_earlier_run_is_seen() {
    let address = datagrams(|socket, peer, text| {
        let answer = text.replace("list", "item") + "\n";
        let socket = socket.try_clone().unwrap();
        thread::spawn(move || {
            for pause in [0, 5, 40, 40] {
                thread::sleep(Duration::from_millis(pause));
                let _ = socket.send_to(answer.as_bytes(), peer);
            }
        });
    });
    let mut adapter = texts(address, "{ barrier: [ { pause_ms: 0 } ] }");
    for run in 0..40 {
        start(&mut *adapter).unwrap();
        adapter.send(&event("List", &[&run.to_string()])).unwrap();
        let expected = format!("Item({run})");
        assert_eq!(next(&mut *adapter, 5000), expected);
        // A duplicate is a second output, as it is to any other client.
        assert_eq!(next(&mut *adapter, 5000), expected);
        // Nobody says that it was taken.
        assert_eq!(adapter.tear_down().unwrap().left, Left::Unclean);
        adapter.stop();
    }
}

/// Those of other ports, in the order in which they come; those of other hosts never.
#[test]
fn datagrams_of_every_port_of_the_host_are_taken_where_the_file_says_so() {
    let other = UdpSocket::bind("127.0.0.1:0").unwrap();
    let stranger = UdpSocket::bind("127.0.0.2:0").unwrap();
    let address = datagrams(move |socket, peer, _| {
        for number in 0..10 {
            stranger.send_to(b"item 99", peer).unwrap();
            let from = if number % 2 == 0 { socket } else { &other };
            from.send_to(format!("item {number}").as_bytes(), peer).unwrap();
        }
        // The next one comes here, since this was heard last.
        let mut buffer = [0; 100];
        let (count, peer) = other.recv_from(&mut buffer).unwrap();
        let text = String::from_utf8_lossy(&buffer[..count]).replace("list", "item");
        other.send_to(text.as_bytes(), peer).unwrap();
    });
    let mut adapter = texts(address, "{ quiet_ms: 5 }\n  replies_from: any_port");
    start(&mut *adapter).unwrap();
    adapter.send(&event("List", &["1"])).unwrap();
    for number in 0..10 {
        assert_eq!(next(&mut *adapter, 20_000), format!("Item({number})"));
    }
    adapter.send(&event("List", &["77"])).unwrap();
    assert_eq!(next(&mut *adapter, 20_000), "Item(77)");
    adapter.stop();
}

/// Each answer comes from a socket of its own, which is closed then. With `any_port`, what is sent is lost,
/// and the evidence says where it went.
#[test]
fn a_new_port_for_each_answer_is_no_new_address() {
    for (replies, second) in [("fresh_port", "Item(2)"), ("any_port", "Silence")] {
        let address = datagrams(|_, peer, text| {
            let fresh = UdpSocket::bind("127.0.0.1:0").unwrap();
            fresh.send_to(text.replace("list", "item").as_bytes(), peer).unwrap();
        });
        let mut adapter = texts(address, &format!("{{ quiet_ms: 5 }}\n  replies_from: {replies}"));
        start(&mut *adapter).unwrap();
        adapter.send(&event("List", &["1"])).unwrap();
        assert_eq!(next(&mut *adapter, 20_000), "Item(1)");
        adapter.send(&event("List", &["2"])).unwrap();
        assert_eq!(next(&mut *adapter, if replies == "any_port" { 300 } else { 20_000 }), second);
        adapter.tear_down();
        let wire = adapter.evidence(Instant::now());
        let is_told = wire.iter().any(|item| item.note.as_deref() == Some(NO_ANSWER));
        assert_eq!(is_told, replies == "any_port", "{wire:?}");
        adapter.stop();
    }
}

#[test]
fn quiet_is_what_is_waited_for() {
    let address = datagrams(|socket, peer, text| {
        let (socket, answer) = (socket.try_clone().unwrap(), text.replace("list", "item"));
        thread::spawn(move || {
            for _ in 0..5 {
                thread::sleep(Duration::from_millis(30));
                let _ = socket.send_to(answer.as_bytes(), peer);
            }
        });
    });
    let mut adapter = texts(address, "{ quiet_ms: 90 }");
    start(&mut *adapter).unwrap();
    // Not from the tear-down on: a datagram or two may be under way before it begins.
    let sent = Instant::now();
    adapter.send(&event("List", &["1"])).unwrap();
    let teardown = adapter.tear_down().unwrap();
    assert_eq!((teardown.left, teardown.awaited.as_str()), (Left::Clean, "quiet"));
    assert!(sent.elapsed() >= Duration::from_millis(5 * 30 + 90), "{:?}", teardown.waited);
    adapter.stop();
}

#[test]
fn nobody_takes_datagrams_there() {
    let address = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut adapter = texts(address, "{ quiet_ms: 20 }");
    start(&mut *adapter).unwrap();
    adapter.send(&event("List", &["1"])).unwrap();
    let lost = "lost: the implementation takes no datagrams at its address: start the system, or correct `address` in the IUT \
                file";
    assert_eq!(next(&mut *adapter, 5000), lost);
    adapter.stop();
}

/// What the kernel has no room for is gone, and nothing behind the gap is believed.
#[test]
fn more_datagrams_than_are_kept_are_a_flood() {
    let address = datagrams(|socket, peer, _| {
        for number in 0..60_000 {
            let _ = socket.send_to(format!("item {number}").as_bytes(), peer);
        }
        let _ = socket.send_to(b"listed 1", peer);
    });
    let mut adapter = texts(address, "{ quiet_ms: 20 }");
    start(&mut *adapter).unwrap();
    adapter.send(&event("List", &["1"])).unwrap();
    thread::sleep(Duration::from_millis(1500));
    for number in 0.. {
        let found = next(&mut *adapter, 10_000);
        if found != format!("Item({number})") {
            assert_eq!(found, "flood: more datagrams came than the kernel keeps");
            assert!(number > 20, "{number}");
            break;
        }
    }
    adapter.stop();
}

#[test]
fn a_datagram_is_whole_or_not_sent() {
    let address = datagrams(|socket, peer, text| {
        let _ = socket.send_to(format!("item {}", text.len()).as_bytes(), peer);
    });
    let mut adapter = texts(address, "{ quiet_ms: 20 }");
    start(&mut *adapter).unwrap();
    let digits = |count: usize| "9".repeat(count);
    adapter.send(&event("List", &[&digits(3000)])).unwrap();
    assert_eq!(next(&mut *adapter, 5000), "Item(3005)");
    adapter.stop();
}
