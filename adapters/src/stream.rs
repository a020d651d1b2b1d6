//! Frames over a pipe, a connection or in datagrams, in both directions, never waiting beyond an instant.
//!
//! The descriptors do not block, and every wait is a `poll` with a limit. Nothing is read before it is asked
//! for. So the kernel's buffer holds up a system that sends too fast, as with any slow reader. But while
//! something is being *sent*, reading must go on: two sides that both wait to be read from would wait for
//! ever. The bytes that are kept then are limited, as is the length of a frame ([`crate::cut`]).

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use coreach_model::limits::LONGEST_VALUE;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

use crate::adapter::Failure;
pub use crate::channel::ChannelEnded;
use crate::channel::{Came, Channel};
use crate::cut::{Cut, Inbox, MOST};
use crate::datagrams::Stray;
use crate::evidence::{self, Evidence};
use crate::times::poll_until;

/// The remedy if the other side speaks TLS, and the IUT file has no `tls`.
pub const SPEAK_TLS: &str = "it speaks TLS on this port: write `tls: { ca: ca.pem }` under `tcp`, with the file of the \
                             certificate that signs the server's";

/// Two directions, one of them seen as frames.
pub struct Stream {
    pub(crate) channel: Channel,
    pub(crate) inbox: Inbox,
    ended: Option<ChannelEnded>,
    sent: u64,
    came: u64,
    is_of_lines: bool,
    /// The last datagram that came from another port of the host, and is no message.
    pub(crate) stray: Option<Stray>,
    /// Sees every byte, in both directions.
    evidence: Evidence,
}

