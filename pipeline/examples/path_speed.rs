//! How long path-guided test cases take: `cargo run --release -p coreach-pipeline --example path_speed`, or
//! `scripts/bench path`.
//!
//! The cash machine of 2024, its purpose `tr1 tr2 tr3 tr4` again and again, cut at a length that ends in an
//! output. Generation alone: the model has been read, nothing is written. Each length is measured as often as
//! the first argument says (default 11), each time with a solver that has seen nothing; printed are the
//! median, the least and the most, in milliseconds, and the number of transitions.
//!
//! Other lengths behind the first argument: `path_speed 5 200 400 800`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::reader::{load, read_timed_specification};
use coreach_model::timed::Timed;
use coreach_pipeline::timed::{PathGuided, SilenceAfter, TimedOptions, path_guided, resolve};
use dashu_ratio::RBig;

/// The lengths that the publication reports, and one more.
const LENGTHS: [usize; 4] = [4, 50, 100, 1000];

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|text| text.parse::<usize>().ok());
    let times = numbers.next().unwrap_or(11).max(1);
    let asked: Vec<usize> = numbers.collect();
    let lengths = if asked.is_empty() { LENGTHS.to_vec() } else { asked };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/atm_timed/specification.yaml");
    let read = load(&file).map_err(|found| vec![found]).and_then(read_timed_specification);
    let timed = match read {
        Ok((specification, _)) => specification.timed,
        Err(found) => {
            return said(&found.iter().map(|one| one.message.clone()).collect::<Vec<_>>().join("\n"));
        }
    };
    println!("{:>6} {:>12} {:>10} {:>10} {:>10}", "steps", "transitions", "median ms", "least ms", "most ms");
    for length in lengths {
        let mut measured = Vec::new();
        let mut transitions = 0;
        for _ in 0..times {
            let begin = Instant::now();
            match made(&timed, length) {
                Ok(made) => {
                    measured.push(begin.elapsed().as_secs_f64() * 1000.0);
                    transitions = made.by_rules();
                }
                Err(message) => return said(&message),
            }
        }
        measured.sort_by(f64::total_cmp);
        let (median, least) = (measured[measured.len() / 2], measured[0]);
        let most = measured[measured.len() - 1];
        println!("{length:>6} {transitions:>12} {median:>10.2} {least:>10.2} {most:>10.2}");
    }
    ExitCode::SUCCESS
}

fn made(timed: &Timed, length: usize) -> Result<PathGuided, String> {
    let period = resolve(timed, "tr1,tr2,tr3,tr4").map_err(|stop| stop.to_diagnostic().message)?;
    let path: Vec<_> = period.iter().copied().cycle().take(length).collect();
    let options =
        TimedOptions { silence_after: SilenceAfter::Time(RBig::from(5)), published: false, check: false };
    path_guided(timed, &path, &options, &mut Z3Solver::default()).map_err(|stop| stop.to_diagnostic().message)
}

fn said(message: &str) -> ExitCode {
    eprintln!("path_speed: {message}");
    ExitCode::FAILURE
}
