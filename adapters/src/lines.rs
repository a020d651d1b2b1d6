//! An implementation's own line protocol: templates for what is sent, patterns for what is received.
//!
//! An output may take several lines ([`crate::blocks`]). The outputs are tried in the order of the
//! description, and the first counts whose patterns fit the lines that have come. If it needs more lines,
//! they are waited for. If they do not fit then, the next output is tried with the same lines. A line that
//! begins no output is ignored if the description has a pattern for that, and else unmatched. So an output
//! wins over a pattern to ignore. The lines of a list are several outputs, and may be one more as a whole.

use std::collections::{BTreeSet, VecDeque};

use coreach_model::excerpt::shortened;
use coreach_model::semantics::Event;

use crate::adapter::{Failure, Received};
use crate::blocks::{Fit, FitStop, GroupTexts, Progress, strip_cr};
use crate::cut::{LONGEST, MOST};
use crate::description::{Ignored, Lines, Shape, Unmatched};
use crate::pattern::matching_prefix;
pub use crate::pattern::{Regex, pattern, written};
use crate::signature::{Signatures, Wire};
use crate::template::{Function, Template, TemplatePart};

/// The name of an answer to an ignored line, for messages.
const IGNORE: &str = "ignore";

pub fn write_stimulus(lines: &Lines, event: &Event, signatures: &mut Signatures) -> Result<String, Failure> {
    let template = lines.stimuli.iter().find(|(action, _)| *action == event.action);
    let none = || Failure::Untranslatable(format!("`stimuli` has no line for `{}`", event.action));
    let (_, template) = template.ok_or_else(none)?;
    let value = |name: &str| signatures.hole(event, &lines.spelling, name);
    let line = write_line(lines, template, value, signatures, &event.action)?;
    let announced = count_announced(template, value);
    signatures.announce(announced);
    Ok(line)
}

/// The number of bytes that the text announces and does not have: the next stimulus begins with them.
fn count_announced(template: &Template, value: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let parts: Vec<TemplatePart<'_>> = template.parts().collect();
    let (at, name) = parts.iter().enumerate().rev().find_map(|(at, part)| match part {
        TemplatePart::Hole([Function::Length], name) => Some((at, *name)),
        _ => None,
    })?;
    let is_sent = parts[at..].contains(&TemplatePart::Hole(&[], name));
    value(name).filter(|_| !is_sent).map(|text| text.len())
}

fn write_line(
    lines: &Lines,
    template: &Template,
    value: impl Fn(&str) -> Option<String>,
    signatures: &Signatures,
    whose: &str,
) -> Result<String, Failure> {
    let text = template.fill(&value).map_err(|name| {
        let why = signatures.lacking(&name);
        Failure::Untranslatable(format!("the line for `{whose}` has the hole `{name}`, {why}"))
    })?;
    if breaks_a_line(template, value, signatures.announced()) {
        let why = "which a line cannot carry: exclude it in the guard, send its `{len(...)}` before it, or give it an \
                   encoding in `values`";
        return Err(Failure::Untranslatable(format!("a value of `{whose}` has a line break, {why}")));
    }
    Ok(text + &lines.line_ending)
}

/// Says whether the other side reads a line break of a value as the end of a line. It does not if an earlier
/// part counts the bytes of the value, or if the last stimulus has announced them and they come first.
fn breaks_a_line(
    template: &Template,
    value: impl Fn(&str) -> Option<String>,
    announced: Option<usize>,
) -> bool {
    let mut counted = BTreeSet::new();
    template.parts().enumerate().any(|(at, part)| match part {
        TemplatePart::Hole([Function::Length], name) => {
            counted.insert(name);
            false
        }
        TemplatePart::Hole(functions, name) => {
            let is_counted = functions.is_empty() && counted.contains(name);
            let text = value(name).map(|text| Function::all_of(functions, text));
            let is_awaited = |text: &String| at == 0 && announced == Some(text.len());
            text.is_some_and(|text| !is_counted && !is_awaited(&text) && text.contains(['\n', '\r']))
        }
        TemplatePart::Text(_) => false,
    })
}

/// Writes the answer to a line that is ignored, with its ending. The answer may be empty. `None`: the line is
/// not ignored.
pub fn answer_ignored(lines: &Lines, line: &str, signatures: &Signatures) -> Result<Option<String>, Failure> {
    let Some(Ignored { pattern, answer }) = lines.ignored.iter().find(|one| one.pattern.is_match(line))
    else {
        return Ok(None);
    };
    let Some(template) = answer else { return Ok(Some(String::new())) };
    let found = pattern.captures(line);
    let value = |name: &str| match pattern.capture_names().flatten().any(|group| group == name) {
        // A group that took no part in the match stands for no text.
        true => Some(found.as_ref()?.name(name).map_or("", |found| found.as_str()).to_owned()),
        false => signatures.known(name),
    };
    write_line(lines, template, value, signatures, IGNORE).map(Some)
}

