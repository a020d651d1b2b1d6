//! Imports models of other tools: turns foreign text into a specification.
//!
//! Each format has a file or a folder. [`expression`] reads the small languages of guards and actions that
//! three formats have. [`graph`] makes a model of a drawn graph. [`mod@finish`] checks and writes it.
//!
//! **Promise.** The result is a specification that `coreach check` accepts, or there is no result. It has the
//! meaning of the foreign model. The findings name every difference, also names that had to change. A guard
//! or an action that the model format cannot express is a mistake, unless the user asks to leave it out. A
//! function that reads or translates a part returns `None` after a mistake, which it has reported.
//!
//! This crate has no solver, no files (it turns a text into a text), and no printing.

#![allow(missing_docs, reason = "a comment that repeats a name says nothing")]

pub mod aut;
pub mod aut_purpose;
pub mod directions;
pub mod expression;
pub mod finish;
pub mod graph;
pub mod graphml;
pub mod graphwalker;
mod json;

mod names;
pub mod options;
pub mod piece;
pub mod xlia;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use coreach_model::budget;
use coreach_model::diagnostic::{Diagnostic, SourceFile, nearest};
use coreach_model::reader::collect::Collector;

pub use aut_purpose::import_purpose;
use finish::Model;
pub use options::{FirstValues, LIMIT, Options, Untranslated, Vertices};

/// The largest foreign file, in bytes.
pub const LARGEST: u64 = 64 << 20;

/// A format's reader. It returns the model, if there is one, and puts findings into the collector.
type FormatReader = fn(&mut Collector, &Options) -> Option<Model>;

macro_rules! formats {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $description:literal, $read:expr;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum ForeignFormat {
            $($(#[doc = $doc])* $variant,)*
        }

        impl ForeignFormat {
            pub const ALL: [ForeignFormat; [$($name),*].len()] = [$(ForeignFormat::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $(ForeignFormat::$variant => $name,)* }
            }

            pub fn describe(self) -> &'static str {
                match self { $(ForeignFormat::$variant => $description,)* }
            }

            fn reader(self) -> FormatReader {
                match self { $(ForeignFormat::$variant => $read,)* }
            }
        }
    };
}

// The one list of formats.
formats! {
    /// Labelled transition systems of CADP and mCRL2.
    Aut = "aut", "Aldebaran, of CADP and mCRL2", aut::read;
    Graphml = "graphml", "GraphML, of yEd and others", graphml::read;
    Graphwalker = "graphwalker", "GraphWalker's JSON", graphwalker::read;
    /// State machines of the Diversity platform.
    Xlia = "xlia", "XLIA, of Diversity", xlia::read;
}

impl fmt::Display for ForeignFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ForeignFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = ForeignFormat::ALL.map(ForeignFormat::name);
        let help = || match nearest(name, names) {
            Some(similar) => format!("did you mean {similar}?"),
            None => format!("there are {}", names.join(", ")),
        };
        let found = ForeignFormat::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| format!("no format is called `{name}`; {}", help()))
    }
}

/// Skips the comments at the beginning of a text. A comment that does not end is not skipped.
fn skip_comments(text: &str) -> &str {
    let mut text = text.trim_start();
    loop {
        let split = match (text.strip_prefix("//"), text.strip_prefix("/*")) {
            (Some(comment), _) => comment.split_once('\n'),
            (None, Some(comment)) => comment.split_once("*/"),
            (None, None) => None,
        };
        let Some((_, after_comment)) = split else { return text };
        text = after_comment.trim_start();
    }
}

/// Finds the format of a file by its name, or else by its beginning.
pub fn detect(name: &str, text: &str) -> Option<ForeignFormat> {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    let start = skip_comments(text.trim_start_matches('\u{feff}'));
    match ending.as_str() {
        "aut" => Some(ForeignFormat::Aut),
        "graphml" => Some(ForeignFormat::Graphml),
        "xlia" => Some(ForeignFormat::Xlia),
        _ if start.strip_prefix("des").is_some_and(|rest| rest.trim_start().starts_with('(')) => {
            Some(ForeignFormat::Aut)
        }
        _ if start.starts_with('<') && start.contains("<graphml") => Some(ForeignFormat::Graphml),
        _ if start.starts_with("@xlia") || start.starts_with("@FML") => Some(ForeignFormat::Xlia),
        _ if start.starts_with(['{', '[']) && start.contains("\"models\"") => {
            Some(ForeignFormat::Graphwalker)
        }
        _ => None,
    }
}

/// Reads a foreign model and writes it as a specification. Warns of all differences.
///
/// # Errors
/// All mistakes, reached limits and warnings, in the order of the file.
pub fn import(
    file: Arc<SourceFile>,
    format: Option<ForeignFormat>,
    options: &Options,
) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut collector = Collector::new(file.clone());
    let Some(format) = format.or_else(|| detect(&file.name, &file.text)) else {
        let names = ForeignFormat::ALL.map(|format| format!("{} ({})", format.name(), format.describe()));
        let message = format!("the format of {} is not known", file.name);
        let help = format!("name it with --from: {}", names.join(", "));
        return Err(vec![Diagnostic::error("unknown-format", message).help(help)]);
    };
    budget::doing("reading a foreign model");
    let model = format.reader()(&mut collector, options).filter(|_| collector.errors() == 0);
    let text = model.and_then(|model| finish::finish(&mut collector, options, model));
    collector.ended(text)
}
