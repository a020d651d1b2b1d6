//! Writes a document as text: one line for each type, term, location and transition.
//!
//! The usual layout gives every number a line of its own. Then a test case is as long as a book, and a
//! difference of two of them says nothing. Here everything below the second level stands on one line.

use std::io::{self, Write};

use coreach_model::visible::visible_json;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// The number of levels that begin new lines.
const OPEN: usize = 2;

/// Writes the value as JSON, with a newline at the end. Hidden signs become escapes.
pub fn to_text(value: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, LaidLines::default());
    if let Err(error) = value.serialize(&mut serializer) {
        panic!("strings, numbers and lists cannot be serialized into memory: {error}");
    }
    bytes.push(b'\n');
    let text = String::from_utf8_lossy(&bytes);
    visible_json(&text).into_owned()
}

/// The state of the layout while a value is written.
#[derive(Default)]
struct LaidLines {
    depth: usize,
    /// Has the innermost list or object anything in it?
    is_filled: bool,
}

impl LaidLines {
    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, sign: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.is_filled = false;
        writer.write_all(sign)
    }

    /// Writes what stands before an item of a list or object: a comma, and a new line or a space.
    fn begin_item<W: ?Sized + Write>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        self.is_filled = true;
        let is_line = self.depth <= OPEN;
        writer.write_all(match (is_first, is_line) {
            (true, _) => b"",
            (false, true) => b",",
            (false, false) => b", ",
        })?;
        if is_line { self.begin_line(writer) } else { Ok(()) }
    }

    fn begin_line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, sign: &[u8]) -> io::Result<()> {
        let is_line = self.depth <= OPEN && self.is_filled;
        self.depth -= 1;
        // The list or object around this one is not empty, since it has this one.
        self.is_filled = true;
        if is_line {
            self.begin_line(writer)?;
        }
        writer.write_all(sign)
    }
}

impl Formatter for LaidLines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_item(writer, first)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_item(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
