//! Which kinds of files each command takes. If a command refuses its files, and one of them is of another
//! kind, the user is told so, with the commands that take it. This replaces what the command's readers have
//! found.
//!
//! The look at the kind comes after the refusal, so a command that works reads its files once. A file whose
//! kind is not plain is left to the command.

use std::path::Path;

use coreach_model::Diagnostic;
use coreach_project::file_kind::FileKind::{
    self, Campaign, Configuration, Iut, Property, Purpose, Run, Specification, Store, TestCase,
};
use coreach_project::file_kind::find_kind;

use crate::outputs::given_paths;

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

/// The most commands that a message names.
const MOST_NAMED: usize = 3;

/// Reports each file of a kind that the command does not take.
pub fn report_other_kinds() -> Vec<Diagnostic> {
    let files = TAKEN.iter().flat_map(|(command, argument, _, takes)| {
        let given =
            given_paths().iter().filter(|given| given.command == *command && given.argument == *argument);
        given.map(move |given| (*command, &given.path, *takes))
    });
    let mut found = Vec::new();
    for (command, path, takes) in files {
        let Some(kind) = find_kind(path).filter(|kind| !takes.contains(kind)) else { continue };
        let message = format!(
            "expected {}, but this is {}: {}",
            join_words(takes.iter().map(|kind| kind.name().to_owned()), "or"),
            kind.name(),
            path.display()
        );
        let mut taking: Vec<String> = Vec::new();
        for (_, _, shown, kinds) in TAKEN {
            if !shown.is_empty() && kinds.contains(&kind) {
                taking.push(format!("`coreach {shown}`"));
            }
        }
        taking.push("`coreach check`".to_owned());
        let verb = if taking.len() == 1 { "takes" } else { "take" };
        if let Some(more) = taking.len().checked_sub(MOST_NAMED).filter(|more| *more > 1) {
            taking.truncate(MOST_NAMED);
            taking.push(format!("{more} others"));
        }
        let mut help = format!("{} {verb} {}", join_words(taking.into_iter(), "and"), kind.name());
        let path = path.display();
        if takes.contains(&Configuration) && kind == Specification {
            let key = if command == "verify" { "property" } else { "purpose" };
            let given_goal = find_goal();
            let goal = match &given_goal {
                Some((_, goal)) => goal.clone(),
                None => format!("{}.yaml", key.to_uppercase()),
            };
            let remedy = format!(
                "write `specification: {path}` and `{key}: {goal}` in two lines into a file coreach.yaml, and give that"
            );
            help = match given_goal {
                Some((option, _)) => format!("{remedy} without `{option}`"),
                None => format!("{remedy}. Without a purpose, `test --cover all` takes it; {help}"),
            };
        } else if takes.contains(&Configuration) && kind.aim().is_some() {
            help += "; a configuration names both models: `specification: a.yaml` and `purpose: b.yaml`";
        } else if takes == RUNS {
            help = format!("`test --keep FOLDER` writes runs, and a campaign writes a store; {help}");
        } else if let ([wanted], Some(key)) = (takes, takes[0].first_key()) {
            help = format!("{} begins with `{key}:` and its name; {help}", wanted.name());
        }
        found.push(Diagnostic::error("wrong-kind-of-file", message).help(help));
    }
    found
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

/// `a, b or c`
pub fn join_words(words: impl Iterator<Item = String>, last: &str) -> String {
    let words: Vec<String> = words.collect();
    match words.split_last() {
        Some((end, begin)) if !begin.is_empty() => format!("{} {last} {end}", begin.join(", ")),
        _ => words.concat(),
    }
}
