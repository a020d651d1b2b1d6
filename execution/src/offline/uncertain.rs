//! Instants that are known within a tolerance, and the orders that they leave open.
//!
//! **Problem.** Who records reads a clock a moment before or after what it is read for, and a message is
//! under way for a moment. Judged as it was written down, a system that answers at the last instant fails for
//! what the recorder took.
//!
//! **Method.** Each recorded instant, that of the beginning among them, is a symbol within the tolerance of
//! what was recorded; a delay is the difference of two symbols, so clocks are sums of them. A symbol that no
//! clock counts from any more is taken out of the condition, as every symbol that nothing stands for: so a
//! context is as large as its clocks, and not as long as the trace. What was sent keeps its order among
//! itself, and what was seen keeps its own; a stimulus and an observation may have crossed where their
//! instants overlap. So contexts stand in *cells*, by how much of either they have taken, and what is new is
//! taken in each order; a cell that has not taken what is twice the tolerance ago is given up, since nothing
//! can come before that any more. The verdict is that of the cell that has taken everything.
//!
//! **Exact**: Fail where no instants within the tolerance, in no order, make a trace of the model.
//!
//! **Where it errs**, it errs towards Inconclusive. At some instants the model may not take an input that it
//! takes at others, and nothing is specified behind it. Whether another context would have been possible at
//! the same instants is not known any more, but of contexts that are possible at all of them
//! ([`Context::is_certain`]). So where an input may have been refused and no such context takes it, nothing
//! fails from there on.
//!
//! **Ends** with the trace. **Costs** some questions for each context, event and cell, where the ends of the
//! instants do not tell. Cells are as many as events within twice the tolerance.

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

use crate::offline::context::{Context, closed};
use crate::offline::prepared::Offline;
use crate::offline::sequence::{Item, is_observed};
use crate::offline::unseen::{begin_at, now, with_unseen};
use crate::offline::verdict::{CannotJudge, OfflineVerdict};
use crate::offline::why::{Seen, Why};

/// How many of what was sent, and of what was seen.
type TakenCounts = [usize; 2];

struct Recorded {
    seen: Seen,
    action: ActionId,
    values: Vec<Value>,
    /// Since the event before it, as it was recorded.
    elapsed: RBig,
    /// The symbol of its instant; where that is exact, it.
    instant: Term,
}

/// Contexts of a trace whose instants are known within a tolerance.
pub(super) struct Uncertain {
    tolerance: RBig,
    /// What was sent, and what was seen, of which some cell has not taken everything.
    recorded: [VecDeque<Recorded>; 2],
    before: TakenCounts,
    cells: BTreeMap<TakenCounts, Vec<Context>>,
    /// Those of the cell that has taken everything, as they are now: some have gone on unseen.
    possible: Vec<Context>,
    events: usize,
    last: Option<Seen>,
    /// Why no context has taken everything.
    doubt: Option<(OfflineVerdict, Why)>,
    /// The first input that the model may not have taken.
    refused: Option<Why>,
}

fn at_least(a: &Term, b: &Term) -> Term {
    Term::compare(Comparison::AtLeast, a, b)
}

fn real(value: RBig) -> Term {
    Term::literal(Value::Real(value))
}

impl Uncertain {
    pub fn new(
        offline: &Offline<'_>,
        initial: Vec<Context>,
        solver: &mut dyn Solver,
    ) -> Result<Self, CannotJudge> {
        let mut uncertain = Uncertain {
            tolerance: offline.tolerance().clone(),
            recorded: [VecDeque::new(), VecDeque::new()],
            before: [0, 0],
            cells: BTreeMap::new(),
            possible: Vec::new(),
            events: 0,
            last: None,
            doubt: None,
            refused: None,
        };
        let begun = |context: Context| {
            let begin = uncertain.instant(0, &RBig::ZERO);
            let state = uncertain.standing_at(&context.state, &begin, (&RBig::ZERO, &RBig::ZERO));
            Context { state, ..context }
        };
        let initial: Vec<Context> = initial.into_iter().map(begun).collect();
        uncertain.possible = uncertain.close_until(offline, &initial, &RBig::ZERO, 0, solver)?;
        uncertain.cells.insert([0, 0], initial);
        Ok(uncertain)
    }

