//! What a walk is to meet, and what a step meets.
//!
//! **Goals** are what a criterion lists: a transition, two transitions one right after the other, a variable
//! that is assigned here and used there. What a step meets depends on the steps before it, of which a
//! [`Trail`] keeps what matters: the last transition, and for each variable where it got its value.
//!
//! **Classes** cannot be listed before: how the data stand to each other at a step. Each comparison in a
//! guard that the step decides about (those of its action where it begins, all of them where it ends) has one
//! of five signs: much less, one less, equal, one more, much more. A transition with another vector of signs
//! is another class. The values at the boundaries of the guards, those equal to other data and those beside
//! them are in classes of their own, so who looks for a class that was not met finds them.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::semantics::State;
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::term::node::Node;
use coreach_model::{Datum, LocationId, Numbered, Term, TransitionId, Value};
use dashu::rational::RBig;

use crate::values::as_rational;

/// Something that a walk can meet.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WalkGoal {
    /// A transition is taken.
    Transition(TransitionId),
    /// One transition right after another.
    Pair(TransitionId, TransitionId),
    /// A variable is assigned, and used before it is assigned again.
    DefinitionUse(Datum, TransitionId, TransitionId),
}

/// Goals that are sought together, before those of the next phase.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WalkPhase {
    /// All of these.
    Goals(Vec<WalkGoal>),
    /// Each class of each transition, as far as they can be reached.
    Classes,
}

/// A transition with how the data stand to each other when it is taken.
pub type Class = (TransitionId, Vec<i8>);

/// What of the steps up to here decides which goals the next one meets.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Trail {
    /// The last transition.
    pub last: Option<TransitionId>,
    /// For each variable, where it was assigned.
    pub defined: Vec<Option<TransitionId>>,
}

/// What a phase looks at: of two states that differ in nothing else, one is enough.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Looks {
    at_last: bool,
    at_definitions: bool,
}

/// A specification with the goals of its walk, numbered through all phases.
#[derive(Clone, Debug)]
pub struct SoughtGoal {
    /// The specification.
    pub iosts: Iosts,
    /// For each location, the transitions that leave it.
    pub outgoing: Numbered<LocationId, Vec<TransitionId>>,
    /// The goals of all phases, each once.
    pub goals: Vec<WalkGoal>,
    /// For each phase the numbers of its goals; none of one that looks for classes.
    pub phases: Vec<Option<Vec<usize>>>,
    looks: Vec<Looks>,
    numbers: HashMap<WalkGoal, usize>,
    /// For each transition, the places of the variables that it reads.
    reads: Numbered<TransitionId, Vec<usize>>,
    /// For each transition, the comparisons that its event decides about, and those where it leads.
    compared: Numbered<TransitionId, (Vec<Term>, Vec<Term>)>,
}

impl SoughtGoal {
    /// The goals of these phases. One that an earlier phase has as well is that one's.
    pub fn new(iosts: Iosts, phases: &[WalkPhase]) -> Self {
        let (mut goals, mut numbers, mut numbered, mut looks) =
            (Vec::new(), HashMap::new(), Vec::new(), Vec::new());
        for phase in phases {
            let mut look = Looks::default();
            let WalkPhase::Goals(list) = phase else {
                numbered.push(None);
                looks.push(look);
                continue;
            };
            let mut own = Vec::new();
            for goal in list {
                look.at_last |= matches!(goal, WalkGoal::Pair(..));
                look.at_definitions |= matches!(goal, WalkGoal::DefinitionUse(..));
                if !numbers.contains_key(goal) {
                    numbers.insert(goal.clone(), goals.len());
                    own.push(goals.len());
                    goals.push(goal.clone());
                }
            }
            numbered.push(Some(own));
            looks.push(look);
        }
        let outgoing = iosts.outgoing();
        let reads = iosts.transitions.map(|transition| {
            let reads = |variable: &Datum| {
                transition.guard.mentions(variable)
                    || transition.assignments.values().any(|value| value.mentions(variable))
            };
            let all = iosts.variables.iter().enumerate();
            all.filter(|(_, variable)| reads(variable)).map(|(place, _)| place).collect()
        });
        let compared = iosts.transitions.map(|transition| {
            let of = |at: LocationId, is: &dyn Fn(TransitionId) -> bool| {
                let mut found = BTreeSet::new();
                for &number in outgoing[at].iter().filter(|number| is(**number)) {
                    comparisons(&iosts.transitions[number].guard, &mut found);
                }
                found
            };
            let before = of(transition.source, &|one| iosts.transitions[one].action == transition.action);
            let mut after = of(transition.target, &|_| true);
            // Parameters have no value between two events.
            let known = |datum: &Datum| iosts.variables.contains(datum) || iosts.constants.contains(datum);
            after.retain(|term| term.data().iter().all(known));
            (before.into_iter().collect(), after.into_iter().collect())
        });
        SoughtGoal { outgoing, goals, phases: numbered, looks, numbers, reads, compared, iosts }
    }

