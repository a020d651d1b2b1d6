//! Reads parts that all sections of an IUT's file share: texts with holes, names of actions and parameters.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use coreach_adapters::description::{Spelling, Spelt, Unmatched};
use coreach_adapters::encoding::TextEncoding;
use coreach_adapters::fields::ELEMENT;
use coreach_adapters::template::{Function, Template, TemplateError, Wrong};
use coreach_model::data::Datum;
use coreach_model::diagnostic::Diagnostic;
use coreach_model::iosts::{Action, ActionKind, Iosts};
use coreach_model::reader::collect::{Collector, inventory, listed};
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, NodeKind, Scalar, Yaml};
use coreach_model::types::RecordForm;
use coreach_model::{Type, Value, codec};
use serde_json::Value as Json;

use super::locations::NameableLocations;
use crate::budget::parse_time;

pub type ParameterPlaces = Vec<(String, Range<usize>)>;

/// A capture whose name may be used in templates.
#[derive(Clone, Debug)]
pub struct DeclaredCapture {
    pub name: String,
    pub place: Range<usize>,
    /// Was a group or a field of this name seen?
    pub is_found: bool,
}

/// Reads the parts of an IUT's file. `None` means a mistake, which was reported, if nothing else is said.
pub struct IutReader<'a> {
    pub collector: &'a mut Collector,
    pub folder: &'a Path,
    /// The model to check against, if there is one.
    pub iosts: Option<&'a Iosts>,
    /// The locations that may be named, if they are known.
    pub locations: Option<&'a NameableLocations>,
    /// Actions that `on_close` and `reconnect` name, so that the sections do not describe them.
    pub apart: Vec<String>,
    /// The names of the connections, if there are several.
    pub connections: Vec<String>,
    /// The captures, after they were read.
    pub captures: Vec<DeclaredCapture>,
    /// How values are written in bodies.
    pub spelling: Spelling,
    /// Does each answer belong to the stimulus before it?
    pub is_synchronous: bool,
    /// May a capture be a part of a response of HTTP?
    pub has_answers: bool,
}

/// The names that the holes of a text may have.
pub struct Holes {
    /// Names that belong to a launch: a port, a folder.
    launched: &'static [&'static str],
    pub constants: bool,
    captures: bool,
    /// Other names: the parameters of an action, the groups of a pattern.
    pub names: Vec<String>,
    action: Option<String>,
}

impl Holes {
    pub fn none() -> Self {
        Holes { launched: &[], constants: false, captures: false, names: Vec::new(), action: None }
    }

    pub fn constants() -> Self {
        Holes { constants: true, ..Holes::none() }
    }

    pub fn with_port(self) -> Self {
        Holes { launched: &["port"], ..self }
    }

    pub fn with_folder(self) -> Self {
        Holes { launched: &["tmp"], ..self }
    }

    pub fn with_server(self) -> Self {
        Holes { launched: &["port", "tmp"], ..self }
    }

    /// The names that a run knows before its first stimulus: constants and captures.
    pub fn constants_and_captures() -> Self {
        Holes { captures: true, ..Holes::constants() }
    }

    pub fn with_names(self, names: Vec<String>) -> Self {
        Holes { names, ..self }
    }

    /// The parameters of an action, constants and captures.
    pub fn of(action: &Action) -> Self {
        let names = action.parameters.iter().map(|datum| datum.name().to_owned()).collect();
        Holes { action: Some(action.name.clone()), ..Holes::constants_and_captures().with_names(names) }
    }
}

/// The items of a list that is not empty. Any other node is the only item.
pub fn one_or_several(node: &Yaml) -> Vec<&Yaml> {
    match &node.kind {
        NodeKind::Sequence(items) if !items.is_empty() => items.iter().map(|item| &**item).collect(),
        _ => vec![node],
    }
}

/// Reads a node, if it is there. The outer `None` is a mistake, the inner one no node.
pub fn read_optional<T>(node: Option<&Yaml>, read: impl FnOnce(&Yaml) -> Option<T>) -> Option<Option<T>> {
    match node {
        Some(node) => read(node).map(Some),
        None => Some(None),
    }
}

pub fn hole_text(name: &str) -> String {
    format!("write `{{{name}}}` where its value belongs")
}

impl<'a> IutReader<'a> {
    pub fn new(collector: &'a mut Collector, folder: &'a Path, iosts: Option<&'a Iosts>) -> Self {
        IutReader {
            collector,
            folder,
            iosts,
            locations: None,
            apart: Vec::new(),
            connections: Vec::new(),
            captures: Vec::new(),
            spelling: Spelling::default(),
            is_synchronous: false,
            has_answers: false,
        }
    }
}

