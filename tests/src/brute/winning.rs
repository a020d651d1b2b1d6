//! What a tester can win in a pair, by enumeration of what is possible after each trace.
//!
//! A position is the set of states of both that a trace leads to. The tester sends an event that one of them
//! takes, or waits. A stimulus may be overtaken by what the specification allows to come. Waiting brings one
//! of the outputs; by ioco also silence, where a state is quiescent. By ioc something surely comes where no
//! state is quiescent. An output that no state allows is a Fail, so it is no event here.
//!
//! - *Forced*: there is a number of events within which Pass comes, computed number by number.
//! - *Fair*: what is left when positions without a way to Pass, and choices that may lead to one of these,
//!   are struck out again and again.
//! - *Possible*: there is a way to Pass.

use std::collections::{BTreeMap, BTreeSet};

use super::EventId;
use super::alphabet::Alphabet;
use super::pair::Instance;
use super::subsets::internal_closure;

/// How a game is played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Silence is an event.
    pub is_ioco: bool,
    /// Pass is given where all states accept; else where one does.
    pub is_online: bool,
}

/// What is won; of what is forced, within how many events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Winnable {
    /// Whatever comes.
    Forced(usize),
    /// If what stays possible comes some day.
    Fair,
    /// If the system wants it.
    Possible,
    /// Never.
    Unreachable,
}

type Position = BTreeSet<u32>;

/// The tester's choices in a position: where each may lead, and whether something comes of it surely.
type Choices = Vec<(BTreeSet<Position>, bool)>;

/// What is won in an instance; positions are as many as there are.
pub fn winnable(instance: &Instance, alphabet: &Alphabet, rules: Rules) -> Winnable {
    let start: Position =
        internal_closure(&instance.both.graph, instance.both.graph.initial.clone()).into_iter().collect();
    let mut game: BTreeMap<Position, Choices> = BTreeMap::new();
    let mut work = vec![start.clone()];
    while let Some(position) = work.pop() {
        if game.contains_key(&position) {
            continue;
        }
        let choices = if is_over(instance, &position) {
            Vec::new()
        } else {
            choices(instance, alphabet, rules, &position)
        };
        work.extend(choices.iter().flat_map(|(to, _)| to.iter().cloned()));
        game.insert(position, choices);
    }
    let passes = |position: &Position| match rules.is_online {
        true => position.iter().all(|at| instance.accepting[*at as usize]),
        false => position.iter().any(|at| instance.accepting[*at as usize]),
    };
    let won: BTreeSet<&Position> = game.keys().filter(|position| passes(position)).collect();
    // Within 0, 1, 2, ... events.
    let mut within = won.clone();
    for number in 0.. {
        if within.contains(&start) {
            return Winnable::Forced(number);
        }
        let mut next = within.clone();
        for (position, choices) in &game {
            if choices.iter().any(|(to, is_sure)| *is_sure && to.iter().all(|one| within.contains(one))) {
                next.insert(position);
            }
        }
        if next == within {
            break;
        }
        within = next;
    }
    let mut left = game.clone();
    loop {
        let hopeful = hopeful(&left, &won);
        if left.keys().all(|one| hopeful.contains(one)) {
            break;
        }
        left.retain(|position, _| hopeful.contains(position));
        let known: BTreeSet<Position> = left.keys().cloned().collect();
        left.values_mut().for_each(|choices| choices.retain(|(to, _)| to.is_subset(&known)));
    }
    if left.contains_key(&start) {
        Winnable::Fair
    } else if hopeful(&game, &won).contains(&start) {
        Winnable::Possible
    } else {
        Winnable::Unreachable
    }
}

/// The positions with a way to Pass.
fn hopeful(game: &BTreeMap<Position, Choices>, won: &BTreeSet<&Position>) -> BTreeSet<Position> {
    let mut found: BTreeSet<Position> =
        won.iter().copied().filter(|one| game.contains_key(*one)).cloned().collect();
    loop {
        let leads = |(position, choices): &(&Position, &Choices)| {
            !found.contains(*position)
                && choices.iter().any(|(to, _)| to.iter().any(|one| found.contains(one)))
        };
        let more: Vec<Position> = game.iter().filter(leads).map(|(position, _)| position.clone()).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// Is there a verdict: does a state accept, or can none?
fn is_over(instance: &Instance, position: &Position) -> bool {
    position.iter().any(|at| instance.accepting[*at as usize])
        || position.iter().all(|at| !instance.alive[*at as usize])
}

fn choices(instance: &Instance, alphabet: &Alphabet, rules: Rules, position: &Position) -> Choices {
    let graph = &instance.both.graph;
    let closed = |states: BTreeSet<u32>| -> Position {
        internal_closure(graph, states.into_iter().collect()).into_iter().collect()
    };
    let mut behind: BTreeMap<EventId, BTreeSet<u32>> = BTreeMap::new();
    for at in position {
        for (event, to) in &graph.visible[*at as usize] {
            behind.entry(*event).or_default().insert(*to);
        }
    }
    let (outputs, inputs): (Vec<_>, Vec<_>) = behind
        .into_iter()
        .map(|(event, to)| (event, closed(to)))
        .partition(|(event, _)| alphabet.is_output(*event));
    let outputs: BTreeSet<Position> = outputs.into_iter().map(|(_, to)| to).collect();
    let mut found: Choices = Vec::new();
    for (_, to) in inputs {
        found.push(([to].into_iter().chain(outputs.iter().cloned()).collect(), true));
    }
    let is_quiet = |at: &&u32| {
        let visible = &graph.visible[**at as usize];
        graph.internal[**at as usize].is_empty()
            && !visible.iter().any(|(event, _)| alphabet.is_output(*event))
    };
    let quiet: BTreeSet<u32> = position.iter().filter(is_quiet).copied().collect();
    let mut heard = outputs;
    let is_sure = rules.is_ioco || quiet.is_empty();
    if rules.is_ioco && !quiet.is_empty() {
        heard.insert(quiet);
    }
    if !heard.is_empty() {
        found.push((heard, is_sure));
    }
    found
}