#[derive(PartialEq, Eq, Debug)]
pub enum StreamFrame<'a> {
    /// A frame, without its delimiter or its length.
    Bytes(&'a [u8]),
    Nothing,
    /// No frame will come any more.
    Ended(ChannelEnded),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Drained {
    /// The other side has ended the stream, so it has taken all that was sent before.
    Ended,
    /// Nothing has come for as long as was asked for.
    Quiet,
    /// The other side goes on.
    Late,
    /// The connection was broken off: what became of what was sent is not known.
    Broken,
}

impl Stream {
    /// Makes a stream over a channel, cut into frames in this way. Each datagram is a frame.
    pub fn new(channel: Channel, cut: Cut) -> Self {
        let cut = if channel.is_of_datagrams() { Cut::Datagrams } else { cut };
        let is_of_lines = matches!(cut, Cut::Lines);
        Stream {
            channel,
            inbox: Inbox::new(cut),
            ended: None,
            sent: 0,
            came: 0,
            is_of_lines,
            stray: None,
            evidence: Evidence::default(),
        }
    }

    /// Writes all that goes over the stream into this log.
    pub fn with_evidence(self, evidence: Evidence) -> Self {
        Stream { evidence, ..self }
    }

    /// Says whether these are datagrams, of which nothing shows that they have arrived.
    pub fn is_of_datagrams(&self) -> bool {
        self.channel.is_of_datagrams()
    }

    /// Reads the next frame, and waits for it until an instant. `gone` becomes readable when the process at
    /// the other end has ended.
    ///
    /// # Errors
    /// [`Failure::Flood`]: a frame is too long. [`Failure::Garbage`]: the length of a frame is no length.
    pub fn frame(&mut self, until: Instant, gone: Option<&OwnedFd>) -> Result<StreamFrame<'_>, Failure> {
        loop {
            let frame = self.inbox.take_frame();
            if let Err(Failure::Garbage(_)) = frame {
                self.evidence.mark(self.inbox.rest(), evidence::GARBAGE);
            }
            if let Some(frame) = frame? {
                return Ok(StreamFrame::Bytes(self.inbox.bytes(frame)));
            }
            if let Some(ended) = self.ended {
                return Ok(StreamFrame::Ended(ended));
            }
            if self.fill()? || self.ended.is_some() {
                continue;
            }
            if Instant::now() >= until {
                return Ok(StreamFrame::Nothing);
            }
            let mut fds = vec![PollFd::from_borrowed_fd(self.channel.reader(), PollFlags::IN)];
            fds.extend(gone.map(|gone| PollFd::new(gone, PollFlags::IN)));
            // This is watched, too, so that datagrams from elsewhere are noted down when they come.
            let elsewhere = self.channel.stray_descriptor();
            fds.extend(elsewhere.map(|elsewhere| PollFd::from_borrowed_fd(elsewhere, PollFlags::IN)));
            wait_for_ready(&mut fds, until);
            let is_gone = gone.is_some() && is_ready(&fds[1]);
            // All that it wrote before it ended has arrived by now.
            if is_gone && !self.fill()? {
                self.end(ChannelEnded::Gone);
            }
        }
    }

    /// Sends all bytes, or fails at an instant.
    ///
    /// # Errors
    /// [`Failure::Stuck`]; [`Failure::Flood`]; [`Failure::Lost`], to which the caller adds the last words.
    pub fn send(&mut self, bytes: &[u8], until: Instant, gone: Option<&OwnedFd>) -> Result<(), Failure> {
        let lost = |ended: ChannelEnded| Failure::Lost(ended.text().to_owned());
        let mut unsent = bytes;
        let mut is_first = true;
        loop {
            // A process that has ended takes nothing, though its pipe might. Before the first write, this is
            // only asked, and not waited for.
            let mut fds = vec![
                PollFd::from_borrowed_fd(self.channel.reader(), PollFlags::IN),
                PollFd::from_borrowed_fd(self.channel.writer(), PollFlags::OUT),
            ];
            fds.extend(gone.map(|gone| PollFd::new(gone, PollFlags::IN)));
            wait_for_ready(&mut fds, if is_first { Instant::now() } else { until });
            let (is_readable, is_gone) = (is_ready(&fds[0]), fds.get(2).is_some_and(is_ready));
            if is_gone {
                return Err(lost(ChannelEnded::Gone));
            }
            if is_readable && self.ended.is_none() {
                self.fill()?;
                if self.inbox.is_flooded() {
                    let message = format!(
                        "more than {MOST} messages, or too long ones, came before it took a stimulus"
                    );
                    return Err(Failure::Flood(message));
                }
            }
            if let Some(ended) = self.ended {
                return Err(lost(ended));
            }
            match self.channel.write(unsent) {
                Ok(count) => {
                    self.evidence.sent(&unsent[..count], unsent.len() < bytes.len());
                    unsent = &unsent[count..];
                    self.sent += count as u64;
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::MSGSIZE) => {
                    let text = format!("{} bytes are too many for one datagram", unsent.len());
                    return Err(Failure::Untranslatable(text));
                }
                Err(Errno::CONNREFUSED) if self.is_of_datagrams() => return Err(lost(ChannelEnded::Refused)),
                Err(Errno::PIPE) => return Err(Failure::Lost("takes no input any more".to_owned())),
                Err(error) => return Err(Failure::Lost(format!("takes no input any more: {error}"))),
            }
            if unsent.is_empty() {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(Failure::Stuck(
                    "it did not read the messages before the run's time limit".to_owned(),
                ));
            }
            is_first = false;
        }
    }

    /// Says that nothing more will be sent. The other direction stays open.
    pub fn close_output(&mut self) {
        // Over datagrams there is no way to say so.
        if !self.is_of_datagrams() {
            self.evidence.ended("the tester has ended its side");
        }
        self.channel.close_output();
    }

    /// Reads and forgets what comes: until the other side ends the stream, until only idle frames (`is_idle`)
    /// have come for as long as `quiet` says, or until that instant. `gone` becomes readable when the process
    /// ends.
    pub fn drain(
        &mut self,
        until: Instant,
        quiet: Option<Duration>,
        gone: Option<&OwnedFd>,
        is_idle: impl Fn(&[u8]) -> bool,
    ) -> Drained {
        self.inbox.forget();
        // The instant of the last frame that is not idle.
        let mut quiet_since = Instant::now();
        loop {
            match self.ended {
                Some(ChannelEnded::Broken | ChannelEnded::Refused) => return Drained::Broken,
                Some(ChannelEnded::Closed | ChannelEnded::Disconnected | ChannelEnded::Gone) => {
                    return Drained::Ended;
                }
                None => {}
            }
            if Instant::now() >= until {
                return Drained::Late;
            }
            let mut fds = vec![PollFd::from_borrowed_fd(self.channel.reader(), PollFlags::IN)];
            fds.extend(gone.map(|gone| PollFd::new(gone, PollFlags::IN)));
            wait_for_ready(&mut fds, quiet.map_or(until, |quiet| until.min(quiet_since + quiet)));
            let (is_readable, is_gone) = (is_ready(&fds[0]), fds.get(1).is_some_and(is_ready));
            // Read all of it: with TLS, an end may come after it, of which no descriptor tells.
            let mut has_come = false;
            while is_readable && Instant::now() < until {
                let filled = self.fill();
                match filled {
                    Ok(false) => break,
                    Ok(true) if self.forget_frames(&is_idle) => {}
                    Ok(true) => quiet_since = Instant::now(),
                    // A line that is too long, or a failure of TLS, counts as a frame.
                    Err(_) => {
                        self.inbox.forget();
                        quiet_since = Instant::now();
                    }
                }
                has_come = true;
                if filled.is_err() {
                    break;
                }
            }
            let now = Instant::now();
            if !has_come && is_gone {
                self.end(ChannelEnded::Gone);
            } else if quiet.is_some_and(|quiet| now >= quiet_since + quiet) && now < until {
                return Drained::Quiet;
            }
        }
    }

    /// Forgets the frames that are there. Returns whether all were idle by `is_idle`, and no other has begun.
    fn forget_frames(&mut self, is_idle: impl Fn(&[u8]) -> bool) -> bool {
        let mut are_idle = true;
        loop {
            match self.inbox.take_frame() {
                Ok(Some(frame)) => are_idle &= is_idle(self.inbox.bytes(frame)),
                Ok(None) => return are_idle && self.inbox.rest().is_empty(),
                Err(_) => {
                    self.inbox.forget();
                    return false;
                }
            }
        }
    }

    pub fn sent(&self) -> u64 {
        self.sent
    }

    pub fn came(&self) -> u64 {
        self.came
    }

    /// Reads what is there, without waiting, and says whether a whole frame is.
    pub fn has_frame(&mut self) -> Result<bool, Failure> {
        while self.ended.is_none() && !self.inbox.is_flooded() && self.fill()? {}
        Ok(self.inbox.has_frame())
    }

    pub fn ended(&self) -> Option<ChannelEnded> {
        self.ended
    }

    /// Says whether the other side has ended the stream, even if the end was not read yet, or whether the
    /// process is gone. Waits for that until `until`.
    pub fn has_hung_up(&self, until: Instant, gone: Option<&OwnedFd>) -> bool {
        // The end of a pipe is told without being asked for.
        let mut fds = vec![PollFd::from_borrowed_fd(self.channel.reader(), PollFlags::RDHUP)];
        fds.extend(gone.map(|gone| PollFd::new(gone, PollFlags::IN)));
        self.ended.is_some() || {
            wait_for_ready(&mut fds, until);
            fds.iter().any(is_ready)
        }
    }

    pub fn rest(&self) -> &[u8] {
        self.inbox.rest()
    }

    /// Reads once what is there, and returns whether there was something.
    fn fill(&mut self) -> Result<bool, Failure> {
        let goes_on = self.inbox.is_amid();
        let space = self.inbox.space()?;
        let length_before = space.len();
        let came = self.channel.read(space);
        // An empty datagram is received, too.
        if space.len() > length_before || matches!(came, Ok(Came::Bytes(_))) {
            self.evidence.received(&space[length_before..], goes_on);
        }
        for stray in self.channel.strays() {
            self.evidence.mark(&stray.bytes, &stray.note());
            if stray.is_same_host {
                self.stray = Some(stray);
            }
        }
        match came? {
            Came::Bytes(count) => {
                self.inbox.note_arrival(count);
                // A record of TLS begins with its type, alert or handshake, and its version. No text does.
                let is_first = self.came == 0 && self.is_of_lines && self.channel.may_need_tls();
                if is_first && matches!(self.inbox.rest(), [0x15 | 0x16, 0x03, ..]) {
                    self.evidence.mark(self.inbox.rest(), evidence::GARBAGE);
                    return Err(Failure::Garbage(format!("it has sent a message of TLS\nhelp: {SPEAK_TLS}")));
                }
                self.came += count as u64;
                self.stray = None;
                return Ok(true);
            }
            Came::Nothing => {}
            Came::Ended(ended) => self.end(ended),
        }
        Ok(false)
    }

    fn end(&mut self, how: ChannelEnded) {
        if self.ended.is_none() {
            self.evidence.ended(&format!("the implementation {}", how.text()));
            self.ended = Some(how);
        }
    }
}

