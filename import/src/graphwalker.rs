//! GraphWalker's JSON: models of vertices and edges, guards and actions in JavaScript.
//!
//! A model file has `models`; each has `vertices`, `edges`, `startElementId` and the `actions` that are done
//! before it begins. What they mean here is told in [`crate::graph::build`]. An edge is an input where
//! nothing else is said: in GraphWalker it is what the tester does, and a vertex is what it looks at.
//!
//! **Not taken over**: how paths are generated (`generator`, `weight`, `dependency`, ...), `requirements`,
//! and where things are drawn (`properties`). The first two are told, once for each key.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use coreach_model::diagnostic::{Diagnostic, nearest};
use coreach_model::reader::collect::Collector;

use crate::expression::Dialect;
use crate::expression::lexer::tokens;
use crate::finish::Model;
use crate::graph::label::{Label, event};
use crate::graph::{Drawing, Edge, Start, Vertex, build};
use crate::json::{Json, JsonValue, parse};
use crate::options::{Options, Untranslated, too_many};
use crate::piece::Piece;

/// Keys that are read, and keys that mean nothing here and are not worth a word.
const MODEL: [&str; 6] = ["id", "name", "startElementId", "actions", "vertices", "edges"];
const VERTEX: [&str; 4] = ["id", "name", "sharedState", "actions"];
const EDGE: [&str; 6] = ["id", "name", "sourceVertexId", "targetVertexId", "guard", "actions"];
const SILENT: [&str; 3] = ["properties", "editor", "selectedModelIndex"];

/// Keys that are told once: GraphWalker knows them, and they say nothing of behaviour.
const FOREIGN: [&str; 6] =
    ["generator", "weight", "dependency", "requirements", "predefinedPathEdgeIds", "selectedElementId"];

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
    reader.file(&json)?;
    reader.leave_out_what_is_never_taken();
    let GraphwalkerReader { foreign, drawing, .. } = reader;
    for (key, (count, span)) in foreign {
        let message =
            format!("`{key}` says how paths are made or what is required, not what the system does");
        let found = Diagnostic::warning("not-taken", message).at(collector.origin(&span), "not taken over");
        collector.push(if count > 1 { found.note(format!("{count} times in the file")) } else { found });
    }
    build::build(collector, options, &drawing)
}

struct GraphwalkerReader<'a> {
    collector: &'a mut Collector,
    options: &'a Options,
    /// How often each of these keys is there, and where first.
    foreign: BTreeMap<String, (usize, Range<usize>)>,
    edges: Vec<String>,
    /// Numbers of the edges without a source, each with where it stands.
    from_nowhere: Vec<(usize, Range<usize>)>,
    drawing: Drawing,
}

