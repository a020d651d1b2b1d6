//! How bytes that come are cut into frames, and how a frame is made ready to be sent.
//!
//! ```text
//! lines      frame "\n"                    `line_ending` ends a line that is sent
//! delimiter  frame delimiter               the delimiter stands nowhere in the frame
//! fixed      frame                         of so many bytes each; one that is sent may have another size
//! length     [head] length rest            the frame is head and rest, without the length
//! datagrams  a datagram is a frame
//! ```
//!
//! A byte is moved once at most. Taking frames looks at each once, and [`Inbox::has_frame`] may look again.
//! A frame has at most [`LONGEST`] bytes. The stream limits all that waits ([`crate::stream`]).

use std::collections::VecDeque;
use std::ops::Range;

use crate::adapter::Failure;
use crate::integer::WireInteger;

/// The longest frame, line, or body, in bytes.
pub const LONGEST: usize = 1 << 20;

/// The most frames that wait to be taken, and the most elements of a list in a frame.
pub const MOST: usize = 10_000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cut {
    /// A frame ends with `\n`.
    Lines,
    Delimiter(Vec<u8>),
    /// A frame that comes has this number of bytes.
    Fixed(usize),
    Length(Length),
    Datagrams,
}

/// The number in a frame that says how long the frame is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Length {
    pub integer: WireInteger,
    pub at: usize,
    /// It counts the whole frame with itself, and not only the bytes after it.
    pub counts_all: bool,
}

impl Length {
    /// Returns where the bytes after the number begin, and where the frame ends. If the end is before that
    /// beginning, the number is no length. `None`: the number has not come.
    fn read_bounds(&self, rest: &[u8]) -> Option<(usize, i128)> {
        let (written, after) = self.integer.split(rest.get(self.at..)?)?;
        let begin = rest.len() - after.len();
        // A number that cannot be read counts as no length.
        let number = self.integer.read(written).unwrap_or(-1 - begin as i128);
        Some((begin, if self.counts_all { number } else { number.saturating_add(begin as i128) }))
    }
}

/// The bytes that have come and were not taken.
pub struct Inbox {
    cut: Cut,
    buffer: Vec<u8>,
    /// So many bytes at the beginning were taken. The *rest* is after them.
    taken: usize,
    /// No delimiter begins in the buffer between `taken` and this index.
    searched: usize,
    /// The number of line ends in the rest, and the lengths of its datagrams.
    lines: usize,
    lengths: VecDeque<usize>,
}

impl Inbox {
    pub fn new(cut: Cut) -> Self {
        Inbox { cut, buffer: Vec::new(), taken: 0, searched: 0, lines: 0, lengths: VecDeque::new() }
    }

    /// Returns the buffer to which the next bytes are appended.
    ///
    /// # Errors
    /// [`Failure::Flood`]: it would be more than one frame can have.
    pub fn space(&mut self) -> Result<&mut Vec<u8>, Failure> {
        // Taken bytes are dropped when they are more than the rest, so that every byte is moved once at most.
        if self.taken > self.buffer.len() / 2 {
            self.buffer.drain(..self.taken);
            self.searched = self.searched.saturating_sub(self.taken);
            self.taken = 0;
        }
        // Is all that waits the beginning of one frame? A delimiter has at most 8 bytes.
        let is_one_frame = match self.cut {
            Cut::Lines => self.lines == 0,
            Cut::Delimiter(_) => self.searched + 8 > self.buffer.len(),
            Cut::Fixed(_) | Cut::Length(_) | Cut::Datagrams => false,
        };
        if is_one_frame && self.count_waiting() > LONGEST {
            return Err(self.make_flood());
        }
        Ok(&mut self.buffer)
    }

    /// Notes so many bytes, or one datagram, that were put into the buffer.
    pub fn note_arrival(&mut self, count: usize) {
        match self.cut {
            Cut::Lines => {
                let new = &self.buffer[self.buffer.len() - count..];
                self.lines += new.iter().filter(|byte| **byte == b'\n').count();
            }
            Cut::Datagrams => self.lengths.push_back(count),
            Cut::Delimiter(_) | Cut::Fixed(_) | Cut::Length(_) => {}
        }
    }

