//! Checksums of frames.
//!
//! ```text
//! crc32      the CRC-32 of IEEE 802.3: polynomial 0x04c11db7, reflected, begun and ended with all ones
//! internet   RFC 1071: the complement of the sum of words of 16 bits, the first byte the high one, with its
//!            carries
//! ```
//!
//! A zero byte completes an odd number of bytes. A sum of 0 has two spellings, and a sender that changes a
//! sum in place may send the other one: if 0 is right, so is `ffff` (RFC 1624, 3).
//!
//! **Costs** eight steps a byte for `crc32`. A frame of a MiB takes some milliseconds, and needs no table.

coreach_model::words! {
    pub enum Checksum {
        /// CRC-32 of IEEE 802.3.
        Crc32 = "crc32",
        Internet = "internet",
    }
}

impl Checksum {
    pub fn width(self) -> usize {
        match self {
            Checksum::Crc32 => 4,
            Checksum::Internet => 2,
        }
    }

    pub fn of(self, bytes: &[u8]) -> u32 {
        match self {
            Checksum::Crc32 => !bytes.iter().fold(u32::MAX, |sum, byte| {
                (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ ((sum & 1) * 0xedb8_8320))
            }),
            Checksum::Internet => {
                let word =
                    |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0));
                let mut sum: u64 = bytes.chunks(2).map(word).sum();
                while sum > 0xffff {
                    sum = (sum & 0xffff) + (sum >> 16);
                }
                0xffff - sum as u32
            }
        }
    }

    pub fn is_of(self, number: i128, bytes: &[u8]) -> bool {
        let right = self.of(bytes);
        number == i128::from(right) || self == Checksum::Internet && right == 0 && number == 0xffff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Soundness: published values. Those of CRC-32 are the check value of the catalogue of CRCs, the chunk
    /// that ends each PNG, and two texts by Python's `zlib.crc32`; those of RFC 1071 are its own example, and
    /// the header of an IPv4 packet that is worked through in many books.
    #[test]
    fn published_checksums() {
        let crc = [
            (&b"123456789"[..], 0xcbf4_3926),
            (b"", 0),
            (b"IEND", 0xae42_6082),
            (b"The quick brown fox jumps over the lazy dog", 0x414f_a339),
            (&[0xff; 4], 0xffff_ffff),
        ];
        for (bytes, right) in crc {
            assert_eq!(Checksum::Crc32.of(bytes), right, "{bytes:?}");
        }
        let header =
            [0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7];
        let internet = [
            (&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7][..], !0xddf2_u16),
            (&header, 0xb861),
            (&[], 0xffff),
            (&[0x12], !0x1200),
            (&[0xff; 6], 0),
        ];
        for (bytes, right) in internet {
            assert_eq!(Checksum::Internet.of(bytes), u32::from(right), "{bytes:?}");
        }
        // The sum of the whole, with its checksum, is all ones.
        let whole = [&[0xb8, 0x61][..], &header].concat();
        assert_eq!(Checksum::Internet.of(&whole), 0);
        assert!(Checksum::Internet.is_of(0xffff, &[0xff; 2]) && !Checksum::Internet.is_of(0, &[0; 2]));
        assert_eq!(Checksum::Internet.of(&vec![0xff; 1 << 20]), 0);
    }
}
