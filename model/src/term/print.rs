//! A term as text in the expression language of the model format, with no more parentheses than it needs. The
//! text can be read back.

use std::fmt;

use dashu_base::BitTest;
use dashu_ratio::RBig;

use crate::data::Datum;
use crate::limits::{LONGEST_EXCERPT, MOST_VALUES};
use crate::number::time_text;
use crate::term::node::{Comparison, Node, Operator, StringOperation};
use crate::term::operation::{
    DerivedOperation, MatchOperation, QuantifiedOperation, Quantifier, QuantifierDomain, StandardOperation,
    StandardOperation as On, pair_arguments,
};
use crate::term::{Term, TermShape, substitute};
use crate::types::{RecordForm, RecordType, Type};
use crate::value::Value;

/// The most parts of an expression that is printed in full. Text repeats what terms share, and can be larger
/// than any disk. The stages stop before they make such an expression ([`Term::written_size`]). Messages that
/// show one are cut.
pub const MAX_PRINTED: u64 = 4_000_000;

/// A text that refuses to grow beyond the limit.
struct Limited {
    text: String,
}

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() > LONGEST_EXCERPT {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

impl Term {
    /// The text of the term as a part of a conjunction, in brackets if it needs them.
    pub fn to_conjunct(&self) -> String {
        if binding_of(self) < Binding::Comparison { format!("({self})") } else { self.to_string() }
    }

    /// The subject and the alternative, if it asks which alternative a variant or an option has. `true` if it
    /// is not negated.
    pub fn as_question(&self) -> Option<(&Term, String, bool)> {
        as_question(self.written()?)
    }

    /// The text of the term as a part of a disjunction, in brackets if it needs them.
    pub fn to_disjunct(&self) -> String {
        if binding_of(self) < Binding::And { format!("({self})") } else { self.to_string() }
    }
}

/// How tightly an expression binds; a higher number binds tighter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Conditional,
    Implication,
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Unary,
    Atom,
}

/// How tightly the printed term binds at its root.
fn binding_of(term: &Term) -> Binding {
    let node = match term.shape() {
        TermShape::Node(node) => node,
        TermShape::Operation(operation, _) => return operation_binding(operation),
    };
    if let Some((_, _, is_positive)) = as_question(node) {
        return if is_positive { Binding::Comparison } else { Binding::Unary };
    }
    match node {
        Node::Record(ty, fields) if find_copied(ty, fields).is_some() => Binding::Unary,
        Node::IfThenElse(..) => Binding::Conditional,
        Node::Or(_) if term.premises() > 0 => Binding::Implication,
        Node::Or(_) => Binding::Or,
        Node::And(_) => Binding::And,
        Node::Compare(..) => Binding::Comparison,
        Node::Arithmetic(Operator::Add | Operator::Subtract, ..) => Binding::Sum,
        Node::Arithmetic(..) => Binding::Product,
        Node::OnStrings(StringOperation::Concatenate, _) => Binding::Sum,
        Node::Literal(value) => literal_binding(value),
        Node::Not(_) | Node::Negate(_) => Binding::Unary,
        Node::ToReal(inner) => binding_of(inner),
        Node::Data(_)
        | Node::Select(..)
        | Node::Store(..)
        | Node::Field(..)
        | Node::Record(..)
        | Node::OnStrings(..) => Binding::Atom,
    }
}

/// How tightly the printed operation binds.
fn operation_binding(operation: &DerivedOperation) -> Binding {
    match operation {
        // Comprehensions, and the body of a call that is not printed by its name, have brackets of their own.
        DerivedOperation::Quantified(quantified) if quantified.collected.is_some() => Binding::Atom,
        DerivedOperation::Quantified(_) | DerivedOperation::Match(_) => Binding::Conditional,
        DerivedOperation::Standard(On::HasKey | On::Subset | On::ProperSubset) => Binding::Comparison,
        DerivedOperation::Standard(On::Joined | On::Union | On::Difference) => Binding::Sum,
        DerivedOperation::Standard(On::Intersection) => Binding::Product,
        _ => Binding::Atom,
    }
}

