//! TLS over real sockets: who is trusted is spoken to, and nobody else.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use coreach_adapters::channel::Channel;
use coreach_adapters::cut::Cut;
use coreach_adapters::stream::{Drained, Stream, StreamFrame};
use coreach_adapters::tls::Tls;
use coreach_adapters::{Adapter, Failure, Left, Received, Session};
use coreach_execution::open;
use coreach_model::codec::from_text;
use coreach_model::iosts::Iosts;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::Event;
use coreach_project::iut;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

const MODEL: &str = "
iosts: m
locations: [A]
initial: { location: A }
inputs: { Ask: { n: int } }
outputs: { Answer: { n: int } }
transitions: [{ from: A, to: A, on: Ask }]
";

fn model() -> Iosts {
    read_specification(from_bytes("m".to_owned(), MODEL.into()).unwrap()).unwrap().0.iosts
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        let path = std::env::temp_dir().join(format!("coreach-tls-{}-{number}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One who signs.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    der: Vec<u8>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let (der, pem) = (certificate.der().to_vec(), certificate.pem());
        Authority { issuer: Issuer::new(params, key), der, pem }
    }

    /// A certificate for a name, and its key.
    fn signed(&self, name: &str, is_old: bool) -> (rcgen::Certificate, KeyPair) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        if is_old {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2002, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }
}

/// What a server does with a connection.
type Talk = fn(StreamOwned<ServerConnection, TcpStream>);

/// A server with this certificate that talks so; it wants a certificate of those whom `clients` signs.
fn serve(
    (certificate, key): (rcgen::Certificate, KeyPair),
    clients: Option<&Authority>,
    talk: Talk,
) -> SocketAddr {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.der.clone().into()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let config = Arc::new(builder.with_single_cert(vec![certificate.der().clone()], key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            talk(StreamOwned::new(connection, stream.unwrap()));
        }
    });
    address
}

/// Answers each line with itself, and says its farewell.
fn echo(stream: StreamOwned<ServerConnection, TcpStream>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|count| count > 0) {
        if reader.get_mut().write_all(line.as_bytes()).is_err() {
            return;
        }
        line.clear();
    }
    let stream = reader.get_mut();
    stream.conn.send_close_notify();
    let _ = stream.flush();
}

/// The same, and ends without a word.
fn echo_rudely(stream: StreamOwned<ServerConnection, TcpStream>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|count| count > 0) {
        let _ = reader.get_mut().write_all(line.as_bytes());
        line.clear();
    }
}

/// Answers one request with the number in its path.
fn http(mut stream: StreamOwned<ServerConnection, TcpStream>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read_exact(&mut byte).is_err() {
            return;
        }
        head.extend(byte);
    }
    let head = String::from_utf8(head).unwrap();
    let number = head.split(['/', ' ']).nth(2).unwrap().to_owned();
    let body = format!("{{\"n\":{number},\"more\":\"{}\"}}", "x".repeat(200_000));
    let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let _ = stream.flush();
}

/// The adapter of the lines `{n}`, or of requests `/{n}`, with these keys of `tls`.
fn adapter(folder: &Folder, way: &str, address: SocketAddr, tls: &str) -> Box<dyn Adapter> {
    let text = match way {
        "tcp" => format!(
            "iut: m\ntcp: {{ address: '{address}', tls: {{ {tls} }}, encoding: lines, settle: {{ within_ms: 3000 }}, \
             stimuli: {{ Ask: '{{n}}' }}, observations: {{ Answer: '^(?P<n>-?\\d+)$' }} }}"
        ),
        _ => format!(
            "iut: m\nhttp: {{ base: 'https://{address}', tls: {{ {tls} }}, settle: {{ within_ms: 3000 }}, \
             stimuli: {{ Ask: {{ method: GET, path: '/{{n}}' }} }}, observations: {{ Answer: {{ status: 200, values: {{ n: /n }} }} }} }}"
        ),
    };
    let read = iut::read(from_bytes("iut".to_owned(), text.into()).unwrap(), &folder.0, Some(&model()));
    let (iut, found) = read.unwrap_or_else(|found| panic!("{found:#?}"));
    assert!(found.is_empty(), "{found:#?}");
    open(&iut)
}

/// What comes of one stimulus with this number, and how the run was left.
fn asked(adapter: &mut dyn Adapter, number: &str) -> (Result<Received, Failure>, Option<Left>) {
    let deadline = Instant::now() + Duration::from_secs(5);
    let iosts = model();
    let ask = iosts.action(iosts.find_action("Ask").unwrap());
    let value = from_text(number, ask.parameters[0].ty()).unwrap();
    let mut received = adapter.start(&Session { iosts: &iosts, constants: &[], seed: 1, deadline });
    if received.is_ok() {
        received = adapter.send(&Event::new("Ask", vec![value]));
    }
    let received = received.and_then(|()| adapter.receive(deadline));
    let left = adapter.tear_down().map(|teardown| teardown.left);
    adapter.stop();
    (received, left)
}

