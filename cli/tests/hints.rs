//! What `test` says to a user whose system or IUT file has a mistake of a frequent kind: the message names
//! the cause, and the key or the line that helps.
//!
//! Precision: each row is a mistake, the exit code, and the words that must be there.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use crate::common::{Folder, exits, stdout};

const MODEL: &str = "
iosts: asking
variables: { v: int }
constants: { cFirst: int }
initial: { location: Idle, condition: v == 0 && cFirst >= 1 }
inputs: { Ask: {} }
outputs: { Answer: { n: int }, None: {} }
transitions:
  - { from: Idle, to: Asked, on: Ask, assign: { v: v + 1 } }
  - { from: Asked, to: Idle, on: Answer, when: n == v }
";

const TWICE: &str = "
purpose: twice
of: asking
observes: [cFirst]
initial: { location: None }
transitions:
  - { from: None, to: Once, on: Answer, when: cFirst > 3 }
  - { from: Once, to: Accept, on: Answer }
";

/// A system with a habit: over standard input and output in JSON or lines, or as a server.
const SYSTEM: &str = r#"
import json, os, socket, sys, threading, time
kind, habit = sys.argv[1:3]
def tick(connection):
    for _ in range(500):
        connection.sendall(b"tick\n")
        time.sleep(0.02)
if habit == "terminal":
    os.get_terminal_size()
if habit in ("settings", "nowhere"):
    os.makedirs("app", exist_ok=True)
    open("app/settings", "w")
    open(habit)
if habit == "variable":
    print(os.environ["SPEED"])
if kind in ("tcp", "http"):
    listener = socket.create_server(("127.0.0.1", int(sys.argv[3])))
    asked, held = 0, []
    if habit == "printed":
        print("hello", flush=True)
    while True:
        connection = listener.accept()[0]
        stream = connection.makefile("rw", newline="")
        connection.sendall({"greets": b"220 hello\n", "asks": b"> ", "telnet": b"\xff\xfd\x18"}.get(habit, b""))
        line = stream.readline()
        if not line:
            # It was looked whether somebody listens.
            continue
        while kind == "http" and stream.readline().strip():
            pass
        if habit == "unread" and line.startswith("POST"):
            stream.read()
        stream.read(2 if habit == "typed" else 0)
        asked += 1
        if habit == "mute":
            time.sleep(20)
        if habit in ("once", "holds", "ticks"):
            # It ends after one connection, or ends none.
            while line:
                asked = asked + 1 if line.strip() == "ask" else 0
                stream.write(f"answer {asked}\n")
                stream.flush()
                if habit == "ticks" and asked == 2:
                    threading.Thread(target=tick, args=[connection], daemon=True).start()
                line = stream.readline()
            if habit == "once":
                os._exit(0)
            held.append((stream, connection))
            continue
        if habit == "tls":
            print("ssl.SSLError: wrong version", file=sys.stderr, flush=True)
        elif habit == "halves":
            print('Traceback:\n  File "a.py", line 8, in handle\nIndexError: out of range', file=sys.stderr, flush=True)
        elif habit == "shut":
            pass
        elif habit == "alert":
            stream.write("\x15\x03\x03\0\2\2\n")
        elif kind == "tcp":
            stream.write("ok" if habit == "unended" else f"answer {asked}\n")
            stream.flush()
            time.sleep(20 if habit == "unended" else 0)
        elif habit in ("lined", "bodied"):
            stream.write("answer 1\n" if habit == "lined" else '{"n": 1}\n')
        elif habit == "whole":
            while stream.readline():
                pass
        elif habit == "chunks":
            stream.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\n{"n": 1}\r\n0\r\n\r\n')
            stream.flush()
            time.sleep(20)
        elif habit == "endless":
            stream.write("HTTP/1.1 200 OK\r\n\r\n")
            stream.flush()
            time.sleep(20)
        else:
            head, body = {
                "elsewhere": ("404 Not Found", '{"error": "gone"}'),
                "moved": ("301 Moved Permanently\r\nLocation: /there", ""),
                "locked": ("401 Unauthorized", ""),
                "keyed": ("403 Forbidden", '{"error": "missing api_key"}'),
                "typed": ("415 Unsupported Media Type", ""),
                "token": ("403 Forbidden", "CSRF Failed: X-CSRF-Token missing"),
                "unread": ("200 OK", json.dumps({"n": asked})),
                "cookie": ("200 OK\r\nSet-Cookie: sid=1; Path=/", '{"n": 1}'),
                "site": ("404 Not Found", "<!DOCTYPE html><html><body>no</body></html>"),
                "page": ("501 Not Implemented", "<html><body>no</body></html>"),
                "empty": ("200 OK", ""),
                "located": ("200 OK\r\nLocation: /asks/1", ""),
                "headed": ("200 OK\r\nX-N: 1", '{"m": 2}'),
                "prefixed": ("200 OK\r\nX-N: n=1", ""),
                "deep": ("200 OK", '{"n": {"value": 1}}'),
                "plain": ("200 OK", "n is 1"),
                "portal": ("302 Found\r\nLocation: /login", ""),
                "bare": ("204 No Content", ""),
                "other": ("201 Created", '{"n": 1}'),
                "nested": ("200 OK", '{"answer": {"n": 1}}'),
                "twice": ("200 OK", json.dumps('{"n": 1}')),
                "longer": ("200 OK", '{"n": 1}'),
                "limited": ("429 Too Many Requests", ""),
                "packed": ("200 OK\r\nContent-Encoding: gzip", "..."),
                "infinite": ("200 OK", '{"n": NaN}'),
                "python": ("200 OK", "{'n': 1}"),
                "shorter": ("200 OK", '{"n": 1}'),
                "keys": ("200 OK", '{"n": 1, "n": 2}'),
                "held": ("200 OK", '{"n": 1}'),
                "waits": ("202 Accepted", '{"job": 7}'),
                "host": ("400 Bad Request", "Invalid host header"),
                "xml": ("200 OK", "<a><n>1</n></a>"),
                "unchanged": ("304 Not Modified", ""),
            }[habit]
            stream.write(f"HTTP/1.1 {head}\r\nContent-Length: {len(body) + (habit in ('longer', 'held')) - (habit == 'shorter')}\r\n\r\n{body}")
        stream.flush()
        time.sleep(20 if habit == "held" else 0)
        stream.close()
        connection.close()
out = sys.stderr if habit == "stderr" else sys.stdout
def say(text):
    print(text, file=out, flush=habit != "buffer")
asked = 0
if habit == "locks":
    if os.path.exists("lock"):
        sys.exit("it is locked")
    open("lock", "w")
if kind == "lines":
    for line in sys.stdin.readlines() if habit == "eof" else sys.stdin:
        asked += 1
        if habit == "echo":
            say(line.strip())
        if habit in ("cr", "nul", "semicolon"):
            print(f"answer {asked}", end={"cr": "\r", "nul": "\0", "semicolon": ";"}[habit], flush=True)
            continue
        if habit == "latin":
            sys.stdout.buffer.write(b"answer \xa3\n")
            sys.stdout.flush()
            continue
        if habit == "exits":
            sys.exit(3)
        if habit == "keyless":
            {}[line.strip()]
        if habit == "raises":
            raise TypeError("no number")
        if habit == "mute" or habit == "drops" and asked > 1:
            continue
        if habit == "swallows" and asked > 1:
            print("Traceback\ninternal error: 2", file=sys.stderr, flush=True)
            continue
        if habit == "hides" and asked > 1:
            say("late 2")
            continue
        if habit == "debug":
            say(f"DEBUG {asked} got ask")
        if habit in ("login", "sure", "refuses", "closed", "cut", "html", "length"):
            say({"login": "name:", "sure": "pay 6 - sure? (y/n)", "refuses": "unknown command", "closed": "-ERR log in first", "cut": "answer ", "html": "<!DOCTYPE HTML>", "length": "\0\0\0"}[habit])
            continue
        before = {"prompt": "> ", "time": "[13:16:19] ", "colour": "\x1b[32m", "mark": "\ufeff"}.get(habit, "")
        value = {"plus": f"+{asked}", "dash": f"\u2212{asked}", "minus": f"-{asked}", "hex": f"0x{asked}", "rest": f"{asked}.0",
                 "space": f" {asked}", "tab": f"\t{asked}", "exponent": f"{asked}e+00", "blank_of_print": f"\u00a0{asked}", "coins": f"{asked} coins", "zero": f"{asked}\0", "comma": f"{asked},000", "half": f"{asked}.5", "under": f"0,{asked}00"}.get(habit, asked)
        # Both lines in one write, so that the second one comes before the next stimulus.
        say(f"{before}answer {value}" + (f"\nanswer {asked + (habit == 'more')}" if habit in ("again", "more") else ""))
        if habit == "blank":
            say("")
for line in sys.stdin:
    message = json.loads(line)
    if "start" in message and habit != "unstarted":
        if habit == "deaf" and asked:
            continue
        asked, seed = asked if habit == "kept" else 0, message["start"]["seed"]
        if habit == "file":
            asked = len(open("state", "a+b").read() or open("state", "rb").read())
        ready = {"python": "{'ready': True}", "version": '{"ready": true, "version": 1}', "one": '{"ready": true} {"log": 1}', "indent": '{\n  "ready": true\n}'}.get(habit, '{"ready": true}')
        for _ in range(1 + (habit == "doubled")):
            print(ready, file=sys.stderr if habit == "late" else out, flush=habit != "unsent")
    else:
        if habit == "echo":
            say(line.strip())
        asked += 1 if message["input"] == "Ask" else 0
        if habit == "seeded" and asked == 2 and seed != 1:
            asked = 3
        if habit == "slow" and asked == 2:
            time.sleep(1)
        if habit == "mute":
            continue
        if habit == "file":
            open("state", "ab").write(b"x")
        values = {"n": str(asked) if habit == "text" else float("-inf") if habit == "infinite" else None if habit == "nothing" else asked}
        if habit == "absent":
            values = None
        if habit == "extra":
            values["m"] = 2
        message = json.dumps({"output": "Opened" if habit == "unknown" else "Answer", **({"status": "ok"} if habit == "status" else {}), **(values if habit == "flat" else {"value" if habit == "renamed" else "values": values})})
        say(json.dumps(message) if habit == "twice" else message)
if habit == "locks":
    os.remove("lock")
"#;

