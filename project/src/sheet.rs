//! Cuts pieces out of a file's text by lines, for drawing them.
//!
//! The drawing library searches a piece from the beginning of the text, byte by byte, several times for each
//! finding. A hundred findings in a file of megabytes would take seconds. So it gets a [`SheetExcerpt`] with
//! only the lines around the piece, and the number of the first of them. The excerpt also makes hidden signs
//! visible ([`coreach_model::visible`]), and cuts overlong lines. It knows the new place of each piece.

use std::ops::Range;
use std::sync::Arc;

use coreach_model::diagnostic::SourceFile;
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use coreach_model::visible::{visible, visible_length, visible_line};

/// The most bytes of a line that are drawn. A model that a program wrote in one line would fill the screen.
pub const LONGEST_DRAWN: usize = 200;

/// The sheets of the files in which the findings are.
#[derive(Default)]
pub struct Sheets(Vec<CountedSheet>);

struct CountedSheet {
    sheet: Sheet,
    /// The last byte whose column was counted, with that column. Findings come in the order of the text, and
    /// a line may have megabytes, so counting goes on from here.
    counted: (usize, usize),
}

/// A file with the places where its lines begin.
#[derive(Clone, Debug)]
pub struct Sheet {
    file: Arc<SourceFile>,
    /// The beginnings of all lines. The first is 0.
    starts: Arc<[usize]>,
}

impl Sheets {
    /// Returns the sheet of a file. Its lines are found only once.
    pub fn of(&mut self, file: &Arc<SourceFile>) -> Sheet {
        self.find_or_add(file).sheet.clone()
    }

    /// Returns the line and column of a byte, counted from 1. The column is in characters.
    pub fn line_and_column(&mut self, file: &Arc<SourceFile>, byte: usize) -> (usize, usize) {
        let CountedSheet { sheet, counted: (last, columns) } = self.find_or_add(file);
        let line = sheet.line(byte);
        let start = sheet.start(line);
        let (from, before) = if (start..=byte).contains(last) { (*last, *columns) } else { (start, 0) };
        let column = before + file.text.get(from..byte).map_or(0, |text| text.chars().count());
        (*last, *columns) = (byte, column);
        (line + 1, column + 1)
    }

    fn find_or_add(&mut self, file: &Arc<SourceFile>) -> &mut CountedSheet {
        if let Some(at) = self.0.iter().position(|known| Arc::ptr_eq(&known.sheet.file, file)) {
            return &mut self.0[at];
        }
        let line_starts = file.text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(line_starts).collect();
        let sheet = Sheet { file: file.clone(), starts };
        self.0.push(CountedSheet { sheet, counted: (0, 0) });
        let last = self.0.len() - 1;
        &mut self.0[last]
    }
}

impl Sheet {
    /// The line of a byte, counted from 0.
    pub fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// Returns the beginning of a piece's first line, and the end of its last line.
    pub fn whole_lines(&self, piece: &Range<usize>) -> (usize, usize) {
        (self.start(self.line(piece.start)), self.start(self.line(piece.end) + 1))
    }

    /// Returns the beginning of a line. After the last line it is the end of the text.
    fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.file.text.len())
    }

    /// Cuts out the lines of some pieces. There is one more line on each side to be drawn, and another one so
    /// that the cut does not look like the text's end. `None`, if no piece is in the text.
    pub fn excerpt<'a>(
        &self,
        pieces: impl Iterator<Item = &'a Range<usize>> + Clone,
    ) -> Option<SheetExcerpt> {
        let first = self.line(pieces.clone().map(|piece| piece.start).min()?).saturating_sub(2);
        let last = self.line(pieces.map(|piece| piece.end).max()?) + 2;
        let mut excerpt =
            SheetExcerpt { sheet: self.clone(), first, text: String::new(), starts: Vec::new() };
        for number in first..=last.min(self.starts.len() - 1) {
            excerpt.starts.push(excerpt.text.len());
            let line = self.file.text.get(self.start(number)..self.start(number + 1))?;
            // The line's end has up to two bytes.
            match line.char_indices().map(|(at, _)| at).take_while(|at| *at <= LONGEST_DRAWN).last() {
                Some(end) if line.len() > LONGEST_DRAWN + 2 => {
                    excerpt.text.push_str(&visible(&line[..end]));
                    excerpt.text.push_str(" ...\n");
                }
                _ => excerpt.text.push_str(&visible(line)),
            }
        }
        Some(excerpt)
    }
}

/// Some lines of a sheet as they are drawn.
#[derive(Clone, Debug)]
pub struct SheetExcerpt {
    sheet: Sheet,
    /// The number of the first line, counted from 0.
    first: usize,
    text: String,
    /// The beginning of each line in `text`.
    starts: Vec<usize>,
}

impl SheetExcerpt {
    pub fn place(&self, piece: &Range<usize>) -> Range<usize> {
        self.byte_in_excerpt(piece.start)..self.byte_in_excerpt(piece.end)
    }

    /// Returns the column in the user's file for a byte of the excerpt, in characters, counted from 0.
    fn column(&self, drawn: usize) -> usize {
        let at = self.starts.partition_point(|start| *start <= drawn).saturating_sub(1);
        let (line, target) = (self.first + at, drawn - self.starts.get(at).unwrap_or(&0));
        let text = self.sheet.file.text.get(self.sheet.start(line)..self.sheet.start(line + 1));
        let text = text.unwrap_or_default();
        text.char_indices().take_while(|(byte, _)| visible_length(text, *byte) < target).count()
    }

    /// Finds where a byte of the file is in the excerpt. A byte that is not in it counts as its end.
    fn byte_in_excerpt(&self, byte: usize) -> usize {
        let line = self.sheet.line(byte);
        let (from, to) = (self.sheet.start(line), self.sheet.start(line + 1));
        let start = line.checked_sub(self.first).and_then(|at| self.starts.get(at)).copied();
        let text = self.sheet.file.text.get(from..to).unwrap_or_default();
        start.map_or(self.text.len(), |start| start + visible_length(text, byte - from))
    }
}

impl SourceCode for SheetExcerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let found = self.text.read_span(span, before, after)?;
        // The library reads a piece without lines around it to get its line and column in the file.
        let column = if before == 0 { self.column(span.offset()) } else { found.column() };
        Ok(Box::new(MietteSpanContents::new_named(
            visible_line(&self.sheet.file.name),
            found.data(),
            *found.span(),
            found.line() + self.first,
            column,
            found.line_count() + self.first,
        )))
    }
}
