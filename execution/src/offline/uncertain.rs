//! Follows contexts when instants are known only within a tolerance, so that orders are open.
//!
//! **Problem.** A recorder reads its clock a moment before or after the event, and a message is under way for
//! a moment. If the recording were judged as it is written, a system that answers at the last instant would
//! fail because of the recorder.
//!
//! **Method.** Each instant, also that of the beginning, is a symbol within the tolerance of the recorded
//! value. A delay is the difference of two symbols, so clocks are sums of them. A symbol that no clock counts
//! from any more is eliminated from the condition. So the size of a context depends on its clocks, and not on
//! the length of the trace. The stimuli are one *side*, and the observations are the other. Each side keeps
//! its order, but two events of different sides may have crossed if their instants overlap. So contexts are
//! kept in *cells*, by the number of events of each side that they have taken. A cell is dropped if it has
//! not taken an event from longer ago than twice the tolerance, since nothing can come before that event any
//! more. The verdict is that of the cell that has taken everything.
//!
//! **Exact**: it is a Fail only if no instants within the tolerance, in no order, are possible.
//!
//! **It errs** towards Inconclusive. The model may refuse an input at some instants and take it at others,
//! and nothing is specified after it. It is no longer known whether another context would have been possible
//! at the same instants, except for contexts that are possible at all instants ([`Context::is_certain`]). So
//! if an input may have been refused and no such context takes it, nothing fails from there on.
//!
//! **Ends** with the trace. **Costs** some questions for each context, event and cell, if the bounds of the
//! instants do not decide. There are as many cells as events within twice the tolerance.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use coreach_analyses::solver::{Answer, Solver, may_hold, must_hold};
use coreach_analyses::symbolic::bounds::CanBe;
use coreach_analyses::symbolic::eliminate::eliminate_data;
use coreach_analyses::symbolic::followed::shorten_condition;
use coreach_analyses::symbolic::sum::fold_sums;
use coreach_analyses::symbolic::{Holds, SymbolicState};
use coreach_model::iosts::{ActionId, ActionKind};
use coreach_model::term::node::Comparison;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, Term, Type, Value};
use dashu_ratio::RBig;

use crate::offline::context::{Context, close_under_internal};
use crate::offline::prepared::Offline;
use crate::offline::sequence::{SeqItem, is_observed};
use crate::offline::unseen::{follow_unseen_steps, now_symbol, set_event_instant};
use crate::offline::verdict::{CannotJudge, OfflineVerdict};
use crate::offline::why::{Seen, Why};

/// How many stimuli and how many observations have been taken.
type TakenCounts = [usize; 2];

struct Recorded {
    seen: Seen,
    action: ActionId,
    values: Vec<Value>,
    /// The recorded time since the event before it.
    elapsed: RBig,
    /// The symbol of its instant, or the instant itself if it is exact.
    instant: Term,
}

/// Contexts of a trace whose instants are known within a tolerance.
pub(super) struct Uncertain {
    tolerance: RBig,
    /// The stimuli, and the observations, that some cell has not taken.
    recorded: [VecDeque<Recorded>; 2],
    /// How many events of each side all cells have taken. They are forgotten.
    forgotten: TakenCounts,
    cells: BTreeMap<TakenCounts, Vec<Context>>,
    /// The contexts of the cell that has taken everything, as they are now: some have taken unseen steps.
    possible: Vec<Context>,
    events: usize,
    last: Option<Seen>,
    /// Why no context has taken everything.
    doubt: Option<(OfflineVerdict, Why)>,
    /// The first input that the model may not have taken.
    pub(super) refused: Option<Why>,
}

fn at_least(a: &Term, b: &Term) -> Term {
    Term::compare(Comparison::AtLeast, a, b)
}

fn real_literal(value: RBig) -> Term {
    Term::literal(Value::Real(value))
}

