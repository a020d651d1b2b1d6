//! Reads `encoding: lines`: templates of sent lines, and patterns of received lines.

use coreach_adapters::description::{BlockEnd, LinePart, Middle, Shape};
use coreach_adapters::template::Template;
use coreach_model::Type;
use coreach_model::data::Datum;
use coreach_model::diagnostic::Diagnostic;
use coreach_model::iosts::{Action, ActionKind};
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, Yaml};

use super::blocks;
use super::overlap::is_within;
use super::patterns::OBSERVATIONS;
use super::words::{Holes, IutReader, hole_text, one_or_several};

pub const STIMULI: &str = "stimuli: { Incr: \"INCRBY k {n}\" }";

/// An example of a line that is sent for an action.
pub fn stimulus_like(action: &Action) -> String {
    let holes = action.parameters.iter().map(|datum| format!(" {{{datum}}}"));
    format!("{}: \"{}{}\"", action.name, action.name.to_lowercase(), holes.collect::<String>())
}

/// An example of a line that is received for an action.
pub fn observation_like(action: &Action) -> String {
    let group = |datum: &Datum| {
        let shape = match datum.ty() {
            Type::Int | Type::Range(..) => "-?\\d+",
            Type::Nat => "\\d+",
            _ => "\\S+",
        };
        format!(" (?P<{datum}>{shape})")
    };
    let groups: String = action.parameters.iter().map(group).collect();
    format!("{}: '^{}{groups}$'", action.name, action.name.to_lowercase())
}

/// Reads `line_ending`: one to eight bytes. Without the key, it is the default.
pub fn read_line_ending(reader: &mut IutReader<'_>, entries: &[Entry], default: &str) -> String {
    let default = || default.to_owned();
    let Some(node) = shape::get(entries, "line_ending") else { return default() };
    match node.as_scalar() {
        // A key without a value has the text `null`, which is not meant as a line ending.
        Some(scalar)
            if !node.is_nothing()
                && (1..=8).contains(&scalar.text.len())
                && !scalar.text.contains('\\')
                && !["lf", "crlf", "cr"].contains(&scalar.text.to_lowercase().as_str()) =>
        {
            scalar.text.clone()
        }
        _ => {
            let message = "`line_ending` must be the one to eight bytes that end a line";
            let help = "for example `line_ending: \"\\r\\n\"`, in double quotes";
            reader.collector.mistake("wrong-value", message, &node.head(), "not such a text", help);
            default()
        }
    }
}

/// Reads the lines that are sent: one or several for each input.
pub fn read_stimuli(reader: &mut IutReader<'_>, entries: &[Entry], ending: &str) -> Vec<(String, Template)> {
    let mut stimuli = Vec::new();
    for (entry, action) in reader.action_entries(entries, "stimuli", STIMULI, ActionKind::Input) {
        let what = format!("the line of `{}`", entry.key.text);
        let nodes = one_or_several(&entry.value);
        if nodes.len() > 1 && ending.is_empty() {
            let help = "for example `line_ending: \"\\r\\n\"`";
            reader.refuse(&entry.value, "nothing ends these lines", "several lines", help);
        }
        let holes = action.as_ref().map(Holes::of);
        let mut template = |node: &Yaml| {
            let scalar = shape::scalar(reader.collector, node, &what, STIMULI)?;
            reader.template_of(scalar, holes.as_ref())
        };
        let templates: Option<Vec<Template>> = nodes.into_iter().map(&mut template).collect();
        let Some(templates) = templates else { continue };
        let template = Template::joined(templates, ending);
        if let Some(action) = &action {
            reader.warn_of_unsent(
                action,
                &template.holes().collect::<Vec<_>>(),
                &entry.value.head(),
                hole_text,
            );
        }
        stimuli.push((entry.key.text.clone(), template));
    }
    stimuli
}

/// Observations, each with the stimuli that it answers.
type AnsweredStimuli = Vec<(String, Vec<String>)>;

