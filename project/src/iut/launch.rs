//! Reads keys of several sections of an IUT file: for a command that is started, and for addresses.

use std::path::{Path, PathBuf};
use std::time::Duration;

use coreach_adapters::address;
use coreach_adapters::description::{Command, READY_MS, ServerLaunch};
use coreach_adapters::template::Template;
use coreach_model::diagnostic::Diagnostic;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, NodeKind, Scalar, Yaml};
use coreach_model::{file, number};

use super::words::{Holes, IutReader};

/// The keys of a command, which are among the keys of its section.
pub const COMMAND: [&str; 4] = ["command", "directory", "environment", "grace_ms"];

/// The host of an address, whatever its port is.
pub fn host_of(address: &Template) -> String {
    address::host_of_address(&address.fill(|_| Some("1".to_owned())).unwrap_or_default())
}

/// Reports a system that is kept between runs and has no `reset`. The caller knows that it is kept.
pub fn require_reset(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    key: &str,
    has_no_reset: bool,
    like: &str,
) {
    let Some(entry) = entries.iter().find(|entry| entry.key.text == key).filter(|_| has_no_reset) else {
        return;
    };
    let message =
        "a system that is kept between runs needs a `reset`, since each run begins in the initial state";
    let help = format!("for example `{like}`, or leave out `keep`");
    reader.collector.mistake("missing-key", message, &entry.key.span, "kept, and never reset", help);
}

/// Reads `launch`. The outer `None` is a mistake, the inner one no key.
pub fn read_launch(reader: &mut IutReader<'_>, entries: &[Entry]) -> Option<Option<ServerLaunch>> {
    let Some(node) = shape::get(entries, "launch") else { return Some(None) };
    let known: Vec<&str> = COMMAND.into_iter().chain(["ready_ms", "keep"]).collect();
    let entries = shape::section(reader.collector, entries, "launch", &known);
    let keep = reader.read_boolean(entries, "keep");
    // A server that is kept for many runs cannot depend on the constants of one run.
    let holes = if keep { Holes::none() } else { Holes::constants() }.with_server();
    let example = "launch: { command: [redis-server, --port, \"{port}\"] }";
    let command = read_command(reader, entries, node, "`launch`", example, holes);
    let ready = reader.read_ms(entries, "ready_ms", READY_MS);
    Some(Some(ServerLaunch { command: command?, ready, keep }))
}

/// Reads the address of the implementation. Also returns its place in the file.
pub fn read_address(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    node: &Yaml,
    key: &str,
    section: &str,
    like: &str,
) -> Option<(Template, std::ops::Range<usize>)> {
    let value = shape::required(reader.collector, node, entries, key, section, like)?;
    let scalar = shape::scalar(reader.collector, value, &format!("`{key}`"), like)?;
    if let Some((scheme, host_and_port)) = scalar.text.split_once("://").filter(|_| key == "address") {
        let message = format!("an address is HOST:PORT, without `{scheme}://`");
        let help = format!("write `address: \"{host_and_port}\"`");
        reader.collector.mistake("wrong-value", message, &scalar.span, "not such an address", help);
        return None;
    }
    let launch = shape::get(entries, "launch");
    let has_launch = launch.is_some();
    if scalar.text.contains("{port}") && launch.is_some_and(|launch| !mentions_port(launch)) {
        let message = "the program does not learn its port: `command` has no `{port}`";
        let help =
            "write `command: [PROGRAM, \"{port}\"]`, or the program's own port in place of `{port}` here";
        reader.warn("unknown-port", message, &scalar.span, "coreach chooses this port", help);
    }
    if !has_launch && scalar.text.contains("{port}") {
        let message = "coreach chooses `{port}` only for a system that it starts";
        let help = "write `launch: { command: [PROGRAM, \"{port}\"] }`, or a port";
        reader.collector.mistake("unknown-parameter", message, &scalar.span, "not known", help);
        return None;
    }
    let holes = if has_launch { Holes::none().with_port() } else { Holes::none() };
    reader.read_template(scalar, &holes).map(|template| (template, scalar.span.clone()))
}

/// Says whether a word of the launched command has the hole `{port}`.
fn mentions_port(launch: &Yaml) -> bool {
    let NodeKind::Mapping(entries) = &launch.kind else { return true };
    match shape::get(entries, "command").map(|command| &command.kind) {
        Some(NodeKind::Sequence(words)) => {
            words.iter().filter_map(|word| word.as_scalar()).any(|word| word.text.contains("{port}"))
        }
        _ => true,
    }
}

