//! Sockets for datagrams: one for each run, at a port that no run has had lately.
//!
//! **Problem.** A datagram may come late, when its run is over. Nothing in it says to which run it belongs.
//!
//! **Method.** The socket of a run is connected, so the kernel lets in only datagrams from the system's
//! address. It is bound to a port that this program has not used for a minute (`FRESH`). A late datagram goes
//! to a port that nobody has, and the kernel drops it. **Falls short** if a datagram is later than that, or
//! if another program has had the port before.
//!
//! Datagrams from elsewhere are shown. A second socket at the same port, which is not connected, gets the
//! datagrams that the first does not. The kernel lets two sockets have one port only if both allow it. They
//! allow it when they have the port, and then take that back, so that no other program joins. If every port
//! of the host may answer, there is one socket, which is not connected: with two, nobody could tell which
//! datagram came first. **Falls short** then: only connected sockets learn that nobody takes datagrams
//! there.
//!
//! A test message would be taken for a stimulus, so it cannot show whether somebody listens. But the kernel's
//! list of sockets tells whether a port of this machine is bound (`/proc/net/udp`), and how many datagrams a
//! socket has lost because its buffer was full.
//!
//! **Ends** after `ATTEMPTS` ports. **Costs** a dozen calls of the kernel for each run, and two descriptors.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use coreach_model::lock::lock;

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};

use crate::description::RepliesFrom;
use crate::evidence::{ANOTHER_PORT, FROM};

/// How long a port is not used again.
const FRESH: Duration = Duration::from_secs(60);

/// How many ports in a row may be in use before none counts as free.
pub const ATTEMPTS: usize = 10_000;

/// How often a socket is looked for in the kernel's list.
const MOST_LOOKS: usize = 20;

/// The ports of this program's runs, and since when they are in use.
static USED: Mutex<BTreeMap<u16, Instant>> = Mutex::new(BTreeMap::new());

/// The longest datagram, and the number of bytes that a channel reads at once.
pub const LONGEST: usize = 64 << 10;

/// The most datagrams from elsewhere that are looked at in a row.
const MOST_STRAYS: usize = 1000;

/// The sender whose datagrams are heard at a run's socket.
pub enum Peer {
    /// An address. The socket is connected to it, and a second one gets all other datagrams.
    Address { peer: SocketAddr, elsewhere: OwnedFd },
    /// Every port of a host.
    Host {
        address: SocketAddr,
        /// Where the next datagram goes: to the port that was heard last, if `follows`.
        to: SocketAddr,
        follows: bool,
        /// Datagrams from other hosts that were not taken yet.
        strays: Vec<Stray>,
    },
}

/// A datagram from elsewhere, which is no message.
pub struct Stray {
    pub from: SocketAddr,
    pub is_same_host: bool,
    pub bytes: Vec<u8>,
}

impl Stray {
    fn new(from: SocketAddr, peer: SocketAddr, bytes: Vec<u8>) -> Self {
        Stray { from, is_same_host: from.ip() == peer.ip(), bytes }
    }

    /// Says in words from where it came.
    pub fn note(&self) -> String {
        format!("{FROM}{}, {}", self.from, if self.is_same_host { ANOTHER_PORT } else { "another host" })
    }
}

/// Opens a socket for datagrams to this address, at a port of its own. Says who is heard at it.
pub fn open_socket(to: SocketAddr, replies: RepliesFrom) -> io::Result<(OwnedFd, Peer)> {
    let socket = bind_fresh_port(to)?;
    match replies {
        RepliesFrom::SamePort => {
            socket.connect(to)?;
            let peer = socket.peer_addr()?;
            let elsewhere = connect_beside(&socket, to)?;
            Ok((socket.into(), Peer::Address { peer, elsewhere }))
        }
        RepliesFrom::AnyPort | RepliesFrom::FreshPort => {
            // The kernel replaces an address that means "this machine", and knows whether there is a way.
            let probe = UdpSocket::bind(any_address(to))?;
            probe.connect(to)?;
            let (address, follows) = (probe.peer_addr()?, replies == RepliesFrom::AnyPort);
            Ok((socket.into(), Peer::Host { address, to: address, follows, strays: Vec::new() }))
        }
    }
}

