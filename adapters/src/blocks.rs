//! Do lines fit the shape of an output, wholly or as far as they have come?
//!
//! ```text
//! lines = (one line for each pattern | so many bytes as a group before says, and the end of a line)*
//! block = [begin] middle* end              a line that fits the end is the end
//! block = begin item*                      as many items as a group of `begin` says
//! item  = one line for each pattern of `each`
//! ```
//!
//! Lines come one after the other, and an output may have thousands. So what has been looked at is remembered
//! ([`Progress`]), and each line is looked at once by each shape that it is tried with, as long as that shape
//! may still fit. Of lines that are told one by one there are few, and they are looked at again; of what is
//! counted in bytes, the lengths of lines are added again with each line that comes.
//!
//! Lines are as they came, without the line feed: a carriage return at their end belongs to what ends them,
//! unless it is counted.

use std::collections::VecDeque;

use regex::Regex;

use crate::cut::{LONGEST, MOST};
use crate::description::{Block, BlockEnd, LinePart, Middle, Shape};

/// How far lines have been looked at for a shape.
#[derive(Clone, Default, Debug)]
pub struct Progress {
    seen: usize,
    /// How many lines there are, once it is known.
    all: Option<usize>,
}

/// Whether lines fit a shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fit {
    /// This number of first lines fits.
    Whole(usize),
    /// More lines are needed.
    More,
    /// They do not fit.
    No,
    /// They do not fit, since no line ends behind the bytes that were counted.
    Miscounted(usize),
}

/// Returns a line without its ending.
pub fn ended(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

/// What names of an output have found.
pub type GroupTexts<'s> = Vec<(&'s str, String)>;

impl Shape {
    /// Of lines that fit these, one after the other.
    pub fn fitting(patterns: impl IntoIterator<Item = Regex>) -> Self {
        Shape::Lines(patterns.into_iter().map(LinePart::Fitting).collect())
    }

    /// Looks at the lines that have not been looked at.
    pub fn fit(&self, lines: &VecDeque<String>, progress: &mut Progress) -> Fit {
        match self {
            Shape::Lines(parts) => match read(parts, lines) {
                Ok((whole, _)) => Fit::Whole(whole),
                Err(fit) => fit,
            },
            Shape::Block(block) => block.fit(lines, progress),
        }
    }

    /// The pattern of its first line, where it has one.
    pub fn first(&self) -> Option<&Regex> {
        match self {
            Shape::Lines(parts) => match parts.first() {
                Some(LinePart::Fitting(first)) => Some(first),
                Some(LinePart::Counted { .. }) | None => None,
            },
            Shape::Block(block) => match (&block.begin, &block.middle) {
                (Some(begin), _) | (None, Middle::Lines(begin)) => Some(begin),
                (None, Middle::Each(patterns)) => patterns.first(),
                (None, Middle::Any) => None,
            },
        }
    }

    /// What the names of an output have found, where the first `whole` lines are it: one output, or one for
    /// each item of a list.
    pub fn outputs(&self, lines: &VecDeque<String>, whole: usize) -> Vec<GroupTexts<'_>> {
        let block = match self {
            Shape::Lines(parts) => return read(parts, lines).into_iter().map(|(_, named)| named).collect(),
            Shape::Block(block) => block,
        };
        let mut outputs = Vec::new();
        for patterns in block.outputs(whole) {
            let found = patterns.into_iter().filter_map(|(at, pattern)| groups(pattern, lines.get(at)?));
            outputs.push(found.flatten().collect());
        }
        outputs
    }

    /// Is this the group that counts something?
    pub fn is_count(&self, name: &str) -> bool {
        match self {
            Shape::Lines(parts) => {
                parts.iter().any(|part| matches!(part, LinePart::Counted { count, .. } if count == name))
            }
            Shape::Block(block) => matches!(&block.end, BlockEnd::Count(count) if count == name),
        }
    }

    /// What the same lines are read as after the items of a list.
    pub fn then(&self) -> Option<&str> {
        match self {
            Shape::Lines(_) => None,
            Shape::Block(block) => block.then.as_deref(),
        }
    }
}

/// The groups that have found something, where the pattern fits the line.
fn groups<'s>(pattern: &'s Regex, line: &str) -> Option<GroupTexts<'s>> {
    let found = pattern.captures(ended(line))?;
    let one = |name: &'s str| Some((name, found.name(name)?.as_str().to_owned()));
    Some(pattern.capture_names().flatten().filter_map(one).collect())
}

