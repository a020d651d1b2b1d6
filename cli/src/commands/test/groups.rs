//! Runs that ended for the same reason: one of them is reported, with the seeds of the others.

use coreach_execution::record::Record;
use coreach_execution::run::{Cause, events};
use coreach_execution::{Outcome, Run};
use coreach_model::Verdict;
use coreach_model::excerpt::join_words;

use crate::story::wrap;

/// The most seeds of other runs that are named.
const MOST_NAMED: usize = 8;

#[derive(Default)]
pub(super) struct RunGroups {
    groups: Vec<RunGroup>,
}

struct RunGroup {
    key: String,
    is_fail: bool,
    /// How the shortest run is reported, in short and in full, and how many events it has.
    texts: [String; 2],
    events: usize,
    /// The seeds of all runs, that of the shortest one first.
    seeds: Vec<u64>,
}

impl RunGroups {
    /// Adds a run to its group. The shortest run of a group is the one that is reported.
    pub(super) fn add(&mut self, run: &Run, record: &Record, text: impl Fn(bool) -> String) {
        let (key, events) = (group_key(run, record), events(&run.trace));
        let texts = || [false, true].map(&text);
        match self.groups.iter_mut().find(|group| group.key == key) {
            Some(group) if events < group.events => {
                group.seeds.insert(0, run.seed);
                (group.texts, group.events) = (texts(), events);
            }
            Some(group) => group.seeds.push(run.seed),
            None => {
                let is_fail = run.outcome.verdict() == Some(Verdict::Fail);
                self.groups.push(RunGroup { key, is_fail, texts: texts(), events, seeds: vec![run.seed] });
            }
        }
    }

    /// Shows the Fails first, and the first of them, or the only group, in full.
    pub(super) fn text(&self) -> String {
        let mut groups: Vec<&RunGroup> = self.groups.iter().collect();
        groups.sort_by_key(|group| !group.is_fail);
        let is_full = |place: usize| place == 0 && (groups[0].is_fail || groups.len() == 1);
        groups.iter().enumerate().map(|(place, group)| group.text(is_full(place))).collect()
    }
}

impl RunGroup {
    /// Tells the shortest run, and names the seeds of the other runs.
    fn text(&self, in_full: bool) -> String {
        let [short, full] = &self.texts;
        let mut text = if in_full { full.clone() } else { wrap(short) };
        let mut others = self.seeds[1..].to_vec();
        others.sort_unstable();
        if !others.is_empty() {
            let mut words: Vec<String> = others.iter().take(MOST_NAMED).map(u64::to_string).collect();
            if others.len() > MOST_NAMED {
                words.push(format!("{} more", others.len() - MOST_NAMED));
            }
            let seeds = if others.len() == 1 { "seed" } else { "seeds" };
            text += &format!("  the same with {seeds} {}\n", join_words(&words, "and"));
        }
        text
    }
}

/// Returns what the runs of one group have in common.
pub(super) fn group_key(run: &Run, record: &Record) -> String {
    match &run.outcome {
        Outcome::Verdict(_, Cause::Alien(text)) => text_key(text),
        Outcome::RunError(failure) => text_key(failure.text()),
        Outcome::Verdict(..) => {
            let bucket = record.bucket.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{}: {bucket}", record.cause)
        }
    }
}

/// Reduces a text to what is the same in each run of a group: the first line and the lines of help. Numbers
/// are left out, and in quotes all but the first word.
fn text_key(text: &str) -> String {
    // `help: if it is` begins a guess. Guesses depend on what came before in the run.
    let is_remedy = |line: &str| line.starts_with("help: ") && !line.starts_with("help: if it is");
    let mut key = String::new();
    for (number, line) in text.lines().enumerate() {
        if number > 0 && !is_remedy(line) {
            continue;
        }
        for (place, part) in line.split('`').enumerate() {
            let is_quoted = place % 2 == 1;
            key += if is_quoted { part.split_whitespace().next().unwrap_or_default() } else { part };
        }
    }
    key.replace(|sign: char| sign.is_ascii_digit(), "")
}
