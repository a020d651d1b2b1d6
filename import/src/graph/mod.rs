//! Drawn graphs: what GraphML and GraphWalker's JSON have in common, and the model that it makes.
//!
//! [`mod@label`] takes apart what stands at edges and vertices; [`mod@build`] makes a model.

pub mod build;
pub mod label;
mod places;

use std::ops::Range;

use coreach_model::ActionKind;

use crate::expression::Dialect;
use crate::piece::Piece;

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
    /// What is done before it begins: the model, and the statements.
    pub first: Vec<(usize, Piece)>,
    /// The language of its guards and actions.
    pub dialect: Dialect,
    /// What an edge is of which nobody says it.
    pub otherwise: Option<ActionKind>,
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
