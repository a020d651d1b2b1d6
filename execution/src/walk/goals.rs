//! What a walk is to meet, and what a step meets.
//!
//! **Goals** are what a criterion lists: a transition, two transitions one right after the other, a variable
//! that is assigned here and used there. What a step meets depends on the steps before it, of which a
//! [`Trail`] keeps what matters: the last transition, and for each variable where it got its value.
//!
//! **Classes** cannot be listed before. Each comparison in a guard that the step decides about (those of
//! its action where it begins, all of them where it ends) has one of five signs: much less, one less,
//! equal, one more, much more. A transition with another vector of signs is another class. So is one with
//! other values of what counts (a variable that is computed from itself) or has few values: who looks for
//! these comes to the end of long counters. And so is one with a parameter that is equal to another datum,
//! or one beside it, whatever is compared: a fault may compare what the specification does not.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use coreach_model::iosts::{Action, ActionKind, Iosts};
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::term::node::Node;
use coreach_model::term::substitute;
use coreach_model::{Datum, LocationId, Numbered, Term, TransitionId, Type, Value};
use dashu::integer::IBig;
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
    /// All classes of this sort, as far as they can be reached.
    Of(Classes),
}

/// Sorts of classes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Classes {
    /// [`Class::Signs`].
    Signs,
    /// [`Class::Counts`].
    Counts,
    /// [`Class::Beside`].
    Beside,
}

/// How the data are when a transition is taken.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// The signs of the comparisons that it decides about.
    Signs(TransitionId, Vec<i8>),
    /// The values of what counts, and of what has few values.
    Counts(TransitionId, Vec<Value>),
    /// A parameter is one less than another datum, equal, or one more: the places of both.
    Beside(TransitionId, usize, usize, i8),
}

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
pub struct Looks {
    at_last: bool,
    at_definitions: bool,
}

impl Looks {
    /// What any phase looks at.
    pub const ALL: Self = Looks { at_last: true, at_definitions: true };

    /// What of a trail matters.
    pub fn seen(self, trail: &Trail) -> Trail {
        Trail {
            last: trail.last.filter(|_| self.at_last),
            defined: if self.at_definitions { trail.defined.clone() } else { Vec::new() },
        }
    }
}

/// A phase with the numbers of its goals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NumberedPhase {
    /// These, in order.
    Goals(Vec<usize>),
    /// Classes of this sort.
    Of(Classes),
}

impl NumberedPhase {
    /// Does it have a list?
    pub fn is_listed(&self) -> bool {
        matches!(self, NumberedPhase::Goals(_))
    }

    /// Does it look for this class?
    pub fn seeks(&self, class: &Class) -> bool {
        let sort = match class {
            Class::Signs(..) => Classes::Signs,
            Class::Counts(..) => Classes::Counts,
            Class::Beside(..) => Classes::Beside,
        };
        *self == NumberedPhase::Of(sort)
    }
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
    /// The phases.
    pub phases: Vec<NumberedPhase>,
    /// For each phase, what it looks at.
    pub looks: Vec<Looks>,
    numbers: HashMap<WalkGoal, usize>,
    /// For each transition, the places of the variables that it reads.
    reads: Numbered<TransitionId, Vec<usize>>,
    /// For each transition, the comparisons that its event decides about, and those where it leads.
    compared: Numbered<TransitionId, (Vec<Term>, Vec<Term>)>,
    /// For each transition, the comparisons of numbers that its parameters can turn, here or where it leads.
    pub turned: Numbered<TransitionId, Vec<(Term, Term)>>,
    /// The variables that count, or have few values.
    counters: Vec<Datum>,
}

