//! Collecting findings: a reader of a user's file goes on after a mistake and keeps its findings here.
//!
//! There is a limit, so that a hostile or hopeless file is answered quickly. After [`LIMIT`] errors the
//! readers stop (each of their loops asks [`Collector::is_full`]), and the last diagnostic says so. Warnings
//! beyond that number are counted only: they must not keep an error from being found.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Origin, SourceFile, nearest as nearest_name};
use crate::limits::FEW_SHOWN;
use crate::reader::limits::ReaderLimits;

/// The most errors of one file that are reported, and the most warnings.
pub const LIMIT: usize = 100;

/// The longest name that is compared with known ones. A longer one is no misspelling, and comparing is
/// quadratic. [`nearest_name`] finds only names of which at most a third of the letters differ.
const LONGEST_COMPARED: usize = 64;

/// The most that all comparisons of names in one file may cost, in letters times letters: some tens of
/// milliseconds.
const COMPARISONS: usize = 10_000_000;

#[derive(Debug)]
pub struct Collector {
    pub file: Arc<SourceFile>,
    pub limits: ReaderLimits,
    found: Vec<Diagnostic>,
    /// The number of errors, with those that an alias repeats.
    errors: usize,
    warnings: usize,
    /// The part of [`COMPARISONS`] that is left.
    comparisons: Cell<usize>,
    /// Keys that are missing: the finding that says so, the place of the mapping, and the key.
    missing: Vec<(Diagnostic, Range<usize>, String)>,
    /// The places of misspelt keys, if they are in the mapping, and the keys that are meant.
    meant: Vec<(Option<usize>, String)>,
    /// Unknown keys that resemble no known one: the place of the first key of the mapping, and their own.
    strange: Vec<(usize, usize)>,
}

impl Collector {
    pub fn new(file: Arc<SourceFile>) -> Self {
        let limits = ReaderLimits::of(file.text.as_bytes());
        let comparisons = Cell::new(COMPARISONS);
        let (missing, meant, strange, found) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Collector { file, limits, found, errors: 0, warnings: 0, comparisons, missing, meant, strange }
    }

    pub fn origin(&self, span: &Range<usize>) -> Origin {
        Origin { file: self.file.clone(), span: span.clone() }
    }

