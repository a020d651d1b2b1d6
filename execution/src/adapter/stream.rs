//! Lines over a pipe or a connection, in both directions, never waiting beyond an instant.
//!
//! The descriptors do not block, and every wait is a `poll` with a limit. Nothing is read before it is asked for, so one
//! who sends too fast is held up by the kernel's buffer, as by any slow reader; only while something is being
//! *sent* must reading go on, or two who both wait to be read from would wait for ever. What is kept then is limited,
//! as is the length of a line.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::adapter::Failure;

/// The longest line, in bytes.
pub const LONGEST_LINE: usize = 1 << 20;

/// The most lines that wait to be taken.
pub const MOST_LINES: usize = 10_000;

/// The most bytes that wait to be taken: some long lines.
const MOST_BYTES: usize = 4 * LONGEST_LINE;

const CHUNK: usize = 16 << 10;

/// Two directions of bytes, one of them seen as lines.
#[derive(Debug)]
pub struct Stream {
    read: OwnedFd,
    /// `None` where both directions are one descriptor, or nothing is sent any more.
    write: Option<OwnedFd>,
    buffer: Vec<u8>,
    /// What lies before has been taken.
    taken: usize,
    /// There is no end of a line between what was taken and here.
    searched: usize,
    /// How many ends of lines the rest has.
    lines: usize,
    ended: Option<Ended>,
}

/// Why nothing more can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The other side has closed it.
    Closed,
    /// The connection was broken off.
    Broken,
    /// The process is gone, though somebody else holds its output open.
    Gone,
}

/// What there was to read.
#[derive(PartialEq, Eq, Debug)]
pub enum Line<'a> {
    /// A line, without what ended it.
    Text(&'a str),
    /// Nothing whole yet.
    Nothing,
    /// And there will be nothing more.
    Ended(Ended),
}

/// How it went when a stream was read to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Drained {
    /// The other side has ended it: it has taken all that was sent before.
    Ended,
    /// Nothing has come for as long as was asked for.
    Quiet,
    /// It goes on.
    Late,
    /// The connection was broken off: what became of what was sent is not known.
    Broken,
}

impl Stream {
    /// From two descriptors.
    ///
    /// # Errors
    /// They cannot be kept from blocking.
    pub fn of_two(read: OwnedFd, write: OwnedFd) -> std::io::Result<Self> {
        rustix::io::ioctl_fionbio(&write, true)?;
        Stream::new(read, Some(write))
    }

    /// From one descriptor for both directions.
    ///
    /// # Errors
    /// It cannot be kept from blocking.
    pub fn of_one(both: OwnedFd) -> std::io::Result<Self> {
        Stream::new(both, None)
    }

    fn new(read: OwnedFd, write: Option<OwnedFd>) -> std::io::Result<Self> {
        rustix::io::ioctl_fionbio(&read, true)?;
        Ok(Stream { read, write, buffer: Vec::new(), taken: 0, searched: 0, lines: 0, ended: None })
    }

