//! An implementation's own line protocol: templates for what is sent, patterns for what is received.
//!
//! An output may take several lines ([`crate::blocks`]). The outputs are tried in the order of the
//! description, and the first counts whose patterns fit the lines that have come. If it needs more lines,
//! they are waited for. If they do not fit then, the next output is tried with the same lines. A line that
//! begins no output is ignored if the description has a pattern for that, and else unmatched. So an output
//! wins over a pattern to ignore. The lines of a list are several outputs, and may be one more as a whole.

mod unmatched;

use std::collections::{BTreeSet, VecDeque};

use coreach_model::excerpt::shortened;
use coreach_model::semantics::Event;

pub use self::unmatched::explain_length;
pub(crate) use self::unmatched::generalize;
use crate::adapter::{Failure, Received};
use crate::blocks::{BlockScan, Fit, GroupTexts, strip_cr};
use crate::cut::{LONGEST, MOST};
use crate::description::{Ignored, Lines, PreparationStep, Shape, Unmatched};
pub use crate::pattern::{Regex, pattern, written};
use crate::signature::{SWAPPED, Signatures, Wire};
use crate::template::{Function, Template, TemplatePart};

/// The name of an answer to an ignored line, for messages.
const IGNORE: &str = "ignore";

/// Writes the line of a stimulus, and notes how many bytes of the next one it announces.
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

/// Counts the bytes that the text announces by `{len(x)}`, if no `{x}` follows. The next stimulus begins with
/// them. `None` if it announces none. `value` gives the text for a name.
fn count_announced(template: &Template, value: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let parts = template.parts();
    let (place, name) = parts.iter().enumerate().rev().find_map(|(place, part)| match part {
        TemplatePart::Hole(functions, name) if *functions == [Function::Length] => Some((place, name)),
        _ => None,
    })?;
    let is_sent = parts[place..].contains(&TemplatePart::Hole(Vec::new(), name.clone()));
    value(name).filter(|_| !is_sent).map(|text| text.len())
}

/// Fills a line for `whose` by `value`, with its ending. Refuses a value that would end the line.
fn write_line(
    lines: &Lines,
    template: &Template,
    value: impl Fn(&str) -> Option<String>,
    signatures: &Signatures,
    whose: &str,
) -> Result<String, Failure> {
    let text = template.fill(&value).map_err(|name| {
        let why = signatures.lacking(&name);
        Failure::Untranslatable(format!("the line for `{whose}` has `{{{name}}}`, {why}"))
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
    for (place, part) in template.parts().iter().enumerate() {
        let TemplatePart::Hole(functions, name) = part else { continue };
        if *functions == [Function::Length] {
            counted.insert(name);
        } else if let Some(text) = value(name).map(|text| Function::all_of(functions, text)) {
            let is_counted = functions.is_empty() && counted.contains(name);
            let is_awaited = place == 0 && announced == Some(text.len());
            if !is_counted && !is_awaited && text.contains(['\n', '\r']) {
                return true;
            }
        }
    }
    false
}

/// Writes the answer to a line that is ignored, with its ending. It may be empty. `None` for other lines.
pub fn answer_ignored(lines: &Lines, line: &str, signatures: &Signatures) -> Result<Option<String>, Failure> {
    let ignored = lines.ignored.iter().find(|ignored| ignored.pattern.is_match(line));
    let Some(Ignored { pattern, answer }) = ignored else { return Ok(None) };
    let Some(template) = answer else { return Ok(Some(String::new())) };
    let found = pattern.captures(line);
    let value = |name: &str| match pattern.capture_names().flatten().any(|group| group == name) {
        // A group that took no part in the match stands for no text.
        true => Some(found.as_ref()?.name(name).map_or("", |found| found.as_str()).to_owned()),
        false => signatures.constant_or_capture(name),
    };
    write_line(lines, template, value, signatures, IGNORE).map(Some)
}

/// Returns the first output that this line is alone, if any.
pub fn find_output<'l>(lines: &'l Lines, line: &str) -> Option<&'l str> {
    let alone = VecDeque::from([line.to_owned()]);
    let fits = |shape: &Shape| shape.fit(&alone, &mut BlockScan::default()) == Fit::Whole(1);
    lines.observations.iter().find(|(_, shape)| fits(shape)).map(|(action, _)| action.as_str())
}

