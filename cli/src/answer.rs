//! The answer of a command, and the one place that prints it.
//!
//! A command returns a [`CommandAnswer`], or an [`EarlyExit`] if something ends it before it has one. No
//! command asks whether the user wants JSON: the command line says so once ([`set_format`]), and the printer
//! keeps to it.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgMatches, ValueEnum};
use coreach_execution::campaign::StoreError;
use coreach_model::{Diagnostic, Severity};
use coreach_pipeline::stop::{Stop, says_work_was_stopped};
use coreach_project::checked::plural;
use coreach_project::render;
use serde::Serialize;
use serde_json::{Value, json};

use crate::console;
use crate::exit::Exit;
use crate::files;
use crate::visible::visible_line;

/// The form of what goes to standard output: for people, or one JSON document, of which only `seconds` differ
/// between two runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum OutputFormat {
    #[default]
    Human,
    Json,
}

/// How a recorded trace is printed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum TraceFormat {
    #[default]
    Csv,
    JsonLines,
    Json,
}

/// The form in which the command answers.
static FORMAT: OnceLock<OutputFormat> = OnceLock::new();

/// Sets the form of the answer to what `--format` says, for the whole life of the process. A command without
/// that option answers as a text.
pub fn set_format(matches: &ArgMatches) {
    let mut innermost = matches;
    while let Some((_, inner)) = innermost.subcommand() {
        innermost = inner;
    }
    // A command has an option of this name with one of two types, or none.
    let answer = innermost.try_get_one::<OutputFormat>("format").ok().flatten();
    let trace = innermost.try_get_one::<TraceFormat>("format").ok().flatten();
    let is_json = answer == Some(&OutputFormat::Json) || trace == Some(&TraceFormat::Json);
    let _ = FORMAT.set(if is_json { OutputFormat::Json } else { OutputFormat::Human });
}

/// Makes a parser of words, each of which stands for a value.
pub(crate) fn one_of<T: Clone + Send + Sync + 'static, const N: usize>(
    choices: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    let words = choices.each_ref().map(|(word, _)| *word);
    PossibleValuesParser::new(words).try_map(move |given| {
        let choice = choices.iter().find(|(word, _)| *word == given);
        choice.map(|(_, value)| value.clone()).ok_or("this is no choice")
    })
}

/// Whether the answer is one JSON document.
pub fn is_json() -> bool {
    FORMAT.get() == Some(&OutputFormat::Json)
}

/// Returns the answer in the form that the command line asks for: the document, or the text.
pub fn render_answer<D: Serialize>(document: impl FnOnce() -> D, text: impl FnOnce() -> String) -> String {
    if is_json() { console::document_text(&document()) } else { text() }
}

/// Prints a text, unless the answer is a document: that says the same in other words.
pub fn print_text(text: &str) {
    if !is_json() {
        console::print(text);
    }
}

/// Draws findings, unless the answer is a document: that has them itself.
pub fn draw_text(found: &[Diagnostic]) {
    if !is_json() {
        console::draw(found);
    }
}

/// Draws the warnings about a model where it only serves a test: each in a line, or their number alone.
pub fn draw_briefly(warnings: &[Diagnostic], is_quiet: bool) {
    if is_json() || warnings.is_empty() {
        return;
    }
    if console::is_verbose() {
        return console::draw(warnings);
    }
    for warning in warnings.iter().filter(|_| !is_quiet) {
        let place = warning.labels.first().map(|(origin, _)| format!(" ({})", origin.file_and_line()));
        console::say(&format!("warning: {}{}", warning.message, place.unwrap_or_default()));
    }
    let count = plural(warnings.len(), "warning");
    console::say(&format!("{count} about the model: `-v` prints them in full"));
}

/// The answer of a command: its exit code and its output.
pub struct CommandAnswer {
    exit: Exit,
    /// The document or the text, for standard output.
    printed: String,
    /// Lines for standard error, which follow.
    remarks: Vec<String>,
}

pub type CommandResult = Result<CommandAnswer, EarlyExit>;

impl CommandAnswer {
    /// Makes an answer of a document, and of a text that says the same to people. Only one of them is made.
    pub fn new<D: Serialize>(
        exit: Exit,
        document: impl FnOnce() -> D,
        text: impl FnOnce() -> String,
    ) -> Self {
        CommandAnswer::of_text(exit, render_answer(document, text))
    }

    /// Makes an answer that is the same in both forms.
    pub fn of_text(exit: Exit, printed: impl Into<String>) -> Self {
        CommandAnswer { exit, printed: printed.into(), remarks: Vec::new() }
    }

    /// Adds a line for standard error.
    pub fn remark(&mut self, line: impl Into<String>) {
        self.remarks.push(line.into());
    }

