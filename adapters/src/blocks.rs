//! Whether lines fit the shape of an output, in full or as far as they have come.
//!
//! ```text
//! parts  = (pattern | counted)*            each pattern is for what is left of its line
//! counted = so many bytes as a group before says, line breaks among them
//! block  = [begin] middle* end             a line that fits the end is the end
//! block  = begin item*                     as many items as a group of `begin` says
//! middle = line | item                     or lines of fields: each of some patterns fits one line
//! item   = parts
//! ```
//!
//! After counted bytes, the next pattern is for the rest of their line. If nothing is left of it, the next
//! pattern is for the next line.
//!
//! Lines come one after the other, and an output may have thousands. So a shape remembers which lines it has
//! looked at ([`BlockScan`]), and looks at each line once, as long as it may still fit. Only the parts of one
//! item are looked at again with each line that comes, since they are few.
//!
//! If nothing fits, a shape tells where it stopped ([`FitStop`]). The observation that went furthest is
//! probably the one that was meant.
//!
//! Lines are kept as they came, without the line feed. A carriage return at the end belongs to the line end,
//! unless it is counted.

use std::collections::VecDeque;

use regex::Regex;

use crate::cut::{LONGEST, MOST};
use crate::description::{BlockEnd, LineBlock, LinePart, Middle, Shape};
use crate::pattern::{matching_prefix, written};

/// How far lines have been looked at for a shape.
#[derive(Clone, Default, Debug)]
pub struct BlockScan {
    /// The number of lines that were looked at.
    seen: usize,
    /// The number of items that must come, once it is known.
    expected_items: Option<usize>,
    items: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fit {
    /// So many lines fit, and are whole.
    Whole(usize),
    /// They fit so far, and more lines are needed.
    More,
    No,
    /// They do not fit, since the text after so many counted bytes does not fit.
    Miscounted(usize),
}

pub fn strip_cr(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

pub type GroupTexts<'s> = Vec<(&'s str, String)>;

/// Where lines stop fitting. The greatest one is the furthest.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FitStop {
    /// The line, and the byte in it, both from 0.
    pub at: (usize, usize),
    pub expected: String,
}

enum Unfit<'s> {
    More,
    /// This pattern does not fit from this byte of this line on.
    Pattern(&'s Regex, (usize, usize)),
    /// The group of this name is no number of bytes.
    Count(&'s str, usize),
    /// So many bytes were counted, and the text after them does not fit.
    Miscounted(usize, (usize, usize)),
}

impl From<Unfit<'_>> for Fit {
    fn from(unfit: Unfit<'_>) -> Self {
        match unfit {
            Unfit::More => Fit::More,
            Unfit::Pattern(..) | Unfit::Count(..) => Fit::No,
            Unfit::Miscounted(count, _) => Fit::Miscounted(count),
        }
    }
}

impl Shape {
    /// Makes a shape of lines that fit these patterns, one after the other.
    pub fn fitting(patterns: impl IntoIterator<Item = Regex>) -> Self {
        Shape::Lines(patterns.into_iter().map(LinePart::Fitting).collect())
    }

    /// Fits the lines that have not been looked at yet.
    pub fn fit(&self, lines: &VecDeque<String>, progress: &mut BlockScan) -> Fit {
        match self {
            Shape::Lines(parts) => {
                match_parts(parts, lines, 0).map_or_else(Fit::from, |(whole, _)| Fit::Whole(whole))
            }
            Shape::Block(block) => block.fit(lines, progress),
        }
    }

