//! The verdict on a trace, relative to a path.
//!
//! **Problem.** Is the recording a timed trace of the model (tioco: the model must allow each output and each
//! delay after a trace of the model), and did the run go along the path of the test?
//!
//! **Source.** 2012, the contexts and the rules: R0 begins with the initial context. R1 takes the next member
//! of the trace: an event leads each context through every transition that takes it after the delay that has
//! passed, and after a delay the contexts remain that may wait so long ([`super::waiting`]). R2: no context
//! is left after an output or a delay: Fail. R6: none is left after an input: Inconclusive, the model does
//! not say what follows (`i`). At the end, R3: all contexts are at the end of the path: Pass. R4: some are:
//! WeakPass. R5: none is: Inconclusive, another way through the model was taken (`r`). The whole trace is
//! judged: Fail outweighs everything, so leaving the path ends nothing.
//!
//! **We differ** in this. Contexts off the path are no nodes of a tree, but places in the model with its
//! data. Equal contexts are one, and contexts that differ only in the conditions on their symbols become one.
//! If unseen choices make many of them, they become few ([`coreach_analyses::symbolic::gathered`]). The time
//! since the last event is the same for all contexts, so it is kept once. Internal steps are followed if they
//! are enabled; those that take time are `super::unseen`'s.
//!
//! **Ends** with the trace, or at the limit of contexts. **Costs**, for each event, the contexts times the
//! transitions of its action there: evaluations, and questions to the solver only about unknown data.

use coreach_analyses::solver::Solver;
use coreach_analyses::symbolic::SymbolicState;
use coreach_model::Value;
use coreach_model::budget;
use coreach_model::iosts::{ActionId, ActionKind};
use coreach_model::term::evaluate::Valuation;
use dashu_ratio::RBig;

use crate::offline::context::{Context, MOST_PARTS, PathPosition, close_under_internal};
use crate::offline::prepared::Offline;
use crate::offline::sequence::{Placed, SeqItem};
use crate::offline::uncertain::Uncertain;
use crate::offline::verdict::{CannotJudge, OfflineVerdict};
use crate::offline::why::{Seen, Why};

pub struct OfflineJudge<'a> {
    offline: &'a Offline<'a>,
    contexts: Vec<Context>,
    /// In place of `contexts`: if the recorded instants are not exact, or steps have unseen instants.
    uncertain: Option<Uncertain>,
    /// The time since the last event.
    elapsed: RBig,
    time: RBig,
    last: Option<Seen>,
    events: usize,
    end: Option<(OfflineVerdict, Why)>,
    most_at_once: usize,
    has_forgotten: bool,
}

impl<'a> OfflineJudge<'a> {
    /// Begins in the initial contexts, with these constants.
    pub fn new(
        offline: &'a Offline<'a>,
        constants: &Valuation,
        solver: &mut dyn Solver,
    ) -> Result<Self, CannotJudge> {
        let state = SymbolicState::start(&offline.system, constants, solver).ok_or(CannotJudge::Initial)?;
        let initial = Context { place: PathPosition::On(0), state, is_certain: true };
        let mut judge = OfflineJudge {
            offline,
            contexts: close_under_internal(offline, vec![initial], 0, solver)?,
            uncertain: None,
            elapsed: RBig::ZERO,
            time: RBig::ZERO,
            last: None,
            events: 0,
            end: None,
            most_at_once: 1,
            has_forgotten: false,
        };
        if !offline.is_exact() || offline.unseen.iter().any(|unseen| !unseen.is_empty()) {
            let initial = std::mem::take(&mut judge.contexts);
            judge.uncertain = Some(Uncertain::new(offline, initial, solver)?);
        }
        Ok(judge)
    }

    pub fn contexts(&self) -> &[Context] {
        self.uncertain.as_ref().map_or(&self.contexts, Uncertain::contexts)
    }

    /// Is the verdict settled, whatever follows?
    pub fn has_ended(&self) -> bool {
        self.end.is_some() || self.uncertain.as_ref().is_some_and(Uncertain::has_ended)
    }

    /// Returns the number of events before the one that settled the verdict.
    pub fn events(&self) -> usize {
        self.events
    }

    pub fn time(&self) -> &RBig {
        &self.time
    }

    pub fn most_at_once(&self) -> usize {
        self.most_at_once
    }

    /// Has knowledge about the data been dropped? Then the judge assumes values that make no Fail.
    pub fn has_forgotten(&self) -> bool {
        self.has_forgotten
    }

    /// Takes the next member of the trace. After a verdict it is ignored.
    pub fn take(&mut self, placed: &Placed, solver: &mut dyn Solver) -> Result<(), CannotJudge> {
        budget::ask();
        if self.has_ended() {
            return Ok(());
        }
        if self.uncertain.is_some() {
            return self.take_uncertain(placed, solver);
        }
        match &placed.item {
            SeqItem::Delay(time) => self.wait(placed.line, time, solver),
            SeqItem::Event(action, values) => self.take_event(placed.line, *action, values, solver)?,
        }
        Ok(())
    }

