//! Timed sequences as files: CSV and JSON lines, read one line after the other.
//!
//! **Problem.** A trace of hours is larger than the memory, and other programs write it. Each of its lines
//! has one meaning or none, and a user who reads about a mistake wants the line and the column.
//!
//! ```text
//! csv    = [ "delay,action,values" ] { line }
//! line   = [ delay ] [ "," action { "," value } ]        at least one of both; the delay is since the line before
//! value  = plain text, or in double quotes, a double quote inside doubled (RFC 4180, but on one line)
//!
//! json   = { object }                                     one a line: {"delay": 0.1, "action": "plan", "values": {"askF": 8}}
//! ```
//!
//! A file whose first sign is `{` is JSON lines. Delays are exact (`0.1` is a tenth); an event at the instant
//! of the one before it has no delay, or 0. A byte-order mark at the beginning is no part of the text. Values
//! are read by the parameters' types ([`coreach_model::codec`]). Empty lines are ignored.
//!
//! **Ends** with the file. **Costs** one line of memory, at most [`LONGEST`].

use std::io::BufRead;
use std::ops::Range;
use std::sync::Arc;

use coreach_adapters::cut::LONGEST;
use coreach_model::codec::{self, Misread};
use coreach_model::diagnostic::{Diagnostic, Origin, SourceFile, nearest};
use coreach_model::iosts::{ActionId, Iosts};
use coreach_model::json::{self, Tree};
use coreach_model::limits::MANY_SHOWN;
use coreach_model::number::{self, NumberError, WIRE_DIGITS};
use coreach_model::{Datum, Value};
use dashu_base::BitTest;
use dashu_ratio::RBig;

use crate::offline::sequence::{Placed, SeqItem};

/// A mistake after more lines than this is reported without its line.
const MOST_EMPTY_LINES: usize = 4_000_000;

/// The longest denominator of the sum of all delays, in bits: it grows with each different denominator.
pub const LONGEST_TOTAL: usize = 1 << 15;

/// The optional first line of a CSV file, which names the fields.
pub const HEAD: &str = "delay,action,values";

pub struct TraceReader<'a, R> {
    iosts: &'a Iosts,
    name: String,
    source: R,
    line: usize,
    is_json: Option<bool>,
    /// May this action be in this file? `Err` is the message if not.
    is_allowed: Box<dyn Fn(ActionId) -> Result<(), String> + 'a>,
    total: RBig,
    /// The event of a line whose delay was already returned.
    pending: Option<Placed>,
    bytes: Vec<u8>,
    has_ended: bool,
}

/// A mistake in a line: its code and message, its place in the line with a label, and help.
struct LineMistake {
    code: &'static str,
    message: String,
    span: Range<usize>,
    label: String,
    help: Option<String>,
}

impl LineMistake {
    fn new(
        code: &'static str,
        message: impl Into<String>,
        span: Range<usize>,
        label: impl Into<String>,
    ) -> Self {
        LineMistake { code, message: message.into(), span, label: label.into(), help: None }
    }

    /// Makes the mistake of a line that cannot be read as a whole.
    fn of_line(message: impl Into<String>, span: Range<usize>, label: &str) -> Self {
        LineMistake::new("trace-line", message, span, label)
    }
}

/// The delay of a line, and its event.
type TimedLine = (Option<RBig>, Option<(ActionId, Vec<Value>)>);

impl<'a, R: BufRead> TraceReader<'a, R> {
    /// Makes a reader of events of this model. `name` is what the user calls the file.
    pub fn new(iosts: &'a Iosts, name: impl Into<String>, source: R) -> Self {
        TraceReader {
            iosts,
            name: name.into(),
            source,
            line: 0,
            is_json: None,
            is_allowed: Box::new(|_| Ok(())),
            total: RBig::ZERO,
            pending: None,
            bytes: Vec::new(),
            has_ended: false,
        }
    }

    /// Restricts the file to some actions.
    pub fn of(mut self, is_allowed: impl Fn(ActionId) -> Result<(), String> + 'a) -> Self {
        self.is_allowed = Box::new(is_allowed);
        self
    }

