//! Reads GraphWalker's JSON: models of vertices and edges, with guards and actions in JavaScript.
//!
//! A file has `models`. Each model has `vertices`, `edges`, `startElementId` and the `actions` that are done
//! before it begins. [`crate::graph::build`] describes their meaning. An edge without a direction is an
//! input: in GraphWalker an edge is something that the tester does, and a vertex is something that it checks.
//!
//! **Not taken over**: the generation of paths (`generator`, `weight`, `dependency`, ...), `requirements`,
//! and the places in the drawing (`properties`). The first two are warned of, once for each key.

use std::collections::BTreeMap;
use std::ops::Range;

use coreach_model::diagnostic::{Diagnostic, nearest};
use coreach_model::reader::collect::Collector;

use crate::expression::Dialect;
use crate::expression::lexer::split_tokens;
use crate::finish::Model;
use crate::graph::label::{Label, read_event};
use crate::graph::{Drawing, GraphEdge, Start, Vertex, build};
use crate::json::{Json, JsonValue, parse};
use crate::options::{Options, Untranslated, report_too_many};
use crate::piece::Piece;

/// Keys that are read. Keys in `SILENT` are skipped without a warning.
const MODEL: [&str; 6] = ["id", "name", "startElementId", "actions", "vertices", "edges"];
const VERTEX: [&str; 4] = ["id", "name", "sharedState", "actions"];
const EDGE: [&str; 6] = ["id", "name", "sourceVertexId", "targetVertexId", "guard", "actions"];
const SILENT: [&str; 3] = ["properties", "editor", "selectedModelIndex"];

/// Keys of GraphWalker that are warned of once: they say nothing about behaviour.
const FOREIGN: [&str; 6] =
    ["generator", "weight", "dependency", "requirements", "predefinedPathEdgeIds", "selectedElementId"];

/// Reads a file of GraphWalker.
pub fn read(collector: &mut Collector, options: &Options) -> Option<Model> {
    let file = collector.file.clone();
    let text = file.text.strip_prefix('\u{feff}').unwrap_or(&file.text);
    let json = match parse(text, file.text.len() - text.len()) {
        Ok(json) => json,
        Err((message, span)) => {
            collector.error("syntax", message, &span, "here");
            return None;
        }
    };
    let drawing = Drawing::new(Vec::new(), Dialect::JavaScript);
    let mut reader = GraphwalkerReader {
        collector,
        options,
        foreign: BTreeMap::new(),
        edges: Vec::new(),
        from_nowhere: Vec::new(),
        drawing,
    };
    reader.read_file(&json)?;
    reader.leave_out_edges_never_taken();
    let GraphwalkerReader { foreign, drawing, .. } = reader;
    for (key, (count, span)) in foreign {
        let message =
            format!("`{key}` describes path generation or requirements, not the behaviour of the system");
        let diagnostic = Diagnostic::warning("not-taken", message).at(collector.origin(&span), "ignored");
        collector.push(match count {
            1 => diagnostic,
            _ => diagnostic.note(format!("it appears {count} times in the file")),
        });
    }
    build::build(collector, options, &drawing)
}

struct GraphwalkerReader<'a> {
    collector: &'a mut Collector,
    options: &'a Options,
    /// How often each of these keys is there, and its first place.
    foreign: BTreeMap<String, (usize, Range<usize>)>,
    /// The identifiers of the edges.
    edges: Vec<String>,
    /// The numbers of the edges without a source, with their places.
    from_nowhere: Vec<(usize, Range<usize>)>,
    drawing: Drawing,
}

