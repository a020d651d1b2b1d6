//! The operators of mutation: ways in which an implementation can be wrong in one place.
//!
//! An operator says *how* a mutant differs. It does not say whether the difference shows, for many mutants
//! conform. Each names the place of its change. The change itself is shown by [`super::list_edits`].

use std::sync::Arc;

use crate::limits::MOST_LISTED;
use coreach_model::iosts::{Action, ActionKind, Iosts, Transition};
use coreach_model::random::Random;
use coreach_model::term::node::{Comparison, Node, StringOperation};
use coreach_model::term::operation::{DerivedOperation, QuantifiedOperation};
use coreach_model::term::{Substitution, Term, TermShape, substitute};
use coreach_model::types::RecordForm;
use coreach_model::{ActionId, Datum, Number, Numbered, TransitionId, Type, Value};

coreach_model::words! {
    /// How a mutant differs from its specification.
    pub enum MutationOperator {
        /// A conjunct of a guard is dropped.
        GuardWeakened = "guard weakened",
        /// A guard gets another conjunct.
        GuardStrengthened = "guard strengthened",
        GuardNegated = "guard negated",
        /// A number in a guard is one more or less.
        GuardOffByOne = "guard off by one",
        ComparisonChanged = "comparison changed",
        /// A message has the next value.
        OutputValue = "output value changed",
        /// A transition has another action of the same direction and signature.
        ActionChanged = "action changed",
        /// A transition leads to another location.
        TargetChanged = "target changed",
        TransitionRemoved = "transition removed",
        /// An unguarded transition of some action is added.
        TransitionAdded = "transition added",
        /// A copy of a transition, which leads elsewhere, is added.
        TransitionDuplicated = "transition duplicated",
        /// A variable keeps its value.
        AssignmentDropped = "assignment dropped",
        /// Two variables get each other's value.
        AssignmentSwapped = "assignments swapped",
        /// An assigned number is one more.
        AssignmentOffByOne = "assignment off by one",
        /// A silent step between two locations is added.
        InternalStepAdded = "internal step added",
        /// A variable starts with another value.
        InitialValueChanged = "initial value changed",
        /// A message never has one of the values of its parameter.
        ParameterDomain = "parameter domain narrowed",
        /// A transition gets an assignment of another one.
        EffectCopied = "effect copied",
    }
}

#[derive(Clone, Debug)]
pub struct Mutant {
    pub operator: MutationOperator,
    /// Where it differs: the transition in words, or for changes elsewhere the change.
    pub change: String,
    /// The specification's transition that was changed, if one was.
    pub transition: Option<TransitionId>,
    pub iosts: Iosts,
}

/// Changes a specification at a random place. `None`: the operator does not fit there, or changes nothing.
pub fn mutate(random: &mut Random, specification: &Iosts, operator: MutationOperator) -> Option<Mutant> {
    let mut iosts = specification.clone();
    let (transition, change) = apply_operator(random, &mut iosts, operator)?;
    let same = iosts.transitions == specification.transitions
        && iosts.initial_condition == specification.initial_condition;
    (!same).then_some(Mutant { operator, change, transition, iosts })
}

