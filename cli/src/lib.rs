//! The command line: arguments, exit codes, progress. The only place that prints.
//!
//! `coreach-project` reads and prepares what the user wrote. This crate asks for it, and tells what comes of
//! it.
//!
//! Standard output carries data: the summary, the table, the document that was asked for. Everything that is
//! said *about* the work goes to standard error.

#![allow(missing_docs, reason = "a comment that repeats a name says nothing; clap prints those of values")]

pub mod answer;
pub mod arguments;
pub mod certain_end;
pub mod commands;
pub mod console;
pub mod evidence;
pub mod execution_arguments;
pub mod exit;
pub mod files;
mod help;
pub mod horn_process;
pub mod import_arguments;
pub mod inconclusive;
pub mod keeper_process;
pub mod outputs;
mod pieces;
pub mod progress;
pub mod story;
mod table;
pub mod timed_arguments;
pub mod transcript;
pub mod write;

pub use coreach_model::visible;

use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind as ArgumentErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser};
use coreach_analyses::solver::horn;
use coreach_project::budget;
use coreach_project::file_kind::{FileKind, find_kind};

use answer::{CommandAnswer, EarlyExit};
use arguments::{Arguments, CoreachCommand};
use exit::Exit;
use files::find_value;
use horn_process::HornProcess;

/// Prints what is wrong with the arguments, or the help that they ask for.
///
/// The message repeats the arguments, and a terminal would obey some of their signs. So the arguments are
/// parsed again with every sign made visible, and that message is printed.
fn report_bad_arguments(error: clap::Error) -> Exit {
    let shown: Vec<String> = std::env::args_os()
        .map(|argument| visible::visible(&argument.to_string_lossy()).into_owned())
        .collect();
    // An argument that was no text is one now, so there may be no second error.
    let mut error = Arguments::try_parse_from(&shown).err().unwrap_or(error);
    if !error.use_stderr() {
        let written = error.print().and_then(|()| io::stdout().flush());
        // A reader that has closed the pipe has read enough.
        let lost = written.err().filter(|error| error.kind() != ErrorKind::BrokenPipe);
        return add_write_error(lost.map_or(Exit::Fine, |error| EarlyExit::from(error).print()));
    }
    let styled = |tip: &String| StyledStr::from(story::wrap(&format!("    {tip}")).trim().to_owned());
    let tips: Vec<StyledStr> = explain_bad_arguments(&mut error, &shown).iter().map(styled).collect();
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    // Nobody can be told that standard error is closed.
    let _ = error.print();
    Exit::Mistakes
}

/// Explains mistakes that clap's message does not explain, and removes clap's tips if they mislead.
fn explain_bad_arguments(error: &mut clap::Error, shown: &[String]) -> Vec<String> {
    let mut tips = Vec::new();
    let is_apart = |[option, name, _]: &&[String; 3]| option == "--constant" && !name.contains('=');
    if let Some([_, name, value]) = shown.array_windows().find(is_apart) {
        tips.push(format!("`--constant` takes one word: `--constant {name}={value}`"));
    }
    // Other tips repeat the command, in which the words must be joined.
    let shown = &join_constants(shown);
    tips.extend(explain_range(shown));
    let text = error.to_string();
    let lacks = |argument: &str| {
        error.kind() == ArgumentErrorKind::MissingRequiredArgument && text.contains(argument)
    };
    if lacks("--out <FILE>") {
        let given = shown.get(2..).unwrap_or_default().join(" ");
        tips.push(format!(
            "`--out` names the page to write: `coreach report {given} --out report.html`; give the files and folders in \
             any order"
        ));
    }
    if lacks("--iut <FILE>") {
        tips.push(
            "`--iut` names a file that says how to reach your system, for example with the lines `iut: NAME` and \
             `stdio: { command: [python3, server.py] }`"
                .to_owned(),
        );
    }
    if let Some(ContextValue::String(extra)) = error.get(ContextKind::InvalidArg).cloned() {
        // clap proposes to pass an option as a value.
        if extra.starts_with('-') {
            error.remove(ContextKind::Suggested);
        }
        if let Some(tip) = explain_option(&extra, shown) {
            error.remove(ContextKind::SuggestedArg);
            tips.push(tip);
        }
        tips.extend(explain_extra_file(&extra, shown));
    }
    tips
}

