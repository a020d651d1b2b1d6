//! Chooses values by trial: drawn from the state and the guard, and kept if the guard holds.
//!
//! **Problem.** A guard over a map, a list or a set is a large term once the state's values are in it. To
//! make that term, its hull and a solver's query takes milliseconds for each state. To evaluate the guard
//! takes a microsecond.
//!
//! **Method.** Everything that needs no state is prepared once for each guard ([`TriedGuard`]). A parameter
//! of a record type is split: each of its fields is a parameter by itself. A variant has a guard for each
//! alternative, so that an easy one does not hide the others. Half of the values are drawn from the pool: the
//! data that the guard reads, the literals, and the other data of the state; for numbers also their
//! neighbours and numbers between two of them. The other half is drawn as for any stimulus. If the guard
//! refuses a vector, one parameter of the first part that does not hold is drawn again, or all of them. After
//! `TRIALS` vectors all vectors are tried if they are few, and otherwise the hull and the solver are used
//! (the *slow way*). If that is in vain, it becomes rarer. Its result is remembered for the guard and the
//! values that it reads.
//!
//! **Source.** To mend one failing part is the method of WalkSAT (Selman, Kautz and Cohen, AAAI 1994). Here
//! values come from a pool instead of being two. **Ends** after `TRIALS` evaluations, or as the slow way
//! does. **Costs** some microseconds.

use coreach_analyses::hull::{Range, hull};
use coreach_analyses::solver::Solver;
use coreach_model::random::Random;
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::list_subterms;
use coreach_model::term::node::{Node, StringOperation};
use coreach_model::value::tuples;
use coreach_model::{Datum, Term, Type, Value};

use super::strings::StringHints;
use super::{Outcome, Values, draw, find_definition, ids, is_drawable, strings};
use crate::values::records::SplitParameters;
use crate::values::source::Source;

/// So many vectors are tried before the slow way.
const TRIALS: usize = 32;

/// So many vectors are tried if trials were in vain before, or if all vectors are tried after them.
const FEW_TRIALS: usize = 4;

/// The most values of a pool.
const MOST_POOLED: usize = 64;

/// All vectors are tried if there are at most so many.
const ALL: usize = 64;

/// After the slow way was in vain so many times in a row, it becomes rarer.
const MOST_IN_VAIN: usize = 4;

/// The most guards with values that are remembered.
const MOST_REMEMBERED: usize = 20_000;

/// A guard, prepared for trials in any state.
#[derive(Clone, Debug)]
pub struct TriedGuard {
    /// The parameters of record types, split into their fields.
    split: SplitParameters,
    guard: Term,
    /// The split parameters: fields stand in place of records.
    parameters: Vec<Datum>,
    indices: Vec<usize>,
    /// The parts of the guard without parameters, and the others with the indices of their parameters.
    closed: Vec<Term>,
    open: Vec<(Term, Vec<usize>)>,
    /// The data of the state that the open parts read.
    reads: Vec<Datum>,
    /// The literals in the open parts, and the values in these literals.
    literals: Vec<Value>,
    /// For each parameter, how its values are drawn.
    hints: Vec<Hint>,
    /// The parameters that equations define, each by parameters that are drawn.
    defined: Vec<(usize, Term)>,
    /// All vectors of values, if they are few.
    all_vectors: Option<Vec<Vec<Value>>>,
}

#[derive(Clone, Debug)]
enum Hint {
    /// A number in this range.
    Number(Range),
    /// A string, with the texts that the guard compares it with.
    Text(StringHints),
    Other,
}

impl TriedGuard {
    /// Prepares the guard of an action with these parameters, once for each choice of their alternatives.
    pub fn list(guard: &Term, parameters: &[Datum]) -> Vec<Self> {
        let splits = SplitParameters::list_alternatives(parameters).into_iter();
        splits.map(|split| TriedGuard::new(guard, split)).collect()
    }

