//! What the program's exit code says: one table, whatever the command.

use std::fmt::Write;
use std::process::ExitCode;

use coreach_execution::OutcomeKind;
use coreach_execution::campaign::WhyLeftOut;
use coreach_model::Verdict;

/// An exit code as users read it. The help and the table of `docs/reference/verdicts-and-exit-codes.md` are
/// made of it.
pub struct ExitRow {
    pub exit: Exit,
    /// What `--help` says of it.
    pub says: &'static str,
    /// What the document says of it, in Markdown.
    pub meaning: &'static str,
    /// What to do about it.
    pub cure: &'static str,
}

/// The codes of signals, what they mean, and what is left.
pub const SIGNALS: (&str, &str, &str) = (
    "130, 143, 129",
    "ended by SIGINT, SIGTERM, SIGHUP",
    "Finished results are kept. An unfinished run does not count.",
);

/// What came of a command, in the order of the exit codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Exit {
    /// All that was asked for was done, and every run ended with Pass, or a walk ended it.
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
    /// The machine prevents the work: a file cannot be written, Z3 is too old.
    Environment = 8,
    /// A purpose was left out, since the constants that were given do not suit it.
    Unsuited = 9,
}

impl Exit {
    /// All of them, by number.
    pub const ALL: [ExitRow; 10] = [
        ExitRow {
            exit: Exit::Fine,
            says: "fine (there may be warnings); for runs: every run ended with Pass, or a walk ended it",
            meaning: "The command succeeded. For runs: every run ended with Pass or with the cause `walked`. For `verify`: every property is proved.",
            cure: "Read any warnings.",
        },
        ExitRow {
            exit: Exit::Failed,
            says: "a run ended with Fail, or a property is violated",
            meaning: "A run or a recorded trace ended with Fail, or `verify` found that a property is violated.",
            cure: "`coreach explain` shows the reason. `coreach replay --shrink` looks for a shorter run.",
        },
        ExitRow {
            exit: Exit::Mistakes,
            says: "wrong usage, or errors in a file",
            meaning: "Wrong usage, an error in a file, or a damaged store. Nothing was started.",
            cure: "Correct the place that the message shows.",
        },
        ExitRow {
            exit: Exit::Inconclusive,
            says: "a run ended with Inconclusive (see `test --inconclusive`), or a property is neither proved nor violated",
            meaning: "A run ended with Inconclusive, or `verify` could not decide a property.",
            cure: "`--inconclusive ok` changes this code to 0, and `--inconclusive fail` to 1.",
        },
        ExitRow {
            exit: Exit::RunErrors,
            says: "a run ended without a verdict (RunError)",
            meaning: "A run ended without a verdict.",
            cure: "The message says what broke between tester and system. `--retries N` repeats such runs.",
        },
        ExitRow {
            exit: Exit::Incomplete,
            says: "less than was asked for: runs are missing, stores contradict each other",
            meaning: "coreach did less than you asked: missing runs, contradicting stores, no mutants, an unknown goal of `cover`, or less coverage than `--require`.",
            cure: "Run the command again. For stores, see [campaigns](configuration-and-campaign.md#campaign-behaviour).",
        },
        ExitRow {
            exit: Exit::Stopped,
            says: "stopped by a limit, a budget, or a choice that is never resolved",
            meaning: "A limit, a budget or an unresolved choice stopped the work. Finished results were written.",
            cure: "Raise the value that the message names, or change the model at the place that the message shows.",
        },
        ExitRow {
            exit: Exit::Unreachable,
            says: "a purpose cannot be reached",
            meaning: "A purpose cannot be reached.",
            cure: "See [when it does not work](../how-to/when-it-does-not-work.md).",
        },
        ExitRow {
            exit: Exit::Environment,
            says: "environment: a file cannot be written, Z3 is missing",
            meaning: "A file cannot be written, or a program or library is missing or too old.",
            cure: "The message names the file, program or library.",
        },
        ExitRow {
            exit: Exit::Unsuited,
            says: "a purpose was left out: the constants given do not suit it",
            meaning: "A purpose was left out because its initial condition cannot hold with the given constants.",
            cure: "Give other constants. If you give no constants, coreach finds suitable ones.",
        },
    ];

    /// If several apply, the first of these counts.
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

    pub fn code(self) -> u8 {
        self as u8
    }

    /// Returns the exit of this number. A number that is not in the table is `Mistakes`.
    pub fn of_code(code: u8) -> Exit {
        Exit::ALL.iter().map(|row| row.exit).find(|exit| exit.code() == code).unwrap_or(Exit::Mistakes)
    }

    /// Returns which of the two counts.
    #[must_use]
    pub fn and(self, other: Exit) -> Exit {
        let rank = |exit| Exit::FIRST.iter().position(|first| *first == exit);
        if rank(self) <= rank(other) { self } else { other }
    }

    /// Returns the exit code of a run that ended in this way.
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
pub fn help_text(example: &str) -> String {
    let mut text = "Exit codes, of all commands:\n".to_owned();
    for ExitRow { exit, says, .. } in Exit::ALL {
        let _ = writeln!(text, "  {}  {says}", exit.code());
    }
    let (codes, says, _) = SIGNALS;
    let _ = writeln!(text, "  {codes}  {says}");
    let _ = write!(text, "{}\n\nExample:\n{example}", order_sentence());
    text
}

/// The sentence that says which code counts.
pub fn order_sentence() -> String {
    let order: Vec<String> = Exit::FIRST.iter().map(|exit| exit.code().to_string()).collect();
    format!("If several codes apply, the first of these codes counts: {}.", order.join(", "))
}
