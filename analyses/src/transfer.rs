//! `post` and `pre`: the effect of a transition on an abstract value (thesis, Definitions 7.1, 7.2, p. 181).
//!
//! `post(t, φ)` contains every state that `t` reaches from a state in φ with some parameters. `pre(t, φ)`
//! contains every state from which `t` reaches a state in φ with *some* parameters. Both over-approximate.
//! They work case by case (see [`crate::effect`]) and remember each result by the numbers of the case and of
//! its arguments.

use std::collections::BTreeMap;
use std::ops::Range;

use coreach_model::hash::{FastMap, FastSet};
use coreach_model::term::Term;
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::{Iosts, Value};
use coreach_polyhedra::{Constraint, LinearExpression, Rational, Relation};

use crate::acceleration::find_repetition;
use crate::condition::count_steps;
use crate::domains::any::AnyDomain;
use crate::effect::{Effect, Effects, Update, simplify_alternative, targets};
use crate::frame::Frame;
use crate::inductive::Orientation;
use crate::linear::{integer, rational};
use crate::partition::{AbstractValue, ElementId, Elements};
use crate::places::Arrays;
use crate::scope::Beyond;

/// A model seen through a domain.
pub struct Abstraction {
    pub frame: Frame,
    pub store: Elements,
    pub thresholds: Vec<Constraint>,
    effects: Effects,
    effect_of: Vec<u32>,
    cases: Vec<Update>,
    /// The cases of an effect, by the digits that it reads (as a cell whose other digits are 0).
    compiled: FastMap<(u32, u32), Range<usize>>,
    /// For each case, the cases without disjunctions into which it is split.
    split: FastMap<usize, Range<usize>>,
    posts: FastMap<(u32, ElementId), Option<ElementId>>,
    pres: FastMap<(u32, ElementId, ElementId), Option<ElementId>>,
    /// The results of simple loops, forward and backward.
    repeated: FastMap<(u32, ElementId, Orientation), Option<ElementId>>,
    /// What was lost while initial conditions were compiled.
    pub initial_imprecisions: Vec<Beyond>,
    partition_limit: usize,
    /// The computed work, without look-ups: results of cases, and cases that were compiled.
    pub work: u64,
    /// The most work that may be computed.
    pub work_limit: Option<u64>,
}

impl Abstraction {
    /// Prepares a model. `partition_limit` bounds the cells, and for each transition the valuations of its
    /// finite parameters.
    pub fn new(
        domain: AnyDomain,
        iosts: &Iosts,
        partition_limit: usize,
        thresholds: Vec<Constraint>,
        frame: Frame,
    ) -> Self {
        let mut effects = Effects::default();
        let effect_of = effects.number_all(&frame, iosts, partition_limit, !domain.sees_data);
        Abstraction {
            store: Elements::new(domain, &frame.integer),
            frame,
            thresholds,
            effects,
            effect_of,
            cases: Vec::new(),
            compiled: FastMap::default(),
            split: FastMap::default(),
            posts: FastMap::default(),
            pres: FastMap::default(),
            repeated: FastMap::default(),
            initial_imprecisions: Vec::new(),
            partition_limit,
            work: 0,
            work_limit: None,
        }
    }

    /// Is the work limit exceeded? Then results are coarse, and the caller should analyse with other options.
    pub fn is_exhausted(&self) -> bool {
        self.work_limit.is_some_and(|most| self.work > most)
    }

    /// Turns to another model with the same frame. Compiled cases and results are kept.
    pub fn turn_to(&mut self, iosts: &Iosts, thresholds: Vec<Constraint>) {
        self.thresholds = thresholds;
        let is_blind = !self.store.domain.sees_data;
        self.effect_of = self.effects.number_all(&self.frame, iosts, self.partition_limit, is_blind);
    }

    /// Makes the frame of a model for this domain.
    pub fn frame_for(domain: AnyDomain, iosts: &Iosts, partition_limit: usize, arrays: Arrays) -> Frame {
        let mut frame =
            if domain.sees_data { Frame::new(iosts, partition_limit, arrays) } else { Frame::blind() };
        frame.congruences = domain.knows_congruences;
        frame
    }

    /// All states: every cell, with every number within its type.
    pub fn top(&mut self) -> AbstractValue {
        let top = self
            .store
            .domain
            .top(self.frame.dimensions())
            .meet_constraints(&self.frame.bounds, &self.frame.integer);
        let mut known: BTreeMap<Vec<Constraint>, Option<ElementId>> = BTreeMap::new();
        let mut cells = Vec::new();
        for cell in self.frame.possible_cells() {
            let lengths = self.frame.lengths_of_lists(cell);
            let element = *known.entry(lengths).or_insert_with_key(|lengths| {
                self.store.add(top.meet_constraints(lengths, &self.frame.integer))
            });
            cells.extend(element.map(|element| (cell, element)));
        }
        AbstractValue::new(cells)
    }

