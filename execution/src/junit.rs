//! JUnit's XML, which build servers show: suites of cases, one after the other.
//!
//! A case is a run, or a test that was asked for and has no run. It holds everything that is known of the
//! run: in `system-out` its events with their times and how it ended, in `system-err` the messages on the
//! wire, if they were kept, as the lines of the record.
//!
//! Counts come before the cases that they count, so the caller knows them first. The cases themselves are
//! written one by one and never held together: a trace may be long, and there may be many.
//!
//! The elements and attributes are those of the schema of Jenkins' xUnit plugin (`junit-10.xsd`): times have
//! at most three decimals, and `testsuites` has no count of skipped cases.
//!
//! XML 1.0 cannot write most control signs at all, and an implementation may send any. They, and other
//! invisible signs, are shown by their numbers (`\u{1b}`).

use std::fmt::Write as _;
use std::io::{self, Write};

use coreach_model::Verdict;
use coreach_model::visible::is_hidden_sign;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use serde_json::Value as Json;

use crate::bucket::Bucket;
use crate::campaign::{LeftOut, WhyLeftOut};
use crate::outcome::OutcomeKind;

/// The result of a case in JUnit: its element, and the count that it adds to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JunitResult {
    Success,
    Skipped,
    Failure,
    Error,
}

impl JunitResult {
    /// Returns the result for a run that ended so. The user chooses the one for Inconclusive.
    pub fn of(kind: OutcomeKind, inconclusive: JunitResult) -> Self {
        match kind {
            OutcomeKind::Verdict(Verdict::Pass | Verdict::WeakPass) => JunitResult::Success,
            OutcomeKind::Verdict(Verdict::Inconclusive) => inconclusive,
            OutcomeKind::Verdict(Verdict::Fail) => JunitResult::Failure,
            OutcomeKind::RunError => JunitResult::Error,
        }
    }
}

/// The counts that an element has of its cases.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Totals {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    seconds: f64,
}

impl Totals {
    pub fn add(&mut self, kind: JunitResult, seconds: f64) {
        self.tests += 1;
        self.seconds += seconds;
        match kind {
            JunitResult::Success => {}
            JunitResult::Skipped => self.skipped += 1,
            JunitResult::Failure => self.failures += 1,
            JunitResult::Error => self.errors += 1,
        }
    }

    pub fn include(&mut self, other: &Totals) {
        self.tests += other.tests;
        self.failures += other.failures;
        self.errors += other.errors;
        self.skipped += other.skipped;
        self.seconds += other.seconds;
    }

