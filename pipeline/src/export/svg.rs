//! Writes a stage's result as a drawn picture: SVG, at the places that the layout finds. Nothing else is
//! needed.
//!
//! The conventions are those of the DOT export. Arrows into Fail and Inconclusive, loops and arrows over many
//! ranks are shown beside their location ([`make_picture`]). A viewer shows the whole text of such an aside
//! when the mouse rests on it. The same view gives the same text: no font is asked for the width of a text.

use std::fmt::Write;

use coreach_model::TransitionId;
use coreach_model::visible::visible;

use super::dot::mark_colours;
use super::labels::condition_lines;
use super::layout::LayoutPoint;
use super::picture::{Aside, AsideKind, LINE, Picture, PictureWords, make_picture, width_of};
use super::{ExportOptions, View};

const SIZE: f64 = 11.0;

/// Draws the view. `Err` says why it is not drawn.
pub fn to_svg(view: &View<'_>, options: ExportOptions) -> Result<String, String> {
    let drawn = make_picture(view, PictureWords::All, options.hide_fail, options.facts)?;
    let mut paper = Paper::default();
    let condition = initial_lines(view);
    paper.down = 22.0_f64.max(condition.len() as f64 * LINE + 8.0);
    draw_arrows(&mut paper, view, &drawn);
    draw_asides(&mut paper, view, &drawn);
    for node in &drawn.nodes {
        let (fill, border) = mark_colours(view.mark(node.location));
        let location = view.iosts.location(node.location);
        let title = location.description.as_deref().unwrap_or(&location.name);
        paper.node(node.at, (node.width, node.height), &node.lines, (fill, border), title);
        if node.location == view.iosts.initial {
            let own_asides = drawn.asides.iter().filter(|aside| aside.location == node.location);
            let top = node.at.y - node.height / 2.0;
            let highest = own_asides.map(|aside| aside.at.y - aside.height / 2.0).fold(top, f64::min);
            paper.initial(LayoutPoint { x: node.at.x, y: top }, highest, &condition);
        }
    }
    let title = format!("{} {}", view.iosts.name, view.what);
    Ok(paper.finish(&title, (drawn.width, drawn.height), &lines_below(view)))
}

/// Gives the lines at the arrow into the initial location.
fn initial_lines(view: &View<'_>) -> Vec<String> {
    let condition = &view.iosts.initial_condition;
    if condition.is_true() { Vec::new() } else { condition_lines(condition) }
}

/// Gives the lines below the picture: its name, what holds for all of it, and whose side it shows.
fn lines_below(view: &View<'_>) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", view.iosts.name, view.what.replace('_', " "))];
    if view.found.reachable == Some(false) {
        lines.push("The purpose cannot be reached.".to_owned());
    }
    lines.extend(view.rule_for_the_others());
    lines.push(view.sides().to_owned());
    lines
}

fn is_walked(view: &View<'_>, transitions: &[TransitionId]) -> bool {
    transitions.iter().any(|number| view.walked.contains_key(number))
}

fn draw_arrows(paper: &mut Paper, view: &View<'_>, drawn: &Picture) {
    for arrow in &drawn.arrows {
        let line = if is_walked(view, &arrow.transitions) { WALKED } else { PLAIN };
        paper.arrow(&arrow.points, line);
        paper.label(arrow.points[arrow.label], arrow.width, &arrow.lines);
    }
}

/// Draws the asides, each with a line from the right border of its location.
fn draw_asides(paper: &mut Paper, view: &View<'_>, drawn: &Picture) {
    for aside in &drawn.asides {
        let Some(node) = drawn.nodes.iter().find(|node| node.location == aside.location) else { continue };
        let colours @ (_, border) = match aside.kind {
            AsideKind::Verdict(location) => mark_colours(view.mark(location)),
            AsideKind::Loop | AsideKind::Far(_) => ("#f5f5f5", "#999999"),
        };
        let line =
            if is_walked(view, &aside.transitions) { WALKED } else { Line { colour: border, ..DASHED } };
        let from = LayoutPoint { x: node.at.x + node.width / 2.0, y: node.at.y };
        let to = LayoutPoint { x: aside.at.x - aside.width / 2.0, y: aside.at.y };
        paper.straight(from, to, line);
        paper.aside(aside, colours, &full_text(view, aside));
    }
}

/// Writes everything that an aside stands for, as XML: a viewer shows it where the mouse rests.
fn full_text(view: &View<'_>, aside: &Aside) -> String {
    const MOST: usize = 40;
    let describe = |number: &TransitionId| {
        let transition = &view.iosts.transitions[*number];
        let guard = condition_lines(&transition.guard).join(" ");
        format!("{} [{guard}]", view.iosts.describe(transition))
    };
    let mut lines: Vec<String> =
        aside.transitions.iter().take(MOST).map(|number| escape_xml(&describe(number))).collect();
    if aside.transitions.len() > MOST {
        lines.push(format!("... {} more", aside.transitions.len() - MOST));
    }
    lines.join("&#10;")
}

#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) colour: &'static str,
    pub(super) is_dashed: bool,
    pub(super) width: f64,
}

pub(super) const PLAIN: Line = Line { colour: "#444444", is_dashed: false, width: 1.0 };
pub(super) const DASHED: Line = Line { colour: "#999999", is_dashed: true, width: 1.0 };
const WALKED: Line = Line { colour: "#1565c0", is_dashed: false, width: 2.5 };

#[derive(Default)]
pub(super) struct Paper {
    body: String,
    /// How far down everything is moved, to make room for the arrow into the initial location.
    pub(super) down: f64,
    /// The right end of the text written so far.
    right: f64,
}

