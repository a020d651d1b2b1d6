//! A failing pair made small.
//!
//! **Method.** Try one simplification after the other, keep what still fails, and start again until none does:
//! transitions, assignments, conjuncts and disjuncts go; a variable becomes its initial value; a term becomes one of its
//! parts or a literal; ranges get smaller; what nothing mentions is no longer declared.
//!
//! **Ends**: each step makes the pair smaller in a fixed order (transitions, then data, then the sizes of terms and
//! types), and the number of attempts is limited. **Cost**: one run of the failing property per attempt.

use coreach_model::iosts::{Iosts, LocationId, Transition};
use coreach_model::term::node::Node;
use coreach_model::term::{Substitution, Term, substitute};
use coreach_model::{ActionId, Datum, Type, Value};

use crate::generator::Pair;

/// The smallest pair found that still fails.
pub fn shrink(pair: &Pair, attempts: usize, mut fails: impl FnMut(&Pair) -> bool) -> Pair {
    let mut best = pair.clone();
    let mut left = attempts;
    loop {
        let mut improved = false;
        let mut number = 0;
        // Candidates are numbered anew after each success: what the number meant before is gone or has moved up.
        while let Some(candidate) = candidate(&best, number) {
            if left == 0 {
                return best;
            }
            left -= 1;
            if is_usable(&candidate) && fails(&candidate) {
                best = candidate;
                improved = true;
            } else {
                number += 1;
            }
        }
        if !improved {
            return best;
        }
    }
}

/// Is it still a model that the reader accepts?
fn is_usable(pair: &Pair) -> bool {
    let iosts = &pair.specification;
    let has = |kind| iosts.actions.iter().any(|action| action.kind == kind);
    use coreach_model::iosts::ActionKind;
    !iosts.transitions.is_empty() && (has(ActionKind::Input) || has(ActionKind::Output))
}

/// The simplification of this number, the boldest first.
fn candidate(pair: &Pair, number: usize) -> Option<Pair> {
    let edits: [fn(&Pair) -> Vec<Pair>; 7] = [
        without_transitions,
        without_data,
        without_assignments,
        with_simpler_guards,
        with_simpler_values,
        with_smaller_types,
        tidied,
    ];
    let mut number = number;
    for edit in edits {
        let candidates = edit(pair);
        if number < candidates.len() {
            return candidates.into_iter().nth(number);
        }
        number -= candidates.len();
    }
    None
}

/// Both halves, each as a system to edit.
fn each_half(pair: &Pair, edit: impl Fn(&Iosts) -> Vec<Iosts>) -> Vec<Pair> {
    let mut found: Vec<Pair> = Vec::new();
    for specification in edit(&pair.specification) {
        found.push(Pair { specification, ..pair.clone() });
    }
    for iosts in edit(&pair.purpose.iosts) {
        let mut next = pair.clone();
        next.purpose.iosts = iosts;
        found.push(next);
    }
    found
}

fn each_transition(pair: &Pair, edit: impl Fn(&Iosts, &Transition) -> Vec<Transition>) -> Vec<Pair> {
    each_half(pair, |iosts| {
        let mut found = Vec::new();
        for (at, transition) in iosts.transitions.iter().enumerate() {
            for new in edit(iosts, transition) {
                let mut next = iosts.clone();
                next.transitions[at] = new;
                found.push(next);
            }
        }
        found
    })
}

fn without_transitions(pair: &Pair) -> Vec<Pair> {
    each_half(pair, |iosts| {
        let without = |at: usize| {
            let mut next = iosts.clone();
            next.transitions.remove(at);
            next
        };
        (0..iosts.transitions.len()).map(without).collect()
    })
}

/// A variable or constant becomes a literal, everywhere.
fn without_data(pair: &Pair) -> Vec<Pair> {
    let halves = [&pair.specification, &pair.purpose.iosts];
    let data: Vec<Datum> =
        halves.iter().flat_map(|iosts| iosts.variables.iter().chain(&iosts.constants)).cloned().collect();
    let mut found = Vec::new();
    // A literal of an array cannot be written in a file.
    for datum in data.into_iter().filter(|datum| !matches!(datum.ty(), Type::Array(_))) {
        let values = Value::enumerate(datum.ty(), 16).unwrap_or_default();
        for value in values {
            found.push(fixed(pair, &datum, &value));
        }
    }
    found
}

