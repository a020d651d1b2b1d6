//! Decides what a picture of a stage's result shows, and where: for the SVG, and for the page.
//!
//! Three kinds of arrows would make the graph of a test case unclear: arrows into Fail and Inconclusive,
//! which come from everywhere; self-loops; and arrows back over many pages. None of these is drawn through
//! the graph. Each location has an [`Aside`] at its right for each kind: one short arrow, with the outputs
//! listed. The layout only keeps room for it, so such arrows cross nothing.
//!
//! With short words, arrows between the same two locations are joined, and loops are listed in their
//! location.

use std::collections::{BTreeMap, BTreeSet};

use coreach_model::iosts::{ActionId, ActionKind, LocationId};
use coreach_model::visible::visible;
use coreach_model::{Datum, Term, TransitionId};

use super::View;
use super::labels::{WIDTH, action_text, fact_lines, fill_lines, guard_lines, steps_text};
use super::layout::{Layout, LayoutLink, LayoutPoint, LayoutRoute, NodeSize, lay_out};
use crate::artifact::{Mark, Verdict};

/// A picture with more locations, or eight times as many transitions, is not drawn: nobody could read it.
pub const MOST_LOCATIONS: usize = 12_000;

/// The most lines of an aside. Names that need more share lines.
const MOST_ASIDE: usize = 8;

pub const LINE: f64 = 13.0;
/// The distance from a location to the things next to it.
const ARROW: f64 = 26.0;
/// The distance between two asides of one location.
const ASIDE_GAP: f64 = 4.0;

/// How much text a picture shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureWords {
    /// The action, and the beginning of guard and assignments. The rest is shown when the user asks for it.
    Short,
    All,
}

/// A location as the picture shows it, with its middle.
#[derive(Clone, PartialEq, Debug)]
pub struct DrawnNode {
    pub location: LocationId,
    pub lines: Vec<String>,
    pub at: LayoutPoint,
    pub width: f64,
    pub height: f64,
}

/// An arrow that is drawn: a transition, or with short words all transitions between two locations.
#[derive(Clone, PartialEq, Debug)]
pub struct Arrow {
    pub transitions: Vec<TransitionId>,
    /// The lines written at the arrow; the first one is its action.
    pub lines: Vec<String>,
    pub points: Vec<LayoutPoint>,
    /// The number of the point that is the label's middle.
    pub label: usize,
    pub width: f64,
}

/// The kinds of things that stand next to a location instead of being drawn through the graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum AsideKind {
    /// A loop. With short words it is listed in the location.
    Loop,
    /// An arrow to a place that is too far away.
    Far(LocationId),
    Verdict(LocationId),
}

/// Transitions of one location that are shown next to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Aside {
    pub location: LocationId,
    pub kind: AsideKind,
    pub transitions: Vec<TransitionId>,
    pub lines: Vec<String>,
    pub at: LayoutPoint,
    pub width: f64,
    pub height: f64,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Picture {
    pub nodes: Vec<DrawnNode>,
    pub arrows: Vec<Arrow>,
    /// The transitions that are shown next to a location.
    pub asides: Vec<Aside>,
    pub width: f64,
    pub height: f64,
}

/// Says why a picture of this size is not drawn; `None` if it is.
pub(super) fn too_large(locations: usize, transitions: usize) -> Option<String> {
    (locations > MOST_LOCATIONS || transitions > 8 * MOST_LOCATIONS).then(|| {
        format!(
            "{locations} locations and {transitions} transitions are too many for a picture (at most \
            {MOST_LOCATIONS} and {}); use the format json, another stage, or a domain that prunes more",
            8 * MOST_LOCATIONS
        )
    })
}

/// Estimates the greatest width of a text in the fonts that viewers take for Helvetica, with the first lines
/// in bold; `size` is the font's.
pub fn width_of(text: &str, size: f64) -> f64 {
    let width_of_sign = |sign: char| match sign {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' | '(' | ')'
        | '[' | ']' => 0.39,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        'A'..='Z' | '&' | '=' | '<' | '>' | '+' => 0.75,
        sign if sign.is_ascii() => 0.63,
        // In wide scripts one sign is a syllable.
        _ => 1.0,
    };
    text.chars().map(width_of_sign).sum::<f64>() * size
}

