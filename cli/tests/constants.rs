//! Constants that nobody gives vary with the seed.

use std::collections::BTreeSet;

use crate::common::{Folder, exits, json};

const MODEL: &str = "\
iosts: bounded
types: { Slot: [LEFT, RIGHT] }
constants: { cMax: int, cLeast: int }
variables: { vCells: 'array[Slot] of int', vCount: int }
initial:
  location: Idle
  condition: 1 <= cLeast && cLeast <= cMax && cMax <= 1000 && vCells[LEFT] == 0 && vCells[RIGHT] == cLeast && vCount == 0
inputs: { Put: { pNumber: int } }
outputs: { Done: { pNumber: int } }
transitions:
  - { from: Idle, to: Busy, on: Put, when: pNumber >= cLeast && pNumber <= cMax, assign: { vCount: pNumber } }
  - { from: Busy, to: Idle, on: Done, when: 'pNumber == vCount + vCells[LEFT]' }
";

/// The solver, which alone knows what arrays can be, gave 37 of 40 runs the same constants.
#[test]
fn cells_of_arrays_in_the_initial_condition_do_not_fix_the_constants() {
    let folder = Folder::with(&[
        ("model.yaml", MODEL),
        (
            "purpose.yaml",
            "purpose: done\nof: bounded\ninitial: { location: Begin }\ntransitions: [{ from: Begin, to: Accept, on: Done }]\n",
        ),
        ("coreach.yaml", "specification: model.yaml\npurpose: purpose.yaml\n"),
        ("iut.yaml", "iut: it\nsimulated: { model: model.yaml }\n"),
    ]);
    let arguments = ["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", "40", "--format", "json"];
    let output = folder.coreach(&arguments);
    exits(&output, 0);
    let document = json(&output);
    for name in ["cMax", "cLeast"] {
        let values: Vec<i64> = document["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["constants"][name].as_i64().unwrap())
            .collect();
        let different: BTreeSet<i64> = values.iter().copied().collect();
        assert_eq!(values.len(), 40);
        assert!(different.len() >= 12, "{name}: {values:?}");
    }
}