    /// The symbol of the instant of the event of this number; where that is exact, it.
    fn instant(&self, number: usize, time: &RBig) -> Term {
        let symbol = Datum::new(format!("instant#{number}"), Type::Real);
        if self.tolerance == RBig::ZERO { real(time.clone()) } else { Term::datum(&symbol) }
    }

    /// The contexts with those behind steps that nobody sees, until this time.
    fn close_until(
        &self,
        offline: &Offline<'_>,
        contexts: &[Context],
        time: &RBig,
        line: usize,
        solver: &mut dyn Solver,
    ) -> Result<Vec<Context>, CannotJudge> {
        with_unseen(offline, contexts, (self.events, &(time + &self.tolerance)), line, solver)
    }

    pub fn contexts(&self) -> &[Context] {
        &self.possible
    }

    pub fn count(&self) -> usize {
        self.cells.values().map(Vec::len).sum()
    }

    pub fn every(&self) -> impl Iterator<Item = &Context> {
        self.cells.values().flatten()
    }

    /// May an input have been refused by the model, at some instants?
    pub fn may_be_unspecified(&self) -> bool {
        self.refused.is_some()
    }

    /// What is wrong with the trace as far as it was taken, if it ends here.
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
        [0, 1].map(|side| self.before[side] + self.recorded[side].len())
    }

    fn find(&self, side: usize, number: usize) -> Option<&Recorded> {
        self.recorded[side].get(number.checked_sub(self.before[side])?)
    }

    /// The same state, an event later whose instant this is: recorded at the first of these times, and in
    /// front of what was recorded at the second.
    fn standing_at(
        &self,
        state: &SymbolicState,
        instant: &Term,
        (time, before): (&RBig, &RBig),
    ) -> SymbolicState {
        let mut state = state.clone();
        if instant.as_literal().is_none() {
            state.condition.push(at_least(instant, &real(time - &self.tolerance)));
            state.condition.push(at_least(&real(time.min(before) + &self.tolerance), instant));
        }
        begin_at(&mut state, instant);
        state
    }

    /// Nothing has come until this time, which was recorded after `elapsed`.
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
        let end = real(until - &self.tolerance);
        let (mut stay, mut all) = (Vec::new(), Vec::new());
        for context in contexts {
            let one = std::slice::from_ref(&context);
            let now_possible = self.close_until(offline, one, until, delay.line, solver)?;
            let mut may_wait = |context: &&Context| {
                let since = fold_sums(&Term::subtract(&end, &context.state.value(&now())));
                if offline.may_wait_so_long(&context.state, &since, solver) {
                    return true;
                }
                // A state that has only just been entered has not waited at all.
                let is_new = at_least(&real(RBig::ZERO), &since);
                let holds = context.state.meaning(&is_new, &context.state.known);
                holds.may_be(&context.state.condition, solver)
            };
            let waiting: Vec<Context> = now_possible.iter().filter(&mut may_wait).cloned().collect();
            if !waiting.is_empty() {
                stay.push(context);
            }
            self.possible.extend(waiting);
            all.extend(now_possible);
        }
        if stay.is_empty() {
            let why = Why::of(offline, &all, elapsed, delay, self.last.clone(), solver);
            self.doubt = Some((OfflineVerdict::Fail, why));
        } else {
            self.cells.insert(self.count_all(), stay);
        }
        Ok(())
    }

    /// Gives up the cells that have not taken what nothing can come before any more.
    fn forget_before(&mut self, time: &RBig) {
        let patience = &self.tolerance + &self.tolerance;
        let old = [0, 1].map(|side| {
            let old = self.recorded[side].iter().take_while(|event| &event.seen.time + &patience < *time);
            self.before[side] + old.count()
        });
        self.cells.retain(|taken, _| taken[0] >= old[0] && taken[1] >= old[1]);
        for side in [0, 1] {
            let least = self.cells.keys().map(|taken| taken[side]).min().unwrap_or(old[side]);
            while self.before[side] < least && self.recorded[side].pop_front().is_some() {
                self.before[side] += 1;
            }
        }
    }

    /// One more event, so much later than the one before it.
    pub fn event(
        &mut self,
        offline: &Offline<'_>,
        seen: Seen,
        elapsed: &RBig,
        solver: &mut dyn Solver,
    ) -> Result<(), CannotJudge> {
        let Item::Event(action, values) = &seen.item else { return Ok(()) };
        self.forget_before(&seen.time);
        let (action, values, line) = (*action, values.clone(), seen.line);
        let side = usize::from(is_observed(offline.timed, action));
        let as_recorded = self.cells.get(&self.count_all()).cloned();
        let as_recorded = match as_recorded {
            Some(contexts) => Some(self.close_until(offline, &contexts, &seen.time, line, solver)?),
            None => None,
        };
        let (elapsed, instant) = (elapsed.clone(), self.instant(self.events + 1, &seen.time));
        let before = self.last.replace(seen.clone());
        let mut all = self.count_all();
        self.recorded[side].push_back(Recorded { seen: seen.clone(), action, values, elapsed, instant });
        // Those that have taken all of this side but the new one, and behind them what of the other side they
        // have not taken.
        let other = 1 - side;
        let mut behind: Option<(TakenCounts, Vec<Context>)> = None;
        let first =
            self.cells.keys().filter(|taken| taken[side] == all[side]).map(|taken| taken[other]).min();
        for at in first.unwrap_or(all[other] + 1)..=all[other] {
            let mut from = all;
            from[other] = at;
            let mut next = self.take_next_of_side(offline, &from, side, line, solver)?;
            if let Some((taken, contexts)) = behind.take() {
                self.cells.insert(taken, contexts);
                next.extend(self.take_next_of_side(offline, &taken, other, line, solver)?);
            }
            from[side] += 1;
            let next = closed(offline, next, line, solver)?;
            if !next.is_empty() {
                behind = Some((from, next));
            }
        }
        self.cells.extend(behind);
        self.events += 1;
        all[side] += 1;
        if offline.is_exact() {
            // Nothing has crossed.
            self.cells.retain(|taken, _| *taken == all);
        }
        let here = self.cells.get(&all).map_or(&[][..], Vec::as_slice);
        self.possible = self.close_until(offline, here, &seen.time, line, solver)?;
        if self.cells.contains_key(&all) {
            self.doubt = None;
        } else if let Some(contexts) = as_recorded {
            let is_input = offline.form.iosts.action(action).kind == ActionKind::Input;
            let verdict = if is_input { OfflineVerdict::InconclusiveI } else { OfflineVerdict::Fail };
            let elapsed = self.recorded[side].back().map_or(RBig::ZERO, |event| event.elapsed.clone());
            let why = Why::of(offline, &contexts, &elapsed, seen, before, solver);
            self.doubt = Some((verdict, why));
        }
        Ok(())
    }

    /// The contexts behind those of a cell, when the next event of this side has been taken.
    fn take_next_of_side(
        &mut self,
        offline: &Offline<'_>,
        from: &TakenCounts,
        side: usize,
        line: usize,
        solver: &mut dyn Solver,
    ) -> Result<Vec<Context>, CannotJudge> {
        let (Some(contexts), Some(event)) = (self.cells.get(from), self.find(side, from[side])) else {
            return Ok(Vec::new());
        };
        let contexts = self.close_until(offline, contexts, &event.seen.time, line, solver)?;
        let iosts = &offline.form.iosts;
        let parameters = &iosts.action(event.action).parameters;
        let before = self.find(1 - side, from[1 - side]).map_or(&event.seen.time, |event| &event.seen.time);
        let values = || parameters.iter().skip(1).cloned().zip(event.values.iter().cloned());
        let (mut next, mut is_taken, mut may_be_refused) = (Vec::new(), false, false);
        for context in &contexts {
            let delay = Term::subtract(&event.instant, &context.state.value(&now()));
            let delay = fold_sums(&delay);
            let standing = self.standing_at(&context.state, &event.instant, (&event.seen.time, before));
            let mut there = standing.clone();
            Arc::make_mut(&mut there.open).insert(offline.form.delay.clone(), delay.clone());
            there.known.extend(values());
            let there = there.remembering();
            let mut ways = Vec::new();
            for number in &offline.system.outgoing[context.state.location] {
                if iosts.transitions[*number].action != event.action {
                    continue;
                }
                let enabled = offline.system.enabled(*number);
                let guard = match there.decide(enabled, &[]) {
                    CanBe::ALWAYS => Term::yes(),
                    CanBe::NEVER => continue,
                    _ => match there.meaning(enabled, &there.known) {
                        Holds::Always => Term::yes(),
                        Holds::Never => continue,
                        Holds::Where(guard) => guard,
                    },
                };
                let is_certain = context.is_certain && must_hold(solver, &standing.condition, &guard);
                is_taken |= is_certain;
                ways.push(guard);
                let terms = [(offline.form.delay.clone(), delay.clone())];
                let state = standing.after_with(&offline.system, *number, values(), terms, solver);
                let Some(mut state) = state else { continue };
                // A condition that takes more to say is looked through for parts that the others say.
                if state.condition.iter().map(Term::written_size).sum::<u64>() > 40 {
                    state.condition = shorten_condition(state.condition, solver);
                }
                let place = context.place.behind(*number, offline.path());
                next.push(Context { place, state, is_certain });
            }
            // Instants that nobody sees are the model's choice, as every other of its choices.
            let is_input = iosts.action(event.action).kind == ActionKind::Input;
            if is_input && self.refused.is_none() && !offline.is_exact() {
                let is_later = at_least(&delay, &real(RBig::ZERO));
                may_be_refused |= refuses(standing.condition, is_later, ways, solver);
            }
        }
        if may_be_refused && !is_taken {
            let why = Why::of(offline, &contexts, &event.elapsed, event.seen.clone(), None, solver);
            self.refused = Some(why);
        }
        Ok(next)
    }
}

