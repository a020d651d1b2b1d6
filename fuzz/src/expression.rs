//! Expressions: the first byte chooses the expected type, the rest is the text.

use std::sync::Arc;

use coreach_model::diagnostic::SourceFile;
use coreach_model::reader::collect::Collector;
use coreach_model::reader::scope::Scope;
use coreach_model::reader::typing::read_expression;
use coreach_model::reader::{ReaderLimits, scope::Meaning, scope::Names, yaml};
use coreach_model::term::Term;
use coreach_model::types::{ArrayType, EnumType, RecordType};
use coreach_model::{Datum, Type};

use crate::check_findings;

/// Longer texts only repeat what shorter ones show; the limits of the parser are tried by the hostile files.
const LONGEST: usize = 1024;

/// Bytes as an expression in a fixed scope: it is a term or there are findings, and a term is printed and
/// read back.
pub fn expression(bytes: &[u8]) {
    let Some((choice, text)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    if text.len() > LONGEST {
        return;
    }
    let (names, parameters, types) = world();
    let expected = &types[usize::from(*choice) % types.len()];
    let scope = Scope { names: &names, parameters: &parameters, action: Some("act"), is_function: false };
    let Some(term) = read(text, scope, expected, true) else { return };
    assert_eq!(term.sort(), &expected.sort());
    let printed = term.to_string();
    // What is written shortly may be longer than what is read.
    if printed.len() > ReaderLimits::GIVEN.expression {
        return;
    }
    let again = read(&printed, scope, expected, false);
    let again = again.unwrap_or_else(|| panic!("`{text}` is printed as `{printed}`, which is refused"));
    assert_eq!(term, again, "`{text}` is printed as `{printed}`, which is read as `{again}`");
}

/// Reads the text as a double-quoted scalar of YAML. `None` where it is refused.
fn read(text: &str, scope: Scope<'_>, expected: &Type, check: bool) -> Option<Term> {
    let file = SourceFile { name: "input.yaml".to_owned(), text: quoted(text) };
    let mut collector = Collector::new(Arc::new(file));
    let node = yaml::parse(&mut collector);
    let term =
        node.and_then(|node| read_expression(&mut collector, &node, scope, expected, "the expression"));
    let (found, failed) = collector.finish();
    assert_eq!(term.is_none(), failed, "`{text}`");
    if check {
        check_findings(&found, failed);
    }
    term
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            ' '..='~' => quoted.push(c),
            _ => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    quoted + "\""
}

/// Names of every kind, parameters, and the types that can be expected.
type World = (Names, Vec<(String, Option<Datum>)>, [Type; 6]);

/// The scope of every input.
fn world() -> World {
    let color =
        Arc::new(EnumType { name: "Color".to_owned(), literals: ["RED", "BLUE"].map(str::to_owned).into() });
    let enumeration = Type::Enum(color.clone());
    let pair = Type::Record(Arc::new(RecordType {
        name: "Pair".to_owned(),
        fields: vec![("first".to_owned(), Type::Int), ("second".to_owned(), Type::Real)],
        form: coreach_model::types::RecordForm::Plain,
    }));
    let array = |index: &Type, element: &Type| {
        Type::Array(Arc::new(ArrayType { index: index.clone(), element: element.clone() }))
    };
    let range = Type::Range(0.into(), 9.into());
    let data = [
        ("b", Type::Bool),
        ("c", Type::Bool),
        ("x", Type::Int),
        ("y", range.clone()),
        ("n", Type::Nat),
        ("r", Type::Real),
        ("s", Type::Real),
        ("e", enumeration.clone()),
        ("p", pair.clone()),
        ("a", array(&range, &Type::Int)),
        ("f", array(&enumeration, &Type::Bool)),
        ("m", array(&Type::Int, &pair)),
        ("q", array(&Type::Real, &Type::Real)),
    ];
    let mut names = Names::default();
    for (name, ty) in data {
        names.add(name, Meaning::Variable(Datum::new(name, ty)), None);
    }
    names.add("k", Meaning::Constant(Datum::new("k", Type::Int)), None);
    for (position, literal) in color.literals.iter().enumerate() {
        names.add(literal, Meaning::Literal(color.clone(), position), None);
    }
    names.types = vec![("Color".to_owned(), enumeration.clone()), ("Pair".to_owned(), pair.clone())];
    let parameters = vec![("v".to_owned(), Some(Datum::new("v", Type::Int)))];
    let arrays = array(&range, &Type::Int);
    (names, parameters, [Type::Bool, Type::Int, Type::Real, enumeration, pair, arrays])
}