impl IutReader<'_> {
    /// Names the line of a place: `iut.yaml:2`.
    pub fn line_of(&self, span: &Range<usize>) -> String {
        self.collector.origin(span).file_and_line()
    }

    pub fn read_template(&mut self, scalar: &Scalar, holes: &Holes) -> Option<Template> {
        self.template_of(scalar, Some(holes))
    }

    /// Reads a template. Without `holes`, its holes may have any names.
    pub fn template_of(&mut self, scalar: &Scalar, holes: Option<&Holes>) -> Option<Template> {
        if scalar.text.contains(['\n', '\0']) {
            let lines: Vec<String> = scalar.text.lines().map(|line| format!("{line:?}")).collect();
            let help = format!("write several lines as a list: `[{}]`", lines.join(", "));
            let message = "a template must be one line";
            self.collector.mistake("wrong-value", message, &scalar.span, "more than one line", help);
            return None;
        }
        let parsed = Template::parse(&scalar.text);
        let template = parsed.map_err(|error| self.report_bad_template(scalar, &error)).ok()?;
        // `${name}`, as in a shell
        let dollar =
            template.holes().find_map(|name| Some((name, scalar.text.find(&format!("${{{name}}}"))?)));
        if let Some((name, at)) = dollar {
            let help = format!("for the value alone write `{{{name}}}`");
            let message = format!("`$` before `{{{name}}}` is sent, too");
            self.warn("shell-variable", message, &scalar.place(&(at..at + 1)), "part of the message", help);
        }
        self.check_holes(scalar, &template, holes).then_some(template)
    }

    pub fn read_body(&mut self, scalar: &Scalar, holes: Option<&Holes>) -> Option<Template> {
        let parsed = Template::parse_body(&scalar.text);
        let template = parsed.map_err(|error| self.report_bad_template(scalar, &error)).ok()?;
        self.warn_of_doubled_braces(scalar, &template);
        self.warn_of_missing_quotes(scalar, &template);
        self.check_holes(scalar, &template, holes).then_some(template)
    }

    /// Warns of a body that becomes JSON if its braces are written once.
    fn warn_of_doubled_braces(&mut self, scalar: &Scalar, template: &Template) {
        let body = fill_with_digits(template, "");
        let with_single_braces = |text: &String| text.replace("{{", "{").replace("}}", "}");
        if is_json(&body) || !is_json(&body.as_ref().map(with_single_braces)) {
            return;
        }
        let message = "this body has two braces where JSON has one";
        let help = "in a body, write braces once: `{` and `}`";
        self.warn("doubled-braces", message, &scalar.span, "sent with two braces", help);
    }

    /// Warns of a hole for a text that is without quotes in JSON. With digits in it, the body is JSON even if
    /// quotes are missing. With a letter or a quote in it, it is not.
    fn warn_of_missing_quotes(&mut self, scalar: &Scalar, template: &Template) {
        if !is_json(&fill_with_digits(template, "")) {
            return;
        }
        let Some(iosts) = self.iosts else { return };
        let type_of = |name: &str| {
            let mut data = iosts.actions.iter().flat_map(|action| &action.parameters).chain(&iosts.constants);
            data.find(|datum| datum.name() == name).map(Datum::ty)
        };
        // The body with this text in the holes of one name, as functions write it, and digits in others.
        let fill_holes = |name: &str, text: &str| {
            template.fill(|hole| Some(if hole == name { text } else { "1" }.to_owned())).ok()
        };
        let is_wrong = |name: &&str| match type_of(name) {
            Some(Type::String) => {
                // An encoded text has no quotes in it.
                let is_encoded = matches!(self.spelling.of(name), Some(Spelt::Encoded(_)));
                !is_json(&fill_holes(name, if is_encoded { "a" } else { "\"" }))
            }
            Some(Type::Id(_)) => !is_json(&fill_with_digits(template, name)),
            Some(Type::Enum(named)) => named.literals.iter().any(|literal| {
                let written =
                    self.spelling.of(name).map_or(vec![literal.clone()], |spelt| spelt.wire_texts(literal));
                written.first().is_some_and(|text| !is_json(&fill_holes(name, text)))
            }),
            _ => false,
        };
        let Some(name) = template.holes().find(is_wrong) else { return };
        let message = match is_json(&fill_with_digits(template, name)) {
            true => format!("a quote in the text `{{{name}}}` would end it in this JSON"),
            false => format!("`{{{name}}}` is a text, but has no quotes in this JSON"),
        };
        let help = format!("write `{{json({name})}}`, without quotes around it");
        let label = "JSON puts quotes around a text, and `\\` before each in it";
        self.warn("missing-quotes", message, &scalar.span, label, help);
    }

    fn report_bad_template(&mut self, scalar: &Scalar, error: &TemplateError) {
        let functions = || Function::ALL.into_iter().map(Function::name);
        let (code, help) = match &error.wrong {
            Wrong::Braces(_) => {
                let help = "write `{name}` for a value, and `{{` or `}}` for a brace itself";
                ("bad-template", help.to_owned())
            }
            Wrong::Function(name) => {
                ("unknown-function", self.collector.suggest(name, "functions", functions))
            }
            Wrong::Arity(function, _) | Wrong::Argument(function) => {
                ("wrong-arity", format!("for example `{{{}(name)}}`", function.name()))
            }
        };
        self.collector.mistake(code, error.to_string(), &scalar.place(&error.at), "here", help);
    }

    /// Reports holes that nothing fills, or that mean two things: false. Without `holes`, all are right.
    fn check_holes(&mut self, scalar: &Scalar, template: &Template, holes: Option<&Holes>) -> bool {
        let Some(allowed) = holes else { return true };
        let constants: Vec<String> = match self.iosts {
            Some(iosts) if allowed.constants => {
                iosts.constants.iter().map(|datum| datum.name().to_owned()).collect()
            }
            _ => Vec::new(),
        };
        let capture_names = self.captures.iter().filter(|_| allowed.captures);
        let capture_names: Vec<String> = capture_names.map(|capture| capture.name.clone()).collect();
        let own_names = allowed.names.iter().chain(&constants).chain(&capture_names).map(String::as_str);
        let known_names: Vec<&str> = own_names.chain(allowed.launched.iter().copied()).collect();
        let mut are_right = true;
        for hole in template.holes() {
            if allowed.launched.contains(&hole) && constants.iter().any(|constant| constant == hole) {
                are_right = false;
                let message =
                    format!("`{{{hole}}}` has a meaning of its own here, but a constant has this name, too");
                let help = "give the constant another name";
                self.collector.mistake("two-meanings", message, &scalar.span, "two meanings", help);
                continue;
            }
            // Without a model, a constant may have any name.
            if known_names.contains(&hole) || (allowed.constants && self.iosts.is_none()) {
                continue;
            }
            are_right = false;
            if self.iosts.is_some_and(|iosts| iosts.constants.iter().any(|datum| datum.name() == hole)) {
                let message = format!("the constant `{hole}` cannot stand here");
                let help =
                    "this text is the same for all runs, and a constant can change: write a value here";
                self.collector.mistake("unknown-parameter", message, &scalar.span, "a constant", help);
                continue;
            }
            let message = match &allowed.action {
                Some(action) => format!("`{action}` has no parameter `{hole}`"),
                None => format!("nothing here is called `{hole}`"),
            };
            let help = self.explain_unknown_hole(hole, &known_names, allowed);
            let spelling = [format!("{{{hole}}}"), format!("({hole})")];
            let place = spelling
                .iter()
                .find_map(|spelling| Some((scalar.text.find(spelling)?, spelling.len())))
                .map_or(scalar.span.clone(), |(at, length)| scalar.place(&(at..at + length)));
            self.collector.mistake("unknown-parameter", message, &place, "not known", help);
        }
        are_right
    }

    /// Says what may stand in place of a hole that has none of the known names.
    fn explain_unknown_hole(&self, hole: &str, known_names: &[&str], allowed: &Holes) -> String {
        match self.collector.nearest(hole, known_names.iter().copied()) {
            Some(nearest_name) => format!("did you mean `{{{nearest_name}}}`?"),
            None if known_names.is_empty() => {
                "no value can stand for `{...}` here: write `{{` or `}}` for a brace itself".to_owned()
            }
            None if allowed.captures && self.captures.is_empty() => match self.has_answers {
                true => format!(
                    "if an answer has it, write `captures: {{ {hole}: {{ pointer: /{hole} }} }}`, with its place in the body"
                ),
                false => format!(
                    "if a message has it, write `captures: {{ {hole}: {{}} }}`, and a group `(?P<{hole}>.+)` in its pattern"
                ),
            },
            None => inventory("names that you can use here", known_names.iter().copied()),
        }
    }

    /// Reads a section that has an entry for each action of a kind. Reports unknown actions, and actions of
    /// another kind. Returns the other entries, each with the model's action, if there is a model.
    pub fn action_entries<'e>(
        &mut self,
        sections: &'e [Entry],
        key: &str,
        example: &str,
        kind: ActionKind,
    ) -> Vec<(&'e Entry, Option<Action>)> {
        let Some(node) = shape::get(sections, key) else { return Vec::new() };
        let entries = shape::mapping(self.collector, node, &format!("`{key}`"), example).unwrap_or(&[]);
        shape::check_distinct(self.collector, entries, "duplicate-key", "action");
        let mut described = Vec::new();
        let (opposite_section, opposite) = opposite_of(kind);
        // The entries of the other section, if that one is swapped, too.
        let opposites = shape::get(sections, opposite_section).and_then(|node| match &node.kind {
            NodeKind::Mapping(opposites) if self.is_swapped(opposites, opposite) => {
                Some(opposites.as_slice())
            }
            NodeKind::Mapping(_) | NodeKind::Sequence(_) | NodeKind::Scalar(_) => None,
        });
        // A single wrong entry may be a slip.
        if self.is_swapped(entries, kind) && (entries.len() > 1 || opposites.is_some()) {
            match opposites {
                None => self.report_opposite_section(key, entries, kind),
                Some(opposites) if kind == ActionKind::Input => self.report_swapped(key, entries, opposites),
                // Both sections are reported once, when `stimuli` is read.
                Some(_) => {}
            }
            return described;
        }
        for entry in shape::first_entries(entries) {
            if self.apart.contains(&entry.key.text) {
                let name = &entry.key.text;
                let message = format!("`{name}` is written here, and also as `on_close` or `reconnect`");
                let help = "leave it out at one of these places";
                self.collector.mistake("two-ways", message, &entry.key.span, "a second way", help);
                continue;
            }
            let Some(iosts) = self.iosts else {
                described.push((entry, None));
                continue;
            };
            let name = entry.key.text.as_str();
            match iosts.actions.iter().find(|action| action.name == name) {
                Some(action) if action.kind == kind => described.push((entry, Some(action.clone()))),
                _ => self.report_action(name, &entry.key.span, kind),
            }
        }
        described
    }

    /// Reports a section whose actions are all of the opposite kind.
    fn report_opposite_section(&mut self, key: &str, entries: &[Entry], kind: ActionKind) {
        let (plural, role) = match kind {
            ActionKind::Input => ("outputs", "coreach sends"),
            _ => ("inputs", "the implementation sends"),
        };
        let message = format!("`{key}` has {plural} of the model only");
        let help = format!(
            "`{key}` is what {role}. An input of a model is what the implementation receives, and an output is what it \
             sends"
        );
        self.collector.mistake("wrong-direction", message, &entries[0].key.span, "the first of them", help);
    }

    /// Reports that `stimuli` has the outputs, and `observations` the inputs. The texts show whether the
    /// mistake is here or in the model.
    fn report_swapped(&mut self, key: &str, entries: &[Entry], opposites: &[Entry]) {
        let (opposite_section, _) = opposite_of(ActionKind::Input);
        let here = format!("`{key}` and `{opposite_section}`");
        let step = self.iosts.and_then(|iosts| iosts.transitions.first());
        let model = step.and_then(|step| step.origin.whole.as_ref());
        let model = model.and_then(|origin| Path::new(&origin.file.name).file_name()?.to_str());
        let model = model.unwrap_or("the model");
        let looks_sent = |entries| looks_received(entries).map(|is_received| !is_received);
        let first = &entries[0].key.text;
        let (message, help) = match looks_received(entries).or_else(|| looks_sent(opposites)) {
            Some(false) => (
                format!("`inputs` and `outputs` seem to be swapped in {model}"),
                format!("write `outputs` for `inputs` in {model}, and `inputs` for `outputs`"),
            ),
            Some(true) => (
                format!("{here} seem to be swapped here"),
                format!("write `{opposite_section}` for `{key}` here, and `{key}` for `{opposite_section}`"),
            ),
            None => (
                format!("{here} are swapped here, or `inputs` and `outputs` in {model}"),
                format!(
                    "if the implementation receives `{first}`, swap the two words in {model}, otherwise swap those here"
                ),
            ),
        };
        let diagnostic = Diagnostic::error("wrong-direction", message)
            .at(self.collector.origin(&entries[0].key.span), "an output of the model")
            .at(self.collector.origin(&opposites[0].key.span), "an input of the model")
            .help(help);
        self.collector.push(diagnostic);
    }

    /// Are all entries actions of the opposite kind?
    fn is_swapped(&self, entries: &[Entry], kind: ActionKind) -> bool {
        let is_opposite = |entry: &Entry| {
            let action = self.iosts?.actions.iter().find(|action| action.name == entry.key.text)?;
            Some(action.kind != kind && matches!(action.kind, ActionKind::Input | ActionKind::Output))
        };
        !entries.is_empty() && entries.iter().all(|entry| is_opposite(entry) == Some(true))
    }

    /// Reports an action that is unknown, or of another kind.
    pub fn report_action(&mut self, name: &str, place: &Range<usize>, kind: ActionKind) {
        let Some(iosts) = self.iosts else { return };
        if let Some(action) = iosts.actions.iter().find(|action| action.name == name) {
            let (what, help) = match action.kind {
                ActionKind::Input => ("an input", "write the messages that coreach sends under `stimuli`"),
                ActionKind::Output => {
                    ("an output", "write the messages that the implementation sends under `observations`")
                }
                // Only suspended specifications have it, and no implementation's file is for these.
                ActionKind::Quiescence => ("quiescence", "no message stands for it: remove it"),
                ActionKind::Internal => ("an internal action", "no message stands for it: remove this entry"),
            };
            let message = format!("`{name}` is {what} of the model");
            self.collector.mistake("wrong-direction", message, place, "not here", help);
            return;
        }
        self.report_unknown_action(name, place, kind_plural(kind), |action| action.kind == kind);
    }

    /// Reports a name that no action has. The help looks for the action that is meant among the possible
    /// ones, which `plural` names.
    pub fn report_unknown_action(
        &mut self,
        name: &str,
        place: &Range<usize>,
        plural: &str,
        is_possible: impl Fn(&Action) -> bool,
    ) {
        let Some(iosts) = self.iosts else { return };
        let possible = || iosts.actions.iter().filter(|action| is_possible(action));
        let names = || possible().map(|action| action.name.as_str());
        let help = self.collector.suggest(name, plural, names);
        let label = "the model has no such action";
        self.collector.mistake("unknown-action", format!("unknown action `{name}`"), place, label, help);
    }

    /// Reports the actions that the section lacks: inputs that a transition needs, and all outputs.
    pub fn check_complete(
        &mut self,
        entries: &[Entry],
        node: &Yaml,
        key: &str,
        of: &str,
        kind: ActionKind,
        like: (&str, &dyn Fn(&Action) -> String),
    ) {
        let Some(iosts) = self.iosts else { return };
        let (section_like, action_like) = like;
        let section = entries.iter().find(|entry| entry.key.text == key);
        let written: &[Entry] = match section.map(|entry| &entry.value.kind) {
            Some(NodeKind::Mapping(entries)) => entries,
            // The section is not a mapping, which has been reported.
            Some(NodeKind::Sequence(_)) => return,
            _ => &[],
        };
        if self.is_swapped(written, kind) {
            return;
        }
        let written: Vec<&str> = written.iter().map(|entry| entry.key.text.as_str()).collect();
        let is_used = |name: &str| {
            kind == ActionKind::Output
                || iosts.transitions.iter().any(|transition| iosts.action(transition.action).name == name)
        };
        let missing: Vec<&str> = iosts
            .actions
            .iter()
            .filter(|action| action.kind == kind)
            .map(|action| action.name.as_str())
            .filter(|name| !written.contains(name) && is_used(name))
            .filter(|name| !self.apart.iter().any(|apart| apart == name))
            // A misspelt action is not reported as missing, too.
            .filter(|name| {
                let is_known = |other: &str| iosts.actions.iter().any(|action| action.name == other);
                let is_misspelt_name =
                    |other: &&str| !is_known(other) && self.collector.nearest(other, [*name]).is_some();
                !written.iter().any(is_misspelt_name)
            })
            .collect();
        if missing.is_empty() {
            return;
        }
        let Some(section) = section else {
            shape::missing_key(self.collector, node, key, of, section_like);
            return;
        };
        let label =
            if missing.len() == 1 { "the missing one belongs here" } else { "the missing ones belong here" };
        let message = format!("`{key}` has nothing for {}", listed(missing.iter().copied()));
        let first = iosts.actions.iter().find(|action| action.name == missing[0]);
        let help = first.map_or_else(String::new, |action| format!("for example `{}`", action_like(action)));
        self.collector.mistake("missing-action", message, &section.key.span, label, help);
    }

    /// Reports unknown and missing parameters of an action. `how` says how a value is found.
    pub fn check_parameters(
        &mut self,
        action: &Action,
        written: &[(String, Range<usize>)],
        whole: &Scalar,
        how: impl Fn(&str) -> String,
    ) {
        let known = || action.parameters.iter().map(Datum::name);
        for (name, place) in written {
            if known().any(|parameter| parameter == name) {
                continue;
            }
            let help = self.collector.suggest(name, &format!("parameters of `{}`", action.name), known);
            let message = format!("`{}` has no parameter `{name}`", action.name);
            self.collector.mistake("unknown-parameter", message, place, "not known", help);
        }
        let missing: Vec<&str> =
            known().filter(|parameter| !written.iter().any(|(name, _)| name == parameter)).collect();
        if !missing.is_empty() {
            let message = format!("`{}` needs a value for {}", action.name, listed(missing.iter().copied()));
            let label = "it is missing here";
            self.collector.mistake("missing-parameter", message, &whole.span, label, how(missing[0]));
        }
    }

    /// Warns of parameters that are not sent. `how` says how a parameter is sent.
    pub fn warn_of_unsent(
        &mut self,
        action: &Action,
        sent: &[&str],
        place: &Range<usize>,
        how: impl Fn(&str) -> String,
    ) {
        let unsent: Vec<&str> =
            action.parameters.iter().map(Datum::name).filter(|name| !sent.contains(name)).collect();
        if unsent.is_empty() {
            return;
        }
        let message =
            format!("coreach does not send {} of `{}`", listed(unsent.iter().copied()), action.name);
        self.warn("unsent-parameter", message, place, "it has no value here", how(unsent[0]));
    }

    /// Reads the mapping of a key. Each of its keys, a `what`, comes once. Without the key it is empty.
    pub fn read_entries<'e>(
        &mut self,
        entries: &'e [Entry],
        key: &str,
        what: &str,
        like: &str,
    ) -> Vec<&'e Entry> {
        let Some(node) = shape::get(entries, key) else { return Vec::new() };
        let entries = shape::mapping(self.collector, node, &format!("`{key}`"), like).unwrap_or(&[]);
        shape::check_distinct(self.collector, entries, "duplicate-key", what);
        shape::first_entries(entries)
    }

    /// Reads the texts for the values of a parameter, each with the value that it stands for.
    fn read_spelt_texts(
        &mut self,
        parameter: &str,
        types: &[Type],
        pairs: &[Entry],
    ) -> Vec<(String, String)> {
        let mut spelt: Vec<(String, String)> = Vec::new();
        let is_value = |text: &str| types.iter().all(|ty| codec::from_text(text, ty).is_ok());
        let turned = pairs.iter().map(|pair| {
            let text = &pair.value.as_scalar()?.text;
            (is_value(&pair.key.text) && !is_value(text)).then(|| format!("{text}: {}", pair.key.text))
        });
        // If all pairs are turned round, that is reported once.
        if let (Some(turned), [first, ..]) = (turned.collect::<Option<Vec<_>>>(), pairs) {
            let message = format!("`{}` is a value of `{parameter}`, and stands on the left", first.key.text);
            let turned = turned.join(", ");
            let help = format!("the text of the system stands on the left: `{parameter}: {{ {turned} }}`");
            self.collector.mistake("wrong-value", message, &first.key.span, "turned round", help);
            return spelt;
        }
        for pair in shape::first_entries(pairs) {
            if pair.key.text.contains(['\n', '\r', '\0']) {
                let message = "a text on the wire is one line";
                self.collector.error("wrong-value", message, &pair.key.span, "more than one line");
                continue;
            }
            let Some(literal) = shape::scalar(self.collector, &pair.value, "a value", VALUES_EXAMPLE) else {
                continue;
            };
            let values: Result<Vec<Value>, _> =
                types.iter().map(|ty| codec::from_text(&literal.text, ty)).collect();
            let literal_text = match values.as_deref() {
                Ok([]) => literal.text.clone(),
                Ok([value, ..]) => codec::to_text(value),
                Err(why) => {
                    let label = format!("not a value of `{parameter}`");
                    self.collector.error("wrong-value", why.to_string(), &literal.span, label);
                    continue;
                }
            };
            if let Some((first_text, _)) = spelt.iter().find(|(_, literal)| *literal == literal_text) {
                let message = format!("two texts stand for `{literal_text}`");
                let help = format!("coreach understands both, and sends `{first_text}`");
                self.warn("duplicate-value", message, &pair.key.span, "the second one", help);
            }
            spelt.push((pair.key.text.clone(), literal_text));
        }
        spelt
    }

    /// Reads `values`: how single values are written on the wire. If `with_parts`, parts of lists, too.
    pub fn read_spelling(&mut self, entries: &[Entry], with_parts: bool) -> Spelling {
        let mut spelling = Vec::new();
        for entry in self.read_entries(entries, "values", "parameter", VALUES_EXAMPLE) {
            let parameter = entry.key.text.as_str();
            let types = self.find_types_in(&entry.key, with_parts);
            if types.is_empty() && self.iosts.is_some() {
                continue;
            }
            if let Some(word) = entry.value.as_scalar().filter(|_| !entry.value.is_nothing()) {
                match TextEncoding::named(&word.text) {
                    Some(encoding) => spelling.push((parameter.to_owned(), Spelt::Encoded(encoding))),
                    None => {
                        let names = || TextEncoding::ALL.into_iter().map(TextEncoding::name);
                        let help = self.collector.suggest(&word.text, "encodings", names);
                        let message = format!("there is no encoding `{}`", word.text);
                        self.collector.mistake("wrong-value", message, &word.span, "not known", help);
                    }
                }
                continue;
            }
            let what = format!("`{parameter}`");
            let pairs = shape::mapping(self.collector, &entry.value, &what, VALUES_EXAMPLE).unwrap_or(&[]);
            shape::check_distinct(self.collector, pairs, "duplicate-key", "text");
            let errors_before = self.collector.errors();
            let spelt = self.read_spelt_texts(parameter, &types, pairs);
            if self.collector.errors() == errors_before {
                self.warn_of_unspelt(&entry.key, &types, &spelt);
            }
            spelling.push((parameter.to_owned(), Spelt::Texts(spelt)));
        }
        Spelling(spelling)
    }

    /// Finds the types of all parameters of this name. Reports a name that no action of the model has. If
    /// there are several types, a value must be of each. If `with_parts`, the name may be that of a part of a
    /// list's elements: `pItems.kind`, `pIds.element`.
    pub fn find_types_in(&mut self, parameter: &Scalar, with_parts: bool) -> Vec<Type> {
        let Some(iosts) = self.iosts else { return Vec::new() };
        let data = || iosts.actions.iter().flat_map(|action| &action.parameters);
        let (name, part) = match parameter.text.split_once('.').filter(|_| with_parts) {
            Some((name, part)) => (name, Some(part)),
            None => (parameter.text.as_str(), None),
        };
        let mut types: Vec<Type> = Vec::new();
        for datum in data().filter(|datum| datum.name() == name) {
            let ty = part.map_or(Some(datum.ty()), |part| part_type(datum.ty(), part));
            if let Some(ty) = ty.filter(|ty| !types.contains(ty)) {
                types.push(ty.clone());
            }
        }
        if types.is_empty() {
            let help = self.collector.nearest(&parameter.text, data().map(Datum::name));
            let help = help.map(|nearest_name| format!("did you mean `{nearest_name}`?"));
            // Where no part may be named, its whole parameter is meant.
            let named_part = parameter.text.split_once('.').filter(|_| !with_parts);
            let whole = named_part.and_then(|(name, _)| data().find(|datum| datum.name() == name));
            let help = whole.map(|whole| describe_sample(whole.name(), whole.ty())).or(help);
            let message = format!("no action has a parameter `{}`", parameter.text);
            let diagnostic = Diagnostic::error("unknown-parameter", message)
                .at(self.collector.origin(&parameter.span), "not known");
            self.collector.push(Diagnostic { help, ..diagnostic });
        }
        types
    }

    /// Warns of values without a text: they can neither be sent nor understood.
    fn warn_of_unspelt(&mut self, parameter: &Scalar, types: &[Type], spelt: &[(String, String)]) {
        /// The most values of a type that are listed. Those of larger types are only counted.
        const MOST: usize = 100;
        let texts: BTreeSet<&str> = spelt.iter().map(|(_, literal)| literal.as_str()).collect();
        let is_large = |ty: &&Type| ty.cardinality().is_none_or(|values| values > MOST.max(texts.len()));
        if let Some(ty) = types.iter().find(is_large) {
            let message =
                format!("`{}` has texts for only {} of the values of {ty}", parameter.text, texts.len());
            self.warn_of_missing_values(parameter, message);
            return;
        }
        let values = types.iter().filter_map(|ty| Value::enumerate(ty, MOST)).flatten();
        let mut missing: Vec<String> = values.map(|value| codec::to_text(&value)).collect();
        missing.retain(|value| !spelt.iter().any(|(_, literal)| literal == value));
        missing.dedup();
        if missing.is_empty() {
            return;
        }
        let examples = missing.iter().take(5).map(String::as_str);
        let and_more = if missing.len() > 5 { " and more" } else { "" };
        let message = format!("`{}` has no text for {}{and_more}", parameter.text, listed(examples));
        self.warn_of_missing_values(parameter, message);
    }

    fn warn_of_missing_values(&mut self, parameter: &Scalar, message: String) {
        let help = "write every value under `values`: coreach cannot send the others, and if one comes, the run ends with Fail";
        self.warn("missing-value", message, &parameter.span, "not all of its values", help);
    }

    /// Reads a time with its unit. `like` and the longer `example` are for messages.
    pub fn read_time(&mut self, node: &Yaml, what: &str, like: &str, example: &str) -> Option<Duration> {
        let scalar = shape::scalar(self.collector, node, &format!("`{what}`"), like)?;
        let read = parse_time(&scalar.text);
        if let Err(why) = &read {
            let message = format!("`{what}` is not a time: {why}");
            self.refuse(node, &message, "not such a time", &format!("for example `{example}`"));
        }
        read.ok()
    }

    /// Reports a warning with a help text.
    pub fn warn(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        place: &Range<usize>,
        label: &str,
        help: impl Into<String>,
    ) {
        let warning = Diagnostic::warning(code, message).at(self.collector.origin(place), label);
        self.collector.push(warning.help(help));
    }

    pub fn refuse(&mut self, node: &Yaml, message: &str, label: &str, help: &str) {
        self.collector.mistake("wrong-value", message, &node.head(), label, help);
    }

    pub fn read_unmatched(&mut self, entries: &[Entry]) -> Unmatched {
        const CHOICES: [(&str, Unmatched); 3] =
            [("fail", Unmatched::Fail), ("error", Unmatched::Error), ("ignore", Unmatched::Ignore)];
        let chosen = self.read_choice(entries, "unmatched", &CHOICES);
        chosen.unwrap_or(Unmatched::Fail)
    }

    /// Reads one word out of a table. `None`, if the key is not there, or after a mistake.
    pub fn read_choice<T: Copy>(&mut self, entries: &[Entry], key: &str, table: &[(&str, T)]) -> Option<T> {
        let node = shape::get(entries, key)?;
        let like = format!("{key}: {}", table.first().map_or("", |(name, _)| name));
        let scalar = shape::scalar(self.collector, node, &format!("`{key}`"), &like)?;
        let known = || table.iter().map(|(name, _)| *name);
        let chosen = table.iter().find(|(name, _)| *name == scalar.text);
        if chosen.is_none() {
            let help = self.collector.suggest(&scalar.text, &format!("values of `{key}`"), known);
            let message = format!("`{}` is not a value of `{key}`", scalar.text);
            self.collector.mistake("wrong-value", message, &scalar.span, "not known", help);
        }
        chosen.map(|(_, value)| *value)
    }
}

