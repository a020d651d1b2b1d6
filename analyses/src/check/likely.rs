//! Likely mistakes behind a warning: a small change of the text with which the warning would not be.
//!
//! **Method.** Users count from 1, take the end of a slice for its last index, or read a variable as if an
//! assignment next to it had been made. Each of these makes a changed transition. If the guard of that one
//! implies what the guard does not, the help shows the change. A change that does not help is not told, so
//! nothing is guessed. **Costs** a query or two for each of at most [`MOST`] operations.

use std::collections::HashMap;

use coreach_model::obligation::defined;
use coreach_model::term::node::{Comparison, Node, Operator, StringOperation};
use coreach_model::term::operation::{DerivedOperation, StandardOperation};
use coreach_model::term::{TermShape, list_subterms, replace, substitute};
use coreach_model::{Iosts, Term, Transition, Value};

use crate::solver::{Answer, Solver};

/// The most operations that are changed, and the most parts of a condition that are asked.
const MOST: usize = 16;

/// Explains an operation of the guard, or of the value assigned to the variable, that has no value in some
/// states. `helps` says whether a changed transition is as it is meant.
pub(super) fn explain_missing_value(
    transition: &Transition,
    variable: Option<&str>,
    helps: &mut dyn FnMut(&Transition) -> bool,
) -> Option<String> {
    let assigned = transition.assignments.iter().find(|(datum, _)| Some(datum.name()) == variable);
    let term = assigned.map_or(&transition.guard, |(_, value)| value);
    let mut change_helps = |changed: Term| {
        let mut changed_transition = transition.clone();
        match assigned {
            Some((datum, _)) => drop(changed_transition.assignments.insert(datum.clone(), changed)),
            None => changed_transition.guard = changed,
        }
        helps(&changed_transition)
    };
    let changes = list_subterms(vec![term.clone()]).into_iter().filter_map(|part| change_by_one(&part));
    for (operation, changed, help) in changes.take(MOST) {
        let whole = replace(term, HashMap::from([(operation, changed)]));
        if whole != *term && change_helps(whole) {
            return Some(help);
        }
    }
    // The other assignments, as if they had been made before it.
    let (datum, value) = assigned?;
    let mut others = transition.assignments.clone();
    others.remove(datum);
    let (old, new) =
        others.iter().find(|(other, new)| value.mentions(other) && new.as_datum() != Some(other))?;
    change_helps(substitute(value, &others)).then(|| {
        format!("all values are those before the step, also that of `{old}`: write `{new}` if you mean its new value")
    })
}

/// If the operation reads at an index or takes a slice: itself, the one with an index one lower or an end one
/// higher, and the help that names it.
fn change_by_one(operation: &Term) -> Option<(Term, Term, String)> {
    let one = Term::int(1);
    let explain_index = |list: &Term, index: &Term, changed: Term| {
        let element = match index {
            _ if *index == one => "the first element".to_owned(),
            _ if *index == length(list) => "the last element".to_owned(),
            _ => format!("the element before `{operation}`"),
        };
        (changed.clone(), format!("indices begin at 0: write `{changed}` if you mean {element}"))
    };
    let explain_end = |list: &Term, end: &Term, slice_to: &dyn Fn(Term) -> Term| {
        let later = match end.written() {
            Some(Node::Arithmetic(Operator::Subtract, whole, less)) if *less == one => whole.clone(),
            _ => Term::add(end, &one),
        };
        let (changed, is_whole) = (slice_to(later.clone()), later == length(list));
        let without_end = || changed.to_string().replace(&format!("..{later}]"), "..]");
        let text = if is_whole { without_end() } else { changed.to_string() };
        (
            changed,
            format!("the end of a slice is left out: write `{text}` if you mean it with its last element"),
        )
    };
    let (changed, help) = match operation.shape() {
        TermShape::Operation(DerivedOperation::Standard(StandardOperation::Element), arguments) => {
            let [list, index] = arguments.as_slice() else { return None };
            let lower = [list.clone(), Term::subtract(index, &one)];
            explain_index(list, index, Term::standard(StandardOperation::Element, lower))
        }
        TermShape::Operation(DerivedOperation::Standard(StandardOperation::Part), arguments) => {
            let [list, from, end] = arguments.as_slice() else { return None };
            let slice_to =
                |end: Term| Term::standard(StandardOperation::Part, [list.clone(), from.clone(), end]);
            explain_end(list, end, &slice_to)
        }
        TermShape::Node(Node::OnStrings(StringOperation::At, arguments)) => {
            let [text, index] = arguments.as_slice() else { return None };
            let lower = [text.clone(), Term::subtract(index, &one)];
            explain_index(text, index, Term::on_strings(StringOperation::At, &lower))
        }
        TermShape::Node(Node::OnStrings(StringOperation::Slice, arguments)) => {
            let [text, from, end] = arguments.as_slice() else { return None };
            let slice_to =
                |end: Term| Term::on_strings(StringOperation::Slice, &[text.clone(), from.clone(), end]);
            explain_end(text, end, &slice_to)
        }
        _ => return None,
    };
    Some((operation.clone(), changed, help))
}

