//! One walk that covers: a strategy that goes on within one run from goal to goal.
//!
//! **Problem.** Who walks at random spends most of his events on what he has seen; who makes a test for each
//! goal pays the way from the beginning for each of them. And both need a purpose, or many runs.
//!
//! **Method.** After each answer that was not the expected one, a near goal that is still open is looked
//! for (`search.rs`) from the positions that are possible (`positions.rs`), and its stimulus sent, or its
//! answer awaited. The goals come in phases: those of the first phase to which a way is known, then those of
//! the next. Besides what a criterion lists there are classes of data ([`goals`]): how data stand to each
//! other, what counters have counted to. Those that were met are remembered for the whole walk, so it goes on
//! to what it has not seen after all that is listed is covered. Where all that can be reached was met, a new
//! *round* begins: the listed goals again with other values. One move of ten is drawn by lot: it gets out of
//! what the model does not describe.
//!
//! The system is reset only where nothing open can be reached from here and something can from the
//! beginning. **Constants** that the specification leaves open decide what a run can meet at all: some are
//! drawn for each run, and those taken with which most is near that is open (`outlook.rs`). Where listed
//! goals are open and none can be reached from here, others are tried, at most `IN_VAIN` times in a row
//! in vain; and so they are after `ALIKE` events that met nothing open. By ioco the system is reset then,
//! too: one that is silent for good may have been wrong before. Before a reset, and before the end, the walk
//! listens until it is silent (for at most `LAST` more observations): else the last fault
//! that was provoked would not be seen.
//!
//! **Source.** Choosing the next goal on line is what van den Bos and Tretmans (TAP 2019) do with a run for
//! each goal.
//! **Where we differ**: one run for all; concrete states instead of switches of the model; rounds; moves by
//! lot.
//!
//! The judge is the specification itself, judged on line ([`crate::judge::online`]): a test without an
//! Accept. By ioco the specification is suspended: that it is quiescent is a transition like others, a goal
//! and a step of plans; silence is followed as one, and no second one after the first. What is found, and
//! what is planned, is never more than a proposal: the judge says what may be sent.
//!
//! **Ends** with its budget of events, its time, or the share of goals that was asked for. **Costs** a search
//! for each plan.

pub(crate) mod candidates;
pub mod goals;
mod outlook;
mod positions;
mod round;
mod search;

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use coreach_analyses::solver::Solver;
use coreach_model::TransitionId;
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::random::Random;
use coreach_model::semantics::Event;

use self::candidates::candidates;
use self::goals::{SoughtGoal, WalkPhase};
use self::positions::Positions;
use self::round::Rounds;
use self::search::{Planned, Question, WalkTarget, search};
use crate::judge::{Choice, Judge, Move};
use crate::run::{Cause, Occurrence};
use crate::values::{MIX, Values};

/// So many of a hundred moves are drawn by lot.
const BY_LOT: usize = 10;

/// The most observations for which the end waits.
const LAST: usize = 16;

/// So many runs with other constants, one after the other, are given to goals that none of them meets.
const IN_VAIN: usize = 5;

/// So many events with the same constants are enough where they meet no open goal.
const ALIKE: usize = 60;

/// When a walk ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Until {
    /// After so many events.
    pub events: usize,
    /// When so many percent of the goals are covered.
    pub percent: Option<usize>,
    /// At this moment.
    pub deadline: Option<Instant>,
}

/// Why a run of a walk ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ends {
    /// Something open can be reached from the beginning, and not from here.
    Reset,
    /// The walk is over.
    Over,
}

/// Whoever wants to know how far a walk has come, after each event.
pub type Tell = Box<dyn Fn(&Standing)>;

/// How far a walk has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// The goals that were surely met.
    pub covered: usize,
    /// All goals.
    pub goals: usize,
    /// The events of all runs.
    pub events: usize,
    /// How often the system was reset.
    pub resets: usize,
    /// The number of the round, from 1.
    pub round: usize,
}

/// A walk, over all its runs.
pub struct Walk {
    sought: SoughtGoal,
    until: Until,
    /// Does another run begin with other constants?
    varies: bool,
    positions: Positions,
    start: Positions,
    rounds: Rounds,
    route: VecDeque<Planned>,
    values: Values,
    events: usize,
    /// Of this run.
    own_events: usize,
    resets: usize,
    /// Runs with other constants, one after the other, that met no goal for the first time.
    in_vain: usize,
    /// The events of this run when it last met a goal that was open.
    last_new: usize,
    /// Has nothing come since the last event?
    is_silent: bool,
    ends: Option<Ends>,
    /// Observations since the end was decided.
    last: usize,
    tell: Option<Tell>,
}

