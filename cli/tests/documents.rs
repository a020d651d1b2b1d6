//! What the documents show of the program is what the program prints.
//!
//! Every block ```` ```console ```` of `README.md`, of each page in `docs/` and of each `README.md` in
//! `examples/` is gone through: a line `$ coreach ...`, `$ sh ...`, `$ sed ...` or `$ python3 ...` is run,
//! and the lines below it are compared with what it prints. `$ echo $?` prints the exit code of the one
//! before, `$ cd DIR` holds for the lines that follow; `> file` is understood; other commands are not run,
//! and tutorials and how-to pages have none. A line `...` stands for any lines. A command below which nothing
//! is shown must succeed, or `echo $?` must come next.
//!
//! A document has a folder of its own for its commands. For an example it is a copy of the example's folder;
//! else it holds a copy of `examples/`, and each block ```` ```yaml kind name.yaml ```` or ```` ```python
//! name.py ```` (also `aut`, `csv` and `json`) of the document as a file, from where it stands. A block
//! ```` ```diff kind name.yaml ```` changes lines of such a file.
//!
//! Not compared are times, the sizes of pages, and the number of queries to the solver: they say how much was
//! done, not what came out.
//!
//! With `COREACH_BLESS=1` in the environment, output that differs is written into the document; read it
//! before you commit it.
#![allow(clippy::unwrap_used, reason = "a test's helper fails its test")]

use std::fmt::Write;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::Folder;

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

/// A text in which the lines of a difference are replaced: those with `-` or a space by those with `+` or a
/// space.
fn change(text: &str, difference: &[&str]) -> String {
    let side = |other: char| -> String {
        let lines = difference.iter().filter(|line| !line.starts_with(other));
        lines.map(|line| line.get(1..).unwrap_or_default().to_owned() + "\n").collect()
    };
    let (old, new) = (side('+'), side('-'));
    assert_eq!(text.matches(&old).count(), 1, "what is changed stands there once:\n{old}");
    text.replacen(&old, &new, 1)
}

/// What is run for a command, and its arguments.
fn program(command: &str) -> Option<(&'static str, &str)> {
    let known =
        [("coreach", env!("CARGO_BIN_EXE_coreach")), ("sh", "sh"), ("sed", "sed"), ("python3", "python3")];
    let (name, arguments) = command.split_once(' ')?;
    known.iter().find(|(known, _)| *known == name).map(|(_, program)| (*program, arguments))
}

