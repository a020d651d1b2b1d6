//! Drawn graphs: what GraphML and GraphWalker's JSON have in common, and the model that it makes.
//!
//! [`mod@label`] takes apart what stands at edges and vertices; [`mod@build`] makes a model.

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
    pub edges: Vec<Edge>,
    pub start: Start,
    /// The vertex where it begins is a sign of the drawing: the system is never there, and nobody sees it.
    pub start_is_a_sign: bool,
    /// What is done before it begins: the model, and the statements.
    pub first: Vec<(usize, Piece)>,
    /// The language of its guards and actions.
    pub dialect: Dialect,
    /// In this format an edge is an input, where nothing else is said. Elsewhere that is assumed, and told.
    pub edges_are_inputs: bool,
}

impl Drawing {
    /// Makes an empty drawing.
    pub fn new(models: Vec<String>, dialect: Dialect) -> Self {
        Drawing {
            name: None,
            models,
            vertices: Vec::new(),
            edges: Vec::new(),
            start: Start::Vertex(0),
            start_is_a_sign: false,
            first: Vec::new(),
            edges_are_inputs: dialect == Dialect::JavaScript,
            dialect,
        }
    }

    /// Whether the vertex is an output, when it is entered.
    pub fn is_seen(&self, options: &Options, number: usize) -> bool {
        let is_sign = self.start_is_a_sign && self.start == Start::Vertex(number);
        options.vertices == Vertices::Outputs && !is_sign && !self.vertices[number].name.is_empty()
    }

    /// The vertex that `--initial` names, by its name or else by its identifier.
    pub fn find_named(&self, wanted: &str) -> Result<usize, Box<Diagnostic>> {
        let by_name = self.vertices.iter().position(|vertex| vertex.name.text == wanted);
        let by_id = || self.vertices.iter().position(|vertex| vertex.id == wanted);
        by_name.or_else(by_id).ok_or_else(|| {
            let called = || self.vertices.iter().map(Vertex::called);
            let message = format!("--initial names `{wanted}`, and no node is called so");
            let near = nearest(wanted, called().take(1_000));
            let help =
                near.map_or_else(|| inventory("nodes", called()), |near| format!("did you mean `{near}`?"));
            Box::new(Diagnostic::error("unknown-name", message).help(help))
        })
    }

    pub fn first_edge(&self) -> Option<&Edge> {
        match self.start {
            Start::Edge(number) => self.edges.get(number),
            Start::Vertex(_) => None,
        }
    }

    /// The source of an edge, if that is there for this edge alone: whoever is there takes it, once.
    pub fn only_leads_to(&self, edge: &Edge) -> Option<usize> {
        let source = edge.source.filter(|source| {
            let touches = |edge: &&Edge| edge.source == Some(*source) || edge.target == *source;
            self.edges.iter().filter(touches).count() == 1 && self.vertices[*source].shared.is_none()
        });
        source.filter(|_| edge.label.guard.is_none())
    }

    /// Begins at the only vertex that no other enters, and tells it; `message` says that nothing says where
    /// it begins, `help` how to say it.
    pub fn begin_at_the_source(
        &mut self,
        collector: &mut Collector,
        message: &str,
        place: Option<Origin>,
        help: &str,
    ) -> Option<()> {
        let enters = |edge: &&Edge| edge.source != Some(edge.target);
        let entered: HashSet<usize> = self.edges.iter().filter(enters).map(|edge| edge.target).collect();
        let free: Vec<usize> = (0..self.vertices.len()).filter(|number| !entered.contains(number)).collect();
        if let [number] = free.as_slice() {
            self.start = Start::Vertex(*number);
            let message = format!("{message}: it is the only vertex that no other enters");
            let origin = collector.origin(&self.vertices[*number].span);
            let found = Diagnostic::warning("no-start", message).at(origin, "it begins here");
            collector.push(found.help("--initial names another"));
            return Some(());
        }
        let found = Diagnostic::error("no-start", message).at(place, "nothing in it is the beginning");
        let found = match free.as_slice() {
            [] => found.note("every vertex is entered from another"),
            _ => {
                let names = free.iter().map(|number| self.vertices[*number].called());
                found.note(format!("no other vertex enters {}", listed(names)))
            }
        };
        collector.push(found.help(help));
        None
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    Vertex(usize),
    /// With an edge, which need not have a source. It is taken once before all others, whatever its guard
    /// says.
    Edge(usize),
}

#[derive(Debug)]
pub struct Vertex {
    pub id: String,
    pub name: Piece,
    pub span: Range<usize>,
    pub model: usize,
    /// The name under which it is one with vertices of other models.
    pub shared: Option<String>,
}

impl Vertex {
    /// Its name; one without a name is called by its identifier.
    pub fn called(&self) -> &str {
        if self.name.is_empty() { &self.id } else { &self.name.text }
    }
}

#[derive(Debug)]
pub struct Edge {
    /// Where from; none of an edge with which the graph begins.
    pub source: Option<usize>,
    pub target: usize,
    pub label: label::Label,
    pub span: Range<usize>,
    pub model: usize,
}
