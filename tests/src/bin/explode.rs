//! Measures the families of small models that ask for much (`scripts/explode`).
//!
//! Each member is made by a process of its own (`coreach run`), which is told the limits as its budget
//! (`--unbudgeted`: it is not, for programs that have none) and must end by itself. What does not is ended:
//! by the kernel at several times the memory, since it counts addresses and not what is used, by this program
//! at twice the time. A line per member: the processor time of the process, its peak of memory, the growth of
//! both over the member of half the size, how it ended, the seconds of each stage and the questions to the
//! solver.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use coreach_tests::families::{Family, all, configuration};

const USAGE: &str =
    "usage: explode [--seconds N] [--megabytes N] [--program FILE] [--unbudgeted] [--small] [FAMILY...]";

struct Limits {
    seconds: u64,
    megabytes: u64,
    program: PathBuf,
    budgeted: bool,
    small: bool,
    only: Vec<String>,
}

/// The addresses that a process may have, for each byte that it may use.
const ADDRESSES: u64 = 4;

/// Who is told to end looks at the clock now and then: so many seconds later, and tenths of its memory more.
const SLACK: f64 = 1.0;

struct Measured {
    seconds: f64,
    megabytes: f64,
    outcome: String,
    stages: String,
    within: bool,
}

fn main() -> ExitCode {
    let limits = match limits() {
        Ok(limits) => limits,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let folder = std::env::temp_dir().join(format!("coreach-explode-{}", std::process::id()));
    let outcome = measure_all(&limits, &folder);
    // What cannot be removed from a folder for temporary files stays there.
    let _ = std::fs::remove_dir_all(&folder);
    match outcome {
        Ok(0) => {
            println!("each ended within {} s and {} MB", limits.seconds, limits.megabytes);
            ExitCode::SUCCESS
        }
        Ok(beyond) => {
            println!("{beyond} did not end within {} s and {} MB", limits.seconds, limits.megabytes);
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("explode: {error}");
            ExitCode::from(2)
        }
    }
}

fn limits() -> Result<Limits, String> {
    let beside = std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("program");
    let mut limits = Limits {
        seconds: 10,
        megabytes: 1_000,
        program: beside,
        budgeted: true,
        small: false,
        only: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("`{text}` is no number"));
        match argument.as_str() {
            "--seconds" => limits.seconds = number(value()?)?,
            "--megabytes" => limits.megabytes = number(value()?)?,
            "--program" => limits.program = PathBuf::from(value()?),
            "--unbudgeted" => limits.budgeted = false,
            "--small" => limits.small = true,
            name if all().iter().any(|family| family.name == name) => limits.only.push(name.to_owned()),
            other => return Err(format!("`{other}` is neither an option nor a family")),
        }
    }
    Ok(limits)
}

fn measure_all(limits: &Limits, folder: &Path) -> std::io::Result<usize> {
    let mut beyond = 0;
    println!(
        "{:<22} {:>6} {:>8} {:>6} {:>8} {:>6}  {:<28} stages",
        "family", "size", "seconds", "x", "MB", "x", "outcome"
    );
    for family in all() {
        if !limits.only.is_empty() && !limits.only.iter().any(|name| name == family.name) {
            continue;
        }
        let mut before: Option<Measured> = None;
        for size in sizes(&family, limits.small) {
            let measured = measure(&family, size, limits, folder)?;
            let growth = |now: f64, then: fn(&Measured) -> f64| {
                before
                    .as_ref()
                    .map_or(String::new(), |before| format!("{:.1}", now / then(before).max(0.001)))
            };
            println!(
                "{:<22} {size:>6} {:>8.2} {:>6} {:>8.0} {:>6}  {:<28} {}",
                family.name,
                measured.seconds,
                growth(measured.seconds, |before| before.seconds),
                measured.megabytes,
                growth(measured.megabytes, |before| before.megabytes),
                measured.outcome,
                measured.stages
            );
            let ended = measured.within;
            before = Some(measured);
            if !ended {
                // Larger ones would only cost the same limit again.
                beyond += 1;
                break;
            }
        }
    }
    Ok(beyond)
}

/// From the last size downwards in halves, so that the last is always among them.
fn sizes(family: &Family, small: bool) -> Vec<usize> {
    let (first, last) = family.sizes;
    let mut sizes = vec![last];
    while let Some(&size) = sizes.last()
        && size / 2 >= first
    {
        sizes.push(size / 2);
    }
    sizes.reverse();
    sizes.truncate(if small { 1 } else { usize::MAX });
    sizes
}