/// Does each field that does not count after this tag or length, `first`, hold the simplest value?
fn are_others_simplest(ty: &RecordType, first: &Value, fields: &[Term]) -> bool {
    let is_simplest =
        |position: usize| fields[position].written_literal() == Some(&Value::any(&ty.fields[position].1));
    (1..fields.len()).all(|position| ty.counts(first, position) || is_simplest(position))
}

/// If the node asks whether an option is `some` or `none`: the option, and `true` for `some`.
fn as_question_of_option(node: &Node) -> Option<(&Term, bool)> {
    let (field, is_some) = match node {
        Node::Not(inner) => (inner.written()?, false),
        node => (node, true),
    };
    let Node::Field(option, 0) = field else { return None };
    let Type::Record(ty) = option.sort() else { return None };
    (ty.form == RecordForm::Option).then_some((option, is_some))
}

/// Is it a call whose arguments after the named ones are the data that the function reads? Then the name of
/// the function is enough.
pub(crate) fn is_printed_by_name(operation: &DerivedOperation, arguments: &[Term]) -> bool {
    let DerivedOperation::Call(function) = operation else { return false };
    let mut read = function.parameters[function.named..].iter().zip(&arguments[function.named..]);
    read.all(|(datum, argument)| argument.written_datum() == Some(datum))
}

/// If the node is printed as `r is Ok` or its negation: the subject, the alternative, and `true` if it is not
/// negated.
fn as_question(node: &Node) -> Option<(&Term, String, bool)> {
    if let Some((option, is_some)) = as_question_of_option(node) {
        return Some((option, if is_some { "some" } else { "none" }.to_owned(), true));
    }
    let Node::Compare(comparison @ (Comparison::Equal | Comparison::NotEqual), first, tag) = node else {
        return None;
    };
    let (Some(Node::Field(subject, 0)), Some(tag)) = (first.written(), tag.written_literal()) else {
        return None;
    };
    let Type::Record(ty) = subject.sort() else { return None };
    // A tag of another type is no value of this field, so the comparison would not exist.
    let RecordForm::Variant(_) = ty.form else { return None };
    Some((subject, ty.alternative_of(tag)?.name, *comparison == Comparison::Equal))
}

fn literal_binding(value: &Value) -> Binding {
    match value {
        Value::Real(value) if !value.denominator().is_one() && decimal(value).is_none() => Binding::Product,
        _ if crate::term::evaluate::sign(value) < 0 => Binding::Unary,
        _ => Binding::Atom,
    }
}

/// Does the printed text show its type? A list of elements does not: its type comes from the text next to it.
pub(crate) fn says_type(term: &Term) -> bool {
    let node = match term.shape() {
        TermShape::Node(node) => node,
        TermShape::Operation(operation, arguments) => {
            return match operation {
                DerivedOperation::SetOf(_) | DerivedOperation::MapOf(_) => false,
                DerivedOperation::Quantified(quantified) if quantified.quantifier == Quantifier::Find => {
                    quantified.own_type(arguments) == *quantified.bound.ty()
                }
                DerivedOperation::Quantified(quantified) => quantified.collected.is_none(),
                DerivedOperation::Standard(
                    On::ElementChanged | On::Part | On::ValueChanged | On::Difference,
                ) => says_type(&arguments[0]),
                DerivedOperation::Standard(On::Joined | On::Union | On::Intersection) => {
                    arguments.iter().any(says_type)
                }
                _ => true,
            };
        }
    };
    match node {
        Node::Literal(Value::Array(_)) => false,
        Node::Literal(Value::Record(ty, _)) | Node::Record(ty, _) => ty.is_declared(),
        Node::Store(array, ..) => says_type(array),
        Node::IfThenElse(_, a, b) => says_type(a) || says_type(b),
        _ => true,
    }
}

/// Is this a comprehension that shows its type: its element does, and its bound is that of its domain?
fn is_typed_by_parts(term: &Term) -> bool {
    let TermShape::Operation(DerivedOperation::Quantified(quantified), arguments) = term.shape() else {
        return false;
    };
    let (QuantifierDomain::Elements, Some((list, element))) = (&quantified.domain, &quantified.collected)
    else {
        return false;
    };
    let Type::Record(domain) = arguments[0].sort() else { return false };
    // The reader gives the list the bound of its domain. Without a bound there is a field for each key.
    let most = domain.most().unwrap_or(domain.fields.len());
    // Field 0 of a list is its length, and field 1 its first element.
    let is_of_element = |(_, ty): &(String, Type)| *ty == element.declared_type();
    says_type(element) && list.most() == Some(most) && list.fields.get(1).is_some_and(is_of_element)
}

