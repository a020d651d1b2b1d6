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
pub enum ColorWhen {
    #[default]
    Auto,
    Always,
    Never,
}

/// What the command line says of colours.
static COLOR: AtomicU8 = AtomicU8::new(ColorWhen::Auto as u8);

/// Sets when there are colours, from now on.
pub fn set_color(when: ColorWhen) {
    COLOR.store(when as u8, Ordering::Relaxed);
}

/// Whether the user wants to know more.
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Says whether more is to be told: kinds of values, buckets, queries.
pub fn is_verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// Tells from now on what is done, with the time since this call.
pub fn tell_what_is_done() {
    VERBOSE.store(true, Ordering::Relaxed);
    let begun = Instant::now();
    journal::listen(Box::new(move |what| {
        say(&format!("[{:.3} s] {what}", begun.elapsed().as_secs_f64()));
    }));
}

/// Standard output. If it takes no more, nothing more is told, but the command goes on: its exit code and its
/// files are part of the answer. So writing never fails. At the end, [`take_write_error`] says why something
/// was not written.
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

/// Returns why something was not written to standard output. A closed pipe is no error: its reader has read
/// what was wanted.
pub fn take_write_error() -> Option<io::Error> {
    let lost = lock(&LOST).take();
    lost.filter(|error| error.kind() != ErrorKind::BrokenPipe)
}

/// Prints data to standard output. Documents and models have escapes of their own for hidden signs, so they
/// do not change here. An error is reported at the end ([`take_write_error`]).
pub fn print(text: &str) {
    StandardOutput::write_or_note(|mut stdout| {
        stdout.write_all(visible(text).as_bytes())?;
        stdout.flush()
    });
}

/// Returns a document as it is printed.
pub fn document_text(document: &impl serde::Serialize) -> String {
    // This fails only for keys that are no texts, and our documents have none.
    let text = serde_json::to_string_pretty(document).unwrap_or_default();
    format!("{}\n", visible_json(&text))
}

/// Writes a line to standard error, with every sign made visible. An error is ignored: there is no other
/// place to report it.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", visible(text));
}

/// Returns the style for standard error. If the command line does not say it, there are colours only on a
/// terminal, and not under `NO_COLOR`. The width is that of `COLUMNS`, if it is set.
pub fn style() -> Style {
    let terminal = io::stderr().is_terminal();
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = if terminal { width.unwrap_or(100).clamp(40, 200) } else { Style::PLAIN.width };
    let when = COLOR.load(Ordering::Relaxed);
    let is_automatic = when == ColorWhen::Auto as u8;
    let color = when == ColorWhen::Always as u8 || is_automatic && terminal && !is_refused;
    Style { color, width }
}

/// Returns how many columns standard output has: what `COLUMNS` says, or what the terminal says. If it is no
/// terminal, there are always 120, so that a file is the same everywhere.
pub fn output_width() -> u16 {
    const NO_TERMINAL: u16 = 120;
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return NO_TERMINAL;
    }
    let width_of_variable = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width_of_terminal =
        || rustix::termios::tcgetwinsize(&stdout).ok().map(|size| size.ws_col).filter(|width| *width > 0);
    width_of_variable.or_else(width_of_terminal).unwrap_or(NO_TERMINAL).max(40)
}

/// Draws findings on the user's own text.
pub fn draw(diagnostics: &[Diagnostic]) {
    if !diagnostics.is_empty() {
        // The colours are ours. The renderer has made all text of the user visible.
        let _ = writeln!(io::stderr().lock(), "{}", render(diagnostics, style()));
    }
}
