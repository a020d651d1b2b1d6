//! `coreach json`: requests in, answers out, a line of JSON each, so that a notebook needs no disk.
//!
//! **Problem.** All commands read files and write files. Who has models as texts, in a notebook or behind a
//! web page, wants neither a folder nor a program to start for each question, and wants findings as data.
//!
//! **Method.** A request is the arguments of a command with the files that it reads, and the names of those
//! that it shall give back. Each has a folder of its own (`folder.rs`), in which the command runs as a
//! process of its own: what a command does to its process (its folder, its budgets, its limits, a crash) ends
//! with the request. Where a command has an answer as JSON, that is asked for. What it draws for people is
//! noted as data, too ([`crate::findings`]). An answer is one line; the output stands in it as the command
//! wrote it, so that no number is rounded on the way.
//!
//! A request that cannot be done has an answer that says so, and the session goes on. It is no sandbox: a
//! file of an implementation may name any command, and a model that is read may lie anywhere. What is refused
//! is that a *request* names a place outside its folder.
//!
//! **Ends** with its input. **Costs** the start of a process, some 20 ms, and the limits of `request.rs`.

mod child;
mod folder;
mod request;

use std::io::{self, BufRead, ErrorKind, Write};
use std::time::Duration;

use coreach_execution::interruption::stop_if_ending;
use coreach_model::Diagnostic;
use coreach_pipeline::stop::BUDGET;
use coreach_project::outputs;
use coreach_project::render::to_json;
use serde_json::{Value as Json, json};

use super::EarlyExit;
use crate::exit::Exit;
use crate::visible::visible_json;
use child::Done;
use folder::Folder;
use request::JsonRequest;

/// Of the command of a request: where the session is killed, nobody keeps its time or takes its answer any
/// more, so it ends as at a SIGTERM.
pub fn end_with_the_session() {
    if std::env::var_os(outputs::WITHIN).is_none() {
        return;
    }
    let parent = rustix::process::getppid();
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
    // The session may have ended meanwhile.
    if rustix::process::getppid() != parent {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM);
    }
}

/// The longest line that is read, in bytes.
const MOST_LINE: usize = 64 << 20;

/// Answers until the input ends.
pub fn json() -> Result<Exit, EarlyExit> {
    let mut input = io::stdin().lock();
    loop {
        let line = match line(&mut input)? {
            Line::End => return Ok(Exit::Fine),
            Line::Text(line) => Ok(line),
            Line::TooLong => Err(format!("the line is longer than {MOST_LINE} bytes")),
        };
        let answer = match line {
            Ok(line) => answer(&line),
            Err(why) => refusal(&Json::Null, &why),
        };
        // A signal has ended the command too: there is nothing to tell.
        stop_if_ending();
        let mut stdout = io::stdout().lock();
        let told = stdout.write_all(answer.as_bytes()).and_then(|()| stdout.write_all(b"\n"));
        match told.and_then(|()| stdout.flush()) {
            // Nobody reads answers any more: the session is over.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Exit::Fine),
            told => told?,
        }
    }
}

enum Line {
    Text(Vec<u8>),
    TooLong,
    End,
}

/// The next line; one that is too long is passed over.
fn line(input: &mut impl BufRead) -> io::Result<Line> {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(match (too_long, line.is_empty()) {
                (true, _) => Line::TooLong,
                (false, true) => Line::End,
                (false, false) => Line::Text(line),
            });
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        too_long |= line.len() + piece.len() > MOST_LINE;
        if too_long {
            line.clear();
        } else {
            line.extend_from_slice(piece);
        }
        let used = end.map_or(buffer.len(), |at| at + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(if too_long { Line::TooLong } else { Line::Text(line) });
        }
    }
}

fn answer(line: &[u8]) -> String {
    match request::read(line) {
        Ok(request) => done(&request).unwrap_or_else(|why| refusal(&request.id, &why)),
        Err((id, why)) => refusal(&id, &why),
    }
}

fn refusal(id: &Json, why: &str) -> String {
    visible_json(&json!({ "format_version": 1, "id": id, "error": why }).to_string()).into_owned()
}