/// Explains a range of seeds or runs, as in `--seed 1..10` or `--runs 1-10`. `None` if there is none.
fn explain_range(shown: &[String]) -> Option<String> {
    let takes_number = |[option, _]: &&[String; 2]| option == "--seed" || option == "--runs";
    let [option, range] = shown.array_windows().find(takes_number)?;
    let (first, last) = range.split_once("..").or(range.split_once('-'))?;
    let (first, last) = (first.parse::<u64>().ok()?, last.trim_start_matches('=').parse::<u64>().ok()?);
    let runs = last.checked_sub(first)?.saturating_add(1);
    let seeds = format!("The seeds {first} to {last} are `--seed {first} --runs {runs}`");
    Some(format!("`{option}` takes one number. {seeds}"))
}

/// The keys of files that users take for options, each with where it belongs.
const KEYS: [(&str, &str); 2] = [
    ("within", "write `within: 5 s` into the IUT file, or give `--quiescence 5s`"),
    ("formats", "write the formats into the configuration: `output: { formats: [json, svg] }`"),
];

/// Explains an option that is not one of the given command, but of other commands or tools, or a key of a
/// file. `None` for other options.
fn explain_option(option: &str, shown: &[String]) -> Option<String> {
    let (long, program) = (option.strip_prefix("--")?, Arguments::command());
    let has_option =
        |command: &&clap::Command| command.get_arguments().any(|argument| argument.get_long() == Some(long));
    let given_command = shown.iter().skip(1).find_map(|word| program.find_subcommand(word))?;
    if has_option(&given_command) {
        return None;
    }
    let owners = program.get_subcommands().filter(|command| !command.is_hide_set()).filter(has_option);
    let owners: Vec<String> = owners.map(|command| format!("`coreach {}`", command.get_name())).collect();
    let name = given_command.get_name();
    match (name, long) {
        ("test", "seeds") if let Some(count) = find_value(option, shown) => {
            Some(format!("`--runs {count}` makes {count} runs, each with a seed of its own"))
        }
        ("test", "timeout") if let Some(time) = find_value(option, shown) => {
            Some(format!("`--quiescence {time}` says how long coreach waits for an answer"))
        }
        _ if owners.is_empty() => {
            KEYS.iter().find(|(key, _)| *key == long).map(|(_, place)| (*place).to_owned())
        }
        ("campaign", "iut") => Some("the campaign's file names its systems: `iuts: [iut.yaml]`".to_owned()),
        ("check", "iut") => {
            Some("`coreach check` takes IUT files like all others: leave `--iut` out".to_owned())
        }
        (_, "iut") => {
            let works_on =
                if name == "mutate" { "plants faults into the specification" } else { "works on files" };
            Some(format!(
                "`coreach {name}` {works_on}, and runs no system: leave `--iut` out; to test a system: `coreach test \
                 coreach.yaml --iut iut.yaml`"
            ))
        }
        _ => Some(format!("`coreach {name}` has no `{option}`; {} has it", owners.join(" or "))),
    }
}

/// Joins the words of `--constant NAME VALUE` to `--constant NAME=VALUE`.
fn join_constants(words: &[String]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for word in words {
        match joined.as_slice() {
            [.., option, name] if option == "--constant" && !name.contains('=') => {
                let whole = format!("{name}={word}");
                joined.pop();
                joined.push(whole);
            }
            _ => joined.push(word.clone()),
        }
    }
    joined
}