    /// The next line. Waits for it until then; `gone` becomes readable when the process at the other end has ended.
    ///
    /// # Errors
    /// [`Failure::Flood`], a line that is too long; [`Failure::Garbage`], one that is no text.
    pub fn line(&mut self, until: Instant, gone: Option<&OwnedFd>) -> Result<Line<'_>, Failure> {
        loop {
            if let Some(length) = self.find() {
                return self.take(length);
            }
            if let Some(ended) = self.ended {
                return Ok(Line::Ended(ended));
            }
            if self.fill()? {
                continue;
            }
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Ok(Line::Nothing);
            }
            let mut fds = vec![PollFd::new(&self.read, PollFlags::IN)];
            fds.extend(gone.map(|gone| PollFd::new(gone, PollFlags::IN)));
            wait(&mut fds, until);
            let is_gone = fds.get(1).is_some_and(|fd| !fd.revents().is_empty());
            // What it wrote before it ended has arrived by now.
            if is_gone && !self.fill()? && self.ended.is_none() {
                self.ended = Some(Ended::Gone);
            }
        }
    }

    /// Sends all of it, or fails at that instant.
    ///
    /// # Errors
    /// [`Failure::Stuck`]; [`Failure::Flood`]; [`Failure::Lost`] without words about the process, which are the caller's.
    pub fn send(&mut self, bytes: &[u8], until: Instant, gone: Option<&OwnedFd>) -> Result<(), Failure> {
        let lost = |ended: Ended| Failure::Lost(ended.text().to_owned());
        let mut rest = bytes;
        let mut is_first = true;
        loop {
            // One who is gone takes nothing, though a pipe might.
            let mut fds = vec![PollFd::new(&self.read, PollFlags::IN)];
            fds.push(PollFd::from_borrowed_fd(self.writer(), PollFlags::OUT));
            fds.extend(gone.map(|gone| PollFd::new(gone, PollFlags::IN)));
            wait(&mut fds, if is_first { Instant::now() } else { until });
            let is = |at: usize| fds.get(at).is_some_and(|fd: &PollFd<'_>| !fd.revents().is_empty());
            let (is_read, is_gone) = (is(0), is(2));
            if is_gone {
                return Err(lost(Ended::Gone));
            }
            if is_read && self.ended.is_none() {
                self.fill()?;
                if self.lines > MOST_LINES || self.buffer.len() - self.taken > MOST_BYTES {
                    let message = format!("more than {MOST_LINES} lines came before it took a stimulus");
                    return Err(Failure::Flood(message));
                }
            }
            if let Some(ended) = self.ended {
                return Err(lost(ended));
            }
            match rustix::io::write(self.writer(), rest) {
                Ok(count) => rest = &rest[count..],
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::PIPE) => return Err(Failure::Lost("takes no input any more".to_owned())),
                Err(error) => return Err(Failure::Lost(format!("takes no input any more: {error}"))),
            }
            if rest.is_empty() {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(Failure::Stuck(
                    "it did not read what was sent until the run's limit of time".to_owned(),
                ));
            }
            is_first = false;
        }
    }

    /// Says that nothing more will be sent. The other direction stays open.
    pub fn close_output(&mut self) {
        match self.write.take() {
            Some(write) => drop(write),
            // One that is broken off already needs no word.
            None => drop(rustix::net::shutdown(&self.read, rustix::net::Shutdown::Write)),
        }
    }

    /// Reads and forgets what comes, until the other side ends it, until nothing has come for so long as `quiet` says, or until
    /// that instant.
    pub fn drain(&mut self, until: Instant, quiet: Option<Duration>, gone: Option<&OwnedFd>) -> Drained {
        loop {
            self.forget();
            match self.ended {
                Some(Ended::Broken) => return Drained::Broken,
                Some(Ended::Closed | Ended::Gone) => return Drained::Ended,
                None => {}
            }
            let now = Instant::now();
            let calm = quiet.map(|quiet| now + quiet).filter(|calm| *calm <= until);
            if now >= until {
                return Drained::Late;
            }
            let mut fds = vec![PollFd::new(&self.read, PollFlags::IN)];
            fds.extend(gone.map(|gone| PollFd::new(gone, PollFlags::IN)));
            wait(&mut fds, calm.unwrap_or(until));
            let (is_read, is_gone) =
                (!fds[0].revents().is_empty(), fds.get(1).is_some_and(|fd| !fd.revents().is_empty()));
            // A line that is too long ends nothing here.
            let has_come = is_read && self.fill().unwrap_or(true);
            if !has_come && is_gone && self.ended.is_none() {
                self.ended = Some(Ended::Gone);
            } else if !is_read && calm.is_some_and(|calm| Instant::now() >= calm) {
                return Drained::Quiet;
            }
        }
    }

    fn forget(&mut self) {
        self.buffer.clear();
        (self.taken, self.searched, self.lines) = (0, 0, 0);
    }

    fn writer(&self) -> BorrowedFd<'_> {
        self.write.as_ref().map_or(self.read.as_fd(), AsFd::as_fd)
    }

    /// Reads once what is there; was there something?
    fn fill(&mut self) -> Result<bool, Failure> {
        // What was taken is dropped when there is more of it than of the rest: every byte is moved once at most.
        if self.taken > self.buffer.len() / 2 {
            self.buffer.drain(..self.taken);
            self.searched -= self.taken;
            self.taken = 0;
        }
        if self.lines == 0 && self.buffer.len() - self.taken > LONGEST_LINE {
            return Err(Failure::Flood(format!("a line is longer than {LONGEST_LINE} bytes")));
        }
        self.buffer.reserve(CHUNK);
        let before = self.buffer.len();
        match rustix::io::read(&self.read, spare_capacity(&mut self.buffer)) {
            Ok(0) => self.ended = Some(Ended::Closed),
            Ok(_) => {
                self.lines += self.buffer[before..].iter().filter(|byte| **byte == b'\n').count();
                return Ok(true);
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.ended = Some(Ended::Broken),
        }
        Ok(false)
    }

    /// The length of the next line, its end included.
    fn find(&mut self) -> Option<usize> {
        if self.lines == 0 {
            self.searched = self.buffer.len();
            return None;
        }
        let at = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n')?;
        Some(self.searched + at + 1 - self.taken)
    }

    fn take(&mut self, length: usize) -> Result<Line<'_>, Failure> {
        let line = self.taken..self.taken + length - 1;
        self.taken += length;
        self.searched = self.taken;
        self.lines -= 1;
        let bytes = &self.buffer[line];
        if bytes.len() > LONGEST_LINE {
            return Err(Failure::Flood(format!("a line is longer than {LONGEST_LINE} bytes")));
        }
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let no_text = |_| Failure::Garbage(format!("a line is not UTF-8: {}", shown(bytes)));
        std::str::from_utf8(bytes).map(Line::Text).map_err(no_text)
    }
}

