//! The tables: a block of lines for each shape, and one line for each of its operations.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::library::LibraryKind;
use crate::measure::MeasuredTimes;
use crate::probe::Probed;
use crate::shapes::ShapeCase;
use crate::statistics::{Ratio, median, quantile, ratio_of_medians};

/// What was found about one shape.
#[derive(Clone, Debug)]
pub struct TableFindings {
    /// Its name.
    pub name: String,
    /// The sequences.
    pub cases: Vec<ShapeCase>,
    /// What each library came to in a process of its own.
    pub probed: BTreeMap<LibraryKind, Probed>,
    /// The times of each sequence.
    pub times: Vec<MeasuredTimes>,
    /// The limit of one sequence in seconds.
    pub limit: f64,
    /// For the intervals.
    pub seed: u64,
}

fn shown(ratio: Ratio) -> String {
    let number = |value: f64| if value < 100.0 { format!("{value:.2}") } else { format!("{value:.0}") };
    format!("{} [{}, {}]", number(ratio.ratio), number(ratio.low), number(ratio.high))
}

/// The head of the table of whole sequences.
pub fn head() -> String {
    format!(
        "{:<13} {:<8} {:>9} {:>10} {:>10} {:>10} {:>8} {:>10}  {}\n",
        "shape",
        "library",
        "finished",
        "median ms",
        "p90",
        "worst",
        "peak MB",
        "all listed",
        "times as long as ours (95 %); all listed"
    )
}

impl TableFindings {
    /// The seconds of a library on a sequence; nothing if it did not finish.
    fn seconds(&self, kind: LibraryKind, at: usize) -> Option<f64> {
        self.times.get(at)?.whole.get(&kind).copied()
    }

    /// The seconds where each result is listed at once; nothing where that was not measured.
    fn listed(&self, kind: LibraryKind, at: usize) -> Option<f64> {
        self.times.get(at)?.listed.get(&kind).copied()
    }

    /// One line for each library.
    ///
    /// "All listed" is the median where each result is asked for its minimal constraints at once. A lazy
    /// library may do less without, or more: what is not minimal grows. Only short sequences are measured so.
    pub fn lines(&self) -> String {
        let mut text = String::new();
        for (kind, probed) in &self.probed {
            let finished: Vec<f64> = (0..self.cases.len()).filter_map(|at| self.seconds(*kind, at)).collect();
            let ms = |seconds: f64| format!("{:.3}", seconds * 1e3);
            let _ = write!(
                text,
                "{:<13} {:<8} {:>4}/{:<4} {:>10} {:>10} {:>10} {:>8.1}",
                self.name,
                kind.name(),
                finished.len(),
                self.cases.len(),
                ms(median(&finished)),
                ms(quantile(&finished, 0.9)),
                ms(quantile(&finished, 1.0)),
                probed.memory as f64 / 1024.0
            );
            let listed: Vec<f64> = (0..self.cases.len()).filter_map(|at| self.listed(*kind, at)).collect();
            let _ = write!(text, " {:>10}", ms(median(&listed)));
            if *kind != LibraryKind::Ours {
                let _ = write!(text, "  {}; {}", self.ratio(*kind), self.ratio_listed(*kind));
            }
            text.push('\n');
        }
        text
    }

    /// The ratio of the medians of whole sequences. A sequence that one of the two did not finish counts as
    /// long as the limit, which is less than it takes; one that neither finished does not count.
    fn ratio(&self, other: LibraryKind) -> String {
        let (mut above, mut below) = (Vec::new(), Vec::new());
        let (mut theirs, mut mine) = (0, 0);
        for at in 0..self.cases.len() {
            let pair = (self.seconds(other, at), self.seconds(LibraryKind::Ours, at));
            if pair == (None, None) {
                continue;
            }
            theirs += usize::from(pair.0.is_none());
            mine += usize::from(pair.1.is_none());
            above.push(pair.0.unwrap_or(self.limit));
            below.push(pair.1.unwrap_or(self.limit));
        }
        let Some(ratio) = ratio_of_medians(&above, &below, self.seed) else {
            return "no sequence is finished by one of the two".to_owned();
        };
        let mut text = shown(ratio);
        if theirs > 0 {
            let _ = write!(text, " or more: {theirs} not finished by it");
        }
        if mine > 0 {
            let _ = write!(text, "; {mine} not finished by ours");
        }
        text
    }

    fn ratio_listed(&self, other: LibraryKind) -> String {
        let pairs = (0..self.cases.len())
            .filter_map(|at| Some((self.listed(other, at)?, self.listed(LibraryKind::Ours, at)?)));
        let (above, below): (Vec<f64>, Vec<f64>) = pairs.unzip();
        ratio_of_medians(&above, &below, self.seed).map_or_else(|| "-".to_owned(), shown)
    }

    /// One line for each operation.
    pub fn operations(&self) -> String {
        let mut times: BTreeMap<&str, BTreeMap<LibraryKind, Vec<f64>>> = BTreeMap::new();
        for (case, measured) in self.cases.iter().zip(&self.times) {
            for (kind, steps) in &measured.by_step {
                for (label, seconds) in case.labels.iter().zip(steps) {
                    times.entry(label).or_default().entry(*kind).or_default().push(*seconds);
                }
            }
        }
        let mut text = String::new();
        for (label, of) in &times {
            let Some(mine) = of.get(&LibraryKind::Ours) else { continue };
            let micro = |values: &[f64]| format!("{:.1}", median(values) * 1e6);
            let _ = write!(text, "{:<13} {label:<17} {:>6} {:>10}", self.name, mine.len(), micro(mine));
            for (kind, theirs) in of.iter().filter(|(kind, _)| **kind != LibraryKind::Ours) {
                let ratio = median(theirs) / median(mine);
                let slower = if ratio < 1.0 { " SLOWER" } else { "" };
                let _ = write!(text, "   {} {:>9} {ratio:>7.2}{slower}", kind.name(), micro(theirs));
            }
            text.push('\n');
        }
        text
    }
}
