//! The tester: drives a judge, today a test case, against an implementation, by a strategy.
//!
//! **Problem.** A judge knows what may happen, and an implementation is a black box that answers when it
//! likes. Follow the events that really happen, send only what the judge allows, and end with the verdict
//! that it gives (thesis, chapter 6: TC || I).
//!
//! **Method.** Each turn first takes what has already arrived, so that a stimulus does not overtake an
//! observation. Then it tries the moves in the order of the strategy. If nothing can be sent to a real
//! system, the strategy is asked first, whether an answer is there or not. So it draws the same lots for a
//! quick system and a slow one. A stimulus gets values from the judge, is sent, and is then shown to the
//! judge. An observation is shown as it comes. If there is nothing to send and nothing comes within the
//! limit, silence is shown like an event. Each occurrence that the judge follows is a step of the trace.
//!
//! A judge that looks at a link is shown how long nothing has come (`clock.rs`). If the adapter would keep a
//! stimulus back, the tester gives it none. If the adapter reports something that is no event at all, that is
//! a Fail with that cause (Definition 6.2: the output is in no Out). If something breaks in between, there is
//! no verdict.
//!
//! **Ends** as each run does (`drive`). **Costs** the implementation, the values and the judge.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use coreach_adapters::{Failure, Received, Sent};
use coreach_model::TransitionId;
use coreach_model::random::Random;

use crate::clock::{Clock, Showing};
use crate::judge::{AfterSilence, Choice, Offer};
use crate::lazy::Lazy;
use crate::pauses::{self, Pauses};
use crate::run::{Cause, Occurrence, Outcome, Run, RunStep};
use crate::session::{Driver, Progress, Running, TestSession, run_within_limits, take_turns};
use crate::strategy::{Move, Strategy, order_moves};
use crate::timed;
use crate::values::{MIX, Values};

struct Tester<'s, 'a, 'b> {
    running: Running<'s, 'a>,
    strategy: Strategy<'b>,
    values: Values,
    solver: Lazy,
    random: Random,
    seed: u64,
    events: u64,
    clock: Clock,
    pauses: Pauses,
    /// Has the tester waited in vain, for an owed or a planned answer, since the last observation?
    in_vain: bool,
    /// The part of the lost time measured by `pauses` that the clock already knows.
    lost_in_clock: Duration,
}

/// A wait among the moves of a state.
struct WaitMove {
    is_last: bool,
    has_others: bool,
    /// The effect of silence, if silence says something here.
    after_silence: Option<AfterSilence>,
    /// The time until a stimulus has been taken, if the tester waits for that.
    until_taken: Option<Duration>,
    quiescence: Duration,
}

impl TestSession<'_> {
    /// Runs once: the strategy orders the moves, the seed decides the rest.
    pub fn run(&mut self, seed: u64, mut strategy: Strategy<'_>) -> Run {
        if self.judge.is_timed() {
            return timed::strategy::run_by_strategy(self, seed, strategy);
        }
        let mut begun = self.begin(seed);
        let mut values = Values::new(MIX).of_model(self.judge.iosts());
        values.begin(&begun.constants);
        strategy.begin(self.judge);
        // The initial location may be Pass: then there is nothing to do.
        let started = match self.judge.verdict() {
            Some(_) => Ok(()),
            None => self.settings.samples(seed, begun.deadline).and_then(|samples| {
                strategy.take_samples(&samples);
                values.with_samples(samples);
                self.start_system(&mut begun)
            }),
        };
        let settings = self.settings;
        let mut tester = Tester {
            running: begun.running(self),
            strategy,
            values,
            solver: Lazy::default(),
            random: Random::new(seed),
            seed,
            events: 0,
            clock: Clock::new(begun.begin),
            pauses: Pauses::default(),
            in_vain: false,
            lost_in_clock: Duration::ZERO,
        };
        let outcome = match started {
            Ok(()) => run_within_limits(settings, || take_turns(&mut tester)),
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
        // Whether an answer is there already must not change the lots (see the opening of the file).
        let has_time = !self.running.session.adapter.is_simulated();
        if has_time && !matches!(self.strategy, Strategy::Ask(_)) && self.can_only_wait() {
            return self.try_moves();
        }
        let arrived = self.observe(Duration::ZERO)?;
        if !arrived.is_nothing() {
            return Ok(arrived);
        }
        if self.waits_unasked() {
            let quiescence = self.running.silence();
            (self.pauses, self.lost_in_clock) = (Pauses::default(), Duration::ZERO);
            let progress = self.observe(quiescence)?;
            if !progress.is_nothing() {
                return Ok(progress);
            }
            self.in_vain = true;
            if self.running.session.judge.silence().is_some() {
                let says_something = true;
                return self.wait_for_silence(quiescence, quiescence, says_something);
            }
        }
        self.try_moves()
    }
}

