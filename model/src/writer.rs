//! A model back as YAML in the model format: what is written here is read to the same model.
//!
//! The text must survive YAML 1.1 programs too, which take `on`, `off`, `yes`, `no`, `y` and `n` for truth
//! values. Such words are quoted, also the format's own key `on`. An expression is quoted wherever a plain
//! scalar might end early or begin with a sign of YAML's.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;

use crate::data::Datum;
use crate::iosts::{Action, ActionKind, Iosts, Location, QUIESCENCE, TestPurpose, Transition, TransitionId};
use crate::term::operation::{DeclaredFunction, DerivedOperation};
use crate::term::print::{is_printed_by_name, says_type, unused_name};
use crate::term::{Term, TermShape};
use crate::timed::Timed;
use crate::types::{RecordForm, Type};
use crate::visible::is_hidden_sign;

/// A specification as YAML; `types` are those that the file declares, in their order.
pub fn write_yaml(iosts: &Iosts, types: &[(String, Type)]) -> String {
    write_model(iosts, types, None)
}

/// A timed specification as YAML; `types` are those that the file declares, in their order.
pub fn write_timed_yaml(timed: &Timed, types: &[(String, Type)]) -> String {
    write_model(timed.graph(), types, Some(timed))
}

/// Writes a specification, with its clocks if it is timed.
fn write_model(iosts: &Iosts, types: &[(String, Type)], timed: Option<&Timed>) -> String {
    let mut text = format!("iosts: {}\n", name_scalar(&iosts.name));
    write_types(&mut text, types);
    let (iosts, functions) = &split_functions(iosts);
    write_functions(&mut text, functions.values());
    if let Some(timed) = timed {
        append(&mut text, format_args!("clocks: [{}]\n", join_names(timed.clocks().iter().map(Datum::name))));
    }
    write_data(&mut text, "constants", &iosts.constants);
    write_data(&mut text, "variables", &iosts.variables);
    write_locations(&mut text, iosts);
    write_initial(&mut text, iosts);
    write_actions(&mut text, "inputs", iosts, timed, |action| action.kind == ActionKind::Input);
    // Quiescence has no section of its own: a suspended specification is read back with it as an output.
    write_actions(&mut text, "outputs", iosts, timed, Action::is_observed);
    let internals = iosts.actions.iter().filter(|action| action.kind == ActionKind::Internal);
    let internals = join_names(internals.map(|action| action.name.as_str()));
    if !internals.is_empty() {
        append(&mut text, format_args!("internals: [{internals}]\n"));
    }
    write_transitions(&mut text, iosts, timed);
    text
}

/// A test purpose or a property as YAML. Its actions and types are its specification's and are not written.
pub fn write_purpose_yaml(purpose: &TestPurpose) -> String {
    let (iosts, functions) = &split_functions(&purpose.iosts);
    let key = purpose.aim.key();
    let mut text = format!("{key}: {}\nof: {}\n", name_scalar(&iosts.name), name_scalar(&purpose.of));
    if !purpose.observes.is_empty() {
        let names = join_names(purpose.observes.iter().map(Datum::name));
        append(&mut text, format_args!("observes: [{names}]\n"));
    }
    write_functions(
        &mut text,
        functions.values().filter(|function| purpose.functions.contains(&function.name)),
    );
    let own_constants = iosts.constants.iter().filter(|datum| !purpose.observes.contains(datum));
    write_data(&mut text, "constants", &own_constants.cloned().collect::<Vec<Datum>>());
    write_data(&mut text, "variables", &iosts.variables);
    write_locations(&mut text, iosts);
    write_initial(&mut text, iosts);
    write_transitions(&mut text, iosts, None);
    text
}

/// The names that are bound around a term, and the names of the model. A reader would misread a bound name
/// that is one of them.
struct BoundNames<'a> {
    of_model: HashSet<&'a str>,
    around: Vec<String>,
}

impl BoundNames<'_> {
    /// Is each name that is bound in the term, as it is printed, a new one?
    fn are_new(&mut self, term: &Term) -> bool {
        if !term.has_operations() {
            return true;
        }
        let TermShape::Operation(operation, arguments) = term.shape() else {
            return term.parts().into_iter().all(|part| self.are_new(part));
        };
        // A call is printed without its body.
        let bodies = if is_printed_by_name(operation, arguments) { Vec::new() } else { operation.bodies() };
        // With a body, the arguments are printed in it, where it reads data.
        let has_body = !bodies.is_empty();
        bodies.into_iter().all(|(names, body)| self.are_new_within(&names, arguments, body))
            && (has_body || arguments.iter().all(|part| self.are_new(part)))
    }

    /// Are these names new, which are bound around the body and the arguments, and those bound in the two?
    fn are_new_within(&mut self, names: &[&Datum], arguments: &[Term], body: &Term) -> bool {
        let count_around = self.around.len();
        for datum in names {
            let name = unused_name(datum, arguments.iter()).name().to_owned();
            if self.of_model.contains(name.as_str()) || self.around.contains(&name) {
                // The caller asks for nothing more.
                return false;
            }
            self.around.push(name);
        }
        let are_new = self.are_new(body) && arguments.iter().all(|part| self.are_new(part));
        self.around.truncate(count_around);
        are_new
    }
}

