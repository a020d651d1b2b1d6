//! A timed sequence for a path: inputs and their instants, with which the system can go along the path.
//!
//! **Source.** 2012, input selection: the path's conditions on the data and on the time have a solution,
//! which gives a sequence of events. Its inputs, with the delays, are the test. Nobody can make the system
//! follow; off-line, its behaviour is judged afterwards.
//!
//! **Method.** The path is executed symbolically in the delayed form. Delays are chosen one after the other.
//! Each is the first of a list of handy delays with which the rest of the path is still possible, or else the
//! solver's. They are above 0 if that is possible: the merge orders two events at one instant without regard
//! to who sent them. With a seed, the list is drawn, and so are values of parameters.
//!
//! For a criterion of coverage, a path to each transition, or to each pair of them, is searched
//! ([`coreach_analyses::symbolic::search`]). Copies of these transitions lead to places of their own.
//!
//! **Ends** with the path. **Costs** a few questions for each delay.

use coreach_analyses::solver::{Answer, Solver, Witness};
use coreach_analyses::symbolic::search::{SearchBound, SearchGoal, SearchLimits, SearchOutcome, Searcher};
use coreach_analyses::symbolic::{SymbolicState, SymbolicStep, System};
use coreach_model::iosts::{Location, TransitionId};
use coreach_model::random::Random;
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::{Substitution, have_values, literals, substitute_all};
use coreach_model::timed::Timed;
use coreach_model::timed::delayed::Delayed;
use coreach_model::{Datum, Term, Type, Value};
use dashu_ratio::RBig;

use crate::limits::ATTEMPTS;
use crate::offline::sequence::{SeqItem, normalize, projection};

/// Delays that are easy to read, in tenths of the unit.
const HANDY: [usize; 9] = [10, 1, 5, 15, 20, 25, 30, 50, 0];

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoSequence {
    /// No data and no times lead through the first so many transitions of the path and through the next one.
    Impossible(usize),
    Unknown,
}

/// The result of the search for a path to a transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reached {
    By(Vec<TransitionId>),
    Never,
    /// No path was found among so many nodes.
    NotFound(SearchBound),
}

/// Finds a sequence along the path with these constants, outputs included.
pub fn sequence_along(
    form: &Delayed,
    path: &[TransitionId],
    constants: &Valuation,
    seed: Option<u64>,
    solver: &mut dyn Solver,
) -> Result<Vec<SeqItem>, NoSequence> {
    let system = System::new(&form.iosts);
    let (steps, last) = follow_path(&system, path, &literals(constants), solver)?;
    let mut random = seed.map(Random::new);
    let mut condition = last.condition;
    let mut values = Valuation::new();
    // Internal steps may take time, so their delays count, too.
    let is_delay = |symbol: &Datum| steps.iter().any(|step| step.parameters.first() == Some(symbol));
    let symbols = steps.iter().flat_map(|step| &step.parameters);
    let (delays, other_symbols): (Vec<&Datum>, Vec<&Datum>) = symbols.partition(|symbol| is_delay(symbol));
    for symbol in delays {
        let tenths: Vec<usize> = match &mut random {
            // Drawn delays are above 0, and up to ten units.
            Some(random) => (0..ATTEMPTS).map(|_| random.below(100) + 1).chain(HANDY).collect(),
            None => HANDY.to_vec(),
        };
        let real = |tenths: usize| Value::Real(RBig::from(tenths) / RBig::from(10));
        let candidates = tenths.into_iter().map(real);
        choose_value(symbol, candidates, &mut condition, &mut values, solver)?;
    }
    if let Some(random) = &mut random {
        for symbol in other_symbols {
            let candidates: Vec<Value> =
                (0..ATTEMPTS).filter_map(|_| draw_value(random, symbol.ty())).collect();
            choose_value(symbol, candidates, &mut condition, &mut values, solver)?;
        }
    }
    let Witness::Found(other_values) = solver.witness(&condition) else { return Err(NoSequence::Unknown) };
    values.extend(other_values);
    let value = |symbol: &Datum| values.get(symbol).cloned().unwrap_or_else(|| Value::any(symbol.ty()));
    let mut items = Vec::new();
    for step in &steps {
        let mut values_of_step = step.parameters.iter().map(value);
        if let Some(Value::Real(delay)) = values_of_step.next() {
            items.push(SeqItem::Delay(delay));
        }
        let action = form.iosts.transitions[step.transition].action;
        if form.iosts.action(action).is_visible() {
            items.push(SeqItem::Event(action, values_of_step.collect()));
        }
    }
    Ok(normalize(items))
}

