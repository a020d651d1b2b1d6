//! `coreach campaign merge` and `coreach campaign salvage`: runs from one store into another.

use std::path::PathBuf;

use coreach_execution::campaign::merge::Merged;
use coreach_execution::campaign::{Store, StoreError};
use coreach_project::outputs::{self, Named};
use serde_json::{Value, json};

use super::{Ended, broken, printed, refused};
use crate::arguments::{MergeArguments, SalvageArguments};
use crate::commands::plural;
use crate::console;
use crate::exit::Exit;
use crate::output_format::OutputFormat;

/// So much of what was left is told to people; a document has all.
const TOLD: usize = 20;

/// Puts the runs of some stores into one.
pub(super) fn merge(arguments: &MergeArguments) -> Result<Exit, Ended> {
    let inputs: Vec<Named> =
        arguments.from.iter().map(|from| Named::new("a file of a store that is merged", from)).collect();
    for from in &arguments.from {
        if outputs::refuse(&[Named::new("INTO", &arguments.into)], &[Named::new("FROM", from)]).is_err() {
            return Err(broken(&StoreError::Same(from.clone())));
        }
    }
    let beside: Vec<Named> = inputs.iter().flat_map(|input| outputs::store(&input.path)).collect();
    outputs::refuse(&[Named::new("INTO", &arguments.into)], &beside)
        .map_err(|found| refused(&found, arguments.format))?;
    // A store that is not there would otherwise be made, and be there although nothing was merged.
    for from in &arguments.from {
        Store::read(from).map_err(|error| broken(&error))?;
    }
    let name = arguments.into.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut store = Store::open(&arguments.into, &name).map_err(|error| broken(&error))?;
    let mut merged = Vec::new();
    let mut conflicts = 0;
    for from in &arguments.from {
        let one = store.merge(from).map_err(|error| broken(&error))?;
        conflicts += one.conflicts;
        merged.push((from, one));
    }
    let total = store.rows().map_err(|error| broken(&error))?.len();
    // Those that an earlier merge has found, or that came with a store, are no less true.
    let kept = store.doubts().map_err(|error| broken(&error))?.conflicts.len();
    let exit = match (conflicts.max(kept), total) {
        (1.., _) => Exit::Incomplete,
        (0, 0) => Exit::Incomplete,
        _ => Exit::Fine,
    };
    let written = match arguments.format {
        OutputFormat::Json => {
            let one = |(from, merged): &(&PathBuf, Merged)| {
                json!({
                    "store": from.display().to_string(),
                    "new": merged.new,
                    "known": merged.known,
                    "conflicts": merged.conflicts,
                })
            };
            console::print_json(&json!({
                "format_version": 1,
                "exit_code": exit.code(),
                "store": arguments.into.display().to_string(),
                "runs": total,
                "merged": merged.iter().map(one).collect::<Vec<Value>>(),
            }))
        }
        OutputFormat::Human => {
            let mut text = String::new();
            for (from, one) in &merged {
                let mut line = format!("{}: {} new, {} known", from.display(), one.new, one.known);
                if one.conflicts > 0 {
                    line += &format!(", {} with another verdict", one.conflicts);
                }
                text += &(line + "\n");
            }
            text += &format!("{}: {}\n", arguments.into.display(), plural(total, "run"));
            console::print(&crate::visible::visible(&text))
        }
    };
    printed(written)?;
    if total == 0 {
        console::say("error: none of the stores has a run");
    }
    if kept > conflicts {
        let runs = plural(kept, "run");
        console::say(&format!("warning: {} has {runs} with another verdict", arguments.into.display()));
    }
    if conflicts > 0 {
        console::say(&format!(
            "warning: {} with another verdict were not taken; the table `conflicts` of {} has them",
            plural(conflicts, "run"),
            arguments.into.display()
        ));
    }
    Ok(exit)
}

/// Takes what is whole in a damaged store into another one, and says what was left. Exit code 5 where something was.
pub(super) fn salvage(arguments: &SalvageArguments) -> Result<Exit, Ended> {
    let into = Named::new("INTO", &arguments.into);
    outputs::refuse(&[into], &outputs::store(&arguments.from))
        .map_err(|found| refused(&found, arguments.format))?;
    // Damage is no surprise here; anything else ends it before a store is made.
    match Store::read(&arguments.from) {
        Ok(_) | Err(StoreError::Damaged(..)) => {}
        Err(error) => return Err(broken(&error)),
    }
    let name = arguments.into.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut store = Store::open(&arguments.into, &name).map_err(|error| broken(&error))?;
    let salvaged = store.salvage(&arguments.from).map_err(|error| broken(&error))?;
    let is_whole = salvaged.left.is_empty() && salvaged.doubt.is_none();
    let exit = if is_whole && salvaged.taken > 0 { Exit::Fine } else { Exit::Incomplete };
    let (from, into) = (arguments.from.display(), arguments.into.display());
    let written = match arguments.format {
        OutputFormat::Json => console::print_json(&json!({
            "format_version": 1,
            "exit_code": exit.code(),
            "store": into.to_string(),
            "from": from.to_string(),
            "taken": salvaged.taken,
            "damage": salvaged.doubt,
            "left": salvaged.left,
        })),
        OutputFormat::Human => {
            let mut text = format!("{from}: {} taken into {into}\n", plural(salvaged.taken, "run"));
            for left in salvaged.left.iter().take(TOLD) {
                text += &format!("left: {left}\n");
            }
            if salvaged.left.len() > TOLD {
                text += &format!("and {} more\n", salvaged.left.len() - TOLD);
            }
            console::print(&crate::visible::visible(&text))
        }
    };
    printed(written)?;
    if let Some(doubt) = &salvaged.doubt {
        console::say(&format!(
            "warning: {from} is damaged: {doubt}; what is missing is done again by the campaign"
        ));
    }
    Ok(exit)
}
