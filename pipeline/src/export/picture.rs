//! What a picture of a stage's result shows, and where: for the SVG, and for the page.
//!
//! A graph of a test case is small, and would be clear but for three kinds of arrows: those into Fail and
//! Inconclusive, which come from everywhere and lead to one place; self-loops; and arrows back over many
//! pages. None is drawn through the graph. Each location has an [`Aside`] at its right for each of the kinds
//! that it has: one short arrow, with the outputs listed apart. The layout knows it as room that is kept
//! free, so such arrows cost it nothing, and cross nothing.

use std::collections::BTreeMap;

use coreach_model::TransitionId;
use coreach_model::iosts::{LocationId, Transition};
use coreach_model::visible::visible;

use super::View;
use super::labels::{action, condition_lines, guard_lines};
use super::layout::{Layout, LayoutLink, LayoutPoint, LayoutRoute, Size, layout};
use crate::artifact::{Mark, Verdict};

/// More locations than this, or eight times as many transitions, are not drawn: nobody would see anything.
pub const MOST_LOCATIONS: usize = 12_000;

const MOST_ASIDE: usize = 8;

pub const LINE: f64 = 13.0;
const PADDING: f64 = 8.0;
/// From a location to what is beside it.
const ARROW: f64 = 26.0;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureWords {
    /// The action alone: the rest is told when it is asked for.
    Action,
    /// Guard and assignments, too.
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Hidden {
    pub fail: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct DrawnPicture {
    pub location: LocationId,
    pub lines: Vec<String>,
    pub at: LayoutPoint,
    pub width: f64,
    pub height: f64,
}

/// A transition with a way of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Arrow {
    pub transition: TransitionId,
    /// What is written at it; the first line is its action.
    pub lines: Vec<String>,
    pub points: Vec<LayoutPoint>,
    /// Which of the points is the label's middle.
    pub label: usize,
    pub width: f64,
}

/// What stands beside a location instead of being drawn through the graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PictureKind {
    Loop,
    /// To a place that is too far away.
    Far(LocationId),
    Verdict(LocationId),
}

/// Transitions of one location that are said beside it.
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
    /// Transitions that are said beside a location.
    pub asides: Vec<Aside>,
    pub width: f64,
    pub height: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge {
    pub locations: usize,
    pub transitions: usize,
}

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} locations and {} transitions are too many for a picture (at most {MOST_LOCATIONS} and {}); \
             ask for the format json, for another stage, or for a domain that prunes more",
            self.locations,
            self.transitions,
            8 * MOST_LOCATIONS
        )
    }
}

impl std::error::Error for TooLarge {}

/// How wide a text is at most, about, in the fonts that viewers take for Helvetica, the first lines in bold;
/// `size` is the font's.
pub fn width_of(text: &str, size: f64) -> f64 {
    let one = |sign: char| match sign {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' | '(' | ')'
        | '[' | ']' => 0.39,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        'A'..='Z' | '&' | '=' | '<' | '>' | '+' => 0.75,
        sign if sign.is_ascii() => 0.63,
        // Wide scripts have one sign for each syllable.
        _ => 1.0,
    };
    text.chars().map(one).sum::<f64>() * size
}

pub fn picture(
    view: &View<'_>,
    words: PictureWords,
    hidden: Hidden,
    facts: bool,
) -> Result<Picture, TooLarge> {
    let (locations, transitions) = (view.iosts.locations.len(), view.iosts.transitions.len());
    if locations > MOST_LOCATIONS || transitions > 8 * MOST_LOCATIONS {
        return Err(TooLarge { locations, transitions });
    }
    let mut plan = PicturePlan::new(view, words, hidden, facts);
    let (mut sizes, mut links) = plan.sizes();
    let mut found = layout(&sizes, &links);
    if found.routes.contains(&LayoutRoute::Far) {
        plan.set_aside(view, &found);
        (sizes, links) = plan.sizes();
        found = layout(&sizes, &links);
    }
    Ok(plan.lay_out(&sizes, &links, found))
}