/// The length of a string or a list.
fn length(term: &Term) -> Term {
    if term.sort().as_list().is_some() { Term::field(term, 0) } else { term.length() }
}

/// Leaves out what the guard implies of a condition, and the alternatives that it excludes. With the result
/// at its start, the guard means the same as with the condition. `guard` says that it holds.
pub(super) fn shorten_condition(condition: &Term, guard: &[Term], solver: &mut dyn Solver) -> Term {
    let mut excludes =
        |part: &Term| solver.check(&[guard, std::slice::from_ref(part)].concat()) == Answer::Unsat;
    let parts = condition.conjuncts();
    if parts.len() > MOST {
        return condition.clone();
    }
    let not_implied: Vec<Term> = parts.into_iter().filter(|part| !excludes(&part.not())).collect();
    let shorter = not_implied.iter().map(|part| {
        let alternatives = part.disjuncts();
        if !(2..=MOST).contains(&alternatives.len()) {
            return part.clone();
        }
        let possible = Term::or(alternatives.into_iter().filter(|one| !excludes(one)));
        // What is left must have a value before the guard is read.
        if defined(&possible).is_true() && !possible.is_false() { possible } else { part.clone() }
    });
    let shorter: Vec<Term> = shorter.collect();
    if shorter.is_empty() { condition.clone() } else { Term::and(shorter) }
}

/// Explains why a guard is never true: the parts of it that suffice for this, and the help for an equation
/// that is meant as an assignment, or for a slice and a text of different lengths.
pub(super) fn explain_contradiction(
    iosts: &Iosts,
    transition: &Transition,
    solver: &mut dyn Solver,
) -> (Option<String>, Option<String>) {
    let all = transition.guard.conjuncts();
    if all.len() > MOST {
        return (None, None);
    }
    let mut is_never = |parts: &[Term]| {
        let part = Term::and(parts.iter().cloned());
        solver.check(&[defined(&part), part]) == Answer::Unsat
    };
    let mut core = match all.iter().find(|one| is_never(std::slice::from_ref(one))) {
        Some(alone) => vec![alone.clone()],
        None => all.clone(),
    };
    let mut place = 0;
    while core.len() > 1 && place < core.len() {
        let fewer = [&core[..place], &core[place + 1..]].concat();
        if is_never(&fewer) {
            core = fewer;
        } else {
            place += 1;
        }
    }
    let text = core.iter().map(|part| format!("`{part}`")).collect::<Vec<String>>().join(" and ");
    let note = (core.len() < all.len()).then(|| match core.len() {
        1 => format!("{text} alone is never true"),
        _ => format!("these parts exclude each other: {text}"),
    });
    let assigned = core.iter().find_map(|part| explain_assignment(iosts, transition, part));
    (note, assigned.or_else(|| core.iter().find_map(explain_lengths)))
}

/// Explains an equation of a variable that is meant as an assignment: it has the variable on both sides, or
/// the guard is written with `=`.
fn explain_assignment(iosts: &Iosts, transition: &Transition, part: &Term) -> Option<String> {
    let Some(Node::Compare(Comparison::Equal, a, b)) = part.written() else { return None };
    let variable = a.as_datum().filter(|datum| iosts.variables.contains(datum))?;
    let written =
        transition.origin.guard.as_ref().and_then(|origin| origin.file.text.get(origin.span.clone()));
    if !b.mentions(variable) && !written.is_some_and(|text| text.contains(&format!("{variable} = "))) {
        return None;
    }
    let value = b.to_string();
    let is_plain = value.chars().all(|c| c.is_alphanumeric() || "_ +-*/.".contains(c));
    let value = if is_plain { value } else { format!("'{}'", value.replace('\'', "''")) };
    Some(format!(
        "a guard only compares, with `=` as with `==`: to set `{variable}`, write `assign: {{ {variable}: {value} }}` beside \
         `when`, and take this part out"
    ))
}

