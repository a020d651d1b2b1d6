//! How a timed implementation is wrong in one place.
//!
//! The mutants of an untimed model ([`coreach_execution::mutation`]) know no clocks. These are the three
//! mistakes with time that people make, each at each place where it is possible: a bound that is one unit
//! off, a clock that is not set back, an output that never comes. Whether one shows is for others to find
//! out: many conform.

use coreach_model::iosts::ActionKind;
use coreach_model::term::{Substitution, substitute};
use coreach_model::timed::{Clocks, Timed};
use coreach_model::{Term, TransitionId};

/// A mutant.
#[derive(Clone, Debug)]
pub struct TimedMutant {
    /// What was changed.
    pub change: String,
    /// The transition that was changed.
    pub transition: TransitionId,
    /// The wrong implementation.
    pub timed: Timed,
}

/// All mutants of the model.
pub fn mutants(timed: &Timed) -> Vec<TimedMutant> {
    let graph = timed.graph();
    let mut found = Vec::new();
    let mut add = |number: TransitionId, change: String, timed: Timed| {
        found.push(TimedMutant { change, transition: number, timed });
    };
    for (number, transition) in graph.transitions.numbered() {
        let called = format!("{} ({})", timed.called(number), graph.describe(transition));
        let is_output = graph.action(transition.action).kind == ActionKind::Output;
        for clock in timed.clocks().iter().filter(|clock| is_output && transition.guard.mentions(clock)) {
            for (by, word) in [(1, "early"), (-1, "late")] {
                let shown = Term::add(&Term::datum(clock), &Term::int(by).to_real());
                let guard = substitute(&transition.guard, &Substitution::from([(clock.clone(), shown)]));
                let change = format!("{called}: by `{clock}` a unit too {word}");
                add(number, change, changed(timed, |graph, _| graph.transitions[number].guard = guard));
            }
        }
        for clock in timed.resets(number) {
            let change = format!("{called}: `{clock}` is not set back");
            let without = |_: &mut _, clocks: &mut Clocks| clocks.resets[number].retain(|one| one != clock);
            add(number, change, changed(timed, without));
        }
        if is_output {
            let change = format!("{called}: it never comes");
            let never = |graph: &mut coreach_model::Iosts, _: &mut _| {
                graph.transitions[number].guard = Term::no();
            };
            add(number, change, changed(timed, never));
        }
    }
    found
}

fn changed(timed: &Timed, change: impl FnOnce(&mut coreach_model::Iosts, &mut Clocks)) -> Timed {
    let mut graph = timed.graph().clone();
    let numbers = graph.transitions.numbers();
    let resets: Vec<_> = numbers.map(|number| timed.resets(number).to_vec()).collect();
    let names = graph.transitions.map(|_| None);
    let mut clocks = Clocks { clocks: timed.clocks().to_vec(), resets: resets.into(), names };
    change(&mut graph, &mut clocks);
    Timed::new(graph, clocks, timed.uncontrollable().map(|(action, _)| action).collect())
}
