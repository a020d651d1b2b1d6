//! Values for the parameters of a stimulus: varied, cheap, and always within the guard.
//!
//! **Problem.** The guard of a stimulus, at the present state, is a condition on its parameters. Any vector
//! that satisfies it is right. A solver always gives the same few vectors, near 0, which find few faults.
//!
//! **Method.** Parameters of finite types are drawn by lot. Numeric parameters are drawn one after the other
//! from the range that the hull of the condition allows ([`coreach_analyses::hull`]), each from a source that
//! the mix draws. Strings are drawn from the texts that the condition names (`strings`). If an equation
//! defines a string, array or record by the others, as `pText == cText[pFrom..]`, it is computed from them.
//! The drawn values are then *evaluated*, since the hull is larger than the condition. After a few draws that
//! fail, and for data that no hull describes (arrays, records), the solver is asked: first for a witness in a
//! random window (`diverse`), then for any.
//!
//! **We differ** from STG, which asks a solver (Omega) at each stimulus. Here a record can repeat the seeded
//! draw. **Ends** after `ATTEMPTS` draws and three queries. **Costs** some microseconds for a draw with a
//! remembered hull, some tens of them for a new hull, some hundreds for a query.

pub mod boundaries;
mod compared;
mod determined;
pub mod draw;
mod ids;
pub mod records;
mod solve;
mod source;
mod strings;
pub mod trial;
pub mod tried;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::limits::{ATTEMPTS, MOST_LISTED, MOST_SEEN};
use compared::find_compared;
use coreach_adapters::behaviour::Samples;
use coreach_analyses::hull::{Hull, hull};
use coreach_analyses::solver::Solver;
use coreach_model::codec;
use coreach_model::hash::FastMap;
use coreach_model::iosts::Iosts;
use coreach_model::random::Random;
use coreach_model::term::evaluate::{Undefined, Valuation, evaluate, holds};
use coreach_model::term::{Substitution, list_subterms, substitute};
use coreach_model::{Datum, Term, Type, Value};
pub(crate) use determined::{Determined, determine_values};
pub use draw::{any, any_with, as_rational};
use records::{SplitParameters, as_plain, as_variant};
pub use solve::pivots;
pub use source::{MIX, Mix, Pick};
use strings::StringHints;
use tried::{TriedGuard, find_definition};

/// With more remembered hulls than this, the memory starts anew.
const MOST_HULLS: usize = 4096;

/// Chooses values, run after run.
#[derive(Debug)]
pub struct Values {
    mix: Mix,
    samples: Samples,
    /// The data whose strings are compared with others.
    compared: BTreeSet<Datum>,
    /// The texts of the initial condition, as of a password. Each run knows them from its beginning.
    initial_texts: Vec<Value>,
    /// The numbers, strings and ids that parameters have had in this run, the oldest first.
    seen: Vec<Value>,
    counts: BTreeMap<Pick, usize>,
    /// Hulls, by their data in order, and the condition. Only functions of the key are remembered, so that a
    /// run does not depend on the runs before it.
    hulls: HashMap<(Vec<Datum>, Term), Hull>,
    /// Outcomes, by what they follow from. Only walks and games, which try values, use them. They remember
    /// their runs anyway.
    known: FastMap<OutcomeKey, GuardOutcome>,
    /// The guards of stimuli with composed data, prepared for trials.
    tried: FastMap<(Term, Vec<Datum>), Arc<[TriedGuard]>>,
    /// For each guard: how often in a row neither trials nor the solver found values.
    in_vain: FastMap<Term, usize>,
}

/// A guard, the parameters that get values, and the values that the guard reads of the state.
type OutcomeKey = (Term, Vec<Datum>, Vec<Value>);

/// The result of trials and the solver for a guard with the values that it reads.
#[derive(Clone, PartialEq, Eq, Debug)]
enum GuardOutcome {
    /// The solver found these values.
    Solved(Vec<Value>),
    /// Trials were in vain, and the solver was not asked.
    Refused,
    /// There are no values, or the solver found none.
    Impossible,
}

fn is_text(value: &Value) -> bool {
    matches!(value, Value::String(text) if !text.is_empty())
}