fn fixed(pair: &Pair, datum: &Datum, value: &Value) -> Pair {
    let replacement = Substitution::from([(datum.clone(), Term::literal(value.clone()))]);
    let mut next = pair.clone();
    for iosts in [&mut next.specification, &mut next.purpose.iosts] {
        iosts.variables.retain(|d| d != datum);
        iosts.constants.retain(|d| d != datum);
        iosts.initial_condition = substitute(&iosts.initial_condition, &replacement);
        for transition in &mut iosts.transitions {
            transition.assignments.remove(datum);
            rewrite(transition, |term| substitute(term, &replacement));
        }
    }
    next.purpose.observes.retain(|d| d != datum);
    next
}

fn rewrite(transition: &mut Transition, change: impl Fn(&Term) -> Term) {
    transition.guard = change(&transition.guard);
    for value in transition.assignments.values_mut() {
        *value = change(value);
    }
    transition.assignments.retain(|variable, value| value.as_datum() != Some(variable));
}

fn without_assignments(pair: &Pair) -> Vec<Pair> {
    each_transition(pair, |_, transition| {
        let without = |variable: &Datum| {
            let mut next = transition.clone();
            next.assignments.remove(variable);
            next
        };
        transition.assignments.keys().map(without).collect()
    })
}

fn with_simpler_guards(pair: &Pair) -> Vec<Pair> {
    each_transition(pair, |_, transition| {
        let with = |guard| Transition { guard, ..transition.clone() };
        simpler(&transition.guard).into_iter().map(with).collect()
    })
}

fn with_simpler_values(pair: &Pair) -> Vec<Pair> {
    each_transition(pair, |_, transition| {
        let mut found = Vec::new();
        for (variable, value) in &transition.assignments {
            for new in simpler(value) {
                let mut next = transition.clone();
                next.assignments.insert(variable.clone(), new);
                found.push(next);
            }
        }
        found
    })
}

/// Terms of the same sort that are smaller: literals, parts, and the term with a simpler part.
fn simpler(term: &Term) -> Vec<Term> {
    let mut found = Vec::new();
    if term.as_literal().is_some() {
        return found;
    }
    match term.sort() {
        Type::Bool => found.extend([Term::yes(), Term::no()]),
        Type::Int => found.extend([Term::int(0), Term::int(1)]),
        _ => {}
    }
    if let Node::And(parts) | Node::Or(parts) = term.node() {
        let conjunction = matches!(term.node(), Node::And(_));
        let join = |parts: Vec<Term>| if conjunction { Term::and(parts) } else { Term::or(parts) };
        for at in 0..parts.len() {
            let mut rest = parts.clone();
            rest.remove(at);
            found.push(join(rest));
        }
        for (at, part) in parts.iter().enumerate() {
            for new in simpler(part).into_iter().skip(2) {
                let mut changed = parts.clone();
                changed[at] = new;
                found.push(join(changed));
            }
        }
        return found;
    }
    found.extend(term.children().into_iter().filter(|child| child.sort() == term.sort()).cloned());
    let rebuilt: Vec<Term> = match term.node() {
        Node::Compare(comparison, a, b) => two(a, b, |a, b| Term::compare(*comparison, a, b)),
        Node::Arithmetic(operator, a, b) => two(a, b, |a, b| Term::arithmetic(*operator, a, b)),
        Node::Select(a, i) => simpler(i).iter().map(|i| Term::select(a, i)).collect(),
        Node::Store(a, i, e) => two(i, e, |i, e| Term::store(a, i, e)),
        Node::IfThenElse(c, a, b) => {
            let mut all: Vec<Term> = simpler(c).iter().map(|c| Term::if_then_else(c, a, b)).collect();
            all.extend(two(a, b, |a, b| Term::if_then_else(c, a, b)));
            all
        }
        _ => Vec::new(),
    };
    found.extend(rebuilt);
    found.retain(|new| new != term && size(new) < size(term));
    found
}

fn two(a: &Term, b: &Term, build: impl Fn(&Term, &Term) -> Term) -> Vec<Term> {
    let mut found: Vec<Term> = simpler(a).iter().map(|a| build(a, b)).collect();
    found.extend(simpler(b).iter().map(|b| build(a, b)));
    found
}

fn size(term: &Term) -> usize {
    1 + term.children().into_iter().map(size).sum::<usize>() + usize::from(term.as_literal().is_none())
}

