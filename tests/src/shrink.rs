//! A failing pair made small.
//!
//! **Method.** Try one simplification after the other, keep what still fails, and start again until none
//! does: transitions, assignments, conjuncts and disjuncts go; a variable becomes its initial value; a term
//! becomes one of its parts or a literal; ranges get smaller; what nothing mentions is no longer declared.
//!
//! **Ends**: each step makes the pair smaller in a fixed order (transitions, then data, then the sizes of
//! terms and types), and the number of attempts is limited. **Cost**: one run of the failing property per
//! attempt.

use std::collections::BTreeMap;

use coreach_model::{ActionId, ActionKind, Datum, LocationId, TransitionId, Type, Value};

use crate::source::tree::Sort;
use crate::source::{Model, Pair, Purpose, Step, Tree};

/// The smallest pair found that still fails.
pub fn shrink(pair: &Pair, attempts: usize, mut fails: impl FnMut(&Pair) -> bool) -> Pair {
    let mut best = pair.clone();
    let mut left = attempts;
    // A pair that the reader refuses says nothing about the stages.
    let readable = crate::source::read(pair).is_ok();
    loop {
        let mut improved = false;
        let mut number = 0;
        // Candidates are numbered anew after each success: what the number meant before is gone or has moved
        // up.
        while let Some(candidate) = candidate(&best, number) {
            if left == 0 {
                return best;
            }
            left -= 1;
            if is_usable(&candidate)
                && (!readable || crate::source::read(&candidate).is_ok())
                && fails(&candidate)
            {
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
    let model = &pair.specification;
    let has = |kind| model.actions.iter().any(|action| action.kind == kind);
    !model.transitions.is_empty() && (has(ActionKind::Input) || has(ActionKind::Output))
}

/// The simplification of this number, the boldest first.
fn candidate(pair: &Pair, number: usize) -> Option<Pair> {
    let edits: [fn(&Pair) -> Vec<Pair>; 8] = [
        without_transitions,
        without_data,
        without_assignments,
        with_simpler_guards,
        with_simpler_values,
        with_simpler_conditions,
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
fn each_half(pair: &Pair, edit: impl Fn(&Model) -> Vec<Model>) -> Vec<Pair> {
    let mut found: Vec<Pair> = Vec::new();
    for specification in edit(&pair.specification) {
        found.push(Pair { specification, ..pair.clone() });
    }
    for model in edit(&pair.purpose.model) {
        let mut next = pair.clone();
        next.purpose.model = model;
        found.push(next);
    }
    found
}

fn each_transition(pair: &Pair, edit: impl Fn(&Model, &Step) -> Vec<Step>) -> Vec<Pair> {
    each_half(pair, |iosts| {
        let mut found = Vec::new();
        for (at, transition) in iosts.transitions.numbered() {
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
        let without = |at: TransitionId| {
            let mut next = iosts.clone();
            next.transitions.remove(at);
            next
        };
        iosts.transitions.numbers().map(without).collect()
    })
}

/// A variable or constant becomes a literal, everywhere.
fn without_data(pair: &Pair) -> Vec<Pair> {
    let halves = [&pair.specification, &pair.purpose.model];
    let data: Vec<Datum> =
        halves.iter().flat_map(|iosts| iosts.variables.iter().chain(&iosts.constants)).cloned().collect();
    let mut found = Vec::new();
    // A literal of an array or a record cannot be written in a file.
    for datum in data.into_iter().filter(|datum| !matches!(datum.ty(), Type::Array(_) | Type::Record(_))) {
        let values = Value::enumerate(datum.ty(), 16).unwrap_or_default();
        for value in values {
            found.push(fixed(pair, &datum, &value));
        }
    }
    found
}

fn fixed(pair: &Pair, datum: &Datum, value: &Value) -> Pair {
    let replacement = BTreeMap::from([(datum.clone(), Tree::literal(value.clone()))]);
    let mut next = pair.clone();
    for iosts in [&mut next.specification, &mut next.purpose.model] {
        iosts.variables.retain(|d| d != datum);
        iosts.constants.retain(|d| d != datum);
        iosts.condition = iosts.condition.replaced(&replacement);
        for transition in &mut iosts.transitions {
            transition.assignments.remove(datum);
            rewrite(transition, |tree| tree.replaced(&replacement));
        }
    }
    next.purpose.observes.retain(|d| d != datum);
    next
}

fn rewrite(transition: &mut Step, change: impl Fn(&Tree) -> Tree) {
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
        let with = |guard| Step { guard, ..transition.clone() };
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

/// An initial condition that still mentions every variable that it mentioned.
fn with_simpler_conditions(pair: &Pair) -> Vec<Pair> {
    each_half(pair, |model| {
        let mentions = |tree: &Tree| -> Vec<bool> {
            model.variables.iter().map(|variable| tree.mentions(variable)).collect()
        };
        let all = simpler(&model.condition).into_iter();
        let kept = all.filter(|new| mentions(new) == mentions(&model.condition));
        kept.map(|condition| Model { condition, ..model.clone() }).collect()
    })
}

/// Trees of the same sort that are smaller: literals, parts, and the tree without a part or with a simpler
/// one.
fn simpler(tree: &Tree) -> Vec<Tree> {
    let mut found = Vec::new();
    if matches!(tree, Tree::Literal(_)) {
        return found;
    }
    let sort = tree.sort();
    match sort {
        Sort::Bool => found.extend([Tree::yes(), Tree::no()]),
        Sort::Integer => found.extend([Tree::int(0), Tree::int(1)]),
        _ => {}
    }
    found.extend(parts_of(tree, &sort));
    if let Tree::And(parts) | Tree::Or(parts) = tree {
        for at in 0..parts.len() {
            let mut rest = parts.clone();
            rest.remove(at);
            found.push(if matches!(tree, Tree::And(_)) { Tree::and(rest) } else { Tree::or(rest) });
        }
    }
    let children = tree.children().len();
    for at in 0..children {
        for new in simpler(tree.children()[at]) {
            let mut number = 0;
            found.push(tree.map(|part| {
                number += 1;
                if number == at + 1 { new.clone() } else { part.clone() }
            }));
        }
    }
    // Both sides of `t == t` at once.
    if let Tree::Chain(first, rest) = tree
        && rest.iter().all(|(_, part)| *part == **first)
    {
        for new in simpler(first) {
            found.push(tree.map(|_| new.clone()));
        }
    }
    found.retain(|new| new.size() < tree.size());
    found.dedup();
    found
}

/// The parts of this sort, the parts' parts included.
fn parts_of(tree: &Tree, sort: &Sort) -> Vec<Tree> {
    let mut found = Vec::new();
    for part in tree.children() {
        if part.sort() == *sort {
            found.push(part.clone());
        } else {
            found.extend(parts_of(part, sort));
        }
    }
    found
}

/// An integer range loses its last value, for every datum of it.
fn with_smaller_types(pair: &Pair) -> Vec<Pair> {
    let parameters = pair.specification.actions.iter().flat_map(|action| &action.parameters);
    let own = pair.purpose.model.variables.iter().chain(&pair.purpose.model.constants);
    let data = pair.specification.variables.iter().chain(&pair.specification.constants);
    let mut types: Vec<Type> = data.chain(parameters).chain(own).map(|datum| datum.ty().clone()).collect();
    types.sort();
    types.dedup();
    let mut found = Vec::new();
    for ty in types {
        let Type::Range(low, high) = &ty else { continue };
        if low < high {
            let smaller = Type::Range(low.clone(), high - dashu_int::IBig::ONE);
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
    for iosts in [&mut next.specification, &mut next.purpose.model] {
        let parameters = iosts.actions.iter().flat_map(|action| action.parameters.clone());
        let data = iosts.variables.iter().chain(&iosts.constants).cloned().chain(parameters);
        let renaming: BTreeMap<Datum, Tree> =
            data.map(|datum| (datum.clone(), Tree::datum(&change(&datum)))).collect();
        iosts.variables = iosts.variables.iter().map(&change).collect();
        iosts.constants = iosts.constants.iter().map(&change).collect();
        iosts.condition = iosts.condition.replaced(&renaming);
        for action in &mut iosts.actions {
            action.parameters = action.parameters.iter().map(&change).collect();
        }
        for transition in &mut iosts.transitions {
            rewrite(transition, |tree| tree.replaced(&renaming));
            let old = std::mem::take(&mut transition.assignments);
            transition.assignments = old.into_iter().map(|(v, value)| (change(&v), value)).collect();
        }
    }
    next
}

/// Locations that nothing leads to, actions that nothing uses and data that nothing reads are dropped.
fn tidied(pair: &Pair) -> Vec<Pair> {
    let mut found = Vec::new();
    for at in pair.specification.locations.numbers() {
        if let Some(specification) = without_location(&pair.specification, at) {
            found.push(Pair { specification, ..pair.clone() });
        }
    }
    let purpose = &pair.purpose;
    for at in purpose.model.locations.numbers() {
        if at == purpose.accept {
            continue;
        }
        if let Some(model) = without_location(&purpose.model, at) {
            let (accept, reject) =
                (behind(purpose.accept, at), purpose.reject.filter(|reject| *reject != at));
            let observes = purpose.observes.clone();
            let purpose =
                Purpose { model, observes, accept, reject: reject.map(|reject| behind(reject, at)) };
            found.push(Pair { purpose, ..pair.clone() });
        }
    }
    for action in pair.specification.actions_of(|_| true) {
        let uses = |iosts: &Model| iosts.transitions.iter().any(|t| t.action == action);
        if !uses(&pair.specification) && !uses(&purpose.model) {
            found.push(without_action(pair, action));
        }
    }
    for datum in &purpose.observes {
        let mentions =
            |t: &Step| t.guard.mentions(datum) || t.assignments.values().any(|value| value.mentions(datum));
        if !purpose.model.transitions.iter().any(mentions) {
            let mut next = pair.clone();
            next.purpose.observes.retain(|d| d != datum);
            next.purpose.model.constants.retain(|d| d != datum);
            found.push(next);
        }
    }
    found
}

/// The number of a location where one is gone.
fn behind(id: LocationId, gone: LocationId) -> LocationId {
    if id > gone { LocationId(id.0 - 1) } else { id }
}

/// The model without a location that nothing uses.
fn without_location(model: &Model, at: LocationId) -> Option<Model> {
    let used = |t: &Step| t.source == at || t.target == at;
    if at == model.initial || model.transitions.iter().any(used) {
        return None;
    }
    let mut next = model.clone();
    next.locations.remove(at);
    for transition in &mut next.transitions {
        (transition.source, transition.target) =
            (behind(transition.source, at), behind(transition.target, at));
    }
    next.initial = behind(next.initial, at);
    Some(next)
}

fn without_action(pair: &Pair, action: ActionId) -> Pair {
    let mut next = pair.clone();
    for iosts in [&mut next.specification, &mut next.purpose.model] {
        iosts.actions.remove(action);
        for transition in &mut iosts.transitions {
            if transition.action > action {
                transition.action = ActionId(transition.action.0 - 1);
            }
        }
    }
    next
}