    /// All states that satisfy a condition over variables and constants.
    pub fn satisfying(&mut self, condition: &Term) -> AbstractValue {
        let top = self.top();
        let (frame, limit) = (&self.frame, self.partition_limit);
        let mut effect = Effect::new(frame, &[], condition, &[], limit, !self.store.domain.sees_data);
        let mut known: BTreeMap<u32, Vec<Update>> = BTreeMap::new();
        let mut result = Vec::new();
        for &(cell, element) in top.cells() {
            let digits = self.keep_digits(cell, &effect.reads);
            let cases = known.entry(digits).or_insert_with(|| effect.compile(&self.frame, digits));
            for case in cases.iter() {
                let integer = [&self.frame.integer[..], &case.extra].concat();
                let before = self.store.get(element).add_dimensions(case.extra.len());
                let met = case.meet(before.meet_congruences(&[], &integer), &integer);
                let met = met.remove_last_dimensions(case.extra.len());
                result.extend(self.store.add(met).map(|met| (cell, met)));
            }
        }
        for imprecision in effect.imprecisions {
            if !self.initial_imprecisions.contains(&imprecision) {
                self.initial_imprecisions.push(imprecision);
            }
        }
        AbstractValue::new(result)
    }

    /// The cell with all other digits set to 0.
    fn keep_digits(&self, cell: u32, positions: &[usize]) -> u32 {
        let digit =
            |position: &usize| self.frame.digit(cell, *position) * self.frame.finite[*position].stride;
        positions.iter().map(digit).sum()
    }

    /// The numbers of the cases of a transition in a cell. They are compiled when they are first needed.
    fn cases(&mut self, transition: usize, cell: u32) -> Range<usize> {
        let effect = self.effect_of[transition];
        let digits = self.keep_digits(cell, &self.effects.get(effect).reads);
        if let Some(known) = self.compiled.get(&(effect, digits)) {
            return known.clone();
        }
        let start = self.cases.len();
        let new_cases = self.effects.get_mut(effect).compile(&self.frame, digits);
        // To compile a case takes at least as much work as four results, and 1024 parts of its condition take
        // as much as one.
        self.work += new_cases.iter().map(|case| 4 + case.condition.size() as u64 / 1024).sum::<u64>();
        self.cases.extend(new_cases);
        let range = start..self.cases.len();
        self.compiled.insert((effect, digits), range.clone());
        range
    }

    /// What was lost while a transition was compiled, for the cells met so far.
    pub fn imprecisions(&self, transition: usize) -> &[Beyond] {
        &self.effects.get(self.effect_of[transition]).imprecisions
    }

    /// The states after a transition, which is given by its position in the model. If it `may_repeat` and is
    /// a simple loop, it is taken once or more often.
    pub fn post(&mut self, transition: usize, from: &AbstractValue, may_repeat: bool) -> AbstractValue {
        if self.is_exhausted() {
            return self.top();
        }
        let mut result: BTreeMap<u32, ElementId> = BTreeMap::new();
        for &(cell, element) in from.cells() {
            for number in self.cases_to_take(transition, cell, may_repeat) {
                if self.is_exhausted() {
                    return self.top();
                }
                let Some(after) = self.post_case(number, element) else { continue };
                for target in targets(&self.frame, &self.cases[number], cell) {
                    let is_loop = may_repeat && target == cell;
                    let repeated =
                        is_loop.then(|| self.repeat(number, element, after, Orientation::Forward)).flatten();
                    self.join_into(&mut result, target, repeated.unwrap_or(after));
                }
            }
        }
        AbstractValue::new(result.into_iter().collect())
    }

    /// The numbers of a transition's cases in a cell. Only a case without disjunctions can be repeated, so
    /// the others are split for that.
    fn cases_to_take(&mut self, transition: usize, cell: u32, may_repeat: bool) -> Vec<usize> {
        if may_repeat { self.split_cases(transition, cell) } else { self.cases(transition, cell).collect() }
    }

    /// [`Abstraction::post`] for one cell, with nothing joined: a cell and an element for each case of the
    /// condition. A case with disjunctions is not split.
    pub fn post_each(&mut self, transition: usize, cell: u32, element: ElementId) -> Vec<(u32, ElementId)> {
        let (mut result, mut known) = (Vec::new(), FastSet::default());
        for number in self.cases(transition, cell) {
            let Some(after) = self.post_case(number, element) else { continue };
            let targets = targets(&self.frame, &self.cases[number], cell);
            let after = targets.into_iter().map(|target| (target, after));
            result.extend(after.filter(|pair| known.insert(*pair)));
        }
        result
    }

