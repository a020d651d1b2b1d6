//! The result of each stage, one type each: a stage takes the type before it, so none can be skipped or
//! swapped.
//!
//! `CompletePurpose -> Product -> Closed -> Visible -> TestGraph -> TestCase`. What must hold of each is
//! checked in [`crate::check`].

use std::collections::BTreeSet;

use coreach_analyses::inductive::RefinementIteration;
use coreach_model::iosts::{Iosts, LocationId, TestPurpose};
use coreach_model::term::Substitution;
use coreach_model::{ActionId, Datum, Numbered, Term, TransitionId};
pub use coreach_model::{Verdict, Violated};

// Provenance. Each artifact says of what its locations and transitions were made, as numbers in the artifact
// before it. A list is indexed by the artifact's own numbers; the numbers of the artifact before are what it
// holds. Each has the one form that its stage can make, so that no reader meets another. Who reads it saves a
// search, and believes nothing: `check` holds every such word against the artifact before.

/// A run's part of a location of [`Visible`]: where the run may be, and how its data follow from those that
/// are shown.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Member {
    pub location: LocationId,
    /// What the run has assigned and the data of [`Visible`] do not show: the effects of its last events, the
    /// oldest first, each over the data before it.
    pub steps: Vec<Substitution>,
}

/// What was known of [`Closed`] up to Accept where choices were made deterministic by means of it, for each
/// of its locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Known {
    /// Over-approximation of the states that are reached in front of Accept, and in it.
    pub reach: Numbered<LocationId, Term>,
    /// Over-approximation of the states from which Accept can be reached.
    pub coreach: Numbered<LocationId, Term>,
    /// Of what both are proved: the refinement iterations of their analysis, each inductive within the one
    /// before; the first is `reach`.
    pub chain: Vec<RefinementIteration>,
    /// The variables that something in front of Accept still reads. Only of these do members carry values.
    pub live: Numbered<LocationId, BTreeSet<Datum>>,
}

/// Where a location of [`TestGraph`] comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GraphOrigin {
    /// It is this location of [`Visible`].
    Given(LocationId),
    Verdict(Verdict),
}

/// The facts with which selection decided, for each location of [`Visible`] (whose numbers index them), also
/// for those that the graph has lost.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Decided {
    /// Over-approximation of the states in which the test graph can be; `false` where it cannot come.
    pub reach: Numbered<LocationId, Term>,
    /// Over-approximation of the states from which `Accept` can be reached. What follows an accepting
    /// location was not looked at: `true` there.
    pub coreach: Numbered<LocationId, Term>,
    /// Of what coreach is proved: the refinement iterations of its analysis, each inductive within the one
    /// before, on what lies in front of Accept; `false` elsewhere.
    pub chain: Vec<RefinementIteration>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mark {
    /// The purpose's half is `Accept`, in some component at least.
    Accept,
    /// The purpose's half is `Reject`.
    Reject,
    Verdict(Verdict),
}

/// What an artifact says beside its graph, and no other artifact says of it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Particulars<'a> {
    /// Over-approximation of the states in which the graph can be, per location.
    pub reach: Option<&'a Numbered<LocationId, Term>>,
    /// Over-approximation of the states from which the purpose can be met, per location.
    pub coreach: Option<&'a Numbered<LocationId, Term>>,
    /// Of a purpose: itself, and how many transitions are the user's, the first ones.
    pub purpose: Option<(&'a TestPurpose, usize)>,
    /// Of a completed purpose: is an action without a transition at a location a self-loop there?
    pub others_stay: bool,
    /// Of a test case: for each location, with which data the specification is never silent there, wherever
    /// one of the location's outputs that do not lead to Fail is possible.
    pub must_answer: Option<&'a Numbered<LocationId, Term>>,
    /// Of a test case: where every output leads that has no transition at a location without a verdict.
    pub others_fail: Option<LocationId>,
    /// Of the test case of a property: where it is violated.
    pub violated: &'a [(LocationId, Violated)],
}

/// What stages have found out on the way: it is said of their own artifacts and of all that follow.
#[derive(Clone, Copy, Default, Debug)]
pub struct FoundOut<'a> {
    /// How many more events tell runs apart.
    pub lookahead: Option<usize>,
    pub selection: Option<Selection>,
    /// What the domain could not express.
    pub imprecisions: &'a [String],
    /// Can the purpose be reached, as far as the analysis can tell?
    pub reachable: Option<bool>,
}

/// What can be asked of any stage's result, so that no export, report or comparison asks whose it is.
pub trait Artifact {
    fn iosts(&self) -> &Iosts;

    /// What is special about a location. That it was made from a location Reject of the artifact before need
    /// not be said.
    fn mark(&self, location: LocationId) -> Option<Mark>;

    /// The one location of the artifact before that a location is; none where it is new, or a set of several.
    fn earlier_location(&self, location: LocationId) -> Option<LocationId>;

    fn particulars(&self) -> Particulars<'_> {
        Particulars::default()
    }

    fn tell<'a>(&'a self, _found: &mut FoundOut<'a>) {}
}

