//! What the help of each command ends with: exit codes that are its own, and an example.

use crate::exit;

pub(crate) const INIT_HELP: &str = "\
The command overwrites nothing: if one of the files exists, it writes none, and the exit code is 2.

Example:
  coreach init locker";

pub(crate) const CHECK_HELP: &str = "\
coreach looks for the specification of a purpose among the files, then in its folder. It checks IUT files against these models.

Example:
  coreach check specification.yaml deliver_coffee.yaml";

pub(crate) const VERIFY_HELP: &str = "\
Exit codes: 0 all properties proved, 1 one violated, 3 one neither proved nor violated; all codes: `coreach --help`.

Example:
  coreach verify coreach.yaml --nodes 100000";

pub(crate) const EXPLAIN_HELP: &str = "\
A campaign's store has many runs: name one by its number, or by the beginning of its key.

Example:
  coreach explain nightly.sqlite 17 --draw walked.svg";

/// What the whole program's help ends with.
pub(crate) fn help() -> String {
    exit::help_text("  coreach run coreach.yaml")
}

pub(crate) const RUN_HELP: &str = "\
`run` runs no system. `test` runs the test cases against one.

Example:
  coreach run coreach.yaml --out results --stages test_graph,test_case
  coreach test coreach.yaml --iut server.yaml";

pub(crate) const TEST_HELP: &str = "\
`--cover` walks until the specification is covered. `cover` makes purposes for that, `coverage` measures kept runs.
Exit codes: 0 Pass, 1 Fail, 2 nothing was run, 3 Inconclusive, 4 RunError; all codes: `coreach --help`.

Example:
  coreach test coreach.yaml --iut server.yaml --runs 20 --keep runs
  coreach test specification.yaml --iut server.yaml --cover transitions";

pub(crate) const REPLAY_HELP: &str = "\
The exit code is that of the new run: 0 Pass, 1 Fail, 3 Inconclusive, 4 RunError.

Example:
  coreach replay runs/deliver_coffee.7.json --iut server.yaml --shrink";

pub(crate) const CAMPAIGN_HELP: &str = "\
Exit codes: 0 all Pass, and none missing, 1 Fail, 3 Inconclusive, 4 RunError, 5 runs are missing; all: `coreach --help`.
If the command was killed, give it again: it goes on where it stopped.

Example:
  coreach campaign nightly.yaml --threads 2 --junit nightly.xml";

pub(crate) const COVER_HELP: &str = "\
`cover` runs nothing. `coverage` measures kept runs, and `test --cover` covers in one walk without purposes.
Exit code 5: a goal is neither covered nor proved to be unreachable.

Example:
  coreach cover coreach.yaml --criterion transitions,pairs --out suite
  coreach run suite/coreach.yaml";

pub(crate) const COVERAGE_HELP: &str = "\
`coverage` measures runs that were kept. `cover` makes purposes that cover, and `test --cover` walks to cover.
Exit code 5: less is covered than --require asks for.

Example:
  coreach coverage nightly.yaml --lcov nightly.info --require transitions=90%";

pub(crate) const TIMED_HELP: &str = "\
`inputs --cover` computes a timed input sequence for each goal of a criterion. `cover` makes purposes instead.

Example:
  coreach timed path specification.yaml --path open,reply --tm 5 --out out
  coreach timed inputs specification.yaml --path 1,2,3 > inputs.csv
  coreach timed drive specification.yaml --inputs inputs.csv --iut iut.yaml > trace.csv
  coreach timed verdict specification.yaml --path 1,2,3 --trace trace.csv";