type Functions = BTreeMap<String, Arc<DeclaredFunction>>;

/// Splits a model into what is written and the functions that it calls. If the text could not be read back,
/// it calls none, and each operation is replaced by what it stands for.
fn split_functions(iosts: &Iosts) -> (Cow<'_, Iosts>, Functions) {
    match collect_functions(iosts).filter(|called| can_be_read_back(iosts, called)) {
        Some(called) => (Cow::Borrowed(iosts), called),
        None => (Cow::Owned(without_operations(iosts)), Functions::new()),
    }
}

/// Is no bound name one of the model's, or bound around it?
fn can_be_read_back(iosts: &Iosts, called: &Functions) -> bool {
    let parameters = iosts.actions.iter().flat_map(|action| &action.parameters);
    let data = iosts.variables.iter().chain(&iosts.constants).chain(parameters);
    let mut names = BoundNames { of_model: data.map(Datum::name).collect(), around: Vec::new() };
    let are_new = terms_of(iosts).all(|term| names.are_new(term));
    are_new
        && called.values().all(|function| {
            let own: Vec<&Datum> = function.parameters[..function.named].iter().collect();
            names.are_new_within(&own, &[], &function.body)
        })
}

fn terms_of(iosts: &Iosts) -> impl Iterator<Item = &Term> {
    iosts.transitions.iter().flat_map(Transition::terms).chain([&iosts.initial_condition])
}

/// Collects the declared functions that the terms call. `None` if two of them have one name, as the stages
/// may make of a composition.
fn collect_functions(iosts: &Iosts) -> Option<Functions> {
    let mut functions = Functions::new();
    let mut seen = HashSet::new();
    let mut unvisited: Vec<Term> = terms_of(iosts).cloned().collect();
    while let Some(term) = unvisited.pop() {
        if !term.has_operations() || !seen.insert(term.clone()) {
            continue;
        }
        unvisited.extend(term.parts().into_iter().cloned());
        let TermShape::Operation(operation, arguments) = term.shape() else { continue };
        unvisited.extend(operation.bodies().into_iter().map(|(_, body)| body.clone()));
        if let DerivedOperation::Call(function) = operation
            && is_printed_by_name(operation, arguments)
        {
            // Another call is written as its body, so its function needs no declaration.
            let known = functions.entry(function.name.clone()).or_insert_with(|| function.clone());
            if known != function {
                return None;
            }
        }
    }
    Some(functions)
}

/// The model with each operation replaced by what it stands for.
fn without_operations(iosts: &Iosts) -> Iosts {
    let mut iosts = iosts.clone();
    iosts.initial_condition = iosts.initial_condition.lowered().clone();
    for transition in &mut iosts.transitions {
        for term in std::iter::once(&mut transition.guard).chain(transition.assignments.values_mut()) {
            *term = term.lowered().clone();
        }
    }
    iosts
}

/// Writes the section `functions:`. A result type is written where the body alone does not show it.
fn write_functions<'a>(text: &mut String, functions: impl Iterator<Item = &'a Arc<DeclaredFunction>>) {
    for (number, function) in functions.enumerate() {
        if number == 0 {
            text.push_str("functions:\n");
        }
        append(text, format_args!("  {}:\n", name_scalar(&function.name)));
        if function.named > 0 {
            let parameters = function.parameters[..function.named].iter();
            let parameters = join_fields(parameters.map(|datum| (datum.name(), datum.ty())));
            append(text, format_args!("    parameters: {{ {parameters} }}\n"));
        }
        if !says_type(&function.body) {
            append(text, format_args!("    result: {}\n", type_scalar(function.body.sort())));
        }
        append(text, format_args!("    is: {}\n", expression_scalar(&function.body.to_string())));
    }
}

