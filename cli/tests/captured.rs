//! A failure as a script, where what is sent depends on what came: it is captured again, since no two runs of
//! the implementation say the same.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::process::{Command, Output};

use crate::common::Folder;

/// Adds, but only for who says back what was said: each answer has something new, by chance. The third is one
/// too much where FAULT is `sum`.
const SERVER: &str = r#"
import http.server, json, secrets, socket, sys
from urllib.parse import unquote
way, fault, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
class State:
    def __init__(self):
        self.total, self.answers, self.word = 0, 0, self.new()
    def new(self):
        return "".join(secrets.choice("aZ09 é\"\\%{}/") for _ in range(secrets.choice([3, 300]))) + "x"
    def add(self, number):
        self.total += number
        self.answers += 1
        self.word = self.new()
        return self.total + (1 if self.answers == 3 and fault == "sum" else 0)

def lines(wire, state):
    say = lambda line: wire.sendall(line.encode() + b"\n")
    say("220 <%s>" % state.word.encode().hex())
    for line in wire.makefile("rb"):
        verb, *words = line.decode().rstrip("\n").split(" ", 3)
        if verb == "HELLO":
            say("OK" if words[0] == state.word.encode().hex() else "wrong")
            continue
        said = (words[0], words[1], words[2])
        held = state.word.encode().hex()
        right = said[1] == held.encode().hex() and said[2] == "%d %s" % (len(held), json.dumps(held))
        say("sum %d for %s" % (state.add(int(said[0])), state.word.encode().hex()) if right else "denied")

def frames(wire, state):
    read = wire.makefile("rb")
    while len(head := read.read(2)) == 2:
        frame = read.read(int.from_bytes(head, "big"))
        word = state.word[-5:].encode()
        if frame[0] == 0:
            answer = b"\x8f" + word
        else:
            # A number of 16 bits, a text behind its length, and the bytes of its low half again.
            number, size = int.from_bytes(frame[1:3], "big"), frame[3]
            said, low, by = frame[4:4 + size], frame[4 + size], frame[5 + size:]
            right = said == word and number == sum(word) and low == (number & 15) << 4 | 5
            answer = b"\xff"
            if right:
                total = state.add(int.from_bytes(by, "big"))
                word = state.word[-5:].encode()
                answer = b"\x81%d\0" % total + word
        if answer[0] != 255:
            answer = answer + b"\0" + sum(word).to_bytes(2, "big") + bytes([sum(word) & 15])
        wire.sendall(len(answer).to_bytes(2, "big") + answer)

class Handler(http.server.BaseHTTPRequestHandler):
    state = State()
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        state = Handler.state
        if self.path == "/reset":
            Handler.state = State()
            return self.answer(200, b"")
        asked = json.loads(body)
        held = state.word
        right = (self.headers["X-Tag"] == "<%s>" % held.encode().hex() and self.headers["Cookie"] == "sid=" + held.encode().hex()
                 and asked["word"] == held and asked["form"] == "1.50" and unquote(self.path) == "/add/" + held
                 and self.path.isascii() and asked["n"])
        if not right:
            return self.answer(403, b"{}")
        return self.answer(200, json.dumps({"sum": state.add(asked["n"]), "at": secrets.token_hex(4)}).encode())
    def do_GET(self):
        # The same status as of a sum: what it is depends on what was asked.
        return self.answer(200, b"{}")
    def answer(self, status, body):
        word = Handler.state.word
        if body[:1] == b"{" and b"sum" in body:
            body = json.dumps({**json.loads(body), "word": word}).encode()
        elif self.path == "/reset":
            body = json.dumps({"word": word, "form": 1.5}).replace("1.5", "1.50").encode()
        self.send_response(status)
        self.send_header("ETag", "<%s>" % word.encode().hex())
        self.send_header("Set-Cookie", "lang=en; Path=/")
        self.send_header("Set-Cookie", "sid=%s; Path=/" % word.encode().hex())
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass

if way == "http":
    http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
server = socket.create_server(("127.0.0.1", port))
while True:
    wire, _ = server.accept()
    with wire:
        {"lines": lines, "frames": frames}[way](wire, State())
"#;

const LINES: &str = r#"
iut: adder
tcp:
  address: 127.0.0.1:{port}
  launch: { command: [python3, tokens.py, lines, FAULT, "{port}"] }
  encoding: lines
  captures: { word: }
  reset: [ { expect: '220 <(?P<word>.*)>' }, { send: "HELLO {word}", expect: OK } ]
  stimuli: { Add: "ADD {n} {hex(word)} {len(word)} {json(word)}", Look: LOOK }
  observations: { Sum: 'sum (?P<s>\d+) for (?P<word>.*)', Seen: seen }
"#;

const FRAMES: &str = r#"
iut: adder
tcp:
  address: 127.0.0.1:{port}
  launch: { command: [python3, tokens.py, frames, FAULT, "{port}"] }
  encoding: binary
  frame: { length: u16 }
  captures: { word: { default: none }, check: { default: "0" }, low: { default: "0" } }
  reset: [ { send: "00", expect: '8f.*' } ]
  stimuli:
    Add:
      - { as: u8, is: 1 }
      - { as: u16, name: check }
      - { as: text, name: word, length: u8 }
      - { bits: [ { width: 4, name: low }, { width: 4, is: 5 } ] }
      - { as: u32, name: n }
    Look: [ { as: u8, is: 0 } ]
  observations:
    Seen: [ { as: u8, is: 0x8f }, { as: text, name: word, until: "00" }, { as: u16, name: check }, { bits: [ { width: 4, is: 0 }, { width: 4, name: low } ] } ]
    Sum:
      - { as: u8, is: 0x81 }
      - { as: text, name: s, until: "00" }
      - { as: text, name: word, until: "00" }
      - { as: u16, name: check }
      - { bits: [ { width: 4, is: 0 }, { width: 4, name: low } ] }
