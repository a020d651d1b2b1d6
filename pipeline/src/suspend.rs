//! The suspended specification: quiescence as an output, for ioco.
//!
//! **Problem.** ioc speaks of what is sent. An implementation that stays silent where the specification must
//! answer conforms by it. ioco also asks that it is quiescent only where the specification is: quiescence is
//! one more output, δ.
//!
//! **Source.** Tretmans, *Test generation with inputs, outputs and repetitive quiescence* (1996); thesis, 3.3
//! and Definition 3.9 for automata, and 9.2 for IOSTS: δ by the guards of the outputs, syntactically, where
//! there is no livelock (the reader refuses those).
//!
//! **Method.** At each location q a self-loop by δ, which changes nothing, with the guard
//!
//! ```text
//! for every output q -a,G->    no parameters of a satisfy G        (an outputlock or a deadlock)
//! for every internal q -G->    not G                               (a step that may still come)
//! ```
//!
//! where G is all that a transition needs to be taken. This is done first of all, on the specification
//! itself: so a quiescent state behind internal steps is one of its own for closing, and members that are not
//! quiescent are left behind by δ when it is determinized. Every stage takes δ for an output. A purpose may
//! name it (`on: quiescence`); of one that does not, completion lets it stay.
//!
//! **No quantifier.** "No parameters satisfy G" needs one, and terms have none. Parameters are eliminated by
//! *test points*: for the terms t with which a parameter p is compared, their neighbours and the ends of its
//! type, the disjunction of all `G[p := t]` says of each state in which it holds that some value will do.
//! That it holds in every state in which some value will do is asked of the solver: `G => ⋁ G[p := t]`, for
//! all p. Where that is not certain the stage stops: a guard of δ that is too narrow would blame
//! implementations that conform. (Loos and Weispfenning, *Applying linear quantifier elimination*, 1993, take
//! all points that can be needed; we take some, and prove that they were enough.) A record for which no whole
//! point is enough is eliminated field by field,
//! and of a number or a string the solver is asked for points that are missing.
//!
//! **Where we differ** from Gaston et al. (2006): their δ leads to a sink, so nothing is asked after it. Ours
//! is the usual self-loop.
//!
//! **Ends** after one look at each transition. **Cost**: a few queries for each parameter of an output's
//! transition.

use std::collections::BTreeSet;
use std::sync::Arc;

use coreach_analyses::solver::{Solver, Witness, may_hold, must_hold};
use coreach_model::budget;
use coreach_model::iosts::{Action, ActionKind, Iosts, TestPurpose, Transition, TransitionOrigin};
use coreach_model::obligation::{defined, enabling_condition, in_type};
use coreach_model::term::node::{Comparison, Node, Operator, StringOperation};
use coreach_model::term::{Substitution, substitute};
use coreach_model::types::{RecordForm, RecordType};
use coreach_model::{ActionId, Datum, Number, Numbered, Term, Type, Value};

use crate::limits::{Limits, Quantity};
use crate::names::UsedNames;
use crate::simplify::simplify_guard;
use crate::stop::{ShownTransition, Stop};

/// The name of quiescence, where no action has it.
const DELTA: &str = "delta";

/// The most values that the solver is asked for where those that are tried are not enough.
const MOST_WITNESSES: usize = 4;

/// The most values of a type that are all tried.
const MOST_VALUES: i64 = 32;

/// The specification with quiescence.
#[derive(Clone, Debug)]
pub struct Suspended {
    /// The specification, δ behind the outputs.
    pub iosts: Iosts,
    /// δ.
    pub quiescence: ActionId,
    /// How many transitions, the first ones, are the user's.
    pub given: usize,
}

impl Suspended {
    /// A purpose of the specification as one of this.
    pub fn purpose(&self, mut purpose: TestPurpose) -> TestPurpose {
        let TestPurpose { iosts, .. } = &mut purpose;
        for transition in &mut iosts.transitions {
            transition.action = match iosts.actions[transition.action].kind {
                ActionKind::Quiescence => self.quiescence,
                _ => moved(transition.action, self.quiescence),
            };
        }
        purpose.iosts.actions = self.iosts.actions.clone();
        purpose
    }
}

/// The number of an action when there is one more.
fn moved(action: ActionId, new: ActionId) -> ActionId {
    if action < new { action } else { ActionId(action.0 + 1) }
}