impl Ended {
    /// In words that follow the name of a process.
    pub fn text(self) -> &'static str {
        match self {
            Ended::Closed => "has closed its output",
            Ended::Broken => "has broken off the connection",
            Ended::Gone => "has ended",
        }
    }
}

/// Waits until one of them is ready, or until then.
fn wait(fds: &mut [PollFd<'_>], until: Instant) {
    let rest = until.saturating_duration_since(Instant::now());
    // Whatever fails here shows again at the next read or write; the callers look at the clock.
    let _ = poll(fds, Timespec::try_from(rest).ok().as_ref());
}

/// Bytes for a message.
fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 40;
    let more = if bytes.len() > MOST { "..." } else { "" };
    format!("{}{more}", bytes[..bytes.len().min(MOST)].escape_ascii())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    fn pair() -> (Stream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (Stream::of_one(ours.into()).unwrap(), listener.accept().unwrap().0)
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    #[test]
    fn lines_come_whole_and_in_order() {
        let (mut stream, mut theirs) = pair();
        theirs.write_all(b"one\r\ntwo\n\nthr").unwrap();
        for expected in ["one", "two", ""] {
            assert_eq!(stream.line(soon(), None), Ok(Line::Text(expected)));
        }
        assert_eq!(stream.line(Instant::now(), None), Ok(Line::Nothing));
        theirs.write_all(b"ee\nrest").unwrap();
        drop(theirs);
        assert_eq!(stream.line(soon(), None), Ok(Line::Text("three")));
        assert_eq!(stream.line(soon(), None), Ok(Line::Ended(Ended::Closed)));
    }

    #[test]
    fn many_lines_at_once_are_kept() {
        let (mut stream, mut theirs) = pair();
        let writer = std::thread::spawn(move || {
            for number in 0..30_000 {
                theirs.write_all(format!("{number} {}\n", "x".repeat(number % 100)).as_bytes()).unwrap();
            }
        });
        for number in 0..30_000 {
            let expected = format!("{number} {}", "x".repeat(number % 100));
            assert_eq!(stream.line(soon(), None), Ok(Line::Text(&expected)));
        }
        writer.join().unwrap();
        assert!(stream.buffer.len() < 100_000, "{}", stream.buffer.len());
    }

    #[test]
    fn an_endless_line_is_a_flood_and_not_an_endless_wait() {
        let (mut stream, mut theirs) = pair();
        let writer = std::thread::spawn(move || while theirs.write_all(&[b'x'; 4096]).is_ok() {});
        assert!(matches!(stream.line(soon(), None), Err(Failure::Flood(_))));
        drop(stream);
        writer.join().unwrap();
    }

    #[test]
    fn one_who_does_not_read_is_stuck_at_the_instant() {
        let (mut stream, _theirs) = pair();
        let limit = Duration::from_millis(50);
        let begin = Instant::now();
        assert!(matches!(stream.send(&vec![b'x'; 64 << 20], begin + limit, None), Err(Failure::Stuck(_))));
        assert!(begin.elapsed() >= limit);
    }

    #[test]
    fn what_is_left_is_read_until_the_other_side_has_read_our_end() {
        let (mut stream, mut theirs) = pair();
        stream.send(b"late\n", soon(), None).unwrap();
        stream.close_output();
        theirs.write_all(b"an answer\nhalf of").unwrap();
        let moment = Duration::from_millis(20);
        assert_eq!(stream.drain(Instant::now() + moment, None, None), Drained::Late);
        assert_eq!(stream.drain(soon(), Some(moment), None), Drained::Quiet);
        let reader = std::thread::spawn(move || {
            let mut all = String::new();
            std::io::Read::read_to_string(&mut theirs, &mut all).unwrap();
            all
        });
        assert_eq!(stream.drain(soon(), None, None), Drained::Ended);
        assert_eq!(reader.join().unwrap(), "late\n");
    }

    #[test]
    fn one_who_breaks_off_has_not_said_what_he_has_taken() {
        let (mut stream, theirs) = pair();
        stream.send(b"unread\n", soon(), None).unwrap();
        // Closed with something unread: the kernel breaks it off.
        drop(theirs);
        assert_eq!(stream.drain(soon(), None, None), Drained::Broken);
    }

    #[test]
    fn what_is_no_text_is_garbage() {
        let (mut stream, mut theirs) = pair();
        theirs.write_all(b"\xff\xfe\n").unwrap();
        let Err(Failure::Garbage(text)) = stream.line(soon(), None) else { panic!("no garbage") };
        assert_eq!(text, "a line is not UTF-8: \\xff\\xfe");
    }
}
