//! Finds the comparisons that decide what a step does, and their signs.
//!
//! **Problem.** A fault often moves a boundary. A walk must take each step on both sides of each boundary,
//! and exactly on it.
//!
//! **Method.** The comparisons of a step are those in the guards and assigned values of its action at its
//! source, and those in the guards at its target. Those in the bodies of functions are among them. A
//! comparison in a branch of `if` or `match` counts only if this branch is taken. The operands of `min` and
//! `max` are compared as well. The sign of a comparison says how its sides stand to each other.

use std::collections::{BTreeMap, BTreeSet};

use coreach_model::iosts::{Iosts, Transition};
use coreach_model::term::evaluate::{evaluate_with, holds, holds_with};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::operation::{DerivedOperation, StandardOperation};
use coreach_model::term::{Substitution, TermShape, list_subterms, substitute};
use coreach_model::{Datum, LocationId, Numbered, Term, TransitionId, Type, Value};
use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::values::records::{as_plain, as_variant};

/// The sign of a comparison that is not made, or has no value. It is no class.
pub const NOT_COMPARED: i8 = 9;

/// A comparison, or a Boolean term that is none.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ComparedTerm {
    pub term: Term,
    /// The conditions of the branches in which it stands.
    pub path: Vec<Term>,
    /// Does it stand in a number or in an assigned value, and not only in conditions?
    pub is_inner: bool,
}

/// Where a term stands.
#[derive(Clone, Copy)]
struct TermPosition<'p> {
    path: &'p [Term],
    is_inner: bool,
}

#[derive(Clone, Debug)]
pub struct ComparedTerms {
    /// Decided by the state before the step and by the parameters.
    pub before: Vec<ComparedTerm>,
    /// Decided by the state after the step.
    pub after: Vec<ComparedTerm>,
    /// The comparisons of `before` in assigned values: the place of each variable and of the comparison.
    pub assigned: Vec<(usize, usize)>,
    /// More of `after`. They are no classes of this step, but its parameters may turn them.
    pub turned_after: Vec<ComparedTerm>,
}

impl ComparedTerms {
    /// Finds the comparisons of a transition.
    pub fn new(
        iosts: &Iosts,
        outgoing: &Numbered<LocationId, Vec<TransitionId>>,
        transition: &Transition,
    ) -> Self {
        let leaving = |location| outgoing[location].iter().map(|number| &iosts.transitions[*number]);
        let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
        for rival in leaving(transition.source).filter(|rival| rival.action == transition.action) {
            collect_comparisons(&rival.guard, GUARD, &mut before);
            rival.assignments.values().for_each(|value| collect_comparisons(value, VALUE, &mut before));
        }
        leaving(transition.target).for_each(|next| collect_comparisons(&next.guard, GUARD, &mut after));
        // Parameters have no value between two events.
        let is_known = |datum: &Datum| iosts.variables.contains(datum) || iosts.constants.contains(datum);
        after.retain(|compared| compared.data().all(|datum| is_known(&datum)));
        let turned_after = after.iter().filter(|compared| compared.is_inner).cloned().collect();
        // The next step decides about inner comparisons itself.
        after.retain(|compared| !compared.is_inner);
        let [before, after]: [Vec<ComparedTerm>; 2] = [before, after].map(|all| all.into_iter().collect());
        let mut assigned = Vec::new();
        for (variable_place, variable) in iosts.variables.iter().enumerate() {
            let Some(value) = transition.assignments.get(variable) else { continue };
            let mut in_value = BTreeSet::new();
            collect_comparisons(value, VALUE, &mut in_value);
            let places = in_value.iter().filter_map(|compared| before.binary_search(compared).ok());
            assigned.extend(places.map(|place| (variable_place, place)));
        }
        ComparedTerms { before, after, assigned, turned_after }
    }
}

impl ComparedTerm {
    fn data(&self) -> impl Iterator<Item = Datum> {
        self.path.iter().chain([&self.term]).flat_map(Term::data)
    }

    /// Returns the two sides of a comparison of numbers. `None` for other terms.
    pub fn sides(&self) -> Option<(&Term, &Term)> {
        match self.term.written() {
            Some(Node::Compare(_, left, right)) if left.sort().is_number() => Some((left, right)),
            _ => None,
        }
    }

    /// Rewrites the comparison over the state before these assignments.
    #[must_use]
    pub fn shift_before(&self, assignments: &Substitution) -> Self {
        let path = self.path.iter().map(|condition| substitute(condition, assignments)).collect();
        ComparedTerm { term: substitute(&self.term, assignments), path, is_inner: self.is_inner }
    }