fn answer(number: &str) -> Result<Received, Failure> {
    let iosts = model();
    let answer = iosts.action(iosts.find_action("Answer").unwrap());
    let value = from_text(number, answer.parameters[0].ty()).unwrap();
    Ok(Received::Output(Event::new("Answer", vec![value])))
}

#[test]
fn one_who_is_trusted_is_spoken_to() {
    let (folder, authority) = (Folder::new(), Authority::new());
    fs::write(folder.0.join("ca.pem"), &authority.pem).unwrap();
    for (way, talk) in [("tcp", echo as Talk), ("tcp", echo_rudely), ("http", http)] {
        let address = serve(authority.signed("127.0.0.1", false), None, talk);
        let mut adapter = adapter(&folder, way, address, "ca: ca.pem");
        for number in ["0", "-17", &"123456789".repeat(400)] {
            let (received, left) = asked(&mut *adapter, number);
            assert_eq!(received, answer(number), "{way}");
            assert_eq!(left, (way == "tcp").then_some(Left::Clean), "{way}");
        }
    }
}

/// It stands in `ca` itself, so somebody has said that it is trusted; as an authority, it is no server's.
#[test]
fn one_that_signed_itself_is_trusted_where_it_is_named() {
    let folder = Folder::new();
    for (is_ca, expected) in
        [(IsCa::NoCa, None), (IsCa::Ca(BasicConstraints::Unconstrained), Some("can only sign others"))]
    {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.is_ca = is_ca;
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        fs::write(folder.0.join("ca.pem"), certificate.pem()).unwrap();
        let mut adapter = adapter(&folder, "tcp", serve((certificate, key), None, echo), "ca: ca.pem");
        let received = asked(&mut *adapter, "5").0;
        match expected {
            None => assert_eq!(received, answer("5")),
            Some(why) => refused(received, why),
        }
    }
}

#[test]
fn the_name_may_be_another_one_than_the_hosts() {
    let (folder, authority) = (Folder::new(), Authority::new());
    fs::write(folder.0.join("ca.pem"), &authority.pem).unwrap();
    for (way, talk) in [("tcp", echo as Talk), ("http", http)] {
        let address = serve(authority.signed("machine.test", false), None, talk);
        let mut named = adapter(&folder, way, address, "ca: ca.pem, server_name: machine.test");
        assert_eq!(asked(&mut *named, "5").0, answer("5"), "{way}");
        for tls in ["ca: ca.pem", "ca: ca.pem, server_name: machin.test"] {
            let mut other = adapter(&folder, way, address, tls);
            refused(asked(&mut *other, "5").0, "the server's certificate is not for `");
        }
    }
}

/// It is a run error that says why.
fn refused(received: Result<Received, Failure>, why: &str) {
    match &received {
        Err(Failure::Start(text) | Failure::Lost(text) | Failure::Garbage(text)) if text.contains(why) => {}
        other => panic!("{why}: {other:?}"),
    }
}

#[test]
fn one_whom_nobody_trusted_has_signed_is_refused() {
    let (folder, authority, other) = (Folder::new(), Authority::new(), Authority::new());
    fs::write(folder.0.join("ca.pem"), &authority.pem).unwrap();
    let alone = || {
        let key = KeyPair::generate().unwrap();
        (CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap(), key)
    };
    for (way, talk) in [("tcp", echo as Talk), ("http", http)] {
        for (certificate, why) in [
            (other.signed("127.0.0.1", false), "is not signed by a certificate in the file of `ca`"),
            (alone(), "is not signed by a certificate in the file of `ca`"),
            (authority.signed("127.0.0.1", true), "has expired"),
        ] {
            let mut adapter = adapter(&folder, way, serve(certificate, None, talk), "ca: ca.pem");
            // Not the second time either.
            for _ in 0..2 {
                refused(asked(&mut *adapter, "5").0, why);
            }
        }
    }
}

#[test]
fn a_client_shows_its_certificate_where_one_is_given() {
    let (folder, authority, other) = (Folder::new(), Authority::new(), Authority::new());
    fs::write(folder.0.join("ca.pem"), &authority.pem).unwrap();
    for (name, by) in [("mine", &authority), ("theirs", &other)] {
        let (certificate, key) = by.signed("client.test", false);
        fs::write(folder.0.join(format!("{name}.pem")), certificate.pem()).unwrap();
        fs::write(folder.0.join(format!("{name}.key")), key.serialize_pem()).unwrap();
    }
    for (way, talk) in [("tcp", echo as Talk), ("http", http)] {
        let address = serve(authority.signed("127.0.0.1", false), Some(&authority), talk);
        let mut mine = adapter(&folder, way, address, "ca: ca.pem, certificate: mine.pem, key: mine.key");
        assert_eq!(asked(&mut *mine, "5").0, answer("5"), "{way}");
        for tls in ["ca: ca.pem", "ca: ca.pem, certificate: theirs.pem, key: theirs.key"] {
            let (received, _) = asked(&mut *adapter(&folder, way, address, tls), "5");
            assert!(matches!(received, Err(Failure::Lost(_) | Failure::Start(_))), "{way}: {received:?}");
        }
    }
}

