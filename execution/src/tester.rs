//! The tester: drives a judge, today a test case, against an implementation, by a strategy.
//!
//! **Problem.** A judge knows what may happen; an implementation is a black box that answers when it likes.
//! Follow the events that really happen, send only what the judge allows, and end with the verdict that it
//! gives, never with one that it does not (thesis, chapter 6: TC || I, both instantiated with the same
//! constants).
//!
//! **Method.** In each turn: first take what has already arrived, so that a stimulus does not overtake an
//! observation. Then try the moves in the order of the strategy. A stimulus gets values from the judge, is
//! sent, and then shown to it; an observation is shown as it comes. Where there is nothing to send and
//! nothing comes within the limit, silence is shown like an event: it is the judge who says what it means.
//! What was followed is a step of the trace.
//!
//! A judge that looks at a link is shown how long nothing has come (`clock.rs`). An adapter that would keep a
//! stimulus back gets none.
//!
//! What an adapter reports as no event at all is a Fail with that cause (Definition 6.2: the output is in no
//! Out). What breaks in between is no verdict.
//!
//! **Ends** as each run does (`drive`). **Costs** the implementation, the values and the judge.

use std::time::{Duration, Instant};

use coreach_adapters::{Failure, Received, Sent};
use coreach_model::TransitionId;
use coreach_model::random::Random;

use crate::clock::Clock;
use crate::judge::{AfterSilence, Choice};
use crate::lazy::Lazy;
use crate::pauses::{self, Pauses};
use crate::run::{Cause, Occurrence, Outcome, Run, RunStep};
use crate::session::{Driver, Progress, Running, TestSession, bounded, drive};
use crate::strategy::{Move, Strategy, order};
use crate::timed;
use crate::values::{MIX, Values};

/// In so many of [`OF_MOVES`] moves an answer is awaited that the specification owes.
const AWAITED: usize = 7;
/// In so many where something has come since the last stimulus: a system that always goes on is interrupted.
const AWAITED_AGAIN: usize = 4;
/// In one of so many waits it is waited until something that is under way has been taken.
const OF_MOVES: usize = 8;
/// With so many stimuli under way, it is waited until one has been taken: each excuses more of what comes.
const MANY: usize = 4;

struct Tester<'s, 'a, 'b> {
    running: Running<'s, 'a>,
    strategy: Strategy<'b>,
    values: Values,
    solver: Lazy,
    random: Random,
    clock: Clock,
    pauses: Pauses,
    /// Was an owed answer awaited in vain since the last observation?
    in_vain: bool,
    /// How much of what `pauses` have measured was taken from the clock.
    lost: Duration,
}

impl TestSession<'_> {
    /// Runs once: the strategy orders the moves, the seed decides the rest.
    pub fn run(&mut self, seed: u64, mut strategy: Strategy<'_>) -> Run {
        if self.judge.scene().is_some_and(|(test, _)| test.timed.is_some()) {
            return timed::strategy::run(self, seed, strategy);
        }
        let mut begun = self.begin(seed);
        let mut values = Values::new(MIX).of_model(self.judge.iosts());
        values.begin(&begun.constants);
        strategy.begin(self.judge);
        // The initial location may be Pass: then nothing is to be done.
        let started = match self.judge.verdict() {
            Some(_) => Ok(()),
            None => self.settings.samples(seed, begun.deadline).and_then(|samples| {
                values.with_samples(samples);
                self.start(&mut begun)
            }),
        };
        let settings = self.settings;
        let mut tester = Tester {
            running: begun.running(self),
            strategy,
            values,
            solver: Lazy::default(),
            random: Random::new(seed),
            clock: Clock::new(begun.begin),
            pauses: Pauses::default(),
            in_vain: false,
            lost: Duration::ZERO,
        };
        let outcome = match started {
            Ok(()) => bounded(settings, || drive(&mut tester)),
            Err(failure) => Outcome::RunError(failure),
        };
        let Tester { running, mut values, .. } = tester;
        Run { mix: values.end(), ..running.session.end(begun, running.trace, outcome) }
    }
}

impl<'a> Driver<'a> for Tester<'_, 'a, '_> {
    fn running(&self) -> &Running<'_, 'a> {
        &self.running
    }

    fn take_turn(&mut self) -> Result<Progress, Failure> {
        let arrived = self.observe(self.running.begin)?;
        if arrived.is_nothing() { self.try_moves() } else { Ok(arrived) }
    }
}

