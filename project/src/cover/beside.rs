//! A specification and a mutant of it as one system, which comes to a location of its own where they differ.
//!
//! Both take each event together, and internal steps alone. A stimulus is one that the specification takes; a
//! mutant that does not take it, nor behind an internal step, ignores it. An output of the mutant leads to
//! *differs* where no transition of the specification that leaves its location could send it. The
//! specification may have other states after the same trace that could: whoever finds a run to there has to
//! ask them.
//!
//! **Races.** A stimulus may cross an internal step, and where it is not taken behind that, the specification
//! itself, run as a system, would do what it does not allow. What counts is only what comes of the mutation:
//! a pair remembers whether a changed transition was taken, or a stimulus ignored that the specification
//! takes in that state; before that, only a changed transition leads to *differs*.
//!
//! **What follows.** Where no run comes to *differs*, the mutant does nothing, after any trace of the
//! specification, that the specification run as a system would not do: it conforms.
//!
//! **Cost**: pairs of locations times pairs of transitions, for those pairs that transitions connect.

use std::collections::HashMap;

use coreach_model::iosts::{ActionKind, Iosts, Location, Transition, TransitionOrigin};
use coreach_model::obligation::enabling_condition;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, Datum, LocationId, Numbered, Term, TransitionId, budget};

pub struct Beside {
    pub iosts: Iosts,
    /// For each transition the one of the specification that it goes along, where it does.
    pub of: Numbered<TransitionId, Option<TransitionId>>,
    pub differs: LocationId,
}

/// A transition of the mutant, with its data renamed.
struct Renamed {
    transition: Transition,
    enabled: Term,
    is_changed: bool,
}

/// A location of each, and whether the mutation has had an effect.
type StatePair = (LocationId, LocationId, bool);

