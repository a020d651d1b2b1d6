//! What an IUT file says of the fields of a frame, as plain data. `fields.rs` writes and reads them, and
//! `description.rs` passes them on.

use std::ops::Range;

use crate::checksum::Checksum;
use crate::integer::WireInteger;

/// A piece of a frame. Its name is that of a parameter, or, in a frame that is sent, of a constant. A field
/// without a name may have any value in a frame that is received. A position counts the fields of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Field {
    Fixed(Vec<u8>),
    Integer(WireInteger, FieldNumber),
    Bytes {
        extent: Extent,
        form: ByteForm,
        /// The parameter or the constant whose value they are.
        name: Option<String>,
    },
    /// Numbers of some bits each, together whole bytes, the most significant bit first.
    Bits(Vec<BitField>),
    /// A checksum of the bytes of these fields, its own as zero if it is one of them.
    Checksum(Checksum, WireInteger, Range<usize>),
    /// The elements of a list, one after the other, each of at least a byte.
    List {
        /// The number of elements, or of their bytes.
        extent: Extent,
        /// The fields of an element. A record has its own, any other value one that is called `element`.
        of: Vec<Field>,
        name: Option<String>,
    },
    /// Fields whose bytes together have this length.
    Group(Extent, Vec<Field>),
}

coreach_model::words! {
    pub enum ByteForm {
        /// In pairs of small hexadecimal digits.
        Bytes = "bytes",
        /// In UTF-8.
        Text = "text",
        /// Each byte is the character of the same number: `\u{0}` to `\u{ff}`.
        Latin1 = "latin1",
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extent {
    Size(usize),
    /// A number before the bytes says how many they are.
    Length(WireInteger),
    /// It ends before these bytes, which follow it.
    Until(Vec<u8>),
    Rest,
    /// An earlier field counts its bytes or its elements ([`Counting`]).
    Counted,
    /// A number before the elements of a list says how many they are.
    Count(WireInteger),
}

/// A number that has some bits of a byte, or of several bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BitField {
    /// The number of bits, at most 64.
    pub width: u32,
    pub content: FieldNumber,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FieldNumber {
    Fixed(u64),
    /// The value of a parameter or a constant.
    Named(String),
    Any,
    Counting(Counting),
}

/// A number that counts a later field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counting {
    pub of: usize,
    /// It counts the elements, and not the bytes.
    pub is_elements: bool,
    /// The number is greater than the count by this.
    pub plus: i64,
}