impl Walk {
    /// Through this specification, for these goals, phase by phase. `varies`: another run has other
    /// constants.
    pub fn new(iosts: Iosts, phases: &[WalkPhase], until: Until, varies: bool) -> Self {
        let sought = SoughtGoal::new(iosts, phases);
        let rounds = Rounds::new(&sought);
        Walk {
            sought,
            until,
            varies,
            rounds,
            positions: Positions::default(),
            start: Positions::default(),
            route: VecDeque::new(),
            values: Values::new(MIX),
            events: 0,
            own_events: 0,
            resets: 0,
            in_vain: 0,
            last_new: 0,
            is_silent: false,
            ends: None,
            last: 0,
            tell: None,
        }
    }

    /// The same, and somebody wants to know.
    #[must_use]
    pub fn telling(self, tell: Tell) -> Self {
        Walk { tell: Some(tell), ..self }
    }

    /// A run begins in the judge's state.
    pub fn begin(&mut self, judge: &dyn Judge) {
        let constants = judge.constants();
        self.values.begin(&constants);
        let states = judge.scene().map(|(_, states)| states).unwrap_or_default();
        self.start = Positions::at(&self.sought, states);
        self.positions = self.start.clone();
        self.resets += usize::from(self.ends == Some(Ends::Reset));
        (self.own_events, self.is_silent, self.ends, self.last, self.last_new) = (0, false, None, 0, 0);
        self.route.clear();
    }

    /// Is it over, so that no run follows?
    pub fn is_over(&self) -> bool {
        self.ends == Some(Ends::Over) || self.has_ended()
    }

    /// The goals in the order of the phases.
    pub fn goals(&self) -> &[goals::WalkGoal] {
        &self.sought.goals
    }

    /// Which of them were surely met.
    pub fn covered(&self) -> &[bool] {
        &self.rounds.covered
    }

    /// How far it has come.
    pub fn standing(&self) -> Standing {
        Standing {
            covered: self.rounds.count(),
            goals: self.sought.goals.len(),
            events: self.events,
            resets: self.resets,
            round: self.rounds.number,
        }
    }

