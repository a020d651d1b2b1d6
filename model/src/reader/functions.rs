//! The section `functions:`: expressions with names and parameters.
//!
//! A function is not recursive, so it stands for one finite term, which is made here once.
//! [`super::expansion`] types the calls. Functions may call each other in any order of the file. They are
//! made depth first along their calls, and a call that leads back is a cycle.
//!
//! A parameter has the sort of its type, and a range is refused: a call asks for the same as the expression
//! that it stands for, and for nothing else.

use std::collections::BTreeMap;

use crate::data::Datum;
use crate::diagnostic::Diagnostic;
use crate::reader::collect::{Collector, article};
use crate::reader::expansion::is_standard;
use crate::reader::parser::parse;
use crate::reader::scope::{Meaning, NamedExpression, Names, Scope};
use crate::reader::shape;
use crate::reader::syntax::{Expression, ExpressionKind};
use crate::reader::types::{Types, report_type_name};
use crate::reader::typing::{Typing, report};
use crate::reader::yaml::{Entry, NodeKind, Scalar, Yaml};
use crate::term::Term;
use crate::types::Type;

const LIKE: &str = "functions: { fits: { parameters: { n: int }, is: vPaid + n <= 100 } }";
/// How deep functions may call one another.
const MAX_DEPTH: usize = 100;
const MAX_PARAMETERS: usize = 100;

/// A declaration, before its expression has a type.
struct UntypedFunction<'a> {
    entry: &'a Entry,
    parameters: Vec<(String, Option<Datum>)>,
    /// The type of its value, if it is declared.
    result: Option<Type>,
    /// The expression, and the scalar that holds it. `None` if it has a mistake.
    body: Option<(&'a Scalar, Expression)>,
}

/// Reads the section `functions:` into the names.
pub fn read_functions(collector: &mut Collector, entries: &[Entry], types: &mut Types, names: &mut Names) {
    let Some(node) = shape::get(entries, "functions") else { return };
    let Some(entries) = shape::mapping(collector, node, "`functions`", LIKE) else { return };
    shape::check_distinct(collector, entries, "duplicate-declaration", "function");
    let mut declared: BTreeMap<&str, UntypedFunction<'_>> = BTreeMap::new();
    for entry in shape::first_entries(entries) {
        if collector.is_full() {
            break;
        }
        let name = entry.key.text.as_str();
        if !shape::is_name(collector, &entry.key, "function") {
            continue;
        }
        if is_standard(name) || matches!(names.get(name), Some((Meaning::Alternative(..), _))) {
            let message = format!("`{name}` is already a function and cannot be declared");
            collector.error("reserved-name", message, &entry.key.span, "choose another name");
            continue;
        }
        if let Some(other) = names.function(name) {
            let diagnostic =
                Diagnostic::error("duplicate-declaration", format!("there is already a function `{name}`"))
                    .at(collector.origin(&entry.key.span), "declared again")
                    .at(other.origin.clone(), "first declared here");
            collector.push(diagnostic);
            continue;
        }
        declared.insert(name, read_declaration(collector, entry, types, names));
    }
    let mut making = FunctionMaking { collector, declared, names, busy: Vec::new() };
    // `make` does a function once, so repeated entries do no harm.
    for entry in entries {
        making.make(&entry.key.text);
    }
}

/// Reads one function, up to the syntax tree of its expression.
fn read_declaration<'a>(
    collector: &mut Collector,
    entry: &'a Entry,
    types: &mut Types,
    names: &Names,
) -> UntypedFunction<'a> {
    let mut declared = UntypedFunction { entry, parameters: Vec::new(), result: None, body: None };
    let errors_before = collector.errors();
    let what = format!("the function `{}`", entry.key.text);
    let body = match &entry.value.kind {
        NodeKind::Mapping(parts) => {
            shape::check_keys(collector, parts, &["parameters", "result", "is"], "a function");
            if let Some(node) = shape::get(parts, "parameters") {
                declared.parameters = read_parameters(collector, node, entry, types, names);
            }
            if let Some(node) = shape::get(parts, "result") {
                declared.result = types.read(collector, node, "the result").map(|ty| ty.sort());
            }
            shape::required(collector, &entry.value, parts, "is", &what, LIKE)
        }
        // A name for an expression.
        _ => Some(&*entry.value),
    };
    let scalar = body.and_then(|node| shape::scalar(collector, node, &what, LIKE));
    if let Some(scalar) = scalar {
        match parse(&scalar.text, collector.limits.expression) {
            Ok(tree) if collector.errors() == errors_before => declared.body = Some((scalar, tree)),
            Ok(_) => {}
            Err(mistake) => report(collector, scalar, *mistake),
        }
    }
    declared
}

