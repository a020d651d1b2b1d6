//! Specifications from parts: parallel composition, and hiding the messages between the parts.
//!
//! **Problem.** A system of several components has a product that nobody writes by hand.
//!
//! **Source.** Thesis, Definitions 5.1 and 5.2 (p. 100-101): the parts take common actions together and all
//! others alone. Theorem 5.2: the traces of a composition are those that are traces of both parts. **Where we
//! differ**: the definition is about closed systems, in which each input of one part is an output of the
//! other. Here an action that only one part has stays as it is. An input of several parts stays an input,
//! which all of them take. An output that other parts take as an input is an output of the composition: it
//! can be seen until it is hidden. Two parts never send the same action.
//!
//! **Hiding** makes an output an internal action. Internal actions carry no values (Definition 4.2), so the
//! values that were sent must follow from the state. For each parameter, the guard says `p == e`, or nobody
//! reads it, or it has few values, which are written out. Otherwise there is no such internal action, and
//! [`hide`] names the transition.
//!
//! **Ends** after each pair of locations that the graph reaches has been visited once. **Cost**: the number
//! of reached pairs and transitions, which is limited.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::budget;
use crate::data::Datum;
use crate::iosts::{Action, ActionId, ActionKind, Iosts, Location, LocationId, Transition, TransitionId};
use crate::limits::LONGEST_TEXT;
use crate::numbered::{Number, Numbered};
use crate::obligation::in_type;
use crate::term::node::{Comparison, Node};
use crate::term::{Substitution, Term, substitute};
use crate::value::Value;

/// A composition has at most so many transitions, and as many pairs of locations.
pub const MOST: usize = 50_000;

/// The most values of a hidden parameter that is written out because nothing determines it.
const MOST_VALUES: usize = 16;

/// Why two parts do not go together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Incompatible {
    BothSend(String),
    /// This action is internal in one part and visible in the other.
    InternalAndVisible(String),
    /// The signatures of this action differ: the types of its parameters, as text.
    Signatures(String, String, String),
    /// A datum of one part has the name of a datum or a parameter of the other.
    SameName(String),
    /// There are more pairs of locations, or transitions between them, than may be made.
    TooMany,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unhidden {
    NoOutput(String),
    /// In this transition of a hidden output, the value of this parameter does not follow from the state.
    Open(TransitionId, String),
}

/// Makes the parallel composition of two parts, from the initial pair of locations on.
pub fn compose(name: &str, first: &Iosts, second: &Iosts) -> Result<Iosts, Vec<Incompatible>> {
    let reasons = incompatibilities(first, second);
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let Alphabet { actions, of_first, of_second } = merge_alphabets(first, second);
    let is_shared = |action: ActionId| {
        of_first.contains(&action) && of_second.contains(&action) && actions[action].is_visible()
    };
    // A shared action has the parameters of the first part, so those of the second part are replaced.
    let replace_parameters = |(number, action): (ActionId, &Action)| -> Substitution {
        let kept = &actions[of_second[number]].parameters;
        action.parameters.iter().cloned().zip(kept.iter().map(Term::datum)).collect()
    };
    let replacements: Numbered<ActionId, Substitution> =
        second.actions.numbered().map(replace_parameters).collect();
    let (outgoing1, outgoing2) = (first.outgoing(), second.outgoing());
    // The locations are the pairs that the graph reaches, each with its number.
    let mut numbers: HashMap<(LocationId, LocationId), LocationId> = HashMap::new();
    let mut pairs: Numbered<LocationId, (LocationId, LocationId)> = Numbered::new();
    let start = (first.initial, second.initial);
    numbers.insert(start, pairs.push(start));
    let mut transitions: Numbered<TransitionId, Transition> = Numbered::new();
    let mut next = 0;
    while next < pairs.len() {
        budget::ask();
        let source = LocationId::of(next);
        next += 1;
        let (l1, l2) = pairs[source];
        // Adds a transition to the pair `to`, and adds the pair if it is new.
        let mut add_transition = |to: (LocationId, LocationId), transition: Transition| {
            let target = *numbers.entry(to).or_insert_with(|| pairs.push(to));
            transitions.push(Transition { source, target, ..transition });
        };
        for number in &outgoing1[l1] {
            let t1 = &first.transitions[*number];
            let action = of_first[t1.action];
            // The first part takes its own actions alone, and shared ones together with the second part.
            if !is_shared(action) {
                add_transition((t1.target, l2), Transition { action, ..t1.clone() });
                continue;
            }
            let partners = outgoing2[l2].iter().map(|number| &second.transitions[*number]);
            for t2 in partners.filter(|t2| of_second[t2.action] == action) {
                let replacement = &replacements[t2.action];
                let mut together = Transition { action, ..t1.clone() };
                for (variable, value) in &t2.assignments {
                    together.assignments.insert(variable.clone(), substitute(value, replacement));
                }
                together.guard = Term::and([together.guard, substitute(&t2.guard, replacement)]);
                add_transition((t1.target, t2.target), together);
            }
        }
        for number in &outgoing2[l2] {
            let t2 = &second.transitions[*number];
            let action = of_second[t2.action];
            if !is_shared(action) {
                add_transition((l1, t2.target), Transition { action, ..t2.clone() });
            }
        }
        if pairs.len() > MOST || transitions.len() > MOST {
            return Err(vec![Incompatible::TooMany]);
        }
    }
    let both = |own: &[Datum], others: &[Datum]| own.iter().chain(others).cloned().collect();
    Ok(Iosts {
        name: name.to_owned(),
        constants: both(&first.constants, &second.constants),
        variables: both(&first.variables, &second.variables),
        initial_condition: Term::and([first.initial_condition.clone(), second.initial_condition.clone()]),
        locations: name_locations(&pairs, first, second),
        initial: LocationId::of(0),
        actions,
        transitions,
        origin: first.origin.clone(),
    })
}