/// An integer range loses its last value, for every datum of it.
fn with_smaller_types(pair: &Pair) -> Vec<Pair> {
    let parameters = pair.specification.actions.iter().flat_map(|action| &action.parameters);
    let own = pair.purpose.iosts.variables.iter().chain(&pair.purpose.iosts.constants);
    let data = pair.specification.variables.iter().chain(&pair.specification.constants);
    let mut types: Vec<Type> = data.chain(parameters).chain(own).map(|datum| datum.ty().clone()).collect();
    types.sort();
    types.dedup();
    let mut found = Vec::new();
    for ty in types {
        let Type::Range(low, high) = &ty else { continue };
        if low < high {
            let smaller = Type::Range(low.clone(), high - dashu::integer::IBig::ONE);
            let change = |datum: &Datum| match *datum.ty() == ty {
                true => Datum::new(datum.name(), smaller.clone()),
                false => datum.clone(),
            };
            found.push(retyped(pair, change));
        }
    }
    found
}

fn retyped(pair: &Pair, change: impl Fn(&Datum) -> Datum) -> Pair {
    let mut next = pair.clone();
    next.purpose.observes = next.purpose.observes.iter().map(&change).collect();
    for iosts in [&mut next.specification, &mut next.purpose.iosts] {
        let parameters = iosts.actions.iter().flat_map(|action| action.parameters.clone());
        let data = iosts.variables.iter().chain(&iosts.constants).cloned().chain(parameters);
        let renaming: Substitution =
            data.map(|datum| (datum.clone(), Term::datum(&change(&datum)))).collect();
        iosts.variables = iosts.variables.iter().map(&change).collect();
        iosts.constants = iosts.constants.iter().map(&change).collect();
        iosts.initial_condition = substitute(&iosts.initial_condition, &renaming);
        for action in &mut iosts.actions {
            action.parameters = action.parameters.iter().map(&change).collect();
        }
        for transition in &mut iosts.transitions {
            rewrite(transition, |term| substitute(term, &renaming));
            let old = std::mem::take(&mut transition.assignments);
            transition.assignments = old.into_iter().map(|(v, value)| (change(&v), value)).collect();
        }
    }
    next
}

/// Locations that nothing leads to, actions that nothing uses and data that nothing reads are dropped.
fn tidied(pair: &Pair) -> Vec<Pair> {
    let mut found = Vec::new();
    let (specification, kept) = pair.specification.clone().without_unreachable_locations();
    if kept.len() < pair.specification.locations.len() {
        found.push(Pair { specification, ..pair.clone() });
    }
    let purpose = &pair.purpose;
    for at in purpose.iosts.location_ids() {
        let used = |t: &Transition| t.source == at || t.target == at;
        let needed = at == purpose.iosts.initial || at == purpose.accept;
        if needed || purpose.iosts.transitions.iter().any(used) {
            continue;
        }
        let mut next = pair.clone();
        next.purpose.iosts.locations.remove(at.0 as usize);
        let moved = |id: LocationId| if id > at { LocationId(id.0 - 1) } else { id };
        for transition in &mut next.purpose.iosts.transitions {
            (transition.source, transition.target) = (moved(transition.source), moved(transition.target));
        }
        next.purpose.iosts.initial = moved(next.purpose.iosts.initial);
        next.purpose.accept = moved(next.purpose.accept);
        next.purpose.reject = purpose.reject.filter(|reject| *reject != at).map(moved);
        found.push(next);
    }
    for action in pair.specification.action_ids() {
        let uses = |iosts: &Iosts| iosts.transitions.iter().any(|t| t.action == action);
        if !uses(&pair.specification) && !uses(&purpose.iosts) {
            found.push(without_action(pair, action));
        }
    }
    for datum in &purpose.observes {
        let mentions = |t: &Transition| {
            t.guard.mentions(datum) || t.assignments.values().any(|value| value.mentions(datum))
        };
        if !purpose.iosts.transitions.iter().any(mentions) {
            let mut next = pair.clone();
            next.purpose.observes.retain(|d| d != datum);
            next.purpose.iosts.constants.retain(|d| d != datum);
            found.push(next);
        }
    }
    found
}

fn without_action(pair: &Pair, action: ActionId) -> Pair {
    let mut next = pair.clone();
    for iosts in [&mut next.specification, &mut next.purpose.iosts] {
        iosts.actions.remove(action.0 as usize);
        for transition in &mut iosts.transitions {
            if transition.action > action {
                transition.action = ActionId(transition.action.0 - 1);
            }
        }
    }
    next
}
