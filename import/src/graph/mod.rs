//! Drawn graphs: the common form of GraphML and GraphWalker's JSON, and the model that is made of it.
//!
//! [`mod@label`] reads the labels of edges and vertices. [`mod@build`] makes a model.

pub mod build;
pub mod label;
mod places;

use std::collections::HashSet;
use std::ops::Range;

use coreach_model::diagnostic::{Diagnostic, Origin, nearest};
use coreach_model::reader::collect::{Collector, inventory, listed};

use crate::expression::Dialect;
use crate::piece::Piece;
use crate::{Options, Vertices};

#[derive(Debug)]
pub struct Drawing {
    pub name: Option<String>,
    /// The names of its models: each has variables of its own.
    pub models: Vec<String>,
    pub vertices: Vec<Vertex>,
    pub edges: Vec<GraphEdge>,
    pub start: Start,
    /// Is the first vertex only a sign of the drawing, so that the system is never there?
    pub start_is_a_sign: bool,
    /// Statements that are done before the graph begins, each with the number of its model.
    pub initial_statements: Vec<(usize, Piece)>,
    /// The language of its guards and actions.
    pub dialect: Dialect,
    /// An edge without a direction is an input. In other formats that is assumed with a warning.
    pub edges_are_inputs: bool,
}

impl Drawing {
    pub fn new(models: Vec<String>, dialect: Dialect) -> Self {
        Drawing {
            name: None,
            models,
            vertices: Vec::new(),
            edges: Vec::new(),
            start: Start::Vertex(0),
            start_is_a_sign: false,
            initial_statements: Vec::new(),
            edges_are_inputs: dialect == Dialect::JavaScript,
            dialect,
        }
    }

    /// Is entering the vertex an output?
    pub fn is_seen(&self, options: &Options, number: usize) -> bool {
        let is_sign = self.start_is_a_sign && self.start == Start::Vertex(number);
        options.vertices == Vertices::Outputs && !is_sign && !self.vertices[number].name.is_empty()
    }

    /// Finds the vertex that `--initial` names by its name, or else by its identifier.
    pub fn find_named(&self, wanted: &str) -> Result<usize, Box<Diagnostic>> {
        let by_name = self.vertices.iter().position(|vertex| vertex.name.text == wanted);
        let by_id = || self.vertices.iter().position(|vertex| vertex.id == wanted);
        by_name.or_else(by_id).ok_or_else(|| {
            let names = || self.vertices.iter().map(Vertex::display_name);
            let message = format!("--initial names `{wanted}`, but no node has this name");
            let help = match nearest(wanted, names().take(1_000)) {
                Some(similar) => format!("did you mean `{similar}`?"),
                None => inventory("nodes", names()),
            };
            Box::new(Diagnostic::error("unknown-name", message).help(help))
        })
    }

    pub fn first_edge(&self) -> Option<&GraphEdge> {
        match self.start {
            Start::Edge(number) => self.edges.get(number),
            Start::Vertex(_) => None,
        }
    }

    /// Returns an edge's source if a path can be there only once, before this edge. Then no other edge
    /// touches it, no other model shares it, and no guard can stop the edge.
    pub fn only_leads_to(&self, edge: &GraphEdge) -> Option<usize> {
        let source = edge.source.filter(|source| {
            let touches = |edge: &&GraphEdge| edge.source == Some(*source) || edge.target == *source;
            self.edges.iter().filter(touches).count() == 1 && self.vertices[*source].shared.is_none()
        });
        source.filter(|_| edge.label.guard.is_none())
    }

    /// Begins at the only vertex that no other enters, with a warning. If there is no single one, reports
    /// that and returns `None`. `help` says how to give another.
    pub fn begin_at_the_source(
        &mut self,
        collector: &mut Collector,
        message: &str,
        place: Option<Origin>,
        help: &str,
    ) -> Option<()> {
        let enters = |edge: &&GraphEdge| edge.source != Some(edge.target);
        let entered: HashSet<usize> = self.edges.iter().filter(enters).map(|edge| edge.target).collect();
        let free: Vec<usize> = (0..self.vertices.len()).filter(|number| !entered.contains(number)).collect();
        if let [number] = free.as_slice() {
            self.start = Start::Vertex(*number);
            let message = format!("{message}: coreach takes the only vertex that no other one leads to");
            let origin = collector.origin(&self.vertices[*number].span);
            let diagnostic = Diagnostic::warning("no-start", message).at(origin, "it begins here");
            collector.push(diagnostic.help("name another one with --initial"));
            return Some(());
        }
        let diagnostic = Diagnostic::error("no-start", message).at(place, "no beginning found");
        let diagnostic = match free.as_slice() {
            [] => diagnostic.note("an edge from another vertex leads to every vertex"),
            _ => {
                let names = free.iter().map(|number| self.vertices[*number].display_name());
                diagnostic.note(format!("no edge from another vertex leads to {}", listed(names)))
            }
        };
        collector.push(diagnostic.help(help));
        None
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    Vertex(usize),
    /// The graph begins with this edge, whatever its guard is. It may have no source.
    Edge(usize),
}

#[derive(Debug)]
pub struct Vertex {
    pub id: String,
    pub name: Piece,
    pub span: Range<usize>,
    pub model: usize,
    /// The name under which it is the same state as vertices of other models.
    pub shared: Option<String>,
}

impl Vertex {
    pub fn display_name(&self) -> &str {
        if self.name.is_empty() { &self.id } else { &self.name.text }
    }
}

#[derive(Debug)]
pub struct GraphEdge {
    /// The source. An edge with which the graph begins may have none.
    pub source: Option<usize>,
    pub target: usize,
    pub label: label::Label,
    pub span: Range<usize>,
    pub model: usize,
}
