//! `reach` and `coreach`: which states can be reached, and from which of them an accepting location can be.
//!
//! **Problem.** `Reach = ⋃ postⁿ(S0)` and `CoReach = ⋃ preⁿ(S_acc)` (thesis, (7.7) and (7.9), p. 181-184)
//! decide which transitions of a product a test case keeps. Neither is computable. Here both are always
//! over-approximated.
//!
//! **Method.** `reach` is one forward fixpoint. `coreach` alternates (Cousot & Cousot, JLP 1992,
//! <https://doi.org/10.1016/0743-1066(92)90030-7>): with X0 = reach, Cᵢ is the backward fixpoint from the
//! accepting locations within Xᵢ₋₁, and Xᵢ the forward one from the initial states in Cᵢ, within Cᵢ. The last
//! C is the answer. Every state on a run from an initial state to Accept is in every Xᵢ and Cᵢ.
//!
//! **Where we differ** from the thesis: its `coreach` is not intersected with `reach`. Ours contains the
//! coreachable states that are *reachable*. Selection conjoins `reach` anyway, and each round makes the other
//! direction more precise. **Why it ends**: each fixpoint ends ([`crate::fixpoint`]). The rounds are limited,
//! and end early if nothing changes. If a fixpoint is stopped by its limit, its answer is the bound that it
//! had to stay within, and the facts say so.

use coreach_model::iosts::LocationId;
use coreach_model::term::Term;
use coreach_model::{Iosts, Number};
use coreach_model::{budget, journal};
use coreach_polyhedra::account::Account;

use crate::determined::replace_determined_parameters;
use crate::domains::Domain;
use crate::domains::any::AnyDomain;
use crate::facts::FactWriter;
use crate::fixpoint::{Equations, Exhausted, Flow, Schedule, Solution, solve};
use crate::frame::Frame;
use crate::inductive::{HornClauses, Orientation, RefinementIteration};
use crate::options::FEW_CELLS;
pub use crate::options::{Analysis, Coarseness, Loops, Refinement};
use crate::partition::AbstractValue;
use crate::regions::{OrientedFacts, Regions, split_regions};
use crate::scope::ImprecisionReason;
use crate::summaries::for_all;
pub use crate::thresholds::Thresholds;
use crate::thresholds::list_thresholds;
use crate::transfer::Abstraction;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ImprecisionPlace {
    /// The model's data: a place that is not described at all.
    Data,
    Initial,
    Transition(usize),
}

/// A term that the analysis read as true, or as unknown. This makes the facts coarser, but never wrong.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Imprecision {
    pub place: ImprecisionPlace,
    pub term: Term,
    pub reason: ImprecisionReason,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Iterations {
    pub steps: usize,
    pub rounds: usize,
    /// How many distinct numerical elements were met.
    pub elements: usize,
    /// How many results were made coarser to stay within the domain's limits.
    pub coarsened: usize,
    /// How many facts say less than was found, to stay within `fact_limit`.
    pub shortened: usize,
    /// How many transitions the exact reference could not decide, if it was asked.
    pub undecided: usize,
    /// Are the last two refinement iterations those with regions?
    pub has_regions: bool,
    /// What the analysis left out, because it took too much work with it.
    pub coarseness: Coarseness,
    /// Why a fixpoint was given up, if one was.
    pub stopped: Option<Exhausted>,
}

/// The facts of a model, by location, as terms over variables and constants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Contains every reachable state at the location.
    pub reach: Vec<Term>,
    /// Contains every reachable state at the location from which an accepting location can be reached.
    pub coreach: Vec<Term>,
    /// The proof of the facts: all refinement iterations of the alternation, by location. The first is
    /// `reach`. If accepting locations were given, the last is `coreach`. Each is inductive within the one
    /// before ([`crate::inductive`]), as far as terms say what was found: a shortened fact may say too little
    /// for a proof that rests on it.
    pub chain: Vec<RefinementIteration>,
    /// What was not analysed, in order, each once.
    pub imprecisions: Vec<Imprecision>,
    pub iterations: Iterations,
}

