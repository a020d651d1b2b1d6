//! The symbolic constants of a run: given by the user, or solved for.
//!
//! A test case leaves its constants open; a run fixes them, for tester and implementation alike (thesis, p.
//! 144: both are instantiated with the same valuation). Given constants are taken. The others are chosen so
//! that the initial condition can hold, and so that a way to Pass is known if one is found. The initial
//! condition only says that Accept *may* be reached: a limit of 1 satisfies it, even if amounts are tens.

use std::fmt;

use coreach_analyses::solver::{Answer, Solver, Witness};
use coreach_analyses::symbolic::search::{SearchLimits, SearchOutcome, Searcher};
use coreach_model::random::Random;
use coreach_model::semantics::State;
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::{Substitution, have_values, literals, substitute};
use coreach_model::{Datum, Diagnostic, Term, codec};

use crate::initial::{self, NoState};
use crate::limits::ATTEMPTS;
use crate::planner::search_goal;
use crate::test_case::TestCase;
use crate::values::{MIX, Values, any, is_drawable, pivots};

/// How far a way to Pass is looked for when constants are chosen.
const LIMITS: SearchLimits = SearchLimits { nodes: 1000, spurious: 4, exact_nodes: 100, work: 1_000_000 };

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConstantsError {
    /// No constant has the first name; the list has the names of all constants.
    Unknown(String, Vec<String>),
    NoValue(String, String),
    /// With `given`, as `cTries = 0`, this part of the initial condition cannot hold. It `needs` this.
    Unsatisfiable {
        given: String,
        part: String,
        needs: String,
    },
    /// The solver does not know whether the initial condition can hold.
    SolverUndecided(String),
}

impl fmt::Display for ConstantsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConstantsError::Unknown(name, known) if known.is_empty() => {
                write!(f, "no constant is called `{name}`: the test case has none")
            }
            ConstantsError::Unknown(name, known) => {
                write!(f, "no constant is called `{name}`; there are {}", known.join(", "))
            }
            ConstantsError::NoValue(name, why) => write!(f, "the value of `{name}`: {why}"),
            ConstantsError::Unsatisfiable { given, part, .. } if given.is_empty() => {
                write!(f, "the initial condition cannot hold: {part}")
            }
            ConstantsError::Unsatisfiable { given, needs, .. } => {
                write!(f, "`{given}` violates `{needs}` of the initial condition")
            }
            ConstantsError::SolverUndecided(condition) => {
                write!(f, "no constants were found that satisfy the initial condition: {condition}")
            }
        }
    }
}

impl From<ConstantsError> for Diagnostic {
    fn from(error: ConstantsError) -> Self {
        let help = matches!(error, ConstantsError::NoValue(..)).then(|| {
            "give one value; without `--constant`, coreach chooses one for each seed, and a campaign takes several under \
             `constants`"
                .to_owned()
        });
        Diagnostic { help, ..Diagnostic::error("constants", error.to_string()) }
    }
}

/// Reads `name = text` pairs as a valuation of constants.
///
/// # Errors
/// [`ConstantsError::Unknown`], [`ConstantsError::NoValue`]: the first mistake.
pub fn read_constants<'a>(
    test: &TestCase,
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Valuation, ConstantsError> {
    let mut known = Valuation::new();
    for (name, text) in pairs {
        let datum = test.iosts.constants.iter().find(|datum| datum.name() == name);
        let datum = datum.ok_or_else(|| {
            let names = test.iosts.constants.iter().map(|datum| datum.name().to_owned());
            ConstantsError::Unknown(name.to_owned(), names.collect())
        })?;
        let value = codec::from_text(text, datum.ty());
        let value = value.map_err(|why| ConstantsError::NoValue(name.to_owned(), why.to_string()))?;
        known.insert(datum.clone(), value);
    }
    Ok(known)
}

/// Chooses the initial state: with the given constants, and others that the seed varies. If no way to Pass is
/// known with the chosen constants, they are replaced by those of a run to Pass, if there is one: the initial
/// condition alone may allow constants with which the purpose is out of reach.
///
/// # Errors
/// [`ConstantsError::Unsatisfiable`], [`ConstantsError::SolverUndecided`].
pub fn initial_state(
    test: &TestCase,
    given: &Valuation,
    seed: u64,
    solver: &mut dyn Solver,
) -> Result<State, ConstantsError> {
    // The draws of the run itself begin elsewhere.
    let mut random = Random::new(seed ^ 0x636f_6e73_7461_6e74);
    let open: Vec<Datum> =
        test.iosts.constants.iter().filter(|datum| !given.contains_key(datum)).cloned().collect();
    if open.is_empty() {
        return state_with(test, given, solver);
    }
    let drawn = draw_constants(test, given, &open, &mut random, solver)?;
    let state = state_with(test, &drawn, solver)?;
    let goal = search_goal(test);
    // A specification alone has no way to Pass.
    if !goal.locations.contains(&true) {
        return Ok(state);
    }
    let mut searcher = Searcher::new(test.iosts.clone(), goal);
    if let SearchOutcome::Path(_) = searcher.from_state(&state, &LIMITS, solver) {
        return Ok(state);
    }
    let better = solve_on_way_to_pass(&mut searcher, given, &open, &mut random, solver);
    // If no state has the better constants, nothing is lost: the first choice is as good as any.
    Ok(better.and_then(|constants| state_with(test, &constants, solver).ok()).unwrap_or(state))
}