/// Explains an equation of a slice with a text of another length.
fn explain_lengths(part: &Term) -> Option<String> {
    let Some(Node::Compare(Comparison::Equal, a, b)) = part.written() else { return None };
    let (slice, literal) = if a.as_literal().is_some() { (b, a) } else { (a, b) };
    let (Some(Value::String(text)), Some(Node::OnStrings(StringOperation::Slice, arguments))) =
        (literal.as_literal(), slice.written())
    else {
        return None;
    };
    let [string, from, end] = arguments.as_slice() else { return None };
    let (Some(Value::Int(from_value)), Some(Value::Int(end_value))) = (from.as_literal(), end.as_literal())
    else {
        return None;
    };
    let (own, count) = (end_value - from_value, text.chars().count());
    if own == count.into() || end_value < from_value {
        return None;
    }
    let meant = Term::add(from, &Term::int(count));
    let meant = Term::on_strings(StringOperation::Slice, &[string.clone(), from.clone(), meant]);
    Some(format!(
        "`{slice}` has {own} characters, but the text has {count}: the end of a slice is left out, so write `{meant}`"
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use coreach_model::diagnostic::SourceFile;
    use coreach_model::reader::read_specification;

    use crate::solver::z3::Z3Solver;

    const MODEL: &str = r#"
iosts: likely
types: { Key: "int[1..2]" }
variables: { q: "list[3] of string", m: "map[Key] of nat", v: Key }
initial: { location: L, condition: "q == [] && m == [] && v == 1" }
inputs: { In: { s: string, k: Key, n: nat } }
transitions:
  - from: L
    to: L
    on: In
    when: |
      GUARD
    assign: { ASSIGN }
"#;

    fn found(guard: &str, assign: &str) -> String {
        let text = MODEL.replace("GUARD", guard).replace("ASSIGN", assign);
        let file = Arc::new(SourceFile { name: "model.yaml".to_owned(), text });
        let (read, _) = read_specification(file).unwrap_or_else(|found| panic!("{found:#?}"));
        let found = super::super::check(&read.iosts, &mut Z3Solver::default());
        let text = |one: coreach_model::Diagnostic| format!("{:?} {:?}", one.notes, one.help);
        found.into_iter().map(text).collect::<Vec<String>>().join("\n").replace("\\\"", "\"")
    }

    #[test]
    fn a_change_that_helps_is_named() {
        for (guard, assign, told) in [
            (
                "len(q) > 0 && n > 2 && s == q[1]",
                "",
                "`q[0]` if you mean the first element; if this is intended, add `defined(q[1])` at",
            ),
            ("len(q) > 0 && s == q[len(q)]", "", "`q[len(q) - 1]` if you mean the last element"),
            ("0 < n <= len(q) && s == q[n]", "", "`q[n - 1]` if you mean the element before `q[n]`"),
            ("len(q) > 0", "q: 'q[1..len(q) - 1]'", "`q[1..]` if you mean"),
            ("len(s) > 1 && s[1..len(s) - 2] != \"a\"", "", "`s[1..len(s) - 1]` if you mean"),
            (
                "k in m",
                "v: k, m: 'm[v := m[v] + 1]'",
                "also that of `v`: write `k` if you mean its new value",
            ),
            ("s[0..3] == \"sum \" && n > 2", "", "`s[0..3] == \"sum \"` alone is never true"),
            ("s[0..3] == \"sum \" && n > 2", "", "so write `s[0..4]`"),
            ("n > 3 && v == 1 && n < 2", "", "these parts exclude each other: `n > 3` and `n < 2`"),
        ] {
            let found = found(guard, assign);
            assert!(found.contains(told), "{guard} {assign}: {found}");
        }
        // A change that does not help is not told.
        let found = found("s == q[1]", "");
        assert!(found.contains("`defined(q[1])`") && !found.contains("indices begin"), "{found}");
    }
}
