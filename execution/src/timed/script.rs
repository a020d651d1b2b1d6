//! Planning by a script: a stored run again ([`crate::replay`]).
//!
//! Each stimulus is sent with the values that it had and with its delay; where the system did something else
//! meanwhile, as soon behind that as its guard allows. The instants are measured anew, so no two runs have
//! the same delays.

use coreach_analyses::solver::Solver;
use coreach_model::semantics::Event;

use crate::cue::Cue;
use crate::lazy::Lazy;
use crate::run::{Occurrence, Run, RunStep};
use crate::session::TestSession;
use crate::timed::driver::{self, Director, Plan, Scene};
use crate::timed::windows::{Drawn, window};
use crate::timed::{delay_of, delayed_by, seconds};

struct Player<'a> {
    script: &'a [Cue],
    solver: Lazy,
}

/// Runs a script. Behind its end, observations are awaited until there is a verdict or silence.
pub(crate) fn perform(session: &mut TestSession<'_>, seed: u64, script: &[Cue]) -> Run {
    driver::run(session, seed, &mut Player { script, solver: Lazy::default() })
}

impl Director for Player<'_> {
    fn plan(&mut self, scene: Scene<'_>) -> Plan {
        let Some(Cue::Send(event)) = self.script.first().filter(|_| scene.takes_stimuli) else {
            return Plan::Wait(None);
        };
        let Some(delay) = delay_of(event) else { return Plan::Wait(None) };
        let soon = delayed_by(event, delay.max(&scene.now).clone());
        if scene.judge.can_send(&soon) {
            return Plan::Send(soon);
        }
        later(&scene, event).map_or(Plan::Wait(None), Plan::Send)
    }

    fn saw(&mut self, step: &RunStep) {
        let is_due = matches!(
            (&step.what, self.script.first()),
            (Occurrence::Stimulus(_), Some(Cue::Send(_)))
                | (Occurrence::Observation(_) | Occurrence::Silence(_), Some(Cue::Observe))
        );
        if is_due {
            self.script = &self.script[1..];
        }
    }

    fn solver(&mut self) -> &mut dyn Solver {
        &mut self.solver
    }
}

/// The event as soon as a window of this state is open.
fn later(scene: &Scene<'_>, event: &Event) -> Option<Event> {
    let (test, states) = scene.judge.scene()?;
    let (state, timed) = (states.first()?, test.timed.as_ref()?);
    let far = seconds(timed.silence_after);
    let mut random = coreach_model::random::Random::new(0);
    test.stimuli[state.location].iter().find_map(|number| {
        let transition = &test.iosts.transitions[*number];
        if test.iosts.action(transition.action).name != event.action {
            return None;
        }
        let drawn = Drawn { now: &scene.now, margin: &scene.tolerance, far: &far, at: Some(&scene.now) };
        let delay = window(&test.iosts, transition, state, event)?.instant(drawn, &mut random)?;
        Some(delayed_by(event, delay))
    })
}