/// Finds the constants of a run to Pass. `None` if no such run was found.
fn solve_on_way_to_pass(
    searcher: &mut Searcher,
    given: &Valuation,
    open: &[Datum],
    random: &mut Random,
    solver: &mut dyn Solver,
) -> Option<Valuation> {
    let SearchOutcome::Path(mut way) = searcher.from_start(&have_values(given), &LIMITS, solver) else {
        return None;
    };
    // The solver alone would choose the same constants for each seed.
    let mut with_pivots = way.last.condition.clone();
    with_pivots.extend(pivots(open, random));
    if let Witness::Found(values) = solver.witness(&with_pivots) {
        way.values = values;
    }
    let mut constants = given.clone();
    for datum in open {
        let value = way.values.get(datum).cloned();
        constants.insert(datum.clone(), value.unwrap_or_else(|| any(datum.ty(), random)));
    }
    Some(constants)
}

/// Draws the open constants, and the variables with them, since the initial condition relates both.
fn draw_constants(
    test: &TestCase,
    given: &Valuation,
    open: &[Datum],
    random: &mut Random,
    solver: &mut dyn Solver,
) -> Result<Valuation, ConstantsError> {
    let condition = &test.iosts.initial_condition;
    let all: Vec<Datum> = open.iter().chain(&test.iosts.variables).cloned().collect();
    // Then the solver has to choose some, and would choose all.
    if all.iter().any(|datum| !is_drawable(datum.ty()) && condition.mentions(datum))
        && let Some(constants) = draw_and_solve_rest(condition, given, open, &all, random, solver)
    {
        return Ok(constants);
    }
    let chosen = Values::new(MIX).choose(condition, &all, given, random, solver);
    let Some(chosen) = chosen else {
        return Err(match solver.check(&substitute(condition, &literals(given)).conjuncts()) {
            Answer::Unsat => find_violated(test, given),
            _ => ConstantsError::SolverUndecided(condition.to_string()),
        });
    };
    let mut constants = given.clone();
    constants.extend(open.iter().cloned().zip(chosen));
    Ok(constants)
}

/// Draws the constants that can be drawn, by the parts of the condition about nothing else, and asks the
/// solver for the others. A condition about arrays needs this: no arrays are drawn, so the solver would
/// choose all constants, and the same ones for each seed. `None` if no draw suits the others.
fn draw_and_solve_rest(
    condition: &Term,
    given: &Valuation,
    open: &[Datum],
    all: &[Datum],
    random: &mut Random,
    solver: &mut dyn Solver,
) -> Option<Valuation> {
    let simple: Vec<Datum> = open.iter().filter(|datum| is_drawable(datum.ty())).cloned().collect();
    let is_known = |datum: &Datum| simple.contains(datum) || given.contains_key(datum);
    let drawable_part =
        Term::and(condition.conjuncts().into_iter().filter(|part| part.data().iter().all(is_known)));
    let rest: Vec<Datum> = all.iter().filter(|datum| !simple.contains(datum)).cloned().collect();
    for _ in 0..ATTEMPTS {
        let drawn = Values::new(MIX).choose(&drawable_part, &simple, given, random, solver)?;
        let mut constants = given.clone();
        constants.extend(simple.iter().cloned().zip(drawn));
        if let Some(others) = Values::new(MIX).choose(condition, &rest, &constants, random, solver) {
            let others = rest.iter().cloned().zip(others);
            constants.extend(others.filter(|(datum, _)| open.contains(datum)));
            return Some(constants);
        }
    }
    None
}

/// Finds the initial state with these constants, or says what they violate.
fn state_with(
    test: &TestCase,
    constants: &Valuation,
    solver: &mut dyn Solver,
) -> Result<State, ConstantsError> {
    initial::first(&test.iosts, constants, solver).map_err(|why| match why {
        NoState::None => find_violated(test, constants),
        NoState::SolverUndecided => ConstantsError::SolverUndecided(test.iosts.initial_condition.to_string()),
    })
}

/// Finds the first part of the initial condition that these constants violate, or else returns all of it.
/// Variables that an earlier part determines, as in `vLeft == cTries`, are replaced.
fn find_violated(test: &TestCase, constants: &Valuation) -> ConstantsError {
    let condition = &test.iosts.initial_condition;
    let (with_constants, mut determined) = (literals(constants), Substitution::new());
    let error = |part: &Term, needs: &Term| {
        let mentioned = constants.iter().filter(|(datum, _)| needs.mentions(datum));
        let given: Vec<String> = mentioned.map(|(datum, value)| format!("{datum} = {value}")).collect();
        let (part, needs) = (part.to_string(), needs.to_string());
        ConstantsError::Unsatisfiable { given: given.join(", "), part, needs }
    };
    let definition = |(side, term): (&Term, &Term)| {
        let variable = side.written_datum().filter(|datum| test.iosts.variables.contains(datum))?;
        (!term.mentions(variable)).then(|| Substitution::from([(variable.clone(), term.clone())]))
    };
    for part in condition.conjuncts() {
        let needs = substitute(&part, &determined);
        if substitute(&needs, &with_constants).is_false() {
            return error(&part, &needs);
        }
        if let Some(Node::Compare(Comparison::Equal, a, b)) = needs.written()
            && let Some(new) = definition((a, b)).or_else(|| definition((b, a)))
        {
            determined.values_mut().for_each(|term| *term = substitute(term, &new));
            determined.extend(new);
        }
    }
    error(condition, condition)
}
