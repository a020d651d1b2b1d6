//! A file's text by lines, for drawing pieces of it.
//!
//! The drawing library looks for a piece from the beginning of the text, byte by byte, several times for each finding.
//! A hundred findings in a file of megabytes would take seconds. So it is shown only the lines around the piece, and told
//! which number the first of them has.

use std::ops::Range;
use std::sync::Arc;

use coreach_model::diagnostic::SourceFile;
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

/// The pages of the files that some findings speak of.
#[derive(Default, Debug)]
pub struct Pages(Vec<Page>);

/// A file with the places where its lines begin.
#[derive(Clone, Debug)]
pub struct Page {
    file: Arc<SourceFile>,
    /// At least one; the first is 0.
    starts: Arc<[usize]>,
}

impl Pages {
    /// The page of a file; its lines are found once.
    pub fn of(&mut self, file: &Arc<SourceFile>) -> Page {
        if let Some(known) = self.0.iter().find(|page| Arc::ptr_eq(&page.file, file)) {
            return known.clone();
        }
        let behind = file.text.match_indices('\n').map(|(at, _)| at + 1);
        let page = Page { file: file.clone(), starts: std::iter::once(0).chain(behind).collect() };
        self.0.push(page.clone());
        page
    }
}

impl Page {
    /// The line of a byte, counted from 0.
    pub fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// Where the first line of a piece begins, and where its last one ends.
    pub fn whole_lines(&self, piece: &Range<usize>) -> (usize, usize) {
        (self.start(self.line(piece.start)), self.start(self.line(piece.end) + 1))
    }

    /// The beginning of a line; the end of the text behind the last.
    fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.file.text.len())
    }
}

impl SourceCode for Page {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        // A line more on each side than asked for, so that the cut is not taken for the text's end.
        let first = self.line(span.offset()).saturating_sub(before + 1);
        let last = self.line(span.offset().saturating_add(span.len())) + after + 2;
        let (from, to) = (self.start(first), self.start(last));
        let around = self.file.text.get(from..to).ok_or(MietteError::OutOfBounds)?;
        let inside = SourceSpan::new((span.offset() - from).into(), span.len());
        let found = around.read_span(&inside, before, after)?;
        let place = SourceSpan::new((found.span().offset() + from).into(), found.span().len());
        Ok(Box::new(MietteSpanContents::new_named(
            self.file.name.clone(),
            found.data(),
            place,
            found.line() + first,
            found.column(),
            found.line_count() + first,
        )))
    }
}
