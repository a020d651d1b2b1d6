//! Writes a test case as one file of Python: data, and a small interpreter of it.
//!
//! **Why data and not code.** Guards are shared terms. Written out as Python, they would repeat what they
//! share, and Python's parser gives up at some two hundred nested parentheses. The runtime also looks into a
//! guard to choose values. So the file has a table of terms, each made of those above it, and guards as text
//! for people.
//!
//! **The same verdicts** as our own judge ([the crate `coreach-execution`], `judge/case.rs`) follow from the
//! same definitions (`runtime.py`). `tests/tests/python` compares the two on many traces.
//!
//! **Names** stand in texts only, so none can be confused with a word of Python. The name of the test
//! function is made of letters, digits and underscores.
//!
//! [the crate `coreach-execution`]: https://docs.rs/coreach-execution

use std::collections::BTreeMap;
use std::fmt::Write;

use coreach_artifact::terms::TermTable;
use coreach_model::iosts::Transition;
use coreach_model::term::TermShape;
use coreach_model::term::node::{Node, StringOperation};
use coreach_model::term::operation::{DerivedOperation, MatchArm, QuantifierDomain, StandardOperation};
use coreach_model::types::{Alternative, RecordForm, RecordType};
use coreach_model::visible::is_hidden_sign;
use coreach_model::{Datum, Iosts, Term, Type, Value};

use super::{Unsuited, check_judged_by_graph, make_identifier, role_word};
use crate::artifact::Mark;
use crate::export::View;

const RUNTIME: &str = include_str!("runtime.py");

/// Writes the file: its head, the types, the table of terms, the test case, the interpreter and its tail.
pub fn to_python(view: &View<'_>) -> Result<String, Unsuited> {
    check_judged_by_graph("python", view)?;
    let iosts = view.iosts;
    let mut types = PythonTypes::default();
    let mut table = TermTable::default();
    let mut data = String::new();
    let out = &mut data;
    let _ = writeln!(out, "\nNAME = {}", python_text(&iosts.name));
    let _ = writeln!(out, "\nCONSTANTS = {}", types.of_data(&iosts.constants));
    let _ = writeln!(out, "VARIABLES = {}", types.of_data(&iosts.variables));
    let _ = writeln!(out, "\n# What the tester does with it, and its parameters.\nACTIONS = {{");
    for action in &*iosts.actions {
        if let Some(role) = role_word(action.kind) {
            let pair = |datum: &Datum| format!("({}, {}), ", python_text(datum.name()), types.of(datum.ty()));
            let parameters: String = action.parameters.iter().map(pair).collect();
            let _ = writeln!(
                out,
                "    {}: ({}, ({})),",
                python_text(&action.name),
                python_text(role),
                parameters.trim_end()
            );
        }
    }
    let _ =
        writeln!(out, "}}\n\n# For people; the verdict; how a property is violated there.\nLOCATIONS = {{");
    for id in iosts.location_ids() {
        let location = iosts.location(id);
        let verdict = match view.mark(id) {
            Some(Mark::Verdict(verdict)) => python_text(verdict.name()),
            _ => "None".to_owned(),
        };
        let violated = view.particulars.violated.iter().find(|(at, _)| *at == id);
        let violated = violated.map_or("None".to_owned(), |(_, how)| python_text(how.name()));
        let _ = writeln!(
            out,
            "    {}: ({}, {verdict}, {violated}),",
            python_text(&location.name),
            python_text(&location.label)
        );
    }
    let others_fail = view.particulars.others_fail.map(|fail| python_text(&iosts.location(fail).name));
    let _ = writeln!(
        out,
        "}}\n\n# Where every output leads that has no transition at a location without a verdict.\nOTHERS_FAIL = {}",
        others_fail.unwrap_or_else(|| "None".to_owned())
    );
    let initial = table.number(&iosts.initial_condition);
    let _ = writeln!(out, "\nINITIAL = ({}, {initial})", python_text(&iosts.location(iosts.initial).name));
    let _ = writeln!(
        out,
        "\n# Source, action, target, guard, the guard for people, what is assigned. The numbers are of TERMS.\nTRANSITIONS = ["
    );
    for transition in &*iosts.transitions {
        let _ = writeln!(out, "    {},", python_transition(iosts, transition, &mut table));
    }
    let _ = writeln!(out, "]\n\n# Each is made of those before it.\nTERMS = [");
    for (number, term) in table.terms().iter().enumerate() {
        let comment = python_comment(&term.to_string());
        let _ = writeln!(out, "    {},  # {number}{comment}", python_term(term, &table, &mut types));
    }
    out.push_str("]\n");
    // Up to this height of terms Python's usual limit of recursion suffices.
    if table.height() > 200 {
        let _ = writeln!(
            out,
            "\n# Some of them are as high as this many calls.\nsys.setrecursionlimit(max(sys.getrecursionlimit(), {}))",
            6 * table.height() + 1000
        );
    }
    Ok(format!("{}{}{data}\n\n{RUNTIME}{}", file_head(&iosts.name), types.lines, file_tail(&iosts.name)))
}

