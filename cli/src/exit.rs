//! What the program's exit code says: one table, whatever the command.

use std::fmt::Write;
use std::process::ExitCode;

use coreach_execution::OutcomeKind;
use coreach_execution::campaign::WhyLeftOut;
use coreach_model::Verdict;

/// What is said of an exit code: all of it is made of this, the help, `docs/exit-codes.md`, and the test of
/// both.
#[derive(Clone, Copy, Debug)]
pub struct ExitRow {
    /// The code.
    pub exit: Exit,
    /// What `--help` says of it.
    pub says: &'static str,
    /// What the document says of it, in Markdown.
    pub meaning: &'static str,
    /// What to do about it.
    pub cure: &'static str,
}

/// The codes of signals, what they mean, and what is left.
pub const SIGNALS: (&str, &str, &str) =
    ("130, 143, 129", "ended by SIGINT, SIGTERM, SIGHUP", "what was finished is kept");

/// What came of a command. In the order of the exit codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Exit {
    /// All that was asked for was done, and every run ended with Pass; there may have been warnings.
    Fine = 0,
    /// A run of a test case ended with Fail.
    Failed = 1,
    /// Wrong usage (which clap finds), or errors in what the user wrote.
    Mistakes = 2,
    /// A run ended with Inconclusive.
    Inconclusive = 3,
    /// A run ended without a verdict.
    RunErrors = 4,
    /// Less is there than was asked for.
    Incomplete = 5,
    /// A limit or a budget stopped the work, or the model has no visible deterministic form.
    Stopped = 6,
    /// A purpose cannot be reached.
    Unreachable = 7,
    /// The machine did not let us: a file cannot be written, Z3 is too old.
    Environment = 8,
    /// A purpose was left out, since the constants that were given do not suit it.
    Unsuited = 9,
}

impl Exit {
    /// All of them, by number.
    pub const ALL: [ExitRow; 10] = [
        ExitRow {
            exit: Exit::Fine,
            says: "fine (there may be warnings); of runs: every one ended with Pass",
            meaning: "fine; of runs: every one ended with Pass; of `verify`: every property is proved",
            cure: "warnings may have been printed: read them",
        },
        ExitRow {
            exit: Exit::Failed,
            says: "a run ended with Fail, or a property is violated",
            meaning: "a run, or a recorded trace, ended with Fail; of `verify`, a property is violated",
            cure: "`coreach explain` says why, `coreach replay --shrink` looks for a shorter run",
        },
        ExitRow {
            exit: Exit::Mistakes,
            says: "wrong usage, or errors in a file",
            meaning: "wrong usage, or errors in a file: nothing was begun. Also a store that is damaged, an output that is an input, a file in the way of `coreach init`",
            cure: "each error is shown in its line, with what was expected",
        },
        ExitRow {
            exit: Exit::Inconclusive,
            says: "a run ended with Inconclusive (see `test --inconclusive`), or a property is neither proved nor violated",
            meaning: "a run ended with Inconclusive; of `verify`, a property is neither proved nor violated",
            cure: "`--inconclusive ok` makes it 0, `--inconclusive fail` makes it 1",
        },
        ExitRow {
            exit: Exit::RunErrors,
            says: "a run ended without a verdict (RunError)",
            meaning: "a run ended without a verdict (RunError)",
            cure: "something between tester and system broke: the reason says what. `--retries N` does such runs again",
        },
        ExitRow {
            exit: Exit::Incomplete,
            says: "less than was asked for: runs are missing, stores contradict each other",
            meaning: "less is there than was asked for: runs of a plan are missing, or none is planned; stores contradict each other; there are no mutants; less is covered than `coverage --require` asks for; a goal of `cover` is neither covered nor proved to be unreachable; something of a damaged store was left",
            cure: "run the same command again; see [campaigns](campaigns.md)",
        },
        ExitRow {
            exit: Exit::Stopped,
            says: "stopped by a limit, a budget, or a choice that is never resolved",
            meaning: "stopped: by a limit, by a budget (`--time`, `--memory`), or by a choice that is never resolved; what was found until then is written. Or a result is larger than what is read back, and is not written",
            cure: "the message names what to raise, or where the choice is",
        },
        ExitRow {
            exit: Exit::Unreachable,
            says: "a purpose cannot be reached",
            meaning: "a purpose cannot be reached: it has no test case, or, of `run`, one of a single location or one whose paths all end without Pass",
            cure: "see [the guide](guide.md#when-there-is-no-test-case)",
        },
        ExitRow {
            exit: Exit::Environment,
            says: "environment: a file cannot be written, Z3 is missing",
            meaning: "environment: a file cannot be written, a program or library is missing or too old",
            cure: "the message names it",
        },
        ExitRow {
            exit: Exit::Unsuited,
            says: "a purpose was left out: the constants given do not suit it",
            meaning: "a purpose was left out: its initial condition cannot hold with the constants that were given",
            cure: "give others, or none: then they are solved for",
        },
    ];

