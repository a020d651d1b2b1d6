//! The verdict on a trace, relative to a path.
//!
//! **Problem.** Was what was recorded a timed trace of the model (tioco: each output and each delay after a
//! trace of the model must be one that the model allows), and did the run go along the path that the test is
//! for?
//!
//! **Source.** 2012, the contexts and the rules: R0 begins with the initial context. R1 takes the next member
//! of the trace: an event leads each context through every transition that takes it after the delay that has
//! passed, a delay leaves the contexts that may wait so long ([`super::waiting`]). R2: no context is left
//! after an output or a delay: Fail. R6: none is left after an input: Inconclusive, the model does not say
//! what follows (`i`). At the end, R3: all contexts are at the end of the path: Pass. R4: some are: WeakPass.
//! R5: none is: Inconclusive, another way through the model was taken (`r`). The whole trace is looked at:
//! Fail goes before everything, so leaving the path ends nothing.
//!
//! **Where we differ.** Contexts off the path are not nodes of a tree, whose number has no end: they are
//! where the model is, with its data. Contexts that are equal are one, and such that differ in what is
//! known of their symbols only become one; where they are many since choices that nobody sees add up,
//! they become few ([`coreach_analyses::symbolic::gathered`]). All contexts have let the same time pass
//! since the last event, which each of them took: it is kept once. Internal steps are followed where they
//! are enabled; the delayed form makes sure that they need no time.
//!
//! **Ends** with the trace, or at the limit of contexts. **Costs**, for each event, the contexts times the
//! transitions of its action that leave their locations: evaluations, and questions to the solver only where
//! the answer hangs on data that are not known.

use std::collections::{BTreeMap, BTreeSet};

use coreach_analyses::solver::Solver;
use coreach_analyses::symbolic::SymbolicState;
use coreach_analyses::symbolic::gathered::gathered;
use coreach_analyses::symbolic::inclusion::data_of;
use coreach_model::budget;
use coreach_model::iosts::{ActionId, ActionKind};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Value, Verdict};
use dashu::rational::RBig;

use crate::offline::context::{Context, MOST_PARTS, Place};
use crate::offline::prepared::Offline;
use crate::offline::sequence::{Item, Placed};
use crate::offline::why::{Seen, Why};

/// The most contexts, unless told otherwise.
pub const MOST_CONTEXTS: usize = 4096;

/// What a trace was worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OfflineVerdict {
    /// All that it may have been went along the path to its end (R3).
    Pass,
    /// Some of it did (R4).
    WeakPass,
    /// A trace of the model, and not of the path (R5).
    InconclusiveR,
    /// An input that the model does not take there: what follows is not specified (R6).
    InconclusiveI,
    /// No trace of the model: an output or a delay that it does not allow (R2).
    Fail,
}

impl OfflineVerdict {
    /// The verdict as all of coreach calls it.
    pub fn verdict(self) -> Verdict {
        match self {
            OfflineVerdict::Pass => Verdict::Pass,
            OfflineVerdict::WeakPass => Verdict::WeakPass,
            OfflineVerdict::InconclusiveR | OfflineVerdict::InconclusiveI => Verdict::Inconclusive,
            OfflineVerdict::Fail => Verdict::Fail,
        }
    }

    /// The rule of the publication.
    pub fn rule(self) -> &'static str {
        match self {
            OfflineVerdict::Pass => "R3",
            OfflineVerdict::WeakPass => "R4",
            OfflineVerdict::InconclusiveR => "R5",
            OfflineVerdict::InconclusiveI => "R6",
            OfflineVerdict::Fail => "R2",
        }
    }
}

/// Why judging stopped without a verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CannotJudge {
    /// More contexts than the limit.
    Contexts {
        /// The line of the trace.
        line: usize,
        /// The limit.
        most: usize,
    },
    /// What is not known of the data takes more to say than the limit.
    TooLarge {
        /// The line of the trace.
        line: usize,
        /// Of which datum; of none in particular, where it is a condition.
        datum: Option<String>,
    },
    /// The initial condition does not hold with the constants that are given.
    Initial,
}

