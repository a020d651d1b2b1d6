//! What the program's exit code says: one table, whatever the command.

use std::fmt::Write;
use std::process::ExitCode;

use coreach_execution::Ending;
use coreach_execution::campaign::WhyLeftOut;
use coreach_model::Verdict;

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
    /// All of them, by number, each with what `--help` says of it.
    pub const ALL: [(Exit, &'static str); 10] = [
        (Exit::Fine, "fine (there may be warnings); of runs: every one ended with Pass"),
        (Exit::Failed, "a run ended with Fail, or a property is violated"),
        (Exit::Mistakes, "wrong usage, or errors in a file"),
        (
            Exit::Inconclusive,
            "a run ended with Inconclusive (see `test --inconclusive`), or a property is neither proved nor violated",
        ),
        (Exit::RunErrors, "a run ended without a verdict (RunError)"),
        (Exit::Incomplete, "less than was asked for: runs are missing, stores contradict each other"),
        (Exit::Stopped, "stopped by a limit, a budget, or a choice that is never resolved"),
        (Exit::Unreachable, "a purpose cannot be reached"),
        (Exit::Environment, "environment: a file cannot be written, Z3 is missing"),
        (Exit::Unsuited, "a purpose was left out: the constants given do not suit it"),
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
        Exit::ALL.iter().map(|(exit, _)| *exit).find(|exit| exit.code() == code).unwrap_or(Exit::Mistakes)
    }

    /// The one of two that counts.
    #[must_use]
    pub fn and(self, other: Exit) -> Exit {
        let rank = |exit| Exit::FIRST.iter().position(|one| *one == exit);
        if rank(self) <= rank(other) { self } else { other }
    }

    /// Of a run that ended so.
    pub fn of(ending: Ending) -> Exit {
        match ending {
            Ending::Verdict(Verdict::Pass | Verdict::WeakPass) => Exit::Fine,
            Ending::Verdict(Verdict::Inconclusive) => Exit::Inconclusive,
            Ending::Verdict(Verdict::Fail) => Exit::Failed,
            Ending::RunError => Exit::RunErrors,
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
    for (exit, says) in Exit::ALL {
        let _ = writeln!(text, "  {}  {says}", exit.code());
    }
    text += "  130, 143, 129  ended by SIGINT, SIGTERM, SIGHUP\n";
    let order: Vec<String> = Exit::FIRST.iter().map(|exit| exit.code().to_string()).collect();
    let _ =
        write!(text, "Where several apply, the first of {} counts.\n\nExample:\n{example}", order.join(", "));
    text
}
