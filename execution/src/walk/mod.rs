//! One walk that covers: a strategy that goes on within one run from goal to goal.
//!
//! **Problem.** Who walks at random spends most of his events on what he has seen; who makes a test for each
//! goal pays the way from the beginning for each of them. And both need a purpose, or many runs.
//!
//! **Method.** After each answer that was not the expected one the best way on is looked for (`search.rs`)
//! from the positions that are possible (`positions.rs`), and its stimulus sent, or its answer awaited. Best
//! is what meets most for each step. What it is worth to meet something (`worth.rs`) depends on what it is:
//! what a criterion lists, and classes of data ([`goals`]), how data stand to each other, what counters have
//! counted to; and on how often it was met: nothing is ever done, it is only worth less. Without data, a
//! tour takes the transitions that are new (`tour.rs`). One plan of five is put off for a move by lot, and
//! more where the last plans met nothing new: that gets out of circles, and of what the model does not
//! describe. Only between plans, since a long one would never end. Where nothing may come, what comes is
//! wrong, and costs no event: there the walk listens now and then. That takes a moment only, since silence
//! says nothing there, and what comes later is seen later.
//!
//! The system is reset only where nothing that was never met can be reached from here and something can from
//! the beginning. **Constants** that the specification leaves open decide what a run can meet at all: some
//! are drawn for each run, and those taken from which most is near (`outlook.rs`). Others are tried where
//! nothing new can be reached; where listed goals are open and none of them can be reached from here, at most
//! `IN_VAIN` times in a row in vain; and where no goal and no sign was new for `ALIKE` events. Before a
//! reset, and before the end, the walk listens until it is silent (for at most `LAST` more observations):
//! else the last fault that was provoked would not be seen.
//!
//! **Source.** Choosing the next goal on line is what van den Bos and Tretmans (TAP 2019) do with a run for
//! each goal.
//! **Where we differ**: one run for all; concrete states instead of switches of the model; many goals at
//! once; moves by lot.
//!
//! The judge is the specification itself, judged on line ([`crate::judge::online`]): a test without an
//! Accept. By ioco the specification is suspended: that it is quiescent is a transition like others, a goal
//! and a step of plans; silence is followed as one, and no second one after the first; and the system is
//! reset after `ALIKE` events that met nothing new, since one that is silent for good may have been wrong
//! before.
//! What is found, and what is planned, is never more than a proposal: the judge says what may be sent.
//!
//! **Ends** with its budget of events, its time, or the share of goals that was asked for. If it is told so,
//! it also ends where no open goal can be found. **Costs** a search for each plan.

pub(crate) mod candidates;
pub mod goals;
mod outlook;
mod positions;
pub(crate) mod search;
mod tour;
mod worth;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Instant;

use coreach_analyses::solver::Solver;
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::random::Random;
use coreach_model::semantics::Event;
use coreach_model::{LocationId, TransitionId};

use self::candidates::{candidates, draw_candidate};
use self::goals::{SoughtGoal, WalkGoal};
use self::positions::Positions;
use self::search::{Planned, TriedSteps, search};
use self::tour::tour;
use self::worth::{New, Worth};
use crate::judge::{Choice, Judge, Move};
use crate::run::{Cause, Occurrence};
use crate::values::{MIX, Values};

/// So many of a hundred plans are put off for a move by lot.
const BY_LOT: usize = 20;

/// So many where the last plans met nothing new: a walk in circles would find nothing more.
const BY_LOT_IN_VAIN: usize = 60;

/// So many of a hundred moves by lot have values as random runs have them.
const AS_RANDOM: usize = 50;

/// The most observations for which the end waits.
const LAST: usize = 16;

/// So many runs with other constants, one after the other, are given to goals that none of them meets.
const IN_VAIN: usize = 5;

/// So many events with the same constants are enough where they meet nothing new.
const ALIKE: usize = 60;

