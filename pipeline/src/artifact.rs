//! The result of each stage, one type each: a stage takes the type before it, so none can be skipped or
//! swapped.
//!
//! `CompletePurpose -> Product -> Closed -> Visible -> TestGraph -> CaseGraph`. [`crate::check`] checks what
//! must hold of each.

use std::collections::BTreeSet;

use coreach_analyses::inductive::RefinementIteration;
pub use coreach_artifact::document::SelectionCounts;
use coreach_model::iosts::{Iosts, Location, LocationId, TestPurpose, Transition, TransitionOrigin};
use coreach_model::term::Substitution;
use coreach_model::{ActionId, Datum, Numbered, Term, TransitionId};
pub use coreach_model::{Verdict, Violated};

// Provenance. Each artifact notes what its locations and transitions were made of. Each list is indexed by
// the artifact's own numbers, and holds numbers of the artifact before. `check` compares the two.

/// A member of a location of [`Visible`]: where a run may be, and how its data follow from those that are
/// shown.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Member {
    pub location: LocationId,
    /// The assignments of the run that the data of [`Visible`] do not show: the effects of its last events,
    /// the oldest first, each over the data before it.
    pub steps: Vec<Substitution>,
}

/// Facts about each location of [`Closed`] up to Accept, with which choices were made deterministic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Basis {
    /// Over-approximation of the states that are reached before Accept, and in it.
    pub reach: Numbered<LocationId, Term>,
    /// Over-approximation of the states from which Accept can be reached.
    pub coreach: Numbered<LocationId, Term>,
    /// The proof of both: the refinement iterations of their analysis, each inductive within the one before.
    /// The first one is `reach`.
    pub chain: Vec<RefinementIteration>,
    /// The variables that something before Accept still reads. Members carry values of these only.
    pub live: Numbered<LocationId, BTreeSet<Datum>>,
}

/// The origin of a location of [`TestGraph`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GraphOrigin {
    /// It is this location of [`Visible`].
    Given(LocationId),
    Verdict(Verdict),
}

/// The facts with which selection decided, for each location of [`Visible`] (whose numbers index them), also
/// for those that are not in the graph any more.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Decided {
    /// Over-approximation of the states in which the test graph can be. It is `false` at locations that the
    /// graph cannot reach.
    pub reach: Numbered<LocationId, Term>,
    /// Over-approximation of the states from which `Accept` can be reached. Locations after an accepting one
    /// were not looked at: it is `true` there.
    pub coreach: Numbered<LocationId, Term>,
    /// The proof of coreach: the refinement iterations of its analysis, each inductive within the one before,
    /// on the part before Accept. They are `false` elsewhere.
    pub chain: Vec<RefinementIteration>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mark {
    /// The purpose's half is `Accept`, at least in some component.
    Accept,
    /// The purpose's half is `Reject`.
    Reject,
    Verdict(Verdict),
}

/// The facts of an artifact in addition to its graph that only this artifact has.
#[derive(Clone, Copy, Default, Debug)]
pub struct Particulars<'a> {
    /// Over-approximation of the states in which the graph can be, per location.
    pub reach: Option<&'a Numbered<LocationId, Term>>,
    /// Over-approximation of the states from which the purpose can be met, per location.
    pub coreach: Option<&'a Numbered<LocationId, Term>>,
    /// In a purpose: the purpose itself, and how many transitions are the user's, which come first.
    pub purpose: Option<(&'a TestPurpose, usize)>,
    /// In a completed purpose: is an action without a transition at a location a self-loop there?
    pub others_stay: bool,
    /// In a test case: for each location, a condition under which the specification is never silent there, as
    /// long as one of the location's outputs that do not lead to Fail is possible.
    pub must_answer: Option<&'a Numbered<LocationId, Term>>,
    /// In a test case: the target of every output that has no transition at a location without a verdict.
    pub others_fail: Option<LocationId>,
    /// In the test case of a property: the locations at which it is violated.
    pub violated: &'a [(LocationId, Violated)],
}

