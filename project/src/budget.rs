//! Limits time and memory: `--time` and `--memory`, or `budget:` in a configuration or a campaign.
//!
//! `--time` is for one piece of work: reading and checking the named files, making one test case, writing its
//! files, one mutant. It is processor time of one thread, so that neither the load of the machine nor the
//! number of threads changes the results. A run of a test case and its limit are in real time. `--memory` is
//! for the whole process. The command line counts first, then a campaign, then a configuration.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use coreach_analyses::solver::z3;
use coreach_execution::campaign::plan::LONGEST;
use coreach_model::budget::{Budget, Limit};
use coreach_model::number::count;
use coreach_model::reader::collect::Collector;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::Entry;
use coreach_model::{Diagnostic, journal};
use coreach_pipeline::stop::Stop;

/// The default of the processor time of one piece of work.
pub const TIME: Duration = Duration::from_secs(60);

/// The default of the memory, in bytes.
pub const MEMORY: u64 = 4_000_000_000;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct GivenBudget {
    /// The time of one piece of work.
    pub time: Option<Duration>,
    /// The memory of the process, in bytes.
    pub memory: Option<u64>,
}

static COMMAND: OnceLock<GivenBudget> = OnceLock::new();
static CAMPAIGN: OnceLock<GivenBudget> = OnceLock::new();

/// The memory that a file allows. It is 0, if no file says it.
static FILE_MEMORY: AtomicU64 = AtomicU64::new(0);

/// Sets the budget of the command line. Only the first call counts.
pub fn set_command_budget(given: GivenBudget) {
    let _ = COMMAND.set(given);
}

/// Sets the budget of a campaign. Only the first call counts.
pub fn set_campaign_budget(given: GivenBudget) {
    let _ = CAMPAIGN.set(given);
    set_file_memory(given);
}

/// Sets the memory of a file's budget. Only the first call with a memory counts.
pub fn set_file_memory(given: GivenBudget) {
    if let Some(memory) = given.memory {
        let _ = FILE_MEMORY.compare_exchange(0, memory, Ordering::Relaxed, Ordering::Relaxed);
    }
}

pub fn command_time() -> Option<Duration> {
    COMMAND.get().and_then(|given| given.time)
}

/// Returns the time of a piece of work. `configuration` is the time in the configuration.
pub fn time(configuration: Option<Duration>) -> Duration {
    let campaign = || CAMPAIGN.get().and_then(|given| given.time);
    command_time().or_else(campaign).or(configuration).unwrap_or(TIME)
}

pub fn memory() -> u64 {
    let file = || Some(FILE_MEMORY.load(Ordering::Relaxed)).filter(|memory| *memory > 0);
    COMMAND.get().and_then(|given| given.memory).or_else(file).unwrap_or(MEMORY)
}

/// Does a piece of work within a time. Even a question to the solver is ended in time.
pub fn within<R>(stage: &'static str, time: Duration, work: impl FnOnce(&Budget) -> R) -> Result<R, Stop> {
    let budget = Budget::new(stage, Some(Limit::Time(time)), true);
    let inner: Arc<Budget> = budget.clone();
    z3::within(&budget, move || work(&inner)).map_err(Stop::from)
}

/// Reads and checks files within the time of one piece of work.
pub fn reading<T>(work: impl FnOnce() -> Result<T, Vec<Diagnostic>>) -> Result<T, Vec<Diagnostic>> {
    let begun = Instant::now();
    let result = in_stage("read", work);
    journal::note(|| format!("reading and checking: {:.3} s", begun.elapsed().as_secs_f64()));
    result
}

pub fn choosing_constants<T>(
    work: impl FnOnce() -> Result<T, Vec<Diagnostic>>,
) -> Result<T, Vec<Diagnostic>> {
    in_stage("constants", work)
}

fn in_stage<T>(
    stage: &'static str,
    work: impl FnOnce() -> Result<T, Vec<Diagnostic>>,
) -> Result<T, Vec<Diagnostic>> {
    within(stage, time(None), |_| work()).unwrap_or_else(|stop| Err(vec![stop.to_diagnostic()]))
}

const NO_TIME: &str = "expected a time of at most a week, for example `60s`, `1500ms` or `5m`";

/// Reads a time: `60s`, `1500ms`, `2m`, `1h`. A number alone is in milliseconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    parse_milliseconds(text).map(Duration::from_millis).ok_or_else(|| explain_time(text))
}

/// Reads a time in milliseconds, with its unit. `None` if it is no time or more than a week.
fn parse_milliseconds(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 5] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("", 1)];
    parse_amount(text, &UNITS).filter(|time| *time <= LONGEST)
}

