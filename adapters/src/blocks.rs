//! Do lines fit the shape of an output, wholly or as far as they have come?
//!
//! ```text
//! lines = one line for each pattern
//! block = [begin] middle* end              a line that fits the end is the end
//! block = begin item*                      as many items as a group of `begin` says
//! item  = one line for each pattern of `each`
//! ```
//!
//! Lines come one after the other, and an output may have thousands. So what has been looked at is remembered
//! ([`Progress`]), and each line is looked at once by each shape that it is tried with, as long as that shape
//! may still fit.

use std::collections::VecDeque;

use regex::Regex;

use crate::cut::MOST;
use crate::description::{Block, BlockEnd, Middle, Shape};

/// How far lines have been looked at for a shape.
#[derive(Clone, Default, Debug)]
pub struct Progress {
    seen: usize,
    /// How many lines there are, once it is known.
    all: Option<usize>,
}

/// What came of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fit {
    /// The first so many lines are it.
    Whole(usize),
    /// More lines are needed.
    More,
    /// They are not.
    No,
}

impl Shape {
    /// Looks at the lines that have not been looked at.
    pub fn fit(&self, lines: &VecDeque<String>, progress: &mut Progress) -> Fit {
        match self {
            Shape::Lines(patterns) => {
                while let Some(pattern) = patterns.get(progress.seen) {
                    let Some(line) = lines.get(progress.seen) else { return Fit::More };
                    if !pattern.is_match(line) {
                        return Fit::No;
                    }
                    progress.seen += 1;
                }
                Fit::Whole(progress.seen)
            }
            Shape::Block(block) => block.fit(lines, progress),
        }
    }

    /// The pattern of its first line, where it has one.
    pub fn first(&self) -> Option<&Regex> {
        match self {
            Shape::Lines(patterns) => patterns.first(),
            Shape::Block(block) => match (&block.begin, &block.middle) {
                (Some(begin), _) | (None, Middle::Lines(begin)) => Some(begin),
                (None, Middle::Each(patterns)) => patterns.first(),
                (None, Middle::Any) => None,
            },
        }
    }

    /// The patterns of the lines of an output, where the first `whole` lines are it: one output, or one for
    /// each item of a list. With each pattern the number of its line.
    pub fn outputs(&self, whole: usize) -> Vec<Vec<(usize, &Regex)>> {
        let block = match self {
            Shape::Lines(patterns) => return vec![patterns.iter().enumerate().collect()],
            Shape::Block(block) => block,
        };
        let begin: Vec<(usize, &Regex)> = block.begin.iter().map(|pattern| (0, pattern)).collect();
        let (end, last): (Vec<(usize, &Regex)>, usize) = match &block.end {
            BlockEnd::Mark(mark) => (vec![(whole - 1, mark)], whole - 1),
            BlockEnd::Count(_) => (Vec::new(), whole),
        };
        match &block.middle {
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

    /// Is this the group that says how many items there are?
    pub fn is_count(&self, name: &str) -> bool {
        match self {
            Shape::Lines(_) => false,
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

impl Block {
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
            let Some(line) = lines.get(progress.seen) else { return Fit::More };
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
