//! A test case as the tester needs it, read from a document of `coreach run` (`docs/reference/json.md`).

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use coreach_artifact::document::{ONLINE, Sources, TEST_CASE};
use coreach_artifact::{Document, read};
pub use coreach_artifact::{DocumentError, Graph};
use coreach_model::iosts::{ActionKind, Iosts, LocationId, Transition, TransitionOrigin};
use coreach_model::semantics::{State, fire};
use coreach_model::term::substitute;
use coreach_model::{Datum, Numbered, Term, TransitionId, Value, Verdict, Violated};
use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::timed::TimedCase;

/// A test case, ready to be driven. Directions are the implementation's: its inputs are our stimuli.
#[derive(Clone, Debug)]
pub struct TestCase {
    pub iosts: Iosts,
    /// For each location: its verdict, if it has one.
    pub verdicts: Numbered<LocationId, Option<Verdict>>,
    /// For each location: the numbers of the transitions that send a stimulus.
    pub stimuli: Numbered<LocationId, Vec<TransitionId>>,
    /// For each location: the numbers of the transitions that take an observation.
    pub observations: Numbered<LocationId, Vec<TransitionId>>,
    /// For each location: the numbers of the transitions that take silence. Only tests of ioco have them.
    pub silences: Numbered<LocationId, Vec<TransitionId>>,
    /// For each location: the data with which the specification is never silent there, if one of the
    /// location's outputs that do not lead to Fail is possible.
    pub must_answer: Numbered<LocationId, Term>,
    /// In the test case of a property, for each location: how the property is violated there, if it is.
    pub violates: Numbered<LocationId, Option<Violated>>,
    /// For each location: the names of the specification's locations in it. Empty for one with a verdict.
    pub origins: Numbered<LocationId, BTreeSet<String>>,
    /// The conjuncts of its guards that come from the specification, and not from the purpose.
    pub specification_conjuncts: BTreeSet<Term>,
    /// The models that it was made of, if it names them.
    pub made_of: Option<Sources>,
    /// The facts that on-line judging needs ([`crate::judge::online`]). The graph is then a product, with
    /// internal actions and choices. `None` for a test case, which is deterministic.
    pub online: Option<Online>,
    /// The part of a timed test case about time.
    pub timed: Option<TimedCase>,
}

/// The facts that on-line judging needs in addition to the product.
#[derive(Clone, Debug)]
pub struct Online {
    /// For each location: a condition that over-approximates the states from which Accept can be reached.
    pub alive: Numbered<LocationId, Term>,
    /// For each transition: the condition under which it leads to such a state.
    pub leads_on: Numbered<TransitionId, Term>,
    /// For each location: the numbers of the internal transitions.
    pub internal: Numbered<LocationId, Vec<TransitionId>>,
}

impl Online {
    fn new(iosts: &Iosts, alive: Numbered<LocationId, Term>) -> Self {
        let leads_on = iosts.transitions.map(|transition| {
            let after = substitute(&alive[transition.target], &transition.assignments);
            Term::and([transition.guard.clone(), after])
        });
        let mut internal = iosts.outgoing();
        internal.iter_mut().for_each(|outgoing| {
            outgoing.retain(|number| iosts.action_of(*number).kind == ActionKind::Internal);
        });
        Online { leads_on, internal, alive }
    }
}

impl TestCase {
    /// Makes a test case from its graph and its verdicts, one per location. Actions that the tester only sees
    /// are outputs of the graph.
    pub fn new(iosts: Iosts, verdicts: Numbered<LocationId, Option<Verdict>>) -> Self {
        let mut stimuli = iosts.locations.map(|_| Vec::new());
        let mut observations = iosts.locations.map(|_| Vec::new());
        let mut silences = iosts.locations.map(|_| Vec::new());
        for (number, transition) in iosts.transitions.numbered() {
            let source = transition.source;
            match iosts.action(transition.action).kind {
                ActionKind::Input => stimuli[source].push(number),
                ActionKind::Output => observations[source].push(number),
                ActionKind::Quiescence => silences[source].push(number),
                ActionKind::Internal => {}
            }
        }
        let must_answer = iosts.locations.map(|_| Term::no());
        let violates = iosts.locations.map(|_| None);
        let origins = iosts.locations.map(|_| BTreeSet::new());
        TestCase {
            specification_conjuncts: BTreeSet::new(),
            made_of: None,
            iosts,
            verdicts,
            stimuli,
            observations,
            silences,
            must_answer,
            violates,
            origins,
            online: None,
            timed: None,
        }
    }

