//! Messages that a file says are ignored: they end no wait and prolong none, and are answered.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use coreach_adapters::Left;
use coreach_adapters::evidence::EvidenceKind;

use super::carriers::{adapter, event, next, start};

/// How often it says that it is there.
const BEAT: Duration = Duration::from_millis(5);

/// A server that sends a beat again and again, also when nobody sends any more. To `?` it answers with how
/// many of its beats were answered since it was asked last. What stands for these is made by the functions.
fn beating(
    beat: fn(u8) -> Vec<u8>,
    is_answered: fn(u8) -> Vec<u8>,
    counted: fn(usize) -> Vec<u8>,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            thread::spawn(move || serve(stream, beat, is_answered, counted));
        }
    });
    address
}

fn serve(
    mut stream: TcpStream,
    beat: fn(u8) -> Vec<u8>,
    answer: fn(u8) -> Vec<u8>,
    counted: fn(usize) -> Vec<u8>,
) {
    let (mut reader, answered) = (stream.try_clone().unwrap(), AtomicUsize::new(0));
    let writer = Mutex::new(stream.try_clone().unwrap());
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut all, mut byte) = (Vec::new(), [0]);
            while reader.read(&mut byte).is_ok_and(|count| count == 1) {
                all.push(byte[0]);
                if byte[0] == b'?' {
                    let count = answered.swap(0, Ordering::SeqCst);
                    let _ = writer.lock().unwrap().write_all(&counted(count));
                    all.clear();
                } else if (0..50).any(|beat| all.ends_with(&answer(beat))) {
                    answered.fetch_add(1, Ordering::SeqCst);
                    all.clear();
                }
            }
        });
        for number in (0..50).cycle() {
            if stream.write_all(&beat(number)).is_err() {
                break;
            }
            thread::sleep(BEAT);
        }
    });
}

/// What is asked is answered, silence is heard while it beats, and the system is left clean.
fn tried(text: &str) {
    let mut adapter = adapter(text);
    for _ in 0..2 {
        start(&mut *adapter).unwrap();
        for _ in 0..2 {
            let begin = Instant::now();
            assert_eq!(next(&mut *adapter, 100), "Silence", "{text}");
            assert!((90..1500).contains(&begin.elapsed().as_millis()), "{:?}", begin.elapsed());
            adapter.send(&event("List", &["1"])).unwrap();
            let found = next(&mut *adapter, 5000);
            let count = found.strip_prefix("Listed(").and_then(|text| text.strip_suffix(")"));
            let count: usize = count.unwrap_or_else(|| panic!("{found}")).parse().unwrap();
            assert!((2..=60).contains(&count), "{count} beats were answered: {text}");
        }
        let teardown = adapter.tear_down().unwrap();
        assert_eq!(teardown.left, Left::Clean, "{teardown:?}");
        assert!(teardown.waited < Duration::from_secs(3), "{teardown:?}");
        let marks =
            adapter.evidence(Instant::now()).into_iter().filter(|item| item.kind == EvidenceKind::Mark);
        let notes: Vec<String> = marks.filter_map(|item| item.note).collect();
        assert!(notes.len() > 5 && notes.iter().all(|note| note == "ignored"), "{notes:?}");
        adapter.stop();
    }
}

/// Soundness: silence of the model is silence whatever is ignored meanwhile, and no run is unclean for it.
#[test]
fn what_is_ignored_is_answered_and_neither_ends_silence_nor_keeps_it_from_ending() {
    let address = beating(
        |beat| format!("PING {beat}\n").into(),
        |beat| format!("PONG {beat}\r\n").into(),
        |count| format!("count {count}\n").into(),
    );
    tried(&format!(
        "
iut: beats
tcp:
  address: {address}
  encoding: lines
  line_ending: \"\\r\\n\"
  reset: [ {{ send: '?', expect: '^count \\d+$' }} ]
  settle: {{ quiet_ms: 50, within_ms: 4000 }}
  stimuli: {{ List: '?{{n}}', Ask: '{{id}}{{kind}}{{name}}' }}
  observations:
    Item: '^item (?P<n>\\d+)$'
    Listed: '^count (?P<count>\\d+)$'
    Answer: '^(?P<id>\\d+)(?P<name>[A-Z]+)-(?P<address>[A-Z]+)$'
  ignore:
    - {{ pattern: '^PING (?P<beat>.*)$', answer: 'PONG {{beat}}' }}
"
    ));
}

/// The same in frames.
#[test]
fn frames_are_ignored_and_answered() {
    let address = beating(
        |beat| vec![3, 9, 1, beat],
        |beat| vec![2, 10, beat],
        |count| vec![2, 1, u8::try_from(count).unwrap()],
    );
    tried(&format!(
        "
iut: beats
tcp:
  address: {address}
  encoding: binary
  frame: {{ length: u8 }}
  reset: [ {{ send: '3f', expect: '^01..$' }} ]
  settle: {{ quiet_ms: 50, within_ms: 4000 }}
  stimuli: {{ List: [ {{ as: u8, is: 0x3f }}, {{ as: u8, name: n }} ], Ask: [ {{ as: u16, name: id }}, {{ as: u8, name: kind }}, {{ as: u8, name: name }} ] }}
  observations:
    Item: [ {{ as: u64, name: n }} ]
    Listed: [ {{ as: u8, is: 1 }}, {{ as: u8, name: count }} ]
    Answer: [ {{ as: u16, name: id }}, {{ as: u16, name: name }}, {{ as: u16, name: address }} ]
  ignore:
    - {{ pattern: [ {{ as: u8, is: 9 }}, {{ as: u8, is: 1 }}, {{ as: u8, name: beat }} ], answer: [ {{ as: u8, is: 10 }}, {{ as: u8, name: beat }} ] }}
  values:
    name: {{ \"0\": WWW, \"1\": MAIL, \"2\": ECHO }}
    address: {{ \"0\": FIRST, \"1\": SECOND }}
"
    ));
}