    /// Counts a finding, and keeps it unless it is kept already or there are too many.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let count = if diagnostic.is_error() { &mut self.errors } else { &mut self.warnings };
        *count += 1;
        // An alias repeats its node, mistakes included.
        if *count <= LIMIT && !self.found.contains(&diagnostic) {
            self.found.push(diagnostic);
        }
    }

    pub fn error(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: &Range<usize>,
        label: impl Into<String>,
    ) {
        self.push(Diagnostic::error(code, message).at(self.origin(span), label));
    }

    /// Reports an error with a help text.
    pub fn mistake(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: &Range<usize>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Diagnostic::error(code, message).at(self.origin(span), label).help(help));
    }

    /// Reports a key that a mapping lacks. [`Self::finish`] drops the report if a key there is meant for it.
    pub fn lacks_key(&mut self, found: Diagnostic, mapping: &Range<usize>, key: &str) {
        self.missing.push((found.clone(), mapping.clone(), key.to_owned()));
        self.push(found);
    }

    /// Notes that the key at a place is meant for a known one. Without a place it counts for any mapping.
    pub fn means(&mut self, place: Option<&Range<usize>>, key: &str) {
        self.meant.push((place.map(|place| place.start), key.to_owned()));
    }

    /// Notes an unknown key that resembles no known one, in the mapping with this first key.
    pub fn note_strange(&mut self, first: &Range<usize>, key: &Range<usize>) {
        if !self.is_full() {
            self.strange.push((first.start, key.start));
        }
    }

    /// Pairs the only strange key of a mapping with the only key that the mapping lacks.
    fn pair_keys(&mut self) {
        for (first, place) in &self.strange {
            // The mapping begins at its first key, or at a bracket or a space before it.
            let begins_at = |start| {
                let before_key = self.file.text.get(start..*first);
                before_key.is_some_and(|text| text.trim_matches(['{', ' ', '\n']).is_empty())
            };
            let lacking: Vec<_> =
                self.missing.iter().filter(|(_, mapping, _)| begins_at(mapping.start)).collect();
            let is_alone = self.strange.iter().filter(|(other, _)| other == first).count() == 1;
            let ([(_, _, key)], true) = (lacking.as_slice(), is_alone) else { continue };
            self.meant.push((Some(*place), key.clone()));
            let is_about_key = |found: &&mut Diagnostic| {
                found.code == "unknown-key" && found.labels[0].0.span.start == *place
            };
            if let Some(unknown_key) = self.found.iter_mut().find(is_about_key) {
                unknown_key.help = Some(format!("did you mean `{key}`, which is missing here?"));
            }
        }
    }

    /// Was a mistake of this code found?
    pub fn has_found(&self, code: &str) -> bool {
        self.found.iter().any(|found| found.code == code)
    }

    /// Makes the help text for an unknown name: the nearest of the names that `known` lists, or all of them.
    /// `what` says what they are, in the plural.
    pub fn suggest<'a, I: IntoIterator<Item = &'a str>>(
        &self,
        name: &str,
        what: &str,
        known: impl Fn() -> I,
    ) -> String {
        let similar = self.nearest(name, known()).map(|similar| format!("did you mean `{similar}`?"));
        similar.unwrap_or_else(|| inventory(what, known()))
    }

    /// How many findings are kept so far.
    pub fn count_found(&self) -> usize {
        self.found.len()
    }

    /// Adds a note to all findings after the first `found`.
    pub fn note_since(&mut self, found: usize, note: &str) {
        for diagnostic in self.found.iter_mut().skip(found) {
            diagnostic.notes.push(note.to_owned());
        }
    }

    /// Gives the next finding after the first `found` this help text.
    pub fn help_since(&mut self, found: usize, help: String) {
        if let Some(diagnostic) = self.found.get_mut(found) {
            diagnostic.help = Some(help);
        }
    }

    /// Adds a place to all findings after the first `found`.
    pub fn label_since(&mut self, found: usize, origin: &Origin, label: &str) {
        for diagnostic in self.found.iter_mut().skip(found) {
            diagnostic.labels.push((origin.clone(), label.to_owned()));
        }
    }

    /// How many errors there are so far. Compare before and after a part to learn whether the part was right.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Are there so many errors that the readers must stop? Their results are incomplete then.
    pub fn is_full(&self) -> bool {
        self.errors >= LIMIT
    }

    /// The nearest known name, unless a search is pointless or too expensive.
    pub fn nearest<'a>(&self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        if self.is_full() || name.len() > LONGEST_COMPARED {
            return None;
        }
        let affordable = known.into_iter().take_while(|candidate| {
            let cost = (name.len() + 1) * (candidate.len().min(LONGEST_COMPARED) + 1);
            let remaining = self.comparisons.get().checked_sub(cost);
            self.comparisons.set(remaining.unwrap_or(0));
            remaining.is_some()
        });
        let plausible = affordable.filter(|candidate| {
            // Any two letters are similar, so a single letter is only meant in its other case.
            let is_other_letter = name.chars().count() == 1 && !candidate.eq_ignore_ascii_case(name);
            *candidate != name
                && !is_other_letter
                && candidate.len() <= LONGEST_COMPARED
                && candidate.len().abs_diff(name.len()) <= LONGEST_COMPARED.div_ceil(3)
        });
        nearest_name(name, plausible)
    }

    /// All findings in the order of the text, and whether there is an error among them.
    pub fn finish(mut self) -> (Vec<Diagnostic>, bool) {
        self.pair_keys();
        let position = |d: &Diagnostic| d.labels.first().map_or(usize::MAX, |(origin, _)| origin.span.start);
        self.found.sort_by_key(position);
        // A missing key that a misspelt one stands for is one mistake: only the misspelling is told.
        let is_meant = |mapping: &Range<usize>, key: &str| {
            let is_in = |start: &Option<usize>| start.is_none_or(|start| mapping.contains(&start));
            self.meant.iter().any(|(start, meant)| is_in(start) && meant == key)
        };
        self.missing.retain(|(_, mapping, key)| is_meant(mapping, key));
        self.found.retain(|found| self.missing.iter().all(|(missing, ..)| missing != found));
        self.found = merge_equal(self.found);
        if let Some(more) = self.warnings.checked_sub(LIMIT).filter(|more| *more > 0) {
            let message = format!("{more} more warnings are not shown");
            self.found.push(Diagnostic::warning("too-many-warnings", message));
        }
        if self.is_full() {
            let message = format!("coreach stops after {LIMIT} errors in a file");
            let last = Diagnostic::error("too-many-errors", message);
            self.found.push(last.help("correct the first ones, then check again"));
        }
        (self.found, self.errors > 0)
    }

    /// The result with its findings, or only the findings if there is an error among them.
    pub fn ended<T>(self, read: Option<T>) -> Result<(T, Vec<Diagnostic>), Vec<Diagnostic>> {
        let (found, failed) = self.finish();
        match read {
            Some(read) if !failed => Ok((read, found)),
            _ => Err(found),
        }
    }
}

/// Makes one finding of those that differ in their places only: they have one cause and one remedy.
pub fn merge_equal(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut merged: Vec<(Diagnostic, usize)> = Vec::new();
    for finding in found {
        let is_equal = |(other, _): &&mut (Diagnostic, usize)| {
            let at_same_place = Diagnostic { labels: finding.labels.clone(), ..other.clone() };
            at_same_place == finding && !finding.labels.is_empty()
        };
        match merged.iter_mut().find(is_equal) {
            Some((first, _)) if first.labels == finding.labels => {}
            Some((first, _)) if first.labels.len() < FEW_SHOWN => first.labels.extend(finding.labels),
            Some((_, more)) => *more += 1,
            None => merged.push((finding, 0)),
        }
    }
    let add_count = |(finding, more): (Diagnostic, usize)| match more {
        0 => finding,
        1 => finding.note("the same in 1 more place"),
        _ => finding.note(format!("the same in {more} more places")),
    };
    merged.into_iter().map(add_count).collect()
}

/// `a`, `b` and `c`, each in back quotes.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let quoted = |names: &[&str]| format!("`{}`", names.join("`, `"));
    let shown = 11;
    match names.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => format!("`{last}`"),
        // One more than `shown`, since "and 1 more" would be as long as a name.
        Some((last, others)) if others.len() <= shown => format!("{} and `{last}`", quoted(others)),
        Some(_) => format!("{} and {} more", quoted(&names[..shown]), names.len() - shown),
    }
}

/// A help text with the names to choose from. `what` is their kind in the plural.
pub fn inventory<'a>(what: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.as_slice() {
        [] => format!("there are no {what}"),
        [only] => format!("there is only `{only}`"),
        _ => format!("the {what} are {}", listed(names)),
    }
}

/// The noun with `a` or `an`.
pub fn article(noun: &str) -> String {
    let begins_with_vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']);
    if begins_with_vowel { format!("an {noun}") } else { format!("a {noun}") }
}
