//! Initialized (thesis, Definition 4.19, p. 92): each instance has at most one initial state.
//!
//! The thesis asks that UNSAT(Θ(v,c) ∧ Θ(v',c) ∧ v ≠ v') for all variables. We ask it only of the variables
//! that some path may *read before it writes them*. The initial values of the others cannot be observed, and
//! models in use leave them open. A purpose's observed data are among its constants, so they are fixed on
//! both sides.
//!
//! A variable is read before it is written if it is live at the initial location: in the least solution of
//! `live(l) = ⋃ { reads(t) ∪ (live(target(t)) \ writes(t)) | t leaves l }`, on the graph of locations and
//! without asking whether guards are satisfiable. An identity is not a read: a variable that is merely kept
//! is live exactly if it is live afterwards. Reads on the right side of an assignment count, also if the
//! assigned variable is never used.
//!
//! We solve it backwards from the reads, for as many variables at once as a machine word has bits: a location
//! goes back to the work list when its word has grown, so at most once per bit. This costs one pass over the
//! guards and assignments, and at most |variables| · |transitions| steps. Mostly it is |variables| / 64
//! passes, since the bits of a word travel together. Then there is one query per variable that was found.

use std::collections::{BTreeSet, HashMap, VecDeque};

use coreach_model::excerpt::shortened;
use coreach_model::limits::MANY_SHOWN;
use coreach_model::obligation::defined;
use coreach_model::reader::collect::listed;
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, Diagnostic, Iosts, LocationId, Numbered, Term, Transition, TransitionId, Type};

use super::show;
use crate::solver::{Answer, Solver, Witness};

/// Gives errors `not-initialized` and `no-initial-state`, or a warning if the solver could not decide.
pub fn check(iosts: &Iosts, solver: &mut dyn Solver) -> Vec<Diagnostic> {
    let condition = Term::and([defined(&iosts.initial_condition), iosts.initial_condition.clone()]);
    match solver.check(std::slice::from_ref(&condition)) {
        Answer::Unsat => {
            let message = format!("no initial state of `{}` satisfies the initial condition", iosts.name);
            return vec![
                Diagnostic::error("no-initial-state", message)
                    .at(iosts.origin.clone(), "cannot hold")
                    .help("data only take values of their declared types: is a type too narrow, or do two conditions exclude each other?"),
            ];
        }
        Answer::Unknown => {
            let message = format!("could not decide whether `{}` has an initial state", iosts.name);
            return vec![
                Diagnostic::warning("initial-state-undecided", message)
                    .at(iosts.origin.clone(), "the solver does not know whether this can hold"),
            ];
        }
        Answer::Sat => {}
    }
    // For each variable: can two valuations that satisfy the condition differ in it?
    let copy = |variable: &Datum| (variable.clone(), Term::datum(&second_copy(variable)));
    let copies: Substitution = iosts.variables.iter().map(copy).collect();
    let twice = [condition.clone(), substitute(&condition, &copies)];
    let (mut open, mut undecided, mut shown) = (Vec::new(), Vec::new(), None);
    let mut is_cut = false;
    for variable in read_before_written(iosts) {
        // Each variable costs a query. A user who forgot so many variables forgot all of them.
        is_cut = open.len() + undecided.len() == MANY_SHOWN;
        if is_cut {
            break;
        }
        let differs = Term::equal(&Term::datum(&variable), &Term::datum(&second_copy(&variable))).not();
        match solver.witness(&[&twice[..], &[differs]].concat()) {
            Witness::None => {}
            Witness::Unknown => undecided.push(variable),
            Witness::Found(valuation) => {
                open.push(variable.clone());
                shown.get_or_insert((variable, valuation));
            }
        }
    }
    let mut diagnostics = Vec::new();
    let name_all = |variables: &[Datum]| {
        listed(variables.iter().map(Datum::name)) + if is_cut { ", perhaps others" } else { "" }
    };
    if let Some((variable, valuation)) = shown {
        let are_read = if open.len() > 1 { "are read before they are" } else { "is read before it is" };
        let message =
            format!("the initial condition does not determine {}, which {are_read} written", name_all(&open));
        let diagnostic = explain_open(iosts, message, &variable, &valuation);
        diagnostics.push(diagnostic.help(suggest_condition(iosts, &open, is_cut)));
    }
    if !undecided.is_empty() {
        let message =
            format!("could not decide whether the initial condition determines {}", name_all(&undecided));
        diagnostics.push(
            Diagnostic::warning("initialized-undecided", message)
                .at(iosts.origin.clone(), "the solver does not know"),
        );
    }
    diagnostics
}