    /// Finds where the lines stop fitting, and what was expected there. `None` if they fit so far.
    pub fn stop(&self, lines: &VecDeque<String>) -> Option<FitStop> {
        let block = match self {
            Shape::Lines(parts) => return match_parts(parts, lines, 0).err()?.stop(lines),
            Shape::Block(block) => block,
        };
        let mut progress = BlockScan::default();
        if !matches!(block.fit(lines, &mut progress), Fit::No | Fit::Miscounted(_)) {
            return None;
        }
        let begin = block.begin.as_ref().filter(|_| progress.seen == 0);
        let end = match &block.end {
            BlockEnd::Mark(mark) => Some(mark),
            BlockEnd::Count(_) => None,
        };
        // The patterns of which one should have fitted the line where the block stops.
        let patterns: Vec<&Regex> = match (begin, &block.middle) {
            (Some(begin), _) => vec![begin],
            (None, Middle::Any) => end.into_iter().collect(),
            (None, Middle::Lines(pattern)) => end.into_iter().chain([pattern]).collect(),
            (None, Middle::Fields(patterns)) => {
                let is_missing =
                    |pattern: &&Regex| block.find_only_line(pattern, lines, progress.seen).is_none();
                patterns.iter().filter(is_missing).collect()
            }
            (None, Middle::Each(parts)) => {
                let item_stop =
                    match_parts(parts, lines, progress.seen).err().and_then(|unfit| unfit.stop(lines));
                let is_end =
                    |end: &Regex| lines.get(progress.seen).is_some_and(|line| end.is_match(strip_cr(line)));
                if block.then.is_none() && end.is_some_and(is_end) {
                    let reason = ": without `then`, `each` must fit at least one line";
                    return item_stop.map(|stop| FitStop { expected: stop.expected + reason, ..stop });
                }
                let end_stop = end.and_then(|end| Unfit::Pattern(end, (progress.seen, 0)).stop(lines));
                return item_stop.max(end_stop);
            }
        };
        let stop_of = |pattern: &Regex| Unfit::Pattern(pattern, (progress.seen, 0)).stop(lines);
        patterns.into_iter().filter_map(stop_of).max()
    }

    /// Returns the pattern of the first line, if there is one.
    pub fn first(&self) -> Option<&Regex> {
        fn first_pattern(parts: &[LinePart]) -> Option<&Regex> {
            match parts.first()? {
                LinePart::Fitting(first) => Some(first),
                LinePart::Counted { .. } => None,
            }
        }
        match self {
            Shape::Lines(parts) => first_pattern(parts),
            Shape::Block(block) => match (&block.begin, &block.middle) {
                (Some(begin), _) | (None, Middle::Lines(begin)) => Some(begin),
                (None, Middle::Each(parts)) => first_pattern(parts),
                (None, Middle::Any | Middle::Fields(_)) => None,
            },
        }
    }

    /// Returns the texts of the named groups, if the first `whole` lines fit: those of one output, or of one
    /// for each item of a list.
    pub fn outputs(&self, lines: &VecDeque<String>, whole: usize) -> Vec<GroupTexts<'_>> {
        match self {
            Shape::Lines(parts) => match_parts(parts, lines, 0).into_iter().map(|(_, named)| named).collect(),
            Shape::Block(block) => block.outputs(lines, whole),
        }
    }

    /// Says whether the group of this name counts the bytes or the items that follow.
    pub fn is_count(&self, name: &str) -> bool {
        let counts = |parts: &[LinePart]| {
            parts.iter().any(|part| matches!(part, LinePart::Counted { count, .. } if count == name))
        };
        match self {
            Shape::Lines(parts) => counts(parts),
            Shape::Block(block) => {
                matches!(&block.end, BlockEnd::Count(count) if count == name)
                    || matches!(&block.middle, Middle::Each(parts) if counts(parts))
            }
        }
    }

    /// Returns the output that the same lines are read as once more, after the items of a list.
    pub fn then(&self) -> Option<&str> {
        match self {
            Shape::Lines(_) => None,
            Shape::Block(block) => block.then.as_deref(),
        }
    }
}

