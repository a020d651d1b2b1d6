//! What an IUT file says of the fields of a frame, as plain data. `fields.rs` writes and reads them, and
//! `description.rs` passes them on.

use std::ops::Range;

use crate::checksum::Checksum;
use crate::integer::WireInteger;

/// A piece of a frame. The names are of parameters, in what is sent also of constants; where there is none,
/// anything may stand there in what is received. Places are those in the same list of fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Field {
    /// These bytes.
    Fixed(Vec<u8>),
    /// A number.
    Integer(WireInteger, FieldNumber),
    /// Bytes, or a text.
    Bytes {
        /// How many.
        extent: Extent,
        /// How they are a text.
        form: ByteForm,
        /// Of what.
        name: Option<String>,
    },
    /// Numbers of some bits each, together whole bytes, the most significant bit first.
    Bits(Vec<Bits>),
    /// A checksum of the bytes of these fields, its own as zero if it is one of them.
    Checksum(Checksum, WireInteger, Range<usize>),
    /// The elements of a list, one behind the other, each of at least a byte.
    List {
        /// How many.
        extent: Extent,
        /// The fields of each: of a record its own, or one that is called `element`.
        of: Vec<Field>,
        /// Of what.
        name: Option<String>,
    },
    /// Fields that together have so many bytes.
    Group(Extent, Vec<Field>),
}

coreach_model::words! {
    /// How bytes are a text.
    pub enum ByteForm {
        /// In pairs of small hexadecimal digits.
        Bytes = "bytes",
        /// They are UTF-8.
        Text = "text",
        /// Each is a character, of the same number: `\u{0}` to `\u{ff}`.
        Latin1 = "latin1",
    }
}

/// How many bytes a field has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extent {
    /// So many.
    Size(usize),
    /// As many as a number in front of them says.
    Length(WireInteger),
    /// All before these, which follow.
    Until(Vec<u8>),
    /// The rest of the frame.
    Rest,
    /// As many as a field before it says ([`Counting`]).
    Told,
    /// Of a list: as many elements as a number in front of them says.
    Count(WireInteger),
}

/// Some bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bits {
    /// How many, at most 64.
    pub width: u32,
    /// What they are.
    pub content: FieldNumber,
}

/// What a number is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FieldNumber {
    /// This number.
    Fixed(u64),
    /// That of a parameter or a constant.
    Named(String),
    /// Any.
    Any,
    /// How much of another field there is.
    Counting(Counting),
}

/// A number that says how much of a later field there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counting {
    /// The place of that field.
    pub of: usize,
    /// Its elements, and not its bytes?
    pub is_elements: bool,
    /// The number is greater by this.
    pub plus: i64,
}