    /// Says whether the next frame is there as a whole, or something that cannot be one.
    pub fn has_frame(&self) -> bool {
        let rest = self.rest();
        match &self.cut {
            Cut::Lines => self.lines > 0,
            Cut::Delimiter(delimiter) => rest.windows(delimiter.len()).any(|window| window == delimiter),
            Cut::Fixed(size) => rest.len() >= *size,
            Cut::Datagrams => !self.lengths.is_empty(),
            Cut::Length(length) => length.read_bounds(rest).is_some_and(|(begin, whole)| {
                whole < begin as i128 || whole > LONGEST as i128 || rest.len() as i128 >= whole
            }),
        }
    }

    /// Says whether the bytes that have come end in the middle of a frame, as far as that is known without a
    /// search for its end.
    pub fn is_amid(&self) -> bool {
        match self.cut {
            Cut::Lines => self.count_waiting() > 0 && self.buffer.last() != Some(&b'\n'),
            Cut::Delimiter(_) | Cut::Length(_) => self.count_waiting() > 0,
            Cut::Fixed(size) => !self.count_waiting().is_multiple_of(size.max(1)),
            Cut::Datagrams => false,
        }
    }

    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.taken..]
    }

    pub fn count_waiting(&self) -> usize {
        self.buffer.len() - self.taken
    }

    /// Says whether more bytes or frames have come than are kept.
    pub fn is_flooded(&self) -> bool {
        self.lines.max(self.lengths.len()) > MOST || self.count_waiting() > 4 * LONGEST
    }

    pub fn forget(&mut self) {
        self.buffer.clear();
        self.lengths.clear();
        (self.taken, self.searched, self.lines) = (0, 0, 0);
    }

    /// Takes the next frame, if it is there as a whole, and returns where it is in the buffer.
    ///
    /// # Errors
    /// [`Failure::Flood`]: the frame is too long. [`Failure::Garbage`]: its length is no length.
    pub fn take_frame(&mut self) -> Result<Option<Range<usize>>, Failure> {
        let rest = &self.buffer[self.taken..];
        // Where the frame is in the rest, and how many bytes go with it: also its end or its length.
        let (frame, taken) = match &self.cut {
            Cut::Lines => {
                if self.lines == 0 {
                    self.searched = self.buffer.len();
                    return Ok(None);
                }
                let offset = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
                let Some(offset) = offset else { return Ok(None) };
                let length = self.searched + offset - self.taken;
                self.lines -= 1;
                (0..length, length + 1)
            }
            Cut::Delimiter(delimiter) => {
                let mut windows = self.buffer[self.searched..].windows(delimiter.len());
                let Some(offset) = windows.position(|window| window == delimiter) else {
                    // The bytes at the end may begin a delimiter.
                    self.searched =
                        self.searched.max((self.buffer.len() + 1).saturating_sub(delimiter.len()));
                    return Ok(None);
                };
                let length = self.searched + offset - self.taken;
                (0..length, length + delimiter.len())
            }
            Cut::Fixed(size) => (0..*size, *size),
            Cut::Datagrams => match self.lengths.pop_front() {
                Some(length) => (0..length, length),
                None => return Ok(None),
            },
            Cut::Length(length) => {
                let Some((begin, whole)) = length.read_bounds(rest) else { return Ok(None) };
                if whole < begin as i128 {
                    let number = crate::encoding::hex(&rest[length.at..begin]);
                    return Err(Failure::Garbage(format!("the length of a frame is only `{number}`")));
                }
                let Some(whole) = usize::try_from(whole).ok().filter(|whole| *whole <= LONGEST) else {
                    return Err(self.make_flood());
                };
                if rest.len() < whole {
                    return Ok(None);
                }
                // The bytes before the length are moved next to those after it.
                let width = begin - length.at;
                self.buffer.copy_within(self.taken..self.taken + length.at, self.taken + width);
                (width..whole, whole)
            }
        };
        // Only a frame of a fixed size may still be incomplete here.
        if self.count_waiting() < taken {
            return Ok(None);
        }
        let frame = self.taken + frame.start..self.taken + frame.end;
        self.taken += taken;
        self.searched = self.taken;
        if frame.len() > LONGEST { Err(self.make_flood()) } else { Ok(Some(frame)) }
    }

    /// Says what is missing of the frame that has begun, if one has. Names a length by which it is whole.
    pub fn describe_short_frame(&self) -> Option<String> {
        let rest = self.rest();
        let Cut::Length(length) = &self.cut else {
            let has_begun = !rest.is_empty() && !matches!(self.cut, Cut::Lines | Cut::Datagrams);
            return has_begun.then(|| "its end is missing".to_owned());
        };
        let (begin, whole) = length.read_bounds(rest)?;
        let (owed, came) = (whole - begin as i128, rest.len() - begin);
        let swapped = WireInteger { is_little: !length.integer.is_little, ..length.integer };
        let remedies = [
            (Length { counts_all: true, ..*length }, "also counts itself", ", counts: frame"),
            (Length { integer: swapped, ..*length }, "has its bytes in the other order", ""),
        ];
        let fits = |other: &Length| other.read_bounds(rest).is_some_and(|(_, end)| end == rest.len() as i128);
        let remedy = remedies.into_iter().find(|(other, ..)| fits(other));
        let help = remedy.map_or(String::new(), |(other, why, counts)| {
            format!(". If the length {why}, write `frame: {{ length: {}{counts} }}`", other.integer.name())
        });
        Some(format!("its length announces {owed} more bytes, but only {came} came{help}"))
    }

    /// Returns the bytes of a frame that was taken. They are valid until the next bytes come.
    pub fn bytes(&self, frame: Range<usize>) -> &[u8] {
        &self.buffer[frame]
    }

    fn make_flood(&self) -> Failure {
        let what = if self.cut == Cut::Lines { "line" } else { "frame" };
        Failure::Flood(format!("a {what} is longer than {LONGEST} bytes"))
    }
}