/// Are there instants at which this may be known and none of these ways can be taken, whatever the data? Errs
/// towards yes.
fn refuses(mut known: Vec<Term>, is_later: Term, ways: Vec<Term>, solver: &mut dyn Solver) -> bool {
    let one = Term::or(ways);
    if one.is_true() {
        return false;
    }
    known.push(is_later);
    // The first values of data are the same on each way, and may be any: symbols of their own.
    let is_instant = |symbol: &Datum| symbol.name().starts_with("instant#");
    let mut data: Vec<Datum> = known.iter().chain([&one]).flat_map(Term::data).collect();
    data.retain(|symbol| !is_instant(symbol));
    data.sort();
    data.dedup();
    if data.is_empty() {
        known.push(one.not());
        return may_hold(solver, &known);
    }
    let own = |datum: &Datum| Datum::new(format!("{}#too", datum.name()), datum.ty().clone());
    let renamed: Substitution = data.iter().map(|datum| (datum.clone(), Term::datum(&own(datum)))).collect();
    let parts: Vec<Term> = known.iter().chain([&one]).map(|part| substitute(part, &renamed)).collect();
    let bound: Vec<Datum> = data.iter().map(own).collect();
    match eliminate_data(&bound, &parts) {
        Some(some) => {
            known.push(some.not());
            may_hold(solver, &known)
        }
        None => solver.check_none(&known, &bound, &parts) != Answer::Unsat,
    }
}
