//! Who does it: the system that takes an input and sends an output, or nobody that is seen.
//!
//! Few formats say it. A sign at a label does (`?coin`, `coin!`), else the user: `--inputs`, `--outputs`,
//! `--internals`, where `*` stands for all that nothing else is said of.

use std::collections::BTreeSet;

use coreach_model::ActionKind;
use coreach_model::diagnostic::{Diagnostic, Origin, nearest};
use coreach_model::reader::collect::{Collector, inventory};

use crate::Options;

#[derive(Debug)]
pub struct Directions<'a> {
    options: &'a Options,
    /// Names whose direction was asked for already and is not known.
    told: BTreeSet<String>,
}

/// The lists of the user, each with the name of its option.
fn lists(options: &Options) -> [(ActionKind, &'static str, &[String]); 3] {
    [
        (ActionKind::Input, "--inputs", &options.inputs),
        (ActionKind::Output, "--outputs", &options.outputs),
        (ActionKind::Internal, "--internals", &options.internals),
    ]
}

/// So many names without a direction are told, each for itself.
const MOST_TOLD: usize = 5;

const ALL: &str = "*";

impl<'a> Directions<'a> {
    /// What the user says; a name that is in two lists is a mistake, and so is one that nothing has.
    pub fn new(collector: &mut Collector, options: &'a Options, names: &BTreeSet<&str>) -> Self {
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for (_, option, list) in lists(options) {
            for name in list {
                match seen.iter().find(|(known, other)| known == name && *other != option) {
                    Some((_, other)) => {
                        let message = format!("`{name}` is named by {other} and by {option}");
                        collector.push(Diagnostic::error("contradiction", message));
                    }
                    None => seen.push((name, option)),
                }
                if name != ALL && !names.contains(name.as_str()) {
                    let near = nearest(name, names.iter().copied().take(1_000));
                    let help = near.map_or_else(
                        || inventory("names", names.iter().copied()),
                        |near| format!("did you mean `{near}`?"),
                    );
                    let message = format!("{option} names `{name}`, and nothing has this name");
                    collector.push(Diagnostic::error("unknown-name", message).help(help));
                }
            }
        }
        Directions { options, told: BTreeSet::new() }
    }

    /// The direction of a name, by the sign that is at it and by what the user says; `None` where that is a
    /// mistake, which has been reported.
    pub fn of(
        &mut self,
        collector: &mut Collector,
        name: &str,
        sign: Option<ActionKind>,
        origin: &Origin,
    ) -> Option<ActionKind> {
        let said = self.said(name);
        match (sign, said) {
            (Some(sign), Some((said, option))) if sign != said => {
                if self.told.insert(name.to_owned()) {
                    let message = format!("the file says another direction of `{name}` than {option}");
                    let found = Diagnostic::error("contradiction", message).at(origin.clone(), word(sign));
                    collector.push(found);
                }
                None
            }
            (Some(kind), _) | (None, Some((kind, _))) => Some(kind),
            (None, None) => {
                let rest =
                    lists(self.options).into_iter().find(|(.., list)| list.iter().any(|name| name == ALL));
                if let Some((kind, ..)) = rest {
                    return Some(kind);
                }
                let is_new = self.told.insert(name.to_owned());
                if is_new && self.told.len() == MOST_TOLD + 1 {
                    let message = "nothing says who does further ones: the system or its environment";
                    let found = Diagnostic::error("unknown-direction", message)
                        .at(origin.clone(), "the first of the others")
                        .help("`--inputs '*'` or `--outputs '*'` stands for all others");
                    collector.push(found);
                } else if is_new && self.told.len() <= MOST_TOLD {
                    let message = format!("nothing says who does `{name}`: the system or its environment");
                    let shown = if name.contains([',', ' ']) { format!("'{name}'") } else { name.to_owned() };
                    let help = format!(
                        "say it with --inputs {shown}, --outputs {shown} or --internals {shown}; `*` stands for all others"
                    );
                    let found = Diagnostic::error("unknown-direction", message)
                        .at(origin.clone(), "its direction is not known");
                    collector.push(found.help(help));
                }
                None
            }
        }
    }

    pub fn is_said(&self) -> bool {
        lists(self.options).into_iter().any(|(.., list)| !list.is_empty())
    }

    pub fn said(&self, name: &str) -> Option<(ActionKind, &'static str)> {
        let mut lists = lists(self.options).into_iter();
        let found = lists.find(|(.., list)| name != ALL && list.iter().any(|known| known == name));
        found.map(|(kind, option, _)| (kind, option))
    }
}

fn word(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Input => "an input",
        ActionKind::Output | ActionKind::Quiescence => "an output",
        ActionKind::Internal => "internal",
    }
}

pub fn of_sign(sign: char) -> Option<ActionKind> {
    match sign {
        '?' => Some(ActionKind::Input),
        '!' => Some(ActionKind::Output),
        _ => None,
    }
}