impl Facts {
    /// Returns the facts as they were before regions were told apart. `None` if none were.
    pub fn without_regions(&self) -> Option<Facts> {
        let kept = self.chain.len().checked_sub(2).filter(|_| self.iterations.has_regions)?;
        let chain = self.chain[..kept].to_vec();
        Some(Facts { coreach: chain.last()?.facts.clone(), chain, ..self.clone() })
    }
}

/// Over-approximates the reachable states: a term for each location, and what was lost.
pub fn reach(iosts: &Iosts, options: &Analysis) -> (Vec<Term>, Vec<Imprecision>) {
    let facts = Analyst::new(options).run(iosts, None);
    (facts.reach, facts.imprecisions)
}

/// Over-approximates the reachable and the coreachable states; `accepting` has an entry for each location.
/// Panics if `accepting` has another length than the locations.
pub fn analyse(iosts: &Iosts, accepting: &[bool], options: &Analysis) -> Facts {
    Analyst::new(options).analyse(iosts, accepting)
}

/// [`analyse`] with a domain that is not in the list, for tests that watch its operations.
#[doc(hidden)]
#[allow(clippy::expect_used, reason = "work without a limit ends")]
pub fn analyse_in<D: Domain>(iosts: &Iosts, accepting: &[bool], options: &Analysis) -> Facts {
    assert_eq!(accepting.len(), iosts.locations.len(), "one entry for each location");
    let mut remembered = Remembered::new(AnyDomain::new::<D>(), options, None);
    Account::default().within(|| remembered.run(iosts, Some(accepting))).expect("work without a limit ends")
}

/// Analyses models that have most of their effects in common, and remembers what it computed.
///
/// Selection asks what is reached in graphs that differ from each other in a few guards. Transitions, joins
/// and meets of elements that were seen before are looked up, so a further round costs only its new elements.
/// The facts are those of an analysis that starts anew, with one exception: if a domain coarsens a result to
/// stay within its limits, the result may depend on the order in which elements were first met. All analyses
/// of one analyst draw on one account of work.
pub struct Analyst {
    options: Analysis,
    /// How much coarser the options are than those that were given.
    coarseness: Coarseness,
    remembered: Remembered,
    account: Account,
}

impl Analyst {
    pub fn new(options: &Analysis) -> Self {
        let coarseness = Coarseness::AsGiven;
        let remembered = Remembered::new(options.domain.implementation(), options, coarseness.work_limit());
        Analyst { options: options.clone(), coarseness, remembered, account: Account::default() }
    }

    /// Analyses a model. If this takes too much work, it is analysed again with coarser options.
    fn run(&mut self, iosts: &Iosts, accepting: Option<&[bool]>) -> Facts {
        loop {
            if let Some(mut facts) = self.account.within(|| self.remembered.run(iosts, accepting)) {
                facts.iterations.coarseness = self.coarseness;
                return facts;
            }
            self.coarsen();
        }
    }

    /// Begins anew with coarser options.
    fn coarsen(&mut self) {
        // If there are few cells already, the numbers cost the work: then no cells are tried next.
        let has_few_cells = self.coarseness == Coarseness::AsGiven
            && self.remembered.cells().is_some_and(|cells| cells <= FEW_CELLS);
        self.coarseness = if has_few_cells { Coarseness::NoCells } else { self.coarseness.next() };
        journal::note(|| format!("the analysis takes too much work: {:?}", self.coarseness));
        let options = &self.coarseness.apply(&self.options);
        self.remembered =
            Remembered::new(options.domain.implementation(), options, self.coarseness.work_limit());
        self.account = Account::default();
    }

    /// [`analyse`], with the options given before.
    /// Panics if `accepting` has another length than the locations.
    pub fn analyse(&mut self, iosts: &Iosts, accepting: &[bool]) -> Facts {
        assert_eq!(accepting.len(), iosts.locations.len(), "one entry for each location");
        self.run(iosts, Some(accepting))
    }

    /// Over-approximates the reachable states, as [`reach`] does. What was lost is not returned: it was
    /// reported when the analyst first saw these terms.
    pub fn reach(&mut self, iosts: &Iosts) -> Vec<Term> {
        self.run(iosts, None).reach
    }
}