/// Writes a term in a place where nothing next to it shows its type.
fn write_typed(f: &mut dyn fmt::Write, term: &Term, at_least: Binding) -> fmt::Result {
    if says_type(term) || is_typed_by_parts(term) {
        return write_term(f, term, at_least);
    }
    f.write_str("(")?;
    write_term(f, term, Binding::Conditional)?;
    write!(f, ": {})", term.sort())
}

/// The decimals of a number that is no integer, if they are few: `0.25`.
fn decimal(value: &RBig) -> Option<String> {
    let is_short = value.denominator().bit_len() <= 64;
    is_short.then(|| time_text(value)).filter(|text| !text.contains('/') && text.len() <= 30)
}

/// Writes a literal so that it is read back with its sort.
fn write_literal(f: &mut dyn fmt::Write, value: &Value) -> fmt::Result {
    match value {
        // A real's literal must keep its sort when it is read back: `2` beside an integer would be an
        // integer.
        Value::Real(value) if value.denominator() == &dashu_int::UBig::ONE => {
            write!(f, "{}.0", value.numerator())
        }
        Value::Real(value) => match decimal(value) {
            Some(text) => f.write_str(&text),
            None => write!(f, "{}.0 / {}.0", value.numerator(), value.denominator()),
        },
        Value::Array(array) => {
            // All elements are listed if they are few, and if many of them differ from the default.
            let is_listed = |count: &usize| *count <= MOST_VALUES && *count <= 4 * array.cells.len();
            let count = array.ty.index.cardinality().filter(is_listed);
            f.write_str("[")?;
            if let Some(indices) = count.and_then(|count| Value::enumerate(&array.ty.index, count)) {
                for (position, index) in indices.iter().enumerate() {
                    f.write_str(if position == 0 { "" } else { ", " })?;
                    write_literal(f, array.get(index))?;
                }
                return f.write_str("]");
            }
            write_literal(f, &array.default)?;
            f.write_str(" for all]")?;
            for (index, cell) in &array.cells {
                f.write_str("[")?;
                write_literal(f, index)?;
                f.write_str(" := ")?;
                write_literal(f, cell)?;
                f.write_str("]")?;
            }
            Ok(())
        }
        Value::Record(ty, values) if ty.form == RecordForm::Plain => {
            write_fields(f, ty, values, |f, value| write_literal(f, value))
        }
        Value::Record(ty, values) => ty.write(f, values, &mut write_literal),
        Value::Id(name, _) => write!(f, "({value}: {name})"),
        value => write!(f, "{value}"),
    }
}

/// Writes a record with the names of its fields.
fn write_fields<T>(
    f: &mut dyn fmt::Write,
    ty: &RecordType,
    values: &[T],
    write_value: impl Fn(&mut dyn fmt::Write, &T) -> fmt::Result,
) -> fmt::Result {
    if ty.is_declared() {
        write!(f, "{} ", ty.name)?;
    }
    for (position, value) in values.iter().enumerate() {
        write!(f, "{}{}: ", if position == 0 { "{" } else { ", " }, ty.spell_field(position))?;
        write_value(f, value)?;
    }
    f.write_str("}")
}

/// Finds the record of which this one is a copy, if at least half of its fields, but not all, are copied.
fn find_copied<'t>(ty: &RecordType, fields: &'t [Term]) -> Option<&'t Term> {
    if !ty.is_declared() {
        return None;
    }
    let is_usable = |record: &&Term| {
        matches!(record.sort(), Type::Record(other) if **other == *ty)
            && binding_of(record) == Binding::Atom
            && says_type(record)
    };
    let copied_from = fields.iter().enumerate().filter_map(|(position, field)| source_of(field, position));
    copied_from.filter(is_usable).find(|record| {
        let is_copied = |(position, field): &(usize, &Term)| source_of(field, *position) == Some(record);
        let count = fields.iter().enumerate().filter(is_copied).count();
        count * 2 >= fields.len() && count < fields.len()
    })
}

