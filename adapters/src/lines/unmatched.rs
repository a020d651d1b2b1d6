//! Describes a line that no pattern fits: what it may be, the closest observation, and what to change.

use coreach_model::excerpt::{describe_look_alike, shortened};

use super::{PendingLines, Regex, skip_echo, written};
use crate::blocks::{FitStop, strip_cr};
use crate::description::{Exchange, Lines, PreparationStep, Unmatched};
use crate::encoding::{BYTE_ORDER_MARK, UTF_16, is_utf_16};
use crate::pattern::matching_prefix;
use crate::signature::Signatures;

impl PendingLines {
    /// Describes a line that no observation fits, and why none does.
    pub(super) fn describe_unmatched(&self, line: &str, lines: &Lines, signatures: &Signatures) -> String {
        let why = match &self.without_then {
            Some(why) => format!(": {why}"),
            // The text is not used.
            None if lines.unmatched == Unmatched::Ignore => String::new(),
            None => {
                let help = self.explain_surely(line, lines, signatures).unwrap_or_else(|| {
                    let (closest, is_close) = self.describe_closest(lines);
                    if is_close { closest } else { closest + &self.guess_meaning(line) }
                });
                format!(", which no pattern fits{help}")
            }
        };
        if line.is_empty() {
            return format!("an empty line{why}");
        }
        let shown = shortened(line).replace('\u{1b}', "\\x1b").replace('\0', "\\0");
        let shown = shown.replace('\r', "\\r").replace('\n', "\\n");
        format!("the line `{shown}`{why}")
    }

    /// Explains a line that is no output, if its form shows for sure what it is.
    fn explain_surely(&self, line: &str, lines: &Lines, signatures: &Signatures) -> Option<String> {
        if line.contains("\u{1b}[") {
            let text = "\nhelp: `\\x1b[...` is a colour of a terminal: let the system print none, for example with \
                        `environment: { NO_COLOR: \"1\", TERM: dumb }` next to `command`. If it knows neither, write \
                        `\\x1b\\[[0-9;]*m` into the patterns for each colour";
            return Some(text.to_owned());
        }
        if is_utf_16(line) {
            return Some(format!("\nhelp: {UTF_16}"));
        }
        // A line contains a line feed in a datagram only.
        if line.contains('\n') {
            let text = "\nhelp: a datagram is one message, with at most one `\\n` at its end: let the system send each line in \
                        a datagram of its own";
            return Some(text.to_owned());
        }
        if let Some(help) = explain_length(line) {
            return Some(format!("\nhelp: {help}"));
        }
        let begin = line.trim_start().to_lowercase();
        if ["<!doctype html", "<html", "http/1."].iter().any(|word| begin.starts_with(word)) {
            let input = lines.stimuli.first().map_or("ACTION", |(name, _)| name.as_str());
            return Some(format!(
                "\nhelp: the system speaks HTTP: describe it under `http:`, with requests such as `stimuli: {{ {input}: {{ \
                 method: GET, path: /PATH }} }}`"
            ));
        }
        if line.contains('\0') {
            let text = "\nhelp: the line contains `\\0`: let the system send none, or write `\\x00` into the pattern";
            return Some(text.to_owned());
        }
        if line.starts_with('\u{feff}') {
            return Some(format!("\nhelp: {BYTE_ORDER_MARK}"));
        }
        let mut known =
            lines.observations.iter().filter_map(|(action, shape)| Some((action, shape.first()?)));
        // A prompt may stand in front of an output.
        let splits = || line.char_indices().skip(1).map(|(byte, _)| line.split_at(byte));
        let prompted = known.find_map(|(action, pattern)| {
            let is_prompt = |text: &str| text.ends_with([' ', '>', ':', '$', '#', '%', ']', '|']);
            let (prompt, _) = splits().find(|(head, tail)| is_prompt(head) && pattern.is_match(tail))?;
            Some((action, written(pattern).trim_start_matches('^'), prompt))
        });
        if let Some((action, pattern, prompt)) = prompted {
            let prompt_pattern = replace_digits(&regex::escape(prompt));
            let regex = format!("^{prompt_pattern}{pattern}").replace('\'', "''");
            let remedy = match prompt_pattern.contains("\\d+") {
                true => "a time stamp or a prompt, add it to each pattern, as in",
                false => "a prompt, add it to the pattern:",
            };
            return Some(format!(
                "\nafter `{0}` it is `{action}`\nhelp: if `{0}` is {remedy} `{action}: '{regex}'`",
                shortened(prompt)
            ));
        }
        if self.sent_text.as_deref().is_some_and(|sent| sent.trim_end() == line) {
            return Some(format!("\nhelp: {}", skip_echo(lines, signatures)));
        }
        let awaited = lines.reset.iter().find_map(|step| match step {
            PreparationStep::Exchange(Exchange { expect: Some(expected), .. }) => {
                expected.is_match(line).then(|| written(expected))
            }
            _ => None,
        })?;
        Some(format!(
            "\nhelp: it fits `expect: '{awaited}'` of `reset`: is it sent twice, or awaited too rarely?"
        ))
    }

