//! Sockets for datagrams: one for each run, at a port that no run has had lately.
//!
//! **Problem.** A datagram may come late, when its run is over. Nothing in it says of which run it is.
//!
//! **Method.** The socket of a run is connected, so the kernel lets in what comes from the system's address alone; and it is bound to a
//! port that this program has not used for a minute (`FRESH`). What comes later goes to a port that nobody has, and the kernel drops
//! it. **Falls short** where a datagram is later than that, or another program has had the port before.
//!
//! Who listens cannot be found out by sending something: it would be taken for a stimulus. The kernel's own list of sockets tells
//! whether a port of this machine is bound (`/proc/net/udp`), and how many datagrams a socket has lost since its buffer was full.
//!
//! **Ends** after so many attempts as there are ports. **Costs** four calls of the kernel for each run.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So long a port is not used again.
const FRESH: Duration = Duration::from_secs(60);

/// How many ports are tried.
const ATTEMPTS: usize = 10_000;

/// How often one looks for a socket in the kernel's list.
const LOOKS: usize = 20;

/// The ports of this program's runs, and since when they are in use.
static USED: Mutex<BTreeMap<u16, Instant>> = Mutex::new(BTreeMap::new());

/// A socket that is connected to this address, at a port of its own.
///
/// # Errors
/// There is no port left, or no way to the address.
pub fn connected(to: SocketAddr) -> io::Result<UdpSocket> {
    let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    used.retain(|_, since| now.saturating_duration_since(*since) < FRESH);
    // The kernel gives a port that was let go again: what is drawn in vain is held until there is a better one.
    let mut held = Vec::new();
    for _ in 0..ATTEMPTS {
        let socket = UdpSocket::bind(any(to))?;
        let port = socket.local_addr()?.port();
        if used.insert(port, now).is_none() {
            drop(held);
            socket.connect(to)?;
            return Ok(socket);
        }
        held.push(socket);
        if held.len() > 64 {
            held.clear();
        }
    }
    Err(io::Error::other("all local ports were used by runs of the last minute"))
}

/// A port of this machine at which nobody listens for datagrams.
///
/// # Errors
/// There is none.
pub fn free_port() -> io::Result<u16> {
    Ok(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Any port of ours, of the same family.
fn any(to: SocketAddr) -> SocketAddr {
    match to {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

/// Does somebody on this machine listen for datagrams at this port?
pub fn is_bound(port: u16) -> bool {
    let wanted = format!(":{port:04X}");
    sockets().iter().any(|line| field(line, 1).is_some_and(|address| address.ends_with(&wanted)))
}

/// How many datagrams the kernel has dropped that were for this socket; 0 where that cannot be known.
pub fn dropped(socket: impl AsFd) -> u64 {
    let Ok(data) = rustix::fs::fstat(socket) else { return 0 };
    let inode = data.st_ino.to_string();
    // The kernel writes the list piece by piece, and may leave one out while others come and go.
    for _ in 0..LOOKS {
        let lines = sockets();
        if let Some(line) = lines.iter().find(|line| field(line, 9) == Some(&inode)) {
            return line.split_whitespace().next_back().and_then(|count| count.parse().ok()).unwrap_or(0);
        }
    }
    0
}

fn sockets() -> Vec<String> {
    let lists = ["/proc/self/net/udp", "/proc/self/net/udp6"].map(std::fs::read_to_string);
    lists.into_iter().flatten().flat_map(|list| list.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn field(line: &str, at: usize) -> Option<&str> {
    line.split_whitespace().nth(at)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

    #[test]
    fn no_port_is_used_twice() {
        let system = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut ports = BTreeMap::new();
        for run in 0..2000 {
            // Closed at once: the kernel would give it again.
            let socket = connected(system.local_addr().unwrap()).unwrap();
            assert_eq!(ports.insert(socket.local_addr().unwrap().port(), run), None);
        }
    }

    #[test]
    fn who_listens_is_known() {
        let system = UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = system.local_addr().unwrap().port();
        assert!(is_bound(port));
        assert_eq!(dropped(&system), 0);
        drop(system);
        assert!(!is_bound(port));
    }

    #[test]
    fn what_the_kernel_drops_is_counted() {
        let system = UdpSocket::bind("127.0.0.1:0").unwrap();
        let ours = connected(system.local_addr().unwrap()).unwrap();
        system.connect(("127.0.0.1", ours.local_addr().unwrap().port())).unwrap();
        for _ in 0..20_000 {
            system.send(&[0; 1000]).unwrap();
        }
        assert!(dropped(&ours) > 0);
    }
}
