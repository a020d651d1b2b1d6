//! What frames of an encoding are read as, and how the evidence marks those that are no event.

use crate::adapter::{Failure, Received};
use crate::binary;
use crate::description::Encoding;
use crate::evidence::{self, Evidence};
use crate::json_lines::{self, Message};
use crate::lines::{self, Pending, Recognized};
use crate::signature::Signatures;
use crate::stream::text;

/// Is it an answer to the first message of a run, and nothing that an earlier one has left?
pub fn is_of_start(frame: &[u8], signatures: &Signatures) -> bool {
    let message = text(frame).and_then(|line| json_lines::message(line, signatures));
    matches!(message, Ok(Message::Ready | Message::Error(_)))
}

/// A frame as a text; one that is none is marked.
pub fn line<'f>(frame: &'f [u8], evidence: &Evidence) -> Result<&'f str, Failure> {
    mark_unless_event(frame, text(frame), |_| None, evidence)
}

/// What is sent back for a frame that is left alone, be it nothing; `None` where it is not.
pub fn ignored(
    encoding: &Encoding,
    frame: &[u8],
    signatures: &Signatures,
) -> Result<Option<Vec<u8>>, Failure> {
    match encoding {
        Encoding::Json => Ok(None),
        Encoding::Lines(lines) => match text(frame) {
            Ok(line) => Ok(lines::answer(lines, line, signatures)?.map(String::into_bytes)),
            Err(_) => Ok(None),
        },
        Encoding::Binary(binary) => binary::answer(binary, frame, signatures),
    }
}

/// Is a frame left alone, and cannot be an output or the beginning of one?
pub fn is_idle(encoding: &Encoding, frame: &[u8], signatures: &Signatures) -> bool {
    let may_be_output = match encoding {
        Encoding::Json => true,
        Encoding::Lines(lines) => text(frame).is_ok_and(|line| lines::may_begin(lines, line)),
        Encoding::Binary(binary) => binary::fits_output(binary, frame),
    };
    !may_be_output && matches!(ignored(encoding, frame, signatures), Ok(Some(_)))
}

/// How what was recognized is marked, where it is no event.
pub fn note(found: &Recognized) -> Option<&'static str> {
    match found {
        Recognized::Received(Received::Alien(_)) => Some(evidence::ALIEN),
        Recognized::Ignored(_) => Some(evidence::IGNORED),
        Recognized::Received(_) | Recognized::More => None,
    }
}

/// What a line says; what is none of the specification's outputs, or no message, is marked.
pub fn message(line: &str, signatures: &Signatures, evidence: &Evidence) -> Result<Message, Failure> {
    let note =
        |message: &Message| matches!(message, Message::Output(Received::Alien(_))).then_some(evidence::ALIEN);
    mark_unless_event(line.as_bytes(), json_lines::message(line, signatures), note, evidence)
}

/// What lines came to; those that are no event are marked.
pub fn mark_lines(
    pending: &Pending,
    found: Result<Recognized, Failure>,
    evidence: &Evidence,
) -> Result<Recognized, Failure> {
    // They are put together only where they are wanted.
    if let Some(note) = found.as_ref().map_or(Some(evidence::GARBAGE), note) {
        evidence.mark(&pending.taken(), note);
    }
    found
}

/// What was read of these bytes, which are marked where it is no event.
pub fn mark_unless_event<T>(
    bytes: &[u8],
    read: Result<T, Failure>,
    note: impl Fn(&T) -> Option<&'static str>,
    evidence: &Evidence,
) -> Result<T, Failure> {
    if let Some(note) = read.as_ref().map_or(Some(evidence::GARBAGE), note) {
        evidence.mark(bytes, note);
    }
    read
}
