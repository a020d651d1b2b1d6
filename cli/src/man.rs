//! The manual pages, one for each command, made of what `--help` says.
//!
//! The library renders names, synopsis and options. What stands behind the options in a help is put into the
//! sections that readers of manual pages look for: every page has the exit codes, its examples as they are
//! typed, and the pages beside it. Nothing in a page depends on the day or the machine, so a release has the
//! same bytes whoever makes it.

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::arguments::Arguments;
use crate::exit::{self, Exit, ExitRow};

/// What a help's examples begin with; all help that has some says it in these words (a test of `arguments.rs`
/// holds that).
const EXAMPLES: &str = "Example:\n";

/// An argument that is there and empty: left out, the version would stand where the date does.
const NO_DATE: &str = "\"\"";

/// A page.
#[derive(Debug)]
pub struct ManualPage {
    /// `coreach-run.1`
    pub file: String,
    /// In the language of `man`.
    pub text: String,
}

/// All of them: the program first, then each command before what is below it.
pub fn pages() -> Vec<ManualPage> {
    // `coreach help run` is `coreach run --help`, and `man coreach-run` is both.
    let mut program = Arguments::command().disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    collect(&program, None, &mut pages);
    pages
}

fn collect(command: &Command, above: Option<&Command>, pages: &mut Vec<ManualPage>) {
    pages.push(page(command, above));
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        collect(below, Some(command), pages);
    }
}

/// `coreach-campaign-merge`
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command, above: Option<&Command>) -> ManualPage {
    let version = format!("coreach {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(version).manual("coreach").date(NO_DATE);
    let mut bytes = Vec::new();
    let rendered = man
        .render_title(&mut bytes)
        .and_then(|()| man.render_name_section(&mut bytes))
        .and_then(|()| man.render_synopsis_section(&mut bytes))
        .and_then(|()| man.render_description_section(&mut bytes))
        .and_then(|()| man.render_options_section(&mut bytes))
        .and_then(|()| match command.has_subcommands() {
            true => man.render_subcommands_section(&mut bytes),
            false => Ok(()),
        });
    assert!(rendered.is_ok(), "writing to memory does not fail");
    let mut roff = Roff::new();
    remarks(command, &mut roff);
    exit_codes(&mut roff);
    examples(command, &mut roff);
    see_also(command, above, &mut roff);
    ManualPage { file: man.get_filename(), text: text(&(String::from_utf8_lossy(&bytes) + &*roff.render())) }
}

/// What was rendered in pieces, as one page.
fn text(pieces: &str) -> String {
    // Each piece begins by defining the apostrophe.
    let preamble = Roff::new().render();
    let text = preamble.clone() + &pieces.replace(&preamble, "");
    // Two breaks around an empty line are what the library has for a line's distance.
    let text = text.replace(".br\n\n.br\n", ".sp\n");
    // Left as they are, these are typeset as quotation marks and accents, and nobody could copy them into a
    // terminal.
    text.replace('`', "\\(ga").replace('~', "\\(ti").replace('^', "\\(ha")
}

/// What the help says behind the options: before its examples, and these.
fn after_help(command: &Command) -> (String, String) {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    match text.split_once(EXAMPLES) {
        Some((remarks, examples)) => (remarks.to_owned(), examples.to_owned()),
        None => (text, String::new()),
    }
}

fn remarks(command: &Command, roff: &mut Roff) {
    let (remarks, _) = after_help(command);
    // The program's are the exit codes, which every page has.
    if remarks.trim().is_empty() || name(command) == "coreach" {
        return;
    }
    roff.control("SH", ["REMARKS"]);
    for (index, line) in remarks.lines().filter(|line| !line.trim().is_empty()).enumerate() {
        if index > 0 {
            roff.control("PP", []);
        }
        roff.text([roman(line.trim())]);
    }
}

fn exit_codes(roff: &mut Roff) {
    roff.control("SH", ["EXIT STATUS"]);
    for ExitRow { exit, says, .. } in Exit::ALL {
        roff.control("TP", []);
        roff.text([bold(exit.code().to_string())]);
        roff.text([roman(says)]);
    }
    roff.control("TP", []);
    let (codes, says, _) = exit::SIGNALS;
    roff.text([bold(codes)]);
    roff.text([roman(says)]);
    roff.control("PP", []);
    roff.text([roman(exit::order())]);
}

fn examples(command: &Command, roff: &mut Roff) {
    let (_, examples) = after_help(command);
    if examples.is_empty() {
        return;
    }
    roff.control("SH", ["EXAMPLES"]);
    roff.control("nf", []);
    for line in examples.lines() {
        roff.text([roman(line.trim())]);
    }
    roff.control("fi", []);
}

fn see_also(command: &Command, above: Option<&Command>, roff: &mut Roff) {
    let others: Vec<&str> = above
        .into_iter()
        .chain(above.into_iter().flat_map(Command::get_subcommands))
        .chain(command.get_subcommands())
        .filter(|other| !other.is_hide_set() && name(other) != name(command))
        .map(name)
        .collect();
    if others.is_empty() {
        return;
    }
    roff.control("SH", ["SEE ALSO"]);
    let mut words = Vec::new();
    for (index, other) in others.iter().enumerate() {
        words.push(bold(*other));
        words.push(roman(if index + 1 < others.len() { "(1), " } else { "(1)" }));
    }
    roff.text(words);
}
