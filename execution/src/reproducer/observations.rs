//! What the script has to know of the description: which answers are which outputs.

use std::fmt::Write as _;

use coreach_adapters::description::{
    AnswerPlace, BlockEnd, Capture, Encoding, Field, Iut, LinePart, Middle, Response, Shape, Source, Stdio,
    Tcp, Transport, Unmatched,
};
use coreach_adapters::signature::Signatures;
use regex::Regex;

use super::frames;
use super::python::{self, dictionary, text};
use super::sent::known;
use super::words::{Filling, PLAIN, Words};
use super::writer::{NoScript, PATIENCE, no_value};

/// The constants in front of the script.
///
/// # Errors
/// What is sent back for what is ignored cannot be written.
pub fn constants(iut: &Iut, signatures: &Signatures) -> Result<String, NoScript> {
    let mut constants = format!("PATIENCE = {}\n", PATIENCE.as_secs());
    let captures = iut.way.captures();
    let defaults = captures.iter().map(|capture| (capture.name.as_str(), or_none(capture.default.as_ref())));
    let _ = writeln!(constants, "CAPTURES = {}", dictionary(defaults));
    if let Transport::Stdio(_) | Transport::Tcp(_) | Transport::Udp(_) = iut.way {
        let _ = writeln!(constants, "ON_CLOSE = {}", or_none(iut.behaviour.on_close.as_ref()));
    }
    let mut list = |unmatched: Unmatched, items: Vec<String>| {
        let name = match unmatched {
            Unmatched::Fail => "fail",
            Unmatched::Error => "error",
            Unmatched::Ignore => "ignore",
        };
        let items: String = items.iter().map(|item| format!("    ({item}),\n")).collect();
        let _ = writeln!(constants, "UNMATCHED = \"{name}\"\nOBSERVATIONS = [\n{items}]");
    };
    match &iut.way {
        Transport::Tcp(Tcp { encoding: Encoding::Lines(lines), .. })
        | Transport::Udp(Tcp { encoding: Encoding::Lines(lines), .. })
        | Transport::Stdio(Stdio { encoding: Encoding::Lines(lines), .. }) => {
            let one = |(action, shape): &(String, Shape)| {
                Ok(format!("{}, {}", text(action), lines_of(action, shape, signatures)?))
            };
            list(lines.unmatched, lines.observations.iter().map(one).collect::<Result<_, NoScript>>()?);
            let of = |pattern: &Regex| text(&python::pattern(pattern.as_str()));
            let ignored = lines.ignored.iter().map(|one| {
                let groups: Vec<&str> = one.pattern.capture_names().flatten().collect();
                let answer = one.answer.as_ref().map(|answer| {
                    let mut words = Words::of(answer, |name| part(&groups, signatures, name), PLAIN)?;
                    words.push(&lines.line_ending);
                    Ok(words.bytes())
                });
                (of(&one.pattern), answer.transpose())
            });
            constants.push_str(&list_of_ignored(ignored)?);
        }
        Transport::Tcp(Tcp { encoding: Encoding::Binary(binary), .. })
        | Transport::Udp(Tcp { encoding: Encoding::Binary(binary), .. })
        | Transport::Stdio(Stdio { encoding: Encoding::Binary(binary), .. }) => {
            let one = |(action, fields): &(String, Vec<Field>)| {
                format!("{}, {}", text(action), frames::fields(fields))
            };
            list(binary.unmatched, binary.observations.iter().map(one).collect());
            let _ = writeln!(constants, "CUT = {}", frames::cut(&binary.cut));
            let ignored = binary.ignored.iter().map(|one| {
                let groups = frames::names(&one.pattern);
                let answer = one.answer.as_ref().map(|fields| {
                    let values = frames::values(fields, |name| part(&groups, signatures, name))?;
                    Ok(frames::written(fields, &values))
                });
                (frames::fields(&one.pattern), answer.transpose())
            });
            constants.push_str(&list_of_ignored(ignored)?);
        }
        Transport::Http(http) => {
            list(http.unmatched, http.observations.iter().map(|(name, one)| answer(name, one)).collect());
            let sources: String = captures.iter().map(source).collect();
            let _ = writeln!(constants, "SOURCES = [{sources}]");
        }
        _ => {}
    }
    Ok(constants)
}

