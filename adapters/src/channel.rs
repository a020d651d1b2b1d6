//! The descriptors between the tester and an implementation. Only here, bytes of a dialogue are read and
//! written.
//!
//! No descriptor blocks. Bytes that are read are appended to the caller's buffer. The caller decides what to
//! wait for, and how long ([`crate::stream`]).

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{Shutdown, sockopt};

use crate::adapter::Failure;
use crate::datagrams::{self, Peer, Stray};
use crate::times::poll_until;
use crate::tls::{Broken, Tls, TlsSession};

/// After so many bytes of datagrams in a row, the channel checks whether the kernel has dropped some. The
/// kernel drops datagrams only when more than that wait in its buffer.
const CHECK_DROPPED_AFTER: usize = 32 << 10;

/// The least number of bytes that a datagram takes of the kernel's buffer in addition to its own.
const DATAGRAM_OVERHEAD: usize = 512;

/// Two directions of bytes, or of datagrams.
pub struct Channel {
    read: OwnedFd,
    /// `None` if both directions are one descriptor, or nothing is sent any more.
    write: Option<OwnedFd>,
    /// Whose datagrams are heard, if there are datagrams.
    peer: Option<Peer>,
    /// How the channel ends: a pipe is closed, a connection is disconnected.
    end: ChannelEnded,
    /// The bytes of datagrams that were read without a pause in between.
    read_in_a_row: usize,
    /// The TLS between the bytes and the descriptor, if TLS is spoken.
    tls: Option<Box<TlsSession>>,
}

/// Why nothing more can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelEnded {
    /// The end of a pipe.
    Closed,
    /// The end of a connection.
    Disconnected,
    Broken,
    /// Nobody takes datagrams there.
    Refused,
    /// The process is gone, though somebody else holds its output open.
    Gone,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Came {
    /// This number of bytes, or one datagram of this length.
    Bytes(usize),
    Nothing,
    Ended(ChannelEnded),
}

impl Channel {
    pub fn of_two(read: OwnedFd, write: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&write, true)?;
        Channel::new(read, Some(write), None)
    }

    pub fn of_one(both: OwnedFd) -> io::Result<Self> {
        Channel::new(both, None, None)
    }

    pub fn of_datagrams((both, peer): (OwnedFd, Peer)) -> io::Result<Self> {
        // The kernel may give less.
        let _ = sockopt::set_socket_recv_buffer_size(&both, 4 << 20);
        Channel::new(both, None, Some(peer))
    }

    fn new(read: OwnedFd, write: Option<OwnedFd>, peer: Option<Peer>) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&read, true)?;
        let end = if write.is_some() { ChannelEnded::Closed } else { ChannelEnded::Disconnected };
        Ok(Channel { read, write, peer, end, read_in_a_row: 0, tls: None })
    }

    /// Says whether the other side may speak TLS, and we do not.
    pub fn may_need_tls(&self) -> bool {
        self.is_socket() && !self.is_of_datagrams() && self.tls.is_none()
    }

    /// Begins TLS before that instant. The other side must have the right name ([`crate::tls`]).
    pub fn secured(self, tls: &Tls, host: &str, until: Instant) -> Result<Self, String> {
        let mut session = tls.session(host).map_err(|why| why.text)?;
        let wait = |what: PollFlags| -> io::Result<()> {
            match poll_until(&mut [PollFd::new(&self.read, what)], until) {
                Ok(0) => Err(io::Error::new(ErrorKind::TimedOut, "TLS: the server did not answer in time")),
                Ok(_) | Err(Errno::INTR) => Ok(()),
                Err(error) => Err(error.into()),
            }
        };
        session.begin(Raw(self.read.as_fd()), wait).map_err(|error| error.to_string())?;
        Ok(Channel { tls: Some(Box::new(session)), ..self })
    }

    /// Says whether it is a socket, and not two pipes.
    pub fn is_socket(&self) -> bool {
        self.end == ChannelEnded::Disconnected
    }

    pub fn is_of_datagrams(&self) -> bool {
        self.peer.is_some()
    }

    /// Returns the descriptor that becomes readable when a datagram comes from elsewhere.
    pub fn stray_descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.peer.as_ref()?.elsewhere()
    }

    /// Takes the datagrams that have come from elsewhere, and are no messages.
    pub fn strays(&mut self) -> Vec<Stray> {
        self.peer.as_mut().map(Peer::strays).unwrap_or_default()
    }

    /// Returns where datagrams go now, if that is not the address any more.
    pub fn moved_to(&self) -> Option<SocketAddr> {
        match self.peer {
            Some(Peer::Host { address, to, .. }) if to != address => Some(to),
            _ => None,
        }
    }

    pub fn reader(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }

    pub fn writer(&self) -> BorrowedFd<'_> {
        self.write.as_ref().map_or(self.read.as_fd(), AsFd::as_fd)
    }

    /// Reads once, and appends to the buffer.
    ///
    /// # Errors
    /// [`Failure::Flood`]: the kernel could not keep all datagrams that came. With TLS,
    /// [`Failure::Garbage`] and [`Failure::Lost`].
    pub fn read(&mut self, buffer: &mut Vec<u8>) -> Result<Came, Failure> {
        if let Some(tls) = &mut self.tls {
            return read_all(tls, Raw(self.read.as_fd()), buffer);
        }
        buffer.reserve(datagrams::LONGEST);
        let read = match &mut self.peer {
            None => rustix::io::read(&self.read, spare_capacity(buffer)),
            Some(peer) => peer.read(&self.read, buffer),
        };
        let came = match read {
            // A datagram may be empty.
            Ok(0) if !self.is_of_datagrams() => Came::Ended(self.end),
            Ok(count) => Came::Bytes(count),
            Err(Errno::AGAIN | Errno::INTR) => Came::Nothing,
            Err(Errno::CONNREFUSED) if self.is_of_datagrams() => Came::Ended(ChannelEnded::Refused),
            Err(_) => Came::Ended(ChannelEnded::Broken),
        };
        self.read_in_a_row =
            if let Came::Bytes(count) = came { self.read_in_a_row + count + DATAGRAM_OVERHEAD } else { 0 };
        // The kernel drops datagrams only after a full buffer. So this check comes before any datagram after
        // such a buffer is believed.
        if self.is_of_datagrams() && self.read_in_a_row >= CHECK_DROPPED_AFTER {
            self.read_in_a_row = 0;
            if datagrams::count_dropped(&self.read) > 0 {
                return Err(Failure::Flood("more datagrams came than the kernel keeps".to_owned()));
            }
        }
        Ok(came)
    }

    /// Writes as many bytes as the other side takes, or one whole datagram.
    pub fn write(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        match (&mut self.tls, &self.peer) {
            (None, None) => rustix::io::write(self.writer(), bytes),
            (None, Some(peer)) => peer.write(&self.read, bytes),
            (Some(tls), _) => {
                let written = tls.write(Raw(self.read.as_fd()), bytes);
                written.map_err(|error| match error.kind() {
                    ErrorKind::WouldBlock => Errno::AGAIN,
                    _ => Errno::from_io_error(&error).unwrap_or(Errno::PIPE),
                })
            }
        }
    }

    /// Closes the direction to the other side, which then reads the end. Over datagrams it cannot be told.
    pub fn close_output(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.end(Raw(self.read.as_fd()));
        }
        match self.write.take() {
            Some(write) => drop(write),
            None if self.is_of_datagrams() => {}
            // If the connection is broken off already, this fails, and nothing has to be said.
            None => drop(rustix::net::shutdown(&self.read, Shutdown::Write)),
        }
    }
}