#[test]
fn a_frequent_mistake_is_named_with_what_helps() {
    let json = "stdio: { command: [python3, system.py, json, HABIT], ready_ms: 10000 }\n";
    let lines = "stdio:\n  command: [python3, system.py, lines, HABIT]\n  environment: { PYTHONUNBUFFERED: \"\" }\n  encoding: lines\n  stimuli: { Ask: ask }\n  \
                 observations: { Answer: '^answer (?P<n>\\d+)$', None: '^none$' }\n";
    let tcp = "tcp:\n  address: 127.0.0.1:{port}\n  launch: { command: [python3, system.py, tcp, HABIT, \"{port}\"] }\n  \
               encoding: lines\n  stimuli: { Ask: ask }\n  observations: { Answer: '^answer (?P<n>\\d+)$', None: '^none$' }\n";
    let http = "http:\n  base: http://127.0.0.1:{port}\n  launch: { command: [python3, system.py, http, HABIT, \"{port}\"] }\n  \
                stimuli: { Ask: { method: GET, path: /ask } }\n  observations: { Answer: { status: 200, values: { n: \
                { pointer: /n } } }, None: { status: 404 } }\n";
    let (within, short) = ("within: 5 s\n", "within: 300 ms\n");
    // The first answer must come in time on a busy machine.
    let lenient = "within: 1 s\n";
    for (carrier, habit, more, code, words) in [
        (json, "text", within, 1, "a wrong `n`: expected a number, not the text \"1\""),
        (
            json,
            "slow",
            short,
            3,
            "  help: if it needs more than 300 ms, raise `within` in the IUT file, as in `within: 2 s`",
        ),
        (json, "terminal", within, 4, "  help: it asks for a terminal, and coreach gives it none"),
        (json, "absent", within, 4, "  help: leave `values` out if there are none"),
        (lines, "html", within, 1, "  help: the system speaks HTTP: describe it under `http:`"),
        (lines, "length", within, 1, "`encoding: binary` and `frame: { length: u32 }`"),
        (lines, "dash", within, 1, "` (U+2212) only looks like `-`: let the system send that"),
        (
            &format!("{lines}  ignore: [{{ pattern: '^late.*$' }}]\n"),
            "hides",
            lenient,
            3,
            "  help: a message came, and was ignored: `late 2`. If it is an answer, correct its pattern",
        ),
        (
            lines,
            "swallows",
            lenient,
            3,
            "  help: it has written `internal error: 2` to standard error since then: did it fail there?",
        ),
        (http, "chunks", lenient, 3, "  help: it has begun the answer `200 OK`, and not ended it: check"),
        (http, "waits", within, 1, "but 202 says that the work is not done yet"),
        (http, "host", within, 1, "  help: it refuses the host in the request, which is that of `base`"),
        (
            http,
            "xml",
            within,
            1,
            "write `values: { n: { body: true, match: '(?s:.*)<n>(.*)</n>(?s:.*)' } }` for `Answer`",
        ),
        (http, "unchanged", within, 1, "let the system send the whole answer"),
        (json, "unknown", within, 1, r#"  help: if it is no event, send `{"log": "Opened"}` in its place"#),
        (
            json,
            "variable",
            within,
            4,
            r#"  help: if it is a variable of the environment, write `environment: { SPEED: "..." }` next to `command`"#,
        ),
        (json, "settings", within, 4, "write `directory: app`, where `settings` is. Paths in `command` begin there"),
        (json, "nowhere", within, 4, "unless `directory` next to `command` says another: `directory: FOLDER` sets it"),
        (
            json,
            "unstarted",
            within,
            4,
            r#"  help: the first message of a run is `{"start": ...}`: answer it with `{"ready": true}`"#,
        ),
        (
            &json.replace("10000", "1500, environment: { PYTHONUNBUFFERED: \"\" }"),
            "unsent",
            within,
            4,
            "and flush each line that it writes: in Python, begin `command` with `python3, -u`",
        ),
        (
            "stdio: { command: [sh, -c, 'PYTHONUNBUFFERED= python3 system.py json unsent'], ready_ms: 1500 }\n",
            "unsent",
            within,
            4,
            "let each program of a pipe flush its lines: `python3 -u`, `grep --line-buffered`",
        ),
        (
            json,
            "mute",
            short,
            3,
            "  help: it may wait for the next message, or its output may wait in a buffer",
        ),
        (
            json,
            "mute",
            short,
            3,
            r#"  help: it may not know `{"input":"Ask","values":{}}`, which was sent: does"#,
        ),
        (json, "doubled", within, 4, "  help: this line answers `start` only: is each message written twice"),
        (json, "infinite", within, 4, "(`Infinity` is no value of JSON at byte 39)"),
        (json, "infinite", within, 4, "  help: JSON has no such number: let the system send another value"),
        (http, "infinite", within, 1, "  help: JSON has no such number: let the system send another value"),
        (
            http,
            "shorter",
            within,
            1,
            "  help: it ends with the last byte of its `Content-Length`: count the bytes",
        ),
        (http, "keys", within, 1, "  help: an object has each key only once"),
        (http, "python", within, 1, "  help: JSON puts texts in `\"`: in Python write `json.dumps(message)`"),
        (
            http,
            "bodied",
            within,
            4,
            "  help: it begins with a body: send a status line and headers before it",
        ),
        (json, "version", within, 4, r#"  help: `start` is answered by exactly `{"ready": true}`"#),
        (json, "one", within, 4, "  help: write each message in a line of its own"),
        (json, "echo", within, 4, "  help: coreach sends `start` and `input`: do not repeat them"),
        (
            json,
            "nothing",
            within,
            1,
            "  help: if the value may be missing, declare `n: option[int]` in the model",
        ),
        (lines, "tab", within, 1, r"  help: `\t` cannot be seen: let the system send a space"),
        (
            &format!("{lines}  reset: [{{ send: zero, expect: '^answer 1.*$' }}]\n").replace("n>", "n>2"),
            "again",
            within,
            1,
            "  help: it fits `expect: '^answer 1.*$'` of `reset`: is it sent twice",
        ),
        (lines, "exponent", within, 1, "  help: let the group take an exponent: write `(?:[eE][+-]?"),
        (http, "packed", within, 1, "  help: let the system send bodies that are not compressed"),
        (http, "held", lenient, 3, "`HTTP/1.1 200 OK` with `Content-Length: 9`, and sent 8 bytes"),
        (lines, "blank_of_print", within, 1, r"  help: `\u{a0}` cannot be seen: let the system send a space"),
        (
            &format!("{lines}  reset: [{{ send: zero, expect: '^answer 1$' }}]\n"),
            "again",
            within,
            1,
            "  help: the same came as an answer to `reset`: does the system answer twice?",
        ),
        (
            http,
            "longer",
            within,
            4,
            "in the middle of an answer, before all bytes of `Content-Length: 9` had come",
        ),
        (
            &format!("{http}  reset: [{{ method: GET, path: /0, status: 404 }}]\n"),
            "limited",
            within,
            4,
            "  help: the system limits the number of requests: switch this limit off",
        ),
        (
            &format!("{http}  reset: [{{ method: GET, path: /0, status: [201, 404] }}]\n"),
            "plain",
            within,
            4,
            "was answered with status 200, not 201 or 404, and the body",
        ),
        (lines, "latin", within, 4, "  help: let the system send UTF-8\n"),
        (
            http,
            "lined",
            within,
            4,
            "  help: if it answers in lines, describe it under `tcp` with `encoding: lines`",
        ),
        (
            &http.replace("None: { status: 404 }", "None: { status: 201, headers: { X-None: 'yes' } }"),
            "other",
            within,
            1,
            "  help: if the system is right, write `status: 201, to: Ask` there",
        ),
        (
            lines,
            "more",
            within,
            1,
            "hint: `Answer(2)` is a second answer to `Ask()`. If the system is right, add the transition `- { from: Idle, to: Idle, on: Answer }`",
        ),
        (json, "late", within, 4, "it has written `{\"ready\": true}` to standard error\n"),
        (lines, "buffer", short, 3, "  help: its output may wait in a buffer: flush it after each line"),
        (
            lines,
            "eof",
            short,
            3,
            "  help: it may wait for the end of its input: read and answer line by line",
        ),
        (
            lines,
            "prompt",
            within,
            1,
            r"help: if `> ` is a prompt, add it to the pattern: `Answer: '^> answer ",
        ),
        (lines, "time", within, 1, r"add it to each pattern, as in `Answer: '^\[\d+:\d+:\d+\] answer "),
        (lines, "sure", within, 1, r"write `ignore: [{ pattern: '^pay \d+ \- sure\? \(y/n\)$', answer: y }]`"),
        (lines, "echo", within, 1, "  help: it repeats what coreach sent: switch the echo"),
        (lines, "colour", within, 1, r"help: `\x1b[...` is a colour of a terminal"),
        (lines, "colour", within, 1, r"write `\x1b\[[0-9;]*m` into the patterns"),
        (lines, "mark", within, 1, "  help: it begins with a byte order mark: let the system write UTF-8"),
        (
            &format!("{lines}  unmatched: ignore\n"),
            "prompt",
            "within: 3 s\n",
            3,
            "  help: all that it has sent is ignored",
        ),
        (json, "python", within, 4, "  help: JSON puts texts in `\"`: in Python write `json.dumps(message)`"),
        (json, "indent", within, 4, "  help: write each message in one line: in Python"),
        (
            json,
            "twice",
            within,
            4,
            "  help: the message is encoded twice: in Python, call `json.dumps` only once",
        ),
        (json, "extra", within, 1, "  help: leave it out, or declare `m: int` as a parameter of `Answer`"),
        (json, "status", within, 4, "help: leave out `status`, which is no parameter: values stand under"),
        (json, "renamed", within, 4, "help: write `values` for `value`: the values of an output stand under"),
        (json, "flat", within, 4, r#"write `n` under `values`: {"values": {"n": 1}}"#),
        (lines, "stderr", within, 3, "has written `answer 1` to standard error"),
        (lines, "blank", within, 1, "an empty line, which no pattern fits"),
        (
            lines,
            "blank",
            within,
            1,
            "  help: if it is no event, skip it: write `ignore: [{ pattern: '^$' }]` next to `stimuli`",
        ),
        (
            lines,
            "cr",
            "within: 2 s\n",
            3,
            r"has sent `answer 1\r`, which ends with CR: lines end with a line feed",
        ),
        (
            lines,
            "semicolon",
            "within: 2 s\n",
            3,
            "send `\\n` in place of `;`. If it cannot, write `encoding: binary` with `frame: { delimiter: \"3b\" }`",
        ),
        (lines, "nul", "within: 2 s\n", 3, "write `encoding: binary` with `frame: { delimiter: \"00\" }`"),
        (
            lines,
            "zero",
            within,
            1,
            r"  help: the line contains `\0`: let the system send none, or write `\x00` into the pattern",
        ),
        (
            lines,
            "raises",
            within,
            4,
            "` ended with status 1 because of its error: TypeError: no number (system.py:",
        ),
        (&lines.replace("ask", "ASK"), "keyless", within, 4, "because of its error: KeyError: 'ASK' (system.py:"),
        (lines, "debug", within, 1, "skip it: write `ignore: [{ pattern: '^DEBUG .*$' }]`"),
        (lines, "coins", within, 1, "but ` coins` does not, from column 9 on\n"),
        (lines, "coins", within, 1, "if anything may follow, with `.*$`"),
        (lines, "mute", short, 3, "  help: it may not know `ask`, which was sent: compare `stimuli`"),
        (
            http,
            "bare",
            within,
            1,
            "no `n` for `Answer`: let the system send one, or declare an output without values, with `status: 204, to: Ask`",
        ),
        (http, "other", within, 1, "it fits `Answer` except for the status 200\n"),
        (lines, "exits", within, 4, "ended with status 3 without a word on standard error"),
        (
            lines,
            "login",
            within,
            1,
            "help: if it asks for something first, answer that: write `reset: [{ expect: '^name:$' }, { send: ANSWER }]`",
        ),
        (lines, "refuses", within, 1, "  help: the system may refuse `ask`, which coreach sent"),
        (
            lines,
            "plus",
            within,
            1,
            r"  help: a number has no `+`: keep it out of the group, `\+?(?P<...>\d+)`",
        ),
        (lines, "minus", within, 1, r"  help: for numbers below 0, write `-?\d+`"),
        (lines, "hex", within, 1, "  help: coreach reads decimal digits only"),
        (lines, "rest", within, 1, r"end the pattern with `(?:\.0)?$`"),
        (lines, "space", within, 1, "  help: each space counts: write ` +` in the pattern"),
        (lines, "comma", within, 1, "let the system write `1.000`, and declare the parameter as `real`"),
        (lines, "comma", within, 1, "; or `1000` if the comma separates thousands"),
        (lines, "under", within, 1, "a point: let the system write `0.100`, declare the parameter as `real`"),
        (http, "site", within, 1, "check the `path` of the request, and whether `base` lacks a prefix"),
        (lines, "eof", short, 3, "  help: it may still be starting, for which nothing waits: then it needs a longer"),
        (
            lines,
            "half",
            within,
            1,
            r"declare the parameter as `real`, and let its group take `-?\d+(?:\.\d+)?`",
        ),
        (lines, "drops", lenient, 3, "where the specification requires Answer(n = 2) after Ask()\n"),
        (lines, "drops", lenient, 3, "write the line `silence: fail` into the IUT file"),
        (lines, "drops", lenient, 3, "next: coreach test coreach.yaml --iut iut.yaml --seed 1 --keep runs"),
        (tcp, "tls", within, 4, "write `tls: { ca: ca.pem }` under `tcp`"),
        (tcp, "halves", within, 4, "does it read up to the end of each message?"),
        (tcp, "alert", within, 4, "it has sent a message of TLS"),
        (http, "cookie", within, 1, "hint: the answers set the cookie `sid`, which no request sends back"),
        (
            &http.replace("method: GET, path: /ask", "method: POST, path: /ask, body: '{}'"),
            "typed",
            within,
            1,
            "iut.yaml:5: `Ask` sends its body without a `Content-Type`: add `headers: { Content-Type: application/json }`",
        ),
        (
            &format!("{lines}  settle: {{ quiet_ms: 100 }}\n"),
            "again",
            within,
            1,
            "there is no `reset`: it may still have the state of earlier runs",
        ),
        (lines, "again", within, 1, "  help: the same came just before: does the system answer twice?"),
        (http, "twice", within, 1, "  help: the body is encoded as JSON twice"),
        (
            &format!("{http}  unmatched: ignore\n"),
            "other",
            lenient,
            3,
            "  help: all that it has sent is ignored, as `ignore` and `unmatched` say: at last `201 Created`",
        ),
        (
            http,
            "whole",
            "within: 2 s\n",
            3,
            "  help: it has not answered `GET /ask`, and coreach keeps the connection open",
        ),
        (
            &lines.replace(
                "{ Answer: '^answer (?P<n>\\d+)$', None: '^none$' }",
                "{ None: '^answer 1$', Answer: '^answer (?P<n>\\d+)$' }",
            ),
            "fine",
            within,
            1,
            "hint: the line `answer 1` also fits `Answer`, which comes after `None` in `observations`",
        ),
        (
            tcp,
            "closes",
            within,
            4,
            "  help: coreach opens no new connection in a run: let the system keep this one open",
        ),
        (tcp, "mute", short, 3, "  help: if the system speaks TLS on this port, write"),
        (
            http,
            "endless",
            "within: 2 s\n",
            3,
            "  help: it has begun the answer `HTTP/1.1 200 OK`, and not ended it",
        ),
        (http, "elsewhere", within, 1, "(`GET /ask` was answered `404 Not Found` with `{\"error\": \"gone\"}`)"),
        (http, "locked", within, 1, "  help: the system asks for credentials: write `headers"),
        (
            http,
            "keyed",
            within,
            1,
            "X-Api-Key: ... }` under `http`, or, if it is a part of the query, `?api_key=...` at the end of each `path`",
        ),
        (http, "token", within, 1, "  help: the system asks for a token: write `headers: { x-csrf-token: ... }` under `http`"),
        (
            &http.replace("  stimuli", "  headers: { Authorization: abc }\n  stimuli"),
            "locked",
            within,
            1,
            "refuses the request, though `Authorization` was sent: is its value right, still valid, and with its scheme, as in `Bearer ...`? Or does the system read it elsewhere, as in the query?",
        ),
        (
            &http.replace(
                "  stimuli",
                "  captures: { token: { pointer: /t, from: Answer } }\n  headers: { Authorization: 'Bearer {token}' }\n  stimuli",
            ),
            "locked",
            within,
            1,
            "  help: coreach left out the header `Authorization`: it has `{token}`, which has not been captured",
        ),
        (
            &http.replace(
                "  stimuli",
                "  captures: { token: { header: Content-Length, from: Answer } }\n  headers: { Authorization: 'Bearer {token}' }\n  \
                 reset: [{ method: GET, path: /0, status: 401 }]\n  stimuli",
            ),
            "locked",
            within,
            1,
            "the answer to `GET /0` has the header `Content-Length`, but `from` names `Answer`",
        ),
        (
            http,
            "page",
            within,
            1,
            "the answer `501 Not Implemented` with a page of HTML to `GET /ask` (`Ask`)",
        ),
        (
            http,
            "page",
            within,
            1,
            "  help: the system does not allow this method here: check the `method` of the request",
        ),
        (http, "empty", within, 1, "but `/n` of the body is missing\n"),
        (
            &http.replace("None: { status: 404 }", "None: { status: 200 }"),
            "empty",
            within,
            1,
            "hint: the answer is not `Answer`: it needs `n`, but `/n` of the body is missing\n",
        ),
        (http, "nested", within, 1, "  help: did you mean `/answer/n`?"),
        (
            http,
            "located",
            within,
            1,
            "  help: it has the header `Location: /asks/1`: write `n: { header: Location, match: '.*/([^/?]+)/?' }`",
        ),
        (http, "headed", within, 1, "  help: it has the header `x-n: 1`: write `n: { header: x-n }`"),
        (
            &http.replace("pointer: /n", "header: X-N, match: '(\\d+)'"),
            "prefixed",
            within,
            1,
            r"  help: a pattern fits a whole text: write `.*?(\d+)`",
        ),
        (
            &http.replace("values: {", "headers: { X-N: n }, values: {"),
            "prefixed",
            within,
            1,
            "  help: a pattern fits a whole text: write `n.*`",
        ),
        (
            &http.replace("pointer: /n", "header: X-N"),
            "prefixed",
            within,
            1,
            r"  help: to take only the number in it, add `match: '[^0-9-]*(-?\d+).*'` to its place",
        ),
        (&http.replace("pointer: /n", "header: X-N"), "cookie", within, 1, "  help: did you mean `/n`?"),
        (http, "deep", within, 1, "  help: it is an object: go on with `/value` in the pointer"),
        (
            http,
            "plain",
            within,
            1,
            r"or read a number in the text: `{ body: true, match: '[^0-9-]*(-?\d+)(?s:.*)' }` in place of",
        ),
        (
            http,
            "portal",
            within,
            1,
            "  help: it redirects to `/login`: log in by a step of `reset`, with `captures",
        ),
        (
            lines,
            "closed",
            within,
            1,
            "  help: if it needs a login, send that first: write `reset: [{ send: LOGIN",
        ),
        (
            lines,
            "cut",
            within,
            1,
            "  help: if the next line is the rest, write a pattern for each: `Answer: ['^answer $', '...']`",
        ),
        (http, "moved", within, 1, "  help: it redirects to `/there`, and coreach follows no redirections"),
        (
            lines,
            "buffer",
            "within: 5\n",
            3,
            "  help: a number without a unit is milliseconds: are 5 ms what you mean?\n  help: if it needs more than 5 ms",
        ),
    ] {
        let folder = folder();
        let system = carrier.replace("HABIT", habit);
        folder.write("iut.yaml", &format!("iut: asked\n{system}{more}"));
        let (out, err) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], code);
        assert!(unwrap(&out).contains(words), "{habit}: {out}{err}");
        assert!(!out.contains("hint: the first run"), "{habit}: {out}");
        assert!(habit != "keyless" || !out.contains("environment: {"), "{out}");
    }
}

/// Takes back that long lines are wrapped.
fn unwrap(text: &str) -> String {
    text.replace("\n        ", " ").replace("\n      ", " ").replace("\n    ", " ")
}

/// Each row is the type of `n`, its guard, what the system sends for it in Python, and the words that must be
/// there.
#[test]
fn a_value_that_is_nearly_right_is_told_with_what_it_means() {
    for (ty, guard, sent, words) in [
        (
            "real",
            "n == 3.0 / 10.0",
            "0.1 + 0.2",
            "`0.30000000000000004` is `0.3` with the error of binary fractions",
        ),
        ("Kind", "n == A", "0", r#"help: in JSON, each value of `Kind` is a text: `"A"` and `"B"`"#),
        ("Pair", "n.b == none", "{'b': 3}", "a wrong `n`: the field `a` of the type Pair is missing"),
        (
            "list[2] of int",
            "n == []",
            "None",
            "help: where it is empty, let the system send `[]`, not `null`",
        ),
        ("option[int]", "n == none", "'none'", "`some(x)` is written like `x`, and `none` is `null`"),
        (
            "option[string]",
            "n == none",
            "'None'",
            "hint: `some(\"None\")` is a text. Let the system send `null` where it means `none`",
        ),
        (
            "string",
            "n == \\\"é 李\\\"",
            "'é 李'.encode().decode('latin-1')",
            "hint: the system has read the bytes of `é 李`, which are UTF-8, as another encoding",
        ),
        ("int", "n == 17", "1700", "hint: `1700` is 100 times `17`. If the system counts in another unit"),
        ("int", "n == 120", "2", "hint: `2 * 60` would fit. If the system counts in another unit"),
        (
            "list[2] of Found",
            "n == []",
            "['No', {'Got': {'who': 'x', 'at': 0}}]",
            "sent `Answer` with a wrong `n`: in `[1].Got.at`, expected a value of type int[1..5], not 0",
        ),
        (
            "Found",
            "n is No",
            "{'type': 'Got', 'who': 'x', 'at': 1}",
            r#"a wrong `n`: expected {"Got": {"who": ..., "at": ...}}, not"#,
        ),
        (
            "Found",
            "n is No",
            "['Got', 'x', 1]",
            r#"a value of type Found ({"Got": {"who": ..., "at": ...}} or "No"), not"#,
        ),
        (
            "list[2] of Kind",
            "n == [A, B]",
            "['B', 'A']",
            "hint: if the order is free, declare `n: set[Kind]` in the model",
        ),
        (
            "set[Kind]",
            "n == {A}",
            "['A', 'A']",
            "help: if the system is right, give `n` another type in the model",
        ),
    ] {
        let folder = folder();
        let model = MODEL
            .replace("{ n: int }", &format!("{{ n: '{ty}' }}"))
            .replace("n == v", &format!("\"{guard}\""));
        let types = "types: { Pair: { a: int, b: 'option[int]' }, Kind: [A, B], Found: [Got: { who: string, at: 'int[1..5]' }, No] }\n";
        folder.write("model.yaml", &(model + types));
        folder.write("system.py", &SYSTEM.replace("else asked}", &format!("else {sent}}}")));
        folder.write("iut.yaml", "iut: asked\nstdio: { command: [python3, system.py, json, fine] }\n");
        let (out, err) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 1);
        assert!(unwrap(&out).contains(words), "{ty}: {out}{err}");
    }
}

/// Each row is the transport, what the system sends, and the words that must be there. The first output is a
/// list. If one item does not fit, the whole is only the output after it.
#[test]
fn an_item_that_does_not_fit_is_named() {
    let lines = "stdio:\n  command: [python3, system.py]\n  encoding: lines\n  ignore: [{ pattern: '^#.*$' }]\n  stimuli: \
                 { Ask: ask }\n  observations:\n    Row: { begin: '^rows$', each: '^row (?P<n>\\d+)$', end: '^end$', then: All \
                 }\n    All: { begin: '^rows$', end: '^end$' }\n";
    let http = "http:\n  base: http://127.0.0.1:{port}\n  launch: { command: [python3, system.py, \"{port}\"] }\n  stimuli: { \
                Ask: { method: GET, path: /ask } }\n  observations:\n    Row: { status: 200, each: /rows, values: { n: /n }, \
                then: All }\n    All: { status: 200 }\n";
    let folder = Folder::with(&[
        (
            "model.yaml",
            "iosts: m\nvariables: { v: int }\ninitial: { location: Idle, condition: v == 0 }\ninputs: { Ask: {} }\noutputs: { \
             Row: { n: int }, All: {} }\ntransitions:\n  - { from: Idle, to: L, on: Ask }\n  - { from: L, to: L, on: Row, when: n == v + \
             1, assign: { v: n } }\n  - { from: L, to: Idle, on: All, when: v == 2 }\n",
        ),
        (
            "purpose.yaml",
            "purpose: p\nof: m\ninitial: { location: B }\ntransitions: [{ from: B, to: Accept, on: All }]\n",
        ),
        ("coreach.yaml", "specification: model.yaml\npurpose: purpose.yaml\n"),
    ]);
    for (carrier, answer, words) in [
        (
            lines,
            r"rows\nrow 1\n# 2 times\nrow 2\nend",
            "hint: these lines are not `Row`, since line 3, `# 2 times`, does not fit `^row (?P<n>\\d+)$`. Lines within an \
             output are not ignored\n",
        ),
        (
            &lines.replace(", then: All", ""),
            r"rows\nend",
            "hint: these lines are not `Row`, since line 2, `end`, does not fit `^row (?P<n>\\d+)$`: without `then`, `each` must \
             fit at least one line",
        ),
        (
            http,
            r#"{\"rows\": [{\"n\": 1}, {\"m\": 2}]}"#,
            "hint: the answer is not `Row`: it needs `n`, but `/n` of the body is missing",
        ),
    ] {
        folder.write("iut.yaml", &format!("iut: m\nwithin: 5 s\n{carrier}"));
        let system = format!(
            "import sys\nfrom http.server import BaseHTTPRequestHandler, HTTPServer\nanswer = \"{answer}\"\n\
             class H(BaseHTTPRequestHandler):\n  def do_GET(self):\n    self.send_response(200)\n    \
             self.send_header('Content-Length', str(len(answer)))\n    self.end_headers()\n    \
             self.wfile.write(answer.encode())\nif sys.argv[1:]:\n  HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()\n\
             for line in sys.stdin:\n  print(answer, flush=True)\n"
        );
        folder.write("system.py", &system);
        let (out, err) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 1);
        assert!(unwrap(&out).contains(words), "{out}{err}");
    }
}