/// Changes `iosts` at a random place. Returns the changed transition and its description. For a change
/// elsewhere: no transition, and the change in words. `None`: the operator does not fit there.
fn apply_operator(
    random: &mut Random,
    iosts: &mut Iosts,
    operator: MutationOperator,
) -> Option<(Option<TransitionId>, String)> {
    use MutationOperator as O;
    match operator {
        O::TransitionAdded => {
            let action = random.number_in(&iosts.actions);
            return Some((None, add_transition(random, iosts, action)));
        }
        O::InternalStepAdded => return Some((None, add_internal_step(random, iosts))),
        O::InitialValueChanged => return Some((None, change_initial_value(random, iosts)?)),
        O::ParameterDomain => return Some((None, narrow_parameter(random, iosts)?)),
        _ => {}
    }
    let at = TransitionId::of(random.below(iosts.transitions.len().max(1)));
    let location = random.number_in(&iosts.locations);
    let original = iosts.transitions.find(at)?.clone();
    let place = iosts.describe(&original);
    let actions = iosts.actions.clone();
    let other = random.pick(&iosts.transitions).cloned()?;
    let transition = &mut iosts.transitions[at];
    match operator {
        O::GuardWeakened => {
            let mut parts = original.guard.conjuncts();
            let dropped = random.below(parts.len());
            (!parts.is_empty()).then(|| parts.remove(dropped))?;
            transition.guard = Term::and(parts);
        }
        O::GuardStrengthened => {
            let others = other.guard.conjuncts();
            let known = |term: &&Term| may_mention(term, &original, &actions);
            let extra = others.iter().find(known)?.clone();
            let extra = if random.chance(50) { extra.not() } else { extra };
            transition.guard = Term::and([original.guard.clone(), extra]);
        }
        O::GuardNegated => transition.guard = original.guard.not(),
        O::GuardOffByOne => transition.guard = shift_number(random, &original.guard)?,
        O::ComparisonChanged => transition.guard = change_comparison(random, &original.guard)?,
        O::OutputValue => {
            let action = &actions[original.action];
            if action.kind != ActionKind::Output {
                return None;
            }
            let parameter = random.pick(&action.parameters)?;
            let shifted = shift_value(random, &Term::datum(parameter), parameter.ty())?;
            let renaming = Substitution::from([(parameter.clone(), shifted)]);
            transition.guard = substitute(&original.guard, &renaming);
        }
        O::ActionChanged => {
            let old = &actions[original.action];
            let fits = |new: &Action| {
                let types =
                    |action: &Action| action.parameters.iter().map(|p| p.ty().clone()).collect::<Vec<_>>();
                new.name != old.name && new.kind == old.kind && types(new) == types(old)
            };
            let fitting: Vec<ActionId> = actions.numbers().filter(|at| fits(&actions[*at])).collect();
            let new = *random.pick(&fitting)?;
            let names = old.parameters.iter().cloned().zip(actions[new].parameters.iter().map(Term::datum));
            let renaming: Substitution = names.collect();
            transition.action = new;
            transition.guard = substitute(&original.guard, &renaming);
            for value in transition.assignments.values_mut() {
                *value = substitute(value, &renaming);
            }
        }
        O::TargetChanged => transition.target = location,
        O::TransitionRemoved => {
            iosts.transitions.remove(at);
        }
        O::TransitionDuplicated => {
            let mut copy = original.clone();
            copy.target = location;
            if random.chance(50) {
                copy.assignments.clear();
            }
            iosts.transitions.push(copy);
        }
        O::AssignmentDropped => {
            let variables: Vec<_> = original.assignments.keys().cloned().collect();
            transition.assignments.remove(random.pick(&variables)?);
        }
        O::AssignmentSwapped => {
            let pairs: Vec<_> = original.assignments.iter().collect();
            let (first, a) = random.pick(&pairs)?;
            let swapped = iosts.variables.iter().filter(|v| v != first && v.ty() == first.ty());
            let swapped: Vec<_> = swapped.collect();
            let second = *random.pick(&swapped)?;
            let b = original.assignments.get(second).cloned().unwrap_or_else(|| Term::datum(second));
            transition.assignments.insert((*first).clone(), b);
            transition.assignments.insert(second.clone(), (*a).clone());
        }
        O::AssignmentOffByOne => {
            let numbers: Vec<_> = original.assignments.iter().filter(|(v, _)| v.ty().is_integer()).collect();
            let (variable, value) = random.pick(&numbers)?;
            transition.assignments.insert((*variable).clone(), Term::add(value, &Term::int(1)));
        }
        O::EffectCopied => {
            let is_known = |(_, value): &(&Datum, &Term)| may_mention(value, &original, &actions);
            let effects: Vec<_> = other.assignments.iter().filter(is_known).collect();
            let (variable, value) = random.pick(&effects)?;
            transition.assignments.insert((*variable).clone(), (*value).clone());
        }
        O::TransitionAdded | O::InternalStepAdded | O::InitialValueChanged | O::ParameterDomain => {
            return None;
        }
    }
    Some((Some(at), place))
}