/// Lays out the picture of a view, perhaps without Fail or with the facts. The error: it is too large.
pub fn make_picture(
    view: &View<'_>,
    words: PictureWords,
    hide_fail: bool,
    show_facts: bool,
) -> Result<Picture, String> {
    if let Some(why) = too_large(view.iosts.locations.len(), view.iosts.transitions.len()) {
        return Err(why);
    }
    let mut plan = PicturePlan::new(view, words, hide_fail, show_facts);
    let (mut sizes, mut links) = plan.measure();
    let mut layout = lay_out(&sizes, &links);
    // Arrows that are too long are shown aside, and the others get a new layout.
    if layout.routes.contains(&LayoutRoute::Far) {
        plan.set_aside(view, &layout);
        (sizes, links) = plan.measure();
        layout = lay_out(&sizes, &links);
    }
    Ok(plan.lay_out(&sizes, &links, layout))
}

/// The things that will be drawn, before their places are known.
struct PicturePlan {
    words: PictureWords,
    nodes: Vec<(LocationId, Vec<String>)>,
    arrows: Vec<PlannedArrow>,
    asides: BTreeMap<(LocationId, AsideKind), AsideText>,
}

/// The transitions of an aside, and its lines.
type AsideText = (Vec<TransitionId>, Vec<String>);

struct PlannedArrow {
    transitions: Vec<TransitionId>,
    source: LocationId,
    target: LocationId,
    lines: Vec<String>,
}

impl PicturePlan {
    /// Divides the transitions into arrows and asides, and writes the lines of the nodes.
    fn new(view: &View<'_>, words: PictureWords, hide_fail: bool, facts: bool) -> Self {
        let is_beside = |location: LocationId| {
            matches!(view.mark(location), Some(Mark::Verdict(Verdict::Fail | Verdict::Inconclusive)))
                && location != view.iosts.initial
        };
        let mut plan = PicturePlan { words, nodes: Vec::new(), arrows: Vec::new(), asides: BTreeMap::new() };
        // The initial location is at the top.
        let other_locations = view.iosts.location_ids().filter(|location| *location != view.iosts.initial);
        for location in std::iter::once(view.iosts.initial).chain(other_locations) {
            if !is_beside(location) {
                plan.nodes.push((location, node_lines(view, location, facts)));
            }
        }
        let mut arrow_between: BTreeMap<(LocationId, LocationId), usize> = BTreeMap::new();
        for (number, transition) in view.iosts.transitions.numbered() {
            let (source, target) = (transition.source, transition.target);
            if is_beside(source) || (hide_fail && view.is_fail(target)) {
                continue;
            }
            if is_beside(target) {
                plan.add_aside(source, AsideKind::Verdict(target), &[number]);
            } else if target == source {
                plan.add_aside(source, AsideKind::Loop, &[number]);
            } else if words == PictureWords::Short
                && let Some(index) = arrow_between.get(&(source, target))
            {
                plan.arrows[*index].transitions.push(number);
            } else {
                arrow_between.insert((source, target), plan.arrows.len());
                let lines = transition_lines(view, number, words);
                plan.arrows.push(PlannedArrow { transitions: vec![number], source, target, lines });
            }
        }
        for arrow in plan.arrows.iter_mut().filter(|arrow| arrow.transitions.len() > 1) {
            arrow.lines = one_line_each(view, &arrow.transitions);
        }
        plan.write_asides(view);
        plan
    }

    /// Adds transitions to the location's aside of this kind. `write_asides` writes its lines.
    fn add_aside(&mut self, source: LocationId, kind: AsideKind, added: &[TransitionId]) {
        let (transitions, _) = self.asides.entry((source, kind)).or_default();
        transitions.extend(added);
    }