/// The model demands `None` before `Answer`, and the system sends `Answer` alone.
#[test]
fn an_order_that_the_model_demands_is_told_with_its_line() {
    let folder = folder();
    let first = "  - { from: Asked, to: Noted, on: None }\n  - { from: Noted, to: Idle";
    folder.write("model.yaml", &MODEL.replace("  - { from: Asked, to: Idle", first));
    folder.write("iut.yaml", "iut: asked\nstdio: { command: [python3, system.py, json, fine] }\n");
    let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 1);
    assert!(
        unwrap(&out)
            .contains("hint: by model.yaml:11, `Answer` comes only after `None`, which has not come."),
        "{out}"
    );
    assert!(
        out.contains("    in_any_order:\n      - { on: None }\n      - { on: Answer, when: 'n == v' }\n"),
        "{out}"
    );
}

/// Writing `None` and `Answer` in any order does not help if `None` changes what the guard of `Answer` reads.
#[test]
fn an_order_that_the_guards_demand_is_told_without_a_remedy() {
    let folder = folder();
    let first = "  - { from: Asked, to: Noted, on: None, assign: { v: v + 1 } }\n  - { from: Noted, to: Idle";
    folder.write("model.yaml", &MODEL.replace("  - { from: Asked, to: Idle", first));
    folder.write("iut.yaml", "iut: asked\nstdio: { command: [python3, system.py, json, fine] }\n");
    let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 1);
    assert!(
        unwrap(&out)
            .contains("hint: by model.yaml:11, `Answer` comes only after `None`, which has not come.\n"),
        "{out}"
    );
}