/// Says whether an output can begin with this line.
pub fn may_begin(lines: &Lines, line: &str) -> bool {
    let lines_so_far = VecDeque::from([line.to_owned()]);
    lines.observations.iter().any(|(_, shape)| shape.fit(&lines_so_far, &mut Progress::default()) != Fit::No)
}

/// Whether lines may come after those that are there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MoreLines {
    MayCome,
    None,
}

/// What the tester has recognized in the bytes that have come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Recognized {
    /// An output of the specification, or one that is foreign to it.
    Received(Received),
    /// A message without a meaning, and the answer to it.
    Ignored(Vec<u8>),
    More,
}

/// The lines that have come and belong to no event yet.
#[derive(Clone, Default, Debug)]
pub struct Pending {
    lines: VecDeque<String>,
    bytes: usize,
    /// The output that is tried now. The outputs before it do not fit.
    rule: usize,
    progress: Progress,
    /// Why an output does not fit: its count of bytes was wrong.
    miscounted: Option<String>,
    /// Why an observation that fits was passed over: its lines are not exactly what `then` names.
    without_then: Option<String>,
    /// The lines of the last event, or the lines that were no event.
    taken: Vec<String>,
    /// Outputs of a list that were not taken yet.
    ready: VecDeque<Received>,
    asked: Option<String>,
    /// The text that was sent last.
    sent_text: Option<String>,
}

impl Pending {
    /// Notes the last stimulus, which some outputs answer and others do not.
    pub fn ask(&mut self, stimulus: &str) {
        self.asked = Some(stimulus.to_owned());
    }

    pub fn note_sent_text(&mut self, text: &str) {
        self.sent_text = Some(text.to_owned());
    }

    pub fn taken(&self) -> Vec<u8> {
        let lines: Vec<&str> = self.taken.iter().map(|line| strip_cr(line)).collect();
        lines.join("\n").into_bytes()
    }

    pub fn text(&self) -> Vec<u8> {
        self.lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
    }