    /// Computes the sign of the comparison: -2 far below, -1 one below, 0 equal, 1 one above, 2 far above. A
    /// term that is no comparison has 1 if it holds and 0 if not. `value_of` looks up data.
    pub fn sign<'v>(&self, value_of: impl Fn(&Datum) -> Option<&'v Value> + Copy) -> i8 {
        if self.path.iter().any(|condition| holds_with(condition, value_of) != Ok(true)) {
            return NOT_COMPARED;
        }
        let Some(Node::Compare(_, left, right)) = self.term.written() else {
            return holds_with(&self.term, value_of).map_or(NOT_COMPARED, i8::from);
        };
        let sides = evaluate_with(left, value_of).ok().zip(evaluate_with(right, value_of).ok());
        let Some((left, right)) = sides else { return NOT_COMPARED };
        let is_near = match (&left, &right) {
            (Value::Int(left), Value::Int(right)) => (-IBig::ONE..=IBig::ONE).contains(&(left - right)),
            (Value::Real(left), Value::Real(right)) => {
                (RBig::from(-1)..=RBig::from(1)).contains(&(left - right))
            }
            _ => true,
        };
        match left.cmp(&right) as i8 {
            sign if is_near => sign,
            // In a number only the boundary is of interest.
            _ if self.is_inner => NOT_COMPARED,
            sign => 2 * sign,
        }
    }
}

const GUARD: TermPosition<'static> = TermPosition { path: &[], is_inner: false };
const VALUE: TermPosition<'static> = TermPosition { path: &[], is_inner: true };

/// Collects the comparisons in a term that stands in this place.
fn collect_comparisons(term: &Term, place: TermPosition<'_>, found: &mut BTreeSet<ComparedTerm>) {
    // What stands in a number is inner, as `x < 3` in `if x < 3 then 1 else 2`.
    let is_inner = place.is_inner || *term.sort() != Type::Bool;
    let place = TermPosition { is_inner, ..place };
    if let Some(body) = term.unfolded().or_else(|| term.unfolded_match()) {
        return collect_comparisons(&body, place, found);
    }
    let mut add = |term: Term| found.insert(ComparedTerm { term, path: place.path.to_vec(), is_inner });
    let extremes = [StandardOperation::Minimum, StandardOperation::Maximum].map(DerivedOperation::Standard);
    if let TermShape::Operation(operation, operands) = term.shape()
        && extremes.contains(operation)
        && let [left, right] = &operands[..]
    {
        add(Term::compare(Comparison::AtMost, left, right));
    }
    let is_condition = match term.written() {
        // Lists, sets and maps count as a whole.
        Some(Node::Field(of, _)) => as_plain(of.sort()).or(as_variant(of.sort())).is_some(),
        // Of `a && !b`, only the parts are conditions. Without a node it is an operation, such as `contains`.
        written => matches!(written, None | Some(Node::Compare(..) | Node::Data(_))),
    };
    if *term.sort() == Type::Bool && is_condition {
        add(term.clone());
    }
    if let Some(Node::IfThenElse(condition, then, otherwise)) = term.written() {
        collect_comparisons(condition, place, found);
        for (branch, condition) in [(then, condition.clone()), (otherwise, condition.not())] {
            let path: Vec<Term> = place.path.iter().cloned().chain([condition]).collect();
            collect_comparisons(branch, TermPosition { path: &path, ..place }, found);
        }
        return;
    }
    for part in term.parts() {
        collect_comparisons(part, place, found);
    }
}

/// For each datum, the lists of conditions under which it is read. One list must hold.
pub type ReadingPaths = BTreeMap<Datum, BTreeSet<Vec<Term>>>;

/// Collects the data that the evaluation of a term reads under these conditions. A large term reads all.
pub fn collect_readings(term: &Term, path: &[Term], found: &mut ReadingPaths) {
    const LARGEST: u64 = 2000;
    if term.written_size() > LARGEST {
        for datum in term.data() {
            found.entry(datum).or_default().insert(path.to_vec());
        }
        return;
    }
    if let Some(body) = term.unfolded().or_else(|| term.unfolded_match()) {
        return collect_readings(&body, path, found);
    }
    let mut collect = |part: &Term, more: &[Term]| collect_readings(part, &[path, more].concat(), found);
    match term.written() {
        Some(Node::Data(datum)) => {
            found.entry(datum.clone()).or_default().insert(path.to_vec());
        }
        Some(Node::IfThenElse(condition, then, otherwise)) => {
            collect(condition, &[]);
            collect(then, std::slice::from_ref(condition));
            collect(otherwise, &[condition.not()]);
        }
        Some(Node::And(parts)) => parts.iter().enumerate().for_each(|(at, part)| collect(part, &parts[..at])),
        Some(Node::Or(parts)) => {
            let refused: Vec<Term> = parts.iter().map(Term::not).collect();
            parts.iter().enumerate().for_each(|(at, part)| collect(part, &refused[..at]));
        }
        _ => term.parts().into_iter().for_each(|part| collect(part, &[])),
    }
}

