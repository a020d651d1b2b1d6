//! Tests of lines and blocks of lines.

use std::time::Instant;

use coreach_model::Value;
use coreach_model::iosts::Iosts;
use coreach_model::reader::{from_bytes, read_specification};

use super::unmatched::generalize;
use super::*;
use crate::adapter::Session;
use crate::description::{BlockEnd, LineBlock, LinePart, Middle, Spelling, Spelt};
use crate::encoding::TextEncoding;

const MODEL: &str = "
iosts: m
locations: [A]
initial: { location: A }
outputs: { Long: { n: int, b: bool }, Short: { n: int } }
transitions: [{ from: A, to: A, on: Short }]
";

fn read_model(text: &str) -> Iosts {
    let file = from_bytes("m".to_owned(), text.as_bytes().to_vec()).unwrap();
    read_specification(file).unwrap().0.iosts
}

fn fitting(patterns: &[&str]) -> Shape {
    Shape::fitting(patterns.iter().map(|text| pattern(text).unwrap()))
}

fn events(unmatched: Unmatched, wire: &[&str]) -> Vec<String> {
    let iosts = read_model(MODEL);
    let session = Session { iosts: &iosts, constants: &[], seed: 1, deadline: Instant::now() };
    let mut signatures = Signatures::of(&session);
    let yes = [("yes", "true"), ("no", "false")].map(|(wire, literal)| (wire.to_owned(), literal.to_owned()));
    let lines = Lines {
        line_ending: "\n".to_owned(),
        observations: vec![
            ("Long".to_owned(), fitting(&[r"n (?P<n>\S+)", r"b (?P<b>\w+)"])),
            ("Short".to_owned(), fitting(&[r"n (?P<n>\S+)"])),
            ("Long".to_owned(), fitting(&[r"long (?P<b>\S+) (?P<n>\S+)"])),
        ],
        spelling: Spelling(vec![("b".to_owned(), Spelt::Texts(yes.to_vec()))]),
        unmatched,
        ..Lines::default()
    };
    let mut pending = PendingLines::default();
    let mut events = Vec::new();
    for line in wire {
        pending.note_sent_text("ask");
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
    let iosts = read_model(model);
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
                assert!(write_stimulus(&lines, &put(text), &mut signatures).is_err(), "{encoding:?} {text}");
                continue;
            }
            let line = write_stimulus(&lines, &put(text), &mut signatures).unwrap();
            let mut pending = PendingLines::default();
            pending.push(line.trim_end_matches('\n')).unwrap();
            let event = Event::new("Got", [Value::string(text)]);
            let read = pending.next(&lines, &mut signatures);
            assert_eq!(read, Ok(Recognized::Received(Received::Output(event))), "{encoding:?} {line}");
        }
        let mut pending = PendingLines::default();
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
    let iosts = read_model(model);
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
        let (mut pending, mut found) = (PendingLines::default(), Vec::new());
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
    let expected = "Alien(\"`Long` with a wrong `b`: expected a text of `values`, not \\\"maybe\\\"\\nhelp: the texts \
        are `yes` and `no`. If the system is right, add `maybe: true` to the texts of `b` under `values`\")";
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
fn values_in_each_others_place_are_told_with_the_line() {
    let text = "`Long` with a wrong `n`: expected a value of type int, not \"yes\"\n\
                the line is `long 4 yes`, and the pattern `long (?P<b>\\S+) (?P<n>\\S+)`\n\
                help: each has a value that fits the other: are `n` and `b` swapped?";
    assert_eq!(events(Unmatched::Ignore, &["long 4 yes"]), [format!("Alien({text:?})")]);
    for (line, is_event) in [("long yes 4", true), ("long yes no", false), ("long 4 5", false)] {
        let found = events(Unmatched::Ignore, &[line]);
        assert!(found[0].starts_with("Alien") != is_event && !found[0].contains("swapped"), "{found:?}");
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
                `Long` is `n (?P<n>\\S+)`, `Short` is `n (?P<n>\\S+)`, `Long` is `long (?P<b>\\S+) (?P<n>\\S+)`\n\
                help: if it is one of these, correct its pattern\n\
                help: if it is a greeting, await it: write `reset: [{ expect: '^what$' }]` next to `stimuli`\n\
                help: if it is no event, skip it: write `ignore: [{ pattern: '^what$' }]` next to `stimuli`";
    assert_eq!(events(Unmatched::Fail, &["what"]), [format!("Alien({text:?})")]);
    assert_eq!(events(Unmatched::Error, &["what"]), [format!("garbage: {text}")]);
    // A greeting comes before all else.
    let later = events(Unmatched::Fail, &["b yes", "what"]);
    assert!(later.iter().all(|event| event.contains("greeting") == event.contains("`b yes`")), "{later:?}");
    assert_eq!(events(Unmatched::Ignore, &["n 1", "what", "more"]), ["Short(1)"]);
    // Datagrams may contain line ends, which are shown as they are typed.
    for datagram in ["what\n", "n 1\r\nwhat"] {
        let help = "help: a datagram is one message, with at most one `\\n` at its end: let the system send each line in a \
                    datagram of its own";
        let shown = datagram.replace('\r', "\\r").replace('\n', "\\n");
        let text = format!("the line `{shown}`, which no pattern fits\n{help}");
        assert_eq!(events(Unmatched::Fail, &[datagram]), [format!("Alien({text:?})")]);
    }
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
        Shape::Block(Box::new(LineBlock { begin, middle, end, then: None }))
    };
    let fields = [r"a: (?P<a>\d+)", r"b: (?P<b>\d+)"].map(|text| pattern(text).unwrap()).to_vec();
    let template = |text: &str| Template::parse(text).unwrap();
    Lines {
        line_ending: "\r\n".to_owned(),
        stimuli: vec![("Put".to_owned(), template("put {{{len(t)}}}")), ("Send".to_owned(), template("{t}"))],
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
    let iosts = read_model(MAIL);
    let session = Session { iosts: &iosts, constants: &[], seed: 1, deadline: Instant::now() };
    let mut signatures = Signatures::of(&session);
    let lines = mail(Unmatched::Fail);
    let mut read = |asked: &str, wire: &str| {
        let (mut pending, mut found) = (PendingLines::default(), Vec::new());
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
    assert_eq!(read("Send", "all\n* {1}\nx)\n* {2}\n.\n)\n.\nok\n"), [r#"Got("x")"#, r#"Got(".\n")"#, "Y()"]);
    assert_eq!(read("Put", "stat\nb: 2\nc: 3\na: 1\n.\n"), ["F(1, 2)"]);
    for (wire, why) in [
        ("* {1}\nxy)\n", "`Got` counts 1 bytes, and what follows them does not fit"),
        ("stat\na: 1\n.\n", "the closest is `F`: in line 3, `.` does not fit `b: (?P<b>\\d+)`"),
        ("stat\na: 1\na: 2\nb: 2\n.\n", "the closest is `F`"),
        ("all\n* {1}\nx!\n", "`Got` counts 1 bytes"),
        ("OK\n", "`X` fits except for capital letters: `ok`"),
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