/// The system may answer so, but the purpose asks for another value.
#[test]
fn a_guard_of_the_purpose_that_an_answer_misses_is_told() {
    let model = "iosts: m\ninitial: { location: Idle }\ninputs: { Ask: {} }\noutputs: { All: { n: int } }\ntransitions:\n  \
                 - { from: Idle, to: L, on: Ask }\n  - { from: L, to: Idle, on: All, when: 0 <= n <= 3 }\n";
    let folder = Folder::with(&[
        ("model.yaml", model),
        ("system.yaml", &model.replace("0 <= n <= 3", "n == 0")),
        (
            "purpose.yaml",
            "purpose: p\nof: m\ninitial: { location: B }\ntransitions: [{ from: B, to: Accept, on: All, when: n == 3 }]\n",
        ),
        ("coreach.yaml", "specification: model.yaml\npurpose: purpose.yaml\n"),
        ("iut.yaml", "iut: m\nsimulated: { model: system.yaml }\n"),
    ]);
    let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 3);
    let words = "hint: in `B`, the purpose goes on with `All` only if `n == 3` holds (purpose.yaml:4). Any other `All` leads to \
                 Reject. To stay there instead, add `{ from: B, to: B, on: All, when: 'n != 3' }`";
    assert!(unwrap(&out).contains(words), "{out}");
    // This guard is met. Its value is wrong for the next one.
    folder.write(
        "purpose.yaml",
        "purpose: p\nof: m\nvariables: { v: int }\ninitial: { location: B, condition: v == 0 }\ntransitions:\n  \
         - { from: B, to: T, on: All, when: n >= 0, assign: { v: n } }\n  \
         - { from: T, to: Accept, on: All, when: v == 3 && n == 3 }\n",
    );
    let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 3);
    assert!(out.contains("puts the purpose out of reach") && !out.contains("hint:"), "{out}");
}

/// A model that stands for a system needs no time, but a transition.
#[test]
fn a_simulated_system_that_ignores_an_input_is_told() {
    let folder = folder();
    folder.write("prototype.yaml", &MODEL.replace("from: Idle, to: Asked", "from: Asked, to: Asked"));
    folder.write("iut.yaml", "iut: asked\nsimulated: { model: prototype.yaml }\n");
    let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 3);
    assert!(unwrap(&out).contains("help: the simulated model `asking` ignored `Ask()`"), "{out}");
    assert!(!out.contains("raise `within`"), "{out}");
}

#[test]
fn a_variable_that_nothing_assigns_is_told() {
    let folder = folder();
    folder.write("iut.yaml", "iut: asked\nstdio: { command: [python3, system.py, json, fine] }\n");
    let catalogue = MODEL
        .replace("v: int }", "v: int, q: \"list[2] of int\" }")
        .replace("when: n == v", "when: \"n == q[0] + 5\"");
    let with_value = |value: &str| {
        let condition = format!("\"v == 0 && q == {value} && cFirst >= 1\"");
        catalogue.replace("v == 0 && cFirst >= 1", &condition)
    };
    for (model, told) in [
        (
            MODEL.replace(", assign: { v: v + 1 }", ""),
            "hint: no transition assigns `v`, which the guard reads",
        ),
        (with_value("[]").replace("q[0]", "len(q)"), "hint: no transition assigns `q`"),
        // A catalogue does not change.
        (with_value("[7]"), ""),
    ] {
        folder.write("model.yaml", &model);
        let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 1);
        assert!(out.contains(told) && told.is_empty() != out.contains("no transition assigns"), "{out}");
    }
}

/// The guard of its answer has an equation, so a help about equations would mislead.
#[test]
fn a_simulated_system_whose_guard_has_no_value_is_told() {
    let folder = folder();
    // An equation that no value satisfies is not the reason.
    let other =
        "  - { from: Asked, to: Idle, on: Answer, when: '(if v > 9 then some(v) else none) == some(n)' }\n";
    for other in ["", other] {
        let text = MODEL.replace("when: n == v", "when: n == 1 div (v - 1)") + other;
        folder.write("prototype.yaml", &text);
        folder.write("iut.yaml", "iut: asked\nsimulated: { model: prototype.yaml }\n");
        let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 3);
        assert!(unwrap(&out).contains(", so `Answer` cannot come"), "{out}");
    }
}