/// The findings of stages on the way, which are reported with their own artifacts and all later ones.
#[derive(Clone, Copy, Default, Debug)]
pub struct FoundOut<'a> {
    /// How many more events tell runs apart.
    pub lookahead: Option<usize>,
    pub selection: Option<SelectionCounts>,
    /// What the domain could not express.
    pub imprecisions: &'a [String],
    /// Can the purpose be reached, as far as the analysis can tell?
    pub reachable: Option<bool>,
}

/// Makes a transition that a stage adds. It changes no data, and has no place in the user's text.
pub fn added_transition(source: LocationId, action: ActionId, guard: Term, target: LocationId) -> Transition {
    let (assignments, origin) = (Substitution::new(), TransitionOrigin::default());
    Transition { source, action, guard, assignments, target, origin }
}

/// The questions that any stage's result answers, so that exports, reports and comparisons need not know
/// whose it is.
pub trait Artifact {
    fn iosts(&self) -> &Iosts;

    /// The mark of a location. It need not repeat that the location was made from a location Reject of the
    /// artifact before.
    fn mark(&self, location: LocationId) -> Option<Mark>;

    /// The one location of the artifact before that a location was made of. `None` if it is new, or a set.
    fn earlier_location(&self, location: LocationId) -> Option<LocationId>;

    fn particulars(&self) -> Particulars<'_> {
        Particulars::default()
    }

    /// Adds this stage's findings.
    fn tell<'a>(&'a self, _found: &mut FoundOut<'a>) {}
}

/// A purpose in which every location takes every action under every valuation (Definition 4.22): the result
/// of `complete`.
#[derive(Clone, Debug)]
pub struct CompletePurpose {
    pub purpose: TestPurpose,
    /// The location `Reject`, which is made if the user had none. A property has none.
    pub reject: Option<LocationId>,
    /// The first so many transitions are the user's.
    pub given: usize,
    /// Is every action without a transition at a location a self-loop there? This stands for the transitions
    /// if there would be many.
    pub others_stay: bool,
}

impl Artifact for CompletePurpose {
    fn iosts(&self) -> &Iosts {
        &self.purpose.iosts
    }

    fn mark(&self, location: LocationId) -> Option<Mark> {
        match location {
            _ if location == self.purpose.accept => Some(Mark::Accept),
            _ if Some(location) == self.reject => Some(Mark::Reject),
            _ => None,
        }
    }

    fn earlier_location(&self, _: LocationId) -> Option<LocationId> {
        None
    }

    fn particulars(&self) -> Particulars<'_> {
        let purpose = Some((&self.purpose, self.given));
        Particulars { purpose, others_stay: self.others_stay, ..Particulars::default() }
    }
}

/// SP: the specification whose accepted behaviours are marked (Definition 5.4): the result of `product`.
#[derive(Clone, Debug)]
pub struct Product {
    /// The pairs of locations that the graph reaches and the synchronised transitions between them, whether
    /// or not their guards can hold.
    pub iosts: Iosts,
    /// For each location, those of the specification and of the purpose, ascending.
    pub pairs: Numbered<LocationId, (LocationId, LocationId)>,
    /// For each transition, the numbers of the specification's and of the purpose's transition. `None` if the
    /// purpose has no transition and stays.
    pub made_of: Numbered<TransitionId, (TransitionId, Option<TransitionId>)>,
    /// For each location: is its purpose's half `Accept`?
    pub accepting: Numbered<LocationId, bool>,
}

impl Artifact for Product {
    fn iosts(&self) -> &Iosts {
        &self.iosts
    }

    fn mark(&self, location: LocationId) -> Option<Mark> {
        self.accepting[location].then_some(Mark::Accept)
    }

    fn earlier_location(&self, location: LocationId) -> Option<LocationId> {
        Some(self.pairs[location].1)
    }
}

