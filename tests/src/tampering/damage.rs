//! The operators: each damages an artifact in one place.

use coreach_model::iosts::{Iosts, LocationId, Transition};
use coreach_model::term::node::{Comparison, Node, Operator as ArithmeticOperator};
use coreach_model::{ActionId, Datum, Term, Type, Value, Verdict};
use coreach_pipeline::Stage;
use coreach_pipeline::artifact::GraphOrigin;

use crate::generator::random::Random;
use crate::properties::artifacts::Artifacts;

macro_rules! operators {
    ($($variant:ident = $name:literal;)*) => {
        /// A way to damage an artifact.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Operator { $(#[doc = $name] $variant),* }

        impl Operator {
            /// All of them.
            pub const ALL: &[Operator] = &[$(Operator::$variant),*];

            /// What it does.
            pub fn name(self) -> &'static str {
                match self { $(Operator::$variant => $name),* }
            }
        }
    };
}

operators! {
    GuardTrue = "guard: true";
    GuardFalse = "guard: false";
    GuardNegated = "guard: negated";
    GuardConjunctDropped = "guard: conjunct dropped";
    GuardConjunctNegated = "guard: conjunct negated";
    GuardBoundMoved = "guard: bound moved by one";
    GuardStrengthened = "guard: strengthened";
    GuardWeakened = "guard: weakened";
    GuardOfAnother = "guard: another transition's";
    GuardPartial = "guard: without a value somewhere";
    EffectDropped = "effect: assignment dropped";
    EffectAllDropped = "effect: all dropped";
    EffectConstant = "effect: constant";
    EffectMoved = "effect: value moved by one";
    EffectSwapped = "effect: two values swapped";
    EffectAdded = "effect: assignment added";
    EffectOutside = "effect: value outside its type";
    EffectPartial = "effect: without a value somewhere";
    TargetChanged = "target: changed";
    TargetSource = "target: the source";
    SourceChanged = "source: changed";
    ActionChanged = "action: changed";
    TransitionLost = "transition: lost";
    TransitionDoubled = "transition: doubled";
    TransitionCopied = "transition: copied to another target";
    TransitionsMerged = "transition: two merged";
    InitialDropped = "initial condition: true";
    InitialConjunctDropped = "initial condition: conjunct dropped";
    InitialConjunctNegated = "initial condition: conjunct negated";
    InitialFalse = "initial condition: false";
    InitialLocation = "initial location: changed";
    Accepting = "accepting: another mark";
    VerdictTarget = "verdict: another verdict entered";
    VerdictLabel = "verdict: relabelled";
    ReachFalse = "reach: false";
    ReachStrengthened = "reach: strengthened";
    ReachTrue = "reach: true";
    CoreachFalse = "coreach: false";
    CoreachTrue = "coreach: true";
    AllowedLost = "allowed: lost";
    AllowedTrue = "allowed: true";
    OthersFlipped = "the others: said or not";
    MustAnswerFlipped = "must answer: said or not";
    ProvenanceLocation = "provenance: of a location";
    ProvenanceTransition = "provenance: of a transition";
    ProvenancePending = "provenance: pending effects";
    EndsFlipped = "ends: another mark";
    LiveDropped = "live: a variable dropped";
}

/// Damages the stage's artifact; `None` where the operator does not apply, or does nothing.
pub fn damage(operator: Operator, stage: Stage, made: &mut Artifacts, random: &mut Random) -> Option<()> {
    graph_damage(operator, graph_of(stage, made)?, random)
        .or_else(|| special_damage(operator, stage, made, random))
}

/// The graph of the stage's artifact.
pub fn graph_of(stage: Stage, made: &mut Artifacts) -> Option<&mut Iosts> {
    Some(match stage {
        Stage::Complete => &mut made.complete.as_mut()?.purpose.iosts,
        Stage::Product => &mut made.product.as_mut()?.iosts,
        Stage::Close => &mut made.closed.as_mut()?.iosts,
        Stage::Determinize => &mut made.visible.as_mut()?.iosts,
        Stage::Select => &mut made.graph.as_mut()?.iosts,
        Stage::InputComplete => &mut made.case.as_mut()?.iosts,
    })
}