/// Returns the type of this part of a list's elements. `None` if there is none.
fn part_type<'t>(list: &'t Type, part: &str) -> Option<&'t Type> {
    let Type::Record(list) = list else { return None };
    // Field 0 is the length, and each other field has an element.
    let element = list.fields.get(1).filter(|_| list.form == RecordForm::List).map(|(_, ty)| ty)?;
    match element {
        Type::Record(record) if record.form == RecordForm::Plain => {
            record.fields.iter().find(|(name, _)| name == part).map(|(_, ty)| ty)
        }
        scalar => (part == ELEMENT).then_some(scalar),
    }
}

/// Says whether the texts of the actions are of messages that coreach receives. `None`: they may be of both.
fn looks_received(entries: &[Entry]) -> Option<bool> {
    entries.iter().find_map(|entry| match &entry.value.kind {
        NodeKind::Scalar(text) if text.text.contains("(?P<") || text.text.starts_with('^') => Some(true),
        NodeKind::Scalar(text) => text.text.contains('{').then_some(false),
        NodeKind::Mapping(keys) if shape::get(keys, "status").is_some() => Some(true),
        NodeKind::Mapping(keys) => shape::get(keys, "method").map(|_| false),
        NodeKind::Sequence(_) => None,
    })
}

const VALUES_EXAMPLE: &str = "values: { pBeverage: { tea: TEA, coffee: COFFEE } }";

