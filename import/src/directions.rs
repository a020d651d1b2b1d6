//! Finds the directions of actions: input, output or internal.
//!
//! Few formats have directions. A sign at a label is one (`?coin`, `coin!`). Otherwise the user gives them:
//! `--inputs`, `--outputs`, `--internals`, where `*` stands for all names without a known direction.

use std::collections::BTreeSet;

use coreach_model::ActionKind;
use coreach_model::diagnostic::{Diagnostic, Origin, nearest};
use coreach_model::limits::FEW_SHOWN;
use coreach_model::reader::collect::{Collector, inventory};

use crate::Options;

#[derive(Debug)]
pub struct Directions<'a> {
    options: &'a Options,
    /// Names whose direction was reported as not known or contradictory.
    reported: BTreeSet<String>,
    /// The first name whose direction is not known.
    example: Option<String>,
}

/// The names that the user gives each direction, with the option.
fn user_lists(options: &Options) -> [(ActionKind, &'static str, &[String]); 3] {
    [
        (ActionKind::Input, "--inputs", &options.inputs),
        (ActionKind::Output, "--outputs", &options.outputs),
        (ActionKind::Internal, "--internals", &options.internals),
    ]
}

const ALL: &str = "*";

impl<'a> Directions<'a> {
    /// Checks the lists of the user. A name in two lists is a mistake, and so is an unknown name.
    pub fn new(collector: &mut Collector, options: &'a Options, names: &BTreeSet<&str>) -> Self {
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for (_, option, list) in user_lists(options) {
            for name in list {
                match seen.iter().find(|(known, other)| known == name && *other != option) {
                    Some((_, other)) => {
                        let message = format!("both {other} and {option} name `{name}`");
                        collector.push(Diagnostic::error("contradiction", message));
                    }
                    None => seen.push((name, option)),
                }
                if name != ALL && !names.contains(name.as_str()) {
                    let similar = nearest(name, names.iter().copied().take(1_000));
                    let help = similar.map_or_else(
                        || inventory("names", names.iter().copied()),
                        |similar| format!("did you mean `{similar}`?"),
                    );
                    let message = format!("{option} names `{name}`, but no action has this name");
                    collector.push(Diagnostic::error("unknown-name", message).help(help));
                }
            }
        }
        Directions { options, reported: BTreeSet::new(), example: None }
    }

    /// Finds a name's direction by its sign or the user's lists, at last by `*`. `None` after a mistake.
    pub fn find(
        &mut self,
        collector: &mut Collector,
        name: &str,
        sign: Option<ActionKind>,
        origin: &Origin,
    ) -> Option<ActionKind> {
        match (sign, self.find_listed(name)) {
            (Some(sign), Some((listed, option))) if sign != listed => {
                if self.reported.insert(name.to_owned()) {
                    let message = format!("the file gives `{name}` another direction than {option}");
                    let diagnostic = Diagnostic::error("contradiction", message);
                    collector.push(diagnostic.at(origin.clone(), direction_text(sign)));
                }
                None
            }
            (Some(kind), _) | (None, Some((kind, _))) => Some(kind),
            (None, None) => {
                let mut lists = user_lists(self.options).into_iter();
                if let Some((kind, ..)) = lists.find(|(.., list)| list.iter().any(|name| name == ALL)) {
                    return Some(kind);
                }
                // Findings that differ in their places only become one.
                if self.reported.insert(name.to_owned()) && self.reported.len() <= FEW_SHOWN {
                    let first = self.example.get_or_insert_with(|| name.to_owned());
                    let shown = if first.contains([',', ' ']) { format!("'{first}'") } else { first.clone() };
                    let help = format!(
                        "`--inputs {shown} --outputs '*'` says that the system receives `{first}` and sends \
                        all others; list all that it receives, with commas",
                    );
                    let message = "the directions of actions are missing: which does the system receive, and which does it send?";
                    let diagnostic = Diagnostic::error("unknown-direction", message)
                        .at(origin.clone(), format!("`{name}` has no direction"));
                    collector.push(diagnostic.help(help));
                }
                None
            }
        }
    }

    pub fn are_given(&self) -> bool {
        user_lists(self.options).into_iter().any(|(.., list)| !list.is_empty())
    }

    /// Finds the list of the user that names this action itself, and returns its direction and option. `None`
    /// if none does.
    pub fn find_listed(&self, name: &str) -> Option<(ActionKind, &'static str)> {
        let mut lists = user_lists(self.options).into_iter();
        let listed = lists.find(|(.., list)| name != ALL && list.iter().any(|known| known == name));
        listed.map(|(kind, option, _)| (kind, option))
    }
}

fn direction_text(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Input => "an input",
        ActionKind::Output | ActionKind::Quiescence => "an output",
        ActionKind::Internal => "internal",
    }
}

pub fn direction_of_sign(sign: char) -> Option<ActionKind> {
    match sign {
        '?' => Some(ActionKind::Input),
        '!' => Some(ActionKind::Output),
        _ => None,
    }
}