impl Cut {
    /// Adds the delimiter or the length to a frame, as it is sent. The frame must not contain the delimiter.
    pub fn frame_message(&self, mut frame: Vec<u8>) -> Result<Vec<u8>, String> {
        match self {
            Cut::Lines | Cut::Fixed(_) | Cut::Datagrams => Ok(frame),
            Cut::Delimiter(delimiter) => {
                let end = frame.len();
                frame.extend_from_slice(delimiter);
                // This also finds a delimiter that begins in the frame and ends in the one after it.
                if frame.windows(delimiter.len()).position(|window| window == delimiter) != Some(end) {
                    return Err("it contains the delimiter of frames".to_owned());
                }
                Ok(frame)
            }
            Cut::Length(Length { integer, at, counts_all }) => {
                let Some((head, rest)) = frame.split_at_checked(*at) else {
                    return Err(format!("it is shorter than the {at} bytes in front of its length"));
                };
                // If the length counts itself, its own width may make it wider.
                let length = (1..=8).find_map(|width| {
                    let number = if *counts_all { frame.len() + width } else { rest.len() };
                    integer.written(number as i128).filter(|length| !counts_all || length.len() == width)
                });
                let length =
                    length.ok_or_else(|| format!("its length, {} bytes, does not fit", rest.len()))?;
                Ok([head, &length, rest].concat())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use coreach_model::random::Random;

    use super::*;

    const BIG: WireInteger = WireInteger { width: 2, is_signed: false, is_little: false };
    const VARINT: WireInteger = WireInteger { width: 0, is_signed: false, is_little: true };
    const LITTLE: WireInteger = WireInteger { width: 3, is_signed: false, is_little: true };

    fn frames(cut: &Cut, pieces: &[&[u8]]) -> Result<Vec<Vec<u8>>, Failure> {
        let (mut inbox, mut found) = (Inbox::new(cut.clone()), Vec::new());
        for piece in pieces {
            inbox.space()?.extend_from_slice(piece);
            inbox.note_arrival(piece.len());
            loop {
                let has_frame = inbox.has_frame();
                let frame = inbox.take_frame()?;
                assert_eq!(has_frame, frame.is_some(), "it is known before it is taken");
                let Some(frame) = frame else { break };
                found.push(inbox.bytes(frame).to_vec());
            }
        }
        Ok(found)
    }

    fn cuts() -> Vec<Cut> {
        let length = |integer, at, counts_all| Cut::Length(Length { integer, at, counts_all });
        vec![
            Cut::Delimiter(b"\r\n".to_vec()),
            Cut::Delimiter(b"aab".to_vec()),
            length(BIG, 0, false),
            length(BIG, 3, false),
            length(LITTLE, 0, true),
            length(LITTLE, 1, true),
            length(VARINT, 1, false),
            length(VARINT, 0, true),
        ]
    }

    #[test]
    fn what_is_sent_is_cut_into_what_was_meant_wherever_it_breaks() {
        let mut random = Random::new(5);
        for cut in cuts() {
            let (mut meant, mut sent) = (Vec::new(), Vec::new());
            for _ in 0..300 {
                let frame: Vec<u8> = (0..random.below(9)).map(|_| b"ab\r\n"[random.below(4)]).collect();
                if let Ok(framed) = cut.frame_message(frame.clone()) {
                    sent.extend(framed);
                    meant.push(frame);
                }
            }
            assert!(meant.len() > 100, "{cut:?}");
            let (mut pieces, mut at) = (Vec::new(), 0);
            while at < sent.len() {
                let end = (at + 1 + random.below(11)).min(sent.len());
                pieces.push(&sent[at..end]);
                at = end;
            }
            assert_eq!(frames(&cut, &pieces), Ok(meant), "{cut:?}");
        }
    }

    #[test]
    fn what_cannot_be_framed_is_not_sent() {
        let [crlf, aab, prefix, behind, ..] = &cuts()[..] else { panic!() };
        assert!(crlf.frame_message(b"a\r\nb".to_vec()).is_err());
        assert!(aab.frame_message(b"xa".to_vec()).is_ok());
        assert!(aab.frame_message(b"aaba".to_vec()).is_err());
        // `aa` and the delimiter of `aaaab`: the first end is not the one that was meant.
        assert_eq!(frames(aab, &[&aab.frame_message(b"a".to_vec()).unwrap()]), Ok(vec![b"a".to_vec()]));
        assert!(prefix.frame_message(vec![0; 65_535]).is_ok());
        assert!(prefix.frame_message(vec![0; 65_536]).is_err());
        assert!(behind.frame_message(vec![0; 2]).is_err());
    }

    #[test]
    fn a_length_that_is_none_is_garbage_and_a_long_one_a_flood() {
        let of = |integer, counts_all| Cut::Length(Length { integer, at: 0, counts_all });
        let signed = WireInteger { is_signed: true, ..BIG };
        let wide = WireInteger { width: 8, ..BIG };
        assert!(matches!(frames(&of(BIG, true), &[&[0, 1]]), Err(Failure::Garbage(_))));
        assert!(matches!(frames(&of(signed, false), &[&[0xff, 0xff]]), Err(Failure::Garbage(_))));
        assert!(matches!(frames(&of(wide, false), &[&[0xff; 8]]), Err(Failure::Flood(_))));
        assert!(matches!(frames(&of(VARINT, true), &[&[0]]), Err(Failure::Garbage(_))));
        assert!(matches!(frames(&of(VARINT, false), &[&[0x80, 0]]), Err(Failure::Garbage(_))));
        assert!(matches!(frames(&of(VARINT, false), &[&[0x80; 8]]), Err(Failure::Garbage(_))));
        let endless = vec![b'x'; LONGEST + 1];
        let delimiter = Cut::Delimiter(b"ab".to_vec());
        assert!(matches!(frames(&delimiter, &[&endless, b"x"]), Err(Failure::Flood(_))));
    }

    #[test]
    fn a_short_frame_is_told_with_the_way_of_counting_that_fits() {
        let of = |integer, counts_all| Cut::Length(Length { integer, at: 0, counts_all });
        let asks = |owed: usize, came: usize| {
            format!("its length announces {owed} more bytes, but only {came} came")
        };
        for (cut, bytes, expected) in [
            (Cut::Lines, &b"x"[..], None),
            (of(BIG, false), &[0, 4, 1], Some(asks(4, 1))),
            (
                of(BIG, false),
                &[0, 4, 1, 2],
                Some(
                    asks(4, 2)
                        + ". If the length also counts itself, write `frame: { length: u16, counts: frame }`",
                ),
            ),
            (
                of(BIG, false),
                &[1, 0, 9],
                Some(
                    asks(256, 1)
                        + ". If the length has its bytes in the other order, write `frame: { length: u16le }`",
                ),
            ),
            (Cut::Fixed(3), &[1, 2], Some("its end is missing".to_owned())),
        ] {
            let mut inbox = Inbox::new(cut);
            inbox.space().unwrap().extend_from_slice(bytes);
            assert_eq!(inbox.describe_short_frame(), expected);
        }
    }

    #[test]
    fn frames_of_one_length_and_datagrams() {
        let pieces: [&[u8]; 3] = [b"abcd", b"", b"ef"];
        assert_eq!(frames(&Cut::Fixed(3), &pieces), Ok(vec![b"abc".to_vec(), b"def".to_vec()]));
        assert_eq!(frames(&Cut::Datagrams, &pieces), Ok(pieces.map(<[u8]>::to_vec).to_vec()));
    }
}