/// A purpose in which every location takes every action under every valuation (Definition 4.22): the result
/// of `complete`.
#[derive(Clone, Debug)]
pub struct CompletePurpose {
    pub purpose: TestPurpose,
    /// The location `Reject`, made where the user had none; a property has none.
    pub reject: Option<LocationId>,
    /// How many of the transitions, the first ones, are the user's.
    pub given: usize,
    /// Is every action that has no transition at a location a self-loop there? Said once for all, where there
    /// are many.
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
    /// For each location: the specification's and the purpose's; ascending.
    pub pairs: Numbered<LocationId, (LocationId, LocationId)>,
    /// For each transition, the numbers of the specification's and of the purpose's; where the purpose has no
    /// transition and stays, none.
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
    /// For each location, which one of [`Product`] it is.
    pub given: Numbered<LocationId, LocationId>,
    pub accepting: Numbered<LocationId, bool>,
    /// For each location: where internal steps may take a run that is there, itself first.
    pub rests: Numbered<LocationId, Vec<Rest>>,
}

/// Where a run may be that was in a location of [`Closed`] and has done nothing visible since.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rest {
    pub at: LocationId,
    /// When internal steps lead there.
    pub guard: Term,
    pub effect: Substitution,
    /// When no internal step goes on from there, over the data before all of them.
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
    /// For each location, where a run may be that is there; in an ordinary location one member, without
    /// pending effects.
    pub members: Numbered<LocationId, Vec<Member>>,
    /// For each location: has it an accepting component (Definition A.12)?
    pub accepting: Numbered<LocationId, bool>,
    /// How many more events tell any two runs of one trace apart, as far as their future matters; 0 where
    /// there was no choice, none where no number of events does.
    pub lookahead: Option<usize>,
    /// For each location: with which data is the specification never silent there, wherever one of the
    /// location's outputs is possible?
    pub must_answer: Numbered<LocationId, Term>,
    /// For each location: does it stand for all that may follow, since that does not matter? It accepts, or
    /// Accept is out of reach; nothing leaves it, and its data say nothing.
    pub ends: Numbered<LocationId, bool>,
    /// By what choices were made deterministic, where the guards alone did not do.
    pub known: Option<Known>,
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

/// What an implementation may send at a location, before selection split it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Allowed {
    pub location: LocationId,
    pub action: ActionId,
    /// The guard of one transition of [`Visible`], in the words in which the test graph states it.
    pub guard: Term,
}

/// What selection did to the graph, for reports and comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Selection {
    /// Transitions of [`Visible`] before `Accept` that the test graph does not have in any form.
    pub pruned: usize,
    /// Stimuli whose guard was strengthened so that `Accept` stays in reach.
    pub strengthened: usize,
    pub inconclusive: usize,
    /// How often strengthening and reach followed each other.
    pub rounds: usize,
}

/// TG (Algorithm 7.2): the result of `select`. Directions stay the implementation's.
#[derive(Clone, Debug)]
pub struct TestGraph {
    /// The graph; nothing leaves `pass` and `inconclusive`.
    pub iosts: Iosts,
    /// For each location, where it comes from.
    pub origins: Numbered<LocationId, GraphOrigin>,
    /// For each transition, the number of the one of [`Visible`] that it was made from.
    pub made_of: Numbered<TransitionId, TransitionId>,
    pub decided: Decided,
    /// The location Pass. None where the purpose cannot be reached.
    pub pass: Option<LocationId>,
    /// The location Inconclusive, where some transition leads there.
    pub inconclusive: Option<LocationId>,
    /// Over-approximation of the states in which the test graph can be, per location.
    pub reach: Numbered<LocationId, Term>,
    /// Over-approximation of the states from which `Accept` can be reached, per location.
    pub coreach: Numbered<LocationId, Term>,
    pub allowed: Vec<Allowed>,
    /// As of the visible behaviours; `false` at verdicts.
    pub must_answer: Numbered<LocationId, Term>,
    pub selection: Selection,
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
pub struct TestCase {
    pub iosts: Iosts,
    pub verdicts: Numbered<LocationId, Option<Verdict>>,
    /// As of the test graph; `true` at Fail.
    pub reach: Numbered<LocationId, Term>,
    /// As of the test graph; `false` at Fail.
    pub coreach: Numbered<LocationId, Term>,
    /// As of the test graph; `false` at Fail.
    pub must_answer: Numbered<LocationId, Term>,
    /// The location Fail where it also is the target of every output that has no transition at a location
    /// without a verdict. Said once for all, where there are many.
    pub others_fail: Option<LocationId>,
    /// Of a property: the locations at which it is violated ([`crate::violations`]).
    pub violated: Vec<(LocationId, Violated)>,
}

impl TestCase {
    pub fn fail_transitions(&self) -> usize {
        let is_fail = |location: LocationId| self.verdicts[location] == Some(Verdict::Fail);
        self.iosts.transitions.iter().filter(|t| is_fail(t.target)).count()
    }
}

impl Artifact for TestCase {
    fn iosts(&self) -> &Iosts {
        &self.iosts
    }

    fn mark(&self, location: LocationId) -> Option<Mark> {
        self.verdicts[location].map(Mark::Verdict)
    }

    fn earlier_location(&self, location: LocationId) -> Option<LocationId> {
        // It has the test graph's locations, and Fail behind them.
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
