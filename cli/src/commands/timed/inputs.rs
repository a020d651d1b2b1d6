//! `coreach timed inputs`: what to send, and when, so that the system can go along a path.

use std::io;
use std::path::Path;

use coreach_execution::offline::sequence::SeqItem;
use coreach_execution::offline::write::{TraceForm, write_sequence};
use coreach_project::budget;
use coreach_project::timed::inputs::{TimedFate, TimedGoal, TimedInputs, cover, sequence_along};
use coreach_project::timed::{TimedModel, constants, load, path};

use super::super::{CommandAnswer, CommandResult, EarlyExit, plural};
use crate::console;
use crate::exit::Exit;
use crate::outputs::{OutputForm, ToWrite, resolve_outputs};
use crate::timed_arguments::InputsArguments;
use crate::write::write;

/// Computes timed inputs for a path, or for each goal of a criterion, and writes them.
pub fn inputs(arguments: &InputsArguments) -> CommandResult {
    let read = budget::reading(|| {
        let (model, warnings) = load(&arguments.model)?;
        let constants = constants(&model.timed, &arguments.constant)?;
        let path = arguments.path.as_deref().map(|text| path(&model.timed, text)).transpose()?;
        Ok((model, constants, path, warnings))
    });
    let (model, constants, path, warnings) = read?;
    console::draw(&warnings);
    let wanted = TimedInputs { constants, seed: arguments.seed, is_whole: arguments.whole };
    if let Some(path) = path {
        let items =
            budget::within("inputs", budget::time(None), |_| sequence_along(&model, &path, &wanted))??;
        let text = write_sequence(model.timed.graph(), &items, arguments.format);
        return Ok(CommandAnswer::of_text(Exit::Fine, text));
    }
    // Without a path both are there, or clap has refused the arguments.
    let (Some(folder), Some(criterion)) = (&arguments.out, arguments.cover) else {
        return Ok(CommandAnswer::of_text(Exit::Mistakes, ""));
    };
    let mut goals = Vec::new();
    let covered =
        budget::within("inputs", budget::time(None), |_| cover(&model, criterion, &wanted, &mut goals));
    let stop = match covered {
        Ok(Ok(())) => None,
        Ok(Err(found)) => return Err(found.into()),
        Err(stop) => Some(stop.to_diagnostic()),
    };
    console::draw(stop.as_slice());
    let exit = if stop.is_some() { Exit::Stopped } else { Exit::Fine };
    write_goals(arguments, &model, folder, &goals, exit)
}

/// Writes a file for each goal that was met, with its name, and tells what came of each goal.
fn write_goals(
    arguments: &InputsArguments,
    model: &TimedModel,
    folder: &Path,
    goals: &[TimedGoal],
    exit: Exit,
) -> CommandResult {
    let ending = if arguments.format == TraceForm::Csv { "csv" } else { "jsonl" };
    let (mut files, mut sequences) = (Vec::new(), Vec::new());
    for goal in goals {
        if let TimedFate::Met(_, items) = &goal.fate {
            let file = folder.join(format!("{}.{ending}", goal.name));
            files.push(ToWrite::new("--out", file, OutputForm::Sequence));
            sequences.push(items);
        }
    }
    let outputs = resolve_outputs(&files)?;
    let explain =
        |path: &Path, error: io::Error| EarlyExit::hindered(format_args!("{}: {error}", path.display()));
    std::fs::create_dir_all(folder).map_err(|error| explain(folder, error))?;
    for (items, output) in sequences.into_iter().zip(&outputs) {
        let text = write_sequence(model.timed.graph(), items, arguments.format);
        write(output, text).map_err(|error| explain(output.path(), error))?;
    }
    let lacks_path = goals.iter().any(|goal| matches!(goal.fate, TimedFate::NotFound(_)));
    let exit = exit.and(if lacks_path { Exit::Incomplete } else { Exit::Fine });
    Ok(CommandAnswer::of_text(exit, describe_fates(arguments, model, goals)))
}

/// Tells in a line for each goal what came of it.
fn describe_fates(arguments: &InputsArguments, model: &TimedModel, goals: &[TimedGoal]) -> String {
    let mut lines = String::new();
    for goal in goals {
        lines += &goal.name;
        if let Some(words) = &goal.words {
            lines += &format!(" ({words})");
        }
        let because = |why: &Option<String>| why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        lines += &match &goal.fate {
            TimedFate::Met(path, items) => {
                let names: Vec<String> = path.iter().map(|number| model.timed.called(*number)).collect();
                let count = items.iter().filter(|item| matches!(item, SeqItem::Event(..))).count();
                let what = plural(count, if arguments.whole { "event" } else { "input" });
                format!(": {what} along {}\n", names.join(","))
            }
            TimedFate::Never(why) => format!(": no run takes it{}\n", because(why)),
            TimedFate::NotFound(why) => format!(": no path was found{}\n", because(why)),
            TimedFate::Open => ": open, the budget ended before\n".to_owned(),
        };
    }
    lines
}