/// The variables that some path from the initial location reads before it writes them, in order.
pub fn read_before_written(iosts: &Iosts) -> BTreeSet<Datum> {
    let numbers: HashMap<&Datum, usize> = iosts.variables.iter().zip(0..).collect();
    let mut words: Vec<VariableWord> = Vec::new();
    words.resize_with(iosts.variables.len().div_ceil(64), VariableWord::default);
    let mut incoming = Numbered::filled(Vec::new(), iosts.locations.len());
    for (id, transition) in iosts.transitions.numbered() {
        for number in read_data(transition).iter().filter_map(|datum| numbers.get(datum)) {
            set_bit(&mut words[number / 64].reads, id, number % 64);
        }
        for number in transition.assignments.keys().filter_map(|datum| numbers.get(datum)) {
            set_bit(&mut words[number / 64].writes, id, number % 64);
        }
        incoming[transition.target].push(id);
    }
    let at_start: Vec<u64> = words.iter().map(|word| live_at_start(iosts, &incoming, word)).collect();
    let is_live = |number: usize| at_start[number / 64] >> (number % 64) & 1 == 1;
    let live = iosts.variables.iter().zip(0..).filter(|(_, number)| is_live(*number));
    live.map(|(datum, _)| datum.clone()).collect()
}

/// Finds a shortest path whose last transition reads the variable, and whose other transitions do not assign
/// it. `None` if no path does.
fn find_read<'a>(iosts: &'a Iosts, variable: &Datum) -> Option<Vec<&'a Transition>> {
    let outgoing = iosts.outgoing();
    // The transition by which the search first came to each location.
    let mut first_steps = Numbered::filled(None::<&Transition>, iosts.locations.len());
    let mut open = VecDeque::from([iosts.initial]);
    while let Some(location) = open.pop_front() {
        for step in outgoing[location].iter().map(|number| &iosts.transitions[*number]) {
            if read_data(step).contains(variable) {
                let before = |step: &&'a Transition| first_steps[step.source];
                let mut path: Vec<&Transition> = std::iter::successors(Some(step), before).collect();
                path.reverse();
                return Some(path);
            }
            let is_new = step.target != iosts.initial && first_steps[step.target].is_none();
            if is_new && !step.assignments.contains_key(variable) {
                first_steps[step.target] = Some(step);
                open.push_back(step.target);
            }
        }
    }
    None
}

/// What the transitions do to 64 variables. Each transition that reads or writes some of them is listed once,
/// in order, with a bit for each of these variables.
#[derive(Default)]
struct VariableWord {
    reads: Vec<(TransitionId, u64)>,
    writes: Vec<(TransitionId, u64)>,
}

/// Sets a bit of a transition. It is the last one in the list, or comes after it.
fn set_bit(list: &mut Vec<(TransitionId, u64)>, transition: TransitionId, bit: usize) {
    match list.last_mut() {
        Some((last, bits)) if *last == transition => *bits |= 1 << bit,
        _ => list.push((transition, 1 << bit)),
    }
}

