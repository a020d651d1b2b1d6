//! A piece of a foreign file as its reader sees it: escapes and entities resolved, every sign with its place
//! in the file.
//!
//! A guard in a JSON string may say `x \u003c 10`, one in XML `x &lt; 10`. What is wrong in it is underlined
//! where it stands in the file, so each piece remembers where a sign begins that is written with more signs
//! than it is.

use std::ops::Range;

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Piece {
    pub text: String,
    /// Where the text is: from a byte of the text on, the byte of the file, until the next entry. Ascending.
    places: Vec<(usize, usize)>,
    end: usize,
}

impl Piece {
    /// A piece that is in the file as it is, from this byte on.
    pub fn plain(text: &str, start: usize) -> Self {
        Piece { text: text.to_owned(), places: vec![(0, start)], end: start + text.len() }
    }

    /// Takes more text, which the file has at this range. Texts of one length are the same signs.
    pub fn push(&mut self, text: &str, place: Range<usize>) {
        let same = text.len() == place.len();
        let continues = self.places.last().is_some_and(|(at, from)| {
            same && from + (self.text.len() - at) == place.start && self.end == place.start
        });
        if !continues || !same {
            self.places.push((self.text.len(), place.start));
        }
        self.text.push_str(text);
        self.end = place.end;
    }

    pub fn append(&mut self, other: &Piece) {
        if other.text.is_empty() {
            return;
        }
        let length = self.text.len();
        self.places.extend(other.places.iter().map(|(at, from)| (length + at, *from)));
        self.text.push_str(&other.text);
        self.end = other.end;
    }

    pub fn locate(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.at(range.start);
        // The end is behind the last sign, however that is written.
        let entry = self.places.partition_point(|(at, _)| *at < range.end);
        let end = match self.places.get(entry) {
            _ if range.end >= self.text.len() => self.end,
            Some((at, from)) if *at == range.end => *from,
            _ => self.at(range.end),
        };
        start..end.max(start)
    }

    pub fn full_range(&self) -> Range<usize> {
        self.locate(&(0..self.text.len()))
    }

    fn at(&self, byte: usize) -> usize {
        let entry = self.places.partition_point(|(at, _)| *at <= byte);
        let (at, from) = entry.checked_sub(1).map_or((0, self.end), |entry| self.places[entry]);
        (from + (byte - at)).min(self.end)
    }

    pub fn part(&self, range: Range<usize>) -> Piece {
        let text = self.text.get(range.clone()).unwrap_or_default();
        let mut places = vec![(0, self.at(range.start))];
        let first = self.places.partition_point(|(at, _)| *at <= range.start);
        let behind = self.places.partition_point(|(at, _)| *at < range.end).max(first);
        places.extend(self.places[first..behind].iter().map(|(at, from)| (at - range.start, *from)));
        Piece { text: text.to_owned(), places, end: self.locate(&range).end }
    }

    /// The same without white space at its ends.
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
            (part.text.as_str(), part.locate(&(3..5)), part.full_range()),
            ("10 && y", 15..25, 12..27)
        );
        assert_eq!(Piece::plain("  a b ", 3).trimmed(), Piece::plain("a b", 5));
    }
}