    /// Of which kind a transition's action is.
    pub fn kind(&self, number: TransitionId) -> ActionKind {
        self.iosts.action(self.iosts.transitions[number].action).kind
    }

    /// The goals that a step meets.
    pub fn met(&self, trail: &Trail, number: TransitionId) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let mut meet = |goal: &WalkGoal| found.extend(self.numbers.get(goal));
        meet(&WalkGoal::Transition(number));
        if let Some(last) = trail.last {
            meet(&WalkGoal::Pair(last, number));
        }
        for &place in &self.reads[number] {
            if let Some(definition) = trail.defined.get(place).copied().flatten() {
                meet(&WalkGoal::DefinitionUse(self.iosts.variables[place].clone(), definition, number));
            }
        }
        found
    }

    /// The trail behind a step.
    pub fn after(&self, trail: &Trail, number: TransitionId) -> Trail {
        let transition = &self.iosts.transitions[number];
        let assigned = self.iosts.variables.iter().enumerate().map(|(place, variable)| {
            let here = transition.assignments.contains_key(variable).then_some(number);
            here.or_else(|| trail.defined.get(place).copied().flatten())
        });
        Trail { last: Some(number), defined: assigned.collect() }
    }

    /// What of a trail matters to a phase.
    pub fn seen_by(&self, phase: usize, trail: &Trail) -> Trail {
        let look = self.looks[phase];
        Trail {
            last: trail.last.filter(|_| look.at_last),
            defined: if look.at_definitions { trail.defined.clone() } else { Vec::new() },
        }
    }

    /// The class of a step with these values.
    pub fn class(&self, number: TransitionId, from: &State, values: &[Value], to: &State) -> Class {
        let (before, after) = &self.compared[number];
        let action = self.iosts.action(self.iosts.transitions[number].action);
        let mut valuation = from.valuation.clone();
        valuation.extend(action.parameters.iter().cloned().zip(values.iter().cloned()));
        let mut signs: Vec<i8> = before.iter().map(|term| sign(term, &valuation)).collect();
        signs.extend(after.iter().map(|term| sign(term, &to.valuation)));
        (number, signs)
    }
}

/// The comparisons in a term, and what in it is true or false by itself.
fn comparisons(term: &Term, found: &mut BTreeSet<Term>) {
    let is_whole = matches!(term.node(), Node::Compare(..)) || term.as_datum().is_some();
    if is_whole && *term.sort() == coreach_model::Type::Bool {
        found.insert(term.clone());
        return;
    }
    for child in term.children() {
        comparisons(child, found);
    }
}

/// How the sides of a comparison stand to each other; of anything else, whether it holds.
fn sign(term: &Term, valuation: &Valuation) -> i8 {
    /// Where it has no value.
    const NONE: i8 = 9;
    let sides = match term.node() {
        Node::Compare(_, left, right) => evaluate(left, valuation).ok().zip(evaluate(right, valuation).ok()),
        _ => evaluate(term, valuation).ok().map(|value| (value, Value::Bool(false))),
    };
    let Some((left, right)) = sides else { return NONE };
    let order = |order: Ordering| order as i8;
    match (&left, &right) {
        (Value::Int(_) | Value::Real(_), Value::Int(_) | Value::Real(_)) => {
            let distance = as_rational(&left) - as_rational(&right);
            let is_near = (RBig::from(-1)..=RBig::from(1)).contains(&distance);
            let sign = order(distance.cmp(&RBig::ZERO));
            if is_near { sign } else { 2 * sign }
        }
        _ => order(left.cmp(&right)),
    }
}
