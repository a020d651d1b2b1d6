//! Reads GraphML: graphs as yEd draws them, and plain ones.
//!
//! A node is a vertex. Its name is the text of its first `NodeLabel` (yEd), or of a `<data>` whose key is
//! called `label` or `name`. The label of an edge, `event [guard] / actions` ([`crate::graph::label`]), is in
//! an `EdgeLabel` or in such a `<data>`. Keys that are called `guard`, `actions` or `initial` are read, too.
//! [`crate::graph::build`] describes their meaning.
//!
//! **Beginning**: the graph begins at the node that `--initial` names, or that has `initial` set. Otherwise
//! it begins at the node called `Start`. If only one edge without an event leaves that node, it begins at the
//! edge's target, and its assignments are done first. Otherwise it begins at the only node without an
//! incoming edge.
//!
//! **Not taken over**: groups of nodes (a group itself is no location, and an edge at it is a mistake), and
//! the looks of a graph. Hyperedges, undirected edges and own entities of a document are mistakes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use coreach_model::diagnostic::Diagnostic;
use coreach_model::reader::collect::Collector;
use roxmltree::{Document, Error, Node, ParsingOptions};

use crate::expression::Dialect;
use crate::finish::Model;
use crate::graph::label::{self, Label};
use crate::graph::{Drawing, GraphEdge, Start, Vertex, build};
use crate::options::{Options, report_too_many};
use crate::piece::Piece;

/// Reads a file of GraphML.
pub fn read(collector: &mut Collector, options: &Options) -> Option<Model> {
    let file = collector.file.clone();
    // A drawn node or edge has about thirty nodes of XML, and there may be `most` of either.
    let limit = u32::try_from(options.most.saturating_mul(60)).unwrap_or(u32::MAX);
    let parsing = ParsingOptions { allow_dtd: false, nodes_limit: limit, ..ParsingOptions::default() };
    let document = match Document::parse_with_options(&file.text, parsing) {
        Ok(document) => document,
        Err(Error::NodesLimitReached) => {
            report_too_many(collector, &(0..file.text.len().min(1)), "nodes and edges", options.most);
            return None;
        }
        Err(error) => {
            let position = error.pos();
            let start = byte_offset(&file.text, position.row, position.col);
            let end = file.text[start..].chars().next().map_or(start, |sign| start + sign.len_utf8());
            let text = error.to_string();
            // The message's place is cut off, since it is drawn.
            let reason = text.rsplit_once(" at ").map_or(text.as_str(), |(reason, _)| reason);
            collector.error("syntax", format!("this is not XML: {reason}"), &(start..end), "here");
            return None;
        }
    };
    let drawing = GraphmlReader { collector, options, text: &file.text, warned: HashSet::new() }
        .read_drawing(&document)?;
    build::build(collector, options, &drawing)
}

/// Returns the byte of a line and a column. Both are counted from 1, and the column in signs.
fn byte_offset(text: &str, row: u32, column: u32) -> usize {
    let lines = usize::try_from(row).unwrap_or(1).max(1) - 1;
    let start: usize = text.split_inclusive('\n').take(lines).map(str::len).sum();
    let signs = usize::try_from(column).unwrap_or(1).max(1) - 1;
    text[start..].char_indices().nth(signs).map_or(text.len(), |(offset, _)| start + offset)
}

/// The meaning of a key of `<data>`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GraphmlKey {
    Label,
    Guard,
    Actions,
    Initial,
    Graphics,
    Other,
}

struct GraphmlReader<'a> {
    collector: &'a mut Collector,
    options: &'a Options,
    text: &'a str,
    /// Keys and words that were warned of.
    warned: HashSet<String>,
}

