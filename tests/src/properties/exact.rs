//! The exact reference against brute force, and the domains against the exact reference.

use std::collections::{HashMap, HashSet};

use coreach_analyses::exact::ExactAnswer;
use coreach_analyses::reachability::Refinement;
use coreach_analyses::solver::horn;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::{Analysis, DomainKind};
use coreach_cli::horn_process::HornProcess;
use coreach_model::{Number, TransitionId};
use coreach_pipeline::artifact::{TestGraph, Visible};
use coreach_pipeline::check;
use coreach_pipeline::exact::{distance, exact_reference};
use coreach_pipeline::late_states::{LateMethod, late_states};
use coreach_pipeline::stages::select::select;

use super::{EXACT, Known, LATE, Report, Settings};
use crate::brute::TooLarge;
use crate::brute::artifact;
use crate::brute::explore::{Concrete, State, System, coreachable, valuations};
use crate::brute::machine::Machine;
use crate::brute::pair::Instance;

/// What the domains keep beyond the exact reference is counted under these names.
const KEPT_IN_VAIN: [(DomainKind, Refinement, &str); 5] = [
    (DomainKind::Interval, Refinement::Domains, "exact: kept in vain by interval"),
    (DomainKind::Octagon, Refinement::Domains, "exact: kept in vain by octagon"),
    (DomainKind::Polyhedra, Refinement::Domains, "exact: kept in vain by polyhedra"),
    (DomainKind::PolyhedraCongruence, Refinement::Domains, "exact: kept in vain by polyhedra+congruence"),
    (DomainKind::Polyhedra, Refinement::Exact, "exact: kept in vain by polyhedra, refined"),
];

/// The program where it stands beside this one, or a folder above, as for tests; else this one, which is the
/// soak.
pub fn engine() -> HornProcess {
    let own = std::env::current_exe().unwrap_or_default();
    let beside = own.ancestors().skip(1).take(2).map(|folder| folder.join("program"));
    HornProcess { program: beside.filter(|path| path.is_file()).last().unwrap_or(own.clone()) }
}

/// Of each seed where the property is asked for, of every tenth otherwise: it starts many processes.
pub fn is_due(settings: &Settings) -> bool {
    settings.only.is_some() || settings.seed.is_multiple_of(10)
}

/// Holds the exact reference of the visible behaviours against brute force, and all domains against both.
pub fn exact(visible: &Visible, known: &Known, settings: &Settings, report: &mut Report) {
    if !settings.wants(EXACT) || !is_due(settings) {
        return;
    }
    let Ok((truth, is_whole)) = on_runs(visible, known, settings) else {
        report.count("exact: too large for brute force", 1);
        return;
    };
    let options = Analysis { domain: DomainKind::PolyhedraCongruence, ..Analysis::default() };
    let reference = exact_reference(visible, &options, &mut engine(), &mut Z3Solver::default());
    report.count("exact: answers that did not check", reference.refused as usize);
    report.count("exact: facts left out", usize::from(reference.facts_left_out));
    for (number, transition) in visible.iosts.transitions.numbered() {
        if visible.accepting[transition.source] {
            continue;
        }
        let is_on_run = truth.contains(&number);
        let outcome = match &reference.transitions[number] {
            ExactAnswer::No(_) if is_on_run => Err("is on a run and is proved not to be"),
            // A run that was replayed: the oracle's own mistake, or that of the concrete semantics.
            ExactAnswer::Yes(_) if is_whole && !is_on_run => Err("is on no run and is shown to be"),
            ExactAnswer::Yes(_) => Ok("exact: transitions on a run"),
            ExactAnswer::No(_) => Ok("exact: transitions on no run"),
            ExactAnswer::Unknown(why) if why.contains("process") => Ok("exact: the process ended"),
            ExactAnswer::Unknown(why) if why.contains("not asked") => Ok("exact: not asked"),
            ExactAnswer::Unknown(why) if why.starts_with("the ") => Ok("exact: did not check"),
            ExactAnswer::Unknown(_) => Ok("exact: the engine does not know"),
        };
        match outcome {
            Ok(what) => {
                report.count(what, 1);
                report.note(EXACT, Ok(()));
            }
            Err(why) => report.note(EXACT, Err(format!("{} {why}", visible.iosts.describe(transition)))),
        }
    }
    horn::provide(|| Box::new(engine()));
    for (domain, refine, what) in KEPT_IN_VAIN {
        let options = Analysis { domain, refine, ..Analysis::default() };
        let graph = select(visible.clone(), &options, &mut Z3Solver::default());
        if refine == Refinement::Exact {
            let broken = check::check_test_graph(&graph, visible, &mut Z3Solver::default()).violations;
            report.note(EXACT, if broken.is_empty() { Ok(()) } else { Err(format!("refined: {broken:?}")) });
        }
        let far = distance(&reference, visible, &graph);
        report.count(what, far.extra);
        let lost = || format!("{domain} cuts {} transitions that are on runs", far.lost);
        report.note(EXACT, if far.lost == 0 { Ok(()) } else { Err(lost()) });
    }
}