/// Reads all that there is through TLS. No descriptor would tell of decrypted bytes that stay there.
fn read_all(tls: &mut TlsSession, socket: Raw<'_>, buffer: &mut Vec<u8>) -> Result<Came, Failure> {
    let mut chunk = [0; 16 << 10];
    let mut count = match tls.read(socket, &mut chunk) {
        Ok(count) => count,
        Err(error) => {
            return match (error.kind(), Broken::within(&error)) {
                (ErrorKind::WouldBlock, _) => Ok(Came::Nothing),
                (ErrorKind::UnexpectedEof, _) => Ok(Came::Ended(ChannelEnded::Disconnected)),
                (_, Some(Broken { text, is_alert: true })) => Err(Failure::Lost(text.clone())),
                (_, Some(Broken { text, .. })) => Err(Failure::Garbage(text.clone())),
                _ => Ok(Came::Ended(ChannelEnded::Broken)),
            };
        }
    };
    if count == 0 {
        return Ok(Came::Ended(ChannelEnded::Disconnected));
    }
    let mut total = 0;
    while count > 0 {
        buffer.extend_from_slice(&chunk[..count]);
        total += count;
        // If this fails because of an end, the next read sees it, too.
        count = tls.left(&mut chunk).unwrap_or(0);
    }
    Ok(Came::Bytes(total))
}

#[derive(Clone, Copy)]
struct Raw<'a>(BorrowedFd<'a>);

impl io::Read for Raw<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(self.0, bytes)?)
    }
}

impl io::Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(self.0, bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ChannelEnded {
    /// Says in words that follow the name of a process how the channel ended.
    pub fn text(self) -> &'static str {
        match self {
            ChannelEnded::Closed => "has closed its output",
            ChannelEnded::Disconnected => "has closed the connection",
            ChannelEnded::Broken => "has broken off the connection",
            ChannelEnded::Refused => {
                "takes no datagrams at its address: start the system, or correct `address` in the IUT file"
            }
            ChannelEnded::Gone => "has ended",
        }
    }
}