fn pick<T>(random: &mut Random, among: Vec<T>) -> Option<T> {
    let mut among = among;
    if among.is_empty() { None } else { Some(among.swap_remove(random.below(among.len()))) }
}

fn changed<T: PartialEq>(place: &mut T, value: T) -> Option<()> {
    (*place != value).then(|| *place = value)
}

/// What can be done to any graph.
fn graph_damage(operator: Operator, iosts: &mut Iosts, random: &mut Random) -> Option<()> {
    use Operator as O;
    let count = iosts.transitions.len();
    let locations: Vec<LocationId> = iosts.location_ids().collect();
    match operator {
        O::InitialDropped => return changed(&mut iosts.initial_condition, Term::yes()),
        O::InitialFalse => return changed(&mut iosts.initial_condition, Term::no()),
        O::InitialConjunctDropped | O::InitialConjunctNegated => {
            let parts = iosts.initial_condition.conjuncts();
            let at = random.below(parts.len().max(1));
            parts.get(at)?;
            return changed(
                &mut iosts.initial_condition,
                without(&parts, at, operator == O::InitialConjunctNegated),
            );
        }
        O::InitialLocation => {
            let other = pick(random, locations.into_iter().filter(|l| *l != iosts.initial).collect())?;
            return changed(&mut iosts.initial, other);
        }
        O::TransitionLost if count > 0 => {
            let lost = random.number_in(&iosts.transitions);
            iosts.transitions.remove(lost);
            return Some(());
        }
        _ if count == 0 => return None,
        _ => {}
    }
    let at = random.number_in(&iosts.transitions);
    let variables = iosts.variables.clone();
    let parameters = iosts.action(iosts.transitions[at].action).parameters.clone();
    let another = iosts.transitions[random.number_in(&iosts.transitions)].clone();
    let of_kind: Vec<ActionId> = {
        let mine = iosts.action(iosts.transitions[at].action);
        let other =
            |id: &ActionId| *id != iosts.transitions[at].action && iosts.action(*id).kind == mine.kind;
        iosts.action_ids().filter(other).collect()
    };
    let t = &mut iosts.transitions[at];
    match operator {
        O::GuardTrue => changed(&mut t.guard, Term::yes()),
        O::GuardFalse => changed(&mut t.guard, Term::no()),
        O::GuardNegated => {
            let value = t.guard.not();
            changed(&mut t.guard, value)
        }
        O::GuardConjunctDropped | O::GuardConjunctNegated => {
            let parts = t.guard.conjuncts();
            let at = random.below(parts.len().max(1));
            parts.get(at)?;
            changed(&mut t.guard, without(&parts, at, operator == O::GuardConjunctNegated))
        }
        O::GuardBoundMoved => {
            let parts = t.guard.conjuncts();
            let at = random.below(parts.len().max(1));
            let moved = moved(parts.get(at)?)?;
            let others = parts
                .iter()
                .enumerate()
                .map(|(other, part)| if other == at { moved.clone() } else { part.clone() });
            changed(&mut t.guard, Term::and(others.collect::<Vec<_>>()))
        }
        O::GuardStrengthened => {
            let part = some_condition(random, variables.into_iter().chain(parameters).collect())?;
            let value = Term::and([t.guard.clone(), part]);
            changed(&mut t.guard, value)
        }
        O::GuardWeakened => {
            let part = some_condition(random, variables.into_iter().chain(parameters).collect())?;
            let value = Term::or([t.guard.clone(), part]);
            changed(&mut t.guard, value)
        }
        O::GuardPartial => {
            let part = partial(random, variables.into_iter().chain(parameters).collect())?;
            let value = Term::and([part, t.guard.clone()]);
            changed(&mut t.guard, value)
        }
        O::GuardOfAnother => (another.action == t.action).then(|| changed(&mut t.guard, another.guard))?,
        O::EffectDropped => {
            let variable = pick(random, t.assignments.keys().cloned().collect())?;
            t.assignments.remove(&variable).map(|_| ())
        }
        O::EffectAllDropped => changed(&mut t.assignments, Default::default()),
        O::EffectConstant => {
            let variable = pick(random, t.assignments.keys().cloned().collect())?;
            let value = Term::literal(Value::any(variable.ty()));
            changed(t.assignments.get_mut(&variable)?, value)
        }
        O::EffectMoved => {
            let variable = pick(random, t.assignments.keys().filter(|v| is_integer(v)).cloned().collect())?;
            let value = Term::add(t.assignments.get(&variable)?, &Term::int(1));
            changed(t.assignments.get_mut(&variable)?, value)
        }
        O::EffectSwapped => {
            let one = pick(random, t.assignments.keys().cloned().collect())?;
            let same = t.assignments.keys().filter(|v| **v != one && v.ty() == one.ty()).cloned().collect();
            let other = pick(random, same)?;
            let (a, b) = (t.assignments.get(&one)?.clone(), t.assignments.get(&other)?.clone());
            t.assignments.insert(one.clone(), b.clone());
            changed(t.assignments.get_mut(&other)?, a)
        }
        O::EffectAdded => {
            let variable =
                pick(random, variables.into_iter().filter(|v| !t.assignments.contains_key(v)).collect())?;
            let value = Term::literal(Value::any(variable.ty()));
            t.assignments.insert(variable, value);
            Some(())
        }
        O::EffectOutside => {
            let bounded = variables.iter().filter_map(|v| Some((v, outside(v.ty())?))).collect();
            let (variable, value) = pick(random, bounded)?;
            t.assignments.insert(variable.clone(), value);
            Some(())
        }
        O::EffectPartial => {
            let variable = pick(random, variables.clone())?;
            let part = partial(random, variables.into_iter().chain(parameters).collect())?;
            let value = t.assignments.get(&variable).cloned().unwrap_or_else(|| Term::datum(&variable));
            t.assignments.insert(variable, Term::if_then_else(&part, &value, &value));
            Some(())
        }
        O::TargetChanged => {
            let other = pick(random, locations.into_iter().filter(|l| *l != t.target).collect())?;
            changed(&mut t.target, other)
        }
        O::TargetSource => changed(&mut t.target, t.source),
        O::SourceChanged => {
            let other = pick(random, locations.into_iter().filter(|l| *l != t.source).collect())?;
            changed(&mut t.source, other)
        }
        O::ActionChanged => changed(&mut t.action, pick(random, of_kind)?),
        O::TransitionDoubled => {
            let copy = t.clone();
            iosts.transitions.push(copy);
            Some(())
        }
        O::TransitionCopied => {
            let target = pick(random, locations.into_iter().filter(|l| *l != t.target).collect())?;
            let copy = Transition { target, ..t.clone() };
            iosts.transitions.push(copy);
            Some(())
        }
        O::TransitionsMerged => {
            let mine = (t.source, t.action);
            let guard = t.guard.clone();
            let others = iosts.transitions.numbered();
            let others = others.filter(|(other, t)| *other != at && (t.source, t.action) == mine);
            let other = pick(random, others.map(|(other, _)| other).collect())?;
            let both = Term::or([guard, iosts.transitions[other].guard.clone()]);
            iosts.transitions[at].guard = both;
            iosts.transitions.remove(other);
            Some(())
        }
        _ => None,
    }
}