/// closure(SP): no internal action, no guard that cannot hold (Definition A.7): the result of `close`.
#[derive(Clone, Debug)]
pub struct Closed {
    pub iosts: Iosts,
    /// For each location, its number in [`Product`].
    pub given: Numbered<LocationId, LocationId>,
    pub accepting: Numbered<LocationId, bool>,
    /// For each location, the places to which internal steps may take a run that is there. The first one is
    /// the location itself.
    pub rests: Numbered<LocationId, Vec<Rest>>,
}

/// A place where a run may be that was in a location of [`Closed`] and has done nothing visible since.
/// The terms are over the data before all internal steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rest {
    /// A location of [`Product`].
    pub at: LocationId,
    /// The condition under which internal steps lead there.
    pub guard: Term,
    /// The data there.
    pub effect: Substitution,
    /// The condition under which no internal step goes on from there.
    pub stays: Term,
    /// The outputs of [`Closed`] that follow from there.
    pub outputs: Vec<TransitionId>,
}

impl Artifact for Closed {
    fn iosts(&self) -> &Iosts {
        &self.iosts
    }

    fn mark(&self, location: LocationId) -> Option<Mark> {
        self.accepting[location].then_some(Mark::Accept)
    }

    fn earlier_location(&self, location: LocationId) -> Option<LocationId> {
        Some(self.given[location])
    }
}

/// SP_vis: deterministic (Definition 4.20): the result of `determinize`.
#[derive(Clone, Debug)]
pub struct Visible {
    /// The visible behaviours, deterministic.
    pub iosts: Iosts,
    /// For each location, the places where a run in it may be. An ordinary location has one member, without
    /// pending effects.
    pub members: Numbered<LocationId, Vec<Member>>,
    /// For each location: does it have an accepting component (Definition A.12)?
    pub accepting: Numbered<LocationId, bool>,
    /// The number of events that tell any two runs of one trace apart, as far as their future matters. It is
    /// 0 if there was no choice, and `None` if no number of events is enough.
    pub lookahead: Option<usize>,
    /// For each location, a condition under which the specification is never silent there, as long as one of
    /// the location's outputs is possible.
    pub must_answer: Numbered<LocationId, Term>,
    /// For each location: is it an end? Then its future does not matter, because it accepts or Accept is out
    /// of reach. No transition leaves it, and its data say nothing.
    pub ends: Numbered<LocationId, bool>,
    /// The facts with which choices were made deterministic, if the guards alone were not enough.
    pub known: Option<Basis>,
}

impl Artifact for Visible {
    fn iosts(&self) -> &Iosts {
        &self.iosts
    }

    fn mark(&self, location: LocationId) -> Option<Mark> {
        self.accepting[location].then_some(Mark::Accept)
    }

    fn earlier_location(&self, location: LocationId) -> Option<LocationId> {
        match self.members[location].as_slice() {
            [member] if member.steps.is_empty() => Some(member.location),
            _ => None,
        }
    }

    fn tell<'a>(&'a self, found: &mut FoundOut<'a>) {
        found.lookahead = self.lookahead;
    }
}

/// An output that the specification allows at a location, before selection split it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Allowed {
    pub location: LocationId,
    pub action: ActionId,
    /// The guard of one transition of [`Visible`], in the form in which the test graph states it.
    pub guard: Term,
}

/// TG (Algorithm 7.2): the result of `select`. Directions stay the implementation's.
#[derive(Clone, Debug)]
pub struct TestGraph {
    /// The graph. No transition leaves `pass` and `inconclusive`.
    pub iosts: Iosts,
    /// For each location, its origin.
    pub origins: Numbered<LocationId, GraphOrigin>,
    /// For each transition, the number of the one of [`Visible`] that it was made from.
    pub made_of: Numbered<TransitionId, TransitionId>,
    pub decided: Decided,
    /// The location Pass. `None` if the purpose cannot be reached.
    pub pass: Option<LocationId>,
    /// The location Inconclusive, if some transition leads there.
    pub inconclusive: Option<LocationId>,
    /// Over-approximation of the states in which the test graph can be, per location.
    pub reach: Numbered<LocationId, Term>,
    /// Over-approximation of the states from which `Accept` can be reached, per location.
    pub coreach: Numbered<LocationId, Term>,
    pub allowed: Vec<Allowed>,
    /// As in the visible behaviours, and `false` at verdicts.
    pub must_answer: Numbered<LocationId, Term>,
    pub selection: SelectionCounts,
    /// What the domain could not express, one line each.
    pub imprecisions: Vec<String>,
}