/// Reads all, slowly at first, and says how much it was.
fn counts(mut stream: StreamOwned<ServerConnection, TcpStream>) {
    thread::sleep(Duration::from_millis(200));
    let (mut bytes, mut all) = (vec![0; 1 << 20], 0);
    loop {
        let count = stream.read(&mut bytes).unwrap_or(0);
        all += count;
        if count == 0 || bytes[..count].contains(&b'\n') {
            break;
        }
    }
    let _ = stream.write_all(format!("{all}\n{}", "y\n".repeat(50_000)).as_bytes());
    stream.conn.send_close_notify();
    let _ = stream.flush();
    // The connection itself stays open.
    thread::sleep(Duration::from_secs(30));
}

#[test]
fn much_goes_both_ways_and_the_end_is_a_word() {
    let (folder, authority) = (Folder::new(), Authority::new());
    fs::write(folder.0.join("ca.pem"), &authority.pem).unwrap();
    let tls = Tls::of(authority.pem.as_bytes(), None, None).unwrap();
    let connected = |address: SocketAddr| {
        let channel = Channel::of_one(TcpStream::connect(address).unwrap().into()).unwrap();
        let until = Instant::now() + Duration::from_secs(5);
        Stream::new(channel.secured(&tls, "127.0.0.1", until).unwrap(), Cut::Lines)
    };
    let until = Instant::now() + Duration::from_secs(20);
    let mut stream = connected(serve(authority.signed("127.0.0.1", false), None, counts));
    let message = [vec![b'x'; 20 << 20], b"\n".to_vec()].concat();
    stream.send(&message, until, None).unwrap();
    let first = format!("{}", message.len());
    assert_eq!(stream.frame(until, None).unwrap(), StreamFrame::Bytes(first.as_bytes()));
    for _ in 0..10_000 {
        assert_eq!(stream.frame(until, None).unwrap(), StreamFrame::Bytes(b"y"));
    }
    // Of the rest, all is read, and the end behind it.
    let begin = Instant::now();
    assert_eq!(stream.drain(until, None, None, |_| false), Drained::Ended);
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    // One who reads nothing is stuck at the instant.
    let mut stream = connected(serve(authority.signed("127.0.0.1", false), None, |mut stream| {
        let _ = stream.conn.complete_io(&mut stream.sock);
        thread::sleep(Duration::from_secs(30));
    }));
    let soon = Instant::now() + Duration::from_millis(300);
    assert!(matches!(stream.send(&message, soon, None), Err(Failure::Stuck(_))));
}

/// One that speaks no TLS, ends at once, says nothing, or damages a record.
#[test]
fn one_who_speaks_no_tls_is_a_run_error_in_time() {
    let (folder, authority) = (Folder::new(), Authority::new());
    fs::write(folder.0.join("ca.pem"), &authority.pem).unwrap();
    let plain = |answer: Option<&'static [u8]>| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(answer) = answer else { continue };
                let _ = stream.write_all(answer);
                open.push(stream);
            }
        });
        address
    };
    for way in ["tcp", "http"] {
        for (answer, why) in [
            (Some(&b"220 hello\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"[..]), "TLS: "),
            // It hangs up before or after our first word.
            (None, ""),
        ] {
            refused(asked(&mut *adapter(&folder, way, plain(answer), "ca: ca.pem"), "5").0, why);
        }
        let begin = Instant::now();
        let (received, _) = asked(&mut *adapter(&folder, way, plain(Some(b"")), "ca: ca.pem"), "5");
        match (way, received) {
            ("tcp", Err(Failure::Start(text))) => assert!(text.contains("did not answer in time"), "{text}"),
            ("http", Ok(Received::Silence)) => {}
            (_, other) => panic!("{way}: {other:?}"),
        }
        assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    }
    let spoils: Talk = |mut stream| {
        let mut byte = [0];
        let _ = stream.read(&mut byte);
        let _ = stream.sock.write_all(b"\x17\x03\x03\x00\x05hello");
        let _ = stream.sock.read(&mut byte);
    };
    for way in ["tcp", "http"] {
        let address = serve(authority.signed("127.0.0.1", false), None, spoils);
        let (received, _) = asked(&mut *adapter(&folder, way, address, "ca: ca.pem"), "5");
        assert!(
            matches!(&received, Err(Failure::Garbage(text)) if text.contains("TLS: ")),
            "{way}: {received:?}"
        );
    }
}
