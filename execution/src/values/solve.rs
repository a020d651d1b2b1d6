//! Values from the solver: diverse ones in a random window, and any values if nothing else helps.

use coreach_analyses::solver::{Solver, Witness};
use coreach_model::random::Random;
use coreach_model::term::node::Comparison;
use coreach_model::{Datum, Term, Type, Value};
use dashu_int::IBig;

use crate::values::draw;
use crate::values::records::as_variant;
use crate::values::source::Pick;

/// Draws a window for each integer parameter, and an alternative for each variant and option. Otherwise the
/// solver would give the first alternative every time.
pub fn pivots(parameters: &[Datum], random: &mut Random) -> Vec<Term> {
    let draw = |datum: &Datum| match datum.ty() {
        ty if ty.is_integer() => Some(pivot(datum, random)),
        ty => as_variant(ty).map(|record| {
            let tag = draw::any(&record.fields[0].1, random);
            Term::equal(&Term::field(&Term::datum(datum), 0), &Term::literal(tag))
        }),
    };
    parameters.iter().filter_map(draw).collect()
}

/// Finds values that satisfy the condition: first in all of these windows, then in one of them, then any.
/// `None`: there are none, or the solver does not know.
pub fn solve_for_values(
    condition: &Term,
    mut pivots: Vec<Term>,
    parameters: &[Datum],
    random: &mut Random,
    solver: &mut dyn Solver,
) -> Option<(Vec<Value>, Pick)> {
    let conjuncts = condition.conjuncts();
    while !pivots.is_empty() {
        let mut formula = conjuncts.clone();
        formula.extend(pivots.iter().cloned());
        if let Some(values) = ask_for_values(&formula, parameters, random, solver) {
            return Some((values, Pick::Diverse));
        }
        if pivots.len() == 1 {
            break;
        }
        pivots.truncate(1);
    }
    Some((ask_for_values(&conjuncts, parameters, random, solver)?, Pick::Witness))
}

/// Asks the solver for values of the parameters. `None` if there are none, or if it does not know.
fn ask_for_values(
    formula: &[Term],
    parameters: &[Datum],
    random: &mut Random,
    solver: &mut dyn Solver,
) -> Option<Vec<Value>> {
    let Witness::Found(solution) = solver.witness(formula) else { return None };
    // A datum that the condition does not mention may have any value.
    let value = |datum: &Datum| solution.get(datum).cloned().unwrap_or_else(|| draw::any(datum.ty(), random));
    Some(parameters.iter().map(value).collect())
}

/// Draws the condition that the parameter lies in a window, whose size is drawn first. One bound alone would
/// not do: the solver goes to the end that is nearest to 0, every time.
fn pivot(datum: &Datum, random: &mut Random) -> Term {
    let (low, width) = match datum.ty() {
        Type::Range(least, most) => {
            let Value::Int(low) = draw::any(datum.ty(), random) else { return Term::yes() };
            (low, (most - least) / IBig::from(8))
        }
        _ => {
            let size = (random.bits() >> random.between((48, 63))) as i64;
            let low = if random.below(3) == 0 { -size } else { size };
            (IBig::from(low), IBig::from(size / 2 + 7))
        }
    };
    let datum = Term::datum(datum);
    Term::and([
        Term::compare(Comparison::AtMost, &Term::int(low.clone()), &datum),
        Term::compare(Comparison::AtMost, &datum, &Term::int(low + width)),
    ])
}