/// Each row is how the system is reached, the number of runs, and the words that must be there.
#[test]
fn what_keeps_a_system_from_starting_is_named() {
    let lines = "encoding: lines\n  stimuli: { Ask: ask }\n  observations: { Answer: '^answer (?P<n>\\d+)$', None: '^none$' }\n";
    let launch = |command: &str, more: &str| {
        format!("tcp:\n  address: 127.0.0.1:{{port}}\n  launch: {{ command: {command}{more} }}\n  {lines}")
    };
    let stdio = |command: &str, more: &str| format!("stdio:\n  command: {command}\n  {more}{lines}");
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    let taken = launch("[python3, system.py, tcp, fine, \"{port}\"]", "").replace("{port}", &port);
    for (way, runs, words) in [
        (taken, "1", "another program listens on 127.0.0.1:"),
        (
            stdio("[\"python3 system.py\"]", ""),
            "1",
            "  help: this is one word with a space: write `command: [python3, system.py]`",
        ),
        (
            stdio("[start.sh]", ""),
            "1",
            "  help: for the program in the folder of the IUT file, write `./start.sh`",
        ),
        (stdio("[./windows.sh]", ""), "1", r"the first line of the script ends with `\r\n`"),
        (
            stdio("[./env.sh]", "reset: [{ expect: '^hello$' }]\n  "),
            "1",
            r"the first line of the script ends with `\r\n`",
        ),
        (
            launch("[sh, -c, \"python3 system.py tcp fine {port} &\"]", ""),
            "1",
            "  help: the program of `launch` must stay in the foreground: leave out `&`",
        ),
        (
            launch("[python3, system.py, lines, fine]", ""),
            "1",
            "write `stdio:` in place of `tcp:`, and `command: [python3, system.py, lines, fine]` in place of `address` and `launch`",
        ),
        (
            launch("[python3, system.py, tcp, unended, \"{port}\"]", ", ready_ms: 5000")
                + "  reset: [{ send: zero, expect: '^ok$' }]\n",
            "1",
            r"  help: let the system end each line with `\n`",
        ),
        (launch("[sleep, \"20\", \"{port}\"]", ", ready_ms: 200"), "1", "within `ready_ms: 200`"),
        (
            launch(
                "[python3, -c, 'import socket, sys, time; s = socket.socket(type=2); s.bind((\"127.0.0.1\", int(sys.argv[1]))); time.sleep(20)', \"{port}\"]",
                ", ready_ms: 2000",
            ),
            "1",
            "  help: it listens on this port over UDP: write `udp:` in place of `tcp:`",
        ),
        (
            launch("[python3, system.py, tcp, shut, \"{port}\"]", "")
                + "  reset: [{ send: zero, expect: '^ok$' }]\n",
            "1",
            "  help: if it speaks TLS on this port: write `tls: { ca: ca.pem }`",
        ),
        (
            stdio(
                "[python3, system.py, lines, echo]",
                "reset: [{ send: 'zero {cFirst}', expect: '^ok$' }]\n  ",
            ),
            "1",
            r"  help: it repeats what coreach sent: switch the echo of the system off, or skip these lines: write `ignore: [{ pattern: '^(zero -?\d+|ask)$' }]`",
        ),
        (
            "http:\n  base: http://127.0.0.1:{port}\n  launch: { command: [python3, system.py, http, held, \"{port}\"], ready_ms: 1500 }\n  \
             reset: [{ method: GET, path: /ask }]\n  stimuli: { Ask: { method: GET, path: /ask } }\n  \
             observations: { Answer: { status: 200, values: { n: /n } }, None: { status: 404 } }\n"
                .to_owned(),
            "1",
            "was not answered in time",
        ),
        (
            stdio("[SPEED=1, python3, system.py]", ""),
            "1",
            "  help: coreach starts no shell: write `environment: { SPEED: \"1\" }` next to `command`",
        ),
        (
            "stdio: { command: [./behind.sh] }\n".to_owned(),
            "1",
            "A script must start it with `exec`: a program started with `&` gets no input",
        ),
        (
            "stdio: { command: [python3, system.py, json, deaf], keep: true, ready_ms: 1500 }\n".to_owned(),
            "2",
            "  help: answer `start` with `{\"ready\": true}` in each run, not only in the first one",
        ),
        (
            launch("[python3, system.py, tcp, once, \"{port}\"]", ", keep: true")
                + "  reset: [{ send: reset, expect: '^answer 0$' }]\n",
            "2",
            "ended with status 0 after the run before\n",
        ),
        (
            launch("[python3, system.py, tcp, mute, \"{port}\"]", ", ready_ms: 2000")
                + "  reset: [{ send: zero, expect: '^ok$' }]\n",
            "1",
            "  help: coreach sent `zero\\n`, with LF at its end",
        ),
        (
            launch("[python3, system.py, tcp, mute, \"{port}\"]", ", ready_ms: 2000")
                + "  reset: [{ send: zero, expect: '^ok$' }]\n",
            "1",
            "  help: it may not know `zero`, which was sent",
        ),
        (
            stdio("[python3, system.py, lines, mute]", "ready_ms: 1000\n  reset: [{ expect: '^hello$' }]\n  "),
            "1",
            "  help: nothing has come: let the system flush each line",
        ),
        (
            launch("[python3, system.py, tcp, printed, \"{port}\"]", ", ready_ms: 1500")
                + "  reset: [{ expect: '^hello$' }]\n",
            "1",
            "  help: it has printed `hello`: let it send this over the connection",
        ),
        (
            launch("[python3, system.py, tcp, greets, \"{port}\"]", "")
                + "  reset: [{ send: zero, expect: '^answer 1$' }]\n",
            "1",
            r"  help: if the system sends this by itself at first, begin `reset` with `{ expect: '^\d+ .*$' }`",
        ),
        (
            launch("[python3, system.py, tcp, asks, \"{port}\"]", "")
                + "  reset: [{ send: zero, expect: '^answer 1$' }]\n",
            "1",
            "  help: if `> ` is a prompt, add it to the pattern: `expect: '^> answer 1$'`",
        ),
        (
            launch("[python3, system.py, tcp, telnet, \"{port}\"]", "")
                + "  reset: [{ send: zero, expect: '^answer 1$' }]\n",
            "1",
            r"`send: zero` of `reset` was answered by garbage: a line is not UTF-8: \xff\xfd\x18answer 1",
        ),
        (
            launch("[python3, system.py, tcp, telnet, \"{port}\"]", ""),
            "1",
            "  help: it begins with commands of Telnet: let the system send none at the connect",
        ),
    ] {
        let folder = folder();
        folder.write("iut.yaml", &format!("iut: asked\n{way}"));
        for (name, text) in [
            ("start.sh", "#!/bin/sh\nexec python3 system.py lines fine\n"),
            ("windows.sh", "#!/bin/sh\r\nexec python3 system.py lines fine\r\n"),
            ("env.sh", "#!/usr/bin/env python3\r\nprint()\r\n"),
            ("behind.sh", "#!/bin/sh\npython3 system.py json fine &\n"),
        ] {
            let path = folder.write(name, text);
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let (out, err) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", runs], 4);
        assert!(unwrap(&out).contains(words), "{words}: {out}{err}");
    }
}

/// The observations of a server that answers `200`, where the model expects `Answer`, and the hint.
#[test]
fn an_expected_output_that_an_answer_could_be_is_named() {
    let folder = folder();
    let model = MODEL.replace("Answer: { n: int }, None: {}", "Answer: {}, None: { n: int }");
    folder.write("model.yaml", &model.replace(", when: n == v", ""));
    for (observations, hint) in [
        (
            "{ None: { status: 200, values: { n: /n } }, Answer: { status: 200 } }",
            "counts: write `Answer: { status: 200, to: Ask }` before `None`",
        ),
        (
            "{ None: { status: 200, values: { n: /size } }, Answer: { status: 204 } }",
            "hint: `Answer` was expected, which has the status 204. If the system is right, write `Answer: { status: 200, to: Ask }`",
        ),
    ] {
        let iut = "iut: asked\nhttp:\n  base: http://127.0.0.1:{port}\n  launch: { command: [python3, system.py, http, cookie, \"{port}\"] }\n  \
                   stimuli: { Ask: { method: GET, path: /ask } }\n";
        folder.write("iut.yaml", &format!("{iut}  observations: {observations}\n"));
        let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 1);
        assert!(unwrap(&out).contains(hint), "{out}");
        assert!(!out.contains("did you mean"), "{out}");
    }
}

/// The guard reads the old value. It is suspected only if it has never held in the run.
#[test]
fn a_guard_that_held_before_is_not_suspected() {
    let folder = folder();
    folder.write("iut.yaml", "iut: asked\nstdio: { command: [python3, system.py, json, fine] }\n");
    for (guard, sent, is_suspected) in [("n == v", "asked", true), ("n == v + 1", "2 * asked - 1", false)] {
        let model = MODEL.replace("on: Ask, assign: { v: v + 1 }", "on: Ask");
        let answer = format!("when: {guard}, assign: {{ v: v + 1 }}");
        folder.write("model.yaml", &model.replace("when: n == v", &answer));
        folder.write("system.py", &SYSTEM.replace("else asked}", &format!("else {sent}}}")));
        let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 1);
        assert_eq!(unwrap(&out).contains("write `v + 1` in the guard"), is_suspected, "{out}");
    }
}

/// A run that is too long, a file with the state of earlier runs, and a server that ends no connection.
#[test]
fn what_goes_wrong_over_several_events_or_runs_is_told() {
    let folder = folder();
    let json =
        |habit: &str| format!("iut: asked\nstdio: {{ command: [python3, system.py, json, {habit}] }}\n");
    let held = "iut: asked\ntcp:\n  address: 127.0.0.1:{port}\n  launch: { command: [python3, system.py, tcp, holds, \"{port}\"], keep: true }\n  \
                settle: { within_ms: 1200 }\n  encoding: lines\n  reset: [{ send: reset, expect: '^answer 0$' }]\n  \
                stimuli: { Ask: ask }\n  observations: { Answer: '^answer (?P<n>\\d+)$', None: '^none$' }\n";
    for (iut, options, code, words) in [
        (json("fine"), "--events 3", 3, "hint: messages were chosen at random. `--strategy plan`"),
        (json("file"), "--runs 3", 1, "in a file? If so, the first run fails when you repeat the command"),
        (json("locks").replace(" }", ", grace_ms: 2000 }"), "--runs 3", 0, "Pass 3"),
        (
            json("locks"),
            "--runs 3",
            4,
            "hint: only the first run began. coreach kills the system after each run",
        ),
        (held.to_owned(), "--runs 1", 0, "hint: coreach waited 1 s after a run for the other side to end"),
    ] {
        folder.write("iut.yaml", &iut);
        let arguments = format!("test coreach.yaml --iut iut.yaml {options}");
        let (out, err) = folder.ends(&arguments.split(' ').collect::<Vec<_>>(), code);
        assert!(unwrap(&out).contains(words), "{words}: {out}{err}");
    }
    // Late failures of other seeds do not suggest a file.
    folder.write("iut.yaml", &json("seeded"));
    let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", "4"], 1);
    assert!(out.contains("Pass 1, Inconclusive 0, Fail 3") && !out.contains("hint: the first run"), "{out}");
}