impl Uncertain {
    /// Begins in these contexts, at an instant that is a symbol of its own.
    pub fn new(
        offline: &Offline<'_>,
        initial: Vec<Context>,
        solver: &mut dyn Solver,
    ) -> Result<Self, CannotJudge> {
        let mut uncertain = Uncertain {
            tolerance: offline.tolerance().clone(),
            recorded: [VecDeque::new(), VecDeque::new()],
            forgotten: [0, 0],
            cells: BTreeMap::new(),
            possible: Vec::new(),
            events: 0,
            last: None,
            doubt: None,
            refused: None,
        };
        let begin_in = |context: Context| {
            let begin = uncertain.instant(0, &RBig::ZERO);
            let state = uncertain.at_instant(&context.state, &begin, (&RBig::ZERO, &RBig::ZERO));
            Context { state, ..context }
        };
        let initial: Vec<Context> = initial.into_iter().map(begin_in).collect();
        uncertain.possible = uncertain.close_until(offline, &initial, &RBig::ZERO, 0, solver)?;
        uncertain.cells.insert([0, 0], initial);
        Ok(uncertain)
    }

    /// Returns the symbol of the instant of the event with this number, or the instant itself if it is exact.
    fn instant(&self, number: usize, time: &RBig) -> Term {
        let symbol = Datum::new(format!("instant#{number}"), Type::Real);
        if self.tolerance == RBig::ZERO { real_literal(time.clone()) } else { Term::datum(&symbol) }
    }

    /// Adds the contexts after unseen steps until this time.
    fn close_until(
        &self,
        offline: &Offline<'_>,
        contexts: &[Context],
        time: &RBig,
        line: usize,
        solver: &mut dyn Solver,
    ) -> Result<Vec<Context>, CannotJudge> {
        follow_unseen_steps(offline, contexts, (self.events, &(time + &self.tolerance)), line, solver)
    }

    pub fn contexts(&self) -> &[Context] {
        &self.possible
    }

    pub fn count(&self) -> usize {
        self.cells.values().map(Vec::len).sum()
    }

    pub fn all_contexts(&self) -> impl Iterator<Item = &Context> {
        self.cells.values().flatten()
    }

    /// Returns the verdict and its reason if the trace ends here and is wrong as far as it was taken.
    pub fn doubt(&self) -> Option<(OfflineVerdict, &Why)> {
        let (verdict, why) = self.doubt.as_ref()?;
        match &self.refused {
            Some(refused) if *verdict == OfflineVerdict::Fail => {
                Some((OfflineVerdict::InconclusiveI, refused))
            }
            _ => Some((*verdict, why)),
        }
    }

    pub fn has_ended(&self) -> bool {
        self.cells.is_empty()
    }

    fn count_all(&self) -> TakenCounts {
        [0, 1].map(|side| self.forgotten[side] + self.recorded[side].len())
    }

    /// Returns an event by its number among all of its side. `None` if it is forgotten or has not come.
    fn find_event(&self, side: usize, number: usize) -> Option<&Recorded> {
        self.recorded[side].get(number.checked_sub(self.forgotten[side])?)
    }

    /// Returns the state at the instant of the next event, which was recorded at `time`. It is taken before
    /// an event that was recorded at `later`, so its instant is not after that event's either.
    fn at_instant(
        &self,
        state: &SymbolicState,
        instant: &Term,
        (time, later): (&RBig, &RBig),
    ) -> SymbolicState {
        let mut state = state.clone();
        // A literal instant is exact, so there is nothing to bound.
        if instant.as_literal().is_none() {
            state.condition.push(at_least(instant, &real_literal(time - &self.tolerance)));
            state.condition.push(at_least(&real_literal(time.min(later) + &self.tolerance), instant));
        }
        set_event_instant(&mut state, instant);
        state
    }

