//! The guards say what the published formulas say, wherever the path can have come: a solver is asked, about
//! the whole path and without any simplification.
//!
//! The oracle is Definition 2 as it stands: symbolic execution of the delayed form from the beginning,
//! `∃ F_ini. π(ec')` over all symbols of the path. A register of the test case stands for the term over these
//! symbols that the assignments along the path give it.

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Answer, Solver};
use coreach_analyses::symbolic::eliminate::eliminate_data;
use coreach_analyses::symbolic::{SymbolicState, System, symbol};
use coreach_model::term::{Substitution, substitute};
use coreach_model::timed::Timed;
use coreach_model::timed::delayed::delayed;
use coreach_model::{Datum, LocationId, Term, TransitionId};
use coreach_pipeline::timed::{PathGuided, Rule, TimedOptions, resolve};

use super::support::{PURPOSE, atm, model, of, options};

/// Holds every guard of the test case against the formula that the publication has for it. Returns how many
/// were compared.
fn compared(timed: &Timed, path: &str, options: &TimedOptions) -> usize {
    let made = of(timed, path, options).unwrap();
    held(timed, &resolve(timed, path).unwrap(), &made).unwrap()
}

/// The same; nothing where a formula cannot be said without a quantifier.
pub fn held(timed: &Timed, path: &[TransitionId], made: &PathGuided) -> Option<usize> {
    let form = delayed(timed).unwrap();
    let system = System::new(&form.iosts);
    let unknown = &form.iosts.variables;
    let mut solver = Z3Solver::default();
    let mut state = SymbolicState::initial(&form.iosts);
    let mut registers = Substitution::new();
    let mut count = 0;
    for (depth, step) in path.iter().enumerate() {
        let here = LocationId(u32::try_from(depth).unwrap());
        let reached = eliminate_data(unknown, &state.condition)?;
        // π(ec') of a transition, over what is observed.
        let allowed = |number: TransitionId| match system.successor(&state, number) {
            Some((_, next)) => eliminate_data(unknown, &next.condition),
            None => Some(Term::no()),
        };
        let leaving = &system.outgoing[state.location];
        let of_action = |name: &str| -> Option<Vec<Term>> {
            let same = leaving
                .iter()
                .filter(|number| form.iosts.action(form.iosts.transitions[**number].action).name == name);
            same.map(|number| allowed(*number)).collect()
        };
        let delay = symbol(&form.delay, depth);
        let zero = Term::int(0).to_real();
        let at_least =
            |a: &Term, b: &Term| Term::compare(coreach_model::term::node::Comparison::AtLeast, a, b);
        let late = at_least(&Term::datum(&delay), &made.timing.silence_after);
        let leaving_here = made.iosts.transitions.numbered().filter(|(_, t)| t.source == here);
        for (number, transition) in leaving_here {
            let action = made.iosts.action(transition.action);
            let mut standing = registers.clone();
            for parameter in &action.parameters {
                standing.insert(parameter.clone(), Term::datum(&symbol(parameter, depth)));
            }
            let guard = substitute(&transition.guard, &standing);
            let by = made.made_by[number];
            let formula = match by.rule {
                Rule(1) => ahead(&system, &state, &path[depth..], unknown)?,
                Rule(2 | 3 | 6) => Term::and([late.not(), allowed(by.through.unwrap())?]),
                // Of two that overlap, the first takes it: compared where there is one.
                Rule(4 | 7) => Term::and([late.not(), allowed(by.through.unwrap())?]),
                Rule(5 | 8) => Term::and([late.not(), Term::or(of_action(&action.name)?).not()]),
                _ => continue,
            };
            let formula = Term::and([at_least(&Term::datum(&delay), &zero), formula]);
            // Of several beside the path that one event may take, the first takes it: the others say less.
            let says_less = matches!(by.rule, Rule(4 | 7)) && of_action(&action.name)?.len() > 1;
            let lost = if says_less { Term::no() } else { Term::and([guard.not(), formula.clone()]) };
            for differ in [Term::and([guard.clone(), formula.not()]), lost] {
                let asked = [reached.clone(), differ];
                let answer = solver.check(&asked);
                assert_ne!(answer, Answer::Sat, "ec{depth} {} {guard}", by.rule);
                if answer == Answer::Unknown {
                    return None;
                }
            }
            count += 1;
        }
        registers = after(made, here, &registers, depth);
        state = system.successor(&state, *step).unwrap().1;
    }
    Some(count)
}

/// φ_stim: all of the path, without what is not yet seen.
fn ahead(
    system: &System<'_>,
    state: &SymbolicState,
    rest: &[TransitionId],
    unknown: &[Datum],
) -> Option<Term> {
    let mut end = state.clone();
    let mut bound = unknown.to_vec();
    for (at, step) in rest.iter().enumerate() {
        let (taken, next) = system.successor(&end, *step).unwrap();
        if at > 0 {
            bound.extend(taken.parameters);
        }
        end = next;
    }
    eliminate_data(&bound, &end.condition)
}

/// The registers behind the path's step, as terms over the path's symbols.
fn after(made: &PathGuided, here: LocationId, registers: &Substitution, depth: usize) -> Substitution {
    let next = LocationId(here.0 + 1);
    let mut all = registers.clone();
    let step = made.iosts.transitions.iter().find(|t| t.source == here && t.target == next);
    let Some(step) = step else { return all };
    let mut standing = registers.clone();
    for parameter in &made.iosts.action(step.action).parameters {
        standing.insert(parameter.clone(), Term::datum(&symbol(parameter, depth)));
    }
    for (register, value) in &step.assignments {
        all.insert(register.clone(), substitute(value, &standing));
    }
    all
}

#[test]
fn the_cash_machine() {
    assert!(compared(&atm(), PURPOSE, &options("5")) >= 29);
    assert!(compared(&atm(), PURPOSE, &options("")) >= 29);
    assert!(compared(&atm(), "(tr1 tr2 tr3 tr4)*2", &options("5")) >= 58);
    assert!(compared(&atm(), "tr8,tr9,tr1,tr11,tr3,tr5,tr1,tr10", &options("5")) >= 40);
}

/// Unknown data that are tied to each other, to what was observed, and are found out late or never; more than
/// one step of memory.
#[test]
fn unknown_data() {
    let text = "
iosts: unknown
clocks: [w, v]
constants: { c: int }
variables: { a: int, b: int, last: int, t: real, old: nat }
initial: { location: q0, condition: a < b && c >= 0 }
inputs: { In: { p: int } }
outputs: { Out: { r: int }, Sum: { s: int }, Tick: {}, Late: {} }
transitions:
  - { name: in, from: q0, to: q1, on: In, when: p >= c, reset: [w], assign: { last: p } }
  - { name: out, from: q1, to: q0, on: Out, when: r <= a && w <= t && r > last, assign: { last: last + r } }
  - { name: sum, from: q1, to: q2, on: Sum, when: s == a + b && v > w, reset: [v], assign: { old: 3 } }
  - { name: tick, from: q2, to: q0, on: Tick, when: v < t && b > last + 2, assign: { a: a + 1, b: b - last } }
  - { name: late, from: q2, to: q0, on: Late, when: v >= t }
";
    let unknown = model(text);
    for path in [
        "in,out",
        "in,sum",
        "in,out,in,out",
        "in,out,in,sum,tick",
        "in,sum,tick,in,sum",
        "in,sum,late,in,out,in,sum,tick",
    ] {
        let count = compared(&unknown, path, &options("4"));
        assert!(count >= 4, "{path}: {count}");
    }
}
