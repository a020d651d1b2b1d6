//! Draws diagnostics: for people on their own text, for programs as JSON.
//!
//! One diagnostic is one block: its code, its message, the lines of the file with the words underlined, then
//! notes and help. The drawing depends only on the findings and the style. The command line chooses the style
//! for the terminal. All text of a user goes through [`coreach_model::visible`] before it reaches the
//! terminal. JSON has the texts as they are, escaped by its own rules.

use std::fmt;

use coreach_model::diagnostic::{Diagnostic, Origin, Severity};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};
use serde_json::{Value, json};

use crate::sheet::{LONGEST_DRAWN, Sheet, SheetExcerpt, Sheets};
use coreach_model::visible::{visible, visible_line};

/// The most lines between the first label and another one that is drawn, since the lines between them are
/// drawn too. Other labels become notes.
const FURTHEST_DRAWN: usize = 50;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    pub color: bool,
    pub width: usize,
}

impl Style {
    /// No colours and 100 columns, so that the text is the same everywhere.
    pub const PLAIN: Style = Style { color: false, width: 100 };
}

/// Adds the findings that are not there yet: several files may name one file with a mistake.
pub(crate) fn add_new_findings(found: &mut Vec<Diagnostic>, more: Vec<Diagnostic>) {
    for diagnostic in more {
        if !found.contains(&diagnostic) {
            found.push(diagnostic);
        }
    }
}

/// Draws the diagnostics as text, with a blank line between two.
pub fn render(diagnostics: &[Diagnostic], style: Style) -> String {
    let mut sheets = Sheets::default();
    let blocks: Vec<String> =
        diagnostics.iter().map(|diagnostic| draw_block(diagnostic, style, &mut sheets)).collect();
    blocks.join("\n")
}

/// Draws one diagnostic.
fn draw_block(diagnostic: &Diagnostic, style: Style, sheets: &mut Sheets) -> String {
    let theme = if style.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(style.width)
        .with_links(false)
        .with_context_lines(1);
    let drawn = Drawn::of(diagnostic, sheets);
    let mut text = String::new();
    // Writing to a string cannot fail. miette fails only for bad spans, which [`Drawn::of`] excludes.
    if handler.render_report(&mut text, &drawn).is_err() {
        text = format!("{}\n\n  {}\n", diagnostic.code, drawn.message);
    }
    let mut text: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    for note in drawn.elsewhere.iter().chain(&diagnostic.notes) {
        push_footer(&mut text, "note", note, style);
    }
    if let Some(help) = &diagnostic.help {
        push_footer(&mut text, "help", help, style);
    }
    text
}

/// Adds a line below the drawing. Breaks it between words if it is too long.
fn push_footer(text: &mut String, word: &str, content: &str, style: Style) {
    let lead = if style.color { format!("  \u{1b}[36m{word}:\u{1b}[0m ") } else { format!("  {word}: ") };
    let indent = " ".repeat(word.len() + 4);
    text.push_str(&lead);
    let mut column = indent.len();
    for (position, piece) in visible(content).split(' ').enumerate() {
        let length = piece.chars().count();
        if position > 0 {
            if column + 1 + length > style.width {
                text.push('\n');
                text.push_str(&indent);
                column = indent.len();
            } else {
                text.push(' ');
                column += 1;
            }
        }
        text.push_str(piece);
        column += length;
    }
    text.push('\n');
}

/// A diagnostic as miette sees it: one source with its labels.
struct Drawn<'a> {
    diagnostic: &'a Diagnostic,
    message: String,
    source: Option<SheetExcerpt>,
    labels: Vec<LabeledSpan>,
    /// Labels that cannot be drawn there: in another file, on an overlong line, or too far away.
    elsewhere: Vec<String>,
}