/// Writes a test purpose that is a tree of paths as YAML. Each path has a comment and its transitions, where
/// `None` is quiescence. The paths begin where the specification begins.
pub fn write_paths_yaml(name: &str, iosts: &Iosts, paths: &[(String, Vec<Option<TransitionId>>)]) -> String {
    let mut text = format!("purpose: {}\nof: {}\npaths:\n", name_scalar(name), name_scalar(&iosts.name));
    for (comment, path) in paths {
        let step = |number: &Option<TransitionId>| {
            let Some(number) = *number else { return QUIESCENCE.to_owned() };
            let transition = &iosts.transitions[number];
            let name = name_scalar(&iosts.action(transition.action).name);
            // If several transitions of the location have the action, a number says which one, from 1.
            let mut alike: Vec<TransitionId> = iosts.transitions.numbers().collect();
            alike.retain(|other| {
                let other = &iosts.transitions[*other];
                (other.source, other.action) == (transition.source, transition.action)
            });
            match alike.iter().position(|other| *other == number) {
                Some(position) if alike.len() > 1 => format!("{{ {name}: {} }}", position + 1),
                _ => name,
            }
        };
        let steps: Vec<String> = path.iter().map(step).collect();
        append(&mut text, format_args!("  # {comment}\n  - [{}]\n", steps.join(", ")));
    }
    text
}

fn join_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(name_scalar).collect::<Vec<String>>().join(", ")
}

/// Appends a formatted piece to the text.
fn append(text: &mut String, piece: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(piece);
}

/// Writes the section of declared types.
fn write_types(text: &mut String, types: &[(String, Type)]) {
    if types.is_empty() {
        return;
    }
    text.push_str("types:\n");
    for (name, ty) in types {
        let definition = match ty {
            Type::Enum(enumeration) if enumeration.name == *name => {
                format!("[{}]", join_names(enumeration.literals.iter().map(String::as_str)))
            }
            Type::Record(record) if record.name == *name && record.form == RecordForm::Plain => {
                let fields = record.fields.iter().map(|(field, ty)| (field.as_str(), ty));
                format!("{{ {} }}", join_fields(fields))
            }
            Type::Record(record) if record.name == *name => {
                let alternatives = record.alternatives().into_iter().map(|alternative| {
                    let name = name_scalar(&alternative.name);
                    let field = |place| {
                        (record.field_of(&alternative, place), &record.fields[alternative.first + place].1)
                    };
                    match alternative.count {
                        0 => name,
                        count => format!("{{ {name}: {{ {} }} }}", join_fields((0..count).map(field))),
                    }
                });
                format!("[{}]", alternatives.collect::<Vec<String>>().join(", "))
            }
            Type::Id(own) if **own == **name => "id".to_owned(),
            other => type_scalar(other),
        };
        append(text, format_args!("  {}: {definition}\n", name_scalar(name)));
    }
}

fn join_fields<'a>(fields: impl Iterator<Item = (&'a str, &'a Type)>) -> String {
    let fields = fields.map(|(field, ty)| format!("{}: {}", name_scalar(field), type_scalar(ty)));
    fields.collect::<Vec<String>>().join(", ")
}

fn write_data(text: &mut String, section: &str, data: &[Datum]) {
    if data.is_empty() {
        return;
    }
    append(text, format_args!("{section}:\n"));
    for datum in data {
        append(text, format_args!("  {}: {}\n", name_scalar(datum.name()), type_scalar(datum.ty())));
    }
}

/// Writes the section of locations, if it is needed. It is needed if the order of their first appearance
/// would not give them back, if there is something to say about one, or if no path leads to one: a reader
/// would take that for a mistake in a name.
fn write_locations(text: &mut String, iosts: &Iosts) {
    let ends = iosts.transitions.iter().flat_map(|transition| [transition.source, transition.target]);
    let mut seen = HashSet::new();
    let by_appearance = std::iter::once(iosts.initial).chain(ends).filter(|location| seen.insert(*location));
    let is_described =
        |location: &Location| location.label != location.name || location.description.is_some();
    if by_appearance.eq(iosts.location_ids())
        && iosts.reachable_from(iosts.initial).iter().all(|is_reached| *is_reached)
        && !iosts.locations.iter().any(is_described)
    {
        return;
    }
    text.push_str("locations:\n");
    for location in &iosts.locations {
        let name = name_scalar(&location.name);
        let label = (location.label != location.name).then(|| quoted_scalar(&location.label));
        match (label, &location.description) {
            (None, None) => append(text, format_args!("  {name}:\n")),
            (None, Some(description)) => {
                append(text, format_args!("  {name}: {}\n", quoted_scalar(description)))
            }
            (Some(label), None) => append(text, format_args!("  {name}: {{ label: {label} }}\n")),
            (Some(label), Some(description)) => {
                let description = quoted_scalar(description);
                append(text, format_args!("  {name}: {{ label: {label}, description: {description} }}\n"));
            }
        }
    }
}

