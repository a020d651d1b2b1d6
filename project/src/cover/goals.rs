//! Lists the goals of a criterion. One run can meet a goal.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use coreach_analyses::machines::Method;
use coreach_execution::coverage::{Item, Items};
use coreach_model::iosts::{ActionKind, Iosts, Transition};
use coreach_model::number::count;
use coreach_model::{Datum, LocationId, Number, Numbered, TransitionId};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Criterion {
    Locations,
    Transitions,
    /// Each two transitions that can follow each other.
    Pairs,
    /// Each condition of a guard: one goal where it holds, and one where only it fails.
    Guards,
    /// Each class of a parameter's values: the ends of the range that the guard allows, and its inside.
    Boundaries,
    /// Each assignment of a variable with each use of the assigned value.
    DefinitionUse,
    /// Each path with this number of steps, up to the next output.
    AllPaths(usize),
    /// Each path whose length is this number times the longest path of the restriction by inclusion.
    Inclusion(usize),
    /// Each of this number of mutants of the specification.
    Faults(usize),
    /// Each sequence of a suite for finite machines. The system may have this number of extra states.
    Machine(Method, usize),
}

/// The names of the criteria. A number replaces N and K, and `+N` may be left out.
pub const CRITERIA: [&str; 16] = [
    "locations",
    "transitions",
    "pairs",
    "guards",
    "boundaries",
    "definition-use",
    "all-paths-N",
    "K-inclusion",
    "faults-N",
    "w+N",
    "wp+N",
    "hsi+N",
    "h+N",
    "ds+N",
    "uio",
    "tour",
];

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Criterion::Locations => f.write_str("locations"),
            Criterion::Transitions => f.write_str("transitions"),
            Criterion::Pairs => f.write_str("pairs"),
            Criterion::Guards => f.write_str("guards"),
            Criterion::Boundaries => f.write_str("boundaries"),
            Criterion::DefinitionUse => f.write_str("definition-use"),
            Criterion::AllPaths(n) => write!(f, "all-paths-{n}"),
            Criterion::Inclusion(k) => write!(f, "{k}-inclusion"),
            Criterion::Faults(n) => write!(f, "faults-{n}"),
            Criterion::Machine(method, 0) => f.write_str(method.name()),
            Criterion::Machine(method, extra) => write!(f, "{}+{extra}", method.name()),
        }
    }
}