impl<'a> Drawn<'a> {
    /// Sorts the labels into those that are drawn, and those that become notes.
    fn of(diagnostic: &'a Diagnostic, sheets: &mut Sheets) -> Self {
        let message = visible_line(&diagnostic.message);
        let mut drawn =
            Drawn { diagnostic, message, source: None, labels: Vec::new(), elsewhere: Vec::new() };
        let Some((first, _)) = diagnostic.labels.first() else { return drawn };
        let sheet = sheets.of(&first.file);
        let first_line = sheet.line(first.span.start);
        let mut here: Vec<(&Origin, &String)> = Vec::new();
        for (number, (origin, label)) in diagnostic.labels.iter().enumerate() {
            let is_here = origin.file == first.file
                && is_drawable(origin, &sheet)
                && sheet.line(origin.span.start).abs_diff(first_line) <= FURTHEST_DRAWN;
            // If the first label cannot be drawn, none is.
            if is_here && (number == 0 || !here.is_empty()) {
                here.push((origin, label));
                continue;
            }
            let excerpt: String = origin.text().chars().take(60).collect();
            let (line, column) = sheets.line_and_column(&origin.file, origin.span.start);
            let place = format!("{}:{line}:{column}", visible_line(&origin.file.name));
            drawn.elsewhere.push(format!("{place}: {label}: `{}`", excerpt.replace('\n', " ")));
        }
        let Some(excerpt) = sheet.excerpt(here.iter().map(|(origin, _)| &origin.span)) else { return drawn };
        for (number, (origin, label)) in here.into_iter().enumerate() {
            let place = excerpt.place(&origin.span);
            let text = Some(visible(label).into_owned()).filter(|label| !label.is_empty());
            drawn.labels.push(if number == 0 {
                LabeledSpan::new_primary_with_span(text, place)
            } else {
                LabeledSpan::new_with_span(text, place)
            });
        }
        drawn.source = Some(excerpt);
        drawn
    }
}

fn is_drawable(origin: &Origin, sheet: &Sheet) -> bool {
    let text = &origin.file.text;
    if text.get(origin.span.clone()).is_none() {
        return false;
    }
    let (start, end) = sheet.whole_lines(&origin.span);
    end - start <= LONGEST_DRAWN * (FURTHEST_DRAWN + 1)
        && text[start..end].lines().all(|line| line.len() <= LONGEST_DRAWN)
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Drawn<'_> {}

impl miette::Diagnostic for Drawn<'_> {
    fn code<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        Some(Box::new(self.diagnostic.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        (!self.labels.is_empty()).then(|| Box::new(self.labels.iter().cloned()) as Box<_>)
    }
}

/// Writes the diagnostics for a program: a list of objects. Lines and columns count from 1, columns in
/// characters. The end is the column after the last one. Without a place, `file` and the numbers are `null`.
pub fn to_json(diagnostics: &[Diagnostic]) -> Value {
    Value::Array(each(diagnostics))
}

pub fn each<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> Vec<Value> {
    diagnostics.into_iter().map(diagnostic_to_json).collect()
}

/// Writes one diagnostic. The place of its first label is also its own place.
fn diagnostic_to_json(diagnostic: &Diagnostic) -> Value {
    let label_to_json = |(origin, label): &(Origin, String)| {
        let mut place = place_to_json(Some(origin));
        place["label"] = json!(label);
        place
    };
    let labels: Vec<Value> = diagnostic.labels.iter().map(label_to_json).collect();
    let mut object = json!({
        "code": diagnostic.code,
        "severity": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": diagnostic.message,
    });
    let place = place_to_json(diagnostic.labels.first().map(|(origin, _)| origin));
    if let (Value::Object(object), Value::Object(place)) = (&mut object, place) {
        object.extend(place);
        object.insert("labels".to_owned(), json!(labels));
        object.insert("notes".to_owned(), json!(diagnostic.notes));
        object.insert("help".to_owned(), json!(diagnostic.help));
    }
    object
}

fn place_to_json(origin: Option<&Origin>) -> Value {
    let Some(origin) = origin else {
        return json!({
            "file": null, "line": null, "column": null, "end_line": null, "end_column": null, "text": null
        });
    };
    let (line, column) = origin.line_and_column();
    let end = Origin { file: origin.file.clone(), span: origin.span.end..origin.span.end };
    let (end_line, end_column) = end.line_and_column();
    json!({
        "file": origin.file.name, "line": line, "column": column, "end_line": end_line, "end_column": end_column,
        "text": origin.text(),
    })
}
