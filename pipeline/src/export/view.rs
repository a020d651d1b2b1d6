//! The form in which exports see the result of any stage.

use std::collections::BTreeMap;

use coreach_model::iosts::{Iosts, LocationId, TestPurpose};
use coreach_model::{ActionKind, Numbered, TransitionId};

pub use crate::artifact::Mark;
use crate::artifact::{FoundOut, Particulars, Verdict};
use crate::lateness::LatenessTiming;
use crate::online::OnlineTest;
use crate::sources::ModelSources;
use crate::timed::PathGuided;
use crate::{Generation, Stage};
use coreach_artifact::document::Origins;

/// The name of an on-line test, where others have the name of a stage's artifact.
pub const ONLINE: &str = "online_test";

/// The result of a stage, or a model that a user wrote, as exports see it.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The name of what is shown: of a stage's artifact, or `online_test`, `specification` or `test_purpose`.
    pub what: &'static str,
    pub stage: Option<Stage>,
    /// The graph. Directions are the implementation's, at every stage.
    pub iosts: &'a Iosts,
    pub marks: Numbered<LocationId, Option<Mark>>,
    /// What is shown in addition to the graph. Facts exist from `select` on.
    pub particulars: Particulars<'a>,
    /// The results of this stage and those before it.
    pub found: FoundOut<'a>,
    /// For a test case: what it was made of.
    pub sources: Option<&'a ModelSources>,
    /// For a test case: the locations of which each of its own was made.
    pub origins: Option<&'a Numbered<LocationId, Origins>>,
    pub timing: Option<&'a LatenessTiming>,
    /// A run through the graph: when each transition was taken, counted from 1, by the number of the
    /// transition.
    pub walked: BTreeMap<TransitionId, Vec<usize>>,
}

impl<'a> View<'a> {
    /// The view of a stage's result.
    pub fn of(generation: &'a Generation, stage: Stage) -> Self {
        let artifact = generation.result(stage);
        let iosts = artifact.iosts();
        let is_last = Some(stage) == Stage::ALL.last().copied();
        let mut found = FoundOut::default();
        for earlier in Stage::ALL.into_iter().filter(|earlier| *earlier <= stage) {
            generation.result(earlier).tell(&mut found);
        }
        View {
            what: stage.artifact(),
            stage: Some(stage),
            iosts,
            marks: iosts.location_ids().map(|location| find_mark(generation, stage, location)).collect(),
            particulars: artifact.particulars(),
            found,
            sources: is_last.then_some(&generation.sources),
            origins: is_last.then_some(&generation.origins),
            timing: generation.timing.as_ref(),
            walked: BTreeMap::new(),
        }
    }

    /// The view of a test that is judged on line. It is no stage's result.
    pub fn of_online(test: &'a OnlineTest) -> Self {
        View {
            what: ONLINE,
            marks: test.verdicts.map(|verdict| verdict.map(Mark::Verdict)),
            particulars: Particulars {
                reach: Some(&test.reach),
                coreach: Some(&test.coreach),
                violated: &test.violated,
                ..Particulars::default()
            },
            found: FoundOut {
                imprecisions: &test.imprecisions,
                reachable: Some(test.reachable),
                ..FoundOut::default()
            },
            sources: Some(&test.sources),
            origins: Some(&test.origins),
            ..View::of_specification(&test.iosts)
        }
    }

    /// The view of a path-guided test case. It is no stage's result.
    pub fn of_path(made: &'a PathGuided) -> Self {
        View {
            what: Stage::InputComplete.artifact(),
            stage: Some(Stage::InputComplete),
            marks: made.verdicts.map(|verdict| verdict.map(Mark::Verdict)),
            found: FoundOut {
                imprecisions: &made.imprecisions,
                // With unseen steps, no run gets to the end. A greater `silence_after` may change that.
                reachable: made.unseen.is_empty().then_some(true),
                ..FoundOut::default()
            },
            origins: Some(&made.origins),
            timing: Some(&made.timing),
            ..View::of_specification(&made.iosts)
        }
    }