/// Says whether an output can begin with this line.
pub fn may_begin(lines: &Lines, line: &str) -> bool {
    let lines_so_far = VecDeque::from([line.to_owned()]);
    lines.observations.iter().any(|(_, shape)| shape.fit(&lines_so_far, &mut BlockScan::default()) != Fit::No)
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
pub struct PendingLines {
    lines: VecDeque<String>,
    bytes: usize,
    /// The output that is tried now. The outputs before it do not fit.
    rule: usize,
    progress: BlockScan,
    /// Why an output does not fit: its count of bytes was wrong.
    miscounted: Option<String>,
    /// Why an observation that fits was passed over: its lines are not exactly what `then` names.
    without_then: Option<String>,
    /// The lines of the last event, or the lines that were no event.
    taken: Vec<String>,
    /// Were lines taken since the connection was opened?
    has_taken: bool,
    /// Outputs of a list that were not taken yet.
    ready: VecDeque<Received>,
    /// The last stimulus.
    asked: Option<String>,
    /// The text that was sent last.
    sent_text: Option<String>,
}

impl PendingLines {
    /// Notes the last stimulus, which some outputs answer and others do not.
    pub fn ask(&mut self, stimulus: &str) {
        self.asked = Some(stimulus.to_owned());
    }

    /// Notes a text that was sent. No line has answered it yet.
    pub fn note_sent_text(&mut self, text: &str) {
        self.sent_text = Some(text.to_owned());
        self.taken.clear();
    }

    /// Returns the text that was sent last.
    pub fn sent_text(&self) -> Option<&str> {
        self.sent_text.as_deref()
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
    /// lines holds up those after it, unless no line will come. If none fits, the first is ignored or
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
                            "`{action}` fits, but its `then` says that the same {whole} lines are also `{then}`, \
                             which does not fit them"
                        )
                    });
                    Fit::No
                }
                (fit, _) => fit,
            };
            match fit {
                Fit::More if more == MoreLines::MayCome => return Ok(Recognized::More),
                Fit::Whole(whole) => {
                    // The lines are this output, or a list of them, and once more the output `then`.
                    let then = shape.then().and_then(|then| Some((then, self.reads_as(then, whole, lines)?)));
                    let ready: Result<Vec<_>, _> = std::iter::once((action.as_str(), shape))
                        .chain(then)
                        .map(|(action, shape)| self.outputs(action, shape, whole, lines, signatures))
                        .collect();
                    self.drop_lines(whole);
                    self.ready.extend(ready?.into_iter().flatten());
                    let first = self.ready.pop_front();
                    return Ok(first.map_or(Recognized::Ignored(Vec::new()), Recognized::Received));
                }
                Fit::No | Fit::More | Fit::Miscounted(_) => {
                    if let Fit::Miscounted(count) = fit {
                        let why =
                            format!("`{action}` counts {count} bytes, and what follows them does not fit");
                        self.miscounted.get_or_insert(why);
                    }
                    self.rule += 1;
                    self.progress = BlockScan::default();
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
        let text = self.describe_unmatched(line, lines, signatures);
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

    /// Says whether the output may answer what was sent last.
    fn may_answer(&self, action: &str, lines: &Lines) -> bool {
        let rule = lines.answers.iter().find(|(output, _)| output == action);
        rule.is_none_or(|(_, inputs)| self.asked.as_ref().is_some_and(|asked| inputs.contains(asked)))
    }

    /// Returns the shape of another output, if the first `whole` lines fit it exactly, too.
    fn reads_as<'l>(&self, then: &str, whole: usize, lines: &'l Lines) -> Option<&'l Shape> {
        let (_, shape) = lines.observations.iter().find(|(action, _)| action == then)?;
        (shape.fit(&self.lines, &mut BlockScan::default()) == Fit::Whole(whole)).then_some(shape)
    }

    /// Takes the first lines away, as an event or as none. The next event is searched anew behind them.
    fn drop_lines(&mut self, count: usize) {
        self.taken.clear();
        self.taken.extend(self.lines.drain(..count));
        self.has_taken = true;
        self.bytes -= self.taken.iter().map(String::len).sum::<usize>();
        self.rule = 0;
        self.progress = BlockScan::default();
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
            let parameters = signatures.parameters(action);
            // A group that counts need not be a parameter.
            let is_value =
                |name: &str| !shape.is_count(name) || parameters.iter().any(|datum| datum.name() == name);
            let values = found.iter().filter(|(name, _)| is_value(name));
            let values: Vec<_> = values.map(|(name, text)| (*name, Wire::Text(text))).collect();
            let received = signatures.capturing_output(action, &values, &lines.spelling)?;
            // Two groups of the pattern may be in each other's place, so it is shown with its line.
            if let (Received::Alien(text), Some(pattern), 1) = (&received, shape.first(), whole)
                && text.ends_with(SWAPPED)
            {
                let (line, pattern) = (shortened(strip_cr(&self.lines[0])), written(pattern));
                let shown = format!("\nthe line is `{line}`, and the pattern `{pattern}`\nhelp: ");
                return Ok(Received::Alien(text.replacen("\nhelp: ", &shown, 1)));
            }
            Ok(received)
        };
        shape.outputs(&self.lines, whole).into_iter().map(output).collect()
    }
}

/// Proposes how to skip all lines that coreach sends, and no other ones, if the system repeats them.
pub fn skip_echo(lines: &Lines, signatures: &Signatures) -> String {
    let of_reset = lines.reset.iter().filter_map(|step| match step {
        PreparationStep::Exchange(exchange) => Some(("", exchange.send.as_ref()?)),
        _ => None,
    });
    let of_stimuli = lines.stimuli.iter().map(|(action, template)| (action.as_str(), template));
    let mut patterns: Vec<String> = Vec::new();
    for (action, template) in of_reset.chain(of_stimuli) {
        let part_pattern = |part: &TemplatePart| match part {
            TemplatePart::Text(text) => regex::escape(text).replace('\'', "''"),
            TemplatePart::Hole(functions, name)
                if functions.is_empty() && lines.spelling.of(name).is_none() =>
            {
                signatures.value_pattern(action, name)
            }
            TemplatePart::Hole(..) => r"\S+".to_owned(),
        };
        let text: String = template.parts().iter().map(part_pattern).collect();
        // The pattern `.*` would skip all.
        patterns.extend(text.lines().filter(|line| *line != ".*").map(str::to_owned));
    }
    patterns.dedup();
    if patterns.is_empty() {
        return "it repeats what coreach sent: switch the echo of the system off".to_owned();
    }
    format!(
        "it repeats what coreach sent: switch the echo of the system off, or skip these lines: write `ignore: [{{ pattern: \
         '^({})$' }}]` next to `stimuli`",
        patterns.join("|")
    )
}

#[cfg(test)]
mod tests;
