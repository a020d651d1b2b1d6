//! `coreach campaign tasks`: a campaign in shards, for an engine.

use coreach_execution::campaign::Partition;
use coreach_project::budget;
use coreach_project::campaign::load_campaign;
use coreach_project::campaign::prepare::prepare;

use crate::commands::tasks::{TasksError, Work, quoted_path, write_tasks};
use crate::commands::{EarlyExit, plural, refuse, unwritten};
use crate::console;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::progress::ProgressLine;
use crate::shard_arguments::TasksArguments;

/// What a shard's exit code may be when all its runs are in its store: verdicts, and runs that there are none
/// of.
const DONE: &[u8] = &[0, 1, 3, 4, 5, 6, 7, 9];

/// Plans the campaign once, so that mistakes are told here and each shard knows the plan, and writes the
/// scripts.
pub(super) fn tasks(arguments: &TasksArguments) -> Result<Exit, EarlyExit> {
    let human = OutputFormat::Human;
    let path = &arguments.configuration;
    let (campaign, mut warnings) =
        budget::reading(|| load_campaign(path)).map_err(|found| refuse(&found, human))?;
    budget::campaign(campaign.budget);
    let threads = arguments.threads.get();
    let progress = ProgressLine::start(1, !arguments.quiet);
    let prepared = prepare(&campaign, Partition::WHOLE, threads, &|what| progress.says(what));
    drop(progress);
    let ((plan, _), more) = prepared.map_err(|found| refuse(&found, human))?;
    warnings.extend(more);
    console::draw(&warnings);
    let config = quoted_path(path).map_err(|error| unwritten(&arguments.out, &error))?;
    let hash = plan.hash.to_string();
    let shards = arguments.shards;
    // Shards that had other budgets could leave out other purposes.
    let said = budget::said_words();
    let command = [
        b"\"$coreach\" campaign ".as_slice(),
        &config,
        format!(
            " --plan {hash} \\\n    --partition \"hash:$shard/{shards}\" --store \"$work/shard\" --threads {threads}{said} --quiet >/dev/null"
        )
        .as_bytes(),
    ]
    .concat();
    let merge = [
        b"\"$coreach\" campaign merge --campaign ".as_slice(),
        &config,
        format!(" \\\n    --plan {hash}{said} \"$@\" merged.sqlite shards/*.sqlite").as_bytes(),
    ]
    .concat();
    let work = Work {
        title: format!("the campaign {}", plan.campaign),
        name: &plan.campaign,
        ending: ".sqlite",
        command,
        merge,
        done: DONE,
        plan: hash,
    };
    write_tasks(arguments, &work).map_err(|error| match error {
        TasksError::Refused(found) => refuse(&found, human),
        TasksError::Unwritten(path, error) => unwritten(&path, &error),
    })?;
    if !arguments.quiet {
        let (runs, shards) = (plural(plan.runs.len(), "run"), plural(shards.get(), "shard"));
        console::say(&format!("note: {runs} in {shards}: sh {}", arguments.out.join("submit").display()));
    }
    Ok(Exit::Fine)
}
