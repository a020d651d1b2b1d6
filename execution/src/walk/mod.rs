//! Walks through the system in one long run that covers goal after goal.
//!
//! **Problem.** A random run spends most of its events on what it has seen. A suite with a test for each goal
//! pays the way from the beginning for each of them. Both need a purpose or many runs.
//!
//! **Method.** After each unexpected answer, the walk searches the best way on (`search.rs`) from the
//! possible positions (`positions.rs`). It sends the first stimulus of this way, or waits for its answer. The
//! best way meets the most worth for each step. The worth of an item (`worth.rs`) depends on its kind, which
//! is a goal of a criterion or a class of data ([`goals`]), and falls with each meeting. Without data, a tour
//! takes the new transitions (`tour.rs`).
//!
//! *Moves by lot.* One plan of five is replaced by a random move, and more if the last plans met nothing new.
//! This leads out of circles. It replaces plans only, never a step of one, since a long plan would never end.
//!
//! *Muted stimuli.* Once plans are in vain, the walk often leaves some stimuli out for a while, by lot.
//! Otherwise a stimulus that clears everything comes again and again, and no state grows old.
//!
//! *Listening.* If the specification allows no output, any output is a fault. The walk waits for one now and
//! then, for a moment only. A later output is noticed later. Waiting costs no event.
//!
//! *Resets.* The walk resets the system if nothing new can be reached from here and something can from the
//! beginning. It also resets after `ALIKE` events without anything new if all that it can reach has fewer
//! than three quarters of the transitions that the beginning shows. By ioco it does so anywhere, since a
//! system that is silent for good may have failed before. Before a reset and before the end, the walk listens
//! until silence, for at most `LAST` more observations. Otherwise the last fault would not be seen.
//!
//! *Constants.* Open constants decide what a run can meet. For each run some are drawn, and the best are
//! taken (`outlook.rs`). The walk tries others in three cases: nothing new can be reached, no open goal can
//! be reached (at most `IN_VAIN` runs in a row), or no goal and no sign was new for `ALIKE` events.
//!
//! The judge is the specification, judged on line ([`crate::judge::online`]), and has no Accept. By ioco the
//! specification is suspended. Quiescence is then a goal and a step of plans like others, and never follows
//! itself. A plan is only a proposal, since the judge decides what may be sent.
//!
//! **Source.** Van den Bos and Tretmans (TAP 2019) choose the next goal on line, with a run for each goal.
//! Muted stimuli are swarm testing (Groce et al., ISSTA 2012).
//!
//! **Differs** by one run for all goals, concrete states instead of switches of the model, many goals at
//! once, and moves by lot.
//!
//! **Ends** with its budget of events, its time, or the wanted share of goals. With `ends_when_covered` it
//! also ends if no open goal can be found, after it has sent the alternatives of variants and read older
//! elements. **Costs** one search for each plan.

pub(crate) mod candidates;
mod compared;
mod elements;
pub mod goals;
mod guide;
mod outlook;
mod positions;
pub(crate) mod search;
mod tour;
mod value_classes;
mod worth;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Instant;

use coreach_adapters::behaviour::Samples;
use coreach_analyses::solver::Solver;
use coreach_model::iosts::{Action, ActionId, ActionKind, Iosts};
use coreach_model::random::Random;
use coreach_model::semantics::Event;
use coreach_model::{LocationId, TransitionId};

use self::candidates::{candidates, draw_candidate};
use self::elements::ElementReads;
use self::goals::{WalkGoal, WalkModel};
use self::guide::Guide;
use self::positions::Positions;
use self::search::{Far, Planned, TriedSteps, search};
use self::tour::plan_tour;
use self::worth::{Novelty, Worth};
use crate::judge::{Choice, Judge, Move};
use crate::run::{Cause, Occurrence};
use crate::values::{MIX, Values};

/// The number of events for which stimuli are muted: at least the first number, and less than the second.
const MUTED_EVENTS: (usize, usize) = (16, 80);

