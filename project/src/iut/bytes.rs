//! Reads bytes and numbers of the wire in IUT files: literal bytes, sizes, and forms of integers.

use coreach_adapters::cut::LONGEST;
use coreach_adapters::encoding::unhex;
use coreach_adapters::integer::WireInteger;
use coreach_model::diagnostic::Diagnostic;
use coreach_model::number;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, Scalar, Yaml};

use super::words::IutReader;

/// The most bytes of one end or delimiter.
const LONGEST_END: usize = 8;

impl IutReader<'_> {
    pub fn read_size(&mut self, node: &Yaml, key: &str, low: u64) -> Option<usize> {
        let high = LONGEST as u64;
        let number = node.as_scalar().and_then(|scalar| number::count(&scalar.text));
        let number = number.filter(|number| (low..=high).contains(number));
        if number.is_none() {
            let message = format!("`{key}` must be a number of bytes from {low} to {high}");
            self.collector.error("wrong-value", message, &node.head(), "not such a number");
        }
        usize::try_from(number?).ok()
    }

    pub fn read_integer(&mut self, node: &Yaml, key: &str, like: &str) -> Option<WireInteger> {
        let scalar = shape::scalar(self.collector, node, &format!("`{key}`"), like)?;
        self.parse_form(scalar)
    }

    pub fn parse_form(&mut self, scalar: &Scalar) -> Option<WireInteger> {
        let integer = WireInteger::named(&scalar.text);
        if integer.is_none() {
            let message = format!("`{}` is not a way to write bytes", scalar.text);
            let help = "numbers are `u8`, `u16` up to `u64`, with a sign `i8` up to `i64`, and `u16le` with the least \
                     significant byte first; a field can also be `bytes` or `text`";
            self.collector.mistake("wrong-value", message, &scalar.span, "not known", help);
        }
        integer
    }

    /// Reads pairs of hexadecimal digits. Reports other texts, and returns `None`.
    pub fn parse_hex(&mut self, scalar: &Scalar, key: &str) -> Option<Vec<u8>> {
        let bytes = unhex(&scalar.text);
        if bytes.is_none() {
            let message = format!("`{key}` must be pairs of hexadecimal digits");
            let help = "in quotes, for example `\"c0 0c\"`";
            self.collector.mistake("wrong-value", message, &scalar.span, "not such digits", help);
        }
        bytes
    }

    pub fn read_delimiter(&mut self, node: &Yaml, key: &str) -> Option<Vec<u8>> {
        let scalar = shape::scalar(self.collector, node, &format!("`{key}`"), &format!("{key}: \"00\""))?;
        let bytes = self.parse_hex(scalar, key)?;
        if !(1..=LONGEST_END).contains(&bytes.len()) {
            let message = format!("`{key}` must be one to {LONGEST_END} bytes");
            self.collector.error("wrong-value", message, &scalar.span, "not so many");
            return None;
        }
        Some(bytes)
    }

    /// Reports any value but `true`, and then returns `None`.
    pub fn require_true(&mut self, node: &Yaml, key: &str) -> Option<()> {
        if node.as_scalar().is_some_and(|scalar| scalar.text == "true") {
            return Some(());
        }
        let message = format!("`{key}` can only be `true`");
        self.collector.error("wrong-value", message, &node.head(), "not `true`");
        None
    }
}

/// Finds the one of these keys that is there. Reports it, if there is none or more than one.
pub fn find_one_of<'e>(
    reader: &mut IutReader<'_>,
    node: &Yaml,
    entries: &'e [Entry],
    keys: &[&str],
    section: &str,
    like: &str,
) -> Option<&'e Entry> {
    let present: Vec<&Entry> = shape::first_entries(entries)
        .into_iter()
        .filter(|entry| keys.contains(&entry.key.text.as_str()))
        .collect();
    match present.as_slice() {
        [entry] => Some(entry),
        [] => {
            let names: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            let message = format!("{section} needs one of {}", names.join(", "));
            let help = format!("for example `{like}`");
            reader.collector.mistake("missing-key", message, &node.head(), "none of them", help);
            None
        }
        [first, second, ..] => {
            let message =
                format!("{section} cannot have both `{}` and `{}`", first.key.text, second.key.text);
            let diagnostic = Diagnostic::error("two-keys", message)
                .at(reader.collector.origin(&second.key.span), "the second one")
                .at(reader.collector.origin(&first.key.span), "the first one");
            reader.collector.push(diagnostic);
            None
        }
    }
}

/// Refuses these keys, which mean nothing next to the others. Only the first one is reported.
pub fn refuse_keys(reader: &mut IutReader<'_>, entries: &[Entry], keys: &[&str], label: &str) {
    if let Some(entry) = entries.iter().find(|entry| keys.contains(&entry.key.text.as_str())) {
        let message = format!("`{}` means nothing here", entry.key.text);
        reader.collector.error("two-keys", message, &entry.key.span, label);
    }
}

/// Reads a whole number in decimal digits or, after `0x`, in hexadecimal digits.
pub fn literal(text: &str) -> Option<i128> {
    let (text, is_negative) = text.strip_prefix('-').map_or((text, false), |text| (text, true));
    let number = match text.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            i128::from_str_radix(digits, 16).ok()?
        }
        Some(_) => return None,
        None => i128::from(number::count(text)?),
    };
    Some(if is_negative { -number } else { number })
}