/// Finds why two parts do not go together, by Definition 5.1 for open systems.
fn incompatibilities(first: &Iosts, second: &Iosts) -> Vec<Incompatible> {
    let mut reasons = Vec::new();
    for action in &second.actions {
        let Some(known) = first.find_action(&action.name).map(|id| first.action(id)) else { continue };
        let types = |action: &Action| -> Vec<String> {
            action.parameters.iter().map(|p| p.ty().to_string()).collect()
        };
        if known.is_visible() != action.is_visible() {
            reasons.push(Incompatible::InternalAndVisible(action.name.clone()));
        } else if known.kind == ActionKind::Output && action.kind == ActionKind::Output {
            reasons.push(Incompatible::BothSend(action.name.clone()));
        } else if !known.parameters.iter().map(Datum::ty).eq(action.parameters.iter().map(Datum::ty)) {
            let (own, others) = (types(known).join(", "), types(action).join(", "));
            reasons.push(Incompatible::Signatures(action.name.clone(), own, others));
        }
    }
    fn data(iosts: &Iosts) -> impl Iterator<Item = &str> {
        iosts.variables.iter().chain(&iosts.constants).map(Datum::name)
    }
    fn parameters(iosts: &Iosts) -> impl Iterator<Item = &str> {
        iosts.actions.iter().flat_map(|action| &action.parameters).map(Datum::name)
    }
    let names1: BTreeSet<&str> = data(first).chain(parameters(first)).collect();
    let names2: BTreeSet<&str> = data(second).chain(parameters(second)).collect();
    // Parameters may share a name, since a parameter is known on its own action only.
    let of_first = data(first).filter(|name| names2.contains(name));
    let clashes: BTreeSet<&str> = of_first.chain(data(second).filter(|name| names1.contains(name))).collect();
    reasons.extend(clashes.into_iter().map(|name| Incompatible::SameName(name.to_owned())));
    reasons
}

/// The actions of a composition in the order of a file, and for each part the new numbers of its actions.
struct Alphabet {
    actions: Numbered<ActionId, Action>,
    of_first: Numbered<ActionId, ActionId>,
    of_second: Numbered<ActionId, ActionId>,
}

/// Merges the actions of two parts: inputs first, then outputs, then internal actions.
fn merge_alphabets(first: &Iosts, second: &Iosts) -> Alphabet {
    let mut merged: Vec<Action> = first.actions.iter().cloned().collect();
    for action in &second.actions {
        match merged.iter_mut().find(|known| known.name == action.name) {
            // An action that one part sends and the other takes is an output of the composition.
            Some(known) if action.kind == ActionKind::Output => known.kind = ActionKind::Output,
            Some(_) => {}
            None => merged.push(action.clone()),
        }
    }
    merged.sort_by_key(|action| match action.kind {
        ActionKind::Input => 0,
        ActionKind::Output | ActionKind::Quiescence => 1,
        ActionKind::Internal => 2,
    });
    let actions: Numbered<ActionId, Action> = merged.into_iter().collect();
    let places: HashMap<&str, ActionId> =
        actions.numbered().map(|(number, action)| (action.name.as_str(), number)).collect();
    let new_numbers = |iosts: &Iosts| iosts.actions.map(|action| places[action.name.as_str()]);
    let (of_first, of_second) = (new_numbers(first), new_numbers(second));
    Alphabet { actions, of_first, of_second }
}

/// Makes the locations of the pairs. Names that are too long or taken are replaced by numbers.
fn name_locations(
    pairs: &Numbered<LocationId, (LocationId, LocationId)>,
    first: &Iosts,
    second: &Iosts,
) -> Numbered<LocationId, Location> {
    let mut used: BTreeSet<String> = BTreeSet::new();
    let bare_label = |label: &str| {
        let bare = label.strip_prefix('<').and_then(|label| label.strip_suffix('>'));
        bare.unwrap_or(label).to_owned()
    };
    let locations = pairs.numbered().map(|(number, (l1, l2))| {
        let (l1, l2) = (first.location(*l1), second.location(*l2));
        let mut name = format!("{}__{}", l1.name, l2.name);
        if name.len() > LONGEST_TEXT || used.contains(&name) {
            name = format!("L{}", number.place());
            while used.contains(&name) {
                name.push('_');
            }
        }
        used.insert(name.clone());
        let label = format!("<{},{}>", bare_label(&l1.label), bare_label(&l2.label));
        Location { name, label, description: None }
    });
    locations.collect()
}

