//! `reach` and `coreach` contain what they over-approximate, for every domain and iteration.

use coreach_analyses::reachability::analyse;
use coreach_model::iosts::Iosts;
use coreach_model::term::Term;

use super::stages::show_state;
use super::{COREACH, Known, NO_PANIC, REACH, Report, Settings};
use crate::brute::artifact;
use crate::brute::explore::{Concrete, State, System, coreachable};
use crate::brute::machine::Machine;
use crate::brute::pair::Instance;

/// Checks the facts of an artifact.
pub fn facts(iosts: &Iosts, accepting: &[bool], known: &Known, settings: &Settings, report: &mut Report) {
    if !settings.wants(REACH) && !settings.wants(COREACH) {
        return;
    }
    let machine = artifact::machine(iosts);
    let systems: Vec<(&Instance, System<State>)> = known
        .instances
        .iter()
        .filter_map(|instance| {
            let concrete = Concrete::new(&machine, &instance.constants, &known.alphabet);
            Some((instance, concrete.explore(settings.limits.states * 2).ok()?))
        })
        .collect();
    for options in settings.others.iter().chain([&settings.analysis]) {
        let work = std::panic::AssertUnwindSafe(|| analyse(iosts, accepting, options));
        let Ok(facts) = std::panic::catch_unwind(work) else {
            report.note(NO_PANIC, Err(format!("analyse panics with {options:?}")));
            continue;
        };
        if facts.iterations.stopped.is_some() {
            report.count("fixpoints stopped by their limit", 1);
        }
        for (instance, system) in &systems {
            let everything = vec![true; system.states.len()];
            let accepts: Vec<bool> =
                system.states.iter().map(|state| accepting[state.location as usize]).collect();
            let alive = coreachable(&system.graph, &accepts);
            let concrete = Concrete::new(&machine, &instance.constants, &known.alphabet);
            for (property, fact, states) in
                [(REACH, &facts.reach, &everything), (COREACH, &facts.coreach, &alive)]
            {
                let outcome = contained(iosts, &machine, &concrete, system, fact, states);
                report.note(property, outcome.map_err(|text| format!("{}: {text}; {options:?}", iosts.name)));
            }
        }
    }
}

/// Every chosen state satisfies the fact of its location.
pub fn contained(
    iosts: &Iosts,
    machine: &Machine,
    concrete: &Concrete<'_>,
    system: &System<State>,
    fact: &[Term],
    chosen: &[bool],
) -> Result<(), String> {
    let read: Vec<_> = fact.iter().map(|fact| artifact::expression(iosts, fact)).collect();
    for (state, chosen) in system.states.iter().zip(chosen) {
        let fact = &fact[state.location as usize];
        if !chosen || fact.is_true() {
            continue;
        }
        let value = read[state.location as usize].truth(&concrete.places(state));
        if value != Ok(true) {
            let at = show_state(machine, state);
            return Err(format!("{at} is not in {fact}: {value:?}"));
        }
    }
    Ok(())
}
