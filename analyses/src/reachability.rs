//! `reach` and `coreach`: which states can be reached, and from which of them an accepting location can be.
//!
//! **Problem.** `Reach = ⋃ postⁿ(S0)` and `CoReach = ⋃ preⁿ(S_acc)` (thesis, (7.7) and (7.9), p. 181-184) decide which
//! transitions of a product a test case keeps. Neither is computable; both are over-approximated here, always.
//!
//! **Method.** `reach` is one forward fixpoint. `coreach` alternates (Cousot & Cousot, JLP 1992,
//! <https://doi.org/10.1016/0743-1066(92)90030-7>): with X0 = reach, Cᵢ is the backward fixpoint from the accepting
//! locations within Xᵢ₋₁, and Xᵢ the forward one from the initial states in Cᵢ, within Cᵢ; the last C is the answer.
//! Every state on a run from an initial state to an accepting location is in every Xᵢ and Cᵢ.
//!
//! **Where we differ** from the thesis: its `coreach` is not intersected with `reach`. Ours contains the coreachable
//! states that are *reachable*; selection conjoins `reach` anyway, and each round makes the other direction sharper.
//!
//! **Why it ends**: each fixpoint does ([`crate::fixpoint`]); rounds are counted, and end early where nothing changes.
//! Where a fixpoint is stopped by its limit, its answer is what it had to stay within, and the facts say so.

use std::collections::BTreeSet;
use std::fmt;

use coreach_model::Iosts;
use coreach_model::budget;
use coreach_model::term::Term;
use coreach_polyhedra::account::Account;
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};
use dashu::integer::IBig;

use crate::condition::Reason;
use crate::domains::{Domain, DomainKind, WithDomain};
use crate::effect::atoms;
use crate::excerpt::Excerpt;
use crate::facts::Writer;
use crate::fixpoint::{Equations, Flow, Solution, Stop, Strategy, solve};
use crate::frame::Frame;
use crate::linear::{integer, positive_constraint};
use crate::partition::Partition;
use crate::transfer::Abstraction;

/// Where widening may stop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Thresholds {
    /// The comparisons of guards and initial condition, and one more and one less.
    Auto,
    /// These numbers, as bounds of every number.
    List(Vec<IBig>),
}

/// The knobs of the analysis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The domain of numbers.
    pub domain: DomainKind,
    /// Joins at the head of a loop before widening.
    pub delay: usize,
    /// Where widening may stop; the types' bounds are always among them.
    pub thresholds: Thresholds,
    /// Narrowing sweeps after each fixpoint.
    pub descending_steps: usize,
    /// Rounds of backward and forward; at least one is done.
    pub rounds: usize,
    /// Valuations of Booleans and enumerations told apart.
    pub partition_limit: usize,
    /// Evaluations of locations in one fixpoint.
    pub step_limit: usize,
    /// Comparisons and flags in one fact, where it has more than a few cases.
    pub fact_limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            domain: DomainKind::Polyhedra,
            delay: 2,
            thresholds: Thresholds::Auto,
            descending_steps: 2,
            rounds: 2,
            partition_limit: 256,
            step_limit: 1_000_000,
            fact_limit: 200,
        }
    }
}

/// Where a loss happened.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LossPlace {
    /// The model's data: a place that is not described at all.
    Data,
    /// The initial condition.
    Initial,
    /// The transition of this number.
    Transition(usize),
}

/// A term that the analysis read as true, or as unknown: the facts are coarser for it, never wrong.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Loss {
    /// Where.
    pub place: LossPlace,
    /// The term.
    pub term: Term,
    /// Why.
    pub reason: Reason,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            LossPlace::Data => write!(f, "data: ")?,
            LossPlace::Initial => write!(f, "initial condition: ")?,
            LossPlace::Transition(number) => write!(f, "transition {number}: ")?,
        }
        write!(f, "`{}` is not analysed, since {}", Excerpt(&self.term), self.reason)
    }
}

/// What was done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Iterations {
    /// Evaluations of locations, in all fixpoints.
    pub steps: usize,
    /// Rounds of backward and forward.
    pub rounds: usize,
    /// Distinct numerical elements met.
    pub elements: usize,
    /// Results made coarser to stay within the domain's limits.
    pub coarsened: usize,
    /// Facts that say less than was found, to stay within `fact_limit`.
    pub shortened: usize,
    /// Why a fixpoint was given up, where one was.
    pub stopped: Option<Stop>,
}