impl GraphwalkerReader<'_> {
    /// Reads all models, and finds the beginning.
    fn read_file(&mut self, json: &Json) -> Option<()> {
        self.check_keys(json, &["name", "models"], "a GraphWalker file");
        self.drawing.name =
            self.read_text(json, "name").map(|piece| piece.text).filter(|name| !name.is_empty());
        let Some(models) = self.read_list(json, "models") else {
            let what = json.describe();
            if json.get("models").is_none() {
                let message = format!("expected an object with `models`, found {what}");
                let head = json.span.start..json.span.end.min(json.span.start + 1);
                self.collector.error("missing-key", message, &head, "`models` is missing");
            }
            return None;
        };
        // The beginning of a model may be in another model of the file. So all beginnings are read first.
        let mut starts: Vec<(usize, Piece)> = Vec::new();
        for (number, model) in models.iter().enumerate() {
            let start = self.read_text(model, "startElementId").filter(|start| !start.is_empty());
            starts.extend(start.map(|start| (number, start)));
        }
        for (number, model) in models.iter().enumerate() {
            if self.collector.is_full() {
                return None;
            }
            self.read_model(number, model)?;
        }
        if let Some(wanted) = &self.options.initial {
            let named = self.drawing.find_named(wanted);
            let number = named.map_err(|diagnostic| self.collector.push(*diagnostic)).ok()?;
            self.drawing.start = Start::Vertex(number);
            return Some(());
        }
        let Some((model, start)) = starts.first().cloned() else {
            return self.begin_at_the_source(json);
        };
        // Identifiers may be used in several models. The model that names the beginning comes first.
        let (vertices, edges) = (&self.drawing.vertices, &self.drawing.edges);
        let vertex = (0..vertices.len())
            .filter(|number| vertices[*number].id == start.text)
            .min_by_key(|number| vertices[*number].model != model);
        let edge = (0..edges.len())
            .filter(|number| self.edges[*number] == start.text)
            .min_by_key(|number| edges[*number].model != model);
        self.drawing.start = match (vertex, edge) {
            (Some(vertex), _) => Start::Vertex(vertex),
            (None, Some(edge)) => Start::Edge(edge),
            (None, None) => {
                let known = vertices.iter().map(|vertex| vertex.id.as_str()).take(1_000);
                let help = nearest(&start.text, known).map(|similar| format!("did you mean `{similar}`?"));
                let message = format!("nothing has the identifier `{}`", start.text);
                let diagnostic = Diagnostic::error("unknown-id", message)
                    .at(self.collector.origin(&start.full_range()), "it begins here");
                self.collector.push(Diagnostic { help, ..diagnostic });
                return None;
            }
        };
        for (_, other) in starts.iter().skip(1) {
            let message =
                "coreach begins in the first model that names a beginning; shared states lead to the others";
            let diagnostic = Diagnostic::warning("second-start", message);
            self.collector.push(diagnostic.at(self.collector.origin(&other.full_range()), "ignored"));
        }
        Some(())
    }

    /// Begins at the only edge without a source, or else as a drawing does.
    fn begin_at_the_source(&mut self, json: &Json) -> Option<()> {
        let message = "no model names its beginning";
        if let [(number, span)] = self.from_nowhere.as_slice() {
            self.drawing.start = Start::Edge(*number);
            let message = format!("{message}: coreach takes the only edge without a source");
            let origin = self.collector.origin(span);
            let diagnostic = Diagnostic::warning("no-start", message).at(origin, "it begins here");
            self.collector.push(diagnostic.help("name a vertex with --initial"));
            return Some(());
        }
        let span = json.get("models").map_or(json.span.clone(), |models| models.span.clone());
        let place = self.collector.origin(&(span.start..span.start + 1));
        let help = "give the identifier of a vertex or an edge as `\"startElementId\"`, or name a vertex with --initial";
        self.drawing.begin_at_the_source(self.collector, message, Some(place), help)
    }

    /// Leaves out edges without a source, which no path takes, but for the beginning.
    fn leave_out_edges_never_taken(&mut self) {
        // From the last one, so that the numbers of those before it stay.
        for (number, span) in std::mem::take(&mut self.from_nowhere).into_iter().rev() {
            match &mut self.drawing.start {
                Start::Edge(start) if *start == number => continue,
                Start::Edge(start) if *start > number => *start -= 1,
                _ => {}
            }
            self.drawing.edges.remove(number);
            let message = "the edge has no `sourceVertexId` and is not the beginning: it is never taken";
            let diagnostic = Diagnostic::warning("not-taken", message);
            self.collector.push(diagnostic.at(self.collector.origin(&span), "left out"));
        }
    }

    /// Reads one model: its first actions, its vertices, its edges.
    fn read_model(&mut self, number: usize, json: &Json) -> Option<()> {
        self.check_keys(json, &MODEL, "a model");
        let name = self.read_text(json, "name").map(|piece| piece.text).filter(|name| !name.is_empty());
        self.drawing.models.push(name.unwrap_or_else(|| format!("model {}", number + 1)));
        for piece in self.read_texts(json, "actions") {
            self.drawing.initial_statements.push((number, piece));
        }
        let vertices_before = self.drawing.vertices.len();
        for vertex in self.read_list(json, "vertices").unwrap_or_default() {
            if self.drawing.vertices.len() == self.options.most {
                report_too_many(self.collector, &vertex.span, "vertices", self.options.most);
                return None;
            }
            self.read_vertex(number, vertex);
        }
        let mut ids: BTreeMap<String, usize> = BTreeMap::new();
        for (number, vertex) in self.drawing.vertices.iter().enumerate().skip(vertices_before) {
            if ids.insert(vertex.id.clone(), number).is_some() {
                let message = format!("two vertices have the identifier `{}`", vertex.id);
                self.collector.error("duplicate-id", message, &vertex.span, "the second one");
            }
        }
        for edge in self.read_list(json, "edges").unwrap_or_default() {
            if self.drawing.edges.len() == self.options.most {
                report_too_many(self.collector, &edge.span, "edges", self.options.most);
                return None;
            }
            if self.collector.is_full() {
                return None;
            }
            self.read_edge(number, edge, &ids);
        }
        Some(())
    }

    fn read_vertex(&mut self, model: usize, json: &Json) {
        self.check_keys(json, &VERTEX, "a vertex");
        let Some(id) = self.read_required_text(json, "id", "a vertex") else { return };
        for piece in self.read_texts(json, "actions").into_iter().filter(|piece| !piece.is_empty()) {
            self.report_untranslatable(&piece, "actions of vertices");
        }
        let name = self.read_text(json, "name").map_or_else(Piece::default, |name| name.trimmed());
        let shared =
            self.read_text(json, "sharedState").map(|piece| piece.text).filter(|name| !name.is_empty());
        let span = head(json);
        self.drawing.vertices.push(Vertex { id: id.text, name, span, model, shared });
    }

    /// Reads one edge, with its label and its ends.
    fn read_edge(&mut self, model: usize, json: &Json, ids: &BTreeMap<String, usize>) {
        self.check_keys(json, &EDGE, "an edge");
        let Some(id) = self.read_required_text(json, "id", "an edge") else { return };
        let mut label = Label::default();
        if let Some(name) = self.read_text(json, "name")
            && let Err((message, span)) = read_event(&mut label, &name.trimmed())
        {
            self.collector.error("label", message, &span, "here");
        }
        // A guard of only a comment counts as no guard.
        let has_tokens = |guard: &Piece| !split_tokens(&guard.text, Dialect::JavaScript).is_empty();
        label.guard = self.read_text(json, "guard").map(|guard| guard.trimmed()).filter(has_tokens);
        label.actions = self.read_texts(json, "actions");
        let source = self.read_text(json, "sourceVertexId").filter(|id| !id.is_empty());
        let source = match source {
            None => None,
            Some(id) => match self.find_vertex(&id, ids) {
                // There is no such vertex, which has been reported.
                None => return,
                number => number,
            },
        };
        let Some(target) = self.read_required_text(json, "targetVertexId", "an edge") else { return };
        let Some(target) = self.find_vertex(&target, ids) else { return };
        if source.is_none() {
            self.from_nowhere.push((self.drawing.edges.len(), head(json)));
        }
        self.edges.push(id.text);
        self.drawing.edges.push(GraphEdge { source, target, label, span: head(json), model });
    }

    fn find_vertex(&mut self, piece: &Piece, ids: &BTreeMap<String, usize>) -> Option<usize> {
        let number = ids.get(&piece.text).copied();
        if number.is_none() {
            let message = format!("no vertex of the model has the identifier `{}`", piece.text);
            let similar = self.collector.nearest(&piece.text, ids.keys().map(String::as_str));
            let help = similar.map(|similar| format!("did you mean `{similar}`?"));
            let diagnostic = Diagnostic::error("unknown-id", message)
                .at(self.collector.origin(&piece.full_range()), "no such vertex");
            self.collector.push(Diagnostic { help, ..diagnostic });
        }
        number
    }

    /// Reports something that a specification does not have. With `--untranslated drop` it is only a warning.
    fn report_untranslatable(&mut self, piece: &Piece, what: &str) {
        let message = format!("the model format has no counterpart of {what}");
        let origin = self.collector.origin(&piece.full_range());
        let diagnostic = match self.options.untranslated {
            Untranslated::Drop => {
                Diagnostic::warning("untranslatable", format!("{message}: they are left out"))
            }
            Untranslated::Refuse => Diagnostic::error("untranslatable", message)
                .help("`--untranslated drop` leaves it out: the specification then says less"),
        };
        self.collector.push(diagnostic.at(origin, "not translated"));
    }

    /// Checks the keys of an object. Counts those that are warned of once.
    fn check_keys(&mut self, json: &Json, known: &[&str], what: &str) {
        let JsonValue::Object(members) = &json.value else {
            let message = format!("expected {what}, an object, found {}", json.describe());
            self.collector.error("wrong-kind", message, &head(json), "not an object");
            return;
        };
        for (key, value) in members {
            let name = key.text.as_str();
            let says_nothing = match &value.value {
                JsonValue::Null => true,
                JsonValue::List(items) => items.is_empty(),
                JsonValue::Text(text) => text.is_empty(),
                _ => false,
            };
            if known.contains(&name) || SILENT.contains(&name) || says_nothing {
                continue;
            }
            if FOREIGN.contains(&name) {
                let entry = self.foreign.entry(name.to_owned()).or_insert((0, key.full_range()));
                entry.0 += 1;
                continue;
            }
            let message = format!("{what} has no key `{name}`");
            // A key similar to a known one is misspelt. Any other key may belong to a newer version.
            let diagnostic = match nearest(name, known.iter().copied()) {
                Some(similar) => {
                    Diagnostic::error("unknown-key", message).help(format!("did you mean `{similar}`?"))
                }
                None => Diagnostic::warning("not-taken", message),
            };
            let origin = self.collector.origin(&key.full_range());
            self.collector.push(diagnostic.at(origin, "not known"));
        }
    }

    fn read_list<'j>(&mut self, json: &'j Json, key: &str) -> Option<&'j [Json]> {
        let value = json.get(key)?;
        match &value.value {
            JsonValue::List(items) => Some(items),
            JsonValue::Null => None,
            _ => {
                let message = format!("`{key}` must be a list, but this is {}", value.describe());
                self.collector.error("wrong-kind", message, &head(value), "not a list");
                None
            }
        }
    }

    fn read_text(&mut self, json: &Json, key: &str) -> Option<Piece> {
        let value = json.get(key)?;
        match &value.value {
            JsonValue::Text(piece) => Some(piece.clone()),
            JsonValue::Null => None,
            _ => {
                let message = format!("`{key}` must be a text, but this is {}", value.describe());
                self.collector.error("wrong-kind", message, &head(value), "not a text");
                None
            }
        }
    }

    fn read_texts(&mut self, json: &Json, key: &str) -> Vec<Piece> {
        let mut texts = Vec::new();
        for item in self.read_list(json, key).unwrap_or_default() {
            match item.text() {
                Some(piece) => texts.push(piece.clone()),
                None => {
                    let message = format!("`{key}` must contain texts, but this is {}", item.describe());
                    self.collector.error("wrong-kind", message, &head(item), "not a text");
                }
            }
        }
        texts
    }

    fn read_required_text(&mut self, json: &Json, key: &str, what: &str) -> Option<Piece> {
        let text = self.read_text(json, key);
        // A value of another kind has been reported.
        if text.is_none() && json.get(key).is_none_or(|value| value.value == JsonValue::Null) {
            let message = format!("{what} has no `{key}`");
            self.collector.error("missing-key", message, &head(json), "it is missing here");
        }
        text
    }
}

/// Returns the beginning of a value, for a message about the whole value.
fn head(json: &Json) -> Range<usize> {
    let length = match json.value {
        JsonValue::Object(_) | JsonValue::List(_) => 1,
        _ => json.span.len(),
    };
    json.span.start..json.span.start + length
}