/// Writes the first lines, which say what the file is and how it is used.
fn file_head(name: &str) -> String {
    let name = python_comment(name);
    format!(
        r#"# The test case{name}
#
# Made by coreach {version}. It needs Python 3.9 or later, and nothing else; pytest finds the test at its end.
#
#     COREACH_IUT="python3 iut.py" pytest test_case.py     against a command that speaks lines of JSON
#     python3 test_case.py --seed 7 -- python3 iut.py      the same without pytest
#
# Or write an `Adapter`, and in `conftest.py` a fixture `coreach_adapter` that gives it; `coreach_constants` may give the symbolic
# constants by name, `coreach_settings` the times. Pass is a test that passes, Fail is an AssertionError with the trace and what was
# allowed instead, Inconclusive is a test that is skipped with its reason.

import json
import math
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction
from random import Random

try:
    import pytest
except ImportError:
    pytest = None

"#,
        version = env!("CARGO_PKG_VERSION"),
    )
}

/// Writes the last lines: the test that pytest finds, and the call of the command line.
fn file_tail(name: &str) -> String {
    format!(
        r#"

if pytest is not None:

    @pytest.mark.parametrize("seed", range(1, 1 + int(os.environ.get("COREACH_RUNS", "1"))))
    def test_{}(seed, request):
        under_pytest(seed, request)


if __name__ == "__main__":
    sys.exit(main())
"#,
        make_identifier(name)
    )
}

/// The types that the file mentions, each under a name of its own.
#[derive(Default)]
struct PythonTypes {
    known: BTreeMap<Type, String>,
    lines: String,
}

impl PythonTypes {
    /// Gives the name of the type, and adds the type if it is new.
    fn of(&mut self, ty: &Type) -> String {
        if let Some(known) = self.known.get(ty) {
            return known.clone();
        }
        let written = match ty {
            Type::Bool => "(\"bool\",)".to_owned(),
            Type::Int => "(\"int\", None, None)".to_owned(),
            Type::Nat => "(\"int\", 0, None)".to_owned(),
            Type::Range(low, high) => {
                let [low, high] = [low, high].map(|bound| python_integer(&bound.to_string()));
                format!("(\"int\", {low}, {high})")
            }
            Type::Real => "(\"real\",)".to_owned(),
            Type::String => "(\"string\",)".to_owned(),
            Type::Id(name) => format!("(\"id\", {})", python_text(name)),
            Type::Enum(enumeration) => {
                let literals = enumeration.literals.iter().map(|literal| python_text(literal) + ",");
                let literals: Vec<String> = literals.collect();
                format!("(\"enum\", {}, ({}))", python_text(&enumeration.name), literals.join(" "))
            }
            Type::Record(record) => {
                let mut fields = Vec::new();
                for (name, field) in &record.fields {
                    fields.push(format!("({}, {}),", python_text(name), self.of(field)));
                }
                let (name, form) = (python_text(&record.name), self.form_of_record(record));
                format!("(\"record\", {name}, ({}), {form})", fields.join(" "))
            }
            Type::Array(array) => {
                format!("(\"array\", {}, {})", self.of(&array.index), self.of(&array.element))
            }
        };
        let name = format!("T{}", self.known.len());
        let _ = writeln!(self.lines, "{name} = {written}");
        self.known.insert(ty.clone(), name.clone());
        name
    }

    /// Writes what a record is besides its fields: `None`, a word, the keys, or the alternatives with the
    /// numbers of their fields.
    fn form_of_record(&mut self, record: &RecordType) -> String {
        match &record.form {
            RecordForm::Plain => "None".to_owned(),
            RecordForm::Option => "\"option\"".to_owned(),
            RecordForm::List => "\"list\"".to_owned(),
            RecordForm::Keyed(key) => {
                let keys: String = record.keys().iter().map(|key| python_value(key) + ", ").collect();
                format!("(\"keys\", {}, ({keys}))", self.of(key))
            }
            RecordForm::Entries(key, _) => {
                format!("(\"entries\", {}, {})", self.of(key), record.width().unwrap_or(1))
            }
            RecordForm::Variant(alternatives) => {
                let alternative_text = |alternative: &Alternative| {
                    let Alternative { name, first, count } = alternative;
                    format!("({}, {first}, {count}),", python_text(name))
                };
                format!("({})", alternatives.iter().map(alternative_text).collect::<Vec<String>>().join(" "))
            }
        }
    }