/// An analysis in one domain, with what it computed for earlier models.
struct Remembered {
    domain: AnyDomain,
    options: Analysis,
    work_limit: Option<u64>,
    known: Option<(Abstraction, FactWriter)>,
}

impl Remembered {
    fn new(domain: AnyDomain, options: &Analysis, work_limit: Option<u64>) -> Self {
        Remembered { domain, options: options.clone(), work_limit, known: None }
    }

    /// Computes the facts. `None`: they take too much work.
    fn run(&mut self, iosts: &Iosts, accepting: Option<&[bool]>) -> Option<Facts> {
        let iosts = &*replace_determined_parameters(iosts);
        let backward = accepting.map(|accepting| HornClauses::backward(iosts, accepting));
        self.solve(iosts, HornClauses::forward(iosts), backward)
    }

    /// The number of cells of the last partition, if there was one.
    fn cells(&self) -> Option<usize> {
        self.known.as_ref().map(|(abstraction, _)| abstraction.frame.cells as usize)
    }

    /// Solves the conditions, alternately forward and backward, and writes the facts by location. The points
    /// of the conditions are the same in both orientations.
    fn solve<T: Copy>(
        &mut self,
        iosts: &Iosts,
        forward: HornClauses<T>,
        backward: Option<HornClauses<T>>,
    ) -> Option<Facts> {
        let (domain, options) = (self.domain, &self.options);
        let frame = choose_frame(domain, iosts, options);
        let thresholds = list_thresholds(domain, iosts, &frame, &options.thresholds);
        // Over another frame, dimensions and cells have other meanings, so nothing known can be kept.
        let kept = self.known.take().filter(|(abstraction, _)| abstraction.frame.is_same(&frame));
        let (abstraction, writer) = self.known.insert(match kept {
            Some((mut abstraction, writer)) => {
                abstraction.turn_to(iosts, thresholds);
                (abstraction, writer)
            }
            None => (
                Abstraction::new(domain, iosts, options.partition_limit, thresholds, frame),
                FactWriter::new(options.fact_limit),
            ),
        });
        abstraction.work_limit = self.work_limit;
        let mut iterations = Iterations::default();
        let initial = abstraction.satisfying(&iosts.initial_condition);
        let forward = OneWay::new(forward, Some(initial));
        let mut refinements = vec![forward.solve(abstraction, None, options, &mut iterations)];
        let backward = backward.map(|backward| OneWay::new(backward, None));
        if let Some(backward) = &backward {
            alternate(&forward, backward, &mut refinements, abstraction, options, &mut iterations);
        }
        if abstraction.is_exhausted() {
            return None;
        }
        let mut stages: Vec<StageValues> =
            refinements.iter().map(|values| forward.clauses.at_locations(iosts, values)).collect();
        if let Some(backward) = &backward
            && domain.sees_data
            && options.disjuncts > 1
        {
            // Its operations have an account of their own, so that later analyses are as exact as without.
            Account::default().within(|| {
                refine_by_regions(
                    &forward,
                    backward,
                    &mut stages,
                    abstraction,
                    iosts,
                    options,
                    &mut iterations,
                );
            });
        }
        // A fact about all elements of a list has no short term, so it is left out.
        let elements = abstraction.frame.elements_of_lists();
        if !elements.is_empty() {
            for value in stages.iter_mut().flatten().flatten() {
                *value = abstraction.store.forget(value, &elements);
            }
        }
        let (frame, store) = (&abstraction.frame, &abstraction.store);
        let write = |stage: &StageValues, writer: &mut FactWriter| -> Vec<Term> {
            stage.iter().map(|values| for_all(frame, &writer.disjunction(frame, store, values))).collect()
        };
        // The facts are written first, so that shortened ones are counted once. The refinement iterations
        // write them again.
        let reach = write(&stages[0], writer);
        let last = stages.last().filter(|_| backward.is_some());
        let coreach = last.map_or_else(Vec::new, |last| write(last, writer));
        iterations.shortened = writer.shortened;
        let orientations = [Orientation::Forward, Orientation::Backward].into_iter().cycle();
        let chain = orientations
            .zip(&stages)
            .map(|(orientation, stage)| RefinementIteration { orientation, facts: write(stage, writer) })
            .collect();
        writer.shortened = iterations.shortened;
        iterations.elements = abstraction.store.count();
        iterations.coarsened = abstraction.store.coarsened;
        Some(Facts { reach, coreach, chain, imprecisions: list_imprecisions(iosts, abstraction), iterations })
    }
}