/// Lists the sides of the comparisons of numbers that depend on a transition's parameters. Those after the
/// step are rewritten over the state before it.
pub fn list_sides(iosts: &Iosts, number: TransitionId, terms: &ComparedTerms) -> Vec<(Term, Term)> {
    let transition = &iosts.transitions[number];
    let parameters = &iosts.action(transition.action).parameters;
    let after = terms.after.iter().chain(&terms.turned_after);
    let shifted = after.map(|compared| compared.shift_before(&transition.assignments));
    let mut pairs = Vec::new();
    for compared in terms.before.iter().cloned().chain(shifted) {
        if let Some((left, right)) = compared.sides()
            && parameters.iter().any(|parameter| compared.term.mentions(parameter))
        {
            pairs.push((left.clone(), right.clone()));
        }
    }
    pairs
}

/// Lists the numbers that guards and assigned values compare with, also in functions and quantifiers.
pub fn find_compared_numbers(iosts: &Iosts) -> Vec<Value> {
    let mut roots: Vec<Term> = Vec::new();
    for transition in &iosts.transitions {
        roots.push(transition.guard.clone());
        roots.extend(transition.assignments.values().cloned());
    }
    let mut numbers = BTreeSet::new();
    for term in list_subterms(roots) {
        if let Some(Node::Compare(_, left, right)) = term.written()
            && left.sort().is_number()
        {
            numbers.extend([left, right].into_iter().filter_map(Term::as_literal).cloned());
        }
    }
    numbers.into_iter().collect()
}

/// Tells whether a conjunct only keeps an assigned number at or above its least value and always holds, as
/// `v + 1 >= 0` does for `v: nat`. It is tried at the simplest values, and with each integer raised to 1.
fn always_holds_by_type(transition: &Transition, conjunct: &Term) -> bool {
    let Some(Node::Compare(Comparison::AtLeast, value, least)) = conjunct.written() else { return false };
    if least.as_literal().is_none() || !transition.assignments.values().any(|assigned| assigned == value) {
        return false;
    }
    let data = value.data();
    let holds_at = |raised: Option<&Datum>| {
        let corner = data.iter().map(|datum| {
            let is_raised = raised == Some(datum) && datum.ty().is_integer();
            (datum.clone(), if is_raised { Value::int(1) } else { Value::any(datum.ty()) })
        });
        holds(conjunct, &corner.collect()) == Ok(true)
    };
    holds_at(None) && data.iter().all(|datum| holds_at(Some(datum)))
}

/// Finds the data that a guard limits, and the data from which limited numbers are computed. A guard limits a
/// datum that it compares by order, or for equality with other data of the state. A number in a limited text
/// or list is not limited by that.
pub fn find_limited_data(iosts: &Iosts) -> BTreeSet<Datum> {
    let mut compared = BTreeSet::new();
    for transition in &iosts.transitions {
        let conjuncts = transition.guard.conjuncts();
        let limiting = conjuncts.iter().filter(|conjunct| !always_holds_by_type(transition, conjunct));
        limiting.for_each(|conjunct| collect_comparisons(conjunct, GUARD, &mut compared));
    }
    let is_state = |datum: &Datum| iosts.variables.contains(datum) || iosts.constants.contains(datum);
    let limits = |term: &&Term| match term.written() {
        Some(Node::Compare(Comparison::Equal | Comparison::NotEqual, ..)) => term.data().iter().all(is_state),
        _ => !term.asks_definedness(),
    };
    let mut limited: BTreeSet<Datum> =
        compared.iter().map(|compared| &compared.term).filter(limits).flat_map(Term::data).collect();
    loop {
        let count_before = limited.len();
        for transition in &iosts.transitions {
            for (variable, term) in &transition.assignments {
                if limited.contains(variable) && variable.ty().is_number() {
                    limited.extend(term.data());
                }
            }
        }
        if limited.len() == count_before {
            return limited;
        }
    }
}
