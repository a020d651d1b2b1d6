//! Plans by a script: repeats a stored run ([`crate::replay`]).
//!
//! Each stimulus is sent with the values that it had and with its delay. If the system did something else
//! meanwhile, it is sent as soon after that as its guard allows. The instants are measured anew, so no two
//! runs have the same delays.

use coreach_analyses::solver::Solver;
use coreach_model::semantics::Event;

use crate::lazy::Lazy;
use crate::renamed::RenamedIds;
use crate::run::{Cue, Fidelity, Occurrence, Run, RunStep};
use crate::session::TestSession;
use crate::timed::driver::{self, Director, Scene, TimedPlan};
use crate::timed::windows::{InstantChoice, window_of};
use crate::timed::{delay_of, delayed_by, exact_seconds};

struct ScriptPlayer<'a> {
    script: &'a [Cue],
    ids: RenamedIds,
    solver: Lazy,
}

/// Performs a script. After its end, the tester waits for observations until there is a verdict or silence.
pub(crate) fn perform_script(
    session: &mut TestSession<'_>,
    seed: u64,
    script: &[Cue],
    fidelity: Fidelity,
) -> Run {
    // Loosely, stimuli do not wait for observations.
    let is_kept = |cue: &&Cue| fidelity == Fidelity::Exact || matches!(cue, Cue::Send(_));
    let script: Vec<Cue> = script.iter().filter(is_kept).cloned().collect();
    let (script, ids) = (script.as_slice(), RenamedIds::default());
    driver::run_timed(session, seed, &mut ScriptPlayer { script, ids, solver: Lazy::default() })
}

impl Director for ScriptPlayer<'_> {
    fn plan(&mut self, scene: Scene<'_>) -> TimedPlan {
        let Some(Cue::Send(event)) = self.script.first().filter(|_| scene.takes_stimuli) else {
            return TimedPlan::Wait(None);
        };
        let event = &self.ids.rename(event);
        let Some(delay) = delay_of(event) else { return TimedPlan::Wait(None) };
        let soon = delayed_by(event, delay.max(&scene.now).clone());
        if scene.judge.can_send(&soon) {
            return TimedPlan::Send(soon);
        }
        send_when_open(&scene, event).map_or(TimedPlan::Wait(None), TimedPlan::Send)
    }

    fn note_step(&mut self, step: &RunStep) {
        let Some((cue, rest)) = self.script.split_first() else { return };
        match (&step.what, cue) {
            (Occurrence::Stimulus(_), Cue::Send(_)) | (Occurrence::Silence(_), Cue::Observe(_)) => {}
            (Occurrence::Observation(event), Cue::Observe(stored)) => {
                if let Some(stored) = stored {
                    self.ids.learn(stored, event);
                }
            }
            _ => return,
        }
        self.script = rest;
    }

    fn solver(&mut self) -> &mut dyn Solver {
        &mut self.solver
    }
}

/// Returns the event as soon as a window of this state is open, with its delay. `None` if no window takes it.
fn send_when_open(scene: &Scene<'_>, event: &Event) -> Option<Event> {
    let (test, states) = scene.judge.scene()?;
    let (state, timed) = (states.first()?, test.timed.as_ref()?);
    let far = exact_seconds(timed.silence_after);
    let mut random = coreach_model::random::Random::new(0);
    test.stimuli[state.location].iter().find_map(|number| {
        let transition = &test.iosts.transitions[*number];
        if test.iosts.action(transition.action).name != event.action {
            return None;
        }
        let choice =
            InstantChoice { now: &scene.now, margin: &scene.tolerance, far: &far, at: Some(&scene.now) };
        let delay = window_of(&test.iosts, transition, state, event)?.draw_instant(choice, &mut random)?;
        Some(delayed_by(event, delay))
    })
}
