//! Makes a graph of the page from a view.

use coreach_execution::initial;
use coreach_execution::lazy::Lazy;
use coreach_model::iosts::{Iosts, LocationId};
use coreach_model::limits::FEW_STATES;
use coreach_model::term::evaluate::Valuation;
use coreach_model::{ActionKind, Datum, Number, Term, TransitionId, Value, codec};
use coreach_pipeline::export::layout::LayoutPoint;
use coreach_pipeline::export::picture::{Arrow, AsideKind, Picture, PictureWords, make_picture};
use coreach_pipeline::export::{Mark, View};
use serde_json::{Map, Value as Json};

use super::document::{
    Data, PageAction, PageArrow, PageAside, PageAssignment, PageAt, PageGraph, PageLocation, PageTransition,
};
use super::tables::PageTables;

/// The purpose and the domain that a graph was made with.
#[derive(Clone, Copy, Default)]
pub(super) struct MadeFrom<'a> {
    pub(super) purpose: Option<&'a str>,
    pub(super) domain: Option<&'static str>,
}

/// Makes the graph, laid out if it is not too large. Also returns a remark, if it is.
pub(super) fn make_graph(
    tables: &mut PageTables,
    view: &View<'_>,
    made: MadeFrom<'_>,
    start: Map<String, Json>,
) -> (PageGraph, Option<String>) {
    let iosts = view.iosts;
    // With Fail, and without facts, which the page shows itself.
    let (drawn, note) = match make_picture(view, PictureWords::Short, false, false) {
        Ok(drawn) => (Some(drawn), None),
        Err(error) => (None, Some(format!("{}: {error}", view.what))),
    };
    let mut graph = PageGraph {
        name: iosts.name.clone(),
        purpose: made.purpose.map(str::to_owned),
        domain: made.domain,
        stage: view.what,
        is_testers_side: view.is_testers_side(),
        constants: page_data(tables, &iosts.constants),
        variables: page_data(tables, &iosts.variables),
        actions: page_actions(tables, view),
        initial: iosts.initial.place(),
        condition: tables.expression(&iosts.initial_condition),
        start,
        said_once: view.rule_for_the_others(),
        others_fail: view.particulars.others_fail.map(Number::place),
        reachable: view.found.reachable,
        imprecisions: view.found.imprecisions.to_vec(),
        size: drawn.as_ref().map(|drawn| [round(drawn.width), round(drawn.height)]),
        locations: iosts.location_ids().map(|id| page_location(tables, view, id)).collect(),
        transitions: page_transitions(tables, iosts),
        arrows: Vec::new(),
        asides: Vec::new(),
    };
    if let Some(drawn) = drawn {
        add_picture(&mut graph, drawn);
    }
    (graph, note)
}

/// Returns the values of a state in which the graph may begin, with these constants or with any.
pub(super) fn initial_values(iosts: &Iosts, constants: Option<&[(Datum, Value)]>) -> Map<String, Json> {
    let constants: Valuation = match constants {
        Some(given) => given.iter().cloned().collect(),
        None => iosts.constants.iter().map(|datum| (datum.clone(), Value::any(datum.ty()))).collect(),
    };
    let states = initial::states(iosts, &constants, FEW_STATES, &mut Lazy::default()).unwrap_or_default();
    states.first().map(|state| values_to_json(&state.valuation)).unwrap_or_default()
}

pub(super) fn values_to_json(valuation: &Valuation) -> Map<String, Json> {
    valuation.iter().map(|(datum, value)| (datum.name().to_owned(), codec::to_json(value))).collect()
}

fn page_data(tables: &mut PageTables, data: &[Datum]) -> Vec<Data> {
    data.iter().map(|datum| Data { name: datum.name().to_owned(), ty: tables.ty(datum.ty()) }).collect()
}

fn page_actions(tables: &mut PageTables, view: &View<'_>) -> Vec<PageAction> {
    let page_action = |action: &coreach_model::Action| PageAction {
        name: action.name.clone(),
        kind: match action.kind {
            ActionKind::Input => "input",
            ActionKind::Output => "output",
            ActionKind::Quiescence => "quiescence",
            ActionKind::Internal => "internal",
        },
        sign: view.sign(action.kind),
        parameters: page_data(tables, &action.parameters),
    };
    view.iosts.actions.iter().map(page_action).collect()
}

fn page_location(tables: &mut PageTables, view: &View<'_>, id: LocationId) -> PageLocation {
    let location = view.iosts.location(id);
    let particulars = &view.particulars;
    let mut fact = |facts: Option<&coreach_model::Numbered<LocationId, Term>>| {
        facts.map(|facts| tables.expression(&facts[id]))
    };
    PageLocation {
        reach: fact(particulars.reach),
        coreach: fact(particulars.coreach),
        name: location.name.clone(),
        label: location.label.clone(),
        description: location.description.clone(),
        mark: view.mark(id).map(|mark| match mark {
            Mark::Accept => "accept",
            Mark::Reject => "reject",
            Mark::Verdict(verdict) => verdict.name(),
        }),
        must_answer: fact(particulars.must_answer.filter(|facts| !facts[id].is_false())),
        at: None,
        size: None,
    }
}

fn page_transitions(tables: &mut PageTables, iosts: &Iosts) -> Vec<PageTransition> {
    let page_transition = |transition: &coreach_model::Transition| PageTransition {
        source: transition.source.place(),
        target: transition.target.place(),
        action: transition.action.place(),
        guard: (!transition.guard.is_true()).then(|| tables.expression(&transition.guard)),
        assignments: transition
            .assignments
            .iter()
            .map(|(variable, value)| PageAssignment {
                variable: variable.name().to_owned(),
                value: tables.expression(value),
            })
            .collect(),
        origin: transition.origin.whole.as_ref().map(|origin| tables.origin(origin)),
    };
    iosts.transitions.iter().map(page_transition).collect()
}

/// Adds the places that the layout found to the locations, and the arrows and asides.
fn add_picture(graph: &mut PageGraph, drawn: Picture) {
    for node in drawn.nodes {
        let location = &mut graph.locations[node.location.place()];
        location.at = Some(to_page_point(node.at));
        location.size = Some([round(node.width), round(node.height)]);
    }
    let places = |transitions: Vec<TransitionId>| transitions.into_iter().map(Number::place).collect();
    let arrow = |arrow: Arrow| PageArrow {
        transitions: places(arrow.transitions),
        lines: arrow.lines,
        points: arrow.points.into_iter().map(to_page_point).collect(),
        label: arrow.label,
    };
    graph.arrows = drawn.arrows.into_iter().map(arrow).collect();
    for aside in drawn.asides {
        let (kind, target) = match aside.kind {
            AsideKind::Loop => ("loop", aside.location),
            AsideKind::Far(target) => ("far", target),
            AsideKind::Verdict(target) => ("verdict", target),
        };
        graph.asides.push(PageAside {
            location: aside.location.place(),
            kind,
            target: target.place(),
            transitions: places(aside.transitions),
            lines: aside.lines,
            at: to_page_point(aside.at),
            size: [round(aside.width), round(aside.height)],
        });
    }
}

fn to_page_point(point: LayoutPoint) -> PageAt {
    [round(point.x), round(point.y)]
}

#[expect(clippy::cast_possible_truncation, reason = "a picture is no larger than that")]
fn round(number: f64) -> i64 {
    number.round() as i64
}
