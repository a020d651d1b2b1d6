//! Where a transition is enabled, and which states are initial, when an operation in the text has no value.
//!
//! The table says for each expression what it is worth for five values of `x`: true, false, or nothing. The
//! expected words come from the page on the model format ("What it means"), not from the program. Each
//! expression is read in a guard, in an assignment and in an initial condition, bare and inside of other
//! operators; what is asked is the concrete semantics, the condition that stages make of the transition, the
//! text written and read again, and the terms with constants put in.

#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::collections::BTreeMap;

use coreach_model::obligation::{defined, enabling_condition};
use coreach_model::reader::{Specification, from_bytes, read_specification};
use coreach_model::semantics::{State, fire, is_initial};
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::term::{Substitution, substitute};
use coreach_model::writer::write_yaml;
use coreach_model::{Iosts, Term, Transition, Value};

/// The values of `x` in the table's columns.
const XS: [i32; 5] = [-1, 0, 1, 5, 20];

/// `T`: true, `F`: false, `-`: no value.
const TABLE: [(&str, &str); 70] = [
    // One side like the other.
    ("10 div x == 10 div x", "T-TTT"),
    ("10 div x != 10 div x", "F-FFF"),
    ("10 mod x == 10 mod x", "T-TTT"),
    ("1 / x == 1 / x", "T-TTT"),
    ("10 div x <= 10 div x", "T-TTT"),
    ("10 div x > 10 div x", "F-FFF"),
    ("10 div x - 10 div x == 0", "T-TTT"),
    ("10 div (x - x) == 10 div (x - x)", "-----"),
    ("10 div (10 div x) == 10 div (10 div x)", "T-TT-"),
    ("x == x", "TTTTT"),
    // A condition and its negation.
    ("10 div x > 1 || 10 div x <= 1", "T-TTT"),
    ("10 div x > 1 && 10 div x <= 1", "F-FFF"),
    ("10 div x > 1 || !(10 div x > 1)", "T-TTT"),
    ("x > 0 || 10 div x > 1 || x <= 0", "T-TTT"),
    ("x > 0 && 10 div x > 1 && x <= 0", "FFFFF"),
    ("x == 0 || x != 0 || 10 div x > 1", "TTTTT"),
    // What absorbs the others.
    ("10 div x > 1 || true", "T-TTT"),
    ("true || 10 div x > 1", "TTTTT"),
    ("10 div x > 1 && false", "F-FFF"),
    ("false && 10 div x > 1", "FFFFF"),
    ("x > 0 && 10 div x > 1 && false", "FFFFF"),
    ("x > 0 || 10 div x > 1 || x == 5 || true", "T-TTT"),
    ("10 div x > 1 => true", "T-TTT"),
    ("false => 10 div x > 1", "TTTTT"),
    ("10 div x > 1 => 10 div x > 1", "T-TTT"),
    ("x != 0 => 10 div x == 10 div x", "TTTTT"),
    ("10 div x > 1 && 10 div x > 1", "F-TTF"),
    ("x == 0 || 10 div x == 10 div x", "TTTTT"),
    ("10 div x == 10 div x || x == 0", "T-TTT"),
    ("!(10 div x > 1 || true)", "F-FFF"),
    ("(10 div x > 1) == true", "F-TTF"),
    ("(10 div x > 1) == (10 div x > 1)", "T-TTT"),
    // One branch like the other.
    ("(if 10 div x > 1 then 3 else 3) == 3", "T-TTT"),
    ("if 10 div x > 1 then true else true", "T-TTT"),
    ("if 10 div x > 1 then false else false", "F-FFF"),
    ("if x == 0 then true else 10 div x > 1", "FTTTF"),
    ("if x == 0 then 10 div x > 1 else true", "T-TTT"),
    ("(if x == 0 then 3 else 10 div x) == (if x == 0 then 3 else 10 div x)", "TTTTT"),
    ("(if 10 div x > 1 then x else x) == x", "T-TTT"),
    ("if 10 div x == 10 div x then 10 div 0 == 1 else true", "-----"),
    // Arithmetic.
    ("0 * (10 div x) == 0", "T-TTT"),
    ("(10 div x) * 0 <= 0", "T-TTT"),
    ("0 + 10 div x == 1 * (10 div x)", "T-TTT"),
    ("10 div 0 == 10 div 0", "-----"),
    ("0 * (10 div 0) == 0", "-----"),
    ("10.0 / 0.0 == 10.0 / 0.0", "-----"),
    ("true || 10 div 0 == 1", "TTTTT"),
    // Chains: the conjunction of their neighbours.
    ("0 < x < 10 div x", "FFTFF"),
    ("10 div x <= 10 div x <= 10", "T-TTT"),
    ("x == x <= 10 div x == 10 div x", "F-TFF"),
    // Arrays: an index in int[0..9], an element in int[0..99].
    ("vA[x := 5][x] == 5", "-TTT-"),
    ("vA[x] == vA[x]", "-TTT-"),
    ("vA[0 := x][0] == x", "-TTTT"),
    ("vA[0 := x][1] == vA[1]", "-TTTT"),
    ("vA[x := 3][0 := 5][0] == 5", "-TTT-"),
    ("vA[0 := x][0 := 5][0] == 5", "-TTTT"),
    ("vA[0 := 10 div x][0 := 5] == vA[0 := 5]", "--TTT"),
    ("vA[12 := 5][12] == 5", "-----"),
    ("vA[0 := 1][12 := 2][0] == 1", "-----"),
    ("vA[0 := 100][0] == 100", "-----"),
    ("vA[vShelf := x][vShelf] == x", "-TTTT"),
    ("vA[vShelf] == vA[vShelf]", "TTTTT"),
    ("vA[x := 5] == vA[x := 5]", "-TTT-"),
    // Arrays of arrays, of truth values and of records; an index that is real.
    ("vGrid[x][x] == vGrid[x][x]", "-TTT-"),
    ("vGrid[x := vA][x] == vA", "-TTT-"),
    ("vFlags[x] || !vFlags[x]", "-TTT-"),
    ("vFlags[x := true][x]", "-TTT-"),
    ("vItems[x].weight == vItems[x].weight", "-TTT-"),
    ("vItems[x := vItem][x] == vItem", "-TTT-"),
    ("vReal[1 / x := 5][1 / x] == 5", "T-TTT"),
];