/// The words of a command, as a shell reads them where it has no other quotes than single ones.
fn words(arguments: &str) -> Vec<String> {
    let quoted = |(number, text): (usize, &str)| match number % 2 {
        0 => text.split_whitespace().map(str::to_owned).collect(),
        _ => vec![text.to_owned()],
    };
    arguments.split('\'').enumerate().flat_map(quoted).collect()
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
        .args(words(arguments))
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

/// Lines without what differs from run to run, or from version to version without any difference in the
/// result.
fn essence(lines: &[String]) -> Vec<String> {
    let has_decimals = |word: &str, decimals: std::ops::RangeInclusive<usize>| {
        let parts = word.split_once('.');
        parts.is_some_and(|(a, b)| {
            decimals.contains(&b.len())
                && !a.is_empty()
                && (a.to_owned() + b).bytes().all(|b| b.is_ascii_digit())
        })
    };
    // Seconds at the end of a row, milliseconds of an event.
    let is_time = |word: &str| has_decimals(word, 3..=4);
    let is_instant = |word: &str| has_decimals(word, 1..=1);
    let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
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
        match words[..] {
            ["solver:", ..] => words.truncate(1),
            // How many runs there was time for.
            ["shrunk", "from", _, _, "to", _, ..] => words.truncate(6),
            // `3  17.2  tester sends  Coin(3)`, and what went over the wire.
            [number, time, ..] if is_number(number) && is_instant(time) => drop(words.remove(1)),
            [time, "->" | "<-" | "==", ..] if is_instant(time) => drop(words.remove(0)),
            ["wrote", _, size, "kB)"] if size.starts_with('(') => words.truncate(2),
            _ => {}
        }
        // `6 events in 0.260 s, Pass`
        if let Some(at) = words.windows(3).position(|three| {
            three[0] == "in" && is_time(three[1]) && three[2].trim_end_matches([',', ';']) == "s"
        }) {
            words.remove(at + 1);
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

/// Goes through a document. Returns how many commands were run, what differs, and the document as it should
/// be.
fn go_through(document: &Path) -> (usize, String, String) {
    let text = fs::read_to_string(document).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let folder = Folder::new();
    match document.parent().unwrap() {
        beside if beside.join("specification.yaml").is_file() => copy(beside, &folder.0),
        _ => copy(&root().join("examples"), &folder.0.join("examples")),
    }
    let is_strict = is_strict(document);
    let mut here = folder.0.clone();
    let (mut commands, mut problems) = (0, String::new());
    let mut right: Vec<String> = Vec::new();
    let mut done = 0;
    for (info, range) in blocks(&lines) {
        let inside = &lines[range.clone()];
        if let ["yaml", _, name] | ["python" | "aut" | "csv" | "json", name] =
            info.split(' ').collect::<Vec<_>>()[..]
        {
            let path = folder.0.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, inside.join("\n") + "\n").unwrap();
        }
        if let ["diff", _, name] = info.split(' ').collect::<Vec<_>>()[..] {
            let path = folder.0.join(name);
            fs::write(&path, change(&fs::read_to_string(&path).unwrap(), inside)).unwrap();
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
                let (printed, code) = run(&here, program, arguments);
                last = code;
                printed
            } else if let Some(place) = command.strip_prefix("cd ") {
                here = here.join(place).canonicalize().unwrap();
                right.extend(shown);
                continue;
            } else {
                assert!(!is_strict, "{}: `{command}` is not run", document.display());
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

/// Goes through documents, and writes them anew where that is asked for.
fn compare(documents: Vec<PathBuf>) {
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

/// The Markdown files below a folder, but for the list of pages.
fn markdown(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in listed(folder) {
        if path.is_dir() {
            found.extend(markdown(&path));
        } else if path.extension().is_some_and(|e| e == "md") && !path.ends_with("SUMMARY.md") {
            found.push(path);
        }
    }
    found
}

/// The `README.md` of the examples, and of each of them.
fn examples() -> Vec<PathBuf> {
    let folders = [vec![root().join("examples")], listed(&root().join("examples"))].concat();
    folders.iter().map(|folder| folder.join("README.md")).filter(|path| path.is_file()).collect()
}

/// Does a page show no command that is not run?
fn is_strict(page: &Path) -> bool {
    ["README.md", "docs/tutorial", "docs/how-to"].iter().any(|place| page.starts_with(root().join(place)))
}

#[test]
#[cfg_attr(
    feature = "apron",
    ignore = "the documents show a default build, and `compare` shows all domains of a build"
)]
fn commands_print_what_the_documents_show() {
    let mut documents = markdown(&root().join("docs"));
    documents.retain(|page| !is_strict(page));
    documents.push(root().join("README.md"));
    documents.extend(examples());
    compare(documents);
}

// Tutorials and how-to pages start real programs, so they take their time.

#[test]
fn commands_print_what_the_tutorials_show() {
    compare(markdown(&root().join("docs/tutorial")));
}

#[test]
fn commands_print_what_the_how_to_pages_show() {
    compare(markdown(&root().join("docs/how-to")));
}

/// What is in the list of pages is there, and the list has all documents.
#[test]
fn the_list_of_pages_has_every_document() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let links: Vec<&str> = summary
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| !link.is_empty())
        .collect();
    for link in &links {
        assert!(docs.join(link).is_file(), "{link}");
        assert_eq!(links.iter().filter(|other| *other == link).count(), 1, "{link} is there twice");
    }
    for path in [markdown(&docs), examples()].concat() {
        let link = match path.strip_prefix(&docs) {
            Ok(page) => page.display().to_string(),
            Err(_) => format!("../{}", path.strip_prefix(root()).unwrap().display()),
        };
        assert!(links.contains(&link.as_str()), "the list of pages lacks {link}");
    }
}

#[test]
fn what_is_compared() {
    let lines = |text: &str| -> Vec<String> { essence(&text.lines().map(str::to_owned).collect::<Vec<_>>()) };
    assert_eq!(
        lines("p  domain  queries  seconds\np  location  5  0.031"),
        ["p domain queries seconds", "p location"]
    );
    assert_eq!(lines("  closed  12  26  0.001\n  solver: 3 queries"), ["closed 12 26", "solver:"]);
    assert_eq!(
        lines(
            "3  17.2  tester sends  C(1.5)\n   0.1 -> x\np seed 1: 6 events in 0.260 s, Pass: A()\nwrote a.html (12 kB)"
        ),
        ["3 tester sends C(1.5)", "-> x", "p seed 1: 6 events in s, Pass: A()", "wrote a.html"]
    );
    assert_eq!(lines("a price of 0.5, 1.25 or v0.100"), ["a price of 0.5, 1.25 or v0.100"]);
    assert!(matches(&lines("a\n...\nd"), &lines("a\nb\nc\nd")));
    assert!(matches(&lines("..."), &[]));
    assert!(!matches(&lines("a\n...\nd"), &lines("a\nd\ne")));
}