    /// Where several apply, the first of these counts.
    pub const FIRST: [Exit; 10] = [
        Exit::Mistakes,
        Exit::Failed,
        Exit::Environment,
        Exit::RunErrors,
        Exit::Incomplete,
        Exit::Stopped,
        Exit::Unsuited,
        Exit::Unreachable,
        Exit::Inconclusive,
        Exit::Fine,
    ];

    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Of this number, which a part has kept; a number that no version of us has is a mistake.
    pub fn of_code(code: u8) -> Exit {
        Exit::ALL.iter().map(|row| row.exit).find(|exit| exit.code() == code).unwrap_or(Exit::Mistakes)
    }

    /// The one of two that counts.
    #[must_use]
    pub fn and(self, other: Exit) -> Exit {
        let rank = |exit| Exit::FIRST.iter().position(|one| *one == exit);
        if rank(self) <= rank(other) { self } else { other }
    }

    /// Of a run that ended so.
    pub fn of(kind: OutcomeKind) -> Exit {
        match kind {
            OutcomeKind::Verdict(Verdict::Pass | Verdict::WeakPass) => Exit::Fine,
            OutcomeKind::Verdict(Verdict::Inconclusive) => Exit::Inconclusive,
            OutcomeKind::Verdict(Verdict::Fail) => Exit::Failed,
            OutcomeKind::RunError => Exit::RunErrors,
        }
    }
}

impl From<WhyLeftOut> for Exit {
    fn from(why: WhyLeftOut) -> Exit {
        match why {
            WhyLeftOut::Stopped => Exit::Stopped,
            WhyLeftOut::Unreachable => Exit::Unreachable,
            WhyLeftOut::Unsuited => Exit::Unsuited,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// The table for `--help`, and an example.
pub fn help(example: &str) -> String {
    let mut text = "Exit codes, of all commands:\n".to_owned();
    for ExitRow { exit, says, .. } in Exit::ALL {
        let _ = writeln!(text, "  {}  {says}", exit.code());
    }
    let (codes, says, _) = SIGNALS;
    let _ = writeln!(text, "  {codes}  {says}");
    let _ = write!(text, "{}\n\nExample:\n{example}", order());
    text
}

/// Which one counts.
pub fn order() -> String {
    let order: Vec<String> = Exit::FIRST.iter().map(|exit| exit.code().to_string()).collect();
    format!("Where several apply, the first of {} counts.", order.join(", "))
}

/// The table of `docs/exit-codes.md`.
pub fn table() -> String {
    let mut text = "| code | meaning | what to do |\n|---|---|---|\n".to_owned();
    for ExitRow { exit, meaning, cure, .. } in Exit::ALL {
        let _ = writeln!(text, "| {} | {meaning} | {cure} |", exit.code());
    }
    let (codes, meaning, cure) = SIGNALS;
    let _ = writeln!(text, "| {codes} | {meaning} | {cure} |");
    text
}