fn without(parts: &[Term], at: usize, negate: bool) -> Term {
    let all = parts.iter().enumerate();
    Term::and(
        all.filter_map(|(other, part)| match (other == at, negate) {
            (true, true) => Some(part.not()),
            (true, false) => None,
            (false, _) => Some(part.clone()),
        })
        .collect::<Vec<_>>(),
    )
}

fn is_integer(datum: &Datum) -> bool {
    matches!(datum.ty(), Type::Int | Type::Nat | Type::Range(..))
}

/// A value that no datum of the type has.
fn outside(ty: &Type) -> Option<Term> {
    match ty {
        Type::Nat => Some(Term::int(-1)),
        Type::Range(_, high) => Some(Term::add(&Term::int(high.clone()), &Term::int(1))),
        _ => None,
    }
}

/// A condition that holds or, where some datum is 0, has no value.
fn partial(random: &mut Random, data: Vec<Datum>) -> Option<Term> {
    let divisor = Term::datum(&pick(random, data.into_iter().filter(is_integer).collect())?);
    let quotient = Term::arithmetic(ArithmeticOperator::IntegerDivide, &Term::int(10), &divisor);
    Some(Term::compare(Comparison::Equal, &quotient, &quotient))
}

fn moved(part: &Term) -> Option<Term> {
    let Node::Compare(comparison, a, b) = part.node() else { return None };
    let is_number = |term: &Term| matches!(term.sort(), Type::Int | Type::Nat | Type::Range(..));
    is_number(b).then(|| Term::compare(*comparison, a, &Term::add(b, &Term::int(1))))
}

