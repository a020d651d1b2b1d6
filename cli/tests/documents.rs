//! What the documents show of the program is what the program prints.
//!
//! Every block ```` ```console ```` of `README.md`, `docs/*.md` and `examples/*/README.md` is gone through: a line `$ coreach ...`
//! or `$ sh ...`, for a script that it has written, is run, and the lines below it are compared with what it prints. `$ echo $?` prints the exit code of the one before;
//! `> file` is understood; other commands are not run. A line `...` stands for any lines. A command below which nothing
//! is shown must succeed, or `echo $?` must come next.
//!
//! A document has a folder of its own for its commands. For an example it is a copy of the example's folder; else it
//! holds a copy of `examples/`, and each block ```` ```yaml kind name.yaml ```` of the document as a file.
//!
//! Not compared are times, and the number of queries to the solver: they say how much was done, not what came out.
//!
//! With `COREACH_BLESS=1` in the environment, output that differs is written into the document; read it before you
//! commit it.
#![allow(clippy::unwrap_used, reason = "a test's helper fails its test")]

mod common;

use std::fmt::Write;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::Folder;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files of a folder, in the order of their names.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|item| item.unwrap().path()).collect();
    paths.sort();
    paths
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in listed(from) {
        let name = path.file_name().unwrap();
        // What somebody made by hand beside the sources is no part of them.
        match path.is_dir() {
            true if name == "out" => {}
            true => copy(&path, &to.join(name)),
            false => drop(fs::copy(&path, to.join(name)).unwrap()),
        }
    }
}

/// The lines inside a fence, by their numbers, with what stands behind the fence's three signs.
fn blocks(lines: &[&str]) -> Vec<(String, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    let mut open: Option<(String, usize)> = None;
    for (number, line) in lines.iter().enumerate() {
        let Some(info) = line.strip_prefix("```") else { continue };
        match open.take() {
            None => open = Some((info.to_owned(), number + 1)),
            Some((info, start)) => found.push((info, start..number)),
        }
    }
    assert!(open.is_none(), "a block is not closed");
    found
}

/// What is run for a command, and its arguments.
fn program(command: &str) -> Option<(&'static str, &str)> {
    let known = [("coreach", env!("CARGO_BIN_EXE_coreach")), ("sh", "sh")];
    let (name, arguments) = command.split_once(' ')?;
    known.iter().find(|(known, _)| *known == name).map(|(_, program)| (*program, arguments))
}

/// What a command prints, both streams in the order of writing, and its exit code.
fn run(folder: &Path, program: &str, arguments: &str) -> (Vec<String>, i32) {
    let (arguments, target) = match arguments.split_once(" > ") {
        Some((arguments, target)) => (arguments, Some(folder.join(target.trim()))),
        None => (arguments, None),
    };
    let log = folder.join(".printed");
    let printed = File::create(&log).unwrap();
    let stdout = match target {
        Some(path) => File::create(path).unwrap(),
        None => printed.try_clone().unwrap(),
    };
    let status = Command::new(program)
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(printed)
        .status()
        .unwrap();
    let mut text = String::new();
    File::open(&log).unwrap().read_to_string(&mut text).unwrap();
    fs::remove_file(log).unwrap();
    (text.lines().map(|line| line.trim_end().to_owned()).collect(), status.code().unwrap())
}

/// Lines without what differs from run to run, or from version to version without any difference in the result.
fn essence(lines: &[String]) -> Vec<String> {
    let is_time = |word: &str| {
        let parts = word.split_once('.');
        parts.is_some_and(|(a, b)| {
            b.len() == 3 && !a.is_empty() && (a.to_owned() + b).bytes().all(|b| b.is_ascii_digit())
        })
    };
    let mut counts_queries = false;
    let mut essence = Vec::new();
    for line in lines {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if words.ends_with(&["queries", "seconds"]) {
            counts_queries = true;
        } else if words.last().is_some_and(|word| is_time(word)) {
            let kept = words.len() - if counts_queries { 2 } else { 1 };
            words.truncate(kept);
        } else {
            counts_queries = false;
        }
        if words.first() == Some(&"solver:") {
            words.truncate(1);
        }
        essence.push(words.join(" "));
    }
    essence
}

/// Is this what was printed, `...` standing for any lines?
fn matches(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]))
        }
        Some((first, rest)) => {
            printed.split_first().is_some_and(|(line, others)| line == first && matches(rest, others))
        }
    }
}