    /// Lists the constants' values in a state, in their order.
    pub fn constants_in(&self, state: &State) -> Vec<(Datum, Value)> {
        let value = |datum: &Datum| Some((datum.clone(), state.valuation.get(datum)?.clone()));
        self.iosts.constants.iter().filter_map(value).collect()
    }

    /// Returns the actions as adapters see them: for a timed test case, without their delays.
    pub fn wire(&self) -> &Iosts {
        self.timed.as_ref().map_or(&self.iosts, |timed| &timed.wire)
    }

    /// Returns the state after one of the transitions that this state's location lists, with these values. A
    /// transition that many locations share (`let_others_fail`) begins elsewhere.
    pub fn observed(&self, number: TransitionId, state: &State, values: &[Value]) -> Option<State> {
        let transition = &self.iosts.transitions[number];
        if transition.source == state.location {
            return fire(&self.iosts, transition, state, values);
        }
        let at_source = State { location: transition.source, valuation: state.valuation.clone() };
        fire(&self.iosts, transition, &at_source, values)
    }

    /// Adds the places of the transitions in the user's files, in the order of the transitions.
    pub fn add_origins(&mut self, origins: impl IntoIterator<Item = TransitionOrigin>) {
        for (transition, origin) in self.iosts.transitions.iter_mut().zip(origins) {
            transition.origin = origin;
        }
    }

    pub fn verdict(&self, location: LocationId) -> Option<Verdict> {
        self.verdicts[location]
    }

    pub fn from_json(bytes: &[u8]) -> Result<Self, DocumentError> {
        TestCase::from_document(&read::parse_document(bytes)?)
    }

    pub fn from_document(document: &Document) -> Result<Self, DocumentError> {
        let is_online = document.stage == ONLINE;
        if document.stage != TEST_CASE && !is_online {
            return Err(DocumentError::Stage(document.stage.clone()));
        }
        let graph = read::read_graph(document)?;
        TestCase::from_graph(graph, is_online).map_err(DocumentError::NoDocument)
    }

    /// Makes a test case of a graph that was read. `Err` says in words what does not fit.
    fn from_graph(graph: Graph, is_online: bool) -> Result<Self, String> {
        let Graph { mut iosts, verdicts, must_answer, violates, origins, conjuncts, made_of, .. } = graph;
        let online = is_online.then(|| Online::new(&iosts, graph.coreach));
        let timed = match graph.timed {
            Some(_) if is_online => return Err("a test that is judged on line is not `timed`".to_owned()),
            Some((delay, after)) => Some(TimedCase::new(&delay, &after, graph.uncontrollable, &mut iosts)?),
            None => None,
        };
        let mut test = TestCase {
            must_answer,
            violates,
            origins: origins.map(|origin| origin.specification.clone()),
            specification_conjuncts: conjuncts,
            made_of,
            online,
            timed,
            ..TestCase::new(iosts, verdicts)
        };
        if let Some(fail) = graph.others_fail {
            test.let_others_fail(fail);
        }
        Ok(test)
    }

    /// Applies `others_fail`: at each location without a verdict, each output without a transition leads to
    /// Fail. There may be a million such transitions, which differ only in where they begin. So each output
    /// has one, which begins at Fail, and the lists of observations name it.
    fn let_others_fail(&mut self, fail: LocationId) {
        let iosts = &mut self.iosts;
        let known: HashSet<_> = iosts.transitions.iter().map(|t| (t.source, t.action)).collect();
        let outputs: Vec<_> =
            iosts.action_ids().filter(|action| iosts.action(*action).is_observed()).collect();
        let verdicts = &self.verdicts;
        let open: Vec<_> = iosts.location_ids().filter(|location| verdicts[*location].is_none()).collect();
        for action in outputs {
            let number = iosts.transitions.push(Transition::unguarded(fail, action, fail));
            let lists = match iosts.action(action).kind {
                ActionKind::Quiescence => &mut self.silences,
                _ => &mut self.observations,
            };
            for location in open.iter().filter(|location| !known.contains(&(**location, action))) {
                lists[*location].push(number);
            }
        }
    }
}

pub fn exact_seconds(time: Duration) -> RBig {
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    RBig::from_parts(IBig::from(micros), 1_000_000u32.into())
}