/// Finds which of the word's variables are live at the initial location. `incoming` lists the transitions
/// into each location.
fn live_at_start(
    iosts: &Iosts,
    incoming: &Numbered<LocationId, Vec<TransitionId>>,
    word: &VariableWord,
) -> u64 {
    if word.reads.is_empty() {
        return 0;
    }
    let mut live = Numbered::filled(0u64, iosts.locations.len());
    let mut open_locations = Vec::new();
    for (transition, bits) in &word.reads {
        let source = iosts.transitions[*transition].source;
        live[source] |= bits;
        open_locations.push(source);
    }
    while let Some(location) = open_locations.pop() {
        for &transition in &incoming[location] {
            let written = match word.writes.binary_search_by_key(&transition, |(writing, _)| *writing) {
                Ok(place) => word.writes[place].1,
                Err(_) => 0,
            };
            let source = iosts.transitions[transition].source;
            let grown = live[source] | live[location] & !written;
            if grown != live[source] {
                live[source] = grown;
                open_locations.push(source);
            }
        }
    }
    live[iosts.initial]
}

/// Lists the data that a transition reads. `x := x` reads nothing.
fn read_data(transition: &Transition) -> BTreeSet<Datum> {
    let mut data = transition.guard.data();
    for (variable, value) in &transition.assignments {
        if value.as_datum() != Some(variable) {
            data.extend(value.data());
        }
    }
    data
}

/// The second copy of a variable. Names of users contain no `!`.
fn second_copy(variable: &Datum) -> Datum {
    Datum::new(format!("{}!other", variable.name()), variable.ty().clone())
}

/// Suggests an equation for a variable. `None`: no value is more likely than another.
fn suggest_equation(variable: &Datum) -> Option<String> {
    let value = match variable.ty() {
        Type::Int | Type::Nat | Type::Real => "0".to_owned(),
        Type::String => "\"\"".to_owned(),
        Type::Bool => "false".to_owned(),
        Type::Range(low, _) => low.to_string(),
        Type::Enum(enumeration) => enumeration.literals[0].clone(),
        Type::Id(name) => format!("(\"0\": {name})"),
        Type::Array(_) | Type::Record(_) => return None,
    };
    Some(format!("{variable} == {value}"))
}

/// Makes the error that a variable has no initial value: with two initial valuations that differ in it, of
/// which `valuation` has the values, and where it is read.
fn explain_open(iosts: &Iosts, message: String, variable: &Datum, valuation: &Valuation) -> Diagnostic {
    let (first, second) = split_witness(iosts, valuation);
    let diagnostic = Diagnostic::error("not-initialized", message)
        .at(iosts.origin.clone(), "leaves the initial value open")
        .note(format!("one initial valuation: {}", show(&first)))
        .note(format!("another: {}", show(&second)));
    let Some(path) = find_read(iosts, variable) else { return diagnostic };
    let steps: Vec<String> = path.iter().map(|step| format!("`{}`", iosts.describe(step))).collect();
    let origin = path.last().and_then(|step| step.origin.guard.clone().or(step.origin.whole.clone()));
    let steps = shortened(&steps.join(", "));
    diagnostic
        .at(origin, format!("`{variable}` is read here"))
        .note(format!("on the way to it, nothing assigns `{variable}`: {steps}"))
}

/// Writes an initial condition with an equation for each of these variables. One equation is the example if
/// others are missing.
fn suggest_condition(iosts: &Iosts, variables: &[Datum], is_cut: bool) -> String {
    let equations: Vec<Option<String>> = variables.iter().map(suggest_equation).collect();
    let all: Option<Vec<&str>> = equations.iter().map(Option::as_deref).collect();
    match all.filter(|_| iosts.initial_condition.is_true() && !is_cut) {
        Some(all) => {
            let all = all.join(" && ");
            // YAML takes `: ` as the end of a key.
            let quote = if all.contains(": ") { "'" } else { "" };
            format!(
                "write `initial: {{ location: {}, condition: {quote}{all}{quote} }}`, with the values at the beginning",
                iosts.location(iosts.initial).name
            )
        }
        None => {
            let example = equations.iter().flatten().next().map(|one| format!(", for example `{one}`"));
            let each = if variables.len() > 1 { "each variable" } else { "it" };
            format!(
                "add an equation for {each}{}, or assign it before it is read",
                example.unwrap_or_default()
            )
        }
    }
}