"#;

const HTTP: &str = r#"
iut: adder
http:
  base: http://127.0.0.1:{port}
  launch: { command: [python3, tokens.py, http, FAULT, "{port}"] }
  reset: { method: POST, path: /reset }
  captures:
    tag: { header: ETag, match: '<(.*)>' }
    sid: { cookie: sid }
    word: { pointer: /word }
    form: { body: true, match: '(?s).*"form": ([0-9.]+).*' }
    never: { header: X-Never, from: Seen, default: none }
  stimuli:
    Add:
      method: POST
      path: "/add/{word}"
      body: '{"n": {n}, "word": {json(word)}, "form": {json(form)}, "never": {json(never)}}'
      headers: { X-Tag: "<{tag}>", Cookie: "sid={sid}" }
    Look: { method: GET, path: /look }
  observations:
    Seen: { status: 200, to: Look }
    Sum: { status: 200, to: [Add], values: { s: /sum } }
"#;

fn folder(name: &str) -> Folder {
    let folder = crate::adder::folder();
    let (model, purpose) = (folder.0.join("model.yaml"), folder.0.join("purpose.yaml"));
    let edit = |path: &std::path::Path, from: &str, to: &str| {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    };
    edit(&model, "inputs: {", "inputs: { Look: {},");
    edit(&model, "outputs: {", "outputs: { Seen: {},");
    if name != "lines" {
        edit(
            &model,
            "transitions:",
            "transitions:\n  - { from: Idle, to: Looking, on: Look }\n  - { from: Looking, to: Idle, on: Seen }",
        );
        // It is looked once, in the beginning.
        edit(
            &purpose,
            "  - { from: None, to: Once, on: Sum }",
            "  - { from: None, to: Reject, on: Sum }\n  - { from: None, to: Begun, on: Seen }\n  - { from: Begun, to: Reject, on: Seen }\n  - { from: Begun, to: Once, on: Sum }\n  - { from: Once, to: Reject, on: Seen }\n  - { from: Twice, to: Reject, on: Seen }\n  - { from: Thrice, to: Reject, on: Seen }",
        );
    }
    fs::write(folder.0.join("tokens.py"), SERVER).unwrap();
    for (name, text) in [("lines", LINES), ("frames", FRAMES), ("http", HTTP)] {
        fs::write(folder.0.join(format!("{name}.yaml")), text).unwrap();
    }
    folder
}

fn started(folder: &Folder, script: &str) -> Output {
    Command::new(folder.0.join(script)).current_dir(std::env::temp_dir()).output().unwrap()
}

#[test]
fn what_is_sent_is_captured_again() {
    for way in ["lines", "frames", "http"] {
        let folder = folder(way);
        crate::adder::run(&folder, way, "none", "Pass");
        let record = crate::adder::run(&folder, way, "sum", "Fail");
        assert!(record["reason"].to_string().contains("s == total"), "{way}: {record}");
        let (run, iut, script) =
            (format!("{way}-sum/four.1.json"), format!("{way}_sum.yaml"), format!("again_{way}.py"));
        let output = folder.coreach(&["explain", &run, "--iut", &iut, "--reproducer", &script]);
        assert_eq!(output.status.code(), Some(0), "{way}: {output:?}");
        let seen = started(&folder, &script);
        assert_eq!(seen.status.code(), Some(1), "{way}: {seen:?}");
        assert!(
            String::from_utf8_lossy(&seen.stdout).contains("FAILED: the failure is seen again"),
            "{seen:?}"
        );
        let server = folder.0.join("tokens.py");
        let text = fs::read_to_string(&server).unwrap();
        // Cured.
        fs::write(&server, text.replace("fault == \"sum\"", "False")).unwrap();
        let seen = started(&folder, &script);
        assert_eq!(seen.status.code(), Some(0), "{way}: {seen:?}");
        let said = String::from_utf8_lossy(&seen.stdout).into_owned();
        assert!(
            said.contains("not seen: the failure is not seen") && !said.contains("denied"),
            "{way}: {said}"
        );
    }
}

#[test]
fn where_nothing_is_captured_the_script_says_so() {
    let folder = folder("http");
    crate::adder::run(&folder, "http", "sum", "Fail");
    let output = folder.coreach(&[
        "explain",
        "http-sum/four.1.json",
        "--iut",
        "http_sum.yaml",
        "--reproducer",
        "again.py",
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let server = folder.0.join("tokens.py");
    let text = fs::read_to_string(&server).unwrap();
    fs::write(&server, text.replace("\"sid=%s", "\"xid=%s")).unwrap();
    let seen = started(&folder, "again.py");
    let said = String::from_utf8_lossy(&seen.stdout);
    assert_eq!(seen.status.code(), Some(2), "{seen:?}");
    assert!(said.contains("could not be tried: nothing that came has been captured as sid"), "{said}");
}
