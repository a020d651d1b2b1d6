//! Timed specifications in the pipeline: silence as an event that lasts, so that lateness is a verdict.
//!
//! **Problem.** The delayed form of a timed model ([`coreach_model::timed::delayed`]) is an IOSTS. Its test
//! case knows the delays that the specification allows for each event. But a system that never answers shows
//! no event whose delay is wrong.
//!
//! **Source.** Bannour et al. (2012), Definitions 3 and 12; Bannour, Lapitre, Le Gall, Nguyen (2024),
//! Definitions 3 and 4: after a trace σ, silence of length d is allowed if some event may still come later,
//! at d' > d, or if no event is ever possible. **Where we differ**: an event that may come later is an output
//! or an input that the tester does not send. The condition on delays and data is one formula, not the
//! conjunction of two (a flaw of 2012). "Later" is asked of d', not of the silence that was seen (a flaw of
//! 2024, by which a correct system fails).
//!
//! **Method**, as for ioco ([`crate::suspend`]): before all stages each location q gets a self-loop by δ, an
//! action with the delay as its one parameter, which lets all clocks advance by it and changes nothing else.
//! Its guard is
//!
//! ```text
//! delay >= 0  and  (   some q -a,G-> of an output or of an input that the tester does not send:  some d' >
//! delay and parameters satisfy G
//!                   or no output has d' >= 0 and parameters that satisfy G, and no internal step is
//!                   possible )
//! ```
//!
//! Every stage treats δ as an output. A silence that no state of the specification allows leads to Fail, and
//! a silence after which Accept is out of reach leads to Inconclusive. After a silence the question is asked
//! again for later events. Inputs that the tester does not send are outputs in all stages. But the system is
//! not to blame for an unspecified one. So after the last stage, their transitions into Fail lead to
//! Inconclusive.
//!
//! **No quantifier**: d' and the parameters are eliminated exactly, or by proved test points. If neither
//! works, the stage stops. **Ends** after one look at each transition. **Cost**: a few queries for each
//! output's transition.

use std::collections::{BTreeMap, BTreeSet};

use coreach_analyses::solver::{Solver, may_hold};
use coreach_analyses::symbolic::existence::eliminate_bound;
use coreach_model::budget;
use coreach_model::iosts::{Action, ActionKind, Iosts, Location, TestPurpose, Transition};
use coreach_model::obligation::enabling_condition;
use coreach_model::term::node::Comparison;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, Datum, Number, Numbered, Term, Type};

use crate::artifact::{CaseGraph, Verdict, added_transition};
use crate::limits::{Limits, Quantity};
use crate::names::UsedNames;
use crate::simplify::simplify_guard;
use crate::stop::{ShownTransition, Stop};

/// The name of silence, unless an action has it.
const DELTA: &str = "delta";

/// The facts about time that a pipeline needs in addition to the delayed form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LatenessTiming {
    /// The parameter that is the time since the visible event before.
    pub delay: Datum,
    /// The clocks: variables that hold their values at that event.
    pub clocks: Vec<Datum>,
    /// The names of the inputs that the tester sees and does not send.
    pub uncontrollable: BTreeSet<String>,
    /// The time without an event after which silence is an observation: a number of type `real`, or a
    /// constant of the test case.
    pub silence_after: Term,
}

#[derive(Clone, Debug)]
pub struct WithSilence {
    /// The specification. Its actions have the order of a file: stimuli, seen actions, δ, internal ones.
    pub iosts: Iosts,
    /// δ.
    pub silence: ActionId,
    /// The first so many transitions are the specification's.
    pub given: usize,
    /// For each action of the specification, its number here.
    pub new_numbers: Numbered<ActionId, ActionId>,
}

