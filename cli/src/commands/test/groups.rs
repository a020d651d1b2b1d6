//! Runs that ended for the same reason: one of them is reported, with the seeds of the others.

use coreach_execution::record::Record;
use coreach_execution::run::{Cause, events};
use coreach_execution::{Outcome, Run};
use coreach_model::Verdict;

use crate::story::wrap;

/// The most seeds of other runs that are named.
const NAMED: usize = 8;

#[derive(Default)]
pub(super) struct RunGroups {
    all: Vec<RunGroup>,
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
        match self.all.iter_mut().find(|group| group.key == key) {
            Some(group) if events < group.events => {
                group.seeds.insert(0, run.seed);
                (group.texts, group.events) = (texts(), events);
            }
            Some(group) => group.seeds.push(run.seed),
            None => {
                let is_fail = run.outcome.verdict() == Some(Verdict::Fail);
                self.all.push(RunGroup { key, is_fail, texts: texts(), events, seeds: vec![run.seed] });
            }
        }
    }

    /// Tells the Fails first, and the first of them in full.
    pub(super) fn text(&self) -> String {
        let mut all: Vec<&RunGroup> = self.all.iter().collect();
        all.sort_by_key(|group| !group.is_fail);
        let is_full = |place: usize| place == 0 && (all[0].is_fail || all.len() == 1);
        all.iter().enumerate().map(|(place, group)| group.text(is_full(place))).collect()
    }
}

impl RunGroup {
    /// Tells the shortest run, and names the seeds of the other runs.
    fn text(&self, in_full: bool) -> String {
        let [short, full] = &self.texts;
        let mut text = if in_full { full.clone() } else { wrap(short) };
        let mut others = self.seeds[1..].to_vec();
        others.sort_unstable();
        let mut named: Vec<String> = others.iter().take(NAMED).map(u64::to_string).collect();
        let more = others.len().saturating_sub(NAMED);
        // Behind `and` stands how many more there are, or the last seed.
        let last = if more > 0 { Some(format!("{more} more")) } else { named.pop() };
        let named = [named.join(", ")].into_iter().filter(|named| !named.is_empty()).chain(last);
        if !others.is_empty() {
            let seeds = if others.len() == 1 { "seed" } else { "seeds" };
            text += &format!("  the same with {seeds} {}\n", named.collect::<Vec<_>>().join(" and "));
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

/// Reduces a text to what is the same in each run of a group: the first line and the remedies. Numbers are
/// left out, and in quotes all but the first word.
fn text_key(text: &str) -> String {
    // `help: if it is` begins a guess. Guesses depend on what came before in the run.
    let is_remedy = |line: &str| line.starts_with("help: ") && !line.starts_with("help: if it is");
    let lines = text.lines().enumerate().filter(|(number, line)| *number == 0 || is_remedy(line));
    // Every second part between back quotes is quoted.
    let parts =
        lines.flat_map(|(_, line)| line.split('`').enumerate()).map(|(place, part)| match place % 2 {
            0 => part,
            _ => part.split_whitespace().next().unwrap_or_default(),
        });
    parts.collect::<Vec<_>>().concat().replace(|sign: char| sign.is_ascii_digit(), "")
}