impl SoughtGoal {
    /// The goals of these phases. One that an earlier phase has as well is that one's.
    pub fn new(iosts: Iosts, phases: &[WalkPhase]) -> Self {
        let (mut goals, mut numbers, mut numbered, mut looks) =
            (Vec::new(), HashMap::new(), Vec::new(), Vec::new());
        for phase in phases {
            let mut look = Looks::default();
            let list = match phase {
                WalkPhase::Goals(list) => list,
                WalkPhase::Of(of) => {
                    numbered.push(NumberedPhase::Of(*of));
                    looks.push(look);
                    continue;
                }
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
            numbered.push(NumberedPhase::Goals(own));
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
        let mut turned = iosts.transitions.map(|_| Vec::new());
        for (number, compared) in compared.numbered() {
            turned[number] = sides(&iosts, number, compared);
        }
        let counts = |variable: &&Datum| match variable.ty() {
            Type::Bool | Type::Enum(_) => true,
            ty if ty.is_integer() => iosts.transitions.iter().any(|transition| {
                transition
                    .assignments
                    .get(*variable)
                    .is_some_and(|value| value.as_datum().is_none() && value.mentions(variable))
            }),
            _ => false,
        };
        let counters = iosts.variables.iter().filter(counts).cloned().collect();
        let phases = numbered;
        SoughtGoal { outgoing, goals, phases, looks, numbers, reads, compared, turned, counters, iosts }
    }

    /// Quiescence as an event, where the specification is suspended.
    pub fn quiescence(&self) -> Option<Event> {
        let is_quiet = |action: &&Action| action.kind == ActionKind::Quiescence;
        let action = self.iosts.actions.iter().find(is_quiet)?;
        Some(Event::new(action.name.clone(), Vec::new()))
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

    /// The classes of a step with these values.
    pub fn classes(&self, number: TransitionId, from: &State, values: &[Value], to: &State) -> Vec<Class> {
        let (before, after) = &self.compared[number];
        let action = self.iosts.action(self.iosts.transitions[number].action);
        let mut valuation = from.valuation.clone();
        valuation.extend(action.parameters.iter().cloned().zip(values.iter().cloned()));
        let mut signs: Vec<i8> = before.iter().map(|term| sign(term, &valuation)).collect();
        signs.extend(after.iter().map(|term| sign(term, &to.valuation)));
        let mut found = vec![Class::Signs(number, signs)];
        let counts: Option<Vec<Value>> =
            self.counters.iter().map(|datum| from.valuation.get(datum).cloned()).collect();
        found.extend(counts.map(|counts| Class::Counts(number, counts)));
        if action.kind == ActionKind::Input {
            let others = from.valuation.values().chain(values);
            for (at, other) in others.enumerate() {
                for (place, value) in values.iter().enumerate() {
                    let is_own = at == from.valuation.len() + place;
                    let beside = (!is_own).then(|| beside(value, other)).flatten();
                    found.extend(beside.map(|sign| Class::Beside(number, place, at, sign)));
                }
            }
        }
        found
    }
}

/// The sides of the comparisons of numbers that a transition's parameters can turn.
fn sides(iosts: &Iosts, number: TransitionId, compared: &(Vec<Term>, Vec<Term>)) -> Vec<(Term, Term)> {
    let transition = &iosts.transitions[number];
    let parameters = &iosts.action(transition.action).parameters;
    let (before, after) = compared;
    let after = after.iter().map(|term| substitute(term, &transition.assignments));
    let mut found = Vec::new();
    for term in before.iter().cloned().chain(after) {
        if let Node::Compare(_, left, right) = term.node()
            && left.sort().is_number()
            && parameters.iter().any(|parameter| term.mentions(parameter))
        {
            found.push((left.clone(), right.clone()));
        }
    }
    found
}

/// One less, equal, one more; `None` of what is further away or no number.
fn beside(value: &Value, other: &Value) -> Option<i8> {
    match (value, other) {
        (Value::Int(value), Value::Int(other)) => {
            let distance = value - other;
            [-1i8, 0, 1].into_iter().find(|near| distance == IBig::from(*near))
        }
        (Value::Real(value), Value::Real(other)) => (value == other).then_some(0),
        _ => None,
    }
}

/// The comparisons in a term, and what in it is true or false by itself.
fn comparisons(term: &Term, found: &mut BTreeSet<Term>) {
    let is_whole = matches!(term.node(), Node::Compare(..)) || term.as_datum().is_some();
    if is_whole && *term.sort() == Type::Bool {
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