/// What will be drawn, before it is known where.
struct PicturePlan {
    nodes: Vec<(LocationId, Vec<String>)>,
    arrows: Vec<(TransitionId, LocationId, LocationId, Vec<String>)>,
    asides: BTreeMap<(LocationId, PictureKind), Said>,
}

type Said = (Vec<TransitionId>, Vec<String>);

impl PicturePlan {
    fn new(view: &View<'_>, words: PictureWords, hidden: Hidden, facts: bool) -> Self {
        let is_beside = |location: LocationId| {
            matches!(view.mark(location), Some(Mark::Verdict(Verdict::Fail | Verdict::Inconclusive)))
                && location != view.iosts.initial
        };
        let mut plan = PicturePlan { nodes: Vec::new(), arrows: Vec::new(), asides: BTreeMap::new() };
        // The initial location is at the top.
        let others = view.iosts.location_ids().filter(|location| *location != view.iosts.initial);
        for location in std::iter::once(view.iosts.initial).chain(others) {
            if !is_beside(location) {
                plan.nodes.push((location, node_lines(view, location, facts)));
            }
        }
        for (number, transition) in view.iosts.transitions.numbered() {
            let kind = match transition.target {
                target if is_beside(transition.source) || (hidden.fail && view.is_fail(target)) => continue,
                target if is_beside(target) => Some(PictureKind::Verdict(target)),
                target if target == transition.source => Some(PictureKind::Loop),
                _ => None,
            };
            match kind {
                Some(kind) => plan.aside(view, number, transition, kind, words),
                None => {
                    let lines = transition_lines(view, number, transition, words);
                    plan.arrows.push((number, transition.source, transition.target, lines));
                }
            }
        }
        plan
    }

    fn aside(
        &mut self,
        view: &View<'_>,
        number: TransitionId,
        transition: &Transition,
        kind: PictureKind,
        words: PictureWords,
    ) {
        let first = || match kind {
            PictureKind::Loop => vec!["back here".to_owned()],
            PictureKind::Far(target) | PictureKind::Verdict(target) => {
                vec![visible(&view.iosts.location(target).label).into_owned()]
            }
        };
        let (transitions, lines) =
            self.asides.entry((transition.source, kind)).or_insert_with(|| (Vec::new(), first()));
        transitions.push(number);
        // Guards of Fail say what the others do not: the names are enough, and the rest is said where it is
        // asked for.
        let short =
            words == PictureWords::Action || matches!(kind, PictureKind::Verdict(to) if view.is_fail(to));
        let own =
            transition_lines(view, number, transition, if short { PictureWords::Action } else { words });
        if !(short && lines[1..].contains(&own[0])) {
            lines.extend(own);
        }
    }

    /// Arrows without a route become asides.
    fn set_aside(&mut self, view: &View<'_>, found: &Layout) {
        let arrows = std::mem::take(&mut self.arrows);
        for (arrow, route) in arrows.into_iter().zip(&found.routes) {
            match route {
                LayoutRoute::Far => {
                    let transition = &view.iosts.transitions[arrow.0];
                    self.aside(view, arrow.0, transition, PictureKind::Far(arrow.2), PictureWords::Action);
                }
                _ => self.arrows.push(arrow),
            }
        }
    }

    fn sizes(&self) -> (Vec<Size>, Vec<LayoutLink>) {
        let mut place: BTreeMap<LocationId, usize> = BTreeMap::new();
        let mut sizes = Vec::new();
        for (location, lines) in &self.nodes {
            place.insert(*location, sizes.len());
            let mut beside: f64 = 0.0;
            let mut height = 0.0;
            for (_, (_, said)) in self.asides_of(*location) {
                let said = cut(said);
                beside = beside.max(ARROW + wide(&said));
                height += high(&said) + 4.0;
            }
            let own = high(lines).max(24.0);
            sizes.push(Size { width: wide(lines).max(36.0), height: own, beside, tall: height });
        }
        let link = |(_, source, target, lines): &(_, LocationId, LocationId, Vec<String>)| {
            let at = |location: &LocationId| place.get(location).copied().unwrap_or_default();
            LayoutLink {
                source: at(source),
                target: at(target),
                width: wide(lines),
                height: high(lines) - 6.0,
            }
        };
        let links = self.arrows.iter().map(link).collect();
        (sizes, links)
    }