fn measure(family: &Family, size: usize, limits: &Limits, folder: &Path) -> std::io::Result<Measured> {
    std::fs::create_dir_all(folder)?;
    let (specification, purpose) = (family.make)(size);
    std::fs::write(folder.join("specification.yaml"), specification)?;
    std::fs::write(folder.join("purpose.yaml"), purpose)?;
    std::fs::write(folder.join("coreach.yaml"), configuration(family))?;
    let answer = folder.join("answer.json");
    let complaint = folder.join("complaint.txt");
    let budget = limits.budgeted.then(|| {
        let (time, memory) = (format!("{}s", limits.seconds), format!("{}MB", limits.megabytes));
        ["--time".to_owned(), time, "--memory".to_owned(), memory]
    });
    let start = Instant::now();
    // The shell sets the limit of memory and becomes the program; `ulimit -v` counts in kilobytes.
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -v \"$1\"; shift; exec \"$@\"", "sh"])
        .arg((limits.megabytes * ADDRESSES * 1_000).to_string())
        .arg(&limits.program)
        .args(["run", "coreach.yaml", "--format", "json"])
        .args(budget.iter().flatten())
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(File::create(&answer)?)
        .stderr(File::create(&complaint)?)
        .spawn()?;
    let (mut peak, mut seconds) = (0.0f64, 0.0f64);
    let limit = limits.seconds as f64;
    let status = loop {
        peak = peak.max(resident_peak(child.id()));
        seconds = seconds.max(processor_seconds(child.id()));
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        // A process that waits for something uses no processor, and must end too.
        if seconds > 2.0 * limit || start.elapsed().as_secs_f64() > 20.0 * limit {
            child.kill()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(if start.elapsed().as_millis() < 500 { 2 } else { 20 }));
    };
    let text = std::fs::read_to_string(&answer).unwrap_or_default();
    let said = std::fs::read_to_string(&complaint).unwrap_or_default();
    let (outcome, within) = match status {
        None => ("time".to_owned(), false),
        Some(status) => match (status.code(), result(&text)) {
            (Some(_), Some(result)) => {
                (result, seconds <= limit + SLACK && peak <= limits.megabytes as f64 * (1.0 + SLACK / 10.0))
            }
            (code, _) if said.contains("memory allocation") => {
                (format!("memory ({})", code.map_or("signal".to_owned(), |code| code.to_string())), false)
            }
            (Some(code), None) => (format!("exit {code}"), false),
            (None, _) => ("signal".to_owned(), false),
        },
    };
    Ok(Measured { seconds, megabytes: peak, outcome, stages: stages(&text), within })
}

/// The processor time of a process so far, in seconds. On a machine with much else to do the clock says
/// little.
fn processor_seconds(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name, in brackets, may have anything in it; behind it, user and system time are the 12th and 13th
    // field.
    let fields = status.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    // Linux counts hundredths of a second for programs, whatever it counts itself.
    ticks.sum::<f64>() / 100.0
}

/// The peak of a process' resident memory so far, in megabytes.
fn resident_peak(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1_000.0
}

/// The result that the program's answer states, and the code of the reason where it stopped.
fn result(text: &str) -> Option<String> {
    let result = value(text, "result")?;
    match value(text, "code") {
        Some(code) if result == "stopped" => Some(format!("{result}: {code}")),
        _ => Some(result),
    }
}

/// `name locations/transitions seconds` of each stage, and the questions.
fn stages(text: &str) -> String {
    let mut parts = Vec::new();
    for stage in text.split("\"stage\":").skip(1) {
        let name = stage.split('"').nth(1).unwrap_or_default();
        let number = |key: &str| value(stage, key).unwrap_or_default();
        let seconds: f64 = number("seconds").parse().unwrap_or(0.0);
        parts.push(format!("{name} {}/{} {seconds:.2}", number("locations"), number("transitions")));
    }
    if let Some(queries) = value(text, "queries") {
        parts.push(format!("{queries} questions"));
    }
    parts.join(", ")
}

/// The first value of a key, without its quotes.
fn value(text: &str, key: &str) -> Option<String> {
    let (_, behind) = text.split_once(&format!("\"{key}\":"))?;
    let value = behind.split([',', '\n', '}']).next()?;
    Some(value.trim().trim_matches('"').to_owned())
}