/// Adds quiescence.
///
/// # Errors
/// [`Stop`]: when an output is possible cannot be said without quantifiers, or not shortly enough.
pub fn suspend(specification: &Iosts, limits: &Limits, solver: &mut dyn Solver) -> Result<Suspended, Stop> {
    budget::doing("saying when the specification is quiescent");
    let mut iosts = specification.clone();
    // Where the reader would put it: behind inputs and outputs.
    let visible = iosts.actions.iter().filter(|action| action.is_visible()).count();
    let quiescence = ActionId::of(visible);
    let mut names = UsedNames::of(iosts.actions.iter().map(|action| action.name.as_str()));
    let delta = Action { name: names.unique(DELTA), kind: ActionKind::Quiescence, parameters: Vec::new() };
    let (before, behind) = specification.actions.split_at(visible);
    iosts.actions = before.iter().cloned().chain([delta]).chain(behind.iter().cloned()).collect();
    for transition in &mut iosts.transitions {
        transition.action = moved(transition.action, quiescence);
    }
    let given = iosts.transitions.len();
    let mut parts: Numbered<_, Vec<Term>> = iosts.locations.map(|_| Vec::new());
    for transition in &iosts.transitions {
        budget::ask();
        let action = iosts.action(transition.action);
        match action.kind {
            ActionKind::Input | ActionKind::Quiescence => {}
            ActionKind::Internal => parts[transition.source].push(enabling_condition(transition).not()),
            ActionKind::Output => {
                let possible = possible(&iosts, transition, action, solver)?;
                parts[transition.source].push(possible.not());
            }
        }
    }
    for (source, parts) in parts.numbered() {
        budget::ask();
        let guard = Term::and(parts.clone());
        if guard.is_false() || !(guard.is_true() || may_hold(solver, &guard.conjuncts())) {
            continue;
        }
        let guard = simplify_guard(&guard, &[], solver);
        let size = guard.written_size();
        if size > limits.of(Quantity::Nodes) {
            return Err(Stop::Quiescence {
                shown: Box::new(ShownTransition { text: iosts.location(source).label.clone(), origin: None }),
                why: format!(
                    "when {} is quiescent takes an expression of {size} parts",
                    iosts.location(source).label
                ),
            });
        }
        iosts.transitions.push(Transition {
            source,
            action: quiescence,
            guard,
            assignments: Substitution::new(),
            target: source,
            origin: TransitionOrigin::default(),
        });
    }
    Ok(Suspended { iosts, quiescence, given })
}

/// The condition on the state alone under which the transition can be taken with some values.
fn possible(
    iosts: &Iosts,
    transition: &Transition,
    action: &Action,
    solver: &mut dyn Solver,
) -> Result<Term, Stop> {
    let mut condition = enabling_condition(transition);
    for parameter in &action.parameters {
        condition = match eliminated(&condition, parameter, solver) {
            Some(without) => without,
            None => {
                let why = format!(
                    "for which states some `{}` satisfies the guard is not found without quantifiers",
                    parameter.name()
                );
                return Err(Stop::Quiescence {
                    shown: Box::new(ShownTransition::transition(iosts, transition)),
                    why,
                });
            }
        };
    }
    Ok(condition)
}

/// The condition that some value of the datum makes this one true; `None` where it is not found.
pub(crate) fn eliminated(condition: &Term, datum: &Datum, solver: &mut dyn Solver) -> Option<Term> {
    if !condition.mentions(datum) {
        return Some(condition.clone());
    }
    let mut at: Vec<Term> = Vec::new();
    for point in points(condition, datum) {
        budget::ask();
        let put = Substitution::from([(datum.clone(), point.clone())]);
        let here = Term::and([defined(&point), in_type(&point, datum.ty()), substitute(condition, &put)]);
        // One point that always does is the shortest answer.
        if must_hold(solver, std::slice::from_ref(condition), &here) {
            return Some(here);
        }
        if !here.is_false() && !at.contains(&here) {
            at.push(here);
        }
    }
    let suffices = |parts: &[Term], solver: &mut dyn Solver| {
        must_hold(solver, std::slice::from_ref(condition), &Term::or(parts.to_vec()))
    };
    let mut is_enough = suffices(&at, solver);
    if !is_enough && let Type::Record(record) = datum.ty() {
        return by_fields(condition, datum, record, solver);
    }
    // What the solver knows where the condition names nothing: a word of a regular expression.
    for _ in 0..MOST_WITNESSES {
        let left = [condition.clone(), Term::or(at.clone()).not()];
        if !is_enough
            && let Witness::Found(witness) = solver.witness(&left)
            && let Some(value) = witness.get(datum)
        {
            at.push(substitute(condition, &[(datum.clone(), Term::literal(value.clone()))].into()));
            is_enough = suffices(&at, solver);
        }
    }
    if !is_enough {
        return None;
    }
    // Without those that are not needed.
    let mut number = 0;
    while number < at.len() {
        let mut fewer = at.clone();
        fewer.remove(number);
        if suffices(&fewer, solver) {
            at = fewer;
        } else {
            number += 1;
        }
    }
    Some(Term::or(at))
}

