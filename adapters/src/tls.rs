//! TLS over a connection that does not block: the bytes of a dialogue on one side, records on the other.
//!
//! **Trust.** Only the authorities that the description names are trusted, and not those of the system. A
//! certificate must be signed by one of them, have the right name, and not have expired. There is no way to
//! change that. A client certificate is shown if one is given.
//!
//! **Method.** `rustls` does no input or output by itself. The caller hands over its descriptor for one step,
//! which ends when it would wait. The caller waits, with its own limits ([`crate::stream`],
//! [`crate::socket`]). Bytes count as sent when their records have left us. No session is resumed: each
//! connection begins as the first one did.
//!
//! **Where we are lenient**: the end of the connection without the alert `close_notify` is an end, since many
//! servers leave the alert out. A message that was whole before is whole. An answer over HTTP that only the
//! end of the connection ends is not.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use crate::times::MOST_IGNORED;
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{AlertDescription, CertificateError, ClientConfig, ClientConnection, RootCertStore};

use rustix::event::PollFlags;

#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    /// The name that the certificate must have, if it is not the host's.
    name: Option<ServerName<'static>>,
    /// The line that names the files, for messages: ` (iut.yaml:5)`.
    place: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum File {
    Authorities,
    Certificate,
    Key,
}

/// Says whether a certificate can have this name: that of a host, or an address.
pub fn is_name(text: &str) -> bool {
    ServerName::try_from(text.to_owned()).is_ok()
}

impl Tls {
    /// Makes TLS of texts in PEM: the certificates of the authorities that are trusted, and our certificate
    /// with its chain and its key. `name` is the server's, if it is not the host's.
    pub fn of(
        authorities: &[u8],
        client: Option<(&[u8], &[u8])>,
        name: Option<&str>,
    ) -> Result<Self, (File, String)> {
        let certificates = |pem: &[u8], file: File| -> Result<Vec<CertificateDer<'static>>, (File, String)> {
            let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
            match found {
                Ok(found) if !found.is_empty() => Ok(found),
                Ok(_) => Err((file, "it has no certificate in PEM".to_owned())),
                Err(error) => Err((file, error.to_string())),
            }
        };
        let mut roots = RootCertStore::empty();
        for certificate in certificates(authorities, File::Authorities)? {
            roots.add(certificate).map_err(|error| (File::Authorities, error.to_string()))?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| (File::Authorities, error.to_string()))?
            .with_root_certificates(roots);
        let mut config = match client {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = certificates(certificate, File::Certificate)?;
                let key = PrivateKeyDer::from_pem_slice(key)
                    .map_err(|error| (File::Key, format!("it has no private key in PEM: {error}")))?;
                builder.with_client_auth_cert(chain, key).map_err(|error| (File::Key, error.to_string()))?
            }
        };
        config.resumption = Resumption::disabled();
        let name = name.and_then(|name| ServerName::try_from(name.to_owned()).ok());
        Ok(Tls { config: Arc::new(config), name, place: String::new() })
    }

    /// Sets the line that names the files: `iut.yaml:5`.
    pub fn with_place(self, place: &str) -> Self {
        Tls { place: format!(" ({place})"), ..self }
    }

    /// Makes a session with this host, which has not begun.
    ///
    /// # Errors
    /// The host has a name that no certificate can have.
    pub fn session(&self, host: &str) -> Result<TlsSession, Broken> {
        let of_host = || ServerName::try_from(without_brackets(host).to_owned());
        let name = self.name.clone().map_or_else(of_host, Ok);
        let name = name.map_err(|_| Broken::of(&format!("no certificate can be for `{host}`")))?;
        let connection = ClientConnection::new(Arc::clone(&self.config), name.clone());
        let connection = connection.map_err(|error| Broken::of(&error.to_string()))?;
        Ok(TlsSession { connection, accepted: 0, name, place: self.place.clone() })
    }
}

/// A host without the brackets around an address.
fn without_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Why this is no TLS, or not with the right server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    pub text: String,
    /// The other side has ended it, and said why.
    pub is_alert: bool,
}

impl Broken {
    fn of(text: &str) -> Self {
        Broken { text: format!("TLS: {text}"), is_alert: false }
    }

