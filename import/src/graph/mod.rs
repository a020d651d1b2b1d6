//! Drawn graphs: what GraphML and GraphWalker's JSON have in common, and the model that it makes.
//!
//! [`mod@label`] takes apart what stands at edges and vertices; [`mod@build`] makes a model.

pub mod build;
pub mod label;
mod places;

use std::collections::HashSet;
use std::ops::Range;

use coreach_model::ActionKind;
use coreach_model::diagnostic::{Diagnostic, nearest};
use coreach_model::reader::collect::inventory;

use crate::expression::Dialect;
use crate::piece::Piece;
use crate::{Options, Vertices};

/// A graph, as its format has it.
#[derive(Debug)]
pub struct Drawing {
    /// The whole's name, where it has one.
    pub name: Option<String>,
    /// The names of its models: each has variables of its own.
    pub models: Vec<String>,
    /// The vertices of all of them.
    pub vertices: Vec<Vertex>,
    /// The edges of all of them.
    pub edges: Vec<Edge>,
    /// Where it begins.
    pub start: Start,
    /// The vertex where it begins is a sign of the drawing: the system is never there, and nobody sees it.
    pub start_is_a_sign: bool,
    /// What is done before it begins: the model, and the statements.
    pub first: Vec<(usize, Piece)>,
    /// The language of its guards and actions.
    pub dialect: Dialect,
    /// What an edge is of which nobody says it.
    pub otherwise: Option<ActionKind>,
}

impl Drawing {
    /// Whether the vertex is an output, when it is entered.
    pub fn is_seen(&self, options: &Options, number: usize) -> bool {
        let is_sign = self.start_is_a_sign && self.start == Start::Vertex(number);
        options.vertices == Vertices::Outputs && !is_sign && !self.vertices[number].name.is_empty()
    }

    /// The vertex that `--initial` names, by its name or else by its identifier.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn named(&self, wanted: &str) -> Result<usize, Box<Diagnostic>> {
        let by_name = self.vertices.iter().position(|vertex| vertex.name.text == wanted);
        let by_id = || self.vertices.iter().position(|vertex| vertex.id == wanted);
        by_name.or_else(by_id).ok_or_else(|| {
            // A vertex without a name is called by its identifier.
            let called = || {
                self.vertices.iter().map(|vertex| match vertex.name.text.as_str() {
                    "" => vertex.id.as_str(),
                    name => name,
                })
            };
            let message = format!("--initial names `{wanted}`, and no node is called so");
            let near = nearest(wanted, called().take(1_000));
            let help =
                near.map_or_else(|| inventory("nodes", called()), |near| format!("did you mean `{near}`?"));
            Box::new(Diagnostic::error("unknown-name", message).help(help))
        })
    }

    /// The only vertex that nothing enters, or the only one.
    pub fn source(&self) -> Option<usize> {
        let entered: HashSet<usize> = self.edges.iter().map(|edge| edge.target).collect();
        let mut free = (0..self.vertices.len()).filter(|number| !entered.contains(number));
        match (free.next(), free.next()) {
            (Some(number), None) => Some(number),
            (None, _) if self.vertices.len() == 1 => Some(0),
            _ => None,
        }
    }
}

/// Where a graph begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// At a vertex.
    Vertex(usize),
    /// With an edge, which need not have a source.
    Edge(usize),
}

/// A vertex.
#[derive(Debug)]
pub struct Vertex {
    /// Its identifier in the file.
    pub id: String,
    /// What it is called; perhaps nothing.
    pub name: Piece,
    /// Where it stands.
    pub span: Range<usize>,
    /// Its model.
    pub model: usize,
    /// The name under which it is one with vertices of other models.
    pub shared: Option<String>,
}

/// An edge.
#[derive(Debug)]
pub struct Edge {
    /// Where from; none of an edge with which the graph begins.
    pub source: Option<usize>,
    /// Where to.
    pub target: usize,
    /// What stands at it.
    pub label: label::Label,
    /// Where it stands.
    pub span: Range<usize>,
    /// Its model.
    pub model: usize,
}