    fn of_data(&mut self, data: &[Datum]) -> String {
        let pair = |datum: &Datum| format!("{}: {}", python_text(datum.name()), self.of(datum.ty()));
        let pairs: Vec<String> = data.iter().map(pair).collect();
        format!("{{{}}}", pairs.join(", "))
    }
}

/// Writes a transition as a row of `TRANSITIONS`.
fn python_transition(iosts: &Iosts, transition: &Transition, table: &mut TermTable) -> String {
    let name = |at| python_text(&iosts.location(at).name);
    let guard = table.number(&transition.guard);
    let assignments: Vec<String> = transition
        .assignments
        .iter()
        .map(|(variable, term)| format!("({}, {}),", python_text(variable.name()), table.number(term)))
        .collect();
    format!(
        "({}, {}, {}, {guard}, {}, ({}))",
        name(transition.source),
        python_text(&iosts.action(transition.action).name),
        name(transition.target),
        python_text(&transition.guard.to_string()),
        assignments.join(" ")
    )
}

/// Writes a term as a row of the table.
fn python_term(term: &Term, table: &TermTable, types: &mut PythonTypes) -> String {
    let node = match term.shape() {
        TermShape::Node(node) => node,
        TermShape::Operation(operation, arguments) => {
            return python_operation(operation, arguments, term.sort(), table, types);
        }
    };
    let numbers =
        || term.parts().iter().map(|part| format!(", {}", table.existing_number(part))).collect::<String>();
    let word = match node {
        Node::Literal(value) => {
            return format!("(\"value\", {}, {})", python_value(value), types.of(&value.sort()));
        }
        Node::Data(datum) => return format!("(\"data\", {})", python_text(datum.name())),
        Node::Field(record, position) => {
            return format!("(\"field\", {}, {position})", table.existing_number(record));
        }
        Node::Record(..) => return format!("(\"record\", {}{})", types.of(term.sort()), numbers()),
        Node::Not(_) => "not".to_owned(),
        Node::And(_) => "and".to_owned(),
        Node::Or(_) => "or".to_owned(),
        Node::Compare(comparison, a, _) => match a.sort().is_id() {
            true => format!("ids {comparison}"),
            false => comparison.to_string(),
        },
        Node::IfThenElse(..) => "if".to_owned(),
        Node::Arithmetic(operator, ..) => operator.to_string(),
        Node::Negate(_) => "negative".to_owned(),
        Node::ToReal(_) => "to real".to_owned(),
        Node::Select(..) => "select".to_owned(),
        Node::Store(..) => "store".to_owned(),
        Node::OnStrings(operation, _) => match operation {
            StringOperation::Concatenate => "concatenate",
            StringOperation::At => "at",
            StringOperation::Slice => "slice",
            operation => operation.function().unwrap_or_default(),
        }
        .to_owned(),
    };
    format!("(\"{word}\"{})", numbers())
}