    /// The cases of a transition in a cell. A case with disjunctions is split into at most eight without.
    fn split_cases(&mut self, transition: usize, cell: u32) -> Vec<usize> {
        let mut split_numbers = Vec::new();
        for number in self.cases(transition, cell) {
            if !self.split.contains_key(&number) {
                let case = self.cases[number].clone();
                let conditions = case.condition.alternatives(8);
                let start = self.cases.len();
                // A case without disjunctions stands for itself.
                let range = if conditions.len() < 2 {
                    number..number + 1
                } else {
                    let alternative =
                        |condition| simplify_alternative(&self.frame, Update { condition, ..case.clone() });
                    self.cases.extend(conditions.into_iter().filter_map(alternative));
                    start..self.cases.len()
                };
                self.split.insert(number, range);
            }
            split_numbers.extend(self.split[&number].clone());
        }
        split_numbers
    }

    /// [`Abstraction::post`] with nothing joined: a value for each way to take the transition.
    pub fn post_apart(&mut self, transition: usize, from: &AbstractValue) -> Vec<AbstractValue> {
        let mut result = Vec::new();
        for &(cell, element) in from.cells() {
            for number in self.split_cases(transition, cell) {
                if self.is_exhausted() {
                    return vec![self.top()];
                }
                let Some(after) = self.post_case(number, element) else { continue };
                let targets = targets(&self.frame, &self.cases[number], cell);
                result.extend(targets.into_iter().map(|target| AbstractValue::new(vec![(target, after)])));
            }
        }
        result
    }

    /// [`Abstraction::pre`] with nothing joined: a value for each way to take the transition.
    pub fn pre_apart(
        &mut self,
        transition: usize,
        to: &AbstractValue,
        within: &AbstractValue,
    ) -> Vec<AbstractValue> {
        let mut result = Vec::new();
        for &(cell, element) in within.cells() {
            for number in self.split_cases(transition, cell) {
                if self.is_exhausted() {
                    return vec![within.clone()];
                }
                for target in targets(&self.frame, &self.cases[number], cell) {
                    let Some(target) = to.get(target) else { continue };
                    let before = self.pre_case(number, target, element);
                    result.extend(before.map(|before| AbstractValue::new(vec![(cell, before)])));
                }
            }
        }
        result
    }

    /// The cell of one state, and the element that has only this state. `None`: it is no state of the model.
    pub fn find_point(&mut self, state: &Valuation) -> Option<(u32, ElementId)> {
        let mut cell = 0;
        for finite in &self.frame.finite {
            let value = evaluate(&finite.place.term, state).ok()?;
            let digit = finite.values.iter().position(|known| *known == value)?;
            cell += u32::try_from(digit).ok()? * finite.stride;
        }
        let mut equalities = Vec::new();
        // A number that stands for many cells has no value of its own in a state.
        let stands_for_cells =
            |dimension: &usize| self.frame.summaries.iter().any(|summary| summary.leaves.contains(dimension));
        for dimension in (0..self.frame.dimensions()).filter(|dimension| !stands_for_cells(dimension)) {
            let value = match evaluate(&self.frame.numeric[dimension].term, state).ok()? {
                Value::Int(value) => Rational::from(integer(&value)),
                Value::Real(value) => rational(&value),
                _ => return None,
            };
            let difference = LinearExpression::variable(dimension).minus(&LinearExpression::constant(value));
            equalities.push(Constraint::from_expression(&difference, Relation::Equal));
        }
        let point =
            self.store.domain.top(self.frame.dimensions()).meet_constraints(&equalities, &self.frame.integer);
        Some((cell, self.store.add(point)?))
    }

    /// Joins an element to that of a cell, if there is one.
    fn join_into(&mut self, result: &mut BTreeMap<u32, ElementId>, cell: u32, element: ElementId) {
        let sum = result.get(&cell).map_or_else(|| element, |known| self.store.join_ids(*known, element));
        result.insert(cell, sum);
    }

    /// Adds the work of a case, from the steps that were counted before it.
    fn add_work(&mut self, steps_before: u64) {
        // So many steps take as much work as a result, or fewer in a domain with congruences.
        let steps_per_result = if self.store.domain.knows_congruences { 512 } else { 2048 };
        self.work += 1 + count_steps().wrapping_sub(steps_before) / steps_per_result;
    }