/// The variables of the table; a model has those that its expression names, and `vB`.
const VARIABLES: [(&str, &str); 7] = [
    ("vA", "array[Shelf] of int[0..99]"),
    ("vGrid", "array[Shelf] of array[Shelf] of int[0..99]"),
    ("vFlags", "array[Shelf] of bool"),
    ("vItems", "array[Shelf] of Item"),
    ("vReal", "array[real] of int"),
    ("vItem", "Item"),
    ("vShelf", "Shelf"),
];

/// What an expression is worth.
type Worth = Option<bool>;

/// What an expression in another is worth, by the worth of the one inside and the flag `f`.
type Around = fn(Worth, bool) -> Worth;

/// Operators around an expression `E`.
const AROUND: [(&str, Around); 14] = [
    ("E", |e, _| e),
    ("!(E)", |e, _| e.map(|e| !e)),
    ("f && (E)", |e, f| if f { e } else { Some(false) }),
    ("(E) && f", |e, f| e.map(|e| e && f)),
    ("f || (E)", |e, f| if f { Some(true) } else { e }),
    ("(E) || f", |e, f| e.map(|e| e || f)),
    ("f => (E)", |e, f| if f { e } else { Some(true) }),
    ("(E) => f", |e, f| e.map(|e| !e || f)),
    ("if f then (E) else true", |e, f| if f { e } else { Some(true) }),
    ("if (E) then f else f", |e, f| e.map(|_| f)),
    ("(if (E) then 3 else 3) == 3", |e, _| e.map(|_| true)),
    ("(E) == (E)", |e, _| e.map(|_| true)),
    ("vFlags[3 := (E)][3]", |e, _| e),
    ("vFlags[3 := (E)][3 := f][3]", |e, f| e.map(|_| f)),
];

fn worth(letter: char) -> Worth {
    match letter {
        'T' => Some(true),
        'F' => Some(false),
        _ => None,
    }
}