fn some_condition(random: &mut Random, data: Vec<Datum>) -> Option<Term> {
    let datum = pick(random, data.into_iter().filter(|d| is_integer(d) || *d.ty() == Type::Bool).collect())?;
    let term = Term::datum(&datum);
    Some(match datum.ty() {
        Type::Bool => term,
        Type::Range(low, _) => Term::compare(Comparison::Greater, &term, &Term::int(low.clone())),
        _ => Term::compare(Comparison::Greater, &term, &Term::int(0)),
    })
}

/// What only some artifacts have.
fn special_damage(operator: Operator, stage: Stage, made: &mut Artifacts, random: &mut Random) -> Option<()> {
    use Operator as O;
    fn flip(marks: &mut [bool], random: &mut Random) -> Option<()> {
        let at = random.below(marks.len().max(1));
        marks.get_mut(at).map(|mark| *mark = !*mark)
    }
    fn fact(facts: &mut [Term], random: &mut Random, value: Term) -> Option<()> {
        let at = random.below(facts.len().max(1));
        changed(facts.get_mut(at)?, value)
    }
    match stage {
        Stage::Complete => {
            let complete = made.complete.as_mut()?;
            (operator == O::OthersFlipped).then(|| complete.others_stay = !complete.others_stay)
        }
        Stage::Product => {
            let product = made.product.as_mut()?;
            match operator {
                O::Accepting => flip(&mut product.accepting, random),
                O::ProvenanceLocation => swap(&mut product.pairs, random),
                O::ProvenanceTransition => swap(&mut product.made_of, random),
                _ => None,
            }
        }
        Stage::Close => {
            let closed = made.closed.as_mut()?;
            match operator {
                O::Accepting => flip(&mut closed.accepting, random),
                O::MustAnswerFlipped => {
                    let stays = closed.rests.iter_mut().flatten().map(|rest| &mut rest.stays);
                    negated(stays.collect(), random)
                }
                O::ProvenanceLocation => swap(&mut closed.given, random),
                _ => None,
            }
        }
        Stage::Determinize => {
            let visible = made.visible.as_mut()?;
            match operator {
                O::Accepting => flip(&mut visible.accepting, random),
                O::MustAnswerFlipped => negated(visible.must_answer.iter_mut().collect(), random),
                O::ProvenanceLocation => swap(&mut visible.members, random),
                O::ProvenancePending => {
                    let mut members: Vec<_> = visible.members.iter_mut().flatten().collect();
                    members.retain(|member| !member.steps.is_empty());
                    let at = random.below(members.len().max(1));
                    members.get_mut(at).map(|member| member.steps.clear())
                }
                O::EndsFlipped => flip(&mut visible.ends, random),
                O::LiveDropped => {
                    let live: Vec<_> = visible.known.as_mut()?.live.iter_mut().collect();
                    let live = pick(random, live.into_iter().filter(|live| !live.is_empty()).collect())?;
                    live.pop_first().map(|_| ())
                }
                O::ReachFalse | O::ReachStrengthened => {
                    let known = visible.known.as_mut()?;
                    let at = random.number_in(&known.reach);
                    let more = some_condition(random, visible.iosts.variables.clone())?;
                    let value = if operator == O::ReachFalse {
                        Term::no()
                    } else {
                        Term::and([known.reach[at].clone(), more])
                    };
                    changed(&mut known.reach[at], value)
                }
                O::CoreachFalse => fact(&mut visible.known.as_mut()?.coreach, random, Term::no()),
                _ => None,
            }
        }
        Stage::Select => {
            let graph = made.graph.as_mut()?;
            let verdicts = [graph.pass, graph.inconclusive];
            match operator {
                O::VerdictTarget => enters(&mut graph.iosts, verdicts, random),
                O::VerdictLabel => {
                    let (pass, inconclusive) = (graph.pass?, graph.inconclusive?);
                    (graph.pass, graph.inconclusive) = (Some(inconclusive), Some(pass));
                    Some(())
                }
                // A fact stands twice, once for the location that it was made for.
                O::ReachFalse | O::ReachTrue | O::ReachStrengthened | O::CoreachFalse | O::CoreachTrue => {
                    let is_given = |at: &LocationId| matches!(graph.origins[*at], GraphOrigin::Given(_));
                    let at = pick(random, graph.origins.numbers().filter(is_given).collect())?;
                    let GraphOrigin::Given(from) = graph.origins[at] else { return None };
                    let is_reach = !matches!(operator, O::CoreachFalse | O::CoreachTrue);
                    let (facts, decided) = match is_reach {
                        true => (&mut graph.reach, &mut graph.decided.reach),
                        false => (&mut graph.coreach, &mut graph.decided.coreach),
                    };
                    let value = match operator {
                        O::ReachFalse | O::CoreachFalse => Term::no(),
                        O::ReachTrue | O::CoreachTrue => Term::yes(),
                        _ => Term::and([
                            facts[at].clone(),
                            some_condition(random, graph.iosts.variables.clone())?,
                        ]),
                    };
                    decided[from] = value.clone();
                    changed(&mut facts[at], value)
                }
                O::AllowedLost => {
                    let at = random.below(graph.allowed.len().max(1));
                    graph.allowed.get(at)?;
                    graph.allowed.remove(at);
                    Some(())
                }
                O::AllowedTrue => {
                    let at = random.below(graph.allowed.len().max(1));
                    changed(&mut graph.allowed.get_mut(at)?.guard, Term::yes())
                }
                O::MustAnswerFlipped => negated(graph.must_answer.iter_mut().collect(), random),
                O::ProvenanceLocation => swap(&mut graph.origins, random),
                O::ProvenanceTransition => swap(&mut graph.made_of, random),
                _ => None,
            }
        }
        Stage::InputComplete => {
            let case = made.case.as_mut()?;
            let of = |wanted| case.verdicts.first_number(|verdict| *verdict == Some(wanted));
            let verdicts = [Verdict::Pass, Verdict::Inconclusive, Verdict::Fail].map(of);
            match operator {
                O::VerdictTarget => enters(&mut case.iosts, verdicts, random),
                O::VerdictLabel => {
                    let at = random.below(case.verdicts.len().max(1));
                    let value = pick(
                        random,
                        vec![None, Some(Verdict::Pass), Some(Verdict::Inconclusive), Some(Verdict::Fail)],
                    )?;
                    changed(case.verdicts.get_mut(at)?, value)
                }
                O::ReachFalse => fact(&mut case.reach, random, Term::no()),
                O::ReachTrue => fact(&mut case.reach, random, Term::yes()),
                O::CoreachFalse => fact(&mut case.coreach, random, Term::no()),
                O::CoreachTrue => fact(&mut case.coreach, random, Term::yes()),
                O::MustAnswerFlipped => negated(case.must_answer.iter_mut().collect(), random),
                O::OthersFlipped => {
                    let fail = verdicts[2]?;
                    case.others_fail = if case.others_fail.is_some() { None } else { Some(fail) };
                    Some(())
                }
                _ => None,
            }
        }
    }
}

fn negated(terms: Vec<&mut Term>, random: &mut Random) -> Option<()> {
    let term = pick(random, terms)?;
    *term = term.not();
    Some(())
}

fn swap<T: PartialEq>(list: &mut [T], random: &mut Random) -> Option<()> {
    let (a, b) = (random.below(list.len().max(1)), random.below(list.len().max(1)));
    (list.get(a)? != list.get(b)?).then(|| list.swap(a, b))
}

/// A transition into one verdict leads to another one.
fn enters<const N: usize>(
    iosts: &mut Iosts,
    verdicts: [Option<LocationId>; N],
    random: &mut Random,
) -> Option<()> {
    let into = |t: &Transition| verdicts.contains(&Some(t.target));
    let at = pick(random, iosts.transitions.numbers().filter(|at| into(&iosts.transitions[*at])).collect())?;
    let target = iosts.transitions[at].target;
    let other = pick(random, verdicts.into_iter().flatten().filter(|verdict| *verdict != target).collect())?;
    changed(&mut iosts.transitions[at].target, other)
}