impl Values {
    /// Returns a chooser of values with this mix.
    pub fn new(mix: Mix) -> Self {
        let (samples, seen, counts) = (Samples::new(), Vec::new(), BTreeMap::new());
        let (hulls, known) = (HashMap::new(), FastMap::default());
        let (tried, in_vain) = (FastMap::default(), FastMap::default());
        let (compared, initial_texts) = (BTreeSet::new(), Vec::new());
        Values { mix, samples, compared, initial_texts, seen, counts, hulls, known, tried, in_vain }
    }

    /// Fits the choice to the stimuli of this model: strings that it compares are drawn again.
    #[must_use]
    pub fn of_model(self, iosts: &Iosts) -> Self {
        let parts = list_subterms(vec![iosts.initial_condition.clone()]);
        let texts = parts.iter().filter_map(Term::as_literal).filter(|value| is_text(value));
        Values { compared: find_compared(iosts), initial_texts: texts.cloned().collect(), ..self }
    }

    /// Sets samples. Half of the values of a parameter with samples are drawn from them.
    pub fn with_samples(&mut self, samples: Samples) {
        self.samples = samples;
    }

    /// Begins a run: forgets the values of the last one, and remembers the texts and constants known from the
    /// beginning.
    pub fn begin(&mut self, constants: &[(Datum, Value)]) {
        self.seen.clear();
        self.counts.clear();
        self.remember_values(&self.initial_texts.clone());
        self.remember_values(&constants.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>());
    }

    /// Ends a run. Returns how often each source was used.
    pub fn end(&mut self) -> BTreeMap<Pick, usize> {
        std::mem::take(&mut self.counts)
    }

    /// Remembers the values of an event.
    pub fn remember_values(&mut self, values: &[Value]) {
        for value in values {
            match (value.sort(), value) {
                (ty, Value::Record(_, fields)) if as_plain(&ty).is_some() => self.remember_values(fields),
                (ty, Value::Record(record, fields)) if as_variant(&ty).is_some() => {
                    self.remember_values(&record.counting(fields).cloned().collect::<Vec<_>>());
                }
                _ => {}
            }
            if matches!(value, Value::Int(_) | Value::Real(_) | Value::String(_) | Value::Id(..))
                && !self.seen.contains(value)
            {
                if self.seen.len() == MOST_SEEN {
                    self.seen.remove(0);
                }
                self.seen.push(value.clone());
            }
        }
    }