/// The body with a digit in each hole, but a letter in the holes of one name.
fn fill_with_digits(template: &Template, lettered: &str) -> Option<String> {
    let text = |hole: String| if hole == lettered { "x" } else { "1" }.to_owned();
    template.fill_as(|hole| Some(hole.to_owned()), text).ok()
}

fn is_json(text: &Option<String>) -> bool {
    let is_json = |text: &String| text.starts_with(['{', '[']) && serde_json::from_str::<Json>(text).is_ok();
    text.as_ref().is_some_and(is_json)
}

/// Returns the section for the opposite of inputs or outputs, and that kind.
fn opposite_of(kind: ActionKind) -> (&'static str, ActionKind) {
    match kind {
        ActionKind::Input => ("observations", ActionKind::Output),
        _ => ("stimuli", ActionKind::Input),
    }
}

fn kind_plural(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Input => "inputs",
        ActionKind::Output => "outputs",
        ActionKind::Internal => "internal actions",
        ActionKind::Quiescence => "quiescence",
    }
}

/// Says how a value of this parameter is written under `samples`.
pub fn describe_sample(name: &str, ty: &Type) -> String {
    let example = codec::to_text(&Value::any(ty));
    format!("a sample is a value of the whole parameter, as JSON in single quotes: `{name}: ['{example}']`")
}