    /// Reads the next line into `bytes`, without its end. Returns false at the end of the file.
    fn next_line(&mut self) -> Result<bool, Diagnostic> {
        self.bytes.clear();
        // The longest line may end in `\r\n`.
        let mut limited = std::io::Read::take(&mut self.source, LONGEST as u64 + 2);
        let count = limited.read_until(b'\n', &mut self.bytes).map_err(|error| {
            Diagnostic::error("unreadable-file", format!("cannot read {}: {error}", self.name))
        })?;
        if count == 0 {
            return Ok(false);
        }
        self.line += 1;
        if self.bytes.last() == Some(&b'\n') {
            self.bytes.pop();
        }
        if self.bytes.last() == Some(&b'\r') {
            self.bytes.pop();
        }
        if self.bytes.len() > LONGEST {
            let message = format!("line {} of {} has more than {LONGEST} bytes", self.line, self.name);
            return Err(Diagnostic::error("trace-line", message));
        }
        Ok(true)
    }

    /// Reads lines up to the next member of the sequence. `None` at the end.
    fn read_item(&mut self) -> Result<Option<Placed>, Diagnostic> {
        if let Some(event) = self.pending.take() {
            return Ok(Some(event));
        }
        loop {
            if !self.next_line()? {
                return Ok(None);
            }
            let Ok(text) = std::str::from_utf8(&self.bytes) else {
                let message = format!("line {} of {} is not UTF-8", self.line, self.name);
                return Err(Diagnostic::error("trace-line", message));
            };
            // Spreadsheets begin a file with a byte-order mark.
            let text = if self.line == 1 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
            if text.is_empty() {
                continue;
            }
            let is_first = self.is_json.is_none();
            let is_json = *self.is_json.get_or_insert(text.starts_with('{'));
            if is_first && text == HEAD {
                continue;
            }
            let line_read = if is_json { self.read_object(text) } else { self.read_fields(text) };
            let (delay, event) = match line_read {
                Ok(line_read) => line_read,
                Err(wrong) => {
                    let diagnostic = self.to_diagnostic(text, wrong);
                    return Err(self.with_others(diagnostic));
                }
            };
            let event = event.map(|(action, values)| SeqItem::Event(action, values));
            let place_here = |item| Placed { line: self.line, item };
            match (delay, event) {
                (Some(delay), event) => {
                    self.total += &delay;
                    if self.total.denominator().bit_len() > LONGEST_TOTAL {
                        let message = format!(
                            "the delays up to line {} of {} add up to a fraction of more than {LONGEST_TOTAL} bits",
                            self.line, self.name
                        );
                        let help = "write delays as decimal fractions, or with few different denominators";
                        return Err(Diagnostic::error("trace-delay", message).help(help));
                    }
                    let delay = place_here(SeqItem::Delay(delay));
                    self.pending = event.map(place_here);
                    return Ok(Some(delay));
                }
                (None, Some(event)) => return Ok(Some(place_here(event))),
                // No time passes, and nothing happens.
                (None, None) => {}
            }
        }
    }

    /// Adds the mistakes of the following lines as notes.
    fn with_others(&mut self, mut diagnostic: Diagnostic) -> Diagnostic {
        // A mistake may be far from the next one, and the file may be long.
        let (last_line, most_notes) = (self.line + 1000, diagnostic.notes.len() + MANY_SHOWN);
        while self.line < last_line
            && diagnostic.notes.len() < most_notes
            && matches!(self.next_line(), Ok(true))
        {
            let Ok(text) = std::str::from_utf8(&self.bytes) else { continue };
            let is_json = self.is_json == Some(true);
            let mistake = match text {
                "" => continue,
                _ if is_json => self.read_object(text).err(),
                _ => self.read_fields(text).err(),
            };
            if let Some(wrong) = mistake {
                diagnostic = diagnostic.note(format!("{}:{}: {}", self.name, self.line, wrong.message));
            }
        }
        diagnostic
    }

    /// Makes the mistake a diagnostic on its line. The file is not in memory: empty lines are put before the
    /// line, so that its number is right. For a line too far down, the message names the place instead.
    fn to_diagnostic(&self, text: &str, mistake: LineMistake) -> Diagnostic {
        let LineMistake { code, message, span, label, help } = mistake;
        let diagnostic = Diagnostic::error(code, message);
        let diagnostic = if self.line > MOST_EMPTY_LINES {
            let column = text.get(..span.start).map_or(0, |before| before.chars().count()) + 1;
            diagnostic.note(format!("{}:{}:{column}: {label}", self.name, self.line))
        } else {
            let line_start = self.line - 1;
            let text = "\n".repeat(line_start) + text;
            let file = Arc::new(SourceFile { name: self.name.clone(), text });
            diagnostic.at(Origin { file, span: line_start + span.start..line_start + span.end }, label)
        };
        if let Some(help) = help { diagnostic.help(help) } else { diagnostic }
    }