    fn new(guard: &Term, split: SplitParameters) -> Self {
        let (guard, parameters) = (&split.split_guard(guard), &split.parameters[..]);
        let is_open = |term: &Term| parameters.iter().any(|parameter| term.mentions(parameter));
        let (open, closed): (Vec<Term>, Vec<Term>) = guard.conjuncts().into_iter().partition(is_open);
        let data = open.iter().flat_map(Term::data);
        let mut reads: Vec<Datum> = data.filter(|datum| !parameters.contains(datum)).collect();
        reads.sort();
        reads.dedup();
        let mut literals = Vec::new();
        let subterms = list_subterms(open.clone());
        // The text of a regular expression is no text to try.
        let patterns: Vec<&Term> = subterms.iter().filter_map(find_pattern).collect();
        for term in subterms.iter().filter(|term| term.parts().is_empty() && !patterns.contains(term)) {
            term.as_literal().into_iter().for_each(|value| collect_pool(value, &mut literals));
        }
        let hint = |datum: &Datum| match datum.ty() {
            Type::String => Hint::Text(StringHints::read(guard, datum)),
            ty if ty.is_number() => Hint::Number(find_range(&open, datum)),
            _ => Hint::Other,
        };
        let hints = parameters.iter().map(hint).collect();
        let mut defined: Vec<(usize, Term)> = Vec::new();
        for (at, datum) in parameters.iter().enumerate() {
            let Some(term) = find_definition(datum, guard) else { continue };
            let is_defined = |other: usize| defined.iter().any(|(known, _)| *known == other);
            let mut read = parameters.iter().enumerate().filter(|(_, one)| term.mentions(one));
            let reads_only_drawn = read.all(|(other, _)| other != at && !is_defined(other));
            // Definitions read drawn parameters only, so they can be computed in any order.
            if reads_only_drawn && !defined.iter().any(|(_, term)| term.mentions(datum)) {
                defined.push((at, term));
            }
        }
        let lists: Option<Vec<Vec<Value>>> =
            parameters.iter().map(|one| Value::enumerate(one.ty(), ALL)).collect();
        let count = |lists: &Vec<Vec<Value>>| {
            lists.iter().try_fold(1usize, |count, list| count.checked_mul(list.len())).unwrap_or(usize::MAX)
        };
        let all_vectors = lists.filter(|lists| count(lists) <= ALL).map(|lists| tuples(&lists));
        let mentioned = |part: &Term| {
            (0..parameters.len()).filter(|at| part.mentions(&parameters[*at])).collect::<Vec<usize>>()
        };
        let open = open.into_iter().map(|part| (part.clone(), mentioned(&part))).collect();
        let (guard, parameters) = (guard.clone(), parameters.to_vec());
        let indices = (0..parameters.len()).collect();
        TriedGuard {
            split,
            guard,
            parameters,
            indices,
            closed,
            open,
            reads,
            literals,
            hints,
            defined,
            all_vectors,
        }
    }

    /// Returns the parameters of record types, split into their fields.
    pub fn split(&self) -> &SplitParameters {
        &self.split
    }

    /// Lists the strings among the guard's literals.
    pub fn texts(&self) -> impl Iterator<Item = &Value> {
        self.literals.iter().filter(|value| matches!(value, Value::String(_)))
    }

    /// Makes a pool: the guard's literals, the state's values that the guard reads, and `others`.
    pub fn pool<'v>(&self, state: &Valuation, others: impl Iterator<Item = &'v Value>) -> Vec<Value> {
        let mut found = self.literals.clone();
        self.reads
            .iter()
            .filter_map(|datum| state.get(datum))
            .for_each(|value| collect_pool(value, &mut found));
        others.for_each(|value| collect_pool(value, &mut found));
        found
    }

    /// May the guard hold in this state, for some values of the parameters? Errs towards yes.
    pub fn may_hold(&self, state: &Valuation) -> bool {
        let is_false = |part: &Term| evaluate(part, state) == Ok(Value::Bool(false));
        !self.closed.iter().any(is_false) && !self.open.iter().any(|(part, _)| is_false(part))
    }
}

fn find_pattern(term: &Term) -> Option<&Term> {
    match term.node() {
        Node::OnStrings(StringOperation::Matches, arguments) => arguments.get(1),
        _ => None,
    }
}

/// Finds the range of a number by the parts of a guard that mention nothing else.
fn find_range(open: &[Term], datum: &Datum) -> Range {
    let own: Vec<Term> =
        open.iter().filter(|part| part.data().len() == 1 && part.mentions(datum)).cloned().collect();
    let range = hull(&Term::and(own), std::slice::from_ref(datum)).range(0);
    range.unwrap_or(Range { low: None, high: None })
}

