//! Writes the results for other readers: pictures (DOT, SVG), documents (JSON with SMT-LIB), models (YAML),
//! programs (Python, Rust).
//!
//! Every export reads a [`View`]: one form for the results of all six stages, so that an export never asks
//! which stage it draws. An export is one file here and one line in the list below, from which its name, the
//! extension of its files and the help of the command line follow. All of them are functions of the view
//! alone: the same view gives the same bytes.

pub mod aut;
pub mod code;
pub mod dot;
pub mod equal;
pub mod json;
mod labels;
pub mod layout;
pub mod picture;
pub mod sptg;
pub mod svg;
pub mod tree;
mod view;
pub mod yaml;

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

pub use view::{Mark, ONLINE, View};

type Export = fn(&View<'_>, ExportOptions) -> Result<String, NotWritten>;

macro_rules! exports {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $extension:literal, $export:expr;)*) => {
        /// The forms in which a stage's result can be written.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Format {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Format {
            pub const ALL: [Format; [$($name),*].len()] = [$(Format::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $(Format::$variant => $name,)* }
            }

            pub fn extension(self) -> &'static str {
                match self { $(Format::$variant => $extension,)* }
            }

            fn export(self) -> Export {
                match self { $(Format::$variant => $export,)* }
            }
        }
    };
}

// The one list of exports.
exports! {
    Dot = "dot", "dot", |view, options| Ok(dot::to_dot(view, options));
    Svg = "svg", "svg", |view, options| svg::to_svg(view, options).map_err(NotWritten::TooLarge);
    Json = "json", "json", |view, _| Ok(json::to_json(view));
    /// The same document with each condition as text and as SMT-LIB.
    ReadableJson = "readable-json", "readable.json", |view, _| Ok(json::readable_json(view));
    /// A model that coreach reads back.
    Yaml = "yaml", "yaml", |view, _| Ok(yaml::to_yaml(view));
    /// A labelled transition system, for CADP and mCRL2.
    Aut = "aut", "aut", |view, _| Ok(aut::to_aut(view));
    /// A test case as a program in Python.
    Python = "python", "py", |view, _| Ok(code::python::to_python(view)?);
    Rust = "rust", "rs", |view, _| Ok(code::rust::to_rust(view)?);
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Format {
    /// Is it a form for test cases only?
    pub fn is_program(self) -> bool {
        matches!(self, Format::Python | Format::Rust)
    }
}

/// Why there is no text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotWritten {
    TooLarge(String),
    Unsuited(code::Unsuited),
}

impl From<code::Unsuited> for NotWritten {
    fn from(why: code::Unsuited) -> Self {
        NotWritten::Unsuited(why)
    }
}

impl fmt::Display for NotWritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotWritten::TooLarge(why) => why.fmt(f),
            NotWritten::Unsuited(why) => why.fmt(f),
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Format::ALL.into_iter().find(|format| format.name() == name);
        let names = || Format::ALL.map(Format::name).join(", ");
        found.ok_or_else(|| format!("no format is called `{name}`; there are {}", names()))
    }
}

/// What an export shows besides the graph.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ExportOptions {
    /// Show reach and coreach in pictures, if the stage has them? Documents always have them.
    pub facts: bool,
    /// Leave arrows into Fail out of pictures?
    pub hide_fail: bool,
}

pub fn export(view: &View<'_>, format: Format, options: ExportOptions) -> Result<String, NotWritten> {
    format.export()(view, options)
}