    /// Reads a line of CSV.
    fn read_fields(&self, text: &str) -> Result<TimedLine, LineMistake> {
        let fields = split_fields(text)?;
        let mut fields = fields.into_iter();
        let (first, span) = fields.next().unwrap_or_default();
        let delay = if first.is_empty() { None } else { read_delay(&first, span)? };
        let Some((name, span)) = fields.next() else {
            return Ok((delay, None));
        };
        // A delay may end in a comma, without an event.
        let value_fields: Vec<(String, Range<usize>)> = fields.collect();
        if name.is_empty() && value_fields.is_empty() && !first.is_empty() {
            return Ok((delay, None));
        }
        let action = self.find_action(&name, span.clone())?;
        let parameters = &self.iosts.action(action).parameters;
        if value_fields.len() != parameters.len() {
            return Err(self.wrong_arity(action, value_fields.len(), span.start..text.len()));
        }
        let values = value_fields.iter().zip(parameters).map(|((value, span), parameter)| {
            let parsed = codec::from_text(value, parameter.ty());
            parsed.map_err(|why| wrong_value(parameter.name(), &why, span.clone()))
        });
        Ok((delay, Some((action, values.collect::<Result<_, _>>()?))))
    }

    /// Reads a line of JSON.
    fn read_object(&self, text: &str) -> Result<TimedLine, LineMistake> {
        let whole = 0..text.len();
        let tree = json::parse(text, json::WIRE).map_err(|why| {
            let start = if let json::Malformed::Wrong(_, at) = &why { (*at).min(text.len()) } else { 0 };
            LineMistake::of_line(format!("the line is no JSON: {why}"), start..text.len(), "here")
        })?;
        let Tree::Object(members) = &tree else {
            return Err(LineMistake::of_line("the line is no object", whole, "expected { ... }"));
        };
        let known = ["delay", "action", "values"];
        if let Some((name, _)) = members.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            let label = format!("expected one of {}", known.join(", "));
            let message = format!("there is no key `{name}` here");
            return Err(LineMistake::new("unknown-key", message, find_key(text, name), label));
        }
        let delay = match tree.get("delay") {
            None => None,
            Some(Tree::Number(digits) | Tree::Text(digits)) => read_delay(digits, find_key(text, "delay"))?,
            Some(_) => return Err(wrong_delay(find_key(text, "delay"))),
        };
        let action = match tree.get("action") {
            None if tree.get("values").is_some() || tree.get("delay").is_none() => {
                return Err(LineMistake::of_line("the line has no action", whole, "expected `\"action\"`"));
            }
            None => return Ok((delay, None)),
            Some(Tree::Text(name)) => self.find_action(name, find_key(text, "action"))?,
            Some(_) => {
                let (message, label) = ("the action is no name", "expected a name in quotes");
                return Err(LineMistake::new("unknown-action", message, find_key(text, "action"), label));
            }
        };
        let values = match tree.get("values") {
            None => self.read_named_values(text, action, &[])?,
            Some(Tree::Object(named)) => self.read_named_values(text, action, named)?,
            Some(_) => {
                let (message, label) =
                    ("the values are no object", "expected an object, from parameters to values");
                return Err(LineMistake::new("trace-value", message, find_key(text, "values"), label));
            }
        };
        Ok((delay, Some((action, values))))
    }

    /// Reads the values of an action's parameters, which a line of JSON gives by name.
    fn read_named_values(
        &self,
        text: &str,
        action: ActionId,
        named: &[(String, Tree)],
    ) -> Result<Vec<Value>, LineMistake> {
        let parameters = &self.iosts.action(action).parameters;
        let is_parameter = |name: &str| parameters.iter().any(|parameter| parameter.name() == name);
        if let Some((name, _)) = named.iter().find(|(name, _)| !is_parameter(name)) {
            return Err(self.wrong_arity(action, named.len(), find_key(text, name)));
        }
        let read_value = |parameter: &Datum| match named.iter().find(|(name, _)| name == parameter.name()) {
            None => Err(self.wrong_arity(action, named.len(), 0..text.len())),
            Some((name, value)) => codec::from_tree(value, parameter.ty(), json::WIRE.digits)
                .map_err(|why| wrong_value(name, &why, find_key(text, name))),
        };
        parameters.iter().map(read_value).collect()
    }

    /// Finds a visible action that may be in this file.
    fn find_action(&self, name: &str, span: Range<usize>) -> Result<ActionId, LineMistake> {
        let visible = || self.iosts.actions.iter().filter(|action| action.is_visible());
        let visible_action = self.iosts.find_action(name).filter(|id| self.iosts.action(*id).is_visible());
        let Some(action) = visible_action else {
            let names: Vec<&str> = visible().map(|action| action.name.as_str()).collect();
            let message = format!("the model has no visible action `{name}`");
            let mistake = LineMistake::new("unknown-action", message, span, "not declared");
            let help = match nearest(name, names.iter().copied()) {
                Some(nearest_name) => format!("did you mean `{nearest_name}`?"),
                None => format!("its visible actions are {}", names.join(", ")),
            };
            return Err(LineMistake { help: Some(help), ..mistake });
        };
        (self.is_allowed)(action)
            .map_err(|why| LineMistake::new("trace-direction", why, span, "does not belong in this file"))?;
        Ok(action)
    }

    /// Returns the mistake that an event has the wrong number of values, or unknown ones.
    fn wrong_arity(&self, action: ActionId, count: usize, span: Range<usize>) -> LineMistake {
        let action = self.iosts.action(action);
        let typed: Vec<String> =
            action.parameters.iter().map(|datum| format!("{}: {}", datum.name(), datum.ty())).collect();
        let message = format!(
            "`{}` has {} parameter{}, and {count} value{} {} given",
            action.name,
            action.parameters.len(),
            if action.parameters.len() == 1 { "" } else { "s" },
            if count == 1 { "" } else { "s" },
            if count == 1 { "is" } else { "are" },
        );
        let label = format!("expected {}({})", action.name, typed.join(", "));
        LineMistake::new("trace-values", message, span, label)
    }
}