impl Paper {
    /// Draws a node with its lines.
    pub(super) fn node(
        &mut self,
        at: LayoutPoint,
        (width, height): (f64, f64),
        lines: &[String],
        (fill, border): (&str, &str),
        title: &str,
    ) {
        let (left, top) = (at.x - width / 2.0, at.y - height / 2.0 + self.down);
        let _ = writeln!(
            self.body,
            "<g><title>{}</title><rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"{fill}\" stroke=\"{border}\"/>",
            escape_xml(title)
        );
        let first = at.y + self.down - (lines.len() as f64 - 1.0) * LINE / 2.0 + 4.0;
        for (number, line) in lines.iter().enumerate() {
            let middle_of_line = LayoutPoint { x: at.x, y: first + number as f64 * LINE };
            self.text(middle_of_line, line, " text-anchor=\"middle\"");
        }
        self.body.push_str("</g>\n");
    }

    /// Draws an aside with its lines. The title is XML already.
    fn aside(&mut self, aside: &Aside, (fill, border): (&str, &str), title: &str) {
        let (left, top) = (aside.at.x - aside.width / 2.0, aside.at.y - aside.height / 2.0 + self.down);
        let _ = writeln!(
            self.body,
            "<g><title>{title}</title><rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"{fill}\" fill-opacity=\"0.35\" stroke=\"{border}\" stroke-dasharray=\"3 2\"/>",
            aside.width, aside.height
        );
        self.lines(LayoutPoint { x: left + 8.0, y: top + 15.0 }, LINE, &aside.lines);
        self.body.push_str("</g>\n");
    }

    /// Draws a smooth line through points: it passes each of them straight up or down.
    pub(super) fn arrow(&mut self, points: &[LayoutPoint], line: Line) {
        let Some(first) = points.first() else { return };
        let mut path = format!("M{} {}", first.x, first.y + self.down);
        for pair in points.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let middle = (from.y + to.y) / 2.0 + self.down;
            let _ = write!(path, " C{} {middle} {} {middle} {} {}", from.x, to.x, to.x, to.y + self.down);
        }
        self.path(&path, line);
    }

    pub(super) fn straight(&mut self, from: LayoutPoint, to: LayoutPoint, line: Line) {
        let down = self.down;
        self.path(&format!("M{} {} L{} {}", from.x, from.y + down, to.x, to.y + down), line);
    }

    fn path(&mut self, path: &str, line: Line) {
        let Line { colour, is_dashed, width } = line;
        let dashes = if is_dashed { " stroke-dasharray=\"4 3\"" } else { "" };
        let _ = writeln!(
            self.body,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes} marker-end=\"url(#head)\"/>"
        );
    }

    /// Writes lines on an arrow, on a background of their own.
    pub(super) fn label(&mut self, at: LayoutPoint, width: f64, lines: &[String]) {
        let height = lines.len() as f64 * LINE;
        let (left, top) = (at.x - width / 2.0 + 4.0, at.y - height / 2.0 + self.down);
        let _ = writeln!(
            self.body,
            "<g><rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{height}\" fill=\"white\" fill-opacity=\"0.85\"/>",
            width - 8.0
        );
        self.lines(LayoutPoint { x: left + 4.0, y: top + 10.0 }, LINE, lines);
        self.body.push_str("</g>\n");
    }

    /// Draws the arrow to the initial location; its condition stands above everything next to the location.
    fn initial(&mut self, at: LayoutPoint, above: f64, condition: &[String]) {
        let top = above - 16.0;
        let _ = writeln!(self.body, "<circle cx=\"{}\" cy=\"{}\" r=\"4\"/>", at.x, top + self.down);
        self.straight(LayoutPoint { x: at.x, y: top }, at, PLAIN);
        for (number, line) in condition.iter().rev().enumerate() {
            let y = above + self.down - 6.0 - number as f64 * LINE;
            self.text(LayoutPoint { x: at.x + 12.0, y }, line, "");
        }
    }

    /// Writes lines below each other, the first one in bold.
    fn lines(&mut self, at: LayoutPoint, line_distance: f64, lines: &[String]) {
        for (number, line) in lines.iter().enumerate() {
            let bold = if number == 0 { " font-weight=\"bold\"" } else { "" };
            self.text(LayoutPoint { x: at.x, y: at.y + number as f64 * line_distance }, line, bold);
        }
    }

    /// Writes one line, and notes how far it reaches to the right.
    fn text(&mut self, LayoutPoint { x, y }: LayoutPoint, text: &str, attributes: &str) {
        self.right = self.right.max(x + width_of(text, SIZE) + 8.0);
        let text = escape_xml(text);
        let _ = writeln!(self.body, "<text x=\"{x}\" y=\"{y}\"{attributes}>{text}</text>");
    }

    /// Makes the whole text, for a picture that is this wide and high. `below` are the lines under it.
    pub(super) fn finish(mut self, title: &str, (width, height): (f64, f64), below: &[String]) -> String {
        let bottom = height + self.down + 6.0;
        self.lines(LayoutPoint { x: 12.0, y: bottom + 12.0 }, LINE + 1.0, below);
        let width = width.max(self.right).ceil();
        let height = (bottom + 12.0 + below.len() as f64 * (LINE + 1.0)).ceil();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"Helvetica, Arial, sans-serif\" font-size=\"{SIZE}\">\n\
             <title>{}</title>\n\
             <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\" markerUnits=\"userSpaceOnUse\">\
             <path d=\"M0 0.5 L8 4 L0 7.5 z\" fill=\"context-stroke\"/></marker></defs>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n{}</svg>\n",
            escape_xml(title),
            self.body
        )
    }
}

/// Escapes text for XML. Invisible signs are shown by their numbers.
fn escape_xml(text: &str) -> String {
    let text = visible(text).replace(['\n', '\r', '\t'], " ");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