/// If more numbers than these are related, the partition has in proportion fewer cells.
const NUMBERS: usize = 8;

/// If more numbers than these are related, the partition has fewer cells in proportion to the square of the
/// numbers, because an operation looks at pairs of numbers.
const MANY_NUMBERS: usize = 16;

/// Chooses the frame of a model. A domain that relates many numbers gets fewer cells.
fn choose_frame(domain: AnyDomain, iosts: &Iosts, options: &Analysis) -> Frame {
    let mut frame = Abstraction::frame_for(domain, iosts, options.partition_limit, options.arrays);
    if domain.relates && frame.dimensions() > NUMBERS {
        let dimensions = frame.dimensions();
        let mut limit = options.partition_limit.saturating_mul(NUMBERS) / dimensions;
        if dimensions > MANY_NUMBERS {
            limit = limit.saturating_mul(MANY_NUMBERS) / dimensions;
        }
        frame = Abstraction::frame_for(domain, iosts, limit, options.arrays);
    }
    frame.condition_limit = options.condition_limit;
    frame
}

/// The values of one refinement iteration, by location: those of its points.
type StageValues = Vec<Vec<AbstractValue>>;

/// Makes one further refinement iteration in each orientation, with the locations split where joins have lost
/// something ([`crate::regions`]). Its work does not count for later analyses. If it is too much, the stages
/// stay as they are.
fn refine_by_regions<T: Copy>(
    forward: &OneWay<T>,
    backward: &OneWay<T>,
    stages: &mut Vec<StageValues>,
    abstraction: &mut Abstraction,
    iosts: &Iosts,
    options: &Analysis,
    iterations: &mut Iterations,
) {
    let work_before = abstraction.work;
    let further = find_stages_of_regions(forward, backward, stages, abstraction, iosts, options, iterations);
    if !abstraction.is_exhausted() {
        iterations.has_regions = further.is_some();
        stages.extend(further.into_iter().flatten());
    }
    abstraction.work = work_before;
}

/// Returns the two further stages with regions, forward and then backward. `None`: nothing is split, or the
/// stages take too many steps.
fn find_stages_of_regions<T: Copy>(
    forward: &OneWay<T>,
    backward: &OneWay<T>,
    stages: &[StageValues],
    abstraction: &mut Abstraction,
    iosts: &Iosts,
    options: &Analysis,
    iterations: &mut Iterations,
) -> Option<[StageValues; 2]> {
    let top = abstraction.top();
    let accepting: Vec<LocationId> = backward.entry_locations().collect();
    let initial_entry =
        |location: LocationId| (location == iosts.initial).then(|| forward.entry.clone()).flatten();
    let accepting_entry = |location: LocationId| accepting.contains(&location).then(|| top.clone());
    let whole_space = vec![vec![top.clone()]; iosts.locations.len()];
    // The last stage is backward. Each stage lies within the one before it.
    let stage = |from_end: usize| stages.len().checked_sub(from_end).map_or(&whole_space, |at| &stages[at]);
    let (last_coreached, last_reached, bound_of_reached) = (stage(1), stage(2), stage(3));
    let facts = [
        OrientedFacts {
            orientation: Orientation::Backward,
            values: last_coreached,
            within: last_reached,
            entry: &accepting_entry,
        },
        OrientedFacts {
            orientation: Orientation::Forward,
            values: last_reached,
            within: bound_of_reached,
            entry: &initial_entry,
        },
    ];
    let mut regions = Regions::one_each(iosts);
    let is_split = facts
        .each_ref()
        .map(|facts| split_regions(abstraction, iosts, facts, options.disjuncts, &mut regions));
    if is_split == [false, false] {
        return None;
    }
    let clauses = |orientation: Orientation, is_entry: &dyn Fn(LocationId) -> bool| {
        let points = regions.points();
        HornClauses::over(iosts, orientation, points, |point| is_entry(point.location), |_, _, _| true)
    };
    let forward_clauses = clauses(Orientation::Forward, &|location| location == iosts.initial);
    let backward_clauses = clauses(Orientation::Backward, &|location| accepting.contains(&location));
    let forward_by_regions = OneWay::new(forward_clauses, forward.entry.clone());
    let backward_by_regions = OneWay::new(backward_clauses, None);
    // Each fixpoint with regions may take as many steps as all of those without, and at least 200. If it
    // takes more, the facts stay as they are. Steps do not depend on what is remembered, and work does.
    let most = iterations.steps.max(200);
    let options = Analysis { step_limit: options.step_limit.min(most), ..options.clone() };
    let within = regions.within(abstraction, last_coreached);
    let mut further = Iterations::default();
    let reached = forward_by_regions.solve(abstraction, Some(&within), &options, &mut further);
    let coreached = backward_by_regions.solve(abstraction, Some(&reached), &options, &mut further);
    iterations.steps += further.steps;
    if further.stopped.is_some() {
        return None;
    }
    iterations.rounds += 1;
    Some([reached, coreached].map(|values| regions.by_location(abstraction, &values)))
}