impl<R: BufRead> Iterator for TraceReader<'_, R> {
    type Item = Result<Placed, Diagnostic>;

    /// Reads the next member. After a mistake there is none.
    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let read = self.read_item().transpose();
        self.has_ended = !matches!(read, Some(Ok(_)));
        read
    }
}

/// Splits a line into its fields, without their quotes, each with its place.
fn split_fields(text: &str) -> Result<Vec<(String, Range<usize>)>, LineMistake> {
    let mut fields = Vec::new();
    let mut start = 0;
    loop {
        let mut end = start;
        if text[start..].starts_with('"') {
            let mut value = String::new();
            end += 1;
            loop {
                let Some(length) = text[end..].find('"') else {
                    return Err(LineMistake::of_line(
                        "the quotes are not closed",
                        start..start + 1,
                        "begins here",
                    ));
                };
                value.push_str(&text[end..end + length]);
                end += length + 1;
                // A doubled quote stands for one in the value.
                if !text[end..].starts_with('"') {
                    break;
                }
                value.push('"');
                end += 1;
            }
            fields.push((value, start..end));
            if end < text.len() && !text[end..].starts_with(',') {
                let label = "expected a comma after the quotes";
                return Err(LineMistake::of_line("something stands behind quotes", end..text.len(), label));
            }
        } else {
            end += text[start..].find(',').unwrap_or(text.len() - start);
            fields.push((text[start..end].to_owned(), start..end));
        }
        if end >= text.len() {
            return Ok(fields);
        }
        // The next field begins behind the comma.
        start = end + 1;
    }
}

/// Reads a delay; `None` if it is 0.
fn read_delay(text: &str, span: Range<usize>) -> Result<Option<RBig>, LineMistake> {
    match number::real(text, WIRE_DIGITS) {
        Ok(time) if time >= RBig::ZERO => Ok((time > RBig::ZERO).then_some(time)),
        Ok(_) => Err(LineMistake::new("trace-delay", "the delay is negative", span, "below 0")),
        Err(NumberError::TooLong(digits)) => {
            Err(LineMistake::new("trace-delay", format!("a delay of {digits} digits"), span, "too long"))
        }
        Err(NumberError::NoNumber) => Err(wrong_delay(span)),
    }
}

/// Finds a key in a line of JSON. The parser gives no places, so the first such text stands for it.
fn find_key(text: &str, name: &str) -> Range<usize> {
    let quoted = format!("\"{name}\"");
    text.find(&quoted).map_or(0..text.len(), |start| start..start + quoted.len())
}

fn wrong_delay(span: Range<usize>) -> LineMistake {
    LineMistake::new(
        "trace-delay",
        "a delay is a number of at least 0",
        span,
        "expected a number like `0.25` or `1/3`",
    )
}

fn wrong_value(parameter: &str, why: &Misread, span: Range<usize>) -> LineMistake {
    LineMistake::new("trace-value", format!("`{parameter}` has no such value"), span, why.to_string())
}
