//! A stage's result as a picture: text for Graphviz.
//!
//! **Conventions**, those of the field. Behind an action's name `?` means "received" and `!` means "sent".
//! Whose side that is seen from depends on what is drawn, as in the literature: everything that describes the
//! *system* (the completed purpose, the product, the closed and the visible behaviours) is drawn from the
//! implementation's side; the *test graph* and the *test case* are what a tester executes, and are drawn from
//! the tester's: `Coin!` is a stimulus, `Return?` an observation. The line below the picture says which it
//! is. All other exports keep the implementation's directions at every stage.
//!
//! An edge says its action with parameters in bold, then `[guard]`, broken at `&&`, then its assignments, a
//! line each. The arrow into the initial location carries the initial condition. Pass is green, Inconclusive
//! amber, Fail red; locations of the product with Accept or Reject in them have a light tint of green or of
//! red.
//!
//! **To stay readable**, transitions into Fail from one location are one dashed, grey arrow, and self-loops
//! that say nothing but their action are one arrow. Nothing else is joined or left out; a condition of many
//! lines is cut, with a note of how much is missing.
//!
//! Nodes are named by their locations, so a picture can be taken apart and styled by other tools.

use std::collections::BTreeMap;

use coreach_model::iosts::{LocationId, Transition};
use dot_writer::{Attributes, DotWriter, Scope};

use super::labels::{action, condition_lines, fact_lines, guard_lines, html, quoted, taken, tooltip};
use super::{Mark, Options, View};
use crate::artifact::Verdict;
use crate::stage::Stage;

const FONT: &str = "Helvetica";

/// The node from which the initial arrow comes; no location can have this name.
const START: &str = "\"->\"";

pub fn dot(view: &View<'_>, options: Options) -> String {
    let mut bytes = Vec::new();
    {
        let mut writer = DotWriter::from(&mut bytes);
        let mut graph = writer.digraph();
        frame(&mut graph, view);
        initial(&mut graph, view);
        for location in view.iosts.location_ids() {
            node(&mut graph, view, location, options);
        }
        edges(&mut graph, view, options);
    }
    // The writer passes on what it is given: strings. It gives a graph no name, which viewers show as the
    // title.
    let title = format!("digraph \"{}\" {{", quoted(&format!("{} {}", view.iosts.name, view.what)));
    String::from_utf8_lossy(&bytes).replacen("digraph {", &title, 1)
}

/// Attributes of the whole, and the line below it.
fn frame(graph: &mut Scope<'_, '_>, view: &View<'_>) {
    let stage = view.what.replace('_', " ");
    let unreachable = match view.found.reachable {
        Some(false) => "<BR/><B>The purpose cannot be reached.</B>",
        _ => "",
    };
    let once = view.said_once().map_or(String::new(), |sentence| format!("<BR/>{}", html(&sentence)));
    let label = format!(
        "<<B>{}</B>: {}{unreachable}{once}<BR/><FONT POINT-SIZE=\"10\">{side}</FONT>>",
        html(&view.iosts.name),
        html(&stage),
        side = view.sides()
    );
    graph
        .set_html(&label)
        .set("labelloc", "b", true)
        .set_font(FONT)
        .set("rankdir", "TB", true)
        .set("nodesep", "0.35", true);
    graph
        .node_attributes()
        .set("shape", "box", true)
        .set("style", "rounded,filled", true)
        .set("fillcolor", "white", true)
        .set_font(FONT)
        .set_font_size(11.0);
    graph.edge_attributes().set_font(FONT).set_font_size(10.0).set("arrowsize", "0.7", true);
}

fn initial(graph: &mut Scope<'_, '_>, view: &View<'_>) {
    graph
        .node_named(START)
        .set("shape", "point", true)
        .set("style", "filled", true)
        .set("fillcolor", "black", true)
        .set("label", "", true);
    let condition = &view.iosts.initial_condition;
    let edge = graph.edge(START, id(view, view.iosts.initial));
    let mut attributes = edge.attributes();
    if condition.is_true() {
        attributes.set("weight", "2", true);
    } else {
        attributes.set_html(&label(&escaped(condition_lines(condition))));
    }
}

fn node(graph: &mut Scope<'_, '_>, view: &View<'_>, location: LocationId, options: Options) {
    let shown = view.iosts.location(location);
    let mut lines = vec![html(&shown.label)];
    if options.facts {
        lines.extend(fact_lines(view, location).iter().map(|line| small(line)));
    }
    let (fill, border) = colours(view.mark(location));
    let mut node = graph.node_named(id(view, location));
    node.set_html(&format!("<{}>", lines.join("<BR/>")));
    if fill != "white" {
        node.set("fillcolor", fill, true).set("color", border, true);
    }
    if let Some(description) = &shown.description {
        node.set("tooltip", &tooltip(description), true);
    }
}

