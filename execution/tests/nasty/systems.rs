//! Correct systems: the counter of `data/counter.yaml`, behind HTTP and behind lines. What they keep outlives
//! a connection, each connection is served for itself, and what came over it is done in its order: they are
//! servers like many.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How slow a system is: so many milliseconds at every so manieth thing that it is asked.
#[derive(Clone, Copy, Debug)]
pub struct Slow {
    /// How long.
    pub ms: u64,
    /// How often.
    pub every: usize,
}

#[derive(Default, Debug)]
struct Counter {
    count: i64,
    asked: usize,
}

fn serve(
    handle: impl Fn(TcpStream, &Mutex<Counter>) -> std::io::Result<()> + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let counter = Arc::new(Mutex::new(Counter::default()));
    let handle = Arc::new(handle);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (counter, handle) = (Arc::clone(&counter), Arc::clone(&handle));
            // Who breaks off is served no longer.
            thread::spawn(move || drop(handle(stream, &counter)));
        }
    });
    address
}

/// Is slow, and then does it.
fn slowly<R>(counter: &Mutex<Counter>, slow: Slow, work: impl FnOnce(&mut i64) -> R) -> R {
    let is_slow = {
        let mut counter = counter.lock().unwrap();
        counter.asked += 1;
        slow.every > 0 && counter.asked.is_multiple_of(slow.every)
    };
    if is_slow {
        thread::sleep(Duration::from_millis(slow.ms));
    }
    work(&mut counter.lock().unwrap().count)
}

/// The counter behind HTTP: `POST /reset`, `POST /add/3`, `GET /ask`.
pub fn http(slow: Slow) -> SocketAddr {
    serve(move |mut stream, counter| {
        stream.set_nodelay(true)?;
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read(&mut byte)? == 0 {
                return Ok(());
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let (status, body) = if path == "/reset" {
            // A reset is quick: that is what makes it overtake.
            slowly(counter, Slow { ms: 0, every: 0 }, |count| *count = 0);
            (204, String::new())
        } else if let Some(by) = path.strip_prefix("/add/") {
            slowly(counter, slow, |count| *count += by.parse::<i64>().unwrap());
            (201, String::new())
        } else {
            (200, format!("{{\"value\": {}}}", slowly(counter, slow, |count| *count)))
        };
        let answer = format!(
            "HTTP/1.1 {status} Fine\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(answer.as_bytes())
    })
}

/// What is answered to a line: `RESET`, `ADD 3`, `ASK`.
fn answer(line: &str, counter: &Mutex<Counter>, slow: Slow) -> String {
    if line == "RESET" {
        slowly(counter, Slow { ms: 0, every: 0 }, |count| *count = 0);
        "ok".to_owned()
    } else if let Some(by) = line.strip_prefix("ADD ") {
        slowly(counter, slow, |count| *count += by.parse::<i64>().unwrap());
        "done".to_owned()
    } else {
        format!("value {}", slowly(counter, slow, |count| *count))
    }
}

/// The counter in datagrams, each of which is served for itself: so a reset overtakes what is slow.
pub fn datagrams(slow: Slow) -> SocketAddr {
    let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
    let address = socket.local_addr().unwrap();
    let counter = Arc::new(Mutex::new(Counter::default()));
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok((count, peer)) = socket.recv_from(&mut buffer) {
            let line = String::from_utf8_lossy(&buffer[..count]).trim_end().to_owned();
            let (socket, counter) = (Arc::clone(&socket), Arc::clone(&counter));
            thread::spawn(move || drop(socket.send_to(answer(&line, &counter, slow).as_bytes(), peer)));
        }
    });
    address
}

/// The counter behind lines.
pub fn lines(slow: Slow) -> SocketAddr {
    serve(move |mut stream, counter| {
        stream.set_nodelay(true)?;
        for line in BufReader::new(stream.try_clone()?).lines() {
            let answer = answer(&line?, counter, slow);
            // Who does not listen any more has been answered all the same.
            let _ = stream.write_all(format!("{answer}\n").as_bytes());
        }
        Ok(())
    })
}

/// Takes a reset, and closes every other connection when it has read a request.
pub fn broken() -> SocketAddr {
    serve(|mut stream, _| {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece)?;
        let is_reset = String::from_utf8_lossy(&piece[..count]).contains("/reset");
        if is_reset {
            stream.write_all(b"HTTP/1.1 204 Fine\r\nConnection: close\r\n\r\n")?;
        }
        Ok(())
    })
}
