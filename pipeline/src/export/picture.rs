//! Decides what a picture of a stage's result shows, and where: for the SVG, and for the page.
//!
//! A graph of a test case is small, and would be clear but for three kinds of arrows: those into Fail and
//! Inconclusive, which come from everywhere and lead to one place; self-loops; and arrows back over many
//! pages. None of these is drawn through the graph. Each location has an [`Aside`] at its right for each of
//! the kinds that it has: one short arrow, with the outputs listed apart. For the layout it is only room that
//! is kept free, so such arrows cost nothing, and cross nothing.
//!
//! With short words, arrows between the same two locations are joined, and loops are listed in their
//! location.

use std::collections::{BTreeMap, BTreeSet};

use coreach_model::iosts::{ActionId, ActionKind, LocationId};
use coreach_model::visible::visible;
use coreach_model::{Datum, Term, TransitionId};

use super::View;
use super::labels::{WIDTH, action_text, fact_lines, fill_lines, guard_lines, steps_text};
use super::layout::{Layout, LayoutLink, LayoutPoint, LayoutRoute, Size, lay_out};
use crate::artifact::{Mark, Verdict};

/// A picture with more locations than this, or eight times as many transitions, is not drawn: nobody could
/// see anything.
pub const MOST_LOCATIONS: usize = 12_000;

/// The most lines of an aside. Names that need more share lines.
const MOST_ASIDE: usize = 8;

pub const LINE: f64 = 13.0;
const PADDING: f64 = 8.0;
/// The distance from a location to the things next to it.
const ARROW: f64 = 26.0;

/// How much text a picture shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureWords {
    /// The picture shows the action and the beginning of guard and assignments. The rest is shown when the
    /// user asks for it.
    Short,
    All,
}

/// A picture, with the view that it shows.
#[derive(Clone, PartialEq, Debug)]
pub struct DrawnPicture {
    pub location: LocationId,
    pub lines: Vec<String>,
    pub at: LayoutPoint,
    pub width: f64,
    pub height: f64,
}

/// An arrow that is drawn: one transition, or with short words all transitions between the same two
/// locations.
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
pub enum PictureKind {
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
    pub kind: PictureKind,
    pub transitions: Vec<TransitionId>,
    pub lines: Vec<String>,
    pub at: LayoutPoint,
    pub width: f64,
    pub height: f64,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Picture {
    pub nodes: Vec<DrawnPicture>,
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
            "{locations} locations and {transitions} transitions are too many for a picture (at most {MOST_LOCATIONS} and {}); \
             ask for the format json, for another stage, or for a domain that prunes more",
            8 * MOST_LOCATIONS
        )
    })
}

/// Estimates the greatest width of a text in the fonts that viewers take for Helvetica, with the first lines
/// in bold; `size` is the font's.
pub fn width_of(text: &str, size: f64) -> f64 {
    let one = |sign: char| match sign {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' | '(' | ')'
        | '[' | ']' => 0.39,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        'A'..='Z' | '&' | '=' | '<' | '>' | '+' => 0.75,
        sign if sign.is_ascii() => 0.63,
        // In wide scripts one sign is a syllable.
        _ => 1.0,
    };
    text.chars().map(one).sum::<f64>() * size
}

pub fn make_picture(
    view: &View<'_>,
    words: PictureWords,
    hide_fail: bool,
    facts: bool,
) -> Result<Picture, String> {
    if let Some(why) = too_large(view.iosts.locations.len(), view.iosts.transitions.len()) {
        return Err(why);
    }
    let mut plan = PicturePlan::new(view, words, hide_fail, facts);
    let (mut sizes, mut links) = plan.sizes();
    let mut found = lay_out(&sizes, &links);
    if found.routes.contains(&LayoutRoute::Far) {
        plan.set_aside(view, &found);
        (sizes, links) = plan.sizes();
        found = lay_out(&sizes, &links);
    }
    Ok(plan.lay_out(&sizes, &links, found))
}

/// The things that will be drawn, before their places are known.
struct PicturePlan {
    words: PictureWords,
    nodes: Vec<(LocationId, Vec<String>)>,
    arrows: Vec<PlannedArrow>,
    asides: BTreeMap<(LocationId, PictureKind), Said>,
}

type Said = (Vec<TransitionId>, Vec<String>);

type PlannedArrow = (Vec<TransitionId>, LocationId, LocationId, Vec<String>);