/// Makes the value after the parameter's, cyclically in a finite type. In a guard it replaces the parameter:
/// the message then has the value before the right one. In an array or a record one part is shifted.
fn shift_value(random: &mut Random, term: &Term, ty: &Type) -> Option<Term> {
    match ty {
        Type::Array(array) => {
            let index = Term::literal(random.pick(&some_values(&array.index)?)?.clone());
            let cell = next_value(&Term::select(term, &index), &array.element)?;
            Some(Term::store(term, &index, &cell))
        }
        // Entries are sorted by their keys, so another key may change its place.
        Type::Record(record) if matches!(record.form, RecordForm::Entries(..)) => None,
        Type::Record(record) => {
            let which = random.below(record.fields.len());
            let new = shift_value(random, &Term::field(term, which), &record.fields[which].1)?;
            let field = |at| if at == which { new.clone() } else { Term::field(term, at) };
            Some(Term::record(record, (0..record.fields.len()).map(field)))
        }
        ty => next_value(term, ty),
    }
}

/// Makes the value after that of a term, which is no array and no record. `None` if the type has no other.
fn next_value(term: &Term, ty: &Type) -> Option<Term> {
    if matches!(ty, Type::Array(_) | Type::Record(_)) {
        return None;
    }
    if let Type::Id(name) = ty {
        let [one, other] = ["id1", "id2"].map(|text| Term::literal(Value::id(name, text)));
        return Some(Term::if_then_else(&Term::equal(term, &one), &other, &one));
    }
    let Some(values) = Value::enumerate(ty, MOST_LISTED) else {
        return ty.is_integer().then(|| Term::add(term, &Term::int(1)));
    };
    let mut shifted = Term::literal(values.first()?.clone());
    for pair in values.windows(2) {
        let is = Term::equal(term, &Term::literal(pair[0].clone()));
        shifted = Term::if_then_else(&is, &Term::literal(pair[1].clone()), &shifted);
    }
    Some(shifted)
}

/// Lists some values of a type. `None` if they are too many, and no integers, strings or ids.
fn some_values(ty: &Type) -> Option<Vec<Value>> {
    let small = || ty.is_integer().then(|| (0..4).map(Value::int).filter(|value| value.is_in(ty)).collect());
    let strings = || (*ty == Type::String).then(|| ["", "a"].map(Value::string).to_vec());
    let ids = || match ty {
        Type::Id(name) => Some(vec![Value::id(name, "id0"), Value::id(name, "id1")]),
        _ => None,
    };
    Value::enumerate(ty, MOST_LISTED).or_else(small).or_else(strings).or_else(ids)
}

/// May the transition mention all data of the term? A parameter belongs to the transitions of its own action.
fn may_mention(term: &Term, transition: &Transition, actions: &Numbered<ActionId, Action>) -> bool {
    let own = &actions[transition.action].parameters;
    let foreign = |datum: &Datum| {
        actions.iter().any(|action| action.parameters.contains(datum)) && !own.contains(datum)
    };
    !term.data().iter().any(foreign)
}

/// Adds an unguarded transition of this action between two random locations.
fn add_transition(random: &mut Random, iosts: &mut Iosts, action: ActionId) -> String {
    let [source, target] = [(); 2].map(|()| random.number_in(&iosts.locations));
    let transition = Transition::unguarded(source, action, target);
    let described = iosts.describe(&transition);
    iosts.transitions.push(transition);
    described
}

fn add_internal_step(random: &mut Random, iosts: &mut Iosts) -> String {
    // The name must be new: a model with two actions of one name cannot be read back.
    let names = (0..).map(|number| match number {
        0 => "mutation".to_owned(),
        number => format!("mutation_{number}"),
    });
    let is_free = |name: &String| iosts.actions.iter().all(|action| action.name != *name);
    let name = names.into_iter().find(is_free).unwrap_or_default();
    let action = iosts.actions.push(Action { name, kind: ActionKind::Internal, parameters: Vec::new() });
    add_transition(random, iosts, action)
}

fn change_initial_value(random: &mut Random, iosts: &mut Iosts) -> Option<String> {
    let variable = random.pick(&iosts.variables)?.clone();
    let value = random.pick(&some_values(variable.ty())?)?.clone();
    let kept = iosts.initial_condition.conjuncts().into_iter().filter(|part| !part.mentions(&variable));
    let is = Term::equal(&Term::datum(&variable), &Term::literal(value.clone()));
    iosts.initial_condition = Term::and(kept.chain([is]).collect::<Vec<_>>());
    Some(format!("{variable} starts with {value}"))
}