/// Adds the value and the values in it to a pool, each once.
fn collect_pool(value: &Value, found: &mut Vec<Value>) {
    if found.len() >= MOST_POOLED {
        return;
    }
    if !matches!(value, Value::Array(_)) && !found.contains(value) {
        found.push(value.clone());
    }
    match value {
        Value::Record(ty, fields) => {
            collect_pool(&fields[0], found);
            ty.counting(fields).for_each(|field| collect_pool(field, found));
        }
        Value::Array(array) => array.cells.iter().for_each(|(index, cell)| {
            collect_pool(index, found);
            collect_pool(cell, found);
        }),
        _ => {}
    }
}

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
        let key: (Term, Vec<Value>) = (guard.guard.clone(), read_values);
        let known = self.known.get(&key).cloned();
        if known == Some(Outcome::Impossible) {
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
                let found = after.iter().chain(before).find_map(|values| {
                    valuation.extend(guard.parameters.iter().cloned().zip(values.iter().cloned()));
                    check_guard(guard, &valuation).ok()
                });
                if found.is_none() {
                    self.remember(key, Outcome::Impossible);
                }
                found
            }
            (None, Some(Outcome::Solved(values))) => Some(values),
            (None, Some(_)) => None,
            (None, None) => self.choose_slowly(guard, key, state, random, solver),
        }
    }

    /// Draws values by trial if the guard reads a list, a map or other data that no hull describes. Otherwise
    /// the solver would choose all the parameters, also those that stand beside such data.
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
        let is_drawn = |(at, datum): (usize, &Datum)| {
            is_composed(datum)
                && tried.guard.mentions(datum)
                && !tried.defined.iter().any(|(defined, _)| *defined == at)
        };
        if !tried.parameters.iter().enumerate().any(is_drawn)
            || draw::source(&self.mix, random) == Source::Diverse
            || tried.closed.iter().any(|part| holds(part, state) != Ok(true))
        {
            return None;
        }
        let pool = tried.pool(state, std::iter::empty());
        let found = self.draw_vector(tried, TRIALS, &pool, state, random)?;
        self.count(&[Source::Uniform]);
        Some(tried.split.join_values(found))
    }

    /// Draws a vector for which the guard holds, with at most so many trials.
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

    /// Chooses values by the hull and the solver, and remembers the outcome under the key.
    fn choose_slowly(
        &mut self,
        guard: &TriedGuard,
        key: (Term, Vec<Value>),
        state: &Valuation,
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> Option<Vec<Value>> {
        // This attempt counts as one in vain. If it finds values, the count is removed.
        let in_vain = self.in_vain.entry(guard.guard.clone()).or_default();
        *in_vain += 1;
        if *in_vain > MOST_IN_VAIN && !in_vain.is_power_of_two() {
            self.remember(key, Outcome::Refused);
            return None;
        }
        let before = self.count_solved();
        let (term, parameters) = (&guard.guard, &guard.parameters[..]);
        let found = self.choose_with_samples(term, parameters, state, random, solver);
        let found = found.or_else(|| self.choose_free(term, parameters, state, random, solver));
        match &found {
            None => self.remember(key, Outcome::Impossible),
            Some(values) => {
                self.in_vain.remove(&guard.guard);
                // Values by the hull vary, and are not remembered.
                if self.count_solved() > before {
                    self.remember(key, Outcome::Solved(values.clone()));
                }
            }
        }
        found
    }

    fn remember(&mut self, key: (Term, Vec<Value>), outcome: Outcome) {
        if self.known.len() >= MOST_REMEMBERED {
            self.known.clear();
        }
        self.known.insert(key, outcome);
    }

    /// Counts how often the solver gave values.
    fn count_solved(&self) -> usize {
        [Source::Diverse, Source::Witness].iter().filter_map(|source| self.counts.get(source)).sum()
    }

    /// Draws a value of a parameter from the pool, or as for any stimulus.
    fn draw_for_trial(&self, datum: &Datum, hint: &Hint, pool: &[Value], random: &mut Random) -> Value {
        if let Some(sample) = self.sample(datum, random) {
            return sample;
        }
        let list_known_ids = || -> Vec<Value> {
            let all = pool.iter().chain(&self.seen);
            all.filter(|value| datum.ty().is_id() && value.is_in(datum.ty())).cloned().collect()
        };
        if let Some(id) =
            self.list_id_samples(datum, &list_known_ids()).and_then(|ids| random.pick(&ids).cloned())
        {
            return id;
        }
        if random.chance(50)
            && let Some(value) = draw::draw_pooled(datum.ty(), pool, random)
        {
            return value;
        }
        let source = draw::source(&self.mix, random);
        match (hint, datum.ty()) {
            (Hint::Number(range), ty) => draw::number(ty, source, range, &self.seen, random).0,
            (Hint::Text(hints), _) => {
                strings::draw_string(datum, hints, source, &self.seen, self.known_texts(datum), random).0
            }
            (Hint::Other, ty @ Type::Id(_)) => ids::draw_id(ty, &list_known_ids(), source, random).0,
            (Hint::Other, ty) => draw::any_with(ty, pool, random),
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

/// Returns the values of the parameters if the guard holds. `Err`: the indices of the parameters in the first
/// part that does not hold.
fn check_guard<'g>(guard: &'g TriedGuard, valuation: &Valuation) -> Result<Vec<Value>, &'g [usize]> {
    for (part, mentioned) in &guard.open {
        if holds(part, valuation) != Ok(true) {
            return Err(mentioned);
        }
    }
    let all = &guard.indices[..];
    let values = guard.parameters.iter().map(|datum| valuation.get(datum).cloned());
    let values: Vec<Value> = values.collect::<Option<_>>().ok_or(all)?;
    let is_typed = guard.parameters.iter().zip(&values).all(|(datum, value)| value.is_in(datum.ty()));
    if is_typed { Ok(values) } else { Err(all) }
}
