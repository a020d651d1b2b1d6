//! A random safety property of a random timed specification, and who follows it by a clock that runs.
//!
//! **Problem.** The stages read a property as data, its clock among them. Here it is an automaton with one
//! clock that nothing of the project evaluates: a comparison with an integer.
//!
//! What the automaton says nothing of lets time pass and changes nothing; what one way through it violates is
//! violated.

use std::collections::BTreeSet;
use std::fmt::Write;

use coreach_model::iosts::ActionKind;
use coreach_model::timed::Timed;
use dashu_ratio::RBig;

use crate::generator::random::Random;

/// The location behind all others is `Violate`.
#[derive(Debug)]
struct Edge {
    from: usize,
    to: usize,
    on: String,
    /// The clock compared with a number.
    when: Option<(&'static str, usize)>,
    resets: bool,
}

impl Edge {
    fn is_enabled(&self, clock: &RBig) -> bool {
        self.when.is_none_or(|(operator, number)| {
            let number = RBig::from(number);
            match operator {
                "<" => *clock < number,
                "<=" => *clock <= number,
                ">=" => *clock >= number,
                _ => *clock == number,
            }
        })
    }
}

/// A property.
#[derive(Debug)]
pub struct TimedProperty {
    locations: usize,
    edges: Vec<Edge>,
    /// As a user writes it.
    pub text: String,
}

/// Where it may be, each with what its clock shows.
pub type Places = BTreeSet<(usize, RBig)>;

impl TimedProperty {
    /// That of this seed; nothing where the model has no output.
    pub fn of(seed: u64, timed: &Timed) -> Option<Self> {
        let mut random = Random::new(seed ^ 0x6e65_7665);
        let graph = timed.graph();
        let visible: Vec<_> = graph.actions.iter().filter(|action| action.is_visible()).collect();
        let outputs: Vec<_> =
            visible.iter().copied().filter(|action| action.kind == ActionKind::Output).collect();
        let mut locations = random.between((1, 3));
        let mut edges = Vec::new();
        for number in 0..random.between((2, 6)) {
            let violates = number == 0 || random.chance(35);
            let action = random.pick(if violates { &outputs } else { &visible })?;
            let operator = *random.pick(&["<", "<=", ">=", "=="])?;
            edges.push(Edge {
                from: random.below(locations),
                to: if violates { locations } else { random.below(locations) },
                on: action.name.clone(),
                when: random.chance(70).then(|| (operator, random.below(4))),
                resets: random.chance(50),
            });
        }
        if random.chance(40) {
            // Something comes not before, or not after, so long since something else; what comes between them
            // is not mentioned.
            locations = 2;
            let operator = *random.pick(&["<", ">="])?;
            let (first, last) = (random.pick(&visible)?.name.clone(), random.pick(&outputs)?.name.clone());
            let when = Some((operator, random.between((1, 3))));
            edges = vec![
                Edge { from: 0, to: 1, on: first, when: None, resets: true },
                Edge { from: 1, to: locations, on: last, when, resets: false },
            ];
        }
        let name = |at: usize| if at == locations { "Violate".to_owned() } else { format!("P{at}") };
        let mut text =
            format!("property: never\nof: {}\nclocks: [mine]\ninitial: {{ location: P0 }}\n", graph.name);
        text += "transitions:\n";
        for Edge { from, to, on, when, resets } in &edges {
            // Writing to a string does not fail.
            let _ = write!(text, "  - {{ from: {}, to: {}, on: {on}", name(*from), name(*to));
            if let Some((operator, number)) = when {
                let _ = write!(text, ", when: \"mine {operator} {number}\"");
            }
            let _ = writeln!(text, "{} }}", if *resets { ", reset: [mine]" } else { "" });
        }
        Some(TimedProperty { locations, edges, text })
    }

    /// Where it begins.
    pub fn start(&self) -> Places {
        Places::from([(0, RBig::ZERO)])
    }

    /// Where it may be after so much time.
    pub fn later(&self, from: &Places, delay: &RBig) -> Places {
        from.iter().map(|(at, clock)| (*at, clock + delay)).collect()
    }

    /// Where it may be after this event, now.
    pub fn after(&self, from: &Places, action: &str) -> Places {
        let mut found = Places::new();
        for (at, clock) in from {
            let taken = self.edges.iter().filter(|edge| edge.from == *at && edge.on == action);
            let mut taken = taken.filter(|edge| edge.is_enabled(clock)).peekable();
            if taken.peek().is_none() {
                found.insert((*at, clock.clone()));
            }
            found.extend(taken.map(|edge| (edge.to, if edge.resets { RBig::ZERO } else { clock.clone() })));
        }
        found
    }

    /// Is it violated there?
    pub fn is_violated(&self, places: &Places) -> bool {
        places.iter().any(|(at, _)| *at == self.locations)
    }
}