/// A server that sends lines without an end after the second answer. If they are ignored, the run ends as if
/// nothing came. Otherwise the message has the cause, and no hint supposes another one.
#[test]
fn lines_that_are_ignored_do_not_keep_a_run_from_its_end() {
    let folder = folder();
    for (more, code) in [("unmatched: ignore", 0), ("ignore: [{ pattern: '^tick$' }]", 0), ("", 4)] {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let words = ["system.py", "tcp", "ticks", &port.to_string()];
        let mut system = Command::new("python3").args(words).current_dir(&folder.0).spawn().unwrap();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        folder.write(
            "iut.yaml",
            &format!(
                "iut: asked\nwithin: 5 s\ntcp:\n  address: 127.0.0.1:{port}\n  settle: {{ within_ms: 600, quiet_ms: 200 }}\n  \
                 encoding: lines\n  {more}\n  reset: [{{ send: reset, expect: '^answer 0$' }}]\n  \
                 stimuli: {{ Ask: ask }}\n  observations: {{ Answer: '^answer (?P<n>\\d+)$', None: '^none$' }}\n"
            ),
        );
        let output = folder.coreach(&["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", "3"]);
        system.kill().unwrap();
        system.wait().unwrap();
        exits(&output, code);
        let out = stdout(&output);
        assert!(
            code == 0
                || unwrap(&out).contains("messages of that run may still come")
                    && !out.contains("hint: the first run"),
            "{out}"
        );
    }
}

/// A wrong `to` makes the model wait for an output that nobody means.
#[test]
fn a_model_that_waits_for_one_more_output_is_told() {
    let folder = folder();
    folder.write(
        "model.yaml",
        &MODEL.replace("from: Asked, to: Idle, on: Answer", "from: Asked, to: Asked, on: Answer"),
    );
    folder.write(
        "iut.yaml",
        "iut: asked\nstdio: { command: [python3, system.py, json, fine] }\nwithin: 300 ms\n",
    );
    let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 3);
    let words = "help: the model waits for one more output after `Answer`: if none is meant, correct where `Answer` leads to";
    assert!(unwrap(&out).contains(words), "{out}");
}

/// A quote in a plain text would end it in JSON, and an encoded text has none.
#[test]
fn an_encoded_text_needs_no_warning_of_quotes() {
    let folder = folder();
    folder.write("model.yaml", &MODEL.replace("Ask: {}", "Ask: { name: string }"));
    for (values, is_warned) in [("", true), ("  values: { name: base64 }\n", false)] {
        let text = "iut: asked\nhttp:\n  base: http://127.0.0.1:1\n  stimuli: { Ask: { method: POST, path: /, body: '{\"n\": \"{name}\"}' } }\n  \
                    observations: { Answer: { status: 200, values: { n: /n } }, None: { status: 404 } }\n";
        folder.write("iut.yaml", &format!("{text}{values}"));
        let (out, err) = folder.ends(&["check", "iut.yaml", "model.yaml"], 0);
        assert_eq!((out + &err).contains("a quote in the text `{name}` would end it"), is_warned);
    }
}

/// A path with the whole address that the system gives for an id.
#[test]
fn an_address_in_a_path_is_told() {
    let folder = folder();
    folder.write(
        "model.yaml",
        &MODEL
            .replace("{ n: int }", "{ n: string }")
            .replace("Ask: {}", "Ask: { at: string }")
            .replace("on: Ask,", "on: Ask, when: at == \"http://here/1\",")
            .replace("n == v", "n == \"\""),
    );
    folder.write(
        "iut.yaml",
        "iut: asked\nhttp:\n  base: http://127.0.0.1:{port}\n  launch: { command: [python3, system.py, http, shut, \"{port}\"] }\n  \
         stimuli: { Ask: { method: GET, path: \"/asks/{at}\" } }\n  observations: { Answer: { status: 200, values: { n: /n } }, None: { status: 404 } }\n",
    );
    let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 4);
    assert!(unwrap(&out).contains("hint: a whole address stands in the path. To read only its end"), "{out}");
}

/// The system is right now, so the stored run cannot go on as before.
#[test]
fn a_replay_that_has_nothing_to_send_says_so() {
    let folder = folder();
    let iut =
        |habit: &str| format!("iut: asked\nstdio: {{ command: [python3, system.py, json, {habit}] }}\n");
    folder.write("wrong.yaml", &iut("text"));
    folder.write("right.yaml", &iut("fine"));
    folder.ends(&["test", "coreach.yaml", "--iut", "wrong.yaml", "--keep", "kept", "--quiet"], 1);
    let (out, _) = folder.ends(&["replay", "kept/twice.1.json", "--iut", "right.yaml"], 3);
    assert!(
        unwrap(&out).contains("Inconclusive: no stimulus of the stored run is left, and nothing more"),
        "{out}"
    );
    assert!(!out.contains("help:"), "{out}");
}

/// A file that stands without its option.
#[test]
fn a_file_without_its_option_is_told_where_it_belongs() {
    let folder = folder();
    folder.write("iut.yaml", "iut: asked\nstdio: { command: [python3, system.py, json, fine] }\n");
    for (extra, words) in [
        ("iut.yaml", "`coreach test coreach.yaml --iut iut.yaml`"),
        ("twice.yaml", "a configuration names the specification and `purpose: twice.yaml`"),
    ] {
        let (_, err) = folder.ends(&["test", "coreach.yaml", extra], 2);
        assert!(err.contains(words), "{extra}: {err}");
    }
}

