//! Which kinds of files each command takes. If a command refuses its files, and one of them is of another
//! kind, the user is told so, with the commands that take it. This replaces what the command's readers have
//! found.
//!
//! The look at the kind comes after the refusal, so a command that works reads its files once. A file whose
//! kind is not plain is left to the command.

use std::path::Path;

use coreach_model::Diagnostic;
use coreach_model::excerpt::join_words;
use coreach_model::limits::FEW_SHOWN;
use coreach_project::file_kind::FileKind::{
    self, Campaign, Configuration, Iut, Property, Purpose, Run, Specification, Store, TestCase,
};
use coreach_project::file_kind::find_kind;

use crate::outputs::{GivenPath, given_paths};

/// A command, its argument, what the help calls the two (nothing if another row says the same), and the kinds
/// of files that it takes.
type CommandFiles = (&'static str, &'static str, &'static str, &'static [FileKind]);

const MODELS: &[FileKind] = &[Specification, Configuration];
const TESTS: &[FileKind] = &[Configuration, TestCase];
const RUNS: &[FileKind] = &[Run, Store];

/// All arguments that take files of certain kinds. The files of other arguments are of any kind, or foreign.
const TAKEN: [CommandFiles; 28] = [
    ("run", "configuration", "run", &[Configuration]),
    ("show", "model", "show", &[Specification, Purpose, Property, Configuration]),
    ("compare", "configuration", "compare", &[Configuration]),
    ("explore", "model", "explore", &[Specification]),
    ("verify", "configuration", "verify", &[Configuration]),
    ("cover", "model", "cover", MODELS),
    ("test", "test", "test", TESTS),
    ("test", "iut", "test --iut", &[Iut]),
    ("test --cover", "test", "", MODELS),
    ("test --cover", "iut", "", &[Iut]),
    ("explain", "source", "explain", RUNS),
    ("replay", "source", "replay", RUNS),
    ("explain", "test", "explain --test", TESTS),
    ("replay", "test", "", TESTS),
    ("replay", "iut", "", &[Iut]),
    ("mutate", "configuration", "mutate", &[Configuration]),
    ("campaign", "configuration", "campaign", &[Campaign]),
    // The store that takes the runs may not be there yet.
    ("campaign merge", "into", "campaign merge", &[Store]),
    ("campaign merge", "from", "", &[Store]),
    ("campaign merge", "campaign", "", &[Campaign]),
    ("coverage", "files", "coverage", &[Campaign, Configuration, Store, Run]),
    ("report", "files", "report", &[Configuration, Specification, Purpose, Property, Campaign, Store, Run]),
    ("timed path", "model", "timed", MODELS),
    ("timed inputs", "model", "", MODELS),
    ("timed merge", "model", "", MODELS),
    ("timed verdict", "model", "", MODELS),
    ("timed drive", "model", "", MODELS),
    ("timed drive", "iut", "", &[Iut]),
];

/// Reports each file of a kind that the command does not take.
pub fn report_other_kinds() -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (command, argument, _, takes) in TAKEN {
        let is_of_argument = |given: &&GivenPath| given.command == command && given.argument == argument;
        for path in given_paths().iter().filter(is_of_argument).map(|given| &given.path) {
            let Some(kind) = find_kind(path).filter(|kind| !takes.contains(kind)) else { continue };
            let expected =
                join_words(&takes.iter().map(|kind| kind.name().to_owned()).collect::<Vec<_>>(), "or");
            let message = format!("expected {expected}, but this is {}: {}", kind.name(), path.display());
            let help = explain_kind(command, takes, kind, path);
            found.push(Diagnostic::error("wrong-kind-of-file", message).help(help));
        }
    }
    found
}

/// Says which commands take a file of this kind, and what this command needs in its place.
fn explain_kind(command: &str, takes: &[FileKind], kind: FileKind, path: &Path) -> String {
    let mut takers: Vec<String> = Vec::new();
    for (_, _, shown, kinds) in TAKEN {
        if !shown.is_empty() && kinds.contains(&kind) {
            takers.push(format!("`coreach {shown}`"));
        }
    }
    takers.push("`coreach check`".to_owned());
    let verb = if takers.len() == 1 { "takes" } else { "take" };
    if let Some(more) = takers.len().checked_sub(FEW_SHOWN).filter(|more| *more > 1) {
        takers.truncate(FEW_SHOWN);
        takers.push(format!("{more} others"));
    }
    let taken_by = format!("{} {verb} {}", join_words(&takers, "and"), kind.name());
    // A configuration can be made of this file.
    if takes.contains(&Configuration) && kind == Specification {
        let key = if command == "verify" { "property" } else { "purpose" };
        let write = |goal: &str| {
            format!(
                "write `specification: {}` and `{key}: {goal}` in two lines into a file coreach.yaml, and give that",
                path.display()
            )
        };
        return match find_goal() {
            Some((option, goal)) => format!("{} without `{option}`", write(&goal)),
            None => {
                let goal = format!("{}.yaml", key.to_uppercase());
                format!("{}. Without a purpose, `test --cover all` takes it; {taken_by}", write(&goal))
            }
        };
    }
    if takes.contains(&Configuration) && kind.aim().is_some() {
        let names = "a configuration names both models: `specification: a.yaml` and `purpose: b.yaml`";
        return format!("{taken_by}; {names}");
    }
    match (takes, takes[0].first_key()) {
        _ if takes == RUNS => {
            format!("`test --keep FOLDER` writes runs, and a campaign writes a store; {taken_by}")
        }
        ([wanted], Some(key)) => format!("{} begins with `{key}:` and its name; {taken_by}", wanted.name()),
        _ => taken_by,
    }
}

/// Finds the file of a purpose or a property in an option that takes its name, `--purpose goal.yaml`.
fn find_goal() -> Option<(&'static str, String)> {
    let words: Vec<String> = std::env::args_os().filter_map(|word| word.into_string().ok()).collect();
    ["--purpose", "--property"].into_iter().find_map(|option| {
        let goal = find_value(option, &words)?;
        find_kind(Path::new(goal))?.aim().map(|_| (option, goal.to_owned()))
    })
}

/// Finds the word that is given for an option, as in `--seeds 5`. `None` if no word is given.
pub fn find_value<'a>(option: &str, words: &'a [String]) -> Option<&'a str> {
    let at = words.iter().position(|word| word.split('=').next() == Some(option))?;
    words[at].split_once('=').map(|(_, value)| value).or(words.get(at + 1).map(String::as_str))
}
