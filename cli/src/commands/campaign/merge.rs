//! `coreach campaign merge`: runs from one store into another.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use coreach_execution::campaign::merge::Merged;
use coreach_execution::campaign::summary::summarize;
use coreach_execution::campaign::{CampaignPlan, Partition, Store};
use coreach_model::Diagnostic;
use coreach_project::budget;
use coreach_project::campaign::load_campaign;
use coreach_project::campaign::prepare::prepare;
use serde_json::{Value, json};

use super::{Telling, make_answer};
use crate::answer::draw_text;
use crate::arguments::MergeArguments;
use crate::commands::{CommandAnswer, CommandResult, EarlyExit, plural};
use crate::console;
use crate::exit::Exit;
use crate::outputs::{OutputForm, ToWrite, resolve_outputs};
use crate::progress::with_progress;
use crate::write::open_store;

struct PlannedCampaign {
    plan: CampaignPlan,
    warnings: Vec<Diagnostic>,
}

/// Plans the campaign, to know which runs are its own.
fn plan_campaign(path: &Path, arguments: &MergeArguments) -> Result<PlannedCampaign, EarlyExit> {
    let (campaign, mut warnings) = budget::reading(|| load_campaign(path))?;
    budget::set_campaign_budget(campaign.budget);
    let ((plan, _), plan_warnings) =
        with_progress(!arguments.quiet, |says| prepare(&campaign, Partition::WHOLE, campaign.threads, says))?;
    warnings.extend(plan_warnings);
    Ok(PlannedCampaign { plan, warnings })
}

/// Puts the runs of some stores into one. If a campaign is named: only its runs, and with its summary.
pub(super) fn merge(arguments: &MergeArguments) -> CommandResult {
    let planned = arguments.campaign.as_deref().map(|path| plan_campaign(path, arguments)).transpose()?;
    let keys: Option<HashSet<String>> =
        planned.as_ref().map(|planned| planned.plan.runs.iter().map(|run| run.key.to_string()).collect());
    let wants = |key: &str| keys.as_ref().is_none_or(|keys| keys.contains(key));
    let wanted = ToWrite::new("INTO", &*arguments.into, OutputForm::Store);
    let into = resolve_outputs(&[wanted])?.swap_remove(0);
    // Look at all stores first. Opening the target makes it, and it must not be there if nothing is merged.
    let mut stranger_reports = Vec::new();
    for from in &arguments.from {
        let store = Store::read(from)?;
        if planned.is_some()
            && let (0, others @ 1..) = store.count_wanted(&wants)?
        {
            stranger_reports.push(report_stranger(from, others));
        }
    }
    if !stranger_reports.is_empty() {
        return Err(stranger_reports.into());
    }
    let name = arguments.into.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut store = open_store(&into, &name)?;
    let mut merged = Vec::new();
    for from in &arguments.from {
        merged.push((from, store.merge(from, &wants)?));
    }
    match &planned {
        Some(planned) => finish_merge(arguments, planned, &store, &merged),
        None => report_merge(arguments, &store, &merged),
    }
}

/// Reports what came of each store, if no campaign is named.
fn report_merge(arguments: &MergeArguments, store: &Store, merged: &[(&PathBuf, Merged)]) -> CommandResult {
    let conflicts: usize = merged.iter().map(|(_, merged)| merged.conflicts).sum();
    let total = store.count()?;
    // Conflicts that an earlier merge has found, or that came with a store, count as well.
    let all_conflicts = store.doubts()?.conflicts.len();
    let is_complete = conflicts.max(all_conflicts) == 0 && total > 0;
    let exit = if is_complete { Exit::Fine } else { Exit::Incomplete };
    let to_json = |(from, merged): &(&PathBuf, Merged)| {
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
            "merged": merged.iter().map(to_json).collect::<Vec<Value>>(),
        })
    };
    let text = || {
        let mut text = String::new();
        for (from, Merged { new, known, conflicts, .. }) in merged {
            text += &format!("{}: {new} new, {known} known", from.display());
            if *conflicts > 0 {
                text += &format!(", {conflicts} with another verdict");
            }
            text += "\n";
        }
        text + &format!("{}: {}\n", arguments.into.display(), plural(total, "run"))
    };
    let mut answer = CommandAnswer::new(exit, document, text);
    if total == 0 {
        answer.remark("error: none of the stores has a run");
    }
    if all_conflicts > conflicts {
        let runs = plural(all_conflicts, "run");
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

/// Reports a store with no run of this campaign. Without a word, it would look like a shard that is not done.
fn report_stranger(store: &Path, runs: usize) -> Diagnostic {
    let runs = plural(runs, "run");
    let message =
        format!("{} is not a shard of this campaign: it has {runs}, but none of the plan", store.display());
    let help = "it was made with another model, IUT, constant or setting: run the shard again, or leave this store out";
    Diagnostic::error("another-campaign", message).help(help)
}

/// Answers with the summary of the campaign whose shards were merged.
fn finish_merge(
    arguments: &MergeArguments,
    planned: &PlannedCampaign,
    store: &Store,
    merged: &[(&PathBuf, Merged)],
) -> CommandResult {
    draw_text(&planned.warnings);
    for (from, counts) in merged.iter().filter(|(_, counts)| counts.left > 0 && !arguments.quiet) {
        let runs = plural(counts.left, "run");
        console::say(&format!("note: {}: {runs} of another plan were not taken", from.display()));
    }
    let contents = store.contents()?;
    let summary = summarize(&planned.plan, &contents);
    let MergeArguments { quiet: is_quiet, inconclusive, .. } = *arguments;
    let telling = Telling { is_quiet, inconclusive, fail_fast: false };
    let executed = 0;
    Ok(make_answer(&summary, &planned.warnings, &arguments.into, Partition::WHOLE, executed, telling))
}
