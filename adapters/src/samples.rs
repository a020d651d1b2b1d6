//! Values to try that a program prints: one a line.
//!
//! The program is run when a run begins, with the run's seed in `COREACH_SEED`. If it draws by that, the same
//! seed gives the same values, whichever runs were before. Its output is bounded in lines, bytes and time. If
//! a line is no value of the parameter, the run does not begin: a list that is half right would hide it.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use coreach_model::excerpt::shortened;
use coreach_model::{Type, codec};
use rustix::event::{PollFd, PollFlags};

use crate::adapter::Failure;
use crate::process::{Launch, Pipes, Process};
use crate::times::poll_until;

pub const MOST_LINES: usize = 1000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SampleProgram {
    pub words: Vec<String>,
    pub directory: PathBuf,
    pub environment: Vec<(String, String)>,
    pub within: Duration,
    /// The types of the parameter. Each value must be of all of them.
    pub types: Vec<Type>,
}

impl SampleProgram {
    /// Runs the program with this seed, and returns the values that it prints before an instant.
    ///
    /// # Errors
    /// [`Failure::Start`]: it cannot be started, fails, prints too much or no values, or is not done in time.
    pub fn values(&self, parameter: &str, seed: u64, deadline: Instant) -> Result<Vec<String>, Failure> {
        let fail = |why: String| Failure::Start(format!("the samples of `{parameter}`: {why}"));
        let until = (Instant::now() + self.within).min(deadline);
        let seeded = ("COREACH_SEED".to_owned(), seed.to_string());
        let launch = Launch {
            words: self.words.clone(),
            directory: self.directory.clone(),
            environment: self.environment.iter().cloned().chain([seeded]).collect(),
            grace: Duration::ZERO,
            folder: None,
        };
        let (process, Pipes { input, output }) =
            Process::start_talking(&launch).map_err(|failure| fail(failure.text().to_owned()))?;
        drop(input);
        let printed = read_all(&output, until).map_err(|why| fail(process.farewell(why)))?;
        if !process.has_ended(until) {
            return Err(fail(process.farewell("did not end in time")));
        }
        if !process.succeeded() {
            return Err(fail(process.farewell("failed")));
        }
        let text = String::from_utf8(printed)
            .map_err(|_| fail("it has printed something that is not UTF-8".to_owned()))?;
        let values: Vec<String> = text.lines().map(str::to_owned).collect();
        if values.is_empty() || values.len() > MOST_LINES {
            let count = values.len();
            return Err(fail(format!("it has printed {count} lines, and may print 1 to {MOST_LINES}")));
        }
        for (number, value) in values.iter().enumerate() {
            if let Some(why) = self.types.iter().find_map(|ty| codec::from_text(value, ty).err()) {
                return Err(fail(format!("line {} is `{}`: {why}", number + 1, shortened(value))));
            }
        }
        Ok(values)
    }
}

/// Reads what the command prints until its output ends. The error says what the command did wrong.
fn read_all(output: &OwnedFd, until: Instant) -> Result<Vec<u8>, &'static str> {
    let (mut printed, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        match poll_until(&mut [PollFd::new(output, PollFlags::IN)], until) {
            Ok(0) => return Err("was not done in time"),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Err("cannot be read from"),
        }
        match rustix::io::read(output, &mut piece) {
            Ok(0) => return Ok(printed),
            Ok(count) => printed.extend_from_slice(&piece[..count]),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => return Err("cannot be read from"),
        }
        if printed.len() > 1 << 18 {
            return Err("prints too much");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(script: &str, within: u64) -> SampleProgram {
        SampleProgram {
            words: ["sh", "-c", script].map(str::to_owned).to_vec(),
            directory: ".".into(),
            environment: vec![("MORE".to_owned(), "7".to_owned())],
            within: Duration::from_millis(within),
            types: vec![Type::Int],
        }
    }

    fn values(script: &str, seed: u64, within: u64) -> Result<Vec<String>, String> {
        let deadline = Instant::now() + Duration::from_secs(60);
        program(script, within).values("p", seed, deadline).map_err(|failure| failure.text().to_owned())
    }

    /// Precision: what is printed is tried; the seed and the file's environment are known to the program.
    #[test]
    fn a_line_is_a_value() {
        let printed = values("echo $COREACH_SEED; echo $MORE; printf -- -5", 12, 30_000);
        assert_eq!(printed, Ok(["12", "7", "-5"].map(str::to_owned).to_vec()));
    }

    /// Soundness: what is wrong with the program is said, and ends in time; nothing of it is a value.
    #[test]
    fn a_program_that_fails_gives_no_values() {
        for (script, within, why) in [
            ("echo 1; exit 3", 30_000, "status 3"),
            ("echo 1; echo x", 30_000, "line 2 is `x`"),
            ("echo 1; echo", 30_000, "line 2 is ``"),
            ("printf '\\377\\n'", 30_000, "not UTF-8"),
            ("true", 30_000, "0 lines"),
            ("seq 1001", 30_000, "1001 lines"),
            ("yes 1", 30_000, "prints too much"),
            ("echo 1; sleep 60", 50, "not done in time"),
            ("echo 1; exec >&-; sleep 60", 200, "did not end in time"),
        ] {
            let found = values(script, 1, within);
            assert!(
                found.as_ref().is_err_and(|text| text.contains(why) && text.contains("`p`")),
                "{script}: {found:?}"
            );
        }
        let missing = SampleProgram { words: vec!["/nowhere/at/all".to_owned()], ..program("", 1000) };
        let found = missing.values("p", 1, Instant::now() + Duration::from_secs(9));
        assert!(matches!(found, Err(Failure::Start(_))), "{found:?}");
    }
}