impl Tester<'_, '_, '_> {
    /// Tries the moves of this state until one makes something happen.
    fn try_moves(&mut self) -> Result<Progress, Failure> {
        if !self.running.session.adapter.hears() {
            self.strategy.cannot_hear();
        }
        let quiescence = self.running.silence();
        let moves = self.running.session.judge.offers().moves;
        let Some(mut moves) = order_moves(
            &mut self.strategy,
            moves,
            self.running.session.judge,
            &self.running.session.settings.weights,
            &mut self.random,
            &mut self.solver,
        ) else {
            return Ok(Progress::Over(Outcome::inconclusive(self.explain_no_move(quiescence))));
        };
        let until_taken = self.put_wait_first(&mut moves);
        (self.pauses, self.lost_in_clock) = (Pauses::default(), Duration::ZERO);
        let mut waited = Duration::ZERO;
        let after_silence = self.running.session.judge.silence();
        // A second silence in a row says nothing new, nor does silence while nothing can be heard.
        let is_new = !self.running.was_silent() || after_silence == Some(AfterSilence::Decides);
        let says_something = is_new && self.running.session.adapter.hears();
        let after_silence = after_silence.filter(|_| says_something);
        let takes_stimuli = self.running.session.adapter.takes_stimuli();
        for (position, step) in moves.iter().enumerate() {
            let progress = match step {
                Move::Send(_) if !takes_stimuli => Progress::Nothing,
                Move::Send(number) => self.send(*number)?,
                Move::Wait => {
                    let (is_last, has_others) = (position + 1 == moves.len(), moves.len() > 1);
                    let wait = WaitMove { is_last, has_others, after_silence, until_taken, quiescence };
                    match self.try_wait(wait)? {
                        ControlFlow::Break(progress) => return Ok(progress),
                        ControlFlow::Continue(time) => waited = time,
                    }
                    Progress::Nothing
                }
            };
            if !progress.is_nothing() {
                return Ok(progress);
            }
        }
        // No stimulus had values. If the wait was short, it gets its full length now.
        if !takes_stimuli || moves.contains(&Move::Wait) || self.running.session.judge.offers().may_observe {
            return self.wait_for_silence(waited, quiescence, says_something);
        }
        Ok(Progress::Over(Outcome::inconclusive(Cause::NothingToDo)))
    }

    /// Waits as long as this move deserves. `Break` ends the turn. `Continue`: nothing came in this time.
    fn try_wait(&mut self, wait: WaitMove) -> Result<ControlFlow<Progress, Duration>, Failure> {
        let WaitMove { is_last, has_others, after_silence, until_taken, quiescence } = wait;
        // No brief wait while a stimulus is under way: the tester waits until it has been taken.
        let is_brief = self.strategy.listens_for_a_moment() && self.running.session.judge.due().is_none();
        // Silence counts if nothing else is left to do, if it is planned, or if it decides.
        let counts = is_last || self.strategy.waits() || after_silence == Some(AfterSilence::Decides);
        let is_full = counts && !is_brief;
        let patience = self.running.session.settings.patience.min(quiescence);
        let time = if is_full { quiescence } else { until_taken.unwrap_or(patience) };
        let progress = self.observe(time)?;
        if is_brief && progress.is_nothing() {
            self.strategy.has_listened();
        }
        if is_brief || !progress.is_nothing() {
            return Ok(ControlFlow::Break(progress));
        }
        if is_full && after_silence.is_some() {
            return Ok(ControlFlow::Break(self.show_silence(quiescence)?));
        }
        // The planned observation did not come, and need not come. Plan another move.
        if has_others && self.strategy.waits() && self.strategy.waited_in_vain() {
            self.in_vain = true;
            return Ok(ControlFlow::Break(self.try_moves()?));
        }
        Ok(ControlFlow::Continue(time))
    }

    /// Returns the cause of an end where the strategy has no move.
    fn explain_no_move(&self, quiescence: Duration) -> Cause {
        match self.is_stuck() {
            // Nothing was waited for if nothing can be heard.
            true if !self.running.was_silent() => Cause::Silence(Duration::ZERO),
            true => Cause::Silence(quiescence),
            false => self.strategy.cause(),
        }
    }

    /// Waits for the rest of `quiescence` after a wait of `waited`, and shows the judge silence. Ends the run
    /// instead if the judge knows the effect of silence, and it says nothing new (`says_something`).
    fn wait_for_silence(
        &mut self,
        waited: Duration,
        quiescence: Duration,
        says_something: bool,
    ) -> Result<Progress, Failure> {
        if waited < quiescence {
            let progress = self.observe(quiescence - waited)?;
            if !progress.is_nothing() {
                return Ok(progress);
            }
        }
        if Instant::now() >= self.running.deadline {
            return Ok(Progress::Over(self.running.out_of_time()));
        }
        if !says_something && self.running.session.judge.silence().is_some() {
            return Ok(Progress::Over(Outcome::inconclusive(Cause::Silence(quiescence))));
        }
        self.show_silence(quiescence)
    }

    /// Says whether nothing can be sent here, and something may be observed.
    fn can_only_wait(&self) -> bool {
        let session = &self.running.session;
        let offers = session.judge.offers();
        let is_stimulus = |offer: &Offer| offer.step != Move::Wait;
        offers.may_observe && !(session.adapter.takes_stimuli() && offers.moves.iter().any(is_stimulus))
    }

    /// Says whether a walk was silent where nothing can be sent and the specification must answer.
    fn is_stuck(&self) -> bool {
        let is_silent = self.running.was_silent() || !self.running.session.adapter.hears();
        let is_walk = matches!(self.strategy, Strategy::Walk(_));
        is_walk && is_silent && self.can_only_wait() && self.running.session.judge.must_answer()
    }

    /// Says whether the tester waits for an answer that the specification owes before it asks the strategy.
    /// It does in most moves, by lot: a stimulus that is sent before the answer comes excuses much of it.
    /// After the tester has waited in vain, it asks until something comes.
    fn waits_unasked(&self) -> bool {
        let is_asked = matches!(self.strategy, Strategy::Ask(_)) || self.strategy.listens_for_a_moment();
        let hears = self.running.session.adapter.hears();
        if is_asked || self.in_vain || !hears || self.running.was_silent() {
            return false;
        }
        let last = self.running.trace.iter().rev().find(|step| step.what.event().is_some());
        let has_heard = last.is_some_and(|step| matches!(step.what, Occurrence::Observation(_)));
        // A system that always goes on is interrupted more often.
        let of_eight_moves = if has_heard { 4 } else { 7 };
        self.running.session.judge.owes() && self.lot().below(8) < of_eight_moves
    }

    /// Returns random numbers that depend on the seed and the number of events alone, and not on the time.
    fn lot(&self) -> Random {
        Random::new(self.seed ^ (self.events << 32))
    }

    /// Puts waiting first if many stimuli are under way, and now and then if one is. Returns how long the
    /// tester waits, which is until one has been taken.
    fn put_wait_first(&mut self, moves: &mut Vec<Move>) -> Option<Duration> {
        let judge = &*self.running.session.judge;
        let can_send = moves.iter().any(|step| *step != Move::Wait);
        if matches!(self.strategy, Strategy::Ask(_)) || !can_send || !self.running.session.adapter.hears() {
            return None;
        }
        let by_lot = || moves.first() == Some(&Move::Wait) && self.lot().below(8) == 0;
        // Each stimulus under way excuses more observations.
        let wait = judge.due().filter(|_| judge.under_way() >= 4 || by_lot());
        if wait.is_some() {
            moves.retain(|step| *step != Move::Wait);
            moves.insert(0, Move::Wait);
        }
        wait
    }

    /// Asks the system's state. If the state says nothing, waits on for as long as the machine has kept the
    /// system from answering. `Nothing`: silence may be shown.
    fn confirm_silence(&mut self, quiescence: Duration) -> Result<Progress, Failure> {
        match self.running.session.adapter.receive_from_state() {
            Some(Received::Output(event)) => return Ok(self.show(Occurrence::Observation(event))),
            // The state says that nothing comes.
            Some(_) => return Ok(Progress::Nothing),
            None => {}
        }
        let deadline = Instant::now() + pauses::longest_extension(quiescence);
        loop {
            let lost = self.pauses.measure_loss(self.running.session.adapter);
            if lost <= pauses::ignored_loss(quiescence) {
                return Ok(Progress::Nothing);
            }
            if Instant::now() >= deadline {
                return Ok(Progress::Over(Outcome::inconclusive(Cause::Jitter(lost))));
            }
            self.pauses.restart(self.running.session.adapter);
            self.lost_in_clock = Duration::ZERO;
            let progress = self.observe(lost)?;
            if !progress.is_nothing() {
                return Ok(progress);
            }
        }
    }

    /// Shows the judge that nothing has come for so long.
    fn show_silence(&mut self, quiescence: Duration) -> Result<Progress, Failure> {
        let progress = self.confirm_silence(quiescence)?;
        if !progress.is_nothing() {
            return Ok(progress);
        }
        // If the machine was busy, the stimuli under way had less time than has passed.
        while let Some(due) =
            self.running.session.judge.due().filter(|_| Instant::now() < self.running.deadline)
        {
            let progress = self.observe(due)?;
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

    /// Sends the planned stimulus, if possible, or one whose values are chosen now. `Nothing`: there is none.
    fn send(&mut self, number: TransitionId) -> Result<Progress, Failure> {
        match self.show_passed_time(Showing::BeforeStimulus) {
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
        let sent = adapter.sent();
        // An observation kept it back, and can be read at once.
        if sent == Sent::No {
            return self.observe(self.running.silence());
        }
        self.clock.begin_at_stimulus();
        let shown = self.show(Occurrence::Stimulus(event));
        Ok(if sent == Sent::Crossed { Progress::Over(Outcome::inconclusive(Cause::Crossed)) } else { shown })
    }

    /// Takes an observation that comes within this time and before the deadline.
    fn observe(&mut self, wait: Duration) -> Result<Progress, Failure> {
        let is_wait = !wait.is_zero();
        let until = (Instant::now() + wait).min(self.running.deadline);
        loop {
            let limit = self.pauses.limit(self.clock.limit(self.running.session.judge, until));
            let asked = Instant::now();
            // The state of a simulated system decides, and never the clock. So a seed means one run.
            let adapter = &mut *self.running.session.adapter;
            let from_state = if is_wait { adapter.receive_from_state() } else { None };
            match from_state.map_or_else(|| adapter.receive(limit), Ok)? {
                Received::Silence => {}
                Received::Alien(text) => return Ok(self.running.show_alien(text)),
                Received::Output(event) => return Ok(self.show(Occurrence::Observation(event))),
            }
            self.clock.note_silence(asked, limit);
            self.pauses.note_wait(self.running.session.adapter, asked, limit);
            // The passed time may have decided something.
            match self.show_passed_time(Showing::WhileWaiting) {
                Progress::Nothing if limit >= until => return Ok(Progress::Nothing),
                Progress::Nothing => {}
                over => return Ok(over),
            }
        }
    }

    /// Shows the judge how long nothing has come, without the time that the machine took from the system.
    fn show_passed_time(&mut self, showing: Showing) -> Progress {
        if self.running.session.judge.due().is_some() {
            let lost = self.pauses.measure_loss(self.running.session.adapter);
            self.clock.add_lost_time(lost.saturating_sub(self.lost_in_clock));
            self.lost_in_clock = lost;
        }
        let Some(time) = self.clock.take_passed_time(self.running.session.judge, showing) else {
            return Progress::Nothing;
        };
        match self.show(Occurrence::Delay(time)) {
            Progress::Moved if self.running.session.judge.verdict().is_none() => Progress::Nothing,
            other => other,
        }
    }

    /// Shows an occurrence to the judge, and tells the strategy and the values of it.
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
                self.events += 1;
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