impl Unfit<'_> {
    /// Returns where the misfit is and what was expected. `None` if only more lines are needed.
    fn stop(self, lines: &VecDeque<String>) -> Option<FitStop> {
        let rest = |(line, byte): (usize, usize)| lines.get(line).and_then(|line| strip_cr(line).get(byte..));
        Some(match self {
            Unfit::More => return None,
            Unfit::Pattern(pattern, at) => {
                let reach = rest(at).map_or(0, |rest| matching_prefix(pattern.as_str(), rest).0);
                FitStop { at: (at.0, at.1 + reach), expected: format!("`{}`", written(pattern)) }
            }
            Unfit::Count(name, line) => FitStop {
                at: (line, 0),
                expected: format!("a number of at most {LONGEST} bytes as `{name}`"),
            },
            Unfit::Miscounted(size, at) => FitStop { at, expected: format!("what may follow {size} bytes") },
        })
    }
}

/// Returns the texts of the named groups, if the pattern fits the text.
fn find_groups<'s>(pattern: &'s Regex, text: &str) -> Option<GroupTexts<'s>> {
    let found = pattern.captures(strip_cr(text))?;
    let text_of = |name: &'s str| Some((name, found.name(name)?.as_str().to_owned()));
    Some(pattern.capture_names().flatten().filter_map(text_of).collect())
}

/// Fits the parts from the line `begin` on. Returns the line after them, and the texts of the named groups.
fn match_parts<'s>(
    parts: &'s [LinePart],
    lines: &VecDeque<String>,
    begin: usize,
) -> Result<(usize, GroupTexts<'s>), Unfit<'s>> {
    // The line and the byte in it up to which the parts fit.
    let (mut at, mut named) = ((begin, 0), GroupTexts::new());
    // The number of bytes that were counted up to `at`, if the line goes on after them.
    let mut counted_before = None;
    for part in parts {
        match part {
            LinePart::Fitting(pattern) => {
                let line = lines.get(at.0).ok_or(Unfit::More)?;
                let found = line.get(at.1..).and_then(|rest| find_groups(pattern, rest));
                let unfit =
                    counted_before.map_or(Unfit::Pattern(pattern, at), |size| Unfit::Miscounted(size, at));
                named.extend(found.ok_or(unfit)?);
                (at, counted_before) = ((at.0 + 1, 0), None);
            }
            LinePart::Counted { count, name } => {
                let size =
                    named.iter().find(|(name, _)| name == count).and_then(|(_, text)| text.parse().ok());
                let size = size.filter(|size| *size <= LONGEST).ok_or(Unfit::Count(count, at.0))?;
                let (end, text) = take_bytes(lines, at, size)?;
                named.push((name, text));
                let is_ended = lines.get(end.0).is_some_and(|line| strip_cr(line).len() <= end.1);
                (at, counted_before) = if is_ended { ((end.0 + 1, 0), None) } else { (end, Some(size)) };
            }
        }
    }
    if let Some(size) = counted_before { Err(Unfit::Miscounted(size, at)) } else { Ok((at.0, named)) }
}

/// Takes `size` bytes from this line and byte on. Returns where they end, and their text.
fn take_bytes(
    lines: &VecDeque<String>,
    (mut at, mut from): (usize, usize),
    size: usize,
) -> Result<((usize, usize), String), Unfit<'static>> {
    let mut text = String::new();
    loop {
        let line = &lines.get(at).ok_or(Unfit::More)?[from..];
        let missing = size - text.len();
        if missing <= line.len() {
            // The count may end within a sign of several bytes.
            let Some(last) = line.get(..missing) else { return Err(Unfit::Miscounted(size, (at, from))) };
            text.push_str(last);
            return Ok(((at, from + missing), text));
        }
        text.push_str(line);
        text.push('\n');
        (at, from) = (at + 1, 0);
    }
}