/// The transitions that lie on a run to an accepting location, and whether all constants were looked at.
fn on_runs(
    visible: &Visible,
    known: &Known,
    settings: &Settings,
) -> Result<(HashSet<TransitionId>, bool), TooLarge> {
    let mut iosts = visible.iosts.clone();
    // Nothing follows Accept; the numbers stay.
    for transition in &mut iosts.transitions {
        if visible.accepting[transition.source] {
            transition.guard = coreach_model::Term::no();
        }
    }
    let machine = artifact::machine(&iosts);
    let accepting: Vec<bool> = visible.accepting.iter().copied().collect();
    let mut found = HashSet::new();
    for (instance, system) in systems(&machine, known, settings)? {
        let accepts: Vec<bool> =
            system.states.iter().map(|state| accepting[state.location as usize]).collect();
        let alive = coreachable(&system.graph, &accepts);
        let numbers: HashMap<&State, usize> =
            system.states.iter().enumerate().map(|(number, state)| (state, number)).collect();
        for (place, step) in machine.steps.iter().enumerate() {
            let alone = Machine { steps: vec![step.clone()], ..machine.clone() };
            let concrete = Concrete::new(&alone, &instance.constants, &known.alphabet);
            let leads_on = |state: &State| {
                concrete.steps(state).iter().any(|(_, next)| numbers.get(next).is_some_and(|at| alive[*at]))
            };
            if system.states.iter().any(leads_on) {
                found.insert(TransitionId::of(place));
            }
        }
    }
    Ok((found, is_whole(known)))
}

/// Were all values of the constants looked at?
fn is_whole(known: &Known) -> bool {
    let own = &known.pair.purpose.machine.constants[..known.pair.purpose.own_constants];
    let constants: Vec<_> = known.pair.specification.constants.iter().chain(own).cloned().collect();
    valuations(&constants, 4096).is_ok_and(|all| all.len() == known.instances.len())
}

fn systems<'k>(
    machine: &Machine,
    known: &'k Known,
    settings: &Settings,
) -> Result<Vec<(&'k Instance, System<State>)>, TooLarge> {
    let explored = known.instances.iter().map(|instance| {
        let concrete = Concrete::new(machine, &instance.constants, &known.alphabet);
        Ok((instance, concrete.explore(settings.limits.states * 2)?))
    });
    explored.collect()
}

/// Holds the count of late states against brute force.
pub fn late(graph: &TestGraph, known: &Known, settings: &Settings, report: &mut Report) {
    if !settings.wants(LATE) || !is_due(settings) || !is_whole(known) || !graph.is_purpose_reachable() {
        return;
    }
    let machine = artifact::machine(&graph.iosts);
    let (Ok(systems), Some(found)) =
        (systems(&machine, known, settings), late_states(graph, &mut Z3Solver::default(), None))
    else {
        report.count("late: not counted", 1);
        return;
    };
    let is_verdict = |state: &State| graph.is_verdict(coreach_model::LocationId(state.location));
    let (mut late, mut open) = (0, 0);
    for (_, system) in &systems {
        let passes: Vec<bool> = system
            .states
            .iter()
            .map(|state| Some(coreach_model::LocationId(state.location)) == graph.pass)
            .collect();
        let alive = coreachable(&system.graph, &passes);
        let going = || system.states.iter().zip(&alive).filter(|(state, _)| !is_verdict(state));
        open += going().count();
        late += going().filter(|(_, alive)| !**alive).count();
    }
    report.count("late: states", late);
    // What the condition leaves open has two values here, and one there.
    let is_open = graph.iosts.variables.iter().any(|v| !graph.iosts.initial_condition.mentions(v));
    let same = match is_open {
        true => (found.late > 0) == (late > 0),
        false => (found.late, found.states) == (late, open),
    };
    let same = same && found.method == LateMethod::Enumeration;
    let told = || format!("{found:?}, but {late} states of {open} are late");
    report.note(LATE, if same { Ok(()) } else { Err(told()) });
}