/// Splits a witness into the two valuations. A datum that the condition does not mention is left out.
fn split_witness(iosts: &Iosts, valuation: &Valuation) -> (Valuation, Valuation) {
    let (mut first, mut second) = (Valuation::new(), Valuation::new());
    for datum in iosts.constants.iter().chain(&iosts.variables) {
        if let Some(value) = valuation.get(datum) {
            first.insert(datum.clone(), value.clone());
        }
        if let Some(value) = valuation.get(&second_copy(datum)).or_else(|| valuation.get(datum)) {
            second.insert(datum.clone(), value.clone());
        }
    }
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::super::builder::{Build, int};
    use super::*;
    use crate::solver::z3::Z3Solver;
    use coreach_model::term::node::Comparison::{AtLeast, Greater, Less};
    use coreach_model::{Type, Value};

    fn codes(iosts: &Iosts) -> Vec<&'static str> {
        check(iosts, &mut Z3Solver::default()).into_iter().map(|found| found.code).collect()
    }

    /// Example 4.13: `vPaid` is read in a guard.
    fn example(condition: Term) -> Build {
        let (paid, price) = (int("vPaid"), int("cPrice"));
        Build::new(&["l0", "l1"])
            .constant("cPrice", Type::Int)
            .variable("vPaid", Type::Int)
            .initially(condition)
            .step("l0", "l1", Term::compare(AtLeast, &paid, &price), [])
    }

    fn positive_price() -> Term {
        Term::compare(Greater, &int("cPrice"), &Term::int(0))
    }

    #[test]
    fn example_4_13() {
        let (paid, price) = (int("vPaid"), int("cPrice"));
        assert!(codes(&example(Term::and([positive_price(), Term::equal(&paid, &price)])).done()).is_empty());
        let open = Term::and([positive_price(), Term::compare(AtLeast, &paid, &price)]);
        let found = check(&example(open).done(), &mut Z3Solver::default());
        assert_eq!(found[0].code, "not-initialized");
        assert!(found[0].is_error() && found[0].notes.len() == 3 && found[0].notes[0] != found[0].notes[1]);
        assert!(found[0].notes[1].contains("cPrice = "), "{:?}", found[0].notes);
    }

    #[test]
    fn an_empty_initial_condition_is_an_error() {
        let never = Term::and([positive_price(), Term::compare(Less, &int("cPrice"), &Term::int(1))]);
        assert_eq!(codes(&example(never).done()), ["no-initial-state"]);
    }

    #[test]
    fn what_is_written_first_may_be_left_open() {
        let paid = int("vPaid");
        let read = Term::compare(Greater, &paid, &Term::int(0));
        let build = || Build::new(&["l0", "l1", "l2"]).variable("vPaid", Type::Int);
        let written = build().step("l0", "l1", Term::yes(), [("vPaid", Term::int(0))]);
        let written = written.step("l1", "l2", read.clone(), []);
        assert!(codes(&written.clone().done()).is_empty());
        // Kept, then read: a kept variable is not a written one.
        let kept = build().step("l0", "l1", Term::yes(), []).step("l1", "l2", read.clone(), []);
        let found = check(&kept.done(), &mut Z3Solver::default());
        assert_eq!(found[0].code, "not-initialized");
        assert!(found[0].notes[2].contains("nothing assigns `vPaid`: `l0 -"), "{:?}", found[0].notes);
        assert!(found[0].notes[2].contains("-> l1`, `l1 -"), "{:?}", found[0].notes);
        // Written on one path only.
        let around = written.step("l0", "l1", Term::yes(), []);
        assert_eq!(codes(&around.done()), ["not-initialized"]);
        // Read by its own assignment.
        let counted = build().step("l0", "l1", Term::yes(), [("vPaid", Term::add(&paid, &Term::int(1)))]);
        assert_eq!(codes(&counted.done()), ["not-initialized"]);
        // Read only where no path leads from the initial location.
        let unreachable = build().step("l1", "l2", read, []);
        assert!(codes(&unreachable.done()).is_empty());
    }

    /// More variables than a word has bits, around a ring: each is read at one place and written at the next.
    #[test]
    fn each_of_many_variables_is_judged_by_itself() {
        let names: Vec<String> = (0..150).map(|at| format!("l{at:03}")).collect();
        let locations: Vec<&str> = names.iter().map(String::as_str).collect();
        let variable = |at: usize| format!("v{at:03}");
        let mut build = Build::new(&locations);
        for at in 0..150 {
            build = build.variable(&variable(at), Type::Int);
        }
        for at in 0..150 {
            // Step 149 reads what step 0 wrote; the others read what has not been written yet.
            let (read, written) = (int(&variable((at + 1) % 150)), variable(at));
            let guard = Term::compare(Greater, &read, &Term::int(0));
            build = build.step(&names[at], &names[(at + 1) % 150], guard, [(&written, Term::int(0))]);
        }
        let read: Vec<String> = read_before_written(&build.done()).iter().map(Datum::to_string).collect();
        assert_eq!(read, (1..150).map(variable).collect::<Vec<_>>());
    }

    #[test]
    fn several_variables_are_named_up_to_a_limit() {
        for (count, message, help) in [
            (1, "`v00`, which is read before it is written", "condition: v00 == 0 }`"),
            (2, "`v00` and `v01`, which are read before they are written", "v00 == 0 && v01 == 0 }`"),
            (
                21,
                "`v10` and 9 more, perhaps others, which are read",
                "for each variable, for example `v00 == 0`",
            ),
        ] {
            let names: Vec<String> = (0..count).map(|at| format!("v{at:02}")).collect();
            let build = names.iter().fold(Build::new(&["l"]), |build, name| build.variable(name, Type::Int));
            let guard = Term::and(names.iter().map(|name| Term::compare(Greater, &int(name), &Term::int(0))));
            let found = check(&build.step("l", "l", guard, []).done(), &mut Z3Solver::default());
            assert!(found[0].message.contains(message), "{}", found[0].message);
            assert!(found[0].help.as_ref().is_some_and(|text| text.contains(help)), "{:?}", found[0].help);
        }
    }

    #[test]
    fn a_type_of_one_value_needs_no_equation() {
        let only = Type::Range(4.into(), 4.into());
        let read = Term::equal(&Term::datum(&Datum::new("v", only.clone())), &Term::literal(Value::int(4)));
        let iosts = Build::new(&["l0"]).variable("v", only).step("l0", "l0", read, []).done();
        assert!(codes(&iosts).is_empty());
    }

    #[test]
    fn an_undecided_condition_is_a_warning() {
        let cube = |name: &str| Term::multiply(&Term::multiply(&int(name), &int(name)), &int(name));
        let sum = Term::add(&Term::add(&cube("a"), &cube("b")), &cube("c"));
        let iosts = Build::new(&["l0"])
            .constant("a", Type::Int)
            .constant("b", Type::Int)
            .constant("c", Type::Int)
            .initially(Term::equal(&sum, &Term::int(33)))
            .done();
        let mut solver =
            Z3Solver::new(crate::solver::z3::QueryLimits { rlimit: 20_000, milliseconds: 2_000 });
        let found = check(&iosts, &mut solver);
        assert_eq!((found[0].code, found[0].is_error()), ("initial-state-undecided", false));
    }
}
