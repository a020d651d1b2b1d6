//! `coreach test --cover`: one walk that covers, judged by the specification alone.

use std::num::NonZeroUsize;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use coreach_adapters::{Adapter, Iut};
use coreach_execution::campaign::plan::LONGEST;
use coreach_execution::constants::read_constants;
use coreach_execution::lazy::Lazy;
use coreach_execution::open::open;
use coreach_execution::record::{Record, make_record};
use coreach_execution::run::Cause;
use coreach_execution::session::{TestSession, run_with_retries};
use coreach_execution::walk::{Walk, WalkLimits, WalkProgress};
use coreach_execution::{Outcome, OutcomeKind, Run, Settings, Strategy, judge};
use coreach_model::Diagnostic;
use coreach_model::limits::MANY_SHOWN;
use coreach_model::lock::lock;
use coreach_model::semantics::State;
use coreach_model::term::evaluate::Valuation;
use coreach_pipeline::Conformance;
use coreach_project::cases::Case;
use coreach_project::cover::Criterion;
use coreach_project::once::Once;
use coreach_project::possible_goals::{SplitGoals, split_goals};
use coreach_project::walk::{ALL, Walkable, describe_goal, list_all_goals, make_document, read};
use coreach_project::{budget, iut};
use serde_json::{Value, json};

use super::hints::explain_run;
use super::keep::{self, Keeper};
use super::{check_names, choose_first_state, collect_locations, run_text, shell_word};
use crate::answer::{draw_text, is_json, render_answer};
use crate::commands::{CommandAnswer, CommandResult, EarlyExit, bucket_line, plural};
use crate::execution_arguments::{Covered, TestArguments};
use crate::exit::Exit;
use crate::progress::ProgressLine;
use crate::{certain_end, console, story};

struct Walking<'a> {
    arguments: &'a TestArguments,
    walkable: Walkable,
    iut: Iut,
    criteria: Vec<Criterion>,
    goals: SplitGoals,
    warnings: Vec<Diagnostic>,
}

/// Tests a system by a walk that covers its specification.
pub(super) fn test_by_walk(arguments: &TestArguments, what: Covered) -> CommandResult {
    let walking = prepare_walk(arguments, what)?;
    keep::check_outputs(arguments, std::slice::from_ref(&walking.walkable.case))?;
    draw_text(&walking.warnings);
    walking.run_walks()
}

/// Reads the specification and the IUT file, and lists the goals of the walk.
fn prepare_walk(arguments: &TestArguments, what: Covered) -> Result<Walking<'_>, Vec<Diagnostic>> {
    let (walkable, mut warnings) = read(&arguments.test)?;
    let cases = std::slice::from_ref(&walkable.case);
    check_names(arguments, cases)?;
    let (locations, mut files) = (collect_locations(cases), Once::default());
    let (mut iut, iut_warnings) = budget::reading(|| {
        iut::load_once(&arguments.iut, walkable.case.test.wire(), Some(&locations), &mut files)
    })?;
    warnings.extend(iut_warnings);
    // By ioco, silence where the specification must answer is a failure whatever the file says.
    iut.behaviour.silence_fails |= walkable.conformance == Conformance::Ioco;
    let criteria = match what {
        Covered::Transitions => vec![Criterion::Transitions],
        Covered::Pairs => vec![Criterion::Pairs],
        Covered::DefinitionUse => vec![Criterion::DefinitionUse],
        Covered::All => ALL.to_vec(),
    };
    let iosts = &walkable.case.test.iosts;
    let goals = budget::reading(|| Ok(split_goals(iosts, list_all_goals(iosts, &criteria))))?;
    Ok(Walking { arguments, walkable, iut, criteria, goals, warnings })
}

/// The walk ends after so many runs in which an answer is missing.
const MOST_UNANSWERED: usize = 5;