/// Explains how a time is written. Names the time that may be meant if its unit is spelt in another way, or
/// if its number has a fraction.
fn explain_time(text: &str) -> String {
    // How the units begin in other spellings.
    const SPELT: [(&str, &str); 6] =
        [("milli", "ms"), ("msec", "ms"), ("sec", "s"), ("s", "s"), ("min", "m"), ("h", "h")];
    let is_number = |sign: char| sign.is_ascii_digit() || sign == '.';
    let (number, written) = text.split_at(text.find(|sign| !is_number(sign)).unwrap_or(text.len()));
    let written = written.trim_start().to_lowercase();
    let known = SPELT.iter().find(|(begin, _)| written.starts_with(begin));
    let unit = known.map_or(&*written, |(_, unit)| *unit);
    let meant = match number.parse::<f64>() {
        Ok(fraction) if number.contains('.') => match unit {
            "s" => format!("{:.0}ms", fraction * 1000.0),
            "m" => format!("{:.0}s", fraction * 60.0),
            "h" => format!("{:.0}m", fraction * 60.0),
            _ => return NO_TIME.to_owned(),
        },
        _ => format!("{number}{unit}"),
    };
    match parse_milliseconds(&meant) {
        Some(1..) => format!("{NO_TIME}; did you mean `{meant}`?"),
        _ => NO_TIME.to_owned(),
    }
}

/// Reads a time above 0.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok().filter(|time| !time.is_zero()).ok_or_else(|| explain_time(text))
}

/// Reads a memory: `4GB`, `500MB`, `2GiB`. A number alone is in megabytes. With less than ten of them,
/// nothing can be done.
pub fn parse_memory(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 5] =
        [("GiB", 1 << 30), ("MiB", 1 << 20), ("GB", 1_000_000_000), ("MB", 1_000_000), ("", 1_000_000)];
    let bytes = parse_amount(text, &UNITS).filter(|memory| (10_000_000..=1_000_000_000_000).contains(memory));
    Ok(bytes.ok_or("expected a memory of 10MB to 1000GB, for example `4GB` or `500MB`")?)
}

fn parse_amount(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len()));
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    count(number)?.checked_mul(*factor)
}

pub fn read_budget(collector: &mut Collector, entries: &[Entry]) -> GivenBudget {
    let own = shape::section(collector, entries, "budget", &["time", "memory"]);
    GivenBudget {
        time: read_amount(collector, own, "time", "60s", parse_time),
        memory: read_amount(collector, own, "memory", "4GB", parse_memory),
    }
}

fn read_amount<T>(
    collector: &mut Collector,
    entries: &[Entry],
    key: &str,
    default: &str,
    parse: fn(&str) -> Result<T, String>,
) -> Option<T> {
    let node = shape::get(entries, key)?;
    let scalar = shape::scalar(collector, node, &format!("`{key}`"), &format!("{key}: {default}"))?;
    match parse(&scalar.text) {
        Ok(value) => Some(value),
        Err(message) => {
            let message = format!("`{key}`: {message}");
            let help = format!("the default is `{key}: {default}`");
            collector.mistake("wrong-value", message, &scalar.span, "not such a value", help);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_memories_have_units() {
        let time = |text: &str| parse_time(text).ok().map(|time| time.as_millis());
        let texts =
            ["60s", "1500ms", "5m", "2 h", "3000", "0s", "-1s", "s", "1d", "", "99999999999999999999s"];
        let wanted = [Some(60_000), Some(1500), Some(300_000), Some(7_200_000), Some(3000)];
        let wanted: Vec<Option<u128>> = wanted.into_iter().chain([None; 6]).collect();
        assert_eq!(texts.map(time).to_vec(), wanted);
        assert_eq!(
            ["0", "604800000", "604801s"].map(|text| parse_duration(text).is_ok()),
            [true, true, false]
        );
        let meant = |text: &str| {
            let explained = explain_time(text);
            explained.split_once("did you mean `").map(|(_, end)| end.trim_end_matches("`?").to_owned())
        };
        let texts = ["60 sec", "5S", "1.5s", "1.5m", "1.5 hours", "20min", "90 Minutes", "3H", "1500msec"];
        let wanted = ["60s", "5s", "1500ms", "90s", "90m", "20m", "90m", "3h", "1500ms"];
        assert_eq!(texts.map(|text| meant(text).unwrap_or_default()), wanted);
        // A time that would be refused again is not proposed.
        let texts = ["200h", "20000min", "700000sec", "0sec", "0.0s", "1.5", "1.2.3s", "1d", "fast", ""];
        assert_eq!(texts.map(meant), [const { None }; 10]);
        let memory = |text: &str| parse_memory(text).ok();
        assert_eq!(memory("4GB"), Some(MEMORY));
        assert_eq!(memory("500MB"), memory("500"));
        assert_eq!(memory("1GiB"), Some(1 << 30));
        assert_eq!(["1MB", "4gb", "GB", "2000GB"].map(memory), [None; 4]);
    }
}