/// Makes the system in which nobody sees these outputs.
pub fn hide(iosts: &Iosts, names: &[String]) -> Result<Iosts, Vec<Unhidden>> {
    let mut reasons = Vec::new();
    let mut hidden: BTreeSet<ActionId> = BTreeSet::new();
    for name in names {
        match iosts.find_action(name).filter(|id| iosts.action(*id).kind == ActionKind::Output) {
            Some(id) => drop(hidden.insert(id)),
            None => reasons.push(Unhidden::NoOutput(name.clone())),
        }
    }
    let hide_action = |(number, action): (ActionId, &Action)| match hidden.contains(&number) {
        true => (number, Action { kind: ActionKind::Internal, parameters: Vec::new(), ..action.clone() }),
        false => (number, action.clone()),
    };
    let mut actions: Vec<(ActionId, Action)> = iosts.actions.numbered().map(hide_action).collect();
    // Internal actions stand at the end.
    actions.sort_by_key(|(_, action)| action.kind == ActionKind::Internal);
    let new_numbers: BTreeMap<ActionId, ActionId> =
        actions.iter().enumerate().map(|(place, (number, _))| (*number, ActionId::of(place))).collect();
    let mut transitions: Numbered<TransitionId, Transition> = Numbered::new();
    for (number, transition) in iosts.transitions.numbered() {
        budget::ask();
        let action = new_numbers[&transition.action];
        if !hidden.contains(&transition.action) {
            transitions.push(Transition { action, ..transition.clone() });
            continue;
        }
        match without_parameters(transition, &iosts.action(transition.action).parameters) {
            Ok(cases) => transitions.extend(cases.into_iter().map(|case| Transition { action, ..case })),
            Err(parameter) => reasons.push(Unhidden::Open(number, parameter)),
        }
    }
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let actions = actions.into_iter().map(|(_, action)| action).collect();
    Ok(Iosts { actions, transitions, ..iosts.clone() })
}

/// Splits a transition into transitions without parameters that together do the same. The error is the
/// parameter whose value does not follow from the state.
fn without_parameters(transition: &Transition, parameters: &[Datum]) -> Result<Vec<Transition>, String> {
    let mut cases = vec![transition.clone()];
    let mut remaining: Vec<Datum> = parameters.to_vec();
    // Replace parameters by equations first: an equation may give another parameter its value.
    while let Some(place) =
        remaining.iter().position(|p| cases.iter().all(|case| find_equation(&case.guard, p).is_some()))
    {
        let parameter = remaining.remove(place);
        for case in &mut cases {
            if let Some(value) = find_equation(&case.guard, &parameter) {
                *case = with_value(case, &parameter, &value);
            }
        }
    }
    for parameter in remaining {
        // A parameter that is read and has few values is written out. A parameter that is not read is
        // dropped.
        let is_read = cases.iter().flat_map(Transition::terms).any(|term| term.mentions(&parameter));
        if !is_read {
            continue;
        }
        let values =
            Value::enumerate(parameter.ty(), MOST_VALUES).ok_or_else(|| parameter.name().to_owned())?;
        let each = cases.iter().flat_map(|case| {
            values.iter().map(|value| with_value(case, &parameter, &Term::literal(value.clone())))
        });
        cases = each.filter(|case| !case.guard.is_false()).collect();
        if cases.len() > MOST_VALUES * MOST_VALUES {
            return Err(parameter.name().to_owned());
        }
    }
    Ok(cases)
}

/// Finds the term to which a conjunct of the guard says that the parameter is equal. `None` if none says it.
fn find_equation(guard: &Term, parameter: &Datum) -> Option<Term> {
    guard.conjuncts().iter().find_map(|conjunct| match conjunct.node() {
        Node::Compare(Comparison::Equal, a, b) => {
            let gives_value = |(side, value): &(&Term, &Term)| {
                side.as_datum() == Some(parameter) && !value.mentions(parameter)
            };
            [(a, b), (b, a)].into_iter().find(gives_value).map(|(_, value)| value.clone())
        }
        Node::Data(flag) if flag == parameter => Some(Term::yes()),
        Node::Not(flag) if flag.as_datum() == Some(parameter) => Some(Term::no()),
        _ => None,
    })
}

/// Puts the value in the place of the parameter, and asks in the guard that it is in the parameter's type.
fn with_value(transition: &Transition, parameter: &Datum, value: &Term) -> Transition {
    let replacement = Substitution::from([(parameter.clone(), value.clone())]);
    let fits = in_type(value, parameter.ty());
    let assignments = transition.assignments.iter();
    let assignments = assignments.map(|(v, term)| (v.clone(), substitute(term, &replacement))).collect();
    let guard = Term::and([fits, substitute(&transition.guard, &replacement)]);
    Transition { guard, assignments, ..transition.clone() }
}
