//! What frames of an encoding are read as, and how the evidence marks those that are no event.

use crate::adapter::{Failure, Received};
use crate::binary;
use crate::description::{Encoding, Unmatched};
use crate::evidence::{self, Evidence};
use crate::json_lines::{self, Message};
use crate::lines::{self, PendingLines, Recognized};
use crate::signature::Signatures;
use crate::stream::read_text;

/// Says whether a frame answers the first message of a run. Other frames are of an earlier run.
pub fn answers_start(frame: &[u8], signatures: &Signatures) -> bool {
    let message = read_text(frame).and_then(|line| json_lines::read_message(line, signatures));
    matches!(message, Ok(Message::Ready | Message::Error(_)))
}

/// Reads a frame as a text. Marks a frame that is no text.
pub fn read_line<'f>(frame: &'f [u8], evidence: &Evidence) -> Result<&'f str, Failure> {
    mark_unless_event(frame, read_text(frame), |_| None, evidence)
}

/// Writes what is sent back for a frame that is ignored, which may be empty. `None`: it is not ignored.
pub fn answer_ignored(
    encoding: &Encoding,
    frame: &[u8],
    signatures: &Signatures,
) -> Result<Option<Vec<u8>>, Failure> {
    match encoding {
        Encoding::Json => Ok(None),
        Encoding::Lines(lines) => match read_text(frame) {
            Ok(line) => Ok(lines::answer_ignored(lines, line, signatures)?.map(String::into_bytes)),
            Err(_) => Ok(None),
        },
        Encoding::Binary(binary) => binary::answer_ignored(binary, frame, signatures),
    }
}

/// Says whether a frame is ignored, and can be no output and no beginning of one.
pub fn is_idle(encoding: &Encoding, frame: &[u8], signatures: &Signatures) -> bool {
    let (may_be_output, unmatched) = match encoding {
        Encoding::Json => return false,
        Encoding::Lines(lines) => {
            (read_text(frame).is_ok_and(|line| lines::may_begin(lines, line)), lines.unmatched)
        }
        Encoding::Binary(binary) => (binary::fits_output(binary, frame), binary.unmatched),
    };
    let is_ignored = || matches!(answer_ignored(encoding, frame, signatures), Ok(Some(_)));
    !may_be_output && (unmatched == Unmatched::Ignore || is_ignored())
}

/// Returns the note that marks what was recognized, if it is no event.
pub fn note_of(found: &Recognized) -> Option<&'static str> {
    match found {
        Recognized::Received(Received::Alien(_)) => Some(evidence::ALIEN),
        Recognized::Ignored(_) => Some(evidence::IGNORED),
        Recognized::Received(_) | Recognized::More => None,
    }
}

/// Reads a line as a message. Marks it if it is no message, or an output that the model does not have.
pub fn read_message(line: &str, signatures: &Signatures, evidence: &Evidence) -> Result<Message, Failure> {
    let note =
        |message: &Message| matches!(message, Message::Output(Received::Alien(_))).then_some(evidence::ALIEN);
    mark_unless_event(line.as_bytes(), json_lines::read_message(line, signatures), note, evidence)
}

/// Marks the lines that were taken last, if they are no event.
pub fn mark_lines(
    pending: &PendingLines,
    found: Result<Recognized, Failure>,
    evidence: &Evidence,
) -> Result<Recognized, Failure> {
    // The lines are joined only if they are marked.
    if let Some(note) = found.as_ref().map_or(Some(evidence::GARBAGE), note_of) {
        evidence.mark(&pending.taken(), note);
    }
    found
}

/// Marks the bytes, if what was read of them is no event: as garbage, or with what `note` says.
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