/// How often the walk waits after a stimulus that the specification ignores, in percent. Only the next output
/// shows that the system does not ignore it, and another stimulus may hide this.
const PERCENT_AFTER_IGNORED: usize = 75;

/// The most observations before a reset or the end.
const LAST: usize = 16;

/// The most successive runs with other constants that meet no new goal.
const IN_VAIN: usize = 5;

/// The most events of a run without a new goal or sign, before other constants or a reset are tried.
const ALIKE: usize = 60;

/// The most steps that are not near and that the searches may still take. Each event allows a hundred more.
pub(crate) const MOST_CREDIT: usize = 10_000;

/// After so many successive plans without an open goal, none counts as reachable.
const VAIN_PLANS: usize = 24;

/// The conditions that end a walk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WalkLimits {
    /// The most events of all runs.
    pub events: usize,
    /// The percentage of goals to cover.
    pub percent: Option<usize>,
    /// The latest moment.
    pub deadline: Option<Instant>,
    /// Does it end if no search finds an open goal?
    pub ends_when_covered: bool,
}

/// The reason why a run of a walk ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RunEnd {
    /// Another run can meet more.
    Reset,
    /// The walk is over.
    Over,
}

/// A listener that is told after each event how far the walk has come.
pub type ProgressListener = Box<dyn Fn(&WalkProgress)>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WalkProgress {
    /// The number of goals that were surely met.
    pub covered: usize,
    pub goals: usize,
    /// The number of events of all runs.
    pub events: usize,
    pub resets: usize,
    /// The least number of meetings among the goals that were met, and at least 1.
    pub round: usize,
}

/// A walk, over all its runs.
pub struct Walk {
    model: WalkModel,
    until: WalkLimits,
    /// May another run begin with other constants?
    varies: bool,
    positions: Positions,
    start: Positions,
    worth: Worth,
    elements: ElementReads,
    route: VecDeque<Planned>,
    tried: TriedSteps,
    values: Values,
    events: usize,
    /// The number of events of this run.
    own_events: usize,
    resets: usize,
    /// The number of successive runs with other constants that met no new goal.
    in_vain: usize,
    /// The number of successive plans that found nothing new.
    empty_plans: usize,
    /// The number of steps beyond the near ones that searches may still try.
    credit: usize,
    /// The number of successive plans that found no open goal, neither from here nor from the beginning.
    vain_plans: usize,
    /// The number of events of this run when it last met a new goal or sign.
    last_new: usize,
    /// The number of events of this run at which it compares its place with the beginning again.
    next_comparison: usize,
    /// The stimuli that are not sent for a while.
    muted: BTreeSet<ActionId>,
    /// The number of further events for which they stay muted.
    muted_for: usize,
    /// Was silence observed since the last event?
    is_silent: bool,
    /// Was the last event a stimulus that the specification ignores, with an output possible?
    is_ignored: bool,
    /// The number of visits to each location that allows no output.
    visits: HashMap<LocationId, usize>,
    /// Is no output allowed here, so that silence tells nothing?
    is_quiet: bool,
    /// Is the walk to listen for a moment?
    listens: bool,
    /// Has it listened for a moment since the last event?
    has_listened: bool,
    ends: Option<RunEnd>,
    /// The number of events since the end of the run was decided.
    last: usize,
    listener: Option<ProgressListener>,
}

impl Walk {
    /// Prepares a walk through a specification. It looks for these goals, and for classes of data if
    /// `with_classes`. If `varies`, another run may have other constants.
    pub fn new(
        iosts: Iosts,
        goals: &[WalkGoal],
        with_classes: bool,
        until: WalkLimits,
        varies: bool,
    ) -> Self {
        let values = Values::new(MIX).of_model(&iosts);
        let model = WalkModel::new(iosts, goals, with_classes);
        let worth = Worth::new(&model);
        Walk {
            elements: ElementReads::new(&model),
            model,
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
            next_comparison: 0,
            muted: BTreeSet::new(),
            muted_for: 0,
            is_silent: false,
            is_ignored: false,
            visits: HashMap::new(),
            is_quiet: false,
            listens: false,
            has_listened: false,
            ends: None,
            last: 0,
            listener: None,
        }
    }