/// Reads a command from the keys of [`COMMAND`].
pub fn read_command(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    node: &Yaml,
    section: &str,
    like: &str,
    holes: Holes,
) -> Option<Command> {
    let words = shape::required(reader.collector, node, entries, "command", section, like)
        .and_then(|value| read_words(reader, value, like, &holes));
    let directory = read_directory(reader, entries);
    if let (Some(value), Some(directory)) = (shape::get(entries, "command"), &directory) {
        warn_of_command(reader, value, directory);
    }
    let mut environment = Vec::new();
    let like = "environment: { KEY: value }";
    for entry in reader.read_entries(entries, "environment", "variable", like) {
        let name = &entry.key.text;
        if name.is_empty() || name.contains(['=', '\0']) {
            let message = format!("`{}` cannot name a variable of the environment", name.escape_debug());
            reader.collector.error("not-a-name", message, &entry.key.span, "not a name");
            continue;
        }
        // A variable without a value is the empty text.
        let text = match entry.value.is_nothing() {
            true => Some(String::new()),
            false => shape::scalar(reader.collector, &entry.value, &format!("`{name}`"), like)
                .map(|scalar| scalar.text.clone()),
        };
        environment.extend(text.map(|text| (name.clone(), text)));
    }
    let grace = reader.read_ms(entries, "grace_ms", 0);
    Some(Command { words: words?, directory: directory?, environment, grace })
}

/// Warns of missing programs and scripts, of several words in one, and of words for a shell only. A word with
/// a hole is known only when a run begins.
fn warn_of_command(reader: &mut IutReader<'_>, command: &Yaml, directory: &Path) {
    const INTERPRETERS: [&str; 8] = ["python", "sh", "bash", "node", "ruby", "perl", "php", "java"];
    let NodeKind::Sequence(items) = &command.kind else { return };
    let words: Vec<&Scalar> = items.iter().filter_map(|item| item.as_scalar()).collect();
    let runs_scripts = |word: &Scalar| {
        let name = word.text.rsplit('/').next().unwrap_or_default();
        INTERPRETERS.contains(&name.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.'))
    };
    for (position, scalar) in words.iter().enumerate().filter(|(_, word)| !word.text.contains('{')) {
        let name = scalar.text.as_str();
        let path = directory.join(name);
        let (program, arguments) = name.split_once(' ').unwrap_or((name, ""));
        if position == 0 && !arguments.is_empty() && !path.exists() {
            let list = arguments.split_whitespace().fold(program.to_owned(), |list, word| list + ", " + word);
            let message = format!("`{name}` is one word, the name of a program");
            let help = format!("write the program and its arguments as separate words: `command: [{list}]`");
            reader.warn("one-word", message, &scalar.span, "with a space in it", help);
            return;
        }
        // A shell reads `NAME=value` in front of a program as a variable.
        let assigned = name.split_once('=').filter(|(name, _)| position == 0 && !name.contains('/'));
        let what = assigned.map(|_| "the name of a program").filter(|_| !path.exists());
        if let Some(what) = what.or_else(|| explain_shell_word(name)) {
            let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            let mut found =
                Diagnostic::warning("no-shell", format!("no shell reads `command`: `{name}` is {what}"))
                    .at(reader.collector.origin(&scalar.span), "for a shell only")
                    .help(format!("let a shell read it: `command: [sh, -c, '{}']`", texts.join(" ")));
            if let Some((name, value)) = assigned {
                let plain = |sign: char| sign.is_alphanumeric() || "._/=-".contains(sign);
                let spell = |word: &&str| match word.chars().all(plain) && !word.is_empty() {
                    true => (*word).to_owned(),
                    false => format!("'{}'", word.replace('\'', "''")),
                };
                let rest = texts[1..].iter().map(spell).collect::<Vec<_>>().join(", ");
                found.help =
                    Some(format!("write `command: [{rest}], environment: {{ {name}: \"{value}\" }}`"));
            }
            if name.trim_matches(['$', '{', '}']).eq_ignore_ascii_case("port") {
                found = found.help("write `\"{port}\"` for the port that coreach chooses");
            }
            reader.collector.push(found);
            return;
        }
        // A program without a slash is looked for elsewhere, and an argument may be no file.
        let may_be_path = match position {
            0 => name.contains('/'),
            // After `-c` stands a whole command line.
            _ => path.extension().is_some() && !name.starts_with('-') && words[position - 1].text != "-c",
        };
        if !may_be_path || path.exists() {
            continue;
        }
        let meant = file::find_meant_file(&path, |_| None);
        let is_script = position == 1 && runs_scripts(words[0]);
        if position > 0 && meant.is_none() && !is_script {
            continue;
        }
        let parent = Path::new("..").join(name);
        let help = match meant {
            Some(meant) => format!("did you mean `{}`?", Path::new(name).with_file_name(meant).display()),
            None if directory.join(&parent).exists() => {
                format!("it is in the folder above: write `{}`", parent.display())
            }
            None => "paths are relative to `directory`, or else to the folder of this file".to_owned(),
        };
        let message = format!("there is no file `{name}` where the command is started");
        reader.warn("missing-file", message, &scalar.span, "no such file", help);
    }
}

/// Says what a word is without a shell, if only a shell gives it a meaning.
fn explain_shell_word(word: &str) -> Option<&'static str> {
    let name = word.strip_prefix('$').map(|name| name.trim_matches(['{', '}']));
    match word {
        "&&" | "||" | "|" | ";" | "&" => Some("one more argument"),
        // A redirection: `> log`, `2>&1`.
        _ if word.trim_start_matches(['1', '2', '&']).starts_with('>') => Some("one more argument"),
        _ if word.starts_with("~/") => Some("not a path to the home folder"),
        _ if name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic())) => {
            Some("not a variable of the environment")
        }
        _ => None,
    }
}