    /// Takes the next member if instants are not exact, or steps are unseen.
    fn take_uncertain(&mut self, placed: &Placed, solver: &mut dyn Solver) -> Result<(), CannotJudge> {
        let (offline, line) = (self.offline, placed.line);
        let Some(uncertain) = &mut self.uncertain else { return Ok(()) };
        let seen = Seen { line, item: placed.item.clone(), time: self.time.clone() };
        if let SeqItem::Delay(time) = &placed.item {
            let until = &self.time + time;
            // An explanation of a Fail adds this delay to the time that had elapsed before it.
            let waited = uncertain.wait(offline, (&until, &self.elapsed), seen, solver);
            if !uncertain.has_ended() {
                self.time = until;
                self.elapsed += time;
            }
            return waited;
        }
        let elapsed = std::mem::replace(&mut self.elapsed, RBig::ZERO);
        uncertain.take_event(offline, seen, &elapsed, solver)?;
        // The event that settles the verdict does not count, as with exact instants.
        self.events += usize::from(!uncertain.has_ended());
        let count = uncertain.count();
        if count > offline.most {
            return Err(CannotJudge::Contexts { line, most: offline.most });
        }
        self.most_at_once = self.most_at_once.max(count);
        self.has_forgotten |= uncertain.all_contexts().any(|context| context.state.is_full());
        check_size(uncertain.all_contexts(), line)
    }

    /// Takes a delay: keeps the contexts that may wait so long.
    fn wait(&mut self, line: usize, time: &RBig, solver: &mut dyn Solver) {
        let elapsed = &self.elapsed + time;
        let may_wait = |context: &Context| self.offline.may_wait(&context.state, &elapsed, solver);
        let stays: Vec<bool> = self.contexts.iter().map(may_wait).collect();
        if !stays.contains(&true) {
            let seen = Seen { line, item: SeqItem::Delay(time.clone()), time: self.time.clone() };
            return self.end_with(OfflineVerdict::Fail, seen, solver);
        }
        let mut stays = stays.into_iter();
        self.contexts.retain(|_| stays.next() == Some(true));
        self.time += time;
        self.elapsed = elapsed;
    }

    /// Takes an event: follows it in all contexts.
    fn take_event(
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
                    next.extend(context.after(offline, *number, &with_delay, solver));
                }
            }
        }
        let seen = Seen { line, item: SeqItem::Event(action, values.to_vec()), time: self.time.clone() };
        if next.is_empty() {
            let verdict = match iosts.action(action).kind {
                ActionKind::Input => OfflineVerdict::InconclusiveI,
                _ => OfflineVerdict::Fail,
            };
            self.end_with(verdict, seen, solver);
            return Ok(());
        }
        self.last = Some(seen);
        self.contexts = close_under_internal(offline, next, line, solver)?;
        check_size(self.contexts.iter(), line)?;
        self.has_forgotten |= self.contexts.iter().any(|context| context.state.is_full());
        self.most_at_once = self.most_at_once.max(self.contexts.len());
        self.elapsed = RBig::ZERO;
        self.events += 1;
        Ok(())
    }

    fn end_with(&mut self, verdict: OfflineVerdict, seen: Seen, solver: &mut dyn Solver) {
        let why = Why::explain(self.offline, &self.contexts, &self.elapsed, seen, self.last.clone(), solver);
        self.end = Some((verdict, why));
    }

    /// Returns the verdict on the trace until now, as if it ended here.
    pub fn verdict(&self) -> OfflineVerdict {
        if let Some((verdict, _)) = self.settled_verdict() {
            return verdict;
        }
        let target = PathPosition::On(self.offline.length());
        let contexts = self.contexts();
        let at_target = contexts.iter().filter(|context| context.place == target).count();
        let is_specified = self.uncertain.as_ref().is_none_or(|uncertain| uncertain.refused.is_none());
        match at_target {
            0 => OfflineVerdict::InconclusiveR,
            count if count == contexts.len() && is_specified => OfflineVerdict::Pass,
            _ => OfflineVerdict::WeakPass,
        }
    }

    /// Returns the verdict that an event or a delay has settled, and why. `None` if it is still open.
    fn settled_verdict(&self) -> Option<(OfflineVerdict, &Why)> {
        let end = self.end.as_ref().map(|(verdict, why)| (*verdict, why));
        end.or_else(|| self.uncertain.as_ref()?.doubt())
    }

    pub fn why(&self) -> Option<&Why> {
        self.settled_verdict().map(|(_, why)| why)
    }

    /// Counts the path's transitions that the context furthest along it took. `None` if no context is on it.
    pub fn furthest(&self) -> Option<usize> {
        self.contexts().iter().filter_map(|context| context.place.steps_on_path()).max()
    }
}

/// Checks that the terms for unknown data are small enough.
fn check_size<'c>(mut contexts: impl Iterator<Item = &'c Context>, line: usize) -> Result<(), CannotJudge> {
    let large = contexts.find_map(|context| context.state.find_large_term(MOST_PARTS));
    large.map_or(Ok(()), |datum| Err(CannotJudge::TooLarge { line, datum }))
}
