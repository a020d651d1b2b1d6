//! Writes a symbolic execution tree as a picture: as SVG, or as text for Graphviz.
//!
//! The tree is no stage's result, so it is not in the list of exports. It is drawn from the implementation's
//! side: `Coin?` is received, `Return!` is sent. A node shows its location, the data that the step has
//! changed, and what the step adds to the path condition. A merged node also shows the merged state. The
//! arrow to the node in which a state is included is dashed. Grey nodes were stopped by a limit, green ones
//! are accepted by a purpose. `(?)` stands where a path condition is not known to be satisfiable.

use coreach_analyses::symbolic::{NodeEnd, NodeId, PathTree, TreeMove, TreeNode};
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::{Datum, Number, Term};
use dot_writer::{Attributes, DotWriter, Scope, Style};

use super::dot::{style_graph, with_title};
use super::labels::{action_text, condition_lines, escape_html};
use super::layout::{LayoutLink, LayoutRoute, NodeSize, lay_out};
use super::picture::{LINE, text_height, too_large, width_of};
use super::svg::{DASHED, PLAIN, Paper};

/// Writes the tree as text for Graphviz. `accepting` is sorted.
pub fn tree_dot(iosts: &Iosts, tree: &PathTree, accepting: &[NodeId]) -> String {
    let mut bytes = Vec::new();
    {
        let mut writer = DotWriter::from(&mut bytes);
        let mut graph = writer.digraph();
        write_frame(&mut graph, iosts);
        for (number, node) in tree.nodes.numbered() {
            draw_node(&mut graph, iosts, tree, number, accepting.binary_search(&number).is_ok());
            let Some(parent) = node.parent else { continue };
            let edge = graph.edge(node_id(parent), node_id(number));
            edge.attributes()
                .set_html(&format!("< <B>{}</B> >", escape_html(&describe_move(iosts, &node.by))));
        }
        for (number, node) in tree.nodes.numbered() {
            if let NodeEnd::Included(other) | NodeEnd::Merged(other) = node.end {
                let edge = graph.edge(node_id(number), node_id(other));
                let mut attributes = edge.attributes();
                attributes.set_style(Style::Dashed).set("color", "#999999", true);
                // The arrow does not decide which node lies below which.
                attributes.set("constraint", "false", true);
            }
        }
    }
    with_title(&bytes, &format!("{} tree", iosts.name))
}

fn write_frame(graph: &mut Scope<'_, '_>, iosts: &Iosts) {
    let label = format!(
        "<<B>{}</B>: symbolic execution<BR/><FONT POINT-SIZE=\"10\">? the system receives, ! the system sends</FONT>>",
        escape_html(&iosts.name)
    );
    style_graph(graph, &label, &[], 10.0);
}

/// Draws a node. Its first line, the location, is bold, but not the doubt behind it.
fn draw_node(graph: &mut Scope<'_, '_>, iosts: &Iosts, tree: &PathTree, number: NodeId, accepts: bool) {
    let mut lines = Vec::new();
    for (index, line) in write_node_lines(iosts, tree, number).iter().enumerate() {
        lines.push(match line.split_once(DOUBT) {
            _ if index > 0 => escape_html(line),
            Some((name, "")) => format!("<B>{}</B>{DOUBT}", escape_html(name)),
            _ => format!("<B>{}</B>", escape_html(line)),
        });
    }
    let mut drawn = graph.node_named(node_id(number));
    drawn.set_html(&format!("<{}>", lines.join("<BR/>")));
    if let Some((fill, border)) = choose_colours(tree, number, accepts) {
        drawn.set("fillcolor", fill, true).set("color", border, true);
    }
}

/// This stands behind the location of a node whose path condition is not known to be satisfiable.
const DOUBT: &str = " (?)";

/// Writes the lines of a node: its location, the changed data, and the conditions that its step adds.
fn write_node_lines(iosts: &Iosts, tree: &PathTree, number: NodeId) -> Vec<String> {
    let node = &tree.nodes[number];
    let doubt = if node.is_certain || node.end == NodeEnd::Unsatisfiable { "" } else { DOUBT };
    let mut lines = vec![format!("{}{doubt}", iosts.location(node.state.location).label)];
    lines.extend(changed_data(tree, node).into_iter().map(|(datum, value)| format!("{datum} = {value}")));
    let added = Term::and(added_conditions(tree, node));
    if !added.is_true() {
        lines.extend(condition_lines(&added));
    }
    if let Some(merged) = &node.merged {
        lines.push("merged:".to_owned());
        let values = merged.data_terms();
        lines.extend(values.into_iter().map(|(datum, value)| format!("{datum} = {value}")));
        let condition = Term::and(merged.condition.iter().cloned());
        lines.extend(if condition.is_true() { Vec::new() } else { condition_lines(&condition) });
    }
    if node.end == NodeEnd::Unsatisfiable {
        lines.push("no data satisfy this".to_owned());
    }
    lines
}

