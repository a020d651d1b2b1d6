//! Reads `tls`: the authorities to trust, and a certificate of our own. Its files are read with the IUT's
//! file, so that a wrong file is found before the first run.

use std::ops::Range;

use coreach_adapters::tls::{self, File, Tls};
use coreach_model::file;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, Yaml};

use super::words::IutReader;
use crate::configuration::read_reference;

const LIKE: &str = "tls: { ca: ca.pem }";

/// The most bytes of a file with certificates.
const LARGEST: u64 = 1 << 20;

struct NamedFile {
    bytes: Vec<u8>,
    place: Range<usize>,
}

/// Reads `tls`. The outer `None` is a mistake, the inner one no key. `host` is the address's.
pub fn read_tls(
    reader: &mut IutReader<'_>,
    root: &[Entry],
    host: Option<(&str, &Range<usize>)>,
) -> Option<Option<Tls>> {
    let Some(node) = shape::get(root, "tls") else { return Some(None) };
    shape::mapping(reader.collector, node, "`tls`", LIKE)?;
    let known = ["ca", "server_name", "certificate", "key"];
    let entries = shape::section(reader.collector, root, "tls", &known);
    if shape::get(entries, "ca").is_none() {
        let message = "`tls` does not say which certificates coreach trusts";
        let help = format!("for example `{LIKE}`, a file with the certificate that signs the server's");
        reader.collector.mistake("missing-key", message, &node.head(), "`ca` is missing here", help);
    }
    let name = match shape::get(entries, "server_name") {
        Some(node) => {
            let scalar = shape::scalar(reader.collector, node, "`server_name`", "server_name: localhost")?;
            if !tls::is_name(&scalar.text) {
                let message = "`server_name` must be the name of a host, or an IP address";
                reader.collector.error("wrong-value", message, &scalar.span, "not such a name");
            }
            Some(scalar.text.as_str())
        }
        None => {
            // An address has an IPv6 address in brackets, a certificate without.
            let bare = |host: &str| host.trim_start_matches('[').trim_end_matches(']').to_owned();
            if let Some((host, span)) = host.filter(|(host, _)| !tls::is_name(&bare(host))) {
                let message = format!("no certificate can be for `{host}`");
                let help = "write the name in the server's certificate as `server_name` in `tls`";
                reader.collector.mistake("wrong-value", message, span, "the host of the address", help);
            }
            None
        }
    };
    let authorities = read_file(reader, entries, "ca");
    let client = match (shape::get(entries, "certificate"), shape::get(entries, "key")) {
        (None, None) => None,
        (Some(_), Some(_)) => {
            Some((read_file(reader, entries, "certificate")?, read_file(reader, entries, "key")?))
        }
        (Some(alone), None) => return report_missing_half(reader, alone, "key"),
        (None, Some(alone)) => return report_missing_half(reader, alone, "certificate"),
    };
    let authorities = authorities?;
    let pair = client.as_ref().map(|(certificate, key)| (certificate.bytes.as_slice(), key.bytes.as_slice()));
    match Tls::of(&authorities.bytes, pair, name) {
        Ok(tls) => Some(Some(tls.with_place(&reader.line_of(&node.span)))),
        Err((wrong, why)) => {
            let place = match (wrong, client) {
                (File::Certificate, Some((certificate, _))) => certificate.place,
                (File::Key, Some((_, key))) => key.place,
                _ => authorities.place,
            };
            let message = format!("this cannot be used for TLS: {why}");
            let help = "certificates and keys are in PEM: `-----BEGIN CERTIFICATE-----`";
            reader.collector.mistake("bad-certificate", message, &place, "the file that is named here", help);
            None
        }
    }
}

fn report_missing_half<T>(reader: &mut IutReader<'_>, alone: &Yaml, missing: &str) -> Option<T> {
    let message = "`certificate` and `key` need each other";
    let help = "for example `certificate: client.pem`, `key: client.key`";
    reader.collector.mistake("missing-key", message, &alone.head(), format!("without `{missing}`"), help);
    None
}

/// Reads the file that a key names. Its place is that of the name.
fn read_file(reader: &mut IutReader<'_>, entries: &[Entry], key: &str) -> Option<NamedFile> {
    let node = shape::get(entries, key)?;
    let reference = read_reference(reader.collector, node, key, reader.folder)?;
    let place = node.as_scalar()?.span.clone();
    match file::read(&reference.path, LARGEST) {
        Ok(bytes) => Some(NamedFile { bytes, place }),
        Err(error) => {
            let message = format!("`{key}` cannot be read: {error}");
            reader.collector.error("unreadable-file", message, &place, "the file that is named here");
            None
        }
    }
}