/// The facts of a model, by location, as terms over variables and constants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Contains every reachable state at the location.
    pub reach: Vec<Term>,
    /// Contains every reachable state at the location from which an accepting location can be reached.
    pub coreach: Vec<Term>,
    /// What was not analysed, in order, each once.
    pub losses: Vec<Loss>,
    /// What was done.
    pub iterations: Iterations,
}

/// Over-approximates the reachable states: a term for each location, and what was lost.
pub fn reach(iosts: &Iosts, options: &Options) -> (Vec<Term>, Vec<Loss>) {
    let mut analyst = Analyst::new(options);
    let facts = analyst.account.within(|| analyst.remembered.run(iosts, None));
    (facts.reach, facts.losses)
}

/// Over-approximates the reachable and the coreachable states; `accepting` has an entry for each location.
///
/// # Panics
/// Where `accepting` is of another length than the locations.
pub fn analyse(iosts: &Iosts, accepting: &[bool], options: &Options) -> Facts {
    Analyst::new(options).analyse(iosts, accepting)
}

/// [`analyse`] with a domain that is not in the list: for who watches its operations.
#[doc(hidden)]
pub fn analyse_in<D: Domain>(iosts: &Iosts, accepting: &[bool], options: &Options) -> Facts {
    assert_eq!(accepting.len(), iosts.locations.len(), "one entry for each location");
    let mut remembered = Remembered::<D> { options: options.clone(), known: None };
    Account::default().within(|| remembered.run(iosts, Some(accepting)))
}

/// Analyses models that have most of their effects in common, one after the other, and remembers what it computed.
///
/// Selection asks what is reached in graphs that differ from each other in a few guards. Transitions, joins and meets of
/// elements that were seen before are looked up, so that a further round costs what is new in it. The facts are those
/// of an analysis that starts anew, but for one thing: where a domain coarsens a result to stay within its limits, the
/// order in which elements were first met may show. All its analyses draw on one account.
pub struct Analyst {
    remembered: Box<dyn Remembering>,
    account: Account,
}

impl Analyst {
    /// One that has seen nothing yet.
    pub fn new(options: &Options) -> Self {
        Analyst { remembered: options.domain.with(Start(options)), account: Account::default() }
    }

    /// [`analyse`], with the options given before.
    ///
    /// # Panics
    /// Where `accepting` is of another length than the locations.
    pub fn analyse(&mut self, iosts: &Iosts, accepting: &[bool]) -> Facts {
        assert_eq!(accepting.len(), iosts.locations.len(), "one entry for each location");
        self.account.within(|| self.remembered.run(iosts, Some(accepting)))
    }

    /// What is reached, as [`reach`] says it. What is lost has been said where the analyst saw the same terms before.
    pub fn reach(&mut self, iosts: &Iosts) -> Vec<Term> {
        self.account.within(|| self.remembered.run(iosts, None)).reach
    }
}

/// An analysis whose domain is hidden.
trait Remembering {
    fn run(&mut self, iosts: &Iosts, accepting: Option<&[bool]>) -> Facts;
}

struct Start<'a>(&'a Options);

impl WithDomain for Start<'_> {
    type Output = Box<dyn Remembering>;

    fn run<D: Domain>(self) -> Self::Output {
        Box::new(Remembered::<D> { options: self.0.clone(), known: None })
    }
}

struct Remembered<D> {
    options: Options,
    known: Option<(Abstraction<D>, Writer)>,
}