/// Each row is arguments that are refused, the exit code, and the words that must be there.
#[test]
fn a_frequent_mistake_of_the_command_line_is_named_with_what_helps() {
    let folder = folder();
    folder.write("iut.yaml", "purpose: asked\nstdio: { command: [python3, system.py, json, fine] }\n");
    folder.write("without.yaml", &TWICE.replace("of: asking\n", ""));
    folder.write("named.yaml", &MODEL.replace("Ask: {}", "Ask: { pName: string }"));
    let ask = "{ method: POST, path: /, body: '{\"name\": {pName}}' }";
    let answers = "{ Answer: { status: 200, values: { n: { pointer: /n } } }, None: { status: 404 } }";
    let listed = "types: { Name: [ANN, BEN] }\n";
    folder.write("listed.yaml", &(MODEL.replace("Ask: {}", "Ask: { pName: Name }") + listed));
    for (file, ask, values) in [
        ("quotes.yaml", ask, ""),
        ("spelt.yaml", ask, "  values: { pName: { ann: ANN, 1: BEN } }\n"),
        ("numbered.yaml", ask, "  values: { pName: { 2: ANN, true: BEN } }\n"),
        ("mapped.yaml", "{ method: POST, path: /, body: { name: '{pName}', kind: new, size: 2 } }", ""),
    ] {
        folder.write(
            file,
            &format!(
                "iut: asked\nhttp:\n  base: http://127.0.0.1:1\n  stimuli: {{ Ask: {ask} }}\n  observations: {answers}\n{values}"
            ),
        );
    }
    let (out, err) = folder.ends(&["check", "numbered.yaml", "listed.yaml"], 0);
    assert!(!err.contains("quotes"), "{out}{err}");
    folder.write("bare.yaml", "iut: asked\nstdio: { command: [python3, system.py, json, fine, cFirst] }\n");
    folder.write("right.yaml", "iut: asked\nstdio: { command: [python3, system.py, json, fine] }\n");
    folder.ends(&["test", "coreach.yaml", "--iut", "right.yaml", "--keep", "lost", "--quiet"], 0);
    folder.ends(&["test", "coreach.yaml", "--iut", "right.yaml", "--keep", "kept", "--quiet"], 0);
    folder.write(
        "old.yaml",
        "iut: asked\nstdio:\n  command: [python3]\n  encoding: lines\n  stimuli: { Ask: ask }\n  observations: { Old: '^x$' }\n",
    );
    fs::remove_file(folder.0.join("lost/twice.test_case.json")).unwrap();
    folder
        .write("never.yaml", "property: never\nof: asking\ninitial: { location: Begin }\ntransitions: []\n");
    for (file, text) in [
        ("property.yaml", "purposes: [never.yaml]"),
        ("fixed.yaml", "purpose: twice.yaml\ninstantiate: { cFirst: 4 }"),
        ("lists.yaml", "purpose: twice.yaml\ninstantiate: { cFirst: [4, 5] }"),
        ("equal.yaml", "purpose: twice.yaml\ninstantiate: cFirst=4"),
        ("judged.yaml", "purpose: twice.yaml\njudge: offline"),
        ("elsewhere.yaml", "purposes: [here/twice.yaml, here/other.yaml]"),
        ("constants.yaml", "purpose: twice.yaml\nconstants: { cFirst: 4 }"),
        ("variable.yaml", "purpose: twice.yaml\ninstantiate: { v: 4 }"),
    ] {
        folder.write(file, &format!("specification: model.yaml\n{text}\n"));
    }
    for (file, configuration, text) in [
        ("several.yaml", "coreach.yaml", "iuts: [right.yaml]\nconstants: { cFirst: [4, 5] }"),
        ("listed_seeds.yaml", "coreach.yaml", "iuts: [right.yaml]\nseeds: [1..3]"),
        ("counted.yaml", "coreach.yaml", "iuts: [right.yaml]\nseeds: 5"),
        ("program.yaml", "coreach.yaml", "iuts: [system.py]"),
        ("fixed_campaign.yaml", "fixed.yaml", "iuts: [right.yaml]\nconstants: { cFirst: 4 }"),
    ] {
        folder
            .write(file, &format!("campaign: many\ntests: [{{ configuration: {configuration} }}]\n{text}\n"));
    }
    let holes = "iut: asked\nstdio: { command: [python3, system.py, json, fine, '{cFirst}'] }\n";
    folder.write("holes.yaml", holes);
    folder.write("speed.yaml", "iut: asked\nstdio: { command: [SPEED=1, python3, system.py] }\n");
    folder.write("text.yaml", "iut: asked\nhttp:\n  base: http://127.0.0.1:1\n  captures: { token: { pointer: /t, from: Ask } }\n  \
        stimuli: { Ask: { method: POST, path: /, body: '{\"name\": \"{pName}\"}' } }\n  observations: { Answer: { status: 200, \
        body: ok, values: { n: /n } }, None: { status: 404 } }\n");
    folder.write("port.yaml", "iut: asked\ntcp:\n  address: 127.0.0.1:$PORT\n  launch: { command: [./system, $PORT] }\n  encoding: lines\n  \
        stimuli: { Ask: 'ask ${pName}' }\n  observations: { Answer: '^answer (?P<n>\\d+)$', None: '^none$' }\n");
    folder.write("launch.yaml", "iut: asked\ntcp:\n  address: \"127.0.0.1:{port}\"\n  command: [./system, \"{port}\"]\n  encoding: lines\n  \
        stimuli: { Ask: ask }\n  observations: { Answer: '^answer (?P<n>\\d+)$', None: '^none$' }\n");
    for (file, from, to) in [
        ("prime.yaml", "n == v", "n == v'"),
        ("plus.yaml", "v: v + 1", "v: +1"),
        ("sign.yaml", "on: Ask,", "on: Ask?,"),
        ("below.yaml", "on: Ask, assign: { v: v + 1 } }", "on: Ask }\n    assign: { v: v + 1 }"),
        ("star.yaml", "from: Idle", "from: '*'"),
        ("clash.yaml", "Ask: {}", "Ask: { v: int }"),
        ("equals.yaml", "assign: { v: v + 1 }", "when: v = v + 1"),
        ("numbers.yaml", "constants", "types: { Item: [1, 3] }\nconstants"),
        ("swapped.yaml", "from: Asked, to: Idle", "from: Told, to: Idle"),
        ("ends.yaml", "from: Asked, to: Idle, on: Answer, when: n == v", "from: Idle, to: Idle, on: None"),
        ("guarded.yaml", "on: Ask,", "on: Ask, when: n > 2,"),
        ("mealy.yaml", "to: Asked, on: Ask", "to: Idle, on: Ask, output: None"),
    ] {
        folder.write(file, &MODEL.replace(from, to));
    }
    folder.write(
        "unset.yaml",
        &MODEL.replace(", assign: { v: v + 1 }", "").replace("n == v", "v > 5 && n == v"),
    );
    folder.write("unset_configuration.yaml", "specification: unset.yaml\npurpose: twice.yaml\n");
    let guarded = fs::read_to_string(folder.0.join("guarded.yaml")).unwrap();
    folder.write("guarded.yaml", &guarded.replace("Ask: {}", "Ask: { n: int }"));
    folder.write("sampled.yaml", "iut: asked\nstdio: { command: [python3] }\nsamples: { n: [3, 2] }\n");
    let narrow = MODEL.replace("{ n: int }", "{ n: nat }").replace("n == v", "n == v - 2");
    folder.write("narrow.yaml", &narrow);
    folder.write("where.yaml", &TWICE.replace("cFirst > 3", "location == Asked"));
    folder.write("swapped_configuration.yaml", "specification: swapped.yaml\npurpose: twice.yaml\n");
    folder.write("keys.yaml", "specification: model.yaml\npurpose: twice.yaml\nlink: synchronous\nseed: 7\n");
    for (arguments, code, words) in [
        ("check prime.yaml", 2, "give the new one with `assign: { v: VALUE }`"),
        ("check plus.yaml", 2, "help: write a number without `+`, and a sum as `x + 1`"),
        ("check below.yaml", 2, "write `- { from: Idle, to: Asked, on: Ask, assign: { v: v + 1 } }`"),
        ("check star.yaml", 2, "write one transition for each location"),
        ("check clash.yaml", 2, "name the parameter `p_v`, and write `assign: { v: p_v }` there"),
        ("check equals.yaml", 0, "to set `v`, write `assign: { v: v + 1 }` beside `when`"),
        ("check numbers.yaml", 2, "for numbers write a range: `Item: \"int[1..3]\"`"),
        ("check ends.yaml", 0, "no transition leaves `Asked`: is one missing there?"),
        ("check narrow.yaml", 0, "`Answer` would need `n = -1`, which its type `nat` does not have"),
        ("check narrow.yaml", 0, "write the type `int` for `n` of `Answer`"),
        ("check sampled.yaml guarded.yaml", 0, "never sends this sample: the guard of `Ask` needs `n > 2`"),
        ("check where.yaml model.yaml", 2, "which in a purpose is one of its own"),
        ("check where.yaml model.yaml", 2, "name the message that leads there"),
        ("check variable.yaml", 2, "as in `condition: v == VALUE`"),
        ("campaign listed_seeds.yaml", 2, "a range as `{ first: 1, count: 3 }`"),
        ("test swapped_configuration.yaml --iut right.yaml", 7, "no path leads to the location `Told`"),
        (
            "test swapped_configuration.yaml --iut right.yaml",
            7,
            "the purpose waits for `Answer`, but the run is in",
        ),
        ("replay kept/twice.1.json --iut old.yaml", 2, "the model here is that of the run"),
        ("check sign.yaml", 2, "help: write an action under `on:`"),
        (
            "check mealy.yaml",
            2,
            "write `{ from: Idle, to: IdleAsk, on: Ask, assign: { v: v + 1 } }` and `{ from: IdleAsk, to: Idle, on: None }`",
        ),
        (
            "run unset_configuration.yaml",
            7,
            "no transition that can be reached assigns `v`, so it always has its first value",
        ),
        ("check keys.yaml", 2, "help: this key belongs into the IUT file"),
        ("check keys.yaml", 2, "help: give it on the command line: `coreach test coreach.yaml --seed 7"),
        ("check text.yaml named.yaml", 2, "`Ask` is an input, not the output that answers it"),
        ("check text.yaml named.yaml", 2, "help: write `{json(pName)}`, without quotes around it"),
        ("check text.yaml named.yaml", 2, "help: a body is not compared: leave `body` out"),
        (
            "check speed.yaml model.yaml",
            0,
            "help: write `command: [python3, system.py], environment: { SPEED: \"1\" }`",
        ),
        ("check port.yaml named.yaml", 2, "for example `address: \"127.0.0.1:{port}\"`"),
        ("check port.yaml named.yaml", 2, "help: write `\"{port}\"` for the port that coreach chooses"),
        ("check port.yaml named.yaml", 2, "help: for the value alone write `{pName}`"),
        ("check launch.yaml", 2, "help: write `launch: { command: [PROGRAM, \"{port}\"] }`, or a port"),
        ("check launch.yaml", 2, "`command` belongs under `launch`: write the line `launch:`"),
        (
            "test model.yaml --purpose twice.yaml --iut right.yaml",
            2,
            "`purpose: twice.yaml` in two lines into a file coreach.yaml, and give that without `--purpose`",
        ),
        ("test coreach.yaml --purpose twice.yaml --iut right.yaml", 2, "help: write `--purpose twice`"),
        (
            "test coreach.yaml --iut right.yaml --seeds 5",
            2,
            "tip: `--runs 5` makes 5 runs, each with a seed of its own",
        ),
        (
            "test coreach.yaml --iut right.yaml --timeout 5s",
            2,
            "tip: `--quiescence 5s` says how long coreach waits for an answer",
        ),
        ("test right.yaml coreach.yaml", 2, "`coreach test coreach.yaml --iut right.yaml`"),
        (
            "test --seed 3 right.yaml coreach.yaml --runs 2",
            2,
            "`coreach test --seed 3 coreach.yaml --runs 2 --iut right.yaml`",
        ),
        (
            "test fixed.yaml --iut holes.yaml",
            2,
            "help: remove `cFirst` under `instantiate`, and give `--constant cFirst=4`",
        ),
        ("run model.yaml", 2, "`specification: model.yaml` and `purpose: PURPOSE.yaml` in two lines"),
        ("run model.yaml", 2, "Without a purpose, `test --cover all` takes it"),
        ("test coreach.yaml", 2, "tip: `--iut` names a file that says how to reach your system"),
        ("test coreach.yaml --iut iut.yaml", 2, "an IUT file begins with `iut:` and its name"),
        (
            "test coreach.yaml --iut ./system.py",
            2,
            "`iut: system` and `stdio: { command: [python3, system.py] }` in two lines into a file system.yaml",
        ),
        (
            "mutate coreach.yaml --iut named.yaml",
            2,
            "plants faults into the specification, and runs no system: leave",
        ),
        ("check model.yaml --iut iut.yaml", 2, "takes IUT files like all others: leave `--iut` out"),
        ("run coreach.yaml --seed 3", 2, "tip: `coreach run` has no `--seed`; `coreach"),
        ("test coreach.yaml --iut iut.yaml --within 5s", 2, "write `within: 5 s` into the IUT file"),
        ("compare coreach.yaml --domains box", 2, "did you mean `interval`?"),
        ("test fixed.yaml --iut right.yaml --constant cFirst=5", 2, "remove `cFirst` under `instantiate`"),
        (
            "test coreach.yaml --iut right.yaml --constant cFirst=5 --constant cFirst=6",
            2,
            "gives `cFirst` twice",
        ),
        // Each mistake is reported once.
        (
            "test coreach.yaml --iut right.yaml --constant cFrist=5 --constant cFrist=6 --constant cFrist=7",
            2,
            "2 errors",
        ),
        ("explain lost/twice.1.json", 2, "needs its test case, but there is no lost/twice.test_case.json"),
        ("coverage lost", 2, "copy it from the folder of `coreach test --keep`"),
        ("explain coreach.yaml", 2, "`test --keep FOLDER` writes runs"),
        ("verify model.yaml", 2, "`specification: model.yaml` and `property: PROPERTY.yaml` in two lines"),
        ("run property.yaml", 2, "name it as `properties: [never.yaml]`"),
        ("run lists.yaml", 2, "write `constants: [{ cFirst: 4 }, { cFirst: 5 }]` in a campaign"),
        ("run equal.yaml", 2, "write `instantiate: { cFirst: 4 }`"),
        ("run judged.yaml", 2, "there are `test_case` and `online`"),
        ("run elsewhere.yaml", 2, "paths are relative to the folder of the file that names them"),
        ("run constants.yaml", 2, "a campaign `constants: { NAME: VALUE }`"),
        ("campaign several.yaml", 2, "write a mapping for each: `constants: [{ cFirst: 4 }, { cFirst: 5 }]`"),
        ("campaign counted.yaml", 2, "for example `seeds: { first: 1, count: 5 }`"),
        ("campaign program.yaml", 2, "system.py is a program, not an IUT file"),
        (
            "campaign fixed_campaign.yaml",
            2,
            "remove `cFirst` under `instantiate`, so that the campaign gives",
        ),
        ("test coreach.yaml --iut iut.yaml --seed 3..10", 2, "The seeds 3 to 10 are `--seed 3 --runs 8`"),
        ("report model.yaml runs", 2, "`coreach report model.yaml runs --out report.html`"),
        ("check iut.yaml", 2, "iut.yaml begins like a purpose, and has keys of an IUT file"),
        ("check quotes.yaml named.yaml", 0, "`{pName}` is a text, but has no quotes in this JSON"),
        ("check quotes.yaml listed.yaml", 0, "`{pName}` is a text, but has no quotes in this JSON"),
        ("check spelt.yaml listed.yaml", 0, "`{pName}` is a text, but has no quotes in this JSON"),
        (
            "check mapped.yaml named.yaml",
            2,
            "`body: '{\"name\": {json(pName)}, \"kind\": \"new\", \"size\": 2}'`",
        ),
        ("check bare.yaml model.yaml", 0, "write `\"{cFirst}\"` for its value"),
        ("check without.yaml model.yaml", 2, "for example `of: asking`"),
    ] {
        let (_, err) = folder.ends(&arguments.split(' ').collect::<Vec<_>>(), code);
        let err = err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(err.contains(words), "{arguments}: {err}");
    }
}