    /// Adds a line for standard error that a document says in other words.
    pub fn note(&mut self, line: impl Into<String>) {
        if !is_json() {
            self.remark(line);
        }
    }

    /// Adds a failure to the answer: its lines, and its exit code if that counts more.
    pub fn worsen(&mut self, early: &EarlyExit) {
        self.exit = self.exit.and(early.exit());
        match early {
            EarlyExit::Refused(found, _) => console::draw(found),
            EarlyExit::Failed(lines, _) => self.remark(lines),
        }
    }

    /// Prints the answer. Returns the exit code.
    pub fn print(self) -> Exit {
        if !self.printed.is_empty() {
            console::print(&self.printed);
        }
        self.remarks.iter().for_each(|line| console::say(line));
        self.exit
    }
}

/// A reason that ends a command before it has an answer.
pub enum EarlyExit {
    /// Findings in what the user wrote.
    Refused(Vec<Diagnostic>, Exit),
    /// Lines that say what the surroundings do not let us do.
    Failed(String, Exit),
}

impl From<Vec<Diagnostic>> for EarlyExit {
    fn from(found: Vec<Diagnostic>) -> Self {
        let exit = exit_of(&found);
        EarlyExit::Refused(found, exit)
    }
}

impl From<Diagnostic> for EarlyExit {
    fn from(found: Diagnostic) -> Self {
        vec![found].into()
    }
}

impl From<Stop> for EarlyExit {
    fn from(stop: Stop) -> Self {
        stop.to_diagnostic().into()
    }
}

/// An error of standard output: a file of the user's has an error with its name.
impl From<io::Error> for EarlyExit {
    fn from(error: io::Error) -> Self {
        EarlyExit::hindered(format_args!("cannot write to standard output: {error}"))
    }
}

impl From<StoreError> for EarlyExit {
    fn from(error: StoreError) -> Self {
        let help = error.help().map_or_else(String::new, |help| format!("\n  help: {help}"));
        let exit = if error.is_mistake() { Exit::Mistakes } else { Exit::Environment };
        EarlyExit::Failed(format!("error: {error}{help}"), exit)
    }
}

impl EarlyExit {
    /// Says what the surroundings do not let us do.
    pub fn hindered(why: impl Display) -> Self {
        EarlyExit::Failed(visible_line(&format!("error: {why}")), Exit::Environment)
    }

    pub fn unwritten(path: &Path, error: &io::Error) -> Self {
        EarlyExit::hindered(format_args!("cannot write {}: {error}", path.display()))
    }

    /// Says that the system has no thread for us.
    pub fn no_thread(error: io::Error) -> Self {
        EarlyExit::hindered(format_args!("cannot start a thread: {error}"))
    }

    pub fn exit(&self) -> Exit {
        let (EarlyExit::Refused(_, exit) | EarlyExit::Failed(_, exit)) = self;
        *exit
    }

    /// Prints what ended the command. Returns the exit code.
    pub fn print(&self) -> Exit {
        let exit = self.exit();
        // A file of another kind explains whatever was found in it.
        let other_kinds = if exit == Exit::Mistakes { files::report_other_kinds() } else { Vec::new() };
        match self {
            EarlyExit::Refused(found, _) => {
                let found = if other_kinds.is_empty() { found } else { &other_kinds };
                if is_json() {
                    console::print(&console::document_text(&make_error_document(exit.code(), found)));
                } else {
                    console::draw(found);
                    console::say(&count_findings(found));
                }
            }
            EarlyExit::Failed(..) if !other_kinds.is_empty() => console::draw(&other_kinds),
            EarlyExit::Failed(lines, _) => console::say(lines),
        }
        exit
    }
}

/// Makes the document of a command that has no answer.
pub fn make_error_document(exit_code: u8, found: &[Diagnostic]) -> Value {
    json!({ "format_version": 1, "exit_code": exit_code, "diagnostics": render::to_json(found) })
}

/// Returns the exit code of findings that end a command: mistakes, unless the budget ended the look at them.
pub fn exit_of(found: &[Diagnostic]) -> Exit {
    let is_stopped = found.iter().any(|diagnostic| says_work_was_stopped(diagnostic.code));
    if is_stopped { Exit::Stopped } else { Exit::Mistakes }
}

/// Counts findings by severity: `1 error, 2 warnings`.
pub fn count_findings(found: &[Diagnostic]) -> String {
    let count = |severity| found.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    match (errors, warnings) {
        (errors, 0) => plural(errors, "error"),
        (0, warnings) => plural(warnings, "warning"),
        (errors, warnings) => format!("{}, {}", plural(errors, "error"), plural(warnings, "warning")),
    }
}
