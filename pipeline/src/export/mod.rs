//! What was made, for other readers: pictures (DOT, SVG, PlantUML), documents (JSON with SMT-LIB), models (YAML).
//!
//! Every export reads a [`View`]: one form for the results of all six stages, so that an export never asks which stage
//! it draws. An export is one file here and one line in the list below, from which its name, the extension of its files
//! and the help of the command line follow. All of them are functions of the view alone: the same view gives the same bytes.

pub mod aut;
pub mod dot;
pub mod equal;
pub mod json;
mod labels;
pub mod layout;
pub mod picture;
pub mod puml;
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

/// What an export does.
type Export = fn(&View<'_>, Options) -> Result<String, picture::TooLarge>;

macro_rules! exports {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $export:expr;)*) => {
        /// The forms in which a stage's result can be written.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Format {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Format {
            /// All of them.
            pub const ALL: [Format; [$($name),*].len()] = [$(Format::$variant),*];

            /// Its name, which is also the extension of its files.
            pub fn name(self) -> &'static str {
                match self { $(Format::$variant => $name,)* }
            }

            fn export(self) -> Export {
                match self { $(Format::$variant => $export,)* }
            }
        }
    };
}

// The one list of exports.
exports! {
    /// A picture as text for Graphviz.
    Dot = "dot", |view, options| Ok(dot::dot(view, options));
    /// The same picture, drawn.
    Svg = "svg", svg::svg;
    /// A state diagram for PlantUML.
    Puml = "puml", |view, _| Ok(puml::puml(view));
    /// A document for programs.
    Json = "json", |view, _| Ok(json::json(view));
    /// A model that coreach reads back.
    Yaml = "yaml", |view, _| Ok(yaml::yaml(view));
    /// A labelled transition system, for CADP and mCRL2.
    Aut = "aut", |view, _| Ok(aut::aut(view));
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no format of this name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownFormat(pub String);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Format::ALL.map(Format::name);
        write!(f, "no format is called `{}`; there are {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownFormat {}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let found = Format::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// What an export shows beside the graph.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Show reach and coreach in pictures, where the stage has them. Documents always have them.
    pub facts: bool,
    /// What pictures leave out.
    pub hidden: picture::Hidden,
}

/// The view in a format.
///
/// # Errors
/// [`picture::TooLarge`]: only where SVG is asked for.
pub fn export(view: &View<'_>, format: Format, options: Options) -> Result<String, picture::TooLarge> {
    format.export()(view, options)
}
