//! Chooses values by trial: drawn from the state and the guard, and kept if the guard holds.
//!
//! **Problem.** A guard over a map, a list or a set is a large term once the state's values are in it. To
//! make that term, its hull and a solver's query takes milliseconds for each state. To evaluate the guard
//! takes a microsecond.
//!
//! **Method.** Everything that needs no state is prepared once for each guard ([`TriedGuard`]). Half of the
//! values are drawn from the pool: the data that the guard reads, the literals, and the other data of the
//! state. For numbers their neighbours and numbers between two of them are drawn as well. The other half is
//! drawn as for any stimulus. If the guard refuses a vector, one parameter of the first part that does not
//! hold is drawn again, or all of them. After `TRIALS` vectors all vectors are tried if they are few, and
//! otherwise the hull and the solver are used (the *slow way*). If that is in vain, it becomes rarer. Its
//! result is remembered for the guard and the values that it reads.
//!
//! **Source.** To mend one failing part is the method of WalkSAT (Selman, Kautz and Cohen, AAAI 1994). Here
//! values come from a pool instead of being two. **Ends** after `TRIALS` evaluations, or as the slow way
//! does. **Costs** some microseconds.

use coreach_analyses::solver::Solver;
use coreach_model::random::Random;
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::{Datum, Term, Type, Value};

use super::tried::{TrialHint, TriedGuard};
use super::{GuardOutcome, OutcomeKey, Values, draw, ids, is_drawable, strings};
use crate::limits::MOST_REMEMBERED;
use crate::values::are_typed;
use crate::values::source::Pick;

/// So many vectors are tried before the slow way.
const TRIALS: usize = 32;

/// So many vectors are tried if trials were in vain before, or if all vectors are tried after them.
const FEW_TRIALS: usize = 4;