/// Explains where a file belongs that was given without an option. `None` for other files.
fn explain_extra_file(extra: &str, shown: &[String]) -> Option<String> {
    let words = shown.iter().skip(1).map(String::as_str);
    let iut = match find_kind(Path::new(extra))? {
        FileKind::Purpose | FileKind::Property => {
            return Some(format!(
                "a configuration names the specification and `purpose: {extra}`: give that file alone"
            ));
        }
        _ if words.clone().any(|word| word.starts_with("--iut")) => return None,
        FileKind::Iut => extra,
        // An IUT file before this one was taken for the configuration.
        FileKind::Configuration | FileKind::TestCase => {
            words.clone().find(|word| find_kind(Path::new(word)) == Some(FileKind::Iut))?
        }
        _ => return None,
    };
    let other_words: Vec<&str> = words.filter(|word| *word != iut).collect();
    Some(format!("an IUT file is given with `--iut`: `coreach {} --iut {iut}`", other_words.join(" ")))
}

/// Parses the arguments, and remembers what they say of files.
fn parse_arguments() -> Result<Arguments, clap::Error> {
    let matches = Arguments::command().try_get_matches()?;
    outputs::remember_paths(&matches);
    answer::set_format(&matches);
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut Arguments::command()))
}

/// Reads the arguments, runs the command, and prints its answer.
pub fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == keeper_process::SUBCOMMAND) {
        return keeper_process::serve().into();
    }
    let arguments = match parse_arguments() {
        Ok(arguments) => arguments,
        Err(error) => return report_bad_arguments(error).into(),
    };
    if let Some(problem) = coreach_analyses::solver::z3::version_problem() {
        console::say(&problem);
        return Exit::Environment.into();
    }
    budget::set_command_budget(budget::GivenBudget { time: arguments.time, memory: arguments.memory });
    console::set_color(arguments.color);
    if arguments.verbose {
        console::tell_what_is_done();
    }
    coreach_model::journal::listen_for_hold_ups(Box::new(|what| console::say(&format!("note: {what}"))));
    horn::provide(|| Box::new(HornProcess::this_program()));
    keeper_process::provide();
    certain_end::start();
    let result = match arguments.command {
        CoreachCommand::Init(arguments) => commands::init::init(&arguments),
        CoreachCommand::Schema(arguments) => commands::schema::schema(&arguments),
        CoreachCommand::Run(arguments) => commands::run::run(&arguments),
        CoreachCommand::Check(arguments) => commands::check::check(&arguments),
        CoreachCommand::Import(arguments) => commands::import::import(&arguments),
        CoreachCommand::Show(arguments) => commands::show::show(&arguments),
        CoreachCommand::Compare(arguments) => commands::compare::compare(&arguments),
        CoreachCommand::Explore(arguments) => commands::explore::explore(&arguments),
        CoreachCommand::Verify(arguments) => commands::verify::verify(&arguments),
        CoreachCommand::Cover(arguments) => commands::cover::cover(&arguments),
        CoreachCommand::Test(arguments) => commands::test::test(&arguments),
        CoreachCommand::Explain(arguments) => commands::explain::explain(&arguments),
        CoreachCommand::Replay(arguments) => commands::replay::replay(&arguments),
        CoreachCommand::Mutate(arguments) => commands::mutate::mutate(&arguments),
        CoreachCommand::Coverage(arguments) => commands::coverage::coverage(&arguments),
        CoreachCommand::Report(arguments) => commands::report::report(&arguments),
        CoreachCommand::Timed(arguments) => commands::timed::timed(&arguments),
        CoreachCommand::HornClauses { parent } => horn_process::answer_question(parent)
            .map(|exit| CommandAnswer::of_text(exit, ""))
            .map_err(EarlyExit::from),
        CoreachCommand::Campaign(arguments) => commands::campaign::campaign(&arguments),
        CoreachCommand::Completions(arguments) => commands::completions::completions(&arguments),
        CoreachCommand::Man(arguments) => commands::man::man(&arguments),
    };
    let exit = result.map_or_else(|early| early.print(), CommandAnswer::print);
    certain_end::end_command(add_write_error(exit).code()).into()
}

/// Adds a failure of standard output to the exit code of the command, and reports the failure.
fn add_write_error(exit: Exit) -> Exit {
    let Some(error) = console::take_write_error() else { return exit };
    console::say(&format!("error: cannot write to standard output: {error}"));
    exit.and(Exit::Environment)
}
