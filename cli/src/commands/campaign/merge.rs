//! `coreach campaign merge`: runs from one store into another.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use coreach_execution::campaign::merge::Merged;
use coreach_execution::campaign::summary::summarize;
use coreach_execution::campaign::{Partition, Plan, Store};
use coreach_model::Diagnostic;
use coreach_project::budget;
use coreach_project::campaign::load_campaign;
use coreach_project::campaign::prepare::prepare;
use serde_json::{Value, json};

use super::{Telling, answer};
use crate::answer::draw_text;
use crate::arguments::MergeArguments;
use crate::commands::{CommandAnswer, CommandResult, EarlyExit, plural};
use crate::console;
use crate::exit::Exit;
use crate::outputs::{OutputForm, ToWrite, outputs};
use crate::progress::ProgressLine;
use crate::write::open_store;

struct Whole {
    plan: Plan,
    warnings: Vec<Diagnostic>,
}

/// Plans the campaign: which runs are its own?
fn plan_campaign(path: &Path, arguments: &MergeArguments) -> Result<Whole, EarlyExit> {
    let (campaign, mut warnings) = budget::reading(|| load_campaign(path))?;
    budget::set_campaign_budget(campaign.budget);
    let progress = ProgressLine::start(1, !arguments.quiet);
    let prepared = prepare(&campaign, Partition::WHOLE, campaign.threads, &|what| progress.says(what));
    drop(progress);
    let ((plan, _), more) = prepared?;
    warnings.extend(more);
    Ok(Whole { plan, warnings })
}

/// Puts the runs of some stores into one. With a campaign: its runs, and what came of it.
pub(super) fn merge(arguments: &MergeArguments) -> CommandResult {
    let whole = arguments.campaign.as_deref().map(|path| plan_campaign(path, arguments)).transpose()?;
    let keys: Option<HashSet<String>> =
        whole.as_ref().map(|whole| whole.plan.runs.iter().map(|run| run.key.to_string()).collect());
    let wants = |key: &str| keys.as_ref().is_none_or(|keys| keys.contains(key));
    let wanted = ToWrite::new("INTO", &*arguments.into, OutputForm::Store);
    let into = outputs(&[wanted])?.swap_remove(0);
    // A store that is not there would otherwise be made, and be there although nothing was merged.
    let mut strangers = Vec::new();
    for from in &arguments.from {
        let store = Store::read(from)?;
        if whole.is_some()
            && let (0, others @ 1..) = store.sorted(&wants)?
        {
            strangers.push(report_stranger(from, others));
        }
    }
    if !strangers.is_empty() {
        return Err(strangers.into());
    }
    let name = arguments.into.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut store = open_store(&into, &name)?;
    let mut merged = Vec::new();
    let mut conflicts = 0;
    for from in &arguments.from {
        let one = store.merge(from, &wants)?;
        conflicts += one.conflicts;
        merged.push((from, one));
    }
    if let Some(whole) = &whole {
        return finish_merge(arguments, whole, &store, &merged);
    }
    let total = store.count()?;
    // Those that an earlier merge has found, or that came with a store, are no less true.
    let kept = store.doubts()?.conflicts.len();
    let exit = match (conflicts.max(kept), total) {
        (1.., _) => Exit::Incomplete,
        (0, 0) => Exit::Incomplete,
        _ => Exit::Fine,
    };
    let one = |(from, merged): &(&PathBuf, Merged)| {
        json!({
            "store": from.display().to_string(),
            "new": merged.new,
            "known": merged.known,
            "conflicts": merged.conflicts,
        })
    };
    let document = || {
        json!({
            "format_version": 1,
            "exit_code": exit.code(),
            "store": arguments.into.display().to_string(),
            "runs": total,
            "merged": merged.iter().map(one).collect::<Vec<Value>>(),
        })
    };
    let text = || {
        let mut text = String::new();
        for (from, one) in &merged {
            text += &format!("{}: {} new, {} known", from.display(), one.new, one.known);
            if one.conflicts > 0 {
                text += &format!(", {} with another verdict", one.conflicts);
            }
            text += "\n";
        }
        text + &format!("{}: {}\n", arguments.into.display(), plural(total, "run"))
    };
    let mut answer = CommandAnswer::new(exit, document, text);
    if total == 0 {
        answer.remark("error: none of the stores has a run");
    }
    if kept > conflicts {
        let runs = plural(kept, "run");
        answer.remark(format!("warning: {} has {runs} with another verdict", arguments.into.display()));
    }
    if conflicts > 0 {
        answer.remark(format!(
            "warning: {} with another verdict were not taken; the table `conflicts` of {} has them",
            plural(conflicts, "run"),
            arguments.into.display()
        ));
    }
    Ok(answer)
}

/// A part of something else. To take nothing of it without a word would look like a part that is not done
/// yet.
fn report_stranger(store: &Path, runs: usize) -> Diagnostic {
    let runs = plural(runs, "run");
    let message = format!(
        "{} is no shard of this campaign: it has {runs}, and none of them is in the plan",
        store.display()
    );
    let help = "a model, an IUT, a constant or a setting was another one where it was made: do the shard again, or leave the store out";
    Diagnostic::error("another-campaign", message).help(help)
}

/// What came of the campaign whose shards these were.
fn finish_merge(
    arguments: &MergeArguments,
    whole: &Whole,
    store: &Store,
    merged: &[(&PathBuf, Merged)],
) -> CommandResult {
    draw_text(&whole.warnings);
    for (from, one) in merged.iter().filter(|(_, one)| one.left > 0 && !arguments.quiet) {
        let runs = plural(one.left, "run");
        console::say(&format!("note: {}: {runs} of another plan were not taken", from.display()));
    }
    let contents = store.contents()?;
    let summary = summarize(&whole.plan, &contents);
    let MergeArguments { quiet: is_quiet, inconclusive, .. } = *arguments;
    let telling = Telling { is_quiet, inconclusive, fail_fast: false };
    Ok(answer(&summary, &whole.warnings, &arguments.into, Partition::WHOLE, 0, telling))
}