/// The same of a record, field by field: for each length of a list, or alternative of a variant, of those
/// that count then.
fn by_fields(
    condition: &Term,
    datum: &Datum,
    record: &Arc<RecordType>,
    solver: &mut dyn Solver,
) -> Option<Term> {
    let field = |(name, ty): &(String, Type)| Datum::new(format!("{}#{name}", datum.name()), ty.clone());
    let fields: Vec<Datum> = record.fields.iter().map(field).collect();
    let of = |first: Value| {
        let count = (1..fields.len()).filter(|at| record.counts(&first, *at));
        record.made_of(first.clone(), count.map(|at| Term::datum(&fields[at])))
    };
    let wholes: Vec<Term> = match record.form {
        RecordForm::Plain | RecordForm::Keyed(_) => {
            vec![Term::record(record, fields.iter().map(Term::datum))]
        }
        RecordForm::List => (0..fields.len()).map(|length| of(Value::int(length))).collect(),
        RecordForm::Option | RecordForm::Variant(_) => {
            (0..record.alternatives().len()).map(|number| of(record.tag(number))).collect()
        }
    };
    let mut parts = Vec::new();
    for whole in wholes {
        let put = Substitution::from([(datum.clone(), whole.clone())]);
        let condition = Term::and([in_type(&whole, datum.ty()), substitute(condition, &put)]);
        parts.push(fields.iter().try_fold(condition, |left, field| eliminated(&left, field, solver))?);
    }
    Some(Term::or(parts))
}

/// Values worth trying: all of a small type; else what the datum is compared with, and its neighbours, the
/// ends of its type, and a few numbers.
fn points(condition: &Term, datum: &Datum) -> Vec<Term> {
    let all = |values: Vec<Value>| values.into_iter().map(Term::literal).collect();
    match datum.ty() {
        Type::Bool => return all(vec![Value::Bool(false), Value::Bool(true)]),
        Type::Enum(enumeration) => {
            let literals = 0..enumeration.literals.len();
            return all(literals.map(|at| Value::Enum(enumeration.clone(), at)).collect());
        }
        _ => {}
    }
    let mut compared = Vec::new();
    find_compared(condition, datum, &mut BTreeSet::new(), &mut compared);
    let mut found = compared.clone();
    match datum.ty() {
        Type::Int | Type::Nat | Type::Range(..) => {
            for point in &compared {
                found.extend([Term::add(point, &Term::int(1)), Term::subtract(point, &Term::int(1))]);
            }
            if let Type::Range(low, high) = datum.ty() {
                let is_small = i64::try_from(&(high.clone() - low)).is_ok_and(|width| width < MOST_VALUES);
                let mut value = low.clone();
                while is_small && value <= *high {
                    found.push(Term::int(value.clone()));
                    value += 1;
                }
                found.extend([Term::int(low.clone()), Term::int(high.clone())]);
            }
            found.extend([0, 1, -1].map(Term::int));
        }
        Type::Real => {
            let one = Term::int(1).to_real();
            for (number, point) in compared.iter().enumerate() {
                found.extend([Term::add(point, &one), Term::subtract(point, &one)]);
                let half = |other: &Term| {
                    let two = Term::int(2).to_real();
                    Term::arithmetic(Operator::Divide, &Term::add(point, other), &two)
                };
                found.extend(compared.iter().skip(number + 1).map(half));
            }
            found.push(Term::int(0).to_real());
        }
        Type::String => {
            let longer = |point: &Term| {
                let letter = Term::literal(Value::string("a"));
                Term::on_strings(StringOperation::Concatenate, &[point.clone(), letter])
            };
            found.extend(compared.iter().map(longer));
            found.push(Term::literal(Value::string("")));
        }
        // One of so many is none of those that it is compared with.
        Type::Id(name) => {
            let ids = (0..=compared.len()).map(|number| Value::id(name, &format!("id{number}")));
            found.extend(ids.map(Term::literal));
        }
        other => found.push(Term::literal(Value::any(other))),
    }
    let mut seen = BTreeSet::new();
    found.retain(|point| seen.insert(point.to_string()));
    found
}