    /// Guesses what a line may be that fits no pattern: a refusal, a question, a greeting, or no event.
    fn guess_meaning(&self, line: &str) -> String {
        let lower = line.to_lowercase();
        let has_word = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        if let Some(sent) = &self.sent_text
            && has_word(&["unknown", "invalid", "error", "usage", "unrecognized", "bad "])
        {
            let sent = shortened(sent.trim_end());
            return format!(
                "\nhelp: the system may refuse `{sent}`, which coreach sent: compare `stimuli` with the commands of the system"
            );
        }
        let is_choice =
            ["y/n)", "y/n]", "yes/no)", "yes/no]"].iter().any(|end| lower.trim_end().ends_with(end));
        if is_choice || line.trim_end().ends_with([':', '?']) {
            let pattern = regex::escape(line).replace('\'', "''");
            let first = format!(
                "\nhelp: if it asks for something first, answer that: write `reset: [{{ expect: '^{}$' }}, {{ send: ANSWER }}]` next to `stimuli`",
                shortened(&pattern)
            );
            let later = format!(
                "\nhelp: if it asks for something later, answer it: write `ignore: [{{ pattern: '^{}$', answer: {} }}]` next to `stimuli`",
                shortened(&replace_digits(&pattern)),
                if is_choice { "y" } else { "ANSWER" }
            );
            return if self.has_taken { later } else { first + &later };
        }
        if has_word(&["log in", "login", "unauth", "authenti", "password"]) {
            let text = "\nhelp: if it needs a login, send that first: write `reset: [{ send: LOGIN, expect: '^OK.*$' }]`, with \
                        the system's own words, next to `stimuli`";
            return text.to_owned();
        }
        let pattern = generalize(line);
        // A greeting comes before all else, and is nothing for a log.
        let is_log = has_word(&["debug", "info", "warn", "trace", "log"]);
        let greeting = match !self.has_taken && !line.is_empty() && !is_log {
            true => format!(
                "\nhelp: if it is a greeting, await it: write `reset: [{{ expect: '{pattern}' }}]` next to `stimuli`"
            ),
            false => String::new(),
        };
        format!(
            "{greeting}\nhelp: if it is no event, skip it: write `ignore: [{{ pattern: '{pattern}' }}]` next to `stimuli`"
        )
    }

