//! Sends a timed input sequence to a system, and records what happens.
//!
//! **Problem.** Off line (2012), the inputs are computed before anything runs, and the trace is judged when
//! all is over. Between the two somebody with a clock sends and writes down.
//!
//! **Method.** It is a run of [`crate::timed::driver`] with a test case that takes everything: it has one
//! location, at which each visible action may happen with any values at any time. So nothing is judged here,
//! and links, clocks, limits and ends are those of every timed run. Each event is given out at once. So if
//! the program ends early, the recording until then is a beginning of the trace: it does not contain the time
//! after its last event, and nobody takes the end of the recording for silence.
//!
//! **Instants** count from when the system was ready. A stimulus that was sent within the tolerance of its
//! instant is recorded at that instant, but not before an observation that was recorded already. A later
//! stimulus is recorded when it was sent, and an observation when it was read. The last delay is one in which
//! nothing came: the tester listened for twice the tolerance longer. It is left out if the system is mute.

use std::collections::VecDeque;
use std::time::Duration;

use coreach_adapters::Adapter;
use coreach_analyses::solver::Solver;
use coreach_model::iosts::{Location, LocationId, Transition};
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::Valuation;
use coreach_model::timed::delayed::Delayed;
use coreach_model::{Term, Value};
use dashu_ratio::RBig;

use crate::judge::case::CaseJudge;
use crate::lazy::Lazy;
use crate::offline::sequence::SeqItem;
use crate::run::{Cause, Occurrence, Outcome, Run, RunStep};
use crate::session::TestSession;
use crate::settings::Settings;
use crate::test_case::TestCase;
use crate::timed::driver::{self, Director, Scene, TimedPlan};
use crate::timed::{LONGEST, TimedCase, delay_of, exact_seconds, with_delay, without_delay};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recording {
    /// The run, with its instants as they were measured.
    pub run: Run,
    /// The stimuli that were sent later than the tolerance allows: their number, from 1, and how much later.
    pub late_stimuli: Vec<(usize, RBig)>,
    pub sent: usize,
    pub unsent: usize,
    /// Did the recording last as long as it should?
    pub is_whole: bool,
    /// Was there a time at which nothing could have been heard?
    pub was_deaf: bool,
}

/// Makes a test case that takes all events of a model.
pub fn case_that_takes_all(form: &Delayed) -> Result<TestCase, String> {
    let mut iosts = form.iosts.clone();
    iosts.variables.clear();
    iosts.initial_condition = Term::yes();
    iosts.initial = LocationId(0);
    iosts.locations = vec![Location::named("Recording")].into();
    let visible = iosts.action_ids().filter(|action| iosts.action(*action).is_visible());
    let taken = |action| Transition::unguarded(LocationId(0), action, LocationId(0));
    iosts.transitions = visible.map(taken).collect();
    // No recording has so long a silence, so none is a step.
    let never = Term::literal(Value::Real(exact_seconds(Duration::from_secs(LONGEST))));
    let timed = TimedCase::new(form.delay.name(), &never, form.uncontrollable.clone(), &mut iosts)?;
    Ok(TestCase { timed: Some(timed), ..TestCase::new(iosts, vec![None].into()) })
}

