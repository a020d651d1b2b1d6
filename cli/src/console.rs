//! Where words go: data to standard output, everything else to standard error.

use std::io::{self, ErrorKind, IsTerminal, StdoutLock, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Instant;

use clap::ValueEnum;

use coreach_model::lock::lock;
use coreach_model::{Diagnostic, journal};
use coreach_project::render::{Style, render};

use crate::visible::{visible, visible_json};

/// When there are colours.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
#[repr(u8)]
#[expect(missing_docs, reason = "clap would print documented values at length")]
pub enum ColorWhen {
    #[default]
    Auto,
    Always,
    Never,
}

impl ColorWhen {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ColorWhen::Auto => "auto",
            ColorWhen::Always => "always",
            ColorWhen::Never => "never",
        }
    }
}

/// What the command line says of colours.
static COLOR: AtomicU8 = AtomicU8::new(ColorWhen::Auto as u8);

/// What the command line says of colours, for all that is said from now on.
pub fn color(when: ColorWhen) {
    COLOR.store(when as u8, Ordering::Relaxed);
}

/// Whether the user wants to know more.
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Is more to be told: kinds of values, buckets, queries?
pub fn is_verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// From now on, what is done is said, with the time since now.
pub fn tell_what_is_done() {
    VERBOSE.store(true, Ordering::Relaxed);
    let begun = Instant::now();
    journal::listen(Box::new(move |what| {
        say(&format!("[{:.3} s] {what}", begun.elapsed().as_secs_f64()));
    }));
}

/// Standard output. That it takes no more ends what is told and nothing else: the command goes on to its
/// answer, which is its exit code and what it writes elsewhere. So writing never fails; [`unwritten`] says
/// at the end why something was not.
#[derive(Clone, Copy, Debug)]
pub struct StandardOutput;

/// Why standard output takes no more.
static LOST: Mutex<Option<io::Error>> = Mutex::new(None);

impl StandardOutput {
    fn write_or_note(work: impl FnOnce(StdoutLock<'_>) -> io::Result<()>) {
        let mut lost = lock(&LOST);
        if lost.is_none() {
            *lost = work(io::stdout().lock()).err();
        }
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        StandardOutput::write_or_note(|mut stdout| stdout.write_all(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        StandardOutput::write_or_note(|mut stdout| stdout.flush());
        Ok(())
    }
}

/// Why something was not written to standard output, if that is nobody's wish: who closed the pipe has read
/// what was wanted.
pub fn unwritten() -> Option<io::Error> {
    let lost = lock(&LOST).take();
    lost.filter(|error| error.kind() != ErrorKind::BrokenPipe)
}

/// Data, to standard output. Documents and models have their hidden signs in escapes of their own, so nothing
/// of them changes here. What cannot be written is told at the end ([`unwritten`]).
pub fn print(text: &str) {
    StandardOutput::write_or_note(|mut stdout| {
        stdout.write_all(visible(text).as_bytes())?;
        stdout.flush()
    });
}

/// A document, to standard output.
pub fn print_json(document: &impl serde::Serialize) {
    print(&json(document));
}

/// A document as it is printed.
pub fn json(document: &impl serde::Serialize) -> String {
    // Our documents have no keys that are no texts, which alone could fail.
    let text = serde_json::to_string_pretty(document).unwrap_or_default();
    format!("{}\n", visible_json(&text))
}

/// A line for the person before the screen, who sees every sign of it. Nobody can be told if it cannot be
/// written.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", visible(text));
}

/// What suits the standard error stream: where the command line does not say it, no colours under `NO_COLOR`
/// or where it is not a terminal; the width from `COLUMNS`, where it is set.
pub fn style() -> Style {
    let terminal = io::stderr().is_terminal();
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = if terminal { width.unwrap_or(100).clamp(40, 200) } else { Style::PLAIN.width };
    let said = COLOR.load(Ordering::Relaxed);
    let color = said == ColorWhen::Always as u8 || said == ColorWhen::Auto as u8 && terminal && !refused;
    Style { color, width }
}

/// How many columns standard output has: those of the terminal, or what `COLUMNS` says of it. 120 where it is
/// no terminal, whatever the surroundings are, so that a file says the same everywhere.
pub fn width() -> u16 {
    const NO_TERMINAL: u16 = 120;
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return NO_TERMINAL;
    }
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let asked =
        || rustix::termios::tcgetwinsize(&stdout).ok().map(|size| size.ws_col).filter(|width| *width > 0);
    said.or_else(asked).unwrap_or(NO_TERMINAL).max(40)
}

/// Findings, drawn on the user's own text.
pub fn draw(diagnostics: &[Diagnostic]) {
    if !diagnostics.is_empty() {
        // The colours are ours; what is the user's has been made visible piece by piece.
        let _ = writeln!(io::stderr().lock(), "{}", render(diagnostics, style()));
    }
}