/// Reads the parameters of a function. One whose type is broken keeps its name, without a datum.
fn read_parameters(
    collector: &mut Collector,
    node: &Yaml,
    function: &Entry,
    types: &mut Types,
    names: &Names,
) -> Vec<(String, Option<Datum>)> {
    let what = format!("the parameters of `{}`", function.key.text);
    let entries = shape::mapping(collector, node, &what, "parameters: { n: int }").unwrap_or(&[]);
    shape::check_distinct(collector, entries, "duplicate-declaration", "parameter");
    if entries.len() > MAX_PARAMETERS {
        let message = format!("a function has at most {MAX_PARAMETERS} parameters");
        collector.error("too-many-parameters", message, &function.key.span, "too many");
        return Vec::new();
    }
    let mut parameters = Vec::new();
    for entry in shape::first_entries(entries) {
        let name = entry.key.text.as_str();
        if !shape::is_name(collector, &entry.key, "parameter") {
            continue;
        }
        report_type_name(collector, &entry.key, "parameter");
        if let Some((meaning, first)) = names.get(name) {
            let message =
                format!("the parameter `{name}` has the same name as {}", article(&meaning.describe()));
            let diagnostic = Diagnostic::error("parameter-clash", message)
                .at(collector.origin(&entry.key.span), "the parameter")
                .at(first.clone(), "declared here")
                .help("rename the parameter: the expression could not tell them apart");
            collector.push(diagnostic);
        }
        let ty = types.read(collector, &entry.value, &format!("the parameter `{name}`"));
        if let Some(ty @ (Type::Nat | Type::Range(..))) = &ty {
            let message = format!("the parameter `{name}` has the range {ty} as its type");
            let help =
                "coreach replaces a call by the function's expression, and checks only the ranges in that";
            collector.mistake("range-of-parameter", message, &entry.value.span, "write `int`", help);
        }
        parameters.push((name.to_owned(), ty.map(|ty| Datum::new(name, ty.sort()))));
    }
    parameters
}

struct FunctionMaking<'a, 'm> {
    collector: &'m mut Collector,
    declared: BTreeMap<&'a str, UntypedFunction<'a>>,
    names: &'m mut Names,
    /// The functions that are being made, outermost first.
    busy: Vec<String>,
}

impl FunctionMaking<'_, '_> {
    /// Makes the function of this name, after the functions that it calls. Does nothing for a name that is
    /// not declared here.
    fn make(&mut self, name: &str) {
        let Some(declared) = self.declared.get(name) else { return };
        if self.names.function(name).is_some() {
            return;
        }
        self.busy.push(name.to_owned());
        for callee in declared.body.as_ref().map(|(_, tree)| list_called_names(tree)).unwrap_or_default() {
            match self.busy.iter().position(|busy| *busy == callee) {
                Some(start) => self.refuse_cycle(start, &callee),
                None if self.busy.len() >= MAX_DEPTH => self.refuse_depth(),
                None => self.make(&callee),
            }
        }
        self.busy.pop();
        let Some(declared) = self.declared.get(name) else { return };
        let data: Option<Vec<Datum>> = declared.parameters.iter().map(|(_, datum)| datum.clone()).collect();
        let function = NamedExpression {
            name: name.to_owned(),
            body: data.as_ref().and_then(|_| type_body(self.collector, declared, self.names)),
            parameters: data.unwrap_or_default(),
            origin: self.collector.origin(&declared.entry.key.span),
        };
        self.names.add_function(function);
    }

    fn refuse_depth(&mut self) {
        let Some(first) = self.busy.first().and_then(|name| self.declared.get(name.as_str())) else { return };
        let message = format!("function calls are nested more than {MAX_DEPTH} deep");
        self.collector.error("expression-too-deep", message, &first.entry.key.span, "starting here");
        self.forget_bodies(self.busy.clone());
    }

    /// Leaves these functions declared, without a body: a call of them is no second mistake.
    fn forget_bodies(&mut self, names: Vec<String>) {
        for name in &names {
            if let Some(declared) = self.declared.get_mut(name.as_str()) {
                declared.body = None;
            }
        }
    }

    /// Reports a cycle of calls. It goes from `callee`, at the place `start` of the busy functions, to the
    /// last one of these, which calls `callee` again.
    fn refuse_cycle(&mut self, start: usize, callee: &str) {
        let cycle: Vec<String> = self.busy[start..].iter().cloned().chain([callee.to_owned()]).collect();
        let Some(UntypedFunction { body: Some((scalar, tree)), .. }) =
            self.busy.last().and_then(|name| self.declared.get(name.as_str()))
        else {
            // The function has lost its body to another cycle, which is reported.
            return;
        };
        let place = find_call(tree, callee).map_or(scalar.span.clone(), |span| scalar.place(&span));
        let diagnostic =
            Diagnostic::error("cyclic-function", format!("the function `{callee}` calls itself"))
                .at(self.collector.origin(&place), "closes the cycle")
                .note(format!("the cycle: {}", cycle.join(" > ")))
                .help("coreach replaces each call by the function's expression, and here this never ends");
        self.collector.push(diagnostic);
        self.forget_bodies(cycle);
    }
}

/// Types the expression of a function, which has the declared result if there is one.
fn type_body(collector: &mut Collector, declared: &UntypedFunction<'_>, names: &Names) -> Option<Term> {
    let (scalar, tree) = declared.body.as_ref()?;
    let scope = Scope { names, parameters: &declared.parameters, action: None, is_function: true };
    let mut typing = Typing::new(collector, scalar, scope);
    match &declared.result {
        Some(ty) => typing.type_as(tree, ty, "the result"),
        None => typing.term(tree),
    }
}

/// Lists the names of the functions that an expression calls, each once, from the left.
fn list_called_names(tree: &Expression) -> Vec<String> {
    let mut names = Vec::new();
    let mut unvisited = vec![tree];
    while let Some(tree) = unvisited.pop() {
        if let ExpressionKind::Call(call) = &tree.kind
            && !names.contains(&call.name.0)
        {
            names.push(call.name.0.clone());
        }
        unvisited.extend(tree.kind.parts().into_iter().rev());
    }
    names
}

fn find_call(tree: &Expression, name: &str) -> Option<std::ops::Range<usize>> {
    match &tree.kind {
        ExpressionKind::Call(call) if call.name.0 == name => Some(call.name.1.clone()),
        _ => tree.kind.parts().into_iter().find_map(|part| find_call(part, name)),
    }
}