    #[must_use]
    pub fn with_listener(self, listener: ProgressListener) -> Self {
        Walk { listener: Some(listener), ..self }
    }

    pub(crate) fn take_samples(&mut self, samples: Samples) {
        self.values.with_samples(samples);
    }

    /// Begins a run in the judge's state.
    pub fn begin(&mut self, judge: &dyn Judge) {
        let constants = judge.constants();
        self.values.begin(&constants);
        let states = judge.scene().map(|(_, states)| states).unwrap_or_default();
        self.start = Positions::at(&self.model, states);
        self.positions = self.start.clone();
        self.elements.begin();
        self.resets += usize::from(self.ends == Some(RunEnd::Reset));
        (self.own_events, self.is_silent, self.ends, self.last, self.last_new) = (0, false, None, 0, 0);
        self.next_comparison = 0;
        self.route.clear();
        self.decide_listening();
    }

    /// Tells whether the walk is over, so that no run follows.
    pub fn is_over(&self) -> bool {
        self.ends == Some(RunEnd::Over) || self.has_ended()
    }

    pub fn goals(&self) -> &[WalkGoal] {
        &self.model.goals
    }

    /// For each goal, whether it was surely met.
    pub fn covered(&self) -> impl Iterator<Item = bool> {
        self.worth.covered()
    }

    pub fn progress(&self) -> WalkProgress {
        WalkProgress {
            covered: self.covered().filter(|covered| *covered).count(),
            goals: self.model.goals.len(),
            events: self.events,
            resets: self.resets,
            round: self.worth.round(),
        }
    }