/// What fills a hole of an answer to what is ignored, of which these are the parts.
fn part(parts: &[&str], signatures: &Signatures, name: &str) -> Option<Filling> {
    match parts.contains(&name) {
        true => Some(Filling::Run(format!("at[{}]", text(name)))),
        false => known(signatures, name),
    }
}

/// What is ignored: of each what it looks like, and a function of its parts that is the answer.
fn list_of_ignored(
    ignored: impl Iterator<Item = (String, Result<Option<String>, String>)>,
) -> Result<String, NoScript> {
    let one = |(pattern, answer): (String, Result<Option<String>, String>)| {
        let answer = answer.map_err(no_value)?;
        let answer = answer.map_or("None".to_owned(), |sent| format!("lambda it, at: {sent}"));
        Ok(format!("\n    ({pattern}, {answer}),"))
    };
    let items: Result<String, NoScript> = ignored.map(one).collect();
    Ok(format!("IGNORED = [{}]\n", items?))
}

fn answer(action: &str, response: &Response) -> String {
    let Response { status, to, headers, values, each, then } = response;
    let places = values.iter().map(|(name, at)| (name.as_str(), format!("({})", place(at))));
    let like =
        |(name, one): &(String, Regex)| format!("({}, {})", text(name), text(&python::pattern(one.as_str())));
    let headers: Vec<String> = headers.iter().map(like).collect();
    let (each, then) = (or_none(each.as_ref()), or_none(then.as_ref()));
    let to: Vec<String> = to.iter().map(|name| text(name)).collect();
    format!(
        "{}, {status}, {}, {each}, {then}, [{}], [{}]",
        text(action),
        dictionary(places),
        to.join(", "),
        headers.join(", ")
    )
}

/// Where a capture stands in an answer.
fn source(capture: &Capture) -> String {
    let Capture { name, place: at, from, .. } = capture;
    if at.source == Source::Part {
        return String::new();
    }
    let from: Vec<String> = from.iter().map(|name| text(name)).collect();
    format!("\n    ({}, {}, [{}]),", text(name), place(at), from.join(", "))
}

/// Where something stands in an answer: of which kind that is, what is called so there, and the pattern.
fn place(place: &AnswerPlace) -> String {
    let (kind, what) = match &place.source {
        Source::Part => ("part", ""),
        Source::Header(header) => ("header", header.as_str()),
        Source::Cookie(cookie) => ("cookie", cookie.as_str()),
        Source::Pointer(pointer) => ("pointer", pointer.as_str()),
        Source::Body => ("body", ""),
        Source::BodyInLatin1 => ("latin1", ""),
    };
    let pattern =
        place.pattern.as_ref().map_or("None".to_owned(), |one| text(&python::pattern(one.as_str())));
    format!("\"{kind}\", {}, {pattern}", text(what))
}

fn or_none(name: Option<&String>) -> String {
    name.map_or("None".to_owned(), |name| text(name))
}