/// The colours of a location: of its inside, and of its border.
pub(super) fn colours(mark: Option<Mark>) -> (&'static str, &'static str) {
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

fn edges(graph: &mut Scope<'_, '_>, view: &View<'_>, options: Options) {
    let mut failing: BTreeMap<LocationId, Vec<&Transition>> = BTreeMap::new();
    let mut looping: BTreeMap<LocationId, Vec<&Transition>> = BTreeMap::new();
    for (number, transition) in view.iosts.transitions.numbered() {
        if let Some(steps) = view.walked.get(&number) {
            walked(graph, view, transition, steps);
        } else if view.is_fail(transition.target) && options.hide_fail {
            // Said nowhere: it was not wanted.
        } else if view.is_fail(transition.target) {
            failing.entry(transition.source).or_default().push(transition);
        } else if says_only_its_action(transition) {
            looping.entry(transition.source).or_default().push(transition);
        } else {
            let edge = graph.edge(id(view, transition.source), id(view, transition.target));
            edge.attributes().set_html(&label(&transition_lines(view, transition)));
        }
    }
    for (location, transitions) in looping {
        let edge = graph.edge(id(view, location), id(view, location));
        edge.attributes().set_html(&label(&loop_lines(view, &transitions)));
    }
    for (location, transitions) in failing {
        let Some(first) = transitions.first() else { continue };
        let lines: Vec<String> = transitions.iter().flat_map(|t| transition_lines(view, t)).collect();
        graph
            .edge(id(view, location), id(view, first.target))
            .attributes()
            .set_html(&label(&lines))
            .set_style(dot_writer::Style::Dashed)
            .set("color", "#c98b86", true)
            .set("fontcolor", "#8a6a67", true)
            .set_font_size(8.0);
    }
}

/// A transition that a run took: blue, with the numbers of its events before its label. Never joined with
/// others.
fn walked(graph: &mut Scope<'_, '_>, view: &View<'_>, transition: &Transition, steps: &[usize]) {
    let mut lines = vec![format!("<B>{}</B>", taken(steps))];
    lines.extend(transition_lines(view, transition));
    let edge = graph.edge(id(view, transition.source), id(view, transition.target));
    edge.attributes()
        .set_html(&label(&lines))
        .set("color", "#1565c0", true)
        .set("fontcolor", "#0d47a1", true)
        .set("penwidth", "2.5", true);
}

/// Is it a self-loop whose label would be its action alone?
fn says_only_its_action(transition: &Transition) -> bool {
    transition.source == transition.target && transition.guard.is_true() && transition.assignments.is_empty()
}

/// `*` for a location that stays where it is whatever happens, the list of actions otherwise.
fn loop_lines(view: &View<'_>, transitions: &[&Transition]) -> Vec<String> {
    if view.stage == Some(Stage::Complete) && transitions.len() == view.iosts.actions.len() {
        return vec!["<B>*</B>".to_owned()];
    }
    transitions.iter().map(|transition| action_line(view, transition)).collect()
}

fn action_line(view: &View<'_>, transition: &Transition) -> String {
    let shown = view.iosts.action(transition.action);
    format!("<B>{}</B>", html(&action(shown, view.sign(shown.kind))))
}

fn transition_lines(view: &View<'_>, transition: &Transition) -> Vec<String> {
    let mut lines = vec![action_line(view, transition)];
    lines.extend(escaped(guard_lines(&transition.guard)));
    lines.extend(
        transition.assignments.iter().map(|(variable, value)| html(&format!("{variable} := {value}"))),
    );
    lines
}

fn escaped(lines: Vec<String>) -> Vec<String> {
    lines.iter().map(|line| html(line)).collect()
}

fn small(text: &str) -> String {
    format!("<FONT POINT-SIZE=\"8\" COLOR=\"#555555\">{}</FONT>", html(text))
}

/// Lines as an HTML-like label, aligned to the left; the spaces keep it off its arrow.
fn label(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!(" {line} <BR ALIGN=\"LEFT\"/>")).collect();
    format!("<{}>", lines.concat())
}

fn id(view: &View<'_>, location: LocationId) -> String {
    format!("\"{}\"", quoted(&view.iosts.location(location).name))
}
