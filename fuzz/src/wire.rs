//! What an implementation sends: the first byte chooses the wire, the rest is the message.

use coreach_adapters::description::{Http, Lines};
use coreach_adapters::signature::Signatures;

#[path = "../../adapters/tests/wire/oracle.rs"]
mod oracle;
#[path = "../../adapters/tests/wire/wires.rs"]
mod wires;

thread_local! {
    static WORLD: (Signatures, Lines, Http) = (wires::signatures(wires::MODEL), wires::lines(), wires::http());
}

/// Lists and objects in one another, and digits of a number, that the adapters read at most; the oracle knows
/// no limits.
const WITHIN: (usize, usize) = (64, 4096);

/// Bytes as a JSON line, a line of patterns or a body of HTTP: an event by the written grammar, the same one,
/// or none.
pub fn wire(bytes: &[u8]) {
    let Some((choice, message)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(message) else { return };
    let wire = choice % 3;
    if wire < 2 && text.contains('\n') {
        return;
    }
    let (found, expected) = WORLD.with(|(signatures, lines, http)| match wire {
        0 => (wires::json_line(signatures, text), oracle::json_line(text)),
        1 => (wires::pattern_line(lines, signatures, text), oracle::pattern_line(text)),
        _ => (wires::body(http, signatures, text), oracle::body(text)),
    });
    let depth = text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
    let is_beyond = depth > WITHIN.0 || text.len() > WITHIN.1;
    if !(is_beyond && found.is_none()) {
        assert_eq!(found, expected, "wire {wire}: {text:?}");
    }
}