    /// Adds a line, without its line feed.
    ///
    /// # Errors
    /// [`Failure::Flood`]: there are too many already, and no output is finished.
    pub fn push(&mut self, line: &str) -> Result<(), Failure> {
        self.bytes += line.len();
        self.lines.push_back(line.to_owned());
        if self.lines.len() > MOST || self.bytes > 4 * LONGEST {
            return Err(Failure::Flood(format!(
                "an output has more than {MOST} lines, or {} bytes",
                4 * LONGEST
            )));
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.ready.is_empty()
    }

    /// Takes the next event from the lines that have come.
    ///
    /// # Errors
    /// [`Failure::Garbage`]: a line is unmatched, and the description makes that an error.
    /// [`Failure::Untranslatable`]: the answer to an ignored line cannot be written.
    pub fn next(&mut self, lines: &Lines, signatures: &mut Signatures) -> Result<Recognized, Failure> {
        self.find_event(lines, signatures, MoreLines::MayCome)
    }

    /// Takes the next event if no line will come any more. An output that needs another one does not fit.
    pub fn last(&mut self, lines: &Lines, signatures: &mut Signatures) -> Result<Recognized, Failure> {
        self.find_event(lines, signatures, MoreLines::None)
    }

    /// Tries the observations in their order on the lines that have come. An observation that needs more
    /// lines holds up those after it, unless no line will come. If none fits, the first line is ignored or
    /// unmatched.
    fn find_event(
        &mut self,
        lines: &Lines,
        signatures: &mut Signatures,
        more: MoreLines,
    ) -> Result<Recognized, Failure> {
        if let Some(received) = self.ready.pop_front() {
            return Ok(Recognized::Received(received));
        }
        while !self.lines.is_empty() {
            let Some((action, shape)) = lines.observations.get(self.rule) else { break };
            if !self.may_answer(action, lines) {
                self.rule += 1;
                continue;
            }
            let fit = match (shape.fit(&self.lines, &mut self.progress), shape.then()) {
                (Fit::Whole(whole), Some(then)) if self.reads_as(then, whole, lines).is_none() => {
                    self.without_then.get_or_insert_with(|| {
                        format!(
                            "`{action}` fits, but with `then` the same {whole} lines are read once more, \
                             and they are not exactly `{then}`"
                        )
                    });
                    Fit::No
                }
                (fit, _) => fit,
            };
            match fit {
                Fit::More if more == MoreLines::MayCome => return Ok(Recognized::More),
                Fit::Whole(whole) => {
                    let then = shape.then().and_then(|then| Some((then, self.reads_as(then, whole, lines)?)));
                    let ready: Result<Vec<_>, _> = std::iter::once((action.as_str(), shape))
                        .chain(then)
                        .map(|(action, shape)| self.outputs(action, shape, whole, lines, signatures))
                        .collect();
                    self.drop_lines(whole);
                    self.ready.extend(ready?.into_iter().flatten());
                    return Ok(self
                        .ready
                        .pop_front()
                        .map_or(Recognized::Ignored(Vec::new()), Recognized::Received));
                }
                Fit::No | Fit::More | Fit::Miscounted(_) => {
                    if let Fit::Miscounted(count) = fit {
                        let why =
                            format!("`{action}` counts {count} bytes, and what follows them does not fit");
                        self.miscounted.get_or_insert(why);
                    }
                    self.rule += 1;
                    self.progress = Progress::default();
                }
            }
        }
        let Some(line) = self.lines.front().map(|line| strip_cr(line)) else {
            return Ok(Recognized::More);
        };
        if let Some(why) = self.miscounted.take() {
            let text = format!("the line `{}`: {why}", shortened(line));
            self.drop_lines(1);
            return Ok(Recognized::Received(Received::Alien(text)));
        }
        let text = self.describe_unmatched(line, lines);
        let answer = answer_ignored(lines, line, signatures);
        self.drop_lines(1);
        if let Some(answer) = answer? {
            return Ok(Recognized::Ignored(answer.into_bytes()));
        }
        match lines.unmatched {
            Unmatched::Fail => Ok(Recognized::Received(Received::Alien(text))),
            Unmatched::Error => Err(Failure::Garbage(text)),
            Unmatched::Ignore => Ok(Recognized::Ignored(Vec::new())),
        }
    }

    /// Describes a line that no observation fits, and why none does.
    fn describe_unmatched(&self, line: &str, lines: &Lines) -> String {
        let why = match &self.without_then {
            Some(why) => format!(": {why}"),
            // The text is not used.
            None if lines.unmatched == Unmatched::Ignore => String::new(),
            None => {
                let (closest, is_close) = self.describe_closest(lines);
                let (help, is_sure) = self.explain_unknown(line, lines);
                match is_sure {
                    true => format!(", which no pattern fits{help}"),
                    false if is_close => format!(", which no pattern fits{closest}"),
                    false => format!(", which no pattern fits{closest}{help}"),
                }
            }
        };
        if line.is_empty() {
            return format!("an empty line{why}");
        }
        let shown = shortened(line).replace('\u{1b}', "\\x1b").replace('\0', "\\0");
        format!("the line `{shown}`{why}")
    }

    /// Explains what a line may be that is no output, and says whether it is that for sure.
    fn explain_unknown(&self, line: &str, lines: &Lines) -> (String, bool) {
        if line.contains("\u{1b}[") {
            let text = "\nhelp: `\\x1b[...` is a colour of a terminal: let the system print none, for example with \
                        `environment: { NO_COLOR: \"1\", TERM: dumb }` next to `command`";
            return (text.to_owned(), true);
        }
        if line.contains('\0') {
            let text = "\nhelp: the line contains NUL, `\\0`: send none, or write `\\x00` into the pattern";
            return (text.to_owned(), true);
        }
        if line.starts_with('\u{feff}') {
            return ("\nhelp: it begins with a byte order mark: write UTF-8 without one".to_owned(), true);
        }
        let mut known =
            lines.observations.iter().filter_map(|(action, shape)| Some((action, shape.first()?)));
        let starts = || line.char_indices().map(|(at, _)| at).skip(1);
        let prompted = known.find_map(|(action, pattern)| {
            let is_prompt = |at: &usize| line[..*at].ends_with([' ', '>', ':', '$', '#', '%', ']', '|']);
            let at = starts().filter(is_prompt).find(|at| pattern.is_match(&line[*at..]))?;
            Some((action, written(pattern).trim_start_matches('^'), &line[..at]))
        });
        if let Some((action, pattern, prompt)) = prompted {
            let regex = format!("^{}{pattern}", regex::escape(prompt)).replace('\'', "''");
            let text = format!(
                "\nbehind `{}` it is `{action}`\nhelp: if that is a prompt, it belongs to the pattern: `{action}: '{regex}'`",
                shortened(prompt)
            );
            return (text, true);
        }
        if self.sent_text.as_deref().is_some_and(|said| said.trim_end() == line) {
            let text = format!(
                "\nhelp: it is what was sent: switch its echo off, or skip the line: `ignore: [{{ pattern: '^{}$' }}]`",
                shortened(&regex::escape(line).replace('\'', "''"))
            );
            return (text, true);
        }
        let lower = line.to_lowercase();
        let is_refusal = ["unknown", "invalid", "error", "usage", "unrecognized", "bad "];
        let said = self.sent_text.as_deref().filter(|_| is_refusal.iter().any(|word| lower.contains(word)));
        if let Some(said) = said {
            let said = shortened(said.trim_end());
            let text = format!(
                "\nhelp: it may refuse `{said}`, which was sent: compare `stimuli` with what the system takes"
            );
            return (text, false);
        }
        if line.trim_end().ends_with([':', '?']) {
            let pattern = shortened(&regex::escape(line).replace('\'', "''"));
            let text = format!(
                "\nhelp: if it asks for something first, answer that: `reset: [{{ expect: '^{pattern}$' }}, {{ send: ANSWER }}]`"
            );
            return (text, false);
        }
        let pattern = generalize(line);
        // A greeting comes before all else, and is nothing for a log.
        let is_log = ["debug", "info", "warn", "trace", "log"].iter().any(|word| lower.contains(word));
        let greeting = match self.taken.is_empty() && !line.is_empty() && !is_log {
            true => format!("\nhelp: if it is a greeting, await it: `reset: [{{ expect: '{pattern}' }}]`"),
            false => String::new(),
        };
        let text = format!(
            "{greeting}\nhelp: if it is no event, write it to standard error, or skip it: \
             `ignore: [{{ pattern: '{pattern}' }}]`"
        );
        (text, false)
    }

    /// Describes what a user can compare the lines with: the observation that fits furthest, and where it
    /// stops, else one that fits except for capital letters, else the patterns, if they are few. Also says
    /// whether one is close.
    fn describe_closest(&self, lines: &Lines) -> (String, bool) {
        let known = || lines.observations.iter().filter(|(action, _)| self.may_answer(action, lines));
        let stops = known().filter_map(|(action, shape)| Some((shape.stop(&self.lines)?, action)));
        let furthest = stops.reduce(|best, next| if next.0.at > best.0.at { next } else { best });
        if let Some((FitStop { at: (line, byte), expected }, action)) =
            furthest.filter(|(stop, _)| stop.at > (0, 0))
        {
            let text = self.lines.get(line).map_or("", |line| strip_cr(line));
            let (begin, rest) = (shortened(&text[..byte]), shortened(&text[byte..]));
            let place = if line == 0 { String::new() } else { format!("in line {}, ", line + 1) };
            let cut =
                if expected.contains("\\r") { " (coreach takes `\\r` off the end of a line)" } else { "" };
            let correct = format!("\nhelp: if the system is right, correct the pattern of `{action}`");
            let text = match (begin.is_empty(), rest.is_empty()) {
                (true, _) => {
                    format!("\nthe closest is `{action}`: {place}`{rest}` does not fit {expected}{correct}")
                }
                (_, true) => {
                    format!(
                        "\nthe closest is `{action}`: {place}the line ends too early for {expected}{cut}{correct}"
                    )
                }
                _ => {
                    let mut shapes = known().filter(|(known, _)| known == action).map(|(_, shape)| shape);
                    let help = explain_rest(
                        text,
                        byte,
                        shapes.find_map(|shape| shape.first()).filter(|_| line == 0),
                    );
                    let column = text[..byte].chars().count() + 1;
                    format!(
                        "\nthe closest is `{action}`: {place}`{begin}` fits {expected}, but `{rest}` does not, \
                         from column {column} on{}",
                        help.unwrap_or(correct)
                    )
                }
            };
            // A few signs in common may be by chance.
            return (text, line > 0 || 2 * byte >= self.lines[0].len());
        }
        let line = self.lines.front().map_or("", |line| strip_cr(line));
        let firsts = || known().filter_map(|(action, shape)| Some((action, shape.first()?)));
        let is_same_but_for_case =
            |pattern: &Regex| matching_prefix(&format!("(?i){}", pattern.as_str()), line).1;
        if let Some((action, pattern)) = firsts().find(|(_, pattern)| is_same_but_for_case(pattern)) {
            let pattern = written(pattern);
            let text = format!(
                "\n`{action}` fits but for capital letters: `{pattern}`\nhelp: if the system is right, write them so, or \
                 begin the pattern with `(?i)`"
            );
            return (text, true);
        }
        let all: Vec<String> =
            firsts().map(|(action, pattern)| format!("`{action}` is `{}`", written(pattern))).collect();
        let all = if (1..=4).contains(&all.len()) {
            format!("\n{}\nhelp: if it is one of these, correct its pattern", all.join(", "))
        } else {
            String::new()
        };
        (all, false)
    }

    /// Says whether the output may answer what was sent last.
    fn may_answer(&self, action: &str, lines: &Lines) -> bool {
        let to = lines.answers.iter().find(|(answer, _)| answer == action);
        to.is_none_or(|(_, to)| self.asked.as_ref().is_some_and(|asked| to.contains(asked)))
    }

    /// Returns the shape of another output, if the first `whole` lines fit it exactly, too.
    fn reads_as<'l>(&self, then: &str, whole: usize, lines: &'l Lines) -> Option<&'l Shape> {
        let (_, shape) = lines.observations.iter().find(|(action, _)| action == then)?;
        (shape.fit(&self.lines, &mut Progress::default()) == Fit::Whole(whole)).then_some(shape)
    }

    fn drop_lines(&mut self, count: usize) {
        self.taken.clear();
        self.taken.extend(self.lines.drain(..count));
        self.bytes -= self.taken.iter().map(String::len).sum::<usize>();
        self.rule = 0;
        self.progress = Progress::default();
        self.miscounted = None;
        self.without_then = None;
    }

    /// Makes the outputs of the first `whole` lines, which fit this shape.
    fn outputs(
        &self,
        action: &str,
        shape: &Shape,
        whole: usize,
        lines: &Lines,
        signatures: &mut Signatures,
    ) -> Result<Vec<Received>, Failure> {
        let output = |found: GroupTexts<'_>| {
            let parameters = signatures.action(action).map_or(&[][..], |action| &action.parameters);
            // A group that counts need not be a parameter.
            let is_said =
                |name: &str| !shape.is_count(name) || parameters.iter().any(|datum| datum.name() == name);
            let texts: Vec<(&str, Wire<'_>)> = found
                .iter()
                .filter(|(name, _)| is_said(name))
                .map(|(name, text)| (*name, Wire::Text(text)))
                .collect();
            signatures.capturing_output(action, &texts, &lines.spelling)
        };
        shape.outputs(&self.lines, whole).into_iter().map(output).collect()
    }
}