/// Makes refinement iterations, backward and forward in turns, each within the one before, at last backward.
fn alternate<T: Copy>(
    forward: &OneWay<T>,
    backward: &OneWay<T>,
    refinements: &mut Vec<Vec<AbstractValue>>,
    abstraction: &mut Abstraction,
    options: &Analysis,
    iterations: &mut Iterations,
) {
    loop {
        iterations.rounds += 1;
        let within = refinements.last().map(Vec::as_slice);
        let coreached = backward.solve(abstraction, within, options, iterations);
        let is_last = iterations.rounds >= options.rounds || within == Some(&coreached);
        refinements.push(coreached);
        if is_last {
            return;
        }
        let within = refinements.last().map(Vec::as_slice);
        let next = forward.solve(abstraction, within, options, iterations);
        // Nothing is new if it is the backward one before it, or the forward one before that.
        if refinements.iter().rev().take(2).any(|refinement| *refinement == next) {
            return;
        }
        refinements.push(next);
    }
}

/// One orientation of the analysis: its conditions as a graph, and the value with which it enters.
struct OneWay<T> {
    clauses: HornClauses<T>,
    flow: Flow,
    /// The value at the entries. `None`: all states within the bounds.
    entry: Option<AbstractValue>,
}

impl<T: Copy> OneWay<T> {
    fn entry_locations(&self) -> impl Iterator<Item = LocationId> {
        self.clauses.entries.iter().map(|entry| self.clauses.points[*entry as usize].location)
    }

    fn new(clauses: HornClauses<T>, entry: Option<AbstractValue>) -> Self {
        let edges = clauses.steps.iter().map(|step| (step.from, step.to)).collect();
        OneWay { flow: Flow::new(clauses.points.len(), edges), clauses, entry }
    }

    /// Computes the fixpoint of this orientation, within an earlier one if it is given.
    fn solve(
        &self,
        abstraction: &mut Abstraction,
        within: Option<&[AbstractValue]>,
        options: &Analysis,
        iterations: &mut Iterations,
    ) -> Vec<AbstractValue> {
        budget::doing(match self.clauses.orientation {
            Orientation::Forward => "computing the reachable states",
            Orientation::Backward => "computing the states that can reach Accept",
        });
        let mut is_entry = vec![false; self.flow.nodes()];
        for entry in &self.clauses.entries {
            is_entry[*entry as usize] = true;
        }
        let sees_data = abstraction.store.domain.sees_data;
        let mut equations = Transfers { way: self, abstraction, within, is_entry };
        let strategy = Schedule {
            delay: options.delay,
            descending_steps: options.descending_steps,
            step_limit: options.step_limit,
            accelerated: sees_data && options.loops != Loops::Widened,
            guided: sees_data && options.loops == Loops::Guided,
        };
        let Solution { values, steps, stopped } =
            solve(&self.flow, &self.clauses.entries, &mut equations, &strategy);
        iterations.steps += steps;
        iterations.stopped = iterations.stopped.or(stopped);
        values
    }
}

