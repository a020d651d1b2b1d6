//! Makes timed sequences for paths, and for all goals of a criterion.

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::search::SearchLimits;
use coreach_analyses::symbolic::{System, TreeLimits};
use coreach_execution::coverage::{Item, Items, Walked};
use coreach_execution::offline::inputs::{self, NoSequence, Reached, inputs_of, path_to};
use coreach_execution::offline::sequence::{SeqItem, normalize};
use coreach_model::iosts::TransitionId;
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::have_values;
use coreach_model::term::node::Comparison;
use coreach_model::timed::delayed::unseen_delays;
use coreach_model::{Diagnostic, Term, Value};

use crate::cover::goals::{describe_goal, list_goals};
use crate::cover::search::{MetGoal, find_run_along, search};
use crate::cover::{Criterion, Fate, Goal, decide_fate, list_paths, memory_needed};
use crate::timed::TimedModel;
use crate::timing::report_internal_time;

/// The most nodes of a tree of paths to other goals.
const NODES: usize = 2000;

pub struct TimedInputs {
    pub constants: Valuation,
    pub seed: Option<u64>,
    /// Does a sequence have the outputs of the model, too?
    pub is_whole: bool,
}

/// Makes a sequence that leads along a path.
pub fn sequence_along(
    model: &TimedModel,
    path: &[TransitionId],
    wanted: &TimedInputs,
) -> Result<Vec<SeqItem>, Diagnostic> {
    let mut solver = Z3Solver::default();
    let found = inputs::sequence_along(&model.form, path, &wanted.constants, wanted.seed, &mut solver);
    let all = found.map_err(|why| match why {
        NoSequence::Impossible(place) => {
            let number = path[place];
            let message = format!(
                "no data and times allow transition {} (number {} of the path)",
                model.timed.called(number),
                place + 1
            );
            let transition = &model.timed.graph().transitions[number];
            Diagnostic::error("impossible-path", message)
                .at(transition.origin.whole.clone(), "cannot be taken here")
        }
        NoSequence::Unknown => {
            Diagnostic::error("unknown-path", "the solver does not know whether a run goes along the path")
        }
    })?;
    Ok(if wanted.is_whole { all } else { inputs_of(&model.timed, &all) })
}

pub enum TimedFate {
    /// This path meets it, with this sequence.
    Met(Vec<TransitionId>, Vec<SeqItem>),
    /// No run meets it. The text may say why.
    Never(Option<String>),
    /// No path was found. The text may say why.
    NotFound(Option<String>),
    Open,
}

pub struct TimedGoal {
    pub name: String,
    /// The goal in words, if its name does not say it.
    pub words: Option<String>,
    pub fate: TimedFate,
}

/// Refuses a criterion that timed models do not have.
pub fn criterion_with_time(criterion: Criterion) -> Result<Criterion, String> {
    match criterion {
        Criterion::Faults(_) | Criterion::Machine(..) => {
            Err(format!("`{criterion}` is a criterion of specifications without time"))
        }
        _ => Ok(criterion),
    }
}

/// Makes a sequence for each goal, one after the other. Each result is in `found` at once.
pub fn cover(
    model: &TimedModel,
    criterion: Criterion,
    wanted: &TimedInputs,
    found: &mut Vec<TimedGoal>,
) -> Result<(), Diagnostic> {
    let transitions = &model.timed.graph().transitions;
    let goals: Vec<Vec<TransitionId>> = match criterion {
        Criterion::Transitions => transitions.numbers().map(|number| vec![number]).collect(),
        Criterion::Pairs => {
            let pairs_from = |first: TransitionId| {
                let target = transitions[first].target;
                let next = transitions.numbered().filter(move |(_, second)| second.source == target);
                next.map(move |(second, _)| vec![first, second])
            };
            transitions.numbers().flat_map(pairs_from).collect()
        }
        _ => return search_goals(model, criterion, wanted, found),
    };
    let name = |goal: &Vec<TransitionId>| {
        let called: Vec<String> = goal.iter().map(|number| model.timed.called(*number)).collect();
        TimedGoal { name: called.join("-"), words: None, fate: TimedFate::Open }
    };
    found.extend(goals.iter().map(name));
    let mut solver = Z3Solver::default();
    for (goal, found) in goals.iter().zip(found) {
        // The work limit of the search for a path to a transition: some ten seconds.
        let limits = SearchLimits { work: 10_000_000, ..SearchLimits::default() };
        found.fate = match path_to(&model.form, goal, &wanted.constants, &limits, &mut solver) {
            Reached::By(path) => {
                let items = sequence_along(model, &path, wanted)?;
                TimedFate::Met(path, items)
            }
            Reached::Never => TimedFate::Never(None),
            Reached::NotFound(_) => TimedFate::NotFound(None),
        };
    }
    Ok(())
}