    fn asides_of(&self, location: LocationId) -> impl Iterator<Item = (&(LocationId, PictureKind), &Said)> {
        let last = PictureKind::Verdict(LocationId(u32::MAX));
        self.asides.range((location, PictureKind::Loop)..=(location, last))
    }

    fn lay_out(self, sizes: &[Size], links: &[LayoutLink], found: Layout) -> Picture {
        let mut picture = Picture { width: found.width, height: found.height, ..Picture::default() };
        for (((location, lines), size), at) in self.nodes.iter().zip(sizes).zip(&found.nodes) {
            let height = high(lines).max(24.0);
            picture.nodes.push(DrawnPicture {
                location: *location,
                lines: lines.clone(),
                at: *at,
                width: size.width,
                height,
            });
            let mine: Vec<_> = self.asides_of(*location).collect();
            let all: f64 = mine.iter().map(|(_, (_, said))| high(&cut(said)) + 4.0).sum::<f64>() - 4.0;
            let mut y = at.y - all / 2.0;
            for ((_, kind), (transitions, said)) in mine {
                let said = cut(said);
                let (width, height) = (wide(&said), high(&said));
                picture.asides.push(Aside {
                    location: *location,
                    kind: *kind,
                    transitions: transitions.clone(),
                    lines: said,
                    at: LayoutPoint {
                        x: (at.x + size.width / 2.0 + ARROW + width / 2.0).round(),
                        y: (y + height / 2.0).round(),
                    },
                    width,
                    height,
                });
                y += height + 4.0;
            }
        }
        for (((transition, _, _, lines), route), link) in self.arrows.into_iter().zip(found.routes).zip(links)
        {
            if let LayoutRoute::Through { points, label } = route {
                picture.arrows.push(Arrow { transition, lines, points, label, width: link.width });
            }
        }
        picture
    }
}

fn cut(lines: &[String]) -> Vec<String> {
    if lines.len() <= MOST_ASIDE {
        return lines.to_vec();
    }
    let more = lines.len() - (MOST_ASIDE - 1);
    let last = format!("... ({more} more)");
    lines.iter().take(MOST_ASIDE - 1).cloned().chain([last]).collect()
}

fn wide(lines: &[String]) -> f64 {
    let most = lines.iter().map(|line| width_of(line, 11.0)).fold(0.0, f64::max);
    (most + 2.0 * PADDING).ceil()
}

fn high(lines: &[String]) -> f64 {
    lines.len() as f64 * LINE + 10.0
}

fn node_lines(view: &View<'_>, location: LocationId, facts: bool) -> Vec<String> {
    let mut lines = vec![visible(&view.iosts.location(location).label).into_owned()];
    if facts {
        for (name, facts) in [("reach", view.particulars.reach), ("coreach", view.particulars.coreach)] {
            for (number, line) in facts.iter().flat_map(|facts| condition_lines(&facts[location])).enumerate()
            {
                lines.push(if number == 0 { format!("{name}: {line}") } else { line });
            }
        }
    }
    lines
}

/// The action, then guard and assignments where they are wanted; before it, when a run took the transition.
fn transition_lines(
    view: &View<'_>,
    number: TransitionId,
    transition: &Transition,
    words: PictureWords,
) -> Vec<String> {
    const MOST: usize = 8;
    let shown = view.iosts.action(transition.action);
    let mut first = match words {
        PictureWords::All => action(shown, view.sign(shown.kind)),
        PictureWords::Action => format!("{}{}", shown.name, view.sign(shown.kind)),
    };
    if let Some(steps) = view.walked.get(&number) {
        let mut numbers: Vec<String> = steps.iter().take(MOST).map(ToString::to_string).collect();
        if steps.len() > MOST {
            numbers.push(format!("... {} times", steps.len()));
        }
        first = format!("({}) {first}", numbers.join(", "));
    }
    let mut lines = vec![first];
    if words == PictureWords::All {
        lines.extend(guard_lines(&transition.guard));
        lines.extend(transition.assignments.iter().map(|(variable, value)| format!("{variable} := {value}")));
    }
    lines.iter().map(|line| visible(line).into_owned()).collect()
}