    fn attributes(&self) -> [(&'static str, String); 5] {
        [
            ("tests", self.tests.to_string()),
            ("failures", self.failures.to_string()),
            ("errors", self.errors.to_string()),
            ("skipped", self.skipped.to_string()),
            ("time", format_seconds(self.seconds)),
        ]
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct JunitCase {
    pub name: String,
    pub kind: JunitResult,
    /// The cause as a word, unless it is a success.
    pub cause: String,
    /// The cause in a sentence, unless it is a success.
    pub message: String,
    /// The cause at length.
    pub text: String,
    pub seconds: f64,
    pub out: Option<String>,
    pub wire: Option<String>,
}

impl JunitCase {
    /// Makes the case of a test without runs: `skipped` if it is proved that there can be none, else `error`.
    pub fn of_left_out(left_out: &LeftOut) -> Self {
        let kind = match left_out.why {
            WhyLeftOut::Unreachable | WhyLeftOut::Unsuited => JunitResult::Skipped,
            WhyLeftOut::Stopped => JunitResult::Error,
        };
        let (name, cause) = (left_out.test.clone(), left_out.why.name().to_owned());
        let message = format!("left out, {cause}: {}", left_out.message);
        JunitCase { name, kind, cause, message, text: String::new(), seconds: 0.0, out: None, wire: None }
    }
}

pub const LEFT_OUT: &str = "left out";

const SUITES: &str = "testsuites";

/// Formats a time as the schema requires.
fn format_seconds(time: f64) -> String {
    format!("{time:.3}")
}

pub struct JunitReport<W: Write> {
    writer: Writer<W>,
    suite: String,
}

impl<W: Write> JunitReport<W> {
    /// Begins a report of this name. `counts` are those of the cases in all its suites.
    ///
    /// # Errors
    /// The report cannot be written. That is the error of every function here.
    pub fn begin(out: W, name: &str, counts: &Totals) -> io::Result<Self> {
        let mut report = JunitReport { writer: Writer::new_with_indent(out, b' ', 2), suite: String::new() };
        report.writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        report.open_counted(SUITES, name, counts)?;
        Ok(report)
    }

    /// Opens a suite, with its properties.
    pub fn suite(&mut self, name: &str, counts: &Totals, properties: &[(String, String)]) -> io::Result<()> {
        self.suite = name.to_owned();
        self.open_counted("testsuite", name, counts)?;
        if !properties.is_empty() {
            self.writer.write_event(Event::Start(BytesStart::new("properties")))?;
            for (name, value) in properties {
                let property = element("property", &[("name", name), ("value", value)]);
                self.writer.write_event(Event::Empty(property))?;
            }
            self.close("properties")?;
        }
        Ok(())
    }

    /// Writes a case of the open suite.
    pub fn case(&mut self, case: &JunitCase) -> io::Result<()> {
        let seconds = format_seconds(case.seconds);
        let attributes = [("classname", self.suite.as_str()), ("name", &case.name), ("time", &seconds)];
        let opening = element("testcase", &attributes);
        let parts = [("system-out", &case.out), ("system-err", &case.wire)];
        if case.kind == JunitResult::Success && parts.iter().all(|(_, text)| text.is_none()) {
            return self.writer.write_event(Event::Empty(opening));
        }
        self.writer.write_event(Event::Start(opening))?;
        let name = match case.kind {
            JunitResult::Success => None,
            JunitResult::Skipped => Some("skipped"),
            JunitResult::Failure => Some("failure"),
            JunitResult::Error => Some("error"),
        };
        if let Some(name) = name {
            let opening = element(name, &[("type", &case.cause), ("message", &case.message)]);
            self.write_text(name, opening, &case.text)?;
        }
        for (name, text) in parts {
            if let Some(text) = text {
                self.write_text(name, BytesStart::new(name), text)?;
            }
        }
        self.close("testcase")
    }

    pub fn end_suite(&mut self) -> io::Result<()> {
        self.close("testsuite")
    }

    pub fn end(mut self) -> io::Result<()> {
        self.close(SUITES)?;
        let out = self.writer.get_mut();
        writeln!(out)?;
        out.flush()
    }

    /// Opens an element with its name and counts. Only a single suite has a count of skipped cases.
    fn open_counted(&mut self, tag: &'static str, name: &str, counts: &Totals) -> io::Result<()> {
        let counts = counts.attributes();
        let counts = counts.iter().filter(|(name, _)| tag != SUITES || *name != "skipped");
        let mut attributes = vec![("name", name)];
        attributes.extend(counts.map(|(name, value)| (*name, value.as_str())));
        self.writer.write_event(Event::Start(element(tag, &attributes)))
    }

    fn write_text(&mut self, name: &'static str, opening: BytesStart<'_>, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return self.writer.write_event(Event::Empty(opening));
        }
        self.writer.write_event(Event::Start(opening))?;
        self.writer.write_event(Event::Text(BytesText::new(&strip_unprintable(text))))?;
        self.close(name)
    }

    fn close(&mut self, name: &'static str) -> io::Result<()> {
        self.writer.write_event(Event::End(BytesEnd::new(name)))
    }
}

fn element(name: &'static str, attributes: &[(&str, &str)]) -> BytesStart<'static> {
    let mut element = BytesStart::new(name);
    for (name, value) in attributes {
        element.push_attribute((*name, strip_unprintable(value).as_str()));
    }
    element
}

/// Puts escapes in place of signs that XML cannot hold or that are invisible.
fn strip_unprintable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for sign in text.chars() {
        // These two code points are no signs of Unicode or XML.
        if is_hidden_sign(sign) || matches!(sign, '\u{fffe}' | '\u{ffff}') {
            shown.extend(sign.escape_unicode());
        } else {
            shown.push(sign);
        }
    }
    shown
}

/// Makes a property of a suite: in how many runs the bucket was met, and the shortest run. `identity` says
/// which run that is: `has seed 7`.
pub fn bucket_property(bucket: &Bucket, runs: usize, events: usize, identity: &str) -> (String, String) {
    let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
    let text = format!("{bucket}: {runs}; the shortest, of {events} events, {identity}");
    (format!("bucket {}", bucket.id()), text)
}

/// Writes the bucket of a failed run, as a line of its text.
pub fn bucket_line(bucket: Option<&Bucket>) -> String {
    bucket.map_or(String::new(), |bucket| format!("bucket {}: {bucket}\n", bucket.id()))
}

/// Writes the events of a record, one per line: when, who, what. The last line says how the run ended.
pub fn write_events(record: &Json) -> String {
    let mut text = String::new();
    for step in record["trace"].as_array().into_iter().flatten() {
        let word = |key: &str| step[key].as_str().unwrap_or_default();
        let at = step["at_ms"].as_f64().unwrap_or_default();
        let what = match (step["values"].as_object(), step["ms"].as_f64()) {
            (Some(values), _) => {
                let values = values.iter().map(|(name, value)| format!("{name} = {value}"));
                format!("{}({})", word("action"), values.collect::<Vec<_>>().join(", "))
            }
            (None, Some(ms)) => format!("{ms} ms"),
            (None, None) => String::new(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{at:>12.3} ms  {:<11}  {what}", word("direction"));
    }
    let verdict = record["verdict"].as_str().unwrap_or_default();
    let reason = record["reason"]["summary"].as_str().and_then(|text| text.lines().next());
    let _ = writeln!(text, "{verdict}: {}", reason.unwrap_or_default());
    text
}

/// Writes the evidence of a record, one item per line as in the record; `None` if none was kept.
pub fn write_wire(record: &Json) -> Option<String> {
    let items = record.get("wire")?.as_array().filter(|items| !items.is_empty())?;
    Some(items.iter().map(|item| format!("{item}\n")).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use serde_json::json;

    use super::*;

    fn written(cases: &[JunitCase]) -> String {
        let mut counts = Totals::default();
        cases.iter().for_each(|case| counts.add(case.kind, case.seconds));
        let mut out = Vec::new();
        let mut report = JunitReport::begin(&mut out, "a \"name\" & more", &counts).unwrap();
        report.suite("suite <1>", &counts, &[("bucket\n1".to_owned(), "a < b".to_owned())]).unwrap();
        cases.iter().for_each(|case| report.case(case).unwrap());
        report.end_suite().unwrap();
        report.end().unwrap();
        String::from_utf8(out).unwrap()
    }

    fn case(kind: JunitResult, text: &str) -> JunitCase {
        let text = text.to_owned();
        let (name, message) = (text.clone(), text.clone());
        let (out, wire) = (Some(text.clone()), Some(text.clone()));
        JunitCase { name, kind, cause: "event".to_owned(), message, text, seconds: 0.5, out, wire }
    }

    #[test]
    fn every_text_comes_back_from_a_parser() {
        // A parser makes one space of a line's end in an attribute, unless it is written by its number.
        for text in ["<a b='c'>\"&\"]]>&amp;", "two\nlines\tand a tab", "größe \u{1f600}", " spaces "] {
            let report = written(&[case(JunitResult::Failure, text)]);
            let document =
                roxmltree::Document::parse(&report).unwrap_or_else(|why| panic!("{why}\n{report}"));
            let find = |name: &str| document.descendants().find(|node| node.has_tag_name(name)).unwrap();
            assert_eq!(find("testcase").attribute("name"), Some(text), "{report}");
            assert_eq!(find("failure").attribute("message"), Some(text), "{report}");
            for name in ["failure", "system-out", "system-err"] {
                assert_eq!(find(name).text(), Some(text), "{report}");
            }
            assert_eq!(find("property").attribute("name"), Some("bucket\n1"));
        }
    }

    #[test]
    fn no_sign_of_an_implementation_breaks_the_report() {
        for number in (0..=0x2fff).chain(0xd7f0..=0x1_0010).chain(0x10_fff0..=0x10_ffff) {
            let Some(sign) = char::from_u32(number) else { continue };
            let report = written(&[case(JunitResult::Error, &format!("x{sign}y"))]);
            let document =
                roxmltree::Document::parse(&report).unwrap_or_else(|why| panic!("{number:x}: {why}"));
            let out = document.descendants().find(|node| node.has_tag_name("system-out")).unwrap();
            let (plain, shown) = (format!("x{sign}y"), format!("x\\u{{{number:x}}}y"));
            assert!(
                [plain, shown].iter().any(|text| out.text() == Some(text)),
                "{number:x}: {:?}",
                out.text()
            );
        }
        assert_eq!(strip_unprintable("x\u{0}\u{1b}[2J\ny\r"), "x\\u{0}\\u{1b}[2J\ny\\u{d}");
    }

    #[test]
    fn counts_are_those_of_the_cases() {
        let all = [
            JunitResult::Success,
            JunitResult::Skipped,
            JunitResult::Failure,
            JunitResult::Error,
            JunitResult::Error,
        ];
        let report = written(&all.map(|kind| case(kind, "x")));
        let document = roxmltree::Document::parse(&report).unwrap();
        for (name, skipped) in [("testsuites", None), ("testsuite", Some("1"))] {
            let node = document.descendants().find(|node| node.has_tag_name(name)).unwrap();
            let counts = ["tests", "failures", "errors", "time"].map(|key| node.attribute(key).unwrap());
            assert_eq!(counts, ["5", "1", "2", "2.500"]);
            assert_eq!(node.attribute("skipped"), skipped);
        }
        for (name, count) in [("testcase", 5), ("failure", 1), ("error", 2), ("skipped", 1)] {
            assert_eq!(document.descendants().filter(|node| node.has_tag_name(name)).count(), count);
        }
    }

    /// `junit-10.xsd` of Jenkins' xUnit plugin, as far as we use it: what an element may hold, its
    /// attributes that must be there, and those that may.
    type XmlRule = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);
    const SCHEMA: [XmlRule; 10] = [
        ("testsuites", &["testsuite"], &[], &["name", "time", "tests", "failures", "errors"]),
        (
            "testsuite",
            &["testsuite", "properties", "testcase", "system-out", "system-err"],
            &["name", "tests", "failures", "errors"],
            &[
                "group",
                "time",
                "skipped",
                "timestamp",
                "hostname",
                "id",
                "package",
                "file",
                "log",
                "url",
                "version",
            ],
        ),
        ("properties", &["property"], &[], &[]),
        ("property", &[], &["name", "value"], &[]),
        (
            "testcase",
            &["skipped", "error", "failure", "system-out", "system-err"],
            &["name"],
            &["time", "classname", "group"],
        ),
        ("skipped", &[], &[], &["type", "message"]),
        ("failure", &[], &[], &["type", "message"]),
        ("error", &[], &[], &["type", "message"]),
        ("system-out", &[], &[], &[]),
        ("system-err", &[], &[], &[]),
    ];

    /// `SUREFIRE_TIME`: digits in groups, and at most three behind the point. Counts are whole numbers.
    fn is_value(name: &str, value: &str) -> bool {
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        match name {
            "time" => value
                .split_once('.')
                .is_none_or(|(whole, part)| are_digits(whole) && are_digits(part) && part.len() <= 3),
            "tests" | "failures" | "errors" | "skipped" => !value.is_empty() && are_digits(value),
            _ => true,
        }
    }

    #[test]
    fn a_report_is_valid_by_the_schema_of_jenkins() {
        let all = [JunitResult::Success, JunitResult::Skipped, JunitResult::Failure, JunitResult::Error];
        for time in [0.0, 0.000_4, 0.123_456_7, 1.0 / 3.0, 59.999_9, 1e7 / 3.0] {
            let case = |kind| JunitCase { seconds: time, ..case(kind, "x") };
            let report = written(&all.map(case));
            let document = roxmltree::Document::parse(&report).unwrap();
            for node in document.descendants().filter(roxmltree::Node::is_element) {
                let name = node.tag_name().name();
                let (_, holds, must, may) = SCHEMA.iter().find(|(element, ..)| *element == name).unwrap();
                for inner in node.children().filter(roxmltree::Node::is_element) {
                    assert!(holds.contains(&inner.tag_name().name()), "{name}: {report}");
                }
                assert!(must.iter().all(|attribute| node.has_attribute(*attribute)), "{name}: {report}");
                for attribute in node.attributes() {
                    let (key, value) = (attribute.name(), attribute.value());
                    assert!(must.contains(&key) || may.contains(&key), "{name}, {key}: {report}");
                    assert!(is_value(key, value), "{key} = {value}: {report}");
                }
            }
            assert_eq!(document.root_element().tag_name().name(), "testsuites");
        }
    }

    #[test]
    fn a_record_is_told_with_its_evidence() {
        let mut record = json!({
            "verdict": "Fail", "reason": { "summary": "not allowed" },
            "trace": [
                { "direction": "stimulus", "action": "Coin", "values": { "pValue": 3 }, "at_ms": 1.5 },
                { "direction": "silence", "ms": 20.0, "at_ms": 22.0 },
            ],
        });
        let expected = "       1.500 ms  stimulus     Coin(pValue = 3)\n      22.000 ms  silence      20.0 ms\nFail: not allowed\n";
        assert_eq!(write_events(&record), expected.replace("20.0 ms", "20 ms"));
        assert_eq!(write_wire(&record), None);
        record["wire"] = json!([{ "direction": "sent", "text": "a" }, { "direction": "received" }]);
        assert_eq!(
            write_wire(&record).unwrap(),
            "{\"direction\":\"sent\",\"text\":\"a\"}\n{\"direction\":\"received\"}\n"
        );
        record["wire"] = json!([]);
        assert_eq!(write_wire(&record), None);
    }
}
