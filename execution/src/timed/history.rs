//! Finds instants that a run may have had, all of them together.
//!
//! **Problem.** Each instant of a run is known up to a tolerance, and a guard compares several of them: if a
//! clock was reset at the third event, the tolerance of the third decides whether the tenth is late. A judge
//! that takes the nearest instant for each event may let a correct system fail. Besides, an observation that
//! was read just after a stimulus may have been sent before the stimulus was taken.
//!
//! **Method.** Before a Fail is given, the run is judged once more with its instants as symbols: t1, t2, ...
//! each in its interval, in order. The delay of a step is the difference to the one before. From the initial
//! state each step takes one of the transitions of its action that do not fail. Guards and assigned values
//! become terms over the instants (Definition 2 of the publication of 2024, along one trace), and the solver
//! says whether some instants satisfy all of them. If so, the run goes on with those. Orders are tried too:
//! the seen one, and those in which an observation comes before a stimulus whose interval overlaps its own.
//!
//! **A late machine** has held up the system, or the tester, by the time that was measured between two steps
//! ([`StepInterval::late`]). So a step is late by at most the lateness of the step before and the time
//! measured since. Each step has a symbol for its lateness, by which its instant may be before the interval.
//! A stimulus may have been taken later by all the time measured after it. An observation that fails may take
//! the place of another event that was due before it and has not come yet: each part of its guard then has an
//! instant of its own. The run goes on if instants in the seen order avoid a Fail. They have as little
//! lateness as is quickly found, since a window that is judged too early is missed.
//!
//! **It is one-sided**: a Fail is *not* given if the solver does not know, or if there are more ways than are
//! tried (`MOST_QUERIES`). It is not given either if at other instants the run would have ended before, or a
//! stimulus would not have been in its window. These are [`Otherwise::Unclear`]: the run is Inconclusive.
//! Only orders with one moved observation are tried.
//!
//! **Ends**: ways are as long as the trace, and queries are counted. **Costs** nothing before an occurrence
//! would fail; then a walk through the trace with a query at its end and at each choice.

use std::time::Duration;

use coreach_analyses::solver::{Answer, Solver, Witness};
use coreach_analyses::symbolic::SymbolicState;
use coreach_model::iosts::LocationId;
use coreach_model::semantics::{Event, State};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, Term, TransitionId, Type, Value, Verdict};
use dashu_ratio::RBig;

use crate::run::Occurrence;
use crate::test_case::TestCase;
use crate::timed::{delayed_by, exact_seconds};

const MOST_QUERIES: usize = 256;

/// Limits on the lateness of a step, in milliseconds, which are tried in this order.
const LITTLE: [u64; 3] = [2, 10, 50];

/// The interval in which a step has happened, in seconds since the beginning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StepInterval {
    /// The earliest instant.
    pub low: RBig,
    /// The latest instant.
    pub high: RBig,
    /// How long the machine may have held up the system and the tester since the step before.
    pub late: RBig,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allowance {
    /// Only instants within the tolerance of the measured ones.
    Tolerance,
    /// Also the instants that a late machine may explain.
    Lateness,
}

/// A run that ends with the step that would fail.
#[derive(Clone, Debug)]
pub struct Past<'a> {
    pub test: &'a TestCase,
    pub initial: &'a State,
    pub steps: Vec<Occurrence>,
    pub marks: Vec<StepInterval>,
    /// Would the last step be allowed at another instant? Then stimuli must have met their windows.
    pub by_time: bool,
    /// The system's time may have begun so long before the tester knew that it was ready.
    pub origin: RBig,
}

/// A run as it may have been.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PossibleRun {
    /// The occurrences, with possible delays.
    pub steps: Vec<Occurrence>,
    pub marks: Vec<StepInterval>,
    /// The instant of the last step.
    pub end: RBig,
    /// By how much the last observation is before its earliest measured instant.
    pub lateness: RBig,
}

/// The answer whether the run may have been one that does not fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Otherwise {
    /// It certainly was none.
    No,
    /// It may have been this one.
    Yes(PossibleRun),
    /// That is not known.
    Unclear,
}

/// Looks for instants at which nothing fails.
pub fn find_other_instants(past: &Past<'_>, within: Allowance, solver: &mut dyn Solver) -> Otherwise {
    let is_late = within == Allowance::Lateness;
    let mut search = InstantSearch { past, within, is_split: false, solver, queries: 0, is_unclear: false };
    let orders = possible_orders(past, within);
    // If the machine was late, the run goes on only in the seen order, and at one instant for each step.
    if is_late && let Some(possible) = orders.first().and_then(|order| search.follow_order(order)) {
        return Otherwise::Yes(possible);
    }
    search.is_split = is_late;
    for order in orders {
        match search.follow_order(&order) {
            Some(_) if is_late => return Otherwise::Unclear,
            Some(possible) => return Otherwise::Yes(possible),
            None => {}
        }
    }
    if search.is_unclear { Otherwise::Unclear } else { Otherwise::No }
}