/// Puts a mutant beside its specification; `None` where that is too large.
pub fn beside(specification: &Iosts, mutant: &Iosts) -> Option<Beside> {
    let own = |datum: &Datum| Datum::new(format!("{}~", datum.name()), datum.ty().clone());
    let renaming: Substitution =
        mutant.variables.iter().map(|datum| (datum.clone(), Term::datum(&own(datum)))).collect();
    let renamed = mutant.transitions.map(|transition| {
        let value = |(datum, value): (&Datum, &Term)| (own(datum), substitute(value, &renaming));
        let is_same = |own: &Transition| {
            (own.source, own.action, own.target) == (transition.source, transition.action, transition.target)
                && (&own.guard, &own.assignments) == (&transition.guard, &transition.assignments)
        };
        Renamed {
            is_changed: !specification.transitions.iter().any(is_same),
            enabled: substitute(&enabling_condition(transition), &renaming),
            transition: Transition {
                assignments: transition.assignments.iter().map(value).collect(),
                ..transition.clone()
            },
        }
    });
    let enabled = specification.transitions.map(enabling_condition);
    let leaving = (specification.outgoing(), mutant.outgoing());
    let mut locations: Numbered<LocationId, Location> = Numbered::new();
    let differs = locations.push(Location::named("differs"));
    let mut numbers = HashMap::new();
    let mut open = Vec::new();
    let mut number = |pair: StatePair, open: &mut Vec<StatePair>| {
        *numbers.entry(pair).or_insert_with(|| {
            open.push(pair);
            let names = [&specification.location(pair.0).name, &mutant.location(pair.1).name];
            locations.push(Location::named(format!("{}~{}", names[0], names[1])))
        })
    };
    let is_changed = specification.initial_condition != mutant.initial_condition;
    let initial = number((specification.initial, mutant.initial, is_changed), &mut open);
    let (mut transitions, mut of) = (Numbered::new(), Numbered::new());
    let mut looked = 0;
    while let Some(pair) = open.pop() {
        looked += 1;
        budget::ask();
        // Beyond 600 pairs of locations no such system is made.
        if looked > 600 {
            return None;
        }
        let source = number(pair, &mut open);
        let mut add = |action: ActionId, guard: Term, taken: [Option<&Transition>; 2], along, target| {
            if guard.is_false() {
                return;
            }
            let both = taken.into_iter().flatten().flat_map(|one| one.assignments.clone());
            let origin = TransitionOrigin::default();
            transitions.push(Transition {
                source,
                action,
                guard,
                assignments: both.collect(),
                target,
                origin,
            });
            of.push(along);
        };
        let (first, second) = (&leaving.0[pair.0], &leaving.1[pair.1]);
        for &at in first {
            let one = &specification.transitions[at];
            let kind = specification.action(one.action).kind;
            if kind == ActionKind::Internal {
                let target = number((one.target, pair.1, pair.2), &mut open);
                add(one.action, enabled[at].clone(), [Some(one), None], Some(at), target);
                continue;
            }
            let same = second.iter().map(|other| &renamed[*other]);
            let same: Vec<&Renamed> = same.filter(|other| other.transition.action == one.action).collect();
            for other in &same {
                let guard = Term::and([enabled[at].clone(), other.enabled.clone()]);
                if !guard.is_false() {
                    let is_changed = pair.2 || other.is_changed;
                    let target = number((one.target, other.transition.target, is_changed), &mut open);
                    add(one.action, guard, [Some(one), Some(&other.transition)], Some(at), target);
                }
            }
            if kind == ActionKind::Input {
                let ignored = same.iter().map(|other| other.enabled.not());
                // Nor behind an internal step.
                let internal = second
                    .iter()
                    .map(|step| &renamed[*step])
                    .filter(|step| mutant.action(step.transition.action).kind == ActionKind::Internal);
                let later = internal.flat_map(|step| {
                    let behind = leaving.1[step.transition.target].iter().map(|next| &renamed[*next]);
                    let takes = behind.filter(|next| next.transition.action == one.action);
                    takes.map(|next| {
                        let taken = substitute(&next.enabled, &step.transition.assignments);
                        Term::and([step.enabled.clone(), taken]).not()
                    })
                });
                let guard = Term::and(std::iter::once(enabled[at].clone()).chain(ignored).chain(later));
                // Would the specification take it there?
                let own = leaving.0[pair.1]
                    .iter()
                    .filter(|own| specification.transitions[**own].action == one.action);
                let takes = Term::or(own.map(|own| substitute(&enabled[*own], &renaming)));
                let cases = match pair.2 {
                    true => vec![(guard, true)],
                    false => vec![
                        (Term::and([guard.clone(), takes.clone()]), true),
                        (Term::and([guard, takes.not()]), false),
                    ],
                };
                for (guard, is_changed) in cases {
                    if !guard.is_false() {
                        let target = number((one.target, pair.1, is_changed), &mut open);
                        add(one.action, guard, [Some(one), None], Some(at), target);
                    }
                }
            }
        }
        for other in second.iter().map(|other| &renamed[*other]) {
            let action = other.transition.action;
            match mutant.action(action).kind {
                ActionKind::Input => {}
                ActionKind::Internal => {
                    let is_changed = pair.2 || other.is_changed;
                    let target = number((pair.0, other.transition.target, is_changed), &mut open);
                    add(action, other.enabled.clone(), [None, Some(&other.transition)], None, target);
                }
                // What is not changed, the specification would do as well.
                _ if !pair.2 && !other.is_changed => {}
                ActionKind::Output | ActionKind::Quiescence => {
                    let same = first.iter().filter(|at| specification.transitions[**at].action == action);
                    let refused = same.map(|at| enabled[*at].not());
                    let guard = Term::and(std::iter::once(other.enabled.clone()).chain(refused));
                    add(action, guard, [None, None], None, differs);
                }
            }
        }
    }
    let begin = [specification.initial_condition.clone(), substitute(&mutant.initial_condition, &renaming)];
    let iosts = Iosts {
        name: specification.name.clone(),
        constants: specification.constants.clone(),
        variables: specification.variables.iter().cloned().chain(mutant.variables.iter().map(own)).collect(),
        initial_condition: Term::and(begin),
        locations,
        initial,
        // A mutant may have an internal action of its own, behind the others.
        actions: mutant.actions.clone(),
        transitions,
        origin: None,
    };
    Some(Beside { iosts, of, differs })
}