/// Executes the path. Returns its steps, and the state after them with its condition.
fn follow_path(
    system: &System<'_>,
    path: &[TransitionId],
    given: &Substitution,
    solver: &mut dyn Solver,
) -> Result<(Vec<SymbolicStep>, SymbolicState), NoSequence> {
    let mut state = SymbolicState::initial(system.iosts);
    state.condition = substitute_all(&state.condition, given);
    state.open = std::sync::Arc::new(given.clone());
    let mut steps = Vec::new();
    for (place, number) in path.iter().enumerate() {
        let (step, next) = system.successor(&state, *number).ok_or(NoSequence::Impossible(place))?;
        if solver.check_along(&next.condition) == Answer::Unsat {
            return Err(NoSequence::Impossible(place));
        }
        steps.push(step);
        state = next;
    }
    Ok((steps, state))
}

/// Gives the symbol the first of the candidates with which the rest can hold, or else the solver's value.
fn choose_value(
    symbol: &Datum,
    candidates: impl IntoIterator<Item = Value>,
    condition: &mut Vec<Term>,
    values: &mut Valuation,
    solver: &mut dyn Solver,
) -> Result<(), NoSequence> {
    let with_value = |value: &Value, condition: &[Term]| -> Vec<Term> {
        let this_value = Substitution::from([(symbol.clone(), Term::literal(value.clone()))]);
        let parts = substitute_all(condition, &this_value);
        parts.iter().flat_map(Term::conjuncts).filter(|part| !part.is_true()).collect()
    };
    for value in candidates {
        let condition_with_value = with_value(&value, condition);
        if !condition_with_value.iter().any(Term::is_false)
            && solver.check(&condition_with_value) == Answer::Sat
        {
            *condition = condition_with_value;
            values.insert(symbol.clone(), value);
            return Ok(());
        }
    }
    let Witness::Found(witness) = solver.witness(condition) else { return Err(NoSequence::Unknown) };
    let value = witness.get(symbol).cloned().unwrap_or_else(|| Value::any(symbol.ty()));
    *condition = with_value(&value, condition);
    values.insert(symbol.clone(), value);
    Ok(())
}

/// Draws a small value of the type. `None` if 0 to 20 does not fit, and for strings, ids, arrays and records.
fn draw_value(random: &mut Random, ty: &Type) -> Option<Value> {
    match ty {
        Type::Bool => Some(Value::Bool(random.below(2) == 0)),
        Type::Int | Type::Nat | Type::Range(..) => {
            let value = Value::int(random.below(21));
            value.is_in(ty).then_some(value)
        }
        Type::Enum(enumeration) => {
            Some(Value::Enum(enumeration.clone(), random.below(enumeration.literals.len())))
        }
        Type::Real => Some(Value::Real(RBig::from(random.below(101)) / RBig::from(10))),
        Type::String | Type::Id(_) | Type::Array(_) | Type::Record(_) => None,
    }
}

/// Searches a path that ends in these transitions, one after the other.
pub fn path_to(
    form: &Delayed,
    wanted: &[TransitionId],
    constants: &Valuation,
    limits: &SearchLimits,
    solver: &mut dyn Solver,
) -> Reached {
    let mut iosts = form.iosts.clone();
    // A copy of each transition leads to a location of its own, from which only the next copy leads on. No
    // location of a model has such a name.
    let mut end = iosts.initial;
    let first_copy = iosts.transitions.len();
    for (index, number) in wanted.iter().enumerate() {
        let mut copy = iosts.transitions[*number].clone();
        copy.source = if index == 0 { copy.source } else { end };
        end = iosts.locations.push(Location::named(format!("#taken{index}")));
        copy.target = end;
        iosts.transitions.push(copy);
    }
    let original_of = |number: TransitionId| {
        (number.0 as usize).checked_sub(first_copy).map_or(number, |index| wanted[index])
    };
    let goal = SearchGoal::reaching(iosts.location_ids().map(|location| location == end).collect(), &iosts);
    match Searcher::new(iosts, goal).from_start(&have_values(constants), limits, solver) {
        SearchOutcome::Path(way) => {
            Reached::By(way.steps.iter().map(|step| original_of(step.transition)).collect())
        }
        SearchOutcome::None => Reached::Never,
        SearchOutcome::NotFound(bound) => Reached::NotFound(bound),
    }
}

/// Returns the part of a sequence that the tester sends, with the delays.
pub fn inputs_of(timed: &Timed, sequence: &[SeqItem]) -> Vec<SeqItem> {
    let mut sent = projection(sequence, |action| timed.is_controllable(action));
    // The time after the last input is nothing that the tester does.
    if matches!(sent.last(), Some(SeqItem::Delay(_))) {
        sent.pop();
    }
    sent
}