/// Lists the orders in which the steps may have happened, by number. The seen order is the first. A system
/// that was held up may also have sent due outputs in another order.
fn possible_orders(past: &Past<'_>, within: Allowance) -> Vec<Vec<usize>> {
    let seen: Vec<usize> = (0..past.steps.len()).collect();
    let mut orders = vec![seen.clone()];
    for (number, step) in past.steps.iter().enumerate() {
        if !matches!(step, Occurrence::Observation(_)) {
            continue;
        }
        // An observation is moved before a few steps at most.
        for earlier in (0..number).rev().take(3) {
            let may_be_later = match (&past.steps[earlier], within) {
                (Occurrence::Stimulus(_), _) => true,
                (Occurrence::Observation(_), within) => within == Allowance::Lateness,
                _ => false,
            };
            if !may_be_later || past.earliest(number, within) > past.latest(earlier, within) {
                break;
            }
            let mut order = seen.clone();
            order[earlier..=number].rotate_right(1);
            orders.push(order);
        }
    }
    orders
}

impl Past<'_> {
    /// Returns how long a step may have been due before it was seen, as the steps before it were held up.
    fn lag(&self, number: usize) -> RBig {
        self.marks[..=number].iter().fold(RBig::ZERO, |all, mark| all + &mark.late)
    }

    /// Returns the earliest instant of a step. An observation was due earlier if the machine was late.
    fn earliest(&self, number: usize, within: Allowance) -> RBig {
        let low = self.marks[number].low.clone();
        match (within, &self.steps[number]) {
            (Allowance::Lateness, Occurrence::Observation(_)) => low - self.lag(number),
            _ => low,
        }
    }

    /// Returns the latest instant of a step. A stimulus is taken when the system is let run again.
    fn latest(&self, number: usize, within: Allowance) -> RBig {
        let high = self.marks[number].high.clone();
        match (within, &self.steps[number]) {
            (Allowance::Lateness, Occurrence::Stimulus(_)) => {
                self.marks[number + 1..].iter().fold(high, |all, mark| all + &mark.late)
            }
            _ => high,
        }
    }
}

struct InstantSearch<'a, 's> {
    past: &'a Past<'a>,
    within: Allowance,
    /// Does the step that fails have an instant of its own for each part of its guard?
    is_split: bool,
    solver: &'s mut dyn Solver,
    queries: usize,
    is_unclear: bool,
}

fn instant_symbol(number: usize) -> Datum {
    Datum::new(format!("instant {number}"), Type::Real)
}

/// Returns the symbol for the lateness of a step.
fn lateness_symbol(number: usize) -> Datum {
    Datum::new(format!("lateness {number}"), Type::Real)
}

fn real_literal(value: &RBig) -> Term {
    Term::literal(Value::Real(value.clone()))
}

impl InstantSearch<'_, '_> {
    /// Looks for instants at which the steps in this order do not fail. `None` if none were found.
    fn follow_order(&mut self, order: &[usize]) -> Option<PossibleRun> {
        let Past { initial, origin, .. } = self.past;
        // The instant 0 is the beginning of the system's time.
        let began = Term::datum(&instant_symbol(0));
        let condition = vec![
            Term::compare(Comparison::AtLeast, &began, &real_literal(&(RBig::ZERO - origin))),
            Term::compare(Comparison::AtMost, &began, &real_literal(&RBig::ZERO)),
            Term::equal(&Term::datum(&lateness_symbol(0)), &real_literal(&RBig::ZERO)),
        ];
        self.continue_from(order, 0, SymbolicState { condition, ..SymbolicState::of(initial) })
    }