/// The terms with which the datum is compared, solved for it.
fn find_compared(term: &Term, datum: &Datum, seen: &mut BTreeSet<String>, found: &mut Vec<Term>) {
    // A walk over the shared parts: each once.
    let mut visited = std::collections::HashSet::new();
    let mut work = vec![term.clone()];
    while let Some(term) = work.pop() {
        if !visited.insert(term.clone()) || !term.mentions(datum) {
            continue;
        }
        if let Node::Compare(_, one, other) = term.node() {
            let solved = match (one.as_datum() == Some(datum), other.as_datum() == Some(datum)) {
                (true, false) if !other.mentions(datum) => Some(other.clone()),
                (false, true) if !one.mentions(datum) => Some(one.clone()),
                _ => solved(one, other, datum),
            };
            let point = solved.filter(|point| *point.sort() == datum.ty().sort());
            if let Some(point) = point.filter(|point| seen.insert(point.to_string())) {
                found.push(point);
            }
        }
        // What a record is compared with, its fields are.
        if let Node::Compare(_, one, other) = term.node() {
            for (record, other) in [(one, other), (other, one)] {
                if let Node::Record(_, fields) = record.node() {
                    work.extend(
                        fields.iter().enumerate().map(|(at, field)| {
                            Term::compare(Comparison::Equal, field, &Term::field(other, at))
                        }),
                    );
                }
            }
        }
        // What it begins with, ends with or contains is such a string itself.
        if let Node::OnStrings(operation, arguments) = term.node()
            && *operation != StringOperation::Matches
            && let [one, other] = arguments.as_slice()
            && one.as_datum() == Some(datum)
            && *other.sort() == Type::String
            && !other.mentions(datum)
            && seen.insert(other.to_string())
        {
            found.push(other.clone());
        }
        work.extend(term.children().into_iter().cloned());
    }
}

/// `one == other`, solved for the datum, where it stands in it once or with a coefficient of 1 or -1.
fn solved(one: &Term, other: &Term, datum: &Datum) -> Option<Term> {
    let ((a, r), (b, s)) = (linear(one, datum)?, linear(other, datum)?);
    // a p + r == b p + s
    match a - b {
        1 => Some(difference(s, r, datum)),
        -1 => Some(difference(r, s, datum)),
        _ => None,
    }
}

fn zero(datum: &Datum) -> Term {
    if *datum.ty() == Type::Real { Term::int(0).to_real() } else { Term::int(0) }
}

fn difference(one: Option<Term>, other: Option<Term>, datum: &Datum) -> Term {
    match (one, other) {
        (Some(one), Some(other)) => Term::subtract(&one, &other),
        (Some(one), None) => one,
        (None, Some(other)) => other.negate(),
        (None, None) => zero(datum),
    }
}

/// A term as a multiple of the datum, and the rest, where there is one.
fn linear(term: &Term, datum: &Datum) -> Option<(i64, Option<Term>)> {
    if term.as_datum() == Some(datum) {
        return Some((1, None));
    }
    if !term.mentions(datum) {
        return Some((0, Some(term.clone())));
    }
    let both = |one: &Term, other: &Term| Some((linear(one, datum)?, linear(other, datum)?));
    match term.node() {
        Node::Arithmetic(Operator::Add, one, other) => {
            let ((a, r), (b, s)) = both(one, other)?;
            let rest = match (r, s) {
                (Some(r), Some(s)) => Some(Term::add(&r, &s)),
                (r, s) => r.or(s),
            };
            Some((a + b, rest))
        }
        Node::Arithmetic(Operator::Subtract, one, other) => {
            let ((a, r), (b, s)) = both(one, other)?;
            let rest = if s.is_none() { r } else { Some(difference(r, s, datum)) };
            Some((a - b, rest))
        }
        Node::Negate(inner) => {
            let (a, r) = linear(inner, datum)?;
            Some((-a, r.map(|rest| rest.negate())))
        }
        _ => None,
    }
}