impl FromStr for Criterion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number =
            |text: &str| count(text).and_then(|number| usize::try_from(number).ok()).filter(|n| *n > 0);
        let of_paths = || number(text.strip_prefix("all-paths-")?).map(Criterion::AllPaths);
        let of_faults = || number(text.strip_prefix("faults-")?).map(Criterion::Faults);
        let of_machine = || {
            let (name, extra) = match text.split_once('+') {
                Some((name, extra)) => (name, number(extra)?),
                None => (text, 0),
            };
            let method = Method::named(name)?;
            (method.is_complete() || extra == 0).then_some(Criterion::Machine(method, extra))
        };
        let of_inclusion = || number(text.strip_suffix("-inclusion")?).map(Criterion::Inclusion);
        match text {
            "locations" => Ok(Criterion::Locations),
            "transitions" => Ok(Criterion::Transitions),
            "pairs" => Ok(Criterion::Pairs),
            "guards" => Ok(Criterion::Guards),
            "boundaries" => Ok(Criterion::Boundaries),
            "definition-use" => Ok(Criterion::DefinitionUse),
            _ => of_paths().or_else(of_inclusion).or_else(of_faults).or_else(of_machine).ok_or_else(|| {
                let known = CRITERIA.join(", ");
                format!("no criterion is called `{text}`; there are {known}, as in all-paths-3")
            }),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The change in words, different for each fault of a specification.
    pub change: String,
    /// The mutant, suspended like the specification. `None`, if its quiescence has no condition.
    pub iosts: Option<Iosts>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Goal {
    /// An item that coverage counts, by its number.
    Item(usize),
    /// One transition right after another.
    Pair(TransitionId, TransitionId),
    /// A variable is assigned, and used before it is assigned again.
    DefinitionUse {
        variable: Datum,
        definition: TransitionId,
        /// The transition whose guard or assigned value reads it.
        used: TransitionId,
    },
    Path(Vec<TransitionId>),
    Fault(Arc<Fault>),
    /// A sequence of inputs of a finite machine, in words.
    Sequence(String),
}

/// Lists the goals of a criterion that need no search. Paths, faults and sequences do.
pub fn list_goals(iosts: &Iosts, items: &Items, criterion: Criterion) -> Vec<Goal> {
    let of_kind = |wanted: fn(&Item) -> bool| {
        let items_of_kind = items.all().iter().enumerate().filter(|(_, item)| wanted(item));
        items_of_kind.map(|(number, _)| Goal::Item(number)).collect()
    };
    match criterion {
        Criterion::Locations => of_kind(|item| matches!(item, Item::Location(_))),
        Criterion::Transitions => of_kind(|item| matches!(item, Item::Transition(_))),
        Criterion::Guards => of_kind(|item| matches!(item, Item::Condition { .. })),
        Criterion::Boundaries => of_kind(|item| matches!(item, Item::Class { .. })),
        Criterion::Pairs => {
            let follow = |first: TransitionId| {
                let target = iosts.transitions[first].target;
                let next = iosts.transitions.numbered().filter(move |(_, next)| next.source == target);
                next.map(move |(number, _)| Goal::Pair(first, number))
            };
            iosts.transitions.numbers().flat_map(follow).collect()
        }
        Criterion::DefinitionUse => definitions_and_uses(iosts, &|_, _, _| false),
        Criterion::AllPaths(_) | Criterion::Inclusion(_) | Criterion::Faults(_) | Criterion::Machine(..) => {
            Vec::new()
        }
    }
}

pub fn uses(transition: &Transition, variable: &Datum) -> bool {
    transition.guard.mentions(variable)
        || transition.assignments.values().any(|value| value.mentions(variable))
}

/// Lists the pairs of a definition and a use with a path between them that does not assign the variable,
/// whatever its guards are. `keeps` gets the definition, a later assignment and the variable. It decides
/// whether the definition stays in force, as when the assignment counts on from it.
pub fn definitions_and_uses(
    iosts: &Iosts,
    keeps: &dyn Fn(TransitionId, TransitionId, &Datum) -> bool,
) -> Vec<Goal> {
    iosts.variables.iter().flat_map(|variable| definitions_and_uses_of(iosts, variable, keeps)).collect()
}

/// Lists the pairs for one variable, as [`definitions_and_uses`] does.
fn definitions_and_uses_of(
    iosts: &Iosts,
    variable: &Datum,
    keeps: &dyn Fn(TransitionId, TransitionId, &Datum) -> bool,
) -> Vec<Goal> {
    let assigns = |number: TransitionId| iosts.transitions[number].assignments.contains_key(variable);
    let outgoing = iosts.outgoing();
    let mut goals = Vec::new();
    for definition in iosts.transitions.numbers().filter(|number| assigns(*number)) {
        // The search ends where the variable is assigned anew.
        let mut reached = Numbered::<LocationId, bool>::filled(false, iosts.locations.len());
        let mut to_visit = vec![iosts.transitions[definition].target];
        reached[iosts.transitions[definition].target] = true;
        let mut used = BTreeSet::new();
        while let Some(location) = to_visit.pop() {
            for &number in &outgoing[location] {
                let transition = &iosts.transitions[number];
                if uses(transition, variable) {
                    used.insert(number);
                }
                let stays_in_force = !assigns(number) || keeps(definition, number, variable);
                if stays_in_force && !std::mem::replace(&mut reached[transition.target], true) {
                    to_visit.push(transition.target);
                }
            }
        }
        let goal = |used| Goal::DefinitionUse { variable: variable.clone(), definition, used };
        goals.extend(used.into_iter().map(goal));
    }
    goals
}

/// Describes a goal in words about the user's model.
pub fn describe_goal(iosts: &Iosts, items: &Items, goal: &Goal) -> String {
    let transition = |number: TransitionId| {
        let transition = &iosts.transitions[number];
        if iosts.action(transition.action).kind == ActionKind::Quiescence {
            return format!("quiescence in {}", iosts.location(transition.source).label);
        }
        let line = transition.origin.whole.as_ref().map(|origin| origin.line_and_column().0);
        let line =
            line.map_or_else(|| format!("transition {}", number.place()), |line| format!("line {line}"));
        format!("{} ({line})", iosts.describe(transition))
    };
    match goal {
        Goal::Item(number) => match &items.all()[*number] {
            Item::Location(location) => iosts.location(*location).label.clone(),
            Item::Transition(number) => transition(*number),
            Item::Condition { transition: number, condition, holds } => {
                let outcome = if *holds { "holds" } else { "alone fails" };
                format!("{}: `{}` {outcome}", transition(*number), items.conditions(*number)[*condition])
            }
            Item::Class { transition: number, parameter, class } => {
                let action = iosts.action(iosts.transitions[*number].action);
                format!("{}: {} is {}", transition(*number), action.parameters[*parameter], class.name())
            }
        },
        Goal::Pair(first, second) => format!("{}, then {}", transition(*first), transition(*second)),
        Goal::DefinitionUse { variable, definition, used } => {
            format!("{variable} from {} to {}", transition(*definition), transition(*used))
        }
        Goal::Fault(fault) => fault.change.clone(),
        Goal::Sequence(words) => words.clone(),
        Goal::Path(path) => path.iter().map(|number| transition(*number)).collect::<Vec<_>>().join(", "),
    }
}
