//! Results of one shard of some work, as a file: what another process puts together with those of the other
//! shards.
//!
//! **Problem.** A campaign has a store, into which another one can be merged. Mutation and comparison have
//! results that fit on a page, and no store. Done in shards, each shard must say of what it is a shard, or
//! results of two models would be put together without a word; and the whole must be told exactly as by one
//! process.
//!
//! **Method.** Work is a list of items with numbers, a function of what the user wrote. A shard has those
//! that fall to it by their hash ([`takes`]), and the file has their results by number, what all shards have
//! alike, how many items there are, and a hash of all that decides what the items are, our version included.
//! Both commands tell everything from such a value ([`Shard`]), be it of one process or joined of files
//! ([`join`]): so the same results are told in the same bytes. Shards with another hash are refused; an item
//! that two shards have is one, if they agree; what no shard has is told.
//!
//! The file is a line of JSON, and a line with its SHA-256: one that was cut off or changed is no shard.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use coreach_execution::campaign::{Key, Partition};
use coreach_model::Diagnostic;
use coreach_model::file::{self, MOST_DOCUMENT};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the file's form.
const FORMAT_VERSION: u32 = 1;

/// What every such file begins with.
const HEAD: &str = "{\"coreach_shard\":";

/// Results of some items of a piece of work, or of all.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Shard<W, I> {
    /// What was done: the command's name.
    pub coreach_shard: String,
    /// Of the file's form.
    pub format_version: u32,
    /// Of all that decides what the items are.
    pub plan: String,
    /// How many items the whole has.
    pub total: usize,
    /// What is alike in all shards.
    pub whole: W,
    /// The results, by the numbers of their items.
    pub items: BTreeMap<usize, I>,
}

/// A hash of all that decides what is done, and of what does it.
pub fn plan(kind: &str, decides: &Value) -> Key {
    let all =
        serde_json::json!({ "coreach_plan": kind, "version": env!("CARGO_PKG_VERSION"), "of": decides });
    Key::of(&all.to_string())
}

/// Does the item of this number fall to the shard?
pub fn takes(partition: Partition, plan: &Key, number: usize) -> bool {
    partition.takes(&Key::of(&format!("{plan} {number}")))
}

impl<W, I> Shard<W, I> {
    /// Results of this work.
    pub fn new(kind: &str, plan: &Key, total: usize, whole: W, items: BTreeMap<usize, I>) -> Self {
        let (coreach_shard, plan) = (kind.to_owned(), plan.to_string());
        Shard { coreach_shard, format_version: FORMAT_VERSION, plan, total, whole, items }
    }

    /// How many items have no result.
    pub fn missing(&self) -> usize {
        self.total.saturating_sub(self.items.len())
    }
}

impl<W: Serialize, I: Serialize> Shard<W, I> {
    /// The file.
    pub fn to_text(&self) -> serde_json::Result<String> {
        let line = serde_json::to_string(self)?;
        Ok(format!("{line}\n{}\n", Key::of(&line)))
    }
}

/// Reads a shard from its file.
///
/// # Errors
/// One finding: the file cannot be read, is damaged, or is something else.
pub fn load<W: DeserializeOwned, I: DeserializeOwned>(
    kind: &str,
    path: &Path,
) -> Result<Shard<W, I>, Diagnostic> {
    let name = path.display();
    let refused = |code, message: String| Err(Diagnostic::error(code, message));
    let bytes = match file::read(path, MOST_DOCUMENT) {
        Ok(bytes) => bytes,
        Err(error) => return refused("no-shard", format!("cannot read {name}: {error}")),
    };
    let text = String::from_utf8(bytes).unwrap_or_default();
    if !text.starts_with(HEAD) {
        return refused("no-shard", format!("{name} is no shard that `{kind} --store` has written"));
    }
    let sealed = text.strip_suffix('\n').and_then(|text| text.split_once('\n'));
    let Some((line, _)) = sealed.filter(|(line, seal)| Key::of(line).to_string() == *seal) else {
        return refused("damaged-shard", format!("{name} is damaged: it does not fit its seal"));
    };
    // Of another kind, or of a version that has other keys.
    let said: Value = serde_json::from_str(line).unwrap_or_default();
    let (of, version) = (said["coreach_shard"].as_str(), said["format_version"].as_u64());
    match (of, version) {
        (Some(of), Some(version)) if of == kind && version == u64::from(FORMAT_VERSION) => {}
        (Some(of), Some(_)) if of != kind => {
            let diagnostic =
                Diagnostic::error("no-shard", format!("{name} is a shard of `{of}`, not of `{kind}`"));
            return Err(diagnostic.help(format!("`coreach {of} merge` takes it")));
        }
        _ => return refused("no-shard", format!("{name} was written by another version of coreach")),
    }
    let read = serde_json::from_str::<Shard<W, I>>(line);
    read.or_else(|error| {
        refused("no-shard", format!("{name} cannot be read as a shard of `{kind}`: {error}"))
    })
}

/// Puts shards together. `is_same`: do two results of one item agree? The first one counts, and how many did
/// not is said.
///
/// # Errors
/// A finding for each shard of something else than the first.
pub fn join<W: PartialEq, I>(
    shards: Vec<(PathBuf, Shard<W, I>)>,
    is_same: fn(&I, &I) -> bool,
) -> Result<(Shard<W, I>, usize), Vec<Diagnostic>> {
    let mut shards = shards.into_iter();
    let Some((first, mut joined)) = shards.next() else {
        return Err(vec![Diagnostic::error("no-shard", "there is nothing to put together")]);
    };
    let (mut found, mut contradictions) = (Vec::new(), 0);
    for (path, shard) in shards {
        if (&shard.plan, shard.total, &shard.whole) != (&joined.plan, joined.total, &joined.whole) {
            let message = format!("{} and {} are not shards of one whole", first.display(), path.display());
            let help =
                "a model, an option or the version of coreach was another one where one of them was made";
            found.push(Diagnostic::error("another-plan", message).help(help));
            continue;
        }
        for (number, item) in shard.items {
            match joined.items.get(&number) {
                Some(known) => contradictions += usize::from(!is_same(known, &item)),
                None => {
                    joined.items.insert(number, item);
                }
            }
        }
    }
    if found.is_empty() { Ok((joined, contradictions)) } else { Err(found) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

    #[test]
    fn every_file_begins_alike_and_every_item_is_in_one_part() {
        let plan = plan("mutate", &Value::Null);
        let shard: Shard<(), u8> = Shard::new("mutate", &plan, 3, (), BTreeMap::from([(1, 7)]));
        assert!(shard.to_text().unwrap().starts_with(HEAD));
        assert_eq!(shard.missing(), 2);
        let shards: Vec<Partition> =
            (1..=5).map(|shard| format!("hash:{shard}/5").parse().unwrap()).collect();
        for number in 0..100 {
            assert_eq!(shards.iter().filter(|shard| takes(**shard, &plan, number)).count(), 1);
        }
    }
}