/// Chooses the colours of a node and its border. `None`: those of other pictures.
fn choose_colours(tree: &PathTree, number: NodeId, accepts: bool) -> Option<(&'static str, &'static str)> {
    match tree.nodes[number].end {
        _ if accepts => Some(("#e3f4e3", "#2e7d32")),
        NodeEnd::Open | NodeEnd::Depth | NodeEnd::Nodes => Some(("#eeeeee", "#999999")),
        NodeEnd::Included(_) | NodeEnd::Merged(_) => Some(("white", "#999999")),
        NodeEnd::Expanded | NodeEnd::Sink | NodeEnd::Unsatisfiable => None,
    }
}

/// Draws the tree as SVG, with the layout of all pictures. `accepting` is sorted. `Err`: it is too large.
pub fn tree_svg(iosts: &Iosts, tree: &PathTree, accepting: &[NodeId]) -> Result<String, String> {
    if let Some(why) = too_large(tree.nodes.len(), tree.nodes.len()) {
        return Err(why);
    }
    let lines: Vec<Vec<String>> =
        tree.nodes.numbers().map(|number| write_node_lines(iosts, tree, number)).collect();
    let width_of_lines =
        |lines: &[String]| lines.iter().map(|line| width_of(line, 11.0)).fold(0.0, f64::max).ceil() + 16.0;
    let size = |lines: &Vec<String>| NodeSize {
        width: width_of_lines(lines),
        height: text_height(lines),
        width_beside: 0.0,
        height_beside: 0.0,
    };
    let sizes: Vec<NodeSize> = lines.iter().map(size).collect();
    let step =
        |(number, node): (NodeId, &TreeNode)| Some((node.parent?, number, describe_move(iosts, &node.by)));
    let steps: Vec<(NodeId, NodeId, String)> = tree.nodes.numbered().filter_map(step).collect();
    let link = |(parent, number, move_text): &(NodeId, NodeId, String)| LayoutLink {
        source: parent.place(),
        target: number.place(),
        width: width_of_lines(std::slice::from_ref(move_text)),
        height: LINE,
    };
    let links: Vec<LayoutLink> = steps.iter().map(link).collect();
    let layout = lay_out(&sizes, &links);
    let mut paper = Paper::default();
    for (((_, _, move_text), link), route) in steps.iter().zip(&links).zip(&layout.routes) {
        if let LayoutRoute::Through { points, label } = route {
            paper.arrow(points, PLAIN);
            paper.label(points[*label], link.width, std::slice::from_ref(move_text));
        }
    }
    for (number, node) in tree.nodes.numbered() {
        if let NodeEnd::Included(other) | NodeEnd::Merged(other) = node.end {
            paper.straight(layout.nodes[number.place()], layout.nodes[other.place()], DASHED);
        }
    }
    for ((number, lines), size) in tree.nodes.numbers().zip(&lines).zip(&sizes) {
        let colours = choose_colours(tree, number, accepting.binary_search(&number).is_ok());
        let colours = colours.unwrap_or(("white", "black"));
        let middle = layout.nodes[number.place()];
        paper.node(middle, (size.width, size.height), lines, colours, &lines[0]);
    }
    let below = [
        format!("{}: symbolic execution", iosts.name),
        "? the system receives, ! the system sends".to_owned(),
    ];
    Ok(paper.finish(&format!("{} tree", iosts.name), (layout.width, layout.height), &below))
}

/// Describes a step: `Coin?(value#0)`.
pub fn describe_move(iosts: &Iosts, by: &TreeMove) -> String {
    match by {
        TreeMove::Start => String::new(),
        TreeMove::Quiet => "quiescence!".to_owned(),
        TreeMove::Take(step) => {
            let action = iosts.action_of(step.transition);
            let sign = match action.kind {
                ActionKind::Input => "?",
                ActionKind::Output | ActionKind::Quiescence => "!",
                ActionKind::Internal => "",
            };
            action_text(action, sign, &step.parameters)
        }
    }
}

/// Lists the data that the node's step has changed, with their values.
pub fn changed_data(tree: &PathTree, node: &TreeNode) -> Vec<(Datum, Term)> {
    let earlier = node.parent.map(|parent| tree.nodes[parent].continued_state().data_terms());
    let earlier = earlier.unwrap_or_default();
    let data = node.state.data_terms().into_iter();
    data.filter(|(datum, value)| earlier.get(datum) != Some(value)).collect()
}

/// Lists the conjuncts that the node's step has added to the path condition.
pub fn added_conditions(tree: &PathTree, node: &TreeNode) -> Vec<Term> {
    let inherited = node.parent.map_or(0, |parent| tree.nodes[parent].continued_state().condition.len());
    node.state.condition[inherited..].to_vec()
}

fn node_id(node: NodeId) -> String {
    format!("n{}", node.place())
}