/// So many more steps that are not near may searches try for each event, and at most so many at once.
const CREDIT: usize = 100;
pub(crate) const MOST_CREDIT: usize = 10_000;

/// So many plans in a row that find no open goal show that none can be reached.
const VAIN_PLANS: usize = 8;

/// When a walk ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Until {
    /// After so many events.
    pub events: usize,
    /// When so many percent of the goals are covered.
    pub percent: Option<usize>,
    /// At this moment.
    pub deadline: Option<Instant>,
    /// When no goal is left that a search finds.
    pub covered: bool,
}

/// Why a run of a walk ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ends {
    /// Something new can be reached from the beginning, and not from here.
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
    /// How often each goal that was met at all was met, at least; from 1.
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
    worth: Worth,
    route: VecDeque<Planned>,
    tried: TriedSteps,
    values: Values,
    events: usize,
    /// Of this run.
    own_events: usize,
    resets: usize,
    /// Runs with other constants, one after the other, in which no goal was met first.
    in_vain: usize,
    /// Plans, one after the other, that found nothing that was never met.
    empty_plans: usize,
    /// So many more steps may searches try that are not near.
    credit: usize,
    /// Plans, one after the other, that found no open goal from here or from the beginning.
    vain_plans: usize,
    /// The events of this run when it last met a goal first, or a sign.
    last_new: usize,
    /// Has nothing come since the last event?
    is_silent: bool,
    /// How often the walk was in each location from which nothing may come.
    visits: HashMap<LocationId, usize>,
    /// May nothing come here, so that silence says nothing?
    is_quiet: bool,
    /// Is this a time to listen there?
    listens: bool,
    /// Has it listened there for a moment since the last event?
    has_listened: bool,
    ends: Option<Ends>,
    /// Observations since the end was decided.
    last: usize,
    tell: Option<Tell>,
}

