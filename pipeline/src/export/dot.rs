//! Writes a stage's result as a picture: text for Graphviz.
//!
//! **Conventions** are those of the field. Behind an action's name `?` means "received" and `!` means "sent".
//! Everything that describes the *system* (the completed purpose, the product, the closed and the visible
//! behaviours) is drawn from the implementation's side. The *test graph* and the *test case*, which a tester
//! executes, are drawn from the tester's: `Coin!` is a stimulus, `Return?` an observation. The line below the
//! picture says which side it is. All other exports keep the implementation's directions.
//!
//! An edge shows its action with parameters in bold, then `[guard]`, broken at `&&`, then its assignments,
//! one per line. The arrow into the initial location carries the initial condition. Pass is green,
//! Inconclusive amber, Fail red; locations of the product that contain Accept or Reject have a light tint of
//! green or of red.
//!
//! **To stay readable**, transitions into Fail from one location are one dashed, grey arrow, and self-loops
//! that show nothing but their action are one arrow. Nothing else is joined or left out. A condition of many
//! lines is cut, with a note of how much is missing. Nodes are named by their locations.

use std::collections::BTreeMap;

use coreach_model::iosts::{LocationId, Transition};
use dot_writer::{Attributes, DotWriter, Scope};

use super::labels::{
    action_text, condition_lines, escape_html, escape_quoted, escape_tooltip, fact_lines, guard_lines,
    steps_text,
};
use super::{ExportOptions, Mark, View};
use crate::artifact::Verdict;
use crate::stage::Stage;

const FONT: &str = "Helvetica";

/// The node from which the initial arrow comes; no location can have this name.
const START: &str = "\"->\"";

/// Writes the graph: its frame, the arrow to the initial location, the nodes, the edges.
pub fn to_dot(view: &View<'_>, options: ExportOptions) -> String {
    let mut bytes = Vec::new();
    {
        let mut writer = DotWriter::from(&mut bytes);
        let mut graph = writer.digraph();
        write_frame(&mut graph, view);
        write_initial(&mut graph, view);
        for location in view.iosts.location_ids() {
            write_node(&mut graph, view, location, options);
        }
        write_edges(&mut graph, view, options);
    }
    with_title(&bytes, &format!("{} {}", view.iosts.name, view.what))
}

/// Gives the graph a title. The writer cannot name a graph, so the name is put into the text.
pub(super) fn with_title(written: &[u8], title: &str) -> String {
    let head = format!("digraph \"{}\" {{", escape_quoted(title));
    String::from_utf8_lossy(written).replacen("digraph {", &head, 1)
}

/// Sets the attributes of the whole graph: the label below it, its own attributes, fonts and shapes.
pub(super) fn style_graph(graph: &mut Scope<'_, '_>, label: &str, own: &[(&str, &str)], font_size: f32) {
    graph.set_html(label).set("labelloc", "b", true).set_font(FONT).set("rankdir", "TB", true);
    for (name, value) in own {
        graph.set(name, value, true);
    }
    graph
        .node_attributes()
        .set("shape", "box", true)
        .set("style", "rounded,filled", true)
        .set("fillcolor", "white", true)
        .set_font(FONT)
        .set_font_size(font_size);
    graph.edge_attributes().set_font(FONT).set_font_size(10.0).set("arrowsize", "0.7", true);
}

/// Writes the attributes of the whole graph, and the line below it.
fn write_frame(graph: &mut Scope<'_, '_>, view: &View<'_>) {
    let stage = view.what.replace('_', " ");
    let unreachable = match view.found.reachable {
        Some(false) => "<BR/><B>The purpose cannot be reached.</B>",
        _ => "",
    };
    let rule = view
        .rule_for_the_others()
        .map_or(String::new(), |sentence| format!("<BR/>{}", escape_html(&sentence)));
    let label = format!(
        "<<B>{}</B>: {}{unreachable}{rule}<BR/><FONT POINT-SIZE=\"10\">{side}</FONT>>",
        escape_html(&view.iosts.name),
        escape_html(&stage),
        side = view.sides()
    );
    style_graph(graph, &label, &[("nodesep", "0.35")], 11.0);
}

/// Writes the arrow into the initial location, which comes from a point and carries the initial condition.
fn write_initial(graph: &mut Scope<'_, '_>, view: &View<'_>) {
    graph
        .node_named(START)
        .set("shape", "point", true)
        .set("style", "filled", true)
        .set("fillcolor", "black", true)
        .set("label", "", true);
    let condition = &view.iosts.initial_condition;
    let edge = graph.edge(START, node_id(view, view.iosts.initial));
    let mut attributes = edge.attributes();
    if condition.is_true() {
        attributes.set("weight", "2", true);
    } else {
        attributes.set_html(&html_label(&escape_lines(condition_lines(condition))));
    }
}

/// Writes a location: its label, its facts if they are wanted, its colours and its description.
fn write_node(graph: &mut Scope<'_, '_>, view: &View<'_>, location: LocationId, options: ExportOptions) {
    let shown = view.iosts.location(location);
    let mut lines = vec![escape_html(&shown.label)];
    if options.facts {
        let small =
            |line: &String| format!("<FONT POINT-SIZE=\"8\" COLOR=\"#555555\">{}</FONT>", escape_html(line));
        lines.extend(fact_lines(view, location).iter().map(small));
    }
    let (fill, border) = mark_colours(view.mark(location));
    let mut node = graph.node_named(node_id(view, location));
    node.set_html(&format!("<{}>", lines.join("<BR/>")));
    if fill != "white" {
        node.set("fillcolor", fill, true).set("color", border, true);
    }
    if let Some(description) = &shown.description {
        node.set("tooltip", &escape_tooltip(description), true);
    }
}