/// Reads a frame as a text: a line, or a datagram, which may end as a line does.
pub fn read_text(frame: &[u8]) -> Result<&str, Failure> {
    let line = read_raw_line(frame)?;
    Ok(line.strip_suffix('\r').unwrap_or(line))
}

/// Reads a frame as a text, with the carriage return at its end.
pub fn read_raw_line(frame: &[u8]) -> Result<&str, Failure> {
    let frame = frame.strip_suffix(b"\n").unwrap_or(frame);
    let no_text = |_| {
        let help = match frame {
            // The bytes that begin a negotiation: IAC WILL, WONT or DO.
            [0xff, 0xfb..=0xfd, ..] => {
                "it begins with commands of Telnet: let the system send none at the connect"
            }
            _ => "let the system send UTF-8",
        };
        let line = escape_bytes(frame.strip_suffix(b"\r").unwrap_or(frame));
        Failure::Garbage(format!("a line is not UTF-8: {line}\nhelp: {help}"))
    };
    std::str::from_utf8(frame).map_err(no_text)
}

/// Waits until something comes over one of the streams, or the process ends, or until then.
pub fn wait_for_any<'a>(
    streams: impl Iterator<Item = &'a Stream>,
    gone: Option<&'a OwnedFd>,
    until: Instant,
) {
    let readers = streams.map(|stream| PollFd::from_borrowed_fd(stream.channel.reader(), PollFlags::IN));
    let mut fds: Vec<PollFd<'_>> = readers.chain(gone.map(|gone| PollFd::new(gone, PollFlags::IN))).collect();
    wait_for_ready(&mut fds, until);
}