    /// Takes a delay: nothing has come until `until`, which was recorded `elapsed` after the last event.
    pub fn wait(
        &mut self,
        offline: &Offline<'_>,
        (until, elapsed): (&RBig, &RBig),
        delay: Seen,
        solver: &mut dyn Solver,
    ) -> Result<(), CannotJudge> {
        self.forget_before(until);
        self.possible.clear();
        let Some(contexts) = self.cells.remove(&self.count_all()) else { return Ok(()) };
        let end = real_literal(until - &self.tolerance);
        let (mut contexts_that_wait, mut contexts_now) = (Vec::new(), Vec::new());
        for context in contexts {
            let single = std::slice::from_ref(&context);
            let now_possible = self.close_until(offline, single, until, delay.line, solver)?;
            let mut may_wait = |context: &&Context| {
                let waited = fold_sums(&Term::subtract(&end, &context.state.value(&now_symbol())));
                if offline.waiting.may_wait_so_long(&context.state, &waited, solver) {
                    return true;
                }
                // A state that has only just been entered has not waited at all.
                let is_new = at_least(&real_literal(RBig::ZERO), &waited);
                let holds = context.state.meaning(&is_new, &context.state.known);
                holds.may_be(&context.state.condition, solver)
            };
            let waiting: Vec<Context> = now_possible.iter().filter(&mut may_wait).cloned().collect();
            if !waiting.is_empty() {
                contexts_that_wait.push(context);
            }
            self.possible.extend(waiting);
            contexts_now.extend(now_possible);
        }
        if contexts_that_wait.is_empty() {
            let why = Why::explain(offline, &contexts_now, elapsed, delay, self.last.clone(), solver);
            self.doubt = Some((OfflineVerdict::Fail, why));
        } else {
            self.cells.insert(self.count_all(), contexts_that_wait);
        }
        Ok(())
    }

    /// Drops the cells that have not taken an event which nothing can come before any more.
    fn forget_before(&mut self, time: &RBig) {
        let patience = &self.tolerance + &self.tolerance;
        // How many events of each side every cell must have taken.
        let overdue = [0, 1].map(|side| {
            let events = self.recorded[side].iter().take_while(|event| &event.seen.time + &patience < *time);
            self.forgotten[side] + events.count()
        });
        self.cells.retain(|taken, _| taken[0] >= overdue[0] && taken[1] >= overdue[1]);
        for side in [0, 1] {
            let taken_by_all = self.cells.keys().map(|taken| taken[side]).min().unwrap_or(overdue[side]);
            while self.forgotten[side] < taken_by_all && self.recorded[side].pop_front().is_some() {
                self.forgotten[side] += 1;
            }
        }
    }

    /// Takes one more event, `elapsed` after the one before it.
    pub fn take_event(
        &mut self,
        offline: &Offline<'_>,
        seen: Seen,
        elapsed: &RBig,
        solver: &mut dyn Solver,
    ) -> Result<(), CannotJudge> {
        let SeqItem::Event(action, values) = &seen.item else { return Ok(()) };
        self.forget_before(&seen.time);
        let (action, values, line) = (*action, values.clone(), seen.line);
        let side = usize::from(is_observed(offline.timed, action));
        // The contexts in which this event can be taken last, as it was recorded.
        let as_recorded = match self.cells.get(&self.count_all()) {
            Some(contexts) => Some(self.close_until(offline, contexts, &seen.time, line, solver)?),
            None => None,
        };
        let (elapsed, instant) = (elapsed.clone(), self.instant(self.events + 1, &seen.time));
        let previous_event = self.last.replace(seen.clone());
        let before = self.count_all();
        self.recorded[side].push_back(Recorded { seen: seen.clone(), action, values, elapsed, instant });
        self.add_cells(offline, side, before, line, solver)?;
        self.events += 1;
        let all_taken = self.count_all();
        if offline.is_exact() {
            // If instants are exact, nothing has crossed.
            self.cells.retain(|taken, _| *taken == all_taken);
        }
        let contexts_now = self.cells.get(&all_taken).map_or(&[][..], Vec::as_slice);
        self.possible = self.close_until(offline, contexts_now, &seen.time, line, solver)?;
        if self.cells.contains_key(&all_taken) {
            self.doubt = None;
        } else if let Some(contexts) = as_recorded {
            let is_input = offline.form.iosts.action(action).kind == ActionKind::Input;
            let verdict = if is_input { OfflineVerdict::InconclusiveI } else { OfflineVerdict::Fail };
            let elapsed = self.recorded[side].back().map_or(RBig::ZERO, |event| event.elapsed.clone());
            let why = Why::explain(offline, &contexts, &elapsed, seen, previous_event, solver);
            self.doubt = Some((verdict, why));
        }
        Ok(())
    }