/// Sends the inputs, each at its instant, and records until `wait` after the last of them. Calls `record`
/// with each member of the recorded timed sequence.
pub fn send_and_record(
    (test, constants): (&TestCase, Valuation),
    (inputs, wait): (&[SeqItem], Duration),
    settings: &Settings,
    adapter: &mut dyn Adapter,
    seed: u64,
    record: &mut dyn FnMut(SeqItem),
) -> Recording {
    let mut judge = CaseJudge::new(test, State { location: test.iosts.initial, valuation: constants });
    let mut session = TestSession { judge: &mut judge, settings, adapter };
    let mut sender = Sender {
        test,
        rest: VecDeque::new(),
        wait: exact_seconds(wait),
        tolerance: RBig::ZERO,
        measured_at: RBig::ZERO,
        recorded_at: RBig::ZERO,
        sent: 0,
        late_stimuli: Vec::new(),
        was_deaf: false,
        end: None,
        last_sent_at: RBig::ZERO,
        record,
        solver: Lazy::default(),
    };
    let mut at = RBig::ZERO;
    for item in inputs {
        match item {
            SeqItem::Delay(time) => at += time,
            SeqItem::Event(action, values) => {
                let event = Event::new(test.iosts.action(*action).name.clone(), values.clone());
                sender.rest.push_back((at.clone(), event));
            }
        }
    }
    let run = driver::run_timed(&mut session, seed, &mut sender);
    let Sender { rest, sent, late_stimuli, was_deaf, end, recorded_at, record, .. } = sender;
    let end = end.filter(|_| run.outcome == Outcome::inconclusive(Cause::Ended));
    if let Some(end) = end.as_ref().filter(|end| !was_deaf && **end > recorded_at) {
        record(SeqItem::Delay(end - recorded_at));
    }
    Recording { run, late_stimuli, sent, unsent: rest.len(), is_whole: end.is_some(), was_deaf }
}

struct Sender<'a> {
    test: &'a TestCase,
    /// The stimuli still to send, and their instants since the beginning.
    rest: VecDeque<(RBig, Event)>,
    wait: RBig,
    tolerance: RBig,
    /// The instant of the last step, as it was measured, and as it was recorded.
    measured_at: RBig,
    recorded_at: RBig,
    sent: usize,
    late_stimuli: Vec<(usize, RBig)>,
    was_deaf: bool,
    /// The instant of the last stimulus, and the instant at which the tester stopped waiting.
    last_sent_at: RBig,
    end: Option<RBig>,
    record: &'a mut dyn FnMut(SeqItem),
    solver: Lazy,
}

impl Director for Sender<'_> {
    /// Sends the next input at its instant. Without one, waits for the wanted time, and ends the recording.
    fn plan(&mut self, scene: Scene<'_>) -> TimedPlan {
        self.tolerance = scene.tolerance;
        self.was_deaf |= !scene.hears;
        if let Some((at, event)) = self.rest.front().filter(|_| scene.takes_stimuli) {
            return TimedPlan::Send(with_delay(event, (at - &self.measured_at).max(scene.now)));
        }
        // A stimulus that is kept back may be sent when something has come.
        let kept_back = self.rest.front().map_or(RBig::ZERO, |(at, _)| at.clone());
        let end = self.last_sent_at.clone().max(kept_back) + &self.wait;
        let until = &end - &self.measured_at + &self.tolerance * RBig::from(2);
        if scene.now < until {
            return TimedPlan::Wait(Some(until));
        }
        self.end = Some(end);
        TimedPlan::Over(Cause::Ended)
    }

    /// Dates a step (see the opening of the file) and gives it out. Stimuli are numbered from 1.
    fn note_step(&mut self, step: &RunStep) {
        let Some((event, delay)) = step.what.event().and_then(|event| Some((event, delay_of(event)?))) else {
            return;
        };
        self.measured_at += delay;
        let mut at = self.measured_at.clone();
        if matches!(step.what, Occurrence::Stimulus(_))
            && let Some((planned, _)) = self.rest.pop_front()
        {
            self.sent += 1;
            self.last_sent_at = self.measured_at.clone();
            let lateness = &self.measured_at - &planned;
            if lateness <= self.tolerance {
                // It is not dated before an event that was recorded already.
                at = planned.max(self.recorded_at.clone());
            } else {
                self.late_stimuli.push((self.sent, lateness));
            }
        }
        let passed = &at - &self.recorded_at;
        self.recorded_at = at;
        if passed > RBig::ZERO {
            (self.record)(SeqItem::Delay(passed));
        }
        if let Some(action) = self.test.iosts.find_action(&event.action) {
            (self.record)(SeqItem::Event(action, without_delay(event).values));
        }
    }

    fn solver(&mut self) -> &mut dyn Solver {
        &mut self.solver
    }
}