/// The configuration fixes a constant, so `start` does not tell it.
#[test]
fn a_constant_that_the_configuration_fixes_is_suspected() {
    let folder = folder();
    folder.write(
        "coreach.yaml",
        "specification: model.yaml\npurpose: twice.yaml\ninstantiate: { cFirst: 4 }\n",
    );
    let program = "import json; json.loads(input())['start']['constants']['cFirst']";
    folder.write("iut.yaml", &format!("iut: asked\nstdio: {{ command: [python3, -c, \"{program}\"] }}\n"));
    let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 4);
    assert!(out.contains("hint: coreach.yaml:3: `instantiate` puts `cFirst: 4` into the test case"), "{out}");
    assert!(out.contains("give `--constant cFirst=4`"), "{out}");
}

/// The system has another value than the one that coreach has chosen, and the IUT file does not tell it.
#[test]
fn a_constant_that_the_system_is_not_told_is_suspected() {
    let folder = folder();
    folder.write("model.yaml", &MODEL.replace("when: n == v", "when: n == cFirst + v"));
    folder.write(
        "iut.yaml",
        "iut: asked\nstdio:\n  command: [python3, system.py, lines, fine]\n  encoding: lines\n  stimuli: { Ask: ask }\n  \
         observations: { Answer: '^answer (?P<n>\\d+)$', None: '^none$' }\n",
    );
    let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 1);
    let out = unwrap(&out);
    assert!(out.contains("hint: coreach has chosen `cFirst = "), "{out}");
    assert!(out.contains("with `--constant cFirst=VALUE`"), "{out}");
    // A simulated model is given the constant.
    folder.write("faulty.yaml", &MODEL.replace("when: n == v", "when: n == cFirst + v + 1"));
    folder.write("iut.yaml", "iut: asked\nsimulated: { model: faulty.yaml }\n");
    let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 1);
    assert!(!unwrap(&out).contains("hint: "), "{out}");
}

fn folder() -> Folder {
    let configuration = "specification: model.yaml\npurpose: twice.yaml\n";
    Folder::with(&[
        ("model.yaml", MODEL),
        ("twice.yaml", TWICE),
        ("coreach.yaml", configuration),
        ("system.py", SYSTEM),
    ])
}

/// The command after `next:` makes the runs before the one that failed again: a new process would pass.
#[test]
fn a_reset_that_does_not_reset_is_suspected_and_can_be_repeated() {
    let folder = folder();
    folder
        .write("iut.yaml", "iut: asked\nstdio: { command: [python3, system.py, json, kept], keep: true }\n");
    let (out, _) =
        folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml", "--seed", "7", "--runs", "4"], 1);
    assert!(out.contains("hint: the first run did not fail, and 3 of 3 later ones did"), "{out}");
    assert!(unwrap(&out).contains("if a new system passes with `--seed 8 --runs 1`, the message"), "{out}");
    assert!(
        out.contains("next: coreach test coreach.yaml --iut iut.yaml --seed 7 --runs 2 --keep runs"),
        "{out}"
    );
    folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml", "--seed", "7", "--runs", "2"], 1);
    folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml", "--seed", "8", "--runs", "1"], 0);
}

/// Runs with the same cause are reported once: the verdict and the cause, the place, the other seeds.
#[test]
fn runs_that_end_alike_are_told_once() {
    let folder = folder();
    let command = "[sh, -c, 'echo first >&2; echo the reason >&2; exit 3']";
    folder.write("iut.yaml", &format!("iut: asked\nstdio: {{ command: {command} }}\n"));
    let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", "12"], 4);
    let told: Vec<&str> = out.lines().take_while(|line| !line.starts_with("twice against")).collect();
    let [head, place, line, words, "      first", "      the reason", others] = told[..] else {
        panic!("{out}")
    };
    assert_eq!(head, "RunError: it did not become ready: `sh` ended with status 3");
    assert!(line.starts_with("  iut.yaml:2: stdio: { command: "), "{out}");
    assert!(place.starts_with("  twice seed 1 (cFirst = ") && place.ends_with("in <Idle,None>"), "{out}");
    assert_eq!(words, "  its last words on standard error:");
    assert_eq!(others, "  the same with seeds 2, 3, 4, 5, 6, 7, 8, 9 and 3 more");
}

#[test]
fn a_constant_is_named_with_what_it_violates() {
    let folder = folder();
    folder.write("iut.yaml", "iut: asked\nstdio: { command: [python3, system.py, json, fine] }\n");
    for (value, words) in [
        ("0", "`cFirst = 0` violates `cFirst >= 1` of the initial condition"),
        ("2", "the purpose `twice` needs `cFirst >= 4`, so it cannot be reached with `cFirst = 2`"),
        ("2", "add `{ from: None, to: None, on: Answer, when: 'cFirst <= 3' }`"),
    ] {
        let constant = format!("cFirst={value}");
        let (_, err) =
            folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml", "--constant", &constant], 9);
        assert!(
            err.split_whitespace().collect::<Vec<_>>().join(" ").replace(" │ ", " ").contains(words),
            "{err}"
        );
    }
    let (_, err) =
        folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml", "--constant", "cFirst", "3"], 2);
    assert!(err.contains("`--constant cFirst=3`"), "{err}");
    let (_, err) =
        folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml", "--constant", "cFirst=0..5"], 2);
    assert!(err.contains("help: give one value; without `--constant`, coreach chooses one"), "{err}");
}

/// Each row is the type of a parameter that the model does not read, the system, and the words that must be
/// there, or not.
#[test]
fn a_parameter_that_may_be_the_cause_is_named() {
    let json = "stdio: { command: [python3, system.py, json, HABIT] }\n";
    let lines = "stdio:\n  command: [python3, system.py, lines, HABIT]\n  encoding: lines\n  stimuli: { Ask: 'ask {at}' }\n  \
                 observations: { Answer: '^answer (?P<n>\\d+)$', None: '^none$' }\n";
    let with_cr = lines.replace("  stimuli", "  line_ending: \"\\r\\n\"\n  stimuli");
    let unread = "the specification never reads `at` of `Ask(";
    let sent = r#"hint: coreach has sent `{"input":"Ask","values":{"at":"#;
    let ending = r"ends with `at` and `\r\n`. If the system removes `\n` only, leave out `line_ending`";
    for (ty, system, habit, words, is_there) in [
        ("int", json, "fine", unread, true),
        ("int", json, "fine", sent, true),
        ("int", json, "text", unread, false),
        ("int", lines, "prompt", unread, false),
        ("Kind", lines, "fine", ending, false),
        ("Kind", &with_cr, "fine", ending, true),
        ("int", &with_cr, "fine", ending, false),
    ] {
        let folder = folder();
        let model = MODEL.replace("Ask: {}", &format!("Ask: {{ at: {ty} }}")).replace("n == v", "n == v + 1");
        folder.write("model.yaml", &(model + "types: { Kind: [A, B] }\n"));
        folder.write("iut.yaml", &format!("iut: asked\n{}", system.replace("HABIT", habit)));
        let (out, err) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 1);
        assert_eq!(unwrap(&out).contains(words), is_there, "{ty} {habit}: {out}{err}");
    }
}

/// The server answers requests without a body. It reads a body to the end of the connection.
#[test]
fn a_server_that_reads_a_body_too_far_is_told() {
    let folder = folder();
    let model = MODEL
        .replace("{ Ask: {} }", "{ Ask: {}, Put: {} }")
        .replace("Idle, on: Answer", "Told, on: Answer")
        .replace("  - { from: Asked", "  - { from: Told, to: Asked, on: Put }\n  - { from: Asked");
    folder.write("model.yaml", &model);
    let iut = "iut: asked\nwithin: 2 s\nhttp:\n  base: http://127.0.0.1:{port}\n  launch: { command: [python3, system.py, http, unread, \"{port}\"] }\n  \
               stimuli: { Ask: { method: GET, path: /ask }, Put: { method: POST, path: /put, body: 'x=1' } }\n  \
               observations: { Answer: { status: 200, values: { n: /n } }, None: { status: 404 } }\n";
    folder.write("iut.yaml", iut);
    let (out, err) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 3);
    let words = "\n  help: it has not answered `POST /put`, and coreach keeps the connection open";
    let at = |words: &str| unwrap(&out).find(words).unwrap_or_else(|| panic!("{words}: {out}{err}"));
    assert!(at(words) < at("silence: fail"), "{out}");
}

/// The only way to the location where the purpose waits has a guard that excludes what it waits for.
#[test]
fn a_guard_that_excludes_the_goal_is_told_with_its_line() {
    let folder = folder();
    let model = MODEL.replace("on: Ask,", "on: Ask, when: v >= 0,");
    folder.write("model.yaml", &(model + "  - { from: Asked, to: Idle, on: None, when: v < 1 }\n"));
    folder.write("twice.yaml", "purpose: p\nof: asking\ninitial: { location: B }\ntransitions: [{ from: B, to: Accept, on: None }]\n");
    folder.write("iut.yaml", "iut: asked\nstdio: { command: [python3, system.py, json, fine] }\n");
    let (_, err) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml"], 7);
    assert!(unwrap(&err).contains("only `Ask` leads there, if `v >= 0` (model.yaml:9)"), "{err}");
}

/// A hint is about the run that is printed, which is the shortest of those that end alike.
#[test]
fn a_hint_is_about_the_run_that_is_told() {
    let folder = folder();
    let numbered =
        MODEL.replace("Ask: {}", "Ask: { at: int }").replace("on: Ask,", "on: Ask, when: at == v,");
    folder.write("model.yaml", &numbered);
    // It ends at the second question of the first run, and at the first one of the others.
    let system = "import json, os, sys\nanswers = 0 if os.path.exists('before') else 1\nopen('before', 'w').close()\n\
                  print('{\"ready\": true}', flush=True)\nsys.stdin.readline()\nfor line in sys.stdin:\n    \
                  if not answers:\n        sys.exit(3)\n    answers -= 1\n    \
                  print('{\"output\": \"Answer\", \"values\": {\"n\": 1}}', flush=True)\n";
    folder.write("dying.py", system);
    folder.write("iut.yaml", "iut: asked\nstdio: { command: [python3, dying.py] }\n");
    let (out, _) = folder.ends(&["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", "3"], 4);
    assert!(out.contains("twice seed 2 ") && out.contains("the same with seeds 1 and 3"), "{out}");
    assert!(
        out.contains(r#"hint: the last that coreach sent was `{"input":"Ask","values":{"at":0}}`"#),
        "{out}"
    );
}
