//! Systems that conform, answer late, in bursts and unasked, and say nothing of their link: never a Fail.
//! They are `execution/tests/servers/late.py`.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::path::Path;
use std::thread;

use crate::common::{Folder, stderr, stdout};

const TICKER: &str = "
iosts: ticker
initial: { location: A }
inputs: { Start: {}, Stop: {} }
outputs: { Tick: {}, Stopped: {} }
transitions:
  - { from: A, to: B, on: Start }
  - { from: B, to: C, on: Tick }
  - { from: B, to: D, on: Stop }
  - { from: C, to: D, on: Stop }
  - { from: D, to: A, on: Stopped }
";

const BELL: &str = "
iosts: bell
initial: { location: Idle }
inputs: { Set: {} }
outputs: { Ring: {}, Done: {} }
transitions:
  - { from: Idle, to: Idle, on: Ring }
  - { from: Idle, to: Busy, on: Set }
  - { from: Busy, to: Idle, on: Done }
";

const QUEUE: &str = "
iosts: queue
variables: { vOpen: int }
initial: { location: Run, condition: vOpen == 0 }
inputs: { Put: {}, Query: {} }
outputs: { Done: {}, Count: { n: int } }
transitions:
  - { from: Run, to: Run, on: Put, when: vOpen < 3, assign: { vOpen: vOpen + 1 } }
  - { from: Run, to: Run, on: Done, when: vOpen > 0, assign: { vOpen: vOpen - 1 } }
  - { from: Run, to: Asked, on: Query }
  - { from: Asked, to: Run, on: Count, when: n == vOpen }
";

const SETTER: &str = "
iosts: setter
variables: { vNumber: int }
initial: { location: Run, condition: vNumber == 0 }
inputs: { Set: { number: 'int[1..9]' } }
outputs: { Value: { number: int } }
transitions:
  - { from: Run, to: Run, on: Set, assign: { vNumber: number } }
  - { from: Run, to: Run, on: Value, when: number == vNumber }
";

const JOB: &str = "
iosts: job
initial: { location: Idle }
inputs: { Job: {}, Cancel: {} }
outputs: { Progress: {}, Finished: {}, Cancelled: {}, Nothing: {} }
transitions:
  - { from: Idle, to: Working, on: Job }
  - { from: Working, to: Working, on: Progress }
  - { from: Working, to: Idle, on: Finished }
  - { from: Working, to: Cancelling, on: Cancel }
  - { from: Cancelling, to: Idle, on: Cancelled }
  - { from: Idle, to: Refusing, on: Cancel }
  - { from: Refusing, to: Idle, on: Nothing }
";

/// The model, the actions that meet the purpose in this order, and how each event is written.
type Model = (&'static str, &'static str, &'static str);

const TICKING: Model = (
    TICKER,
    "Stopped Stopped",
    "stimuli: { Start: start, Stop: stop }\n  observations: { Tick: '^tick$', Stopped: '^stopped$' }",
);
const RINGING: Model =
    (BELL, "Done Done", "stimuli: { Set: set }\n  observations: { Ring: '^ring$', Done: '^set$' }");
const QUEUEING: Model = (
    QUEUE,
    "Put Count Count",
    "stimuli: { Put: put, Query: query }\n  observations: { Done: '^done$', Count: '^count (?P<n>\\d+)$' }",
);
const SETTING: Model = (
    SETTER,
    "Set Value Set Value",
    "stimuli: { Set: 'set {number}' }\n  observations: { Value: '^value (?P<number>\\d+)$' }",
);
const WORKING: Model = (
    JOB,
    "Cancelled",
    "stimuli: { Job: job, Cancel: cancel }\n  \
     observations: { Progress: '^progress$', Finished: '^finished$', Cancelled: '^cancelled$', Nothing: '^idle$' }",
);

const SYSTEMS: [(&str, &str, Model); 10] = [
    ("sleepy_ticker", "stdio", TICKING),
    ("nimble_ticker", "tcp", TICKING),
    ("sleepy_ticker_udp", "udp", TICKING),
    ("bursting_bell", "stdio", RINGING),
    ("ringing_bell", "tcp", RINGING),
    ("slow_queue", "stdio", QUEUEING),
    ("working_queue", "tcp", QUEUEING),
    ("slow_setter", "stdio", SETTING),
    ("slow_setter_udp", "udp", SETTING),
    ("bursting_job", "tcp", WORKING),
];

/// A campaign of so many runs of a system. How it ends, and what it says.
fn campaign((name, way, (model, met, events)): (&str, &str, Model), runs: usize) -> (Option<i32>, String) {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../execution/tests/servers/late.py");
    let program = program.canonicalize().unwrap().display().to_string();
    let reached = match way {
        "stdio" => format!("command: [python3, -S, {program:?}, {name}]"),
        _ => format!(
            "address: 127.0.0.1:{{port}}\n  launch: {{ command: [python3, -S, {program:?}, {name}, '{{port}}'], ready_ms: 60000 }}"
        ),
    };
    // Over UDP nobody is there before the first message.
    let reset = if way == "udp" { "" } else { "reset: [{ expect: '^ready$' }]" };
    let of = model.lines().find_map(|line| line.strip_prefix("iosts: ")).unwrap();
    let met: Vec<&str> = met.split(' ').collect();
    let step = |(number, action): (usize, &&str)| {
        let to = if number + 1 == met.len() { "Accept".to_owned() } else { format!("L{}", number + 1) };
        format!("  - {{ from: L{number}, to: {to}, on: {action} }}\n")
    };
    let steps: String = met.iter().enumerate().map(step).collect();
    let purpose = format!("purpose: met\nof: {of}\ninitial: {{ location: L0 }}\ntransitions:\n{steps}");
    let campaign = format!(
        "campaign: late\ntests: [ {{ configuration: coreach.yaml }} ]\niuts: [iut.yaml]\nseeds: {{ first: 1, count: {runs} }}\n\
         limits: {{ steps: 24 }}\nthreads: 2\n"
    );
    let folder = Folder::with(&[
        ("model.yaml", model),
        ("purpose.yaml", &purpose),
        ("coreach.yaml", "specification: model.yaml\npurpose: purpose.yaml\n"),
        (
            "iut.yaml",
            &format!("iut: {name}\n{way}:\n  {reached}\n  encoding: lines\n  {reset}\n  {events}\n"),
        ),
        ("campaign.yaml", &campaign),
    ]);
    let ended = folder.coreach(&["campaign", "campaign.yaml"]);
    (ended.status.code(), stdout(&ended) + &stderr(&ended))
}

/// Soundness: so many runs of each system, all systems at once. A machine that is too busy to start a system
/// in time makes a run error, which is nobody's fault; most must have run.
fn never_fails(runs: usize) {
    let mut count = 0;
    thread::scope(|scope| {
        let all = SYSTEMS.map(|system| scope.spawn(move || (system, campaign(system, runs))));
        for one in all {
            let ((name, ..), (code, told)) = one.join().unwrap();
            println!("{name}: {told}");
            assert!(matches!(code, Some(0 | 3 | 4)), "{name}: {code:?}\n{told}");
            count += usize::from(code != Some(4));
        }
    });
    assert!(count > SYSTEMS.len() / 2, "{count} systems could be started");
}

#[test]
fn systems_that_answer_late_are_not_blamed() {
    never_fails(2);
}

#[test]
#[ignore = "minutes: 5000 runs"]
fn systems_that_answer_late_are_never_blamed() {
    never_fails(500);
}
