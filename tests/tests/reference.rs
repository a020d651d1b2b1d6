//! The reference in `docs/reference` agrees with the program.
//!
//! The pages of the commands and of the diagnostics are made here, from the arguments as clap knows them and
//! from the sources. With `COREACH_BLESS=1` in the environment they are written anew. The other pages
//! describe every key that a user may write.
#![allow(clippy::unwrap_used, reason = "a test's helper fails its test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::{Arg, Command, CommandFactory};
use coreach_cli::arguments::Arguments;
use coreach_tests::schema;
use regex::{Captures, Regex};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join("docs/reference").join(name)).unwrap_or_default()
}

/// Compares a page with its text, or writes it.
fn check_page(name: &str, text: &str) {
    if std::env::var_os("COREACH_BLESS").is_some() {
        fs::write(root().join("docs/reference").join(name), text).unwrap();
    }
    let wrong =
        page(name).lines().zip(text.lines()).find(|(old, new)| old != new).map(|(old, _)| old.to_owned());
    assert_eq!(
        page(name),
        text,
        "docs/reference/{name} is old (at {wrong:?}): scripts/bless -p coreach-tests"
    );
}

const COMMANDS: &str = "# Commands

This page lists the commands and options of coreach. `coreach COMMAND --help` adds notes and examples.
`[a, b]` lists the possible values.

";

/// An option with the same meaning in so many commands is described once.
const COMMON: usize = 3;

/// The widest line of the page's blocks, and the columns of the names of options.
const WIDTH: usize = 110;
const NAMES: usize = 28;

#[test]
fn the_page_of_commands_is_the_help() {
    let mut program = Arguments::command().disable_help_subcommand(true);
    program.build();
    let mut commands = Vec::new();
    add_commands(&program, "coreach", &mut commands);
    let mut uses: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let arguments = commands.iter().flat_map(|(_, command)| command.get_arguments().filter(is_shown));
    for argument in arguments.filter(|argument| !argument.is_positional()) {
        uses.entry(described(argument)).or_insert_with(|| (0, signature(argument))).0 += 1;
    }
    uses.retain(|_, (count, _)| *count >= COMMON);
    let mut text = COMMANDS.to_owned();
    let common: String = uses.keys().map(String::as_str).collect();
    write!(text, "## Common options\n\n```text\n{common}```\n").unwrap();
    text +=
        "\nThe first line of a block names the common options of a command. In addition, all commands have: ";
    let everywhere = |count: usize| count == commands.len();
    let all: Vec<String> =
        uses.values().filter(|(count, _)| everywhere(*count)).map(|(_, name)| format!("`{name}`")).collect();
    writeln!(text, "{}.", all.join(", ")).unwrap();
    for (name, command) in &commands {
        write!(text, "\n## {name}\n\n{}.\n\n```text\n", about(command)).unwrap();
        let (mut usage, mut own) = (format!("coreach{}", &name["coreach".len()..]), String::new());
        for argument in command.get_arguments().filter(is_shown) {
            let line = described(argument);
            match uses.get(&line) {
                Some((count, _)) if everywhere(*count) => continue,
                Some((_, signature)) => write!(usage, " [{signature}]").unwrap(),
                None => own += &line,
            }
            if argument.is_positional() {
                write!(usage, " {}", signature(argument)).unwrap();
            }
        }
        let inner = command.get_subcommands().filter(|inner| !inner.is_hide_set());
        let inner: Vec<&str> = inner.map(Command::get_name).collect();
        if !inner.is_empty() {
            write!(usage, " [{}]", inner.join("|")).unwrap();
        }
        text += &[usage, "\n".to_owned(), own].concat();
        text += "```\n";
    }
    check_page("cli.md", &text);
}

/// Adds a command and all below it, by their names.
fn add_commands<'a>(command: &'a Command, name: &str, found: &mut Vec<(String, &'a Command)>) {
    found.push((name.to_owned(), command));
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        add_commands(inner, &format!("{name} {}", inner.get_name()), found);
    }
}

/// An argument that the page describes: every one but those that ask for help or the version.
fn is_shown(argument: &&Arg) -> bool {
    !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str())
}

/// An option or an argument as it is written, with the name of its value.
fn signature(argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>"));
    let values = values.filter(|_| argument.get_action().takes_values()).collect::<Vec<_>>().join(" ");
    let dots = if argument.get_num_args().is_some_and(|number| number.max_values() > 1) { "..." } else { "" };
    match (argument.get_long(), argument.get_short()) {
        (Some(long), Some(short)) => format!("-{short}, --{long} {values}").trim_end().to_owned(),
        (Some(long), None) => format!("--{long} {values}").trim_end().to_owned(),
        _ => values + dots,
    }
}