/// Reads the words of a command, which must be a list.
fn read_words(reader: &mut IutReader<'_>, value: &Yaml, like: &str, holes: &Holes) -> Option<Vec<Template>> {
    if let NodeKind::Scalar(scalar) = &value.kind
        && !value.is_nothing()
    {
        let message = "`command` must be a list of words: no shell reads it";
        let words: Vec<&str> = scalar.text.split_whitespace().collect();
        let needs_shell = words.iter().any(|word| explain_shell_word(word).is_some());
        let words = if needs_shell { vec!["sh", "-c", scalar.text.as_str()] } else { words };
        let words: Vec<String> = words.into_iter().map(|word| format!("{word:?}")).collect();
        let help = format!("for example `command: [{}]`", words.join(", "));
        reader.collector.mistake("wrong-kind", message, &scalar.span, "expected a list", help);
        return None;
    }
    let items = shape::list(reader.collector, value, "`command`", like)?;
    if items.is_empty() {
        reader.collector.error("wrong-value", "`command` is empty", &value.head(), "expected a program");
        return None;
    }
    let mut words = Vec::new();
    for item in items {
        // An empty argument is allowed, if it is quoted.
        let scalar = shape::scalar(reader.collector, item, "a word of `command`", like);
        if let Some(scalar) = scalar {
            warn_of_bare_name(reader, scalar, holes);
        }
        words.push(scalar.and_then(|scalar| reader.read_template(scalar, holes)));
    }
    words.into_iter().collect()
}

/// Warns of a word that is the name of a constant or of a hole here, without braces.
fn warn_of_bare_name(reader: &mut IutReader<'_>, scalar: &Scalar, holes: &Holes) {
    let name = scalar.text.as_str();
    let mut constants = reader.iosts.into_iter().flat_map(|iosts| &iosts.constants);
    if holes.constants && constants.any(|constant| constant.name() == name) {
        let help = format!("write `\"{{{name}}}\"` for its value");
        let message = format!("`{name}` is the name of a constant, without braces");
        reader.warn("bare-name", message, &scalar.span, "given as it is", help);
    }
}

/// Reads `directory`. Without the key, it is the folder of the IUT's file.
fn read_directory(reader: &mut IutReader<'_>, entries: &[Entry]) -> Option<PathBuf> {
    let own_folder = if reader.folder.as_os_str().is_empty() { Path::new(".") } else { reader.folder };
    let Some(value) = shape::get(entries, "directory") else { return Some(own_folder.to_owned()) };
    let scalar = shape::scalar(reader.collector, value, "`directory`", "directory: .")?;
    let path = own_folder.join(&scalar.text);
    if path.is_dir() {
        return Some(path);
    }
    let message = "`directory` names no folder";
    let help = "paths are relative to the folder of this file";
    reader.collector.mistake("missing-folder", message, &scalar.span, "no such folder", help);
    None
}

impl IutReader<'_> {
    /// Reads a time in milliseconds. Without the key, or after a mistake, it is the default.
    pub fn read_ms(&mut self, entries: &[Entry], key: &str, default: u64) -> Duration {
        /// An hour.
        const MOST: u64 = 3_600_000;
        let Some(node) = shape::get(entries, key) else { return Duration::from_millis(default) };
        let number = node.as_scalar().and_then(|scalar| number::count(&scalar.text));
        if let Some(number) = number.filter(|number| *number <= MOST) {
            return Duration::from_millis(number);
        }
        let message = format!("`{key}` must be a whole number of milliseconds, at most {MOST}");
        let help = format!("the default is `{key}: {default}`");
        self.collector.mistake("wrong-value", message, &node.head(), "not such a number", help);
        Duration::from_millis(default)
    }

    /// Reads `true` or `false`. Without the key it is false.
    pub fn read_boolean(&mut self, entries: &[Entry], key: &str) -> bool {
        let Some(node) = shape::get(entries, key) else { return false };
        match node.as_scalar().map(|scalar| scalar.text.as_str()) {
            Some("true") => return true,
            Some("false") => {}
            _ => {
                let message = format!("`{key}` must be `true` or `false`");
                self.collector.error("wrong-value", message, &node.head(), "neither");
            }
        }
        false
    }
}