    /// Returns the failure of TLS that an error of input or output stands for, if it does.
    pub fn within(error: &io::Error) -> Option<&Broken> {
        error.get_ref()?.downcast_ref()
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Broken {}

#[derive(Debug)]
pub struct TlsSession {
    connection: ClientConnection,
    /// Bytes that were taken, and whose records have not left us.
    accepted: usize,
    /// The name that the certificate must have.
    name: ServerName<'static>,
    /// The line of the description, for messages.
    place: String,
}

impl TlsSession {
    /// Does the handshake, which shows who the two sides are. `wait` waits until the connection is ready.
    ///
    /// # Errors
    /// Errors of the connection and of `wait`. [`Broken`] within one: the other side is not the right one.
    pub fn begin<S: Read + Write, E: From<io::Error>>(
        &mut self,
        mut socket: S,
        mut wait: impl FnMut(PollFlags) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            match self.flush(&mut socket) {
                Ok(()) if !self.connection.is_handshaking() => return Ok(()),
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(PollFlags::OUT)?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            match self.read_records(&mut socket) {
                Ok(0) => {
                    let text = "the other side has closed the connection before TLS began\nhelp: if it does not speak TLS \
                                on this port, leave out `tls`";
                    return Err(io::Error::other(Broken::of(text)).into());
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => wait(PollFlags::IN)?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads some bytes. 0 if the other side has ended the session by an alert.
    ///
    /// # Errors
    /// Errors of the connection. [`ErrorKind::UnexpectedEof`] if it was ended without that alert.
    pub fn read(&mut self, mut socket: impl Read + Write, bytes: &mut [u8]) -> io::Result<usize> {
        for _ in 0..MOST_IGNORED {
            match self.left(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
            self.read_records(&mut socket)?;
            // Something may have to be answered. If the answer cannot leave now, it leaves later.
            match self.flush(&mut socket) {
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                _ => {}
            }
        }
        Err(ErrorKind::WouldBlock.into())
    }

    /// Reads bytes that have come from the connection already.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`]: there is nothing left.
    pub fn left(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.connection.reader().read(bytes)
    }

    /// Writes some bytes, which count when they have left us. If it would wait, give the same bytes again.
    pub fn write(&mut self, mut socket: impl Read + Write, bytes: &[u8]) -> io::Result<usize> {
        self.flush(&mut socket)?;
        if self.accepted == 0 {
            // A record has at most so many bytes.
            self.accepted = self.connection.writer().write(&bytes[..bytes.len().min(16 << 10)])?;
            self.flush(&mut socket)?;
        }
        Ok(std::mem::take(&mut self.accepted))
    }

    /// Says that nothing more will be sent.
    pub fn end(&mut self, mut socket: impl Read + Write) {
        self.connection.send_close_notify();
        // If the other side does not read it, nothing is lost.
        let _ = self.flush(&mut socket);
    }

    /// Writes the records that wait to be sent.
    fn flush(&mut self, socket: &mut impl Write) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads records from the connection once.
    fn read_records(&mut self, socket: &mut (impl Read + Write)) -> io::Result<usize> {
        let count = loop {
            match self.connection.read_tls(socket) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if let Err(error) = self.connection.process_new_packets() {
            // Tell the other side why.
            let _ = self.flush(socket);
            let is_alert = matches!(error, rustls::Error::AlertReceived(_));
            let text = match &error {
                rustls::Error::InvalidCertificate(why) => explain_certificate(why, &self.name, &self.place),
                rustls::Error::InvalidMessage(_) => {
                    format!(
                        "{error}\nhelp: the system does not seem to speak TLS on this port: leave out `tls`. In an address \
                         of HTTP, also write `http://` for `https://`"
                    )
                }
                rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => {
                    let place = &self.place;
                    format!(
                        "the server asks coreach for a certificate{place}\nhelp: write `certificate` and `key` in `tls`"
                    )
                }
                _ => error.to_string(),
            };
            return Err(io::Error::other(Broken { is_alert, ..Broken::of(&text) }));
        }
        Ok(count)
    }
}

/// Says what is wrong with a certificate, and what helps.
fn explain_certificate(error: &CertificateError, name: &ServerName<'_>, place: &str) -> String {
    let (host, form) = (name.to_str(), if matches!(name, ServerName::IpAddress(_)) { "IP" } else { "DNS" });
    let anew = format!(
        "make it anew: `openssl req -x509` takes `-addext basicConstraints=critical,CA:FALSE -addext \
         subjectAltName={form}:{host}`"
    );
    let (unlike, unwanted) = (format!("is not for `{host}`"), format!("is not valid: {error}"));
    let server_name_help;
    let (what, help) = match error {
        // An issuer of the same name with another key has a bad signature.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => (
            "is not signed by a certificate in the file of `ca`",
            "name the file of the authority that signed it. If it is signed by itself, name its own file",
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            ("has expired", "make it anew, or correct the clock of this machine")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            ("is not valid yet", "make it anew, or correct the clock of this machine")
        }
        CertificateError::NotValidForNameContext { presented, .. } => {
            // `DnsName("localhost")` or `IpAddress(127.0.0.1)`
            let names = presented.iter().filter_map(|text| text.split(['(', ')']).nth(1));
            let other = names.map(|name| name.trim_matches('"')).find(|name| is_name(name));
            server_name_help = other
                .map(|name| format!("if `{name}` is the right server, write `server_name: {name}` in `tls`"));
            (unlike.as_str(), server_name_help.as_deref().unwrap_or(&anew))
        }
        // The library behind the library has no type for this that we could name.
        CertificateError::Other(other) if format!("{:?}", other.0) == "CaUsedAsEndEntity" => {
            ("is that of an authority (`CA:TRUE`), which can only sign others", anew.as_str())
        }
        _ => (unwanted.as_str(), "look at it with `openssl x509 -text`"),
    };
    format!("the server's certificate {what}{place}\nhelp: {help}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_for_another_name_is_told_with_that_name() {
        let name = ServerName::IpAddress(std::net::IpAddr::from([127, 0, 0, 1]).into());
        for (presented, help) in [
            ("DnsName(\"localhost\")", "write `server_name: localhost`"),
            ("IpAddress(10.0.0.1)", "write `server_name: 10.0.0.1`"),
            ("", "subjectAltName=IP:127.0.0.1`"),
        ] {
            let (expected, presented) = (name.to_owned(), vec![presented.to_owned()]);
            let error = CertificateError::NotValidForNameContext { expected, presented };
            assert!(explain_certificate(&error, &name, "").contains(help), "{help}");
        }
    }
}
