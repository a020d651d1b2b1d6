//! What selection takes with the default analysis, in milliseconds of the processor, purpose by purpose:
//! `cargo run --profile soak -p coreach-project --example selection -- CONFIGURATION...`.
//!
//! *All* are all stages of one purpose, with a solver that has seen nothing; *selection* is the analysis and
//! what is made of its facts. The least of five runs, since a busy machine only adds.

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use coreach_analyses::domains::suited::suited;
use coreach_model::budget::Budget;
use coreach_pipeline::Stage;
use coreach_project::{making, project};

const RUNS: usize = 5;

fn main() -> ExitCode {
    println!("| model | purpose | domain | selection | all |\n|---|---|---|---|---|");
    for configuration in std::env::args().skip(1) {
        if let Err(message) = measure(configuration.as_ref()) {
            eprintln!("selection: {configuration}: {message}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn measure(configuration: &Path) -> Result<(), String> {
    let (project, _) = project::load(configuration).map_err(|found| format!("{found:?}"))?;
    for purpose in &project.purposes {
        let domain = suited([&project.specification.iosts, &purpose.iosts]);
        let mut least = [Duration::MAX; 2];
        for _ in 0..RUNS {
            let budget = Budget::new("measured", None, false);
            let begun = Mutex::new(Vec::new());
            let says = |what: String| {
                let time = budget.used().processor;
                begun.lock().unwrap_or_else(PoisonError::into_inner).push((what, time));
            };
            let made = making::make(&project, purpose, domain, false, &says);
            made.map_err(|stop| stop.to_diagnostic().message)?;
            let all = budget.used().processor;
            let begun = begun.into_inner().unwrap_or_else(PoisonError::into_inner);
            let at = |stage: Stage| {
                let own = begun.iter().find(|(what, _)| what.ends_with(&format!(": {}", stage.name())));
                own.map_or(all, |(_, time)| *time)
            };
            let selection = at(Stage::InputComplete).saturating_sub(at(Stage::Select));
            least = [least[0].min(selection), least[1].min(all)];
        }
        let [selection, all] = least.map(|time| time.as_secs_f64() * 1000.0);
        let (model, purpose) = (&project.specification.iosts.name, &purpose.iosts.name);
        println!("| {model} | `{purpose}` | {domain} | {selection:.1} | {all:.1} |");
    }
    Ok(())
}