impl Tester<'_, '_, '_> {
    /// Tries the moves of this state until one makes something happen.
    fn try_moves(&mut self) -> Result<Progress, Failure> {
        if !self.running.session.adapter.hears() {
            self.strategy.cannot_hear();
        }
        let Some(mut moves) = order(
            &mut self.strategy,
            self.running.session.judge,
            &self.running.session.settings.weights,
            &mut self.random,
            &mut self.solver,
        ) else {
            return Ok(Progress::Over(Outcome::inconclusive(self.strategy.cause())));
        };
        let quiescence = self.running.silence();
        let awaited = self.put_wait_first(&mut moves, quiescence);
        (self.pauses, self.lost) = (Pauses::default(), Duration::ZERO);
        let mut waited = Duration::ZERO;
        let silence = self.running.session.judge.silence();
        // One more silence after another tells nothing, and none where nothing could have been heard.
        let is_new = !self.running.was_silent() || silence == Some(AfterSilence::Decides);
        let tells = is_new && self.running.session.adapter.hears();
        let silence = silence.filter(|_| tells);
        let takes_stimuli = self.running.session.adapter.takes_stimuli();
        for (position, one) in moves.iter().enumerate() {
            let progress = match one {
                Move::Send(_) if !takes_stimuli => Progress::Nothing,
                Move::Send(number) => self.send(*number)?,
                Move::Wait => {
                    let decides = silence == Some(AfterSilence::Decides);
                    let is_long = awaited == Some(quiescence);
                    // A stimulus that is under way is waited for until it has been taken.
                    let is_brief =
                        self.strategy.listens_for_a_moment() && self.running.session.judge.due().is_none();
                    let whole = !is_brief
                        && (position + 1 == moves.len() || self.strategy.waits() || decides || is_long);
                    let patience = self.running.session.settings.patience.min(quiescence);
                    waited = if whole { quiescence } else { awaited.unwrap_or(patience) };
                    let progress = self.observe(Instant::now() + waited)?;
                    let is_nothing = progress.is_nothing();
                    if is_nothing && is_brief {
                        self.strategy.has_listened();
                        return Ok(progress);
                    }
                    self.in_vain |= is_nothing && is_long;
                    if is_nothing && whole && silence.is_some() {
                        return self.show_silence(quiescence);
                    }
                    // What need not come did not come: another move is planned.
                    let waited = is_nothing && moves.len() > 1 && self.strategy.waits();
                    if waited && self.strategy.waited_in_vain() {
                        self.in_vain = true;
                        return self.try_moves();
                    }
                    progress
                }
            };
            if !progress.is_nothing() {
                return Ok(progress);
            }
        }
        // No stimulus had values. If the wait was short, it gets its full length now.
        if !takes_stimuli || moves.contains(&Move::Wait) || self.running.session.judge.offers().may_observe {
            if waited < quiescence {
                let progress = self.observe(Instant::now() + (quiescence - waited))?;
                if !progress.is_nothing() {
                    return Ok(progress);
                }
            }
            if Instant::now() >= self.running.deadline {
                return Ok(Progress::Over(self.running.out_of_time()));
            }
            if !tells && self.running.session.judge.silence().is_some() {
                return Ok(Progress::Over(Outcome::inconclusive(Cause::Silence(quiescence))));
            }
            return self.show_silence(quiescence);
        }
        Ok(Progress::Over(Outcome::inconclusive(Cause::NothingToDo)))
    }

    /// Puts waiting first, and says for how long to wait: a stimulus that is sent before something that
    /// comes excuses much of it.
    ///
    /// - Where the specification owes an answer, it is awaited in most moves, by lot. Once that was in vain,
    ///   nothing is until something comes.
    /// - Where many stimuli are under way, and now and then where one is, it is waited until one has been
    ///   taken.
    fn put_wait_first(&mut self, moves: &mut Vec<Move>, quiescence: Duration) -> Option<Duration> {
        let judge = &*self.running.session.judge;
        let can_send = moves.iter().any(|one| *one != Move::Wait);
        if matches!(self.strategy, Strategy::Ask(_)) || !can_send || !self.running.session.adapter.hears() {
            return None;
        }
        let last = self.running.trace.iter().rev().find(|step| step.what.event().is_some());
        let has_heard = last.is_some_and(|step| matches!(step.what, Occurrence::Observation(_)));
        let often = if has_heard { AWAITED_AGAIN } else { AWAITED };
        let wait = if !self.in_vain && judge.owes() && self.random.below(OF_MOVES) < often {
            Some(quiescence)
        } else {
            let mut by_lot = || moves.first() == Some(&Move::Wait) && self.random.below(OF_MOVES) == 0;
            judge.due().filter(|_| judge.under_way() >= MANY || by_lot())
        };
        if wait.is_some() {
            moves.retain(|one| *one != Move::Wait);
            moves.insert(0, Move::Wait);
        }
        wait
    }

    /// Asks the system's state, or waits on for as long as the machine has kept the system from answering.
    fn wait_out_pauses(&mut self, quiescence: Duration) -> Result<Progress, Failure> {
        match self.running.session.adapter.receive_from_state() {
            Some(Received::Output(event)) => return Ok(self.show(Occurrence::Observation(event))),
            Some(_) => return Ok(Progress::Nothing),
            None => {}
        }
        let most = Instant::now() + pauses::most(quiescence);
        loop {
            let lost = self.pauses.lost(self.running.session.adapter);
            if lost <= pauses::little(quiescence) {
                return Ok(Progress::Nothing);
            }
            if Instant::now() >= most {
                return Ok(Progress::Over(Outcome::inconclusive(Cause::Jitter(lost))));
            }
            self.pauses.again(self.running.session.adapter);
            self.lost = Duration::ZERO;
            let progress = self.observe(Instant::now() + lost)?;
            if !progress.is_nothing() {
                return Ok(progress);
            }
        }
    }

    /// Shows the judge that nothing has come for so long.
    fn show_silence(&mut self, quiescence: Duration) -> Result<Progress, Failure> {
        let progress = self.wait_out_pauses(quiescence)?;
        if !progress.is_nothing() {
            return Ok(progress);
        }
        // What is under way had less time than has passed, where the machine was busy.
        while let Some(due) =
            self.running.session.judge.due().filter(|_| Instant::now() < self.running.deadline)
        {
            let progress = self.observe(Instant::now() + due)?;
            if !progress.is_nothing() {
                return Ok(progress);
            }
        }
        if Instant::now() >= self.running.deadline {
            return Ok(Progress::Over(self.running.out_of_time()));
        }
        let hears = self.running.session.adapter.hears();
        Ok(self.show(Occurrence::Silence(quiescence)).if_heard(hears))
    }

    /// Sends the planned stimulus, if it can be sent, or one chosen now. `Nothing`: there is none.
    fn send(&mut self, number: TransitionId) -> Result<Progress, Failure> {
        match self.show_passed_time(true) {
            Progress::Nothing => {}
            other => return Ok(other),
        }
        let TestSession { judge, adapter, .. } = self.running.session;
        let (values, strategy) = (&mut self.values, &self.strategy);
        let event = match strategy.planned(number).filter(|event| judge.can_send(event)) {
            Some(planned) => {
                values.note_planned();
                Some(planned.clone())
            }
            None => {
                let mut choice = Choice { values, random: &mut self.random, solver: &mut self.solver };
                judge.stimulus(number, &mut choice)
            }
        };
        let Some(event) = event else { return Ok(Progress::Nothing) };
        adapter.send(&event)?;
        match adapter.sent() {
            Sent::Yes => {}
            // What kept it back is seen at once.
            Sent::No => return self.observe(Instant::now() + self.running.silence()),
            Sent::Crossed => {
                self.show(Occurrence::Stimulus(event));
                return Ok(Progress::Over(Outcome::inconclusive(Cause::Crossed)));
            }
        }
        self.clock.begin_at_stimulus();
        Ok(self.show(Occurrence::Stimulus(event)))
    }

    /// Takes an observation that comes until then, or before the deadline.
    fn observe(&mut self, until: Instant) -> Result<Progress, Failure> {
        let until = until.min(self.running.deadline);
        loop {
            let limit = self.pauses.limit(self.clock.limit(self.running.session.judge, until));
            let asked = Instant::now();
            match self.running.session.adapter.receive(limit)? {
                Received::Silence => {}
                Received::Alien(text) => return Ok(self.running.show_alien(text)),
                Received::Output(event) => return Ok(self.show(Occurrence::Observation(event))),
            }
            self.clock.note_silence(asked, limit);
            self.pauses.waited(self.running.session.adapter, asked, limit);
            // Something may have been decided by that.
            match self.show_passed_time(false) {
                Progress::Nothing if limit >= until => return Ok(Progress::Nothing),
                Progress::Nothing => {}
                over => return Ok(over),
            }
        }
    }

    /// Shows the judge how long nothing has come, where it wants to know: without what the machine has taken
    /// from the system.
    fn show_passed_time(&mut self, is_sending: bool) -> Progress {
        if self.running.session.judge.due().is_some() {
            let lost = self.pauses.lost(self.running.session.adapter);
            self.clock.add_lost_time(lost.saturating_sub(self.lost));
            self.lost = lost;
        }
        let Some(time) = self.clock.take_passed_time(self.running.session.judge, is_sending) else {
            return Progress::Nothing;
        };
        match self.show(Occurrence::Delay(time)) {
            Progress::Moved if self.running.session.judge.verdict().is_none() => Progress::Nothing,
            other => other,
        }
    }

    fn show(&mut self, what: Occurrence) -> Progress {
        let is_silence = matches!(what, Occurrence::Silence(_));
        let progress = self.running.show(what, self.running.begin.elapsed());
        let judge = &*self.running.session.judge;
        if let Progress::Over(_) = progress {
            if is_silence {
                self.strategy.fell_silent(judge);
            }
            return progress;
        }
        if let Some(RunStep { what, transition, .. }) = self.running.trace.last() {
            if let Occurrence::Observation(_) = what {
                self.in_vain = false;
            }
            if let Some(event) = what.event() {
                self.values.remember_values(&event.values);
            }
            if let Some(number) = transition {
                self.strategy.took(*number);
            }
            self.strategy.happened(judge, what, *transition);
        }
        progress
    }
}