impl WithSilence {
    /// Changes the purpose of the delayed form into one of this specification.
    pub fn purpose(&self, mut purpose: TestPurpose) -> TestPurpose {
        for transition in &mut purpose.iosts.transitions {
            transition.action = self.new_numbers[transition.action];
        }
        purpose.iosts.actions = self.iosts.actions.clone();
        purpose
    }
}

/// Adds silence. Errors: [`Stop`], if the time until which an output is possible cannot be said without
/// quantifiers, or not shortly enough.
pub fn with_silence(
    form: &Iosts,
    timing: &LatenessTiming,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<WithSilence, Stop> {
    budget::doing("computing how long the specification may be silent");
    let (mut iosts, silence, new_numbers) = with_silence_action(form, timing);
    let given = iosts.transitions.len();
    let later_delay = Datum::new(format!("{}'", timing.delay.name()), Type::Real);
    let mut something_later: Numbered<_, Vec<Term>> = iosts.locations.map(|_| Vec::new());
    let mut nothing_ever = something_later.clone();
    for transition in &iosts.transitions {
        budget::ask();
        let action = iosts.action(transition.action);
        match action.kind {
            ActionKind::Input | ActionKind::Quiescence => {}
            ActionKind::Internal => {
                nothing_ever[transition.source].push(enabling_condition(transition).not())
            }
            ActionKind::Output => {
                let (later, ever) = possible_times(&iosts, transition, action, timing, &later_delay, solver)?;
                something_later[transition.source].push(later);
                // A system that waits for an input from elsewhere does not owe that event.
                if !timing.uncontrollable.contains(&action.name) {
                    nothing_ever[transition.source].push(ever.not());
                }
            }
        }
    }
    let zero = Term::int(0).to_real();
    let elapsed = Term::datum(&timing.delay);
    let not_negative = Term::compare(Comparison::AtLeast, &elapsed, &zero);
    for (source, conditions) in nothing_ever.numbered() {
        budget::ask();
        let allowed = something_later[source].iter().cloned().chain([Term::and(conditions.clone())]);
        let guard = Term::and([not_negative.clone(), Term::or(allowed)]);
        if guard.is_false() || !may_hold(solver, &guard.conjuncts()) {
            continue;
        }
        let guard = simplify_guard(&guard, &[], solver);
        let size = guard.written_size();
        if size > limits.of(Quantity::Nodes) {
            let label = iosts.location(source).label.clone();
            return Err(Stop::Quiescence {
                why: format!("the time for which {label} may be silent needs an expression of {size} parts"),
                shown: Box::new(ShownTransition { text: label, origin: None }),
            });
        }
        let advanced =
            timing.clocks.iter().map(|clock| (clock.clone(), Term::add(&Term::datum(clock), &elapsed)));
        let silent = added_transition(source, silence, guard, source);
        iosts.transitions.push(Transition { assignments: advanced.collect(), ..silent });
    }
    Ok(WithSilence { iosts, silence, given, new_numbers })
}

/// Adds δ to the actions of the delayed form, in the order of a file. Also returns each action's new number.
pub(crate) fn with_silence_action(
    form: &Iosts,
    timing: &LatenessTiming,
) -> (Iosts, ActionId, Numbered<ActionId, ActionId>) {
    let mut names = UsedNames::of(form.actions.iter().map(|action| action.name.as_str()));
    let delta = Action {
        name: names.unique(DELTA),
        kind: ActionKind::Quiescence,
        parameters: vec![timing.delay.clone()],
    };
    let as_seen = |action: &Action| Action {
        kind: if timing.uncontrollable.contains(&action.name) { ActionKind::Output } else { action.kind },
        ..action.clone()
    };
    let mut order: Vec<(ActionId, Action)> =
        form.actions.numbered().map(|(number, action)| (number, as_seen(action))).collect();
    order.sort_by_key(|(_, action)| match action.kind {
        ActionKind::Input => 0,
        ActionKind::Output | ActionKind::Quiescence => 1,
        ActionKind::Internal => 2,
    });
    let delta_position = order.iter().filter(|(_, action)| action.is_visible()).count();
    let mut new_numbers = form.actions.map(|_| ActionId::of(0));
    let mut actions: Numbered<ActionId, Action> = Numbered::new();
    for (position, (number, action)) in order.into_iter().enumerate() {
        if position == delta_position {
            actions.push(delta.clone());
        }
        new_numbers[number] = actions.push(action);
    }
    // Without internal actions, the loop ends before δ's position.
    let silence = ActionId::of(delta_position);
    if !actions.has(silence) {
        actions.push(delta);
    }
    let mut iosts = form.clone();
    iosts.actions = actions;
    for transition in &mut iosts.transitions {
        transition.action = new_numbers[transition.action];
    }
    (iosts, silence, new_numbers)
}

/// Makes two conditions: that the transition can be taken later than the delay, and that it can be taken at
/// some time. The second one is on the state alone.
fn possible_times(
    iosts: &Iosts,
    transition: &Transition,
    action: &Action,
    timing: &LatenessTiming,
    later_delay: &Datum,
    solver: &mut dyn Solver,
) -> Result<(Term, Term), Stop> {
    let delay = Term::datum(&timing.delay);
    let with_later_delay = Substitution::from([(timing.delay.clone(), Term::datum(later_delay))]);
    let condition = substitute(&enabling_condition(transition), &with_later_delay);
    let bound: Vec<Datum> =
        action.parameters.iter().filter(|p| **p != timing.delay).chain([later_delay]).cloned().collect();
    let is_later = Term::compare(Comparison::Greater, &Term::datum(later_delay), &delay);
    let later = eliminate_bound(&bound, &Term::and([is_later, condition.clone()]), solver);
    let ever = eliminate_bound(&bound, &condition, solver);
    later.zip(ever).ok_or_else(|| Stop::Quiescence {
        shown: Box::new(ShownTransition::transition(iosts, transition)),
        why: "the time until which it can be taken cannot be expressed without quantifiers".to_owned(),
    })
}

/// Changes a test case so that the system is not blamed for its environment: a transition into Fail by an
/// input that the tester does not send leads to Inconclusive.
pub fn spare_environment(mut test_case: CaseGraph, timing: &LatenessTiming) -> CaseGraph {
    let is_environment = test_case.iosts.actions.map(|action| timing.uncontrollable.contains(&action.name));
    let blames_environment = |test_case: &CaseGraph, t: &Transition| {
        is_environment[t.action] && test_case.verdicts[t.target] == Some(Verdict::Fail)
    };
    if !test_case.iosts.transitions.iter().any(|transition| blames_environment(&test_case, transition)) {
        return test_case;
    }
    let inconclusive = test_case.verdicts.first_number(|verdict| *verdict == Some(Verdict::Inconclusive));
    let inconclusive = inconclusive.unwrap_or_else(|| {
        let names = test_case.iosts.locations.iter().map(|location| location.name.as_str());
        let name = UsedNames::of(names).unique(Verdict::Inconclusive.name());
        test_case.add_verdict(Location::named(name), Verdict::Inconclusive)
    });
    // Several guards of one action may lead to Inconclusive then. They become one transition, as everywhere.
    let mut guards_into: BTreeMap<_, Vec<Term>> = BTreeMap::new();
    let mut kept: Numbered<_, Transition> = Numbered::new();
    for transition in std::mem::take(&mut test_case.iosts.transitions) {
        let is_inconclusive = is_environment[transition.action] && transition.target == inconclusive;
        if is_inconclusive || blames_environment(&test_case, &transition) {
            guards_into.entry((transition.source, transition.action)).or_default().push(transition.guard);
        } else {
            kept.push(transition);
        }
    }
    for ((source, action), guards) in guards_into {
        kept.push(added_transition(source, action, Term::or(guards), inconclusive));
    }
    test_case.iosts.transitions = kept;
    test_case
}