/// Reads the lines that are received. Also returns the inputs of those outputs that answer only some inputs.
pub fn read_observations(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
) -> (Vec<(String, Shape)>, AnsweredStimuli) {
    let (mut observations, mut answers) = (Vec::new(), Vec::new());
    let entries_with_actions =
        reader.action_entries(entries, "observations", OBSERVATIONS, ActionKind::Output);
    blocks::check_then(reader, &entries_with_actions.iter().map(|(entry, _)| *entry).collect::<Vec<_>>());
    for (entry, action) in &entries_with_actions {
        let Some(mut read) = blocks::read_lines(reader, entry) else { continue };
        // A group that counts bytes or items need not be a parameter.
        if let Some(action) = action {
            let is_parameter = |name: &str| action.parameters.iter().any(|datum| datum.name() == name);
            read.groups.retain(|(name, _)| is_parameter(name) || !read.counts.contains(name));
        }
        let groups = reader.without_captures(read.groups);
        if let Some(action) = action {
            reader.check_parameters(action, &groups, &entry.key, |name| {
                format!("name the group that finds it: `(?P<{name}>...)`")
            });
        }
        if read.to.is_some() && !reader.is_synchronous {
            let message =
                "`to` needs `link: synchronous`, which says that each answer belongs to the last stimulus";
            let help = "if the implementation sends nothing unasked, write `link: synchronous` next to `iut`";
            let label = "answers only some stimuli";
            reader.collector.mistake("wrong-value", message, &entry.key.span, label, help);
        }
        answers.extend(read.to.map(|to| (entry.key.text.clone(), to)));
        observations.push((entry.key.text.clone(), read.shape));
    }
    warn_of_short_then(reader, &entries_with_actions, &observations);
    // Over several connections, equal lines are distinguished.
    if shape::get(entries, "connections").is_none() {
        refuse_hidden(reader, &entries_with_actions, &observations, &answers);
    }
    (observations, answers)
}

/// Refuses an output of which another one in front of it takes each line: the first that fits counts, and a
/// system that sends it would be blamed for the other one.
fn refuse_hidden(
    reader: &mut IutReader<'_>,
    found: &[(&Entry, Option<Action>)],
    observations: &[(String, Shape)],
    answers: &AnsweredStimuli,
) {
    for (index, (name, shape)) in observations.iter().enumerate() {
        let takes_first = |(hiding, taking): &&(String, Shape)| {
            let is_one_line = matches!(taking, Shape::Lines(parts) if parts.len() == 1 && is_line(&parts[0]));
            let answers_some = answers.iter().any(|(answer, _)| answer == hiding);
            let (Some(first), Some(taken)) = (taking.first(), shape.first()) else { return false };
            is_one_line && !answers_some && hiding != name && is_within(taken, first)
        };
        let Some((hiding, first)) = observations[..index].iter().find(takes_first) else { continue };
        let is_same = match (first.first(), shape.first()) {
            (Some(first), Some(taken)) => is_within(first, taken),
            _ => false,
        };
        let help = match is_same {
            false => format!("the first pattern that fits counts: write `{name}` before `{hiding}`"),
            true => "they fit the same lines: with `link: synchronous`, `{ pattern: ..., to: STIMULUS }` says which \
                     stimuli each one answers"
                .to_owned(),
        };
        let place_of = |name: &String| {
            let (entry, _) = found.iter().find(|(entry, _)| entry.key.text == *name)?;
            Some(reader.collector.origin(&entry.key.span))
        };
        let message =
            format!("`{name}` is never seen: `{hiding}` comes before it, and fits each of its lines");
        let diagnostic = Diagnostic::error("hidden-observation", message)
            .at(place_of(name), "never seen")
            .at(place_of(hiding), "fits first")
            .help(help);
        reader.collector.push(diagnostic);
    }
}

/// Warns of an output after a list (`then`) that has fewer lines than a list with one item.
fn warn_of_short_then(
    reader: &mut IutReader<'_>,
    found: &[(&Entry, Option<Action>)],
    observations: &[(String, Shape)],
) {
    for (name, shape) in observations {
        let Shape::Block(block) = shape else { continue };
        let (Some(then), Middle::Each(item)) = (&block.then, &block.middle) else { continue };
        let least_lines = usize::from(block.begin.is_some())
            + item.len()
            + usize::from(matches!(block.end, BlockEnd::Mark(_)));
        let follower = observations.iter().find(|(known, _)| known == then);
        let Some((_, Shape::Lines(parts))) = follower.filter(|_| item.iter().all(is_line)) else { continue };
        if !parts.iter().all(is_line) || parts.len() >= least_lines {
            continue;
        }
        let message =
            format!("`{then}` fits {} of the lines of `{name}`, but must fit all of them", parts.len());
        let Some((entry, _)) = found.iter().find(|(entry, _)| entry.key.text == *name) else { continue };
        let help = format!(
            "the output of `then` reads the lines of the list again. Describe all of them, for example \
             `{then}: {{ lines: '^.*$', end: ... }}`"
        );
        reader.warn("short-then", message, &entry.key.span, "only an empty list is followed by it", help);
    }
}

fn is_line(part: &LinePart) -> bool {
    matches!(part, LinePart::Fitting(_))
}