    /// Writes the lines of the asides.
    fn write_asides(&mut self, view: &View<'_>) {
        let iosts = view.iosts;
        let taken: BTreeSet<_> = iosts.transitions.iter().map(|t| (t.source, t.action)).collect();
        let is_output = |action: &ActionId| iosts.action(*action).kind == ActionKind::Output;
        let outputs: Vec<ActionId> = iosts.action_ids().filter(is_output).collect();
        for ((location, kind), (numbers, lines)) in &mut self.asides {
            let head = match kind {
                AsideKind::Loop if self.words == PictureWords::Short => {
                    *lines = one_line_each(view, numbers);
                    lines.iter_mut().for_each(|line| line.insert_str(0, "\u{21ba} "));
                    continue;
                }
                AsideKind::Loop => "back here".to_owned(),
                AsideKind::Far(to) | AsideKind::Verdict(to) => {
                    visible(&iosts.location(*to).label).into_owned()
                }
            };
            *lines = vec![head];
            let is_fail = matches!(kind, AsideKind::Verdict(to) if view.is_fail(*to));
            match kind {
                AsideKind::Loop | AsideKind::Verdict(_) if self.words == PictureWords::All && !is_fail => {
                    lines.extend(numbers.iter().flat_map(|id| transition_lines(view, *id, self.words)));
                    if lines.len() > MOST_ASIDE {
                        // The last line says how many are hidden.
                        let hidden = lines.len() - (MOST_ASIDE - 1);
                        lines.truncate(MOST_ASIDE - 1);
                        lines.push(format!("... ({hidden} more)"));
                    }
                }
                // There are many outputs, and Fail follows where no arrow allows them.
                _ if is_fail
                    && outputs.len() >= MOST_ASIDE
                    && outputs.iter().all(|output| taken.contains(&(*location, *output))) =>
                {
                    let is_other = |number: &&TransitionId| !is_output(&iosts.transitions[**number].action);
                    let named_transitions: Vec<TransitionId> =
                        numbers.iter().filter(is_other).copied().collect();
                    lines.push("any other output".to_owned());
                    lines.extend(action_names(view, &named_transitions));
                }
                // Guards of Fail say what others do not. The names are enough: the user can ask for the rest.
                _ => lines.extend(action_names(view, numbers)),
            }
        }
    }

    /// Makes asides of the arrows without a route.
    fn set_aside(&mut self, view: &View<'_>, layout: &Layout) {
        let arrows = std::mem::take(&mut self.arrows);
        for (arrow, route) in arrows.into_iter().zip(&layout.routes) {
            match route {
                LayoutRoute::Far => {
                    self.add_aside(arrow.source, AsideKind::Far(arrow.target), &arrow.transitions);
                }
                LayoutRoute::Through { .. } | LayoutRoute::Loop => self.arrows.push(arrow),
            }
        }
        self.write_asides(view);
    }

    /// Measures the nodes with their asides, and the labels of the arrows.
    fn measure(&self) -> (Vec<NodeSize>, Vec<LayoutLink>) {
        let mut index_of_node: BTreeMap<LocationId, usize> = BTreeMap::new();
        let mut sizes = Vec::new();
        for (location, lines) in &self.nodes {
            index_of_node.insert(*location, sizes.len());
            let mut size = NodeSize {
                width: text_width(lines).max(36.0),
                height: text_height(lines).max(24.0),
                width_beside: 0.0,
                height_beside: 0.0,
            };
            for ((_, kind), (_, aside_lines)) in self.asides_of(*location) {
                if self.is_inside(*kind) {
                    size.width = size.width.max(text_width(aside_lines));
                    size.height += aside_lines.len() as f64 * LINE;
                } else {
                    size.width_beside = size.width_beside.max(ARROW + text_width(aside_lines));
                    size.height_beside += text_height(aside_lines) + ASIDE_GAP;
                }
            }
            sizes.push(size);
        }
        let link = |arrow: &PlannedArrow| LayoutLink {
            source: index_of_node[&arrow.source],
            target: index_of_node[&arrow.target],
            width: text_width(&arrow.lines),
            // A label has no border, so it needs less room than a node.
            height: text_height(&arrow.lines) - 6.0,
        };
        let links = self.arrows.iter().map(link).collect();
        (sizes, links)
    }

    fn asides_of(
        &self,
        location: LocationId,
    ) -> impl Iterator<Item = (&(LocationId, AsideKind), &AsideText)> {
        // The greatest kind there is.
        let last = AsideKind::Verdict(LocationId(u32::MAX));
        self.asides.range((location, AsideKind::Loop)..=(location, last))
    }

    fn is_inside(&self, kind: AsideKind) -> bool {
        kind == AsideKind::Loop && self.words == PictureWords::Short
    }