impl GraphmlReader<'_> {
    /// Reads the nodes and edges of the first graph, and finds its beginning.
    fn read_drawing(&mut self, document: &Document<'_>) -> Option<Drawing> {
        let root = document.root_element();
        let graph = root.descendants().find(|node| node.has_tag_name_of("graph"));
        let (true, Some(graph)) = (root.has_tag_name_of("graphml"), graph) else {
            let message =
                format!("expected `<graphml>` with a `<graph>`, found `<{}>`", root.tag_name().name());
            self.collector.error("wrong-kind", message, &self.head(&root), "not a graph");
            return None;
        };
        let mut keys: HashMap<&str, (GraphmlKey, &str)> = HashMap::new();
        for node in root.descendants().filter(|node| node.has_tag_name_of("key")) {
            let name = node.attribute("attr.name").unwrap_or_default();
            let kind = match name.to_ascii_lowercase().as_str() {
                "label" | "name" | "event" => GraphmlKey::Label,
                "guard" | "condition" => GraphmlKey::Guard,
                "actions" | "action" | "assign" => GraphmlKey::Actions,
                "initial" | "start" => GraphmlKey::Initial,
                _ if node.attribute("yfiles.type").is_some() => GraphmlKey::Graphics,
                _ => GraphmlKey::Other,
            };
            keys.extend(node.attribute("id").map(|id| (id, (kind, name))));
        }
        for other in root.children().filter(|node| node.has_tag_name_of("graph")).skip(1) {
            let message = "a second graph: one file is one model";
            self.collector.error("second-graph", message, &self.head(&other), "not read");
        }
        let mut drawing = Drawing::new(vec!["graph".to_owned()], Dialect::Drawn);
        let mut ids: BTreeMap<String, usize> = BTreeMap::new();
        let mut groups: HashSet<&str> = HashSet::new();
        let mut blocked: HashSet<usize> = HashSet::new();
        let mut initial: Option<usize> = None;
        for node in graph.descendants().filter(|node| node.has_tag_name_of("node")) {
            if drawing.vertices.len() == self.options.most {
                report_too_many(self.collector, &self.head(&node), "nodes", self.options.most);
                return None;
            }
            let Some(id) = self.read_attribute(&node, "id") else { continue };
            if node.children().any(|child| child.has_tag_name_of("graph")) {
                groups.insert(id);
                self.warn_once("group", "a group is only part of the drawing, not a location", &node);
                continue;
            }
            let (piece, data) = self.read_label(&node, "NodeLabel", &keys);
            let label = label::read_vertex_label(&piece);
            self.warn_of_ignored(&label.ignored);
            let number = drawing.vertices.len();
            if ids.insert(id.to_owned(), number).is_some() {
                let message = format!("two nodes have the identifier `{id}`");
                self.collector.error("duplicate-id", message, &self.head(&node), "the second one");
            }
            if label.blocked {
                blocked.insert(number);
            }
            drawing.initial_statements.extend(label.initial_statements.map(|piece| (0, piece)));
            let is_initial = |(key, piece): &(GraphmlKey, Piece)| {
                *key == GraphmlKey::Initial && matches!(piece.text.trim(), "true" | "1")
            };
            // The first of several counts.
            initial = initial.or(data.iter().any(is_initial).then_some(number));
            let span = if label.name.is_empty() { self.head(&node) } else { label.name.full_range() };
            let (id, name, shared) = (id.to_owned(), label.name, label.shared);
            drawing.vertices.push(Vertex { id, name, span, model: 0, shared });
        }
        self.read_edges(&graph, &keys, &ids, &groups, &blocked, &mut drawing)?;
        if let Some(number) = (0..drawing.vertices.len()).find(|number| blocked.contains(number)) {
            let place = drawing.vertices[number].span.clone();
            self.warn("blocked", "a `BLOCKED` node is never entered: it and its edges are left out", &place);
        }
        self.find_start(&mut drawing, initial)?;
        Some(drawing)
    }

    /// Reads the edges, without those that are blocked or touch a blocked node. `None` if it stopped early.
    fn read_edges<'d>(
        &mut self,
        graph: &Node<'d, '_>,
        keys: &HashMap<&str, (GraphmlKey, &str)>,
        ids: &BTreeMap<String, usize>,
        groups: &HashSet<&str>,
        blocked: &HashSet<usize>,
        drawing: &mut Drawing,
    ) -> Option<()> {
        let is_undirected = graph.attribute("edgedefault") == Some("undirected");
        for edge in graph.descendants() {
            if edge.has_tag_name_of("hyperedge") {
                let message = "an edge between more than two nodes cannot be translated";
                self.collector.error("untranslatable", message, &self.head(&edge), "a hyperedge");
            }
            if !edge.has_tag_name_of("edge") {
                continue;
            }
            if drawing.edges.len() == self.options.most {
                report_too_many(self.collector, &self.head(&edge), "edges", self.options.most);
                return None;
            }
            if self.collector.is_full() {
                return None;
            }
            if edge.attribute("directed").map_or(is_undirected, |directed| directed == "false") {
                let message = "an edge has no direction, but a transition leads from one location to another";
                self.collector.error("undirected", message, &self.head(&edge), "not directed");
                continue;
            }
            let ends = ["source", "target"].map(|end| self.find_end(&edge, end, ids, groups));
            let [Some(source), Some(target)] = ends else { continue };
            let (piece, data) = self.read_label(&edge, "EdgeLabel", keys);
            let mut label = match label::read_edge_label(&piece) {
                Ok(label) => label,
                Err((message, span)) => {
                    self.collector.error("label", message, &span, "here");
                    continue;
                }
            };
            self.warn_of_ignored(&label.ignored);
            for (key, piece) in data {
                match key {
                    GraphmlKey::Guard if label.guard.is_none() => label.guard = Some(piece),
                    GraphmlKey::Actions => label.actions.push(piece),
                    _ => {}
                }
            }
            if label.blocked || blocked.contains(&source) || blocked.contains(&target) {
                if label.blocked {
                    self.warn_once("blocked", "a `BLOCKED` edge is never taken: it is left out", &edge);
                }
                continue;
            }
            let span = if piece.is_empty() { self.head(&edge) } else { piece.trimmed().full_range() };
            drawing.edges.push(GraphEdge { source: Some(source), target, label, span, model: 0 });
        }
        Some(())
    }

    /// Finds the beginning: the vertex of `--initial`, the initial vertex of the file, or a vertex called
    /// `Start`. If only one edge without an event leaves `Start`, and no edge enters it, it is no location.
    fn find_start(&mut self, drawing: &mut Drawing, initial: Option<usize>) -> Option<()> {
        let names = || drawing.vertices.iter().map(|vertex| vertex.name.text.as_str());
        let given = match &self.options.initial {
            Some(wanted) => {
                let named = drawing.find_named(wanted);
                Some(named.map_err(|diagnostic| self.collector.push(*diagnostic)).ok()?)
            }
            None => initial,
        };
        if let Some(number) = given {
            drawing.start = Start::Vertex(number);
            return Some(());
        }
        if let Some(number) = names().position(|name| name.eq_ignore_ascii_case("start")) {
            drawing.start = Start::Vertex(number);
            let leaving: Vec<usize> =
                (0..drawing.edges.len()).filter(|edge| drawing.edges[*edge].source == Some(number)).collect();
            let is_entered = drawing.edges.iter().any(|edge| edge.target == number);
            drawing.start_is_a_sign = !is_entered;
            if let ([edge], false) = (leaving.as_slice(), is_entered) {
                let label = &drawing.edges[*edge].label;
                // An edge from `Start` with nothing but actions is no step of the system.
                let (actions, ignored) = (label.actions.clone(), label.ignored.clone());
                if *label == (Label { actions, ignored, ..Label::default() }) {
                    // `Start` is taken out of the drawing, so the vertices after it get other numbers.
                    let edge = drawing.edges.remove(*edge);
                    let statements = edge.label.actions.into_iter().map(|piece| (0, piece));
                    drawing.initial_statements.extend(statements);
                    let target = edge.target;
                    drawing.vertices.remove(number);
                    let new_number = |vertex: usize| if vertex > number { vertex - 1 } else { vertex };
                    for edge in &mut drawing.edges {
                        edge.target = new_number(edge.target);
                        edge.source = edge.source.map(new_number);
                    }
                    drawing.start = Start::Vertex(new_number(target));
                    drawing.start_is_a_sign = false;
                }
            }
            return Some(());
        }
        let message = "the graph has no marked beginning";
        let help = "call a node `Start`, or name one with --initial";
        drawing.begin_at_the_source(self.collector, message, None, help)
    }

    /// Finds the vertex at an end of an edge.
    fn find_end(
        &mut self,
        edge: &Node<'_, '_>,
        end: &str,
        ids: &BTreeMap<String, usize>,
        groups: &HashSet<&str>,
    ) -> Option<usize> {
        let id = self.read_attribute(edge, end)?;
        if let Some(number) = ids.get(id) {
            return Some(*number);
        }
        let place =
            edge.attribute_node(end).map_or_else(|| self.head(edge), |attribute| attribute.range_value());
        if groups.contains(id) {
            let message = "an edge at a group cannot be translated: it names no node of the group";
            self.collector.error("untranslatable", message, &place, "a group");
            return None;
        }
        let message = format!("no node has the identifier `{id}`");
        let similar = self.collector.nearest(id, ids.keys().map(String::as_str));
        let help = similar.map(|similar| format!("did you mean `{similar}`?"));
        let diagnostic = Diagnostic::error("unknown-id", message);
        let diagnostic = diagnostic.at(self.collector.origin(&place), "no such node");
        self.collector.push(Diagnostic { help, ..diagnostic });
        None
    }

    fn read_attribute<'d>(&mut self, node: &Node<'d, '_>, name: &str) -> Option<&'d str> {
        let value = node.attribute(name);
        if value.is_none() {
            let message = format!("`<{}>` has no `{name}`", node.tag_name().name());
            self.collector.error("missing-key", message, &self.head(node), "it is missing here");
        }
        value
    }

    /// Reads the label of a node or an edge, and its other data. The element `drawn` goes before a `<data>`.
    fn read_label(
        &mut self,
        node: &Node<'_, '_>,
        drawn: &str,
        keys: &HashMap<&str, (GraphmlKey, &str)>,
    ) -> (Piece, Vec<(GraphmlKey, Piece)>) {
        let mut data = Vec::new();
        let (mut drawn_text, mut data_text) = (None, None);
        for item in node.children().filter(|child| child.has_tag_name_of("data")) {
            let key_id = item.attribute("key").unwrap_or_default();
            let (key, name) = keys.get(key_id).copied().unwrap_or((GraphmlKey::Other, ""));
            for label in item.descendants().filter(|inner| inner.has_tag_name_of(drawn)) {
                let piece = self.content(&label);
                if drawn_text.is_some() && !piece.is_empty() {
                    let message = "this is a second label: the first one counts";
                    self.warn("not-taken", message, &piece.trimmed().full_range());
                } else if !piece.is_empty() {
                    drawn_text = Some(piece);
                }
            }
            // Graphics have elements inside, such as the drawn labels, and no text of their own.
            let is_graphics = item.first_element_child().is_some() || key == GraphmlKey::Graphics;
            let piece = self.content(&item);
            if is_graphics || piece.is_empty() {
                continue;
            }
            match key {
                GraphmlKey::Label => data_text = data_text.or(Some(piece)),
                GraphmlKey::Other => {
                    let key = if name.is_empty() { key_id } else { name };
                    self.warn_once(key, &format!("the data `{key}` have no meaning here"), &item);
                }
                key => data.push((key, piece.trimmed())),
            }
        }
        (drawn_text.or(data_text).unwrap_or_default(), data)
    }

    /// Returns the text of an element, without the text of inner elements, and with the place of each sign.
    fn content(&self, element: &Node<'_, '_>) -> Piece {
        let mut piece = Piece::default();
        for node in element.children().filter(Node::is_text) {
            let value = node.text().unwrap_or_default();
            push_xml(&mut piece, self.text.get(node.range()).unwrap_or_default(), node.range().start, value);
        }
        piece
    }

    fn warn_of_ignored(&mut self, ignored: &[Piece]) {
        for piece in ignored {
            let word = piece.text.split([' ', '=', ':', '\n']).next().unwrap_or_default().to_owned();
            if self.warned.insert(format!("word {word}")) {
                let message = "this says nothing about the behaviour of the system";
                self.warn("not-taken", message, &piece.full_range());
            }
        }
    }

    fn warn_once(&mut self, key: &str, message: &str, node: &Node<'_, '_>) {
        if self.warned.insert(key.to_owned()) {
            self.warn("not-taken", message, &self.head(node));
        }
    }

    fn warn(&mut self, code: &'static str, message: &str, span: &Range<usize>) {
        let diagnostic = Diagnostic::warning(code, message).at(self.collector.origin(span), "ignored");
        self.collector.push(diagnostic);
    }

    /// The place of an element's name at its beginning.
    fn head(&self, node: &Node<'_, '_>) -> Range<usize> {
        let start = node.range().start + 1;
        let tail = self.text.get(start..).unwrap_or_default();
        let ends_name = |c: char| c.is_whitespace() || c == '>' || c == '/';
        start..start + tail.find(ends_name).unwrap_or(tail.len())
    }
}