/// Waits until one of them is ready, or until then.
fn wait_for_ready(fds: &mut [PollFd<'_>], until: Instant) {
    // A failure shows again at the next read or write. The callers look at the clock.
    let _ = poll_until(fds, until);
}

fn is_ready(fd: &PollFd<'_>) -> bool {
    !fd.revents().is_empty()
}

/// Shows the first bytes, in ASCII.
pub(super) fn escape_bytes(bytes: &[u8]) -> String {
    let more = if bytes.len() > LONGEST_VALUE { "..." } else { "" };
    format!("{}{more}", bytes[..bytes.len().min(LONGEST_VALUE)].escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    fn pair() -> (Stream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let channel = Channel::of_one(ours.into()).unwrap();
        (Stream::new(channel, Cut::Lines), listener.accept().unwrap().0)
    }

    fn next_line(stream: &mut Stream, until: Instant) -> Result<String, String> {
        match stream.frame(until, None) {
            Ok(StreamFrame::Bytes(frame)) => {
                read_text(frame).map(str::to_owned).map_err(|failure| failure.to_string())
            }
            other => Err(format!("{other:?}")),
        }
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    #[test]
    fn an_end_is_seen_behind_what_was_not_read() {
        let (mut stream, mut other) = pair();
        assert!(!stream.has_hung_up(Instant::now(), None));
        other.write_all(b"goodbye\nfor ever\n").unwrap();
        assert!(matches!(stream.frame(soon(), None), Ok(StreamFrame::Bytes(_))));
        assert!(!stream.has_hung_up(Instant::now(), None));
        drop(other);
        assert!(stream.has_hung_up(soon(), None));
        assert_eq!(stream.ended(), None);
        assert!(matches!(stream.frame(soon(), None), Ok(StreamFrame::Bytes(_))));
    }

    #[test]
    fn lines_come_whole_and_in_order() {
        let (mut stream, mut theirs) = pair();
        theirs.write_all(b"one\r\ntwo\n\nthr").unwrap();
        for expected in ["one", "two", ""] {
            assert_eq!(next_line(&mut stream, soon()), Ok(expected.to_owned()));
        }
        assert_eq!(stream.frame(Instant::now(), None), Ok(StreamFrame::Nothing));
        theirs.write_all(b"ee\nrest").unwrap();
        drop(theirs);
        assert_eq!(next_line(&mut stream, soon()), Ok("three".to_owned()));
        assert_eq!(stream.frame(soon(), None), Ok(StreamFrame::Ended(ChannelEnded::Disconnected)));
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
            assert_eq!(next_line(&mut stream, soon()), Ok(expected));
        }
        writer.join().unwrap();
        assert_eq!(stream.inbox.count_waiting(), 0);
        assert!(stream.inbox.space().unwrap().len() < 200_000);
    }

    #[test]
    fn an_endless_line_is_a_flood_and_not_an_endless_wait() {
        let (mut stream, mut theirs) = pair();
        let writer = std::thread::spawn(move || while theirs.write_all(&[b'x'; 4096]).is_ok() {});
        assert!(matches!(stream.frame(soon(), None), Err(Failure::Flood(_))));
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
        assert_eq!(stream.drain(Instant::now() + moment, None, None, |_| false), Drained::Late);
        assert_eq!(stream.drain(soon(), Some(moment), None, |_| false), Drained::Quiet);
        let reader = std::thread::spawn(move || {
            let mut all = String::new();
            std::io::Read::read_to_string(&mut theirs, &mut all).unwrap();
            all
        });
        assert_eq!(stream.drain(soon(), None, None, |_| false), Drained::Ended);
        assert_eq!(reader.join().unwrap(), "late\n");
    }

    #[test]
    fn one_who_breaks_off_has_not_said_what_he_has_taken() {
        let (mut stream, theirs) = pair();
        stream.send(b"unread\n", soon(), None).unwrap();
        // It is closed with something unread, so the kernel breaks it off.
        drop(theirs);
        assert_eq!(stream.drain(soon(), None, None, |_| false), Drained::Broken);
    }

    #[test]
    fn what_is_no_text_is_garbage() {
        let (mut stream, mut theirs) = pair();
        theirs.write_all(b"\xff\xfe\n").unwrap();
        let no_text = "garbage: a line is not UTF-8: \\xff\\xfe\nhelp: let the system send UTF-8";
        assert_eq!(next_line(&mut stream, soon()), Err(no_text.to_owned()));
    }
}
