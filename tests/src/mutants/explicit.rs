//! Implementations that no symbolic mutation expresses: the specification's explicit system with one fault in
//! it.
//!
//! A symbolic mutant is wrong wherever its changed transition is taken, for all values alike. A real fault
//! may show in one state of thousands, for one value, after one history. So faults are also planted where
//! there are no guards any more: in single edges and states. As for symbolic mutants, whether the fault shows
//! is decided by brute force.

use crate::brute::EventId;
use crate::brute::alphabet::Alphabet;
use crate::brute::explore::Graph;
use crate::generator::random::Random;

macro_rules! faults {
    ($($(#[$doc:meta])* $variant:ident = $name:literal;)*) => {
        /// How the system differs from the specification's.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Fault { $($(#[$doc])* $variant,)* }

        impl Fault {
            /// All of them.
            pub const ALL: &'static [Fault] = &[$(Fault::$variant),*];

            /// Its name in reports.
            pub fn name(self) -> &'static str {
                match self { $(Fault::$variant => $name,)* }
            }
        }
    };
}

faults! {
    /// One state does not send one of its outputs.
    OutputRemoved = "output removed";
    /// One state sends something, any value of any output.
    OutputAdded = "output added";
    /// One message of one state carries other values.
    OutputValue = "output value changed";
    /// One step of one state leads elsewhere.
    EdgeRedirected = "edge redirected";
    /// One state is silently able to become another.
    InternalAdded = "internal step added";
    /// Two events of one direction have each other's meaning, everywhere.
    LabelsSwapped = "labels swapped";
    /// A state is taken for another one: everything that led to it leads there.
    StateForgotten = "state forgotten";
    /// After one step things look as they should, but one of the outputs from there on differs: a fault of
    /// memory.
    MemoryFault = "memory fault";
    /// As before, and the difference comes only one event later.
    LateMemoryFault = "late memory fault";
}

/// Some faulty system; `None` where a number of attempts found no fault that applies.
pub fn mutant(random: &mut Random, graph: &Graph, alphabet: &Alphabet) -> Option<(Fault, Graph)> {
    (0..20).find_map(|_| {
        let fault = *random.pick(Fault::ALL)?;
        Some((fault, mutate(random, graph, alphabet, fault)?))
    })
}

/// The system with this fault, where it applies.
pub fn mutate(random: &mut Random, graph: &Graph, alphabet: &Alphabet, fault: Fault) -> Option<Graph> {
    let mut faulty = graph.clone();
    let count = graph.visible.len();
    let any_state = random.below(count) as u32;
    let (source, at) = random.pick(&edges(graph)).copied()?;
    match fault {
        Fault::OutputRemoved | Fault::OutputAdded | Fault::OutputValue => {
            change_output(random, &mut faulty, alphabet, any_state as usize, fault)?;
        }
        Fault::EdgeRedirected => faulty.visible[source][at].1 = any_state,
        Fault::InternalAdded => faulty.internal[source].push(any_state),
        Fault::LabelsSwapped => swap_labels(random, &mut faulty, alphabet)?,
        Fault::StateForgotten => {
            let forgotten = graph.visible[source][at].1;
            for (_, target) in faulty.visible.iter_mut().flatten() {
                if *target == forgotten {
                    *target = any_state;
                }
            }
        }
        Fault::MemoryFault => {
            let copy = copied_target(&mut faulty, source, at);
            change_any_output(random, &mut faulty, alphabet, copy)?;
        }
        Fault::LateMemoryFault => {
            let copy = copied_target(&mut faulty, source, at);
            let onward = random.below(faulty.visible[copy].len());
            faulty.visible[copy].get(onward)?;
            let later = copied_target(&mut faulty, copy, onward);
            change_any_output(random, &mut faulty, alphabet, later)?;
        }
    }
    for steps in &mut faulty.visible {
        steps.sort_unstable();
        steps.dedup();
    }
    for steps in &mut faulty.internal {
        steps.sort_unstable();
        steps.dedup();
    }
    let same = faulty.visible == graph.visible && faulty.internal == graph.internal;
    (!same).then_some(faulty)
}

/// Source and place of every visible step.
fn edges(graph: &Graph) -> Vec<(usize, usize)> {
    let of = |(source, steps): (usize, &Vec<_>)| (0..steps.len()).map(move |at| (source, at));
    graph.visible.iter().enumerate().flat_map(of).collect()
}

/// Leads one step to a copy of its target, which is new; the number of the copy.
fn copied_target(graph: &mut Graph, source: usize, at: usize) -> usize {
    let (copy, target) = (graph.visible.len(), graph.visible[source][at].1 as usize);
    graph.visible.push(graph.visible[target].clone());
    graph.internal.push(graph.internal[target].clone());
    graph.visible[source][at].1 = copy as u32;
    copy
}

fn change_any_output(
    random: &mut Random,
    graph: &mut Graph,
    alphabet: &Alphabet,
    state: usize,
) -> Option<()> {
    let kinds = [Fault::OutputRemoved, Fault::OutputAdded, Fault::OutputValue];
    (0..6).find_map(|_| {
        let kind = *random.pick(&kinds)?;
        change_output(random, graph, alphabet, state, kind)
    })
}

/// Changes one output of the state; `None`, and nothing changed, where it has none that fits.
fn change_output(
    random: &mut Random,
    graph: &mut Graph,
    alphabet: &Alphabet,
    state: usize,
    kind: Fault,
) -> Option<()> {
    let outputs: Vec<EventId> = alphabet.events().filter(|event| alphabet.is_output(*event)).collect();
    if kind == Fault::OutputAdded {
        let event = *random.pick(&outputs)?;
        let target = random.below(graph.visible.len()) as u32;
        // It looks best where it disturbs nothing else: the state stays, as often as not.
        let target = if random.chance(50) { state as u32 } else { target };
        graph.visible[state].push((event, target));
        return Some(());
    }
    let places: Vec<usize> = (0..graph.visible[state].len())
        .filter(|at| alphabet.is_output(graph.visible[state][*at].0))
        .collect();
    let at = *random.pick(&places)?;
    if kind == Fault::OutputRemoved {
        graph.visible[state].remove(at);
        return Some(());
    }
    let letter = &alphabet.letters[graph.visible[state][at].0 as usize];
    let others: Vec<EventId> = alphabet.of_action[&letter.action]
        .iter()
        .copied()
        .filter(|event| alphabet.letters[*event as usize].values != letter.values)
        .collect();
    graph.visible[state][at].0 = *random.pick(&others)?;
    Some(())
}

fn swap_labels(random: &mut Random, graph: &mut Graph, alphabet: &Alphabet) -> Option<()> {
    let events: Vec<EventId> = alphabet.events().collect();
    let one = *random.pick(&events)?;
    let fits = |event: &EventId| *event != one && alphabet.is_output(*event) == alphabet.is_output(one);
    let fitting: Vec<EventId> = events.iter().copied().filter(fits).collect();
    let other = *random.pick(&fitting)?;
    for (event, _) in graph.visible.iter_mut().flatten() {
        *event = match *event {
            event if event == one => other,
            event if event == other => one,
            event => event,
        };
    }
    Some(())
}