/// The lines about an argument: how it is written, what it does, its values and its default.
fn described(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut words = help;
    let values: Vec<String> =
        argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if !values.is_empty() && argument.get_action().takes_values() {
        write!(words, " [{}]", values.join(", ")).unwrap();
    }
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() && argument.get_action().takes_values() {
        write!(words, " [default: {}]", defaults.join(", ")).unwrap();
    }
    folded(&words, &signature(argument), NAMES)
}

/// Words in lines of the page, behind what stands in front of the first one.
fn folded(words: &str, first: &str, indent: usize) -> String {
    let (mut lines, mut line) = (String::new(), format!("{first:indent$} "));
    for word in words.split_whitespace() {
        if line.chars().count() + word.chars().count() > WIDTH {
            writeln!(lines, "{}", line.trim_end()).unwrap();
            line = " ".repeat(indent + 1);
        }
        line += &format!("{word} ");
    }
    lines + line.trim_end() + "\n"
}

/// What a command does, as a sentence without its full stop.
fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

const ERRORS: &str = "# Errors and warnings

This page explains errors and warnings by their codes. Each message begins with its code.
For each code, the page shows an example message and, below the message, how to remedy the problem. The sign `…` stands for a name, a number or a reason from your file.
The messages of all other codes say what you need to change.
";

/// A message of a code.
struct Message {
    text: String,
    help: Option<String>,
}

#[test]
fn the_page_of_errors_has_every_remedy() {
    let codes = codes();
    for code in codes_of_examples() {
        assert!(codes.contains_key(&code), "the sources have no code `{code}`: are they still understood?");
    }
    let (mut text, mut letter) = (ERRORS.to_owned(), None);
    for (code, messages) in &codes {
        let remedy = |message: &Message| message.help.clone().map(|help| (message.text.clone(), help));
        let Some((cause, help)) = messages.iter().find_map(remedy) else { continue };
        if letter != code.chars().next() {
            text += if letter.is_some() { "```\n" } else { "" };
            letter = code.chars().next();
            write!(text, "\n## {}\n\n```text\n", code[..1].to_uppercase()).unwrap();
        }
        writeln!(text, "{code}\n    {cause}\n      {help}").unwrap();
    }
    text += "```\n";
    check_page("errors.md", &text);
}

/// A text in quotes, alone or as a format.
const TEXT: &str = r#"(?:&?format!\(\s*)?"((?:[^"\\]|\\(?s:.))*)""#;

