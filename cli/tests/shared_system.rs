//! Campaigns against a server that nobody here brings up: runs that share it do not meet, and a kill leaves
//! nothing to a later run's verdict.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::Folder;

/// A correct server: the counter, of which each seventh addition takes 60 ms.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn new(kind: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let program =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../execution/tests/servers/slow_counter.py");
        let mut command = Command::new("python3");
        command.args([program.to_str().unwrap(), kind, &port.to_string(), "60"]).stdout(Stdio::null());
        let child = command.spawn().unwrap();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        Server { child, port }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const TCP: &str = "
  encoding: lines
  reset: [ { send: RESET, expect: ok } ]
  stimuli: { Add: 'ADD {pBy}', Ask: ASK }
  observations: { Done: done, Value: 'value (?P<pValue>-?\\d+)' }
";

const HTTP: &str = "
  reset: { method: POST, path: /reset, status: 204 }
  stimuli: { Add: { method: POST, path: '/add/{pBy}' }, Ask: { method: GET, path: /ask } }
  observations: { Done: { status: 201 }, Value: { status: 200, values: { pValue: /value } } }
";

/// A folder with a campaign of 80 runs against the server, each of which ends early.
fn folder(server: &Server, http: bool) -> Folder {
    let folder = Folder::new();
    let test = Path::new(env!("CARGO_MANIFEST_DIR")).join("../execution/tests/data/counter.json");
    std::fs::copy(test, folder.0.join("counter.json")).unwrap();
    let port = server.port;
    let way = |name: &str| match http {
        true => format!("iut: {name}\nhttp:\n  base: http://127.0.0.1:{port}{HTTP}"),
        false => format!("iut: {name}\ntcp:\n  address: 127.0.0.1:{port}{TCP}"),
    };
    // Two names for it are one system.
    folder.write("one.yaml", &way("one"));
    folder.write("other.yaml", &way("other"));
    folder.write(
        "campaign.yaml",
        "campaign: shared\ntests: [ { test_case: counter.json } ]\niuts: [one.yaml, other.yaml]\nthreads: 4
seeds: { first: 1, count: 40 }\nlimits: { steps: 3, quiescence_ms: 200 }\n",
    );
    folder
}

fn coreach(folder: &Folder) -> Command {
    let mut command = crate::common::coreach(["campaign", "campaign.yaml", "--quiet"]);
    command.current_dir(&folder.0).stdout(Stdio::null());
    command
}

fn verdicts(folder: &Folder) -> BTreeMap<String, usize> {
    let store = rusqlite::Connection::open(folder.0.join("shared.sqlite")).unwrap();
    let mut statement = store.prepare("SELECT verdict FROM runs").unwrap();
    let mut counts = BTreeMap::new();
    for verdict in statement.query_map([], |row| row.get::<_, String>(0)).unwrap() {
        *counts.entry(verdict.unwrap()).or_default() += 1;
    }
    counts
}

#[test]
fn runs_that_share_a_server_do_not_meet() {
    for (kind, http) in [("lines", false), ("http", true)] {
        let server = Server::new(kind);
        let folder = folder(&server, http);
        // No Fail and no run error; some are Inconclusive, at the limit of steps.
        assert_eq!(coreach(&folder).status().unwrap().code(), Some(3));
        assert_eq!(verdicts(&folder), BTreeMap::from([("Inconclusive".to_owned(), 80)]));
    }
}

/// Passes on what comes, both ways.
const CLIENT: &str = r#"
import os, socket, sys, threading
host, port = sys.argv[1].split(":")
server = socket.create_connection((host, int(port)))
def back():
    while data := server.recv(4096):
        os.write(1, data)
thread = threading.Thread(target=back)
thread.start()
while data := os.read(0, 4096):
    server.sendall(data)
server.shutdown(socket.SHUT_WR)
thread.join()
"#;

/// Two commands that speak to one server, by an address among their words: they share it, though nobody says
/// so.
#[test]
fn clients_of_one_server_do_not_meet() {
    let server = Server::new("lines");
    let folder = folder(&server, false);
    folder.write("client.py", CLIENT);
    folder.write("campaign.yaml", &folder.read("campaign.yaml").replace("count: 40", "count: 10"));
    for name in ["one", "other"] {
        let command = format!("[python3, client.py, \"127.0.0.1:{}\", {name}]", server.port);
        let settled = "  settle: { within_ms: 10000 }\n";
        folder.write(
            &format!("{name}.yaml"),
            &format!("iut: {name}\nstdio:\n  command: {command}\n{settled}{}", &TCP[1..]),
        );
    }
    assert_eq!(coreach(&folder).status().unwrap().code(), Some(3));
    assert_eq!(verdicts(&folder), BTreeMap::from([("Inconclusive".to_owned(), 20)]));
}

#[test]
fn what_a_killed_campaign_has_left_is_no_verdict() {
    let server = Server::new("http");
    let folder = folder(&server, true);
    // What a killed run has sent is waited for, as long as the file says.
    for file in ["one.yaml", "other.yaml"] {
        folder.write(file, &(folder.read(file) + "  settle: { within_ms: 300 }\n"));
    }
    for delay in [300, 500, 700, 900] {
        let mut process = coreach(&folder).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        let _ = process.kill();
        process.wait().unwrap();
    }
    assert_eq!(coreach(&folder).status().unwrap().code(), Some(3));
    assert_eq!(verdicts(&folder), BTreeMap::from([("Inconclusive".to_owned(), 80)]));
}