impl PicturePlan {
    /// Divides the transitions into arrows and asides, and writes the lines of the nodes.
    fn new(view: &View<'_>, words: PictureWords, hide_fail: bool, facts: bool) -> Self {
        let is_beside = |location: LocationId| {
            matches!(view.mark(location), Some(Mark::Verdict(Verdict::Fail | Verdict::Inconclusive)))
                && location != view.iosts.initial
        };
        let mut plan = PicturePlan { words, nodes: Vec::new(), arrows: Vec::new(), asides: BTreeMap::new() };
        // The initial location is at the top.
        let others = view.iosts.location_ids().filter(|location| *location != view.iosts.initial);
        for location in std::iter::once(view.iosts.initial).chain(others) {
            if !is_beside(location) {
                plan.nodes.push((location, node_lines(view, location, facts)));
            }
        }
        let mut known: BTreeMap<(LocationId, LocationId), usize> = BTreeMap::new();
        for (number, transition) in view.iosts.transitions.numbered() {
            let (source, target) = (transition.source, transition.target);
            if is_beside(source) || (hide_fail && view.is_fail(target)) {
                continue;
            }
            if is_beside(target) {
                plan.aside(source, PictureKind::Verdict(target), &[number]);
            } else if target == source {
                plan.aside(source, PictureKind::Loop, &[number]);
            } else if words == PictureWords::Short
                && let Some(at) = known.get(&(source, target))
            {
                plan.arrows[*at].0.push(number);
            } else {
                known.insert((source, target), plan.arrows.len());
                let lines = transition_lines(view, number, words);
                plan.arrows.push((vec![number], source, target, lines));
            }
        }
        for (numbers, .., lines) in plan.arrows.iter_mut().filter(|arrow| arrow.0.len() > 1) {
            *lines = one_line_each(view, numbers);
        }
        plan.write_asides(view);
        plan
    }

    fn aside(&mut self, source: LocationId, kind: PictureKind, numbers: &[TransitionId]) {
        self.asides.entry((source, kind)).or_default().0.extend(numbers);
    }

    /// Writes the lines of the asides.
    fn write_asides(&mut self, view: &View<'_>) {
        let iosts = view.iosts;
        let leaving: BTreeSet<_> = iosts.transitions.iter().map(|each| (each.source, each.action)).collect();
        let is_output = |action: &ActionId| iosts.action(*action).kind == ActionKind::Output;
        let outputs: Vec<ActionId> = iosts.action_ids().filter(is_output).collect();
        for ((location, kind), (numbers, lines)) in &mut self.asides {
            let head = match kind {
                PictureKind::Loop if self.words == PictureWords::Short => {
                    *lines = one_line_each(view, numbers);
                    lines.iter_mut().for_each(|line| line.insert_str(0, "\u{21ba} "));
                    continue;
                }
                PictureKind::Loop => "back here".to_owned(),
                PictureKind::Far(to) | PictureKind::Verdict(to) => {
                    visible(&iosts.location(*to).label).into_owned()
                }
            };
            *lines = vec![head];
            let is_fail = matches!(kind, PictureKind::Verdict(to) if view.is_fail(*to));
            match kind {
                PictureKind::Loop | PictureKind::Verdict(_)
                    if self.words == PictureWords::All && !is_fail =>
                {
                    lines.extend(numbers.iter().flat_map(|each| transition_lines(view, *each, self.words)));
                    if lines.len() > MOST_ASIDE {
                        let more = lines.len() - (MOST_ASIDE - 1);
                        lines.truncate(MOST_ASIDE - 1);
                        lines.push(format!("... ({more} more)"));
                    }
                }
                // There are many outputs, and Fail follows where no arrow allows them.
                _ if is_fail
                    && outputs.len() >= MOST_ASIDE
                    && outputs.iter().all(|output| leaving.contains(&(*location, *output))) =>
                {
                    let is_other = |number: &&TransitionId| !is_output(&iosts.transitions[**number].action);
                    let others: Vec<TransitionId> = numbers.iter().filter(is_other).copied().collect();
                    lines.push("any other output".to_owned());
                    lines.extend(action_names(view, &others));
                }
                // Guards of Fail say what the others do not. The names are enough, and the rest is shown when
                // the user asks for it.
                _ => lines.extend(action_names(view, numbers)),
            }
        }
    }

    /// Makes asides of the arrows without a route.
    fn set_aside(&mut self, view: &View<'_>, found: &Layout) {
        let arrows = std::mem::take(&mut self.arrows);
        for (arrow, route) in arrows.into_iter().zip(&found.routes) {
            match route {
                LayoutRoute::Far => self.aside(arrow.1, PictureKind::Far(arrow.2), &arrow.0),
                _ => self.arrows.push(arrow),
            }
        }
        self.write_asides(view);
    }

