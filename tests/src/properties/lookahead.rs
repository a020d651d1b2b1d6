//! Was a stop of `determinize` justified? It says that some choice is never resolved.
//!
//! No property, since the definition (A.15) is about actions and guards and the stop may be right where brute
//! force sees nothing: the choice may stand in a state that no run reaches, or be open between effects that
//! come to the same. So this is counted. The model after closure is explored, once from its initial states
//! and, where that shows nothing, once from all states there are. Where that shows nothing either,
//! `determinize` is asked again, with a longer lookahead.

use coreach_analyses::solver::z3::{QueryLimits, Z3Solver};
use coreach_model::iosts::Aim;
use coreach_pipeline::artifact::Closed;
use coreach_pipeline::stages::determinize::determinize;

use super::artifacts::Unresolved;
use super::{Known, Report, Settings};
use crate::brute::alphabet::Alphabet;
use crate::brute::ambiguity::{any, is_ambiguous_for_ever};
use crate::brute::artifact;
use crate::brute::explore::{Concrete, Graph, State, explore, valuations};
use crate::brute::machine::Datum;
use crate::brute::{EventId, TooLarge};

/// The most pairs of states that are looked at.
const MOST_PAIRS: usize = 100_000;

/// A lookahead that hardly any choice of so small a model exceeds, if it has one.
const LONG: usize = 8;

/// Counts what brute force says to the stop.
pub fn justified(
    closed: &Closed,
    unresolved: &Unresolved,
    known: &Known,
    settings: &Settings,
    report: &mut Report,
) {
    if settings.only.is_some() {
        return;
    }
    if settings.doubt.is_some() {
        // The stage was not told which guards exclude each other.
        return report.count("no lookahead: in doubt", 1);
    }
    let said = judge(closed, unresolved, known, settings);
    let said = said.unwrap_or("no lookahead: too large for brute force");
    report.count(said, 1);
}

fn judge(
    closed: &Closed,
    unresolved: &Unresolved,
    known: &Known,
    settings: &Settings,
) -> Result<&'static str, TooLarge> {
    let (alphabet, limit) = (&known.alphabet, settings.limits.states * 2);
    let machine = artifact::machine(&closed.iosts);
    let along = |graph: &Graph| along_the_cycle(graph, unresolved, alphabet);
    let anyhow = |graph: &Graph| is_ambiguous_for_ever(graph, MOST_PAIRS, any);
    let mut reachable = Vec::new();
    for instance in &known.instances {
        let concrete = Concrete::new(&machine, &instance.constants, alphabet);
        reachable.push(concrete.explore(limit)?.graph);
    }
    if some(&reachable, along)? {
        return Ok("no lookahead: confirmed by brute force, along the cycle told");
    }
    if some(&reachable, anyhow)? {
        return Ok("no lookahead: confirmed by brute force, along another cycle");
    }
    let variables = &machine.variables;
    let all_values = valuations(variables, limit)?;
    let mut everything = Vec::new();
    for instance in &known.instances {
        let concrete = Concrete::new(&machine, &instance.constants, alphabet);
        let states = (0..machine.locations.len() as u32).flat_map(|location| {
            all_values.iter().map(move |values| {
                let of = |variable: &Datum| values.get(&variable.name).cloned();
                State { location, variables: variables.iter().filter_map(of).collect() }
            })
        });
        everything.push(explore(states.collect(), limit * 4, |state| concrete.steps(state))?.graph);
    }
    if some(&everything, along)? || some(&everything, anyhow)? {
        return Ok("no lookahead: confirmed in states that are not reached");
    }
    // Products that are nested so deep are beyond the solver; it may say so soon.
    let mut solver = Z3Solver::new(QueryLimits { rlimit: 20_000, milliseconds: 100 });
    if determinize(closed.clone(), LONG, Aim::Accept, &settings.analysis, &Default::default(), &mut solver)
        .is_ok()
    {
        return Ok("no lookahead: not confirmed, a longer one resolves it");
    }
    Ok("no lookahead: not confirmed by brute force")
}

fn some(graphs: &[Graph], holds: impl Fn(&Graph) -> Result<bool, TooLarge>) -> Result<bool, TooLarge> {
    for graph in graphs {
        if holds(graph)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Does the choice stay open along the actions that the stop names, the cycle again and again?
fn along_the_cycle(graph: &Graph, unresolved: &Unresolved, alphabet: &Alphabet) -> Result<bool, TooLarge> {
    let Unresolved { prefix, cycle } = unresolved;
    let allowed = |step: usize, event: EventId| {
        let action = prefix.iter().chain(cycle).nth(step)?;
        let next = if step + 1 == prefix.len() + cycle.len() { prefix.len() } else { step + 1 };
        (alphabet.letters[event as usize].action == *action).then_some(next)
    };
    is_ambiguous_for_ever(graph, MOST_PAIRS, allowed)
}