    /// The element after a case, without its target cell. `None`: the case cannot be taken.
    fn post_case(&mut self, number: usize, element: ElementId) -> Option<ElementId> {
        let case = &self.cases[number];
        if case.is_identity() {
            return Some(element);
        }
        let key = (number as u32, element);
        if let Some(known) = self.posts.get(&key) {
            return *known;
        }
        let steps_before = count_steps();
        let is_integer: Vec<bool> = [&self.frame.integer[..], &case.extra].concat();
        let before = case.with_own_dimensions(&self.frame, self.store.get(element), &is_integer);
        let met = case.meet(before, &is_integer);
        let result = if met.is_bottom() {
            None
        } else {
            let mut after = met.assign(&case.numeric).remove_last_dimensions(case.extra.len());
            if !case.unknown_bounds.is_empty() {
                after = after.meet_constraints(&case.unknown_bounds, &self.frame.integer);
            }
            self.store.add(after)
        };
        self.add_work(steps_before);
        self.posts.insert(key, result);
        result
    }

    /// Takes a case once or more often. `None`: it is no simple loop. `once` is the result of taking it once.
    /// If the case sets numbers, they have their values after the first time, so the repetition begins there.
    fn repeat(
        &mut self,
        number: usize,
        from: ElementId,
        once: ElementId,
        orientation: Orientation,
    ) -> Option<ElementId> {
        let case = &self.cases[number];
        let repetition = find_repetition(case, self.frame.dimensions())?;
        let start = if repetition.sets { once } else { from };
        let key = (number as u32, start, orientation);
        let repeated = match self.repeated.get(&key) {
            Some(known) => *known,
            None => {
                let (element, integer) = (self.store.get(start), &self.frame.integer);
                let repeated = match orientation {
                    Orientation::Forward => repetition.go_forward(case, element, integer),
                    Orientation::Backward => repetition.go_backward(case, element, integer),
                };
                let repeated = if repeated.is_bottom() { None } else { self.store.add(repeated) };
                self.repeated.insert(key, repeated);
                repeated
            }
        };
        Some(repeated.map_or_else(|| once, |repeated| self.store.join_ids(once, repeated)))
    }

    /// The states within `within` from which a transition can lead to `to`. If it `may_repeat` and is a
    /// simple loop, it is taken once or more often.
    pub fn pre(
        &mut self,
        transition: usize,
        to: &AbstractValue,
        within: &AbstractValue,
        may_repeat: bool,
    ) -> AbstractValue {
        if to.is_bottom() {
            return AbstractValue::bottom();
        }
        if self.is_exhausted() {
            return within.clone();
        }
        let mut result: BTreeMap<u32, ElementId> = BTreeMap::new();
        for &(cell, element) in within.cells() {
            for number in self.cases_to_take(transition, cell, may_repeat) {
                if self.is_exhausted() {
                    return within.clone();
                }
                for target in targets(&self.frame, &self.cases[number], cell) {
                    let Some(after) = to.get(target) else { continue };
                    let Some(before) = self.pre_case(number, after, element) else { continue };
                    // Backward, a case that sets numbers is not repeated.
                    let is_simple = may_repeat
                        && target == cell
                        && find_repetition(&self.cases[number], self.frame.dimensions())
                            .is_some_and(|repetition| !repetition.sets);
                    let repeated = is_simple
                        .then(|| self.repeat(number, after, before, Orientation::Backward))
                        .flatten()
                        .and_then(|repeated| self.store.meet_ids(repeated, element));
                    self.join_into(&mut result, cell, repeated.unwrap_or(before));
                }
            }
        }
        AbstractValue::new(result.into_iter().collect())
    }

    /// The part of `within` from which a case leads into `target`. `None`: there is none.
    fn pre_case(&mut self, number: usize, target: ElementId, within: ElementId) -> Option<ElementId> {
        let case = &self.cases[number];
        if case.is_identity() {
            return self.store.meet_ids(target, within);
        }
        let key = (number as u32, target, within);
        if let Some(known) = self.pres.get(&key) {
            return *known;
        }
        let steps_before = count_steps();
        // The case's own dimensions, for parameters and auxiliary numbers, follow those of the frame.
        let is_integer: Vec<bool> = [&self.frame.integer[..], &case.extra].concat();
        let own_dimensions = case.extra.len();
        // The target, said of the values before: each assigned dimension is replaced by its new value. The
        // call of `meet_congruences` tells the domain which of the dimensions are integer.
        let before = self.store.get(target).add_dimensions(own_dimensions).substitute(&case.numeric);
        let before = before.meet_congruences(&[], &is_integer);
        let within = case.with_own_dimensions(&self.frame, self.store.get(within), &is_integer);
        let mut met = before.meet(&within, &is_integer);
        if !met.is_bottom() {
            met = case.meet(met, &is_integer);
        }
        let result = match met.is_bottom() {
            true => None,
            false => self.store.add(met.remove_last_dimensions(own_dimensions)),
        };
        self.add_work(steps_before);
        self.pres.insert(key, result);
        result
    }
}