    /// Makes the picture from the places that the layout found.
    fn lay_out(self, sizes: &[NodeSize], links: &[LayoutLink], layout: Layout) -> Picture {
        let mut picture = Picture { width: layout.width, height: layout.height, ..Picture::default() };
        for (((location, lines), size), middle_of_node) in self.nodes.iter().zip(sizes).zip(&layout.nodes) {
            let NodeSize { width, height, .. } = *size;
            picture.nodes.push(DrawnNode {
                location: *location,
                lines: lines.clone(),
                at: *middle_of_node,
                width,
                height,
            });
            // The asides stand below each other, and their middle is the node's. `y` is the top of the next.
            // `height_beside` has a gap after each aside, also after the last one.
            let mut y = middle_of_node.y - (size.height_beside - ASIDE_GAP) / 2.0;
            for ((_, kind), (transitions, aside_lines)) in self.asides_of(*location) {
                let mut middle_of_aside = *middle_of_node;
                let (mut aside_width, mut aside_height) = (text_width(aside_lines), text_height(aside_lines));
                if self.is_inside(*kind) {
                    // It is listed in the node, 3 above its lower edge.
                    (aside_width, aside_height) = (width, aside_lines.len() as f64 * LINE);
                    middle_of_aside.y = (middle_of_node.y + (height - aside_height) / 2.0 - 3.0).round();
                } else {
                    middle_of_aside.x = (middle_of_node.x + width / 2.0 + ARROW + aside_width / 2.0).round();
                    middle_of_aside.y = (y + aside_height / 2.0).round();
                    y += aside_height + ASIDE_GAP;
                }
                picture.asides.push(Aside {
                    location: *location,
                    kind: *kind,
                    transitions: transitions.clone(),
                    lines: aside_lines.clone(),
                    at: middle_of_aside,
                    width: aside_width,
                    height: aside_height,
                });
            }
        }
        for ((arrow, route), link) in self.arrows.into_iter().zip(layout.routes).zip(links) {
            if let LayoutRoute::Through { points, label } = route {
                let PlannedArrow { transitions, lines, .. } = arrow;
                picture.arrows.push(Arrow { transitions, lines, points, label, width: link.width });
            }
        }
        picture
    }
}

/// Writes a line for each of the transitions, or only the names of their actions if there are many.
fn one_line_each(view: &View<'_>, numbers: &[TransitionId]) -> Vec<String> {
    let line_of = |number: &TransitionId| {
        let guard = guard_lines(&view.iosts.transitions[*number].guard).join(" ");
        shorten_line(format!("{} {guard}", action_name(view, *number, PictureWords::Short)).trim_end())
    };
    match numbers.len() > 3 * MOST_ASIDE {
        true => action_names(view, numbers),
        false => numbers.iter().map(line_of).collect(),
    }
}

/// Lists the names of their actions, each once. If there are many, a line has several.
fn action_names(view: &View<'_>, numbers: &[TransitionId]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in numbers.iter().map(|number| action_name(view, *number, PictureWords::Short)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.len() < MOST_ASIDE { names } else { fill_lines(names, ",") }
}

fn shorten_line(line: &str) -> String {
    match line.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{} ...", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

fn text_width(lines: &[String]) -> f64 {
    let widest = lines.iter().map(|line| width_of(line, 11.0)).fold(0.0, f64::max);
    // With some room on both sides.
    (widest + 16.0).ceil()
}

pub(super) fn text_height(lines: &[String]) -> f64 {
    lines.len() as f64 * LINE + 10.0
}

fn node_lines(view: &View<'_>, location: LocationId, facts: bool) -> Vec<String> {
    let mut lines = vec![visible(&view.iosts.location(location).label).into_owned()];
    if facts {
        lines.extend(fact_lines(view, location));
    }
    lines
}

/// Names the action, and before it the numbers of the events at which a run took the transition.
fn action_name(view: &View<'_>, number: TransitionId, words: PictureWords) -> String {
    let action = view.iosts.action_of(number);
    let name = match words {
        PictureWords::All => action_text(action, view.sign(action.kind), &action.parameters),
        PictureWords::Short => format!("{}{}", action.name, view.sign(action.kind)),
    };
    let steps = view.walked.get(&number).map_or(String::new(), |steps| steps_text(steps) + " ");
    visible(&format!("{steps}{name}")).into_owned()
}

/// Writes the action, then guard and assignments.
fn transition_lines(view: &View<'_>, number: TransitionId, words: PictureWords) -> Vec<String> {
    let transition = &view.iosts.transitions[number];
    let mut guard = guard_lines(&transition.guard);
    let assigned = |(variable, value): (&Datum, &Term)| format!("{variable} := {value}");
    let mut assignments: Vec<String> = transition.assignments.iter().map(assigned).collect();
    for lines in [&mut guard, &mut assignments].into_iter().filter(|_| words == PictureWords::Short) {
        let is_cut = lines.len() > 2;
        lines.truncate(2);
        lines.iter_mut().for_each(|line| *line = shorten_line(line));
        if let Some(last) = lines.last_mut().filter(|line| is_cut && !line.ends_with("...")) {
            last.push_str(" ...");
        }
    }
    let rest = guard.iter().chain(&assignments).map(|line| visible(line).into_owned());
    std::iter::once(action_name(view, number, words)).chain(rest).collect()
}