impl Walking<'_> {
    /// Makes runs of the walk, with new constants, until it is over, a run fails, or the judge cannot follow.
    /// A run in which an answer is missing leaves the walk without a verdict.
    fn run_walks(&self) -> CommandResult {
        let Walking { arguments, iut, .. } = self;
        let test = &self.walkable.case.test;
        let pairs = arguments.constant.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let constants = read_constants(test, pairs).map_err(Diagnostic::from)?;
        let begin = Instant::now();
        let settings = Settings { steps: usize::MAX, ..arguments.driving.over(Settings::default(), iut) };
        let progress: Arc<Mutex<String>> = Arc::default();
        let has_open_constants = constants.len() < test.iosts.constants.len();
        let mut walk = self.make_walk(begin, has_open_constants, progress.clone());
        let document_so_far = Arc::new(Mutex::new(self.document(&walk, &[], Exit::Fine)));
        let at_early_end = document_so_far.clone();
        certain_end::tell_at_end(move |exit_code, _| {
            let mut document = lock(&at_early_end).clone();
            document["exit_code"] = json!(exit_code);
            render_answer(|| document, || format!("stopped early: {}\n", lock(&progress)))
        });
        let mut adapter = open(iut);
        let (mut keeper, mut runs, mut exit) = (Keeper::default(), Vec::new(), Exit::Fine);
        let (mut path_shown, mut unanswered) = (None, 0);
        for number in 0.. {
            let seed = arguments.seed.wrapping_add(number);
            let (initial, run, record) =
                self.make_run(&mut walk, adapter.as_mut(), &constants, &settings, begin, seed)?;
            let path = keeper.keep(arguments, &self.walkable.case, &record).map_err(EarlyExit::hindered)?;
            // Nothing is wrong if the walk ended the run or is over, or if no answer came. In all other cases
            // the judge could not follow.
            let is_ended_by_walk = run.outcome == Outcome::inconclusive(walk.cause());
            let is_unanswered = matches!(run.outcome, Outcome::Verdict(_, Cause::Silence(_)));
            let is_harmless = is_ended_by_walk || is_unanswered || walk.is_over();
            if let kind @ (OutcomeKind::FAIL | OutcomeKind::RunError) = run.outcome.kind() {
                exit = Exit::of(kind);
            } else if !is_harmless {
                exit = Exit::Inconclusive;
            }
            unanswered += usize::from(is_unanswered);
            if exit != Exit::Fine || is_unanswered && unanswered == 1 {
                self.tell(&initial, &run, &record, path.as_deref());
                path_shown = path;
            }
            runs.push(record);
            *lock(&document_so_far) = self.document(&walk, &runs, exit);
            if exit != Exit::Fine || walk.is_over() || unanswered == MOST_UNANSWERED {
                break;
            }
        }
        if exit == Exit::Fine && unanswered > 0 {
            exit = Exit::Inconclusive;
        }
        let text = || {
            let next =
                if exit == Exit::Failed { self.next_text(path_shown.as_deref()) } else { String::new() };
            self.summary_text(&walk, runs.last(), unanswered > 0) + &next
        };
        Ok(CommandAnswer::new(exit, || self.document(&walk, &runs, exit), text))
    }

    /// Makes the next run of the walk, from a state with new values for the open constants.
    fn make_run(
        &self,
        walk: &mut Walk,
        adapter: &mut dyn Adapter,
        constants: &Valuation,
        settings: &Settings,
        begin: Instant,
        seed: u64,
    ) -> Result<(State, Run, Record), Vec<Diagnostic>> {
        let case = &self.walkable.case;
        let first_state = choose_first_state(case, constants, seed).map_err(|(found, _)| found)?;
        let initial = budget::choosing_constants(|| {
            Ok(walk.choose_start(&case.test, first_state, constants, seed, &mut Lazy::default()))
        })?;
        let mut judge = judge::make_judge_for_iut(&case.test, initial.clone(), &self.iut, settings);
        let run = run_with_retries(self.arguments.tolerance.retries, || {
            let settings = Settings { time: time_left(begin, settings), ..settings.clone() };
            let mut session = TestSession { judge: judge.as_mut(), settings: &settings, adapter };
            session.run(seed, Strategy::Walk(walk))
        });
        let record = make_record(judge.as_mut(), &run);
        Ok((initial, run, record))
    }

    /// Makes the walk. It writes its progress as a line into `last_progress`, for an early end.
    /// `has_open_constants`: each run may choose other constants.
    fn make_walk(&self, begin: Instant, has_open_constants: bool, last_progress: Arc<Mutex<String>>) -> Walk {
        let arguments = self.arguments;
        let until = WalkLimits {
            events: arguments.driving.events.map_or(Settings::default().steps, NonZeroUsize::get),
            percent: arguments.walking.until,
            deadline: budget::command_time().map(|time| begin + time),
            // With `--events` the walk uses all of them.
            ends_when_covered: arguments.driving.events.is_none(),
        };
        let iosts = &self.walkable.case.test.iosts;
        let is_all = self.criteria == ALL;
        let walk = Walk::new(iosts.clone(), &self.goals.possible, is_all, until, has_open_constants);
        let progress = Rc::new(ProgressLine::start(1, !arguments.quiet));
        let tell = move |standing: &WalkProgress| {
            let line = progress_text(standing);
            lock(&last_progress).clone_from(&line);
            progress.says(line);
        };
        tell(&walk.progress());
        walk.with_listener(Box::new(tell))
    }

    /// Makes the document of the walk so far.
    fn document(&self, walk: &Walk, runs: &[Record], exit: Exit) -> Value {
        let about = (&self.criteria[..], &self.goals.impossible[..]);
        make_document(&self.walkable, about, walk, runs, &self.warnings, exit.code())
    }

    /// Prints a run in full, with a hint at a mistake in the IUT file.
    fn tell(&self, initial: &State, run: &Run, record: &Record, path: Option<&str>) {
        if is_json() || self.arguments.quiet {
            return;
        }
        let case: &Case = &self.walkable.case;
        console::print(&run_text(self.arguments, case, initial, run, path, true));
        let hint = explain_run(self.arguments, case, &self.iut, initial, run, record);
        console::print(&story::wrap(&hint.unwrap_or_default()));
    }

    /// Names the next command after a run that failed.
    fn next_text(&self, kept: Option<&str>) -> String {
        let Some(run) = kept.map(|path| shell_word(Path::new(path))) else {
            return "next: add `--keep runs` to this command. `coreach replay` can then shorten the run\n"
                .into();
        };
        format!("next: coreach replay {run} --iut {} --shrink\n", shell_word(&self.arguments.iut))
    }

    /// Tells what was found, how much is covered, and which goals are not. `lacks_answer`: an answer did not
    /// come in some run.
    fn summary_text(&self, walk: &Walk, last: Option<&Record>, lacks_answer: bool) -> String {
        let bucket = last.and_then(|last| last.bucket.as_ref());
        let verdict = bucket.map(|bucket| bucket.verdict);
        let found = match verdict {
            Some(OutcomeKind::FAIL) => "a fault found",
            Some(OutcomeKind::RunError) => "a run error, not a verdict",
            _ if lacks_answer => "no verdict, since an answer did not come",
            _ => "no fault found",
        };
        let specification = &self.walkable.specification;
        let mut text = format!(
            "{} against {}: {found}; {}\n",
            specification.name,
            self.iut.name,
            progress_text(&walk.progress())
        );
        let impossible = self.goals.impossible.len();
        if impossible > 0 {
            let them = if impossible == 1 { "it" } else { "them" };
            text += &format!("  {} left out, since no data can meet {them}\n", plural(impossible, "goal"));
        }
        if let Some(bucket) = bucket.filter(|bucket| self.arguments.quiet && bucket.is_failure()) {
            text += &bucket_line(bucket, 1, "run");
        }
        // After a Fail, the failure is of interest and not what it left open.
        if verdict == Some(OutcomeKind::FAIL) {
            return text;
        }
        let uncovered = walk.goals().iter().zip(walk.covered()).filter(|(_, covered)| !*covered);
        let uncovered: Vec<String> = uncovered.map(|(goal, _)| describe_goal(specification, goal)).collect();
        if !uncovered.is_empty() && !self.arguments.quiet {
            let limit = Settings::default().steps;
            if self.arguments.driving.events.is_none() && walk.progress().events >= limit {
                text += &format!("  the walk ended at its limit of {limit} events: `--events` allows more\n");
            }
            text += "  not covered:\n";
            for goal in uncovered.iter().take(MANY_SHOWN) {
                text += &format!("    {goal}\n");
            }
            if let Some(more) = uncovered.len().checked_sub(MANY_SHOWN).filter(|more| *more > 0) {
                text += &format!("    and {}\n", plural(more, "other"));
            }
        }
        text
    }
}

/// `covered 34 of 40 goals; 210 events, 1 reset, round 2`
fn progress_text(standing: &WalkProgress) -> String {
    let WalkProgress { covered, goals, events, resets, round } = standing;
    let (events, resets) = (plural(*events, "event"), plural(*resets, "reset"));
    format!("covered {covered} of {goals} goals; {events}, {resets}, round {round}")
}

/// Returns how long a run may take: the time that is left for the walk, and that of an answer to the last
/// stimulus.
fn time_left(begin: Instant, settings: &Settings) -> Duration {
    // The limit of events ends most walks much earlier.
    let time = budget::command_time().unwrap_or(Duration::from_millis(LONGEST));
    time.saturating_sub(begin.elapsed()) + 2 * settings.quiescence + Duration::from_secs(1)
}