/// How many lines the parts are, and what they have found.
fn read<'s>(parts: &'s [LinePart], lines: &VecDeque<String>) -> Result<(usize, GroupTexts<'s>), Fit> {
    let (mut at, mut named) = (0, GroupTexts::new());
    for part in parts {
        match part {
            LinePart::Fitting(pattern) => {
                named.extend(groups(pattern, lines.get(at).ok_or(Fit::More)?).ok_or(Fit::No)?);
                at += 1;
            }
            LinePart::Counted { count, name } => {
                let said =
                    named.iter().find(|(name, _)| name == count).and_then(|(_, said)| said.parse().ok());
                let said = said.filter(|said| *said <= LONGEST).ok_or(Fit::No)?;
                let (end, text) = counted(lines, at, said)?;
                named.push((name, text));
                at = end;
            }
        }
    }
    Ok((at, named))
}

/// So many bytes from the beginning of a line on, behind which a line ends: which is the next one, and what
/// they are.
fn counted(lines: &VecDeque<String>, begin: usize, said: usize) -> Result<(usize, String), Fit> {
    let (mut text, mut at) = (String::new(), begin);
    loop {
        text.push_str(lines.get(at).ok_or(Fit::More)?);
        at += 1;
        if text.len() == said + 1 && text.ends_with('\r') {
            text.pop();
        }
        if text.len() == said {
            return Ok((at, text));
        }
        if text.len() > said {
            return Err(Fit::Miscounted(said));
        }
        text.push('\n');
    }
}

impl Block {
    /// The patterns of the lines of each output, with the number of the line of each.
    fn outputs(&self, whole: usize) -> Vec<Vec<(usize, &Regex)>> {
        let begin: Vec<(usize, &Regex)> = self.begin.iter().map(|pattern| (0, pattern)).collect();
        let (end, last): (Vec<(usize, &Regex)>, usize) = match &self.end {
            BlockEnd::Mark(mark) => (vec![(whole - 1, mark)], whole - 1),
            BlockEnd::Count(_) => (Vec::new(), whole),
        };
        match &self.middle {
            Middle::Any | Middle::Lines(_) => vec![[begin, end].concat()],
            Middle::Each(patterns) => (begin.len()..last)
                .step_by(patterns.len().max(1))
                .map(|first| {
                    let item: Vec<(usize, &Regex)> = (first..).zip(patterns).collect();
                    [&begin[..], &item, &end].concat()
                })
                .collect(),
        }
    }

    fn fit(&self, lines: &VecDeque<String>, progress: &mut Progress) -> Fit {
        let head = usize::from(self.begin.is_some());
        let item = match &self.middle {
            Middle::Each(patterns) => patterns.len().max(1),
            Middle::Any | Middle::Lines(_) => 1,
        };
        loop {
            if progress.all.is_some_and(|all| progress.seen >= all) {
                return self.whole(progress.seen - head);
            }
            let Some(line) = lines.get(progress.seen).map(|line| ended(line)) else { return Fit::More };
            if progress.seen < head {
                let Some(found) = self.begin.as_ref().and_then(|begin| begin.captures(line)) else {
                    return Fit::No;
                };
                if let BlockEnd::Count(name) = &self.end {
                    let count = found.name(name).and_then(|count| count.as_str().parse::<usize>().ok());
                    // More are kept nowhere.
                    let Some(count) = count.filter(|count| *count <= MOST) else { return Fit::No };
                    progress.all = Some(head + count * item);
                }
            } else {
                let at = (progress.seen - head) % item;
                if at == 0
                    && let BlockEnd::Mark(mark) = &self.end
                    && mark.is_match(line)
                {
                    return match self.whole(progress.seen - head) {
                        Fit::Whole(_) => Fit::Whole(progress.seen + 1),
                        other => other,
                    };
                }
                let is_right = match &self.middle {
                    Middle::Any => true,
                    Middle::Lines(pattern) => pattern.is_match(line),
                    Middle::Each(patterns) => patterns.get(at).is_some_and(|pattern| pattern.is_match(line)),
                };
                if !is_right {
                    return Fit::No;
                }
            }
            progress.seen += 1;
        }
    }

    /// A list of nothing is no output, unless the lines are one besides.
    fn whole(&self, inner: usize) -> Fit {
        let is_list = matches!(self.middle, Middle::Each(_));
        if is_list && inner == 0 && self.then.is_none() {
            return Fit::No;
        }
        Fit::Whole(inner + usize::from(self.begin.is_some()))
    }
}