    /// Takes the newest event of a side from each cell that has taken all earlier events of this side. A new
    /// cell is also reached from the new cell before it, by the next event of the other side. `all_taken`
    /// counts the events before the newest one.
    fn add_cells(
        &mut self,
        offline: &Offline<'_>,
        side: usize,
        all_taken: TakenCounts,
        line: usize,
        solver: &mut dyn Solver,
    ) -> Result<(), CannotJudge> {
        let other = 1 - side;
        let mut new_cell: Option<(TakenCounts, Vec<Context>)> = None;
        let fewest_taken =
            self.cells.keys().filter(|taken| taken[side] == all_taken[side]).map(|taken| taken[other]).min();
        // Without such a cell, the range is empty.
        for taken_of_other in fewest_taken.unwrap_or(all_taken[other] + 1)..=all_taken[other] {
            let mut taken = all_taken;
            taken[other] = taken_of_other;
            let mut next = self.take_next_of_side(offline, &taken, side, line, solver)?;
            if let Some((cell, contexts)) = new_cell.take() {
                self.cells.insert(cell, contexts);
                next.extend(self.take_next_of_side(offline, &cell, other, line, solver)?);
            }
            taken[side] += 1;
            let next = close_under_internal(offline, next, line, solver)?;
            if !next.is_empty() {
                new_cell = Some((taken, next));
            }
        }
        self.cells.extend(new_cell);
        Ok(())
    }

    /// Returns the contexts after those of a cell when the next event of this side has been taken. Notes an
    /// input that the model may have refused.
    fn take_next_of_side(
        &mut self,
        offline: &Offline<'_>,
        taken: &TakenCounts,
        side: usize,
        line: usize,
        solver: &mut dyn Solver,
    ) -> Result<Vec<Context>, CannotJudge> {
        let (Some(contexts), Some(event)) = (self.cells.get(taken), self.find_event(side, taken[side]))
        else {
            return Ok(Vec::new());
        };
        let contexts = self.close_until(offline, contexts, &event.seen.time, line, solver)?;
        let next_of_other_time =
            self.find_event(1 - side, taken[1 - side]).map_or(&event.seen.time, |event| &event.seen.time);
        // Unseen instants are the model's choice, so only recorded instants are open here.
        let asks_refusal = self.refused.is_none() && !offline.is_exact();
        let mut outcome = TakenEvent::default();
        for context in &contexts {
            let state =
                self.at_instant(&context.state, &event.instant, (&event.seen.time, next_of_other_time));
            outcome.take_in_context(offline, context, state, event, asks_refusal, solver);
        }
        if outcome.may_be_refused && !outcome.is_surely_taken {
            let why = Why::explain(offline, &contexts, &event.elapsed, event.seen.clone(), None, solver);
            self.refused = Some(why);
        }
        Ok(outcome.next)
    }
}

/// The effect of the next event on the contexts of a cell.
#[derive(Default)]
struct TakenEvent {
    next: Vec<Context>,
    /// Is there a context that takes it at all instants?
    is_surely_taken: bool,
    /// Is there a context that may not take it, at some instants?
    may_be_refused: bool,
}