impl<D: Domain> Remembering for Remembered<D> {
    fn run(&mut self, iosts: &Iosts, accepting: Option<&[bool]>) -> Facts {
        let options = &self.options;
        let frame = Abstraction::<D>::frame_for(iosts, options.partition_limit);
        let thresholds = thresholds(iosts, &frame, &options.thresholds);
        // Another frame has other dimensions and cells: nothing that is known would mean the same.
        let kept = self.known.take().filter(|(abstraction, _)| abstraction.frame.is_same(&frame));
        let (abstraction, writer) = self.known.insert(match kept {
            Some((mut abstraction, writer)) => {
                abstraction.turn_to(iosts, thresholds);
                (abstraction, writer)
            }
            None => (
                Abstraction::<D>::new(iosts, options.partition_limit, thresholds, frame),
                Writer::new(options.fact_limit),
            ),
        });
        let mut iterations = Iterations::default();
        let initial = abstraction.satisfying(&iosts.initial_condition);
        let mut forward = Direction::forward(iosts, initial);
        let reached = forward.solve(abstraction, None, options, &mut iterations);
        let mut write = |abstraction: &Abstraction<D>, values: &[Partition]| -> Vec<Term> {
            values.iter().map(|value| writer.term(&abstraction.frame, &abstraction.store, value)).collect()
        };
        let reach = write(abstraction, &reached);
        let coreach = match accepting {
            None => Vec::new(),
            Some(accepting) => {
                let coreached =
                    alternate(iosts, accepting, reached, &mut forward, abstraction, options, &mut iterations);
                write(abstraction, &coreached)
            }
        };
        iterations.elements = abstraction.store.len();
        iterations.shortened = writer.shortened;
        iterations.coarsened = abstraction.store.coarsened;
        Facts { reach, coreach, losses: losses(iosts, abstraction), iterations }
    }
}

fn alternate<D: Domain>(
    iosts: &Iosts,
    accepting: &[bool],
    reached: Vec<Partition>,
    forward: &mut Direction,
    abstraction: &mut Abstraction<D>,
    options: &Options,
    iterations: &mut Iterations,
) -> Vec<Partition> {
    let mut backward = Direction::backward(iosts, accepting);
    let mut within = reached;
    let mut round = 0;
    loop {
        round += 1;
        iterations.rounds = round;
        let coreached = backward.solve(abstraction, Some(&within), options, iterations);
        if round >= options.rounds || coreached == within {
            return coreached;
        }
        let next = forward.solve(abstraction, Some(&coreached), options, iterations);
        if next == coreached || next == within {
            return coreached;
        }
        within = next;
    }
}

/// One direction of the analysis: the graph, and where values enter.
struct Direction {
    flow: Flow,
    entries: Vec<u32>,
    /// The entries' value; all that the bounds allow, where there is none.
    entry: Option<Partition>,
    is_forward: bool,
}

impl Direction {
    fn forward(iosts: &Iosts, initial: Partition) -> Self {
        let edges = iosts.transitions.iter().map(|t| (t.source.0, t.target.0)).collect();
        Direction {
            flow: Flow::new(iosts.locations.len(), edges),
            entries: vec![iosts.initial.0],
            entry: Some(initial),
            is_forward: true,
        }
    }

    fn backward(iosts: &Iosts, accepting: &[bool]) -> Self {
        let edges = iosts.transitions.iter().map(|t| (t.target.0, t.source.0)).collect();
        let entries = (0..accepting.len() as u32).filter(|at| accepting[*at as usize]).collect();
        Direction { flow: Flow::new(iosts.locations.len(), edges), entries, entry: None, is_forward: false }
    }

    fn solve<D: Domain>(
        &mut self,
        abstraction: &mut Abstraction<D>,
        within: Option<&[Partition]>,
        options: &Options,
        iterations: &mut Iterations,
    ) -> Vec<Partition> {
        budget::doing(match self.is_forward {
            true => "the fixpoint of what is reachable",
            false => "the fixpoint of what can reach Accept",
        });
        let mut is_entry = vec![false; self.flow.nodes()];
        for entry in &self.entries {
            is_entry[*entry as usize] = true;
        }
        let mut equations = Transfers { direction: self, abstraction, within, is_entry };
        let strategy = Strategy {
            delay: options.delay,
            descending_steps: options.descending_steps,
            step_limit: options.step_limit,
        };
        let Solution { values, steps, stopped } = solve(&self.flow, &self.entries, &mut equations, &strategy);
        iterations.steps += steps;
        iterations.stopped = iterations.stopped.or(stopped);
        values
    }
}

struct Transfers<'a, D> {
    direction: &'a Direction,
    abstraction: &'a mut Abstraction<D>,
    within: Option<&'a [Partition]>,
    is_entry: Vec<bool>,
}

