//! A nasty link: what may lie between a tester and a system. It is a proxy that loses nothing and changes
//! nothing of what a connection carries, and keeps no promise beyond that: it delays, it stalls, it cuts what
//! was sent together, it joins what was sent apart, and what was sent first over one connection may come
//! after what was sent later over another.
//!
//! What it does to a connection follows from the seed and the number of the connection alone, so that a run
//! that failed behind it can be made again.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use coreach_model::random::Random;

/// What a link does.
#[derive(Clone, Copy, Default, Debug)]
pub struct Habits {
    /// Up to so many milliseconds before each piece goes on, drawn for each connection and each piece: so
    /// connections overtake each other.
    pub delay: usize,
    /// So long nothing goes on, in milliseconds, ...
    pub stall: u64,
    /// ... at so many of a hundred pieces.
    pub stalls: usize,
    /// A piece goes on byte by byte, in so many of a hundred cases.
    pub splits: usize,
    /// What comes within some milliseconds goes on together, in so many of a hundred cases.
    pub merges: usize,
}

/// A link. Dropped, it takes no new connections.
#[derive(Debug)]
pub struct Link {
    /// Where it is entered.
    pub address: SocketAddr,
    over: Arc<AtomicBool>,
}

impl Link {
    /// A link to this address.
    pub fn to(system: SocketAddr, seed: u64, habits: Habits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        thread::spawn(move || {
            for (number, ours) in listener.incoming().enumerate() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(ours) = ours else { continue };
                let Ok(theirs) = TcpStream::connect(system) else { continue };
                for stream in [&ours, &theirs] {
                    stream.set_nodelay(true).unwrap();
                }
                let seed = seed.wrapping_mul(0x1_0000).wrapping_add(2 * number as u64);
                let (back, forth) = (theirs.try_clone().unwrap(), ours.try_clone().unwrap());
                thread::spawn(move || carry(ours, theirs, Random::new(seed), habits));
                thread::spawn(move || carry(back, forth, Random::new(seed + 1), habits));
            }
        });
        Link { address, over }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // It may be waiting for one.
        let _ = TcpStream::connect(self.address);
    }
}

/// One direction of a connection, until it ends. Its end is carried as all else is.
fn carry(mut from: TcpStream, mut to: TcpStream, mut random: Random, habits: Habits) {
    let mut piece = vec![0; 4096];
    loop {
        let count = from.read(&mut piece).unwrap_or(0);
        let mut bytes = piece[..count].to_vec();
        if count > 0 && random.chance(habits.merges) {
            thread::sleep(Duration::from_millis(3));
            from.set_nonblocking(true).unwrap();
            let more = from.read(&mut piece).unwrap_or(0);
            from.set_nonblocking(false).unwrap();
            bytes.extend_from_slice(&piece[..more]);
        }
        if random.chance(habits.stalls) {
            thread::sleep(Duration::from_millis(habits.stall));
        }
        thread::sleep(Duration::from_millis(random.below(habits.delay + 1) as u64));
        if count == 0 {
            // The other direction may still have something to carry: a half-closed connection stays one.
            let _ = to.shutdown(Shutdown::Write);
            return;
        }
        let pieces = if random.chance(habits.splits) { 1 } else { bytes.len() };
        for one in bytes.chunks(pieces) {
            if to.write_all(one).is_err() {
                let _ = from.shutdown(Shutdown::Read);
                return;
            }
            if pieces == 1 {
                thread::yield_now();
            }
        }
    }
}
