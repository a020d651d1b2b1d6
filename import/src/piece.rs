//! A piece of text of a foreign file, with escapes and entities resolved, and with the place of every sign.
//!
//! A guard may be written `x \u003c 10` in a JSON string, or `x &lt; 10` in XML. A mistake in it is
//! underlined at its place in the file. So each piece remembers the places of its signs.

use std::ops::Range;

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Piece {
    pub text: String,
    /// Pairs of a byte of the text and its byte in the file, ascending. Each pair holds up to the next one.
    places: Vec<(usize, usize)>,
    end: usize,
}

impl Piece {
    /// Makes a piece of a text that is in the file as it is, from this byte on.
    pub fn plain(text: &str, start: usize) -> Self {
        Piece { text: text.to_owned(), places: vec![(0, start)], end: start + text.len() }
    }

    /// Adds text that is at this place of the file. If the lengths agree, its bytes are those of the place,
    /// one by one. Otherwise it is an escape, and only its two ends have a place.
    pub fn push(&mut self, text: &str, place: Range<usize>) {
        let is_plain = text.len() == place.len();
        // A plain text that follows a plain one in the file needs no pair of its own. After an escape, the
        // last pair does not lead to the place where the escape ends.
        let next_byte = self.places.last().map(|(byte, from)| from + (self.text.len() - byte));
        let continues = is_plain && next_byte == Some(place.start) && self.end == place.start;
        if !continues {
            self.places.push((self.text.len(), place.start));
        }
        self.text.push_str(text);
        self.end = place.end;
    }

    /// Adds another piece, with its places.
    pub fn append(&mut self, other: &Piece) {
        if other.text.is_empty() {
            return;
        }
        let length = self.text.len();
        self.places.extend(other.places.iter().map(|(byte, from)| (length + byte, *from)));
        self.text.push_str(&other.text);
        self.end = other.end;
    }

    /// The place in the file of a part of the text.
    pub fn locate(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.byte_in_file(range.start);
        // An escape is longer than its sign. So the last sign ends where the next pair begins, if one does.
        let entry = self.places.partition_point(|(byte, _)| *byte < range.end);
        let end = match self.places.get(entry) {
            _ if range.end >= self.text.len() => self.end,
            Some((byte, from)) if *byte == range.end => *from,
            _ => self.byte_in_file(range.end),
        };
        start..end.max(start)
    }

    pub fn full_range(&self) -> Range<usize> {
        self.locate(&(0..self.text.len()))
    }

    /// Finds the place in the file of a byte of the text. It is at most the end of the whole piece.
    fn byte_in_file(&self, byte: usize) -> usize {
        let entry = self.places.partition_point(|(start, _)| *start <= byte);
        let (start, from) = entry.checked_sub(1).map_or((0, self.end), |entry| self.places[entry]);
        (from + (byte - start)).min(self.end)
    }

    /// A part of the piece, with its places.
    pub fn part(&self, range: Range<usize>) -> Piece {
        let text = self.text.get(range.clone()).unwrap_or_default();
        let mut places = vec![(0, self.byte_in_file(range.start))];
        // The pairs that begin within the part are also pairs of the part.
        let first = self.places.partition_point(|(byte, _)| *byte <= range.start);
        let end = self.places.partition_point(|(byte, _)| *byte < range.end).max(first);
        places.extend(self.places[first..end].iter().map(|(byte, from)| (byte - range.start, *from)));
        Piece { text: text.to_owned(), places, end: self.locate(&range).end }
    }

    pub fn trimmed(&self) -> Piece {
        let start = self.text.len() - self.text.trim_start().len();
        self.part(start..start + self.text.trim().len())
    }

    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_is_found_where_it_is_written() {
        // `x &lt; 10 &amp;&amp; y` from byte 5 on
        let mut piece = Piece::default();
        for (text, place) in
            [("x ", 5..7), ("<", 7..11), (" 10 ", 11..15), ("&", 15..20), ("&", 20..25), (" y", 25..27)]
        {
            piece.push(text, place);
        }
        assert_eq!(piece.text, "x < 10 && y");
        assert_eq!(piece.locate(&(0..1)), 5..6);
        assert_eq!(piece.locate(&(2..3)), 7..11);
        assert_eq!(piece.locate(&(4..6)), 12..14);
        assert_eq!(piece.locate(&(7..9)), 15..25);
        assert_eq!(piece.locate(&(10..11)), 26..27);
        assert_eq!(piece.full_range(), 5..27);
        let part = piece.part(4..11);
        assert_eq!(
            (part.locate(&(3..5)), part.full_range(), part.text.as_str()),
            (15..25, 12..27, "10 && y")
        );
        assert_eq!(Piece::plain("  a b ", 3).trimmed(), Piece::plain("a b", 5));
    }
}
