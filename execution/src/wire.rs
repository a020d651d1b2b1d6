//! Evidence as a record has it: the key `wire`.
//!
//! Printable UTF-8 is `text`, so that people and `grep` can read it, all else is `base64`. If a message was
//! cut, that is its beginning; `cut` bytes are missing then, and `rest` (or `rest_base64`) is its end.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use coreach_adapters::evidence::{EvidenceItem, EvidenceKind, Phase};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::times::{milliseconds, seconds};

#[derive(Serialize, Deserialize)]
struct Keys {
    direction: EvidenceKind,
    /// The name of the connection, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    over: Option<String>,
    /// The phase; absent in the run itself.
    #[serde(default, skip_serializing_if = "is_run")]
    phase: Phase,
    /// Milliseconds since the run began.
    at_ms: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The bytes in place of `text`, if they are no printable text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// So many bytes are missing after that.
    #[serde(default, skip_serializing_if = "is_zero")]
    cut: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rest: Option<String>,
    /// The bytes in place of `rest`, if they are no printable text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rest_base64: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

pub(crate) fn serialize<S: Serializer>(items: &[EvidenceItem], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(items.iter().map(write_item))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<EvidenceItem>, D::Error> {
    let items = Vec::<Keys>::deserialize(deserializer)?;
    items.into_iter().map(read_item).collect::<Result<_, _>>().map_err(serde::de::Error::custom)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "asked by serde")]
pub(crate) fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "asked by serde")]
fn is_run(phase: &Phase) -> bool {
    *phase == Phase::Run
}

/// Writes an item: as text if both its beginning and its end are printable.
fn write_item(item: &EvidenceItem) -> Keys {
    let EvidenceItem { kind, over, at, phase, bytes, cut, rest, note } = item;
    let (mut begin, mut end, mut cut) = (bytes.as_slice(), rest.as_slice(), *cut);
    if cut > 0 {
        // A sign of several bytes that was cut in two is left out.
        let whole = len_of_whole_signs(begin);
        let skipped = end.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
        if as_printable(&begin[..whole]).is_some() && as_printable(&end[skipped..]).is_some() {
            cut += begin.len() - whole + skipped;
            (begin, end) = (&begin[..whole], &end[skipped..]);
        }
    }
    let texts = as_printable(begin).zip(as_printable(end));
    let base64 = |bytes: &[u8]| (texts.is_none() && !bytes.is_empty()).then(|| BASE64_STANDARD.encode(bytes));
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Keys {
        direction: *kind,
        over: over.clone(),
        phase: *phase,
        at_ms: milliseconds(*at),
        text: texts.and_then(|(begin, _)| text(begin)),
        base64: base64(begin),
        cut,
        rest: texts.and_then(|(_, end)| text(end)),
        rest_base64: base64(end),
        note: note.clone(),
    }
}

/// Reads an item, whose parts are text or base64, but not both.
fn read_item(item: Keys) -> Result<EvidenceItem, String> {
    let wrong = |what: &str| format!("`wire`: {what}");
    let bytes = |text: Option<String>, base64: Option<String>| match (text, base64) {
        (Some(_), Some(_)) => Err(wrong("an item has both text and base64")),
        (Some(text), None) => Ok(text.into_bytes()),
        (None, Some(base64)) => BASE64_STANDARD.decode(base64).map_err(|_| wrong("what is no base64")),
        (None, None) => Ok(Vec::new()),
    };
    Ok(EvidenceItem {
        kind: item.direction,
        over: item.over,
        at: seconds(item.at_ms / 1e3).ok_or_else(|| wrong("`at_ms` is no time"))?,
        phase: item.phase,
        bytes: bytes(item.text, item.base64)?,
        cut: item.cut,
        rest: bytes(item.rest, item.rest_base64)?,
        note: item.note,
    })
}

fn as_printable(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_plain = |sign: char| !sign.is_control() || matches!(sign, '\t' | '\r' | '\n');
    text.chars().all(is_plain).then_some(text)
}

/// Counts the bytes without an incomplete sign at the end.
fn len_of_whole_signs(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use std::time::Duration;

    use super::*;

    fn item(bytes: &[u8], cut: usize, rest: &[u8]) -> EvidenceItem {
        EvidenceItem {
            kind: EvidenceKind::Received,
            over: None,
            at: Duration::from_micros(1500),
            phase: Phase::Settle,
            bytes: bytes.to_vec(),
            cut,
            rest: rest.to_vec(),
            note: None,
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for (bytes, cut, rest) in [
            (b"+OK\r\n".as_slice(), 0, b"".as_slice()),
            (b"", 0, b""),
            (b"\x00\x01", 0, b""),
            (b"a\x1b[2J", 7, b"b"),
            (b"text", 7, b"\xff"),
            ("größe".as_bytes(), 3, "größe".as_bytes()),
        ] {
            let item = item(bytes, cut, rest);
            let written = serde_json::to_string(&write_item(&item)).unwrap();
            assert!(!written.contains('\x1b'), "{written}");
            assert_eq!(read_item(serde_json::from_str(&written).unwrap()), Ok(item), "{written}");
        }
    }

    #[test]
    fn a_cut_goes_around_a_sign_and_stays_text() {
        let text = "ööö".as_bytes();
        let written = write_item(&item(&text[..3], 10, &text[3..]));
        assert_eq!(
            (written.text.as_deref(), written.cut, written.rest.as_deref()),
            (Some("ö"), 12, Some("ö"))
        );
    }

    #[test]
    fn what_is_no_item_is_refused() {
        let good = serde_json::to_value(write_item(&item(b"a", 0, b""))).unwrap();
        for (key, value) in [
            ("direction", serde_json::json!("sideways")),
            ("phase", serde_json::json!("run away")),
            ("at_ms", serde_json::json!(-1)),
            ("base64", serde_json::json!("YQ==")),
            ("rest_base64", serde_json::json!("?")),
        ] {
            let mut bad = good.clone();
            bad[key] = value;
            let read = serde_json::from_value(bad).map_err(|why| why.to_string()).and_then(read_item);
            assert!(read.is_err(), "{key}");
        }
    }
}