impl Peer {
    /// Reads a datagram that is a message, and appends it to the buffer. The socket does not block.
    pub fn read(&mut self, socket: impl AsFd, buffer: &mut Vec<u8>) -> Result<usize, Errno> {
        let Peer::Host { to, follows, strays, .. } = self else {
            return rustix::io::read(socket, spare_capacity(buffer));
        };
        let length = buffer.len();
        for _ in 0..MOST_STRAYS {
            let (count, from) = receive_datagram(&socket, buffer)?;
            if from.ip() == to.ip() {
                if *follows {
                    *to = from;
                }
                return Ok(count);
            }
            strays.push(Stray::new(from, *to, buffer.split_off(length)));
            buffer.reserve(LONGEST);
        }
        Err(Errno::AGAIN)
    }

    pub fn write(&self, socket: impl AsFd, bytes: &[u8]) -> Result<usize, Errno> {
        match self {
            Peer::Address { .. } => rustix::io::write(socket, bytes),
            Peer::Host { to, .. } => rustix::net::sendto(socket, bytes, SendFlags::empty(), to),
        }
    }

    /// Returns the second socket, which becomes readable when something comes from elsewhere.
    pub fn elsewhere(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Peer::Address { elsewhere, .. } => Some(elsewhere.as_fd()),
            Peer::Host { .. } => None,
        }
    }

    /// Takes the datagrams that have come from elsewhere.
    pub fn strays(&mut self) -> Vec<Stray> {
        match self {
            Peer::Host { strays, .. } => std::mem::take(strays),
            Peer::Address { peer, elsewhere } => {
                let next = || {
                    let mut bytes = Vec::with_capacity(LONGEST);
                    let (_, from) = receive_datagram(&elsewhere, &mut bytes).ok()?;
                    bytes.shrink_to_fit();
                    Some(Stray::new(from, *peer, bytes))
                };
                std::iter::from_fn(next).take(MOST_STRAYS).collect()
            }
        }
    }
}

/// Appends a datagram to the buffer, and returns its length and from where it came.
fn receive_datagram(socket: impl AsFd, buffer: &mut Vec<u8>) -> Result<(usize, SocketAddr), Errno> {
    let (count, _, from) = rustix::net::recvfrom(socket, spare_capacity(buffer), RecvFlags::empty())?;
    let from = from.and_then(|from| SocketAddr::try_from(from).ok());
    Ok((count, from.unwrap_or((Ipv4Addr::UNSPECIFIED, 0).into())))
}

/// Binds a second socket to the port of this one, which is connected.
fn connect_beside(socket: &UdpSocket, to: SocketAddr) -> io::Result<OwnedFd> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let second = rustix::net::socket_with(family, SocketType::DGRAM, flags, None)?;
    let share_port = |is_shared: bool| -> io::Result<()> {
        sockopt::set_socket_reuseaddr(socket, is_shared)?;
        Ok(sockopt::set_socket_reuseaddr(&second, is_shared)?)
    };
    share_port(true)?;
    let mut own_address = any_address(to);
    own_address.set_port(socket.local_addr()?.port());
    rustix::net::bind(&second, &own_address)?;
    share_port(false)?;
    Ok(second)
}

/// Binds a socket to a port that no run has had lately.
fn bind_fresh_port(to: SocketAddr) -> io::Result<UdpSocket> {
    let mut used = lock(&USED);
    let now = Instant::now();
    used.retain(|_, since| now.saturating_duration_since(*since) < FRESH);
    // The kernel may give a free port again at once. So ports that cannot be used are held for a while.
    let mut held = Vec::new();
    for _ in 0..ATTEMPTS {
        let socket = UdpSocket::bind(any_address(to))?;
        let port = socket.local_addr()?.port();
        if used.insert(port, now).is_none() {
            return Ok(socket);
        }
        held.push(socket);
        if held.len() > 64 {
            held.clear();
        }
    }
    Err(io::Error::other("runs of the last minute used all local ports: wait a minute"))
}

