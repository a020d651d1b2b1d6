//! What commands have alike that can be done in shards: `mutate` and `compare`. A campaign has its store
//! instead.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use coreach_execution::campaign::{Key, Partition};
use coreach_model::Diagnostic;
use coreach_project::budget;
use coreach_project::shards::{Shard, join, load, takes};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::tasks::{TasksError, Work, quoted_path, write_tasks};
use super::{EarlyExit, plural, refuse, refuse_as, unwritten};
use crate::console;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::outputs::{Output, OutputForm, ToWrite};
use crate::shard_arguments::{JoinArguments, ShardArguments, TasksArguments};
use crate::write::write;

/// What a shard's exit code may be when its results are kept: everything but mistakes and the machine.
const DONE: &[u8] = &[0, 1, 3, 4, 5, 6, 7, 9];

/// The items that this call does, with their numbers. It is refused where another plan was meant.
///
/// # Errors
/// One finding.
pub fn mine<I>(
    items: Vec<I>,
    plan: &Key,
    shard: &ShardArguments,
) -> Result<Vec<(usize, I)>, Vec<Diagnostic>> {
    let hash = plan.to_string();
    if shard.plan.as_ref().is_some_and(|wanted| *wanted != hash) {
        let message = "what is to be done is not what `--plan` names: a model, an option or the version of coreach is another one here";
        let help = format!(
            "where it was meant, write the tasks anew; otherwise give this machine the same files and the same coreach. The plan here \
             is {hash}"
        );
        return Err(vec![Diagnostic::error("another-plan", message).help(help)]);
    }
    let partition = shard.partition.unwrap_or(Partition::WHOLE);
    let numbered = items.into_iter().enumerate();
    Ok(numbered.filter(|(number, _)| takes(partition, plan, *number)).collect())
}

/// Where the results are to be kept. Asked before there are any.
pub fn place(shard: &ShardArguments, form: OutputForm) -> Option<ToWrite> {
    shard.store.as_deref().map(|store| ToWrite::new("--store", store, form))
}

/// Results that are kept there already, of the same plan. Those of another plan are replaced, like any
/// output.
pub fn known<W: DeserializeOwned, I: DeserializeOwned>(
    kind: &str,
    shard: &ShardArguments,
    plan: &Key,
) -> BTreeMap<usize, I> {
    let before: Option<Shard<W, I>> = shard.store.as_deref().and_then(|path| load(kind, path).ok());
    before.filter(|before| before.plan == plan.to_string()).map(|before| before.items).unwrap_or_default()
}

/// Keeps results where they are to be kept.
pub fn keep<W: Serialize, I: Serialize>(
    place: Option<&Output>,
    results: &Shard<W, I>,
) -> Result<(), EarlyExit> {
    let Some(output) = place else { return Ok(()) };
    let written = results.to_text().map_err(io::Error::from).and_then(|text| write(output, text));
    written.map_err(|error| unwritten(output.path(), &error))
}

/// Puts shards together, hands the whole to who tells it, with the exit code for what it lacks, and says what
/// that is.
pub fn merge<W: PartialEq + DeserializeOwned, I: DeserializeOwned>(
    kind: &str,
    arguments: &JoinArguments,
    is_same: fn(&I, &I) -> bool,
    tell: impl FnOnce(&Shard<W, I>, Exit) -> Exit,
) -> Result<Exit, EarlyExit> {
    let (mut shards, mut found) = (Vec::new(), Vec::new());
    for path in &arguments.shards {
        match load(kind, path) {
            Ok(shard) => shards.push((path.clone(), shard)),
            Err(why) => found.push(why),
        }
    }
    let joined = if found.is_empty() { join(shards, is_same) } else { Err(found) };
    let (joined, contradictions) = joined.map_err(|found| refuse(&found, arguments.format))?;
    let is_whole = joined.missing() == 0 && contradictions == 0;
    let exit = tell(&joined, if is_whole { Exit::Fine } else { Exit::Incomplete });
    if joined.missing() > 0 {
        console::say(&format!(
            "error: {} of {} are in no shard: the summary lacks them",
            plural(joined.missing(), "result"),
            joined.total
        ));
    }
    if contradictions > 0 {
        let results = plural(contradictions, "result");
        console::say(&format!("error: shards contradict each other in {results}: the first shard counts"));
    }
    Ok(exit)
}

/// Writes the scripts for an engine. `options`: what each shard is told besides, in words that a shell takes
/// for themselves.
pub fn tasks(
    kind: &str,
    arguments: &TasksArguments,
    plan: &Key,
    total: usize,
    options: &str,
) -> Result<Exit, EarlyExit> {
    let human = OutputFormat::Human;
    let config = quoted_path(&arguments.configuration)?;
    let (shards, threads) = (arguments.shards, arguments.threads);
    let said = budget::said_words();
    let command = [
        format!("\"$coreach\" {kind} ").as_bytes(),
        &config,
        format!(
            " {options} \\\n    --plan {plan} --partition \"hash:$shard/{shards}\" --store \"$work/shard\" --threads {threads}{said} >/dev/null"
        )
        .as_bytes(),
    ]
    .concat();
    let work = Work {
        title: format!("`coreach {kind}`"),
        name: kind,
        ending: ".shard",
        command,
        merge: format!("\"$coreach\" {kind} merge \"$@\" shards/*.shard").into_bytes(),
        done: DONE,
        plan: plan.to_string(),
    };
    match write_tasks(arguments, &work) {
        Ok(()) => {}
        Err(TasksError::Refused(found)) => return Err(refuse(&found, human)),
        Err(TasksError::Unwritten(path, error)) => {
            let diagnostic =
                Diagnostic::error("not-written", format!("cannot write {}: {error}", path.display()));
            return Err(refuse_as(&[diagnostic], human, Exit::Environment));
        }
    }
    if !arguments.quiet {
        let submit = arguments.out.join("submit");
        console::say(&format!(
            "note: {} in {}: sh {}",
            plural(total, "item"),
            plural(shards.get(), "shard"),
            submit.display()
        ));
    }
    Ok(Exit::Fine)
}

/// A configuration that clap has seen to be there.
pub fn given(path: Option<&Path>) -> &Path {
    path.unwrap_or(Path::new(""))
}

/// Results by the numbers of their items, with those that were known before.
pub fn numbered<I>(
    numbers: impl IntoIterator<Item = usize>,
    items: Vec<I>,
    known: BTreeMap<usize, I>,
) -> BTreeMap<usize, I> {
    numbers.into_iter().zip(items).chain(known).collect()
}