impl<D: Domain> Equations for Transfers<'_, D> {
    type Value = Partition;

    fn bottom(&self) -> Partition {
        Partition::bottom()
    }

    fn entry(&mut self, node: u32) -> Partition {
        if !self.is_entry[node as usize] {
            return Partition::bottom();
        }
        let bound = self.within.map(|within| &within[node as usize]);
        match (&self.direction.entry, bound) {
            (Some(entry), Some(bound)) => self.abstraction.store.meet(entry, bound),
            (Some(entry), None) => entry.clone(),
            (None, Some(bound)) => bound.clone(),
            (None, None) => self.abstraction.top(),
        }
    }

    fn transfer(&mut self, edge: u32, source: &Partition) -> Partition {
        if source.is_bottom() {
            return Partition::bottom();
        }
        let (_, target) = self.direction.flow.edge(edge);
        let bound = self.within.map(|within| &within[target as usize]);
        if self.direction.is_forward {
            let after = self.abstraction.post(edge as usize, source);
            return match bound {
                Some(bound) => self.abstraction.store.meet(&after, bound),
                None => after,
            };
        }
        match bound {
            Some(bound) => self.abstraction.pre(edge as usize, source, bound),
            None => {
                let top = self.abstraction.top();
                self.abstraction.pre(edge as usize, source, &top)
            }
        }
    }

    fn join(&mut self, a: &Partition, b: &Partition) -> Partition {
        self.abstraction.store.join(a, b)
    }

    fn is_leq(&mut self, a: &Partition, b: &Partition) -> bool {
        self.abstraction.store.is_leq(a, b)
    }

    fn widen(&mut self, old: &Partition, new: &Partition) -> Partition {
        self.abstraction.store.widen(old, new, &self.abstraction.thresholds)
    }

    fn narrow(&mut self, old: &Partition, new: &Partition) -> Partition {
        self.abstraction.store.narrow(old, new)
    }

    fn fallback(&mut self, node: u32) -> Partition {
        match self.within {
            Some(within) => within[node as usize].clone(),
            None => self.abstraction.top(),
        }
    }
}

/// The most thresholds that are read off a model: each is tried at each widening.
const THRESHOLD_LIMIT: usize = 400;

fn thresholds(iosts: &Iosts, frame: &Frame, wanted: &Thresholds) -> Vec<Constraint> {
    let mut found = frame.bounds.clone();
    match wanted {
        Thresholds::List(numbers) => {
            for (dimension, number) in
                (0..frame.dimensions()).flat_map(|dimension| numbers.iter().map(move |n| (dimension, n)))
            {
                let variable = LinearExpression::variable(dimension);
                let number = LinearExpression::constant(Rational::from(integer(number)));
                found.push(positive_constraint(&variable.minus(&number), Relation::AtLeast));
                found.push(positive_constraint(&number.minus(&variable), Relation::AtLeast));
            }
        }
        Thresholds::Auto => {
            let guards = iosts.transitions.iter().map(|transition| transition.guard.clone());
            let terms = std::iter::once(iosts.initial_condition.clone()).chain(guards);
            for atom in atoms(frame, terms) {
                found.extend(around(&atom));
            }
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|constraint| seen.insert(constraint.clone()));
    found.truncate(THRESHOLD_LIMIT);
    found
}

/// Both sides of an atom, at its constant and one beside it.
fn around(atom: &Constraint) -> Vec<Constraint> {
    let expression = atom.expression();
    let mut found = Vec::new();
    for offset in [-1i64, 0, 1] {
        let shifted = expression.plus(&LinearExpression::constant(Rational::from(Integer::from(offset))));
        found.push(positive_constraint(&shifted, Relation::AtLeast));
        found.push(positive_constraint(&shifted.times(&Rational::from(-1)), Relation::AtLeast));
    }
    found
}

fn losses<D: Domain>(iosts: &Iosts, abstraction: &Abstraction<D>) -> Vec<Loss> {
    let mut found = Vec::new();
    for place in &abstraction.frame.dropped {
        found.push(Loss { place: LossPlace::Data, term: place.term.clone(), reason: Reason::Unpartitioned });
    }
    for (term, reason) in &abstraction.initial_losses {
        found.push(Loss { place: LossPlace::Initial, term: term.clone(), reason: *reason });
    }
    for number in 0..iosts.transitions.len() {
        for (term, reason) in abstraction.losses(number) {
            let place = LossPlace::Transition(number);
            found.push(Loss { place, term: term.clone(), reason: *reason });
        }
    }
    found
}