/// The arguments of a `Shape`, by their names.
fn lines_of(action: &str, shape: &Shape, signatures: &Signatures) -> Result<String, NoScript> {
    let one = |pattern: &Regex| text(&python::pattern(pattern.as_str()));
    let all = |patterns: &[Regex]| format!("[{}]", patterns.iter().map(one).collect::<Vec<_>>().join(", "));
    let block = match shape {
        Shape::Lines(parts) => {
            let fitting = |part: &LinePart| match part {
                LinePart::Fitting(pattern) => Ok(one(pattern)),
                LinePart::Counted { name, .. } => Err(NoScript(format!(
                    "the bytes of `{name}` are counted in `{action}`, which a script cannot read yet"
                ))),
            };
            let parts: Vec<String> = parts.iter().map(fitting).collect::<Result<_, _>>()?;
            return Ok(dictionary([("patterns", format!("[{}]", parts.join(", ")))].into_iter()));
        }
        Shape::Block(block) => block,
    };
    let mut keys = Vec::new();
    keys.extend(block.begin.as_ref().map(|begin| ("begin", one(begin))));
    match &block.middle {
        Middle::Any => {}
        Middle::Lines(pattern) => keys.push(("lines", one(pattern))),
        Middle::Each(patterns) => keys.push(("each", all(patterns))),
    }
    match &block.end {
        BlockEnd::Mark(mark) => keys.push(("end", one(mark))),
        BlockEnd::Count(name) => {
            keys.push(("count", text(name)));
            let parameters = signatures.action(action).map_or(&[][..], |action| &action.parameters);
            if parameters.iter().all(|datum| datum.name() != name) {
                keys.push(("is_hidden", "True".to_owned()));
            }
        }
    }
    keys.extend(block.then.as_ref().map(|then| ("then", text(then))));
    Ok(dictionary(keys.into_iter()))
}

#[cfg(test)]
pub mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use std::time::Instant;

    use coreach_adapters::description::{Block, Http, Ignored, Lines, Spelling};
    use coreach_adapters::lines::{Pending, Recognized, pattern};
    use coreach_adapters::reply::{Reply, translate};
    use coreach_adapters::template::Template;
    use coreach_adapters::{Received, Session};
    use coreach_model::random::Random;
    use coreach_model::reader::{from_bytes, read_specification};

    use super::*;
    use crate::reproducer::{COMMON, HTTP, IMPORTS, LINES, WIRE};

    const MODEL: &str = "
