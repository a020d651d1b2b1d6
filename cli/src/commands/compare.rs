//! `coreach compare`: what each abstract domain makes of the same purposes, and how far that is from the
//! truth.

mod row;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use coreach_analyses::exact::ExactReference;
use coreach_analyses::solver::horn::HornEngine;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::{Analysis, DomainKind};
use coreach_model::Diagnostic;
use coreach_model::iosts::TestPurpose;
use coreach_pipeline::exact::{distance, exact_reference};
use coreach_pipeline::late_states::late_states;
use coreach_project::making::{MadeTest, make};
use coreach_project::project::{Project, load};
use coreach_project::{budget, memory};

use super::{CommandAnswer, CommandResult};
use crate::answer::render_answer;
use crate::arguments::CompareArguments;
use crate::console;
use crate::exit::Exit;
use crate::horn_process::HornProcess;
use crate::pieces::do_pieces;
use crate::progress::ProgressLine;
use row::{CompareRow, MADE, RowFigures, UNREACHABLE, draw_table, list_cautions};

type DomainPair<'a> = (&'a TestPurpose, DomainKind);

/// Makes every purpose with every domain and says how the results differ.
pub fn compare(arguments: &CompareArguments) -> CommandResult {
    let path = &arguments.configuration;
    let (project, warnings) = load(path)?;
    console::draw(&warnings);
    let domains = arguments.domains.clone().unwrap_or_else(|| DomainKind::ALL.to_vec());
    let with_domains = |purpose| domains.iter().map(move |domain| (purpose, *domain));
    let pairs: Vec<DomainPair<'_>> = project.purposes.iter().flat_map(with_domains).collect();
    let progress = ProgressLine::start(pairs.len(), true);
    let engine = arguments.exact.then(HornProcess::this_program);
    let references = References::new(&project, engine);
    let is_alone = arguments.threads.is_some_and(|threads| threads.get() == 1);
    let work = |(purpose, domain): &DomainPair<'_>| {
        // The peak is that of the whole process: it says what a pair takes only if no other pair runs.
        let is_measured = is_alone && memory::forget_peak();
        let has_check = false;
        let made = make(&project, purpose, *domain, has_check, &|what| progress.says(what));
        let peak = if is_measured { memory::peak() } else { None };
        let empty_row = CompareRow::stopped(&purpose.iosts.name, *domain);
        let row_and_stop = match made {
            Ok(made) => {
                progress.says(format!("{} with {domain}: what is late", purpose.iosts.name));
                let figures = references.add_to(RowFigures::of(&made, peak), &made, purpose);
                let result = if made.unreachable.is_none() { MADE } else { UNREACHABLE };
                (CompareRow { result: result.to_owned(), figures: Some(figures), ..empty_row }, None)
            }
            Err(stop) => {
                let stop = stop.to_diagnostic();
                (CompareRow { reason: Some(stop.message.clone()), ..empty_row }, Some(stop))
            }
        };
        progress.one_done();
        row_and_stop
    };
    let unfinished: Vec<CompareRow> =
        pairs.iter().map(|(purpose, domain)| CompareRow::stopped(&purpose.iosts.name, *domain)).collect();
    let partial = move |finished: &[Option<(CompareRow, Option<Diagnostic>)>], _, why: &Diagnostic| {
        let mut rows = unfinished.clone();
        for (row, finished) in rows.iter_mut().zip(finished) {
            match finished {
                Some((finished, _)) => *row = finished.clone(),
                None => row.reason = Some(why.message.clone()),
            }
        }
        render_answer(|| &rows, || draw_table(&rows))
    };
    let finished = do_pieces(&pairs, arguments.threads, work, partial)?;
    drop(progress);
    let (rows, stops): (Vec<CompareRow>, Vec<Option<Diagnostic>>) = finished.into_iter().unzip();
    // The same reason may stop the work with several domains. It is reported once.
    let mut reported: Vec<Diagnostic> = Vec::new();
    for stop in stops.into_iter().flatten() {
        if !reported.contains(&stop) {
            reported.push(stop);
        }
    }
    console::draw(&reported);
    let exit_of_row = |row: &CompareRow| match row.result.as_str() {
        MADE => Exit::Fine,
        UNREACHABLE => Exit::Unreachable,
        _ => Exit::Stopped,
    };
    let exit = rows.iter().map(exit_of_row).fold(Exit::Fine, Exit::and);
    let mut answer = CommandAnswer::new(exit, || &rows, || draw_table(&rows));
    list_cautions(&rows).iter().for_each(|caution| answer.note(format!("note: {caution}")));
    Ok(answer)
}

/// The exact references of purposes, each made when it is first asked for.
///
/// The stages before selection know no domain, so the reference is that of all domains.
struct References<'a> {
    project: &'a Project,
    engine: Option<HornProcess>,
    made: BTreeMap<&'a str, OnceLock<Option<ExactReference>>>,
}

impl<'a> References<'a> {
    fn new(project: &'a Project, engine: Option<HornProcess>) -> Self {
        let names = project.purposes.iter().map(|purpose| (purpose.iosts.name.as_str(), OnceLock::new()));
        References { project, engine, made: names.collect() }
    }

    /// Adds the late states, and the distance from the exact reference if that is asked for. Each has a
    /// budget of its own. If that is passed, the figure is unknown.
    fn add_to(&self, mut figures: RowFigures, made: &MadeTest, purpose: &TestPurpose) -> RowFigures {
        let time = || budget::time(self.project.time);
        let generation = &made.generation;
        let (visible, graph) = (&generation.visible, &generation.test_graph);
        let mut engine = self.engine.clone();
        let late = budget::within("late states", time(), |_| {
            let engine = engine.as_mut().map(|engine| engine as &mut dyn HornEngine);
            late_states(graph, &mut Z3Solver::default(), engine)
        });
        let options = Analysis { domain: DomainKind::PolyhedraCongruence, ..Analysis::default() };
        let reference = self.engine.as_ref().and_then(|engine| {
            let solve =
                |_: &_| exact_reference(visible, &options, &mut engine.clone(), &mut Z3Solver::default());
            let make = || budget::within("exact reference", time(), solve).ok();
            self.made.get(purpose.iosts.name.as_str())?.get_or_init(make).as_ref()
        });
        figures.late_states = late.ok().flatten();
        figures.exact = reference.map(|reference| distance(reference, visible, graph));
        figures
    }
}