impl LineBlock {
    /// Finds the texts of the named groups. Those of the first and the last line belong to each item.
    fn outputs(&self, lines: &VecDeque<String>, whole: usize) -> Vec<GroupTexts<'_>> {
        let head = usize::from(self.begin.is_some());
        let (mark, last) = match &self.end {
            BlockEnd::Mark(mark) => (Some(mark), whole - 1),
            BlockEnd::Count(_) => (None, whole),
        };
        let around = self.begin.iter().map(|begin| (0, begin)).chain(mark.map(|mark| (last, mark)));
        let around = around.filter_map(|(at, pattern)| find_groups(pattern, lines.get(at)?));
        let mut around: GroupTexts<'_> = around.flatten().collect();
        match &self.middle {
            Middle::Any | Middle::Lines(_) => vec![around],
            Middle::Fields(patterns) => {
                for field in patterns {
                    let line = self.find_only_line(field, lines, last).and_then(|at| lines.get(at));
                    around.extend(line.and_then(|line| find_groups(field, line)).unwrap_or_default());
                }
                vec![around]
            }
            Middle::Each(parts) => {
                let (mut outputs, mut at) = (Vec::new(), head);
                while at < last {
                    let Ok((next, item)) = match_parts(parts, lines, at) else { break };
                    outputs.push([&around[..], &item].concat());
                    at = next;
                }
                outputs
            }
        }
    }

    /// Finds the line before the end that the pattern of a field fits, if it is the only one.
    fn find_only_line(&self, pattern: &Regex, lines: &VecDeque<String>, end: usize) -> Option<usize> {
        let head = usize::from(self.begin.is_some());
        let mut fitting =
            (head..end).filter(|at| lines.get(*at).is_some_and(|line| pattern.is_match(strip_cr(line))));
        fitting.next().filter(|_| fitting.next().is_none())
    }

    /// Takes the lines that were not seen yet, up to the end of the block. `progress` says how far that came.
    fn fit(&self, lines: &VecDeque<String>, progress: &mut BlockScan) -> Fit {
        loop {
            if progress.expected_items.is_some_and(|expected| progress.items >= expected) {
                return self.accept_if_complete(lines, progress, progress.seen);
            }
            let Some(line) = lines.get(progress.seen).map(|line| strip_cr(line)) else {
                return Fit::More;
            };
            if progress.seen == 0
                && let Some(begin) = &self.begin
            {
                let Some(found) = begin.captures(line) else { return Fit::No };
                if let BlockEnd::Count(name) = &self.end {
                    let count = found.name(name).and_then(|count| count.as_str().parse::<usize>().ok());
                    // No more lines are kept.
                    progress.expected_items = count.filter(|count| *count <= MOST);
                    if progress.expected_items.is_none() {
                        return Fit::No;
                    }
                }
                progress.seen += 1;
                continue;
            }
            if let BlockEnd::Mark(mark) = &self.end
                && mark.is_match(line)
            {
                return self.accept_if_complete(lines, progress, progress.seen + 1);
            }
            let next = match &self.middle {
                Middle::Any => Some(progress.seen + 1),
                Middle::Lines(pattern) => pattern.is_match(line).then_some(progress.seen + 1),
                Middle::Fields(patterns) => {
                    // With a first line, there may be lines of no field.
                    let fits = self.begin.is_some() || patterns.iter().any(|field| field.is_match(line));
                    fits.then_some(progress.seen + 1)
                }
                Middle::Each(parts) => match match_parts(parts, lines, progress.seen) {
                    Ok((next, _)) => Some(next),
                    Err(unfit) => return unfit.into(),
                },
            };
            let Some(next) = next else { return Fit::No };
            (progress.seen, progress.items) = (next, progress.items + 1);
        }
    }

    /// Accepts the block, which has `whole` lines, if it is complete. An empty list is complete only if the
    /// block is read once more as the output `then`. Fields are complete if each fits exactly one line.
    fn accept_if_complete(&self, lines: &VecDeque<String>, progress: &BlockScan, whole: usize) -> Fit {
        let is_right = match &self.middle {
            Middle::Any | Middle::Lines(_) => true,
            Middle::Each(_) => progress.items > 0 || self.then.is_some(),
            Middle::Fields(patterns) => {
                patterns.iter().all(|field| self.find_only_line(field, lines, progress.seen).is_some())
            }
        };
        if is_right { Fit::Whole(whole) } else { Fit::No }
    }
}