iosts: m
locations: [A]
initial: { location: A }
outputs: { Item: { a: int, b: int }, Listed: { n: int }, Pair: { a: int, b: int }, Told: {}, Counted: { a: int }, Word: { a: int } }
transitions: [{ from: A, to: A, on: Told }]
";

    pub fn signatures() -> Signatures {
        let file = from_bytes("m".to_owned(), MODEL.as_bytes().to_vec()).unwrap();
        let iosts = read_specification(file).unwrap().0.iosts;
        Signatures::of(&Session { iosts: &iosts, constants: &[], seed: 1, deadline: Instant::now() })
    }

    pub fn iut(way: Transport) -> Iut {
        let (behaviour, evidence) = (Default::default(), Default::default());
        Iut { name: "m".to_owned(), way, link: Default::default(), behaviour, evidence }
    }

    pub fn stdio() -> Stdio {
        let command = coreach_adapters::description::Command {
            words: Vec::new(),
            directory: "/".into(),
            environment: Vec::new(),
            grace: std::time::Duration::ZERO,
        };
        Stdio {
            command,
            ready: std::time::Duration::ZERO,
            encoding: Encoding::Json,
            settle: None,
            keep: false,
        }
    }

    /// What Python prints.
    pub fn python(pieces: &[&str]) -> String {
        let program = pieces.join("\n\n");
        let output = std::process::Command::new("python3").arg("-c").arg(program).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub const SHOW: &str = "def show(came):
    values = [] if came.values is None else [came.values[key] for key in sorted(came.values)]
    word = came.name + '(' + ', '.join(map(str, values)) + ')' if came.kind == 'event' else came.kind
    return (word.removesuffix('()') if came.kind == 'event' else word) + ' ' + came.raw.hex()
";

    pub fn shown(received: &Received, raw: &[u8]) -> String {
        let word = match received {
            Received::Output(event) => event.to_string(),
            Received::Alien(_) => "alien".to_owned(),
            other => format!("{other:?}"),
        };
        let hex: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{} {hex}", word.strip_suffix("()").unwrap_or(&word))
    }

    /// What is sent back, as the script tells it.
    pub fn sent(answer: &[u8]) -> String {
        format!("-> {}", coreach_adapters::encoding::hex(answer))
    }

    fn block(begin: Option<&str>, middle: Middle, end: BlockEnd, then: Option<&str>) -> Shape {
        let begin = begin.map(|begin| pattern(begin).unwrap());
        Shape::Block(Box::new(Block { begin, middle, end, then: then.map(str::to_owned) }))
    }

    #[test]
    fn a_script_reads_lines_as_the_adapter_does() {
        let one = |text: &str| pattern(text).unwrap();
        let mark = |text: &str| BlockEnd::Mark(one(text));
        let items = || vec![one("i (?P<b>[0-9])"), one("j (?<a>[0-9])")];
        let rules = [
            (
                "Item",
                block(
                    Some("l (?P<n>[0-9])"),
                    Middle::Each(items()),
                    BlockEnd::Count("n".to_owned()),
                    Some("Listed"),
                ),
            ),
            (
                "Item",
                block(Some("m (?<a>[0-9])"), Middle::Each(vec![one("i (?P<b>[0-9])")]), mark("e"), None),
            ),
            (
                "Counted",
                block(
                    Some("c (?<a>[0-9])"),
                    Middle::Each(vec![one("t")]),
                    BlockEnd::Count("a".to_owned()),
                    None,
                ),
            ),
            ("Told", block(Some("t"), Middle::Any, mark("e"), None)),
            ("Word", block(None, Middle::Lines(one("i .*")), mark("j (?<a>[0-9])"), None)),
            ("Pair", Shape::fitting([one("l (?P<a>[0-9])"), one("m (?P<b>[0-9])")])),
            ("Listed", block(Some("l (?P<n>[0-9])"), Middle::Any, mark("j [0-9]"), None)),
            ("Told", Shape::fitting([one("e")])),
        ];
        let mut signatures = signatures();
        let mut random = Random::new(11);
        let (mut outputs, mut aliens, mut kinds) = (0, 0, std::collections::BTreeSet::new());
        for round in 0..8 {
            let mut rules: Vec<(String, Shape)> =
                rules.iter().map(|(name, shape)| ((*name).to_owned(), shape.clone())).collect();
            // Another order is another description.
            for at in (1..rules.len()).rev() {
                rules.swap(at, random.below(at + 1));
            }
            let unmatched = if round % 3 == 0 { Unmatched::Ignore } else { Unmatched::Fail };
            let lines = Lines {
                line_ending: String::new(),
                reset: Vec::new(),
                stimuli: Vec::new(),
                observations: rules,
                spelling: Spelling::default(),
                ignored: vec![
                    Ignored { pattern: one("x|e"), answer: None },
                    Ignored {
                        pattern: one("m (?P<a>[0-2])(?P<b>x)?"),
                        answer: Some(Template::parse("y {a}{b}").unwrap()),
                    },
                ],
                captures: Vec::new(),
                unmatched,
            };
            let wire: Vec<String> = (0..300)
                .map(|_| {
                    let word = ["l ", "m ", "c ", "i ", "j ", "i ", "j ", "t", "e", "x"][random.below(10)];
                    let number =
                        if word.ends_with(' ') { random.below(4).to_string() } else { String::new() };
                    format!("{word}{number}")
                })
                .collect();
            let (mut pending, mut expected) = (Pending::default(), Vec::new());
            for line in &wire {
                pending.push(line).unwrap();
                loop {
                    match pending.next(&lines, &mut signatures).unwrap() {
                        Recognized::More => break,
                        Recognized::Ignored(answer) if answer.is_empty() => {}
                        Recognized::Ignored(answer) => expected.push(sent(&answer)),
                        Recognized::Received(received) => expected.push(shown(&received, &pending.taken())),
                    }
                }
            }
            outputs += expected.iter().filter(|one| !one.starts_with("alien")).count();
            aliens += expected.iter().filter(|one| one.starts_with("alien")).count();
            kinds.extend(expected.iter().filter_map(|one| Some(one.split_once(['(', ' '])?.0.to_owned())));
            let way = Transport::Stdio(Stdio { encoding: Encoding::Lines(lines), ..stdio() });
            let words: Vec<String> = wire.iter().map(|line| text(line)).collect();
            let main = format!(
                "it = It()\nit.send = lambda data: print('-> ' + data.hex())\nfor line in [{}]:\n    it.pending.append(line)\n    came = it.decoded()\n    while came is not None:\n        print(show(came))\n        came = it.decoded()\n",
                words.join(", ")
            );
            let printed = python(&[
                IMPORTS,
                "TLS = None\n",
                &constants(&iut(way), &signatures).unwrap(),
                COMMON,
                WIRE,
                LINES,
                SHOW,
                &main,
            ]);
            assert_eq!(printed.lines().collect::<Vec<_>>(), expected, "round {round}");
        }
        let answered = kinds.remove("->");
        assert!(answered && outputs > 200 && aliens > 40 && kinds.len() == 7, "{outputs} {aliens} {kinds:?}");
    }

    #[test]
    fn a_script_reads_answers_as_the_adapter_does() {
        let at = |source: Source, of: Option<&str>| AnswerPlace {
            source,
            pattern: of.map(|of| pattern(of).unwrap()),
        };
        let pointer = |to: &str| at(Source::Pointer(to.to_owned()), None);
        let response = |status, values: &[(&str, &str)], each: Option<&str>, then: Option<&str>| Response {
            status,
            values: values.iter().map(|(name, to)| ((*name).to_owned(), pointer(to))).collect(),
            each: each.map(str::to_owned),
            then: then.map(str::to_owned),
            ..Response::default()
        };
        let header = |name: &str, of: Option<&str>| at(Source::Header(name.to_owned()), of);
        let from_headers = |status, values: &[(&str, AnswerPlace)], of: &[(&str, &str)]| Response {
            status,
            headers: of.iter().map(|(name, of)| ((*name).to_owned(), pattern(of).unwrap())).collect(),
            values: values.iter().map(|(name, place)| ((*name).to_owned(), place.clone())).collect(),
            ..Response::default()
        };
        let range = header("Content-Range", Some(r"bytes (\d+)-\d+/.*"));
        let rules = [
            ("Item", response(200, &[("a", "/x"), ("b", "/y~1/0")], Some("/items"), Some("Listed"))),
            ("Counted", response(200, &[("a", "")], Some("/all"), None)),
            ("Listed", response(200, &[("n", "/n")], None, None)),
            ("Item", response(201, &[("a", "/x"), ("b", "/x")], Some(""), Some("Told"))),
            ("Word", response(201, &[("a", "/x")], None, None)),
            ("Told", response(200, &[], None, None)),
            ("Told", response(201, &[], None, None)),
            ("Pair", response(202, &[("a", "/a"), ("b", "/b")], Some("/l"), Some("Word"))),
            ("Counted", from_headers(206, &[("a", range)], &[("Content-Type", "text/.*")])),
            ("Counted", from_headers(206, &[("a", header("X-Count", Some(r"(\d+)(?:, \d+)*")))], &[])),
            ("Counted", from_headers(206, &[("a", at(Source::Cookie("n".to_owned()), None))], &[])),
            ("Counted", from_headers(206, &[("a", at(Source::Body, Some(r"n=(\d+)")))], &[])),
            (
                "Counted",
                from_headers(206, &[("a", at(Source::Pointer("/x".to_owned()), Some("(.).*")))], &[]),
            ),
        ];
        let no_headers: &[(&str, &str)] = &[];
        let heads: [&[(&str, &str)]; 7] = [
            &[("Content-Range", "bytes 3-4/9"), ("Content-Type", "text/plain")],
            &[("content-range", "bytes 3-4/9"), ("Content-Type", "image/png")],
            &[("Content-Range", "bytes */9"), ("Content-Type", "text/plain"), ("x-count", "12")],
            &[("X-Count", "1"), ("X-Count", "2")],
            &[("Set-Cookie", "n=5; Path=/"), ("Set-Cookie", "m=6")],
            &[("X-Count", "twelve")],
            &[("Content-Encoding", "gzip")],
        ];
        let bodies = [
            r#"{"items": [{"x": 1, "y/": [2]}, {"x": 3, "y/": [4]}], "n": 5}"#,
            r#"{"items": [{"x": 1, "y/": [2]}, {"x": 3}], "n": 5}"#,
            r#"{"items": [], "n": 5}"#,
            r#"{"items": [], "all": [1, 2, 3]}"#,
            r#"{"all": []}"#,
            r#"{"all": {}}"#,
            r#"[{"x": 1}, {"x": 2}]"#,
            r#"{"x": 7}"#,
            r#"{"x": 7, "x": 7}"#,
            r#"{"l": [{"a": 1, "b": 2}], "x": 3}"#,
            "[]",
            "",
            "no",
            "n=8",
            r#"{"n": 1} "#,
            "\u{feff}{\"n\": 1}",
            r#"{"n": NaN}"#,
        ];
        let http = |unmatched| Http {
            base: Template::fixed(""),
            launch: None,
            tls: None,
            reset: Vec::new(),
            stimuli: Vec::new(),
            observations: rules.iter().map(|(name, one)| ((*name).to_owned(), one.clone())).collect(),
            spelling: Spelling::default(),
            captures: Vec::new(),
            unmatched,
            settle: coreach_adapters::description::Settle::default(),
        };
        let signatures = signatures();
        for unmatched in [Unmatched::Fail, Unmatched::Ignore] {
            let http = http(unmatched);
            let (mut expected, mut asked) = (Vec::new(), Vec::new());
            for body in bodies {
                let by_status = [200, 201, 202, 206, 404].map(|status| (status, no_headers));
                for (status, head) in by_status.into_iter().chain(heads.map(|head| (206, head))) {
                    let own = |(name, value): &(&str, &str)| (name.to_lowercase(), (*value).to_owned());
                    let headers: Vec<(String, String)> = head.iter().map(own).collect();
                    let coding = headers.iter().find(|(name, _)| name == "content-encoding");
                    let coding = coding.map(|(_, value)| value.clone());
                    let listed: Vec<String> = headers
                        .iter()
                        .map(|(name, value)| format!("({}, {})", text(name), text(value)))
                        .collect();
                    let reply =
                        Reply { status, headers, coding, body: body.as_bytes().to_vec(), ..Reply::default() };
                    let all = translate(&reply, &http, &signatures).unwrap();
                    let all: Vec<String> = all.iter().map(|one| shown(one, body.as_bytes())).collect();
                    expected.push(format!("{status} {}", all.join("; ")).trim_end().to_owned());
                    let body = python::bytes(body.as_bytes());
                    asked.push(format!("({status}, {body}, [{}])", listed.join(", ")));
                }
            }
            let main = format!(
                "for status, body, headers in [{}]:\n    print((str(status) + ' ' + '; '.join(map(show, translated(status, body, headers)))).rstrip())\n",
                asked.join(", ")
            );
            let constants = constants(&iut(Transport::Http(http)), &signatures).unwrap();
            let printed =
                python(&[IMPORTS, "SECRET = []\nTLS = None\n", &constants, COMMON, HTTP, SHOW, &main]);
            assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
            let outputs = |name: &str| expected.iter().filter(|one| one.contains(name)).count();
            assert!(outputs("Item(") >= 2 && outputs("Counted(") >= 20, "{expected:?}");
        }
    }
}
