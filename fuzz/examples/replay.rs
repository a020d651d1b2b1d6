//! `replay TARGET FILE...`: runs a target's function on files, without a fuzzer, and says how long each took.

use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let target: fn(&[u8]) = match arguments.next().as_deref() {
        Some("yaml_reader") => coreach_fuzz::yaml_reader,
        Some("expression") => coreach_fuzz::expression,
        Some("configuration") => coreach_fuzz::configuration,
        Some("pipeline") => coreach_fuzz::pipeline,
        Some("wire") => coreach_fuzz::wire,
        _ => {
            eprintln!(
                "replay: expected yaml_reader, expression, configuration, pipeline or wire, then files"
            );
            return ExitCode::from(2);
        }
    };
    for path in arguments {
        match std::fs::read(&path) {
            Ok(bytes) => {
                let start = Instant::now();
                target(&bytes);
                println!("{path}: {:?}", start.elapsed());
            }
            Err(error) => {
                eprintln!("replay: {path}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}
