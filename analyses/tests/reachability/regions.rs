//! *Precision*: where joins lose something, a location has several facts, and they are proved without the
//! analysis.

use coreach_analyses::inductive::chain;
use coreach_analyses::solver::must_hold;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::{Analysis, DomainKind, Facts, analyse};
use coreach_model::reader::read_specification;
use coreach_model::{Iosts, SourceFile};

/// A model whose runs are to come to `Done`, and what is said of the location `Middle` without regions and
/// with four.
const CASES: [(&str, &str, &str, &str); 6] = [
    (
        "a band with two outsides",
        "
  - { from: Begin, on: Set, when: 0 <= p && p <= 100, assign: { x: p }, to: Middle }
  - { from: Middle, on: Stay, to: Middle }
  - { from: Middle, on: Go, when: x < 3, to: Done }
  - { from: Middle, on: Go, when: x > 60, to: Done }",
        "x >= 0 && x <= 100",
        "x >= 0 && x <= 2 || x >= 61 && x <= 100",
    ),
    (
        "a set of levels with a hole",
        "
  - { from: Begin, on: Set, when: 0 <= p && p <= 9, assign: { x: p }, to: Middle }
  - { from: Middle, on: Go, when: x == 1, to: Done }
  - { from: Middle, on: Go, when: x == 2, to: Done }
  - { from: Middle, on: Go, when: x == 4, to: Done }
  - { from: Middle, on: Go, when: x == 9, to: Done }",
        "x >= 1 && x <= 9",
        "x >= 1 && x <= 2 || x == 4 || x == 9",
    ),
    (
        "the way back through an assignment, and through a location before",
        "
  - { from: Begin, on: Set, when: 0 <= p && p <= 9, assign: { x: p }, to: Middle }
  - { from: Middle, on: Stay, assign: { x: x + 1 }, to: Behind }
  - { from: Behind, on: Stay, assign: { y: x }, to: Last }
  - { from: Last, on: Go, when: y == 1, to: Done }
  - { from: Last, on: Go, when: y == 8, to: Done }",
        "x >= 0 && x <= 7",
        "x == 0 || x == 7",
    ),
    (
        "two ways in",
        "
  - { from: Begin, on: Go, assign: { x: 0, y: 5 }, to: Middle }
  - { from: Begin, on: Go, assign: { x: 10, y: 7 }, to: Middle }
  - { from: Middle, on: Go, to: Done }",
        "x == 5 * y - 25 && y >= 5 && y <= 7",
        "x == 0 && y == 5 || x == 10 && y == 7",
    ),
    (
        "a flag beside the number",
        "
  - { from: Begin, on: Set, when: 0 <= p && p <= 9, assign: { x: p, b: p > 4 }, to: Middle }
  - { from: Middle, on: Go, when: b && x != 7, to: Done }",
        "b && x >= 5 && x <= 9",
        "b && (x >= 5 && x <= 6 || x >= 8 && x <= 9)",
    ),
    (
        "nothing is lost",
        "
  - { from: Begin, on: Set, when: 0 <= p && p <= 9, assign: { x: p }, to: Middle }
  - { from: Middle, on: Stay, when: x < 20, assign: { x: x + 1 }, to: Middle }
  - { from: Middle, on: Go, when: x < 5, to: Done }
  - { from: Middle, on: Go, when: x >= 5, to: Done }",
        "x >= 0 && x <= 20",
        "x >= 0 && x <= 20",
    ),
];

fn model(transitions: &str) -> Iosts {
    let text = format!(
        "iosts: m\nvariables: {{ x: int, y: int, b: bool }}\n\
         initial: {{ location: Begin, condition: x == 0 && y == 0 && !b }}\n\
         inputs: {{ Set: {{ p: int }}, Stay: {{}}, Go: {{}} }}\ntransitions:{transitions}\n"
    );
    let source = SourceFile { name: "m.yaml".to_owned(), text };
    read_specification(source.into()).unwrap().0.iosts
}

fn analysed(model: &Iosts, disjuncts: usize) -> (Facts, String) {
    let accepting: Vec<bool> = model.locations.iter().map(|at| at.name == "Done").collect();
    let options = Analysis { domain: DomainKind::Polyhedra, disjuncts, ..Analysis::default() };
    let facts = analyse(model, &accepting, &options);
    let mut solver = Z3Solver::default();
    // Soundness.
    for obligation in chain(model, &accepting, &facts.chain, &facts.coreach) {
        assert!(must_hold(&mut solver, &obligation.premises, &obligation.conclusion), "{obligation:?}");
    }
    let middle = model.locations.iter().position(|at| at.name == "Middle").unwrap();
    let said = facts.coreach[middle].to_string();
    (facts, said)
}

#[test]
fn what_joins_lose_is_told_apart() {
    let mut wrong = Vec::new();
    for (name, transitions, joined, apart) in CASES {
        let model = model(transitions);
        let said = [1, 4].map(|disjuncts| analysed(&model, disjuncts).1);
        let said = said.map(|said| {
            let short = said.replace("!b && ", "").replace(" && y == 0", "").replace("y == 0 && ", "");
            short.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(&short).to_owned()
        });
        if said != [joined, apart] {
            wrong.push(format!("{name}: {said:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// With the same facts there is nothing to be split, and no further iteration.
#[test]
fn where_nothing_is_lost_nothing_is_done() {
    let model = model(CASES[5].1);
    let [(one, _), (four, _)] = [1, 4].map(|disjuncts| analysed(&model, disjuncts));
    assert_eq!((one.reach, one.chain, one.coreach), (four.reach, four.chain, four.coreach));
}
