//! Writes timed sequences as CSV and JSON lines, which [`super::read`] reads back.

use std::io::{self, Write};

use coreach_model::iosts::{ActionId, Iosts};
use coreach_model::{Value, codec};
use dashu_ratio::RBig;
use serde_json::{Map, Value as Json, json};

use crate::offline::read::HEAD;
use crate::offline::sequence::{SeqItem, time_text};

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum TraceForm {
    #[default]
    Csv,
    JsonLines,
}

/// Writes a sequence, member after member. A delay and the event after it share a line.
pub struct SequenceWriter<'a, W> {
    iosts: &'a Iosts,
    to: W,
    form: TraceForm,
    delay: RBig,
    has_begun: bool,
}

impl<'a, W: Write> SequenceWriter<'a, W> {
    pub fn new(iosts: &'a Iosts, to: W, form: TraceForm) -> Self {
        SequenceWriter { iosts, to, form, delay: RBig::ZERO, has_begun: false }
    }

    /// Writes one more member. Delays that follow each other become one.
    pub fn put(&mut self, item: &SeqItem) -> io::Result<()> {
        match item {
            SeqItem::Delay(time) => {
                self.delay += time;
                Ok(())
            }
            SeqItem::Event(action, values) => self.write_line(Some((*action, values))),
        }
    }

    /// Ends the file. A delay at the end has a line of its own.
    pub fn end(mut self) -> io::Result<W> {
        if self.delay > RBig::ZERO {
            self.write_line(None)?;
        }
        self.write_head()?;
        self.to.flush()?;
        Ok(self.to)
    }

    /// Writes the head of a CSV file before anything else, once.
    fn write_head(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.has_begun, true) && self.form == TraceForm::Csv {
            writeln!(self.to, "{HEAD}")?;
        }
        Ok(())
    }

    /// Writes a line: the delay since the line before, and the event if there is one.
    fn write_line(&mut self, event: Option<(ActionId, &Vec<Value>)>) -> io::Result<()> {
        self.write_head()?;
        let delay = std::mem::replace(&mut self.delay, RBig::ZERO);
        let delay = (delay > RBig::ZERO).then(|| time_text(&delay));
        match self.form {
            TraceForm::Csv => {
                write!(self.to, "{}", delay.unwrap_or_default())?;
                if let Some((action, values)) = event {
                    write!(self.to, ",{}", self.iosts.action(action).name)?;
                    for value in values {
                        write!(self.to, ",{}", quote_field(&codec::to_text(value)))?;
                    }
                }
                writeln!(self.to)
            }
            TraceForm::JsonLines => writeln!(self.to, "{}", json_line(self.iosts, delay, event)),
        }
    }
}

pub fn write_sequence(iosts: &Iosts, sequence: &[SeqItem], form: TraceForm) -> String {
    let mut writer = SequenceWriter::new(iosts, Vec::new(), form);
    // Writing to memory does not fail.
    let written = sequence.iter().try_for_each(|item| writer.put(item)).and_then(|()| writer.end());
    String::from_utf8_lossy(&written.unwrap_or_default()).into_owned()
}

fn json_line(iosts: &Iosts, delay: Option<String>, event: Option<(ActionId, &Vec<Value>)>) -> Json {
    let mut members = Map::new();
    if let Some(text) = delay {
        // A fraction that is not decimal is a text: a JSON number has no exact form for it.
        let number = (!text.contains('/')).then(|| serde_json::from_str::<serde_json::Number>(&text).ok());
        let is_same = |number: &serde_json::Number| number.to_string() == text;
        let number = number.flatten().filter(is_same);
        members.insert("delay".to_owned(), number.map_or(json!(text), Json::Number));
    }
    if let Some((action, values)) = event {
        let action = iosts.action(action);
        members.insert("action".to_owned(), json!(action.name));
        let named = action.parameters.iter().zip(values);
        let named: Map<String, Json> =
            named.map(|(datum, value)| (datum.name().to_owned(), codec::to_json(value))).collect();
        members.insert("values".to_owned(), Json::Object(named));
    }
    Json::Object(members)
}

fn quote_field(text: &str) -> String {
    if text.contains([',', '"']) || text.is_empty() {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