/// Goes through a document. Returns how many commands were run, what differs, and the document as it should be.
fn go_through(document: &Path) -> (usize, String, String) {
    let text = fs::read_to_string(document).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let folder = Folder::new();
    match document.parent().unwrap() {
        beside if beside.join("specification.yaml").is_file() => copy(beside, &folder.0),
        _ => copy(&root().join("examples"), &folder.0.join("examples")),
    }
    let (mut commands, mut problems) = (0, String::new());
    let mut right: Vec<String> = Vec::new();
    let mut done = 0;
    for (info, range) in blocks(&lines) {
        let inside = &lines[range.clone()];
        if let ["yaml", _, name] = info.split(' ').collect::<Vec<_>>()[..] {
            fs::write(folder.0.join(name), inside.join("\n") + "\n").unwrap();
        }
        if info != "console" {
            continue;
        }
        right.extend(lines[done..range.start].iter().map(|&line| line.to_owned()));
        done = range.end;
        let mut last = 0;
        let starts: Vec<usize> = (0..inside.len()).filter(|&at| inside[at].starts_with("$ ")).collect();
        right.extend(
            inside[..starts.first().copied().unwrap_or(inside.len())].iter().map(|&line| line.to_owned()),
        );
        for (number, &start) in starts.iter().enumerate() {
            let end = starts.get(number + 1).copied().unwrap_or(inside.len());
            let shown: Vec<String> =
                inside[start + 1..end].iter().map(|line| line.trim_end().to_owned()).collect();
            right.push(inside[start].to_owned());
            let command = &inside[start][2..];
            let printed = if command == "echo $?" {
                vec![last.to_string()]
            } else if let Some((program, arguments)) = program(command) {
                commands += 1;
                let (printed, code) = run(&folder.0, program, arguments);
                last = code;
                printed
            } else {
                right.extend(shown);
                continue;
            };
            let asked = starts.get(number + 1).is_some_and(|&next| inside[next] == "$ echo $?");
            let only_run = shown.is_empty() && (asked || last == 0);
            if only_run || matches(&essence(&shown), &essence(&printed)) {
                right.extend(shown);
                continue;
            }
            let place = format!("{}:{}", document.display(), range.start + start + 1);
            let _ = write!(
                problems,
                "{place}: {command}\n{}\nprints\n{}\n",
                shown.join("\n"),
                printed.join("\n")
            );
            right.extend(printed);
        }
    }
    right.extend(lines[done..].iter().map(|&line| line.to_owned()));
    (commands, problems, right.join("\n") + "\n")
}

#[test]
#[cfg_attr(
    feature = "apron",
    ignore = "the documents show a default build, and `compare` shows all domains of a build"
)]
fn commands_print_what_the_documents_show() {
    let mut documents = vec![root().join("README.md")];
    documents.extend(listed(&root().join("docs")));
    documents.extend(listed(&root().join("examples")).iter().map(|folder| folder.join("README.md")));
    documents.retain(|path| path.extension().is_some_and(|e| e == "md") && path.is_file());
    let bless = std::env::var_os("COREACH_BLESS").is_some();
    let (mut commands, mut problems) = (0, String::new());
    for document in documents {
        let (count, differences, right) = go_through(&document);
        commands += count;
        if bless && !differences.is_empty() {
            fs::write(&document, right).unwrap();
        } else {
            problems += &differences;
        }
    }
    assert!(problems.is_empty(), "\n{problems}");
    assert!(commands >= 10, "only {commands} commands found: are the blocks still understood?");
}

#[test]
fn what_is_compared() {
    let lines = |text: &str| -> Vec<String> { essence(&text.lines().map(str::to_owned).collect::<Vec<_>>()) };
    assert_eq!(
        lines("p  domain  queries  seconds\np  location  5  0.031"),
        ["p domain queries seconds", "p location"]
    );
    assert_eq!(lines("  closed  12  26  0.001\n  solver: 3 queries"), ["closed 12 26", "solver:"]);
    assert_eq!(lines("a price of 0.5, 1.25 or v0.100"), ["a price of 0.5, 1.25 or v0.100"]);
    assert!(matches(&lines("a\n...\nd"), &lines("a\nb\nc\nd")));
    assert!(matches(&lines("..."), &[]));
    assert!(!matches(&lines("a\n...\nd"), &lines("a\nd\ne")));
}
