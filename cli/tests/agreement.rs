//! `coreach test` and `coreach campaign` make the same run of the same test case, implementation, constants,
//! seed and settings: the same trace, verdict and reason. What was measured of time is not compared.

use std::path::Path;

use serde_json::Value;

use crate::campaigns::store;
use crate::common::{Folder, json};

/// So many seeds from the first.
const SEEDS: usize = 6;

/// Guards that no lots fulfil, so that the solver chooses: inputs by the test case, outputs by the model that
/// stands for the system.
const SOLVED: &str = "
iosts: solved
types: { Digit: 'int[0..9]' }
variables: { v: int, n: int }
initial: { location: A, condition: v == 2 && n == 0 }
inputs:
  Pick: { pX: int, pY: int }
  Fill: { pCells: 'array[Digit] of int' }
outputs: { Got: { pZ: int, pW: int }, Full: { pAll: 'array[Digit] of int' } }
transitions:
  - { from: A, to: B, on: Pick, when: pX * pX + pY * pY == 25 * v * v + pX - pX && pX + pY >= v, assign: { v: v + 1 } }
  - { from: B, to: C, on: Got, when: pZ * pW >= 1000 && pZ + pW <= 200 && pZ * 7 == pW * 3 + v, assign: { n: pZ } }
  - { from: B, to: C, on: Got, when: pZ >= 1 && pW == pZ * pZ && pW <= 100 * v, assign: { n: pZ } }
  - { from: C, to: D, on: Fill, when: 'pCells[1] > n && pCells[2] > pCells[1] && pCells[3] * 2 == pCells[2] + v' }
  - { from: D, to: A, on: Full, when: 'pAll[0] > pAll[1] && pAll[1] > v', assign: { v: v + 1 } }
  - { from: D, to: E, on: Full, when: 'pAll[0] <= pAll[1]' }
";

const PURPOSE: &str = "
purpose: thrice
of: solved
variables: { m: int }
initial: { location: W, condition: m == 0 }
transitions:
  - { from: W, to: W, on: Full, when: m < 2, assign: { m: m + 1 } }
  - { from: W, to: Accept, on: Full, when: m >= 2 }
";

/// An example with the specification in the system's place, and what constants it has.
fn example(name: &str) -> Folder {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    let folder = Folder::new();
    for entry in from.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "yaml") {
            std::fs::copy(&path, folder.0.join(path.file_name().unwrap())).unwrap();
        }
    }
    folder
}

/// What of a run is a function of what decides it, as text.
fn decided(mut record: Value) -> String {
    let object = record.as_object_mut().unwrap();
    for measured in ["seconds", "teardown", "timing"] {
        object.shift_remove(measured);
    }
    for step in record["trace"].as_array_mut().unwrap() {
        step.as_object_mut().unwrap().shift_remove("at_ms");
    }
    record.to_string()
}

/// Runs of `plan` know those before them in `test`: a seed means the same of a run by itself.
fn of_test(folder: &Folder, constants: &[(&str, &str)], strategy: &str) -> Vec<String> {
    match strategy {
        "plan" => (1..=SEEDS).flat_map(|seed| tested(folder, constants, strategy, seed, 1)).collect(),
        _ => tested(folder, constants, strategy, 1, SEEDS),
    }
}

fn tested(
    folder: &Folder,
    constants: &[(&str, &str)],
    strategy: &str,
    seed: usize,
    runs: usize,
) -> Vec<String> {
    let (seed, runs) = (seed.to_string(), runs.to_string());
    let mut arguments = vec![
        "test",
        "coreach.yaml",
        "--iut",
        "model.yaml",
        "--seed",
        &seed,
        "--runs",
        &runs,
        "--format",
        "json",
    ];
    arguments.extend(["--strategy", strategy, "--events", "40"]);
    let constants: Vec<String> = constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
    arguments.extend(constants.iter().flat_map(|constant| ["--constant", constant.as_str()]));
    let output = folder.coreach(&arguments);
    let document = json(&output);
    let runs = document["runs"].as_array().unwrap();
    assert!(!runs.is_empty(), "{document}");
    runs.iter().cloned().map(decided).collect()
}

fn of_campaign(folder: &Folder, constants: &[(&str, &str)], strategy: &str) -> Vec<String> {
    let constants: Vec<String> = constants.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let constants = match constants.is_empty() {
        true => String::new(),
        false => format!("constants: [{{ {} }}]\n", constants.join(", ")),
    };
    folder.write(
        "agreement.yaml",
        &format!(
            "campaign: nightly\ntests: [{{ configuration: coreach.yaml }}]\niuts: [model.yaml]\n{constants}\
             seeds: {{ first: 1, count: {SEEDS} }}\nstrategy: {strategy}\nlimits: {{ steps: 40 }}\n"
        ),
    );
    let _ = std::fs::remove_file(store(folder));
    let output = folder.coreach(&["campaign", "agreement.yaml", "--quiet"]);
    assert!([Some(0), Some(1), Some(3)].contains(&output.status.code()), "{output:?}");
    let connection = rusqlite::Connection::open(store(folder)).unwrap();
    let mut statement = connection.prepare("SELECT record FROM runs").unwrap();
    let records = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    records.map(|record| decided(serde_json::from_str(&record.unwrap()).unwrap())).collect()
}

#[track_caller]
fn agree(folder: &Folder, constants: &[(&str, &str)]) {
    folder.write("model.yaml", "iut: model\nsimulated: { model: specification.yaml }\n");
    for strategy in ["random", "coverage", "plan"] {
        let mut tested = of_test(folder, constants, strategy);
        let mut campaigned = of_campaign(folder, constants, strategy);
        tested.sort();
        campaigned.sort();
        assert_eq!(tested.len(), campaigned.len());
        for (one, other) in tested.iter().zip(&campaigned) {
            assert_eq!(one, other, "with the strategy {strategy}");
        }
    }
}

#[test]
fn a_seed_means_the_same_to_test_and_to_campaign_where_lots_are_drawn() {
    agree(&example("coffee_machine"), &[("cPrice", "3")]);
    agree(&example("locker"), &[("cTries", "2")]);
    agree(&example("vending_nondeterministic"), &[]);
}

#[test]
fn a_seed_means_the_same_to_test_and_to_campaign_where_the_solver_chooses() {
    let configuration = "specification: specification.yaml\npurpose: purpose.yaml\n";
    agree(
        &Folder::with(&[
            ("specification.yaml", SOLVED),
            ("purpose.yaml", PURPOSE),
            ("coreach.yaml", configuration),
        ]),
        &[],
    );
}

#[test]
fn a_seed_means_the_same_to_test_and_to_campaign_of_what_is_timed() {
    let folder = example("session");
    folder.change("coreach.yaml", "[retried.yaml, beats.yaml, given_up.yaml]", "[given_up.yaml]");
    agree(&folder, &[]);
}