impl GraphwalkerReader<'_> {
    fn file(&mut self, json: &Json) -> Option<()> {
        self.keys(json, &["name", "models"], "a file of GraphWalker");
        self.drawing.name = self.text(json, "name").map(|piece| piece.text).filter(|name| !name.is_empty());
        let Some(models) = self.list(json, "models") else {
            let what = json.describe();
            if json.get("models").is_none() {
                let message = format!("expected an object with `models`, found {what}");
                let head = json.span.start..json.span.end.min(json.span.start + 1);
                self.collector.error("missing-key", message, &head, "`models` is missing");
            }
            return None;
        };
        // Where a model begins may stand in another model of the file: so they are known before an edge is
        // read.
        let mut starts: Vec<(usize, Piece)> = Vec::new();
        for (number, model) in models.iter().enumerate() {
            let start = self.text(model, "startElementId").filter(|start| !start.is_empty());
            starts.extend(start.map(|start| (number, start)));
        }
        for (number, model) in models.iter().enumerate() {
            if self.collector.is_full() {
                return None;
            }
            self.model(number, model)?;
        }
        if let Some(wanted) = &self.options.initial {
            let number = self.drawing.find_named(wanted).map_err(|found| self.collector.push(*found)).ok()?;
            self.drawing.start = Start::Vertex(number);
            return Some(());
        }
        let Some((model, start)) = starts.first().cloned() else {
            return self.begin_at_the_source(json);
        };
        let known: Vec<&str> = self.drawing.vertices.iter().map(|vertex| vertex.id.as_str()).collect();
        let own_first = |of: usize| usize::from(of != model);
        let vertices = &self.drawing.vertices;
        let vertex = (0..vertices.len())
            .filter(|number| vertices[*number].id == start.text)
            .min_by_key(|number| own_first(vertices[*number].model));
        let edge = (0..self.edges.len())
            .filter(|number| self.edges[*number] == start.text)
            .min_by_key(|number| own_first(self.drawing.edges[*number].model));
        match (vertex, edge) {
            (Some(vertex), _) => self.drawing.start = Start::Vertex(vertex),
            (None, Some(edge)) => self.drawing.start = Start::Edge(edge),
            (None, None) => {
                let near = nearest(&start.text, known.iter().copied().take(1_000));
                let mut found =
                    Diagnostic::error("unknown-id", format!("nothing has the identifier `{}`", start.text))
                        .at(self.collector.origin(&start.full_range()), "it begins here");
                if let Some(near) = near {
                    found = found.help(format!("did you mean `{near}`?"));
                }
                self.collector.push(found);
                return None;
            }
        }
        for (_, other) in starts.iter().skip(1) {
            let message =
                "it begins with the first model that says where; others are entered by shared states";
            let found = Diagnostic::warning("second-start", message);
            self.collector.push(found.at(self.collector.origin(&other.full_range()), "not taken over"));
        }
        Some(())
    }

    fn begin_at_the_source(&mut self, json: &Json) -> Option<()> {
        let message = "no model says where it begins";
        if let [(number, span)] = self.from_nowhere.as_slice() {
            self.drawing.start = Start::Edge(*number);
            let message = format!("{message}: it is the only edge without a source");
            let origin = self.collector.origin(span);
            let found = Diagnostic::warning("no-start", message).at(origin, "it begins here");
            self.collector.push(found.help("--initial names a vertex"));
            return Some(());
        }
        let span = json.get("models").map_or(json.span.clone(), |models| models.span.clone());
        let place = self.collector.origin(&(span.start..span.start + 1));
        let help =
            "`\"startElementId\"` is the identifier of a vertex or an edge; or name a vertex with --initial";
        self.drawing.begin_at_the_source(self.collector, message, Some(place), help)
    }

    /// No path of GraphWalker comes to an edge without a source, but for the beginning.
    fn leave_out_what_is_never_taken(&mut self) {
        for (number, span) in std::mem::take(&mut self.from_nowhere).into_iter().rev() {
            match &mut self.drawing.start {
                Start::Edge(start) if *start == number => continue,
                Start::Edge(start) if *start > number => *start -= 1,
                _ => {}
            }
            self.drawing.edges.remove(number);
            let message =
                "an edge without `sourceVertexId`, and the model does not begin with it: it is never taken";
            let found = Diagnostic::warning("not-taken", message);
            self.collector.push(found.at(self.collector.origin(&span), "left out"));
        }
    }

    fn model(&mut self, number: usize, json: &Json) -> Option<()> {
        self.keys(json, &MODEL, "a model");
        let name = self.text(json, "name").map(|piece| piece.text).filter(|name| !name.is_empty());
        self.drawing.models.push(name.unwrap_or_else(|| format!("model {}", number + 1)));
        for piece in self.texts(json, "actions") {
            self.drawing.first.push((number, piece));
        }
        let before = self.drawing.vertices.len();
        for vertex in self.list(json, "vertices").unwrap_or_default() {
            if self.drawing.vertices.len() == self.options.most {
                too_many(self.collector, &vertex.span, "vertices", self.options.most);
                return None;
            }
            self.vertex(number, vertex);
        }
        let ids: BTreeMap<String, usize> = self
            .drawing
            .vertices
            .iter()
            .enumerate()
            .skip(before)
            .map(|(number, vertex)| (vertex.id.clone(), number))
            .collect();
        if ids.len() < self.drawing.vertices.len() - before {
            let mut seen = BTreeSet::new();
            for vertex in self.drawing.vertices.iter().skip(before) {
                if !seen.insert(vertex.id.as_str()) {
                    let message = format!("two vertices have the identifier `{}`", vertex.id);
                    self.collector.error("duplicate-id", message, &vertex.span, "the second one");
                }
            }
        }
        for edge in self.list(json, "edges").unwrap_or_default() {
            if self.drawing.edges.len() == self.options.most {
                too_many(self.collector, &edge.span, "edges", self.options.most);
                return None;
            }
            if self.collector.is_full() {
                return None;
            }
            self.edge(number, edge, &ids);
        }
        Some(())
    }

    fn vertex(&mut self, model: usize, json: &Json) {
        self.keys(json, &VERTEX, "a vertex");
        let Some(id) = self.needed(json, "id", "a vertex") else { return };
        for piece in self.texts(json, "actions").into_iter().filter(|piece| !piece.is_empty()) {
            self.report_untranslatable(&piece, "actions of vertices");
        }
        let name = self.text(json, "name").map_or_else(Piece::default, |name| name.trimmed());
        let shared = self.text(json, "sharedState").map(|piece| piece.text).filter(|name| !name.is_empty());
        let span = head(json);
        self.drawing.vertices.push(Vertex { id: id.text, name, span, model, shared });
    }

    fn edge(&mut self, model: usize, json: &Json, ids: &BTreeMap<String, usize>) {
        self.keys(json, &EDGE, "an edge");
        let Some(id) = self.needed(json, "id", "an edge") else { return };
        let mut label = Label::default();
        if let Some(name) = self.text(json, "name")
            && let Err((message, span)) = event(&mut label, &name.trimmed())
        {
            self.collector.error("label", message, &span, "here");
        }
        // A guard that is only a comment is none.
        let is_said = |guard: &Piece| !tokens(&guard.text, Dialect::JavaScript).is_empty();
        label.guard = self.text(json, "guard").map(|guard| guard.trimmed()).filter(is_said);
        label.actions = self.texts(json, "actions");
        let source = self.text(json, "sourceVertexId").filter(|id| !id.is_empty());
        let source = match source {
            None => None,
            Some(piece) => match self.find_vertex(&piece, ids) {
                Some(number) => Some(number),
                None => return,
            },
        };
        let Some(target) = self.needed(json, "targetVertexId", "an edge") else { return };
        let Some(target) = self.find_vertex(&target, ids) else { return };
        if source.is_none() {
            self.from_nowhere.push((self.drawing.edges.len(), head(json)));
        }
        self.edges.push(id.text);
        self.drawing.edges.push(Edge { source, target, label, span: head(json), model });
    }

    fn find_vertex(&mut self, piece: &Piece, ids: &BTreeMap<String, usize>) -> Option<usize> {
        let found = ids.get(&piece.text).copied();
        if found.is_none() {
            let message = format!("no vertex of the model has the identifier `{}`", piece.text);
            let mut found = Diagnostic::error("unknown-id", message)
                .at(self.collector.origin(&piece.full_range()), "no such vertex");
            if let Some(near) = self.collector.nearest(&piece.text, ids.keys().map(String::as_str)) {
                found = found.help(format!("did you mean `{near}`?"));
            }
            self.collector.push(found);
        }
        found
    }

    /// Something that a specification does not have.
    fn report_untranslatable(&mut self, piece: &Piece, what: &str) {
        let message = format!("the model format has no counterpart of {what}");
        let origin = self.collector.origin(&piece.full_range());
        let found = match self.options.untranslated {
            Untranslated::Drop => {
                Diagnostic::warning("untranslatable", format!("{message}: they are left out"))
            }
            Untranslated::Refuse => Diagnostic::error("untranslatable", message)
                .help("`--untranslated drop` leaves it out: the specification then says less"),
        };
        self.collector.push(found.at(origin, "not translated"));
    }

    fn keys(&mut self, json: &Json, known: &[&str], what: &str) {
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
            let near = nearest(name, known.iter().copied());
            // What is nearly a known key is one that is misspelt; another may be a newer version's.
            let found = match near {
                Some(near) => {
                    Diagnostic::error("unknown-key", message).help(format!("did you mean `{near}`?"))
                }
                None => Diagnostic::warning("not-taken", message),
            };
            let origin = self.collector.origin(&key.full_range());
            self.collector.push(found.at(origin, "not known"));
        }
    }

    fn list<'j>(&mut self, json: &'j Json, key: &str) -> Option<&'j [Json]> {
        let value = json.get(key)?;
        match &value.value {
            JsonValue::List(items) => Some(items),
            JsonValue::Null => None,
            _ => {
                let message = format!("`{key}` is a list, but this is {}", value.describe());
                self.collector.error("wrong-kind", message, &head(value), "not a list");
                None
            }
        }
    }

    fn text(&mut self, json: &Json, key: &str) -> Option<Piece> {
        let value = json.get(key)?;
        match &value.value {
            JsonValue::Text(piece) => Some(piece.clone()),
            JsonValue::Null => None,
            _ => {
                let message = format!("`{key}` is a text, but this is {}", value.describe());
                self.collector.error("wrong-kind", message, &head(value), "not a text");
                None
            }
        }
    }

    fn texts(&mut self, json: &Json, key: &str) -> Vec<Piece> {
        let mut found = Vec::new();
        for item in self.list(json, key).unwrap_or_default() {
            match item.text() {
                Some(piece) => found.push(piece.clone()),
                None => {
                    let message = format!("`{key}` has texts, but this is {}", item.describe());
                    self.collector.error("wrong-kind", message, &head(item), "not a text");
                }
            }
        }
        found
    }

    fn needed(&mut self, json: &Json, key: &str, what: &str) -> Option<Piece> {
        let found = self.text(json, key);
        if found.is_none() && json.get(key).is_none_or(|value| value.value == JsonValue::Null) {
            let message = format!("{what} without `{key}`");
            self.collector.error("missing-key", message, &head(json), "it is missing here");
        }
        found
    }
}

/// Where a value begins, for a message about the whole of it.
fn head(json: &Json) -> Range<usize> {
    let length = match json.value {
        JsonValue::Object(_) | JsonValue::List(_) => 1,
        _ => json.span.len(),
    };
    json.span.start..json.span.start + length
}