    /// Measures the nodes with their asides, and the labels of the arrows.
    fn sizes(&self) -> (Vec<Size>, Vec<LayoutLink>) {
        let mut place: BTreeMap<LocationId, usize> = BTreeMap::new();
        let mut sizes = Vec::new();
        for (location, lines) in &self.nodes {
            place.insert(*location, sizes.len());
            let mut size = Size {
                width: text_width(lines).max(36.0),
                height: text_height(lines).max(24.0),
                beside: 0.0,
                tall: 0.0,
            };
            for ((_, kind), (_, said)) in self.asides_of(*location) {
                if self.is_inside(*kind) {
                    size.width = size.width.max(text_width(said));
                    size.height += said.len() as f64 * LINE;
                } else {
                    size.beside = size.beside.max(ARROW + text_width(said));
                    size.tall += text_height(said) + 4.0;
                }
            }
            sizes.push(size);
        }
        let link = |(_, source, target, lines): &PlannedArrow| {
            let at = |location: &LocationId| place.get(location).copied().unwrap_or_default();
            LayoutLink {
                source: at(source),
                target: at(target),
                width: text_width(lines),
                height: text_height(lines) - 6.0,
            }
        };
        let links = self.arrows.iter().map(link).collect();
        (sizes, links)
    }

    fn asides_of(&self, location: LocationId) -> impl Iterator<Item = (&(LocationId, PictureKind), &Said)> {
        let last = PictureKind::Verdict(LocationId(u32::MAX));
        self.asides.range((location, PictureKind::Loop)..=(location, last))
    }

    fn is_inside(&self, kind: PictureKind) -> bool {
        kind == PictureKind::Loop && self.words == PictureWords::Short
    }

    /// Makes the picture from the places that the layout found.
    fn lay_out(self, sizes: &[Size], links: &[LayoutLink], found: Layout) -> Picture {
        let mut picture = Picture { width: found.width, height: found.height, ..Picture::default() };
        for (((location, lines), size), at) in self.nodes.iter().zip(sizes).zip(&found.nodes) {
            let Size { width, height, .. } = *size;
            picture.nodes.push(DrawnPicture {
                location: *location,
                lines: lines.clone(),
                at: *at,
                width,
                height,
            });
            let mut y = at.y - (size.tall - 4.0) / 2.0;
            for ((_, kind), (transitions, said)) in self.asides_of(*location) {
                let (mut middle, mut own) = (*at, (text_width(said), text_height(said)));
                if self.is_inside(*kind) {
                    own = (width, said.len() as f64 * LINE);
                    middle.y = (at.y + (height - own.1) / 2.0 - 3.0).round();
                } else {
                    middle.x = (at.x + width / 2.0 + ARROW + own.0 / 2.0).round();
                    middle.y = (y + own.1 / 2.0).round();
                    y += own.1 + 4.0;
                }
                picture.asides.push(Aside {
                    location: *location,
                    kind: *kind,
                    transitions: transitions.clone(),
                    lines: said.clone(),
                    at: middle,
                    width: own.0,
                    height: own.1,
                });
            }
        }
        for (((transitions, _, _, lines), route), link) in
            self.arrows.into_iter().zip(found.routes).zip(links)
        {
            if let LayoutRoute::Through { points, label } = route {
                picture.arrows.push(Arrow { transitions, lines, points, label, width: link.width });
            }
        }
        picture
    }
}

/// Writes a line for each of the transitions, or only their names if these are too many.
fn one_line_each(view: &View<'_>, numbers: &[TransitionId]) -> Vec<String> {
    let one = |number: &TransitionId| {
        let guard = guard_lines(&view.iosts.transitions[*number].guard).join(" ");
        shorten_line(format!("{} {guard}", action_name(view, *number, PictureWords::Short)).trim_end())
    };
    match numbers.len() > 3 * MOST_ASIDE {
        true => action_names(view, numbers),
        false => numbers.iter().map(one).collect(),
    }
}

/// Lists the names of their actions, each once.
fn action_names(view: &View<'_>, numbers: &[TransitionId]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in numbers.iter().map(|number| action_name(view, *number, PictureWords::Short)) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    if found.len() < MOST_ASIDE { found } else { fill_lines(found, ",") }
}

fn shorten_line(line: &str) -> String {
    match line.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{} ...", line[..at].trim_end()),
        None => line.to_owned(),
    }
}

fn text_width(lines: &[String]) -> f64 {
    let most = lines.iter().map(|line| width_of(line, 11.0)).fold(0.0, f64::max);
    (most + 2.0 * PADDING).ceil()
}

fn text_height(lines: &[String]) -> f64 {
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
    let shown = view.iosts.action(view.iosts.transitions[number].action);
    let name = match words {
        PictureWords::All => action_text(shown, view.sign(shown.kind)),
        PictureWords::Short => format!("{}{}", shown.name, view.sign(shown.kind)),
    };
    let before = view.walked.get(&number).map_or(String::new(), |steps| steps_text(steps) + " ");
    visible(&format!("{before}{name}")).into_owned()
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