/// The record of which the term is the field at this position. `None` if it is no such field.
fn source_of(term: &Term, position: usize) -> Option<&Term> {
    match term.written() {
        Some(Node::Field(record, of_record)) if *of_record == position => Some(record),
        _ => None,
    }
}

/// Writes a term. It stands in brackets if it binds less tightly than `at_least`.
fn write_term(f: &mut dyn fmt::Write, term: &Term, at_least: Binding) -> fmt::Result {
    // Shared terms are written again and again, so the text may grow without end.
    crate::budget::ask();
    if binding_of(term) < at_least {
        f.write_str("(")?;
        write_term(f, term, Binding::Conditional)?;
        return f.write_str(")");
    }
    let node = match term.shape() {
        TermShape::Node(node) => node,
        TermShape::Operation(operation, arguments) => return write_operation(f, operation, arguments),
    };
    if let Some((subject, name, is_positive)) = as_question(node) {
        let (open, close) = if is_positive { ("", "") } else { ("!(", ")") };
        f.write_str(open)?;
        write_typed(f, subject, Binding::Atom)?;
        return write!(f, " is {name}{close}");
    }
    match node {
        Node::Literal(value) => write_literal(f, value),
        Node::Data(datum) => write!(f, "{datum}"),
        Node::Not(a) => {
            f.write_str("!")?;
            write_term(f, a, Binding::Atom)
        }
        Node::Negate(a) => {
            f.write_str("-")?;
            write_term(f, a, Binding::Atom)
        }
        Node::ToReal(a) => write_term(f, a, at_least),
        Node::And(parts) => write_separated(f, parts, " && ", Binding::Comparison),
        Node::Or(parts) => match term.as_implication() {
            Some((a, b)) => write_pair(f, &a, Binding::Or, "=>", &b, Binding::Or),
            None => write_separated(f, parts, " || ", Binding::And),
        },
        Node::Compare(comparison, a, b) => write_pair(f, a, Binding::Sum, comparison, b, Binding::Sum),
        Node::IfThenElse(c, a, b) => {
            f.write_str("if ")?;
            write_term(f, c, Binding::Or)?;
            f.write_str(" then ")?;
            write_term(f, a, Binding::Or)?;
            f.write_str(" else ")?;
            // `if c then x else a && b` looks like `(if c then x else a) && b`, so `a && b` gets brackets.
            let is_chain = |term: &Term| matches!(term.written(), Some(Node::And(_) | Node::Or(_)));
            let at_least = if is_chain(b) && !is_chain(a) { Binding::Atom } else { Binding::Conditional };
            write_term(f, b, at_least)
        }
        Node::Arithmetic(operator, a, b) => {
            // All these operators associate to the left.
            let (left, right) = match operator {
                Operator::Add | Operator::Subtract => (Binding::Sum, Binding::Product),
                _ => (Binding::Product, Binding::Unary),
            };
            write_term(f, a, left)?;
            write!(f, " {operator} ")?;
            write_term(f, b, right)
        }
        Node::Select(a, i) => {
            write_typed(f, a, Binding::Atom)?;
            f.write_str("[")?;
            write_typed(f, i, Binding::Conditional)?;
            f.write_str("]")
        }
        Node::OnStrings(operation, arguments) => write_string_operation(f, *operation, arguments),
        Node::Store(a, i, e) => {
            write_term(f, a, Binding::Atom)?;
            f.write_str("[")?;
            write_typed(f, i, Binding::Conditional)?;
            f.write_str(" := ")?;
            write_term(f, e, Binding::Conditional)?;
            f.write_str("]")
        }
        Node::Record(ty, fields) if let Some(record) = find_copied(ty, fields) => {
            write_term(f, record, Binding::Atom)?;
            let mut start = " with {";
            for (position, field) in fields.iter().enumerate() {
                if source_of(field, position) != Some(record) {
                    write!(f, "{start}{}: ", ty.spell_field(position))?;
                    write_term(f, field, Binding::Conditional)?;
                    start = ", ";
                }
            }
            f.write_str("}")
        }
        // The first field of a list is its length, and that of an option or variant its case. It says which
        // fields count. The others are not written, so they must have the value that reading gives them.
        Node::Record(ty, fields) => match (&ty.form, fields[0].written_literal()) {
            (RecordForm::List | RecordForm::Option | RecordForm::Variant(_), Some(first))
                if first.is_in(&ty.fields[0].1) && are_others_simplest(ty, first, fields) =>
            {
                ty.write_parts(f, first, fields, &mut |f, part| write_term(f, part, Binding::Conditional))
            }
            _ => write_fields(f, ty, fields, |f, field| write_term(f, field, Binding::Conditional)),
        },
        Node::Field(list, 0) if list.sort().as_list().is_some() => {
            f.write_str("len(")?;
            write_typed(f, list, Binding::Conditional)?;
            f.write_str(")")
        }
        Node::Field(a, position) => {
            write_typed(f, a, Binding::Atom)?;
            let Type::Record(record) = a.sort() else { unreachable!("{position} of a record") };
            write!(f, ".{}", record.spell_field(*position))
        }
    }
}