    /// The view of a graph without a stage: a specification, or the beginning of another view.
    pub fn of_specification(iosts: &'a Iosts) -> Self {
        View {
            what: "specification",
            stage: None,
            iosts,
            marks: iosts.locations.map(|_| None),
            particulars: Particulars::default(),
            found: FoundOut::default(),
            sources: None,
            origins: None,
            timing: None,
            walked: BTreeMap::new(),
        }
    }

    /// The view of a test case that was read from its document, and of a run through it: the numbers of the
    /// transitions taken, in order.
    pub fn of_run(
        iosts: &'a Iosts,
        verdicts: &Numbered<LocationId, Option<Verdict>>,
        taken: &[TransitionId],
    ) -> Self {
        let mut walked: BTreeMap<TransitionId, Vec<usize>> = BTreeMap::new();
        for (step, transition) in taken.iter().enumerate() {
            walked.entry(*transition).or_default().push(step + 1);
        }
        View {
            what: Stage::InputComplete.artifact(),
            stage: Some(Stage::InputComplete),
            marks: verdicts.map(|verdict| verdict.map(Mark::Verdict)),
            walked,
            ..View::of_specification(iosts)
        }
    }

    /// The view of a purpose as the user wrote it: all of its transitions are the user's.
    pub fn of_purpose(purpose: &'a TestPurpose) -> Self {
        let iosts = &purpose.iosts;
        let mark = |location| match location {
            _ if location == purpose.accept => Some(Mark::Accept),
            _ if Some(location) == purpose.reject => Some(Mark::Reject),
            _ => None,
        };
        View {
            what: "test_purpose",
            marks: iosts.location_ids().map(mark).collect(),
            particulars: Particulars {
                purpose: Some((purpose, iosts.transitions.len())),
                ..Particulars::default()
            },
            ..View::of_specification(iosts)
        }
    }

    pub fn mark(&self, location: LocationId) -> Option<Mark> {
        self.marks[location]
    }

    pub fn is_fail(&self, location: LocationId) -> bool {
        self.mark(location) == Some(Mark::Verdict(Verdict::Fail))
    }

    /// Do pictures show the tester's side: what it sends (`!`) and what it sees (`?`)?
    ///
    /// The literature draws what describes a system from the system's side, and what a tester executes from
    /// the tester's. So the test graph and the test case are drawn with directions swapped.
    pub fn is_testers_side(&self) -> bool {
        self.stage >= Some(Stage::Select)
    }

    /// The sign behind an action's name in a picture: `?` is received, `!` is sent; an internal action has
    /// none.
    pub fn sign(&self, kind: ActionKind) -> &'static str {
        match (kind, self.is_testers_side()) {
            (ActionKind::Input, false) | (ActionKind::Output | ActionKind::Quiescence, true) => "?",
            (ActionKind::Output | ActionKind::Quiescence, false) | (ActionKind::Input, true) => "!",
            (ActionKind::Internal, _) => "",
        }
    }

    pub fn sides(&self) -> &'static str {
        match self.is_testers_side() {
            true => "! the tester sends, ? the tester observes",
            false => "? the system receives, ! the system sends",
        }
    }

    /// A sentence that stands for many transitions that are not shown one by one. `None` if all are shown.
    pub fn rule_for_the_others(&self) -> Option<String> {
        if self.particulars.others_stay {
            return Some("every action without a transition at a location is a self-loop there".to_owned());
        }
        let fail = &self.iosts.location(self.particulars.others_fail?).name;
        Some(format!("every output without a transition at a location without a verdict leads to {fail}"))
    }

    pub fn count_into(&self, verdict: Verdict) -> usize {
        let leads = |location| self.mark(location) == Some(Mark::Verdict(verdict));
        self.iosts.transitions.iter().filter(|transition| leads(transition.target)).count()
    }
}

/// Finds the artifact's own mark. It is Reject if the artifact has no mark and the location was made from a
/// location Reject.
fn find_mark(generation: &Generation, stage: Stage, location: LocationId) -> Option<Mark> {
    let own_mark = generation.result(stage).mark(location);
    own_mark.or_else(|| {
        let earlier_mark =
            find_mark(generation, stage.before()?, generation.result(stage).earlier_location(location)?);
        earlier_mark.filter(|mark| *mark == Mark::Reject)
    })
}