/// Writes an operation in the form in which `applied` in `runtime.py` reads it.
fn python_operation(
    operation: &DerivedOperation,
    arguments: &[Term],
    sort: &Type,
    table: &TermTable,
    types: &mut PythonTypes,
) -> String {
    let names =
        |data: &[Datum]| data.iter().map(|datum| python_text(datum.name()) + ", ").collect::<String>();
    let numbers =
        || arguments.iter().map(|part| format!("{}, ", table.existing_number(part))).collect::<String>();
    match operation {
        DerivedOperation::Call(call) => {
            format!(
                "(\"call\", ({}), {}, ({}))",
                names(&call.parameters),
                table.existing_number(&call.body),
                numbers()
            )
        }
        DerivedOperation::Quantified(quantified) => {
            let domain = match &quantified.domain {
                QuantifierDomain::Elements => format!("{}, None", types.of(arguments[0].sort())),
                QuantifierDomain::Values(_, values) => {
                    let values: String = values.iter().map(|value| python_value(value) + ", ").collect();
                    format!("None, ({values})")
                }
            };
            let bound_type = types.of(quantified.bound.ty());
            let collected = quantified.collected.as_ref().map_or("None, None".to_owned(), |(ty, element)| {
                format!("{}, {}", types.of(&Type::Record(ty.clone())), table.existing_number(element))
            });
            let (word, bound) = (quantified.quantifier.word(), python_text(quantified.bound.name()));
            let (read, body) = (names(&quantified.read), table.existing_number(&quantified.body));
            format!(
                "(\"{word}\", {bound}, {bound_type}, {domain}, ({read}), {body}, ({}), {collected})",
                numbers()
            )
        }
        DerivedOperation::Match(matched) => {
            let case = |case: &MatchArm| {
                let number = case.alternative.map_or("None".to_owned(), |number| number.to_string());
                let names =
                    case.names.iter().map(|(name, at)| format!("({}, {at}), ", python_text(name.name())));
                format!(
                    "({number}, ({}), {}), ",
                    names.collect::<String>(),
                    table.existing_number(&case.body)
                )
            };
            let cases: String = matched.cases.iter().map(case).collect();
            let ty = types.of(arguments[0].sort());
            format!("(\"match\", {ty}, ({cases}), ({}), ({}))", names(&matched.read), numbers())
        }
        DerivedOperation::SetOf(ty) | DerivedOperation::MapOf(ty) => {
            format!("(\"made\", {}, {})", types.of(&Type::Record(ty.clone())), numbers())
        }
        DerivedOperation::Defined => format!("(\"defined\", {})", numbers()),
        DerivedOperation::Standard(operation) => {
            use StandardOperation::{Difference, HasKey, Intersection, Keys, ProperSubset, Subset, Union};
            // `in` has its set or map as the second argument.
            let whole = if *operation == HasKey { &arguments[1] } else { &arguments[0] };
            let mut argument_types = types.of(whole.sort());
            if matches!(operation, Union | Intersection | Difference | Subset | ProperSubset) {
                argument_types += &format!(", {}", types.of(arguments[1].sort()));
            }
            let result_type = if *operation == Keys { types.of(sort) } else { String::new() };
            let word = coreach_artifact::operations::operation_word(*operation);
            format!("(\"{word}\", {argument_types}, {}{result_type})", numbers())
        }
    }
}

/// Writes a value in the form in which `literal` in `runtime.py` reads it.
fn python_value(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Int(number) => python_integer(&number.to_string()),
        Value::Real(number) => {
            let parts = [number.numerator().to_string(), number.denominator().to_string()];
            let [numerator, denominator] = parts.map(|part| python_integer(&part));
            format!("({numerator}, {denominator})")
        }
        Value::String(text) | Value::Id(_, text) => python_text(text),
        Value::Enum(enumeration, at) => python_text(&enumeration.literals[*at]),
        Value::Record(_, fields) => {
            let fields: Vec<String> = fields.iter().map(|field| python_value(field) + ",").collect();
            format!("({})", fields.join(" "))
        }
        Value::Array(array) => {
            let cells: Vec<String> = array
                .cells
                .iter()
                .map(|(index, cell)| format!("({}, {}),", python_value(index), python_value(cell)))
                .collect();
            format!("({}, ({}))", python_value(&array.default), cells.join(" "))
        }
    }
}

/// Writes a number. Python refuses to read decimal numbers of more than 4300 digits, so those are written in
/// pieces.
fn python_integer(decimal: &str) -> String {
    const PIECE: usize = 4000;
    let (sign, digits) = decimal.strip_prefix('-').map_or(("", decimal), |digits| ("-", digits));
    if digits.len() <= PIECE {
        return decimal.to_owned();
    }
    // All pieces but the first have the full length, so each piece is added to a multiple of one power of 10.
    let mut written = String::from("0");
    let first_length = digits.len() % PIECE;
    let mut start = 0;
    while start < digits.len() {
        let end = if start == 0 && first_length > 0 { first_length } else { start + PIECE };
        let piece = digits[start..end].trim_start_matches('0');
        let piece = if piece.is_empty() { "0" } else { piece };
        written = format!("({written} * 10**{} + {piece})", end - start);
        start = end;
    }
    format!("{sign}{written}")
}

/// Writes a text as a literal of Python, in which no sign is hidden.
fn python_text(plain: &str) -> String {
    let mut out = String::from("\"");
    for sign in plain.chars() {
        match sign {
            '"' | '\\' => {
                out.push('\\');
                out.push(sign);
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            sign if is_hidden_sign(sign) => {
                let _ = write!(out, "\\U{:08x}", u32::from(sign));
            }
            sign => out.push(sign),
        }
    }
    out.push('"');
    out
}

/// Writes a comment on one line, for instance `: x > 0`. It is empty if the text is long.
fn python_comment(plain: &str) -> String {
    // Longer expressions have no comment.
    if plain.chars().count() > 90 {
        return String::new();
    }
    let quoted = python_text(plain);
    format!(": {}", &quoted[1..quoted.len() - 1])
}