impl TakenEvent {
    /// Takes the event in a context. `state_at_event` is the context's state at the instant of the event.
    /// With `asks_refusal`, an input is also asked whether it may be refused.
    fn take_in_context(
        &mut self,
        offline: &Offline<'_>,
        context: &Context,
        state_at_event: SymbolicState,
        event: &Recorded,
        asks_refusal: bool,
        solver: &mut dyn Solver,
    ) {
        let iosts = &offline.form.iosts;
        let action = iosts.action(event.action);
        let values = || action.parameters.iter().skip(1).cloned().zip(event.values.iter().cloned());
        let delay = fold_sums(&Term::subtract(&event.instant, &context.state.value(&now_symbol())));
        // The guards are read in a copy of the state that has the event's values.
        let mut with_values = state_at_event.clone();
        Arc::make_mut(&mut with_values.open).insert(offline.form.delay.clone(), delay.clone());
        with_values.known.extend(values());
        let with_values = with_values.remembering();
        let mut guards = Vec::new();
        for number in &offline.system.outgoing[context.state.location] {
            if iosts.transitions[*number].action != event.action {
                continue;
            }
            let Some(guard) = remaining_guard(&with_values, offline.system.enabled(*number)) else {
                continue;
            };
            let is_certain = context.is_certain && must_hold(solver, &state_at_event.condition, &guard);
            self.is_surely_taken |= is_certain;
            guards.push(guard);
            let terms = [(offline.form.delay.clone(), delay.clone())];
            let state = state_at_event.after_with(&offline.system, *number, values(), terms, solver);
            let Some(mut state) = state else { continue };
            // A long condition is searched for parts that follow from the others.
            if state.condition.iter().map(Term::written_size).sum::<u64>() > 40 {
                state.condition = shorten_condition(state.condition, solver);
            }
            let place = context.place.after(*number, offline.path());
            self.next.push(Context { place, state, is_certain });
        }
        if asks_refusal && action.kind == ActionKind::Input {
            let is_later = at_least(&delay, &real_literal(RBig::ZERO));
            self.may_be_refused |= may_refuse(state_at_event.condition, is_later, guards, solver);
        }
    }
}

/// Returns the condition that a guard leaves on open instants and data. `None` if it never holds there.
fn remaining_guard(state: &SymbolicState, enabled: &Term) -> Option<Term> {
    match state.decide(enabled, &[]) {
        CanBe::ALWAYS => Some(Term::yes()),
        CanBe::NEVER => None,
        _ => match state.meaning(enabled, &state.known) {
            Holds::Always => Some(Term::yes()),
            Holds::Never => None,
            Holds::Where(guard) => Some(guard),
        },
    }
}

/// Are there instants, with `known`, at which no way can be taken, whatever the data? Errs towards yes.
fn may_refuse(mut known: Vec<Term>, is_later: Term, ways: Vec<Term>, solver: &mut dyn Solver) -> bool {
    let some_way = Term::or(ways);
    if some_way.is_true() {
        return false;
    }
    known.push(is_later);
    // The first values of data are the same on each way, and may be any: they become symbols of their own.
    let is_instant = |symbol: &Datum| symbol.name().starts_with("instant#");
    let mut data: Vec<Datum> = known.iter().chain([&some_way]).flat_map(Term::data).collect();
    data.retain(|symbol| !is_instant(symbol));
    data.sort();
    data.dedup();
    if data.is_empty() {
        known.push(some_way.not());
        return may_hold(solver, &known);
    }
    let renamed_datum = |datum: &Datum| Datum::new(format!("{}#too", datum.name()), datum.ty().clone());
    let renamed: Substitution =
        data.iter().map(|datum| (datum.clone(), Term::datum(&renamed_datum(datum)))).collect();
    let parts: Vec<Term> = known.iter().chain([&some_way]).map(|part| substitute(part, &renamed)).collect();
    let bound: Vec<Datum> = data.iter().map(renamed_datum).collect();
    match eliminate_data(&bound, &parts) {
        Some(is_possible) => {
            known.push(is_possible.not());
            may_hold(solver, &known)
        }
        None => solver.check_none(&known, &bound, &parts) != Answer::Unsat,
    }
}