/// Finds a port of this machine at which nobody listens for datagrams.
pub fn free_port() -> io::Result<u16> {
    Ok(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Returns the address for any port of this machine, of the same family.
fn any_address(to: SocketAddr) -> SocketAddr {
    match to {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

/// Says whether a program on this machine listens for datagrams at this port.
pub fn is_bound(port: u16) -> bool {
    let wanted = format!(":{port:04X}");
    let is_at_port = |line: &String| column(line, LOCAL_ADDRESS).is_some_and(|at| at.ends_with(&wanted));
    list_sockets().iter().any(is_at_port)
}

/// Counts the datagrams for this socket that the kernel has dropped. 0 if that cannot be known.
pub fn count_dropped(socket: impl AsFd) -> u64 {
    let Ok(data) = rustix::fs::fstat(socket) else { return 0 };
    let inode = data.st_ino.to_string();
    // The kernel writes the list piece by piece, and may leave a socket out while others come and go.
    for _ in 0..MOST_LOOKS {
        let lines = list_sockets();
        if let Some(line) = lines.iter().find(|line| column(line, INODE) == Some(&inode)) {
            return line.split_whitespace().next_back().and_then(|count| count.parse().ok()).unwrap_or(0);
        }
    }
    0
}

/// Columns of the kernel's list of sockets. The last one counts dropped datagrams.
const LOCAL_ADDRESS: usize = 1;
const INODE: usize = 9;

fn list_sockets() -> Vec<String> {
    let mut lines = Vec::new();
    for list in ["/proc/self/net/udp", "/proc/self/net/udp6"] {
        lines.extend(std::fs::read_to_string(list).unwrap_or_default().lines().map(str::to_owned));
    }
    lines
}

fn column(line: &str, number: usize) -> Option<&str> {
    line.split_whitespace().nth(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_is_used_twice() {
        let system = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut ports = BTreeMap::new();
        for run in 0..2000 {
            // Closed at once: the kernel would give it again.
            let (socket, _) = open_socket(system.local_addr().unwrap(), RepliesFrom::SamePort).unwrap();
            assert_eq!(ports.insert(UdpSocket::from(socket).local_addr().unwrap().port(), run), None);
        }
    }

    #[test]
    fn who_listens_is_known() {
        let systems: Vec<UdpSocket> = (0..16).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
        let ports: Vec<u16> = systems.iter().map(|system| system.local_addr().unwrap().port()).collect();
        // The kernel may leave a socket out while others come and go, so look again.
        assert!(ports.iter().all(|port| (0..MOST_LOOKS).any(|_| is_bound(*port))));
        assert!(systems.iter().all(|system| count_dropped(system) == 0));
        drop(systems);
        // Another program may get some of them at once, and a process that is just being started holds all of
        // them for a moment.
        let mut looks = 0..1000;
        while ports.iter().all(|port| is_bound(*port)) {
            assert!(looks.next().is_some(), "all are bound still");
            std::thread::sleep(Duration::from_millis(10));
        }
        // No program can have this port.
        assert!(!is_bound(0));
    }

    #[test]
    fn what_the_kernel_drops_is_counted() {
        let system = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (ours, _peer) = open_socket(system.local_addr().unwrap(), RepliesFrom::SamePort).unwrap();
        let ours = UdpSocket::from(ours);
        system.connect(("127.0.0.1", ours.local_addr().unwrap().port())).unwrap();
        for _ in 0..20_000 {
            system.send(&[0; 1000]).unwrap();
        }
        assert!(count_dropped(&ours) > 0);
    }
}