/// Writes an operation in the form of its source text.
fn write_operation(f: &mut dyn fmt::Write, operation: &DerivedOperation, arguments: &[Term]) -> fmt::Result {
    match operation {
        DerivedOperation::Call(function) if is_printed_by_name(operation, arguments) => {
            write_call(f, &function.name, &arguments[..function.named])
        }
        // The call reads data of another moment, so its body is written out.
        DerivedOperation::Call(function) => {
            f.write_str("(")?;
            let body = substitute(&function.body, &pair_arguments(&function.parameters, arguments));
            write_term(f, &body, Binding::Conditional)?;
            f.write_str(")")
        }
        DerivedOperation::Quantified(quantified) => write_quantified(f, quantified, arguments),
        DerivedOperation::Match(choice) => write_match(f, choice, arguments),
        DerivedOperation::Defined => write_call(f, "defined", arguments),
        DerivedOperation::SetOf(_) => write_enclosed(f, "{", arguments, ", ", "}"),
        DerivedOperation::MapOf(_) => {
            f.write_str("[")?;
            for (number, entry) in arguments.chunks_exact(2).enumerate() {
                write_enclosed(f, if number == 0 { "" } else { ", " }, entry, ": ", "")?;
            }
            f.write_str("]")
        }
        DerivedOperation::Standard(operation) => write_standard(f, *operation, arguments),
    }
}

fn write_call(f: &mut dyn fmt::Write, name: &str, arguments: &[Term]) -> fmt::Result {
    write!(f, "{name}(")?;
    for (position, argument) in arguments.iter().enumerate() {
        f.write_str(if position == 0 { "" } else { ", " })?;
        write_typed(f, argument, Binding::Conditional)?;
    }
    f.write_str(")")
}

/// Writes a quantifier or a comprehension, with a new name for the bound value if it needs one.
fn write_quantified(
    f: &mut dyn fmt::Write,
    operation: &QuantifiedOperation,
    arguments: &[Term],
) -> fmt::Result {
    let bound = unused_name(&operation.bound, arguments.iter());
    let mut values = pair_arguments(&operation.read, operation.split_arguments(arguments).1);
    values.insert(operation.bound.clone(), Term::datum(&bound));
    if let Some((_, element)) = &operation.collected {
        f.write_str("[")?;
        write_term(f, &substitute(element, &values), Binding::Conditional)?;
        f.write_str(" ")?;
    }
    write!(f, "{} {bound} in ", operation.quantifier.word())?;
    match &operation.domain {
        QuantifierDomain::Values(text, _) => f.write_str(text)?,
        QuantifierDomain::Elements => write_typed(f, &arguments[0], Binding::Sum)?,
    }
    let is_comprehension = operation.collected.is_some();
    // A comprehension without a condition has the body `true`.
    if !(is_comprehension && operation.body.is_true()) {
        f.write_str(if is_comprehension { " if " } else { ": " })?;
        // A last part that does not read the bound name would look as if it stood outside.
        let seems_outside = match (operation.quantifier, operation.body.written()) {
            // The reader warns of `some x in q: a => b` without brackets.
            (quantifier, _) if quantifier != Quantifier::All && operation.body.premises() > 0 => true,
            (Quantifier::All, Some(Node::And(parts))) | (Quantifier::Some, Some(Node::Or(parts))) => {
                parts.last().is_some_and(|last| !last.mentions(&operation.bound))
            }
            _ => false,
        };
        let at_least = if seems_outside { Binding::Atom } else { Binding::Conditional };
        write_term(f, &substitute(&operation.body, &values), at_least)?;
    }
    f.write_str(if is_comprehension { "]" } else { "" })
}