    fn has_ended(&self) -> bool {
        let Until { events, percent, deadline } = &self.until;
        let Standing { covered, goals, .. } = self.standing();
        self.events >= *events
            || percent.is_some_and(|percent| covered * 100 >= percent * goals)
            || deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Why a run ends that has no more moves.
    pub fn cause(&self) -> Cause {
        if self.ends == Some(Ends::Reset) { Cause::NothingToDo } else { Cause::Steps(self.own_events) }
    }

    /// The stimulus that was planned here for this transition.
    pub fn planned(&self, transition: TransitionId) -> Option<&Event> {
        let planned = self.route.front()?;
        (planned.kind == ActionKind::Input && planned.transition == transition).then_some(&planned.event)
    }

    /// Takes what has happened, and the judge has followed.
    pub fn happened(&mut self, judge: &dyn Judge, what: &Occurrence) {
        let quiescence = self.sought.quiescence();
        let event = match what {
            // By ioco it is an event of the specification.
            Occurrence::Silence(_) => {
                self.is_silent = true;
                quiescence.as_ref()
            }
            Occurrence::Delay(_) => None,
            Occurrence::Stimulus(event) | Occurrence::Observation(event) => {
                self.is_silent = false;
                self.events += 1;
                self.own_events += 1;
                self.last += usize::from(self.ends.is_some());
                self.values.saw(&event.values);
                Some(event)
            }
        };
        if let Some(event) = event {
            let met = self.positions.follow(&self.sought, event);
            if self.rounds.note(met) {
                (self.in_vain, self.last_new) = (0, self.own_events);
            }
            // A judge that takes what has crossed on the way may be where these events do not lead.
            if self.positions.is_empty() {
                let states = judge.scene().map(|(_, states)| states).unwrap_or_default();
                self.positions = Positions::at(&self.sought, states);
            }
        }
        // What was planned up to here has happened, or something else has.
        self.route.pop_front();
        let goes_on = |kind| !self.is_silent || quiescence.is_some() && kind == ActionKind::Input;
        let is_next = |planned: &Planned| goes_on(planned.kind) && self.positions.has(&planned.state);
        if !self.route.front().is_some_and(is_next) {
            self.route.clear();
        }
        if let Some(tell) = &self.tell {
            tell(&self.standing());
        }
    }

    /// What to do next; `None` where the run is over.
    pub fn moves(&mut self, random: &mut Random, solver: &mut dyn Solver) -> Option<Vec<Move>> {
        if self.ends.is_none() && self.has_ended() {
            self.ends = Some(Ends::Over);
        }
        if self.ends.is_none() {
            if random.chance(BY_LOT)
                && let Some(any) = self.any(random, solver)
            {
                return Some(vec![any]);
            }
            if self.route.is_empty() {
                self.plan(random, solver);
            }
            if let Some(planned) = self.route.front() {
                return Some(vec![match planned.kind {
                    ActionKind::Input => Move::Send(planned.transition),
                    _ => Move::Wait,
                }]);
            }
        }
        if self.ends.is_none() {
            // Nothing is open anywhere: whatever there is to do, and else another beginning.
            if let Some(any) = self.any(random, solver) {
                return Some(vec![any]);
            }
            self.ends = Some(if self.own_events == 0 { Ends::Over } else { Ends::Reset });
        }
        let is_heard = self.is_silent || self.last >= LAST;
        (!is_heard).then(|| vec![Move::Wait])
    }

    /// Something that can be done, by lot: a stimulus, or a wait where something may come.
    fn any(&mut self, random: &mut Random, solver: &mut dyn Solver) -> Option<Move> {
        let Walk { sought, positions, values, .. } = self;
        self.route.clear();
        let mut stimuli: BTreeMap<TransitionId, Planned> = BTreeMap::new();
        let mut awaits = false;
        for (state, _) in positions.iter() {
            for &transition in &sought.outgoing[state.location] {
                let kind = sought.kind(transition);
                if kind != ActionKind::Input {
                    awaits = !self.is_silent;
                } else if !stimuli.contains_key(&transition) {
                    let sources = &mut Choice { values, random, solver };
                    let found = candidates(sought, transition, state, sources).into_iter().next();
                    stimuli.extend(found.map(|one| {
                        let action = sought.iosts.transitions[transition].action;
                        let event = Event::new(sought.iosts.action(action).name.clone(), one.values);
                        (transition, Planned { state: state.clone(), transition, event, kind })
                    }));
                }
            }
        }
        let chosen = random.below(stimuli.len() + usize::from(awaits));
        match stimuli.into_values().nth(chosen) {
            Some(planned) => {
                let step = Move::Send(planned.transition);
                self.route.push_back(planned);
                Some(step)
            }
            None => awaits.then_some(Move::Wait),
        }
    }

    /// Looks for the nearest open goal, phase by phase, and where there is none, decides how to go on.
    fn plan(&mut self, random: &mut Random, solver: &mut dyn Solver) {
        /// Rounds that begin at one place; the second one finds nothing only where nothing can be reached.
        const ROUNDS: usize = 2;
        for _ in 0..ROUNDS {
            let varies = self.varies && self.own_events > 0;
            if varies && self.in_vain < IN_VAIN && self.rounds.lists_open(&self.sought) {
                if self.plan_listed(random, solver) {
                    return;
                }
                self.in_vain += 1;
                self.ends = Some(Ends::Reset);
                return;
            }
            // Who by ioco may be silent may be so for good.
            let begins_anew = self.varies || self.sought.quiescence().is_some();
            if begins_anew && self.own_events > self.last_new + ALIKE {
                self.rounds.next();
                self.ends = Some(Ends::Reset);
                return;
            }
            // Those that sit a search out have their turn before it is said that there is nothing.
            if self.plan_from_here(true, random, solver) || self.plan_from_here(false, random, solver) {
                return;
            }
            let can_reset = self.own_events > 0;
            if can_reset && self.is_open_from_start(random, solver) {
                self.ends = Some(Ends::Reset);
                return;
            }
            self.rounds.next();
            if can_reset && self.varies {
                self.ends = Some(Ends::Reset);
                return;
            }
        }
    }

    /// Plans for a goal of those that are listed.
    fn plan_listed(&mut self, random: &mut Random, solver: &mut dyn Solver) -> bool {
        for phase in 0..self.sought.phases.len() {
            if self.rounds.has_open(&self.sought, phase)
                && self.sought.phases[phase].is_listed()
                && let Some((target, route)) = self.look(false, phase, random, solver)
            {
                self.rounds.plans(&target);
                self.route = route;
                return true;
            }
        }
        false
    }

    fn plan_from_here(&mut self, may_rest: bool, random: &mut Random, solver: &mut dyn Solver) -> bool {
        for phase in 0..self.sought.phases.len() {
            if may_rest && self.rounds.rests(phase) {
                continue;
            }
            let found = self.look(false, phase, random, solver);
            if may_rest {
                self.rounds.searched(phase, found.is_some());
            }
            if let Some((target, route)) = found {
                self.rounds.plans(&target);
                self.route = route;
                return true;
            }
        }
        false
    }

    fn is_open_from_start(&mut self, random: &mut Random, solver: &mut dyn Solver) -> bool {
        let found = (0..self.sought.phases.len()).find_map(|phase| self.look(true, phase, random, solver));
        // If what is reached from there is never met, that ends with the tries.
        found.is_some_and(|(target, _)| {
            self.rounds.plans(&target);
            true
        })
    }

    /// The nearest open goal of a phase.
    fn look(
        &mut self,
        from_start: bool,
        phase: usize,
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> Option<(WalkTarget, VecDeque<Planned>)> {
        let Walk { sought, rounds, positions, start, values, .. } = self;
        if !rounds.has_open(sought, phase) {
            return None;
        }
        let from = if from_start { start } else { positions };
        let mut open =
            |_, goals: &[usize], classes: &[goals::Class]| rounds.open(sought, phase, goals, classes);
        let is_silent = self.is_silent && !from_start;
        let question = Question { looks: sought.looks[phase], is_silent, open: &mut open };
        search(sought, from.iter(), question, &mut Choice { values, random, solver })
    }
}

#[cfg(test)]
mod tests;