/// Makes a pattern for all lines that begin like this one: its first word stays, and digits in it may change.
fn generalize(line: &str) -> String {
    let word = line.split_inclusive(char::is_whitespace).next().unwrap_or_default();
    let escaped = regex::escape(word).replace('\'', "''");
    let mut pattern = "^".to_owned();
    for sign in escaped.chars() {
        match sign.is_ascii_digit() {
            true if pattern.ends_with("\\d+") => {}
            true => pattern.push_str("\\d+"),
            false => pattern.push(sign),
        }
    }
    pattern + if word.len() < line.len() { ".*$" } else { "$" }
}

/// Says how to write a pattern for a line that goes on in another way, from where it fits no more.
fn explain_rest(line: &str, at: usize, pattern: Option<&Regex>) -> Option<String> {
    let (begin, rest) = line.split_at(at);
    let written = pattern.map_or("", written);
    let sign = rest.chars().next().unwrap_or(' ');
    let is_digit = |sign: char| sign.is_ascii_digit();
    let last = begin.chars().last().unwrap_or('^');
    let help = match sign {
        '+' if rest[1..].starts_with(is_digit) => {
            "a number has no `+`: keep it out of the group, `\\+?(?P<...>\\d+)`".to_owned()
        }
        '-' if rest[1..].starts_with(is_digit) => "a number below 0 fits `-?\\d+`".to_owned(),
        'x' | 'X' if last == '0' => {
            "numbers are read in decimal digits: in the model, this value is a string".to_owned()
        }
        '+' | '*' | '?' | '(' | ')' | '[' | '|' | '{' if written.contains(&format!("{last}{sign}")) => {
            format!("`{sign}` has a meaning in patterns, and for itself is written `\\{sign}`")
        }
        _ if pattern.is_some_and(|pattern| pattern.is_match(begin)) => {
            let escaped = shortened(&regex::escape(rest).replace('\'', "''"));
            format!(
                "if that may follow, the pattern ends with `(?:{escaped})?$`; if anything may, with `.*$`"
            )
        }
        ' ' => "each space counts: ` +` in the pattern fits one or more".to_owned(),
        _ => return None,
    };
    Some(format!("\nhelp: {help}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use std::time::Instant;

    use coreach_model::Value;
    use coreach_model::reader::{from_bytes, read_specification};

    use super::*;
    use crate::adapter::Session;
    use crate::description::{Block, BlockEnd, LinePart, Middle, Spelling, Spelt};
    use crate::encoding::TextEncoding;

    const MODEL: &str = "
iosts: m
locations: [A]
initial: { location: A }
outputs: { Long: { n: int, b: bool }, Short: { n: int } }
transitions: [{ from: A, to: A, on: Short }]
";

    fn fitting(patterns: &[&str]) -> Shape {
        Shape::fitting(patterns.iter().map(|text| pattern(text).unwrap()))
    }

    fn events(unmatched: Unmatched, wire: &[&str]) -> Vec<String> {
        let file = from_bytes("m".to_owned(), MODEL.as_bytes().to_vec()).unwrap();
        let iosts = read_specification(file).unwrap().0.iosts;
        let session = Session { iosts: &iosts, constants: &[], seed: 1, deadline: Instant::now() };
        let mut signatures = Signatures::of(&session);
        let yes =
            [("yes", "true"), ("no", "false")].map(|(wire, literal)| (wire.to_owned(), literal.to_owned()));
        let lines = Lines {
            line_ending: "\n".to_owned(),
            observations: vec![
                ("Long".to_owned(), fitting(&[r"n (?P<n>\S+)", r"b (?P<b>\w+)"])),
                ("Short".to_owned(), fitting(&[r"n (?P<n>\S+)"])),
            ],
            spelling: Spelling(vec![("b".to_owned(), Spelt::Texts(yes.to_vec()))]),
            unmatched,
            ..Lines::default()
        };
        let mut pending = Pending::default();
        let mut events = Vec::new();
        for line in wire {
            pending.push(line).unwrap();
            loop {
                match pending.next(&lines, &mut signatures) {
                    Ok(Recognized::More) => break,
                    Ok(Recognized::Ignored(_)) => {}
                    Ok(Recognized::Received(Received::Output(event))) => events.push(event.to_string()),
                    Ok(Recognized::Received(other)) => events.push(format!("{other:?}")),
                    Err(failure) => {
                        events.push(failure.to_string());
                        break;
                    }
                }
            }
        }
        events
    }

    /// Soundness: what would be read as two lines is not sent as one; in an encoding every string is, and
    /// comes back; what is not in that encoding is no event.
    #[test]
    fn a_string_is_sent_as_it_is_or_in_an_encoding() {
        let model = "iosts: m\ninitial: { location: A }\ninputs: { Put: { t: string } }\n\
                     outputs: { Got: { t: string } }\ntransitions: [{ from: A, to: A, on: Put }]\n";
        let file = from_bytes("m".to_owned(), model.as_bytes().to_vec()).unwrap();
        let iosts = read_specification(file).unwrap().0.iosts;
        let session = Session { iosts: &iosts, constants: &[], seed: 1, deadline: Instant::now() };
        let mut signatures = Signatures::of(&session);
        let lines = |template: &str, spelt: Option<TextEncoding>| Lines {
            line_ending: "\n".to_owned(),
            stimuli: vec![("Put".to_owned(), Template::parse(template).unwrap())],
            observations: vec![("Got".to_owned(), fitting(&["got (?P<t>.*)"]))],
            spelling: Spelling(spelt.map(|of| ("t".to_owned(), Spelt::Encoded(of))).into_iter().collect()),
            ..Lines::default()
        };
        let put = |text: &str| Event::new("Put", [Value::string(text)]);
        let sent = |template: &str, text: &str| {
            write_stimulus(&lines(template, None), &put(text), &mut Signatures::of(&session)).ok()
        };
        assert_eq!(sent("put {len(t)} {t}", "a \u{e9}").as_deref(), Some("put 4 a \u{e9}\n"));
        assert_eq!(sent("put {t}", "a\nb"), None);
        assert_eq!(sent("put {t}", "a\r"), None);
        assert_eq!(sent("put {json(t)}", "a\nb").as_deref(), Some("put \"a\\nb\"\n"));
        for encoding in TextEncoding::ALL {
            let lines = lines("got {t}", Some(encoding));
            for text in ["", " a\r\n\0 ", "\"\u{1f600}\u{85}%"] {
                if encoding.encoded(text).is_none() {
                    assert!(
                        write_stimulus(&lines, &put(text), &mut signatures).is_err(),
                        "{encoding:?} {text}"
                    );
                    continue;
                }
                let line = write_stimulus(&lines, &put(text), &mut signatures).unwrap();
                let mut pending = Pending::default();
                pending.push(line.trim_end_matches('\n')).unwrap();
                let event = Event::new("Got", [Value::string(text)]);
                let read = pending.next(&lines, &mut signatures);
                assert_eq!(read, Ok(Recognized::Received(Received::Output(event))), "{encoding:?} {line}");
            }
            let mut pending = Pending::default();
            pending.push("got %zz").unwrap();
            let read = pending.next(&lines, &mut signatures);
            assert!(matches!(read, Ok(Recognized::Received(Received::Alien(_)))), "{encoding:?} {read:?}");
        }
    }

    /// Soundness: what is counted in bytes is read to the byte, line breaks among it; and a count that is
    /// wrong is no event, and not ignored.
    #[test]
    fn what_is_counted_is_as_long_as_it_says() {
        let model = "iosts: m\ninitial: { location: A }\ninputs: { Put: { t: string } }\n\
                     outputs: { Got: { t: string }, X: {} }\ntransitions: [{ from: A, to: A, on: Put }]\n";
        let file = from_bytes("m".to_owned(), model.as_bytes().to_vec()).unwrap();
        let iosts = read_specification(file).unwrap().0.iosts;
        let session = Session { iosts: &iosts, constants: &[], seed: 1, deadline: Instant::now() };
        let mut signatures = Signatures::of(&session);
        let counted = LinePart::Counted { count: "n".to_owned(), name: "t".to_owned() };
        let parts = vec![LinePart::Fitting(pattern(r"got (?P<n>\d+)").unwrap()), counted];
        let templates = ["got {len(t)}", "{t}"].map(|text| Template::parse(text).unwrap());
        let lines = Lines {
            line_ending: "\r\n".to_owned(),
            stimuli: vec![("Put".to_owned(), Template::joined(templates, "\r\n"))],
            observations: vec![("Got".to_owned(), Shape::Lines(parts)), ("X".to_owned(), fitting(&["x"]))],
            unmatched: Unmatched::Ignore,
            ..Lines::default()
        };
        let mut read = |wire: &str| {
            let (mut pending, mut found) = (Pending::default(), Vec::new());
            for line in wire.split_terminator('\n') {
                pending.push(line).unwrap();
                loop {
                    match pending.next(&lines, &mut signatures).unwrap() {
                        Recognized::More => break,
                        Recognized::Ignored(_) => found.push("ignored".to_owned()),
                        Recognized::Received(Received::Output(event)) => found.push(event.to_string()),
                        Recognized::Received(other) => found.push(format!("{other:?}")),
                    }
                }
            }
            found
        };
        let wrong = |line: &str, count: usize| {
            let why = format!("`Got` counts {count} bytes, and what follows them does not fit");
            format!("{:?}", Received::Alien(format!("the line `{line}`: {why}")))
        };
        assert_eq!(read("got 3\r\nabc\r\nx\r\n"), [r#"Got("abc")"#, "X()"]);
        assert_eq!(read("got 3\nabc\nx\n"), [r#"Got("abc")"#, "X()"]);
        assert_eq!(read("got 0\r\n\r\ngot 1\n\r\n"), [r#"Got("")"#, r#"Got("\r")"#]);
        assert_eq!(read("got 4\nabc\nx\n"), [wrong("got 4", 4), "ignored".to_owned(), "X()".to_owned()]);
        assert_eq!(read("got 1\n\u{e9}\n"), [wrong("got 1", 1), "ignored".to_owned()]);
        assert_eq!(read("got 5\nabc\n"), [""; 0]);
        assert_eq!(read("got 2000000\n"), ["ignored"]);
        for text in ["", "ab", "a\r\nb", "\n", "\r", "\r\n\r\n", "x\n\u{1f600}\r", "got 2\nab"] {
            let event = Event::new("Put", [Value::string(text)]);
            let sent = write_stimulus(&lines, &event, &mut Signatures::of(&session)).unwrap();
            let came = Event::new("Got", [Value::string(text)]).to_string();
            assert_eq!(read(&(sent.clone() + "x\n")), [came, "X()".to_owned()], "{sent:?}");
        }
    }

    #[test]
    fn the_first_output_that_fits_counts_and_lines_are_tried_again() {
        assert_eq!(
            events(Unmatched::Fail, &["n 1", "b yes", "n 2", "n 3", "b no"]),
            ["Long(1, true)", "Short(2)", "Long(3, false)"]
        );
        assert_eq!(events(Unmatched::Fail, &["n 1"]), [""; 0]);
    }

    #[test]
    fn a_value_that_is_none_is_no_output_of_the_specification() {
        let expected = "Alien(\"`Long` with a wrong `b`: expected a text of `values`, not \\\"maybe\\\"\")";
        assert_eq!(events(Unmatched::Ignore, &["n 1", "b maybe"]), [expected]);
        // Not by the model's own name either, and numbers by their digits alone.
        for (wire, is_event) in [
            ("n 1|b true", false),
            ("n 1|b yes", true),
            ("n 1_|b yes", false),
            ("n 01|b yes", false),
            ("n +1|b yes", false),
            ("n ٣|b yes", false),
            ("n -0|b yes", true),
        ] {
            let found = events(Unmatched::Ignore, &wire.split('|').collect::<Vec<_>>());
            assert_eq!(!found[0].starts_with("Alien"), is_event, "{wire}: {found:?}");
        }
    }

    #[test]
    fn lines_that_begin_alike_are_skipped_by_one_pattern() {
        for (line, expected) in [
            ("DEBUG got 1", "^DEBUG .*$"),
            ("2026-11-28 10:00 it's", r"^\d+\-\d+\-\d+ .*$"),
            ("[it's] on", "^\\[it''s\\] .*$"),
            ("ready", "^ready$"),
            ("", "^$"),
        ] {
            assert_eq!(generalize(line), expected);
        }
    }

    #[test]
    fn a_line_that_nothing_fits_is_what_the_description_says() {
        let text = "the line `what`, which no pattern fits\n\
                    `Long` is `n (?P<n>\\S+)`, `Short` is `n (?P<n>\\S+)`\n\
                    help: if it is one of these, correct its pattern\n\
                    help: if it is a greeting, await it: `reset: [{ expect: '^what$' }]`\n\
                    help: if it is no event, write it to standard error, or skip it: `ignore: [{ pattern: '^what$' }]`";
        assert_eq!(events(Unmatched::Fail, &["what"]), [format!("Alien({text:?})")]);
        assert_eq!(events(Unmatched::Error, &["what"]), [format!("garbage: {text}")]);
        assert_eq!(events(Unmatched::Ignore, &["n 1", "what", "more"]), ["Short(1)"]);
    }

    const MAIL: &str = "iosts: m\ninitial: { location: A }\ninputs: { Put: { t: string }, Send: { t: string } }\n\
                        outputs: { Got: { t: string }, F: { a: int, b: int }, X: {}, Y: {} }\n\
                        transitions: [{ from: A, to: A, on: Put }]\n";

    fn mail(unmatched: Unmatched) -> Lines {
        let fit = |text: &str| LinePart::Fitting(pattern(text).unwrap());
        let counted = || LinePart::Counted { count: "n".to_owned(), name: "t".to_owned() };
        let literal = || vec![fit(r"\* \{(?P<n>\d+)\}"), counted(), fit(r"\)")];
        let block = |begin: &str, middle: Middle| {
            let (begin, end) = (Some(pattern(begin).unwrap()), BlockEnd::Mark(pattern(r"\.").unwrap()));
            Shape::Block(Box::new(Block { begin, middle, end, then: None }))
        };
        let fields = [r"a: (?P<a>\d+)", r"b: (?P<b>\d+)"].map(|text| pattern(text).unwrap()).to_vec();
        let template = |text: &str| Template::parse(text).unwrap();
        Lines {
            line_ending: "\r\n".to_owned(),
            stimuli: vec![
                ("Put".to_owned(), template("put {{{len(t)}}}")),
                ("Send".to_owned(), template("{t}")),
            ],
            observations: vec![
                ("Got".to_owned(), Shape::Lines(literal())),
                ("Got".to_owned(), block("all", Middle::Each(literal()))),
                ("F".to_owned(), block("stat", Middle::Fields(fields))),
                ("X".to_owned(), fitting(&["ok"])),
                ("Y".to_owned(), fitting(&["ok"])),
            ],
            answers: vec![("X".to_owned(), vec!["Put".to_owned()])],
            unmatched,
            ..Lines::default()
        }
    }

    /// Soundness: what follows counted bytes is of their line, fields come in any order and each once, and an
    /// answer is to what was sent last.
    #[test]
    fn literals_fields_and_answers_are_read() {
        let file = from_bytes("m".to_owned(), MAIL.as_bytes().to_vec()).unwrap();
        let iosts = read_specification(file).unwrap().0.iosts;
        let session = Session { iosts: &iosts, constants: &[], seed: 1, deadline: Instant::now() };
        let mut signatures = Signatures::of(&session);
        let lines = mail(Unmatched::Fail);
        let mut read = |asked: &str, wire: &str| {
            let (mut pending, mut found) = (Pending::default(), Vec::new());
            pending.ask(asked);
            for line in wire.split_terminator('\n') {
                pending.push(line).unwrap();
                loop {
                    match pending.next(&lines, &mut signatures).unwrap() {
                        Recognized::More => break,
                        Recognized::Received(Received::Output(event)) => found.push(event.to_string()),
                        other => found.push(format!("{other:?}")),
                    }
                }
            }
            found
        };
        assert_eq!(read("Put", "* {4}\r\na\r\nb)\r\nok\n"), [r#"Got("a\r\nb")"#, "X()"]);
        assert_eq!(read("Put", "* {0}\n)\n* {1}\n))\n"), [r#"Got("")"#, r#"Got(")")"#]);
        // On a line of its own, what follows is read as well.
        assert_eq!(read("Put", "* {1}\nx\n)\n"), [r#"Got("x")"#]);
        assert_eq!(
            read("Send", "all\n* {1}\nx)\n* {2}\n.\n)\n.\nok\n"),
            [r#"Got("x")"#, r#"Got(".\n")"#, "Y()"]
        );
        assert_eq!(read("Put", "stat\nb: 2\nc: 3\na: 1\n.\n"), ["F(1, 2)"]);
        for (wire, why) in [
            ("* {1}\nxy)\n", "`Got` counts 1 bytes, and what follows them does not fit"),
            ("stat\na: 1\n.\n", "the closest is `F`: in line 3, `.` does not fit `b: (?P<b>\\d+)`"),
            ("stat\na: 1\na: 2\nb: 2\n.\n", "the closest is `F`"),
            ("all\n* {1}\nx!\n", "`Got` counts 1 bytes"),
            ("OK\n", "`X` fits but for capital letters: `ok`"),
        ] {
            let found = read("Put", wire);
            assert!(found[0].contains(&why.replace('\\', "\\\\")), "{wire:?}: {found:?}");
        }
        let mut send = |action: &str, text: &str| {
            write_stimulus(&lines, &Event::new(action, [Value::string(text)]), &mut signatures).ok()
        };
        assert_eq!(send("Send", "a\nb"), None);
        assert_eq!(send("Put", "a\nb").as_deref(), Some("put {3}\r\n"));
        assert_eq!(send("Send", "a\nbc"), None);
        assert_eq!(send("Send", "c\nd").as_deref(), Some("c\nd\r\n"));
        assert_eq!(send("Send", "c\nd"), None);
    }
}