    /// Describes what a user can compare the lines with: the observation that fits furthest, and where it
    /// stops, else one that fits except for capital letters, else the patterns, if they are few. Also says
    /// whether one is close.
    fn describe_closest(&self, lines: &Lines) -> (String, bool) {
        let known = || lines.observations.iter().filter(|(action, _)| self.may_answer(action, lines));
        let firsts = || known().filter_map(|(action, shape)| Some((action, shape.first()?)));
        let stops = known().filter_map(|(action, shape)| Some((shape.stop(&self.lines)?, action)));
        let furthest = stops.reduce(|best, next| if next.0.at > best.0.at { next } else { best });
        if let Some((stop, action)) = furthest.filter(|(stop, _)| stop.at > (0, 0)) {
            let (line, byte) = stop.at;
            let first = firsts().find(|(known, _)| *known == action).filter(|_| line == 0);
            let text = self.describe_stop(&stop, action, first.map(|(_, pattern)| pattern));
            // A few signs in common may be by chance.
            return (text, line > 0 || 2 * byte >= self.lines[0].len());
        }
        let line = self.lines.front().map_or("", |line| strip_cr(line));
        let is_same_but_for_case =
            |pattern: &Regex| matching_prefix(&format!("(?i){}", pattern.as_str()), line).1;
        if let Some((action, pattern)) = firsts().find(|(_, pattern)| is_same_but_for_case(pattern)) {
            let pattern = written(pattern);
            let text = format!(
                "\n`{action}` fits except for capital letters: `{pattern}`\nhelp: if the system is right, change the letters of \
                 the pattern, or begin it with `(?i)`"
            );
            return (text, true);
        }
        let patterns: Vec<String> =
            firsts().map(|(action, pattern)| format!("`{action}` is `{}`", written(pattern))).collect();
        let text = match patterns.len() {
            1..=4 => format!("\n{}\nhelp: if it is one of these, correct its pattern", patterns.join(", ")),
            _ => String::new(),
        };
        (text, false)
    }

    /// Describes where the lines stop being this output. `pattern` is that of its first line, if they stop in
    /// that.
    fn describe_stop(&self, stop: &FitStop, action: &str, pattern: Option<&Regex>) -> String {
        let FitStop { at: (line, byte), expected } = stop;
        let text = self.lines.get(*line).map_or("", |line| strip_cr(line));
        let (begin, rest) = (shortened(&text[..*byte]), shortened(&text[*byte..]));
        let place = if *line == 0 { String::new() } else { format!("in line {}, ", line + 1) };
        let closest = format!("\nthe closest is `{action}`: {place}");
        let correct = format!("\nhelp: if the system is right, correct the pattern of `{action}`");
        if begin.is_empty() {
            return format!("{closest}`{rest}` does not fit {expected}{correct}");
        }
        if rest.is_empty() {
            let cut =
                if expected.contains("\\r") { " (coreach takes `\\r` off the end of a line)" } else { "" };
            let first = regex::escape(text).replace('\'', "''");
            return format!(
                "{closest}the line ends too early for {expected}{cut}{correct}\nhelp: if the next line is the rest, write a \
                 pattern for each: `{action}: ['^{first}$', '...']`"
            );
        }
        let help = explain_rest(text, *byte, pattern).unwrap_or(correct);
        let column = text[..*byte].chars().count() + 1;
        format!("{closest}`{begin}` fits {expected}, but `{rest}` does not, from column {column} on{help}")
    }
}

/// Explains a text that begins with bytes 0, as a length does that is sent before each message.
pub fn explain_length(text: &str) -> Option<String> {
    let zeros = text.bytes().take_while(|byte| *byte == 0).count();
    let ty = match zeros {
        0 => return None,
        1 => "u16",
        2..=3 => "u32",
        _ => "u64",
    };
    Some(format!(
        "it begins with bytes 0, perhaps of the length of a message: let the system send none, and `\\n` at the end of each \
         message. If it also reads such lengths, describe frames: `encoding: binary` and `frame: {{ length: {ty} }}`"
    ))
}

/// Makes a pattern for all lines that begin like this one: its first word stays, and digits in it may change.
pub(crate) fn generalize(line: &str) -> String {
    let word = line.split_inclusive(char::is_whitespace).next().unwrap_or_default();
    let escaped = regex::escape(word).replace('\'', "''");
    format!("^{}{}", replace_digits(&escaped), if word.len() < line.len() { ".*$" } else { "$" })
}

/// Replaces numbers in a pattern by `\d+`.
fn replace_digits(escaped: &str) -> String {
    let mut pattern = String::new();
    for sign in escaped.chars() {
        match sign.is_ascii_digit() {
            true if pattern.ends_with("\\d+") => {}
            true => pattern.push_str("\\d+"),
            false => pattern.push(sign),
        }
    }
    pattern
}