impl Values {
    /// Chooses values that satisfy the guard in the state, with fields in place of records. Draws them first.
    /// If that is in vain, tries all vectors if they are few, or else goes the slow way.
    pub fn choose_by_trial(
        &mut self,
        guard: &TriedGuard,
        pool: &[Value],
        state: &Valuation,
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> Option<Vec<Value>> {
        if guard.closed.iter().any(|part| holds(part, state) != Ok(true)) {
            return None;
        }
        let read_values = guard.reads.iter().filter_map(|datum| state.get(datum).cloned()).collect();
        // Two actions may have one guard, and other parameters or another order of them.
        let key: OutcomeKey = (guard.guard.clone(), guard.parameters.clone(), read_values);
        let known = self.known.get(&key).cloned();
        if known == Some(GuardOutcome::Impossible) {
            return None;
        }
        let trials = if known.is_some() || guard.all_vectors.is_some() { FEW_TRIALS } else { TRIALS };
        if let Some(values) = self.draw_vector(guard, trials, pool, state, random) {
            return Some(values);
        }
        match (&guard.all_vectors, known) {
            (Some(all), _) => {
                let (before, after) = all.split_at(random.below(all.len()));
                let mut valuation = state.clone();
                let allowed = after.iter().chain(before).find_map(|values| {
                    valuation.extend(guard.parameters.iter().cloned().zip(values.iter().cloned()));
                    check_guard(guard, &valuation).ok()
                });
                if allowed.is_none() {
                    self.remember(key, GuardOutcome::Impossible);
                }
                allowed
            }
            (None, Some(GuardOutcome::Solved(values))) => Some(values),
            (None, Some(_)) => None,
            (None, None) => self.choose_slowly(guard, key, state, random, solver),
        }
    }

    /// Draws values by trial if the guard reads a list, a map or other data that no hull describes. Otherwise
    /// the solver would choose all the parameters, also the other ones.
    pub fn draw_composed(
        &mut self,
        guard: &Term,
        parameters: &[Datum],
        state: &Valuation,
        random: &mut Random,
    ) -> Option<Vec<Value>> {
        let is_composed = |datum: &Datum| !is_drawable(datum.ty());
        if !parameters.iter().any(|datum| is_composed(datum) && guard.mentions(datum)) {
            return None;
        }
        let prepare = || TriedGuard::list(guard, parameters).into();
        let tried = self.tried.entry((guard.clone(), parameters.to_vec())).or_insert_with(prepare).clone();
        let tried = random.pick(&tried)?;
        // Is a parameter composed that the guard reads and no equation defines?
        let must_be_drawn = |(at, datum): (usize, &Datum)| {
            is_composed(datum)
                && tried.guard.mentions(datum)
                && !tried.defined.iter().any(|(defined, _)| *defined == at)
        };
        if !tried.parameters.iter().enumerate().any(must_be_drawn)
            || draw::source(&self.mix, random) == Pick::Diverse
            || tried.closed.iter().any(|part| holds(part, state) != Ok(true))
        {
            return None;
        }
        let pool = tried.pool(state, std::iter::empty());
        let drawn = self.draw_vector(tried, TRIALS, &pool, state, random)?;
        self.count(&[Pick::Uniform]);
        Some(tried.split.join_values(drawn))
    }

    /// Draws a vector for which the guard holds. `None` if so many trials find none.
    fn draw_vector(
        &self,
        guard: &TriedGuard,
        trials: usize,
        pool: &[Value],
        state: &Valuation,
        random: &mut Random,
    ) -> Option<Vec<Value>> {
        let mut valuation = state.clone();
        // The indices of the parameters that the next trial draws.
        let mut drawn = guard.indices.clone();
        for _ in 0..trials {
            for at in drawn {
                let (datum, hint) = (&guard.parameters[at], &guard.hints[at]);
                valuation.insert(datum.clone(), self.draw_for_trial(datum, hint, pool, random));
            }
            let computed = compute_defined(guard, &mut valuation);
            drawn = match computed.and_then(|()| check_guard(guard, &valuation)) {
                Ok(values) => return Some(values),
                // Draw one parameter of the part that does not hold again, or all of them.
                Err(refusing) => match random.pick(refusing).filter(|_| random.below(4) > 0) {
                    Some(at) => vec![*at],
                    None => refusing.to_vec(),
                },
            };
        }
        None
    }

    /// Chooses values by the hull and the solver, and remembers the outcome under the key. `None` if none are
    /// found, or if this attempt was left out.
    fn choose_slowly(
        &mut self,
        guard: &TriedGuard,
        key: OutcomeKey,
        state: &Valuation,
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> Option<Vec<Value>> {
        // This attempt counts as one in vain. If it finds values, the count is removed.
        let in_vain = self.in_vain.entry(guard.guard.clone()).or_default();
        *in_vain += 1;
        // After attempts in vain, attempts become rarer.
        if *in_vain > 4 && !in_vain.is_power_of_two() {
            self.remember(key, GuardOutcome::Refused);
            return None;
        }
        let before = self.count_solved();
        let (term, parameters) = (&guard.guard, &guard.parameters[..]);
        let chosen = self
            .choose_with_samples(term, parameters, state, random, solver)
            .or_else(|| self.choose_free(term, parameters, state, random, solver));
        match &chosen {
            None => self.remember(key, GuardOutcome::Impossible),
            Some(values) => {
                self.in_vain.remove(&guard.guard);
                // Values by the hull vary, and are not remembered.
                if self.count_solved() > before {
                    self.remember(key, GuardOutcome::Solved(values.clone()));
                }
            }
        }
        chosen
    }

    fn remember(&mut self, key: OutcomeKey, outcome: GuardOutcome) {
        if self.known.len() >= MOST_REMEMBERED {
            self.known.clear();
        }
        self.known.insert(key, outcome);
    }

    /// Counts how often the solver gave values.
    fn count_solved(&self) -> usize {
        [Pick::Diverse, Pick::Witness].iter().filter_map(|source| self.counts.get(source)).sum()
    }

    /// Draws a value of a parameter from the pool, or as for any stimulus.
    fn draw_for_trial(&self, datum: &Datum, hint: &TrialHint, pool: &[Value], random: &mut Random) -> Value {
        if let Some(sample) = self.sample(datum, random) {
            return sample;
        }
        let list_known_ids = || -> Vec<Value> {
            let all = pool.iter().chain(&self.seen);
            all.filter(|value| value.is_in(datum.ty())).cloned().collect()
        };
        let ids = self.list_id_samples(datum, list_known_ids);
        if let Some(id) = ids.and_then(|ids| random.pick(&ids).cloned()) {
            return id;
        }
        if random.chance(50)
            && let Some(value) = draw::draw_pooled(datum.ty(), pool, random)
        {
            return value;
        }
        let source = draw::source(&self.mix, random);
        match (hint, datum.ty()) {
            (TrialHint::Number(range), ty) => draw::number(ty, source, range, &self.seen, random).0,
            (TrialHint::Text(hints), _) => {
                strings::draw_string(datum, hints, source, &self.seen, self.known_texts(datum), random).0
            }
            (TrialHint::Other, ty @ Type::Id(_)) => ids::draw_id(ty, &list_known_ids(), source, random).0,
            (TrialHint::Other, ty) => draw::any_with(ty, pool, random),
        }
    }
}

/// Computes the parameters that equations define. `Err`: one has no value, so all indices are given.
fn compute_defined<'g>(guard: &'g TriedGuard, valuation: &mut Valuation) -> Result<(), &'g [usize]> {
    for (at, term) in &guard.defined {
        let value = evaluate(term, valuation).map_err(|_| &guard.indices[..])?;
        valuation.insert(guard.parameters[*at].clone(), value);
    }
    Ok(())
}

/// Returns the parameters' values if the guard holds. `Err`: the parameters of the first part that fails.
fn check_guard<'g>(guard: &'g TriedGuard, valuation: &Valuation) -> Result<Vec<Value>, &'g [usize]> {
    for (part, mentioned) in &guard.open {
        if holds(part, valuation) != Ok(true) {
            return Err(mentioned);
        }
    }
    let all = &guard.indices[..];
    let values = guard.parameters.iter().map(|datum| valuation.get(datum).cloned());
    let values: Vec<Value> = values.collect::<Option<_>>().ok_or(all)?;
    if are_typed(&guard.parameters, &values) { Ok(values) } else { Err(all) }
}
