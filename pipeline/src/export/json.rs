//! Writes a stage's result as a JSON document for programs. It has everything that the stage knows, with
//! every condition as a number in a table of shared terms. A second form has each condition also as text of
//! the model format and as SMT-LIB.
//!
//! [`coreach_artifact::document`] defines the document. `docs/reference/json.md` describes it, and
//! `docs/test-case.schema.json` is its JSON Schema.
//!
//! **SMT-LIB.** A solver accepts the following as it stands: the document's declarations, then those of the
//! action (its parameters; for a condition at a transition), then those of the condition itself (rarely any),
//! then `(assert ...)` around its text. Parameters are declared with their actions because two actions may
//! use one name for different things. `constraints` contains what the types of the data add (`nat` is an
//! `Int` there); users who ask a question must assert it too.

use std::collections::BTreeSet;

use coreach_analyses::solver::smtlib;
use coreach_artifact::document::{
    Condition, Document, LocationEntry, PurposeEntry, PurposeMark, Readable, Role, TimedEntry,
};
use coreach_artifact::layout;
use coreach_artifact::terms::{TermNumber, TermTable};
use coreach_artifact::write::{self, WriteTables};
use coreach_model::iosts::{Action, LocationId};
use coreach_model::{ActionKind, Number, Numbered, Term};

use super::{Mark, View};
use crate::artifact::Verdict;

pub fn to_json(view: &View<'_>) -> String {
    layout::to_text(&to_document(view))
}

/// Writes the document with its conditions as text beside their numbers.
pub fn readable_json(view: &View<'_>) -> String {
    let mut tables = WriteTables::default();
    let mut document = fill_document(view, &mut tables);
    document.readable = Some(readable_conditions(view, &document, &tables.terms));
    layout::to_text(&document)
}

pub fn to_document(view: &View<'_>) -> Document {
    fill_document(view, &mut WriteTables::default())
}

/// Makes the document, and puts the types and terms that it needs into the tables.
fn fill_document(view: &View<'_>, tables: &mut WriteTables) -> Document {
    let mut document = write::write_graph(view.what, view.iosts, tables);
    document.purpose = view.particulars.purpose.map(|(purpose, given)| PurposeEntry {
        of: purpose.of.clone(),
        given_transitions: given,
        others_stay: view.particulars.others_stay,
    });
    document.made_of = view.sources.map(|sources| sources.models.clone());
    document.purpose_reachable = view.found.reachable;
    document.lookahead = view.found.lookahead;
    document.selection = view.found.selection;
    document.imprecisions = view.found.imprecisions.to_vec();
    document.others_fail = view.particulars.others_fail.map(Number::place);
    document.counts.pass = view.count_into(Verdict::Pass);
    document.counts.inconclusive = view.count_into(Verdict::Inconclusive);
    document.counts.fail = view.count_into(Verdict::Fail);
    for (entry, id) in document.locations.iter_mut().zip(view.iosts.location_ids()) {
        fill_location(view, id, entry, tables);
    }
    if let Some(sources) = view.sources {
        document.conjuncts = sources.conjuncts.iter().map(|part| tables.terms.number(part)).collect();
    }
    if let Some(timing) = view.timing {
        document.timed = Some(TimedEntry {
            delay: timing.delay.name().to_owned(),
            silence_after: tables.terms.number(&timing.silence_after),
        });
        for entry in document.actions.iter_mut().filter(|entry| timing.uncontrollable.contains(&entry.name)) {
            // The tester sees it like an output of the system, but the system receives it.
            (entry.kind, entry.role) = (ActionKind::Input, Some(Role::Observation));
            entry.controllable = Some(false);
        }
    }
    tables.write(&mut document);
    document
}

/// Fills an entry with the mark, the facts and the origins of its location.
fn fill_location(view: &View<'_>, id: LocationId, entry: &mut LocationEntry, tables: &mut WriteTables) {
    match view.mark(id) {
        None => {}
        Some(Mark::Accept) => entry.mark = Some(PurposeMark::Accept),
        Some(Mark::Reject) => entry.mark = Some(PurposeMark::Reject),
        Some(Mark::Verdict(verdict)) => entry.verdict = Some(verdict),
    }
    let particulars = &view.particulars;
    let mut fact = |facts: Option<&Numbered<LocationId, Term>>| -> Option<TermNumber> {
        facts.map(|facts| tables.terms.number(&facts[id]))
    };
    entry.must_answer = fact(particulars.must_answer.filter(|facts| !facts[id].is_false()));
    entry.reach = fact(particulars.reach);
    entry.coreach = fact(particulars.coreach);
    if let Some(origins) = view.origins.and_then(|all| all.find(id)) {
        entry.origins = origins.clone();
    }
    entry.violates = particulars.violated.iter().find(|(at, _)| *at == id).map(|(_, how)| *how);
}

/// Makes the conditions of the document as text, with what they declare.
fn readable_conditions(view: &View<'_>, document: &Document, terms: &TermTable) -> Readable {
    let declarations = declare_data(view);
    let declare = |action: &Action| action.parameters.iter().map(smtlib::declaration).collect();
    let parameters: Vec<Vec<String>> = view.iosts.actions.iter().map(declare).collect();
    // A condition may stand at transitions of several actions: then the declarations of all of them are used.
    let mut roots: BTreeSet<TermNumber> = BTreeSet::from([document.initial.condition]);
    for transition in &document.transitions {
        roots.insert(transition.guard);
        roots.extend(transition.assignments.iter().map(|assignment| assignment.value));
    }
    for location in &document.locations {
        roots.extend(location.must_answer.into_iter().chain(location.reach).chain(location.coreach));
    }
    let declared: Vec<&String> = declarations.iter().chain(parameters.iter().flatten()).collect();
    let conditions =
        roots.into_iter().map(|number| write_condition(number, &terms.terms()[number], &declared)).collect();
    Readable { conditions, parameters, declarations }
}

/// Declares the sorts of all data, then the constants and variables. Parameters are declared elsewhere, with
/// their actions.
fn declare_data(view: &View<'_>) -> Vec<String> {
    let iosts = view.iosts;
    let parameters = iosts.actions.iter().flat_map(|action| &action.parameters);
    let data = iosts.constants.iter().chain(&iosts.variables).chain(parameters);
    let mut lines = smtlib::declarations(&data.map(Term::datum).collect::<Vec<_>>());
    lines.retain(|line| !line.starts_with("(declare-const"));
    lines.extend(iosts.constants.iter().chain(&iosts.variables).map(smtlib::declaration));
    lines
}

/// Writes a condition as text and as SMT-LIB, with the declarations that are not among the declared ones.
fn write_condition(number: TermNumber, term: &Term, declared: &[&String]) -> Condition {
    let terms = [term.clone()];
    let mut declarations = smtlib::declarations(&terms);
    declarations.retain(|line| !declared.contains(&line));
    Condition {
        term: number,
        text: term.to_string(),
        smtlib: smtlib::term_to_smtlib(term),
        declarations,
        constraints: smtlib::type_constraints(&terms),
    }
}
