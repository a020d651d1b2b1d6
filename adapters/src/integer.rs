//! Whole numbers on a wire: of a given width, or as long as they need (`varint`).
//!
//! ```text
//! varint   byte{1..8}    seven bits in each, the lowest first; the highest bit says that another one follows
//! ```
//!
//! That is LEB128, as MQTT, Protocol Buffers and WebAssembly have it. A number has one spelling: a longer one
//! than necessary is no number. So no two frames are the same event.

/// How a number is written: in so many bytes, at most eight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WireInteger {
    /// The number of bytes. 0 if a number is as long as it needs.
    pub width: usize,
    pub is_signed: bool,
    /// The least significant byte is the first.
    pub is_little: bool,
}

impl WireInteger {
    /// Returns the name of the form.
    pub fn name(self) -> String {
        let (sign, order) = (if self.is_signed { "i" } else { "u" }, if self.is_little { "le" } else { "" });
        if self.width == 0 { "varint".to_owned() } else { format!("{sign}{}{order}", 8 * self.width) }
    }

    /// Finds a form by its name: `u16` and `i32` have the most significant byte first, `u16le` the least
    /// significant one.
    pub fn named(name: &str) -> Option<Self> {
        if name == "varint" {
            return Some(WireInteger { width: 0, is_signed: false, is_little: true });
        }
        let (name, is_little) = name.strip_suffix("le").map_or((name, false), |name| (name, true));
        let (bits, is_signed) = match name.split_at_checked(1)? {
            ("u", bits) => (bits, false),
            ("i", bits) => (bits, true),
            _ => return None,
        };
        let width = (1..=8).find(|width| (width * 8).to_string() == bits)?;
        // One byte has no order.
        (width > 1 || !is_little).then_some(WireInteger { width, is_signed, is_little })
    }

    pub fn least(self) -> usize {
        self.width.max(1)
    }

    /// Splits the bytes of the number at the front from the rest. Nothing if it has not come as a whole.
    pub fn split(self, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
        let width = match self.width {
            0 => bytes.iter().take(LONGEST).position(|byte| *byte < 0x80).map(|last| last + 1),
            width => Some(width),
        };
        // If no byte ends the number, take the most bytes that it may have. `read` then refuses it.
        bytes.split_at_checked(width.unwrap_or(LONGEST))
    }

    /// Reads the number in these bytes, which are all of it. Nothing if they are no spelling of a number.
    pub fn read(self, bytes: &[u8]) -> Option<i128> {
        if self.width == 0 {
            let is_ended = bytes.last().is_some_and(|last| *last < 0x80);
            let is_short = bytes.len() == 1 || bytes.last() != Some(&0);
            let add = |sum: i128, byte: &u8| sum << 7 | i128::from(byte & 0x7f);
            return (is_ended && is_short).then(|| bytes.iter().rev().fold(0, add));
        }
        let add = |sum: i128, byte: &u8| sum << 8 | i128::from(*byte);
        let number = if self.is_little { bytes.iter().rev().fold(0, add) } else { bytes.iter().fold(0, add) };
        let beyond = 1 << (8 * self.width);
        Some(if self.is_signed && number >= beyond / 2 { number - beyond } else { number })
    }

    /// Reads the number at the front of these bytes, and returns the rest. `None` if they begin with none.
    pub fn take(self, bytes: &[u8]) -> Option<(i128, &[u8])> {
        let (own_bytes, rest) = self.split(bytes)?;
        Some((self.read(own_bytes)?, rest))
    }

    /// Writes a number, if it fits.
    pub fn written(self, number: i128) -> Option<Vec<u8>> {
        if self.width == 0 {
            let number = u64::try_from(number).ok()?;
            let count = (1..=LONGEST).find(|count| number >> (7 * count) == 0)?;
            let byte = |at: usize| (number >> (7 * at) & 0x7f) as u8 | if at + 1 < count { 0x80 } else { 0 };
            return Some((0..count).map(byte).collect());
        }
        let beyond = 1 << (8 * self.width);
        let range = if self.is_signed { -beyond / 2..beyond / 2 } else { 0..beyond };
        if !range.contains(&number) {
            return None;
        }
        let bytes = number.to_be_bytes();
        let mut bytes = bytes[bytes.len() - self.width..].to_vec();
        if self.is_little {
            bytes.reverse();
        }
        Some(bytes)
    }
}

const LONGEST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_their_width_or_are_not_written() {
        for (name, number, bytes) in [
            ("u8", 255, Some(vec![255])),
            ("u8", 256, None),
            ("u8", -1, None),
            ("i8", -128, Some(vec![0x80])),
            ("i8", 128, None),
            ("u16", 0x0102, Some(vec![1, 2])),
            ("u16le", 0x0102, Some(vec![2, 1])),
            ("i24le", -2, Some(vec![0xfe, 0xff, 0xff])),
            ("u64", u64::MAX.into(), Some(vec![0xff; 8])),
            ("i64", i64::MIN.into(), Some(vec![0x80, 0, 0, 0, 0, 0, 0, 0])),
            ("i64", i128::from(i64::MAX) + 1, None),
            // The table of MQTT 5, 1.5.5, and one beyond it.
            ("varint", 0, Some(vec![0])),
            ("varint", 127, Some(vec![0x7f])),
            ("varint", 128, Some(vec![0x80, 0x01])),
            ("varint", 16_383, Some(vec![0xff, 0x7f])),
            ("varint", 16_384, Some(vec![0x80, 0x80, 0x01])),
            ("varint", 2_097_152, Some(vec![0x80, 0x80, 0x80, 0x01])),
            ("varint", 268_435_455, Some(vec![0xff, 0xff, 0xff, 0x7f])),
            ("varint", (1 << 56) - 1, Some(vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f])),
            ("varint", 1 << 56, None),
            ("varint", -1, None),
        ] {
            let integer = WireInteger::named(name);
            assert_eq!(integer.and_then(|integer| integer.written(number)), bytes, "{name} {number}");
            if let (Some(integer), Some(bytes)) = (integer, bytes) {
                assert_eq!(integer.read(&bytes), Some(number), "{name}");
                assert_eq!(integer.take(&[&bytes[..], &[9]].concat()), Some((number, &[9][..])), "{name}");
                assert_eq!(integer.split(&bytes[..bytes.len() - 1]), None, "{name}");
            }
        }
        let varint = WireInteger::named("varint");
        for bytes in [&[0x80, 0][..], &[0x81, 0x80, 0], &[0xff; 8], &[0xff; 9], &[0x80; 20]] {
            assert_eq!(varint.and_then(|integer| integer.take(bytes)), None, "{bytes:?}");
        }
        for name in ["", "u", "u7", "u08", "u72", "x16", "u8le", "u16be", "16", "ü8"] {
            assert_eq!(WireInteger::named(name), None, "{name}");
        }
    }
}