/// Follows a trace.
pub struct OfflineJudge<'a> {
    offline: &'a Offline<'a>,
    contexts: Vec<Context>,
    /// The time since the last event.
    elapsed: RBig,
    /// The time since the beginning.
    time: RBig,
    last: Option<Seen>,
    events: usize,
    end: Option<(OfflineVerdict, Why)>,
    most_at_once: usize,
    has_forgotten: bool,
}

impl<'a> OfflineJudge<'a> {
    /// At the beginning, with constants that are known.
    ///
    /// # Errors
    /// [`CannotJudge`].
    pub fn new(
        offline: &'a Offline<'a>,
        constants: &Valuation,
        solver: &mut dyn Solver,
    ) -> Result<Self, CannotJudge> {
        let state = SymbolicState::start(&offline.system, constants, solver).ok_or(CannotJudge::Initial)?;
        let initial = Context { place: Place::On(0), state };
        let mut judge = OfflineJudge {
            offline,
            contexts: Vec::new(),
            elapsed: RBig::ZERO,
            time: RBig::ZERO,
            last: None,
            events: 0,
            end: None,
            most_at_once: 1,
            has_forgotten: false,
        };
        judge.contexts = judge.closed(vec![initial], 0, solver)?;
        Ok(judge)
    }

    /// The contexts that are possible now.
    pub fn contexts(&self) -> &[Context] {
        &self.contexts
    }

    /// Is the verdict settled, whatever follows?
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// How many events there were, up to the one that settled the verdict.
    pub fn events(&self) -> usize {
        self.events
    }

    /// The time of the last that was taken.
    pub fn time(&self) -> &RBig {
        &self.time
    }

    /// The most contexts that were kept at once.
    pub fn most_at_once(&self) -> usize {
        self.most_at_once
    }

    /// Was more known of the data than is kept? What was not was taken for what makes no Fail.
    pub fn has_forgotten(&self) -> bool {
        self.has_forgotten
    }

    /// Takes the next member of the trace. Behind a verdict nothing is looked at.
    ///
    /// # Errors
    /// More contexts than the limit.
    pub fn take(&mut self, placed: &Placed, solver: &mut dyn Solver) -> Result<(), CannotJudge> {
        budget::ask();
        if self.end.is_some() {
            return Ok(());
        }
        match &placed.item {
            Item::Delay(time) => self.wait(placed.line, time, solver),
            Item::Event(action, values) => self.event(placed.line, *action, values, solver)?,
        }
        Ok(())
    }

    fn wait(&mut self, line: usize, time: &RBig, solver: &mut dyn Solver) {
        let elapsed = &self.elapsed + time;
        let mut may_wait = |context: &Context| self.offline.may_wait(&context.state, &elapsed, solver);
        let stay: Vec<bool> = self.contexts.iter().map(&mut may_wait).collect();
        if !stay.contains(&true) {
            let seen = Seen { line, item: Item::Delay(time.clone()), time: self.time.clone() };
            self.fail(OfflineVerdict::Fail, seen, solver);
            return;
        }
        let mut stay = stay.into_iter();
        self.contexts.retain(|_| stay.next() == Some(true));
        self.time += time;
        self.elapsed = elapsed;
    }

    fn event(
        &mut self,
        line: usize,
        action: ActionId,
        values: &[Value],
        solver: &mut dyn Solver,
    ) -> Result<(), CannotJudge> {
        let offline = self.offline;
        let iosts = &offline.form.iosts;
        let mut with_delay = Vec::with_capacity(values.len() + 1);
        with_delay.push(Value::Real(self.elapsed.clone()));
        with_delay.extend_from_slice(values);
        let mut next = Vec::new();
        for context in &self.contexts {
            for number in &offline.system.outgoing[context.state.location] {
                if iosts.transitions[*number].action == action {
                    let path = &offline.path;
                    next.extend(context.after(&offline.system, *number, &with_delay, path, solver));
                }
            }
        }
        let seen = || Seen { line, item: Item::Event(action, values.to_vec()), time: self.time.clone() };
        if next.is_empty() {
            let verdict = match iosts.action(action).kind {
                ActionKind::Input => OfflineVerdict::InconclusiveI,
                _ => OfflineVerdict::Fail,
            };
            let seen = seen();
            self.fail(verdict, seen, solver);
            return Ok(());
        }
        self.last = Some(seen());
        self.contexts = self.closed(next, line, solver)?;
        if let Some(datum) = self.contexts.iter().find_map(|context| context.state.too_large(MOST_PARTS)) {
            return Err(CannotJudge::TooLarge { line, datum });
        }
        self.has_forgotten |= self.contexts.iter().any(|context| context.state.is_full());
        self.most_at_once = self.most_at_once.max(self.contexts.len());
        self.elapsed = RBig::ZERO;
        self.events += 1;
        Ok(())
    }