/// Says how to write a pattern for a line that goes on in another way, from where it fits no more.
fn explain_rest(line: &str, at: usize, pattern: Option<&Regex>) -> Option<String> {
    let (begin, rest) = line.split_at(at);
    let written = pattern.map_or("", written);
    // The sign that fits no more, and the sign before it.
    let sign = rest.chars().next().unwrap_or(' ');
    let last = begin.chars().last().unwrap_or('^');
    let is_digit = |sign: char| sign.is_ascii_digit();
    let number = explain_number(begin, rest);
    let shown = shortened(&sign.to_string());
    let has_exponent = is_digit(last) && matches!(sign, 'e' | 'E');
    let help = match sign {
        _ if number.is_some() => number?,
        '+' if rest[1..].starts_with(is_digit) => {
            "a number has no `+`: keep it out of the group, `\\+?(?P<...>\\d+)`".to_owned()
        }
        '-' if rest[1..].starts_with(is_digit) => "for numbers below 0, write `-?\\d+`".to_owned(),
        'x' | 'X' if last == '0' => {
            "coreach reads decimal digits only: in the model, make this value a `string`".to_owned()
        }
        '+' | '*' | '?' | '(' | ')' | '[' | '|' | '{' if written.contains(&format!("{last}{sign}")) => {
            format!("`{sign}` has a special meaning in patterns: write `\\{sign}` for the sign itself")
        }
        _ if !has_exponent && pattern.is_some_and(|pattern| pattern.is_match(begin)) => {
            let escaped = shortened(&regex::escape(rest).replace('\'', "''"));
            format!(
                "if this may follow, end the pattern with `(?:{escaped})?$`; if anything may follow, with `.*$`"
            )
        }
        _ if shown.len() > 1 && shown.starts_with('\\') => {
            format!(
                "`{shown}` cannot be seen: let the system send a space or nothing, or write `{shown}` into the pattern"
            )
        }
        'e' | 'E' if has_exponent => {
            "let the group take an exponent: write `(?:[eE][+-]?\\d+)?` before its end".to_owned()
        }
        _ if let Some(looks) = describe_look_alike(sign) => format!("{looks}: let the system send that"),
        ' ' => "each space counts: write ` +` in the pattern for one or more spaces".to_owned(),
        _ => return None,
    };
    Some(format!("\nhelp: {help}"))
}

/// Says how to read a number of which the pattern takes only the beginning. `None`: the number ends there, or
/// has only zeros after its point.
fn explain_number(begin: &str, rest: &str) -> Option<String> {
    let is_other = |sign: char| !sign.is_ascii_digit();
    let begin = begin.rsplit(is_other).next().filter(|digits| !digits.is_empty())?;
    let rest = rest.split(|sign: char| sign == ' ' || sign.is_alphabetic()).next()?;
    // The groups of digits in the rest. The first one is empty, unless the digits themselves go on.
    let parts: Vec<&str> = rest.split(is_other).collect();
    let group = "declare the parameter as `real`, and let its group take `-?\\d+(?:\\.\\d+)?`";
    match (rest.chars().next()?, parts.as_slice()) {
        ('0'..='9', _) => {
            Some(format!("the number goes on with `{rest}`: let its group take all digits, `\\d+`"))
        }
        (_, [_] | [_, "", ..]) => None,
        ('.', [_, zeros]) if zeros.bytes().all(|digit| digit == b'0') => None,
        ('.', [_, _]) => Some(format!("the number goes on with `{rest}`: {group}")),
        (',', [_, more @ ..]) if more.iter().any(|part| part.len() != 3) || begin.starts_with('0') => {
            let point = rest.replace(',', ".");
            Some(format!(
                "coreach reads numbers with a point: let the system write `{begin}{point}`, {group}"
            ))
        }
        (',', [_, _]) => Some(format!(
            "coreach reads numbers with a point, and without separators: let the system write `{begin}{}`, and {group}; \
             or `{begin}{}` if the comma separates thousands",
            rest.replace(',', "."),
            parts.concat()
        )),
        (',' | '\'' | '_' | '\u{a0}' | '\u{202f}', _) => Some(format!(
            "`{begin}{rest}` is a number with separators, which coreach does not read: let the system write `{begin}{}`",
            parts.concat()
        )),
        _ => None,
    }
}