/// Compares names of elements without their name space, since files differ in it.
trait TagName {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl TagName for Node<'_, '_> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

/// Appends XML source text to `piece`, each sign with its place in the file. Resolves entities, and leaves
/// out the marks of CDATA. `value` is the XML parser's result for the same text. If it differs, it is taken.
fn push_xml(piece: &mut Piece, raw: &str, start: usize, value: &str) {
    const MARKS: [&str; 2] = ["<![CDATA[", "]]>"];
    // `&#x10ffff;` with some leading zeros.
    const LONGEST_ENTITY: usize = 32;
    let mut decoded: Vec<(String, Range<usize>)> = Vec::new();
    let mut next = 0;
    let mut in_cdata = false;
    while let Some(sign) = raw[next..].chars().next() {
        let tail = &raw[next..];
        let (text, length) = if let Some(mark) = MARKS.iter().find(|mark| tail.starts_with(**mark)) {
            in_cdata = *mark == MARKS[0];
            (String::new(), mark.len())
        } else if let (false, '&', Some(end)) =
            (in_cdata, sign, tail.bytes().take(LONGEST_ENTITY).position(|b| b == b';'))
        {
            (resolve_entity(&tail[1..end]).map(String::from).unwrap_or_default(), end + 1)
        } else if tail.starts_with("\r\n") {
            ("\n".to_owned(), 2)
        } else {
            (sign.to_string(), sign.len_utf8())
        };
        if !text.is_empty() {
            decoded.push((text, start + next..start + next + length));
        }
        next += length;
    }
    let agrees = decoded.iter().map(|(text, _)| text.as_str()).collect::<String>() == value;
    if agrees {
        for (text, place) in decoded {
            piece.push(&text, place);
        }
    } else {
        // The text is written in a way that is not decoded here, so a message underlines all of it.
        piece.push(value, start..start + raw.len());
    }
}

/// Returns the sign that an entity of XML stands for, which is named here without `&` and `;`.
fn resolve_entity(name: &str) -> Option<char> {
    let number = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => match name.strip_prefix("#x") {
            Some(digits) => number(digits, 16),
            None => number(name.strip_prefix('#')?, 10),
        },
    }
}