/// Writes a `match` with its cases, with new names for fields if they need them.
fn write_match(f: &mut dyn fmt::Write, operation: &MatchOperation, arguments: &[Term]) -> fmt::Result {
    let [subject, read @ ..] = arguments else { unreachable!("a match without a subject") };
    let Type::Record(ty) = subject.sort() else { unreachable!("{subject} has no alternatives") };
    let alternatives = ty.alternatives();
    f.write_str("match ")?;
    write_typed(f, subject, Binding::Sum)?;
    for (number, case) in operation.cases.iter().enumerate() {
        let mut values = pair_arguments(&operation.read, read);
        f.write_str(if number == 0 { ": " } else { " | " })?;
        match case.alternative.and_then(|number| alternatives.get(number)) {
            None => f.write_str("_")?,
            Some(alternative) => {
                f.write_str(&alternative.name)?;
                for field in alternative.positions() {
                    f.write_str(if field == alternative.first { "(" } else { ", " })?;
                    // A field that the case does not name is written as `_`.
                    match case.names.iter().find(|(_, named)| *named == field) {
                        None => f.write_str("_")?,
                        Some((name, _)) => {
                            let shown = unused_name(name, arguments.iter());
                            write!(f, "{shown}")?;
                            values.insert(name.clone(), Term::datum(&shown));
                        }
                    }
                }
                f.write_str(if alternative.count == 0 { "" } else { ")" })?;
            }
        }
        f.write_str(" -> ")?;
        write_term(f, &substitute(&case.body, &values), Binding::Or)?;
    }
    Ok(())
}

/// The datum with a name that none of the terms mentions or binds.
pub(crate) fn unused_name<'t>(datum: &Datum, terms: impl Iterator<Item = &'t Term> + Clone) -> Datum {
    let is_used = |name: &str| {
        let mentions = |term: &Term| term.data().iter().any(|known| known.name() == name);
        terms.clone().any(|term| mentions(term) || binds_name(term, name))
    };
    let mut name = datum.name().to_owned();
    while is_used(&name) {
        name.push('_');
    }
    Datum::new(name, datum.ty().clone())
}

/// Is the name bound by a quantifier or a case in the term, as it is printed?
fn binds_name(term: &Term, name: &str) -> bool {
    let is_bound_in_bodies = match term.shape() {
        TermShape::Operation(operation, arguments) if !is_printed_by_name(operation, arguments) => {
            let is_bound = |(names, body): (Vec<&Datum>, &Term)| {
                names.into_iter().any(|datum| datum.name() == name) || binds_name(body, name)
            };
            operation.bodies().into_iter().any(is_bound)
        }
        _ => false,
    };
    // Only operations bind names.
    let mut parts = term.parts().into_iter();
    is_bound_in_bodies || (term.has_operations() && parts.any(|part| binds_name(part, name)))
}

/// Writes an operation that has the form of a call, with the name of its function.
fn write_standard(f: &mut dyn fmt::Write, operation: StandardOperation, arguments: &[Term]) -> fmt::Result {
    let name = match operation {
        On::Minimum | On::LeastElement => "min",
        On::Maximum | On::GreatestElement => "max",
        On::Absolute => "abs",
        On::Contains => "contains",
        On::IndexOf => "index_of",
        On::Size => "len",
        On::Keys => "keys",
        On::ElementInserted => "insert",
        On::ElementRemoved => "remove_at",
        On::Sum => "sum",
        On::JoinedBy => "join",
        On::Sorted => "sorted",
        _ => return write_with_signs(f, operation, arguments),
    };
    if let On::Contains | On::IndexOf | On::ElementInserted = operation {
        // The list shows the type of the element, so the element need not.
        write!(f, "{name}(")?;
        write_typed(f, &arguments[0], Binding::Conditional)?;
        return write_enclosed(f, ", ", &arguments[1..], ", ", ")");
    }
    write_call(f, name, arguments)
}

