//! Several connections of one run: what is read over them, and when.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use coreach_adapters::description::{
    Encoding, Ignored, Lines, NamedConnection, RepliesFrom, Settle, Shape, Spelling, Tcp, Unmatched,
};
use coreach_adapters::evidence::LogLimits;
use coreach_adapters::lines::pattern;
use coreach_adapters::tcp::TcpAdapter;
use coreach_adapters::template::Template;
use coreach_adapters::{Adapter, Failure, Received, Session};
use coreach_model::Iosts;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::Event;

const MODEL: &str = "
iosts: two
initial: { location: On }
outputs: { A: {}, B: {} }
transitions:
  - { from: On, to: On, on: A }
  - { from: On, to: On, on: B }
";

fn model() -> Iosts {
    let file = from_bytes("two".to_owned(), MODEL.as_bytes().to_vec()).unwrap();
    read_specification(file).unwrap().0.iosts
}

/// A line for each output, and one that is answered with this and means nothing.
fn encoding(answer: &str) -> Encoding {
    let fits = |action: &str| Shape::fitting([pattern(&action.to_lowercase()).unwrap()]);
    let answer = Template::parse(answer).unwrap();
    Encoding::Lines(Lines {
        line_ending: "\n".to_owned(),
        reset: Vec::new(),
        stimuli: Vec::new(),
        observations: ["A", "B"].map(|action| (action.to_owned(), fits(action))).to_vec(),
        answers: Vec::new(),
        ignored: vec![Ignored { pattern: pattern("ping").unwrap(), answer: Some(answer) }],
        captures: Vec::new(),
        spelling: Spelling::default(),
        unmatched: Unmatched::Fail,
    })
}

/// What comes until it is silent for so long, or something breaks, from a server that does this with both
/// connections before anything is received over them, and that meanwhile.
fn received(
    encoding: &Encoding,
    wait: Duration,
    serve: impl FnOnce(&mut TcpStream, &mut TcpStream),
    then: impl FnOnce(TcpStream, TcpStream) + Send + 'static,
) -> Vec<Result<Received, Failure>> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let connections = ["A", "B"].map(|action| NamedConnection {
        name: action.to_lowercase(),
        actions: vec![action.to_owned()],
        encoding: encoding.clone(),
    });
    let tcp = Tcp {
        address: Template::parse(&address).unwrap(),
        launch: None,
        tls: None,
        replies_from: RepliesFrom::default(),
        encoding: encoding.clone(),
        connections: connections.to_vec(),
        settle: Settle::default(),
    };
    let iosts = model();
    let deadline = Instant::now() + Duration::from_secs(20);
    let session = Session { iosts: &iosts, constants: &[], seed: 1, deadline };
    let mut adapter = TcpAdapter::new(tcp, LogLimits::default());
    adapter.start(&session).unwrap();
    let [mut a, mut b] = [(); 2].map(|()| listener.accept().unwrap().0);
    serve(&mut a, &mut b);
    let server = std::thread::spawn(|| then(a, b));
    let mut found = Vec::new();
    loop {
        let next = adapter.receive(Instant::now() + wait);
        let is_last = !matches!(next, Ok(Received::Output(_)));
        found.push(next);
        if is_last {
            break;
        }
    }
    adapter.stop();
    server.join().unwrap();
    found
}

fn output(action: &str) -> Result<Received, Failure> {
    Ok(Received::Output(Event::new(action, Vec::new())))
}

/// Soundness: what comes behind a frame that cannot be read is not the next output.
#[test]
fn nothing_is_read_over_a_connection_behind_what_could_not_be_read() {
    let serve = |a: &mut TcpStream, b: &mut TcpStream| {
        b.write_all(b"b\n").unwrap();
        a.write_all(b"\xff\na\n").unwrap();
    };
    let mut found = received(&encoding("pong"), Duration::from_secs(5), serve, |_, _| ());
    let last = found.pop();
    assert_eq!(found, [output("B")]);
    assert!(matches!(last, Some(Err(Failure::Garbage(_)))), "{last:?}");
}

/// So much is sent back for one line that it is not taken before somebody reads it.
const MUCH: usize = 16 << 20;

/// Soundness: what comes over one connection while the tester is held up at the other one is not silence.
#[test]
fn what_came_while_another_connection_was_looked_at_is_no_silence() {
    let wait = Duration::from_millis(300);
    let serve = |_: &mut TcpStream, b: &mut TcpStream| b.write_all(b"ping\n").unwrap();
    let then = move |mut a: TcpStream, mut b: TcpStream| {
        // The time is over before the answer is taken.
        std::thread::sleep(2 * wait);
        a.write_all(b"a\n").unwrap();
        b.read_exact(&mut vec![0; MUCH]).unwrap();
    };
    let found = received(&encoding(&"x".repeat(MUCH)), wait, serve, then);
    assert_eq!(found[0], output("A"));
}