impl Walk {
    /// Through this specification, for these goals, and for classes of data as well if they are wanted.
    /// `varies`: another run has other constants.
    pub fn new(iosts: Iosts, goals: &[WalkGoal], with_classes: bool, until: Until, varies: bool) -> Self {
        let values = Values::new(MIX).of_model(&iosts);
        let sought = SoughtGoal::new(iosts, goals, with_classes);
        let worth = Worth::new(&sought);
        Walk {
            sought,
            until,
            varies,
            worth,
            positions: Positions::default(),
            start: Positions::default(),
            route: VecDeque::new(),
            tried: TriedSteps::default(),
            values,
            events: 0,
            own_events: 0,
            resets: 0,
            in_vain: 0,
            vain_plans: 0,
            empty_plans: 0,
            credit: MOST_CREDIT,
            last_new: 0,
            is_silent: false,
            visits: HashMap::new(),
            is_quiet: false,
            listens: false,
            has_listened: false,
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
        self.decide_listening();
    }

    /// Is it over, so that no run follows?
    pub fn is_over(&self) -> bool {
        self.ends == Some(Ends::Over) || self.has_ended()
    }

    /// The goals.
    pub fn goals(&self) -> &[WalkGoal] {
        &self.sought.goals
    }

    /// Which of them were surely met.
    pub fn covered(&self) -> impl Iterator<Item = bool> {
        self.worth.covered()
    }

    /// How far it has come.
    pub fn standing(&self) -> Standing {
        Standing {
            covered: self.covered().filter(|covered| *covered).count(),
            goals: self.sought.goals.len(),
            events: self.events,
            resets: self.resets,
            round: self.worth.round(),
        }
    }

    fn has_ended(&self) -> bool {
        let Until { events, percent, deadline, covered: ends_covered } = &self.until;
        let Standing { covered, goals, .. } = self.standing();
        let is_spent = !self.varies || self.in_vain >= IN_VAIN;
        self.events >= *events
            || *ends_covered && (covered == goals || is_spent && self.vain_plans >= VAIN_PLANS)
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
                self.credit = (self.credit + CREDIT).min(MOST_CREDIT);
                self.own_events += 1;
                self.last += usize::from(self.ends.is_some());
                self.values.remember_values(&event.values);
                Some(event)
            }
        };
        let listened = std::mem::take(&mut self.listens);
        if let Some(event) = event {
            let met = self.positions.follow(&self.sought, event);
            match self.worth.note(&met) {
                New::Goal => {
                    (self.in_vain, self.vain_plans, self.empty_plans) = (0, 0, 0);
                    self.last_new = self.own_events;
                }
                New::Sign => (self.empty_plans, self.last_new) = (0, self.own_events),
                New::Nothing => {}
            }
            // A judge that takes what has crossed on the way may be where these events do not lead.
            if self.positions.is_empty() {
                let states = judge.scene().map(|(_, states)| states).unwrap_or_default();
                self.positions = Positions::at(&self.sought, states);
            }
            self.decide_listening();
        }
        // What was planned up to here has happened, or something else has; who has only listened goes on.
        if event.is_some() || !listened {
            self.route.pop_front();
        }
        let goes_on = |kind| !self.is_silent || kind == ActionKind::Input;
        let is_next = |planned: &Planned| goes_on(planned.kind) && self.positions.has(&planned.state);
        if !self.route.front().is_some_and(is_next) {
            self.route.clear();
        }
        if let Some(tell) = &self.tell {
            tell(&self.standing());
        }
    }

    /// Is a moment enough for a wait here? At the end it is not: nobody listens after that.
    pub fn listens_for_a_moment(&self) -> bool {
        self.is_quiet && !self.is_over()
    }

    /// It has listened for a moment, and nothing has come. That is no silence.
    pub fn has_listened(&mut self) {
        (self.listens, self.has_listened) = (false, true);
    }

    /// Nothing can be heard, as between two requests: nothing is waited for before something is sent.
    pub fn cannot_hear(&mut self) {
        self.is_silent = true;
        if self.route.front().is_some_and(|planned| planned.kind != ActionKind::Input) {
            self.route.clear();
        }
    }

    /// What to do next; `None` where the run is over.
    pub fn moves(&mut self, random: &mut Random, solver: &mut dyn Solver) -> Option<Vec<Move>> {
        if self.ends.is_none() && self.has_ended() {
            self.ends = Some(Ends::Over);
        }
        if self.ends.is_none() {
            if self.listens && !self.is_silent {
                return Some(vec![Move::Wait]);
            }
            let by_lot = if self.empty_plans > 1 { BY_LOT_IN_VAIN } else { BY_LOT };
            if self.route.is_empty()
                && random.chance(by_lot)
                && let Some(any) = self.draw_move(random, solver)
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
            // Nothing can be planned: whatever there is to do, and else another beginning.
            if let Some(any) = self.draw_move(random, solver) {
                return Some(vec![any]);
            }
            self.ends = Some(if self.own_events == 0 { Ends::Over } else { Ends::Reset });
        }
        let is_heard =
            self.is_silent || self.last >= LAST || self.has_listened && self.listens_for_a_moment();
        (!is_heard).then(|| vec![Move::Wait])
    }

    /// Where nothing may come, what comes is wrong: that is listened for at the first, the second, the fourth
    /// visit, and so on.
    fn decide_listening(&mut self) {
        (self.listens, self.has_listened) = (false, false);
        let mut states = self.positions.iter().map(|(state, _)| state).peekable();
        // By ioco silence is an event.
        self.is_quiet = self.sought.quiescence().is_none()
            && states.peek().is_some()
            && states.all(|state| !self.sought.may_answer(state));
        if self.is_quiet {
            let places: BTreeSet<LocationId> =
                self.positions.iter().map(|(state, _)| state.location).collect();
            for place in places {
                let visits = self.visits.entry(place).or_default();
                *visits += 1;
                self.listens |= visits.is_power_of_two();
            }
        }
    }

    /// Something that can be done, by lot: a stimulus, or a wait where something may come.
    fn draw_move(&mut self, random: &mut Random, solver: &mut dyn Solver) -> Option<Move> {
        let Walk { sought, positions, values, .. } = self;
        self.route.clear();
        let mut stimuli: BTreeMap<TransitionId, Planned> = BTreeMap::new();
        let mut awaits = false;
        for (state, _) in positions.iter() {
            awaits |= !self.is_silent && sought.may_answer(state);
            for &transition in &sought.outgoing[state.location] {
                let kind = sought.kind(transition);
                if kind == ActionKind::Input && !stimuli.contains_key(&transition) {
                    let sources = &mut Choice { values, random, solver };
                    let found = candidates(sought, transition, state, 1, sources).into_iter().next();
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
            Some(mut planned) => {
                let step = Move::Send(planned.transition);
                if random.chance(AS_RANDOM)
                    && let Some(drawn) = draw_candidate(
                        sought,
                        planned.transition,
                        &planned.state,
                        &mut Choice { values, random, solver },
                    )
                {
                    planned.event.values = drawn.values;
                }
                self.route.push_back(planned);
                Some(step)
            }
            None => awaits.then_some(Move::Wait),
        }
    }

    /// Looks for the best way from here, and decides whether another beginning is better.
    fn plan(&mut self, random: &mut Random, solver: &mut dyn Solver) {
        let Walk { sought, worth, tried, positions, start, values, .. } = self;
        let sources = &mut Choice { values, random, solver };
        if !self.is_silent
            && let Some((state, _)) = positions.iter().next()
        {
            self.route = tour(sought, worth, state, sources);
            if !self.route.is_empty() {
                return;
            }
        }
        // Where nothing new was found, the next searches look far less and less often, and on credit only:
        // what an event costs must not grow with the walk.
        let is_far = (self.empty_plans == 0 || self.empty_plans.is_power_of_two())
            && (worth.has_open() || sought.with_classes);
        let most_far = if is_far { self.credit } else { 0 };
        let here = search(sought, worth, tried, positions.iter(), self.is_silent, most_far, sources);
        self.credit -= here.far.min(self.credit);
        self.empty_plans = if here.fresh.is_empty() { self.empty_plans + 1 } else { 0 };
        if let Some(target) = here.target {
            worth.plans(target);
        }
        let has_goal = worth.has_goal(&here.fresh);
        self.vain_plans = if has_goal { 0 } else { self.vain_plans + 1 };
        if here.fresh.is_empty() && self.own_events > 0 && (is_far || self.varies) {
            let most_far = self.credit;
            let there =
                (!self.varies).then(|| search(sought, worth, tried, start.iter(), false, most_far, sources));
            let spent = there.as_ref().map_or(0, |there| there.far);
            self.credit -= spent.min(self.credit);
            if there.as_ref().is_some_and(|there| worth.has_goal(&there.fresh)) {
                self.vain_plans = 0;
            }
            let is_better = there.is_none_or(|there| match there.target {
                Some(target) => {
                    // If what is reached from there is never met, that ends with the tries.
                    worth.plans(target);
                    true
                }
                None => false,
            });
            if is_better {
                self.ends = Some(Ends::Reset);
                return;
            }
        }
        let is_tired = self.own_events > self.last_new + ALIKE;
        let is_barren = self.in_vain < IN_VAIN && worth.has_open() && !has_goal;
        let may_vary = self.varies && (is_tired || is_barren);
        // Who by ioco may be silent may be so for good.
        let may_be_mute = is_tired && sought.quiescence().is_some();
        if self.own_events > 0 && (may_vary || may_be_mute) {
            self.in_vain += usize::from(is_barren);
            self.ends = Some(Ends::Reset);
            return;
        }
        self.route = here.route;
    }
}

#[cfg(test)]
mod tests;