/// Makes sequences for goals that are more than a list of transitions. It searches the delayed form like a
/// specification without time. The values are those of a run all of whose explanations meet the goal.
fn search_goals(
    model: &TimedModel,
    criterion: Criterion,
    wanted: &TimedInputs,
    found: &mut Vec<TimedGoal>,
) -> Result<(), Diagnostic> {
    if wanted.seed.is_some() {
        let message =
            format!("`--seed` does not change `{criterion}`: the values are those that show the goal");
        return Err(Diagnostic::error("contradiction", message).help("leave out --seed"));
    }
    // A run of events shows the goals. In it, internal transitions that take time have no instant.
    if let Some(number) = unseen_delays(&model.timed).first() {
        return Err(report_internal_time(model.timed.graph(), *number));
    }
    let mut iosts = model.form.iosts.clone();
    iosts.initial_condition = Term::and([iosts.initial_condition, have_values(&wanted.constants)]);
    let walked = Walked::alone(&iosts);
    let items = &walked.parts[0].items;
    let mut solver = Z3Solver::default();
    let limits = TreeLimits { nodes: NODES, is_restricted: true, ..TreeLimits::default() };
    let (goals, is_whole) = match criterion {
        Criterion::AllPaths(_) | Criterion::Inclusion(_) => {
            list_paths(&System::new(&walked.iosts), criterion, limits, &mut solver)
        }
        _ => (list_goals(&walked.iosts, items, criterion), true),
    };
    let goals: Vec<Goal> = goals.into_iter().filter(|goal| is_of_model(model, items, goal)).collect();
    for (place, goal) in goals.iter().enumerate() {
        let words = Some(describe_goal(&model.form.iosts, items, goal));
        found.push(TimedGoal { name: format!("{criterion}-{}", place + 1), words, fate: TimedFate::Open });
    }
    if !is_whole {
        let why = Some(format!("not all paths fit {NODES} nodes"));
        found.push(TimedGoal { name: criterion.to_string(), words: None, fate: TimedFate::NotFound(why) });
    }
    let timed_fate = |fate: Fate| match fate {
        Fate::Covered(met) => {
            let items = timed_items(model, &met);
            let sequence = if wanted.is_whole { items } else { inputs_of(&model.timed, &items) };
            TimedFate::Met(met.route.path, sequence)
        }
        Fate::Unreachable(why) => TimedFate::Never(Some(why)),
        Fate::Unknown(why) => TimedFate::NotFound(Some(why)),
        Fate::Open => TimedFate::Open,
    };
    for (place, goal) in goals.iter().enumerate() {
        if let Goal::Path(path) = goal {
            found[place].fate = timed_fate(decide_fate(find_run_along(&walked, path.clone(), &mut solver)));
        }
    }
    // All goals are of one criterion, and need the same memory. Paths were decided above.
    let Some(first) = goals.first().filter(|first| !matches!(first, Goal::Path(_))) else { return Ok(()) };
    let mut keep = |place: usize, met: &MetGoal| found[place].fate = timed_fate(Fate::Covered(met.clone()));
    let sought = search(&walked, &goals, memory_needed(first), limits, &mut keep, &mut solver);
    for (found, sought) in found.iter_mut().zip(sought) {
        found.fate = timed_fate(decide_fate(sought));
    }
    Ok(())
}

/// Is the goal about the model? Others are about delays and clocks of its delayed form.
fn is_of_model(model: &TimedModel, items: &Items, goal: &Goal) -> bool {
    let not_negative =
        Term::compare(Comparison::AtLeast, &Term::datum(&model.form.delay), &Term::int(0).to_real());
    match goal {
        Goal::Item(number) => match &items.all()[*number] {
            Item::Condition { transition, condition, .. } => {
                items.conditions(*transition)[*condition] != not_negative
            }
            _ => true,
        },
        Goal::DefinitionUse { variable, .. } => !model.form.clocks.contains(variable),
        _ => true,
    }
}

/// Turns the trace of the delayed form into a timed sequence: the first value of each event is its delay.
fn timed_items(model: &TimedModel, met: &MetGoal) -> Vec<SeqItem> {
    let mut items = Vec::new();
    for event in &met.evidence.trace {
        let Some(action) = model.form.iosts.find_action(&event.action) else { continue };
        let mut values = event.values.iter().cloned();
        if let Some(Value::Real(delay)) = values.next() {
            items.push(SeqItem::Delay(delay));
        }
        items.push(SeqItem::Event(action, values.collect()));
    }
    normalize(items)
}