struct Transfers<'a, T> {
    way: &'a OneWay<T>,
    abstraction: &'a mut Abstraction,
    within: Option<&'a [AbstractValue]>,
    is_entry: Vec<bool>,
}

impl<T> Transfers<'_, T> {
    /// Takes a value along an edge, once or (if `repeated`) once or more often, within the bound.
    fn take_along(&mut self, edge: u32, source: &AbstractValue, repeated: bool) -> AbstractValue {
        if source.is_bottom() {
            return AbstractValue::bottom();
        }
        let step = self.way.clauses.steps[edge as usize];
        let transition = step.transition.place();
        let abstraction = &mut *self.abstraction;
        let bound = self.within.map(|within| &within[step.to as usize]);
        match self.way.clauses.orientation {
            Orientation::Forward => {
                let after = abstraction.post(transition, source, repeated);
                if let Some(bound) = bound { abstraction.store.meet(&after, bound) } else { after }
            }
            Orientation::Backward => {
                let bound = bound.cloned().unwrap_or_else(|| abstraction.top());
                abstraction.pre(transition, source, &bound, repeated)
            }
        }
    }
}

impl<T> Equations for Transfers<'_, T> {
    type Value = AbstractValue;

    fn bottom(&self) -> AbstractValue {
        AbstractValue::bottom()
    }

    fn entry(&mut self, node: u32) -> AbstractValue {
        if !self.is_entry[node as usize] {
            return AbstractValue::bottom();
        }
        let bound = self.within.map(|within| &within[node as usize]);
        match (&self.way.entry, bound) {
            (Some(entry), Some(bound)) => self.abstraction.store.meet(entry, bound),
            (Some(entry), None) => entry.clone(),
            (None, Some(bound)) => bound.clone(),
            (None, None) => self.abstraction.top(),
        }
    }

    fn transfer(&mut self, edge: u32, source: &AbstractValue) -> AbstractValue {
        self.take_along(edge, source, /* repeated */ false)
    }

    fn repeated(&mut self, edge: u32, source: &AbstractValue) -> AbstractValue {
        self.take_along(edge, source, /* repeated */ true)
    }

    fn join(&mut self, a: &AbstractValue, b: &AbstractValue) -> AbstractValue {
        self.abstraction.store.join(a, b)
    }

    fn is_leq(&mut self, a: &AbstractValue, b: &AbstractValue) -> bool {
        self.abstraction.store.is_leq(a, b)
    }

    fn widen(&mut self, old: &AbstractValue, new: &AbstractValue) -> AbstractValue {
        self.abstraction.store.widen(old, new, &self.abstraction.thresholds)
    }

    fn narrow(&mut self, old: &AbstractValue, new: &AbstractValue) -> AbstractValue {
        self.abstraction.store.narrow(old, new)
    }

    fn fallback(&mut self, node: u32) -> AbstractValue {
        self.within.map_or_else(|| self.abstraction.top(), |within| within[node as usize].clone())
    }
}

/// Lists what the analysis did not see: of the data, the initial conditions, and each transition.
fn list_imprecisions(iosts: &Iosts, abstraction: &Abstraction) -> Vec<Imprecision> {
    let mut imprecisions = Vec::new();
    let mut note = |place: ImprecisionPlace, term: &Term, reason: ImprecisionReason| {
        imprecisions.push(Imprecision { place, term: term.clone(), reason });
    };
    for dropped in &abstraction.frame.dropped {
        note(ImprecisionPlace::Data, &dropped.term, ImprecisionReason::Unpartitioned);
    }
    for (term, reason) in &abstraction.initial_imprecisions {
        note(ImprecisionPlace::Initial, term, *reason);
    }
    for transition in 0..iosts.transitions.len() {
        for (term, reason) in abstraction.imprecisions(transition) {
            note(ImprecisionPlace::Transition(transition), term, *reason);
        }
    }
    imprecisions
}

#[cfg(test)]
mod tests;
