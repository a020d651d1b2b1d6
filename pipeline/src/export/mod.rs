//! What was made, for other readers: pictures (DOT, SVG), documents (JSON with SMT-LIB), models (YAML).
//!
//! Every export reads a [`View`]: one form for the results of all six stages, so that an export never asks which stage
//! it draws. An export is one file here and one line in the list of [`Format`]s. All of them are functions of the view
//! alone: the same view gives the same bytes.

pub mod dot;
pub mod equal;
pub mod json;
mod labels;
pub mod svg;
mod view;
pub mod yaml;

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

pub use view::{Mark, View};

/// The forms in which a stage's result can be written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    /// A picture as text for Graphviz.
    Dot,
    /// The same picture, drawn; needs Graphviz.
    Svg,
    /// A document for programs.
    Json,
    /// A model that coreach reads back.
    Yaml,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] = [Format::Dot, Format::Svg, Format::Json, Format::Yaml];

    /// Its name, which is also the extension of its files.
    pub fn name(self) -> &'static str {
        match self {
            Format::Dot => "dot",
            Format::Svg => "svg",
            Format::Json => "json",
            Format::Yaml => "yaml",
        }
    }
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
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
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
}

/// The view in a format.
///
/// # Errors
/// [`svg::SvgError`]: only where SVG is asked for.
pub fn export(view: &View<'_>, format: Format, options: Options) -> Result<String, svg::SvgError> {
    match format {
        Format::Dot => Ok(dot::dot(view, options)),
        Format::Svg => svg::svg(&dot::dot(view, options)),
        Format::Json => Ok(json::json(view)),
        Format::Yaml => Ok(yaml::yaml(view)),
    }
}
