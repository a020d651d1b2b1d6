//! Whole numbers of a given width on a wire.

/// How a number is written: in so many bytes, at most eight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WireInteger {
    /// The bytes.
    pub width: usize,
    /// In two's complement?
    pub is_signed: bool,
    /// The least significant byte first?
    pub is_little: bool,
}

impl WireInteger {
    /// By its name: `u16` and `i32` with the most significant byte first, `u16le` with the least significant
    /// one.
    pub fn named(name: &str) -> Option<Self> {
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

    /// The number in these bytes, which are as many as it has.
    pub fn read(self, bytes: &[u8]) -> i128 {
        let add = |sum: i128, byte: &u8| sum << 8 | i128::from(*byte);
        let number = if self.is_little { bytes.iter().rev().fold(0, add) } else { bytes.iter().fold(0, add) };
        let beyond = 1 << (8 * self.width);
        if self.is_signed && number >= beyond / 2 { number - beyond } else { number }
    }

    /// The bytes of a number, if it has no more.
    pub fn written(self, number: i128) -> Option<Vec<u8>> {
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
        ] {
            let integer = WireInteger::named(name);
            assert_eq!(integer.and_then(|integer| integer.written(number)), bytes, "{name} {number}");
            if let (Some(integer), Some(bytes)) = (integer, bytes) {
                assert_eq!(integer.read(&bytes), number, "{name}");
            }
        }
        for name in ["", "u", "u7", "u08", "u72", "x16", "u8le", "u16be", "16", "ü8"] {
            assert_eq!(WireInteger::named(name), None, "{name}");
        }
    }
}