    /// Goes on from a step of the order by each transition that does not fail. `None`: none has instants.
    fn continue_from(
        &mut self,
        order: &[usize],
        position: usize,
        mut way: SymbolicState,
    ) -> Option<PossibleRun> {
        let Some(&number) = order.get(position) else { return self.find_instants(order, &way) };
        let [instant_before, instant] =
            [position, position + 1].map(|place| Term::datum(&instant_symbol(place)));
        let passed = Term::subtract(&instant, &instant_before);
        way.condition.extend(self.bounds(order, position, &instant, &passed));
        let mut options = self.list_options(&way, number, &instant, &passed);
        // If the tester would not have sent the stimulus there, nothing is known of the steps after it.
        let is_stimulus = matches!(self.past.steps[number], Occurrence::Stimulus(_));
        if is_stimulus && (self.past.by_time || options.is_empty()) {
            // The conditions that a transition has added.
            let guard =
                |(_, next): &(_, SymbolicState)| Term::and(next.condition[way.condition.len()..].to_vec());
            let mut not_taken = way.condition.clone();
            not_taken.push(Term::or(options.iter().map(guard)).not());
            self.is_unclear |= self.may_be(&not_taken);
        }
        let is_last = position + 1 == order.len();
        let is_choice = options.len() > 1;
        // A way on is better than an end without a verdict on the system.
        options.sort_by_key(|(verdict, _)| *verdict == Some(Verdict::Inconclusive));
        for (verdict, next) in options {
            // The solver is asked only where the answer saves work, or where the run would end early.
            let ends = verdict.is_some();
            if !is_last && (ends || is_choice) && !self.may_be(&next.condition) {
                continue;
            }
            if ends && !is_last {
                // Nothing can be said of the later steps.
                self.is_unclear = true;
                continue;
            }
            if let Some(possible) = self.continue_from(order, position + 1, next) {
                return Some(possible);
            }
        }
        None
    }

    /// Lists the states after the step by each transition that does not fail, with their verdicts. The step
    /// is at `instant`, when `passed` has gone by since the step before it.
    fn list_options(
        &self,
        way: &SymbolicState,
        number: usize,
        instant: &Term,
        passed: &Term,
    ) -> Vec<(Option<Verdict>, SymbolicState)> {
        let Past { test, steps, .. } = self.past;
        let has_own_instants =
            self.is_split && number + 1 == steps.len() && matches!(steps[number], Occurrence::Observation(_));
        let mut options = Vec::new();
        for (transition, values) in candidate_transitions(test, way.location, &steps[number]) {
            let transition = &test.iosts.transitions[transition];
            let verdict = test.verdict(transition.target);
            let delay = test.iosts.action(transition.action).parameters.first().cloned();
            let delay = delay.map(|delay| (delay, passed.clone()));
            let next = way.after_transition(transition, &transition.guard, values, delay);
            let Some(mut next) = next.filter(|_| verdict != Some(Verdict::Fail)) else { continue };
            if has_own_instants {
                let guard = Term::and(next.condition.split_off(way.condition.len()));
                next.add_condition(&split_instants(&guard, &way.condition, instant));
            }
            options.push((verdict, next));
        }
        options
    }

    /// Bounds the instant and the lateness of the step at this place of the order. `passed` is the time since
    /// the step before it.
    fn bounds(&self, order: &[usize], position: usize, instant: &Term, passed: &Term) -> Vec<Term> {
        let at_least = |a: &Term, b: &Term| Term::compare(Comparison::AtLeast, a, b);
        let (number, zero) = (order[position], real_literal(&RBig::ZERO));
        let (step, StepInterval { low, late, .. }) = (&self.past.steps[number], &self.past.marks[number]);
        let mut bounds = vec![at_least(passed, &zero)];
        match (step, self.within) {
            (Occurrence::Silence(time), Allowance::Tolerance) => {
                bounds.push(Term::equal(passed, &real_literal(&exact_seconds(*time))));
            }
            (Occurrence::Silence(time), Allowance::Lateness) => {
                let time = exact_seconds(*time);
                bounds.push(at_least(passed, &real_literal(&(&time - late))));
                bounds.push(at_least(&real_literal(&time), passed));
            }
            _ => {
                bounds.push(at_least(instant, &real_literal(&self.past.earliest(number, self.within))));
                bounds.push(at_least(&real_literal(&self.past.latest(number, self.within)), instant));
            }
        }
        if self.within == Allowance::Lateness {
            // It is late by at most the lateness of the step before and the time that held it up since.
            let [lateness_before, lateness] =
                [position, position + 1].map(|place| Term::datum(&lateness_symbol(place)));
            let limit = match order.is_sorted() {
                true => Term::add(&lateness_before, &real_literal(late)),
                // In another order than the seen one, all time that held up the steps until it counts.
                false => real_literal(&self.past.lag(number)),
            };
            bounds.extend([at_least(&lateness, &zero), at_least(&limit, &lateness)]);
            if matches!(step, Occurrence::Observation(_)) {
                bounds.push(at_least(instant, &Term::subtract(&real_literal(low), &lateness)));
            }
        }
        bounds
    }

    /// Counts a question. `false`: there were too many, and the result is noted as unclear.
    fn may_ask(&mut self) -> bool {
        self.queries += 1;
        self.is_unclear |= self.queries > MOST_QUERIES;
        self.queries <= MOST_QUERIES
    }

    /// May the conditions hold together? After too many questions: no.
    fn may_be(&mut self, conditions: &[Term]) -> bool {
        self.may_ask() && self.solver.check(conditions) != Answer::Unsat
    }