/// A model that has the expression in its initial condition, over constants, and with each of the operators
/// around it in a guard, and in an assignment.
fn text(expression: &str) -> String {
    let constant = rename(expression);
    let mentioned = |name: &str| name == "vFlags" || expression.contains(name);
    let used = VARIABLES.iter().filter(|(name, _)| mentioned(name));
    let variables: String = used.map(|(name, ty)| format!("  {name}: \"{ty}\"\n")).collect();
    let mut transitions = String::new();
    for (around, _) in AROUND {
        let whole = around.replace('E', expression);
        transitions.push_str(&format!("  - {{ from: L, to: L, on: guarded, when: \"{whole}\" }}\n"));
        let assign = format!("assign: {{ vB: \"{whole}\" }}");
        transitions.push_str(&format!("  - {{ from: L, to: L, on: assigned, {assign} }}\n"));
    }
    format!(
        "iosts: m
types:
  Shelf: int[0..9]
  Item: {{ weight: int }}
constants: {{ cX: int, cF: bool }}
variables:
{variables}  vB: bool
initial: {{ location: L, condition: \"{constant}\" }}
inputs:
  guarded: {{ x: int, f: bool }}
  assigned: {{ x: int, f: bool }}
transitions:
{transitions}"
    )
}

/// The expression with the constants `cX` and `cF` for the parameters `x` and `f`.
fn rename(expression: &str) -> String {
    let mut renamed = String::new();
    let mut word = String::new();
    for letter in expression.chars().chain([' ']) {
        if letter.is_alphanumeric() {
            word.push(letter);
            continue;
        }
        renamed.push_str(match word.as_str() {
            "x" => "cX",
            "f" => "cF",
            other => other,
        });
        word.clear();
        renamed.push(letter);
    }
    renamed.trim_end().to_owned()
}

fn read(text: &str) -> Specification {
    let file = from_bytes("model".to_owned(), text.as_bytes().to_vec()).unwrap();
    read_specification(file).unwrap_or_else(|found| panic!("{found:#?}\n{text}")).0
}

/// The state in which every array is one value throughout, with these constants.
fn state(iosts: &Iosts, x: i32, f: bool) -> State {
    let data = iosts.variables.iter().map(|datum| (datum.clone(), Value::any(datum.ty())));
    let mut valuation: Valuation = data.collect();
    valuation.insert(iosts.find_datum("cX").unwrap().clone(), Value::int(x));
    valuation.insert(iosts.find_datum("cF").unwrap().clone(), Value::Bool(f));
    State { location: iosts.initial, valuation }
}

fn truth(term: &Term, valuation: &Valuation) -> Worth {
    match evaluate(term, valuation) {
        Ok(Value::Bool(value)) => Some(value),
        Ok(other) => panic!("{other}"),
        Err(_) => None,
    }
}

/// Notes what is not as expected.
fn expect(found: &mut Vec<String>, is: Worth, wanted: Worth, what: impl Fn() -> String) {
    if is != wanted {
        found.push(format!("{}: {is:?}, expected {wanted:?}", what()));
    }
}

/// What is not as expected of the initial condition.
fn of_initial(iosts: &Iosts, start: &State, expected: Worth) -> Vec<String> {
    let mut found = Vec::new();
    let initial = Some(is_initial(iosts, start));
    expect(&mut found, initial, Some(expected == Some(true)), || "initial state".to_owned());
    let constants = iosts.constants.iter();
    let constants: Substitution =
        constants.map(|datum| (datum.clone(), Term::literal(start.valuation[datum].clone()))).collect();
    let fixed = substitute(&iosts.initial_condition, &constants);
    expect(&mut found, truth(&fixed, &start.valuation), expected, || format!("constants put in: `{fixed}`"));
    found
}

/// What is not as expected of a transition that has the expression in its guard or, without a guard, assigns
/// it.
fn of_transition(iosts: &Iosts, transition: &Transition, start: &State, expected: Worth) -> Vec<String> {
    let parameters = &iosts.action(transition.action).parameters;
    let values: Vec<Value> =
        ["cX", "cF"].map(|name| start.valuation[iosts.find_datum(name).unwrap()].clone()).to_vec();
    let mut valuation = start.valuation.clone();
    valuation.extend(parameters.iter().cloned().zip(values.clone()));
    let mut found = Vec::new();
    let assigned = transition.assignments.values().next();
    let enabled = Some(if assigned.is_some() { expected.is_some() } else { expected == Some(true) });
    let step = fire(iosts, transition, start, &values);
    expect(&mut found, Some(step.is_some()), enabled, || "enabled".to_owned());
    let condition = enabling_condition(transition);
    expect(&mut found, truth(&condition, &valuation), enabled, || format!("condition `{condition}`"));
    let term = assigned.unwrap_or(&transition.guard);
    let put_in = parameters.iter().cloned().zip(values.into_iter().map(Term::literal)).collect();
    for term in [term.clone(), substitute(term, &put_in)] {
        expect(&mut found, truth(&term, &valuation), expected, || format!("`{term}`"));
        let condition = defined(&term);
        expect(&mut found, truth(&condition, &valuation), Some(expected.is_some()), || {
            format!("definedness of `{term}`: `{condition}`")
        });
    }
    found
}

/// What a model says: its initial condition, and guards and assignments in order.
fn said(iosts: &Iosts) -> (Term, Vec<(Term, Substitution)>) {
    let transitions = iosts.transitions.iter();
    let said = transitions.map(|transition| (transition.guard.clone(), transition.assignments.clone()));
    (iosts.initial_condition.clone(), said.collect())
}

#[test]
fn what_has_no_value_is_not_enabled() {
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (expression, letters) in TABLE {
        let specification = read(&text(expression));
        let iosts = &specification.iosts;
        // Terms are shared: what is read again is the same term, and needs no second look.
        let read_again = read(&write_yaml(iosts, &specification.types));
        assert_eq!(said(iosts), said(&read_again.iosts), "{expression}");
        for (x, letter) in XS.into_iter().zip(letters.chars()) {
            for f in [false, true] {
                let start = state(iosts, x, f);
                let mut add = |whole: &str, found: Vec<String>| {
                    if !found.is_empty() {
                        wrong.entry(format!("{whole}, x = {x}, f = {f}")).or_default().extend(found);
                    }
                };
                add(expression, of_initial(iosts, &start, worth(letter)));
                for (transition, number) in iosts.transitions.iter().zip(0..) {
                    let (around, worth_of): (&str, Around) = AROUND[number / 2];
                    // What does not read the flag is looked at once.
                    if f && !around.replace("if", "").contains('f') {
                        continue;
                    }
                    let expected = worth_of(worth(letter), f);
                    let whole = around.replace('E', expression);
                    add(&whole, of_transition(iosts, transition, &start, expected));
                }
            }
        }
    }
    let some: Vec<_> = wrong.iter().take(10).collect();
    assert!(wrong.is_empty(), "{} of {}: {some:#?}", wrong.len(), 10 * TABLE.len() * AROUND.len());
}