/// A call with a code, and the message if it is a text or a name.
static CALL: LazyLock<Regex> = LazyLock::new(|| {
    let callee = r"Diagnostic::error|Diagnostic::warning|\.error|\.mistake|\b\w*mistake|\berror|\brefused?|\bwrong|Mistake::new|Wrong::new|[\s=(]";
    let code = r#"(?:"[a-z]+",\s*)?(?:"([a-z][a-z0-9-]*)"|([A-Z_]{4,}))"#;
    Regex::new(&format!(r#"({callee})\(\s*{code}\s*,\s*(?:{TEXT}|[^;"]{{0,80}}?\b(message)\b)?"#)).unwrap()
});

/// The codes that production code gives to diagnostics, with the texts of their messages.
fn codes() -> BTreeMap<String, Vec<Message>> {
    let constant = Regex::new(r#"const ([A-Z_]+): &str = "([a-z][a-z-]*)";"#).unwrap();
    let given = Regex::new(r"\bcode\b[^\n]*").unwrap();
    let hyphened = Regex::new(r#""([a-z]+(?:-[a-z]+)+)""#).unwrap();
    let sources = sources();
    let pairs = sources.iter().flat_map(|text| constant.captures_iter(text));
    let constants: BTreeMap<&str, &str> =
        pairs.map(|found| (found.get(1).unwrap().as_str(), found.get(2).unwrap().as_str())).collect();
    let mut codes: BTreeMap<String, Vec<Message>> = BTreeMap::new();
    for text in &sources {
        for found in CALL.captures_iter(text) {
            let callee = found[1].trim();
            let named = || constants.get(found.get(3)?.as_str()).copied();
            let Some(code) = found.get(2).map(|code| code.as_str()).or_else(named) else { continue };
            // A pair is a code and a message only if it looks like one.
            if matches!(callee, "" | "=" | "(") && !(code.contains('-') && found.get(4).is_some()) {
                continue;
            }
            let messages = codes.entry(code.to_owned()).or_default();
            let message = message(text, &found).filter(|message| message.contains(' '));
            if let Some(message) = message
                && messages.iter().all(|other| other.text != message)
            {
                let help = help(&text[found.get(0).unwrap().end()..]);
                messages.push(Message { text: message, help });
            }
        }
        let lines = given.find_iter(text).map(|line| line.as_str());
        for found in lines.flat_map(|line| hyphened.captures_iter(line)) {
            codes.entry(found[1].to_owned()).or_default();
        }
    }
    codes
}

/// The message of a call: its argument, or the variable of this name that was set just before.
fn message(text: &str, call: &Captures<'_>) -> Option<String> {
    static SET: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(&format!(r#"let message\s*=[^;"]{{0,200}}?{TEXT}"#)).unwrap());
    const NEAR: usize = 900;
    if let Some(found) = call.get(4) {
        return Some(shown(found.as_str()));
    }
    let start = call.get(5)?.start();
    let last = SET.captures_iter(&text[..start]).last()?;
    (start - last.get(0)?.start() < NEAR).then(|| shown(&last[1]))
}

/// The help in the rest of a statement.
fn help(rest: &str) -> Option<String> {
    static HELP: LazyLock<Regex> = LazyLock::new(|| Regex::new(&format!(r"\.help\(\s*{TEXT}")).unwrap());
    let statement = rest.split(";\n").next()?;
    HELP.captures(statement).map(|found| shown(&found[1]))
}

/// A text of the sources as it is read, `…` in place of what is filled in.
fn shown(text: &str) -> String {
    static BREAK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\\\n\s*").unwrap());
    static HOLE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{[^}]*\}").unwrap());
    let joined = BREAK.replace_all(text, "").replace("{{", "\u{1}").replace("}}", "\u{2}");
    let filled = HOLE.replace_all(&joined, "…");
    filled
        .replace('\u{1}', "{")
        .replace('\u{2}', "}")
        .replace("\\\"", "\"")
        .replace("\\n", " ")
        .replace(r"\\", r"\")
}

/// The production sources, without tests.
fn sources() -> Vec<String> {
    let folders =
        ["adapters", "analyses", "artifact", "cli", "execution", "import", "model", "pipeline", "project"];
    let mut paths: Vec<PathBuf> =
        folders.iter().flat_map(|name| files(&root().join(name).join("src"), "rs")).collect();
    paths.retain(|path| !path.ends_with("tests.rs"));
    let texts = paths.iter().map(|path| fs::read_to_string(path).unwrap());
    texts.map(|text| text.split("#[cfg(test)]\nmod ").next().unwrap().to_owned()).collect()
}

/// The codes that the examples of wrong files have.
fn codes_of_examples() -> BTreeSet<String> {
    let is_code = Regex::new(r"^[a-z]+(-[a-z0-9]+)*$").unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("diagnostics");
    let texts: Vec<String> =
        files(&folder, "out").iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let lines = texts.iter().flat_map(|text| text.lines());
    lines.filter(|line| is_code.is_match(line)).map(str::to_owned).collect()
}

/// All files below a folder with this extension, in order.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|item| item.unwrap().path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|other| other == extension) {
            found.push(path);
        }
    }
    found
}

#[test]
fn the_reference_describes_every_key() {
    for (name, document) in [
        ("iut", "iut-file.md"),
        ("configuration", "configuration-and-campaign.md"),
        ("campaign", "configuration-and-campaign.md"),
        ("model", "model-format.md"),
        ("run-record", "json.md"),
        ("test-case", "json.md"),
    ] {
        let text = page(document);
        // What stands in backquotes, by words, outside of blocks.
        let prose = text.split("```").step_by(2);
        let code: String = prose
            .flat_map(|part| part.split('`').skip(1).step_by(2))
            .fold(String::new(), |all, word| all + word + " ");
        let described: BTreeSet<&str> =
            code.split(|sign: char| !sign.is_alphanumeric() && sign != '_').collect();
        let mut keys = BTreeSet::new();
        let schema = schema::read(&format!("{name}.schema.json"));
        add_keys(&schema.root, name.contains('-'), &mut keys);
        let missing: Vec<&String> = keys.iter().filter(|key| !described.contains(key.as_str())).collect();
        assert!(
            keys.len() > 10 && missing.is_empty(),
            "docs/reference/{document} lacks {missing:?} of {name}"
        );
    }
}

/// Adds the keys of all objects of a schema, or only those of the document itself.
fn add_keys(part: &Value, is_shallow: bool, keys: &mut BTreeSet<String>) {
    let rules = part.as_object().into_iter().flatten();
    for (rule, inner) in rules {
        if let ("properties", Some(properties)) = (rule.as_str(), inner.as_object()) {
            keys.extend(properties.keys().cloned());
            properties.values().filter(|_| !is_shallow).for_each(|inner| add_keys(inner, is_shallow, keys));
        } else if !is_shallow {
            add_keys(inner, is_shallow, keys);
        }
    }
    part.as_array().into_iter().flatten().for_each(|inner| add_keys(inner, is_shallow, keys));
}