/// Writes an operation that is written with operator signs or square brackets.
fn write_with_signs(f: &mut dyn fmt::Write, operation: StandardOperation, arguments: &[Term]) -> fmt::Result {
    let (left, sign, right) = match operation {
        On::HasKey => {
            write_term(f, &arguments[0], Binding::Sum)?;
            f.write_str(" in ")?;
            return write_typed(f, &arguments[1], Binding::Sum);
        }
        On::Subset => (Binding::Sum, "<=", Binding::Sum),
        On::ProperSubset => (Binding::Sum, "<", Binding::Sum),
        On::Joined | On::Union => (Binding::Sum, "+", Binding::Product),
        On::Difference => (Binding::Sum, "-", Binding::Product),
        On::Intersection => (Binding::Product, "*", Binding::Unary),
        // `q[i]`, `q[i..j]` and `q[i := e]`
        _ => {
            write_typed(f, &arguments[0], Binding::Atom)?;
            f.write_str("[")?;
            write_typed(f, &arguments[1], Binding::Conditional)?;
            match (operation, arguments.get(2)) {
                (On::Part, to) => {
                    f.write_str("..")?;
                    if let Some(to) = to {
                        write_term(f, to, Binding::Conditional)?;
                    }
                }
                (_, Some(new)) => {
                    f.write_str(" := ")?;
                    write_term(f, new, Binding::Conditional)?;
                }
                _ => {}
            }
            return f.write_str("]");
        }
    };
    write_pair(f, &arguments[0], left, sign, &arguments[1], right)
}

/// Writes two terms with a sign between them. One of them must show the type of both.
fn write_pair(
    f: &mut dyn fmt::Write,
    a: &Term,
    at_least_a: Binding,
    sign: impl fmt::Display,
    b: &Term,
    at_least_b: Binding,
) -> fmt::Result {
    if says_type(b) {
        write_term(f, a, at_least_a)?
    } else {
        write_typed(f, a, at_least_a)?
    }
    write!(f, " {sign} ")?;
    write_term(f, b, at_least_b)
}

fn write_string_operation(
    f: &mut dyn fmt::Write,
    operation: StringOperation,
    arguments: &[Term],
) -> fmt::Result {
    match (operation.function(), arguments) {
        (Some(name), _) => {
            f.write_str(name)?;
            write_enclosed(f, "(", arguments, ", ", ")")
        }
        // A character or a slice.
        (None, [s, positions @ ..]) if operation != StringOperation::Concatenate => {
            write_term(f, s, Binding::Atom)?;
            write_enclosed(f, "[", positions, "..", "]")
        }
        (None, [s, t]) => {
            write_term(f, s, Binding::Sum)?;
            f.write_str(" + ")?;
            write_term(f, t, Binding::Product)
        }
        (None, _) => unreachable!("{operation:?} of {arguments:?}"),
    }
}

/// Writes terms between two brackets. Nothing next to them takes a part of them.
fn write_enclosed(
    f: &mut dyn fmt::Write,
    open: &str,
    parts: &[Term],
    separator: &str,
    close: &str,
) -> fmt::Result {
    f.write_str(open)?;
    write_separated(f, parts, separator, Binding::Conditional)?;
    f.write_str(close)
}

fn write_separated(
    f: &mut dyn fmt::Write,
    parts: &[Term],
    separator: &str,
    at_least: Binding,
) -> fmt::Result {
    for (position, part) in parts.iter().enumerate() {
        f.write_str(if position == 0 { "" } else { separator })?;
        write_term(f, part, at_least)?;
    }
    Ok(())
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.written_size() <= MAX_PRINTED {
            return write_term(f, self, Binding::Conditional);
        }
        let mut limited = Limited { text: String::new() };
        // An error says that the limit is reached. Writing to a string has no other error.
        let _ = write_term(&mut limited, self, Binding::Conditional);
        write!(f, "{} ... (an expression of more than {MAX_PRINTED} parts)", limited.text)
    }
}