    fn fail(&mut self, verdict: OfflineVerdict, seen: Seen, solver: &mut dyn Solver) {
        let why = Why::of(self.offline, &self.contexts, &self.elapsed, seen, self.last.clone(), solver);
        self.end = Some((verdict, why));
    }

    /// These contexts and those behind internal steps, each once, in an order of their own.
    fn closed(
        &self,
        contexts: Vec<Context>,
        line: usize,
        solver: &mut dyn Solver,
    ) -> Result<Vec<Context>, CannotJudge> {
        let offline = self.offline;
        if let [one] = contexts.as_slice()
            && offline.internal[one.state.location].is_empty()
        {
            return Ok(contexts);
        }
        let mut all: BTreeSet<Context> = BTreeSet::new();
        let mut work = contexts;
        while let Some(context) = work.pop() {
            if all.contains(&context) {
                continue;
            }
            for number in &offline.internal[context.state.location] {
                work.extend(context.after(&offline.system, *number, &[], &offline.path, solver));
            }
            all.insert(context);
            if all.len() > offline.most {
                return Err(CannotJudge::Contexts { line, most: offline.most });
            }
        }
        let mut kept: Vec<Context> = Vec::new();
        for context in all {
            // By their order, those of one place and one valuation stand together.
            match kept.last_mut() {
                Some(last) if last.place == context.place && last.state.is_like(&context.state) => {
                    last.state = last.state.clone().joined(&context.state, solver);
                }
                _ => kept.push(context),
            }
        }
        if kept.len() <= offline.few {
            return Ok(kept);
        }
        let data = data_of(&offline.form.iosts);
        let mut places: BTreeMap<Place, Vec<SymbolicState>> = BTreeMap::new();
        for Context { place, state } in kept {
            places.entry(place).or_default().push(state);
        }
        let few =
            |(place, states)| gathered(&data, states).into_iter().map(move |state| Context { place, state });
        Ok(places.into_iter().flat_map(few).collect())
    }

    /// The verdict on what was taken, as if the trace ended here.
    pub fn verdict(&self) -> OfflineVerdict {
        if let Some((verdict, _)) = &self.end {
            return *verdict;
        }
        let target = Place::On(self.offline.length());
        let there = self.contexts.iter().filter(|context| context.place == target).count();
        match there {
            0 => OfflineVerdict::InconclusiveR,
            all if all == self.contexts.len() => OfflineVerdict::Pass,
            _ => OfflineVerdict::WeakPass,
        }
    }

    /// Why it ended, where an event or a delay ended it.
    pub fn why(&self) -> Option<&Why> {
        self.end.as_ref().map(|(_, why)| why)
    }

    /// How far along the path the run came, in the context that went furthest; nothing where none is on it.
    pub fn furthest(&self) -> Option<usize> {
        let on = |context: &Context| if let Place::On(steps) = context.place { Some(steps) } else { None };
        self.contexts.iter().filter_map(on).max()
    }
}

/// Judges a whole trace.
///
/// # Errors
/// What its reader says, and [`CannotJudge`].
pub fn judge<'a, E: From<CannotJudge>>(
    offline: &'a Offline<'a>,
    constants: &Valuation,
    trace: impl Iterator<Item = Result<Placed, E>>,
    solver: &mut dyn Solver,
) -> Result<OfflineJudge<'a>, E> {
    let mut judge = OfflineJudge::new(offline, constants, solver)?;
    for placed in trace {
        // What stands behind the end of the judgement is read as well: a file with a mistake in it has no
        // verdict.
        judge.take(&placed?, solver)?;
    }
    Ok(judge)
}