    /// Chooses values of the parameters that satisfy the condition in this state. `None`: no values were
    /// found. Only the solver can say for certain that there are none.
    pub fn choose(
        &mut self,
        guard: &Term,
        parameters: &[Datum],
        state: &Valuation,
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> Option<Vec<Value>> {
        self.choose_with_samples(guard, parameters, state, random, solver)
            .or_else(|| self.draw_composed(guard, parameters, state, random))
            .or_else(|| self.choose_free(guard, parameters, state, random, solver))
    }

    /// Chooses values in which some composed parameters are samples, each half of the time. `None`: none is.
    fn choose_with_samples(
        &mut self,
        guard: &Term,
        parameters: &[Datum],
        state: &Valuation,
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> Option<Vec<Value>> {
        let mut conjuncts = vec![guard.clone()];
        for datum in parameters.iter().filter(|datum| !is_drawable(datum.ty())) {
            let sample = self.sample(datum, random);
            conjuncts.extend(sample.map(|sample| Term::equal(&Term::datum(datum), &Term::literal(sample))));
        }
        if conjuncts.len() == 1 {
            return None;
        }
        let chosen = self.choose_free(&Term::and(conjuncts), parameters, state, random, solver)?;
        self.count(&[Pick::Sample]);
        Some(chosen)
    }

    /// Chooses values of the split parameters, and puts them together. `None` if none are found.
    fn choose_split(
        &mut self,
        split: &SplitParameters,
        guard: &Term,
        state: &Valuation,
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> Option<Vec<Value>> {
        let guard = split.split_guard(guard);
        let chosen = self.choose_free(&guard, &split.parameters, state, random, solver)?;
        Some(split.join_values(chosen))
    }

    /// Chooses values that satisfy the guard: drawn ones, or the solver's. Samples are drawn only for
    /// parameters without parts. `None` if none are found.
    fn choose_free(
        &mut self,
        guard: &Term,
        parameters: &[Datum],
        state: &Valuation,
        random: &mut Random,
        solver: &mut dyn Solver,
    ) -> Option<Vec<Value>> {
        if parameters.is_empty() {
            return (holds(guard, state) == Ok(true)).then(Vec::new);
        }
        // What an equation defines is computed as a whole.
        let is_free = |datum: &&Datum| find_definition(datum, guard).is_none();
        // If the drawn alternatives give no values, the solver may choose others below.
        if parameters.iter().filter(is_free).any(|datum| as_variant(datum.ty()).is_some()) {
            let split = SplitParameters::draw(parameters, random);
            if let Some(chosen) = self.choose_split(&split, guard, state, random, solver) {
                return Some(chosen);
            }
        }
        if parameters.iter().filter(is_free).any(|datum| as_plain(datum.ty()).is_some()) {
            return self.choose_split(&SplitParameters::new(parameters), guard, state, random, solver);
        }
        let condition = self.restrict_ids_to_samples(&at_state(guard, parameters, state), parameters);
        if condition.is_false() {
            return None;
        }
        let open = substitute_definitions(&condition, parameters);
        // Data that the condition does not mention may have any value.
        let is_open = |datum: &Datum| is_drawable(datum.ty()) || !open.condition.mentions(datum);
        let drawable = open.parameters.iter().all(is_open);
        let wants_solver = draw::source(&self.mix, random) == Pick::Diverse;
        if drawable
            && !wants_solver
            && let Some(values) = self.draw_until_right(&open, &condition, parameters, random)
        {
            return Some(values);
        }
        // The windows are drawn whether the solver is asked or not, so that a seed means the same.
        let pivots = pivots(parameters, random);
        if self.is_surely_none(&open.condition, &open.parameters) {
            return None;
        }
        match determine_values(&condition, parameters) {
            Determined::Never => return None,
            Determined::Only(values) if satisfies(&condition, parameters, &values) => {
                self.count(&[Pick::Witness]);
                return Some(values);
            }
            Determined::Only(_) | Determined::Open => {}
        }
        let (values, source) = solve::solve_for_values(&condition, pivots, parameters, random, solver)?;
        self.count(&[source]);
        Some(values)
    }

    /// Adds to the condition that an id with samples is one of them or a known one. A system that takes only
    /// ids of one form then gets no others.
    fn restrict_ids_to_samples(&self, condition: &Term, parameters: &[Datum]) -> Term {
        let one_of = |datum: &Datum| {
            let ids = self.list_id_samples(datum, || ids::known_ids(datum.ty(), condition, &self.seen))?;
            let term = Term::datum(datum);
            Some(Term::or(ids.into_iter().map(|id| Term::equal(&term, &Term::literal(id)))))
        };
        Term::and([condition.clone()].into_iter().chain(parameters.iter().filter_map(one_of)))
    }

    /// Lists the samples of an id, and the ids that `known` lists. `None`: it has no samples, or is no id.
    fn list_id_samples(&self, datum: &Datum, known: impl FnOnce() -> Vec<Value>) -> Option<Vec<Value>> {
        let samples = self.samples.get(datum.name()).filter(|_| datum.ty().is_id())?;
        let samples = samples.iter().filter_map(|text| codec::from_text(text, datum.ty()).ok());
        let known = known().into_iter().filter(|id| self.may_send_id(datum, id));
        Some(known.chain(samples).collect())
    }

    /// May an id be sent? Not if there are samples, and it is only the value of ids that nobody has set.
    pub fn may_send_id(&self, datum: &Datum, value: &Value) -> bool {
        let is_unset = datum.ty().is_id() && *value == Value::any(datum.ty()) && !self.seen.contains(value);
        !is_unset || !self.samples.contains_key(datum.name())
    }

    /// Draws values, and computes the defined ones, until the condition holds. `None`: no attempt succeeded.
    fn draw_until_right(
        &mut self,
        open: &OpenGuard,
        condition: &Term,
        parameters: &[Datum],
        random: &mut Random,
    ) -> Option<Vec<Value>> {
        let mut hints = BTreeMap::new();
        for _ in 0..ATTEMPTS {
            let (drawn, sources) = self.draw(&open.condition, &open.parameters, &mut hints, random)?;
            let mut valuation: Valuation = open.parameters.iter().cloned().zip(drawn).collect();
            for (datum, term) in open.defined.iter().rev() {
                valuation.extend(evaluate(term, &valuation).ok().map(|value| (datum.clone(), value)));
            }
            let values = parameters.iter().map(|datum| valuation.get(datum).cloned());
            if let Some(values) = values.collect::<Option<Vec<Value>>>()
                && satisfies(condition, parameters, &values)
            {
                self.count(&sources);
                return Some(values);
            }
        }
        None
    }

    /// Is it certain without the solver that no values satisfy the condition? It is if the hull of the
    /// numbers is empty for all values of the other data.
    fn is_surely_none(&mut self, condition: &Term, parameters: &[Datum]) -> bool {
        let (numbers, others): (Vec<Datum>, Vec<Datum>) =
            parameters.iter().cloned().partition(|datum| datum.ty().is_number());
        let mut conditions = vec![condition.clone()];
        for datum in others.iter().filter(|datum| condition.mentions(datum)) {
            let literals: Vec<Term> = match datum.ty() {
                Type::Bool => [false, true].map(|value| Term::literal(Value::Bool(value))).to_vec(),
                Type::Enum(of) => {
                    (0..of.literals.len()).map(|at| Term::literal(Value::Enum(of.clone(), at))).collect()
                }
                _ => return false,
            };
            if conditions.len().saturating_mul(literals.len()) > MOST_LISTED {
                return false;
            }
            let mut with_literals = Vec::new();
            for literal in literals {
                let literal = Substitution::from_iter([(datum.clone(), literal)]);
                with_literals.extend(conditions.iter().map(|condition| substitute(condition, &literal)));
            }
            conditions = with_literals;
            conditions.retain(|condition| !condition.is_false());
        }
        conditions.iter().all(|condition| {
            condition.is_false() || !numbers.is_empty() && self.hull(condition, &numbers).range(0).is_none()
        })
    }

    /// Lists the values that have been seen, if the datum may be compared with one. A field always may.
    fn known_texts(&self, datum: &Datum) -> &[Value] {
        if self.compared.contains(datum) || datum.name().contains('.') { &self.seen } else { &[] }
    }

    /// Notes that a stimulus was sent with the values of a plan.
    pub fn note_planned(&mut self) {
        self.count(&[Pick::Planned]);
    }

    fn count(&mut self, sources: &[Pick]) {
        for source in sources {
            *self.counts.entry(*source).or_default() += 1;
        }
    }

    /// Draws values once. `None`: the hull of the numbers is empty, whatever is drawn. If it is empty only
    /// for what was drawn, the list of values is empty. The hints of strings are read once for all draws.
    fn draw<'p>(
        &mut self,
        condition: &Term,
        parameters: &'p [Datum],
        hints: &mut BTreeMap<&'p Datum, StringHints>,
        random: &mut Random,
    ) -> Option<(Vec<Value>, Vec<Pick>)> {
        // Values of parameters that are no numbers.
        let mut values: Vec<Option<Value>> = vec![None; parameters.len()];
        let mut finite = Substitution::new();
        let mut sources = Vec::new();
        for (at, datum) in parameters.iter().enumerate() {
            let sample = self.sample(datum, random).filter(|_| is_drawable(datum.ty()));
            let (value, source) = match (sample, datum.ty()) {
                (Some(value), _) => (value, Pick::Sample),
                (None, ty) if ty.is_number() => continue,
                (None, Type::String) => {
                    let source = draw::source(&self.mix, random);
                    let hints = hints.entry(datum).or_insert_with(|| StringHints::read(condition, datum));
                    let known = self.known_texts(datum);
                    strings::draw_string(datum, hints, source, &self.seen, known, random)
                }
                (None, Type::Id(_)) => {
                    let source = draw::source(&self.mix, random);
                    let known = ids::known_ids(datum.ty(), condition, &self.seen);
                    ids::draw_id(datum.ty(), &known, source, random)
                }
                (None, ty) => (any(ty, random), Pick::Uniform),
            };
            if is_drawable(datum.ty()) {
                finite.insert(datum.clone(), Term::literal(value.clone()));
            }
            values[at] = Some(value);
            sources.push(source);
        }
        match self.draw_numbers(condition, &finite, parameters, &mut values, &mut sources, random) {
            Some(()) => Some((values.into_iter().collect::<Option<Vec<Value>>>()?, sources)),
            None => (!finite.is_empty()).then(|| (Vec::new(), Vec::new())),
        }
    }

    /// Draws the numbers, which have no value yet, one after the other, each in the range that the hull
    /// leaves it when the others, in `finite` too, are known. `None`: the hull is empty.
    fn draw_numbers(
        &mut self,
        condition: &Term,
        finite: &Substitution,
        parameters: &[Datum],
        values: &mut [Option<Value>],
        sources: &mut Vec<Pick>,
        random: &mut Random,
    ) -> Option<()> {
        let numeric: Vec<usize> = (0..parameters.len()).filter(|at| values[*at].is_none()).collect();
        if numeric.is_empty() {
            return Some(());
        }
        let data: Vec<Datum> = numeric.iter().map(|at| parameters[*at].clone()).collect();
        let rest = if finite.is_empty() { condition.clone() } else { substitute(condition, finite) };
        let mut hull = self.hull(&rest, &data);
        let mut dimensions: Vec<usize> = (0..numeric.len()).collect();
        random.shuffle(&mut dimensions);
        for dimension in dimensions {
            let at = numeric[dimension];
            let range = hull.range(dimension)?;
            let source = draw::source(&self.mix, random);
            let (value, source) = draw::number(parameters[at].ty(), source, &range, &self.seen, random);
            if numeric.len() > 1 {
                hull = hull.fixed(dimension, &as_rational(&value));
            }
            values[at] = Some(value);
            sources.push(source);
        }
        Some(())
    }

    /// Draws a sample of the parameter, if it has some, half of the time.
    fn sample(&self, datum: &Datum, random: &mut Random) -> Option<Value> {
        let samples = self.samples.get(datum.name())?;
        let sample = random.pick(samples).filter(|_| random.chance(50))?;
        codec::from_text(sample, datum.ty()).ok()
    }

    fn hull(&mut self, condition: &Term, data: &[Datum]) -> Hull {
        if self.hulls.len() > MOST_HULLS {
            self.hulls.clear();
        }
        let key = (data.to_vec(), condition.clone());
        self.hulls.entry(key).or_insert_with(|| hull(condition, data)).clone()
    }
}

/// A condition without the parameters that it defines.
struct OpenGuard {
    condition: Term,
    parameters: Vec<Datum>,
    /// Each definition reads only parameters that are left, and data that are defined after it.
    defined: Vec<(Datum, Term)>,
}

/// Substitutes each string, array or record that an equation defines.
fn substitute_definitions(condition: &Term, parameters: &[Datum]) -> OpenGuard {
    let mut open = OpenGuard { condition: condition.clone(), parameters: Vec::new(), defined: Vec::new() };
    for datum in parameters {
        let definition = match datum.ty() {
            Type::String | Type::Id(_) | Type::Array(_) | Type::Record(_) => {
                find_definition(datum, &open.condition)
            }
            _ => None,
        };
        match definition {
            Some(term) => {
                let by = Substitution::from_iter([(datum.clone(), term.clone())]);
                open.condition = substitute(&open.condition, &by);
                open.defined.push((datum.clone(), term));
            }
            None => open.parameters.push(datum.clone()),
        }
    }
    open
}

/// Puts the state's values into a guard for everything but the parameters; `false` if the state excludes it.
pub fn at_state(guard: &Term, parameters: &[Datum], state: &Valuation) -> Term {
    let mut open = Vec::new();
    for part in guard.conjuncts() {
        if parameters.iter().any(|parameter| part.mentions(parameter)) {
            open.push(part);
            continue;
        }
        // The state decides this part. No term is made for it.
        match holds(&part, state) {
            Ok(true) => {}
            Err(Undefined::Unbound(_)) => open.push(part),
            _ => return Term::no(),
        }
    }
    let open = Term::and(open);
    let data = open.data().into_iter().filter(|datum| !parameters.contains(datum));
    let value = |datum: Datum| {
        let value = Term::literal(state.get(&datum)?.clone());
        Some((datum, value))
    };
    substitute(&open, &data.filter_map(value).collect())
}

/// Can values of this type be drawn by lot?
pub fn is_drawable(ty: &Type) -> bool {
    ty.is_number() || matches!(ty, Type::Bool | Type::String | Type::Id(_) | Type::Enum(_))
}

/// Are there as many values as parameters, each in its type?
pub(crate) fn are_typed(parameters: &[Datum], values: &[Value]) -> bool {
    parameters.len() == values.len()
        && parameters.iter().zip(values).all(|(parameter, value)| value.is_in(parameter.ty()))
}

fn satisfies(condition: &Term, parameters: &[Datum], values: &[Value]) -> bool {
    let valuation: Valuation = parameters.iter().cloned().zip(values.iter().cloned()).collect();
    are_typed(parameters, values) && holds(condition, &valuation) == Ok(true)
}

#[cfg(test)]
mod tests;