/// Gives the colours of a location: of its inside, and of its border.
pub(super) fn mark_colours(mark: Option<Mark>) -> (&'static str, &'static str) {
    match mark {
        None => ("white", "black"),
        Some(Mark::Accept) => ("#e3f4e3", "#2e7d32"),
        Some(Mark::Reject) => ("#fbe9e7", "#b36b5e"),
        Some(Mark::Verdict(Verdict::Pass)) => ("#66bb6a", "#1b5e20"),
        Some(Mark::Verdict(Verdict::WeakPass)) => ("#dce775", "#827717"),
        Some(Mark::Verdict(Verdict::Inconclusive)) => ("#ffca28", "#8d6e00"),
        Some(Mark::Verdict(Verdict::Fail)) => ("#ef5350", "#8e0000"),
    }
}

/// Writes the edges: those of a run by themselves, then those that are joined, then all others.
fn write_edges(graph: &mut Scope<'_, '_>, view: &View<'_>, options: ExportOptions) {
    let mut failing: BTreeMap<LocationId, Vec<&Transition>> = BTreeMap::new();
    let mut looping: BTreeMap<LocationId, Vec<&Transition>> = BTreeMap::new();
    for (number, transition) in view.iosts.transitions.numbered() {
        if let Some(steps) = view.walked.get(&number) {
            write_walked(graph, view, transition, steps);
        } else if view.is_fail(transition.target) && options.hide_fail {
            // The user does not want these transitions.
        } else if view.is_fail(transition.target) {
            failing.entry(transition.source).or_default().push(transition);
        } else if says_only_its_action(transition) {
            looping.entry(transition.source).or_default().push(transition);
        } else {
            let edge = graph.edge(node_id(view, transition.source), node_id(view, transition.target));
            edge.attributes().set_html(&html_label(&transition_lines(view, transition)));
        }
    }
    for (location, transitions) in looping {
        let edge = graph.edge(node_id(view, location), node_id(view, location));
        edge.attributes().set_html(&html_label(&loop_lines(view, &transitions)));
    }
    for (location, transitions) in failing {
        let Some(first) = transitions.first() else { continue };
        let lines: Vec<String> = transitions.iter().flat_map(|t| transition_lines(view, t)).collect();
        graph
            .edge(node_id(view, location), node_id(view, first.target))
            .attributes()
            .set_html(&html_label(&lines))
            .set_style(dot_writer::Style::Dashed)
            .set("color", "#c98b86", true)
            .set("fontcolor", "#8a6a67", true)
            .set_font_size(8.0);
    }
}

/// Writes a transition that a run took: in blue, with the numbers of its events before its label. It is never
/// joined with others.
fn write_walked(graph: &mut Scope<'_, '_>, view: &View<'_>, transition: &Transition, steps: &[usize]) {
    let mut lines = vec![format!("<B>{}</B>", steps_text(steps))];
    lines.extend(transition_lines(view, transition));
    let edge = graph.edge(node_id(view, transition.source), node_id(view, transition.target));
    edge.attributes()
        .set_html(&html_label(&lines))
        .set("color", "#1565c0", true)
        .set("fontcolor", "#0d47a1", true)
        .set("penwidth", "2.5", true);
}

/// Is it a self-loop whose label would be only its action?
fn says_only_its_action(transition: &Transition) -> bool {
    transition.source == transition.target && transition.guard.is_true() && transition.assignments.is_empty()
}

/// Gives `*` for a location that every action leaves unchanged, and the list of actions otherwise.
fn loop_lines(view: &View<'_>, transitions: &[&Transition]) -> Vec<String> {
    if view.stage == Some(Stage::Complete) && transitions.len() == view.iosts.actions.len() {
        return vec!["<B>*</B>".to_owned()];
    }
    transitions.iter().map(|transition| action_line(view, transition)).collect()
}

fn action_line(view: &View<'_>, transition: &Transition) -> String {
    let shown = view.iosts.action(transition.action);
    format!("<B>{}</B>", escape_html(&action_text(shown, view.sign(shown.kind), &shown.parameters)))
}

fn transition_lines(view: &View<'_>, transition: &Transition) -> Vec<String> {
    let mut lines = vec![action_line(view, transition)];
    lines.extend(escape_lines(guard_lines(&transition.guard)));
    lines.extend(
        transition.assignments.iter().map(|(variable, value)| escape_html(&format!("{variable} := {value}"))),
    );
    lines
}

fn escape_lines(lines: Vec<String>) -> Vec<String> {
    lines.iter().map(|line| escape_html(line)).collect()
}

/// Writes lines as an HTML-like label, aligned to the left. The spaces keep it off its arrow.
fn html_label(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!(" {line} <BR ALIGN=\"LEFT\"/>")).collect();
    format!("<{}>", lines.concat())
}

fn node_id(view: &View<'_>, location: LocationId) -> String {
    format!("\"{}\"", escape_quoted(&view.iosts.location(location).name))
}
