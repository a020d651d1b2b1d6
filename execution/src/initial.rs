//! The states in which a run, a walk or a simulated implementation begins, given the symbolic constants.
//!
//! **Problem.** The model format promises that an initial condition which *determines* the variables is
//! enough, whatever its form: `x - 1 == 0`, `r.weight == 3`, `x + y == 5 && x - y == 1`. [`initial_states`]
//! computes the form `v == e`, and lists the values of types with finitely many. For other forms, and for
//! types with many values, it finds nothing. **Here** the solver is asked then. One answer is enough: a
//! variable that the condition leaves open is written before it is read (Definition 4.19), so states that
//! differ in it are the same for a run.
//!
//! **Sound**: the solver's answer is evaluated here once more. **Ends** as the solver does.

use coreach_analyses::solver::{Solver, Witness};
use coreach_model::limits::MOST_STATES;
use coreach_model::semantics::{InitialError, State, initial_states, is_initial};
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::{literals, substitute};
use coreach_model::{Datum, Iosts, Value};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoState {
    /// There is no state: a constant has no value that fits, or the initial condition cannot hold.
    None,
    /// The solver does not know.
    SolverUndecided,
}

impl NoState {
    pub fn text(self) -> &'static str {
        match self {
            NoState::None => "no initial state satisfies the initial condition",
            NoState::SolverUndecided => {
                "no initial state was found, and the solver does not know whether there is one"
            }
        }
    }
}

/// Finds initial states with these constants, at least one; all of them if they are within the limit.
pub fn states(
    iosts: &Iosts,
    constants: &Valuation,
    limit: usize,
    solver: &mut dyn Solver,
) -> Result<Vec<State>, NoState> {
    match initial_states(iosts, constants, limit) {
        Ok(states) if !states.is_empty() => return Ok(states),
        Ok(_) | Err(InitialError::TooMany) => {}
        Err(InitialError::Constant(_)) => return Err(NoState::None),
    }
    let with_value = |datum: &Datum| Some((datum.clone(), constants.get(datum)?.clone()));
    let mut valuation: Valuation = iosts.constants.iter().filter_map(with_value).collect();
    let condition = substitute(&iosts.initial_condition, &literals(&valuation));
    let mut solution = match solver.witness(&condition.conjuncts()) {
        Witness::Found(values) => values,
        Witness::None => return Err(NoState::None),
        Witness::Unknown => return Err(NoState::SolverUndecided),
    };
    for datum in &iosts.variables {
        // A datum that the condition does not mention may have any value.
        let value = solution.remove(datum).unwrap_or_else(|| Value::any(datum.ty()));
        valuation.insert(datum.clone(), value);
    }
    let state = State { location: iosts.initial, valuation };
    let is_proved =
        state.valuation.iter().all(|(datum, value)| value.is_in(datum.ty())) && is_initial(iosts, &state);
    if is_proved { Ok(vec![state]) } else { Err(NoState::SolverUndecided) }
}

/// Finds one initial state with these constants.
pub fn first(iosts: &Iosts, constants: &Valuation, solver: &mut dyn Solver) -> Result<State, NoState> {
    // Any state will do: open variables are written before they are read (Definition 4.19).
    states(iosts, constants, MOST_STATES, solver)?.into_iter().next().ok_or(NoState::None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use coreach_model::reader::{from_bytes, read_specification};

    use super::*;
    use crate::lazy::Lazy;

    fn states_of(variables: &str, condition: &str) -> Result<Vec<State>, NoState> {
        let text = format!(
            "
iosts: m
types: {{ Box: {{ w: int }}, Digit: 'int[0..9]', Wide: 'int[0..1000000]' }}
variables: {{ {variables} }}
initial: {{ location: A, condition: {condition:?} }}
outputs: {{ Out: {{}} }}
transitions: [{{ from: A, to: A, on: Out }}]
"
        );
        let file = from_bytes("m".to_owned(), text.into_bytes()).unwrap();
        let iosts = read_specification(file).unwrap().0.iosts;
        states(&iosts, &Valuation::new(), 1000, &mut Lazy::default())
    }

    #[test]
    fn whatever_form_an_initial_condition_has_its_state_is_found() {
        for (variables, condition, expected) in [
            ("x: int", "x - 1 == 0", "x=1"),
            ("x: int", "x >= 5 && x <= 5", "x=5"),
            ("x: real", "x + 1 == 1.5", "x=1/2"),
            ("x: int, y: int", "x + y == 5 && x - y == 1", "x=3 y=2"),
            ("x: Wide", "2 * x == 10", "x=5"),
            ("r: Box", "r.w == 3", "r={w: 3}"),
        ] {
            let states = states_of(variables, condition).unwrap();
            let values: Vec<String> =
                states[0].valuation.iter().map(|(datum, value)| format!("{datum}={value}")).collect();
            assert_eq!((states.len(), values.join(" ").as_str()), (1, expected), "{condition}");
        }
        // Open, and of more values than are listed: an array that an input brings.
        for (variables, condition) in [
            ("a: 'array[Digit] of Digit'", "true"),
            ("a: 'array[Digit] of Digit'", "a[0] == 1"),
            ("a: 'array[bool] of int'", "a[true] == 1 && a[false] == 2"),
            ("x: Wide", "x >= 7"),
        ] {
            assert_eq!(states_of(variables, condition).unwrap().len(), 1, "{condition}");
        }
    }

    #[test]
    fn where_there_is_no_state_that_is_said() {
        for (variables, condition) in [("x: int", "x + x == 1"), ("x: Wide", "x - 1 == 1000000")] {
            assert_eq!(states_of(variables, condition), Err(NoState::None), "{condition}");
        }
    }
}