/// Excludes a value of an output's parameter in all guards of the output.
fn narrow_parameter(random: &mut Random, iosts: &mut Iosts) -> Option<String> {
    let outputs: Vec<ActionId> =
        iosts.action_ids().filter(|id| iosts.action(*id).kind == ActionKind::Output).collect();
    let action = *random.pick(&outputs)?;
    let parameter = random.pick(&iosts.action(action).parameters)?.clone();
    let never = random.pick(&some_values(parameter.ty())?)?.clone();
    let differs = Term::equal(&Term::datum(&parameter), &Term::literal(never.clone())).not();
    for transition in iosts.transitions.iter_mut().filter(|t| t.action == action) {
        transition.guard = Term::and([transition.guard.clone(), differs.clone()]);
    }
    Some(format!("{parameter} of {} is never {never}", iosts.action(action).name))
}

/// Rewrites a part of a guard, drawn by lot: a conjunct, or an alternative in one. `None`: `rewrite` does not
/// fit it.
fn rewrite_part(
    random: &mut Random,
    guard: &Term,
    rewrite: impl Fn(&mut Random, &Term) -> Option<Term>,
) -> Option<Term> {
    let mut parts = guard.conjuncts();
    let at = random.below(parts.len());
    let part = parts.get(at)?.clone();
    let new = match part.written() {
        // A call is replaced by its body, with a mistake in it.
        None => match part.unfolded() {
            Some(body) => rewrite_part(random, &body, rewrite)?,
            None => rewrite(random, &part)?,
        },
        Some(Node::Or(alternatives)) => {
            let mut alternatives = alternatives.clone();
            let which = random.below(alternatives.len());
            alternatives[which] = rewrite(random, &alternatives[which])?;
            part.with_disjuncts(alternatives)
        }
        Some(Node::Compare(comparison, a, b)) if is_comprehension(b) && random.chance(50) => {
            Term::compare(*comparison, a, &rewrite_condition(random, b, &rewrite)?)
        }
        _ => rewrite(random, &part)?,
    };
    parts[at] = new;
    Some(Term::and(parts))
}

fn is_comprehension(term: &Term) -> bool {
    matches!(term.shape(), TermShape::Operation(DerivedOperation::Quantified(of), _) if of.collected.is_some())
}

/// Rewrites the condition of a comprehension. `None` if the term is none, or has no condition.
fn rewrite_condition(
    random: &mut Random,
    term: &Term,
    rewrite: &dyn Fn(&mut Random, &Term) -> Option<Term>,
) -> Option<Term> {
    let TermShape::Operation(DerivedOperation::Quantified(kept), arguments) = term.shape() else {
        return None;
    };
    if kept.body.is_true() {
        return None;
    }
    let body = rewrite_part(random, &kept.body, rewrite)?;
    let rewritten = QuantifiedOperation { body, ..QuantifiedOperation::clone(kept) };
    Some(Term::apply(DerivedOperation::Quantified(Arc::new(rewritten)), arguments.clone()))
}

/// Moves a number of a guard by one, or changes a string that the guard compares with.
fn shift_number(random: &mut Random, guard: &Term) -> Option<Term> {
    rewrite_part(random, guard, |random, atom| match atom.written() {
        Some(Node::Compare(comparison, a, b)) if *a.sort() == Type::Int => {
            let one = Term::int(if random.chance(50) { 1 } else { -1 });
            Some(Term::compare(*comparison, a, &Term::add(b, &one)))
        }
        Some(Node::Compare(comparison, a, b)) if *a.sort() == Type::String => {
            let letter = Term::literal(Value::string("a"));
            let longer = Term::on_strings(StringOperation::Concatenate, &[b.clone(), letter]);
            let other = if random.chance(50) { longer } else { Term::literal(Value::string("")) };
            Some(Term::compare(*comparison, a, &other))
        }
        _ => None,
    })
}

/// Replaces a comparison of a guard by another one, drawn by lot. `None` if the same one is drawn.
fn change_comparison(random: &mut Random, guard: &Term) -> Option<Term> {
    rewrite_part(random, guard, |random, atom| match atom.written() {
        Some(Node::Compare(comparison, a, b)) => {
            let all = [
                Comparison::Equal,
                Comparison::NotEqual,
                Comparison::Less,
                Comparison::AtMost,
                Comparison::Greater,
                Comparison::AtLeast,
            ];
            let choices = if a.sort().is_number() { &all[..] } else { &all[..2] };
            let new = *random.pick(choices)?;
            (new != *comparison).then(|| Term::compare(new, a, b))
        }
        _ => None,
    })
}