    /// Finds instants for a way that goes through to the end, with little lateness if possible.
    fn find_instants(&mut self, order: &[usize], way: &SymbolicState) -> Option<PossibleRun> {
        if !self.may_ask() {
            return None;
        }
        let any_values = match self.solver.witness(&way.condition) {
            Witness::Found(values) => values,
            Witness::None => return None,
            Witness::Unknown => {
                self.is_unclear = true;
                return None;
            }
        };
        let goes_on = self.within == Allowance::Lateness && !self.is_split;
        let with_little_lateness = LITTLE.into_iter().filter(|_| goes_on).find_map(|limit| {
            let limit = real_literal(&exact_seconds(Duration::from_millis(limit)));
            let latenesses = (1..=order.len()).map(|number| Term::datum(&lateness_symbol(number)));
            let mut condition = way.condition.clone();
            condition
                .extend(latenesses.map(|lateness| Term::compare(Comparison::AtLeast, &limit, &lateness)));
            if let Witness::Found(values) = self.solver.witness(&condition) { Some(values) } else { None }
        });
        let values = with_little_lateness.unwrap_or(any_values);
        let instant_of = |number: usize| match values.get(&instant_symbol(number)) {
            Some(Value::Real(value)) => value.clone(),
            // All instants have bounds, so all are in the question.
            _ => RBig::ZERO,
        };
        let steps = order.iter().enumerate().map(|(position, number)| {
            let delay = instant_of(position + 1) - instant_of(position);
            match &self.past.steps[*number] {
                Occurrence::Stimulus(event) => Occurrence::Stimulus(delayed_by(event, delay)),
                Occurrence::Observation(event) => Occurrence::Observation(delayed_by(event, delay)),
                other => other.clone(),
            }
        });
        let marks = &self.past.marks;
        let is_observation =
            |position: &usize| matches!(self.past.steps[order[*position]], Occurrence::Observation(_));
        let last_observation = (0..order.len()).rev().find(is_observation);
        let lateness = last_observation
            .map(|position| (&marks[order[position]].low - instant_of(position + 1)).max(RBig::ZERO));
        Some(PossibleRun {
            lateness: lateness.unwrap_or(RBig::ZERO),
            steps: steps.collect(),
            marks: order.iter().map(|number| marks[*number].clone()).collect(),
            end: instant_of(order.len()),
        })
    }
}

/// Gives each part of a guard an instant of its own, within the same bounds: those of the path's conditions
/// that mention `instant`. So `3 <= t && t <= 5` may hold at two instants. A system that was held up does its
/// due outputs in some order, and the end of a window may be that of another output that has not come yet. So
/// an observation may have been due before one end, and have happened after another.
fn split_instants(guard: &Term, conditions: &[Term], instant: &Term) -> Term {
    let Some(instant) = instant.as_datum() else { return guard.clone() };
    let bounds: Vec<Term> =
        conditions.iter().filter(|condition| condition.mentions(instant)).cloned().collect();
    let mut count = 0;
    let mut own_instant = |part: &Term| {
        count += 1;
        let own_instant = Datum::new(format!("{} of part {count}", instant.name()), Type::Real);
        let renaming = Substitution::from([(instant.clone(), Term::datum(&own_instant))]);
        Term::and(bounds.iter().chain([part]).map(|term| substitute(term, &renaming)))
    };
    change_parts(guard, &mut own_instant)
}

/// Applies `change` to each part of a condition that is no conjunction and no disjunction.
fn change_parts(term: &Term, change: &mut dyn FnMut(&Term) -> Term) -> Term {
    match term.node() {
        Node::And(parts) => Term::and(parts.iter().map(|part| change_parts(part, change))),
        Node::Or(parts) => Term::or(parts.iter().map(|part| change_parts(part, change))),
        _ => change(term),
    }
}

/// Lists the transitions that the step may have taken here, with the values of its parameters but the delay.
fn candidate_transitions(
    test: &TestCase,
    location: LocationId,
    step: &Occurrence,
) -> Vec<(TransitionId, Vec<(Datum, Value)>)> {
    let (numbers, event): (&[TransitionId], Option<&Event>) = match step {
        Occurrence::Stimulus(event) => (&test.stimuli[location], Some(event)),
        Occurrence::Observation(event) => (&test.observations[location], Some(event)),
        Occurrence::Silence(_) => (&test.silences[location], None),
        Occurrence::Delay(_) => (&[], None),
    };
    let mut candidates = Vec::new();
    for number in numbers {
        let action = test.iosts.action_of(*number);
        if event.is_none_or(|event| action.name == event.action) {
            let other_values = event.into_iter().flat_map(|event| event.values.iter().skip(1).cloned());
            let values = action.parameters.iter().skip(1).cloned().zip(other_values);
            candidates.push((*number, values.collect()));
        }
    }
    candidates
}
