//! What an installation puts beside the program is of use: shells complete by it, `man` shows it, and nothing
//! of the program is missing in it.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::Folder;
use clap::CommandFactory;
use coreach_cli::arguments::Arguments;
use coreach_cli::exit::Exit;

/// What a program prints; `scripts/setup` installs all that are asked for here.
fn printed(program: &str, arguments: &[&str], folder: &Path) -> String {
    let output = Command::new(program).args(arguments).current_dir(folder).stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}; scripts/setup installs it"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{program} {arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Every command as the words that call it, the program itself first.
fn commands() -> Vec<Vec<String>> {
    fn below(command: &clap::Command, words: &[String], found: &mut Vec<Vec<String>>) {
        found.push(words.to_vec());
        // What is hidden is for the program itself.
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            below(inner, &[words, &[inner.get_name().to_owned()]].concat(), found);
        }
    }
    let mut found = Vec::new();
    below(&Arguments::command(), &[], &mut found);
    assert!(found.len() > 20, "one-sided test: {found:?}");
    found
}

fn ends(output: &Output, exit: Exit) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(i32::from(exit.code())), "{said}");
}

/// A folder with the script for a shell.
fn scripted(shell: &str, file: &str) -> Folder {
    let folder = Folder::new();
    let output = folder.coreach(&["completions", shell]);
    ends(&output, Exit::Fine);
    folder.write(file, &String::from_utf8(output.stdout).unwrap());
    folder
}

/// Command lines, and words that must and must not be offered for the last of them.
const ASKED: [(&str, &[&str], &[&str]); 6] = [
    ("coreach cam", &["campaign"], &["check", "run"]),
    ("coreach co", &["compare", "cover", "coverage", "completions"], &["campaign"]),
    ("coreach campaign me", &["merge"], &["run"]),
    ("coreach test --str", &["--strategy"], &["--runs"]),
    ("coreach test --strategy pl", &["plan"], &["random"]),
    ("coreach timed v", &["verdict"], &["path"]),
];

fn offered(line: &str, words: &BTreeSet<&str>) {
    let (_, expected, not) = ASKED.iter().find(|(asked, ..)| *asked == line).unwrap();
    assert!(expected.iter().all(|word| words.contains(word)), "{line}: {words:?}");
    assert!(!not.iter().any(|word| words.contains(word)), "{line}: {words:?}");
}

#[test]
fn bash_completes() {
    let folder = scripted("bash", "coreach.bash");
    for (line, ..) in ASKED {
        // As bash calls the function: the words, which of them it is, and that word with the one before.
        let script = "source ./coreach.bash
            COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1))
            _coreach coreach \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"
            printf '%s\\n' \"${COMPREPLY[@]}\"; complete -p coreach >/dev/null";
        let mut arguments = vec!["--norc", "-c", script, "bash"];
        arguments.extend(line.split(' '));
        let words = printed("bash", &arguments, &folder.0);
        offered(line, &words.lines().collect());
    }
}

#[test]
fn fish_completes() {
    let folder = scripted("fish", "coreach.fish");
    for (line, ..) in ASKED {
        let script = format!("source coreach.fish; complete --do-complete '{line}'");
        let words = printed("fish", &["--no-config", "-c", &script], &folder.0);
        offered(line, &words.lines().map(|line| line.split('\t').next().unwrap()).collect());
    }
}

/// zsh completes at a terminal only, so its script is loaded as `compinit` would, and is held against the
/// commands.
#[test]
fn zsh_takes_its_script() {
    let folder = scripted("zsh", "_coreach");
    assert!(folder.read("_coreach").starts_with("#compdef coreach\n"));
    let script = "fpath=($PWD $fpath); autoload -Uz compinit; compinit -D -u; autoload -Uz +X _coreach; print $_comps[coreach]";
    assert_eq!(printed("zsh", &["--no-rcs", "-c", script], &folder.0), "_coreach\n");
    printed("zsh", &["--no-rcs", "-n", "_coreach"], &folder.0);
}

/// What is completed is all there is: nothing is offered by a list of its own.
#[test]
fn every_shell_knows_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let folder = scripted(shell, "script");
        let script = folder.read("script");
        for word in commands().iter().filter_map(|words| words.last()) {
            assert!(script.contains(word.as_str()), "{shell}: {word}");
        }
    }
}

/// The options that a help names.
fn options(text: &str) -> BTreeSet<String> {
    text.split(|sign: char| sign.is_whitespace() || "`,;:()[]|<>=".contains(sign))
        .filter(|word| word.starts_with("--") && word.len() > 2)
        .map(|word| word.trim_end_matches('.').to_owned())
        .collect()
}

#[test]
fn every_command_has_a_page_with_all_that_its_help_says() {
    let folder = Folder::new();
    ends(&folder.coreach(&["man", "pages"]), Exit::Fine);
    let mut pages = BTreeSet::new();
    for words in commands() {
        let name = [&["coreach".to_owned()][..], &words].concat().join("-");
        let file = format!("pages/{name}.1");
        pages.insert(format!("{name}.1"));
        let arguments: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
        let help = String::from_utf8(folder.coreach(&arguments).stdout).unwrap();
        let page = folder.read(&file).replace("\\-", "-");
        for option in options(&help) {
            assert!(page.contains(&option), "{file} lacks {option}");
        }
        for heading in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"] {
            assert!(page.contains(&format!(".SH {heading}\n")), "{file} lacks {heading}");
        }
    }
    let written: BTreeSet<String> = fs::read_dir(folder.0.join("pages"))
        .unwrap()
        .map(|item| item.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(written, pages);
    let printed = folder.coreach(&["man"]);
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), folder.read("pages/coreach.1"));
}

#[test]
fn what_cannot_be_written_is_the_machine_s() {
    let folder = Folder::with(&[("file", "")]);
    let output = folder.coreach(&["man", "file/man1"]);
    ends(&output, Exit::Mistakes);
    assert!(String::from_utf8_lossy(&output.stderr).contains("file is a file, not a folder"));
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "nothing is left");
    for arguments in [&["completions", "bash"][..], &["man"], &["--help"], &["--version"], &["run", "-h"]] {
        let mut full = Command::new(env!("CARGO_BIN_EXE_coreach"));
        full.args(arguments).stdout(File::create("/dev/full").unwrap()).stderr(Stdio::piped());
        ends(&full.spawn().unwrap().wait_with_output().unwrap(), Exit::Environment);
        // Who reads no further has read enough.
        let script = "\"$@\" | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}";
        let mut closed = Command::new("bash");
        closed.args(["-c", script, "bash", env!("CARGO_BIN_EXE_coreach")]).args(arguments);
        ends(&closed.output().unwrap(), Exit::Fine);
    }
}
