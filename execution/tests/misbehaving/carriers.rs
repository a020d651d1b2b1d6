//! The ways to a system that misbehaves: from a habit to an adapter that starts it.

use std::path::Path;
use std::time::Duration;

use coreach_adapters::Adapter;
use coreach_adapters::description::{
    AnswerPlace, Command, Encoding, Exchange, Http, Iut, Lines, PreparationStep, Probe, Request, Response,
    ServerLaunch, Settle, Shape, Spelling, Stdio, Tcp, Transport, Unmatched,
};
use coreach_adapters::lines::pattern;
use coreach_adapters::template::Template;
use coreach_execution::open;

use super::habits::{HTTP, Habit, JSON, LINES, STDIO};

/// How long a system may take until it is ready.
const READY: Duration = Duration::from_millis(800);

/// A way to a system, and the habits that are tried over it.
pub struct Carrier {
    pub name: &'static str,
    pub habits: &'static [Habit],
    /// From the python to use, the habit, the tag of its processes and a folder of its own.
    pub way: fn(&str, &str, &str, &Path) -> Transport,
}

pub const OVER_STDIO: Carrier = Carrier { name: "stdio", habits: STDIO, way: stdio };
pub const JSON_OVER_TCP: Carrier = Carrier { name: "tcp, JSON", habits: JSON, way: json };
pub const LINES_OVER_TCP: Carrier = Carrier { name: "tcp, lines", habits: LINES, way: lines };
pub const OVER_HTTP: Carrier = Carrier { name: "http", habits: HTTP, way: http };

/// The adapter of a way.
pub fn adapter(way: Transport) -> Box<dyn Adapter> {
    let name = "misbehaving".to_owned();
    let iut = Iut {
        name,
        way,
        link: Default::default(),
        behaviour: Default::default(),
        evidence: Default::default(),
        place: String::new(),
    };
    open(&iut)
}

fn template(text: &str) -> Template {
    Template::parse(text).unwrap()
}

/// A program beside this file, started in its folder.
fn command(python: &str, program: &str, words: &[&str], folder: &Path) -> Command {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/misbehaving").join(program);
    let mut all = [python, "-I", "-S", program.to_str().unwrap()].map(Template::fixed).to_vec();
    all.extend(words.iter().map(|word| template(word)));
    Command { words: all, directory: folder.to_owned(), environment: Vec::new(), grace: Duration::ZERO }
}

fn launch(python: &str, words: &[&str], folder: &Path) -> Option<ServerLaunch> {
    let command = command(python, "server.py", words, folder);
    Some(ServerLaunch { command, ready: READY, keep: false })
}

fn stdio(python: &str, habit: &str, tag: &str, folder: &Path) -> Transport {
    let command = command(python, "iut.py", &[habit, tag], folder);
    Transport::Stdio(Stdio { command, ready: READY, encoding: Encoding::Json, settle: None, keep: false })
}

fn tcp(launch: Option<ServerLaunch>, encoding: Encoding) -> Transport {
    let address = template("127.0.0.1:{port}");
    let (replies_from, settle) = Default::default();
    Transport::Tcp(Tcp {
        address,
        launch,
        tls: None,
        replies_from,
        encoding,
        connections: Vec::new(),
        settle,
    })
}

fn json(python: &str, habit: &str, tag: &str, folder: &Path) -> Transport {
    let words = ["json", habit, "{port}", tag, folder.to_str().unwrap()];
    tcp(launch(python, &words, folder), Encoding::Json)
}

fn lines(python: &str, habit: &str, tag: &str, folder: &Path) -> Transport {
    let words = ["lines", habit, "{port}", tag, folder.to_str().unwrap()];
    let expect = |text: &str| Some(pattern(text).unwrap());
    let fits = |texts: &[&str]| Shape::fitting(texts.iter().map(|text| pattern(text).unwrap()));
    let encoding = Lines {
        line_ending: "\n".to_owned(),
        reset: vec![
            PreparationStep::Exchange(Exchange { send: None, expect: expect("220 .*"), over: None }),
            PreparationStep::Exchange(Exchange {
                send: Some(template("PRICE {cPrice}")),
                expect: expect("OK"),
                over: None,
            }),
        ],
        stimuli: vec![
            ("Coin".to_owned(), template("COIN {pCoinValue}")),
            ("ChooseBeverage".to_owned(), template("CHOOSE {pBeverage}")),
        ],
        observations: vec![
            ("Return".to_owned(), fits(&["change (?P<pRemainingValue>.+)"])),
            ("Deliver".to_owned(), fits(&["take", r"(?P<pBeverage>\w+)"])),
        ],
        answers: Vec::new(),
        ignored: Vec::new(),
        captures: Vec::new(),
        spelling: Spelling::default(),
        unmatched: Unmatched::Fail,
    };
    tcp(launch(python, &words, folder), Encoding::Lines(encoding))
}

fn http(python: &str, habit: &str, tag: &str, folder: &Path) -> Transport {
    let words = ["http", habit, "{port}", tag, folder.to_str().unwrap()];
    let request = |path: &str, body: Option<&str>| Request {
        is_latin1: false,
        method: "POST".to_owned(),
        path: template(path),
        body: body.map(|body| Template::parse_body(body).unwrap()),
        headers: Vec::new(),
    };
    let response = |status, parameter: &str, pointer: &str| Response {
        status,
        values: vec![(parameter.to_owned(), AnswerPlace::pointer(pointer))],
        ..Response::default()
    };
    let reset = Probe {
        request: request("/price/{cPrice}", None),
        statuses: vec![204],
        body: None,
        within: Duration::ZERO,
    };
    Transport::Http(Http {
        base: template("http://127.0.0.1:{port}"),
        launch: launch(python, &words, folder),
        tls: None,
        reset: vec![PreparationStep::Request(reset)],
        headers: Vec::new(),
        stimuli: vec![
            ("Coin".to_owned(), request("/coins", Some(r#"{"n": {pCoinValue}}"#))),
            ("ChooseBeverage".to_owned(), request("/choice/{pBeverage}", None)),
        ],
        observations: vec![
            ("Return".to_owned(), response(200, "pRemainingValue", "/back/0")),
            ("Deliver".to_owned(), response(201, "pBeverage", "/drink")),
        ],
        captures: Vec::new(),
        spelling: Spelling::default(),
        unmatched: Unmatched::Fail,
        settle: Settle::default(),
        places: Default::default(),
    })
}