impl TestGraph {
    /// Can the purpose be reached at all, as far as the analysis can tell?
    pub fn is_purpose_reachable(&self) -> bool {
        self.pass.is_some()
    }

    pub fn is_verdict(&self, location: LocationId) -> bool {
        Some(location) == self.pass || Some(location) == self.inconclusive
    }
}

impl Artifact for TestGraph {
    fn iosts(&self) -> &Iosts {
        &self.iosts
    }

    fn mark(&self, location: LocationId) -> Option<Mark> {
        match Some(location) {
            at if at == self.pass => Some(Mark::Verdict(Verdict::Pass)),
            at if at == self.inconclusive => Some(Mark::Verdict(Verdict::Inconclusive)),
            _ => None,
        }
    }

    fn earlier_location(&self, location: LocationId) -> Option<LocationId> {
        match self.origins[location] {
            GraphOrigin::Given(location) => Some(location),
            GraphOrigin::Verdict(_) => None,
        }
    }

    fn particulars(&self) -> Particulars<'_> {
        Particulars { reach: Some(&self.reach), coreach: Some(&self.coreach), ..Particulars::default() }
    }

    fn tell<'a>(&'a self, found: &mut FoundOut<'a>) {
        found.selection = Some(self.selection);
        found.imprecisions = &self.imprecisions;
        found.reachable = Some(self.is_purpose_reachable());
    }
}

/// TC (Algorithm 7.3): the result of `input_complete`, and of the pipeline. Directions stay the
/// implementation's.
#[derive(Clone, Debug)]
pub struct CaseGraph {
    pub iosts: Iosts,
    pub verdicts: Numbered<LocationId, Option<Verdict>>,
    /// As in the test graph, and `true` at Fail.
    pub reach: Numbered<LocationId, Term>,
    /// As in the test graph, and `false` at Fail.
    pub coreach: Numbered<LocationId, Term>,
    /// As in the test graph, and `false` at Fail.
    pub must_answer: Numbered<LocationId, Term>,
    /// The location Fail, if it is also the target of every output that has no transition at a location
    /// without a verdict. This stands for the transitions if there would be many.
    pub others_fail: Option<LocationId>,
    /// For a property: the locations at which it is violated ([`crate::violations`]).
    pub violated: Vec<(LocationId, Violated)>,
}

impl CaseGraph {
    /// Adds a location with a verdict, about whose data nothing is known.
    pub fn add_verdict(&mut self, location: Location, verdict: Verdict) -> LocationId {
        self.verdicts.push(Some(verdict));
        self.reach.push(Term::yes());
        self.coreach.push(Term::no());
        self.must_answer.push(Term::no());
        self.iosts.locations.push(location)
    }
}

impl Artifact for CaseGraph {
    fn iosts(&self) -> &Iosts {
        &self.iosts
    }

    fn mark(&self, location: LocationId) -> Option<Mark> {
        self.verdicts[location].map(Mark::Verdict)
    }

    fn earlier_location(&self, location: LocationId) -> Option<LocationId> {
        // A test case has the test graph's locations, and Fail after them.
        (self.verdicts[location] != Some(Verdict::Fail)).then_some(location)
    }

    fn particulars(&self) -> Particulars<'_> {
        Particulars {
            reach: Some(&self.reach),
            coreach: Some(&self.coreach),
            must_answer: Some(&self.must_answer),
            others_fail: self.others_fail,
            violated: &self.violated,
            ..Particulars::default()
        }
    }
}