    /// Tells whether an end condition holds.
    fn has_ended(&self) -> bool {
        let WalkLimits { events, percent, deadline, ends_when_covered } = &self.until;
        let WalkProgress { covered, goals, .. } = self.progress();
        let is_spent = !self.varies || self.in_vain >= IN_VAIN;
        let is_vain = self.vain_plans >= VAIN_PLANS;
        // These are no goals, but worth a longer walk.
        let has_unmet_data = self.worth.has_open_alternative() || self.elements.are_open();
        let is_covered = covered == goals && (is_vain || !has_unmet_data) || is_spent && is_vain;
        self.events >= *events
            || *ends_when_covered && is_covered
            || percent.is_some_and(|percent| covered * 100 >= percent * goals)
            || deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Returns the cause of a run's end if it has no more moves.
    pub fn cause(&self) -> Cause {
        if self.events >= self.until.events { Cause::Steps(self.own_events) } else { Cause::Walked }
    }

    /// Returns the planned stimulus, if it goes through this transition.
    pub fn planned(&self, transition: TransitionId) -> Option<&Event> {
        let planned = self.route.front()?;
        (planned.kind == ActionKind::Input && planned.transition == transition).then_some(&planned.event)
    }

    /// Takes an occurrence that the judge has followed.
    pub fn happened(&mut self, judge: &dyn Judge, occurrence: &Occurrence) {
        let quiescence = self.model.quiescence();
        let event = match occurrence {
            // By ioco silence is an event of the specification.
            Occurrence::Silence(_) => {
                self.is_silent = true;
                quiescence.as_ref()
            }
            Occurrence::Delay(_) => None,
            Occurrence::Stimulus(event) | Occurrence::Observation(event) => {
                self.is_silent = false;
                self.events += 1;
                self.credit = (self.credit + 100).min(MOST_CREDIT);
                self.own_events += 1;
                self.muted_for = self.muted_for.saturating_sub(1);
                self.last += usize::from(self.ends.is_some());
                self.values.remember_values(&event.values);
                Some(event)
            }
        };
        let listened = std::mem::take(&mut self.listens);
        if let Some(event) = event {
            self.elements.follow(&self.model, &self.positions, event);
            let before = matches!(occurrence, Occurrence::Stimulus(_)).then(|| self.positions.clone());
            let met = self.positions.follow(&self.model, event);
            self.is_ignored = before.is_some_and(|before| self.positions.has_states_of(&before))
                && self.positions.iter().any(|(state, _)| self.model.may_answer(state));
            match self.worth.note_met(&met) {
                Novelty::Goal => {
                    (self.in_vain, self.vain_plans, self.empty_plans) = (0, 0, 0);
                    self.last_new = self.own_events;
                }
                Novelty::Sign => (self.empty_plans, self.last_new) = (0, self.own_events),
                Novelty::Nothing => {}
            }
            // Outputs may have crossed: the judge may be in states that these events alone do not reach.
            if self.positions.is_empty() {
                let states = judge.scene().map(|(_, states)| states).unwrap_or_default();
                self.positions = Positions::at(&self.model, states);
            }
            self.decide_listening();
        }
        // This step of the plan is over, unless the walk has only listened.
        if event.is_some() || !listened {
            self.route.pop_front();
        }
        let goes_on = |kind| !self.is_silent || kind == ActionKind::Input;
        let is_next = |planned: &Planned| goes_on(planned.kind) && self.positions.has(&planned.state);
        if !self.route.front().is_some_and(is_next) {
            self.route.clear();
        }
        if let Some(listener) = &self.listener {
            listener(&self.progress());
        }
    }

    /// Tells whether a short wait is enough here. At the end it is not, since nothing is heard later.
    pub fn listens_for_a_moment(&self) -> bool {
        self.is_quiet && !self.is_over()
    }

    /// Notes a short wait in which nothing came. This is not silence.
    pub fn has_listened(&mut self) {
        (self.listens, self.has_listened) = (false, true);
    }

    /// Notes that nothing can be heard before something is sent, as between two HTTP requests.
    pub fn cannot_hear(&mut self) {
        self.is_silent = true;
        if self.route.front().is_some_and(|planned| planned.kind != ActionKind::Input) {
            self.route.clear();
        }
    }

    /// Chooses the next move. `None` if the run is over.
    pub fn moves(&mut self, random: &mut Random, solver: &mut dyn Solver) -> Option<Vec<Move>> {
        if self.ends.is_none() && self.has_ended() {
            self.ends = Some(RunEnd::Over);
        }
        if self.ends.is_none() {
            if self.listens && !self.is_silent {
                return Some(vec![Move::Wait]);
            }
            if self.is_ignored && !self.is_silent && random.chance(PERCENT_AFTER_IGNORED) {
                self.route.clear();
                return Some(vec![Move::Wait]);
            }
            if self.route.is_empty() && self.muted_for == 0 {
                self.mute_stimuli(random);
            }
            // If the last plans met nothing new, a walk in circles would find nothing more.
            let percent_by_lot = if self.empty_plans > 1 { 60 } else { 20 };
            if self.route.is_empty()
                && random.chance(percent_by_lot)
                && let Some(drawn) = self.draw_move(random, solver)
            {
                return Some(vec![drawn]);
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
            // Without a plan, any move is good, and otherwise another run.
            self.muted.clear();
            if let Some(drawn) = self.draw_move(random, solver) {
                return Some(vec![drawn]);
            }
            self.ends = Some(if self.own_events == 0 { RunEnd::Over } else { RunEnd::Reset });
        }
        // Before a run ends, the walk waits for what is still to come.
        let has_waited =
            self.is_silent || self.last >= LAST || self.has_listened && self.listens_for_a_moment();
        (!has_waited).then(|| vec![Move::Wait])
    }

    /// Decides whether to listen for an output that is not allowed. The walk listens at the first, second,
    /// fourth visit of a location, and so on.
    fn decide_listening(&mut self) {
        (self.listens, self.has_listened) = (false, false);
        let mut states = self.positions.iter().map(|(state, _)| state).peekable();
        // By ioco silence is an event, and the plans wait for it.
        self.is_quiet = self.model.quiescence().is_none()
            && states.peek().is_some()
            && states.all(|state| !self.model.may_answer(state));
        if self.is_quiet {
            let locations: BTreeSet<LocationId> =
                self.positions.iter().map(|(state, _)| state.location).collect();
            for location in locations {
                let visits = self.visits.entry(location).or_default();
                *visits += 1;
                self.listens |= visits.is_power_of_two();
            }
        }
    }

    /// Decides before a plan which stimuli are muted for some events (`MUTED_EVENTS`), by lot two of five. In
    /// one of four calls none is, as after new finds, and the next plan decides again.
    fn mute_stimuli(&mut self, random: &mut Random) {
        self.muted.clear();
        if self.empty_plans > 1 && random.chance(75) {
            let is_input = |(_, action): &(ActionId, &Action)| action.kind == ActionKind::Input;
            let inputs: Vec<_> = self.model.iosts.actions.numbered().filter(is_input).collect();
            if inputs.len() < 4 {
                // The rest of few stimuli would leave nothing to do.
                return;
            }
            self.muted = inputs.into_iter().map(|(number, _)| number).filter(|_| random.chance(40)).collect();
            self.muted_for = MUTED_EVENTS.0 + random.below(MUTED_EVENTS.1 - MUTED_EVENTS.0);
        }
    }

    /// Draws a move: a stimulus, or a wait if an output is possible.
    fn draw_move(&mut self, random: &mut Random, solver: &mut dyn Solver) -> Option<Move> {
        let Walk { model, positions, values, muted, .. } = self;
        self.route.clear();
        let mut stimuli: BTreeMap<TransitionId, Planned> = BTreeMap::new();
        let mut awaits = false;
        for (state, _) in positions.iter() {
            awaits |= !self.is_silent && model.may_answer(state);
            for &transition in &model.outgoing[state.location] {
                let kind = model.kind(transition);
                let is_muted = muted.contains(&model.iosts.transitions[transition].action);
                if kind == ActionKind::Input && !is_muted && !stimuli.contains_key(&transition) {
                    let sources = &mut Choice { values, random, solver };
                    let step = candidates(model, transition, state, 1, sources).into_iter().next();
                    stimuli.extend(step.map(|step| {
                        let action = model.iosts.transitions[transition].action;
                        let event = Event::new(model.iosts.action(action).name.clone(), step.values);
                        (transition, Planned { state: state.clone(), transition, event, kind })
                    }));
                }
            }
        }
        // The last number stands for the wait.
        let chosen = random.below(stimuli.len() + usize::from(awaits));
        match stimuli.into_values().nth(chosen) {
            Some(mut planned) => {
                let step = Move::Send(planned.transition);
                // Half of the moves by lot draw their values as random runs do.
                if random.chance(50) {
                    let sources = &mut Choice { values, random, solver };
                    let drawn = draw_candidate(model, planned.transition, &planned.state, sources);
                    planned.event.values = drawn.map_or(planned.event.values, |drawn| drawn.values);
                }
                self.route.push_back(planned);
                Some(step)
            }
            None => awaits.then_some(Move::Wait),
        }
    }

    /// Plans the best way from here, and decides whether another run is better.
    fn plan(&mut self, random: &mut Random, solver: &mut dyn Solver) {
        let Walk { model, worth, tried, positions, start, values, muted, .. } = self;
        let sources = &mut Choice { values, random, solver };
        if !self.is_silent
            && let Some((state, _)) = positions.iter().next()
        {
            self.route = plan_tour(model, worth, state, sources);
            if !self.route.is_empty() {
                return;
            }
        }
        // After searches in vain, the next ones look far less and less often, and on credit only. So the cost
        // of an event does not grow with the walk.
        let is_due =
            self.empty_plans == 0 || self.empty_plans.is_power_of_two() || self.credit == MOST_CREDIT;
        let is_far = is_due && (worth.has_open_goal() || model.with_classes);
        // A fifth of the plans aim at an open transition, whatever is new nearby.
        let is_aimed = self.credit >= MOST_CREDIT / 2 && sources.random.chance(20);
        let goal = if is_far || is_aimed { Guide::to_goal(model, worth, sources.random) } else { None };
        let is_aimed = is_aimed && goal.is_some();
        let guide = match goal {
            Some(goal) if is_aimed || sources.random.below(2) == 0 => Some(goal),
            _ if is_far => Guide::to_class(model, worth, sources.random),
            _ => None,
        };
        let far = |most| Far { most, guide: guide.as_ref(), is_aimed, muted };
        let most_far = if is_far || is_aimed { self.credit } else { 0 };
        let here = search(model, worth, tried, positions.iter(), self.is_silent, far(most_far), sources);
        self.credit -= here.far.min(self.credit);
        if let Some(guide) =
            guide.as_ref().filter(|guide| here.far > 0 && !here.fresh.contains(&guide.target))
        {
            worth.count_plan(guide.target);
        }
        self.empty_plans = if here.fresh.is_empty() { self.empty_plans + 1 } else { 0 };
        if let Some(target) = here.target {
            worth.count_plan(target);
        }
        let has_goal = worth.has_goal(&here.fresh);
        if has_goal {
            self.vain_plans = 0;
        }
        // A search without some stimuli shows that something can be reached, and never that nothing can.
        if !muted.is_empty() {
            self.route = here.route;
            return;
        }
        self.vain_plans += usize::from(!has_goal);
        if here.fresh.is_empty() && self.own_events > 0 && (is_far || self.varies) {
            // Other constants may lead to more. With the same ones, a search from the start decides.
            let mut is_worthwhile = self.varies;
            if !self.varies {
                let is_silent = false;
                let there = search(model, worth, tried, start.iter(), is_silent, far(self.credit), sources);
                self.credit -= there.far.min(self.credit);
                if worth.has_goal(&there.fresh) {
                    self.vain_plans = 0;
                }
                // The tries end the resets for a target that is never met.
                there.target.into_iter().for_each(|target| worth.count_plan(target));
                is_worthwhile = there.target.is_some();
            }
            if is_worthwhile {
                self.ends = Some(RunEnd::Reset);
                return;
            }
        }
        let is_tired = self.own_events > self.last_new + ALIKE;
        let is_barren = self.in_vain < IN_VAIN && worth.has_open_goal() && !has_goal;
        let may_vary = self.varies && (is_tired || is_barren);
        // A small part of the model that nothing leaves would keep the walk for good.
        if is_tired && here.is_whole && !self.varies && self.own_events >= self.next_comparison {
            self.next_comparison = self.own_events + ALIKE;
            // Own lots: without a reset, the walk goes on as if nothing had been compared.
            let random = &mut Random::new(self.own_events as u64);
            let sources = &mut Choice { values: sources.values, random, solver: sources.solver };
            let steps = &mut TriedSteps::default();
            let is_silent = false;
            let there = search(model, worth, steps, start.iter(), is_silent, far(0), sources);
            if 4 * here.transitions.len() < 3 * there.transitions.len() {
                self.ends = Some(RunEnd::Reset);
                return;
            }
        }
        // By ioco a system that may be silent may stay silent for good.
        let may_be_mute = is_tired && model.quiescence().is_some();
        if self.own_events > 0 && (may_vary || may_be_mute) {
            self.in_vain += usize::from(is_barren);
            self.ends = Some(RunEnd::Reset);
            return;
        }
        self.route = here.route;
    }
}

#[cfg(test)]
mod tests;