fn write_initial(text: &mut String, iosts: &Iosts) {
    let location = name_scalar(&iosts.location(iosts.initial).name);
    append(text, format_args!("initial:\n  location: {location}\n"));
    if !iosts.initial_condition.is_true() {
        let condition = expression_scalar(&iosts.initial_condition.to_string());
        append(text, format_args!("  condition: {condition}\n"));
    }
}

/// Writes a section of actions, those for which `is_of_section` holds. A timed model says which inputs the
/// tester does not send.
fn write_actions(
    text: &mut String,
    section: &str,
    iosts: &Iosts,
    timed: Option<&Timed>,
    is_of_section: impl Fn(&Action) -> bool,
) {
    let mut is_first = true;
    for (number, action) in iosts.actions.numbered().filter(|(_, action)| is_of_section(action)) {
        if std::mem::take(&mut is_first) {
            append(text, format_args!("{section}:\n"));
        }
        let parameters = match action.parameters.is_empty() {
            true => "{}".to_owned(),
            false => format!("{{ {} }}", join_fields(action.parameters.iter().map(|p| (p.name(), p.ty())))),
        };
        let is_uncontrollable =
            timed.is_some_and(|timed| timed.uncontrollable().any(|(other, _)| other == number));
        let declaration = match is_uncontrollable {
            true => format!("{{ parameters: {parameters}, controllable: false }}"),
            false => parameters,
        };
        append(text, format_args!("  {}: {declaration}\n", name_scalar(&action.name)));
    }
}

fn write_transitions(text: &mut String, iosts: &Iosts, timed: Option<&Timed>) {
    if iosts.transitions.is_empty() {
        return;
    }
    text.push_str("transitions:\n");
    for (number, transition) in iosts.transitions.numbered() {
        text.push_str("  - ");
        if let Some(name) = timed.and_then(|timed| timed.name(number)) {
            append(text, format_args!("name: {}\n    ", name_scalar(name)));
        }
        write_transition(text, iosts, transition);
        let resets = timed.map_or(&[][..], |timed| timed.resets(number));
        if !resets.is_empty() {
            append(text, format_args!("    reset: [{}]\n", join_names(resets.iter().map(Datum::name))));
        }
    }
}

fn write_transition(text: &mut String, iosts: &Iosts, transition: &Transition) {
    append(text, format_args!("from: {}\n", name_scalar(&iosts.location(transition.source).name)));
    append(text, format_args!("    to: {}\n", name_scalar(&iosts.location(transition.target).name)));
    append(text, format_args!("    \"on\": {}\n", name_scalar(&iosts.action(transition.action).name)));
    if !transition.guard.is_true() {
        append(text, format_args!("    when: {}\n", expression_scalar(&transition.guard.to_string())));
    }
    if !transition.assignments.is_empty() {
        text.push_str("    assign:\n");
        for (variable, value) in &transition.assignments {
            let (name, value) = (name_scalar(variable.name()), expression_scalar(&value.to_string()));
            append(text, format_args!("      {name}: {value}\n"));
        }
    }
}

/// Writes a type as a scalar, in quotes if its brackets would end a plain scalar.
fn type_scalar(ty: &Type) -> String {
    expression_scalar(&ty.to_string())
}

/// Writes a name as a YAML scalar, in quotes if a program would misread it.
fn name_scalar(name: &str) -> String {
    if is_misread(name) { quoted_scalar(name) } else { expression_scalar(name) }
}

/// Does some YAML program take the word for another thing than text?
fn is_misread(text: &str) -> bool {
    let lower = text.to_lowercase();
    matches!(lower.as_str(), "" | "~" | "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n")
        || text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
}

/// Writes an expression as a YAML scalar, plain if that is safe everywhere, also in a flow mapping.
fn expression_scalar(text: &str) -> String {
    let first_is_safe = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '(');
    let all_are_safe = text.chars().all(|c| c.is_ascii_alphanumeric() || " _'.()<>=!&|+-*/".contains(c));
    let is_number = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let is_safe = first_is_safe && all_are_safe && (is_number || !is_misread_expression(text));
    if is_safe { text.to_owned() } else { quoted_scalar(text) }
}

/// Is it a lone word or number that YAML would give a type? `true` may stay, since it means the same.
fn is_misread_expression(text: &str) -> bool {
    !text.contains(' ') && is_misread(text) && !matches!(text, "true" | "false")
}

/// Writes text as a YAML scalar in double quotes, with hidden signs as escapes.
fn quoted_scalar(text: &str) -> String {
    let mut result = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => result.push_str("\\\""),
            '\\' => result.push_str("\\\\"),
            '\n' => result.push_str("\\n"),
            '\t' => result.push_str("\\t"),
            c if is_hidden_sign(c) => append(&mut result, format_args!("\\U{:08X}", u32::from(c))),
            c => result.push(c),
        }
    }
    result.push('"');
    result
}