fn done(request: &JsonRequest) -> Result<String, String> {
    let folder = Folder::new()?;
    for (name, text) in &request.files {
        folder.put(name, text)?;
    }
    let Done { is_late, exit, output, messages } = child::run(&folder, &request.arguments, request.time)?;
    let made = folder.made(&request.files)?;
    let (given, withheld) = folder.wanted(&request.want, &made);
    let (output, document) = as_json(output)?;
    let exit = if is_late { i32::from(Exit::Stopped.code()) } else { exit };
    // Why the command was ended stands before what it says of its end.
    let late = is_late.then(|| to_json(&[late(request.time)]));
    let mut diagnostics = match late {
        Some(Json::Array(late)) => [late, folder.findings()].concat(),
        _ => folder.findings(),
    };
    if let Some(document) = &document {
        collect(document, &mut diagnostics);
    }
    let rest = json!({
        "messages": messages,
        "diagnostics": diagnostics,
        "files": given,
        "withheld": withheld,
        "made": made,
    })
    .to_string();
    let head = json!({ "format_version": 1, "id": request.id, "exit": exit }).to_string();
    // The output as it was written: a number in it is read by whoever reads the answer, and by nobody before.
    let whole = format!("{},\"output\":{output},{}", &head[..head.len() - 1], &rest[1..]);
    Ok(visible_json(&whole).into_owned())
}

fn late(time: Duration) -> Diagnostic {
    let message = format!("the request took longer than {} ms, and was ended", time.as_millis());
    Diagnostic::error(BUDGET, message).help(format!("give it more: \"time\": \"{}ms\"", time.as_millis() * 4))
}

/// The output in one line of JSON, and read, where it is a document; else as a text.
fn as_json(output: Vec<u8>) -> Result<(String, Option<Json>), String> {
    let text = String::from_utf8(output).map_err(|_| "the command wrote what is no text".to_owned())?;
    if text.trim_start().starts_with(['{', '['])
        && let Ok(document) = serde_json::from_str::<Json>(&text)
    {
        // Between two tokens a line's end is a space, and within one there is none.
        return Ok((text.trim().replace(['\n', '\r'], " "), Some(document)));
    }
    Ok((Json::String(text).to_string(), None))
}

/// The findings in a command's own document: under `diagnostics` wherever they stand, and why there is no
/// result.
fn collect(document: &Json, found: &mut Vec<Json>) {
    let mut note = |one: &Json| {
        if one.get("code").is_some() && one.get("severity").is_some() && !found.contains(one) {
            found.push(one.clone());
        }
    };
    match document {
        Json::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value) {
                    ("diagnostics", Json::Array(all)) => all.iter().for_each(&mut note),
                    ("reason", one @ Json::Object(_)) => note(one),
                    _ => {}
                }
            }
            members.values().for_each(|value| collect(value, found));
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_one_is_read() {
        let long = vec![b'x'; MOST_LINE + 1];
        let text = [b"one\n".as_slice(), &long, b"\ntwo"].concat();
        let mut input = io::BufReader::with_capacity(1 << 16, text.as_slice());
        let mut next = || match line(&mut input).unwrap() {
            Line::Text(text) => String::from_utf8(text).unwrap(),
            Line::TooLong => "too long".to_owned(),
            Line::End => "end".to_owned(),
        };
        assert_eq!([next(), next(), next(), next()], ["one", "too long", "two", "end"]);
    }

    #[test]
    fn a_document_stands_in_the_answer_with_its_own_digits() {
        let output = b"{\n  \"n\": 0.1000000000000000000001,\n  \"text\": \"a\\nb\"\n}\n".to_vec();
        let (line, read) = as_json(output).unwrap();
        assert_eq!(line, "{   \"n\": 0.1000000000000000000001,   \"text\": \"a\\nb\" }");
        assert_eq!(read.unwrap()["text"], "a\nb");
        assert_eq!(as_json(b"{no json}\n".to_vec()).unwrap(), ("\"{no json}\\n\"".to_owned(), None));
    }
}
